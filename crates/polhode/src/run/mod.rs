//! Runs: one body or a system under way, the loop that drives them, invariants and their drift, an estimate of the energy
//! error, columns for recorders.

mod abreast;
mod estimate;
mod events;
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
mod watched;

pub(crate) use abreast::one;
pub use abreast::{ABREAST, Watcher, drive_abreast, goes_abreast};
pub use estimate::{EnergyEstimate, Estimate, StepEstimate};
pub use events::{Direction, Event, Occurrence};
pub use invariants::{Drift, DriftError, EnergyError, EnergyRecord, Invariants};
pub use one_body::{BodyRun, Turning};
pub use plan::{Clock, Landing, Plan, PlanError};
pub use quantity::{Column, Facts, Item, Owner, Quantity, Shape, Value};
pub use saved::{RestoreError, Saved};
pub use snapshot::{Bodies, BodySnapshot, JointSnapshot, Names, Recorder, Snapshot, Translation};
pub use switches::Switches;
pub(crate) use system::Face;
pub use system::SystemRun;
pub use watched::Watched;

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
    /// The same but for what follows from forces, see [`Run::needs_forces`], which may not be a number in it. Less work where joints
    /// depend on each other, and under methods for systems whose steps have no accelerations of one time.
    fn motion(&self) -> Snapshot {
        self.snapshot()
    }
    /// True if a quantity follows from forces: accelerations, what joints do, and outputs of these.
    fn needs_forces(&self, item: &Item) -> bool {
        item.quantity.needs_forces()
    }
    /// The numbers of the columns of that, appended to `row`: less work than a snapshot where nothing else of it is wanted.
    fn row(&self, row: &mut Vec<f64>) {
        self.snapshot().row(row);
    }
    /// All that can be said of it at a time within the last step, by interpolation on the group from both ends of it, or
    /// nothing outside of it or before the first.
    ///
    /// Of one body under a one-step method, whose accelerations follow from its load, poses are off by O(h⁶) and velocities
    /// by O(h⁵), which adds nothing to methods of up to fifth order. Of systems, poses are off by O(h⁴), velocities by O(h³)
    /// and accelerations and reactions by O(h²), which adds nothing to their methods of second order. Steps of more than
    /// half a turn show too little of what is between, and so do those with a switch of a load inside.
    ///
    /// ```
    /// use polhode::{method::Method, problem::Problem, run::begin};
    /// let model = Problem::named("slow-top")?.model()?;
    /// let mut run = begin(model.system(), &Method::parse("mkrk:rk4")?)?;
    /// assert!(run.between(0.0).is_none());
    /// run.step(0.01, 0.01)?;
    /// let seen = run.between(0.004).ok_or("within the step")?;
    /// let mut other = begin(model.system(), &Method::parse("mkrk:rk4")?)?;
    /// other.step(0.004, 0.004)?;
    /// let (a, b) = (seen.bodies[0].attitude, other.snapshot().bodies[0].attitude);
    /// assert!(a.distance(&b) < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn between(&mut self, _t: f64) -> Option<Snapshot> {
        None
    }
    /// True if it comes to a time within the last step by [`Run::land`]; false if a shorter step leads there.
    ///
    /// Generalized-alpha methods correct in each step what positions are off by, and in a short step after longer ones that takes
    /// accelerations and reactions out of all proportion.
    fn lands_between(&self) -> bool {
        false
    }
    /// Goes back from the end of the last step to a time within it, as [`Run::between`] shows it, and stays there for what
    /// is read off it; `before` is what was saved where the step began.
    fn land(&mut self, _before: &Saved, _t: f64) -> Result<(), RestoreError> {
        Err(RestoreError::Unsupported)
    }
    /// True if it has come to an end of its own, as one of the events of [`Watched`] may say.
    fn ended(&self) -> bool {
        false
    }
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
        let mut saved = Saved::default();
        self.save_in(&mut saved).map(|()| saved)
    }
    /// The same in the place of what was saved before, whose room it takes.
    fn save_in(&mut self, _saved: &mut Saved) -> Result<(), RestoreError> {
        Err(RestoreError::Unsupported)
    }
    /// Goes on from what was saved. After an error all is as it was.
    fn restore(&mut self, _saved: &Saved) -> Result<(), RestoreError> {
        Err(RestoreError::Unsupported)
    }
    /// To be told where a load has jumped, as one does that a controller sets: what is carried from step to step, as
    /// accelerations are, belongs to the load before.
    fn loads_changed(&mut self) -> Result<(), StepError> {
        Ok(())
    }
    /// The run of a body about a fixed point that this one is, for [`drive_abreast`]; nothing of any other run, and of one that
    /// has to see each of its steps.
    fn turning(&mut self) -> Option<&mut Turning> {
        None
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

/// The size of a step and the part of it that is over at a time in it.
fn part(from: f64, to: f64, t: f64) -> Option<(f64, f64)> {
    let h = to - from;
    let inside = h != 0.0 && (from.min(to)..=from.max(to)).contains(&t);
    inside.then(|| (h, (t - from) / h))
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
    /// False if the observer stopped the run before its end, and before an event did.
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
/// clock and the end; it may stop the run, and so may the run itself ([`Run::ended`]). After a failed step the run is where
/// the last good one left it.
pub fn drive<R: Run + ?Sized>(
    run: &mut R,
    clock: &dyn Clock,
    observer: &mut Observer<'_, R>,
) -> Result<RunReport, RunFailure> {
    match observer(0, run) {
        ControlFlow::Continue(()) => drive_on(run, clock, 0, observer),
        ControlFlow::Break(()) => ended(run, 0, false, None),
    }
}

/// The same for a run that has so many steps behind it, as one that was restored has: the observer sees those to come.
pub fn drive_on<R: Run + ?Sized>(
    run: &mut R,
    clock: &dyn Clock,
    steps: u64,
    observer: &mut Observer<'_, R>,
) -> Result<RunReport, RunFailure> {
    let went = stretch(run, clock, steps, clock.steps(), observer);
    let finished = went.steps == clock.steps() || run.ended();
    ended(run, went.steps, finished, went.failure)
}

/// How far a run went.
#[derive(Clone, Debug)]
struct Stretch {
    /// The steps behind it.
    steps: u64,
    /// Whether the observer wants it to go on.
    flow: ControlFlow<()>,
    /// Why it could not.
    failure: Option<StepError>,
}

impl Stretch {
    /// True if nothing is in its way.
    fn goes_on(&self) -> bool {
        self.flow.is_continue() && self.failure.is_none()
    }
}

/// Goes from the end of one step to that of another, as far as that goes.
fn stretch<R: Run + ?Sized>(
    run: &mut R,
    clock: &dyn Clock,
    from: u64,
    to: u64,
    observer: &mut Observer<'_, R>,
) -> Stretch {
    let (mut n, mut flow) = (from, ControlFlow::Continue(()));
    while n < to && flow.is_continue() && !run.ended() {
        if let Err(error) = run.step(clock.size(n), clock.time(n + 1)) {
            return Stretch { steps: n, flow, failure: Some(error) };
        }
        n += 1;
        if let Some(quantity) = run.overflow() {
            let failure = StepError::Overflow { quantity: quantity.into(), t: run.time() };
            return Stretch { steps: n, flow, failure: Some(failure) };
        }
        flow = observer(n, run);
    }
    Stretch { steps: n, flow, failure: None }
}

/// How a run ended after so many steps.
fn ended<R: Run + ?Sized>(
    run: &R,
    steps: u64,
    finished: bool,
    failure: Option<StepError>,
) -> Result<RunReport, RunFailure> {
    let ended = RunReport {
        last: run.snapshot(),
        steps,
        drift: run.drift(),
        work: run.work(),
        finished,
        joints: run.joints(),
    };
    match failure {
        Some(error) => Err(RunFailure { error, last_good: Box::new(ended) }),
        None => ended.checked(),
    }
}
