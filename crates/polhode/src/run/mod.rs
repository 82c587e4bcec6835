//! The driver: time loop, observers, invariants and their drift, an estimate of the energy error, columns for
//! recorders.

mod estimate;
mod invariants;
mod plan;
mod snapshot;
mod switches;

pub use estimate::{EnergyEstimate, Estimate, StepEstimate};
pub use invariants::{Drift, EnergyError, EnergyRecord, Invariants};
pub use plan::{Plan, PlanError};
pub use snapshot::{BodySnapshot, Moving, Recorder, Snapshot, SystemSnapshot};
pub use switches::Switches;

use crate::body::{Body, Load, State};
use crate::group::Group;
use crate::method::{Method, Stepper, Steps};
use crate::solve::{StepError, Work};
use core::fmt;
use core::ops::ControlFlow;

/// How a run ended well: at its end time, or where the observer stopped it.
#[derive(Clone, Debug)]
pub struct Outcome<G: Group> {
    /// The last state.
    pub state: State<f64, G>,
    /// Its time.
    pub t: f64,
    /// Steps taken.
    pub steps: u64,
    /// Largest drift of each invariant over all steps.
    pub drift: Drift,
    /// What was spent.
    pub work: Work,
    /// False if the observer stopped the run.
    pub finished: bool,
}

/// How a run ended badly: the failed step, and everything up to the last good one.
#[derive(Clone, Debug)]
pub struct RunError<G: Group> {
    /// Why the next step failed.
    pub error: StepError,
    /// The run up to the last good step.
    pub last_good: Box<Outcome<G>>,
}

impl<G: Group> fmt::Display for RunError<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (good steps before it: {})", self.error, self.last_good.steps)
    }
}

impl<G: Group> std::error::Error for RunError<G> {}

/// Sees each step: its number, time and state. May stop the run.
pub type Observer<'a, G> = dyn FnMut(u64, f64, &State<f64, G>) -> ControlFlow<()> + 'a;

/// Steps a body through a plan with one method, landing on the times at which its load switches. The observer sees the
/// start, every step of the plan and the end; it may stop the run.
///
/// ```
/// use core::ops::ControlFlow;
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, NoLoad, RotaryInertia};
/// use polhode::group::{Rotation, So3};
/// use polhode::method::Method;
/// use polhode::run::{Plan, run};
///
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
/// let body = Body::<f64, So3, _> { inertia, load: NoLoad };
/// let start = body.state(Rotation::identity(), &Vector3::new(0.1, 1.0, 0.2));
/// let plan = Plan::new(0.05, 10.0)?;
/// let end = run(&body, &start, &Method::parse("akw")?, &plan, &mut |_, _, _| ControlFlow::Continue(()))?;
/// assert_eq!((end.t, end.steps), (10.0, 200));
/// assert!(end.drift.momentum_space < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run<G: Steps<f64>, L: Load<f64>>(
    body: &Body<f64, G, L>,
    start: &State<f64, G>,
    method: &Method,
    plan: &Plan,
    observer: &mut Observer<'_, G>,
) -> Result<Outcome<G>, RunError<G>> {
    let (mut stepper, switches) = (Stepper::<f64, G>::new(method), Switches::of(&body.load));
    let mut t = plan.time(0);
    let mut invariants = Invariants::new(body, start, t);
    let mut state = *start;
    let mut flow = observer(0, t, &state);
    let mut n = 0;
    let mut failure = None;
    while n < plan.steps() && flow.is_continue() {
        match switches.step(&mut stepper, body, &state, t, plan.size(n)) {
            Ok(next) => state = next,
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
        n += 1;
        t = plan.time(n);
        invariants.update(body, &state, t);
        if let Some(quantity) = invariants.overflow() {
            failure = Some(StepError::Overflow { quantity: quantity.into(), t });
            break;
        }
        flow = observer(n, t, &state);
    }
    let outcome = Outcome {
        state,
        t,
        steps: n,
        drift: invariants.drift(),
        work: stepper.work,
        finished: n == plan.steps(),
    };
    match failure {
        Some(error) => Err(RunError { error, last_good: Box::new(outcome) }),
        None => Ok(outcome),
    }
}
