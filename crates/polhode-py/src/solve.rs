//! Whole runs.

use crate::errors;
use crate::loads::Trouble;
use crate::model::Problem;
use crate::pulse::Pulse;
use crate::rows::{self, Kept, Rows};
use crate::state::State;
use core::ops::ControlFlow;
use numpy::{PyArray1, PyReadonlyArray1};
use polhode::run::{Direction, Event, Plan, Run, RunFailure, RunReport, Saved, Snapshot, Watched, drive};
use polhode_cli::host;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Mutex, PoisonError};

/// How many places a run with dense output can be gone on from.
const PLACES: u64 = 1000;

/// An event of Python: name, function, direction as scipy has it, whether it ends the run.
pub type Watching = (String, Py<PyAny>, f64, bool);

/// An event whose function Python has.
pub fn event((name, function, direction, stops): Watching, trouble: &Trouble) -> Event {
    let trouble = trouble.clone();
    let when = move |state: &Snapshot| {
        trouble.guard(f64::NAN, |py| {
            function.call1(py, (state.t, State::new(state.clone())))?.extract::<f64>(py)
        })
    };
    let going = match direction {
        d if d > 0.0 => Direction::Up,
        d if d < 0.0 => Direction::Down,
        _ => Direction::Both,
    };
    Event::new(&name, when).going(going).stopping(stops)
}

/// What a run has come to, for Python.
fn told<'py>(py: Python<'py>, given: &Bound<'py, PyDict>, end: &RunReport, run: &Watched) -> PyResult<()> {
    let drift = PyDict::new(py);
    for (name, value) in end.drift.list() {
        drift.set_item(name, value)?;
    }
    if let Some(joints) = &end.joints {
        drift.set_item("joints", joints.violation.position)?;
        drift.set_item("joint_rates", joints.violation.velocity)?;
    }
    given.set_item("drift", drift)?;
    given.set_item("steps", end.steps)?;
    given.set_item("finished", end.finished)?;
    let work = &end.work;
    given.set_item("work", (work.solves, work.iterations, work.jacobians, work.retries))?;
    given.set_item("last", State::new(end.last.clone()))?;
    given.set_item("stopped", run.stopped().map(|event| event.name().to_string()))?;
    let events = PyDict::new(py);
    for (i, event) in run.events().iter().enumerate() {
        let seen = || run.found().iter().filter(|found| found.event == i);
        let times = PyArray1::from_vec(py, seen().map(|found| found.state.t).collect());
        let states = PyList::new(py, seen().map(|found| State::new(found.state.clone())))?;
        events.set_item(event.name(), (times, states))?;
    }
    given.set_item("events", events)
}

/// Runs a model. Everything is there that a result consists of; times and rows as [`Rows::give`] has them.
#[pyfunction]
#[pyo3(signature = (problem, method, step, until, items, every, t_eval, dense, events, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn solve<'py>(
    py: Python<'py>,
    problem: &Problem,
    method: &str,
    step: f64,
    until: f64,
    items: Vec<usize>,
    every: u64,
    t_eval: Option<PyReadonlyArray1<'py, f64>>,
    dense: bool,
    events: Vec<Watching>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    problem.trouble.take();
    let model = problem.model(py)?;
    let plan = Plan::new(step, until).map_err(errors::value)?;
    let method = problem.method(py, &model, method, plan.until())?;
    let start = model.start();
    let all = rows::quantities(&start);
    let times: Option<Vec<f64>> = t_eval.map(|times| times.as_array().iter().copied().collect());
    let room = times.as_ref().map_or(plan.steps() / every.max(1) + 2, |times| times.len() as u64);
    let rows = Rows::new(&all, &items, usize::try_from(room.min(1 << 20)).unwrap_or(0));
    let mut rows = rows.ok_or_else(|| errors::value("there is no such quantity"))?;
    let extra = events.into_iter().map(|given| event(given, &problem.trouble)).collect();
    let mut run = model.watched_for(&method, extra).map_err(|failed| failure(py, &failed, problem))?;
    let mut pulse = Pulse::new(progress);
    let mut places: Vec<(u64, Saved)> = Vec::new();
    let stride = plan.steps().div_ceil(PLACES).max(1);
    let mut unsaved = None;
    let (ended, run) = py.detach(|| {
        let mut next = 0;
        let mut observer = |n: u64, run: &mut Watched| {
            match &times {
                Some(times) => {
                    while let Some(t) = times.get(next).filter(|t| **t <= run.time()) {
                        let state = if *t == run.time() { None } else { run.between(*t) };
                        let state = state.unwrap_or_else(|| rows.seen(run));
                        rows.take(&state);
                        next += 1;
                    }
                }
                None if n.is_multiple_of(every) || n == plan.steps() || run.ended() => match rows.is_bare() {
                    true => rows.take_time(run.time()),
                    false => {
                        let state = rows.seen(run);
                        rows.take(&state);
                    }
                },
                None => {}
            }
            if dense && n.is_multiple_of(stride) {
                match run.save() {
                    Ok(saved) => places.push((n, saved)),
                    Err(error) => unsaved = Some(error),
                }
            }
            let goes_on = pulse.beats(n, || n as f64 / plan.steps().max(1) as f64) && unsaved.is_none();
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        (drive(&mut run, &plan, &mut observer), run)
    });
    if let Some(raised) = pulse.raised.or_else(|| problem.trouble.take()) {
        return Err(raised);
    }
    if let Some(error) = unsaved {
        return Err(errors::value(format!("dense_output: {error}")));
    }
    let given = rows.give(py)?;
    given.set_item("method", method.id())?;
    given.set_item("step", plan.step())?;
    given.set_item("until", plan.until())?;
    match ended {
        Ok(end) => {
            told(py, &given, &end, &run)?;
            if dense {
                let dense = Dense { inside: Mutex::new((run, places)), plan, all, end: end.last.t };
                given.set_item("dense", Bound::new(py, dense)?)?;
            }
            Ok(given)
        }
        Err(failed) => {
            let mut end = *failed.last_good.clone();
            end.finished = false;
            told(py, &given, &end, &run)?;
            let error = failure(py, &failed, problem);
            error.value(py).setattr("result", given)?;
            Err(error)
        }
    }
}

