//! The velocities that fit the joints at the end of a step from a discrete Lagrangian.
//!
//! The momenta p without the last impulses -m Bᵀ η (m a typical mass) make velocities v = M⁻¹ (p - m Bᵀ η), and B v = -g, the rates
//! that drives enforce, is a system of equations for η alone: its matrix is m B M⁻¹ Bᵀ. The velocities of some bodies stay among the
//! unknowns: of those that have no inertia about some axis, because their joints alone say how they turn, and of those with so many
//! joints that these would all be tied to each other.

use super::history::{Guess, ORDER};
use super::joint::{Joint, MOST_ROWS};
use super::place::{Place, zero};
use super::state::{BodyMotion, CoordinateState};
use super::stored::{Six, add_times, dot, six, vectors};
use super::structured::Solve;
use super::system::Rigid;
use super::tape::{Matrix, Places, Product, Sink, Values, keep_matrix};
use super::variational::Varying;
use super::workspace::lengths;
use crate::archive::{Archive, Kept, kept};
use crate::scalar::{Dual, Perform, Quads, Real, Scalar, Wide, perform};
use crate::solve::{Block, FactorError, Role, StepError};
use nalgebra::Vector3;
use std::sync::Arc;

/// The most rows of joints at a body whose velocities are no unknowns.
const MOST_ROWS_OF_A_BODY: usize = 24;
/// Moments of inertia that differ by more than this factor count as one without inertia about some axis.
const MOST_CONDITION: f64 = 1e8;

/// The velocities that fit the joints at the end of a step.
#[derive(Clone, Debug)]
pub(super) struct Closing<S: Real> {
    unknowns: Unknowns,
    matrix: Option<Matrix<S>>,
    /// Velocity in space and spin in body axes of each body without the last impulses.
    free: Vec<[Vector3<S>; 2]>,
    /// The velocities with them, and Bᵀ η on each body.
    moving: Vec<Six<S>>,
    pushed: Vec<Six<S>>,
    /// What is given of each equation, what was found of its unknown, and what is left or a correction.
    given: Vec<S>,
    found: Vec<S>,
    x: Vec<S>,
    /// Room for the rows at one body.
    rows: Vec<Row<S>>,
    past: Past<S>,
}

/// What was found in the last steps of one size.
#[derive(Clone, Debug)]
struct Past<S> {
    /// The step size, not a number while there are no such steps.
    h: f64,
    /// The backward differences of each unknown, its last value first.
    differences: Vec<[S; ORDER + 1]>,
    /// The guess that would have been the best one for the last step.
    guess: Guess,
}

kept!(Past<f64> { h, differences, guess });

