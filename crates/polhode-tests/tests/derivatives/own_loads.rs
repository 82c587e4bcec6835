//! Loads of one's own in systems, from outside the library: under one-step methods and methods for systems, with
//! sensitivities, fits and references by other routes.

use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::body::Dynamics;
use polhode::body::{Body, Formula, Kinematics, Load, Loads, Own, OwnError, RotaryInertia};
use polhode::body::{Sampled, Wrench, WrenchSlopes};
use polhode::group::{Rotation, Se3, So3};
use polhode::identify::{Identification, Samples};
use polhode::method::{Method, Stepper};
use polhode::multibody::{GROUND, JointKind, Reduction, Rigid, System};
use polhode::run::{Plan, Recorder, Snapshot, begin, drive};
use polhode::scalar::{Dd, Real};
use polhode::sensitivity::Sensitivity;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A spring with a cubic part that pulls a point of the body to a point of space, and a drag against its velocity:
/// V = k/2 r² + c/4 r⁴ without the drag.
#[derive(Debug)]
struct Tether;

impl Tether {
    /// The point in the body, its motion, and how far it is from the other.
    fn point<T: Real>(at: &Kinematics<T>) -> (Vector3<T>, Kinematics<T>, Vector3<T>) {
        let point = Vector3::new(0.3, -0.2, 0.5).map(T::lift);
        let seen = at.of_point(&point);
        (point, seen, seen.position - Vector3::new(0.4, 0.3, -0.6).map(T::lift))
    }
}

impl Formula for Tether {
    fn names(&self) -> Vec<String> {
        ["stiffness", "cubic", "drag"].map(String::from).to_vec()
    }
    fn wrench<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
        let ([k, c, drag], (point, seen, away)) = ([numbers[0], numbers[1], numbers[2]], Self::point(at));
        let r = at.attitude.unrotate(&away);
        let force = r * -(k + c * r.dot(&r)) - seen.velocity_body * drag;
        Wrench::force_at(&point, force)
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Option<T> {
        let r = Self::point(at).2;
        let square = r.dot(&r);
        (numbers[2].largest() == 0.0)
            .then(|| (numbers[0] * T::lift(0.5) + numbers[1] * T::lift(0.25) * square) * square)
    }
}

/// The same by values and slopes, these by differences.
#[derive(Debug)]
struct Measured([f64; 3]);

impl Sampled for Measured {
    fn wrench(&self, at: &Kinematics<f64>) -> Wrench<f64> {
        Tether.wrench(&self.0, at)
    }
    fn slopes(&self, at: &Kinematics<f64>) -> WrenchSlopes {
        let small = 1e-5;
        let moved = |part: usize, axis: usize, by: f64| {
            let (mut k, mut v) = (*at, Vector3::zeros());
            v[axis] = by;
            match part {
                0 => k.position += v,
                1 => {
                    let turn = Rotation::from_rotation_vector(&v);
                    k.attitude = k.attitude.compose(&turn);
                }
                2 => k.velocity_body += v,
                _ => k.omega_body += v,
            }
            self.wrench(&k)
        };
        let slope = |of: &dyn Fn(&Wrench<f64>) -> Vector3<f64>, part: usize| {
            Matrix3::from_fn(|i, j| {
                let [a, b] = [-small, small].map(|by| of(&moved(part, j, by))[i]);
                (b - a) / (2.0 * small)
            })
        };
        WrenchSlopes {
            force: core::array::from_fn(|part| slope(&|w| w.force_body, part)),
            moment: core::array::from_fn(|part| slope(&|w| w.moment_body, part)),
        }
    }
}

const NUMBERS: [f64; 3] = [20.0, 3.0, 0.4];

fn rigid(load: Own<f64>) -> Rigid<f64> {
    let tensor = Matrix3::new(0.9, 0.1, -0.05, 0.1, 1.2, 0.02, -0.05, 0.02, 0.7);
    let body = Rigid::new(2.0, tensor).unwrap().with_center(Vector3::new(0.1, 0.05, -0.2));
    let body = body.at(Vector3::new(0.2, -0.1, 0.3), Rotation::identity());
    body.moving(Vector3::zeros(), Vector3::new(0.5, -1.0, 2.0)).with(load)
}

