//! A system of bodies, joints and forces, put together by name and checked on the way in.

use super::coordinate::JointStart;
use super::error::SystemError;
use super::force::{Force, ForceKind};
use super::frame::Frame;
use super::joint::{Joint, JointKind};
use super::kinds::Number;
use crate::body::{InertiaError, Loads, RotaryInertia, StandardLoad};
use crate::group::Rotation;
use crate::lookup::nearest;
use crate::scalar::{Mask, Real, Scalar, larger};
use crate::solve::Sets;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;
use std::sync::Arc;

/// The name of what does not move, and of the frame at its origin.
pub const GROUND: &str = "ground";

/// One end of a joint or force: a point and axes on a body, or on the ground.
#[derive(Clone, Copy, Debug)]
pub struct End<S: Real> {
    /// The body; `None` is the ground.
    pub body: Option<usize>,
    /// The point, in body axes from the origin of the body.
    pub point: Vector3<S>,
    /// The axes, columns in body axes.
    pub axes: Matrix3<S>,
}

/// A rigid body with where it starts. Its frame has an origin and axes of its own; unless it has a `center`, the origin is
/// the centre of mass.
#[derive(Clone, Debug)]
pub struct Rigid<S: Real> {
    /// Its name.
    pub name: String,
    /// Mass, kg.
    pub mass: S,
    /// Centre of mass, in body axes from the origin of the body.
    pub center: Vector3<S>,
    /// Inertia about the centre of mass, in body axes.
    pub inertia: RotaryInertia<S>,
    /// True if its origin is its centre of mass by what it is, and moves with it when that is varied within the body.
    pub centered: bool,
    /// Whether its velocity and its angular velocity were given: they are kept, as far as joints allow, and what was not
    /// given follows.
    pub given: [bool; 2],
    /// True if the inertia is that of a solid, in proportion to the mass: a change of the mass changes it too.
    pub solid: bool,
    /// Position of the origin at the start, in space.
    pub position: Vector3<S>,
    /// Attitude at the start, body to space.
    pub attitude: Rotation<S>,
    /// Velocity of the origin at the start, in space.
    pub velocity: Vector3<S>,
    /// Angular velocity at the start, in body axes.
    pub omega_body: Vector3<S>,
    /// What acts on it beside gravity, about its origin.
    pub loads: Loads<S>,
    /// What keeps it where it is, beside joints and forces.
    pub held: Held<S>,
}

/// What keeps a body where it is, beside joints and forces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Held<S> {
    /// Nothing: joints or forces have to hold it.
    #[default]
    Elsewhere,
    /// Nothing, and nothing has to.
    Free,
    /// Its origin never moves.
    Point,
    /// The same, of a body whose mass and centre of mass are not known: its inertia is about the origin. The angular momentum
    /// at the start, in body axes, where that was given and not the angular velocity.
    Pivot(Option<Vector3<S>>),
}

impl<S: Scalar> Rigid<S> {
    /// A body at rest at the origin.
    pub fn new(mass: S, inertia: Matrix3<S>) -> Result<Self, InertiaError> {
        if !is_positive(mass) {
            return Err(InertiaError::Mass { mass: mass.largest() });
        }
        Ok(Rigid {
            name: String::new(),
            mass,
            center: Vector3::zeros(),
            inertia: RotaryInertia::about_fixed_point(inertia)?,
            centered: true,
            given: [false; 2],
            solid: false,
            position: Vector3::zeros(),
            attitude: Rotation::identity(),
            velocity: Vector3::zeros(),
            omega_body: Vector3::zeros(),
            loads: Loads::none(),
            held: Held::Elsewhere,
        })
    }
    /// The same, placed.
    pub fn at(self, position: Vector3<S>, attitude: Rotation<S>) -> Self {
        Rigid { position, attitude, ..self }
    }
    /// The same with another centre of mass than its origin.
    pub fn with_center(self, center: Vector3<S>) -> Self {
        Rigid { center, centered: false, ..self }
    }
    /// The same, moving: velocity of the origin in space, angular velocity in body axes.
    pub fn moving(self, velocity: Vector3<S>, omega_body: Vector3<S>) -> Self {
        Rigid { velocity, omega_body, given: [true; 2], ..self }
    }
    /// The same with one more load, about its origin.
    pub fn with(self, load: impl Into<StandardLoad<S>>) -> Self {
        Rigid { loads: self.loads.with(load), ..self }
    }
    /// The same, which nothing has to hold.
    pub fn free(self) -> Self {
        Rigid { held: Held::Free, ..self }
    }
    /// The same, whose origin never moves.
    pub fn on_fixed_point(self) -> Self {
        Rigid { held: Held::Point, ..self }
    }
}

