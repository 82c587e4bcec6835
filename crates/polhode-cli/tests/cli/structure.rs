//! Methods that keep the structure of systems, on model files.

use crate::common::{json, refused};
use crate::models::Folder;

/// A bob that hangs by a ball joint from the tip of a driven crank, a wheel on a spring over full turns, and a spring between
/// points.
const MODEL: &str = r#"
gravity = [0, 0, -9.81]
[bodies.crank]
mass = 2
inertia = [0.02, 0.05, 0.06]
position = [0.2, 0, 0]
[bodies.wheel]
mass = 1
inertia = [0.03, 0.03, 0.05]
position = [0.4, 0, 0]
omega_body = [0, 0, 30]
[bodies.bob]
mass = 1.5
inertia = [0.04, 0.05, 0.02]
position = [0.4, 0, -0.5]
[joints.bearing]
type = "revolute"
between = ["ground", "crank"]
at = [0, 0, 0]
axis = [0, 0, 1]
DRIVE
[joints.spindle]
type = "revolute"
between = ["crank", "wheel"]
at = [0.4, 0, 0]
axis = [0, 0, 1]
stiffness = 2
rest = 0
[joints.hook]
type = "spherical"
between = ["crank", "bob"]
at = [0.4, 0, 0]
[frames.post]
body = "ground"
at = [1, 1, 0]
[frames.tip]
body = "bob"
at = [0, 0, -0.2]
[forces.line]
type = "spring"
between = ["post", "tip"]
stiffness = 30
length = 0.5
[run]
step = 0.01
until = 1
"#;

fn drift(file: &str, method: &str) -> (f64, f64, f64) {
    let run = json(&["run", file, "--method", method, "--no-reference", "--json"]);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let joints = &run["constraint_violation"];
    (number(&run["drift"]["energy"]), number(&joints["position"]), number(&joints["velocity"]))
}

#[test]
fn energy_of_a_file_is_kept_with_the_work_of_its_drive() {
    let folder = Folder::new();
    for drive in ["", "drive = \"2 * t + 0.3 * sin(3 * t)\""] {
        let file = folder.write("bob.toml", &MODEL.replace("DRIVE", drive));
        let (energy, position, velocity) = drift(&file, "conserving");
        assert!(energy < 1e-12, "{energy:e}");
        assert!(position < 1e-13 && velocity < 1e-11, "{position:e} {velocity:e}");
        let (energy, position, velocity) = drift(&file, "conserving,constraints=index3");
        assert!(energy < 1e-12 && position < 1e-13 && velocity > 1e-9, "{energy:e} {velocity:e}");
        let (energy, position, velocity) = drift(&file, "variational");
        assert!(energy > 1e-9 && position < 1e-13 && velocity < 1e-11, "{energy:e} {velocity:e}");
    }
}

#[test]
fn what_variational_steps_cannot_take_is_named() {
    let folder = Folder::new();
    let damped = MODEL.replace("DRIVE", "").replace("stiffness = 30", "stiffness = 30\ndamping = 1");
    let file = folder.write("damped.toml", &damped);
    refused(4, &["run", &file, "--method", "variational"], &["'line'", "potential", "conserving"]);
    refused(
        2,
        &["run", &file, "--method", "compose:conserving,constraints=index3:6"],
        &["order 2", "stabilized"],
    );
}

#[test]
fn methods_tell_what_they_keep_of_systems() {
    let keeps = |id: &str| json(&["methods", id, "--json"])["keeps"].clone();
    let conserving = keeps("conserving");
    for name in ["energy", "momentum", "angular_momentum", "joint_positions", "joint_velocities"] {
        assert_eq!(conserving[name], true, "{name}");
    }
    assert_eq!(
        (&conserving["symplectic"], &keeps("variational")["symplectic"]),
        (&false.into(), &true.into())
    );
    assert!(keeps("imidm").is_null());
    let compared = json(&[
        "compare",
        "double-pendulum",
        "--methods",
        "conserving,geometric-alpha",
        "--step",
        "0.01",
        "--until",
        "0.2",
        "--json",
    ]);
    let rate = |row: usize| compared["rows"][row]["constraint_violation"]["velocity"].as_f64().unwrap();
    assert!(rate(0) < 1e-12 && rate(1) > 1e-9);
}

#[test]
fn examples_keep_energy_and_joints_over_many_steps() {
    let root = format!("{}/../../examples", env!("CARGO_MANIFEST_DIR"));
    for (name, freedom) in [("spatial-four-bar", 1), ("pair", 11)] {
        let file = format!("{root}/{name}.toml");
        let with = |method: &str| {
            let run = json(&[
                "run",
                &file,
                "--method",
                method,
                "--step",
                "0.01",
                "--until",
                "100",
                "--no-reference",
                "--json",
            ]);
            let [left, redundant] = ["degrees_of_freedom", "redundant_rows"].map(|key| run[key].as_u64());
            assert_eq!((left, redundant), (Some(freedom), Some(0)), "{name}");
            let number = |value: &serde_json::Value| value.as_f64().unwrap();
            (number(&run["drift"]["energy"]).abs(), number(&run["constraint_violation"]["position"]))
        };
        let (energy, joints) = with("conserving");
        assert!(energy < 3e-13 && joints < 2e-15, "{name}: {energy:e}, {joints:e}");
        // The step is one at which other methods lose percents.
        let (energy, _) = with("linear-alpha");
        assert!(energy > 1e-2, "{name}: {energy:e}");
    }
}
