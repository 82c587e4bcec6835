//! Factors of the Newton matrices of multibody systems: sparse, unsymmetric, with zero diagonal blocks where joints
//! are. The topology is ordered once, pivots are searched once and kept while they are good.
//!
//! Pivot decisions are taken on one value per scalar, so the scalars of a matrix are numbers or duals of numbers, not lanes;
//! those of a right-hand side may be.

mod loops;
mod lu;
mod order;
mod runtime;
mod search;
mod shape;
mod substitute;
#[cfg(test)]
mod tests;

pub use order::{Block, Role, elimination_order};

use crate::scalar::{Over, Real};
use core::fmt;
use lu::SparseLu;
use runtime::DenseLu;

/// Matrices with fewer unknowns have dense factors.
///
/// Measured: recorded pivots are worth more than the indices they cost. A factorization and three solves of a full
/// matrix take 0.14 µs sparse and 0.15 µs dense at 3 unknowns, 0.32 and 0.37 at 6, 0.61 and 0.68 at 9, 2.2 and 2.6 at
/// 18; of a chain of bodies in spherical joints 0.53 and 0.63 µs at one body, 1.4 and 2.3 at two. What dense factors
/// have is full partial pivoting, and where it is as good as free they are used.
pub const DENSE_BELOW: usize = 4;

/// A pivot of a refactorization is kept while it is at least this part of its column, and of what it was (relative
/// to the entries of its column) when it was searched. Multipliers up to 1e6 cost six of sixteen digits, which a
/// Newton iteration does not notice; a search allows a thousandth of that, so that the next matrices of a motion,
/// which are alike, do not search again.
const KEEP: f64 = 1e-6;

/// A pivot away from the diagonal is in the row that is eliminated earliest, among those of at least this part of the column.
const ELSEWHERE: f64 = 0.1;

/// The value that decides on pivots.
#[inline(always)]
fn size<S: Real>(x: S) -> f64 {
    x.largest().abs()
}

/// Zero, if the number and its derivatives are finite; else not a number somewhere.
#[inline(always)]
fn probe<S: Real>(x: S) -> S {
    x * S::zero()
}

/// Where the entries of a square matrix are, by columns, in ascending rows. Indices are 32 bits wide: half the memory traffic,
/// and four billion entries would not fit into memory anyway.
///
/// ```
/// use polhode::solve::Pattern;
/// let pattern = Pattern::new(2, [(0, 0), (1, 0), (0, 1), (1, 0)]);
/// assert_eq!(pattern.nonzeros(), 3);
/// assert_eq!(pattern.position(0, 1), Some(2));
/// assert_eq!(pattern.position(1, 1), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    n: usize,
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Pattern {
    /// The pattern with these entries (row, column); an entry may be named again. Entries outside of n x n are not
    /// taken, and [`Pattern::position`] finds none there.
    pub fn new(n: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
        let inside = entries.into_iter().filter(|&(row, column)| row < n && column < n);
        Pattern::of_pairs(n, &inside.map(|(row, column)| [row as u32, column as u32]).collect::<Vec<_>>())
    }

    /// The same of pairs that are all inside.
    pub(crate) fn of_pairs(n: usize, pairs: &[[u32; 2]]) -> Pattern {
        let mut starts = vec![0; n + 1];
        for [_, column] in pairs {
            starts[*column as usize + 1] += 1;
        }
        for column in 0..n {
            starts[column + 1] += starts[column];
        }
        let (mut rows, mut next) = (vec![0; pairs.len()], starts.clone());
        for [row, column] in pairs {
            let place = &mut next[*column as usize];
            rows[*place as usize] = *row;
            *place += 1;
        }
        drop(next);
        // Each column in order, and moved up by what was named again.
        let (mut from, mut kept) = (0, 0);
        for column in 0..n {
            let to = starts[column + 1] as usize;
            rows[from..to].sort_unstable();
            let first = kept;
            for i in from..to {
                if kept == first || rows[kept - 1] != rows[i] {
                    rows[kept] = rows[i];
                    kept += 1;
                }
            }
            from = to;
            starts[column + 1] = kept as u32;
        }
        rows.truncate(kept);
        rows.shrink_to_fit();
        Pattern { n, starts, rows }
    }

    /// The number of unknowns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The number of entries, the length of an array of values.
    pub fn nonzeros(&self) -> usize {
        self.rows.len()
    }

    /// Where each column starts in the array of values; one more than there are columns.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The row of each entry.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Where the entry is in the array of values.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let (row, range) = (u32::try_from(row).ok()?, self.range(column)?);
        self.rows[range.clone()].binary_search(&row).ok().map(|i| range.start + i)
    }

    /// The part of the arrays that belongs to a column.
    fn range(&self, column: usize) -> Option<core::ops::Range<usize>> {
        Some(*self.starts.get(column)? as usize..*self.starts.get(column + 1)? as usize)
    }

    /// y = A x, for residuals: what is left of a right-hand side after a solve.
    pub fn multiply<S: Real>(&self, values: &[S], x: &[S], y: &mut [S]) {
        self.multiply_by(|row| row as usize, (values, |a| a), x.iter().copied(), y);
    }

    /// The same with what is made of each value, and where the rows are that have these numbers.
    fn multiply_by<S: Copy, T: Real>(
        &self,
        at: impl Fn(u32) -> usize,
        (values, of): (&[S], impl Fn(S) -> T),
        x: impl Iterator<Item = T>,
        y: &mut [T],
    ) {
        y.fill(T::zero());
        for (ends, x) in self.starts.windows(2).zip(x) {
            let column = ends[0] as usize..ends[1] as usize;
            for (&row, &a) in self.rows[column.clone()].iter().zip(&values[column]) {
                y[at(row)] += of(a) * x;
            }
        }
    }
}

