//! What must not matter: where and how a system stands in space, the order of its parts, which end of a joint comes
//! first. And what every joint must keep: energy, and the momentum of what is free.

use crate::probe::Random;
use crate::systems::{METHODS, run};
use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{ForceKind, GROUND, JointKind, Rigid, Simulation, System};

fn none() -> Rotation<f64> {
    Rotation::identity()
}

fn inertia(mass: f64) -> Matrix3<f64> {
    Matrix3::new(0.3, 0.02, 0.0, 0.02, 0.25, -0.03, 0.0, -0.03, 0.2) * mass
}

/// Where a body is and how it moves.
#[derive(Clone, Copy)]
struct Stand {
    x: Vector3<f64>,
    attitude: Rotation<f64>,
    v: Vector3<f64>,
    omega: Vector3<f64>,
}

fn rigid(mass: f64, at: &Stand) -> Rigid<f64> {
    Rigid::new(mass, inertia(mass)).unwrap().at(at.x, at.attitude).moving(at.v, at.omega)
}

/// An arm on a pivot, and a second body on the arm by a joint of this kind with frames of any direction.
fn arm(kind: JointKind<f64>) -> System<f64> {
    let mut random = Random(21);
    let mut axes = || Rotation::from_rotation_vector(&(random.vector() * 1.5));
    let [frame_a, frame_b, attitude] = [axes(), axes(), axes()];
    let (hook, out, point) =
        (Vector3::new(-0.4, 0.1, 0.0), Vector3::new(0.5, 0.0, 0.2), Vector3::new(0.1, 0.3, -0.2));
    let omega = Vector3::new(1.0, -2.0, 1.5);
    let x = -attitude.rotate(&hook);
    let upper = Stand { x, attitude, v: -attitude.rotate(&omega.cross(&hook)), omega };
    // Aligned frames fit every joint; a rod needs its length too.
    let span =
        if let JointKind::Distance { length } = kind { Vector3::x() * length } else { Vector3::zeros() };
    let frame = attitude.compose(&frame_a);
    let second = frame.compose(&frame_b.inverse());
    let at = x + attitude.rotate(&out) + frame.rotate(&span) - second.rotate(&point);
    // Some velocity of its own, of which the joint leaves what it allows.
    let lower = Stand {
        x: at,
        attitude: second,
        v: Vector3::new(0.5, 1.0, -0.3),
        omega: Vector3::new(-1.0, 2.0, 0.7),
    };
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    system.body("upper", rigid(2.0, &upper)).unwrap();
    system.body("lower", rigid(1.0, &lower)).unwrap();
    system.frame("hook", "upper", hook, none()).unwrap();
    system.frame("out", "upper", out, frame_a).unwrap();
    system.frame("in", "lower", point, frame_b).unwrap();
    system.joint("pivot", JointKind::Spherical, GROUND, "hook").unwrap();
    system.joint("joint", kind, "out", "in").unwrap();
    system
}

const KINDS: [JointKind<f64>; 8] = [
    JointKind::Spherical,
    JointKind::Revolute,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Universal,
    JointKind::Planar,
    JointKind::Fixed,
    JointKind::Distance { length: 0.6 },
];

#[test]
fn every_joint_keeps_energy_and_converges() {
    let time = 0.4;
    for kind in KINDS {
        let system = arm(kind.clone());
        for method in METHODS {
            let name = format!("{}, {method}", kind.name());
            let claimed = if method.starts_with("residual") { 1.0 } else { 2.0 };
            let steps = if claimed == 2.0 { [100, 200, 400] } else { [1600, 3200, 6400] };
            let runs = steps.map(|n| run(&system, method, time / n as f64, n));
            let first = run(&system, method, 1.0, 0).energy();
            let apart = |a: &Simulation<f64>, b: &Simulation<f64>| {
                a.bodies().iter().zip(b.bodies()).map(|(a, b)| (a.position - b.position).norm()).sum::<f64>()
            };
            let order = (apart(&runs[0], &runs[1]) / apart(&runs[1], &runs[2])).log2();
            let lost = runs.each_ref().map(|run| (run.energy() - first).abs());
            let violation = runs[0].violation();
            println!("{name}: order {order:.3}, energy {:.1e} {:.1e}, {violation:?}", lost[0], lost[2]);
            assert!((order - claimed).abs() < 0.15, "{name}: {order}");
            // Of some 10 J, and with h or its square.
            assert!(lost[2] < 1e-4 && lost[2] < lost[0], "{name}: {lost:?}");
            assert!(violation.position < 2e-15, "{name}: {violation:?}");
        }
    }
}

