//! The equations of one step of the generalized-alpha method in its three forms (Brüls & Eberhard 2008, Algorithms 2 to 4),
//! for any number of bodies and joints, as Newton's method sees them.
//!
//! With u the change of position and of the parameters φ that the step adds to its prediction,
//! x = x* + u, ẋ = ẋ* + γ/(βh) u, and accelerations s u. The equations of motion of a body are written as material
//! covectors in every form: w_a f_a + w_c f_c + T⁻ᵀ g_α, so that a joint adds Bᵀ λ with any parameters. The
//! corrections are (ξ, θ) with δφ = T⁻¹ θ, for the same reason. Equations of motion are divided by what multiplies a mass
//! times u, and multipliers by the same, so that the matrix is [M Bᵀ; B 0] for small steps.
//!
//! Stabilized index 2 (Gear, Gupta & Leimkuhler): the pose changes by p = u - M⁻¹ B(q_n)ᵀ η, and B v = 0 at the end of
//! the step determines η.

use super::iterate::{Entries, Prediction, Residual, Solution};
use super::joint::MOST_ROWS;
use super::place::{Place, zero};
use super::signal::Scene;
use super::split::Slopes;
use super::state::{BodyMotion, CoordinateState};
use super::stored::{store, vectors};
use super::workspace::{LEAST_MOTION, Now, ROUNDED, Stepping, Weights, ends, lengths, loads};
use crate::group::{Exponential, Group, Map, Rotation, So3, Tangent};
use crate::method::{Chart, Form};
use crate::scalar::{Perform, Real, perform};
use crate::solve::{Equations, Rung};
use nalgebra::{Matrix3, Vector3};