/// Coordinates of R^n beside the bodies: M ÿ + C ẏ + K y = f + g cos(ω t + φ).
#[derive(Clone, Debug)]
pub struct Coordinates<S> {
    /// Their name.
    pub name: String,
    /// Mass matrix M, by rows; symmetric and positive definite.
    pub mass: Vec<S>,
    /// Damping matrix C, by rows.
    pub damping: Vec<S>,
    /// Stiffness matrix K, by rows.
    pub stiffness: Vec<S>,
    /// Constant force f.
    pub force: Vec<S>,
    /// Amplitude g of the oscillating force.
    pub amplitude: Vec<S>,
    /// Its circular frequency ω, rad/s.
    pub frequency: S,
    /// Its phase φ at t = 0, rad.
    pub phase: S,
    /// Where they start.
    pub position: Vec<S>,
    /// How fast.
    pub velocity: Vec<S>,
}

impl<S: Real> Coordinates<S> {
    /// At rest, without damping, stiffness and force.
    pub fn new(mass: Vec<S>, position: Vec<S>) -> Self {
        let n = position.len();
        let zeros = |count: usize| vec![S::zero(); count];
        Coordinates {
            name: String::new(),
            mass,
            damping: zeros(n * n),
            stiffness: zeros(n * n),
            force: zeros(n),
            amplitude: zeros(n),
            frequency: S::zero(),
            phase: S::zero(),
            velocity: zeros(n),
            position,
        }
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.position.len()
    }
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }
}

/// Bodies, joints, forces and extra coordinates.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::group::Rotation;
/// use polhode::method::Method;
/// use polhode::multibody::{GROUND, JointKind, Rigid, Simulation, System};
///
/// // A pendulum of length 1 m, let go at the height of its pivot.
/// let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
/// let bob = Rigid::new(2.0, Matrix3::identity() * 0.1)?.at(Vector3::x(), Rotation::identity());
/// system.body("bob", bob)?;
/// system.frame("hook", "bob", -Vector3::x(), Rotation::identity())?;
/// system.joint("pivot", JointKind::Spherical, GROUND, "hook")?;
/// let mut run = Simulation::new(&system, &Method::parse("geometric-alpha")?)?;
/// for _ in 0..100 {
///     run.step(0.01)?;
/// }
/// assert!((run.position("bob").unwrap().norm() - 1.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct System<S: Real> {
    pub(super) gravity: Vector3<S>,
    pub(super) bodies: Vec<Rigid<S>>,
    pub(super) joints: Vec<Joint<S>>,
    pub(super) forces: Vec<Force<S>>,
    pub(super) extra: Vec<Coordinates<S>>,
    pub(super) frames: Arc<HashMap<String, Frame<S>>>,
    /// Where coordinates of joints start.
    pub(super) starts: Vec<JointStart<S>>,
    /// True if bodies are put where their joints want them.
    pub(super) placed_by_joints: bool,
    /// The numbers of joints, forces and coordinates by their names.
    pub(super) taken: Arc<HashMap<&'static str, HashMap<String, usize>>>,
}

impl System<f64> {
    /// Nothing but the ground, and gravity.
    pub fn new(gravity: Vector3<f64>) -> Self {
        Self::under(gravity)
    }
}

