//! Steps with derivatives: a plain step, and the exact derivatives of what it did with respect to anything that the body
//! and the start depend on.
//!
//! An explicit part runs in dual numbers. An implicit one is solved once, plainly; its solution x of R(x, p) = 0 and the
//! Jacobian there give x' = -(∂R/∂x)⁻¹ ∂R/∂p (implicit function theorem), so that no iteration carries derivatives.

mod implicit;
mod stages;

use super::convected::{Convected, Stop};
use super::memory::Memory;
use super::named::Method;
use super::registry::Substep;
use super::scheme::{Accelerations, Rates, Scheme, Start};
use super::schemes::{AnyScheme, Visitor};
use super::{euler, kinematic};
use crate::body::Dynamics;
use crate::body::{AnyBody, Body, BodyAt, Load, State};
use crate::group::{Coordinates, Rotation, Se3, So3};
use crate::scalar::{Dual, Real};
use crate::solve::{StepError, Work};
use implicit::Differentiated;
use nalgebra::Vector3;
use stages::Stages;

/// Takes steps with one method, and with each of them the exact derivatives of the step in any number of directions.
/// Allocates when it is made, never in a step.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, RotaryInertia, TopGravity};
/// use polhode::group::{Rotation, So3};
/// use polhode::method::{Derived, Method};
/// use polhode::scalar::{Dual, Real};
///
/// /// A top, built at any scalar from its weight times the distance of its center.
/// fn top<S: Real>(mgl: S) -> Body<S, So3, TopGravity<S>> {
///     let inertia = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0)).map(S::lift);
///     Body { inertia: RotaryInertia::unchecked(inertia), load: TopGravity { mgl } }
/// }
/// let omega = Vector3::new(0.0, 0.0, 50.0);
/// let attitude = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0));
/// let end = |mgl: f64| {
///     let (body, varied) = (top(mgl), [top(Dual::<f64, 1>::variable(mgl, 0))]);
///     let mut state = body.state(attitude, &omega);
///     let mut states = [state.lift()];
///     let mut derived = Derived::<So3>::new(&Method::parse("imidm")?, 1)?;
///     for n in 0..100 {
///         state = derived.step(&body, &varied, &state, &mut states, 0.01 * f64::from(n), 0.01)?;
///     }
///     Ok::<_, Box<dyn std::error::Error>>((state.momentum.x, states[0].momentum.x.eps[0]))
/// };
/// let (slope, difference) = (end(20.0)?.1, (end(20.001)?.0 - end(19.999)?.0) / 0.002);
/// assert!((slope - difference).abs() < 1e-6 * slope.abs());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Derived<G: Dynamics> {
    /// What runs, where in the step it begins and what fraction of it it takes.
    parts: Vec<(Substep, f64, f64)>,
    stages: Option<Box<Stages<G>>>,
    /// True if accelerations are carried from step to step.
    carries: bool,
    memory: Memory<f64, G, Rates<f64, G>>,
    directions: Vec<Carried<G>>,
    /// The states of the step under way.
    next: Vec<State<Dual<f64, 1>, G>>,
    /// What has been spent so far on plain steps.
    pub work: Work,
}

/// What a direction carries beside its state.
#[derive(Clone, Copy, Debug)]
struct Carried<G: Dynamics> {
    /// The state it belongs to.
    state: State<Dual<f64, 1>, G>,
    rates: Rates<Dual<f64, 1>, G>,
    /// Of the step under way.
    next: Rates<Dual<f64, 1>, G>,
}

