//! Errors of a method at several steps, against a state that is known better.

use super::order::{Order, OrderError, Plateau, order};
use super::structure::advance;
use crate::body::Dynamics;
use crate::body::{Body, Load, State};
use crate::group::Coordinates;
use crate::method::{Method, Steps};
use crate::scalar::{Real, Scalar, larger};
use crate::solve::StepError;

/// How far apart two states are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// 2-norm of the difference of the attitude matrices.
    pub attitude: f64,
    /// Distance of the positions; zero on SO(3).
    pub position: f64,
    /// Norm of the difference of the body momenta.
    pub momentum: f64,
}

impl Distance {
    /// Between two states.
    pub fn between<S: Real, G: Dynamics>(a: &State<S, G>, b: &State<S, G>) -> Distance {
        let (attitude, position) = G::distance(&a.pose, &b.pose);
        let momentum = (a.momentum - b.momentum).length();
        Distance { attitude: attitude.largest(), position: position.largest(), momentum: momentum.largest() }
    }
    /// The largest of them.
    pub fn largest(&self) -> f64 {
        larger(larger(self.attitude, self.position), self.momentum)
    }
}

/// The errors of one method at several steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// Each step with its error at the end time.
    pub errors: Vec<(f64, Distance)>,
}

impl Convergence {
    /// The observed order in the attitude.
    pub fn attitude(&self, plateau: Plateau) -> Result<Order, OrderError> {
        self.order(plateau, |d| d.attitude)
    }
    /// The observed order in the position of a moving body.
    pub fn position(&self, plateau: Plateau) -> Result<Order, OrderError> {
        self.order(plateau, |d| d.position)
    }
    /// The observed order in the body momentum.
    pub fn momentum(&self, plateau: Plateau) -> Result<Order, OrderError> {
        self.order(plateau, |d| d.momentum)
    }
    fn order(&self, plateau: Plateau, part: impl Fn(&Distance) -> f64) -> Result<Order, OrderError> {
        let points: Vec<(f64, f64)> = self.errors.iter().map(|(h, d)| (*h, part(d))).collect();
        order(&points, plateau)
    }
}

/// Runs a method from `start` at t = 0 to `until` once for each number of steps in `counts`, and compares with
/// `reference`, the state at `until`.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, RotaryInertia, TopGravity};
/// use polhode::check::{Plateau, advance, converge};
/// use polhode::group::{Rotation, So3};
/// use polhode::method::Method;
///
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0)))?;
/// let body = Body::<f64, So3, _> { inertia, load: TopGravity { mgl: 20.0 } };
/// let start = body.state(Rotation::identity(), &Vector3::new(0.3, 0.1, 5.0));
/// let reference = advance(&Method::parse("mkrk:gauss3")?, &body, &start, 0.0, 0.01, 100)?;
/// let found = converge(&Method::parse("imidm")?, &body, &start, 1.0, &[40, 80, 160], &reference)?;
/// assert!((found.attitude(Plateau::Detect)?.slope - 2.0).abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn converge<S: Scalar, G: Steps<S>, L: Load<S>>(
    method: &Method,
    body: &Body<S, G, L>,
    start: &State<S, G>,
    until: f64,
    counts: &[u64],
    reference: &State<S, G>,
) -> Result<Convergence, StepError> {
    let error = |&n: &u64| {
        let h = S::lift(until) / S::lift(n as f64);
        let end = advance(method, body, start, S::zero(), h, n)?;
        Ok((until / n as f64, Distance::between(&end, reference)))
    };
    Ok(Convergence { errors: counts.iter().map(error).collect::<Result<_, _>>()? })
}
