//! Errors over the time and over the steps that they take.

use super::{Need, Precision, Row};
use crate::converge::plot::{Chart, SHEET, panel};
use crate::plot::{Drawing, page};
use crate::print::plain;

/// Draws a comparison.
pub fn drawing(precision: &Precision) -> Drawing {
    let (what, source) = match &precision.source {
        Ok(source) => ("error at the end", format!("reference: {source}")),
        Err(_) => ("largest error along the run, estimated", "no reference".into()),
    };
    // Without steps that are too small to be measured there is nothing wrong with an error of zero; it has no place either.
    let shown = |error: f64| Some(error).filter(|error| *error > 0.0 && error.is_finite());
    let curves = |over: fn(&Need) -> f64| -> Vec<Vec<(f64, Option<f64>)>> {
        let curve = |row: &Row| {
            let needs = row.needs.iter().flatten();
            needs
                .map(|need| (over(need), shown(need.error.unwrap_or(need.found.estimate_along))))
                .filter(|(x, _)| *x > 0.0)
                .collect()
        };
        precision.rows.iter().map(curve).collect()
    };
    let panel = |below, curves| {
        panel(Chart { title: what.into(), below, curves, orders: Vec::new(), most: f64::INFINITY })
    };
    let panels = [
        panel("time of a run, s", curves(|need| need.seconds)),
        panel("steps", curves(|need| need.end.steps as f64)),
    ];
    let title =
        format!("{}: what an error costs, runs to t = {} s", precision.problem.id, plain(precision.until));
    let below = format!("{}; {source}", precision.problem.title);
    let ids: Vec<&str> = precision.rows.iter().map(|row| row.method.id()).collect();
    page(&title, &below, &ids, SHEET, &panels)
}
