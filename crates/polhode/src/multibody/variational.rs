//! Steps from a discrete Lagrangian on the group with joints (RATTLE): symplectic, momenta and both levels of the joints kept.
//!
//! With B, f and M at the start of the step and R₁ = R₀ map(a), the momenta π⁺ right after the start give the step,
//!
//! m ξ = h m v₀ + h²(f₀ - B_xᵀ λ)/2, F(a) = h π⁺ = h π₀ + h²(M₀ - B_Rᵀ λ)/2, Φ(q₁) = 0,
//!
//! F(a) = J a + a × J a/2 + a (a·J a)/4 for Cayley's map and J a + a × J a/2 + k a × (a × J a) for the exponential one. The
//! angular momentum in space goes through the step as it is, and the second half of the forces with multipliers μ makes
//! B v = 0 at the end.

use super::closing::Closing;
use super::eased::{Eased, Slope};
use super::joint::MOST_ROWS;
use super::place::{Place, outer, unit, zero};
use super::signal::Scene;
use super::state::{BodyMotion, CoordinateState};
use super::stored::{Six, StoredRow, numbers, pulled, six, store, vectors};
use super::structured::{Solve, Structured};
use super::workspace::{Stepping, ends, loads};
use crate::body::inward;
use crate::group::{Group, Map, MapKind, Rotation, So3, Vectorial, spin};
use crate::scalar::{Dual, Perform, Quads, Real, Scalar, Wide, perform};
use crate::solve::{Equations, Rung, StepError};
use core::f64::consts::PI;
use nalgebra::{Matrix3, Vector3};

/// Parameters have settled once they are corrected by less than this part of what counts as motion.
const SETTLED: f64 = 1e-6;

/// A step from a discrete Lagrangian under way.
pub(super) struct Varying<'a, S: Real> {
    pub(super) on: Stepping<'a, S>,
    pub(super) map: MapKind,
    /// Force in space and moment in body axes on each body, at the start and then at the end of the step.
    pub(super) acting: &'a mut Vec<[Vector3<S>; 2]>,
}

/// (1 - (t/2) cot(t/2))/t² of the squared length.
fn exponential_weight<T: Real>(square: T) -> T {
    let small = square.below(T::lift(0.25));
    let (inside, outside) = (T::select(small, square, T::zero()), T::select(small, T::one(), square));
    // 1/12 + s/720 + s²/30240 + ...
    const SERIES: [f64; 9] = [
        1.0 / 12.0,
        1.0 / 720.0,
        1.0 / 30240.0,
        1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
        3617.0 / 10_670_622_842_880_000.0,
        43867.0 / 5_109_094_217_170_944_000.0,
    ];
    let series = SERIES.iter().rev().fold(T::zero(), |sum, c| sum * inside + T::lift(*c));
    let half = outside.sqrt() * T::lift(0.5);
    let (sin, cos) = half.sin_cos();
    T::select(small, series, (T::one() - half * cos / sin) / outside)
}

/// F'(a), see [`momentum`].
fn momentum_slope<S: Real>(map: MapKind, inertia: &Matrix3<S>, a: &Vector3<S>) -> Matrix3<S> {
    let (spun, turn, half) = (inertia * a, spin(a), S::lift(0.5));
    let across = turn * inertia - spin(&spun);
    let slope = inertia + across * half;
    match map {
        MapKind::Cayley => {
            let along = Matrix3::from_diagonal_element(a.dot(&spun) * S::lift(0.25));
            slope + along + outer(&(a * half), &spun)
        }
        _ => {
            // k with its derivative by the squared length.
            let k = exponential_weight(Dual::<S, 1>::variable(a.dot(a), 0));
            let once = a.cross(&spun);
            let twice = turn * across - spin(&once);
            slope + twice * k.re + outer(&(a.cross(&once) * (k.eps[0] * S::lift(2.0))), a)
        }
    }
}

/// F(a): h times the momentum in body axes that turns a body by the parameters a in one step.
fn momentum<T: Real>(map: MapKind, inertia: &Matrix3<T>, a: &Vector3<T>) -> Vector3<T> {
    let spun = inertia * a;
    let half = spun + a.cross(&spun) * T::lift(0.5);
    match map {
        MapKind::Cayley => half + a * (a.dot(&spun) * T::lift(0.25)),
        _ => half + a.cross(&a.cross(&spun)) * exponential_weight(a.dot(a)),
    }
}

