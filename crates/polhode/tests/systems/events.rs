//! Events: their times against closed forms, none of them lost, and runs that do not notice being watched.

use core::f64::consts::{PI, TAU};
use core::ops::ControlFlow;
use polhode::method::Method;
use polhode::problem::Problem;
use polhode::reference::LagrangeTop;
use polhode::run::{Direction, Event, Plan, Run, Snapshot, Watched, drive};

/// A rod about a fixed point that swings in a plane: 1 kg, half a metre to its centre, from 1 rad.
const ROD: &str = r#"
gravity = [0, 0, -9.81]
[bodies.rod]
mass = 1
inertia = [0.085, 0.085, 0.005]
center = [0, 0, -0.5]
fixed_point = true
attitude = [0, 1, 0]
"#;

fn method(id: &str) -> Method {
    Method::parse(id).unwrap()
}

/// Runs a model text with more lines under a method.
fn watched(text: &str, more: &str, id: &str, step: f64, until: f64) -> Watched {
    let model = Problem::from_text("m", &format!("{text}\n{more}")).unwrap().model().unwrap();
    let mut run = model.watched(&method(id)).unwrap();
    let end =
        drive(&mut run, &Plan::new(step, until).unwrap(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(end.finished);
    run
}

fn times(run: &Watched, event: usize) -> Vec<f64> {
    run.found().iter().filter(|found| found.event == event).map(|found| found.state.t).collect()
}

/// A quarter of the period of a pendulum from rest at an angle: K(sin²(angle/2)) / frequency, by the arithmetic-geometric
/// mean.
fn quarter(angle: f64, frequency: f64) -> f64 {
    let (mut a, mut g) = (1.0, (0.5 * angle).cos());
    for _ in 0..8 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    PI / (2.0 * a * frequency)
}

fn of_rod() -> f64 {
    quarter(1.0, (9.81f64 * 0.5 / (0.085 + 0.25)).sqrt())
}

const HANGS: &str = "[events.hangs]\nwhen = \"center_of_mass_x\"\n";

#[test]
fn a_pendulum_hangs_straight_down_when_elliptic_functions_say_so() {
    let run = watched(ROD, HANGS, "compose:akw:8", 0.02, 20.0);
    let found = times(&run, 0);
    let quarter = of_rod();
    assert_eq!(found.len(), ((20.0 / quarter + 1.0) / 2.0) as usize);
    for (k, t) in found.iter().enumerate() {
        let exact = (2 * k + 1) as f64 * quarter;
        assert!((t / exact - 1.0).abs() < 1e-12, "{k}: {t} {exact} {:e}", t / exact - 1.0);
    }
    // The states are those of these times.
    for found in run.found() {
        let center = found.state.bodies[0].attitude.rotate(&-nalgebra::Vector3::z());
        assert!(center.x.abs() < 1e-14, "{:e}", center.x);
    }
}

/// Where the axis of a top is highest, a nutation apart.
#[test]
fn a_top_is_highest_a_nutation_apart() {
    let top = Problem::named("slow-top").unwrap();
    let model = top.model().unwrap();
    let datum = |name: &str| top.data().iter().find(|datum| datum.name == name).unwrap().values.clone();
    let (inertia, mgl) = (datum("inertia"), datum("mgl")[0]);
    let start = model.start();
    let psi = start.bodies[0].attitude.rotation_vector();
    let exact =
        LagrangeTop::from_rotation_vector(inertia[0], inertia[2], mgl, &psi, &start.bodies[0].omega_body)
            .unwrap();
    let rise = |seen: &Snapshot| {
        let body = &seen.bodies[0];
        body.attitude.rotate(&body.omega_body.cross(&nalgebra::Vector3::z())).z
    };
    let event = Event::new("highest", rise).going(Direction::Down);
    let mut run = Watched::new(model.begin(&method("compose:akw:8")).unwrap(), vec![event]);
    let plan = Plan::new(0.02, 25.0).unwrap();
    drive(&mut run, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    let found = times(&run, 0);
    assert!(found.len() > 3, "{found:?}");
    for pair in found.windows(2) {
        let error = (pair[1] - pair[0]) / exact.nutation_period() - 1.0;
        assert!(error.abs() < 1e-11, "{error:e}");
    }
    // A start at rest of the axis is a greatest height, and no crossing.
    assert!((found[0] / exact.nutation_period() - 1.0).abs() < 1e-11, "{found:?}");
}

/// The time of an event has the order of the method, whatever the order of the interpolation.
#[test]
fn times_of_events_have_the_order_of_the_method() {
    let joint = "gravity = [0, 0, -9.81]\n[bodies.rod]\nmass = 1\ninertia = [0.085, 0.085, 0.005]\n\
                 position = [0, 0, -0.5]\n[joints.pivot]\ntype = \"revolute\"\nbetween = [\"ground\", \"rod\"]\n\
                 at = [0, 0, 0]\naxis = [0, 1, 0]\nangle = 1\n";
    for (id, text, order, step) in [
        ("akw", ROD, 2.0, 0.02),
        ("imidm", ROD, 2.0, 0.02),
        ("mkrk:rk4", ROD, 4.0, 0.04),
        ("compose:akw:6", ROD, 6.0, 0.08),
        ("geometric-alpha", joint, 2.0, 0.01),
        ("linear-alpha", joint, 2.0, 0.01),
        ("linear-alpha,constraints=stabilized", joint, 2.0, 0.01),
    ] {
        let exact = 9.0 * of_rod();
        let error = |step: f64| {
            let found = times(&watched(text, HANGS, id, step, 4.2), 0);
            assert_eq!(found.len(), 5, "{id} {found:?}");
            (found[4] - exact).abs()
        };
        let observed = (error(step) / error(0.5 * step)).log2();
        assert!((observed - order).abs() < 0.3, "{id}: {observed} {:e}", error(step));
    }
}

#[test]
fn none_of_a_thousand_is_lost() {
    let text = format!("{ROD}[events.beat]\nwhen = \"sin(40 * t)\"\n");
    let run = watched(&text, "", "akw", 0.01, 80.0);
    let found = times(&run, 0);
    assert_eq!(found.len(), (80.0 * 40.0 / PI) as usize);
    for (k, t) in found.iter().enumerate() {
        assert!((t * 40.0 / PI - (k + 1) as f64).abs() < 1e-12 * (k + 1) as f64, "{k} {t}");
    }
    // Five of them in a step.
    let run = watched(&text, "", "akw", 0.3, 79.8);
    assert_eq!(times(&run, 0).len(), (79.8 * 40.0 / PI) as usize);
    // A fast rotor in flight, 300 turns.
    let rotor = "[bodies.rotor]\nmass = 1\ninertia = [1, 1, 2]\nomega_body = [0, 0, 100]\n\
                 [events.turn]\nwhen = \"attitude_xy\"\ndirection = \"up\"\n";
    let run = watched(rotor, "", "mkrk:rk4", 0.01, 19.0);
    assert_eq!(times(&run, 0).len(), (1900.0 / TAU + 0.5) as usize);
}

/// A function that dips below zero and comes back within one step.
#[test]
fn two_crossings_in_one_step_are_two() {
    for (middle, depth) in [(0.55, 1e-3), (0.51, 1e-4), (0.59, 1e-4), (0.503, 1e-6)] {
        let more = format!("[events.dip]\nwhen = \"(t - {middle})^2 - {depth}\"\n");
        let found = times(&watched(ROD, &more, "akw", 0.1, 1.0), 0);
        let half = f64::sqrt(depth);
        let exact = [middle - half, middle + half].into_iter().filter(|t| *t > 0.0);
        assert!(
            found.len() == 2 && exact.zip(&found).all(|(exact, t)| (exact - t).abs() < 1e-12),
            "{middle} {found:?}"
        );
    }
}

#[test]
fn a_zero_at_the_start_is_no_crossing_and_one_at_the_end_is() {
    for when in ["t", "sin(t)", "t^2", "t + 1e-14", "0 * t"] {
        let more = format!("[events.e]\nwhen = \"{when}\"\n");
        assert!(times(&watched(ROD, &more, "akw", 0.1, 1.0), 0).is_empty(), "{when}");
    }
    for (when, direction, count) in
        [("t - 1", "up", 1), ("t - 1", "down", 0), ("1 - t", "down", 1), ("t - 0.5", "both", 1)]
    {
        let more = format!("[events.e]\nwhen = \"{when}\"\ndirection = \"{direction}\"\n");
        assert_eq!(times(&watched(ROD, &more, "akw", 0.125, 1.0), 0).len(), count, "{when} {direction}");
    }
}

#[test]
fn directions_are_kept_apart_and_a_stop_is_the_end() {
    let more = "[events.rising]\nwhen = \"center_of_mass_x\"\ndirection = \"up\"\n\
                [events.falling]\nwhen = \"center_of_mass_x\"\ndirection = \"down\"\n\
                [events.late]\nwhen = \"t - 3.3\"\nstop = true\n";
    let run = watched(ROD, more, "compose:akw:6", 0.02, 20.0);
    for (event, first) in [(0, 1), (1, 3)] {
        let found = times(&run, event);
        assert_eq!(found.len(), 2, "{found:?}");
        for (k, t) in found.iter().enumerate() {
            assert!((t / of_rod() - (4 * k + first) as f64).abs() < 1e-7, "{found:?}");
        }
    }
    assert_eq!((run.stopped().map(Event::name), run.time(), run.ended()), (Some("late"), 3.3, true));
}

/// With events that do not stop, a run has the bits of one without.
#[test]
fn a_run_does_not_notice_that_it_is_watched() {
    let ids = Method::all().into_iter().chain(
        ["geometric-alpha", "linear-alpha", "residual-alpha", "linear-alpha,constraints=stabilized"]
            .map(|id| Method::parse(id).unwrap()),
    );
    let mut compared = 0;
    for method in ids {
        for name in ["slow-top", "free-body", "driven-body", "prescribed-motion", "four-bar", "chain"] {
            let model = Problem::named(name).unwrap().model().unwrap();
            let fits = !method.is_kinematic() || model.follows_motion();
            let (true, Ok(mut plain)) = (fits, model.begin(&method)) else { continue };
            let step = if model.group() == "system" { 2e-3 } else { 0.02 };
            let often = move |seen: &Snapshot| (TAU * seen.t / (7.3 * step)).sin();
            let spin = |seen: &Snapshot| seen.bodies[0].omega_body.x - 0.1;
            let events = vec![Event::new("often", often), Event::new("spin", spin)];
            let mut run = Watched::new(model.begin(&method).unwrap(), events);
            for n in 1..=40 {
                let to = f64::from(n) * step;
                let ends = (plain.step(step, to), run.step(step, to));
                assert_eq!(ends.0.is_ok(), ends.1.is_ok(), "{name} {}", method.id());
            }
            assert_eq!(
                (plain.snapshot(), plain.work()),
                (run.snapshot(), run.work()),
                "{name} {}",
                method.id()
            );
            assert!(run.found().len() >= 10, "{name} {}", method.id());
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// An event right behind the start of a step has the state of that start, reactions and all, and so has a run that it ends.
#[test]
fn an_event_just_after_a_step_has_the_state_of_its_end() {
    let pairs = ["geometric-alpha", "linear-alpha", "residual-alpha", "linear-alpha,constraints=stabilized"]
        .into_iter()
        .flat_map(|id| ["four-bar", "double-pendulum", "chain"].map(|name| (name, id)))
        .chain(["akw", "imidm", "galpha:exp", "mkrk:rk4", "swc1"].map(|id| ("slow-top", id)));
    for (name, id) in pairs {
        let model = Problem::named(name).unwrap().model().unwrap();
        for behind in [f64::EPSILON / 8.0, 1e-12, 1e-9] {
            let step = 1.0 / 128.0;
            let event = |at: f64| move |seen: &Snapshot| seen.t - (at + behind);
            let events = vec![
                Event::new("passing", event(8.0 * step)),
                Event::new("end", event(16.0 * step)).stopping(true),
            ];
            let mut run = Watched::new(model.begin(&method(id)).unwrap(), events);
            let mut seen = Vec::new();
            let end = drive(&mut run, &Plan::new(step, 1.0).unwrap(), &mut |_, run| {
                seen.push(run.snapshot());
                ControlFlow::Continue(())
            });
            let end = end.unwrap();
            assert_eq!((end.steps, run.found().len()), (17, 2), "{name} {id}");
            assert_eq!(run.found()[1].state.t, end.last.t, "{name} {id}");
            for (state, start) in [
                (&run.found()[0].state, &seen[8]),
                (&run.found()[1].state, &seen[16]),
                (&end.last, &seen[16]),
            ] {
                let rows = [state, start].map(|state| {
                    let mut row = Vec::new();
                    state.row(&mut row);
                    row
                });
                for (k, (x, y)) in rows[0].iter().zip(&rows[1]).enumerate() {
                    let column = &state.columns()[k].name;
                    assert!(
                        (x - y).abs() < 1e-6 * (1.0 + y.abs()),
                        "{name} {id} {behind:e} {column}: {x} {y}"
                    );
                }
            }
        }
    }
}

/// Saved with what has happened so far, and gone on with.
#[test]
fn events_are_saved_with_their_run() {
    for (name, id) in [("slow-top", "akw"), ("four-bar", "linear-alpha")] {
        let model = Problem::named(name).unwrap().model().unwrap();
        let begin = || {
            let often = |seen: &Snapshot| (700.0 * seen.t).sin();
            Watched::new(model.begin(&method(id)).unwrap(), vec![Event::new("often", often)])
        };
        let (mut run, mut other) = (begin(), begin());
        let go = |run: &mut Watched, steps: core::ops::Range<u32>| {
            steps.for_each(|n| run.step(1e-3, f64::from(n + 1) * 1e-3).unwrap());
        };
        go(&mut run, 0..30);
        let saved = run.save().unwrap();
        other.restore(&saved).unwrap();
        go(&mut run, 30..60);
        go(&mut other, 30..60);
        assert_eq!(run.save().unwrap(), other.save().unwrap());
        assert_eq!(run.found(), other.found());
        assert!(run.found().len() > 10);
        for length in 0..saved.words.len() {
            let mut short = saved.clone();
            short.words.truncate(length);
            let before = other.save().unwrap();
            assert!(other.restore(&short).is_err(), "{length}");
            assert_eq!(other.save().unwrap(), before);
        }
    }
}

/// How far the motion inside the first step is off, in poses and in angular velocities, from that of short steps.
fn off(name: &str, id: &str, h: f64, parts: u32) -> [f64; 2] {
    const PART: f64 = 0.3;
    let model = Problem::named(name).unwrap().model().unwrap();
    let (mut fine, mut run) = (model.begin(&method(id)).unwrap(), model.begin(&method(id)).unwrap());
    for k in 1..=parts {
        fine.step(PART * h / f64::from(parts), PART * h * f64::from(k) / f64::from(parts)).unwrap();
    }
    run.step(h, h).unwrap();
    let (seen, exact) = (run.between(PART * h).unwrap(), fine.snapshot());
    assert!(run.between(1.01 * h).is_none() && run.between(-0.01 * h).is_none());
    for (t, state) in [(0.0, model.start()), (h, run.snapshot())] {
        let seen = run.between(t).unwrap();
        assert!(seen.bodies[0].attitude.distance(&state.bodies[0].attitude) < 1e-14, "{name} {id} {t}");
        assert!((seen.bodies[0].omega_body - state.bodies[0].omega_body).norm() < 1e-12, "{name} {id} {t}");
    }
    let pairs = seen.bodies.iter().zip(exact.bodies.iter());
    pairs.fold([0.0f64; 2], |most, (a, b)| {
        let pose = a.attitude.distance(&b.attitude).max((a.position() - b.position()).norm());
        [most[0].max(pose), most[1].max((a.omega_body - b.omega_body).norm())]
    })
}

#[test]
fn what_is_between_steps_has_its_order() {
    // Where the method is far better than the interpolation, the order is that of the latter.
    for (name, h) in [("slow-top", 0.16), ("flying-brick", 0.04)] {
        let errors = [h, 0.5 * h].map(|h| off(name, "compose:akw:8", h, 4));
        for (k, order) in [6.0, 5.0].into_iter().enumerate() {
            let found = (errors[0][k] / errors[1][k]).log2();
            assert!(found > order - 0.4 && found < order + 0.9, "{name} {k}: {found} {errors:?}");
        }
    }
    // The error of one step of a method for systems is of third order, and stays so in between.
    for id in ["linear-alpha", "geometric-alpha"] {
        let errors = [0.02, 0.01].map(|h| off("double-pendulum", id, h, 64));
        for (k, order) in [3.0, 2.0].into_iter().enumerate() {
            let found = (errors[0][k] / errors[1][k]).log2();
            assert!(found > order - 0.3, "{id} {k}: {found} {errors:?}");
        }
    }
}
