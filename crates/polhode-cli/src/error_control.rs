//! The step that an error asks for: the search of the library, with progress, for people and for programs.

use crate::failure::Failure;
use crate::print::{duration, plain, small};
use crate::progress::Progress;
use crate::{interrupt, print};
use core::ops::ControlFlow;
use polhode::check::{Cause, Halving, Reached, StepForError, Unreached};
use polhode::method::Method;
use polhode::problem::Model;
use serde::Serialize;
use std::time::Duration;

/// A step that was found, and how.
#[derive(Clone, Debug)]
pub struct Control {
    /// The error asked for.
    pub tolerance: f64,
    /// The step.
    pub found: Reached,
    /// The runs that were compared.
    pub runs: Vec<Halving>,
    /// The time of the search.
    pub seconds: f64,
}

/// The same for programs.
#[derive(Debug, Serialize)]
pub struct Block {
    tolerance: f64,
    reached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_along: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_observed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_of_motion: Option<f64>,
    how: String,
    runs: Vec<RunBlock>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct RunBlock {
    step: f64,
    steps: u64,
    difference: f64,
    difference_at_end: f64,
}

impl Block {
    fn new(tolerance: f64, reached: bool, found: Option<&Reached>, how: String, search: &[Halving]) -> Self {
        let run = |h: &Halving| RunBlock {
            step: h.step,
            steps: h.steps,
            difference: h.difference,
            difference_at_end: h.difference_at_end,
        };
        Block {
            tolerance,
            reached,
            step: found.map(|f| f.step),
            estimate: found.map(|f| f.estimate),
            estimate_along: found.map(|f| f.estimate_along),
            order: found.map(|f| f.order),
            order_observed: found.and_then(|f| f.observed),
            size_of_motion: found.and_then(|f| f.size),
            how,
            runs: search.iter().map(run).collect(),
            seconds: 0.0,
        }
    }
}

impl Control {
    /// For programs.
    pub fn block(&self) -> Block {
        let how = format!("{}; {}", self.found, measure(&self.found));
        let block = Block::new(self.tolerance, true, Some(&self.found), how, &self.runs);
        Block { seconds: self.seconds, ..block }
    }
    /// For people.
    pub fn lines(&self) -> [String; 3] {
        let found = &self.found;
        [
            format!(
                "at most {} along the run, {} at its end, estimated; {} was asked for",
                small(found.estimate_along),
                small(found.estimate),
                plain(self.tolerance)
            ),
            format!(
                "{found} ({} compared in {})",
                print::count(self.runs.len() as u64, "pair"),
                duration(self.seconds)
            ),
            measure(found),
        ]
    }
}

/// What an error is.
pub fn measure(found: &Reached) -> String {
    match found.size {
        None => "the error is the largest angle in rad between attitudes".into(),
        Some(size) => format!(
            "the error is the largest over bodies of the angle in rad and of the distance relative to {size:.3} m, the \
             furthest that a body gets from its start"
        ),
    }
}

/// Searches the step for one tolerance; the progress is that of the run at hand.
pub fn find(search: &mut StepForError, id: &str, tolerance: f64) -> Result<Reached, Unreached> {
    let mut progress: Option<(u64, Progress)> = None;
    search.reach(tolerance, &mut |n, steps| {
        if progress.as_ref().is_none_or(|(known, _)| *known != steps) {
            progress = Some((steps, Progress::new(steps)));
        }
        if let Some((_, progress)) = &mut progress {
            progress.at(n, || format!("{id}, {steps} steps"));
        }
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// A search for runs of a model.
pub fn search(model: &Model, method: &Method, until: f64, budget: f64) -> StepForError {
    // More seconds than a duration can have are as good as no limit.
    let budget = Duration::try_from_secs_f64(budget.min(1e9)).unwrap_or(Duration::from_secs(60));
    StepForError::new(model.system(), method, until).with_budget(budget)
}

/// The step for one run.
pub fn step(
    model: &Model,
    method: &Method,
    until: f64,
    tolerance: f64,
    budget: f64,
) -> Result<Control, Failure> {
    let mut search = search(model, method, until, budget);
    let found = find(&mut search, method.id(), tolerance);
    let seconds = search.spent().as_secs_f64();
    let runs = search.halvings().to_vec();
    for run in &runs {
        print::detail(|| {
            format!(
                "search: step {}, difference {} from twice the step",
                plain(run.step),
                small(run.difference)
            )
        });
    }
    print::detail(|| format!("search: {} in all", duration(seconds)));
    match found {
        Ok(found) => Ok(Control { tolerance, found, runs, seconds }),
        Err(Unreached { cause: Cause::Stopped, .. }) => {
            Err(Failure::Interrupted("stopped while the step was searched".into()))
        }
        Err(error) => {
            let hint = match error.cause {
                Cause::Budget { needed: Some((_, seconds)) } if seconds > 1e5 => {
                    "; a method of higher order needs fewer steps"
                }
                Cause::Budget { .. } => {
                    "; --budget gives it more time, a method of higher order needs fewer steps"
                }
                _ => "",
            };
            let message = format!("{error}{hint}");
            let block = Block::new(tolerance, false, error.best.as_deref(), message.clone(), &runs);
            let block = Block { seconds, ..block };
            let control = serde_json::to_value(block).unwrap_or_default();
            Err(Failure::Unreached { message, control })
        }
    }
}