/// A chain of three with a spring, its parts in any order, turned by a rotation of space, with ends of joints swapped.
fn chain(turn: &Rotation<f64>, shift: &Vector3<f64>, order: [usize; 3], swapped: bool) -> System<f64> {
    let mut system = System::new(turn.rotate(&Vector3::new(0.3, 0.0, -9.81)));
    let names = ["one", "two", "three"];
    let place = |x: Vector3<f64>| turn.rotate(&x) + shift;
    let attitudes = [Vector3::new(0.1, 0.2, 0.3), Vector3::new(-0.4, 0.0, 0.6), Vector3::new(0.2, -0.7, 0.1)]
        .map(|v| Rotation::from_rotation_vector(&v));
    let (left, right) = (Vector3::new(-0.5, 0.0, 0.1), Vector3::new(0.4, 0.1, 0.0));
    let mut end = Vector3::zeros();
    let mut stands = Vec::new();
    for (i, attitude) in attitudes.iter().enumerate() {
        let x = end - attitude.rotate(&left);
        end = x + attitude.rotate(&right);
        let omega = Vector3::new(1.0, -0.5 * i as f64, 0.8);
        let v = turn.rotate(&Vector3::new(0.2, 0.1 * i as f64, -0.3));
        stands.push(Stand { x: place(x), attitude: turn.compose(attitude), v, omega });
    }
    for i in order {
        system.body(names[i], rigid(1.0 + i as f64, &stands[i])).unwrap();
        // The hinge of the second about an axis across both.
        let axis =
            attitudes[i].inverse().compose(&Rotation::from_rotation_vector(&Vector3::new(0.9, 0.2, 0.0)));
        system.frame(&format!("{} left", names[i]), names[i], left, axis).unwrap();
        system.frame(&format!("{} right", names[i]), names[i], right, axis).unwrap();
    }
    system.frame("wall", GROUND, *shift, *turn).unwrap();
    system.frame("post", GROUND, place(Vector3::new(1.0, 1.0, 0.0)), *turn).unwrap();
    let pairs = [("wall", "one left"), ("one right", "two left"), ("two right", "three left")];
    let kinds = [JointKind::Spherical, JointKind::Revolute, JointKind::Spherical];
    for i in order {
        let (a, b) = if swapped { (pairs[i].1, pairs[i].0) } else { pairs[i] };
        system.joint(&format!("joint {i}"), kinds[i].clone(), a, b).unwrap();
    }
    let spring = ForceKind::SpringDamper { stiffness: 40.0, damping: 0.5, length: 0.3 };
    match swapped {
        true => system.force("spring", spring, "three right", "post").unwrap(),
        false => system.force("spring", spring, "post", "three right").unwrap(),
    }
    system
}

#[test]
fn order_and_direction_of_the_parts_do_not_matter() {
    let (still, here) = (none(), Vector3::zeros());
    for method in METHODS {
        let usual = chain(&still, &here, [0, 1, 2], false);
        let expected = run(&usual, method, 5e-3, 100);
        for (order, swapped) in [([2, 0, 1], false), ([1, 2, 0], false), ([0, 1, 2], true), ([2, 1, 0], true)]
        {
            let system = chain(&still, &here, order, swapped);
            let found = run(&system, method, 5e-3, 100);
            for name in ["one", "two", "three"] {
                let (a, b) = (expected.moving(name).unwrap(), found.moving(name).unwrap());
                let apart = (a.position - b.position).norm() + a.attitude.distance(&b.attitude);
                assert!(apart < 2e-14, "{method}, {order:?}, {swapped}: {name} {apart:e}");
            }
            // Multipliers see the rounding of positions times m/(β h²), some 1e6 N/m here, from step to step.
            let sign = if swapped { -1.0 } else { 1.0 };
            for joint in ["joint 0", "joint 2"] {
                let [a, b] = [&expected, &found]
                    .map(|run| Vector3::from_column_slice(&run.multipliers(joint).unwrap()[..3]));
                assert!((a - b * sign).norm() < 1e-9 * a.norm(), "{method}, {order:?}, {swapped}: {a} {b}");
            }
        }
    }
}

#[test]
fn space_has_no_direction_and_no_centre() {
    let turn = Rotation::from_rotation_vector(&Vector3::new(1.2, -2.0, 0.7));
    let shift = Vector3::new(3.0, -4.0, 5.0);
    for method in METHODS {
        let [usual, turned] = [(none(), Vector3::zeros()), (turn, shift)]
            .map(|(turn, shift)| chain(&turn, &shift, [0, 1, 2], false));
        let (expected, found) = (run(&usual, method, 5e-3, 100), run(&turned, method, 5e-3, 100));
        for (a, b) in expected.bodies().iter().zip(found.bodies()) {
            let apart = (turn.rotate(&a.position) + shift - b.position).norm();
            let turned = turn.compose(&a.attitude).distance(&b.attitude);
            let spun = (a.omega_body - b.omega_body).norm();
            assert!(
                apart < 1e-12 && turned < 1e-12 && spun < 1e-11,
                "{method}: {apart:e} {turned:e} {spun:e}"
            );
        }
    }
}

