//! Two schemes with the mean velocity as their unknown W, from Krysl 2006, section 4.
//!
//! SWC1 (Simo & Wong 1991, ALGO_C1): Ψ = h W, W = (V₀ + V₁)/2, P₁ = exp[-Ψ] P₀ + h exp[-Ψ/2] T(t + h/2, C₀ exp[Ψ/2])
//! AKW (Austin, Krishnaprasad & Wang 1993): P₁ = P₀ - h W×M W + h/2 (T₀ + T₁), C₁ = C₀ cay[h W]

use super::scheme::{One, Outcome, Scheme, Start};
use crate::body::Dynamics;
use crate::group::{Cayley, Coordinates, Exponential, Map, NearZero, unit};
use crate::scalar::Real;

/// The derivative of W - (V₀ + M⁻¹ C*(-h W) P₀)/2 with respect to w_j, exact up to the derivative of the load, which
/// comes with h², and to second order in h with the map [`NearZero`]. The pulled momentum is taken as if `w` were the solution.
#[inline(always)]
pub(super) fn mean_tangent<S: Real, G: Dynamics>(
    map: impl Map,
    s: &Start<'_, S, G>,
    w: &G::Vector<S>,
    j: usize,
) -> G::Vector<S> {
    let half = s.h * S::lift(0.5);
    let y = s.body.momentum(&(w.scaled(S::lift(2.0)) - s.velocity)) - s.load.scaled(s.h);
    let slope = G::pull_slope(map, &w.scaled(s.h), &y.scaled(half), j);
    unit::<S, G::Vector<S>>(j) - s.body.velocity(&slope)
}

/// Simo & Wong's energy- and momentum-conserving algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Swc1;

impl Scheme for Swc1 {
    type Unknown = One;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        s.mean(end_velocity)
    }
    #[inline(always)]
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        w: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let half = G::increment(Exponential, &w.scaled(s.h * T::lift(0.5)));
        let middle = s.advance(&half);
        let load = s.middle_load(&middle, w);
        let momentum = G::pull(&half, &(G::pull(&half, &s.state.momentum) + load.scaled(s.h)));
        let residual = *w - s.mean(&s.body.velocity(&momentum));
        Outcome::new(residual, G::advance(&middle, &half), momentum)
    }
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        w: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        Some(mean_tangent(NearZero, s, w, j))
    }
}

/// The midpoint rule with a Cayley update and the mean of the end loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Akw;

impl Scheme for Akw {
    type Unknown = One;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn guess<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        s.mean(end_velocity)
    }
    #[inline(always)]
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        w: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let pose = s.advance(&G::increment(Cayley, &w.scaled(s.h)));
        let load = s.end_load(&pose, &(w.scaled(T::lift(2.0)) - s.velocity));
        let loads = s.load + load;
        let rate = G::transport(w, &s.body.momentum(w)).scaled(T::lift(0.5)) + loads.scaled(T::lift(0.25));
        let half = rate.scaled(s.h);
        let p0 = s.state.momentum;
        // Not 2 M W - P₀: M times the rounded M⁻¹ is not quite one, and the error would add up.
        Outcome::new(*w - s.body.velocity(&(p0 + half)), pose, p0 + half.scaled(T::lift(2.0))).under(load)
    }
    /// Without the load: its derivative comes with h².
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        w: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        let slope = s.body.velocity(&G::transport_slope(s.body.inertia, w, j)) * (s.h * S::lift(0.5));
        Some(unit::<S, G::Vector<S>>(j) - slope)
    }
}
