//! The equations of one step of the generalized-alpha method in its three forms (Brüls & Eberhard 2008, Algorithms 2 to 4),
//! for any number of bodies and joints, as Newton's method sees them.
//!
//! With u the change of position and of the parameters φ that the step adds to its prediction,
//! x = x* + u, ẋ = ẋ* + γ/(βh) u, and accelerations s u. The equations of motion of a body are written as material
//! covectors in every form: w_a f_a + w_c f_c + T⁻ᵀ g_α, so that a joint adds Bᵀ λ whatever the parameters are. The
//! corrections are (ξ, θ) with δφ = T⁻¹ θ, for the same reason. Equations of motion are divided by what multiplies a mass
//! times u, and multipliers by the same (DESIGN: unknowns Δq and h²λ), so that the matrix is [M Bᵀ; B 0] for small steps.
//!
//! Stabilized index 2 (Gear, Gupta & Leimkuhler): the pose changes by p = u - M⁻¹ B(q_n)ᵀ η, and B v = 0 at the end of
//! the step determines η.

use super::joint::{COORDINATES, MOST_ROWS, Place, zero};
use super::layout::Layout;
use super::state::{Flat, Moving};
use super::system::{End, Rigid, System};
use super::tape::{Matrix, Places, Sink};
use crate::body::{Kinematics, Load};
use crate::group::{Exponential, Group, Map, MapKind, Rotation, So3, Tangent, Vectorial, spin};
use crate::method::{AlphaScheme, Chart, Form};
use crate::scalar::{Dual, Mask, Over, Real};
use crate::solve::{Equations, FactorError, Rung};
use nalgebra::{Matrix3, Vector3};

/// The step of one body: what was predicted, and the iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<S: Real> {
    position: Vector3<S>,
    velocity: Vector3<S>,
    parameters: Vector3<S>,
    parameters_rate: Vector3<S>,
    /// T_n, where the chart does not start at zero.
    tangent: Matrix3<S>,
    /// g_α in the parameters of the step.
    carried: Vector3<S>,
    /// u.
    change: [Vector3<S>; 2],
    /// p; the same in index 3.
    moved: [Vector3<S>; 2],
    /// What corrections of position and attitude are compared with.
    sizes: [S; 2],
}

/// A body at the iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now<S: Real> {
    pub(super) place: Place<S>,
    pub(super) attitude: Rotation<S>,
    acceleration: Vector3<S>,
    parameters: Vector3<S>,
    parameters_rate: Vector3<S>,
    parameters_acceleration: Vector3<S>,
    /// Of a parameterized form.
    tangent: Option<Tangent<S>>,
    /// f_c: force in space, moment in body axes.
    complementary: [Vector3<S>; 2],
    /// Ω by a change θ of the attitude at held rates of the parameters, and by θ of the rates at held attitude.
    omega_slopes: [Matrix3<S>; 2],
}

/// What multiplies what, for one step size.
#[derive(Clone, Copy, Debug)]
struct Weights<S> {
    /// Velocity per change.
    velocity: S,
    /// Acceleration per change.
    acceleration: S,
    /// Of the acceleration forces.
    inertial: S,
    /// Of the complementary forces.
    complementary: S,
    /// Of the equations of motion.
    scale: S,
    /// Multiplier per unknown.
    multiplier: S,
}

/// The highest order of extrapolation.
const ORDER: usize = 3;

/// The solutions of the last steps of one size, to begin the next one with. Motions are smooth on the scale of a step,
/// and what extrapolation gains in digits lets old factors do for the rest.
#[derive(Clone, Debug)]
struct History<S> {
    /// The step size, not a number while there are no solutions.
    h: f64,
    /// The backward differences of each unknown, its last value first.
    differences: Vec<[S; ORDER + 1]>,
    /// The order that would have been the best one for the last step.
    order: usize,
    /// Iterations spent since the factors were made, beyond those that new ones take.
    extra: u64,
    /// Steps that the factors served after the one that made them.
    served: u64,
    /// Steps to wait before old factors are tried again.
    wait: u64,
    /// True if this step began with old factors, and if it made new ones.
    began: bool,
    made: bool,
}

/// Iterations of a step with new factors.
const USUAL: u64 = 2;
/// What new factors cost, in iterations (measured: 2.5 to 7). When old ones have cost as much they are not kept.
const PRICE: u64 = 4;
/// How many steps make new factors after old ones served none, so that failures are cheap on the whole.
const WAIT: u64 = 8;

/// All that a step works on. Allocated once.
#[derive(Clone, Debug)]
pub(super) struct Workspace<S: Real> {
    pub(super) layout: Layout,
    pub(super) scheme: AlphaScheme,
    /// None until the first matrix is written, which shows where its entries are.
    matrix: Option<Matrix<S>>,
    steps: Vec<Step<S>>,
    pub(super) now: Vec<Now<S>>,
    /// The multipliers at the iterate.
    pub(super) lambda: Vec<S>,
    /// Those of the velocity rows.
    eta: Vec<S>,
    /// B at the start of the step, of the stabilized form.
    jacobians: Vec<[[Vector3<S>; 4]; MOST_ROWS]>,
    /// y*, ẏ*, u of the extra coordinates.
    flat: Vec<[Vec<S>; 3]>,
    residual: Vec<S>,
    /// A typical mass.
    mass: S,
    /// Distances of the joints from the centre of mass of each body.
    arms: Vec<S>,
    /// How far each body turns per displacement of its joints: their rounding is that of positions in space.
    levers: Vec<S>,
    pub(super) trouble: Option<FactorError>,
    /// The angles by which bodies were turned since the matrix was written.
    bent: S,
    history: History<S>,
}

