//! Sine, cosine and the coefficients of the exponential map in [`Real`] operations alone, so that a lane gives
//! the bits of its scalar run.
//!
//! Everything rests on two even functions on 0 ≤ y ≤ (π/4)²: cos √y and sin √y / √y, as polynomials in y
//! (interpolated at Chebyshev nodes in 50 digits; relative error below 1e-17). Below a half angle of π/4 the
//! exponential map needs nothing else: no square root, no range reduction.

use super::{Mask, Real, Task};

/// cos(θ/2) = 1 + s·(…) and sin(θ/2)/θ = 1/2 + s·(…), coefficient by coefficient beside each other, for small s:
/// Taylor series with terms to spare, so that second derivatives by duals are exact to round-off too.
const HALF_SHORT: [[f64; 2]; 5] = [
    [-1.0 / 8.0, -1.0 / 48.0],
    [1.0 / 384.0, 1.0 / 3840.0],
    [-1.0 / 46080.0, -1.0 / 645120.0],
    [1.0 / 10321920.0, 1.0 / 185794560.0],
    [-1.0 / 3715891200.0, -1.0 / 81749606400.0],
];
/// (θ - sin θ)/θ³ and (1 - (θ/2) cot(θ/2))/θ² for small s, likewise.
const CUBIC_SHORT: [f64; 6] =
    [1.0 / 6.0, -1.0 / 120.0, 1.0 / 5040.0, -1.0 / 362880.0, 1.0 / 39916800.0, -1.0 / 6227020800.0];
const COTANGENT_SHORT: [f64; 6] =
    [1.0 / 12.0, 1.0 / 720.0, 1.0 / 30240.0, 1.0 / 1209600.0, 1.0 / 47900160.0, 691.0 / 1307674368000.0];
/// Where the short series end: θ = 0.1, beyond most steps of most runs.
const SHORT: f64 = 0.01;

/// cos √y = 1 + y·(…) and sin √y / √y = 1 + y·(…), coefficient by coefficient beside each other.
const COS_SINC: [[f64; 2]; 7] = [
    [-0.5, -0.16666666666666666],
    [0.04166666666666664, 0.008333333333333331],
    [-0.0013888888888880734, -0.0001984126984126504],
    [2.480158729366189e-5, 2.755731921932058e-6],
    [-2.7557315555381283e-7, -2.50521062259944e-8],
    [2.0875885001628906e-9, 1.6058530596645953e-10],
    [-1.136789634714201e-11, -7.586636882825159e-13],
];
/// (θ - sin θ)/θ³ as a polynomial in s = θ² on 0 ≤ s ≤ (π/2)².
const CUBIC: [f64; 9] = [
    0.16666666666666666,
    -0.008333333333333333,
    0.00019841269841269806,
    -2.7557319223971175e-6,
    2.505210838237619e-8,
    -1.605904347799452e-10,
    7.647139048550473e-13,
    -2.810466816590253e-15,
    8.005858059980551e-18,
];
/// (1 - (θ/2) cot(θ/2))/θ² as a polynomial in s = θ² on the same interval.
const COTANGENT: [f64; 10] = [
    0.08333333333333333,
    0.0013888888888888987,
    3.306878306865206e-5,
    8.267195773971466e-7,
    2.0876755211404366e-8,
    5.284216826319561e-10,
    1.338010458112862e-11,
    3.403312911454275e-13,
    8.129759428959617e-15,
    2.995378768576381e-16,
];
/// Where the polynomials end: (π/2)², a whole angle of π/2.
const SWITCH: f64 = 2.4674;

/// The functions of s = θ² that make the exponential map, its tangent and the inverse of that.
#[derive(Clone, Copy, Debug)]
pub struct ExpCoefficients<S> {
    /// cos(θ/2), the scalar part of the unit quaternion.
    pub w: S,
    /// sin(θ/2)/θ, so that the vector part is `k` times the rotation vector.
    pub k: S,
    /// (θ - sin θ)/θ³.
    pub c: S,
    /// (1 - (θ/2) cot(θ/2))/θ².
    pub g: S,
}

/// Evaluates a polynomial, lowest coefficient first, even and odd parts apart for shorter dependency chains.
#[inline(always)]
fn polynomial<S: Real, const N: usize>(y: S, c: &[f64; N]) -> S {
    let y2 = y * y;
    let (mut even, mut odd) = (S::lift(c[N - 1]), S::lift(c[N - 2]));
    if N.is_multiple_of(2) {
        core::mem::swap(&mut even, &mut odd);
    }
    // `even` holds the highest even power so far, `odd` the highest odd one.
    let mut i = N - 2;
    while i > 0 {
        i -= 1;
        if i.is_multiple_of(2) {
            even = even * y2 + S::lift(c[i]);
        } else {
            odd = odd * y2 + S::lift(c[i]);
        }
    }
    odd * y + even
}

