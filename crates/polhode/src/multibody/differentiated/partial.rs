//! What each element of a system adds to the derivative of the equations at the prediction.

use super::super::joint::{MOST_ROWS, Place};
use super::super::system::System;
use super::super::workspace::{Now, Stepping, Weights, loads};
use super::maps::Predicted;
use super::variation::{Variation, with};
use super::{D, Linear, Stiffness, Touched};
use crate::group::spin;
use crate::method::Form;
use crate::scalar::{Dual, Real};
use nalgebra::{Matrix3, Vector3};
use num_traits::Zero;

/// A place with the derivatives of the prediction.
fn varied(now: &Now<f64>, predicted: &Predicted) -> Place<D> {
    let place = &now.place;
    let turn = spin(&predicted.turn.map(|eps| Dual { re: 0.0, eps: [eps] })) + Matrix3::identity();
    Place {
        x: with(&place.x, &predicted.position),
        r: place.r.map(Dual::constant) * turn,
        v: with(&place.v, &predicted.velocity),
        omega: with(&place.omega, &predicted.omega),
    }
}

fn constant(place: &Place<f64>) -> Place<D> {
    let Place { x, r, v, omega } = place;
    let c = |v: &Vector3<f64>| v.map(Dual::constant);
    Place { x: c(x), r: r.map(Dual::constant), v: c(v), omega: c(omega) }
}

impl Linear {
    /// What masses, inertias and gravity change.
    pub(super) fn by_bodies(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        system: &System<D>,
        touched: &Touched,
    ) {
        let gravity = system.gravity.map(|g| g.eps[0]);
        for &b in &touched.bodies {
            let (body, now) = (&system.bodies[b], &stepping.work.now[b]);
            let (mass, inertia) = (body.mass.eps[0], body.inertia.matrix().map(|j| j.eps[0]));
            let rate = match &now.tangent {
                Some(tangent) => tangent.times(&now.parameters_acceleration),
                None => now.parameters_acceleration,
            };
            let turning = now.tangent.map_or(Vector3::zeros(), |t| t.rate(&now.parameters_rate));
            let omega = &now.place.omega;
            let partial = [now.acceleration * mass, inertia * rate];
            let force = -(stepping.system.gravity * mass + gravity * body.mass.re);
            let moment = inertia * turning + omega.cross(&(inertia * omega));
            let row = stepping.work.layout.motion(b);
            let total = |fa: Vector3<f64>, fc: Vector3<f64>| {
                (fa * weights.inertial + fc * weights.complementary) * weights.scale
            };
            self.add(row, &total(partial[0], force));
            self.add(row + 3, &total(partial[1], moment));
            self.partial[b] = partial;
        }
    }

    /// What loads and forces change, by duals.
    pub(super) fn by_forces(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        system: &System<D>,
    ) {
        let (now, layout) = (&stepping.work.now, &stepping.work.layout);
        let scale = -(weights.complementary * weights.scale);
        let time = Dual::lift(stepping.t + stepping.h);
        for (b, body) in system.bodies.iter().enumerate() {
            if !body.loads.is_empty() {
                let place = varied(&now[b], &self.predicted[b]);
                let attitude = now[b].attitude.with_slope(&self.predicted[b].turn);
                let wrench = loads(body, time, &attitude, &place);
                for (i, part) in wrench.iter().enumerate() {
                    self.add(layout.motion(b) + 3 * i, &(part.map(|x| x.eps[0]) * scale));
                }
            }
        }
        for force in &system.forces {
            let bodies = force.ends.map(|end| end.body);
            let place = |b: usize| varied(&now[b], &self.predicted[b]);
            let places = bodies.map(|body| body.map_or_else(Place::ground, place));
            let wrenches = force.wrenches(places.each_ref());
            for (i, wrench) in wrenches.iter().enumerate() {
                if let Some(b) = bodies[i / 2] {
                    self.add(layout.motion(b) + i % 2 * 3, &(wrench.map(|x| x.eps[0]) * scale));
                }
            }
        }
    }

    /// What the poses change in the joints.
    pub(super) fn by_poses(&mut self, stepping: &Stepping<'_, f64>) {
        for (j, joint) in stepping.system.joints.iter().enumerate() {
            let start = stepping.work.layout.joints[j];
            for (k, row) in self.joints[j][..joint.kind.rows()].iter().enumerate() {
                let mut sum = 0.0;
                for (end, slopes) in joint.ends.iter().zip(row.chunks(2)) {
                    if let Some(b) = end.body {
                        let predicted = &self.predicted[b];
                        sum += slopes[0].dot(&predicted.position) + slopes[1].dot(&predicted.turn);
                    }
                }
                self.x[start + k] = sum;
            }
        }
        for Stiffness { row, body, turned, block } in &self.stiffness {
            let predicted = &self.predicted[*body];
            let change = block * if *turned { &predicted.turn } else { &predicted.position };
            for i in 0..3 {
                self.x[row + i] += change[i];
            }
        }
    }

