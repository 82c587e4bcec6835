//! What each element of a system adds to the derivative of the equations at the prediction.

use super::super::force::{Force, ForceKind};
use super::super::joint::{Joint, MOST_ROWS};
use super::super::place::Place;
use super::super::signal::Scene;
use super::super::system::System;
use super::super::workspace::{Stepping, Weights, loads};
use super::block::{Block, MassVariation, PointVariation, Room};
use super::maps::{Predicted, Rule};
use super::variation::{BodyVariation, Dual1, constant, one, times, with};
use super::{Linear, Stiffness};
use crate::method::Form;
use crate::scalar::{Dual, Lane, Real};
use nalgebra::{Matrix3, Vector3};
use num_traits::Zero;

/// A place with derivatives of position, attitude, velocity and angular velocity.
fn varied<L: Lane>(place: &Place<f64>, by: [&Vector3<L>; 4]) -> Place<Dual<L, 1>> {
    let [position, turn, velocity, omega] = by;
    // R' = R W̃, row by row.
    let row = |i: usize| {
        let row = Vector3::new(place.r[(i, 0)], place.r[(i, 1)], place.r[(i, 2)]);
        constant::<L>(&row).cross(turn)
    };
    let rows = [row(0), row(1), row(2)];
    Place {
        x: with(&place.x, position),
        r: Matrix3::from_fn(|i, j| Dual { re: L::of(place.r[(i, j)]), eps: [rows[i][j]] }),
        v: with(&place.v, velocity),
        omega: with(&place.omega, omega),
    }
}

fn predicted_place<L: Lane>(place: &Place<f64>, p: &Predicted<L>) -> Place<Dual<L, 1>> {
    varied(place, [&p.position, &p.turn, &p.velocity, &p.omega])
}

fn lifted<L: Lane>(place: &Place<f64>) -> Place<Dual<L, 1>> {
    let number = |x: f64| Dual::constant(L::of(x));
    let Place { x, r, v, omega } = place;
    Place { x: x.map(number), r: r.map(number), v: v.map(number), omega: omega.map(number) }
}

/// The derivatives of a vector.
#[inline(always)]
fn slopes<L: Lane>(v: &Vector3<Dual<L, 1>>) -> Vector3<L> {
    v.map(|x| x.eps[0])
}

/// m v, both with derivatives alone.
#[inline(always)]
fn product<L: Lane>(m: &Matrix3<L>, v: &Vector3<f64>) -> Vector3<L> {
    let v = constant::<L>(v);
    Vector3::from_fn(|i, _| m[(i, 0)] * v[0] + m[(i, 1)] * v[1] + m[(i, 2)] * v[2])
}

/// One lane of a place.
fn in_lane<L: Lane>(place: &Place<Dual<L, 1>>, lane: usize) -> Place<Dual1> {
    let number = |x: Dual<L, 1>| Dual { re: x.re.get(lane), eps: [x.eps[0].get(lane)] };
    let Place { x, r, v, omega } = place;
    Place { x: x.map(number), r: r.map(number), v: v.map(number), omega: omega.map(number) }
}

/// The derivatives of what an element answers: its rows, if it has any, and forces and moments on both bodies.
struct Answer<L> {
    rows: [L; MOST_ROWS],
    wrenches: [Vector3<L>; 4],
}

/// Those of a force.
fn pushed<L: Lane>(force: &Force<Dual<L, 1>>, scene: &Scene<'_, Dual<L, 1>, Dual<L, 1>>) -> Answer<L> {
    let wrenches = force.wrenches_in(scene).map(|wrench| slopes(&wrench));
    Answer { rows: [L::zero(); MOST_ROWS], wrenches }
}

/// Those of Φ and Bᵀ λ, λ held.
fn held<L: Lane>(
    joint: &Joint<Dual<L, 1>>,
    time: f64,
    places: [&Place<Dual<L, 1>>; 2],
    lambda: &[f64],
) -> Answer<L> {
    let mut rows = [Dual::zero(); MOST_ROWS];
    joint.constraint(Dual::lift(time), places, &mut rows);
    Answer { rows: rows.map(|row| row.eps[0]), wrenches: reaction(joint, time, places, lambda) }
}

