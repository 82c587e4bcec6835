//! The intrinsic schemes of Bauchau et al. 2013 that are written in momenta: energy preserving, eqs (9) and (22),
//! and energy decaying, eqs (10) and (23). C*(Q) is the motion with the parameters Q of any vectorial map.
//!
//! Preserving:  P_f = P_i + h A_m,                    C_f = C_i C*(h (V_i + V_f)/2)
//! Decaying:    P_f = P_i + h (A_f + A_j)/2,          C_f = C_i C*( h (V_f + V_j)/2)
//!              P_j = P_i - h (A_f - A_j)/6,          C_j = C_i C*(-h (V_f - V_j)/6)
//! with P and A in space, V in the body; everything below is seen from the body frames. State j is the start of the
//! step behind the jump; the load there is that of state j, not of state i, or stiff loads make the scheme unstable.

use super::midpoint::{mean, mean_tangent};
use super::scheme::{self, One, Outcome, Range, Scheme, Start, Two};
use crate::body::{Body, Load, State};
use crate::group::{
    Cayley, Coordinates, EulerRodrigues, Exponential, Group, Map, MapKind, Reading, Vectorial,
    WienerMilenkovic, lift, unit,
};
use crate::scalar::{Over, Real};
use crate::solve::{StepError, Work};

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

/// The squared length of the angular part of motion parameters.
#[inline(always)]
pub(super) fn turned<S: Real, G: Group>(psi: &G::Vector<S>) -> S {
    let p = G::angular(psi);
    p.inner(&p)
}

/// The load of a step, as a type.
pub(super) trait Rule: Copy + 'static {
    /// True if the load at the start is in it.
    const LOADED: bool = false;
    /// The new pose and momentum, for the mean velocity `w`.
    fn step<M: Map, S: Real, G: Group, L: Load<S>, T: Over<S>>(
        &self,
        map: M,
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> (G::Pose<T>, G::Vector<T>);
}

/// [`StepLoad::Midpoint`].
#[derive(Clone, Copy, Debug)]
pub(super) struct AtMidpoint;
/// [`StepLoad::Mean`].
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanOfEnds;
/// [`StepLoad::FiniteDerivative`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ByWork;

/// The pose and the momentum at the start, and the body velocity at the end.
#[inline(always)]
fn ends<S: Real, G: Group, L: Load<S>, T: Over<S>>(
    start: &Start<'_, S, G, L>,
    w: &G::Vector<T>,
) -> (G::Pose<T>, G::Vector<T>, G::Vector<T>) {
    let end = *w * T::lift(2.0) - lift::<S, T, _, G::Vector<T>>(&start.velocity);
    (G::lift_pose(&start.state.pose), lift::<S, T, _, G::Vector<T>>(&start.state.momentum), end)
}

impl Rule for AtMidpoint {
    #[inline(always)]
    fn step<M: Map, S: Real, G: Group, L: Load<S>, T: Over<S>>(
        &self,
        map: M,
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> (G::Pose<T>, G::Vector<T>) {
        let (h, half) = (T::of(start.h), T::of(start.h * S::lift(0.5)));
        let (pose, p0, _) = ends(start, w);
        let psi = *w * h;
        // Half the motion twice.
        let part = G::half(map, &psi, &G::increment(map, &psi));
        let middle = G::advance(&pose, &part);
        let load = start.body.load(T::of(start.t) + half, &middle, w);
        (G::advance(&middle, &part), G::pull(&part, &(G::pull(&part, &p0) + load * h)))
    }
}

impl Rule for MeanOfEnds {
    const LOADED: bool = true;
    #[inline(always)]
    fn step<M: Map, S: Real, G: Group, L: Load<S>, T: Over<S>>(
        &self,
        map: M,
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> (G::Pose<T>, G::Vector<T>) {
        let (h, half) = (T::of(start.h), T::of(start.h * S::lift(0.5)));
        let (pose, p0, end) = ends(start, w);
        let step = G::increment(map, &(*w * h));
        let pose = G::advance(&pose, &step);
        let load = start.end_load(&pose, &end);
        let kick = lift::<S, T, _, G::Vector<T>>(&start.load) * half;
        (pose, G::pull(&step, &(p0 + kick)) + load * half)
    }
}

impl Rule for ByWork {
    #[inline(always)]
    fn step<M: Map, S: Real, G: Group, L: Load<S>, T: Over<S>>(
        &self,
        map: M,
        start: &Start<'_, S, G, L>,
        w: &G::Vector<T>,
    ) -> (G::Pose<T>, G::Vector<T>) {
        let h = T::of(start.h);
        let (pose, p0, end) = ends(start, w);
        let psi = *w * h;
        let step = G::increment(map, &psi);
        let next = G::advance(&pose, &step);
        let to = start.end_kinematics(&next, &end);
        let g = start.body.load.finite_derivative(&start.kinematics(), &to);
        (next, G::pull(&step, &(p0 + G::step_load(map, &psi, [&pose, &next], &g) * h)))
    }
}

/// The energy and momentum preserving scheme. The unknown is the mean velocity W; the kinetic energy changes by
/// h W·A, because the motion leaves its own W where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preserving<M, R> {
    pub(super) map: M,
    pub(super) load: R,
}

impl<M: Map, R: Rule> Preserving<M, R> {
    /// What is left of the equation, for the new momentum.
    #[inline(always)]
    fn left<S: Real, G: Group, L: Load<S>, T: Over<S>>(
        start: &Start<'_, S, G, L>,
        x: &G::Vector<T>,
        p1: &G::Vector<T>,
    ) -> G::Vector<T> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        // In this sequence little waits for the new momentum.
        (*x - lift::<S, T, _, G::Vector<T>>(&(start.velocity * S::lift(0.5))))
            - G::velocity(&inertia, p1) * T::lift(0.5)
    }
}

