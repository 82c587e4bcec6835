//! Sparse factors along recorded pivots.

use super::search::{Found, search};
use super::shape::{GROUP, Runs, Shape, Triangle, backwards, inside, of_columns};
use super::substitute::{Backward, Forward, backward_transposed, forward_transposed};
use super::{Columns, FactorError, KEEP, probe, size};
use crate::scalar::{Over, Quads, Real, Wide};
use core::ops::Range;

/// A column at work of each of the columns that are factored together.
type Rows<S> = [[S; GROUP]];

/// What was seen of the factors of columns that are found together: the sum shows numbers that are not finite.
struct Factored<S> {
    sum: S,
    largest: f64,
}

impl<S: Real> Factored<S> {
    #[inline(always)]
    fn see(&mut self, l: S) {
        self.sum += l;
        self.largest = if size(l) > self.largest { size(l) } else { self.largest };
    }
}

/// Takes Q columns of L from R columns at work, and what they have in the rows of those into U.
#[inline(always)]
fn take<S: Real, W: Quads<S>, const R: usize, const Q: usize>(
    (runs, values): (Runs<'_>, &[S]),
    inverses: &[S],
    k: usize,
    (work, upper): (&mut Rows<S>, &mut [[S; R]]),
    (quads, sum): (W, &mut W::Quad),
) {
    let (own, rows) = values.split_at(inside(Q));
    let zeros = [S::zero(); GROUP];
    let mut tops = [quads.read(&zeros); Q];
    for (c, row) in work[k..k + Q].iter_mut().enumerate() {
        let mut top = quads.read(row);
        for d in 0..c {
            top = quads.less::<R>(top, own[inside(c) + d], tops[d]);
        }
        tops[c] = top;
        *row = zeros;
    }
    for ((top, upper), inverse) in tops.iter().zip(upper).zip(&inverses[k..k + Q]) {
        let (now, mut whole) = (quads.times::<R>(*inverse, *top), zeros);
        *sum = quads.plus::<R>(*sum, now);
        quads.write(now, &mut whole);
        upper.copy_from_slice(&whole[..R]);
    }
    let mut rows = rows.as_chunks::<Q>().0;
    for run in runs {
        let (part, rest) = rows.split_at(run.length as usize);
        rows = rest;
        for (x, row) in work[run.range()].iter_mut().zip(part) {
            let mut value = quads.read(x);
            for q in 0..Q {
                value = quads.less::<R>(value, row[q], tops[q]);
            }
            quads.write(value, x);
        }
    }
}

/// Factors along the recorded pivots; `Err` with the column where they are not good any more.
struct Refactor<'a, S> {
    lu: &'a mut SparseLu<S>,
    values: &'a [S],
}

impl<S: Real> Wide<S> for Refactor<'_, S> {
    type Output = Result<(), usize>;
    #[inline(always)]
    fn run<W: Quads<S>>(self, quads: W) -> Self::Output {
        let Refactor { lu, values } = self;
        for at in 0..lu.shape.groups.len() - 1 {
            let count = lu.shape.groups[at + 1].first - lu.shape.groups[at].first;
            let done = match count {
                1 => lu.refactor_group::<W, 1>(at, values, quads),
                2 => lu.refactor_group::<W, 2>(at, values, quads),
                3 => lu.refactor_group::<W, 3>(at, values, quads),
                _ => lu.refactor_group::<W, GROUP>(at, values, quads),
            };
            if done.is_err() {
                lu.work.fill([S::zero(); GROUP]);
                return done;
            }
        }
        Ok(())
    }
}

/// Both substitutions: right-hand side b in the order of the rows, at work in x in that of the pivots.
#[inline(always)]
fn substitute<S: Real, L: Over<S>>(
    (shape, lower, upper): (&Shape, &Triangle<S>, &Triangle<S>),
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
    eliminated(shape, (lower, upper), inverses, x);
    for (&x, &unknown) in x.iter().zip(order) {
        b[unknown as usize] = x;
    }
}

/// Both, in the order of the pivots. A function of its own, compiled once for each kind of numbers.
#[inline(never)]
fn eliminated<S: Real, L: Over<S>>(
    shape: &Shape,
    (lower, upper): (&Triangle<S>, &Triangle<S>),
    inverses: &[S],
    x: &mut [L],
) {
    let groups = &shape.groups[..];
    L::widely(Forward { groups, lower, inverses, x: &mut *x });
    L::widely(Backward { groups, upper, x });
}

