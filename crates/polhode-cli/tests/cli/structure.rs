//! Methods that keep the structure of systems, on model files.

use crate::common::{csv, fine, json, polhode, refused};
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
    for (name, freedom) in [("spatial-four-bar", 1), ("pair", 11)] {
        let file = example(name);
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

/// The model files in examples/ of this name.
fn example(name: &str) -> String {
    format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// Joints that depend on each other are held as well as others, and derivatives are those of the motion so held.
#[test]
fn redundant_joints_are_held_too() {
    // What nothing but μ holds has the rounding of rows over μ; in space, bodies feel a little of it.
    let cases = [("bricard", 1, "gravity_z", 1e-9), ("four-bars-2", 6, "gravity_y", 2e-12)];
    for (name, redundant, parameter, rate) in cases {
        for method in ["conserving", "conserving,constraints=index3", "variational"] {
            let with = |command: &str, more: &[&str]| {
                let model = example(name);
                let words =
                    [command, &model, "--method", method, "--step", "0.002", "--until", "0.2", "--json"];
                json(&[&words[..], more].concat())
            };
            let run = with("run", &["--no-reference"]);
            assert_eq!(run["redundant_rows"].as_u64(), Some(redundant), "{name}");
            let gaps = ["position", "velocity"].map(|key| run["constraint_violation"][key].as_f64().unwrap());
            assert!(gaps[0] < 3e-15, "{name} {method}: {gaps:?}");
            if !method.contains("index3") {
                assert!(gaps[1] < rate, "{name} {method}: {gaps:?}");
            }
            if method.starts_with("conserving") {
                let drift = run["drift"]["energy"].as_f64().unwrap();
                assert!(drift < 1e-14, "{name} {method}: {drift:e}");
            }
            let slopes = with("sensitivity", &["--parameters", parameter, "--check"]);
            let check = slopes["check"].as_array().unwrap();
            let differences = check.iter().find(|row| row["formula"] == "five-point").unwrap();
            let energy = |of: &serde_json::Value| of["kinetic_energy"].as_f64().unwrap();
            let (slope, known) =
                (energy(&slopes["derivatives"][parameter]), energy(&differences["derivatives"]));
            assert!((slope - known).abs() < 1e-6 * (1.0 + known.abs()), "{name} {method}: {slope} {known}");
        }
    }
}

#[test]
fn a_free_chain_keeps_its_momenta() {
    let folder = Folder::new();
    let path = folder.path("rows.csv");
    let out = path.to_str().unwrap();
    let run =
        json(&["run", &example("free-chain"), "--until", "20", "--no-reference", "--json", "--out", out]);
    assert!(run["drift"]["energy"].as_f64().unwrap() < 1e-13);
    assert!(run["constraint_violation"]["position"].as_f64().unwrap() < 3e-15);
    let (names, rows) = csv(&path);
    let links = ["link1", "link2", "link3", "link4", "link5"];
    // All have a mass of one; moments of inertia of a box about its own axes.
    let moments = [[0.05, 0.03], [0.5, 0.03], [0.5, 0.05]].map(|[a, b]: [f64; 2]| (a * a + b * b) / 12.0);
    let sums = |row: &Vec<f64>| {
        let mut sums = [[0.0; 3]; 2];
        for link in links {
            let number = |name: &str| row[names.iter().position(|n| *n == format!("{link}.{name}")).unwrap()];
            let vector = |name: &str| ["x", "y", "z"].map(|part| number(&format!("{name}_{part}")));
            let (x, v, omega) = (vector("position"), vector("velocity"), vector("omega_body"));
            let q = ["q_w", "q_x", "q_y", "q_z"].map(number);
            let attitude =
                nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]));
            let spin = attitude * nalgebra::Vector3::from_fn(|i, _| moments[i] * omega[i]);
            let orbit = nalgebra::Vector3::from(x).cross(&nalgebra::Vector3::from(v));
            for i in 0..3 {
                sums[0][i] += v[i];
                sums[1][i] += spin[i] + orbit[i];
            }
        }
        sums
    };
    let (first, mut off) = (sums(&rows[0]), [0.0f64; 2]);
    for row in &rows {
        for (off, (now, first)) in off.iter_mut().zip(sums(row).into_iter().zip(first)) {
            *off = (0..3).fold(*off, |off, i| off.max((now[i] - first[i]).abs()));
        }
    }
    assert!(off[0] < 1e-12 && off[1] < 1e-12, "{off:?}");
    let told = ["linear_momentum_space", "momentum_space"].map(|name| run["drift"][name].as_f64().unwrap());
    assert!(told[0] < 1e-12 && told[1] < 1e-12, "{told:?}");
}

