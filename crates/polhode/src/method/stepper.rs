//! A method at work on one group and scalar: its parts in sequence, its memory, its counters.

use super::convected::{self, Frame};
use super::euler::{self, BackwardMomentum, BackwardRate};
use super::galpha;
use super::intrinsic::{self, Decaying};
use super::kinematic;
use super::memory::{Memory, Rates};
use super::midpoint::{Akw, Swc1};
use super::mkrk::Stages;
use super::named::Method;
use super::newmark;
use super::registry::Part;
use super::scheme::{self, Start};
use super::trapezoid::Trapezoid;
use crate::body::{Body, Load, State};
use crate::group::{Coordinates, Group};
use crate::scalar::{Mask, Real};
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
pub struct Stepper<S: Real, G: Group> {
    /// What runs, where in the step it begins and what fraction of it it takes.
    parts: Vec<(Part, S, S)>,
    stages: Option<Box<Stages<S, G>>>,
    memory: Memory<S, G, Rates<S, G>>,
    frame: Memory<S, G, Frame<S>>,
    /// What has been spent so far.
    pub work: Work,
}

impl<S: Real, G: Group> Stepper<S, G> {
    /// Prepares a method.
    pub fn new(method: &Method) -> Self {
        let mut begin = 0.0;
        let parts = method.parts().iter().map(|(part, fraction)| {
            let placed = (*part, S::lift(begin), S::lift(*fraction));
            begin += fraction;
            placed
        });
        Stepper {
            parts: parts.collect(),
            stages: method.tableau().map(|t| Box::new(Stages::new(t))),
            memory: Memory::default(),
            frame: Memory::default(),
            work: Work::default(),
        }
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
    ) -> Result<State<S, G>, StepError> {
        if h.largest() > 0.0 && h.below(S::zero()).any() {
            return Err(StepError::MixedLanes);
        }
        // Accelerations from before a jump of the load say nothing about those after it.
        self.memory.forget(body.jumps_at(t, h));
        // A part that fails speaks of its share of the step; the caller knows the whole one.
        let next = self.parts(body, state, t, h).map_err(|error| error.of_step(t.largest(), h.largest()))?;
        let mut sum = S::zero();
        for i in 0..G::Vector::<S>::LEN {
            sum += next.momentum.at(i).abs();
        }
        // The square, because energy and the like must be finite too.
        if (sum * sum).is_finite().and(G::is_finite::<S>(&next.pose)).all() {
            self.memory.keep(&next);
            self.frame.keep(&next);
            Ok(next)
        } else {
            Err(StepError::NotFinite { t: t.largest(), h: h.largest() })
        }
    }

    #[inline(always)]
    fn parts<L: Load<S>>(
        &mut self,
        body: &Body<S, G, L>,
        state: &State<S, G>,
        t: S,
        h: S,
    ) -> Result<State<S, G>, StepError> {
        let mut next = *state;
        for (part, begin, fraction) in &self.parts {
            let (t, h) = (t + *begin * h, *fraction * h);
            let work = &mut self.work;
            next = match part {
                Part::ForwardRate => euler::forward_rate(body, &next, t, h),
                Part::ForwardMomentum => euler::forward_momentum(body, &next, t, h),
                Part::BackwardRate => scheme::step(&BackwardRate, body, &next, t, h, work)?,
                Part::BackwardMomentum => scheme::step(&BackwardMomentum, body, &next, t, h, work)?,
                Part::Swc1 => scheme::step(&Swc1, body, &next, t, h, work)?,
                Part::Akw => scheme::step(&Akw, body, &next, t, h, work)?,
                Part::BbTrap => scheme::step(&Trapezoid::<false>, body, &next, t, h, work)?,
                Part::BbTrapWd => scheme::step(&Trapezoid::<true>, body, &next, t, h, work)?,
                Part::Preserving(map, load) => intrinsic::preserving(*map, *load, body, &next, t, h, work)?,
                Part::Decaying(map) => scheme::step(&Decaying { map: *map }, body, &next, t, h, work)?,
                Part::Galpha(map, alpha) => {
                    galpha::step(*map, *alpha, &mut self.memory, Start::new(body, &next, t, h), work)?
                }
                Part::Newmark(newmark) => {
                    newmark::step(*newmark, &mut self.memory, Start::new(body, &next, t, h), work)?
                }
                Part::Convected(stopping) => {
                    convected::step(*stopping, &mut self.frame, Start::new(body, &next, t, h), work)?
                }
                Part::Kinematic(map, choice) => kinematic::step(*map, *choice, body, &next, t, h)?,
                Part::Alpha(_) => return Err(StepError::NeedsSystem),
                Part::Mkrk => match &mut self.stages {
                    Some(stages) => stages.step(body, &next, t, h, work)?,
                    None => next,
                },
            };
        }
        // Once per step, whatever it is composed of.
        next.pose = G::normalized(&next.pose);
        Ok(next)
    }
}
