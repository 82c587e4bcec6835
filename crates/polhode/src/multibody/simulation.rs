//! A system at work: consistent initial values, then steps.

use super::closing::Closing;
use super::compiled::SystemScalar;
use super::coordinate::{Coordinate, unwound};
use super::decay::Decay;
use super::eased::Eased;
use super::error::{AssemblyError, SystemError};
use super::finite::Leaping;
use super::initial::{Assembly, Initial, Origin, angles_near, beginning, initial};
use super::joint::MOST_ROWS;
use super::layout::Layout;
use super::meter::WorkMeter;
use super::place::{Place, zero};
use super::shared::IntoShared;
use super::state::{BodyMotion, CoordinateState};
use super::structured::Begun;
use super::system::System;
use super::tape::keep_matrix;
use super::workspace::{Stepping, Workspace};
use crate::archive::{Archive, Kept, keep_optional};
use crate::body::inward;
use crate::group::{Map, Vectorial};
use crate::method::{AlphaScheme, ConservingScheme, Form, Method, SystemScheme};
use crate::scalar::{Mask, Real, Scalar, larger};
use crate::solve::{StepError, Work, newton};
use core::fmt;
use nalgebra::Vector3;
use std::sync::Arc;

/// Why a simulation could not begin.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulationError {
    /// The system is invalid.
    System(SystemError),
    /// It has no consistent initial values.
    Assembly(AssemblyError),
    /// The method is for single bodies.
    Method {
        /// Its id.
        id: String,
    },
    /// The method does not take what acts in the system.
    Unfit {
        /// Why, and what to do.
        reason: String,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::Assembly(error) => error.fmt(f),
            Self::Unfit { reason } => f.write_str(reason),
            Self::Method { id } => write!(
                f,
                "{id} integrates a single body; a system of bodies and joints runs with conserving, variational, decaying, \
                 geometric-alpha, linear-alpha or residual-alpha"
            ),
        }
    }
}

impl std::error::Error for SimulationError {}

impl From<SystemError> for SimulationError {
    fn from(error: SystemError) -> Self {
        Self::System(error)
    }
}
impl From<AssemblyError> for SimulationError {
    fn from(error: AssemblyError) -> Self {
        Self::Assembly(error)
    }
}

/// How far the joints are from closed: largest entry of Φ and of Φ̇.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Violation {
    /// Of positions, in m (or rad).
    pub position: f64,
    /// Of velocities, in m/s (or rad/s).
    pub velocity: f64,
}

/// A system in motion. Allocates when it is made and in its first step, from then on never.
#[derive(Clone, Debug)]
pub struct Simulation<S: Scalar> {
    pub(super) system: Arc<System<S>>,
    /// The same about the centres of mass, see [`System::centered`].
    pub(super) centered: Arc<System<S>>,
    pub(super) scheme: SystemScheme,
    /// The parts of a step, as fractions of it.
    pub(super) fractions: Vec<f64>,
    /// What a step that lets energy decay takes from strains and velocities.
    pub(super) decay: Option<Decay<S>>,
    /// What acts at the ends of a step from a discrete Lagrangian, and what closes the velocities of joints.
    pub(super) acting: Vec<[Vector3<S>; 2]>,
    pub(super) closing: Closing<S>,
    pub(super) work: Workspace<S>,
    pub(super) bodies: Vec<BodyMotion<S>>,
    pub(super) next: Vec<BodyMotion<S>>,
    /// Where a step in several parts began.
    pub(super) begun: Begun<S>,
    pub(super) extra: Vec<CoordinateState<S>>,
    pub(super) next_extra: Vec<CoordinateState<S>>,
    pub(super) lambda: Vec<S>,
    pub(super) time: S,
    /// The angle of each joint that has one, over full turns, its rate, and what it is near to at the end of the step.
    pub(super) angles: Vec<f64>,
    pub(super) rates: Vec<f64>,
    pub(super) near: Vec<f64>,
    /// The joints that have one.
    pub(super) turning: Vec<usize>,
    /// The work of what stores no energy, where there is such.
    pub(super) meter: Option<WorkMeter<S>>,
    pub(super) assembly: Assembly,
    /// What was spent so far.
    pub spent: Work,
}

