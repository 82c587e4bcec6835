//! Consistent initial values: positions and velocities that the joints allow, nearest in the sense of the masses to those
//! given, and the accelerations and multipliers that belong to them.

use super::arrange::CLOSED;
use super::coordinate::{Coordinate, JointStart, StartsOf};
use super::error::AssemblyError;
use super::joint::{Joint, MOST_ROWS};
use super::place::{Place, zero};
use super::projection::{Dependent, Gap, Projection};
use super::signal::Scene;
use super::state::{BodyMotion, CoordinateState};
use super::system::{Rigid, System};
use super::workspace::loads;
use crate::group::{Exponential, Group, Rotation, So3};
use crate::scalar::{Real, larger};
use nalgebra::Vector3;
use std::borrow::Cow;

/// What it took to make the initial values consistent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// How far the body that moved most was moved, in m, and which it is.
    pub moved: Option<(String, f64)>,
    /// How far the body that turned most was turned, in rad, and which it is.
    pub turned: Option<(String, f64)>,
    /// The largest change of a velocity in m/s.
    pub velocity: f64,
    /// The largest change of an angular velocity in rad/s.
    pub omega: f64,
    /// Newton iterations.
    pub iterations: u64,
    /// For each row that forbids what other rows forbid already, the joints that take part in it. Their reactions are not
    /// determined by the model one by one: those of least norm are reported.
    pub redundancies: Vec<Vec<String>>,
}

impl Assembly {
    /// The joints whose single reactions are not determined by the model, in their order.
    pub fn undetermined(&self) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        let all = self.redundancies.iter().flatten().map(String::as_str);
        all.filter(|name| seen.insert(*name)).collect()
    }
}

/// Where initial values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Positions that fit the joints.
    Fitting,
    /// Any positions: those nearby that fit are taken.
    Nearby,
    /// A motion that goes on.
    Motion,
}

const MOST_ITERATIONS: u64 = 40;
/// A row of which less than this part is left after the elimination of others depends on them; and one nearby, where positions
/// are less exact.
const DEPENDENT: f64 = 1e-9;
const DEPENDENT_NEARBY: f64 = 1e-3;
/// Whether a start is singular is asked of systems with at most so many rows: it takes as long as many steps.
const MOST_ROWS_NEARBY: usize = 2000;
/// How much less a velocity that was not given counts when velocities are made to fit.
const NOT_GIVEN: f64 = 1e-6;

/// Consistent initial values of all kinds.
pub(super) struct Initial<S: Real> {
    pub(super) bodies: Vec<BodyMotion<S>>,
    pub(super) extra: Vec<CoordinateState<S>>,
    pub(super) lambda: Vec<S>,
    pub(super) report: Assembly,
    /// μ of each row in a step; nothing if no rows depend on each other.
    pub(super) softness: Vec<S>,
}

/// Makes initial values at a time consistent. Angles of joints are less than half a turn from those that are known.
pub(super) fn initial<S: Real>(
    given: &System<S>,
    time: S,
    origin: Origin,
    known: &[f64],
) -> Result<Initial<S>, AssemblyError> {
    let size = given.size();
    let starts = origin != Origin::Motion && !given.starts.is_empty();
    // Given coordinates of joints are rows for as long as positions and velocities are looked for.
    let mut system = Cow::Borrowed(given);
    let by_joints = origin == Origin::Nearby && given.placed_by_joints;
    // Derivatives of what is closed are those of closing it.
    if starts || (by_joints && (S::DEPTH > 0 || Projection::new(given, time, size).opening() > CLOSED)) {
        let approached = if starts { given.approached(time, size) } else { None };
        let mut arranged = approached.unwrap_or_else(|| given.clone());
        arranged.arrange(time, size);
        system = Cow::Owned(arranged);
    }
    let held = match starts {
        true => system.holding(|start| Some((start.value?, S::zero()))),
        false => None,
    };
    let mut projection = Projection::new(held.as_ref().unwrap_or(&system), time, size);
    let origin = if starts { Origin::Nearby } else { origin };
    let Placed { attitudes, mut report, found } = positions(&mut projection, origin)?;
    if origin != Origin::Motion {
        given.none_is_reversed(&projection.places, (time, size))?;
    }
    for (b, body) in given.bodies.iter().enumerate() {
        let moved = (projection.places[b].x - body.position).map(Real::largest).norm();
        let turned =
            body.attitude.inverse().compose(&attitudes[b]).rotation_vector().map(Real::largest).norm();
        let more = |known: &mut Option<(String, f64)>, new: f64, least: f64| {
            if new > known.as_ref().map_or(least, |k| k.1) {
                *known = Some((body.name.clone(), new));
            }
        };
        more(&mut report.moved, moved, CLOSED * size);
        more(&mut report.turned, turned, CLOSED);
    }
    if !starts {
        velocities(&mut projection, &mut report)?;
        return accelerations(projection, attitudes, report, (known, found));
    }
    // The same joints with rates in place of coordinates, and then without them.
    let placed = |places: Vec<Place<S>>, mut placed: System<S>| {
        for ((body, place), attitude) in placed.bodies.iter_mut().zip(&places).zip(&attitudes) {
            (body.position, body.attitude) = (place.x, *attitude);
            (body.velocity, body.omega_body) = (place.v, place.omega);
        }
        placed
    };
    let system = placed(projection.into_places(), system.into_owned());
    drop(held);
    let moving = system.holding(|start| {
        let joint = system.joints.get(start.joint)?;
        let at = joint.frames(time, joint.bodies().map(|body| system.place_of(body)).each_ref());
        Some((at.coordinate(start.coordinate, 0.0), start.rate?))
    });
    let mut projection = Projection::new(moving.as_ref().unwrap_or(&system), time, size);
    find_dependencies(&mut projection)?;
    projection.factor()?;
    velocities(&mut projection, &mut report)?;
    let places = projection.into_places();
    drop((moving, system));
    let system = placed(places, given.clone());
    let mut projection = Projection::new(&system, time, size);
    let found = find_dependencies(&mut projection)?;
    projection.factor()?;
    accelerations(projection, attitudes, report, (known, found))
}

