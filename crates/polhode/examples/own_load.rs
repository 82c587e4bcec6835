//! A load of one's own: a torsional spring about the vertical, with its potential, under an energy watch.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, Kinematics, Load, RotaryInertia, Wrench};
use polhode::group::{Rotation, So3};
use polhode::method::Method;
use polhode::run::{BodyRun, Plan, drive};
use polhode::scalar::Over;
use std::ops::ControlFlow;

/// V = k (1 - R₁₁): pulls the body's first axis towards the first axis of space.
struct Aligning {
    k: f64,
}

impl Load<f64> for Aligning {
    fn wrench<T: Over<f64>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        // dV = -k e₁·R(θ × e₁) = -k (e₁ × Rᵀ e₁)·θ, and the moment is minus that.
        let e1 = Vector3::new(T::one(), T::zero(), T::zero());
        Wrench::moment(e1.cross(&at.attitude.unrotate(&e1)) * T::of(self.k))
    }
    fn potential<T: Over<f64>>(&self, at: &Kinematics<T>) -> Option<T> {
        let e1 = Vector3::new(T::one(), T::zero(), T::zero());
        Some((T::one() - at.attitude.rotate(&e1)[0]) * T::of(self.k))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
    let body = Body::<f64, So3, _> { inertia, load: Aligning { k: 3.0 } };
    let start = body.state(Rotation::identity(), &Vector3::new(0.2, 1.0, 0.5));
    let mut run = BodyRun::new(body, start, &Method::parse("compose:imidm:6")?);
    let end = drive(&mut run, &Plan::new(0.02, 50.0)?, &mut |_, _| ControlFlow::Continue(()))?;
    let drift = end.drift.energy.map_or(f64::NAN, |e| e.max_abs());
    println!("energy drift over {} steps: {drift:.1e}", end.steps);
    assert!(drift < 1e-9);
    Ok(())
}
