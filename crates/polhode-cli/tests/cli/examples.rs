//! The model files in examples/: benchmark mechanisms as drawn, against references of another route.

use crate::common::json;

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// A mechanism, what `check` counts of it, and where it is at a time: by reduced coordinates or an index-1 formulation of its
/// own with scipy 1.17, DOP853 at 1e-12 or better, and two steps to measure the order with.
struct Case {
    name: &'static str,
    freedom: u64,
    redundant: u64,
    until: &'static str,
    values: &'static [(&'static str, f64)],
    steps: [&'static str; 2],
    most: f64,
}

const CASES: [Case; 6] = [
    Case {
        name: "pendulum",
        freedom: 1,
        redundant: 0,
        until: "2.5",
        values: &[("x", -0.996_334_403_958), ("y", -0.085_543_880_489)],
        steps: ["1e-3", "5e-4"],
        most: 1e-4,
    },
    Case {
        name: "four-bars-2",
        freedom: 1,
        redundant: 6,
        until: "2.5",
        values: &[("b0_x", 0.807_237_360_484), ("b0_y", 0.590_226_942_658)],
        steps: ["2e-3", "1e-3"],
        most: 1e-3,
    },
    Case {
        name: "four-bars-40",
        freedom: 1,
        redundant: 120,
        until: "1",
        values: &[("b0_x", -0.115_356_880_632), ("b0_y", -0.993_324_111_300)],
        steps: ["5e-3", "2.5e-3"],
        most: 2e-3,
    },
    Case {
        name: "squeezer",
        freedom: 1,
        redundant: 9,
        until: "0.03",
        values: &[("crank", 15.810_771_195_154), ("rod", -15.756_371_058_412)],
        steps: ["2e-5", "1e-5"],
        most: 1e-3,
    },
    Case {
        name: "bricard",
        freedom: 1,
        redundant: 1,
        until: "1",
        values: &[("p3_x", 0.510_501_461_187), ("p3_y", -1.649_167_599_395), ("p3_z", 0.140_123_114_553)],
        steps: ["5e-3", "2.5e-3"],
        most: 1e-3,
    },
    Case {
        name: "governor",
        freedom: 4,
        redundant: 0,
        until: "1",
        values: &[("s", 0.501_420_922_380), ("rate", 6.271_125_741_877)],
        steps: ["2e-3", "1e-3"],
        most: 1e-3,
    },
];

#[test]
fn steps_that_end_in_a_singular_position_get_past_it() {
    // The first ends within 1e-6 of where all rods lie flat after 2690 steps, and could not be solved there.
    for (step, method, windows) in [
        ("0.0017194118207652996", "geometric-alpha", "2"),
        ("0.007189261230442577", "geometric-alpha,rho=1,constraints=stabilized", "5"),
    ] {
        let (file, windows) = (example("four-bars-2"), format!("windows={windows}"));
        let run = json(&[
            "run",
            &file,
            "-m",
            method,
            "--step",
            step,
            "--set",
            &windows,
            "--no-reference",
            "--json",
        ]);
        assert!(run["drift"]["energy"].as_f64().unwrap() < 1e-2, "{method}: {}", run["drift"]);
        assert!(run["constraint_violation"]["position"].as_f64().unwrap() < 1e-6, "{method}");
    }
}

#[test]
fn benchmark_mechanisms_run_as_drawn() {
    for case in &CASES {
        let (name, file) = (case.name, example(case.name));
        let check = json(&["check", &file, "--json"]);
        assert_eq!(check["degrees_of_freedom"].as_u64(), Some(case.freedom), "{name}");
        assert_eq!(check["redundant_rows"].as_u64(), Some(case.redundant), "{name}");
        let error = |step: &str| {
            let run =
                json(&["run", &file, "--no-reference", "--json", "--step", step, "--until", case.until]);
            let off = |(output, wanted): &(&str, f64)| {
                (run["outputs"][output].as_f64().unwrap_or(f64::NAN) - wanted).abs()
            };
            assert!(run["constraint_violation"]["position"].as_f64().unwrap() < 1e-9, "{name}");
            case.values.iter().map(off).fold(0.0, f64::max)
        };
        let [coarse, fine] = case.steps.map(error);
        println!("{name}: {coarse:.2e} {fine:.2e}");
        assert!(coarse < case.most, "{name}: {coarse:e}");
        assert!((3.4..4.6).contains(&(coarse / fine)), "{name}: {coarse:e} {fine:e}");
    }
}