/// One body about a fixed point, one in flight, and two on a hinge, of which the second one is loaded.
fn systems(load: &dyn Fn() -> Own<f64>) -> [System<f64>; 3] {
    let gravity = Vector3::new(0.0, 1.0, -9.0);
    let one = |body: Rigid<f64>| {
        let mut system = System::new(gravity);
        system.body("body", body).unwrap();
        system
    };
    let mut two = System::new(gravity);
    let still = rigid(load()).moving(Vector3::zeros(), Vector3::zeros());
    let arm =
        Rigid::new(1.0, Matrix3::identity()).unwrap().at(Vector3::new(0.2, -0.1, 0.3), Rotation::identity());
    two.body("arm", arm).unwrap();
    two.body("body", still).unwrap();
    two.frame("post", GROUND, Vector3::new(0.2, -0.1, 0.3), Rotation::identity()).unwrap();
    two.joint("shoulder", JointKind::Revolute, "post", "arm").unwrap();
    two.frame("hand", "arm", Vector3::zeros(), Rotation::identity()).unwrap();
    two.joint("wrist", JointKind::Spherical, "hand", "body").unwrap();
    [one(rigid(load()).on_fixed_point()), one(rigid(load()).free()), two]
}

fn end(system: &Arc<System<f64>>, method: &str, h: f64) -> Snapshot {
    let mut run = begin(system, &Method::parse(method).unwrap()).unwrap();
    drive(&mut *run, &Plan::new(h, 0.4).unwrap(), &mut |_, _| ControlFlow::Continue(())).unwrap().last
}

pub(super) fn row(snapshot: &Snapshot) -> Vec<f64> {
    let mut row = Vec::new();
    snapshot.row(&mut row);
    row
}

/// The largest difference of two rows, relative to one.
pub(super) fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs() / b.abs().max(1.0)))
}

#[test]
fn formulas_run_everywhere_and_values_with_slopes_do_the_same() {
    let formula = || Own::new(Tether, NUMBERS.to_vec()).unwrap();
    let (by_formula, by_slopes) = (systems(&formula), systems(&|| Own::sampled(Measured(NUMBERS))));
    for (i, (one, other)) in by_formula.into_iter().zip(by_slopes).enumerate() {
        let (one, other) = (Arc::new(one), Arc::new(other));
        let methods: &[&str] = match i {
            2 => &["geometric-alpha", "linear-alpha,constraints=stabilized"],
            _ => {
                &["akw", "preserving:exp", "decaying:cayley", "mkrk:gauss2", "galpha:exp", "geometric-alpha"]
            }
        };
        for method in methods {
            let gap = gap(&row(&end(&one, method, 0.01)), &row(&end(&other, method, 0.01)));
            // Reactions have the rounding of positions over h².
            assert!(gap < if i == 2 { 1e-7 } else { 1e-9 }, "{method} {i}: {gap:e}");
        }
        if i < 2 {
            let exact = row(&end(&one, "mkrk:gauss4", 0.01));
            for method in ["akw", "geometric-alpha"] {
                let errors = [0.01, 0.005].map(|h| gap(&row(&end(&one, method, h))[..8], &exact[..8]));
                assert!((errors[0] / errors[1]).log2() > 1.8, "{method}: {errors:?}");
            }
        }
    }
}

