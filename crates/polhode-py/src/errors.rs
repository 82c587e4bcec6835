//! Errors as exceptions.

use polhode::problem::ModelError as Mistake;
use polhode_cli::host::Refusal;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    polhode,
    ModelError,
    PyValueError,
    "A model that cannot be: `file`, `line` and `column` say where, or are None."
);
create_exception!(
    polhode,
    ConvergenceError,
    PyRuntimeError,
    "A step that could not be computed: `t`, `steps` and `state` are those of the last good one, `result` is the run up to \
     there, where there is one."
);

/// A mistake in a model, with its place.
pub fn of_mistake(py: Python<'_>, mistake: &Mistake) -> PyErr {
    let error = ModelError::new_err(mistake.to_string());
    let place = mistake.place.as_ref();
    let value = error.value(py);
    let set = [
        value.setattr("file", place.map(|_| mistake.problem.as_str())),
        value.setattr("line", place.map(|place| place.line)),
        value.setattr("column", place.map(|place| place.column)),
    ];
    set.into_iter().find_map(Result::err).unwrap_or(error)
}

/// What a command has refused.
pub fn of_refusal(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let message = refusal.message.clone();
    match (refusal.kind, &refusal.mistake) {
        (_, Some(mistake)) => of_mistake(py, mistake),
        ("model", None) => {
            let error = ModelError::new_err(message);
            let value = error.value(py);
            let set = ["file", "line", "column"].map(|name| value.setattr(name, py.None()));
            set.into_iter().find_map(Result::err).unwrap_or(error)
        }
        ("solver" | "unreached", None) => unconverged(py, message, None),
        ("interrupted", None) => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// A step that could not be computed, after so many at a time.
pub fn unconverged(py: Python<'_>, message: String, last: Option<(f64, u64, Py<PyAny>)>) -> PyErr {
    let error = ConvergenceError::new_err(message);
    let value = error.value(py);
    let (t, steps, state) = match last {
        Some((t, steps, state)) => (Some(t), Some(steps), Some(state)),
        None => (None, None, None),
    };
    let set = [
        value.setattr("t", t),
        value.setattr("steps", steps),
        value.setattr("state", state),
        value.setattr("result", py.None()),
    ];
    set.into_iter().find_map(Result::err).unwrap_or(error)
}

/// Any other error of the library: a value that does not do.
pub fn value(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
