//! Problems: models with their parameters as they are set, ready to run, with the reference solution that each has.
//!
//! A [`Problem`] is a model file, of the catalogue or of one's own, with overrides; [`Problem::model`] checks it and makes a
//! system of it.

mod catalogue;
mod elements;
mod frequencies;
mod invariance;
mod known;
mod model;
mod parameters;
mod reference;
mod setting;

pub use crate::lookup::ParameterError;
pub use crate::model::{Control, ControlError, DataError, Datum, EventData};
pub use crate::run::{Joints, RunFailure, RunReport};
pub use catalogue::{Problem, ProblemError};
pub use frequencies::{ExactFrequencies, Flip};
pub use invariance::Invariance;
pub use model::{Model, ModelError};
pub use parameters::Parameter;
pub use reference::{BodyReference, Errors, Reference, ReferenceError};
pub use setting::Setter;
