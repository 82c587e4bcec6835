//! Attitudes as unit quaternions, scalar first, body to space.

use super::{Coordinates, Exponential, Map};
use crate::archive::kept;
use crate::scalar::{Dual, Over, Real, called, cross};
use nalgebra::{Matrix3, Vector3};

/// A rotation, stored as a unit quaternion (w, v): x_space = R x_body.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::group::Rotation;
/// let r = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0));
/// assert!((r.rotation_vector().x - 0.3).abs() < 1e-15);
/// assert!((r.matrix()[(1, 1)] - 0.3f64.cos()).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation<S> {
    pub(crate) w: S,
    pub(crate) v: Vector3<S>,
}

/// A rotation given by the parameters of a vectorial map, not yet made into a quaternion: the products with the
/// parameters do not have to wait for the functions of their length.
#[derive(Clone, Copy, Debug)]
pub struct Turn<S> {
    /// The parameters p.
    psi: Vector3<S>,
    /// Scalar part of the unit quaternion.
    w: S,
    /// Vector part per unit of p.
    k: S,
}

impl<S: Real> Turn<S> {
    /// From the parameters of any vectorial map.
    #[inline(always)]
    pub fn from_parameters<M: Map>(map: M, p: &Vector3<S>) -> Self {
        let c = map.coefficients(p.dot(p));
        Turn { psi: *p, w: c.w, k: c.k }
    }
    /// p × x and p × (p × x), each times its coefficient: z₁ = 2wk, z₂ = 2k².
    #[inline(always)]
    fn parts(&self, x: &Vector3<S>) -> (Vector3<S>, Vector3<S>) {
        let once = cross(&self.psi, x);
        let twice = cross(&self.psi, &once);
        let k2 = self.k + self.k;
        (once.scaled(self.w * k2), twice.scaled(self.k * k2))
    }
    /// R x.
    #[inline(always)]
    pub fn rotate(&self, x: &Vector3<S>) -> Vector3<S> {
        called!(S, 64, {
            let (once, twice) = self.parts(x);
            x + once + twice
        })
    }
    /// Rᵀ x.
    #[inline(always)]
    pub fn unrotate(&self, x: &Vector3<S>) -> Vector3<S> {
        called!(S, 64, {
            let (once, twice) = self.parts(x);
            x - once + twice
        })
    }
    /// The rotation by half the angle about the same axis, for the same parameters.
    #[inline(always)]
    pub fn half<M: Map>(map: M, p: &Vector3<S>) -> Self {
        let (w, k) = map.half(p.dot(p));
        Turn { psi: *p, w, k }
    }
    /// The tangent of half the angle, along the axis.
    #[inline(always)]
    pub(super) fn half_tangent(&self) -> Vector3<S> {
        self.psi.scaled(self.k / self.w)
    }
    /// The quaternion.
    #[inline(always)]
    pub fn rotation(&self) -> Rotation<S> {
        Rotation { w: self.w, v: self.psi.scaled(self.k) }
    }
}

/// No rotation at all.
impl<S: Real> Default for Rotation<S> {
    fn default() -> Self {
        Rotation::identity()
    }
}

