//! Steps in one piece, for many bodies in lanes: load and scheme are inlined into the loop over the steps.

use super::implicit::step_at_once;
use super::named::Method;
use super::registry::Substep;
use super::scheme::{Handover, Start};
use super::schemes::AnyScheme;
use super::{euler, stepper};
use crate::body::{Body, Dynamics, Load, State};
use crate::scalar::Real;
use crate::solve::Work;

/// A method that carries nothing from step to step and whose equations are solved at once in plain steps. It has the bits of
/// [`Stepper`](super::Stepper); where a lane asks for more than a plain step it says so, and that one has to take it.
#[derive(Clone, Debug)]
pub(crate) struct Straight<S> {
    /// What runs, where in the step it begins and what fraction of it it takes.
    parts: Vec<(Part, S, S)>,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    ForwardMomentum,
    BackwardMomentum(euler::BackwardMomentum),
    Akw(super::midpoint::Akw),
}

impl Part {
    fn of(part: &Substep) -> Option<Self> {
        match part {
            Substep::ForwardMomentum => Some(Part::ForwardMomentum),
            Substep::Implicit(AnyScheme::BackwardMomentum(scheme)) => Some(Part::BackwardMomentum(*scheme)),
            Substep::Implicit(AnyScheme::Akw(scheme)) => Some(Part::Akw(*scheme)),
            _ => None,
        }
    }
}

impl<S: Real> Straight<S> {
    /// True for the methods that it is for.
    pub(crate) fn can(method: &Method) -> bool {
        method.parts().iter().all(|(part, _)| Part::of(part).is_some())
    }

    /// Prepares such a method.
    pub(crate) fn new(method: &Method) -> Self {
        let parts = stepper::placed(method);
        Straight { parts: parts.filter_map(|(part, begin, h)| Some((Part::of(part)?, begin, h))).collect() }
    }

    /// The same for the method of a stepper, if it is one of them.
    pub(crate) fn of<G: Dynamics>(stepper: &stepper::Stepper<f64, G>) -> Option<Self> {
        let part = |(part, begin, fraction): &(Substep, f64, f64)| {
            Some((Part::of(part)?, S::lift(*begin), S::lift(*fraction)))
        };
        Some(Straight { parts: stepper.parts.iter().map(part).collect::<Option<_>>()? })
    }

    /// The state after a step, if it is a plain one in all lanes.
    #[inline(always)]
    pub(crate) fn step<G: Dynamics, L: Load<S>>(
        &self,
        body: &Body<S, G, L>,
        state: &State<S, G>,
        t: S,
        h: S,
    ) -> Option<State<S, G>> {
        let mut next = *state;
        let (handover, work) = (&mut Handover::new(), &mut Work::default());
        for (n, (part, begin, fraction)) in self.parts.iter().enumerate() {
            handover.goes_on = n + 1 < self.parts.len();
            let (t, h) = (t + *begin * h, *fraction * h);
            next = match part {
                Part::ForwardMomentum => {
                    euler::forward_momentum(&Start::behind(body, &next, t, h, handover.take()))
                }
                Part::BackwardMomentum(scheme) => step_at_once(scheme, body, &next, (t, h), handover, work)?,
                // Nothing is handed over: the code for it would cost the one part that most have twice its time.
                Part::Akw(scheme) => step_at_once(scheme, body, &next, (t, h), &mut Handover::new(), work)?,
            };
        }
        stepper::finished(next)
    }
}
