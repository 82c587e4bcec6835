//! The commands of the program.

use crate::errors;
use crate::model::Problem;
use crate::solve::{self, Watching};
use polhode::method::{REGISTRY, SYSTEMS};
use polhode_cli::host;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What Python raised while a command was at work.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// Asks Python now and then whether to stop, and where it puts what Python raised.
pub fn stopper() -> (Box<dyn FnMut() -> bool + Send>, Raised) {
    let raised = Raised::default();
    let (place, mut last) = (raised.clone(), Instant::now());
    let stop = move || {
        if last.elapsed() < Duration::from_millis(20) {
            return false;
        }
        last = Instant::now();
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                if let Ok(mut place) = place.lock() {
                    *place = Some(error);
                }
                true
            }
        }
    };
    (Box::new(stop), raised)
}

/// Takes it away.
pub fn raised(place: &Raised) -> Option<PyErr> {
    place.lock().ok().and_then(|mut place| place.take())
}

/// A command of the program with its words; `-` stands for the model, whose run looks for these events too. Its JSON, if it
/// has one, and what it noted.
#[pyfunction]
#[pyo3(signature = (problem, words, events=Vec::new()))]
pub fn command(
    py: Python<'_>,
    problem: Option<&Problem>,
    words: Vec<String>,
    events: Vec<Watching>,
) -> PyResult<(Option<String>, Vec<String>)> {
    let (stop, place) = stopper();
    let source = problem.map(|problem| problem.source.clone());
    let trouble = problem.map(|problem| problem.trouble.clone()).unwrap_or_default();
    let events = events.into_iter().map(|given| solve::event(given, &trouble)).collect();
    let answer = py.detach(|| host::answer(&words, source, events, stop));
    if let Some(error) = raised(&place).or_else(|| trouble.take()) {
        return Err(error);
    }
    let result = answer.result.map_err(|refusal| errors::of_refusal(py, &refusal))?;
    Ok((result.map(|json| json.to_string()), answer.notes))
}

/// The program itself, with the words of its command line; its exit code.
#[pyfunction]
pub fn run_program(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| polhode_cli::run_words(words))
}

/// The ids of all methods: of one body, of systems.
#[pyfunction]
pub fn methods() -> (Vec<&'static str>, Vec<&'static str>) {
    (REGISTRY.iter().map(|row| row.id).collect(), SYSTEMS.iter().map(|row| row.id).collect())
}

/// The ids of the catalogue.
#[pyfunction]
pub fn problems() -> Vec<&'static str> {
    polhode::problem::Problem::ids().collect()
}
