//! How a command ends other than well, and with which exit code.

use crate::interrupt;
use core::fmt;
use polhode::method::MethodError;
use polhode::problem::{DataError, ModelError, ProblemError};
use polhode::run::PlanError;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command is wrong: an unknown name, a bad number, a path that cannot be written.
    Usage(String),
    /// What the parser of the command line says, as it says it.
    Parser(String),
    /// The data describe no possible model.
    Model(String),
    /// A step, or the reference, could not be computed.
    Solver(String),
    /// Somebody stopped it.
    Interrupted(String),
    /// Nobody reads the results any more, which is fine.
    ClosedPipe,
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Parser(_) => 2,
            Self::Model(_) => 3,
            Self::Solver(_) => 4,
            Self::Interrupted(_) => interrupt::exit_code(),
            Self::ClosedPipe => 0,
        }
    }
    /// What stands before the message; to be stopped is not an error.
    pub fn prefix(&self) -> &'static str {
        match self {
            Self::Interrupted(_) | Self::Parser(_) => "",
            _ => "error: ",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text)
            | Self::Parser(text)
            | Self::Model(text)
            | Self::Solver(text)
            | Self::Interrupted(text) => f.write_str(text),
            Self::ClosedPipe => f.write_str("stdout is closed"),
        }
    }
}

/// Errors of the library, each with its exit code.
macro_rules! failures {
    ($($error:ty => $variant:ident,)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::$variant(error.to_string())
            }
        }
    )*};
}

failures! {
    ProblemError => Usage,
    DataError => Usage,
    MethodError => Usage,
    PlanError => Usage,
    ModelError => Model,
}
