//! Both levels of the joints of a stabilized step with the factors of one: those of the matrix K = [A Bᵀ; B 0] of a step that
//! holds positions alone.
//!
//! Such a step has the changes p of the pose and u that velocities see, the multipliers Λ of positions and η of velocities, and
//! the equations (1) of motion, (2) of the tie M(p - u) ± Bᵀη, (3) of positions and (4) of velocities. With e = u - p and the sum of
//! (1) and (2) they are, up to terms that are smaller by the angle of a step,
//!
//! A p + Bᵀ(Λ ± η) = r₁ + r₂, B p = r₃ and A e ∓ Bᵀη = -r₂, B e = r₄ - r₃:
//!
//! two solves. What is left out costs digits of a correction, which the next one makes good; where bodies turn far in a step, or
//! corrections do not shrink, the whole matrix is factored.

use super::joint::Joint;
use super::layout::Layout;
use super::tape::Matrix;
use super::workspace::{Stepping, Workspace, lengths};
use crate::scalar::Real;
use nalgebra::Vector3;

/// The angle of a step, in rad, beyond which the whole matrix is factored at once.
const FAR: f64 = 0.25;
/// Corrections below this are round-off, for which no larger matrix is a cure.
const SMALL: f64 = 1e-12;
/// Corrections shrink by more than this with factors that are good enough.
const GAIN: f64 = 0.1;

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
        let split = self.scheme.stabilized && !self.in_whole;
        match if self.in_whole { &mut self.whole } else { &mut self.matrix } {
            Some(_) if split => self.solve_split(joints),
            Some(matrix) => matrix.factors.solve(&mut self.residual),
            None => self.residual.fill(S::lift(f64::NAN)),
        }
    }
    fn solve_split(&mut self, joints: &[Joint<S>]) {
        let Workspace { layout, small, residual: r, levels: [first, second], leaps, softness, steps, .. } =
            self;
        let Some(matrix) = &mut self.matrix else { return };
        for b in 0..steps.len() {
            let (motion, pose, at) = (layout.motion(b), layout.pose(b), small.motion(b));
            let tied = Vector3::new(r[pose + 3], r[pose + 4], r[pose + 5]);
            // Of steps by finite derivatives the equations of motion are in axes of the start, ties in those of the end.
            let turned = leaps.get(b).map_or(tied, |leap| leap.turned(&tied));
            for i in 0..3 {
                first[at + i] = r[motion + i] + r[pose + i];
                first[at + 3 + i] = r[motion + 3 + i] + turned[i];
                second[at + i] = -r[pose + i];
                second[at + 3 + i] = -tied[i];
            }
        }
        // Where a joint starts in both, its first multiplier, and how many it has.
        let rows =
            |j: usize| (layout.joints[j], small.joints[j], layout.multipliers[j], joints[j].kind.rows());
        for j in 0..joints.len() {
            let (from, to, _, count) = rows(j);
            first[to..to + count].copy_from_slice(&r[from..from + count]);
        }
        for (from, to, count) in extra(layout, small) {
            first[to..to + count].copy_from_slice(&r[from..from + count]);
            second[to..to + count].fill(S::zero());
        }
        matrix.factors.solve(first);
        for j in 0..joints.len() {
            let (from, to, row, count) = rows(j);
            for k in 0..count {
                // B p, where rows give way too.
                let soft = softness.get(row + k).copied().unwrap_or(S::zero());
                second[to + k] = r[from + count + k] - (r[from + k] + soft * first[to + k]);
            }
        }
        matrix.factors.solve(second);
        for b in 0..steps.len() {
            let (motion, pose, at) = (layout.motion(b), layout.pose(b), small.motion(b));
            for i in 0..6 {
                r[pose + i] = first[at + i];
                r[motion + i] = first[at + i] + second[at + i];
            }
        }
        let backwards = leaps.is_empty();
        for j in 0..joints.len() {
            let (from, to, _, count) = rows(j);
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

impl<S: Real> Stepping<'_, S> {
    /// True if a step of the stabilized form begins with the whole matrix: derivatives are exact with it alone.
    pub(super) fn begins_with_whole(&self) -> bool {
        self.work.scheme.stabilized && (S::DEPTH > 0 || self.turns_far())
    }
    /// True if a body turns far in the step.
    pub(super) fn turns_far(&self) -> bool {
        let far = |omega: &Vector3<S>| (lengths(omega) * self.h).abs().largest() > FAR;
        self.bodies.iter().any(|body| far(&body.omega_body))
    }
    /// True if the whole matrix is the one to factor now.
    pub(super) fn needs_whole(&self) -> bool {
        let (work, [now, before]) = (&*self.work, self.work.corrections);
        let slow = work.history.made && now > SMALL && now > GAIN * before;
        work.scheme.stabilized && (work.wants_whole || slow)
    }
}
