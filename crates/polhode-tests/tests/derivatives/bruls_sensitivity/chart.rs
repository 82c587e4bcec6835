//! The conformal rotation vector c and the rotation vector ψ: rotations, tangents and their derivatives, each written
//! from the paper, (34)-(38) and (119)-(121), with matrices of numbers and nothing of the library.

use nalgebra::{Matrix3, Vector3};

pub type V3 = Vector3<f64>;
pub type M3 = Matrix3<f64>;

/// spin(v) a = v × a.
pub fn spin(v: &V3) -> M3 {
    M3::new(0.0, -v[2], v[1], v[2], 0.0, -v[0], -v[1], v[0], 0.0)
}

fn c0(c: &V3) -> f64 {
    2.0 - c.dot(c) / 8.0
}

/// The last bracket of (119).
fn bracket(c: &V3) -> M3 {
    M3::identity() * (2.0 + c0(c) / 2.0) + c * c.transpose() / 4.0 - spin(c)
}

/// R(c), (37).
pub fn rotation(c: &V3) -> M3 {
    let c0 = c0(c);
    (M3::identity() * (c0 * c0 + 8.0 * c0 - 16.0) + c * c.transpose() * 2.0 + spin(c) * (2.0 * c0))
        / (4.0 - c0).powi(2)
}

/// T(c), (38).
pub fn tangent(c: &V3) -> M3 {
    let c0 = c0(c);
    (M3::identity() * c0 + c * c.transpose() / 4.0 - spin(c)) * (2.0 / (4.0 - c0).powi(2))
}

/// DT·v, (119).
pub fn tangent_slope(c: &V3, v: &V3) -> M3 {
    let e = 4.0 - c0(c);
    ((c * v.transpose() + v * c.transpose()) / 4.0 - spin(v)) * (2.0 / e.powi(2))
        - bracket(c) * (c.dot(v) / e.powi(3))
}

/// D(DT·v)·w, where v itself changes by `dv` in the direction w.
pub fn tangent_curvature(c: &V3, v: &V3, w: &V3, dv: &V3) -> M3 {
    let e = 4.0 - c0(c);
    let (cv, cw) = (c.dot(v), c.dot(w));
    let pair = |a: &V3, b: &V3| (a * b.transpose() + b * a.transpose()) / 4.0;
    (pair(w, v) + pair(c, dv) - spin(dv)) * (2.0 / e.powi(2))
        - (pair(c, v) - spin(v)) * (cw / e.powi(3))
        - (pair(c, w) - spin(w) - M3::identity() * (cw / 8.0)) * (cv / e.powi(3))
        + bracket(c) * ((0.75 * cv * cw / e - w.dot(v) - c.dot(dv)) / e.powi(3))
}

/// k_G(c, G) v = (DTᵀ·v) G, (121).
pub fn k_g(c: &V3, g: &V3) -> M3 {
    let e = 4.0 - c0(c);
    (c * g.transpose() / 4.0 + M3::identity() * (c.dot(g) / 4.0) - spin(g)) * (2.0 / e.powi(2))
        - bracket(c).transpose() * g * c.transpose() / e.powi(3)
}

/// k_T(c, a) v = (DT·v) a; the paper needs it for k_a and does not print it.
pub fn k_t(c: &V3, a: &V3) -> M3 {
    let e = 4.0 - c0(c);
    (c * a.transpose() / 4.0 + M3::identity() * (c.dot(a) / 4.0) + spin(a)) * (2.0 / e.powi(2))
        - bracket(c) * a * c.transpose() / e.powi(3)
}

/// exp(ψ̃), (34).
pub fn exponential(psi: &V3) -> M3 {
    let (angle, s) = (psi.norm(), spin(psi));
    if angle == 0.0 {
        return M3::identity();
    }
    M3::identity() + s * (angle.sin() / angle) + s * s * (2.0 * ((angle / 2.0).sin() / angle).powi(2))
}

/// T(ψ), (35).
pub fn exponential_tangent(psi: &V3) -> M3 {
    let (angle, s) = (psi.norm(), spin(psi));
    if angle == 0.0 {
        return M3::identity();
    }
    M3::identity() - s * (2.0 * ((angle / 2.0).sin() / angle).powi(2))
        + s * s * ((1.0 - angle.sin() / angle) / (angle * angle))
}
