//! Directions of derivatives that are worked on together: bodies and states with one derivative each, in numbers that have several.

use super::fan::{Dual1, Fan};
use crate::body::{Acting, Body, BodyAt, Dynamics, FiniteDerivative, Kinematics, Load, Loads, State, Wrench};
use crate::group::{Coordinates, Group, Jet, Rotation};
use crate::method::scheme::Rates;
use crate::scalar::four::{Four, run};
use crate::scalar::{Dual, Over, Real, Task};
use crate::solve::StepError;
use core::any::Any;
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// A body with derivatives, whatever acts on it.
pub(super) type AnyVaried<G> = dyn BodyAt<Dual1, G> + Send + Sync;

/// Bodies with derivatives as one.
pub(super) type Varied<G, D> = Body<D, G, Acting<D, Each<G>>>;

/// As many directions as such numbers have, or less: then the last ones are worked on in vain.
#[derive(Clone)]
pub(super) struct Directions<G: Dynamics, D: Fan> {
    pub(super) body: Arc<Varied<G, D>>,
    /// After the last step, and in the step under way.
    pub(super) state: State<D, G>,
    pub(super) next: State<D, G>,
    /// Accelerations that are carried, of both.
    pub(super) rates: Rates<D, G>,
    pub(super) next_rates: Rates<D, G>,
    /// For the stages of a tableau: F of each, and the right-hand side of their equations.
    pub(super) f: Vec<G::Pair<D>>,
    pub(super) right: Vec<D>,
}

/// All directions: four at a time where this processor has them in one register and all that is done is inlined whole, three at a
/// time elsewhere.
#[derive(Clone, Debug)]
pub(super) struct All<G: Dynamics> {
    count: usize,
    fours: Vec<Directions<G, Dual<Four, 1>>>,
    threes: Vec<Directions<G, Jet<f64>>>,
}

/// What is done with all directions.
pub(super) trait Act<G: Dynamics> {
    /// True if it is inlined whole.
    const IN_PLACE: bool;
    /// Does it. Inlined always.
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError>;
}

/// A body with a derivative, and its state.
type Pair<G, L> = (Body<Dual1, G, L>, State<Dual1, G>);

impl<G: Dynamics> All<G> {
    /// Of bodies and their states, with the values of this state; how many stages and equations need room; and whether all
    /// that is done is inlined whole.
    pub(super) fn new<L: Load<Dual1> + Send + Sync + 'static>(
        varied: Vec<Pair<G, L>>,
        start: &State<f64, G>,
        room: [usize; 2],
        in_place: bool,
    ) -> Self {
        let (count, mut left) = (varied.len(), varied);
        let fours = if in_place { run(Beginning { left: &mut left, start, room }) } else { None };
        All { count, fours: fours.unwrap_or_default(), threes: grouped(&mut left, start, room) }
    }
    /// The state of one direction.
    pub(super) fn varied(&self, direction: usize) -> Option<State<Dual1, G>> {
        if direction >= self.count {
            return None;
        }
        one_of(&self.fours, direction).or_else(|| one_of(&self.threes, direction))
    }
    /// Does something with each.
    #[inline(always)]
    pub(super) fn each<A: Act<G>>(&mut self, act: &A) -> Result<(), StepError> {
        if A::IN_PLACE && !self.fours.is_empty() {
            return run(Acts { act, on: &mut self.fours }).unwrap_or(Ok(()));
        }
        act_on_threes(act, &mut self.threes)
    }
}

/// As many at a time as numbers of this kind have directions, and nothing left.
fn grouped<G: Dynamics, L: Load<Dual1> + Send + Sync + 'static, D: Fan>(
    left: &mut Vec<Pair<G, L>>,
    start: &State<f64, G>,
    room: [usize; 2],
) -> Vec<Directions<G, D>> {
    let mut groups = Vec::new();
    while !left.is_empty() {
        let group = left.drain(..left.len().min(D::COUNT)).collect();
        groups.push(Directions::new(group, start, room));
    }
    groups
}

/// The state of one direction, if it is in one of these groups.
fn one_of<G: Dynamics, D: Fan>(groups: &[Directions<G, D>], direction: usize) -> Option<State<Dual1, G>> {
    Some(groups.get(direction / D::COUNT)?.one(direction % D::COUNT))
}

