//! What can be read off a system in motion: energies and work, coordinates of joints and their reactions.

use super::coordinate::{Coordinate, unwound};
use super::force::Force;
use super::joint::{Joint, JointKind, MOST_ROWS};
use super::layout::Layout;
use super::own::advanced;
use super::place::{Place, zero};
use super::signal::Scene;
use super::simulation::Simulation;
use super::state::BodyMotion;
use super::system::{Coordinates, End};
use super::tape::{Matrix, Places, Sink};
use crate::body::{Kinematics, Load};
use crate::group::Jet;
use crate::method::SystemScheme;
use crate::scalar::{Dual, Real, Scalar, larger};
use crate::solve::{Block, Role};
use nalgebra::Vector3;
use std::borrow::Cow;
use std::sync::Arc;

/// What a joint does to its second body, with the efforts of drives, motors and springs in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction<S> {
    /// The force, in space.
    pub force: Vector3<S>,
    /// The moment about the point of the second frame, in space.
    pub moment: Vector3<S>,
    /// The force along the third axis of the first frame.
    pub force_axis: S,
    /// The moment about it.
    pub moment_axis: S,
    /// The force, in the axes of the first frame.
    pub force_joint: Vector3<S>,
    /// The moment, in the axes of the first frame.
    pub moment_joint: Vector3<S>,
}

impl<S: Real> Reaction<S> {
    /// One that was not asked for.
    pub(crate) fn unknown() -> Self {
        let (number, vector) = (S::lift(f64::NAN), Vector3::from_element(S::lift(f64::NAN)));
        Reaction {
            force: vector,
            moment: vector,
            force_axis: number,
            moment_axis: number,
            force_joint: vector,
            moment_joint: vector,
        }
    }
    /// What the joint does to its first body, the moment about the same point.
    pub fn on_first(&self) -> Self {
        Reaction {
            force: -self.force,
            moment: -self.moment,
            force_axis: -self.force_axis,
            moment_axis: -self.moment_axis,
            force_joint: -self.force_joint,
            moment_joint: -self.moment_joint,
        }
    }
}

impl<S: Real> BodyMotion<S> {
    /// Where it is and how it moves.
    #[inline(always)]
    pub(super) fn place(&self) -> Place<S> {
        Place { x: self.position, r: self.attitude.matrix(), v: self.velocity, omega: self.omega_body }
    }
}

impl<S: Real> Joint<S> {
    /// True if its rows depend on time, so that it does work.
    pub(super) fn is_driven(&self) -> bool {
        matches!(&self.kind, JointKind::Own(own) if own.is_driven())
    }
    /// An axis of one of its frames, in space.
    #[inline(always)]
    fn axis_in_space(&self, end: usize, place: &Place<S>, i: usize) -> Vector3<S> {
        place.to_space(&self.ends[end].axes.column(i).into_owned())
    }
    /// The angle about the common third axis: more than -π, at most π.
    pub(super) fn angle(&self, [a, b]: [&Place<S>; 2]) -> S {
        let first = self.axis_in_space(1, b, 0);
        let [x, y] = [0, 1].map(|i| first.dot(&self.axis_in_space(0, a, i)));
        y.atan2(x)
    }
    /// Its rate.
    pub(super) fn angle_rate(&self, [a, b]: [&Place<S>; 2]) -> S {
        self.axis_in_space(0, a, 2).dot(&(b.to_space(&b.omega) - a.to_space(&a.omega)))
    }
}

