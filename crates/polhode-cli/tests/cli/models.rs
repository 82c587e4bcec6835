//! Model files: what they say, what runs of them give, and what is refused and where.

use crate::common::{csv, fine, json, polhode, program, refused};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A folder with files in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the file is written");
        path.display().to_string()
    }
    fn path(&self, name: &str) -> PathBuf {
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

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
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
    assert!(json(&["run", &force, "--no-reference", "--json"])["drift"]["energy"].is_null());
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
fn what_is_wrong_is_told_where_it_stands() {
    let base = "gravity = [0, 0, -9.81]\n[parameters]\nm = 2\n[bodies.top]\nmass = \"m\"\ninertia = [1, 2, 2.5]\n[run]\nstep = 0.01\nuntil = 1\n";
    let folder = Folder::new();
    let file = folder.write("x.toml", base);
    fine(&["run", &file, "--no-reference"]);
    let with = |from: &str, to: &str| base.replace(from, to);
    for (text, place, said) in [
        (with("mass = ", "mas = "), "x.toml:5:1: ", "did you mean mass?"),
        (with("\"m\"", "\"k\""), "x.toml:5:9: ", "nothing is called 'k' here"),
        (with("\"m\"", "\"m +\""), "x.toml:5:12: ", "but the expression ends here"),
        (
            with("\"m\"", "true"),
            "x.toml:5:8: ",
            "mass must be a number or an expression in quotes, not true or false",
        ),
        (with("[1, 2, 2.5]", "[1, 2, 20]"), "x.toml:6:11: ", "A + B >= C"),
        (with("[1, 2, 2.5]", "[1, 2]"), "x.toml:6:11: ", "3 or 6 or 9 numbers, got 2"),
        (with("[1, 2, 2.5]", "[[1, 0, 0.5], [0, 1, 0], [0, 0, 1]]"), "x.toml:6:11: ", "symmetric"),
        (with("mass = \"m\"\n", ""), "x.toml:4:9: ", "needs `mass`"),
        (with("[bodies.top]", "[bodies.ground]"), "x.toml:4:9: ", "does not move"),
        (with("mass = \"m\"", "mass = \"1 / (m - 2)\""), "x.toml:5:8: ", "division by zero"),
        (with("mass = \"m\"", "mass = 1\nmass = 2"), "x.toml:6:1: ", "not TOML"),
        (with("m = 2", "m = \"m + 1\""), "x.toml:3:6: ", "m depends on itself"),
        (with("m = 2", "m = \"n\"\nn = 1"), "x.toml:3:6: ", "further down"),
        (with("m = 2", "sin = 2"), "x.toml:3:1: ", "means something else"),
        (with("inertia", "density = 3\ninertia"), "x.toml:6:1: ", "no shape"),
        (
            with("inertia = ", "shape = { box = [1, 1, 1] }\ninertia = "),
            "x.toml:7:1: ",
            "leave one of them out",
        ),
        (
            with("[run]", "[[loads]]\nbody = \"tpo\"\nmoment_body = [1, 0, 0]\n[run]"),
            "x.toml:8:8: ",
            "did you mean top?",
        ),
        (with("[run]", "[[loads]]\nbody = \"top\"\n[run]"), "x.toml:7:1: ", "has no value"),
        (
            with("[run]", "[[loads]]\nbody = \"top\"\nmoment_body = [\"omega_bdoy_x\", 0, 0]\n[run]"),
            "x.toml:9:17: ",
            "did you mean omega_body_x",
        ),
        (
            with("[run]", "[[loads]]\nbody = \"top\"\nmoment_body = [1, 0, 0]\nfrom = 2\nuntil = 1\n[run]"),
            "x.toml:11:9: ",
            "1 is not after 2",
        ),
        (
            with(
                "[run]",
                "[[loads]]\nbody = \"top\"\nmoment_body = { table = \"no.csv\", columns = [\"a\", \"b\", \"c\"] }\n[run]",
            ),
            "x.toml:9:25: ",
            "no.csv",
        ),
        (
            with("[run]", "[joints.j]\ntype = \"revolut\"\nbetween = [\"ground\", \"top\"]\n[run]"),
            "x.toml:8:8: ",
            "did you mean revolute?",
        ),
        (
            with("[run]", "[joints.j]\ntype = \"spherical\"\nbetween = [\"ground\", \"tip\"]\n[run]"),
            "x.toml:9:22: ",
            "did you mean top?",
        ),
        (
            with(
                "[run]",
                "[joints.j]\ntype = \"spherical\"\nbetween = [\"ground\", \"top\"]\ndrive = \"t\"\n[run]",
            ),
            "x.toml:10:1: ",
            "one coordinate",
        ),
        (
            with(
                "[run]",
                "[joints.j]\ntype = \"revolute\"\nbetween = [\"ground\", \"top\"]\ndrive = \"t\"\n[run]",
            ),
            "x.toml:10:1: ",
            "not available yet",
        ),
        (with("[run]", "[events.e]\nwhen = \"t - 1\"\n[run]"), "x.toml:7:9: ", "not available yet"),
        (with("[run]", "[outputs]\na = \"velocty_x\"\n[run]"), "x.toml:8:6: ", "did you mean velocity_x"),
        (
            with("[run]", "[outputs]\na = \"1 / velocity_x\"\n[run]"),
            "x.toml:8:5: ",
            "not finite at the start",
        ),
        (with("[run]", "[outputs]\nenergy = \"t\"\n[run]"), "x.toml:8:10: ", "another name"),
        (format!("format = 2\n{base}"), "x.toml:1:10: ", "format 2 is not known"),
        (with("step = 0.01", "step = -1"), "x.toml:8:8: ", "positive"),
        (with("gravity = [0, 0, -9.81]", "gravity = [0, 0, 1e400]"), "x.toml:1:18: ", "too large"),
    ] {
        let file = folder.write("x.toml", &text);
        for command in ["run", "check"] {
            let said_now = polhode(&[command, &file]);
            assert_eq!((said_now.code, said_now.out.as_str()), (Some(3), ""), "{text}\n{}", said_now.err);
            assert!(
                said_now.err.contains(place) && said_now.err.contains(said),
                "{place}{said}\n{text}\n{}",
                said_now.err
            );
            assert!(
                said_now.err.lines().any(|line| line.trim_start().starts_with("| ") && line.contains('^')),
                "{}",
                said_now.err
            );
        }
    }
    refused(2, &["run", "no-such-file.toml"], &["cannot read the model no-such-file.toml"]);
    refused(2, &["run", "fast-tpo"], &["did you mean fast-top?", "FILE.toml"]);
    let bare = folder.write("bare.toml", &base.replace("step = 0.01\n", ""));
    refused(2, &["run", &bare], &["says no step", "--step H"]);
    fine(&["run", &bare, "--step", "0.1", "--no-reference"]);
}

#[test]
fn numbers_of_every_kind_mean_what_they_say() {
    let folder = Folder::new();
    let body = |keys: &str| {
        format!("[bodies.b]\nmass = 2\ninertia = [1, 2, 2.5]\n{keys}\n[run]\nstep = 0.01\nuntil = 0\n")
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
        let text = format!("[bodies.b]\nmass = {mass}\n{shape}\n[run]\nstep = 0.1\nuntil = 0\n");
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

/// A small part of JSON Schema: what ours uses.
fn valid(schema: &Value, root: &Value, value: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").ok_or("a reference")?;
        return valid(&root["$defs"][name], root, value);
    }
    if let Some(ways) = schema["anyOf"].as_array() {
        let tried: Vec<_> = ways.iter().map(|way| valid(way, root, value)).collect();
        return match tried.iter().any(Result::is_ok) {
            true => Ok(()),
            false => Err(format!("{value}: {tried:?}")),
        };
    }
    if let Some(words) = schema["enum"].as_array() {
        return if words.contains(value) { Ok(()) } else { Err(format!("{value} is not one of {words:?}")) };
    }
    match schema["type"].as_str() {
        None => Ok(()),
        Some("number") => value.is_number().then_some(()).ok_or_else(|| format!("{value} is no number")),
        Some("string") => value.is_string().then_some(()).ok_or_else(|| format!("{value} is no text")),
        Some("boolean") => value.is_boolean().then_some(()).ok_or_else(|| format!("{value} is no flag")),
        Some("array") => {
            let list = value.as_array().ok_or_else(|| format!("{value} is no array"))?;
            let bounds =
                [schema["minItems"].as_u64().unwrap_or(0), schema["maxItems"].as_u64().unwrap_or(u64::MAX)];
            if !(bounds[0]..=bounds[1]).contains(&(list.len() as u64)) {
                return Err(format!("{value} has {} items", list.len()));
            }
            list.iter().try_for_each(|item| valid(&schema["items"], root, item))
        }
        Some("object") => {
            let map = value.as_object().ok_or_else(|| format!("{value} is no table"))?;
            for key in schema["required"].as_array().into_iter().flatten() {
                let key = key.as_str().unwrap_or_default();
                map.get(key).ok_or_else(|| format!("{key} is missing in {value}"))?;
            }
            for (key, inner) in map {
                match (&schema["properties"][key], &schema["additionalProperties"]) {
                    (Value::Null, Value::Object(_)) => valid(&schema["additionalProperties"], root, inner)?,
                    (Value::Null, _) => return Err(format!("there is no key {key}")),
                    (known, _) => valid(known, root, inner)?,
                }
            }
            Ok(())
        }
        Some(other) => Err(format!("the type {other} is not known to this test")),
    }
}

#[test]
fn every_example_fits_the_schema() {
    let schema = json(&["schema"]);
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../polhode/models");
    let mut count = 0;
    for folder in [templates, models] {
        for entry in std::fs::read_dir(folder).expect("the folder") {
            let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a file");
            let table: toml::Table = toml::from_str(&text).expect("TOML");
            let value = serde_json::to_value(table).expect("JSON");
            valid(&schema, &schema, &value).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut wrong = value.clone();
            wrong["bodies"]["new"] = serde_json::json!({ "mas": 1 });
            assert!(valid(&schema, &schema, &wrong).is_err());
            count += 1;
        }
    }
    assert_eq!(count, 24);
}
