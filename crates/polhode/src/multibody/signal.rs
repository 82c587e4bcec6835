//! Quantities of the motion that a force may depend on beside the motion of its own frames: coordinates of joints, and the
//! motion of any body.

use super::coordinate::Coordinate;
use super::joint::Joint;
use super::own::MovingFrames;
use super::place::Place;
use super::system::System;
use crate::body::{Load, is_past};
use crate::scalar::{Mask, Over, Real};
use nalgebra::Vector3;

/// The most signals that a force may depend on.
pub const MOST_SIGNALS: usize = 12;

/// The values of the signals of a force; unused places are zero.
pub type Signals<T> = [T; MOST_SIGNALS];

/// A quantity of the motion: bodies and joints by their numbers in the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal<S: Real> {
    /// A coordinate of a joint; an angle over full turns.
    Coordinate(usize, Coordinate),
    /// Its rate.
    Rate(usize, Coordinate),
    /// A component of where a point of a body is in space, in body axes from its origin.
    Position(usize, Vector3<S>, usize),
    /// A component of the velocity of such a point, in space.
    Velocity(usize, Vector3<S>, usize),
    /// The same in body axes.
    VelocityBody(usize, Vector3<S>, usize),
    /// An entry of the matrix from body to space: row and column.
    Attitude(usize, usize, usize),
    /// A component of the angular velocity, in body axes.
    OmegaBody(usize, usize),
    /// The same in space.
    OmegaSpace(usize, usize),
    /// One between two times and zero outside, each step with its own side of them; runs land on them.
    During(S, S),
}

impl<S: Real> Signal<S> {
    /// The same with other numbers.
    pub(super) fn rebuilt<T: Real>(&self, number: &mut dyn FnMut(S) -> T) -> Signal<T> {
        let mut point = |p: &Vector3<S>| p.map(&mut *number);
        match self {
            Signal::Coordinate(j, c) => Signal::Coordinate(*j, *c),
            Signal::Rate(j, c) => Signal::Rate(*j, *c),
            Signal::Position(b, p, i) => Signal::Position(*b, point(p), *i),
            Signal::Velocity(b, p, i) => Signal::Velocity(*b, point(p), *i),
            Signal::VelocityBody(b, p, i) => Signal::VelocityBody(*b, point(p), *i),
            Signal::Attitude(b, i, j) => Signal::Attitude(*b, *i, *j),
            Signal::OmegaBody(b, i) => Signal::OmegaBody(*b, *i),
            Signal::OmegaSpace(b, i) => Signal::OmegaSpace(*b, *i),
            Signal::During(on, off) => Signal::During(number(*on), number(*off)),
        }
    }
    /// Its point and the body that it is on, if it is of one.
    pub(super) fn point_mut(&mut self) -> Option<(usize, &mut Vector3<S>)> {
        match self {
            Signal::Position(b, p, _) | Signal::Velocity(b, p, _) | Signal::VelocityBody(b, p, _) => {
                Some((*b, p))
            }
            _ => None,
        }
    }
    /// The bodies that it depends on.
    pub(super) fn bodies(&self, joints: &[Joint<S>]) -> [Option<usize>; 2] {
        match self {
            Signal::Coordinate(j, _) | Signal::Rate(j, _) => joints.get(*j).map_or([None; 2], Joint::bodies),
            Signal::Position(b, ..)
            | Signal::Velocity(b, ..)
            | Signal::VelocityBody(b, ..)
            | Signal::Attitude(b, ..)
            | Signal::OmegaBody(b, _)
            | Signal::OmegaSpace(b, _) => [Some(*b), None],
            Signal::During(..) => [None; 2],
        }
    }
}

