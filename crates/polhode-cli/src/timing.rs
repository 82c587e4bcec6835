//! Runs that are repeated to see what a step costs: other work on the machine only ever makes them slower.

use core::ops::ControlFlow;
use polhode::method::Method;
use polhode::problem::{Model, RunFailure, RunReport};
use polhode::run::Plan;
use std::time::{Duration, Instant};

/// The most runs of one method.
pub const MOST: usize = 5;

/// After so long a method is not run again.
const PATIENCE: Duration = Duration::from_millis(300);

/// Runs a method up to [`MOST`] times: how it ends, and the least time of a step in ns, without what it takes to begin.
/// `watch` sees the number of each step, and may stop it all.
pub fn best(
    model: &Model,
    method: &Method,
    plan: &Plan,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(RunReport, f64), RunFailure> {
    let begun = Instant::now();
    let mut least = f64::INFINITY;
    let mut runs = 0;
    loop {
        let mut started = Instant::now();
        let end = model.run(method, plan, &mut |n, _| {
            if n == 0 {
                started = Instant::now();
            }
            watch(n)
        })?;
        least = least.min(started.elapsed().as_secs_f64() * 1e9 / end.steps.max(1) as f64);
        runs += 1;
        // Every run ends in the same bits, so that any of them will do.
        if runs == MOST || !end.finished || begun.elapsed() > PATIENCE {
            return Ok((end, least));
        }
    }
}

/// How the cost of a step was measured, for people.
pub fn words() -> String {
    format!("cost of a step: the best of up to {MOST} runs")
}