impl<'a, S: Real> Varying<'a, S> {
    /// True if parameters are beyond the map, or, where they have settled, those of a turn that is another one by a full turn: it would
    /// end in the same pose, with momenta that nothing gave.
    fn is_astray(&self, settled: bool) -> bool {
        let limit = Vectorial::from(self.map).limit();
        let counts = settled && self.map != MapKind::Cayley;
        self.on.work.steps.iter().zip(self.on.bodies).any(|(step, body)| {
            let (turn, expected) = (step.moved[1], body.omega_body * self.on.h);
            let length = |v: &Vector3<S>| v.dot(v).largest().sqrt();
            length(&turn) >= limit || (counts && length(&(turn - expected)) >= PI)
        })
    }
    /// Half of the squared step.
    fn half(&self) -> S {
        self.on.h * self.on.h * S::lift(0.5)
    }
    /// What acts at one end of the step, where bodies are as given.
    fn act(&mut self, (time, side): (S, f64), place: &dyn Fn(usize) -> (Rotation<S>, Place<S>)) {
        let system = self.on.system;
        self.acting.clear();
        for (b, body) in system.bodies.iter().enumerate() {
            let mut acting = [system.gravity * body.mass, zero()];
            if !body.loads.is_empty() {
                let (attitude, place) = place(b);
                let [force, moment] = loads(body, (time, side), &attitude, &place);
                acting = [acting[0] + force, moment];
            }
            self.acting.push(acting);
        }
        for force in &system.forces {
            let scene = Scene {
                time,
                inward: side,
                joints: &system.joints,
                angles: self.on.angles,
                place: &|b| place(b).1,
            };
            let wrenches = force.wrenches_in(&scene);
            for (i, body) in force.bodies().into_iter().enumerate() {
                let Some(body) = body else { continue };
                self.acting[body][0] += wrenches[2 * i];
                self.acting[body][1] += wrenches[2 * i + 1];
            }
        }
    }
    /// Forces and joints at the start.
    pub(super) fn begin(&mut self) {
        let (bodies, time) = (self.on.bodies, self.on.t);
        let side = inward(time, self.on.h);
        self.act((time, side), &|b| (bodies[b].attitude, bodies[b].place()));
        perform::<S, _, _>(self, Start);
    }
    /// Takes B where the bodies are in the iterate.
    #[inline(always)]
    pub(super) fn take_rows(&mut self, time: S) {
        let (work, ground) = (&mut *self.on.work, Place::ground());
        for (joint, first) in self.on.system.joints.iter().zip(&work.layout.multipliers) {
            let places = ends(&work.now, &ground, joint.bodies());
            store(joint, time, places, &mut work.jacobians[*first..*first + joint.kind.rows()]);
        }
    }
    /// The rows of a joint, as they were taken.
    #[inline(always)]
    pub(super) fn rows(&self, joint: usize) -> &[StoredRow<S>] {
        let first = self.on.work.layout.multipliers[joint];
        &self.on.work.jacobians[first..first + self.on.system.joints[joint].kind.rows()]
    }
    /// Bᵀ times numbers of each row, which start there for each joint, B as it was taken.
    #[inline(always)]
    pub(super) fn react<Q: Quads<S>>(
        &self,
        quads: Q,
        (numbers, starts): (&[S], &[usize]),
        mut add: impl FnMut(usize, &Six<S>),
    ) {
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            let pulls = pulled(quads, self.rows(j), &numbers[starts[j]..]);
            for (pull, body) in pulls.iter().zip(joint.bodies()) {
                if let Some(body) = body {
                    add(body, pull);
                }
            }
        }
    }
    fn oscillation(&self, i: usize, time: S) -> S {
        let extra = &self.on.system.extra[i];
        (extra.frequency * time + extra.phase).sin_cos().1
    }
    /// What acts on an extra coordinate.
    pub(super) fn flat_force(&self, i: usize, k: usize, position: &[S], time: S) -> S {
        let extra = &self.on.system.extra[i];
        let n = extra.len();
        let given = extra.force[k] + extra.amplitude[k] * self.oscillation(i, time);
        let row = &extra.stiffness[k * n..(k + 1) * n];
        row.iter().zip(position).fold(given, |sum, (c, y)| sum - *c * *y)
    }

    /// The work of drives by the multipliers at one end of the step, B as it is stored.
    fn drive_work(
        &self,
        time: S,
        place: &dyn Fn(usize) -> Place<S>,
        multiplier: impl Fn(usize, usize) -> S,
    ) -> S {
        let mut work = S::zero();
        for (j, joint) in self.on.system.joints.iter().enumerate().filter(|(_, joint)| joint.is_driven()) {
            let still = |b: usize| Place { v: zero(), omega: zero(), ..place(b) };
            let places = joint.bodies().map(|body| body.map_or_else(Place::ground, still));
            let mut rates = [S::zero(); MOST_ROWS];
            joint.rates(time, places.each_ref(), &mut rates, None);
            for (k, rate) in rates[..joint.kind.rows()].iter().enumerate() {
                work += multiplier(j, k) * *rate;
            }
        }
        work
    }

    /// The end of the step: momenta by their increments, then velocities that fit the joints. The work of drives over the step.
    pub(super) fn finish(
        &mut self,
        next: &mut [BodyMotion<S>],
        next_extra: &mut [CoordinateState<S>],
        closing: &mut Closing<S>,
        solver: &mut impl Solve<S>,
    ) -> Result<S, StepError>
    where
        S: Scalar,
    {
        let (h, system) = (self.on.h, self.on.system);
        let half = h * S::lift(0.5);
        S::widely(Pushed { step: self, next });
        let (bodies, end) = (self.on.bodies, self.on.t + h);
        let side = -inward(self.on.t, h);
        let still: &[BodyMotion<S>] = next;
        self.act((end, side), &|b| (still[b].attitude, still[b].place()));
        for (b, next) in next.iter_mut().enumerate() {
            let [force, moment] = self.acting[b];
            next.velocity += force * (half / system.bodies[b].mass);
            next.carried[1] += next.attitude.rotate(&(moment * half));
        }
        for (i, out) in next_extra.iter_mut().enumerate() {
            let (flat, change) = (&self.on.extra[i], &self.on.work.flat[i][2]);
            for (k, change) in change.iter().enumerate() {
                out.position[k] = flat.position[k] + *change;
                out.velocity[k] = *change / h;
            }
        }
        let first = {
            let (lambda, starts) = (&self.on.work.lambda, &self.on.work.layout.multipliers);
            self.drive_work(self.on.t, &|b| bodies[b].place(), |j, k| lambda[starts[j] + k] * half)
        };
        closing.close(self, next, next_extra, solver)?;
        let (still, mass) = (&*next, self.on.work.mass);
        let second = self.drive_work(end, &|b| still[b].place(), |j, k| closing.impulse(j, k) * mass);
        for (next, moving) in next.iter_mut().zip(bodies) {
            next.acceleration = (next.velocity - moving.velocity) / h;
            next.omega_rate = (next.omega_body - moving.omega_body) / h;
        }
        for (out, flat) in next_extra.iter_mut().zip(self.on.extra) {
            for k in 0..out.velocity.len() {
                out.acceleration[k] = (out.velocity[k] - flat.velocity[k]) / h;
            }
        }
        Ok(first + second)
    }
}

