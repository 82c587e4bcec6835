//! The velocities that fit the joints at the end of a step from a discrete Lagrangian.
//!
//! The momenta p without the last impulses -m Bᵀ η (m a typical mass) make velocities v = M⁻¹ (p - m Bᵀ η), and B v = -g, the rates
//! that drives enforce, is a system of equations for η alone, but for bodies that are not eliminated: its matrix is m B M⁻¹ Bᵀ.

use super::eased::{Eased, Unknowns};
use super::history::{Guess, ORDER};
use super::joint::{Joint, MOST_ROWS};
use super::place::{Place, zero};
use super::state::{BodyMotion, CoordinateState};
use super::stored::{Six, add, dot, none, six, vectors};
use super::structured::Solve;
use super::tape::Product;
use super::variational::Varying;
use super::workspace::lengths;
use crate::archive::{Archive, Kept, kept};
use crate::scalar::{Dual, Perform, Quads, Real, Scalar, Wide, perform};
use crate::solve::{FactorError, StepError};
use nalgebra::Vector3;
use std::sync::Arc;

/// The velocities that fit the joints at the end of a step.
#[derive(Clone, Debug)]
pub(super) struct Closing<S: Real> {
    unknowns: Arc<Unknowns>,
    /// Velocity in space and spin in body axes of each body without the last impulses.
    free: Vec<[Vector3<S>; 2]>,
    /// The velocities with them, and Bᵀ η on each body.
    moving: Vec<Six<S>>,
    pushed: Vec<Six<S>>,
    /// What is given of each equation, what was found of its unknown, and what is left or a correction.
    given: Vec<S>,
    found: Vec<S>,
    x: Vec<S>,
    /// The impulses of the first half of the step.
    first: Vec<S>,
    past: Past<S>,
}

/// The impulses of the last steps of one size, and how their factors served.
#[derive(Clone, Debug)]
struct Past<S> {
    /// The step size, not a number while there are no such steps.
    h: f64,
    /// The backward differences of each unknown, its last value first.
    differences: Vec<[S; ORDER + 1]>,
    /// The guess that would have been the best one for the last step.
    guess: Guess,
    /// Steps to wait before factors of an earlier step are tried again, and how many after the next failure.
    wait: u64,
    patience: u64,
}

kept!(Past<f64> { h, differences, guess, wait, patience });

impl<S: Real> Past<S> {
    fn none() -> Self {
        Past { h: f64::NAN, differences: Vec::new(), guess: Guess::default(), wait: 0, patience: 1 }
    }
    /// The guess by them, if there are such steps.
    fn extrapolate(&self, h: f64, first: &[S], found: &mut [S]) -> bool {
        if self.h != h {
            return false;
        }
        let factors = self.guess.factors::<S>();
        for ((x, first), differences) in found.iter_mut().zip(first).zip(&self.differences) {
            *x = differences[0];
            for (difference, factor) in differences[1..].iter().zip(&factors) {
                *x += *difference * *factor;
            }
            *x -= *first;
        }
        true
    }
    /// Takes in what was found, each with what makes a length of its equation: its own unit is the other way round.
    fn learn(&mut self, h: f64, [first, found]: [&[S]; 2], scales: &[f64]) {
        let whole = first.iter().zip(found).map(|(first, x)| *first + *x);
        if core::mem::replace(&mut self.h, h) != h {
            for (x, differences) in whole.zip(&mut self.differences) {
                *differences = [S::zero(); ORDER + 1];
                differences[0] = x;
            }
            self.guess = Guess::default();
            return;
        }
        let mut sizes = [S::zero(); ORDER + 1];
        let scales = scales.iter().copied().chain(core::iter::repeat(1.0));
        for ((mut new, differences), scale) in whole.zip(&mut self.differences).zip(scales) {
            for (old, size) in differences.iter_mut().zip(&mut sizes) {
                let change = new - *old;
                *size += change.abs() * S::lift(scale.recip());
                (*old, new) = (new, change);
            }
        }
        self.guess = Guess::best(ORDER, &[sizes]);
    }
}

