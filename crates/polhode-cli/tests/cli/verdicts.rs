//! What a run says of itself: drifts of systems that rest, warnings, and where it could not go on.

use crate::common::{json, number, polhode, refused};
use crate::models::Folder;

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

/// A body on a hinge about z, with more in the joint and behind it.
fn hinged(joint: &str, more: &str) -> String {
    format!(
        "[bodies.a]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\n[joints.j]\ntype = \"revolute\"\nbetween = [\"ground\", \"a\"]\n\
         at = [0, 0, 0]\naxis = [0, 0, 1]\n{joint}\n{more}[run]\nstep = 0.01\nuntil = 1\n"
    )
}

/// A free body, another one a metre away, and what acts on them.
fn free(acts: &str) -> String {
    format!(
        "[bodies.a]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\n[bodies.b]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\n\
         position = [1, 0, 0]\n{acts}\n[run]\nstep = 0.01\nuntil = 1\n"
    )
}

#[test]
fn expressions_that_lose_their_value_are_named() {
    let folder = Folder::new();
    let load = |formula: &str| format!("[[loads]]\nbody = \"a\"\nforce_space = [0, \"{formula}\", 0]");
    let alone = free(&load("sqrt(0.5 - t)"));
    let (one, rest) = (alone.find("[bodies.b]").unwrap(), alone.find("[[loads]]").unwrap());
    let alone = format!("{}{}", &alone[..one], &alone[rest..]);
    let methods = ["geometric-alpha", "conserving", "decaying"];
    for (text, element, methods) in [
        (hinged("drive = \"sqrt(0.5 - t)\"", ""), "the drive of the joint 'j'", &methods[..]),
        (hinged("moment = \"sqrt(0.5 - t)\"", ""), "the motor of the joint 'j'", &methods),
        (free(&load("b.position_x * sqrt(0.5 - t)")), "the load on the body 'a'", &methods),
        (free(&load("sqrt(0.5 - t)")), "the load on the body 'a'", &methods),
        (alone, "the load on the body 'a'", &["akw", "mkrk:rk4", "conserving"]),
        (
            free("[forces.pull]\ntype = \"line\"\nbetween = [\"a\", \"b\"]\nforce = \"sqrt(0.5 - t)\""),
            "the force 'pull'",
            &methods,
        ),
    ] {
        let file = folder.write("model.toml", &text);
        for method in methods {
            let said = polhode(&["run", &file, "-m", method, "--no-reference"]);
            assert_eq!(said.code, Some(4), "{method}: {}", said.err);
            assert!(
                said.err.contains(&format!("{element} has no value at t = 0.5")),
                "{method}: {}",
                said.err
            );
            assert!(!said.err.contains("may get further"), "{method}: {}", said.err);
        }
    }
    // Another form of the equations is no help for an event either.
    let event = hinged("rate = 1", "[events.e]\nwhen = \"sqrt(0.5 - t)\"\n");
    let said = polhode(&["run", &folder.write("event.toml", &event), "-m", "geometric-alpha"]);
    assert!(said.err.contains("the event 'e' has no value") && !said.err.contains("further"), "{}", said.err);
}

#[test]
fn divisions_by_zero_at_the_start_are_told_at_their_expressions() {
    let folder = Folder::new();
    let load = |key: &str, formula: &str| format!("[[loads]]\nbody = \"a\"\n{key} = [1, \"{formula}\", 0]");
    let line = |key: &str| {
        format!("[forces.l]\ntype = \"line\"\nbetween = [\"ground\", \"a\"]\n{key} = \"1/length\"")
    };
    for (text, place) in [
        (hinged("moment = \"1/t\"", ""), ":9:10: the motor of the joint 'j' is not finite at the start"),
        (hinged("moment = \"1/j.angle\"", ""), ":9:10: the motor of the joint 'j'"),
        (free(&load("force_space", "b.position_x / t")), ":10:19: the load on the body 'a'"),
        (free(&load("moment_body", "1 / t")), ":10:19: the load on the body 'a'"),
        (free(&line("force")), ":11:9: the force 'l'"),
        (free(&line("potential")), ":11:13: the force 'l'"),
    ] {
        refused(3, &["check", &folder.write("model.toml", &text)], &[place]);
    }
}

#[test]
fn springs_need_a_direction_to_push_in() {
    let folder = Folder::new();
    let text = |length: &str| {
        let spring = "[forces.s]\ntype = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = 10\ndamping = 1\n";
        free(&format!("{spring}{length}")).replace("position = [1, 0, 0]", "velocity = [1, 0, 0]")
    };
    let file = folder.write("model.toml", &text("length = 0.5"));
    for method in ["geometric-alpha", "conserving", "decaying"] {
        refused(3, &["run", &file, "-m", method], &[":8:9: the two ends of the spring 's' coincide"]);
    }
    // One without length has none either, and needs none.
    for length in ["", "length = 0"] {
        let file = folder.write("model.toml", &text(length));
        for method in ["geometric-alpha", "conserving"] {
            let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
            assert!(number(&found["drift"]["energy"]) < 0.01, "{method}: {found}");
        }
    }
}

