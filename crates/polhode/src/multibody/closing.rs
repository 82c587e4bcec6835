//! The velocities that fit the joints at the end of a step from a discrete Lagrangian.

use super::history::{Guess, ORDER};
use super::joint::{Joint, MOST_ROWS, Place, zero};
use super::state::{BodyMotion, CoordinateState};
use super::structured::Solve;
use super::tape::{Matrix, Places, Product, Sink, keep_matrix};
use super::variational::Varying;
use super::workspace::lengths;
use crate::archive::{Archive, Kept};
use crate::scalar::{Dual, Real, Scalar};
use crate::solve::{FactorError, StepError};
use nalgebra::Vector3;

/// The velocities that fit the joints at the end of a step.
#[derive(Clone, Debug)]
pub(super) struct Closing<S: Real> {
    /// Its own, where bodies turn too far in a step for the factors of the step itself.
    matrix: Option<Matrix<S>>,
    /// What is left of the rows, what was found so far, and a correction of it.
    given: Vec<S>,
    pub(super) found: Vec<S>,
    x: Vec<S>,
    /// What was found in steps of this size: backward differences, the last value first.
    h: f64,
    differences: Vec<[S; ORDER + 1]>,
    /// The guess of velocities that would have been the best one for the last step.
    guess: Guess,
    /// True if its own factors are younger than those of the steps.
    younger: bool,
}

