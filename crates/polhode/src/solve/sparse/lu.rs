//! Sparse factors along recorded pivots.

use super::search::{Found, Lists, search};
use super::single::{LONGEST, of_length};
use super::{Columns, FactorError, KEEP, probe, size};
use crate::scalar::{Over, Real};
use core::ops::Range;

/// Consecutive rows of a column. Blocks make rows come in such runs, and a run needs one index, not one per entry.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u32,
    length: u32,
}

impl Run {
    #[inline(always)]
    fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.length as usize
    }
}

/// How many columns are worked on together at most: the three of a joint, half of a body.
const GROUP: usize = 3;

/// How many zeros a column takes in to be like its neighbour.
const ZEROS: usize = 2;

/// Gives a column the rows that would make it like its neighbour, if it has almost all of them and no other: a zero
/// costs less than a column by itself.
fn pad(column: &mut Vec<u32>, alike: impl Iterator<Item = u32> + Clone) {
    let zeros = alike.clone().count().saturating_sub(column.len());
    let mut rest = alike.clone();
    if zeros <= ZEROS.min(column.len()) && column.iter().all(|row| rest.any(|other| other == *row)) {
        column.clear();
        column.extend(alike);
    }
}

/// A triangle without its diagonal, by columns.
#[derive(Clone, Debug)]
struct Triangle<S> {
    /// Where the runs and the values of each column start.
    starts: Vec<[u32; 2]>,
    runs: Vec<Run>,
    values: Vec<S>,
    /// How many columns, from this one on towards the diagonal's far end, have the same rows but for those in the
    /// diagonal block between them, which is full; at most [`GROUP`].
    alike: Vec<u8>,
    /// How many rows a column has, if they are one run that is not too long, else zero.
    single: Vec<u8>,
}

impl<S: Real> Triangle<S> {
    fn new() -> Self {
        Triangle { starts: vec![[0; 2]], runs: vec![], values: vec![], alike: vec![], single: vec![] }
    }
    /// With room for so many columns.
    fn of(columns: usize) -> Self {
        let mut triangle = Self::new();
        triangle.starts.reserve_exact(columns);
        triangle.single.reserve_exact(columns);
        triangle
    }

    /// The lower triangle that was found, each column with the places that its rows went to.
    fn lower(found: Lists, position: &[u32]) -> Self {
        let n = found.len();
        // From the last column on, because each is made like the next.
        let (mut backwards, mut column) = (Lists::new(n, found.items() + found.items() / 4), Vec::new());
        for k in (0..n).rev() {
            column.clear();
            column.extend(found.get(k).iter().map(|row| position[*row as usize]));
            column.sort_unstable();
            if k + 1 < n {
                let next = backwards.get(n - 2 - k).iter().copied();
                pad(&mut column, core::iter::once(k as u32 + 1).chain(next));
            }
            backwards.push(column.iter().copied());
        }
        drop(found);
        let mut triangle = Self::of(n);
        (0..n).rev().for_each(|k| triangle.push(backwards.get(k)));
        triangle.make_room();
        triangle.compare_lower();
        triangle
    }
    /// The upper triangle that was found.
    fn upper(found: Lists) -> Self {
        let (mut triangle, mut before, mut column) = (Self::of(found.len()), Vec::new(), Vec::new());
        for k in 0..found.len() {
            column.clear();
            column.extend_from_slice(found.get(k));
            if k > 0 {
                pad(&mut column, before.iter().copied().chain([k as u32 - 1]));
            }
            triangle.push(&column);
            core::mem::swap(&mut before, &mut column);
        }
        drop(found);
        triangle.make_room();
        triangle.compare_upper();
        triangle
    }

    /// Appends a column with entries in these rows, ascending.
    fn push(&mut self, rows: &[u32]) {
        let first = self.runs.len();
        for &row in rows {
            match self.runs[first..].last_mut() {
                Some(run) if run.start + run.length == row => run.length += 1,
                _ => self.runs.push(Run { start: row, length: 1 }),
            }
        }
        let values = self.starts.last().map_or(0, |[_, values]| *values) + rows.len() as u32;
        self.starts.push([self.runs.len() as u32, values]);
        self.single.push(match &self.runs[first..] {
            [run] if run.length as usize <= LONGEST => run.length as u8,
            _ => 0,
        });
    }
    /// Makes room for the values of all columns.
    fn make_room(&mut self) {
        self.values = vec![S::zero(); self.starts.last().map_or(0, |[_, values]| *values as usize)];
        self.runs.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.single.shrink_to_fit();
    }

