//! The intrinsic schemes of Bauchau et al. 2013 that are written in momenta: energy preserving, eqs (9) and (22),
//! and energy decaying, eqs (10) and (23). C*(Q) is the motion with the parameters Q of any vectorial map.
//!
//! Preserving:  P_f = P_i + h A_m,                    C_f = C_i C*(h (V_i + V_f)/2)
//! Decaying:    P_f = P_i + h (A_f + A_j)/2,          C_f = C_i C*( h (V_f + V_j)/2)
//!              P_j = P_i - h (A_f - A_j)/6,          C_j = C_i C*(-h (V_f - V_j)/6)
//! with P and A in space, V in the body; everything below is seen from the body frames. State j is the start of the
//! step behind the jump; the load there is that of state j, not of state i, or stiff loads make the scheme unstable.

use super::midpoint::mean_tangent;
use super::scheme::{One, Outcome, Range, Scheme, Start, Two};
use super::schemes::Visitor;
use crate::body::Dynamics;
use crate::group::{Cayley, Coordinates, Map, MapKind, Reading, Vectorial, unit};
use crate::scalar::Real;

/// The load A_m of a step of the preserving scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepLoad {
    /// At half time, half the motion and the mean velocity.
    #[default]
    Midpoint,
    /// The mean of the loads at both ends, in space.
    Mean,
    /// By the finite derivative of the potential, whose work is exact: total energy is kept under any potential.
    FiniteDerivative,
}

impl StepLoad {
    /// All of them.
    pub const ALL: [StepLoad; 3] = [StepLoad::Midpoint, StepLoad::Mean, StepLoad::FiniteDerivative];
    /// The name in method ids.
    pub fn name(self) -> &'static str {
        match self {
            StepLoad::Midpoint => "midpoint",
            StepLoad::Mean => "mean",
            StepLoad::FiniteDerivative => "finite-derivative",
        }
    }
}

/// The energy and momentum preserving scheme. The unknown is the mean velocity W; the kinetic energy changes by
/// h W·A, because the motion leaves its own W where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Preserving<M, R = StepLoad> {
    pub(super) map: M,
    pub(super) load: R,
}

/// [`StepLoad::Midpoint`], known when the code is compiled.
#[derive(Clone, Copy, Debug)]
struct AtMidpoint;

impl From<AtMidpoint> for StepLoad {
    #[inline(always)]
    fn from(_: AtMidpoint) -> Self {
        StepLoad::Midpoint
    }
}

impl<M: Map, R: Copy + Into<StepLoad>> Preserving<M, R> {
    /// The new pose and momentum, for the mean velocity `w`.
    #[inline(always)]
    fn end<T: Real, G: Dynamics>(&self, s: &Start<'_, T, G>, w: &G::Vector<T>) -> (G::Pose<T>, G::Vector<T>) {
        let (p0, psi, half) = (s.state.momentum, w.scaled(s.h), s.h * T::lift(0.5));
        let rule = self.load.into();
        if rule == StepLoad::Midpoint {
            // Half the motion twice.
            let part = G::half(self.map, &psi, &G::increment(self.map, &psi));
            let middle = s.advance(&part);
            let load = s.middle_load(&middle, w);
            return (G::advance(&middle, &part), G::pull(&part, &(G::pull(&part, &p0) + load.scaled(s.h))));
        }
        let step = G::increment(self.map, &psi);
        let pose = s.advance(&step);
        let end_velocity = w.scaled(T::lift(2.0)) - s.velocity;
        match rule {
            StepLoad::FiniteDerivative => {
                let g = s.finite_derivative(&pose, &end_velocity);
                let load = G::step_load(self.map, &psi, [&s.state.pose, &pose], &g);
                (pose, G::pull(&step, &(p0 + load.scaled(s.h))))
            }
            _ => {
                let load = s.end_load(&pose, &end_velocity);
                (pose, G::pull(&step, &(p0 + s.load.scaled(half))) + load.scaled(half))
            }
        }
    }
}

impl Preserving<Vectorial> {
    /// Shows itself to a visitor. Cayley's map, the fastest of the family, has code of its own, which is a twelfth faster
    /// than with a map chosen at run time; the other maps gain next to nothing.
    #[inline(always)]
    pub(super) fn visited_by<V: Visitor>(&self, visitor: V) -> V::Output {
        match (self.map.reading, self.map.kind, self.load) {
            (Reading::Dual, MapKind::Cayley, StepLoad::Midpoint) => {
                visitor.visit(&Preserving { map: Cayley, load: AtMidpoint })
            }
            _ => visitor.visit(self),
        }
    }
}

impl<M: Map, R: Copy + Into<StepLoad>> Scheme for Preserving<M, R> {
    type Unknown = One;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        self.load.into() == StepLoad::Mean
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
        let (pose, momentum) = self.end(s, w);
        // In this sequence little waits for the new momentum.
        let half = T::lift(0.5);
        let residual = (*w - s.velocity.scaled(half)) - s.body.velocity(&momentum).scaled(half);
        Outcome::new(residual, pose, momentum)
    }
    /// 1 - h/2 M⁻¹ G(y) H(-Q).
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        w: &G::Vector<S>,
        j: usize,
    ) -> Option<G::Vector<S>> {
        Some(mean_tangent(self.map, s, w, j))
    }
    #[inline(always)]
    fn range<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, w: &G::Vector<S>) -> Option<Range<S>> {
        Some(Range::new::<G>(self.map, &(*w * s.h)))
    }
}