/// The angle that counts as the motion of a step if that is less: rounding of the attitude is the limit of all corrections.
const LEAST_MOTION: f64 = 1.0 / 16.0;
/// The part that counts of the angle of a step, and of the angle that rounding makes of the distances of joints.
const ROUNDED: f64 = 0.25;

fn lengths<S: Real>(v: &Vector3<S>) -> S {
    v[0].abs() + v[1].abs() + v[2].abs()
}

impl<S: Real> Workspace<S> {
    pub(super) fn new(system: &System<S>, scheme: &AlphaScheme) -> Self {
        let layout = Layout::new(system, scheme.stabilized);
        let reach = |ends: &mut dyn Iterator<Item = &End<S>>| {
            let mut arms: Vec<S> = vec![S::zero(); system.bodies.len()];
            for end in ends {
                if let Some(body) = end.body {
                    arms[body] = arms[body].max(lengths(&end.point));
                }
            }
            arms
        };
        let mut levers = reach(&mut system.joints.iter().flat_map(|j| &j.ends));
        let mut arms = reach(&mut system.forces.iter().flat_map(|f| &f.ends));
        for (b, body) in system.bodies.iter().enumerate() {
            let (square, arm) = (body.inertia.matrix().trace() / body.mass, levers[b]);
            arms[b] = arms[b].max(arm).max(square.sqrt());
            levers[b] = arm / (arm * arm + square);
        }
        let mass = system.typical_mass();
        let (n, rows) = (layout.n, layout.rows);
        let still = Step {
            position: zero(),
            velocity: zero(),
            parameters: zero(),
            parameters_rate: zero(),
            tangent: Matrix3::identity(),
            carried: zero(),
            change: [zero(); 2],
            moved: [zero(); 2],
            sizes: [S::one(); 2],
        };
        let now = Now {
            place: Place::ground(),
            attitude: Rotation::identity(),
            acceleration: zero(),
            parameters: zero(),
            parameters_rate: zero(),
            parameters_acceleration: zero(),
            tangent: None,
            complementary: [zero(); 2],
            omega_slopes: [Matrix3::zeros(); 2],
        };
        let flat = |len: usize| [vec![S::zero(); len], vec![S::zero(); len], vec![S::zero(); len]];
        Workspace {
            scheme: *scheme,
            matrix: None,
            steps: vec![still; system.bodies.len()],
            now: vec![now; system.bodies.len()],
            lambda: vec![S::zero(); rows],
            eta: vec![S::zero(); rows],
            jacobians: match scheme.stabilized {
                true => vec![[[zero(); 4]; MOST_ROWS]; system.joints.len()],
                false => Vec::new(),
            },
            flat: system.extra.iter().map(|e| flat(e.len())).collect(),
            residual: vec![S::zero(); n],
            mass,
            arms,
            levers,
            trouble: None,
            bent: S::zero(),
            history: History {
                h: f64::NAN,
                differences: vec![[S::zero(); ORDER + 1]; n],
                order: 0,
                extra: 0,
                served: 0,
                wait: 0,
                began: false,
                made: false,
            },
            layout,
        }
    }
    /// The map of the form.
    fn map(&self) -> Vectorial {
        match self.scheme.form {
            Form::Geometric => MapKind::Exponential.into(),
            _ => self.scheme.map.into(),
        }
    }
    /// The largest parameters of the step that was solved: squared length.
    pub(super) fn largest_parameters(&self) -> f64 {
        self.now.iter().map(|now| now.parameters.dot(&now.parameters).largest()).fold(0.0, f64::max)
    }
}

/// One step under way.
pub(super) struct Stepping<'a, S: Real> {
    pub(super) system: &'a System<S>,
    pub(super) bodies: &'a [Moving<S>],
    pub(super) extra: &'a [Flat<S>],
    /// The multipliers at the start.
    pub(super) lambda: &'a [S],
    pub(super) work: &'a mut Workspace<S>,
    pub(super) t: S,
    h: S,
    whole: S,
    weights: Weights<S>,
}

/// The places of both ends of a joint or force; the ground is still.
#[inline(always)]
fn ends<'a, S: Real>(now: &'a [Now<S>], ground: &'a Place<S>, ends: [Option<usize>; 2]) -> [&'a Place<S>; 2] {
    ends.map(|body| body.map_or(ground, |b| &now[b].place))
}

/// Force in space and moment in body axes of the loads of a body.
pub(super) fn loads<S: Real, T: Over<S>>(
    body: &Rigid<S>,
    t: T,
    attitude: &Rotation<T>,
    place: &Place<T>,
) -> [Vector3<T>; 2] {
    let kinematics = Kinematics {
        time: t,
        attitude: *attitude,
        position: place.x,
        velocity_body: attitude.unrotate(&place.v),
        omega_body: place.omega,
        begins: false,
    };
    let wrench = body.loads.wrench(&kinematics);
    [attitude.rotate(&wrench.force_body), wrench.moment_body]
}

/// A place with derivatives: number `first` + i for x (or v), then for Θ (or Ω).
fn seeded<S: Real, const N: usize>(place: &Place<S>, first: usize, pose: bool) -> Place<Dual<S, N>> {
    let constant = |v: &Vector3<S>| v.map(Dual::constant);
    let seed = |v: &Vector3<S>, first: usize| Vector3::from_fn(|i, _| Dual::variable(v[i], first + i));
    if !pose {
        let (v, omega) = (seed(&place.v, first), seed(&place.omega, first + 3));
        return Place { x: constant(&place.x), r: place.r.map(Dual::constant), v, omega };
    }
    let turn = spin(&seed(&zero(), first + 3)) + Matrix3::identity();
    Place {
        x: seed(&place.x, first),
        r: place.r.map(Dual::constant) * turn,
        v: constant(&place.v),
        omega: constant(&place.omega),
    }
}

