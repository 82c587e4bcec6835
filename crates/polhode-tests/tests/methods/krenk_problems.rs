//! The two problems of Krenk & Nielsen 2013, section 5, in numbers computed outside of this project.

use polhode::problem::{Model, Problem};

fn model(id: &str) -> Model {
    Problem::named(id).unwrap().model().unwrap()
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-15 * expected.abs(), "{value} is not {expected}");
}

#[test]
fn the_cone_has_the_numbers_of_the_paper() {
    let start = model("steady-precession").start();
    let (omega, momentum) = (start.bodies[0].omega_body, start.bodies[0].momentum_body);
    // Spin 135.6 and 10 cos 60° about the axis.
    near(omega.z, 140.6);
    near(omega.y, 10.0 * 0.75f64.sqrt());
    assert_eq!((omega.x, momentum.x), (0.0, 0.0));
    near(momentum.y / omega.y, 0.00450622196249286);
    near(momentum.z / omega.z, 0.0005301437602932776);
    // V = mgl cos 60°; the mass follows from mgl = mass g 3h/4.
    let mgl = (start.energy.unwrap() - start.kinetic_energy) / start.bodies[0].attitude.matrix()[(2, 2)];
    assert!((mgl - 0.5200710288477053).abs() < 2e-15, "{mgl}");
    assert!((mgl / (9.81 * 0.075) - 0.7068583470577035).abs() < 3e-15);
    let kinetic = 0.5 * (0.00450622196249286 * 75.0 + 0.0005301437602932776 * 140.6 * 140.6);
    near(start.kinetic_energy, kinetic);
    assert!((start.bodies[0].attitude.rotation_vector().x - core::f64::consts::FRAC_PI_3).abs() < 1e-15);
}

#[test]
fn the_cone_precesses_steadily() {
    let model = model("steady-precession");
    for (t, tolerance) in [(0.5, 1e-14), (2.0, 1e-14), (10.0, 1e-13)] {
        let (closed, other) = (model.reference(t).unwrap(), model.extrapolated_reference(t).unwrap());
        assert_eq!(closed.source, "closed form (steady precession)");
        // What the rounding of the start makes of it.
        let distance = closed.bodies[0].attitude.distance(&other.bodies[0].attitude);

        assert!(distance < tolerance, "attitude, t = {t}: {distance:e}");
        assert!((closed.bodies[0].momentum_body - other.bodies[0].momentum_body).norm() < tolerance);
        let axis = closed.bodies[0].attitude.matrix().column(2).into_owned();
        let (sin, cos) = (10.0 * t).sin_cos();
        let tilt = 0.75f64.sqrt();
        assert!((axis.x - tilt * sin).abs() < 1e-15 && (axis.y + tilt * cos).abs() < 1e-15);
        assert!((axis.z - 0.5).abs() < 1e-15);
    }
}

#[test]
fn a_cone_that_cannot_be_is_refused_by_the_name_of_its_datum() {
    for (datum, value) in [
        ("height", "0"),
        ("height", "-1"),
        ("height", "1e200"),
        ("height", "1e-200"),
        ("density", "0"),
        ("density", "-2700"),
        ("tilt", "4"),
        ("precession", "0"),
        ("precession", "1e-320"),
    ] {
        let mut problem = Problem::named("steady-precession").unwrap();
        problem.set(datum, value).unwrap();
        let error = problem.model().unwrap_err();
        assert_eq!(error.datum, datum, "{datum}={value}: {error}");
    }
}

#[test]
fn the_brick_is_its_closed_form() {
    let model = model("flying-brick");
    let start = model.start();
    near(start.bodies[0].momentum_body.z, 100.0);
    near(start.energy.unwrap(), 0.5 * (5.0 * 0.0025 + 10.0 * 100.0));
    let (closed, other) = (model.reference(3.0).unwrap(), model.extrapolated_reference(3.0).unwrap());
    assert_eq!(closed.source, "closed form (Jacobi elliptic functions)");
    assert!(closed.bodies[0].attitude.distance(&other.bodies[0].attitude) < 1e-15);
    // A quarter of the period after the start the third component of the angular velocity is zero.
    let quarter = model.reference(2.723120768695552 / 2.0).unwrap();
    assert!(quarter.bodies[0].momentum_body.z.abs() < 1e-13, "{}", quarter.bodies[0].momentum_body.z);
}

#[test]
fn the_spinning_top_is_the_fast_top() {
    let (a, b) = (model("spinning-top"), model("fast-top"));
    assert_eq!(a.start(), b.start());
    let top = a.reference(10.0).unwrap();
    assert_eq!(top.source, "closed form (Lagrange top, elliptic functions)");
    near(a.start().energy.unwrap(), 1269.106729782512);
}
