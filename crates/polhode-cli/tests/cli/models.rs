//! Model files: what they say, what runs of them give, and what is refused and where.

use crate::common::{csv, fine, json, number, program, refused};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

/// A folder with files in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the file is written");
        path.display().to_string()
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn vector(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn near(value: &Value, expected: &[f64], tolerance: f64) {
    let seen = vector(value);
    assert_eq!(seen.len(), expected.len());
    assert!(seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance), "{seen:?} {expected:?}");
}

/// Products of inertia, the gravity gradient as a potential, and a torque from a table.
const SATELLITE: &str = r#"
title = "satellite"
[parameters]
n = 0.05
[bodies.satellite]
mass = 100
inertia = [10, 12, 15, 0.7, -0.4, 0.3]
attitude = [0.3, -0.2, 0.5]
omega_body = [0.01, 0.2, -0.05]
fixed_point = true
[[loads]]
body = "satellite"
potential = """3/2 * n^2 * (inertia_xx * attitude_zx^2 + inertia_yy * attitude_zy^2 + inertia_zz * attitude_zz^2
  + 2*inertia_xy*attitude_zx*attitude_zy + 2*inertia_xz*attitude_zx*attitude_zz + 2*inertia_yz*attitude_zy*attitude_zz)"""
# torque
[[loads]]
body = "satellite"
moment_body = { table = "torque.csv", time = "t", columns = ["mx", "my", "mz"] }
[outputs]
tilt = "acos(attitude_zz)"
[run]
method = "mkrk:gauss2"
step = 0.05
until = 20
"#;

fn torque() -> String {
    let mut text = "t,mx,my,mz\n".to_string();
    for k in 0..=20 {
        let t = f64::from(k);
        let last = if k % 3 == 0 { 0.04 } else { -0.02 };
        text.push_str(&format!("{t},{},{},{last}\n", 0.05 * (0.7 * t).sin(), 0.03 * (0.4 * t).cos()));
    }
    text
}

#[test]
fn a_satellite_moves_as_another_program_has_it() {
    let folder = Folder::new();
    folder.write("torque.csv", &torque());
    let file = folder.write("satellite.toml", SATELLITE);
    let run = json(&["run", &file, "--json"]);
    // Dormand and Prince's eighth-order method of another library, at a tolerance of 1e-13.
    near(
        &run["q_wxyz"],
        &[-0.3708752441371844, -0.06206636831390574, 0.9113930704057819, -0.16721839141322942],
        1e-11,
    );
    near(&run["omega_body"], &[0.04331321755457532, 0.20840583124454795, -0.02502044415045589], 1e-11);
    assert!((number(&run["outputs"]["tilt"]) - 2.303630794026124).abs() < 1e-10);
    assert!(number(&run["error"]["attitude_angle"]) < 1e-11);
    // The rows of the table lie inside the steps, and the order is kept.
    let error =
        |step: &str| number(&json(&["run", &file, "--step", step, "--json"])["error"]["attitude_angle"]);
    let ratio = error("0.3") / error("0.15");
    assert!((11.0..22.0).contains(&ratio), "{ratio}");
    refused(3, &["run", &file, "--until", "20.5"], &["satellite.toml:16:1", "t = 20.5", "from t = 0 to 20"]);
}

#[test]
fn potentials_are_kept_by_the_methods_that_keep_any() {
    let folder = Folder::new();
    let quiet = SATELLITE.split("# torque").next().unwrap_or_default();
    let text = format!("{quiet}[run]\nstep = 0.5\nuntil = 200\n");
    let file = folder.write("quiet.toml", &text);
    for method in ["convected-reduced", "preserving:exp,load=finite-derivative"] {
        let run = json(&["run", &file, "--method", method, "--no-reference", "--json"]);
        assert!(number(&run["drift"]["energy"]) < 1e-13, "{method}: {}", run["drift"]);
    }
    let other = json(&["run", &file, "--method", "imidm", "--no-reference", "--json"]);
    assert!(number(&other["drift"]["energy"]) > 1e-8);
}

