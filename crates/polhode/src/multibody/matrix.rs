//! The Newton matrix of a step.

use super::joint::MOST_ROWS;
use super::place::{By, Place, zero};
use super::signal::Scene;
use super::tape::{Matrix, Places, Sink};
use super::workspace::{Stepping, Weights, ends, loads};
use crate::group::{Exponential, Jet, Map, Rotation, spin};
use crate::method::Form;
use crate::scalar::{Dual, Over, Real};
use nalgebra::{Matrix3, Vector3};

/// The entries of a derivative.
fn slopes<S: Real>(v: &Vector3<Jet<S>>) -> Matrix3<S> {
    Matrix3::from_fn(|i, j| v[i].eps[j])
}

impl<S: Real> Stepping<'_, S> {
    /// The derivative of the moment equations of a body with respect to θ of its attitude and of its rates, without
    /// forces from outside, and of its Ω.
    #[inline(always)]
    pub(super) fn slopes(&self, b: usize, weights: &Weights<S>) -> ([Matrix3<S>; 2], [Matrix3<S>; 2]) {
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

    /// Room for the Newton matrix, once it is known where its entries are.
    pub(super) fn unwritten_matrix(&mut self, whole: bool) -> Matrix<S> {
        let (weights, mut places) = (self.weights, Places::default());
        self.write(&weights, whole, &mut places as &mut dyn Sink<S>);
        let layout = self.work.layout_of(whole);
        Matrix::new(layout.n, places, &layout.blocks(), &layout.scales)
    }

    /// Writes the Newton matrix, the whole one of a stabilized step or that of a step that holds positions alone; the order of
    /// entries does not depend on the iterate.
    #[inline(always)]
    pub(super) fn write(&mut self, weights: &Weights<S>, whole: bool, sink: &mut (impl Sink<S> + ?Sized)) {
        for b in 0..self.bodies.len() {
            let (moments, omegas) = self.slopes(b, weights);
            self.work.now[b].omega_slopes = omegas;
            let (layout, body) = (self.work.layout_of(whole), &self.system.bodies[b]);
            let (row, pose) = (layout.motion(b), layout.pose(b));
            let mass = body.mass / self.work.mass;
            sink.diagonal(row, row, mass);
            if !whole {
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
        self.write_joints(weights, whole, sink);
        self.write_forces(weights, whole, sink);
        for (extra, start) in self.system.extra.iter().zip(&self.work.layout_of(whole).extra) {
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

    #[inline(always)]
    pub(super) fn write_joints(&self, weights: &Weights<S>, whole: bool, sink: &mut (impl Sink<S> + ?Sized)) {
        let (ground, layout, now) = (Place::ground(), self.work.layout_of(whole), &self.work.now);
        let (geometric, time) = (weights.complementary * weights.scale, self.t + self.h);
        let mut rows = [[zero(); 4]; MOST_ROWS];
        let mut slopes = [[zero(); 4]; MOST_ROWS];
        for (j, joint) in self.system.joints.iter().enumerate() {
            let bodies = joint.bodies();
            let places = ends(now, &ground, bodies);
            let (count, start) = (joint.kind.rows(), layout.joints[j]);
            let lambda = &self.work.lambda[layout.multipliers[j]..][..count];
            joint.jacobian(time, places, &mut rows);
            if whole {
                joint.rate_slopes(time, places, &mut slopes);
            }
            for (k, row) in rows[..count].iter().enumerate() {
                if let Some(soft) = self.work.soft(layout.multipliers[j] + k) {
                    sink.add(start + k, start + k, -soft);
                    if whole {
                        // The tie is M (p - u) + Bᵀ η, so that with the other sign B M⁻¹ Bᵀ would be less μ, not more.
                        sink.add(start + count + k, start + count + k, soft);
                    }
                }
                let touched = joint.touched(k);
                for (block, slope) in row.iter().enumerate() {
                    let Some(body) = bodies[block / 2] else { continue };
                    let turned = block % 2 == 1;
                    let (motion, pose) =
                        (layout.motion(body) + block % 2 * 3, layout.pose(body) + block % 2 * 3);
                    if turned {
                        sink.tied(start + k, pose, motion, slope);
                    } else {
                        for i in touched.clone() {
                            sink.add(start + k, pose + i, slope[i]);
                            sink.add(motion + i, start + k, slope[i]);
                        }
                    }
                    if !whole {
                        continue;
                    }
                    // Rows of velocity, divided by velocity per change, and the columns of η.
                    let before = &self.work.jacobians[layout.multipliers[j] + k][block / 2].as_flattened()
                        [block % 2 * 3..];
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
            joint.stiffness(time, places, lambda, |row, column, block| {
                if let (Some(to), Some(from)) = (bodies[row / 2], bodies[column / 2]) {
                    let (row, column) = (row % 2 * 3, column % 2 * 3);
                    sink.stiffness(layout.motion(to) + row, layout.pose(from) + column, &(block * geometric));
                }
            });
        }
    }

    /// Loads and forces, by duals.
    #[inline(never)]
    pub(super) fn write_forces(&self, weights: &Weights<S>, whole: bool, sink: &mut (impl Sink<S> + ?Sized)) {
        let (layout, now) = (self.work.layout_of(whole), &self.work.now);
        let scale = -(weights.complementary * weights.scale);
        let (time, side) = self.end();
        // The derivative of force and moment on one body by coordinates of another.
        let mut add = |to: usize, from: usize, by: By, wrench: &[Vector3<Jet<S>>]| {
            let omegas = &now[from].omega_slopes;
            for (row, part) in wrench.iter().enumerate() {
                let (at, m) = (layout.motion(to) + 3 * row, slopes(part) * scale);
                let (pose, motion) = (layout.pose(from), layout.motion(from));
                match by {
                    By::Position => sink.stiffness(at, pose, &m),
                    By::Turn => sink.stiffness(at, pose + 3, &m),
                    By::Velocity => sink.block(at, motion, &(m * weights.velocity)),
                    By::Omega => {
                        sink.block(at, pose + 3, &(m * omegas[0]));
                        sink.block(at, motion + 3, &(m * omegas[1]));
                    }
                }
            }
        };
        const ALL: [By; 4] = [By::Position, By::Turn, By::Velocity, By::Omega];
        for (b, body) in self.system.bodies.iter().enumerate() {
            if body.loads.is_empty() {
                continue;
            }
            for by in ALL {
                let place = now[b].place.seeded(Some(by));
                let mut attitude: Rotation<Jet<S>> = now[b].attitude.lift();
                if by == By::Turn {
                    let half = Vector3::from_fn(|i, _| <Jet<S>>::variable(S::zero(), i) * Dual::lift(0.5));
                    attitude = attitude.compose(&Rotation { w: Dual::lift(1.0), v: half });
                }
                add(b, b, by, &loads(body, (Dual::of(time), side), &attitude, &place));
            }
        }
        for force in &self.system.forces {
            let bodies = force.bodies();
            for by in ALL {
                for from in force.seen() {
                    let wrenches = force.wrenches_in(&Scene {
                        time: Dual::of(time),
                        inward: side,
                        joints: &self.system.joints,
                        angles: self.angles,
                        place: &|b| now[b].place.seeded((b == from).then_some(by)),
                    });
                    for (to, body) in bodies.iter().enumerate() {
                        if let Some(body) = body {
                            add(*body, from, by, &wrenches[2 * to..2 * to + 2]);
                        }
                    }
                }
            }
        }
    }
}

/// T⁻¹ of the exponential map.
#[inline(always)]
pub(super) fn exponential_inverse<S: Real>(p: &Vector3<S>) -> Matrix3<S> {
    let s = p.dot(p);
    let (along, across) = Exponential.inverse_coefficients(s);
    Matrix3::from_diagonal_element(along - across * s) + spin(p) * S::lift(0.5) + p * p.transpose() * across
}
