//! Work on four numbers at a time, in one register where the processor has such, which is found when the program runs. Operations
//! and their order are the same everywhere, and so are the bits: products and sums are never fused.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__m256d;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

use super::Real;

/// How four numbers are worked on at a time. The first R of them count; what becomes of the others, which are zero, costs nothing
/// in a register and is left out elsewhere.
pub trait Quads<S: Real>: Copy {
    /// Four numbers.
    type Quad: Copy;
    /// Takes them from memory.
    fn read(self, from: &[S; 4]) -> Self::Quad;
    /// Puts them there.
    fn write(self, quad: Self::Quad, to: &mut [S; 4]);
    /// x + y.
    fn plus<const R: usize>(self, x: Self::Quad, y: Self::Quad) -> Self::Quad;
    /// x - a y.
    fn less<const R: usize>(self, x: Self::Quad, a: S, y: Self::Quad) -> Self::Quad;
    /// a x.
    fn times<const R: usize>(self, a: S, x: Self::Quad) -> Self::Quad;
    /// x y, number by number.
    fn product(self, x: Self::Quad, y: Self::Quad) -> Self::Quad;
}

/// Work that is compiled for each way of doing it. What it calls must be inlined into it, or it is slow, not wrong.
pub trait Wide<S: Real> {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run<Q: Quads<S>>(self, quads: Q) -> Self::Output;
}

/// Something to do by a function of its own, or in registers of its own. What it calls there must be inlined into it, or it is
/// slow, not wrong.
pub trait Task {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run(self) -> Self::Output;
}

/// Work on something in place that is called `T`, such as the residual of an iterate.
pub trait Perform<T> {
    /// What comes of it.
    type Output;
    /// Does it. Inlined always.
    fn perform(&mut self, task: T) -> Self::Output;
}

struct Performance<'a, E, T>(&'a mut E, T);

impl<S: Real, T, E: Perform<T>> Wide<S> for Performance<'_, E, T> {
    type Output = E::Output;
    #[inline(always)]
    fn run<Q: Quads<S>>(self, _: Q) -> E::Output {
        self.0.perform(self.1)
    }
}

/// Does such work in the registers that are best for numbers of this kind.
#[inline(always)]
pub fn perform<S: Real, T, E: Perform<T>>(on: &mut E, task: T) -> E::Output {
    S::widely(Performance(on, task))
}

/// One number after the other.
#[derive(Clone, Copy)]
pub struct Narrow;

impl<S: Real> Quads<S> for Narrow {
    type Quad = [S; 4];
    #[inline(always)]
    fn read(self, from: &[S; 4]) -> [S; 4] {
        *from
    }
    #[inline(always)]
    fn write(self, quad: [S; 4], to: &mut [S; 4]) {
        *to = quad;
    }
    #[inline(always)]
    fn plus<const R: usize>(self, mut x: [S; 4], y: [S; 4]) -> [S; 4] {
        for r in 0..R {
            x[r] += y[r];
        }
        x
    }
    #[inline(always)]
    fn less<const R: usize>(self, mut x: [S; 4], a: S, y: [S; 4]) -> [S; 4] {
        for r in 0..R {
            x[r] -= a * y[r];
        }
        x
    }
    #[inline(always)]
    fn times<const R: usize>(self, a: S, mut x: [S; 4]) -> [S; 4] {
        x[..R].iter_mut().for_each(|x| *x *= a);
        x
    }
    #[inline(always)]
    fn product(self, mut x: [S; 4], y: [S; 4]) -> [S; 4] {
        for r in 0..4 {
            x[r] *= y[r];
        }
        x
    }
}

#[cfg(target_arch = "x86_64")]
impl Quads<f64> for V3 {
    type Quad = __m256d;
    #[inline(always)]
    fn read(self, from: &[f64; 4]) -> __m256d {
        pulp::cast(*from)
    }
    #[inline(always)]
    fn write(self, quad: __m256d, to: &mut [f64; 4]) {
        *to = pulp::cast(quad);
    }
    #[inline(always)]
    fn plus<const R: usize>(self, x: __m256d, y: __m256d) -> __m256d {
        self.avx._mm256_add_pd(x, y)
    }
    #[inline(always)]
    fn less<const R: usize>(self, x: __m256d, a: f64, y: __m256d) -> __m256d {
        self.avx._mm256_sub_pd(x, self.times::<R>(a, y))
    }
    #[inline(always)]
    fn times<const R: usize>(self, a: f64, x: __m256d) -> __m256d {
        self.avx._mm256_mul_pd(x, self.avx._mm256_set1_pd(a))
    }
    #[inline(always)]
    fn product(self, x: __m256d, y: __m256d) -> __m256d {
        self.avx._mm256_mul_pd(x, y)
    }
}

#[cfg(target_arch = "x86_64")]
struct Within<T>(T, V3);

#[cfg(target_arch = "x86_64")]
impl<T: Wide<f64>> pulp::NullaryFnOnce for Within<T> {
    type Output = T::Output;
    #[inline(always)]
    fn call(self) -> T::Output {
        self.0.run(self.1)
    }
}

/// Does it with plain numbers.
#[inline(always)]
pub(super) fn widely<T: Wide<f64>>(work: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(proof) = V3::try_new() {
        return proof.vectorize(Within(work, proof));
    }
    work.run(Narrow)
}
