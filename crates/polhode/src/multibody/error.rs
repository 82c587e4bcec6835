//! Why a system was refused.

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
            Self::Unconnected { bodies } => {
                let (noun, verb, them) = match bodies.len() {
                    1 => ("body", "is", "it"),
                    _ => ("bodies", "are", "them"),
                };
                write!(
                    f,
                    "the {noun} {} {verb} held by no joint and no force, directly or through other bodies; join \
                     {them} to the ground, or say that {them} may fly freely",
                    bodies.iter().map(|b| format!("'{b}'")).collect::<Vec<_>>().join(", ")
                )
            }
        }
    }
}

impl std::error::Error for SystemError {}
