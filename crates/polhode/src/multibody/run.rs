//! The driver of a system: time loop, observer, energy and violation of the joints.

use super::simulation::{Simulation, Violation};
use crate::run::{BodySnapshot, EnergyRecord, Plan, SystemSnapshot};
use crate::scalar::{Scalar, larger};
use crate::solve::StepError;
use core::ops::ControlFlow;

/// How a run of a system went, to its end or up to the last good step.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Time reached.
    pub t: f64,
    /// Steps taken.
    pub steps: u64,
    /// The energy over all steps, where the exact motion keeps it. The potential of a mechanism has an arbitrary zero: see
    /// [`EnergyRecord::error_of_motion`].
    pub energy: EnergyRecord,
    /// The largest violation of the joints over all steps.
    pub violation: Violation,
    /// False if the observer stopped the run.
    pub finished: bool,
}

/// Steps a simulation through a plan. The observer sees the start, every step and the end; it may stop the run. After a
/// failed step the simulation is where the last good one left it.
///
/// ```
/// use core::ops::ControlFlow;
/// use polhode::{method::Method, multibody::{Simulation, run}, problem::Problem, run::Plan};
/// let model = Problem::named("double-pendulum")?.model()?;
/// let system = model.system().ok_or("a system")?;
/// let mut simulation = Simulation::new(system, &Method::parse("linear-alpha")?)?;
/// let (end, failed) = run(&mut simulation, &Plan::new(1e-2, 1.0)?, &mut |_, _| ControlFlow::Continue(()));
/// assert!(failed.is_none() && end.violation.position < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    simulation: &mut Simulation<'_, f64>,
    plan: &Plan,
    observer: &mut dyn FnMut(u64, &Simulation<'_, f64>) -> ControlFlow<()>,
) -> (Outcome, Option<StepError>) {
    let kept = simulation.keeps_energy();
    let energy_of = |simulation: &Simulation<'_, f64>| kept.then(|| simulation.energy());
    let mut energy = EnergyRecord::new(energy_of(simulation), simulation.kinetic_energy());
    let mut violation = simulation.violation();
    let mut flow = observer(0, simulation);
    let (mut n, mut failure) = (0, None);
    while n < plan.steps() && flow.is_continue() {
        if let Err(error) = simulation.step(plan.size(n)) {
            failure = Some(error);
            break;
        }
        n += 1;
        simulation.set_time(plan.time(n));
        energy.update(energy_of(simulation), simulation.kinetic_energy());
        let now = simulation.violation();
        violation.position = larger(violation.position, now.position);
        violation.velocity = larger(violation.velocity, now.velocity);
        let overflow = match () {
            _ if !simulation.energy().is_finite() => Some("the energy"),
            _ if energy.error_of_motion().is_some_and(|e| !e.is_finite()) => Some("the energy error"),
            _ if !(violation.position + violation.velocity).is_finite() => {
                Some("the violation of the joints")
            }
            _ => None,
        };
        if let Some(quantity) = overflow {
            failure = Some(StepError::Overflow { quantity: quantity.into(), t: plan.time(n) });
            break;
        }
        flow = observer(n, simulation);
    }
    let outcome = Outcome { t: plan.time(n), steps: n, energy, violation, finished: n == plan.steps() };
    (outcome, failure)
}

impl<S: Scalar> Simulation<'_, S> {
    /// All bodies, multipliers and extra coordinates.
    pub fn snapshot(&self) -> SystemSnapshot<S> {
        let system = self.system();
        let bodies = system.bodies().iter().zip(self.bodies()).map(|(body, now)| {
            let seen = BodySnapshot {
                position: now.position,
                attitude: now.attitude,
                velocity: now.velocity,
                omega_body: now.omega_body,
                acceleration: now.acceleration,
                omega_rate: now.omega_rate,
                momentum_body: body.inertia.matrix() * now.omega_body,
            };
            (body.name.clone(), seen)
        });
        let mut rest = self.all_multipliers();
        let multipliers = system.joints().iter().map(|joint| {
            let (values, later) = rest.split_at(joint.kind.rows());
            rest = later;
            (joint.name.clone(), values.to_vec())
        });
        let extra = system
            .extra()
            .iter()
            .zip(self.extra())
            .map(|(extra, now)| (extra.name.clone(), [now.position.clone(), now.velocity.clone()]));
        SystemSnapshot {
            single: false,
            bodies: bodies.collect(),
            multipliers: multipliers.collect(),
            extra: extra.collect(),
        }
    }
}
