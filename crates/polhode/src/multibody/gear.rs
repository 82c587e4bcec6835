//! Gears: two wheels whose teeth mesh.

use super::error::SystemError;
use super::own::{Frames, JointFormula, MovingFrames, OwnJoint};
use super::system::{End, System};
use crate::scalar::Real;

/// Axles whose directions have a smaller sine between them are parallel; wheels whose centres lie nearer to the axle of the
/// other, relative to their distance, are on one axle.
const PARALLEL: f64 = 1e-6;

/// Two wheels that mesh. The angle at which a wheel sees the centre of the other goes back as the wheel turns in whatever
/// carries both axles: so many teeth of one pass the line of centres as of the other, and n₁ α₁ + n₂ α₂ keeps its value,
/// for spur and bevel wheels alike and without the carrier in the formula. Its sine has no jumps, n₁ and n₂ being integers.
#[derive(Debug)]
struct Mesh {
    /// Without common divisors.
    teeth: [i32; 2],
}

impl Mesh {
    /// n₁ α₁ + n₂ α₂.
    fn phase<T: Real>(&self, at: &Frames<T>) -> T {
        let seen = |wheel: usize, line: T| {
            let span = at.span() * line;
            span.dot(&at.axis(wheel, 1)).atan2(span.dot(&at.axis(wheel, 0)))
        };
        let [first, second] = self.teeth.map(|n| T::lift(f64::from(n)));
        first * seen(0, T::one()) + second * seen(1, -T::one())
    }
}

impl JointFormula for Mesh {
    fn kind(&self) -> &'static str {
        "gear"
    }
    fn names(&self) -> Vec<String> {
        vec!["phase".into()]
    }
    fn rows(&self) -> usize {
        1
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        // As the wheel with the most turns sees it.
        let finest = self.teeth[0].abs().max(self.teeth[1].abs());
        rows[0] = (self.phase(at) - numbers[0]).sin_cos().0 / T::lift(f64::from(finest));
    }
    fn is_relative(&self) -> bool {
        true
    }
    fn is_angle(&self, _row: usize) -> bool {
        true
    }
}

fn common_divisor(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

impl<S: Real> System<S> {
    /// Lets two wheels mesh as they are drawn: their frames have their centres as points and their axles as third axes, which
    /// joints of their own hold in whatever carries them. Wheels with so many teeth turn opposite ways on parallel axles, and
    /// about axes that point away from where they meet; a negative number is a ring with its teeth inside.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::{group::Rotation, method::Method};
    /// use polhode::multibody::{Coordinate, GROUND, JointKind, Rigid, Simulation, System};
    /// let mut system = System::new(Vector3::zeros());
    /// for (wheel, axle, x) in [("pinion", "first", 0.0), ("wheel", "second", 0.3)] {
    ///     let place = Vector3::x() * x;
    ///     system.body(wheel, Rigid::new(1.0, Matrix3::identity())?.at(place, Rotation::identity()))?;
    ///     system.frame(axle, GROUND, place, Rotation::identity())?;
    ///     system.joint(&format!("{axle}-hinge"), JointKind::Revolute, axle, wheel)?;
    /// }
    /// system.gear("mesh", [20, 40], "pinion", "wheel")?;
    /// system.start("first-hinge", Coordinate::Angle, None, Some(8.0))?;
    /// let mut run = Simulation::new(&system, &Method::parse("conserving")?)?;
    /// (0..100).try_for_each(|_| run.step(0.01))?;
    /// assert!((run.bodies()[0].omega_body.z + 2.0 * run.bodies()[1].omega_body.z).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gear(&mut self, name: &str, teeth: [i32; 2], a: &str, b: &str) -> Result<(), SystemError> {
        let ends = self.ends(&format!("the joint '{name}'"), [a, b])?;
        self.gear_with_ends(name, teeth, ends)
    }
    /// The same between two ends that need not be frames with a name.
    pub(crate) fn gear_with_ends(
        &mut self,
        name: &str,
        teeth: [i32; 2],
        ends: [End<S>; 2],
    ) -> Result<(), SystemError> {
        let wrong = |what: &'static str, value: f64| SystemError::Number {
            element: format!("the joint '{name}'"),
            what: what.into(),
            value,
        };
        if let Some(none) = teeth.iter().find(|n| **n == 0 || **n == i32::MIN) {
            return Err(wrong(
                "its wheels need teeth, 1 or more (-1 or less inside a ring)",
                f64::from(*none),
            ));
        }
        let places = ends.map(|end| self.place_of(end.body));
        let drawn = MovingFrames::of(&ends, S::zero(), places.each_ref()).frames;
        let [first, second] = [0, 1].map(|wheel| drawn.axis(wheel, 2).map(Real::largest));
        let span = drawn.span().map(Real::largest);
        let (length, sine) = (span.norm(), first.cross(&second).norm());
        if let Some(axle) = [first, second].iter().find(|axle| axle.cross(&span).norm() <= PARALLEL * length)
        {
            return Err(wrong(
                "the centre of one of its wheels must not lie on the axle of the other, as it does to so many m; wheels on one \
                 axle are geared by a third beside them",
                axle.cross(&span).norm(),
            ));
        }
        // Whether the axes point the same way, or both away from where they meet or both towards it.
        let same = if sine < PARALLEL {
            first.dot(&second) > 0.0
        } else {
            let cosine = first.dot(&second);
            let (along, across) = (first.dot(&span), second.dot(&span));
            (cosine * across - along) * (across - cosine * along) >= 0.0
        };
        let [n1, n2] = [teeth[0], if same { teeth[1] } else { -teeth[1] }];
        let divisor = common_divisor(n1.abs(), n2.abs());
        let mesh = Mesh { teeth: [n1 / divisor, n2 / divisor] };
        let phase = mesh.phase(&drawn);
        let row = OwnJoint::new(mesh, vec![phase])
            .map_err(|_| wrong("its phase must be one number", phase.largest()))?;
        self.joint_with_ends(name, row, ends)
    }
}