/// What is carried from step to step: the angular momentum in space, or g_α from f_a + f_c = 0, eq. (79).
fn carry<S: Real>(system: &System<S>, scheme: &SystemScheme, start: &mut Initial<S>) {
    let SystemScheme::Alpha(scheme) = scheme else {
        for (body, now) in system.bodies.iter().zip(&mut start.bodies) {
            let momentum = body.inertia.matrix() * now.omega_body;
            now.carried = [zero(), now.attitude.rotate(&momentum)];
        }
        return;
    };
    let weight = S::lift(scheme.weights.m - scheme.weights.f);
    for (body, now) in system.bodies.iter().zip(&mut start.bodies) {
        let moment = body.inertia.matrix() * now.omega_rate;
        now.carried = [now.acceleration * (body.mass * weight), moment * weight];
    }
    for (extra, now) in system.extra.iter().zip(&mut start.extra) {
        let n = extra.len();
        for i in 0..n {
            let row = &extra.mass[i * n..(i + 1) * n];
            let force = row.iter().zip(&now.acceleration).fold(S::zero(), |sum, (m, a)| sum + *m * *a);
            now.carried[i] = force * weight;
        }
    }
}

impl<S: SystemScalar> Simulation<S> {
    /// The system at its start, if it has consistent initial values.
    pub fn check(system: impl IntoShared<S>) -> Result<Self, SimulationError> {
        S::begin(system.into_shared(), None, false)
    }
    /// At t = 0, from positions that fit the joints; velocities are made to fit.
    pub fn new(system: impl IntoShared<S>, method: &Method) -> Result<Self, SimulationError> {
        S::begin(system.into_shared(), Some(method), false)
    }
    /// The same from any positions: those nearby that fit the joints. [`Simulation::assembly`] tells how far they are.
    pub fn assembled(system: impl IntoShared<S>, method: &Method) -> Result<Self, SimulationError> {
        S::begin(system.into_shared(), Some(method), true)
    }
    /// One step of size `h`. After an error all is as it was.
    pub fn step(&mut self, h: S) -> Result<(), StepError> {
        S::step(self, h)
    }
    /// Starts anew where it is: accelerations and reactions that belong to the loads from now on. To be done where a load
    /// jumps, because what is carried from step to step belongs to those before.
    pub fn restart(&mut self) -> Result<(), StepError> {
        S::restart(self)
    }
}

