//! A state of a run, of which every quantity is an attribute.

use crate::errors;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use polhode::group::Rotation;
use polhode::run::{Item, Owner, Quantity, Snapshot, Value};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A state of a run.
#[pyclass(frozen, module = "polhode")]
#[derive(Clone)]
pub struct State(pub Arc<Snapshot>);

/// A body or a joint in a state.
#[pyclass(frozen, module = "polhode")]
pub struct Part {
    state: State,
    owner: Owner,
}

/// A rotation as a matrix.
fn matrix<'py>(py: Python<'py>, attitude: &Rotation<f64>) -> PyResult<Bound<'py, PyAny>> {
    let m = attitude.matrix();
    let rows: Vec<f64> = (0..3).flat_map(|i| [m[(i, 0)], m[(i, 1)], m[(i, 2)]]).collect();
    let square: Bound<'py, PyArray2<f64>> = PyArray1::from_vec(py, rows).reshape([3, 3])?;
    square.into_bound_py_any(py)
}

/// The value of a quantity of something.
fn value<'py>(
    py: Python<'py>,
    state: &Snapshot,
    owner: Owner,
    key: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let (Owner::Joint(_), "reaction") = (owner, key) {
        let part = |quantity| match state.value(&Item { owner, quantity }) {
            Some(Value::Vector(v)) => v.iter().copied().collect::<Vec<f64>>(),
            _ => Vec::new(),
        };
        let both = [part(Quantity::Force), part(Quantity::Moment)].concat();
        return PyArray1::from_vec(py, both).into_bound_py_any(py).map(Some);
    }
    let quantities = Quantity::ALL.iter().filter(|quantity| quantity.facts().key == key);
    let found = quantities.filter_map(|quantity| state.value(&Item { owner, quantity: *quantity })).next();
    Ok(match found {
        None => None,
        Some(Value::Number(x)) => Some(x.into_bound_py_any(py)?),
        Some(Value::Rotation(attitude)) => Some(matrix(py, &attitude)?),
        Some(value) => Some(PyArray1::from_slice(py, value.numbers()).into_bound_py_any(py)?),
    })
}

fn missing(key: &str, what: &str) -> PyErr {
    PyAttributeError::new_err(format!("{what} has no '{key}'"))
}

impl State {
    /// Of a snapshot.
    pub fn new(state: Snapshot) -> Self {
        State(Arc::new(state))
    }
    fn named<'py>(
        &self,
        py: Python<'py>,
        owners: impl Iterator<Item = Owner>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for owner in owners {
            if let Some(name) = self.0.name(owner) {
                all.set_item(name, Bound::new(py, Part { state: self.clone(), owner })?)?;
            }
        }
        Ok(all)
    }
}

#[pymethods]
impl State {
    /// Time in s.
    #[getter]
    fn t(&self) -> f64 {
        self.0.t
    }
    /// The bodies of a system by name.
    #[getter]
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.named(py, (0..self.0.bodies.len()).map(Owner::Body))
    }
    /// The joints by name.
    #[getter]
    fn joints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let joints = self.0.joints.iter().enumerate().filter(|(_, joint)| !joint.is_drive);
        self.named(py, joints.map(|(j, _)| Owner::Joint(j)))
    }
    /// The extra coordinates by name.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.named(py, (0..self.0.coordinates.len()).map(Owner::Coordinates))
    }
    /// The outputs of the model by name.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, value) in self.0.output_names.iter().flat_map(|names| names.iter()).zip(&self.0.outputs) {
            all.set_item(name, value)?;
        }
        Ok(all)
    }
    fn __getattr__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        let what = match self.0.is_single() {
            true => "this state",
            false => "the state of a system as a whole",
        };
        value(py, &self.0, Owner::Whole, key)?.ok_or_else(|| missing(key, what))
    }
    fn __dir__(&self) -> Vec<&'static str> {
        let mut all = vec!["t", "bodies", "joints", "coordinates", "outputs"];
        self.0.report(&mut |item, _| {
            if item.owner == Owner::Whole {
                all.push(item.quantity.facts().key);
            }
        });
        all
    }
    fn __repr__(&self) -> String {
        match self.0.body() {
            Some(body) => {
                let [w, x, y, z] = body.attitude.q_wxyz();
                format!("<polhode.State t={} q_wxyz=[{w:.6}, {x:.6}, {y:.6}, {z:.6}]>", self.0.t)
            }
            None => format!("<polhode.State t={} of {} bodies>", self.0.t, self.0.bodies.len()),
        }
    }
}

#[pymethods]
impl Part {
    fn __getattr__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        let name = self.state.0.name(self.owner).unwrap_or_default();
        value(py, &self.state.0, self.owner, key)?.ok_or_else(|| missing(key, &format!("'{name}'")))
    }
    fn __repr__(&self) -> String {
        format!("<polhode.Part '{}' t={}>", self.state.0.name(self.owner).unwrap_or_default(), self.state.0.t)
    }
}

/// A name that is not there.
pub fn unknown(name: &str, known: &[&str]) -> PyErr {
    match known {
        [] => PyKeyError::new_err(format!("there is no '{name}', nor any other")),
        known => PyKeyError::new_err(format!("there is no '{name}'; there are {}", known.join(", "))),
    }
}

/// Three finite numbers of Python.
pub fn vector(given: &Bound<'_, PyAny>, what: &str) -> PyResult<[f64; 3]> {
    let numbers: Vec<f64> = match given.extract::<Vec<f64>>() {
        Ok(numbers) => numbers,
        Err(_) => return Err(errors::value(format!("{what} takes three numbers"))),
    };
    match <[f64; 3]>::try_from(numbers) {
        Ok(vector) if vector.iter().all(|x| x.is_finite()) => Ok(vector),
        Ok(vector) => Err(errors::value(format!("{what} must be finite, got {vector:?}"))),
        Err(numbers) => Err(errors::value(format!("{what} takes three numbers, got {}", numbers.len()))),
    }
}
