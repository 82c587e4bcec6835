//! A finished run for people.

use super::{Finished, system};
use crate::phase::Frequencies;
use crate::print::{Align, count, duration, plain, small, table};
use polhode::problem::{Invariance, RunReport};
use polhode::run::{Estimate, Snapshot};

/// The name and unit of a drift; that of a length is relative to the start unless it starts from zero.
fn words<'a>(quantity: &'a str, end: &RunReport, start: &Snapshot) -> (&'a str, &'static str) {
    match quantity {
        "energy" if end.joints.as_ref().is_some_and(|joints| joints.work.is_some()) => {
            ("energy less work done", end.drift.energy.map_or("J", |energy| energy.unit()))
        }
        "energy" => ("energy", end.drift.energy.map_or("J", |energy| energy.unit())),
        "momentum_space" => ("angular momentum in space", "kg m²/s"),
        "linear_momentum_space" => ("linear momentum in space", "kg m/s"),
        "momentum_body" => {
            let from_zero = start.body().is_none_or(|body| body.momentum_body.norm() == 0.0);
            ("length of body momentum", if from_zero { "kg m²/s" } else { "relative" })
        }
        "momentum_vertical" => ("vertical momentum in space", "kg m²/s"),
        "momentum_axial" => ("momentum about body axis 3", "kg m²/s"),
        other => (other, ""),
    }
}

/// What ran, what it cost, what drifted and how wrong it is.
pub fn text(run: &Finished) -> String {
    let (end, plan, method) = (&run.end, &run.plan, &run.method);
    let row = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect::<Vec<String>>();

    // A last step that differs by round-off is not worth a word.
    let short = match &run.events.stopped {
        Some(event) => format!(", ended by the event '{event}'"),
        None if plan.size(plan.steps() - 1) < 0.999 * plan.step() => ", the last one shorter".into(),
        None => String::new(),
    };
    let span = format!(
        "{} of {} s, to t = {} s{short}",
        count(end.steps, "step"),
        plain(plan.step()),
        plain(end.last.t)
    );
    let mut head = vec![
        row(&["problem", &run.problem.heading()]),
        row(&["method", &format!("{}, {}, order {}", method.id(), method.title(), method.order())]),
        row(&["run", &span]),
        row(&[
            "cost",
            &format!("{} per step, {} in all", duration(run.ns_per_step() * 1e-9), duration(run.seconds)),
        ]),
    ];
    if !method.is_explicit() {
        let mut newton = format!("{:.2} iterations per step", run.iterations_per_step());
        newton += &format!(", at most {} in a solve", end.work.most_iterations);
        if end.work.retries > 0 {
            newton += &format!(", {} retried with more care", count(end.work.retries, "solve"));
        }
        head.push(row(&["newton", &newton]));
    }
    if let Some(control) = &run.control {
        let [error, how, measure] = control.lines();
        head.extend([row(&["error", &error]), row(&["", &how]), row(&["", &measure])]);
    }
    head.extend(system::freedom(end).map(|words| row(&["freedom", &words])));
    head.extend(system::changed(end).iter().map(|words| row(&["start", words])));
    let mut text = table(0, &[Align::Left, Align::Left], &head);

    let start = run.model.start();
    let mut drifts: Vec<Vec<String>> = end
        .drift
        .list()
        .into_iter()
        .map(|(quantity, value)| {
            let (name, unit) = words(quantity, end, &start);
            let note = match run.model.invariance_of(method, quantity) {
                Invariance::Promised => "kept by the method",
                Invariance::NotPromised => "invariant, no claim",
                Invariance::NotInvariant => "not invariant here",
            };
            row(&[name, &small(value), unit, note])
        })
        .collect();
    drifts.extend(end.joints.iter().flat_map(|joints| system::violations(&joints.violation)));
    // As wide as the drift, so that the numbers stand under each other.
    let width = drifts.iter().map(|d| d[0].chars().count()).max().unwrap_or(0);
    let block = |title: &str, mut rows: Vec<Vec<String>>| {
        if let Some(first) = rows.first_mut() {
            first[0] = format!("{:<width$}", first[0]);
        }
        format!("\n{title}\n{}", table(2, &[Align::Left; 4], &rows))
    };
    text.push_str("\nlargest drift over the run\n");
    text.push_str(&table(2, &[Align::Left; 4], &drifts));

    text.extend(run.events.text());
    if !end.last.is_single() {
        let places =
            table(2, &[Align::Left, Align::Right, Align::Right, Align::Right], &system::places(&end.last));
        text.push_str(&format!("\npositions at the end, m\n{places}"));
    }
    match &run.errors {
        Ok((errors, source)) => {
            let mut rows = vec![
                row(&["attitude", &small(errors.attitude), "2-norm of the difference of the matrices"]),
                row(&["", &small(errors.attitude_angle()), "rad, the angle between them"]),
                row(&["body momentum", &small(errors.momentum), "kg m²/s"]),
            ];
            rows.extend(errors.position.map(|x| row(&["position", &small(x), "m"])));
            text.push_str(&block(&format!("error at the end, reference: {source}"), rows));
        }
        Err(reason) => text.push_str(&format!("\nno reference: {reason}\n")),
    }
    if let Some(seen) = &run.frequencies {
        let (title, rows) = frequencies(seen);
        text.push_str(&block(&title, rows));
    }
    match &run.estimate {
        Some(Some(seen)) => {
            text.push_str(&block("change of energy in a step, and its estimate", estimate(seen)));
        }
        Some(None) => text.push_str("\nno estimate of the energy: a load has no potential\n"),
        None => {}
    }
    text
}

/// What repeats in the motion, how often, and how wrong that is.
fn frequencies(seen: &Frequencies) -> (String, Vec<Vec<String>>) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, value: Option<f64>, unit: &str, error: Option<f64>| {
        let error = error.map_or(String::new(), |e| format!("relative error {}", small(e)));
        rows.extend(value.map(|x| vec![name.into(), format!("{x:.7}"), unit.into(), error]));
    };
    row("flip interval", seen.flip_interval, "s", seen.flip_interval_error);
    row("nutation", seen.nutation, "rad/s", seen.nutation_error);
    row("precession", seen.precession, "rad/s", seen.precession_error);
    row("precession, fitted line", seen.precession_fit, "rad/s", seen.precession_fit_error);
    row("least tilt", seen.tilt_min, "rad", None);
    row("greatest tilt", seen.tilt_max, "rad", None);
    let title = match (seen.flips, seen.periods) {
        (Some(n), _) => format!("frequencies, {}", count(n, "flip")),
        (None, n) => format!("frequencies, {}", count(n.unwrap_or(0), "whole nutation")),
    };
    (title, rows)
}

/// What the steps did to the energy beside what their starts said of it.
fn estimate(seen: &Estimate) -> Vec<Vec<String>> {
    let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
    let steps = count(seen.steps, "step");
    let mut rows = vec![
        row(["largest change", &small(seen.max_energy), "J"]),
        row(["largest estimate", &small(seen.max_potential), "J"]),
        row(["change within the estimate", &seen.bounded.to_string(), &format!("of {steps}")]),
        row(["the same with signs", &seen.bounded_signed.to_string(), &format!("of {steps}")]),
    ];
    rows.extend(seen.ratio.map(|x| row(["change over estimate", &small(x), "least squares"])));
    rows.push(row(["kinetic estimate", &small(seen.kinetic), "J"]));
    rows
}
