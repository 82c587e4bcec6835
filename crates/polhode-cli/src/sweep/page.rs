//! A sweep as one page for browsers: what was run, what came of it in numbers and pictures, and from which settings.

use super::chunk::Head;
use super::join::Joined;
use super::plot::{Pictures, pictures};
use super::report::{Timing, cost, runs, short};
use super::stats::{Column, QUANTILES, Statistics};
use crate::failure::Failure;
use crate::plot::{Panel, apart};
use crate::print::plain;
use crate::report::{STYLE, escape, fill};
use serde_json::Value;

const PAGE: &str = include_str!("../../assets/sweep.html");
/// The inner size of a panel.
const SIZE: (f64, f64) = (330.0, 190.0);

/// The page, which needs nothing beside itself.
pub fn html(
    rows: &Joined,
    head: &Head,
    all: &Statistics,
    table: Option<&str>,
    timing: Option<Timing>,
) -> Result<String, Failure> {
    let about = head.facts();
    let pictures = pictures(rows, head, all)?;
    let mut body = card("side", &[run(head, all, &about, table, timing), failures(all)].concat());
    let is_time = |c: &usize| about["times"][&head.columns[*c]].is_array();
    let (times, values): (Vec<usize>, Vec<usize>) = (head.inputs..head.columns.len()).partition(is_time);
    let inputs: Vec<usize> = (0..head.inputs).collect();
    let block = |columns: &[usize]| numbers(columns, head, all, &about);
    let mut told = String::new();
    if !values.is_empty() {
        told.push_str(&titled("What came of it", &block(&values)));
    }
    told.push_str(&titled("What varied", &block(&inputs)));
    if !times.is_empty() {
        let more =
            format!("<details>\n<summary>{} values</summary>\n{}</details>\n", times.len(), block(&times));
        told.push_str(&titled("Values at given times", &more));
    }
    body.push_str(&section("Numbers of the runs that came to their end", &told));
    body.push_str(&drawn(&pictures));
    body.push_str(&section("Settings", &card("side", &settings(&about))));
    let title = about["title"].as_str().filter(|title| !title.is_empty());
    let title = escape(title.or(about["problem"].as_str()).unwrap_or_default());
    let parts = [
        ("{{title}}", title.clone()),
        ("{{style}}", STYLE.into()),
        ("{{title}}", title),
        ("{{subtitle}}", escape(&pictures.caption)),
        ("{{body}}", body),
    ];
    Ok(fill(PAGE, parts))
}

fn section(title: &str, inner: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n{inner}</section>\n", escape(title))
}

fn card(class: &str, inner: &str) -> String {
    format!("<div class=\"{class}\">\n{inner}</div>\n")
}

fn titled(title: &str, inner: &str) -> String {
    card("card", &format!("<h2>{}</h2>\n{inner}", escape(title)))
}

/// Names and what they are.
fn pairs<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let row = |(name, text): (&str, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(&text))
    };
    format!("<table>\n{}</table>\n", rows.into_iter().map(row).collect::<String>())
}

/// What was run.
fn run(head: &Head, all: &Statistics, about: &Value, table: Option<&str>, timing: Option<Timing>) -> String {
    let given = |key: &str| plain(about[key].as_f64().unwrap_or(f64::NAN));
    let mut rows = vec![
        ("model", about["problem"].as_str().unwrap_or_default().to_string()),
        ("method", about["method"].as_str().unwrap_or_default().to_string()),
        ("step", format!("{} s", given("step"))),
        ("end", format!("{} s", given("until"))),
        ("runs", runs(head, all)),
        ("to their end", all.ok.to_string()),
        ("failed", all.failures().to_string()),
    ];
    if let (Some(sampling), Some(seed)) = (about["sampling"].as_str(), about["seed"].as_u64()) {
        rows.extend([("sampling", sampling.to_string()), ("seed", seed.to_string())]);
    }
    rows.extend(timing.and_then(cost).map(|cost| ("cost", cost)));
    rows.extend(table.map(|table| ("table", table.to_string())));
    titled("What was run", &pairs(rows))
}

