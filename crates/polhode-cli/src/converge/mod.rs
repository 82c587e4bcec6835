//! `polhode converge`: errors over steps, and the order that follows from them.

mod measure;
pub mod plot;
mod report;

use crate::args::ConvergeOptions;
use crate::failure::Failure;
use crate::files::{Format, NewFile};
use crate::progress::Progress;
use crate::reference::reference;
use crate::{pick, print};
use measure::{Series, measure};
use polhode::method::Method;
use polhode::problem::{Model, Problem};
use polhode::run::Plan;

/// A finished comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The problem.
    pub problem: Problem,
    /// The body and its start.
    pub model: Model,
    /// The end time.
    pub until: f64,
    /// What the errors are measured against.
    pub source: String,
    /// One for each method.
    pub series: Vec<Series>,
}

/// The plans asked for, from coarse to fine.
fn plans(options: &ConvergeOptions, step: f64, until: f64) -> Result<Vec<Plan>, Failure> {
    let steps = match options.steps.as_slice() {
        [] => [4.0, 2.0, 1.0, 0.5].map(|factor| factor * step).to_vec(),
        steps => steps.to_vec(),
    };
    let mut plans = steps.iter().map(|step| Plan::new(*step, until)).collect::<Result<Vec<_>, _>>()?;
    plans.sort_by(|a, b| b.step().total_cmp(&a.step()));
    if let Some(pair) = plans.windows(2).find(|pair| pair[0].step() == pair[1].step()) {
        let step = print::plain(pair[0].step());
        return Err(Failure::Usage(format!("--steps has {step} twice; leave one of them out")));
    }
    Ok(plans)
}

/// Does it.
pub fn command(options: &ConvergeOptions) -> Result<(), Failure> {
    let problem = pick::problem(&options.problem, &options.set)?;
    let plan = pick::plan(&problem, options.steps.first().copied(), options.until)?;
    let until = plan.until();
    let plans = plans(options, plan.step(), until)?;
    let model = problem.model()?;
    pick::unstopped(&model, "converge")?;
    pick::covers(&model, until)?;
    let methods = pick::methods(&problem, &model, &options.methods, &[&problem.method])?;
    print::detail(|| {
        let ids: Vec<&str> = methods.iter().map(Method::id).collect();
        format!("model: {}; methods: {}", problem.id, ids.join(", "))
    });
    let mut file = options.plot.as_deref().map(|path| NewFile::create(path, Format::Plot)).transpose()?;

    let stopped = || Failure::Interrupted("stopped; nothing was written".into());
    let reference = match reference(&model, until, "") {
        Some(Ok(reference)) => reference,
        Some(Err(error)) => {
            return Err(Failure::Solver(format!("{error}; without it there are no errors to measure")));
        }
        None => return Err(stopped()),
    };
    let total = plans.iter().map(Plan::steps).sum::<u64>().saturating_mul(methods.len() as u64);
    let mut progress = Progress::new(total);
    let mut series = Vec::new();
    for method in methods {
        series.push(measure(&model, method, &plans, &reference, &mut progress).ok_or_else(stopped)?);
    }
    progress.clear();
    let comparison = Comparison { problem, model, until, source: reference.source, series };

    let failures = || comparison.series.iter().flat_map(|s| &s.points).map(|p| p.errors.as_ref().err());
    let all_failed = failures().all(|failure| failure.is_some());
    // The plot first: it must not depend on who reads the table.
    if let Some(file) = file.take()
        && !all_failed
    {
        plot::drawing(&comparison).write(file)?;
    }
    if options.json {
        print::json(&report::Report::new(&comparison))?;
    } else {
        print::result(&report::text(&comparison))?;
    }
    if all_failed {
        let first = failures().flatten().next().map_or("", String::as_str);
        return Err(Failure::Solver(format!("every run failed; the first: {first}")));
    }
    Ok(())
}
