//! Loads that Python computes.

use crate::state::unknown;
use nalgebra::{Matrix3, Vector3};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use polhode::body::{Kinematics, Sampled, Valued, Wrench, WrenchSlopes};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex};

/// What a callable has raised: a step ends without a result then, and this says why.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Arc<Mutex<Option<PyErr>>>);

impl Trouble {
    fn put(&self, error: PyErr) {
        if let Ok(mut place) = self.0.lock() {
            place.get_or_insert(error);
        }
    }
    /// Takes it away.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().ok().and_then(|mut place| place.take())
    }
    /// True if something was raised.
    pub fn is_there(&self) -> bool {
        self.0.lock().is_ok_and(|place| place.is_some())
    }
    /// Runs what Python may raise an exception in.
    pub fn guard<T>(&self, otherwise: T, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        if self.is_there() {
            return otherwise;
        }
        Python::attach(work).unwrap_or_else(|error| {
            self.put(error);
            otherwise
        })
    }
}

/// What was asked, and the answer.
type Answered = (Kinematics<f64>, Wrench<f64>, WrenchSlopes);

/// Numbers of a motion.
type Read = fn(&Kinematics<f64>) -> Vec<f64>;

/// A load that a callable computes: force and moment about the origin of the body, in its axes.
pub struct Callback {
    function: Py<PyAny>,
    with_slopes: bool,
    vectorized: bool,
    trouble: Trouble,
    /// The last answer with slopes: a step asks for value and slopes one after the other.
    last: Mutex<Option<Answered>>,
}

impl std::fmt::Debug for Callback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callback").finish_non_exhaustive()
    }
}

const UNKNOWN: f64 = f64::NAN;

fn nothing() -> Wrench<f64> {
    Wrench { force_body: Vector3::from_element(UNKNOWN), moment_body: Vector3::from_element(UNKNOWN) }
}

fn no_slopes(x: f64) -> WrenchSlopes {
    WrenchSlopes { force: [Matrix3::from_element(x); 4], moment: [Matrix3::from_element(x); 4] }
}

/// Numbers of Python, whatever holds them.
fn numbers(given: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let asarray = given.py().import("numpy")?.getattr("asarray")?;
    let options = PyDict::new(given.py());
    options.set_item("dtype", "float64")?;
    let array: PyReadonlyArrayDyn<'_, f64> = asarray.call((given,), Some(&options))?.extract()?;
    Ok((array.as_array().iter().copied().collect(), array.shape().to_vec()))
}

/// A wrench of three numbers, the moment, or six, force and moment.
fn wrench(row: &[f64]) -> PyResult<Wrench<f64>> {
    match row {
        [x, y, z] => Ok(Wrench::moment(Vector3::new(*x, *y, *z))),
        [a, b, c, x, y, z] => {
            Ok(Wrench { force_body: Vector3::new(*a, *b, *c), moment_body: Vector3::new(*x, *y, *z) })
        }
        _ => Err(PyValueError::new_err(format!(
            "a load returns 3 numbers, the moment in body axes, or 6, force and moment; got {}",
            row.len()
        ))),
    }
}

/// Slopes of 3 or 6 rows and 12 columns: position, turn, velocity, angular velocity.
fn slopes(values: &[f64], shape: &[usize]) -> PyResult<WrenchSlopes> {
    let rows = match shape {
        [rows @ (3 | 6), 12] => *rows,
        _ => {
            return Err(PyValueError::new_err(format!(
                "slopes of a load have the shape (3, 12) or (6, 12): with respect to position, a turn in body axes, \
                 velocity_body and omega_body; got {shape:?}"
            )));
        }
    };
    let part = |first: usize, k: usize| Matrix3::from_fn(|i, j| values[(first + i) * 12 + 3 * k + j]);
    let force = |k: usize| if rows == 6 { part(0, k) } else { Matrix3::zeros() };
    Ok(WrenchSlopes { force: [0, 1, 2, 3].map(force), moment: [0, 1, 2, 3].map(|k| part(rows - 3, k)) })
}

