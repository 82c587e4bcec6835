//! Newmark's scheme in parameters of the motion since the start of the step (Kasti; Cardona & Géradin 1988, Mäkinen
//! 2001), with x the parameters and s the step:
//!
//! x₁ = x₀ + s ẋ₀ + s²((1/2 - β) ẍ₀ + β ẍ₁),  ẋ₁ = ẋ₀ + s((1 - γ) ẍ₀ + γ ẍ₁),
//! momentum:   A₁ M V₁ = M V₀ + s (α A₁ T₁ + (1 - α) T₀)  seen from the start of the step, eq. (6a.4), or
//! collocated: M V̇₁ = -V₁×M V₁ + T₁  at its end.
//!
//! C1: x is the rotation vector, V = T(x) ẋ. E1: x is the Euler parameters p with p·p = 1 for a fourth equation,
//! V = 2 G(p) ṗ; they are written in Wiener-Milenković parameters here, which solves that equation (and 4 tan(φ/4) is the
//! angle s ω that E1 turns by in pure spin). On SE(3) both are read at a dual number: E1 integrates dual quaternions.
//! The scheme starts from x₀ = 0 (p₀ = 1), ẋ₀ = V₀, ẍ₀ = V̇₀; with γ = 2β, V̇₀ drops out of the momentum form.

use super::intrinsic::turned;
use super::memory::{Memory, Rates};
use super::midpoint::mean;
use super::scheme::{One, Outcome, Range, Scheme, Start, solve};
use crate::body::{Load, State};
use crate::group::{Coordinates, Exponential, Group, NearZero, Transferable, WienerMilenkovic, lift, unit};
use crate::scalar::{Dual, Over, Real};
use crate::solve::{StepError, Work};
use nalgebra::Vector3;

/// What is integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknowns {
    /// The rotation vector: C1.
    RotationVector,
    /// The Euler parameters: E1.
    EulerParameters,
}

/// The equation that the end of a step satisfies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Balance {
    /// The balance of momentum over the step.
    #[default]
    Momentum,
    /// The equation of motion at the end of the step.
    Collocated,
}

impl Balance {
    /// All of them.
    pub const ALL: [Balance; 2] = [Balance::Momentum, Balance::Collocated];
    /// The name in method ids.
    pub fn name(self) -> &'static str {
        match self {
            Balance::Momentum => "momentum",
            Balance::Collocated => "collocated",
        }
    }
}

/// What the moment does where a step starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartMoment {
    /// It is continuous: the acceleration is that of the end of the step before.
    #[default]
    Continuous,
    /// It may jump: the acceleration is that of the equation of motion behind the jump.
    Jump,
}

impl StartMoment {
    /// All of them.
    pub const ALL: [StartMoment; 2] = [StartMoment::Continuous, StartMoment::Jump];
    /// The name in method ids.
    pub fn name(self) -> &'static str {
        match self {
            StartMoment::Continuous => "continuous",
            StartMoment::Jump => "jump",
        }
    }
}

/// The scheme with its weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Newmark {
    pub(super) unknowns: Unknowns,
    pub(super) balance: Balance,
    pub(super) moment: StartMoment,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) gamma: f64,
}

impl Newmark {
    pub(super) const fn new(unknowns: Unknowns) -> Self {
        let (balance, moment) = (Balance::Momentum, StartMoment::Continuous);
        Newmark { unknowns, balance, moment, alpha: 0.5, beta: 0.25, gamma: 0.5 }
    }
    /// The balance of momentum loses an order where its moments are not weighted alike, collocation where its
    /// accelerations are not.
    pub(super) fn order(&self) -> u32 {
        let weight = match self.balance {
            Balance::Momentum => self.alpha,
            Balance::Collocated => self.gamma,
        };
        if weight == 0.5 { 2 } else { 1 }
    }
    /// True if the acceleration at the start of a step matters.
    fn needs_acceleration(&self) -> bool {
        self.balance == Balance::Collocated || self.gamma != 2.0 * self.beta
    }
    /// True if it is that of the end of the step before.
    pub(super) fn carries(&self) -> bool {
        self.needs_acceleration() && self.moment == StartMoment::Continuous
    }
}

