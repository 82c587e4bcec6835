//! The benchmark problems, each a list of named data that can be overridden, with its reference solution.
//!
//! A [`Problem`] is text and numbers; [`Problem::model`] checks them and makes a system of them.

mod bodies;
mod catalogue;
mod data;
mod frequencies;
mod given;
mod invariance;
mod mechanism;
mod model;
mod parameters;
mod reference;

pub use crate::lookup::ParameterError;
pub use crate::run::{Joints, RunFailure, RunReport};
pub use catalogue::{Problem, ProblemError};
pub use data::{DataError, Datum};
pub use frequencies::{ExactFrequencies, Flip};
pub use invariance::Invariance;
pub use model::{Model, ModelError};
pub use parameters::Parameter;
pub use reference::{BodyReference, Errors, Reference, ReferenceError};
