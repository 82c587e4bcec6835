//! Coordinates of joints: where they start, how they are read, and assembly from them.

use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{
    AssemblyError, Coordinate, GROUND, JointKind, Rigid, Simulation, SimulationError, System,
};
use polhode::problem::Problem;
use polhode::run::Plan;
use std::f64::consts::TAU;
use std::ops::ControlFlow;

fn method(id: &str) -> Method {
    Method::parse(id).unwrap()
}

fn none() -> Rotation<f64> {
    Rotation::identity()
}

fn body(mass: f64) -> Rigid<f64> {
    Rigid::new(mass, Matrix3::from_diagonal(&Vector3::new(0.02, 0.05, 0.06))).unwrap()
}

/// An arm of three links of 1 m along x, on hinges about z, y and z.
fn arm() -> System<f64> {
    let mut system = System::new(Vector3::zeros());
    let quarter = Rotation::from_rotation_vector(&Vector3::new(-TAU / 4.0, 0.0, 0.0));
    for i in 0..3 {
        let name = format!("link{i}");
        system.body(&name, body(1.0).at(Vector3::x() * (i as f64 + 0.5), none())).unwrap();
        let axes = if i == 1 { quarter } else { none() };
        system.frame(&format!("near{i}"), &name, -Vector3::x() * 0.5, axes).unwrap();
        let next = if i == 0 { quarter } else { none() };
        system.frame(&format!("far{i}"), &name, Vector3::x() * 0.5, next).unwrap();
        let before = if i == 0 { GROUND.to_string() } else { format!("far{}", i - 1) };
        system.joint(&format!("hinge{i}"), JointKind::Revolute, &before, &format!("near{i}")).unwrap();
    }
    system
}

#[test]
fn open_trees_are_exact() {
    let angles = [0.7, -0.4, 2.9];
    let rates = [1.5, -0.3, 0.8];
    let mut system = arm();
    // In any order.
    for i in [2, 0, 1] {
        system.start(&format!("hinge{i}"), Coordinate::Angle, Some(angles[i]), Some(rates[i])).unwrap();
    }
    let run = Simulation::new(&system, &method("geometric-alpha")).unwrap();
    for i in 0..3 {
        let (angle, rate) = run.coordinate(i, Coordinate::Angle).unwrap();
        assert!((angle - angles[i]).abs() < 1e-15 && (rate - rates[i]).abs() < 1e-14, "{i}: {angle} {rate}");
    }
    assert!(run.violation().position < 1e-15 && run.violation().velocity < 1e-14, "{:?}", run.violation());
    // The tip, by hand: about z, then about y, then about z.
    let turn = |axis: Vector3<f64>, angle: f64| Rotation::from_rotation_vector(&(axis * angle));
    let first = turn(Vector3::z(), angles[0]);
    let second = first.compose(&turn(Vector3::y(), angles[1]));
    let third = second.compose(&turn(Vector3::z(), angles[2]));
    let wanted =
        first.rotate(&Vector3::x()) + second.rotate(&Vector3::x()) + third.rotate(&Vector3::x()) * 0.5;
    assert!((run.position("link2").unwrap() - wanted).norm() < 1e-14);
}

#[test]
fn angles_count_full_turns_even_fast_ones() {
    let mut system = System::new(Vector3::zeros());
    system.body("wheel", body(1.0)).unwrap();
    system.joint("axle", JointKind::Revolute, GROUND, "wheel").unwrap();
    // 0.9 turns in a step, from more than two turns on.
    system.start("axle", Coordinate::Angle, Some(15.0), Some(0.9 * TAU / 0.01)).unwrap();
    let mut run = Simulation::new(&system, &method("geometric-alpha")).unwrap();
    assert!((run.coordinate(0, Coordinate::Angle).unwrap().0 - 15.0).abs() < 1e-14);
    for n in 1..=100 {
        run.step(0.01).unwrap();
        let wanted = 15.0 + 0.9 * TAU * f64::from(n);
        assert!((run.coordinate(0, Coordinate::Angle).unwrap().0 - wanted).abs() < 1e-9 * wanted);
    }
}

