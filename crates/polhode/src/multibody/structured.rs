//! Steps that keep the structure of the motion, and their compositions.

use super::closing::Closing;
use super::decay::Decay;
use super::finite::Leaping;
use super::meter::WorkMeter;
use super::simulation::Simulation;
use super::state::{BodyMotion, CoordinateState};
use super::system::System;
use super::variational::Varying;
use super::workspace::Stepping;
use crate::body::inward;
use crate::group::MapKind;
use crate::method::SystemScheme;
use crate::scalar::{Mask, Real, Scalar};
use crate::solve::{Equations, ROUND_OFF, Rung, StepError, Work, newton};

/// Velocities that belong to the momenta at the end of a step, and those that the poses were found with, are the same up to this
/// part of what counts as motion, or the step is corrected again, for as long as that gains something: a body that hardly resists
/// turning about an axis shows in its momentum what multipliers miss long before it shows in its pose, and one whose pose is driven
/// shows it in its momentum alone.
const MOST_GAP: f64 = 64.0 * f64::EPSILON;
const MOST_MORE: u64 = 32;
/// A correction that leaves more than this part of the gap calls for new factors, a few times.
const SLOW: f64 = 0.1;
const MOST_ANEW: u64 = 8;
/// A gap this small that does not shrink is the rounding of multipliers.
const ROUNDED: f64 = 1e-11;

/// Where a step in several parts began.
#[derive(Clone, Debug)]
pub(super) struct Begun<S: Real> {
    bodies: Vec<BodyMotion<S>>,
    extra: Vec<CoordinateState<S>>,
    lambda: Vec<S>,
    angles: Vec<f64>,
    rates: Vec<f64>,
    meter: Option<WorkMeter<S>>,
    time: Option<S>,
}

impl<S: Real> Begun<S> {
    /// Nowhere yet.
    pub(super) fn none() -> Self {
        Begun {
            bodies: Vec::new(),
            extra: Vec::new(),
            lambda: Vec::new(),
            angles: Vec::new(),
            rates: Vec::new(),
            meter: None,
            time: None,
        }
    }
}

/// The equations of one step that keeps structure, as they are solved.
pub(super) trait Structured<'a, S: Real>: Equations<S> {
    /// What they work on.
    fn on(&mut self) -> &mut Stepping<'a, S>;
    /// Takes up where the bodies start.
    fn start(&mut self);
    /// The multiplier λ per unknown.
    fn multiplier(&self) -> S;
    /// True if their Newton matrix leaves something out.
    fn is_simplified(&self) -> bool {
        false
    }
}

/// How they are solved, and the linear ones that come after them.
pub(super) trait Solve<S: Scalar> {
    /// Finds the unknowns of a step.
    fn solve<'a>(&mut self, step: &mut impl Structured<'a, S>, spent: &mut Work) -> Result<(), StepError>;
    /// Finds the velocities that fit the joints at its end.
    fn close(&mut self, closing: &mut Closing<S>, step: &mut Varying<'_, S>) -> Result<(), StepError>;
    /// Finds how velocities jump at its end.
    fn jump(
        &mut self,
        decay: &mut Decay<S>,
        system: &System<S>,
        next: &[BodyMotion<S>],
        at: (S, &[S]),
    ) -> Result<(), StepError>;
    /// Takes a solution, found in so many iterations, as something to go on with.
    fn remember(&mut self, on: &mut Stepping<'_, S>, iterations: u64);
}

/// By Newton's method.
pub(super) struct Newton;

/// Corrections after which derivatives have settled.
const ROUNDS: usize = 4;
/// The most corrections that close joints which depend on each other.
const MOST_ROUNDS: usize = 8;

/// Joints that depend on each other give way by μ times their multipliers, which makes those of least norm the only ones. With these
/// found, the same equations hold them: rows give way from there, which is next to nothing.
fn close_dependent<'a, S: Scalar>(step: &mut impl Structured<'a, S>, spent: &mut Work) {
    step.on().hold(true);
    let mut before = f64::INFINITY;
    for round in 0..MOST_ROUNDS {
        step.residual();
        let now = step.correct(Mask::splat(true)).largest();
        spent.iterations += 1;
        // What is small for positions may be large for velocities, and for what nothing but μ holds.
        let settled = round >= if S::DEPTH == 0 { 2 } else { ROUNDS };
        if settled && (now <= ROUND_OFF || now > 0.5 * before) {
            break;
        }
        before = now;
    }
}

impl<S: Scalar> Solve<S> for Newton {
    fn solve<'a>(&mut self, step: &mut impl Structured<'a, S>, spent: &mut Work) -> Result<(), StepError> {
        step.on().hold(false);
        let solved = newton(step, spent);
        step.on().check()?;
        solved?;
        if !step.on().work.softness.is_empty() {
            close_dependent(step, spent);
        }
        if S::DEPTH > 0 && step.is_simplified() {
            // Derivatives settle as values do.
            for _ in 0..ROUNDS {
                step.residual();
                step.correct(Mask::splat(true));
            }
        }
        Ok(())
    }
    fn close(&mut self, closing: &mut Closing<S>, step: &mut Varying<'_, S>) -> Result<(), StepError> {
        closing.find(step)
    }
    fn jump(
        &mut self,
        decay: &mut Decay<S>,
        system: &System<S>,
        next: &[BodyMotion<S>],
        at: (S, &[S]),
    ) -> Result<(), StepError> {
        decay.find(system, next, at)
    }
    fn remember(&mut self, on: &mut Stepping<'_, S>, iterations: u64) {
        on.remember(iterations);
    }
}

