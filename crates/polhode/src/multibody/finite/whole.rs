//! The whole Newton matrix of a step that holds velocities too, by duals: for steps in which bodies turn so far that the factors
//! of the smaller one do not serve for both levels of the joints.

use super::super::joint::MOST_ROWS;
use super::super::tape::{Matrix, Places, Sink};
use super::leap::Leap;
use super::matrix::slopes;
use super::rows::{Multipliers, Part, Share};
use super::stepping::Leaping;
use crate::group::Jet;
use crate::scalar::{Dual, Real};

/// Three unknowns of a body: of its pose, and of its velocities.
const GROUPS: usize = 4;

impl<S: Real> Leaping<'_, S> {
    /// Room for it, once it is known where its entries are.
    pub(in crate::multibody) fn unwritten_whole(&self) -> Matrix<S> {
        let mut places = Places::default();
        self.write_whole(&mut places);
        let layout = &self.on.work.layout;
        Matrix::new(layout.n, places, &layout.blocks, &layout.scales)
    }
    /// Writes it; the order of entries does not depend on the iterate.
    pub(super) fn write_whole(&self, sink: &mut dyn Sink<S>) {
        let (work, layout) = (&*self.on.work, &self.on.work.layout);
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let (row, pose, [by_turn, by_rate]) = (layout.motion(b), layout.pose(b), self.moment_slopes(b));
            let (mass, inertia) = (body.mass / work.mass, body.inertia.matrix() / work.mass);
            sink.diagonal(row, row, mass);
            sink.block(row + 3, row + 3, &by_rate);
            sink.block(row + 3, pose + 3, &by_turn);
            sink.diagonal(pose, pose, mass);
            sink.diagonal(pose, row, -mass);
            sink.block(pose + 3, pose + 3, &inertia);
            sink.block(pose + 3, row + 3, &-inertia);
        }
        self.write_joints(sink);
        self.write_forces(true, sink);
        self.write_extra(&layout.extra, sink);
    }

    /// Of the multipliers ν, which are of third order in the step, only their own columns are written.
    fn write_joints(&self, sink: &mut dyn Sink<S>) {
        let (work, layout, mass) = (&*self.on.work, &self.on.work.layout, self.on.work.mass);
        let times = self.times().map(Dual::constant);
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            let (bodies, count, start) = (joint.bodies(), joint.kind.rows(), layout.joints[j]);
            let mut lambda = [Dual::constant(S::zero()); MOST_ROWS];
            let given = self.multipliers(j).lambda;
            lambda.iter_mut().zip(given).for_each(|(out, x)| *out = Dual::constant(*x));
            let none = [Dual::constant(S::zero()); MOST_ROWS];
            let lifted = Multipliers { lambda: &lambda[..count], nu: Some(&none[..count]) };
            // Points turn with their own bodies alone, and do not move with any.
            let (pinned, alone) = (joint.kind.pins_points(), joint.kind.turns_alone());
            for from in 0..2 {
                let Some(body) = bodies[from] else { continue };
                for group in 0..GROUPS {
                    let leaps: [Leap<Jet<S>>; 2] = core::array::from_fn(|end| match bodies[end] {
                        None => Leap::ground(),
                        Some(b) => self.seeded(b, (end == from).then_some(group), true),
                    });
                    let share: Share<Jet<S>> = joint.share(leaps.each_ref(), times, lifted, Part::Slopes);
                    let column = match group {
                        0 | 1 => layout.pose(body) + 3 * group,
                        _ => layout.motion(body) + 3 * (group - 2),
                    };
                    let moved = group < 2 || joint.kind.own().is_some();
                    for (end, to) in bodies.into_iter().enumerate().filter(|_| moved) {
                        let Some(to) = to else { continue };
                        let [force, moment] = share.momenta.on(end);
                        let (row, back) = (layout.motion(to), &work.leaps[to].ends[0].r);
                        if !pinned {
                            sink.stiffness(row, column, &(slopes(&force) / mass));
                        }
                        if !pinned || (group == 1 && (end == from || !alone)) {
                            sink.stiffness(row + 3, column, &(back.tr_mul(&slopes(&moment)) / mass));
                        }
                    }
                    for k in 0..count {
                        // A change of position moves points along one axis each.
                        let along = if group % 2 == 0 { joint.touched(k) } else { 0..3 };
                        for i in along.filter(|_| group < 2) {
                            sink.add(start + k, column + i, share.rows[k].eps[i]);
                        }
                        for i in 0..3 {
                            sink.add(start + count + k, column + i, share.rates[k].eps[i]);
                        }
                    }
                }
            }
            self.write_multipliers(j, sink);
            for k in 0..count {
                if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                    sink.add(start + k, start + k, -soft);
                    sink.add(start + count + k, start + count + k, -soft);
                }
            }
        }
    }
    /// The columns of the multipliers of a joint.
    fn write_multipliers(&self, j: usize, sink: &mut dyn Sink<S>) {
        let (layout, joint) = (&self.on.work.layout, &self.on.system.joints[j]);
        let (bodies, count, start) = (joint.bodies(), joint.kind.rows(), layout.joints[j]);
        let ground = Leap::ground();
        let leaps = self.leaps(bodies, &ground);
        let none = [S::zero(); MOST_ROWS];
        for level in 0..2 {
            for k in 0..count {
                let mut unit = none;
                unit[k] = S::one();
                let multipliers = match level {
                    0 => Multipliers { lambda: &unit[..count], nu: None },
                    _ => Multipliers { lambda: &none[..count], nu: Some(&unit[..count]) },
                };
                let share = joint.share(leaps, self.times(), multipliers, Part::Slopes);
                let column = start + level * count + k;
                for (end, body) in bodies.into_iter().enumerate() {
                    let Some(body) = body else { continue };
                    let [force, moment] = share.momenta.on(end);
                    let moment = leaps[end].ends[0].to_body(&moment);
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
}
