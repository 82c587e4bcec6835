//! A problem ready to run, and how a run of it ends.

use super::catalogue::{Kind, Problem};
use crate::group::{Group, Se3, So3};
use crate::method::Method;
use crate::multibody::{Reduction, Simulation, SimulationError, System};
use crate::reference::SteadyPrecession;
use crate::run::{Drift, Face, Observer, Plan, Run, RunFailure, RunReport, Snapshot, begin, drive};
use crate::solve::{StepError, Work};
use core::fmt;
use nalgebra::Vector3;
use std::sync::Arc;

/// Why the data of a problem are invalid.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The problem.
    pub problem: &'static str,
    /// The datum that is wrong.
    pub datum: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.problem, self.datum, self.reason)
    }
}

impl std::error::Error for ModelError {}

/// A problem ready to run: a system, and how its exact motion is known.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) kind: Kind,
    system: Arc<System<f64>>,
    pub(super) reduction: Option<Reduction<f64>>,
    /// Rotation vector of the initial attitude of one body, where it was given so.
    pub(super) psi: Option<Vector3<f64>>,
    /// The motion, where the start was made for it.
    pub(super) steady: Option<SteadyPrecession>,
    start: Box<Snapshot>,
}

impl Problem {
    /// Checks the data and makes the system.
    pub fn model(&self) -> Result<Model, ModelError> {
        self.model_with(&|_| 0.0)
    }
    /// The same with a change of each parameter, by its number.
    pub(super) fn model_with(&self, change: &dyn Fn(usize) -> f64) -> Result<Model, ModelError> {
        let wrong = |reason| ModelError { problem: self.id, datum: "data", reason };
        let built = self.built(change)?;
        let system = Arc::new(built.system);
        let reduction = system.reduction();
        // Initial values are tried out where joints ask something of them.
        let tried = match system.joints() {
            [] => None,
            _ => Some(Simulation::check(system.clone()).map_err(|error| wrong(error.to_string()))?),
        };
        let start = match (&reduction, tried) {
            (Some(Reduction::Rotation(one)), _) => {
                Snapshot::of_body(&one.body, one.origin.as_ref(), &one.start, 0.0)
            }
            (Some(Reduction::Motion(one)), _) => Snapshot::of_body(&one.body, None, &one.start, 0.0),
            (None, Some(simulation)) => Face::of(&system).snapshot(&simulation),
            (None, None) => return Err(wrong("the system has no start".into())),
        };
        if let Some(quantity) = start.overflow() {
            return Err(wrong(format!("{quantity} is not finite at the start; use smaller numbers")));
        }
        let (psi, steady) = (built.psi, built.steady);
        Ok(Model { kind: self.kind, system, reduction, psi, steady, start: Box::new(start) })
    }
}

impl Model {
    /// The system.
    pub fn system(&self) -> &Arc<System<f64>> {
        &self.system
    }
    /// `so3` for a body about a fixed point, `se3` for one in flight, `system` for everything else.
    pub fn group(&self) -> &'static str {
        match &self.reduction {
            Some(Reduction::Rotation(_)) => So3::NAME,
            Some(Reduction::Motion(_)) => Se3::NAME,
            None => "system",
        }
    }
    /// True if the loads were made to produce a motion that is known.
    pub fn follows_motion(&self) -> bool {
        self.system.follows_motion()
    }
    /// The start.
    pub fn start(&self) -> Snapshot {
        (*self.start).clone()
    }
    /// A run of it, at its start.
    pub fn begin(&self, method: &Method) -> Result<Box<dyn Run>, RunFailure> {
        begin(&self.system, method).map_err(|error| {
            let error = match error {
                SimulationError::Method { .. } => StepError::NeedsSystem,
                error => StepError::NoStart { reason: error.to_string() },
            };
            let unbegun = RunReport {
                last: self.start(),
                steps: 0,
                drift: Drift::default(),
                work: Work::default(),
                finished: false,
                joints: None,
            };
            RunFailure { error, last_good: Box::new(unbegun) }
        })
    }
    /// Runs it. The observer sees step numbers from 0 on and the run, of which it may ask everything.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use polhode::{method::Method, problem::Problem, run::{Plan, Recorder}};
    /// let model = Problem::named("fast-top")?.model()?;
    /// let mut recorder = Recorder::every(10);
    /// let end = model.run(&Method::parse("imidm")?, &Plan::new(1e-3, 0.1)?, &mut |n, run| {
    ///     recorder.observe(n, &run.snapshot());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(end.steps, 100);
    /// assert_eq!(recorder.column("t").map(|t| t.len()), Some(11));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        method: &Method,
        plan: &Plan,
        observer: &mut Observer<'_, dyn Run>,
    ) -> Result<RunReport, RunFailure> {
        drive(&mut *self.begin(method)?, plan, observer)
    }
}
