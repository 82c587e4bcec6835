//! The comparison of methods.

use crate::common::{fine, json, names, polhode, refused};
use serde_json::Value;

const STEPS: [&str; 4] = ["--steps", "0.5,0.2,0.1", "--until", "100"];

fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [args, more].concat()
}

fn three_digits(value: &Value) -> String {
    format!("{:.2e}", value.as_f64().expect("a number"))
}

#[test]
fn the_midpoint_rule_has_the_errors_it_is_known_for() {
    let args = with(&["converge", "free-rotation", "--methods", "imidm"], &STEPS);
    let found = json(&with(&args, &["--json"]));
    assert_eq!((found["problem"].as_str(), found["until"].as_f64()), (Some("free-rotation"), Some(100.0)));
    assert_eq!(found["reference"], "closed form (Jacobi elliptic functions)");
    let row = &found["rows"][0];
    assert_eq!((row["method"].as_str(), row["order_claimed"].as_u64()), (Some("imidm"), Some(2)));
    let points = row["points"].as_array().unwrap();
    let expected = [
        (0.5, 200, "1.31e-1", "1.16e-1"),
        (0.2, 500, "2.03e-2", "1.78e-2"),
        (0.1, 1000, "5.06e-3", "4.42e-3"),
    ];
    for (point, (step, steps, attitude, momentum)) in points.iter().zip(expected) {
        assert_eq!((point["step"].as_f64(), point["steps"].as_u64()), (Some(step), Some(steps)));
        assert_eq!(three_digits(&point["attitude"]), attitude);
        assert_eq!(three_digits(&point["momentum"]), momentum);
        assert!(point.get("error").is_none());
    }
    assert!(points[0]["order_attitude"].is_null() && points[0]["order_momentum"].is_null());
    for key in ["order_attitude", "order_momentum"] {
        assert!((row[key].as_f64().unwrap() - 2.0).abs() < 0.015, "{row}");
        assert_eq!(row[key], points[2][key]);
    }
    let text = fine(&args);
    for part in ["1.31e-1", "2.03e-2", "5.06e-3", "1.16e-1", "1.78e-2", "4.42e-3", "2.01"] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
}

#[test]
fn steps_are_ordered_and_methods_may_be_repeated() {
    let args = ["converge", "free-rotation", "--until", "10", "--steps", "0.1,0.4", "--steps", "0.2"];
    let more = ["--methods", "imidm,akw", "--methods", "mkrk:0 0; 1/2 1/2 | 1/2 1/2", "-m", "akw", "--json"];
    let found = json(&with(&args, &more));
    let rows = found["rows"].as_array().unwrap();
    let ids: Vec<&Value> = rows.iter().map(|r| &r["method"]).collect();
    assert_eq!(ids, ["imidm", "akw", "mkrk:0 0; 1/2 1/2 | 1/2 1/2"]);
    let steps: Vec<&Value> = rows[1]["points"].as_array().unwrap().iter().map(|p| &p["step"]).collect();
    assert_eq!(steps, [0.4, 0.2, 0.1]);
}

#[test]
fn round_off_tells_nothing_of_the_order() {
    let args = with(&["converge", "free-rotation", "--methods", "mkrk:gauss4,mkrk:gauss3", "--json"], &STEPS);
    let found = json(&args);
    assert!(found["rows"][0]["order_attitude"].is_null());
    assert!(found["rows"][1]["order_attitude"].as_f64().unwrap() > 5.5);
}

#[test]
fn every_method_can_be_compared() {
    let found = json(&[
        "converge",
        "driven-body",
        "--methods",
        "all",
        "--steps",
        "0.02,0.01",
        "--until",
        "1",
        "--json",
    ]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 44);
    // Drag has no potential.
    let runs = |r: &&Value| r["method"] != "variational";
    for row in rows.iter().filter(runs).filter(|r| r["order_claimed"].as_u64() <= Some(4)) {
        let (claimed, seen) =
            (row["order_claimed"].as_f64().unwrap(), row["order_attitude"].as_f64().unwrap());
        assert!(seen > claimed - 0.2, "{row}");
    }
}

#[test]
fn a_run_that_fails_is_a_point_and_not_the_end() {
    let args = ["converge", "fast-top", "--until", "2", "--steps", "1,0.001"];
    let found = json(&with(&args, &["--methods", "mkrk:gauss2", "--json"]));
    let points = found["rows"][0]["points"].as_array().unwrap();
    assert!(points[0]["attitude"].is_null() && points[1]["attitude"].is_number());
    assert!(points[0]["error"].as_str().unwrap().contains("did not converge"), "{found}");
    assert!(fine(&with(&args, &["--methods", "mkrk:gauss2"])).contains("did not converge"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.svg").to_string_lossy().into_owned();
    let hopeless = ["converge", "fast-top", "--methods", "mkrk:gauss2", "--steps", "1", "--json"];
    let said = polhode(&with(&hopeless, &["--plot", &path]));
    assert_eq!(said.code, Some(4));
    assert!(said.err.starts_with("error: every run failed; the first: Newton's method"), "{}", said.err);
    assert!(serde_json::from_str::<Value>(&said.out).is_ok());
    assert!(names(folder.path()).is_empty());
}

#[test]
fn without_a_reference_there_is_nothing_to_compare() {
    refused(4, &["converge", "soft-wall", "--until", "20000"], &["no reference: ", "too far away"]);
}

/// Every tag is closed in order, attributes are quoted and no bare ampersand is left.
fn well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').expect("a tag ends");
        assert!(!rest.contains('>') && tag.matches('"').count() % 2 == 0, "{tag}");
        let name = tag.split([' ', '/']).find(|x| !x.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(
        text.split('&').skip(1).all(|x| ["amp;", "lt;", "gt;", "quot;"].iter().any(|e| x.starts_with(e)))
    );
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn plots_show_every_method_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.svg");
    let plot = path.to_string_lossy();
    for (methods, steps, count) in
        [("imidm", "0.1", 1), ("imidm,akw,compose:akw:4", "0.2,0.1,0.05", 3), ("all", "1,0.2,0.02", 44)]
    {
        let args = [
            "converge",
            "free-rotation",
            "--until",
            "10",
            "--methods",
            methods,
            "--steps",
            steps,
            "--plot",
            &plot,
        ];
        fine(&args);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        well_formed(&text);
        let markers = text.matches("<circle").count() + text.matches("<polygon").count();
        let points = steps.split(',').count();
        assert_eq!(markers, count * (2 * points + 1), "{methods}");
        assert!(text.contains(">order 2</text>") && text.contains("body momentum error"));
    }
    assert_eq!(names(folder.path()), ["x.svg"]);
}
