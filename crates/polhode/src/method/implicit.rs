//! How the equations of a scheme meet Newton's method.

use super::memory::Memory;
use super::mkrk;
use super::scheme::{Accelerations, Found, Handover, Lifted, Of, Rates, Said, Scheme, Start, Unknown};
use crate::body::Dynamics;
use crate::body::{AnyBody, State};
use crate::group::{Coordinates, Jet, seeded, unit};
use crate::scalar::{Mask, Real};
use crate::solve::{Columns, Equations, Factor, Rung, StepError, Work, at_once, newton};

/// How much the equations of one body bend, at least, in a turn of one radian. The bound is there for corrections that
/// say nothing about the contraction, which it is far above: a sharp one would cost plain steps an iteration for the last
/// hundredths of an ulp.
pub(super) const CURVATURE: f64 = 0.05;

/// The equations of one step of a scheme, with the iterate.
struct Single<'a, 'b, S: Real, G: Dynamics, E: Scheme> {
    scheme: &'a E,
    body: &'b dyn AnyBody<S, G>,
    start: &'a mut Start<'b, S, G>,
    whole: S,
    length: S,
    /// The size of the unknown and of the velocity at the start.
    size: S,
    /// Its reciprocal.
    per_size: S,
    /// The reciprocal of what corrections are compared with: the same, with the stiffness once it is known.
    per_scale: S,
    guess: Of<E, G, S>,
    x: Of<E, G, S>,
    residual: Of<E, G, S>,
    /// The sizes of all corrections since the Jacobian was formed.
    walked: S,
    factor: <Of<E, G, S> as Coordinates<S>>::Factor,
}

/// What every scheme can do by its equations. Functions of a trait, because the compiler puts those into the unit of the
/// module that the scheme is in: schemes compile side by side, and a change of one compiles that one.
pub(super) trait Solved: Scheme + Sized {
    /// Solves for the unknown and returns the new state; accelerations that the scheme carries wait in the memory until they
    /// are kept.
    #[inline(never)]
    fn step<S: Real, G: Dynamics>(
        &self,
        body: &dyn AnyBody<S, G>,
        state: &State<S, G>,
        interval: (S, S),
        memory: &mut Memory<S, G, Rates<S, G>>,
        handover: &mut Handover<S, G>,
        work: &mut Work,
    ) -> Result<State<S, G>, StepError> {
        let rates = |start: &Start<'_, S, G>| memory.at(state, || start.fresh_rates());
        let mut start = begin(self, body, state, interval, handover.take(), rates);
        let x = self.solution(body, &mut start, work)?;
        let end = self.equations(&start, &x);
        handover.keep(&start, &end);
        if let Some(carried) = end.carried {
            memory.set(carried);
        }
        Ok(end.state)
    }

    /// Solves for the unknown. A function of its own, because plain steps and those with derivatives share it.
    #[inline(never)]
    fn solution<'a, S: Real, G: Dynamics>(
        &self,
        body: &'a dyn AnyBody<S, G>,
        start: &mut Start<'a, S, G>,
        work: &mut Work,
    ) -> Result<Of<Self, G, S>, StepError> {
        solve(self, body, start, work)
    }

    /// What the equations say at `x`, with the derivatives with respect to three of the unknowns, those of this pass. A
    /// function of its own, because it is large, and Newton's method and the derivatives of a step both need it.
    #[inline(never)]
    fn slopes<S: Real, G: Dynamics>(
        &self,
        body: &dyn AnyBody<S, G>,
        start: &Start<'_, S, G>,
        x: &Of<Self, G, S>,
        pass: usize,
    ) -> Said<Self, G, Jet<S>> {
        let seeds: Of<Self, G, Jet<S>> = seeded(x, pass);
        let lifted = Lifted::<Jet<S>, G>::new(start);
        self.said(&lifted.start(start, body.with_slopes()), &seeds)
    }

    /// What the equations say. A function of its own in numbers with derivatives, because Newton's method and the derivatives
    /// of a step both ask for it.
    #[inline(never)]
    fn said<T: Real, G: Dynamics>(&self, start: &Start<'_, T, G>, x: &Of<Self, G, T>) -> Said<Self, G, T> {
        self.equations(start, x)
    }
}

