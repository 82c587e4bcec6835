//! What an implicit scheme says about itself, and how its equations meet Newton's method.

use super::mkrk;
use crate::body::{Body, Kinematics, Load, State, inward};
use crate::group::{Coordinates, Group, Jet, Map, lift, unit};
use crate::scalar::{Mask, Over, Real};
use crate::solve::{Equations, Factor, Rung, StepError, Work, newton};

/// Where a step starts: the body, its state, and what is worth computing once per step.
pub struct Start<'a, S: Real, G: Group, L> {
    /// The body.
    pub body: &'a Body<S, G, L>,
    /// Its state at `t`.
    pub state: &'a State<S, G>,
    /// Its body velocity at `t`.
    pub velocity: G::Vector<S>,
    /// The load at `t`, in body axes.
    pub load: G::Vector<S>,
    /// Time at the start of the step.
    pub t: S,
    /// Step size.
    pub h: S,
    /// See [`Kinematics::inward`], at the start of the step.
    pub inward: f64,
}

impl<S: Real, G: Group, L> Clone for Start<'_, S, G, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Real, G: Group, L> Copy for Start<'_, S, G, L> {}

impl<'a, S: Real, G: Group, L: Load<S>> Start<'a, S, G, L> {
    /// Collects what a step from `state` needs.
    #[inline(always)]
    pub fn new(body: &'a Body<S, G, L>, state: &'a State<S, G>, t: S, h: S) -> Self {
        let velocity = body.velocity(state);
        let inward = inward(t, h);
        let load = body.load_inward((t, inward), &state.pose, &velocity);
        Start { body, state, velocity, load, t, h, inward }
    }
    /// The same for equations without the load at the start, which is left out.
    #[inline(always)]
    pub(super) fn unloaded(body: &'a Body<S, G, L>, state: &'a State<S, G>, t: S, h: S) -> Self {
        Start {
            body,
            state,
            velocity: body.velocity(state),
            load: Coordinates::origin(),
            t,
            h,
            inward: inward(t, h),
        }
    }
    /// The load at the end of the step.
    #[inline(always)]
    pub fn end_load<T: Over<S>>(&self, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> G::Vector<T> {
        self.body.load_inward((T::of(self.t + self.h), -self.inward), pose, velocity)
    }
    /// What a load may know at the start of the step.
    #[inline(always)]
    pub fn kinematics<T: Over<S>>(&self) -> Kinematics<T> {
        let velocity = lift::<S, T, _, G::Vector<T>>(&self.velocity);
        let k = G::kinematics(T::of(self.t), &G::lift_pose(&self.state.pose), &velocity);
        Kinematics { inward: self.inward, ..k }
    }
    /// What a load may know at the end of the step.
    #[inline(always)]
    pub fn end_kinematics<T: Over<S>>(&self, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> Kinematics<T> {
        Kinematics { inward: -self.inward, ..G::kinematics(T::of(self.t + self.h), pose, velocity) }
    }
    /// The pose that the increment leads to.
    #[inline(always)]
    pub fn advance<T: Over<S>>(&self, increment: &G::Increment<T>) -> G::Pose<T> {
        G::advance(&G::lift_pose(&self.state.pose), increment)
    }
}

/// How many velocities a scheme solves for at once.
pub trait Unknown<G: Group>: 'static {
    /// All of them in one.
    type Of<S: Real>: Coordinates<S>;
    /// Their size in rad/s, see [`Group::size`].
    fn size<S: Real>(length: S, x: &Self::Of<S>) -> S;
}

/// One velocity.
#[derive(Clone, Copy, Debug)]
pub struct One;
/// Two velocities.
#[derive(Clone, Copy, Debug)]
pub struct Two;

impl<G: Group> Unknown<G> for One {
    type Of<S: Real> = G::Vector<S>;
    #[inline(always)]
    fn size<S: Real>(length: S, x: &G::Vector<S>) -> S {
        G::size(length, x)
    }
}
impl<G: Group> Unknown<G> for Two {
    type Of<S: Real> = G::Pair<S>;
    #[inline(always)]
    fn size<S: Real>(length: S, x: &G::Pair<S>) -> S {
        let (a, b) = G::split(x);
        G::size(length, &a) + G::size(length, &b)
    }
}

/// The unknowns of a scheme at the scalar `T`.
pub type Of<E, S, G, L, T> = <<E as Scheme<S, G, L>>::Unknown as Unknown<G>>::Of<T>;

/// The scalar that carries the derivatives with respect to all unknowns.
type AllSlopes<E, S, G, L> = <Of<E, S, G, L, S> as Coordinates<S>>::Jet;

/// What the equations of a step say of some value of the unknown.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<T: Real, G: Group, X> {
    /// What is left of the equations.
    pub residual: X,
    /// The state at the end of the step.
    pub state: State<T, G>,
    /// The accelerations that the scheme carries to the next step: the rate of the body velocity and its own.
    pub carried: Option<[G::Vector<T>; 2]>,
}

