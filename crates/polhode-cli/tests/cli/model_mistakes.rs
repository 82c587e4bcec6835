//! Model files that are wrong, and what editors are told of right ones.

use crate::common::{fine, json, polhode, refused};
use crate::models::Folder;
use serde_json::Value;
use std::path::Path;

/// Bodies with names from body-0 on, more than a message looks through one by one.
fn many() -> String {
    (0..30).map(|i| format!("[bodies.body-{i}]\nmass = 1\ninertia = [1, 1, 1]\n")).collect()
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
        (with("until = 1", "until = 0"), "x.toml:9:9: ", "the end time must be a positive finite number"),
        (with("until = 1", "until = 0.001"), "x.toml:9:9: ", "the step"),
        (
            with("[run]", &format!("{}[outputs]\nx = \"body-24.positon_x\"\n[run]", many())),
            "did you mean body-24.position_x",
            "x.toml:",
        ),
        (
            with("[run]", "omega_body = [1e200, 0, 1]\n[run]"),
            "x.toml:4:9: ",
            "position or velocities of 'top' are too large",
        ),
        (
            "[bodies.rod]\nmass = 1\nshape = { rod = 1 }\n[joints.pin]\ntype = \"revolute\"\nbetween = [\"ground\", \"rod\"]\n\
             at = [0, 0, 0]\naxis = [0, 0, 1]\n[bodies.loose]\nmass = 1\nshape = { rod = 1 }\nposition = [1, 0, 0]\n[joints.tip]\n\
             type = \"spherical\"\nbetween = [\"rod\", \"loose\"]\nat = [1, 0, 0]\n[run]\nstep = 0.01\nuntil = 1\n"
                .into(),
            "x.toml:9:9: ",
            "the body 'loose' has no inertia about an axis about which nothing holds it",
        ),
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
            with("[run]", "[[loads]]\nname = \"jet\"\nbody = \"top\"\nmoment_body = [\"t\", 0, 0]\n[run]"),
            "x.toml:7:1: ",
            "the load 'jet' is set between steps: its moment_body takes numbers",
        ),
        (
            with("[run]", "[[loads]]\nname = \"jet\"\nbody = \"top\"\npotential = \"q_x\"\n[run]"),
            "x.toml:8:8: ",
            "it needs moment_body",
        ),
        (
            with(
                "[run]",
                &("[[loads]]\nname = \"jet\"\nbody = \"top\"\nforce_body = [1, 0, 0]\n".repeat(2) + "[run]"),
            ),
            "x.toml:12:8: ",
            "two loads with the name 'jet'",
        ),
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
                "[joints.j]\ntype = \"revolute\"\nbetween = [\"ground\", \"top\"]\ndrive = \"angle\"\n[run]",
            ),
            "x.toml:10:10: ",
            "nothing is called 'angle' here",
        ),
        (with("[run]", "[events.e]\nwhen = \"s - 1\"\n[run]"), "x.toml:8:9: ", "nothing is called 's'"),
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

#[test]
fn odd_texts_do_not_reach_the_terminal() {
    let folder = Folder::new();
    let body = "[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n[run]\nstep = 0.1\nuntil = 1\n";
    let long = folder.write("long.toml", &format!("title = \"{}\"\n{body}", "x".repeat(70_000)));
    for command in ["check", "run"] {
        let said = polhode(&[command, &long]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(said.out.len() < 10_000);
    }
    let escape = folder.write("escape.toml", &body.replace("[1, 1, 1]", "\"\\u001b[2J\\u202e\""));
    let said = polhode(&["check", &escape]);
    assert_eq!(said.code, Some(3));
    assert!(!said.err.contains(['\u{1b}', '\u{202e}']), "{:?}", said.err);
    let quoted =
        folder.write("quoted.toml", &body.replace("mass = 1", &format!("mass = \"{}\"", "y".repeat(5000))));
    assert!(polhode(&["check", &quoted]).err.len() < 2000);
}
