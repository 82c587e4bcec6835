//! The step with which a run is as good as asked for.
//!
//! Three runs with halved steps are compared at times that they have in common, their end among them. Where the
//! differences shrink with an order p, the last of them divided by 2^p - 1 is the error of the finest run, and divided by
//! 1 - 2^-p that of the run before it; where they do not, no estimate is trusted and steps get shorter. The first steps are
//! compared with much shorter ones too: a vibration that is too fast for the steps would be overlooked by all of them.

mod motion;

use crate::lookup::plain;
use crate::method::Method;
use crate::multibody::System;
use core::fmt;
use core::ops::ControlFlow;
use motion::{Gap, Motion, NoMotion, acceleration, extent};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sees the number of each step and how many its run has; may stop the search.
pub type Watch<'a> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'a;

/// A run beside the one with twice its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Halving {
    /// Its step.
    pub step: f64,
    /// How many of them.
    pub steps: u64,
    /// The largest difference along both runs: over the bodies, the angle between attitudes in rad, and the distance of
    /// positions relative to [`Reached::size`].
    pub difference: f64,
    /// The difference at the end.
    pub difference_at_end: f64,
}

/// A step, and how large the error of the run with it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// The step.
    pub step: f64,
    /// How many of them.
    pub steps: u64,
    /// The estimated error at the end.
    pub estimate: f64,
    /// The largest one along the run, its end among it.
    pub estimate_along: f64,
    /// The order that the last three runs show; nothing where their differences are rounding.
    pub observed: Option<f64>,
    /// The order p that the estimate is made with: the lower of the observed and the claimed one.
    pub order: f64,
    /// The step of the run that this one was compared with: half of it, or twice.
    pub beside: f64,
    /// The largest difference from that run.
    pub difference: f64,
    /// The largest distance of a body from its start, which errors of positions are relative to; nothing where no body
    /// changes its place.
    pub size: Option<f64>,
}

impl fmt::Display for Reached {
    /// How the error was estimated.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ahead = self.beside < self.step;
        let run = if ahead { "half" } else { "twice" };
        write!(f, "{:.2e}, the largest difference from the run with {run} the step", self.difference)?;
        match self.observed {
            Some(observed) => {
                let divisor = if ahead { "1 - 2^-p" } else { "2^p - 1" };
                write!(f, ", divided by {divisor} with p = {:.2}", self.order)?;
                match observed > self.order + 0.005 {
                    true => write!(f, "; three runs with halved steps show an order of {observed:.2}"),
                    false => write!(f, ", the order that three runs with halved steps show"),
                }
            }
            None => write!(f, "; so far below what was asked for no order is seen, and none is needed"),
        }
    }
}

/// Why no step was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// Differences stopped shrinking: rounding, which the motion may amplify.
    RoundOff {
        /// The difference at which they did.
        level: f64,
    },
    /// Runs do not approach each other.
    NoOrder {
        /// The last difference.
        difference: f64,
        /// The number of steps of the finer run.
        steps: u64,
    },
    /// It would take too long.
    Budget {
        /// The steps that would be needed, if that can be told, and the time for them in seconds.
        needed: Option<(f64, f64)>,
    },
    /// The finest run failed.
    Solver(String),
    /// The observer stopped it.
    Stopped,
}

/// No step was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreached {
    /// The error asked for.
    pub tolerance: f64,
    /// Why.
    pub cause: Cause,
    /// The step with the smallest error that could be estimated.
    pub best: Option<Box<Reached>>,
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no step was found with an error of at most {}: ", plain(self.tolerance))?;
        match &self.cause {
            Cause::RoundOff { level } => write!(
                f,
                "runs with halved steps stay {level:.1e} apart, which is rounding as the motion amplifies it"
            )?,
            Cause::NoOrder { difference, steps } => write!(
                f,
                "runs with halved steps do not approach each other ({difference:.1e} apart at {steps} steps): the motion \
                 is too sensitive, or too fast for such steps"
            )?,
            Cause::Budget { needed: Some((steps, seconds)) } => match *seconds < 1e5 {
                true => write!(f, "it takes some {steps:.1e} steps, and about {seconds:.0} s to find them")?,
                false => write!(f, "it takes some {steps:.1e} steps, which is out of the question")?,
            },
            Cause::Budget { needed: None } => write!(f, "the time for the search was over")?,
            Cause::Solver(reason) => write!(f, "{reason}")?,
            Cause::Stopped => write!(f, "the search was stopped")?,
        }
        match &self.best {
            Some(best) => write!(
                f,
                "; the best that was found is a step of {} with an error of {:.1e}",
                plain(best.step),
                best.estimate_along
            ),
            None => write!(f, "; no run has an error that could be estimated"),
        }
    }
}

