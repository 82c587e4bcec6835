//! Steps that keep the structure of the motion, and their compositions.

use super::decay::Decay;
use super::finite::Leaping;
use super::meter::WorkMeter;
use super::simulation::Simulation;
use super::state::{BodyMotion, CoordinateState};
use super::variational::Varying;
use super::workspace::Stepping;
use crate::body::inward;
use crate::group::MapKind;
use crate::method::SystemScheme;
use crate::scalar::{Mask, Real, Scalar};
use crate::solve::{Equations, StepError, newton};

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

/// Corrections after which derivatives have settled.
const ROUNDS: usize = 4;

impl<S: Scalar> Simulation<S> {
    /// The parts of a composition, one after the other.
    pub(super) fn step_in_parts(&mut self, h: S) -> Result<(), StepError> {
        if self.fractions.len() == 1 {
            return self.part(h);
        }
        self.mark();
        let from = self.time;
        for part in 0..self.fractions.len() {
            if let Err(error) = self.part(h * S::lift(self.fractions[part])) {
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
    fn part(&mut self, h: S) -> Result<(), StepError> {
        match self.scheme {
            SystemScheme::Variational(scheme) => self.vary(h, scheme.map),
            _ => self.leap(h),
        }
    }
    /// One step from a discrete Lagrangian.
    fn vary(&mut self, h: S, map: MapKind) -> Result<(), StepError> {
        self.expect_angles(h.largest());
        let now = (&self.bodies[..], &self.extra[..], &self.lambda[..]);
        let on = Stepping::new(&self.centered, now, &self.near, &mut self.work, self.time, h);
        let mut varying = Varying { on, map, acting: &mut self.acting };
        varying.begin();
        let before = self.spent.iterations;
        let solved = newton(&mut varying, &mut self.spent);
        varying.on.check()?;
        solved?;
        let driven = varying.finish(&mut self.next, &mut self.next_extra, &mut self.closing)?;
        varying.on.remember(self.spent.iterations - before);
        self.are_finite(h)?;
        self.take(h);
        if self.meter.is_some() {
            let power = self.power(-inward(self.time, h));
            self.meter.iter_mut().for_each(|meter| {
                meter.step(h, power);
                meter.work += driven;
            });
        }
        Ok(())
    }
    /// One step by finite derivatives.
    fn leap(&mut self, h: S) -> Result<(), StepError> {
        self.expect_angles(h.largest());
        let now = (&self.bodies[..], &self.extra[..], &self.lambda[..]);
        if let Some(decay) = &mut self.decay {
            decay.prepare(&self.centered, &self.bodies, h);
        }
        let on = Stepping::new(&self.centered, now, &self.near, &mut self.work, self.time, h);
        let damping = self.decay.as_ref().map_or(&[][..], Decay::damping);
        let mut leaping = Leaping::new(on, self.scheme.is_stabilized(), damping);
        let before = self.spent.iterations;
        let solved = newton(&mut leaping, &mut self.spent);
        leaping.on.check()?;
        solved?;
        if S::DEPTH > 0 && leaping.is_simplified() {
            // Derivatives settle as values do.
            for _ in 0..ROUNDS {
                leaping.residual();
                leaping.correct(Mask::splat(true));
            }
        }
        // The last correction moved the iterate.
        leaping.settle();
        for (b, next) in self.next.iter_mut().enumerate() {
            *next = leaping.finish(b);
        }
        for (i, next) in self.next_extra.iter_mut().enumerate() {
            leaping.finish_flat(i, next);
        }
        let done = match self.meter.is_some() {
            true => leaping.work_done(),
            false => S::zero(),
        };
        leaping.on.remember(self.spent.iterations - before);
        self.are_finite(h)?;
        if let Some(decay) = &mut self.decay {
            decay.jump(&self.centered, &mut self.next, (self.time + h, &self.work.softness))?;
        }
        self.take(h);
        if let Some(meter) = &mut self.meter {
            meter.add(h, done);
        }
        Ok(())
    }
}
