//! `polhode compare --error`: what each method needs to be as good as asked for.

use super::usual;
use crate::args::CompareOptions;
use crate::error_control;
use crate::failure::Failure;
use crate::files::{Format, NewFile};
use crate::reference::reference;
use crate::{interrupt, pick, print, timing};
use core::ops::ControlFlow;
use polhode::check::{Cause, Reached};
use polhode::method::Method;
use polhode::problem::{Model, Problem, Reference, RunReport};
use polhode::run::Plan;

mod plot;
mod report;

/// What methods need for given errors.
#[derive(Debug)]
pub struct Precision {
    /// The problem.
    pub problem: Problem,
    /// The end time.
    pub until: f64,
    /// The errors asked for, from large to small.
    pub tolerances: Vec<f64>,
    /// The reference that errors are measured against, in addition to their estimates, or why there is no reference.
    pub source: Result<String, String>,
    /// One for each method.
    pub rows: Vec<Row>,
}

/// One method.
#[derive(Debug)]
pub struct Row {
    /// The method.
    pub method: Method,
    /// What it needs for each error, or why it does not get there.
    pub needs: Vec<Result<Need, String>>,
}

/// What a method needs for an error.
#[derive(Debug)]
pub struct Need {
    /// The step and the estimated error.
    pub found: Reached,
    /// The run with it.
    pub end: RunReport,
    /// Its time in s, in the fastest of some runs.
    pub seconds: f64,
    /// How wrong it is at the end, where that is known.
    pub error: Option<f64>,
}

/// The methods that are worth comparing: one of high order is among them.
fn methods<'a>(problem: &'a Problem, model: &Model) -> Vec<&'a str> {
    let mut list = usual(problem, model);
    if model.group() != "system" {
        list.extend(["mkrk:rk4", "mkrk:gauss3"]);
    }
    list
}

/// The error of a run in the measure of its estimate.
fn error_of(reference: &Reference, end: &RunReport, found: &Reached) -> f64 {
    let errors = reference.errors(&end.last);
    let moved = errors.position.zip(found.size).map_or(0.0, |(gap, size)| gap / size);
    errors.attitude_angle().max(moved)
}

/// Looks for the steps of one method; `None` if the user stopped it.
fn row(
    model: &Model,
    method: Method,
    until: f64,
    tolerances: &[f64],
    budget: f64,
    reference: Option<&Reference>,
) -> Option<Row> {
    let mut search = error_control::search(model, &method, until, budget);
    let mut needs = Vec::new();
    for tolerance in tolerances {
        let found = match error_control::find(&mut search, method.id(), *tolerance) {
            Ok(found) => found,
            Err(error) if error.cause == Cause::Stopped => return None,
            Err(error) => {
                needs.push(Err(error.to_string()));
                continue;
            }
        };
        let mut watch =
            |_| if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let ended = Plan::new(found.step, until).map_err(|error| error.to_string()).and_then(|plan| {
            timing::best(model, &method, &plan, &mut watch).map_err(|failed| failed.to_string())
        });
        needs.push(match ended {
            Ok((end, _)) if !end.finished => return None,
            Ok((end, ns)) => {
                let error = reference.map(|reference| error_of(reference, &end, &found));
                Ok(Need { seconds: ns * 1e-9 * end.steps as f64, error, found, end })
            }
            Err(reason) => Err(reason),
        });
    }
    let spent = search.spent().as_secs_f64();
    print::detail(|| format!("search: {}, {}", method.id(), print::duration(spent)));
    Some(Row { method, needs })
}

/// Does it.
pub fn command(options: &CompareOptions) -> Result<(), Failure> {
    let problem = pick::problem(&options.problem, &options.set)?;
    // Any step that suits the end time does until one is found.
    let whole = options.until.or(Some(problem.until)).filter(|until| *until > 0.0 && until.is_finite());
    let until = pick::plan(&problem, whole, options.until)?.until();
    let model = problem.model()?;
    pick::unstopped(&model, "compare")?;
    pick::covers(&model, until)?;
    let methods = pick::methods(&problem, &model, &options.methods, &methods(&problem, &model))?;
    print::detail(|| {
        let ids: Vec<&str> = methods.iter().map(Method::id).collect();
        format!("model: {}; methods: {}", problem.id, ids.join(", "))
    });
    let mut file = options.plot.as_deref().map(|path| NewFile::create(path, Format::Plot)).transpose()?;
    let mut tolerances = options.error.clone();
    tolerances.sort_by(|a, b| b.total_cmp(a));
    tolerances.dedup();

    let stopped = || Failure::Interrupted("stopped before the comparison was done".into());
    let reference = reference(&model, until, "").ok_or_else(stopped)?.map_err(|error| error.reason);
    let mut rows = Vec::new();
    for method in methods {
        let row = row(&model, method, until, &tolerances, options.budget, reference.as_ref().ok());
        rows.push(row.ok_or_else(stopped)?);
    }
    let source = reference.map(|reference| reference.source);
    let precision = Precision { problem, until, tolerances, source, rows };
    let failures = || precision.rows.iter().flat_map(|row| &row.needs).filter_map(|need| need.as_ref().err());
    let all_failed = precision.rows.iter().flat_map(|row| &row.needs).all(Result::is_err);
    if let Some(file) = file.take()
        && !all_failed
    {
        plot::drawing(&precision).write(file)?;
    }
    if options.json {
        print::json(&report::Report::new(&precision))?;
    } else {
        print::result(&report::text(&precision))?;
    }
    if all_failed {
        let first = failures().next().map_or("", String::as_str);
        return Err(Failure::Solver(format!("no method gets there; the first: {first}")));
    }
    Ok(())
}
