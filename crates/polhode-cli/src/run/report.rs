//! A finished run for programs.

use super::Finished;
use super::system::System;
use crate::blocks::{Drift, Error, Newton};
use crate::error_control;
use crate::gate::Gate;
use crate::phase::Frequencies;
use crate::quantity;
use polhode::run::{EnergyError, Estimate, Quantity, Snapshot};
use serde::Serialize;
use serde_json::{Map, Value};

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    problem: &'a str,
    method: &'a str,
    step: f64,
    until: f64,
    t: f64,
    steps: u64,
    energy: Option<f64>,
    kinetic_energy: f64,
    #[serde(flatten)]
    quantities: Map<String, Value>,
    #[serde(flatten)]
    system: Option<System<'a>>,
    drift: Drift,
    energy_error: Option<Energy>,
    energy_unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    energy_estimate: Option<Option<EnergyEstimate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequencies: Option<&'a Frequencies>,
    newton: Newton,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_control: Option<error_control::Block>,
    #[serde(skip_serializing_if = "<[Gate]>::is_empty")]
    max_drift: &'a [Gate],
    error: Option<Error<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_reference: Option<&'a str>,
    seconds: f64,
    ns_per_step: f64,
}

#[derive(Debug, Serialize)]
struct Energy {
    min: f64,
    max: f64,
    mean: f64,
    rms: f64,
}

impl From<EnergyError> for Energy {
    fn from(e: EnergyError) -> Self {
        Energy { min: e.min, max: e.max, mean: e.mean, rms: e.rms }
    }
}

/// What the estimate of the energy error says.
#[derive(Debug, Serialize)]
struct EnergyEstimate {
    steps: u64,
    max_potential: f64,
    max_energy: f64,
    bounded: u64,
    bounded_signed: u64,
    ratio: Option<f64>,
    kinetic: f64,
}

impl From<Estimate> for EnergyEstimate {
    fn from(e: Estimate) -> Self {
        EnergyEstimate {
            steps: e.steps,
            max_potential: e.max_potential,
            max_energy: e.max_energy,
            bounded: e.bounded,
            bounded_signed: e.bounded_signed,
            ratio: e.ratio,
            kinetic: e.kinetic,
        }
    }
}

/// What is said of a state beside its time and energies.
fn quantities(of: &Snapshot) -> Map<String, Value> {
    let mut quantities = Vec::new();
    of.report(&mut |item, value| match item.quantity {
        // They have fields of their own, which are null where there is no potential.
        Quantity::Energy | Quantity::KineticEnergy => {}
        _ => quantities.push((quantity::path(of, &item), quantity::json(&value))),
    });
    quantity::tree(quantities)
}

/// All that is said of a state, as of the last one.
pub fn state(of: &Snapshot) -> Map<String, Value> {
    let head = [("t", Some(of.t)), ("energy", of.energy), ("kinetic_energy", Some(of.kinetic_energy))];
    head.into_iter().map(|(key, x)| (key.into(), Value::from(x))).chain(quantities(of)).collect()
}

impl<'a> Report<'a> {
    /// Reads everything off a run.
    pub fn new(run: &'a Finished) -> Self {
        let (last, drift) = (&run.end.last, &run.end.drift);
        let error = run.errors.as_ref().ok().map(|(errors, source)| Error::new(errors, source));
        Report {
            problem: &run.problem.id,
            method: run.method.id(),
            step: run.plan.step(),
            until: run.plan.until(),
            t: last.t,
            steps: run.end.steps,
            energy: last.energy,
            kinetic_energy: last.kinetic_energy,
            quantities: quantities(last),
            system: System::new(&run.end),
            drift: Drift::new(&run.end),
            energy_error: drift.energy.map(Energy::from),
            energy_unit: drift.energy.map(|energy| energy.unit()),
            energy_estimate: run.estimate.map(|e| e.map(EnergyEstimate::from)),
            frequencies: run.frequencies.as_ref(),
            newton: Newton::from(&run.end),
            events: run.events.block(),
            stopped_by: run.events.stopped.as_deref(),
            error_control: run.control.as_ref().map(|control| control.block()),
            max_drift: &run.gates,
            error,
            no_reference: run.errors.as_ref().err().map(String::as_str),
            seconds: run.seconds,
            ns_per_step: run.ns_per_step(),
        }
    }
}