/// Why a matrix has no factors.
#[derive(Clone, Debug, PartialEq)]
pub enum FactorError {
    /// The columns are dependent, to rounding.
    Singular {
        /// The unknown whose column depends on others.
        unknown: usize,
        /// The combination of columns that vanishes: one number per unknown, the largest ±1, rounding set to zero.
        null: Vec<f64>,
    },
    /// There are not as many values as the pattern has entries.
    Count {
        /// The values given.
        given: usize,
        /// The entries of the pattern.
        entries: usize,
    },
    /// A value in the column of this unknown is not finite, or its elimination overflows.
    NotFinite {
        /// The unknown.
        unknown: usize,
    },
}

/// A column that depends on others.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependency {
    /// Its unknown.
    pub unknown: usize,
    /// The combination of columns that vanishes: unknowns and numbers, the largest ±1; rounding is left out.
    pub null: Vec<(usize, f64)>,
}

impl fmt::Display for FactorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Singular { unknown, .. } => {
                write!(f, "the matrix is singular: the column of unknown {unknown} depends on others")
            }
            Self::Count { given, entries } => {
                write!(f, "{given} values were given for a pattern with {entries} entries; give one for each")
            }
            Self::NotFinite { unknown } => {
                write!(f, "the matrix has a value in the column of unknown {unknown} that is not finite")
            }
        }
    }
}

impl std::error::Error for FactorError {}

/// The columns of a matrix and the order of their elimination.
#[derive(Clone, Debug)]
struct Columns {
    /// Where the entries are. Once sparse factors have pivots, rows have the numbers of these.
    pattern: Pattern,
    /// The unknown of each column.
    order: Vec<u32>,
    /// A diagonal entry is the pivot in any case if it is at least this part of its column.
    steady: f64,
}

impl Columns {
    /// An order that names an unknown twice, or not at all, is mended: first mention counts, the rest comes last.
    fn new(pattern: Pattern, given: &[usize]) -> Columns {
        let mut named = vec![false; pattern.n];
        let first = |&j: &usize| named.get_mut(j).is_some_and(|named| !core::mem::replace(named, true));
        let mut order = Vec::with_capacity(pattern.n);
        order.extend(given.iter().copied().chain(0..pattern.n).filter(first).map(|j| j as u32));
        Columns { pattern, order, steady: ELSEWHERE }
    }

    fn n(&self) -> usize {
        self.order.len()
    }

    /// The part of the arrays that belongs to a column.
    #[inline(always)]
    fn range(&self, k: usize) -> core::ops::Range<usize> {
        let unknown = self.order[k] as usize;
        self.pattern.starts[unknown] as usize..self.pattern.starts[unknown + 1] as usize
    }

    /// The rows of its entries.
    #[inline(always)]
    fn rows(&self, k: usize) -> &[u32] {
        &self.pattern.rows[self.range(k)]
    }
}

