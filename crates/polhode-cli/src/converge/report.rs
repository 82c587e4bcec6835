//! A comparison for people and for programs.

use super::Comparison;
use super::measure::{Point, Series};
use crate::print::{self, duration, plain, small};
use crate::timing;
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
    attitude_angle: Option<f64>,
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
    ns_per_step: Option<f64>,
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
                attitude_angle: errors.ok().map(|e| e.attitude_angle()),
                attitude_frobenius: errors.ok().map(|e| e.attitude_frobenius()),
                momentum: errors.ok().map(|e| e.momentum),
                position: errors.ok().and_then(|e| e.position),
                position_relative: errors.ok().and_then(|e| e.position_relative),
                order_attitude: p.order_attitude,
                order_momentum: p.order_momentum,
                order_position: p.order_position,
                ns_per_step: p.ns_per_step,
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
            problem: &comparison.problem.id,
            until: comparison.until,
            reference: &comparison.source,
            rows: comparison.series.iter().map(row).collect(),
        }
    }
}

/// The table of `polhode converge`: each method above its rows.
pub fn text(comparison: &Comparison) -> String {
    let moving = comparison.model.start().moves();
    let mut head = vec!["step", "attitude", "angle", "order", "momentum", "order"];
    if moving {
        head.extend(["position", "order"]);
    }
    head.push("per step");
    let order = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.2}"));
    let row = |p: &Point| {
        // JSON has all digits of a step such as 1/1024.
        let step =
            Some(plain(p.step)).filter(|text| text.len() <= 8).unwrap_or_else(|| format!("{:.3e}", p.step));
        let mut row = vec![step];
        match &p.errors {
            Ok(e) => {
                row.extend([small(e.attitude), small(e.attitude_angle()), order(p.order_attitude)]);
                row.extend([small(e.momentum), order(p.order_momentum)]);
                row.extend(e.position.into_iter().flat_map(|x| [small(x), order(p.order_position)]));
                row.push(p.ns_per_step.map_or("-".into(), |ns| duration(ns * 1e-9)));
            }
            Err(_) => row.resize(head.len(), "-".into()),
        }
        row
    };
    let points = comparison.series.iter().flat_map(|series| &series.points);
    let rows: Vec<Vec<String>> =
        core::iter::once(head.iter().map(|name| name.to_string()).collect()).chain(points.map(row)).collect();
    let mut lines = print::lines(2, &rows).into_iter();
    let position = if moving { ", position in m" } else { "" };
    let title = [
        comparison.problem.heading(),
        format!(
            "errors at t = {} s: attitude in the 2-norm and its angle in rad, body momentum in kg m²/s{position}",
            plain(comparison.until)
        ),
        timing::words(),
        format!("reference: {}", comparison.source),
    ];
    let mut text: String = title.iter().map(|line| print::paragraph(0, line)).collect();
    text.push('\n');
    text.extend(lines.next());
    for series in &comparison.series {
        let order = series.method.order();
        text.push_str(&print::paragraph(0, &format!("{}, order {order} claimed", series.method.id())));
        for point in &series.points {
            text.extend(lines.next());
            if let Err(reason) = &point.errors {
                text.push_str(&print::paragraph(6, &format!("failed: {reason}")));
            }
        }
    }
    text
}
