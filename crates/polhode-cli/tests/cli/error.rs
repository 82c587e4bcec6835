//! Errors that are asked for, and limits for drifts.

use crate::common::{csv, fine, json, names, number, polhode, refused};
use polhode::problem::Problem;
use serde_json::Value;

/// The error at the end in the measure of the estimate, by the reference.
fn actual(found: &Value) -> f64 {
    let (error, control) = (&found["error"], &found["error_control"]);
    let moved = match (error["position"].as_f64(), control["size_of_motion"].as_f64()) {
        (Some(gap), Some(size)) => gap / size,
        _ => 0.0,
    };
    number(&error["attitude_angle"]).max(moved)
}

/// Runs to an error, and looks at what was promised.
fn reaches(problem: &str, method: &str, tolerance: f64) {
    let asked = format!("{tolerance:e}");
    let found = json(&["run", problem, "--method", method, "--error", &asked, "--json"]);
    let control = &found["error_control"];
    let shown = format!("{problem} {method} {asked}: {control}");
    assert_eq!(control["reached"], true, "{shown}");
    assert_eq!(number(&control["tolerance"]), tolerance);
    assert_eq!(number(&control["step"]), number(&found["step"]), "{shown}");
    let (end, along) = (number(&control["estimate"]), number(&control["estimate_along"]));
    assert!(end <= along && along <= tolerance, "{shown}");
    let actual = actual(&found);
    assert!(actual <= 1.5 * tolerance && actual <= 3.0 * along, "{actual:.2e}, {shown}");
    // No step is needlessly small: what is promised of the whole run is nearly used up somewhere.
    assert!(along >= 0.1 * tolerance, "{shown}");
    assert!(actual >= 0.3 * end, "{actual:.2e}, {shown}");
    assert!(control["runs"].as_array().is_some_and(|runs| runs.len() >= 2), "{shown}");
}

#[test]
fn what_is_promised_is_reached_wherever_a_closed_form_tells() {
    let mut count = 0;
    for problem in Problem::all() {
        let model = problem.model().unwrap();
        // Where an extrapolation would be made a look at a short time tells so as well.
        let source = model.reference(0.01 * problem.until).map(|reference| reference.source);
        let closed = source.is_ok_and(|s| s.starts_with("closed form") || s.starts_with("the prescribed"));
        if !closed {
            continue;
        }
        count += 1;
        // It amplifies rounding to 1e-8.
        let fine = if problem.id == "steady-precession" { 1e-6 } else { 1e-8 };
        for (method, tolerances) in [
            (problem.method.as_str(), &[1e-2, 1e-4][..]),
            ("mkrk:rk4", &[1e-2, 1e-5, fine]),
            ("mkrk:gauss3", &[1e-3, fine]),
        ] {
            for tolerance in tolerances {
                reaches(&problem.id, method, *tolerance);
            }
        }
    }
    assert!(count >= 9, "{count}");
}

#[test]
fn first_order_and_systems_too() {
    reaches("slow-top", "trapm", 1e-3);
    reaches("prescribed-rotation", "backward-euler-m", 1e-2);
    reaches("free-rotation", "galpha:exp", 1e-4);
    reaches("prescribed-motion", "kinematic:exp", 1e-4);
    for (problem, method) in [
        ("four-bar", "linear-alpha"),
        ("double-pendulum", "geometric-alpha"),
        ("double-pendulum", "linear-alpha,constraints=stabilized"),
        ("chain", "residual-alpha"),
        // Its bodies turn where they are: positions are nothing but rounding.
        ("gyroscope", "linear-alpha"),
        ("heavy-top", "akw"),
    ] {
        reaches(problem, method, 1e-4);
    }
}

#[test]
fn a_vibration_that_is_too_fast_for_the_steps_is_not_overlooked() {
    // Steps of a tenth of a second agree with each other; all of them miss a ringing of 0.001 rad and what it does to the
    // slow motion, 0.06 rad in the end.
    for method in ["mkrk:rk4", "mkrk:gauss3"] {
        reaches("stiff-spring", method, 1e-2);
    }
}

