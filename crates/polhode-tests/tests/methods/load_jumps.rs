//! Loads that jump, between two steps or inside one: what the methods make of them.

use crate::common::method;
use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::body::{
    Body, Frame, Harmonic, Kinematics, Load, Moment, RotaryInertia, State, Switched, Wrench,
};
use polhode::check::{Convergence, Plateau, advance, converge, reversal_defect};
use polhode::group::{Rotation, So3};
use polhode::method::{Method, Stepper};
use polhode::run::{BodyRun, Plan, drive};
use polhode::scalar::Over;

/// A constant moment in space and a drive in the body, each between two times.
#[derive(Clone, Copy)]
struct Jumping {
    moment: Switched<f64, Moment<f64>>,
    drive: Switched<f64, Harmonic<f64>>,
    /// It does not know where a step starts.
    blind: bool,
    /// It does not say when it jumps.
    silent: bool,
}

impl Load<f64> for Jumping {
    #[inline(never)]
    fn wrench<T: Over<f64>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let at = Kinematics { inward: if self.blind { 0.0 } else { at.inward }, ..*at };
        let (a, b) = (self.moment.wrench(&at), self.drive.wrench(&at));
        Wrench { force_body: a.force_body + b.force_body, moment_body: a.moment_body + b.moment_body }
    }
    fn switches(&self, visit: &mut dyn FnMut(f64)) {
        if !self.silent {
            self.moment.switches(visit);
            self.drive.switches(visit);
        }
    }
}

const MOMENT: Vector3<f64> = Vector3::new(1.5, -0.8, 2.0);
const DRIVE: Vector3<f64> = Vector3::new(-0.6, 1.2, 0.9);
/// When it begins and ends, and the end of the run.
const ON: f64 = 0.5;
const OFF: f64 = 1.0;
const UNTIL: f64 = 1.5;

type Case = (Body<f64, So3, Jumping>, State<f64, So3>);

fn body(moment: Vector3<f64>, drive: Vector3<f64>, [on, off]: [f64; 2]) -> Case {
    let tensor = Matrix3::new(1.0, 0.05, -0.1, 0.05, 1.3, 0.08, -0.1, 0.08, 0.7);
    let moment = Moment { frame: Frame::Space, value: moment };
    let drive = Harmonic { frame: Frame::Body, amplitude: drive, frequency: 3.0, phase: 0.4 };
    let load = Jumping {
        moment: Switched { load: moment, on, off },
        drive: Switched { load: drive, on, off },
        blind: false,
        silent: false,
    };
    let body = Body { inertia: RotaryInertia::about_fixed_point(tensor).unwrap(), load };
    let attitude = Rotation::from_rotation_vector(&Vector3::new(0.3, -0.2, 0.5));
    let start = body.state(attitude, &Vector3::new(0.8, -1.4, 2.0));
    (body, start)
}

/// The end of the run, in three pieces without a jump in any.
fn reference([on, off]: [f64; 2]) -> State<f64, So3> {
    let (gauss, steps) = (method("mkrk:gauss3"), 100u32);
    let never = body(MOMENT, DRIVE, [100.0, 200.0]).0;
    let always = body(MOMENT, DRIVE, [-100.0, 100.0]).0;
    let mut state = body(MOMENT, DRIVE, [on, off]).1;
    for (piece, from, to) in [(&never, 0.0, on), (&always, on, off), (&never, off, UNTIL)] {
        state = advance(&gauss, piece, &state, from, (to - from) / f64::from(steps), steps.into()).unwrap();
    }
    state
}

fn errors(id: &str, case: &Case, counts: &[u64]) -> Convergence {
    let switches = [case.0.load.moment.on, case.0.load.moment.off];
    converge(&method(id), &case.0, &case.1, UNTIL, counts, &reference(switches)).unwrap()
}

/// The observed orders of attitude and momentum.
fn orders(id: &str, case: &Case, counts: &[u64]) -> [f64; 2] {
    let found = errors(id, case, counts);
    [found.attitude(Plateau::At(1e-13)), found.momentum(Plateau::At(1e-13))].map(|o| o.unwrap().slope)
}

