//! Springs, dampers and loads on systems: against their potentials and against closed forms.

use crate::probe::Random;
use crate::systems::{FORMS, run};
use core::f64::consts::PI;
use nalgebra::{Matrix3, Vector3};
use polhode::body::{Drag, Frame, Gravity, Harmonic, Moment};
use polhode::group::{Rotation, spin};
use polhode::multibody::{End, Force, ForceKind, GROUND, JointKind, Place, Rigid, System};
use polhode::scalar::Dual;

/// x_A, Θ_A, x_B, Θ_B.
const COORDINATES: usize = 12;
type Jet = Dual<f64, COORDINATES>;

fn place(random: &mut Random) -> Place<f64> {
    Place {
        x: random.vector() * 2.0,
        r: Rotation::from_rotation_vector(&(random.vector() * 2.0)).matrix(),
        v: random.vector(),
        omega: random.vector() * 2.0,
    }
}

fn seeded(places: &[Place<f64>; 2]) -> [Place<Jet>; 2] {
    [0, 1].map(|i| {
        let theta = Vector3::from_fn(|k, _| Jet::variable(0.0, 6 * i + 3 + k));
        Place {
            x: Vector3::from_fn(|k, _| Jet::variable(places[i].x[k], 6 * i + k)),
            r: places[i].r.map(Jet::constant) * (Matrix3::identity() + spin(&theta)),
            v: places[i].v.map(Jet::constant),
            omega: places[i].omega.map(Jet::constant),
        }
    })
}

fn end(random: &mut Random, body: usize) -> End<f64> {
    let axes = Rotation::from_rotation_vector(&(random.vector() * 2.0)).matrix();
    End { body: Some(body), point: random.vector(), axes }
}

/// Work per time of what acts on both ends.
fn power(wrenches: &[Vector3<f64>; 4], places: &[Place<f64>; 2]) -> f64 {
    (0..2).map(|i| wrenches[2 * i].dot(&places[i].v) + wrenches[2 * i + 1].dot(&places[i].omega)).sum()
}

#[test]
fn springs_pull_down_their_potential_and_dampers_take_power() {
    let mut random = Random(31);
    for _ in 0..100 {
        let places = [place(&mut random), place(&mut random)];
        let ends = [end(&mut random, 0), end(&mut random, 1)];
        let (stiffness, length) = (random.within(1.0, 5.0), random.within(0.0, 2.0));
        let element = |stiffness: f64, damping: f64| {
            Force::new("spring", ForceKind::SpringDamper { stiffness, damping, length }, ends)
        };
        let spring = element(stiffness, 0.0);
        let wrenches = spring.wrenches(0.0, places.each_ref());
        let slope = spring.potential(Dual::constant(0.0), seeded(&places).each_ref()).unwrap().eps;
        for i in 0..COORDINATES {
            let error = (wrenches[i / 3][i % 3] + slope[i]).abs();
            assert!(error < 1e-13, "coordinate {i}: {error:e}");
        }
        let about =
            |w: &[Vector3<f64>; 4], i: usize| places[i].x.cross(&w[2 * i]) + places[i].r * w[2 * i + 1];
        let damper = element(0.0, 0.7).wrenches(0.0, places.each_ref());
        for w in [&wrenches, &damper] {
            assert!((w[0] + w[2]).norm() < 1e-14);
            assert!((about(w, 0) + about(w, 1)).norm() < 1e-13);
        }
        // -c times the square of the rate of the distance.
        let points = [0, 1].map(|i| places[i].x + places[i].r * ends[i].point);
        let rates = [0, 1].map(|i| places[i].v + places[i].r * places[i].omega.cross(&ends[i].point));
        let rate = (points[1] - points[0]).normalize().dot(&(rates[1] - rates[0]));
        assert!((power(&damper, &places) + 0.7 * rate * rate).abs() < 1e-13);
        assert!(element(0.0, 0.7).is_damped() && !spring.is_damped());
    }
}