#[test]
fn people_see_how_the_step_was_found() {
    let text = fine(&["run", "fast-top", "--error", "1e-4"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "estimated; 0.0001 was asked for",
        "the largest difference from the run with twice the step, divided by 2^p - 1 with p = 2.00",
        "the error is the largest angle in rad",
    ] {
        assert!(words.contains(part), "'{part}' is not in: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let text = fine(&["run", "free-body", "--error", "1e-4", "--method", "mkrk:gauss2", "--no-reference"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("half the step, divided by 1 - 2^-p") && words.contains("from its start"),
        "{text}"
    );
    // The file has the run with the step that was found.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("top.csv");
    let out = path.to_string_lossy();
    let found = json(&["run", "slow-top", "--error", "1e-3", "--out", &out, "--json"]);
    let (_, rows) = csv(&path);
    assert_eq!(rows.len() as u64, 1 + found["steps"].as_u64().unwrap());
}

#[test]
fn what_is_out_of_reach_is_said_with_the_best_that_was_found() {
    for bad in ["0", "-1", "nan", "inf", "-0"] {
        refused(2, &["run", "fast-top", "--error", bad], &["positive finite number"]);
        refused(2, &["compare", "fast-top", "--error", bad], &["positive finite number"]);
    }
    refused(2, &["run", "fast-top", "--error", "1e-3", "--step", "0.1"], &["cannot be used with"]);
    refused(2, &["compare", "fast-top", "--error", "1e-3", "--step", "0.1"], &["cannot be used with"]);
    refused(2, &["run", "fast-top", "--budget", "1"], &["--error"]);
    refused(2, &["compare", "fast-top", "--plot", "x.svg"], &["--error"]);
    refused(2, &["run", "fast-top", "--error", "1e-3", "--until", "-1"], &["the end time must be"]);
    let best = "the best that was found is a step of";
    refused(4, &["run", "fast-top", "--error", "1e-30"], &["steps", best]);
    let exact = ["run", "fast-top", "--error", "1e-30", "--method", "mkrk:gauss4", "--json"];
    refused(4, &exact, &["rounding", best]);
    refused(
        4,
        &["run", "prescribed-rotation", "--error", "1e-7", "--method", "backward-euler-m", "--budget", "1"],
        &[best],
    );
    let sensitive = ["run", "soft-wall-attractive", "--error", "1e-6", "--budget", "0.5"];
    refused(4, &sensitive, &["do not approach each other", "too sensitive"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let out = path.to_string_lossy();
    refused(4, &["run", "fast-top", "--error", "1e-30", "--out", &out], &[best]);
    assert!(names(folder.path()).is_empty());
    let said = polhode(&exact);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    let control = &found["error"]["error_control"];
    assert_eq!(
        (found["error"]["kind"].as_str(), control["reached"].as_bool()),
        (Some("unreached"), Some(false))
    );
    assert!(number(&control["estimate_along"]) > 0.0 && control["how"].is_string());
}

#[test]
fn extra_coordinates_count_like_positions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("swing.toml");
    // x = cos(7 t) / 10 beside a body that hardly turns.
    let text = "bodies.slow = { mass = 1, inertia = [1, 2, 2.5], omega_body = [0, 0, 1e-3] }\n\
                coordinates.x = { mass = [2], stiffness = [98], position = [0.1] }\n\
                run = { method = \"geometric-alpha\", step = 0.1, until = 1.5 }\n";
    std::fs::write(&path, text).unwrap();
    let file = path.to_string_lossy();
    for tolerance in [1e-2, 1e-4] {
        let found = json(&["run", &file, "--error", &format!("{tolerance:e}"), "--json"]);
        let control = &found["error_control"];
        assert_eq!(control["reached"], true, "{control}");
        let along = number(&control["estimate_along"]);
        let actual = (number(&found["coordinates"]["x"]["position"][0]) - 0.1 * f64::cos(10.5)).abs() / 0.2;
        assert!(
            along <= tolerance && along >= 0.1 * tolerance && actual <= 1.5 * along,
            "{actual:e} {control}"
        );
        assert!(actual >= 0.3 * number(&control["estimate"]), "{actual:e} {control}");
    }
}

#[test]
fn methods_are_compared_by_what_an_error_costs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("work.svg");
    let plot = path.to_string_lossy();
    let args = ["compare", "slow-top", "--until", "5", "--methods", "swc1,mkrk:rk4", "--error", "1e-6,1e-3"];
    let found = json(&[&args[..], &["--json", "--plot", &plot]].concat());
    assert!(found["reference"].as_str().is_some_and(|s| s.starts_with("closed form")));
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let needs = row["needs"].as_array().unwrap();
        for (need, tolerance) in needs.iter().zip([1e-3, 1e-6]) {
            assert_eq!((number(&need["tolerance"]), need["reached"].as_bool()), (tolerance, Some(true)));
            let (along, end) = (number(&need["estimate_along"]), number(&need["error_at_end"]));
            assert!(along <= tolerance && end <= 1.5 * tolerance && end > 0.0, "{need}");
            assert!(number(&need["seconds"]) > 0.0 && number(&need["step"]) > 0.0);
            assert_eq!(need["newton"]["iterations"].as_u64() == Some(0), row["method"] == "mkrk:rk4");
        }
        assert!(number(&needs[0]["step"]) > number(&needs[1]["step"]));
    }
    assert_eq!(found["recommended"], "mkrk:rk4");
    assert!(
        found["recommendation"].as_str().is_some_and(|s| s.starts_with("Use mkrk:rk4: it reaches 1e-6 in"))
    );
    let drawing = std::fs::read_to_string(&path).unwrap();
    for part in ["time of a run, s", ">steps<", "swc1", "mkrk:rk4", "what an error costs", "<polyline"] {
        assert!(drawing.contains(part), "{part}");
    }
    let text = fine(&args);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Use mkrk:rk4: it reaches 1e-6 in") && words.ends_with("as long."), "{text}");
    assert!(text.contains("asked for") && text.contains("at the end"), "{text}");
}

#[test]
fn a_comparison_says_who_does_not_get_there() {
    let args =
        ["compare", "four-bar", "--until", "0.1", "--error", "1e-2,1e-11", "--budget", "1", "--methods"];
    let text = fine(&[&args[..], &["residual-alpha,linear-alpha"]].concat());
    assert!(text.contains("no step was found with an error of at most 1e-11"), "{text}");
    let found = json(&[&args[..], &["residual-alpha,linear-alpha", "--json"]].concat());
    let need = &found["rows"][0]["needs"][1];
    assert!(need["reached"] == false && need["failure"].is_string() && need["step"].is_null());
    let said = polhode(&["compare", "fast-top", "--error", "1e-30", "--methods", "imidm", "--json"]);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, found["failure"]["code"].as_i64()), (Some(4), Some(4)));
    assert!(found["recommended"].is_null() && said.err.contains("no method gets there"), "{}", said.err);
}