/// An implicit one-step scheme with unknowns of the kind of a velocity. The residual is written once, generic in
/// the scalar, and is meant to be close to the identity in `x` (a fixed-point form), which scales the system.
pub trait Scheme<S: Real, G: Group, L: Load<S>> {
    /// [`One`] velocity, or [`Two`].
    type Unknown: Unknown<G>;
    /// True if every solution gets a last correction: for unknowns so many that round-off in one of them hides behind the
    /// others.
    const POLISHED: bool = false;
    /// The unknown, given a guess of the velocity at the end of the step.
    fn guess(&self, start: &Start<'_, S, G, L>, end_velocity: &G::Vector<S>) -> Of<Self, S, G, L, S>;
    /// The unknown for which the body stays where it is.
    #[inline(always)]
    fn rest(&self, _start: &Start<'_, S, G, L>) -> Of<Self, S, G, L, S> {
        Coordinates::origin()
    }
    /// Zero at the solution.
    fn residual<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &Of<Self, S, G, L, T>,
    ) -> Of<Self, S, G, L, T>;
    /// The new state, from the solution.
    fn finish<T: Over<S>>(&self, start: &Start<'_, S, G, L>, x: &Of<Self, S, G, L, T>) -> State<T, G>;
    /// True if the load at the start of the step is in the equations, not only in the guess.
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        true
    }
    /// Residual and new state at once, for derivatives; a scheme may share what both need.
    #[inline(always)]
    fn outcome<T: Over<S>>(
        &self,
        start: &Start<'_, S, G, L>,
        x: &Of<Self, S, G, L, T>,
    ) -> Outcome<T, G, Of<Self, S, G, L, T>> {
        Outcome { residual: self.residual(start, x), state: self.finish(start, x), carried: None }
    }
    /// A cheap approximation of the derivative of the residual at `x` with respect to x_j, for the first
    /// Jacobian of a step. Without one, the exact Jacobian by duals is used from the start.
    #[inline(always)]
    fn tangent(
        &self,
        _start: &Start<'_, S, G, L>,
        _x: &Of<Self, S, G, L, S>,
        _j: usize,
    ) -> Option<Of<Self, S, G, L, S>> {
        None
    }
    /// Where the parameters of the step are in the range of their map.
    #[inline(always)]
    fn range(&self, _start: &Start<'_, S, G, L>, _x: &Of<Self, S, G, L, S>) -> Option<Range<S>> {
        None
    }
}

/// How much the equations of one body bend, at least, in a turn of one radian. The bound is there for corrections that
/// say nothing about the contraction, which it is far above: a sharp one would cost plain steps an iteration for the last
/// hundredths of an ulp.
pub(super) const CURVATURE: f64 = 0.05;