/// Those of B v at the end of a step and Bᵀ η at its start, η held.
fn tied<L: Lane>(
    joint: &Joint<Dual<L, 1>>,
    times: [f64; 2],
    [from, to]: [[&Place<Dual<L, 1>>; 2]; 2],
    eta: &[f64],
) -> Answer<L> {
    let mut rates = [Dual::zero(); MOST_ROWS];
    joint.rates(Dual::lift(times[1]), to, &mut rates, None);
    Answer { rows: rates.map(|rate| rate.eps[0]), wrenches: reaction(joint, times[0], from, eta) }
}

fn reaction<L: Lane>(
    joint: &Joint<Dual<L, 1>>,
    time: f64,
    places: [&Place<Dual<L, 1>>; 2],
    multipliers: &[f64],
) -> [Vector3<L>; 4] {
    let mut constants = [Dual::zero(); MOST_ROWS];
    constants.iter_mut().zip(multipliers).for_each(|(to, l)| *to = Dual::constant(L::of(*l)));
    joint.reaction(Dual::lift(time), places, &constants[..multipliers.len()]).map(|part| slopes(&part))
}

impl<L: Lane> Block<L> {
    /// True where an element answers for each lane by itself: formulas of one's own have no lanes.
    fn asks_each(&self, is_own: bool) -> bool {
        is_own && L::IN_LANES
    }
    /// What the systems of all lanes answer, one after the other.
    fn of_each(&self, answer: impl Fn(usize, &System<Dual1>) -> Answer<f64>) -> Answer<L> {
        let mut all = Answer { rows: [L::zero(); MOST_ROWS], wrenches: [Vector3::zeros(); 4] };
        for (lane, system) in self.systems.iter().enumerate() {
            let Answer { rows, wrenches } = answer(lane, system);
            all.rows.iter_mut().zip(rows).for_each(|(to, row)| *to = to.with(lane, row));
            for (to, from) in all.wrenches.iter_mut().zip(&wrenches) {
                to.zip_apply(from, |to, from| *to = to.with(lane, from));
            }
        }
        all
    }
}

impl<L: Lane> MassVariation<L> {
    /// The derivatives of the inertial forces: force and moment.
    pub(super) fn inertial(&self, stepping: &Stepping<'_, f64>) -> [Vector3<L>; 2] {
        let now = &stepping.work.now[self.body];
        let rate = match &now.tangent {
            Some(tangent) => tangent.times(&now.parameters_acceleration),
            None => now.parameters_acceleration,
        };
        [constant::<L>(&now.acceleration) * self.mass, product(&self.inertia, &rate)]
    }
    /// Those of the others.
    fn complementary(&self, stepping: &Stepping<'_, f64>) -> [Vector3<L>; 2] {
        let now = &stepping.work.now[self.body];
        let omega = &now.place.omega;
        let mut moment = constant::<L>(omega).cross(&product(&self.inertia, omega));
        if let Some(tangent) = &now.tangent {
            moment += product(&self.inertia, &tangent.rate(&now.parameters_rate));
        }
        [constant::<L>(&stepping.system.gravity) * -self.mass, moment]
    }
}

impl<L: Lane> Room<L> {
    /// What masses, inertias and gravity change.
    pub(super) fn by_bodies(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        block: &Block<L>,
    ) {
        let layout = &stepping.work.layout;
        if let Some(gravity) = &block.gravity {
            let weight = -(weights.complementary * weights.scale);
            for (b, body) in stepping.system.bodies.iter().enumerate() {
                self.add(layout.motion(b), &(gravity * L::of(body.mass * weight)));
            }
        }
        let [inertial, complementary] =
            [weights.inertial, weights.complementary].map(|w| L::of(w * weights.scale));
        for heavier in &block.heavier {
            let (fa, fc) = (heavier.inertial(stepping), heavier.complementary(stepping));
            for i in 0..2 {
                self.add(layout.motion(heavier.body) + 3 * i, &(fa[i] * inertial + fc[i] * complementary));
            }
        }
    }

