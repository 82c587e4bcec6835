//! What was found, for programs and for people.

use super::Finished;
use crate::print::{Align, count, plain, small, table};
use polhode::fit::Side;
use polhode::identify::ColumnFit;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Pairs that JSON shows as an object in their order.
#[derive(Debug)]
struct Pairs<'a, T>(Vec<(&'a str, T)>);

impl<T: Serialize> Serialize for Pairs<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    problem: &'a str,
    method: &'a str,
    step: f64,
    data: &'a str,
    samples: usize,
    columns: Vec<&'a str>,
    parameters: &'a [String],
    start: Pairs<'a, f64>,
    values: Pairs<'a, f64>,
    standard_errors: Pairs<'a, Option<f64>>,
    intervals: Pairs<'a, Option<[f64; 2]>>,
    correlations: Vec<Vec<Option<f64>>>,
    sigma: Pairs<'a, f64>,
    patterned: Vec<&'a str>,
    edge: Option<String>,
    held: Pairs<'a, &'static str>,
    sum_of_squares: f64,
    degrees_of_freedom: usize,
    rounds: usize,
    iterations: usize,
    evaluations: usize,
    converged: bool,
    stopped: String,
}

impl<'a> Report<'a> {
    /// Of what was found.
    pub fn new(run: &'a Finished<'_>) -> Self {
        let found = &run.found;
        let n = found.names.len();
        let named = |values: &[f64]| {
            Pairs(found.names.iter().map(String::as_str).zip(values.iter().copied()).collect())
        };
        let names = || found.names.iter().map(String::as_str);
        Report {
            problem: &run.problem.id,
            method: run.method.id(),
            step: run.identification.plan().step(),
            data: &run.data,
            samples: found.times.len(),
            columns: found.columns.iter().map(|c| c.name.as_str()).collect(),
            parameters: &found.names,
            start: named(&found.start),
            values: named(&found.values),
            standard_errors: Pairs(names().zip(found.standard_errors.iter().copied()).collect()),
            intervals: Pairs(
                names()
                    .enumerate()
                    .map(|(i, name)| (name, found.interval95(i).map(|(a, b)| [a, b])))
                    .collect(),
            ),
            correlations: (0..n).map(|i| (0..n).map(|j| found.correlation(i, j)).collect()).collect(),
            sigma: Pairs(found.columns.iter().map(|c| (c.name.as_str(), c.sigma)).collect()),
            patterned: found.patterned(),
            edge: edge(run),
            held: Pairs(
                names().zip(&found.held).filter_map(|(n, side)| side.map(|s| (n, bound(s)))).collect(),
            ),
            sum_of_squares: found.sum_of_squares,
            degrees_of_freedom: found.degrees_of_freedom,
            rounds: found.rounds,
            iterations: found.iterations,
            evaluations: found.evaluations,
            converged: found.stopped.converged(),
            stopped: found.stopped.to_string(),
        }
    }
}

fn bound(side: Side) -> &'static str {
    match side {
        Side::Lower => "lower",
        Side::Upper => "upper",
    }
}

/// What holds an inertia.
fn edge(run: &Finished<'_>) -> Option<String> {
    let flat = &run.found.flat;
    let other = flat.iter().any(|name| name != "inertia");
    let names = if other { format!(" ({})", flat.join(", ")) } else { String::new() };
    (!flat.is_empty()).then(|| format!("held at the edge: the inertia is that of a flat body{names}"))
}

/// A number with two digits more than its error leaves certain.
fn rounded(x: f64, error: Option<f64>) -> String {
    match error {
        Some(error) if error > 0.0 && error.is_finite() => {
            let decimals = 1.0 - error.log10().floor();
            match decimals {
                d if (0.0..=15.0).contains(&d) && x.abs() < 1e7 => {
                    let text = format!("{x:.*}", d as usize);
                    // No sign before nothing.
                    match text.strip_prefix('-') {
                        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.into(),
                        _ => text,
                    }
                }
                _ => format!("{x:.6e}"),
            }
        }
        _ => plain(x),
    }
}

const NOISE: [Align; 6] = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left];

