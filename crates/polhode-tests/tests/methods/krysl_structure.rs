//! Krysl 2006: what the methods keep and what they do not, identities between them, and the paper's claims.

use crate::common::{Case, krysl, method, prints_as, rotation, rows};
use core::ops::ControlFlow;
use nalgebra::Matrix3;
use polhode::body::{Body, NoLoad, RotaryInertia, State};
use polhode::check::{
    Distance, Plateau, advance, conjugacy_defect, converge, drift, order, reversal_defect,
    symplecticity_defect,
};
use polhode::group::So3;
use polhode::problem::Problem;
use polhode::run::{Drift, Plan};
use polhode::scalar::{Dual, Real};

const STEPS: u64 = 10_000;
const SYMMETRIC: [&str; 7] = ["TRAP", "IMID", "TRAPM", "IMIDM", "SWC1", "AKW", "BBTRAP"];

/// Round-off after 1e4 steps.
const ROUND_OFF: f64 = 1e-13;

/// A cell: a printed magnitude, or `-` for round-off, or `?` for no statement.
fn check(what: &str, ours: f64, cell: &str, round_off: f64) -> Option<String> {
    let right = match cell {
        "?" => true,
        "-" => ours.abs() < round_off,
        printed => prints_as(ours, printed, 0.0),
    };
    (!right).then(|| format!("{what}: {ours:.4e}, notes {cell}"))
}

/// The end of the energy error that is farther from zero, with its sign.
fn energy(d: &Drift) -> f64 {
    let e = d.energy.unwrap();
    if e.max > -e.min { e.max } else { e.min }
}

