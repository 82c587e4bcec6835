//! The iteration of Levenberg and Marquardt, with Moré's scaling, Nielsen's damping, and bounds by an active set.
//!
//! Each step minimizes |r + J s|² + μ|D s|² over the free parameters. Whether to stop is asked of the full step, μ = 0:
//! a damped step may be short far from any minimum.

use super::linear::norm;
use super::search::{Evaluation, Linear, NONE, Search};
use super::{Fit, FitError, Iteration, Model, Options, Parameter, Stop};
use core::ops::ControlFlow;

/// Damping of the first step.
const FIRST_DAMPING: f64 = 1e-3;
/// The damping of the next step after a step that brought what was promised, over that of this step.
const DAMPING_DECREASE: f64 = 0.1;
/// A step is accepted if it brings this part of the reduction that the linear model promises.
const MIN_GAIN_RATIO: f64 = 1e-4;
/// A step of this relative size goes where the linear model says nothing, and may lose a parameter there.
const MAX_RELATIVE_STEP: f64 = 10.0;
/// A step of this relative size changes nothing.
const MIN_RELATIVE_STEP: f64 = 1e-15;
/// Accepted steps below this relative size, with longer ones refused, end at an edge.
const CREEPING_STEP: f64 = 1e-8;
/// A step below this part of the full one, with longer ones refused, has come near an edge.
const CRAMPED_FRACTION: f64 = 1e-2;
/// A step along an edge must remove this part of the sum of squares.
const MIN_EDGE_GAIN: f64 = 1e-6;
/// Damping beyond all use.
const MAX_DAMPING: f64 = 1e30;
/// A part of the residuals as small as this changes the sum of squares by its square, which round-off hides; and so does
/// a full step as small as this where the residuals themselves are round-off.
const ROUNDED_RESIDUAL: f64 = 1e-6;

/// Minimizes the sum of squares of the residuals.
///
/// See the [module](super) for an example.
pub fn levenberg_marquardt(
    model: &mut impl Model,
    parameters: &[Parameter],
    options: &Options,
) -> Result<Fit, FitError> {
    levenberg_marquardt_with(model, parameters, options, &mut |_| ControlFlow::Continue(()))
}

