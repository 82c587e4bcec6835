//! The methods: schemes with a residual each, Runge-Kutta tableaus, compositions, and the registry of them all.

mod composition;
mod euler;
mod midpoint;
mod mkrk;
mod registry;
mod scheme;
mod stepper;
mod tableau;
mod trapezoid;

pub use composition::Coefficients;
pub use registry::{Claims, Method, MethodError, REGISTRY, Row, nearest};
pub use scheme::{Scheme, Start};
pub use stepper::Stepper;
pub use tableau::{Tableau, TableauError, TableauKind};