impl<S: Real> Stepping<'_, S> {
    /// x*, ẋ* of eqs (78), (88) for a coordinate with velocity v, algorithmic acceleration a and acceleration w.
    #[inline(always)]
    pub(super) fn predicted<X>(&self, x: X, v: X, a: X, w: X) -> (X, X)
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
    #[inline(always)]
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
    #[inline(always)]
    pub(super) fn chart(&self, body: &BodyMotion<S>) -> ([Vector3<S>; 3], Option<Tangent<S>>) {
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

    /// What corrections are compared with.
    #[inline(always)]
    pub(super) fn measure(&mut self) {
        let jointed = self.bodies.iter().zip(&self.work.levers).filter(|(_, lever)| !lever.is_zero());
        let farthest = jointed.fold(S::zero(), |far, (body, _)| far.max(lengths(&body.position)));
        for (b, body) in self.bodies.iter().enumerate() {
            // Joints hand the rounding of one body on to all.
            let far = if self.work.levers[b].is_zero() { lengths(&body.position) } else { farthest };
            let turned = lengths(&body.omega_body) * (self.h * S::lift(ROUNDED));
            let turned = turned.max(S::lift(LEAST_MOTION));
            let reach = far + self.work.arms[b];
            let reach = match reach.is_zero() {
                // A point that is held where everything is counts what it moves by.
                true => {
                    let moves = lengths(&body.velocity) + lengths(&body.acceleration) * self.h.abs();
                    (moves * self.h.abs()).max(S::lift(f64::MIN_POSITIVE))
                }
                false => reach,
            };
            self.work.steps[b].sizes = [reach, turned.max(far * self.work.levers[b] * S::lift(ROUNDED))];
        }
    }

    #[inline(always)]
    fn predict(&mut self) {
        self.measure();
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
            let work = &mut *self.work;
            for (joint, first) in self.system.joints.iter().zip(&work.layout.multipliers) {
                let [a, b] = joint.bodies().map(|body| body.map_or(ground, place));
                let rows = &mut work.jacobians[*first..*first + joint.kind.rows()];
                store(joint, self.t, [&a, &b], rows);
            }
        }
    }

    /// Takes a body to the iterate, without forces from outside.
    #[inline(always)]
    pub(super) fn evaluate(&mut self, b: usize, weights: &Weights<S>) {
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
    pub(super) fn inertial(&self, b: usize) -> [Vector3<S>; 2] {
        let (body, now) = (&self.system.bodies[b], &self.work.now[b]);
        let rate = match &now.tangent {
            Some(tangent) => tangent.times(&now.parameters_acceleration),
            None => now.parameters_acceleration,
        };
        [now.acceleration * body.mass, body.inertia.matrix.times(&rate)]
    }

    /// M⁻¹-weighted motion that η adds, as the tie of p and u sees it: M (p - u) + B_nᵀ η.
    pub(super) fn tie(&mut self) {
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
        let work = &mut *self.work;
        for (j, joint) in self.system.joints.iter().enumerate() {
            let first = work.layout.multipliers[j];
            let (rows, eta) = (&work.jacobians[first..], &work.eta[first..first + joint.kind.rows()]);
            for (end, body) in joint.bodies().into_iter().enumerate() {
                let Some(body) = body else { continue };
                let (mut force, mut moment) = (zero(), zero());
                for (row, eta) in rows.iter().zip(eta) {
                    let [push, turn] = vectors(&row[end]);
                    force += push * *eta;
                    moment += turn * *eta;
                }
                let tie = &mut work.residual[work.layout.pose(body)..][..6];
                for i in 0..3 {
                    tie[i] += force[i];
                    tie[3 + i] += moment[i];
                }
            }
        }
    }

    /// The acceleration that a body ends with, its algorithmic acceleration and g_α; for the rotation they are geometric.
    #[inline(always)]
    fn finish(&self, b: usize) -> BodyMotion<S> {
        let (moving, now, alpha) = (&self.bodies[b], &self.work.now[b], self.work.scheme.weights);
        let ([_, a, before], _) = self.chart(moving);
        let algorithmic = self.algorithmic(moving.algorithmic, moving.acceleration, now.acceleration);
        let along = self.algorithmic(a, before, now.parameters_acceleration);
        let geometric = |x: &Vector3<S>| match &now.tangent {
            Some(tangent) => tangent.times(x) + tangent.rate(&now.parameters_rate),
            None => *x,
        };
        let carried = match self.work.scheme.form {
            Form::Residual => {
                let (fa, fc) = (self.inertial(b), now.complementary);
                core::array::from_fn(|i| fa[i] * S::lift(alpha.m) + fc[i] * S::lift(alpha.f))
            }
            _ => moving.carried,
        };
        let attitude = now.attitude.normalized();
        let (reference, parameters) = match self.work.scheme.chart {
            Chart::Incremental => (attitude, zero()),
            Chart::Rescaled => (moving.reference, self.rescaled(&now.parameters)),
        };
        BodyMotion {
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
    pub(super) fn rescaled(&self, parameters: &Vector3<S>) -> Vector3<S> {
        let map = self.work.map();
        let turned = Rotation::from_parameters(map, parameters);
        match turned.w.largest() < 0.0 {
            true => map.parameters(&turned),
            false => *parameters,
        }
    }
    /// The bodies at the end of the step; the sum shows what is not a number. The last correction moved the iterate, so that forces
    /// and accelerations of the next step are those at its end. The residual form carries its forces on.
    pub(super) fn finish_all(&mut self, next: &mut [BodyMotion<S>]) -> S {
        if self.work.scheme.form == Form::Residual {
            self.residual();
        }
        perform::<S, _, _>(self, Solution { next })
    }
    /// The extra coordinates at the end of the step.
    pub(super) fn finish_flat(&self, i: usize, out: &mut CoordinateState<S>) {
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
    pub(super) fn flat_forces(&self, i: usize, k: usize, weights: &Weights<S>) -> [S; 2] {
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

impl<S: Real> Perform<Prediction> for Stepping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, _: Prediction) {
        self.predict();
    }
}

impl<S: Real> Perform<Solution<'_, S>> for Stepping<'_, S> {
    type Output = S;
    #[inline(always)]
    fn perform(&mut self, Solution { next }: Solution<'_, S>) -> S {
        let (weights, evaluated) = (self.weights, self.work.scheme.form == Form::Residual);
        let mut sum = S::zero();
        for (b, next) in next.iter_mut().enumerate() {
            if !evaluated {
                self.evaluate(b, &weights);
            }
            *next = self.finish(b);
            for v in [&next.position, &next.velocity, &next.omega_body] {
                sum += v.dot(v);
            }
        }
        sum
    }
}

impl<S: Real> Perform<Residual> for Stepping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, _: Residual) {
        let weights = self.weights;
        let end = self.end();
        let (time, inward) = end;
        for b in 0..self.bodies.len() {
            self.evaluate(b, &weights);
            let body = &self.system.bodies[b];
            if !body.loads.is_empty() {
                let now = &mut self.work.now[b];
                let [force, moment] = loads(body, end, &now.attitude, &now.place);
                now.complementary[0] -= force;
                now.complementary[1] -= moment;
            }
        }
        let ground = Place::ground();
        for force in &self.system.forces {
            let bodies = force.bodies();
            let wrenches = match force.signals.is_empty() {
                true => force.wrenches(time, ends(&self.work.now, &ground, bodies)),
                false => force.wrenches_in(&Scene {
                    time,
                    inward,
                    joints: &self.system.joints,
                    angles: self.angles,
                    place: &|b| self.work.now[b].place,
                }),
            };
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
            let bodies = joint.bodies();
            let work = &mut *self.work;
            let places = ends(&work.now, &ground, bodies);
            let (count, start) = (joint.kind.rows(), work.layout.joints[j]);
            let lambda = &work.lambda[work.layout.multipliers[j]..][..count];
            joint.constraint(time, places, &mut work.residual[start..start + count]);
            if work.scheme.stabilized {
                let mut rates = [S::zero(); MOST_ROWS];
                joint.rates(time, places, &mut rates, None);
                for (k, rate) in rates[..count].iter().enumerate() {
                    work.residual[start + count + k] = *rate / weights.velocity;
                }
            }
            if !work.softness.is_empty() {
                let first = work.layout.multipliers[j];
                for k in 0..count {
                    let Some(soft) = work.soft(first + k) else { continue };
                    work.residual[start + k] -= soft * work.lambda[first + k] / weights.multiplier;
                    if work.scheme.stabilized {
                        work.residual[start + count + k] += soft * work.eta[first + k];
                    }
                }
            }
            let reaction = joint.reaction(time, places, lambda);
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
}

impl<S: Real> Perform<Entries<'_, S>> for Stepping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, Entries { whole, mut values }: Entries<'_, S>) {
        let weights = self.weights;
        self.write(&weights, whole, &mut values);
    }
}

impl<S: Real> Equations<S> for Stepping<'_, S> {
    fn guess(&mut self, rung: Rung, _lanes: S::Mask) {
        perform::<S, _, _>(self, Prediction);
        self.work.turned = S::zero();
        if self.goes_on(rung) || rung == Rung::Continued {
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
                Rung::NoMotion => [body.position - step.position, body.parameters - step.parameters],
                // As the paper begins: no acceleration.
                Rung::NoAcceleration => [zero(); 2],
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
        perform::<S, _, _>(self, Prediction);
    }

    #[inline]
    fn residual(&mut self) {
        perform::<S, _, _>(self, Residual);
    }

    fn misfit(&self) -> S {
        self.work.layout.misfit(&self.work.residual)
    }

    #[inline]
    fn linearize(&mut self, _rung: Rung, _lanes: S::Mask) {
        let whole = self.takes_whole();
        let mut matrix = match self.work.matrix_at(whole).take() {
            Some(matrix) => matrix,
            None => self.unwritten_matrix(whole),
        };
        perform::<S, _, _>(self, Entries { whole, values: matrix.rewrite() });
        self.take_matrix(matrix, whole);
        if !whole {
            perform::<S, _, _>(self, Slopes);
        }
        if self.splits() && self.work.matrix_at(!whole).is_none() {
            // Room for the other one as long as steps may still allocate.
            let mut other = self.unwritten_matrix(!whole);
            perform::<S, _, _>(self, Entries { whole: !whole, values: other.rewrite() });
            self.work.put_aside(other, !whole);
        }
    }

    #[inline]
    fn correct(&mut self, _lanes: S::Mask) -> S {
        let map = self.work.map();
        let back = |now: &Now<S>, theta: &Vector3<S>| So3::tangent_inverse(map, &now.parameters, theta);
        self.correct_with(self.weights.multiplier, back)
    }

    fn distance_from_jacobian(&self) -> S {
        self.distance()
    }
    fn round_off(&self) -> f64 {
        self.work.round_off
    }
    fn may_stall(&self) -> bool {
        self.is_rounded()
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
