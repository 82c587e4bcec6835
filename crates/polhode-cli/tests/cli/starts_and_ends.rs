//! How drives start, what bodies start with, and where joints allow no motion any more.

use crate::common::{fine, json, number, refused};
use tempfile::TempDir;

/// A model in a file of its own.
pub fn model(text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

const BODY: &str = "[bodies.a]\nmass = 4\ninertia = [1, 1, 1]\n";

/// A joint of the ground and the body `a` about or along an axis.
pub fn joint(name: &str, kind: &str, axis: [i32; 3], more: &str) -> String {
    let axis = format!("{axis:?}");
    format!(
        "[joints.{name}]\ntype = \"{kind}\"\nbetween = [\"ground\", \"a\"]\nat = [0, 0, 0]\naxis = {axis}\n{more}\n"
    )
}

#[test]
fn drives_start_from_rest() {
    let kinds = [("prismatic", ""), ("screw", "pitch = 0.3"), ("revolute", "")];
    for ((kind, more), axis) in kinds.into_iter().flat_map(|kind| [(kind, [1, 0, 0]), (kind, [1, -2, 2])]) {
        let driven = joint("rail", kind, axis, &format!("drive = \"0.1*t^2\"\n{more}"));
        let text = format!(
            "{BODY}[bodies.pole]\nmass = 1.5\ninertia = [1, 1, 1]\nposition = [0.9, 0, -0.3]\n{driven}\
             [joints.hinge]\ntype = \"revolute\"\nbetween = [\"a\", \"pole\"]\nat = [0.1, 0, 0]\naxis = [0, 1, 0]\n\
             rate = 0.3\n[run]\nstep = 2e-3\nuntil = 0.1\n"
        );
        let (_folder, file) = model(&text);
        let place = |method: &str| -> Vec<f64> {
            let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
            let violation = number(&found["constraint_violation"]["velocity"]);
            assert!(violation < 1e-3, "{kind} {method}: {violation:e}");
            found["bodies"]["pole"]["position"].as_array().unwrap().iter().map(number).collect()
        };
        let expected = place("geometric-alpha");
        for method in
            ["conserving", "conserving,constraints=index3", "decaying", "variational", "compose:conserving:4"]
        {
            let found = place(method);
            let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-5, "{kind} {method}: {found:?}, not {expected:?}");
        }
    }
}

/// A rod of 1 m and 2 kg that is turned against gravity: the work of its drive is the energy that it has then.
#[test]
fn the_work_of_drives_is_counted_whole_by_every_method() {
    let text = "gravity = [0, 0, -9.81]\n[bodies.a]\nshape = { rod = 1 }\nmass = 2\n".to_string()
        + &joint("hinge", "revolute", [0, 1, 0], "drive = \"0.5*sin(3*t)+0.3*t\"")
        + "[run]\nuntil = 1\nstep = 0.01\n";
    let (_folder, file) = model(&text);
    let energy = |angle: f64, rate: f64| rate * rate / 3.0 - 9.81 * angle.sin();
    let exact = energy(0.5 * 3f64.sin() + 0.3, 1.5 * 3f64.cos() + 0.3) - energy(0.0, 1.8);
    for (method, largest) in
        [("conserving", 1e-10), ("decaying", 1e-5), ("variational", 1e-3), ("linear-alpha", 1e-3)]
    {
        let off = |step: &str| {
            let found = json(&["run", &file, "-m", method, "--step", step, "--no-reference", "--json"]);
            (number(&found["work"]) - exact).abs()
        };
        let (coarse, fine) = (off("1e-2"), off("5e-3"));
        assert!(coarse < largest && (fine < 0.3 * coarse || fine < 1e-10), "{method}: {coarse:e} {fine:e}");
    }
}

#[test]
fn joints_that_come_to_contradict_each_other_end_the_run() {
    // The start fits both.
    let weld = joint("weld", "fixed", [0, 0, 1], "");
    let text = BODY.to_string()
        + &weld.replace("axis = [0, 0, 1]\n", "")
        + &joint("hinge", "revolute", [0, 0, 1], "drive = \"0.5*t^2\"")
        + "[run]\nstep = 0.01\nuntil = 1\n";
    let (_folder, file) = model(&text);
    for method in
        ["geometric-alpha", "linear-alpha", "residual-alpha", "conserving", "decaying", "variational"]
    {
        let texts =
            ["the joints contradict each other at the end of the step from t = 0.06", "is off by 1.2e-3"];
        refused(4, &["run", &file, "-m", method], &texts);
    }
}

