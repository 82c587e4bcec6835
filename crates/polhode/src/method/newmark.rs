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

use super::scheme::{Accelerations, One, Outcome, Range, Rates, Scheme, Start};
use crate::body::Dynamics;
use crate::body::State;
use crate::group::{Coordinates, Exponential, NearZero, Transferable, WienerMilenkovic, unit};
use crate::scalar::{Dual, Over, Real, Task, cross};
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

/// The scheme with its weights. The unknown is W, the parameters at the end of the step divided by its length.
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
        let (e0, e) = (T::one() - h * h * w2 * b * number(0.125), w.scaled(h * b * number(0.5)));
        // p̈₀ = (-V₀²/4, V̇₀/2).
        let square = v0.dot(&v0) * number(0.25);
        let scalar = (rest * square - w2 * b * number(0.125)) * per_beta;
        let vector = (w.scaled(b) - v0).scaled(number(0.5) / h) - a0.scaled(rest * number(0.5));
        let vector = vector.scaled(per_beta);
        let scalar_rate = new * scalar - old * square;
        let vector_rate = v0.scaled(number(0.5)) + a0.scaled(old * number(0.5)) + vector.scaled(new);
        [twice((e0, &e), scalar_rate, &vector_rate), twice((e0, &e), scalar, &vector)]
    }
}

/// 2 G(p) y.
#[inline(always)]
fn twice<T: Real>((e0, e): (T, &Vector3<T>), s: T, y: &Vector3<T>) -> Vector3<T> {
    (y.scaled(e0) - e.scaled(s) - cross(e, y)).scaled(T::lift(2.0))
}

/// What [`Newmark::rate`] is asked.
struct Rate<'a, T: Real, G: Dynamics> {
    scheme: &'a Newmark,
    start: &'a Start<'a, T, G>,
    w: &'a G::Vector<T>,
}

impl<T: Real, G: Dynamics> Task for Rate<'_, T, G> {
    type Output = G::Vector<T>;
    #[inline(always)]
    fn run(self) -> G::Vector<T> {
        let Rate { scheme, start, w } = self;
        match scheme.unknowns {
            Unknowns::EulerParameters => scheme.euler(start, w)[1],
            Unknowns::RotationVector => {
                // d/dt T(Ψ) Ψ̇, with d/dt as the infinitesimal part of a dual number.
                let along = |x: &G::Vector<T>, rate: &G::Vector<T>| {
                    G::Vector::<Dual<T, 1>>::generate(|i| Dual { re: x.at(i), eps: [rate.at(i)] })
                };
                let [first, second] = scheme.vector(start, w);
                let psi = along(&w.scaled(start.h), &first);
                let moving = G::tangent(Exponential, &psi, &along(&first, &second));
                G::Vector::<T>::generate(|i| moving.at(i).eps[0])
            }
        }
    }
}

impl Newmark {
    /// Both values of E1.
    #[inline(always)]
    fn euler<T: Real, G: Dynamics>(&self, s: &Start<'_, T, G>, w: &G::Vector<T>) -> [G::Vector<T>; 2] {
        let Newmark { beta, gamma, .. } = *self;
        G::transfer(&EulerParameters { h: s.h, beta, gamma }, [w, &s.velocity, &s.rates.velocity])
    }
    /// Ψ̇ and Ψ̈ of C1 at the end of the step.
    #[inline(always)]
    fn vector<T: Real, G: Dynamics>(&self, s: &Start<'_, T, G>, w: &G::Vector<T>) -> [G::Vector<T>; 2] {
        let (Newmark { beta, gamma, .. }, h) = (*self, s.h);
        let (v0, a0) = (s.velocity, s.rates.velocity);
        let second = (*w - v0).scaled(h.recip()) - a0.scaled(T::lift(0.5 - beta));
        let second = second.scaled(T::lift(1.0 / beta));
        [v0 + a0.scaled(h * T::lift(1.0 - gamma)) + second.scaled(h * T::lift(gamma)), second]
    }
    /// The body velocity at the end of the step.
    #[inline(always)]
    fn velocity<T: Real, G: Dynamics>(&self, s: &Start<'_, T, G>, w: &G::Vector<T>) -> G::Vector<T> {
        match self.unknowns {
            Unknowns::EulerParameters => self.euler(s, w)[0],
            Unknowns::RotationVector => G::tangent(Exponential, &w.scaled(s.h), &self.vector(s, w)[0]),
        }
    }
    /// The rate of the body velocity at the end of the step. A function of its own, because what it is compiled to is large
    /// and the usual weights never ask for it.
    #[inline(always)]
    fn rate<T: Real, G: Dynamics>(&self, start: &Start<'_, T, G>, w: &G::Vector<T>) -> G::Vector<T> {
        T::apart(Rate { scheme: self, start, w })
    }
    /// The increment of the step.
    #[inline(always)]
    fn increment<T: Real, G: Dynamics>(&self, psi: &G::Vector<T>) -> G::Increment<T> {
        match self.unknowns {
            Unknowns::RotationVector => G::increment(Exponential, psi),
            Unknowns::EulerParameters => G::increment(WienerMilenkovic, psi),
        }
    }
}

