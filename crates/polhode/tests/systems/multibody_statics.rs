//! Joints and springs at rest: their reactions against statics, with every form of the method.

use crate::systems::METHODS;
use nalgebra::{Matrix3, Vector3};
use polhode::body::{Frame, Gravity, Moment};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{ForceKind, GROUND, JointKind, Place, Rigid, Simulation, System};

const G: f64 = 9.81;

fn falling() -> System<f64> {
    System::new(Vector3::new(0.0, 0.0, -G))
}

fn block(mass: f64) -> Rigid<f64> {
    Rigid::new(mass, Matrix3::from_diagonal(&Vector3::new(0.1, 0.2, 0.25)) * mass).unwrap()
}

/// Runs every form, and calls f at the start and after some steps. Positions round to 1e-16 m or so, and what a mass of
/// some kg makes of that in a step is a force of 1e-16 m/(β h²): 1e-13 N for h = 0.1 s.
fn at_rest(system: &System<f64>, h: f64, steps: usize, f: impl Fn(&Simulation<f64>, &str)) {
    for form in METHODS {
        let mut run = Simulation::new(system, &Method::parse(form).unwrap()).unwrap();
        f(&run, &format!("{form} at the start"));
        for _ in 0..steps {
            run.step(h).unwrap();
        }
        f(&run, form);
    }
}

/// What a joint does to its second body: force in space, and moment in body axes about the centre of mass.
fn wrench(run: &Simulation<f64>, joint: &str) -> [Vector3<f64>; 2] {
    let known = run.system().joints().iter().find(|j| j.name == joint).unwrap();
    let places = known.ends.map(|end| match end.body {
        None => Place::ground(),
        Some(b) => {
            let body = &run.bodies()[b];
            let (v, omega) = (body.velocity, body.omega_body);
            Place { x: body.position, r: body.attitude.matrix(), v, omega }
        }
    });
    let [_, _, force, moment] =
        known.reaction(run.time(), places.each_ref(), run.multipliers(joint).unwrap());
    [-force, -moment]
}

#[track_caller]
fn close(a: &[f64], b: &[f64], tolerance: f64, name: &str) {
    let size = b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() < tolerance * size, "{name}: {a:?} is not {b:?}");
    }
}

#[test]
fn a_hanging_chain_carries_the_weights_below() {
    let mut system = falling();
    let masses = [2.0, 3.0, 0.5];
    let mut above = String::from(GROUND);
    for (i, mass) in masses.iter().enumerate() {
        let name = format!("link{i}");
        let center = Vector3::new(0.0, 0.0, -0.5 - i as f64);
        let attitude = Rotation::from_rotation_vector(&(Vector3::z() * (0.3 * i as f64)));
        system.body(&name, block(*mass).at(center, attitude)).unwrap();
        system.frame(&format!("top{i}"), &name, Vector3::z() * 0.5, attitude.inverse()).unwrap();
        system.frame(&format!("bottom{i}"), &name, Vector3::z() * -0.5, attitude.inverse()).unwrap();
        let kind = [JointKind::Spherical, JointKind::Revolute, JointKind::Universal][i].clone();
        system.joint(&format!("joint{i}"), kind, &above, &format!("top{i}")).unwrap();
        above = format!("bottom{i}");
    }
    for h in [0.01, 0.1] {
        at_rest(&system, h, 50, |run, name| {
            for i in 0..3 {
                let below: f64 = masses[i..].iter().sum();
                let lambda = run.multipliers(&format!("joint{i}")).unwrap();
                close(&lambda[..3], &[0.0, 0.0, below * G], 1e-12, name);
                assert!(lambda[3..].iter().all(|m| m.abs() < 1e-11), "{name}: {lambda:?}");
                assert!(run.bodies()[i].velocity.norm() < 1e-11, "{name}");
            }
        });
    }
}

