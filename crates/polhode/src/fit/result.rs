//! What a fit found.

use super::Noise;
use super::student::{NORMAL, student};
use core::fmt;

/// Which bound holds a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The lower one.
    Lower,
    /// The upper one.
    Upper,
}

/// Why the iteration stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A full step could hardly remove anything of the residuals: [`super::Options::gradient`].
    Gradient,
    /// A full step is small: [`super::Options::step`].
    Step,
    /// The last step lowered hardly anything: [`super::Options::reduction`].
    Reduction,
    /// Round-off hides what a further step would reduce.
    RoundOff,
    /// Not at a minimum: at an edge where the model refuses to go on.
    Pinned {
        /// The model's reason beyond the edge.
        reason: String,
    },
    /// Not at a minimum: the number of steps is used up.
    Iterations,
    /// Not at a minimum: the observer broke off.
    Interrupted,
}

impl Stop {
    /// Whether the parameters are those of a minimum.
    pub fn converged(&self) -> bool {
        matches!(self, Stop::Gradient | Stop::Step | Stop::Reduction | Stop::RoundOff)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Gradient => f.write_str("converged: no step can lower the residuals by a noticeable part"),
            Stop::Step => f.write_str("converged: the full step is small"),
            Stop::Reduction => f.write_str("converged: the last step lowered the sum of squares by nothing"),
            Stop::RoundOff => f.write_str("converged: round-off hides any further reduction"),
            Stop::Pinned { reason } => {
                write!(f, "not converged: the best parameters lie where the model refuses them: {reason}")
            }
            Stop::Iterations => f.write_str("not converged: the largest number of steps is reached"),
            Stop::Interrupted => f.write_str("not converged: interrupted"),
        }
    }
}

/// Fitted parameters and how well they are known.
///
/// Covariance, errors and intervals are those of the linearized model at the parameters, for independent normal noise.
/// Where [`Stop::converged`] is false they describe the place and not a minimum.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The names, as given.
    pub names: Vec<String>,
    /// The parameters.
    pub parameters: Vec<f64>,
    /// The residuals there.
    pub residuals: Vec<f64>,
    /// Their sum of squares.
    pub sum_of_squares: f64,
    /// The standard errors; none for a parameter that is held at a bound: it is not known better, it is not free.
    pub standard_errors: Vec<Option<f64>>,
    /// Covariances, row by row; zero for parameters that are held at a bound, which the others take as given.
    pub covariance: Vec<f64>,
    /// The bound that holds a parameter: the residuals would shrink beyond it.
    pub held: Vec<Option<Side>>,
    /// The deviation of the residuals, their norm over the root of the degrees of freedom; near one if they were
    /// divided by their known deviation. None without a degree of freedom.
    pub sigma: Option<f64>,
    /// Residuals minus free parameters.
    pub degrees_of_freedom: usize,
    /// The smallest singular value of the Jacobian with columns of norm one, over the largest: one for parameters that
    /// do not interfere, and near [`super::Options::singular`] for a combination that is hardly determined.
    pub conditioning: f64,
    /// What was known of the noise.
    pub noise: Noise,
    /// Accepted steps.
    pub iterations: usize,
    /// Evaluations of the model.
    pub evaluations: usize,
    /// Why the iteration stopped.
    pub stopped: Stop,
}

impl Fit {
    /// The correlation of two parameters; none if one is held at a bound or there is no such parameter.
    pub fn correlation(&self, i: usize, j: usize) -> Option<f64> {
        let (a, b) = ((*self.standard_errors.get(i)?)?, (*self.standard_errors.get(j)?)?);
        let value = self.covariance.get(i * self.parameters.len() + j)? / (a * b);
        value.is_finite().then(|| value.clamp(-1.0, 1.0))
    }

    /// Half the width of a 95 % interval in standard errors: Student's factor if the noise is estimated.
    pub fn factor95(&self) -> f64 {
        match self.noise {
            Noise::Estimated => student(self.degrees_of_freedom),
            Noise::Known => NORMAL,
        }
    }

    /// The interval that covers the true parameter with probability 0.95 if the model is linear in that range; none if
    /// it is held at a bound or there is no such parameter. It may reach beyond a bound.
    pub fn interval95(&self, i: usize) -> Option<(f64, f64)> {
        let half = (*self.standard_errors.get(i)?)? * self.factor95();
        Some((self.parameters[i] - half, self.parameters[i] + half))
    }
}
