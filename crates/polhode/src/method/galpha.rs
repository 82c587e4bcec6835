//! The generalized-alpha scheme of Bauchau et al. 2013, eqs (11) to (13) and (24) to (26), with the coefficients of
//! Arnold & Brüls 2007.
//!
//! ΔU = h V_i + h²((1/2 - β) a_i + β a_f),  C_f = C(ΔU) C_i,  V_f = V_i + h((1 - γ) a_i + γ a_f),
//! (1 - α_m) a_f + α_m a_i = (1 - α_f) V̇_f + α_f V̇_i,  M V̇ = A + Ṽᵀ M V at the end of the step,
//! with V, V̇ and a in space. All of these are seen from the body frame at the start of the step here, which changes
//! nothing (the maps commute with a change of frame, and C_f = C_i C(ΔU) then), needs no lever arms to a far origin,
//! and makes V̇ the rate of the body velocity there, since a velocity does not change itself: V̇ = Ad_C V̇*.

use super::intrinsic::turned;
use super::memory::{Memory, Rates};
use super::midpoint::mean;
use super::scheme::{One, Outcome, Range, Scheme, Start, solve};
use crate::body::{Load, State};
use crate::group::{Group, Vectorial, lift, unit};
use crate::scalar::{Over, Real};
use crate::solve::{StepError, Work};

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

/// The state after the step that begins at `start`; the rates at its end wait in the memory until they are kept.
#[inline(never)]
pub(super) fn step<S: Real, G: Group, L: Load<S>>(
    map: Vectorial,
    alpha: Alpha,
    memory: &mut Memory<S, G, Rates<S, G>>,
    mut start: Start<'_, S, G, L>,
    work: &mut Work,
) -> Result<State<S, G>, StepError> {
    let scheme = Galpha { map, alpha, rates: memory.at(start.state, || Rates::fresh(&start)) };
    let x = solve(&scheme, &mut start, work)?;
    let end = scheme.step(&start, &x);
    memory.set(end.rates());
    Ok(end.state(&start))
}

/// The end of a step.
struct End<T: Real, G: Group> {
    /// C(ΔU).
    step: G::Increment<T>,
    /// The body velocity.
    velocity: G::Vector<T>,
    /// Its rate.
    rate: G::Vector<T>,
    /// a_f, seen from the start.
    algorithmic: G::Vector<T>,
}

impl<T: Real, G: Group> End<T, G> {
    #[inline(always)]
    fn state<S: Real, L: Load<S>>(&self, start: &Start<'_, S, G, L>) -> State<T, G>
    where
        T: Over<S>,
    {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        State { pose: start.advance(&self.step), momentum: G::momentum(&inertia, &self.velocity) }
    }
    /// What the next step goes on with.
    #[inline(always)]
    fn rates(&self) -> Rates<T, G> {
        Rates { velocity: self.rate, algorithmic: G::pull_velocity(&self.step, &self.algorithmic) }
    }
}

/// One step. The unknown is the end velocity, seen from the body frame at the start.
pub(super) struct Galpha<S: Real, G: Group> {
    pub(super) map: Vectorial,
    pub(super) alpha: Alpha,
    pub(super) rates: Rates<S, G>,
}

impl<S: Real, G: Group> Galpha<S, G> {
    /// ΔU for the end velocity x; a_f follows from the update of the velocity.
    #[inline(always)]
    fn parameters<L: Load<S>, T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> G::Vector<T> {
        let Alpha { beta, gamma, .. } = self.alpha;
        let (h, ratio) = (T::of(start.h), T::lift(beta / gamma));
        let v = lift::<S, T, _, G::Vector<T>>(&start.velocity);
        let a = lift::<S, T, _, G::Vector<T>>(&self.rates.algorithmic);
        (v + a * (h * T::lift(0.5 - beta)) + (*x - v - a * (h * T::lift(1.0 - gamma))) * ratio) * h
    }
    #[inline(always)]
    fn step<L: Load<S>, T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> End<T, G> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let step = G::increment(self.map, &self.parameters(start, x));
        let pose = G::advance(&G::lift_pose(&start.state.pose), &step);
        let v = G::pull_velocity(&step, x);
        let load = start.end_load(&pose, &v);
        let rate = G::velocity(&inertia, &(G::transport(&v, &G::momentum(&inertia, &v)) + load));
        let Alpha { m, f, .. } = self.alpha;
        let old = self.rates.velocity * S::lift(f) - self.rates.algorithmic * S::lift(m);
        let new = G::push_velocity(&step, &rate) * T::lift(1.0 - f) + lift::<S, T, _, G::Vector<T>>(&old);
        End { step, velocity: v, rate, algorithmic: new * T::lift(1.0 / (1.0 - m)) }
    }
    /// What is left of the update of the velocity, for a_f.
    #[inline(always)]
    fn left<L: Load<S>, T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
        a1: &G::Vector<T>,
    ) -> G::Vector<T> {
        let (h, gamma) = (T::of(start.h), self.alpha.gamma);
        let v = lift::<S, T, _, G::Vector<T>>(&start.velocity);
        let a0 = lift::<S, T, _, G::Vector<T>>(&self.rates.algorithmic);
        *x - (v + a0 * (h * T::lift(1.0 - gamma)) + *a1 * (h * T::lift(gamma)))
    }
}