/// Two bodies on a damped spring, in free flight.
#[test]
fn momentum_of_free_bodies_is_kept() {
    let mut system = System::new(Vector3::zeros());
    let stand = |x: [f64; 3], v: [f64; 3]| Stand {
        x: x.into(),
        attitude: Rotation::from_rotation_vector(&Vector3::from(v)),
        v: v.into(),
        omega: Vector3::new(v[1], 2.0 * v[0], -v[2] + 1.0),
    };
    system.body("a", rigid(1.0, &stand([0.0, 0.0, 0.0], [0.5, -0.3, 0.8])).free()).unwrap();
    system.body("b", rigid(2.0, &stand([1.0, 0.5, 0.0], [-0.2, 0.4, 0.1])).free()).unwrap();
    let spring = ForceKind::SpringDamper { stiffness: 30.0, damping: 0.4, length: 0.8 };
    system.frame("eye", "a", Vector3::new(0.2, 0.1, 0.0), none()).unwrap();
    system.frame("lug", "b", Vector3::new(-0.1, 0.0, 0.3), none()).unwrap();
    system.force("spring", spring, "eye", "lug").unwrap();
    let momenta = |run: &Simulation<f64>| {
        let bodies = run.system().bodies().iter().zip(run.bodies());
        bodies.fold([Vector3::zeros(); 2], |[p, l], (body, now)| {
            let linear = now.velocity * body.mass;
            let spin = now.attitude.rotate(&(body.inertia.matrix() * now.omega_body));
            [p + linear, l + now.position.cross(&linear) + spin]
        })
    };
    for method in ["geometric-alpha", "linear-alpha", "residual-alpha"] {
        let start = momenta(&run(&system, method, 1.0, 0));
        let mut errors = Vec::new();
        for n in [200, 400, 800] {
            let end = momenta(&run(&system, method, 1.0 / f64::from(n), n as usize));
            // What acts on both is equal and opposite in every step.
            assert!((end[0] - start[0]).norm() < 1e-13, "{method}: {:e}", (end[0] - start[0]).norm());
            errors.push((end[1] - start[1]).norm());
        }
        println!("{method}: angular momentum {errors:?}");
        let order = (errors[1] / errors[2]).log2();
        let claimed = if method == "residual-alpha" { 1.0 } else { 2.0 };
        assert!(order > claimed - 0.2, "{method}: {errors:?}");
    }
}

/// Forty links of half a metre, from a wall to the air.
#[test]
fn long_chains_stay_together() {
    let links = 40;
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let mut last = String::from(GROUND);
    for i in 0..links {
        let name = format!("link {i}");
        let stand = Stand {
            x: Vector3::x() * (0.5 * i as f64 + 0.25),
            attitude: Rotation::from_rotation_vector(&(Vector3::x() * (0.3 * i as f64))),
            v: Vector3::zeros(),
            omega: Vector3::zeros(),
        };
        system.body(&name, rigid(1.0, &stand)).unwrap();
        let back = stand.attitude.inverse();
        system.frame(&format!("{name} in"), &name, Vector3::x() * -0.25, back).unwrap();
        system.frame(&format!("{name} out"), &name, Vector3::x() * 0.25, back).unwrap();
        // Every third link turns about space y only.
        let kind = if i % 3 == 1 { JointKind::Universal } else { JointKind::Spherical };
        system.joint(&format!("joint {i}"), kind, &last, &format!("{name} in")).unwrap();
        last = format!("{name} out");
    }
    for method in METHODS {
        let mut run = Simulation::new(&system, &Method::parse(method).unwrap()).unwrap();
        let (first, mut worst) = (run.energy(), 0f64);
        for _ in 0..200 {
            run.step(2e-3).unwrap();
            worst = worst.max(run.violation().position);
        }
        let lost = run.energy() - first;
        let fallen = -9.81 * run.bodies().iter().map(|b| b.position.z).sum::<f64>();
        println!("{method}: gap {worst:.1e}, energy {lost:.1e} of {fallen:.1e} J, {:?}", run.spent);
        // Positions up to 20 m.
        assert!(worst < 2e-14, "{method}: {worst:e}");
        assert!(lost.abs() < 3e-6 * fallen.abs(), "{method}: {lost:e} of {fallen:e}");
        // Few matrices and some more iterations: factors are kept over steps.
        assert!(run.spent.jacobians <= 210 && run.spent.iterations < 800, "{method}: {:?}", run.spent);
    }
}
