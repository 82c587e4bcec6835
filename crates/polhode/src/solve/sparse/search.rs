//! The search for pivots: column by column, each column solved with the columns before it (Gilbert and Peierls), so
//! that the work is proportional to the arithmetic.

use super::{Columns, Dependency, ELSEWHERE, FactorError, KEEP, probe, size};
use crate::scalar::Real;

/// The diagonal entry is the pivot if it is at least this part of its column: fill follows the order of elimination,
/// which counts more than growth as long as Newton's method corrects the rest.
const DIAGONAL: f64 = 1e-3;
/// An entry that is this small against the terms it is the sum of is rounding. Not against the matrix: light
/// bodies make large entries, and heavy ones small, that are as good.
const ROUNDING: f64 = 1e-12;
/// A part of a null vector that is this small against the largest is rounding.
const SUPPORT: f64 = 1e-6;

/// Pivots and where the factors have entries, in the order of elimination.
pub(super) struct Found {
    /// The row of each pivot.
    pub row_of: Vec<u32>,
    /// Where each row went.
    pub position: Vec<u32>,
    /// Rows of the entries below the diagonal of L, by columns, not sorted, as numbered in the matrix.
    pub lower: Lists,
    /// Rows of the entries above the diagonal of U, by columns, ascending, as numbered by pivots.
    pub upper: Lists,
    /// How small a pivot may become before it is looked at again, relative to the entries of its column.
    pub floors: Vec<f64>,
}

/// Lists of indices, one after the other.
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Room for so many lists of about so many items together.
    pub fn new(count: usize, items: usize) -> Lists {
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        Lists { starts, items: Vec::with_capacity(items) }
    }

    pub fn push(&mut self, items: impl Iterator<Item = u32>) {
        self.items.extend(items);
        self.starts.push(self.items.len() as u32);
    }

    /// How many items all of them have.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn range(&self, k: usize) -> core::ops::Range<usize> {
        self.starts[k] as usize..self.starts[k + 1] as usize
    }

    /// Takes the last list away.
    fn pop(&mut self) {
        self.starts.pop();
        self.items.truncate(self.starts.last().copied().unwrap_or_default() as usize);
    }

    pub fn get(&self, k: usize) -> &[u32] {
        &self.items[self.range(k)]
    }
}

/// Finds the pivots of the matrix with these values.
pub(super) fn search<S: Real>(columns: &Columns, values: &[S]) -> Result<Found, FactorError> {
    match eliminate(columns, values, None, false) {
        // What vanishes is found with all of U, for which there is no room otherwise.
        Err(FactorError::Singular { .. }) => eliminate(columns, values, None, true),
        found => found,
    }
}

/// The columns that depend on those before them in the order of elimination, with what is left of them less than this part of
/// their largest entry; each with the combination that vanishes, if that is asked for. Columns without entries do not count.
pub(super) fn dependencies<S: Real>(
    columns: &Columns,
    values: &[S],
    part: f64,
    with_null: bool,
) -> Result<Vec<Dependency>, FactorError> {
    let mut left_out = LeftOut { part, with_null, list: Vec::new() };
    eliminate(columns, values, Some(&mut left_out), with_null)?;
    Ok(left_out.list)
}

/// Columns without a pivot.
struct LeftOut {
    /// A pivot that is smaller than this part of the largest entry of its column is none.
    part: f64,
    /// True if combinations are asked for, which take longer than the rest.
    with_null: bool,
    list: Vec<Dependency>,
}

