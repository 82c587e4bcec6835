//! The scalar vocabulary: one trait, [`Real`], spoken by `f64`, by SIMD lanes ([`F64x4`]), by forward duals
//! ([`Dual`]) over any of them, and by double-double numbers ([`Dd`]).
//!
//! Generic code never branches on a value: it compares to a [`Mask`] and uses [`Real::select`]. A shortcut may
//! be taken when *all* lanes agree, because it gives every lane the value it would have had anyway.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx;
mod dd;
mod dual;
mod elementary;
pub(crate) mod four;
mod lanes;
mod quads;

pub use dd::Dd;
pub use dual::Dual;
pub use elementary::ExpCoefficients;
pub use lanes::{F64x4, Mask4};
pub(crate) use lanes::{Lane, Lanes, gather, lanes_of, packed};
pub(crate) use quads::{Perform, Quads, Task, Wide, perform};

use core::ops::Neg;
use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign, Vector3};
use num_traits::{One, Zero};

/// The outcome of a comparison, one truth value per lane.
pub trait Mask: Copy + core::fmt::Debug + 'static {
    /// The same truth value in every lane.
    fn splat(value: bool) -> Self;
    /// Lane-wise and.
    fn and(self, other: Self) -> Self;
    /// Lane-wise or.
    fn or(self, other: Self) -> Self;
    /// Lane-wise negation.
    fn not(self) -> Self;
    /// True when every lane is true.
    fn all(self) -> bool;
    /// True when some lane is true.
    fn any(self) -> bool {
        !self.not().all()
    }
}

impl Mask for bool {
    #[inline(always)]
    fn splat(value: bool) -> bool {
        value
    }
    #[inline(always)]
    fn and(self, other: bool) -> bool {
        self & other
    }
    #[inline(always)]
    fn or(self, other: bool) -> bool {
        self | other
    }
    #[inline(always)]
    fn not(self) -> bool {
        !self
    }
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
}

/// The value of an expression by a function that is called, where numbers with derivatives have at least so many bytes, and in
/// place elsewhere. With several derivatives operations on vectors are so long that a call costs little beside them, and copied to where
/// they are used they would be most of the code. One function for each place and scalar, however often the function around it is used.
macro_rules! called {
    ($scalar:ty, $bytes:literal, $value:expr) => {
        if <$scalar as $crate::scalar::Real>::DEPTH > 0
            && !<$scalar as $crate::scalar::Real>::IN_PLACE
            && size_of::<$scalar>() >= $bytes
        {
            $crate::scalar::by_call(|| $value)
        } else {
            $value
        }
    };
}
pub(crate) use called;

/// A real scalar, or several of them side by side, or one with derivatives attached.
///
/// Comparisons look at values only, never at derivatives.
///
/// ```
/// use polhode::scalar::{Dual, Real};
/// fn cube<S: Real>(x: S) -> S {
///     x * x * x
/// }
/// assert_eq!(cube(2.0), 8.0);
/// assert_eq!(cube(Dual::<f64, 1>::variable(2.0, 0)).eps[0], 12.0);
/// ```
pub trait Real:
    nalgebra::Scalar
    + Send
    + Sync
    + Copy
    + Zero
    + One
    + ClosedAddAssign
    + ClosedSubAssign
    + ClosedMulAssign
    + ClosedDivAssign
    + Neg<Output = Self>
{
    /// What a comparison yields.
    type Mask: Mask;
    /// How often it carries derivatives of derivatives: 0 for a number, 1 for a dual of it, 2 for a dual of that.
    const DEPTH: u32 = 0;
    /// True if everything must be inlined that is done with it, because what is called has other registers.
    const IN_PLACE: bool = false;
    /// True if it is several numbers side by side.
    const IN_LANES: bool = false;

    /// A constant.
    fn lift(x: f64) -> Self;
    /// The largest value among the lanes, for messages and reports; NaN if a lane is NaN.
    fn largest(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Sine and cosine together.
    fn sin_cos(self) -> (Self, Self);
    /// The angle of the point (`x`, `self`), in (-π, π].
    fn atan2(self, x: Self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// `self < other`, value by value.
    fn below(self, other: Self) -> Self::Mask;
    /// `a` where the mask is true, `b` elsewhere.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;

    /// The three functions of `s = θ²` behind the exponential map, smooth through zero.
    #[inline(always)]
    fn exp_coefficients(s: Self) -> ExpCoefficients<Self> {
        elementary::exp_coefficients(s)
    }

    /// Does a task by a function that is called, for code that would be long where it is used.
    #[doc(hidden)]
    #[inline(never)]
    fn apart<T: quads::Task>(task: T) -> T::Output {
        task.run()
    }

    /// Does work on four of them at a time, as the processor does it best; see `quads.rs`.
    #[doc(hidden)]
    #[inline(always)]
    fn widely<T: quads::Wide<Self>>(work: T) -> T::Output {
        work.run(quads::Narrow)
    }

    /// 1/√(1 + x).
    #[inline(always)]
    fn inverse_root(x: Self) -> Self {
        called!(Self, 64, elementary::inverse_root(x))
    }
    /// With s = 4 tan²α: cos(α/2) and sin(α/2)/(2 tan α).
    #[inline(always)]
    fn half_tangent(s: Self) -> (Self, Self) {
        called!(Self, 64, elementary::half_tangent(s))
    }

    /// Magnitude. At zero a dual keeps the derivative from the right.
    #[inline(always)]
    fn abs(self) -> Self {
        Self::select(self.below(Self::zero()), -self, self)
    }
    /// The larger of two values; `other` if `self` is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.below(self), self, other)
    }
    /// The larger of two values; NaN if either of them is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        let infinity = Self::lift(f64::INFINITY);
        let is_number = other.below(infinity).or((-infinity).below(other));
        Self::select(self.below(other).or(is_number.not()), other, self)
    }
    /// The reciprocal.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::one() / self
    }
    /// An integer power by repeated squaring; negative powers through the reciprocal.
    #[inline]
    fn powi(self, n: i32) -> Self {
        let (mut base, mut left, mut out) = (self, n.unsigned_abs(), Self::one());
        while left > 0 {
            if left & 1 == 1 {
                out *= base;
            }
            base *= base;
            left >>= 1;
        }
        if n < 0 { out.recip() } else { out }
    }
    /// True in the lanes that hold a finite number.
    #[inline(always)]
    fn is_finite(self) -> Self::Mask {
        self.abs().below(Self::lift(f64::INFINITY))
    }
}

