//! The tangent of a vectorial map and its derivatives in closed form, for every map at once.
//!
//! With the three functions of s = p·p of [`Map`], T(p) = z₁ I - z₂ p̃ + c p pᵀ in body axes: Ω = T(p) ṗ. Brüls &
//! Eberhard 2008 write this for the conformal rotation vector in eq. (38), and its derivatives in (119) to (121); here
//! they follow from z₁, z₂, c and their derivatives with respect to s for any map.

use super::{Coefficients, Map};
use crate::scalar::{Dual, Real};
use nalgebra::{Matrix3, Vector3};

/// The matrix of x ↦ v × x.
#[inline(always)]
pub fn spin<S: Real>(v: &Vector3<S>) -> Matrix3<S> {
    let o = S::zero();
    Matrix3::new(o, -v[2], v[1], v[2], o, -v[0], -v[1], v[0], o)
}

/// z₁, z₂ and c, or one of their derivatives.
#[derive(Clone, Copy, Debug)]
struct Functions<S> {
    z1: S,
    z2: S,
    c: S,
}

impl<S: Real> Functions<S> {
    #[inline(always)]
    fn of<M: Map>(map: M, s: S) -> Self {
        let Coefficients { w, k, c } = map.coefficients(s);
        Functions { z1: S::lift(2.0) * w * k, z2: S::lift(2.0) * k * k, c }
    }
    #[inline(always)]
    fn map<T: Real>(&self, f: impl Fn(&S) -> T) -> Functions<T> {
        Functions { z1: f(&self.z1), z2: f(&self.z2), c: f(&self.c) }
    }
    /// (z₁ I - z₂ p̃ + c p pᵀ) x.
    #[inline(always)]
    fn times(&self, p: &Vector3<S>, x: &Vector3<S>) -> Vector3<S> {
        x * self.z1 - p.cross(x) * self.z2 + p * (self.c * p.dot(x))
    }
    #[inline(always)]
    fn matrix(&self, p: &Vector3<S>) -> Matrix3<S> {
        scaled(self.z1) - spin(p) * self.z2 + p * p.transpose() * self.c
    }
    /// The derivative of the matrix in the direction v of p alone: -z₂ ṽ + c (p vᵀ + v pᵀ).
    #[inline(always)]
    fn turn(&self, p: &Vector3<S>, v: &Vector3<S>) -> Matrix3<S> {
        (p * v.transpose() + v * p.transpose()) * self.c - spin(v) * self.z2
    }
}

#[inline(always)]
fn scaled<S: Real>(x: S) -> Matrix3<S> {
    Matrix3::from_diagonal_element(x)
}

/// T at the parameters p of a map, with its first and second derivatives.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::group::{Tangent, WienerMilenkovic};
/// // Ω = T(c) ċ and, from it, Ω̇ = T c̈ + Ṫ ċ.
/// let (c, rate) = (Vector3::new(0.1, -0.2, 0.3), Vector3::new(1.0, 2.0, -1.0));
/// let tangent = Tangent::new(WienerMilenkovic, &c);
/// let h = 1e-6;
/// let later = Tangent::new(WienerMilenkovic, &(c + rate * h));
/// assert!(((later.times(&rate) - tangent.times(&rate)) / h - tangent.rate(&rate)).norm() < 1e-5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tangent<S> {
    p: Vector3<S>,
    at: Functions<S>,
    first: Functions<S>,
    second: Functions<S>,
}

