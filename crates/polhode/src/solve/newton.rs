//! Newton's method for the equations of one step: policy only. What the unknowns are, how they are guessed and
//! how the Jacobian is made is behind [`Equations`].
//!
//! The Jacobian is taken once per step, then chord iterations follow; it is refreshed where they converge
//! slowly. A lane that has converged is frozen, so a lane never depends on its neighbours.

use super::error::StepError;
use crate::archive::kept;
use crate::scalar::{Mask, Real};

/// Work counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Nonlinear systems solved (a composition has several per step, an explicit method none).
    pub solves: u64,
    /// Newton iterations in all of them.
    pub iterations: u64,
    /// Most iterations in one solve.
    pub most_iterations: u64,
    /// Jacobians made.
    pub jacobians: u64,
    /// Solves that needed a higher rung of the ladder.
    pub retries: u64,
}

kept!(Work { solves, iterations, most_iterations, jacobians, retries });

/// The rungs of the retry ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rung {
    /// Guess by a short Taylor step, cheap Jacobian.
    Quick,
    /// Guess by an explicit fourth-order step, exact Jacobian.
    Careful,
    /// From the start of the step, exact Jacobian: for loads so stiff that every explicit guess is far off.
    NoAcceleration,
    /// From all unknowns zero: the body stays where it is, so a stiff spring is not stretched.
    NoMotion,
    /// From the solution of a shorter step, exact Jacobian.
    Continued,
}

/// The nonlinear equations of one step, with their current iterate inside.
pub(crate) trait Equations<S: Real> {
    /// True if every solution gets a last correction, not only one that was hard to find.
    fn is_polished(&self) -> bool {
        false
    }
    /// Sets the iterate in the lanes of the mask; `Continued` keeps what is there.
    fn guess(&mut self, rung: Rung, lanes: S::Mask);
    /// Changes the step to this fraction of itself.
    fn shorten(&mut self, fraction: f64);
    /// Evaluates the residual at the iterate.
    fn residual(&mut self);
    /// The size of the residual that was evaluated last, not relative to anything.
    fn misfit(&self) -> S;
    /// Factors the Jacobian at the iterate in the lanes of the mask.
    fn linearize(&mut self, rung: Rung, lanes: S::Mask);
    /// The same by a cheap approximation, for the first Jacobian of a step; false if there is none. Not part of the object
    /// that the cold rungs see, so that the code of the hot one stays together.
    fn linearize_cheaply(&mut self, _lanes: S::Mask) -> bool
    where
        Self: Sized,
    {
        false
    }
    /// One correction in the lanes of the mask; its size relative to the iterate.
    fn correct(&mut self, lanes: S::Mask) -> S;
    /// True if the factors at hand, those of an earlier solution, are good enough to begin with.
    fn prepared(&self) -> bool {
        false
    }
    /// How far the iterate has moved since the Jacobian was formed, in radians: a lower bound for the contraction factor,
    /// also where the corrections so far were in a direction in which the equations are straight.
    fn distance_from_jacobian(&self) -> S;
    /// A correction this small, relative to the iterate, is round-off.
    fn round_off(&self) -> f64 {
        ROUND_OFF
    }
    /// False if the Jacobian leaves so much out that a last correction that did not shrink is its doing, not round-off.
    fn may_stall(&self) -> bool {
        true
    }
    /// How far the iterate is from its guess, relative to its size.
    fn moved(&self) -> S;
    /// Time and step, for messages.
    fn interval(&self) -> (S, S);
}

/// A correction this small is round-off, where nothing adds it up.
pub(crate) const ROUND_OFF: f64 = 4.0 * f64::EPSILON;
/// What is left of the error after the last correction, relative to the iterate, by the observed contraction.
const TARGET: f64 = 0.05 * f64::EPSILON;
/// Corrections below this that no longer shrink are the round-off of an ill-conditioned residual.
const FLOOR: f64 = 1e-12;
/// Up to this they are, if they did not shrink twice in a row, with a fresh Jacobian in between.
const STALE: f64 = 1e-8;
/// A Jacobian that would need more than this many further iterations calls for a fresh one.
const PATIENCE: i32 = 4;
/// A quick solution this far from its guess may lie on another root (Krysl's problem 5.4 has one): look again
/// with the careful guess.
const FAR: f64 = 0.02;
/// After this many iterations a quick guess that no longer shrinks is given up.
const QUICK_ITERATIONS: u64 = 8;
const MOST_ITERATIONS: u64 = 16;
/// Corrections that are down to [`FLOOR`] then, and shrink slowly, may go on for as long: it is their rounding that ends them.
const LAST_ITERATIONS: u64 = 2 * MOST_ITERATIONS;
/// Continuation: the number of equal parts in which the step grows to its length.
const PARTS: usize = 8;