impl<S: Real, G: Group, L: Load<S>, M: Map, R: Rule> Scheme<S, G, L> for Preserving<M, R> {
    type Unknown = One;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        R::LOADED
    }
    #[inline(always)]
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        mean(start, end_velocity)
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> G::Vector<T> {
        Self::left(start, x, &self.load.step(self.map, start, x).1)
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Vector<T>) -> State<T, G> {
        let (pose, momentum) = self.load.step(self.map, start, x);
        State { pose, momentum }
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
    /// 1 - h/2 M⁻¹ G(y) H(-Q).
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>, j: usize) -> Option<G::Vector<S>> {
        Some(mean_tangent(self.map, start, x, j))
    }
    #[inline(always)]
    fn range(&self, start: &Start<'_, S, G, L>, x: &G::Vector<S>) -> Option<Range<S>> {
        Some(Range::new(self.map, turned::<S, G>(&(*x * start.h))))
    }
}

/// A step of the preserving scheme, with code of its own for each map: it is the fast one of the family.
#[inline(always)]
pub(super) fn preserving<S: Real, G: Group, L: Load<S>>(
    map: Vectorial,
    load: StepLoad,
    body: &Body<S, G, L>,
    state: &State<S, G>,
    t: S,
    h: S,
    work: &mut Work,
) -> Result<State<S, G>, StepError> {
    macro_rules! with {
        ($map:expr) => {
            match load {
                StepLoad::Midpoint => {
                    scheme::step(&Preserving { map: $map, load: AtMidpoint }, body, state, t, h, work)
                }
                _ => scheme::step(&Preserving { map: $map, load: MeanOfEnds }, body, state, t, h, work),
            }
        };
    }
    if load == StepLoad::FiniteDerivative {
        return scheme::step(&Preserving { map, load: ByWork }, body, state, t, h, work);
    }
    // Not for scalars with derivatives, which take long to compile and to run anyway.
    if S::DEPTH > 0 {
        return with!(map);
    }
    match (map.reading, map.kind) {
        (Reading::Dual, MapKind::Exponential) => with!(Exponential),
        (Reading::Dual, MapKind::EulerRodrigues) => with!(EulerRodrigues),
        (Reading::Dual, MapKind::Cayley) => with!(Cayley),
        (Reading::Dual, MapKind::WienerMilenkovic) => with!(WienerMilenkovic),
        _ => with!(map),
    }
}

/// The momentum preserving, energy decaying scheme. The unknowns are the velocities V_f and V_j.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decaying {
    pub(super) map: Vectorial,
}

/// What a step of the decaying scheme leads to.
struct Branches<T: Real, G: Group> {
    /// From C_i to C_f.
    end: G::Increment<T>,
    /// P_f, in the body.
    momentum: G::Vector<T>,
    /// P_j, in the body.
    jump: G::Vector<T>,
}

impl Decaying {
    /// The parameters of both motions.
    #[inline(always)]
    fn parameters<G: Group, T: Real>(h: T, x: &G::Pair<T>) -> (G::Vector<T>, G::Vector<T>) {
        let (f, j) = G::split(x);
        ((f + j) * (h * T::lift(0.5)), (j - f) * (h * T::lift(1.0 / 6.0)))
    }
    #[inline(always)]
    fn step<S: Real, G: Group, L: Load<S>, T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &G::Pair<T>,
    ) -> Branches<T, G> {
        let (vf, vj) = G::split(x);
        let h = T::of(start.h);
        let (p0, pose) =
            (lift::<S, T, _, G::Vector<T>>(&start.state.momentum), G::lift_pose(&start.state.pose));
        let (qf, qj) = Self::parameters::<G, T>(h, x);
        let (to_f, to_j) = (G::increment(self.map, &qf), G::increment(self.map, &qj));
        let af = start.end_load(&G::advance(&pose, &to_f), &vf);
        let at_j = G::advance(&pose, &to_j);
        let aj = start.body.load_inward((T::of(start.t), start.inward), &at_j, &vj);
        let (half, sixth) = (h * T::lift(0.5), h * T::lift(1.0 / 6.0));
        let momentum = G::pull(&to_f, &(p0 + G::push(&to_j, &aj) * half)) + af * half;
        let jump = G::pull(&to_j, &(p0 - G::push(&to_f, &af) * sixth)) + aj * sixth;
        Branches { end: to_f, momentum, jump }
    }
}