impl<S: Real> Weights<S> {
    fn new(work: &Workspace<S>, h: S) -> Self {
        let (alpha, number) = (work.scheme.weights, S::lift);
        let per = (number(alpha.beta) * h * h).recip();
        let (inertial, complementary, acceleration) = match work.scheme.form {
            Form::Residual => (number(1.0 - alpha.m), number(1.0 - alpha.f), per),
            _ => (S::one(), S::one(), per * number((1.0 - alpha.m) / (1.0 - alpha.f))),
        };
        let force = inertial * acceleration * work.mass;
        Weights {
            velocity: number(alpha.gamma / alpha.beta) / h,
            acceleration,
            inertial,
            complementary,
            scale: force.recip(),
            multiplier: force / complementary,
        }
    }
}

impl<'a, S: Real> Stepping<'a, S> {
    /// A step of size `h` from `t`.
    pub(super) fn new(
        system: &'a System<S>,
        (bodies, extra, lambda): (&'a [Moving<S>], &'a [Flat<S>], &'a [S]),
        work: &'a mut Workspace<S>,
        t: S,
        h: S,
    ) -> Self {
        let weights = Weights::new(work, h);
        Stepping { system, bodies, extra, lambda, work, t, h, whole: h, weights }
    }

    /// Every unknown of the iterate with its differences; the last argument is true for those of joints.
    #[inline(always)]
    fn unknowns(&mut self, mut each: impl FnMut(&mut S, &mut [S; ORDER + 1], bool)) {
        let work = &mut *self.work;
        let differences = &mut work.history.differences[..];
        for (b, step) in work.steps.iter_mut().enumerate() {
            let Step { change, moved, .. } = step;
            let parts = [(work.layout.motion(b), change), (work.layout.pose(b), moved)];
            // Without stabilization both are one.
            for (at, part) in parts.into_iter().take(if work.scheme.stabilized { 2 } else { 1 }) {
                let differences = &mut differences[at..at + 6];
                for i in 0..6 {
                    each(&mut part[i / 3][i % 3], &mut differences[i], false);
                }
            }
            if !work.scheme.stabilized {
                step.moved = step.change;
            }
        }
        for (j, joint) in self.system.joints.iter().enumerate() {
            let (start, first, count) =
                (work.layout.joints[j], work.layout.multipliers[j], joint.kind.rows());
            for k in 0..count {
                each(&mut work.lambda[first + k], &mut differences[start + k], true);
                if work.scheme.stabilized {
                    each(&mut work.eta[first + k], &mut differences[start + count + k], true);
                }
            }
        }
        for (flat, start) in work.flat.iter_mut().zip(&work.layout.extra) {
            for (k, x) in flat[2].iter_mut().enumerate() {
                each(x, &mut differences[start + k], false);
            }
        }
    }
    /// Begins with the extrapolation of the last steps.
    fn extrapolate(&mut self) {
        let order = self.work.history.order;
        let factors: [S; ORDER] = core::array::from_fn(|i| S::lift(if i < order { 1.0 } else { 0.0 }));
        self.unknowns(|x, differences, _| {
            *x = differences[0];
            for i in 0..ORDER {
                *x += differences[i + 1] * factors[i];
            }
        });
    }
    /// Takes the solution, found in so many iterations, into the history.
    pub(super) fn remember(&mut self, iterations: u64) {
        let history = &mut self.work.history;
        if history.made {
            history.wait = history.wait.saturating_sub(1);
        } else {
            history.extra += iterations.saturating_sub(USUAL);
            history.served += 1;
        }
        let h = self.h.largest();
        let goes_on = core::mem::replace(&mut history.h, h) == h;
        let mut sizes = [S::zero(); ORDER + 1];
        if !goes_on {
            self.work.history.differences.fill(sizes);
            self.unknowns(|x, differences, _| differences[0] = *x);
        } else {
            self.unknowns(|x, differences, tied| {
                let mut new = *x;
                for (old, size) in differences.iter_mut().zip(&mut sizes) {
                    let change = new - *old;
                    *old = new;
                    new = change;
                    *size += if tied { S::zero() } else { new.abs() };
                }
            });
        }
        // What each order would have been off by.
        let better =
            |best: usize, i: usize| if sizes[i].largest() < sizes[best].largest() { i } else { best };
        self.work.history.order = (1..=ORDER).fold(0, better);
    }

    /// x*, ẋ* of eqs (78), (88) for a coordinate with velocity v, algorithmic acceleration a and acceleration w.
    fn predicted<X>(&self, x: X, v: X, a: X, w: X) -> (X, X)
    where
        X: Copy + core::ops::Mul<S, Output = X> + core::ops::Add<Output = X> + core::ops::Sub<Output = X>,
    {
        let (h, alpha, number) = (self.h, self.work.scheme.weights, S::lift);
        let position = x + v * h + a * (h * h * number(0.5 - alpha.beta));
        let velocity = v + a * (h * number(1.0 - alpha.gamma));
        if self.work.scheme.form == Form::Residual {
            return (position, velocity);
        }
        // a_{n+1} without the new acceleration.
        let known = (w * number(alpha.f) - a * number(alpha.m)) * number(1.0 / (1.0 - alpha.m));
        (position + known * (number(alpha.beta) * h * h), velocity + known * (number(alpha.gamma) * h))
    }
    /// The algorithmic acceleration at the end of a step with the acceleration w at its end.
    pub(super) fn algorithmic<X>(&self, a: X, before: X, w: X) -> X
    where
        X: Copy + core::ops::Mul<S, Output = X> + core::ops::Add<Output = X> + core::ops::Sub<Output = X>,
    {
        let (alpha, number) = (self.work.scheme.weights, S::lift);
        match self.work.scheme.form {
            Form::Residual => w,
            _ => {
                (before * number(alpha.f) - a * number(alpha.m) + w * number(1.0 - alpha.f))
                    * number(1.0 / (1.0 - alpha.m))
            }
        }
    }

    /// Rates of the parameters at the start of the step: φ̇, a, φ̈, and T_n.
    fn chart(&self, body: &Moving<S>) -> ([Vector3<S>; 3], Option<Tangent<S>>) {
        if self.work.scheme.chart == Chart::Incremental {
            return ([body.omega_body, body.algorithmic_rate, body.omega_rate], None);
        }
        let tangent = Tangent::new(self.work.map(), &body.parameters);
        let inverse = tangent.inverse();
        let rate = inverse * body.omega_body;
        let turning = tangent.rate(&rate);
        let back = |x: &Vector3<S>| inverse * (x - turning);
        ([rate, back(&body.algorithmic_rate), back(&body.omega_rate)], Some(tangent))
    }

    fn predict(&mut self) {
        let jointed = self.bodies.iter().zip(&self.work.levers).filter(|(_, lever)| !lever.is_zero());
        let farthest = jointed.fold(S::zero(), |far, (body, _)| far.max(lengths(&body.position)));
        for b in 0..self.bodies.len() {
            let body = &self.bodies[b];
            let (position, velocity) =
                self.predicted(body.position, body.velocity, body.algorithmic, body.acceleration);
            let ([rate, a, w], tangent) = self.chart(body);
            let (parameters, parameters_rate) = self.predicted(body.parameters, rate, a, w);
            let step = &mut self.work.steps[b];
            (step.position, step.velocity) = (position, velocity);
            (step.parameters, step.parameters_rate) = (parameters, parameters_rate);
            (step.tangent, step.carried) = match tangent {
                None => (Matrix3::identity(), body.carried[1]),
                Some(tangent) => (tangent.matrix(), tangent.matrix().transpose() * body.carried[1]),
            };
            // Joints hand the rounding of one body on to all.
            let far = if self.work.levers[b].is_zero() { lengths(&body.position) } else { farthest };
            let turned = lengths(&body.omega_body) * (self.h * S::lift(ROUNDED));
            let turned = turned.max(S::lift(LEAST_MOTION));
            step.sizes = [far + self.work.arms[b], turned.max(far * self.work.levers[b] * S::lift(ROUNDED))];
        }
        for i in 0..self.extra.len() {
            for k in 0..self.extra[i].position.len() {
                let flat = &self.extra[i];
                let (y, v) = self.predicted(
                    flat.position[k],
                    flat.velocity[k],
                    flat.algorithmic[k],
                    flat.acceleration[k],
                );
                (self.work.flat[i][0][k], self.work.flat[i][1][k]) = (y, v);
            }
        }
        if self.work.scheme.stabilized {
            let ground = Place::ground();
            let place = |body: usize| {
                let moving = &self.bodies[body];
                let (x, v, omega) = (moving.position, moving.velocity, moving.omega_body);
                Place { x, r: moving.attitude.matrix(), v, omega }
            };
            for (joint, jacobian) in self.system.joints.iter().zip(&mut self.work.jacobians) {
                let [a, b] = joint.ends.map(|end| end.body.map_or(ground, place));
                joint.jacobian([&a, &b], jacobian);
            }
        }
    }

    /// Takes a body to the iterate, without forces from outside.
    #[inline(always)]
    fn evaluate(&mut self, b: usize, weights: &Weights<S>) {
        let (map, form) = (self.work.map(), self.work.scheme.form);
        let (step, now) = (&self.work.steps[b], &mut self.work.now[b]);
        let (body, moving) = (&self.system.bodies[b], &self.bodies[b]);
        let inertia = &body.inertia.matrix;
        now.parameters = step.parameters + step.moved[1];
        now.parameters_rate = step.parameters_rate + step.change[1] * weights.velocity;
        now.parameters_acceleration = step.change[1] * weights.acceleration;
        now.complementary = [self.system.gravity * -body.mass, zero()];
        if form == Form::Geometric {
            now.place.omega = now.parameters_rate;
            now.attitude = moving.attitude.advance(&So3::increment(Exponential, &now.parameters));
        } else {
            let tangent = Tangent::new(map, &now.parameters);
            now.complementary[1] = inertia.times(&tangent.rate(&now.parameters_rate));
            now.place.omega = tangent.times(&now.parameters_rate);
            now.attitude = moving.reference.advance(&So3::increment(map, &now.parameters));
            now.tangent = Some(tangent);
        }
        let omega = now.place.omega;
        now.complementary[1] += omega.cross(&inertia.times(&omega));
        now.place.x = step.position + step.moved[0];
        now.place.r = now.attitude.matrix();
        now.place.v = step.velocity + step.change[0] * weights.velocity;
        now.acceleration = step.change[0] * weights.acceleration;
    }

    /// f_a of a body in the iterate.
    #[inline(always)]
    fn inertial(&self, b: usize) -> [Vector3<S>; 2] {
        let (body, now) = (&self.system.bodies[b], &self.work.now[b]);
        let rate = match &now.tangent {
            Some(tangent) => tangent.times(&now.parameters_acceleration),
            None => now.parameters_acceleration,
        };
        [now.acceleration * body.mass, body.inertia.matrix.times(&rate)]
    }

    /// The derivative of the moment equations of a body with respect to θ of its attitude and of its rates, without
    /// forces from outside, and of its Ω.
    #[inline(always)]
    fn slopes(&self, b: usize, weights: &Weights<S>) -> ([Matrix3<S>; 2], [Matrix3<S>; 2]) {
        let (body, now, step) = (&self.system.bodies[b], &self.work.now[b], &self.work.steps[b]);
        let inertia = body.inertia.matrix();
        let omega = &now.place.omega;
        // C_t, eq. (55).
        let gyroscopic = (spin(omega) * inertia - spin(&(inertia * omega))) * weights.complementary;
        let Some(tangent) = &now.tangent else {
            let inverse = exponential_inverse(&now.parameters);
            let rate = inertia * (weights.inertial * weights.acceleration) + gyroscopic * weights.velocity;
            return ([Matrix3::zeros(), rate * inverse], [Matrix3::zeros(), inverse * weights.velocity]);
        };
        let (matrix, inverse) = (tangent.matrix(), tangent.inverse());
        let by_rate = inertia
            * (matrix * (weights.inertial * weights.acceleration)
                + tangent.rate_by_velocity(&now.parameters_rate)
                    * (weights.complementary * weights.velocity))
            + gyroscopic * matrix * weights.velocity;
        let turn = tangent.k_t(&now.parameters_rate);
        let mut by_pose = inertia
            * (tangent.k_t(&now.parameters_acceleration) * weights.inertial
                + tangent.rate_by_parameters(&now.parameters_rate) * weights.complementary)
            + gyroscopic * turn;
        if self.work.scheme.form == Form::Residual {
            let transposed = inverse.transpose();
            by_pose -= transposed * tangent.k_g(&(transposed * step.carried));
        }
        (
            [by_pose * inverse, by_rate * inverse],
            [turn * inverse, Matrix3::from_diagonal_element(weights.velocity)],
        )
    }

    /// Writes the Newton matrix; the order of entries does not depend on the iterate.
    fn write(&mut self, weights: &Weights<S>, sink: &mut impl Sink<S>) {
        for b in 0..self.bodies.len() {
            let (moments, omegas) = self.slopes(b, weights);
            self.work.now[b].omega_slopes = omegas;
            let (layout, body) = (&self.work.layout, &self.system.bodies[b]);
            let (row, pose) = (layout.motion(b), layout.pose(b));
            let mass = body.mass / self.work.mass;
            sink.diagonal(row, row, mass);
            if !self.work.scheme.stabilized {
                sink.block(row + 3, row + 3, &((moments[0] + moments[1]) * weights.scale));
                continue;
            }
            sink.block(row + 3, row + 3, &(moments[1] * weights.scale));
            sink.block(row + 3, pose + 3, &(moments[0] * weights.scale));
            // The tie of p and u.
            let now = &self.work.now[b];
            let inverse = match &now.tangent {
                Some(tangent) => tangent.inverse(),
                None => exponential_inverse(&now.parameters),
            };
            let turning = body.inertia.matrix() * self.work.steps[b].tangent * inverse / self.work.mass;
            sink.diagonal(pose, row, -mass);
            sink.diagonal(pose, pose, mass);
            sink.block(pose + 3, row + 3, &-turning);
            sink.block(pose + 3, pose + 3, &turning);
        }
        self.write_joints(weights, sink);
        self.write_forces(weights, sink);
        for (extra, start) in self.system.extra.iter().zip(&self.work.layout.extra) {
            let n = extra.len();
            for i in 0..n {
                for j in 0..n {
                    let at = i * n + j;
                    let held = extra.damping[at] * weights.velocity + extra.stiffness[at];
                    let value = extra.mass[at] * (weights.inertial * weights.acceleration)
                        + held * weights.complementary;
                    sink.add(start + i, start + j, value * weights.scale);
                }
            }
        }
    }

    fn write_joints(&self, weights: &Weights<S>, sink: &mut impl Sink<S>) {
        let (ground, layout, now) = (Place::ground(), &self.work.layout, &self.work.now);
        let geometric = weights.complementary * weights.scale;
        let mut rows = [[zero(); 4]; MOST_ROWS];
        let mut slopes = [[zero(); 4]; MOST_ROWS];
        for (j, joint) in self.system.joints.iter().enumerate() {
            let bodies = joint.ends.map(|end| end.body);
            let places = ends(now, &ground, bodies);
            let (count, start) = (joint.kind.rows(), layout.joints[j]);
            let lambda = &self.work.lambda[layout.multipliers[j]..][..count];
            joint.jacobian(places, &mut rows);
            if self.work.scheme.stabilized {
                joint.rate_slopes(places, &mut slopes);
            }
            for (k, row) in rows[..count].iter().enumerate() {
                let touched = joint.touched(k);
                for (block, slope) in row.iter().enumerate() {
                    let Some(body) = bodies[block / 2] else { continue };
                    let turned = block % 2 == 1;
                    let (motion, pose) =
                        (layout.motion(body) + block % 2 * 3, layout.pose(body) + block % 2 * 3);
                    for i in if turned { 0..3 } else { touched.clone() } {
                        sink.add(start + k, pose + i, slope[i]);
                        sink.add(motion + i, start + k, slope[i]);
                    }
                    if !self.work.scheme.stabilized {
                        continue;
                    }
                    // Rows of velocity, divided by velocity per change, and the columns of η.
                    let before = &self.work.jacobians[j][k][block];
                    let per = weights.velocity.recip();
                    let (by_pose, by_rate) = match turned {
                        false => (slopes[k][block] * per, *slope),
                        true => {
                            let [by_pose, by_rate] = &now[body].omega_slopes;
                            ((slopes[k][block] + by_pose.tr_mul(slope)) * per, by_rate.tr_mul(slope) * per)
                        }
                    };
                    for i in 0..3 {
                        sink.add(start + count + k, motion + i, by_rate[i]);
                        sink.add(start + count + k, pose + i, by_pose[i]);
                        sink.add(pose + i, start + count + k, before[i]);
                    }
                }
            }
            joint.stiffness(places, lambda, |row, column, block| {
                if let (Some(to), Some(from)) = (bodies[row / 2], bodies[column / 2]) {
                    let (row, column) = (row % 2 * 3, column % 2 * 3);
                    sink.block(layout.motion(to) + row, layout.pose(from) + column, &(block * geometric));
                }
            });
        }
    }

    /// Loads and forces, by duals.
    fn write_forces(&self, weights: &Weights<S>, sink: &mut impl Sink<S>) {
        let (ground, layout, now) = (Place::ground(), &self.work.layout, &self.work.now);
        let scale = -(weights.complementary * weights.scale);
        let time = self.t + self.h;
        // A block of a derivative: rows and columns of force and position, or of moment and attitude.
        let mut add = |to: usize, from: usize, pose: bool, block: &dyn Fn(usize, usize) -> Matrix3<S>| {
            for column in 0..2 {
                let omegas = &now[from].omega_slopes;
                for row in 0..2 {
                    let (at, m) = (layout.motion(to) + 3 * row, block(row, column) * scale);
                    let (posed, moved) = (layout.pose(from) + 3 * column, layout.motion(from) + 3 * column);
                    match (pose, column) {
                        (true, _) => sink.block(at, posed, &m),
                        (false, 0) => sink.block(at, moved, &(m * weights.velocity)),
                        (false, _) => {
                            sink.block(at, posed, &(m * omegas[0]));
                            sink.block(at, moved, &(m * omegas[1]));
                        }
                    }
                }
            }
        };
        for (b, body) in self.system.bodies.iter().enumerate() {
            if body.loads.is_empty() {
                continue;
            }
            for pose in [true, false] {
                let place = seeded::<S, 6>(&now[b].place, 0, pose);
                let mut attitude: Rotation<Dual<S, 6>> = now[b].attitude.lift();
                if pose {
                    let half =
                        Vector3::from_fn(|i, _| Dual::<S, 6>::variable(S::zero(), 3 + i) * Dual::lift(0.5));
                    attitude = attitude.compose(&Rotation { w: Dual::lift(1.0), v: half });
                }
                let wrench = loads(body, Dual::of(time), &attitude, &place);
                add(b, b, pose, &|row, column| Matrix3::from_fn(|i, j| wrench[row][i].eps[3 * column + j]));
            }
        }
        for force in &self.system.forces {
            let bodies = force.ends.map(|end| end.body);
            let places = ends(now, &ground, bodies);
            for pose in [true, false] {
                let a = seeded::<S, COORDINATES>(places[0], 0, pose);
                let b = seeded::<S, COORDINATES>(places[1], 6, pose);
                let wrenches = force.wrenches([&a, &b]);
                for (to, body) in bodies.iter().enumerate() {
                    for (from, other) in bodies.iter().enumerate() {
                        if let (Some(body), Some(other)) = (body, other) {
                            add(*body, *other, pose, &|row, column| {
                                Matrix3::from_fn(|i, j| {
                                    wrenches[2 * to + row][i].eps[6 * from + 3 * column + j]
                                })
                            });
                        }
                    }
                }
            }
        }
    }

    /// M⁻¹-weighted motion that η adds, as the tie of p and u sees it: M (p - u) + B_nᵀ η.
    fn tie(&mut self) {
        for b in 0..self.bodies.len() {
            let (step, body) = (&self.work.steps[b], &self.system.bodies[b]);
            let force = (step.moved[0] - step.change[0]) * (body.mass / self.work.mass);
            let turn = step.tangent * (step.moved[1] - step.change[1]);
            let moment = body.inertia.matrix() * turn / self.work.mass;
            let row = self.work.layout.pose(b);
            for i in 0..3 {
                self.work.residual[row + i] = force[i];
                self.work.residual[row + 3 + i] = moment[i];
            }
        }
        for (j, joint) in self.system.joints.iter().enumerate() {
            let first = self.work.layout.multipliers[j];
            for k in 0..joint.kind.rows() {
                let eta = self.work.eta[first + k];
                for (block, slope) in self.work.jacobians[j][k].iter().enumerate() {
                    if let Some(body) = joint.ends[block / 2].body {
                        let row = self.work.layout.pose(body) + block % 2 * 3;
                        for i in 0..3 {
                            self.work.residual[row + i] += slope[i] * eta;
                        }
                    }
                }
            }
        }
    }

    /// The acceleration that a body ends with, its algorithmic acceleration and g_α; for the rotation they are geometric.
    pub(super) fn finish(&self, b: usize) -> Moving<S> {
        let (moving, now, alpha) = (&self.bodies[b], &self.work.now[b], self.work.scheme.weights);
        let ([_, a, before], _) = self.chart(moving);
        let algorithmic = self.algorithmic(moving.algorithmic, moving.acceleration, now.acceleration);
        let along = self.algorithmic(a, before, now.parameters_acceleration);
        let geometric = |x: &Vector3<S>| match &now.tangent {
            Some(tangent) => tangent.times(x) + tangent.rate(&now.parameters_rate),
            None => *x,
        };
        let (fa, fc) = (self.inertial(b), now.complementary);
        let carried = core::array::from_fn(|i| fa[i] * S::lift(alpha.m) + fc[i] * S::lift(alpha.f));
        let attitude = now.attitude.normalized();
        let (reference, parameters) = match self.work.scheme.chart {
            Chart::Incremental => (attitude, zero()),
            Chart::Rescaled => (moving.reference, self.rescaled(&now.parameters)),
        };
        Moving {
            position: now.place.x,
            velocity: now.place.v,
            acceleration: now.acceleration,
            attitude,
            omega_body: now.place.omega,
            omega_rate: geometric(&now.parameters_acceleration),
            algorithmic,
            algorithmic_rate: geometric(&along),
            carried,
            parameters,
            reference,
        }
    }
    /// Eq. (39): parameters of a turn by more than π are those of the turn the other way round.
    fn rescaled(&self, parameters: &Vector3<S>) -> Vector3<S> {
        let map = self.work.map();
        let turned = Rotation::from_parameters(map, parameters);
        match turned.w.largest() < 0.0 {
            true => map.parameters(&turned),
            false => *parameters,
        }
    }
    /// Evaluates the bodies at the solution: the last correction moved it. The residual form carries its forces on.
    pub(super) fn refresh(&mut self) {
        if self.work.scheme.form == Form::Residual {
            self.residual();
            return;
        }
        let weights = self.weights;
        for b in 0..self.bodies.len() {
            self.evaluate(b, &weights);
        }
    }
    /// The extra coordinates at the end of the step.
    pub(super) fn finish_flat(&self, i: usize, out: &mut Flat<S>) {
        let (weights, alpha, before) = (self.weights, self.work.scheme.weights, &self.extra[i]);
        let [position, velocity, change] = &self.work.flat[i];
        for k in 0..change.len() {
            let w = change[k] * weights.acceleration;
            out.position[k] = position[k] + change[k];
            out.velocity[k] = velocity[k] + change[k] * weights.velocity;
            out.algorithmic[k] = self.algorithmic(before.algorithmic[k], before.acceleration[k], w);
            out.acceleration[k] = w;
        }
        for k in 0..change.len() {
            let [fa, fc] = self.flat_forces(i, k, &weights);
            out.carried[k] = fa * S::lift(alpha.m) + fc * S::lift(alpha.f);
        }
    }
    /// f_a and f_c of an extra coordinate.
    fn flat_forces(&self, i: usize, k: usize, weights: &Weights<S>) -> [S; 2] {
        let (extra, [position, velocity, change]) = (&self.system.extra[i], &self.work.flat[i]);
        let n = extra.len();
        let (_, cos) = (extra.frequency * (self.t + self.h) + extra.phase).sin_cos();
        let (mut fa, mut fc) = (S::zero(), -(extra.force[k] + extra.amplitude[k] * cos));
        for j in 0..n {
            fa += extra.mass[k * n + j] * change[j] * weights.acceleration;
            fc += extra.damping[k * n + j] * (velocity[j] + change[j] * weights.velocity)
                + extra.stiffness[k * n + j] * (position[j] + change[j]);
        }
        [fa, fc]
    }
}

/// T⁻¹ of the exponential map.
#[inline(always)]
fn exponential_inverse<S: Real>(p: &Vector3<S>) -> Matrix3<S> {
    let s = p.dot(p);
    let (along, across) = Exponential.inverse_coefficients(s);
    Matrix3::from_diagonal_element(along - across * s) + spin(p) * S::lift(0.5) + p * p.transpose() * across
}

impl<S: Real> Equations<S> for Stepping<'_, S> {
    fn guess(&mut self, rung: Rung, _lanes: S::Mask) {
        self.predict();
        self.work.bent = S::zero();
        let history = &mut self.work.history;
        if rung == Rung::Quick {
            let goes_on = history.h == self.h.largest();
            let good = history.extra < PRICE && history.wait == 0 && self.work.trouble.is_none();
            (history.began, history.made) = (goes_on && good, false);
            if goes_on {
                return self.extrapolate();
            }
        }
        // A failure leaves nothing to go on with.
        history.h = f64::NAN;
        if rung == Rung::Continued {
            return;
        }
        let per = self.weights.acceleration.recip();
        for b in 0..self.bodies.len() {
            let body = &self.bodies[b];
            let ([_, a, w], _) = self.chart(body);
            let (linear, angular) = match self.work.scheme.form {
                Form::Residual => (body.algorithmic, a),
                _ => (body.acceleration, w),
            };
            let step = &mut self.work.steps[b];
            step.change = match rung {
                // As if nothing moved.
                Rung::Rest => [body.position - step.position, body.parameters - step.parameters],
                // As the paper begins: no acceleration.
                Rung::Still => [zero(); 2],
                // The acceleration goes on.
                _ => [linear * per, angular * per],
            };
            step.moved = step.change;
        }
        self.work.lambda.copy_from_slice(self.lambda);
        self.work.eta.fill(S::zero());
        for (i, flat) in self.extra.iter().enumerate() {
            for k in 0..flat.position.len() {
                self.work.flat[i][2][k] = flat.acceleration[k] * per;
            }
        }
    }