#[test]
fn derivatives_by_parameters_and_by_elements_are_those_of_differences() {
    let folder = Folder::new();
    folder.write("torque.csv", &torque());
    let satellite = folder.write("satellite.toml", SATELLITE);
    let pendulum = folder.write("pendulum.toml", PENDULUM);
    let switched = folder.write("switched.toml", SWITCHED);
    let cases: [(&str, &str, f64, &[&str]); 8] = [
        (&satellite, "n", 0.05, &["--until", "5"]),
        (&satellite, "satellite.inertia_xy", 0.7, &["--until", "5"]),
        (&satellite, "satellite.inertia_zz", 15.0, &["--until", "5", "--method", "akw"]),
        (&pendulum, "k", 40.0, &[]),
        (&pendulum, "bob.mass", 1.5, &[]),
        (&pendulum, "bob.position_x", 0.8, &[]),
        (&switched, "push", 3.0, &[]),
        (&switched, "arm.mass", 1.2, &[]),
    ];
    for (file, name, value, more) in cases {
        let mut args = vec!["sensitivity", file, "--parameters", name, "--json"];
        args.extend(more);
        let exact = json(&args);
        let h = 1e-4 * value;
        let at = |x: f64| {
            let set = format!("{name}={x:?}");
            let mut args = vec!["run", file, "--no-reference", "--json", "--set", &set];
            args.extend(more);
            json(&args)
        };
        let (above, below) = (at(value + h), at(value - h));
        let outputs = exact["derivatives"][name]["outputs"].as_object().expect("outputs");
        for (output, slope) in outputs {
            let difference =
                (number(&above["outputs"][output]) - number(&below["outputs"][output])) / (2.0 * h);
            let scale = difference.abs().max(1e-3);
            assert!(
                (number(slope) - difference).abs() < 2e-6 * scale,
                "{file} {name} {output}: {slope} {difference}"
            );
        }
    }
    refused(
        4,
        &["sensitivity", &switched, "--parameters", "off"],
        &["off is the time at which a load switches"],
    );
}

/// A bob on a spring with a law of its own.
const PENDULUM: &str = r#"
gravity = [0, 0, -9.81]
[parameters]
k = 40
l0 = 1
[bodies.bob]
mass = 1.5
inertia = [0.01, 0.01, 0.01]
position = [0.8, 0, -0.7]
velocity = [0, 0.5, 0]
[forces.spring]
type = "line"
between = ["ground", "bob"]
force = "k * (length - l0) + 3 * (length - l0)^3"
[outputs]
height = "bob.position_z"
length = "sqrt(bob.position_x^2 + bob.position_y^2 + bob.position_z^2)"
[run]
method = "geometric-alpha"
step = 1e-3
until = 1
"#;

/// An arm on a hinge, pushed for a while that begins and ends inside steps.
const SWITCHED: &str = r#"
[parameters]
push = 3
off = 0.305
[bodies.arm]
shape = { box = [0.5, 0.05, 0.02] }
mass = 1.2
position = [0.25, 0, 0]
[joints.hinge]
type = "revolute"
between = ["ground", "arm"]
at = [0, 0, 0]
axis = [0, 0, 1]
[[loads]]
body = "arm"
moment_body = [0, 0, "push"]
from = 0.1033
until = "off"
[outputs]
turned = "atan2(arm.attitude_yx, arm.attitude_xx)"
rate = "arm.omega_body_z"
[run]
method = "geometric-alpha"
step = 0.01
until = 0.5
"#;

#[test]
fn a_spring_of_its_own_keeps_its_energy_to_the_order_of_the_method() {
    let folder = Folder::new();
    let file = folder.write(
        "p.toml",
        &PENDULUM.replace(
            "force = \"k * (length - l0) + 3 * (length - l0)^3\"",
            "potential = \"k/2 * (length - l0)^2 + 3/4 * (length - l0)^4\"",
        ),
    );
    let drift = |step: &str| {
        number(&json(&["run", &file, "--no-reference", "--json", "--step", step])["drift"]["energy"])
    };
    let ratio = drift("4e-3") / drift("2e-3");
    assert!((3.4..4.6).contains(&ratio), "{ratio}");
    // The same motion as by its force.
    let force = folder.write("f.toml", PENDULUM);
    let [a, b] = [&file, &force]
        .map(|file| json(&["run", file, "--no-reference", "--json"])["bodies"]["bob"]["position"].clone());
    near(&a, &vector(&b), 1e-13);
    // Its work is counted where it has no potential.
    let worked = json(&["run", &force, "--no-reference", "--json"]);
    assert!(number(&worked["work"]).abs() > 1e-3 && number(&worked["drift"]["energy"]) < 1e-4, "{worked}");
}