/// Why runs failed, if any did.
fn failures(all: &Statistics) -> String {
    if all.failed.is_empty() {
        return String::new();
    }
    let row = |(word, (count, run, reason)): (&String, &(u64, u64, String))| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{count}</td><td>run {run}: {}</td></tr>\n",
            escape(word),
            escape(reason)
        )
    };
    let rows: String = all.failed.iter().map(row).collect();
    let head = "<tr><th>by</th><th>runs</th><th>the first</th></tr>\n";
    titled("Failures", &format!("<table>\n{head}{rows}</table>\n"))
}

/// Moments, extremes and quantiles of columns.
fn numbers(columns: &[usize], head: &Head, all: &Statistics, about: &Value) -> String {
    let parts = QUANTILES.map(|part| format!("{} %", plain(100.0 * part)));
    let [low, quarter, half, three, high] = &parts;
    let names = ["unit", "mean", "deviation", "least", low, quarter, half, three, high, "largest", "runs"];
    let mut text = String::from("<table class=\"numbers\">\n<tr><th></th>");
    text.extend(names.map(|name| format!("<th>{name}</th>")));
    text.push_str("</tr>\n");
    for c in columns {
        let (name, column) = (&head.columns[*c], &all.columns[*c]);
        text.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(name)));
        text.push_str(&format!("<td>{}</td>", escape(about["units"][name].as_str().unwrap_or_default())));
        let Column { mean, deviation, min, max, quantiles: [a, b, c, d, e], .. } = *column;
        let known = |x: f64| short(if column.count == 0 { f64::NAN } else { x });
        text.extend([mean, deviation, min, a, b, c, d, e, max].map(|x| format!("<td>{}</td>", known(x))));
        text.push_str(&format!("<td>{}</td></tr>\n", column.count));
    }
    text.push_str("</table>\n");
    text
}

/// Each panel by itself, so that a narrow page has them below each other.
fn drawn(pictures: &Pictures) -> String {
    let mut number = 0;
    let mut figures = |panels: &[Panel]| -> String {
        let one = |drawing: crate::plot::Drawing| {
            number += 1;
            drawing.svg_named(&format!("plot{number}-"))
        };
        card("plots", &apart(panels, SIZE).into_iter().map(one).collect::<String>())
    };
    let mut text = String::new();
    if !pictures.bands.is_empty() {
        text.push_str(&section("Over time", &figures(&pictures.bands)));
    }
    let mut values = String::new();
    for (name, panels) in &pictures.values {
        values.push_str(&format!("<h3>{}</h3>\n{}", escape(name), figures(panels)));
    }
    if !values.is_empty() {
        text.push_str(&section("How often, and over what varies", &values));
    }
    text
}

/// All that the sweep was made from.
fn settings(about: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => {
            all.iter().map(|x| x.as_f64().map_or_else(|| x.to_string(), plain)).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    let listed = |key: &str| {
        let all = about[key].as_object().into_iter().flatten();
        all.map(|(name, value)| (name.as_str(), text(value))).collect::<Vec<_>>()
    };
    let mut out = String::new();
    let mut add = |title: &str, rows: Vec<(&str, String)>| {
        if !rows.is_empty() {
            out.push_str(&titled(title, &pairs(rows)));
        }
    };
    add("What varies", listed("vary"));
    let set = about["set"].as_array().into_iter().flatten().filter_map(Value::as_str);
    add("Set", set.filter_map(|set| set.split_once('=')).map(|(name, to)| (name, to.into())).collect());
    add("Parameters", listed("parameters"));
    let program = about["polhode"].as_str().unwrap_or_default().to_string();
    add("Program", vec![("polhode", program), ("plan", text(&about["plan"]))]);
    out
}