/// A run that failed, with its last good state.
pub fn failure(py: Python<'_>, failed: &RunFailure, problem: &Problem) -> PyErr {
    problem.raised(|| {
        let last = &failed.last_good;
        let state = State::new(last.last.clone()).into_py_any(py);
        let place = state.ok().map(|state| (last.last.t, last.steps, state));
        errors::unconverged(py, failed.to_string(), place)
    })
}

/// A run that can be asked for any of its times: it is gone through again from the nearest place that was kept.
#[pyclass(frozen, module = "polhode")]
pub struct Dense {
    inside: Mutex<(Watched, Vec<(u64, Saved)>)>,
    plan: Plan,
    all: Vec<Kept>,
    end: f64,
}

#[pymethods]
impl Dense {
    /// Its last time.
    #[getter]
    fn t_max(&self) -> f64 {
        self.end
    }
    /// Rows of quantities at times, which must ascend.
    fn at<'py>(
        &self,
        py: Python<'py>,
        times: PyReadonlyArray1<'py, f64>,
        items: Vec<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let times: Vec<f64> = times.as_array().iter().copied().collect();
        if let Some(t) = times.iter().find(|t| !(0.0..=self.end).contains(*t)) {
            return Err(errors::value(format!(
                "t = {t} is outside of the run, which goes from 0 to {}",
                self.end
            )));
        }
        let rows = Rows::new(&self.all, &items, times.len());
        let mut rows = rows.ok_or_else(|| errors::value("there is no such quantity"))?;
        let gone: Result<(), String> = py.detach(|| {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            let (run, places) = &mut *inside;
            let mut at: Option<u64> = None;
            for t in &times {
                // The step that ends at or after the time.
                let n = ((t / self.plan.step()).floor() as u64).saturating_sub(1);
                let mut end = n;
                while self.plan.time(end) < *t && end < self.plan.steps() {
                    end += 1;
                }
                let place = places.partition_point(|(n, _)| *n < end.max(1)).saturating_sub(1);
                let Some((first, saved)) = places.get(place) else { continue };
                let mut now = match at {
                    Some(now) if now >= *first && now <= end => now,
                    _ => {
                        run.restore(saved).map_err(|error| error.to_string())?;
                        *first
                    }
                };
                while now < end && !run.ended() {
                    run.step(self.plan.size(now), self.plan.time(now + 1))
                        .map_err(|error| error.to_string())?;
                    now += 1;
                }
                at = Some(now);
                let state = if run.time() == *t { None } else { run.between(*t) };
                let state = state.unwrap_or_else(|| rows.seen(run));
                rows.take(&state);
            }
            Ok(())
        });
        gone.map_err(errors::value)?;
        rows.give(py)
    }
}

/// The step with which the error along a run is at most this.
#[pyfunction]
pub fn step_for_error(
    py: Python<'_>,
    problem: &Problem,
    method: &str,
    until: f64,
    error: f64,
    budget: f64,
) -> PyResult<f64> {
    let model = problem.model(py)?;
    let method = problem.method(py, &model, method, until)?;
    let (stop, raised) = crate::commands::stopper();
    let found = py.detach(|| host::step_for_error(&model, &method, until, error, budget, stop));
    if let Some(raised) = crate::commands::raised(&raised).or_else(|| problem.trouble.take()) {
        return Err(raised);
    }
    found.map_err(|refusal| errors::of_refusal(py, &refusal))
}