impl<S: Real> System<S> {
    /// The times at which loads and forces jump.
    pub(crate) fn switches(&self) -> Vec<S> {
        let mut times = Vec::new();
        for body in &self.bodies {
            body.loads.switches(&mut |time| times.push(time));
        }
        times.extend(self.forces_switch());
        times
    }
    fn forces_switch(&self) -> impl Iterator<Item = S> {
        let signals = self.forces.iter().flat_map(|force| &force.signals);
        let times = signals.filter_map(|signal| match signal {
            Signal::During(on, off) => Some([*on, *off]),
            _ => None,
        });
        times.flatten()
    }
    /// The times at which loads and forces are not smooth, on which steps of a method of this order land.
    pub(crate) fn landings(&self, order: u32) -> Vec<f64> {
        let loads = self.bodies.iter().flat_map(|body| body.loads.landings(order));
        loads.chain(self.forces_switch().map(Real::largest)).collect()
    }
    /// Lets the last force depend on more than the motion of its frames.
    pub(crate) fn let_last_force_see(&mut self, signals: Vec<Signal<S>>, of: Option<usize>) {
        let System { forces, joints, .. } = self;
        let Some(force) = forces.last_mut() else { return };
        let own = force.bodies();
        let mut watched: Vec<usize> = signals.iter().flat_map(|s| s.bodies(joints)).flatten().collect();
        watched.sort_unstable();
        watched.dedup();
        watched.retain(|body| !own.contains(&Some(*body)));
        (force.signals, force.watched, force.of) = (signals, watched, of);
    }
}

/// Where everything is, to read signals off.
pub(super) struct Scene<'a, S: Real, T> {
    pub(super) time: T,
    /// The side of this time that is asked for, see [`Kinematics::inward`](crate::body::Kinematics::inward).
    pub(super) inward: f64,
    pub(super) joints: &'a [Joint<S>],
    /// The angle that the angle of each joint is near to, of those that have one.
    pub(super) angles: &'a [f64],
    pub(super) place: &'a dyn Fn(usize) -> Place<T>,
}

impl<S: Real, T: Over<S>> Scene<'_, S, T> {
    fn joint(&self, j: usize) -> Option<MovingFrames<T>> {
        let joint = self.joints.get(j)?;
        let places = joint.bodies().map(|body| body.map_or_else(Place::ground, self.place));
        Some(joint.frames(self.time, places.each_ref()))
    }
    /// The values of these signals.
    #[inline(never)]
    pub(super) fn values(&self, signals: &[Signal<S>]) -> Signals<T> {
        let mut values = [T::zero(); MOST_SIGNALS];
        for (value, signal) in values.iter_mut().zip(signals) {
            *value = self.value(signal);
        }
        values
    }
    fn value(&self, signal: &Signal<S>) -> T {
        let nothing = T::lift(f64::NAN);
        let moving = |b: usize, p: &Vector3<S>| {
            let (place, point) = ((self.place)(b), p.map(T::of));
            (place, place.v + place.to_space(&place.omega.cross(&point)))
        };
        match signal {
            Signal::Coordinate(j, c) => {
                let near = self.angles.get(*j).copied().unwrap_or_default();
                self.joint(*j).map_or(nothing, |at| at.coordinate(*c, near))
            }
            Signal::Rate(j, c) => self.joint(*j).map_or(nothing, |at| at.rate(*c)),
            Signal::Position(b, p, i) => {
                let place = (self.place)(*b);
                (place.x + place.to_space(&p.map(T::of)))[*i]
            }
            Signal::Velocity(b, p, i) => moving(*b, p).1[*i],
            Signal::VelocityBody(b, p, i) => {
                let (place, velocity) = moving(*b, p);
                place.to_body(&velocity)[*i]
            }
            Signal::Attitude(b, i, j) => (self.place)(*b).r[(*i, *j)],
            Signal::OmegaBody(b, i) => (self.place)(*b).omega[*i],
            Signal::OmegaSpace(b, i) => {
                let place = (self.place)(*b);
                place.to_space(&place.omega)[*i]
            }
            Signal::During(on, off) => {
                let past = |switch: &S| is_past((self.time, self.inward), T::of(*switch));
                T::select(past(on).and(past(off).not()), T::one(), T::zero())
            }
        }
    }
}
