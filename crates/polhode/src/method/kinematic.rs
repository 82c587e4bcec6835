//! A pose from given velocities: the intrinsic update of Bauchau et al. 2013, eqs (5) and (20),
//! C_f = C_i C*(h V) with the body velocity V of the step.

use crate::body::Dynamics;
use crate::body::{BodyAt, State};
use crate::group::{Coordinates, Map, Vectorial};
use crate::scalar::{Mask, Real};
use crate::solve::StepError;

/// The velocity of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepVelocity {
    /// The mean of those at both ends.
    #[default]
    Mean,
    /// That at half time.
    Midpoint,
}

impl StepVelocity {
    /// All of them.
    pub const ALL: [StepVelocity; 2] = [StepVelocity::Mean, StepVelocity::Midpoint];
    /// The name in method ids.
    pub fn name(self) -> &'static str {
        match self {
            StepVelocity::Mean => "mean",
            StepVelocity::Midpoint => "midpoint",
        }
    }
    /// The velocity of the step from `t` with `h`, where `at` gives it at a time.
    #[inline(always)]
    pub(crate) fn of<S: Real, G: Dynamics>(
        self,
        t: S,
        h: S,
        mut at: impl FnMut(S) -> G::Vector<S>,
    ) -> G::Vector<S> {
        let half = S::lift(0.5);
        match self {
            StepVelocity::Mean => (at(t) + at(t + h)) * half,
            StepVelocity::Midpoint => at(t + h * half),
        }
    }
}

/// The pose after the body velocity `velocity` for a time `h`.
pub fn update<S: Real, G: Dynamics>(
    map: Vectorial,
    pose: &G::Pose<S>,
    velocity: &G::Vector<S>,
    h: S,
) -> Result<G::Pose<S>, StepError> {
    let psi = *velocity * h;
    let (angle, limit) = (G::angular(&psi).length(), map.limit());
    if !angle.below(S::lift(limit)).all() {
        let (h, angle) = (h.largest(), angle.largest());
        return Err(match angle.is_finite() {
            true => StepError::MapLimit { t: 0.0, h, map: map.name(), angle, limit },
            false => StepError::NotFinite { t: 0.0, h },
        });
    }
    Ok(G::normalized(&G::advance(pose, &G::increment(map, &psi))))
}

/// A step of the kinematic methods: the pose by the update, the velocity as it is given.
#[inline(never)]
pub(super) fn step<S: Real, G: Dynamics>(
    map: Vectorial,
    choice: StepVelocity,
    body: &dyn BodyAt<S, G>,
    state: &State<S, G>,
    t: S,
    h: S,
) -> Result<State<S, G>, StepError> {
    let given = |t: S| body.motion_at(t).map(|k| G::vector(&k.velocity_body, &k.omega_body));
    let end = given(t + h).ok_or(StepError::NoMotion)?;
    let velocity = choice.of::<S, G>(t, h, |t| given(t).unwrap_or(end));
    Ok(body.mechanics().state(update::<S, G>(map, &state.pose, &velocity, h)?, &end))
}
