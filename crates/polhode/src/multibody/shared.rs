//! Systems that runs own or share, and room for large ones.

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

impl<S: Real> System<S> {
    /// Makes room for so many bodies, frames of their own and joints.
    pub(crate) fn make_room(&mut self, [bodies, frames, joints]: [usize; 3]) {
        self.bodies.reserve_exact(bodies);
        Arc::make_mut(&mut self.frames).reserve(bodies + frames);
        self.joints.reserve_exact(joints);
    }
}