impl<S: Real, G: Group, L: Load<S>> Scheme<S, G, L> for Decaying {
    type Unknown = Two;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    #[inline(always)]
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> G::Pair<S> {
        G::join(end_velocity, &start.velocity)
    }
    #[inline(always)]
    fn residual<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Pair<T>) -> G::Pair<T> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let b = self.step(start, x);
        *x - G::join(&G::velocity(&inertia, &b.momentum), &G::velocity(&inertia, &b.jump))
    }
    #[inline(always)]
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Pair<T>) -> State<T, G> {
        let b = self.step(start, x);
        State { pose: start.advance(&b.end), momentum: b.momentum }
    }
    #[inline(always)]
    fn outcome<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &G::Pair<T>) -> Outcome<T, G, G::Pair<T>> {
        let inertia = G::lift_inertia::<S, T>(&start.body.inertia);
        let b = self.step(start, x);
        let ends = G::join(&G::velocity(&inertia, &b.momentum), &G::velocity(&inertia, &b.jump));
        let state = State { pose: start.advance(&b.end), momentum: b.momentum };
        Outcome { residual: *x - ends, state, carried: None }
    }
    /// Exact up to the loads, as for the preserving scheme.
    #[inline(always)]
    fn tangent(&self, start: &Start<'_, S, G, L>, x: &G::Pair<S>, j: usize) -> Option<G::Pair<S>> {
        let inertia = &start.body.inertia;
        let n = G::Vector::<S>::LEN;
        let (vf, vj) = G::split(x);
        let (qf, qj) = Self::parameters::<G, S>(start.h, x);
        let yf = G::momentum(inertia, &vf) - start.load * start.h;
        let yj = G::momentum(inertia, &vj);
        let slope = |q, y, share: f64| {
            let slope = G::pull_slope(self.map, q, y, j % n);
            G::velocity(inertia, &slope) * (start.h * S::lift(share))
        };
        let of_j = if j < n { -1.0 / 6.0 } else { 1.0 / 6.0 };
        Some(unit::<S, G::Pair<S>>(j) - G::join(&slope(&qf, &yf, 0.5), &slope(&qj, &yj, of_j)))
    }
    #[inline(always)]
    fn range(&self, start: &Start<'_, S, G, L>, x: &G::Pair<S>) -> Option<Range<S>> {
        let (qf, qj) = Self::parameters::<G, S>(start.h, x);
        Some(Range::new(self.map, turned::<S, G>(&qf).max(turned::<S, G>(&qj))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::scheme::probe::{Free, flying, tangent_gap, turning};
    use crate::method::scheme::solve;

    fn maps() -> impl Iterator<Item = Vectorial> {
        MapKind::ALL.into_iter().map(Vectorial::from)
    }

    #[test]
    fn newton_matrices_are_the_derivatives_of_the_residuals() {
        for map in maps() {
            for h in [0.02, 0.25] {
                let (one, other) = (turning(), flying());
                let midpoint = Preserving { map, load: AtMidpoint };
                let mean = Preserving { map, load: MeanOfEnds };
                for gap in [
                    tangent_gap(|_| midpoint, &one, h),
                    tangent_gap(|_| mean, &one, h),
                    tangent_gap(|_| Decaying { map }, &one, h),
                    tangent_gap(|_| midpoint, &other, h),
                    tangent_gap(|_| mean, &other, h),
                    tangent_gap(|_| Decaying { map }, &other, h),
                ] {
                    assert!(gap < 4e-14, "{map:?}, h = {h}: {gap:e}");
                }
            }
        }
    }

    /// K_f - K_i + c² over K_i, with c² = (V_j - V_i)·M (V_j - V_i)/2, and with the c² that is printed,
    /// (V_j - V_f)·M (V_f - V_j)/2.
    fn decay<G: Group>(map: Vectorial, (body, state): &Free<G>, h: f64) -> [f64; 2] {
        let mut start = Start::new(body, state, 0.0, h);
        let x = solve(&Decaying { map }, &mut start, &mut Work::default()).unwrap();
        let (vf, vj) = G::split(&x);
        let end = Decaying { map }.finish(&start, &x);
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
