//! Errors of one method over a list of steps.

use crate::print::plain;
use crate::progress::Progress;
use crate::{interrupt, timing};
use core::ops::ControlFlow;
use polhode::method::Method;
use polhode::problem::{Errors, Model, Reference};
use polhode::run::Plan;

/// Errors below this are round-off and say nothing about the order.
pub const PLATEAU: f64 = 1e-12;

/// One run.
#[derive(Debug)]
pub struct Point {
    /// Its step.
    pub step: f64,
    /// How many of them.
    pub steps: u64,
    /// Its errors, or why it failed.
    pub errors: Result<Errors, String>,
    /// The order in attitude from the coarser run before it to this one.
    pub order_attitude: Option<f64>,
    /// The same in body momentum.
    pub order_momentum: Option<f64>,
    /// The same in the position of a moving body.
    pub order_position: Option<f64>,
    /// Cost of a step, in the fastest of some runs.
    pub ns_per_step: Option<f64>,
}

/// The runs of one method, from coarse to fine.
#[derive(Debug)]
pub struct Series {
    /// The method.
    pub method: Method,
    /// Its runs.
    pub points: Vec<Point>,
}

impl Series {
    /// The order in attitude from the finest pair above the round-off.
    pub fn order_attitude(&self) -> Option<f64> {
        self.points.iter().rev().find_map(|p| p.order_attitude)
    }
    /// The same in body momentum.
    pub fn order_momentum(&self) -> Option<f64> {
        self.points.iter().rev().find_map(|p| p.order_momentum)
    }
    /// The same in the position of a moving body.
    pub fn order_position(&self) -> Option<f64> {
        self.points.iter().rev().find_map(|p| p.order_position)
    }
}

/// The order that a pair of runs shows, if both errors are above the round-off.
fn order(coarse: &Point, step: f64, before: f64, now: f64) -> Option<f64> {
    let telling = before.min(now) > PLATEAU && before.max(now).is_finite();
    telling.then(|| (before / now).ln() / (coarse.step / step).ln())
}

/// Runs the method with every plan; `None` if the user stopped it.
pub fn measure(
    model: &Model,
    method: Method,
    plans: &[Plan],
    reference: &Reference,
    progress: &mut Progress,
) -> Option<Series> {
    let mut points: Vec<Point> = Vec::new();
    for plan in plans {
        let step = plan.step();
        let ended = timing::best(model, &method, plan, &mut |n| {
            progress.at(n, || format!("{}, h = {}", method.id(), plain(step)));
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        progress.pass(plan.steps());
        let (errors, ns_per_step) = match ended {
            Ok((end, _)) if !end.finished => return None,
            Ok((end, ns)) => (reference.errors(&end.last).checked().map_err(|error| error.reason), Some(ns)),
            Err(failed) => (Err(failed.to_string()), None),
        };
        let before = points.last().and_then(|p| Some((p, p.errors.as_ref().ok()?)));
        let pair = before.zip(errors.as_ref().ok());
        let order_attitude = pair.and_then(|((p, b), e)| order(p, step, b.attitude, e.attitude));
        let order_momentum = pair.and_then(|((p, b), e)| order(p, step, b.momentum, e.momentum));
        let order_position = pair.and_then(|((p, b), e)| order(p, step, b.position?, e.position?));
        points.push(Point {
            step,
            steps: plan.steps(),
            errors,
            order_attitude,
            order_momentum,
            order_position,
            ns_per_step,
        });
    }
    Some(Series { method, points })
}
