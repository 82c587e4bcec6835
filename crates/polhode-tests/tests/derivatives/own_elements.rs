//! Joints and forces of one's own, from outside the library: beside those of the library that do the same, beside exact
//! motions, with sensitivities and fits.

use super::own_loads::{assert_slopes, gap};
use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::identify::{Identification, Samples};
use polhode::method::Method;
use polhode::multibody::{
    ForceFormula, ForceKind, Frames, GROUND, JointFormula, JointKind, MovingFrames, OwnError, OwnForce,
    OwnJoint, Push, Rigid, Simulation, System,
};
use polhode::run::{Plan, Quantity, Recorder, Snapshot, begin, drive};
use polhode::scalar::Real;
use polhode::sensitivity::Sensitivity;
use std::sync::Arc;

/// All methods of systems, with both ways to hold joints.
const METHODS: [&str; 5] = [
    "geometric-alpha",
    "geometric-alpha,constraints=stabilized",
    "linear-alpha",
    "linear-alpha,constraints=stabilized",
    "residual-alpha",
];

/// A nut on a thread along the common third axis: it slides by the pitch for every radian that it turns. The row is
/// p sin(θ - s/p), which holds over any number of turns.
#[derive(Debug)]
struct Thread;

impl JointFormula for Thread {
    fn names(&self) -> Vec<String> {
        vec!["pitch".into()]
    }
    fn rows(&self) -> usize {
        5
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        let (pitch, d) = (numbers[0], at.span());
        let across = |i: usize, j: usize| at.axis(0, i).dot(&at.axis(1, j));
        let (sin, cos) = (at.axis(0, 2).dot(&d) / pitch).sin_cos();
        let turn = (across(1, 0) * cos - across(0, 0) * sin) * pitch;
        let all = [across(0, 2), across(1, 2), at.axis(0, 0).dot(&d), at.axis(0, 1).dot(&d), turn];
        rows.copy_from_slice(&all);
    }
    fn is_angle(&self, row: usize) -> bool {
        row < 2
    }
}

/// A turntable: the first axes of the frames include the angle a sin(w t).
#[derive(Debug)]
struct Turntable;

impl JointFormula for Turntable {
    fn names(&self) -> Vec<String> {
        vec!["amplitude".into(), "frequency".into()]
    }
    fn rows(&self) -> usize {
        6
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        let angle = numbers[0] * (numbers[1] * at.time).sin_cos().0;
        let (sin, cos) = angle.sin_cos();
        let across = |i: usize, j: usize| at.axis(0, i).dot(&at.axis(1, j));
        let d = at.span();
        let turn = across(1, 0) * cos - across(0, 0) * sin;
        rows.copy_from_slice(&[d[0], d[1], d[2], across(0, 2), across(1, 2), turn]);
    }
    fn is_angle(&self, row: usize) -> bool {
        row > 2
    }
}

/// The hinge and the rod of the library, written as formulas.
#[derive(Debug)]
struct Hinge;

impl JointFormula for Hinge {
    fn rows(&self) -> usize {
        5
    }
    fn constraint<T: Real>(&self, _: &[T], at: &Frames<T>, rows: &mut [T]) {
        let d = at.span();
        let across = |i: usize| at.axis(0, i).dot(&at.axis(1, 2));
        rows.copy_from_slice(&[-d[0], -d[1], -d[2], across(0), across(1)]);
    }
    fn is_angle(&self, row: usize) -> bool {
        row > 2
    }
}

#[derive(Debug)]
struct Rod;

impl JointFormula for Rod {
    fn names(&self) -> Vec<String> {
        vec!["length".into()]
    }
    fn rows(&self) -> usize {
        1
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        let (d, length) = (at.span(), numbers[0]);
        rows[0] = (length * length - d.dot(&d)) / (length + length);
    }
}

/// The springs of the library, written as formulas.
#[derive(Debug)]
struct Spring;

