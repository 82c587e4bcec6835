use super::*;
use crate::body::{Drag, Force, Frame, Gravity, Harmonic, Loads, Moment, Own, Switched, TopGravity};
use crate::body::{Kinematics, Sampled, Wrench, WrenchSlopes};
use crate::method::Method;
use crate::run::{BodyRun, drive};
use nalgebra::{Matrix3, Vector3};

/// A body with these loads; `k` tells it from others.
fn body(k: f64, loads: Loads<f64>, method: &str) -> Turning {
    let x = 0.1 * k;
    let moments = Matrix3::new(5.0 + x, 0.1, 0.0, 0.1, 4.0 - x, 0.2, 0.0, 0.2, 2.0 + x);
    let inertia = RotaryInertia::about_fixed_point(moments).unwrap();
    let body = Body { inertia, load: loads };
    let start = body
        .state(Rotation::from_rotation_vector(&Vector3::new(0.3, x, 0.0)), &Vector3::new(0.4, -x, 6.0 + k));
    BodyRun::new(body, start, &Method::parse(method).unwrap())
}

/// Loads of several kinds, with numbers that differ from body to body.
fn loads(kind: &str, k: f64) -> Loads<f64> {
    let weight = Gravity {
        weight_space: Vector3::new(0.1 * k, 0.0, -20.0 - k),
        center_body: Vector3::new(0.01 * k, 0.0, 0.7),
    };
    let push = Harmonic {
        frame: Frame::Space,
        amplitude: Vector3::new(1.0, k, 0.5),
        frequency: 3.0 + 0.1 * k,
        phase: 0.2 * k,
    };
    match kind {
        "nothing" => Loads::none(),
        "top" => Loads::none().with(TopGravity { mgl: 20.0 + k }),
        "weight" => Loads::none().with(weight),
        "several" => Loads::none().with(weight).with(Drag { coefficient: 0.1 + 0.01 * k }).with(push),
        "elsewhere" => {
            let all = Loads::none().with(weight).with(Moment { frame: Frame::Body, value: Vector3::x() * k });
            all.seen_from(&Vector3::new(0.0, 0.1, 0.2 + 0.01 * k)).anchored_at(&Vector3::new(1.0, k, 0.0))
        }
        // These do not go together.
        "unlike" if k == 2.0 => Loads::none(),
        "frames" => {
            let frame = if k == 1.0 { Frame::Body } else { Frame::Space };
            Loads::none().with(Force { frame, point_body: Vector3::z(), value: Vector3::x() * k })
        }
        "switched" => {
            let moment = Moment { frame: Frame::Body, value: Vector3::x() * k };
            Loads::none().with(Switched { load: Box::new(moment.into()), on: 0.1, off: 0.25 })
        }
        "own" => Loads::none().with(Own::sampled(Pull(k))),
        _ => Loads::none().with(weight),
    }
}

#[derive(Debug)]
struct Pull(f64);
impl Sampled for Pull {
    fn wrench(&self, at: &Kinematics<f64>) -> Wrench<f64> {
        Wrench::moment(-at.omega_body * self.0)
    }
    fn slopes(&self, _: &Kinematics<f64>) -> WrenchSlopes {
        let zero = [Matrix3::zeros(); 4];
        WrenchSlopes {
            force: zero,
            moment: [zero[0], zero[0], zero[0], Matrix3::from_diagonal_element(-self.0)],
        }
    }
}

const KINDS: [&str; 9] =
    ["nothing", "top", "weight", "several", "elsewhere", "unlike", "frames", "switched", "own"];

/// What was seen of a run: its states after some steps, and how it ended.
type Story = (Vec<String>, String);

fn told(end: &Result<RunReport, RunFailure>) -> String {
    match end {
        Ok(end) => format!("{:?} {} {:?} {}", end.last, end.steps, end.drift, end.finished),
        Err(failure) => format!("{failure} {:?} {:?}", failure.last_good.last, failure.last_good.drift),
    }
}

/// A state, and one within the step before.
fn seen(run: &mut dyn Run, n: u64, plan: &Plan) -> String {
    let before = plan.time(n.saturating_sub(1));
    let inside = run.between(before + 0.3 * (run.time() - before));
    format!("{n} {:?} {inside:?}", run.snapshot())
}

fn alone(run: &mut Turning, plan: &Plan, every: u64) -> Story {
    let mut states = Vec::new();
    let end = drive(run, plan, &mut |n, run| {
        if n.is_multiple_of(every) || n == plan.steps() {
            states.push(seen(run, n, plan));
        }
        ControlFlow::Continue(())
    });
    (states, told(&end))
}

