//! Substitutions with columns whose rows are one run, as those of chains are: all lengths are known where this is compiled.

use crate::scalar::{Over, Real};

/// The longest such run.
pub(super) const LONGEST: usize = 8;

/// Where column c starts among columns each of which is shorter by one than the one before, the last with N entries.
const fn falling<const Q: usize, const N: usize>(c: usize) -> usize {
    let mut start = 0;
    let mut before = 0;
    while before < c {
        start += N + Q - 1 - before;
        before += 1;
    }
    start
}

/// Where column c starts among columns each of which is longer by one than the one before, the first with N entries.
const fn rising<const N: usize>(c: usize) -> usize {
    let mut start = 0;
    let mut before = 0;
    while before < c {
        start += N + before;
        before += 1;
    }
    start
}

/// Forward substitution with Q columns of a lower triangle from `k` on, whose N common rows start at `row`.
#[inline]
pub(super) fn forward<S: Real, L: Over<S>, const Q: usize, const N: usize>(
    values: &[S],
    k: usize,
    row: usize,
    x: &mut [L],
) {
    let values = &values[..Q * N + Q * (Q - 1) / 2];
    let mut tops = [L::zero(); Q];
    let heads = &mut x[k..k + Q];
    for c in 0..Q {
        let mut top = heads[c];
        for d in 0..c {
            top -= L::of(values[falling::<Q, N>(d) + c - d - 1]) * tops[d];
        }
        tops[c] = top;
        heads[c] = top;
    }
    let x = &mut x[row..row + N];
    for i in 0..N {
        let mut value = x[i];
        for c in 0..Q {
            value -= L::of(values[falling::<Q, N>(c) + Q - 1 - c + i]) * tops[c];
        }
        x[i] = value;
    }
}

/// Backward substitution with Q columns of an upper triangle from `k` on, in the same way.
#[inline]
pub(super) fn backward<S: Real, L: Over<S>, const Q: usize, const N: usize>(
    values: &[S],
    k: usize,
    row: usize,
    x: &mut [L],
) {
    let values = &values[..Q * N + Q * (Q - 1) / 2];
    let mut tops = [L::zero(); Q];
    let heads = &mut x[k..k + Q];
    for c in (0..Q).rev() {
        let mut top = heads[c];
        for d in (c + 1..Q).rev() {
            top -= L::of(values[rising::<N>(d) + N + c]) * tops[d];
        }
        tops[c] = top;
        heads[c] = top;
    }
    let x = &mut x[row..row + N];
    for i in 0..N {
        let mut value = x[i];
        for c in (0..Q).rev() {
            value -= L::of(values[rising::<N>(c) + i]) * tops[c];
        }
        x[i] = value;
    }
}

/// The function of this name for the length of the run.
macro_rules! of_length {
    ($length:expr, $function:ident::<$q:ident>, $arguments:tt) => {
        match $length {
            1 => $crate::solve::sparse::single::$function::<_, _, $q, 1> $arguments,
            2 => $crate::solve::sparse::single::$function::<_, _, $q, 2> $arguments,
            3 => $crate::solve::sparse::single::$function::<_, _, $q, 3> $arguments,
            4 => $crate::solve::sparse::single::$function::<_, _, $q, 4> $arguments,
            5 => $crate::solve::sparse::single::$function::<_, _, $q, 5> $arguments,
            6 => $crate::solve::sparse::single::$function::<_, _, $q, 6> $arguments,
            7 => $crate::solve::sparse::single::$function::<_, _, $q, 7> $arguments,
            _ => $crate::solve::sparse::single::$function::<_, _, $q, 8> $arguments,
        }
    };
}
pub(super) use of_length;