/// Finds the pivots. A column without one is an error, or left out and put on the list; combinations that vanish are right if U
/// is kept for them.
fn eliminate<S: Real>(
    columns: &Columns,
    values: &[S],
    mut left_out: Option<&mut LeftOut>,
    keeps_upper: bool,
) -> Result<Found, FactorError> {
    let n = columns.n();
    // The unknown of each pivot.
    let mut unknowns: Vec<usize> = Vec::with_capacity(n);
    // The row at each place in the order of elimination; pivots exchange rows.
    let mut row_of = columns.order.clone();
    let mut position = vec![0; n];
    for (k, &row) in row_of.iter().enumerate() {
        position[row as usize] = k as u32;
    }
    // Factors have about as many entries in each triangle as the matrix has. Room that grows leaves holes.
    let entries = columns.pattern.nonzeros();
    let (mut lower, mut upper) = (Lists::new(n, entries), Lists::new(n, entries));
    let (mut l, mut floors) = (Vec::with_capacity(entries), Vec::with_capacity(n));
    let (mut u, mut pivots) = (vec![], vec![]);
    // The column at work, and the largest term in each of its entries.
    let mut work = vec![S::zero(); n];
    let mut terms = vec![0.0f64; n];
    // The largest product of multipliers on a way to each row: small pivots must not follow each other.
    let mut growth = vec![1.0f64; n];
    let mut mark = vec![u32::MAX; n];
    let (mut stack, mut above, mut below) = (vec![], vec![], vec![]);
    for at in 0..n {
        let (k, unknown) = (unknowns.len(), columns.order[at] as usize);
        // Where the column has entries: those of the matrix, and below every pivot among them those of its L.
        above.clear();
        below.clear();
        let entries = columns.range(at);
        if entries.is_empty() && left_out.is_some() {
            continue;
        }
        stack.extend_from_slice(columns.rows(at));
        while let Some(row) = stack.pop() {
            if core::mem::replace(&mut mark[row as usize], at as u32) == at as u32 {
                continue;
            }
            work[row as usize] = S::zero();
            terms[row as usize] = 0.0;
            let place = position[row as usize];
            if (place as usize) < k {
                above.push(place);
                stack.extend_from_slice(lower.get(place as usize));
            } else {
                below.push(row);
            }
        }
        above.sort_unstable();
        let mut largest = 0.0f64;
        for (&row, &value) in columns.rows(at).iter().zip(&values[entries]) {
            work[row as usize] = value;
            terms[row as usize] = size(value);
            largest = largest.max(size(value));
        }
        let mut finite = true;
        for &place in &above {
            let top = work[row_of[place as usize] as usize];
            finite &= probe(top).is_zero();
            for (&row, &l) in lower.get(place as usize).iter().zip(&l[lower.range(place as usize)]) {
                let term: S = l * top;
                work[row as usize] -= term;
                terms[row as usize] = terms[row as usize].max(size(term));
            }
            if keeps_upper {
                u.push(top);
            }
        }
        upper.push(above.iter().copied());
        finite &= below.iter().all(|&row| probe(work[row as usize]).is_zero());
        if !finite {
            return Err(FactorError::NotFinite { unknown });
        }
        // The pivot.
        let best = below.iter().map(|&row| size(work[row as usize])).fold(0.0, f64::max);
        let good = |row: u32, part: f64| {
            let value = size(work[row as usize]);
            value >= part * best && value > ROUNDING * terms[row as usize]
        };
        let at_home = row_of[k];
        let part = (DIAGONAL * growth[at_home as usize]).min(columns.steady);
        let home = (mark[at_home as usize] == at as u32 && good(at_home, part)).then_some(at_home);
        let away =
            |part| below.iter().copied().filter(|&r| good(r, part)).min_by_key(|&r| position[r as usize]);
        let found = match &left_out {
            None => home.or_else(|| away(ELSEWHERE)).or_else(|| away(DIAGONAL)),
            Some(LeftOut { part, .. }) if best > part * largest => away(ELSEWHERE).or_else(|| away(DIAGONAL)),
            Some(_) => None,
        };
        let Some(row) = found else {
            let null = || {
                let null = if keeps_upper { null_vector(k, &upper, &u, &pivots) } else { Vec::new() };
                unknowns.iter().copied().chain([unknown]).zip(null).filter(|(_, y)| *y != 0.0)
            };
            match &mut left_out {
                Some(LeftOut { with_null, list, .. }) => {
                    let null = if *with_null { null().collect() } else { Vec::new() };
                    list.push(Dependency { unknown, null });
                }
                None => {
                    let mut all = vec![0.0; n];
                    null().for_each(|(j, y)| all[j] = y);
                    return Err(FactorError::Singular { unknown, null: all });
                }
            }
            u.truncate(upper.range(k).start);
            upper.pop();
            continue;
        };
        unknowns.push(unknown);
        let place = position[row as usize] as usize;
        row_of.swap(k, place);
        position[row_of[place] as usize] = place as u32;
        position[row as usize] = k as u32;
        let pivot = work[row as usize];
        let inverse = pivot.recip();
        lower.push(below.iter().copied().filter(|&r| r != row));
        for &r in lower.get(k) {
            let multiplier = work[r as usize] * inverse;
            growth[r as usize] = growth[r as usize].max(size(multiplier) * growth[row as usize]);
            l.push(multiplier);
        }
        // A column of nothing but fill has no entries to compare with.
        floors.push(if largest > 0.0 { KEEP * (size(pivot) / largest) } else { 0.0 });
        if keeps_upper {
            pivots.push(pivot.largest());
        }
    }
    Ok(Found { row_of, position, lower, upper, floors })
}

/// The combination of column `k` and those before it that vanishes, in the order of elimination: the largest ±1, rounding
/// set to zero.
fn null_vector<S: Real>(k: usize, upper: &Lists, u: &[S], pivots: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; k];
    let column = |s: usize| upper.get(s).iter().map(|&i| i as usize).zip(&u[upper.range(s)]);
    for (i, u) in column(k) {
        y[i] = -u.largest();
    }
    for s in (0..k).rev() {
        if y[s] == 0.0 {
            continue;
        }
        y[s] /= pivots[s];
        for (i, u) in column(s) {
            y[i] -= u.largest() * y[s];
        }
    }
    y.push(1.0);
    let largest = y.iter().map(|y| y.abs()).fold(0.0, f64::max);
    let part = |y: f64| if (y / largest).abs() > SUPPORT { y / largest } else { 0.0 };
    y.into_iter().map(part).collect()
}