impl ForceFormula for Spring {
    fn names(&self) -> Vec<String> {
        ["stiffness", "damping", "length"].map(String::from).to_vec()
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        let d = at.frames.span();
        let length = d.dot(&d).sqrt();
        let rate = (at.velocities[1] - at.velocities[0]).dot(&d) / length;
        Push::force(d * (-(numbers[0] * (length - numbers[2]) + numbers[1] * rate) / length))
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
        let stretch = at.frames.span().dot(&at.frames.span()).sqrt() - numbers[2];
        Some(numbers[0] * stretch * stretch * T::lift(0.5))
    }
    fn is_damped(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Torsion;

impl Torsion {
    fn angle<T: Real>(at: &Frames<T>) -> T {
        let first = at.axis(1, 0);
        first.dot(&at.axis(0, 1)).atan2(first.dot(&at.axis(0, 0)))
    }
}

impl ForceFormula for Torsion {
    fn names(&self) -> Vec<String> {
        ["stiffness", "damping", "angle"].map(String::from).to_vec()
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        // By how much a turn of the second frame changes the angle, also where a hinge tilts it.
        let first = at.frames.axis(1, 0);
        let (x, y) = (at.frames.axis(0, 0), at.frames.axis(0, 1));
        let (cos, sin) = (first.dot(&x), first.dot(&y));
        let axis = (first.cross(&y) * cos - first.cross(&x) * sin) / (cos * cos + sin * sin);
        let (angle, rate) = (Self::angle(&at.frames), (at.omegas[1] - at.omegas[0]).dot(&axis));
        Push::moment(axis * -(numbers[0] * (angle - numbers[2]) + numbers[1] * rate))
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
        let turn = Self::angle(&at.frames) - numbers[2];
        Some(numbers[0] * turn * turn * T::lift(0.5))
    }
    fn is_damped(&self) -> bool {
        true
    }
}

/// Two masses attract each other as stars do.
#[derive(Debug)]
struct Attraction;

impl ForceFormula for Attraction {
    fn names(&self) -> Vec<String> {
        vec!["mu".into()]
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        let d = at.frames.span();
        let square = d.dot(&d);
        Push::force(d * (-numbers[0] / (square * square.sqrt())))
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
        let d = at.frames.span();
        Some(-numbers[0] / d.dot(&d).sqrt())
    }
}

fn end(system: &Arc<System<f64>>, method: &str, plan: &Plan) -> Snapshot {
    let mut run = begin(system, &Method::parse(method).unwrap()).unwrap();
    drive(&mut *run, plan, &mut |_, _| ControlFlow::Continue(())).unwrap().last
}

/// A hinge, an arm, a rod to a second body, and springs of both kinds: of the library, or written.
fn linkage(written: bool) -> System<f64> {
    let mut system = System::new(Vector3::new(0.0, -9.81, 1.0));
    let arm = Rigid::new(1.5, Matrix3::from_diagonal(&Vector3::new(0.02, 0.05, 0.06))).unwrap();
    system.body("arm", arm.at(Vector3::new(0.5, 0.0, 0.0), Rotation::identity())).unwrap();
    let bob = Rigid::new(0.8, Matrix3::from_diagonal(&Vector3::new(0.01, 0.02, 0.015))).unwrap();
    let bob = bob.at(Vector3::new(1.0, -0.9, 0.1), Rotation::identity());
    system.body("bob", bob.moving(Vector3::zeros(), Vector3::new(1.0, 2.0, -0.5))).unwrap();
    system.frame("tail", "arm", Vector3::new(-0.5, 0.0, 0.0), Rotation::identity()).unwrap();
    system.frame("tip", "arm", Vector3::new(0.5, 0.0, 0.0), Rotation::identity()).unwrap();
    system.frame("ear", "bob", Vector3::new(0.0, 0.1, -0.1), Rotation::identity()).unwrap();
    let hinge: JointKind<f64> =
        if written { OwnJoint::new(Hinge, vec![]).unwrap().into() } else { JointKind::Revolute };
    system.joint("hinge", hinge, GROUND, "tail").unwrap();
    let rod: JointKind<f64> = match written {
        true => OwnJoint::new(Rod, vec![0.8]).unwrap().into(),
        false => JointKind::Distance { length: 0.8 },
    };
    system.joint("rod", rod, "tip", "ear").unwrap();
    let spring: ForceKind<f64> = match written {
        true => OwnForce::new(Spring, vec![30.0, 0.7, 0.6]).unwrap().into(),
        false => ForceKind::SpringDamper { stiffness: 30.0, damping: 0.7, length: 0.6 },
    };
    system.force("spring", spring, "tail", "ear").unwrap();
    let torsion: ForceKind<f64> = match written {
        true => OwnForce::new(Torsion, vec![4.0, 0.3, -0.2]).unwrap().into(),
        false => ForceKind::TorsionSpring { stiffness: 4.0, damping: 0.3, angle: -0.2 },
    };
    system.force("torsion", torsion, GROUND, "tail").unwrap();
    system
}

/// The row of a snapshot without coordinates of joints, which formulas do not have.
fn common<S: Real>(snapshot: &Snapshot<S>) -> Vec<S> {
    let mut row = Vec::new();
    snapshot.row(&mut row);
    let columns = snapshot.columns();
    let own = |quantity| matches!(quantity, Quantity::Angle | Quantity::Rate);
    row.into_iter().zip(&columns).filter(|(_, column)| !own(column.item.quantity)).map(|(x, _)| x).collect()
}

#[test]
fn written_elements_do_what_those_of_the_library_do() {
    let (library, written) = (Arc::new(linkage(false)), Arc::new(linkage(true)));
    let plan = Plan::new(0.01, 1.0).unwrap();
    for method in METHODS {
        let [a, b] = [&library, &written].map(|system| common(&end(system, method, &plan)));
        // Reactions have the rounding of positions over h².
        assert!(gap(&b, &a) < 1e-8, "{method}: {:e}", gap(&b, &a));
        assert!(gap(&b[..14], &a[..14]) < 1e-11, "{method}: {:e}", gap(&b[..14], &a[..14]));
    }
    let names = [
        "hinge.first_x",
        "hinge.second_axes_y",
        "rod.length",
        "rod.second_z",
        "spring.stiffness",
        "spring.damping",
        "spring.length",
        "torsion.angle",
        "torsion.damping",
        "arm.mass",
        "gravity_y",
    ];
    for method in ["geometric-alpha", "linear-alpha,constraints=stabilized"] {
        let plan = Plan::new(0.01, 0.3).unwrap();
        let slopes = [&library, &written].map(|system| {
            let sensitivity =
                Sensitivity::of_system(&**system, &names, &Method::parse(method).unwrap()).unwrap();
            let mut all = vec![Vec::new(); names.len()];
            let run = sensitivity.run(&plan, &mut |_, run| {
                for (k, row) in all.iter_mut().enumerate() {
                    *row = common(&run.derivative(k).unwrap());
                }
                ControlFlow::Continue(())
            });
            run.unwrap();
            all
        });
        for (k, name) in names.iter().enumerate() {
            let number =
                |row: &Vec<polhode::multibody::Dual1>| row.iter().map(|x| x.eps[0]).collect::<Vec<f64>>();
            let (a, b) = (number(&slopes[0][k]), number(&slopes[1][k]));
            let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let off = a.iter().zip(&b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(largest > 1e-4 && off < 1e-8 * largest, "{method} {name}: {off:e} of {largest:e}");
        }
    }
}

/// A nut that falls along its thread.
fn nut(pitch: f64) -> System<f64> {
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let nut = Rigid::new(2.0, Matrix3::from_diagonal(&Vector3::new(0.02, 0.02, 0.03))).unwrap();
    system.body("nut", nut).unwrap();
    system.joint("thread", OwnJoint::new(Thread, vec![pitch]).unwrap(), GROUND, "nut").unwrap();
    system
}

#[test]
fn a_nut_falls_along_its_thread_as_it_must() {
    // (m + J/p²) z̈ = -m g, over several turns.
    let (pitch, mass, inertia, until) = (0.1, 2.0, 0.03, 2.0);
    let all = mass + inertia / (pitch * pitch);
    let z = -0.5 * mass * 9.81 / all * until * until;
    assert!((z / pitch).abs() > 6.0 * core::f64::consts::PI);
    let slope = -mass * 9.81 * inertia / (pitch * pitch * pitch * all * all) * until * until;
    let plan = Plan::new(0.005, until).unwrap();
    for method in METHODS {
        let system = nut(pitch);
        let gap = |h: f64| {
            let mut run = Simulation::new(&system, &Method::parse(method).unwrap()).unwrap();
            for _ in 0..(until / h).round() as usize {
                run.step(h).unwrap();
            }
            (run.position("nut").unwrap().z - z).abs()
        };
        // The exponential map has constant accelerations exactly, others to the order of the method.
        let (exact, first) = (method.starts_with("geometric"), method.starts_with("residual"));
        let gaps = [gap(0.005), gap(0.0025)];
        let order = (gaps[0] / gaps[1]).log2();
        let good = if exact { gaps[0] < 1e-10 } else { order > if first { 0.9 } else { 1.9 } };
        assert!(good, "{method}: {gaps:?}");
        let slopes = assert_slopes(&system, &["thread.pitch"], method, &Plan::new(0.005, 0.2).unwrap());
        assert!(!slopes.is_empty());
        let by_pitch = Sensitivity::of_system(&system, &["thread.pitch"], &Method::parse(method).unwrap());
        let mut found = 0.0;
        by_pitch
            .unwrap()
            .run(&plan, &mut |_, run| {
                found = run.derivative(0).unwrap().bodies[0].position().z.eps[0];
                ControlFlow::Continue(())
            })
            .unwrap();
        let most = if exact {
            1e-8
        } else if first {
            0.2
        } else {
            0.02
        };
        assert!((found - slope).abs() < most * slope.abs(), "{method}: {found} for {slope}");
    }
}

#[test]
fn a_joint_that_depends_on_time_drives_what_it_joins() {
    // θ = a sin(w t): the moment about the axis is J θ̈.
    let (a, w) = (0.7, 3.0);
    let mut system = System::new(Vector3::zeros());
    let disk = Rigid::new(1.0, Matrix3::from_diagonal(&Vector3::new(0.1, 0.1, 0.2))).unwrap();
    system.body("disk", disk.moving(Vector3::zeros(), Vector3::new(0.0, 0.0, a * w))).unwrap();
    system.joint("table", OwnJoint::new(Turntable, vec![a, w]).unwrap(), GROUND, "disk").unwrap();
    for method in METHODS {
        let mut errors = [0.0f64; 2];
        for (error, h) in errors.iter_mut().zip([0.02, 0.01]) {
            let mut run = Simulation::new(&system, &Method::parse(method).unwrap()).unwrap();
            for n in 1..=(1.0 / h) as usize {
                run.step(h).unwrap();
                let t = n as f64 * h;
                let disk = run.moving("disk").unwrap();
                let angle = disk.attitude.rotation_vector().z;
                assert!((angle - a * (w * t).sin()).abs() < 1e-12, "{method}: {angle}");
                let rate = disk.omega_body.z - a * w * (w * t).cos();
                if method.contains("stabilized") {
                    assert!(rate.abs() < 1e-12, "{method}: {rate:e}");
                }
                *error = error.max(rate.abs());
            }
        }
        let order = (errors[0] / errors[1]).log2();
        assert!(method.contains("stabilized") || order > 1.8, "{method}: {errors:?}");
        assert_slopes(
            &system,
            &["table.amplitude", "table.frequency"],
            method,
            &Plan::new(0.01, 0.3).unwrap(),
        );
    }
    // It starts with the velocity that it has to have.
    let mut still = system.clone();
    still.bodies_mut()[0].omega_body = Vector3::zeros();
    let run = Simulation::new(&still, &Method::parse("geometric-alpha").unwrap()).unwrap();
    assert!((run.bodies()[0].omega_body.z - a * w).abs() < 1e-14);
}

#[test]
fn attraction_keeps_energy_and_both_momenta_to_its_order() {
    let mut system = System::new(Vector3::zeros());
    for (name, mass, x, v) in [("star", 3.0, -0.25, -0.25), ("planet", 1.0, 0.75, 0.75)] {
        let body =
            Rigid::new(mass, Matrix3::identity() * 0.1).unwrap().at(Vector3::x() * x, Rotation::identity());
        system.body(name, body.moving(Vector3::y() * v, Vector3::zeros()).free()).unwrap();
    }
    system.force("attraction", OwnForce::new(Attraction, vec![0.75]).unwrap(), "star", "planet").unwrap();
    // A circle once in 2π.
    let system = Arc::new(system);
    let mut errors = [0.0; 2];
    for (error, steps) in errors.iter_mut().zip([200, 400]) {
        let h = core::f64::consts::TAU / steps as f64;
        let mut run = Simulation::new(&system, &Method::parse("geometric-alpha").unwrap()).unwrap();
        assert!(run.keeps_energy());
        for _ in 0..steps {
            run.step(h).unwrap();
        }
        *error = (run.position("planet").unwrap() - Vector3::x() * 0.75).norm();
        let momentum = run.bodies()[0].velocity * 3.0 + run.bodies()[1].velocity;
        assert!(momentum.norm() < 1e-12, "{momentum}");
    }
    assert!((errors[0] / errors[1]).log2() > 1.9, "{errors:?}");
    assert_slopes(&system, &["attraction.mu"], "geometric-alpha", &Plan::new(0.01, 0.5).unwrap());
    assert!(!Simulation::new(linkage(true), &Method::parse("linear-alpha").unwrap()).unwrap().keeps_energy());
}

#[test]
fn the_pitch_is_found_from_a_measured_motion() {
    let (method, mut record) = (Method::parse("geometric-alpha").unwrap(), Recorder::every(5));
    let mut run = begin(&Arc::new(nut(0.12)), &method).unwrap();
    drive(&mut *run, &Plan::new(0.01, 0.5).unwrap(), &mut |n, run| {
        record.observe(n, &run.snapshot());
        ControlFlow::Continue(())
    })
    .unwrap();
    let column = |name: &str| record.column(name).unwrap().to_vec();
    let heights = record.names().iter().find(|name| name.ends_with("position_z")).unwrap().clone();
    let samples = Samples::new(column("t"), vec![(heights.clone(), column(&heights))]).unwrap();
    let sensitivity = Sensitivity::of_system(nut(0.1), &["thread.pitch"], &method).unwrap();
    let found = Identification::new(sensitivity, samples, 0.01).unwrap().run().unwrap();
    assert!(found.stopped.converged() && (found.values[0] - 0.12).abs() < 1e-9, "{:?}", found.values);
}

#[test]
fn what_does_not_fit_is_refused() {
    #[derive(Debug)]
    struct Rows(usize);
    impl JointFormula for Rows {
        fn rows(&self) -> usize {
            self.0
        }
        fn constraint<T: Real>(&self, _: &[T], _: &Frames<T>, _: &mut [T]) {}
    }
    for rows in [0, 7] {
        let refused = OwnJoint::<f64>::new(Rows(rows), vec![]).unwrap_err();
        assert_eq!(refused, OwnError::Rows { rows });
        assert_eq!(refused.to_string(), format!("a joint has 1 to 6 rows, got {rows}"));
    }
    let refused = OwnForce::new(Attraction, vec![1.0, 2.0]).unwrap_err();
    assert_eq!(refused.to_string(), "the formula has 1 numbers (mu), and 2 were given");
    let mut system = nut(0.1);
    let thread = OwnJoint::new(Thread, vec![f64::NAN]).unwrap();
    let refused = system.joint("second", thread, GROUND, "nut").unwrap_err().to_string();
    assert_eq!(refused, "the joint 'second': its pitch must be finite, got NaN");
}
