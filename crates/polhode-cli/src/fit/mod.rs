//! `polhode fit`: parameters of a problem from a measured motion.

mod plot;
mod report;

use crate::args::FitOptions;
use crate::data::{self, Measured, Table, Unit};
use crate::failure::Failure;
use crate::files::{Format, NewFile, Output};
use crate::progress::Progress;
use crate::{args, interrupt, pick, print, sensitivity};
use core::ops::ControlFlow;
use polhode::fit::FitError;
use polhode::identify::{Identification, Identified, IdentifyError, Samples};
use polhode::method::Method;
use polhode::problem::Problem;
use polhode::run::Column;
use polhode::sensitivity::Sensitivity;
use std::fs;
use std::io::Write;

/// More steps than this nobody waits for, dozens of times.
const MOST_STEPS: u64 = 1_000_000_000;

/// All that was found.
pub struct Finished<'a> {
    /// What was fitted.
    pub problem: &'a Problem,
    /// From what.
    pub identification: &'a Identification,
    /// With which method.
    pub method: &'a Method,
    /// The file of the data.
    pub data: String,
    /// The result.
    pub found: Identified,
}

/// Mistakes of the command line and the data, and what could not be solved.
fn failure(error: IdentifyError) -> Failure {
    match error {
        IdentifyError::Run(error) => sensitivity::failed(error),
        IdentifyError::Interrupted => Failure::Interrupted("stopped; nothing was written".into()),
        IdentifyError::Fit(FitError::Parameter { .. } | FitError::TooFewResiduals { .. }) => {
            Failure::Usage(error.to_string())
        }
        IdentifyError::Fit(_) => Failure::Solver(error.to_string()),
        IdentifyError::LongStep { .. } | IdentifyError::Step { .. } => {
            Failure::Usage(format!("{error} (--step)"))
        }
        IdentifyError::NoColumn { .. } => {
            Failure::Usage(format!("{error}; --map says which column of the file is which"))
        }
        _ => Failure::Usage(error.to_string()),
    }
}

/// NAME=VALUE, taken apart.
fn pair<'a>(option: &str, form: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    let apart = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    apart
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| Failure::Usage(format!("--{option} is written {form}; got '{text}'")))
}

fn number(option: &str, text: &str) -> Result<f64, Failure> {
    args::number(text).map_err(|why| Failure::Usage(format!("--{option}: '{}' is {why}", text.trim())))
}

/// With the options for the data and the parameters.
fn detailed(mut fit: Identification, options: &FitOptions) -> Result<Identification, Failure> {
    let wanted: Vec<&str> =
        options.columns.iter().map(|name| name.trim()).filter(|n| !n.is_empty()).collect();
    if !options.columns.is_empty() {
        if wanted.is_empty() {
            return Err(Failure::Usage("--columns names no column".into()));
        }
        fit = fit.with_columns(&wanted).map_err(failure)?;
    }
    let mut named: Vec<(&str, &str)> = Vec::new();
    let mut once = |option, name| match named.contains(&(option, name)) {
        true => Err(Failure::Usage(format!("--{option} names {name} twice; leave one of them out"))),
        false => {
            named.push((option, name));
            Ok(())
        }
    };
    for text in &options.sigma {
        let (name, value) = pair("sigma", "NAME=VALUE, as in --sigma omega_body=0.01", text)?;
        once("sigma", name)?;
        fit = fit.with_sigma(name, number("sigma", value)?).map_err(failure)?;
    }
    for text in &options.bounds {
        let form = "NAME=LO:HI, as in --bounds mass=1:2, where one side may be missing";
        let (name, range) = pair("bounds", form, text)?;
        once("bounds", name)?;
        let Some((low, high)) = range.split_once(':') else {
            return Err(Failure::Usage(format!("--bounds is written {form}; got '{text}'")));
        };
        let side =
            |text: &str, none: f64| if text.trim().is_empty() { Ok(none) } else { number("bounds", text) };
        let (low, high) = (side(low, f64::NEG_INFINITY)?, side(high, f64::INFINITY)?);
        fit = fit.with_bounds(name, low, high).map_err(failure)?;
    }
    Ok(fit)
}

/// What was measured, and the columns of the file that are nothing of this problem.
fn samples(options: &FitOptions, known: &[Column]) -> Result<(Samples, Vec<String>), Failure> {
    let unit = |name: &str| {
        let column = known.iter().find(|column| column.name == name)?;
        let angle = column.item.quantity.facts().unit.starts_with("rad");
        Some(if angle { Unit::Angle } else { Unit::Other })
    };
    let table = Table::read(&options.data)?;
    let Measured { mut times, columns, lines, others, gaps } = table.measured(&options.map, &unit)?;
    let wrong = |text: String| Failure::Usage(format!("{}: {text}", table.name));
    if times.len() < 2 {
        let (found, gaps) = (times.len(), data::without(&gaps));
        return Err(wrong(format!("there are too few samples: {found}{gaps}, at least 2 are needed")));
    }
    let start = options.t0.unwrap_or(0.0);
    if !start.is_finite() {
        return Err(Failure::Usage(format!("--t0 must be a finite number, got {start}")));
    }
    if times[0] < start {
        let (line, [t, start]) = (lines[0], [times[0], start].map(print::plain));
        return Err(wrong(format!(
            "line {line}, time: {t} s is before the start of the motion at t = {start} s (--t0)"
        )));
    }
    times.iter_mut().for_each(|t| *t -= start);
    let samples = Samples::new(times, columns).map_err(|error| wrong(error.to_string()))?;
    if !gaps.is_empty() {
        print::note(&format!("note: {}: gaps are left out: {}", table.name, gaps.join("; ")));
    }
    Ok((samples, others))
}

