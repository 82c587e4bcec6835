//! Munthe-Kaas Runge-Kutta methods: a tableau applied in the exponential chart at the start of the step.
//!
//! With Y = (Ψ, p), p = exp[Ψ] Π the momentum seen from the frame at the start, the equations of motion are
//! Ψ̇ = (dexp₋Ψ)⁻¹ M⁻¹ exp[-Ψ] p,  ṗ = exp[Ψ] T(t, C₀ exp[Ψ], V).
//! A Runge-Kutta step of this ordinary differential equation from Y = (0, P₀) is the stage scheme of Krysl 2006,
//! section 4 (with the load of stage j in the sum): momentum in space is kept exactly without load.

use super::implicit::CURVATURE;
use super::tableau::Tableau;
use crate::body::Dynamics;
use crate::body::{AnyBody, Mechanics, State, inward};
use crate::group::{Coordinates, Exponential, Group, Jet, seeded, unit};
use crate::scalar::{Mask, Over, Real};
use crate::solve::{Equations, Rung, StepError, Work, factorize, newton, substitute};

/// (Ψ̇, ṗ).
type Slope<S, G> = (<G as Group>::Vector<S>, <G as Group>::Vector<S>);

/// The time of a stage, and which side of it the load is asked for.
#[inline(always)]
pub(super) fn stage<S: Real>(t: S, h: S, c: f64) -> (S, f64) {
    (t + h * S::lift(c), inward(t, h) * (1.0 - 2.0 * c))
}

/// (Ψ̇, ṗ) at (Ψ, p), for the chart at `pose`.
#[inline(always)]
fn slope<T: Real, G: Dynamics>(
    body: &Mechanics<'_, T, G>,
    pose: &G::Pose<T>,
    time: (T, f64),
    psi: &G::Vector<T>,
    p: &G::Vector<T>,
) -> Slope<T, G> {
    let step = G::increment(Exponential, psi);
    let v = body.velocity(&G::pull(&step, p));
    let load = body.load(time, &G::advance(pose, &step), &v);
    (G::tangent_inverse(Exponential, psi, &v), G::push(&step, &load))
}

/// The state at (Ψ, p) of the chart.
#[inline(always)]
pub(super) fn leave<S: Real, G: Dynamics>(
    pose: &G::Pose<S>,
    psi: &G::Vector<S>,
    p: &G::Vector<S>,
) -> State<S, G> {
    let step = G::increment(Exponential, psi);
    State { pose: G::advance(pose, &step), momentum: G::pull(&step, p) }
}

/// h Σ w_j slope_j, added to (0, P₀).
#[inline(always)]
fn sum<S: Real, G: Dynamics>(
    slopes: &[Slope<S, G>],
    momentum: &G::Vector<S>,
    h: S,
    weight: impl Fn(usize) -> f64,
) -> Slope<S, G> {
    let (mut psi, mut p) = (G::Vector::<S>::origin(), *momentum);
    for (j, (turn, kick)) in slopes.iter().enumerate() {
        let w = weight(j);
        if w != 0.0 {
            psi = psi + *turn * (h * S::lift(w));
            p = p + *kick * (h * S::lift(w));
        }
    }
    (psi, p)
}

/// An explicit tableau with K stages; entries by closures, so that constants fold.
#[inline(always)]
fn explicit<S: Real, G: Dynamics, const K: usize>(
    body: &Mechanics<'_, S, G>,
    state: &State<S, G>,
    t: S,
    h: S,
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize) -> f64,
    c: impl Fn(usize) -> f64,
) -> State<S, G> {
    // The first stage is the start of the step, where the chart is trivial.
    let v = body.velocity(&state.momentum);
    let zero = G::Vector::<S>::origin();
    let mut slopes = [(zero, zero); K];
    slopes[0] = (v, body.load((t, inward(t, h)), &state.pose, &v));
    for k in 1..K {
        let (psi, p) = sum::<S, G>(&slopes[..k], &state.momentum, h, |j| a(k, j));
        slopes[k] = slope(body, &state.pose, stage(t, h, c(k)), &psi, &p);
    }
    let (psi, p) = sum::<S, G>(&slopes, &state.momentum, h, b);
    leave::<S, G>(&state.pose, &psi, &p)
}

