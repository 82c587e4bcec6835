//! `polhode run`: one problem, one method, one run.

mod events;
mod metadata;
mod record;
mod report;
mod spool;
mod summary;
mod system;

use crate::args::RunOptions;
use crate::blocks;
use crate::checkpoint::{self, Checkpoint, Identity, Resumed};
use crate::error_control::{self, Control};
use crate::failure::Failure;
use crate::files::Kept;
use crate::gate::{self, Gate};
use crate::phase::{Frequencies, Phase};
use crate::progress::Progress;
use crate::reference::reference;
use crate::{host, interrupt, pick, print};
use core::ops::ControlFlow;
use events::Events;
use polhode::method::{Method, SystemScheme};
use polhode::problem::{Errors, Model, Problem, RunReport};
use polhode::run::{EnergyEstimate, Estimate, Plan, Run, Watched, drive, drive_on};
use record::{Files, Record, Setting};
use std::path::PathBuf;
use std::time::Instant;
pub use system::degrees;

/// The results of a run.
#[derive(Debug)]
pub struct Finished {
    /// What ran.
    pub problem: Problem,
    /// The body and its start.
    pub model: Model,
    /// With what.
    pub method: Method,
    /// Over which steps.
    pub plan: Plan,
    /// How it ended.
    pub end: RunReport,
    /// Wall-clock time of the steps.
    pub seconds: f64,
    /// Distance from the reference and how that is known, or why there is none.
    pub errors: Result<(Errors, String), String>,
    /// Its frequencies, if asked for.
    pub frequencies: Option<Frequencies>,
    /// The estimate of the energy error, if asked for, where there is one.
    pub estimate: Option<Option<Estimate>>,
    /// How its step was found, if an error was asked for.
    pub control: Option<Control>,
    /// What has happened in it.
    pub events: Events,
    /// What became of the limits for drifts.
    pub gates: Vec<Gate>,
}

impl Finished {
    /// Cost of a step.
    pub fn ns_per_step(&self) -> f64 {
        self.seconds * 1e9 / self.end.steps.max(1) as f64
    }
    /// Newton iterations in a step, on average.
    pub fn iterations_per_step(&self) -> f64 {
        blocks::iterations_per_step(&self.end)
    }
}

/// The growth of an energy that the exact motion keeps, relative to that of the motion, that calls for a warning.
const RUNAWAY: f64 = 0.5;

/// What to say of a run that gained much energy which the exact motion keeps, or lost more than there was.
fn runaway(model: &Model, end: &RunReport) -> Option<String> {
    let energy = end.drift.energy?;
    let (went, by) = match () {
        _ if !model.is_invariant("energy") => return None,
        _ if energy.gain > RUNAWAY => ("grew", energy.gain),
        _ if energy.loss > DRAINED => ("fell", energy.loss),
        _ => return None,
    };
    let works = end.joints.as_ref().is_some_and(|joints| joints.work.is_some());
    let less = if works { " less the work done" } else { "" };
    Some(format!(
        "warning: the energy{less}, which the exact motion keeps, {went} by {:.0} % of that of the motion: the result may \
         mean nothing; use a smaller step",
        100.0 * by
    ))
}

/// The same for a loss; steps may let all vibrations decay.
const DRAINED: f64 = 1.0;

/// What a checkpoint of a run is of.
fn identity(options: &RunOptions, problem: &Problem, method: &Method, plan: &Plan, every: u64) -> Identity {
    let mut model = vec![problem.file().text()];
    model.extend(options.set.iter().map(String::as_str));
    let yes = |is: bool| if is { "given" } else { "not given" }.to_string();
    let file =
        |path: &Option<PathBuf>| path.as_ref().map_or("nothing".into(), |path| path.display().to_string());
    Identity::new()
        .with_text("model", &model)
        .with("method", method.id().into())
        .with_text("numbers of the method", &[&format!("{method:?}")])
        .with("step", format!("{:?}", plan.step()))
        .with("end", format!("{:?}", plan.until()))
        .with("--out", file(&options.out))
        .with("--plot", file(&options.plot))
        .with("--plot-set", options.plot_set.join(","))
        .with("--plot-columns", options.plot_columns.join(","))
        .with("--plot-against", options.plot_against.clone().unwrap_or("t".into()))
        .with("--report", file(&options.report))
        .with("--every", every.to_string())
        .with("--columns", options.columns.join(","))
        .with("--between", format!("{:?}", options.between))
        .with("--estimate", yes(options.estimate))
        .with("--frequencies", yes(options.frequencies))
}

