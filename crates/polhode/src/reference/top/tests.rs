//! Tests of the parent module.

use super::super::testing::{Numbers, distance, integrated};
use super::*;

fn top(mgl: f64, psi0: [f64; 3], omega0: [f64; 3]) -> LagrangeTop {
    LagrangeTop::from_rotation_vector(5.0, 1.0, mgl, &psi0.into(), &omega0.into()).unwrap()
}
/// Against the integrated equations, forward and backward.
#[track_caller]
fn check(mgl: f64, psi0: [f64; 3], omega0: [f64; 3], t: f64, tolerance: f64) {
    let top = top(mgl, psi0, omega0);
    let inertia = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0));
    let exact =
        (attitude::matrix(&attitude::exp(&lift(&psi0.into()))), inertia.map(Dd::from) * lift(&omega0.into()));
    let start = distance(&top.at_dd(0.0), &exact);
    assert!(start < tolerance, "start {start:e}");
    for t in [t, -t] {
        let end = top.at_dd(t);
        let error = distance(&end, &integrated(&inertia, mgl, &exact, t, 1e-27));
        assert!(error < tolerance, "error {error:e}");
    }
}

#[test]
fn general_motions() {
    let mut numbers = Numbers(11);
    for k in 0..12 {
        let (psi, omega) = (numbers.vector() * 2.0, numbers.vector() * 3.0);
        let mgl = if k % 3 == 0 { -20.0 } else { 20.0 };
        check(mgl, psi.into(), omega.into(), 5.0, 1e-24);
    }
}

#[test]
fn slow_and_fast_top() {
    check(20.0, [0.05, 0.0, 0.0], [0.0, 0.0, 5.0], 20.0, 1e-23);
    check(20.0, [0.3, 0.0, 0.0], [0.0, 0.0, 50.0], 2.0, 1e-24);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 4e-15 * b.abs().max(1.0), "{a} against {b}");
    let momentum = top(20.0, [0.05, 0.0, 0.0], [0.0, 0.0, 5.0]).at(20.0).1;
    near(momentum.x, 0.4207897257865593);
    near(momentum.y, 0.8395598343423362);
    let fast = top(20.0, [0.3, 0.0, 0.0], [0.0, 0.0, 50.0]);
    let momentum = fast.at(2.0).1;
    near(fast.nutation_period(), 0.6822560158311819);
    near(fast.precession_rate(), 0.4164250362354776);
    near(fast.spin_rate(), 49.60471227910309);
    near(momentum.x, -0.12290160431144555);
    near(momentum.y, -0.24521333158325043);
    let momentum = fast.at(20.0).1;
    near(momentum.x, -0.07100730512651705);
    near(momentum.y, 1.0695071483836227);
}

#[test]
fn without_weight() {
    check(0.0, [0.5, 0.2, 0.1], [0.3, -0.4, 3.0], 5.0, 1e-22);
    check(0.0, [0.5, 0.2, 0.1], [0.0, 0.0, 3.0], 5.0, 1e-22);
    check(0.0, [0.5, 0.2, 0.1], [0.3, -0.4, 0.0], 5.0, 1e-22);
    check(0.0, [0.0, 0.0, 0.1], [0.3, -0.4, 2.0], 5.0, 1e-22);
    check(0.0, [0.5, 0.2, 0.1], [0.0, 0.0, 0.0], 5.0, 1e-22);
}

#[test]
fn through_and_at_the_poles() {
    // Start upright with a push; hanging with a push; a plane pendulum over the top; at rest upright.
    check(20.0, [0.0, 0.0, 0.7], [1.0, 0.4, 3.0], 4.0, 1e-24);
    check(20.0, [0.0, 0.0, 0.0], [1.0, 0.4, 50.0], 4.0, 1e-24);
    check(-20.0, [0.0, 0.0, 0.7], [1.0, 0.4, 3.0], 4.0, 1e-24);
    check(20.0, [0.4, 0.0, 0.0], [3.0, 0.0, 0.0], 4.0, 1e-24);
    check(20.0, [0.4, 0.0, 0.0], [-3.0, 0.0, 0.0], 4.0, 1e-24);
    check(20.0, [0.4, 0.0, 0.0], [0.0, 0.0, 0.0], 4.0, 1e-24);
    check(20.0, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 4.0, 1e-24);
    check(-20.0, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 4.0, 1e-24);
    check(20.0, [0.0, 0.0, 0.3], [0.0, 0.0, 50.0], 4.0, 1e-24);
    check(20.0, [0.0, 0.0, 0.3], [0.0, 0.0, 0.0], 4.0, 1e-24);
    check(-20.0, [0.0, 0.0, 0.3], [0.0, 0.0, 5.0], 4.0, 1e-24);
    // Close by.
    for tilt in [1e-3, 1e-8, 1e-12, 1e-15] {
        let tolerance = 1e-24;
        check(20.0, [tilt, 0.0, 0.0], [0.0, 0.0, 5.0], 4.0, tolerance);
        check(20.0, [tilt, 0.0, 0.0], [1.0, 0.2, 5.0], 4.0, tolerance);
        check(20.0, [0.0, tilt, 0.0], [0.0, 0.0, 50.0], 4.0, tolerance);
        check(-20.0, [tilt, tilt, 0.3], [0.0, 0.0, 5.0], 4.0, tolerance);
        check(-20.0, [tilt, tilt, 0.3], [1.0, 0.2, 5.0], 4.0, tolerance);
        check(-20.0, [tilt, 0.0, 0.0], [1.0, tilt, 0.0], 4.0, tolerance);
    }
}

