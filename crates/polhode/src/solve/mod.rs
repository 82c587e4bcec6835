//! Newton's method, written once, and the factorizations under it: dense ones of fixed size, and a sparse one.

mod coordinates;
mod dense;
mod error;
mod newton;
mod sets;
mod sparse;

pub(crate) use coordinates::keep_coordinates;
pub use coordinates::{Coordinates, Jet, lift, seeded, unit};
pub use dense::{Columns, Factor, Lu};
pub(crate) use dense::{Sides, factorize, substitute, substitute_beside};
pub use error::StepError;
pub use newton::Work;
pub(crate) use newton::{Equations, ROUND_OFF, Rung, at_once, newton};
pub(crate) use sets::Sets;
pub use sparse::{Block, DENSE_BELOW, Dependency, FactorError, Factors, Pattern, Role, elimination_order};