#[test]
fn loads_of_systems_switch_where_they_should() {
    let folder = Folder::new();
    let file = folder.write("s.toml", SWITCHED);
    // Its moment about the hinge is that of a box about its end.
    let inertia = 1.2 * ((0.5f64 * 0.5 + 0.05 * 0.05) / 12.0 + 0.25 * 0.25);
    let rate = 3.0 * (0.305 - 0.1033) / inertia;
    let turned = 0.5 * rate * (0.305 - 0.1033) + rate * (0.5 - 0.305);
    let error = |method: &str, step: &str| {
        let run = json(&["run", &file, "--method", method, "--step", step, "--no-reference", "--json"]);
        // Exactly so much momentum, whatever the step.
        assert!(
            (number(&run["outputs"]["rate"]) - rate).abs() < 1e-3 * rate,
            "{method} {step}: {}",
            run["outputs"]
        );
        (number(&run["outputs"]["turned"]) - turned).abs()
    };
    for method in ["geometric-alpha", "linear-alpha,constraints=stabilized"] {
        let [coarse, fine] = ["0.01", "0.005"].map(|step| error(method, step));
        assert!(fine < 1e-3 && coarse / fine > 3.5, "{method}: {coarse:.2e} {fine:.2e}");
    }
}

#[test]
fn a_tree_of_every_joint() {
    let folder = Folder::new();
    let mut text = "gravity = [0, 0, -9.81]\n".to_string();
    let joints = [
        "type = \"spherical\"",
        "type = \"revolute\"\naxis = [0, 1, 0]",
        "type = \"universal\"\naxis = [0, 1, 0]\naxis2 = [0, 0, 1]",
        "type = \"cylindrical\"\naxis = [1, 0, 0]",
        "type = \"prismatic\"\naxis = [0, 0, -1]\nstiffness = 300",
        "type = \"planar\"\naxis = [1, 0, 0]",
        "type = \"fixed\"",
        "type = \"distance\"",
    ];
    let mut before = "ground".to_string();
    for (k, joint) in joints.iter().enumerate() {
        let (name, x) = (format!("b{k}"), 0.2 + 0.4 * k as f64);
        text.push_str(&format!(
            "[bodies.{name}]\nshape = {{ box = [0.3, 0.2, 0.1] }}\nmass = 1\nposition = [{x}, 0, 0]\n"
        ));
        let at =
            if joint.contains("distance") { String::new() } else { format!("at = [{}, 0, 0]\n", x - 0.2) };
        text.push_str(&format!("[joints.j{k}]\n{joint}\nbetween = [\"{before}\", \"{name}\"]\n{at}"));
        before = name;
    }
    text.push_str("[run]\nmethod = \"geometric-alpha\"\nstep = 1e-3\nuntil = 0.2\n");
    let file = folder.write("tree.toml", &text);
    let check = json(&["check", &file, "--json"]);
    // 48 less 3, 5, 4, 4, 5, 3, 6 and 1.
    assert_eq!(check["degrees_of_freedom"], 17);
    assert_eq!(check["redundant_rows"], 0);
    assert_eq!(check["joints"]["j2"]["type"], "universal");
    let run = json(&["run", &file, "--json"]);
    assert!(number(&run["drift"]["energy"]) < 1e-4, "{}", run["drift"]);
    assert!(
        number(&run["error"]["attitude_angle"]) < 1e-4
            && number(&run["constraint_violation"]["position"]) < 1e-13
    );
}

