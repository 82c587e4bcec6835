//! What an implicit scheme says about itself: one evaluation of its equations, written once, generic in the scalar.

use crate::body::Dynamics;
use crate::body::{BodyAt, FiniteDerivative, Kinematics, LoadAt, Mechanics, State, inward};
use crate::group::{Coordinates, Map};
use crate::scalar::{Over, Real};
use crate::solve::StepError;

/// Where a step starts, at the scalar `T`: the body, its state, and what is worth computing once per step.
pub struct Start<'a, T: Real, G: Dynamics> {
    /// The body.
    pub body: Mechanics<'a, T, G>,
    /// Its state at `t`.
    pub state: &'a State<T, G>,
    /// Its body velocity at `t`.
    pub velocity: G::Vector<T>,
    /// The load at `t`, in body axes.
    pub load: G::Vector<T>,
    /// The accelerations at `t` that the scheme asks for, see [`Scheme::accelerations`]; zero if it asks for none.
    pub rates: Rates<T, G>,
    /// Time at the start of the step.
    pub t: T,
    /// Step size.
    pub h: T,
    /// See [`Kinematics::inward`], at the start of the step.
    pub inward: f64,
}

impl<T: Real, G: Dynamics> Clone for Start<'_, T, G> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Real, G: Dynamics> Copy for Start<'_, T, G> {}

/// Accelerations, seen from the body frame.
#[derive(Clone, Copy, Debug)]
pub struct Rates<T: Real, G: Dynamics> {
    /// The rate V̇ of the body velocity.
    pub velocity: G::Vector<T>,
    /// The acceleration of the scheme's own, where that is another one.
    pub algorithmic: G::Vector<T>,
}

impl<T: Real, G: Dynamics> Rates<T, G> {
    /// None.
    #[inline(always)]
    pub fn zero() -> Self {
        Rates { velocity: Coordinates::origin(), algorithmic: Coordinates::origin() }
    }
}

