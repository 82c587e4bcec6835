//! Fixed steps from zero that end exactly at the end time.

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
    fn bad_plans_are_refused() {
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Plan::new(step, 1.0), Err(PlanError::Step { .. })), "{step}");
            assert!(matches!(Plan::new(0.1, step), Err(PlanError::Until { .. })), "{step}");
        }
        assert!(matches!(Plan::new(2.0, 1.0), Err(PlanError::Beyond { .. })));
        assert!(matches!(Plan::new(1e-300, 1.0), Err(PlanError::TooMany { .. })));
    }
}
