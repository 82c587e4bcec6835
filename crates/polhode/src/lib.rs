//! Structure-preserving time integration of rigid bodies on SO(3) and SE(3).
//!
//! polhode puts the one-step methods of the rigid-body literature behind one problem definition: a
//! [`body::Body`] with its inertia and loads, a [`method::Method`] chosen by id from one registry, and a
//! [`run`] that steps it, watches its invariants and records it.

mod archive;
pub mod body;
pub mod check;
pub mod fit;
mod formula;
pub mod group;
pub mod identify;
#[cfg(test)]
mod layers;
mod lookup;
pub mod method;
pub mod multibody;
pub mod problem;
pub mod reference;
pub mod run;
pub mod scalar;
pub mod sensitivity;
pub mod solve;
