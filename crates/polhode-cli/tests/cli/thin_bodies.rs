//! Bodies without a moment about some axis, or about any, and stiff springs and drives on them.

use crate::common::{json, number, polhode, refused};
use crate::starts_and_ends::{joint, model};

const METHODS: [&str; 6] = [
    "geometric-alpha",
    "linear-alpha,constraints=stabilized",
    "conserving",
    "conserving,constraints=index3",
    "decaying",
    "variational",
];

const FALL: &str = "gravity = [0, 0, -9.81]\n[run]\nstep = 0.01\nuntil = 1\n";

fn point(kind: &str, more: &str) -> String {
    let held = joint("rail", kind, [0, 0, 1], more);
    format!("{FALL}[bodies.a]\nmass = 1\ninertia = [0, 0, 0]\n{held}")
}

#[test]
fn a_point_that_a_joint_keeps_from_turning_falls() {
    let (_folder, file) = model(&point("prismatic", ""));
    for method in METHODS {
        let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
        let z = number(&found["bodies"]["a"]["position"][2]);
        assert!((z + 4.905).abs() < 1e-11, "{method}: {z}");
    }
    let (_folder, file) = model(&point("revolute", "drive = \"3*t\""));
    for method in METHODS {
        let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
        let hinge = &found["joints"]["rail"];
        assert!((number(&hinge["angle"]) - 3.0).abs() < 1e-12, "{method}: {hinge}");
        assert!((number(&hinge["force"][2]) - 9.81).abs() < 1e-7, "{method}: {hinge}");
    }
}

#[test]
fn a_tilted_needle_on_a_plane_keeps_what_the_method_keeps() {
    let held = joint("plane", "planar", [0, 0, 1], "").replace("\"a\"", "\"needle\"");
    let text = format!(
        "{FALL}[bodies.needle]\nshape = {{ rod = 1 }}\nmass = 2\nattitude = [0, 0.3, 0]\nomega_space = [0, 0, 3]\n{held}"
    );
    let (_folder, file) = model(&text);
    for method in ["conserving", "conserving,constraints=index3", "variational", "decaying"] {
        let found = json(&["run", &file, "-m", method, "--until", "20", "--no-reference", "--json"]);
        let (energy, gap) =
            (number(&found["drift"]["energy"]), number(&found["constraint_violation"]["position"]));
        assert!(energy < 3e-11 && gap < 1e-13, "{method}: {energy:e} {gap:e}");
    }
}

/// A stiff vibration beside a step that is far too long for it is gone after a few steps under `decaying`.
#[test]
fn stiff_springs_of_joints_and_lines_decay() {
    let rest = "[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\nposition = [1, 0, 0]\nvelocity = [0.1, 0, 0]\n\
                [forces.line]\ntype = \"line\"\nbetween = [\"ground\", \"b\"]\nforce = \"1e8 * ((length - 1) + (length - 1)^3)\"\n";
    let rod = "[bodies.a]\nshape = { rod = 1 }\nmass = 2\n";
    let spring = joint("hinge", "revolute", [0, 1, 0], "stiffness = 1e8\nrate = 0.1");
    let slide = joint("hinge", "prismatic", [0, 1, 0], "stiffness = 1e8\nrate = 0.1");
    for elements in [format!("{rod}{spring}"), format!("{rod}{slide}"), rest.to_string()] {
        let (_folder, file) = model(&format!("{elements}[run]\nstep = 0.01\nuntil = 0.3\n"));
        let energy = |method: &str| {
            let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
            number(&found["energy"])
        };
        let (kept, left) = (energy("conserving"), energy("decaying"));
        assert!(kept > 1e-4 && left < 1e-9 * kept, "{elements}: {kept:e} {left:e}");
    }
}

