//! Why nothing was identified.

use crate::fit::FitError;
use crate::lookup::plain;
use crate::run::PlanError;
use crate::sensitivity::SensitivityFailure;
use core::fmt;

/// Why parameters could not be identified.
#[derive(Clone, Debug, PartialEq)]
pub enum IdentifyError {
    /// The samples are invalid.
    Samples(String),
    /// A step that is not a positive finite number.
    Step {
        /// The step.
        step: f64,
    },
    /// Steps that are too long to read samples between them off their rows.
    LongStep {
        /// The step.
        step: f64,
        /// The longest that would do.
        most: f64,
        /// The time of the last sample.
        last: f64,
    },
    /// Steps that cannot be counted.
    Plan(PlanError),
    /// A column that is not there.
    Column {
        /// Its name.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
        /// All that could be meant.
        known: Vec<String>,
        /// True if the model has it and the samples have not.
        unmeasured: bool,
    },
    /// A deviation of a column that is not compared.
    NotCompared {
        /// Its name.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
        /// The columns that are.
        compared: Vec<String>,
    },
    /// No column to compare with.
    NoColumn {
        /// The columns that the model has.
        model: Vec<String>,
        /// Those of the samples.
        samples: Vec<String>,
    },
    /// Fewer numbers than it takes.
    TooFew {
        /// Samples.
        samples: usize,
        /// Columns.
        columns: usize,
        /// Numbers in them.
        numbers: usize,
        /// Parameters.
        parameters: usize,
    },
    /// Not one value for each parameter.
    Values {
        /// Values given.
        found: usize,
        /// Parameters.
        needed: usize,
    },
    /// A deviation that is not a positive finite number.
    Sigma {
        /// Of which column or quantity.
        name: String,
        /// The deviation.
        value: f64,
    },
    /// Bounds of a parameter that is not fitted, or bounds that are invalid.
    Bounds {
        /// The parameter.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The run at the start values failed.
    Run(SensitivityFailure),
    /// The fit failed.
    Fit(FitError),
    /// The watcher broke off.
    Interrupted,
}

fn meant(f: &mut fmt::Formatter<'_>, near: &[String]) -> fmt::Result {
    match near {
        [] => Ok(()),
        near => write!(f, "; did you mean {}?", near.join(" or ")),
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

impl fmt::Display for IdentifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Samples(text) => f.write_str(text),
            Self::Step { step } => write!(f, "the step must be a positive finite number, got {step:?}"),
            Self::LongStep { step, most, last } => write!(
                f,
                "a step of {} s is too long for samples between steps up to t = {} s; choose one of at most {:.3e} s, or one \
                 that goes into all times",
                plain(*step),
                plain(*last),
                most
            ),
            Self::Plan(error) => error.fmt(f),
            Self::Column { name, near, known, unmeasured } => {
                match unmeasured {
                    true => write!(f, "the data have no column '{name}'")?,
                    false => write!(f, "neither the problem nor the data know a column '{name}'")?,
                }
                meant(f, near)?;
                write!(f, " (to compare there are {})", listed(known))
            }
            Self::NotCompared { name, near, compared } => {
                write!(f, "no column '{name}' is compared")?;
                meant(f, near)?;
                write!(f, " (compared are {})", listed(compared))
            }
            Self::NoColumn { model, samples } => write!(
                f,
                "no column of the data ({}) is a position, attitude or velocity of this problem with this method; it has {}",
                if samples.is_empty() { "none beside t".into() } else { listed(samples) },
                model.join(", ")
            ),
            Self::TooFew { samples, columns, numbers, parameters } => write!(
                f,
                "{samples} samples of {columns} columns are {numbers} numbers, too few for {parameters} parameters and their noise; \
                 at least two samples and {} numbers are needed",
                parameters + 1
            ),
            Self::Values { found, needed } => {
                write!(f, "{found} values for {needed} parameters: give one each")
            }
            Self::Sigma { name, value } => {
                write!(f, "the deviation of {name} must be a positive finite number, got {}", plain(*value))
            }
            Self::Bounds { name, reason } => write!(f, "bounds of {name}: {reason}"),
            Self::Run(error) => error.fmt(f),
            Self::Fit(error) => error.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for IdentifyError {}

impl From<FitError> for IdentifyError {
    fn from(error: FitError) -> Self {
        Self::Fit(error)
    }
}
