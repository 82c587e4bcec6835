//! Joints of model files: drives, motors, springs, coordinates at the start, reactions, redundancy.

use crate::common::{fine, json, number, refused};
use crate::models::Folder;
use serde_json::Value;

/// Crank, rod and slider, all joints as drawn.
const CRANK: &str = r#"
gravity = [0, -9.81, 0]
[parameters]
crank = 0.1
rod = 0.3
speed = 20
[bodies.crank]
shape = { rod = "crank" }
mass = 0.2
[bodies.rod]
shape = { rod = "rod" }
mass = 0.4
position = ["crank", 0, 0]
[bodies.slider]
shape = { box = [0.08, 0.05, 0.05] }
mass = 1
position = ["crank + rod", 0, 0]
[joints.bearing]
type = "revolute"
between = ["ground", "crank"]
at = [0, 0, 0]
axis = [0, 0, 1]
drive = "speed * t"
[joints.crankpin]
type = "revolute"
between = ["crank", "rod"]
at = ["crank", 0, 0]
axis = [0, 0, 1]
[joints.wristpin]
type = "revolute"
between = ["rod", "slider"]
at = ["crank + rod", 0, 0]
axis = [0, 0, 1]
[joints.rail]
type = "prismatic"
between = ["ground", "slider"]
at = ["crank + rod", 0, 0]
axis = [1, 0, 0]
stiffness = 500
rest = 0
[outputs]
drive_moment = "bearing.moment_axis"
stroke = "slider.position_x"
[run]
method = "geometric-alpha"
step = 1e-3
until = 0.3
"#;

/// The moment of the drive of [`CRANK`] at t = 0.3 s, from Lagrange's equation with the crank angle as the only coordinate,
/// differentiated symbolically by sympy 1.14.
const DRIVE_MOMENT: f64 = -2.086_968_400_804_825;

#[test]
fn a_driven_slider_crank_has_the_moment_of_inverse_dynamics() {
    let folder = Folder::new();
    let file = folder.write("crank.toml", CRANK);
    for method in ["geometric-alpha", "linear-alpha", "linear-alpha,constraints=stabilized"] {
        let run = |step: &str| {
            json(&["run", &file, "--no-reference", "--json", "--step", step, "--method", method])
        };
        let error = |run: &Value| (number(&run["outputs"]["drive_moment"]) - DRIVE_MOMENT).abs();
        let [coarse, fine] = ["1e-3", "5e-4"].map(run);
        assert!(error(&coarse) < 1e-3, "{method}: {}", error(&coarse));
        let ratio = error(&coarse) / error(&fine);
        assert!((3.4..4.6).contains(&ratio), "{method}: {ratio}");
        // The angle is exact, and the balance of energy and work closes with the order of the method.
        assert!((number(&coarse["joints"]["bearing"]["angle"]) - 6.0).abs() < 1e-12);
        let drift = |run: &Value| number(&run["drift"]["energy"]);
        assert!(
            drift(&coarse) < 1e-3 && drift(&coarse) / drift(&fine) > 3.0,
            "{method}: {}",
            coarse["drift"]
        );
        assert_eq!(
            (&coarse["degrees_of_freedom"], &coarse["redundant_rows"]),
            (&Value::from(0), &Value::from(3))
        );
    }
    // Index 3 has the rounding of positions over h² in its reactions.
    let method = "geometric-alpha,constraints=stabilized";
    let [a, b] = ["4e-4", "2e-4"].map(|step| {
        let run = json(&["run", &file, "--no-reference", "--json", "--step", step, "--method", method]);
        number(&run["outputs"]["drive_moment"])
    });
    // Extrapolated.
    assert!((b + (b - a) / 3.0 - DRIVE_MOMENT).abs() < 1e-9, "{:e}", b + (b - a) / 3.0 - DRIVE_MOMENT);
}

#[test]
fn derivatives_of_driven_and_redundant_systems_are_those_of_differences() {
    let folder = Folder::new();
    let file = folder.write("crank.toml", CRANK);
    let names = "speed,rod,crank,slider.mass,rail.stiffness,rail.rest,gravity_y";
    let said = json(&["sensitivity", &file, "-p", names, "--until", "0.1", "--check", "--json"]);
    for parameter in names.split(',') {
        let moment = number(&said["derivatives"][parameter]["outputs"]["drive_moment"]);
        assert!(moment.is_finite());
    }
    for row in said["check"].as_array().expect("a list").iter().filter(|row| row["formula"] == "five-point") {
        let error = number(&row["relative_error"]["outputs"]["drive_moment"]);
        assert!(error < 1e-5, "{row}");
    }
}