impl<'a, S: Real> Structured<'a, S> for Varying<'a, S> {
    fn on(&mut self) -> &mut Stepping<'a, S> {
        &mut self.on
    }
    /// Forces and joints at the start were taken up before.
    fn start(&mut self) {}
    fn multiplier(&self) -> S {
        self.on.work.mass / self.half()
    }
}

/// B at the start of the step.
struct Start;

impl<S: Real> Perform<Start> for Varying<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, _: Start) {
        let time = self.on.t;
        // They are what the last step ended with, if bodies are still there.
        let mut same = self.on.work.rows_at.take() == Some(time.largest()) && S::DEPTH == 0;
        for (now, body) in self.on.work.now.iter_mut().zip(self.on.bodies) {
            let place = Place { v: zero(), omega: zero(), ..body.place() };
            same &= now.place.x == place.x && now.place.r == place.r;
            now.place = place;
        }
        if !same {
            self.take_rows(time);
        }
    }
}

/// Momenta by the first half of what acts, and poses at the end of the step.
struct Pushed<'s, 'a, S: Real> {
    step: &'s Varying<'a, S>,
    next: &'s mut [BodyMotion<S>],
}

impl<S: Real> Wide<S> for Pushed<'_, '_, S> {
    type Output = ();
    #[inline(always)]
    fn run<Q: Quads<S>>(self, quads: Q) {
        let Pushed { step, next } = self;
        let (system, bodies, work) = (step.on.system, step.on.bodies, &*step.on.work);
        let half = step.on.h * S::lift(0.5);
        for (b, next) in next.iter_mut().enumerate() {
            let (moving, moved) = (&bodies[b], &work.steps[b].moved);
            let turn = So3::increment(Vectorial::from(step.map), &moved[1]);
            let [force, moment] = step.acting[b];
            *next = BodyMotion {
                position: moving.position + moved[0],
                attitude: moving.attitude.advance(&turn).normalized(),
                velocity: moving.velocity + force * (half / system.bodies[b].mass),
                carried: [zero(), moving.carried[1] + moving.attitude.rotate(&(moment * half))],
                ..*moving
            };
        }
        step.react(quads, (&work.lambda, &work.layout.multipliers), |b, pull| {
            let [force, moment] = vectors(pull);
            next[b].velocity -= force * (half / system.bodies[b].mass);
            next[b].carried[1] -= bodies[b].attitude.rotate(&(moment * half));
        });
    }
}