impl std::error::Error for Unreached {}

/// What three runs with halved steps say of the finest.
#[derive(Clone, Debug)]
enum Level {
    /// An error that can be relied on.
    Estimated(Reached),
    /// Differences that show no order, the last two.
    Unclear([f64; 2]),
    /// One of them failed.
    Failed(String),
}

/// A search for the step of one system under one method. It keeps what it has seen: a second tolerance takes less time.
///
/// ```
/// use core::ops::ControlFlow;
/// use polhode::{check::StepForError, method::Method, problem::Problem};
/// let model = Problem::named("slow-top")?.model()?;
/// let mut search = StepForError::new(model.system(), &Method::parse("imidm")?, 20.0);
/// let found = search.reach(1e-4, &mut |_, _| ControlFlow::Continue(()))?;
/// assert!(found.estimate_along <= 1e-4 && (found.order - 2.0).abs() < 0.1);
/// let end = model.run(&Method::parse("imidm")?, &polhode::run::Plan::new(found.step, 20.0)?, &mut |_, _| {
///     ControlFlow::Continue(())
/// })?;
/// let error = model.reference(20.0)?.errors(&end.last).attitude_angle();
/// assert!(error < 1e-4 && error > 0.3e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StepForError {
    system: Arc<System<f64>>,
    method: Method,
    until: f64,
    budget: Duration,
    extent: f64,
    motions: BTreeMap<u64, Result<Motion, String>>,
    levels: BTreeMap<u64, Level>,
    halvings: Vec<Halving>,
    seconds_per_step: f64,
    spent: Duration,
}

/// The steps of the finest of three runs are a multiple of this.
const GRAIN: u64 = 4;
/// The fewest of them.
const FEWEST: u64 = 8;
/// Where a run starts to turn, the first step turns it by about so much, in rad.
const FIRST_TURN: f64 = 1.0;
/// Differences that shrink more slowly than with this order show none.
const STALLED: f64 = 0.5;
/// By so much an order may lie beyond the claimed one.
const BEYOND: f64 = 0.6;
/// So near to the claimed order predictions are good.
const USUAL: f64 = 0.3;
/// Up to this a difference is small: angles do not saturate there.
const SMALL: f64 = 0.1;
/// Beyond this it says nothing.
const LARGE: f64 = 0.3;
/// Differences below this that stop shrinking are rounding.
const ROUNDING: f64 = 1e-6;
/// How many runs are kept.
const KEPT: usize = 8;
/// What is aimed at, as a part of the tolerance: the estimate at another step is a prediction.
const AIM: f64 = 0.8;
/// An error of at least this part of the tolerance is no waste.
const ENOUGH: f64 = 0.5;
/// How far a prediction is followed, where its order is the claimed one and where it is not.
const STRIDES: [f64; 2] = [64.0, 4.0];
/// The first steps that are taken again with much shorter ones.
const BEGINNING: u64 = 32;
/// Angular velocities that differ by this part of the largest are those of another motion.
const STRANGE: f64 = 0.2;
/// What half the acceleration at the start may move in one of the shorter steps, in rad or of the size of the motion.
const MOVED: f64 = 2e-5;
/// How many of the shorter steps fit into one, at least and at most.
const SHORTER: [u64; 2] = [64, 4096];
/// How often three runs are compared at most.
const TRIES: usize = 40;

