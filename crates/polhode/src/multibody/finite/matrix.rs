//! The Newton matrix of a step that holds positions alone, and what it shares with that of a step that holds velocities too: in
//! closed form, but for formulas of one's own, loads and forces, whose slopes are duals.
//!
//! A change da of the turn turns the end of the step by η = R₀ T da in space, T = (I + ã/2)/(1 + a·a/4), and columns of the
//! mean by half of that: d(R̄ s) = η × (R₁ s)/2.

use super::super::joint::{Feature, Joint, MOST_ROWS};
use super::super::layout::Layout;
use super::super::place::{Place, twice, unit, zero};
use super::super::tape::{Matrix, Places, Sink};
use super::super::workspace::Workspace;
use super::forces::Step;
use super::leap::{Leap, cayley};
use super::piece::Pull;
use super::rows::{Multipliers, Part, Sight};
use super::stepping::{Leaping, loads};
use crate::group::{Jet, spin};
use crate::scalar::{Dual, Over, Real};
use nalgebra::{Matrix3, Vector3};

pub(super) fn slopes<S: Real>(v: &Vector3<Jet<S>>) -> Matrix3<S> {
    Matrix3::from_fn(|i, j| v[i].eps[j])
}

/// How the reactions of a joint at the mean change with the end of the step, multipliers held: with positions of the first body,
/// its turns in space, and those of the second.
struct Curvature<T> {
    /// Of the force on the first body.
    force: [Matrix3<T>; 4],
    /// Of the moments on both.
    moments: [[Matrix3<T>; 4]; 2],
}

impl<S: Real, T: Over<S>> Sight<'_, S, T> {
    /// The reactions of each row for a multiplier of one.
    fn rows(&self, joint: &Joint<S>, out: &mut [Pull<T>; MOST_ROWS]) {
        let (mut row, arms) = (0, self.arms());
        let mut one = [T::zero(); MOST_ROWS];
        for feature in joint.kind.features() {
            match *feature {
                Feature::Point => {
                    for i in 0..3 {
                        out[row + i] = Pull::none();
                        out[row + i].push(&arms, &unit(i));
                    }
                }
                Feature::Perpendicular(i, j) => {
                    let moment = self.axis(0, i).cross(&self.axis(1, j));
                    out[row] = Pull { force: zero(), moments: [moment, -moment] };
                }
                _ => {
                    one[row] = T::one();
                    out[row] = self.pull(&one);
                    one[row] = T::zero();
                }
            }
            row += feature.rows();
        }
    }
    /// Seen at the mean; `end` is the same joint at the end of the step.
    fn curvature(&self, joint: &Joint<S>, end: &Self, lambda: &[T]) -> Curvature<T> {
        let (half, mut row) = (T::lift(0.5), 0);
        let mut out = Curvature { force: [Matrix3::zeros(); 4], moments: [[Matrix3::zeros(); 4]; 2] };
        // The force at the points.
        let mut force: Vector3<T> = zero();
        let (diagonal, arms) = (Matrix3::from_diagonal_element, end.arms());
        joint.crossed(lambda, |u, w| {
            // d(U × W) = W × (U₁ × η_A)/2 - U × (W₁ × η_B)/2.
            let seen = |at: &Self| [at.places[0].to_space(u), at.places[1].to_space(w)];
            let [[u, w], [u_end, w_end]] = [seen(self), seen(end)];
            let (by_first, by_second) = (twice(&w, &u_end) * half, twice(&u, &w_end) * half);
            out.moments[0][1] += by_first;
            out.moments[0][3] -= by_second;
            out.moments[1][1] -= by_first;
            out.moments[1][3] += by_second;
        });
        for feature in joint.kind.features() {
            let l = lambda[row];
            match *feature {
                Feature::Point => force += Vector3::new(l, lambda[row + 1], lambda[row + 2]),
                Feature::Perpendicular(..) => {}
                Feature::InPlane(i) => {
                    let (f, turned) = (self.axis(0, i) * l, end.axis(0, i) * (l * half));
                    force += f;
                    out.force[1] -= spin(&turned);
                    // -f × d beside.
                    let across = spin(&f) * half;
                    out.moments[0][0] += across;
                    out.moments[0][1] -= twice(&self.span(), &turned) + twice(&f, &arms[0]) * half;
                    out.moments[0][2] -= across;
                    out.moments[0][3] += twice(&f, &arms[1]) * half;
                }
                Feature::Length => {
                    let k = l / T::of(joint.kind.length());
                    force += self.span() * k;
                    out.force[0] -= diagonal(k * half);
                    out.force[1] += spin(&arms[0]) * (k * half);
                    out.force[2] += diagonal(k * half);
                    out.force[3] -= spin(&arms[1]) * (k * half);
                }
            }
            row += feature.rows();
        }
        if !joint.kind.pins_points() {
            let [first, second] = self.arms().map(|arm| spin(&arm));
            for k in 0..4 {
                out.moments[0][k] += first * out.force[k];
                out.moments[1][k] -= second * out.force[k];
            }
        }
        out.moments[0][1] += twice(&force, &arms[0]) * half;
        out.moments[1][3] -= twice(&force, &arms[1]) * half;
        out
    }
}