#[test]
fn stiff_bushings_ring_down_and_never_gain() {
    let folder = Folder::new();
    let energies = |method: &str| {
        let path = folder.path(&format!("{method}.csv"));
        let (model, out) = (example("bushed-four-bar"), path.to_str().unwrap());
        json(&["run", &model, "--method", method, "--no-reference", "--out", out, "--json"]);
        let (names, rows) = csv(&path);
        let energy = names.iter().position(|name| name == "energy").unwrap();
        rows.iter().map(|row| row[energy]).collect::<Vec<f64>>()
    };
    let all = energies("decaying");
    assert!(all.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12 * all[0]), "the energy rises");
    assert!(all[0] - all[all.len() - 1] > 1e-7 * all[0], "nothing rings down");
}

/// A satellite whose wheel is driven by a motor against friction, with a boom on a bushing and a damped mass on a line.
const SATELLITE: &str = r#"
GRAVITY
[bodies.hull]
mass = 20
inertia = [2, 3, 4]
omega_body = [0.1, -0.2, 0.3]
velocity = [0.5, 0.2, -0.1]
[bodies.wheel]
mass = 2
inertia = [0.02, 0.02, 0.04]
position = [0.1, 0.2, 0.3]
[bodies.boom]
mass = 1
inertia = [0.3, 0.3, 0.01]
position = [0, 0, 1]
[bodies.damper]
mass = 0.5
inertia = [0.01, 0.01, 0.01]
position = [1, 0.4, 0]
velocity = [0.1, 0, 0.2]
[joints.spindle]
type = "revolute"
between = ["hull", "wheel"]
at = [0.1, 0.2, 0.3]
axis = [0, 0, 1]
moment = "0.5 * sin(3 * t) - 0.01 * rate"
[frames.root]
body = "hull"
at = [0, 0, 0.5]
[frames.foot]
body = "boom"
at = [0, 0, -0.5]
[forces.clamp]
type = "bushing"
between = ["root", "foot"]
stiffness = [300, 300, 500, 30, 30, 10]
[forces.line]
type = "line"
between = ["root", "damper"]
force = "4 * (length - 0.8)^3 + 0.5 * rate"
[run]
step = 0.01
until = 2
"#;

#[test]
fn momenta_of_what_nothing_holds_are_followed_and_kept() {
    let folder = Folder::new();
    let free = folder.write("satellite.toml", &SATELLITE.replace("GRAVITY", ""));
    let falls = folder.write("falls.toml", &SATELLITE.replace("GRAVITY", "gravity = [0, 0, -9.81]"));
    let leans = folder.write("leans.toml", &SATELLITE.replace("GRAVITY", "gravity = [1, 0, -9.81]"));
    let found = |file: &str, method: &str| {
        json(&["run", file, "--method", method, "--no-reference", "--json"])["drift"].clone()
    };
    for method in ["conserving", "conserving,constraints=index3", "decaying"] {
        let drift = found(&free, method);
        for name in ["linear_momentum_space", "momentum_space", "momentum_vertical"] {
            assert!(drift[name].as_f64().unwrap() < 1e-12, "{method}: {drift}");
        }
        let drift = found(&falls, method);
        assert!(drift["momentum_vertical"].as_f64().unwrap() < 1e-11, "{method}: {drift}");
        assert!(drift.get("momentum_space").is_none(), "{drift}");
    }
    let drift = found(&free, "geometric-alpha");
    assert!(drift["linear_momentum_space"].as_f64().unwrap() < 1e-12, "{drift}");
    assert!(drift["momentum_space"].as_f64().unwrap() > 1e-8, "{drift}");
    assert_eq!(found(&leans, "conserving").as_object().unwrap().len(), 1);

    let gate = |file: &str, method: &str, limit: &str| {
        polhode(&["run", file, "--method", method, "--no-reference", "--max-drift", limit]).code
    };
    assert_eq!(gate(&free, "conserving", "momentum_space=1e-11"), Some(0));
    assert_eq!(gate(&free, "geometric-alpha", "momentum_space=1e-11"), Some(5));
    assert_eq!(gate(&falls, "conserving", "linear_momentum_space=1"), Some(2));
    let chain = example("free-chain");
    for (method, energy) in [("variational", "invariant, no claim"), ("conserving", "kept by the method")] {
        let text = fine(&["run", &chain, "--method", method, "--no-reference"]);
        let line = |start: &str| text.lines().find(|l| l.trim_start().starts_with(start)).unwrap_or_default();
        assert!(line("energy").ends_with(energy), "{text}");
        assert!(line("linear momentum in space").ends_with("kept by the method"), "{text}");
        assert!(line("angular momentum in space").ends_with("kept by the method"), "{text}");
    }
}