#[test]
fn a_block_slides_to_rest() {
    let folder = Folder::new();
    let file = folder.write(
        "block.toml",
        r#"
[parameters]
mu = 0.3
[bodies.block]
shape = { box = [0.1, 0.1, 0.1] }
mass = 2
[joints.rail]
type = "prismatic"
between = ["ground", "block"]
at = [0, 0, 0]
axis = [1, 0, 0]
rate = 2
force = "-mu * 2 * 9.81 * tanh(rate / 1e-4)"
[run]
step = 1e-3
until = 0.5
"#,
    );
    let run = json(&["run", &file, "--no-reference", "--json"]);
    let rail = &run["joints"]["rail"];
    let drag = 0.3 * 9.81;
    assert!((number(&rail["rate"]) - (2.0 - drag * 0.5)).abs() < 1e-11);
    assert!((number(&rail["distance"]) - (1.0 - 0.125 * drag)).abs() < 1e-11);
    assert!((number(&rail["force_axis"]) + 2.0 * drag).abs() < 1e-12);
    assert!((number(&run["work"]) + 2.0 * drag * (1.0 - 0.125 * drag)).abs() < 1e-10);
    assert!(number(&run["drift"]["energy"]) < 1e-11, "{}", run["drift"]);
    // It comes to rest after v²/2μg.
    let rest = json(&["run", &file, "--no-reference", "--json", "--until", "0.8", "--step", "2e-5"]);
    let way = number(&rest["joints"]["rail"]["distance"]);
    assert!((way - 4.0 / (2.0 * drag)).abs() < 1e-4, "{way}");
}

#[test]
fn a_spring_in_a_joint_knows_full_turns() {
    let folder = Folder::new();
    let file = folder.write(
        "wheel.toml",
        r#"
[bodies.wheel]
shape = { cylinder = [0.2, 0.05] }
mass = 10
[joints.axle]
type = "revolute"
between = ["ground", "wheel"]
at = [0, 0, 0]
axis = [0, 0, 1]
stiffness = 5
rest = 10
angle = -3
[run]
step = 1e-4
until = 1
"#,
    );
    // 0.2 kg m²: an oscillation about 10 rad, from two turns away.
    let run = json(&["run", &file, "--no-reference", "--json"]);
    let angle = 10.0 - 13.0 * 25.0f64.sqrt().cos();
    let axle = &run["joints"]["axle"];
    assert!((number(&axle["angle"]) - angle).abs() < 2e-6, "{} {angle}", axle["angle"]);
    assert!((number(&axle["moment_axis"]) - 5.0 * (10.0 - angle)).abs() < 1e-5, "{axle}");
    // The same with a motor.
    let motor = folder.write(
        "motor.toml",
        &std::fs::read_to_string(&file)
            .unwrap()
            .replace("stiffness = 5\nrest = 10", "moment = \"5 * (10 - angle)\""),
    );
    let other = json(&["run", &motor, "--no-reference", "--json"]);
    assert!((number(&other["joints"]["axle"]["angle"]) - number(&axle["angle"])).abs() < 1e-12);
    assert!(number(&other["drift"]["energy"]) < 1e-7, "{}", other["drift"]);
}

/// Two links of which the lower one is told what the upper one does.
const TOLD: &str = r#"
gravity = [0, 0, -9.81]
[parameters]
k = 3
c = 0.4
[bodies.upper]
shape = { rod = 0.5 }
mass = 1
[bodies.lower]
shape = { rod = 0.5 }
mass = 1
position = [0.5, 0, 0]
[joints.top]
type = "revolute"
between = ["ground", "upper"]
at = [0, 0, 0]
axis = [0, 1, 0]
angle = 0.2
[joints.elbow]
type = "revolute"
between = ["upper", "lower"]
at = [0.5, 0, 0]
axis = [0, 1, 0]
moment = "-k * (angle - top.angle) - c * (rate - top.rate)"
[[loads]]
body = "lower"
force_space = ["-c * (velocity_x - upper.velocity_x)", 0, "0.5 * sin(top.angle)"]
moment_body = [0, "-0.1 * upper.omega_body_y", 0]
[outputs]
tip = "lower.position_z"
[run]
step = 1e-3
until = 0.5
"#;

