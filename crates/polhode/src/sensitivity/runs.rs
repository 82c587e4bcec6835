//! Runs with derivatives: of one body under a one-step method, and of systems.

use super::{DerivedRun, Dual1, SensitivityError, Variant};
use crate::method::{Derived, DerivedSteps, Method, differentiable};
use crate::model::Outputs;
use crate::multibody::{Differentiated, Reduced, Reduction, Simulation, System};
use crate::run::{Face, Run, Snapshot, Switches};
use crate::scalar::Dual;
use crate::solve::{StepError, Work};

/// Refuses a method whose steps have no derivatives.
pub(super) fn check(method: &Method) -> Result<(), StepError> {
    differentiable(method).map(|_| ())
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
    let switches = Switches::at(run.simulation().system().landings(method.order()));
    Ok(Box::new(SystemRun { run, switches, face, faces }))
}

/// One body.
struct BodyRun<G: DerivedSteps> {
    plain: Reduced<f64, G>,
    varied: Vec<Reduced<Dual1, G>>,
    stepper: Derived<G>,
    switches: Switches<f64>,
    time: f64,
}

impl<G: DerivedSteps> BodyRun<G> {
    fn new(
        plain: Reduced<f64, G>,
        varied: Vec<Reduced<Dual1, G>>,
        method: &Method,
    ) -> Result<Self, StepError> {
        let directions = varied.iter().map(|one| (one.body.clone(), one.start));
        Ok(BodyRun {
            stepper: Derived::new(method, plain.start, directions)?,
            time: 0.0,
            switches: Switches::at(plain.body.load.landings(method.order())),
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
        let BodyRun { plain, stepper, switches, time, .. } = self;
        if switches.is_empty() || !switches.cuts(*time, h) {
            stepper.step(&plain.body, *time, h)?;
        } else {
            let before = stepper.clone();
            let done = switches.each_piece(*time, h, &mut |from, size| stepper.step(&plain.body, from, size));
            if let Err(error) = done {
                *stepper = before;
                return Err(error.of_step(*time, h));
            }
        }
        *time = to;
        Ok(())
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::of_body(&self.plain.body, self.plain.origin.as_ref(), self.stepper.state(), self.time)
    }
    fn work(&self) -> Work {
        self.stepper.work
    }
}

impl<G: DerivedSteps> DerivedRun for BodyRun<G> {
    fn derivative(&mut self, parameter: usize) -> Option<Snapshot<Dual1>> {
        let (one, state) = (self.varied.get(parameter)?, self.stepper.varied(parameter)?);
        Some(Snapshot::of_body(&one.body, one.origin.as_ref(), &state, Dual::constant(self.time)))
    }
}

/// A system.
struct SystemRun {
    run: Differentiated,
    switches: Switches<f64>,
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
        let SystemRun { run, switches, .. } = self;
        let t = run.simulation().time();
        if switches.is_empty() {
            run.step(h).map_err(|error| run.simulation().blamed(error, h))?;
        } else {
            let before = (switches.cuts(t, h) || switches.begins_at(t, h)).then(|| run.clone());
            let done = switches.each_piece(t, h, &mut |from, size| {
                run.set_time(from);
                if from != 0.0 && switches.begins_at(from, size) {
                    run.restart()?;
                }
                run.step(size)
            });
            if let Err(error) = done {
                if let Some(before) = before {
                    *run = before;
                }
                return Err(run.simulation().blamed(error.of_step(t, h), h));
            }
        }
        run.set_time(to);
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

/// A run with the outputs of its model, and their derivatives.
struct WithOutputs {
    run: Box<dyn DerivedRun>,
    plain: Outputs<f64>,
    varied: Vec<Outputs<Dual1>>,
}

/// The same run with these outputs.
pub(super) fn with_outputs(
    run: Box<dyn DerivedRun>,
    plain: Outputs<f64>,
    varied: Vec<Outputs<Dual1>>,
) -> Box<dyn DerivedRun> {
    Box::new(WithOutputs { run, plain, varied })
}

impl Run for WithOutputs {
    fn time(&self) -> f64 {
        self.run.time()
    }
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError> {
        self.run.step(h, to)
    }
    fn snapshot(&self) -> Snapshot {
        self.plain.added(self.run.snapshot())
    }
    fn work(&self) -> Work {
        self.run.work()
    }
}

impl DerivedRun for WithOutputs {
    fn derivative(&mut self, parameter: usize) -> Option<Snapshot<Dual1>> {
        let seen = self.run.derivative(parameter)?;
        Some(self.varied.get(parameter)?.added(seen))
    }
}
