//! Pieces of rows and strains: of at most second degree in positions and base vectors.

use super::super::place::{Place, zero};
use super::super::system::End;
use crate::group::spin;
use crate::scalar::{Dual, Over, Real, cross};
use nalgebra::{Matrix3, Vector3};

/// Where the two frames of an element are: seen from the centres of mass of their bodies, in space. The axes need not be
/// perpendicular.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Seen<T> {
    /// From the centre of mass of each body to the point of its frame.
    pub(in crate::multibody) arms: [Vector3<T>; 2],
    /// The axes of the frames, as columns.
    pub(in crate::multibody) axes: [Matrix3<T>; 2],
    /// From the point of the first to that of the second.
    pub(in crate::multibody) span: Vector3<T>,
}

/// Forces of an element: the one on the first body in space, whose opposite acts on the second, and the moments on both about
/// their centres of mass, in space.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Pull<T> {
    pub(in crate::multibody) force: Vector3<T>,
    pub(in crate::multibody) moments: [Vector3<T>; 2],
}

/// A number made of where two frames are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::multibody) enum Piece {
    /// U_i·W_j.
    Cosine(usize, usize),
    /// -d along an axis of the frame on this end.
    Plane(usize, usize),
}

impl<T: Real> Seen<T> {
    #[inline(always)]
    pub(in crate::multibody) fn of<S: Real>(ends: &[End<S>; 2], places: [&Place<T>; 2]) -> Self
    where
        T: Over<S>,
    {
        let arms: [Vector3<T>; 2] = [0, 1].map(|i| places[i].r * ends[i].point.map(T::of));
        Seen {
            arms,
            axes: [0, 1].map(|i| places[i].r * ends[i].axes.map(T::of)),
            span: places[1].x + arms[1] - places[0].x - arms[0],
        }
    }
    /// The same with how it changes, velocities held.
    #[inline(always)]
    pub(in crate::multibody) fn moving<S: Real>(
        ends: &[End<S>; 2],
        places: [&Place<T>; 2],
    ) -> Seen<Dual<T, 1>>
    where
        T: Over<S>,
    {
        let now = Seen::of(ends, places);
        let turning = places.map(|place| place.r * spin(&place.omega));
        let arms: [Vector3<T>; 2] = [0, 1].map(|i| turning[i] * ends[i].point.map(T::of));
        let span = places[1].v + arms[1] - places[0].v - arms[0];
        let late = |re: T, eps: T| Dual { re, eps: [eps] };
        Seen {
            arms: [0, 1].map(|i| now.arms[i].zip_map(&arms[i], late)),
            axes: [0, 1].map(|i| now.axes[i].zip_map(&(turning[i] * ends[i].axes.map(T::of)), late)),
            span: now.span.zip_map(&span, late),
        }
    }
    #[inline(always)]
    pub(in crate::multibody) fn axis(&self, end: usize, i: usize) -> Vector3<T> {
        let m = &self.axes[end];
        Vector3::new(m[(0, i)], m[(1, i)], m[(2, i)])
    }
    /// Adds the gradient of a piece times a number: with respect to the position of the first body, and Σ q_j × its
    /// derivatives by the base vectors of each.
    #[inline(always)]
    pub(in crate::multibody) fn pull(&self, piece: Piece, l: T, out: &mut Pull<T>) {
        match piece {
            Piece::Cosine(i, j) => {
                let moment = cross(&self.axis(0, i), &self.axis(1, j)) * l;
                out.moments[0] += moment;
                out.moments[1] -= moment;
            }
            Piece::Plane(end, i) => {
                let f = self.axis(end, i) * l;
                out.push(&self.arms, &f);
                out.moments[end] -= cross(&f, &self.span);
            }
        }
    }
}

impl<T: Real> Pull<T> {
    #[inline(always)]
    pub(in crate::multibody) fn none() -> Self {
        Pull { force: zero(), moments: [zero(); 2] }
    }
    /// A force on the point of the first frame, and its opposite on that of the second.
    #[inline(always)]
    pub(in crate::multibody) fn push(&mut self, arms: &[Vector3<T>; 2], f: &Vector3<T>) {
        self.force += f;
        self.moments[0] += cross(&arms[0], f);
        self.moments[1] -= cross(&arms[1], f);
    }
    /// Force and moment on one of the bodies.
    #[inline(always)]
    pub(in crate::multibody) fn on(&self, end: usize) -> [Vector3<T>; 2] {
        [if end == 0 { self.force } else { -self.force }, self.moments[end]]
    }
    #[inline(always)]
    pub(in crate::multibody) fn add(&mut self, other: &Self, l: T) {
        self.force += other.force * l;
        self.moments[0] += other.moments[0] * l;
        self.moments[1] += other.moments[1] * l;
    }
}
