//! A problem ready to run, and how a run of it ends.

use super::cases::{Case, Cases};
use super::catalogue::{Kind, Problem};
use super::given::Given;
use super::jointed::snapshot;
use crate::body::{Load, State};
use crate::group::{Group, Se3, So3};
use crate::method::{Method, Steps};
use crate::multibody::{Assembly, Simulation, System, Violation};
use crate::reference::SteadyPrecession;
use crate::run::{Drift, EnergyEstimate, Outcome, Plan, Snapshot, StepEstimate, run};
use crate::solve::{StepError, Work};
use core::fmt;
use core::ops::ControlFlow;

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

/// A problem ready to run.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) kind: Kind,
    pub(super) cases: Cases<f64>,
    /// The motion, where the start was made for it.
    pub(super) steady: Option<SteadyPrecession>,
    /// A body on a fixed point as one on a joint, with the coordinates of its centre of mass.
    pub(super) jointed: Option<System<f64>>,
    start: Box<Snapshot>,
}

/// How a run ended, in plain numbers.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The last state.
    pub last: Snapshot,
    /// Steps taken.
    pub steps: u64,
    /// Largest drift of each invariant.
    pub drift: Drift,
    /// What was spent.
    pub work: Work,
    /// False if the observer stopped the run.
    pub finished: bool,
    /// What the joints of a system had to bear.
    pub joints: Option<Joints>,
}

impl Ended {
    /// The same, or an error that names the first of its numbers that is not finite.
    pub(super) fn checked(self) -> Result<Ended, Failed> {
        let joints = self.joints.as_ref().map_or(0.0, |j| j.violation.position + j.violation.velocity);
        let quantity = match self.last.overflow() {
            Some(column) => Some(column),
            None if !joints.is_finite() => Some("the violation of the joints".into()),
            None => self.drift.overflow().map(String::from),
        };
        match quantity {
            None => Ok(self),
            Some(quantity) => {
                let error = StepError::Overflow { quantity, t: self.last.t };
                Err(Failed { error, last_good: Box::new(self) })
            }
        }
    }
}

/// How well the joints of a system were kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Joints {
    /// The largest violation over the run.
    pub violation: Violation,
    /// What it took to make the initial values consistent.
    pub assembly: Assembly,
}

/// A run whose next step failed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Why.
    pub error: StepError,
    /// The run up to the last good step.
    pub last_good: Box<Ended>,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (good steps before it: {})", self.error, self.last_good.steps)
    }
}

impl std::error::Error for Failed {}

/// Sees each step by its number, and its snapshot if it asks; may stop the run.
pub type Observer<'a> = dyn FnMut(u64, &dyn Fn() -> Snapshot) -> ControlFlow<()> + 'a;

impl Problem {
    /// Checks the data and makes the body and its start.
    pub fn model(&self) -> Result<Model, ModelError> {
        self.model_with(&|_| 0.0)
    }
    /// The same with a change of each parameter, by its number.
    pub(super) fn model_with(&self, change: &dyn Fn(usize) -> f64) -> Result<Model, ModelError> {
        let wrong = |reason| ModelError { problem: self.id, datum: "data", reason };
        let (given, kind) = (Given::new(self, change), self.kind);
        if kind == Kind::Cone {
            let (case, steady) = given.complete(given.cone())?;
            let start = Box::new(case.snapshot(&case.start, 0.0));
            return Ok(Model {
                kind,
                cases: Cases::Rotation(case),
                steady: Some(steady),
                jointed: None,
                start,
            });
        }
        let system = given.complete(given.system())?;
        // Its initial values are tried out.
        let simulation = system.as_ref().map(Simulation::check).transpose();
        let of_system = simulation.map_err(|error| wrong(error.to_string()))?.map(|s| snapshot(&s, false));
        let (cases, jointed) = match system {
            Some(system) if kind != Kind::HeavyTop => (Cases::System(system), None),
            top => (self.cases(change)?, top),
        };
        let start = match &cases {
            Cases::Rotation(c) => Some(c.snapshot(&c.start, 0.0)),
            Cases::Motion(c) => Some(c.snapshot(&c.start, 0.0)),
            Cases::System(_) => of_system,
        };
        let start = start.ok_or_else(|| wrong("the system has no start".into()))?;
        if let Some(quantity) = start.overflow() {
            return Err(wrong(format!("{quantity} is not finite at the start; use smaller numbers")));
        }
        Ok(Model { kind, cases, steady: None, jointed, start: Box::new(start) })
    }
}