/// On a hinge, where the third axes are the same.
#[test]
fn torsion_springs_turn_down_their_potential() {
    let mut random = Random(33);
    for _ in 0..100 {
        let mut places = [place(&mut random), place(&mut random)];
        let ends = [end(&mut random, 0), end(&mut random, 1)];
        let angle = random.within(-3.0, 3.0);
        let frame = Rotation::from_matrix(&(places[0].r * ends[0].axes));
        let second = frame.compose(&Rotation::from_rotation_vector(&(Vector3::z() * angle))).matrix();
        places[1].r = second * ends[1].axes.transpose();
        let element = |stiffness: f64, damping: f64| {
            Force::new("spring", ForceKind::TorsionSpring { stiffness, damping, angle: 0.4 }, ends)
        };
        let spring = element(3.0, 0.0);
        // From where it is at rest it counts the shorter way.
        let twist = if angle - 0.4 < -PI { angle - 0.4 + 2.0 * PI } else { angle - 0.4 };
        assert!((spring.potential(0.0, places.each_ref()).unwrap() - 1.5 * twist.powi(2)).abs() < 1e-12);
        let wrenches = spring.wrenches(0.0, places.each_ref());
        // Along the axis; across it a hinge takes all moments.
        let slope = spring.potential(Dual::constant(0.0), seeded(&places).each_ref()).unwrap().eps;
        for i in 0..2 {
            let axis = ends[i].axes.column(2).into_owned();
            let by_angle = Vector3::from_fn(|k, _| slope[6 * i + 3 + k]);
            let error = (wrenches[2 * i + 1].dot(&axis) + by_angle.dot(&axis)).abs();
            assert!(error < 1e-12, "{error:e}");
            assert_eq!(wrenches[2 * i], Vector3::zeros());
        }
        let damper = element(0.0, 0.7).wrenches(0.0, places.each_ref());
        let relative = places[1].r * places[1].omega - places[0].r * places[0].omega;
        let rate = relative.dot(&frame.rotate(&Vector3::z()));
        assert!((power(&damper, &places) + 0.7 * rate * rate).abs() < 1e-12);
    }
}

#[track_caller]
fn second_order(method: &str, error: impl Fn(usize) -> f64) {
    let errors = [200, 400, 800].map(error);
    let order = (errors[1] / errors[2]).log2();
    println!("{method}: {errors:?}, order {order:.3}");
    assert!((order - 2.0).abs() < 0.1, "{method}: {errors:?}");
}

/// A spring without length swings through zero as through any other point.
#[test]
fn a_spring_without_length_is_an_oscillator() {
    let (mass, stiffness): (f64, f64) = (2.0, 50.0);
    let mut system = System::new(Vector3::zeros());
    let start = Vector3::new(0.3, -0.2, 0.5);
    let body = Rigid::new(mass, Matrix3::identity()).unwrap().at(start, Rotation::identity());
    system.body("bob", body).unwrap();
    let spring = ForceKind::SpringDamper { stiffness, damping: 0.0, length: 0.0 };
    system.force("spring", spring, GROUND, "bob").unwrap();
    let frequency = (stiffness / mass).sqrt();
    for form in FORMS {
        // A straight line through the centre, and well past it.
        second_order(form, |n| {
            let run = run(&system, form, 2.0 / n as f64, n);
            (run.position("bob").unwrap() - start * (frequency * 2.0).cos()).norm()
        });
    }
    // At the centre itself it has no direction: nothing happens, and nothing is lost.
    let mut system = System::new(Vector3::zeros());
    system.body("bob", Rigid::new(mass, Matrix3::identity()).unwrap()).unwrap();
    let spring = ForceKind::SpringDamper { stiffness, damping: 1.0, length: 0.0 };
    system.force("spring", spring, GROUND, "bob").unwrap();
    for form in FORMS {
        let run = run(&system, form, 0.01, 10);
        assert!(run.position("bob").unwrap().norm() < 1e-15, "{form}");
    }
}

/// A wheel on a hinge along a skew axis, with loads about it.
fn wheel(load: impl Fn(Rigid<f64>, Vector3<f64>) -> Rigid<f64>, speed: f64) -> (System<f64>, Vector3<f64>) {
    let axes = Rotation::from_rotation_vector(&Vector3::new(0.6, 0.9, -0.2));
    let axis = axes.rotate(&Vector3::z());
    let mut system = System::new(Vector3::zeros());
    // A wheel with its axis along the hinge: J = 0.5 about it.
    let inertia =
        axes.matrix() * Matrix3::from_diagonal(&Vector3::new(0.3, 0.3, 0.5)) * axes.matrix().transpose();
    let inertia = (inertia + inertia.transpose()) * 0.5;
    let body = Rigid::new(1.0, inertia).unwrap().moving(Vector3::zeros(), axis * speed);
    system.body("wheel", load(body, axis)).unwrap();
    system.frame("bearing", GROUND, Vector3::zeros(), axes).unwrap();
    system.frame("hub", "wheel", Vector3::zeros(), axes).unwrap();
    system.joint("hinge", JointKind::Revolute, "bearing", "hub").unwrap();
    (system, axis)
}

#[test]
fn a_load_that_oscillates_acts_at_its_time() {
    let (amplitude, frequency, phase): (f64, f64, f64) = (2.0, 3.0, 0.6);
    for frame in [Frame::Space, Frame::Body] {
        let (system, axis) = wheel(
            |body, axis| body.with(Harmonic { frame, amplitude: axis * amplitude, frequency, phase }),
            0.0,
        );
        let t = 1.5;
        let force = amplitude / 0.5 / frequency;
        let speed = force * ((frequency * t + phase).sin() - phase.sin());
        for form in ["geometric-alpha", "linear-alpha", "residual-alpha,map=exp"] {
            second_order(form, |n| {
                let run = run(&system, form, t / n as f64, n);
                (run.moving("wheel").unwrap().omega_body.dot(&axis) - speed).abs()
            });
        }
    }
}