#[test]
fn steady_precession_and_nearly() {
    // A φ'² cos θ - Π3 φ' + mgl = 0 up to rounding, and then with a small push.
    for (theta, rate) in [(0.7f64, 1.5f64), (2.5, -0.4), (0.01, 0.6)] {
        let momentum3 = 5.0 * rate * theta.cos() + 20.0 / rate;
        let steady = [0.0, rate * theta.sin(), momentum3];
        check(20.0, [theta, 0.0, 0.0], steady, 4.0, 1e-22);
        let top = top(20.0, [theta, 0.0, 0.0], steady);
        assert!((top.precession_rate() - rate).abs() < 1e-13 * rate.abs());
        assert!((top.spin_rate() - (momentum3 - rate * theta.cos())).abs() < 1e-12);
        for push in [1e-3, 1e-7, 1e-11] {
            check(20.0, [theta, 0.0, 0.0], [push, steady[1], steady[2]], 4.0, 1e-22);
            check(20.0, [theta, 0.0, 0.0], [0.0, steady[1] - push, steady[2]], 4.0, 1e-22);
        }
    }
}

#[test]
fn separatrix_of_the_pendulum() {
    // From hanging, just enough to come to rest upright (Ω² = 4 mgl/A), and next to that.
    check(-20.0, [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], 3.0, 1e-22);
    check(-20.0, [0.0, 0.0, 0.0], [4.0 + 1e-12, 0.0, 0.0], 3.0, 1e-22);
    check(-20.0, [0.0, 0.0, 0.0], [4.0 - 1e-12, 0.0, 0.0], 3.0, 1e-22);
    let limit = top(-20.0, [0.0, 0.0, 0.0], [4.0, 0.0, 0.0]);
    assert!(limit.nutation_period().is_infinite());
    assert_eq!((limit.nutation_frequency(), limit.precession_rate(), limit.spin_rate()), (0.0, 0.0, 0.0));
    let (attitude, momentum) = limit.at(1e3);
    assert!((attitude[(2, 2)] + 1.0).abs() < 1e-15 && momentum.amax() < 1e-15);
}

#[test]
fn rates_carry_one_period_into_the_next() {
    let mut numbers = Numbers(5);
    for k in 0..8 {
        let mgl = [20.0, -20.0, 0.0, 3.0][k % 4];
        let psi = if k == 7 { [0.0; 3] } else { (numbers.vector() * 2.0).into() };
        let top = top(mgl, psi, (numbers.vector() * 3.0).into());
        let turn = |angle: f64| {
            let (s, c) = angle.sin_cos();
            Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
        };
        let period = top.nutation_period();
        assert!((top.nutation_frequency() * period - core::f64::consts::TAU).abs() < 1e-14);
        // Through a pole (the last case), θ comes back after two periods.
        let period = if k == 7 { 2.0 * period } else { period };
        let (before, after) = (top.at(0.3).0, top.at(0.3 + period).0);
        let carried = turn(top.precession_rate() * period) * before * turn(top.spin_rate() * period);
        assert!((carried - after).amax() < 1e-13, "case {k}: {}", carried - after);
    }
}

#[test]
fn matrix_as_attitude_and_refusals() {
    let (psi, omega) = (Vector3::new(0.3, -1.2, 2.0), Vector3::new(0.4, 1.0, 7.0));
    let rotation = attitude::matrix(&attitude::exp(&lift(&psi))).map(Dd::to_f64);
    let a = LagrangeTop::new(5.0, 1.0, 20.0, &rotation, &omega).unwrap();
    let b = LagrangeTop::from_rotation_vector(5.0, 1.0, 20.0, &psi, &omega).unwrap();
    assert!((a.at(0.0).0 - rotation).amax() < 4e-16);
    assert!((a.at(3.0).0 - b.at(3.0).0).amax() < 1e-13);
    let refused = |a: f64, c: f64, mgl: f64, r: &Matrix3<f64>, omega: &Vector3<f64>| {
        LagrangeTop::new(a, c, mgl, r, omega).unwrap_err()
    };
    assert!(refused(0.0, 1.0, 20.0, &rotation, &omega).contains("moments"));
    assert!(refused(5.0, f64::NAN, 20.0, &rotation, &omega).contains("moments"));
    assert!(refused(5.0, 1.0, f64::INFINITY, &rotation, &omega).contains("weight"));
    assert!(refused(5.0, 1.0, 20.0, &(rotation * 1.1), &omega).contains("rotation"));
    assert!(refused(5.0, 1.0, 20.0, &-rotation, &omega).contains("rotation"));
    let nan = Vector3::repeat(f64::NAN);
    assert!(refused(5.0, 1.0, 20.0, &rotation, &nan).contains("angular velocity"));
    assert!(LagrangeTop::from_rotation_vector(5.0, 1.0, 20.0, &nan, &omega).is_err());
}
