//! Steps with derivatives: a plain step, and the exact derivatives of what it did with respect to anything that the body
//! and the start depend on.
//!
//! An explicit part runs in dual numbers. An implicit one is solved once, plainly; its solution x of R(x, p) = 0 and the
//! Jacobian there give x' = -(∂R/∂x)⁻¹ ∂R/∂p (implicit function theorem), so that no iteration carries derivatives.

mod directions;
mod fan;
mod implicit;
mod stages;

use super::convected::{Convected, Stop};
use super::memory::Memory;
use super::named::Method;
use super::registry::Substep;
use super::scheme::{Accelerations, Rates, Scheme, Start};
use super::schemes::{AnyScheme, Visitor};
use super::stepper::placed;
use super::{StepVelocity, euler, kinematic};
use crate::body::Dynamics;
use crate::body::{AnyBody, Body, Load, State};
use crate::group::{Coordinates, Se3, So3, Vectorial};
use crate::solve::{StepError, Work};
use directions::{Act, All, Directions, has_finite_slopes, with_values};
use fan::{Dual1, Fan};
use implicit::{Differentiated, Following};
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
///     let (body, varied) = (top(mgl), top(Dual::<f64, 1>::variable(mgl, 0)));
///     let start = body.state(attitude, &omega);
///     let mut derived = Derived::new(&Method::parse("imidm")?, start, [(varied, start.lift())])?;
///     for n in 0..100 {
///         derived.step(&body, 0.01 * f64::from(n), 0.01)?;
///     }
///     let by_mgl = derived.varied(0).ok_or("a direction")?;
///     Ok::<_, Box<dyn std::error::Error>>((derived.state().momentum.x, by_mgl.momentum.x.eps[0]))
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
    state: State<f64, G>,
    directions: All<G>,
    /// What has been spent so far on plain steps.
    pub work: Work,
}

/// Refuses a method whose steps have no derivatives: those for systems of bodies, and an iteration that stops before it has
/// converged. Its result depends on where it stopped, and has no derivative where it takes one iteration more.
pub(crate) fn differentiable(method: &Method) -> Result<(), StepError> {
    let id = method.id();
    let reason = method.parts().iter().find_map(|(part, _)| match part {
        Substep::Outside(scheme) => Some(format!(
            "'{id}' has no derivatives: the scheme {:?} was made outside polhode and runs in numbers without derivatives only",
            scheme.0
        )),
        Substep::Implicit(AnyScheme::Convected(Convected { stopping })) if stopping.rule != Stop::Converged => {
            Some(format!(
                "'{id}' has no derivatives: with stop={} its iteration ends before it has converged, and where it ends \
                 jumps with the data; use stop=converged",
                stopping.rule.name()
            ))
        }
        _ => None,
    });
    match reason {
        Some(reason) => Err(StepError::NoDerivative { reason }),
        None if method.system().is_some() => Err(StepError::NeedsSystem),
        None => Ok(()),
    }
}