impl<G: Steps<f64>> Case<f64, G> {
    fn run(
        &self,
        method: &Method,
        plan: &Plan,
        mut estimate: Option<&mut EnergyEstimate>,
        observer: &mut Observer<'_>,
    ) -> Result<Ended, Failed> {
        let ended = |o: Outcome<G>| Ended {
            last: self.snapshot(&o.state, o.t),
            steps: o.steps,
            drift: o.drift,
            work: o.work,
            finished: o.finished,
            joints: None,
        };
        let mut before = self.start;
        let potential = self.body.potential_energy(&self.start, plan.time(0));
        let mut seen = estimate.as_ref().and(potential).map(|_| StepEstimate::default());
        let mut overflow = None;
        let mut watch = |n: u64, t: f64, state: &State<f64, G>| {
            if let (Some(estimate), Some(k)) = (&mut estimate, n.checked_sub(1)) {
                seen = estimate.observe(&self.body, &before, plan.time(k), plan.size(k), state);
                before = *state;
                if !estimate.is_finite() {
                    let quantity = "the estimate of the energy error".into();
                    overflow = Some(StepError::Overflow { quantity, t });
                    return ControlFlow::Break(());
                }
            }
            observer(n, &|| Snapshot { estimate: seen, ..self.snapshot(state, t) })
        };
        match (run(&self.body, &self.start, method, plan, &mut watch), overflow) {
            (Ok(outcome), None) => ended(outcome).checked(),
            (Ok(outcome), Some(error)) => Err(Failed { error, last_good: Box::new(ended(outcome)) }),
            (Err(e), _) => Err(Failed { error: e.error, last_good: Box::new(ended(*e.last_good)) }),
        }
    }
}

impl Model {
    /// `so3` or `se3`.
    pub fn group(&self) -> &'static str {
        match &self.cases {
            Cases::Rotation(_) => So3::NAME,
            Cases::Motion(_) => Se3::NAME,
            Cases::System(_) => "system",
        }
    }
    /// True if the loads were made to produce a motion that is known.
    pub fn follows_motion(&self) -> bool {
        match &self.cases {
            Cases::System(_) => false,
            Cases::Rotation(c) => c.body.load.motion(0.0).is_some(),
            Cases::Motion(c) => c.body.load.motion(0.0).is_some(),
        }
    }
    /// The start.
    pub fn start(&self) -> Snapshot {
        (*self.start).clone()
    }
    /// A run that has not begun.
    pub(super) fn unbegun(&self) -> Ended {
        Ended {
            last: self.start(),
            steps: 0,
            drift: Drift::default(),
            work: Work::default(),
            finished: false,
            joints: None,
        }
    }
    /// Runs it. The observer sees step numbers from 0 on and may ask for the snapshot of each.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use polhode::{method::Method, problem::Problem, run::{Plan, Recorder}};
    /// let model = Problem::named("fast-top")?.model()?;
    /// let mut recorder = Recorder::every(10);
    /// let end = model.run(&Method::parse("imidm")?, &Plan::new(1e-3, 0.1)?, &mut |n, snapshot| {
    ///     recorder.observe(n, &snapshot());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(end.steps, 100);
    /// assert_eq!(recorder.column("t").map(|t| t.len()), Some(11));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, method: &Method, plan: &Plan, observer: &mut Observer<'_>) -> Result<Ended, Failed> {
        if method.alpha().is_some() || matches!(self.cases, Cases::System(_)) {
            return self.run_jointed(method, plan, observer);
        }
        match &self.cases {
            Cases::Rotation(c) => c.run(method, plan, None, observer),
            Cases::Motion(c) => c.run(method, plan, None, observer),
            Cases::System(_) => self.run_jointed(method, plan, observer),
        }
    }
    /// Runs it and shows each step to an estimate of the energy error, whose steps are in the snapshots.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use polhode::{method::Method, problem::Problem, run::{EnergyEstimate, Plan}};
    /// let model = Problem::named("spinning-top")?.model()?;
    /// let mut estimate = EnergyEstimate::new();
    /// let (method, plan) = (Method::parse("bbtrapwd")?, Plan::new(1e-3, 0.5)?);
    /// model.run_estimated(&method, &plan, &mut estimate, &mut |_, _| ControlFlow::Continue(()))?;
    /// assert_eq!(estimate.report().map(|seen| (seen.steps, seen.bounded)), Some((500, 500)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_estimated(
        &self,
        method: &Method,
        plan: &Plan,
        estimate: &mut EnergyEstimate,
        observer: &mut Observer<'_>,
    ) -> Result<Ended, Failed> {
        match &self.cases {
            Cases::Rotation(c) => c.run(method, plan, Some(estimate), observer),
            Cases::Motion(c) => c.run(method, plan, Some(estimate), observer),
            Cases::System(_) => self.run_jointed(method, plan, observer),
        }
    }
}
