//! `polhode compare`: one problem, one step, several methods side by side.

mod precision;
mod report;

use crate::args::CompareOptions;
use crate::failure::Failure;
use crate::phase::{Frequencies, Phase};
use crate::progress::Progress;
use crate::reference::reference;
use crate::{interrupt, pick, print, timing};
use core::ops::ControlFlow;
use polhode::method::Method;
use polhode::problem::{Errors, Model, Problem, Reference, RunReport};
use polhode::run::Plan;

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
    pub end: RunReport,
    /// Distance from the reference, where there is one.
    pub errors: Option<Errors>,
    /// Its frequencies, where the exact motion has any.
    pub frequencies: Option<Frequencies>,
    /// Cost of a step, in the fastest of some runs.
    pub ns_per_step: f64,
}

/// The methods that are worth comparing on a problem.
fn usual<'a>(problem: &'a Problem, model: &Model) -> Vec<&'a str> {
    match problem.id.as_str() {
        _ if model.group() == "system" => vec!["geometric-alpha", "linear-alpha", "residual-alpha"],
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
        _ => vec![&problem.method, "imidm", "swc1", "akw", "convected-reduced"],
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
    let mut watch = |n: u64| {
        progress.at(n, || method.id().to_string());
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (end, ns_per_step) = match timing::best(model, &method, plan, &mut watch) {
        Ok((end, _)) if !end.finished => return None,
        Ok(found) => found,
        Err(failed) => return Some(Row { method, run: Err(failed.to_string()) }),
    };
    // A further run for the frequencies: watching every step does not count as its cost.
    let phase = match model.frequencies() {
        None => None,
        Some(_) => {
            let mut phase = Phase::new(model);
            let again = model.run(&method, plan, &mut |n, run| {
                phase.observe(&run.snapshot());
                watch(n)
            });
            if !again.is_ok_and(|again| again.finished) {
                return None;
            }
            Some(phase)
        }
    };
    progress.pass(plan.steps());
    let errors = match reference.map(|reference| reference.errors(&end.last).checked()).transpose() {
        Ok(errors) => errors,
        Err(error) => return Some(Row { method, run: Err(error.reason) }),
    };
    let frequencies = phase.map(|phase| phase.frequencies());
    Some(Row { method, run: Ok(Run { end, errors, frequencies, ns_per_step }) })
}

/// Does it.
pub fn command(options: &CompareOptions) -> Result<(), Failure> {
    if !options.error.is_empty() {
        return precision::command(options);
    }
    let problem = pick::problem(&options.problem, &options.set)?;
    let plan = pick::plan(&problem, options.step, options.until)?;
    let model = problem.model()?;
    pick::unstopped(&model, "compare")?;
    pick::covers(&model, plan.until())?;
    let methods = pick::methods(&problem, &model, &options.methods, &usual(&problem, &model))?;
    print::detail(|| {
        let ids: Vec<&str> = methods.iter().map(Method::id).collect();
        format!("model: {}; methods: {}", problem.id, ids.join(", "))
    });

    let stopped = || Failure::Interrupted("stopped before the comparison was done".into());
    let reference = match reference(&model, plan.until(), "") {
        Some(found) => found.map_err(|error| error.reason),
        None => return Err(stopped()),
    };
    let mut progress = Progress::new(plan.steps().saturating_mul(methods.len() as u64));
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