impl<S: Real> Leaping<'_, S> {
    /// Room for the Newton matrix, once it is known where its entries are.
    pub(in crate::multibody) fn unwritten_matrix(&self) -> Matrix<S> {
        let mut places = Places::default();
        self.write(&mut places as &mut dyn Sink<S>);
        let layout = &self.on.work.small;
        Matrix::new(layout.n, places, &layout.blocks(), &layout.scales)
    }
    /// The step of a body with derivatives with respect to three of its unknowns, if any: of its pose, and of its velocities where
    /// they are unknowns of their own.
    pub(super) fn seeded(&self, body: usize, group: Option<usize>, apart: bool) -> Leap<Jet<S>> {
        let step = &self.on.work.steps[body];
        let place = &self.on.work.leaps[body].ends[0];
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
        let first = if apart { 2 } else { 0 };
        let moved = [part(&step.moved[0], 0), part(&step.moved[1], 1)];
        let change = [part(&step.change[0], first), part(&step.change[1], first + 1)];
        Leap::new(start, moved, change)
    }
    /// The derivatives of the moment equations of a body by the turn, its rate held, and by the rate.
    pub(super) fn moment_slopes(&self, b: usize) -> [Matrix3<S>; 2] {
        let (leap, mass) = (&self.on.work.leaps[b], self.on.work.mass);
        let inertia = self.on.system.bodies[b].inertia.matrix();
        let ended = inertia * (leap.mean.omega - leap.ends[0].omega * S::lift(0.5));
        // d(cay(a) y) = T da × cay(a) y.
        let by_turn = -(spin(&leap.turned(&ended)) * leap.tangent());
        [by_turn / mass, cayley(&leap.turn) * inertia / mass]
    }

    /// Writes the matrix; the order of entries does not depend on the iterate.
    #[inline(always)]
    pub(super) fn write(&self, sink: &mut (impl Sink<S> + ?Sized)) {
        let (work, layout) = (&*self.on.work, &self.on.work.small);
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let (row, [by_turn, by_rate]) = (layout.motion(b), self.moment_slopes(b));
            sink.diagonal(row, row, body.mass / work.mass);
            sink.block(row + 3, row + 3, &(by_turn + by_rate));
        }
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            match joint.kind.own() {
                Some(_) => self.write_own(j, false, sink.object()),
                None => self.write_joint(j, false, sink),
            }
        }
        self.write_forces(false, sink.object());
        self.write_extra(&layout.extra, sink);
    }
    /// Where the three unknowns of a group are: of a body's pose, and of its velocities.
    fn group(layout: &Layout, body: usize, group: usize, whole: bool) -> usize {
        match group {
            0 | 1 if whole => layout.pose(body) + 3 * group,
            _ => layout.motion(body) + 3 * (group % 2),
        }
    }
    /// The joint j of the library, but for its rows of velocity and their multipliers.
    #[inline(always)]
    pub(super) fn write_joint(&self, j: usize, whole: bool, sink: &mut (impl Sink<S> + ?Sized)) {
        let (work, mass) = (&*self.on.work, self.on.work.mass);
        let layout = work.layout_of(whole);
        let joint = &self.on.system.joints[j];
        let (bodies, count, start) = (joint.bodies(), joint.kind.rows(), layout.joints[j]);
        let ground = Leap::ground();
        let leaps = self.leaps(bodies, &ground);
        let ends = [&leaps[0].ends[1], &leaps[1].ends[1]];
        let seen = Sight::new(joint, [&leaps[0].mean, &leaps[1].mean]);
        let seen_end = Sight::new(joint, ends);
        let (mut rows, mut pulls) = ([[zero(); 4]; MOST_ROWS], [Pull::none(); MOST_ROWS]);
        joint.jacobian(self.times()[1], ends, &mut rows);
        seen.rows(joint, &mut pulls);
        for (k, (row, pull)) in rows[..count].iter().zip(&pulls).enumerate() {
            for (end, body) in bodies.into_iter().enumerate() {
                let (Some(body), leap) = (body, leaps[end]) else { continue };
                let (moves, pose) = (layout.motion(body), Self::group(layout, body, 0, whole));
                let ([force, moment], turned) = (pull.on(end), leap.tangent_of_end(&row[2 * end + 1]));
                let moment = leap.ends[0].to_body(&moment);
                for i in joint.touched(k) {
                    sink.add(start + k, pose + i, row[2 * end][i]);
                    sink.add(moves + i, start + k, force[i]);
                }
                for i in 0..3 {
                    sink.add(start + k, pose + 3 + i, turned[i]);
                    sink.add(moves + 3 + i, start + k, moment[i]);
                }
            }
            if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                sink.add(start + k, start + k, -soft);
            }
        }
        let curvature = seen.curvature(joint, &seen_end, self.multipliers(j).lambda);
        // Points turn with their own bodies alone, and do not move with any.
        let (pinned, alone) = (joint.kind.pins_points(), joint.kind.turns_alone());
        for from in 0..2 {
            let Some(body) = bodies[from] else { continue };
            let turn = leaps[from].ends[0].r * leaps[from].tangent() / mass;
            for group in 0..2 {
                let (column, block) = (Self::group(layout, body, group, whole), 2 * from + group);
                let by = |m: &Matrix3<S>| if group == 0 { m / mass } else { m * turn };
                for (end, to) in bodies.into_iter().enumerate() {
                    let Some(to) = to else { continue };
                    let row = layout.motion(to);
                    if !pinned {
                        let force = by(&curvature.force[block]);
                        sink.stiffness(row, column, &if end == 0 { force } else { -force });
                    }
                    if !pinned || (group == 1 && (end == from || !alone)) {
                        let moment = by(&curvature.moments[end][block]);
                        sink.stiffness(row + 3, column, &leaps[end].ends[0].r.tr_mul(&moment));
                    }
                }
            }
        }
    }
    /// The joint j, of one's own, but for the multipliers of its rows of velocity.
    #[inline(never)]
    pub(super) fn write_own(&self, j: usize, whole: bool, sink: &mut dyn Sink<S>) {
        let (work, mass) = (&*self.on.work, self.on.work.mass);
        let layout = work.layout_of(whole);
        let joint = &self.on.system.joints[j];
        let (bodies, count, start) = (joint.bodies(), joint.kind.rows(), layout.joints[j]);
        let times = self.times().map(Dual::constant);
        let mut lambda = [Dual::constant(S::zero()); MOST_ROWS];
        lambda.iter_mut().zip(self.multipliers(j).lambda).for_each(|(out, x)| *out = Dual::constant(*x));
        let none = [Dual::constant(S::zero()); MOST_ROWS];
        let lifted = Multipliers {
            length: layout.length,
            lambda: &lambda[..count],
            nu: whole.then_some(&none[..count]),
        };
        for from in 0..2 {
            let Some(body) = bodies[from] else { continue };
            for group in 0..if whole { 4 } else { 2 } {
                let leaps: [Leap<Jet<S>>; 2] = core::array::from_fn(|end| match bodies[end] {
                    None => Leap::ground(),
                    Some(b) => self.seeded(b, (end == from).then_some(group), whole),
                });
                let share = joint.share(leaps.each_ref(), times, lifted, Part::Slopes);
                let column = Self::group(layout, body, group, whole);
                for (end, to) in bodies.into_iter().enumerate() {
                    let Some(to) = to else { continue };
                    let ([force, moment], row) = (share.momenta.on(end), layout.motion(to));
                    let back = &work.leaps[to].ends[0].r;
                    sink.stiffness(row, column, &(slopes(&force) / mass));
                    sink.stiffness(row + 3, column, &(back.tr_mul(&slopes(&moment)) / mass));
                }
                for k in 0..count {
                    for i in 0..3 {
                        if group < 2 {
                            sink.add(start + k, column + i, share.rows[k].eps[i]);
                        }
                        if whole {
                            sink.add(start + count + k, column + i, share.rates[k].eps[i]);
                        }
                    }
                }
            }
        }
        let ground = Leap::ground();
        let leaps = self.leaps(bodies, &ground);
        for k in 0..count {
            let mut unit = [S::zero(); MOST_ROWS];
            unit[k] = S::one();
            let multipliers = Multipliers { length: layout.length, lambda: &unit[..count], nu: None };
            let share = joint.share(leaps, self.times(), multipliers, Part::Slopes);
            for (end, body) in bodies.into_iter().enumerate() {
                let Some(body) = body else { continue };
                let ([force, moment], row) = (share.momenta.on(end), layout.motion(body));
                let moment = leaps[end].ends[0].to_body(&moment);
                for i in 0..3 {
                    sink.add(row + i, start + k, force[i]);
                    sink.add(row + 3 + i, start + k, moment[i]);
                }
            }
            if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                sink.add(start + k, start + k, -soft);
            }
        }
    }

    /// Takes up how the rows of velocity change with the poses beyond what rows of positions do, those of one's own left out.
    #[inline(always)]
    pub(super) fn see_slopes(&mut self) {
        let (ground, time, half) = (Place::ground(), self.times()[1], S::lift(0.5));
        let Workspace { leaps, slopes, .. } = &mut *self.on.work;
        let place = |body: Option<usize>| body.map_or(&ground, |b| &leaps[b].ends[1]);
        let mut rows = [[zero(); 4]; MOST_ROWS];
        for (joint, slopes) in self.on.system.joints.iter().zip(slopes) {
            if joint.kind.own().is_some() {
                continue;
            }
            let bodies = joint.bodies();
            let places = bodies.map(place);
            joint.rate_slopes(time, places, slopes);
            joint.jacobian(time, places, &mut rows);
            for (slopes, row) in slopes.iter_mut().zip(&rows[..joint.kind.rows()]) {
                for (end, body) in bodies.into_iter().enumerate() {
                    slopes[2 * end] *= half;
                    let Some(body) = body else { continue };
                    // Velocities turn as they are, poses by what their parameters make of it.
                    let (by_rate, by_turn) = (slopes[2 * end + 1] * half, row[2 * end + 1]);
                    slopes[2 * end + 1] = by_turn + leaps[body].tangent_of_end(&(by_rate - by_turn));
                }
            }
        }
    }
    /// Loads and forces, with velocities as unknowns of their own or without.
    pub(super) fn write_forces(&self, apart: bool, sink: &mut dyn Sink<S>) {
        let work = &*self.on.work;
        let (layout, groups) = if apart { (&work.layout, 4) } else { (&work.small, 2) };
        let scale = self.on.h * self.on.h * S::lift(-0.5) / work.mass;
        let times = self.times().map(Dual::constant);
        let column = |body: usize, group: usize| match group {
            0 | 1 => layout.pose(body) + 3 * group,
            _ => layout.motion(body) + 3 * (group - 2),
        };
        let mut add = |to: usize, column: usize, [force, moment]: [&Vector3<Jet<S>>; 2]| {
            let (row, back) = (layout.motion(to), &work.leaps[to].ends[0].r);
            sink.stiffness(row, column, &(slopes(force) * scale));
            sink.stiffness(row + 3, column, &(back.tr_mul(&slopes(moment)) * scale));
        };
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            if body.loads.is_empty() {
                continue;
            }
            for group in 0..groups {
                let leap = self.seeded(b, Some(group), apart);
                let attitude = self.on.bodies[b].attitude.lift();
                let ([force, moment], _) = loads(&body.loads, &leap, &attitude, (times, self.side()));
                add(b, column(b, group), [&force, &moment]);
            }
        }
        for (f, force) in self.on.system.forces.iter().enumerate() {
            let mut damping = [Dual::constant(S::zero()); MOST_ROWS];
            let given = self.damping.get(f).map_or(&[][..], |all| &all[..]);
            damping.iter_mut().zip(given).for_each(|(out, c)| *out = Dual::constant(*c));
            for from in force.seen() {
                for group in 0..groups {
                    let step = Step {
                        joints: &self.on.system.joints,
                        leap: &|b| self.seeded(b, (b == from).then_some(group), apart),
                        angles: self.on.angles,
                        times,
                        length: self.on.work.layout.length,
                    };
                    let effort = force.effort(&step, &damping[..given.len().min(MOST_ROWS)]);
                    for (end, to) in force.bodies().into_iter().enumerate() {
                        let Some(to) = to else { continue };
                        let [force, moment] = effort.pull.on(end);
                        add(to, column(from, group), [&force, &moment]);
                    }
                }
            }
        }
    }
    pub(super) fn write_extra(&self, starts: &[usize], sink: &mut (impl Sink<S> + ?Sized)) {
        let (h, half) = (self.on.h, S::lift(0.5));
        for (extra, start) in self.on.system.extra.iter().zip(starts) {
            let n = extra.len();
            for i in 0..n {
                for j in 0..n {
                    let at = i * n + j;
                    let held = extra.damping[at] / h + extra.stiffness[at] * half;
                    let value = (extra.mass[at] + held * (h * h * half)) / self.on.work.mass;
                    sink.add(start + i, start + j, value);
                }
            }
        }
    }
}