    #[inline(always)]
    fn runs(&self, k: usize) -> &[Run] {
        &self.runs[self.starts[k][0] as usize..self.starts[k + 1][0] as usize]
    }

    /// The first row of a column that has one.
    #[inline(always)]
    fn first_row(&self, k: usize) -> usize {
        self.runs[self.starts[k][0] as usize].start as usize
    }

    /// The values of Q columns from k on, and the length of the shortest of them.
    #[inline(always)]
    fn group<const Q: usize>(&self, k: usize, shortest: usize) -> (&[S], usize) {
        let starts = &self.starts[k..k + Q + 1];
        let common = starts[shortest - k + 1][1] - starts[shortest - k][1];
        (&self.values[starts[0][1] as usize..starts[Q][1] as usize], common as usize)
    }

    #[inline(always)]
    fn column_mut(&mut self, k: usize) -> (&[Run], &mut [S]) {
        let ([r, v], [r_end, v_end]) = (self.starts[k], self.starts[k + 1]);
        (&self.runs[r as usize..r_end as usize], &mut self.values[v as usize..v_end as usize])
    }

    /// The rows of a column.
    fn rows(&self, k: usize) -> impl Iterator<Item = usize> {
        self.runs(k).iter().flat_map(|run| run.range())
    }

    /// Finds the columns that are alike in a lower triangle: column k has row k + 1 and those of column k + 1.
    fn compare_lower(&mut self) {
        let n = self.starts.len() - 1;
        self.alike = vec![1; n];
        for k in (1..n).rev() {
            if self.rows(k - 1).eq(core::iter::once(k).chain(self.rows(k))) {
                self.alike[k - 1] = (self.alike[k] + 1).min(GROUP as u8);
            }
        }
    }

    /// The same in an upper triangle, from a column back: column k has the rows of column k - 1 and row k - 1.
    fn compare_upper(&mut self) {
        let n = self.starts.len() - 1;
        self.alike = vec![1; n];
        for k in 1..n {
            if self.rows(k).eq(self.rows(k - 1).chain(core::iter::once(k - 1))) {
                self.alike[k] = (self.alike[k - 1] + 1).min(GROUP as u8);
            }
        }
    }

    /// Forward substitution with columns k.. of a lower triangle that are alike.
    #[inline(always)]
    fn forward<L: Over<S>, const Q: usize>(&self, k: usize, x: &mut [L]) {
        let last = k + Q - 1;
        let length = self.single[last];
        if length == 0 {
            return self.forward_in_runs::<L, Q>(k, x);
        }
        let values = &self.values[self.starts[k][1] as usize..];
        of_length!(length, forward::<Q>, (values, k, self.first_row(last), x));
    }
    #[inline(always)]
    fn forward_in_runs<L: Over<S>, const Q: usize>(&self, k: usize, x: &mut [L]) {
        // Column after column, each one shorter by a row.
        let (mut values, common) = self.group::<Q>(k, k + Q - 1);
        let columns: [&[S]; Q] = core::array::from_fn(|c| {
            let (column, rest) = values.split_at(common + Q - 1 - c);
            values = rest;
            column
        });
        let mut tops = [L::zero(); Q];
        for c in 0..Q {
            let mut top = x[k + c];
            for d in 0..c {
                top -= L::of(columns[d][c - d - 1]) * tops[d];
            }
            tops[c] = top;
            x[k + c] = top;
        }
        subtract(self.runs(k + Q - 1), core::array::from_fn(|c| &columns[c][Q - 1 - c..]), tops, x);
    }

