//! A run of a system of bodies and joints, and how such a system is seen.

use super::invariants::Momenta;
use super::saved::{Identity, Keeps, restore, save};
use super::tracked::Tracked;
use super::{
    Drift, EnergyEstimate, EnergyRecord, Joints, Names, RestoreError, Run, Saved, Snapshot, Switches, part,
};
use crate::archive::{Archive, Kept};
use crate::body::Dynamics;
use crate::body::State;
use crate::group::{Se3, So3};
use crate::method::Method;
use crate::multibody::{
    IntoShared, Moment, Reduced, Reduction, Simulation, SimulationError, System, Violation,
};
use crate::scalar::{Real, Scalar, larger};
use crate::solve::{StepError, Work};
use std::sync::Arc;

/// What is seen of a system.
#[derive(Clone, Debug)]
pub(crate) enum Face<S: Real> {
    /// All of its bodies.
    Mechanism(Arc<Names>),
    /// One body about a fixed point, with its names if a joint of the system holds that.
    Rotation(Box<Reduced<S, So3>>, Option<Arc<Names>>),
    /// One body in flight.
    Motion(Box<Reduced<S, Se3>>),
}

impl<S: Scalar> Face<S> {
    pub(crate) fn of(system: &System<S>) -> Self {
        match system.reduction() {
            None => Face::Mechanism(Arc::new(Names::of(system, false))),
            Some(Reduction::Rotation(reduced)) => {
                let names = reduced.on_joint.then(|| Arc::new(Names::of(system, true)));
                Face::Rotation(Box::new(reduced), names)
            }
            Some(Reduction::Motion(reduced)) => Face::Motion(Box::new(reduced)),
        }
    }
    /// All that can be said of a simulation of the system.
    pub(crate) fn snapshot(&self, simulation: &Simulation<S>) -> Snapshot<S> {
        let settled = simulation.settled();
        self.seen(settled.as_ref().unwrap_or(simulation), true)
    }
    /// The same without what follows from forces.
    pub(crate) fn motion(&self, simulation: &Simulation<S>) -> Snapshot<S> {
        self.seen(simulation, false)
    }
    fn seen(&self, simulation: &Simulation<S>, forces: bool) -> Snapshot<S> {
        match self {
            // A joint has multipliers, and a body on it velocities of its own.
            Face::Mechanism(names) | Face::Rotation(_, Some(names)) => {
                Snapshot::of_system(simulation, names, forces)
            }
            Face::Rotation(reduced, None) => reduced.seen(simulation),
            Face::Motion(reduced) => reduced.seen(simulation),
        }
    }
}

impl<S: Scalar, G: Dynamics> Reduced<S, G> {
    fn seen(&self, simulation: &Simulation<S>) -> Snapshot<S> {
        let state = self.state_of(simulation);
        Snapshot::of_body(&self.body, self.origin.as_ref(), &state, simulation.time())
    }
}

/// A system under way with a method for systems.
#[derive(Clone, Debug)]
pub struct SystemRun {
    identity: Identity,
    simulation: Simulation<f64>,
    /// The times at which loads jump, or are not smooth enough: it lands on them and starts anew there.
    switches: Switches<f64>,
    face: Face<f64>,
    /// True if the exact motion keeps the energy.
    keeps_energy: bool,
    /// The potential energy at the start, the energy now, and what became of it.
    potential: f64,
    total: f64,
    energy: EnergyRecord,
    violation: Violation,
    /// The size of the last step, and of the longest one.
    last_step: Option<f64>,
    longest_step: f64,
    /// Of one body by itself.
    tracked: Option<Tracked>,
    /// Of several, where the exact motion keeps momenta.
    momenta: Option<Momenta>,
    /// The start of the last step, of which room is kept, if there was one.
    before: Moment,
    stepped: bool,
    /// The start of a step under way.
    beginning: Moment,
    /// To read off what is between steps, once that is asked for.
    shown: Option<Box<Simulation<f64>>>,
}