impl<G: Dynamics> Derived<G> {
    /// Prepares a method for steps from this state, in as many directions as there are bodies with a derivative, each with
    /// its state. Their values count as those of the plain body and of its state. Refused are methods without derivatives.
    pub fn new<D: Load<Dual1> + Send + Sync + 'static>(
        method: &Method,
        start: State<f64, G>,
        varied: impl IntoIterator<Item = (Body<Dual1, G, D>, State<Dual1, G>)>,
    ) -> Result<Self, StepError> {
        Self::in_fours(true, method, start, varied)
    }

    /// The same with directions side by side, where that is quick, or one by one.
    fn in_fours<D: Load<Dual1> + Send + Sync + 'static>(
        fours: bool,
        method: &Method,
        start: State<f64, G>,
        varied: impl IntoIterator<Item = (Body<Dual1, G, D>, State<Dual1, G>)>,
    ) -> Result<Self, StepError> {
        differentiable(method)?;
        let parts = placed(method).map(|(part, begin, fraction)| (part.clone(), begin, fraction));
        let parts: Vec<(Substep, f64, f64)> = parts.collect();
        let stages = method.tableau().map(|tableau| Box::new(Stages::new(tableau)));
        let room = stages.as_ref().map_or([0; 2], |stages| stages.room());
        let in_place = fours && parts.iter().all(|(part, ..)| is_in_place(part));
        Ok(Derived {
            carries: parts.iter().any(|(part, ..)| match part {
                Substep::Implicit(scheme) => scheme.visited_by(Carries),
                _ => false,
            }),
            parts,
            stages,
            memory: Memory::default(),
            state: start,
            directions: All::new(varied.into_iter().collect(), &start, room, in_place),
            work: Work::default(),
        })
    }

    /// The state after the last step.
    pub fn state(&self) -> &State<f64, G> {
        &self.state
    }

    /// The same with its derivatives in one direction, by its number; nothing if there is no such direction.
    pub fn varied(&self, direction: usize) -> Option<State<Dual1, G>> {
        self.directions.varied(direction)
    }

    /// Takes a step of size `h` (which may be negative) at time `t`. On an error nothing is changed.
    ///
    /// The values of states with derivatives stay the very numbers of the plain run.
    pub fn step<L: Load<f64>>(&mut self, body: &Body<f64, G, L>, t: f64, h: f64) -> Result<(), StepError>
    where
        G: DerivedSteps,
    {
        self.memory.forget(body.jumps_at(t, h));
        G::take(self, body, t, h)
    }

    #[inline(always)]
    fn take(&mut self, body: &dyn AnyBody<f64, G>, t: f64, h: f64) -> Result<(), StepError> {
        self.directions.each(&Begin)?;
        let end = self.parts(body, t, h).map_err(|error| error.of_step(t, h))?;
        let momentum = end.momentum.length();
        if !((momentum * momentum).is_finite() && G::is_finite::<f64>(&end.pose)) {
            return Err(StepError::NotFinite { t, h });
        }
        self.directions.each(&End(&end, (t, h)))?;
        self.directions.each(&Settle)?;
        if self.carries {
            self.memory.keep(&end);
        }
        self.state = end;
        Ok(())
    }

    #[inline(always)]
    fn parts(&mut self, body: &dyn AnyBody<f64, G>, t: f64, h: f64) -> Result<State<f64, G>, StepError> {
        let mut next = self.state;
        for (part, begin, fraction) in &self.parts {
            let (t, h) = (t + begin * h, fraction * h);
            let explicit = |rate: bool| Explicit { rate, interval: (t, h) };
            next = match part {
                Substep::ForwardRate => {
                    self.directions.each(&explicit(true))?;
                    euler::forward_rate(&Start::new(body, &next, t, h))
                }
                Substep::ForwardMomentum => {
                    self.directions.each(&explicit(false))?;
                    euler::forward_momentum(&Start::new(body, &next, t, h))
                }
                Substep::Implicit(scheme) => scheme.visited_by(Implicit {
                    body,
                    state: &next,
                    directions: &mut self.directions,
                    interval: (t, h),
                    memory: &mut self.memory,
                    work: &mut self.work,
                })?,
                Substep::Kinematic(map, choice) => {
                    let end = kinematic::step(*map, *choice, body, &next, t, h)?;
                    self.directions.each(&Kinematic { map: *map, choice: *choice, interval: (t, h) })?;
                    end
                }
                Substep::Mkrk => match &mut self.stages {
                    Some(stages) => stages.step(body, &next, &mut self.directions, (t, h), &mut self.work)?,
                    None => return Err(StepError::NoStart { reason: "the method has no tableau".into() }),
                },
                Substep::System(_) | Substep::Outside(_) => return Err(StepError::NeedsSystem),
            };
        }
        // Once per step, whatever it is composed of.
        next.pose = G::normalized(&next.pose);
        Ok(next)
    }
}

/// A step begins.
struct Begin;

impl<G: Dynamics> Act<G> for Begin {
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError> {
        directions.next = directions.state;
        Ok(())
    }
}

/// An explicit part of a step, in the form of rates or of momenta.
struct Explicit {
    rate: bool,
    interval: (f64, f64),
}