impl<S: Real> System<S> {
    /// The size of the system: how far its points and joints are apart.
    fn size(&self) -> f64 {
        let points = self.joints.iter().flat_map(|j| &j.ends).map(|end| end.point.dot(&end.point).largest());
        let spread = self.bodies.iter().map(|b| b.position.dot(&b.position).largest());
        points.chain(spread).fold(0.0, larger).sqrt().max(f64::MIN_POSITIVE)
    }
    /// The same with rows that hold the coordinates of joints for which there is a value and a rate; nothing if there are
    /// none.
    pub(super) fn holding(&self, value: impl Fn(&JointStart<S>) -> Option<(S, S)>) -> Option<System<S>> {
        let mut rows = Vec::new();
        for start in self.starts.iter().filter(|start| !start.is_driven) {
            if let (Some((value, rate)), Some(joint)) = (value(start), self.joints.get(start.joint)) {
                rows.extend(start.held(joint, value, rate));
            }
        }
        (!rows.is_empty()).then(|| {
            let mut system = self.clone();
            system.joints.extend(rows);
            system
        })
    }
}

impl<S: Real> Projection<'_, S> {
    fn name(&self, gap: &Gap) -> String {
        self.system.joints.get(gap.joint).map_or_else(String::new, |joint| joint.name.clone())
    }
    fn gaps(&mut self) -> Gap {
        let time = self.time;
        self.rows(|joint: &Joint<S>, places, out| joint.constraint(time, places, out))
    }
    pub(super) fn opening(&mut self) -> f64 {
        self.gaps().relative
    }
    fn names(&self, joints: &[usize]) -> Vec<String> {
        let mut names: Vec<String> = joints.iter().map(|j| self.system.joints[*j].name.clone()).collect();
        names.dedup();
        names
    }
    /// Makes corrections go a part of their way, all of them the same, if one of them goes far: there the equations they come from
    /// say little. So bodies go to where they close the joints along one smooth way; at full length a thin body may spin to anywhere.
    fn shorten(&mut self) -> bool {
        /// The most at a time: a part of the size of the system, and an angle.
        const FAR: [f64; 2] = [0.5, 0.2];
        let (mut farthest, mut shorter) = (1.0, None);
        for b in 0..self.places.len() {
            for (at, most) in [(6 * b, FAR[0] * self.size), (6 * b + 3, FAR[1])] {
                let way = self.part(at).map(Real::largest).norm() / most;
                if way > farthest {
                    (farthest, shorter) = (way, Some((at, most)));
                }
            }
        }
        if let Some((at, most)) = shorter {
            let way = self.part(at);
            let part = S::lift(most) / way.dot(&way).sqrt();
            self.x.iter_mut().for_each(|x| *x *= part);
        }
        shorter.is_some()
    }
    /// Takes the corrections of positions into the places.
    fn correct(&mut self, attitudes: &mut [Rotation<S>]) {
        self.forget_factors();
        for (b, attitude) in attitudes.iter_mut().enumerate() {
            let (xi, theta) = (self.part(6 * b), self.part(6 * b + 3));
            *attitude = attitude.advance(&So3::increment(Exponential, &theta)).normalized();
            self.places[b].x += xi;
            self.places[b].r = attitude.matrix();
        }
    }
}