impl<S: Real> Closing<S> {
    pub(super) fn new() -> Self {
        Closing {
            matrix: None,
            given: Vec::new(),
            found: Vec::new(),
            x: Vec::new(),
            h: f64::NAN,
            differences: Vec::new(),
            guess: Guess::default(),
            younger: false,
        }
    }
    /// Begins with the extrapolation of the steps before.
    fn begin(&mut self, n: usize, h: f64) {
        let order = if self.h == h { self.guess.order } else { 0 };
        self.found.clear();
        self.differences.resize(n, [S::zero(); ORDER + 1]);
        if self.h != h {
            self.differences.fill([S::zero(); ORDER + 1]);
        }
        self.found.extend(self.differences.iter().map(|differences| {
            differences[1..=order].iter().fold(differences[0], |sum, difference| sum + *difference)
        }));
    }
    fn remember(&mut self, h: f64, bodies: usize, length: f64) {
        self.guess = Guess::default();
        if core::mem::replace(&mut self.h, h) != h {
            self.differences.fill([S::zero(); ORDER + 1]);
            self.differences
                .iter_mut()
                .zip(&self.found)
                .for_each(|(differences, found)| differences[0] = *found);
            return;
        }
        // What the guesses would have been off by, velocities as rates of turn.
        let (mut sizes, per_length) = ([S::zero(); ORDER + 1], S::lift(length.recip()));
        for (i, (found, differences)) in self.found.iter().zip(&mut self.differences).enumerate() {
            let mut new = *found;
            let unit = if i % 6 < 3 { per_length } else { S::one() };
            let counted = i < 6 * bodies;
            for (size, old) in sizes.iter_mut().zip(differences) {
                let change = new - *old;
                if counted {
                    *size += change.abs() * unit;
                }
                *old = new;
                new = change;
            }
        }
        self.guess = Guess::best(ORDER, &sizes, None);
    }
    /// Velocities with B v = 0 at the end for the momenta there, and the second half of the forces on extra coordinates: the
    /// whole velocities are found, because a body without inertia about an axis has them from its joints alone.
    pub(super) fn close(
        &mut self,
        step: &mut Varying<'_, S>,
        next: &mut [BodyMotion<S>],
        next_extra: &mut [CoordinateState<S>],
        solver: &mut impl Solve<S>,
    ) -> Result<(), StepError>
    where
        S: Scalar,
    {
        let (end, n) = (step.on.t + step.on.h, step.on.work.layout.n);
        let (mass, half) = (step.on.work.mass, step.on.h * S::lift(0.5));
        self.given.clear();
        self.given.resize(n, S::zero());
        step.take_end(next);
        for (j, joint) in step.on.system.joints.iter().enumerate().filter(|(_, joint)| joint.is_driven()) {
            let mut rates = [S::zero(); MOST_ROWS];
            joint.rates(end, still(joint, next).each_ref(), &mut rates, None);
            let (start, count) = (step.on.work.layout.joints[j], joint.kind.rows());
            self.given[start..start + count].copy_from_slice(&rates[..count]);
        }
        for (i, extra) in next_extra.iter().enumerate() {
            for k in 0..extra.position.len() {
                let force = step.flat_force(i, k, &extra.position, end);
                self.given[step.on.work.layout.extra[i] + k] = -(force * half) / mass;
            }
        }
        for (b, body) in next.iter().enumerate() {
            let (row, spin) = (step.on.work.layout.motion(b), body.attitude.unrotate(&body.carried[1]));
            for i in 0..3 {
                self.given[row + i] = -(body.velocity[i] * (step.on.system.bodies[b].mass / mass));
                self.given[row + 3 + i] = -(spin[i] / mass);
            }
        }
        solver.close(self, step, next)?;
        let layout = &step.on.work.layout;
        step.react_scaled(&self.found, |b, [force, moment]| {
            next[b].velocity -= force * (mass / step.on.system.bodies[b].mass);
            let turned = next[b].attitude.rotate(&(moment * mass));
            next[b].carried[1] -= turned;
        });
        for (b, body) in next.iter_mut().enumerate() {
            let at = layout.motion(b) + 3;
            let found = Vector3::new(self.found[at], self.found[at + 1], self.found[at + 2]);
            body.omega_body = step.on.system.bodies[b].spin_of(body, found);
        }
        for (extra, start) in next_extra.iter_mut().zip(&step.on.work.layout.extra) {
            for (k, velocity) in extra.velocity.iter_mut().enumerate() {
                *velocity += self.found[start + k];
            }
        }
        Ok(())
    }
    /// What is left of the equations with what was found so far, in place of a correction of it.
    pub(super) fn left(&mut self, step: &Varying<'_, S>) -> &mut Vec<S> {
        self.x.clone_from(&self.given);
        step.multiply_closing(&self.found, &mut self.x);
        &mut self.x
    }
    /// Lets rows that depend on each other give way from what was found.
    fn hold(&mut self, step: &Varying<'_, S>) {
        let (work, layout) = (&*step.on.work, &step.on.work.layout);
        for (j, joint) in step.on.system.joints.iter().enumerate() {
            for k in 0..joint.kind.rows() {
                if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                    self.given[layout.joints[j] + k] += soft * self.found[layout.joints[j] + k];
                }
            }
        }
    }
    /// Finds the velocities. The factors of the step serve here too, for as long as they gain a digit in each round; then own ones
    /// do, until the step makes new ones.
    pub(super) fn find(
        &mut self,
        step: &mut Varying<'_, S>,
        next: &[BodyMotion<S>],
    ) -> Result<(), StepError> {
        /// A correction this small, relative to the velocities, is round-off; what is left after one, by the rate at which they
        /// shrink, is less than that, because light bodies show in their momenta what multipliers miss.
        const END: f64 = 4.0 * f64::EPSILON;
        const LEFT: f64 = 0.25 * f64::EPSILON;
        /// A first rate may be better than those after it; before there is one, it is taken to be this.
        const LEAST_RATE: f64 = 0.01;
        /// What a round has to gain, unless it is down to the rounding of velocities: what does not shrink there is done.
        const GAIN: f64 = 0.1;
        const FLOOR: f64 = 1e-14;
        /// The angle of a step, in rad, beyond which neither those of the step nor those of the last one are tried.
        const FAR: f64 = 0.1;
        const MOST_ROUNDS: usize = 30;
        let (h, n) = (step.on.h, step.on.work.layout.n);
        // Joints hand the rounding of the fastest body on to all.
        let speed =
            |b: usize, v: &Vector3<S>, omega: &Vector3<S>| lengths(v) + lengths(omega) * step.on.work.arms[b];
        let mut fastest = S::zero();
        for (b, body) in next.iter().enumerate() {
            let least = step.on.work.arms[b] / h.abs() * S::lift(1e-3);
            fastest = fastest.max(speed(b, &body.velocity, &body.omega_body) + least);
        }
        let size = |x: &[S]| {
            let part = |at: usize| Vector3::new(x[at], x[at + 1], x[at + 2]);
            let of_body = |b: usize| {
                let at = step.on.work.layout.motion(b);
                speed(b, &part(at), &part(at + 3))
            };
            (0..step.on.bodies.len()).fold(S::zero(), |most, b| most.max(of_body(b)) + of_body(b) * S::zero())
                / fastest
        };
        self.begin(n, h.largest());
        // Derivatives, and what holds joints that depend on each other, are exact with factors of their own alone.
        let dependent = !step.on.work.softness.is_empty();
        let anew = S::DEPTH > 0 || dependent || step.on.work.angle.largest() > FAR;
        self.younger &= !step.on.work.history.made && !anew;
        let (mut own, mut made) = (anew || self.younger, self.younger);
        let mut aged = self.younger;
        let (mut before, mut held) = (f64::NAN, !dependent);
        for _ in 0..MOST_ROUNDS {
            let first = self.matrix.is_none();
            if first || (own && !made) {
                (made, self.younger) = (own, own);
                self.factor(step)?;
            }
            self.left(step);
            match if own { &mut self.matrix } else { &mut step.on.work.matrix } {
                Some(matrix) => matrix.solve(&mut self.x),
                None => break,
            }
            self.found.iter_mut().zip(&self.x).for_each(|(found, x)| *found -= *x);
            let now = size(&self.x).largest();
            if !now.is_finite() {
                return Err(StepError::NotFinite { t: step.on.t.largest(), h: h.largest() });
            }
            let stuck = now <= FLOOR && now > 0.5 * before;
            if now <= END || (S::DEPTH == 0 && (stuck || now * (now / before).max(LEAST_RATE) <= LEFT)) {
                if held {
                    break;
                }
                self.hold(step);
                (held, before) = (true, f64::NAN);
                continue;
            }
            if now > GAIN * before && now > FLOOR {
                // Once in a step.
                (own, made) = (true, made && !core::mem::take(&mut aged));
            }
            before = now;
        }
        self.remember(h.largest(), step.on.bodies.len(), step.on.work.layout.length);
        Ok(())
    }
    /// Room for the matrix, once it is known where its entries are.
    fn unwritten(step: &Varying<'_, S>) -> Matrix<S> {
        let mut places = Places::default();
        step.write_closing(&mut places);
        let layout = &step.on.work.layout;
        Matrix::new(layout.n, places, &layout.blocks, &layout.scales)
    }
    /// Makes and factors it.
    pub(super) fn factor(&mut self, step: &Varying<'_, S>) -> Result<(), StepError> {
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => Self::unwritten(step),
        };
        step.write_closing(&mut matrix.rewrite());
        let factored = matrix.factor();
        self.matrix = Some(matrix);
        let (t, h) = (step.on.t.largest(), step.on.h.largest());
        factored.map_err(|error| match error {
            FactorError::Singular { null, .. } => {
                StepError::Singular { t, h, joints: step.on.work.layout.named(step.on.system, &null) }
            }
            _ => StepError::NotFinite { t, h },
        })
    }
}

