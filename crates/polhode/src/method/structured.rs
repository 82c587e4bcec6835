//! Steps for systems of bodies and joints that keep what the motion keeps, or let it decay: which one, and its choices. The
//! steps themselves are in [`crate::multibody`].

use super::alpha::AlphaScheme;
use crate::group::MapKind;

/// A step by finite derivatives in convected base vectors, which joints hold by the multipliers of the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConservingScheme {
    /// True if the velocities satisfy the joints too, false for index 3.
    pub stabilized: bool,
    /// χ of a step that lets the energy of stiff elements decay; `None` keeps all energy.
    pub decay: Option<f64>,
}

/// A step from a discrete Lagrangian: RATTLE on the group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariationalScheme {
    /// The map from the parameters of a step to its rotation: exponential or Cayley.
    pub map: MapKind,
}

/// A step of a method for systems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SystemScheme {
    /// One of the generalized-alpha forms.
    Alpha(AlphaScheme),
    /// Finite derivatives.
    Conserving(ConservingScheme),
    /// A discrete Lagrangian.
    Variational(VariationalScheme),
}

impl ConservingScheme {
    /// Both levels of the joints, all energy.
    pub const STABILIZED: Self = ConservingScheme { stabilized: true, decay: None };
    /// All energy of stiff vibrations goes.
    pub const DECAYING: Self = ConservingScheme { stabilized: false, decay: Some(1.0) };
}

impl SystemScheme {
    /// True if a step has multipliers for the velocities of joints too.
    pub(crate) fn is_stabilized(&self) -> bool {
        match self {
            SystemScheme::Alpha(scheme) => scheme.stabilized,
            SystemScheme::Conserving(scheme) => scheme.stabilized,
            SystemScheme::Variational(_) => false,
        }
    }
    /// Why a symmetric composition of the step would not have the order that it should have, if so.
    pub(super) fn cannot_compose(&self) -> Option<&'static str> {
        match self {
            SystemScheme::Conserving(ConservingScheme { stabilized: false, decay: None }) => Some(
                "with constraints=index3 the velocities across the joints alternate from step to step, and compositions stay \
                 at order 2; compose conserving with constraints=stabilized",
            ),
            _ => None,
        }
    }
}

/// What a method keeps of the motion of a system of bodies and joints, to round-off at any step that it can take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemClaims {
    /// Energy, where forces have potentials; with the work of drives and of the rest where they have not.
    pub energy: bool,
    /// Momentum of what nothing holds.
    pub momentum: bool,
    /// Its angular momentum, and that about every axis that loads and joints allow.
    pub angular_momentum: bool,
    /// Joints at the level of positions.
    pub joint_positions: bool,
    /// Joints at the level of velocities.
    pub joint_velocities: bool,
    /// The symplectic form of the motions that the joints allow.
    pub symplectic: bool,
}

impl SystemClaims {
    /// Each claim with a name and its truth, in a fixed order.
    pub fn list(&self) -> [(&'static str, bool); 6] {
        [
            ("energy", self.energy),
            ("momentum", self.momentum),
            ("angular_momentum", self.angular_momentum),
            ("joint_positions", self.joint_positions),
            ("joint_velocities", self.joint_velocities),
            ("symplectic", self.symplectic),
        ]
    }
}

impl SystemScheme {
    /// What it keeps.
    pub(super) fn keeps(&self) -> SystemClaims {
        let joints = SystemClaims { momentum: true, joint_positions: true, ..SystemClaims::default() };
        match self {
            SystemScheme::Alpha(scheme) => SystemClaims { joint_velocities: scheme.stabilized, ..joints },
            SystemScheme::Conserving(ConservingScheme { stabilized, decay: None }) => {
                SystemClaims { energy: true, angular_momentum: true, joint_velocities: *stabilized, ..joints }
            }
            SystemScheme::Conserving(_) => {
                SystemClaims { angular_momentum: true, joint_velocities: true, ..joints }
            }
            SystemScheme::Variational(_) => {
                SystemClaims { angular_momentum: true, joint_velocities: true, symplectic: true, ..joints }
            }
        }
    }
}