impl<'a, T: Real, G: Dynamics> Start<'a, T, G> {
    /// Collects what a step from `state` needs.
    #[inline(always)]
    pub fn new(body: &'a dyn BodyAt<T, G>, state: &'a State<T, G>, t: T, h: T) -> Self {
        let start = Start::unloaded(body, state, t, h);
        Start { load: start.start_load(&state.pose, &start.velocity), ..start }
    }
    /// The same behind another part of the step, with the load that this one found at its end where that acts here too.
    #[inline(always)]
    pub(super) fn behind(
        body: &'a dyn BodyAt<T, G>,
        state: &'a State<T, G>,
        t: T,
        h: T,
        found: Option<Found<T, G>>,
    ) -> Self {
        match found {
            Some(found) if found.t == t && found.pose == state.pose => {
                Start { load: found.load, ..Start::unloaded(body, state, t, h) }
            }
            _ => Start::new(body, state, t, h),
        }
    }
    /// The same for equations without the load at the start, which is left out.
    #[inline(always)]
    pub(super) fn unloaded(body: &'a dyn BodyAt<T, G>, state: &'a State<T, G>, t: T, h: T) -> Self {
        let body = body.mechanics();
        let velocity = body.velocity(&state.momentum);
        Start {
            body,
            state,
            velocity,
            load: Coordinates::origin(),
            rates: Rates::zero(),
            t,
            h,
            inward: inward(t, h),
        }
    }
    /// The accelerations of the equations of motion.
    #[inline(always)]
    pub fn fresh_rates(&self) -> Rates<T, G> {
        let rate = self.body.velocity(&(G::transport(&self.velocity, &self.state.momentum) + self.load));
        Rates { velocity: rate, algorithmic: rate }
    }
    /// The mean of the velocity at the start and one at the end.
    #[inline(always)]
    pub fn mean(&self, end_velocity: &G::Vector<T>) -> G::Vector<T> {
        (self.velocity + *end_velocity).scaled(T::lift(0.5))
    }
    /// The load at the start of the step.
    #[inline(always)]
    pub fn start_load(&self, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> G::Vector<T> {
        self.body.load((self.t, self.inward), pose, velocity)
    }
    /// The load at half time.
    #[inline(always)]
    pub fn middle_load(&self, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> G::Vector<T> {
        self.body.load((self.t + self.h * T::lift(0.5), 0.0), pose, velocity)
    }
    /// The load at the end of the step.
    #[inline(always)]
    pub fn end_load(&self, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> G::Vector<T> {
        self.body.load((self.t + self.h, -self.inward), pose, velocity)
    }
    /// What stands for the gradient of the potential over the step to this pose, see
    /// [`Load::finite_derivative`](crate::body::Load::finite_derivative).
    #[inline(always)]
    pub fn finite_derivative(&self, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> FiniteDerivative<T> {
        let from = G::kinematics(self.t, &self.state.pose, &self.velocity);
        let from = Kinematics { inward: self.inward, ..from };
        let to = Kinematics { inward: -self.inward, ..G::kinematics(self.t + self.h, pose, velocity) };
        self.body.loads.finite_derivative_at(&from, &to)
    }
    /// The pose that the increment leads to.
    #[inline(always)]
    pub fn advance(&self, increment: &G::Increment<T>) -> G::Pose<T> {
        G::advance(&self.state.pose, increment)
    }
}

/// The load at the end of a part of a step, with the time and the pose that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<T: Real, G: Dynamics> {
    t: T,
    pose: G::Pose<T>,
    load: G::Vector<T>,
}

/// What a part of a step leaves to the next one.
#[derive(Debug)]
pub(super) struct Handover<T: Real, G: Dynamics> {
    found: Option<Found<T, G>>,
    /// True if there is a next one.
    pub(super) goes_on: bool,
}

impl<T: Real, G: Dynamics> Handover<T, G> {
    /// Nothing yet.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Handover { found: None, goes_on: false }
    }
    /// What the part before has left.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<Found<T, G>> {
        self.found.take()
    }
    /// Keeps what the equations of a part say of the load at its end, if it acts at the start of the next part too.
    #[inline(always)]
    pub(super) fn keep<X>(&mut self, start: &Start<'_, T, G>, end: &Outcome<T, G, X>) {
        if let (true, Some(load)) = (self.goes_on, end.load)
            && start.body.loads.is_field()
        {
            self.found = Some(Found { t: start.t + start.h, pose: end.state.pose, load });
        }
    }
}

/// The numbers of a [`Start`] as constants of a richer scalar.
pub(super) struct Lifted<T: Real, G: Dynamics> {
    inertia: G::Inertia<T>,
    state: State<T, G>,
}

impl<T: Real, G: Dynamics> Lifted<T, G> {
    #[inline(always)]
    pub(super) fn new<S: Real>(start: &Start<'_, S, G>) -> Self
    where
        T: Over<S>,
    {
        Lifted { inertia: G::lift_inertia(start.body.inertia), state: start.state.lift() }
    }
    /// The same start, with the loads at the scalar `T`.
    #[inline(always)]
    pub(super) fn start<'a, S: Real>(
        &'a self,
        start: &Start<'_, S, G>,
        loads: &'a dyn LoadAt<T>,
    ) -> Start<'a, T, G>
    where
        T: Over<S>,
    {
        let lift = |v: &G::Vector<S>| crate::group::lift::<S, T, _, G::Vector<T>>(v);
        Start {
            body: Mechanics { inertia: &self.inertia, loads },
            state: &self.state,
            velocity: lift(&start.velocity),
            load: lift(&start.load),
            rates: Rates {
                velocity: lift(&start.rates.velocity),
                algorithmic: lift(&start.rates.algorithmic),
            },
            t: T::of(start.t),
            h: T::of(start.h),
            inward: start.inward,
        }
    }
}

/// What a scheme solves for.
pub trait Unknown: 'static {
    /// All of it in one.
    type Of<G: Dynamics, T: Real>: Coordinates<T>;
    /// Something for each pass over its derivatives, see [`Jet`](crate::group::Jet), and perhaps for some more.
    type Passes<P: Copy>: Copy + AsRef<[P]> + AsMut<[P]>;
    /// The same for all.
    fn passes<P: Copy>(same: P) -> Self::Passes<P>;
    /// Its size in rad/s, see [`crate::body::Dynamics::size`].
    fn size<G: Dynamics, T: Real>(length: T, x: &Self::Of<G, T>) -> T;
    /// What each coordinate counts in that.
    fn weights<G: Dynamics, T: Real>(length: T) -> Self::Of<G, T>;
}