    fn shorten(&mut self, fraction: f64) {
        self.h = self.whole * S::lift(fraction);
        self.weights = Weights::new(self.work, self.h);
        self.predict();
    }

    #[inline]
    fn residual(&mut self) {
        let weights = self.weights;
        let time = self.t + self.h;
        for b in 0..self.bodies.len() {
            self.evaluate(b, &weights);
            let body = &self.system.bodies[b];
            if !body.loads.is_empty() {
                let now = &mut self.work.now[b];
                let [force, moment] = loads(body, time, &now.attitude, &now.place);
                now.complementary[0] -= force;
                now.complementary[1] -= moment;
            }
        }
        let ground = Place::ground();
        for force in &self.system.forces {
            let bodies = force.ends.map(|end| end.body);
            let wrenches = force.wrenches(ends(&self.work.now, &ground, bodies));
            for (i, body) in bodies.iter().enumerate() {
                if let Some(body) = body {
                    self.work.now[*body].complementary[0] -= wrenches[2 * i];
                    self.work.now[*body].complementary[1] -= wrenches[2 * i + 1];
                }
            }
        }
        if self.work.scheme.stabilized {
            self.tie();
        }
        for (j, joint) in self.system.joints.iter().enumerate() {
            let bodies = joint.ends.map(|end| end.body);
            let work = &mut *self.work;
            let places = ends(&work.now, &ground, bodies);
            let (count, start) = (joint.kind.rows(), work.layout.joints[j]);
            let lambda = &work.lambda[work.layout.multipliers[j]..][..count];
            joint.constraint(places, &mut work.residual[start..start + count]);
            if work.scheme.stabilized {
                let mut rates = [S::zero(); MOST_ROWS];
                joint.rates(places, &mut rates, &mut [S::zero(); MOST_ROWS]);
                for (k, rate) in rates[..count].iter().enumerate() {
                    work.residual[start + count + k] = *rate / weights.velocity;
                }
            }
            let reaction = joint.reaction(places, lambda);
            for (i, body) in bodies.iter().enumerate() {
                if let Some(body) = body {
                    work.now[*body].complementary[0] += reaction[2 * i];
                    work.now[*body].complementary[1] += reaction[2 * i + 1];
                }
            }
        }
        for b in 0..self.bodies.len() {
            let [fa, ma] = self.inertial(b);
            let now = &self.work.now[b];
            let mut force = now.complementary[0] * weights.complementary + fa * weights.inertial;
            let mut moment = now.complementary[1] * weights.complementary + ma * weights.inertial;
            if self.work.scheme.form == Form::Residual {
                force += self.bodies[b].carried[0];
                if let Some(tangent) = &now.tangent {
                    moment += tangent.inverse().tr_mul(&self.work.steps[b].carried);
                }
            }
            let row = self.work.layout.motion(b);
            for i in 0..3 {
                self.work.residual[row + i] = force[i] * weights.scale;
                self.work.residual[row + 3 + i] = moment[i] * weights.scale;
            }
        }
        for i in 0..self.extra.len() {
            for k in 0..self.extra[i].position.len() {
                let [fa, fc] = self.flat_forces(i, k, &weights);
                let mut force = fa * weights.inertial + fc * weights.complementary;
                if self.work.scheme.form == Form::Residual {
                    force += self.extra[i].carried[k];
                }
                self.work.residual[self.work.layout.extra[i] + k] = force * weights.scale;
            }
        }
    }

