//! Nonlinear least squares: parameters from measurements, by the method of Levenberg and Marquardt.
//!
//! Knows nothing of mechanics. A [`Model`] gives residuals and their exact Jacobian; [`levenberg_marquardt`] finds
//! parameters, tells how well the residuals determine them, and refuses to name numbers that they do not determine.
//!
//! - Parameters may differ by orders of magnitude: each is scaled by the largest norm that its column of the Jacobian
//!   has had (Moré). Damped steps are solved by orthogonal factorization, never by normal equations.
//! - Bounds hold at every evaluation. A parameter that presses against its bound is held there and reported.
//! - A model may refuse parameters ([`Rejected`]), as an inertia that no body has: the step is shortened until it does
//!   not, and near such an edge steps with one parameter held are tried as well. A fit that ends there says so
//!   ([`Stop::Pinned`]); it knows the edge only by the refusals and need not be at the best place along it. An edge with a
//!   gradient ([`Edge`]) is followed to that place: [`levenberg_marquardt_within`].
//! - Whether residuals determine the parameters is asked of the singular values of the Jacobian with columns of norm
//!   one, at the start and at the end: [`FitError::Singular`] names the combination.
//!
//! ```
//! use polhode::fit::{Options, Parameter, Residuals, levenberg_marquardt};
//! // Decay a·exp(-k t), measured at six times.
//! let t = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0];
//! let y = [2.003, 1.482, 1.095, 0.815, 0.602, 0.331];
//! let mut decay = Residuals::new(t.len(), |p, residuals, jacobian| {
//!     for (i, (t, y)) in t.iter().zip(y).enumerate() {
//!         let e = (-p[1] * t).exp();
//!         residuals[i] = p[0] * e - y;
//!         jacobian[2 * i] = e;
//!         jacobian[2 * i + 1] = -p[0] * t * e;
//!     }
//!     Ok(())
//! });
//! let parameters = [Parameter::new("a", 1.0), Parameter::new("k", 1.0).at_least(0.0)];
//! let fit = levenberg_marquardt(&mut decay, &parameters, &Options::default())?;
//! let (low, high) = fit.interval95(1).ok_or("held at a bound")?;
//! assert!(low < 0.6 && 0.6 < high && high - low < 0.02);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod certified;
mod determined;
mod edge;
mod error;
mod levenberg;
mod linear;
mod result;
mod search;
mod student;
#[cfg(test)]
mod tests;

pub use edge::{Confined, Edge, levenberg_marquardt_within};
pub use error::{FitError, Place, Undetermined};
pub use levenberg::{levenberg_marquardt, levenberg_marquardt_with};
pub use result::{Fit, Side, Stop};
pub(crate) use student::{NORMAL, student};

/// Parameters that a model cannot run with: not admissible, or the run failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// Why, for the report.
    pub reason: String,
}

impl Rejected {
    /// A refusal with its reason.
    pub fn new(reason: impl Into<String>) -> Rejected {
        Rejected { reason: reason.into() }
    }
}

/// What is fitted: residuals as functions of the parameters.
pub trait Model {
    /// How many residuals there are; the same for all parameters.
    fn residual_count(&self) -> usize;

    /// Writes all residuals and their derivatives, `jacobian[i * parameters.len() + j]` of residual `i` with respect to
    /// parameter `j`.
    ///
    /// Residuals are weighted already: divided by the standard deviation of their noise if that is known
    /// ([`Noise::Known`]), or all with the same unknown one ([`Noise::Estimated`]). A number that is not finite counts
    /// as a refusal.
    fn evaluate(
        &mut self,
        parameters: &[f64],
        residuals: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), Rejected>;
}

/// A [`Model`] from a closure.
pub struct Residuals<F> {
    count: usize,
    function: F,
}

impl<F: FnMut(&[f64], &mut [f64], &mut [f64]) -> Result<(), Rejected>> Residuals<F> {
    /// A model with `count` residuals; `function` is its [`Model::evaluate`].
    pub fn new(count: usize, function: F) -> Residuals<F> {
        Residuals { count, function }
    }
}

impl<F: FnMut(&[f64], &mut [f64], &mut [f64]) -> Result<(), Rejected>> Model for Residuals<F> {
    fn residual_count(&self) -> usize {
        self.count
    }
    fn evaluate(
        &mut self,
        parameters: &[f64],
        residuals: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), Rejected> {
        (self.function)(parameters, residuals, jacobian)
    }
}

/// A parameter to be found: its name for reports, where to start, and its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name in reports.
    pub name: String,
    /// The first guess.
    pub start: f64,
    /// No evaluation goes below this.
    pub lower: f64,
    /// No evaluation goes above this.
    pub upper: f64,
}

impl Parameter {
    /// A parameter without bounds.
    pub fn new(name: impl Into<String>, start: f64) -> Parameter {
        Parameter { name: name.into(), start, lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }
    /// With a lower bound.
    #[must_use]
    pub fn at_least(self, lower: f64) -> Parameter {
        Parameter { lower, ..self }
    }
    /// With an upper bound.
    #[must_use]
    pub fn at_most(self, upper: f64) -> Parameter {
        Parameter { upper, ..self }
    }
}

/// What is known of the noise in the residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The same unknown deviation in all of them, estimated from what the fit leaves.
    Estimated,
    /// Residuals were divided by it: their deviation is one.
    Known,
}

/// When to stop, and what to make of the residuals.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What is known of the noise.
    pub noise: Noise,
    /// At most this many accepted steps.
    pub max_iterations: usize,
    /// Stop when the part of the residuals that a full step could still remove is below this fraction of their norm.
    /// Parameters are then off by about this times √m of their standard errors, for m residuals.
    pub gradient: f64,
    /// Stop when the full step is below this, relative to the parameters, both weighted by their effect on the residuals.
    pub step: f64,
    /// Stop when a step lowers the sum of squares by less than this fraction, and a full step would not do much more.
    pub reduction: f64,
    /// A combination of parameters is not determined if its singular value is below this fraction of the largest.
    ///
    /// An exact Jacobian of a long run has some 1e-13 to 1e-12 of round-off in columns of norm one, so that a smaller
    /// singular value than 1e-10, the default, could be zero; and what it determines would be ten billion times less
    /// certain than the rest.
    pub singular: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            noise: Noise::Estimated,
            max_iterations: 200,
            gradient: 1e-8,
            step: 1e-11,
            reduction: 1e-14,
            singular: 1e-10,
        }
    }
}

/// What an observer sees after each accepted step.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration<'a> {
    /// Accepted steps so far.
    pub iteration: usize,
    /// Evaluations of the model so far.
    pub evaluations: usize,
    /// The parameters reached.
    pub parameters: &'a [f64],
    /// The sum of squares of the residuals there.
    pub sum_of_squares: f64,
    /// The size of the step, relative to the parameters in the scaling of the columns.
    pub step: f64,
    /// The damping μ of the step: much below one it was a full Gauss-Newton step.
    pub damping: f64,
    /// Why the model refused a longer step on the way here, if it did.
    pub rejected: Option<&'a str>,
}