/// What is left of the equations with what was found so far; the largest rate across a joint, as one of a length, and the largest
/// velocity of a point.
struct Left<'s, 'a, 'b, S: Real>(&'s mut Closing<S>, &'a Varying<'b, S>);

impl<S: Real> Wide<S> for Left<'_, '_, '_, S> {
    type Output = [S; 2];
    #[inline(always)]
    fn run<Q: Quads<S>>(self, quads: Q) -> [S; 2] {
        self.0.left(quads, self.1)
    }
}

/// Bᵀ η on each body, of what was found.
struct Push<'s, 'a, 'b, S: Real>(&'s mut Closing<S>, &'a Varying<'b, S>);

impl<S: Real> Wide<S> for Push<'_, '_, '_, S> {
    type Output = ();
    #[inline(always)]
    fn run<Q: Quads<S>>(self, quads: Q) {
        self.0.push(quads, self.1);
    }
}

/// B where bodies are at the end of the step.
struct End<'a, S: Real>(&'a [BodyMotion<S>]);

impl<S: Real> Perform<End<'_, S>> for Varying<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, End(next): End<'_, S>) {
        let end = self.on.t + self.on.h;
        for (now, body) in self.on.work.now.iter_mut().zip(next) {
            now.place = Place { v: zero(), omega: zero(), ..body.place() };
        }
        self.take_rows(end);
        self.on.work.rows_at = Some(end.largest());
    }
}

