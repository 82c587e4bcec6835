//! Two schemes with the mean velocity as their unknown W, from Krysl 2006, section 4.
//!
//! SWC1 (Simo & Wong 1991, ALGO_C1): Ψ = h W, W = (V₀ + V₁)/2, P₁ = exp[-Ψ] P₀ + h exp[-Ψ/2] T(t + h/2, C₀ exp[Ψ/2])
//! AKW (Austin, Krishnaprasad & Wang 1993): P₁ = P₀ - h W×M W + h/2 (T₀ + T₁), C₁ = C₀ cay[h W]

use super::scheme::{One, Outcome, Scheme, Start};
use crate::body::{Load, State};
use crate::group::{Cayley, Exponential, Group, Map, NearZero, lift, unit};
use crate::scalar::{Over, Real};

/// The mean of the start velocity and a guess of the end velocity.
#[inline(always)]
pub(super) fn mean<S: Real, G: Group, L>(start: &Start<'_, S, G, L>, end: &G::Vector<S>) -> G::Vector<S> {
    (start.velocity + *end) * S::lift(0.5)
}

/// W - (V₀ + M⁻¹ P₁)/2, zero where W is the mean of the velocities.
#[inline(always)]
pub(super) fn mean_gap<S: Real, G: Group, L: Load<S>, T: Over<S>>(
    start: &Start<'_, S, G, L>,
    w: &G::Vector<T>,
    momentum: &G::Vector<T>,
) -> G::Vector<T> {
    let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
    *w - (lift::<S, T, _, G::Vector<T>>(&start.velocity) + G::velocity(&inertia, momentum)) * T::lift(0.5)
}

/// The derivative of W - (V₀ + M⁻¹ C*(-h W) P₀)/2 with respect to w_j, exact up to the derivative of the load, which
/// comes with h², and to second order in h with the map [`NearZero`]. The pulled momentum is taken as if `w` were the solution.
#[inline(always)]
pub(super) fn mean_tangent<S: Real, G: Group, L>(
    map: impl Map,
    start: &Start<'_, S, G, L>,
    w: &G::Vector<S>,
    j: usize,
) -> G::Vector<S> {
    let inertia = &start.body.inertia;
    let half = start.h * S::lift(0.5);
    let y = G::momentum(inertia, &(*w * S::lift(2.0) - start.velocity)) - start.load * start.h;
    let slope = G::pull_slope(map, &(*w * start.h), &(y * half), j);
    unit::<S, G::Vector<S>>(j) - G::velocity(inertia, &slope)
}

/// Simo & Wong's energy- and momentum-conserving algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swc1;

impl Swc1 {
    /// exp[Ψ/2] and the new momentum, for the mean velocity `w`.
    #[inline(always)]
    fn step<S: Real, G: Group, L: Load<S>, T: Over<S>>(
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> (G::Increment<T>, G::Vector<T>) {
        let (h, p0) = (T::of(start.h), lift::<S, T, _, G::Vector<T>>(&start.state.momentum));
        let half = G::increment(Exponential, &(*w * (h * T::lift(0.5))));
        let middle = G::advance(&G::lift_pose(&start.state.pose), &half);
        let time = T::of(start.t + start.h * S::lift(0.5));
        let load = start.body.load(time, &middle, w);
        let p1 = G::pull(&half, &(G::pull(&half, &p0) + load * h));
        (half, p1)
    }
}

impl<S: Real, G: Group, L: Load<S>> Scheme<S, G, L> for Swc1 {
    type Unknown = One;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        mean(start, end_velocity)
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        mean_gap(start, x, &Self::step(start, x).1)
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        let (half, momentum) = Self::step(start, x);
        State { pose: G::advance(&start.advance(&half), &half), momentum }
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let state: State<T, G> = self.finish(start, x);
        Outcome { residual: mean_gap(start, x, &state.momentum), state, carried: None }
    }
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        Some(mean_tangent(NearZero, start, x, j))
    }
}

/// The midpoint rule with a Cayley update and the mean of the end loads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Akw;

impl Akw {
    /// cay[h W] and half the change of momentum, for the mean velocity `w`.
    #[inline(always)]
    fn step<S: Real, G: Group, L: Load<S>, T: Over<S>>(
        start: &Start<'_, S, G, L>,
        inertia: &G::Inertia<T>,
        w: &G::Vector<T>,
    ) -> (G::Increment<T>, G::Vector<T>) {
        let h = T::of(start.h);
        let step = G::increment(Cayley, &(*w * h));
        let pose = G::advance(&G::lift_pose(&start.state.pose), &step);
        let end = *w * T::lift(2.0) - lift::<S, T, _, G::Vector<T>>(&start.velocity);
        let load = start.end_load(&pose, &end);
        let loads = lift::<S, T, _, G::Vector<T>>(&start.load) + load;
        let rate = G::transport(w, &G::momentum(inertia, w)) * T::lift(0.5) + loads * T::lift(0.25);
        (step, rate * h)
    }
}

impl<S: Real, G: Group, L: Load<S>> Scheme<S, G, L> for Akw {
    type Unknown = One;
    #[inline(always)]
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        mean(start, end_velocity)
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let (_, half) = Self::step(start, &inertia, x);
        *x - G::velocity(&inertia, &(lift::<S, T, _, G::Vector<T>>(&start.state.momentum) + half))
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        // Not 2 M x - P₀: M times the rounded M⁻¹ is not quite one, and the error would add up.
        let (step, half) = Self::step(start, &G::lift_inertia::<S, T>(&start.body.inertia), x);
        let p0 = lift::<S, T, _, G::Vector<T>>(&start.state.momentum);
        State { pose: start.advance(&step), momentum: p0 + half * T::lift(2.0) }
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let (step, half) = Self::step(start, &inertia, x);
        let p0 = lift::<S, T, _, G::Vector<T>>(&start.state.momentum);
        Outcome {
            residual: *x - G::velocity(&inertia, &(p0 + half)),
            state: State { pose: start.advance(&step), momentum: p0 + half * T::lift(2.0) },
            carried: None,
        }
    }
    /// Without the load: its derivative comes with h².
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        let inertia = &start.body.inertia;
        let slope = G::velocity(inertia, &G::transport_slope(inertia, x, j)) * (start.h * S::lift(0.5));
        Some(unit::<S, G::Vector<S>>(j) - slope)
    }
}
