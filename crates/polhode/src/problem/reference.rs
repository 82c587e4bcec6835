//! The solution to measure a run against: a closed form where one exists, extrapolation in double-double
//! elsewhere.

use super::known::{Known, Top, Turned};
use super::model::Model;
use crate::body::Dynamics;
use crate::body::Load;
use crate::group::{Coordinates, Group, Rotation, So3, lift};
use crate::lookup::plain;
use crate::method::Method;
use crate::multibody::{Held, Reduced, Reduction, Simulation, System};
use crate::reference::{FreeRotation, IntegrationError, LagrangeTop, SteadyPrecession, integrate};
use crate::run::{Plan, Snapshot};
use crate::scalar::{Dd, Real, larger};
use core::fmt;
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// The state at one time, and how it is known.
#[derive(Clone, Debug)]
pub struct Reference {
    /// All bodies, in the order of the system.
    pub bodies: Vec<BodyReference>,
    /// Closed form, or method and tolerance.
    pub source: String,
}

/// One body.
#[derive(Clone, Copy, Debug)]
pub struct BodyReference {
    /// Attitude, body to space.
    pub attitude: Rotation<f64>,
    /// Angular momentum in body axes, about the point that a snapshot has it about.
    pub momentum_body: Vector3<f64>,
    /// Position of the origin, of one that moves.
    pub position: Option<Vector3<f64>>,
}

/// How far a run ended from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// 2-norm of the difference of the attitude matrices.
    pub attitude: f64,
    /// Norm of the difference of the body angular momenta.
    pub momentum: f64,
    /// Distance of the positions, of a moving body.
    pub position: Option<f64>,
    /// The same relative to the distance of the reference from the origin of space.
    pub position_relative: Option<f64>,
}

impl Errors {
    /// The same, or why they say nothing: a number among them is not finite.
    pub fn checked(self) -> Result<Self, ReferenceError> {
        let all = [
            ("attitude", Some(self.attitude)),
            ("body momentum", Some(self.momentum)),
            ("position", self.position),
            ("position relative to its distance", self.position_relative),
        ];
        match all.into_iter().find(|(_, error)| error.is_some_and(|x| !x.is_finite())) {
            None => Ok(self),
            Some((what, _)) => Err(ReferenceError {
                reason: format!(
                    "the error in {what} at the end is beyond the range of f64; use smaller data or steps"
                ),
            }),
        }
    }
    /// Frobenius norm of the difference of the attitude matrices: √2 times the 2-norm.
    pub fn attitude_frobenius(&self) -> f64 {
        self.attitude * core::f64::consts::SQRT_2
    }
    /// Angle in rad of the rotation between the attitudes: the 2-norm is twice the sine of its half.
    pub fn attitude_angle(&self) -> f64 {
        2.0 * (self.attitude / 2.0).clamp(0.0, 1.0).asin()
    }
}

/// There is no reference.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceError {
    /// Why.
    pub reason: String,
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no reference: {}", self.reason)
    }
}

impl std::error::Error for ReferenceError {}

/// Evaluations of the equations of motion that a reference may cost: a few seconds.
const BUDGET: u64 = 1_300_000;
/// The error of a step of a reference, relative to the state: some thousand of them leave the sixteen digits that are
/// looked at, and every further digit costs a tenth of the time.
const TOLERANCE: f64 = 1e-20;