#[test]
fn drives_that_jump_are_refused_where_they_do() {
    let text = |drive: &str| {
        let held = joint("hinge", "revolute", [0, 1, 0], &format!("drive = \"{drive}\""));
        format!("{FALL}[bodies.a]\nshape = {{ rod = 1 }}\nmass = 2\n{held}")
    };
    let (_folder, file) = model(&text("if(t < 0.5, 0, 1)"));
    for method in METHODS {
        let texts = ["the drive of the joint 'hinge' changes by 1.000e0", "from t = 0.49"];
        refused(4, &["run", &file, "-m", method], &texts);
        assert!(!polhode(&["run", &file, "-m", method]).err.contains("may get further"), "{method}");
    }
    // Fast is no jump: two and a half radians in a step.
    let (_folder, file) = model(&text("250*t"));
    for method in METHODS {
        // In index 3 with a warning about velocities.
        let said = polhode(&["run", &file, "-m", method, "--no-reference", "--json"]);
        let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let angle = number(&found["joints"]["hinge"]["angle"]);
        assert!((angle - 250.0).abs() < 1e-11, "{method}: {angle}");
    }
}

#[test]
fn a_nut_that_turns_too_far_in_a_step_is_told() {
    let held = joint("nut", "screw", [0, 0, 1], "pitch = 0.01\nrate = 400");
    let text = format!("{FALL}[bodies.a]\nshape = {{ cylinder = [0.05, 0.2] }}\nmass = 2\n{held}");
    let (_folder, file) = model(&text);
    let texts = ["the joint 'nut' ended the step from t = 0", "away from the angle that it has to follow"];
    refused(4, &["run", &file, "-m", "conserving"], &texts);
}

/// A spatial linkage that is drawn roughly goes to one place, whatever the mass of a thin part of it, and its derivatives are those
/// of differences.
#[test]
fn a_linkage_that_is_drawn_roughly_closes_alike_for_like_numbers() {
    let text = "gravity = [0, 0, -9.81]\n[bodies.crank]\nshape = { rod = 0.2 }\nmass = 1.6\nattitude = [0, 0, 0.4]\n\
        [bodies.coupler]\nshape = { box = [0.8, 0.03, 0.03] }\nmass = 1\nposition = [0.5, 0.3, 0.4]\n\
        [bodies.rocker]\nshape = { cylinder = [0.02, 0.5] }\nmass = 0.7\nposition = [0.9, 0.5, 0.25]\n\
        [frames]\nct = { body = \"crank\", at = [0.2, 0, 0] }\nc1 = { body = \"coupler\", at = [-0.4, 0, 0] }\n\
        c2 = { body = \"coupler\", at = [0.4, 0, 0] }\n\
        r0 = { body = \"rocker\", at = [0, 0, -0.25], attitude_deg = [90, 0, 0] }\n\
        r1 = { body = \"rocker\", at = [0, 0, 0.25] }\n\
        g = { body = \"ground\", at = [0.9, 0.5, 0], attitude_deg = [90, 0, 0] }\n\
        [joints]\nj1 = { type = \"revolute\", between = [\"ground\", \"crank\"] }\n\
        j2 = { type = \"spherical\", between = [\"ct\", \"c1\"] }\n\
        j3 = { type = \"universal\", between = [\"c2\", \"r1\"] }\n\
        j4 = { type = \"revolute\", between = [\"g\", \"r0\"] }\n\
        [outputs]\ncrank = \"j1.angle\"\nrocker = \"j4.angle\"\n[run]\nstep = 0.002\nuntil = 0.002\n";
    let (_folder, file) = model(text);
    let at = |mass: f64| {
        let set = format!("coupler.mass={mass}");
        let found = json(&["run", &file, "--set", &set, "--no-reference", "--json"]);
        ["crank", "rocker"].map(|name| number(&found["outputs"][name]))
    };
    let drawn = at(1.0);
    // Not upside down.
    assert!(drawn[1].abs() < 1.0, "{drawn:?}");
    for mass in [0.9, 0.999, 1.001, 1.1] {
        let other = at(mass);
        let apart = (0..2).map(|i| (other[i] - drawn[i]).abs()).fold(0.0, f64::max);
        assert!(apart < (mass - 1.0).abs(), "{mass}: {other:?}, not {drawn:?}");
    }
    let found = json(&["sensitivity", &file, "--parameters", "coupler.mass", "--json"]);
    for (i, name) in ["crank", "rocker"].into_iter().enumerate() {
        let exact = number(&found["derivatives"]["coupler.mass"]["outputs"][name]);
        let difference = (at(1.0 + 1e-5)[i] - at(1.0 - 1e-5)[i]) / 2e-5;
        assert!((exact - difference).abs() < 1e-6, "{name}: {exact} {difference}");
    }
}
