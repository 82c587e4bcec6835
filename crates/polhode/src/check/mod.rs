//! Measuring tools to test a model or a method with: the observed order of convergence, the drift of invariants,
//! defects of structure (time reversal, conjugacy, symplecticity), frequencies of the computed motion, and the step that
//! an error asks for.
//!
//! Everything takes a body of one's own, so that a user can ask of a model what the tests of this library ask of
//! the registry.

mod convergence;
mod frequency;
mod order;
mod step_for_error;
mod structure;

pub use convergence::{Convergence, Distance, converge};
pub use frequency::{Crossings, Nutation};
pub use order::{Order, OrderError, Plateau, order};
pub use step_for_error::{Cause, Halving, Reached, StepForError, Unreached, Watch};
pub use structure::{advance, conjugacy_defect, drift, reversal_defect, symplecticity_defect};