impl<G: Dynamics> Derived<G> {
    /// Prepares a method for so many directions.
    ///
    /// Refused are methods for systems of bodies, and an iteration that stops before it has converged: its result depends
    /// on where it stopped, and has no derivative where it takes one iteration more.
    pub fn new(method: &Method, directions: usize) -> Result<Self, StepError> {
        let mut begin = 0.0;
        let mut parts = Vec::with_capacity(method.parts().len());
        for (part, fraction) in method.parts() {
            match part {
                Substep::System(_) => return Err(StepError::NeedsSystem),
                Substep::Outside(scheme) => {
                    let reason = format!(
                        "'{}' has no derivatives: the scheme {:?} was made outside polhode and runs in numbers without \
                         derivatives only",
                        method.id(),
                        scheme.0
                    );
                    return Err(StepError::NoDerivative { reason });
                }
                Substep::Implicit(AnyScheme::Convected(Convected { stopping }))
                    if stopping.rule != Stop::Converged =>
                {
                    let reason = format!(
                        "'{}' has no derivatives: with stop={} its iteration ends before it has converged, and where it ends \
                         jumps with the data; use stop=converged",
                        method.id(),
                        stopping.rule.name()
                    );
                    return Err(StepError::NoDerivative { reason });
                }
                _ => parts.push((part.clone(), begin, *fraction)),
            }
            begin += fraction;
        }
        let zero = G::Vector::<Dual<f64, 1>>::origin();
        let (state, rates) = (State { pose: G::identity(), momentum: zero }, Rates::zero());
        Ok(Derived {
            carries: parts.iter().any(|(part, ..)| match part {
                Substep::Implicit(scheme) => scheme.visited_by(Carries),
                _ => false,
            }),
            parts,
            stages: method.tableau().map(|t| Box::new(Stages::new(t, directions))),
            memory: Memory::default(),
            directions: vec![Carried { state, rates, next: rates }; directions],
            next: vec![state; directions],
            work: Work::default(),
        })
    }

    /// The state after one step of size `h` (which may be negative) from `state` at time `t`; `states` are replaced by
    /// theirs. On an error nothing is changed.
    ///
    /// `varied` are the body and `states` its state, both with the derivatives in each direction; their values must be those
    /// of `body` and `state`, and those of `states` stay the very numbers of the plain run. A method that carries
    /// accelerations goes on with those of its last step if that ended in these states, derivatives included, and computes
    /// new ones if not.
    pub fn step<L: Load<f64>, D: Load<Dual<f64, 1>>>(
        &mut self,
        body: &Body<f64, G, L>,
        varied: &[Body<Dual<f64, 1>, G, D>],
        state: &State<f64, G>,
        states: &mut [State<Dual<f64, 1>, G>],
        t: f64,
        h: f64,
    ) -> Result<State<f64, G>, StepError>
    where
        G: DerivedSteps,
    {
        let directions = self.directions.len();
        if varied.len() != directions || states.len() != directions {
            let reason = format!(
                "{} bodies and {} states with derivatives for {directions} directions: give one of each per direction",
                varied.len(),
                states.len()
            );
            return Err(StepError::NoDerivative { reason });
        }
        self.memory.forget(body.jumps_at(t, h));
        G::take(self, body, &|direction| &varied[direction], state, states, (t, h))
    }

    #[inline(always)]
    fn take(
        &mut self,
        body: &dyn AnyBody<f64, G>,
        varied: &Varied<'_, G>,
        state: &State<f64, G>,
        states: &mut [State<Dual<f64, 1>, G>],
        (t, h): (f64, f64),
    ) -> Result<State<f64, G>, StepError> {
        let other = |(known, state): (&Carried<G>, &State<Dual<f64, 1>, G>)| {
            known.state.pose != state.pose || known.state.momentum != state.momentum
        };
        if self.carries && self.directions.iter().zip(states.iter()).any(other) {
            self.memory.forget(true);
        }
        self.next.copy_from_slice(states);
        let end = self.parts(body, varied, state, t, h).map_err(|error| error.of_step(t, h))?;
        let momentum = end.momentum.length();
        if !((momentum * momentum).is_finite() && G::is_finite::<f64>(&end.pose)) {
            return Err(StepError::NotFinite { t, h });
        }
        for next in &mut self.next {
            *next = with_values(next, &end);
            if !has_finite_slopes(next) {
                let reason = format!(
                    "the derivatives of the step from t = {t} with h = {h} are not finite: its equations are singular at the \
                     solution, or the derivatives have grown beyond all numbers; try a smaller step"
                );
                return Err(StepError::NoDerivative { reason });
            }
        }
        states.copy_from_slice(&self.next);
        if self.carries {
            self.memory.keep(&end);
            for (direction, state) in self.directions.iter_mut().zip(&self.next) {
                (direction.state, direction.rates) = (*state, direction.next);
            }
        }
        Ok(end)
    }

