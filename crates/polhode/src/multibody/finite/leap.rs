//! One body over a step.

use super::super::place::{Place, zero};
use crate::group::spin;
use crate::scalar::Real;
use nalgebra::{Matrix3, Vector3};

/// Both ends of a step of one body, and their mean. Velocities are times the step: they are displacements.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Leap<T> {
    /// Start and end.
    pub(in crate::multibody) ends: [Place<T>; 2],
    /// The mean of both ends. The mean of two attitude matrices is not a rotation matrix.
    pub(in crate::multibody) mean: Place<T>,
    /// a: the rotation of the step is its Cayley transform.
    pub(in crate::multibody) turn: Vector3<T>,
}

/// cay(a) = (I - ã/2)⁻¹ (I + ã/2).
#[inline(always)]
pub(in crate::multibody) fn cayley<T: Real>(a: &Vector3<T>) -> Matrix3<T> {
    let (square, half) = (a.dot(a), T::lift(0.5));
    let per = (T::one() + square * T::lift(0.25)).recip();
    // ã ã = a aᵀ - a·a.
    let (scaled, along) = (a * per, a * (per * half));
    let diagonal = Matrix3::from_diagonal_element(T::one() - square * per * half);
    diagonal + spin(&scaled) + Matrix3::from_fn(|i, j| along[i] * a[j])
}

impl<T: Real> Leap<T> {
    /// What does not move.
    pub(in crate::multibody) fn ground() -> Self {
        let still = Place::ground();
        Leap { ends: [still; 2], mean: still, turn: zero() }
    }
    /// From a start, by a change (ξ, a) of the pose and with the means (h v̄, h Ω̄) of the velocities.
    #[inline(always)]
    pub(in crate::multibody) fn new(
        start: Place<T>,
        moved: [Vector3<T>; 2],
        change: [Vector3<T>; 2],
    ) -> Self {
        let mut leap = Leap { ends: [start; 2], mean: start, turn: moved[1] };
        leap.go(moved, change);
        leap
    }
    /// The same from the start that it has.
    #[inline(always)]
    pub(in crate::multibody) fn go(&mut self, moved: [Vector3<T>; 2], change: [Vector3<T>; 2]) {
        let (two, half) = (T::lift(2.0), T::lift(0.5));
        let [start, end] = &mut self.ends;
        end.x = start.x + moved[0];
        let (r, cay) = (&start.r, cayley(&moved[1]));
        // The general product of matrices is not compiled in place.
        end.r = Matrix3::from_fn(|i, j| {
            r[(i, 0)] * cay[(0, j)] + r[(i, 1)] * cay[(1, j)] + r[(i, 2)] * cay[(2, j)]
        });
        end.v = change[0] * two - start.v;
        end.omega = change[1] * two - start.omega;
        self.mean.x = start.x + moved[0] * half;
        self.mean.r = (start.r + end.r) * half;
        self.mean.v = change[0];
        self.mean.omega = change[1];
        self.turn = moved[1];
    }
    /// 1/(1 + a·a/4).
    #[inline(always)]
    fn per(&self) -> T {
        (T::one() + self.turn.dot(&self.turn) * T::lift(0.25)).recip()
    }
    /// cay(a) y.
    #[inline(always)]
    pub(in crate::multibody) fn turned(&self, y: &Vector3<T>) -> Vector3<T> {
        let across = self.turn.cross(y);
        y + (across + self.turn.cross(&across) * T::lift(0.5)) * self.per()
    }
    /// T = (I + ã/2)/(1 + a·a/4): the turn of the end, in axes of the start, by a change of a.
    #[inline(always)]
    pub(in crate::multibody) fn tangent(&self) -> Matrix3<T> {
        let per = self.per();
        Matrix3::from_diagonal_element(per) + spin(&(self.turn * (per * T::lift(0.5))))
    }
    /// Tᵀ da: the turn of the end in its own axes by a change of a.
    #[inline(always)]
    pub(in crate::multibody) fn turn_of_end(&self, change: &Vector3<T>) -> Vector3<T> {
        (change - self.turn.cross(change) * T::lift(0.5)) * self.per()
    }
    /// The derivative by a of what has this one by a turn of the end in its own axes: they turn by Tᵀ da.
    #[inline(always)]
    pub(in crate::multibody) fn tangent_of_end(&self, slope: &Vector3<T>) -> Vector3<T> {
        (slope + self.turn.cross(slope) * T::lift(0.5)) * self.per()
    }
    /// θ in space: what a moment does work on.
    #[inline(always)]
    pub(in crate::multibody) fn theta(&self) -> Vector3<T> {
        self.ends[0].r * self.turn
    }
    /// In the middle of the step, with an attitude that is a rotation.
    pub(in crate::multibody) fn middle(&self) -> Place<T> {
        let quarter = self.turn.dot(&self.turn) * T::lift(0.25);
        let half = self.turn / (T::one() + (T::one() + quarter).sqrt());
        Place { r: self.ends[0].r * cayley(&half), ..self.mean }
    }
}
