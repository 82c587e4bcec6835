//! A sparse matrix that is written again and again in the same order: the first time its places are recorded, from then
//! on a value goes where the same value went before.

use crate::archive::{Archive, Kept};
use crate::scalar::{Mask, Over, Real};
use crate::solve::{Block, FactorError, Factors, Pattern, Role, elimination_order};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// Where the entries of a matrix go, in an order that does not depend on their values. Off the hot path it is an object, for
/// which what writes a matrix is compiled once.
pub(super) trait Sink<S: Real> {
    /// Adds to the entry of this row and column.
    fn add(&mut self, row: usize, column: usize, value: S);
    /// The same as an object.
    fn object(&mut self) -> &mut dyn Sink<S>;
    /// Adds to nine of them.
    #[inline(always)]
    fn block(&mut self, row: usize, column: usize, m: &Matrix3<S>) {
        for j in 0..3 {
            for i in 0..3 {
                self.add(row + i, column + j, m[(i, j)]);
            }
        }
    }
    /// Adds to nine of them what depends on the pose.
    #[inline(always)]
    fn stiffness(&mut self, row: usize, column: usize, m: &Matrix3<S>) {
        self.block(row, column, m);
    }
    /// Adds three entries to a row, and to the column that its transpose is.
    #[inline(always)]
    fn tied(&mut self, row: usize, column: usize, transposed: usize, slope: &Vector3<S>) {
        for i in 0..3 {
            self.add(row, column + i, slope[i]);
            self.add(transposed + i, row, slope[i]);
        }
    }
    /// Adds the same to three on a diagonal.
    #[inline(always)]
    fn diagonal(&mut self, row: usize, column: usize, value: S) {
        for i in 0..3 {
            self.add(row + i, column + i, value);
        }
    }
}

/// The first time: the places.
#[derive(Default)]
pub(super) struct Places {
    entries: Vec<[u32; 2]>,
}

impl<S: Real> Sink<S> for Places {
    fn add(&mut self, row: usize, column: usize, _value: S) {
        self.entries.push([row as u32, column as u32]);
    }
    fn object(&mut self) -> &mut dyn Sink<S> {
        self
    }
}

impl Places {
    /// Where the entries of a matrix of this size are.
    pub(super) fn pattern(&self, n: usize) -> Pattern {
        Pattern::of_pairs(n, &self.entries)
    }
}

/// Later: the values.
pub(super) struct Values<'a, S> {
    places: &'a [u32],
    values: &'a mut [S],
}

impl<S: Real> Sink<S> for Values<'_, S> {
    #[inline(always)]
    fn add(&mut self, _row: usize, _column: usize, value: S) {
        self.add_all([value]);
    }
    #[inline(always)]
    fn block(&mut self, _row: usize, _column: usize, m: &Matrix3<S>) {
        let [a, b, c] = m.data.0;
        self.add_all([a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]]);
    }
    #[inline(always)]
    fn tied(&mut self, _row: usize, _column: usize, _transposed: usize, slope: &Vector3<S>) {
        let [x, y, z] = [slope[0], slope[1], slope[2]];
        self.add_all([x, x, y, y, z, z]);
    }
    #[inline(always)]
    fn diagonal(&mut self, _row: usize, _column: usize, value: S) {
        self.add_all([value; 3]);
    }
    fn object(&mut self) -> &mut dyn Sink<S> {
        self
    }
}

impl<S: Real> Values<'_, S> {
    /// Adds to the next entries, whose places are looked up together.
    #[inline(always)]
    fn add_all<const N: usize>(&mut self, values: [S; N]) {
        let Some((places, rest)) = self.places.split_first_chunk::<N>() else { return refuse(self.values) };
        self.places = rest;
        for (place, value) in places.iter().zip(values) {
            match self.values.get_mut(*place as usize) {
                Some(entry) => *entry += value,
                None => return refuse(self.values),
            }
        }
    }
}

/// What was not recorded has no place: the matrix is not one any more, and its factorization will say so.
#[cold]
fn refuse<S: Real>(values: &mut [S]) {
    values.fill(S::lift(f64::NAN));
}

/// Values whose places were not recorded.
pub(super) struct Anywhere<'a, S> {
    factors: &'a Factors<S>,
    values: &'a mut [S],
}

impl<S: Real> Sink<S> for Anywhere<'_, S> {
    fn add(&mut self, row: usize, column: usize, value: S) {
        match self.factors.position(row, column) {
            Some(place) => self.values[place] += value,
            None => refuse(self.values),
        }
    }
    fn object(&mut self) -> &mut dyn Sink<S> {
        self
    }
}

/// In place of the matrix its product with a vector, which is added to another one.
pub(super) struct Product<'a, S> {
    pub(super) x: &'a [S],
    pub(super) out: &'a mut [S],
}

