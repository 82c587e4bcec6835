//! The equations of a step by finite derivatives, as Newton's method sees them.
//!
//! The unknowns are the change (ξ, a) of each pose, Λ = h²λ/2 and, in the stabilized form, (h v̄, h Ω̄) and ν. Momenta are
//! multiplied by h/2 and all is divided by a typical mass, so that every equation is a length:
//!
//! m (h v̄ - h v₀) + Φ_xᵀ Λ + G_x ν/2 = h²f/2,
//! cay(a) J (h Ω̄ - h Ω₀/2) - J h Ω₀/2 + R₀ᵀ (t Λ + G_R ν/2 - h²M/2) = 0,
//! m (ξ - h v̄) = B̃_xᵀ ν, J (a - h Ω̄) = B̃_Rᵀ ν, Φ(q₁) = 0, h B v₁/2 = 0.

use super::super::iterate::{Entries, Residual, Solution};
use super::super::place::{Place, zero};
use super::super::split::Slopes;
use super::super::state::{BodyMotion, CoordinateState};
use super::super::structured::Structured;
use super::super::workspace::{Step, Stepping, lengths};
use super::forces;
use super::leap::Leap;
use super::rows::{Multipliers, Part};
use crate::body::{Kinematics, Load, inward};
use crate::group::{MapKind, Rotation, Vectorial};
use crate::scalar::{Over, Perform, Real, perform};
use crate::solve::{Equations, Rung};
use nalgebra::Vector3;

/// A step by finite derivatives under way.
pub(in crate::multibody) struct Leaping<'a, S: Real> {
    pub(in crate::multibody) on: Stepping<'a, S>,
    /// True if velocities fit the joints too.
    pub(in crate::multibody) stabilized: bool,
    /// Damping of the strains of each force beside its own.
    pub(in crate::multibody) damping: &'a [Vec<S>],
    /// The work of loads and forces that store no energy, at the iterate.
    done: S,
}

/// Force and moment of the loads of a body over a step, in space, and the work of those without a potential.
pub(super) fn loads<S: Real, T: Over<S>>(
    loads: &impl Load<S>,
    leap: &Leap<T>,
    attitude: &Rotation<T>,
    (times, side): ([T; 2], f64),
) -> ([Vector3<T>; 2], T) {
    let h = times[1] - times[0];
    let cay = Rotation::from_parameters(Vectorial::from(MapKind::Cayley), &leap.turn);
    let attitudes = [*attitude, attitude.compose(&cay)];
    let [from, to] = [0, 1].map(|i| {
        let place = &leap.ends[i];
        Kinematics {
            time: times[i],
            attitude: attitudes[i],
            position: place.x,
            velocity_body: attitudes[i].unrotate(&(place.v / h)),
            omega_body: place.omega / h,
            inward: if i == 0 { side } else { -side },
        }
    });
    let g = loads.finite_derivative(&from, &to);
    let shift = leap.ends[1].x - leap.ends[0].x;
    // Seen from where the body is in the mean.
    let direct = g.moment - shift.cross(&g.force) * T::lift(0.5);
    let columns = |i: usize| leap.mean.r.column(i).cross(&g.base.column(i));
    let moment = direct - columns(0) - columns(1) - columns(2);
    ([g.force - g.position, moment], g.force.dot(&shift) + direct.dot(&leap.theta()))
}