    fn misfit(&self) -> S {
        self.work.residual.iter().fold(S::zero(), |sum, r| sum + r.abs())
    }

    #[inline]
    fn linearize(&mut self, _rung: Rung, _lanes: S::Mask) {
        let weights = self.weights;
        let mut matrix = match self.work.matrix.take() {
            Some(matrix) => matrix,
            None => {
                let mut places = Places::default();
                self.write(&weights, &mut places);
                Matrix::new(self.work.layout.n, places, &self.work.layout.blocks)
            }
        };
        self.write(&weights, &mut matrix.rewrite());
        self.work.trouble = matrix.factor().err();
        self.work.bent = S::zero();
        let history = &mut self.work.history;
        if history.began && !history.made && history.served == 0 {
            history.wait = WAIT;
        }
        (history.made, history.extra, history.served) = (true, 0, 0);
        self.work.matrix = Some(matrix);
    }

    #[inline]
    fn correct(&mut self, _lanes: S::Mask) -> S {
        let weights = self.weights;
        let work = &mut *self.work;
        if let Some(matrix) = &mut work.matrix {
            matrix.factors.solve(&mut work.residual);
        }
        let map = work.map();
        let x = &work.residual;
        // The sum shows what is not a number, which a maximum may hide.
        let (mut size, mut sum, mut turned) = (S::zero(), S::zero(), S::zero());
        let mut seen = |new: S| {
            size = size.max(new);
            sum += new;
        };
        for (b, (step, now)) in work.steps.iter_mut().zip(&work.now).enumerate() {
            let (motion, pose) = (work.layout.motion(b), work.layout.pose(b));
            let part = |at: usize| Vector3::new(x[at], x[at + 1], x[at + 2]);
            let (xi, theta) = (part(motion), part(motion + 3));
            let back = |theta: &Vector3<S>| So3::tangent_inverse(map, &now.parameters, theta);
            step.change[0] -= xi;
            step.change[1] -= back(&theta);
            if work.scheme.stabilized {
                step.moved[0] -= part(pose);
                step.moved[1] -= back(&part(pose + 3));
            } else {
                step.moved = step.change;
            }
            let angle = lengths(&theta);
            turned = turned.max(angle);
            seen(lengths(&xi) / step.sizes[0] + angle / step.sizes[1]);
        }
        for (j, joint) in self.system.joints.iter().enumerate() {
            let (start, first, count) =
                (work.layout.joints[j], work.layout.multipliers[j], joint.kind.rows());
            for k in 0..count {
                work.lambda[first + k] -= x[start + k] * weights.multiplier;
                if work.scheme.stabilized {
                    work.eta[first + k] -= x[start + count + k];
                }
            }
        }
        for (i, flat) in self.extra.iter().enumerate() {
            let start = work.layout.extra[i];
            for k in 0..flat.position.len() {
                let change = x[start + k];
                work.flat[i][2][k] -= change;
                let scale = flat.position[k].abs() + (flat.velocity[k] * self.h).abs() + change.abs();
                let scale = scale + work.flat[i][2][k].abs() + S::lift(f64::MIN_POSITIVE);
                seen(change.abs() / scale);
            }
        }
        work.bent += turned;
        if sum.is_finite().all() { size } else { sum }
    }

    fn bent(&self) -> S {
        self.work.bent
    }
    fn prepared(&self) -> bool {
        self.work.history.began
    }
    fn moved(&self) -> S {
        S::zero()
    }
    fn interval(&self) -> (S, S) {
        (self.t, self.whole)
    }
}
