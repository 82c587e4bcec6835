//! The methods: schemes with a residual each, Runge-Kutta tableaus, compositions, and the registry of them all.

mod alpha;
mod composition;
mod convected;
mod derived;
mod euler;
mod galpha;
mod implicit;
mod intrinsic;
pub mod kinematic;
mod memory;
mod midpoint;
mod mkrk;
mod named;
mod newmark;
mod options;
mod outside;
mod registry;
mod scheme;
mod schemes;
mod stepper;
mod tableau;
mod trapezoid;

pub use alpha::{AlphaScheme, Chart, Form, SYSTEMS};
pub use composition::Coefficients;
pub use convected::{Frames, Stop};
pub use derived::Derived;
pub use galpha::Alpha;
pub use intrinsic::StepLoad;
pub use kinematic::StepVelocity;
pub use named::{Method, MethodError, SchemeFacts, nearest};
pub use newmark::{Balance, StartMoment};
pub use options::Choice;
pub use registry::{Claims, KINEMATIC, REGISTRY, Row};
pub use scheme::{Accelerations, Of, One, Outcome, Range, Rates, Scheme, Start, Two, Unknown};
pub use stepper::{Stepper, Steps};
pub use tableau::{Tableau, TableauError, TableauKind};