/// A square matrix with a fixed pattern, factored again and again.
///
/// ```
/// use polhode::solve::{Block, FactorError, Factors, Pattern, Role, elimination_order};
/// // A mass on a line and the force that holds it: [m 1; 1 0].
/// let pattern = Pattern::new(2, [(0, 0), (1, 0), (0, 1)]);
/// let blocks = [Block { unknowns: 0..1, role: Role::Free }, Block { unknowns: 1..2, role: Role::Tied }];
/// let order = elimination_order(&blocks, &[(0, 1)]);
/// assert_eq!(order, [0, 1]);
/// let mut factors = Factors::new(&pattern, &order);
/// factors.factor(&[2.0, 1.0, 1.0])?;
/// let mut x = [7.0, 3.0];
/// factors.solve(&mut x);
/// assert_eq!(x, [3.0, 1.0]);
/// # Ok::<(), FactorError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Factors<S> {
    kind: Kind<S>,
}

/// The row of the matrix that a number of a row stands for.
#[inline(always)]
fn of_matrix(row_of: &[u32], row: u32) -> u32 {
    row_of.get(row as usize).copied().unwrap_or(row)
}

#[derive(Clone, Debug)]
enum Kind<S> {
    Dense(Box<DenseLu<S>>),
    Sparse(Box<SparseLu<S>>),
}

impl<S: Real> Factors<S> {
    /// Room for the factors of matrices with this pattern, to be eliminated in this order of unknowns.
    pub fn new(pattern: &Pattern, order: &[usize]) -> Factors<S> {
        Factors::of_pattern(pattern.clone(), order)
    }

    /// The same of a pattern that nobody else needs: see [`Factors::rows`] and what follows.
    pub(crate) fn of_pattern(pattern: Pattern, order: &[usize]) -> Factors<S> {
        match pattern.n < DENSE_BELOW {
            true => Factors::of_dense(pattern, order),
            false => Factors::of_sparse(pattern, order),
        }
    }

    /// The same, dense whatever the size.
    pub fn dense(pattern: &Pattern, order: &[usize]) -> Factors<S> {
        Self::of_dense(pattern.clone(), order)
    }
    fn of_dense(pattern: Pattern, order: &[usize]) -> Factors<S> {
        Factors { kind: Kind::Dense(Box::new(DenseLu::new(Columns::new(pattern, order)))) }
    }

    /// The same, sparse whatever the size.
    pub fn sparse(pattern: &Pattern, order: &[usize]) -> Factors<S> {
        Self::of_sparse(pattern.clone(), order)
    }
    fn of_sparse(pattern: Pattern, order: &[usize]) -> Factors<S> {
        Factors { kind: Kind::Sparse(Box::new(SparseLu::new(Columns::new(pattern, order)))) }
    }
    /// The same, with pivots that follow the order of elimination where they are ten times smaller than they would otherwise be:
    /// for matrices in which pivots from elsewhere cost more than digits, as those of many loops are.
    pub(crate) fn in_order(mut self) -> Factors<S> {
        if let Kind::Sparse(lu) = &mut self.kind {
            lu.columns.steady = 0.1 * ELSEWHERE;
        }
        self
    }

