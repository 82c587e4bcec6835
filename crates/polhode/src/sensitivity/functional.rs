//! Scalars of a motion, and their gradients.

use super::{Sensitivity, SensitivityFailure};
use crate::run::{Plan, Snapshot};
use crate::scalar::Real;
use core::ops::ControlFlow;

/// A scalar that a motion costs: an integral over it, and something of its end.
///
/// ```
/// use polhode::{method::Method, problem::Problem, run::{Plan, Snapshot}, scalar::Real};
/// use polhode::sensitivity::{Functional, Sensitivity};
///
/// /// The mean height of a top over two seconds, and its spin at the end.
/// struct Cost;
/// impl Functional for Cost {
///     fn running<S: Real>(&self, at: &Snapshot<S>) -> S {
///         at.bodies[0].attitude.matrix()[(2, 2)] * S::lift(0.5)
///     }
///     fn end<S: Real>(&self, at: &Snapshot<S>) -> S {
///         at.bodies[0].omega_body.z
///     }
/// }
/// let sensitivity = Sensitivity::new(&Problem::named("slow-top")?, &["mgl", "omega_body"], &Method::parse("imidm")?)?;
/// let plan = Plan::new(0.01, 2.0)?;
/// let (cost, gradient) = sensitivity.gradient(&plan, &Cost)?;
/// // The same by differences.
/// let at = |change: f64| Ok::<_, Box<dyn std::error::Error>>(sensitivity.changed(&[change]).gradient(&plan, &Cost)?.0);
/// assert!((gradient[0] - (at(1e-3)? - at(-1e-3)?) / 2e-3).abs() < 1e-6 && cost > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Functional {
    /// What is integrated over time, by the trapezoidal rule over the steps.
    fn running<S: Real>(&self, _at: &Snapshot<S>) -> S {
        S::zero()
    }
    /// What is added for the end.
    fn end<S: Real>(&self, _at: &Snapshot<S>) -> S {
        S::zero()
    }
}

impl Sensitivity {
    /// The value of a functional, and its derivative with respect to each parameter.
    pub fn gradient<F: Functional>(
        &self,
        plan: &Plan,
        cost: &F,
    ) -> Result<(f64, Vec<f64>), SensitivityFailure> {
        let (mut value, mut gradient) = (0.0, vec![0.0; self.names().len()]);
        let steps = plan.steps();
        self.run(plan, &mut |n, seen| {
            // Each point has half of the steps before and after it.
            let before = if n > 0 { plan.size(n - 1) } else { 0.0 };
            let after = if n < steps { plan.size(n) } else { 0.0 };
            let weight = 0.5 * (before + after);
            let values = seen.snapshot();
            value += weight * cost.running(&values);
            if n == steps {
                value += cost.end(&values);
            }
            for (k, slope) in gradient.iter_mut().enumerate() {
                let Some(at) = seen.derivative(k) else { continue };
                *slope += weight * cost.running(&at).eps[0];
                if n == steps {
                    *slope += cost.end(&at).eps[0];
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok((value, gradient))
    }
}