/// Looks for rows that depend on others at this pose, and leaves them out.
fn find_dependencies<S: Real>(projection: &mut Projection<'_, S>) -> Result<Vec<Dependent>, AssemblyError> {
    let found = projection.dependencies(DEPENDENT, false)?;
    match found.is_empty() {
        true => projection.harden(),
        false => projection.leave_out(found.iter().map(|dependent| dependent.row)),
    }
    Ok(found)
}

/// Bodies that are where the joints want them.
pub(super) struct Placed<S: Real> {
    pub(super) attitudes: Vec<Rotation<S>>,
    report: Assembly,
    /// The rows that depend on others.
    found: Vec<Dependent>,
}

/// Newton's method with the masses as the metric.
pub(super) fn positions<S: Real>(
    projection: &mut Projection<'_, S>,
    origin: Origin,
) -> Result<Placed<S>, AssemblyError> {
    let system = projection.system;
    let mut attitudes: Vec<_> = system.bodies.iter().map(|body| body.attitude).collect();
    let (mut report, mut found) = (Assembly::default(), Vec::new());
    let loops = system.has_loops();
    let first = projection.gaps();
    if !first.value.is_finite() {
        return Err(AssemblyError::NotFinite);
    }
    if first.relative > CLOSED && origin == Origin::Fitting {
        return Err(AssemblyError::Open { joint: projection.name(&first), gap: first.value });
    }
    // Where loops are open their rows may be independent, and depend on each other once they are closed.
    let all_soft = loops && first.relative > CLOSED;
    if all_soft {
        projection.soften(|_| true);
    } else if loops {
        found = find_dependencies(projection)?;
    }
    if let Err(error) = projection.factor() {
        // Joints that depend on each other without a loop.
        let AssemblyError::Dependent { .. } = error else { return Err(error) };
        found = find_dependencies(projection)?;
        if found.is_empty() {
            return Err(error);
        }
        projection.factor()?;
    }
    let (mut before, mut derivatives, mut shortened) = (f64::INFINITY, S::DEPTH, false);
    // Bodies may be much further away than what the size was made of, where joints have put them.
    let furthest = projection.places.iter().map(|place| place.x.map(Real::largest).norm()).fold(0.0, larger);
    let rounded = (8.0 * f64::EPSILON * furthest / projection.size).max(1e-13);
    loop {
        let worst = projection.gaps();
        let open = worst.relative;
        if !worst.value.is_finite() {
            return Err(AssemblyError::NotFinite);
        }
        // At the rounding of the positions no iteration helps; derivatives take one more for each depth of theirs.
        let closed = open <= 4.0 * f64::EPSILON && (worst.value == 0.0 || report.iterations > 0);
        // Rows that depend on others may be off by what counts as closed, and stay so.
        let rounding = if projection.leaves_out() { CLOSED } else { rounded };
        if closed || (open < rounding && open >= 0.5 * before) {
            if derivatives == 0 {
                break;
            }
            derivatives -= 1;
        }
        // Those that are not closed with the others will not be.
        let slow = !shortened && report.iterations > 4 && open > CLOSED && open >= 0.5 * before;
        let stuck = projection.leaves_out() && slow;
        if report.iterations >= MOST_ITERATIONS || stuck {
            return Err(AssemblyError::NotClosed { joint: projection.name(&worst), gap: worst.value });
        }
        before = open;
        projection.factor()?;
        projection.solve()?;
        shortened = projection.shorten();
        projection.correct(&mut attitudes);
        report.iterations += 1;
    }
    if all_soft {
        found = find_dependencies(projection)?;
        projection.factor()?;
    }
    if origin != Origin::Motion && !found.is_empty() && projection.layout.rows <= MOST_ROWS_NEARBY {
        not_singular(projection, &attitudes, &found)?;
    }
    Ok(Placed { attitudes, report, found })
}