/// The classical fourth-order method written out: the most used tableau, and what guesses for Newton are made with.
#[inline]
pub(super) fn classical<S: Real, G: Dynamics>(
    body: &Mechanics<'_, S, G>,
    state: &State<S, G>,
    t: S,
    h: S,
) -> State<S, G> {
    let half = h * S::lift(0.5);
    let next = |c: f64, span: S, (turn, kick): &Slope<S, G>| {
        slope(body, &state.pose, stage(t, h, c), &(*turn * span), &(state.momentum + *kick * span))
    };
    let v = body.velocity(&state.momentum);
    let first = (v, body.load((t, inward(t, h)), &state.pose, &v));
    let second = next(0.5, half, &first);
    let third = next(0.5, half, &second);
    let fourth = next(1.0, h, &third);
    let mean = |a: G::Vector<S>, b: G::Vector<S>, c: G::Vector<S>, d: G::Vector<S>| {
        (a + d) * (h * S::lift(1.0 / 6.0)) + (b + c) * (h * S::lift(1.0 / 3.0))
    };
    let psi = mean(first.0, second.0, third.0, fourth.0);
    let p = state.momentum + mean(first.1, second.1, third.1, fourth.1);
    leave::<S, G>(&state.pose, &psi, &p)
}

/// A tableau at work: its stages and the memory for their equations, allocated once.
#[derive(Clone, Debug)]
pub(super) struct Stages<S: Real, G: Dynamics> {
    pub(super) tableau: Tableau,
    pub(super) blocks: Vec<core::ops::Range<usize>>,
    explicit: bool,
    /// The most used tableau has its entries in the code.
    classical: bool,
    /// The stage values (Ψ, p) of the last step, for a tableau that is not explicit.
    pub(super) y: Vec<G::Pair<S>>,
    guess: Vec<G::Pair<S>>,
    base: Vec<G::Pair<S>>,
    f: Vec<G::Pair<S>>,
    matrix: Vec<S>,
    fresh: Vec<S>,
    swaps: Vec<S::Mask>,
    fresh_swaps: Vec<S::Mask>,
    right: Vec<S>,
    /// What the equations count when pivots are chosen.
    pub(super) weights: Vec<S>,
}

impl<S: Real, G: Dynamics> Stages<S, G> {
    pub(super) fn new(tableau: &Tableau) -> Self {
        let s = tableau.stages();
        let blocks = tableau.blocks();
        let explicit = tableau.kind() == super::TableauKind::Explicit;
        let coupled = blocks.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        let n = if explicit { 0 } else { coupled * G::Pair::<S>::LEN };
        let zero = G::Pair::<S>::origin();
        let none = S::Mask::splat(false);
        Stages {
            tableau: tableau.clone(),
            blocks,
            explicit,
            classical: Tableau::named("rk4").is_ok_and(|rk4| rk4.same_entries(tableau)),
            y: vec![zero; s],
            guess: vec![zero; s],
            base: vec![zero; s],
            f: vec![zero; s],
            matrix: vec![S::zero(); n * n],
            fresh: vec![S::zero(); n * n],
            swaps: vec![none; n * n],
            fresh_swaps: vec![none; n * n],
            right: vec![S::zero(); n],
            weights: vec![S::zero(); n],
        }
    }

    /// Lets equations of increments count as angles, and those of momenta as what these make of a step.
    pub(super) fn weigh(&mut self, body: &Mechanics<'_, S, G>, length: S, h: S) {
        let (width, turn) = (G::Vector::<S>::LEN, G::weights::<S>(length));
        let counts = G::Vector::<S>::generate(|i| G::size(length, &body.velocity(&unit(i))) * h.abs());
        for (i, weight) in self.weights.iter_mut().enumerate() {
            let at = i % (2 * width);
            *weight = if at < width { turn.at(at) } else { counts.at(at - width) };
        }
    }

