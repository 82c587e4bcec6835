//! `polhode sensitivity`: the derivatives of a run with respect to parameters.

mod check;
mod report;

use crate::args::SensitivityOptions;
use crate::failure::Failure;
use crate::files::Output;
use crate::progress::Progress;
use crate::quantity::{self, largest};
use crate::{interrupt, pick, print};
use check::{Difference, differences};
use core::ops::ControlFlow;
use polhode::multibody::DifferentiationError;
use polhode::problem::Problem;
use polhode::run::{Item, Plan, Snapshot};
use polhode::sensitivity::{Dual1, Sensitivity, SensitivityError, SensitivityFailure, Variant};
use std::io::Write;

/// All that was computed.
pub struct Finished {
    /// What was differentiated.
    pub problem: Problem,
    /// With which parameters and method.
    pub sensitivity: Sensitivity,
    /// The id of the method.
    pub method: String,
    /// Its title.
    pub title: String,
    /// Over which steps.
    pub plan: Plan,
    /// What is reported of the end.
    pub items: Vec<Item>,
    /// The end.
    pub end: Snapshot,
    /// The same with its derivatives, for each parameter.
    pub derivatives: Vec<Snapshot<Dual1>>,
    /// Those that no number depends on but for rounding.
    pub independent: Vec<String>,
    /// Differences for each parameter, if asked for.
    pub check: Option<Vec<Vec<Difference>>>,
    /// The simplification, if one was asked for.
    pub variant: Option<String>,
}

/// The mistakes of the command line, of the data and of the solver have codes of their own.
pub fn failure(error: SensitivityError) -> Failure {
    match error {
        SensitivityError::Parameter(_) => Failure::Usage(error.to_string()),
        SensitivityError::System(DifferentiationError::Variant { .. }) => Failure::Usage(error.to_string()),
        SensitivityError::Model(error) => error.into(),
        SensitivityError::System(_) | SensitivityError::Method(_) => Failure::Solver(error.to_string()),
    }
}

/// The same after some steps.
pub fn failed(error: SensitivityFailure) -> Failure {
    match error.steps {
        0 => failure(error.error),
        _ => Failure::Solver(error.to_string()),
    }
}

/// Names separated by commas.
pub fn names(list: &[String]) -> Result<Vec<&str>, Failure> {
    let names: Vec<&str> = list.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Err(Failure::Usage(
            "--parameters names no parameter; `polhode problems ID` lists them".into(),
        ));
    }
    Ok(names)
}

/// The first number at the end that is not finite.
fn overflow(sensitivity: &Sensitivity, end: &Snapshot, derivatives: &[Snapshot<Dual1>]) -> Option<Failure> {
    let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
    let fits = |item: &Item, slopes: &Snapshot<Dual1>| {
        let value = end.value(item).is_some_and(|value| finite(value.numbers()));
        value && slopes.value(item).is_some_and(|value| finite(&quantity::slopes(&value)))
    };
    sensitivity.names().iter().zip(derivatives).find_map(|(parameter, slopes)| {
        let item = quantity::items(end).into_iter().find(|item| !fits(item, slopes))?;
        Some(Failure::Solver(format!(
            "{} or its derivative with respect to {parameter} is too large for a number at the end; choose a shorter run, a \
             smaller step or smaller data",
            quantity::path(end, &item).join(".")
        )))
    })
}