/// The equations of one step of a scheme, with the iterate.
struct Single<'a, 'b, S: Real, G: Group, L: Load<S>, E: Scheme<S, G, L>> {
    scheme: &'a E,
    start: &'a mut Start<'b, S, G, L>,
    whole: S,
    length: S,
    /// The size of the unknown and of the velocity at the start.
    size: S,
    /// Its reciprocal.
    per_size: S,
    /// The reciprocal of what corrections are compared with: the same, with the stiffness once it is known.
    per_scale: S,
    guess: Of<E, S, G, L, S>,
    x: Of<E, S, G, L, S>,
    residual: Of<E, S, G, L, S>,
    /// The sizes of all corrections since the Jacobian was formed.
    walked: S,
    factor: <Of<E, S, G, L, S> as Coordinates<S>>::Factor,
}

/// Solves a scheme for its unknown and returns the new state. A function of its own for each scheme, so that they
/// compile side by side.
#[inline(never)]
pub(super) fn step<S: Real, G: Group, L: Load<S>, E: Scheme<S, G, L>>(
    scheme: &E,
    body: &Body<S, G, L>,
    state: &State<S, G>,
    t: S,
    h: S,
    work: &mut Work,
) -> Result<State<S, G>, StepError> {
    let mut start = Start::new(body, state, t, h);
    let x = solve(scheme, &mut start, work)?;
    Ok(scheme.finish(&start, &x))
}