    #[inline(never)]
    pub(super) fn step(
        &mut self,
        body: &dyn AnyBody<S, G>,
        state: &State<S, G>,
        t: S,
        h: S,
        work: &mut Work,
    ) -> Result<State<S, G>, StepError> {
        let (tab, mechanics) = (&self.tableau, &body.mechanics());
        if self.classical {
            return Ok(classical(mechanics, state, t, h));
        }
        if self.explicit {
            let (a, b, c) = (|i, j| tab.a(i, j), |j| tab.b()[j], |i| tab.c()[i]);
            match tab.stages() {
                1 => return Ok(explicit::<S, G, 1>(mechanics, state, t, h, a, b, c)),
                2 => return Ok(explicit::<S, G, 2>(mechanics, state, t, h, a, b, c)),
                3 => return Ok(explicit::<S, G, 3>(mechanics, state, t, h, a, b, c)),
                4 => return Ok(explicit::<S, G, 4>(mechanics, state, t, h, a, b, c)),
                _ => {}
            }
        }
        self.implicit(body, state, t, h, work)
    }

    /// Any tableau: block by block, explicit stages directly, the others by Newton's method.
    fn implicit(
        &mut self,
        any_body: &dyn AnyBody<S, G>,
        state: &State<S, G>,
        t: S,
        h: S,
        work: &mut Work,
    ) -> Result<State<S, G>, StepError> {
        let body = any_body.mechanics();
        let start = G::join(&G::Vector::<S>::origin(), &state.momentum);
        let velocity = body.velocity(&state.momentum);
        for b in 0..self.blocks.len() {
            let block = self.blocks[b].clone();
            for k in block.clone() {
                let mut y = start;
                for j in 0..block.start {
                    y = y + self.f[j] * (h * S::lift(self.tableau.a(k, j)));
                }
                self.base[k] = y;
            }
            let first = block.start;
            if block.len() == 1 && self.tableau.a(first, first) == 0.0 {
                self.y[first] = self.base[first];
            } else {
                let length = G::length(body.inertia, &velocity);
                let (stages, block, one) = (&mut *self, block.clone(), S::one());
                let mut coupled = Coupled {
                    stages,
                    block,
                    any_body,
                    body,
                    state,
                    t,
                    h,
                    whole: h,
                    length,
                    speed: one,
                    scale: one,
                    walked: one,
                };
                newton(&mut coupled, work)?;
            }
            for k in block {
                self.f[k] = slope_pair(&body, &state.pose, stage(t, h, self.tableau.c()[k]), &self.y[k]);
            }
        }
        let mut y = start;
        for (f, b) in self.f.iter().zip(self.tableau.b()) {
            y = y + *f * (h * S::lift(*b));
        }
        let (psi, p) = G::split(&y);
        Ok(leave::<S, G>(&state.pose, &psi, &p))
    }
}

/// The same for one joined vector.
#[inline(always)]
pub(super) fn slope_in_place<T: Real, G: Dynamics>(
    body: &Mechanics<'_, T, G>,
    pose: &G::Pose<T>,
    time: (T, f64),
    y: &G::Pair<T>,
) -> G::Pair<T> {
    let (psi, p) = G::split(y);
    let (psi_rate, p_rate) = slope(body, pose, time, &psi, &p);
    G::join(&psi_rate, &p_rate)
}

/// The same. Not inlined: it has many callers off the hottest path.
#[inline(never)]
pub(super) fn slope_pair<T: Real, G: Dynamics>(
    body: &Mechanics<'_, T, G>,
    pose: &G::Pose<T>,
    time: (T, f64),
    y: &G::Pair<T>,
) -> G::Pair<T> {
    slope_in_place(body, pose, time, y)
}

/// A slope with its derivatives with respect to all that it depends on, three at a time.
pub(super) type SlopeJets<S, G> = [<G as Group>::Pair<Jet<S>>; 4];