/// Does it.
pub fn command(options: &SensitivityOptions) -> Result<(), Failure> {
    let problem = pick::problem(&options.problem, &options.set)?;
    let method = pick::method(options.method.as_deref().unwrap_or(&problem.method))?;
    print::detail(|| format!("model: {}; method: {}", problem.id, method.id()));
    let plan = pick::plan(&problem, options.step, options.until)?;
    let model = problem.model()?;
    pick::suits_as_asked(&problem, &model, &method, options.method.is_some())?;
    pick::unstopped(&model, "sensitivity")?;
    pick::covers(&model, plan.until())?;
    let variant = match options.variant.as_deref() {
        None => Variant::Exact,
        Some(name) => {
            Variant::ALL.iter().find(|(known, _)| *known == name).map(|(_, variant)| *variant).ok_or_else(
                || {
                    let names: Vec<&str> = Variant::ALL.iter().map(|(name, _)| *name).collect();
                    Failure::Usage(format!("no variant is called '{name}'; there are {}", names.join(", ")))
                },
            )?
        }
    };
    if variant != Variant::Exact && method.system().is_none() {
        let text =
            "--variant simplifies geometric-alpha, linear-alpha and residual-alpha; this method has none";
        return Err(Failure::Usage(text.into()));
    }
    let sensitivity = Sensitivity::new(&problem, &names(&options.parameters)?, &method)
        .map_err(failure)?
        .with_variant(variant);
    let count = sensitivity.names().len();
    let mut file = options.out.as_deref().map(|path| Output::create(path, options.json)).transpose()?;

    let passes = if options.check { 1 + count as u64 * check::runs() } else { 1 };
    let mut progress = Progress::new(plan.steps().saturating_mul(passes));
    let (mut stopped, mut trouble) = (None, None);
    let (mut end, mut derivatives): (Option<Snapshot>, Vec<Snapshot<Dual1>>) = (None, Vec::new());
    let (mut text, mut columns) = (String::new(), Vec::new());
    let run = sensitivity.run(&plan, &mut |n, seen| {
        progress.at(n, || format!("t = {:.4} s", plan.time(n)));
        if let Some(file) = &mut file {
            text.clear();
            row(n, &sensitivity, seen, &mut columns, &mut text);
            if let Err(error) = file.write_all(text.as_bytes()) {
                trouble = Some(file.trouble(&error));
                return ControlFlow::Break(());
            }
        }
        if n == plan.steps() {
            end = Some(seen.snapshot());
            derivatives = (0..count).filter_map(|k| seen.derivative(k)).collect();
        } else if interrupt::asked() {
            stopped = Some(n);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    if let Some(failure) = trouble {
        return Err(failure);
    }
    run.map_err(failed)?;
    if let Some(end) = &end
        && let Some(failure) = overflow(&sensitivity, end, &derivatives)
    {
        return Err(failure);
    }
    let mut place = String::new();
    let beside_table = file.as_ref().is_some_and(Output::is_standard);
    if let Some(file) = file {
        place = format!("; the rows so far are in {}", file.name());
        file.finish()?;
    }
    if let Some(n) = stopped {
        let (t, steps) = (print::plain(plan.time(n)), print::count(n, "step"));
        return Err(Failure::Interrupted(format!("stopped at t = {t} after {steps}{place}")));
    }
    let Some(end) = end else { return Err(Failure::Solver("the run ended before its end".into())) };
    let items = quantity::items(&end);
    let check = match options.check {
        false => None,
        true => {
            let mut watch = |n: u64| {
                progress.at(n, || "differences".into());
                if n == plan.steps() {
                    progress.pass(n);
                }
                if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let of =
                |k: usize| differences(&sensitivity, &plan, k, (&items, &end, &derivatives[k]), &mut watch);
            let all: Option<Vec<_>> = (0..count).map(of).collect();
            let stopped = || Failure::Interrupted("stopped while the differences were computed".into());
            Some(all.ok_or_else(stopped)?)
        }
    };
    progress.clear();
    // A change by its own size, or by one if that is larger, changes every number by no more than rounding.
    let hidden = |k: usize, item: &Item| {
        derivatives[k].value(item).is_none_or(|value| {
            quantity::hides(&value, largest(&quantity::slopes(&value)) * sensitivity.scales()[k].max(1.0))
        })
    };
    let independent: Vec<String> = (0..count)
        .filter(|k| items.iter().all(|item| hidden(*k, item)))
        .map(|k| sensitivity.names()[k].clone())
        .collect();
    for name in &independent {
        print::note(&format!("note: the end does not depend on {name}: all its derivatives are zero"));
    }
    let finished = Finished {
        problem,
        method: method.id().into(),
        title: method.title().into(),
        sensitivity,
        plan,
        items,
        end,
        derivatives,
        independent,
        check,
        variant: options.variant.clone(),
    };
    if options.json {
        print::json(&report::Report::new(&finished))
    } else {
        print::summary(&report::text(&finished), beside_table)
    }
}

/// The derivatives of every column that `run --out` writes: `mass:position_x` is that of position_x by the mass.
fn row(
    n: u64,
    sensitivity: &Sensitivity,
    seen: &mut dyn polhode::sensitivity::DerivedRun,
    columns: &mut Vec<Dual1>,
    text: &mut String,
) {
    use core::fmt::Write;
    let mut line = String::new();
    for (k, parameter) in sensitivity.names().iter().enumerate() {
        let Some(at) = seen.derivative(k) else { continue };
        columns.clear();
        at.row(columns);
        if n == 0 {
            text.push_str(if k == 0 { "t" } else { "" });
            for column in &at.columns()[1..] {
                let _ = write!(text, ",{parameter}:{}", column.name);
            }
        }
        if k == 0 {
            let _ = write!(line, "{:?}", columns[0].re);
        }
        for x in &columns[1..] {
            let _ = write!(line, ",{:?}", x.eps[0]);
        }
    }
    if n == 0 {
        text.push('\n');
    }
    text.push_str(&line);
    text.push('\n');
}
