//! Dense linear algebra of least squares: Householder triangularization, and singular values by one-sided Jacobi
//! rotations. Matrices are lists of columns, few and possibly long.

/// Columns of equal length.
pub(super) type Columns = Vec<Vec<f64>>;

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The Euclidean norm, safe from overflow and underflow of squares.
pub(super) fn norm(a: &[f64]) -> f64 {
    let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * a.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}

/// Makes the columns upper triangular by reflections, and applies these to `right` too. Entries below the diagonal are
/// zero afterwards.
pub(super) fn triangularize(columns: &mut Columns, right: &mut [f64]) {
    for k in 0..columns.len() {
        let (done, rest) = columns.split_at_mut(k + 1);
        let Some(tail) = done[k].get_mut(k..) else { return };
        let length = norm(tail);
        if length == 0.0 {
            continue;
        }
        // The sign that adds in the first entry, so that nothing cancels.
        let pivot = if tail[0] > 0.0 { -length } else { length };
        let mut mirror: Vec<f64> = tail.iter().map(|x| x / length).collect();
        mirror[0] -= pivot / length;
        let squared = dot(&mirror, &mirror);
        let reflect = |v: &mut [f64]| {
            let factor = 2.0 * dot(&mirror, v) / squared;
            for (x, m) in v.iter_mut().zip(&mirror) {
                *x -= factor * m;
            }
        };
        for column in rest {
            reflect(&mut column[k..]);
        }
        reflect(&mut right[k..]);
        tail.fill(0.0);
        tail[0] = pivot;
    }
}

/// The vector x that minimizes |A x - b|; a zero on the diagonal gives a zero in x.
pub(super) fn least_squares(mut columns: Columns, mut right: Vec<f64>) -> Vec<f64> {
    triangularize(&mut columns, &mut right);
    let n = columns.len();
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| columns[j][i] * x[j]).sum();
        if columns[i][i] != 0.0 {
            x[i] = (right[i] - known) / columns[i][i];
        }
    }
    x
}

/// Singular values, largest first, with the right singular vectors in the same sequence.
pub(super) struct Singular {
    pub values: Vec<f64>,
    pub vectors: Columns,
}

/// One-sided Jacobi rotations: they find small singular values of well scaled columns to their own accuracy.
pub(super) fn singular(mut columns: Columns) -> Singular {
    let n = columns.len();
    let mut vectors: Columns = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    // Convergence is quadratic; a handful of sweeps is enough, and more never harm.
    for _ in 0..60 {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
                let c = dot(&columns[p], &columns[q]);
                if c.abs() <= f64::EPSILON * (a * b).sqrt() {
                    continue;
                }
                turned = true;
                let zeta = (b - a) / (2.0 * c);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = cosine * tangent;
                for matrix in [&mut columns, &mut vectors] {
                    let (left, right) = matrix.split_at_mut(q);
                    for (x, y) in left[p].iter_mut().zip(right[0].iter_mut()) {
                        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                    }
                }
            }
        }
        if !turned {
            break;
        }
    }
    let mut sorted: Vec<(f64, Vec<f64>)> = columns.iter().map(|c| norm(c)).zip(vectors).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (values, vectors) = sorted.into_iter().unzip();
    Singular { values, vectors }
}

/// The first entry that is as large as any, but for round-off.
pub(super) fn lead(v: &[f64]) -> usize {
    let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    v.iter().position(|x| x.abs() >= 0.999 * largest).unwrap_or(0)
}

/// Of the space that the vectors span, the vector with the fewest entries that elimination finds, with norm one and
/// its leading entry positive.
pub(super) fn simplest(mut basis: Columns) -> Vec<f64> {
    for k in 0..basis.len() {
        let best = (k..basis.len())
            .max_by(|&i, &j| {
                let size = |v: &[f64]| v[lead(v)].abs();
                size(&basis[i]).total_cmp(&size(&basis[j]))
            })
            .unwrap_or(k);
        basis.swap(k, best);
        let pivot = basis[k].clone();
        let (row, value) = (lead(&pivot), pivot[lead(&pivot)]);
        for (i, other) in basis.iter_mut().enumerate() {
            if i != k && value != 0.0 {
                let factor = other[row] / value;
                for (x, y) in other.iter_mut().zip(&pivot) {
                    *x -= factor * y;
                }
            }
        }
    }
    for v in &mut basis {
        let length = norm(v).copysign(v[lead(v)]);
        for x in v.iter_mut() {
            *x /= length;
            if x.abs() < 1e-9 {
                *x = 0.0;
            }
        }
    }
    let entries = |v: &Vec<f64>| v.iter().filter(|x| **x != 0.0).count();
    basis.into_iter().min_by_key(entries).unwrap_or_default()
}