/// `elbow.angle` and `top.angle` of [`TOLD`] at 0.5 s, from Lagrange's equations in both angles by scipy 1.17, DOP853 at
/// 1e-12.
const TOLD_ANGLES: [f64; 2] = [0.686_453_396_219_883, 1.525_356_629_823_123_8];

#[test]
fn motors_and_loads_look_at_other_bodies() {
    let folder = Folder::new();
    let file = folder.write("told.toml", TOLD);
    let angles = |step: &str| {
        let run = json(&["run", &file, "--no-reference", "--json", "--step", step]);
        ["elbow", "top"].map(|joint| number(&run["joints"][joint]["angle"]))
    };
    let (coarse, fine) = (angles("1e-3"), angles("5e-4"));
    for i in 0..2 {
        let limit = fine[i] + (fine[i] - coarse[i]) / 3.0;
        assert!((limit - TOLD_ANGLES[i]).abs() < 1e-8, "{limit:?} {:?}", TOLD_ANGLES[i]);
    }
    let said = json(&["sensitivity", &file, "-p", "k,c,top.angle,upper.mass", "--check", "--json"]);
    for row in said["check"].as_array().expect("a list").iter().filter(|row| row["formula"] == "five-point") {
        assert!(number(&row["relative_error"]["outputs"]["tip"]) < 1e-6, "{row}");
    }
}

#[test]
fn coordinates_at_the_start_are_held_and_fitted() {
    let folder = Folder::new();
    let file = folder.write("crank.toml", &CRANK.replace("drive = \"speed * t\"", "angle = 0.5\nrate = 3"));
    let run = json(&["run", &file, "--no-reference", "--json", "--step", "1e-6", "--until", "1e-6"]);
    let bearing = &run["joints"]["bearing"];
    assert!(
        (number(&bearing["angle"]) - 0.500003).abs() < 1e-9 && (number(&bearing["rate"]) - 3.0).abs() < 1e-3
    );
    assert!(number(&run["assembly"]["moved"]) > 0.01);
    assert!(fine(&["run", &file, "--no-reference"]).contains("moved furthest, by"));
    // What was measured of it says how it started.
    let data = folder.path("m.csv").display().to_string();
    fine(&["run", &file, "--no-reference", "--out", &data, "--every", "10"]);
    let fit = json(&[
        "fit",
        &file,
        "--data",
        &data,
        "-p",
        "bearing.rate,rail.stiffness",
        "--json",
        "--quiet",
        "--set",
        "bearing.rate=2.8",
        "--set",
        "rail.stiffness=480",
    ]);
    assert!((number(&fit["values"]["bearing.rate"]) - 3.0).abs() < 1e-6, "{fit}");
    assert!((number(&fit["values"]["rail.stiffness"]) - 500.0).abs() < 1e-3, "{fit}");
}

/// A door on two hinges.
const DOOR: &str = r#"
gravity = [0, 0, -9.81]
[bodies.door]
shape = { box = [0.9, 0.04, 2] }
mass = 20
position = [0.45, 0, 1]
[joints.low]
type = "revolute"
between = ["ground", "door"]
at = [0, 0, 0.3]
axis = [0, 0, 1]
rate = 1.0
[joints.high]
type = "revolute"
between = ["ground", "door"]
at = [0, 0, 1.7]
axis = [0, 0, 1]
[run]
step = 1e-3
until = 1
"#;

#[test]
fn redundant_joints_are_counted_named_and_share_their_load() {
    let folder = Folder::new();
    let file = folder.write("door.toml", DOOR);
    let check = json(&["check", &file, "--json"]);
    assert_eq!((&check["degrees_of_freedom"], &check["redundant_rows"]), (&Value::from(1), &Value::from(5)));
    assert_eq!(check["redundancies"].as_array().map(Vec::len), Some(5));
    assert_eq!(check["redundancies"][0], serde_json::json!(["low", "high"]));
    let words = fine(&["check", &file]);
    assert!(words.contains("5 rows forbid what is forbidden already"), "{words}");
    let run = json(&["run", &file, "--no-reference", "--json"]);
    for hinge in ["low", "high"] {
        // Half the weight each.
        assert!((number(&run["joints"][hinge]["force"][2]) - 98.1).abs() < 1e-5, "{run}");
        assert!((number(&run["joints"][hinge]["angle"]) - 1.0).abs() < 1e-6);
    }
    assert!(fine(&["run", &file, "--no-reference"]).contains("5 redundant rows"));
}

