//! Loads that jump or have kinks, and loads that look at other bodies, under methods for systems.

use crate::common::{json, number};
use crate::models::Folder;

const TORQUE: &str =
    "t,mx,my,mz\n0,0,0,0\n0.7,0.01,-0.02,0.015\n1.3,-0.03,0.01,0.02\n2.0,0.02,0.03,-0.01\n4,0,0.01,0\n";

/// A body with moments of a table; the rows lie inside the steps.
const TABLE: &str = r#"
[bodies.a]
mass = 1
inertia = [0.01, 0.02, 0.015]
omega_body = [1, 0.5, -0.3]
[[loads]]
body = "a"
moment_body = { table = "torque.csv", time = "t", columns = ["mx", "my", "mz"] }
[run]
step = 0.06
until = 1.5
"#;

#[test]
fn compositions_for_systems_keep_their_order_on_tables() {
    let folder = Folder::new();
    folder.write("torque.csv", TORQUE);
    let bob = "[bodies.bob]\nmass = 0.1\ninertia = [1e-3, 1e-3, 2e-3]\nposition = [0, 0, -0.2]\n\
               [joints.hook]\ntype = \"spherical\"\nbetween = [\"a\", \"bob\"]\nat = [0, 0, -0.1]\n";
    for (name, joined) in [("free.toml", ""), ("joined.toml", bob)] {
        let file = folder.write(name, &TABLE.replace("[[loads]]", &format!("{joined}[[loads]]")));
        let at = |step: &str| -> Vec<f64> {
            let run =
                ["run", &file, "-m", "compose:conserving:4", "--step", step, "--no-reference", "--json"];
            let found = json(&run);
            let body = if joined.is_empty() { &found } else { &found["bodies"]["a"] };
            body["omega_body"].as_array().unwrap().iter().map(number).collect()
        };
        let exact = at("0.006");
        let error = |step| -> f64 { at(step).iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum() };
        let ratio = error("0.06") / error("0.03");
        assert!((12.0..20.0).contains(&ratio), "{name}: {ratio}");
    }
    // Derivatives are those of the same steps.
    let file = folder.path("free.toml").display().to_string();
    let method = ["-m", "compose:conserving:4", "--json"];
    let found = json(&[&["sensitivity", &file, "--parameters", "a.inertia_xx"], &method[..]].concat());
    let slope = number(&found["derivatives"]["a.inertia_xx"]["omega_body"][1]);
    let at = |inertia: &str| {
        let set = format!("a.inertia_xx={inertia}");
        number(
            &json(&[&["run", &file, "--set", &set, "--no-reference"], &method[..]].concat())["omega_body"][1],
        )
    };
    let difference = (at("0.010001") - at("0.009999")) / 2e-6;
    assert!((slope - difference).abs() < 1e-6 * (1.0 + slope.abs()), "{slope} {difference}");
}

#[test]
fn loads_that_look_elsewhere_and_switch_have_references() {
    let folder = Folder::new();
    let text = r#"
[bodies.up]
mass = 2
inertia = [0.02, 0.03, 0.01]
position = [0, 0, 1]
[bodies.low]
mass = 1
inertia = [0.01, 0.02, 0.015]
[[loads]]
body = "low"
force_space = ["40*(up.position_x-position_x)", 0, "40*(up.position_z-position_z)"]
from = 0.3137
[run]
step = 0.01
until = 1
"#;
    let file = folder.write("pulled.toml", text);
    let run = json(&["run", &file, "-m", "compose:conserving:4", "--json"]);
    // From rest at 1 m distance, it swings about the other body.
    let exact = 1.0 - (40f64.sqrt() * (1.0 - 0.3137)).cos();
    assert!((number(&run["bodies"]["low"]["position"][2]) - exact).abs() < 1e-6, "{run}");
    let error = (number(&run["bodies"]["low"]["position"][2]) - exact).abs();
    assert!((number(&run["error"]["position"]) - error).abs() < 1e-10, "{run}");
}

/// The heavier one pulls the other, by numbers of both.
#[test]
fn loads_that_look_elsewhere_take_numbers_of_bodies_along() {
    let text = |pull: &str, mass: &str| {
        format!(
            "[parameters]\nfew = 3\n{mass}[bodies.up]\nmass = 2\ninertia = [0.02, 0.03, 0.01]\nposition = [0, 0, 1]\n\
             [bodies.low]\nmass = 1.5\ncenter = [0.1, 0, 0.02]\nomega_body = [0.3, 1, 0]\ninertia = [0.01, 0.02, 0.015]\n\
             [[loads]]\nbody = \"low\"\nforce_space = [\"{pull}\", 0, \"few * (up.position_z - position_z)\"]\n\
             [run]\nstep = 0.01\nuntil = 0.2\n"
        )
    };
    let folder = Folder::new();
    let own = "mass * up.mass * few * up.position_z + 100 * inertia_xx + center_z";
    let given = "m * n * few * up.position_z + 100 * j + c";
    let own = folder.write("own.toml", &text(own, ""));
    let given = folder.write("given.toml", &text(given, "m = 1.5\nn = 2\nj = 0.01\nc = 0.02\n"));
    let place = |file: &str, set: &str| -> Vec<f64> {
        let mut run = vec!["run", file, "--no-reference", "--json"];
        if !set.is_empty() {
            run.extend(["--set", set]);
        }
        json(&run)["bodies"]["low"]["position"].as_array().unwrap().iter().map(number).collect()
    };
    assert_eq!(place(&own, ""), place(&given, ""));
    for (name, value) in [
        ("low.mass", 1.5),
        ("up.mass", 2.0),
        ("low.inertia_xx", 0.01),
        ("low.center_z", 0.02),
        ("low.center_x", 0.1),
    ] {
        let found = json(&["sensitivity", &own, "--parameters", name, "--json"]);
        let exact: Vec<f64> = found["derivatives"][name]["bodies"]["low"]["position"]
            .as_array()
            .unwrap()
            .iter()
            .map(number)
            .collect();
        let h = 1e-4 * value;
        let [high, low] = [value + h, value - h].map(|x| place(&own, &format!("{name}={x:?}")));
        for i in 0..3 {
            let difference = (high[i] - low[i]) / (2.0 * h);
            assert!(
                (exact[i] - difference).abs() < 1e-6 * (1.0 + exact[i].abs()),
                "{name}: {exact:?} {difference}"
            );
        }
    }
    let listed = json(&["check", &own, "--json"]).to_string();
    assert!(listed.contains("load-1.few") && !listed.contains("of.low"), "{listed}");
}
