//! The native half of the Python package `polhode`: models, runs and derivatives of the library as Python sees them.
//!
//! There are no numerics here. What a function returns are arrays that Python owns; names, shapes and documentation are in
//! `python/polhode`.

mod commands;
mod errors;
mod loads;
mod model;
mod pulse;
mod rows;
mod run;
mod sensitivity;
mod solve;
mod state;
mod sweep;

use pyo3::prelude::*;

/// What `python/polhode` builds on.
#[pymodule]
mod _polhode {
    #[pymodule_export]
    use crate::commands::{command, methods, problems, run_program};
    #[pymodule_export]
    use crate::errors::{ConvergenceError, ModelError};
    #[pymodule_export]
    use crate::model::Problem;
    #[pymodule_export]
    use crate::run::{Checkpoint, Run};
    #[pymodule_export]
    use crate::sensitivity::sensitivity;
    #[pymodule_export]
    use crate::solve::{Dense, solve, step_for_error};
    #[pymodule_export]
    use crate::state::{Part, State};
    #[pymodule_export]
    use crate::sweep::{SweepPlan, merge};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