impl<S: Scalar> Simulation<S> {
    /// The multipliers of a joint: for a point the force of the first frame's body on the second's, in space. Those of joints
    /// that depend on each other are some of many; [`Simulation::least_multipliers`] are the smallest.
    pub fn multipliers(&self, joint: &str) -> Option<&[S]> {
        let j = self.centered.joints.iter().position(|known| known.name == joint)?;
        let first = self.work.layout.multipliers[j];
        self.lambda.get(first..first + self.centered.joints[j].kind.rows())
    }
    /// All multipliers, joint after joint in the order of the system.
    pub fn all_multipliers(&self) -> &[S] {
        &self.lambda
    }
    /// Kinetic plus potential energy. The exact motion keeps it where [`Simulation::keeps_energy`] says so.
    pub fn energy(&self) -> S {
        self.kinetic_energy() + self.potential_energy()
    }
    /// True if the exact motion keeps the energy: no damping, no force that oscillates, no load without a potential.
    pub fn keeps_energy(&self) -> bool {
        let zero = |numbers: &[S]| numbers.iter().all(|x| x.largest() == 0.0);
        let mut bodies = self.centered().bodies.iter().zip(self.bodies());
        bodies.all(|(body, now)| body.loads.potential(&self.kinematics(now)).is_some())
            && !self.centered().forces.iter().any(|force| self.is_damped(force))
            && !self.centered().joints.iter().any(Joint::is_driven)
            && self.centered().extra.iter().all(|extra| zero(&extra.damping) && zero(&extra.amplitude))
    }
    /// What has no potential, in words, if there is such a thing beside drives.
    pub(crate) fn without_potential(&self) -> Option<String> {
        let mut bodies = self.centered().bodies.iter().zip(self.bodies());
        let loaded = bodies.find(|(body, now)| body.loads.potential(&self.kinematics(now)).is_none());
        let force = self.centered().forces.iter().find(|force| self.is_damped(force));
        let damped = |extra: &&Coordinates<S>| extra.damping.iter().any(|c| c.largest() != 0.0);
        let extra = self.centered().extra.iter().find(damped);
        loaded
            .map(|(body, _)| format!("a load of the body '{}' has no potential", body.name))
            .or_else(|| {
                force.map(|force| format!("the force '{}' has no potential or is damped", force.name))
            })
            .or_else(|| extra.map(|extra| format!("the coordinates '{}' are damped", extra.name)))
    }
    /// Σ ½ m v² + ½ Ω·J Ω, and ½ ẏ·M ẏ of the extra coordinates.
    pub fn kinetic_energy(&self) -> S {
        let half = S::lift(0.5);
        let bodies = self.centered().bodies.iter().zip(self.bodies()).map(|(body, now)| {
            let spin = now.omega_body.dot(&(body.inertia.matrix() * now.omega_body));
            half * (body.mass * now.velocity.dot(&now.velocity) + spin)
        });
        let extra = self
            .system()
            .extra
            .iter()
            .zip(self.extra())
            .map(|(extra, now)| half * form(&extra.mass, &now.velocity));
        bodies.chain(extra).fold(S::zero(), |sum, part| sum + part)
    }
    /// Momentum, and angular momentum about the origin of space.
    pub fn momenta(&self) -> [Vector3<S>; 2] {
        let none = [Vector3::zeros(); 2];
        self.centered().bodies.iter().zip(self.bodies()).fold(none, |[linear, angular], (body, now)| {
            let own = now.velocity * body.mass;
            let spin = now.attitude.rotate(&(body.inertia.matrix() * now.omega_body));
            [linear + own, angular + now.position.cross(&own) + spin]
        })
    }
    /// What a load of a body may know.
    fn kinematics(&self, now: &BodyMotion<S>) -> Kinematics<S> {
        Kinematics {
            time: self.time(),
            attitude: now.attitude,
            position: now.position,
            velocity_body: now.attitude.unrotate(&now.velocity),
            omega_body: now.omega_body,
            inward: 0.0,
        }
    }
    /// True if a force takes energy out of the motion, or feeds it.
    fn is_damped(&self, force: &Force<S>) -> bool {
        force.is_damped() || force.potential_in(&self.scene(0.0, &|b| self.bodies()[b].place())).is_none()
    }
    /// That of gravity, springs, extra coordinates and the loads that have one.
    pub fn potential_energy(&self) -> S {
        let mut sum = S::zero();
        for (body, now) in self.centered().bodies.iter().zip(self.bodies()) {
            let loads = body.loads.known_potential(&self.kinematics(now));
            sum += loads - body.mass * self.centered().gravity.dot(&now.position);
        }
        for force in &self.centered().forces {
            let stored = force.potential_in(&self.scene(0.0, &|b| self.bodies()[b].place()));
            sum += stored.unwrap_or(S::zero());
        }
        for (extra, now) in self.centered().extra.iter().zip(self.extra()) {
            let constant = extra.force.iter().zip(&now.position).fold(S::zero(), |sum, (f, y)| sum + *f * *y);
            sum += S::lift(0.5) * form(&extra.stiffness, &now.position) - constant;
        }
        sum
    }
    /// What gravity does to the bodies over a typical length, whatever they do.
    pub(crate) fn energy_of_weight(&self) -> f64 {
        let system = self.centered();
        let mass = system.bodies.iter().fold(S::zero(), |sum, body| sum + body.mass);
        (mass * system.gravity.dot(&system.gravity).sqrt()).largest() * system.typical_length()
    }
    /// The kinetic energy of bodies that move by no more than the rounding of where they are in a step of size `h`.
    pub(crate) fn energy_of_rounding(&self, h: f64) -> f64 {
        /// Digits that are lost in a step.
        const LOST: f64 = 64.0;
        let lengths = self.bodies().iter().map(|now| now.position.map(Real::largest).norm());
        let length = lengths.fold(self.centered().typical_length(), larger);
        let mass = self.centered().bodies.iter().map(|body| body.mass.largest()).sum::<f64>();
        let speed = LOST * f64::EPSILON * length / h;
        mass * speed * speed
    }
    /// The position of the origin of a body.
    pub fn position(&self, body: &str) -> Option<Vector3<S>> {
        Some(self.origin(self.system().index(body)?).0)
    }
    /// Position and velocity of the origin of a body, by its number.
    pub(crate) fn origin(&self, body: usize) -> (Vector3<S>, Vector3<S>) {
        let (now, center) = (&self.bodies()[body], &self.system().bodies[body].center);
        if *center == Vector3::zeros() {
            return (now.position, now.velocity);
        }
        let turning = now.attitude.rotate(&now.omega_body.cross(center));
        (now.position - now.attitude.rotate(center), now.velocity - turning)
    }
    /// The acceleration of the origin of a body, by its number.
    pub(crate) fn origin_acceleration(&self, body: usize) -> Vector3<S> {
        let (now, center) = (&self.bodies()[body], &self.system().bodies[body].center);
        if *center == Vector3::zeros() {
            return now.acceleration;
        }
        let turning = now.omega_rate.cross(center) + now.omega_body.cross(&now.omega_body.cross(center));
        now.acceleration - now.attitude.rotate(&turning)
    }