impl Closing<Dual<f64, 1>> {
    /// Finds the derivatives of what a plain step has found, with factors that were made where it ended.
    pub(super) fn follow(
        &mut self,
        found: &[f64],
        factors: &mut Closing<f64>,
        step: &Varying<'_, Dual<f64, 1>>,
    ) {
        self.found.clear();
        self.found.extend(found.iter().map(|x| Dual::constant(*x)));
        for round in 0..if step.on.work.softness.is_empty() { 1 } else { 2 } {
            if round > 0 {
                self.hold(step);
            }
            factors.x.clear();
            factors.x.extend(self.left(step).iter().map(|left| left.eps[0]));
            match &mut factors.matrix {
                Some(matrix) => matrix.solve(&mut factors.x),
                None => factors.x.fill(f64::NAN),
            }
            self.found.iter_mut().zip(&factors.x).for_each(|(found, x)| found.eps[0] -= x);
        }
    }
}

impl Closing<f64> {
    /// What influences the steps to come.
    pub(super) fn keep(&mut self, archive: &mut Archive<'_>, step: &Varying<'_, f64>) {
        self.differences.resize(step.on.work.layout.n, [0.0; ORDER + 1]);
        self.h.keep(archive);
        self.differences.keep(archive);
        self.guess.keep(archive);
        self.younger.keep(archive);
        keep_matrix(&mut self.matrix, archive, || Self::unwritten(step));
    }
}