impl Scheme for Newmark {
    type Unknown = One;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn accelerations(&self) -> Accelerations {
        match (self.needs_acceleration(), self.moment) {
            (false, _) => Accelerations::Unused,
            (true, StartMoment::Jump) => Accelerations::Fresh,
            (true, StartMoment::Continuous) => Accelerations::Carried,
        }
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
        let Newmark { alpha, beta, gamma, .. } = *self;
        let v = self.velocity(s, w);
        let step = self.increment::<T, G>(&w.scaled(s.h));
        let pose = s.advance(&step);
        let load = s.end_load(&pose, &v);
        // Divided by the slopes γ/β of V and 1/(β h) of its rate in W.
        let (residual, momentum) = match self.balance {
            Balance::Momentum => {
                let alpha = T::lift(alpha);
                let p0 = s.state.momentum + s.load.scaled(s.h * (T::one() - alpha));
                let momentum = G::pull(&step, &p0) + load.scaled(s.h * alpha);
                ((v - s.body.velocity(&momentum)).scaled(T::lift(beta / gamma)), momentum)
            }
            Balance::Collocated => {
                let momentum = s.body.momentum(&v);
                let exact = s.body.velocity(&(G::transport(&v, &momentum) + load));
                ((self.rate(s, w) - exact).scaled(s.h * T::lift(beta)), momentum)
            }
        };
        let carried = (self.accelerations() == Accelerations::Carried).then(|| {
            let rate = self.rate(s, w);
            Rates { velocity: rate, algorithmic: rate }
        });
        Outcome { residual, state: State { pose, momentum }, carried, load: Some(load) }
    }
    /// Of the balance of momentum, to second order in h: V is Ψ̇ - ½ Ψ×Ψ̇ for both kinds of parameters, and the load is left
    /// out, its derivative comes with h².
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        w: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        let Newmark { beta, gamma, balance, .. } = *self;
        if balance == Balance::Collocated {
            return None;
        }
        let (h, share) = (s.h, s.h * S::lift(beta / gamma));
        let [rate, _] = self.vector(s, w);
        let unit = unit::<S, G::Vector<S>>(j);
        let turned = s.body.momentum(&rate) - s.load * h;
        let slope = s.body.velocity(&G::pull_slope(NearZero, &(*w * h), &turned, j));
        let bent = G::bracket(&(*w * h - rate * share), &unit) * S::lift(0.5);
        Some(unit - bent - slope * share)
    }
    #[inline(always)]
    fn range<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, w: &G::Vector<S>) -> Option<Range<S>> {
        match self.unknowns {
            Unknowns::EulerParameters => Some(Range::new::<G>(WienerMilenkovic, &(*w * s.h))),
            Unknowns::RotationVector => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::implicit::probe::{flying, tangent_gap};

    #[test]
    fn the_newton_matrix_is_the_derivative_of_the_residual_to_second_order() {
        for unknowns in [Unknowns::RotationVector, Unknowns::EulerParameters] {
            for (beta, gamma) in [(0.25, 0.5), (1.0 / 6.0, 0.5), (0.3025, 0.6)] {
                let newmark = Newmark { beta, gamma, ..Newmark::new(unknowns) };
                let (coarse, fine) =
                    (tangent_gap(newmark, &flying(), 0.02), tangent_gap(newmark, &flying(), 0.01));
                assert!(fine < 1e-2 && coarse / fine > 3.8, "{newmark:?}: {coarse:e} {fine:e}");
            }
        }
    }
}
