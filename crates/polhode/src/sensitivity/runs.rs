//! Runs with derivatives: of one body under a one-step method, and of systems.

use super::{DerivedRun, Dual1, SensitivityError, Variant};
use crate::body::{Body, Loads, State};
use crate::group::So3;
use crate::method::{Derived, DerivedSteps, Method};
use crate::multibody::{Differentiated, Reduced, Reduction, Simulation, System};
use crate::run::{Face, Run, Snapshot};
use crate::scalar::Dual;
use crate::solve::{StepError, Work};

/// Refuses a method whose steps have no derivatives.
pub(super) fn check(method: &Method) -> Result<(), StepError> {
    Derived::<So3>::new(method, 0).map(|_| ())
}

/// Of a system of one body, each time with the derivatives with respect to one parameter beside it.
pub(super) fn of_body(
    plain: &System<f64>,
    varied: &[System<Dual1>],
    method: &Method,
) -> Result<Box<dyn DerivedRun>, SensitivityError> {
    let needs_system = || SensitivityError::from(StepError::NeedsSystem);
    match plain.reduction().ok_or_else(needs_system)? {
        Reduction::Rotation(one) => {
            let varied = varied.iter().map(|system| match system.reduction() {
                Some(Reduction::Rotation(one)) => Ok(one),
                _ => Err(needs_system()),
            });
            Ok(Box::new(BodyRun::new(one, varied.collect::<Result<_, _>>()?, method)?))
        }
        Reduction::Motion(one) => {
            let varied = varied.iter().map(|system| match system.reduction() {
                Some(Reduction::Motion(one)) => Ok(one),
                _ => Err(needs_system()),
            });
            Ok(Box::new(BodyRun::new(one, varied.collect::<Result<_, _>>()?, method)?))
        }
    }
}

/// Of any system.
pub(super) fn of_system(
    plain: System<f64>,
    varied: &[System<Dual1>],
    method: &Method,
    variant: Variant,
) -> Result<Box<dyn DerivedRun>, SensitivityError> {
    let (face, faces) = (Face::of(&plain), varied.iter().map(Face::of).collect());
    let run = Differentiated::assembled(plain, varied, method, variant)?;
    Ok(Box::new(SystemRun { run, face, faces }))
}

/// One body.
struct BodyRun<G: DerivedSteps> {
    plain: Reduced<f64, G>,
    varied: Vec<Reduced<Dual1, G>>,
    bodies: Vec<Body<Dual1, G, Loads<Dual1>>>,
    stepper: Derived<G>,
    state: State<f64, G>,
    states: Vec<State<Dual1, G>>,
    time: f64,
}

impl<G: DerivedSteps> BodyRun<G> {
    fn new(
        plain: Reduced<f64, G>,
        varied: Vec<Reduced<Dual1, G>>,
        method: &Method,
    ) -> Result<Self, StepError> {
        Ok(BodyRun {
            stepper: Derived::new(method, varied.len())?,
            state: plain.start,
            states: varied.iter().map(|one| one.start).collect(),
            bodies: varied.iter().map(|one| one.body.clone()).collect(),
            time: 0.0,
            plain,
            varied,
        })
    }
}

impl<G: DerivedSteps> Run for BodyRun<G> {
    fn time(&self) -> f64 {
        self.time
    }
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError> {
        let BodyRun { plain, bodies, stepper, state, states, time, .. } = self;
        *state = stepper.step(&plain.body, bodies, state, states, *time, h)?;
        *time = to;
        Ok(())
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::of_body(&self.plain.body, self.plain.origin.as_ref(), &self.state, self.time)
    }
    fn work(&self) -> Work {
        self.stepper.work
    }
}

impl<G: DerivedSteps> DerivedRun for BodyRun<G> {
    fn derivative(&mut self, parameter: usize) -> Option<Snapshot<Dual1>> {
        let (one, state) = (self.varied.get(parameter)?, self.states.get(parameter)?);
        Some(Snapshot::of_body(&one.body, one.origin.as_ref(), state, Dual::constant(self.time)))
    }
}

/// A system.
struct SystemRun {
    run: Differentiated,
    face: Face<f64>,
    faces: Vec<Face<Dual1>>,
}

impl SystemRun {
    fn simulation(&self) -> &Simulation<f64> {
        self.run.simulation()
    }
}

impl Run for SystemRun {
    fn time(&self) -> f64 {
        self.simulation().time()
    }
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError> {
        self.run.step(h)?;
        self.run.set_time(to);
        Ok(())
    }
    fn snapshot(&self) -> Snapshot {
        self.face.snapshot(self.simulation())
    }
    fn work(&self) -> Work {
        self.simulation().spent
    }
}

impl DerivedRun for SystemRun {
    fn derivative(&mut self, parameter: usize) -> Option<Snapshot<Dual1>> {
        Some(self.faces.get(parameter)?.snapshot(self.run.derivative(parameter)?))
    }
}