#[test]
fn velocities_that_are_not_in_the_file_have_derivatives() {
    let link = |name: &str, z: f64| {
        format!("[bodies.{name}]\nshape = {{ box = [0.1, 0.2, 1] }}\nmass = 2\nposition = [0, 0, {z:?}]\n")
    };
    let text = "gravity = [0, 0, -9.81]\n".to_string()
        + &link("a", -0.5)
        + &link("b", -1.5)
        + &joint("h", "revolute", [0, 1, 0], "rate = 2")
        + "[joints.g]\ntype = \"revolute\"\nbetween = [\"a\", \"b\"]\nat = [0, 0, -1]\naxis = [0, 1, 0]\n\
           [run]\nstep = 1e-3\nuntil = 0.1\n";
    let (_folder, file) = model(&text);
    for parameter in ["b.velocity_x", "b.omega_body_y"] {
        let found = json(&["sensitivity", &file, "--parameters", parameter, "--json"]);
        let exact = number(&found["derivatives"][parameter]["bodies"]["b"]["position"][0]);
        let at = |value: f64| {
            let set = format!("{parameter}={value}");
            let found = json(&["run", &file, "--set", &set, "--no-reference", "--json"]);
            number(&found["bodies"]["b"]["position"][0])
        };
        let difference = (at(1e-4) - at(-1e-4)) / 2e-4;
        assert!((exact - difference).abs() < 1e-6, "{parameter}: {exact} {difference}");
    }
}

#[test]
fn screws_move_along_as_they_are_set() {
    let text = BODY.to_string()
        + &joint("nut", "screw", [0, 0, 1], "pitch = 0.4\nrate = 2")
        + "[run]\nstep = 0.01\nuntil = 1\n";
    let (_folder, file) = model(&text);
    for (set, along) in [("nut.rate=3", 3.0 * 0.4), ("nut.pitch=0.5", 2.0 * 0.5)] {
        let found = json(&["run", &file, "--set", set, "--no-reference", "--json"]);
        let z = number(&found["bodies"]["a"]["position"][2]);
        assert!((z - along / core::f64::consts::TAU).abs() < 1e-12, "{set}: {z}");
    }
}

#[test]
fn potentials_are_energies_of_the_pose_alone() {
    let load = |formula: &str| format!("{BODY}[[loads]]\nbody = \"a\"\n{formula}\n");
    let (_folder, file) = model(&load("potential = \"t * position_x\""));
    refused(3, &["check", &file], &["cannot depend on t", ":6:14:"]);
    let drag = load("force_space = [\"-velocity_x\", 0, 0]") + "[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n";
    let (_folder, file) = model(&drag);
    let text = fine(&["check", &file]);
    assert!(text.contains("decaying") && !text.contains("variational"), "{text}");
}

#[test]
fn loads_that_look_elsewhere_may_act_between_two_times() {
    // Half of a's speed as an acceleration of b, for a time that is no multiple of the step.
    let free = "[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\nvelocity = [2, 0, 0]\n\
                [bodies.b]\nmass = 4\ninertia = [1, 2, 3]\n";
    let load = |times: &str| {
        format!(
            "[parameters]\npush = 5\nend = 0.5\n{free}[[loads]]\nbody = \"b\"\n\
             force_space = [0, \"push * a.velocity_x\", 0]\n{times}\n[run]\nstep = 0.01\nuntil = 1\n"
        )
    };
    let (_folder, file) = model(&load("from = 0.1035\nuntil = \"end\""));
    for method in ["geometric-alpha", "linear-alpha,constraints=stabilized", "conserving", "decaying"] {
        let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
        let body = &found["bodies"]["b"];
        let (speed, lasts) = (2.5 * 0.3965, 0.3965);
        let far = speed * lasts / 2.0 + speed * 0.5;
        assert!((number(&body["velocity"][1]) - speed).abs() < 1e-13, "{method}: {found}");
        assert!((number(&body["position"][1]) - far).abs() < 1e-12, "{method}: {found}");
        assert!(number(&found["drift"]["energy"]) < 1e-13, "{method}: {found}");
    }
    let found = json(&["sensitivity", &file, "--parameters", "push", "--json"]);
    let slope = number(&found["derivatives"]["push"]["bodies"]["b"]["velocity"][1]);
    assert!((slope - 0.5 * 0.3965).abs() < 1e-12, "{slope}");
    refused(4, &["sensitivity", &file, "--parameters", "end"], &["end is the time at which a load switches"]);
    let (_folder, file) = model(&load("from = 0.7\nuntil = \"end\""));
    refused(3, &["check", &file], &["`until` must come after `from`: 0.5 is not after 0.7"]);
}

