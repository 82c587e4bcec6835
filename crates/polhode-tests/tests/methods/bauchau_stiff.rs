//! Bauchau et al. 2013 at steps far longer than the fastest period: the spectral radii of the linear oscillator, from
//! the schemes themselves, and a body on a stiff spring.

use crate::common::{method, prints_as};
use core::ops::ControlFlow;
use nalgebra::{Complex, Matrix2, Matrix3, Matrix4x3, Vector3, Vector4};
use polhode::body::{Body, Loads, RotaryInertia, RotationalSpring, State};
use polhode::group::{Rotation, So3};
use polhode::method::Stepper;
use polhode::problem::Problem;
use polhode::run::{Plan, Run, Snapshot};

const MAPS: [&str; 4] = ["exp", "euler-rodrigues", "cayley", "wiener-milenkovic"];
const LOADS: [&str; 2] = ["midpoint", "mean"];

/// So small that every map is linear.
const SMALL: f64 = 1e-8;

/// Angle and momentum / ω after 0, 1, … n steps, over `amplitude`, for a body with unit inertia on a spring that makes
/// it swing with ω, where h = 1; a column for a start with either. A one-step method gives the powers of its
/// amplification matrix.
fn responses(id: &str, omega: f64, amplitude: f64, n: usize) -> Vec<Matrix2<f64>> {
    let spring = RotationalSpring { stiffness: Vector3::from_element(omega * omega) };
    let inertia = RotaryInertia::about_fixed_point(Matrix3::identity()).unwrap();
    let body = Body::<f64, So3, _> { inertia, load: Loads::none().with(spring) };
    let about_third = |x: f64| Vector3::new(0.0, 0.0, x * amplitude);
    let mut states = [(1.0, 0.0), (0.0, omega)].map(|(angle, momentum)| State::<f64, So3> {
        pose: Rotation::from_rotation_vector(&about_third(angle)),
        momentum: about_third(momentum),
    });
    let mut steppers = [(); 2].map(|()| Stepper::new(&method(id)));
    let mut found = Vec::new();
    for k in 0..=n {
        let rows = [
            states.map(|s| s.pose.rotation_vector().z / amplitude),
            states.map(|s| s.momentum.z / (omega * amplitude)),
        ];
        found.push(Matrix2::from_fn(|i, j| rows[i][j]));
        for (state, stepper) in states.iter_mut().zip(&mut steppers) {
            *state = stepper
                .step(&body, state, k as f64, 1.0)
                .unwrap_or_else(|e| panic!("{id} ωh = {omega}: {e}"));
        }
    }
    found
}

/// The eigenvalues of a step.
fn eigenvalues(id: &str, omega: f64) -> [Complex<f64>; 2] {
    responses(id, omega, SMALL, 1)[1].complex_eigenvalues().into()
}

fn radius(values: &[Complex<f64>]) -> f64 {
    values.iter().fold(0.0, |most, z| most.max(z.norm()))
}

/// The characteristic polynomial z³ = a z² + b z + c of the generalized-alpha scheme, which carries an acceleration
/// beside angle and momentum: what one sees of the three satisfies y₃ = a y₂ + b y₁ + c y₀.
fn polynomial(id: &str, omega: f64) -> [f64; 3] {
    let y = responses(id, omega, SMALL, 3);
    let entries = |m: &Matrix2<f64>| Vector4::from_column_slice(m.as_slice());
    let equations = Matrix4x3::from_columns(&[entries(&y[2]), entries(&y[1]), entries(&y[0])]);
    equations.svd(true, true).solve(&entries(&y[3]), 1e-14).unwrap().into()
}

fn roots([a, b, c]: [f64; 3]) -> [Complex<f64>; 3] {
    Matrix3::new(a, b, c, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0).complex_eigenvalues().into()
}

#[test]
fn the_preserving_scheme_has_spectral_radius_one_at_every_frequency() {
    for map in MAPS {
        for load in LOADS {
            for omega in [0.1, 1.0, 10.0, 100.0, 1e3, 1e4] {
                let id = format!("preserving:{map},load={load}");
                let radius = radius(&eigenvalues(&id, omega));
                assert!((radius - 1.0).abs() < 1e-12, "{id} ωh = {omega}: 1 + {:e}", radius - 1.0);
            }
        }
    }
}

#[test]
fn the_decaying_scheme_ends_high_frequencies_and_is_exact_to_third_order_at_low_ones() {
    for map in MAPS {
        let id = format!("decaying:{map}");
        for (omega, notes) in [(1.0, "0.988"), (10.0, "0.204"), (1e3, "2.00e-3"), (1e4, "2.00e-4")] {
            let radius = radius(&eigenvalues(&id, omega));
            assert!(prints_as(radius, notes, 0.0), "{id} ωh = {omega}: {radius}, notes {notes}");
        }
        let exact = Complex::from_polar(1.0, 0.1);
        let error = eigenvalues(&id, 0.1).map(|z| (z - exact).norm()).into_iter().fold(f64::MAX, f64::min);
        assert!(prints_as(error, "1.39e-6", 0.0), "{id}: {error:e}");
    }
}