impl Reference {
    fn of_one(attitude: Rotation<f64>, momentum_body: Vector3<f64>, source: String) -> Self {
        Reference { bodies: vec![BodyReference { attitude, momentum_body, position: None }], source }
    }
    fn closed(name: &str, (attitude, momentum_body): (Matrix3<f64>, Vector3<f64>)) -> Self {
        Self::of_one(Rotation::from_matrix(&attitude), momentum_body, format!("closed form ({name})"))
    }
    /// The same with the place of its origin.
    fn at(mut self, position: Option<Vector3<f64>>) -> Self {
        self.bodies.iter_mut().for_each(|body| body.position = position);
        self
    }
    /// How far a snapshot is from this; of a system, the body that is furthest.
    pub fn errors(&self, snapshot: &Snapshot) -> Errors {
        let mut errors = Errors { attitude: 0.0, momentum: 0.0, position: None, position_relative: None };
        let grow = |known: &mut Option<f64>, new: f64| *known = Some(known.map_or(new, |x| larger(x, new)));
        for (known, body) in self.bodies.iter().zip(snapshot.bodies.iter()) {
            errors.attitude = larger(errors.attitude, known.attitude.distance(&body.attitude));
            errors.momentum = larger(errors.momentum, (body.momentum_body - known.momentum_body).norm());
            if let (Some(position), Some(moving)) = (known.position, body.moving) {
                let (gap, distance) = ((moving.position - position).norm(), position.norm());
                grow(&mut errors.position, gap);
                // At the origin, but for rounding, there is nothing to be relative to.
                if distance > 1e-12 {
                    grow(&mut errors.position_relative, gap / distance);
                }
            }
        }
        errors
    }
}

impl Model {
    /// The state at time `t`.
    pub fn reference(&self, t: f64) -> Result<Reference, ReferenceError> {
        let reference = self.closed_or_extrapolated(t)?;
        let finite = |body: &BodyReference| {
            let vectors = [Some(body.momentum_body), body.position];
            body.attitude.q_wxyz().iter().all(|x| x.is_finite())
                && vectors.iter().flatten().all(|v| v.norm().is_finite())
        };
        match reference.bodies.iter().all(finite) {
            true => Ok(reference),
            false => Err(ReferenceError { reason: "its numbers are beyond the range of f64".into() }),
        }
    }

    fn closed_or_extrapolated(&self, t: f64) -> Result<Reference, ReferenceError> {
        if let Some(steady) = &self.steady {
            return Ok(Reference::closed("steady precession", steady.at(t)));
        }
        match &self.reduction {
            Some(Reduction::Rotation(one)) => {
                let exact = self.exact(one);
                match self.known {
                    Known::Prescribed => exact.prescribed(t),
                    Known::FreeRotation => {
                        let end = exact.free_rotation().at(t);
                        Ok(exact.of_origin(Reference::closed("Jacobi elliptic functions", end)))
                    }
                    Known::Top(top) => match exact.lagrange_top(&top) {
                        Some(known) => {
                            let end = top.back(known.at(t));
                            Ok(exact.of_origin(Reference::closed("Lagrange top, elliptic functions", end)))
                        }
                        None => exact.extrapolated(t),
                    },
                    Known::Flight | Known::Nothing => exact.extrapolated(t),
                }
            }
            None => fine(self.system(), t),
            Some(Reduction::Motion(one)) if self.known == Known::Prescribed => self.exact(one).prescribed(t),
            Some(Reduction::Motion(one)) if self.known == Known::Nothing => self.exact(one).extrapolated(t),
            Some(Reduction::Motion(one)) => {
                // The centre of mass flies on its parabola and the body turns about it as a free one.
                let (body, exact) = (&one.body, self.exact(one));
                let (inertia, c) = (body.inertia.about_center(), *body.inertia.center());
                let (omega, mass) = (exact.omega(), body.inertia.mass());
                let pose = &one.start.pose;
                let free = free_rotation(inertia, &self.psi, &pose.attitude, &omega);
                let p0 = one.start.momentum_space();
                let velocity = crate::group::Se3::linear(&p0) / mass;
                let gravity = exact.gravity();
                let center =
                    pose.position + pose.attitude.rotate(&c) + velocity * t + gravity * (0.5 * t * t);
                let (attitude, momentum_body) = free.at(t);
                let turned = Rotation::from_matrix(&attitude);
                let momentum = turned.unrotate(&((velocity + gravity * t) * mass));
                let both = (attitude, momentum_body + c.cross(&momentum));
                let reference = Reference::closed("Jacobi elliptic functions and a parabola", both);
                Ok(reference.at(Some(center - turned.rotate(&c))))
            }
        }
    }

