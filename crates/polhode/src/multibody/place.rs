//! Where a body is, as joints and forces see it, and the vectors that they calculate with.

use crate::group::{Jet, spin};
use crate::scalar::{Dual, Real, called, cross};
use nalgebra::{Matrix3, Vector3};

/// Where a body is and how it moves: position and velocity of its centre of mass in space, angular velocity in body axes.
#[derive(Clone, Copy, Debug)]
pub struct Place<T> {
    /// Position.
    pub x: Vector3<T>,
    /// Attitude, body to space.
    pub r: Matrix3<T>,
    /// Velocity in space.
    pub v: Vector3<T>,
    /// Angular velocity in body axes.
    pub omega: Vector3<T>,
}

impl<T: Real> Place<T> {
    /// The ground.
    pub fn ground() -> Self {
        let zero = zero();
        Place { x: zero, r: Matrix3::identity(), v: zero, omega: zero }
    }
    /// A vector of the body, in space.
    #[inline(always)]
    pub(super) fn to_space(self, y: &Vector3<T>) -> Vector3<T> {
        called!(T, 64, self.r * y)
    }
    /// A vector of space, in body axes.
    #[inline(always)]
    pub(super) fn to_body(self, s: &Vector3<T>) -> Vector3<T> {
        called!(T, 64, self.r.tr_mul(s))
    }
    /// An axis of space, in body axes.
    #[inline(always)]
    pub(super) fn base(&self, i: usize) -> Vector3<T> {
        Vector3::new(self.r[(i, 0)], self.r[(i, 1)], self.r[(i, 2)])
    }
    /// The derivative of s·(R y) with respect to Θ.
    #[inline(always)]
    pub(super) fn arm(&self, y: &Vector3<T>, s: &Vector3<T>) -> Vector3<T> {
        cross(y, &self.to_body(s))
    }
    /// The velocity of a vector fixed in the body, and the part of its acceleration that Ω alone makes.
    #[inline(always)]
    pub(super) fn rates(&self, y: &Vector3<T>) -> (Vector3<T>, Vector3<T>) {
        let once = cross(&self.omega, y);
        (self.to_space(&once), self.to_space(&cross(&self.omega, &once)))
    }
}

/// Three coordinates of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Position,
    Turn,
    Velocity,
    Omega,
}

impl<T: Real> Place<T> {
    /// The place with derivatives with respect to some of its coordinates, if any.
    pub(super) fn seeded(&self, by: Option<By>) -> Place<Jet<T>> {
        let part = |v: &Vector3<T>, own: By| match by == Some(own) {
            true => Vector3::from_fn(|i, _| Dual::variable(v[i], i)),
            false => v.map(Dual::constant),
        };
        let turn = spin(&part(&zero(), By::Turn)) + Matrix3::identity();
        Place {
            x: part(&self.x, By::Position),
            r: self.r.map(Dual::constant) * turn,
            v: part(&self.v, By::Velocity),
            omega: part(&self.omega, By::Omega),
        }
    }
}

/// a bᵀ.
#[inline(always)]
pub(super) fn outer<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
    Matrix3::from_fn(|i, j| a[i] * b[j])
}

/// ã b̃.
#[inline(always)]
pub(super) fn twice<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
    outer(b, a) - Matrix3::from_diagonal_element(a.dot(b))
}

/// An axis of space.
#[inline(always)]
pub(super) fn unit<T: Real>(i: usize) -> Vector3<T> {
    let mut e = zero();
    e[i] = T::one();
    e
}

#[inline(always)]
pub(super) fn zero<T: Real>() -> Vector3<T> {
    Vector3::new(T::zero(), T::zero(), T::zero())
}
