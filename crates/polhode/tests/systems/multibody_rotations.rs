//! Rotations about a fixed point under the three forms, posed as a body on a joint: order, what is kept and what is not, under
//! loads that depend on attitude, time and velocity.

use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::{Method, Row, SYSTEMS};
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
        // Drag has no potential.
        let suits = |row: &&Row| row.id != "variational" || problem != "driven-body";
        for row in SYSTEMS.iter().filter(suits) {
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

/// What a free body keeps is kept where that is claimed, and nowhere else.
#[test]
fn what_is_claimed_is_kept() {
    let model = model("free-rotation");
    for row in SYSTEMS {
        // A short step: the residual form gains spin, and breaks down with a long one.
        let end = run(&model, row.id, 0.1, 50.0);
        let claims = row.claims;
        let energy = end.drift.energy.unwrap().max_abs();
        assert_eq!(energy < 1e-12, claims.free_energy, "{}: {energy:e}", row.id);
        for (drift, claimed) in [
            (end.drift.momentum_space.unwrap(), claims.free_momentum),
            (end.drift.momentum_body.unwrap(), claims.free_norm),
        ] {
            assert!(if claimed { drift < 1e-11 } else { drift > 1e-8 }, "{}: {drift:e}", row.id);
        }
    }
}

/// The same of a top under gravity, on a joint off its centre of mass.
#[test]
fn what_is_claimed_under_gravity_is_kept() {
    let model = model("heavy-top");
    for row in SYSTEMS {
        let end = run(&model, row.id, 1e-3, 0.2);
        let energy = end.drift.energy.unwrap().max_abs();
        assert_eq!(energy < 1e-12, row.claims.gravity_energy, "{}: {energy:e}", row.id);
        let vertical = end.drift.momentum_vertical.unwrap();
        assert_eq!(vertical < 1e-8, row.claims.gravity_vertical, "{}: {vertical:e}", row.id);
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