#[test]
fn drifts_have_limits() {
    let top = ["run", "fast-top", "--until", "1", "--max-drift"];
    fine(&[&top[..], &["energy=1e-6"]].concat());
    fine(&[&top[..], &["energy=1e-6,momentum_vertical=1e-9", "--max-drift", "momentum_body=1"]].concat());
    let said = polhode(&[&top[..], &["energy=1e-9,momentum_vertical=1e-9"]].concat());
    assert_eq!(said.code, Some(5));
    assert!(said.err.starts_with("error: the drift of energy is ") && !said.err.contains("vertical"));
    assert!(said.err.contains("beyond its limit 1e-9") && said.out.contains("largest drift over the run"));
    let said = polhode(&[&top[..], &["energy=1e-9", "--json"]].concat());
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        (said.code, &found["failure"]["code"], &found["failure"]["kind"]),
        (Some(5), &5.into(), &"drift".into())
    );
    let gate = &found["max_drift"][0];
    assert!(
        gate["exceeded"] == true && gate["quantity"] == "energy" && found["error"]["attitude"].is_number()
    );
    assert_eq!(number(&gate["drift"]), number(&found["drift"]["energy"]));
    // Zero is a limit: what is kept to the last bit passes it.
    assert_eq!(polhode(&["run", "fast-top", "--until", "1", "--max-drift", "energy=0"]).code, Some(5));

    refused(2, &[&top[..], &["enrgy=1"]].concat(), &["no drift is called 'enrgy'; did you mean energy?"]);
    refused(2, &[&top[..], &["zzz=1"]].concat(), &["there are energy, momentum_space"]);
    refused(2, &[&top[..], &["energy"]].concat(), &["--max-drift is written NAME=LIMIT"]);
    for bad in ["-1", "nan", "inf", "x", ""] {
        refused(2, &[&top[..], &[&format!("energy={bad}")]].concat(), &["the limit must be a finite number"]);
    }
    refused(2, &["run", "driven-body", "--max-drift", "energy=1"], &["a load has no potential"]);
    refused(
        2,
        &["run", "four-bar", "--max-drift", "momentum_space=1"],
        &["from outside on this system of bodies"],
    );
    refused(2, &["run", "fast-top", "--max-drift", "linear_momentum_space=1"], &["fixed point"]);
}