/// The deviations: all components of a quantity in a row, x y z or w x y z; columns of others by themselves.
fn noise(columns: &[ColumnFit]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for alike in columns.chunk_by(|a, b| a.quantity == b.quantity && a.known == b.known) {
        let whole = alike.len() == alike[0].components;
        let mut add = |name: &str, columns: &[ColumnFit]| {
            let mut cells = vec![name.to_string()];
            cells.extend(columns.iter().map(|column| small(column.sigma)));
            cells.resize(5, String::new());
            cells.push(if columns.iter().all(|column| column.known) {
                "given".into()
            } else {
                String::new()
            });
            rows.push(cells);
        };
        match whole {
            true => add(&alike[0].quantity, alike),
            false => alike.iter().for_each(|column| add(&column.name, std::slice::from_ref(column))),
        }
    }
    rows
}

/// Correlations that make two parameters hard to tell apart.
const STRONG: f64 = 0.95;

/// The result as a table.
pub fn text(run: &Finished<'_>) -> String {
    let (found, plan) = (&run.found, run.identification.plan());
    let problem = run.problem;
    let row = |name: &str, text: String| vec![name.to_string(), text];
    let (first, last) = (found.times.first().copied(), found.times.last().copied());
    let head = [
        row("problem", problem.heading()),
        row("method", format!("{}, {}", run.method.id(), run.method.title())),
        row(
            "steps",
            format!(
                "{} of {} s, to t = {} s",
                count(plan.steps(), "step"),
                plain(plan.step()),
                plain(plan.until())
            ),
        ),
        row(
            "data",
            format!(
                "{}: {} from t = {} to {} s, {}",
                run.data,
                count(found.times.len() as u64, "sample"),
                plain(first.unwrap_or(0.0)),
                plain(last.unwrap_or(0.0)),
                count(found.columns.len() as u64, "column")
            ),
        ),
    ];
    let mut text = table(0, &[Align::Left; 2], &head);
    if !found.stopped.converged() {
        text.push_str(&format!("\nwarning: {}; these are not the best parameters\n", found.stopped));
    }
    let cells = |list: [&str; 6]| list.map(String::from).to_vec();
    let mut rows = vec![cells(["", "start", "value", "error", "95 % interval", ""])];
    for (i, name) in found.names.iter().enumerate() {
        let error = found.standard_errors[i];
        let interval = found.interval95(i);
        rows.push(vec![
            name.clone(),
            plain(found.start[i]),
            rounded(found.values[i], error),
            error.map_or("-".into(), small),
            interval.map_or("-".into(), |(low, high)| {
                format!("{} to {}", rounded(low, error), rounded(high, error))
            }),
            found.held[i].map_or(String::new(), |side| format!("held at its {} bound", bound(side))),
        ]);
    }
    let align = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left];
    text.push_str("\nparameters\n");
    text.push_str(&table(2, &align, &rows));
    if let Some(edge) = edge(run) {
        text.push_str(&format!("  {edge}\n"));
    }
    text.push_str("\nnoise\n");
    text.push_str(&table(2, &NOISE, &noise(&found.columns)));
    let fit = [
        row(
            "residuals",
            format!(
                "norm {} in units of the noise, {}",
                small(found.sum_of_squares.sqrt()),
                count(found.degrees_of_freedom as u64, "degree") + " of freedom"
            ),
        ),
        row(
            "fit",
            format!(
                "{}, {} of the problem, {}",
                count(found.iterations as u64, "iteration"),
                count(found.evaluations as u64, "run"),
                count(found.rounds as u64, "round")
            ),
        ),
        row("", found.stopped.to_string()),
    ];
    text.push('\n');
    text.push_str(&table(0, &[Align::Left; 2], &fit));
    let n = found.names.len();
    let strong: Vec<Vec<String>> = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .filter_map(|(i, j)| {
            let r = found.correlation(i, j).filter(|r| r.abs() > STRONG)?;
            Some(vec![format!("{} and {}", found.names[i], found.names[j]), format!("{r:.4}")])
        })
        .collect();
    if !strong.is_empty() {
        text.push_str("\nstrong correlations: the data hardly distinguish these\n");
        text.push_str(&table(2, &[Align::Left, Align::Right], &strong));
    }
    text
}
