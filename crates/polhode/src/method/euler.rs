//! The four Euler methods of Krysl 2006, from which the midpoint and trapezoidal pairs are composed.
//!
//! Rate form, eqs (11), (12):      P₁ = P₀ + h(-V×P + T),           C₁ = C₀ exp[h V]
//! Momentum form, eqs (18), (19):  P₁ = exp[-h V](P₀ + h T) forward, P₁ = exp[-h V] P₀ + h T backward
//! with V, P, T at the start (forward) or at the end (backward) of the step.

use super::scheme::{One, Outcome, Scheme, Start};
use crate::body::{Body, Load, State};
use crate::group::{Exponential, Group, NearZero, lift, unit};
use crate::scalar::{Over, Real};

/// Forward Euler, rate form, eq. (11).
#[inline(always)]
pub(super) fn forward_rate<S: Real, G: Group, L: Load<S>>(
    body: &Body<S, G, L>,
    state: &State<S, G>,
    t: S,
    h: S,
) -> State<S, G> {
    let start = Start::new(body, state, t, h);
    let rate = G::transport(&start.velocity, &state.momentum) + start.load;
    let step = G::increment(Exponential, &(start.velocity * h));
    State { pose: start.advance(&step), momentum: state.momentum + rate * h }
}

/// Forward Euler, momentum form, eq. (18).
#[inline(always)]
pub(super) fn forward_momentum<S: Real, G: Group, L: Load<S>>(
    body: &Body<S, G, L>,
    state: &State<S, G>,
    t: S,
    h: S,
) -> State<S, G> {
    let start = Start::new(body, state, t, h);
    let step = G::increment(Exponential, &(start.velocity * h));
    State { pose: start.advance(&step), momentum: G::pull(&step, &(state.momentum + start.load * h)) }
}

/// Backward Euler, rate form, eq. (12). The unknown is the velocity at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackwardRate;

impl BackwardRate {
    /// exp[h V] and the new momentum, for the end velocity `v`.
    #[inline(always)]
    fn step<S: Real, G: Group, L: Load<S>, T: Over<S>>(
        start: &Start<'_, S, G, L>,
        inertia: &G::Inertia<T>,
        v: &G::Vector<T>,
    ) -> (G::Increment<T>, G::Vector<T>) {
        let (h, p0) = (T::of(start.h), lift::<S, T, _, G::Vector<T>>(&start.state.momentum));
        let step = G::increment(Exponential, &(*v * h));
        let pose = G::advance(&G::lift_pose(&start.state.pose), &step);
        let load = start.end_load(&pose, v);
        let rate = G::transport(v, &G::momentum(inertia, v)) + load;
        (step, p0 + rate * h)
    }
}

impl<S: Real, G: Group, L: Load<S>> Scheme<S, G, L> for BackwardRate {
    type Unknown = One;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess(&self, _start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        *end_velocity
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let (_, p1) = Self::step(start, &inertia, x);
        *x - G::velocity(&inertia, &p1)
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        // Not M x: M times the rounded M⁻¹ is not quite one, and the same error in every step would add up.
        let (step, momentum) = Self::step(start, &G::lift_inertia::<S, T>(&start.body.inertia), x);
        State { pose: start.advance(&step), momentum }
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let (step, momentum) = Self::step(start, &inertia, x);
        let residual = *x - G::velocity(&inertia, &momentum);
        Outcome { residual, state: State { pose: start.advance(&step), momentum }, carried: None }
    }
    /// Without the load: its derivative comes with h².
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        let inertia = &start.body.inertia;
        let slope = G::velocity(inertia, &G::transport_slope(inertia, x, j)) * start.h;
        Some(unit::<S, G::Vector<S>>(j) - slope)
    }
}

/// Backward Euler, momentum form, eq. (19). The unknown is the velocity at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackwardMomentum;

impl<S: Real, G: Group, L: Load<S>> Scheme<S, G, L> for BackwardMomentum {
    type Unknown = One;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess(&self, _start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        *end_velocity
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let (h, p0) = (T::of(start.h), lift::<S, T, _, G::Vector<T>>(&start.state.momentum));
        let step = G::increment(Exponential, &(*x * h));
        let pose = G::advance(&G::lift_pose(&start.state.pose), &step);
        let load = start.end_load(&pose, x);
        *x - G::velocity(&inertia, &(G::pull(&step, &p0) + load * h))
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        let (h, p0) = (T::of(start.h), lift::<S, T, _, G::Vector<T>>(&start.state.momentum));
        let step = G::increment(Exponential, &(*x * h));
        let pose = start.advance(&step);
        let load = start.end_load(&pose, x);
        State { pose, momentum: G::pull(&step, &p0) + load * h }
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let state: State<T, G> = self.finish(start, x);
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        Outcome { residual: *x - G::velocity(&inertia, &state.momentum), state, carried: None }
    }
    /// To second order in h; the load is left out, its derivative comes with h².
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        let inertia = &start.body.inertia;
        let turned = G::momentum(inertia, x) - start.load * start.h;
        let slope = G::velocity(inertia, &G::pull_slope(NearZero, &(*x * start.h), &turned, j));
        Some(unit::<S, G::Vector<S>>(j) - slope * start.h)
    }
}
