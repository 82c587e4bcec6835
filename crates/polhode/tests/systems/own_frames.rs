//! Bodies whose frame is the user's: a centre of mass anywhere, a fixed point, and what one-step methods make of a system.

use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::body::{Drag, Force, Frame, Harmonic, Kinematics, Load, Loads, RotationalSpring};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{ForceKind, GROUND, JointKind, Reduction, Rigid, Simulation, System};
use polhode::run::{Plan, Snapshot, begin, drive};
use polhode::scalar::Dual;
use std::sync::Arc;

const CENTER: [f64; 3] = [0.3, -0.1, 0.2];
const GRAVITY: [f64; 3] = [0.5, 1.0, -9.0];

fn tensor() -> Matrix3<f64> {
    Matrix3::new(0.9, 0.1, -0.05, 0.1, 1.2, 0.02, -0.05, 0.02, 0.7)
}
fn attitude() -> Rotation<f64> {
    Rotation::from_rotation_vector(&Vector3::new(0.4, -0.7, 0.2))
}

/// A body on a hinge with a spring and a push, its frame `shift` away from where its centre of mass is the origin.
fn door(shift: Vector3<f64>) -> System<f64> {
    let omega = Vector3::new(0.0, 0.0, 1.5);
    let hinge = Vector3::new(-0.4, 0.1, 0.3);
    let to_space = attitude();
    // The hinge is at the origin of space; the centre of mass is where that puts it.
    let origin = to_space.rotate(&(-hinge - shift));
    let velocity = to_space.rotate(&omega.cross(&(-hinge - shift)));
    let point = Vector3::new(0.2, 0.5, -0.1);
    let body = Rigid::new(2.0, tensor()).unwrap().with_center(shift);
    let body = body.at(origin, to_space).moving(velocity, omega);
    let push = |frame, value| Force { frame, point_body: point + shift, value };
    let body = body
        .with(push(Frame::Body, Vector3::new(0.3, 0.0, 1.0)))
        .with(push(Frame::Space, Vector3::new(0.0, 2.0, 0.0)))
        .with(Drag { coefficient: 0.1 });
    let mut system = System::new(Vector3::from(GRAVITY));
    system.body("door", body).unwrap();
    let mut frame = |name: &str, body: &str, point, axes| system.frame(name, body, point, axes).unwrap();
    frame("post", GROUND, Vector3::zeros(), to_space);
    frame("edge", "door", hinge + shift, Rotation::identity());
    frame("handle", "door", point + shift, Rotation::identity());
    system.joint("hinge", JointKind::Revolute, "post", "edge").unwrap();
    let spring = ForceKind::SpringDamper { stiffness: 20.0, damping: 0.5, length: 0.3 };
    system.force("closer", spring, GROUND, "handle").unwrap();
    system
}

#[test]
fn where_the_origin_is_changes_nothing_of_the_motion() {
    let method = Method::parse("geometric-alpha").unwrap();
    let run = |shift: Vector3<f64>| {
        let mut run = Simulation::new(door(shift), &method).unwrap();
        (0..200).for_each(|_| run.step(5e-3).unwrap());
        run
    };
    let (center, shift) = (run(Vector3::zeros()), Vector3::from(CENTER));
    let other = run(shift);
    let (a, b) = (center.moving("door").unwrap(), other.moving("door").unwrap());
    assert!((a.position - b.position).norm() < 1e-12 && a.attitude.distance(&b.attitude) < 1e-12);
    assert!((center.energy() - other.energy()).abs() < 1e-12 * center.energy().abs());
    let origin = other.position("door").unwrap() + b.attitude.rotate(&shift);
    assert!((origin - b.position).norm() < 1e-15);
    let (a, b) = (center.multipliers("hinge").unwrap(), other.multipliers("hinge").unwrap());
    // Reactions of index 3 have the rounding of positions over h².
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7), "{a:?} {b:?}");
}

/// A body under gravity with loads that depend on time, attitude and velocity, about its origin.
fn loaded(body: Rigid<f64>) -> System<f64> {
    let body = body
        .with(Force {
            frame: Frame::Body,
            point_body: Vector3::new(0.1, 0.4, 0.0),
            value: Vector3::new(0.5, -1.0, 2.0),
        })
        .with(RotationalSpring { stiffness: Vector3::new(3.0, 4.0, 5.0) })
        .with(Drag { coefficient: 0.2 })
        .with(Harmonic {
            frame: Frame::Space,
            amplitude: Vector3::new(0.3, 0.2, -0.5),
            frequency: 3.0,
            phase: 0.4,
        });
    let mut system = System::new(Vector3::from(GRAVITY));
    system.body("body", body).unwrap();
    system
}

fn body() -> Rigid<f64> {
    let body = Rigid::new(2.0, tensor()).unwrap().with_center(Vector3::from(CENTER));
    body.at(Vector3::new(0.1, 0.2, -0.3), attitude())
}

fn end(system: &Arc<System<f64>>, method: &str, h: f64) -> Snapshot {
    let mut run = begin(system, &Method::parse(method).unwrap()).unwrap();
    drive(&mut *run, &Plan::new(h, 1.0).unwrap(), &mut |_, _| ControlFlow::Continue(())).unwrap().last
}

