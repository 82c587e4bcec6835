//! Guesses from the steps before, and how long their factors serve.

use super::workspace::{Step, Stepping};
use crate::archive::kept;
use crate::scalar::Real;

/// The highest order of extrapolation.
pub(super) const ORDER: usize = 3;

/// The solutions of the last steps of one size, to begin the next one with. Motions are smooth on the scale of a step,
/// and what extrapolation gains in digits lets old factors do for the rest.
#[derive(Clone, Debug)]
pub(super) struct History<S> {
    /// The step size, not a number while there are no solutions.
    pub(super) h: f64,
    /// The backward differences of each unknown, its last value first.
    pub(super) differences: Vec<[S; ORDER + 1]>,
    /// The order that would have been the best one for the last step.
    pub(super) order: usize,
    /// Iterations spent since the factors were made, beyond those that new ones take.
    pub(super) extra: u64,
    /// Steps that the factors served after the one that made them.
    pub(super) served: u64,
    /// Steps to wait before old factors are tried again.
    pub(super) wait: u64,
    /// True if this step began with old factors, and if it made new ones.
    pub(super) began: bool,
    pub(super) made: bool,
}

kept!(History<f64> { h, differences, order, extra, served, wait, began, made });

/// Iterations of a step with new factors.
pub(super) const USUAL: u64 = 2;
/// What new factors cost, in iterations (measured: 2.5 to 7). When old ones have cost as much they are not kept.
pub(super) const PRICE: u64 = 4;
/// How many steps make new factors after old ones served none, so that failures are cheap on the whole.
pub(super) const WAIT: u64 = 8;

impl<S: Real> Stepping<'_, S> {
    /// Every unknown of the iterate with its differences; the last argument is true for those of joints.
    #[inline(always)]
    pub(super) fn unknowns(&mut self, mut each: impl FnMut(&mut S, &mut [S; ORDER + 1], bool)) {
        let work = &mut *self.work;
        let differences = &mut work.history.differences[..];
        for (b, step) in work.steps.iter_mut().enumerate() {
            let Step { change, moved, .. } = step;
            let parts = [(work.layout.motion(b), change), (work.layout.pose(b), moved)];
            // Without stabilization both are one.
            for (at, part) in parts.into_iter().take(if work.scheme.stabilized { 2 } else { 1 }) {
                let differences = &mut differences[at..at + 6];
                for i in 0..6 {
                    each(&mut part[i / 3][i % 3], &mut differences[i], false);
                }
            }
            if !work.scheme.stabilized {
                step.moved = step.change;
            }
        }
        for (j, joint) in self.system.joints.iter().enumerate() {
            let (start, first, count) =
                (work.layout.joints[j], work.layout.multipliers[j], joint.kind.rows());
            for k in 0..count {
                each(&mut work.lambda[first + k], &mut differences[start + k], true);
                if work.scheme.stabilized {
                    each(&mut work.eta[first + k], &mut differences[start + count + k], true);
                }
            }
        }
        for (flat, start) in work.flat.iter_mut().zip(&work.layout.extra) {
            for (k, x) in flat[2].iter_mut().enumerate() {
                each(x, &mut differences[start + k], false);
            }
        }
    }
    /// Begins with the extrapolation of the last steps.
    pub(super) fn extrapolate(&mut self) {
        let order = self.work.history.order;
        let factors: [S; ORDER] = core::array::from_fn(|i| S::lift(if i < order { 1.0 } else { 0.0 }));
        self.unknowns(|x, differences, _| {
            *x = differences[0];
            for i in 0..ORDER {
                *x += differences[i + 1] * factors[i];
            }
        });
    }
    /// Takes the solution, found in so many iterations, into the history.
    pub(super) fn remember(&mut self, iterations: u64) {
        let history = &mut self.work.history;
        if history.made {
            history.wait = history.wait.saturating_sub(1);
        } else {
            history.extra += iterations.saturating_sub(USUAL);
            history.served += 1;
        }
        let h = self.h.largest();
        let goes_on = core::mem::replace(&mut history.h, h) == h;
        let mut sizes = [S::zero(); ORDER + 1];
        if !goes_on {
            self.work.history.differences.fill(sizes);
            self.unknowns(|x, differences, _| differences[0] = *x);
        } else {
            self.unknowns(|x, differences, tied| {
                let mut new = *x;
                for (old, size) in differences.iter_mut().zip(&mut sizes) {
                    let change = new - *old;
                    *old = new;
                    new = change;
                    *size += if tied { S::zero() } else { new.abs() };
                }
            });
        }
        // What each order would have been off by.
        let better =
            |best: usize, i: usize| if sizes[i].largest() < sizes[best].largest() { i } else { best };
        self.work.history.order = (1..=ORDER).fold(0, better);
    }
}
