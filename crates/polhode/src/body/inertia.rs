//! Inertia tensors, validated on the way in.
//!
//! A tensor is accepted when it is finite, symmetric, positive definite, and its principal moments satisfy
//! A + B ≥ C up to a relative tolerance, so that a plate (A + B = C) and a small body are not refused. Of numbers with
//! derivatives the values are checked; of lanes only the largest value of each entry.

use crate::lookup::plain;
use crate::scalar::{Lanes, Mask, Over, Real, Scalar, cross};
use core::fmt;
use nalgebra::{Matrix3, Vector3};

/// Relative tolerance of the symmetry and triangle tests.
const TOLERANCE: f64 = 1e-9;

/// A symmetric 3x3 tensor that knows whether it is diagonal, since most are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tensor<S> {
    matrix: Matrix3<S>,
    diagonal: bool,
}

impl<S: Real> Tensor<S> {
    fn new(matrix: Matrix3<S>) -> Self {
        let diagonal = [(0, 1), (0, 2), (1, 2)].iter().all(|(i, j)| matrix[(*i, *j)].is_zero());
        Tensor { matrix, diagonal }
    }
    #[inline(always)]
    pub(crate) fn times(&self, x: &Vector3<S>) -> Vector3<S> {
        let m = &self.matrix;
        if self.diagonal {
            return Vector3::new(m[(0, 0)] * x[0], m[(1, 1)] * x[1], m[(2, 2)] * x[2]);
        }
        // No closure, which is not always inlined.
        Vector3::new(
            m[(0, 0)] * x[0] + m[(0, 1)] * x[1] + m[(0, 2)] * x[2],
            m[(1, 0)] * x[0] + m[(1, 1)] * x[1] + m[(1, 2)] * x[2],
            m[(2, 0)] * x[0] + m[(2, 1)] * x[1] + m[(2, 2)] * x[2],
        )
    }
    /// Column j × x.
    #[inline(always)]
    pub(crate) fn column_cross(&self, j: usize, x: &Vector3<S>) -> Vector3<S> {
        let m = &self.matrix;
        if self.diagonal {
            let mut cross = Vector3::new(S::zero(), S::zero(), S::zero());
            let (a, b) = ((j + 1) % 3, (j + 2) % 3);
            cross[a] = -(m[(j, j)] * x[b]);
            cross[b] = m[(j, j)] * x[a];
            return cross;
        }
        cross(&Vector3::new(m[(0, j)], m[(1, j)], m[(2, j)]), x)
    }
    #[inline(always)]
    pub(crate) fn lift<T: Over<S>>(&self) -> Tensor<T> {
        Tensor { matrix: self.matrix.map(T::of), diagonal: self.diagonal }
    }
    pub(crate) fn matrix(&self) -> &Matrix3<S> {
        &self.matrix
    }
}

impl<S: Real> Tensor<S> {
    /// Several as one, whose numbers are made of theirs.
    fn of_each<T: Real>(each: &[&Self], number: &dyn Fn(&[S]) -> T) -> Tensor<T> {
        let entry = |i, j| number(&each.iter().map(|one| one.matrix[(i, j)]).collect::<Vec<_>>());
        Tensor { matrix: Matrix3::from_fn(entry), diagonal: each.iter().all(|one| one.diagonal) }
    }
}

impl<S: Lanes> Tensor<S> {
    /// Four side by side, of which all are diagonal or none: each has the sums that it has by itself.
    #[inline(always)]
    fn of_four(four: [&Tensor<f64>; 4]) -> Option<Self> {
        let diagonal = four[0].diagonal;
        let mut matrix = Matrix3::from([[S::zero(); 3]; 3]);
        for (i, j) in (0..9).map(|k| (k % 3, k / 3)) {
            matrix[(i, j)] = S::of_four(four.map(|one| one.matrix[(i, j)]));
        }
        four.iter().all(|one| one.diagonal == diagonal).then_some(Tensor { matrix, diagonal })
    }
}

impl<S: Real> RotaryInertia<S> {
    /// Four side by side, if their tensors are alike.
    #[inline(always)]
    pub(crate) fn of_four(four: [&RotaryInertia<f64>; 4]) -> Option<Self>
    where
        S: Lanes,
    {
        let matrix = Tensor::of_four(four.map(|one| &one.matrix))?;
        Some(RotaryInertia { matrix, inverse: Tensor::of_four(four.map(|one| &one.inverse))? })
    }
}

/// Inertia about the point that a rotating body turns about.
#[derive(Clone, Copy, Debug)]
pub struct RotaryInertia<S> {
    pub(crate) matrix: Tensor<S>,
    pub(crate) inverse: Tensor<S>,
}