impl<S: Real> Rotation<S> {
    /// No rotation.
    #[inline(always)]
    pub fn identity() -> Self {
        Rotation { w: S::one(), v: Vector3::new(S::zero(), S::zero(), S::zero()) }
    }
    /// From a quaternion `[w, x, y, z]` of any length but zero; it is normalised.
    pub fn from_q_wxyz(q: [S; 4]) -> Self {
        let inverse = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt().recip();
        Rotation { w: q[0] * inverse, v: Vector3::new(q[1], q[2], q[3]) * inverse }
    }
    /// The quaternion `[w, x, y, z]`.
    pub fn q_wxyz(&self) -> [S; 4] {
        [self.w, self.v[0], self.v[1], self.v[2]]
    }
    /// From a rotation vector (axis times angle), any length.
    #[inline]
    pub fn from_rotation_vector(psi: &Vector3<S>) -> Self {
        Self::from_parameters(Exponential, psi)
    }
    /// The rotation vector, with length in [0, π]. At π exactly both signs describe the rotation; the one of
    /// the stored quaternion is returned.
    pub fn rotation_vector(&self) -> Vector3<S> {
        Exponential.parameters(self)
    }
    /// From the parameters of any vectorial map.
    #[inline(always)]
    pub fn from_parameters<M: Map>(map: M, p: &Vector3<S>) -> Self {
        Turn::from_parameters(map, p).rotation()
    }
    /// From an orthonormal matrix with determinant one; well conditioned at every angle, π included.
    pub fn from_matrix(m: &Matrix3<S>) -> Self {
        let (a, b, c) = (m[(0, 0)], m[(1, 1)], m[(2, 2)]);
        // Four expressions for the same quaternion, each good where its own component is large.
        let one = S::one();
        let squares = [one + a + b + c, one + a - b - c, one - a + b - c, one - a - b + c];
        let (x, y, z) = (m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)]);
        let (xy, xz, yz) = (m[(0, 1)] + m[(1, 0)], m[(0, 2)] + m[(2, 0)], m[(1, 2)] + m[(2, 1)]);
        let rows = [
            [squares[0], x, y, z],
            [x, squares[1], xy, xz],
            [y, xy, squares[2], yz],
            [z, xz, yz, squares[3]],
        ];
        let (mut best, mut q) = (squares[0], rows[0]);
        for i in 1..4 {
            let better = best.below(squares[i]);
            best = S::select(better, squares[i], best);
            q = core::array::from_fn(|j| S::select(better, rows[i][j], q[j]));
        }
        Self::from_q_wxyz(q).shorter()
    }
    /// The matrix, body to space.
    pub fn matrix(&self) -> Matrix3<S> {
        called!(S, 64, {
            let (w, x, y, z) = (self.w, self.v[0], self.v[1], self.v[2]);
            let two = S::lift(2.0);
            let one = S::one();
            Matrix3::new(
                one - two * (y * y + z * z),
                two * (x * y - w * z),
                two * (x * z + w * y),
                two * (x * y + w * z),
                one - two * (x * x + z * z),
                two * (y * z - w * x),
                two * (x * z - w * y),
                two * (y * z + w * x),
                one - two * (x * x + y * y),
            )
        })
    }
    /// One entry of the matrix, with its bits.
    pub(crate) fn entry(&self, row: usize, column: usize) -> S {
        let (w, v) = (self.w, &self.v);
        let (two, i, j) = (S::lift(2.0), row % 3, column % 3);
        let (next, last) = ((i + 1) % 3, (i + 2) % 3);
        // x y ± w z in the order of x, y and z, plus where the column is the one before the row.
        let product = || v[i.min(j)] * v[i.max(j)];
        match () {
            _ if i == j => {
                S::one()
                    - two * (v[next.min(last)] * v[next.min(last)] + v[next.max(last)] * v[next.max(last)])
            }
            _ if j == last => two * (product() + w * v[next]),
            _ => two * (product() - w * v[last]),
        }
    }
    /// `self` followed, in the moving frame, by `other`.
    #[inline(always)]
    pub fn compose(&self, other: &Self) -> Self {
        called!(S, 64, {
            Rotation {
                w: self.w * other.w - self.v.dot(&other.v),
                v: other.v.scaled(self.w) + self.v.scaled(other.w) + cross(&self.v, &other.v),
            }
        })
    }
    /// `self` followed, in the moving frame, by a turn.
    #[inline(always)]
    pub fn advance(&self, turn: &Turn<S>) -> Self {
        called!(S, 64, {
            let across = turn.psi.scaled(self.w) + cross(&self.v, &turn.psi);
            Rotation {
                w: self.w * turn.w - self.v.dot(&turn.psi) * turn.k,
                v: self.v.scaled(turn.w) + across.scaled(turn.k),
            }
        })
    }
    /// The reverse rotation.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        Rotation { w: self.w, v: -self.v }
    }
    /// R x: from body to space.
    #[inline(always)]
    pub fn rotate(&self, x: &Vector3<S>) -> Vector3<S> {
        called!(S, 64, {
            let t = cross(&self.v, x).scaled(S::lift(2.0));
            x + t.scaled(self.w) + cross(&self.v, &t)
        })
    }
    /// Rᵀ x: from space to body.
    #[inline(always)]
    pub fn unrotate(&self, x: &Vector3<S>) -> Vector3<S> {
        called!(S, 64, {
            let t = cross(&self.v, x).scaled(S::lift(2.0));
            x - t.scaled(self.w) + cross(&self.v, &t)
        })
    }
    /// Rᵀ e₃: the space vertical in body axes.
    #[inline(always)]
    pub fn vertical(&self) -> Vector3<S> {
        called!(S, 64, {
            let (w, x, y, z) = (self.w, self.v[0], self.v[1], self.v[2]);
            let two = S::lift(2.0);
            Vector3::new(two * (x * z - w * y), two * (y * z + w * x), S::one() - two * (x * x + y * y))
        })
    }
    /// The quaternion scaled to unit length, for one that is nearly so already: one Newton step of 1/√|q|²,
    /// which leaves the square of the deviation.
    #[inline(always)]
    pub fn normalized(&self) -> Self {
        called!(S, 64, {
            let norm2 = self.w * self.w + self.v.dot(&self.v);
            let scale = S::lift(1.5) - S::lift(0.5) * norm2;
            Rotation { w: self.w * scale, v: self.v.scaled(scale) }
        })
    }
    /// Of the two quaternions for this rotation the one with w ≥ 0.
    #[inline(always)]
    pub fn shorter(&self) -> Self {
        let negative = self.w.below(S::zero());
        Self::choose(negative, &Rotation { w: -self.w, v: -self.v }, self)
    }
    /// The 2-norm of the difference of the two rotation matrices, 2 sin(φ/2).
    pub fn distance(&self, other: &Self) -> S {
        let d = self.inverse().compose(other);
        d.v.dot(&d.v).sqrt() * S::lift(2.0)
    }
    /// Every number as a constant of `T`.
    #[inline(always)]
    pub fn lift<T: Over<S>>(&self) -> Rotation<T> {
        Rotation { w: T::of(self.w), v: self.v.map(T::of) }
    }
    /// The rotation with other numbers for its own, as those of one of its lanes.
    pub(crate) fn map<T: Real>(&self, f: impl Fn(S) -> T) -> Rotation<T> {
        Rotation { w: f(self.w), v: self.v.map(f) }
    }
    /// Lane by lane, `a` where the mask is true and `b` elsewhere.
    #[inline(always)]
    pub fn choose(mask: S::Mask, a: &Self, b: &Self) -> Self {
        Rotation {
            w: S::select(mask, a.w, b.w),
            v: Vector3::new(
                S::select(mask, a.v[0], b.v[0]),
                S::select(mask, a.v[1], b.v[1]),
                S::select(mask, a.v[2], b.v[2]),
            ),
        }
    }
}

