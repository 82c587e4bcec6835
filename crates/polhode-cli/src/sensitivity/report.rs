//! Derivatives for programs and for people.

use super::Finished;
use super::check::{Difference, Quotient};
use crate::print::{self, Align, count, plain, small, table};
use crate::quantity::{self, json, json_slopes, tree};
use polhode::run::{Item, Owner, Quantity, Shape, Snapshot, Value};
use polhode::sensitivity::Dual1;
use serde::Serialize;
use serde_json::{Map, Value as Json};

type Object = Map<String, Json>;

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
    parameter_values: Object,
    values: Object,
    derivatives: Object,
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
    derivatives: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relative_error: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
}

impl<'a> Report<'a> {
    /// Of what was computed.
    pub fn new(run: &'a Finished) -> Self {
        let names = run.sensitivity.names();
        let path = |item: &Item| quantity::path(&run.end, item);
        let of = |at: &Snapshot<Dual1>| {
            tree(run.items.iter().filter_map(|item| Some((path(item), json_slopes(&at.value(item)?)))))
        };
        let checked = |(k, difference): (usize, &'a Difference)| {
            let quotient = |q: &Quotient| {
                let alone = q.item.quantity.facts().shape == Shape::Number;
                let value = if alone { Json::from(q.value[0]) } else { Json::from(q.value.clone()) };
                (path(&q.item), value)
            };
            let error = |q: &Quotient| q.error.map(|error| (path(&q.item), Json::from(error)));
            let seen = difference.quotients.as_ref().ok();
            Checked {
                parameter: &names[k],
                formula: difference.name,
                relative_change: difference.change,
                change: difference.change * run.sensitivity.scales()[k],
                derivatives: seen.map(|list| tree(list.iter().map(quotient))),
                relative_error: seen.map(|list| tree(list.iter().filter_map(error))),
                failed: difference.quotients.as_ref().err().map(String::as_str),
            }
        };
        Report {
            problem: &run.problem.id,
            method: &run.method,
            variant: run.variant.as_deref(),
            step: run.plan.step(),
            until: run.plan.until(),
            t: run.plan.time(run.plan.steps()),
            steps: run.plan.steps(),
            parameters: names,
            parameter_values: names
                .iter()
                .cloned()
                .zip(run.sensitivity.values().iter().map(|x| Json::from(*x)))
                .collect(),
            values: tree(run.items.iter().filter_map(|item| Some((path(item), json(&run.end.value(item)?))))),
            derivatives: names
                .iter()
                .cloned()
                .zip(run.derivatives.iter().map(|at| Json::Object(of(at))))
                .collect(),
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
fn cells(value: &Value<'_, Dual1>, scale: f64) -> Vec<String> {
    let slopes = quantity::slopes(value);
    let rounding = quantity::ROUNDING * quantity::largest(&slopes);
    let cell = |x: &f64| match x.abs() {
        0.0 => "0".into(),
        size if size <= rounding || quantity::hides(value, size * scale.max(1.0)) => ROUNDED.into(),
        _ => format!("{x:.DERIVATIVE$e}"),
    };
    slopes.iter().map(cell).collect()
}

/// Quantities that people are shown: a body once, and of a rotation the turn.
fn shown(item: &Item, single: bool) -> bool {
    use Quantity::{KineticEnergy, LinearMomentumSpace, MomentumBody, MomentumSpace, Quaternion};
    let twice = single && matches!(item.owner, Owner::Body(_));
    let other = [Quaternion, MomentumBody, MomentumSpace, LinearMomentumSpace, KineticEnergy];
    !twice && !other.contains(&item.quantity)
}

/// The name of a quantity in a table: multipliers by that word, bodies and coordinates by their own.
fn title(at: &Snapshot, item: &Item) -> String {
    let path = quantity::path(at, item);
    let start = usize::from(matches!(item.owner, Owner::Body(_) | Owner::Coordinates(_)));
    path[start..].join(".")
}

/// The derivatives with respect to each parameter, with differences beside them if there are any.
pub fn text(run: &Finished) -> String {
    let (plan, problem) = (&run.plan, &run.problem);
    let row = |name: &str, text: String| vec![name.to_string(), text];
    let mut head =
        vec![row("problem", problem.heading()), row("method", format!("{}, {}", run.method, run.title))];
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
    let single = run.end.is_single();
    for (k, name) in run.sensitivity.names().iter().enumerate() {
        let value = run.sensitivity.values()[k];
        text.push_str(&format!("\nderivatives at the end with respect to {name} = {}\n", plain(value)));
        if run.independent.contains(name) {
            text.push_str("  all zero: the end does not depend on it\n");
            continue;
        }
        let mut rows = Vec::new();
        for item in run.items.iter().filter(|item| shown(item, single)) {
            if let Some(value) = run.derivatives[k].value(item) {
                let mut row = vec![title(&run.end, item)];
                // Three to a line.
                for (i, chunk) in cells(&value, run.sensitivity.scales()[k]).chunks(3).enumerate() {
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
            text.push_str(&beside(&check[k], &run.end));
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
fn beside(check: &[Difference], end: &Snapshot) -> String {
    let single = end.is_single();
    let wanted = |q: &&Quotient| match q.item.owner {
        Owner::Whole => single && [Quantity::Position, Quantity::Attitude].contains(&q.item.quantity),
        Owner::Body(_) => !single && q.item.quantity == Quantity::Position,
        Owner::Joint(_) | Owner::Coordinates(_) => false,
        Owner::Output(_) => true,
    };
    let (mut seen, mut failures) = (String::new(), String::new());
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
        let place = match single {
            true => quotients.iter().find(wanted),
            false => quotients.iter().rfind(wanted),
        };
        let Some(place) = place else { continue };
        seen = title(end, &place.item);
        changes.push(change);
        let all = quotients.iter().filter(|q| shown(&q.item, single)).map(|q| q.weighted);
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
    let head = format!("differences of {seen}, relative changes {}", changes.join(", "));
    rows.insert(0, ["", "", "", "", "off by", "of all"].map(String::from).to_vec());
    let columns = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right];
    print::paragraph(2, &head) + &table(2, &columns, &rows) + &failures
}
