//! Coordinates of joints: the angle about the common third axis, and the distance along it.

use super::error::SystemError;
use super::joint::{Joint, JointKind};
use super::own::{Frames, JointFormula, MovingFrames, OwnJoint};
use super::place::Place;
use super::system::{End, System};
use crate::lookup::nearest;
use crate::scalar::{Mask, Over, Real};
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
    fn enforced<T: Real>(&self, numbers: &[T], at: &Frames<T>) -> Option<T> {
        Some(numbers[0] + numbers[1] * at.time)
    }
    fn is_angle(&self, _row: usize) -> bool {
        self.0 == Coordinate::Angle
    }
}

/// A thread: one turn goes with one pitch along the axis.
#[derive(Debug)]
pub(super) struct Thread;

impl JointFormula for Thread {
    fn kind(&self) -> &'static str {
        "thread"
    }
    fn names(&self) -> Vec<String> {
        vec!["pitch".into()]
    }
    fn rows(&self) -> usize {
        1
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        rows[0] = Coordinate::Angle.gap(at, at.distance() * T::lift(TAU) / numbers[0]);
    }
    fn enforced<T: Real>(&self, numbers: &[T], at: &Frames<T>) -> Option<T> {
        Some(at.distance() * T::lift(TAU) / numbers[0])
    }
    fn is_relative(&self) -> bool {
        true
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

/// The coordinates that are given of each joint: there may be as many as joints.
pub(super) struct StartsOf<'a, S>(Vec<(usize, &'a JointStart<S>)>);

