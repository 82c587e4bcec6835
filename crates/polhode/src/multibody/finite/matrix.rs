//! The Newton matrix of a step by finite derivatives, by duals.

use super::super::joint::{MOST_ROWS, Place};
use super::super::tape::{Matrix, Places, Sink};
use super::forces::Step;
use super::leap::{Leap, cayley};
use super::rows::{Multipliers, Share};
use super::stepping::{Leaping, loads};
use crate::group::Jet;
use crate::scalar::{Dual, Real};
use nalgebra::{Matrix3, Vector3};

/// Three unknowns of a body: of its pose, and of its velocities where they are unknowns of their own.
const GROUPS: usize = 4;

fn slopes<S: Real>(v: &Vector3<Jet<S>>) -> Matrix3<S> {
    Matrix3::from_fn(|i, j| v[i].eps[j])
}

impl<S: Real> Leaping<'_, S> {
    /// Room for the Newton matrix, once it is known where its entries are.
    pub(in crate::multibody) fn unwritten_matrix(&mut self) -> Matrix<S> {
        let mut places = Places::default();
        self.write(&mut places);
        Matrix::new(self.on.work.layout.n, places, &self.on.work.layout.blocks)
    }
    fn groups(&self) -> usize {
        if self.stabilized { GROUPS } else { 2 }
    }
    /// The columns of a group of unknowns of a body.
    fn column(&self, body: usize, group: usize) -> usize {
        let layout = &self.on.work.layout;
        if group < 2 { layout.pose(body) + 3 * group } else { layout.motion(body) + 3 * (group - 2) }
    }
    /// The step of a body with derivatives with respect to a group of its unknowns, if any.
    fn seeded(&self, body: usize, group: Option<usize>) -> Leap<Jet<S>> {
        let step = &self.on.work.steps[body];
        let place = self.start(body);
        let still = |v: &Vector3<S>| v.map(Dual::constant);
        let start = Place {
            x: still(&place.x),
            r: place.r.map(Dual::constant),
            v: still(&place.v),
            omega: still(&place.omega),
        };
        let part = |v: &Vector3<S>, own: usize| match group == Some(own) {
            true => Vector3::from_fn(|i, _| Dual::variable(v[i], i)),
            false => still(v),
        };
        let moved = [part(&step.moved[0], 0), part(&step.moved[1], 1)];
        let change = match self.stabilized {
            true => [part(&step.change[0], 2), part(&step.change[1], 3)],
            false => moved,
        };
        Leap::new(start, moved, change)
    }

    /// Writes the matrix; the order of entries does not depend on the iterate.
    pub(super) fn write(&self, sink: &mut dyn Sink<S>) {
        let (work, layout) = (&*self.on.work, &self.on.work.layout);
        let (mass, half) = (work.mass, S::lift(0.5));
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let (row, pose) = (layout.motion(b), layout.pose(b));
            let (inertia, step) = (body.inertia.matrix(), &work.steps[b]);
            let omega = self.on.bodies[b].omega_body * (self.on.h * half);
            let change = if self.stabilized { step.change[1] } else { step.moved[1] };
            let ended = (inertia * (change - omega)).map(Dual::constant);
            let a: Vector3<Jet<S>> = Vector3::from_fn(|i, _| Dual::variable(step.moved[1][i], i));
            let by_turn = slopes(&(cayley(&a) * ended)) / mass;
            let by_rate = cayley(&step.moved[1]) * inertia / mass;
            sink.diagonal(row, row, body.mass / mass);
            if !self.stabilized {
                sink.block(row + 3, row + 3, &(by_turn + by_rate));
                continue;
            }
            sink.block(row + 3, row + 3, &by_rate);
            sink.block(row + 3, pose + 3, &by_turn);
            sink.diagonal(pose, pose, body.mass / mass);
            sink.diagonal(pose, row, -(body.mass / mass));
            sink.block(pose + 3, pose + 3, &(inertia / mass));
            sink.block(pose + 3, row + 3, &-(inertia / mass));
        }
        self.write_joints(sink);
        self.write_forces(sink);
        let h = self.on.h;
        for (extra, start) in self.on.system.extra.iter().zip(&layout.extra) {
            let n = extra.len();
            for i in 0..n {
                for j in 0..n {
                    let at = i * n + j;
                    let held = extra.damping[at] / h + extra.stiffness[at] * half;
                    sink.add(start + i, start + j, (extra.mass[at] + held * (h * h * half)) / mass);
                }
            }
        }
    }

    /// Of the multipliers ν, which are of third order in the step, only their own columns are written.
    fn write_joints(&self, sink: &mut dyn Sink<S>) {
        let (work, layout, mass) = (&*self.on.work, &self.on.work.layout, self.on.work.mass);
        let times = [0, 1].map(|i| Dual::constant(self.times()[i]));
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            let (bodies, count, start) = (joint.bodies(), joint.kind.rows(), layout.joints[j]);
            let mut lambda = [Dual::constant(S::zero()); MOST_ROWS];
            let given = self.multipliers(j).lambda;
            lambda.iter_mut().zip(given).for_each(|(out, x)| *out = Dual::constant(*x));
            let none = [Dual::constant(S::zero()); MOST_ROWS];
            let lifted =
                Multipliers { lambda: &lambda[..count], nu: self.stabilized.then_some(&none[..count]) };
            // Points turn with their own bodies alone, and do not move with any.
            let (pinned, alone) = (joint.kind.pins_points(), joint.kind.turns_alone());
            for from in 0..2 {
                let Some(body) = bodies[from] else { continue };
                for group in 0..self.groups() {
                    let leaps: [Leap<Jet<S>>; 2] = core::array::from_fn(|end| match bodies[end] {
                        None => Leap::ground(),
                        Some(b) => self.seeded(b, (end == from).then_some(group)),
                    });
                    let share: Share<Jet<S>> = joint.share(leaps.each_ref(), times, lifted, false);
                    let column = self.column(body, group);
                    let moved = group < 2 || joint.kind.own().is_some();
                    for (end, to) in bodies.into_iter().enumerate().filter(|_| moved) {
                        let Some(to) = to else { continue };
                        let [force, moment] = share.momenta.on(end);
                        let back = self.on.bodies[to].attitude.matrix().transpose();
                        let row = layout.motion(to);
                        if !pinned {
                            sink.stiffness(row, column, &(slopes(&force) / mass));
                        }
                        if !pinned || (group == 1 && (end == from || !alone)) {
                            sink.stiffness(row + 3, column, &(back * slopes(&moment) / mass));
                        }
                    }
                    for k in 0..count {
                        // A change of position moves points along one axis each.
                        let along = if group % 2 == 0 { joint.touched(k) } else { 0..3 };
                        for i in along.clone().filter(|_| group < 2) {
                            sink.add(start + k, column + i, share.rows[k].eps[i]);
                        }
                        if self.stabilized {
                            for i in 0..3 {
                                sink.add(start + count + k, column + i, share.rates[k].eps[i]);
                            }
                        }
                    }
                }
            }
            self.write_multipliers(j, sink);
            for k in 0..count {
                if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                    sink.add(start + k, start + k, -soft);
                    if self.stabilized {
                        sink.add(start + count + k, start + count + k, -soft);
                    }
                }
            }
        }
    }
    /// The columns of the multipliers of a joint.
    fn write_multipliers(&self, j: usize, sink: &mut dyn Sink<S>) {
        let (layout, joint) = (&self.on.work.layout, &self.on.system.joints[j]);
        let (bodies, count, start) = (joint.bodies(), joint.kind.rows(), layout.joints[j]);
        let leaps = self.leaps(bodies);
        let none = [S::zero(); MOST_ROWS];
        for level in 0..if self.stabilized { 2 } else { 1 } {
            for k in 0..count {
                let mut unit = none;
                unit[k] = S::one();
                let multipliers = match level {
                    0 => Multipliers { lambda: &unit[..count], nu: None },
                    _ => Multipliers { lambda: &none[..count], nu: Some(&unit[..count]) },
                };
                let share = joint.share(leaps.each_ref(), self.times(), multipliers, false);
                let column = start + level * count + k;
                for (end, body) in bodies.into_iter().enumerate() {
                    let Some(body) = body else { continue };
                    let [force, moment] = share.momenta.on(end);
                    let moment = self.on.bodies[body].attitude.unrotate(&moment);
                    let row = layout.motion(body);
                    let along = if level == 0 { joint.touched(k) } else { 0..3 };
                    for i in along {
                        sink.add(row + i, column, force[i]);
                    }
                    for i in 0..3 {
                        sink.add(row + 3 + i, column, moment[i]);
                    }
                    if level == 1 {
                        let row = layout.pose(body);
                        for i in 0..3 {
                            sink.add(row + i, column, -share.ties[end][0][i]);
                            sink.add(row + 3 + i, column, -share.ties[end][1][i]);
                        }
                    }
                }
            }
        }
    }

    fn write_forces(&self, sink: &mut dyn Sink<S>) {
        let layout = &self.on.work.layout;
        let scale = self.on.h * self.on.h * S::lift(-0.5) / self.on.work.mass;
        let times = [0, 1].map(|i| Dual::constant(self.times()[i]));
        let mut add = |to: usize, column: usize, [force, moment]: [&Vector3<Jet<S>>; 2]| {
            let row = layout.motion(to);
            let back = self.on.bodies[to].attitude.matrix().transpose();
            sink.stiffness(row, column, &(slopes(force) * scale));
            sink.stiffness(row + 3, column, &(back * slopes(moment) * scale));
        };
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            if body.loads.is_empty() {
                continue;
            }
            for group in 0..self.groups() {
                let leap = self.seeded(b, Some(group));
                let attitude = self.on.bodies[b].attitude.lift();
                let ([force, moment], _) = loads(&body.loads, &leap, &attitude, (times, self.side()));
                add(b, self.column(b, group), [&force, &moment]);
            }
        }
        for (f, force) in self.on.system.forces.iter().enumerate() {
            let mut damping = [Dual::constant(S::zero()); MOST_ROWS];
            let given = self.damping.get(f).map_or(&[][..], |all| &all[..]);
            damping.iter_mut().zip(given).for_each(|(out, c)| *out = Dual::constant(*c));
            for from in force.seen() {
                for group in 0..self.groups() {
                    let step = Step {
                        joints: &self.on.system.joints,
                        leap: &|b| self.seeded(b, (b == from).then_some(group)),
                        angles: self.on.angles,
                        times,
                    };
                    let effort = force.effort(&step, &damping[..given.len().min(MOST_ROWS)]);
                    for (end, to) in force.bodies().into_iter().enumerate() {
                        let Some(to) = to else { continue };
                        let [force, moment] = effort.pull.on(end);
                        add(to, self.column(from, group), [&force, &moment]);
                    }
                }
            }
        }
    }
}
