//! The trapezoidal rule of Bottasso & Borri 1998 as written by Krysl 2006, section 4, with and without the
//! derivative of the exponential. The unknown is W = Ψ/h.
//!
//! BBTRAP:    Ψ = h/2 (V₀ + V₁)
//! BBTRAPWD:  Ψ = h/2 (V₀ + (dexp₋Ψ)⁻¹ V₁)
//! both:      P₁ = exp[-Ψ](P₀ + h/2 T₀) + h/2 T₁,  C₁ = C₀ exp[Ψ]

use super::midpoint::mean_tangent;
use super::scheme::{One, Outcome, Scheme, Start};
use crate::body::Dynamics;
use crate::group::{Coordinates, Exponential, NearZero};
use crate::scalar::Real;

/// The trapezoidal rule; `EXACT` keeps the derivative of the exponential.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trapezoid<const EXACT: bool>;

impl<const EXACT: bool> Scheme for Trapezoid<EXACT> {
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
        let half = s.h * T::lift(0.5);
        let psi = w.scaled(s.h);
        let step = G::increment(Exponential, &psi);
        let pose = s.advance(&step);
        let share = w.scaled(T::lift(2.0)) - s.velocity;
        let end = if EXACT { G::tangent(Exponential, &psi, &share) } else { share };
        let load = s.end_load(&pose, &end);
        let momentum = G::pull(&step, &(s.state.momentum + s.load.scaled(half))) + load.scaled(half);
        let v1 = s.body.velocity(&momentum);
        let share = if EXACT { G::tangent_inverse(Exponential, &psi, &v1) } else { v1 };
        Outcome::new(*w - s.mean(&share), pose, momentum).under(load)
    }
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        w: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        if EXACT { None } else { Some(mean_tangent(NearZero, s, w, j)) }
    }
}
