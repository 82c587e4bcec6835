//! Mass, centre of mass and inertia of what is fixed together.

use nalgebra::{Isometry3, Matrix3, Vector3};
use polhode::body::{InertiaError, RotaryInertia};
use std::f64::consts::PI;

/// The mass of a body, its centre, and the inertia about it, in the axes of some frame.
#[derive(Clone, Copy, Debug)]
pub struct Mass {
    /// In kg.
    pub mass: f64,
    /// From the origin of the frame, in m.
    pub center: Vector3<f64>,
    /// About the centre of mass, in kg m².
    pub inertia: Matrix3<f64>,
}

/// The inertia of a unit of mass at this place about the origin.
fn lever(r: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::identity() * r.norm_squared() - r * r.transpose()
}

impl Mass {
    /// The same in a frame in which the old one stands so.
    pub fn seen_from(&self, pose: &Isometry3<f64>) -> Mass {
        let turn = pose.rotation.to_rotation_matrix();
        let turned = turn.matrix() * self.inertia * turn.matrix().transpose();
        Mass {
            mass: self.mass,
            center: pose * nalgebra::Point3::from(self.center) - nalgebra::Point3::origin(),
            inertia: (turned + turned.transpose()) * 0.5,
        }
    }
    /// Both together, in one frame.
    pub fn with(&self, other: &Mass) -> Mass {
        let mass = self.mass + other.mass;
        let center = (self.center * self.mass + other.center * other.mass) / mass;
        let about = |part: &Mass| part.inertia + lever(&(part.center - center)) * part.mass;
        Mass { mass, center, inertia: about(self) + about(other) }
    }
    /// Why no body has this inertia, if none has. Moments of zero are left to the model, which knows what may turn.
    pub fn objection(&self) -> Option<String> {
        match RotaryInertia::about_fixed_point(self.inertia) {
            Ok(_) => None,
            Err(InertiaError::NotPositive { moments }) if moments.iter().all(|x| *x >= -1e-15) => None,
            Err(error) => Some(error.to_string()),
        }
    }
}

/// A solid about its middle, along z where it has an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// By its half edges.
    Box(Vector3<f64>),
    /// By its semi-axes; a sphere has three equal ones.
    Ellipsoid(Vector3<f64>),
    /// Radius and half length.
    Cylinder(f64, f64),
    /// Radius and half the length of its cylinder.
    Capsule(f64, f64),
}

impl Solid {
    /// In m³.
    pub fn volume(&self) -> f64 {
        match self {
            Solid::Box(half) => 8.0 * half.product(),
            Solid::Ellipsoid(axes) => 4.0 / 3.0 * PI * axes.product(),
            Solid::Cylinder(radius, half) => 2.0 * PI * radius * radius * half,
            Solid::Capsule(radius, half) => PI * radius * radius * (2.0 * half + 4.0 / 3.0 * radius),
        }
    }
    /// The moments of inertia about its middle with this mass.
    pub fn moments(&self, mass: f64) -> Vector3<f64> {
        let crossed = |part: f64, v: &Vector3<f64>| {
            let s = v.component_mul(v) * part;
            Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y)
        };
        match self {
            Solid::Box(half) => crossed(mass / 3.0, half),
            Solid::Ellipsoid(axes) => crossed(mass / 5.0, axes),
            Solid::Cylinder(radius, half) => {
                let across = mass * (radius * radius / 4.0 + half * half / 3.0);
                Vector3::new(across, across, mass * radius * radius / 2.0)
            }
            Solid::Capsule(radius, half) => {
                let ball = 4.0 / 3.0 * radius / (2.0 * half + 4.0 / 3.0 * radius) * mass;
                let middle = Solid::Cylinder(*radius, *half).moments(mass - ball);
                // Half a ball has its centre of mass 3/8 of the radius from its flat side.
                let out = half + 0.375 * radius;
                let across = ball * (0.4 - 9.0 / 64.0) * radius * radius + ball * out * out;
                middle + Vector3::new(across, across, 0.4 * ball * radius * radius)
            }
        }
    }
}