impl<G: Dynamics> Act<G> for Explicit {
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError> {
        let start = Start::new(
            &*directions.body,
            &directions.next,
            D::lift(self.interval.0),
            D::lift(self.interval.1),
        );
        directions.next =
            if self.rate { euler::forward_rate(&start) } else { euler::forward_momentum(&start) };
        Ok(())
    }
}

/// A part of a step from given velocities.
struct Kinematic {
    map: Vectorial,
    choice: StepVelocity,
    interval: (f64, f64),
}

impl<G: Dynamics> Act<G> for Kinematic {
    const IN_PLACE: bool = false;
    #[inline(always)]
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError> {
        let (t, h) = (D::lift(self.interval.0), D::lift(self.interval.1));
        directions.next = kinematic::step(self.map, self.choice, &*directions.body, &directions.next, t, h)?;
        Ok(())
    }
}

/// The end of a step, with the values of the plain one; refused if a derivative is not finite.
struct End<'a, G: Dynamics>(&'a State<f64, G>, (f64, f64));

impl<G: Dynamics> Act<G> for End<'_, G> {
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError> {
        // Once per step, whatever it is composed of.
        directions.next.pose = G::normalized(&directions.next.pose);
        directions.next = with_values(&directions.next, self.0);
        if has_finite_slopes(&directions.next) { Ok(()) } else { Err(not_finite(self.1)) }
    }
}

#[cold]
fn not_finite((t, h): (f64, f64)) -> StepError {
    let reason = format!(
        "the derivatives of the step from t = {t} with h = {h} are not finite: its equations are singular at the solution, or \
         the derivatives have grown beyond all numbers; try a smaller step"
    );
    StepError::NoDerivative { reason }
}

/// A step has ended well.
struct Settle;

impl<G: Dynamics> Act<G> for Settle {
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError> {
        directions.settle();
        Ok(())
    }
}

/// A group on which steps have derivatives. Those of all methods are compiled in this library, once.
pub trait DerivedSteps: Dynamics {
    /// See [`Derived::step`].
    fn take(
        derived: &mut Derived<Self>,
        body: &dyn AnyBody<f64, Self>,
        t: f64,
        h: f64,
    ) -> Result<(), StepError>;
}

macro_rules! derived_steps {
    ($($group:ty),*) => {
        $(impl DerivedSteps for $group {
            fn take(
                derived: &mut Derived<Self>,
                body: &dyn AnyBody<f64, Self>,
                t: f64,
                h: f64,
            ) -> Result<(), StepError> {
                derived.take(body, t, h)
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

/// Whether the equations of a scheme are inlined whole.
struct InPlace;

impl Visitor for InPlace {
    type Output = bool;
    fn visit<E: Scheme>(self, _: &E) -> bool {
        E::IN_PLACE
    }
}

/// True if all of a part of a step is inlined.
fn is_in_place(part: &Substep) -> bool {
    match part {
        Substep::ForwardRate | Substep::ForwardMomentum | Substep::Mkrk => true,
        Substep::Implicit(scheme) => scheme.visited_by(InPlace),
        _ => false,
    }
}

/// A step of an implicit scheme, plain and with derivatives.
struct Implicit<'a, G: Dynamics> {
    body: &'a dyn AnyBody<f64, G>,
    state: &'a State<f64, G>,
    directions: &'a mut All<G>,
    interval: (f64, f64),
    memory: &'a mut Memory<f64, G, Rates<f64, G>>,
    work: &'a mut Work,
}

impl<G: Dynamics> Visitor for Implicit<'_, G> {
    type Output = Result<State<f64, G>, StepError>;
    #[inline(always)]
    fn visit<E: Scheme>(self, scheme: &E) -> Self::Output {
        let (memory, interval) = (self.memory, self.interval);
        let known = memory.holds(self.state);
        let carried = |start: &Start<'_, f64, G>| memory.at(self.state, || start.fresh_rates());
        let (solution, end) = scheme.solve(self.body, self.state, interval, carried, self.work)?;
        self.directions.each(&Following { scheme, solution: &solution, interval, carried: known })?;
        if let Some(carried) = end.carried {
            memory.set(carried);
        }
        Ok(end.state)
    }
}

#[cfg(test)]
mod tests;
