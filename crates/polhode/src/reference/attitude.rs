//! Attitudes in double-double numbers: unit quaternions (w, x, y, z) and rotation matrices, body to space.

use crate::scalar::{Dd, Real};
use nalgebra::{Matrix3, Vector3};

/// A unit quaternion, scalar part first.
pub(super) type Quaternion = [Dd; 4];

/// Each entry as a double-double.
pub(super) fn lift(v: &Vector3<f64>) -> Vector3<Dd> {
    v.map(Dd::from)
}

/// The quaternion of a rotation vector.
pub(super) fn exp(psi: &Vector3<Dd>) -> Quaternion {
    let e = Dd::exp_coefficients(psi.dot(psi));
    [e.w, psi.x * e.k, psi.y * e.k, psi.z * e.k]
}

/// The rotation matrix of a quaternion.
pub(super) fn matrix(q: &Quaternion) -> Matrix3<Dd> {
    let [w, x, y, z] = *q;
    let one = Dd::ONE;
    Matrix3::new(
        one - (y * y + z * z) * 2.0,
        (x * y - w * z) * 2.0,
        (x * z + w * y) * 2.0,
        (x * y + w * z) * 2.0,
        one - (x * x + z * z) * 2.0,
        (y * z - w * x) * 2.0,
        (x * z - w * y) * 2.0,
        (y * z + w * x) * 2.0,
        one - (x * x + y * y) * 2.0,
    )
}

/// The quaternion of a rotation matrix that is orthogonal to all digits.
pub(super) fn quaternion(r: &Matrix3<Dd>) -> Quaternion {
    let one = Dd::ONE;
    // Four times the square of each part; the largest is the safe one to divide by.
    let squares = [
        one + r[(0, 0)] + r[(1, 1)] + r[(2, 2)],
        one + r[(0, 0)] - r[(1, 1)] - r[(2, 2)],
        one - r[(0, 0)] + r[(1, 1)] - r[(2, 2)],
        one - r[(0, 0)] - r[(1, 1)] + r[(2, 2)],
    ];
    let odd = [r[(2, 1)] - r[(1, 2)], r[(0, 2)] - r[(2, 0)], r[(1, 0)] - r[(0, 1)]];
    let even = [r[(2, 1)] + r[(1, 2)], r[(0, 2)] + r[(2, 0)], r[(1, 0)] + r[(0, 1)]];
    let largest = (1..4).fold(0, |best, i| if squares[i] > squares[best] { i } else { best });
    // Four times the products of the largest part with each part.
    let products = match largest {
        0 => [squares[0], odd[0], odd[1], odd[2]],
        1 => [odd[0], squares[1], even[2], even[1]],
        2 => [odd[1], even[2], squares[2], even[0]],
        _ => [odd[2], even[1], even[0], squares[3]],
    };
    let norm = products.iter().fold(Dd::ZERO, |sum, p| sum + *p * *p).sqrt();
    products.map(|p| p / norm)
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