/// A function of its own.
#[inline(never)]
fn act_on_threes<G: Dynamics>(
    act: &impl Act<G>,
    threes: &mut [Directions<G, Jet<f64>>],
) -> Result<(), StepError> {
    threes.iter_mut().try_for_each(|three| act.on(three))
}

/// How all directions begin, four at a time.
struct Beginning<'a, G: Dynamics, L> {
    left: &'a mut Vec<Pair<G, L>>,
    start: &'a State<f64, G>,
    room: [usize; 2],
}

impl<G: Dynamics, L: Load<Dual1> + Send + Sync + 'static> Task for Beginning<'_, G, L> {
    type Output = Vec<Directions<G, Dual<Four, 1>>>;
    #[inline(always)]
    fn run(self) -> Self::Output {
        grouped(self.left, self.start, self.room)
    }
}

/// Something to do with directions that are four at a time.
struct Acts<'a, G: Dynamics, A> {
    act: &'a A,
    on: &'a mut [Directions<G, Dual<Four, 1>>],
}

impl<G: Dynamics, A: Act<G>> Task for Acts<'_, G, A> {
    type Output = Result<(), StepError>;
    #[inline(always)]
    fn run(self) -> Self::Output {
        for four in self.on {
            self.act.on(four)?;
        }
        Ok(())
    }
}

impl<G: Dynamics, D: Fan> core::fmt::Debug for Directions<G, D> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Directions").field("state", &self.state).finish_non_exhaustive()
    }
}

impl<G: Dynamics, D: Fan> Directions<G, D> {
    /// Of bodies and their states, one at least, with the values of this state; and how many numbers the stages need.
    fn new<L: Load<Dual1> + Send + Sync + 'static>(
        varied: Vec<Pair<G, L>>,
        start: &State<f64, G>,
        [stages, right]: [usize; 2],
    ) -> Self {
        let (bodies, states): (Vec<_>, Vec<_>) = varied.into_iter().unzip();
        let inertias: Vec<&G::Inertia<Dual1>> = bodies.iter().map(|body| &body.inertia).collect();
        let inertia = G::inertia_of_each(&inertias, &fanned);
        let known: Vec<Option<Loads<Dual1>>> =
            bodies.iter().map(|body| (&body.load as &dyn Any).downcast_ref().cloned()).collect();
        let known = known.iter().map(Option::as_ref).collect::<Option<Vec<_>>>();
        let load = Acting::of_each(known.as_deref(), &fanned, || Each::of(bodies));
        let state = with_values(&beside(&states), start);
        let zero = Coordinates::origin();
        let rates = Rates { velocity: zero, algorithmic: zero };
        Directions {
            body: Arc::new(Body { inertia, load }),
            next: state,
            state,
            rates,
            next_rates: rates,
            f: vec![Coordinates::origin(); stages],
            right: vec![D::zero(); right],
        }
    }
    /// The state of one of them.
    fn one(&self, direction: usize) -> State<Dual1, G> {
        let (attitude, position, momentum) = numbers(&self.state);
        let one = |x: D| x.one(direction);
        state_of(attitude.map(one), position.map(one), Coordinates::generate(|i| one(momentum.at(i))))
    }
    /// The step under way has ended well.
    pub(super) fn settle(&mut self) {
        (self.state, self.rates) = (self.next, self.next_rates);
    }
}

/// One number with the slope of each.
fn fanned<D: Fan>(each: &[Dual1]) -> D {
    let value = D::lift(each.first().map_or(0.0, |x| x.re));
    each.iter().enumerate().fold(value, |all, (direction, x)| all.with(direction, x.eps[0]))
}

/// What acts on several bodies, each asked by itself.
pub(crate) struct Each<G: Dynamics>(Vec<Box<AnyVaried<G>>>);

/// A vector that is the same in all directions.
#[inline(always)]
pub(super) fn fixed<D: Fan, A: Coordinates<f64>, B: Coordinates<D>>(v: &A) -> B {
    let mut fixed = B::origin();
    for (i, x) in fixed.numbers_mut().iter_mut().enumerate() {
        *x = D::lift(v.at(i));
    }
    fixed
}

