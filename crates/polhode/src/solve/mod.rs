//! Newton's method, written once, and the dense factorizations under it.

mod dense;
mod newton;

pub use dense::{Factor, Lu};
pub(crate) use dense::{factorize, substitute};
pub(crate) use newton::{Equations, Rung, newton};
pub use newton::{StepError, Work};
