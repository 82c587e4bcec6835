//! Guesses from the steps before, and how long their factors serve.

use super::place::zero;
use super::workspace::{Step, Stepping};
use crate::archive::kept;
use crate::scalar::{Perform, Real, perform};

/// The highest order of extrapolation.
pub(super) const ORDER: usize = 5;

/// The solutions of the last steps of one size, to begin the next one with. Motions are smooth on the scale of a step,
/// and what extrapolation gains in digits lets old factors do for the rest.
#[derive(Clone, Debug)]
pub(super) struct History<S> {
    /// The step size, not a number while there are no solutions.
    pub(super) h: f64,
    /// The backward differences of each unknown, its last value first.
    pub(super) differences: Vec<[S; ORDER + 1]>,
    /// The guess that would have been the best one for the last step, and that of multipliers, which may alternate from step to
    /// step where joints hold positions alone.
    pub(super) guess: Guess,
    pub(super) tied: Guess,
    /// Steps of this size that are in the differences.
    pub(super) known: u64,
    /// Iterations spent since the factors were made, beyond those that new ones take.
    pub(super) extra: u64,
    /// Steps that the factors served after the one that made them.
    pub(super) served: u64,
    /// How often in a row old factors served none.
    pub(super) failed: u64,
    /// Steps to wait before old factors are tried again.
    pub(super) wait: u64,
    /// True if this step began with old factors, and if it made new ones.
    pub(super) began: bool,
    pub(super) made: bool,
}

kept!(History<f64> { h, differences, guess, tied, known, extra, served, failed, wait, began, made });

impl<S> History<S> {
    /// Takes factors that were made elsewhere as new ones.
    pub(super) fn take_factors(&mut self) {
        (self.extra, self.served) = (0, 0);
    }
}

/// How to extrapolate: by differences up to this order, as if what is left of the last steps were nothing: Dᵖ (2 - D)^q z = 0 with
/// the backward difference D. 2 - D is the sum of two that follow each other: of z = s + (-1)ⁿ w it leaves nothing of w if that is
/// constant, twice nothing if it grows evenly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guess {
    pub(super) order: usize,
    /// q, of which the order has as many differences less one.
    pub(super) turns: usize,
}

kept!(Guess { order, turns });

impl Guess {
    /// The best one up to an order, by what those of each order would have been off by, for each number of turns that counts.
    pub(super) fn best<S: Real>(most: usize, errors: &[[S; ORDER + 1]]) -> Self {
        let first = errors.first().map_or(0.0, |sizes| sizes[0].largest());
        let (mut best, mut least) = (Guess::default(), first);
        for (turns, sizes) in errors.iter().enumerate() {
            for (order, size) in (turns.max(1)..=most).zip(&sizes[turns.max(1)..]) {
                let size = size.largest();
                if size < least {
                    (best, least) = (Guess { order, turns }, size);
                }
            }
        }
        best
    }
    pub(super) fn factors<S: Real>(self) -> [S; ORDER] {
        core::array::from_fn(|i| match (self.order.checked_sub(i + 1), self.turns) {
            (None, _) => S::zero(),
            (Some(0), 1) => -S::one(),
            (Some(1), 2) => S::lift(-3.0),
            _ => S::one(),
        })
    }
}

/// What an unknown is, by its unit. Extra coordinates count as lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Length,
    Angle,
    /// Of a joint: what holds positions, or velocities, of a row that is an angle or not. It is one where the typical length is not
    /// one: else it makes no difference.
    Tied {
        late: bool,
        turns: bool,
    },
}

impl Kind {
    /// True for those of joints.
    #[inline(always)]
    fn is_tied(self) -> bool {
        matches!(self, Kind::Tied { .. })
    }
}

/// Iterations of a step with new factors.
pub(super) const USUAL: u64 = 2;
/// What new factors cost, in iterations (measured: 2.5 to 7). When old ones have cost as much they are not kept.
pub(super) const PRICE: u64 = 4;
/// How many steps at most make new factors after old ones served none, so that failures are cheap on the whole. A single failure
/// is no reason to wait.
pub(super) const WAIT: u64 = 8;

/// The most turns.
const TURNS: usize = 2;

/// What guesses of each order would have been off by, for each number of turns.
type Errors<S> = [[S; ORDER + 1]; TURNS + 1];

/// The guess by the last steps.
struct Extrapolation;

/// What the guesses for a solution would have been off by, of poses and of multipliers, where that is looked at.
struct Lesson<'a, S>(Option<[&'a mut Errors<S>; 2]>);