/// Solves the equations in all lanes, climbing the ladder where needed.
#[inline(always)]
pub(crate) fn newton<S: Real, E: Equations<S>>(equations: &mut E, work: &mut Work) -> Result<(), StepError> {
    work.solves += 1;
    let before = work.iterations;
    let all = S::Mask::splat(true);
    let accepted = quick::<S, E, CheaplyFirst>(equations, work);
    let outcome = if accepted.all() { Ok(()) } else { climb(equations, accepted.not(), before, work) };
    if equations.is_polished() && outcome.is_ok() {
        polish(equations, accepted, work);
    }
    // Values settle before their derivatives, which one correction with an exact Jacobian makes exact, order by order.
    for _ in 0..if outcome.is_ok() { S::DEPTH } else { 0 } {
        equations.residual();
        equations.linearize(Rung::Careful, all);
        equations.correct(all);
        work.jacobians += 1;
        work.iterations += 1;
    }
    work.most_iterations = work.most_iterations.max(work.iterations - before);
    outcome
}

/// The lowest rung: the lanes that it settles.
#[inline(always)]
fn quick<S: Real, E: Equations<S>, J: Linearize<S, E>>(equations: &mut E, work: &mut Work) -> S::Mask {
    let all = S::Mask::splat(true);
    equations.guess(Rung::Quick, all);
    let (converged, _) = iterate::<S, E, J>(equations, Rung::Quick, all, work);
    converged.and(equations.moved().below(S::lift(FAR)))
}

/// True if the lowest rung settles all lanes with one cheap Jacobian, as in all but a few steps of most runs: then the
/// iterate is what [`newton`] finds, to the bit, and little code is compiled.
#[inline(always)]
pub(crate) fn at_once<S: Real, E: Equations<S>>(equations: &mut E, work: &mut Work) -> bool {
    quick::<S, E, CheaplyOnly>(equations, work).all()
}

/// Which Jacobian an iteration takes. A type and no closure, because closures are not always inlined.
trait Linearize<S: Real, E: ?Sized> {
    /// True if the first iterations are compiled each by itself.
    const UNROLLED: bool = false;
    /// False if there is none.
    fn linearize(equations: &mut E, rung: Rung, lanes: S::Mask) -> bool;
}

struct CheaplyOnly;
struct CheaplyFirst;
struct Exactly;

impl<S: Real, E: Equations<S>> Linearize<S, E> for CheaplyOnly {
    const UNROLLED: bool = true;
    #[inline(always)]
    fn linearize(equations: &mut E, rung: Rung, lanes: S::Mask) -> bool {
        rung == Rung::Quick && equations.linearize_cheaply(lanes)
    }
}
impl<S: Real, E: Equations<S>> Linearize<S, E> for CheaplyFirst {
    #[inline(always)]
    fn linearize(equations: &mut E, rung: Rung, lanes: S::Mask) -> bool {
        CheaplyOnly::linearize(equations, rung, lanes) || Exactly::linearize(equations, rung, lanes)
    }
}
impl<S: Real, E: Equations<S> + ?Sized> Linearize<S, E> for Exactly {
    #[inline(always)]
    fn linearize(equations: &mut E, rung: Rung, lanes: S::Mask) -> bool {
        equations.linearize(rung, lanes);
        true
    }
}

/// One more correction with the Jacobian at hand. Under a stiff load a correction counts as round-off that a momentum
/// does not, and what it leaves would be missing in the energy.
#[inline(always)]
fn polish<S: Real, E: Equations<S> + ?Sized>(equations: &mut E, lanes: S::Mask, work: &mut Work) {
    equations.residual();
    equations.correct(lanes);
    work.iterations += 1;
}

/// The higher rungs, for the lanes that the quick one did not settle. Off the hot path, so that one copy serves all
/// equations in a scalar.
#[cold]
#[inline(never)]
fn climb<S: Real>(
    equations: &mut dyn Equations<S>,
    mut open: S::Mask,
    before: u64,
    work: &mut Work,
) -> Result<(), StepError> {
    work.retries += 1;
    let climbing = open;
    // Of the two guesses the one with the smaller residual: where the load is stiff, an explicit one is far off and
    // leads to a root that has nothing to do with the motion.
    equations.guess(Rung::Careful, open);
    equations.residual();
    let explicit = equations.misfit();
    equations.guess(Rung::NoMotion, open);
    equations.residual();
    let calm = equations.misfit().below(explicit).or(explicit.is_finite().not());
    equations.guess(Rung::Careful, open.and(calm.not()));
    let (converged, mut last) = iterate_again(equations, Rung::Careful, open, work);
    open = open.and(converged.not());
    if open.any() {
        equations.guess(Rung::NoAcceleration, open);
        let converged;
        (converged, last) = iterate_again(equations, Rung::NoAcceleration, open, work);
        open = open.and(converged.not());
    }
    if open.any() {
        for part in 1..=PARTS {
            equations.shorten(part as f64 / PARTS as f64);
            if part == 1 {
                equations.guess(Rung::Careful, open);
            }
            let converged;
            (converged, last) = iterate_again(equations, Rung::Continued, open, work);
            if part == PARTS {
                open = open.and(converged.not());
            }
        }
    }
    if open.any() {
        let (t, h) = equations.interval();
        let iterations = work.iterations - before;
        return Err(StepError::NotConverged {
            t: t.largest(),
            h: h.largest(),
            iterations,
            residual: S::select(open, last, S::zero()).largest(),
        });
    }
    // The iteration that found the solution may have begun far from it, and its Jacobian with it.
    equations.linearize(Rung::Careful, climbing);
    work.jacobians += 1;
    polish(equations, climbing, work);
    Ok(())
}

