//! What all kinds of steps do with their iterate: how it begins, what is factored, how corrections are made.

use super::history::{PRICE, WAIT};
use super::place::zero;
use super::state::BodyMotion;
use super::tape::{Matrix, Values};
use super::workspace::{Now, Stepping, lengths};
use crate::scalar::{Mask, Perform, Real, perform};
use crate::solve::{FactorError, Rung};
use nalgebra::Vector3;

/// What steps begin with, whatever is guessed.
pub(super) struct Prediction;

/// The equations at the iterate.
pub(super) struct Residual;

/// The entries of the Newton matrix, the whole one or that of one level.
pub(super) struct Entries<'a, S> {
    pub(super) whole: bool,
    pub(super) values: Values<'a, S>,
}

/// Corrections that are in the place of the residual. A turn changes the parameters of the attitude by what `back` says, and
/// multipliers are so many times their unknowns.
pub(super) struct Corrections<S, F> {
    multiplier: S,
    back: F,
}

/// All bodies at the end of the step.
pub(super) struct Solution<'a, S: Real> {
    pub(super) next: &'a mut [BodyMotion<S>],
}

impl<S: Real> Stepping<'_, S> {
    /// Begins with the extrapolation of the steps before, if there are such.
    pub(super) fn goes_on(&mut self, rung: Rung) -> bool {
        self.work.corrections = [f64::NAN; 2];
        self.work.angle = self.angle();
        self.work.wants_whole = match rung {
            Rung::Quick => self.begins_with_whole(),
            _ => self.work.scheme.stabilized,
        };
        self.work.whole_for = self.work.whole_for.saturating_sub(u64::from(rung == Rung::Quick));
        let fits = self.work.wants_whole == self.work.in_whole;
        let history = &mut self.work.history;
        if rung == Rung::Quick {
            let goes_on = history.h == self.h.largest();
            let good = fits && history.extra < PRICE && history.wait == 0 && self.work.trouble.is_none();
            (history.began, history.made) = (goes_on && good, false);
            if goes_on {
                self.extrapolate();
                return true;
            }
        }
        // A failure leaves nothing to go on with.
        history.h = f64::NAN;
        false
    }
    /// Begins as if all went on as it moves.
    pub(super) fn as_it_moves(&mut self, rung: Rung) {
        for (body, step) in self.bodies.iter().zip(&mut self.work.steps) {
            let moved = match rung {
                Rung::NoMotion => [zero(); 2],
                _ => [body.velocity * self.h, body.omega_body * self.h],
            };
            (step.moved, step.change) = (moved, moved);
        }
        self.work.lambda.copy_from_slice(self.lambda);
        self.work.eta.fill(S::zero());
        for (flat, work) in self.extra.iter().zip(&mut self.work.flat) {
            for (k, change) in work[2].iter_mut().enumerate() {
                *change = flat.velocity[k] * self.h;
            }
        }
    }
    /// Factors a Newton matrix that was written.
    #[inline]
    pub(super) fn take_matrix(&mut self, mut matrix: Matrix<S>, whole: bool) {
        self.made_factors(matrix.factor());
        self.work.in_whole = whole;
        *self.work.matrix_at(whole) = Some(matrix);
    }
    /// Takes down that factors of a Newton matrix were made, if they could be.
    #[inline]
    pub(super) fn made_factors(&mut self, factored: Result<(), FactorError>) {
        self.work.trouble = factored.err();
        self.work.turned = S::zero();
        let order = self.work.order as u64;
        let history = &mut self.work.history;
        // Guesses that are still to become better say nothing about factors.
        if history.began && !history.made && history.served == 0 && history.known > order {
            history.failed += 1;
            history.wait = if history.failed == 1 { 0 } else { WAIT.min(1 << history.failed.min(WAIT)) };
        }
        (history.made, history.extra, history.served) = (true, 0, 0);
    }
    /// Solves for the corrections and makes them; their size.
    #[inline(always)]
    pub(super) fn correct_with(
        &mut self,
        multiplier: S,
        back: impl Fn(&Now<S>, &Vector3<S>) -> Vector3<S>,
    ) -> S {
        self.work.solve(&self.system.joints);
        self.make_corrections(multiplier, back)
    }
    /// Makes the corrections that are in the place of the residual; their size.
    #[inline(always)]
    pub(super) fn make_corrections(
        &mut self,
        multiplier: S,
        back: impl Fn(&Now<S>, &Vector3<S>) -> Vector3<S>,
    ) -> S {
        perform::<S, _, _>(self, Corrections { multiplier, back })
    }
}

impl<S: Real, F: Fn(&Now<S>, &Vector3<S>) -> Vector3<S>> Perform<Corrections<S, F>> for Stepping<'_, S> {
    type Output = S;
    #[inline(always)]
    fn perform(&mut self, Corrections { multiplier, back }: Corrections<S, F>) -> S {
        let work = &mut *self.work;
        let x = &work.residual;
        // The sum shows what is not a number, which a maximum may hide.
        let (mut size, mut sum, mut turned) = (S::zero(), S::zero(), S::zero());
        let mut seen = |new: S| {
            size = size.max(new);
            sum += new;
        };
        for (b, (step, now)) in work.steps.iter_mut().zip(&work.now).enumerate() {
            let (motion, pose) = (work.layout.motion(b), work.layout.pose(b));
            let part = |at: usize| Vector3::new(x[at], x[at + 1], x[at + 2]);
            let (xi, theta) = (part(motion), part(motion + 3));
            step.change[0] -= xi;
            step.change[1] -= back(now, &theta);
            if work.scheme.stabilized {
                step.moved[0] -= part(pose);
                step.moved[1] -= back(now, &part(pose + 3));
            } else {
                step.moved = step.change;
            }
            let angle = lengths(&theta);
            turned = turned.max(angle);
            seen(lengths(&xi) / step.sizes[0] + angle / step.sizes[1]);
        }
        for (j, joint) in self.system.joints.iter().enumerate() {
            let (start, first, count) =
                (work.layout.joints[j], work.layout.multipliers[j], joint.kind.rows());
            for k in 0..count {
                work.lambda[first + k] -= x[start + k] * multiplier;
                if work.scheme.stabilized {
                    work.eta[first + k] -= x[start + count + k];
                }
            }
        }
        for (i, flat) in self.extra.iter().enumerate() {
            let start = work.layout.extra[i];
            for k in 0..flat.position.len() {
                let change = x[start + k];
                work.flat[i][2][k] -= change;
                let scale = flat.position[k].abs() + (flat.velocity[k] * self.h).abs() + change.abs();
                let scale = scale + work.flat[i][2][k].abs() + S::lift(f64::MIN_POSITIVE);
                seen(change.abs() / scale);
            }
        }
        work.turned += turned;
        let size = if sum.is_finite().all() { size } else { sum };
        work.corrections = [size.largest(), work.corrections[0]];
        size
    }
}