impl<'a, S: Real> StartsOf<'a, S> {
    pub(super) fn new(starts: &'a [JointStart<S>]) -> Self {
        let mut sorted: Vec<_> = starts.iter().enumerate().collect();
        sorted.sort_by_key(|(_, start)| start.joint);
        StartsOf(sorted)
    }
    /// Those of a joint with their numbers, in their order.
    pub(super) fn joint(&self, joint: usize) -> &[(usize, &'a JointStart<S>)] {
        let first = self.0.partition_point(|(_, start)| start.joint < joint);
        let count = self.0[first..].partition_point(|(_, start)| start.joint == joint);
        &self.0[first..first + count]
    }
}

impl<S: Real> System<S> {
    /// Says where a coordinate of a joint starts, and how fast. The second body is moved there from where it is drawn, with
    /// all that hangs on it; where the joints close loops, the coordinate is held and the rest follows. Zero is where the
    /// first axes of the frames, or their points, coincide.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::{group::Rotation, method::Method};
    /// use polhode::multibody::{Coordinate, GROUND, JointKind, Rigid, Simulation, System};
    /// let mut system = System::new(Vector3::zeros());
    /// system.body("door", Rigid::new(20.0, Matrix3::identity())?.at(Vector3::x(), Rotation::identity()))?;
    /// system.frame("edge", "door", -Vector3::x(), Rotation::identity())?;
    /// system.joint("hinge", JointKind::Revolute, GROUND, "edge")?;
    /// system.start("hinge", Coordinate::Angle, Some(0.5), Some(2.0))?;
    /// let run = Simulation::new(&system, &Method::parse("geometric-alpha")?)?;
    /// assert!((run.bodies()[0].position.x - 0.5f64.cos()).abs() < 1e-15);
    /// assert!((run.bodies()[0].omega_body.z - 2.0).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(
        &mut self,
        joint: &str,
        coordinate: Coordinate,
        value: Option<S>,
        rate: Option<S>,
    ) -> Result<(), SystemError> {
        let element = format!("the start of the joint '{joint}'");
        let Some(number) = self.joint_index(joint) else {
            let near = nearest(joint, self.joints.iter().map(|known| known.name.as_str()));
            return Err(SystemError::Missing { element, what: "joint", name: joint.into(), near });
        };
        let kind = &self.joints[number].kind;
        if !kind.coordinates().contains(&coordinate) {
            return Err(SystemError::Coordinate {
                joint: joint.into(),
                kind: kind.name(),
                coordinate: coordinate.name(),
            });
        }
        for number in [value, rate].into_iter().flatten() {
            if !number.is_finite().all() {
                let what = format!("its {} and its rate must be finite", coordinate.name()).into();
                return Err(SystemError::Number { element, what, value: number.largest() });
            }
        }
        self.starts.push(JointStart { joint: number, coordinate, value, rate, is_driven: false });
        Ok(())
    }
    /// Joins two frames by a thread: a cylindrical joint in which one turn goes with one pitch along the axis, in m. Its
    /// pitch is the parameter `NAME.pitch`.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::method::Method;
    /// use polhode::multibody::{Coordinate, GROUND, Rigid, Simulation, System};
    /// // A nut of 2 kg and 0.5 kg m² on a steep thread falls as if it were heavier.
    /// let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    /// system.body("nut", Rigid::new(2.0, Matrix3::identity() * 0.5)?)?;
    /// system.screw("thread", 1.5, GROUND, "nut")?;
    /// let mut run = Simulation::new(&system, &Method::parse("geometric-alpha")?)?;
    /// (0..1000).try_for_each(|_| run.step(1e-3))?;
    /// let turn = core::f64::consts::TAU / 1.5;
    /// let fall = 0.5 * 2.0 * 9.81 / (2.0 + 0.5 * turn * turn);
    /// let (distance, _) = run.coordinate(0, Coordinate::Distance).ok_or("a distance")?;
    /// assert!((distance + fall).abs() < 1e-5);
    /// let (angle, _) = run.coordinate(0, Coordinate::Angle).ok_or("an angle")?;
    /// assert!((angle - turn * distance).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn screw(&mut self, name: &str, pitch: S, a: &str, b: &str) -> Result<(), SystemError> {
        let ends = self.ends(&format!("the joint '{name}'"), [a, b])?;
        self.screw_with_ends(name, pitch, ends)
    }
    /// The same between two ends that need not be frames with a name.
    pub(crate) fn screw_with_ends(
        &mut self,
        name: &str,
        pitch: S,
        ends: [End<S>; 2],
    ) -> Result<(), SystemError> {
        if !pitch.is_finite().all() || pitch.largest() == 0.0 {
            let (element, what) =
                (format!("the joint '{name}'"), "its pitch must be a number other than zero".into());
            return Err(SystemError::Number { element, what, value: pitch.largest() });
        }
        self.joint_with_ends(name, JointKind::Cylindrical, ends)?;
        let row = OwnJoint::new(Thread, vec![pitch]).map_err(|_| SystemError::Number {
            element: format!("the joint '{name}'"),
            what: "its pitch must be one number".into(),
            value: pitch.largest(),
        })?;
        let joint = self.joints.len() - 1;
        self.joint_with_ends(&format!("{name}.screw"), row, ends)?;
        if let Some(row) = self.joints.last_mut() {
            row.of = Some(joint);
        }
        Ok(())
    }
    /// The type of a joint, and how many rows it has: a screw is a cylindrical joint with a thread, which is the next one.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::multibody::{GROUND, Rigid, System};
    /// let mut system = System::new(Vector3::zeros());
    /// system.body("nut", Rigid::new(2.0, Matrix3::identity() * 0.5)?)?;
    /// system.screw("thread", 1.5, GROUND, "nut")?;
    /// assert_eq!(system.joint_type(0), Some(("screw", 5)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn joint_type(&self, joint: usize) -> Option<(&'static str, usize)> {
        let kind = &self.joints.get(joint)?.kind;
        let thread = self.joints.get(joint + 1).filter(|next| next.is_thread() && next.of == Some(joint));
        Some(match thread {
            Some(thread) => ("screw", kind.rows() + thread.kind.rows()),
            None => (kind.name(), kind.rows()),
        })
    }
    /// Starts of screws along their axes follow those about them, after numbers have changed.
    pub(crate) fn screws_follow(&mut self) {
        for row in self.joints.iter().filter(|row| row.is_thread()) {
            let (Some(joint), Some(pitch)) = (row.of, row.kind.numbers().first().copied()) else { continue };
            let of =
                |start: &JointStart<S>, coordinate| start.joint == joint && start.coordinate == coordinate;
            let Some(about) = self.starts.iter().find(|start| of(start, Coordinate::Angle)).copied() else {
                continue;
            };
            let along = |x: S| x * (pitch / S::lift(core::f64::consts::TAU));
            for start in self.starts.iter_mut().filter(|start| of(start, Coordinate::Distance)) {
                start.value = start.value.and(about.value.map(along));
                start.rate = start.rate.and(about.rate.map(along));
            }
        }
    }
    /// Drives a coordinate of a joint by a row that holds it at a function of time, which starts at a value with a rate.
    pub(crate) fn drive_joint(
        &mut self,
        joint: usize,
        coordinate: Coordinate,
        row: OwnJoint<S>,
        (value, rate): (S, S),
    ) -> Result<(), SystemError> {
        let (name, ends) = (format!("{}.drive", self.joints[joint].name), self.joints[joint].ends);
        self.joint_with_ends(&name, row, ends)?;
        if let Some(drive) = self.joints.last_mut() {
            drive.of = Some(joint);
        }
        let start = JointStart { joint, coordinate, value: Some(value), rate: Some(rate), is_driven: true };
        self.starts.push(start);
        Ok(())
    }
    /// Puts bodies that do not fit their joints where these want them: along a tree of joints from the ground on each body
    /// is moved into its joint, with all that hangs on it, and what loops ask for beyond that is shared by the masses.
    pub fn place_by_joints(&mut self) {
        self.placed_by_joints = true;
    }
}