impl SystemRun {
    /// At t = 0, from positions that fit the joints.
    pub fn new(system: impl IntoShared<f64>, method: &Method) -> Result<Self, SimulationError> {
        Ok(Self::of(Simulation::new(system, method)?, method))
    }
    /// From where a simulation with this method is.
    pub fn of(simulation: Simulation<f64>, method: &Method) -> Self {
        let face = Face::of(simulation.system());
        let keeps_energy = simulation.keeps_energy();
        let tracked = match &face {
            Face::Mechanism(_) => None,
            // Joints may have changed its velocities.
            Face::Rotation(one, Some(_)) => Some(Tracked::new(&one.body, &one.state_of(&simulation))),
            Face::Rotation(one, None) => Some(Tracked::new(&one.body, &one.start)),
            Face::Motion(one) => Some(Tracked::new(&one.body, &one.start)),
        };
        let momenta = tracked.is_none().then(|| Momenta::new(&simulation)).flatten();
        let total = simulation.energy();
        // What rests at no height has the energy of its rounding, and that is no measure of anything.
        let kinetic = larger(simulation.kinetic_energy(), 1e-6 * simulation.energy_of_weight());
        SystemRun {
            identity: Identity::new(method.id()),
            energy: EnergyRecord::new(Some(total), kinetic),
            potential: simulation.potential_energy(),
            total,
            violation: simulation.violation(),
            last_step: None,
            longest_step: 0.0,
            keeps_energy,
            tracked,
            momenta,
            face,
            before: simulation.moment(),
            beginning: simulation.moment(),
            stepped: false,
            shown: None,
            switches: Switches::at(simulation.system().landings(method.order())),
            simulation,
        }
    }
    /// One step. Where joints depend on each other it may happen to end so close to a singular position that it cannot be
    /// solved; then two that end elsewhere may get past it.
    fn step_past_singular(&mut self, t: f64, h: f64) -> Result<(), StepError> {
        /// Where the first of the two ends.
        const BETWEEN: f64 = 0.382;
        let Err(error) = self.simulation.step(h) else { return Ok(()) };
        if self.simulation.assembly().redundancies.is_empty() {
            return Err(error);
        }
        let before = self.simulation.clone();
        let mut parts = [BETWEEN * h, h - BETWEEN * h].into_iter();
        parts.try_for_each(|part| self.simulation.step(part)).map_err(|_| {
            self.simulation = before;
            error.of_step(t, h)
        })
    }
    /// One step, in pieces where a load switches inside it.
    fn step_over_switches(&mut self, t: f64, h: f64) -> Result<(), StepError> {
        let before =
            (self.switches.cuts(t, h) || self.switches.begins_at(t, h)).then(|| self.simulation.clone());
        let SystemRun { simulation, switches, .. } = self;
        let done = switches.each_piece(t, h, &mut |from, size| {
            simulation.set_time(from);
            // At the start it is on the side of the switch that it should be on.
            if from != 0.0 && switches.begins_at(from, size) {
                simulation.restart()?;
            }
            simulation.step(size)
        });
        done.map_err(|error| {
            if let Some(before) = before {
                self.simulation = before;
            }
            error.of_step(t, h)
        })
    }
    /// How it was before a step.
    fn begins(&self) -> Before {
        match &self.face {
            Face::Mechanism(_) => Before::Mechanism,
            Face::Rotation(one, _) => Before::Rotation(one.state_of(&self.simulation)),
            Face::Motion(one) => Before::Motion(one.state_of(&self.simulation)),
        }
    }
    /// Looks at what a step of size `h` from `t` on has come to.
    fn note(&mut self, before: &Before, t: f64, h: f64, to: f64) {
        let kinetic = self.simulation.kinetic_energy();
        let potential = self.simulation.potential_energy();
        self.total = kinetic + potential;
        self.energy.swings(potential - self.potential);
        self.energy.update(Some(self.total - self.simulation.work_done()), kinetic);
        let now = self.simulation.violation();
        self.violation.position = larger(self.violation.position, now.position);
        self.violation.velocity = larger(self.violation.velocity, now.velocity);
        if let Some(momenta) = &mut self.momenta {
            momenta.update(&self.simulation);
        }
        if let Some(tracked) = &mut self.tracked {
            match (&self.face, before) {
                (Face::Rotation(one, _), Before::Rotation(before)) => {
                    tracked.update(&one.body, (before, t), h, (&one.state_of(&self.simulation), to));
                }
                (Face::Motion(one), Before::Motion(before)) => {
                    tracked.update(&one.body, (before, t), h, (&one.state_of(&self.simulation), to));
                }
                _ => {}
            }
        }
    }
    /// The energy that rounding alone may make.
    fn rounding(&self) -> f64 {
        self.last_step.map_or(0.0, |_| self.simulation.energy_of_rounding(self.longest_step))
    }
    /// The simulation.
    pub fn simulation(&self) -> &Simulation<f64> {
        &self.simulation
    }
}

/// The state of a body by itself before a step.
enum Before {
    Mechanism,
    Rotation(State<f64, So3>),
    Motion(State<f64, Se3>),
}

impl Keeps for SystemRun {
    fn identity(&self) -> &Identity {
        &self.identity
    }
    fn system(&self) -> Option<&System<f64>> {
        Some(self.simulation.system())
    }
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.simulation.keep(archive);
        self.total = self.simulation.energy();
        self.energy.keep(archive);
        self.violation.position.keep(archive);
        self.violation.velocity.keep(archive);
        if let Some(tracked) = &mut self.tracked {
            tracked.keep(archive);
        }
        if let Some(momenta) = &mut self.momenta {
            momenta.keep(archive);
        }
        self.last_step.keep(archive);
        self.longest_step.keep(archive);
        self.stepped.keep(archive);
        if self.stepped {
            self.before.keep(archive);
        }
    }
}