/// A slider that a spring pulls away from where it starts, right at the centre of mass of both bodies, on a nut that turns:
/// s̈ = (0.1 + s) ω² - 100 (s - 0.1) with (0.045 + 0.3 (0.1 + s)²) ω constant, solved by DOP853 to 1e-13.
#[test]
fn a_spring_moves_what_starts_at_rest_on_it() {
    let text = "[bodies.nut]\nmass = 0.5\ninertia = [0.03, 0.03, 0.03]\ncenter = [0, 0.1, 0]\nposition = [0, 0.5, 0]\n\
        [joints.pivot]\ntype = \"revolute\"\nbetween = [\"ground\", \"nut\"]\nat = [0, 0.5, 0]\naxis = [0.6, 0, 0.8]\nrate = 4\n\
        [bodies.tip]\nmass = 0.3\ninertia = [0.01, 0.01, 0.01]\nposition = [0, 0.6, 0]\n\
        [joints.rail]\ntype = \"prismatic\"\nbetween = [\"nut\", \"tip\"]\nat = [0, 0.6, 0]\naxis = [0, 1, 0]\n\
        stiffness = 30\nrest = 0.1\n[run]\nstep = 0.01\nuntil = 0.3\n";
    let (_folder, file) = model(text);
    for (method, near) in [
        ("conserving", 2e-3),
        ("conserving,constraints=index3", 2e-3),
        ("decaying", 2e-3),
        ("variational", 2e-3),
        ("compose:conserving:6", 2e-6),
    ] {
        let at = |step: &str| {
            let found = json(&["run", &file, "-m", method, "--step", step, "--no-reference", "--json"]);
            let off = (number(&found["joints"]["rail"]["distance"]) - 0.240_794).abs();
            (off, number(&found["drift"]["energy"]))
        };
        for step in ["0.01", "0.005", "0.002"] {
            let (off, drift) = at(step);
            assert!(off < near, "{method}, h = {step}: {off:e}");
            assert!(!method.contains("conserving") || drift < 1e-12, "{method}, h = {step}: {drift:e}");
        }
    }
}

/// Times by DOP853 to 1e-8.
#[test]
fn events_of_compositions_are_as_exact_as_their_runs() {
    let text =
        "gravity = [0, 0, -9.81]\n[bodies.a]\nmass = 1\ninertia = [0.2, 0.3, 0.4]\ncenter = [0.5, 0, 0]\n"
            .to_string()
            + &joint("h", "revolute", [0, 1, 0], "")
            + "[events.rate]\nwhen = \"h.rate - 3\"\n[events.falls]\nwhen = \"a.center_velocity_z + 1.0\"\n\
           [events.angle]\nwhen = \"h.angle - 1\"\n[run]\nstep = 0.02\nuntil = 1\n";
    let (_folder, file) = model(&text);
    let exact = [
        ("rate", &[0.346_026_31, 0.895_680_48][..]),
        ("falls", &[0.232_213_76, 0.490_726_97]),
        ("angle", &[0.481_803_23]),
    ];
    for method in ["compose:variational:6", "compose:conserving:6"] {
        let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
        for (name, times) in exact {
            for (time, exact) in found["events"][name]["times"].as_array().unwrap().iter().zip(times) {
                let off = (number(time) - exact).abs();
                assert!(off < 2e-8, "{method} {name}: {off:e}");
            }
        }
    }
}

