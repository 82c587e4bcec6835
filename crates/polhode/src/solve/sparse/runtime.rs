//! Dense factors of a size known at run time.

use super::search::search;
use super::{Columns, FactorError, KEEP, probe, size};
use crate::scalar::{Over, Real};

/// Forward substitution with columns of L, three at a time.
#[inline(always)]
fn forward<S: Real, L: Over<S>>(columns: &[S], x: &mut [L]) {
    let n = x.len().max(1);
    let mut k = 0;
    let mut groups = columns.chunks_exact(3 * n);
    for group in &mut groups {
        let ([a, b], c) = ([&group[k..n], &group[n + k..2 * n]], &group[2 * n + k..]);
        if let [x, y, z, rest @ ..] = &mut x[k..] {
            *y -= L::of(a[1]) * *x;
            *z -= L::of(a[2]) * *x;
            *z -= L::of(b[2]) * *y;
            subtract_run(rest, [&a[3..], &b[3..], &c[3..]], [*x, *y, *z]);
        }
        k += 3;
    }
    for column in groups.remainder().chunks_exact(n) {
        let top = x[k];
        k += 1;
        subtract_run(&mut x[k..], [&column[k..]], [top]);
    }
}

/// x -= the columns times `tops`. Lengths that blocks have are written out: a vectorized loop over them would read back pairs
/// of numbers that were just written as other pairs, and wait for memory.
#[inline(always)]
fn subtract_run<S: Real, L: Over<S>, const Q: usize>(x: &mut [L], columns: [&[S]; Q], tops: [L; Q]) {
    match x.len() {
        1 => subtract_fixed::<S, L, Q, 1>(x, columns, tops),
        2 => subtract_fixed::<S, L, Q, 2>(x, columns, tops),
        3 => subtract_fixed::<S, L, Q, 3>(x, columns, tops),
        4 => subtract_fixed::<S, L, Q, 4>(x, columns, tops),
        5 => subtract_fixed::<S, L, Q, 5>(x, columns, tops),
        6 => subtract_fixed::<S, L, Q, 6>(x, columns, tops),
        7 => subtract_fixed::<S, L, Q, 7>(x, columns, tops),
        8 => subtract_fixed::<S, L, Q, 8>(x, columns, tops),
        length => {
            let columns = columns.map(|column| &column[..length]);
            for (i, x) in x.iter_mut().enumerate() {
                for (column, &top) in columns.iter().zip(&tops) {
                    *x -= L::of(column[i]) * top;
                }
            }
        }
    }
}

#[inline(always)]
fn subtract_fixed<S: Real, L: Over<S>, const Q: usize, const N: usize>(
    x: &mut [L],
    columns: [&[S]; Q],
    tops: [L; Q],
) {
    let Some(x) = x.first_chunk_mut::<N>() else { return };
    let columns = columns.map(|column| column.first_chunk::<N>());
    for i in 0..N {
        let mut value = x[i];
        for (column, &top) in columns.iter().zip(&tops) {
            if let Some(column) = column {
                value -= L::of(column[i]) * top;
            }
        }
        x[i] = value;
    }
}

/// P A = L U by columns, with partial pivoting.
#[derive(Clone, Debug)]
pub(super) struct DenseLu<S> {
    pub columns: Columns,
    /// Where the entries of the matrix go.
    to: Vec<u32>,
    factors: Vec<S>,
    /// The row exchanged with row k in column k.
    swaps: Vec<u32>,
    inverses: Vec<S>,
    /// How small a pivot may become before it is looked at again, relative to the entries of its column.
    floors: Vec<f64>,
    /// The largest entry of each column.
    largest: Vec<f64>,
    /// False where pivots are still to be searched.
    pub factored: bool,
    pub searches: u64,
}

impl<S: Real> DenseLu<S> {
    pub fn new(columns: Columns) -> Self {
        let n = columns.n();
        let mut to = vec![];
        for (column, ends) in columns.pattern.starts.windows(2).enumerate() {
            let rows = &columns.pattern.rows[ends[0] as usize..ends[1] as usize];
            to.extend(rows.iter().map(|row| row + (n * column) as u32));
        }
        DenseLu {
            to,
            factors: vec![S::zero(); n * n],
            swaps: vec![0; n],
            inverses: vec![S::zero(); n],
            floors: vec![f64::INFINITY; n],
            largest: vec![0.0; n],
            factored: false,
            searches: 0,
            columns,
        }
    }

