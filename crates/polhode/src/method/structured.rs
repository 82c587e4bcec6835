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
