//! Reference motions to measure integrators against: closed forms in elliptic functions, and an extrapolation
//! method for everything without one, all in double-double arithmetic.
//!
//! [`FreeRotation`] is the torque-free body, [`LagrangeTop`] the heavy symmetric top, [`SteadyPrecession`] one of its
//! motions; all give attitude and body momentum at any time. [`integrate`] solves y' = f(t, y) to about 24 digits.

mod attitude;
pub mod elliptic;
pub mod extrapolation;
pub mod free;
pub mod steady;
pub mod top;

pub use extrapolation::{IntegrationError, RightHandSide, Solution, TOLERANCE, integrate};
pub use free::FreeRotation;
pub use steady::SteadyPrecession;
pub use top::LagrangeTop;

/// The second route for the tests of the closed forms: the equations of motion, integrated.
#[cfg(test)]
mod testing {
    use super::integrate;
    use crate::scalar::{Dd, Real};
    use nalgebra::{Matrix3, Vector3};

    /// R' = R ω^, Π' = Π × ω + mgl (γ2, -γ1, 0) with γ = R^T e3, from `start` (attitude, momentum) to `t`.
    pub(super) fn integrated(
        inertia: &Matrix3<f64>,
        mgl: f64,
        start: &(Matrix3<Dd>, Vector3<Dd>),
        t: f64,
        tolerance: f64,
    ) -> (Matrix3<Dd>, Vector3<Dd>) {
        let inertia = inertia.map(Dd::from);
        let column = |i: usize| inertia.column(i).into_owned();
        let (a, b, c) = (column(0), column(1), column(2));
        // The inverse by cross products.
        let determinant = a.dot(&b.cross(&c));
        let inverse = Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
            .transpose()
            .map(|x| x / determinant);
        let mut rhs = |_: Dd, y: &[Dd], dy: &mut [Dd]| {
            let r = Matrix3::from_column_slice(&y[..9]);
            let momentum = Vector3::from_column_slice(&y[9..]);
            let omega = inverse * momentum;
            for i in 0..3 {
                let row = Vector3::new(r[(i, 0)], r[(i, 1)], r[(i, 2)]).cross(&omega);
                for j in 0..3 {
                    dy[3 * j + i] = row[j];
                }
            }
            // Minus the gradient of the potential mgl R33, turned into body axes.
            let vertical = Vector3::new(r[(2, 0)], r[(2, 1)], r[(2, 2)]);
            let torque = Vector3::new(vertical.y, -vertical.x, Dd::ZERO).map(|x| x * mgl);
            let change = momentum.cross(&omega) + torque;
            dy[9..].copy_from_slice(change.as_slice());
        };
        let y0: Vec<Dd> = start.0.iter().chain(start.1.iter()).copied().collect();
        let end = integrate(&mut rhs, 0.0, t, &y0, tolerance, 10_000_000).unwrap();
        (Matrix3::from_column_slice(&end.y[..9]), Vector3::from_column_slice(&end.y[9..]))
    }

    /// The largest difference of any entry.
    pub(super) fn distance(a: &(Matrix3<Dd>, Vector3<Dd>), b: &(Matrix3<Dd>, Vector3<Dd>)) -> f64 {
        let entries = a.0.iter().chain(a.1.iter()).zip(b.0.iter().chain(b.1.iter()));
        entries.fold(0.0, |m, (x, y)| {
            let d = (*x - *y).abs().to_f64();
            if d <= m { m } else { d }
        })
    }

    /// A repeatable sequence of numbers in (-1, 1).
    pub(super) struct Numbers(pub u64);
    impl Numbers {
        pub(super) fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
        pub(super) fn vector(&mut self) -> Vector3<f64> {
            Vector3::new(self.next(), self.next(), self.next())
        }
    }
}