impl Run for SystemRun {
    fn time(&self) -> f64 {
        self.simulation.time()
    }
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError> {
        let t = self.simulation.time();
        let before = self.begins();
        self.beginning.retake(&self.simulation);
        let done = match self.switches.is_empty() {
            true => self.step_past_singular(t, h),
            false => self.step_over_switches(t, h),
        };
        done.map_err(|error| self.simulation.blamed(error, h))?;
        self.simulation.set_time(to);
        core::mem::swap(&mut self.before, &mut self.beginning);
        (self.stepped, self.last_step) = (true, Some(h));
        self.longest_step = larger(self.longest_step, h.abs());
        self.note(&before, t, h, to);
        Ok(())
    }
    fn loads_changed(&mut self) -> Result<(), StepError> {
        self.simulation.restart()
    }
    fn snapshot(&self) -> Snapshot {
        let estimate = self.tracked.as_ref().and_then(Tracked::seen);
        Snapshot { estimate, ..self.face.snapshot(&self.simulation) }
    }
    fn motion(&self) -> Snapshot {
        let estimate = self.tracked.as_ref().and_then(Tracked::seen);
        Snapshot { estimate, ..self.face.motion(&self.simulation) }
    }
    fn between(&mut self, t: f64) -> Option<Snapshot> {
        if !self.stepped {
            return None;
        }
        part(self.before.time(), self.simulation.time(), t)?;
        let shown = self.shown.get_or_insert_with(|| Box::new(self.simulation.clone()));
        shown.show_between(&self.before, &self.simulation, t);
        Some(self.face.snapshot(shown))
    }
    fn lands_between(&self) -> bool {
        self.simulation.is_alpha()
    }
    fn land(&mut self, before: &Saved, t: f64) -> Result<(), RestoreError> {
        let (last_step, longest_step, spent) = (self.last_step, self.longest_step, self.simulation.spent);
        let Some(shown) = self.between(t).and_then(|_| self.shown.take()) else {
            return Err(RestoreError::Unsupported);
        };
        // What was seen along the way is that up to the start of the step, and then there.
        restore(self, before)?;
        let (began, from) = (self.begins(), self.simulation.time());
        self.simulation.show_same(&shown);
        self.simulation.spent = spent;
        (self.last_step, self.longest_step, self.stepped) = (last_step, longest_step, false);
        self.note(&began, from, t - from, t);
        Ok(())
    }
    fn save_in(&mut self, saved: &mut Saved) -> Result<(), RestoreError> {
        save(self, saved);
        Ok(())
    }
    fn restore(&mut self, saved: &Saved) -> Result<(), RestoreError> {
        restore(self, saved)
    }
    fn work(&self) -> Work {
        self.simulation.spent
    }
    fn drift(&self) -> Drift {
        let drift = self.tracked.as_ref().map_or(Drift::default(), Tracked::drift);
        match &self.face {
            Face::Mechanism(_) => {
                let momenta = self.momenta.as_ref().map_or(drift, Momenta::drift);
                Drift { energy: self.energy.error_of_motion(self.rounding()), ..momenta }
            }
            Face::Rotation(_, Some(_)) => Drift { energy: self.energy.error(self.rounding()), ..drift },
            _ => drift,
        }
    }
    fn overflow(&self) -> Option<&'static str> {
        match () {
            _ if !self.total.is_finite() => Some("the energy"),
            _ if !self.energy.is_finite() => Some("the energy error"),
            _ if !(self.violation.position + self.violation.velocity).is_finite() => {
                Some("the violation of the joints")
            }
            _ if self.momenta.as_ref().is_some_and(|momenta| !momenta.is_finite()) => Some("the momentum"),
            _ => self.tracked.as_ref().and_then(Tracked::overflow),
        }
    }
    fn joints(&self) -> Option<Joints> {
        let hidden = match &self.face {
            Face::Mechanism(_) => false,
            Face::Rotation(_, names) => names.is_none(),
            Face::Motion(_) => true,
        };
        (!hidden).then(|| Joints {
            violation: self.violation,
            assembly: self.simulation.assembly().clone(),
            degrees_of_freedom: self.simulation.degrees_of_freedom(),
            work: (!self.keeps_energy).then(|| self.simulation.work_done()),
            reaction_rounding: self.last_step.map_or(0.0, |h| self.simulation.reaction_rounding(h)),
        })
    }
    fn estimate_energy(&mut self) -> bool {
        let has_potential = match &self.face {
            Face::Mechanism(_) => false,
            Face::Rotation(one, _) => one.body.potential_energy(&one.start, 0.0).is_some(),
            Face::Motion(one) => one.body.potential_energy(&one.start, 0.0).is_some(),
        };
        match &mut self.tracked {
            Some(tracked) => tracked.estimate(has_potential),
            None => return false,
        }
        true
    }
    fn energy_estimate(&self) -> Option<&EnergyEstimate> {
        self.tracked.as_ref().and_then(Tracked::energy_estimate)
    }
}