/// The motion in one direction.
#[inline(always)]
fn one_motion<D: Fan>(at: &Kinematics<D>, direction: usize) -> Kinematics<Dual1> {
    let one = |x: D| x.one(direction);
    Kinematics {
        time: one(at.time),
        attitude: at.attitude.map(one),
        position: at.position.map(one),
        velocity_body: at.velocity_body.map(one),
        omega_body: at.omega_body.map(one),
        inward: at.inward,
    }
}

/// A number with the slope of one more. The first one says the value, which is that of all.
#[inline(always)]
fn joined<D: Fan>(all: D, direction: usize, x: Dual1) -> D {
    let all = if direction == 0 { all.valued(x.re) } else { all };
    all.with(direction, x.eps[0])
}

/// The same of vectors.
#[inline(always)]
fn joined_vector<D: Fan>(all: &Vector3<D>, direction: usize, v: &Vector3<Dual1>) -> Vector3<D> {
    Vector3::from_fn(|i, _| joined(all[i], direction, v[i]))
}

impl<G: Dynamics> Each<G> {
    fn of<L: Load<Dual1> + Send + Sync + 'static>(bodies: Vec<Body<Dual1, G, L>>) -> Self {
        Each(bodies.into_iter().map(|body| Box::new(body) as Box<AnyVaried<G>>).collect())
    }
    /// What all of them answer to a question about a motion at the scalar of the directions, put together by `with`; nothing at
    /// any other.
    #[inline(always)]
    fn asked<D: Fan, T: Over<D>, A, B: Copy>(
        &self,
        at: [&Kinematics<T>; 2],
        nothing: B,
        ask: impl Fn(&AnyVaried<G>, [Kinematics<Dual1>; 2]) -> A,
        with: impl Fn(B, usize, &A) -> B,
    ) -> Option<B> {
        let at = at.map(|at| (at as &dyn Any).downcast_ref::<Kinematics<D>>());
        let [Some(from), Some(to)] = at else { return None };
        Some(self.0.iter().enumerate().fold(nothing, |all, (direction, body)| {
            with(all, direction, &ask(&**body, [one_motion(from, direction), one_motion(to, direction)]))
        }))
    }
}

impl<G: Dynamics, D: Fan> Load<D> for Each<G> {
    #[inline(never)]
    fn wrench<T: Over<D>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let answers = self.asked(
            [at, at],
            Wrench::<D>::none(),
            |body, [at, _]| body.mechanics().loads.wrench_at(&at),
            |all, direction, wrench| Wrench {
                force_body: joined_vector(&all.force_body, direction, &wrench.force_body),
                moment_body: joined_vector(&all.moment_body, direction, &wrench.moment_body),
            },
        );
        // What cannot be had at a scalar is not a number, which every step refuses.
        let unknown = Vector3::from([T::lift(f64::NAN); 3]);
        answers.map_or(Wrench { force_body: unknown, moment_body: unknown }, |wrench| Wrench {
            force_body: wrench.force_body.map(T::of),
            moment_body: wrench.moment_body.map(T::of),
        })
    }
    #[inline(never)]
    fn finite_derivative<T: Over<D>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        let answers = self.asked(
            [from, to],
            FiniteDerivative::<D>::none(),
            |body, [from, to]| body.mechanics().loads.finite_derivative_at(&from, &to),
            |all, direction, g| FiniteDerivative {
                base: Matrix3::from_fn(|i, j| joined(all.base[(i, j)], direction, g.base[(i, j)])),
                position: joined_vector(&all.position, direction, &g.position),
                force: joined_vector(&all.force, direction, &g.force),
                moment: joined_vector(&all.moment, direction, &g.moment),
            },
        );
        let vector = |v: &Vector3<D>| v.map(T::of);
        let unknown = Vector3::from([T::lift(f64::NAN); 3]);
        answers.map_or(FiniteDerivative { force: unknown, ..FiniteDerivative::none() }, |g| {
            FiniteDerivative {
                base: g.base.map(T::of),
                position: vector(&g.position),
                force: vector(&g.force),
                moment: vector(&g.moment),
            }
        })
    }
    fn motion<T: Over<D>>(&self, t: T) -> Option<Kinematics<T>> {
        let t = *(&t as &dyn Any).downcast_ref::<D>()?;
        let zero = Vector3::from([D::zero(); 3]);
        let mut all = Kinematics {
            time: t,
            attitude: Rotation::identity(),
            position: zero,
            velocity_body: zero,
            omega_body: zero,
            inward: 0.0,
        };
        for (direction, body) in self.0.iter().enumerate() {
            let at = body.motion_at(t.one(direction))?;
            let attitude = &at.attitude;
            all = Kinematics {
                attitude: Rotation {
                    w: joined(all.attitude.w, direction, attitude.w),
                    v: joined_vector(&all.attitude.v, direction, &attitude.v),
                },
                position: joined_vector(&all.position, direction, &at.position),
                velocity_body: joined_vector(&all.velocity_body, direction, &at.velocity_body),
                omega_body: joined_vector(&all.omega_body, direction, &at.omega_body),
                ..all
            };
        }
        let vector = |v: &Vector3<D>| v.map(T::of);
        Some(Kinematics {
            time: T::of(all.time),
            attitude: all.attitude.map(T::of),
            position: vector(&all.position),
            velocity_body: vector(&all.velocity_body),
            omega_body: vector(&all.omega_body),
            inward: all.inward,
        })
    }
    fn is_field(&self) -> bool {
        self.0.iter().all(|body| body.mechanics().loads.is_field())
    }
}