/// Which guess is the best is looked at in each of the first steps, then in every so many: it seldom changes.
const FIRST: u64 = 16;
const EVERY: u64 = 4;

/// The function of this name for guesses up to an order.
macro_rules! of_order {
    ($order:expr, $type:ident::$function:ident, ($self:ident, $argument:expr)) => {
        match $order {
            3 => $type::$function::<3>($self, $argument),
            _ => $type::$function::<ORDER>($self, $argument),
        }
    };
}

impl<S: Real> Stepping<'_, S> {
    /// Every unknown of the iterate with what is known of it, the differences of the rest, and what it is.
    #[inline(always)]
    pub(super) fn unknowns(&mut self, mut each: impl FnMut(&mut S, S, &mut [S; ORDER + 1], Kind)) {
        let work = &mut *self.work;
        let differences = &mut work.history.differences[..];
        for (b, (step, body)) in work.steps.iter_mut().zip(self.bodies).enumerate() {
            let Step { change, moved, .. } = step;
            let known = match work.from_motion {
                true => [body.velocity * self.h, body.omega_body * self.h],
                false => [zero(); 2],
            };
            let parts = [(work.layout.motion(b), change), (work.layout.pose(b), moved)];
            // Without stabilization both are one.
            for (at, part) in parts.into_iter().take(if work.scheme.stabilized { 2 } else { 1 }) {
                let differences = &mut differences[at..at + 6];
                for (i, differences) in differences.iter_mut().enumerate() {
                    let kind = if i < 3 { Kind::Length } else { Kind::Angle };
                    each(&mut part[i / 3][i % 3], known[i / 3][i % 3], differences, kind);
                }
            }
            if !work.scheme.stabilized {
                step.moved = step.change;
            }
        }
        for (j, joint) in self.system.joints.iter().enumerate() {
            let (start, first, count) =
                (work.layout.joints[j], work.layout.multipliers[j], joint.kind.rows());
            for k in 0..count {
                let turns = work.layout.scales.get(start + k).is_some_and(|scale| *scale != 1.0);
                let kind = |late: bool| Kind::Tied { late, turns };
                each(&mut work.lambda[first + k], S::zero(), &mut differences[start + k], kind(false));
                if work.scheme.stabilized {
                    let differences = &mut differences[start + count + k];
                    each(&mut work.eta[first + k], S::zero(), differences, kind(true));
                }
            }
        }
        for (flat, start) in work.flat.iter_mut().zip(&work.layout.extra) {
            for (k, x) in flat[2].iter_mut().enumerate() {
                each(x, S::zero(), &mut differences[start + k], Kind::Length);
            }
        }
    }
    /// True if a step that keeps structure begins with old factors. Where joints depend on each other they would not do: what
    /// nothing but μ holds at one place moves bodies at another.
    pub(super) fn goes_on_with_factors(&self) -> bool {
        self.work.history.began && self.work.softness.is_empty()
    }
    /// Begins with the extrapolation of the last steps.
    pub(super) fn extrapolate(&mut self) {
        perform::<S, _, _>(self, Extrapolation);
    }
    #[inline(always)]
    fn extrapolate_by<const MOST: usize>(&mut self, [free, tied]: [&[S; ORDER]; 2]) {
        self.unknowns(|x, known, differences, kind| {
            let factors = if kind.is_tied() { tied } else { free };
            *x = known + differences[0];
            for i in 0..MOST {
                *x += differences[i + 1] * factors[i];
            }
        });
    }
    /// Takes the iterate into the differences.
    #[inline(always)]
    fn take_in<const MOST: usize>(&mut self) {
        self.unknowns(|x, known, differences, _| {
            let mut new = *x - known;
            // Those of higher orders are not used.
            for difference in &mut differences[..=MOST] {
                let change = new - *difference;
                (*difference, new) = (new, change);
            }
        });
    }
    /// The same, with what guesses of each order would have been off by.
    #[inline(always)]
    fn learn<const MOST: usize>(&mut self, errors: Option<[&mut Errors<S>; 2]>) {
        let Some([free, tied]) = errors else { return self.take_in::<MOST>() };
        let (alternates, apart) = (self.work.alternates, self.counts_apart());
        let per_length = S::lift(self.work.layout.length.recip());
        let per_force = self.h * self.h / self.work.mass;
        self.unknowns(|x, known, differences, kind| {
            let mut new = *x - known;
            let counted = apart || !kind.is_tied();
            let errors = if kind.is_tied() { &mut *tied } else { &mut *free };
            let unit = match kind {
                Kind::Angle | Kind::Tied { late: true, turns: false } => S::one(),
                Kind::Length | Kind::Tied { late: true, turns: true } => per_length,
                Kind::Tied { turns: false, .. } => per_force,
                Kind::Tied { turns: true, .. } => per_force * per_length,
            };
            let mut before = [S::zero(); TURNS];
            for i in 0..=MOST {
                let (old, change) = (differences[i], new - differences[i]);
                if counted {
                    errors[0][i] += change.abs() * unit;
                }
                if alternates {
                    let mut sum = new + old;
                    for turns in 1..=TURNS {
                        errors[turns][i] += sum.abs() * unit;
                        let last = core::mem::replace(&mut before[turns - 1], sum);
                        sum = last + last - sum;
                    }
                }
                differences[i] = new;
                new = change;
            }
        });
    }
    /// True if multipliers have an order of guess of their own. What velocities alone show of their errors goes on from step to
    /// step in guesses of an order that is good for poses.
    fn counts_apart(&self) -> bool {
        self.work.alternates || self.work.scheme.stabilized
    }
    /// Takes the solution, found in so many iterations, into the history.
    pub(super) fn remember(&mut self, iterations: u64) {
        let history = &mut self.work.history;
        if history.made {
            history.wait = history.wait.saturating_sub(1);
        } else {
            history.extra += iterations.saturating_sub(USUAL);
            history.served += 1;
            history.failed = 0;
        }
        let h = self.h.largest();
        let goes_on = core::mem::replace(&mut history.h, h) == h;
        history.known = if goes_on { history.known + 1 } else { 1 };
        let known = history.known;
        if !goes_on {
            (history.guess, history.tied) = (Guess::default(), Guess::default());
            history.differences.fill([S::zero(); ORDER + 1]);
            return self.unknowns(|x, known, differences, _| differences[0] = *x - known);
        }
        if known > FIRST && !known.is_multiple_of(EVERY) {
            return perform::<S, _, _>(self, Lesson(None));
        }
        // What the guesses would have been off by, of poses and of multipliers: as angles and as lengths.
        let none = [[S::zero(); ORDER + 1]; TURNS + 1];
        let (mut free, mut tied) = (none, none);
        perform::<S, _, _>(self, Lesson(Some([&mut free, &mut tied])));
        let (most, apart) = (self.work.order, self.counts_apart());
        let counted = if self.work.alternates { TURNS + 1 } else { 1 };
        let history = &mut self.work.history;
        history.guess = Guess::best(most, &free[..counted]);
        history.tied = match apart {
            true => Guess::best(most, &tied[..counted]),
            false => history.guess,
        };
    }
}