#[test]
fn a_conservative_formula_keeps_its_energy() {
    let system = Arc::new(systems(&|| Own::new(Tether, vec![20.0, 3.0, 0.0]).unwrap())[1].clone());
    let mut run = begin(&system, &Method::parse("preserving:exp,load=finite-derivative").unwrap()).unwrap();
    let plan = Plan::new(0.05, 20.0).unwrap();
    let end = drive(&mut *run, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    let drift = end.drift.energy.unwrap().max_abs();
    assert!(drift < 1e-12, "{drift:e}");
    // In thirty digits too.
    let Some(Reduction::Motion(one)) = system.reduction() else { panic!("a motion") };
    let load = one.body.load.lift::<Dd>();
    let velocity = one.body.velocity(&one.start);
    let plain = Se3::kinematics(0.0, &one.start.pose, &velocity);
    let fine = Se3::kinematics(Dd::lift(0.0), &one.start.lift::<Dd>().pose, &velocity.map(Dd::lift));
    let (wrench, exact) = (one.body.load.wrench(&plain), load.wrench(&fine));
    for (x, y) in [(wrench.force_body, exact.force_body), (wrench.moment_body, exact.moment_body)] {
        assert!((x - y.map(|y| y.largest())).norm() < 1e-13 * x.norm());
    }
}

/// The derivatives at the end of a run are those of differences of the fourth order; the slopes.
pub(super) fn assert_slopes(
    system: &System<f64>,
    names: &[&str],
    method: &str,
    plan: &Plan,
) -> Vec<Vec<f64>> {
    let sensitivity = Sensitivity::of_system(system, names, &Method::parse(method).unwrap()).unwrap();
    let mut slopes = vec![Vec::new(); names.len()];
    sensitivity
        .run(plan, &mut |_, run| {
            for (k, slopes) in slopes.iter_mut().enumerate() {
                slopes.clear();
                run.derivative(k).unwrap().row(slopes);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    let slopes: Vec<Vec<f64>> =
        slopes.iter().map(|slopes| slopes.iter().map(|x| x.eps[0]).collect()).collect();
    for (k, slopes) in slopes.iter().enumerate() {
        let d = 1e-4;
        let at = |by: f64| {
            let mut changes = vec![0.0; names.len()];
            changes[k] = by;
            let end = sensitivity.changed(&changes).end(plan, &mut |_| ControlFlow::Continue(()));
            row(&end.unwrap().unwrap())
        };
        let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(|k| at(k * d));
        let largest = slopes.iter().fold(1e-3f64, |m, x| m.max(x.abs()));
        for (n, slope) in slopes.iter().enumerate() {
            let difference = (8.0 * (c[n] - b[n]) - (e[n] - a[n])) / (12.0 * d);
            let off = (slope - difference).abs();
            assert!(off < 1e-6 * largest, "{method} {} number {n}: {off:e} of {largest:e}", names[k]);
        }
        assert!(slopes.iter().any(|x| x.abs() > 1e-6), "{method} {}", names[k]);
    }
    slopes
}

#[test]
fn sensitivities_by_its_numbers_are_those_of_differences() {
    let names = ["body.load_1.stiffness", "body.load_1.cubic", "body.load_1.drag", "body.mass"];
    for (i, system) in systems(&|| Own::new(Tether, NUMBERS.to_vec()).unwrap()).into_iter().enumerate() {
        let methods: &[&str] =
            if i == 2 { &["geometric-alpha"] } else { &["akw", "galpha:exp", "linear-alpha"] };
        for method in methods {
            assert_slopes(&system, &names, method, &Plan::new(0.01, 0.3).unwrap());
        }
    }
}

#[test]
fn a_centre_of_mass_that_moves_takes_weight_and_loads_with_it() {
    // Where the origin is the centre of mass, both move: the loads stay where they are in the body.
    let mut system = System::new(Vector3::new(0.0, 1.0, -9.0));
    let body = rigid(Own::new(Tether, NUMBERS.to_vec()).unwrap()).with_center(Vector3::zeros());
    system.body("body", body.free()).unwrap();
    let names = ["body.center_x", "body.center_y", "body.center_z"];
    let plan = Plan::new(0.005, 0.2).unwrap();
    for method in ["mkrk:gauss2", "geometric-alpha"] {
        assert_slopes(&system, &names, method, &plan);
        // The same body with its centre there from the start moves alike.
        let shifted = {
            let mut system = system.clone();
            let all = system.parameters();
            let parameter = all.iter().find(|p| p.name == "body.center_x").unwrap();
            system.vary(parameter, 0.07);
            end(&Arc::new(system), method, 0.005)
        };
        let mut given = system.clone();
        given.bodies_mut()[0].center = Vector3::new(0.07, 0.0, 0.0);
        let given = end(&Arc::new(given), method, 0.005);
        assert!(shifted.bodies[0].attitude.distance(&given.bodies[0].attitude) < 1e-10, "{method}");
        assert!((shifted.bodies[0].omega_body - given.bodies[0].omega_body).norm() < 1e-10, "{method}");
    }
}

#[test]
fn its_numbers_are_found_from_a_measured_motion() {
    let truth = systems(&|| Own::new(Tether, vec![22.0, 2.0, 0.5]).unwrap());
    let guess = systems(&|| Own::new(Tether, NUMBERS.to_vec()).unwrap());
    for (i, method) in [(0, "akw"), (1, "imidm"), (2, "geometric-alpha")] {
        let (method, mut record) = (Method::parse(method).unwrap(), Recorder::every(5));
        let mut run = begin(&Arc::new(truth[i].clone()), &method).unwrap();
        drive(&mut *run, &Plan::new(0.01, 1.0).unwrap(), &mut |n, run| {
            record.observe(n, &run.snapshot());
            ControlFlow::Continue(())
        })
        .unwrap();
        let column = |name: &str| record.column(name).unwrap().to_vec();
        let measured: Vec<(String, Vec<f64>)> = record
            .names()
            .iter()
            .filter(|name| ["q_", "omega_body_"].iter().any(|part| name.contains(part)))
            .map(|name| (name.clone(), column(name)))
            .collect();
        let samples = Samples::new(column("t"), measured).unwrap();
        let names = ["body.load_1.stiffness", "body.load_1.drag"];
        let names = if i == 2 {
            &names[..]
        } else {
            &["body.load_1.stiffness", "body.load_1.cubic", "body.load_1.drag"]
        };
        let truth = if i == 2 { vec![22.0, 0.5] } else { vec![22.0, 2.0, 0.5] };
        let guess = match i {
            2 => systems(&|| Own::new(Tether, vec![20.0, 2.0, 0.4]).unwrap())[2].clone(),
            _ => guess[i].clone(),
        };
        let sensitivity = Sensitivity::of_system(&guess, names, &method).unwrap();
        let found = Identification::new(sensitivity, samples, 0.01).unwrap().run().unwrap();
        assert!(found.stopped.converged());
        for (found, truth) in found.values.iter().zip(&truth) {
            assert!((found - truth).abs() < 1e-6, "{method:?}: {found} for {truth}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = Own::new(Tether, vec![1.0]).unwrap_err();
    assert_eq!(refused.to_string(), "the formula has 3 numbers (stiffness, cubic, drag), and 1 were given");
    #[derive(Debug)]
    struct Endless;
    impl Formula for Endless {
        fn names(&self) -> Vec<String> {
            (0..30).map(|i| format!("a{i}")).collect()
        }
        fn wrench<T: Real>(&self, _: &[T], _: &Kinematics<T>) -> Wrench<T> {
            Wrench::none()
        }
    }
    assert_eq!(Own::new(Endless, vec![0.0; 30]).unwrap_err(), OwnError::TooMany { given: 30 });
}

/// A drag that counts how often it is asked, without and with derivatives.
#[derive(Debug)]
struct Counted(Arc<[AtomicU64; 2]>);

impl Formula for Counted {
    fn names(&self) -> Vec<String> {
        vec!["drag".into()]
    }
    fn wrench<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
        self.0[usize::from(T::DEPTH > 0)].fetch_add(1, Ordering::Relaxed);
        Wrench::moment(at.omega_body * -numbers[0])
    }
}

#[test]
fn steps_ask_for_derivatives_only_where_newton_takes_them() {
    let asked = |drag: f64| {
        let counts: Arc<[AtomicU64; 2]> = Arc::default();
        let load = Own::new(Counted(counts.clone()), vec![drag]).unwrap();
        let inertia = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0));
        let inertia = RotaryInertia::about_fixed_point(inertia).unwrap();
        let body = Body::<f64, So3, _> { inertia, load: Loads::none().with(load) };
        let mut state = body.state(Rotation::identity(), &Vector3::new(1.0, 2.0, 50.0));
        let mut stepper = Stepper::<f64, So3>::new(&Method::parse("imidm").unwrap());
        for n in 0..100 {
            state = stepper.step(&body, &state, 1e-3 * f64::from(n), 1e-3).unwrap();
        }
        let [plain, with_slopes] = [0, 1].map(|i| counts[i].load(Ordering::Relaxed));
        (plain, with_slopes, stepper.work)
    };
    // At the start of both halves of a step, in each iteration, and once with the solution.
    let (plain, with_slopes, work) = asked(0.1);
    assert_eq!((plain, with_slopes), (300 + work.iterations, 0), "{work:?}");
    // A stiff one is differentiated where its Jacobian is made anew, in one pass on SO(3).
    let (plain, with_slopes, work) = asked(100.0);
    assert_eq!((plain, with_slopes), (300 + work.iterations, work.jacobians - work.solves), "{work:?}");
    assert!(with_slopes > 0, "{work:?}");
}
