//! Krysl 2006, section 5.4: a body in a potential with a wall, its energy over 40000 large steps.

use crate::common::{krysl, prints_as, rows};
use core::ops::ControlFlow;
use polhode::problem::{Problem, RunReport};
use polhode::run::{EnergyError, Plan, Run};

const STEPS: u64 = 40_000;
const PRESENT: [&str; 4] = ["TRAP", "IMID", "TRAPM", "IMIDM"];

fn run(name: &str, step: f64) -> RunReport {
    let model = Problem::named("soft-wall").unwrap().model().unwrap();
    let plan = Plan::new(step, step * STEPS as f64).unwrap();
    // A Newton failure would be an error here.
    model.run(&krysl(name), &plan, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

fn energy(name: &str, step: f64) -> EnergyError {
    run(name, step).drift.energy.unwrap()
}

/// E/E₀ - 1 and s = 1.1 + R₃₃ after every step, up to a failure if there is one; and whether there was none.
fn history(id: &str, name: &str, step: f64, steps: u64) -> (Vec<[f64; 2]>, bool) {
    let model = Problem::named(id).unwrap().model().unwrap();
    let plan = Plan::new(step, step * steps as f64).unwrap();
    let e0 = model.start().energy.unwrap();
    let mut seen = Vec::new();
    let mut watch = |_: u64, run: &mut (dyn Run + 'static)| {
        let now = run.snapshot();
        seen.push([now.energy.unwrap() / e0 - 1.0, 1.1 + now.bodies[0].attitude.matrix()[(2, 2)]]);
        ControlFlow::Continue(())
    };
    let finished = model.run(&krysl(name), &plan, &mut watch).is_ok();
    (seen, finished)
}

#[test]
fn energy_errors_of_the_regular_runs_are_those_of_the_table() {
    let table = "
        | TRAP     | -9.06e-3 | +6.44e-3 | -1.84e-3 | 3.91e-3 |
        | IMID     | -9.21e-4 | +6.85e-3 | +1.67e-3 | 2.19e-3 |
        | TRAPM    | -1.23e-2 | +5.94e-3 | -2.11e-3 | 3.82e-3 |
        | IMIDM    | -3.08e-3 | +5.23e-3 | +1.22e-3 | 2.09e-3 |
        | BBTRAPWD | -4.48e-1 | +7e-4    | -3.8e-1  | 3.8e-1  |";
    for (name, cells) in rows(table) {
        let e = energy(name, 0.5);
        for (ours, printed) in [e.min, e.max, e.mean, e.rms].into_iter().zip(cells) {
            assert!(prints_as(ours, printed, 0.0), "{name}: {ours:.4e}, printed {printed}");
        }
    }
}

#[test]
fn chaotic_runs_stay_bounded_and_reach_the_ranges_of_the_notes() {
    // Smallest and largest maximum of E/E₀ - 1 among the five perturbed runs of the notes.
    for (name, low, high) in [("AKW", 3.0e-2, 4.5e-2), ("BBTRAP", 4.3e-2, 6.9e-2), ("SWC1", 4.6e-2, 5.2e-2)] {
        let maxima: Vec<f64> = (0..16)
            .map(|k| {
                let mut problem = Problem::named("soft-wall").unwrap();
                problem.set("momentum_body", &format!("2, 2, {}", 2.0 + f64::from(k) * 1e-12)).unwrap();
                let plan = Plan::new(0.5, 20_000.0).unwrap();
                let model = problem.model().unwrap();
                let end = model.run(&krysl(name), &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
                let e = end.drift.energy.unwrap();
                assert!(e.min > -0.05, "{name}: {:.3e}", e.min);
                e.max
            })
            .collect();
        let (least, most) = maxima.iter().fold((1.0f64, 0.0f64), |(a, b), m| (a.min(*m), b.max(*m)));
        assert!(maxima.iter().any(|m| (low..=high).contains(m)), "{name}: {maxima:?}");
        assert!(least > 0.8 * low && most < 0.1 && most > 1.2 * least, "{name}: {maxima:?}");
    }
}

#[test]
fn newton_stays_on_the_continuous_root_where_a_spurious_one_is_near() {
    // At these steps a plain Newton iteration jumps over the barrier (E/E₀ - 1 = 0.17 and 0.20).
    for (name, step, error, height) in [("AKW", 4096, "0.0173", "0.677"), ("BBTRAP", 1180, "0.0364", "0.682")]
    {
        let (seen, finished) = history("soft-wall", name, 0.5, STEPS);
        let [e, s] = seen[step];
        assert!(finished && prints_as(e, error, 0.0) && prints_as(s, height, 0.0), "{name}: {e:.5} {s:.5}");
        // Nor at any other step: the height stays above that of the barrier.
        assert!(seen.iter().all(|[_, s]| *s > 0.5995), "{name}");
    }
}

#[test]
fn the_present_methods_have_a_fraction_of_the_error_at_the_large_step_only() {
    let worst = |name: &str| energy(name, 0.5).max_abs();
    let present = PRESENT.map(worst);
    for name in ["AKW", "BBTRAP", "SWC1"] {
        let ratio = worst(name) / present.iter().fold(0.0f64, |m, e| m.max(*e));
        assert!((2.0..15.0).contains(&ratio), "{name}: {ratio}");
    }
    let [trap, imid, trapm, imidm] = present;
    assert!(trap > imid && trapm > imidm && trap < 2.0 * imid && trapm < 3.0 * imidm);
    let table = [
        ("TRAP", "8.8e-4"),
        ("IMID", "4.5e-4"),
        ("TRAPM", "7.4e-4"),
        ("IMIDM", "4.5e-4"),
        ("AKW", "1.7e-3"),
        ("BBTRAP", "8.7e-4"),
        ("SWC1", "4.4e-4"),
    ];
    for (name, rms) in table {
        let ours = energy(name, 0.25).rms;
        assert!(prints_as(ours, rms, 0.0), "{name}: {ours:.3e}, printed {rms}");
    }
}

#[test]
fn the_vertical_momentum_is_kept_by_the_momentum_forms_alone() {
    for name in ["TRAPM", "IMIDM", "SWC1", "BBTRAP"] {
        let drift = run(name, 0.5).drift.momentum_vertical.unwrap();
        assert!(drift < 5e-13, "{name}: {drift:e}");
    }
    for (name, range) in [("TRAP", 0.07..0.09), ("IMID", 0.07..0.09), ("AKW", 0.01..0.05)] {
        let drift = run(name, 0.5).drift.momentum_vertical.unwrap();
        assert!(range.contains(&drift), "{name}: {drift:e}");
    }
}

#[test]
fn the_body_turns_well_over_thirty_degrees_in_a_step() {
    let model = Problem::named("soft-wall").unwrap().model().unwrap();
    let mut last = model.start().bodies[0].attitude;
    let (mut most, mut sum) = (0.0f64, 0.0);
    let mut watch = |_: u64, run: &mut (dyn Run + 'static)| {
        let now = run.snapshot().bodies[0].attitude;
        let angle = last.inverse().compose(&now).rotation_vector().norm().to_degrees();
        most = most.max(angle);
        sum += angle;
        last = now;
        ControlFlow::Continue(())
    };
    model.run(&krysl("IMIDM"), &Plan::new(0.5, 20_000.0).unwrap(), &mut watch).unwrap();
    let mean = sum / STEPS as f64;
    assert!((mean - 32.5).abs() < 0.5 && (most - 38.8).abs() < 1.0, "mean {mean:.2}, most {most:.2}");
}

#[test]
fn with_the_sign_of_the_text_large_steps_fail_and_small_ones_do_not() {
    let id = "soft-wall-attractive";
    let at_step =
        [("IMID", 4), ("IMIDM", 4), ("SWC1", 4), ("AKW", 4), ("BBTRAP", 5), ("TRAP", 12), ("TRAPM", 12)];
    for (name, step) in at_step {
        let (seen, _) = history(id, name, 0.5, 20);
        let first = seen.iter().position(|[e, _]| e.abs() > 0.5);
        assert_eq!(first, Some(step), "{name}");
        let (seen, finished) = history(id, name, 0.1, STEPS);
        let worst = seen.iter().fold(0.0f64, |m, [e, _]| m.max(e.abs()));
        assert!(!finished || worst > 0.2, "{name} h = 0.1: {worst:e}");
        let (seen, finished) = history(id, name, 0.02, STEPS);
        let worst = seen.iter().fold(0.0f64, |m, [e, _]| m.max(e.abs()));
        let (low, high) =
            if matches!(name, "IMID" | "IMIDM" | "SWC1") { (1.35e-2, 1.45e-2) } else { (2.6e-2, 2.75e-2) };
        assert!(finished && (low..high).contains(&worst), "{name} h = 0.02: {worst:e}");
        assert!(seen.iter().all(|[_, s]| *s > 0.44), "{name} h = 0.02");
    }
}