/// Pose and velocity of the origin, and the angular velocity.
fn gap(a: &Snapshot, b: &Snapshot) -> f64 {
    let (m, n) = (a.bodies[0].moving.unwrap(), b.bodies[0].moving.unwrap());
    let linear = (m.position - n.position).norm() + (m.velocity - n.velocity).norm();
    linear
        + a.bodies[0].attitude.distance(&b.bodies[0].attitude)
        + (a.bodies[0].omega_body - b.bodies[0].omega_body).norm()
}

#[test]
fn one_step_methods_and_systems_agree_on_a_body_by_itself() {
    let spinning = Vector3::new(0.5, -1.0, 2.0);
    let fixed = body().moving(Vector3::zeros(), spinning).on_fixed_point();
    let flying = body().moving(Vector3::new(0.2, 1.0, 0.3), spinning).free();
    for system in [loaded(fixed), loaded(flying)].map(Arc::new) {
        let exact = end(&system, "mkrk:gauss4", 0.01);
        for method in [
            "geometric-alpha",
            "linear-alpha",
            "geometric-alpha,constraints=stabilized",
            "akw",
            "preserving:exp",
        ] {
            let errors = [0.01, 0.005].map(|h| gap(&end(&system, method, h), &exact));
            let order = (errors[0] / errors[1]).log2();
            assert!(errors[1] < 2e-3 && (order - 2.0).abs() < 0.2, "{method}: {errors:?}");
        }
        let first = end(&system, "residual-alpha", 0.005);
        assert!(gap(&first, &exact) < 0.1);
    }
}

#[test]
fn a_fixed_point_is_a_spherical_joint() {
    let fixed = loaded(body().moving(Vector3::zeros(), Vector3::new(0.5, -1.0, 2.0)).on_fixed_point());
    let mut jointed = loaded(body().moving(Vector3::zeros(), Vector3::new(0.5, -1.0, 2.0)));
    jointed.frame("here", GROUND, Vector3::new(0.1, 0.2, -0.3), Rotation::identity()).unwrap();
    jointed.joint("pivot", JointKind::Spherical, "here", "body").unwrap();
    for method in ["imidm", "geometric-alpha"] {
        let ends = [&fixed, &jointed].map(|system| end(&Arc::new(system.clone()), method, 0.01));
        let turned = ends[0].bodies[0].attitude.distance(&ends[1].bodies[0].attitude);
        assert!(
            turned + (ends[0].bodies[0].omega_body - ends[1].bodies[0].omega_body).norm() < 1e-11,
            "{method}"
        );
        assert!(
            ends[0].bodies[0].moving.unwrap().position.metric_distance(&Vector3::new(0.1, 0.2, -0.3)) < 1e-13
        );
    }
    let Some(Reduction::Rotation(one)) = jointed.reduction() else { panic!("a rotation") };
    assert!(one.on_joint);
}

#[test]
fn loads_seen_from_another_point_do_the_same_work() {
    let loads = || {
        Loads::none()
            .with(Force {
                frame: Frame::Space,
                point_body: Vector3::new(0.1, 0.4, 0.0),
                value: Vector3::new(0.5, -1.0, 2.0),
            })
            .with(RotationalSpring { stiffness: Vector3::new(3.0, 4.0, 5.0) })
    };
    let (own, shift) = (loads(), Vector3::new(0.7, -0.2, 0.4));
    let seen = loads().seen_from(&shift);
    let at = |psi: [f64; 3], position: [f64; 3]| Kinematics {
        time: 0.3,
        attitude: Rotation::from_rotation_vector(&Vector3::from(psi)),
        position: Vector3::from(position),
        velocity_body: Vector3::new(0.3, 0.1, -0.2),
        omega_body: Vector3::new(1.0, -2.0, 0.5),
        inward: 0.0,
    };
    let (from, to) = (at([0.1, 0.2, -0.3], [1.0, 2.0, 3.0]), at([0.5, -0.4, 0.1], [1.3, 1.8, 3.1]));
    let (a, b) = (own.wrench(&from), seen.wrench(&from.of_point(&shift)));
    let power = |w: &polhode::body::Wrench<f64>, k: &Kinematics<f64>| {
        w.force_body.dot(&k.velocity_body) + w.moment_body.dot(&k.omega_body)
    };
    assert!((power(&a, &from) - power(&b, &from.of_point(&shift))).abs() < 1e-13);
    assert!((a.force_body - b.force_body).norm() < 1e-15);
    let [start, stop] = [&from, &to].map(|k| k.of_point(&shift));
    let potential = |loads: &Loads<f64>, k: &Kinematics<f64>| loads.potential(k).unwrap();
    assert!((potential(&own, &from) - potential(&seen, &start)).abs() < 1e-13);
    let change = potential(&seen, &stop) - potential(&seen, &start);
    assert!((seen.finite_derivative(&start, &stop).work(&start, &stop) - change).abs() < 1e-13);
    // And at a richer scalar.
    let lifted = seen.lift::<Dual<f64, 1>>();
    assert_eq!(lifted.list().len(), 2);
}

#[test]
fn what_is_not_one_body_has_no_reduction() {
    assert!(door(Vector3::zeros()).reduction().is_none());
    let mut two = loaded(body().free());
    two.body("other", Rigid::new(1.0, tensor()).unwrap().free()).unwrap();
    assert!(two.reduction().is_none());
    let refused = begin(&Arc::new(two), &Method::parse("akw").unwrap()).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("akw integrates a single body"));
}