/// The momentum preserving, energy decaying scheme. The unknowns are the velocities V_f and V_j.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decaying {
    pub(super) map: Vectorial,
}

impl Decaying {
    /// The parameters of both motions.
    #[inline(always)]
    fn parameters<G: Dynamics, T: Real>(h: T, x: &G::Pair<T>) -> (G::Vector<T>, G::Vector<T>) {
        let (f, j) = G::split(x);
        ((f + j).scaled(h * T::lift(0.5)), (j - f).scaled(h * T::lift(1.0 / 6.0)))
    }
}

impl Scheme for Decaying {
    type Unknown = Two;
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Pair<S> {
        G::join(end_velocity, &s.velocity)
    }
    #[inline(always)]
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        x: &G::Pair<T>,
    ) -> Outcome<T, G, G::Pair<T>> {
        let (vf, vj) = G::split(x);
        let p0 = s.state.momentum;
        let (qf, qj) = Self::parameters::<G, T>(s.h, x);
        let (to_f, to_j) = (G::increment(self.map, &qf), G::increment(self.map, &qj));
        let pose = s.advance(&to_f);
        let af = s.end_load(&pose, &vf);
        let aj = s.start_load(&s.advance(&to_j), &vj);
        let (half, sixth) = (s.h * T::lift(0.5), s.h * T::lift(1.0 / 6.0));
        let momentum = G::pull(&to_f, &(p0 + G::push(&to_j, &aj).scaled(half))) + af.scaled(half);
        let jump = G::pull(&to_j, &(p0 - G::push(&to_f, &af).scaled(sixth))) + aj.scaled(sixth);
        let residual = *x - G::join(&s.body.velocity(&momentum), &s.body.velocity(&jump));
        Outcome::new(residual, pose, momentum)
    }
    /// Exact up to the loads, as for the preserving scheme.
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        s: &Start<'_, S, G>,
        x: &G::Pair<S>,
        j: usize,
    ) -> Option<G::Pair<S>> {
        let n = G::Vector::<S>::LEN;
        let (vf, vj) = G::split(x);
        let (qf, qj) = Self::parameters::<G, S>(s.h, x);
        let yf = s.body.momentum(&vf) - s.load * s.h;
        let yj = s.body.momentum(&vj);
        let slope = |q, y, share: f64| {
            let slope = G::pull_slope(self.map, q, y, j % n);
            s.body.velocity(&slope) * (s.h * S::lift(share))
        };
        let of_j = if j < n { -1.0 / 6.0 } else { 1.0 / 6.0 };
        Some(unit::<S, G::Pair<S>>(j) - G::join(&slope(&qf, &yf, 0.5), &slope(&qj, &yj, of_j)))
    }
    #[inline(always)]
    fn range<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, x: &G::Pair<S>) -> Option<Range<S>> {
        let (qf, qj) = Self::parameters::<G, S>(s.h, x);
        let (end, jump) = (Range::new::<G>(self.map, &qf), Range::new::<G>(self.map, &qj));
        Some(Range { square: end.square.max(jump.square), ..end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::implicit::probe::{Free, flying, tangent_gap, turning};
    use crate::method::implicit::solve;
    use crate::solve::Work;

    fn maps() -> impl Iterator<Item = Vectorial> {
        MapKind::ALL.into_iter().map(Vectorial::from)
    }

    #[test]
    fn newton_matrices_are_the_derivatives_of_the_residuals() {
        for map in maps() {
            for h in [0.02, 0.25] {
                let (one, other) = (turning(), flying());
                let midpoint = Preserving { map, load: StepLoad::Midpoint };
                let mean = Preserving { map, load: StepLoad::Mean };
                for gap in [
                    tangent_gap(midpoint, &one, h),
                    tangent_gap(mean, &one, h),
                    tangent_gap(Decaying { map }, &one, h),
                    tangent_gap(midpoint, &other, h),
                    tangent_gap(mean, &other, h),
                    tangent_gap(Decaying { map }, &other, h),
                ] {
                    assert!(gap < 4e-14, "{map:?}, h = {h}: {gap:e}");
                }
            }
        }
    }

    /// K_f - K_i + c² over K_i, with c² = (V_j - V_i)·M (V_j - V_i)/2, and with the c² that is printed,
    /// (V_j - V_f)·M (V_f - V_j)/2.
    fn decay<G: Dynamics>(map: Vectorial, (body, state): &Free<G>, h: f64) -> [f64; 2] {
        let mut start = Start::new(body, state, 0.0, h);
        let x = solve(&Decaying { map }, body, &mut start, &mut Work::default()).unwrap();
        let (vf, vj) = G::split(&x);
        let end = Decaying { map }.equations(&start, &x).state;
        let (before, after) = (body.kinetic_energy(state), body.kinetic_energy(&end));
        assert!(after < before);
        let form = |a: G::Vector<f64>, b: G::Vector<f64>| 0.5 * a.inner(&G::momentum(&body.inertia, &b));
        let jump = vj - start.velocity;
        [form(jump, jump), form(vj - vf, vf - vj)].map(|c2| ((after - before + c2) / before).abs())
    }

    #[test]
    fn the_energy_decays_by_the_energy_of_the_jump_and_not_as_printed() {
        for map in maps() {
            for h in [0.01, 0.25] {
                for [correct, printed] in [decay(map, &turning(), h), decay(map, &flying(), h)] {
                    assert!(correct < 1e-14, "{map:?}, h = {h}: {correct:e}");
                    assert!(printed > 1e-5, "{map:?}, h = {h}: {printed:e}");
                }
            }
        }
    }
}