impl<'a, S: Real> Leaping<'a, S> {
    pub(in crate::multibody) fn new(on: Stepping<'a, S>, stabilized: bool, damping: &'a [Vec<S>]) -> Self {
        Leaping { on, stabilized, damping, done: S::zero() }
    }
    pub(super) fn times(&self) -> [S; 2] {
        [self.on.t, self.on.t + self.on.h]
    }
    pub(super) fn side(&self) -> f64 {
        inward(self.on.t, self.on.h)
    }
    /// Multipliers of all rows as the equations have them.
    fn scaled(&mut self) {
        let (per, mass) = (self.on.h * self.on.h * S::lift(0.5), self.on.work.mass);
        let work = &mut *self.on.work;
        for (scaled, lambda) in work.scaled[0].iter_mut().zip(&work.lambda) {
            *scaled = *lambda * per;
        }
        for (scaled, eta) in work.scaled[1].iter_mut().zip(&work.eta) {
            *scaled = *eta * mass;
        }
    }
    pub(super) fn multipliers(&self, j: usize) -> Multipliers<'_, S> {
        let (first, count) = (self.on.work.layout.multipliers[j], self.on.system.joints[j].kind.rows());
        let [lambda, nu] = &self.on.work.scaled;
        Multipliers {
            length: self.on.work.layout.length,
            lambda: &lambda[first..first + count],
            nu: self.stabilized.then(|| &nu[first..first + count]),
        }
    }

    /// Begins the sums of what acts on bodies with loads and forces.
    fn act(&mut self) {
        let (system, times, side) = (self.on.system, self.times(), self.side());
        let half = self.on.h * self.on.h * S::lift(0.5);
        self.done = S::zero();
        for (b, body) in system.bodies.iter().enumerate() {
            let mut acting = [system.gravity * body.mass, zero()];
            if !body.loads.is_empty() {
                let (leap, attitude) = (&self.on.work.leaps[b], &self.on.bodies[b].attitude);
                let ([force, moment], work) = loads(&body.loads, leap, attitude, (times, side));
                acting = [acting[0] + force, moment];
                self.done += work;
            }
            self.on.work.now[b].complementary = acting.map(|x| x * -half);
        }
        for (f, force) in system.forces.iter().enumerate() {
            let damping = self.damping.get(f).map_or(&[][..], |all| &all[..]);
            let leaps = &self.on.work.leaps;
            let (joints, angles, length) = (&system.joints, self.on.angles, self.on.work.layout.length);
            let step = forces::Step { joints, leap: &|b| leaps[b], angles, times, length };
            let effort = force.effort(&step, damping);
            self.done += effort.work;
            for (end, body) in force.bodies().into_iter().enumerate() {
                let Some(body) = body else { continue };
                let sums = &mut self.on.work.now[body].complementary;
                sums.iter_mut().zip(effort.pull.on(end)).for_each(|(sum, part)| *sum -= part * half);
            }
        }
    }
    /// The work over the step of all that stores no energy, once it is solved and evaluated there.
    pub(in crate::multibody) fn work_done(&self) -> S {
        let (mut done, ground) = (self.done, Leap::ground());
        let per = (self.on.h * self.on.h * S::lift(0.5)).recip();
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            done += joint.drive_work(self.leaps(joint.bodies(), &ground), self.times(), self.multipliers(j))
                * per;
        }
        let h = self.on.h;
        let mean = self.mean_of_cosines();
        for (i, extra) in self.on.system.extra.iter().enumerate() {
            let (n, change) = (extra.len(), &self.on.work.flat[i][2]);
            let cos = mean(extra.frequency, extra.phase);
            for k in 0..n {
                let row = &extra.damping[k * n..(k + 1) * n];
                let damper = row.iter().zip(change).fold(S::zero(), |sum, (c, x)| sum + *c * *x) / h;
                done += change[k] * (extra.amplitude[k] * cos - damper);
            }
        }
        done
    }
    /// The mean of an oscillation over the step.
    fn mean_of_cosines(&self) -> impl Fn(S, S) -> S + use<S> {
        let times = self.times();
        move |frequency, phase| {
            let [a, b] = times.map(|t| (frequency * t + phase).sin_cos().1);
            (a + b) * S::lift(0.5)
        }
    }
    #[inline(always)]
    pub(super) fn leaps<'b>(&'b self, bodies: [Option<usize>; 2], ground: &'b Leap<S>) -> [&'b Leap<S>; 2] {
        let leap = |body: Option<usize>| body.map_or(ground, |b| &self.on.work.leaps[b]);
        [leap(bodies[0]), leap(bodies[1])]
    }
    /// Takes the bodies to the iterate and adds up what acts on them over the step, joints too.
    #[inline(always)]
    fn evaluate(&mut self, part: Part) {
        let (times, system, ground) = (self.times(), self.on.system, Leap::ground());
        self.scaled();
        for (step, leap) in self.on.work.steps.iter().zip(&mut self.on.work.leaps) {
            leap.go(step.moved, step.change);
        }
        self.act();
        let (mass, per) = (self.on.work.mass, self.on.h * self.on.h * S::lift(0.5));
        if self.stabilized && part == Part::All {
            for (b, body) in system.bodies.iter().enumerate() {
                let step = &self.on.work.steps[b];
                let shift = (step.moved[0] - step.change[0]) * (body.mass / mass);
                let turn = body.inertia.matrix.times(&(step.moved[1] - step.change[1])) / mass;
                self.on.work.put(self.on.work.layout.pose(b), [shift, turn]);
            }
        }
        for (j, joint) in system.joints.iter().enumerate() {
            let share = joint.share(self.leaps(joint.bodies(), &ground), times, self.multipliers(j), part);
            let work = &mut *self.on.work;
            if part == Part::All {
                let (count, start, first) =
                    (joint.kind.rows(), work.layout.joints[j], work.layout.multipliers[j]);
                for k in 0..count {
                    work.residual[start + k] = share.rows[k];
                    if self.stabilized {
                        work.residual[start + count + k] = share.rates[k];
                    }
                    if let Some(soft) = work.soft(first + k) {
                        let beyond = work.scaled[0][first + k] - work.held[first + k] * per;
                        work.residual[start + k] -= soft * beyond / mass;
                        if self.stabilized {
                            work.residual[start + count + k] -= soft * work.eta[first + k];
                        }
                    }
                }
            }
            for (end, body) in joint.bodies().into_iter().enumerate() {
                let Some(body) = body else { continue };
                let sums = &mut work.now[body].complementary;
                sums.iter_mut().zip(share.momenta.on(end)).for_each(|(sum, part)| *sum += part);
                if self.stabilized && part == Part::All {
                    let row = work.layout.pose(body);
                    for i in 0..3 {
                        work.residual[row + i] -= share.ties[end][0][i] / mass;
                        work.residual[row + 3 + i] -= share.ties[end][1][i] / mass;
                    }
                }
            }
        }
    }
    /// The bodies at the end of the step: the last correction moved the iterate. The largest gap of them, see [`Self::gap`].
    pub(in crate::multibody) fn finish_all(&mut self, next: &mut [BodyMotion<S>]) -> S {
        perform::<S, _, _>(self, Solution { next })
    }

    /// A body at the end of the step. Momenta are carried by their increments, the angular momentum in space: so rounding has
    /// no direction in which it adds up.
    #[inline(always)]
    fn finish(&self, b: usize) -> BodyMotion<S> {
        let (before, body) = (&self.on.bodies[b], &self.on.system.bodies[b]);
        let [force, moment] = self.on.work.now[b].complementary;
        let (leap, h) = (&self.on.work.leaps[b], self.on.h);
        let per = S::lift(-2.0) / h;
        let cay = Rotation::from_parameters(Vectorial::from(MapKind::Cayley), &leap.turn);
        let attitude = before.attitude.compose(&cay).normalized();
        let velocity = before.velocity + force * (per / body.mass);
        let end = BodyMotion {
            position: leap.ends[1].x,
            velocity,
            acceleration: (velocity - before.velocity) / h,
            attitude,
            carried: [zero(), before.carried[1] + moment * per],
            ..*before
        };
        let omega_body = body.spin_of(&end, leap.ends[1].omega / h);
        BodyMotion { omega_body, omega_rate: (omega_body - before.omega_body) / h, ..end }
    }
    /// By how much its velocities there differ from those that its pose was found with, as a part of what counts as motion; of a
    /// body without inertia about some axis, also how much momentum it has there.
    #[inline(always)]
    fn gap(&self, b: usize, end: &BodyMotion<S>) -> S {
        let (found, [far, turn], h) =
            (&self.on.work.leaps[b].ends[1], self.on.work.steps[b].sizes, self.on.h);
        let gap = lengths(&(end.velocity * h - found.v)) / far
            + lengths(&(end.omega_body * h - found.omega)) / turn;
        let (body, inertia) = (&self.on.system.bodies[b], self.on.system.bodies[b].inertia.matrix());
        if body.turns_every_way() || inertia.trace().largest() <= 0.0 {
            return gap;
        }
        let left = end.attitude.unrotate(&end.carried[1]) - inertia * end.omega_body;
        gap + lengths(&left) * h.abs() / (inertia.trace() * turn)
    }
    /// Extra coordinates there.
    pub(in crate::multibody) fn finish_flat(&self, i: usize, out: &mut CoordinateState<S>) {
        let (before, change) = (&self.on.extra[i], &self.on.work.flat[i][2]);
        let h = self.on.h;
        for (k, change) in change.iter().enumerate() {
            out.position[k] = before.position[k] + *change;
            out.velocity[k] = *change * S::lift(2.0) / h - before.velocity[k];
            out.acceleration[k] = (out.velocity[k] - before.velocity[k]) / h;
        }
    }
    pub(super) fn flat_residual(&self, i: usize, k: usize) -> S {
        let (extra, before, change) = (&self.on.system.extra[i], &self.on.extra[i], &self.on.work.flat[i][2]);
        let (n, h, half) = (extra.len(), self.on.h, S::lift(0.5));
        let cos = self.mean_of_cosines()(extra.frequency, extra.phase);
        let (mut momentum, mut force) = (S::zero(), -(extra.force[k] + extra.amplitude[k] * cos));
        for (j, change) in change.iter().enumerate() {
            let at = k * n + j;
            momentum += extra.mass[at] * (*change - before.velocity[j] * h);
            force += extra.stiffness[at] * (before.position[j] + *change * half);
            force += extra.damping[at] * *change / h;
        }
        (momentum + force * h * h * half) / self.on.work.mass
    }
}