impl<S: Real> Sink<S> for Product<'_, S> {
    #[inline(always)]
    fn add(&mut self, row: usize, column: usize, value: S) {
        self.out[row] += value * self.x[column];
    }
    fn object(&mut self) -> &mut dyn Sink<S> {
        self
    }
}

/// The blocks that are tied by an entry of the matrix, each pair once, the first block first.
fn neighbours(pattern: &Pattern, blocks: &[Block]) -> Vec<(usize, usize)> {
    let mut owner = vec![0u32; pattern.n()];
    for (b, block) in blocks.iter().enumerate() {
        owner[block.unknowns.clone()].fill(b as u32);
    }
    let (mut pairs, mut near) = (Vec::new(), Vec::new());
    for (b, block) in blocks.iter().enumerate() {
        let (starts, columns) = (pattern.starts(), block.unknowns.clone());
        let rows = starts[columns.start] as usize..starts[columns.end] as usize;
        near.clear();
        near.extend(pattern.rows()[rows].iter().map(|row| owner[*row as usize] as usize).filter(|a| *a < b));
        near.sort_unstable();
        near.dedup();
        pairs.extend(near.iter().map(|a| (*a, b)));
    }
    pairs
}

/// The units of unknowns and equations, of which there are few that differ.
pub(super) struct Units {
    /// Which one each has.
    pub(super) kinds: Vec<u8>,
    /// Of an unknown and of its equation.
    pub(super) all: [[f64; 2]; 3],
}

impl Units {
    fn iter(&self) -> impl Iterator<Item = &[f64; 2]> {
        self.kinds.iter().map(|kind| &self.all[usize::from(*kind) % self.all.len()])
    }
}

/// A matrix with its places, values and factors.
#[derive(Clone, Debug)]
pub(super) struct Matrix<S: Real> {
    places: Vec<u32>,
    values: Vec<S>,
    /// What each equation is multiplied by before pivots are looked for, a power of two; nothing if that is one for all. Then
    /// pivots do not depend on the unit of length, and no digit of a solution on what equations are multiplied by.
    scales: Arc<[f64]>,
    /// True once the values are multiplied by them.
    is_scaled: bool,
    factors: Factors<S>,
    /// The values for which pivots were last searched: those and the present ones make the same factors again. Nothing of a
    /// matrix that is never saved; and true while they are the present ones.
    searched: Vec<S>,
    searched_now: bool,
}

