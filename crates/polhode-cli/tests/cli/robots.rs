//! Robots in URDF and MJCF: masses, accelerations and motions as other programs have them, and what is told.

use crate::common::{fine, json, polhode, program, refused};
use crate::models::Folder;
use crate::robot_numbers::{Known, ROBOTS};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::problem::Problem;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// A robot of these tests.
pub fn robot(name: &str) -> String {
    format!("{}/tests/robots/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    let list: Vec<f64> =
        value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect();
    list.try_into().expect("so many numbers")
}

fn largest<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The model file of a robot.
pub fn text(name: &str) -> String {
    let said = polhode(&["convert", &robot(name)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    said.out
}

#[test]
fn masses_and_inertias_are_those_of_other_programs() {
    for (file, bodies) in ROBOTS {
        let seen = json(&["check", &robot(file), "--json", "--quiet"]);
        assert_eq!(seen["bodies"].as_object().map(|found| found.len()), Some(bodies.len()), "{file}");
        let mut total = 0.0;
        for body in bodies {
            let found = &seen["bodies"][body.name];
            total += found["mass"].as_f64().unwrap_or(f64::NAN);
            assert!((found["mass"].as_f64().unwrap_or(f64::NAN) - body.mass).abs() < 1e-13 * body.mass);
            let attitude = Rotation::from_q_wxyz(numbers::<4>(&found["q_wxyz"])).matrix();
            let rows = found["inertia"].as_array().expect("rows");
            let inertia = nalgebra::Matrix3::from_rows(
                &[0, 1, 2].map(|i| nalgebra::RowVector3::from(numbers::<3>(&rows[i]))),
            );
            let inertia = attitude * inertia * attitude.transpose();
            let entries = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|entry| inertia[entry]);
            let [center, position] =
                ["center", "position"].map(|key| nalgebra::Vector3::from(numbers::<3>(&found[key])));
            let center = attitude * center + position;
            let off = [largest(entries, body.inertia), largest(center.into(), body.center)];
            assert!(off[0] < 1e-14 && off[1] < 1e-14, "{file} {}: {off:?}", body.name);
        }
        let known: f64 = bodies.iter().map(|body| body.mass).sum();
        assert!((total - known).abs() < 1e-13 * known, "{file}: {total} {known}");
    }
}

#[test]
fn accelerations_from_rest_are_those_of_other_programs() {
    for (file, bodies) in ROBOTS {
        let problem = Problem::from_text(file, &text(file)).expect("a model");
        let method = Method::parse(&problem.method).expect("a method");
        let start = problem.model().expect("a model").begin(&method).expect("a run").snapshot();
        let names = start.names.clone().expect("several bodies").bodies.clone();
        for body in bodies {
            let b = names.iter().position(|name| name == body.name).expect("the body is there");
            let seen = &start.bodies[b];
            let moving = seen.moving.expect("it moves");
            let off = [
                largest(moving.acceleration.into(), body.acceleration),
                largest(seen.omega_rate.into(), body.omega_rate),
            ];
            assert!(off.iter().all(|x| *x < 1e-10), "{file} {}: {off:?}", body.name);
        }
    }
}

/// Positions, quaternions, velocities and angular velocities of a body.
type Motion = [Vec<f64>; 4];

fn known(body: &Known) -> Motion {
    [body.position.into(), body.attitude.into(), body.velocity.into(), body.omega.into()]
}

#[test]
fn robots_fall_as_other_programs_have_it() {
    for (file, bodies) in ROBOTS {
        let path = robot(file);
        let fall = |step: &str| -> Vec<Motion> {
            let args =
                ["run", &path, "--step", step, "--until", "0.2", "--no-reference", "--json", "--quiet"];
            let seen = json(&args);
            let motion = |body: &Known| {
                let found = &seen["bodies"][body.name];
                let q = numbers::<4>(&found["q_wxyz"]);
                let along: f64 = q.iter().zip(body.attitude).map(|(a, b)| a * b).sum();
                [
                    numbers::<3>(&found["position"]).into(),
                    q.map(|x| x * along.signum()).into(),
                    numbers::<3>(&found["velocity"]).into(),
                    numbers::<3>(&found["omega_body"]).into(),
                ]
            };
            bodies.iter().map(motion).collect()
        };
        let exact: Vec<Motion> = bodies.iter().map(known).collect();
        let flat = |all: &[Motion]| -> Vec<f64> { all.iter().flatten().flatten().copied().collect() };
        let error =
            |seen: &[f64]| seen.iter().zip(flat(&exact)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let [coarse, middle, fine] = ["1e-3", "5e-4", "2.5e-4"].map(|step| flat(&fall(step)));
        let errors = [&coarse, &middle, &fine].map(|seen| error(seen));
        if file == "rover.urdf" {
            // Nothing holds it: all of it falls alike.
            assert!(errors.iter().all(|error| *error < 1e-9), "{errors:?}");
            continue;
        }
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((3.9..4.1).contains(&ratio), "{file}: {errors:?}");
        }
        // Without its leading error the motion is the known one to what is left.
        let better: Vec<f64> = middle.iter().zip(&fine).map(|(a, b)| (4.0 * b - a) / 3.0).collect();
        assert!(error(&better) < 2e-3 * errors[2], "{file}: {errors:?} {}", error(&better));
    }
}

#[test]
fn angles_count_as_in_the_robot() {
    // Of the same fall of the arm.
    let known = [
        0.01530566086921746,
        -0.6751191159897141,
        -0.9406552671036461,
        0.0351504112752615,
        0.07883232273169631,
        -0.276294466011384,
    ];
    let arm = robot("arm.urdf");
    let seen = json(&["run", &arm, "--until", "0.2", "--no-reference", "--json", "--quiet"]);
    for (k, known) in known.iter().enumerate() {
        let angle = seen["joints"][format!("joint_{}", k + 1)]["angle"].as_f64().expect("an angle");
        assert!((angle - known).abs() < 5e-5, "{k}: {angle} {known}");
    }
}

#[test]
fn a_remark_about_friction_can_be_used() {
    let folder = Folder::new();
    let rubbing = text("arm.urdf").replace("# moment =", "moment =");
    let rubbing = folder.write("rubbing.toml", &rubbing);
    let rate = |file: &str| {
        let seen = json(&["run", file, "--until", "0.05", "--no-reference", "--json", "--quiet"]);
        seen["joints"]["joint_1"]["rate"].as_f64().expect("a rate").abs()
    };
    assert!(rate(&rubbing) < 0.5 * rate(&robot("arm.urdf")));
}

#[test]
fn a_conversion_tells_what_it_leaves_out() {
    let folder = Folder::new();
    let file = folder.path("arm.toml").display().to_string();
    let said = polhode(&["convert", &robot("arm.urdf"), &file]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("6 bodies, 6 joints"), "{}", said.out);
    let told = [
        "shapes to see or to touch with (<visual>, <collision>), of links: base_link, link_1",
        "<transmission>: transmission_1",
        "<gazebo>: link_1",
        "limits of joints: joint_1, joint_2, joint_3",
        "dry friction, a remark in the model: joint_1",
    ];
    let written = std::fs::read_to_string(&file).expect("the model");
    for part in told {
        assert!(said.err.contains(&format!("note: {part}")), "'{part}' is not in: {}", said.err);
        assert!(written.contains(&format!("\n# - {part}")), "'{part}' is not in: {written}");
    }
    for part in [
        "[frames.base_link]\nbody = \"ground\"",
        "[frames.tool0]\nbody = \"link_6\"",
        "# moment = \"-0.2 * tanh(rate / 1e-3)\"",
        "damping = 0.5",
        "method = \"geometric-alpha\"\nstep = 0.001\nuntil = 1\n",
    ] {
        assert!(written.contains(part), "'{part}' is not in: {written}");
    }
    // What was written runs to the bits of the robot itself.
    let run = |file: &str| json(&["run", file, "--until", "0.01", "--no-reference", "--json", "--quiet"]);
    assert_eq!(run(&file)["bodies"], run(&robot("arm.urdf"))["bodies"]);
    // It is a file that may be edited, and is not replaced.
    refused(2, &["convert", &robot("arm.urdf"), &file], &["is there already and was left as it is"]);
    refused(2, &["convert", &file], &["is no robot"]);
    // A run says it in one line.
    let said = polhode(&["run", &robot("arm.urdf"), "--until", "0.01", "--no-reference"]);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    assert!(said.err.contains("left out or changed: 12 things in") && said.err.contains("polhode convert"));
}

#[test]
fn every_command_takes_robots_and_so_does_standard_input() {
    let (arm, folder) = (robot("arm.urdf"), Folder::new());
    let data = folder.path("motion.csv").display().to_string();
    let short = ["--until", "0.02", "--quiet"];
    let all = |command: &[&str]| fine(&[command, &short[..]].concat());
    all(&["run", &arm, "--out", &data, "--no-reference"]);
    all(&["converge", &arm]);
    all(&["compare", &arm]);
    let slope = json(
        &[
            &["sensitivity", &arm, "--parameters", "link_2.mass", "--method", "linear-alpha", "--json"],
            &short[..],
        ]
        .concat(),
    );
    assert!(slope["derivatives"]["link_2.mass"].is_object());
    fine(&["check", &arm, "--quiet"]);
    let fit = ["fit", &arm, "--data", &data, "--parameters", "link_6.mass", "--json", "--quiet"];
    let mass = json(&fit)["values"]["link_6.mass"].as_f64().expect("a mass");
    assert!((mass - 0.365).abs() < 1e-6, "{mass}");
    let mut child = program()
        .args(["check", "-", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let text = std::fs::read(robot("crane.xml")).expect("the robot");
    child.stdin.take().expect("a pipe").write_all(&text).expect("it is read");
    let said = child.wait_with_output().expect("it ends");
    assert!(said.status.success() && String::from_utf8_lossy(&said.stdout).contains("trolley"));
}

#[test]
fn a_base_floats_if_asked_to() {
    let folder = Folder::new();
    let file = folder.path("torso.toml").display().to_string();
    let said = polhode(&["convert", &robot("torso.urdf"), &file, "--floating-base"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let seen = json(&["check", &file, "--json"]);
    let held = json(&["check", &robot("torso.urdf"), "--json", "--quiet"]);
    let freedom = |seen: &Value| seen["degrees_of_freedom"].as_u64().unwrap_or(0);
    assert_eq!((freedom(&held), freedom(&seen)), (8, 14));
    assert_eq!(seen["bodies"]["pedestal"]["mass"].as_f64(), Some(30.0));
    refused(
        3,
        &["convert", &robot("crane.xml"), "--floating-base"],
        &["crane.xml:2:1", "give the body a <freejoint/>"],
    );
}

#[test]
fn several_joints_are_one_where_that_is_exact() {
    let joints = |file: &str| {
        let seen = json(&["check", &robot(file), "--json", "--quiet"]);
        let kind =
            |(name, joint): (&String, &Value)| format!("{name} {}", joint["type"].as_str().unwrap_or(""));
        seen["joints"].as_object().expect("joints").iter().map(kind).collect::<Vec<_>>()
    };
    let crane = ["travel prismatic", "swing_x-swing_y universal", "twist spherical", "feed-spin cylindrical"];
    assert_eq!(joints("crane.xml"), crane);
    assert_eq!(
        joints("hopper.xml"),
        ["rootx-rootz-rooty planar", "hip revolute", "knee revolute", "ankle revolute"]
    );
    let text = text("torso.urdf");
    assert!(text.contains("[joints.head_pan-head_tilt]\ntype = \"universal\""), "{text}");
    assert!(text.contains("[joints.right_slide]\ntype = \"planar\""), "{text}");
    assert!(!text.contains("neck]") && text.contains("# - links without mass"), "{text}");
    // Names that a model cannot have.
    let rover = self::text("rover.urdf");
    assert!(rover.contains("caster fork is caster_fork, caster/wheel is caster_wheel"), "{rover}");
    // A site is a frame, and so is a body that does not move.
    let hopper = self::text("hopper.xml");
    for part in [
        "[frames.origin]\nbody = \"ground\"",
        "[frames.toe]\nbody = \"foot\"",
        "[frames.body5]\nbody = \"foot\"",
        "step = 0.002",
    ] {
        assert!(hopper.contains(part), "'{part}' is not in: {hopper}");
    }
}

#[test]
fn meshes_need_no_mass_where_nothing_moves() {
    let folder = Folder::new();
    let text = "<mujoco><worldbody><body name='table'><geom type='mesh' mesh='table'/>\
                <body name='arm'><joint name='pin'/><geom type='mesh' mesh='arm'/>\
                <inertial pos='0.1 0 0' mass='1' diaginertia='1 1 1'/></body></body></worldbody></mujoco>";
    let said = polhode(&["convert", &folder.write("table.xml", text)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("[frames.table]\nbody = \"ground\""), "{}", said.out);
}

#[test]
fn loops_of_mjcf_are_joints() {
    let folder = Folder::new();
    // A ball in the middle leaves the loop one freedom.
    let text = "<mujoco><worldbody><body name='first'><joint name='pin' axis='0 1 0'/>\
                <geom type='capsule' fromto='0 0 0 0.5 0 0' size='0.02'/>\
                <body name='second' pos='0.5 0 0'><joint name='ball' type='ball'/>\
                <geom type='capsule' fromto='0 0 0 0.3 0 0.4' size='0.02'/></body></body></worldbody>\
                <equality><connect name='tip' body1='second' anchor='0.3 0 0.4'/>\
                <weld name='off' active='false' body1='first'/></equality></mujoco>";
    let said = polhode(&["convert", &folder.write("loop.xml", text)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let tip = "[joints.tip]\ntype = \"spherical\"\nbetween = [\"second\", \"ground\"]\nat = [0.8, 0, 0.4]\n";
    assert!(said.out.contains(tip), "{}", said.out);
    assert!(said.err.contains("<weld> of <equality>: off"), "{}", said.err);
    assert!(said.err.contains("soft there and exact here: tip"), "{}", said.err);
}
