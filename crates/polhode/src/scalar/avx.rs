//! Four independent numbers in one AVX register, where the processor has them, found when the program runs.

use super::{F64x4, Lane, Lanes, Mask, Over, Real, Task};
use core::arch::x86_64::{__m256d, _CMP_LT_OQ};
use core::cell::Cell;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use num_traits::{One, Zero};
use pulp::x86::V3;

thread_local! {
    /// That this processor has such registers, while a task runs. A constant number is made of nothing but its value, and so
    /// this is where it gets the proof from. Not an atomic, so that one look at it serves a whole step.
    static HELD: Cell<Option<V3>> = const { Cell::new(None) };
}

#[inline(always)]
fn held() -> V3 {
    match HELD.get() {
        Some(proof) => proof,
        None => absent(),
    }
}

#[cold]
#[inline(never)]
fn absent() -> ! {
    unreachable!("numbers in wide registers are made in tasks only")
}

struct Within<T>(T);

impl<T: Task> pulp::NullaryFnOnce for Within<T> {
    type Output = T::Output;
    #[inline(always)]
    fn call(self) -> T::Output {
        self.0.run()
    }
}

/// Runs a task, if the processor has AVX2.
pub(crate) fn run<T: Task>(task: T) -> Option<T::Output> {
    let proof = V3::try_new()?;
    HELD.set(Some(proof));
    Some(proof.vectorize(Within(task)))
}

/// Four numbers in one register, with the operations of [`F64x4`], to the bit.
#[derive(Clone, Copy)]
pub(crate) struct Avx4 {
    v: __m256d,
    proof: V3,
}

/// Four truth values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AvxMask {
    v: __m256d,
    proof: V3,
}

impl core::fmt::Debug for Avx4 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.four().fmt(f)
    }
}
impl PartialEq for Avx4 {
    fn eq(&self, other: &Self) -> bool {
        self.four() == other.four()
    }
}

impl Lanes for Avx4 {
    #[inline(always)]
    fn of_four(lanes: [f64; 4]) -> Self {
        Avx4 { v: pulp::cast(lanes), proof: held() }
    }
    #[inline(always)]
    fn four(self) -> [f64; 4] {
        pulp::cast(self.v)
    }
}

impl Lane for Avx4 {
    const COUNT: usize = F64x4::LANES;
    #[inline(always)]
    fn get(self, lane: usize) -> f64 {
        self.four()[lane]
    }
    #[inline(always)]
    fn with(self, lane: usize, x: f64) -> Self {
        let mut all = self.four();
        all[lane] = x;
        Avx4 { v: pulp::cast(all), ..self }
    }
}

impl Avx4 {
    /// What is rare in a step, in the other lanes.
    #[inline(always)]
    fn other(self) -> F64x4 {
        F64x4::new(self.four())
    }
}

impl From<F64x4> for Avx4 {
    #[inline(always)]
    fn from(x: F64x4) -> Self {
        Self::of_four(x.to_array())
    }
}

impl Mask for AvxMask {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        let proof = held();
        AvxMask { v: proof.avx._mm256_set1_pd(if value { f64::from_bits(u64::MAX) } else { 0.0 }), proof }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        AvxMask { v: self.proof.avx._mm256_and_pd(self.v, other.v), ..self }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        AvxMask { v: self.proof.avx._mm256_or_pd(self.v, other.v), ..self }
    }
    #[inline(always)]
    fn not(self) -> Self {
        let all = self.proof.avx._mm256_set1_pd(f64::from_bits(u64::MAX));
        AvxMask { v: self.proof.avx._mm256_xor_pd(self.v, all), ..self }
    }
    #[inline(always)]
    fn all(self) -> bool {
        self.proof.avx._mm256_movemask_pd(self.v) == 15
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.proof.avx._mm256_movemask_pd(self.v) != 0
    }
}

macro_rules! operator {
    ($Trait:ident $function:ident $TraitAssign:ident $assign:ident $op:tt $how:ident) => {
        impl $Trait for Avx4 {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                Avx4 { v: self.proof.avx.$how(self.v, other.v), ..self }
            }
        }
        impl $TraitAssign for Avx4 {
            #[inline(always)]
            fn $assign(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    };
}
operator!(Add add AddAssign add_assign + _mm256_add_pd);
operator!(Sub sub SubAssign sub_assign - _mm256_sub_pd);
operator!(Mul mul MulAssign mul_assign * _mm256_mul_pd);
operator!(Div div DivAssign div_assign / _mm256_div_pd);

impl Neg for Avx4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let sign = self.proof.avx._mm256_set1_pd(-0.0);
        Avx4 { v: self.proof.avx._mm256_xor_pd(self.v, sign), ..self }
    }
}
impl Zero for Avx4 {
    #[inline(always)]
    fn zero() -> Self {
        Self::lift(0.0)
    }
    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}
impl One for Avx4 {
    #[inline(always)]
    fn one() -> Self {
        Self::lift(1.0)
    }
}
impl Over<f64> for Avx4 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Self::lift(x)
    }
}
impl Real for Avx4 {
    type Mask = AvxMask;
    const IN_LANES: bool = true;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn lift(x: f64) -> Self {
        let proof = held();
        Avx4 { v: proof.avx._mm256_set1_pd(x), proof }
    }
    #[inline(always)]
    fn apart<T: Task>(task: T) -> T::Output {
        held().vectorize(Within(task))
    }
    #[inline(always)]
    fn largest(self) -> f64 {
        self.other().largest()
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Avx4 { v: self.proof.avx._mm256_sqrt_pd(self.v), ..self }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        let sign = self.proof.avx._mm256_set1_pd(-0.0);
        Avx4 { v: self.proof.avx._mm256_andnot_pd(sign, self.v), ..self }
    }
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.other().sin_cos();
        (sin.into(), cos.into())
    }
    fn atan2(self, x: Self) -> Self {
        self.other().atan2(x.other()).into()
    }
    fn exp(self) -> Self {
        self.other().exp().into()
    }
    fn ln(self) -> Self {
        self.other().ln().into()
    }
    #[inline(always)]
    fn below(self, other: Self) -> AvxMask {
        let v = self.proof.avx._mm256_cmp_pd::<_CMP_LT_OQ>(self.v, other.v);
        AvxMask { v, proof: self.proof }
    }
    #[inline(always)]
    fn select(mask: AvxMask, a: Self, b: Self) -> Self {
        Avx4 { v: a.proof.avx._mm256_blendv_pd(b.v, a.v, mask.v), ..a }
    }
}