/// Both polynomials at once, so that they share registers on machines with two lanes.
#[inline(always)]
fn cos_sinc<S: Real>(y: S) -> (S, S) {
    let y2 = y * y;
    let even = pair_step(pair_step(pair_step(pair(6), y2, 4), y2, 2), y2, 0);
    let odd = pair_step(pair_step(pair(5), y2, 3), y2, 1);
    ((odd[0] * y + even[0]) * y + S::one(), (odd[1] * y + even[1]) * y + S::one())
}

/// Two coefficients of [`COS_SINC`], and one step of both polynomials. Functions, because a closure is not always inlined.
#[inline(always)]
fn pair<S: Real>(i: usize) -> [S; 2] {
    let [cos, sinc] = COS_SINC[i];
    [S::lift(cos), S::lift(sinc)]
}
#[inline(always)]
fn pair_step<S: Real>(x: [S; 2], y2: S, i: usize) -> [S; 2] {
    let c = pair::<S>(i);
    [x[0] * y2 + c[0], x[1] * y2 + c[1]]
}

/// Beyond this, the reduction below is not exact and the standard library takes over, lane by lane.
pub(super) const FAR: f64 = 1e6;

/// The standard library's. A function of its own, because the compiler may compute sines and cosines before it knows
/// that they are wanted.
#[cold]
#[inline(never)]
pub(super) fn far_sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}

/// Sine and cosine: Cody-Waite reduction to |r| ≤ π/4, then the polynomials. Absolute error below 5e-16 up to
/// |x| = [`FAR`].
#[inline(always)]
pub(super) fn sin_cos<S: Real>(x: S) -> (S, S) {
    let k = S::lift;
    // Adding and subtracting 1.5·2^52 rounds to the nearest integer without a conversion.
    let magic = k(6755399441055744.0);
    let round = |v: S| (v + magic) - magic;
    let n = round(x * k(core::f64::consts::FRAC_2_PI));
    // π/2 in three parts, the first two with 33 bits so that their products with n are exact.
    let r = ((x - n * k(1.570796251296997)) - n * k(7.549789415861596e-08)) - n * k(5.390302858158119e-15);
    let (c, sinc) = cos_sinc(r * r);
    let s = r * sinc;
    // The quadrant n mod 4, in arithmetic: odd quadrants swap, the sign follows.
    let half = round(n * k(0.5) - k(0.25));
    let odd = n - half * k(2.0);
    let half_odd = half - round(half * k(0.5) - k(0.25)) * k(2.0);
    let swap = k(0.5).below(odd);
    let sign = S::one() - half_odd * k(2.0);
    let sign_cos = sign * (S::one() - odd * k(2.0));
    (S::select(swap, c, s) * sign, S::select(swap, s, c) * sign_cos)
}

/// See [`ExpCoefficients`]: short series for θ < 0.1, polynomials for θ < π/2, sine and cosine beyond.
#[inline(always)]
pub(super) fn exp_coefficients<S: Real>(s: S) -> ExpCoefficients<S> {
    let short = s.below(S::lift(SHORT));
    let near = exp_short(s);
    if short.all() {
        return near;
    }
    // With derivatives the rest is long. The short series stay inlined: asked for twice, they are computed once.
    if S::DEPTH > 0 { S::apart(Long { s, short, near }) } else { exp_long(s, short, near) }
}

/// What [`exp_long`] is asked.
struct Long<S: Real> {
    s: S,
    short: S::Mask,
    near: ExpCoefficients<S>,
}

impl<S: Real> Task for Long<S> {
    type Output = ExpCoefficients<S>;
    #[inline(always)]
    fn run(self) -> ExpCoefficients<S> {
        exp_long(self.s, self.short, self.near)
    }
}