impl<S: Real> Perform<Extrapolation> for Stepping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, _: Extrapolation) {
        let History { guess, tied, .. } = &self.work.history;
        let (free, tied): ([S; ORDER], [S; ORDER]) = (guess.factors(), tied.factors());
        of_order!(self.work.order, Self::extrapolate_by, (self, [&free, &tied]));
    }
}

impl<S: Real> Perform<Lesson<'_, S>> for Stepping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, Lesson(errors): Lesson<'_, S>) {
        of_order!(self.work.order, Self::learn, (self, errors));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_alternates_is_extrapolated_exactly_where_it_has_the_form() {
        let smooth = |n: f64| 1.0 - 0.3 * n + 0.02 * n * n;
        let cases: [(Guess, &dyn Fn(f64) -> f64); 3] = [
            (Guess { order: 2, turns: 0 }, &|_| 0.0),
            (Guess { order: 3, turns: 1 }, &|_| 0.5),
            (Guess { order: 4, turns: 2 }, &|n| 0.5 - 0.1 * n),
        ];
        for (guess, amplitude) in cases {
            let value =
                |n: i32| smooth(f64::from(n)) + amplitude(f64::from(n)) * f64::from(1 - 2 * n.rem_euclid(2));
            let mut differences = [0.0; ORDER + 1];
            for n in 0..8 {
                let mut new = value(n);
                for difference in &mut differences {
                    let change = new - *difference;
                    (*difference, new) = (new, change);
                }
            }
            let terms = differences[1..].iter().zip(guess.factors::<f64>()).map(|(d, factor)| d * factor);
            let found = differences[0] + terms.sum::<f64>();
            assert!((found - value(8)).abs() < 1e-13, "{guess:?}: {found}, not {}", value(8));
        }
    }
}