    /// Backward substitution with columns ..=k of an upper triangle that are alike.
    #[inline(always)]
    fn backward<L: Over<S>, const Q: usize>(&self, k: usize, x: &mut [L]) {
        let first = k + 1 - Q;
        let length = self.single[first];
        if length == 0 {
            return self.backward_in_runs::<L, Q>(k, x);
        }
        let values = &self.values[self.starts[first][1] as usize..];
        of_length!(length, backward::<Q>, (values, first, self.first_row(first), x));
    }
    #[inline(always)]
    fn backward_in_runs<L: Over<S>, const Q: usize>(&self, k: usize, x: &mut [L]) {
        let (mut values, common) = self.group::<Q>(k + 1 - Q, k + 1 - Q);
        let columns: [&[S]; Q] = core::array::from_fn(|c| {
            let (rest, column) = values.split_at(values.len() - (common + Q - 1 - c));
            values = rest;
            column
        });
        let mut tops = [L::zero(); Q];
        for c in 0..Q {
            let mut top = x[k - c];
            for d in 0..c {
                top -= L::of(columns[d][common + Q - 1 - c]) * tops[d];
            }
            tops[c] = top;
            x[k - c] = top;
        }
        subtract(self.runs(k + 1 - Q), columns, tops, x);
    }

    /// Forward substitution with the rows that columns k.. of an upper triangle are when it is transposed.
    #[inline(always)]
    fn forward_transposed<const Q: usize>(&self, k: usize, x: &mut [S]) {
        let (mut values, common) = self.group::<Q>(k, k);
        let columns: [&[S]; Q] = core::array::from_fn(|c| {
            let (column, rest) = values.split_at(common + c);
            values = rest;
            column
        });
        let sums = dot::<S, Q>(self.runs(k), columns, x);
        for c in 0..Q {
            let mut top = x[k + c] - sums[c];
            for d in 0..c {
                top -= columns[c][common + d] * x[k + d];
            }
            x[k + c] = top;
        }
    }

    /// Backward substitution with the rows that columns ..=k of a lower triangle are when it is transposed.
    #[inline(always)]
    fn backward_transposed<const Q: usize>(&self, k: usize, x: &mut [S]) {
        let (mut values, common) = self.group::<Q>(k + 1 - Q, k);
        let columns: [&[S]; Q] = core::array::from_fn(|c| {
            let (rest, column) = values.split_at(values.len() - (common + c));
            values = rest;
            column
        });
        let sums = dot::<S, Q>(self.runs(k), core::array::from_fn(|c| &columns[c][c..]), x);
        for c in 0..Q {
            let mut top = x[k - c] - sums[c];
            for d in 0..c {
                top -= columns[c][c - 1 - d] * x[k - d];
            }
            x[k - c] = top;
        }
    }
}

/// The products of the columns with x, in these rows.
#[inline(always)]
fn dot<S: Real, const Q: usize>(runs: &[Run], mut columns: [&[S]; Q], x: &[S]) -> [S; Q] {
    let mut sums = [S::zero(); Q];
    for run in runs {
        let parts: [&[S]; Q] = core::array::from_fn(|c| {
            let (part, rest) = columns[c].split_at(run.length as usize);
            columns[c] = rest;
            part
        });
        for (i, &x) in x[run.range()].iter().enumerate() {
            for (sum, part) in sums.iter_mut().zip(&parts) {
                *sum += part[i] * x;
            }
        }
    }
    sums
}

/// x -= the columns times `tops`, in these rows.
#[inline(always)]
fn subtract<S: Real, L: Over<S>, const Q: usize>(
    runs: &[Run],
    mut columns: [&[S]; Q],
    tops: [L; Q],
    x: &mut [L],
) {
    for run in runs {
        let parts = core::array::from_fn(|c| {
            let (part, rest) = columns[c].split_at(run.length as usize);
            columns[c] = rest;
            part
        });
        subtract_run(&mut x[run.range()], parts, tops);
    }
}