#[test]
fn a_cantilever_takes_force_and_moment_at_its_wall() {
    let mut system = falling();
    // The beam sits in the wall at an angle, and the frames of the joint have axes of their own.
    let attitude = Rotation::from_rotation_vector(&Vector3::new(0.2, -0.4, 0.9));
    let axes = Rotation::from_rotation_vector(&Vector3::new(-1.0, 0.3, 0.5));
    let (root, tip) = (Vector3::new(-1.0, 0.0, 0.1), Vector3::new(1.0, 0.2, 0.0));
    let (end_force, twist) = (Vector3::new(30.0, -20.0, 50.0), Vector3::new(1.0, 4.0, -2.0));
    let wall = Vector3::new(0.5, 0.6, 0.7);
    let body = block(4.0).at(wall - attitude.rotate(&root), attitude);
    let body = body.with(Gravity { weight_space: end_force, center_body: tip });
    system.body("beam", body.with(Moment { frame: Frame::Space, value: twist })).unwrap();
    system.frame("root", "beam", root, axes).unwrap();
    system.frame("wall", GROUND, wall, attitude.compose(&axes)).unwrap();
    system.joint("clamp", JointKind::Fixed, "wall", "root").unwrap();

    let weight = Vector3::new(0.0, 0.0, -4.0 * G);
    let force = -(weight + end_force);
    // About the root, in space.
    let moment =
        -(attitude.rotate(&(tip - root)).cross(&end_force) + attitude.rotate(&-root).cross(&weight) + twist);
    at_rest(&system, 0.1, 20, |run, name| {
        close(&run.multipliers("clamp").unwrap()[..3], force.as_slice(), 1e-12, name);
        let [f, about_center] = wrench(run, "clamp");
        let about_root = attitude.rotate(&(about_center - root.cross(&attitude.unrotate(&f))));
        close(f.as_slice(), force.as_slice(), 1e-12, name);
        close(about_root.as_slice(), moment.as_slice(), 1e-12, name);
    });
}

#[test]
fn a_rod_in_tension_carries_the_weight_along_itself() {
    let mut system = falling();
    // A block on two rods: each carries half of the weight over its cosine.
    let (half, drop, mass) = (0.6, 0.8, 5.0);
    system.body("block", block(mass).at(Vector3::new(0.0, 0.0, -drop), Rotation::identity())).unwrap();
    for (name, side) in [("left", -half), ("right", half)] {
        system.frame(name, GROUND, Vector3::new(side, 0.0, 0.0), Rotation::identity()).unwrap();
        let rod = format!("{name} rod");
        system.joint(&rod, JointKind::Distance { length: half.hypot(drop) }, name, "block").unwrap();
    }
    at_rest(&system, 0.1, 50, |run, name| {
        // A of the joint is above: it pulls B towards itself, against its multiplier.
        let tension = -mass * G / 2.0 / (drop / half.hypot(drop));
        close(run.multipliers("left rod").unwrap(), &[tension], 1e-12, name);
        close(run.multipliers("right rod").unwrap(), &[tension], 1e-12, name);
    });
}

#[test]
fn a_slider_is_held_across_its_axis() {
    // Along space z by a spring, across by the joint; the load acts off the centre.
    let mut system = falling();
    let (mass, stiffness, at) = (2.0, 500.0, Vector3::new(0.3, -0.2, 0.4));
    let side = Vector3::new(7.0, -3.0, 0.0);
    let stretch = mass * G / stiffness;
    let axes = Rotation::from_rotation_vector(&(Vector3::z() * 0.7));
    let body = block(mass).at(Vector3::new(0.0, 0.0, -1.0 - stretch), Rotation::identity());
    system.body("slider", body.with(Gravity { weight_space: side, center_body: at })).unwrap();
    system.frame("rail", GROUND, Vector3::new(0.0, 0.0, -0.4), axes).unwrap();
    system.frame("shoe", "slider", Vector3::new(0.0, 0.0, 0.1), axes).unwrap();
    system.joint("rail", JointKind::Prismatic, "rail", "shoe").unwrap();
    let spring = ForceKind::SpringDamper { stiffness, damping: 3.0, length: 1.0 };
    system.force("spring", spring, GROUND, "slider").unwrap();
    at_rest(&system, 0.1, 50, |run, name| {
        let [force, moment] = wrench(run, "rail");
        close(force.as_slice(), (-side).as_slice(), 1e-12, name);
        close(moment.as_slice(), (-at.cross(&side)).as_slice(), 1e-12, name);
        // The last two rows are the forces along the first two axes of the rail.
        let lambda = run.multipliers("rail").unwrap();
        let along = axes.unrotate(&-side);
        close(&lambda[3..], &[along.x, along.y], 1e-12, name);
        let z = run.position("slider").unwrap().z;
        assert!((z + 1.0 + stretch).abs() < 1e-14, "{name}: {z}");
    });
}