impl<S: Real> Past<S> {
    fn none() -> Self {
        Past { h: f64::NAN, differences: Vec::new(), guess: Guess::default() }
    }
    /// The guess by them, if there are such steps.
    fn extrapolate(&self, h: f64, found: &mut [S]) -> bool {
        if self.h != h {
            return false;
        }
        let factors = self.guess.factors::<S>();
        for (x, differences) in found.iter_mut().zip(&self.differences) {
            *x = differences[0];
            for (difference, factor) in differences[1..].iter().zip(&factors) {
                *x += *difference * *factor;
            }
        }
        true
    }
    /// Takes in what was found, each with what makes a length of its equation: its own unit is the other way round.
    fn learn(&mut self, h: f64, found: &[S], scales: &[f64]) {
        if core::mem::replace(&mut self.h, h) != h {
            for (x, differences) in found.iter().zip(&mut self.differences) {
                *differences = [S::zero(); ORDER + 1];
                differences[0] = *x;
            }
            self.guess = Guess::default();
            return;
        }
        let mut sizes = [S::zero(); ORDER + 1];
        let scales = scales.iter().copied().chain(core::iter::repeat(1.0));
        for ((x, differences), scale) in found.iter().zip(&mut self.differences).zip(scales) {
            let mut new = *x;
            for (old, size) in differences.iter_mut().zip(&mut sizes) {
                let change = new - *old;
                *size += change.abs() * S::lift(scale.recip());
                (*old, new) = (new, change);
            }
        }
        self.guess = Guess::best(ORDER, &sizes, None);
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

/// The entries of the matrix.
struct Written<'a, 'b, S: Real> {
    unknowns: &'a Unknowns,
    rows: &'a mut Vec<Row<S>>,
    step: &'a Varying<'b, S>,
    values: Values<'a, S>,
}

impl<S: Real> Wide<S> for Written<'_, '_, S> {
    type Output = ();
    #[inline(always)]
    fn run<Q: Quads<S>>(self, quads: Q) {
        let Written { unknowns, rows, step, mut values } = self;
        step.write_closing(quads, unknowns, rows, &mut values);
    }
}

/// Where the entries of the matrix are.
struct Recorded<'a, 'b, S: Real>(&'a Unknowns, &'a Varying<'b, S>);

impl<S: Real> Wide<S> for Recorded<'_, '_, S> {
    type Output = Places;
    fn run<Q: Quads<S>>(self, quads: Q) -> Places {
        let mut places = Places::default();
        self.1.write_closing(quads, self.0, &mut Vec::new(), &mut places);
        places
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

/// A row of a joint in the motion of one body: its number, B, and -m M⁻¹ Bᵀ.
#[derive(Clone, Copy, Debug)]
struct Row<S> {
    at: usize,
    slope: Six<S>,
    eased: Six<S>,
}

/// Where the unknowns are, and the equations, which are numbered alike.
#[derive(Clone, Debug, Default)]
struct Unknowns {
    n: usize,
    /// The velocities of bodies that are among them.
    bodies: Vec<Option<usize>>,
    /// The impulses of each joint, over the typical mass.
    joints: Vec<usize>,
    /// The velocities of extra coordinates.
    extra: Vec<usize>,
    blocks: Vec<Block>,
    /// What makes a length of each equation.
    scales: Arc<[f64]>,
    /// The joints at each body whose velocities are not among them, and which of their ends it is.
    around: Vec<Vec<(usize, usize)>>,
}

impl Unknowns {
    fn new<S: Real>(step: &Varying<'_, S>) -> Self {
        let (system, layout) = (step.on.system, &step.on.work.layout);
        let mut around = vec![Vec::new(); system.bodies.len()];
        for (j, joint) in system.joints.iter().enumerate() {
            for (end, body) in joint.bodies().into_iter().enumerate() {
                if let Some(body) = body {
                    around[body].push((j, end));
                }
            }
        }
        let rows = |around: &[(usize, usize)]| -> usize {
            around.iter().map(|(j, _)| system.joints[*j].kind.rows()).sum()
        };
        // What nothing but μ holds would be lost in the rounding of B M⁻¹ Bᵀ.
        let dependent = !step.on.work.softness.is_empty();
        let (mut n, mut blocks, mut from) = (0, Vec::new(), Vec::new());
        let mut take = |count: usize, role: Role, first: usize| {
            blocks.push(Block { unknowns: n..n + count, role });
            from.extend(first..first + count);
            n += count;
            n - count
        };
        let mut bodies = Vec::with_capacity(system.bodies.len());
        for (b, body) in system.bodies.iter().enumerate() {
            let stays = dependent || !is_regular(body) || rows(&around[b]) > MOST_ROWS_OF_A_BODY;
            bodies.push(stays.then(|| take(6, Role::Free, layout.motion(b))));
            if stays {
                around[b].clear();
            }
        }
        let mut joints = Vec::with_capacity(system.joints.len());
        for (j, (joint, first)) in system.joints.iter().zip(&layout.joints).enumerate() {
            let is_tied = joint.bodies().into_iter().flatten().all(|b| bodies[b].is_some());
            let role = if is_tied { layout.role(j) } else { Role::Free };
            joints.push(take(joint.kind.rows(), role, *first));
        }
        let flat = system.extra.iter().zip(&layout.extra);
        let extra = flat.map(|(extra, first)| take(extra.len(), Role::Free, *first)).collect();
        let scales = from.iter().filter_map(|i| layout.scales.get(*i).copied()).collect();
        Unknowns { n, bodies, joints, extra, blocks, scales, around }
    }
}

/// True if a body has a velocity for every momentum.
fn is_regular<S: Real>(body: &Rigid<S>) -> bool {
    let size = |m: &nalgebra::Matrix3<S>| m.map(|x| x.largest()).amax();
    let condition = size(body.inertia.matrix()) * size(body.inertia.inverse.matrix());
    body.mass.largest() > 0.0 && condition < MOST_CONDITION
}

impl<S: Real> Closing<S> {
    pub(super) fn new() -> Self {
        Closing {
            unknowns: Unknowns::default(),
            matrix: None,
            free: Vec::new(),
            moving: Vec::new(),
            pushed: Vec::new(),
            given: Vec::new(),
            found: Vec::new(),
            x: Vec::new(),
            rows: Vec::new(),
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
        self.make_room(step);
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
    fn make_room(&mut self, step: &Varying<'_, S>) {
        let bodies = step.on.bodies.len();
        if self.unknowns.bodies.len() != bodies {
            self.unknowns = Unknowns::new(step);
            self.free.resize(bodies, [zero(); 2]);
            for list in [&mut self.moving, &mut self.pushed] {
                list.resize(bodies, [S::zero(); 8]);
            }
            for list in [&mut self.given, &mut self.found, &mut self.x] {
                list.resize(self.unknowns.n, S::zero());
            }
            self.past.differences.resize(self.unknowns.n, [S::zero(); ORDER + 1]);
        }
    }
    #[inline(always)]
    fn push<Q: Quads<S>>(&mut self, quads: Q, step: &Varying<'_, S>) {
        let Closing { pushed, found, unknowns, .. } = self;
        pushed.fill([S::zero(); 8]);
        step.react(quads, (found, &unknowns.joints), |b, pull| {
            add_times(quads, &mut pushed[b], S::one(), pull);
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
            fastest = fastest.max(lengths(&v) + lengths(&omega) * work.arms[b]);
        }
        let (mut most, mut sum, ground) = (S::zero(), S::zero(), [S::zero(); 8]);
        for (j, joint) in system.joints.iter().enumerate() {
            let start = unknowns.joints[j];
            let motion = joint.bodies().map(|body| body.map_or(ground, |b| moving[b]));
            for (k, row) in step.rows(j).iter().enumerate() {
                let rate = &mut x[start + k];
                *rate += dot(quads, row, &motion);
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
        step.write_flat_masses(&unknowns.extra, &mut Product { x: found, out: x });
        [most + sum * S::zero(), fastest]
    }
    /// Adds the impulses of the first half of the step to those that are found at its end, or takes them away. Poses are
    /// rounded, and what holds them is as rough as that over the step; the impulse of the whole step is not, because velocities
    /// fit the joints at both ends.
    fn shift(&mut self, step: &Varying<'_, S>, sign: S) {
        let work = &*step.on.work;
        let half = sign * step.on.h * S::lift(0.5) / work.mass;
        for (j, joint) in step.on.system.joints.iter().enumerate() {
            let (at, first, count) = (self.unknowns.joints[j], work.layout.multipliers[j], joint.kind.rows());
            for (found, lambda) in
                self.found[at..at + count].iter_mut().zip(&work.lambda[first..first + count])
            {
                *found += *lambda * half;
            }
        }
    }
    /// Solves for a correction and makes it.
    fn correct(&mut self) {
        match &mut self.matrix {
            Some(matrix) => matrix.solve(&mut self.x),
            None => self.x.fill(S::lift(f64::NAN)),
        }
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
    /// Finds the impulses. Those of whole steps are smooth, so that a guess by the last steps leaves so little that factors at the end
    /// of this one take all of it away at once.
    pub(super) fn find(&mut self, step: &Varying<'_, S>) -> Result<(), StepError> {
        /// A rate across a joint this small, relative to the fastest point, is round-off, and so is what a correction leaves by
        /// the rate at which they shrink.
        const END: f64 = 4.0 * f64::EPSILON;
        const LEFT: f64 = 0.25 * f64::EPSILON;
        /// A rate from which the first correction leaves no more than that: it shrinks by the rounding of the factors alone.
        const NEAR: f64 = 1e-9;
        const MOST_ROUNDS: u64 = 30;
        if self.unknowns.n == 0 {
            return Ok(());
        }
        let (h, mut held) = (step.on.h.largest(), step.on.work.softness.is_empty());
        // Rates across joints tell how far impulses are off, not the velocities of bodies. And corrections make derivatives exact, not
        // guesses.
        let seen = held && S::DEPTH == 0 && self.unknowns.bodies.iter().all(Option::is_none);
        if seen && self.past.extrapolate(h, &mut self.found) {
            self.shift(step, -S::one());
        } else {
            self.found.fill(S::zero());
        }
        self.factor(step)?;
        let (mut before, mut rounds) = (f64::NAN, 0);
        while rounds < MOST_ROUNDS {
            let [left, fastest] = S::widely(Left(self, step));
            let now = (left / fastest).largest();
            if !now.is_finite() {
                return Err(StepError::NotFinite { t: step.on.t.largest(), h });
            }
            self.correct();
            rounds += 1;
            // Derivatives settle after values.
            let settles = rounds > 1 + S::DEPTH as u64;
            let shrinks = now <= END || now * (now / before) <= LEFT;
            if (seen && now <= NEAR) || (settles && (shrinks || now > 0.5 * before)) {
                if held {
                    break;
                }
                self.hold(step);
                (held, before) = (true, f64::NAN);
                continue;
            }
            before = now;
        }
        if seen {
            self.shift(step, S::one());
            self.past.learn(h, &self.found, &self.unknowns.scales);
            self.shift(step, -S::one());
        }
        Ok(())
    }
    /// Room for the matrix, once it is known where its entries are.
    fn unwritten(unknowns: &Unknowns, step: &Varying<'_, S>) -> Matrix<S> {
        let places = S::widely(Recorded(unknowns, step));
        Matrix::new(unknowns.n, places, &unknowns.blocks, &unknowns.scales)
    }
    /// Makes and factors it.
    pub(super) fn factor(&mut self, step: &Varying<'_, S>) -> Result<(), StepError> {
        self.make_room(step);
        if self.unknowns.n == 0 {
            return Ok(());
        }
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => Self::unwritten(&self.unknowns, step),
        };
        let (unknowns, rows, values) = (&self.unknowns, &mut self.rows, matrix.rewrite());
        S::widely(Written { unknowns, rows, step, values });
        let factored = matrix.factor();
        self.matrix = Some(matrix);
        let (t, h) = (step.on.t.largest(), step.on.h.largest());
        factored.map_err(|error| match error {
            FactorError::Singular { null, .. } => {
                let joints = step.on.system.joints.iter().zip(&self.unknowns.joints);
                let takes_part = |(joint, start): &(&Joint<S>, &usize)| {
                    null[**start..**start + joint.kind.rows()].iter().any(|x| x.abs() > 1e-6)
                };
                let joints = joints.filter(takes_part).map(|(joint, _)| joint.name.clone()).collect();
                StepError::Singular { t, h, joints }
            }
            _ => StepError::NotFinite { t, h },
        })
    }
}

impl Closing<Dual<f64, 1>> {
    /// Finds the derivatives of what a plain step has found, with factors that were made where it ended.
    pub(super) fn follow(
        &mut self,
        plain: &Closing<f64>,
        factors: &mut Closing<f64>,
        step: &Varying<'_, Dual<f64, 1>>,
    ) {
        self.found.iter_mut().zip(&plain.found).for_each(|(own, found)| *own = Dual::constant(*found));
        for round in 0..if step.on.work.softness.is_empty() { 1 } else { 2 } {
            if round > 0 {
                self.hold(step);
            }
            Dual::<f64, 1>::widely(Left(self, step));
            factors.x.iter_mut().zip(&self.x).for_each(|(x, left)| *x = left.eps[0]);
            factors.correct();
            self.found.iter_mut().zip(&factors.x).for_each(|(found, x)| found.eps[0] -= x);
        }
    }
}

impl Closing<f64> {
    /// What influences the steps to come: pivots that were searched.
    pub(super) fn keep(&mut self, archive: &mut Archive<'_>, step: &Varying<'_, f64>) {
        self.make_room(step);
        keep_matrix(&mut self.matrix, archive, || Self::unwritten(&self.unknowns, step));
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
    /// [M Bᵀ; B 0] over the typical mass, without the velocities that are not among the unknowns.
    #[inline(always)]
    fn write_closing<Q: Quads<S>>(
        &self,
        quads: Q,
        unknowns: &Unknowns,
        rows: &mut Vec<Row<S>>,
        sink: &mut impl Sink<S>,
    ) {
        let (work, mass) = (&*self.on.work, self.on.work.mass);
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            match unknowns.bodies[b] {
                Some(at) => {
                    sink.diagonal(at, at, body.mass / mass);
                    sink.block(at + 3, at + 3, &(body.inertia.matrix() / mass));
                }
                None => self.write_eased(quads, unknowns, b, rows, sink),
            }
        }
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            let start = unknowns.joints[j];
            for (k, row) in self.rows(j).iter().enumerate() {
                for (slope, body) in row.iter().zip(joint.bodies()) {
                    let Some(column) = body.and_then(|body| unknowns.bodies[body]) else { continue };
                    for i in joint.touched(k).chain(3..6) {
                        sink.add(start + k, column + i, slope[i]);
                        sink.add(column + i, start + k, slope[i]);
                    }
                }
                if let Some(soft) = work.soft(work.layout.multipliers[j] + k) {
                    sink.add(start + k, start + k, -soft);
                }
            }
        }
        self.write_flat_masses(&unknowns.extra, sink);
    }
    /// -m B M⁻¹ Bᵀ of the joints at one body.
    #[inline(always)]
    fn write_eased<Q: Quads<S>>(
        &self,
        quads: Q,
        unknowns: &Unknowns,
        b: usize,
        rows: &mut Vec<Row<S>>,
        sink: &mut impl Sink<S>,
    ) {
        let (body, work) = (&self.on.system.bodies[b], &*self.on.work);
        let light = -(work.mass / body.mass);
        rows.clear();
        for &(j, end) in &unknowns.around[b] {
            for (k, row) in self.rows(j).iter().enumerate() {
                let [push, turn] = vectors(&row[end]);
                let eased = six(&(push * light), &(body.inertia.inverse.times(&turn) * -work.mass));
                rows.push(Row { at: unknowns.joints[j] + k, slope: row[end], eased });
            }
        }
        for (i, row) in rows.iter().enumerate() {
            for other in &rows[..i] {
                let entry = dot(quads, &[row.slope], &[other.eased]);
                sink.add(row.at, other.at, entry);
                sink.add(other.at, row.at, entry);
            }
            sink.add(row.at, row.at, dot(quads, &[row.slope], &[row.eased]));
        }
    }
}
