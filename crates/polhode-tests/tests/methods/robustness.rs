//! Runs at the edge of what numbers can say: bodies that come to rest, thin and heavy bodies, fast flight, extreme
//! scales. They end well, or with an error, never with a wrong answer.

use core::ops::ControlFlow;
use polhode::method::{Method, REGISTRY};
use polhode::problem::{Problem, RunFailure, RunReport};
use polhode::run::Plan;

fn run(
    id: &str,
    set: &[(&str, &str)],
    method: &str,
    step: f64,
    until: f64,
) -> Result<RunReport, Box<RunFailure>> {
    let mut problem = Problem::named(id).unwrap();
    for (name, value) in set {
        problem.set(name, value).unwrap();
    }
    let (method, plan) = (Method::parse(method).unwrap(), Plan::new(step, until).unwrap());
    problem.model().unwrap().run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).map_err(Box::new)
}

#[test]
fn a_damped_body_comes_to_rest_under_every_implicit_method() {
    let calm = [
        ("drag", "3"),
        ("drive_space", "0,0,0"),
        ("drive_body", "0,0,0"),
        ("moment_space", "0,0,0"),
        ("moment_body", "0,0,0"),
    ];
    for row in REGISTRY {
        if Method::parse(row.id).unwrap().is_explicit() {
            continue;
        }
        let end =
            run("driven-body", &calm, row.id, 0.05, 500.0).unwrap_or_else(|e| panic!("{}: {e}", row.id));
        assert!(
            end.last.bodies[0].omega_body.norm() < 1e-9,
            "{}: {}",
            row.id,
            end.last.bodies[0].omega_body.norm()
        );
    }
}

#[test]
fn round_off_of_thin_heavy_and_fast_bodies_is_no_failure() {
    let thin = [("inertia", "1e-6,1,1"), ("omega_body", "1,2,0.3")];
    run("free-rotation", &thin, "trapm", 0.001, 5.0).unwrap();
    run("free-rotation", &thin, "mkrk:gauss4", 0.01, 5.0).unwrap();
    run("free-body", &[("mass", "1e6")], "imidm", 0.01, 1.0).unwrap();
    for method in ["swc1", "imid", "mkrk:gauss2"] {
        run("free-body", &[("velocity", "200,0,0")], method, 0.05, 20.0).unwrap();
    }
}

#[test]
fn extreme_scales_of_inertia_change_nothing() {
    let end = |scale: f64| {
        let inertia = format!("{:e},{:e},{:e}", scale, 2.0 * scale, 2.5 * scale);
        run("free-rotation", &[("inertia", &inertia), ("omega_body", "1,2,0.3")], "swc1", 0.1, 1.0).unwrap()
    };
    let one = end(1.0).last.bodies[0].omega_body;
    for scale in [1e-100, 1e-20, 1e12, 1e103, 1e140] {
        assert!((end(scale).last.bodies[0].omega_body - one).norm() < 1e-13, "{scale:e}");
    }
}

#[test]
fn an_overflow_is_an_error_and_not_a_number() {
    let failed = run("free-rotation", &[], "forward-euler", 0.5, 5000.0).unwrap_err();
    assert!(failed.to_string().contains("overflowed"), "{failed}");
    let last = &failed.last_good.last;
    assert!(
        last.kinetic_energy.is_finite() && last.bodies[0].attitude.q_wxyz().iter().all(|x| x.is_finite())
    );
    let mut problem = Problem::named("free-rotation").unwrap();
    problem.set("attitude", "1e20,0,0").unwrap();
    assert!(problem.model().unwrap_err().to_string().contains("lost its digits"));
}

#[test]
fn the_state_is_at_the_time_that_is_told() {
    let set = [("omega_body", "0,0,3")];
    for until in [0.1, 0.1000000001, 0.100000001, 0.25] {
        let end = run("free-rotation", &set, "mkrk:gauss4", 0.1, until).unwrap();
        let angle = end.last.bodies[0].attitude.rotation_vector().z;
        assert!((angle - 3.0 * end.last.t).abs() < 1e-14, "{until}: {angle}");
    }
}

#[test]
fn energy_that_starts_from_nothing_drifts_in_absolute_terms() {
    let set = [("attitude", "1.5707963267948966,0,0"), ("omega_body", "0,0,0")];
    let drift = run("slow-top", &set, "imidm", 0.1, 1.0).unwrap().drift;
    assert!(drift.energy.is_some_and(|e| e.max_abs() < 0.1));
}
