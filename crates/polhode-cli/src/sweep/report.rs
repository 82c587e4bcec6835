//! What a sweep comes to, for people and for programs.

use super::chunk::Head;
use super::stats::{Column, QUANTILES, Statistics};
use crate::print::{self, Align, count, duration, plain};
use serde_json::{Map, Value, json};

/// Runs that were computed, in which time, by how many threads.
pub type Timing = (u64, f64, usize);

/// What they have cost, if any were computed.
pub fn cost((computed, seconds, threads): Timing) -> Option<String> {
    (computed > 0).then(|| {
        format!(
            "{} per run on {}, {} in all",
            duration(seconds * threads as f64 / computed as f64),
            count(threads as u64, "thread"),
            duration(seconds)
        )
    })
}

/// How many runs there are, of one or all that were to be.
pub fn runs(head: &Head, all: &Statistics) -> String {
    match all.there() == head.runs {
        true => head.runs.to_string(),
        false => format!("{} of {}, the others are not computed yet", all.there(), head.runs),
    }
}

/// A number in five digits, in as few characters as that takes.
pub fn short(x: f64) -> String {
    match x.abs() {
        _ if x.is_nan() => "-".into(),
        0.0 => "0".into(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (4 - size.log10().floor() as i32).clamp(0, 7) as usize;
            let text = format!("{x:.digits$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').into(),
                false => text,
            }
        }
        _ => format!("{x:.3e}"),
    }
}

/// A number, or null where there is none.
fn number(x: f64) -> Value {
    if x.is_finite() { Value::from(x) } else { Value::Null }
}

fn block(column: &Column) -> Value {
    let quantiles: Map<String, Value> =
        QUANTILES.iter().zip(column.quantiles).map(|(part, x)| (plain(*part), number(x))).collect();
    let [mean, deviation, min, max] = match column.count {
        0 => [f64::NAN; 4],
        _ => [column.mean, column.deviation, column.min, column.max],
    };
    json!({
        "count": column.count,
        "mean": number(mean),
        "standard_deviation": number(deviation),
        "min": number(min),
        "max": number(max),
        "quantiles": quantiles,
    })
}

/// For programs.
pub fn json(head: &Head, all: &Statistics, out: Option<&str>, timing: Option<Timing>) -> Value {
    let about = head.facts();
    let columns = || head.columns.iter().zip(&all.columns);
    let blocks = |list: &mut dyn Iterator<Item = (&String, &Column)>| -> Map<String, Value> {
        list.map(|(name, column)| (name.clone(), block(column))).collect()
    };
    let reasons: Map<String, Value> =
        all.failed.iter().map(|(word, (count, _, _))| (word.clone(), json!(count))).collect();
    let examples: Map<String, Value> = all
        .failed
        .iter()
        .map(|(word, (_, run, reason))| (word.clone(), json!({ "run": run, "status": reason })))
        .collect();
    let mut object = Map::new();
    for key in ["problem", "title", "method", "step", "until", "runs", "sampling", "seed", "vary", "plan"] {
        object.insert(key.into(), about[key].clone());
    }
    object.insert("missing".into(), json!(head.runs.saturating_sub(all.there())));
    object.insert("ok".into(), json!(all.ok));
    object.insert("failed".into(), json!(all.failures()));
    object.insert("reasons".into(), Value::Object(reasons));
    object.insert("examples".into(), Value::Object(examples));
    object.insert("inputs".into(), Value::Object(blocks(&mut columns().take(head.inputs))));
    object.insert("values".into(), Value::Object(blocks(&mut columns().skip(head.inputs))));
    object.insert("units".into(), about["units"].clone());
    object.insert("out".into(), out.map_or(Value::Null, Value::from));
    if let Some((computed, seconds, threads)) = timing {
        object.insert("computed".into(), json!(computed));
        object.insert("seconds".into(), json!(seconds));
        object.insert("threads".into(), json!(threads));
    }
    Value::Object(object)
}

/// For people.
pub fn text(head: &Head, all: &Statistics, timing: Option<Timing>) -> String {
    let about = head.facts();
    let word = |key: &str| about[key].as_str().unwrap_or_default().to_string();
    let given = |key: &str| plain(about[key].as_f64().unwrap_or(f64::NAN));
    let problem = match word("title").is_empty() {
        true => word("problem"),
        false => format!("{}, {}", word("problem"), word("title")),
    };
    let mut runs = runs(head, all);
    if let (Some(sampling), Some(seed)) = (about["sampling"].as_str(), about["seed"].as_u64()) {
        runs.push_str(&format!(", {sampling}, seed {seed}"));
    }
    runs.push_str(&match all.failures() {
        0 => ", all to their end".to_string(),
        failed => format!(", {} to their end, {failed} failed", all.ok),
    });
    let method = format!("{}, step {} s, to t = {} s", word("method"), given("step"), given("until"));
    let mut rows = [["problem", &problem], ["method", &method], ["runs", &runs]]
        .map(|row| row.map(String::from).to_vec())
        .to_vec();
    rows.extend(timing.and_then(cost).map(|cost| vec!["cost".into(), cost]));
    let mut text = print::table(0, &[Align::Left, Align::Left], &rows);
    for (word, (number, run, reason)) in &all.failed {
        let line = format!("{} by {word}, as run {run}: {reason}", count(*number, "failure"));
        text.push_str(&format!("\n{}", print::paragraph(2, &line)));
    }
    let is_time = |name: &str| about["times"][name].is_array();
    let all_rows: Vec<(&String, &Column)> = head.columns.iter().zip(&all.columns).collect();
    let (inputs, values) = all_rows.split_at(head.inputs);
    text.push_str(&format!("\n{}", block_of(inputs)));
    let values: Vec<(&String, &Column)> = values.iter().copied().filter(|(name, _)| !is_time(name)).collect();
    if !values.is_empty() {
        text.push_str(&format!("\n{}", block_of(&values)));
    }
    let times = head.columns.len() - head.inputs - values.len();
    if times > 0 {
        text.push_str(&format!(
            "\nand {} at given times, in the table and in --json\n",
            count(times as u64, "value")
        ));
    }
    text
}

/// Columns with what is said of them, as wide as a screen.
fn block_of(columns: &[(&String, &Column)]) -> String {
    let mut rows = vec![["", "mean", "deviation", "5 %", "50 %", "95 %"].map(String::from).to_vec()];
    for (name, column) in columns {
        let [low, _, middle, _, high] = column.quantiles;
        let all = [column.mean, column.deviation, low, middle, high];
        let mut row = vec![name.to_string()];
        row.extend(all.map(|x| short(if column.count == 0 { f64::NAN } else { x })));
        rows.push(row);
    }
    print::stacked(&rows)
}