    #[inline(always)]
    fn parts(
        &mut self,
        body: &dyn AnyBody<f64, G>,
        varied: &Varied<'_, G>,
        state: &State<f64, G>,
        t: f64,
        h: f64,
    ) -> Result<State<f64, G>, StepError> {
        let mut next = *state;
        for (part, begin, fraction) in &self.parts {
            let (t, h) = (t + begin * h, fraction * h);
            let (dual_t, dual_h) = (Dual::constant(t), Dual::constant(h));
            let (states, work) = (&mut self.next, &mut self.work);
            macro_rules! explicit {
                ($function:path) => {{
                    for (k, state) in states.iter_mut().enumerate() {
                        *state = $function(&Start::new(varied(k), &*state, dual_t, dual_h));
                    }
                    $function(&Start::new(body, &next, t, h))
                }};
            }
            next = match part {
                Substep::ForwardRate => explicit!(euler::forward_rate),
                Substep::ForwardMomentum => explicit!(euler::forward_momentum),
                Substep::Implicit(scheme) => scheme.visited_by(Implicit {
                    body,
                    varied,
                    state: &next,
                    states,
                    interval: (t, h),
                    memory: &mut self.memory,
                    directions: &mut self.directions,
                    work,
                })?,
                Substep::Kinematic(map, choice) => {
                    let end = kinematic::step(*map, *choice, body, &next, t, h)?;
                    for (k, state) in states.iter_mut().enumerate() {
                        *state = kinematic::step(*map, *choice, varied(k), state, dual_t, dual_h)?;
                    }
                    end
                }
                Substep::Mkrk => match &mut self.stages {
                    Some(stages) => stages.step((body, varied), (&next, states), (t, h), work)?,
                    None => return Err(StepError::NoStart { reason: "the method has no tableau".into() }),
                },
                Substep::System(_) | Substep::Outside(_) => return Err(StepError::NeedsSystem),
            };
        }
        // Once per step, whatever it is composed of.
        next.pose = G::normalized(&next.pose);
        for state in &mut self.next {
            state.pose = G::normalized(&state.pose);
        }
        Ok(next)
    }
}