/// Sees to it that rows which depend on each other do so nearby too.
fn not_singular<S: Real>(
    projection: &Projection<'_, S>,
    attitudes: &[Rotation<S>],
    here: &[Dependent],
) -> Result<(), AssemblyError> {
    /// How far away to look, relative to the size of the system.
    const NEARBY: f64 = 3e-2;
    let mut nearby = Projection::new(projection.system, projection.time, projection.size);
    let mut attitudes = attitudes.to_vec();
    // Numbers without a pattern, the same in every run.
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        S::lift(NEARBY * ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0))
    };
    for (b, attitude) in attitudes.iter_mut().enumerate() {
        let by = Vector3::from_fn(|_, _| random() * S::lift(projection.size));
        let turn = Rotation::from_rotation_vector(&Vector3::from_fn(|_, _| random()));
        *attitude = attitude.compose(&turn).normalized();
        nearby.places[b].x = projection.places[b].x + by;
        nearby.places[b].r = attitude.matrix();
    }
    nearby.soften(|_| true);
    let (mut open, mut left) = (nearby.opening(), 2 * MOST_ITERATIONS);
    while open > 1e-11 && left > 0 {
        nearby.factor()?;
        // What is not solved to the last digit is solved in the next round.
        match nearby.solve() {
            Err(AssemblyError::IllConditioned { .. }) | Ok(()) => {}
            Err(error) => return Err(error),
        }
        nearby.correct(&mut attitudes);
        (open, left) = (nearby.opening(), left - 1);
    }
    let found = nearby.dependencies(DEPENDENT_NEARBY, false)?;
    if open > 1e-11 || found.len() >= here.len() {
        return Ok(());
    }
    let mut joints = projection.names(&projection.loops(here, DEPENDENT)?.concat());
    joints.sort_unstable();
    joints.dedup();
    Err(AssemblyError::SingularPosition { joints })
}

/// The velocities nearest to those given.
fn velocities<S: Real>(
    projection: &mut Projection<'_, S>,
    report: &mut Assembly,
) -> Result<(), AssemblyError> {
    let (system, time) = (projection.system, projection.time);
    let rates = |joint: &Joint<S>, places: [&Place<S>; 2], out: &mut [S]| {
        joint.rates(time, places, out, None);
    };
    projection.factor()?;
    let first = projection.rows(rates);
    // Turns as the speed that they have at the size of the system.
    let (size, norm) = (projection.size, |v: &Vector3<S>| v.map(Real::largest).norm());
    let speed = |body: &Rigid<S>| norm(&body.velocity).max(norm(&body.omega_body) * size);
    let fastest = system.bodies.iter().map(speed).fold(0.0, larger);
    // What was given is kept, as far as the rest can follow it.
    let all = || system.bodies.iter().flat_map(|body| body.given);
    let some = all().any(|given| given) && !all().all(|given| given);
    let follows = some && (S::DEPTH > 0 || first.relative * size > CLOSED * fastest);
    if follows {
        projection.weigh(|b| system.bodies[b].given.map(|given| if given { 1.0 } else { NOT_GIVEN }));
        projection.factor()?;
    }
    // Each round brings what was given back by another factor.
    let rounds = if follows { 4 + S::DEPTH } else { 1 };
    for _ in 0..rounds {
        if follows {
            for (body, place) in system.bodies.iter().zip(&mut projection.places) {
                let [linear, angular] = body.given;
                place.v = if linear { body.velocity } else { place.v };
                place.omega = if angular { body.omega_body } else { place.omega };
            }
        }
        projection.rows(rates);
        projection.solve()?;
        for b in 0..system.bodies.len() {
            let (xi, theta) = (projection.part(6 * b), projection.part(6 * b + 3));
            projection.places[b].v += xi;
            projection.places[b].omega += theta;
        }
    }
    if follows {
        projection.weigh_alike();
        projection.factor()?;
    }
    let left = projection.rows(rates);
    if projection.leaves_out() && left.relative * size > CLOSED * (fastest + first.relative * size) {
        return Err(AssemblyError::Velocities { joint: projection.name(&left), gap: left.value });
    }
    for (body, place) in system.bodies.iter().zip(&projection.places) {
        report.velocity = larger(report.velocity, norm(&(place.v - body.velocity)));
        report.omega = larger(report.omega, norm(&(place.omega - body.omega_body)));
    }
    Ok(())
}