    /// Its one body as exact motions want it.
    pub(super) fn exact<'a, G: Dynamics>(&self, one: &'a Reduced<f64, G>) -> Exact<'a, G> {
        let given = self.system().bodies().first().filter(|body| !matches!(body.held, Held::Pivot(Some(_))));
        Exact { one, psi: self.psi, omega: given.map(|body| body.omega_body) }
    }

    /// The same by extrapolation, whether or not there is a closed form: the second route.
    pub fn extrapolated_reference(&self, t: f64) -> Result<Reference, ReferenceError> {
        match &self.reduction {
            Some(Reduction::Rotation(one)) => self.exact(one).extrapolated(t),
            Some(Reduction::Motion(one)) => self.exact(one).extrapolated(t),
            None => fine(self.system(), t),
        }
    }
}

/// Steps that the finest run of a system may have.
const MOST_STEPS: u64 = 1 << 16;
/// An extrapolation that still changes by more than this is not accurate enough for a reference.
const TRUSTED: f64 = 1e-5;
/// Runs whose extrapolation changes by less than this agree.
const AGREED: f64 = 1e-11;

/// The order of what is extrapolated: that of any method, and more.
const HIGHEST: u32 = u32::MAX;

/// What is extrapolated of a body: position, angular velocity, quaternion.
const NUMBERS: usize = 10;

/// Steps of the coarsest run of a system.
const COARSEST: u64 = 64;

/// The ends of the pieces of the way from 0 to `t` between which nothing jumps or has a kink.
fn segments(breaks: impl Iterator<Item = f64>, t: f64) -> Vec<f64> {
    let edge = 1e-12 * t.abs();
    let mut ends: Vec<f64> = breaks
        .filter(|x| x.is_finite() && x * t > 0.0 && x.abs() > edge && x.abs() < t.abs() - edge)
        .collect();
    ends.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    ends.dedup_by(|a, b| (*a - *b).abs() <= edge);
    ends.push(t);
    ends
}

/// All bodies of a system after a run with this many steps.
fn numbers(
    system: &Arc<System<f64>>,
    method: &Method,
    t: f64,
    steps: u64,
) -> Result<Vec<f64>, ReferenceError> {
    let unknown = |reason: String| ReferenceError { reason };
    let mut simulation =
        Simulation::new(system.clone(), method).map_err(|error| unknown(error.to_string()))?;
    let ends = segments(system.landings(HIGHEST).into_iter(), t);
    let mut from = 0.0;
    for to in &ends {
        // As many steps as its part of the time has, doubled whenever all are.
        let part = (((to - from) / t).abs() * COARSEST as f64).ceil().max(1.0) as u64;
        let count = if ends.len() == 1 { steps } else { part * (steps / COARSEST).max(1) };
        let plan =
            Plan::new((to - from) / count as f64, to - from).map_err(|error| unknown(error.to_string()))?;
        for n in 0..plan.steps() {
            simulation.step(plan.size(n)).map_err(|error| unknown(error.to_string()))?;
        }
        simulation.set_time(*to);
        if *to != t {
            simulation.restart().map_err(|error| unknown(error.to_string()))?;
        }
        from = *to;
    }
    let of = |(b, now): (usize, &crate::multibody::BodyMotion<f64>)| {
        let origin = simulation.origin(b).0;
        let mut all = origin.iter().chain(now.omega_body.iter()).copied().collect::<Vec<_>>();
        all.extend(now.attitude.q_wxyz());
        all
    };
    Ok(simulation.bodies().iter().enumerate().flat_map(of).collect())
}

