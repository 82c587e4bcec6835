//! Vectorial parameterizations of rotation: three scalar functions of s = p·p each.
//!
//! Symbols: φ rotation angle, n axis, p = p(φ) n. The unit quaternion is (w, k p); then
//! R = I + z₁ p̃ + z₂ p̃p̃ with z₁ = 2wk, z₂ = 2k², and the spatial tangent is H = μ I + z₂ p̃ + c p̃p̃ with
//! μ = z₁ + c s = dφ/dp (Bauchau et al. 2013, section 2; notes table). The inverse of H follows in closed form
//! and its p̃ coefficient is -1/2 for every map.

use super::Rotation;
use crate::scalar::{ExpCoefficients, Real};
use nalgebra::Vector3;

/// The three functions of a map.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients<S> {
    /// Scalar part of the unit quaternion, cos(φ/2).
    pub w: S,
    /// Vector part of the unit quaternion per unit of p, sin(φ/2)/|p|.
    pub k: S,
    /// Coefficient of p̃p̃ in the tangent.
    pub c: S,
}

impl<S: Real> Coefficients<S> {
    /// 1/μ and the coefficient of p̃p̃ in the inverse of H, (1/μ - w/2k)/s, written without cancellation.
    #[inline(always)]
    pub fn inverse(&self, s: S) -> (S, S) {
        let Coefficients { w, k, c } = *self;
        let inverse = ((S::lift(2.0) * w * k + c * s) * k).recip();
        (k * inverse, (k * k * k - S::lift(0.5) * w * c) * inverse)
    }
}

/// A vectorial parameterization of rotation, and of motion.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::group::{Cayley, Rotation};
/// // p = 2 tan(φ/2): a quarter turn has length 2.
/// let quarter = Rotation::from_parameters(Cayley, &Vector3::new(0.0, 0.0, 2.0));
/// assert!((quarter.rotate(&Vector3::x()) - Vector3::y()).norm() < 1e-15);
/// ```
pub trait Map: Copy + Default + core::fmt::Debug + 'static {
    /// The name in method ids.
    fn name(self) -> &'static str;
    /// |p| must stay below this (infinite where there is no limit).
    fn limit(self) -> f64;
    /// The three functions at s = p·p.
    fn coefficients<S: Real>(self, s: S) -> Coefficients<S>;
    /// True if c is zero everywhere, so that nobody has to multiply by it.
    #[inline(always)]
    fn c_is_zero(self) -> bool {
        false
    }
    /// True if the coefficients are those at s = 0 everywhere, so that the tangent is 1 - p̃/2.
    #[inline(always)]
    fn is_linear(self) -> bool {
        false
    }
    /// 1/μ and the coefficient of p̃p̃ in the inverse tangent.
    #[inline(always)]
    fn inverse_coefficients<S: Real>(self, s: S) -> (S, S) {
        self.coefficients(s).inverse(s)
    }
    /// w and k of the rotation by half the angle about the same axis, for the same p: cos(φ/4) and sin(φ/4)/|p|.
    #[inline(always)]
    fn half<S: Real>(self, s: S) -> (S, S) {
        // cos(φ/4) = √((1 + w)/2), and sin(φ/2) = 2 sin(φ/4) cos(φ/4).
        let Coefficients { w, k, .. } = self.coefficients(s);
        let per = S::inverse_root((w - S::one()) * S::lift(0.5)) * S::lift(0.5);
        ((S::one() + w) * per, k * per)
    }
    /// (1 - z₁)/s: the coefficient of p̃p̃ in the displacement of a motion whose axial part is that of q.
    fn hom4_c<S: Real>(self, s: S) -> S;
    /// The parameters of a rotation by at most π.
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S>;
    /// The coefficient of p̃p̃ in the displacement u = (μ I + z₂ p̃ + c p̃p̃) q of the motion parameters {q, p}, where
    /// it is not that of the tangent: `None` is u = H(p) q, SE(3) as SO(3) at a dual number.
    #[inline(always)]
    fn displacement_c<S: Real>(self, _s: S) -> Option<S> {
        None
    }
}

/// The angle up to which a map is used whose parameters are infinite at a half turn (or a whole one: twice that):
/// beyond it steps and angles have little to do with each other.
const STEEP: f64 = 5.671_281_819_617_709; // tan 80°

/// p = φ n: the exponential map, parameters are the rotation vector. Any angle; log gives |p| ≤ π.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exponential;
/// p = 2 sin(φ/2) n: Euler-Rodrigues parameters, |p| < 2.
#[derive(Clone, Copy, Debug, Default)]
pub struct EulerRodrigues;
/// p = 2 tan(φ/2) n: Cayley-Gibbs-Rodrigues parameters, infinite at φ = π.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cayley;
/// p = 4 tan(φ/4) n: Wiener-Milenković parameters (conformal rotation vector), infinite at φ = 2π.
#[derive(Clone, Copy, Debug, Default)]
pub struct WienerMilenkovic;