impl<S: Real> Matrix<S> {
    /// From what was recorded, with the blocks that are eliminated together and the scales of the equations, if they have any.
    pub(super) fn new(n: usize, places: Places, blocks: &[Block], scales: &Arc<[f64]>) -> Self {
        let pattern = places.pattern(n);
        let place = |&[i, j]: &[u32; 2]| {
            pattern.position(i as usize, j as usize).map_or(u32::MAX, |place| place as u32)
        };
        let recorded = places.entries.iter().map(place).collect();
        drop(places);
        Matrix {
            places: recorded,
            searched: vec![S::zero(); pattern.nonzeros()],
            ..Self::unrecorded(pattern, blocks, scales)
        }
    }
    /// The same for [`Matrix::rewrite_anywhere`]: of one that is written a few times and never saved.
    pub(super) fn unrecorded(pattern: Pattern, blocks: &[Block], scales: &Arc<[f64]>) -> Self {
        let order = elimination_order(blocks, &neighbours(&pattern, blocks));
        let values = vec![S::zero(); pattern.nonzeros()];
        let factors = Factors::of_pattern(pattern, &order);
        let loops = blocks.iter().any(|block| block.role == Role::Redundant);
        Matrix {
            places: Vec::new(),
            values,
            scales: scales.clone(),
            is_scaled: false,
            factors: if loops { factors.in_order() } else { factors },
            searched: Vec::new(),
            searched_now: false,
        }
    }
    /// Room for new values, all zero.
    pub(super) fn rewrite(&mut self) -> Values<'_, S> {
        if core::mem::replace(&mut self.searched_now, false) && !self.searched.is_empty() {
            core::mem::swap(&mut self.values, &mut self.searched);
        }
        self.clear();
        Values { places: &self.places, values: &mut self.values }
    }
    /// The same, to be written in any order: the place of each value is looked for.
    pub(super) fn rewrite_anywhere(&mut self) -> Anywhere<'_, S> {
        self.clear();
        Anywhere { factors: &self.factors, values: &mut self.values }
    }
    fn clear(&mut self) {
        self.is_scaled = false;
        self.values.fill(S::zero());
    }
    /// Factors what was written.
    pub(super) fn factor(&mut self) -> Result<(), FactorError> {
        self.scale_values();
        let before = self.factors.searches();
        let factored = self.factors.factor(&self.values);
        self.searched_now |= self.factors.searches() != before;
        factored
    }
    /// See [`Factors::rest`].
    pub(super) fn rest(&mut self) {
        self.factors.rest();
    }
    /// Multiplies the values by the scales of their equations.
    fn scale_values(&mut self) {
        if core::mem::replace(&mut self.is_scaled, true) || self.scales.is_empty() {
            return;
        }
        for (value, row) in self.values.iter_mut().zip(self.factors.rows()) {
            *value *= S::lift(self.scales[row]);
        }
    }
    /// Solves in place.
    #[inline]
    pub(super) fn solve(&mut self, x: &mut [S]) {
        self.scale(x);
        self.factors.solve(x);
    }
    /// The same in any scalar over that of the matrix, see [`Factors::solve_over`].
    pub(super) fn solve_over<L: Over<S>>(&self, x: &mut [L], room: &mut [L]) {
        self.scale(x);
        self.factors.solve_over(x, room);
    }
    #[inline]
    fn scale<L: Real>(&self, x: &mut [L]) {
        x.iter_mut().zip(&self.scales[..]).for_each(|(x, scale)| *x *= L::lift(*scale));
    }
    /// Takes the scales of equations back, which are powers of two: no digit is lost.
    fn unscale<L: Real>(&self, x: &mut [L]) {
        x.iter_mut().zip(&self.scales[..]).for_each(|(x, scale)| *x *= L::lift(scale.recip()));
    }
    /// Solves in place, with one correction by what is left; what is left then of each row, relative to what its terms may be.
    /// Each unknown and each equation has a unit, with which all of them are compared.
    pub(super) fn refined(&mut self, x: &mut [S], units: &Units) -> f64 {
        let right = x.to_vec();
        let mut left = right.clone();
        self.solve(x);
        self.scale_values();
        let residual = |matrix: &Self, x: &[S], left: &mut [S]| {
            matrix.factors.multiply_by(&matrix.values, |a| a, x.iter().copied(), left);
            matrix.unscale(left);
            left.iter_mut().zip(&right).for_each(|(l, r)| *l = *r - *l);
        };
        residual(self, x, &mut left);
        self.solve(&mut left);
        x.iter_mut().zip(&left).for_each(|(x, l)| *x += *l);
        residual(self, x, &mut left);
        if !x.iter().all(|x| x.is_finite().all()) {
            return f64::NAN;
        }
        let size = |x: &S| x.abs().largest();
        let units = || units.iter();
        let solved = x.iter().zip(units()).map(|(x, [unit, _])| size(x) / unit);
        let given = right.iter().zip(units()).map(|(x, [_, unit])| size(x) / unit);
        let most = solved.chain(given).fold(0.0, f64::max);
        drop(right);
        let (unknowns, mut terms) = (units().map(|[unit, _]| most * unit), vec![0.0; x.len()]);
        self.factors.multiply_by(&self.values, |value| size(&value), unknowns, &mut terms);
        self.unscale(&mut terms);
        let part = |((left, terms), [_, unit]): ((&S, &f64), &[f64; 2])| match size(left) {
            0.0 => 0.0,
            left => left / (terms + most * unit),
        };
        left.iter().zip(&terms).zip(units()).map(part).fold(0.0, crate::scalar::larger)
    }
}

/// A matrix that may not be there yet; `make` makes room for one where it was when it was saved.
pub(super) fn keep_matrix(
    matrix: &mut Option<Matrix<f64>>,
    archive: &mut Archive<'_>,
    make: impl FnOnce() -> Matrix<f64>,
) {
    let mut there = matrix.is_some();
    there.keep(archive);
    if there && matrix.is_none() {
        *matrix = Some(make());
    }
    match matrix {
        Some(matrix) if there => matrix.keep(archive),
        matrix => *matrix = None,
    }
}

impl Matrix<f64> {
    /// Values and factors.
    pub(super) fn keep(&mut self, archive: &mut Archive<'_>) {
        let mut searched = if self.searched_now { &self.values } else { &self.searched }.clone();
        searched.keep(archive);
        // Without scales.
        if core::mem::replace(&mut self.is_scaled, false) && !self.scales.is_empty() {
            for (value, row) in self.values.iter_mut().zip(self.factors.rows()) {
                *value /= self.scales[row];
            }
        }
        self.values.keep(archive);
        self.scale_values();
        if archive.is_reading() {
            // Pivots searched as they were, then factors along them.
            self.factors.forget();
            (self.searched, self.searched_now) = (searched, false);
            if self.factors.factor(&self.searched).and_then(|()| self.factor()).is_err() {
                archive.reject();
            }
        }
    }
}