/// A system at time `t`, from runs with ever shorter steps, extrapolated: the error of the linear form is a series in powers of
/// the step that begins with the second.
fn fine(system: &Arc<System<f64>>, t: f64) -> Result<Reference, ReferenceError> {
    let unknown = |reason: String| ReferenceError { reason };
    let method = Method::parse("linear-alpha").map_err(|error| unknown(error.to_string()))?;
    let budget = (4 * MOST_STEPS / system.bodies().len().max(1) as u64).clamp(256, MOST_STEPS);
    // Neville's table with the exponents 2, 3, 4, ...
    let (mut steps, mut row): (u64, Vec<Vec<f64>>) = (COARSEST, Vec::new());
    let mut best: Option<(Vec<f64>, f64, u64)> = None;
    let mut failure = None;
    while steps <= budget {
        match numbers(system, &method, t, steps) {
            // Too coarse a step may fail; a finer one will do.
            Err(error) => failure = Some(error),
            Ok(mut now) => {
                // Of the two quaternions of a rotation the one near that of the run before.
                if let Some(before) = row.first() {
                    for (q, known) in now.chunks_mut(NUMBERS).zip(before.chunks(NUMBERS)) {
                        let dot: f64 = q[6..].iter().zip(&known[6..]).map(|(a, b)| a * b).sum();
                        if dot < 0.0 {
                            q[6..].iter_mut().for_each(|x| *x = -*x);
                        }
                    }
                }
                let mut next = vec![now];
                for (k, coarse) in row.iter().enumerate() {
                    let factor = 2f64.powi(k as i32 + 2) - 1.0;
                    let better =
                        next[k].iter().zip(coarse).map(|(fine, coarse)| fine + (fine - coarse) / factor);
                    next.push(better.collect());
                }
                if let (Some(new), Some(old)) = (next.last(), row.last()) {
                    let change = new.iter().zip(old).map(|(a, b)| (a - b).abs()).fold(0.0, larger);
                    if best.as_ref().is_none_or(|known| change < known.1) {
                        best = Some((new.clone(), change, steps));
                    }
                    if change < AGREED {
                        break;
                    }
                }
                // Higher powers than these carry more round-off than they take away.
                next.truncate(5);
                row = next;
            }
        }
        steps *= 2;
    }
    let Some((all, change, steps)) = best else {
        let large = || unknown(format!("a system of {} bodies is too large for it", system.bodies().len()));
        return Err(failure.unwrap_or_else(large));
    };
    if change > TRUSTED {
        return Err(unknown(format!(
            "runs with up to {steps} steps, extrapolated, agree to {change:.0e} only; the motion is too long or too sensitive"
        )));
    }
    let bodies: Vec<BodyReference> = all
        .chunks(NUMBERS)
        .zip(system.bodies())
        .map(|(x, body)| BodyReference {
            attitude: Rotation::from_q_wxyz([x[6], x[7], x[8], x[9]]),
            momentum_body: body.inertia.matrix() * Vector3::new(x[3], x[4], x[5]),
            position: Some(Vector3::new(x[0], x[1], x[2])),
        })
        .collect();
    match bodies.is_empty() {
        true => Err(unknown("the system has no body".into())),
        false => {
            let source = format!("linear-alpha, {steps} steps, extrapolated (to {change:.0e})");
            Ok(Reference { bodies, source })
        }
    }
}

fn free_rotation(
    inertia: &Matrix3<f64>,
    psi: &Option<Vector3<f64>>,
    attitude: &Rotation<f64>,
    omega: &Vector3<f64>,
) -> FreeRotation {
    match psi {
        Some(psi) => FreeRotation::from_rotation_vector(inertia, psi, omega),
        None => FreeRotation::new(inertia, &attitude.matrix(), omega),
    }
}

/// One body, and the rotation vector of its initial attitude where it was given so: what exact motions are made of.
pub(super) struct Exact<'a, G: Dynamics> {
    one: &'a Reduced<f64, G>,
    psi: Option<Vector3<f64>>,
    /// Angular velocity, where it was given and not the momentum.
    omega: Option<Vector3<f64>>,
}