impl<E: Scheme> Solved for E {}

/// The start of a step with the accelerations that the scheme asks for.
#[inline(always)]
pub(super) fn begin<'a, S: Real, G: Dynamics, E: Scheme>(
    scheme: &E,
    body: &'a dyn AnyBody<S, G>,
    state: &'a State<S, G>,
    (t, h): (S, S),
    found: Option<Found<S, G>>,
    carried: impl FnOnce(&Start<'_, S, G>) -> Rates<S, G>,
) -> Start<'a, S, G> {
    let start = Start::behind(body, state, t, h, found);
    match scheme.accelerations() {
        Accelerations::Unused => start,
        Accelerations::Fresh => Start { rates: start.fresh_rates(), ..start },
        Accelerations::Carried => Start { rates: carried(&start), ..start },
    }
}

impl<'a, 'b, S: Real, G: Dynamics, E: Scheme> Single<'a, 'b, S, G, E> {
    #[inline(always)]
    fn new(scheme: &'a E, body: &'b dyn AnyBody<S, G>, start: &'a mut Start<'b, S, G>) -> Self {
        let first = scheme.guess(start, &start.velocity);
        Single {
            scheme,
            body,
            whole: start.h,
            length: G::length(start.body.inertia, &start.velocity),
            size: S::one(),
            per_size: S::one(),
            per_scale: S::one(),
            guess: first,
            x: first,
            residual: first,
            walked: S::zero(),
            factor: Factor::empty(),
            start,
        }
    }
}

/// The new state of a scheme that carries nothing, if its equations are solved at once in all lanes.
#[inline(always)]
pub(super) fn step_at_once<S: Real, G: Dynamics, E: Scheme>(
    scheme: &E,
    body: &dyn AnyBody<S, G>,
    state: &State<S, G>,
    (t, h): (S, S),
    handover: &mut Handover<S, G>,
    work: &mut Work,
) -> Option<State<S, G>> {
    let mut start = Start::behind(body, state, t, h, handover.take());
    let mut single = Single::new(scheme, body, &mut start);
    if !at_once(&mut single, work) {
        return None;
    }
    let x = single.x;
    let end = scheme.equations(&start, &x);
    handover.keep(&start, &end);
    Some(end.state)
}

/// Solves a scheme for its unknown.
#[inline(always)]
pub(super) fn solve<'a, S: Real, G: Dynamics, E: Scheme>(
    scheme: &E,
    body: &'a dyn AnyBody<S, G>,
    start: &mut Start<'a, S, G>,
    work: &mut Work,
) -> Result<Of<E, G, S>, StepError> {
    let mut single = Single::new(scheme, body, start);
    let before = work.iterations;
    let solved = newton(&mut single, work);
    let (x, guess) = (single.x, single.guess);
    if let Some(range) = scheme.range(start, &x) {
        solved.map_err(|error| match scheme.range(start, &guess) {
            Some(range) => range.error(start, 0.8).filter(|limit| !limit.is_astray()).unwrap_or(error),
            None => error,
        })?;
        // A parameter that is not a number is no less wrong.
        if !range.square.below(S::lift(range.limit * range.limit * AT_LIMIT)).all() {
            let error = range.error(start, AT_LIMIT);
            return error.map_or(Ok(x), |error| Err(error.unless_astray(work.iterations - before)));
        }
        return Ok(x);
    }
    solved.map(|()| x)
}

/// The end of the range of a map, with what round-off may take from it.
const AT_LIMIT: f64 = 1.0 - 1e-12;