/// The same where not all angles are short.
#[inline(always)]
fn exp_long<S: Real>(s: S, short: S::Mask, near: ExpCoefficients<S>) -> ExpCoefficients<S> {
    let small = s.below(S::lift(SWITCH));
    let (w, sinc) = cos_sinc(s * S::lift(0.25));
    let middle =
        ExpCoefficients { w, k: sinc * S::lift(0.5), c: polynomial(s, &CUBIC), g: polynomial(s, &COTANGENT) };
    let near = ExpCoefficients::choose(short, near, middle);
    if small.all() {
        return near;
    }
    let safe = S::select(small, S::one(), s);
    let angle = safe.sqrt();
    let (sin, w) = (angle * S::lift(0.5)).sin_cos();
    let k = sin / angle;
    let c = (S::one() - S::lift(2.0) * w * k) / safe;
    let g = (S::one() - w / (S::lift(2.0) * k)) / safe;
    ExpCoefficients::choose(small, near, ExpCoefficients { w, k, c, g })
}

/// Series of 1/√(1 + x).
const INVERSE_ROOT: [f64; 7] = [1.0, -0.5, 0.375, -0.3125, 35.0 / 128.0, -63.0 / 256.0, 231.0 / 1024.0];
/// Series of cos(α/2) and of sin(α/2)/(2 tan α) in s = 4 tan²α.
const HALF_TANGENT: [[f64; 6]; 2] = [
    [1.0, -1.0 / 32.0, 11.0 / 2048.0, -69.0 / 65536.0, 1843.0 / 8388608.0, -12767.0 / 268435456.0],
    [1.0 / 4.0, -3.0 / 128.0, 31.0 / 8192.0, -187.0 / 262144.0, 4859.0 / 33554432.0, -32965.0 / 1073741824.0],
];
/// Where they end: angles below 0.1 rad for the maps that use them.
const NEAR_ONE: f64 = 0.0025;

/// 1/√(1 + x), by its series near zero: a division and a root take longer than all else in a short step.
#[inline(always)]
pub(super) fn inverse_root<S: Real>(x: S) -> S {
    let short = x.abs().below(S::lift(NEAR_ONE));
    let (x2, c) = (x * x, |i: usize| S::lift(INVERSE_ROOT[i]));
    let x4 = x2 * x2;
    let near = six(x, &INVERSE_ROOT) + x2 * x4 * c(6);
    if short.all() {
        return near;
    }
    // Where the series holds, the root is not looked at, but its derivative must be finite.
    let far = S::select(short, S::zero(), x);
    S::select(short, near, (S::one() + far).sqrt().recip())
}

/// With s = 4 tan²α: cos(α/2) and sin(α/2)/(2 tan α).
#[inline(always)]
pub(super) fn half_tangent<S: Real>(s: S) -> (S, S) {
    let short = s.below(S::lift(4.0 * NEAR_ONE));
    let near = (six(s, &HALF_TANGENT[0]), six(s, &HALF_TANGENT[1]));
    if short.all() {
        return near;
    }
    let far = S::select(short, S::one(), s);
    let w = (S::one() + far * S::lift(0.25)).sqrt().recip();
    let cos = ((S::one() + w) * S::lift(0.5)).sqrt();
    // sin α = 2 sin(α/2) cos(α/2), and sin α = w tan α.
    let sin = w / (cos * S::lift(4.0));
    (S::select(short, near.0, cos), S::select(short, near.1, sin))
}

/// The first six terms of a series, with short dependency chains.
#[inline(always)]
fn six<S: Real>(s: S, c: &[f64]) -> S {
    let (s2, c) = (s * s, |j: usize| S::lift(c[j]));
    (c(0) + s * c(1)) + s2 * ((c(2) + s * c(3)) + s2 * (c(4) + s * c(5)))
}

#[inline(always)]
fn exp_short<S: Real>(s: S) -> ExpCoefficients<S> {
    ExpCoefficients {
        w: half_short(s, 0, 1.0),
        k: half_short(s, 1, 0.5),
        c: six(s, &CUBIC_SHORT),
        g: six(s, &COTANGENT_SHORT),
    }
}

/// One of the series of [`HALF_SHORT`]. A function, because a closure is not always inlined.
#[inline(always)]
fn half_short<S: Real>(s: S, i: usize, first: f64) -> S {
    let (s2, c) = (s * s, |j: usize| S::lift(HALF_SHORT[j][i]));
    (S::lift(first) + s * c(0)) + s2 * ((c(1) + s * c(2)) + s2 * (c(3) + s * c(4)))
}

impl<S: Real> ExpCoefficients<S> {
    #[inline(always)]
    fn choose(mask: S::Mask, a: Self, b: Self) -> Self {
        ExpCoefficients {
            w: S::select(mask, a.w, b.w),
            k: S::select(mask, a.k, b.k),
            c: S::select(mask, a.c, b.c),
            g: S::select(mask, a.g, b.g),
        }
    }
}