impl<S: Scalar> Simulation<S> {
    /// The start of a system that was not checked yet; without a method, for what is read off it.
    pub(super) fn checked(
        system: Arc<System<S>>,
        method: Option<&Method>,
        may_move: bool,
    ) -> Result<Self, SimulationError> {
        system.check()?;
        match method {
            Some(method) => Self::begin(system, method, may_move),
            None => Self::with(system, &SystemScheme::Alpha(AlphaScheme::default()), vec![1.0], may_move),
        }
    }
    pub(super) fn begin(
        system: Arc<System<S>>,
        method: &Method,
        may_move: bool,
    ) -> Result<Self, SimulationError> {
        match method.system() {
            Some(scheme) => Self::with(system, scheme, method.fractions(), may_move),
            None => Err(SimulationError::Method { id: method.id().into() }),
        }
    }
    fn with(
        system: Arc<System<S>>,
        scheme: &SystemScheme,
        fractions: Vec<f64>,
        may_move: bool,
    ) -> Result<Self, SimulationError> {
        let centered = system.centered().map_or_else(|| system.clone(), Arc::new);
        let origin = if may_move || system.placed_by_joints { Origin::Nearby } else { Origin::Fitting };
        let start = initial(&centered, S::zero(), origin, &[])?;
        Self::from_start([system, centered], scheme, fractions, (start, None))
    }
    /// The same system at its start with a method, without looking for consistent initial values again: of one that has not
    /// been stepped yet.
    pub(crate) fn with_method(&self, method: &Method) -> Result<Self, SimulationError> {
        let Some(scheme) = method.system() else {
            return Err(SimulationError::Method { id: method.id().into() });
        };
        let mut extra = self.extra.clone();
        extra.iter_mut().for_each(|extra| extra.carried.fill(S::zero()));
        let start = Initial {
            bodies: self.bodies.clone(),
            extra,
            lambda: self.lambda.clone(),
            report: self.assembly.clone(),
            softness: self.work.softness.clone(),
        };
        let systems = [&self.system, &self.centered].map(Arc::clone);
        Self::from_start(systems, scheme, method.fractions(), (start, Some(&self.work.small)))
    }
    fn from_start(
        [system, centered]: [Arc<System<S>>; 2],
        scheme: &SystemScheme,
        fractions: Vec<f64>,
        (mut start, layout): (Initial<S>, Option<&Arc<Layout>>),
    ) -> Result<Self, SimulationError> {
        carry(&centered, scheme, &mut start);
        let place = |b: usize| start.bodies[b].place();
        let angles = angles_near(&centered, &place, S::zero(), &[]);
        let has_angle = |j: &usize| centered.joints[*j].kind.coordinates().contains(&Coordinate::Angle);
        let mut simulation = Simulation {
            near: angles.clone(),
            rates: vec![0.0; angles.len()],
            angles,
            turning: (0..centered.joints.len()).filter(has_angle).collect(),
            meter: None,
            work: Workspace::new(&centered, scheme, start.softness, layout),
            decay: match scheme {
                SystemScheme::Conserving(ConservingScheme { decay: Some(chi), .. }) => Some(Decay::new(*chi)),
                _ => None,
            },
            acting: Vec::new(),
            closing: Closing::new(),
            scheme: *scheme,
            fractions,
            begun: Begun::none(),
            system,
            centered,
            next: Vec::new(),
            bodies: start.bodies,
            next_extra: Vec::new(),
            extra: start.extra,
            lambda: start.lambda,
            time: S::zero(),
            assembly: start.report,
            spent: Work::default(),
        };
        simulation.follow_angles();
        if let SystemScheme::Variational(_) = scheme
            && let Some(what) = simulation.without_potential()
        {
            let reason = format!(
                "{what}, and variational takes forces from potentials alone; use conserving, decaying or a \
                 generalized-alpha method"
            );
            return Err(SimulationError::Unfit { reason });
        }
        if !simulation.keeps_energy() {
            simulation.meter = Some(WorkMeter::new(simulation.power(beginning(S::zero()))));
        }
        Ok(simulation)
    }
    /// See [`Simulation::restart`].
    pub(super) fn start_anew(&mut self) -> Result<(), StepError> {
        if !self.is_alpha() {
            // Momenta do not jump with loads.
            return Ok(());
        }
        let mut start = initial(&self.as_it_is(), self.time, Origin::Motion, &self.angles)
            .map_err(|error| StepError::NoStart { reason: error.to_string() })?;
        carry(&self.centered, &self.scheme, &mut start);
        (self.bodies, self.extra, self.lambda) = (start.bodies, start.extra, start.lambda);
        // Rows that give way stay those of the start: saved runs and derivatives count on the same entries of the matrix.
        if self.meter.is_some() {
            let power = self.power(beginning(self.time));
            self.meter.iter_mut().for_each(|meter| meter.restart(power));
        }
        Ok(())
    }
    /// See [`Simulation::step`].
    pub(super) fn advance(&mut self, h: S) -> Result<(), StepError> {
        match self.is_alpha() {
            true => self.step_with(h, |_| Ok(())),
            false => self.step_in_parts(h),
        }
    }
    pub(crate) fn is_alpha(&self) -> bool {
        matches!(self.scheme, SystemScheme::Alpha(_))
    }
    /// Makes room for the end of a step, and says where the angles of joints are expected there. Refuses drives that jump in it.
    pub(super) fn look_ahead(&mut self, h: S) -> Result<(), StepError> {
        let size = h.largest();
        if self.next.len() != self.bodies.len() || self.next_extra.len() != self.extra.len() {
            (self.next, self.next_extra) = (self.bodies.clone(), self.extra.clone());
        }
        for &j in &self.turning {
            self.near[j] = self.angles[j] + self.rates[j] * size;
        }
        self.drives_go_on(h)
    }
    /// Refuses a step with a number that is not finite.
    pub(super) fn are_finite(&self, h: S) -> Result<(), StepError> {
        let mut sum = S::zero();
        for next in &self.next {
            for v in [&next.position, &next.velocity, &next.omega_body] {
                sum += v.dot(v);
            }
        }
        for next in &self.next_extra {
            sum = next.velocity.iter().fold(sum, |sum, v| sum + *v * *v);
        }
        // The last correction changed the multipliers too, and nothing else has looked at them.
        sum = self.work.lambda.iter().fold(sum, |sum, reaction| sum + reaction.abs());
        match sum.is_finite().all() {
            true => Ok(()),
            false => Err(StepError::NotFinite { t: self.time.largest(), h: h.largest() }),
        }
    }
    /// Goes to the end of a step.
    pub(super) fn take(&mut self, h: S) {
        core::mem::swap(&mut self.bodies, &mut self.next);
        core::mem::swap(&mut self.extra, &mut self.next_extra);
        self.lambda.copy_from_slice(&self.work.lambda);
        self.time += h;
        self.follow_angles();
    }
    /// The same, with something to do when the step is solved and before it is taken, which may still refuse it.
    #[inline]
    pub(super) fn step_with(
        &mut self,
        h: S,
        then: impl FnOnce(&mut Stepping<'_, S>) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let (t, size) = (self.time.largest(), h.largest());
        self.look_ahead(h)?;
        let now = (&self.bodies[..], &self.extra[..], &self.lambda[..]);
        let mut stepping = Stepping::new(&self.centered, now, &self.near, &mut self.work, self.time, h);
        let before = self.spent.iterations;
        let solved = newton(&mut stepping, &mut self.spent);
        stepping.check()?;
        solved?;
        let scheme = stepping.work.scheme;
        if scheme.form != Form::Geometric {
            let map = Vectorial::from(scheme.map);
            let angle = stepping.work.largest_parameters().sqrt();
            if angle.is_nan() || angle >= map.limit() {
                // Unless the iteration went astray from a step far smaller.
                let asked = self.bodies.iter().map(|body| (body.omega_body * h).map(Real::largest).norm());
                let asked = asked.fold(0.0, larger);
                let (iterations, limit) = (self.spent.iterations - before, map.limit());
                return Err(if asked > 0.5 * limit && angle.is_finite() {
                    StepError::MapLimit { t, h: size, map: map.name(), angle, limit }
                } else {
                    StepError::NotConverged { t, h: size, iterations, residual: f64::INFINITY }
                });
            }
        }
        let mut sum = stepping.finish_all(&mut self.next);
        for (i, next) in self.next_extra.iter_mut().enumerate() {
            stepping.finish_flat(i, next);
            sum = next.velocity.iter().fold(sum, |sum, v| sum + *v * *v);
        }
        // The last correction changed the multipliers too, and nothing else has looked at them.
        sum = stepping.work.lambda.iter().fold(sum, |sum, reaction| sum + reaction.abs());
        if !sum.is_finite().all() {
            return Err(StepError::NotFinite { t, h: size });
        }
        stepping.holds(&self.next)?;
        stepping.follows(&self.next)?;
        then(&mut stepping)?;
        stepping.remember(self.spent.iterations - before);
        self.take(h);
        if self.meter.is_some() {
            let power = self.power(-inward(self.time, h));
            self.meter.iter_mut().for_each(|meter| meter.step(h, power));
        }
        Ok(())
    }

    /// Counts the angles of joints on from where they were expected.
    fn follow_angles(&mut self) {
        // In a chain the second body of a joint is the first of the next.
        let mut last = (None, Place::ground());
        for &j in &self.turning {
            let joint = &self.centered.joints[j];
            let [a, b] = joint.bodies();
            let places = [if a == last.0 { last.1 } else { self.place(a) }, self.place(b)];
            last = (b, places[1]);
            let (angle, rate) = (joint.angle(places.each_ref()), joint.angle_rate(places.each_ref()));
            (self.angles[j], self.rates[j]) = (unwound(angle, self.near[j]).largest(), rate.largest());
        }
    }
    /// Sets the clock, which the sum of steps loses by rounding.
    pub fn set_time(&mut self, t: S) {
        self.time = t;
    }
    /// Puts another motion in place of the one that was computed, for what is read off it.
    pub(super) fn show(
        &mut self,
        bodies: impl Iterator<Item = BodyMotion<S>>,
        extra: impl Iterator<Item = CoordinateState<S>>,
        lambda: impl Iterator<Item = S>,
        (time, angles): (S, &[f64]),
    ) {
        self.bodies.clear();
        self.bodies.extend(bodies);
        self.extra.clear();
        self.extra.extend(extra);
        self.lambda.clear();
        self.lambda.extend(lambda);
        self.time = time;
        self.angles.copy_from_slice(angles);
    }
    /// The system.
    pub fn system(&self) -> &Arc<System<S>> {
        &self.system
    }
    /// The same about the centres of mass.
    pub(super) fn centered(&self) -> &Arc<System<S>> {
        &self.centered
    }
    /// The step of the method.
    pub fn scheme(&self) -> &SystemScheme {
        &self.scheme
    }
    /// The form and weights of a generalized-alpha step.
    pub(super) fn alpha_scheme(&self) -> &AlphaScheme {
        &self.work.scheme
    }
    /// The same with the accelerations and reactions that belong to where it is and how it moves: steps that are not
    /// generalized-alpha ones have those of the interval only.
    pub(crate) fn settled(&self) -> Option<Self> {
        if self.is_alpha() {
            return None;
        }
        let mut settled = self.clone();
        let start = initial(&self.as_it_is(), self.time, Origin::Motion, &self.angles).ok()?;
        for (body, start) in settled.bodies.iter_mut().zip(&start.bodies) {
            (body.acceleration, body.omega_rate) = (start.acceleration, start.omega_rate);
        }
        for (extra, start) in settled.extra.iter_mut().zip(&start.extra) {
            extra.acceleration.clone_from(&start.acceleration);
        }
        settled.lambda = start.lambda;
        Some(settled)
    }
    /// The system with the motion as it is now for its start.
    pub(super) fn as_it_is(&self) -> System<S> {
        let mut now = System::clone(&self.centered);
        for (body, moving) in now.bodies.iter_mut().zip(&self.bodies) {
            (body.position, body.attitude) = (moving.position, moving.attitude);
            (body.velocity, body.omega_body) = (moving.velocity, moving.omega_body);
        }
        for (extra, moving) in now.extra.iter_mut().zip(&self.extra) {
            extra.position.clone_from(&moving.position);
            extra.velocity.clone_from(&moving.velocity);
        }
        now
    }
    /// Time.
    pub fn time(&self) -> S {
        self.time
    }
    /// What it took to begin.
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }
    /// The motion of the centres of mass of all bodies, in the order of the system.
    pub fn bodies(&self) -> &[BodyMotion<S>] {
        &self.bodies
    }
    /// The motion of the centre of mass of a body.
    pub fn moving(&self, body: &str) -> Option<&BodyMotion<S>> {
        self.bodies.get(self.centered.index(body)?)
    }
    /// The extra coordinates, in the order of the system.
    pub fn extra(&self) -> &[CoordinateState<S>] {
        &self.extra
    }
    /// The angle of each joint that has one, over full turns.
    pub(super) fn angles(&self) -> &[f64] {
        &self.angles
    }
    /// What was done by what stores no energy.
    pub(super) fn meter(&self) -> Option<&WorkMeter<S>> {
        self.meter.as_ref()
    }
    /// Sets it, for what is read off it.
    pub(super) fn set_work(&mut self, work: S) {
        self.meter.iter_mut().for_each(|meter| meter.work = work);
    }
    /// The rows of its joints that give way, being dependent.
    pub(super) fn softness(&self) -> &[S] {
        &self.work.softness
    }
    /// Where the multipliers of each joint start among all.
    pub(super) fn first_multiplier(&self, joint: usize) -> usize {
        self.work.layout.multipliers[joint]
    }
    #[inline(always)]
    fn place(&self, body: Option<usize>) -> Place<S> {
        body.map_or_else(Place::ground, |b| self.bodies[b].place())
    }
    #[inline(always)]
    pub(super) fn places(&self, [a, b]: [Option<usize>; 2]) -> [Place<S>; 2] {
        [self.place(a), self.place(b)]
    }
    /// How far the joints are from closed.
    pub fn violation(&self) -> Violation {
        let mut violation = Violation::default();
        // In a chain the second body of a joint is the first of the next.
        let mut last = (None, Place::ground());
        for joint in &self.centered.joints {
            let [a, b] = joint.bodies();
            let first = if a == last.0 { last.1 } else { self.place(a) };
            last = (b, self.place(b));
            let (places, mut gap, mut rate) =
                ([&first, &last.1], [S::zero(); MOST_ROWS], [S::zero(); MOST_ROWS]);
            joint.constraint(self.time, places, &mut gap);
            joint.rates(self.time, places, &mut rate, None);
            for k in 0..joint.kind.rows() {
                violation.position = larger(violation.position, gap[k].abs().largest());
                violation.velocity = larger(violation.velocity, rate[k].abs().largest());
            }
        }
        violation
    }
}

