//! Both levels of the joints of a stabilized step with the factors of one: those of the matrix K = [A Bᵀ; B 0] of a step that
//! holds positions alone.
//!
//! Such a step has the changes p of the pose and u that velocities see, the multipliers Λ of positions and η of velocities, and
//! the equations (1) of motion, (2) of the tie M(p - u) ± Bᵀη, (3) of positions and (4) of velocities. With e = u - p and the sum of
//! (1) and (2) they are, up to terms that are smaller by the angle of a step,
//!
//! A p + Bᵀ(Λ ± η) = r₁ + r₂, B p = r₃ and A e ∓ Bᵀη = -r₂, B e = r₄ - r₃ - S p:
//!
//! two solves. S is what the rows of velocity see of the poses beyond B, as it was when K was made. What is left out costs digits
//! of a correction, which the next one makes good; where bodies turn far in a step, or corrections do not shrink, the whole
//! matrix is factored.

use super::joint::{Joint, MOST_ROWS};
use super::layout::Layout;
use super::place::{Place, zero};
use super::state::BodyMotion;
use super::tape::Matrix;
use super::workspace::{Stepping, Workspace, ends, lengths};
use crate::group::{Group, So3};
use crate::method::Form;
use crate::scalar::{Perform, Real, perform};
use nalgebra::Vector3;

/// The angle of a step, in rad, beyond which the whole matrix is factored at once.
const FAR: f64 = 0.05;
/// Corrections below this are round-off, for which no larger matrix is a cure. Stiff forces, which add much to masses, may make
/// small corrections of large errors with the factors of one level: before that, what does not shrink is no round-off.
const SMALL: f64 = 16.0 * f64::EPSILON;
/// Bodies that have turned by more than this since factors were made have left them, in rad.
const OLD: f64 = 0.1;
/// Corrections shrink by more than this with factors that are good enough.
const GAIN: f64 = 0.1;
/// So many steps begin with the whole matrix after one that did not go without.
pub(super) const AFTER: u64 = 16;
/// And so many times as many after the next one, up to so many.
const MORE: u64 = 4;
const MOST_AFTER: u64 = 1024;
/// What the factors of one level leave of a correction, at least: first corrections may shrink faster than later ones.
const LEFT_OUT: f64 = 1e-3;

/// Corrections of both levels, which take the place of the residual.
struct BothLevels<'a, S: Real> {
    joints: &'a [Joint<S>],
}

impl<S: Real> Perform<BothLevels<'_, S>> for Workspace<S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, BothLevels { joints }: BothLevels<'_, S>) {
        self.solve_split(joints);
    }
}

/// How rows of velocity change with the poses, beside the matrix of one level.
pub(super) struct Slopes;

