//! What is carried from step to step.

use super::system::Rigid;
use crate::archive::kept;
use crate::group::Rotation;
use crate::scalar::{Mask, Real};
use nalgebra::Vector3;

/// A body in motion. All is geometric, none of it depends on the parameters of a chart.
#[derive(Clone, Copy, Debug)]
pub struct BodyMotion<S: Real> {
    /// Position of the centre of mass, in space.
    pub position: Vector3<S>,
    /// Its velocity.
    pub velocity: Vector3<S>,
    /// Its acceleration.
    pub acceleration: Vector3<S>,
    /// Attitude, body to space.
    pub attitude: Rotation<S>,
    /// Angular velocity, in body axes.
    pub omega_body: Vector3<S>,
    /// Its rate.
    pub omega_rate: Vector3<S>,
    /// The algorithmic acceleration a, eq. (88).
    pub(super) algorithmic: Vector3<S>,
    /// The same for the rotation, A = T a + Ṫ φ̇.
    pub(super) algorithmic_rate: Vector3<S>,
    /// g_α of the residual form, force in space and moment in body axes, eqs (84), (95); of a step that is not a
    /// generalized-alpha one nothing and the angular momentum about the centre of mass, in space.
    pub(super) carried: [Vector3<S>; 2],
    /// The parameters φ of the attitude since `reference`.
    pub(super) parameters: Vector3<S>,
    /// R_ref.
    pub(super) reference: Rotation<S>,
}

/// Extra coordinates in motion.
#[derive(Clone, Debug, Default)]
pub struct CoordinateState<S> {
    /// Positions.
    pub position: Vec<S>,
    /// Velocities.
    pub velocity: Vec<S>,
    /// Accelerations.
    pub acceleration: Vec<S>,
    pub(super) algorithmic: Vec<S>,
    pub(super) carried: Vec<S>,
}

impl<S: Real> Rigid<S> {
    /// The angular velocity that belongs to the angular momentum of a body in motion. About an axis without inertia, which the
    /// momentum does not see, it is the one found otherwise: a rod has two moments J that are equal, so that its tensor is J times
    /// a projection, and a point has none.
    pub(super) fn spin_of(&self, moving: &BodyMotion<S>, found: Vector3<S>) -> Vector3<S> {
        let momentum = moving.attitude.unrotate(&moving.carried[1]);
        if self.turns_every_way() {
            return self.inertia.inverse.times(&momentum);
        }
        let (inertia, moment) = (self.inertia.matrix(), self.inertia.matrix().trace() * S::lift(0.5));
        match moment.largest() > 0.0 {
            true => found + inertia * ((momentum - inertia * found) / moment) / moment,
            false => found,
        }
    }
    /// True if it has inertia about every axis.
    pub(super) fn turns_every_way(&self) -> bool {
        self.inertia.inverse.matrix().iter().all(|x| x.is_finite().all())
    }
}

kept!(BodyMotion<f64> {
    position, velocity, acceleration, attitude, omega_body, omega_rate, algorithmic, algorithmic_rate, carried, parameters,
    reference,
});
kept!(CoordinateState<f64> { position, velocity, acceleration, algorithmic, carried });