/// The same with its derivatives with respect to `y`.
#[inline(never)]
pub(super) fn slope_jets<S: Real, G: Dynamics>(
    body: &dyn AnyBody<S, G>,
    pose: &G::Pose<S>,
    (t, inward): (S, f64),
    y: &G::Pair<S>,
) -> SlopeJets<S, G> {
    let inertia = G::lift_inertia::<S, Jet<S>>(body.mechanics().inertia);
    let mechanics = Mechanics::<'_, Jet<S>, G> { inertia: &inertia, loads: body.with_slopes() };
    let pose = G::lift_pose::<S, Jet<S>>(pose);
    let mut jets = [Coordinates::origin(); 4];
    for (pass, jet) in jets.iter_mut().enumerate().take(G::Pair::<S>::PASSES) {
        *jet = slope_pair(&mechanics, &pose, (<Jet<S>>::of(t), inward), &seeded(y, pass));
    }
    jets
}

/// The equations of a block of stages: Y_k - base_k - h Σ a_kj F(Y_j) = 0.
struct Coupled<'a, S: Real, G: Dynamics> {
    stages: &'a mut Stages<S, G>,
    block: core::ops::Range<usize>,
    any_body: &'a dyn AnyBody<S, G>,
    body: Mechanics<'a, S, G>,
    state: &'a State<S, G>,
    t: S,
    h: S,
    whole: S,
    length: S,
    /// How fast the body moves in the step.
    speed: S,
    /// What corrections are compared with.
    scale: S,
    /// The sizes of all corrections since the Jacobian was formed, in rad/s.
    walked: S,
}

impl<S: Real, G: Dynamics> Coupled<'_, S, G> {
    fn time(&self, k: usize) -> (S, f64) {
        stage(self.t, self.h, self.stages.tableau.c()[k])
    }
    /// The size of a change of stage values: of the increment per step, and of the velocity, relative to the
    /// speed of the step.
    fn size(&self, change: &G::Pair<S>) -> S {
        let (psi, p) = G::split(change);
        let velocity = self.body.velocity(&p);
        let turn = G::size(self.length, &psi) / (self.whole.abs() * self.scale);
        turn + G::size(self.length, &velocity) / self.scale
    }
}