/// Rotations with one derivative.
impl<S: Real> Rotation<Dual<S, 1>> {
    /// W with R' = R W̃: the small turn in body axes that follows the rotation, per unit of what it is differentiated by.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use polhode::group::Rotation;
    /// let r = Rotation::from_rotation_vector(&Vector3::new(0.3, -0.2, 0.5));
    /// let w = Vector3::new(1.0, 2.0, 3.0);
    /// assert!((r.with_slope(&w).slope() - w).norm() < 1e-15);
    /// ```
    pub fn slope(&self) -> Vector3<S> {
        // Twice the vector part of q̄ q'.
        let (w, v) = (self.w.re, self.v.map(|x| x.re));
        let (dw, dv) = (self.w.eps[0], self.v.map(|x| x.eps[0]));
        (dv * w - v * dw - v.cross(&dv)) * S::lift(2.0)
    }
}

impl<S: Real> Rotation<S> {
    /// The rotation with the derivative R' = R W̃, see [`Rotation::slope`].
    pub fn with_slope(&self, turn: &Vector3<S>) -> Rotation<Dual<S, 1>> {
        let half = turn * S::lift(0.5);
        let v = half * self.w + self.v.cross(&half);
        Rotation {
            w: Dual { re: self.w, eps: [-self.v.dot(&half)] },
            v: self.v.zip_map(&v, |re, eps| Dual { re, eps: [eps] }),
        }
    }
}

kept!(Rotation<f64> { w, v });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_those_of_the_matrix() {
        let rotation =
            Rotation::from_rotation_vector(&Vector3::new(0.3, -1.2, 0.5)).with_slope(&Vector3::x());
        let matrix = rotation.matrix();
        for (i, j) in (0..9).map(|k| (k % 3, k / 3)) {
            let (entry, expected) = (rotation.entry(i, j), matrix[(i, j)]);
            assert_eq!([entry.re, entry.eps[0]], [expected.re, expected.eps[0]], "{i} {j}");
        }
    }
}
