//! Systems that runs own or share.

use super::system::System;
use crate::scalar::Real;
use std::sync::Arc;

/// A system to run, which a run owns or shares.
pub trait IntoShared<S: Real> {
    /// The system, shared.
    fn into_shared(self) -> Arc<System<S>>;
}

impl<S: Real> IntoShared<S> for System<S> {
    fn into_shared(self) -> Arc<System<S>> {
        Arc::new(self)
    }
}
impl<S: Real> IntoShared<S> for &System<S> {
    fn into_shared(self) -> Arc<System<S>> {
        Arc::new(self.clone())
    }
}
impl<S: Real> IntoShared<S> for Arc<System<S>> {
    fn into_shared(self) -> Arc<System<S>> {
        self
    }
}
impl<S: Real> IntoShared<S> for &Arc<System<S>> {
    fn into_shared(self) -> Arc<System<S>> {
        self.clone()
    }
}
