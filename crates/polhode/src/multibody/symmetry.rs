//! Motions of a whole system that change nothing but where it is: by them the exact motion has momenta that it keeps.

use super::force::{Force, ForceKind};
use super::joint::{Joint, JointKind};
use super::system::{End, Held, System};
use nalgebra::Vector3;

/// How a system may be moved as a whole without a change of what acts in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// Not at all, as far as can be told from its elements.
    None,
    /// Turned about the vertical, the third axis of space: the angular momentum about that is kept.
    Vertical,
    /// Shifted and turned in any way: momentum and angular momentum are kept.
    Full,
}

/// What one element leaves of the symmetry.
fn of_ends(ends: &[End<f64>; 2], turns_with_vertical: impl Fn(&End<f64>) -> bool) -> Symmetry {
    let mut grounded = ends.iter().filter(|end| end.body.is_none());
    match grounded.next() {
        None => Symmetry::Full,
        Some(end) if turns_with_vertical(end) => Symmetry::Vertical,
        Some(_) => Symmetry::None,
    }
}

fn is_on_vertical(point: &Vector3<f64>) -> bool {
    point.x == 0.0 && point.y == 0.0
}

fn is_vertical(axis: &Vector3<f64>) -> bool {
    axis.x == 0.0 && axis.y == 0.0
}

impl Joint<f64> {
    fn symmetry(&self) -> Symmetry {
        let upright = |end: &End<f64>| is_vertical(&end.axes.column(2).into_owned());
        of_ends(&self.ends, |end| match self.kind {
            JointKind::Spherical | JointKind::Distance { .. } => is_on_vertical(&end.point),
            JointKind::Revolute | JointKind::Cylindrical => is_on_vertical(&end.point) && upright(end),
            JointKind::Planar | JointKind::Parallel | JointKind::ConstantAngle { .. } => upright(end),
            _ => false,
        })
        // What rows of one's own do where all is moved is not known.
        .at_most(match &self.kind {
            JointKind::Own(own) if !own.is_relative() => Symmetry::None,
            _ => Symmetry::Full,
        })
    }
}

impl Force<f64> {
    /// Whatever a force does to one body, it does the opposite to the other, at the same point.
    fn symmetry(&self) -> Symmetry {
        let springs = matches!(self.kind, ForceKind::SpringDamper { .. });
        of_ends(&self.ends, |end| springs && is_on_vertical(&end.point))
    }
}

impl Symmetry {
    /// What two of them have in common.
    fn at_most(self, other: Symmetry) -> Symmetry {
        match (self, other) {
            (Symmetry::None, _) | (_, Symmetry::None) => Symmetry::None,
            (Symmetry::Full, Symmetry::Full) => Symmetry::Full,
            _ => Symmetry::Vertical,
        }
    }
}

impl System<f64> {
    /// How it may be moved as a whole without a change of what acts in it.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::multibody::{GROUND, JointKind, Rigid, Symmetry, System};
    /// let mut pair = System::new(Vector3::zeros());
    /// let link = || Rigid::new(1.0, Matrix3::identity());
    /// pair.body("left", link()?.on_fixed_point())?;
    /// assert_eq!(pair.symmetry(), Symmetry::Vertical);
    /// let mut pair = System::new(Vector3::zeros());
    /// pair.body("left", link()?)?;
    /// pair.body("right", link()?)?;
    /// pair.joint("ball", JointKind::Spherical, "left", "right")?;
    /// assert_eq!(pair.symmetry(), Symmetry::Full);
    /// pair.joint("foot", JointKind::Revolute, GROUND, "left")?;
    /// assert_eq!(pair.symmetry(), Symmetry::Vertical);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn symmetry(&self) -> Symmetry {
        let weight = match self.gravity {
            g if g == Vector3::zeros() => Symmetry::Full,
            g if is_vertical(&g) => Symmetry::Vertical,
            _ => Symmetry::None,
        };
        let bodies = self.bodies.iter().map(|body| match body.held {
            _ if !body.loads.is_empty() => Symmetry::None,
            Held::Elsewhere | Held::Free => Symmetry::Full,
            Held::Point | Held::Pivot(_) if is_on_vertical(&body.position) => Symmetry::Vertical,
            Held::Point | Held::Pivot(_) => Symmetry::None,
        });
        let elements = self.joints.iter().map(Joint::symmetry).chain(self.forces.iter().map(Force::symmetry));
        bodies.chain(elements).fold(weight, Symmetry::at_most)
    }
}
