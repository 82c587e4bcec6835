//! What of a system has no value in a state: an expression that divides by zero there, or a spring without a direction.

use super::force::Force;
use super::initial::beginning;
use super::joint::MOST_ROWS;
use super::signal::{Scene, Signal, Signals};
use super::simulation::Simulation;
use super::system::{Rigid, System};
use crate::body::{Kinematics, inward};
use crate::group::Rotation;
use crate::solve::StepError;

/// An element without a value, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Valueless {
    /// A load, by its body and its number there.
    Load(usize, usize),
    Force(usize),
    /// The row that drives a joint.
    Drive(usize),
}

impl Rigid<f64> {
    /// The first load that has no value here.
    fn load_without_value(&self, time: f64, inward: f64) -> Option<usize> {
        let at = Kinematics {
            time,
            attitude: self.attitude,
            position: self.position,
            velocity_body: self.attitude.unrotate(&self.velocity),
            omega_body: self.omega_body,
            inward,
        };
        self.loads.without_value(&at)
    }
}

impl System<f64> {
    /// The same at the start.
    pub(crate) fn without_value_at_start(&self) -> Option<Valueless> {
        self.without_value((0.0, beginning(0.0)), &vec![0.0; self.joints.len()])
    }
    /// A load that has no value at the start.
    pub(crate) fn load_without_value_at_start(&self) -> Option<Valueless> {
        self.load_without_value((0.0, beginning(0.0)))
    }
    fn load_without_value(&self, (time, inward): (f64, f64)) -> Option<Valueless> {
        self.bodies
            .iter()
            .enumerate()
            .find_map(|(b, body)| body.load_without_value(time, inward).map(|load| Valueless::Load(b, load)))
    }
    /// An element that has no value where the bodies of the system start, at a side of a time.
    pub(crate) fn without_value(&self, (time, inward): (f64, f64), angles: &[f64]) -> Option<Valueless> {
        let place = |b: usize| self.place_of(Some(b));
        let scene = Scene { time, inward, joints: &self.joints, angles, place: &place };
        let has_none = |force: &Force<f64>| {
            let energy = force.potential_in(&scene).unwrap_or(0.0);
            let mut pushes = force.wrenches_in(&scene).into_iter();
            !(energy.is_finite() && pushes.all(|push| push.iter().all(|x| x.is_finite())))
        };
        let force = || self.forces.iter().position(has_none).map(Valueless::Force);
        let drive = || {
            let mut driven = self.joints.iter().enumerate().filter(|(_, joint)| joint.is_driven());
            let lost = driven.find(|(_, joint)| {
                let places = joint.bodies().map(|body| self.place_of(body));
                let [mut rows, mut rates] = [[0.0; MOST_ROWS]; 2];
                joint.constraint(time, places.each_ref(), &mut rows);
                joint.rates(time, places.each_ref(), &mut rates, None);
                !rows.iter().chain(&rates).all(|x| x.is_finite())
            });
            lost.map(|(j, _)| Valueless::Drive(j))
        };
        self.load_without_value((time, inward)).or_else(force).or_else(drive)
    }
    /// An element in words.
    pub(crate) fn words_of(&self, element: Valueless) -> String {
        let joint = |j: usize| &self.joints[j].name;
        match element {
            Valueless::Load(b, _) => format!("the load on the body '{}'", self.bodies[b].name),
            Valueless::Drive(j) => {
                format!("the drive of the joint '{}'", joint(self.joints[j].of.unwrap_or(j)))
            }
            Valueless::Force(f) => match (&self.forces[f], self.forces[f].bodies()) {
                (Force { of: Some(j), .. }, _) => format!("the motor of the joint '{}'", joint(*j)),
                (force, [None, Some(b)]) if force.is_load() => {
                    format!("the load on the body '{}'", self.bodies[b].name)
                }
                (force, _) => format!("the force '{}'", force.name),
            },
        }
    }
    /// The values of these signals where its bodies start.
    pub(crate) fn signals_at_start(&self, signals: &[Signal<f64>]) -> Signals<f64> {
        let (time, place) = (0.0, |b: usize| self.place_of(Some(b)));
        let angles = &vec![0.0; self.joints.len()];
        Scene { time, inward: beginning(time), joints: &self.joints, angles, place: &place }.values(signals)
    }
}

/// The parts of a step at which values are looked for once it has failed.
pub(crate) const LOOKS: [f64; 3] = [0.0, 0.5, 1.0];

/// The side of a part of a step from `t` of size `h` that lies in the step.
pub(crate) fn side(t: f64, h: f64, part: f64) -> (f64, f64) {
    let ahead = inward(t, h);
    (t + part * h, if part < 0.5 { ahead } else { -ahead })
}

impl Simulation<f64> {
    /// A spring that pushes, and has no direction to push in because its ends are in one place.
    pub(crate) fn spring_without_direction(&self) -> Option<&str> {
        let force = self
            .centered()
            .forces
            .iter()
            .find(|force| force.pushes_nowhere(self.places(force.bodies()).each_ref()));
        force.map(|force| force.name.as_str())
    }
    /// Why a step of size `h` from here failed: an element without a value on its way, as far as velocities show that, or
    /// what the solver says.
    pub(crate) fn blamed(&self, error: StepError, h: f64) -> StepError {
        if !error.is_of_solver() {
            return error;
        }
        let found = LOOKS.into_iter().find_map(|part| {
            let mut there = self.as_it_is();
            for body in &mut there.bodies {
                body.position += body.velocity * (part * h);
                let turn = Rotation::from_rotation_vector(&(body.omega_body * (part * h)));
                body.attitude = body.attitude.compose(&turn);
            }
            let (t, inward) = side(self.time(), h, part);
            let element = there.without_value((t, inward), self.angles())?;
            Some(StepError::NoValue { element: there.words_of(element), t })
        });
        found.unwrap_or(error)
    }
}