#[test]
fn drag_slows_down_as_an_exponential() {
    let (speed, coefficient, moment) = (3.0, 0.4, 0.3);
    let (system, axis) = wheel(
        |body, axis| {
            body.with(Drag { coefficient }).with(Moment { frame: Frame::Body, value: axis * moment })
        },
        speed,
    );
    let (t, limit): (f64, f64) = (1.5, moment / coefficient);
    let expected = limit + (speed - limit) * (-coefficient / 0.5 * t).exp();
    for form in ["geometric-alpha", "linear-alpha", "residual-alpha,map=exp"] {
        for constraints in ["index3", "stabilized"] {
            let method = format!("{form},constraints={constraints}");
            second_order(&method, |n| {
                let run = run(&system, &method, t / n as f64, n);
                (run.moving("wheel").unwrap().omega_body.dot(&axis) - expected).abs()
            });
        }
    }
}

/// Two wheels of one axis on a torsion spring: they swing against each other at √(k (1/J₁ + 1/J₂)).
#[test]
fn a_torsion_spring_between_bodies_has_its_frequency() {
    let mut system = System::new(Vector3::zeros());
    for (name, moment, speed) in [("left", 0.5, 1.0), ("right", 0.2, -2.5)] {
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.3, 0.3, moment));
        let body = Rigid::new(1.0, inertia).unwrap().moving(Vector3::zeros(), Vector3::z() * speed);
        system.body(name, body).unwrap();
    }
    system.joint("bearing", JointKind::Revolute, GROUND, "left").unwrap();
    system.joint("shaft", JointKind::Revolute, "left", "right").unwrap();
    let spring = ForceKind::TorsionSpring { stiffness: 8.0, damping: 0.0, angle: 0.0 };
    system.force("spring", spring, "left", "right").unwrap();
    // The momentum of both is zero: 0.5·1 = 0.2·2.5.
    let frequency = (8.0f64 * (1.0 / 0.5 + 1.0 / 0.2)).sqrt();
    let t = 1.3;
    for form in ["geometric-alpha", "linear-alpha", "residual-alpha,map=exp"] {
        second_order(form, |n| {
            let run = run(&system, form, t / n as f64, n);
            let [left, right] = ["left", "right"].map(|b| run.moving(b).unwrap().omega_body.z);
            (left - (frequency * t).cos()).abs() + (right + 2.5 * (frequency * t).cos()).abs()
        });
    }
}

/// A body turning on a stiff damped spring, with a torsion spring and loads of all kinds on its neighbour. The matrix
/// of a step is that of its residual, so that Newton's method needs no second one.
#[test]
fn a_step_needs_hardly_more_than_one_matrix() {
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let none = Rotation::identity();
    let inertia = Matrix3::new(0.3, 0.02, 0.0, 0.02, 0.25, -0.03, 0.0, -0.03, 0.2);
    let body = Rigid::new(1.0, inertia).unwrap().at(Vector3::new(0.5, 0.2, 0.0), none);
    system.body("a", body.moving(Vector3::z(), Vector3::new(1.0, 2.0, 3.0))).unwrap();
    let loaded = Rigid::new(2.0, inertia)
        .unwrap()
        .at(Vector3::new(1.5, 0.2, 0.0), none)
        .moving(Vector3::zeros(), Vector3::new(-1.0, 4.0, 2.0))
        .with(Drag { coefficient: 3.0 })
        .with(Gravity {
            weight_space: Vector3::new(20.0, 5.0, -30.0),
            center_body: Vector3::new(0.3, 0.2, 0.1),
        })
        .with(Moment { frame: Frame::Space, value: Vector3::new(5.0, -2.0, 3.0) });
    system.body("b", loaded).unwrap();
    system.frame("hook", "a", Vector3::new(-0.1, 0.1, 0.05), none).unwrap();
    system.frame("out", "a", Vector3::x() * 0.5, none).unwrap();
    system.frame("in", "b", Vector3::x() * -0.5, none).unwrap();
    system.joint("hinge", JointKind::Revolute, "out", "in").unwrap();
    let stiff = ForceKind::SpringDamper { stiffness: 3e4, damping: 200.0, length: 0.5 };
    system.force("spring", stiff, GROUND, "hook").unwrap();
    let torsion = ForceKind::TorsionSpring { stiffness: 300.0, damping: 20.0, angle: 0.1 };
    system.force("torsion", torsion, "out", "in").unwrap();
    for form in FORMS {
        for constraints in ["index3", "stabilized"] {
            let method = format!("{form},constraints={constraints}");
            let run = run(&system, &method, 5e-3, 300);
            println!("{method}: {:?}", run.spent);
            // A few more where round-off hides that a step has converged.
            assert!(run.spent.jacobians <= 315 && run.spent.retries == 0, "{method}: {:?}", run.spent);
            assert!(
                run.spent.iterations < 1000 && run.spent.most_iterations <= 7,
                "{method}: {:?}",
                run.spent
            );
        }
    }
}
