//! Double-double numbers: an unevaluated sum `hi + lo` of two `f64` with |lo| ≤ ulp(hi)/2, about 31 digits.
//!
//! Error-free sum: Knuth, TAOCP vol. 2, 4.2.2. Error-free product by splitting: Dekker, Numer. Math. 18 (1971)
//! 224. No fused multiply-add: without the target feature it is a slow library call. Elementary functions are
//! Taylor sums after an argument reduction (sin, cos, exp) and one Newton step from the `f64` value (ln, atan2).
//! A result beyond the range of `f64` is NaN, not infinity.

use super::{ExpCoefficients, Over, Real, Scalar};
use core::cmp::Ordering;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use num_traits::{One, Zero};

/// A double-double number: about 31 digits. It has no infinity (overflow gives NaN). Duals over it take the
/// functions of the exponential map from the `f64` polynomials, so those keep 16 digits only.
///
/// ```
/// use polhode::scalar::{Dd, Real};
/// let root = Dd::from(2.0).sqrt();
/// assert!((root * root - Dd::from(2.0)).abs().to_f64() < 1e-31);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dd {
    hi: f64,
    lo: f64,
}

/// 1/n! from n = 2 on, as (hi, lo).
const INVERSE_FACTORIAL: [(f64, f64); 36] = [
    (0.5, 0.0),
    (0.16666666666666666, 9.25185853854297e-18),
    (0.041666666666666664, 2.3129646346357427e-18),
    (0.008333333333333333, 1.1564823173178714e-19),
    (0.001388888888888889, -5.300543954373577e-20),
    (0.0001984126984126984, 1.7209558293420705e-22),
    (2.48015873015873e-05, 2.1511947866775882e-23),
    (2.7557319223985893e-06, -1.858393274046472e-22),
    (2.755731922398589e-07, 2.3767714622250297e-23),
    (2.505210838544172e-08, -1.448814070935912e-24),
    (2.08767569878681e-09, -1.20734505911326e-25),
    (1.6059043836821613e-10, 1.2585294588752098e-26),
    (1.1470745597729725e-11, 2.0655512752830745e-28),
    (7.647163731819816e-13, 7.03872877733453e-30),
    (4.779477332387385e-14, 4.399205485834081e-31),
    (2.8114572543455206e-15, 1.6508842730861433e-31),
    (1.5619206968586225e-16, 1.1910679660273754e-32),
    (8.22063524662433e-18, 2.2141894119604265e-34),
    (4.110317623312165e-19, 1.4412973378659527e-36),
    (1.9572941063391263e-20, -1.3643503830087908e-36),
    (8.896791392450574e-22, -7.911402614872376e-38),
    (3.868170170630684e-23, -8.843177655482344e-40),
    (1.6117375710961184e-24, -3.6846573564509766e-41),
    (6.446950284384474e-26, -1.9330404233703465e-42),
    (2.4795962632247976e-27, -1.2953730964765229e-43),
    (9.183689863795546e-29, 1.4303150396787322e-45),
    (3.279889237069838e-30, 1.5117542744029879e-46),
    (1.1309962886447716e-31, 1.0498015412959506e-47),
    (3.7699876288159054e-33, 2.5870347832750324e-49),
    (1.216125041553518e-34, 5.586290567888806e-51),
    (3.8003907548547434e-36, 1.7457158024652518e-52),
    (1.151633562077195e-37, -6.09957445788454e-54),
    (3.387157535521162e-39, 5.09056148151085e-56),
    (9.67759295863189e-41, 3.202295548645562e-57),
    (2.6882202662866363e-42, 5.355061165943334e-59),
    (7.265460179153071e-44, -4.364097149354446e-61),
];
/// The last n of the table above.
const LAST: usize = 37;
/// π/2 in three parts: the third keeps the digits of a sine near the multiples of π.
const HALF_PI: [f64; 3] = [core::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];
/// Where `exp_coefficients` leaves its Taylor sums: about (π/2)².
const SWITCH: f64 = 2.4674;

/// a + b = s + e exactly.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// The same for |a| ≥ |b|.
#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, b - (s - a))
}

/// Veltkamp's split into two halves of 26 bits.
#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let t = 134_217_729.0 * a;
    let high = t - (t - a);
    (high, a - high)
}