/// Does it.
pub fn command(options: &RunOptions) -> Result<(), Failure> {
    let problem = pick::problem(&options.problem, &options.set)?;
    let method = pick::method(options.method.as_deref().unwrap_or(&problem.method))?;
    let own = |given: bool| if given { "as asked for" } else { "the model's own" };
    print::detail(|| {
        let parameters = print::count(problem.data().len() as u64, "parameter");
        format!("model: {}, {parameters}, {} of them set", problem.id, options.set.len())
    });
    print::detail(|| format!("method: {}, {}", method.id(), own(options.method.is_some())));
    let limits = gate::limits(&options.max_drift)?;
    // Where the step is to be found, any that suits the end time does until then.
    let whole = options.until.or(Some(problem.until)).filter(|until| *until > 0.0 && until.is_finite());
    let step = if options.error.is_some() { whole } else { options.step };
    let mut plan = pick::plan(&problem, step, options.until)?;
    let until = plan.until();
    let model = problem.model()?;
    pick::covers(&model, plan.until())?;
    pick::suits_as_asked(&problem, &model, &method, options.method.is_some())?;
    if let ([_, ..], Ok(run)) = (limits.as_slice(), model.begin(&method)) {
        gate::check(&limits, &model, &*run)?;
    }
    let asked = [("--frequencies", options.frequencies), ("--estimate", options.estimate)];
    if let Some((option, _)) = asked.iter().find(|(_, asked)| *asked)
        && model.group() == "system"
    {
        return Err(Failure::Usage(format!("{option} is for problems of single bodies")));
    }
    let every = options.every.or(problem.every).unwrap_or(1);
    let identity = identity(options, &problem, &method, &plan, every);
    let resumed =
        options.resume.as_ref().map(|path| Resumed::read(path, &identity, method.id())).transpose()?;
    let resumed = options.resume.as_deref().zip(resumed.as_ref());
    let files = Files::open(options, until)?;
    let mut checkpoint =
        options.checkpoint.as_ref().map(|word| Checkpoint::new(word, &identity, resumed)).transpose()?;
    let kept = checkpoint::rows(checkpoint.as_ref(), resumed.map(|(_, resumed)| resumed), files.first())?;
    let control = options
        .error
        .map(|error| error_control::step(&model, &method, until, error, options.budget))
        .transpose()?;
    if let Some(control) = &control {
        plan = Plan::new(control.found.step, until)?;
    }
    let setting = Setting { problem: &problem, model: &model, method: &method, plan: &plan };
    let mut record = Record::new(files, kept, options, setting);

    let mut progress = Progress::new(plan.steps());
    let mut trouble = None;
    let mut seen_first = false;
    let mut phase = options.frequencies.then(|| Phase::new(&model));
    let mut begun = model.watched_for(&method, host::events());
    if let Ok(run) = &mut begun {
        if options.estimate {
            run.estimate_energy();
        }
        resumed.map_or(Ok(()), |(path, resumed)| resumed.restore(path, run, phase.as_mut()))?;
    }
    let mut started = Instant::now();
    let spent = resumed.map_or(0.0, |(_, resumed)| resumed.seconds);
    let mut observer = |n: u64, run: &mut Watched| {
        if n == 0 {
            // The start of a run does not count as the cost of its steps.
            started = Instant::now();
        }
        let stop = interrupt::asked();
        progress.at(n, || format!("t = {:.4} s", plan.time(n)));
        if let Some(phase) = &mut phase {
            phase.observe(&run.snapshot());
        }
        let begun = if seen_first { Ok(()) } else { record.begin(run, resumed.is_some()) };
        seen_first = true;
        let last = (stop && checkpoint.is_none()) || run.ended();
        let due = record.due(n, plan.time(n), last);
        if let Err(failure) = begun.and_then(|()| if due { record.take(n, run) } else { Ok(()) }) {
            trouble = Some(failure);
            return ControlFlow::Break(());
        }
        if let Some(checkpoint) = &mut checkpoint
            && (checkpoint.is_due() || stop)
        {
            let seconds = spent + started.elapsed().as_secs_f64();
            if let Err(failure) = checkpoint.write(n, seconds, run, phase.as_mut(), record.kept()) {
                trouble = Some(failure);
                return ControlFlow::Break(());
            }
        }
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut seen = None;
    let ended = begun.and_then(|mut run| {
        let ended = match resumed {
            None => drive(&mut run, &plan, &mut observer),
            Some((_, resumed)) => drive_on(&mut run, &plan, resumed.steps, &mut observer),
        };
        let estimate = options.estimate.then(|| run.energy_estimate().and_then(EnergyEstimate::report));
        seen = Some((estimate, Events::new(&run)));
        ended
    });
    let seconds = spent + started.elapsed().as_secs_f64();
    progress.clear();
    print::detail(|| {
        format!(
            "run: {} of {} s in {}",
            print::count(plan.steps(), "step"),
            print::plain(plan.step()),
            print::duration(seconds)
        )
    });

    if let Some(failure) = trouble {
        return Err(failure);
    }
    let end = ended.map_err(|failed| {
        let unwritten = record.dropped();
        let hint = match method.system() {
            // No method gets further than what acts, and what the joints allow.
            Some(SystemScheme::Alpha(scheme)) if !scheme.stabilized && failed.error.is_of_solver() => {
                "; constraints=stabilized may get further with the same step"
            }
            _ => "",
        };
        Failure::Solver(format!("{failed}{hint}{unwritten}"))
    })?;
    let (place, beside_table, mut kept) = match (end.finished, &checkpoint) {
        // Its rows wait for the rest.
        (false, Some(checkpoint)) => (checkpoint.advice(), false, None),
        _ => {
            let (place, standard) = (record.so_far(), record.is_standard());
            (place, standard, record.finish(&end)?)
        }
    };
    if !end.finished {
        let steps = print::count(end.steps, "step");
        let t = print::plain(end.last.t);
        return Err(Failure::Interrupted(format!("stopped at t = {t} after {steps}{place}")));
    }

    let errors = if options.no_reference {
        Err("not asked for (--no-reference)".into())
    } else {
        match reference(&model, end.last.t, " (--no-reference skips it)") {
            Some(Ok(reference)) => {
                let errors = reference.errors(&end.last).checked();
                Ok((errors.map_err(|error| Failure::Solver(error.reason))?, reference.source))
            }
            Some(Err(error)) => Err(error.reason),
            None => {
                let what = "stopped while the reference was computed; the run itself was done".into();
                return Err(Failure::Interrupted(what));
            }
        }
    };
    for warning in
        [system::broken(&end, &method), system::rounded(&end), runaway(&model, &end)].into_iter().flatten()
    {
        print::note(&warning);
    }
    let frequencies = phase.map(|phase| phase.frequencies());
    let gates = gate::gates(&limits, &end.drift);
    let Some((estimate, events)) = seen else { return Err(Failure::Solver("the run has not begun".into())) };
    let finished = Finished {
        problem,
        model,
        method,
        plan,
        end,
        seconds,
        errors,
        frequencies,
        estimate,
        control,
        events,
        gates,
    };
    if options.json {
        print::json(&report::Report::new(&finished))?;
    } else {
        print::summary(&summary::text(&finished), beside_table)?;
    }
    kept.iter_mut().for_each(Kept::retire);
    checkpoint.iter().for_each(Checkpoint::remove);
    resumed.iter().for_each(|(path, _)| drop(std::fs::remove_file(path)));
    gate::verdict(&finished.gates, &finished.end.drift)
}