impl Callback {
    pub fn new(function: Py<PyAny>, with_slopes: bool, vectorized: bool, trouble: Trouble) -> Self {
        Callback { function, with_slopes, vectorized, trouble, last: Mutex::new(None) }
    }
    /// Calls it with a time and keywords for the motion: of one state as numbers, of many as arrays.
    fn call<'py>(&self, py: Python<'py>, at: &[Kinematics<f64>]) -> PyResult<Bound<'py, PyAny>> {
        let motion = PyDict::new(py);
        let vectors: [(&str, Read); 4] = [
            ("q_wxyz", |k| k.attitude.q_wxyz().to_vec()),
            ("position", |k| k.position.iter().copied().collect()),
            ("velocity_body", |k| k.velocity_body.iter().copied().collect()),
            ("omega_body", |k| k.omega_body.iter().copied().collect()),
        ];
        for (name, read) in vectors {
            let all: Vec<f64> = at.iter().flat_map(read).collect();
            let width = all.len() / at.len().max(1);
            let flat = PyArray1::from_vec(py, all);
            if self.vectorized {
                let rows: Bound<'_, PyArray2<f64>> = flat.reshape([at.len(), width])?;
                motion.set_item(name, rows)?;
            } else {
                motion.set_item(name, flat)?;
            }
        }
        let motion = py.import("types")?.getattr("SimpleNamespace")?.call((), Some(&motion))?;
        let function = self.function.bind(py);
        if self.vectorized {
            let times: Vec<f64> = at.iter().map(|k| k.time).collect();
            function.call1((PyArray1::from_vec(py, times), motion))
        } else {
            function.call1((at.first().map_or(UNKNOWN, |k| k.time), motion))
        }
    }
    /// Value and slopes at a state.
    fn both(&self, at: &Kinematics<f64>) -> (Wrench<f64>, WrenchSlopes) {
        let same = |known: &Kinematics<f64>| {
            known.time == at.time
                && known.attitude == at.attitude
                && known.position == at.position
                && known.velocity_body == at.velocity_body
                && known.omega_body == at.omega_body
        };
        if let Ok(last) = self.last.lock()
            && let Some((known, value, slopes)) = &*last
            && same(known)
        {
            return (*value, *slopes);
        }
        let found = self.trouble.guard((nothing(), no_slopes(UNKNOWN)), |py| {
            let given = self.call(py, core::slice::from_ref(at))?;
            let Ok((value, slope)) = given.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
                let message = "a load with slopes=True returns a pair: its value and its slopes";
                return Err(PyTypeError::new_err(message));
            };
            let ((value, _), (slope, shape)) = (numbers(&value)?, numbers(&slope)?);
            Ok((wrench(&value)?, slopes(&slope, &shape)?))
        });
        if let Ok(mut last) = self.last.lock() {
            *last = Some((*at, found.0, found.1));
        }
        found
    }
}

impl Valued for Callback {
    fn wrenches(&self, at: &[Kinematics<f64>]) -> Vec<Wrench<f64>> {
        self.trouble.guard(vec![nothing(); at.len()], |py| {
            if !self.vectorized {
                let one = |k: &Kinematics<f64>| {
                    let given = self.call(py, core::slice::from_ref(k))?;
                    wrench(&numbers(&given)?.0)
                };
                return at.iter().map(one).collect();
            }
            let (values, shape) = numbers(&self.call(py, at)?)?;
            match shape.as_slice() {
                [rows, width @ (3 | 6)] if *rows == at.len() => values.chunks(*width).map(wrench).collect(),
                _ => Err(PyValueError::new_err(format!(
                    "a vectorized load returns a row for each state, ({}, 3) or ({}, 6); got {shape:?}",
                    at.len(),
                    at.len()
                ))),
            }
        })
    }
}

impl Sampled for Callback {
    fn wrench(&self, at: &Kinematics<f64>) -> Wrench<f64> {
        match self.with_slopes {
            true => self.both(at).0,
            false => self.wrenches(core::slice::from_ref(at)).first().copied().unwrap_or_else(nothing),
        }
    }
    fn slopes(&self, at: &Kinematics<f64>) -> WrenchSlopes {
        match self.with_slopes {
            true => self.both(at).1,
            // A function of time alone.
            false => no_slopes(0.0),
        }
    }
}

/// Sets a load by its name.
pub fn control<'a>(
    controls: &'a [polhode::problem::Control],
    name: &str,
) -> PyResult<&'a polhode::problem::Control> {
    controls.iter().find(|control| control.name() == name).ok_or_else(|| {
        let known: Vec<&str> = controls.iter().map(|control| control.name()).collect();
        unknown(name, &known)
    })
}
