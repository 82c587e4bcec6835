//! Systems in the scalars for which this library compiles them.

use super::simulation::{Simulation, SimulationError};
use super::system::System;
use crate::method::Method;
use crate::scalar::{Dual, Scalar};
use crate::solve::StepError;
use std::sync::Arc;

/// A scalar in which systems run: plain numbers, and numbers with one derivative. Starts, and steps in plain numbers, come
/// compiled from this library, instead of being compiled anew in every program that uses them. Steps in numbers with a derivative
/// are compiled where they are used: the derivatives of this library do without them.
pub trait SystemScalar: Scalar {
    /// See [`Simulation::new`]; without a method, [`Simulation::check`].
    #[doc(hidden)]
    fn begin(
        system: Arc<System<Self>>,
        method: Option<&Method>,
        may_move: bool,
    ) -> Result<Simulation<Self>, SimulationError>;
    /// See [`Simulation::step`].
    #[doc(hidden)]
    fn step(simulation: &mut Simulation<Self>, h: Self) -> Result<(), StepError>;
    /// See [`Simulation::restart`].
    #[doc(hidden)]
    fn restart(simulation: &mut Simulation<Self>) -> Result<(), StepError>;
}

// What is inlined is compiled only where it is used.
macro_rules! compiled {
    ($($scalar:ty $(, $inline:meta)?;)*) => {$(
        impl SystemScalar for $scalar {
            fn begin(
                system: Arc<System<Self>>,
                method: Option<&Method>,
                may_move: bool,
            ) -> Result<Simulation<Self>, SimulationError> {
                Simulation::checked(system, method, may_move)
            }
            $(#[$inline])?
            fn step(simulation: &mut Simulation<Self>, h: Self) -> Result<(), StepError> {
                simulation.advance(h)
            }
            fn restart(simulation: &mut Simulation<Self>) -> Result<(), StepError> {
                simulation.start_anew()
            }
        }
    )*};
}
compiled!(
    f64;
    Dual<f64, 1>, inline;
);
