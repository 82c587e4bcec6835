//! Many single bodies of one kind at once: four in the lanes of vector registers, and groups of them on several threads.
//!
//! Each body gets the bits of its own run. A body whose step fails is a failure of its own: its neighbours are run again
//! without it.
//!
//! ```
//! use nalgebra::{Matrix3, Vector3};
//! use polhode::body::{Body, RotaryInertia, State, TopGravity};
//! use polhode::ensemble::{Family, Members, run};
//! use polhode::group::{Rotation, So3};
//! use polhode::{method::Method, run::Plan, scalar::Real};
//!
//! /// Tops that differ in weight and spin.
//! struct Tops;
//! impl Family<So3> for Tops {
//!     type Load<S: Real> = TopGravity<S>;
//!     fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> (Body<S, So3, TopGravity<S>>, State<S, So3>) {
//!         let moments = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0)).map(S::lift);
//!         let top = Body { inertia: RotaryInertia::unchecked(moments), load: TopGravity { mgl: number(0) } };
//!         let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
//!         let start = top.state(tilt, &Vector3::new(S::zero(), S::zero(), number(1)));
//!         (top, start)
//!     }
//! }
//!
//! let numbers: Vec<f64> = (0..100).flat_map(|k| [10.0 + 0.1 * f64::from(k), 50.0]).collect();
//! let members = Members::new(&numbers, 2);
//! let (method, plan) = (Method::parse("akw")?, Plan::new(1e-3, 0.1)?);
//! let mut ends = Vec::new();
//! run(&Tops, &members, &method, &plan, 2, &mut |_, end| ends.push(end));
//! let mut alone = Vec::new();
//! run(&Tops, &Members::new(&numbers[14..16], 2), &method, &plan, 1, &mut |_, end| alone.push(end));
//! assert_eq!((ends.len(), &ends[7]), (100, &alone[0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::body::{Body, Dynamics, Load, State};
use crate::method::{Method, Stepper, Steps, Straight};
use crate::run::Plan;
#[cfg(target_arch = "x86_64")]
use crate::scalar::avx;
use crate::scalar::{F64x4, Lanes, Real};
use crate::solve::StepError;
use core::marker::PhantomData;
use nalgebra::Vector3;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// A body and its start.
pub type Member<S, G, L> = (Body<S, G, L>, State<S, G>);

/// Bodies that differ in some numbers: inertia, load, where they start.
pub trait Family<G: Dynamics>: Sync {
    /// What acts on them.
    type Load<S: Real>: Load<S>;
    /// A body and its start, from its numbers by their places.
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> Member<S, G, Self::Load<S>>;
}

/// The numbers of many bodies, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Members<'a> {
    numbers: &'a [f64],
    width: usize,
}

impl<'a> Members<'a> {
    /// So many numbers for each; what is left over at the end belongs to none.
    pub fn new(numbers: &'a [f64], width: usize) -> Self {
        Members { numbers, width: width.max(1) }
    }
    /// How many bodies.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.width
    }
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    fn number(&self, member: usize, i: usize) -> f64 {
        if i < self.width { self.numbers[member * self.width + i] } else { f64::NAN }
    }
}

/// Where a body is at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// Attitude, body to space, scalar first.
    pub q_wxyz: [f64; 4],
    /// Position of its origin in space; zero about a fixed point.
    pub position: Vector3<f64>,
    /// Angular momentum, body axes.
    pub momentum_body: Vector3<f64>,
    /// Linear momentum, body axes; zero about a fixed point.
    pub linear_momentum_body: Vector3<f64>,
}

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

/// Bodies that a thread takes at once.
const GROUP: usize = 64;

/// One of the bodies of a lane scalar, by itself.
fn one<S: Lanes, G: Dynamics>(state: &State<S, G>, lane: usize) -> State<f64, G> {
    let lane = |x: S| x.four()[lane];
    let seen = G::kinematics(S::zero(), &state.pose, &state.momentum);
    let (linear, angular) = (G::linear(&state.momentum), G::angular(&state.momentum));
    State {
        pose: G::pose(&seen.attitude.map(lane), &seen.position.map(lane)),
        momentum: G::vector(&linear.map(lane), &angular.map(lane)),
    }
}

/// Some of the bodies, what is done with them, and how.
#[derive(Clone)]
struct Group<'a, F> {
    family: &'a F,
    members: &'a Members<'a>,
    range: core::ops::Range<usize>,
    method: &'a Method,
    plan: &'a Plan,
}

type Ends = Vec<Result<End, StepError>>;

impl<F> Group<'_, F> {
    /// The end of each.
    fn ends<G: Steps<f64> + Steps<F64x4>>(&self) -> Ends
    where
        F: Family<G>,
    {
        if !Straight::<f64>::can(self.method) {
            return self.by_steppers();
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(ends) = avx::run(Straightly(self, PhantomData::<G>)) {
            return ends;
        }
        self.straightly::<G, F64x4>()
    }

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
    fn straightly<G: Steps<f64>, S: Lanes>(&self) -> Ends
    where
        F: Family<G>,
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
            ends.extend((0..4).map(|lane| self.alone(k + lane, Some((n, one::<S, G>(&state, lane))))));
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
struct Straightly<'a, F, G>(&'a Group<'a, F>, PhantomData<G>);

#[cfg(target_arch = "x86_64")]
impl<G: Steps<f64>, F: Family<G>> avx::Task for Straightly<'_, F, G> {
    type Output = Ends;
    #[inline(always)]
    fn run(self) -> Ends {
        self.0.straightly::<G, avx::Avx4>()
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

/// Runs all members over the steps of a plan, on several threads, and shows the end of each, in their order. What waits to be
/// shown is little, however many they are.
pub fn run<G: Steps<f64> + Steps<F64x4>, F: Family<G>>(
    family: &F,
    members: &Members<'_>,
    method: &Method,
    plan: &Plan,
    threads: usize,
    see: &mut dyn FnMut(usize, Result<End, StepError>),
) {
    let groups = members.len().div_ceil(GROUP);
    let range = |g: usize| g * GROUP..members.len().min((g + 1) * GROUP);
    let shown = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    // None runs far ahead of what is shown.
    let ahead = 8 * threads.max(1);
    std::thread::scope(|scope| {
        let (tell, told) = channel();
        for _ in 0..threads.max(1) {
            let (tell, next, shown) = (tell.clone(), &next, &shown);
            scope.spawn(move || {
                loop {
                    let g = next.fetch_add(1, Ordering::Relaxed);
                    if g >= groups {
                        break;
                    }
                    while g > shown.load(Ordering::Acquire) + ahead {
                        std::thread::yield_now();
                    }
                    let group = Group { family, members, range: range(g), method, plan };
                    if tell.send((g, group.ends::<G>())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(tell);
        let mut waiting = std::collections::BTreeMap::new();
        let mut due = 0;
        for (g, ends) in told {
            waiting.insert(g, ends);
            while let Some(ends) = waiting.remove(&due) {
                ends.into_iter().zip(range(due)).for_each(|(end, k)| see(k, end));
                due += 1;
                shown.store(due, Ordering::Release);
            }
        }
    });
}