impl<S: Real> Tangent<S> {
    /// At the parameters p.
    #[inline]
    pub fn new<M: Map>(map: M, p: &Vector3<S>) -> Self {
        let s = Dual { re: Dual::variable(p.dot(p), 0), eps: [Dual::<S, 1>::constant(S::one())] };
        let f = Functions::<Dual<Dual<S, 1>, 1>>::of(map, s);
        let (at, first, second) = (f.map(|x| x.re.re), f.map(|x| x.re.eps[0]), f.map(|x| x.eps[0].eps[0]));
        Tangent { p: *p, at, first, second }
    }
    /// T x.
    #[inline(always)]
    pub fn times(&self, x: &Vector3<S>) -> Vector3<S> {
        self.at.times(&self.p, x)
    }
    /// T.
    #[inline(always)]
    pub fn matrix(&self) -> Matrix3<S> {
        self.at.matrix(&self.p)
    }
    /// T⁻¹, which is Tᵀ⁻¹ of -p: I for the unit, and -1/2 for the p̃ of every map's inverse.
    #[inline(always)]
    pub fn inverse(&self) -> Matrix3<S> {
        let Functions { z1, z2, c } = self.at;
        let s = self.p.dot(&self.p);
        // On the axis T is μ = z₁ + c s, across it the rotation z₁ - z₂ p̃ of square length z₁² + z₂² s.
        let (across, along) = ((z1 * z1 + z2 * z2 * s).recip(), (z1 + c * s).recip());
        // (1/μ - z₁/(z₁² + z₂² s))/s without the division.
        let rest = (z2 * z2 - z1 * c) * across * along;
        scaled(z1 * across) + spin(&self.p) * (z2 * across) + self.p * self.p.transpose() * rest
    }
    /// DT·v, eq. (119): the rate of T for v = ṗ.
    pub fn derivative(&self, v: &Vector3<S>) -> Matrix3<S> {
        let pv = S::lift(2.0) * self.p.dot(v);
        self.first.matrix(&self.p) * pv + self.at.turn(&self.p, v)
    }
    /// D(DT·v)·w, where v itself changes by `dv` in the direction w: T̈ for v = w = ṗ and dv = p̈.
    pub fn second_derivative(&self, v: &Vector3<S>, w: &Vector3<S>, dv: &Vector3<S>) -> Matrix3<S> {
        let (p, two) = (&self.p, S::lift(2.0));
        let (pv, pw) = (two * p.dot(v), two * p.dot(w));
        self.first.matrix(p) * (two * (w.dot(v) + p.dot(dv)))
            + self.second.matrix(p) * (pv * pw)
            + self.first.turn(p, w) * pv
            + self.first.turn(p, v) * pw
            + (w * v.transpose() + v * w.transpose()) * self.at.c
            + self.at.turn(p, dv)
    }
    /// (DT·v) v: what Ṫ adds to the angular acceleration for v = ṗ.
    #[inline(always)]
    pub fn rate(&self, v: &Vector3<S>) -> Vector3<S> {
        let pv = self.p.dot(v);
        self.first.times(&self.p, v) * (S::lift(2.0) * pv) + (self.p * v.dot(v) + v * pv) * self.at.c
    }
    /// k_T(p, a), with k_T v = (DT·v) a.
    #[inline(always)]
    pub fn k_t(&self, a: &Vector3<S>) -> Matrix3<S> {
        let (p, Functions { z2, c, .. }) = (&self.p, self.at);
        self.first.times(p, a) * p.transpose() * S::lift(2.0)
            + spin(a) * z2
            + (p * a.transpose() + scaled(p.dot(a))) * c
    }
    /// k_G(p, G), with k_G v = (DTᵀ·v) G, eq. (121). Tᵀ is T with -z₂ for z₂.
    #[inline(always)]
    pub fn k_g(&self, g: &Vector3<S>) -> Matrix3<S> {
        self.transposed().k_t(g)
    }
    fn transposed(&self) -> Self {
        let mirror = |f: &Functions<S>| Functions { z2: -f.z2, ..*f };
        Tangent { p: self.p, at: mirror(&self.at), first: mirror(&self.first), second: mirror(&self.second) }
    }
    /// The derivative of (DT·v) v with respect to p, v held.
    #[inline(always)]
    pub fn rate_by_parameters(&self, v: &Vector3<S>) -> Matrix3<S> {
        let (p, two) = (&self.p, S::lift(2.0));
        let (pv, vv) = (p.dot(v), v.dot(v));
        let inner = self.first.times(p, v);
        let along = p * vv + v * pv;
        let outer = (self.second.times(p, v) * (two * pv) + along * self.first.c) * two;
        inner * v.transpose() * two
            + outer * p.transpose()
            + (spin(v) * self.first.z2 + (p * v.transpose() + scaled(pv)) * self.first.c) * (two * pv)
            + (scaled(vv) + v * v.transpose()) * self.at.c
    }
    /// The derivative of (DT·v) v with respect to v, p held: DT·v + k_T(p, v).
    #[inline(always)]
    pub fn rate_by_velocity(&self, v: &Vector3<S>) -> Matrix3<S> {
        self.derivative(v) + self.k_t(v)
    }
}
