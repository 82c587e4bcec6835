//! Numbers beyond all bounds: every result is finite, or an error says which is not.

use crate::common::{json, polhode, refused};

#[test]
fn what_is_not_finite_is_an_error_that_names_it() {
    let run = |code: i32, args: &str, texts: &[&str]| {
        let mut all: Vec<&str> = args.split(' ').collect();
        refused(code, &all, texts);
        all.push("--json");
        refused(code, &all, texts);
    };
    run(4, "run free-body --until 0.1 --set position=1e200,0,0", &["angular momentum in space", "t = 0.01"]);
    run(4, "run soft-wall --step 1 --until 20 --set coulomb=-1e90", &["energy", "overflowed"]);
    run(4, "run slow-top --step 1e58 --until 3e58 --estimate --no-reference", &["estimate", "t = 1e58"]);
    run(4, "run heavy-top --step 4e-5 --until 4e-5 --set mass=3e280 --no-reference", &["energy"]);
    run(
        3,
        "run free-rotation --set momentum_body=1e300,0,0 --set inertia=1e-10,1.2e-10,1.5e-10 --method geometric-alpha \
         --step 0.1 --until 1 --no-reference",
        &["omega_body_x", "not finite"],
    );
    run(3, "run prescribed-rotation --set turn_rate=-1e308 --method geometric-alpha", &["not finite"]);
}

#[test]
fn a_comparison_of_runs_that_overflow_fails() {
    let args = "compare free-body --methods compose:imid:4 --step 1e193 --until 1e194 --set velocity=2e93,4e92,-9e92";
    let said = polhode(&args.split(' ').collect::<Vec<_>>());
    assert_eq!(said.code, Some(4));
    assert!(said.err.contains("overflowed"), "{}", said.err);
}

#[test]
fn energy_that_grows_without_a_reason_gets_a_warning() {
    let said = polhode(&["run", "slider-crank", "--set", "rod=0.3000003", "--no-reference"]);
    assert_eq!(said.code, Some(0));
    assert!(said.err.contains("grew by 58 %"), "{}", said.err);
}

#[test]
fn the_drift_of_energy_says_its_unit() {
    let unit = |args: &str| json(&args.split(' ').collect::<Vec<_>>())["energy_unit"].clone();
    // The energy of the chain at its start is zero, and what it is relative to is that of its motion.
    assert_eq!(unit("run chain --set bodies=3 --until 0.01 --no-reference --json"), "relative");
    assert_eq!(unit("run fast-top --until 0.01 --no-reference --json"), "relative");
    // Nothing moves, and nothing could.
    let still = "run free-rotation --set omega_body=0,0,0 --until 1 --no-reference --json";
    assert_eq!(unit(still), "J");
    let drive = "run driven-body --until 0.1 --no-reference --json";
    assert!(unit(drive).is_null());
}

#[test]
fn samples_that_measure_nothing_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let fit = |name: &str, rows: [&str; 3], texts: &[&str]| {
        let path = folder.path().join(name);
        let text = format!("t,q_w,q_x,q_y,q_z\n{}\n", rows.join("\n"));
        std::fs::write(&path, text).expect("written");
        let data = path.to_string_lossy().into_owned();
        let said = polhode(&["fit", "fast-top", "--data", &data, "--parameters", "mgl", "--step", "0.01"]);
        assert!(
            said.code.is_some_and(|code| code != 0 && code != 101) && said.out.is_empty(),
            "{name}: {}",
            said.out
        );
        for text in texts {
            assert!(said.err.contains(text), "{name}: '{text}' is not in: {}", said.err);
        }
    };
    let rows = ["0,1,0,0,0", "0.01,1e300,0,0,0", "0.02,1,0,0,0"];
    fit("large.csv", rows, &["q_w of sample 2", "1e300"]);
    let rows = ["0,1,0,0,0", "0.01,1e3,0,0,0", "0.02,1,0,0,0"];
    fit("long.csv", rows, &["quaternion q of sample 2", "length 1e3"]);
    let rows = ["0,0,0,0,0", "0.01,0,0,0,0", "0.02,0,0,0,0"];
    fit("zeros.csv", rows, &["quaternion q of sample 1"]);
}
