//! Attitudes in double-double numbers: unit quaternions [w, x, y, z] through [`Rotation`], and the repair of rounded
//! matrices.

use crate::group::Rotation;
use crate::scalar::Dd;
use nalgebra::{Matrix3, Vector3};

/// A unit quaternion, scalar part first.
pub(super) type Quaternion = [Dd; 4];

/// Each entry as a double-double.
pub(super) fn lift(v: &Vector3<f64>) -> Vector3<Dd> {
    v.map(Dd::from)
}

/// The quaternion of a rotation vector.
pub(super) fn exp(psi: &Vector3<Dd>) -> Quaternion {
    Rotation::from_rotation_vector(psi).q_wxyz()
}

/// The rotation matrix of a quaternion.
pub(super) fn matrix(q: &Quaternion) -> Matrix3<Dd> {
    Rotation::from_q_wxyz(*q).matrix()
}

/// The quaternion of a rotation matrix that is orthogonal to all digits.
pub(super) fn quaternion(r: &Matrix3<Dd>) -> Quaternion {
    Rotation::from_matrix(r).q_wxyz()
}

/// The nearest rotation to a matrix that is one up to rounding (Newton's iteration for the polar factor).
pub(super) fn orthonormal(r: &Matrix3<Dd>) -> Matrix3<Dd> {
    let mut r = *r;
    for _ in 0..6 {
        let gram = r.transpose() * r;
        let mut correction = -gram;
        for i in 0..3 {
            correction[(i, i)] += Dd::from(3.0);
        }
        r = (r * correction).map(|x| x * 0.5);
    }
    r
}