impl<S: Real> System<S> {
    /// Nothing but the ground, and gravity, in any scalar.
    pub fn under(gravity: Vector3<S>) -> Self {
        System {
            gravity,
            bodies: Vec::new(),
            joints: Vec::new(),
            forces: Vec::new(),
            extra: Vec::new(),
            frames: Arc::new(HashMap::from([(GROUND.into(), Frame::Own(None))])),
            starts: Vec::new(),
            placed_by_joints: false,
            taken: Arc::default(),
        }
    }
    /// Adds a body. A frame of its name sits at its origin.
    pub fn body(&mut self, name: &str, body: Rigid<S>) -> Result<(), SystemError> {
        if !is_positive(body.mass) {
            let error = InertiaError::Mass { mass: body.mass.largest() };
            return Err(SystemError::Inertia { body: name.into(), error });
        }
        for (what, v) in [
            ("its centre of mass must be finite", &body.center),
            ("its position must be finite", &body.position),
            ("its velocity must be finite", &body.velocity),
            ("its angular velocity must be finite", &body.omega_body),
        ] {
            finite(&format!("body '{name}'"), what, v)?;
        }
        self.add_frame(name, Frame::Own(Some(self.bodies.len())))?;
        self.bodies.push(Rigid { name: name.into(), ..body });
        Ok(())
    }
    /// Adds a frame on a body (or the ground): a point from its origin, and axes, in body axes.
    pub fn frame(
        &mut self,
        name: &str,
        body: &str,
        point: Vector3<S>,
        axes: Rotation<S>,
    ) -> Result<(), SystemError> {
        let index = match body {
            GROUND => None,
            _ => Some(self.index(body).ok_or_else(|| {
                let near = nearest(body, self.bodies.iter().map(|b| b.name.as_str()));
                let element = format!("the frame '{name}'");
                SystemError::Missing { element, what: "body", name: body.into(), near }
            })?),
        };
        finite(&format!("the frame '{name}'"), "its point must be finite", &point)?;
        self.add_frame(name, Frame::Fixed(Box::new(End { body: index, point, axes: axes.matrix() })))
    }
    fn add_frame(&mut self, name: &str, frame: Frame<S>) -> Result<(), SystemError> {
        if self.frames.contains_key(name) {
            return Err(SystemError::Twice { what: "bodies or frames", name: name.into() });
        }
        Arc::make_mut(&mut self.frames).insert(name.into(), frame);
        Ok(())
    }
    fn untaken(&self, what: &'static str, name: &str) -> Result<(), SystemError> {
        match self.taken.get(what).is_some_and(|names| names.contains_key(name)) {
            true => Err(SystemError::Twice { what, name: name.into() }),
            false => Ok(()),
        }
    }
    fn take(&mut self, what: &'static str, name: &str) {
        let names = Arc::make_mut(&mut self.taken).entry(what).or_default();
        names.insert(name.into(), names.len());
    }
    /// The number of the joint with this name.
    pub(crate) fn joint_index(&self, joint: &str) -> Option<usize> {
        self.taken.get("joints")?.get(joint).copied()
    }
    fn end(&self, element: &str, name: &str) -> Result<End<S>, SystemError> {
        match self.frames.get(name) {
            Some(frame) => Ok(frame.end()),
            None => {
                let near = nearest(name, self.frame_names().into_iter());
                Err(SystemError::Missing {
                    element: element.into(),
                    what: "body or frame",
                    name: name.into(),
                    near,
                })
            }
        }
    }
    pub(super) fn ends(&self, element: &str, frames: [&str; 2]) -> Result<[End<S>; 2], SystemError> {
        Ok([self.end(element, frames[0])?, self.end(element, frames[1])?])
    }
    /// Refuses ends on the same body.
    fn distinct(&self, element: &str, ends: &[End<S>; 2]) -> Result<(), SystemError> {
        if ends[0].body == ends[1].body {
            let body = ends[0].body.map_or(GROUND, |b| &self.bodies[b].name).into();
            return Err(SystemError::Itself { element: element.into(), body });
        }
        Ok(())
    }
    /// The frame with this name; that of a body is at its origin.
    pub(crate) fn frame_named(&self, name: &str) -> Option<End<S>> {
        self.frames.get(name).map(Frame::end)
    }
    /// The same, whose name may have that of its body before it.
    pub(crate) fn frame_called(&self, name: &str) -> Option<End<S>> {
        self.frame_named(name).or_else(|| {
            let (body, frame) = name.split_once('.')?;
            let end = self.frame_named(frame)?;
            (end.body.map_or(GROUND, |b| self.bodies[b].name.as_str()) == body).then_some(end)
        })
    }
    /// The names of all frames, in their order.
    pub(crate) fn frame_names(&self) -> Vec<&str> {
        // A map has its keys in any order; a message should not.
        let mut names: Vec<&str> = self.frames.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
    /// Joins two frames, by a kind of the library or by a formula of one's own.
    pub fn joint(
        &mut self,
        name: &str,
        kind: impl Into<JointKind<S>>,
        a: &str,
        b: &str,
    ) -> Result<(), SystemError> {
        let ends = self.ends(&format!("the joint '{name}'"), [a, b])?;
        self.joint_with_ends(name, kind, ends)
    }
    /// The same between two ends that need not be frames with a name.
    pub(crate) fn joint_with_ends(
        &mut self,
        name: &str,
        kind: impl Into<JointKind<S>>,
        ends: [End<S>; 2],
    ) -> Result<(), SystemError> {
        let (element, mut kind) = (format!("the joint '{name}'"), kind.into());
        self.untaken("joints", name)?;
        self.distinct(&element, &ends)?;
        if let JointKind::Distance { length } = kind
            && !is_positive(length)
        {
            let value = length.largest();
            return Err(SystemError::Number { element, what: "its length must be positive".into(), value });
        }
        if let JointKind::ConstantAngle { angle } = kind
            && !(is_positive(angle) && is_positive(S::lift(core::f64::consts::PI) - angle))
        {
            let what = "its angle must be more than zero and less than half a turn; where axes are to coincide, join them by \
                        a parallel joint";
            return Err(SystemError::Number { element, what: what.into(), value: angle.largest() });
        }
        all_finite(&element, kind.numbers_mut())?;
        self.take("joints", name);
        self.joints.push(Joint::new(name, kind, ends));
        Ok(())
    }
    /// Lets a force act between two frames, of a kind of the library or by a formula of one's own.
    pub fn force(
        &mut self,
        name: &str,
        kind: impl Into<ForceKind<S>>,
        a: &str,
        b: &str,
    ) -> Result<(), SystemError> {
        let ends = self.ends(&format!("the force '{name}'"), [a, b])?;
        self.force_with_ends(name, kind, ends)
    }
    /// The same between two ends that need not be frames with a name.
    pub(crate) fn force_with_ends(
        &mut self,
        name: &str,
        kind: impl Into<ForceKind<S>>,
        ends: [End<S>; 2],
    ) -> Result<(), SystemError> {
        let (element, mut kind) = (format!("the force '{name}'"), kind.into());
        self.untaken("forces", name)?;
        self.distinct(&element, &ends)?;
        all_finite(&element, kind.numbers_mut())?;
        self.take("forces", name);
        self.forces.push(Force::new(name, kind, ends));
        Ok(())
    }
    /// Adds coordinates of R^n.
    pub fn coordinates(&mut self, name: &str, extra: Coordinates<S>) -> Result<(), SystemError> {
        let element = format!("the coordinates '{name}'");
        self.untaken("coordinates", name)?;
        let n = extra.len();
        let wrong = |what| Err(SystemError::Matrix { element: element.clone(), what });
        if [&extra.mass, &extra.damping, &extra.stiffness].iter().any(|m| m.len() != n * n) {
            return wrong("mass, damping and stiffness must have a row and a column for each coordinate");
        }
        if [&extra.force, &extra.amplitude, &extra.velocity].iter().any(|v| v.len() != n) {
            return wrong("force, amplitude and velocity must have one number for each coordinate");
        }
        let numbers = [&extra.mass, &extra.damping, &extra.stiffness, &extra.force, &extra.amplitude];
        let numbers = numbers.into_iter().chain([&extra.position, &extra.velocity]).flatten();
        if !numbers.chain([&extra.frequency, &extra.phase]).all(|x| x.is_finite().all()) {
            return wrong("all numbers must be finite");
        }
        let mass = nalgebra::DMatrix::from_fn(n, n, |i, j| extra.mass[n * i + j].largest());
        if mass != mass.transpose() || (n > 0 && mass.cholesky().is_none()) {
            return wrong("its mass matrix must be symmetric and positive definite");
        }
        self.take("coordinates", name);
        self.extra.push(Coordinates { name: name.into(), ..extra });
        Ok(())
    }
    /// Sees to it that something holds every body that is not declared free.
    pub fn check(&self) -> Result<(), SystemError> {
        let links: Vec<[Option<usize>; 2]> =
            self.joints.iter().map(|j| j.bodies()).chain(self.forces.iter().map(|f| f.bodies())).collect();
        self.check_parts(&links)?;
        // Bodies that hold each other, and the ground behind them with those that need no other.
        let ground = self.bodies.len();
        let mut sets = Sets::new(ground + 1);
        let held = (0..ground).filter(|b| self.bodies[*b].held != Held::Elsewhere);
        let links = links.iter().map(|ends| ends.map(|end| end.unwrap_or(ground)));
        for [a, b] in links.chain(held.map(|b| [b, ground])) {
            sets.join(a, b);
        }
        let standing = sets.root(ground);
        let open = self.bodies.iter().enumerate().filter(|(b, _)| sets.root(*b) != standing);
        let bodies: Vec<String> = open.map(|(_, body)| body.name.clone()).collect();
        if bodies.is_empty() { Ok(()) } else { Err(SystemError::Unconnected { bodies }) }
    }
    /// What was changed through [`System::joints_mut`] and the like still fits together.
    fn check_parts(&self, links: &[[Option<usize>; 2]]) -> Result<(), SystemError> {
        let names = self.joints.iter().map(|j| ("joint", &j.name));
        let names = names.chain(self.forces.iter().map(|f| ("force", &f.name)));
        for ((what, name), ends) in names.zip(links) {
            if let Some(body) = ends.iter().flatten().find(|body| **body >= self.bodies.len()) {
                return Err(SystemError::Number {
                    element: format!("the {what} '{name}'"),
                    what: "the numbers of its bodies must be below that of all bodies".into(),
                    value: *body as f64,
                });
            }
        }
        for extra in &self.extra {
            let n = extra.len();
            let matrices = [&extra.mass, &extra.damping, &extra.stiffness].iter().all(|m| m.len() == n * n);
            let vectors = [&extra.force, &extra.amplitude, &extra.velocity].iter().all(|v| v.len() == n);
            if !(matrices && vectors) {
                return Err(SystemError::Matrix {
                    element: format!("the coordinates '{}'", extra.name),
                    what: "matrices must have a row and a column for each coordinate, and vectors a number",
                });
            }
        }
        Ok(())
    }
    /// The acceleration of gravity, in space.
    pub fn gravity(&self) -> &Vector3<S> {
        &self.gravity
    }
    /// The same, to be changed.
    pub fn gravity_mut(&mut self) -> &mut Vector3<S> {
        &mut self.gravity
    }
    /// The bodies, to be changed: the numbers, not the names. Nothing is checked again.
    pub fn bodies_mut(&mut self) -> &mut [Rigid<S>] {
        &mut self.bodies
    }
    /// The joints, to be changed: the numbers, not the names or what they join. Nothing is checked again.
    pub fn joints_mut(&mut self) -> &mut [Joint<S>] {
        &mut self.joints
    }
    /// The forces between bodies, to be changed: the numbers, not the names or where they act. Nothing is checked again.
    pub fn forces_mut(&mut self) -> &mut [Force<S>] {
        &mut self.forces
    }
    /// The extra coordinates, to be changed: the numbers, not the names or how many there are. Nothing is checked again.
    pub fn extra_mut(&mut self) -> &mut [Coordinates<S>] {
        &mut self.extra
    }
    /// The bodies.
    pub fn bodies(&self) -> &[Rigid<S>] {
        &self.bodies
    }
    /// The joints.
    pub fn joints(&self) -> &[Joint<S>] {
        &self.joints
    }
    /// The forces between bodies.
    pub fn forces(&self) -> &[Force<S>] {
        &self.forces
    }
    /// The extra coordinates.
    pub fn extra(&self) -> &[Coordinates<S>] {
        &self.extra
    }
    /// The mean of the masses, to scale equations with.
    pub(super) fn typical_mass(&self) -> S {
        let sum = self.bodies.iter().fold(S::zero(), |sum, body| sum + body.mass);
        if self.bodies.is_empty() { S::one() } else { sum / S::lift(self.bodies.len() as f64) }
    }
    /// The largest distance of a joint or force from the centre of mass of its body, or radius of gyration, twice, rounded down
    /// to a power of two, by which lengths and angles are compared: multiplied by it numbers keep their digits, and those of
    /// a system with all lengths multiplied by a power of two are the same.
    pub(super) fn typical_length(&self) -> f64 {
        let ends = self.joints.iter().flat_map(|j| &j.ends).chain(self.forces.iter().flat_map(|f| &f.ends));
        let arms = ends.filter(|end| end.body.is_some()).map(|end| end.point.dot(&end.point).largest());
        let known = self.bodies.iter().filter(|body| !matches!(body.held, Held::Pivot(_)));
        let gyrations = known.map(|body| (body.inertia.matrix().trace() / body.mass).largest());
        let length = 2.0 * arms.chain(gyrations).fold(0.0, larger).sqrt();
        // The exponent alone.
        let rounded = f64::from_bits(length.to_bits() & f64::INFINITY.to_bits());
        if rounded.is_normal() && rounded.recip().is_normal() { rounded } else { 1.0 }
    }
    /// How many motions joints and fixed points leave, if none of them forbids one that another forbids too.
    pub fn degrees_of_freedom(&self) -> usize {
        let fixed =
            self.bodies.iter().filter(|body| matches!(body.held, Held::Point | Held::Pivot(_))).count();
        let forbidden: usize = self.joints.iter().map(|joint| joint.kind.rows()).sum::<usize>() + 3 * fixed;
        let all = 6 * self.bodies.len() + self.extra.iter().map(Coordinates::len).sum::<usize>();
        all.saturating_sub(forbidden)
    }
    /// True if the mass of a body is known: that of one about a fixed point need not be.
    pub fn has_known_mass(&self, body: usize) -> bool {
        self.bodies.get(body).is_some_and(|body| !matches!(body.held, Held::Pivot(_)))
    }
    /// The number of the body with this name.
    pub fn index(&self, body: &str) -> Option<usize> {
        match self.frames.get(body)? {
            Frame::Own(body) => *body,
            Frame::Fixed(_) => None,
        }
    }
}

fn is_positive<S: Real>(x: S) -> bool {
    x.is_finite().all() && S::zero().below(x).all()
}

fn finite<S: Real>(element: &str, what: &'static str, v: &Vector3<S>) -> Result<(), SystemError> {
    match v.iter().find(|x| !x.is_finite().all()) {
        Some(value) => {
            Err(SystemError::Number { element: element.into(), what: what.into(), value: value.largest() })
        }
        None => Ok(()),
    }
}

fn all_finite<S: Real>(element: &str, numbers: Vec<Number<'_, S>>) -> Result<(), SystemError> {
    match numbers.into_iter().find(|number| !number.value.is_finite().all()) {
        Some(Number { name, value, .. }) => Err(SystemError::Number {
            element: element.into(),
            what: format!("its {name} must be finite").into(),
            value: value.largest(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_equally_near_come_in_their_order() {
        let mut system = System::<f64>::new(Vector3::zeros());
        for name in ["arm7", "arm3", "arm5", "arm1", "arm9"] {
            let body = Rigid::new(1.0, Matrix3::identity()).unwrap();
            system.body(name, body).unwrap();
        }
        match system.end("hinge", "arm0") {
            Err(SystemError::Missing { near, .. }) => assert_eq!(near, ["arm1", "arm3", "arm5"]),
            other => panic!("{other:?}"),
        }
    }
}