/// Pose and momentum of a state, number by number: the quaternion, the position, the momentum.
pub(super) type Numbers<S, G> = ([S; 4], Vector3<S>, <G as Group>::Vector<S>);

/// Those of a state.
#[inline(always)]
pub(super) fn numbers<S: Real, G: Dynamics>(state: &State<S, G>) -> Numbers<S, G> {
    let k = G::kinematics(S::zero(), &state.pose, &state.momentum);
    (k.attitude.q_wxyz(), k.position, state.momentum)
}

/// The state with these numbers.
#[inline(always)]
pub(super) fn state_of<S: Real, G: Dynamics>(
    [w, x, y, z]: [S; 4],
    position: Vector3<S>,
    momentum: G::Vector<S>,
) -> State<S, G> {
    let attitude = Rotation { w, v: Vector3::new(x, y, z) };
    State { pose: G::pose(&attitude, &position), momentum }
}

/// States as one, at least one of them.
fn beside<G: Dynamics, D: Fan>(states: &[State<Dual1, G>]) -> State<D, G> {
    let all: Vec<_> = states.iter().map(numbers::<Dual1, G>).collect();
    let number = |of: &dyn Fn(&Numbers<Dual1, G>) -> Dual1| fanned(&all.iter().map(of).collect::<Vec<_>>());
    state_of(
        core::array::from_fn(|i| number(&|one| one.0[i])),
        Vector3::from_fn(|i, _| number(&|one| one.1[i])),
        Coordinates::generate(|i| number(&|one| one.2.at(i))),
    )
}

/// The derivatives of one state with the values of the other.
#[inline(always)]
pub(super) fn with_values<G: Dynamics, D: Fan>(varied: &State<D, G>, plain: &State<f64, G>) -> State<D, G> {
    let ((mut attitude, mut position, mut momentum), values) = (numbers(varied), numbers(plain));
    for (x, value) in attitude.iter_mut().zip(values.0) {
        *x = x.valued(value);
    }
    for (x, value) in position.iter_mut().zip(&values.1) {
        *x = x.valued(*value);
    }
    for (i, x) in momentum.numbers_mut().iter_mut().enumerate() {
        *x = x.valued(values.2.at(i));
    }
    state_of(attitude, position, momentum)
}

/// True if every derivative is a finite number.
#[inline(always)]
pub(super) fn has_finite_slopes<G: Dynamics, D: Fan>(state: &State<D, G>) -> bool {
    let (attitude, position, mut momentum) = numbers(state);
    let mut total = D::zero();
    for x in attitude {
        total = total.and_slopes_of(x);
    }
    for x in &position {
        total = total.and_slopes_of(*x);
    }
    for x in momentum.numbers_mut() {
        total = total.and_slopes_of(*x);
    }
    total.has_finite_slopes()
}