/// A crank of 0.2 m, a coupler of 0.8 m and a rocker of 0.6 m on a base of 1 m, hinges about z throughout.
fn four_bar() -> System<f64> {
    let at = [[0.0, 0.0], [0.0, 0.2], [0.755_290_4, 0.463_871_2], [1.0, 0.0]]
        .map(|[x, y]: [f64; 2]| Vector3::new(x, y, 0.0));
    let mut system = System::new(Vector3::zeros());
    let mut last = GROUND.to_string();
    for i in 0..3 {
        let along = at[i + 1] - at[i];
        let attitude = Rotation::from_rotation_vector(&(Vector3::z() * along.y.atan2(along.x)));
        let name = ["crank", "coupler", "rocker"][i];
        system.body(name, body(1.0).at((at[i] + at[i + 1]) / 2.0, attitude)).unwrap();
        let half = Vector3::x() * (along.norm() / 2.0);
        system.frame(&format!("{name} 0"), name, -half, none()).unwrap();
        system.frame(&format!("{name} 1"), name, half, none()).unwrap();
        system.joint(["A", "B", "C"][i], JointKind::Revolute, &last, &format!("{name} 0")).unwrap();
        last = format!("{name} 1");
    }
    system.frame("post", GROUND, at[3], none()).unwrap();
    system.joint("D", JointKind::Revolute, &last, "post").unwrap();
    system
}

#[test]
fn closed_loops_hold_what_is_given_and_move_the_rest() {
    let mut system = four_bar();
    system.start("A", Coordinate::Angle, Some(1.1), Some(6.0)).unwrap();
    let run = Simulation::assembled(&system, &method("geometric-alpha")).unwrap();
    let (angle, rate) = run.coordinate(0, Coordinate::Angle).unwrap();
    assert!((angle - 1.1).abs() < 1e-13 && (rate - 6.0).abs() < 1e-11, "{angle} {rate}");
    assert!(run.violation().position < 1e-13 && run.violation().velocity < 1e-11, "{:?}", run.violation());
    assert_eq!(run.assembly().redundancies.len(), 3);
    assert!(run.assembly().moved.as_ref().is_some_and(|(_, by)| *by > 0.01));
    // The rocker turns as the velocities of the loop say.
    let at = |name: &str| run.moving(name).unwrap();
    let (b, c) = (
        Vector3::new(1.1f64.cos(), 1.1f64.sin(), 0.0) * 0.2,
        at("rocker").position + at("rocker").attitude.rotate(&(-Vector3::x() * 0.262_2)),
    );
    let speed = Vector3::z().cross(&b) * 6.0;
    let along = (c - b).normalize();
    let arm = Vector3::z().cross(&(c - Vector3::x()));
    let wanted = speed.dot(&along) / arm.dot(&along);
    assert!(
        (at("rocker").omega_body.z - wanted).abs() < 2e-3 * wanted.abs(),
        "{} {wanted}",
        at("rocker").omega_body.z
    );
}

#[test]
fn a_velocity_that_is_given_is_not_spread() {
    // The crank turns at 6 rad/s, and nothing is said of the others.
    let mut system = four_bar();
    let crank = &mut system.bodies_mut()[0];
    (crank.velocity, crank.omega_body) = (-Vector3::x() * 0.6, Vector3::z() * 6.0);
    crank.given = [true; 2];
    let run = Simulation::assembled(&system, &method("geometric-alpha")).unwrap();
    assert!((run.bodies()[0].omega_body.z - 6.0).abs() < 1e-9, "{}", run.bodies()[0].omega_body.z);
    assert!(run.violation().velocity < 1e-11, "{:?}", run.violation());
    // The angular velocity alone is enough: its velocity follows.
    system.bodies_mut()[0].velocity = Vector3::zeros();
    system.bodies_mut()[0].given = [false, true];
    let run = Simulation::assembled(&system, &method("geometric-alpha")).unwrap();
    assert!((run.bodies()[0].omega_body.z - 6.0).abs() < 1e-9);
    assert!((run.bodies()[0].velocity + Vector3::x() * 0.6).norm() < 1e-8, "{:?}", run.bodies()[0].velocity);
}

#[test]
fn coordinates_that_contradict_a_loop_are_refused() {
    let mut system = four_bar();
    system.start("A", Coordinate::Angle, Some(1.1), None).unwrap();
    system.start("B", Coordinate::Angle, Some(1.1), None).unwrap();
    let error = Simulation::assembled(&system, &method("geometric-alpha")).unwrap_err();
    assert!(matches!(error, SimulationError::Assembly(AssemblyError::NotClosed { .. })), "{error}");
    assert!(system.start("A", Coordinate::Distance, Some(1.0), None).is_err());
    assert!(system.start("A", Coordinate::Angle, Some(f64::NAN), None).is_err());
    let missing = system.start("a", Coordinate::Angle, None, None).unwrap_err();
    assert!(missing.to_string().contains("did you mean A or B"), "{missing}");
}