impl<'a, S: Real> Structured<'a, S> for Leaping<'a, S> {
    fn on(&mut self) -> &mut Stepping<'a, S> {
        &mut self.on
    }
    /// Velocities times the step, and momenta times half of it. What a body has of momentum about an axis without inertia is rounding,
    /// which the reactions of the step take back.
    fn start(&mut self) {
        let (h, work) = (self.on.h, &mut *self.on.work);
        let starts = self.on.system.bodies.iter().zip(self.on.bodies);
        for ((rigid, body), (leap, step)) in starts.zip(work.leaps.iter_mut().zip(&mut work.steps)) {
            let (v, omega) = (body.velocity * h, body.omega_body * h);
            leap.ends[0] = Place { x: body.position, r: body.attitude.matrix(), v, omega };
            step.carried = rigid.inertia.matrix.times(&(omega * S::lift(0.5)));
            step.unseen = match rigid.turns_every_way() {
                true => zero(),
                false => body.attitude.unrotate(&body.carried[1]) * (h * S::lift(0.5)) - step.carried,
            };
        }
    }
    /// λ per Λ over the typical mass.
    fn multiplier(&self) -> S {
        self.on.work.mass * S::lift(2.0) / (self.on.h * self.on.h)
    }
    /// Of derivatives of what ν multiplies.
    fn is_simplified(&self) -> bool {
        self.stabilized && !self.on.system.joints.is_empty()
    }
}

