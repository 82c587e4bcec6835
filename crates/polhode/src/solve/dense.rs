//! Dense LU for small systems, without a branch on a value: row exchanges are selects, one mask per candidate,
//! so that every lane pivots for itself and gets the bits of its scalar run.

use super::coordinates::Coordinates;
use crate::scalar::{Mask, Real, Scalar, cross};
use nalgebra::{SMatrix, SVector, Vector3};

/// The columns of a matrix, one after the other. A closure is one, but not always inlined.
pub trait Columns<V> {
    /// Column `j`.
    fn column(&mut self, j: usize) -> V;
}

impl<V, F: FnMut(usize) -> V> Columns<V> for F {
    #[inline(always)]
    fn column(&mut self, j: usize) -> V {
        self(j)
    }
}

/// A square matrix, factored.
pub trait Factor<S: Real, V>: Clone {
    /// Something to overwrite.
    fn empty() -> Self;
    /// Factors the matrix with these columns, in the lanes of the mask only.
    fn refactor(&mut self, lanes: S::Mask, columns: impl Columns<V>);
    /// The same where the equations have units: each entry of a column is compared with others as its weight says.
    fn refactor_weighted(&mut self, lanes: S::Mask, weights: V, columns: impl Columns<V>);
    /// The solution of A x = b.
    fn solve(&self, b: &V) -> V;
    /// The same for several right-hand sides in one.
    fn solve_beside<X: Sides>(&self, x: &mut [X])
    where
        S: Scalar;
}

/// The factors of an N x N matrix; for N = 3 the inverse, by cofactors.
#[derive(Clone, Copy, Debug)]
pub struct Lu<S: Real, const N: usize> {
    factors: SMatrix<S, N, N>,
    swaps: [[S::Mask; N]; N],
}

impl<S: Real, const N: usize> Factor<S, SVector<S, N>> for Lu<S, N> {
    #[inline(always)]
    fn empty() -> Self {
        Lu { factors: SMatrix::from([[S::zero(); N]; N]), swaps: [[S::Mask::splat(false); N]; N] }
    }

    #[inline(always)]
    fn refactor(&mut self, lanes: S::Mask, columns: impl Columns<SVector<S, N>>) {
        self.refactor_weighted(lanes, SVector::generate(|_| S::one()), columns);
    }

    #[inline(always)]
    fn refactor_weighted(
        &mut self,
        lanes: S::Mask,
        mut weights: SVector<S, N>,
        mut columns: impl Columns<SVector<S, N>>,
    ) {
        // A plain loop: what makes the columns is inlined into it, into `from_fn` it is not.
        let mut m = self.factors;
        for j in 0..N {
            let c = columns.column(j);
            for i in 0..N {
                m[(i, j)] = c[i];
            }
        }
        let mut swaps = self.swaps;
        if N == 3 {
            let column = |j: usize| Vector3::new(m[(0, j)], m[(1, j)], m[(2, j)]);
            let (a, b, c) = (column(0), column(1), column(2));
            let rows = [cross(&b, &c), cross(&c, &a), cross(&a, &b)];
            let d = a.dot(&rows[0]).recip();
            for (i, row) in rows.iter().enumerate() {
                for j in 0..N {
                    m[(i, j)] = row[j] * d;
                }
            }
        } else {
            match N <= MOST_UNROLLED {
                true => {
                    factorize_of::<S, N>(m.as_mut_slice(), weights.as_mut_slice(), swaps.as_flattened_mut());
                }
                false => factorize(N, m.as_mut_slice(), weights.as_mut_slice(), swaps.as_flattened_mut()),
            }
        }
        if lanes.all() {
            (self.factors, self.swaps) = (m, swaps);
        } else {
            for (old, new) in self.factors.as_mut_slice().iter_mut().zip(m.as_slice()) {
                *old = S::select(lanes, *new, *old);
            }
            for (old, new) in self.swaps.as_flattened_mut().iter_mut().zip(swaps.as_flattened()) {
                *old = lanes.and(*new).or(lanes.not().and(*old));
            }
        }
    }