/// The same in one run. Lengths that blocks have are written out: a vectorized loop over them would read back pairs
/// of numbers that were just written as other pairs, and wait for memory.
#[inline(always)]
pub(super) fn subtract_run<S: Real, L: Over<S>, const Q: usize>(
    x: &mut [L],
    columns: [&[S]; Q],
    tops: [L; Q],
) {
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

/// Both substitutions: right-hand side b in the order of the rows, at work in x in that of the pivots.
#[inline(always)]
fn substitute<S: Real, L: Over<S>>(
    (lower, upper): (&Triangle<S>, &Triangle<S>),
    inverses: &[S],
    (row_of, order): (&[u32], &[u32]),
    factored: bool,
    b: &mut [L],
    x: &mut [L],
) {
    if !factored {
        return b.fill(L::lift(f64::NAN));
    }
    for (x, &row) in x.iter_mut().zip(row_of) {
        *x = b[row as usize];
    }
    let mut k = 0;
    while let Some(&alike) = lower.alike.get(k) {
        match alike {
            3 => lower.forward::<_, 3>(k, x),
            2 => lower.forward::<_, 2>(k, x),
            _ => lower.forward::<_, 1>(k, x),
        }
        let group = k..k + alike as usize;
        k = group.end;
        for (x, &inverse) in x[group.clone()].iter_mut().zip(&inverses[group]) {
            *x *= L::of(inverse);
        }
    }
    while let Some(&alike) = upper.alike[..k].last() {
        match alike {
            3 => upper.backward::<_, 3>(k - 1, x),
            2 => upper.backward::<_, 2>(k - 1, x),
            _ => upper.backward::<_, 1>(k - 1, x),
        }
        k -= alike as usize;
    }
    for (&x, &unknown) in x.iter().zip(order) {
        b[unknown as usize] = x;
    }
}

/// P A Q = L D U, with ones on the diagonals of L and U: in a substitution each unknown waits for the one before, and
/// with the pivots in U it would wait for a multiplication more.
#[derive(Clone, Debug)]
pub(super) struct SparseLu<S> {
    pub columns: Columns,
    /// The row of each pivot; empty until pivots are found.
    row_of: Vec<u32>,
    floors: Vec<f64>,
    lower: Triangle<S>,
    upper: Triangle<S>,
    /// Reciprocals of the pivots.
    inverses: Vec<S>,
    /// A column at work; zero between factorizations.
    work: Vec<S>,
    /// Right-hand sides in the order of the pivots.
    x: Vec<S>,
    /// False where pivots are still to be searched.
    pub factored: bool,
    pub searches: u64,
}

impl<S: Real> SparseLu<S> {
    pub fn new(columns: Columns) -> Self {
        let n = columns.n();
        SparseLu {
            row_of: vec![],
            floors: vec![],
            lower: Triangle::new(),
            upper: Triangle::new(),
            inverses: vec![S::zero(); n],
            work: vec![S::zero(); n],
            x: vec![S::zero(); n],
            factored: false,
            searches: 0,
            columns,
        }
    }

    pub fn factor(&mut self, values: &[S]) -> Result<(), FactorError> {
        if self.factored && self.refactor(values).is_ok() {
            return Ok(());
        }
        self.factored = false;
        self.searches += 1;
        (self.lower, self.upper) = (Triangle::new(), Triangle::new());
        // Rows are those of the matrix again.
        for row in if self.row_of.is_empty() { &mut [][..] } else { &mut self.columns.rows } {
            *row = self.row_of[*row as usize];
        }
        self.row_of.clear();
        let Found { row_of, position, lower, upper, floors } = search(&self.columns, values)?;
        (self.row_of, self.floors) = (row_of, floors);
        self.columns.rows.iter_mut().for_each(|row| *row = position[*row as usize]);
        self.upper = Triangle::upper(upper);
        self.lower = Triangle::lower(lower, &position);
        // The search bounds the multipliers, so that only an overflow is left to fail.
        self.refactor(values)
            .map_err(|k| FactorError::NotFinite { unknown: self.columns.order[k] as usize })?;
        self.factored = true;
        Ok(())
    }

    /// How many numbers the factors are.
    #[cfg(test)]
    pub fn entries(&self) -> usize {
        self.lower.values.len() + self.upper.values.len() + self.inverses.len()
    }

    /// Factors along the recorded pivots; `Err` with the column where they are not good any more.
    fn refactor(&mut self, values: &[S]) -> Result<(), usize> {
        let work = &mut self.work[..];
        let mut result = Ok(());
        for (k, &floor) in self.floors.iter().enumerate() {
            let mut largest = 0.0f64;
            let entries = self.columns.range(k);
            for (&to, &value) in self.columns.rows[entries].iter().zip(self.columns.values(k, values)) {
                work[to as usize] = value;
                largest = largest.max(size(value));
            }
            // Stays zero while all numbers are finite.
            let mut sum = S::zero();
            let (runs, mut upper) = self.upper.column_mut(k);
            for run in runs {
                let Range { start: mut i, end } = run.range();
                while i < end {
                    let together = (self.lower.alike[i] as usize).min(end - i);
                    let (part, rest) = upper.split_at_mut(together);
                    match together {
                        3 => self.lower.forward::<_, 3>(i, work),
                        2 => self.lower.forward::<_, 2>(i, work),
                        _ => self.lower.forward::<_, 1>(i, work),
                    }
                    let inverses = &self.inverses[i..i + together];
                    for ((u, w), &inverse) in part.iter_mut().zip(&mut work[i..i + together]).zip(inverses) {
                        *u = core::mem::replace(w, S::zero()) * inverse;
                        sum += probe(*u);
                    }
                    upper = rest;
                    i += together;
                }
            }
            let pivot = core::mem::replace(&mut work[k], S::zero());
            let inverse = pivot.recip();
            self.inverses[k] = inverse;
            let limit = size(pivot) / KEEP;
            let mut good = size(pivot) >= floor * largest;
            good &= size(pivot) < f64::INFINITY;
            sum += probe(inverse);
            let (runs, mut lower) = self.lower.column_mut(k);
            for run in runs {
                let (part, rest) = lower.split_at_mut(run.length as usize);
                for (w, l) in work[run.range()].iter_mut().zip(part) {
                    let value = core::mem::replace(w, S::zero());
                    good &= size(value) <= limit;
                    *l = value * inverse;
                    sum += probe(*l);
                }
                lower = rest;
            }
            if !good || !sum.is_zero() {
                result = Err(k);
                break;
            }
        }
        if result.is_err() {
            work.fill(S::zero());
        }
        result
    }

    pub fn solve(&mut self, b: &mut [S]) {
        let SparseLu { x, lower, upper, inverses, row_of, columns, factored, .. } = self;
        substitute((lower, upper), inverses, (row_of, &columns.order), *factored, b, x);
    }

    /// Solves in any scalar over that of the matrix, with room for as many numbers.
    pub fn solve_over<L: Over<S>>(&self, b: &mut [L], x: &mut [L]) {
        let (triangles, places) = ((&self.lower, &self.upper), (&self.row_of[..], &self.columns.order[..]));
        substitute(triangles, &self.inverses, places, self.factored, b, x);
    }

    pub fn solve_transposed(&mut self, b: &mut [S]) {
        if !self.factored {
            return b.fill(S::lift(f64::NAN));
        }
        let x = &mut self.x[..];
        for (x, &unknown) in x.iter_mut().zip(&self.columns.order) {
            *x = b[unknown as usize];
        }
        let n = x.len();
        let mut k = 0;
        while k < n {
            let alike = |q: usize| self.upper.alike.get(k + q - 1).is_some_and(|&alike| alike as usize >= q);
            if alike(3) {
                self.upper.forward_transposed::<3>(k, x);
                k += 3;
            } else if alike(2) {
                self.upper.forward_transposed::<2>(k, x);
                k += 2;
            } else {
                self.upper.forward_transposed::<1>(k, x);
                k += 1;
            }
        }
        for (x, &inverse) in x.iter_mut().zip(&self.inverses) {
            *x *= inverse;
        }
        while k > 0 {
            let alike = |q: usize| k >= q && self.lower.alike[k - q] as usize >= q;
            if alike(3) {
                self.lower.backward_transposed::<3>(k - 1, x);
                k -= 3;
            } else if alike(2) {
                self.lower.backward_transposed::<2>(k - 1, x);
                k -= 2;
            } else {
                self.lower.backward_transposed::<1>(k - 1, x);
                k -= 1;
            }
        }
        for (&x, &row) in x.iter().zip(&self.row_of) {
            b[row as usize] = x;
        }
    }
}
