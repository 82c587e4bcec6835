//! Runs: one body or a system under way, the loop that drives them, invariants and their drift, an estimate of the energy
//! error, columns for recorders.

mod estimate;
mod invariants;
pub mod kinematic;
mod one_body;
mod plan;
mod quantity;
mod saved;
mod snapshot;
mod switches;
mod system;
mod tracked;

pub use estimate::{EnergyEstimate, Estimate, StepEstimate};
pub use invariants::{Drift, DriftError, EnergyError, EnergyRecord, Invariants};
pub use one_body::BodyRun;
pub use plan::{Clock, Landing, Plan, PlanError};
pub use quantity::{Column, Facts, Item, Owner, Quantity, Shape, Value};
pub use saved::{RestoreError, Saved};
pub use snapshot::{Bodies, BodySnapshot, JointSnapshot, Names, Recorder, Snapshot, Translation};
pub use switches::Switches;
pub(crate) use system::Face;
pub use system::SystemRun;

use crate::method::Method;
use crate::multibody::{Assembly, Reduction, SimulationError, System, Violation};
use crate::solve::{StepError, Work};
use core::fmt;
use core::ops::ControlFlow;
use std::sync::Arc;

/// Something that moves, with all that its next step needs.
pub trait Run: Send {
    /// Time.
    fn time(&self) -> f64;
    /// One step of size `h`, which ends at the time `to`: the sum of steps loses it by rounding. After an error all is as it
    /// was.
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError>;
    /// All that can be said of it now.
    fn snapshot(&self) -> Snapshot;
    /// All that influences the rest of it, to be gone on with by [`Run::restore`] in a run of the same model and method,
    /// wherever that is: it gives the bits of the undisturbed run.
    ///
    /// ```
    /// use polhode::{method::Method, problem::Problem, run::begin};
    /// let model = Problem::named("four-bar")?.model()?;
    /// let method = Method::parse("linear-alpha")?;
    /// let mut run = begin(model.system(), &method)?;
    /// (1..=10).try_for_each(|n| run.step(1e-3, 1e-3 * f64::from(n)))?;
    /// let mut other = begin(model.system(), &method)?;
    /// other.restore(&run.save()?)?;
    /// for n in 11..=20 {
    ///     run.step(1e-3, 1e-3 * f64::from(n))?;
    ///     other.step(1e-3, 1e-3 * f64::from(n))?;
    /// }
    /// assert_eq!(run.snapshot(), other.snapshot());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn save(&mut self) -> Result<Saved, RestoreError> {
        Err(RestoreError::Unsupported)
    }
    /// Goes on from what was saved. After an error all is as it was.
    fn restore(&mut self, _saved: &Saved) -> Result<(), RestoreError> {
        Err(RestoreError::Unsupported)
    }
    /// What was spent so far.
    fn work(&self) -> Work;
    /// The largest drift of each invariant so far.
    fn drift(&self) -> Drift {
        Drift::default()
    }
    /// What has become infinite, if something has: the run may go on, but its results mean nothing.
    fn overflow(&self) -> Option<&'static str> {
        None
    }
    /// How well joints were kept so far, of a system that has some.
    fn joints(&self) -> Option<Joints> {
        None
    }
    /// Estimates the energy error of each step from now on, of one body by itself; false if this is another run.
    fn estimate_energy(&mut self) -> bool {
        false
    }
    /// The estimate, if it was asked for.
    fn energy_estimate(&self) -> Option<&EnergyEstimate> {
        None
    }
}

/// How well the joints of a system were kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Joints {
    /// The largest violation over the run.
    pub violation: Violation,
    /// What it took to make the initial values consistent.
    pub assembly: Assembly,
    /// How many motions they and drives leave.
    pub degrees_of_freedom: usize,
    /// The work so far of what stores no energy, in J, where there is such: motors, drives, dampers, loads without a
    /// potential. The energy that drifts is that without it.
    pub work: Option<f64>,
    /// How far rounding lets reactions be off, in N, see [`crate::multibody::Simulation::reaction_rounding`].
    pub reaction_rounding: f64,
}

/// How a run ended, in plain numbers.
#[derive(Clone, Debug)]
pub struct RunReport {
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

impl RunReport {
    /// The same, or an error that names the first of its numbers that is not finite.
    fn checked(self) -> Result<RunReport, RunFailure> {
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
                Err(RunFailure { error, last_good: Box::new(self) })
            }
        }
    }
}

/// A run whose next step failed.
#[derive(Clone, Debug)]
pub struct RunFailure {
    /// Why.
    pub error: StepError,
    /// The run up to the last good step.
    pub last_good: Box<RunReport>,
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (good steps before it: {})", self.error, self.last_good.steps)
    }
}

impl std::error::Error for RunFailure {}

/// Sees each step by its number, and the run as it is then; may stop it.
pub type Observer<'a, R> = dyn FnMut(u64, &mut R) -> ControlFlow<()> + 'a;

/// A system under way: under a one-step method as the body that it is, under a method for systems as a whole.
///
/// ```
/// use core::ops::ControlFlow;
/// use polhode::{method::Method, problem::Problem, run::{Plan, begin, drive}};
/// let model = Problem::named("double-pendulum")?.model()?;
/// let mut run = begin(model.system(), &Method::parse("linear-alpha")?)?;
/// let end = drive(&mut *run, &Plan::new(1e-2, 1.0)?, &mut |_, _| ControlFlow::Continue(()))?;
/// assert!(end.joints.is_some_and(|joints| joints.violation.position < 1e-13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn begin(system: &Arc<System<f64>>, method: &Method) -> Result<Box<dyn Run>, SimulationError> {
    if method.system().is_some() {
        return Ok(Box::new(SystemRun::new(system, method)?));
    }
    match system.reduction() {
        Some(Reduction::Rotation(reduced)) => Ok(Box::new(BodyRun::of(&reduced, system, method))),
        Some(Reduction::Motion(reduced)) => Ok(Box::new(BodyRun::of(&reduced, system, method))),
        None => Err(SimulationError::Method { id: method.id().into() }),
    }
}

/// Steps a run by a clock: a plan, or one that lands on given times too. The observer sees the start, every step of the
/// clock and the end; it may stop the run. After a failed step the run is where the last good one left it.
pub fn drive<R: Run + ?Sized>(
    run: &mut R,
    clock: &dyn Clock,
    observer: &mut Observer<'_, R>,
) -> Result<RunReport, RunFailure> {
    let mut flow = observer(0, run);
    let (mut n, mut failure) = (0, None);
    while n < clock.steps() && flow.is_continue() {
        if let Err(error) = run.step(clock.size(n), clock.time(n + 1)) {
            failure = Some(error);
            break;
        }
        n += 1;
        if let Some(quantity) = run.overflow() {
            failure = Some(StepError::Overflow { quantity: quantity.into(), t: run.time() });
            break;
        }
        flow = observer(n, run);
    }
    let ended = RunReport {
        last: run.snapshot(),
        steps: n,
        drift: run.drift(),
        work: run.work(),
        finished: n == clock.steps(),
        joints: run.joints(),
    };
    match failure {
        Some(error) => Err(RunFailure { error, last_good: Box::new(ended) }),
        None => ended.checked(),
    }
}
