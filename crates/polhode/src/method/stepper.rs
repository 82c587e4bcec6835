//! A method at work on one group and scalar: its parts in sequence, its memory, its counters.

use super::convected::{self, Convected, Frame, Stop};
use super::implicit::Solved;
use super::memory::Memory;
use super::mkrk::Stages;
use super::named::Method;
use super::outside::{Outside, OutsideScheme, Taken, Taking};
use super::registry::Substep;
use super::scheme::{Handover, Rates, Scheme, Start};
use super::schemes::{AnyScheme, Visitor};
use super::{euler, kinematic};
use crate::archive::{Archive, Kept};
use crate::body::Dynamics;
use crate::body::{AnyBody, Body, Load, State};
use crate::group::{Coordinates, Se3, So3};
use crate::scalar::{Dd, Dual, F64x4, Mask, Real};
use crate::solve::{StepError, Work};

/// Takes steps with one method. Allocates when it is made, never in a step.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, NoLoad, RotaryInertia};
/// use polhode::group::{Rotation, So3};
/// use polhode::method::{Method, Stepper};
///
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
/// let body = Body::<f64, So3, _> { inertia, load: NoLoad };
/// let mut state = body.state(Rotation::identity(), &Vector3::new(0.1, 1.0, 0.2));
/// let before = body.kinetic_energy(&state);
/// let mut stepper = Stepper::<f64, So3>::new(&Method::parse("swc1")?);
/// for n in 0..1000 {
///     state = stepper.step(&body, &state, 0.1 * n as f64, 0.1)?;
/// }
/// assert!((body.kinetic_energy(&state) / before - 1.0).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stepper<S: Real, G: Dynamics> {
    /// What runs, where in the step it begins and what fraction of it it takes.
    pub(super) parts: Vec<(Substep, S, S)>,
    stages: Option<Box<Stages<S, G>>>,
    memory: Memory<S, G, Rates<S, G>>,
    frame: Memory<S, G, Frame<S>>,
    /// What has been spent so far.
    pub work: Work,
}

/// The parts of a method, where in the step they begin and what fraction of it they take.
pub(super) fn placed<S: Real>(method: &Method) -> impl Iterator<Item = (&Substep, S, S)> {
    let mut begin = 0.0;
    method.parts().iter().map(move |(part, fraction)| {
        let placed = (part, S::lift(begin), S::lift(*fraction));
        begin += fraction;
        placed
    })
}

/// The state at the end of a step, once per step whatever that is composed of, if it is finite.
#[inline(always)]
pub(super) fn finished<S: Real, G: Dynamics>(mut next: State<S, G>) -> Option<State<S, G>> {
    next.pose = G::normalized(&next.pose);
    let mut sum = S::zero();
    for i in 0..G::Vector::<S>::LEN {
        sum += next.momentum.at(i).abs();
    }
    // The square, because energy and the like must be finite too.
    (sum * sum).is_finite().and(G::is_finite::<S>(&next.pose)).all().then_some(next)
}

impl<S: Real, G: Dynamics> Stepper<S, G> {
    /// Prepares a method.
    pub fn new(method: &Method) -> Self {
        Stepper {
            parts: placed(method).map(|(part, begin, fraction)| (part.clone(), begin, fraction)).collect(),
            stages: method.tableau().map(|t| Box::new(Stages::new(t))),
            memory: Memory::default(),
            frame: Memory::default(),
            work: Work::default(),
        }
    }

    /// Starts the next step without what was carried to it, as accelerations from before a jump of the load.
    pub fn forget(&mut self) {
        self.memory.forget(S::Mask::splat(true));
    }

    /// The state after one step of size `h` (which may be negative) from `state` at time `t`. A method that carries
    /// accelerations goes on with those of its last step if that ended in `state`, and computes new ones if not.
    #[inline]
    pub fn step<L: Load<S>>(
        &mut self,
        body: &Body<S, G, L>,
        state: &State<S, G>,
        t: S,
        h: S,
    ) -> Result<State<S, G>, StepError>
    where
        G: Steps<S>,
    {
        if h.largest() > 0.0 && h.below(S::zero()).any() {
            return Err(StepError::MixedLanes);
        }
        // Accelerations from before a jump of the load say nothing about those after it.
        self.memory.forget(body.jumps_at(t, h));
        G::take(self, body, state, t, h)
    }

    #[inline(always)]
    fn take(
        &mut self,
        body: &dyn AnyBody<S, G>,
        state: &State<S, G>,
        t: S,
        h: S,
    ) -> Result<State<S, G>, StepError>
    where
        G: Steps<S>,
    {
        // A part that fails speaks of its share of the step; the caller knows the whole one.
        let next = self.parts(body, state, t, h).map_err(|error| error.of_step(t.largest(), h.largest()))?;
        let next = finished(next).ok_or_else(|| StepError::NotFinite { t: t.largest(), h: h.largest() })?;
        self.memory.keep(&next);
        self.frame.keep(&next);
        Ok(next)
    }

