//! Substitutions with sparse factors, group after group.

use super::shape::{Group, Run, Runs, Triangle, inside, of_columns};
use crate::scalar::{Over, Quads, Real, Wide};

/// The rows of the first run of a group, of so many columns: lengths that blocks of bodies and joints have are written out.
macro_rules! of_length {
    ($length:expr, $function:ident::<$($type:tt),*>, $arguments:tt) => {
        match $length {
            2 => $function::<$($type,)* 2> $arguments,
            3 => $function::<$($type,)* 3> $arguments,
            4 => $function::<$($type,)* 4> $arguments,
            5 => $function::<$($type,)* 5> $arguments,
            6 => $function::<$($type,)* 6> $arguments,
            8 => $function::<$($type,)* 8> $arguments,
            _ => $function::<$($type,)* ANY> $arguments,
        }
    };
}

/// A length that is not written out.
const ANY: usize = 0;

/// Forward substitution with Q columns of a lower triangle from `k` on, N rows of which are in their first run, and their
/// division by the pivots.
#[inline(always)]
fn forward<S: Real, L: Over<S>, const Q: usize, const N: usize>(
    lower: &Triangle<S>,
    [group, next]: [&Group; 2],
    inverses: &[S],
    x: &mut [L],
) {
    let (part, k) = (&group.lower, group.first());
    let values = &lower.values[part.values as usize..];
    let length = if N == ANY { part.run.length as usize } else { N };
    let (values, others) = values.split_at(inside(Q) + Q * length);
    let heads = &mut x[k..k + Q];
    let mut tops = [L::zero(); Q];
    for c in 0..Q {
        let mut top = heads[c];
        for d in 0..c {
            top -= L::of(values[inside(c) + d]) * tops[d];
        }
        tops[c] = top;
    }
    for (c, inverse) in inverses[k..k + Q].iter().enumerate() {
        heads[c] = tops[c] * L::of(*inverse);
    }
    subtract::<S, L, Q, N>(part.run, &values[inside(Q)..], &tops, x);
    if part.runs != next.lower.runs {
        subtract_others(lower.others(part, &next.lower), others, &tops, x);
    }
}

/// Backward substitution with Q columns of an upper triangle from `k` on, in the same way.
#[inline(always)]
fn backward<S: Real, L: Over<S>, const Q: usize, const N: usize>(
    upper: &Triangle<S>,
    [group, next]: [&Group; 2],
    x: &mut [L],
) {
    let (part, k) = (&group.upper, group.first());
    let values = &upper.values[part.values as usize..];
    let length = if N == ANY { part.run.length as usize } else { N };
    let (values, others) = values.split_at(inside(Q) + Q * length);
    let heads = &mut x[k..k + Q];
    let mut tops = [L::zero(); Q];
    for c in (0..Q).rev() {
        let mut top = heads[c];
        for d in (c + 1..Q).rev() {
            top -= L::of(values[inside(d) + c]) * tops[d];
        }
        tops[c] = top;
        heads[c] = top;
    }
    subtract::<S, L, Q, N>(part.run, &values[inside(Q)..], &tops, x);
    if part.runs != next.upper.runs {
        subtract_others(upper.others(part, &next.upper), others, &tops, x);
    }
}

/// x -= the rows of a run times `tops`.
#[inline(always)]
fn subtract<S: Real, L: Over<S>, const Q: usize, const N: usize>(
    run: Run,
    rows: &[S],
    tops: &[L; Q],
    x: &mut [L],
) {
    if N == ANY {
        for (x, row) in x[run.range()].iter_mut().zip(rows.as_chunks::<Q>().0) {
            *x = minus(*x, row, tops);
        }
        return;
    }
    let (x, rows) = (&mut x[run.start as usize..run.start as usize + N], &rows[..Q * N]);
    for i in 0..N {
        let mut value = x[i];
        for q in 0..Q {
            value -= L::of(rows[Q * i + q]) * tops[q];
        }
        x[i] = value;
    }
}

/// The same of more runs.
#[inline(always)]
fn subtract_others<S: Real, L: Over<S>, const Q: usize>(
    runs: &[Run],
    rows: &[S],
    tops: &[L; Q],
    x: &mut [L],
) {
    let mut rows = rows.as_chunks::<Q>().0.iter();
    for run in runs {
        for (x, row) in x[run.range()].iter_mut().zip(&mut rows) {
            *x = minus(*x, row, tops);
        }
    }
}