    /// What loads and forces change, by duals.
    pub(super) fn by_forces(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        block: &Block<L>,
        loaded: &[usize],
    ) {
        let (now, layout) = (&stepping.work.now, &stepping.work.layout);
        let scale = -(weights.complementary * weights.scale);
        let (time, side) = stepping.end();
        let time = Dual::lift(time);
        for &b in loaded {
            let p = self.predicted[b];
            for (lane, system) in block.systems.iter().enumerate() {
                let [position, turn, velocity, omega] =
                    [&p.position, &p.turn, &p.velocity, &p.omega].map(|v| one(v, lane));
                let place: Place<Dual1> = varied(&now[b].place, [&position, &turn, &velocity, &omega]);
                let attitude = now[b].attitude.with_slope(&turn);
                let wrench = loads(&system.bodies[b], (time, side), &attitude, &place);
                for (i, part) in wrench.iter().enumerate() {
                    for k in 0..3 {
                        let x = &mut self.x[layout.motion(b) + 3 * i + k];
                        *x = x.with(lane, x.get(lane) + part[k].eps[0] * scale);
                    }
                }
            }
        }
        let at = stepping.t + stepping.h;
        let time = Dual::lift(at);
        for (f, force) in block.forces.iter().enumerate() {
            let bodies = force.bodies();
            let place = |b: usize| predicted_place(&now[b].place, &self.predicted[b]);
            let angles = stepping.angles;
            let Answer { wrenches, .. } = match block.asks_each(matches!(force.kind, ForceKind::Own(_))) {
                false => {
                    pushed(force, &Scene { time, inward: side, joints: &block.joints, angles, place: &place })
                }
                true => block.of_each(|lane, system| {
                    let place = |b| in_lane(&place(b), lane);
                    let (time, joints) = (Dual::lift(at), &system.joints);
                    let scene = Scene { time, inward: side, joints, angles, place: &place };
                    pushed(&system.forces[f], &scene)
                }),
            };
            for (i, wrench) in wrenches.iter().enumerate() {
                if let Some(b) = bodies[i / 2] {
                    self.add(layout.motion(b) + i % 2 * 3, &(wrench * L::of(scale)));
                }
            }
        }
    }

    /// What the poses change in the joints.
    #[inline(always)]
    pub(super) fn by_poses(&mut self, stepping: &Stepping<'_, f64>, linear: &Linear) {
        for (j, joint) in stepping.system.joints.iter().enumerate() {
            let start = stepping.work.layout.joints[j];
            let rows = &linear.joints[j][..joint.kind.rows()];
            for (end, part) in joint.ends.iter().zip([0, 2]) {
                let Some(b) = end.body else { continue };
                let Predicted { position, turn, .. } = &self.predicted[b];
                for (k, (row, touched)) in rows.iter().zip(&linear.touched[j]).enumerate() {
                    let by_turn = &row[part + 1];
                    let mut sum = L::of(by_turn[0]) * turn[0] + L::of(by_turn[1]) * turn[1];
                    sum += L::of(by_turn[2]) * turn[2];
                    for i in touched.clone() {
                        sum += L::of(row[part][i]) * position[i];
                    }
                    self.x[start + k] += sum;
                }
            }
        }
        for Stiffness { row, body, turned, block } in &linear.stiffness {
            let predicted = &self.predicted[*body];
            let change = times(block, if *turned { &predicted.turn } else { &predicted.position });
            self.add(*row, &change);
        }
    }