impl<S: Real> Perform<Solution<'_, S>> for Leaping<'_, S> {
    type Output = S;
    #[inline(always)]
    fn perform(&mut self, Solution { next }: Solution<'_, S>) -> S {
        self.evaluate(Part::Momenta);
        let mut gap = S::zero();
        for (b, next) in next.iter_mut().enumerate() {
            *next = self.finish(b);
            gap = gap.max(self.gap(b, next));
        }
        gap
    }
}

impl<S: Real> Perform<Slopes> for Leaping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, _: Slopes) {
        self.see_slopes();
    }
}

impl<S: Real> Perform<Residual> for Leaping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, _: Residual) {
        self.evaluate(Part::All);
        let mass = self.on.work.mass;
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let (leap, [force, moment]) = (&self.on.work.leaps[b], self.on.work.now[b].complementary);
            let start = &leap.ends[0];
            let inertia = &body.inertia.matrix;
            let Step { carried: begun, unseen, .. } = &self.on.work.steps[b];
            let ended = inertia.times(&leap.mean.omega) - begun;
            let momentum = (leap.mean.v - start.v) * body.mass + force;
            let spin = leap.turned(&ended) - (begun + unseen) + start.to_body(&moment);
            self.on.work.put(self.on.work.layout.motion(b), [momentum / mass, spin / mass]);
        }
        for i in 0..self.on.extra.len() {
            for k in 0..self.on.extra[i].position.len() {
                let row = self.on.work.layout.extra[i] + k;
                self.on.work.residual[row] = self.flat_residual(i, k);
            }
        }
    }
}

impl<S: Real> Perform<Entries<'_, S>> for Leaping<'_, S> {
    type Output = ();
    #[inline(always)]
    fn perform(&mut self, Entries { whole, mut values }: Entries<'_, S>) {
        match whole {
            true => self.write_whole(&mut values),
            false => self.write(&mut values),
        }
    }
}

impl<S: Real> Equations<S> for Leaping<'_, S> {
    fn guess(&mut self, rung: Rung, _lanes: S::Mask) {
        self.start();
        let on = &mut self.on;
        on.work.turned = S::zero();
        on.measure();
        if on.goes_on(rung) || rung == Rung::Continued {
            return;
        }
        on.as_it_moves(rung);
    }
    fn shorten(&mut self, fraction: f64) {
        self.on.h = self.on.whole * S::lift(fraction);
        self.start();
    }

    #[inline]
    fn residual(&mut self) {
        perform::<S, _, _>(self, Residual);
    }
    fn misfit(&self) -> S {
        self.on.work.layout.misfit(&self.on.work.residual)
    }

    #[inline]
    fn linearize(&mut self, _rung: Rung, _lanes: S::Mask) {
        let whole = self.on.takes_whole();
        let mut matrix = match self.on.work.matrix_at(whole).take() {
            Some(matrix) => matrix,
            None if whole => self.unwritten_whole(),
            None => self.unwritten_matrix(),
        };
        perform::<S, _, _>(self, Entries { whole, values: matrix.rewrite() });
        if !whole {
            perform::<S, _, _>(self, Slopes);
        }
        self.on.take_matrix(matrix, whole);
        if self.on.splits() && self.on.work.matrix_at(!whole).is_none() {
            // Room for the other one as long as steps may still allocate.
            let mut other = if whole { self.unwritten_matrix() } else { self.unwritten_whole() };
            perform::<S, _, _>(self, Entries { whole: !whole, values: other.rewrite() });
            self.on.work.put_aside(other, !whole);
        }
    }

    #[inline]
    fn correct(&mut self, _lanes: S::Mask) -> S {
        let multiplier = self.multiplier();
        self.on.correct_with(multiplier, |_, theta| *theta)
    }
    fn distance_from_jacobian(&self) -> S {
        self.on.distance()
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
