//! A comparison for people and for programs.

use super::Comparison;
use super::measure::{Point, Series};
use crate::print::{Align, plain, small, table};
use serde::Serialize;

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    problem: &'a str,
    until: f64,
    reference: &'a str,
    rows: Vec<Row<'a>>,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    method: &'a str,
    order_claimed: u32,
    points: Vec<PointRow<'a>>,
    order_attitude: Option<f64>,
    order_momentum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_position: Option<f64>,
}

#[derive(Debug, Serialize)]
struct PointRow<'a> {
    step: f64,
    steps: u64,
    attitude: Option<f64>,
    attitude_frobenius: Option<f64>,
    momentum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position_relative: Option<f64>,
    order_attitude: Option<f64>,
    order_momentum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_position: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> Report<'a> {
    /// Reads everything off a comparison.
    pub fn new(comparison: &'a Comparison) -> Self {
        let point = |p: &'a Point| {
            let errors = p.errors.as_ref();
            PointRow {
                step: p.step,
                steps: p.steps,
                attitude: errors.ok().map(|e| e.attitude),
                attitude_frobenius: errors.ok().map(|e| e.attitude_frobenius()),
                momentum: errors.ok().map(|e| e.momentum),
                position: errors.ok().and_then(|e| e.position),
                position_relative: errors.ok().and_then(|e| e.position_relative),
                order_attitude: p.order_attitude,
                order_momentum: p.order_momentum,
                order_position: p.order_position,
                error: errors.err().map(String::as_str),
            }
        };
        let row = |s: &'a Series| Row {
            method: s.method.id(),
            order_claimed: s.method.order(),
            points: s.points.iter().map(point).collect(),
            order_attitude: s.order_attitude(),
            order_momentum: s.order_momentum(),
            order_position: s.order_position(),
        };
        Report {
            problem: comparison.problem.id,
            until: comparison.until,
            reference: &comparison.source,
            rows: comparison.series.iter().map(row).collect(),
        }
    }
}

/// The table of `polhode converge`.
pub fn text(comparison: &Comparison) -> String {
    let moving = comparison.model.start().moving.is_some();
    let mut head = vec!["method", "claimed", "step", "steps", "attitude", "order", "momentum", "order"];
    let mut columns = "LRRRLRLR".to_string();
    if moving {
        head.extend(["position", "order"]);
        columns.push_str("LR");
    }
    head.push("");
    columns.push('L');
    let width = head.len();
    let mut rows = vec![head.into_iter().map(String::from).collect::<Vec<_>>()];
    let order = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.2}"));
    for series in &comparison.series {
        let mut name = [series.method.id().to_string(), series.method.order().to_string()];
        for p in &series.points {
            let mut row = std::mem::take(&mut name).to_vec();
            row.extend([plain(p.step), p.steps.to_string()]);
            match &p.errors {
                Ok(e) => {
                    row.extend([small(e.attitude), order(p.order_attitude)]);
                    row.extend([small(e.momentum), order(p.order_momentum)]);
                    row.extend(e.position.into_iter().flat_map(|x| [small(x), order(p.order_position)]));
                }
                Err(reason) => {
                    row.resize(width - 1, "-".into());
                    row.push(reason.clone());
                }
            }
            rows.push(row);
        }
    }
    let columns: Vec<Align> =
        columns.chars().map(|c| if c == 'L' { Align::Left } else { Align::Right }).collect();
    let (id, title) = (comparison.problem.id, comparison.problem.title);
    let position = if moving { ", position in m" } else { "" };
    format!(
        "{id}, {title}\nerrors at t = {} s, attitude in the 2-norm, body momentum in kg m²/s{position}\nreference: {}\n\n{}",
        plain(comparison.until),
        comparison.source,
        table(0, &columns, &rows)
    )
}