impl<S: Real> Workspace<S> {
    /// Where the unknowns of one level are, or all of them.
    #[inline(always)]
    pub(super) fn layout_of(&self, whole: bool) -> &Layout {
        if whole { &self.layout } else { &self.small }
    }
    /// The matrix of one level, or the whole one.
    pub(super) fn matrix_at(&mut self, whole: bool) -> &mut Option<Matrix<S>> {
        if whole { &mut self.whole } else { &mut self.matrix }
    }
    /// Keeps a matrix that may be of use later, with pivots that are good now.
    pub(super) fn put_aside(&mut self, mut matrix: Matrix<S>, whole: bool) {
        // If it cannot be factored now, it may be when it is needed.
        let _ = matrix.factor();
        *self.matrix_at(whole) = Some(matrix);
    }
    /// Solves for the corrections, which take the place of the residual.
    #[inline]
    pub(super) fn solve(&mut self, joints: &[Joint<S>]) {
        if let Some(eased) = &mut self.eased {
            return eased.solve(joints, &self.layout, &mut self.residual);
        }
        let split = self.scheme.stabilized && !self.in_whole;
        match if self.in_whole { &mut self.whole } else { &mut self.matrix } {
            Some(_) if split => perform::<S, _, _>(self, BothLevels { joints }),
            Some(matrix) => matrix.solve(&mut self.residual),
            None => self.residual.fill(S::lift(f64::NAN)),
        }
    }
    #[inline(always)]
    fn solve_split(&mut self, joints: &[Joint<S>]) {
        let (count, map, geometric) = (self.steps.len(), self.map(), self.scheme.form == Form::Geometric);
        let Workspace { layout, small, residual: r, levels: [first, second], leaps, now, .. } = self;
        let Some(matrix) = &mut self.matrix else { return };
        let vector = |x: &[S], at: usize| Vector3::new(x[at], x[at + 1], x[at + 2]);
        let levels = first.as_chunks_mut::<6>().0.iter_mut().zip(second.as_chunks_mut::<6>().0);
        for ((b, r), (first, second)) in r.as_chunks::<12>().0.iter().enumerate().take(count).zip(levels) {
            // Of steps by finite derivatives the equations of motion are in axes of the start, ties in those of the end.
            let tied = vector(r, 9);
            let tied = leaps.get(b).map_or(tied, |leap| leap.turned(&tied));
            for i in 0..3 {
                first[i] = r[i] + r[6 + i];
                first[3 + i] = r[3 + i] + tied[i];
                second[i] = -r[6 + i];
                second[3 + i] = -tied[i];
            }
        }
        // Where a joint starts in both, and how many rows it has.
        let rows = |j: usize| (layout.joints[j], small.joints[j], joints[j].kind.rows());
        for j in 0..joints.len() {
            let (from, to, count) = rows(j);
            first[to..to + count].copy_from_slice(&r[from..from + count]);
        }
        for (from, to, count) in extra(layout, small) {
            first[to..to + count].copy_from_slice(&r[from..from + count]);
            second[to..to + count].fill(S::zero());
        }
        matrix.solve(first);
        for (j, (joint, slopes)) in joints.iter().zip(&self.slopes).enumerate() {
            let (from, to, count) = rows(j);
            let second = &mut second[to..to + count];
            for (k, second) in second.iter_mut().enumerate() {
                *second = r[from + count + k] - r[from + k];
            }
            // What the rows of velocity see of the change of the poses.
            let still = joint.kind.pins_points();
            for end in 0..2 {
                let Some(b) = joint.ends[end].body else { continue };
                let (moved, turn) = (vector(first, 6 * b), vector(first, 6 * b + 3));
                for (second, slopes) in second.iter_mut().zip(slopes) {
                    *second -= slopes[2 * end + 1].dot(&turn);
                    if !still {
                        *second -= slopes[2 * end].dot(&moved);
                    }
                }
            }
        }
        matrix.solve(second);
        let levels = first.as_chunks::<6>().0.iter().zip(second.as_chunks::<6>().0);
        for ((b, r), (first, second)) in
            r.as_chunks_mut::<12>().0.iter_mut().enumerate().take(count).zip(levels)
        {
            // In the rows of K a turn of the end is what the pose makes of it; velocities turn as they are.
            let turned = vector(second, 3);
            let turned = match leaps.get(b) {
                Some(leap) => leap.turn_of_end(&turned),
                None if geometric => So3::tangent(map, &now[b].parameters, &turned),
                None => turned,
            };
            r[6..].copy_from_slice(first);
            for i in 0..3 {
                r[i] = first[i] + second[i];
                r[3 + i] = first[3 + i] + turned[i];
            }
        }
        let backwards = leaps.is_empty();
        for j in 0..joints.len() {
            let (from, to, count) = rows(j);
            for k in 0..count {
                r[from + k] = first[to + k] + second[to + k];
                r[from + count + k] = if backwards { -second[to + k] } else { second[to + k] };
            }
        }
        for (from, to, count) in extra(layout, small) {
            r[from..from + count].copy_from_slice(&first[to..to + count]);
        }
    }
}