    pub fn factor(&mut self, values: &[S]) -> Result<(), FactorError> {
        if self.factored && self.eliminate(values, false).is_ok() {
            return Ok(());
        }
        // What is rounding, and which columns depend on each other, the sparse search knows best.
        self.factored = false;
        self.searches += 1;
        search(&self.columns, values)?;
        self.eliminate(values, true).map_err(|unknown| FactorError::NotFinite { unknown })?;
        self.factored = true;
        Ok(())
    }

    /// Factors; `Err` with the column whose pivot is below its floor, unless floors are to be set.
    fn eliminate(&mut self, values: &[S], set: bool) -> Result<(), usize> {
        let n = self.columns.n();
        self.factors.fill(S::zero());
        for (k, &unknown) in self.columns.order.iter().enumerate() {
            let entries = self.columns.range(k);
            let mut largest = 0.0f64;
            for (&to, &value) in self.to[entries.clone()].iter().zip(&values[entries]) {
                self.factors[to as usize] = value;
                largest = largest.max(size(value));
            }
            self.largest[unknown as usize] = largest;
        }
        // Column by column, each one finished before the next is touched.
        for k in 0..n {
            let (left, rest) = self.factors.split_at_mut(k * n);
            let column = &mut rest[..n];
            for (j, &row) in self.swaps[..k].iter().enumerate() {
                column.swap(j, row as usize);
            }
            forward(left, column);
            let (mut best, mut row) = (size(column[k]), k);
            for (i, &x) in column.iter().enumerate().skip(k + 1) {
                let larger = size(x) > best;
                best = if larger { size(x) } else { best };
                row = if larger { i } else { row };
            }
            self.swaps[k] = row as u32;
            if row != k {
                column.swap(k, row);
                for other in left.chunks_exact_mut(n) {
                    other.swap(k, row);
                }
            }
            let inverse = column[k].recip();
            self.inverses[k] = inverse;
            // Stays zero while all numbers are finite.
            let mut sum = probe(inverse);
            for x in &column[..=k] {
                sum += probe(*x);
            }
            for x in &mut column[k + 1..] {
                *x *= inverse;
                sum += probe(*x);
            }
            let largest = self.largest[k];
            if set {
                self.floors[k] = if largest > 0.0 { KEEP * (best / largest) } else { 0.0 };
            }
            if !(sum.is_zero() && best >= self.floors[k] * largest) {
                return Err(k);
            }
        }
        Ok(())
    }

    pub fn solve<L: Over<S>>(&self, b: &mut [L]) {
        if !self.factored {
            return b.fill(L::lift(f64::NAN));
        }
        // A chunk has a length even if there are none.
        let n = self.columns.n().max(1);
        for (k, &row) in self.swaps.iter().enumerate() {
            b.swap(k, row as usize);
        }
        forward(&self.factors, b);
        for (k, (column, &inverse)) in self.factors.chunks_exact(n).zip(&self.inverses).enumerate().rev() {
            b[k] *= L::of(inverse);
            let bottom = b[k];
            subtract_run(&mut b[..k], [&column[..k]], [bottom]);
        }
    }

    pub fn solve_transposed(&mut self, b: &mut [S]) {
        if !self.factored {
            return b.fill(S::lift(f64::NAN));
        }
        let n = self.columns.n().max(1);
        let dot = |x: &[S], y: &[S]| x.iter().zip(y).fold(S::zero(), |sum, (&x, &y)| sum + x * y);
        for (k, (column, &inverse)) in self.factors.chunks_exact(n).zip(&self.inverses).enumerate() {
            b[k] = (b[k] - dot(&column[..k], &b[..k])) * inverse;
        }
        for (k, column) in self.factors.chunks_exact(n).enumerate().rev() {
            let sum = dot(&column[k + 1..], &b[k + 1..]);
            b[k] -= sum;
        }
        for (k, &row) in self.swaps.iter().enumerate().rev() {
            b.swap(k, row as usize);
        }
    }
}