/// Inertia of a free body: mass, centre of mass, and the tensor about the centre of mass.
#[derive(Clone, Copy, Debug)]
pub struct SpatialInertia<S> {
    pub(crate) mass: S,
    pub(crate) center: Vector3<S>,
    pub(crate) matrix: Tensor<S>,
    pub(crate) inverse: Tensor<S>,
}

/// Why an inertia was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum InertiaError {
    /// A number is NaN or infinite.
    NotFinite {
        /// Which quantity.
        what: &'static str,
    },
    /// The mass is not positive.
    Mass {
        /// The mass given.
        mass: f64,
    },
    /// J[i][j] and J[j][i] differ.
    NotSymmetric {
        /// Row, counted from one.
        row: usize,
        /// Column, counted from one.
        column: usize,
        /// The entry above the diagonal.
        upper: f64,
        /// The entry below the diagonal.
        lower: f64,
    },
    /// A principal moment is zero or negative.
    NotPositive {
        /// The principal moments, ascending.
        moments: [f64; 3],
    },
    /// About the centre of mass, without the part of the offset mass, a principal moment is zero or negative.
    Offset {
        /// The mass.
        mass: f64,
        /// The principal moments about the centre of mass, ascending.
        moments: [f64; 3],
    },
    /// The largest principal moment exceeds the sum of the other two: no distribution of mass has it.
    Triangle {
        /// The principal moments, ascending.
        moments: [f64; 3],
    },
}

impl fmt::Display for InertiaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { what } => write!(f, "{what} must be finite numbers, got NaN or infinity"),
            Self::Mass { mass } => write!(f, "mass must be positive, got {}", plain(*mass)),
            Self::NotSymmetric { row, column, upper, lower } => write!(
                f,
                "inertia must be symmetric: entry ({row},{column}) is {} but ({column},{row}) is {}",
                plain(*upper),
                plain(*lower)
            ),
            Self::NotPositive { moments } => {
                let [a, b, c] = moments.map(plain);
                write!(f, "inertia must be positive definite: its principal moments are {a}, {b}, {c}")
            }
            Self::Offset { mass, moments } => {
                let ([a, b, c], mass) = (moments.map(plain), plain(*mass));
                write!(
                    f,
                    "inertia must be positive definite about the centre of mass too: without what the mass {mass} has \
                     there its principal moments are {a}, {b}, {c}; a smaller mass, a nearer centre or a larger inertia \
                     would do"
                )
            }
            Self::Triangle { moments } => {
                let (sum, [a, b, c]) = (plain(moments[0] + moments[1]), moments.map(plain));
                write!(
                    f,
                    "inertia must satisfy A + B >= C: the principal moments {a}, {b} add up to {sum}, less than {c}; \
                     no rigid body has these moments"
                )
            }
        }
    }
}

impl std::error::Error for InertiaError {}

/// What is checked of an inertia in any scalar: its values, not their derivatives.
fn values<S: Scalar>(m: &Matrix3<S>) -> Matrix3<f64> {
    m.map(Scalar::value)
}

/// The symmetric part.
fn symmetric<S: Real>(m: Matrix3<S>) -> Matrix3<S> {
    (m + m.transpose()) * S::lift(0.5)
}

fn validate(m: &Matrix3<f64>) -> Result<(), InertiaError> {
    let [a, b, c] = positive(m)?;
    if a + b < c * (1.0 - TOLERANCE) {
        return Err(InertiaError::Triangle { moments: [a, b, c] });
    }
    Ok(())
}

/// The principal moments, ascending, of a finite, symmetric, positive definite tensor.
fn positive(m: &Matrix3<f64>) -> Result<[f64; 3], InertiaError> {
    if !m.iter().all(|x| x.is_finite()) {
        return Err(InertiaError::NotFinite { what: "the entries of the inertia" });
    }
    let scale = m.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let (upper, lower) = (m[(i, j)], m[(j, i)]);
        if (upper - lower).abs() > TOLERANCE * scale {
            return Err(InertiaError::NotSymmetric { row: i + 1, column: j + 1, upper, lower });
        }
    }
    let mut moments: [f64; 3] = m.symmetric_eigenvalues().into();
    moments.sort_by(f64::total_cmp);
    let [a, _, c] = moments;
    if !(a > f64::EPSILON * c && c > 0.0) {
        return Err(InertiaError::NotPositive { moments });
    }
    Ok(moments)
}

/// The inverse of a symmetric positive matrix by cofactors, of the matrix over its trace so that nothing overflows.
fn inverse<S: Real>(m: &Matrix3<S>) -> Matrix3<S> {
    let per_trace = m.trace().recip();
    let column = |j: usize| m.column(j).into_owned() * per_trace;
    let (a, b, c) = (column(0), column(1), column(2));
    let (x, y, z) = (b.cross(&c), c.cross(&a), a.cross(&b));
    let d = per_trace / a.dot(&x);
    Matrix3::from_fn(|i, j| [x, y, z][i][j] * d)
}