    #[inline(always)]
    fn solve(&self, b: &SVector<S, N>) -> SVector<S, N> {
        if N == 3 {
            return SVector::generate(|i| {
                self.factors[(i, 0)] * b[0] + self.factors[(i, 1)] * b[1] + self.factors[(i, 2)] * b[2]
            });
        }
        let mut x = *b;
        match N <= MOST_UNROLLED {
            true => {
                substitute_of::<S, N>(self.factors.as_slice(), self.swaps.as_flattened(), x.as_mut_slice())
            }
            false => substitute(N, self.factors.as_slice(), self.swaps.as_flattened(), x.as_mut_slice()),
        }
        x
    }

    #[inline(always)]
    fn solve_beside<X: Sides>(&self, x: &mut [X])
    where
        S: Scalar,
    {
        if N == 3 && x.len() == 3 {
            let b = [x[0], x[1], x[2]];
            for (i, x) in x.iter_mut().enumerate() {
                let a = |j: usize| self.factors[(i, j)].value();
                *x = b[0].times(a(0)).less(-a(1), b[1]).less(-a(2), b[2]);
            }
        } else {
            substitute_beside(N, self.factors.as_slice(), self.swaps.as_flattened(), x);
        }
    }
}

/// Exchanges two values in the lanes of the mask.
#[inline(always)]
fn exchange<S: Real>(mask: S::Mask, x: &mut [S], i: usize, j: usize) {
    let (a, b) = (x[i], x[j]);
    x[i] = S::select(mask, b, a);
    x[j] = S::select(mask, a, b);
}

/// LU with partial pivoting of an n x n matrix stored by columns; `swaps[k + n*i]` says where rows k and i were
/// exchanged in column k. Rows are compared with their weights, which go with them.
#[inline]
pub(crate) fn factorize<S: Real>(n: usize, a: &mut [S], weights: &mut [S], swaps: &mut [S::Mask]) {
    factorize_any(n, a, weights, swaps);
}

/// More unknowns than this are better left in loops: those of `convected`.
const MOST_UNROLLED: usize = 12;

/// The same of a size that is known: a function of its own for each, whose loops are unrolled whoever else is compiled beside it.
#[inline]
fn factorize_of<S: Real, const N: usize>(a: &mut [S], weights: &mut [S], swaps: &mut [S::Mask]) {
    factorize_any(N, a, weights, swaps);
}

#[inline(always)]
fn factorize_any<S: Real>(n: usize, a: &mut [S], weights: &mut [S], swaps: &mut [S::Mask]) {
    for k in 0..n {
        for i in k + 1..n {
            let swap = (a[k + n * k].abs() * weights[k]).below(a[i + n * k].abs() * weights[i]);
            swaps[k + n * i] = swap;
            if swap.any() {
                exchange(swap, weights, k, i);
                for j in 0..n {
                    exchange(swap, a, k + n * j, i + n * j);
                }
            }
        }
        let inverse = a[k + n * k].recip();
        for i in k + 1..n {
            a[i + n * k] *= inverse;
        }
        for j in k + 1..n {
            let top = a[k + n * j];
            for i in k + 1..n {
                let d = a[i + n * k] * top;
                a[i + n * j] -= d;
            }
        }
    }
}

/// Solves with the factors of [`factorize`], in place.
#[inline]
pub(crate) fn substitute<S: Real>(n: usize, a: &[S], swaps: &[S::Mask], x: &mut [S]) {
    substitute_any(n, a, swaps, x);
}

/// The same of a size that is known.
#[inline]
fn substitute_of<S: Real, const N: usize>(a: &[S], swaps: &[S::Mask], x: &mut [S]) {
    substitute_any(N, a, swaps, x);
}

