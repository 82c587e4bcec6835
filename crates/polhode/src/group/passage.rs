//! The motion between two poses, by polynomials in the parameters of the exponential map.

use super::{Coordinates, Exponential, Group};
use crate::scalar::Dual;

/// A pose with its velocity in body axes, and the rate of that where it is known.
#[derive(Clone, Copy, Debug)]
pub struct Passing<G: Group> {
    /// The pose.
    pub pose: G::Pose<f64>,
    /// The velocity.
    pub velocity: G::Vector<f64>,
    /// Its rate.
    pub rate: Option<G::Vector<f64>>,
}

/// The polynomial from one point, slope and bend to another over a unit of time.
///
/// With bends it is of fifth degree and off by O(h⁶) of what it interpolates, else of third degree and O(h⁴); slopes are
/// off by one order more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hermite<V> {
    coefficients: [V; 6],
}

impl<V: Coordinates<f64>> Hermite<V> {
    /// Each end has its point, slope and, in both or none, bend.
    pub(crate) fn new(from: (V, V, Option<V>), to: (V, V, Option<V>)) -> Self {
        let ((p, m, q), (p1, m1, q1)) = (from, to);
        let (d, zero) = (p1 - p, V::origin());
        let coefficients = match q.zip(q1) {
            Some((q, q1)) => [
                p,
                m,
                q * 0.5,
                d * 10.0 - m * 6.0 - m1 * 4.0 - q * 1.5 + q1 * 0.5,
                m * 8.0 + m1 * 7.0 - d * 15.0 + q * 1.5 - q1,
                d * 6.0 - m * 3.0 - m1 * 3.0 - q * 0.5 + q1 * 0.5,
            ],
            None => [p, m, d * 3.0 - m * 2.0 - m1, m + m1 - d * 2.0, zero, zero],
        };
        Hermite { coefficients }
    }
    /// The point and the slope at a part of the way.
    pub(crate) fn at(&self, part: f64) -> (V, V) {
        let [.., last] = self.coefficients;
        let (mut point, mut slope) = (last, V::origin());
        for c in self.coefficients.iter().rev().skip(1) {
            slope = slope * part + point;
            point = point * part + *c;
        }
        (point, slope)
    }
}

/// The motion over a step, from what is known at both of its ends: on the group it leads from pose to pose with their
/// velocities, and with their accelerations if those are known at both.
///
/// With accelerations poses between the ends are off by O(h⁶) and velocities by O(h⁵), without them by O(h⁴) and O(h³). It
/// is meant for steps of less than half a turn.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::group::{Passage, Passing, Rotation, So3};
/// // A turn at a steady rate about a fixed axis.
/// let (omega, zero) = (Vector3::new(0.3, -0.4, 1.2), Some(Vector3::zeros()));
/// let at = |t: f64| Passing::<So3> {
///     pose: Rotation::from_rotation_vector(&(omega * t)),
///     velocity: omega,
///     rate: zero,
/// };
/// let (pose, velocity) = Passage::new(&at(0.0), &at(0.5), 0.5).at(0.3);
/// assert!(pose.distance(&at(0.15).pose) < 1e-15 && (velocity - omega).norm() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Passage<G: Group> {
    from: G::Pose<f64>,
    /// Of the parameters from there.
    parameters: Hermite<G::Vector<f64>>,
    h: f64,
}

impl<G: Group> Passage<G> {
    /// Over a step of size `h`.
    pub fn new(from: &Passing<G>, to: &Passing<G>, h: f64) -> Self {
        type Slope = Dual<f64, 1>;
        let psi = G::parameters(Exponential, &G::compose(&G::inverse(&from.pose), &to.pose));
        let slope = G::tangent_inverse(Exponential, &psi, &to.velocity);
        let with_slope = |x: &G::Vector<f64>, slope: &G::Vector<f64>| {
            G::Vector::<Slope>::generate(|i| Dual { re: x.at(i), eps: [slope.at(i)] })
        };
        let bend = from.rate.zip(to.rate).map(|(_, rate)| {
            let (psi, velocity) = (with_slope(&psi, &slope), with_slope(&to.velocity, &rate));
            let rates = G::tangent_inverse(Exponential, &psi, &velocity);
            G::Vector::<f64>::generate(|i| rates.at(i).eps[0]) * (h * h)
        });
        let start = (G::Vector::origin(), from.velocity * h, from.rate.map(|rate| rate * (h * h)));
        Passage { from: from.pose, parameters: Hermite::new(start, (psi, slope * h, bend)), h }
    }
    /// Pose and velocity at a part of the step, between 0 and 1.
    pub fn at(&self, part: f64) -> (G::Pose<f64>, G::Vector<f64>) {
        let (psi, slope) = self.parameters.at(part);
        let pose = G::advance(&self.from, &G::increment(Exponential, &psi));
        (G::normalized(&pose), G::tangent(Exponential, &psi, &(slope * (1.0 / self.h))))
    }
}