/// a·b = p + e exactly.
#[inline(always)]
fn two_prod(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

impl Dd {
    /// π.
    pub const PI: Dd = Dd { hi: core::f64::consts::PI, lo: 1.2246467991473532e-16 };
    /// 2π.
    pub const TAU: Dd = Dd { hi: core::f64::consts::TAU, lo: 2.4492935982947064e-16 };
    /// π/2.
    pub const FRAC_PI_2: Dd = Dd { hi: core::f64::consts::FRAC_PI_2, lo: 6.123233995736766e-17 };
    /// The natural logarithm of 2.
    pub const LN_2: Dd = Dd { hi: core::f64::consts::LN_2, lo: 2.3190468138462996e-17 };
    /// Euler's number.
    pub const E: Dd = Dd { hi: core::f64::consts::E, lo: 1.4456468917292502e-16 };
    /// Zero.
    pub const ZERO: Dd = Dd { hi: 0.0, lo: 0.0 };
    /// One.
    pub const ONE: Dd = Dd { hi: 1.0, lo: 0.0 };
    /// The relative size of a rounding error, 2^-104.
    pub const EPSILON: f64 = 4.930380657631324e-32;

    /// The sum of two numbers of any size, as a double-double.
    #[inline(always)]
    pub fn new(hi: f64, lo: f64) -> Dd {
        let (hi, lo) = two_sum(hi, lo);
        Dd { hi, lo }
    }
    /// The leading part: the nearest `f64`.
    #[inline(always)]
    pub fn hi(self) -> f64 {
        self.hi
    }
    /// The trailing part.
    #[inline(always)]
    pub fn lo(self) -> f64 {
        self.lo
    }
    /// The nearest `f64`.
    #[inline(always)]
    pub fn to_f64(self) -> f64 {
        self.hi
    }
    /// The square.
    #[inline(always)]
    pub fn square(self) -> Dd {
        self * self
    }
    /// The nearest integer; halves go either way.
    pub fn round(self) -> Dd {
        let hi = self.hi.round();
        // An integer hi leaves the decision to lo.
        if hi == self.hi { Dd::new(hi, self.lo.round()) } else { Dd::from(((self - hi).hi).round()) + hi }
    }
    /// Times a power of two, exactly.
    fn ldexp(self, n: i32) -> Dd {
        // In two factors, each of which is in range.
        let (a, b) = (2f64.powi(n / 2), 2f64.powi(n - n / 2));
        Dd { hi: self.hi * a * b, lo: self.lo * a * b }
    }
    #[inline(always)]
    fn inverse_factorial(n: usize) -> Dd {
        let (hi, lo) = INVERSE_FACTORIAL[n - 2];
        Dd { hi, lo }
    }
    /// Σ (-y)^j / (first + 2j)! for j = 0, 1, …; `first` ≥ 2. Few terms when y is small.
    fn alternating(y: Dd, first: usize) -> Dd {
        // The number of terms: those below 2^-110 of the first are of no use.
        let (mut n, mut size) = (first, 1.0);
        while n + 2 <= LAST && size > 1e-33 {
            n += 2;
            size *= y.hi.abs() / ((n * (n - 1)) as f64);
        }
        let mut sum = Dd::inverse_factorial(n);
        while n > first {
            n -= 2;
            sum = Dd::inverse_factorial(n) - y * sum;
        }
        sum
    }
    /// cos √y and sin √y / √y for 0 ≤ y ≤ 0.62.
    #[inline]
    fn cos_sinc(y: Dd) -> (Dd, Dd) {
        (-(y * Dd::alternating(y, 2)) + 1.0, -(y * Dd::alternating(y, 3)) + 1.0)
    }
}

impl From<f64> for Dd {
    #[inline(always)]
    fn from(x: f64) -> Dd {
        Dd { hi: x, lo: 0.0 }
    }
}

impl PartialOrd for Dd {
    #[inline(always)]
    fn partial_cmp(&self, other: &Dd) -> Option<Ordering> {
        match self.hi.partial_cmp(&other.hi) {
            Some(Ordering::Equal) => self.lo.partial_cmp(&other.lo),
            order => order,
        }
    }
}

impl Neg for Dd {
    type Output = Dd;
    #[inline(always)]
    fn neg(self) -> Dd {
        Dd { hi: -self.hi, lo: -self.lo }
    }
}
impl Add for Dd {
    type Output = Dd;
    #[inline(always)]
    fn add(self, o: Dd) -> Dd {
        let (s, e) = two_sum(self.hi, o.hi);
        let (t, f) = two_sum(self.lo, o.lo);
        let (s, e) = quick_two_sum(s, e + t);
        let (hi, lo) = quick_two_sum(s, e + f);
        Dd { hi, lo }
    }
}
impl Sub for Dd {
    type Output = Dd;
    #[inline(always)]
    fn sub(self, o: Dd) -> Dd {
        self + (-o)
    }
}
impl Mul for Dd {
    type Output = Dd;
    #[inline(always)]
    fn mul(self, o: Dd) -> Dd {
        let (p, e) = two_prod(self.hi, o.hi);
        let (hi, lo) = quick_two_sum(p, e + (self.hi * o.lo + self.lo * o.hi));
        Dd { hi, lo }
    }
}
impl Div for Dd {
    type Output = Dd;
    #[inline]
    fn div(self, o: Dd) -> Dd {
        // Long division, three digits of 53 bits.
        let q1 = self.hi / o.hi;
        let r = self - o * q1;
        let q2 = r.hi / o.hi;
        let r = r - o * q2;
        let (hi, lo) = quick_two_sum(q1, q2);
        Dd { hi, lo } + r.hi / o.hi
    }
}
impl Add<f64> for Dd {
    type Output = Dd;
    #[inline(always)]
    fn add(self, o: f64) -> Dd {
        let (s, e) = two_sum(self.hi, o);
        let (hi, lo) = quick_two_sum(s, e + self.lo);
        Dd { hi, lo }
    }
}
impl Sub<f64> for Dd {
    type Output = Dd;
    #[inline(always)]
    fn sub(self, o: f64) -> Dd {
        self + (-o)
    }
}
impl Mul<f64> for Dd {
    type Output = Dd;
    #[inline(always)]
    fn mul(self, o: f64) -> Dd {
        let (p, e) = two_prod(self.hi, o);
        let (hi, lo) = quick_two_sum(p, e + self.lo * o);
        Dd { hi, lo }
    }
}
impl Div<f64> for Dd {
    type Output = Dd;
    #[inline]
    fn div(self, o: f64) -> Dd {
        self / Dd::from(o)
    }
}
macro_rules! assign {
    ($Trait:ident $function:ident $op:tt) => {
        impl $Trait for Dd {
            #[inline(always)]
            fn $function(&mut self, o: Dd) {
                *self = *self $op o;
            }
        }
    };
}
assign!(AddAssign add_assign +);
assign!(SubAssign sub_assign -);
assign!(MulAssign mul_assign *);
assign!(DivAssign div_assign /);

impl Zero for Dd {
    #[inline(always)]
    fn zero() -> Dd {
        Dd::ZERO
    }
    fn is_zero(&self) -> bool {
        self.hi == 0.0
    }
}
impl One for Dd {
    #[inline(always)]
    fn one() -> Dd {
        Dd::ONE
    }
}

impl Over<f64> for Dd {
    #[inline(always)]
    fn of(x: f64) -> Dd {
        Dd::from(x)
    }
}

impl Scalar for Dd {}

impl Real for Dd {
    type Mask = bool;

    #[inline(always)]
    fn lift(x: f64) -> Dd {
        Dd::from(x)
    }
    #[inline(always)]
    fn largest(self) -> f64 {
        self.hi
    }
    #[inline]
    fn sqrt(self) -> Dd {
        let root = self.hi.sqrt();
        if root == 0.0 || !root.is_finite() {
            return Dd::from(root);
        }
        // One Newton step; its error is the square of the f64 error.
        let (p, e) = two_prod(root, root);
        let (hi, lo) = quick_two_sum(root, (self - Dd { hi: p, lo: e }).hi / (2.0 * root));
        // A second residual settles the last bits.
        let value = Dd { hi, lo };
        value + (self - value * value).hi / (2.0 * root)
    }
    fn sin_cos(self) -> (Dd, Dd) {
        let n = (self.hi * core::f64::consts::FRAC_2_PI).round();
        let part = |x: f64| {
            let (hi, lo) = two_prod(n, x);
            Dd { hi, lo }
        };
        let r = self - part(HALF_PI[0]) - part(HALF_PI[1]) - n * HALF_PI[2];
        let (c, sinc) = Dd::cos_sinc(r * r);
        let s = r * sinc;
        match n.rem_euclid(4.0) {
            0.0 => (s, c),
            1.0 => (c, -s),
            2.0 => (-s, -c),
            3.0 => (-c, s),
            _ => (Dd::from(f64::NAN), Dd::from(f64::NAN)),
        }
    }
    fn atan2(self, x: Dd) -> Dd {
        let start = self.hi.atan2(x.hi);
        if self.hi == 0.0 && x.hi == 0.0 {
            return Dd::from(start);
        }
        // The remaining angle has the tangent (y c - x s)/(x c + y s); it is of size 1e-16, as is its tangent.
        let (s, c) = Dd::from(start).sin_cos();
        Dd::from(start) + (self * c - x * s) / (x * c + self * s)
    }
    fn exp(self) -> Dd {
        const HALVINGS: i32 = 6;
        if self.hi > 709.0 {
            return Dd::from(self.hi.exp());
        }
        if self.hi < -745.2 {
            return Dd::ZERO;
        }
        let n = (self.hi / core::f64::consts::LN_2).round();
        let r = (self - Dd::LN_2 * n).ldexp(-HALVINGS);
        // e^r - 1 rather than e^r, so that the doublings below lose nothing.
        let mut sum = Dd::inverse_factorial(13);
        for k in (2..13).rev() {
            sum = sum * r + Dd::inverse_factorial(k);
        }
        let mut p = (sum * r) * r + r;
        for _ in 0..HALVINGS {
            p = p.ldexp(1) + p * p;
        }
        (p + 1.0).ldexp(n as i32)
    }
    fn ln(self) -> Dd {
        if (self.hi - 1.0).abs() < 0.1 {
            // 2 artanh z keeps the relative accuracy next to one.
            let z = (self - 1.0) / (self + 1.0);
            let y = z * z;
            let mut sum = Dd::ZERO;
            for k in (1..15).rev() {
                sum = (sum + Dd::ONE / f64::from(2 * k + 1)) * y;
            }
            return (z + z * sum).ldexp(1);
        }
        let start = self.hi.ln();
        if !start.is_finite() {
            return Dd::from(start);
        }
        // The argument over e^start is 1 + d with d of size 1e-13 at most; ln(1 + d) to third order.
        let (mantissa, n) = if start.abs() > 300.0 {
            let n = (start / core::f64::consts::LN_2).round() as i32;
            (self.ldexp(-n), n)
        } else {
            (self, 0)
        };
        let start = mantissa.hi.ln();
        let d = mantissa * (-Dd::from(start)).exp() - 1.0;
        d - d * d * 0.5 + start + Dd::LN_2 * f64::from(n)
    }
    #[inline(always)]
    fn below(self, other: Dd) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, a: Dd, b: Dd) -> Dd {
        if mask { a } else { b }
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        self.hi.is_finite() && self.lo.is_finite()
    }
    fn inverse_root(x: Self) -> Self {
        (Self::ONE + x).sqrt().recip()
    }
    fn half_tangent(s: Self) -> (Self, Self) {
        let w = Self::inverse_root(s * 0.25);
        let cos = ((Self::ONE + w) * 0.5).sqrt();
        (cos, w / (cos * 4.0))
    }
    fn exp_coefficients(s: Dd) -> ExpCoefficients<Dd> {
        let (w, k, c) = if s.hi < SWITCH {
            let (w, sinc) = Dd::cos_sinc(s * 0.25);
            (w, sinc * 0.5, Dd::alternating(s, 3))
        } else {
            let angle = s.sqrt();
            let (sin, w) = (angle * 0.5).sin_cos();
            let k = sin / angle;
            (w, k, (Dd::ONE - w * k * 2.0) / s)
        };
        ExpCoefficients { w, k, c, g: k * k - w * c / (k * 2.0) }
    }
}

#[cfg(test)]
mod tests;