#[test]
fn bodies_are_put_where_their_frames_coincide() {
    // Each kind of joint holds a body that stands somewhere else.
    let kinds = [
        JointKind::Spherical,
        JointKind::Revolute,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Universal,
        JointKind::Planar,
        JointKind::Fixed,
        JointKind::Distance { length: 0.7 },
        JointKind::PointOnLine,
        JointKind::PointInPlane,
        JointKind::Parallel,
    ];
    for kind in kinds {
        let mut system = System::new(Vector3::zeros());
        let turned = Rotation::from_rotation_vector(&Vector3::new(0.3, -1.2, 0.5));
        system.body("block", body(2.0).at(Vector3::new(3.0, -1.0, 2.0), turned)).unwrap();
        system.frame("there", GROUND, Vector3::new(0.5, 0.2, 0.0), turned.inverse()).unwrap();
        system.frame("eye", "block", Vector3::new(0.1, 0.4, -0.2), Rotation::identity()).unwrap();
        system.joint("joint", kind.clone(), "there", "eye").unwrap();
        assert!(Simulation::new(&system, &method("geometric-alpha")).is_err(), "{}", kind.name());
        system.place_by_joints();
        let run = Simulation::new(&system, &method("geometric-alpha")).unwrap();
        assert!(run.violation().position < 1e-14, "{}: {:?}", kind.name(), run.violation());
        // One iteration for the last bit at most: the joint itself says where the body is.
        assert!(run.assembly().iterations <= 2, "{}: {}", kind.name(), run.assembly().iterations);
    }
}

#[test]
fn reactions_are_read_in_the_axes_of_the_joint_and_on_either_body() {
    let text = r#"
        gravity = [0, 0, -9.81]
        [bodies.arm]
        mass = 3
        inertia = [0.1, 0.2, 0.3]
        [frames.bearing]
        body = "ground"
        attitude = [0.4, -0.3, 0.7]
        [frames.end]
        body = "arm"
        at = [0.5, 0.1, 0]
        [joints.hinge]
        type = "revolute"
        between = ["bearing", "end"]
        rate = 2
        damping = 0.1
        [outputs]
        across = "hinge.force_joint_x"
        about = "hinge.moment_joint_y"
    "#;
    let model = Problem::from_text("arm", text).unwrap().model().unwrap();
    let mut run = Simulation::new(model.system(), &method("geometric-alpha")).unwrap();
    for _ in 0..50 {
        run.step(0.01).unwrap();
    }
    let found = run.reactions(run.all_multipliers())[0];
    let axes = Rotation::from_rotation_vector(&Vector3::new(0.4, -0.3, 0.7));
    assert!((axes.rotate(&found.force_joint) - found.force).norm() < 1e-12 * found.force.norm());
    assert!((axes.rotate(&found.moment_joint) - found.moment).norm() < 1e-12 * found.moment.norm());
    assert!((found.moment_joint.z - found.moment_axis).abs() < 1e-15 && found.moment_axis.abs() > 1e-3);
    // The ground feels the weight less the mass times its acceleration.
    let (arm, first) = (&run.bodies()[0], found.on_first());
    let inertial = (Vector3::new(0.0, 0.0, -9.81) - arm.acceleration) * 3.0;
    assert!((first.force - inertial).norm() < 1e-9 * inertial.norm());
    let shown = Problem::from_text("arm", text).unwrap().model().unwrap();
    let plan = Plan::new(0.01, 0.5).unwrap();
    let end = shown.run(&method("geometric-alpha"), &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    for (output, read) in end.last.outputs.iter().zip([found.force_joint.x, found.moment_joint.y]) {
        assert!((output - read).abs() < 1e-10 * read.abs(), "{output} {read}");
    }
}

#[test]
fn long_chains_start_with_the_angles_of_their_hinges() {
    // Joints far away are closed to the rounding of where they are, which is more than that of a link.
    const LINKS: usize = 1000;
    let (mut text, mut turned, mut end) = (String::new(), 0.0f64, Vector3::zeros());
    let mut center = end;
    for k in 0..LINKS {
        let angle = 0.02 * (1.7 * k as f64).sin();
        let before = if k == 0 { "ground".into() } else { format!("link{}", k - 1) };
        let at = if k == 0 { 0.0 } else { 0.25 };
        text.push_str(&format!(
            "[bodies.link{k}]\nmass = 1\ninertia = [0.1, 0.1, 0.01]\n\
             [frames.a{k}]\nbody = \"{before}\"\nat = [{at}, 0, 0]\n\
             [frames.b{k}]\nbody = \"link{k}\"\nat = [-0.25, 0, 0]\n\
             [joints.j{k}]\ntype = \"revolute\"\nbetween = [\"a{k}\", \"b{k}\"]\nangle = {angle:?}\n"
        ));
        turned += angle;
        let along = Vector3::new(turned.cos(), turned.sin(), 0.0);
        center = end + along * 0.25;
        end += along * 0.5;
    }
    let model = Problem::from_text("chain", &text).unwrap().model().unwrap();
    assert_eq!((model.degrees_of_freedom(), model.redundancies().len()), (LINKS, 0));
    let last = model.start().bodies[LINKS - 1].position();
    assert!((last - center).norm() < 1e-9, "{last} {center}");
}