impl<S: Real, G: Group, L: Load<S>> Scheme<S, G, L> for Galpha<S, G> {
    type Unknown = One;
    #[inline(always)]
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        // Seen from the end it is the guess, and the body turns about its own velocity.
        let step = G::increment(self.map, &(mean(start, end_velocity) * start.h));
        G::push_velocity(&step, end_velocity)
    }
    /// ΔU = 0.
    #[inline(always)]
    fn rest(&self, start: &Start<'_, S, G, L>) -> G::Vector<S> {
        let Alpha { beta, gamma, .. } = self.alpha;
        let (v, a, h) = (start.velocity, self.rates.algorithmic, start.h);
        v + a * (h * S::lift(1.0 - gamma)) - (v + a * (h * S::lift(0.5 - beta))) * S::lift(gamma / beta)
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        self.left(start, x, &self.step(start, x).algorithmic)
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        self.step(start, x).state(start)
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let end = self.step(start, x);
        let Rates { velocity, algorithmic } = end.rates();
        Outcome {
            residual: self.left(start, x, &end.algorithmic),
            state: end.state(start),
            carried: Some([velocity, algorithmic]),
        }
    }
    /// Exact up to the derivative of the load and, since V̇_i stands for V̇_f in a term with h², to third order in h.
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        let (inertia, h, Alpha { m, f, beta, gamma }) = (&start.body.inertia, start.h, self.alpha);
        let unit = unit::<S, G::Vector<S>>(j);
        let psi = self.parameters(start, x);
        let step = G::increment(self.map, &psi);
        // How the frame at the end turns when x changes, and what that does to the velocity and its rate seen from it.
        let turn = G::tangent(self.map, &psi, &unit) * (h * S::lift(beta / gamma));
        let v = G::pull_velocity(&step, x);
        let change = G::pull_velocity(&step, &unit) - G::bracket(&turn, &v);
        let rate = G::transport(&change, &G::momentum(inertia, &v))
            + G::transport(&v, &G::momentum(inertia, &change));
        let rate = G::velocity(inertia, &rate) + G::bracket(&turn, &self.rates.velocity);
        Some(unit - G::push_velocity(&step, &rate) * (h * S::lift(gamma * (1.0 - f) / (1.0 - m))))
    }
    #[inline(always)]
    fn range(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>) -> Option<Range<S>> {
        Some(Range::new(self.map, turned::<S, G>(&self.parameters(start, x))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MapKind;
    use crate::method::scheme::probe::{flying, tangent_gap};

    #[test]
    fn the_newton_matrix_is_the_derivative_of_the_residual_to_third_order() {
        for kind in MapKind::ALL {
            let gap = |h| {
                let scheme = |start: &Start<'_, _, _, _>| Galpha {
                    map: kind.into(),
                    alpha: Alpha::from_rho(0.5),
                    rates: Rates::fresh(start),
                };
                tangent_gap(scheme, &flying(), h)
            };
            let (coarse, fine) = (gap(0.02), gap(0.01));
            assert!(fine < 3e-5 && coarse / fine > 7.5, "{kind:?}: {coarse:e} {fine:e}");
        }
    }
}