#[test]
fn bodies_of_parts_are_their_sum() {
    let folder = Folder::new();
    // A box of two halves, one of them turned, and a point that weighs nothing to speak of.
    let whole = folder.write("whole.toml", "[bodies.b]\nshape = { box = [2, 0.6, 0.4] }\nmass = 6\nomega_body = [1, 2, 3]\n[run]\nstep = 0.01\nuntil = 1\n");
    let parts = folder.write(
        "parts.toml",
        r#"
[bodies.b]
parts = [
    { shape = { box = [1, 0.6, 0.4] }, mass = 3, at = [0.5, 0, 0] },
    { shape = { box = [0.6, 1, 0.4] }, density = 12.5, at = [-0.5, 0, 0], attitude_deg = [0, 0, 90] },
]
omega_body = [1, 2, 3]
[run]
step = 0.01
until = 1
"#,
    );
    let [a, b] = [&whole, &parts].map(|file| json(&["check", file, "--json"])["bodies"]["b"].clone());
    assert!((number(&a["mass"]) - number(&b["mass"])).abs() < 1e-14);
    for i in 0..3 {
        assert!((number(&a["inertia"][i][i]) - number(&b["inertia"][i][i])).abs() < 1e-14, "{a} {b}");
        assert!(number(&b["center"][i]).abs() < 1e-15);
    }
    let file = folder.write("p.toml", "[bodies.b]\nparts = [{ mass = -1 }]\n");
    refused(3, &["check", &file], &["the mass of a part must be positive", "p.toml:2:"]);
    let file = folder.write("q.toml", "[bodies.b]\nmass = 1\nparts = [{ mass = 1 }]\n");
    refused(3, &["check", &file], &["parts", "mass"]);
}

#[test]
fn further_joints_leave_what_they_are_named_for() {
    let folder = Folder::new();
    let body = "gravity = [0, 0, -9.81]\n[bodies.b]\nshape = { box = [0.1, 0.2, 0.3] }\nmass = 2\nomega_body = [0.3, 0.2, 0.5]\n";
    let run = "[run]\nstep = 1e-3\nuntil = 0.2\n";
    for (joint, freedom) in [
        ("type = \"point-on-line\"\nat = [0, 0, 0.1]\naxis = [1, 0, 1]", 4),
        ("type = \"point-in-plane\"\nat = [0, 0, 0.1]\naxis = [1, 0, 1]", 5),
        ("type = \"parallel\"\nat = [0, 0, 0]\naxis = [0, 0.2, 1]", 4),
        ("type = \"constant-angle\"\nat = [0, 0, 0]\naxis = [0, 0, 1]\naxis2 = [1, 0, 0.4]", 5),
        ("type = \"screw\"\nat = [0, 0, 0]\naxis = [0, 0, 1]\npitch = 0.3", 1),
    ] {
        let file = folder
            .write("j.toml", &format!("{body}[joints.j]\nbetween = [\"ground\", \"b\"]\n{joint}\n{run}"));
        let seen = json(&["run", &file, "--no-reference", "--json"]);
        assert_eq!(seen["degrees_of_freedom"], freedom, "{joint}");
        assert_eq!(seen["redundant_rows"], 0, "{joint}");
        assert!(number(&seen["drift"]["energy"]) < 1e-4, "{joint}: {}", seen["drift"]);
        assert!(number(&seen["constraint_violation"]["position"]) < 1e-13, "{joint}");
    }
    // A nut of 0.2 kg m² on a thread of 0.5 m: z̈ = -m g / (m + J (2π/p)²).
    let file = folder.write(
        "s.toml",
        "gravity = [0, 0, -9.81]\n[bodies.nut]\nshape = { cylinder = [0.2, 0.05] }\nmass = 10\n[joints.thread]\ntype = \"screw\"\nbetween = [\"ground\", \"nut\"]\nat = [0, 0, 0]\naxis = [0, 0, 1]\npitch = 0.5\nangle = 1\nrate = 2\n[run]\nstep = 1e-3\nuntil = 1\n",
    );
    let thread = json(&["run", &file, "--no-reference", "--json"])["joints"]["thread"].clone();
    let turn = std::f64::consts::TAU / 0.5;
    let fall = 98.1 / (10.0 + 0.2 * turn * turn);
    let way = 1.0 / turn + 2.0 / turn - 0.5 * fall;
    assert!((number(&thread["distance"]) - way).abs() < 1e-9, "{thread}");
    assert!((number(&thread["angle"]) - turn * way).abs() < 1e-8, "{thread}");
}