impl<S: Scalar> Simulation<S> {
    /// The parts of a composition, one after the other.
    pub(super) fn step_in_parts(&mut self, h: S) -> Result<(), StepError> {
        if self.fractions.len() == 1 {
            return self.part(h, &mut Newton);
        }
        self.mark();
        let from = self.time;
        for part in 0..self.fractions.len() {
            if let Err(error) = self.part(h * S::lift(self.fractions[part]), &mut Newton) {
                self.go_back();
                return Err(error.of_step(from.largest(), h.largest()));
            }
        }
        self.time = from + h;
        Ok(())
    }
    /// Remembers where it is.
    pub(super) fn mark(&mut self) {
        let begun = &mut self.begun;
        begun.bodies.clone_from(&self.bodies);
        begun.extra.clone_from(&self.extra);
        begun.lambda.clone_from(&self.lambda);
        begun.angles.clone_from(&self.angles);
        begun.rates.clone_from(&self.rates);
        begun.meter.clone_from(&self.meter);
        begun.time = Some(self.time);
    }
    /// Goes back to where it was when that was remembered.
    pub(super) fn go_back(&mut self) {
        let begun = &mut self.begun;
        let Some(time) = begun.time.take() else { return };
        core::mem::swap(&mut self.bodies, &mut begun.bodies);
        core::mem::swap(&mut self.extra, &mut begun.extra);
        core::mem::swap(&mut self.lambda, &mut begun.lambda);
        core::mem::swap(&mut self.angles, &mut begun.angles);
        core::mem::swap(&mut self.rates, &mut begun.rates);
        core::mem::swap(&mut self.meter, &mut begun.meter);
        self.time = time;
    }
    /// One of them.
    pub(super) fn part(&mut self, h: S, solver: &mut impl Solve<S>) -> Result<(), StepError> {
        match self.scheme {
            SystemScheme::Variational(scheme) => self.vary(h, scheme.map, solver),
            _ => self.leap(h, solver),
        }
    }
    /// One step from a discrete Lagrangian.
    fn vary(&mut self, h: S, map: MapKind, solver: &mut impl Solve<S>) -> Result<(), StepError> {
        let parts = self.fractions.len();
        self.look_ahead(h)?;
        let now = (&self.bodies[..], &self.extra[..], &self.lambda[..]);
        let on = Stepping::new(&self.centered, now, &self.near, &mut self.work, self.time, h);
        let mut varying = Varying { on, map, acting: &mut self.acting };
        varying.begin();
        let before = self.spent.iterations;
        solver.solve(&mut varying, &mut self.spent)?;
        let driven = varying.finish(&mut self.next, &mut self.next_extra, &mut self.closing, solver)?;
        varying.on.holds(&self.next)?;
        varying.on.follows(&self.next)?;
        solver.remember(&mut varying.on, self.spent.iterations - before);
        self.are_finite(h)?;
        self.take(h);
        if self.meter.is_some() {
            let power = self.power(-inward(self.time, h));
            self.meter.iter_mut().for_each(|meter| {
                match parts {
                    1 => meter.step(h, power),
                    _ => meter.part(h, power),
                }
                meter.work += driven;
            });
        }
        Ok(())
    }
    /// One step by finite derivatives.
    fn leap(&mut self, h: S, solver: &mut impl Solve<S>) -> Result<(), StepError> {
        self.look_ahead(h)?;
        let now = (&self.bodies[..], &self.extra[..], &self.lambda[..]);
        if let Some(decay) = &mut self.decay {
            decay.prepare(&self.centered, &self.bodies, h);
        }
        let on = Stepping::new(&self.centered, now, &self.near, &mut self.work, self.time, h);
        let damping = self.decay.as_ref().map_or(&[][..], Decay::damping);
        let mut leaping = Leaping::new(on, self.scheme.is_stabilized(), damping);
        let before = self.spent.iterations;
        solver.solve(&mut leaping, &mut self.spent)?;
        let (all, mut last, mut anew) = (Mask::splat(true), f64::NAN, 0);
        for round in 0..=MOST_MORE {
            let gap = leaping.finish_all(&mut self.next).largest();
            // Derivatives have the values of a plain run.
            if S::DEPTH > 0 || round == MOST_MORE || gap <= MOST_GAP || !gap.is_finite() {
                break;
            }
            leaping.residual();
            if gap > SLOW * last {
                if anew == MOST_ANEW || gap <= ROUNDED {
                    break;
                }
                leaping.linearize(Rung::Careful, all);
                self.spent.jacobians += 1;
                anew += 1;
            }
            leaping.correct(all);
            self.spent.iterations += 1;
            last = gap;
        }
        for (i, next) in self.next_extra.iter_mut().enumerate() {
            leaping.finish_flat(i, next);
        }
        leaping.on.holds(&self.next)?;
        leaping.on.follows(&self.next)?;
        let mut done = match self.meter.is_some() {
            true => leaping.work_done(),
            false => S::zero(),
        };
        solver.remember(&mut leaping.on, self.spent.iterations - before);
        self.are_finite(h)?;
        if let Some(decay) = &mut self.decay {
            let at = (self.time + h, &self.work.softness[..]);
            done += decay.jump(&self.centered, &mut self.next, at, solver)?;
        }
        self.take(h);
        if let Some(meter) = &mut self.meter {
            meter.add(h, done);
        }
        Ok(())
    }
}