#[test]
fn jumps_between_steps_cost_no_order() {
    let case = body(MOMENT, DRIVE, [ON, OFF]);
    let second = [
        "trap",
        "trapm",
        "imid",
        "imidm",
        "swc1",
        "akw",
        "bbtrap",
        "bbtrapwd",
        "rotation-vector",
        "euler-parameters",
        "euler-parameters,beta=1/6,moment=jump",
        "rotation-vector,beta=1/6,moment=jump",
        "rotation-vector,residual=collocated,moment=jump",
        "convected",
        "convected-reduced",
        "preserving:exp",
        "preserving:cayley,load=mean",
        "preserving:exp,load=finite-derivative",
        "decaying:exp",
        "mkrk:trapezoid",
    ];
    let higher = [
        ("mkrk:kutta3", 3.0),
        ("mkrk:rk4", 4.0),
        ("mkrk:gauss2", 4.0),
        ("compose:imidm:4", 4.0),
        ("compose:bbtrap:4", 4.0),
    ];
    let second = second.map(|id| (id, 2.0, [150, 300, 600]));
    let higher = higher.map(|(id, order)| (id, order, [60, 120, 240]));
    let mut wrong = Vec::new();
    for (id, order, counts) in second.into_iter().chain(higher) {
        let found = orders(id, &case, &counts);
        if found.iter().any(|o| (o - order).abs() > 0.1) {
            wrong.push(format!("{id}: {found:.3?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_carries_accelerations_over_a_jump() {
    let told = body(MOMENT, DRIVE, [ON, OFF]);
    let mut silent = told.clone();
    silent.0.load.silent = true;
    // Accelerations start anew where the load says that it jumps. Where it does not, the equation of motion at the end of
    // the step does not see what has begun in it, but for the acceleration that is carried over: this costs an order.
    // Momentum is balanced over the step and does not mind, whatever is carried.
    for (id, order) in [
        ("rotation-vector,residual=collocated", 1.0),
        ("rotation-vector,beta=1/6", 2.0),
        ("euler-parameters,beta=1/6", 2.0),
        ("euler-parameters,beta=0.3025,gamma=0.6", 2.0),
        ("galpha:exp,rho=1", 1.0),
        ("galpha:exp,rho=0.5", 1.0),
        ("galpha:exp,rho=0", 1.0),
    ] {
        for (case, order) in [(&told, 2.0), (&silent, order)] {
            let found = orders(id, case, &[300, 600, 1200]);
            assert!(found.iter().all(|o| (o - order).abs() < 0.1), "{id}, {order}: {found:?}");
        }
    }
    // Without a jump both have their order.
    let (always, start) = body(MOMENT, DRIVE, [-100.0, 100.0]);
    let end = advance(&method("mkrk:gauss3"), &always, &start, 0.0, UNTIL / 300.0, 300).unwrap();
    for id in ["rotation-vector,residual=collocated", "galpha:exp,rho=0.5"] {
        let found = converge(&method(id), &always, &start, UNTIL, &[150, 300, 600], &end).unwrap();
        let order = found.momentum(Plateau::At(1e-13)).unwrap().slope;
        assert!((order - 2.0).abs() < 0.1, "{id}: {order}");
    }
}

/// The largest difference of the momentum in space from its exact course under the constant moment, and the one just
/// before the moment ends, over the moment times the step.
fn impulse_errors(id: &str, (body, start): &Case, h: f64) -> [f64; 2] {
    let (mut stepper, mut state) = (Stepper::new(&method(id)), *start);
    let first = start.momentum_space();
    let (mut worst, mut before) = (0.0f64, 0.0);
    let steps = (UNTIL / h).round() as u32;
    for n in 0..steps {
        state = stepper.step(body, &state, f64::from(n) * h, h).unwrap();
        let t = f64::from(n + 1) * h;
        let exact = first + MOMENT * (t.min(OFF) - ON).max(0.0);
        let error = (state.momentum_space() - exact).norm();
        worst = worst.max(error);
        if (t - OFF).abs() < 0.5 * h {
            before = error;
        }
    }
    [worst, before / (MOMENT.norm() * h)]
}

#[test]
fn the_impulse_of_a_constant_moment_is_exact() {
    let case = body(MOMENT, Vector3::zeros(), [ON, OFF]);
    for h in [0.1, 0.05, 0.02] {
        for id in [
            "trapm",
            "imidm",
            "swc1",
            "bbtrap",
            "bbtrapwd",
            "rotation-vector",
            "rotation-vector,beta=1/6",
            "euler-parameters",
            "euler-parameters,beta=1/6",
            "preserving:exp",
            "preserving:cayley,load=mean",
            "decaying:exp",
            "mkrk:kutta3",
            "mkrk:rk4",
            "mkrk:trapezoid",
            "mkrk:gauss2",
            "compose:imidm:4",
            "convected",
            "convected-reduced",
            "preserving:exp,load=finite-derivative",
        ] {
            let [worst, _] = impulse_errors(id, &case, h);
            assert!(worst < 1e-13, "{id} at {h}: {worst:e}");
        }
    }
}

#[test]
fn a_load_that_does_not_know_where_a_step_starts_loses_half_a_step_of_it() {
    let mut case = body(MOMENT, Vector3::zeros(), [ON, OFF]);
    case.0.load.blind = true;
    for id in
        ["rotation-vector", "euler-parameters", "bbtrap", "preserving:cayley,load=mean", "mkrk:trapezoid"]
    {
        let [_, lost] = impulse_errors(id, &case, 0.05);
        assert!((lost - 0.5).abs() < 1e-12, "{id}: {lost}");
    }
    let [_, lost] = impulse_errors("mkrk:rk4", &case, 0.05);
    assert!((lost - 1.0 / 6.0).abs() < 1e-12, "{lost}");
    // Where no end of a step is looked at nothing is lost.
    for id in ["preserving:exp", "mkrk:gauss2"] {
        let [worst, _] = impulse_errors(id, &case, 0.05);
        assert!(worst < 1e-13, "{id}: {worst:e}");
    }
    let mut case = body(MOMENT, DRIVE, [ON, OFF]);
    case.0.load.blind = true;
    let found = orders("rotation-vector", &case, &[150, 300, 600]);
    assert!(found.iter().all(|o| (o - 1.0).abs() < 0.1), "{found:?}");
}

#[test]
fn a_step_back_over_a_jump_undoes_a_step() {
    let (body, start) = body(MOMENT, DRIVE, [0.2, 0.4]);
    for id in [
        "trap",
        "imid",
        "trapm",
        "imidm",
        "swc1",
        "akw",
        "bbtrap",
        "preserving:exp",
        "preserving:cayley,load=mean",
        "preserving:exp,load=finite-derivative",
        "convected",
        "convected-reduced",
    ] {
        let defect = reversal_defect(&method(id), &body, &start, 0.1, 6).unwrap().largest();
        assert!(defect < 1e-13, "{id}: {defect:e}");
    }
}

/// The methods that integrate loads, and compositions of them.
fn methods() -> Vec<Method> {
    let all = Method::all().into_iter().filter(|m| !m.id().starts_with("kinematic:"));
    all.chain(["compose:imidm:6", "compose:akw:8", "compose:galpha:exp,rho=1:4"].map(method)).collect()
}

#[test]
fn jumps_inside_steps_cost_no_method_its_order() {
    let case = body(MOMENT, DRIVE, [0.5137, 1.0291]);
    let mut wrong = Vec::new();
    for method in methods() {
        let counts = match method.order() {
            1 => [1500, 2200, 3000, 4000],
            2 => [150, 220, 300, 400],
            3 | 4 => [40, 60, 80, 110],
            6 => [12, 16, 20, 26],
            _ => [6, 8, 10, 12],
        };
        let found = orders(method.id(), &case, &counts);
        let allowed = if method.order() > 4 { 0.6 } else { 0.2 };
        if found.iter().any(|o| (o - f64::from(method.order())).abs() > allowed) {
            wrong.push(format!("{}: {found:.3?}", method.id()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A body that turns about one axis.
fn wheel(switches: [f64; 2]) -> Case {
    let (mut body, _) = body(Vector3::new(0.0, 0.0, 2.0), Vector3::zeros(), switches);
    body.inertia = RotaryInertia::about_fixed_point(Matrix3::identity()).unwrap();
    let start = body.state(Rotation::identity(), &Vector3::zeros());
    (body, start)
}

#[test]
fn the_impulse_is_exact_under_every_method_wherever_the_switches_are() {
    let inf = f64::INFINITY;
    let (plan, mut wrong) = (Plan::new(0.1, 0.8).unwrap(), Vec::new());
    for (on, off, seconds) in [
        // At the start, before it, between steps, inside one and in two, never.
        (0.0, 0.2, 0.2),
        (0.0, inf, 0.8),
        (-1.0, 0.2, 0.2),
        (-inf, 0.3, 0.3),
        (0.3, 0.5, 0.2),
        (0.03, 0.23, 0.2),
        (0.34, 0.37, 0.03),
        (0.75, 2.0, 0.05),
        (0.5, 0.2, 0.0),
    ] {
        let (body, start) = wheel([on, off]);
        for method in methods() {
            let mut run = BodyRun::new(body.clone(), start, &method);
            drive(&mut run, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
            let back = advance(&method, &body, run.state(), 0.8, -0.1, 8).unwrap();
            let errors = [run.state().momentum.z - 2.0 * seconds, back.momentum.z];
            if errors.iter().any(|e| e.abs() > 2e-15) {
                wrong.push(format!("{} on {on} off {off}: {errors:?}", method.id()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn switches_at_the_ends_of_steps_need_no_driver_and_no_exact_times() {
    // Times that rounding puts on either side of zero and of the switches.
    for from in [-0.3, -0.7, 0.0, 1e6] {
        let (body, start) = wheel([from + 0.3, from + 0.7]);
        for method in methods() {
            let (mut stepper, mut state, mut t) = (Stepper::new(&method), start, from);
            for _ in 0..10 {
                state = stepper.step(&body, &state, t, 0.1).unwrap();
                t += 0.1;
            }
            let error = state.momentum.z - 0.8;
            assert!(error.abs() < 1e-14, "{} from {from}: {error:e}", method.id());
        }
    }
}