#[test]
fn a_body_on_a_spring_comes_to_rest_where_the_spring_carries_it() {
    let (mass, stiffness): (f64, f64) = (2.0, 300.0);
    let damping = 2.0 * (mass * stiffness).sqrt();
    let mut system = falling();
    system.body("bob", block(mass).at(Vector3::new(0.0, 0.0, -0.5), Rotation::identity())).unwrap();
    let spring = ForceKind::SpringDamper { stiffness, damping, length: 0.5 };
    system.force("spring", spring, GROUND, "bob").unwrap();
    let expected = -0.5 - mass * G / stiffness;
    for form in METHODS {
        let mut run = Simulation::new(&system, &Method::parse(form).unwrap()).unwrap();
        // Critically damped at 12.2/s: after 4 s a factor of 1e-19 is left.
        for _ in 0..400 {
            run.step(0.01).unwrap();
        }
        let bob = run.moving("bob").unwrap();
        assert!((bob.position.z - expected).abs() < 1e-14, "{form}: {}", bob.position.z - expected);
        assert!(bob.velocity.norm() < 1e-13, "{form}: {}", bob.velocity.norm());
        // Its energy: that of the spring and of the height.
        let energy = 0.5 * stiffness * (mass * G / stiffness).powi(2) + mass * G * expected;
        assert!((run.energy() - energy).abs() < 1e-12, "{form}");
    }
}

#[test]
fn a_torsion_spring_balances_a_moment() {
    let (stiffness, moment, rest) = (4.0, 6.0, -0.3);
    // The axis of the hinge is none of space.
    let axes = Rotation::from_rotation_vector(&Vector3::new(0.6, 0.9, -0.2));
    let axis = axes.rotate(&Vector3::z());
    let mut system = System::new(Vector3::zeros());
    let body = block(1.5).with(Moment { frame: Frame::Space, value: axis * moment });
    system.body("wheel", body).unwrap();
    system.frame("bearing", GROUND, Vector3::zeros(), axes).unwrap();
    system.frame("hub", "wheel", Vector3::zeros(), axes).unwrap();
    system.joint("hinge", JointKind::Revolute, "bearing", "hub").unwrap();
    let spring = ForceKind::TorsionSpring { stiffness, damping: 2.0, angle: rest };
    system.force("spring", spring, "bearing", "hub").unwrap();
    let expected = rest + moment / stiffness;
    for form in METHODS {
        let mut run = Simulation::new(&system, &Method::parse(form).unwrap()).unwrap();
        for _ in 0..400 {
            run.step(0.1).unwrap();
        }
        let wheel = run.moving("wheel").unwrap();
        let turned = wheel.attitude.rotation_vector();
        assert!((turned - axis * expected).norm() < 1e-13, "{form}: {turned:?}");
        assert!(wheel.omega_body.norm() < 1e-13, "{form}");
        // All moment goes through the spring.
        let lambda = run.multipliers("hinge").unwrap();
        assert!(lambda.iter().all(|l| l.abs() < 3e-12), "{form}: {lambda:?}");
    }
}