#[test]
fn mistakes_are_told_with_what_helps() {
    let folder = Folder::new();
    let check = |text: &str, texts: &[&str]| refused(3, &["run", &folder.write("m.toml", text)], texts);
    let text = hinged("", "").replace("[run]", "[run]\nmethod = \"akw\"");
    check(&text, &["m.toml:11:10: akw integrates a single body"]);
    let file = folder.write("m.toml", &text);
    refused(3, &["converge", &file], &["m.toml:11:10: "]);
    refused(2, &["run", &file, "-m", "akw"], &["error: akw integrates a single body"]);
    assert_eq!(polhode(&["run", &file, "-m", "conserving", "--no-reference"]).code, Some(0));

    let body = "[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\n";
    check(
        &format!("[parameters]\nk = \"m\"\nm = \"k\"\n{body}"),
        &["m.toml:2:6: k depends on itself, by way of m"],
    );
    check(
        &format!("[parameters]\nk = \"m + 1\"\nm = [1, \"2 * n\", 3]\nn = \"m_y + k\"\n{body}"),
        &["k depends on itself"],
    );
    check(&format!("[parameters]\nk = \"m + 1\"\nm = 2\n{body}"), &["m stands further down; move it up"]);
    check(&format!("[definitions]\nk = \"m\"\nm = \"k\"\n{body}"), &["k depends on itself, by way of m"]);

    let counted = hinged("", "").replace("mass = 1", "mass = 1\ncount = 3");
    check(&counted, &["the body or frame 'a', which is not there; did you mean a-1?"]);
    check(
        &format!("{body}count = 3\n[[loads]]\nbody = \"a\"\nforce_space = [0, 0, 1]\n"),
        &["the body 'a', which is not there; did you mean a-1?"],
    );
}

#[test]
fn energy_that_is_lost_is_told_unless_it_was_to_decay() {
    let folder = Folder::new();
    let driven = |drive: &str| {
        let text =
            hinged(&format!("drive = \"{drive}\""), "").replace("mass = 1", "mass = 1\ncenter = [0.3, 0, 0]");
        folder.write("driven.toml", &text.replace("axis = [0, 0, 1]", "axis = [0, 1, 0]"))
    };
    let said = |file: &str, method: &str| polhode(&["run", file, "-m", method, "--no-reference"]).err;
    let warning = "the energy less the work done, which the exact motion keeps, fell by ";
    let half_turns = driven("314.159265358979 * t");
    let told = said(&half_turns, "geometric-alpha,constraints=stabilized");
    assert!(told.contains(warning), "{told}");
    let told = said(&driven("sqrt(t)"), "decaying");
    assert!(told.contains(warning), "{told}");
    // A stiff spring that is stretched by 2 mm and rings down; its energy and that of the weight cancel at the start.
    let text = "gravity = [0, 0, -10]\n[bodies.a]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\nposition = [0, 0, -0.2]\n\
                [forces.s]\ntype = \"spring\"\nbetween = [\"ground\", \"a\"]\nstiffness = 1e6\nlength = 0.198\n\
                [run]\nstep = 0.01\nuntil = 1\n";
    let file = folder.write("rings.toml", text);
    for method in ["decaying", "geometric-alpha,rho=0.5"] {
        assert_eq!(said(&file, method), "", "{method}");
        let found = json(&["run", &file, "-m", method, "--no-reference", "--json"]);
        assert!(number(&found["energy"]) < -1.5, "{method}: {found}");
    }
}

/// Rows of columns that need no forces are made without them, and are those of the whole file to the digit; an output that reads a
/// reaction still has it.
#[test]
fn chosen_columns_are_those_of_the_whole_file() {
    let folder = Folder::new();
    let hinge = "[joints.again]\ntype = \"revolute\"\nbetween = [\"ground\", \"a\"]\nat = [0, 0, 1]\naxis = [0, 0, 1]\n\
                 [outputs]\nturned = \"2 * j.angle\"\nheld = \"j.force_x + again.force_x\"\n";
    let door = folder
        .write("door.toml", &hinged("rate = 2", hinge).replace("inertia", "center = [0.3, 0, 0]\ninertia"));
    let table = |name: &str, columns: &[&str]| -> Vec<Vec<String>> {
        let out = folder.path(name);
        let out = out.to_str().unwrap();
        let given = columns.iter().flat_map(|column| ["--columns", column]);
        let arguments = ["run", &door, "-m", "conserving", "--no-reference", "--until", "0.05", "--out", out];
        let arguments: Vec<&str> = arguments.into_iter().chain(given).collect();
        assert_eq!(polhode(&arguments).code, Some(0));
        let text = std::fs::read_to_string(out).unwrap();
        text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect()
    };
    let whole = table("whole.csv", &[]);
    for (name, columns) in [("moves.csv", ["turned", "a.*"]), ("held.csv", ["held", "j.angle"])] {
        let part = table(name, &columns);
        assert_eq!(part.len(), whole.len());
        for (k, name) in part[0].iter().enumerate() {
            let at = whole[0].iter().position(|other| other == name).unwrap();
            for (row, all) in part.iter().zip(&whole) {
                assert!(row[k] == all[at] && row[k] != "NaN" && !row[k].is_empty(), "{name}: {row:?}");
            }
        }
    }
}
