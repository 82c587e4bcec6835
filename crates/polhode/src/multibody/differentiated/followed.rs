//! Derivatives of the steps that keep structure, by the implicit function theorem.
//!
//! A plain run takes the step. Its Newton matrix is made once at the solution, apart from the run, which does not change by a
//! bit. Then each parameter has the equations evaluated with one derivative on each number, at the values that the plain run has
//! found: what is left of their derivatives is solved for with the plain factors, again and again where the matrix leaves something
//! out, until nothing is left.

use super::super::closing::{Closing, factor};
use super::super::decay::Decay;
use super::super::eased::Eased;
use super::super::finite::Leaping;
use super::super::simulation::Simulation;
use super::super::state::{BodyMotion, CoordinateState};
use super::super::structured::{Newton, Solve, Structured};
use super::super::system::System;
use super::super::variational::Varying;
use super::super::workspace::{Stepping, Workspace, lengths};
use super::Dual1;
use super::variation::with;
use crate::method::SystemScheme;
use crate::scalar::{Dual, Mask};
use crate::solve::{Equations, Rung, StepError, Work};
use nalgebra::Vector3;

/// What the derivatives of a step by all parameters share.
#[derive(Clone, Debug)]
pub(super) struct Factored {
    work: Workspace<f64>,
    acting: Vec<[Vector3<f64>; 2]>,
    /// Of the closing of velocities, and room for its rows.
    closing: Option<Box<Eased<f64>>>,
    rows: Vec<f64>,
}

impl Factored {
    /// Of a run under such a method.
    pub(super) fn new(plain: &Simulation<f64>) -> Self {
        Factored {
            work: Workspace::new(
                &plain.centered,
                &plain.scheme,
                plain.work.softness.clone(),
                Some(&plain.work.small),
            ),
            acting: Vec::new(),
            closing: None,
            rows: Vec::new(),
        }
    }
    /// Factors the matrix of the step that the plain run has taken last: from a time, of a size.
    fn prepare(&mut self, plain: &Simulation<f64>, t: f64, h: f64) -> Result<(), StepError> {
        let all = Mask::splat(true);
        // Where it began is what was put aside when it was taken.
        let began = (&plain.next[..], &plain.next_extra[..], &plain.lambda[..]);
        let mut on = Stepping::new(&plain.centered, began, &plain.near, &mut self.work, t, h);
        on.take_up(&plain.work, |own, found| *own = found);
        on.work.corrections = [f64::NAN; 2];
        // The factors of one level for both leave the angle of the step of each correction, and all parameters share them.
        on.work.wants_whole = plain.scheme.is_stabilized();
        match plain.scheme {
            SystemScheme::Variational(scheme) => {
                let mut varying = Varying { on, map: scheme.map, acting: &mut self.acting };
                varying.begin();
                varying.residual();
                varying.linearize(Rung::Careful, all);
                varying.on.check()?;
                varying.take_end(&plain.bodies);
                let eased = self.closing.get_or_insert_with(|| Box::new(Eased::new(&varying.on)));
                factor(eased, &varying)
            }
            _ => {
                let damping = plain.decay.as_ref().map_or(&[][..], Decay::damping);
                let mut leaping = Leaping::new(on, plain.scheme.is_stabilized(), damping);
                leaping.start();
                leaping.residual();
                leaping.linearize(Rung::Careful, all);
                leaping.on.check()
            }
        }
    }
}

/// A step that a plain run has taken, and factors at its solution.
struct Taken<'a> {
    plain: &'a mut Simulation<f64>,
    factored: &'a mut Factored,
    t: f64,
    h: f64,
}