/// Accelerations and multipliers, and with them all that is carried.
fn accelerations<S: Real>(
    mut projection: Projection<'_, S>,
    attitudes: Vec<Rotation<S>>,
    mut report: Assembly,
    (known, found): (&[f64], Vec<Dependent>),
) -> Result<Initial<S>, AssemblyError> {
    let (system, time) = (projection.system, projection.time);
    projection.rows(|joint, places, out| joint.rates(time, places, &mut [S::zero(); MOST_ROWS], Some(out)));
    for (b, body) in system.bodies.iter().enumerate() {
        let place = projection.places[b];
        let [force, moment] = loads(body, (time, beginning(time)), &attitudes[b], &place);
        let inertia = body.inertia.matrix();
        let moment = moment - place.omega.cross(&(inertia * place.omega));
        let force = force + system.gravity * body.mass;
        for i in 0..3 {
            projection.x[6 * b + i] += force[i] / projection.mass;
            projection.x[6 * b + 3 + i] += moment[i] / projection.mass;
        }
    }
    let angles = angles_near(system, &|b| projection.places[b], time, known);
    for force in &system.forces {
        let bodies = force.bodies();
        let wrenches = force.wrenches_in(&Scene {
            time,
            inward: beginning(time),
            joints: &system.joints,
            angles: &angles,
            place: &|b| projection.places[b],
        });
        for (wrench, body) in wrenches.chunks(2).zip(bodies) {
            if let Some(body) = body {
                for (x, w) in projection.x[6 * body..].iter_mut().zip(wrench.iter().flatten()) {
                    *x += *w / projection.mass;
                }
            }
        }
    }
    for (extra, start) in system.extra.iter().zip(&projection.layout.extra) {
        let (_, cos) = (extra.frequency * time + extra.phase).sin_cos();
        for i in 0..extra.len() {
            let mut force = extra.force[i] + extra.amplitude[i] * cos;
            for j in 0..extra.len() {
                let at = i * extra.len() + j;
                force -= extra.damping[at] * extra.velocity[j] + extra.stiffness[at] * extra.position[j];
            }
            projection.x[start + i] = force / projection.mass;
        }
    }
    projection.solve()?;
    projection.forget_matrix();
    if !projection.x.iter().all(|x| crate::scalar::Mask::all(x.is_finite())) {
        return Err(AssemblyError::NotFinite);
    }
    let bodies = (0..system.bodies.len()).map(|b| {
        let (place, attitude) = (&projection.places[b], attitudes[b]);
        let (acceleration, rate) = (projection.part(6 * b), projection.part(6 * b + 3));
        BodyMotion {
            position: place.x,
            velocity: place.v,
            acceleration,
            attitude,
            omega_body: place.omega,
            omega_rate: rate,
            algorithmic: acceleration,
            algorithmic_rate: rate,
            carried: [zero(); 2],
            parameters: zero(),
            reference: attitude,
        }
    });
    let extra = system.extra.iter().zip(&projection.layout.extra).map(|(extra, start)| {
        let acceleration = projection.x[*start..start + extra.len()].to_vec();
        CoordinateState {
            position: extra.position.clone(),
            velocity: extra.velocity.clone(),
            algorithmic: acceleration.clone(),
            carried: vec![S::zero(); extra.len()],
            acceleration,
        }
    });
    let (bodies, extra) = (bodies.collect(), extra.collect());
    let mut lambda = vec![S::zero(); projection.layout.rows];
    for (j, joint) in system.joints.iter().enumerate() {
        let (start, first) = (projection.layout.joints[j], projection.layout.multipliers[j]);
        let count = joint.kind.rows();
        for (lambda, x) in lambda[first..first + count].iter_mut().zip(&projection.x[start..]) {
            *lambda = *x * projection.mass;
        }
    }
    let loops = projection.loops(&found, DEPENDENT)?;
    report.redundancies = loops.iter().map(|joints| projection.names(joints)).collect();
    let mut takes_part = vec![false; system.joints.len()];
    loops.iter().flatten().for_each(|joint| takes_part[*joint] = true);
    let softness = projection.softness_in_a_step(&takes_part);
    Ok(Initial { bodies, extra, lambda, report, softness })
}

/// What points into a step that begins at a time: loads that switch there are those from it on.
pub(super) fn beginning<S: Real>(time: S) -> f64 {
    (1e-12 * time.largest().abs()).max(f64::MIN_POSITIVE)
}

/// The angles of the joints that have one, each less than half a turn from the one that is known, or from its start.
pub(super) fn angles_near<S: Real>(
    system: &System<S>,
    place: &dyn Fn(usize) -> Place<S>,
    time: S,
    known: &[f64],
) -> Vec<f64> {
    let starts = StartsOf::new(&system.starts);
    let start = |j: usize| {
        let angle = starts.joint(j).iter().find(|(_, start)| start.coordinate == Coordinate::Angle);
        angle.and_then(|(_, start)| start.value).map_or(0.0, Real::largest)
    };
    let angle = |(j, joint): (usize, &Joint<S>)| {
        if !joint.kind.coordinates().contains(&Coordinate::Angle) {
            return 0.0;
        }
        let near = known.get(j).copied().unwrap_or_else(|| start(j));
        let places = joint.bodies().map(|body| body.map_or_else(Place::ground, place));
        joint.frames(time, places.each_ref()).coordinate(Coordinate::Angle, near).largest()
    };
    system.joints.iter().enumerate().map(angle).collect()
}