fn abreast(runs: &mut [Turning; 4], plan: &Plan, every: u64) -> [Story; 4] {
    let mut states: [Vec<String>; 4] = Default::default();
    let next = |n: u64| (n / every + 1) * every;
    let ends =
        drive_abreast(runs.each_mut().map(|run| run as &mut dyn Run), plan, &next, &mut |k, n, run| {
            if n.is_multiple_of(every) || n == plan.steps() {
                states[k].push(seen(run, n, plan));
            }
            ControlFlow::Continue(())
        });
    let mut states = states.into_iter();
    ends.map(|end| (states.next().unwrap(), told(&end)))
}

#[test]
fn four_have_the_bits_of_each_by_itself() {
    // Steps that are plain, and some that are not for one or all of them.
    for (step, until, every) in [(0.01, 0.2, 1), (0.2, 5.0, 7), (2.0, 30.0, 5)] {
        let plan = Plan::new(step, until).unwrap();
        for kind in KINDS {
            for id in ["akw", "trapm", "compose:imidm:4"] {
                let run = |k: usize| body(k as f64, loads(kind, k as f64), id);
                let mut four = core::array::from_fn(run);
                let together = abreast(&mut four, &plan, every);
                for (k, story) in together.iter().enumerate() {
                    assert!(
                        *story == alone(&mut run(k), &plan, every),
                        "{kind}, {id}, h = {step}: {k}\n{story:#?}\n{:#?}",
                        alone(&mut run(k), &plan, every)
                    );
                }
            }
        }
    }
}

#[test]
fn one_that_fails_or_is_stopped_touches_no_other() {
    let plan = Plan::new(0.01, 1.0).unwrap();
    let weights = [20.0, 1e160, 30.0, 1e308];
    let run = |k: usize| body(k as f64, Loads::none().with(TopGravity { mgl: weights[k] }), "akw");
    let mut four = core::array::from_fn(run);
    let together = abreast(&mut four, &plan, 10);
    for (k, story) in together.iter().enumerate() {
        assert!(*story == alone(&mut run(k), &plan, 10), "{k}");
    }
    assert!(together[0].1.contains(" 100 ") && together[3].1.contains("good steps before it"));
    // Stopped by whoever looks at it.
    let mut four = core::array::from_fn(|k| body(k as f64, loads("top", k as f64), "imidm"));
    let runs = four.each_mut().map(|run| run as &mut dyn Run);
    let ends = drive_abreast(runs, &plan, &|n| n + 1, &mut |k, n, _| match (k, n) {
        (1, 40..) | (2, 0) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let steps = ends.map(|end| end.map(|end| (end.steps, end.finished)).unwrap());
    assert_eq!(steps, [(100, true), (40, false), (0, false), (100, true)]);
}

#[test]
fn runs_that_go_together_do() {
    let plan = Plan::new(0.004, 0.4).unwrap();
    for (kind, together) in KINDS.into_iter().zip([true, true, true, true, true, false, false, false, false])
    {
        let mut four: [Turning; 4] = core::array::from_fn(|k| body(k as f64, loads(kind, k as f64), "akw"));
        let mut wide: [Turning; 4] = four.clone();
        assert_eq!(goes_abreast(&mut four[1]), kind != "switched", "{kind}");
        let steps = |runs: &mut [Turning; 4], wide: bool| {
            let mut runs = runs.each_mut().map(|run| run as &mut dyn Run);
            let stretch = Stretch { steps: 0, flow: ControlFlow::Continue(()), failure: None };
            let mut went = [0; 4].map(|_| stretch.clone());
            let mut side = SideBySide {
                runs: &mut runs,
                plan: &plan,
                next: &|_| 30,
                observer: &mut |_, _, _| ControlFlow::Continue(()),
                went: &mut went,
            };
            assert_eq!(if wide { side.by_side() } else { side.steps::<F64x4>() }, together, "{kind}");
            assert_eq!(went[3].steps, if together { 100 } else { 0 });
        };
        steps(&mut four, false);
        steps(&mut wide, true);
        // Registers that this processor would not choose have the same bits.
        assert_eq!(format!("{four:?}"), format!("{wide:?}"), "{kind}");
    }
    // Nor do those whose inertias are summed up differently.
    let mut one = body(1.0, Loads::none(), "akw");
    one.body.inertia = RotaryInertia::about_fixed_point(Matrix3::identity()).unwrap();
    let mut others = [2.0, 3.0, 4.0].map(|k| body(k, Loads::none(), "akw"));
    let [b, c, d] = others.each_mut();
    assert!(Four::<F64x4>::of(&mut [&mut one, b, c, d]).is_none());
    // A method that carries something, and one whose steps are estimated.
    assert!(!goes_abreast(&mut body(1.0, Loads::none(), "galpha:exp")));
    let mut estimated = body(1.0, Loads::none(), "akw");
    assert!(estimated.estimate_energy() && !goes_abreast(&mut estimated));
}