#[test]
fn what_cannot_act_or_start_is_told_where_it_stands() {
    let folder = Folder::new();
    for (from, to, texts) in [
        (
            "drive = \"speed * t\"",
            "drive = \"speed * rate\"",
            &["nothing is called 'rate' here", "crank.toml:23:18"][..],
        ),
        (
            "drive = \"speed * t\"",
            "drive = \"slider.position_x\"",
            &["a drive is a function of t and of parameters"],
        ),
        ("drive = \"speed * t\"", "drive = \"1 / t\"", &["not finite at t = 0"]),
        ("drive = \"speed * t\"", "moment = \"rail.force_axis\"", &["is a reaction"]),
        ("drive = \"speed * t\"", "moment = \"angl\"", &["did you mean angle"]),
        ("drive = \"speed * t\"", "drive = \"t\"\nrate = 3", &["drive", "rate"]),
        ("drive = \"speed * t\"", "distance = 3", &["does not belong to a joint of type \"revolute\""]),
        ("stiffness = 500", "angle = 3", &["does not belong to a joint of type \"prismatic\""]),
        ("bearing.moment_axis", "bearing.distance", &["the joint 'bearing' has no 'distance'"]),
    ] {
        assert!(CRANK.contains(from));
        let file = folder.write("crank.toml", &CRANK.replacen(from, to, 1));
        refused(3, &["run", &file], texts);
    }
    // Drives that ask for different motions.
    let both = CRANK.replacen("stiffness = 500\nrest = 0", "drive = \"0.01 * t\"", 1);
    let file = folder.write("both.toml", &both);
    refused(3, &["run", &file], &["the joints contradict each other"]);
}

#[test]
fn frames_and_counted_bodies_have_names_in_expressions() {
    let folder = Folder::new();
    let file = folder.write(
        "rods.toml",
        r#"
gravity = [0, 0, -9.81]
[bodies.rod-0]
shape = { sphere = 0.1 }
mass = 1
[bodies.rod]
count = 3
shape = { rod = 0.4 }
mass = 1
position = ["0.4 * (i - 1)", 0, 0]
[frames.tip]
body = "rod-3"
at = [0.4, 0, 0]
[joints.base]
type = "fixed"
between = ["ground", "rod-0"]
at = [0, 0, 0]
[joints.pin]
count = 3
type = "revolute"
between = ["rod-{i-1}", "rod-{i}"]
at = ["0.4 * (i - 1)", 0, 0]
axis = [0, 1, 0]
[outputs]
end = "hypot(tip.position_x - rod-3.position_x, tip.position_z - rod-3.position_z)"
fast = "tip.velocity_z - rod-3.tip.velocity_z + rod-3.velocity_z"
bend = "pin-2.angle - 2 * pin-3.rate"
[run]
step = 1e-3
until = 0.2
"#,
    );
    let run = json(&["run", &file, "--no-reference", "--json"]);
    let out = &run["outputs"];
    assert!((number(&out["end"]) - 0.4).abs() < 1e-12, "{out}");
    let rod = &run["bodies"]["rod-3"];
    assert!((number(&out["fast"]) - number(&rod["velocity"][2])).abs() < 1e-12, "{out}");
    let bend = number(&run["joints"]["pin-2"]["angle"]) - 2.0 * number(&run["joints"]["pin-3"]["rate"]);
    assert!((number(&out["bend"]) - bend).abs() < 1e-13, "{out}");
    // A motor that looks at a frame.
    let told = folder.write(
        "told.toml",
        &TOLD
            .replace("[joints.top]", "[frames.hand]\nbody = \"lower\"\nat = [0.5, 0, 0]\n[joints.top]")
            .replace("- c * (rate - top.rate)", "- c * hand.velocity_z - k * lower.hand.position_z"),
    );
    let said = json(&["sensitivity", &told, "-p", "k,c,lower.center_x", "--check", "--json"]);
    for row in said["check"].as_array().expect("a list").iter().filter(|row| row["formula"] == "five-point") {
        assert!(number(&row["relative_error"]["outputs"]["tip"]) < 1e-6, "{row}");
    }
}
