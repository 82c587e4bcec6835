//! Derivatives for programs and for people.

use super::Finished;
use super::check::{Difference, Quotient};
use super::quantity::{self, Node, Numbers, Path};
use crate::print::{self, Align, count, plain, small, table};
use polhode::sensitivity::D;
use serde::Serialize;

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    problem: &'a str,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    step: f64,
    until: f64,
    t: f64,
    steps: u64,
    parameters: &'a [String],
    parameter_values: Node,
    values: Node,
    derivatives: Node,
    independent: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Vec<Checked<'a>>>,
}

/// One formula for one parameter.
#[derive(Debug, Serialize)]
struct Checked<'a> {
    parameter: &'a str,
    formula: &'static str,
    relative_change: f64,
    change: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    derivatives: Option<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relative_error: Option<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
}

impl<'a> Report<'a> {
    /// Of what was computed.
    pub fn new(run: &'a Finished) -> Self {
        let names = run.sensitivity.names();
        let paths = || run.end.iter().map(|(path, _)| path.clone());
        let of =
            |derivatives: &[Numbers<D>]| Node::tree(paths().zip(derivatives.iter().map(Numbers::<D>::node)));
        let checked = |(k, difference): (usize, &'a Difference)| {
            let quotient = |q: &Quotient| {
                (
                    q.path.clone(),
                    if q.value.len() == 1 && q.path.len() == 1 {
                        Node::Number(q.value[0])
                    } else {
                        Node::List(q.value.clone())
                    },
                )
            };
            let error = |q: &Quotient| q.error.map(|error| (q.path.clone(), Node::Number(error)));
            let seen = difference.quotients.as_ref().ok();
            Checked {
                parameter: &names[k],
                formula: difference.name,
                relative_change: difference.change,
                change: difference.change * run.sensitivity.scales()[k],
                derivatives: seen.map(|list| Node::tree(list.iter().map(quotient))),
                relative_error: seen.map(|list| Node::tree(list.iter().filter_map(error))),
                failed: difference.quotients.as_ref().err().map(String::as_str),
            }
        };
        Report {
            problem: run.problem.id,
            method: &run.method,
            variant: run.variant.as_deref(),
            step: run.plan.step(),
            until: run.plan.until(),
            t: run.plan.time(run.plan.steps()),
            steps: run.plan.steps(),
            parameters: names,
            parameter_values: Node::Group(
                names
                    .iter()
                    .cloned()
                    .zip(run.sensitivity.values().iter().map(|x| Node::Number(*x)))
                    .collect(),
            ),
            values: Node::tree(run.end.iter().map(|(path, numbers)| (path.clone(), numbers.node()))),
            derivatives: Node::Group(
                names.iter().cloned().zip(run.derivatives.iter().map(|d| of(d))).collect(),
            ),
            independent: &run.independent,
            check: run.check.as_ref().map(|all| {
                let pairs = all.iter().enumerate().flat_map(|(k, list)| list.iter().map(move |d| (k, d)));
                pairs.map(checked).collect()
            }),
        }
    }
}

/// So many digits after the first of a derivative, and of a difference.
const DERIVATIVE: usize = 9;
const DIFFERENCE: usize = 8;

/// A number that is nothing but the rounding of larger ones.
const ROUNDED: &str = "~0";

/// The derivatives of a quantity, without those that are nothing but rounding: JSON has them.
fn cells(numbers: &Numbers<D>, scale: f64) -> Vec<String> {
    let slopes = numbers.slopes();
    let rounding = quantity::ROUNDING * quantity::largest(&slopes);
    let cell = |x: &f64| match x.abs() {
        0.0 => "0".into(),
        size if size <= rounding || numbers.hides(size * scale.max(1.0)) => ROUNDED.into(),
        _ => format!("{x:.DERIVATIVE$e}"),
    };
    slopes.iter().map(cell).collect()
}

/// Quantities that people are shown: a body once, and of a rotation the turn.
fn shown(path: &Path, mechanism: bool) -> bool {
    let key = path.last().map_or("", String::as_str);
    let twice = path.first().is_some_and(|first| first == "bodies") && !mechanism;
    !twice
        && !matches!(
            key,
            "q_wxyz" | "momentum_body" | "momentum_space" | "linear_momentum_space" | "kinetic_energy"
        )
}

