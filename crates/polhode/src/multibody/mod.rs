//! Systems of rigid bodies, joints and forces, and the generalized-alpha integrators of Brüls & Eberhard 2008 for them.
//!
//! A body has the position of its centre of mass and its attitude, on R³×SO(3); a joint forbids some of the relative
//! motion of two frames and reports its reaction as multipliers. Elements never see the integrator: they give forces and
//! constraints at a pose, and derivatives with respect to a change (ξ, Θ) of it, and the integrator multiplies them.

mod approach;
mod arrange;
mod between;
mod bushing;
mod centered;
mod closing;
mod compiled;
mod contradiction;
mod coordinate;
mod decay;
mod differentiated;
mod eased;
mod equations;
mod error;
mod finite;
mod followers;
mod force;
mod frame;
mod gear;
mod history;
mod initial;
mod iterate;
mod joint;
mod kinds;
mod layout;
mod leaves;
mod lift;
mod matrix;
mod meter;
mod own;
mod parameters;
mod place;
mod projection;
mod reading;
mod reduction;
mod redundancy;
mod shared;
mod signal;
mod simulation;
mod split;
mod state;
mod stored;
mod structured;
mod symmetry;
mod system;
mod tape;
mod valueless;
mod variational;
mod workspace;

pub use crate::formula::{MOST_NUMBERS, OwnError};
pub use crate::lookup::ParameterError;
pub(crate) use between::Moment;
pub use bushing::Bushing;
pub use compiled::SystemScalar;
pub use coordinate::{Coordinate, JointStart};
pub use differentiated::{Differentiated, DifferentiationError, Dual1, Variant};
pub use error::{AssemblyError, SystemError};
pub use force::{Force, ForceKind, Strains};
pub use initial::Assembly;
pub use joint::{Joint, JointKind, MOST_ROWS};
pub use own::{ForceFormula, Frames, JointFormula, MovingFrames, OwnForce, OwnJoint, Push};
pub use parameters::SystemParameter;
pub use place::Place;
pub use reading::Reaction;
pub use reduction::{Origin, Reduced, Reduction};
pub use shared::IntoShared;
pub use signal::{MOST_SIGNALS, Signal, Signals};
pub use simulation::{Simulation, SimulationError, Violation};
pub use state::{BodyMotion, CoordinateState};
pub use symmetry::Symmetry;
pub use system::{Coordinates, End, GROUND, Held, Rigid, System};
pub(crate) use valueless::{LOOKS, Valueless, side};
