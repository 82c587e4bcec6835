//! Four runs side by side in the lanes of vector registers, each with the bits that it has by itself.

use super::one_body::Began;
use super::{Invariants, Plan, Run, RunFailure, RunReport, Stretch, Turning, drive_on, ended, stretch};
use crate::body::{Acting, Body, Narrow, RotaryInertia, State};
use crate::group::{Rotation, So3};
use crate::method::Straight;
use crate::scalar::{F64x4, Lanes, Mask, lanes_of};
#[cfg(target_arch = "x86_64")]
use crate::scalar::{Task, avx};
use core::ops::ControlFlow;

/// How many runs go side by side.
pub const ABREAST: usize = 4;

/// Steps that each takes by itself where one was not plain for all of them.
const ALONE: u64 = 8;

/// Sees one of several runs, by its place, after a step; may stop it.
pub type Watcher<'a> = dyn FnMut(usize, u64, &mut dyn Run) -> ControlFlow<()> + 'a;

/// True if a run gains by going beside others: it is of a body about a fixed point, under a method that carries nothing from
/// step to step (`akw`, `imidm`, `trapm` and compositions of them), and none of its steps is looked into.
pub fn goes_abreast(run: &mut dyn Run) -> bool {
    run.turning().is_some_and(|run| is_plain(run))
}

fn is_plain(run: &Turning) -> bool {
    run.switches.is_empty() && !run.tracked.estimates() && Straight::<f64>::of(&run.stepper).is_some()
}

/// Drives four runs of one kind, which differ in numbers, as [`drive`](super::drive) does each of them, to the bit. The
/// observer sees the start of each, the steps that `next` names, each after the one before, and the end; it may see more. What has
/// drifted is known at the end, and what steps in lanes have spent is not counted. Runs that have nothing in common are driven
/// one after the other.
///
/// ```
/// use core::ops::ControlFlow;
/// use polhode::{method::Method, problem::Problem, run::{Plan, begin, drive, drive_abreast, goes_abreast}};
/// let (method, plan) = (Method::parse("akw")?, Plan::new(1e-3, 0.5)?);
/// let run = |mgl: &str| {
///     let mut top = Problem::named("slow-top")?;
///     top.set("mgl", mgl)?;
///     Ok::<_, Box<dyn std::error::Error>>(begin(top.model()?.system(), &method)?)
/// };
/// let mut four = [run("10")?, run("11")?, run("12")?, run("13")?];
/// assert!(goes_abreast(&mut *four[0]));
/// let runs = four.each_mut().map(|run| &mut **run);
/// let ends = drive_abreast(runs, &plan, &|_| plan.steps(), &mut |_, _, _| ControlFlow::Continue(()));
/// let alone = drive(&mut *run("12")?, &plan, &mut |_, _| ControlFlow::Continue(()))?;
/// assert!(ends[2].as_ref().is_ok_and(|end| end.last == alone.last && end.drift == alone.drift));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn drive_abreast(
    runs: [&mut (dyn Run + '_); ABREAST],
    plan: &Plan,
    next: &dyn Fn(u64) -> u64,
    observer: &mut Watcher<'_>,
) -> [Result<RunReport, RunFailure>; ABREAST] {
    let mut runs: [&mut dyn Run; ABREAST] = runs.map(|run| run as _);
    let mut went: [Stretch; ABREAST] = core::array::from_fn(|k| {
        let flow = observer(k, 0, &mut *runs[k]);
        Stretch { steps: 0, flow, failure: None }
    });
    while went.iter().all(Stretch::goes_on) && went[0].steps < plan.steps() {
        let mut side = SideBySide { runs: &mut runs, plan, next, observer, went: &mut went };
        if !side.by_side() {
            break;
        }
        if went.iter().all(Stretch::goes_on) {
            for (k, (run, went)) in runs.iter_mut().zip(&mut went).enumerate() {
                let (from, to) = (went.steps, plan.steps().min(went.steps + ALONE));
                *went = stretch(&mut **run, plan, from, to, &mut |n, run| observer(k, n, run));
            }
        }
    }
    core::array::from_fn(|k| {
        let (run, Stretch { steps, flow, failure }) = (&mut *runs[k], went[k].clone());
        match (flow, failure) {
            (ControlFlow::Continue(()), None) => {
                drive_on(run, plan, steps, &mut |n, run| observer(k, n, run))
            }
            (_, failure) => ended(run, steps, steps == plan.steps(), failure),
        }
    })
}

/// Runs on their way together.
struct SideBySide<'a, 'b, 'r> {
    runs: &'a mut [&'r mut dyn Run; ABREAST],
    plan: &'a Plan,
    next: &'a dyn Fn(u64) -> u64,
    observer: &'a mut Watcher<'b>,
    /// How far they are.
    went: &'a mut [Stretch; ABREAST],
}

