//! Parts that the JSON of several commands shares.

use polhode::multibody::Violation;
use polhode::problem::{Errors, RunReport};
use serde::Serialize;

/// The largest drift of each quantity.
#[derive(Debug, Serialize)]
pub struct Drift {
    energy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    momentum_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linear_momentum_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    momentum_body: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    momentum_vertical: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    momentum_axial: Option<f64>,
}

impl Drift {
    /// That of a run.
    pub fn new(end: &RunReport) -> Self {
        let drift = &end.drift;
        Drift {
            energy: drift.energy.map(|e| e.max_abs()),
            momentum_space: drift.momentum_space,
            linear_momentum_space: drift.linear_momentum_space,
            momentum_body: drift.momentum_body,
            momentum_vertical: drift.momentum_vertical,
            momentum_axial: drift.momentum_axial,
        }
    }
}

/// The work of Newton's method.
#[derive(Debug, Serialize)]
pub struct Newton {
    iterations: u64,
    per_step: f64,
    most: u64,
    solves: u64,
    jacobians: u64,
    retries: u64,
}

impl From<&RunReport> for Newton {
    fn from(end: &RunReport) -> Self {
        let work = &end.work;
        Newton {
            iterations: work.iterations,
            per_step: iterations_per_step(end),
            most: work.most_iterations,
            solves: work.solves,
            jacobians: work.jacobians,
            retries: work.retries,
        }
    }
}

/// Newton iterations in a step, on average.
pub fn iterations_per_step(end: &RunReport) -> f64 {
    end.work.iterations as f64 / end.steps.max(1) as f64
}

/// The distance from the reference at the end.
#[derive(Debug, Serialize)]
pub struct Error<'a> {
    attitude: f64,
    attitude_angle: f64,
    attitude_frobenius: f64,
    momentum: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position_relative: Option<f64>,
    source: &'a str,
}

impl<'a> Error<'a> {
    /// With the name of the reference.
    pub fn new(errors: &Errors, source: &'a str) -> Self {
        Error {
            attitude: errors.attitude,
            attitude_angle: errors.attitude_angle(),
            attitude_frobenius: errors.attitude_frobenius(),
            momentum: errors.momentum,
            position: errors.position,
            position_relative: errors.position_relative,
            source,
        }
    }
}

/// How far joints were from closed, at most: positions in m, velocities in m/s.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Constraints {
    position: f64,
    velocity: f64,
}

impl From<Violation> for Constraints {
    fn from(Violation { position, velocity }: Violation) -> Self {
        Constraints { position, velocity }
    }
}