impl<S: Real, G: Dynamics, E: Scheme> Single<'_, '_, S, G, E> {
    /// By duals.
    #[inline(never)]
    fn exact_jacobian(&mut self, lanes: S::Mask) {
        let (scheme, body, start, x) = (self.scheme, self.body, &*self.start, &self.x);
        let of_pass = |pass: usize| -> Of<E, G, Jet<S>> { scheme.slopes(body, start, x, pass).residual };
        let mut slopes = of_pass(0);
        // What the load does in the step when the body turns by one radian: its round-off is relative to that, also
        // where the body comes to rest and velocity and load vanish.
        let mut stiffness = S::zero();
        self.factor.refactor_weighted(lanes, E::Unknown::weights::<G, S>(self.length), |j| {
            if j > 0 && j % 3 == 0 {
                slopes = of_pass(j / 3);
            }
            let column: Of<E, G, S> =
                Coordinates::generate(|i| Coordinates::<Jet<S>>::at(&slopes, i).eps[j % 3]);
            stiffness += E::Unknown::size::<G, S>(self.length, &(column - unit(j)));
            column
        });
        // No more than for a turn of one radian in the step, whose own round-off no stiffness can undo.
        let stiffness = S::select(stiffness.below(S::one()), stiffness, S::one());
        let per_scale = (self.size + stiffness / self.start.h.abs()).recip();
        self.per_scale = S::select(lanes, per_scale, self.per_scale);
    }
}

/// The columns of the cheap Jacobian.
struct Tangent<'a, 'b, S: Real, G: Dynamics, E: Scheme> {
    scheme: &'a E,
    start: &'a Start<'b, S, G>,
    x: &'a Of<E, G, S>,
    first: Of<E, G, S>,
}

impl<S: Real, G: Dynamics, E: Scheme> Columns<Of<E, G, S>> for Tangent<'_, '_, S, G, E> {
    #[inline(always)]
    fn column(&mut self, j: usize) -> Of<E, G, S> {
        if j == 0 { self.first } else { self.scheme.tangent(self.start, self.x, j).unwrap_or(self.first) }
    }
}

impl<S: Real, G: Dynamics, E: Scheme> Equations<S> for Single<'_, '_, S, G, E> {
    #[inline(always)]
    fn is_polished(&self) -> bool {
        E::POLISHED
    }
    #[inline(always)]
    fn guess(&mut self, rung: Rung, lanes: S::Mask) {
        let Start { body, state, velocity, load, t, h, .. } = self.start;
        let end = match rung {
            Rung::Quick => {
                let rate = G::transport(velocity, &state.momentum) + *load;
                *velocity + body.velocity(&rate) * *h
            }
            Rung::NoAcceleration | Rung::NoMotion => *velocity,
            _ => body.velocity(&mkrk::classical(body, state, *t, *h).momentum),
        };
        let guess = match rung {
            Rung::NoMotion => self.scheme.rest(self.start),
            _ => self.scheme.guess(self.start, &end),
        };
        let size = E::Unknown::size::<G, S>(self.length, &guess)
            + G::size(self.length, &self.start.velocity)
            + S::lift(f64::MIN_POSITIVE);
        self.size = S::select(lanes, size, self.size);
        self.guess = Coordinates::choose(lanes, &guess, &self.guess);
        self.x = Coordinates::choose(lanes, &guess, &self.x);
        self.per_size = S::select(lanes, size.recip(), self.per_size);
        self.per_scale = S::select(lanes, self.per_size, self.per_scale);
    }
    fn shorten(&mut self, fraction: f64) {
        self.start.h = self.whole * S::lift(fraction);
    }
    #[inline(always)]
    fn residual(&mut self) {
        self.residual = self.scheme.equations(self.start, &self.x).residual;
    }
    fn misfit(&self) -> S {
        E::Unknown::size::<G, S>(self.length, &self.residual)
    }
    #[inline(always)]
    fn linearize(&mut self, _rung: Rung, lanes: S::Mask) {
        self.walked = S::select(lanes, S::zero(), self.walked);
        self.exact_jacobian(lanes);
    }
    #[inline(always)]
    fn linearize_cheaply(&mut self, lanes: S::Mask) -> bool {
        let Some(first) = self.scheme.tangent(self.start, &self.x, 0) else { return false };
        let tangent = Tangent { scheme: self.scheme, start: self.start, x: &self.x, first };
        self.factor.refactor_weighted(lanes, E::Unknown::weights::<G, S>(self.length), tangent);
        self.walked = S::select(lanes, S::zero(), self.walked);
        true
    }
    #[inline(always)]
    fn correct(&mut self, lanes: S::Mask) -> S {
        let correction = self.factor.solve(&self.residual);
        self.x = Coordinates::choose(lanes, &(self.x - correction), &self.x);
        let size = E::Unknown::size::<G, S>(self.length, &correction);
        self.walked += size;
        size * self.per_scale
    }
    #[inline(always)]
    fn distance_from_jacobian(&self) -> S {
        // What is polished takes one correction more anyway.
        if E::POLISHED { S::zero() } else { self.walked * self.start.h.abs() * S::lift(CURVATURE) }
    }
    #[inline(always)]
    fn moved(&self) -> S {
        // Not with the stiffness: of a small swing on a stiff spring every root is near.
        E::Unknown::size::<G, S>(self.length, &(self.x - self.guess)) * self.per_size
    }
    fn interval(&self) -> (S, S) {
        (self.start.t, self.whole)
    }
}