/// The residual at the iterate.
struct Remainder<'s, 'a, S: Real>(&'s mut Varying<'a, S>);

impl<S: Real> Wide<S> for Remainder<'_, '_, S> {
    type Output = ();
    #[inline(always)]
    fn run<Q: Quads<S>>(self, quads: Q) {
        self.0.evaluate(quads);
    }
}

impl<S: Real> Varying<'_, S> {
    #[inline(always)]
    fn evaluate<Q: Quads<S>>(&mut self, quads: Q) {
        let (h, half, mass) = (self.on.h, self.half(), self.on.work.mass);
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let (moving, moved) = (&self.on.bodies[b], self.on.work.steps[b].moved);
            let now = &mut self.on.work.now[b];
            now.attitude = moving.attitude.advance(&So3::increment(Vectorial::from(self.map), &moved[1]));
            now.place = Place {
                x: moving.position + moved[0],
                r: now.attitude.matrix(),
                v: moving.velocity,
                omega: moving.omega_body,
            };
            let [force, moment] = self.acting[b];
            let spun = momentum(self.map, body.inertia.matrix(), &moved[1]);
            let begun = body.inertia.matrix.times(&(moving.omega_body * h));
            let shift = (moved[0] - moving.velocity * h) * body.mass - force * half;
            let row = self.on.work.layout.motion(b);
            self.on.work.put(row, [shift / mass, (spun - begun - moment * half) / mass]);
        }
        let (work, ground, per) = (&mut *self.on.work, Place::ground(), half / mass);
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            let (count, start, first) =
                (joint.kind.rows(), work.layout.joints[j], work.layout.multipliers[j]);
            let (bodies, multipliers) = (joint.bodies(), first..first + count);
            let places = ends(&work.now, &ground, bodies);
            joint.constraint(self.on.t + h, places, &mut work.residual[start..start + count]);
            for k in 0..count {
                if let Some(soft) = work.soft(first + k) {
                    let beyond = (work.lambda[first + k] - work.held[first + k]) * per;
                    work.residual[start + k] -= soft * beyond;
                }
            }
            let pulls = pulled(quads, &work.jacobians[multipliers.clone()], &work.lambda[multipliers]);
            for (pull, body) in pulls.iter().zip(bodies) {
                let Some(body) = body else { continue };
                let row = work.layout.motion(body);
                let sums = &mut work.residual[row..row + 6];
                sums.iter_mut().zip(&numbers(pull)).for_each(|(sum, part)| *sum += *part * per);
            }
        }
        for i in 0..self.on.extra.len() {
            let (extra, flat) = (&self.on.system.extra[i], &self.on.extra[i]);
            let n = extra.len();
            for k in 0..n {
                let change = &self.on.work.flat[i][2];
                let force = self.flat_force(i, k, &flat.position, self.on.t);
                let momentum = (0..n).fold(S::zero(), |sum, j| {
                    sum + extra.mass[k * n + j] * (change[j] - flat.velocity[j] * h)
                });
                let row = self.on.work.layout.extra[i] + k;
                self.on.work.residual[row] = (momentum - force * half) / mass;
            }
        }
    }
}