impl<G: Dynamics> Exact<'_, G> {
    fn omega(&self) -> Vector3<f64> {
        self.omega.unwrap_or_else(|| G::angular(&self.one.body.velocity(&self.one.start)))
    }

    /// Where the body was made to be.
    fn prescribed(&self, t: f64) -> Result<Reference, ReferenceError> {
        let motion = self
            .one
            .body
            .load
            .motion(t)
            .ok_or(ReferenceError { reason: "no motion is prescribed".into() })?;
        let velocity = G::vector(&motion.velocity_body, &motion.omega_body);
        let momentum = G::angular(&G::momentum(&self.one.body.inertia, &velocity));
        let reference = Reference::of_one(motion.attitude, momentum, "the prescribed motion".into());
        Ok(reference.at(G::MOVES.then_some(motion.position)))
    }

    /// The acceleration of a body at rest, unturned: that of gravity where gravity is the only load.
    fn gravity(&self) -> Vector3<f64> {
        let still = self.one.body.state(G::identity(), &G::Vector::<f64>::origin());
        let rate = self.one.body.momentum_rate(&still, 0.0);
        let linear = G::linear(&G::velocity(&self.one.body.inertia, &rate));
        // Gravity does not turn a body about its centre, so the reference point accelerates alike.
        linear
    }

    /// Extrapolation of the equations of motion for (quaternion, position, momentum).
    fn extrapolated(&self, t: f64) -> Result<Reference, ReferenceError> {
        let width = G::Vector::<f64>::LEN;
        let inertia = G::recompute_inertia::<f64, Dd>(&self.one.body.inertia);
        let lifted = |v: &Vector3<f64>| v.map(Dd::from);
        let k = G::kinematics(0.0, &self.one.start.pose, &self.one.start.momentum);
        let attitude = match &self.psi {
            Some(psi) => Rotation::from_rotation_vector(&lifted(psi)),
            None => Rotation::from_q_wxyz(k.attitude.q_wxyz().map(Dd::from)),
        };
        let mut momentum: G::Vector<Dd> = lift(&self.one.start.momentum);
        if let (Some(omega), false) = (self.omega, G::MOVES) {
            // What was given, not its product with the inertia after rounding.
            momentum = G::momentum(&inertia, &G::vector(&lifted(&Vector3::zeros()), &lifted(&omega)));
        }
        let mut y0 = attitude.q_wxyz().to_vec();
        y0.extend(k.position.iter().map(|x| Dd::from(*x)));
        y0.extend((0..width).map(|i| momentum.at(i)));
        let read = |y: &[Dd]| {
            let attitude = Rotation::from_q_wxyz([y[0], y[1], y[2], y[3]]);
            let position = Vector3::new(y[4], y[5], y[6]);
            (attitude, position, G::Vector::<Dd>::generate(|i| y[7 + i]))
        };
        // A load that jumps where a piece of the way begins or ends is asked for its side.
        let side = core::cell::Cell::new((0.0, t));
        let mut rhs = |t: Dd, y: &[Dd], dy: &mut [Dd]| {
            let (from, to) = side.get();
            let middle = (t.to_f64() - from) / (to - from);
            let inward = 1e-10 * (to - from) * if middle < 0.5 { 1.0 } else { -1.0 };
            let (attitude, position, momentum) = read(y);
            let v = G::velocity(&inertia, &momentum);
            let (linear, omega) = (G::linear(&v), G::angular(&v));
            let half = Dd::lift(0.5);
            let axis = Vector3::new(y[1], y[2], y[3]);
            dy[0] = -axis.dot(&omega) * half;
            let turn = (omega * y[0] + axis.cross(&omega)) * half;
            let drift = attitude.rotate(&linear);
            let load = self.one.body.load_inward((t, inward), &G::pose(&attitude, &position), &v);
            let rate = G::transport(&v, &momentum) + load;
            for i in 0..3 {
                dy[1 + i] = turn[i];
                dy[4 + i] = drift[i];
            }
            for i in 0..width {
                dy[7 + i] = rate.at(i);
            }
        };
        let ends = segments(self.one.body.load.breaks().into_iter(), t);
        let mut whole = |budget: u64| {
            let (mut from, mut y, mut left) = (0.0, y0.clone(), budget);
            for to in &ends {
                side.set((from, *to));
                let piece = integrate(&mut rhs, from, *to, &y, TOLERANCE, left)?;
                left = left.saturating_sub(piece.evaluations);
                (from, y) = (*to, piece.y);
            }
            Ok(y)
        };
        // A probe with a part of the budget shows whether the whole of it would be enough.
        let probe = whole(BUDGET / 20);
        let end = match probe {
            Err(IntegrationError::Budget { reached }) if 20.0 * reached.abs() < t.abs() => probe,
            Err(IntegrationError::Budget { .. }) => whole(BUDGET),
            settled => settled,
        }
        .map_err(|error| ReferenceError {
            reason: match error {
                IntegrationError::Budget { .. } => {
                    format!("t = {} is too far away to integrate to 20 digits", plain(t))
                }
                error => error.to_string(),
            },
        })?;
        let (attitude, position, momentum) = read(&end);
        let position = match &self.one.origin {
            Some(origin) => {
                let point = attitude.rotate(&origin.point.map(Dd::from)) + origin.fixed.map(Dd::from);
                Some(point.map(Dd::to_f64))
            }
            None => G::MOVES.then(|| position.map(Dd::to_f64)),
        };
        let attitude = Rotation::from_q_wxyz(attitude.q_wxyz().map(Dd::to_f64));
        let source = format!("extrapolation in double-double, tolerance {TOLERANCE:e}");
        Ok(Reference::of_one(attitude, G::angular(&momentum).map(Dd::to_f64), source).at(position))
    }
}