/// The derivatives with respect to each parameter, with differences beside them if there are any.
pub fn text(run: &Finished) -> String {
    let (plan, problem) = (&run.plan, &run.problem);
    let row = |name: &str, text: String| vec![name.to_string(), text];
    let mut head = vec![
        row("problem", format!("{}, {}", problem.id, problem.title)),
        row("method", format!("{}, {}", run.method, run.title)),
    ];
    if let Some(variant) = &run.variant {
        head.push(row("variant", format!("{variant}, for study")));
    }
    let span = format!(
        "{} of {} s, to t = {} s",
        count(plan.steps(), "step"),
        plain(plan.step()),
        plain(plan.time(plan.steps()))
    );
    head.push(row("steps", span));
    let mut text = table(0, &[Align::Left; 2], &head);
    let mechanism = !run.end.iter().any(|(path, _)| path[0] == "attitude");
    for (k, name) in run.sensitivity.names().iter().enumerate() {
        let value = run.sensitivity.values()[k];
        text.push_str(&format!("\nderivatives at the end with respect to {name} = {}\n", plain(value)));
        if run.independent.contains(name) {
            text.push_str("  all zero: the end does not depend on it\n");
            continue;
        }
        let mut rows = Vec::new();
        for ((path, _), numbers) in run.end.iter().zip(&run.derivatives[k]) {
            if shown(path, mechanism) {
                let start = if path.len() > 1 && path[0] != "multipliers" { 1 } else { 0 };
                let mut row = vec![path[start..].join(".")];
                // Three to a line.
                for (i, chunk) in cells(numbers, run.sensitivity.scales()[k]).chunks(3).enumerate() {
                    if i > 0 {
                        rows.push(std::mem::replace(&mut row, vec![String::new()]));
                    }
                    row.extend(chunk.iter().cloned());
                }
                row.resize(4, String::new());
                rows.push(row);
            }
        }
        let columns = [Align::Left, Align::Right, Align::Right, Align::Right];
        text.push_str(&table(2, &columns, &rows));
        if let Some(check) = &run.check {
            text.push_str(&beside(&check[k], mechanism));
        }
    }
    let mut notes = vec!["attitude: turn in body axes, rad"];
    if text.contains(ROUNDED) {
        notes.push("~0: zero but for rounding");
    }
    if run.check.is_some() {
        notes.push(
            "off by: relative to the derivative; of all: the most over all quantities, each relative to the largest \
             derivative of its kind, or to value over parameter where that is larger",
        );
    }
    text.push('\n');
    text.extend(notes.iter().map(|note| print::paragraph(0, note)));
    text
}

/// Differences beside the derivatives: the quotients of the place, or attitude, of the last body, and how far all are off.
fn beside(check: &[Difference], mechanism: bool) -> String {
    let wanted = |q: &&Quotient| match q.path.as_slice() {
        [key] => !mechanism && (key == "position" || key == "attitude"),
        [_, _, key] => mechanism && key == "position",
        _ => false,
    };
    let (mut name, mut failures) = (String::new(), String::new());
    let (mut rows, mut changes) = (Vec::new(), Vec::new());
    for difference in check {
        let change = format!("{} {}", difference.name, plain(difference.change));
        let quotients = match &difference.quotients {
            Ok(quotients) => quotients,
            Err(reason) => {
                failures.push_str(&print::paragraph(2, &format!("no {change}: {reason}")));
                continue;
            }
        };
        let place = match mechanism {
            true => quotients.iter().rfind(wanted),
            false => quotients.iter().find(wanted),
        };
        let Some(place) = place else { continue };
        name = place.path[usize::from(mechanism)..].join(".");
        changes.push(change);
        let all = quotients.iter().filter(|q| shown(&q.path, mechanism)).map(|q| q.weighted);
        let mut cells = vec![difference.name.to_string()];
        let rounding = quantity::ROUNDING * quantity::largest(&place.value);
        cells.extend(place.value.iter().map(|x| match x.abs() {
            0.0 => "0".into(),
            size if size <= rounding => ROUNDED.into(),
            _ => format!("{x:.DIFFERENCE$e}"),
        }));
        cells.push(place.error.map_or("-".into(), small));
        cells.push(small(quantity::largest(&all.collect::<Vec<_>>())));
        rows.push(cells);
    }
    if rows.is_empty() {
        return failures;
    }
    let title = format!("differences of {name}, relative changes {}", changes.join(", "));
    let head = ["", "", "", "", "off by", "of all"].map(String::from).to_vec();
    rows.insert(0, head);
    let columns = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right];
    print::paragraph(2, &title) + &table(2, &columns, &rows) + &failures
}
