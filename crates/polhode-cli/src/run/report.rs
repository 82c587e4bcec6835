//! A finished run for programs.

use super::Finished;
use polhode::run::EnergyError;
use serde::Serialize;

type Vector = [f64; 3];

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    problem: &'a str,
    method: &'a str,
    step: f64,
    until: f64,
    t: f64,
    steps: u64,
    attitude: [Vector; 3],
    q_wxyz: [f64; 4],
    omega_body: Vector,
    momentum_body: Vector,
    momentum_space: Vector,
    energy: Option<f64>,
    kinetic_energy: f64,
    #[serde(flatten)]
    moving: Option<Moving>,
    drift: Drift,
    energy_error: Option<Energy>,
    newton: Newton,
    error: Option<Error<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_reference: Option<&'a str>,
    seconds: f64,
    ns_per_step: f64,
}

#[derive(Debug, Serialize)]
struct Moving {
    position: Vector,
    velocity: Vector,
    linear_momentum_space: Vector,
}

#[derive(Debug, Serialize)]
struct Drift {
    energy: Option<f64>,
    momentum_space: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    linear_momentum_space: Option<f64>,
    momentum_body: f64,
    momentum_vertical: f64,
    momentum_axial: f64,
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

#[derive(Debug, Serialize)]
struct Newton {
    iterations: u64,
    per_step: f64,
    most: u64,
    solves: u64,
    jacobians: u64,
    retries: u64,
}

#[derive(Debug, Serialize)]
struct Error<'a> {
    attitude: f64,
    attitude_frobenius: f64,
    momentum: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position_relative: Option<f64>,
    source: &'a str,
}

impl<'a> Report<'a> {
    /// Reads everything off a run.
    pub fn new(run: &'a Finished) -> Self {
        let (last, work, drift) = (&run.end.last, &run.end.work, &run.end.drift);
        let matrix = last.attitude.matrix();
        let error = run.errors.as_ref().ok().map(|(errors, source)| Error {
            attitude: errors.attitude,
            attitude_frobenius: errors.attitude_frobenius(),
            momentum: errors.momentum,
            position: errors.position,
            position_relative: errors.position_relative,
            source,
        });
        Report {
            problem: run.problem.id,
            method: run.method.id(),
            step: run.plan.step(),
            until: run.plan.until(),
            t: last.t,
            steps: run.end.steps,
            attitude: matrix.transpose().into(),
            q_wxyz: last.attitude.q_wxyz(),
            omega_body: last.omega_body.into(),
            momentum_body: last.momentum_body.into(),
            momentum_space: last.momentum_space.into(),
            energy: last.energy,
            kinetic_energy: last.kinetic_energy,
            moving: last.moving.map(|m| Moving {
                position: m.position.into(),
                velocity: m.velocity.into(),
                linear_momentum_space: m.linear_momentum_space.into(),
            }),
            drift: Drift {
                energy: drift.energy.map(|e| e.max_abs()),
                momentum_space: drift.momentum_space,
                linear_momentum_space: drift.linear_momentum_space,
                momentum_body: drift.momentum_body,
                momentum_vertical: drift.momentum_vertical,
                momentum_axial: drift.momentum_axial,
            },
            energy_error: drift.energy.map(Energy::from),
            newton: Newton {
                iterations: work.iterations,
                per_step: run.iterations_per_step(),
                most: work.most_iterations,
                solves: work.solves,
                jacobians: work.jacobians,
                retries: work.retries,
            },
            error,
            no_reference: run.errors.as_ref().err().map(String::as_str),
            seconds: run.seconds,
            ns_per_step: run.ns_per_step(),
        }
    }
}