/// One velocity.
#[derive(Clone, Copy, Debug)]
pub struct One;
/// Two velocities.
#[derive(Clone, Copy, Debug)]
pub struct Two;

impl Unknown for One {
    type Of<G: Dynamics, T: Real> = G::Vector<T>;
    type Passes<P: Copy> = [P; 2];
    fn passes<P: Copy>(same: P) -> [P; 2] {
        [same; 2]
    }
    #[inline(always)]
    fn size<G: Dynamics, T: Real>(length: T, x: &G::Vector<T>) -> T {
        G::size(length, x)
    }
    #[inline(always)]
    fn weights<G: Dynamics, T: Real>(length: T) -> G::Vector<T> {
        G::weights(length)
    }
}
impl Unknown for Two {
    type Of<G: Dynamics, T: Real> = G::Pair<T>;
    type Passes<P: Copy> = [P; 4];
    fn passes<P: Copy>(same: P) -> [P; 4] {
        [same; 4]
    }
    #[inline(always)]
    fn size<G: Dynamics, T: Real>(length: T, x: &G::Pair<T>) -> T {
        let (a, b) = G::split(x);
        G::size(length, &a) + G::size(length, &b)
    }
    #[inline(always)]
    fn weights<G: Dynamics, T: Real>(length: T) -> G::Pair<T> {
        G::join(&G::weights(length), &G::weights(length))
    }
}

/// The unknowns of a scheme on the group `G` at the scalar `T`.
pub type Of<E, G, T> = <<E as Scheme>::Unknown as Unknown>::Of<G, T>;

/// What the equations of a step say of some value of the unknown.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<T: Real, G: Dynamics, X> {
    /// The defect of the equations: zero at the solution.
    pub residual: X,
    /// The state at the end of the step.
    pub state: State<T, G>,
    /// The accelerations that the scheme carries to the next step.
    pub carried: Option<Rates<T, G>>,
    /// The load in this state, where the equations ask for it.
    pub load: Option<G::Vector<T>>,
}

impl<T: Real, G: Dynamics, X> Outcome<T, G, X> {
    /// Of a scheme that carries nothing but the state.
    #[inline(always)]
    pub fn new(residual: X, pose: G::Pose<T>, momentum: G::Vector<T>) -> Self {
        Outcome { residual, state: State { pose, momentum }, carried: None, load: None }
    }
    /// The same with the load at the end of the step, as [`Start::end_load`] gives it for the pose there.
    #[inline(always)]
    pub fn under(self, load: G::Vector<T>) -> Self {
        Outcome { load: Some(load), ..self }
    }
}

/// What a scheme says of its unknowns, on the group `G` at the scalar `T`.
pub(super) type Said<E, G, T> = Outcome<T, G, Of<E, G, T>>;

/// The accelerations that a scheme wants at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerations {
    /// None.
    Unused,
    /// Those of the equations of motion.
    Fresh,
    /// Those that the step before ended with, and of the equations of motion at the start of a run.
    Carried,
}