impl Solve<Dual1> for Taken<'_> {
    fn solve<'a>(
        &mut self,
        step: &mut impl Structured<'a, Dual1>,
        _spent: &mut Work,
    ) -> Result<(), StepError> {
        /// A correction this small, relative to all unknowns, is round-off, and so is what is left after one by the rate at which
        /// they shrink.
        const END: f64 = 4.0 * f64::EPSILON;
        /// Corrections up to this that gain next to nothing are the rounding of the equations.
        const STUCK: f64 = 1e-9;
        /// And so are those up to this, relative to what the derivatives of a step are made from.
        const ROUNDED: f64 = 1e-13;
        const MOST_ROUNDS: u64 = 40;
        step.start();
        let multiplier = step.multiplier();
        let on = step.on();
        if on.work.history.h == self.h {
            on.extrapolate();
        } else {
            on.take_up(&self.plain.work, |own, _| own.eps = [0.0]);
        }
        on.take_up(&self.plain.work, |own, found| own.re = found);
        on.hold(false);
        let mut held = on.work.softness.is_empty();
        let rounding = ROUNDED * size_of_terms(on);
        let (mut largest, mut before) = (size_of_unknowns(on, multiplier.re), f64::NAN);
        for _ in 0..MOST_ROUNDS {
            step.residual();
            let (on, work) = (step.on(), &mut self.factored.work);
            for (x, left) in work.residual.iter_mut().zip(&on.work.residual) {
                *x = left.eps[0];
            }
            work.solve(&self.plain.centered.joints);
            for (left, x) in on.work.residual.iter_mut().zip(&work.residual) {
                *left = Dual { re: 0.0, eps: [*x] };
            }
            on.make_corrections(multiplier, |_, theta| *theta);
            let [now, all] = sizes(work);
            if !all.is_finite() {
                return Err(StepError::NotFinite { t: self.t, h: self.h });
            }
            largest = largest.max(all);
            let rate = now / before;
            let relative = now / largest.max(f64::MIN_POSITIVE);
            let is_rounding = rate > 0.5 && (relative <= STUCK || now <= rounding);
            if relative <= END || relative * rate <= END || is_rounding {
                if held {
                    return Ok(());
                }
                step.on().hold(true);
                (held, before) = (true, f64::NAN);
                continue;
            }
            before = now;
        }
        let residual = before / largest;
        Err(StepError::NotConverged { t: self.t, h: self.h, iterations: MOST_ROUNDS, residual })
    }
    fn close(
        &mut self,
        closing: &mut Closing<Dual1>,
        step: &mut Varying<'_, Dual1>,
    ) -> Result<(), StepError> {
        if let Some(factors) = &mut self.factored.closing {
            closing.follow(&self.plain.closing, factors, &mut self.factored.rows, step);
        }
        Ok(())
    }
    fn jump(
        &mut self,
        decay: &mut Decay<Dual1>,
        system: &System<Dual1>,
        next: &[BodyMotion<Dual1>],
        at: (Dual1, &[Dual1]),
    ) -> Result<(), StepError> {
        if let Some(plain) = &mut self.plain.decay {
            decay.follow(plain, system, next, at);
        }
        Ok(())
    }
    fn remember(&mut self, on: &mut Stepping<'_, Dual1>, iterations: u64) {
        on.remember(iterations);
    }
}

/// The size of what the derivatives of a step are made from, which may cancel: where its bodies are by them, and the motion of the
/// step in the proportion in which masses and moments change.
fn size_of_terms(on: &Stepping<'_, Dual1>) -> f64 {
    let (slope, value) = (|x: Dual1| x.eps[0], |x: Dual1| x.re);
    let bodies = on.system.bodies.iter().zip(on.bodies).zip(&on.work.arms).map(|((body, at), arm)| {
        let inertia = body.inertia.matrix();
        let heavier = 1.0 + (body.mass.eps[0] / body.mass.re).abs();
        let wider = 1.0 + inertia.map(slope).amax() / inertia.map(value).amax();
        let place = lengths(&at.position.map(slope)) + lengths(&at.attitude.slope()) * arm.re;
        let turn = lengths(&at.omega_body.map(value)) * arm.re;
        place + (lengths(&at.velocity.map(value)) * heavier + turn * wider) * on.h.re.abs()
    });
    bodies.sum()
}

