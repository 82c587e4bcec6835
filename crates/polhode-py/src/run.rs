//! A run in the hand: step by step, with loads that are set in between.

use crate::errors;
use crate::loads::control;
use crate::model::Problem;
use crate::solve::failure;
use crate::state::{State, vector};
use polhode::problem::Control;
use polhode::run::{Run as _, RunFailure, RunReport, Saved, Watched};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// A run under way.
struct Inside {
    run: Watched,
    /// Where steps of this size began to be counted, and how many there were.
    base: f64,
    step: f64,
    count: u64,
    steps: u64,
}

/// A run under way.
#[pyclass(frozen, subclass, module = "polhode")]
pub struct Run {
    problem: Py<Problem>,
    method: String,
    controls: Vec<Control>,
    inside: Mutex<Inside>,
}

/// A run put aside.
#[pyclass(frozen, module = "polhode")]
pub struct Checkpoint {
    saved: Saved,
    counted: (f64, f64, u64, u64),
    /// What each part of its loads was set to.
    loads: Vec<[f64; 3]>,
}

impl Run {
    fn inside(&self) -> PyResult<MutexGuard<'_, Inside>> {
        // Waiting would hold the interpreter, which a load may wait for.
        self.inside.try_lock().map_err(|_| PyRuntimeError::new_err("this run is at work in another thread"))
    }
    /// Every part of every load that can be set.
    fn parts(&self) -> impl Iterator<Item = (&Control, &'static str)> {
        self.controls.iter().flat_map(|load| load.parts().map(move |part| (load, part)))
    }
    /// What was raised, or the failure with the last good state.
    fn failed(&self, py: Python<'_>, inside: &Inside, error: polhode::solve::StepError) -> PyErr {
        let run = &inside.run;
        let last = RunReport {
            last: run.snapshot(),
            steps: inside.steps,
            drift: run.drift(),
            work: run.work(),
            finished: false,
            joints: run.joints(),
        };
        failure(py, &RunFailure { error, last_good: Box::new(last) }, self.problem.get())
    }
}

