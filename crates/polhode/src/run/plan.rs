//! Clocks: fixed steps from zero that end exactly at the end time, and that land on times in between.

use crate::lookup::plain;
use core::fmt;

/// A fixed step and an end time. If the end is not a whole number of steps away, the last step is shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    step: f64,
    until: f64,
    steps: u64,
    last: f64,
}

/// Why a step and an end time were refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanError {
    /// The step is not a positive finite number.
    Step {
        /// The step given.
        step: f64,
    },
    /// The end time is not a positive finite number.
    Until {
        /// The end time given.
        until: f64,
    },
    /// The first step would pass the end.
    Beyond {
        /// The step given.
        step: f64,
        /// The end time given.
        until: f64,
    },
    /// A time to land on is not within the plan.
    Landing {
        /// The time given.
        time: f64,
        /// The end time.
        until: f64,
    },
    /// More steps than can be counted exactly.
    TooMany {
        /// The step given.
        step: f64,
        /// The end time given.
        until: f64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step { step } => write!(f, "the step must be a positive finite number, got {step:?}"),
            Self::Until { until } => {
                write!(f, "the end time must be a positive finite number, got {until:?}")
            }
            Self::Beyond { step, until } => {
                write!(
                    f,
                    "the step {} goes beyond the end time {until}; choose a step of at most {until}",
                    plain(*step),
                    until = plain(*until)
                )
            }
            Self::Landing { time, until } => write!(
                f,
                "a time to land on must lie between 0 and the end time {}, got {}",
                plain(*until),
                plain(*time)
            ),
            Self::TooMany { step, until } => write!(
                f,
                "steps of {step:?} up to {until:?} are more than can be counted; choose a larger step"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Steps of size `step` from 0 to `until`.
    pub fn new(step: f64, until: f64) -> Result<Plan, PlanError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(PlanError::Step { step });
        }
        if !(until.is_finite() && until > 0.0) {
            return Err(PlanError::Until { until });
        }
        if step > until * (1.0 + 1e-12) {
            return Err(PlanError::Beyond { step, until });
        }
        let ratio = until / step;
        if ratio > 9e15 {
            return Err(PlanError::TooMany { step, until });
        }
        // A whole number of steps up to round-off has no tiny step at its end: the last one takes up the rest.
        let whole = (ratio - ratio.round()).abs() <= 1e-9 * ratio.max(1.0);
        let steps = if whole { ratio.round() } else { ratio.ceil() };
        let last = until - (steps - 1.0) * step;
        Ok(Plan { step, until, steps: steps as u64, last })
    }
    /// How many steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }
    /// The step.
    pub fn step(&self) -> f64 {
        self.step
    }
    /// The end time.
    pub fn until(&self) -> f64 {
        self.until
    }
    /// Time after `n` steps; exactly the end time after the last.
    #[inline]
    pub fn time(&self, n: u64) -> f64 {
        if n >= self.steps { self.until } else { n as f64 * self.step }
    }
    /// The size of step `n`, counted from zero.
    #[inline]
    pub fn size(&self, n: u64) -> f64 {
        if n + 1 == self.steps { self.last } else { self.step }
    }
}

/// What tells a run its steps.
pub trait Clock {
    /// How many.
    fn steps(&self) -> u64;
    /// Time after `n` steps.
    fn time(&self, n: u64) -> f64;
    /// The size of step `n`, counted from zero.
    fn size(&self, n: u64) -> f64;
}

impl Clock for Plan {
    fn steps(&self) -> u64 {
        self.steps
    }
    fn time(&self, n: u64) -> f64 {
        Plan::time(self, n)
    }
    fn size(&self, n: u64) -> f64 {
        Plan::size(self, n)
    }
}

/// A plan that also lands on given times: the step in which one lies is taken in pieces.
///
/// ```
/// use core::ops::ControlFlow;
/// use polhode::{method::Method, problem::Problem, run::{Clock, Landing, Plan, begin, drive}};
/// let clock = Landing::new(Plan::new(0.1, 1.0)?, &[0.25, 0.5, 1.0 / 3.0])?;
/// let mut times = Vec::new();
/// let mut run = begin(Problem::named("slow-top")?.model()?.system(), &Method::parse("akw")?)?;
/// drive(&mut *run, &clock, &mut |_, run| {
///     times.push(run.time());
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(times[2..7], [0.2, 0.25, 0.1 * 3.0, 1.0 / 3.0, 0.4]);
/// assert_eq!((clock.steps(), times.len()), (12, 13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Landing {
    plan: Plan,
    /// In order, each with the number of the step that ends there.
    landings: Vec<(u64, f64)>,
}