    /// What the points and axes of joints change.
    pub(super) fn by_joints(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        block: &Block<L>,
    ) {
        let (work, layout) = (&*stepping.work, &stepping.work.layout);
        let scale = weights.complementary * weights.scale;
        for PointVariation { joint: j, points } in &block.shifted {
            let ends = &stepping.system.joints[*j].ends;
            let (start, first) = (layout.joints[*j], layout.multipliers[*j]);
            let lambda = &work.lambda[first..first + 3];
            let force = Vector3::new(lambda[0], lambda[1], lambda[2]);
            for (i, sign) in [1.0, -1.0].into_iter().enumerate() {
                let Some(b) = ends[i].body else {
                    self.add(start, &(points[i] * L::of(sign)));
                    continue;
                };
                let r = &work.now[b].place.r;
                let arm = constant::<L>(&(r.tr_mul(&force) * (sign * scale)));
                self.add(start, &(times(r, &points[i]) * L::of(sign)));
                self.add(layout.motion(b) + 3, &points[i].cross(&arm));
            }
        }
        let (scale, time) = (L::of(scale), stepping.t + stepping.h);
        for &j in &block.touched {
            let joint = &block.joints[j];
            let bodies = joint.bodies();
            let places = bodies.map(|body| body.map_or_else(Place::ground, |b| lifted(&work.now[b].place)));
            let (count, start, first) = (joint.kind.rows(), layout.joints[j], layout.multipliers[j]);
            let lambda = &work.lambda[first..first + count];
            let Answer { rows, wrenches } = match block.asks_each(joint.kind.own().is_some()) {
                false => held(joint, time, places.each_ref(), lambda),
                true => block.of_each(|lane, system| {
                    let places = places.each_ref().map(|place| in_lane(place, lane));
                    held(&system.joints[j], time, places.each_ref(), lambda)
                }),
            };
            for (k, row) in rows[..count].iter().enumerate() {
                self.x[start + k] += *row;
            }
            for (i, part) in wrenches.iter().enumerate() {
                if let Some(b) = bodies[i / 2] {
                    self.add(layout.motion(b) + i % 2 * 3, &(part * scale));
                }
            }
        }
    }

    /// The tie of p and u and the rows of velocity, of the stabilized form.
    pub(super) fn by_ties(&mut self, stepping: &Stepping<'_, f64>, weights: &Weights<f64>, block: &Block<L>) {
        let (work, layout) = (&*stepping.work, &stepping.work.layout);
        let (per, at) = (L::of(work.mass.recip()), [stepping.t, stepping.t + stepping.h]);
        for heavier in &block.heavier {
            let (b, step) = (heavier.body, &work.steps[heavier.body]);
            let turn = step.tangent * (step.moved[1] - step.change[1]);
            let force = constant::<L>(&(step.moved[0] - step.change[0])) * (heavier.mass * per);
            self.add(layout.pose(b), &force);
            self.add(layout.pose(b) + 3, &(product(&heavier.inertia, &turn) * per));
        }
        for (b, body) in stepping.system.bodies.iter().enumerate() {
            let moment = times(body.inertia.matrix(), &self.predicted[b].tied) * per;
            self.add(layout.pose(b) + 3, &moment);
        }
        for (j, joint) in block.joints.iter().enumerate() {
            let bodies = joint.bodies();
            let (count, start, first) = (joint.kind.rows(), layout.joints[j], layout.multipliers[j]);
            let place = |b: usize| predicted_place(&work.now[b].place, &self.predicted[b]);
            let to = bodies.map(|body| body.map_or_else(Place::ground, place));
            // B at the start of the step.
            let place = |b: usize| {
                let (moving, by): (_, &BodyVariation<L>) = (&stepping.bodies[b], &block.now.bodies[b]);
                let (x, v, omega) = (moving.position, moving.velocity, moving.omega_body);
                let place = Place { x, r: moving.attitude.matrix(), v, omega };
                varied(&place, [&by.position, &by.turn, &by.velocity, &by.omega])
            };
            let from = bodies.map(|body| body.map_or_else(Place::ground, place));
            let eta = &work.eta[first..first + count];
            let Answer { rows, wrenches } = match block.asks_each(joint.kind.own().is_some()) {
                false => tied(joint, at, [from.each_ref(), to.each_ref()], eta),
                true => block.of_each(|lane, system| {
                    let [from, to] =
                        [&from, &to].map(|places| places.each_ref().map(|place| in_lane(place, lane)));
                    tied(&system.joints[j], at, [from.each_ref(), to.each_ref()], eta)
                }),
            };
            for (k, rate) in rows[..count].iter().enumerate() {
                self.x[start + count + k] += *rate / L::of(weights.velocity);
            }
            for (i, part) in wrenches.iter().enumerate() {
                if let Some(b) = bodies[i / 2] {
                    self.add(layout.pose(b) + i % 2 * 3, part);
                }
            }
        }
    }