/// Solves a scheme for its unknown.
#[inline(always)]
pub(super) fn solve<S: Real, G: Group, L: Load<S>, E: Scheme<S, G, L>>(
    scheme: &E,
    start: &mut Start<'_, S, G, L>,
    work: &mut Work,
) -> Result<Of<E, S, G, L, S>, StepError> {
    let first = scheme.guess(start, &start.velocity);
    let mut single = Single {
        scheme,
        whole: start.h,
        length: G::length(&start.body.inertia, &start.velocity),
        size: S::one(),
        per_size: S::one(),
        per_scale: S::one(),
        guess: first,
        x: first,
        residual: first,
        walked: S::zero(),
        factor: Factor::empty(),
        start,
    };
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

/// Where the parameters of a step are in the range of their map.
#[derive(Clone, Copy, Debug)]
pub struct Range<S> {
    map: &'static str,
    limit: f64,
    square: S,
}

impl<S: Real> Range<S> {
    /// The map, and the squared length of its parameters.
    #[inline(always)]
    pub fn new(map: impl Map, square: S) -> Self {
        Range { map: map.name(), limit: map.limit(), square }
    }
    /// The error of a step whose parameters have left `part` of the range, if they have.
    #[cold]
    fn error<G: Group, L>(&self, start: &Start<'_, S, G, L>, part: f64) -> Option<StepError> {
        let at_start = (G::angular(&start.velocity) * start.h).length().largest();
        let angle = self.square.largest().sqrt().max(at_start);
        (angle.is_finite() && angle >= part * self.limit).then(|| StepError::MapLimit {
            t: start.t.largest(),
            h: start.h.largest(),
            map: self.map,
            angle,
            limit: self.limit,
        })
    }
}

impl<S: Real, G: Group, L: Load<S>, E: Scheme<S, G, L>> Single<'_, '_, S, G, L, E> {
    /// By duals; a function of its own, because it is large and has three callers.
    #[inline(never)]
    fn exact_jacobian(&mut self, lanes: S::Mask) {
        let seeds: Of<E, S, G, L, AllSlopes<E, S, G, L>> =
            Coordinates::generate(|i| Jet::seed(self.x.at(i), i));
        let slopes = self.scheme.residual(self.start, &seeds);
        // What the load does in the step when the body turns by one radian: its round-off is relative to that, also
        // where the body comes to rest and velocity and load vanish.
        let mut stiffness = S::zero();
        self.factor.refactor(lanes, |j| {
            let column: Of<E, S, G, L, S> = Coordinates::generate(|i| slopes.at(i).slope(j));
            stiffness += E::Unknown::size(self.length, &(column - unit(j)));
            column
        });
        // No more than for a turn of one radian in the step, whose own round-off no stiffness can undo.
        let stiffness = S::select(stiffness.below(S::one()), stiffness, S::one());
        let per_scale = (self.size + stiffness / self.start.h.abs()).recip();
        self.per_scale = S::select(lanes, per_scale, self.per_scale);
    }
}

impl<S: Real, G: Group, L: Load<S>, E: Scheme<S, G, L>> Equations<S> for Single<'_, '_, S, G, L, E> {
    const POLISHED: bool = E::POLISHED;
    #[inline(always)]
    fn guess(&mut self, rung: Rung, lanes: S::Mask) {
        let Start { body, state, velocity, load, t, h, .. } = self.start;
        let end = match rung {
            Rung::Quick => {
                let rate = G::transport(velocity, &state.momentum) + *load;
                *velocity + G::velocity(&body.inertia, &rate) * *h
            }
            Rung::Still | Rung::Rest => *velocity,
            _ => body.velocity(&mkrk::classical(body, state, *t, *h)),
        };
        let guess = match rung {
            Rung::Rest => self.scheme.rest(self.start),
            _ => self.scheme.guess(self.start, &end),
        };
        let size = E::Unknown::size(self.length, &guess)
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
        self.residual = self.scheme.residual::<S>(self.start, &self.x);
    }
    fn misfit(&self) -> S {
        E::Unknown::size(self.length, &self.residual)
    }
    #[inline(always)]
    fn linearize(&mut self, rung: Rung, lanes: S::Mask) {
        self.walked = S::select(lanes, S::zero(), self.walked);
        if rung == Rung::Quick {
            let column = |j: usize| self.scheme.tangent(self.start, &self.x, j);
            if let Some(first) = column(0) {
                self.factor.refactor(lanes, |j| if j == 0 { first } else { column(j).unwrap_or(first) });
                return;
            }
        }
        self.exact_jacobian(lanes);
    }
    #[inline(always)]
    fn correct(&mut self, lanes: S::Mask) -> S {
        let correction = self.factor.solve(&self.residual);
        self.x = Coordinates::choose(lanes, &(self.x - correction), &self.x);
        let size = E::Unknown::size(self.length, &correction);
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
        E::Unknown::size(self.length, &(self.x - self.guess)) * self.per_size
    }
    fn interval(&self) -> (S, S) {
        (self.start.t, self.whole)
    }
}

/// Free bodies to try schemes with, and how exact the tangent of a scheme is.
#[cfg(test)]
pub(super) mod probe {
    use super::*;
    use crate::body::{NoLoad, RotaryInertia, SpatialInertia};
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
    pub fn tangent_gap<G: Group, E: Scheme<f64, G, NoLoad>>(
        scheme: impl Fn(&Start<'_, f64, G, NoLoad>) -> E,
        (body, state): &Free<G>,
        h: f64,
    ) -> f64 {
        let mut start = Start::new(body, state, 0.0, h);
        let scheme = scheme(&start);
        let x = solve(&scheme, &mut start, &mut Work::default()).unwrap();
        type Slopes<E, G> = <Of<E, f64, G, NoLoad, f64> as Coordinates<f64>>::Jet;
        let seeds = Coordinates::<Slopes<E, G>>::generate(|i| Jet::seed(x.at(i), i));
        let slopes = scheme.residual::<Slopes<E, G>>(&start, &seeds);
        let mut gap = 0.0f64;
        for j in 0..Of::<E, f64, G, NoLoad, f64>::LEN {
            let column = scheme.tangent(&start, &x, j).unwrap();
            for i in 0..Of::<E, f64, G, NoLoad, f64>::LEN {
                gap = gap.max((column.at(i) - slopes.at(i).slope(j)).abs());
            }
        }
        gap
    }
}
