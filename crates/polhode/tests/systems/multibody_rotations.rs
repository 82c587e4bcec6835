//! Rotations about a fixed point under the three forms, posed as a body on a joint: order, what is kept and what is not, under
//! loads that depend on attitude, time and velocity.

use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::{Method, SYSTEMS};
use polhode::multibody::{GROUND, JointKind, Rigid, Simulation, System};
use polhode::problem::{Model, Problem, RunReport};
use polhode::run::Plan;

fn model(id: &str) -> Model {
    Problem::named(id).unwrap().model().unwrap()
}

fn run(model: &Model, id: &str, h: f64, until: f64) -> RunReport {
    let (method, plan) = (Method::parse(id).unwrap(), Plan::new(h, until).unwrap());
    model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

#[test]
fn every_form_has_its_order_under_every_load() {
    for (problem, until, h) in [
        ("free-rotation", 5.0, 0.02),
        ("slow-top", 1.0, 5e-3),
        ("driven-body", 1.0, 5e-3),
        ("fast-top", 0.2, 5e-4),
    ] {
        let model = model(problem);
        let reference = model.reference(until).unwrap();
        for row in SYSTEMS {
            let error = |h: f64| reference.errors(&run(&model, row.id, h, until).last);
            let (coarse, fine) = (error(h), error(h / 2.0));
            for (a, b) in [(coarse.attitude, fine.attitude), (coarse.momentum, fine.momentum)] {
                let order = (a / b).log2();
                // The first-order part of the residual form may be small beside the second.
                let high = f64::from(row.order) + if row.order == 1 { 0.6 } else { 0.15 };
                assert!(
                    order > f64::from(row.order) - 0.15 && order < high,
                    "{problem}, {}: {order}",
                    row.id
                );
            }
        }
    }
}

/// None of the forms claims an invariant, and none has one, of those that the free body keeps.
#[test]
fn nothing_is_claimed_and_nothing_is_kept() {
    let model = model("free-rotation");
    for row in SYSTEMS {
        // A short step: the residual form gains spin, and breaks down with a long one.
        let end = run(&model, row.id, 0.1, 50.0);
        assert!(row.claims.list().iter().all(|(_, claimed)| !claimed));
        assert!(end.drift.energy.unwrap().max_abs() > 1e-8, "{}", row.id);
        assert!(end.drift.momentum_space > 1e-6 && end.drift.momentum_body > 1e-8, "{}", row.id);
    }
}

/// The geometric form sees no more of the rotation than the equation of moments, so that a joint through the centre of mass
/// leaves it alone: the same as a free body with the same start.
#[test]
fn a_joint_through_the_centre_of_mass_changes_nothing() {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5));
    for row in SYSTEMS {
        let method = Method::parse(row.id).unwrap();
        let end = |jointed: bool| {
            let body =
                Rigid::new(3.0, inertia).unwrap().moving(Vector3::zeros(), Vector3::new(0.5, 2.0, -1.0));
            let mut system = System::new(Vector3::zeros());
            system.body("body", body.free()).unwrap();
            if jointed {
                system.joint("pivot", JointKind::Spherical, GROUND, "body").unwrap();
            }
            let mut simulation = Simulation::new(&system, &method).unwrap();
            for _ in 0..100 {
                simulation.step(0.02).unwrap();
            }
            let now = simulation.moving("body").unwrap();
            (now.attitude, now.omega_body)
        };
        let (free, held): ((Rotation<f64>, _), (Rotation<f64>, _)) = (end(false), end(true));
        assert!(free.0.distance(&held.0) < 1e-13 && (free.1 - held.1).norm() < 1e-12, "{}", row.id);
    }
}
