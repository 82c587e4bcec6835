//! Schemes that are written outside this library.

use super::implicit::Solved;
use super::memory::Memory;
use super::scheme::{Handover, Rates, Scheme};
use crate::body::Dynamics;
use crate::body::{AnyBody, State};
use crate::group::{Se3, So3};
use crate::scalar::{Dd, F64x4, Real};
use crate::solve::{StepError, Work};
use core::fmt::Debug;
use std::sync::Arc;

/// A step that a scheme is to take.
pub struct Taking<'a, S: Real, G: Dynamics> {
    pub(super) body: &'a dyn AnyBody<S, G>,
    pub(super) state: &'a State<S, G>,
    pub(super) interval: (S, S),
    pub(super) memory: &'a mut Memory<S, G, Rates<S, G>>,
    pub(super) handover: &'a mut Handover<S, G>,
    pub(super) work: &'a mut Work,
}

/// Where it led to.
pub type Taken<S, G> = Result<State<S, G>, StepError>;

macro_rules! outside {
    ($($(#[$doc:meta])* $name:ident: $scalar:ty, $group:ty;)*) => {
        /// A scheme behind an object, for the scalars in which outside schemes run.
        pub trait OutsideScheme: Send + Sync + Debug {
            $(
                /// A step.
                fn $name(&self, taking: Taking<'_, $scalar, $group>) -> Taken<$scalar, $group>;
            )*
        }
        impl<E: Scheme + Send + Sync + Debug> OutsideScheme for E {
            $(fn $name(&self, taking: Taking<'_, $scalar, $group>) -> Taken<$scalar, $group> {
                let Taking { body, state, interval, memory, handover, work } = taking;
                self.step(body, state, interval, memory, handover, work)
            })*
        }
    };
}
outside!(
    so3: f64, So3;
    se3: f64, Se3;
    so3_lanes: F64x4, So3;
    se3_lanes: F64x4, Se3;
    so3_dd: Dd, So3;
    se3_dd: Dd, Se3;
);

/// A scheme written outside this library.
#[derive(Clone, Debug)]
pub(super) struct Outside(pub(super) Arc<dyn OutsideScheme>);

impl PartialEq for Outside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