#[test]
fn numbers_of_every_kind_mean_what_they_say() {
    let folder = Folder::new();
    let body = |keys: &str| {
        format!("[bodies.b]\nmass = 2\ninertia = [1, 2, 2.5]\n{keys}\n[run]\nstep = 0.01\nuntil = 1\n")
    };
    let start = |keys: &str| {
        let file = folder.write("b.toml", &body(keys));
        json(&["check", &file, "--json"])["bodies"]["b"].clone()
    };
    let half = core::f64::consts::FRAC_1_SQRT_2;
    for attitude in [
        "attitude_deg = [0, 0, 90]",
        "attitude = [\"0\", 0, \"pi / 2\"]",
        "attitude = [0.7071067811865476, 0, 0, 0.7071067811865476]",
        "attitude = { q_xyzw = [0, 0, 0.70710678, 0.70710678] }",
        "attitude = { axis = [0, 0, 3], angle_deg = 90 }",
        "attitude = { matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]] }",
        "attitude = { euler = \"zxz\", angles_deg = [30, 0, 60] }",
        "attitude = { euler = \"xzy\", angles = [0, \"pi/2\", 0] }",
    ] {
        near(&start(attitude)["q_wxyz"], &[half, 0.0, 0.0, half], 1e-7);
    }
    // Turns in the order of the letters, each about the axes that the ones before have left.
    let euler = start("attitude = { euler = \"zyx\", angles = [0.3, 0.4, 0.5] }");
    near(
        &euler["q_wxyz"],
        &[0.9462808319656861, 0.2109838268563661, 0.2265663068902134, 0.0933065937729005],
        1e-14,
    );
    let shapes = [
        (
            "shape = { box = [0.1, 0.2, 0.3] }",
            6.0,
            [6.0 * 0.05 / 12.0, 6.0 * 0.10 / 12.0, 6.0 * 0.13 / 12.0],
            [0.0; 3],
        ),
        ("shape = { sphere = 0.5 }", 6.0, [0.6, 0.6, 0.6], [0.0; 3]),
        ("shape = { cylinder = [0.2, 1.0] }", 6.0, [0.12, 0.56, 0.56], [0.0; 3]),
        ("shape = { tube = [0.2, 0.1, 1.0] }", 6.0, [0.15, 0.575, 0.575], [0.0; 3]),
        ("shape = { cone = [0.2, 1.0] }", 6.0, [0.072, 0.261, 0.261], [0.0, 0.0, 0.75]),
        ("shape = { ellipsoid = [0.1, 0.2, 0.3] }", 6.0, [0.06, 0.12, 0.156], [0.0; 3]),
    ];
    for (shape, mass, moments, center) in shapes {
        let text = format!("[bodies.b]\nmass = {mass}\n{shape}\n[run]\nstep = 0.1\nuntil = 1\n");
        let file = folder.write("s.toml", &text);
        let body = json(&["check", &file, "--json"])["bodies"]["b"].clone();
        near(&body["principal_moments"], &moments, 1e-12);
        near(&body["center"], &center, 1e-15);
    }
    let dense = folder.write("d.toml", "[bodies.b]\nshape = { box = [0.1, 0.2, 0.3] }\ndensity = 1000\n");
    assert!((number(&json(&["check", &dense, "--json"])["bodies"]["b"]["mass"]) - 6.0).abs() < 1e-12);
    // A change of the mass of a solid changes its inertia with it.
    let heavy = json(&["check", &dense, "--set", "b.mass=12", "--json"])["bodies"]["b"].clone();
    near(&heavy["principal_moments"], &[0.05, 0.1, 0.13], 1e-12);
    let about_origin = folder
        .write("o.toml", "[bodies.b]\nmass = 2\ncenter = [0, 0, 0.5]\ninertia_origin = [1.5, 1.6, 0.5]\n");
    near(
        &json(&["check", &about_origin, "--json"])["bodies"]["b"]["principal_moments"],
        &[0.5, 1.0, 1.1],
        1e-14,
    );
}

