//! Poses from given velocities: samples, as a gyroscope gives them, or a function of time.

use super::Plan;
use crate::body::Dynamics;
use crate::group::{Coordinates, Vectorial};
use crate::method::{StepVelocity, kinematic::update};
use crate::solve::StepError;
use core::fmt;

/// Why samples make no motion.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleError {
    /// Not as many velocities as times.
    Length {
        /// Times.
        times: usize,
        /// Velocities.
        velocities: usize,
    },
    /// A time that is not after the one before it, or not a number.
    Time {
        /// Number of the sample, from zero.
        sample: usize,
        /// Its time.
        time: f64,
    },
    /// A velocity that is not a number.
    Velocity {
        /// Number of the sample, from zero.
        sample: usize,
    },
    /// The body turns too far between two samples.
    Step {
        /// Number of the first of them, from zero.
        sample: usize,
        /// How far.
        error: StepError,
    },
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { times, velocities } => {
                write!(f, "{times} times with {velocities} velocities: give one each")
            }
            Self::Time { sample, time } => {
                write!(f, "sample {sample}: the time {time} is not after the one before it")
            }
            Self::Velocity { sample } => write!(f, "sample {sample}: the velocity is not a finite number"),
            Self::Step { sample, error } => write!(f, "after sample {sample}: {error}"),
        }
    }
}

impl std::error::Error for SampleError {}

/// The poses at the times of samples of the body velocity, as a gyroscope gives them: from one sample to the next with
/// the mean of both.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::group::{Rotation, So3, Vectorial};
/// use polhode::run::kinematic;
/// let times: Vec<f64> = (0..=100).map(|k| 0.01 * f64::from(k)).collect();
/// let omega: Vec<_> = times.iter().map(|t| Vector3::new(0.0, 0.0, 2.0 * t)).collect();
/// let poses = kinematic::from_samples::<So3>(Vectorial::default(), &Rotation::identity(), &times, &omega)?;
/// assert!((poses[100].rotation_vector().z - 1.0).abs() < 1e-14);
/// # Ok::<(), kinematic::SampleError>(())
/// ```
pub fn from_samples<G: Dynamics>(
    map: Vectorial,
    start: &G::Pose<f64>,
    times: &[f64],
    velocities: &[G::Vector<f64>],
) -> Result<Vec<G::Pose<f64>>, SampleError> {
    if times.len() != velocities.len() {
        return Err(SampleError::Length { times: times.len(), velocities: velocities.len() });
    }
    let mut poses = Vec::with_capacity(times.len());
    for (k, (time, velocity)) in times.iter().zip(velocities).enumerate() {
        if !velocity.length().is_finite() {
            return Err(SampleError::Velocity { sample: k });
        }
        let Some(before) = k.checked_sub(1) else {
            if !time.is_finite() {
                return Err(SampleError::Time { sample: k, time: *time });
            }
            poses.push(*start);
            continue;
        };
        let h = time - times[before];
        if !(h.is_finite() && h > 0.0) {
            return Err(SampleError::Time { sample: k, time: *time });
        }
        let mean = (velocities[before] + *velocity) * 0.5;
        let pose = update::<f64, G>(map, &poses[before], &mean, h)
            .map_err(|error| SampleError::Step { sample: before, error: error.of_step(times[before], h) })?;
        poses.push(pose);
    }
    Ok(poses)
}

/// The pose at the end of a plan, from a body velocity that is a function of time.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::group::{MapKind, Rotation, So3};
/// use polhode::method::StepVelocity;
/// use polhode::run::{Plan, kinematic};
/// let omega = |t: f64| Vector3::new(t.cos(), t.sin(), 1.0);
/// let end = |step| {
///     let (map, plan) = (MapKind::Cayley.into(), Plan::new(step, 1.0)?);
///     let end = kinematic::from_function::<So3>(map, &Rotation::identity(), &plan, StepVelocity::Midpoint, omega)?;
///     Ok::<_, Box<dyn std::error::Error>>(end)
/// };
/// let (coarse, fine, exact) = (end(0.02)?, end(0.01)?, end(0.0005)?);
/// let order = (coarse.distance(&exact) / fine.distance(&exact)).log2();
/// assert!((order - 2.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_function<G: Dynamics>(
    map: Vectorial,
    start: &G::Pose<f64>,
    plan: &Plan,
    choice: StepVelocity,
    mut velocity: impl FnMut(f64) -> G::Vector<f64>,
) -> Result<G::Pose<f64>, StepError> {
    let mut pose = *start;
    for n in 0..plan.steps() {
        let (t, h) = (plan.time(n), plan.size(n));
        let v = choice.of::<f64, G>(t, h, &mut velocity);
        pose = update::<f64, G>(map, &pose, &v, h).map_err(|error| error.of_step(t, h))?;
    }
    Ok(pose)
}