/// m (c·c I - c cᵀ), what a point mass at c adds about the origin.
pub(crate) fn steiner<S: Real>(mass: S, c: &Vector3<S>) -> Matrix3<S> {
    (Matrix3::identity() * c.dot(c) - c * c.transpose()) * mass
}

impl<S: Real> RotaryInertia<S> {
    /// Takes the tensor as it is, for values that carry derivatives or lanes; the caller answers for it.
    pub fn unchecked(matrix: Matrix3<S>) -> Self {
        RotaryInertia { matrix: Tensor::new(matrix), inverse: Tensor::new(inverse(&matrix)) }
    }
    /// Several as one, whose numbers are made of theirs.
    pub(crate) fn of_each<T: Real>(each: &[&Self], number: &dyn Fn(&[S]) -> T) -> RotaryInertia<T> {
        let tensor = |of: fn(&Self) -> &Tensor<S>| {
            Tensor::of_each(&each.iter().map(|one| of(one)).collect::<Vec<_>>(), number)
        };
        RotaryInertia { matrix: tensor(|one| &one.matrix), inverse: tensor(|one| &one.inverse) }
    }
    /// The inertia with every number as a constant of `T`.
    #[inline(always)]
    pub fn lift<T: Over<S>>(&self) -> RotaryInertia<T> {
        RotaryInertia { matrix: self.matrix.lift(), inverse: self.inverse.lift() }
    }
    /// The tensor.
    pub fn matrix(&self) -> &Matrix3<S> {
        self.matrix.matrix()
    }
}

/// For scalars with one value: of lanes a check would see one number in four.
impl<S: Scalar> RotaryInertia<S> {
    /// The full tensor about the fixed point, in body axes.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::body::RotaryInertia;
    /// assert!(RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0))).is_ok());
    /// let error = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 3.0)));
    /// assert!(error.unwrap_err().to_string().contains("A + B >= C"));
    /// ```
    pub fn about_fixed_point(matrix: Matrix3<S>) -> Result<Self, InertiaError> {
        validate(&values(&matrix))?;
        Ok(Self::unchecked(symmetric(matrix)))
    }
    /// Any positive definite tensor, whether or not a rigid body has it.
    pub fn positive(matrix: Matrix3<S>) -> Result<Self, InertiaError> {
        positive(&values(&matrix))?;
        Ok(Self::unchecked(symmetric(matrix)))
    }
    /// From mass, centre of mass and the tensor about the centre of mass; the parallel-axis term is added.
    pub fn from_center_of_mass(
        mass: S,
        center: Vector3<S>,
        about_center: Matrix3<S>,
    ) -> Result<Self, InertiaError> {
        let body = SpatialInertia::new(mass, center, about_center)?;
        Ok(Self::unchecked(body.matrix.matrix() + steiner(mass, &center)))
    }
}

impl<S: Real> SpatialInertia<S> {
    /// Takes the values as they are, for those that carry derivatives or lanes; the caller answers for them.
    pub fn unchecked(mass: S, center: Vector3<S>, about_center: Matrix3<S>) -> Self {
        let inverse = Tensor::new(inverse(&about_center));
        SpatialInertia { mass, center, matrix: Tensor::new(about_center), inverse }
    }
    /// Several as one, whose numbers are made of theirs.
    pub(crate) fn of_each<T: Real>(each: &[&Self], number: &dyn Fn(&[S]) -> T) -> SpatialInertia<T> {
        let tensor = |of: fn(&Self) -> &Tensor<S>| {
            Tensor::of_each(&each.iter().map(|one| of(one)).collect::<Vec<_>>(), number)
        };
        let numbers = |of: &dyn Fn(&Self) -> S| number(&each.iter().map(|one| of(one)).collect::<Vec<_>>());
        SpatialInertia {
            mass: numbers(&|one| one.mass),
            center: Vector3::from_fn(|i, _| numbers(&|one| one.center[i])),
            matrix: tensor(|one| &one.matrix),
            inverse: tensor(|one| &one.inverse),
        }
    }
    /// The inertia with every number as a constant of `T`.
    #[inline(always)]
    pub fn lift<T: Over<S>>(&self) -> SpatialInertia<T> {
        SpatialInertia {
            mass: T::of(self.mass),
            center: self.center.map(T::of),
            matrix: self.matrix.lift(),
            inverse: self.inverse.lift(),
        }
    }
    /// The mass.
    pub fn mass(&self) -> S {
        self.mass
    }
    /// The centre of mass, in body axes from the reference point.
    pub fn center(&self) -> &Vector3<S> {
        &self.center
    }
    /// The tensor about the centre of mass.
    pub fn about_center(&self) -> &Matrix3<S> {
        self.matrix.matrix()
    }
}

