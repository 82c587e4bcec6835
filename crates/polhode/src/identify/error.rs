//! Why nothing was identified.

use crate::fit::FitError;
use crate::lookup::plain;
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
    /// A sample between two steps.
    OffGrid {
        /// Its number, from one.
        sample: usize,
        /// Its time.
        time: f64,
        /// The step.
        step: f64,
        /// How far it is from the nearest step, in steps.
        off: f64,
    },
    /// No step suits the samples by itself.
    NoStep {
        /// True if the samples are equally far apart.
        uniform: bool,
        /// A step that would do.
        proposed: Option<f64>,
    },
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
        /// Parameters.
        parameters: usize,
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
            Self::OffGrid { sample, time, step, off } => write!(
                f,
                "sample {sample} at t = {} lies {:.2e} of a step beside the steps of {} s; choose a step that goes \
                 into all times",
                plain(*time),
                off.abs(),
                plain(*step)
            ),
            Self::NoStep { uniform, proposed } => {
                let how =
                    if *uniform { "do not lie on steps from t = 0" } else { "are not equally far apart" };
                write!(f, "the samples {how}, so that the step must be given")?;
                match proposed {
                    Some(step) => write!(f, "; a step of {} s goes into all times", plain(*step)),
                    None => write!(
                        f,
                        ", and no simple one goes into all times; take samples at multiples of a step"
                    ),
                }
            }
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
            Self::TooFew { samples, columns, parameters } => write!(
                f,
                "{samples} samples of {columns} columns are {} numbers, too few for {parameters} parameters and their noise; \
                 at least two samples and {} numbers are needed",
                samples * columns,
                parameters + 1
            ),
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
