//! Four independent numbers in SIMD registers.

use super::{Dual, Mask, Over, Real, elementary};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use nalgebra::Vector3;
use num_traits::{One, Zero};
use wide::f64x4;

/// A scalar of four numbers side by side.
pub(crate) trait Lanes: Real {
    /// From four numbers.
    fn of_four(lanes: [f64; 4]) -> Self;
    /// All four numbers.
    fn four(self) -> [f64; 4];
}

/// Four vectors side by side.
#[inline(always)]
pub(crate) fn lanes_of<S: Lanes>(four: [&Vector3<f64>; 4]) -> Vector3<S> {
    let at = |i: usize| S::of_four(four.map(|v| v[i]));
    Vector3::new(at(0), at(1), at(2))
}

impl Lanes for F64x4 {
    #[inline(always)]
    fn of_four(lanes: [f64; 4]) -> Self {
        F64x4::new(lanes)
    }
    #[inline(always)]
    fn four(self) -> [f64; 4] {
        self.to_array()
    }
}

/// A number for one thing, or for several side by side: what these share, such as indices and maps, is then read once.
pub(crate) trait Lane: Over<f64> {
    /// How many things.
    const COUNT: usize;
    /// The number of one of them.
    fn get(self, lane: usize) -> f64;
    /// The same with this one in place of the old.
    fn with(self, lane: usize, x: f64) -> Self;
}

impl Lane for f64 {
    const COUNT: usize = 1;
    #[inline(always)]
    fn get(self, _lane: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn with(self, _lane: usize, x: f64) -> f64 {
        x
    }
}

impl Lane for F64x4 {
    const COUNT: usize = F64x4::LANES;
    #[inline(always)]
    fn get(self, lane: usize) -> f64 {
        self.lane(lane)
    }
    #[inline(always)]
    fn with(self, lane: usize, x: f64) -> F64x4 {
        let mut all = self.to_array();
        all[lane] = x;
        F64x4::new(all)
    }
}

/// One number of each lane.
#[inline(always)]
pub(crate) fn gather<L: Lane>(x: impl IntoIterator<Item = f64>) -> L {
    x.into_iter().enumerate().fold(L::zero(), |all, (lane, x)| all.with(lane, x))
}

/// One value, with the derivatives that each has of its own side by side.
#[inline(always)]
pub(crate) fn packed<L: Lane>(numbers: impl Iterator<Item = Dual<f64, 1>> + Clone) -> Dual<L, 1> {
    let re = numbers.clone().next().map_or(0.0, |x| x.re);
    Dual { re: L::of(re), eps: [gather(numbers.map(|x| x.eps[0]))] }
}

/// Four `f64` lanes. Each lane computes exactly what the same operations give on its value alone.
///
/// ```
/// use polhode::scalar::{F64x4, Real};
/// let x = F64x4::new([1.0, 4.0, 9.0, 16.0]);
/// assert_eq!(x.sqrt().lane(2), 3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct F64x4(f64x4);

/// Four truth values.
#[derive(Clone, Copy, Debug)]
pub struct Mask4(f64x4);

impl F64x4 {
    /// How many numbers there are.
    pub const LANES: usize = 4;
    /// From four numbers.
    #[inline(always)]
    pub fn new(lanes: [f64; 4]) -> Self {
        F64x4(f64x4::new(lanes))
    }
    /// All four numbers.
    #[inline(always)]
    pub fn to_array(self) -> [f64; 4] {
        self.0.to_array()
    }
    /// The number in lane `i` (0 to 3); there is none beyond, which is not a number.
    pub fn lane(self, i: usize) -> f64 {
        self.to_array().get(i).copied().unwrap_or(f64::NAN)
    }
    #[inline]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        F64x4::new(self.to_array().map(f))
    }
}

impl Mask for Mask4 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Mask4(f64x4::splat(if value { f64::from_bits(u64::MAX) } else { 0.0 }))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Mask4(self.0 & other.0)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Mask4(self.0 | other.0)
    }
    #[inline(always)]
    fn not(self) -> Self {
        Mask4(!self.0)
    }
    #[inline(always)]
    fn all(self) -> bool {
        self.0.all()
    }
}

macro_rules! operator {
    ($Trait:ident $function:ident $TraitAssign:ident $assign:ident $op:tt) => {
        impl $Trait for F64x4 {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                F64x4(self.0 $op other.0)
            }
        }
        impl $TraitAssign for F64x4 {
            #[inline(always)]
            fn $assign(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    };
}
operator!(Add add AddAssign add_assign +);
operator!(Sub sub SubAssign sub_assign -);
operator!(Mul mul MulAssign mul_assign *);
operator!(Div div DivAssign div_assign /);

impl Neg for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        F64x4(-self.0)
    }
}

impl Zero for F64x4 {
    #[inline(always)]
    fn zero() -> Self {
        F64x4(f64x4::ZERO)
    }
    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}

impl One for F64x4 {
    #[inline(always)]
    fn one() -> Self {
        F64x4(f64x4::ONE)
    }
}

impl Over<f64> for F64x4 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        F64x4(f64x4::splat(x))
    }
}

impl Real for F64x4 {
    type Mask = Mask4;
    const IN_LANES: bool = true;

    #[inline(always)]
    fn lift(x: f64) -> Self {
        F64x4(f64x4::splat(x))
    }
    #[inline(always)]
    fn largest(self) -> f64 {
        self.to_array().into_iter().fold(f64::NEG_INFINITY, |m, x| if x <= m || m.is_nan() { m } else { x })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        F64x4(self.0.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        F64x4(self.0.abs())
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let far = Self::lift(elementary::FAR).below(self.abs());
        let near = elementary::sin_cos(self);
        if !far.any() {
            return near;
        }
        let (s, c) = (self.map(|x| f64::sin_cos(x).0), self.map(|x| f64::sin_cos(x).1));
        (Self::select(far, s, near.0), Self::select(far, c, near.1))
    }
    fn atan2(self, x: Self) -> Self {
        let (y, x) = (self.to_array(), x.to_array());
        F64x4::new(core::array::from_fn(|i| f64::atan2(y[i], x[i])))
    }
    fn exp(self) -> Self {
        self.map(f64::exp)
    }
    fn ln(self) -> Self {
        self.map(f64::ln)
    }
    #[inline(always)]
    fn below(self, other: Self) -> Mask4 {
        Mask4(self.0.simd_lt(other.0))
    }
    #[inline(always)]
    fn select(mask: Mask4, a: Self, b: Self) -> Self {
        F64x4(mask.0.select(a.0, b.0))
    }
}
