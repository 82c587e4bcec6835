//! Single bodies: the steps of any one-step method with their derivatives.

use super::{D, Observer, Seen, SensitivityFailure};
use crate::body::{Body, Loads, State};
use crate::group::{Group, So3};
use crate::method::{Derived, DerivedSteps, Method};
use crate::problem::cases::{Case, Cases};
use crate::run::{Plan, Snapshot};
use crate::scalar::Dual;
use crate::solve::StepError;

/// Refuses a method that has no derivatives.
pub(super) fn check(method: &Method) -> Result<(), StepError> {
    Derived::<So3>::new(method, 0).map(|_| ())
}

/// Runs a body with its derivatives.
pub(super) fn run(
    method: &Method,
    plain: Cases<f64>,
    varied: Vec<Cases<D>>,
    plan: &Plan,
    observer: &mut Observer<'_>,
) -> Result<(), SensitivityFailure> {
    match plain {
        Cases::Rotation(case) => {
            let varied =
                varied.into_iter().filter_map(|c| if let Cases::Rotation(c) = c { Some(c) } else { None });
            run_on(method, &case, &varied.collect::<Vec<_>>(), plan, observer)
        }
        Cases::Motion(case) => {
            let varied =
                varied.into_iter().filter_map(|c| if let Cases::Motion(c) = c { Some(c) } else { None });
            run_on(method, &case, &varied.collect::<Vec<_>>(), plan, observer)
        }
        Cases::System(_) => Err(SensitivityFailure { error: StepError::NeedsSystem.into(), steps: 0 }),
    }
}

fn run_on<G: DerivedSteps>(
    method: &Method,
    case: &Case<f64, G>,
    varied: &[Case<D, G>],
    plan: &Plan,
    observer: &mut Observer<'_>,
) -> Result<(), SensitivityFailure> {
    let failed = |steps: u64| move |error: StepError| SensitivityFailure { error: error.into(), steps };
    let bodies: Vec<Body<D, G, Loads<D>>> = varied.iter().map(|c| c.body.clone()).collect();
    let mut states: Vec<State<D, G>> = varied.iter().map(|c| c.start).collect();
    let mut state = case.start;
    let mut stepper = Derived::<G>::new(method, varied.len()).map_err(failed(0))?;
    let mut n = 0;
    let mut flow = observer(n, &mut Single { case, varied, state: &state, states: &states, t: plan.time(n) });
    while n < plan.steps() && flow.is_continue() {
        state = stepper
            .step(&case.body, &bodies, &state, &mut states, plan.time(n), plan.size(n))
            .map_err(failed(n))?;
        n += 1;
        flow = observer(n, &mut Single { case, varied, state: &state, states: &states, t: plan.time(n) });
    }
    Ok(())
}

struct Single<'a, G: Group> {
    case: &'a Case<f64, G>,
    varied: &'a [Case<D, G>],
    state: &'a State<f64, G>,
    states: &'a [State<D, G>],
    t: f64,
}

impl<G: Group> Seen for Single<'_, G> {
    fn values(&self) -> Snapshot {
        self.case.snapshot(self.state, self.t)
    }
    fn derivative(&mut self, parameter: usize) -> Snapshot<D> {
        self.varied[parameter].snapshot(&self.states[parameter], Dual::constant(self.t))
    }
}