/// Free bodies to try schemes with, and how exact the tangent of a scheme is.
#[cfg(test)]
pub(super) mod probe {
    use super::*;
    use crate::body::{Body, NoLoad, RotaryInertia, SpatialInertia};
    use crate::group::Group;
    use crate::group::{Rotation, Se3, So3};
    use nalgebra::{Matrix3, Vector3};

    pub type Free<G> = (Body<f64, G, NoLoad>, State<f64, G>);

    fn tensor() -> Matrix3<f64> {
        Matrix3::new(1.25, 0.2, -0.1, 0.2, 1.56, 0.15, -0.1, 0.15, 2.2)
    }
    pub fn turning() -> Free<So3> {
        let body = Body { inertia: RotaryInertia::about_fixed_point(tensor()).unwrap(), load: NoLoad };
        let start = body.state(Rotation::identity(), &Vector3::new(2.0, -3.0, 4.0));
        (body, start)
    }
    pub fn flying() -> Free<Se3> {
        let inertia = SpatialInertia::new(6.0, Vector3::new(0.25, -0.03, 0.12), tensor()).unwrap();
        let body = Body { inertia, load: NoLoad };
        let velocity = Se3::vector(&Vector3::new(0.5, 0.1, -0.3), &Vector3::new(2.0, -3.0, 4.0));
        let start = body.state(Se3::identity(), &velocity);
        (body, start)
    }

    /// The largest difference of the tangent and the derivative by duals, at the solution.
    pub fn tangent_gap<G: Dynamics, E: Scheme>(scheme: E, (body, state): &Free<G>, h: f64) -> f64 {
        let mut start = begin(&scheme, body, state, (0.0, h), None, |start| start.fresh_rates());
        let x = solve(&scheme, body, &mut start, &mut Work::default()).unwrap();
        let mut gap = 0.0f64;
        for j in 0..Of::<E, G, f64>::LEN {
            let slopes: Of<E, G, Jet<f64>> = scheme.slopes(body, &start, &x, j / 3).residual;
            let column = scheme.tangent(&start, &x, j).unwrap();
            for i in 0..Of::<E, G, f64>::LEN {
                gap = gap.max((column.at(i) - slopes.at(i).eps[j % 3]).abs());
            }
        }
        gap
    }
}