impl<S: Real> Closing<S> {
    pub(super) fn new() -> Self {
        Closing {
            unknowns: Arc::default(),
            free: Vec::new(),
            moving: Vec::new(),
            pushed: Vec::new(),
            given: Vec::new(),
            found: Vec::new(),
            x: Vec::new(),
            first: Vec::new(),
            past: Past::none(),
        }
    }
    /// The impulse in a row of a joint that was found, over the typical mass.
    pub(super) fn impulse(&self, joint: usize, row: usize) -> S {
        self.found[self.unknowns.joints[joint] + row]
    }
    /// Velocities with B v = -g at the end for the momenta there, and the second half of the forces on extra coordinates.
    pub(super) fn close(
        &mut self,
        step: &mut Varying<'_, S>,
        next: &mut [BodyMotion<S>],
        next_extra: &mut [CoordinateState<S>],
        solver: &mut impl Solve<S>,
    ) -> Result<(), StepError>
    where
        S: Scalar,
    {
        let (end, mass, half) = (step.on.t + step.on.h, step.on.work.mass, step.on.h * S::lift(0.5));
        step.take_end(next);
        if self.unknowns.bodies.len() != step.on.bodies.len() {
            self.make_room(match &step.on.work.eased {
                Some(eased) => eased.unknowns.clone(),
                None => Arc::new(Unknowns::new(&step.on)),
            });
        }
        self.given.fill(S::zero());
        for (j, joint) in step.on.system.joints.iter().enumerate().filter(|(_, joint)| joint.is_driven()) {
            let mut rates = [S::zero(); MOST_ROWS];
            joint.rates(end, still(joint, next).each_ref(), &mut rates, None);
            let (start, count) = (self.unknowns.joints[j], joint.kind.rows());
            self.given[start..start + count].copy_from_slice(&rates[..count]);
        }
        for (i, extra) in next_extra.iter().enumerate() {
            for k in 0..extra.position.len() {
                let force = step.flat_force(i, k, &extra.position, end);
                self.given[self.unknowns.extra[i] + k] = -(force * half) / mass;
            }
        }
        for (free, body) in self.free.iter_mut().zip(&*next) {
            *free = [body.velocity, body.attitude.unrotate(&body.carried[1])];
        }
        solver.close(self, step)?;
        S::widely(Push(self, step));
        for (b, body) in next.iter_mut().enumerate() {
            let [force, moment] = vectors(&self.pushed[b]);
            body.velocity -= force * (mass / step.on.system.bodies[b].mass);
            let turned = body.attitude.rotate(&(moment * mass));
            body.carried[1] -= turned;
            let found = self.unknowns.bodies[b].map_or_else(zero, |at| part(&self.found, at + 3));
            body.omega_body = step.on.system.bodies[b].spin_of(body, found);
        }
        for (extra, start) in next_extra.iter_mut().zip(&self.unknowns.extra) {
            for (k, velocity) in extra.velocity.iter_mut().enumerate() {
                *velocity += self.found[start + k];
            }
        }
        Ok(())
    }
    fn make_room(&mut self, unknowns: Arc<Unknowns>) {
        let bodies = unknowns.bodies.len();
        self.free.resize(bodies, [zero(); 2]);
        for list in [&mut self.moving, &mut self.pushed] {
            list.resize(bodies, none());
        }
        for list in [&mut self.given, &mut self.found, &mut self.x, &mut self.first] {
            list.resize(unknowns.n, S::zero());
        }
        self.past.differences.resize(unknowns.n, [S::zero(); ORDER + 1]);
        self.unknowns = unknowns;
    }
    #[inline(always)]
    fn push<Q: Quads<S>>(&mut self, quads: Q, step: &Varying<'_, S>) {
        let Closing { pushed, found, unknowns, .. } = self;
        pushed.fill(none());
        step.react(quads, (found, &unknowns.joints), |b, pull| {
            add(quads, &mut pushed[b], pull);
        });
    }
    #[inline(always)]
    fn left<Q: Quads<S>>(&mut self, quads: Q, step: &Varying<'_, S>) -> [S; 2] {
        self.push(quads, step);
        let Closing { unknowns, free, moving, pushed, given, found, x, .. } = self;
        let (system, work) = (step.on.system, &*step.on.work);
        let mass = work.mass;
        // Joints hand the rounding of the fastest body on to all.
        let mut fastest = S::lift(f64::MIN_POSITIVE);
        x.copy_from_slice(given);
        for (b, body) in system.bodies.iter().enumerate() {
            let ([velocity, spin], [force, moment]) = (free[b], vectors(&pushed[b]));
            let [v, omega] = match unknowns.bodies[b] {
                None => {
                    let spin = spin - moment * mass;
                    [velocity - force * (mass / body.mass), body.inertia.inverse.times(&spin)]
                }
                Some(at) => {
                    let now = [part(found, at), part(found, at + 3)];
                    let [heavy, spun] = [now[0] - velocity, body.inertia.matrix.times(&now[1]) - spin];
                    let sums = [force + heavy * (body.mass / mass), moment + spun / mass];
                    x[at..at + 6].iter_mut().zip(sums.iter().flatten()).for_each(|(x, sum)| *x += *sum);
                    now
                }
            };
            moving[b] = six(&v, &omega);
            let begun = lengths(&velocity) + work.arms[b] / step.on.h.abs() * S::lift(1e-3);
            fastest = fastest.max(begun).max(lengths(&v) + lengths(&omega) * work.arms[b]);
        }
        let (mut most, mut sum) = (S::zero(), S::zero());
        for (j, joint) in system.joints.iter().enumerate() {
            let start = unknowns.joints[j];
            let motion = joint.bodies().map(|body| body.map_or_else(none, |b| moving[b]));
            for (k, row) in step.rows(j).iter().enumerate() {
                let rate = &mut x[start + k];
                *rate += dot(quads, &row[0], &motion[0]) + dot(quads, &row[1], &motion[1]);
                if let Some(soft) = work.soft(work.layout.multipliers[j] + k) {
                    *rate -= soft * found[start + k];
                }
                let scale = unknowns.scales.get(start + k).map_or(S::one(), |scale| S::lift(*scale));
                let size = rate.abs() * scale;
                most = most.max(size);
                // The sum shows what is not a number, which a maximum may hide.
                sum += size;
            }
        }
        for (extra, start) in system.extra.iter().zip(&unknowns.extra) {
            extra.write_mass(*start, mass, &mut Product { x: found, out: x });
        }
        [most + sum * S::zero(), fastest]
    }
    /// The impulses of the first half of the step in the rows of joints. Poses are rounded, and what holds them is as rough as that
    /// over the step; the impulse of the whole step is not, because velocities fit the joints at both ends.
    fn take_first(&mut self, step: &Varying<'_, S>) {
        let work = &*step.on.work;
        let half = step.on.h * S::lift(0.5) / work.mass;
        for (j, joint) in step.on.system.joints.iter().enumerate() {
            let (at, first, count) = (self.unknowns.joints[j], work.layout.multipliers[j], joint.kind.rows());
            for (out, lambda) in self.first[at..at + count].iter_mut().zip(&work.lambda[first..first + count])
            {
                *out = *lambda * half;
            }
        }
    }
    /// Solves for a correction and makes it.
    fn correct(&mut self, eased: &mut Eased<S>) {
        eased.solve_rows(&mut self.x);
        self.found.iter_mut().zip(&self.x).for_each(|(found, x)| *found -= *x);
    }
    /// Lets rows that depend on each other give way from what was found.
    fn hold(&mut self, step: &Varying<'_, S>) {
        let work = &*step.on.work;
        for (j, joint) in step.on.system.joints.iter().enumerate() {
            for k in 0..joint.kind.rows() {
                if let Some(soft) = work.soft(work.layout.multipliers[j] + k) {
                    let at = self.unknowns.joints[j] + k;
                    self.given[at] += soft * self.found[at];
                }
            }
        }
    }
    /// Finds the impulses. Those of whole steps are smooth, so that a guess by the last steps leaves little: factors of an earlier step
    /// may do, and those at the end of this one take all of it away at once.
    pub(super) fn find(&mut self, step: &mut Varying<'_, S>) -> Result<(), StepError> {
        let mut eased = step.on.work.eased.take().unwrap_or_else(|| Box::new(Eased::new(&step.on)));
        let found = self.find_with(&mut eased, step);
        step.on.work.eased = Some(eased);
        found
    }
    fn find_with(&mut self, eased: &mut Eased<S>, step: &mut Varying<'_, S>) -> Result<(), StepError> {
        /// A rate across a joint this small, relative to the fastest point, is round-off, and so is what a correction leaves by
        /// the rate at which they shrink.
        const END: f64 = 4.0 * f64::EPSILON;
        const LEFT: f64 = 0.25 * f64::EPSILON;
        /// A rate from which the first correction leaves no more than that: it shrinks by the rounding of the factors alone.
        const NEAR: f64 = 1e-9;
        /// Factors of an earlier step that have not done it in so many rounds, or take less than this from what is left, are made
        /// anew, and not tried again for some steps, up to so many.
        const OLD_ROUNDS: u64 = 2;
        const GAIN: f64 = 0.1;
        const MOST_PATIENCE: u64 = 64;
        const MOST_ROUNDS: u64 = 30;
        if self.unknowns.n == 0 {
            return Ok(());
        }
        let (h, mut held) = (step.on.h.largest(), step.on.work.softness.is_empty());
        // Rates across joints tell how far impulses are off, not the velocities of bodies. And corrections make derivatives exact, not
        // guesses.
        let seen = held && S::DEPTH == 0 && self.unknowns.bodies.iter().all(Option::is_none);
        if seen {
            self.take_first(step);
        }
        let goes_on = seen && self.past.extrapolate(h, &self.first, &mut self.found);
        if !goes_on {
            self.found.fill(S::zero());
        }
        // In long chains what old factors leave is handed on and on.
        let mut fresh = !goes_on || self.past.wait > 0;
        if fresh {
            self.past.wait = self.past.wait.saturating_sub(1);
            factor(eased, step)?;
        }
        let (mut before, mut rounds) = (f64::NAN, 0);
        while rounds < MOST_ROUNDS {
            let [left, fastest] = S::widely(Left(self, step));
            let now = (left / fastest).largest();
            if !now.is_finite() {
                return Err(StepError::NotFinite { t: step.on.t.largest(), h });
            }
            if !fresh && (rounds == OLD_ROUNDS || now > GAIN * before) && now > END {
                self.past.wait = self.past.patience;
                self.past.patience = (2 * self.past.patience).min(MOST_PATIENCE);
                factor(eased, step)?;
                (fresh, before) = (true, f64::NAN);
            }
            self.correct(eased);
            rounds += 1;
            // Derivatives settle after values.
            let settles = rounds > 1 + S::DEPTH as u64;
            let shrinks = now <= END || now * (now / before) <= LEFT;
            let at_once = seen && now <= if fresh { NEAR } else { END };
            if at_once || (settles && (shrinks || now > 0.5 * before)) {
                if held {
                    break;
                }
                self.hold(step);
                (held, before) = (true, f64::NAN);
                continue;
            }
            before = now;
        }
        if fresh {
            // They are those of the next step but for half of the angle of one.
            step.on.work.history.take_factors();
        } else {
            self.past.patience = 1;
        }
        if seen {
            self.past.learn(h, [&self.first, &self.found], &self.unknowns.scales);
        }
        Ok(())
    }
}

