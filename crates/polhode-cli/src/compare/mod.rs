//! `polhode compare`: one problem, one step, several methods side by side.

mod report;

use crate::args::CompareOptions;
use crate::failure::Failure;
use crate::phase::{Frequencies, Phase};
use crate::progress::Progress;
use crate::reference::reference;
use crate::{interrupt, pick, print};
use core::ops::ControlFlow;
use polhode::method::Method;
use polhode::problem::{Ended, Errors, Model, Problem, Reference};
use polhode::run::Plan;
use std::time::Instant;

/// A finished comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The problem.
    pub problem: Problem,
    /// The body and its start.
    pub model: Model,
    /// The steps of every run.
    pub plan: Plan,
    /// What the errors are measured against, or why there are none.
    pub source: Result<String, String>,
    /// One for each method.
    pub rows: Vec<Row>,
}

/// One method and its run, or why it failed.
#[derive(Debug)]
pub struct Row {
    /// The method.
    pub method: Method,
    /// Its run.
    pub run: Result<Run, String>,
}

/// One run.
#[derive(Debug)]
pub struct Run {
    /// How it ended.
    pub end: Ended,
    /// Distance from the reference, where there is one.
    pub errors: Option<Errors>,
    /// Its frequencies, where the exact motion has any.
    pub frequencies: Option<Frequencies>,
    /// Cost of a step.
    pub ns_per_step: f64,
}

/// The methods that are worth comparing on a problem.
fn usual(problem: &Problem) -> Vec<&'static str> {
    match problem.id {
        // They turn about h times the mean velocity, of length a, by 2 atan(a/2), a and 4 atan(a/4): energy and momentum
        // are kept alike, the phase is not. The first three are one in free rotation.
        "flying-brick" => vec![
            "convected-reduced",
            "akw",
            "preserving:cayley",
            "preserving:exp",
            "preserving:wiener-milenkovic",
        ],
        "heavy-top" => vec!["geometric-alpha", "linear-alpha", "residual-alpha", "imidm", "galpha:exp"],
        _ => vec![problem.method, "imidm", "swc1", "akw", "convected-reduced"],
    }
}

/// Runs one method; `None` if the user stopped it.
fn row(
    model: &Model,
    method: Method,
    plan: &Plan,
    reference: Option<&Reference>,
    progress: &mut Progress,
) -> Option<Row> {
    let mut go = |phase: &mut Option<Phase>| {
        let ended = model.run(&method, plan, &mut |n, snapshot| {
            progress.at(n, || method.id().to_string());
            if let Some(phase) = phase {
                phase.observe(&snapshot());
            }
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        progress.pass(plan.steps());
        ended
    };
    let started = Instant::now();
    let end = match go(&mut None) {
        Ok(end) if !end.finished => return None,
        Ok(end) => end,
        Err(failed) => return Some(Row { method, run: Err(failed.to_string()) }),
    };
    let ns_per_step = started.elapsed().as_secs_f64() * 1e9 / end.steps.max(1) as f64;
    // A second run for the frequencies: watching every step is no part of its cost.
    let mut phase = model.frequencies().map(|_| Phase::new(model));
    if phase.is_some() && !go(&mut phase).is_ok_and(|again| again.finished) {
        return None;
    }
    let errors = match reference.map(|reference| reference.errors(&end.last).checked()).transpose() {
        Ok(errors) => errors,
        Err(error) => return Some(Row { method, run: Err(error.reason) }),
    };
    let frequencies = phase.map(|phase| phase.frequencies());
    Some(Row { method, run: Ok(Run { end, errors, frequencies, ns_per_step }) })
}

/// Does it.
pub fn command(options: &CompareOptions) -> Result<(), Failure> {
    let problem = pick::problem(&options.problem, &options.set)?;
    let plan = Plan::new(options.step.unwrap_or(problem.step), options.until.unwrap_or(problem.until))?;
    let model = problem.model()?;
    if model.group() == "system" {
        return Err(Failure::Usage(format!(
            "{}: compare is for single bodies; `polhode converge {} --methods all` has the methods for systems side by side",
            problem.id, problem.id
        )));
    }
    let methods = pick::methods(&model, &options.methods, &usual(&problem))?;

    let stopped = || Failure::Interrupted("stopped before the comparison was done".into());
    let reference = match reference(&model, plan.until(), "") {
        Some(found) => found.map_err(|error| error.reason),
        None => return Err(stopped()),
    };
    let runs = methods.len() as u64 * if model.frequencies().is_some() { 2 } else { 1 };
    let mut progress = Progress::new(plan.steps().saturating_mul(runs));
    let mut rows = Vec::new();
    for method in methods {
        let row = row(&model, method, &plan, reference.as_ref().ok(), &mut progress);
        rows.push(row.ok_or_else(stopped)?);
    }
    progress.clear();
    let source = reference.map(|reference| reference.source);
    let comparison = Comparison { problem, model, plan, source, rows };
    if options.json {
        print::json(&report::Report::new(&comparison))?;
    } else {
        print::result(&report::text(&comparison))?;
    }
    let failures = comparison.rows.iter().filter_map(|row| row.run.as_ref().err());
    if failures.clone().count() == comparison.rows.len() {
        let first = failures.clone().next().map_or("", String::as_str);
        return Err(Failure::Solver(format!("every run failed; the first: {first}")));
    }
    Ok(())
}