/// The state after the step that begins at `start`; the acceleration at its end waits in the memory until it is kept.
#[inline(never)]
pub(super) fn step<S: Real, G: Group, L: Load<S>>(
    newmark: Newmark,
    memory: &mut Memory<S, G, Rates<S, G>>,
    mut start: Start<'_, S, G, L>,
    work: &mut Work,
) -> Result<State<S, G>, StepError> {
    let scheme = Local::new(newmark, &start, || memory.at(start.state, || Rates::fresh(&start)));
    let x = solve(&scheme, &mut start, work)?;
    if newmark.carries() {
        let rate = scheme.rate(&start, &x);
        memory.set(Rates { velocity: rate, algorithmic: rate });
    }
    Ok(scheme.finish(&start, &x))
}

/// One step. The unknown is W, the parameters at the end of the step divided by its length.
pub(super) struct Local<S: Real, G: Group> {
    newmark: Newmark,
    /// V̇₀.
    acceleration: G::Vector<S>,
}

/// Velocity and acceleration at the end of a step of E1, as functions of W, V₀ and V̇₀.
struct EulerParameters<S> {
    h: S,
    beta: f64,
    gamma: f64,
}

impl<S: Real> Transferable<S> for EulerParameters<S> {
    #[inline(always)]
    fn at<T: Over<S>>(&self, [w, v0, a0]: [Vector3<T>; 3]) -> [Vector3<T>; 2] {
        let (h, number) = (T::of(self.h), T::lift);
        let (rest, per_beta) = (number(0.5 - self.beta), number(1.0 / self.beta));
        let (old, new) = (h * number(1.0 - self.gamma), h * number(self.gamma));
        // p = (e₀, e) with e₀ - 1 = -h² W²/8 b and e = h W/2 b, so that nothing cancels with p₀ = (1, 0).
        let w2 = w.dot(&w);
        let b = (T::one() + h * h * w2 * number(1.0 / 16.0)).recip();
        let (e0, e) = (T::one() - h * h * w2 * b * number(0.125), w * (h * b * number(0.5)));
        // p̈₀ = (-V₀²/4, V̇₀/2).
        let square = v0.dot(&v0) * number(0.25);
        let scalar = (rest * square - w2 * b * number(0.125)) * per_beta;
        let vector = ((w * b - v0) * (number(0.5) / h) - a0 * (rest * number(0.5))) * per_beta;
        let scalar_rate = new * scalar - old * square;
        let vector_rate = v0 * number(0.5) + a0 * (old * number(0.5)) + vector * new;
        // 2 G(p) y.
        let twice = |s: T, y: &Vector3<T>| (y * e0 - e * s - e.cross(y)) * number(2.0);
        [twice(scalar_rate, &vector_rate), twice(scalar, &vector)]
    }
}

