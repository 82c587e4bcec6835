//! Derivatives beside differences of runs with changed parameters (Brüls & Eberhard 2008, Tables 2 and 3).

use crate::quantity::{self, difference, hides, largest, slopes};
use core::ops::ControlFlow;
use polhode::run::{Item, Plan, Snapshot};
use polhode::sensitivity::{Dual1, Sensitivity, SensitivityFailure};

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

/// The difference quotient of a quantity.
pub struct Quotient {
    /// The quantity.
    pub item: Item,
    /// Its quotient.
    pub value: Vec<f64>,
    /// How far it is from the derivative, relative to that; none where that is zero but for rounding.
    pub error: Option<f64>,
    /// The same relative to what counts as large: the largest derivative of its kind, over all bodies, or value over
    /// parameter where that is larger. A difference of large numbers tells nothing of a derivative below that.
    pub weighted: f64,
}

/// The 2-norm of the difference of two lists, whose squares may be too large for numbers.
fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |sum: f64, (a, b)| sum.hypot(a - b))
}

/// The relative distance of two lists, eq. (118).
fn relative(x: &[f64], exact: &[f64]) -> Option<f64> {
    let size = distance(exact, &vec![0.0; exact.len()]);
    let error = distance(x, exact) / size;
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
    (items, end, derivatives): (&[Item], &Snapshot, &Snapshot<Dual1>),
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Option<Vec<Difference>> {
    let exact: Vec<Vec<f64>> =
        items.iter().map(|item| derivatives.value(item).map_or(Vec::new(), |value| slopes(&value))).collect();
    let mut quotients = |formula: &Formula| {
        let size = formula.change * sensitivity.scales()[parameter];
        let mut quotients: Vec<Vec<f64>> = exact.iter().map(|slopes| vec![0.0; slopes.len()]).collect();
        for (at, weight) in formula.points {
            let mut changes = vec![0.0; parameter];
            changes.push(at * size);
            let Some(end_there) = sensitivity.changed(&changes).end(plan, watch)? else { return Ok(None) };
            for (sum, item) in quotients.iter_mut().zip(items) {
                let (Some(there), Some(here)) = (end_there.value(item), end.value(item)) else { continue };
                for (sum, change) in sum.iter_mut().zip(difference(&there, &here)) {
                    *sum += weight * change / size;
                }
            }
        }
        if quotients.iter().flatten().any(|x| !x.is_finite()) {
            return Ok(Some(Err("its numbers are too large".to_string())));
        }
        let scale = sensitivity.scales()[parameter];
        let value_of = |item: &Item| end.value(item).map_or(0.0, |value| quantity::size(&value));
        let size = |wanted: &Item| {
            let alike = items.iter().zip(&exact).filter(|(item, _)| item.quantity == wanted.quantity);
            alike.map(|(item, exact)| largest(exact).max(value_of(item) / scale)).fold(0.0, f64::max)
        };
        let all = items.iter().zip(quotients).zip(&exact).map(|((item, quotient), exact)| {
            // Of a derivative that is zero but for rounding there is nothing to be relative to.
            let change = largest(exact) * scale.max(1.0);
            let zero = end.value(item).is_none_or(|value| hides(&value, change));
            let error = if zero { None } else { relative(&quotient, exact) };
            let off = distance(&quotient, exact);
            let weighted = if off == 0.0 { 0.0 } else { off / size(item) };
            Quotient { item: *item, value: quotient, error, weighted }
        });
        Ok::<_, SensitivityFailure>(Some(Ok(all.collect())))
    };
    let mut one = |formula: &Formula| {
        let quotients = match quotients(formula) {
            Ok(found) => found?,
            Err(failure) => Err(failure.error.to_string()),
        };
        Some(Difference { name: formula.name, change: formula.change, quotients })
    };
    FORMULAS.iter().map(&mut one).collect()
}