#[test]
fn closed_solutions_are_recognised_whoever_wrote_the_file() {
    let folder = Folder::new();
    let tail = "[run]\nmethod = \"mkrk:gauss4\"\nstep = 0.004\nuntil = 1\n";
    let heavy = "[bodies.top]\nmass = 15\ncenter = [0, 1, 0]\ninertia = [0.234375, 0.46875, 0.234375]\nattitude = [0.3, 0.1, 0]\nomega_body = [0, 50, -4.61538]\nfixed_point = true\n";
    for (text, source) in [
        (format!("gravity = [0, 0, -9.81]\n{heavy}{tail}"), "Lagrange top"),
        // Weight along another axis of space.
        (format!("gravity = [0, 9.81, 0]\n{heavy}{tail}"), "Lagrange top"),
        (format!("{heavy}{tail}"), "Jacobi"),
        (
            format!(
                "gravity = [0, 0, -9.81]\n{}{tail}",
                heavy.replace("fixed_point = true\n", "velocity = [1, 2, 3]\n")
            ),
            "parabola",
        ),
        (
            format!(
                "gravity = [0, 0, -9.81]\n{}{tail}",
                heavy.replace("0.234375, 0.46875, 0.234375", "0.234375, 0.46875, 0.25")
            ),
            "extrapolation",
        ),
    ] {
        let file = folder.write("t.toml", &text);
        let run = json(&["run", &file, "--json"]);
        assert!(
            run["error"]["source"].as_str().is_some_and(|known| known.contains(source)),
            "{text} {}",
            run["error"]
        );
        assert!(number(&run["error"]["attitude_angle"]) < 1e-10, "{text} {}", run["error"]);
        assert!(
            json(&["check", &file, "--json"])["reference"]
                .as_str()
                .is_some_and(|known| known.contains(source))
        );
    }
}

#[test]
fn a_model_comes_from_standard_input_too() {
    let mut child = program()
        .args(["run", "-", "--no-reference", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let text =
        "[bodies.b]\nmass = 1\ninertia = [1, 2, 2.5]\nomega_body = [0, 1, 0]\n[run]\nstep = 0.1\nuntil = 1\n";
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (output.status.code(), &run["problem"], &run["method"]),
        (Some(0), &Value::from("standard input"), &Value::from("akw"))
    );
}

#[test]
fn outputs_are_columns_and_can_be_fitted() {
    let folder = Folder::new();
    let file = folder.write("p.toml", PENDULUM);
    let motion = folder.path("motion.csv");
    let path = motion.display().to_string();
    fine(&["run", &file, "--set", "k=43", "--out", &path, "--every", "20", "--no-reference"]);
    let (header, rows) = csv(&motion);
    let at = |name: &str| {
        header.iter().position(|column| column == name).unwrap_or_else(|| panic!("{name} in {header:?}"))
    };
    let (height, position) = (at("height"), at("bob.position_z"));
    assert!(rows.iter().all(|row| row[height] == row[position]));
    let fit = json(&[
        "fit",
        &file,
        "--data",
        &path,
        "--parameters",
        "k",
        "--quiet",
        "--columns",
        "height,length",
        "--json",
    ]);
    let found = &fit["values"]["k"];
    assert!((number(found) - 43.0).abs() < 1e-6, "{fit}");
}

#[test]
fn starting_files_run_and_are_left_alone() {
    let folder = Folder::new();
    for kind in ["satellite", "top", "pendulum", "mechanism"] {
        let path = folder.path(&format!("my-{kind}.toml"));
        let name = path.display().to_string();
        let said = fine(&["new", kind, &name]);
        assert!(said.contains(&format!("polhode run {name}")), "{said}");
        fine(&["check", &name]);
        let run = json(&["run", &name, "--json", "--no-reference"]);
        assert!(run["outputs"].as_object().is_some_and(|outputs| !outputs.is_empty()), "{kind}");
        let before = std::fs::read_to_string(&path).expect("the file");
        refused(2, &["new", kind, &name], &["is there already and was left as it is"]);
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), before);
    }
    refused(2, &["new", "rocket"], &["there are satellite, top, pendulum, mechanism"]);
}

#[test]
fn the_catalogue_prints_as_files_that_run_alike() {
    let folder = Folder::new();
    let all = json(&["problems", "--json"]);
    for problem in all.as_array().expect("a list") {
        let id = problem["id"].as_str().expect("an id");
        let file = folder.write(&format!("{id}.toml"), &fine(&["problems", id, "--toml"]));
        let until = format!("{:?}", 20.0 * number(&problem["step"]));
        let run = |word: &str| {
            let mut run = json(&["run", word, "--until", &until, "--no-reference", "--json"]);
            let map = run.as_object_mut().expect("an object");
            ["seconds", "ns_per_step", "problem"].iter().for_each(|key| {
                map.remove(*key);
            });
            run
        };
        assert_eq!(run(id), run(&file), "{id}");
    }
}