#[test]
fn generalized_alpha_has_its_spectral_radius_at_high_frequencies() {
    for map in MAPS {
        for (text, rho) in [("0.8", 0.8f64), ("0.5", 0.5), ("0", 0.0)] {
            let id = format!("galpha:{map},rho={text}");
            let seen = |omega: f64| radius(&roots(polynomial(&id, omega)));
            // It damps more the higher the frequency.
            let radii = [0.1, 1.0, 10.0, 100.0, 1e3, 1e4].map(seen);
            assert!(radii[0] < 1.0 && radii[0] > 1.0 - 1e-4, "{id}: {radii:?}");
            assert!(radii.windows(2).all(|w| w[1] < w[0]), "{id}: {radii:?}");
            // Three eigenvalues meet in -ρ, so an error there is the cube root of one in the polynomial.
            assert!((radii[4] - rho).abs() < 1.1e-2 && (radii[5] - rho).abs() < 3e-3, "{id}: {radii:?}");
            let limit = [-3.0 * rho, -3.0 * rho * rho, -rho.powi(3)];
            let gap =
                polynomial(&id, 1e4).into_iter().zip(limit).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(gap < 1e-6, "{id}: {gap:e}");
        }
        // Without damping the acceleration has no effect, and there are two eigenvalues.
        for omega in [0.1, 1.0, 10.0, 100.0, 1e3, 1e4] {
            let radius = radius(&eigenvalues(&format!("galpha:{map},rho=1"), omega));
            assert!((radius - 1.0).abs() < 1e-8, "{map} ωh = {omega}: 1 + {:e}", radius - 1.0);
        }
    }
}

#[test]
fn a_small_swing_is_linear_however_small_and_stiff() {
    let mut wrong = Vec::new();
    for map in MAPS {
        for scheme in ["preserving:M", "preserving:M,load=mean", "decaying:M", "galpha:M,rho=0.8"] {
            let id = scheme.replace('M', map);
            for omega in [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3] {
                let usual = responses(&id, omega, SMALL, 1)[1];
                for amplitude in [1e-6, 1e-7, 1e-9, 1e-10, 1e-11, 1e-12] {
                    let gap = (responses(&id, omega, amplitude, 1)[1] - usual).amax() / usual.amax();
                    if gap > 1e-9 {
                        wrong.push(format!("{id} ωh = {omega}, amplitude {amplitude:e}: {gap:.0e}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every step of the stiff spring of the catalogue: two modes with 1000 rad/s and 0.5 J, where h ω = 20, and one with
/// 2 rad/s and 0.4 J.
fn swing(id: &str) -> Vec<Snapshot> {
    let problem = Problem::named("stiff-spring").unwrap();
    let plan = Plan::new(problem.step, problem.until).unwrap();
    let mut seen = Vec::new();
    let mut watch = |_, run: &mut (dyn Run + 'static)| {
        seen.push(run.snapshot());
        ControlFlow::Continue(())
    };
    problem.model().unwrap().run(&method(id), &plan, &mut watch).unwrap();
    assert_eq!(seen.len(), 501);
    seen
}

fn largest(states: &[Snapshot], of: impl Fn(&Snapshot) -> f64) -> f64 {
    states.iter().map(of).fold(0.0, f64::max)
}

/// The angle about the stiff axes.
fn fast(s: &Snapshot) -> f64 {
    s.bodies[0].attitude.rotation_vector().xy().norm()
}

/// How far the angle about the soft axis is from the exact motion.
fn slow(s: &Snapshot) -> f64 {
    (s.bodies[0].attitude.rotation_vector().z - 0.5 * (2.0 * s.t).cos()).abs()
}

/// The relative distance of the energy.
fn energy(s: &Snapshot, from: f64) -> f64 {
    (s.energy.unwrap() / from - 1.0).abs()
}

#[test]
fn on_a_stiff_spring_the_preserving_scheme_rings() {
    for map in MAPS {
        for load in LOADS {
            let id = format!("preserving:{map},load={load}");
            let seen = swing(&id);
            let (change, ringing) = (largest(&seen, |s| energy(s, 0.9)), largest(&seen[400..], fast));
            assert!(change < 0.03 && (ringing / 1e-3 - 1.0).abs() < 0.1, "{id}: {change:e} {ringing:e}");
        }
    }
}

#[test]
fn on_a_stiff_spring_generalized_alpha_without_damping_rings() {
    for map in MAPS {
        let id = format!("galpha:{map},rho=1");
        let seen = swing(&id);
        let (change, ringing) = (largest(&seen, |s| energy(s, 0.9)), largest(&seen[400..], fast));
        assert!(change < 0.1 && (ringing / 1e-3 - 1.0).abs() < 0.1, "{id}: {change:e} {ringing:e}");
    }
}

#[test]
fn on_a_stiff_spring_damping_ends_the_fast_motion_and_keeps_the_slow_one() {
    for map in MAPS {
        for (scheme, follows) in
            [("decaying:M", 2e-4), ("galpha:M,rho=0.8", 1e-3), ("galpha:M,rho=0.5", 5e-3)]
        {
            let id = scheme.replace('M', map);
            let seen = swing(&id);
            let late = &seen[250..];
            let (change, ringing) = (largest(late, |s| energy(s, 0.4)), largest(late, fast));
            let error = largest(&seen, slow);
            let right = change < 0.01 && ringing < 1e-9 && error < follows;
            assert!(right, "{id}: energy {change:e}, fast {ringing:e}, slow {error:e}");
        }
    }
}