impl Landing {
    /// Of times between zero and the end of the plan, in any order. Those on a step of the plan, up to rounding, change
    /// nothing.
    pub fn new(plan: Plan, times: &[f64]) -> Result<Landing, PlanError> {
        let until = plan.until();
        if let Some(time) = times.iter().find(|time| !(**time >= 0.0 && **time <= until)) {
            return Err(PlanError::Landing { time: *time, until });
        }
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * plan.step();
        sorted.dedup_by(|a, b| near(*a, *b));
        sorted.retain(|time| {
            let n = ((time / plan.step()).round() as u64).min(plan.steps());
            !near(*time, plan.time(n)) && !near(*time, until)
        });
        let landings = sorted.iter().enumerate().map(|(k, time)| {
            // Steps of the plan that begin before it, and the landings before it.
            let begun = ((time / plan.step()) as u64).min(plan.steps() - 1);
            (begun + 1 + k as u64, *time)
        });
        Ok(Landing { plan, landings: landings.collect() })
    }
}

impl Clock for Landing {
    fn steps(&self) -> u64 {
        self.plan.steps() + self.landings.len() as u64
    }
    fn time(&self, n: u64) -> f64 {
        let before = self.landings.partition_point(|(end, _)| *end < n);
        match self.landings.get(before) {
            Some((end, time)) if *end == n => *time,
            _ => self.plan.time(n - before as u64),
        }
    }
    fn size(&self, n: u64) -> f64 {
        let before = self.landings.partition_point(|(end, _)| *end <= n);
        let cut = |n: u64| self.landings.binary_search_by_key(&n, |(end, _)| *end).is_ok();
        // A step that is not cut keeps its bits.
        match cut(n) || cut(n + 1) {
            true => self.time(n + 1) - self.time(n),
            false => self.plan.size(n - before as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_end_exactly() {
        let plan = Plan::new(0.1, 100.0).unwrap();
        assert_eq!((plan.steps(), plan.time(1000)), (1000, 100.0));
        assert!((plan.size(999) - 0.1).abs() < 1e-13);
        let plan = Plan::new(0.001, 1000.0000005).unwrap();
        assert!((plan.size(plan.steps() - 1) - 0.0010005).abs() < 1e-12);
        let plan = Plan::new(0.3, 1.0).unwrap();
        assert_eq!((plan.steps(), plan.time(4)), (4, 1.0));
        assert!((plan.size(3) - 0.1).abs() < 1e-15);
        assert_eq!(Plan::new(1.0, 1.0).unwrap().steps(), 1);
    }

    #[test]
    fn landings_are_met_and_other_steps_keep_their_bits() {
        let plan = Plan::new(0.3, 1.0).unwrap();
        // On the grid, at both ends, twice, in the last and shorter step.
        let clock = Landing::new(plan, &[0.95, 0.6, 0.0, 1.0, 0.1, 0.1, 0.2, 0.5]).unwrap();
        let times: Vec<f64> = (0..=clock.steps()).map(|n| clock.time(n)).collect();
        assert_eq!(times, [0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 3.0 * 0.3, 0.95, 1.0]);
        for n in 0..clock.steps() {
            assert!((clock.size(n) - (times[n as usize + 1] - times[n as usize])).abs() < 1e-15, "{n}");
        }
        assert_eq!(clock.size(5), 0.3);
        let plain = Landing::new(plan, &[]).unwrap();
        assert!((0..4).all(|n| plain.size(n) == plan.size(n) && plain.time(n) == plan.time(n)));
        for time in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(Landing::new(plan, &[time]), Err(PlanError::Landing { .. })));
        }
    }

    #[test]
    fn bad_plans_are_refused() {
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Plan::new(step, 1.0), Err(PlanError::Step { .. })), "{step}");
            assert!(matches!(Plan::new(0.1, step), Err(PlanError::Until { .. })), "{step}");
        }
        assert!(matches!(Plan::new(2.0, 1.0), Err(PlanError::Beyond { .. })));
        assert!(matches!(Plan::new(1e-300, 1.0), Err(PlanError::TooMany { .. })));
    }
}