/// [`iterate`] off the hot path, compiled once.
#[cold]
#[inline(never)]
fn iterate_again<S: Real>(
    equations: &mut dyn Equations<S>,
    rung: Rung,
    lanes: S::Mask,
    work: &mut Work,
) -> (S::Mask, S) {
    iterate::<S, _, Exactly>(equations, rung, lanes, work)
}

/// Iterates the given lanes from the current guess; which of them converged, and the last relative correction. It ends
/// where there is no Jacobian.
#[inline(always)]
fn iterate<S: Real, E: Equations<S> + ?Sized, J: Linearize<S, E>>(
    equations: &mut E,
    rung: Rung,
    lanes: S::Mask,
    work: &mut Work,
) -> (S::Mask, S) {
    let mut progress = Progress::new(equations, rung, lanes);
    // Where the first iterations stand by themselves, nothing is compared with what is not known yet.
    let apart = if J::UNROLLED { 2 } else { 0 };
    let mut on = true;
    if J::UNROLLED {
        on = progress.advance::<E, J>(equations, work, 1) && progress.advance::<E, J>(equations, work, 2);
    }
    for n in apart + 1..=LAST_ITERATIONS {
        on = on && progress.advance::<E, J>(equations, work, n);
        if !on {
            break;
        }
    }
    (lanes.and(progress.active.or(progress.given_up).not()), progress.relative)
}

/// How far an iteration has come.
struct Progress<S: Real> {
    rung: Rung,
    most: u64,
    /// The lanes that have not converged.
    active: S::Mask,
    /// Those that will not.
    given_up: S::Mask,
    /// Those that want a new Jacobian.
    refresh: S::Mask,
    /// The last relative corrections.
    relative: S,
    previous: S,
    /// The smallest, and how long ago that was.
    best: S,
    stale: S,
}

impl<S: Real> Progress<S> {
    #[inline(always)]
    fn new<E: Equations<S> + ?Sized>(equations: &E, rung: Rung, lanes: S::Mask) -> Self {
        let quick = rung == Rung::Quick;
        Progress {
            rung,
            most: if quick { QUICK_ITERATIONS } else { MOST_ITERATIONS },
            active: lanes,
            given_up: S::Mask::splat(false),
            refresh: if quick && equations.prepared() { S::Mask::splat(false) } else { lanes },
            // Not known yet: every comparison with it is false.
            relative: S::lift(f64::NAN),
            previous: S::lift(f64::NAN),
            // Not infinite: double-double numbers have no infinity.
            best: S::lift(1e200),
            stale: S::zero(),
        }
    }

    /// The n-th iteration; true if there is to be another one.
    #[inline(always)]
    fn advance<E: Equations<S> + ?Sized, J: Linearize<S, E>>(
        &mut self,
        equations: &mut E,
        work: &mut Work,
        n: u64,
    ) -> bool {
        equations.residual();
        if self.refresh.any() {
            if !J::linearize(equations, self.rung, self.refresh) {
                return false;
            }
            work.jacobians += 1;
        }
        let correction = equations.correct(self.active);
        work.iterations += 1;
        // Frozen lanes keep what they had, so that their record does not depend on their neighbours.
        self.relative = S::select(self.active, correction, self.relative);
        let (relative, previous) = (self.relative, self.previous);
        let contracting = relative.below(S::lift(0.5) * previous);
        let shrunk = relative.below(S::lift(0.5) * self.best);
        self.stale = S::select(shrunk, S::zero(), self.stale + S::one());
        self.best = S::select(shrunk, relative, self.best);
        let stuck = relative
            .below(S::lift(FLOOR))
            .and(S::lift(0.5).below(self.stale))
            .or(relative.below(S::lift(STALE)).and(S::lift(1.5).below(self.stale)))
            .and(S::Mask::splat(equations.may_stall()));
        let settled = relative
            .below(S::lift(equations.round_off()))
            .or((relative * relative)
                .below(S::lift(TARGET) * previous)
                .and((relative * equations.distance_from_jacobian()).below(S::lift(TARGET)))
                .and(contracting))
            .or(stuck);
        self.active = self.active.and(settled.not());
        if n >= self.most {
            // What still shrinks, or is small already, may go on.
            let hopeful = match n < MOST_ITERATIONS {
                true => shrunk.or(relative.below(S::lift(STALE))),
                false => relative.below(S::lift(FLOOR)),
            };
            self.given_up = self.given_up.or(self.active.and(hopeful.not()));
            self.active = self.active.and(hopeful);
        }
        if !self.active.any() {
            return false;
        }
        self.refresh =
            self.active.and(S::lift(TARGET).below(relative * (relative / previous).powi(PATIENCE)));
        // After a refresh the old contraction says nothing about the new Jacobian.
        self.previous = S::select(self.refresh, S::lift(f64::NAN), relative);
        self.rung = if self.rung == Rung::Quick { Rung::Careful } else { self.rung };
        true
    }
}