#[test]
fn free_rotation_keeps_and_loses_what_the_table_says() {
    // Energy at h = 0.5 and 0.1, momentum in space at both, length of the body momentum at 0.5.
    let table = "
        | TRAP     | -2.9e-3 | -1.2e-4 | 2.1e-3 | 8.5e-5 | 1.4e-3 |
        | IMID     | -       | -       | 7.5e-3 | 3.0e-4 | -      |
        | TRAPM    | -1.5e-3 | -5.8e-5 | -      | -      | -      |
        | IMIDM    | 1.4e-3  | 5.8e-5  | -      | -      | -      |
        | SWC1     | -       | -       | -      | -      | -      |
        | BBTRAP   | -       | -       | -      | -      | -      |
        | AKW      | -       | -       | -      | -      | -      |
        | BBTRAPWD | -2.8e-1 | -4.8e-4 | -      | -      | -      |
        | bE       | -0.58   | ?       | 0.40   | ?      | ?      |
        | fEM      | 0.16    | ?       | -      | -      | -      |
        | bEM      | -0.36   | ?       | -      | -      | -      |";
    let (body, start) = rotation::<f64>("free-rotation");
    let mut wrong = Vec::new();
    for (name, cells) in rows(table) {
        let [large, small] = [0.5, 0.1].map(|h| drift(&krysl(name), &body, &start, h, STEPS).unwrap());
        let ours =
            [energy(&large), energy(&small), large.momentum_space.unwrap(), small.momentum_space.unwrap()];
        for (ours, cell) in ours.into_iter().chain([large.momentum_body.unwrap()]).zip(cells) {
            wrong.extend(check(name, ours, cell, ROUND_OFF));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(drift(&krysl("fE"), &body, &start, 0.5, STEPS).is_err());
}

#[test]
fn errors_in_invariants_are_bounded_except_where_the_method_dissipates() {
    let (body, start) = rotation::<f64>("free-rotation");
    for name in ["TRAP", "IMID", "TRAPM", "IMIDM"] {
        let [early, late] = [STEPS / 10, STEPS].map(|n| drift(&krysl(name), &body, &start, 0.5, n).unwrap());
        let worst = |d: &Drift| d.energy.unwrap().max_abs() + d.momentum_space.unwrap();
        assert!(worst(&late) < 1.02 * worst(&early), "{name}: {early:?} {late:?}");
    }
    let mut state = start;
    let mut last = body.kinetic_energy(&state);
    for _ in 0..10 {
        state = advance(&krysl("BBTRAPWD"), &body, &state, 0.0, 0.5, STEPS / 10).unwrap();
        assert!(body.kinetic_energy(&state) < last);
        last = body.kinetic_energy(&state);
    }
    // Euler's methods in momentum form end in a rotation about a principal axis.
    for (name, axis) in [("fEM", 0), ("bEM", 2)] {
        let end = advance(&krysl(name), &body, &start, 0.0, 0.5, STEPS).unwrap();
        assert!(end.momentum[axis].abs() > (1.0 - 1e-10) * end.momentum.norm(), "{name}: {}", end.momentum);
    }
}

#[test]
fn trap_keeps_the_energy_after_half_a_forward_euler_step() {
    let (body, start) = rotation::<f64>("free-rotation");
    let middle = |state: &State<f64, So3>| {
        body.kinetic_energy(&advance(&krysl("fE"), &body, state, 0.0, 0.25, 1).unwrap())
    };
    let mut state = start;
    for _ in 0..100 {
        state = advance(&krysl("TRAP"), &body, &state, 0.0, 0.5, STEPS / 100).unwrap();
        assert!((middle(&state) / middle(&start) - 1.0).abs() < ROUND_OFF);
    }
}

#[test]
fn slow_top_keeps_and_loses_what_the_table_says() {
    // Energy, vertical momentum in space, axial momentum in the body, at h = 0.05.
    let table = "
        | AKW      | -       | -    | -    |
        | IMID     | 3.9e-3  | 0.27 | -    |
        | SWC1     | 3.9e-3  | -    | 0.06 |
        | TRAPM    | -7.7e-3 | -    | 0.06 |
        | BBTRAP   | -7.7e-3 | -    | 0.12 |
        | IMIDM    | 1.1e-2  | -    | 0.06 |
        | TRAP     | -1.5e-2 | 0.09 | -    |
        | BBTRAPWD | -0.21   | -    | 1.7  |";
    let (body, start) = rotation::<f64>("slow-top");
    let mut wrong = Vec::new();
    for (name, cells) in rows(table) {
        let d = drift(&krysl(name), &body, &start, 0.05, STEPS).unwrap();
        for (ours, cell) in
            [energy(&d), d.momentum_vertical.unwrap(), d.momentum_axial.unwrap()].into_iter().zip(cells)
        {
            // Momenta are of the order of ten here.
            wrong.extend(check(name, ours, cell, 1e-12));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let d = drift(&krysl("AKW"), &body, &start, 0.1, STEPS).unwrap();
    assert!(d.energy.unwrap().max_abs() < ROUND_OFF, "AKW h = 0.1: {d:?}");
}

/// The largest value of a measure over the states of a slow top in full swing.
fn in_swing(measure: impl Fn(&Case<f64, So3>) -> f64) -> f64 {
    let (body, mut state) = rotation::<f64>("slow-top");
    let mut case = (body, state);
    let mut most = 0.0f64;
    for _ in 0..400 {
        state = advance(&method("mkrk:gauss3"), &case.0, &state, 0.0, 0.05, 1).unwrap();
        case.1 = state;
        most = most.max(measure(&case));
    }
    most
}

#[test]
fn a_step_back_undoes_a_step_of_the_symmetric_methods_only() {
    let defect = |name: &str| {
        in_swing(|(body, state)| reversal_defect(&krysl(name), body, state, 0.1, 1).unwrap().largest())
    };
    for name in SYMMETRIC {
        let defect = defect(name);
        assert!(defect < 2e-13, "{name}: {defect:e}");
    }
    for (name, least) in
        [("BBTRAPWD", 1e-3), ("MKRK4", 1e-4), ("MKGauss2", 1e-5), ("fE", 1e-2), ("bEM", 1e-2)]
    {
        let defect = defect(name);
        assert!(defect > least, "{name}: {defect:e}");
    }
}

#[test]
fn backward_euler_is_the_adjoint_of_forward_euler() {
    for (forward, backward) in [("fE", "bE"), ("fEM", "bEM")] {
        let defect = in_swing(|(body, state)| {
            let there = advance(&krysl(forward), body, state, 0.0, 0.1, 1).unwrap();
            let back = advance(&krysl(backward), body, &there, 0.1, -0.1, 1).unwrap();
            Distance::between(&back, state).largest()
        });
        assert!(defect < 1e-13, "{forward}: {defect:e}");
    }
}

#[test]
fn trapezoids_and_midpoints_are_conjugate_by_half_an_euler_step() {
    // Round-off grows with the time passed, most on the slow top.
    for (id, h, steps, limit) in [
        ("free-rotation", 0.5, 1000, 1e-12),
        ("slow-top", 0.02, 1000, 2.5e-11),
        ("driven-body", 0.1, 50, 1e-12),
    ] {
        let (body, start) = rotation::<f64>(id);
        for (trapezoid, midpoint, euler) in [("TRAP", "IMID", "fE"), ("TRAPM", "IMIDM", "fEM")] {
            let pair = [&krysl(trapezoid), &krysl(midpoint)];
            let defect = |fraction| {
                conjugacy_defect(pair, (&krysl(euler), fraction), &body, &start, h, steps).unwrap().largest()
            };
            // Forward by half a step, or back by half a step, which undoes a backward Euler step.
            for fraction in [0.5, -0.5] {
                assert!(defect(fraction) < limit, "{id} {trapezoid} {fraction}: {:e}", defect(fraction));
            }
            assert!(defect(0.25) > 1e-5, "{id} {trapezoid}: {:e}", defect(0.25));
        }
    }
}

#[test]
fn methods_that_are_the_same_give_the_same() {
    let free = rotation::<f64>("free-rotation");
    let gap = |a: &str, b: &str, (body, start): &Case<f64, So3>, h: f64, n| {
        let [a, b] = [a, b].map(|id| advance(&krysl(id), body, start, 0.0, h, n).unwrap());
        Distance::between(&a, &b)
    };
    assert!(gap("SWC1", "BBTRAP", &free, 0.5, 1000).largest() < 5e-12);
    let apart = in_swing(|case| gap("SWC1", "BBTRAP", case, 0.1, 1).largest());
    assert!(apart > 1e-2, "SWC1 and BBTRAP under load: {apart:e}");
    let cayley = gap("AKW", "IMID", &free, 0.5, 1000);
    assert!(cayley.momentum < 1e-12 && cayley.attitude > 0.1, "AKW and IMID: {cayley:?}");
    for (a, b) in [
        ("mkrk:euler", "fEM"),
        ("mkrk:backward-euler", "bEM"),
        ("mkrk:midpoint", "IMIDM"),
        ("mkrk:gauss1", "IMIDM"),
        ("mkrk:trapezoid", "BBTRAPWD"),
    ] {
        for (id, h) in [("free-rotation", 0.5), ("slow-top", 0.02), ("driven-body", 0.1)] {
            let gap = gap(a, b, &rotation(id), h, 50).largest();
            assert!(gap < 1e-12, "{a} and {b} on {id}: {gap:e}");
        }
    }
}

#[test]
fn no_method_is_symplectic() {
    let (body, start) = rotation::<f64>("free-rotation");
    let inertia: Matrix3<Dual<f64, 1>> = body.inertia.matrix().map(Dual::lift);
    let lifted = Body::<Dual<f64, 1>, So3, _> { inertia: RotaryInertia::unchecked(inertia), load: NoLoad };
    let defect =
        |name: &str, h: f64| symplecticity_defect(&krysl(name), &body, &lifted, &start, 0.0, h).unwrap();
    // The exact flow, to round-off.
    assert!(defect("mkrk:gauss4", 0.05) < 1e-14);
    assert!(prints_as(defect("IMIDM", 0.4), "7.3e-4", 0.0), "{:.4e}", defect("IMIDM", 0.4));
    for name in SYMMETRIC {
        let points = [0.2, 0.1, 0.05, 0.025].map(|h| (h, defect(name, h)));
        let found = order(&points, Plateau::At(0.0)).unwrap();
        assert!((found.slope - 3.0).abs() < 0.1 && points[0].1 > 1e-5, "{name}: {points:?}");
    }
}

#[test]
fn time_dependent_loads_are_taken_at_the_right_time() {
    // With the midpoint time as the paper prints it, t_n + h/2, these would be of order one.
    let (body, start) = rotation::<f64>("driven-body");
    let reference = advance(&method("mkrk:gauss4"), &body, &start, 0.0, 0.01, 200).unwrap();
    for name in SYMMETRIC.into_iter().chain(["BBTRAPWD"]) {
        let found = converge(&krysl(name), &body, &start, 2.0, &[100, 200, 400, 800], &reference).unwrap();
        for slope in [found.attitude(Plateau::Detect), found.momentum(Plateau::Detect)] {
            let slope = slope.unwrap().slope;
            assert!((slope - 2.0).abs() < 0.03, "{name}: {slope}");
        }
    }
}

/// What a claim is about.
#[derive(Clone, Copy, Debug)]
enum In {
    R,
    Pi,
}

/// The error of the first method over that of the second, as the notes have it.
type Ratio = (&'static str, &'static str, In, &'static str);

#[test]
fn the_paper_is_right_and_wrong_where_the_notes_say() {
    use In::{Pi, R};
    let claims: [(&str, f64, f64, &[Ratio]); 5] = [
        (
            "free-rotation",
            100.0,
            0.005,
            &[
                ("AKW", "IMID", Pi, "1.00"),
                ("TRAP", "IMID", R, "0.91"),
                ("TRAPM", "IMID", R, "1.09"),
                ("IMIDM", "IMID", R, "1.4"),
                ("AKW", "IMID", R, "21"),
                ("TRAP", "IMID", Pi, "2.05"),
                ("SWC1", "IMID", Pi, "32"),
                ("BBTRAP", "IMID", Pi, "32"),
                ("SWC1", "IMIDM", Pi, "2.8"),
            ],
        ),
        (
            "slow-top",
            20.0,
            0.002,
            &[
                ("TRAP", "IMID", R, "1.0"),
                ("SWC1", "IMID", R, "1.2"),
                ("TRAPM", "IMID", R, "1.6"),
                ("IMIDM", "IMID", R, "1.6"),
                ("BBTRAP", "IMID", R, "2.4"),
                ("AKW", "IMID", R, "4.1"),
                ("TRAPM", "SWC1", Pi, "1.9"),
                ("IMIDM", "SWC1", Pi, "2.0"),
                ("BBTRAP", "SWC1", Pi, "2.3"),
                ("IMID", "SWC1", Pi, "3.0"),
                ("TRAP", "SWC1", Pi, "3.2"),
                ("AKW", "SWC1", Pi, "6.3"),
            ],
        ),
        (
            "fast-top",
            20.0,
            0.0005,
            &[
                ("SWC1", "IMIDM", R, "6"),
                ("SWC1", "TRAPM", Pi, "6"),
                ("BBTRAP", "TRAPM", R, "6"),
                ("BBTRAP", "IMIDM", Pi, "6"),
                ("IMID", "IMIDM", R, "21"),
                ("TRAP", "TRAPM", R, "21"),
                ("AKW", "IMIDM", R, "16e2"),
                ("BBTRAPWD", "IMIDM", R, "1.0"),
                ("BBTRAPWD", "IMIDM", Pi, "1.0"),
            ],
        ),
        ("fast-top", 2.0, 0.0005, &[("IMID", "IMIDM", R, "3e1"), ("TRAP", "TRAPM", R, "3e1")]),
        ("fast-top", 20.0, 0.01, &[("SWC1", "IMIDM", R, "0.5"), ("BBTRAP", "TRAPM", Pi, "0.3")]),
    ];
    let mut wrong = Vec::new();
    for (id, until, step, list) in claims {
        let model = Problem::named(id).unwrap().model().unwrap();
        let reference = model.reference(until).unwrap();
        let error = |name: &str, part: In| {
            let plan = Plan::new(step, until).unwrap();
            let end = model.run(&krysl(name), &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
            let errors = reference.errors(&end.last);
            match part {
                R => errors.attitude,
                Pi => errors.momentum,
            }
        };
        for (a, b, part, printed) in list {
            let ratio = error(a, *part) / error(b, *part);
            if !prints_as(ratio, printed, 0.0) {
                wrong.push(format!("{id} h={step} {a}/{b} in {part:?}: {ratio:.3}, notes {printed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