    #[inline(always)]
    fn parts(
        &mut self,
        body: &dyn AnyBody<S, G>,
        state: &State<S, G>,
        t: S,
        h: S,
    ) -> Result<State<S, G>, StepError>
    where
        G: Steps<S>,
    {
        let mut next = *state;
        let mut handover = Handover::new();
        for (n, (part, begin, fraction)) in self.parts.iter().enumerate() {
            handover.goes_on = n + 1 < self.parts.len();
            let (t, h) = (t + *begin * h, *fraction * h);
            let work = &mut self.work;
            next = match part {
                Substep::ForwardRate => {
                    euler::forward_rate(&Start::behind(body, &next, t, h, handover.take()))
                }
                Substep::ForwardMomentum => {
                    euler::forward_momentum(&Start::behind(body, &next, t, h, handover.take()))
                }
                Substep::Implicit(AnyScheme::Convected(Convected { stopping }))
                    if stopping.rule != Stop::Converged =>
                {
                    let start = Start::new(body, &next, t, h);
                    convected::step(*stopping, &mut self.frame, body, &start, work)?
                }
                Substep::Implicit(scheme) => scheme.visited_by(Implicit {
                    body,
                    state: &next,
                    t,
                    h,
                    memory: &mut self.memory,
                    handover: &mut handover,
                    work,
                })?,
                Substep::Outside(Outside(scheme)) => {
                    let (memory, handover) = (&mut self.memory, &mut handover);
                    let taking = Taking { body, state: &next, interval: (t, h), memory, handover, work };
                    G::take_outside(&**scheme, taking)?
                }
                Substep::Kinematic(map, choice) => kinematic::step(*map, *choice, body, &next, t, h)?,
                Substep::System(_) => return Err(StepError::NeedsSystem),
                Substep::Mkrk => match &mut self.stages {
                    Some(stages) => stages.step(body, &next, t, h, work)?,
                    None => return Err(StepError::NoStart { reason: "the method has no tableau".into() }),
                },
            };
        }
        Ok(next)
    }
}

impl<G: Dynamics> Stepper<f64, G> {
    /// What influences the next step from this state, and the counters.
    pub(crate) fn keep(&mut self, state: &State<f64, G>, archive: &mut Archive<'_>) {
        self.memory.keep_with((*state, Rates::zero()), archive);
        self.frame.keep_with((*state, Frame::of(state)), archive);
        self.work.keep(archive);
    }
}

/// A step of an implicit scheme.
struct Implicit<'a, S: Real, G: Dynamics> {
    body: &'a dyn AnyBody<S, G>,
    state: &'a State<S, G>,
    t: S,
    h: S,
    memory: &'a mut Memory<S, G, Rates<S, G>>,
    handover: &'a mut Handover<S, G>,
    work: &'a mut Work,
}

impl<S: Real, G: Dynamics> Visitor for Implicit<'_, S, G> {
    type Output = Result<State<S, G>, StepError>;
    #[inline(always)]
    fn visit<E: Scheme>(self, scheme: &E) -> Self::Output {
        scheme.step(self.body, self.state, (self.t, self.h), self.memory, self.handover, self.work)
    }
}

/// A group on which bodies are stepped in the scalar `S`. For plain numbers the steps of all methods are compiled in this
/// library, once; for other scalars where they are used.
pub trait Steps<S: Real>: Dynamics {
    /// See [`Stepper::step`].
    fn take(
        stepper: &mut Stepper<S, Self>,
        body: &dyn AnyBody<S, Self>,
        state: &State<S, Self>,
        t: S,
        h: S,
    ) -> Result<State<S, Self>, StepError>;
    #[doc(hidden)]
    fn take_outside(scheme: &dyn OutsideScheme, taking: Taking<'_, S, Self>) -> Taken<S, Self>;
}

macro_rules! steps {
    ($group:ty, $scalar:ty, |$scheme:ident, $taking:ident| $outside:expr, $(#[$inline:meta])? $([$($generic:tt)*])?) => {
        impl$(<$($generic)*>)? Steps<$scalar> for $group {
            $(#[$inline])?
            fn take(
                stepper: &mut Stepper<$scalar, Self>,
                body: &dyn AnyBody<$scalar, Self>,
                state: &State<$scalar, Self>,
                t: $scalar,
                h: $scalar,
            ) -> Result<State<$scalar, Self>, StepError> {
                stepper.take(body, state, t, h)
            }
            $(#[$inline])?
            fn take_outside(
                $scheme: &dyn OutsideScheme,
                $taking: Taking<'_, $scalar, Self>,
            ) -> Taken<$scalar, Self> {
                $outside
            }
        }
    };
}
steps!(So3, f64, |scheme, taking| scheme.so3(taking),);
steps!(Se3, f64, |scheme, taking| scheme.se3(taking),);
// Inlined, and so compiled only where they are used.
steps!(So3, F64x4, |scheme, taking| scheme.so3_lanes(taking), #[inline]);
steps!(Se3, F64x4, |scheme, taking| scheme.se3_lanes(taking), #[inline]);
steps!(So3, Dd, |scheme, taking| scheme.so3_dd(taking), #[inline]);
steps!(Se3, Dd, |scheme, taking| scheme.se3_dd(taking), #[inline]);
steps!(So3, Dual<S, N>, |scheme, _taking| no_duals(scheme), [S: Real, const N: usize]);
steps!(Se3, Dual<S, N>, |scheme, _taking| no_duals(scheme), [S: Real, const N: usize]);

#[cold]
fn no_duals<S: Real, G: Dynamics>(scheme: &dyn OutsideScheme) -> Taken<S, G> {
    let reason = format!(
        "the scheme {scheme:?} was made outside polhode and runs in numbers without derivatives only"
    );
    Err(StepError::NoDerivative { reason })
}
