//! Many runs: plans, and the chunks of rows that they are computed into.

use crate::errors;
use polhode_cli::host::Refusal;
use polhode_cli::sweep::{self, Chunk, Failure, Request};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

fn refused(py: Python<'_>, failure: Failure) -> PyErr {
    errors::of_refusal(py, &Refusal::from(failure))
}

/// What a sweep computes.
#[pyclass(frozen, module = "polhode")]
pub struct SweepPlan(sweep::Plan);

#[pymethods]
impl SweepPlan {
    /// Of a model by its text; files that it speaks of are looked for in the folder.
    #[new]
    #[pyo3(signature = (name, text, folder, *, set, vary, cases, runs, seed, sampling, keep, method, step, until, limit))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        py: Python<'_>,
        name: &str,
        text: &str,
        folder: PathBuf,
        set: Vec<String>,
        vary: Vec<String>,
        cases: Option<PathBuf>,
        runs: Option<u64>,
        seed: Option<u64>,
        sampling: Option<String>,
        keep: Vec<String>,
        method: Option<String>,
        step: Option<f64>,
        until: Option<f64>,
        limit: Option<f64>,
    ) -> PyResult<Self> {
        let request = Request {
            set,
            vary,
            cases,
            runs,
            seed,
            sampling,
            keep,
            method,
            step,
            until,
            limit,
            trajectories: None,
            every: None,
        };
        let plan = sweep::Plan::from_text(name, text, &folder, &request);
        plan.map(SweepPlan).map_err(|failure| refused(py, failure))
    }
    /// A number that only equal plans have.
    #[getter]
    fn hash(&self) -> String {
        self.0.hash()
    }
    #[getter]
    fn runs(&self) -> u64 {
        self.0.runs()
    }
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns()
    }
    /// How many runs a chunk has unless another number is asked for.
    #[getter]
    fn usual_chunk(&self) -> u64 {
        self.0.usual_chunk()
    }
    /// Computes runs from `first` up to, not with, `last` into a chunk.
    fn compute(&self, py: Python<'_>, first: u64, last: u64, path: PathBuf, threads: usize) -> PyResult<()> {
        let beat = Mutex::new((Instant::now(), None));
        let goes_on = || {
            let Ok(mut beat) = beat.try_lock() else { return true };
            if beat.0.elapsed() < Duration::from_millis(20) {
                return beat.1.is_none();
            }
            beat.1 = Python::attach(|py| py.check_signals()).err();
            beat.0 = Instant::now();
            beat.1.is_none()
        };
        let done = py.detach(|| self.0.compute(first..last, &path, threads, &goes_on));
        match beat.into_inner().ok().and_then(|(_, raised)| raised) {
            Some(raised) => Err(raised),
            None => done.map_err(|failure| refused(py, failure)),
        }
    }
    /// A chunk of one run that could not be computed anywhere, with the reason as its status.
    fn give_up(&self, py: Python<'_>, run: u64, reason: &str, path: PathBuf) -> PyResult<()> {
        self.0.give_up(run, reason, &path).map_err(|failure| refused(py, failure))
    }
    /// True if a file is a chunk of this plan, whole, with these runs.
    fn has(&self, path: PathBuf, first: u64, last: u64) -> bool {
        Chunk::whole(&path).is_ok_and(|chunk| {
            let head = &chunk.head;
            head.plan == self.0.hash() && head.range() == (first..last)
        })
    }
}

/// Joins chunks into a table; the summary as JSON.
#[pyfunction]
pub fn merge(py: Python<'_>, parts: Vec<PathBuf>, out: PathBuf) -> PyResult<String> {
    let merged = py.detach(|| sweep::merge(&parts, Path::new(&out)));
    merged.map(|summary| summary.to_string()).map_err(|failure| refused(py, failure))
}