/// Where extra coordinates are in both, and how many.
fn extra(layout: &Layout, small: &Layout) -> impl Iterator<Item = (usize, usize, usize)> {
    let ends = small.extra.iter().skip(1).copied().chain([small.n]);
    layout.extra.iter().zip(&small.extra).zip(ends).map(|((from, to), end)| (*from, *to, end - to))
}

impl<S: Real> Perform<Slopes> for Stepping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, _: Slopes) {
        self.see_slopes();
    }
}

impl<S: Real> Stepping<'_, S> {
    /// Takes up how the rows of velocity change with the poses, beside the matrix of one level.
    #[inline(always)]
    fn see_slopes(&mut self) {
        let (ground, time, per) = (Place::ground(), self.t + self.h, self.weights.velocity.recip());
        let mut rows = [[zero(); 4]; MOST_ROWS];
        let Workspace { now, slopes, .. } = &mut *self.work;
        for (joint, slopes) in self.system.joints.iter().zip(slopes) {
            let bodies = joint.bodies();
            let places = ends(now, &ground, bodies);
            joint.jacobian(time, places, &mut rows);
            joint.rate_slopes(time, places, slopes);
            for (slopes, row) in slopes.iter_mut().zip(&rows) {
                for (block, slope) in slopes.iter_mut().enumerate() {
                    let mut seen = *slope * per;
                    if let (Some(body), 1) = (bodies[block / 2], block % 2) {
                        // Rates of the parameters change by what a turn of the pose makes of them, not by the turn.
                        let [by_pose, by_rate] = &now[body].omega_slopes;
                        seen += (by_pose + by_rate).tr_mul(&row[block]) * per - row[block];
                    }
                    *slope = seen;
                }
            }
        }
    }
    /// True if both levels may go with the factors of one. Derivatives are exact with the whole matrix alone, and where joints
    /// depend on each other their multipliers, which hardly anything determines, would bring what is left out to the fore.
    pub(super) fn splits(&self) -> bool {
        self.work.scheme.stabilized && S::DEPTH == 0 && self.work.softness.is_empty()
    }
    /// True if a step of the stabilized form begins with the whole matrix.
    pub(super) fn begins_with_whole(&self) -> bool {
        let far = self.work.whole_for > 0 || self.work.angle.largest() > FAR;
        self.work.scheme.stabilized && (far || !self.splits())
    }
    /// The largest angle by which a body turns in the step.
    pub(super) fn angle(&self) -> S {
        let most = |most: S, body: &BodyMotion<S>| most.max(lengths(&body.omega_body));
        self.bodies.iter().fold(S::zero(), most) * self.h.abs()
    }
    /// How far the iterate is from where the matrix was made, as an angle. What the factors of one level leave out shrinks with the
    /// angle of the step and with what stiff forces add to masses, however fast poses settle.
    #[inline(always)]
    pub(super) fn distance(&self) -> S {
        match self.work.scheme.stabilized && !self.work.in_whole {
            true => self.work.turned.max(self.work.angle).max(S::lift(LEFT_OUT)),
            false => self.work.turned,
        }
    }
    /// False if a correction that did not shrink is due to what the factors of one level leave out, or to factors from which bodies
    /// have turned far away: where steps are alike, guesses are so good that old factors serve for long.
    #[inline(always)]
    pub(super) fn is_rounded(&self) -> bool {
        let (work, history) = (&*self.work, &self.work.history);
        let split = work.scheme.stabilized && !work.in_whole;
        let old = !history.made && work.angle.largest() * history.served as f64 > OLD;
        !(split || old) || work.corrections[0] < SMALL
    }
    /// True if the whole matrix is the one to factor now.
    pub(super) fn takes_whole(&mut self) -> bool {
        let ([now, before], work) = (self.work.corrections, &mut *self.work);
        let slow = work.history.made && !work.in_whole && now > SMALL && now > GAIN * before;
        if slow && work.scheme.stabilized {
            work.whole_for = work.whole_after;
            work.whole_after = (MORE * work.whole_after).min(MOST_AFTER);
        }
        work.scheme.stabilized && (work.wants_whole || work.in_whole && work.history.made || slow)
    }
}