impl Exact<'_, So3> {
    /// The closed form of the motion without loads.
    pub(super) fn free_rotation(&self) -> FreeRotation {
        free_rotation(self.one.body.inertia.matrix(), &self.psi, &self.one.start.pose, &self.omega())
    }
    /// The closed form of a symmetric top.
    pub(super) fn lagrange_top(&self, top: &Top) -> Option<LagrangeTop> {
        let ([a, c], omega) = (top.moments, self.omega());
        match (&top.turned, &self.psi) {
            (None, Some(psi)) => LagrangeTop::from_rotation_vector(a, c, top.mgl, psi, &omega).ok(),
            (None, None) => LagrangeTop::new(a, c, top.mgl, &self.one.start.pose.matrix(), &omega).ok(),
            (Some(Turned { body, space }), _) => {
                let attitude = space.transpose() * self.one.start.pose.matrix() * body;
                LagrangeTop::new(a, c, top.mgl, &attitude, &(body.transpose() * omega)).ok()
            }
        }
    }
    /// The same with where the origin of the body is, if it moves.
    fn of_origin(&self, mut reference: Reference) -> Reference {
        if let Some(origin) = &self.one.origin {
            for body in &mut reference.bodies {
                body.position = Some(body.attitude.rotate(&origin.point) + origin.fixed);
            }
        }
        reference
    }
}

impl Top {
    /// Attitude and body momentum in the axes in which they are wanted.
    fn back(&self, (attitude, momentum): (Matrix3<f64>, Vector3<f64>)) -> (Matrix3<f64>, Vector3<f64>) {
        match &self.turned {
            None => (attitude, momentum),
            Some(Turned { body, space }) => (space * attitude * body.transpose(), body * momentum),
        }
    }
}

/// How well a start must fit a steady precession, relative to its terms.
const STEADY: f64 = 1e-12;

impl Model {
    /// The precession without nutation that a top starts with, if it does: tilted about the first axis, with the spin that
    /// keeps its tilt.
    pub(super) fn steady_precession(&self) -> Option<SteadyPrecession> {
        let (Some(Reduction::Rotation(one)), Known::Top(top)) = (&self.reduction, &self.known) else {
            return None;
        };
        let (psi, omega) = (self.psi.filter(|_| top.turned.is_none())?, self.exact(one).omega());
        let ([a, c], (sin, cos)) = (top.moments, psi.x.sin_cos());
        if psi.y != 0.0 || psi.z != 0.0 || omega.x != 0.0 || sin.abs() < 1e-3 {
            return None;
        }
        // A φ'² cos θ - C Ω₃ φ' + mgl = 0.
        let rate = omega.y / sin;
        let terms = [a * rate * rate * cos, -c * omega.z * rate, top.mgl];
        let size = terms.iter().fold(0.0, |sum, term: &f64| sum + term.abs());
        if rate == 0.0 || terms.iter().sum::<f64>().abs() > STEADY * size {
            return None;
        }
        SteadyPrecession::new(a, c, top.mgl, psi.x, rate).ok()
    }
}