/// What a file says and what is set from outside come to the same.
#[test]
fn numbers_of_elements_that_are_set_are_those_of_an_edited_file() {
    const ARM: &str = "gravity = [0, 0, -9.81]\n[parameters]\nbase = 2\nspan = \"base / 2\"\nmoments = [\"0.05 * base\", 0.2, 0.2]\n[bodies.arm]\nmass = 1\ninertia = \"moments\"\nposition = [\"span\", 0, 0]\nattitude = [0.1, 0, 0]\n[joints.j]\ntype = \"revolute\"\nbetween = [\"ground\", \"arm\"]\nat = [0, 0, 0]\naxis = [0, 1, 0]\n[run]\nmethod = \"geometric-alpha\"\nstep = 1e-2\nuntil = 0.3\n";
    let folder = Folder::new();
    let end = |text: &str, set: &str| {
        let file = folder.write("arm.toml", text);
        let mut args = vec!["run", file.as_str(), "--no-reference", "--json"];
        if !set.is_empty() {
            args.extend(["--set", set]);
        }
        json(&args)["bodies"].clone()
    };
    for (set, from, to) in [
        ("arm.position_x=1.2", "position = [\"span\", 0, 0]", "position = [1.2, 0, 0]"),
        ("arm.center_x=0.3", "mass = 1\n", "mass = 1\ncenter = [0.3, 0, 0]\n"),
        ("arm.mass=2.5", "mass = 1\n", "mass = 2.5\n"),
        ("arm.inertia=0.15,0.2,0.3", "inertia = \"moments\"", "inertia = [0.15, 0.2, 0.3]"),
        ("base=3", "base = 2", "base = 3"),
        ("moments_y=0.25", "0.2, 0.2]", "0.25, 0.2]"),
        ("gravity_z=-5", "-9.81", "-5"),
    ] {
        let [a, b] = [end(ARM, set), end(&ARM.replace(from, to), "")];
        for key in ["position", "omega_body"] {
            near(&a["arm"][key], &vector(&b["arm"][key]), 1e-12);
        }
    }
    let file = folder.write("arm.toml", ARM);
    refused(3, &["run", &file, "--set", "arm.mass=-1"], &["mass must be positive, got -1"]);
    refused(3, &["run", &file, "--set", "arm.inertia_xx=0.9"], &["A + B >= C"]);
}

/// What has no slope at a point has none that is not a number.
#[test]
fn drag_from_rest_and_a_tilt_of_nothing_have_derivatives() {
    let folder = Folder::new();
    let text = "gravity = [0, 0, -1]\n[parameters]\nc = 0.3\n[bodies.b]\nmass = 1\ninertia = [1, 2, 2.5]\nomega_body = [0.3, 0, 0]\n[[loads]]\nbody = \"b\"\nforce_space = [0, 0, \"-c * velocity_z * sqrt(velocity_x^2 + velocity_z^2)\"]\n[outputs]\ntilt = \"acos(attitude_zz)\"\nz = \"position_z\"\n[run]\nstep = 0.01\nuntil = 1\n";
    let file = folder.write("drag.toml", text);
    for method in ["akw", "geometric-alpha"] {
        let slopes = json(&["sensitivity", &file, "--method", method, "--parameters", "c", "--json"]);
        let at = |c: &str| {
            number(
                &json(&["run", &file, "--method", method, "--set", c, "--no-reference", "--json"])["outputs"]
                    ["z"],
            )
        };
        let difference = (at("c=0.3001") - at("c=0.2999")) / 2e-4;
        let slope = number(&slopes["derivatives"]["c"]["outputs"]["z"]);
        assert!((slope - difference).abs() < 1e-6 && slope > 0.01, "{method}: {slope} {difference}");
    }
}

#[test]
fn a_tableau_lies_beside_the_model_that_names_it() {
    let folder = Folder::new();
    folder.write("midpoint.toml", "a = [[\"1/2\"]]\nb = [1]\n");
    for method in ["mkrk:midpoint.toml", "compose:mkrk:midpoint.toml:4"] {
        let file = folder.write(
            "top.toml",
            &format!(
                "[bodies.top]\ninertia_origin = [1, 2, 2.5]\nomega_body = [0.1, 1, 0]\nfixed_point = true\n\
             [run]\nmethod = \"{method}\"\nstep = 0.01\nuntil = 0.1\n"
            ),
        );
        let found = json(&["run", &file, "--json"]);
        assert_eq!(found["steps"], 10, "{found}");
    }
}