/// The parts of the Newton matrix at the iterate.
struct Slopes<'a, S: Real>(&'a mut Eased<S>);

impl<S: Real> Perform<Slopes<'_, S>> for Varying<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, Slopes(eased): Slopes<'_, S>) {
        let (system, work, ground, map) =
            (self.on.system, &mut *self.on.work, Place::ground(), Vectorial::from(self.map));
        for (b, body) in system.bodies.iter().enumerate() {
            let turn = &work.steps[b].moved[1];
            let spun = momentum_slope(self.map, body.inertia.matrix(), turn) / work.mass;
            eased.slopes[b] = Slope::new(body.mass / work.mass, spun);
            // How a change of the parameters turns the end.
            let column = |i: usize| So3::tangent(map, turn, &unit(i));
            work.now[b].omega_slopes[0] = Matrix3::from_columns(&[column(0), column(1), column(2)]);
        }
        eased.pushes.copy_from_slice(&work.jacobians);
        for (joint, first) in system.joints.iter().zip(&work.layout.multipliers) {
            let rows = &mut eased.seen[*first..*first + joint.kind.rows()];
            store(joint, self.on.t + self.on.h, ends(&work.now, &ground, joint.bodies()), rows);
            for (end, body) in joint.bodies().into_iter().enumerate() {
                let Some(body) = body else { continue };
                for row in rows.iter_mut() {
                    let [push, turn] = vectors(&row[end]);
                    row[end] = six(&push, &work.now[body].omega_slopes[0].tr_mul(&turn));
                }
            }
        }
    }
}

impl<S: Real> Equations<S> for Varying<'_, S> {
    fn guess(&mut self, rung: Rung, _lanes: S::Mask) {
        self.on.work.turned = S::zero();
        self.on.measure();
        if self.on.goes_on(rung) || rung == Rung::Continued {
            return;
        }
        self.on.as_it_moves(rung);
    }
    fn shorten(&mut self, fraction: f64) {
        self.on.h = self.on.whole * S::lift(fraction);
    }
    #[inline]
    fn residual(&mut self) {
        S::widely(Remainder(self));
    }
    fn misfit(&self) -> S {
        self.on.work.layout.misfit(&self.on.work.residual)
    }
    #[inline]
    fn linearize(&mut self, _rung: Rung, _lanes: S::Mask) {
        let mut eased = self.on.work.eased.take().unwrap_or_else(|| Box::new(Eased::new(&self.on)));
        perform::<S, _, _>(self, Slopes(&mut eased));
        let factored = eased.factor(&self.on);
        self.on.work.eased = Some(eased);
        self.on.made_factors(factored);
    }
    #[inline]
    fn correct(&mut self, _lanes: S::Mask) -> S {
        let multiplier = self.multiplier();
        let size = self.on.correct_with(multiplier, |_, theta| *theta);
        if self.is_astray(size.largest() < SETTLED) { S::lift(f64::NAN) } else { size }
    }
    fn distance_from_jacobian(&self) -> S {
        self.on.work.turned
    }
    fn round_off(&self) -> f64 {
        self.on.work.round_off
    }
    fn may_stall(&self) -> bool {
        self.on.is_rounded()
    }
    fn prepared(&self) -> bool {
        self.on.goes_on_with_factors()
    }
    fn moved(&self) -> S {
        S::zero()
    }
    fn interval(&self) -> (S, S) {
        (self.on.t, self.on.whole)
    }
}
