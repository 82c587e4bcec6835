//! Vectors of a fixed number of coordinates, and the numbers that carry derivatives with respect to them.

use super::dense::{Factor, Lu};
use crate::archive::{Archive, Kept};
use crate::scalar::{Dual, Mask, Over, Real};
use core::fmt::Debug;
use core::ops::{Add, Mul, Neg, Sub};
use nalgebra::SVector;

/// A fixed number of coordinates with vector arithmetic: what generic code may do with an `SVector`.
pub trait Coordinates<S: Real>:
    Copy
    + Debug
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<S, Output = Self>
{
    /// How many coordinates.
    const LEN: usize;
    /// How many passes it takes to have the derivatives with respect to all coordinates, see [`Jet`].
    const PASSES: usize = Self::LEN.div_ceil(3);
    /// A factored square matrix of this size.
    type Factor: Factor<S, Self>;
    /// The vector with coordinates `f(0), f(1), …`.
    fn generate(f: impl FnMut(usize) -> S) -> Self;
    /// Coordinate `i`.
    fn at(&self, i: usize) -> S;
    /// All of them, to be changed.
    fn numbers_mut(&mut self) -> &mut [S];
    /// The zero vector.
    #[inline(always)]
    fn origin() -> Self {
        Self::generate(|_| S::zero())
    }
    /// The inner product.
    #[inline(always)]
    fn inner(&self, other: &Self) -> S {
        let mut sum = self.at(0) * other.at(0);
        for i in 1..Self::LEN {
            sum += self.at(i) * other.at(i);
        }
        sum
    }
    /// The vector times a number. With derivatives the operator is not always inlined.
    #[inline(always)]
    fn scaled(&self, by: S) -> Self {
        if S::DEPTH == 0 {
            return *self * by;
        }
        let mut scaled = *self;
        for x in scaled.numbers_mut() {
            *x *= by;
        }
        scaled
    }
    /// The Euclidean norm.
    #[inline(always)]
    fn length(&self) -> S {
        self.inner(self).sqrt()
    }
    /// Lane by lane, `a` where the mask is true and `b` elsewhere.
    #[inline(always)]
    fn choose(mask: S::Mask, a: &Self, b: &Self) -> Self {
        if mask.all() { *a } else { Self::generate(|i| S::select(mask, a.at(i), b.at(i))) }
    }
}

impl<S: Real, const N: usize> Coordinates<S> for SVector<S, N> {
    const LEN: usize = N;
    type Factor = Lu<S, N>;
    #[inline(always)]
    fn generate(mut f: impl FnMut(usize) -> S) -> Self {
        // A plain loop is inlined, `from_fn` not always.
        let mut x = SVector::from([S::zero(); N]);
        for i in 0..N {
            x[i] = f(i);
        }
        x
    }
    #[inline(always)]
    fn at(&self, i: usize) -> S {
        self[i]
    }
    #[inline(always)]
    fn numbers_mut(&mut self) -> &mut [S] {
        self.as_mut_slice()
    }
}

/// The scalar that carries the derivatives with respect to three coordinates. What depends on more takes several passes:
/// then the code of every formula is compiled for one number of derivatives only.
pub type Jet<S> = Dual<S, 3>;

/// `x` with the derivatives with respect to the coordinates 3 pass, 3 pass + 1 and 3 pass + 2.
#[inline(always)]
pub fn seeded<S: Real, A: Coordinates<S>, B: Coordinates<Jet<S>>>(x: &A, pass: usize) -> B {
    let one = |at: bool| S::lift(if at { 1.0 } else { 0.0 });
    B::generate(|i| Dual { re: x.at(i), eps: core::array::from_fn(|k| one(i == 3 * pass + k)) })
}

/// `v` with every coordinate as a constant of the richer scalar `T`.
#[inline(always)]
pub fn lift<S: Real, T: Over<S>, A: Coordinates<S>, B: Coordinates<T>>(v: &A) -> B {
    B::generate(|i| T::of(v.at(i)))
}

/// The unit vector along coordinate `j`.
#[inline(always)]
pub fn unit<S: Real, V: Coordinates<S>>(j: usize) -> V {
    V::generate(|i| if i == j { S::one() } else { S::zero() })
}

/// A vector of any kind.
pub(crate) fn keep_coordinates<V: Coordinates<f64>>(v: &mut V, archive: &mut Archive<'_>) {
    *v = V::generate(|i| {
        let mut x = v.at(i);
        x.keep(archive);
        x
    });
}