impl<S: Real, G: Group> Local<S, G> {
    /// The step that begins at `start`, with the rates carried to it if they matter.
    #[inline(always)]
    pub(super) fn new<L: Load<S>>(
        newmark: Newmark,
        start: &Start<'_, S, G, L>,
        carried: impl FnOnce() -> Rates<S, G>,
    ) -> Self {
        let acceleration = match (newmark.needs_acceleration(), newmark.moment) {
            (false, _) => G::Vector::<S>::origin(),
            (true, StartMoment::Jump) => Rates::fresh(start).velocity,
            (true, StartMoment::Continuous) => carried().velocity,
        };
        Local { newmark, acceleration }
    }
    /// V₀ and V̇₀ at the scalar `T`.
    #[inline(always)]
    fn given<L: Load<S>, T: Over<S>>(&self, start: &Start<'_, S, G, L>) -> [G::Vector<T>; 2] {
        [lift::<S, T, _, G::Vector<T>>(&start.velocity), lift::<S, T, _, G::Vector<T>>(&self.acceleration)]
    }
    /// Both values of E1.
    #[inline(always)]
    fn euler<L: Load<S>, T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> [G::Vector<T>; 2] {
        let Newmark { beta, gamma, .. } = self.newmark;
        let [v0, a0] = self.given(start);
        G::transfer(&EulerParameters { h: T::of(start.h), beta, gamma }, [w, &v0, &a0])
    }
    /// Ψ̇ and Ψ̈ of C1 at the end of the step.
    #[inline(always)]
    fn vector<L: Load<S>, T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> [G::Vector<T>; 2] {
        let (Newmark { beta, gamma, .. }, h) = (self.newmark, T::of(start.h));
        let [v0, a0] = self.given(start);
        let second = ((*w - v0) * h.recip() - a0 * T::lift(0.5 - beta)) * T::lift(1.0 / beta);
        [v0 + a0 * (h * T::lift(1.0 - gamma)) + second * (h * T::lift(gamma)), second]
    }
    /// The body velocity at the end of the step.
    #[inline(always)]
    fn velocity<L: Load<S>, T: Over<S>>(&self, start: &Start<'_, S, G, L>, w: &G::Vector<T>) -> G::Vector<T> {
        match self.newmark.unknowns {
            Unknowns::EulerParameters => self.euler(start, w)[0],
            Unknowns::RotationVector => {
                G::tangent(Exponential, &(*w * T::of(start.h)), &self.vector(start, w)[0])
            }
        }
    }
    /// The rate of the body velocity at the end of the step.
    #[inline(always)]
    fn rate<L: Load<S>, T: Over<S>>(&self, start: &Start<'_, S, G, L>, w: &G::Vector<T>) -> G::Vector<T> {
        match self.newmark.unknowns {
            Unknowns::EulerParameters => self.euler(start, w)[1],
            Unknowns::RotationVector => {
                // d/dt T(Ψ) Ψ̇, with d/dt as the infinitesimal part of a dual number.
                let along = |x: &G::Vector<T>, rate: &G::Vector<T>| {
                    G::Vector::<Dual<T, 1>>::generate(|i| Dual { re: x.at(i), eps: [rate.at(i)] })
                };
                let [first, second] = self.vector(start, w);
                let psi = along(&(*w * T::of(start.h)), &first);
                let moving = G::tangent(Exponential, &psi, &along(&first, &second));
                G::Vector::<T>::generate(|i| moving.at(i).eps[0])
            }
        }
    }
    /// The increment of the step.
    #[inline(always)]
    fn increment<T: Over<S>>(&self, psi: &G::Vector<T>) -> G::Increment<T> {
        match self.newmark.unknowns {
            Unknowns::RotationVector => G::increment(Exponential, psi),
            Unknowns::EulerParameters => G::increment(WienerMilenkovic, psi),
        }
    }
    /// The increment, and the new momentum by the balance over the step, for the end velocity `v`.
    #[inline(always)]
    fn balance<L: Load<S>, T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
        v: &G::Vector<T>,
    ) -> (G::Increment<T>, G::Vector<T>) {
        let step = self.increment(&(*w * T::of(start.h)));
        let load = self.end_load(start, &step, v);
        let alpha = S::lift(self.newmark.alpha);
        let p0 = start.state.momentum + start.load * (start.h * (S::one() - alpha));
        (step, G::pull(&step, &lift::<S, T, _, G::Vector<T>>(&p0)) + load * T::of(start.h * alpha))
    }
    #[inline(always)]
    fn end_load<L: Load<S>, T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        step: &G::Increment<T>,
        v: &G::Vector<T>,
    ) -> G::Vector<T> {
        let pose = G::advance(&G::lift_pose(&start.state.pose), step);
        start.end_load(&pose, v)
    }
}

