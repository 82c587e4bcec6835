//! What a run says of itself: drifts of systems that rest, warnings, and where it could not go on.

use crate::common::json;
use crate::models::Folder;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

const REST: &str = r#"
[bodies.a]
shape = { rod = 0.3 }
mass = 1
attitude = [0, 0, 0.7]
[bodies.b]
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0.4, 0.1, 0.3]
[joints.p]
type = "revolute"
between = ["ground", "a"]
at = [0, 0, 0]
axis = [0, 0, 1]
[joints.q]
type = "spherical"
between = ["a", "b"]
at = [0.2, 0.1, 0]
[run]
step = 0.01
until = 1
"#;

#[test]
fn what_rests_has_no_drift() {
    let folder = Folder::new();
    let rest = folder.write("rest.toml", REST);
    let moves = folder.write("moves.toml", &REST.replace("at = [0, 0, 0]", "at = [0, 0, 0]\nrate = 1e-6"));
    for method in
        ["conserving", "conserving,constraints=index3", "decaying", "variational", "geometric-alpha"]
    {
        let run = ["run", &rest, "-m", method, "--no-reference", "--max-drift", "energy=1e-20", "--json"];
        let found = json(&run);
        assert_eq!(found["energy_unit"], "J", "{method}: {found}");
        // A motion that is small is one nevertheless.
        let found = json(&["run", &moves, "-m", method, "--no-reference", "--json"]);
        assert_eq!(found["energy_unit"], "relative", "{method}: {found}");
        assert!(number(&found["drift"]["energy"]) < 1e-3, "{method}: {found}");
    }
}