    fn scene<'a, T>(&'a self, inward: f64, place: &'a dyn Fn(usize) -> Place<T>) -> Scene<'a, S, T>
    where
        T: crate::scalar::Over<S>,
    {
        let (time, joints) = (T::of(self.time()), &self.centered().joints);
        Scene { time, inward, joints, angles: self.angles(), place }
    }
    /// The work since the start of all that stores no energy: motors, drives, dampers, loads without a potential. Zero where
    /// there is no such thing.
    pub fn work_done(&self) -> S {
        self.meter().map_or(S::zero(), |meter| meter.work)
    }
    /// The power of all that stores no energy, on one side of the time, see [`Kinematics::inward`]; that of drives only where
    /// the multipliers are those of the time.
    pub(super) fn power(&self, inward: f64) -> S {
        let power = |[force, moment]: [&Vector3<S>; 2], body: Option<usize>| match body {
            None => S::zero(),
            Some(b) => {
                let now = &self.bodies()[b];
                force.dot(&now.velocity) + moment.dot(&now.omega_body)
            }
        };
        let mut sum = S::zero();
        for (body, now) in self.centered().bodies.iter().zip(self.bodies()) {
            if !body.loads.is_empty() {
                sum += body.loads.power_without_potential(&Kinematics { inward, ..self.kinematics(now) });
            }
        }
        for force in self.centered().forces.iter().filter(|force| self.is_damped(force)) {
            let wrenches = force.wrenches_in(&self.scene(inward, &|b| self.bodies()[b].place()));
            for (wrench, body) in wrenches.chunks(2).zip(force.bodies()) {
                sum += power([&wrench[0], &wrench[1]], body);
            }
            // What goes into the store is not lost.
            let later = Scene {
                time: Dual::variable(self.time(), 0),
                inward,
                joints: &self.centered().joints,
                angles: self.angles(),
                place: &|b| advanced(&self.bodies()[b].place()),
            };
            sum += force.potential_in::<Jet<S>>(&later).map_or(S::zero(), |stored| stored.eps[0]);
        }
        for (j, joint) in self.centered().joints.iter().enumerate() {
            // Others do no work.
            if !joint.is_driven() || !self.is_alpha() {
                continue;
            }
            let lambda = &self.all_multipliers()[self.first_multiplier(j)..][..joint.kind.rows()];
            let reaction = joint.reaction(self.time(), self.places(joint.bodies()).each_ref(), lambda);
            for (wrench, body) in reaction.chunks(2).zip(joint.bodies()) {
                sum -= power([&wrench[0], &wrench[1]], body);
            }
        }
        for (extra, now) in self.centered().extra.iter().zip(self.extra()) {
            let (_, cos) = (extra.frequency * self.time() + extra.phase).sin_cos();
            sum -= form(&extra.damping, &now.velocity);
            for (g, v) in extra.amplitude.iter().zip(&now.velocity) {
                sum += *g * *v * cos;
            }
        }
        sum
    }