/// A scalar that can hold values of `S` as constants: `S` itself, and duals over it.
///
/// Physics is written for any `T: Over<S>`, so that the parameters of a body (of type `S`) meet states of a
/// richer type when a Jacobian is taken.
pub trait Over<S>: Real {
    /// `s` as a constant.
    fn of(s: S) -> Self;
}

impl<S: Real> Over<S> for S {
    #[inline(always)]
    fn of(s: S) -> S {
        s
    }
}

/// A scalar with one value: not several side by side. Code may branch on it.
pub trait Scalar: Real<Mask = bool> {
    /// The value, without derivatives and rounded to an `f64`.
    fn value(self) -> f64 {
        self.largest()
    }
}

impl Scalar for f64 {}

#[inline(never)]
pub(crate) fn by_call<R>(value: impl FnOnce() -> R) -> R {
    value()
}

/// The vector product. That of nalgebra is not always inlined, and in lanes it has to be; with derivatives it is long.
#[inline(always)]
pub(crate) fn cross<S: Real>(a: &Vector3<S>, b: &Vector3<S>) -> Vector3<S> {
    if S::DEPTH > 0 && !S::IN_PLACE {
        return a.cross(b);
    }
    Vector3::new(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
}

/// The larger of two numbers; a NaN is kept, where `f64::max` hides it.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

impl Real for f64 {
    type Mask = bool;

    #[inline(always)]
    fn lift(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn largest(self) -> f64 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn larger(self, other: f64) -> f64 {
        larger(self, other)
    }
    #[inline(always)]
    fn widely<T: quads::Wide<f64>>(work: T) -> T::Output {
        quads::widely(work)
    }
    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        if self.abs() > elementary::FAR { elementary::far_sin_cos(self) } else { elementary::sin_cos(self) }
    }
    #[inline(always)]
    fn atan2(self, x: f64) -> f64 {
        f64::atan2(self, x)
    }
    #[inline(always)]
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    #[inline(always)]
    fn below(self, other: f64) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, a: f64, b: f64) -> f64 {
        if mask { a } else { b }
    }
}

#[cfg(test)]
mod tests {
    use super::{F64x4, Real, larger};

    #[test]
    fn a_maximum_keeps_what_is_not_a_number() {
        assert_eq!((larger(1.0, 2.0), larger(2.0, 1.0)), (2.0, 2.0));
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
        assert!([f64::NAN, 0.0, 3.0].into_iter().fold(0.0, larger).is_nan());
        // In lanes as by itself.
        let all = [1.0, -2.0, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for (a, b) in all.iter().flat_map(|a| all.map(|b| (*a, b))) {
            let [lane, alone] = [F64x4::lift(a).larger(F64x4::lift(b)).lane(2), larger(a, b)];
            assert!(lane.to_bits() == alone.to_bits() || (lane.is_nan() && alone.is_nan()), "{a}, {b}");
        }
    }
}