impl<S: Real, G: Dynamics> Equations<S> for Coupled<'_, S, G> {
    fn guess(&mut self, rung: Rung, lanes: S::Mask) {
        let mut speed =
            G::size(self.length, &self.body.velocity(&self.state.momentum)) + S::lift(f64::MIN_POSITIVE);
        for k in self.block.clone() {
            // The classical method in the chart, up to the node of the stage.
            let f = |y: &G::Pair<S>, t: S| slope_pair(&self.body, &self.state.pose, (t, 0.0), y);
            let y0 = G::join(&G::Vector::<S>::origin(), &self.state.momentum);
            let span = self.time(k).0 - self.t;
            let half = span * S::lift(0.5);
            let k1 = f(&y0, self.t);
            let k2 = f(&(y0 + k1 * half), self.t + half);
            let k3 = f(&(y0 + k2 * half), self.t + half);
            let k4 = f(&(y0 + k3 * span), self.t + span);
            let explicit = y0 + (k1 + (k2 + k3) * S::lift(2.0) + k4) * (span * S::lift(1.0 / 6.0));
            let y = if matches!(rung, Rung::NoAcceleration | Rung::NoMotion) { y0 } else { explicit };
            speed += G::size(self.length, &G::split(&y).0) / self.h.abs();
            self.stages.guess[k] = G::Pair::<S>::choose(lanes, &y, &self.stages.guess[k]);
            self.stages.y[k] = G::Pair::<S>::choose(lanes, &y, &self.stages.y[k]);
        }
        self.speed = S::select(lanes, speed, self.speed);
        self.scale = S::select(lanes, speed, self.scale);
    }
    fn shorten(&mut self, fraction: f64) {
        self.h = self.whole * S::lift(fraction);
    }
    fn residual(&mut self) {
        let width = G::Pair::<S>::LEN;
        for j in self.block.clone() {
            self.stages.f[j] = slope_pair(&self.body, &self.state.pose, self.time(j), &self.stages.y[j]);
        }
        for (row, k) in self.block.clone().enumerate() {
            let mut r = self.stages.y[k] - self.stages.base[k];
            for j in self.block.clone() {
                r = r - self.stages.f[j] * (self.h * S::lift(self.stages.tableau.a(k, j)));
            }
            for i in 0..width {
                self.stages.right[row * width + i] = r.at(i);
            }
        }
    }
    fn misfit(&self) -> S {
        let width = G::Pair::<S>::LEN;
        let mut total = S::zero();
        // Not relative to the guess, which may be far off, or at rest.
        for row in 0..self.block.len() {
            let (psi, p) = G::split(&G::Pair::<S>::generate(|i| self.stages.right[row * width + i]));
            total += G::size(self.length, &psi) / self.whole.abs();
            total += G::size(self.length, &self.body.velocity(&p));
        }
        total
    }
    fn linearize(&mut self, _rung: Rung, lanes: S::Mask) {
        let width = G::Pair::<S>::LEN;
        let n = self.block.len() * width;
        let mut stiffness = S::zero();
        for (column, j) in self.block.clone().enumerate() {
            let jets = slope_jets(self.any_body, &self.state.pose, self.time(j), &self.stages.y[j]);
            let slope = |i: usize, d: usize| jets[d / 3].at(i).eps[d % 3];
            // The load when the body turns by one radian, see the equations of a single scheme.
            for d in 0..width / 2 {
                let kick = G::Vector::<S>::generate(|i| slope(width / 2 + i, d));
                stiffness += G::size(self.length, &self.body.velocity(&kick));
            }
            for (row, k) in self.block.clone().enumerate() {
                let weight = self.h * S::lift(self.stages.tableau.a(k, j));
                for d in 0..width {
                    for i in 0..width {
                        let unit = if row == column && i == d { S::one() } else { S::zero() };
                        self.stages.fresh[row * width + i + n * (column * width + d)] =
                            unit - weight * slope(i, d);
                    }
                }
            }
        }
        self.walked = S::select(lanes, S::zero(), self.walked);
        // The stiffness counts as in the equations of a single scheme.
        let (kick, turn) = (stiffness * self.h.abs(), self.h.abs().recip());
        let scale = self.speed + S::select(kick.below(turn), kick, turn);
        self.scale = S::select(lanes, scale, self.scale);
        self.stages.weigh(&self.body, self.length, self.whole);
        let s = &mut *self.stages;
        factorize(n, &mut s.fresh[..n * n], &mut s.weights, &mut s.fresh_swaps[..n * n]);
        for (old, new) in s.matrix.iter_mut().zip(&s.fresh[..n * n]) {
            *old = S::select(lanes, *new, *old);
        }
        for (old, new) in s.swaps.iter_mut().zip(&s.fresh_swaps[..n * n]) {
            *old = lanes.and(*new).or(lanes.not().and(*old));
        }
    }
    fn correct(&mut self, lanes: S::Mask) -> S {
        let width = G::Pair::<S>::LEN;
        let n = self.block.len() * width;
        let s = &mut *self.stages;
        substitute(n, &s.matrix[..n * n], &s.swaps[..n * n], &mut s.right[..n]);
        let mut total = S::zero();
        for (row, k) in self.block.clone().enumerate() {
            let correction = G::Pair::<S>::generate(|i| self.stages.right[row * width + i]);
            let y = self.stages.y[k];
            self.stages.y[k] = G::Pair::<S>::choose(lanes, &(y - correction), &y);
            total += self.size(&correction);
        }
        self.walked += total * self.scale;
        total
    }
    fn distance_from_jacobian(&self) -> S {
        self.walked * self.h.abs() * S::lift(CURVATURE)
    }
    fn moved(&self) -> S {
        let mut total = S::zero();
        for k in self.block.clone() {
            total += self.size(&(self.stages.y[k] - self.stages.guess[k]));
        }
        // Without the stiffness, see the equations of a single scheme.
        total * (self.scale / self.speed)
    }
    fn interval(&self) -> (S, S) {
        (self.t, self.whole)
    }
}