/// The size of the derivatives of all unknowns, as that of a correction. Multipliers of all joints count: where a parameter changes
/// reactions and not the motion, theirs is the rounding that corrections come down to.
fn size_of_unknowns(on: &Stepping<'_, Dual1>, multiplier: f64) -> f64 {
    let part = |v: &Vector3<Dual1>| lengths(&v.map(|x| x.eps[0]));
    let list = |x: &[Dual1]| x.iter().fold(0.0, |sum, x| sum + x.eps[0].abs());
    let bodies = on.work.steps.iter().zip(&on.work.arms).map(|(step, arm)| {
        let pose = |[xi, theta]: &[Vector3<Dual1>; 2]| part(xi) + part(theta) * arm.re;
        pose(&step.change) + pose(&step.moved)
    });
    let extra: f64 = on.work.flat.iter().map(|flat| list(&flat[2])).sum();
    let tied = list(&on.work.lambda) / multiplier.abs() + list(&on.work.eta);
    bodies.sum::<f64>() + tied + extra
}

/// The size of a correction: of bodies the distance by which their points move, of the rest what it is. First that which has to
/// vanish, without multipliers if joints depend on each other, because rounding over μ is in them; then all of it.
fn sizes(work: &Workspace<f64>) -> [f64; 2] {
    let (x, layout) = (&work.residual, &work.layout);
    let part = |at: usize| lengths(&Vector3::new(x[at], x[at + 1], x[at + 2]));
    let mut sum = 0.0;
    let mut rest = 0;
    for (b, arm) in work.arms.iter().enumerate() {
        for at in [layout.motion(b), layout.pose(b)] {
            sum += part(at) + part(at + 3) * arm;
            rest = rest.max(at + 6);
        }
    }
    let extra = layout.extra.first().copied().unwrap_or(layout.n);
    let list = |x: &[f64]| x.iter().fold(0.0, |sum, x| sum + x.abs());
    let (tied, extra) = (list(&x[rest..extra]), sum + list(&x[extra..]));
    [if work.softness.is_empty() { tied + extra } else { extra }, tied + extra]
}

/// One part of a step of a run and of its derivatives. After an error they are somewhere in it.
pub(super) fn follow(
    plain: &mut Simulation<f64>,
    factored: &mut Factored,
    shown: &mut [Simulation<Dual1>],
    h: f64,
) -> Result<(), StepError> {
    let t = plain.time();
    plain.part(h, &mut Newton)?;
    if shown.is_empty() {
        return Ok(());
    }
    factored.prepare(plain, t, h)?;
    for shown in shown {
        shown.part(Dual::constant(h), &mut Taken { plain, factored, t, h })?;
        shown.take_values(plain);
    }
    Ok(())
}

impl Simulation<Dual1> {
    /// Has the values of a plain run, to the bit, and keeps its derivatives.
    pub(super) fn take_values(&mut self, plain: &Simulation<f64>) {
        let vector = |v: &Vector3<f64>, slopes: &Vector3<Dual1>| with(v, &slopes.map(|x| x.eps[0]));
        for (body, plain) in self.bodies.iter_mut().zip(&plain.bodies) {
            *body = BodyMotion {
                position: vector(&plain.position, &body.position),
                velocity: vector(&plain.velocity, &body.velocity),
                acceleration: vector(&plain.acceleration, &body.acceleration),
                attitude: plain.attitude.with_slope(&body.attitude.slope()),
                omega_body: vector(&plain.omega_body, &body.omega_body),
                omega_rate: vector(&plain.omega_rate, &body.omega_rate),
                carried: [0, 1].map(|i| vector(&plain.carried[i], &body.carried[i])),
                ..*body
            };
        }
        let list = |own: &mut [Dual1], plain: &[f64]| {
            own.iter_mut().zip(plain).for_each(|(own, plain)| own.re = *plain);
        };
        for (own, plain) in self.extra.iter_mut().zip(&plain.extra) {
            let CoordinateState { position, velocity, acceleration, .. } = plain;
            list(&mut own.position, position);
            list(&mut own.velocity, velocity);
            list(&mut own.acceleration, acceleration);
        }
        list(&mut self.lambda, &plain.lambda);
    }
}