impl StepForError {
    /// Of runs from zero to the time `until`, for at most a minute.
    pub fn new(system: &Arc<System<f64>>, method: &Method, until: f64) -> Self {
        StepForError {
            system: Arc::clone(system),
            method: method.clone(),
            until,
            budget: Duration::from_secs(60),
            extent: extent(system),
            motions: BTreeMap::new(),
            levels: BTreeMap::new(),
            halvings: Vec::new(),
            seconds_per_step: 0.0,
            spent: Duration::ZERO,
        }
    }
    /// With another limit for the time that each call of [`StepForError::reach`] takes.
    pub fn with_budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }
    /// The runs that were compared, in the order in which they were.
    pub fn halvings(&self) -> &[Halving] {
        &self.halvings
    }
    /// The time that was spent so far.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// The largest step, of those that divide the time into a whole number of them, whose estimated error is at most the
    /// tolerance: largest up to the half of the tolerance that a shorter search may leave.
    pub fn reach(&mut self, tolerance: f64, watch: &mut Watch<'_>) -> Result<Reached, Unreached> {
        let started = Instant::now();
        let found = self.search(tolerance, started + self.budget, watch);
        self.spent += started.elapsed();
        found.map_err(|cause| Unreached { tolerance, cause, best: self.best().map(Box::new) })
    }

    /// The estimate with the smallest error.
    fn best(&self) -> Option<Reached> {
        let estimated = self.levels.values().filter_map(|level| match level {
            Level::Estimated(found) => Some(found),
            _ => None,
        });
        estimated.min_by(|a, b| a.estimate_along.total_cmp(&b.estimate_along)).cloned()
    }

    /// Steps to begin with: they turn the bodies by a moderate angle.
    fn first(&self) -> u64 {
        let speeds = self.system.bodies().iter().map(|body| body.omega_body.norm());
        let turn = self.until * speeds.fold(0.0, f64::max) / FIRST_TURN;
        whole(turn).max(2 * FEWEST)
    }

    fn search(&mut self, tolerance: f64, limit: Instant, watch: &mut Watch<'_>) -> Result<Reached, Cause> {
        // The largest number of steps that is too small, and the smallest one that is not.
        let (mut low, mut high): (u64, Option<Reached>) = (0, None);
        let mut n = self.guess(tolerance).unwrap_or_else(|| self.first());
        for _ in 0..TRIES {
            let level = match self.level(n, tolerance, limit, watch) {
                Ok(level) => level,
                Err(Cause::Budget { .. }) if high.is_some() => break,
                Err(Cause::Budget { .. }) => return Err(self.too_long(tolerance)),
                Err(cause) => return Err(cause),
            };
            let next = match &level {
                Level::Estimated(found) => {
                    if found.estimate_along <= tolerance {
                        high = Some(found.clone());
                        if found.estimate_along >= ENOUGH * tolerance {
                            break;
                        }
                    } else {
                        low = low.max(n);
                        let left = limit.saturating_duration_since(Instant::now()).as_secs_f64();
                        let sure = self.is_usual(found) && high.is_none();
                        if sure && self.cost(self.predicted(found, tolerance)) > left {
                            return Err(self.too_long(tolerance));
                        }
                    }
                    let stride = STRIDES[usize::from(!self.is_usual(found))];
                    let now = n as f64;
                    whole(self.predicted(found, tolerance).clamp(now / stride, now * stride))
                }
                Level::Unclear(differences) => {
                    if let Some(cause) = self.hopeless(n, *differences) {
                        return high.ok_or(cause);
                    }
                    low = low.max(n);
                    n.saturating_mul(2)
                }
                Level::Failed(_) => {
                    low = low.max(n);
                    n.saturating_mul(2)
                }
            };
            n = match &high {
                None => next.max(low + GRAIN),
                Some(found) if found.steps <= low + GRAIN || found.steps <= FEWEST => break,
                // Between what is known: where a prediction leaves that, in the middle.
                Some(found) => match (low + 1..found.steps).contains(&next) {
                    true => next,
                    false => whole((low.max(FEWEST / 2) as f64 * found.steps as f64).sqrt()),
                }
                .clamp(low + GRAIN, found.steps - GRAIN)
                .max(FEWEST),
            };
            if high.is_some() && self.levels.contains_key(&n) {
                break;
            }
        }
        high.ok_or_else(|| self.too_long(tolerance))
    }

    /// How many steps would be needed, as a number.
    fn predicted(&self, from: &Reached, tolerance: f64) -> f64 {
        let claimed = f64::from(self.method.order());
        // An order beyond the claimed one will not last.
        let order = from.observed.unwrap_or(claimed).min(claimed);
        from.steps as f64 * (from.estimate_along / (AIM * tolerance)).powf(1.0 / order)
    }
    /// True if the order is the claimed one.
    fn is_usual(&self, found: &Reached) -> bool {
        found.observed.is_some_and(|observed| (observed - f64::from(self.method.order())).abs() < USUAL)
    }
    /// The time that three runs take, in seconds.
    fn cost(&self, steps: f64) -> f64 {
        let all = if self.looks_ahead() { 3.5 } else { 1.75 };
        all * steps * self.seconds_per_step
    }
    /// What to say when the time is over.
    fn too_long(&self, tolerance: f64) -> Cause {
        let best = self.best().filter(|best| self.is_usual(best));
        if let Some(steps) = best.map(|best| self.predicted(&best, tolerance)) {
            return Cause::Budget { needed: Some((steps, self.cost(steps))) };
        }
        match self.levels.iter().next_back() {
            Some((_, Level::Failed(reason))) => Cause::Solver(reason.clone()),
            Some((_, Level::Unclear([before, now]))) if now.max(*before) < ROUNDING => {
                Cause::RoundOff { level: now.max(*before) }
            }
            Some((steps, Level::Unclear([_, difference]))) => {
                Cause::NoOrder { difference: *difference, steps: *steps }
            }
            _ => Cause::Budget { needed: None },
        }
    }

    /// The steps that what is known predicts.
    fn guess(&self, tolerance: f64) -> Option<u64> {
        let known = self.levels.values().filter_map(|level| match level {
            Level::Estimated(found) if found.estimate_along > 0.0 => Some(found),
            _ => None,
        });
        let distance = |found: &&Reached| (found.estimate_along / tolerance).ln().abs();
        let nearest = known.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let known = nearest.steps as f64;
        Some(whole(self.predicted(nearest, tolerance).clamp(known / STRIDES[0], known * STRIDES[0])))
    }

    /// Why shorter steps would not help, if they would not: differences that have stopped where they should be far smaller.
    fn hopeless(&self, n: u64, [before, now]: [f64; 2]) -> Option<Cause> {
        let best = self.best().filter(|best| best.steps < n)?;
        let expected = best.estimate_along * (best.steps as f64 / n as f64).powf(best.order);
        let stalled = now > STALLED * before && now > 10.0 * expected;
        // Far from each other they may only be too coarse still.
        let settled = now < ROUNDING || n >= 4096 * best.steps;
        (stalled && settled).then(|| match now < ROUNDING {
            true => Cause::RoundOff { level: now.max(before) },
            false => Cause::NoOrder { difference: now, steps: n },
        })
    }

    /// True if the error of a run is judged by a finer one too: with a high order the runs before it are so much worse that
    /// they say little.
    fn looks_ahead(&self) -> bool {
        self.method.order() > 2
    }

    /// The numbers of steps of the three runs by which the one with `n` is judged.
    fn three(&self, n: u64) -> [u64; 3] {
        if self.looks_ahead() { [n / 2, n, 2 * n] } else { [n / 4, n / 2, n] }
    }

    /// What three runs say of the one with `n` steps.
    fn level(
        &mut self,
        n: u64,
        tolerance: f64,
        limit: Instant,
        watch: &mut Watch<'_>,
    ) -> Result<Level, Cause> {
        let level = match self.levels.get(&n) {
            // Whether differences are small enough depends on the tolerance.
            Some(Level::Unclear(_)) | None => self.compared(n, tolerance, limit, watch)?,
            Some(known) => known.clone(),
        };
        if let Level::Estimated(found) = &level
            && found.estimate_along <= tolerance
            && let Some((difference, speeds)) = self.overlooked(found, limit, watch)?
            && (difference > 2.0 * tolerance || speeds > STRANGE)
        {
            let level = Level::Unclear([f64::INFINITY, difference]);
            self.levels.insert(n, level.clone());
            return Ok(level);
        }
        Ok(level)
    }

    /// The same by their differences alone.
    fn compared(
        &mut self,
        n: u64,
        tolerance: f64,
        limit: Instant,
        watch: &mut Watch<'_>,
    ) -> Result<Level, Cause> {
        let three = self.three(n);
        let needed: u64 = three.iter().filter(|n| !self.motions.contains_key(n)).sum();
        let left = limit.saturating_duration_since(Instant::now()).as_secs_f64();
        if needed as f64 * self.seconds_per_step > left {
            return Err(Cause::Budget { needed: None });
        }
        for steps in three {
            if self.motions.contains_key(&steps) {
                continue;
            }
            let motion = match Motion::of(&self.system, &self.method, self.until, steps, limit, watch) {
                Ok(motion) => {
                    self.seconds_per_step = motion.seconds / steps as f64;
                    Ok(motion)
                }
                Err(NoMotion::Failed(reason)) => Err(reason),
                Err(NoMotion::Stopped) => return Err(Cause::Stopped),
                Err(NoMotion::TooLong) => return Err(Cause::Budget { needed: None }),
            };
            self.motions.insert(steps, motion);
        }
        let level = self.judged(n, tolerance);
        self.levels.insert(n, level.clone());
        // Runs of many bodies take room, and those with the fewest steps are soonest made again.
        while self.motions.len() > KEPT {
            self.motions.pop_first();
        }
        Ok(level)
    }

    /// How far the first steps are from much shorter ones, and their angular velocities: a small vibration shows in these.
    fn overlooked(
        &self,
        found: &Reached,
        limit: Instant,
        watch: &mut Watch<'_>,
    ) -> Result<Option<(f64, f64)>, Cause> {
        let steps = found.steps.min(BEGINNING);
        let until = if steps < found.steps { steps as f64 * found.step } else { self.until };
        let mut motion = |steps| match Motion::of(&self.system, &self.method, until, steps, limit, watch) {
            Ok(motion) => Ok(Some(motion)),
            Err(NoMotion::Failed(_)) => Ok(None),
            Err(NoMotion::Stopped) => Err(Cause::Stopped),
            Err(NoMotion::TooLong) => Err(Cause::Budget { needed: None }),
        };
        // So short that the acceleration at the start moves next to nothing, as far as that goes.
        let resolved = (MOVED / acceleration(&self.system, &self.method, found.size)).sqrt();
        let [mut shorter, most] = SHORTER;
        while shorter < most && found.step / shorter as f64 > resolved {
            shorter *= 2;
        }
        let (Some(coarse), Some(fine)) = (motion(steps)?, motion(shorter * steps)?) else { return Ok(None) };
        Ok(Some((fine.gap(&coarse, shorter, found.size).along, fine.speed_gap(&coarse, shorter))))
    }

    fn judged(&mut self, n: u64, tolerance: f64) -> Level {
        let mut gaps = [Gap::default(); 2];
        let mut size = None;
        let [_, middle, finest] = self.three(n);
        for (gap, steps) in gaps.iter_mut().zip([middle, finest]) {
            match (self.motions.get(&(steps / 2)), self.motions.get(&steps)) {
                (Some(Ok(coarse)), Some(Ok(fine))) => {
                    size = fine.size(self.extent);
                    *gap = fine.gap(coarse, 2, size);
                }
                (Some(Err(reason)), _) | (_, Some(Err(reason))) => return Level::Failed(reason.clone()),
                _ => return Level::Failed("a run is missing".into()),
            }
            if !self.halvings.iter().any(|halving| halving.steps == steps) {
                self.halvings.push(Halving {
                    step: self.until / steps as f64,
                    steps,
                    difference: gap.along,
                    difference_at_end: gap.end,
                });
            }
        }
        let [before, now] = gaps;
        let claimed = f64::from(self.method.order());
        let observed = (before.along / now.along).log2();
        let found = |observed: Option<f64>, order: f64| {
            let divisor = if finest > n { 1.0 - (-order).exp2() } else { order.exp2() - 1.0 };
            Level::Estimated(Reached {
                step: self.until / n as f64,
                steps: n,
                estimate: now.end / divisor,
                estimate_along: now.along / divisor,
                observed,
                order,
                beside: self.until / if finest > n { finest } else { middle } as f64,
                difference: now.along,
                size,
            })
        };
        let shrinks = observed.is_finite() && observed >= STALLED && now.along <= LARGE;
        // Runs that were far apart and are near now have not shown an order yet; a low one is safe, and where a finer run
        // is at hand it matters little.
        let sudden = observed > claimed + BEYOND && before.along > SMALL;
        match (shrinks, sudden) {
            (true, false) => found(Some(observed), observed.min(claimed)),
            (true, true) => found(Some(observed), claimed.min(if finest > n { 2.0 } else { 1.0 })),
            // Far below what is asked for: whatever it is, rounding or an exact method, it is good enough.
            _ if before.along.max(now.along) <= 0.1 * tolerance => found(None, 1.0),
            _ => Level::Unclear([before.along, now.along]),
        }
    }
}

/// A number of steps that three runs with halved steps can have.
fn whole(steps: f64) -> u64 {
    ((steps / GRAIN as f64).ceil().clamp(0.0, 1e15) as u64 * GRAIN).max(FEWEST)
}