/// The places of the bodies of a joint as if they stood still.
fn still<S: Real>(joint: &Joint<S>, bodies: &[BodyMotion<S>]) -> [Place<S>; 2] {
    let still = |b: usize| Place { v: zero(), omega: zero(), ..bodies[b].place() };
    joint.bodies().map(|body| body.map_or_else(Place::ground, still))
}

impl<S: Real> Varying<'_, S> {
    /// Takes B where the bodies are at the end of the step.
    pub(super) fn take_end(&mut self, next: &[BodyMotion<S>]) {
        let end = self.on.t + self.on.h;
        for (joint, rows) in self.on.system.joints.iter().zip(&mut self.on.work.jacobians) {
            joint.jacobian(end, still(joint, next).each_ref(), rows);
        }
    }
    /// Adds the product of [`Varying::write_closing`] with a vector.
    fn multiply_closing(&self, x: &[S], out: &mut [S]) {
        let (work, layout, per) = (&*self.on.work, &self.on.work.layout, self.on.work.mass.recip());
        let part = |at: usize| Vector3::new(x[at], x[at + 1], x[at + 2]);
        let add = |out: &mut [S], at: usize, v: &Vector3<S>| {
            out[at..at + 3].iter_mut().zip(v.iter()).for_each(|(out, v)| *out += *v);
        };
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let at = layout.motion(b);
            add(out, at, &(part(at) * (body.mass * per)));
            add(out, at + 3, &(body.inertia.matrix.times(&part(at + 3)) * per));
        }
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            let (start, count) = (layout.joints[j], joint.kind.rows());
            let rows = &work.jacobians[j][..count];
            for (end, body) in joint.bodies().into_iter().enumerate() {
                let Some(body) = body else { continue };
                let at = layout.motion(body);
                let (v, omega) = (part(at), part(at + 3));
                let (mut force, mut moment) = (zero(), zero());
                for (k, row) in rows.iter().enumerate() {
                    out[start + k] += row[2 * end].dot(&v) + row[2 * end + 1].dot(&omega);
                    force += row[2 * end] * x[start + k];
                    moment += row[2 * end + 1] * x[start + k];
                }
                add(out, at, &force);
                add(out, at + 3, &moment);
            }
            for k in 0..count {
                if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                    out[start + k] -= soft * x[start + k];
                }
            }
        }
        self.write_flat_masses(&mut Product { x, out });
    }
    /// [M Bᵀ; B 0] over the typical mass, B as it is stored.
    fn write_closing(&self, sink: &mut impl Sink<S>) {
        let (work, layout, mass) = (&*self.on.work, &self.on.work.layout, self.on.work.mass);
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let row = layout.motion(b);
            sink.diagonal(row, row, body.mass / mass);
            sink.block(row + 3, row + 3, &(body.inertia.matrix() / mass));
        }
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            let start = layout.joints[j];
            for (k, row) in work.jacobians[j][..joint.kind.rows()].iter().enumerate() {
                for (block, slope) in row.iter().enumerate() {
                    let Some(body) = joint.bodies()[block / 2] else { continue };
                    let column = layout.motion(body) + 3 * (block % 2);
                    for i in if block % 2 == 1 { 0..3 } else { joint.touched(k) } {
                        sink.add(start + k, column + i, slope[i]);
                        sink.add(column + i, start + k, slope[i]);
                    }
                }
                if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                    sink.add(start + k, start + k, -soft);
                }
            }
        }
        self.write_flat_masses(sink);
    }
}