    /// A coordinate of a joint, and its rate. An angle is counted over full turns.
    pub fn coordinate(&self, joint: usize, coordinate: Coordinate) -> Option<(S, S)> {
        let known = self.centered().joints.get(joint)?;
        if !known.kind.coordinates().contains(&coordinate) {
            return None;
        }
        let places = self.places(known.bodies());
        if coordinate == Coordinate::Angle {
            let angle = unwound(known.angle(places.each_ref()), self.angles()[joint]);
            return Some((angle, known.angle_rate(places.each_ref())));
        }
        let at = known.frames(self.time(), places.each_ref());
        Some((at.frames.distance(), at.distance_rate()))
    }

    /// What each joint does to its second body, in their order, with these multipliers of all joints.
    pub fn reactions(&self, multipliers: &[S]) -> Vec<Reaction<S>> {
        let system = self.centered();
        // Of the joints themselves, and of what acts in them: force in space and moment in body axes about the point.
        let mut own = vec![[zero(); 2]; system.joints.len()];
        let mut efforts = own.clone();
        let add = |list: &mut Vec<[Vector3<S>; 2]>, joint: usize, wrench: [Vector3<S>; 2]| {
            if let Some([force, moment]) = list.get_mut(joint) {
                *force += wrench[0];
                *moment += wrench[1];
            }
        };
        for (j, joint) in system.joints.iter().enumerate() {
            let first = self.first_multiplier(j);
            let lambda = multipliers.get(first..first + joint.kind.rows()).unwrap_or(&[]);
            // Seen from its own point a joint has no moment that would cancel.
            let [a, b] = self.places(joint.bodies());
            let at_point = Place { x: b.x + b.to_space(&joint.ends[1].point), ..b };
            let ends = [joint.ends[0], End { point: zero(), ..joint.ends[1] }];
            let seen = Joint { name: String::new(), kind: joint.kind.clone(), ends, of: None };
            let wrench = seen.reaction(self.time(), [&a, &at_point], lambda);
            let list = if joint.of.is_some() { &mut efforts } else { &mut own };
            add(list, joint.of.unwrap_or(j), [-wrench[2], -wrench[3]]);
        }
        for force in &system.forces {
            let Some(joint) = force.of else { continue };
            let wrench = force.wrenches_in(&self.scene(0.0, &|b| self.bodies()[b].place()));
            let [_, b] = self.places(force.bodies());
            let arm = force.ends[1].point.cross(&b.to_body(&wrench[2]));
            add(&mut efforts, joint, [wrench[2], wrench[3] - arm]);
        }
        let reaction = |j: usize| {
            let joint = &system.joints[j];
            let [a, b] = self.places(joint.bodies());
            let axes = [0, 1, 2].map(|i| joint.axis_in_space(0, &a, i));
            let axis = axes[2];
            let [mine, other] = [own[j], efforts[j]].map(|[force, moment]| [force, b.to_space(&moment)]);
            let (force, moment) = (mine[0] + other[0], mine[1] + other[1]);
            // In the direction that it leaves free a joint itself does nothing.
            let along = |free: Coordinate, part: usize| match joint.kind.coordinates().contains(&free) {
                true => axis.dot(&other[part]),
                false => axis.dot(&(mine[part] + other[part])),
            };
            let (force_axis, moment_axis) = (along(Coordinate::Distance, 0), along(Coordinate::Angle, 1));
            let seen = |v: &Vector3<S>, third: S| Vector3::new(axes[0].dot(v), axes[1].dot(v), third);
            let (force_joint, moment_joint) = (seen(&force, force_axis), seen(&moment, moment_axis));
            Reaction { force, moment, force_axis, moment_axis, force_joint, moment_joint }
        };
        (0..system.joints.len()).map(reaction).collect()
    }