/// Four bodies in lanes, with all that is followed of them.
struct Four<S: Lanes> {
    straight: Straight<S>,
    body: Body<S, So3, Acting<S, Narrow>>,
    state: State<S, So3>,
    invariants: Invariants<S>,
}

impl<S: Lanes> Four<S> {
    /// Those of runs that differ in numbers alone.
    fn of(runs: &mut [&mut dyn Run; ABREAST]) -> Option<Self> {
        let [a, b, c, d] = runs.each_mut().map(|run| run.turning().filter(|run| is_plain(run)));
        let runs: [&Turning; ABREAST] = [a?, b?, c?, d?];
        let first = runs[0];
        if !runs.iter().all(|run| run.identity.has_method_of(&first.identity) && run.time == first.time) {
            return None;
        }
        let pose = |of: fn(&Rotation<f64>) -> f64| S::of_four(runs.map(|run| of(&run.state.pose)));
        Some(Four {
            straight: Straight::of(&first.stepper)?,
            body: Body {
                inertia: RotaryInertia::of_four(runs.map(|run| &run.body.inertia))?,
                load: Acting::of_four(runs.map(|run| &run.body.load))?,
            },
            state: State {
                pose: Rotation { w: pose(|q| q.w), v: lanes_of(runs.map(|run| &run.state.pose.v)) },
                momentum: lanes_of(runs.map(|run| &run.state.momentum)),
            },
            invariants: Invariants::of_four(runs.map(|run| &run.tracked.invariants))?,
        })
    }
    /// Puts the states back where they were taken from, as they are after a step from a state and a time.
    #[inline(never)]
    fn put_back(&self, runs: &mut [&mut dyn Run; ABREAST], before: &State<S, So3>, times: [f64; 2]) {
        for (lane, run) in runs.iter_mut().enumerate() {
            if let Some(run) = run.turning() {
                run.before = Some(Began(one(before, lane), times[0]));
                (run.state, run.time, run.passage) = (one(&self.state, lane), times[1], None);
            }
        }
    }
    /// The same of all that is followed.
    fn put_back_rest(&self, runs: &mut [&mut dyn Run; ABREAST]) {
        for (lane, run) in runs.iter_mut().enumerate() {
            if let Some(run) = run.turning() {
                run.tracked.invariants = self.invariants.lane(lane);
            }
        }
    }
}

/// One of the bodies of a lane scalar, by itself.
pub(crate) fn one<S: Lanes>(state: &State<S, So3>, lane: usize) -> State<f64, So3> {
    let lane = |x: S| x.four()[lane];
    State { pose: state.pose.map(lane), momentum: state.momentum.map(lane) }
}

impl SideBySide<'_, '_, '_> {
    /// Goes as far as all steps are plain; false if these runs do not go together.
    fn by_side(&mut self) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(went) = avx::run(Wide(self)) {
            return went;
        }
        self.steps::<F64x4>()
    }

    #[inline(always)]
    fn steps<S: Lanes>(&mut self) -> bool {
        let Some(mut four) = Four::<S>::of(self.runs) else { return false };
        let (plan, from) = (self.plan, self.went[0].steps);
        let (mut n, mut due, mut before) = (from, (self.next)(from), four.state);
        let mut goes_on = true;
        while goes_on && n < plan.steps() {
            let (t, h) = (S::lift(plan.time(n)), S::lift(plan.size(n)));
            let Some(state) = four.straight.step(&four.body, &four.state, t, h) else { break };
            let mut invariants = four.invariants;
            invariants.update(&four.body, &state, S::lift(plan.time(n + 1)));
            // What overflows is told by a step of its own.
            if !invariants.is_finite().all() {
                break;
            }
            (before, four.state, four.invariants, n) = (four.state, state, invariants, n + 1);
            if n >= due || n == plan.steps() {
                four.put_back(self.runs, &before, [plan.time(n - 1), plan.time(n)]);
                goes_on = self.look(n);
                due = (self.next)(n);
            }
        }
        if n > from {
            four.put_back(self.runs, &before, [plan.time(n - 1), plan.time(n)]);
            four.put_back_rest(self.runs);
        }
        self.went.iter_mut().for_each(|one| one.steps = n);
        true
    }

    /// Shows all of them; false if one is to stop.
    #[inline(never)]
    fn look(&mut self, n: u64) -> bool {
        for (k, (run, went)) in self.runs.iter_mut().zip(&mut *self.went).enumerate() {
            went.flow = (self.observer)(k, n, &mut **run);
        }
        self.went.iter().all(Stretch::goes_on)
    }
}

/// [`SideBySide::steps`] in wide registers.
#[cfg(target_arch = "x86_64")]
struct Wide<'a, 'b, 'c, 'r>(&'a mut SideBySide<'b, 'c, 'r>);

#[cfg(target_arch = "x86_64")]
impl Task for Wide<'_, '_, '_, '_> {
    type Output = bool;
    #[inline(always)]
    fn run(self) -> bool {
        self.0.steps::<avx::Avx4>()
    }
}

#[cfg(test)]
mod tests;