/// For scalars with one value, as above.
impl<S: Scalar> SpatialInertia<S> {
    /// From mass, centre of mass (body axes, from the reference point) and the tensor about the centre of mass.
    pub fn new(mass: S, center: Vector3<S>, about_center: Matrix3<S>) -> Result<Self, InertiaError> {
        validate_mass(mass, &center)?;
        validate(&values(&about_center))?;
        Ok(Self::unchecked(mass, center, symmetric(about_center)))
    }
    /// From mass, centre of mass and the tensor about the reference point: any mass matrix with these blocks that is
    /// positive definite, whether or not a rigid body has it. Added masses are of this kind, and the body of
    /// Bauchau et al. 2013 is, whose principal moments break A + B >= C.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::body::SpatialInertia;
    /// let tensor = Matrix3::new(1.25, 0.57, -0.23, 0.57, 1.56, 0.34, -0.23, 0.34, 2.54);
    /// let center = Vector3::new(0.25, -0.03, 0.12);
    /// assert!(SpatialInertia::mass_matrix(6.0, center, tensor).is_ok());
    /// assert!(SpatialInertia::mass_matrix(60.0, center, tensor).is_err());
    /// ```
    pub fn mass_matrix(mass: S, center: Vector3<S>, about_point: Matrix3<S>) -> Result<Self, InertiaError> {
        validate_mass(mass, &center)?;
        let about_center = about_point - steiner(mass, &center);
        positive(&values(&about_center)).map_err(|error| match error {
            InertiaError::NotPositive { moments } => InertiaError::Offset { mass: mass.value(), moments },
            other => other,
        })?;
        Ok(Self::unchecked(mass, center, symmetric(about_center)))
    }
}

fn validate_mass<S: Scalar>(mass: S, center: &Vector3<S>) -> Result<(), InertiaError> {
    let mass = mass.value();
    if !mass.is_finite() {
        return Err(InertiaError::NotFinite { what: "the mass" });
    }
    if mass <= 0.0 {
        return Err(InertiaError::Mass { mass });
    }
    if !center.iter().all(|x| x.is_finite().all()) {
        return Err(InertiaError::NotFinite { what: "the centre of mass" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagonal(a: f64, b: f64, c: f64) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(a, b, c))
    }
    fn refused(m: Matrix3<f64>) -> String {
        RotaryInertia::about_fixed_point(m).unwrap_err().to_string()
    }

    #[test]
    fn bad_tensors_are_refused_with_their_numbers() {
        assert!(refused(diagonal(1.0, -2.0, 3.0)).contains("-2"));
        assert!(refused(diagonal(1.0, 1.0, 0.0)).contains("positive definite"));
        assert!(refused(diagonal(1.0, 2.0, 3.5)).contains("add up to 3, less than 3.5"));
        assert!(refused(diagonal(1.0, f64::NAN, 1.0)).contains("NaN"));
        let mut skewed = diagonal(1.0, 1.0, 1.0);
        skewed[(0, 2)] = 0.1;
        assert_eq!(refused(skewed), "inertia must be symmetric: entry (1,3) is 0.1 but (3,1) is 0");
        assert!(SpatialInertia::new(0.0, Vector3::zeros(), diagonal(1.0, 1.0, 1.0)).is_err());
    }

    #[test]
    fn small_bodies_and_plates_are_accepted() {
        for scale in [1e-18, 1e-9, 1.0, 1e12] {
            assert!(RotaryInertia::about_fixed_point(diagonal(1.0, 2.0, 3.0) * scale).is_ok());
        }
        // A plate turned into arbitrary axes keeps A + B = C only up to round-off.
        let r = crate::group::Rotation::from_rotation_vector(&Vector3::new(0.3, -1.1, 0.7)).matrix();
        assert!(RotaryInertia::about_fixed_point(r * diagonal(1.0, 2.0, 3.0) * r.transpose()).is_ok());
    }

    #[test]
    fn the_parallel_axis_term_is_that_of_point_masses() {
        // Two half masses on each axis make a body with known tensors about its centre and about the origin.
        let (center, mass) = (Vector3::new(0.3, -0.2, 0.9), 2.0);
        let arms = [Vector3::x() * 0.5, Vector3::y() * 0.7, Vector3::z() * 0.4];
        let cloud = |about: Vector3<f64>| {
            arms.iter().fold(Matrix3::zeros(), |sum, arm| {
                [1.0, -1.0]
                    .iter()
                    .fold(sum, |sum, sign| sum + steiner(mass / 6.0, &(center + arm * *sign - about)))
            })
        };
        let built = RotaryInertia::from_center_of_mass(mass, center, cloud(center)).unwrap();
        assert!((built.matrix() - cloud(Vector3::zeros())).norm() < 1e-14);
    }
}