    /// The extra coordinates.
    pub(super) fn by_extra(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        rule: &Rule,
        block: &Block<L>,
    ) {
        let layout = &stepping.work.layout;
        for (i, flat) in block.now.extra.iter().enumerate() {
            let (extra, start, n) = (&stepping.system.extra[i], layout.extra[i], flat.position.len());
            let [positions, velocities] = &mut self.flat[i];
            for k in 0..n {
                let (change, v) =
                    rule.predicted::<L, L>(flat.velocity[k], flat.algorithmic[k], flat.acceleration[k]);
                (positions[k], velocities[k]) = (flat.position[k] + change, v);
            }
            for k in 0..n {
                let mut sum = L::zero();
                for j in 0..n {
                    let at = k * n + j;
                    let [damping, stiffness] =
                        [extra.damping[at], extra.stiffness[at]].map(|x| L::of(x * weights.complementary));
                    sum += damping * velocities[j] + stiffness * positions[j];
                }
                if block.extra[i] {
                    let [fa, fc] = block.by_numbers(stepping, weights, i, k);
                    sum += fa * L::of(weights.inertial) + fc * L::of(weights.complementary);
                }
                if rule.form == Form::Residual {
                    sum += flat.carried[k];
                }
                self.x[start + k] = sum * L::of(weights.scale);
            }
        }
    }

    /// The extra coordinates at the end of the step.
    pub(super) fn finish_extra(
        &self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        rule: &Rule,
        block: &mut Block<L>,
    ) {
        for i in 0..block.now.extra.len() {
            let (flat, after) = (&block.now.extra[i], &mut block.next.extra[i]);
            let start = stepping.work.layout.extra[i];
            let [positions, velocities] = &self.flat[i];
            let n = positions.len();
            for k in 0..n {
                let change = -self.x[start + k];
                let w = change * L::of(weights.acceleration);
                after.position[k] = positions[k] + change;
                after.velocity[k] = velocities[k] + change * L::of(weights.velocity);
                after.algorithmic[k] = rule.algorithmic::<L, L>(flat.algorithmic[k], flat.acceleration[k], w);
                after.acceleration[k] = w;
            }
            // As for the bodies: f_c from the derivative of the equations.
            if rule.form == Form::Residual {
                for k in 0..n {
                    let mut fa = block.by_numbers(stepping, weights, i, k)[0];
                    for j in 0..n {
                        let mass = stepping.system.extra[i].mass[k * n + j];
                        fa += block.next.extra[i].acceleration[j] * L::of(mass);
                    }
                    block.next.extra[i].carried[k] = rule.carry(fa, block.now.extra[i].carried[k]);
                }
            }
        }
    }
}

impl<L: Lane> Block<L> {
    /// The derivatives of f_a and f_c of an extra coordinate by its own numbers.
    pub(super) fn by_numbers(
        &self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        i: usize,
        k: usize,
    ) -> [L; 2] {
        let mut sum = [L::zero(); 2];
        for (lane, system) in self.systems.iter().enumerate() {
            let [fa, fc] = by_numbers(stepping, weights, system, i, k);
            sum = [sum[0].with(lane, fa), sum[1].with(lane, fc)];
        }
        sum
    }
}

/// The same for one parameter.
fn by_numbers(
    stepping: &Stepping<'_, f64>,
    weights: &Weights<f64>,
    system: &System<Dual1>,
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