#[inline(always)]
fn substitute_any<S: Real>(n: usize, a: &[S], swaps: &[S::Mask], x: &mut [S]) {
    // The exchanges of all columns first: the multipliers below the diagonal were exchanged along.
    for k in 0..n {
        for i in k + 1..n {
            let swap = swaps[k + n * i];
            if swap.any() {
                exchange(swap, x, k, i);
            }
        }
    }
    for k in 0..n {
        let top = x[k];
        for i in k + 1..n {
            let d = a[i + n * k] * top;
            x[i] -= d;
        }
    }
    for k in (0..n).rev() {
        x[k] /= a[k + n * k];
        let bottom = x[k];
        for i in 0..k {
            let d = a[i + n * k] * bottom;
            x[i] -= d;
        }
    }
}

/// Several right-hand sides in one, for a matrix of plain numbers.
pub trait Sides: Copy {
    /// self - a x.
    fn less(self, a: f64, x: Self) -> Self;
    /// a self.
    fn times(self, a: f64) -> Self;
}

/// The same for them.
#[inline(always)]
pub(crate) fn substitute_beside<S: Scalar, X: Sides>(n: usize, a: &[S], swaps: &[bool], x: &mut [X]) {
    for k in 0..n {
        for i in k + 1..n {
            if swaps[k + n * i] {
                x.swap(k, i);
            }
        }
    }
    for k in 0..n {
        let top = x[k];
        for i in k + 1..n {
            x[i] = x[i].less(a[i + n * k].value(), top);
        }
    }
    for k in (0..n).rev() {
        let bottom = x[k].times(a[k + n * k].value().recip());
        x[k] = bottom;
        for (i, x) in x[..k].iter_mut().enumerate() {
            *x = x.less(a[i + n * k].value(), bottom);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::F64x4;

    /// A small deterministic source of numbers in (-1, 1).
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut x = seed;
        move || {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    fn solves<const N: usize>() {
        for seed in 0..50 {
            let mut next = noise(seed);
            let m: SMatrix<f64, N, N> = SMatrix::from_fn(|_, _| next());
            let x: SVector<f64, N> = SVector::from_fn(|_, _| next());
            let mut lu = Lu::<f64, N>::empty();
            lu.refactor(true, |j| m.column(j).into_owned());
            let b = m * x;
            let error = (lu.solve(&b) - x).norm();
            assert!(error < 1e-10, "N = {N}, seed {seed}: {error:e}");
        }
    }

    #[test]
    fn the_factors_solve() {
        solves::<1>();
        solves::<3>();
        solves::<4>();
        solves::<6>();
        solves::<12>();
    }

    #[test]
    fn every_lane_pivots_for_itself() {
        let mut next = noise(7);
        let ms: [SMatrix<f64, 6, 6>; 4] = core::array::from_fn(|_| SMatrix::from_fn(|_, _| next()));
        let b: SVector<f64, 6> = SVector::from_fn(|_, _| next());
        let mut lanes = Lu::<F64x4, 6>::empty();
        lanes.refactor(Mask::splat(true), |j| SVector::from_fn(|i, _| F64x4::new(ms.map(|m| m[(i, j)]))));
        let x = lanes.solve(&b.map(F64x4::lift));
        for (l, m) in ms.iter().enumerate() {
            let mut one = Lu::<f64, 6>::empty();
            one.refactor(true, |j| m.column(j).into_owned());
            let y = one.solve(&b);
            for i in 0..6 {
                assert_eq!(x[i].lane(l).to_bits(), y[i].to_bits());
            }
        }
    }

    #[test]
    fn a_partial_refactorization_keeps_the_other_lanes() {
        let mut lu = Lu::<F64x4, 3>::empty();
        let scaled =
            |x: f64| move |j: usize| SVector::from_fn(|i, _| F64x4::lift(if i == j { x } else { 0.0 }));
        lu.refactor(Mask::splat(true), scaled(2.0));
        let first = F64x4::new([0.0, 1.0, 1.0, 1.0]).below(F64x4::lift(0.5));
        lu.refactor(first, scaled(4.0));
        let x = lu.solve(&SVector::from_fn(|_, _| F64x4::lift(8.0)));
        assert_eq!(x[1].to_array(), [2.0, 4.0, 4.0, 4.0]);
    }
}
