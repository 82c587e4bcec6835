//! Why a system cannot be differentiated.

use super::super::simulation::SimulationError;
use core::fmt;

/// Why a system could not be differentiated.
#[derive(Clone, Debug, PartialEq)]
pub enum DifferentiationError {
    /// It could not begin.
    Simulation(SimulationError),
    /// A system with derivatives is not the same as the one without.
    Different {
        /// Its number.
        parameter: usize,
    },
    /// A number of a system with derivatives is not that of the one without.
    Value {
        /// The number of the system.
        parameter: usize,
        /// The name of the number.
        name: String,
        /// Its value in the system with derivatives, and in the plain one.
        values: [f64; 2],
    },
    /// A simplification that this form does not have.
    Variant {
        /// The method.
        id: String,
        /// Why not.
        reason: &'static str,
    },
}

impl fmt::Display for DifferentiationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulation(error) => error.fmt(f),
            Self::Different { parameter } => write!(
                f,
                "the system with derivatives number {parameter} has other bodies, joints, forces or coordinates than the \
                 plain one; make it by System::lift"
            ),
            Self::Value { parameter, name, values: [varied, plain] } => write!(
                f,
                "{name} of the system with derivatives number {parameter} is {varied:?}, that of the plain one {plain:?}; a \
                 derivative changes no value"
            ),
            Self::Variant { id, reason } => write!(f, "{id}: {reason}"),
        }
    }
}

impl std::error::Error for DifferentiationError {}

impl<E: Into<SimulationError>> From<E> for DifferentiationError {
    fn from(error: E) -> Self {
        Self::Simulation(error.into())
    }
}
