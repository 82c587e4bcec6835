//! What methods need, for people and for programs.

use super::{Need, Precision, Row};
use crate::blocks::Newton;
use crate::error_control::measure;
use crate::print::{self, duration, plain, small};
use crate::timing;
use serde::Serialize;

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    problem: &'a str,
    until: f64,
    reference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_reference: Option<&'a str>,
    rows: Vec<RowBlock<'a>>,
    recommended: Option<&'a str>,
    recommendation: String,
}

#[derive(Debug, Serialize)]
struct RowBlock<'a> {
    method: &'a str,
    order_claimed: u32,
    needs: Vec<NeedBlock<'a>>,
}

#[derive(Debug, Serialize)]
struct NeedBlock<'a> {
    tolerance: f64,
    reached: bool,
    #[serde(flatten)]
    need: Option<Found>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Found {
    step: f64,
    steps: u64,
    estimate: f64,
    estimate_along: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_of_motion: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_at_end: Option<f64>,
    newton: Newton,
    seconds: f64,
    ns_per_step: f64,
}

impl From<&Need> for Found {
    fn from(need: &Need) -> Self {
        let found = &need.found;
        Found {
            step: found.step,
            steps: need.end.steps,
            estimate: found.estimate,
            estimate_along: found.estimate_along,
            size_of_motion: found.size,
            error_at_end: need.error,
            newton: Newton::from(&need.end),
            seconds: need.seconds,
            ns_per_step: need.seconds * 1e9 / need.end.steps.max(1) as f64,
        }
    }
}

impl<'a> Report<'a> {
    /// Reads everything off a comparison.
    pub fn new(precision: &'a Precision) -> Self {
        let row = |row: &'a Row| RowBlock {
            method: row.method.id(),
            order_claimed: row.method.order(),
            needs: precision
                .tolerances
                .iter()
                .zip(&row.needs)
                .map(|(tolerance, need)| NeedBlock {
                    tolerance: *tolerance,
                    reached: need.is_ok(),
                    need: need.as_ref().ok().map(Found::from),
                    failure: need.as_ref().err().map(String::as_str),
                })
                .collect(),
        };
        let (recommended, recommendation) = recommendation(precision);
        Report {
            problem: &precision.problem.id,
            until: precision.until,
            reference: precision.source.as_ref().ok().map(String::as_str),
            no_reference: precision.source.as_ref().err().map(String::as_str),
            rows: precision.rows.iter().map(row).collect(),
            recommended,
            recommendation,
        }
    }
}

/// The methods that reach the error with this number, the fastest first.
fn ranking(precision: &Precision, k: usize) -> Vec<(&str, f64)> {
    let time = |row: &'_ Row| row.needs.get(k)?.as_ref().ok().map(|need| need.seconds);
    let mut list: Vec<(&str, f64)> =
        precision.rows.iter().filter_map(|row| Some((row.method.id(), time(row)?))).collect();
    list.sort_by(|a, b| a.1.total_cmp(&b.1));
    list
}

/// The method to use, and why: the fastest at the smallest error that any of them reaches.
fn recommendation(precision: &Precision) -> (Option<&str>, String) {
    let tolerances = &precision.tolerances;
    let reached = (0..tolerances.len()).rev().find(|k| !ranking(precision, *k).is_empty());
    let Some(k) = reached else { return (None, "No method reaches any of these errors.".into()) };
    let list = ranking(precision, k);
    let (best, seconds) = list[0];
    let mut text = format!("Use {best}: it reaches {} in {}", plain(tolerances[k]), duration(seconds));
    match list.get(1) {
        Some((next, time)) => {
            text += &format!("; the next, {next}, takes {:.1} times as long", time / seconds)
        }
        None => text += ", and no other gets there",
    }
    // What is faster where less is asked for is worth a word.
    let otherwise = (0..k).find_map(|k| {
        let (id, time) = *ranking(precision, k).first()?;
        (id != best).then(|| {
            format!("; for {} alone {id} is the fastest, in {}", plain(tolerances[k]), duration(time))
        })
    });
    text.extend(otherwise);
    text.push('.');
    (Some(best), text)
}

/// The table of `polhode compare --error`: each method above its rows.
pub fn text(precision: &Precision) -> String {
    let known = precision.source.is_ok();
    let mut head = vec!["asked for", "step", "steps", "newton", "time", "estimate"];
    if known {
        head.push("at the end");
    }
    let mut rows = vec![head.iter().map(|name| name.to_string()).collect::<Vec<_>>()];
    for row in &precision.rows {
        for (tolerance, need) in precision.tolerances.iter().zip(&row.needs) {
            let mut cells = vec![plain(*tolerance)];
            if let Ok(need) = need {
                let newton = match row.method.is_explicit() {
                    true => "-".into(),
                    false => need.end.work.iterations.to_string(),
                };
                cells.extend([format!("{:.3e}", need.found.step), need.end.steps.to_string(), newton]);
                cells.extend([duration(need.seconds), small(need.found.estimate_along)]);
                cells.extend(need.error.map(small));
            }
            cells.resize(head.len(), "-".into());
            rows.push(cells);
        }
    }
    let mut lines = print::lines(2, &rows).into_iter();
    let needs = || precision.rows.iter().flat_map(|row| &row.needs).flatten();
    let end = if known { ", and how wrong the run is at its end" } else { "" };
    let mut about = vec![
        precision.problem.heading(),
        format!(
            "what each method needs, runs to t = {} s: step in s, steps, Newton iterations, time, the largest error along \
             the run as it is estimated{end}",
            plain(precision.until)
        ),
    ];
    about.extend(needs().next().map(|need| measure(&need.found)));
    about.push(timing::words().replace("cost of a step", "time"));
    about.push(match &precision.source {
        Ok(source) => format!("reference, which no step was chosen by: {source}"),
        Err(reason) => format!("no reference: {reason}"),
    });
    let mut text: String = about.iter().map(|line| print::paragraph(0, line)).collect();
    text.push('\n');
    text.extend(lines.next());
    for row in &precision.rows {
        text.push_str(&print::paragraph(0, &format!("{}, order {}", row.method.id(), row.method.order())));
        for need in &row.needs {
            text.extend(lines.next());
            if let Err(reason) = need {
                text.push_str(&print::paragraph(6, reason));
            }
        }
    }
    text.push('\n');
    text.push_str(&print::paragraph(0, &recommendation(precision).1));
    text
}