/// Makes factors where the step ends.
pub(super) fn factor<S: Real>(eased: &mut Eased<S>, step: &Varying<'_, S>) -> Result<(), StepError> {
    let on = &step.on;
    let (t, h) = (on.t.largest(), on.h.largest());
    eased.factor_masses(on).map_err(|error| match error {
        FactorError::Singular { null, .. } => {
            StepError::Singular { t, h, joints: eased.unknowns.named(on.system, &null) }
        }
        _ => StepError::NotFinite { t, h },
    })
}

impl Closing<Dual<f64, 1>> {
    /// Finds the derivatives of what a plain step has found, with factors that were made where it ended.
    pub(super) fn follow(
        &mut self,
        plain: &Closing<f64>,
        factors: &mut Eased<f64>,
        x: &mut Vec<f64>,
        step: &Varying<'_, Dual<f64, 1>>,
    ) {
        self.found.iter_mut().zip(&plain.found).for_each(|(own, found)| *own = Dual::constant(*found));
        for round in 0..if step.on.work.softness.is_empty() { 1 } else { 2 } {
            if round > 0 {
                self.hold(step);
            }
            Dual::<f64, 1>::widely(Left(self, step));
            x.clear();
            x.extend(self.x.iter().map(|left| left.eps[0]));
            factors.solve_rows(x);
            self.found.iter_mut().zip(&*x).for_each(|(found, x)| found.eps[0] -= x);
        }
    }
}

impl Closing<f64> {
    /// What influences the steps to come.
    pub(super) fn keep(&mut self, archive: &mut Archive<'_>, eased: Option<&Eased<f64>>) {
        if let Some(eased) = eased.filter(|eased| eased.unknowns.bodies.len() != self.unknowns.bodies.len()) {
            self.make_room(eased.unknowns.clone());
        }
        self.past.keep(archive);
    }
}

#[inline(always)]
fn part<S: Real>(x: &[S], at: usize) -> Vector3<S> {
    Vector3::new(x[at], x[at + 1], x[at + 2])
}

/// The places of the bodies of a joint as if they stood still.
fn still<S: Real>(joint: &Joint<S>, bodies: &[BodyMotion<S>]) -> [Place<S>; 2] {
    let still = |b: usize| Place { v: zero(), omega: zero(), ..bodies[b].place() };
    joint.bodies().map(|body| body.map_or_else(Place::ground, still))
}

impl<S: Real> Varying<'_, S> {
    /// Takes B where the bodies are at the end of the step.
    pub(super) fn take_end(&mut self, next: &[BodyMotion<S>]) {
        perform::<S, _, _>(self, End(next));
    }
}