/// The bodies with derivatives, by the number of their direction.
pub type Varied<'a, G> = dyn Fn(usize) -> &'a (dyn BodyAt<Dual<f64, 1>, G> + 'a) + 'a;

/// A group on which steps have derivatives. Those of all methods are compiled in this library, once.
pub trait DerivedSteps: Dynamics {
    /// See [`Derived::step`].
    fn take(
        derived: &mut Derived<Self>,
        body: &dyn AnyBody<f64, Self>,
        varied: &Varied<'_, Self>,
        state: &State<f64, Self>,
        states: &mut [State<Dual<f64, 1>, Self>],
        interval: (f64, f64),
    ) -> Result<State<f64, Self>, StepError>;
}

macro_rules! derived_steps {
    ($($group:ty),*) => {
        $(impl DerivedSteps for $group {
            fn take(
                derived: &mut Derived<Self>,
                body: &dyn AnyBody<f64, Self>,
                varied: &Varied<'_, Self>,
                state: &State<f64, Self>,
                states: &mut [State<Dual<f64, 1>, Self>],
                interval: (f64, f64),
            ) -> Result<State<f64, Self>, StepError> {
                derived.take(body, varied, state, states, interval)
            }
        })*
    };
}
derived_steps!(So3, Se3);

/// Whether a scheme carries accelerations from step to step.
struct Carries;

impl Visitor for Carries {
    type Output = bool;
    fn visit<E: Scheme>(self, scheme: &E) -> bool {
        scheme.accelerations() == Accelerations::Carried
    }
}

/// A step of an implicit scheme, plain and with derivatives.
struct Implicit<'a, 'b, G: Dynamics> {
    body: &'a dyn AnyBody<f64, G>,
    varied: &'a Varied<'b, G>,
    state: &'a State<f64, G>,
    states: &'a mut [State<Dual<f64, 1>, G>],
    interval: (f64, f64),
    memory: &'a mut Memory<f64, G, Rates<f64, G>>,
    directions: &'a mut [Carried<G>],
    work: &'a mut Work,
}

impl<G: Dynamics> Visitor for Implicit<'_, '_, G> {
    type Output = Result<State<f64, G>, StepError>;
    #[inline(always)]
    fn visit<E: Scheme>(self, scheme: &E) -> Self::Output {
        let (memory, (t, h)) = (self.memory, self.interval);
        let known = memory.holds(self.state);
        let carried = |start: &Start<'_, f64, G>| memory.at(self.state, || start.fresh_rates());
        let (solution, end) = scheme.solve(self.body, self.state, (t, h), carried, self.work)?;
        for (k, (state, direction)) in self.states.iter_mut().zip(self.directions).enumerate() {
            let before = *state;
            let begin = (Dual::constant(t), Dual::constant(h));
            let (body, rates) = ((self.varied)(k), known.then_some(direction.rates));
            let (end, carried) = scheme.follow(body, &before, begin, rates, &solution);
            *state = end;
            direction.next = carried.unwrap_or(direction.next);
        }
        if let Some(carried) = end.carried {
            memory.set(carried);
        }
        Ok(end.state)
    }
}

/// Pose and momentum of a state, number by number: the quaternion, the position, the momentum.
#[inline(always)]
fn numbers<S: Real, G: Dynamics>(state: &State<S, G>) -> ([S; 4], Vector3<S>, G::Vector<S>) {
    let k = G::kinematics(S::zero(), &state.pose, &state.momentum);
    (k.attitude.q_wxyz(), k.position, state.momentum)
}

/// The state with these numbers.
#[inline(always)]
fn state_of<S: Real, G: Dynamics>(
    [w, x, y, z]: [S; 4],
    position: Vector3<S>,
    momentum: G::Vector<S>,
) -> State<S, G> {
    let attitude = Rotation { w, v: Vector3::new(x, y, z) };
    State { pose: G::pose(&attitude, &position), momentum }
}

/// The derivatives of one state with the values of the other.
#[inline(always)]
fn with_values<G: Dynamics>(
    varied: &State<Dual<f64, 1>, G>,
    plain: &State<f64, G>,
) -> State<Dual<f64, 1>, G> {
    let (slopes, values) = (numbers(varied), numbers(plain));
    let with = |slope: Dual<f64, 1>, re: f64| Dual { re, eps: slope.eps };
    state_of(
        core::array::from_fn(|i| with(slopes.0[i], values.0[i])),
        Vector3::from_fn(|i, _| with(slopes.1[i], values.1[i])),
        Coordinates::generate(|i| with(slopes.2.at(i), values.2.at(i))),
    )
}

/// True if every derivative is a finite number.
#[inline(always)]
fn has_finite_slopes<G: Dynamics>(state: &State<Dual<f64, 1>, G>) -> bool {
    let (attitude, position, momentum) = numbers(state);
    let sum = |x: Dual<f64, 1>| x.eps.iter().map(|e| e.abs()).sum::<f64>();
    let mut total = 0.0;
    for x in attitude.into_iter().chain(position.iter().copied()) {
        total += sum(x);
    }
    for i in 0..G::Vector::<f64>::LEN {
        total += sum(momentum.at(i));
    }
    total.is_finite()
}
