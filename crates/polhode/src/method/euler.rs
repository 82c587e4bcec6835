//! The four Euler methods of Krysl 2006, from which the midpoint and trapezoidal pairs are composed.
//!
//! Rate form, eqs (11), (12):      P₁ = P₀ + h(-V×P + T),           C₁ = C₀ exp[h V]
//! Momentum form, eqs (18), (19):  P₁ = exp[-h V](P₀ + h T) forward, P₁ = exp[-h V] P₀ + h T backward
//! with V, P, T at the start (forward) or at the end (backward) of the step.

use super::scheme::{One, Outcome, Scheme, Start};
use crate::body::Dynamics;
use crate::body::State;
use crate::group::{Coordinates, Exponential, NearZero, unit};
use crate::scalar::Real;

/// Forward Euler, rate form, eq. (11).
#[inline(always)]
pub(super) fn forward_rate<S: Real, G: Dynamics>(s: &Start<'_, S, G>) -> State<S, G> {
    let rate = G::transport(&s.velocity, &s.state.momentum) + s.load;
    let step = G::increment(Exponential, &s.velocity.scaled(s.h));
    State { pose: s.advance(&step), momentum: s.state.momentum + rate.scaled(s.h) }
}

/// Forward Euler, momentum form, eq. (18).
#[inline(always)]
pub(super) fn forward_momentum<S: Real, G: Dynamics>(s: &Start<'_, S, G>) -> State<S, G> {
    let step = G::increment(Exponential, &s.velocity.scaled(s.h));
    State { pose: s.advance(&step), momentum: G::pull(&step, &(s.state.momentum + s.load.scaled(s.h))) }
}

/// Backward Euler, rate form, eq. (12). The unknown is the velocity at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BackwardRate;

impl Scheme for BackwardRate {
    type Unknown = One;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess<S: Real, G: Dynamics>(&self, _s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        *end_velocity
    }
    #[inline(always)]
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        v: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let pose = s.advance(&G::increment(Exponential, &v.scaled(s.h)));
        let load = s.end_load(&pose, v);
        let rate = G::transport(v, &s.body.momentum(v)) + load;
        // Not M v: M times the rounded M⁻¹ is not quite one, and the same error in every step would add up.
        let momentum = s.state.momentum + rate.scaled(s.h);
        Outcome::new(*v - s.body.velocity(&momentum), pose, momentum).under(load)
    }
    /// Without the load: its derivative comes with h².
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        v: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        let slope = s.body.velocity(&G::transport_slope(s.body.inertia, v, j)) * s.h;
        Some(unit::<S, G::Vector<S>>(j) - slope)
    }
}

/// Backward Euler, momentum form, eq. (19). The unknown is the velocity at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BackwardMomentum;

impl Scheme for BackwardMomentum {
    type Unknown = One;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess<S: Real, G: Dynamics>(&self, _s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        *end_velocity
    }
    #[inline(always)]
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        v: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let step = G::increment(Exponential, &v.scaled(s.h));
        let pose = s.advance(&step);
        let load = s.end_load(&pose, v);
        let momentum = G::pull(&step, &s.state.momentum) + load.scaled(s.h);
        Outcome::new(*v - s.body.velocity(&momentum), pose, momentum).under(load)
    }
    /// To second order in h; the load is left out, its derivative comes with h².
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        v: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        let turned = s.body.momentum(v) - s.load.scaled(s.h);
        let slope = s.body.velocity(&G::pull_slope(NearZero, &v.scaled(s.h), &turned, j));
        Some(unit::<S, G::Vector<S>>(j) - slope * s.h)
    }
}