impl Simulation<f64> {
    /// What influences the steps to come, and the counters.
    pub(crate) fn keep(&mut self, archive: &mut Archive<'_>) {
        self.work.make_room(&self.centered);
        self.bodies.keep(archive);
        self.extra.keep(archive);
        self.lambda.keep(archive);
        self.time.keep(archive);
        self.angles.keep(archive);
        self.rates.keep(archive);
        self.meter.keep(archive);
        self.spent.keep(archive);
        self.work.history.keep(archive);
        self.work.in_whole.keep(archive);
        self.work.whole_for.keep(archive);
        self.work.whole_after.keep(archive);
        self.work.slopes.keep(archive);
        let (mut matrix, mut whole) = (self.work.matrix.take(), self.work.whole.take());
        let mut eased = self.work.eased.take();
        let now = (&self.bodies[..], &self.extra[..], &self.lambda[..]);
        let mut on = Stepping::new(&self.centered, now, &self.near, &mut self.work, self.time, 1.0);
        match self.scheme {
            SystemScheme::Alpha(_) => {
                keep_matrix(&mut matrix, archive, || on.unwritten_matrix(false));
                keep_matrix(&mut whole, archive, || on.unwritten_matrix(true));
            }
            SystemScheme::Conserving(ConservingScheme { stabilized, .. }) => {
                let leaping = Leaping::new(on, stabilized, &[]);
                keep_matrix(&mut matrix, archive, || leaping.unwritten_matrix());
                keep_matrix(&mut whole, archive, || leaping.unwritten_whole());
            }
            SystemScheme::Variational(_) => {
                keep_optional(&mut eased, || Box::new(Eased::new(&on)), archive);
                self.closing.keep(archive, eased.as_deref());
            }
        }
        (self.work.matrix, self.work.whole, self.work.eased) = (matrix, whole, eased);
        if let Some(decay) = &mut self.decay {
            decay.keep(archive, &self.centered, (&self.bodies, self.time, &self.work.softness));
        }
        if archive.is_reading() {
            self.work.trouble = None;
        }
    }
}
