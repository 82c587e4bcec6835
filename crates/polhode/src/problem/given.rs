//! The data of a problem as they are read: every number with a change of its parameter added, in any scalar. A change of
//! zero with a derivative makes all that is built of the data differentiable; a plain number makes another problem.

use super::catalogue::Problem;
use super::data::{Datum, Shape};
use super::model::ModelError;
use crate::group::Rotation;
use crate::lookup::plain;
use crate::scalar::{Mask, Real};
use core::cell::RefCell;
use nalgebra::{Matrix3, Vector3};

/// The entries of a symmetric tensor, in the order of their parameters.
const ENTRIES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

/// The data of a problem with a change of each of its parameters.
pub(super) struct VariedData<'a, S> {
    pub(super) problem: &'a Problem,
    /// The change of a parameter by its number.
    change: &'a dyn Fn(usize) -> S,
    /// The first name that was asked for and is no datum.
    unknown: RefCell<Option<String>>,
}

impl<'a, S: Real> VariedData<'a, S> {
    pub(super) fn new(problem: &'a Problem, change: &'a dyn Fn(usize) -> S) -> Self {
        VariedData { problem, change, unknown: RefCell::new(None) }
    }
    /// What was made of the data, unless a name that was asked for is none of theirs: that would have been read as zero.
    pub(super) fn complete<R>(&self, made: Result<R, ModelError>) -> Result<R, ModelError> {
        match self.unknown.take() {
            None => made,
            Some(name) => {
                Err(self.refused("data", format!("there is no datum '{name}', which the model asks for")))
            }
        }
    }
    /// The numbers of a datum; none of one that is not set.
    fn values(&self, name: &str) -> &'a [f64] {
        match self.problem.data().iter().find(|datum| datum.name == name) {
            Some(datum) => &datum.values,
            None => {
                self.unknown.borrow_mut().get_or_insert_with(|| name.into());
                &[]
            }
        }
    }
    /// A datum, and the number of its first parameter.
    fn datum(&self, name: &str) -> Option<(&'a Datum, usize)> {
        let mut first = 0;
        for datum in self.problem.data() {
            if datum.name == name {
                return Some((datum, first));
            }
            first += datum.components();
        }
        None
    }
    /// The change of each of its parameters; none of what chooses or is not set.
    fn changes<const N: usize>(&self, name: &str) -> [S; N] {
        let (first, count) = self.datum(name).map_or((0, 0), |(datum, first)| (first, datum.components()));
        core::array::from_fn(|i| if i < count { (self.change)(first + i) } else { S::zero() })
    }
    /// A number; zero if it is not set.
    pub(super) fn number(&self, name: &str) -> S {
        let [change] = self.changes(name);
        S::lift(self.values(name).first().copied().unwrap_or(0.0)) + change
    }
    /// What counts or chooses.
    pub(super) fn choice(&self, name: &str) -> f64 {
        self.values(name).first().copied().unwrap_or(0.0)
    }
    /// Three numbers, zero where they are not set.
    pub(super) fn three(&self, name: &str) -> Vector3<S> {
        let (values, changes) = (self.values(name), self.changes::<3>(name));
        Vector3::from_fn(|i, _| S::lift(values.get(i).copied().unwrap_or(0.0)) + changes[i])
    }
    /// So many numbers of a list.
    pub(super) fn list<const N: usize>(&self, name: &str) -> [S; N] {
        let (values, changes) = (self.values(name), self.changes::<N>(name));
        core::array::from_fn(|i| S::lift(values.get(i).copied().unwrap_or(f64::NAN)) + changes[i])
    }
    /// Three numbers, if they are set.
    pub(super) fn optional(&self, name: &str) -> Option<Vector3<S>> {
        (!self.values(name).is_empty()).then(|| self.three(name))
    }
    /// An inertia.
    pub(super) fn tensor(&self, name: &str) -> Matrix3<S> {
        let mut matrix = tensor(self.values(name)).map(S::lift);
        for ((i, j), change) in ENTRIES.into_iter().zip(self.changes::<6>(name)) {
            matrix[(i, j)] += change;
            if i != j {
                matrix[(j, i)] += change;
            }
        }
        matrix
    }
    /// A rotation, with the rotation vector where it was given so and is not changed.
    pub(super) fn turned(
        &self,
        datum: &'static str,
    ) -> Result<(Option<Vector3<S>>, Rotation<S>), ModelError> {
        let change = Vector3::from(self.changes::<3>(datum));
        let still = change.iter().all(|x| x.is_zero());
        let turned = |first: Rotation<S>| match still {
            true => first,
            false => first.compose(&Rotation::from_rotation_vector(&change)),
        };
        if let [w, x, y, z] = *self.values(datum) {
            let length = (w * w + x * x + y * y + z * z).sqrt();
            if (length - 1.0).abs() > 1e-6 {
                let reason =
                    format!("a quaternion w x y z must have unit length, this one has {}", plain(length));
                return Err(self.refused(datum, reason));
            }
            return Ok((None, turned(Rotation::from_q_wxyz([w, x, y, z].map(S::lift)))));
        }
        let psi = vector(self.values(datum));
        if psi.norm() > 1e6 || !psi.norm().is_finite() {
            let reason = format!(
                "a rotation vector of length {:e} has lost its digits modulo a turn; use one of at most 1e6",
                psi.norm()
            );
            return Err(self.refused(datum, reason));
        }
        let psi = psi.map(S::lift);
        Ok((still.then_some(psi), turned(Rotation::from_rotation_vector(&psi))))
    }
    /// The same without the rotation vector.
    pub(super) fn rotation(&self, name: &'static str) -> Result<Rotation<S>, ModelError> {
        Ok(self.turned(name)?.1)
    }
    /// Sees to it that all numbers of these data are positive.
    pub(super) fn positive(&self, names: &[&'static str]) -> Result<(), ModelError> {
        for name in names {
            let count = self.values(name).len();
            let all = self.list::<MOST>(name);
            if let Some(x) = all.iter().take(count).find(|x| !S::zero().below(**x).all()) {
                return Err(self.refused(name, format!("it must be positive, got {}", plain(x.largest()))));
            }
        }
        Ok(())
    }
    pub(super) fn refused(&self, datum: &'static str, reason: String) -> ModelError {
        ModelError { problem: self.problem.id, datum, reason }
    }
}

