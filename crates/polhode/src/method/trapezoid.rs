//! The trapezoidal rule of Bottasso & Borri 1998 as written by Krysl 2006, section 4, with and without the
//! derivative of the exponential. The unknown is W = Ψ/h.
//!
//! BBTRAP:    Ψ = h/2 (V₀ + V₁)
//! BBTRAPWD:  Ψ = h/2 (V₀ + (dexp₋Ψ)⁻¹ V₁)
//! both:      P₁ = exp[-Ψ](P₀ + h/2 T₀) + h/2 T₁,  C₁ = C₀ exp[Ψ]

use super::midpoint::{mean, mean_tangent};
use super::scheme::{One, Outcome, Scheme, Start};
use crate::body::{Load, State};
use crate::group::{Exponential, Group, NearZero, lift};
use crate::scalar::{Over, Real};

/// The trapezoidal rule; `EXACT` keeps the derivative of the exponential.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trapezoid<const EXACT: bool>;

impl<const EXACT: bool> Trapezoid<EXACT> {
    /// exp[Ψ] and the new momentum.
    #[inline(always)]
    fn step<S: Real, G: Group, L: Load<S>, T: Over<S>>(
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> (G::Increment<T>, G::Vector<T>) {
        let h = T::of(start.h);
        let half = h * T::lift(0.5);
        let psi = *w * h;
        let step = G::increment(Exponential, &psi);
        let pose = G::advance(&G::lift_pose(&start.state.pose), &step);
        let share = *w * T::lift(2.0) - lift::<S, T, _, G::Vector<T>>(&start.velocity);
        let end = if EXACT { G::tangent(Exponential, &psi, &share) } else { share };
        let load = start.end_load(&pose, &end);
        let p0 = lift::<S, T, _, G::Vector<T>>(&start.state.momentum);
        let kick = lift::<S, T, _, G::Vector<T>>(&start.load) * half;
        let p1 = G::pull(&step, &(p0 + kick)) + load * half;
        (step, p1)
    }
    /// What is left of the equation, for the new momentum.
    #[inline(always)]
    fn left<S: Real, G: Group, L: Load<S>, T: Over<S>>(
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
        p1: &G::Vector<T>,
    ) -> G::Vector<T> {
        let v1 = G::velocity(&G::lift_inertia::<S, T>(&start.body.inertia), p1);
        let share = if EXACT { G::tangent_inverse(Exponential, &(*w * T::of(start.h)), &v1) } else { v1 };
        *w - (lift::<S, T, _, G::Vector<T>>(&start.velocity) + share) * T::lift(0.5)
    }
}

impl<S: Real, G: Group, L: Load<S>, const EXACT: bool> Scheme<S, G, L> for Trapezoid<EXACT> {
    type Unknown = One;
    #[inline(always)]
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        mean(start, end_velocity)
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        Self::left(start, x, &Self::step(start, x).1)
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        let (step, momentum) = Self::step(start, x);
        State { pose: start.advance(&step), momentum }
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let state: State<T, G> = self.finish(start, x);
        Outcome { residual: Self::left(start, x, &state.momentum), state, carried: None }
    }
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        if EXACT { None } else { Some(mean_tangent(NearZero, start, x, j)) }
    }
}
