//! The residuals in units of their noise over time: one panel for each quantity.

use super::Finished;
use crate::plot::{Axis, Curve, Drawing, Look, Panel, Sheet, page};
use crate::print::count;
use polhode::identify::ColumnFit;

/// More points than these of a column say no more.
const POINTS: usize = 1500;

/// The columns of one quantity.
fn quantities(columns: &[ColumnFit]) -> Vec<(&str, Vec<&ColumnFit>)> {
    let mut panels: Vec<(&str, Vec<&ColumnFit>)> = Vec::new();
    for column in columns {
        match panels.iter_mut().find(|(quantity, _)| *quantity == column.quantity) {
            Some((_, list)) => list.push(column),
            None => panels.push((&column.quantity, vec![column])),
        }
    }
    panels
}

/// Draws the residuals of a fit.
pub fn drawing(run: &Finished<'_>) -> Drawing {
    let found = &run.found;
    let panels: Vec<Panel> = quantities(&found.columns)
        .into_iter()
        .map(|(quantity, columns)| panel(quantity, &columns, &found.times))
        .collect();
    let title = format!("{}: residuals of the fit, model minus data", run.problem.id);
    let below = format!(
        "{} from {}; in units of the noise of each column, with a band at ±2",
        count(found.names.len() as u64, "parameter"),
        count(found.times.len() as u64, "sample")
    );
    page(&title, &below, &[], Sheet { wide: 2, size: (420.0, 150.0) }, &panels)
}

fn panel(quantity: &str, columns: &[&ColumnFit], times: &[f64]) -> Panel {
    let largest =
        columns.iter().flat_map(|c| c.residuals.iter().map(|r| (r / c.sigma).abs())).fold(0.0, f64::max);
    let most = if largest.is_finite() { (1.08 * largest).max(3.0) } else { 3.0 };
    let every = times.len().div_ceil(POINTS).max(1);
    let curve = |(style, column): (usize, &&ColumnFit)| {
        let own = column.name.strip_prefix(quantity).unwrap_or(&column.name).trim_start_matches('_');
        let all = times.iter().zip(&column.residuals).filter(|(_, r)| !r.is_nan()).step_by(every);
        Curve {
            points: all.map(|(t, r)| Some((*t, r / column.sigma))).collect(),
            style,
            name: Some(if own.is_empty() { "value".into() } else { own.into() }),
            fill: None,
        }
    };
    Panel {
        title: quantity.into(),
        below: "t, s".into(),
        beside: "residual / σ".into(),
        axes: [Axis::even(times.iter().copied(), 0.02), Axis::even([-most, most].into_iter(), 0.0)],
        curves: columns.iter().enumerate().map(curve).collect(),
        look: Look::Dots,
        band: Some((-2.0, 2.0)),
        guides: Vec::new(),
    }
}
