//! The generalized-alpha scheme of Bauchau et al. 2013, eqs (11) to (13) and (24) to (26), with the coefficients of
//! Arnold & Brüls 2007.
//!
//! ΔU = h V_i + h²((1/2 - β) a_i + β a_f),  C_f = C(ΔU) C_i,  V_f = V_i + h((1 - γ) a_i + γ a_f),
//! (1 - α_m) a_f + α_m a_i = (1 - α_f) V̇_f + α_f V̇_i,  M V̇ = A + Ṽᵀ M V at the end of the step,
//! with V, V̇ and a in space. All of these are seen from the body frame at the start of the step here, which changes
//! nothing (the maps commute with a change of frame, and C_f = C_i C(ΔU) then), needs no lever arms to a far origin,
//! and makes V̇ the rate of the body velocity there, since a velocity does not change itself: V̇ = Ad_C V̇*.

use super::scheme::{Accelerations, One, Outcome, Range, Rates, Scheme, Start};
use crate::body::Dynamics;
use crate::group::{Coordinates, Vectorial, unit};
use crate::scalar::Real;

/// The weights of a generalized-alpha scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alpha {
    /// α_m.
    pub m: f64,
    /// α_f.
    pub f: f64,
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
}

impl Alpha {
    /// From the spectral radius at infinite frequency, in [0, 1].
    pub(super) const fn from_rho(rho: f64) -> Self {
        Alpha::optimal((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0))
    }
    /// With the γ of second order and the β that damps best.
    pub(super) const fn optimal(m: f64, f: f64) -> Self {
        let gamma = 0.5 + f - m;
        Alpha { m, f, beta: 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma }
    }
    /// Without damping the scheme is the trapezoidal rule for V and, with V_i + V_f for the motion, its own mirror image;
    /// its a alternates about V̇ and cancels.
    pub(super) fn is_symmetric(&self) -> bool {
        self.m == self.f
    }
}

/// One step. The unknown is the end velocity, seen from the body frame at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Galpha {
    pub(super) map: Vectorial,
    pub(super) alpha: Alpha,
}

impl Galpha {
    /// ΔU for the end velocity x; a_f follows from the update of the velocity.
    #[inline(always)]
    fn parameters<T: Real, G: Dynamics>(&self, s: &Start<'_, T, G>, x: &G::Vector<T>) -> G::Vector<T> {
        let Alpha { beta, gamma, .. } = self.alpha;
        let (v, a, ratio) = (s.velocity, s.rates.algorithmic, T::lift(beta / gamma));
        (v + a * (s.h * T::lift(0.5 - beta)) + (*x - v - a * (s.h * T::lift(1.0 - gamma))) * ratio) * s.h
    }
}

impl Scheme for Galpha {
    type Unknown = One;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn accelerations(&self) -> Accelerations {
        Accelerations::Carried
    }
    #[inline(always)]
    fn guess<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        // Seen from the end it is the guess, and the body turns about its own velocity.
        let step = G::increment(self.map, &(s.mean(end_velocity) * s.h));
        G::push_velocity(&step, end_velocity)
    }
    /// ΔU = 0.
    #[inline(always)]
    fn rest<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>) -> G::Vector<S> {
        let Alpha { beta, gamma, .. } = self.alpha;
        let (v, a, h) = (s.velocity, s.rates.algorithmic, s.h);
        v + a * (h * S::lift(1.0 - gamma)) - (v + a * (h * S::lift(0.5 - beta))) * S::lift(gamma / beta)
    }
    #[inline(always)]
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let Alpha { m, f, gamma, .. } = self.alpha;
        let step = G::increment(self.map, &self.parameters(s, x));
        let pose = s.advance(&step);
        let v = G::pull_velocity(&step, x);
        let load = s.end_load(&pose, &v);
        let rate = s.body.velocity(&(G::transport(&v, &s.body.momentum(&v)) + load));
        let old = s.rates.velocity.scaled(T::lift(f)) - s.rates.algorithmic.scaled(T::lift(m));
        let new = G::push_velocity(&step, &rate).scaled(T::lift(1.0 - f)) + old;
        // a_f, seen from the start.
        let algorithmic = new.scaled(T::lift(1.0 / (1.0 - m)));
        let update = s.velocity
            + s.rates.algorithmic.scaled(s.h * T::lift(1.0 - gamma))
            + algorithmic.scaled(s.h * T::lift(gamma));
        Outcome {
            residual: *x - update,
            state: s.body.state(pose, &v),
            carried: Some(Rates { velocity: rate, algorithmic: G::pull_velocity(&step, &algorithmic) }),
            load: Some(load),
        }
    }
    /// Exact up to the derivative of the load and, since V̇_i stands for V̇_f in a term with h², to third order in h.
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        x: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        let (h, Alpha { m, f, beta, gamma }) = (s.h, self.alpha);
        let unit = unit::<S, G::Vector<S>>(j);
        let psi = self.parameters(s, x);
        let step = G::increment(self.map, &psi);
        // How the frame at the end turns when x changes, and what that does to the velocity and its rate seen from it.
        let turn = G::tangent(self.map, &psi, &unit) * (h * S::lift(beta / gamma));
        let v = G::pull_velocity(&step, x);
        let change = G::pull_velocity(&step, &unit) - G::bracket(&turn, &v);
        let rate = G::transport(&change, &s.body.momentum(&v)) + G::transport(&v, &s.body.momentum(&change));
        let rate = s.body.velocity(&rate) + G::bracket(&turn, &s.rates.velocity);
        Some(unit - G::push_velocity(&step, &rate) * (h * S::lift(gamma * (1.0 - f) / (1.0 - m))))
    }
    #[inline(always)]
    fn range<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, x: &G::Vector<S>) -> Option<Range<S>> {
        Some(Range::new::<G>(self.map, &self.parameters(s, x)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MapKind;
    use crate::method::implicit::probe::{flying, tangent_gap};

    #[test]
    fn the_newton_matrix_is_the_derivative_of_the_residual_to_third_order() {
        for kind in MapKind::ALL {
            let scheme = Galpha { map: kind.into(), alpha: Alpha::from_rho(0.5) };
            let (coarse, fine) = (tangent_gap(scheme, &flying(), 0.02), tangent_gap(scheme, &flying(), 0.01));
            assert!(fine < 3e-5 && coarse / fine > 7.5, "{kind:?}: {coarse:e} {fine:e}");
        }
    }
}