/// Does it.
pub fn command(options: &FitOptions) -> Result<(), Failure> {
    let problem = pick::problem(&options.problem, &options.set)?;
    let method = pick::method(options.method.as_deref().unwrap_or(&problem.method))?;
    let model = problem.model()?;
    pick::unstopped(&model, "fit")?;
    pick::suits_as_asked(&problem, &model, &method, options.method.is_some())?;
    let names = sensitivity::names(&options.parameters)?;
    let sensitivity = Sensitivity::new(&problem, &names, &method).map_err(sensitivity::failure)?;
    let data = fs::canonicalize(&options.data).ok();
    for path in [&options.plot, &options.out].into_iter().flatten() {
        if data.is_some() && fs::canonicalize(path).ok() == data {
            let text = format!("{} are the data; give the result a file of its own", path.display());
            return Err(Failure::Usage(text));
        }
    }
    let known = sensitivity.columns().map_err(sensitivity::failure)?;
    let (samples, others) = samples(options, &known)?;
    let step = match options.step {
        Some(step) => step,
        None => samples.step(pick::step(&problem)?).map_err(failure)?,
    };
    let fit = detailed(Identification::new(sensitivity, samples, step).map_err(failure)?, options)?;
    let (steps, last) = (fit.plan().steps(), fit.plan().until());
    if steps > MOST_STEPS {
        return Err(Failure::Usage(format!(
            "a run to the last sample, {} s after the start of the motion, has {steps} steps of {} s, too many for a fit; \
             --t0 says at which time of the file the motion starts",
            print::plain(last),
            print::plain(step)
        )));
    }
    let plot = options.plot.as_deref().map(|path| NewFile::create(path, Format::Plot)).transpose()?;
    let out = options.out.as_deref().map(|path| Output::create(path, options.json)).transpose()?;
    let unused: Vec<&str> = others.iter().chain(fit.unused()).map(String::as_str).collect();
    if !unused.is_empty() && !fit.columns().is_empty() {
        print::note(&format!("note: columns of the data that are not used: {}", unused.join(", ")));
    }
    if fit.interpolates() {
        print::note(&format!(
            "note: the samples do not lie on steps of {} s; runs are interpolated to them",
            print::plain(step)
        ));
    }

    let mut progress = Progress::new(fit.plan().steps());
    let found = fit.run_with(&mut |run, step| {
        progress.at(step, || format!("run {run}"));
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.clear();
    let data = data::name(&options.data);
    let found = found.map_err(|error| match error {
        IdentifyError::NoColumn { model, samples } => {
            failure(IdentifyError::NoColumn { model, samples: [others, samples].concat() })
        }
        error => failure(error),
    })?;
    let patterned = found.patterned();
    if !patterned.is_empty() {
        print::note(&format!(
            "note: the residuals of {} are correlated from sample to sample, unlike noise: the data are not of this problem \
             from t = 0, or method and step are not accurate enough for them, or their noise is correlated; the errors \
             are then too small (--plot shows the residuals)",
            patterned.join(", ")
        ));
    }
    let finished = Finished { problem: &problem, identification: &fit, method: &method, data, found };
    // The files first: they must not depend on who reads the table.
    if let Some(plot) = plot {
        plot::drawing(&finished).write(plot)?;
    }
    let beside_table = out.as_ref().is_some_and(Output::is_standard);
    if let Some(mut out) = out {
        out.write_all(residuals(&finished).as_bytes()).map_err(|error| out.trouble(&error))?;
        out.finish()?;
    }
    match options.json {
        true => print::json(&report::Report::new(&finished))?,
        false => print::summary(&report::text(&finished), beside_table)?,
    }
    match finished.found.stopped.converged() {
        true => Ok(()),
        false => {
            let hint = match finished.found.flat.as_slice() {
                [] => String::new(),
                flat => format!(
                    "; the data drive {} to the edge of what a body can have and hardly determine its distribution: fit fewer of \
                     its entries, or take more or better data",
                    flat.join(", ")
                ),
            };
            Err(Failure::Solver(format!(
                "the fit has no minimum to report; {}{hint}",
                finished.found.stopped
            )))
        }
    }
}

/// Model minus data, column by column.
fn residuals(run: &Finished<'_>) -> String {
    use core::fmt::Write;
    let found = &run.found;
    let mut text = String::from("t");
    for column in &found.columns {
        let _ = write!(text, ",{}", column.name);
    }
    text.push('\n');
    for (i, t) in found.times.iter().enumerate() {
        let _ = write!(text, "{t:?}");
        for column in &found.columns {
            // A gap stays one.
            let _ = match column.residuals[i] {
                r if r.is_nan() => write!(text, ","),
                r => write!(text, ",{r:?}"),
            };
        }
        text.push('\n');
    }
    text
}
