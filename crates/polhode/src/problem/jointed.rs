//! Systems behind the face of a problem: mechanisms, and rotations about a fixed point as bodies on a joint.

use super::cases::{Case, Cases};
use super::model::{Ended, Failed, Joints, Model, Observer};
use crate::body::State;
use crate::group::{Rotation, So3};
use crate::method::Method;
use crate::multibody::{GROUND, JointKind, Rigid, Simulation, System, SystemError, run};
use crate::run::{Drift, Invariants, Moving, Plan, Snapshot, SystemSnapshot};
use crate::scalar::{Real, Scalar};
use crate::solve::StepError;
use nalgebra::Vector3;

impl Model {
    /// The system of bodies and joints, of a problem that is one.
    pub fn system(&self) -> Option<&System<f64>> {
        match &self.cases {
            Cases::System(system) => Some(system),
            _ => self.jointed.as_ref(),
        }
    }

    /// Runs it as a system.
    pub(super) fn run_jointed(
        &self,
        method: &Method,
        plan: &Plan,
        observer: &mut Observer<'_>,
    ) -> Result<Ended, Failed> {
        let case = match &self.cases {
            Cases::Rotation(case) => Some(case),
            _ => None,
        };
        let unbegun = |error: StepError| Failed { error, last_good: Box::new(self.unbegun()) };
        let no_start = |reason: String| unbegun(StepError::NoStart { reason });
        let posed = case.filter(|_| self.jointed.is_none()).map(Case::posed);
        let posed = posed.transpose().map_err(|error| no_start(error.to_string()))?;
        let Some(system) = posed.as_ref().or(self.system()) else {
            return Err(unbegun(StepError::NeedsSystem));
        };
        let mut simulation = Simulation::new(system, method).map_err(|error| no_start(error.to_string()))?;
        let at = |simulation: &Simulation<'_, f64>| match case {
            Some(case) if posed.is_some() => case.snapshot(&case.state(simulation), simulation.time()),
            _ => snapshot(simulation, case.is_some()),
        };
        let mut invariants = case.map(|case| Invariants::new(&case.body, &case.start, 0.0));
        let (outcome, failure) = run(&mut simulation, plan, &mut |n, simulation| {
            if let (Some(case), Some(invariants), true) = (case, &mut invariants, n > 0) {
                invariants.update(&case.body, &case.state(simulation), simulation.time());
            }
            observer(n, &|| at(simulation))
        });
        let drift = invariants.map_or(Drift::default(), |invariants| invariants.drift());
        let ended = Ended {
            last: at(&simulation),
            steps: outcome.steps,
            drift: match case {
                Some(_) if posed.is_some() => drift,
                Some(_) => Drift { energy: outcome.energy.error(), ..drift },
                None => Drift { energy: outcome.energy.error_of_motion(), ..drift },
            },
            work: simulation.spent,
            finished: outcome.finished,
            joints: posed
                .is_none()
                .then(|| Joints { violation: outcome.violation, assembly: simulation.assembly().clone() }),
        };
        match failure {
            Some(error) => Err(Failed { error, last_good: Box::new(ended) }),
            None => ended.checked(),
        }
    }
}

impl<S: Real> Case<S, So3> {
    /// The body on a spherical joint at its reference point, about which its inertia and the moments of its loads are. The
    /// joint holds that point, so that mass and centre of mass do not matter.
    pub(crate) fn posed(&self) -> Result<System<S>, SystemError> {
        let omega_body = self.body.velocity(&self.start);
        let body = Rigid {
            name: String::new(),
            mass: S::one(),
            inertia: self.body.inertia,
            position: Vector3::zeros(),
            attitude: self.start.pose,
            velocity: Vector3::zeros(),
            omega_body: self.omega.unwrap_or(omega_body),
            loads: self.body.load.clone(),
            free: true,
        };
        let mut system = System::under(Vector3::zeros());
        system.body("body", body)?;
        system.joint("pivot", JointKind::Spherical, GROUND, "body")?;
        Ok(system)
    }
}

impl<S: Scalar> Case<S, So3> {
    /// The state of the body about its fixed point.
    pub(crate) fn state(&self, simulation: &Simulation<'_, S>) -> State<S, So3> {
        simulation.bodies().first().map_or(self.start, |now| self.body.state(now.attitude, &now.omega_body))
    }
}

/// What the snapshot of a system without bodies has of a body.
fn nothing<S: Real>() -> Snapshot<S> {
    let zero = Vector3::zeros();
    Snapshot {
        t: S::zero(),
        attitude: Rotation::identity(),
        omega_body: zero,
        omega_rate: zero,
        momentum_body: zero,
        momentum_space: zero,
        kinetic_energy: S::zero(),
        energy: None,
        moving: None,
        estimate: None,
        system: None,
    }
}

/// The last body of a system, and all of it: energy, bodies, multipliers. A single one has its momentum about the point
/// where its joint holds it.
pub(crate) fn snapshot<S: Scalar>(simulation: &Simulation<'_, S>, single: bool) -> Snapshot<S> {
    let mut snapshot = nothing();
    if let (Some(body), Some(now)) = (simulation.system().bodies().last(), simulation.bodies().last()) {
        let turning = body.inertia.matrix() * now.omega_body;
        let linear = now.velocity * body.mass;
        // The fixed point, from the origin in space and from the centre of mass in body axes.
        let [ground, point] = match simulation.system().joints().first() {
            Some(pivot) if single => pivot.ends.map(|end| end.point),
            _ => [Vector3::zeros(); 2],
        };
        let about_point = turning + point.cross(&now.omega_body.cross(&point)) * body.mass;
        snapshot = Snapshot {
            attitude: now.attitude,
            omega_body: now.omega_body,
            omega_rate: now.omega_rate,
            momentum_body: about_point,
            momentum_space: now.attitude.rotate(&about_point) + ground.cross(&linear),
            moving: Some(Moving {
                position: now.position,
                velocity: now.velocity,
                acceleration: now.acceleration,
                linear_momentum_space: linear,
            }),
            ..snapshot
        };
    }
    Snapshot {
        t: simulation.time(),
        kinetic_energy: simulation.kinetic_energy(),
        energy: Some(simulation.energy()),
        system: Some(Box::new(SystemSnapshot { single, ..simulation.snapshot() })),
        ..snapshot
    }
}
