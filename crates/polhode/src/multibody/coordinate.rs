//! Coordinates of joints: the angle about the common third axis, and the distance along it.

use super::joint::{Joint, JointKind, Place};
use super::own::{Frames, JointFormula, MovingFrames, OwnJoint};
use crate::scalar::{Over, Real};
use core::f64::consts::TAU;

/// What a joint leaves free, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// The angle from the first axis of the first frame to that of the second, about the third axis.
    Angle,
    /// How far the second point is along the third axis of the first frame.
    Distance,
}

impl Coordinate {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Coordinate::Angle => "angle",
            Coordinate::Distance => "distance",
        }
    }
    /// How far it is from a value; of an angle the sine of that, which has no jumps.
    pub fn gap<T: Real>(self, at: &Frames<T>, value: T) -> T {
        match self {
            Coordinate::Angle => {
                let ((sin, cos), first) = (value.sin_cos(), at.axis(1, 0));
                first.dot(&at.axis(0, 1)) * cos - first.dot(&at.axis(0, 0)) * sin
            }
            Coordinate::Distance => at.distance() - value,
        }
    }
}

impl<T: Real> Frames<T> {
    /// The angle from the first axis of the first frame to that of the second, about the third axis of the first: more than
    /// -π, at most π.
    pub fn angle(&self) -> T {
        let first = self.axis(1, 0);
        first.dot(&self.axis(0, 1)).atan2(first.dot(&self.axis(0, 0)))
    }
    /// How far the second point is along the third axis of the first frame.
    pub fn distance(&self) -> T {
        self.axis(0, 2).dot(&self.span())
    }
}

impl<T: Real> MovingFrames<T> {
    /// The rate of the angle.
    pub fn angle_rate(&self) -> T {
        self.frames.axis(0, 2).dot(&(self.omegas[1] - self.omegas[0]))
    }
    /// The rate of the distance: the axis turns with the first body.
    pub fn distance_rate(&self) -> T {
        let turning = self.omegas[0].cross(&self.frames.span());
        self.frames.axis(0, 2).dot(&(self.velocities[1] - self.velocities[0] - turning))
    }
    /// A coordinate; an angle less than half a turn from the one it is near to.
    pub fn coordinate(&self, coordinate: Coordinate, near: f64) -> T {
        match coordinate {
            Coordinate::Angle => unwound(self.frames.angle(), near),
            Coordinate::Distance => self.frames.distance(),
        }
    }
    /// Its rate.
    pub fn rate(&self, coordinate: Coordinate) -> T {
        match coordinate {
            Coordinate::Angle => self.angle_rate(),
            Coordinate::Distance => self.distance_rate(),
        }
    }
}

/// An angle with as many turns as bring it nearest to another.
pub(super) fn unwound<T: Real>(angle: T, near: f64) -> T {
    let turns = ((near - angle.largest()) / TAU).round();
    if turns == 0.0 || turns.is_nan() { angle } else { angle + T::lift(TAU * turns) }
}

impl<S: Real> JointKind<S> {
    /// The coordinates of what it leaves free, where these are an angle, a distance or both.
    pub fn coordinates(&self) -> &'static [Coordinate] {
        match self {
            JointKind::Revolute => &[Coordinate::Angle],
            JointKind::Prismatic => &[Coordinate::Distance],
            JointKind::Cylindrical => &[Coordinate::Angle, Coordinate::Distance],
            _ => &[],
        }
    }
}

impl<S: Real> Joint<S> {
    /// How its frames move.
    pub fn frames<T: Over<S>>(&self, time: T, places: [&Place<T>; 2]) -> MovingFrames<T> {
        MovingFrames::of(&self.ends, time, places)
    }
}

/// A coordinate that has a value and a rate at t = 0.
#[derive(Debug)]
struct Guide(Coordinate);

impl JointFormula for Guide {
    fn names(&self) -> Vec<String> {
        vec!["value".into(), "rate".into()]
    }
    fn rows(&self) -> usize {
        1
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        rows[0] = self.0.gap(at, numbers[0] + numbers[1] * at.time);
    }
    fn is_angle(&self, _row: usize) -> bool {
        self.0 == Coordinate::Angle
    }
}

/// A thread: one turn goes with one pitch along the axis.
#[derive(Debug)]
pub(super) struct Thread;

impl JointFormula for Thread {
    fn names(&self) -> Vec<String> {
        vec!["pitch".into()]
    }
    fn rows(&self) -> usize {
        1
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        rows[0] = Coordinate::Angle.gap(at, at.distance() * T::lift(TAU) / numbers[0]);
    }
    fn is_angle(&self, _row: usize) -> bool {
        true
    }
}

/// Where a coordinate of a joint starts, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointStart<S> {
    /// The number of the joint.
    pub joint: usize,
    /// Which of its coordinates.
    pub coordinate: Coordinate,
    /// Its value, if that is given.
    pub value: Option<S>,
    /// Its rate, if that is given.
    pub rate: Option<S>,
    /// True if the joint is driven: a row of its own holds the coordinate.
    pub is_driven: bool,
}

impl<S: Real> JointStart<S> {
    /// The same with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> JointStart<T> {
        let JointStart { joint, coordinate, value, rate, is_driven } = *self;
        JointStart { joint, coordinate, value: value.map(T::of), rate: rate.map(T::of), is_driven }
    }
    /// The names of the coordinate and of its rate.
    pub(super) fn names(&self, joint: &Joint<S>) -> (&'static str, &'static str) {
        let second = self.coordinate == Coordinate::Distance && joint.kind.coordinates().len() > 1;
        (self.coordinate.name(), if second { "speed" } else { "rate" })
    }
    /// A joint beside the one that it is of, which holds the coordinate at a value with a rate.
    pub(super) fn held(&self, joint: &Joint<S>, value: S, rate: S) -> Option<Joint<S>> {
        let kind = OwnJoint::new(Guide(self.coordinate), vec![value, rate]).ok()?;
        Some(Joint { name: joint.name.clone(), kind: kind.into(), ends: joint.ends, of: Some(self.joint) })
    }
}
