//! Derivatives beside differences of runs with changed parameters (Brüls & Eberhard 2008, Tables 2 and 3).

use super::quantity::{Numbers, Path, largest, quantities};
use core::ops::ControlFlow;
use polhode::run::Plan;
use polhode::sensitivity::{Sensitivity, SensitivityFailure};
use polhode::solve::StepError;

/// A formula: its name, the change relative to the parameter, and points with their weights, to be divided by the change.
pub struct Formula {
    /// The name.
    pub name: &'static str,
    /// Relative to the parameter.
    pub change: f64,
    points: &'static [(f64, f64)],
}

/// Those of the paper.
pub const FORMULAS: [Formula; 3] = [
    Formula { name: "backward", change: 1e-7, points: &[(-1.0, -1.0)] },
    Formula { name: "central", change: 1e-5, points: &[(-1.0, -0.5), (1.0, 0.5)] },
    Formula {
        name: "five-point",
        change: 1e-3,
        points: &[(-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0)],
    },
];

/// What a formula makes of a derivative.
pub struct Difference {
    /// Its name.
    pub name: &'static str,
    /// The change, relative to the parameter.
    pub change: f64,
    /// The quotients, or why a run with a changed parameter failed.
    pub quotients: Result<Vec<Quotient>, String>,
}

/// The difference quotient of a quantity, and how far it is from the derivative, relative to that.
pub type Quotient = (Path, Vec<f64>, Option<f64>);

/// The relative distance of two lists, eq. (118).
fn relative(x: &[f64], exact: &[f64]) -> Option<f64> {
    let norm = |list: &mut dyn Iterator<Item = f64>| list.map(|x| x * x).sum::<f64>().sqrt();
    let size = norm(&mut exact.iter().copied());
    let error = norm(&mut x.iter().zip(exact).map(|(a, b)| a - b)) / size;
    (size > 0.0 && error.is_finite()).then_some(error)
}

/// How many runs the differences of a parameter take.
pub fn runs() -> u64 {
    FORMULAS.iter().map(|formula| formula.points.len() as u64).sum()
}

/// The differences of one parameter beside its exact derivatives. All are of the end, from the plain one. None if `watch`,
/// which sees every step, breaks off.
pub fn differences(
    sensitivity: &Sensitivity,
    plan: &Plan,
    parameter: usize,
    end: &[(Path, Numbers<f64>)],
    exact: &[Vec<f64>],
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Option<Vec<Difference>> {
    let mut quotients = |formula: &Formula| {
        let size = formula.change * sensitivity.scales()[parameter];
        let mut quotients: Vec<Vec<f64>> = exact.iter().map(|slopes| vec![0.0; slopes.len()]).collect();
        for (at, weight) in formula.points {
            let mut changes = vec![0.0; parameter];
            changes.push(at * size);
            let Some(end_there) = sensitivity.changed(&changes).end(plan, watch)? else { return Ok(None) };
            let seen = quantities(&end_there);
            for ((sum, (_, there)), (_, here)) in quotients.iter_mut().zip(&seen).zip(end) {
                for (sum, change) in sum.iter_mut().zip(there.minus(here)) {
                    *sum += weight * change / size;
                }
            }
        }
        if quotients.iter().flatten().any(|x| !x.is_finite()) {
            let quantity = "a difference quotient".into();
            let error = StepError::Overflow { quantity, t: plan.until() }.into();
            return Err(SensitivityFailure { error, steps: plan.steps() });
        }
        let scale = sensitivity.scales()[parameter];
        let all = end.iter().zip(quotients).zip(exact).map(|(((path, value), quotient), exact)| {
            // Of a derivative that is zero but for rounding there is nothing to be relative to.
            let zero = value.hides(largest(exact) * scale.max(1.0));
            let error = if zero { None } else { relative(&quotient, exact) };
            (path.clone(), quotient, error)
        });
        Ok::<_, SensitivityFailure>(Some(all.collect()))
    };
    let mut one = |formula: &Formula| {
        let quotients = quotients(formula).map_err(|failure| failure.error.to_string()).transpose()?;
        Some(Difference { name: formula.name, change: formula.change, quotients })
    };
    FORMULAS.iter().map(&mut one).collect()
}
