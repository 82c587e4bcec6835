//! Events of model files, from outside.

use crate::common::{csv, fine, json, polhode, refused};
use serde_json::Value;
use std::path::PathBuf;

/// A ball that is thrown up, with events.
const BALL: &str = r#"
gravity = [0, 0, -10]
[bodies.ball]
mass = 1
inertia = [1, 1, 2]
position = [0, 0, 1]
velocity = [3, 0, 10]
[outputs]
height = "position_z"
[events.top]
when = "velocity_z"
[events.window]
when = "position_z - 4.75"
[events.down]
when = "position_z - 4.75"
direction = "down"
[events.landing]
when = "position_z"
stop = true
[run]
method = "akw"
step = 0.1
until = 3
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }
    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.at(name), text).unwrap();
        self.at(name).to_str().unwrap().into()
    }
}

fn times(report: &Value, event: &str) -> Vec<f64> {
    let list = report["events"][event]["times"].as_array().unwrap();
    list.iter().map(|t| t.as_f64().unwrap()).collect()
}

fn close(found: &[f64], exact: &[f64]) {
    assert_eq!(found.len(), exact.len(), "{found:?}");
    assert!(found.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-13), "{found:?} {exact:?}");
}

#[test]
fn events_have_times_and_states_and_one_ends_the_run() {
    let folder = Folder::new();
    let file = folder.write("ball.toml", BALL);
    let out = folder.at("ball.csv");
    let landing = 1.0 + 1.2f64.sqrt();
    for method in ["akw", "linear-alpha"] {
        let args =
            ["run", &file, "--method", method, "--json", "--out", out.to_str().unwrap(), "--every", "4"];
        let report = json(&args);
        close(&times(&report, "top"), &[1.0]);
        close(&times(&report, "window"), &[0.5, 1.5]);
        close(&times(&report, "down"), &[1.5]);
        close(&times(&report, "landing"), &[landing]);
        assert_eq!((&report["stopped_by"], &report["steps"]), (&Value::from("landing"), &Value::from(21)));
        assert!((report["t"].as_f64().unwrap() - landing).abs() < 1e-13);
        // The states are what the last one is.
        let states = report["events"]["landing"]["states"].as_array().unwrap();
        for (key, value) in states[0].as_object().unwrap() {
            assert_eq!(&report[key], value, "{method} {key}");
        }
        assert!(states[0]["position"][0].as_f64().is_some_and(|x| (x - 3.0 * landing).abs() < 1e-12));
        assert_eq!(report["events"]["window"]["states"][1]["t"], report["events"]["window"]["times"][1]);
        assert!(
            report["events"]["top"]["states"][0]["outputs"]["height"]
                .as_f64()
                .is_some_and(|z| (z - 6.0).abs() < 1e-12)
        );
        // Its last row is the event, between two that were due.
        let (_, rows) = csv(&out);
        let rows: Vec<f64> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(rows.len(), 7, "{rows:?}");
        assert_eq!(rows[6], report["t"].as_f64().unwrap());
        // The error at the end is that at the time of the event.
        assert!(report["error"]["position"].as_f64().is_some_and(|x| x < 1e-10), "{}", report["error"]);
    }
    // Lines are wrapped.
    let said = fine(&["run", &file]).split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["ended by the event 'landing'", "first t = 0.5 s, last t = 1.5 s", "the end of the run"] {
        assert!(said.contains(text), "{said}");
    }
    let never = folder.write("never.toml", &BALL.replace("position_z\"\nstop", "position_z + 100\"\nstop"));
    let said = fine(&["run", &never, "--until", "1.5"]);
    assert!(said.contains("landing") && said.contains("never") && !said.contains("ended by"), "{said}");
}

/// Without those that stop, a run is what it is without events.
#[test]
fn a_model_with_events_has_the_results_of_one_without() {
    let folder = Folder::new();
    let still = BALL.replace("stop = true", "stop = false");
    let with = folder.write("with.toml", &still);
    let without = folder.write("without.toml", still.split("[events.top]").next().unwrap());
    for (method, step) in [("akw", "0.07"), ("linear-alpha", "0.07")] {
        let run = |file: &str| {
            let args = ["run", file, "--method", method, "--step", step, "--until", "3", "--json"];
            let mut report = json(&args);
            let object = report.as_object_mut().unwrap();
            ["seconds", "ns_per_step", "events", "problem"].iter().for_each(|key| drop(object.remove(*key)));
            report
        };
        assert_eq!(run(&with), run(&without), "{method}");
    }
    for command in [vec!["compare"], vec!["converge"], vec!["sensitivity", "--parameters", "ball.mass"]] {
        let mut args = vec![command[0], &with, "--until", "0.5"];
        args.extend(&command[1..]);
        assert_eq!(polhode(&args).code, Some(0), "{args:?}");
    }
}

#[test]
fn commands_that_need_whole_runs_refuse_those_that_stop() {
    let folder = Folder::new();
    let file = folder.write("ball.toml", BALL);
    for command in [vec!["compare"], vec!["converge"], vec!["sensitivity", "--parameters", "ball.mass"]] {
        let mut args = vec![command[0], &file];
        args.extend(&command[1..]);
        refused(2, &args, &["the event 'landing'", "stops its runs", command[0]]);
    }
    let data = folder.write("data.csv", "t,position_z\n0,1\n0.1,1.9\n");
    refused(
        2,
        &["fit", &file, "--data", &data, "--parameters", "ball.mass"],
        &["the event 'landing'", "fit"],
    );
    let said = fine(&["check", &file]);
    assert!(said.contains("landing") && said.contains("position_z - 4.75"), "{said}");
    let report = json(&["check", &file, "--json"]);
    assert_eq!(report["events"]["down"]["direction"], "down");
    assert_eq!(report["events"]["landing"]["stop"], true);
}

#[test]
fn mistakes_in_events_are_told_where_they_stand() {
    let folder = Folder::new();
    for (from, to, place, texts) in [
        ("velocity_z", "velocty_z", ":11:9: ", "did you mean velocity_z"),
        ("velocity_z", "1 / position_x", ":11:8: ", "'top' is not finite at the start"),
        ("\"down\"", "\"downward\"", ":16:13: ", "down"),
        ("stop = true", "stop = 1", ":19:8: ", "true or false"),
        ("when = \"velocity_z\"", "direction = \"up\"", ":10:9: ", "needs `when`"),
    ] {
        let file = folder.write("m.toml", &BALL.replacen(from, to, 1));
        refused(3, &["run", &file], &[place, texts]);
    }
    // One that loses its value on the way.
    let file = folder.write("m.toml", &BALL.replace("\"velocity_z\"", "\"sqrt(position_z - 0.5)\""));
    refused(4, &["run", &file], &["the event 'top' has no value at t = "]);
}
