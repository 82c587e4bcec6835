//! A comparison for people and for programs.

use super::{Comparison, Run};
use crate::blocks::{Constraints, Drift, Error, Newton};
use crate::phase::Frequencies;
use crate::print::{self, count, duration, plain, small};
use crate::timing;
use serde::Serialize;

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    problem: &'a str,
    step: f64,
    until: f64,
    steps: u64,
    reference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_reference: Option<&'a str>,
    rows: Vec<Row<'a>>,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    method: &'a str,
    drift: Option<Drift>,
    /// How far the joints of a system were from closed, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint_violation: Option<Constraints>,
    error: Option<Error<'a>>,
    frequencies: Option<&'a Frequencies>,
    newton: Option<Newton>,
    ns_per_step: Option<f64>,
    failure: Option<&'a str>,
}

impl<'a> Report<'a> {
    /// Reads everything off a comparison.
    pub fn new(comparison: &'a Comparison) -> Self {
        let source = comparison.source.as_ref();
        let row = |row: &'a super::Row| {
            let run = row.run.as_ref().ok();
            let errors = run.and_then(|r| r.errors.as_ref()).zip(source.ok());
            Row {
                method: row.method.id(),
                drift: run.map(|r| Drift::new(&r.end)),
                constraint_violation: run
                    .and_then(|r| r.end.joints.as_ref())
                    .map(|joints| Constraints::from(joints.violation)),
                error: errors.map(|(errors, source)| Error::new(errors, source)),
                frequencies: run.and_then(|r| r.frequencies.as_ref()),
                newton: run.map(|r| Newton::from(&r.end)),
                ns_per_step: run.map(|r| r.ns_per_step),
                failure: row.run.as_ref().err().map(String::as_str),
            }
        };
        Report {
            problem: &comparison.problem.id,
            step: comparison.plan.step(),
            until: comparison.plan.until(),
            steps: comparison.plan.steps(),
            reference: source.ok().map(String::as_str),
            no_reference: source.err().map(String::as_str),
            rows: comparison.rows.iter().map(row).collect(),
        }
    }
}

/// A column of the table: its head and how to read it off a run.
type Column<'a> = (&'static str, Box<dyn Fn(&Run) -> Option<f64> + 'a>);

/// A drift by its name.
fn drift(run: &Run, quantity: &str) -> Option<f64> {
    run.end.drift.list().into_iter().find(|(name, _)| *name == quantity).map(|(_, value)| value)
}

