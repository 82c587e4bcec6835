//! Derivatives carried through a step are the derivatives of the step, also at an equilibrium, where the values of
//! Newton's method settle at once.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, RotaryInertia, RotationalSpring, State};
use polhode::group::{Rotation, So3};
use polhode::method::{Method, Stepper, Steps};
use polhode::scalar::{Dual, Real};

/// Angle and momentum about the third axis after a step of size 1 on a spring with frequency `omega`.
fn step<S: Real>(method: &Method, omega: f64, [angle, momentum]: [S; 2]) -> [S; 2]
where
    So3: Steps<S>,
{
    let along = |x: S| Vector3::new(S::zero(), S::zero(), x);
    let stiffness = Vector3::from_fn(|_, _| S::lift(omega * omega));
    let inertia = RotaryInertia::unchecked(Matrix3::from_fn(|i, j| S::lift(f64::from(u8::from(i == j)))));
    let body = Body::<S, So3, _> { inertia, load: RotationalSpring { stiffness } };
    let start = State { pose: Rotation::from_rotation_vector(&along(angle)), momentum: along(momentum) };
    let end = Stepper::new(method).step(&body, &start, S::zero(), S::one()).unwrap();
    [end.pose.rotation_vector().z, end.momentum.z]
}

#[test]
fn derivatives_through_a_step_are_exact_at_rest() {
    for method in Method::all() {
        for omega in [0.1, 1.0, 3.0] {
            // Of a function that is odd in the state, a difference over 1e-7 has the derivative to 1e-14.
            let small = 1e-7;
            for i in 0..2 {
                let mut start = [0.0; 2];
                start[i] = small;
                let seeds = [0, 1].map(|k| Dual::<f64, 1> { re: 0.0, eps: [f64::from(u8::from(k == i))] });
                let exact = step(&method, omega, seeds);
                let difference = step(&method, omega, start).map(|x| x / small);
                for (d, e) in difference.iter().zip(exact) {
                    let gap = (d - e.eps[0]).abs();
                    assert!(
                        gap < 1e-9 * (1.0 + omega.powi(8)),
                        "{} ω = {omega}: {d} {}",
                        method.id(),
                        e.eps[0]
                    );
                }
            }
        }
    }
}
