//! Why a fit has no result.

use super::Stop;
use crate::lookup::plain;
use core::fmt;

/// Where a fit was when it failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// At the first guess.
    Start,
    /// Where the iteration ended.
    End {
        /// Why it ended.
        stopped: Stop,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Start => f.write_str("at the start"),
            Place::End { stopped } if stopped.converged() => f.write_str("at the solution"),
            Place::End { stopped } => write!(f, "where the iteration ended ({stopped})"),
        }
    }
}

/// What the residuals do not determine.
#[derive(Clone, Debug, PartialEq)]
pub struct Undetermined {
    /// Where.
    pub place: Place,
    /// The names of all parameters.
    pub names: Vec<String>,
    /// The combination that is not determined, in parameters that are each scaled by the norm of their column of
    /// the Jacobian; norm one.
    pub direction: Vec<f64>,
    /// The same as a change of the parameters themselves that leaves the residuals as they are; its largest share
    /// in `direction` is a change by one.
    pub change: Vec<f64>,
    /// How much less the residuals depend on it than on the best determined combination.
    pub sensitivity: f64,
    /// How many independent combinations are not determined.
    pub count: usize,
    /// Names of parameters that no residual depends on at all.
    pub without_effect: Vec<String>,
    /// The parameters there.
    pub parameters: Vec<f64>,
}

/// Why there is no fit.
#[derive(Clone, Debug, PartialEq)]
pub enum FitError {
    /// A parameter has impossible bounds, or does not start between them.
    Parameter {
        /// Its name.
        name: String,
        /// Its first guess.
        start: f64,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// Fewer residuals than are needed to find the parameters and, if asked for, the noise.
    TooFewResiduals {
        /// How many there are.
        residuals: usize,
        /// How many are needed.
        needed: usize,
        /// How many parameters there are.
        parameters: usize,
    },
    /// The model refuses the first guess.
    Start {
        /// Its reason.
        reason: String,
    },
    /// A residual or derivative at the first guess is not a finite number.
    NotFinite {
        /// The residual, counted from zero.
        residual: usize,
        /// The parameter, for a derivative.
        parameter: Option<String>,
        /// What was found.
        value: f64,
    },
    /// The residuals do not determine the parameters.
    Singular(Box<Undetermined>),
    /// No step along the descent that the Jacobian promises lowers the sum of squares.
    Stuck {
        /// The parameters reached.
        parameters: Vec<f64>,
        /// The sum of squares there.
        sum_of_squares: f64,
        /// The part of it that a full step should remove.
        promised: f64,
        /// Steps that had been accepted.
        iterations: usize,
    },
}

/// "mass and length", and "mass by 1, length by -0.5", of all that has a share above `least`.
fn combination(change: &[f64], direction: &[f64], names: &[String], least: f64) -> [String; 2] {
    let shown = change.iter().zip(direction).zip(names).filter(|((_, v), _)| v.abs() >= least);
    let (parts, moves): (Vec<&str>, Vec<String>) =
        shown.map(|((value, _), name)| (name.as_str(), format!("{name} by {}", brief(*value)))).unzip();
    let parts = match parts.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last} together", first.join(", ")),
        parts => parts.join(""),
    };
    [parts, moves.join(", ")]
}

/// Four digits, as a plain number where that is readable.
fn brief(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

impl fmt::Display for Undetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, names, direction, change, sensitivity, count, without_effect, .. } = self;
        if !without_effect.is_empty() {
            let names = without_effect.join(" or on ");
            return write!(
                f,
                "the data do not depend on {names} {place}; fix it or add measurements that depend on it"
            );
        }
        // A share as small as the sensitivity does not matter, and round-off is no share at all.
        let least = (10.0 * sensitivity).clamp(1e-8, 5e-3);
        let [parts, moves] = combination(change, direction, names, least);
        write!(
            f,
            "the data do not determine {parts} (relative sensitivity {sensitivity:.0e}) {place}: to change {moves} leaves \
             the residuals as they are"
        )?;
        if *count > 1 {
            write!(f, ", and there are {} more such combinations", count - 1)?;
        }
        f.write_str("; fix one of these parameters or add other measurements")
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter { name, start, lower, upper } => {
                let [start, lower, upper] = [start, lower, upper].map(|x| plain(*x));
                write!(
                    f,
                    "the parameter {name} starts at {start} with bounds {lower} and {upper}; the start must be a finite \
                     number between them"
                )
            }
            Self::TooFewResiduals { residuals, needed, parameters } => write!(
                f,
                "{parameters} parameters need at least {needed} residuals, there are {residuals}; add measurements \
                 or fit fewer parameters"
            ),
            Self::Start { reason } => {
                write!(
                    f,
                    "the model refuses the start values: {reason}; start from parameters that it accepts"
                )
            }
            Self::NotFinite { residual, parameter: None, value } => {
                write!(f, "residual {residual} is {value} at the start values")
            }
            Self::NotFinite { residual, parameter: Some(name), value } => {
                write!(f, "the derivative of residual {residual} by {name} is {value} at the start values")
            }
            Self::Singular(what) => what.fmt(f),
            Self::Stuck { sum_of_squares, promised, iterations, .. } => write!(
                f,
                "after {iterations} steps no further step lowers the sum of squares {sum_of_squares:.6e}, although \
                 its derivatives promise {promised:.1e} less: the residuals bend too much there, as those of samples \
                 that are far apart, or a parameter ran away to where they hardly depend on it; start nearer to the \
                 solution, give bounds, or fit fewer parameters (a Jacobian of one's own may be wrong)"
            ),
        }
    }
}

impl std::error::Error for FitError {}
