//! B as it stands at one time, laid out for registers of four numbers: of each row the slopes by the displacement in space and by the
//! turn in body axes of both bodies, with two zeros behind those of each.

use super::joint::{Joint, MOST_ROWS};
use super::place::{Place, zero};
use crate::scalar::{Quads, Real};
use nalgebra::Vector3;

/// What a row sees of a body, or how a body moves: six numbers and two zeros.
pub(super) type Six<S> = [[S; 4]; 2];

/// A row, for both bodies.
pub(super) type StoredRow<S> = [Six<S>; 2];

/// Six zeros.
pub(super) fn none<S: Real>() -> Six<S> {
    [[S::zero(); 4]; 2]
}

/// Two vectors as six numbers.
#[inline(always)]
pub(super) fn six<S: Real>(first: &Vector3<S>, second: &Vector3<S>) -> Six<S> {
    [[first[0], first[1], first[2], second[0]], [second[1], second[2], S::zero(), S::zero()]]
}

/// Six numbers as two vectors.
#[inline(always)]
pub(super) fn vectors<S: Real>([a, b]: &Six<S>) -> [Vector3<S>; 2] {
    [Vector3::new(a[0], a[1], a[2]), Vector3::new(a[3], b[0], b[1])]
}

/// The six numbers without the zeros.
#[inline(always)]
pub(super) fn numbers<S: Real>([a, b]: &Six<S>) -> [S; 6] {
    [a[0], a[1], a[2], a[3], b[0], b[1]]
}

/// Adds to six numbers.
#[inline(always)]
pub(super) fn add<S: Real, Q: Quads<S>>(quads: Q, sums: &mut Six<S>, parts: &Six<S>) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        quads.write(quads.plus::<4>(quads.read(sum), quads.read(part)), sum);
    }
}

/// The sum of all products x y.
#[inline(always)]
pub(super) fn dot<S: Real, Q: Quads<S>>(quads: Q, x: &Six<S>, y: &Six<S>) -> S {
    let product = |i: usize| quads.product(quads.read(&x[i]), quads.read(&y[i]));
    let mut parts = [S::zero(); 4];
    quads.write(quads.plus::<4>(product(0), product(1)), &mut parts);
    (parts[0] + parts[2]) + (parts[1] + parts[3])
}

/// Takes the rows of a joint where its bodies are.
#[inline(always)]
pub(super) fn store<S: Real>(joint: &Joint<S>, time: S, places: [&Place<S>; 2], out: &mut [StoredRow<S>]) {
    let mut rows = [[zero(); 4]; MOST_ROWS];
    joint.jacobian(time, places, &mut rows);
    for (out, [shift, turn, other_shift, other_turn]) in out.iter_mut().zip(&rows) {
        *out = [six(shift, turn), six(other_shift, other_turn)];
    }
}

/// Rows times numbers: what acts on each of the two bodies.
#[inline(always)]
pub(super) fn pulled<S: Real, Q: Quads<S>>(quads: Q, rows: &[StoredRow<S>], numbers: &[S]) -> StoredRow<S> {
    let mut sums = [quads.read(&[S::zero(); 4]); 4];
    for (row, number) in rows.iter().zip(numbers) {
        for (sum, part) in sums.iter_mut().zip(row.as_flattened()) {
            *sum = quads.less::<4>(*sum, -*number, quads.read(part));
        }
    }
    let mut out = [none(); 2];
    for (out, sum) in out.as_flattened_mut().iter_mut().zip(sums) {
        quads.write(sum, out);
    }
    out
}
