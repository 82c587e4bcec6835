//! Why a system was refused, or has no consistent start.

use crate::body::InertiaError;
use crate::lookup::plain;
use core::fmt;
use std::borrow::Cow;

/// Why a system was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemError {
    /// A name is taken.
    Twice {
        /// What it is a name of.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A frame sits on a body that is not there, or a joint or force on a frame that is not there.
    Missing {
        /// The joint, force or frame.
        element: String,
        /// What it asks for.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// The inertia of a body is invalid.
    Inertia {
        /// The body.
        body: String,
        /// What is wrong with it.
        error: InertiaError,
    },
    /// A number of an element is wrong.
    Number {
        /// The element.
        element: String,
        /// Which number, and what it must be.
        what: Cow<'static, str>,
        /// The number given.
        value: f64,
    },
    /// A matrix of extra coordinates is wrong.
    Matrix {
        /// The coordinates.
        element: String,
        /// Which matrix, and what it must be.
        what: &'static str,
    },
    /// Both ends of a joint or force sit on the same body.
    Itself {
        /// The joint or force.
        element: String,
        /// The body.
        body: String,
    },
    /// A joint does not have the coordinate that is asked for.
    Coordinate {
        /// The joint.
        joint: String,
        /// What it is.
        kind: &'static str,
        /// The coordinate.
        coordinate: &'static str,
    },
    /// Bodies that no joint or force holds.
    Unconnected {
        /// The bodies.
        bodies: Vec<String>,
    },
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice { what, name } => {
                write!(f, "there are two {what} called '{name}'; names must differ")
            }
            Self::Missing { element, what, name, near } => {
                write!(f, "{element} asks for the {what} '{name}', which is not there")?;
                if near.is_empty() { Ok(()) } else { write!(f, "; did you mean {}?", near.join(" or ")) }
            }
            Self::Inertia { body, error } => write!(f, "body '{body}': {error}"),
            Self::Number { element, what, value } => write!(f, "{element}: {what}, got {}", plain(*value)),
            Self::Matrix { element, what } => write!(f, "{element}: {what}"),
            Self::Itself { element, body } => {
                write!(f, "{element} joins the body '{body}' with itself; give it a frame on another body")
            }
            Self::Coordinate { joint, kind, coordinate } => {
                write!(f, "the joint '{joint}' of type {kind} has no {coordinate}")
            }
            Self::Unconnected { bodies } => {
                let (noun, verb, them) = match bodies.len() {
                    1 => ("body", "is", "it"),
                    _ => ("bodies", "are", "them"),
                };
                write!(
                    f,
                    "the {noun} {} {verb} held by no joint and no force, directly or through other bodies; join \
                     {them} to the ground, or say that {them} may fly freely",
                    quoted(bodies)
                )
            }
        }
    }
}

impl std::error::Error for SystemError {}

/// Why there are no consistent initial values.
#[derive(Clone, Debug, PartialEq)]
pub enum AssemblyError {
    /// The rows of these joints depend on each other.
    Dependent {
        /// The joints.
        joints: Vec<String>,
    },
    /// A joint closes only with its frames opposed.
    Reversed {
        /// The joint.
        joint: String,
    },
    /// A rod joins two points that are in one place.
    NoDirection {
        /// The rod.
        joint: String,
    },
    /// The mechanism stands where more motions are possible than anywhere nearby.
    SingularPosition {
        /// The joints whose rows depend on each other there.
        joints: Vec<String>,
    },
    /// Nothing resists a motion of these bodies: they have no inertia about an axis that no joint holds.
    Massless {
        /// The bodies.
        bodies: Vec<String>,
    },
    /// Velocities contradict each other.
    Velocities {
        /// The joint that is furthest from what it asks for.
        joint: String,
        /// By how much, in m/s (or rad/s).
        gap: f64,
    },
    /// The joint is open.
    Open {
        /// The joint that is furthest from closed.
        joint: String,
        /// By how much, in m (or rad).
        gap: f64,
    },
    /// No positions nearby close all joints.
    NotClosed {
        /// The joint that is furthest from closed.
        joint: String,
        /// By how much it is still open, in m (or rad).
        gap: f64,
    },
    /// The equations for the initial values cannot be solved to the digits they need.
    IllConditioned {
        /// What is left of them, relative to their right-hand side.
        residual: f64,
    },
    /// The joints or the loads give numbers that are not finite.
    NotFinite,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dependent { joints } => write!(
                f,
                "the equations for the initial values are singular to the last digit: the joints {} nearly depend on each \
                 other, or masses differ by too many orders of magnitude",
                quoted(joints)
            ),
            Self::Reversed { joint } => write!(
                f,
                "the joint '{joint}' closes only with its frames half a turn from where they coincide: from where the bodies \
                 are drawn their joints lead to another way to close; give positions and attitudes nearer to those that are meant"
            ),
            Self::NoDirection { joint } => write!(
                f,
                "the two points that the rod '{joint}' joins are in one place, where it has no direction; let them start \
                 apart, or give its bodies a spherical joint if they are to stay together"
            ),
            Self::SingularPosition { joints } => write!(
                f,
                "the mechanism stands in a singular position, where it can go on in more than one way: the joints {} depend \
                 on each other here and not nearby; start it a little away from there",
                quoted(joints)
            ),
            Self::Massless { bodies } => match bodies.as_slice() {
                [body] => write!(
                    f,
                    "the body '{body}' has no inertia about an axis about which nothing holds it; give it a moment of inertia \
                     there, or joints that leave it no such motion"
                ),
                _ => write!(
                    f,
                    "the bodies {} have no inertia about an axis about which nothing holds them; give them moments of \
                     inertia there, or joints that leave them no such motion",
                    quoted(bodies)
                ),
            },
            Self::Velocities { joint, gap } => write!(
                f,
                "the joints contradict each other: no velocities fit them all, '{joint}' is off by {gap:.3e} m/s (or rad/s); \
                 drives or rates ask for different motions"
            ),
            Self::Open { joint, gap } => write!(
                f,
                "the initial positions do not fit the joint '{joint}': it is open by {gap:.3e} m (or rad); move its \
                 bodies, or let them be assembled"
            ),
            Self::NotClosed { joint, gap } => write!(
                f,
                "the joints contradict each other: no positions near the given ones close them all, '{joint}' is still \
                 open by {gap:.3e} m (or rad){}",
                // What closes ever more slowly is at its limit.
                if *gap < 1e-5 {
                    "; or they close in a singular position alone, a dead centre or a flat linkage"
                } else {
                    ""
                }
            ),
            Self::IllConditioned { residual } => write!(
                f,
                "the equations for the initial values are too ill-conditioned to solve (relative residual {residual:.1e}): \
                 masses or lengths of the system differ by too many orders of magnitude, or joints nearly depend on each other"
            ),
            Self::NotFinite => write!(f, "the initial values give numbers that are not finite"),
        }
    }
}

impl std::error::Error for AssemblyError {}

/// Names in quotes.
fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}