    /// What the points and axes of joints change.
    pub(super) fn by_joints(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        system: &System<D>,
        touched: &Touched,
    ) {
        let (work, layout) = (&*stepping.work, &stepping.work.layout);
        let scale = weights.complementary * weights.scale;
        for &j in &touched.joints {
            let joint = &system.joints[j];
            let bodies = joint.ends.map(|end| end.body);
            let places = bodies.map(|body| body.map_or_else(Place::ground, |b| constant(&work.now[b].place)));
            let (mut rows, mut lambda) = ([D::zero(); MOST_ROWS], [D::zero(); MOST_ROWS]);
            joint.constraint(places.each_ref(), &mut rows);
            let (count, start, first) = (joint.kind.rows(), layout.joints[j], layout.multipliers[j]);
            for k in 0..count {
                self.x[start + k] += rows[k].eps[0];
                lambda[k] = Dual::constant(work.lambda[first + k]);
            }
            let reaction = joint.reaction(places.each_ref(), &lambda[..count]);
            for (i, part) in reaction.iter().enumerate() {
                if let Some(b) = bodies[i / 2] {
                    self.add(layout.motion(b) + i % 2 * 3, &(part.map(|x| x.eps[0]) * scale));
                }
            }
        }
    }

    /// The tie of p and u and the rows of velocity, of the stabilized form.
    pub(super) fn by_ties(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        system: &System<D>,
        before: &Variation,
    ) {
        let (work, layout) = (&*stepping.work, &stepping.work.layout);
        for (b, body) in system.bodies.iter().enumerate() {
            let (step, inertia) = (&work.steps[b], body.inertia.matrix());
            let turn = step.tangent * (step.moved[1] - step.change[1]);
            let force = (step.moved[0] - step.change[0]) * (body.mass.eps[0] / work.mass);
            let moment = inertia.map(|j| j.eps[0]) * turn + inertia.map(|j| j.re) * self.predicted[b].tied;
            self.add(layout.pose(b), &force);
            self.add(layout.pose(b) + 3, &(moment / work.mass));
        }
        for (j, joint) in system.joints.iter().enumerate() {
            let bodies = joint.ends.map(|end| end.body);
            let (count, start, first) = (joint.kind.rows(), layout.joints[j], layout.multipliers[j]);
            let place = |b: usize| varied(&work.now[b], &self.predicted[b]);
            let places = bodies.map(|body| body.map_or_else(Place::ground, place));
            let mut rates = [D::zero(); MOST_ROWS];
            joint.rates(places.each_ref(), &mut rates, &mut [D::zero(); MOST_ROWS]);
            let mut eta = [D::zero(); MOST_ROWS];
            for k in 0..count {
                self.x[start + count + k] += rates[k].eps[0] / weights.velocity;
                eta[k] = Dual::constant(work.eta[first + k]);
            }
            // B at the start of the step.
            let place = |b: usize| {
                let moving = before.bodies[b].attached(&stepping.bodies[b]);
                let (x, v, omega) = (moving.position, moving.velocity, moving.omega_body);
                Place { x, r: moving.attitude.matrix(), v, omega }
            };
            let places = bodies.map(|body| body.map_or_else(Place::ground, place));
            let reaction = joint.reaction(places.each_ref(), &eta[..count]);
            for (i, part) in reaction.iter().enumerate() {
                if let Some(b) = bodies[i / 2] {
                    self.add(layout.pose(b) + i % 2 * 3, &part.map(|x| x.eps[0]));
                }
            }
        }
    }

    /// The extra coordinates.
    pub(super) fn by_extra(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        system: &System<D>,
        (touched, now): (&Touched, &Variation),
    ) {
        let work = &*stepping.work;
        for (i, flat) in now.extra.iter().enumerate() {
            let (extra, start, n) = (&system.extra[i], work.layout.extra[i], flat.position.len());
            let [positions, velocities] = &mut self.flat[i];
            for k in 0..n {
                let (y, v) = stepping.predicted(
                    flat.position[k],
                    flat.velocity[k],
                    flat.algorithmic[k],
                    flat.acceleration[k],
                );
                (positions[k], velocities[k]) = (y, v);
            }
            for k in 0..n {
                let mut sum = 0.0;
                for j in 0..n {
                    let (damping, stiffness) = (extra.damping[k * n + j].re, extra.stiffness[k * n + j].re);
                    sum += (damping * velocities[j] + stiffness * positions[j]) * weights.complementary;
                }
                if touched.extra[i] {
                    let [fa, fc] = by_numbers(stepping, weights, system, i, k);
                    sum += fa * weights.inertial + fc * weights.complementary;
                }
                if work.scheme.form == Form::Residual {
                    sum += flat.carried[k];
                }
                self.x[start + k] = sum * weights.scale;
            }
        }
    }
}

/// The derivatives of f_a and f_c of an extra coordinate by its own numbers.
pub(super) fn by_numbers(
    stepping: &Stepping<'_, f64>,
    weights: &Weights<f64>,
    system: &System<D>,
    i: usize,
    k: usize,
) -> [f64; 2] {
    let (extra, [position, velocity, change]) = (&system.extra[i], &stepping.work.flat[i]);
    let n = extra.len();
    let (_, cos) = (extra.frequency * Dual::lift(stepping.t + stepping.h) + extra.phase).sin_cos();
    let (mut fa, mut fc) = (0.0, -(extra.force[k] + extra.amplitude[k] * cos).eps[0]);
    for j in 0..n {
        let at = k * n + j;
        fa += extra.mass[at].eps[0] * change[j] * weights.acceleration;
        fc += extra.damping[at].eps[0] * (velocity[j] + change[j] * weights.velocity)
            + extra.stiffness[at].eps[0] * (position[j] + change[j]);
    }
    [fa, fc]
}
