//! How a command ends other than well, and with which exit code.

use crate::interrupt;
use core::fmt;
use polhode::method::MethodError;
use polhode::problem::{DataError, ModelError, ProblemError};
use polhode::run::{DriftError, PlanError};
use serde_json::{Value, json};

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command is wrong: an unknown name, a bad number, a path that cannot be written.
    Usage(String),
    /// What the parser of the command line says, as it says it.
    Parser(String),
    /// The data describe no possible model.
    Model(String),
    /// The same, with its place in the file where that is known.
    Mistake(Box<ModelError>),
    /// A step, or the reference, could not be computed.
    Solver(String),
    /// No step has the error that was asked for.
    Unreached {
        /// Why, and the best that was found.
        message: String,
        /// The same for programs.
        control: Value,
    },
    /// Something drifted beyond its limit; the results are printed.
    Drift(String),
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
            Self::Model(_) | Self::Mistake(_) => 3,
            Self::Solver(_) | Self::Unreached { .. } => 4,
            Self::Drift(_) => 5,
            Self::Interrupted(_) => interrupt::exit_code(),
            Self::ClosedPipe => 0,
        }
    }
    /// What went wrong, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Usage(_) | Self::Parser(_) => "usage",
            Self::Model(_) | Self::Mistake(_) => "model",
            Self::Solver(_) => "solver",
            Self::Unreached { .. } => "unreached",
            Self::Drift(_) => "drift",
            Self::Interrupted(_) => "interrupted",
            Self::ClosedPipe => "closed",
        }
    }
    /// The same for programs.
    pub fn json(&self) -> Value {
        let text = self.to_string();
        // The parser goes on with the usage, which is for people.
        let message = match self {
            Self::Parser(_) => text.split("\n\n").next().unwrap_or(&text).trim_start_matches("error: "),
            _ => &text,
        };
        let mut object = json!({ "code": self.code(), "kind": self.kind(), "message": message });
        if let (Self::Unreached { control, .. }, Some(object)) = (self, object.as_object_mut()) {
            object.insert("error_control".into(), control.clone());
        }
        if let (Self::Mistake(error), Some(object)) = (self, object.as_object_mut())
            && let Some(place) = &error.place
        {
            object.insert("file".into(), error.problem.as_str().into());
            object.insert("line".into(), place.line.into());
            object.insert("column".into(), place.column.into());
        }
        object
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
            | Self::Unreached { message: text, .. }
            | Self::Drift(text)
            | Self::Interrupted(text) => f.write_str(text),
            Self::Mistake(error) => error.fmt(f),
            Self::ClosedPipe => f.write_str("stdout is closed"),
        }
    }
}

impl std::error::Error for Failure {}

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
    DriftError => Usage,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Failure::Mistake(Box::new(error))
    }
}