/// The columns that say something of this problem, and lines that say what they are.
fn columns(comparison: &Comparison) -> (Vec<Column<'_>>, Vec<String>) {
    let mut columns: Vec<Column<'_>> = Vec::new();
    let mut lines = Vec::new();
    // What the exact motion changes too has no column.
    let kept = |quantity: &str| comparison.model.is_invariant(quantity);
    let mut drifts = Vec::new();
    if kept("energy") {
        columns.push(("energy", Box::new(|run| drift(run, "energy"))));
        drifts.push("energy (relative)");
    }
    if kept("linear_momentum_space") {
        columns.push(("linear", Box::new(|run| drift(run, "linear_momentum_space"))));
        drifts.push("linear momentum in space (kg m/s)");
    }
    if kept("momentum_space") {
        columns.push(("momentum", Box::new(|run| drift(run, "momentum_space"))));
        drifts.push("angular momentum in space (kg m²/s)");
    } else if kept("momentum_vertical") {
        columns.push(("vertical", Box::new(|run| drift(run, "momentum_vertical"))));
        drifts.push("vertical momentum in space (kg m²/s)");
    }
    if !drifts.is_empty() {
        lines.push(format!("largest drift over the run: {}", drifts.join(", ")));
    }
    let violation = |run: &Run| run.end.joints.as_ref().map(|joints| joints.violation);
    let jointed = |row: &super::Row| row.run.as_ref().is_ok_and(|run| violation(run).is_some());
    if comparison.model.group() == "system" && comparison.rows.iter().any(jointed) {
        columns.push(("joints", Box::new(move |run| violation(run).map(|v| v.position))));
        columns.push(("rates", Box::new(move |run| violation(run).map(|v| v.velocity))));
        lines.push("largest violation of the joints: positions (m), velocities (m/s)".into());
    }
    match &comparison.source {
        Ok(source) => {
            columns.push(("attitude", Box::new(|run| run.errors.map(|e| e.attitude))));
            columns.push(("angle", Box::new(|run| run.errors.map(|e| e.attitude_angle()))));
            columns.push(("body mom.", Box::new(|run| run.errors.map(|e| e.momentum))));
            let mut names = "attitude (2-norm) and its angle (rad), body momentum (kg m²/s)".to_string();
            if comparison.model.start().moves() {
                columns.push(("position", Box::new(|run| run.errors.and_then(|e| e.position))));
                names.push_str(", position (m)");
            }
            lines.push(format!("error at the end: {names}"));
            lines.push(format!("reference: {source}"));
        }
        Err(reason) => lines.push(format!("no reference: {reason}")),
    }
    let exact = comparison.model.frequencies().unwrap_or_default();
    let mut phases = Vec::new();
    let mut phase = |name: &'static str, exact: String, value: fn(&Frequencies) -> Option<f64>| {
        columns.push((name, Box::new(move |run: &Run| run.frequencies.as_ref().and_then(value))));
        phases.push(exact);
    };
    if let Some(flip) = exact.flip {
        phase("flip", format!("flip interval {:.7} s", flip.interval), |f| f.flip_interval_error);
    }
    if let Some(rate) = exact.nutation {
        phase("nutation", format!("nutation {rate:.7} rad/s"), |f| f.nutation_error);
    }
    if let Some(rate) = exact.precession {
        phase("precession", format!("precession {rate:.7} rad/s"), Frequencies::precession_best_error);
    }
    if !phases.is_empty() {
        lines.push(format!("relative error in phase: {}", phases.join(", ")));
    }
    (columns, lines)
}

/// The table of `polhode compare`.
pub fn text(comparison: &Comparison) -> String {
    let (problem, plan) = (&comparison.problem, &comparison.plan);
    let (columns, lines) = columns(comparison);
    let mut head = vec!["method"];
    head.extend(columns.iter().map(|(name, _)| *name));
    head.extend(["newton", "per step"]);
    let width = head.len();
    let mut rows = vec![head.into_iter().map(String::from).collect::<Vec<_>>()];
    let mut failures = String::new();
    let cell = |x: Option<f64>| x.map_or("-".to_string(), small);
    for row in &comparison.rows {
        let mut cells = vec![row.method.id().to_string()];
        match &row.run {
            Ok(run) => {
                cells.extend(columns.iter().map(|(_, value)| cell(value(run))));
                let iterations = crate::blocks::iterations_per_step(&run.end);
                let newton = if row.method.is_explicit() { "-".into() } else { format!("{iterations:.2}") };
                cells.extend([newton, duration(run.ns_per_step * 1e-9)]);
            }
            Err(reason) => {
                cells.resize(width, "-".into());
                failures.push_str(&print::paragraph(0, &format!("{} failed: {reason}", row.method.id())));
            }
        }
        rows.push(cells);
    }
    let span = format!(
        "{} of {} s, to t = {} s",
        count(plan.steps(), "step"),
        plain(plan.step()),
        plain(plan.until())
    );
    let title = problem.heading();
    let head: String = [title, span]
        .iter()
        .chain(&lines)
        .chain([&timing::words()])
        .map(|line| print::paragraph(0, line))
        .collect();
    let gap = if failures.is_empty() { "" } else { "\n" };
    format!("{head}\n{}{gap}{failures}", print::stacked(&rows))
}