/// Minimizes the sum of squares of the residuals and shows each accepted step to an observer, who may break off.
///
/// ```
/// use polhode::fit::{Noise, Options, Parameter, Residuals, levenberg_marquardt_with};
/// use std::ops::ControlFlow;
/// // Rosenbrock's valley; it has as many residuals as parameters, so that no noise can be estimated.
/// let mut valley = Residuals::new(2, |p, r, j| {
///     r.copy_from_slice(&[10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]]);
///     j.copy_from_slice(&[-20.0 * p[0], 10.0, -1.0, 0.0]);
///     Ok(())
/// });
/// let parameters = [Parameter::new("x", -1.2), Parameter::new("y", 1.0)];
/// let options = Options { noise: Noise::Known, ..Options::default() };
/// let mut path = Vec::new();
/// let fit = levenberg_marquardt_with(&mut valley, &parameters, &options, &mut |now| {
///     path.push(now.sum_of_squares);
///     ControlFlow::Continue(())
/// })?;
/// assert!(fit.stopped.converged() && (fit.parameters[1] - 1.0).abs() < 1e-9);
/// assert!(path.windows(2).all(|w| w[1] < w[0]));
/// # Ok::<(), polhode::fit::FitError>(())
/// ```
pub fn levenberg_marquardt_with(
    model: &mut impl Model,
    parameters: &[Parameter],
    options: &Options,
    observer: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Fit, FitError> {
    let mut search = Search::start(model, parameters, options)?;
    let (mut damping, mut cramped) = (FIRST_DAMPING, CRAMPED_FRACTION);
    let stopped = loop {
        let linear = search.linearize();
        let full = linear.full_step(&search);
        // What a full step leaves of the residuals is the part that no parameter explains.
        let explained = full.promised.max(0.0).sqrt() / norm(&search.residuals).max(f64::MIN_POSITIVE);
        if explained <= options.gradient {
            break Stop::Gradient;
        }
        if full.size <= options.step {
            break Stop::Step;
        }
        if search.iterations >= options.max_iterations {
            break Stop::Iterations;
        }
        let Descent { accepted, refused, edge } = search.descend(model, &linear, full.promised, &mut damping);
        if let Some(step) = &accepted {
            if observer(&search.now(step, refused.as_deref())).is_break() {
                break Stop::Interrupted;
            }
            if step.part <= options.reduction && explained <= ROUNDED_RESIDUAL {
                break Stop::Reduction;
            }
        }
        let (moved, size) = (accepted.is_some(), accepted.map_or(0.0, |step| step.size));
        if let Some(reason) = refused.filter(|_| size < cramped * full.size) {
            if let Some(step) = search.sidestep(model) {
                if observer(&search.now(&step, Some(&reason))).is_break() {
                    break Stop::Interrupted;
                }
                (damping, cramped) = (FIRST_DAMPING, CRAMPED_FRACTION);
                continue;
            }
            if edge || (moved && size < CREEPING_STEP) {
                break Stop::Pinned { reason };
            }
            cramped *= CRAMPED_FRACTION;
        } else {
            cramped = CRAMPED_FRACTION;
        }
        if !moved {
            // Nothing that was tried helped, down to steps that change nothing.
            if explained <= ROUNDED_RESIDUAL || full.size <= ROUNDED_RESIDUAL {
                break Stop::RoundOff;
            }
            return Err(FitError::Stuck {
                sum_of_squares: search.sum_of_squares(),
                parameters: search.at,
                promised: full.promised,
                iterations: search.iterations,
            });
        }
    };
    search.result(options, stopped)
}

/// A step that was taken.
struct Accepted {
    /// Relative to the parameters.
    size: f64,
    /// The larger of what it brought and what was promised, as part of the sum of squares.
    part: f64,
    /// Its μ.
    damping: f64,
}

/// What came of the steps that were tried.
struct Descent {
    accepted: Option<Accepted>,
    /// Why the model refused the last step that it refused.
    refused: Option<String>,
    /// It refused even a step that is hardly one.
    edge: bool,
}

impl Search<'_> {
    /// Tries steps with growing damping until one is accepted or all are too small, and leaves the damping for the next.
    fn descend(
        &mut self,
        model: &mut impl Model,
        linear: &Linear,
        promised: f64,
        damping: &mut f64,
    ) -> Descent {
        let (mut growth, mut refused, mut edge) = (2.0, None, false);
        let before = self.sum_of_squares();
        loop {
            let step = linear.step(self, *damping);
            let size = step.size;
            if size <= MIN_RELATIVE_STEP || *damping > MAX_DAMPING {
                return Descent { accepted: None, refused, edge };
            }
            // From parameters that are all zero everything is far.
            if size > MAX_RELATIVE_STEP && size.is_finite() {
                *damping *= 4.0;
                continue;
            }
            match self.evaluate(model, step.to) {
                Ok(trial) => {
                    let reduced = self.reduction(&trial);
                    let gain = reduced / step.promised;
                    if reduced > 0.0 && gain > MIN_GAIN_RATIO {
                        self.accept(trial);
                        let part = reduced.max(step.promised) / before;
                        let accepted = Some(Accepted { size, part, damping: *damping });
                        // Nielsen's rule, but quicker where the linear model holds.
                        *damping *= (1.0 - (2.0 * gain - 1.0).powi(3)).max(DAMPING_DECREASE);
                        *damping = damping.max(NONE);
                        return Descent { accepted, refused, edge };
                    }
                    if promised <= ROUNDED_RESIDUAL * ROUNDED_RESIDUAL * before {
                        return Descent { accepted: None, refused: None, edge: false };
                    }
                }
                Err(reason) => {
                    refused = Some(reason);
                    edge |= size < CREEPING_STEP;
                }
            }
            *damping *= growth;
            growth *= 2.0;
        }
    }

    /// At an edge steps become short in all parameters. With one of them held there the others may still go far, and
    /// then the edge may be the wrong place after all: takes the best of such steps.
    fn sidestep(&mut self, model: &mut impl Model) -> Option<Accepted> {
        let mut best: Option<(f64, Accepted, Evaluation)> = None;
        let before = self.sum_of_squares();
        let mut linear = self.linearize();
        for j in 0..self.at.len() {
            if linear.held[j] {
                continue;
            }
            linear.held[j] = true;
            for damping in [FIRST_DAMPING, 1.0] {
                let step = linear.step(self, damping);
                let size = step.size;
                if size <= CREEPING_STEP {
                    break;
                }
                let Ok(trial) = self.evaluate(model, step.to) else { continue };
                let reduced = self.reduction(&trial);
                if reduced > MIN_EDGE_GAIN * before {
                    if best.as_ref().is_none_or(|b| b.0 < reduced) {
                        let part = reduced.max(step.promised) / before;
                        best = Some((reduced, Accepted { size, part, damping }, trial));
                    }
                    break;
                }
            }
            linear.held[j] = false;
        }
        let (_, accepted, trial) = best?;
        self.accept(trial);
        Some(accepted)
    }

    fn now<'b>(&'b self, step: &Accepted, rejected: Option<&'b str>) -> Iteration<'b> {
        Iteration {
            iteration: self.iterations,
            evaluations: self.evaluations,
            parameters: &self.at,
            sum_of_squares: self.sum_of_squares(),
            step: step.size,
            damping: step.damping,
            rejected,
        }
    }
}