/// P A Q = L D U, with ones on the diagonals of L and U: in a substitution each unknown waits for the one before, and
/// with the pivots in U it would wait for a multiplication more.
#[derive(Clone, Debug)]
pub(super) struct SparseLu<S> {
    pub columns: Columns,
    /// The row of each pivot; empty until pivots are found.
    pub row_of: Vec<u32>,
    floors: Vec<f64>,
    shape: Shape,
    lower: Triangle<S>,
    upper: Triangle<S>,
    /// Reciprocals of the pivots.
    inverses: Vec<S>,
    /// Columns at work; zero between factorizations.
    work: Vec<[S; GROUP]>,
    /// Right-hand sides in the order of the pivots.
    x: Vec<S>,
    /// False where pivots are still to be searched.
    pub factored: bool,
    pub searches: u64,
}

impl<S: Real> SparseLu<S> {
    pub fn new(columns: Columns) -> Self {
        SparseLu {
            row_of: vec![],
            floors: vec![],
            shape: Shape::new(),
            lower: Triangle::new(),
            upper: Triangle::new(),
            inverses: vec![],
            work: vec![],
            x: vec![],
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
        (self.shape, self.lower, self.upper) = (Shape::new(), Triangle::new(), Triangle::new());
        // Rows are those of the matrix again.
        for row in if self.row_of.is_empty() { &mut [][..] } else { &mut self.columns.pattern.rows } {
            *row = self.row_of[*row as usize];
        }
        self.row_of.clear();
        let Found { row_of, position, lower, upper, floors } = search(&self.columns, values)?;
        (self.row_of, self.floors) = (row_of, floors);
        self.columns.pattern.rows.iter_mut().for_each(|row| *row = position[*row as usize]);
        let below = backwards(&lower, &position);
        drop((lower, position));
        (self.shape, self.lower, self.upper) = Shape::of(&below, &upper);
        drop((below, upper));
        let n = self.columns.n();
        self.inverses.resize(n, S::zero());
        self.x.resize(n, S::zero());
        // The search bounds the multipliers, so that only an overflow is left to fail.
        self.refactor(values)
            .map_err(|k| FactorError::NotFinite { unknown: self.columns.order[k] as usize })?;
        self.factored = true;
        Ok(())
    }

    /// Gives back what only factorizations need; the next one makes it anew.
    pub fn rest(&mut self) {
        self.work = Vec::new();
    }

    /// How many numbers the factors are.
    #[cfg(test)]
    pub fn entries(&self) -> usize {
        self.lower.values.len() + self.upper.values.len() + self.inverses.len()
    }

    #[inline(never)]
    fn refactor(&mut self, values: &[S]) -> Result<(), usize> {
        self.work.resize(self.columns.n(), [S::zero(); GROUP]);
        S::widely(Refactor { lu: self, values })
    }

    /// Factors R columns together.
    #[inline(always)]
    fn refactor_group<W: Quads<S>, const R: usize>(
        &mut self,
        at: usize,
        values: &[S],
        quads: W,
    ) -> Result<(), usize> {
        let (group, next) = (self.shape.groups[at], self.shape.groups[at + 1]);
        let (first, work) = (group.first(), &mut self.work[..]);
        let mut largest = [0.0f64; R];
        for (c, largest) in largest.iter_mut().enumerate() {
            let entries = self.columns.range(first + c);
            let mut most = 0.0;
            for (&row, &value) in self.columns.pattern.rows[entries.clone()].iter().zip(&values[entries]) {
                work[row as usize][c] = value;
                most = if size(value) > most { size(value) } else { most };
            }
            *largest = most;
        }
        let (mut seen, mut sums) = (Factored { sum: S::zero(), largest: 0.0 }, [S::zero(); GROUP]);
        let mut sum = quads.read(&sums);
        let (runs, upper) = self.upper.part_mut(&group.upper, &next.upper);
        let (own_upper, upper) = upper.split_at_mut(inside(R));
        let mut upper = upper.as_chunks_mut::<R>().0;
        let (shape, triangle, known) = (&self.shape, &self.lower, &self.inverses);
        for run in runs {
            let Range { start: mut i, end } = run.range();
            while i < end {
                let source = shape.group_of[i] as usize;
                let (from, to) = (&shape.groups[source], &shape.groups[source + 1]);
                let count = (to.first - from.first) as usize;
                let (part, rest) = core::mem::take(&mut upper).split_at_mut(count);
                upper = rest;
                let columns = triangle.part(&from.lower, &to.lower);
                of_columns!(
                    count,
                    take::<S, W, R>,
                    (columns, known, i, (&mut *work, part), (quads, &mut sum))
                );
                i += count;
            }
        }
        quads.write(sum, &mut sums);
        sums[..R].iter().for_each(|sum| seen.sum += *sum);
        // The diagonal block.
        let mut block = [[S::zero(); R]; R];
        for (own, row) in block.iter_mut().zip(&mut work[first..first + R]) {
            own.copy_from_slice(&row[..R]);
            row[..R].fill(S::zero());
        }
        let (runs, lower) = self.lower.part_mut(&group.lower, &next.lower);
        let (own_lower, lower) = lower.split_at_mut(inside(R));
        let mut inverses = [S::zero(); R];
        let mut good = true;
        for c in 0..R {
            let (tops, pivot) = (block[c], block[c][c]);
            let inverse = pivot.recip();
            inverses[c] = inverse;
            good &= size(pivot) >= self.floors[first + c] * largest[c];
            good &= size(pivot) < f64::INFINITY;
            seen.sum += probe(inverse);
            for i in c + 1..R {
                let l = block[i][c] * inverse;
                seen.see(l);
                own_lower[inside(i) + c] = l;
                (c + 1..R).for_each(|d| block[i][d] -= l * tops[d]);
            }
            for d in c + 1..R {
                let u = block[c][d] * inverse;
                own_upper[inside(d) + c] = u;
                seen.sum += u;
            }
        }
        self.inverses[first..first + R].copy_from_slice(&inverses);
        let mut rows = lower.as_chunks_mut::<R>().0;
        for run in runs {
            let (part, rest) = core::mem::take(&mut rows).split_at_mut(run.length as usize);
            rows = rest;
            for (w, l) in work[run.range()].iter_mut().zip(part) {
                let mut values = [S::zero(); R];
                for c in 0..R {
                    let mut value = core::mem::replace(&mut w[c], S::zero());
                    for d in 0..c {
                        value -= values[d] * block[d][c];
                    }
                    values[c] = value * inverses[c];
                    seen.see(values[c]);
                }
                *l = values;
            }
        }
        good &= seen.largest <= KEEP.recip();
        match good && probe(seen.sum).is_zero() {
            true => Ok(()),
            false => Err(first),
        }
    }

    pub fn solve(&mut self, b: &mut [S]) {
        let SparseLu { x, shape, lower, upper, inverses, row_of, columns, factored, .. } = self;
        substitute((shape, lower, upper), inverses, (row_of, &columns.order), *factored, b, x);
    }

    /// Solves in any scalar over that of the matrix, with room for as many numbers.
    pub fn solve_over<L: Over<S>>(&self, b: &mut [L], x: &mut [L]) {
        let (factors, places) =
            ((&self.shape, &self.lower, &self.upper), (&self.row_of[..], &self.columns.order[..]));
        substitute(factors, &self.inverses, places, self.factored, b, x);
    }

    pub fn solve_transposed(&mut self, b: &mut [S]) {
        if !self.factored {
            return b.fill(S::lift(f64::NAN));
        }
        let SparseLu { x, shape, lower, upper, inverses, row_of, columns, .. } = self;
        for (x, &unknown) in x.iter_mut().zip(&columns.order) {
            *x = b[unknown as usize];
        }
        for pair in shape.groups.windows(2) {
            let [group, next] = pair else { continue };
            let part = upper.part(&group.upper, &next.upper);
            of_columns!(next.first - group.first, forward_transposed::<S>, (part, group.first(), x));
        }
        for (x, &inverse) in x.iter_mut().zip(&*inverses) {
            *x *= inverse;
        }
        for pair in shape.groups.windows(2).rev() {
            let [group, next] = pair else { continue };
            let part = lower.part(&group.lower, &next.lower);
            of_columns!(next.first - group.first, backward_transposed::<S>, (part, group.first(), x));
        }
        for (&x, &row) in x.iter().zip(&*row_of) {
            b[row as usize] = x;
        }
    }
}
