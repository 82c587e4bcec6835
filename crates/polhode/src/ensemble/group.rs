//! Some of the bodies of an ensemble, four at a time.

use super::{End, Family, Members};
use crate::body::{Body, Dynamics, Load, State};
use crate::group::{Se3, So3};
use crate::method::{Method, Stepper, Steps, Straight};
use crate::run::{Plan, one};
use crate::scalar::{F64x4, Lanes, Real};
#[cfg(target_arch = "x86_64")]
use crate::scalar::{Task, avx};
use crate::solve::StepError;

/// The end of a state, in one of its lanes.
fn end<S: Real, G: Dynamics>(state: &State<S, G>, lane: &dyn Fn(S) -> f64) -> End {
    let seen = G::kinematics(S::zero(), &state.pose, &state.momentum);
    End {
        q_wxyz: seen.attitude.q_wxyz().map(lane),
        position: seen.position.map(lane),
        momentum_body: G::angular(&state.momentum).map(lane),
        linear_momentum_body: G::linear(&state.momentum).map(lane),
    }
}

/// What becomes of a body, or of several in lanes, from the step `first` on.
fn steps<S: Real, G: Steps<S>, L: Load<S>>(
    body: &Body<S, G, L>,
    start: State<S, G>,
    method: &Method,
    plan: &Plan,
    first: u64,
) -> Result<State<S, G>, StepError> {
    let mut stepper = Stepper::<S, G>::new(method);
    let mut state = start;
    for n in first..plan.steps() {
        state = stepper.step(body, &state, S::lift(plan.time(n)), S::lift(plan.size(n)))?;
    }
    Ok(state)
}

/// A group whose bodies are stepped together.
pub trait Together: Steps<f64> + Steps<F64x4> {
    /// The end of each of some bodies.
    #[doc(hidden)]
    fn ends<F: Family<Self>>(bodies: &Group<'_, F>) -> Ends;
}

impl Together for So3 {
    fn ends<F: Family<So3>>(bodies: &Group<'_, F>) -> Ends {
        if !Straight::<f64>::can(bodies.method) {
            return bodies.by_steppers();
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(ends) = avx::run(Straightly(bodies)) {
            return ends;
        }
        bodies.straightly::<F64x4>()
    }
}

/// Six unknowns in one piece would take minutes to compile.
impl Together for Se3 {
    fn ends<F: Family<Se3>>(bodies: &Group<'_, F>) -> Ends {
        bodies.by_steppers()
    }
}

/// Some of the bodies, what is done with them, and how.
#[derive(Debug)]
pub struct Group<'a, F> {
    pub(super) family: &'a F,
    pub(super) members: &'a Members<'a>,
    pub(super) range: core::ops::Range<usize>,
    pub(super) method: &'a Method,
    pub(super) plan: &'a Plan,
}

/// What becomes of each.
pub type Ends = Vec<Result<End, StepError>>;

impl<F> Group<'_, F> {
    /// One of them by itself, from a step on if its state is known there.
    fn alone<G: Steps<f64>>(&self, k: usize, known: Option<(u64, State<f64, G>)>) -> Result<End, StepError>
    where
        F: Family<G>,
    {
        let (body, start) = self.family.member::<f64>(&|i| self.members.number(k, i));
        let (first, state) = known.unwrap_or((0, start));
        let last = steps(&body, state, self.method, self.plan, first)?;
        finite(end(&last, &|x| x), self.plan)
    }

    /// Numbers by their places, of four bodies.
    fn number<S: Lanes>(&self, k: usize, i: usize) -> S {
        S::of_four(core::array::from_fn(|lane| self.members.number(k + lane, i)))
    }

    /// Four at a time, by plain steps that are compiled in one piece.
    #[inline(always)]
    fn straightly<S: Lanes>(&self) -> Ends
    where
        F: Family<So3>,
    {
        let straight = Straight::<S>::new(self.method);
        let mut ends = Vec::with_capacity(self.range.len());
        let mut k = self.range.start;
        while k + 4 <= self.range.end {
            let (body, start) = self.family.member::<S>(&|i| self.number(k, i));
            let (mut state, mut n) = (start, 0);
            while n < self.plan.steps() {
                let (t, h) = (S::lift(self.plan.time(n)), S::lift(self.plan.size(n)));
                let Some(next) = straight.step(&body, &state, t, h) else { break };
                (state, n) = (next, n + 1);
            }
            // A step that is not plain for one of them is the end of the lanes, and each goes on by itself.
            ends.extend((0..4).map(|lane| self.alone(k + lane, Some((n, one(&state, lane))))));
            k += 4;
        }
        ends.extend((k..self.range.end).map(|k| self.alone(k, None)));
        ends
    }

    /// Four at a time, by steppers.
    fn by_steppers<G: Steps<f64> + Steps<F64x4>>(&self) -> Ends
    where
        F: Family<G>,
    {
        let mut ends = Vec::with_capacity(self.range.len());
        let mut k = self.range.start;
        while k + 4 <= self.range.end {
            let (body, start) = self.family.member::<F64x4>(&|i| self.number(k, i));
            match steps(&body, start, self.method, self.plan, 0) {
                Ok(state) => {
                    ends.extend((0..4).map(|lane| finite(end(&state, &|x: F64x4| x.lane(lane)), self.plan)))
                }
                // Each by itself tells which of them it was.
                Err(_) => ends.extend((k..k + 4).map(|k| self.alone(k, None))),
            }
            k += 4;
        }
        ends.extend((k..self.range.end).map(|k| self.alone(k, None)));
        ends
    }
}

/// [`Group::straightly`] in wide registers.
#[cfg(target_arch = "x86_64")]
struct Straightly<'a, F>(&'a Group<'a, F>);

#[cfg(target_arch = "x86_64")]
impl<F: Family<So3>> Task for Straightly<'_, F> {
    type Output = Ends;
    #[inline(always)]
    fn run(self) -> Ends {
        self.0.straightly::<avx::Avx4>()
    }
}

fn finite(end: End, plan: &Plan) -> Result<End, StepError> {
    let vectors = [end.position, end.momentum_body, end.linear_momentum_body];
    let all = end.q_wxyz.iter().chain(vectors.iter().flatten());
    match all.fold(0.0, |sum, x| sum + 0.0 * x) == 0.0 {
        true => Ok(end),
        false => Err(StepError::Overflow { quantity: "the state".into(), t: plan.until() }),
    }
}

#[cfg(test)]
mod tests;