impl<S: Real, G: Group, L: Load<S>> Scheme<S, G, L> for Local<S, G> {
    type Unknown = One;
    #[inline(always)]
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        mean(start, end_velocity)
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        let Newmark { beta, gamma, .. } = self.newmark;
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let v = self.velocity(start, x);
        // Divided by the slopes γ/β of V and 1/(β h) of its rate in W.
        match self.newmark.balance {
            Balance::Momentum => {
                (v - G::velocity(&inertia, &self.balance(start, x, &v).1)) * T::lift(beta / gamma)
            }
            Balance::Collocated => {
                let step = self.increment(&(*x * T::of(start.h)));
                let load = self.end_load(start, &step, &v);
                let exact = G::velocity(&inertia, &(G::transport(&v, &G::momentum(&inertia, &v)) + load));
                (self.rate(start, x) - exact) * (T::of(start.h) * T::lift(beta))
            }
        }
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        let v = self.velocity(start, x);
        let (step, momentum) = match self.newmark.balance {
            Balance::Momentum => self.balance(start, x, &v),
            Balance::Collocated => {
                let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
                (self.increment(&(*x * T::of(start.h))), G::momentum(&inertia, &v))
            }
        };
        State { pose: start.advance(&step), momentum }
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let Newmark { beta, gamma, balance, .. } = self.newmark;
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let carried = self.newmark.carries().then(|| [self.rate(start, x); 2]);
        match balance {
            Balance::Momentum => {
                let v = self.velocity(start, x);
                let (step, momentum) = self.balance(start, x, &v);
                Outcome {
                    residual: (v - G::velocity(&inertia, &momentum)) * T::lift(beta / gamma),
                    state: State { pose: start.advance(&step), momentum },
                    carried,
                }
            }
            Balance::Collocated => {
                Outcome { residual: self.residual(start, x), state: self.finish(start, x), carried }
            }
        }
    }
    /// Of the balance of momentum, to second order in h: V is Ψ̇ - ½ Ψ×Ψ̇ for both kinds of parameters, and the load is left
    /// out, its derivative comes with h².
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        let (inertia, Newmark { beta, gamma, balance, .. }) = (&start.body.inertia, self.newmark);
        if balance == Balance::Collocated {
            return None;
        }
        let (h, share) = (start.h, start.h * S::lift(beta / gamma));
        let [rate, _] = self.vector(start, x);
        let unit = unit::<S, G::Vector<S>>(j);
        let turned = G::momentum(inertia, &rate) - start.load * h;
        let slope = G::velocity(inertia, &G::pull_slope(NearZero, &(*x * h), &turned, j));
        let bent = G::bracket(&(*x * h - rate * share), &unit) * S::lift(0.5);
        Some(unit - bent - slope * share)
    }
    #[inline(always)]
    fn range(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>) -> Option<Range<S>> {
        match self.newmark.unknowns {
            Unknowns::EulerParameters => Some(Range::new(WienerMilenkovic, turned::<S, G>(&(*x * start.h)))),
            Unknowns::RotationVector => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::scheme::probe::{flying, tangent_gap};

    #[test]
    fn the_newton_matrix_is_the_derivative_of_the_residual_to_second_order() {
        for unknowns in [Unknowns::RotationVector, Unknowns::EulerParameters] {
            for (beta, gamma) in [(0.25, 0.5), (1.0 / 6.0, 0.5), (0.3025, 0.6)] {
                let newmark = Newmark { beta, gamma, ..Newmark::new(unknowns) };
                let gap = |h| {
                    let scheme = |start: &Start<'_, _, _, _>| Local {
                        newmark,
                        acceleration: Rates::fresh(start).velocity,
                    };
                    tangent_gap(scheme, &flying(), h)
                };
                let (coarse, fine) = (gap(0.02), gap(0.01));
                assert!(fine < 1e-2 && coarse / fine > 3.8, "{newmark:?}: {coarse:e} {fine:e}");
            }
        }
    }
}
