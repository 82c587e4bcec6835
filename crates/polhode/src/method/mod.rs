//! The methods: schemes with a residual each, Runge-Kutta tableaus, compositions, and the registry of them all.

mod alpha;
mod citation;
mod composition;
mod convected;
mod derived;
mod euler;
mod galpha;
mod intrinsic;
pub mod kinematic;
mod memory;
mod midpoint;
mod mkrk;
mod named;
mod newmark;
mod options;
mod registry;
mod scheme;
mod stepper;
mod tableau;
mod trapezoid;

pub use alpha::{AlphaScheme, Chart, Form, SYSTEMS};
pub use citation::{Source, WORKS, Work, works_cited};
pub use composition::Coefficients;
pub use convected::{Frames, Stop};
pub use derived::Derived;
pub use galpha::Alpha;
pub use intrinsic::StepLoad;
pub use kinematic::StepVelocity;
pub use named::{Method, MethodError, nearest};
pub use newmark::{Balance, StartMoment};
pub use options::Choice;
pub use registry::{Claims, KINEMATIC, REGISTRY, Row};
pub use scheme::{One, Outcome, Range, Scheme, Start, Two, Unknown};
pub use stepper::Stepper;
pub use tableau::{Tableau, TableauError, TableauKind};
