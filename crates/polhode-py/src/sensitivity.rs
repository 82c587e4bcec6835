//! Derivatives of runs.

use crate::errors;
use crate::model::Problem;
use crate::pulse::Pulse;
use crate::rows;
use core::ops::ControlFlow;
use numpy::{PyArray1, PyArrayMethods};
use polhode::run::{Item, Plan, Quantity, Shape, Value};
use polhode::sensitivity::{Sensitivity, SensitivityError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Runs a model with its derivatives. Rows are every so many steps and the last, or the last alone where `every` is zero.
/// Without `derivatives` it is the plain run. `at` are values of the parameters, in place of those of the model. For each quantity an array of values and one of derivatives, whose last axis is that of the parameters; of quaternions
/// also of the turns in body axes.
#[pyfunction]
#[pyo3(signature = (problem, parameters, method, step, until, items, every, at, derivatives))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn sensitivity<'py>(
    py: Python<'py>,
    problem: &Problem,
    parameters: Vec<String>,
    method: &str,
    step: f64,
    until: f64,
    items: Vec<usize>,
    every: u64,
    at: Option<Vec<f64>>,
    derivatives: bool,
) -> PyResult<Bound<'py, PyDict>> {
    problem.trouble.take();
    let model = problem.model(py)?;
    let plan = Plan::new(step, until).map_err(errors::value)?;
    let method = problem.method(py, &model, method, plan.until())?;
    let refused = |error: SensitivityError| {
        problem.raised(|| match error {
            SensitivityError::Model(mistake) => errors::of_mistake(py, &mistake),
            SensitivityError::Method(error) => errors::unconverged(py, error.to_string(), None),
            error => errors::value(error),
        })
    };
    let names: Vec<&str> = parameters.iter().map(String::as_str).collect();
    let made = Sensitivity::new(&problem.source, &names, &method).map_err(refused)?;
    let made = match &at {
        None => made,
        Some(at) if at.len() == made.values().len() && at.iter().all(|x| x.is_finite()) => {
            made.changed(&at.iter().zip(made.values()).map(|(x, value)| x - value).collect::<Vec<f64>>())
        }
        Some(at) => {
            let names = made.names().join(", ");
            return Err(errors::value(format!(
                "the parameters {names} take as many finite numbers, got {at:?}"
            )));
        }
    };
    let all = rows::quantities(&model.start());
    let chosen: Option<Vec<_>> = items.iter().map(|i| all.get(*i).copied()).collect();
    let chosen = chosen.ok_or_else(|| errors::value("there is no such quantity"))?;
    let count = if derivatives { made.names().len() } else { 0 };
    let mut times = Vec::new();
    let mut found: Vec<[Vec<f64>; 3]> = chosen.iter().map(|_| Default::default()).collect();
    let mut pulse = Pulse::new(None);
    let ended = py.detach(|| {
        made.run_with(count, &plan, &mut |n, run| {
            let due = n == plan.steps() || (every > 0 && n.is_multiple_of(every));
            if due {
                let plain = run.snapshot();
                times.push(plain.t);
                let varied: Vec<_> = (0..count).filter_map(|k| run.derivative(k)).collect();
                for (kept, [values, slopes, turns]) in chosen.iter().zip(&mut found) {
                    let at = plain.value(&kept.item);
                    let numbers = at.as_ref().map_or(&[][..], |value| value.numbers());
                    for i in 0..kept.width {
                        values.push(numbers.get(i).copied().unwrap_or(f64::NAN));
                        slopes.extend(varied.iter().map(|seen| {
                            let value = seen.value(&kept.item);
                            value
                                .and_then(|value| value.numbers().get(i).map(|x| x.eps[0]))
                                .unwrap_or(f64::NAN)
                        }));
                    }
                    let attitude = Item { quantity: Quantity::Attitude, ..kept.item };
                    if kept.item.quantity == Quantity::Quaternion {
                        for i in 0..3 {
                            turns.extend(varied.iter().map(|seen| match seen.value(&attitude) {
                                Some(Value::Rotation(rotation)) => rotation.slope()[i],
                                _ => f64::NAN,
                            }));
                        }
                    }
                }
            }
            let goes_on = pulse.beats(n, || 0.0);
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    });
    if let Some(raised) = pulse.raised.or_else(|| problem.trouble.take()) {
        return Err(raised);
    }
    if let Err(failed) = ended {
        let steps = failed.steps;
        return Err(match failed.error {
            SensitivityError::Method(_) => errors::unconverged(py, format!("{failed}"), None),
            _ => errors::value(format!("{failed} (after {steps} steps)")),
        });
    }
    let rows = times.len();
    let given = PyDict::new(py);
    given.set_item("t", PyArray1::from_vec(py, times))?;
    given.set_item("parameters", made.names())?;
    given.set_item("parameter_values", PyArray1::from_slice(py, made.values()))?;
    given.set_item("parameter_scales", PyArray1::from_slice(py, made.scales()))?;
    let lists = [PyList::empty(py), PyList::empty(py), PyList::empty(py)];
    for (kept, [values, slopes, turns]) in chosen.iter().zip(found) {
        let (values, slopes) = (PyArray1::from_vec(py, values), PyArray1::from_vec(py, slopes));
        if kept.item.quantity.facts().shape == Shape::Number {
            lists[0].append(values)?;
            lists[1].append(slopes.reshape([rows, count])?)?;
        } else {
            lists[0].append(values.reshape([rows, kept.width])?)?;
            lists[1].append(slopes.reshape([rows, kept.width, count])?)?;
        }
        match kept.item.quantity {
            Quantity::Quaternion => {
                lists[2].append(PyArray1::from_vec(py, turns).reshape([rows, 3, count])?)?
            }
            _ => lists[2].append(py.None())?,
        }
    }
    for (name, list) in ["values", "derivatives", "turns"].into_iter().zip(lists) {
        given.set_item(name, list)?;
    }
    given.set_item("method", method.id())?;
    given.set_item("step", plan.step())?;
    given.set_item("until", plan.until())?;
    Ok(given)
}