/// An implicit one-step scheme with unknowns of the kind of a velocity: one evaluation of its equations, from which
/// Newton's method, the new state, what is carried and all derivatives follow. The residual is meant to be close to the
/// identity in `x` (a fixed-point form), which scales the system.
///
/// A scheme of one's own becomes a method by [`Method::from_scheme`](super::Method::from_scheme):
///
/// ```
/// use polhode::body::Dynamics;
/// use polhode::group::{Exponential, Group};
/// use polhode::method::{Method, One, Outcome, Scheme, SchemeFacts, Start};
/// use polhode::problem::Problem;
/// use polhode::run::Plan;
/// use polhode::scalar::Real;
///
/// /// The midpoint rule in the exponential map, with the load at half time: P₁ = exp[-hW] P₀ + h exp[-hW/2] T.
/// #[derive(Debug)]
/// struct Midpoint;
///
/// impl Scheme for Midpoint {
///     type Unknown = One;
///     fn guess<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
///         s.mean(end_velocity)
///     }
///     fn equations<T: Real, G: Dynamics>(
///         &self,
///         s: &Start<'_, T, G>,
///         w: &G::Vector<T>,
///     ) -> Outcome<T, G, G::Vector<T>> {
///         let half = G::increment(Exponential, &(*w * (s.h * T::lift(0.5))));
///         let middle = s.advance(&half);
///         let kick = s.middle_load(&middle, w) * s.h;
///         let momentum = G::pull(&half, &(G::pull(&half, &s.state.momentum) + kick));
///         Outcome::new(*w - s.mean(&s.body.velocity(&momentum)), G::advance(&middle, &half), momentum)
///     }
/// }
///
/// let facts = SchemeFacts { id: "my-midpoint", title: "midpoint rule", order: 2, symmetric: true, ..Default::default() };
/// let mine = Method::from_scheme(facts, Midpoint);
/// let (model, plan) = (Problem::named("fast-top")?.model()?, Plan::new(1e-3, 0.1)?);
/// let end = |method: &Method| {
///     model.run(method, &plan, &mut |_, _| core::ops::ControlFlow::Continue(())).map(|end| end.last)
/// };
/// // It is the library's swc1, step by step.
/// let gap = end(&mine)?.bodies[0].momentum_body - end(&Method::parse("swc1")?)?.bodies[0].momentum_body;
/// assert!(gap.norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Scheme {
    /// [`One`] velocity, or [`Two`].
    type Unknown: Unknown;
    /// True if every solution gets a last correction: for unknowns so many that round-off in one of them hides behind the
    /// others.
    const POLISHED: bool = false;
    /// True if all of the equations is inlined, into registers of any width.
    const IN_PLACE: bool = false;
    /// The unknown, given a guess of the velocity at the end of the step.
    fn guess<S: Real, G: Dynamics>(
        &self,
        start: &Start<'_, S, G>,
        end_velocity: &G::Vector<S>,
    ) -> Of<Self, G, S>;
    /// The unknown for which the body stays where it is.
    #[inline(always)]
    fn rest<S: Real, G: Dynamics>(&self, _start: &Start<'_, S, G>) -> Of<Self, G, S> {
        Coordinates::origin()
    }
    /// The equations of the step.
    fn equations<T: Real, G: Dynamics>(
        &self,
        start: &Start<'_, T, G>,
        x: &Of<Self, G, T>,
    ) -> Outcome<T, G, Of<Self, G, T>>;
    /// True if the load at the start of the step is in the equations, not only in the guess.
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        true
    }
    /// Which accelerations at the start of the step are in the equations.
    #[inline(always)]
    fn accelerations(&self) -> Accelerations {
        Accelerations::Unused
    }
    /// A cheap approximation of the derivative of the residual at `x` with respect to x_j, for the first
    /// Jacobian of a step. Without one, the exact Jacobian by duals is used from the start.
    #[inline(always)]
    fn tangent<S: Real, G: Dynamics>(
        &self,
        _start: &Start<'_, S, G>,
        _x: &Of<Self, G, S>,
        _j: usize,
    ) -> Option<Of<Self, G, S>> {
        None
    }
    /// Where the parameters of the step are in the range of their map.
    #[inline(always)]
    fn range<S: Real, G: Dynamics>(&self, _start: &Start<'_, S, G>, _x: &Of<Self, G, S>) -> Option<Range<S>> {
        None
    }
}

/// Where the parameters of a step are in the range of their map.
#[derive(Clone, Copy, Debug)]
pub struct Range<S> {
    pub(super) map: &'static str,
    pub(super) limit: f64,
    pub(super) square: S,
}

impl<S: Real> Range<S> {
    /// The map, and the parameters.
    #[inline(always)]
    pub fn new<G: Dynamics>(map: impl Map, parameters: &G::Vector<S>) -> Self {
        let p = G::angular(parameters);
        Range { map: map.name(), limit: map.limit(), square: p.inner(&p) }
    }
    /// The error of a step whose parameters have left `part` of the range, if they have.
    #[cold]
    pub(super) fn error<G: Dynamics>(&self, start: &Start<'_, S, G>, part: f64) -> Option<StepError> {
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