    /// All multipliers, joint after joint. Where joints depend on each other their multipliers are not determined by the
    /// model: of all that make the same motion these have the least sum of squares, in N and N m.
    pub fn least_multipliers(&self) -> Cow<'_, [S]> {
        let all = self.all_multipliers();
        match self.softness().is_empty() {
            true => Cow::Borrowed(all),
            false => self.least(all).map_or(Cow::Borrowed(all), Cow::Owned),
        }
    }
    /// min Σ (w λ)² with Bᵀ λ = f: w² λ = B y, among the joints that depend on each other; w is what a multiplier of one is, in N
    /// or N m.
    fn least(&self, given: &[S]) -> Option<Vec<S>> {
        /// What keeps the matrix regular where joints leave a motion free; its effect is iterated away.
        const FREE: f64 = 1e-12;
        const ROUNDS: usize = 20;
        let system = self.centered();
        let soft = |j: &usize| self.softness()[self.first_multiplier(*j)].largest() > 0.0;
        let joints: Vec<usize> = (0..system.joints.len()).filter(soft).collect();
        let mut place = vec![usize::MAX; system.bodies.len()];
        let mut bodies = Vec::new();
        for body in joints.iter().flat_map(|j| system.joints[*j].bodies()).flatten() {
            if place[body] == usize::MAX {
                place[body] = bodies.len();
                bodies.push(body);
            }
        }
        // The unknowns: y of the bodies, then the multipliers.
        let mut blocks: Vec<Block> =
            (0..bodies.len()).map(|b| Block { unknowns: 6 * b..6 * b + 6, role: Role::Free }).collect();
        let mut n = 6 * bodies.len();
        let mut starts = Vec::new();
        for j in &joints {
            let rows = system.joints[*j].kind.rows();
            blocks.push(Block { unknowns: n..n + rows, role: Role::Free });
            starts.push(n);
            n += rows;
        }
        let mut b = vec![[[zero(); 4]; MOST_ROWS]; joints.len()];
        let mut arms = vec![0.0f64; bodies.len()];
        for (rows, j) in b.iter_mut().zip(&joints) {
            let joint = &system.joints[*j];
            joint.jacobian(self.time(), self.places(joint.bodies()).each_ref(), rows);
            for (end, body) in joint.bodies().into_iter().enumerate() {
                let Some(body) = body else { continue };
                let turns = rows[..joint.kind.rows()].iter().map(|row| row[2 * end + 1]);
                let square = turns.map(|v| v.dot(&v).largest()).fold(0.0, f64::max);
                arms[place[body]] = arms[place[body]].max(square);
            }
        }
        // Every entry of B that there may be, with its row and column.
        let entries = |see: &mut dyn FnMut(usize, usize, S)| {
            for ((rows, j), start) in b.iter().zip(&joints).zip(&starts) {
                let joint = &system.joints[*j];
                for (k, row) in rows[..joint.kind.rows()].iter().enumerate() {
                    for (block, slope) in row.iter().enumerate() {
                        let Some(body) = joint.bodies()[block / 2] else { continue };
                        for i in 0..3 {
                            see(start + k, 6 * place[body] + 3 * (block % 2) + i, slope[i]);
                        }
                    }
                }
            }
        };
        let write = |sink: &mut dyn FnMut(usize, usize, S)| {
            for (body, arm) in arms.iter().enumerate() {
                for i in 0..6 {
                    let size = if i < 3 { 1.0 } else { arm.max(f64::MIN_POSITIVE) };
                    sink(6 * body + i, 6 * body + i, S::lift(FREE * size));
                }
            }
            for (j, start) in joints.iter().zip(&starts) {
                let kind = &system.joints[*j].kind;
                let effort = kind.effort();
                (*start..start + kind.rows()).for_each(|row| sink(row, row, -(effort * effort)));
            }
            entries(&mut |row, column, value| {
                sink(row, column, value);
                sink(column, row, value);
            });
        };
        let mut places = Places::default();
        write(&mut |row, column, value| places.add(row, column, value));
        let mut matrix: Matrix<S> = Matrix::new(n, places, &blocks, &Arc::from([]));
        let mut values = matrix.rewrite();
        write(&mut |row, column, value| values.add(row, column, value));
        matrix.factor().ok()?;
        let mut found = vec![S::zero(); n];
        let mut wanted = vec![S::zero(); n];
        for (j, start) in joints.iter().zip(&starts) {
            let (first, count) = (self.first_multiplier(*j), system.joints[*j].kind.rows());
            wanted[*start..start + count].copy_from_slice(&given[first..first + count]);
        }
        let mut last = f64::INFINITY;
        for _ in 0..ROUNDS {
            // What is left of f.
            let mut x = vec![S::zero(); n];
            entries(&mut |row, column, value| x[column] += value * (wanted[row] - found[row]));
            let left = x.iter().map(|x| x.abs().largest()).fold(0.0, f64::max);
            if left == 0.0 || left > 0.9 * last {
                break;
            }
            last = left;
            matrix.solve(&mut x);
            for row in 6 * bodies.len()..n {
                found[row] += x[row];
            }
        }
        let mut all = given.to_vec();
        for (j, start) in joints.iter().zip(&starts) {
            let (first, count) = (self.first_multiplier(*j), system.joints[*j].kind.rows());
            all[first..first + count].copy_from_slice(&found[*start..start + count]);
        }
        all.iter().all(|x| x.is_finite()).then_some(all)
    }
    /// How far rounding of positions lets reactions be off after steps of size `h`, in N: positions are differenced twice for
    /// them, unless velocities are held by the joints too. Fifty times the rounding of one position, as was measured.
    pub fn reaction_rounding(&self, h: f64) -> f64 {
        // Reactions of other steps are those of the motion at their end.
        let SystemScheme::Alpha(scheme) = self.scheme() else { return 0.0 };
        if scheme.stabilized || self.centered().joints.is_empty() {
            return 0.0;
        }
        let far =
            self.bodies().iter().map(|body| body.position.map(Real::largest).norm()).fold(0.0, f64::max);
        let mass = self.centered().typical_mass().largest();
        50.0 * f64::EPSILON / 2.0 * far * mass / (scheme.weights.beta * h * h)
    }
    /// How many motions are left: what joints and drives forbid, each once.
    pub fn degrees_of_freedom(&self) -> usize {
        let system = self.centered();
        let all = 6 * system.bodies.len() + system.extra.iter().map(|extra| extra.len()).sum::<usize>();
        let rows = Layout::new(system, false).rows;
        (all + self.assembly().redundancies.len()).saturating_sub(rows)
    }
}

/// y·M y.
fn form<S: Real>(matrix: &[S], y: &[S]) -> S {
    let n = y.len();
    let row = |i: usize| (0..n).fold(S::zero(), |sum, j| sum + matrix[i * n + j] * y[j]);
    (0..n).fold(S::zero(), |sum, i| sum + y[i] * row(i))
}