/// x - the product of a row with a column.
#[inline(always)]
fn minus<S: Real, L: Over<S>, const Q: usize>(mut x: L, row: &[S; Q], tops: &[L; Q]) -> L {
    for q in 0..Q {
        x -= L::of(row[q]) * tops[q];
    }
    x
}

/// Forward substitution with a group of columns.
#[inline(always)]
fn forward_in<S: Real, L: Over<S>, const Q: usize>(
    lower: &Triangle<S>,
    groups: [&Group; 2],
    inverses: &[S],
    x: &mut [L],
) {
    of_length!(groups[0].lower.run.length, forward::<S, L, Q>, (lower, groups, inverses, x));
}

/// Backward substitution with a group of columns.
#[inline(always)]
fn backward_in<S: Real, L: Over<S>, const Q: usize>(upper: &Triangle<S>, groups: [&Group; 2], x: &mut [L]) {
    of_length!(groups[0].upper.run.length, backward::<S, L, Q>, (upper, groups, x));
}

/// Forward substitution with all of a lower triangle, and division by the pivots.
pub(super) struct Forward<'a, S, L> {
    pub(super) groups: &'a [Group],
    pub(super) lower: &'a Triangle<S>,
    pub(super) inverses: &'a [S],
    pub(super) x: &'a mut [L],
}

impl<S: Real, L: Over<S>> Wide<L> for Forward<'_, S, L> {
    type Output = ();
    #[inline(always)]
    fn run<W: Quads<L>>(self, _: W) {
        let Forward { groups, lower, inverses, x } = self;
        for pair in groups.windows(2) {
            let [group, next] = pair else { continue };
            of_columns!(next.first - group.first, forward_in::<S, L>, (lower, [group, next], inverses, x));
        }
    }
}

/// Backward substitution with all of an upper triangle.
pub(super) struct Backward<'a, S, L> {
    pub(super) groups: &'a [Group],
    pub(super) upper: &'a Triangle<S>,
    pub(super) x: &'a mut [L],
}

impl<S: Real, L: Over<S>> Wide<L> for Backward<'_, S, L> {
    type Output = ();
    #[inline(always)]
    fn run<W: Quads<L>>(self, _: W) {
        let Backward { groups, upper, x } = self;
        for pair in groups.windows(2).rev() {
            let [group, next] = pair else { continue };
            of_columns!(next.first - group.first, backward_in::<S, L>, (upper, [group, next], x));
        }
    }
}

/// x of these columns less the products of their rows with x.
#[inline(always)]
fn less_products<S: Real, const Q: usize>(runs: Runs<'_>, rows: &[S], k: usize, x: &[S]) -> [S; Q] {
    let mut rows = rows.as_chunks::<Q>().0.iter();
    let mut tops: [S; Q] = core::array::from_fn(|c| x[k + c]);
    for run in runs {
        for (x, row) in x[run.range()].iter().zip(&mut rows) {
            for c in 0..Q {
                tops[c] -= row[c] * *x;
            }
        }
    }
    tops
}

/// Forward substitution with the rows that columns of an upper triangle are when it is transposed.
#[inline(always)]
pub(super) fn forward_transposed<S: Real, const Q: usize>(
    (runs, values): (Runs<'_>, &[S]),
    k: usize,
    x: &mut [S],
) {
    let (own, rows) = values.split_at(inside(Q));
    let mut tops = less_products::<S, Q>(runs, rows, k, x);
    for c in 1..Q {
        for d in 0..c {
            tops[c] -= own[inside(c) + d] * tops[d];
        }
    }
    x[k..k + Q].copy_from_slice(&tops);
}

/// Backward substitution with the rows that columns of a lower triangle are when it is transposed.
#[inline(always)]
pub(super) fn backward_transposed<S: Real, const Q: usize>(
    (runs, values): (Runs<'_>, &[S]),
    k: usize,
    x: &mut [S],
) {
    let (own, rows) = values.split_at(inside(Q));
    let mut tops = less_products::<S, Q>(runs, rows, k, x);
    for c in (0..Q).rev() {
        for d in c + 1..Q {
            tops[c] -= own[inside(d) + c] * tops[d];
        }
    }
    x[k..k + Q].copy_from_slice(&tops);
}
