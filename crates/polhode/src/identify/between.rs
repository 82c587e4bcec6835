//! Rows of a run, and what they say of a time between two steps.

use super::samples::{Place, ROWS};
use crate::run::{Column, Quantity};
use crate::sensitivity::{DerivedRun, Dual1};
use std::collections::VecDeque;

/// Numbers of a row of the model, and their derivatives with respect to each parameter.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenRow {
    pub(super) values: Vec<f64>,
    pub(super) slopes: Vec<Vec<f64>>,
}

/// The last few rows of a run.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Each with its step.
    rows: VecDeque<(u64, SeenRow)>,
    scratch: Vec<Dual1>,
}

/// Where the quaternions of attitudes stand in a row.
pub(super) fn attitudes(model: &[Column]) -> Vec<usize> {
    let begins = |column: &Column| column.item.quantity == Quantity::Quaternion && column.component == 0;
    model.iter().enumerate().filter(|(_, column)| begins(column)).map(|(at, _)| at).collect()
}

impl Rows {
    /// Takes the row of a step, with derivatives with respect to so many parameters.
    pub(super) fn push(&mut self, step: u64, parameters: usize, run: &mut dyn DerivedRun) {
        // Room is used again.
        let oldest = if self.rows.len() == ROWS { self.rows.pop_front() } else { None };
        let mut row = oldest.map_or_else(SeenRow::default, |(_, row)| row);
        row.values.clear();
        run.snapshot().row(&mut row.values);
        row.slopes.resize(parameters, Vec::new());
        for (k, slopes) in row.slopes.iter_mut().enumerate() {
            slopes.clear();
            self.scratch.clear();
            if let Some(derivative) = run.derivative(k) {
                derivative.row(&mut self.scratch);
            }
            slopes.extend(self.scratch.iter().map(|x| x.eps[0]));
            slopes.resize(row.values.len(), 0.0);
        }
        self.rows.push_back((step, row));
    }

    /// What the rows of a place say of it.
    pub(super) fn read(&self, place: &Place, attitudes: &[usize], seen: &mut SeenRow) {
        let mut rows = self.rows.iter().skip_while(|(step, _)| *step < place.first).map(|(_, row)| row);
        let Some(first) = rows.next() else { return };
        seen.clone_from(first);
        let [own, parts @ ..] = place.parts() else { return };
        if parts.is_empty() {
            return;
        }
        scale(seen, 0, first.values.len(), *own);
        for (row, part) in rows.zip(parts) {
            add(seen, row, 0..row.values.len(), *part);
            for at in attitudes {
                // q and -q are the same attitude: a row of the other sign counts with that of the first.
                let same = (*at..at + 4).map(|i| row.values[i] * first.values[i]).sum::<f64>() >= 0.0;
                if !same {
                    add(seen, row, *at..at + 4, -2.0 * part);
                }
            }
        }
        attitudes.iter().for_each(|at| normalize(seen, *at));
    }
}

fn scale(seen: &mut SeenRow, from: usize, to: usize, factor: f64) {
    for numbers in core::iter::once(&mut seen.values).chain(&mut seen.slopes) {
        numbers[from..to].iter_mut().for_each(|x| *x *= factor);
    }
}

/// Adds a part of some numbers of a row.
fn add(seen: &mut SeenRow, row: &SeenRow, range: core::ops::Range<usize>, part: f64) {
    let add = |sum: &mut [f64], numbers: &[f64]| {
        sum.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += part * x);
    };
    add(&mut seen.values[range.clone()], &row.values[range.clone()]);
    for (sum, slopes) in seen.slopes.iter_mut().zip(&row.slopes) {
        add(&mut sum[range.clone()], &slopes[range.clone()]);
    }
}

/// Makes a quaternion one of unit length, and its derivatives those of such a one.
fn normalize(seen: &mut SeenRow, at: usize) {
    let length = seen.values[at..at + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
    // Far too long steps can have any mean; there is no attitude to speak of then.
    if !(length > 0.0 && length.is_finite()) {
        return;
    }
    scale(seen, at, at + 4, 1.0 / length);
    for slopes in &mut seen.slopes {
        let along: f64 = (at..at + 4).map(|i| slopes[i] * seen.values[i]).sum();
        (at..at + 4).for_each(|i| slopes[i] -= along * seen.values[i]);
    }
}
