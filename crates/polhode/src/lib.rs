//! Structure-preserving time integration of rigid bodies and of systems of bodies and joints, on the rotation group SO(3) and
//! the motion group SE(3), with exact sensitivities.
//!
//! A [`multibody::System`] is the model: bodies, joints, forces, loads. A [`method::Method`] is chosen by its id from one
//! registry. [`run::begin`] makes a run of both and [`run::drive`] steps it: one-step methods run a system of one body on its
//! group, the generalized-alpha methods run any. [`sensitivity`] differentiates what a run computes, [`identify`] finds
//! parameters from measurements, [`check`] measures the order and what is kept, and [`problem`] has benchmarks with their exact
//! solutions.
//!
//! # Conventions
//!
//! - Units are SI, and radians.
//! - A rotation is active and takes vectors of the body to space: x = R y. Attitudes are unit quaternions, scalar first
//!   (`q_wxyz`); as a matrix, [`group::Rotation::matrix`] is R.
//! - Names say the axes: `omega_body` is in axes of the body, `momentum_space` in axes of space. A turn θ of an attitude is in
//!   body axes, R' = R θ̃.
//! - `position` and `velocity` are those of the origin of a body, which is its centre of mass unless it has a `center`, in
//!   space. Velocities on SE(3) are {v, Ω}, linear part first, in body axes.
//! - `momentum_body` of one body is about its fixed point or its origin, of one of several about its centre of mass;
//!   `momentum_space` is about the origin of space.
//! - Gravity is an acceleration in space. Energy counts all that has a potential.
//!
//! # One body
//!
//! ```
//! use core::ops::ControlFlow;
//! use nalgebra::{Matrix3, Vector3};
//! use polhode::multibody::{Rigid, System};
//! use polhode::{method::Method, run::{Plan, begin, drive}};
//! use std::sync::Arc;
//!
//! let mut system = System::new(Vector3::zeros());
//! let brick = Rigid::new(1.0, Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
//! system.body("brick", brick.moving(Vector3::zeros(), Vector3::new(0.1, 1.0, 0.2)).on_fixed_point())?;
//! let mut run = begin(&Arc::new(system), &Method::parse("akw")?)?;
//! let end = drive(&mut *run, &Plan::new(0.01, 10.0)?, &mut |_, _| ControlFlow::Continue(()))?;
//! assert!(end.drift.momentum_space.unwrap() < 1e-13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`method::Stepper`] steps a [`body::Body`] by hand, in any scalar: four at once in lanes, with derivatives, with 31 digits.
//!
//! # A system, and how it depends on its numbers
//!
//! ```
//! use core::ops::ControlFlow;
//! use nalgebra::{Matrix3, Vector3};
//! use polhode::multibody::{GROUND, JointKind, Rigid, System};
//! use polhode::{method::Method, run::Plan, sensitivity::Sensitivity};
//!
//! let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
//! let arm = Rigid::new(2.0, Matrix3::identity() * 0.1)?.at(Vector3::x(), Default::default());
//! system.body("arm", arm)?;
//! system.frame("shoulder", "arm", -Vector3::x(), Default::default())?;
//! system.joint("pivot", JointKind::Spherical, GROUND, "shoulder")?;
//! let by_mass = Sensitivity::of_system(&system, &["arm.mass"], &Method::parse("geometric-alpha")?)?;
//! let mut slope = 0.0;
//! by_mass.run(&Plan::new(1e-3, 0.5)?, &mut |_, run| {
//!     slope = run.derivative(0).map_or(0.0, |seen| seen.bodies[0].position().z.eps[0]);
//!     ControlFlow::Continue(())
//! })?;
//! // A heavier arm falls faster: its inertia about its centre counts for less.
//! assert!(slope < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Of one's own
//!
//! A load is a [`body::Formula`], a joint a [`multibody::JointFormula`], a force between bodies a
//! [`multibody::ForceFormula`], a method a [`method::Scheme`]: each is one function, generic in the scalar, from which all
//! derivatives follow.

mod archive;
pub mod body;
pub mod check;
pub mod draw;
pub mod ensemble;
pub mod expression;
pub mod fit;
mod formula;
pub mod group;
pub mod identify;
#[cfg(test)]
mod layers;
mod lookup;
pub mod method;
pub mod model;
pub mod multibody;
pub mod problem;
pub mod reference;
pub mod run;
pub mod scalar;
pub mod sensitivity;
pub mod solve;

/// The programs on the pages, which run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/models.md")]
    struct Models;
    #[doc = include_str!("../../../docs/systems.md")]
    struct Systems;
    #[doc = include_str!("../../../docs/sensitivities.md")]
    struct Sensitivities;
}
