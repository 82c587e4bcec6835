//! The finite derivative of a potential: what stands for its gradient over a step, so that the work of the step is the
//! change of the potential (Krenk & Nielsen 2013, eq. 21; Gonzalez 2000).

use super::{Kinematics, Wrench};
use crate::group::{Rotation, spin};
use crate::scalar::{Mask, Real};
use nalgebra::{Matrix3, Vector3};

/// g with ΔV = Σ g_j·Δq_j + g_u·Δu between two poses, where q_j are the convected base vectors, the columns of the
/// attitude matrix, and u the position; beside it the loads that have no potential.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::body::{Dynamics, Gravity, Load};
/// use polhode::group::{Rotation, So3};
/// let load = Gravity { weight_space: Vector3::new(0.0, 0.0, -9.81), center_body: Vector3::new(0.0, 0.0, 0.5) };
/// let still = Vector3::zeros();
/// let at = |angle| So3::kinematics(0.0, &Rotation::from_rotation_vector(&Vector3::new(angle, 0.0, 0.0)), &still);
/// let (from, to) = (at(0.2), at(0.9));
/// let change = load.potential(&to).unwrap() - load.potential(&from).unwrap();
/// assert!((load.finite_derivative(&from, &to).work(&from, &to) - change).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiniteDerivative<T> {
    /// g_j, by columns.
    pub base: Matrix3<T>,
    /// g_u.
    pub position: Vector3<T>,
    /// The force of loads without a potential, in space: the mean of both ends.
    pub force: Vector3<T>,
    /// Their moment about where the reference point is at the start, in space: the mean of both ends.
    pub moment: Vector3<T>,
}

/// The sum of the products of the entries.
#[inline(always)]
fn inner<T: Real>(a: &Matrix3<T>, b: &Matrix3<T>) -> T {
    let mut sum = T::zero();
    for j in 0..3 {
        sum += a[(0, j)] * b[(0, j)] + a[(1, j)] * b[(1, j)] + a[(2, j)] * b[(2, j)];
    }
    sum
}

/// Q x̃ for the moment x: forces on the base vectors with the moment 2 Q x.
#[inline(always)]
fn couple<T: Real>(attitude: &Rotation<T>, moment: &Vector3<T>) -> Matrix3<T> {
    attitude.matrix() * spin(moment)
}

/// Changes of the base vectors below this, squared, are too small for the difference of two potentials to mean
/// anything.
const STILL: f64 = 1e-16;

impl<T: Real> FiniteDerivative<T> {
    /// Nothing.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = Vector3::new(T::zero(), T::zero(), T::zero());
        FiniteDerivative {
            base: Matrix3::from_fn(|_, _| T::zero()),
            position: zero,
            force: zero,
            moment: zero,
        }
    }
    /// That of a potential of the height R₃₃ of the third body axis, from its difference quotient.
    #[inline(always)]
    pub fn of_height(slope: T) -> Self {
        let mut g = Self::none();
        g.base[(2, 2)] = slope;
        g
    }
    /// Σ g_j·Δq_j + g_u·Δu.
    pub fn work(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> T {
        inner(&self.base, &(to.attitude.matrix() - from.attitude.matrix()))
            + self.position.dot(&(to.position - from.position))
    }
    /// The mean of the gradients at both ends, from the loads there: the finite derivative to second order.
    #[inline(always)]
    pub fn mean(from: &Kinematics<T>, to: &Kinematics<T>, wrenches: [&Wrench<T>; 2]) -> Self {
        let [a, b] = wrenches;
        let turn = couple(&from.attitude, &a.moment_body) + couple(&to.attitude, &b.moment_body);
        let force = from.attitude.rotate(&a.force_body) + to.attitude.rotate(&b.force_body);
        FiniteDerivative { base: turn * T::lift(-0.25), position: force * T::lift(-0.5), ..Self::none() }
    }
    /// The mean of the loads at both ends, for loads without a potential.
    #[inline(always)]
    pub fn direct(from: &Kinematics<T>, to: &Kinematics<T>, wrenches: [&Wrench<T>; 2]) -> Self {
        let ([a, b], half) = (wrenches, T::lift(0.5));
        let end = to.attitude.rotate(&b.force_body);
        let moment = from.attitude.rotate(&a.moment_body) + to.attitude.rotate(&b.moment_body);
        FiniteDerivative {
            force: (from.attitude.rotate(&a.force_body) + end) * half,
            moment: (moment + (to.position - from.position).cross(&end)) * half,
            ..Self::none()
        }
    }
    /// The nearest one that does the work of the potential: of its turn along Δq, of its displacement along Δu, each as
    /// the mean over the two ways from one end to the other.
    pub fn exact(
        self,
        from: &Kinematics<T>,
        to: &Kinematics<T>,
        potential: impl Fn(&Kinematics<T>) -> T,
    ) -> Self {
        let (a, b) = (potential(from), potential(to));
        let turn = to.attitude.matrix() - from.attitude.matrix();
        let shift = to.position - from.position;
        let distance = shift.dot(&shift);
        let half = T::lift(0.5);
        // With no displacement at all both ways are one.
        let moves = T::zero().below(distance).any();
        let (turned, shifted) = if moves {
            let turned_first = potential(&Kinematics { position: from.position, ..*to });
            let shifted_first = potential(&Kinematics { position: to.position, ..*from });
            (
                ((turned_first - a) + (b - shifted_first)) * half,
                ((shifted_first - a) + (b - turned_first)) * half,
            )
        } else {
            (b - a, T::zero())
        };
        let FiniteDerivative { mut base, mut position, .. } = self;
        let missing = turned - inner(&base, &turn);
        base += turn * (missing / (inner(&turn, &turn) + T::lift(STILL)));
        if moves {
            let missing = shifted - position.dot(&shift);
            let scale = from.position.dot(&from.position) + to.position.dot(&to.position);
            position += shift * (missing / (distance + scale * T::lift(STILL) + T::lift(f64::MIN_POSITIVE)));
        }
        FiniteDerivative { base, position, ..self }
    }
}

impl<T: Real> core::ops::Add for FiniteDerivative<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        FiniteDerivative {
            base: self.base + other.base,
            position: self.position + other.position,
            force: self.force + other.force,
            moment: self.moment + other.moment,
        }
    }
}