/// The most numbers of a list that must be positive.
const MOST: usize = 3;

fn vector(values: &[f64]) -> Vector3<f64> {
    Vector3::from_fn(|i, _| values.get(i).copied().unwrap_or(0.0))
}

/// An inertia however it is given.
pub(super) fn tensor(values: &[f64]) -> Matrix3<f64> {
    match *values {
        [a, b, c] => Matrix3::from_diagonal(&Vector3::new(a, b, c)),
        [xx, yy, zz, xy, xz, yz] => Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        _ => Matrix3::from_fn(|i, j| values.get(3 * i + j).copied().unwrap_or(f64::NAN)),
    }
}

impl Datum {
    /// How many parameters it has.
    pub(super) fn components(&self) -> usize {
        match self.shape {
            _ if self.values.is_empty() => 0,
            Shape::Switch(_) => 0,
            Shape::Tensor => ENTRIES.len(),
            Shape::Rotation => 3,
            Shape::Number | Shape::Vector | Shape::List => self.values.len(),
        }
    }
    /// The value of one of its parameters: a change of a rotation starts from none.
    pub(super) fn component(&self, i: usize) -> f64 {
        match self.shape {
            Shape::Rotation => 0.0,
            Shape::Tensor => ENTRIES.get(i).map_or(f64::NAN, |at| tensor(&self.values)[*at]),
            _ => self.values.get(i).copied().unwrap_or(f64::NAN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_refused_and_not_read_as_zero() {
        let problem = Problem::named("fast-top").unwrap();
        let given = VariedData::<f64>::new(&problem, &|_| 0.0);
        assert!(given.number("mgl") > 0.0);
        assert!(given.complete(Ok(())).is_ok());
        given.number("mlg");
        given.three("omega_bdoy");
        let refused = given.complete(Ok(())).unwrap_err().to_string();
        assert!(refused.contains("there is no datum 'mlg'"), "{refused}");
    }
}