impl Map for Exponential {
    fn name(self) -> &'static str {
        "exp"
    }
    fn limit(self) -> f64 {
        f64::INFINITY
    }
    #[inline(always)]
    fn hom4_c<S: Real>(self, s: S) -> S {
        self.coefficients(s).c
    }
    #[inline(always)]
    fn coefficients<S: Real>(self, s: S) -> Coefficients<S> {
        let ExpCoefficients { w, k, c, .. } = S::exp_coefficients(s);
        Coefficients { w, k, c }
    }
    #[inline(always)]
    fn inverse_coefficients<S: Real>(self, s: S) -> (S, S) {
        (S::one(), S::exp_coefficients(s).g)
    }
    #[inline(always)]
    fn half<S: Real>(self, s: S) -> (S, S) {
        let ExpCoefficients { w, k, .. } = S::exp_coefficients(s * S::lift(0.25));
        (w, k * S::lift(0.5))
    }
    #[inline]
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S> {
        let q = q.shorter();
        let x = q.v.dot(&q.v);
        // φ/(2 sin(φ/2)) = asin(√x)/√x: its series below x = 0.01, atan2 beyond.
        let small = x.below(S::lift(0.01));
        let mut series = S::lift(ARCSINE[ARCSINE.len() - 1]);
        for a in ARCSINE.iter().rev().skip(1) {
            series = series * x + S::lift(*a);
        }
        let sine = S::select(small, S::one(), x).sqrt();
        let ratio = S::select(small, series, sine.atan2(q.w) / sine);
        q.v * (ratio * S::lift(2.0))
    }
}

/// Taylor coefficients of asin(√x)/√x in x.
pub(super) const ARCSINE: [f64; 10] = [
    1.0,
    1.0 / 6.0,
    3.0 / 40.0,
    5.0 / 112.0,
    35.0 / 1152.0,
    63.0 / 2816.0,
    231.0 / 13312.0,
    143.0 / 10240.0,
    6435.0 / 557056.0,
    12155.0 / 1245184.0,
];

/// What all maps are near zero, for approximate tangents: the coefficients at s = 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NearZero;

impl Map for NearZero {
    fn name(self) -> &'static str {
        "near-zero"
    }
    fn limit(self) -> f64 {
        f64::INFINITY
    }
    #[inline(always)]
    fn hom4_c<S: Real>(self, _s: S) -> S {
        S::zero()
    }
    #[inline(always)]
    fn coefficients<S: Real>(self, _s: S) -> Coefficients<S> {
        Coefficients { w: S::one(), k: S::lift(0.5), c: S::zero() }
    }
    #[inline(always)]
    fn is_linear(self) -> bool {
        true
    }
    #[inline(always)]
    fn c_is_zero(self) -> bool {
        true
    }
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S> {
        q.shorter().v * S::lift(2.0)
    }
}

impl Map for EulerRodrigues {
    fn name(self) -> &'static str {
        "euler-rodrigues"
    }
    fn limit(self) -> f64 {
        2.0
    }
    #[inline(always)]
    fn hom4_c<S: Real>(self, s: S) -> S {
        (S::lift(4.0) * (S::one() + self.coefficients(s).w)).recip()
    }
    #[inline(always)]
    fn coefficients<S: Real>(self, s: S) -> Coefficients<S> {
        let w = (S::one() - s * S::lift(0.25)).sqrt();
        Coefficients { w, k: S::lift(0.5), c: S::lift(0.25) / w }
    }
    #[inline(always)]
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S> {
        q.shorter().v * S::lift(2.0)
    }
}

impl Map for Cayley {
    fn name(self) -> &'static str {
        "cayley"
    }
    fn limit(self) -> f64 {
        2.0 * STEEP
    }
    #[inline(always)]
    fn hom4_c<S: Real>(self, s: S) -> S {
        (S::lift(4.0) + s).recip()
    }
    #[inline(always)]
    fn coefficients<S: Real>(self, s: S) -> Coefficients<S> {
        let w = S::inverse_root(s * S::lift(0.25));
        Coefficients { w, k: w * S::lift(0.5), c: S::zero() }
    }
    #[inline(always)]
    fn c_is_zero(self) -> bool {
        true
    }
    #[inline(always)]
    fn half<S: Real>(self, s: S) -> (S, S) {
        S::half_tangent(s)
    }
    #[inline(always)]
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S> {
        q.v * (S::lift(2.0) / q.w)
    }
}

impl Map for WienerMilenkovic {
    fn name(self) -> &'static str {
        "wiener-milenkovic"
    }
    fn limit(self) -> f64 {
        4.0 * STEEP
    }
    #[inline(always)]
    fn hom4_c<S: Real>(self, s: S) -> S {
        let x = s * S::lift(1.0 / 16.0);
        let b = (S::one() + x).recip();
        (S::lift(3.0) + x) * b * b * S::lift(1.0 / 16.0)
    }
    #[inline(always)]
    fn coefficients<S: Real>(self, s: S) -> Coefficients<S> {
        let m = s * S::lift(1.0 / 16.0);
        let b = (S::one() + m).recip();
        Coefficients { w: (S::one() - m) * b, k: b * S::lift(0.5), c: b * b * S::lift(0.125) }
    }
    #[inline(always)]
    fn half<S: Real>(self, s: S) -> (S, S) {
        let w = S::inverse_root(s * S::lift(1.0 / 16.0));
        (w, w * S::lift(0.25))
    }
    #[inline(always)]
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S> {
        let q = q.shorter();
        q.v * (S::lift(4.0) / (S::one() + q.w))
    }
}