    /// The pattern, and the rows that its numbers of rows stand for; nothing if they are those of the matrix.
    fn pattern(&self) -> (&Pattern, &[u32]) {
        match &self.kind {
            Kind::Dense(lu) => (&lu.columns.pattern, &[]),
            Kind::Sparse(lu) => (&lu.columns.pattern, &lu.row_of),
        }
    }
    /// The row of each entry of the pattern.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        let (pattern, row_of) = self.pattern();
        pattern.rows.iter().map(move |row| of_matrix(row_of, *row) as usize)
    }
    /// Where the entry is in the array of values.
    pub(crate) fn position(&self, row: usize, column: usize) -> Option<usize> {
        let (pattern, row_of) = self.pattern();
        let (row, range) = (u32::try_from(row).ok()?, pattern.range(column)?);
        let found = pattern.rows[range.clone()].binary_search_by_key(&row, |row| of_matrix(row_of, *row));
        found.ok().map(|i| range.start + i)
    }
    /// y = A x of what is made of each value, see [`Pattern::multiply`].
    pub(crate) fn multiply_by<V: Copy, T: Real>(
        &self,
        values: &[V],
        of: impl Fn(V) -> T,
        x: impl Iterator<Item = T>,
        y: &mut [T],
    ) {
        let (pattern, row_of) = self.pattern();
        pattern.multiply_by(|row| of_matrix(row_of, row) as usize, (values, of), x, y);
    }

    /// Factors the matrix with these values, in the order of the pattern. Allocates only when it searches pivots:
    /// the first time, after an error, and when the old ones became bad.
    pub fn factor(&mut self, values: &[S]) -> Result<(), FactorError> {
        let entries = self.pattern().0.nonzeros();
        if values.len() != entries {
            return Err(FactorError::Count { given: values.len(), entries });
        }
        match &mut self.kind {
            Kind::Dense(lu) => lu.factor(values),
            Kind::Sparse(lu) => lu.factor(values),
        }
    }
    /// Gives back room that solutions do not need; the next factorization makes it anew.
    pub(crate) fn rest(&mut self) {
        if let Kind::Sparse(lu) = &mut self.kind {
            lu.rest();
        }
    }
    /// Pivots are searched the next time.
    pub(crate) fn forget(&mut self) {
        match &mut self.kind {
            Kind::Dense(lu) => lu.factored = false,
            Kind::Sparse(lu) => lu.factored = false,
        }
    }
    /// The columns that depend on those before them in this order: what elimination leaves of them is less than this part of
    /// their largest entry. Without them the rank is full; columns without entries do not count, so that a matrix need not be
    /// square. The combinations that vanish are found if they are asked for.
    ///
    /// ```
    /// use polhode::solve::{Factors, Pattern};
    /// // The third column is the sum of the others.
    /// let pattern = Pattern::new(3, [(0, 0), (1, 1), (0, 2), (1, 2)]);
    /// let found = Factors::dependencies(&pattern, &[0, 1, 2], &[2.0, 1.0, 2.0, 1.0], 1e-9, true)?;
    /// assert_eq!(found.len(), 1);
    /// assert_eq!((found[0].unknown, &found[0].null[..]), (2, &[(0, -1.0), (1, -1.0), (2, 1.0)][..]));
    /// # Ok::<(), polhode::solve::FactorError>(())
    /// ```
    pub fn dependencies(
        pattern: &Pattern,
        order: &[usize],
        values: &[S],
        part: f64,
        with_null: bool,
    ) -> Result<Vec<Dependency>, FactorError> {
        match values.len() == pattern.nonzeros() {
            true => search::dependencies(&Columns::new(pattern.clone(), order), values, part, with_null),
            false => Err(FactorError::Count { given: values.len(), entries: pattern.nonzeros() }),
        }
    }

    /// Solves A x = b in place. Without factors (never factored, or not with success) x is not a number.
    pub fn solve(&mut self, b: &mut [S]) {
        match &mut self.kind {
            Kind::Dense(lu) => lu.solve(b),
            Kind::Sparse(lu) => lu.solve(b),
        }
    }

    /// Solves A x = b in place in any scalar over that of the matrix: several right-hand sides in lanes, or one with
    /// derivatives. `room` is for as many numbers, whatever they are.
    ///
    /// ```
    /// use polhode::solve::{Factors, Pattern};
    /// use polhode::scalar::F64x4;
    /// let pattern = Pattern::new(2, [(0, 0), (1, 0), (1, 1)]);
    /// let mut factors = Factors::new(&pattern, &[0, 1]);
    /// factors.factor(&[2.0, 1.0, 4.0])?;
    /// let mut x = [F64x4::new([2.0, 4.0, 6.0, 8.0]), F64x4::new([5.0, 6.0, 7.0, 8.0])];
    /// factors.solve_over(&mut x, &mut [F64x4::new([0.0; 4]); 2]);
    /// assert_eq!(x[1].to_array(), [1.0, 1.0, 1.0, 1.0]);
    /// # Ok::<(), polhode::solve::FactorError>(())
    /// ```
    pub fn solve_over<L: Over<S>>(&self, b: &mut [L], room: &mut [L]) {
        match &self.kind {
            Kind::Dense(lu) => lu.solve(b),
            Kind::Sparse(lu) => lu.solve_over(b, room),
        }
    }

    /// Solves Aᵀ x = b in place. Without factors x is not a number.
    pub fn solve_transposed(&mut self, b: &mut [S]) {
        match &mut self.kind {
            Kind::Dense(lu) => lu.solve_transposed(b),
            Kind::Sparse(lu) => lu.solve_transposed(b),
        }
    }

    /// How often pivots were searched, or, in dense factors, their size was examined.
    pub fn searches(&self) -> u64 {
        match &self.kind {
            Kind::Dense(lu) => lu.searches,
            Kind::Sparse(lu) => lu.searches,
        }
    }
}
