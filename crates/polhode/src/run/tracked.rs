//! What is followed of one body from step to step.

use super::{Drift, EnergyEstimate, Invariants, StepEstimate};
use crate::archive::kept;
use crate::body::Dynamics;
use crate::body::{Body, Load, State};

/// The invariants of a body, and the estimate of its energy error if that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    pub(super) invariants: Invariants,
    estimate: Option<EnergyEstimate>,
    /// Of the last step; zero at the start.
    seen: Option<StepEstimate>,
}

kept!(Tracked { invariants, estimate, seen });

impl Tracked {
    pub(super) fn new<G: Dynamics, L: Load<f64>>(body: &Body<f64, G, L>, start: &State<f64, G>) -> Self {
        Tracked { invariants: Invariants::new(body, start, 0.0), estimate: None, seen: None }
    }
    /// Estimates the energy error from now on, of a body whose loads have a potential or not.
    pub(super) fn estimate(&mut self, has_potential: bool) {
        self.estimate = Some(EnergyEstimate::new());
        self.seen = has_potential.then(StepEstimate::default);
    }
    /// One step of size `h` that ended at the time `to`.
    #[inline]
    pub(super) fn update<G: Dynamics, L: Load<f64>>(
        &mut self,
        body: &Body<f64, G, L>,
        (before, t): (&State<f64, G>, f64),
        h: f64,
        (after, to): (&State<f64, G>, f64),
    ) {
        self.invariants.update(body, after, to);
        if let Some(estimate) = &mut self.estimate {
            self.seen = estimate.observe(body, before, t, h, after);
        }
    }
    #[inline]
    pub(super) fn overflow(&self) -> Option<&'static str> {
        match &self.estimate {
            Some(estimate) if !estimate.is_finite() => Some("the estimate of the energy error"),
            _ => self.invariants.overflow(),
        }
    }
    /// True if the energy error of each step is estimated.
    pub(super) fn estimates(&self) -> bool {
        self.estimate.is_some()
    }
    pub(super) fn drift(&self) -> Drift {
        self.invariants.drift()
    }
    pub(super) fn energy_estimate(&self) -> Option<&EnergyEstimate> {
        self.estimate.as_ref()
    }
    pub(super) fn seen(&self) -> Option<StepEstimate> {
        self.seen
    }
}