#[test]
fn screws_and_drives_between_bodies_keep_their_momenta() {
    let text = |more: &str| {
        format!(
            "[bodies.a]\nmass = 2\ninertia = [0.2, 0.3, 0.4]\nomega_body = [1, 2, 3]\n\
             [bodies.d]\nmass = 0.9\ninertia = [0.02, 0.03, 0.04]\nposition = [0.2, 1.4, 0.3]\n\
             [joints.j]\nbetween = [\"a\", \"d\"]\nat = [0.2, 1.4, 0.3]\naxis = [0, 0.6, 0.8]\n{more}\n\
             [run]\nstep = 0.01\nuntil = 1\n"
        )
    };
    for more in ["type = \"screw\"\npitch = 0.2\nrate = 6", "type = \"revolute\"\ndrive = \"sin(3*t)\""] {
        let (_folder, file) = model(&text(more));
        for method in ["conserving", "decaying", "variational"] {
            let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
            for name in ["linear_momentum_space", "momentum_space"] {
                let drift = number(&found["drift"][name]);
                assert!(drift < 2e-13, "{method} {name}: {drift:e}");
            }
        }
    }
}

#[test]
fn momenta_of_a_body_on_a_point_count_from_velocities_that_fit() {
    let text = "gravity = [0, 0, -9.81]\n[bodies.bar]\nshape = { box = [0.1, 0.2, 0.3] }\nmass = 1\n\
                velocity = [0, 0, 0]\nomega_body = [1, 2, -1]\n[joints.pin]\ntype = \"spherical\"\n\
                between = [\"ground\", \"bar\"]\nat = [0.1, 0.2, -0.3]\n[run]\nstep = 1e-3\nuntil = 1\n";
    let (_folder, file) = model(text);
    for method in ["conserving", "variational", "decaying"] {
        let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
        let drift = number(&found["drift"]["momentum_vertical"]);
        assert!(drift < 1e-13, "{method}: {drift:e}");
    }
}

#[test]
fn work_has_the_order_of_a_composition() {
    let text = "[bodies.a]\nshape = { box = [0.4, 0.05, 0.03] }\nmass = 1\nomega_body = [1, 2, 3]\n\
                [coordinates.osc]\nmass = [1]\nposition = [0.1]\nstiffness = [100]\namplitude = [1]\n\
                frequency = 3\n[run]\nstep = 0.01\nuntil = 1\n";
    let (_folder, file) = model(text);
    for (method, most) in [("compose:variational:8", 1e-12), ("compose:variational:6", 1e-9)] {
        let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
        let drift = number(&found["drift"]["energy"]);
        assert!(drift < most, "{method}: {drift:e}");
    }
}

#[test]
fn light_links_do_not_turn_once_more_in_a_step_that_is_too_long() {
    // A heavy rocker that drives a light crank through a dead centre.
    let link = |name: &str, length: f64, mass: f64, at: [f64; 2], along: [f64; 2]| {
        format!(
            "[bodies.{name}]\nshape = {{ box = [{length}, 0.05, 0.05] }}\nmass = {mass}\nposition = [{}, {}, 0]\n\
             attitude = [0, 0, \"atan2({}, {})\"]\n",
            at[0], at[1], along[1], along[0]
        )
    };
    let pin = |name: &str, between: &str, at: [f64; 2], more: &str| {
        format!(
            "[joints.{name}]\ntype = \"revolute\"\nbetween = {between}\nat = [{}, {}, 0]\naxis = [0, 0, 1]\n{more}\n",
            at[0], at[1]
        )
    };
    let text = "gravity = [0, -9.81, 0]\n".to_string()
        + &link("a", 0.4, 0.05, [0.15, 0.125], [0.3, 0.25])
        + &link("b", 0.7, 0.05, [0.65, 0.375], [0.7, 0.25])
        + &link("c", 0.6, 200.0, [0.95, 0.2], [-0.1, -0.6])
        + &pin("p0", "[\"ground\", \"a\"]", [0.0, 0.0], "rate = 10")
        + &pin("p1", "[\"a\", \"b\"]", [0.3, 0.25], "")
        + &pin("p2", "[\"b\", \"c\"]", [1.0, 0.5], "")
        + &pin("p3", "[\"c\", \"ground\"]", [0.9, -0.1], "");
    let (_folder, file) = model(&text);
    let run = ["run", &file, "-m", "variational", "--step", "4e-3", "--until", "0.6", "--no-reference"];
    refused(4, &run, &["did not converge in the step from t = 0.4"]);
}