#[pymethods]
impl Run {
    #[new]
    fn new(py: Python<'_>, problem: Py<Problem>, method: &str, step: f64) -> PyResult<Self> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(PyValueError::new_err(format!("step must be a positive finite number, got {step}")));
        }
        let owner = problem.get();
        owner.trouble.take();
        // Loads that are set act on this run alone.
        let model =
            if owner.model(py)?.controls().is_empty() { owner.model(py)? } else { owner.fresh(py)? };
        let method = owner.method(py, &model, method, 0.0)?;
        let run = model.watched(&method).map_err(|failed| failure(py, &failed, owner))?;
        let inside = Mutex::new(Inside { run, base: 0.0, step, count: 0, steps: 0 });
        Ok(Run { problem, method: method.id().into(), controls: model.controls().to_vec(), inside })
    }
    /// Takes `n` steps of size `h`, or of the usual one; the time then.
    #[pyo3(signature = (n = 1, h = None))]
    fn step(&self, py: Python<'_>, n: u64, h: Option<f64>) -> PyResult<f64> {
        let mut guard = self.inside()?;
        let inside = &mut *guard;
        if let Some(h) = h.filter(|h| *h != inside.step) {
            if !(h > 0.0 && h.is_finite()) {
                return Err(PyValueError::new_err(format!("h must be a positive finite number, got {h}")));
            }
            (inside.base, inside.step, inside.count) = (inside.run.time(), h, 0);
        }
        let mut raised = None;
        let done = py.detach(|| {
            let mut pulse = crate::pulse::Pulse::new(None);
            for k in 0..n {
                let to = inside.base + (inside.count + 1) as f64 * inside.step;
                inside.run.step(inside.step, to)?;
                (inside.count, inside.steps) = (inside.count + 1, inside.steps + 1);
                if let Some(quantity) = inside.run.overflow() {
                    let quantity = quantity.into();
                    return Err(polhode::solve::StepError::Overflow { quantity, t: inside.run.time() });
                }
                if n > 1 && !pulse.beats(k, || 0.0) {
                    raised = pulse.raised.take();
                    break;
                }
            }
            Ok(())
        });
        match (done, raised) {
            (Ok(()), None) => Ok(inside.run.time()),
            (Ok(()), Some(raised)) => Err(raised),
            (Err(error), _) => Err(self.failed(py, inside, error)),
        }
    }
    /// Time in s.
    #[getter]
    fn t(&self) -> PyResult<f64> {
        Ok(self.inside()?.run.time())
    }
    /// The id of its method.
    #[getter]
    fn method(&self) -> &str {
        &self.method
    }
    /// Steps taken.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.inside()?.steps)
    }
    /// The state.
    #[getter]
    fn state(&self) -> PyResult<State> {
        Ok(State::new(self.inside()?.run.snapshot()))
    }
    /// The state at a time within the last step, or None.
    fn between(&self, t: f64) -> PyResult<Option<State>> {
        Ok(self.inside()?.run.between(t).map(State::new))
    }
    /// The largest drift of each invariant so far.
    #[getter]
    fn drift(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let inside = self.inside()?;
        let all: std::collections::BTreeMap<_, _> = inside.run.drift().list().into_iter().collect();
        all.into_py_any(py)
    }
    /// The name of the event that has ended it, or None.
    #[getter]
    fn stopped(&self) -> PyResult<Option<String>> {
        Ok(self.inside()?.run.stopped().map(|event| event.name().to_string()))
    }
    /// The loads that can be set: name, body, parts.
    #[getter]
    fn controls(&self) -> Vec<(String, String, Vec<&'static str>)> {
        let told = |c: &Control| (c.name().to_string(), c.body().to_string(), c.parts().collect());
        self.controls.iter().map(told).collect()
    }
    /// The value of a part of a load.
    fn get_load(&self, name: &str, part: &str) -> PyResult<[f64; 3]> {
        Ok(control(&self.controls, name)?.get(part).map_err(errors::value)?.into())
    }
    /// Sets parts of a load.
    fn set_load(&self, py: Python<'_>, name: &str, parts: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
        let load = control(&self.controls, name)?;
        let read = |(part, given): &(String, Bound<'_, PyAny>)| {
            vector(given, &format!("{name}.{part}")).map(|value| (part.clone(), value))
        };
        let parts = parts.iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let mut inside = self.inside()?;
        let mut jumps = false;
        for (part, value) in &parts {
            jumps |= <[f64; 3]>::from(load.get(part).map_err(errors::value)?) != *value;
        }
        for (part, value) in parts {
            load.set(&part, value.into()).map_err(errors::value)?;
        }
        if jumps && let Err(error) = inside.run.loads_changed() {
            return Err(self.failed(py, &inside, error));
        }
        Ok(())
    }
    /// Puts it aside.
    fn save(&self) -> PyResult<Checkpoint> {
        let mut inside = self.inside()?;
        let counted = (inside.base, inside.step, inside.count, inside.steps);
        let loads = self.parts().map(|(load, part)| Ok(load.get(part).map_err(errors::value)?.into()));
        let loads = loads.collect::<PyResult<Vec<[f64; 3]>>>()?;
        Ok(Checkpoint { saved: inside.run.save().map_err(errors::value)?, counted, loads })
    }
    /// Goes on from where it was put aside.
    fn restore(&self, checkpoint: &Checkpoint) -> PyResult<()> {
        let mut inside = self.inside()?;
        inside.run.restore(&checkpoint.saved).map_err(errors::value)?;
        // Accelerations that were saved belong to these loads.
        for ((load, part), value) in self.parts().zip(&checkpoint.loads) {
            load.set(part, (*value).into()).map_err(errors::value)?;
        }
        (inside.base, inside.step, inside.count, inside.steps) = checkpoint.counted;
        Ok(())
    }
    fn __repr__(&self) -> PyResult<String> {
        let inside = self.inside()?;
        Ok(format!("<polhode.Run t={} after {} steps of {}>", inside.run.time(), inside.steps, self.method))
    }
}
