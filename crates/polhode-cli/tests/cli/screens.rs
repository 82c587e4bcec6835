//! What people see: screens of 80 columns, numbers that mean something, works in full.

use crate::common::{fine, json, polhode};
use polhode::method::{REGISTRY, SYSTEMS, WORKS};
use polhode::problem::Problem;

/// The widest line of a screen, without those that are one word.
fn widest(text: &str) -> &str {
    let wide = text.lines().filter(|line| line.split_whitespace().count() > 1);
    wide.max_by_key(|line| line.chars().count()).unwrap_or_default()
}

fn fits(args: &[&str]) -> String {
    let said = polhode(args);
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.err);
    assert!(widest(&said.out).chars().count() <= 80, "{args:?}: {}", widest(&said.out));
    said.out
}

#[test]
fn lists_and_help_fit_on_a_screen() {
    fits(&["problems"]);
    fits(&["methods"]);
    for problem in Problem::all() {
        fits(&["problems", &problem.id]);
    }
    for row in REGISTRY.iter().chain(SYSTEMS) {
        fits(&["methods", row.id]);
    }
    fits(&["--help"]);
    for command in [
        "run",
        "converge",
        "compare",
        "sensitivity",
        "fit",
        "sweep",
        "merge",
        "check",
        "new",
        "convert",
        "methods",
        "problems",
        "man",
        "completions",
        "help",
    ] {
        let help = fits(&["help", command]);
        // An example that goes on in the next line says so.
        let lines: Vec<&str> = help.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[1].starts_with("          -")) {
            assert!(pair[0].ends_with('\\') || !pair[0].starts_with("  polhode"), "{help}");
        }
    }
}

#[test]
fn results_fit_on_a_screen() {
    for problem in Problem::all() {
        let until = (10.0 * problem.step).to_string();
        fits(&["run", &problem.id, "--until", &until, "--no-reference"]);
    }
    fits(&["run", "fast-top", "--frequencies", "--estimate", "--until", "1"]);
    fits(&["run", "four-bar", "--until", "0.01"]);
    fits(&[
        "sweep",
        "four-bar",
        "--until",
        "0.01",
        "--vary",
        "mass_1=uniform:1,2",
        "--runs",
        "3",
        "--keep",
        "final",
    ]);
    fits(&["compare", "fast-top", "--until", "1", "--methods", "all"]);
    fits(&[
        "compare",
        "free-body",
        "--until",
        "1",
        "--methods",
        "preserving:wiener-milenkovic,load=finite-derivative",
    ]);
    fits(&["compare", "fast-top", "--step", "5", "--until", "50", "--methods", "akw,forward-euler"]);
    fits(&["converge", "free-body", "--until", "0.1", "--methods", "swc1,preserving:wiener-milenkovic"]);
    fits(&["converge", "free-body", "--until", "0.1", "--steps", "0.01,0.0006103515625"]);
    fits(&[
        "converge",
        "heavy-top",
        "--until",
        "0.02",
        "--methods",
        "geometric-alpha,constraints=stabilized",
    ]);
    for (problem, parameter) in [("heavy-top", "mass"), ("four-bar", "mass_1"), ("free-body", "mass")] {
        fits(&["sensitivity", problem, "-p", parameter, "--until", "0.02", "--check"]);
    }
}

#[test]
fn differences_are_judged_by_what_they_can_tell() {
    for (problem, parameter) in [
        ("heavy-top", "mass"),
        ("four-bar", "mass_2"),
        ("slider-crank", "rod"),
        ("free-body", "mass"),
        ("chain", "mass"),
    ] {
        let text = fits(&["sensitivity", problem, "-p", parameter, "--until", "0.05", "--check"]);
        let line =
            text.lines().find(|line| line.trim_start().starts_with("five-point  ")).unwrap_or_default();
        let worst: f64 = line.split_whitespace().last().and_then(|x| x.parse().ok()).expect("a number");
        assert!(worst < 1e-4, "{problem} {parameter}: {line}");
        // Rounding is not shown as a number.
        for word in text.split_whitespace().filter(|word| word.contains("e-")) {
            let exponent = word.rsplit_once("e-").and_then(|(_, e)| e.parse::<u32>().ok()).unwrap_or(0);
            assert!(exponent < 20, "{problem} {parameter}: {word}");
        }
    }
}

#[test]
fn attitude_errors_are_in_rad_too_and_steps_have_a_cost() {
    let found = json(&["run", "fast-top", "--method", "akw", "--step", "0.05", "--until", "10", "--json"]);
    let error = &found["error"];
    let (norm, angle) = (error["attitude"].as_f64().unwrap(), error["attitude_angle"].as_f64().unwrap());
    assert!((2.0 * (angle / 2.0).sin() - norm).abs() < 1e-14 && angle > norm, "{norm} {angle}");
    let found = json(&["converge", "free-rotation", "--until", "1", "--json"]);
    for point in found["rows"][0]["points"].as_array().unwrap() {
        assert!(
            point["ns_per_step"].as_f64().unwrap() > 0.0 && point["attitude_angle"].as_f64().unwrap() > 0.0
        );
    }
    let text = fine(&["compare", "free-rotation", "--until", "1"]);
    assert!(text.contains("the best of up to 5 runs") && text.contains("angle"), "{text}");
}

#[test]
fn works_are_given_in_full() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&fine(&["methods", "compose:swc1:4"]));
    for part in [
        "Simo, J. C., Wong, K. K.: Unconditionally stable",
        "https://doi.org/10.1002/nme.1620310103",
        "Suzuki, M.",
    ] {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
    let one = fine(&["methods", "swc1", "--bibtex"]);
    assert_eq!(one.matches("\n@").count() + 1, 2, "{one}");
    assert!(one.contains("@article{SimoWong1991,") && one.contains("Krysl2006"), "{one}");
    let all = fine(&["methods", "--bibtex"]);
    assert_eq!(all.matches('@').count(), WORKS.len());
    assert!(polhode(&["methods", "--bibtex", "--json"]).err.contains("cannot be used with"));
    // Footnotes come from the registry.
    let text = words(&fine(&["methods"]));
    for part in ["convected, convected-reduced", "preserving:<map>,load=finite-derivative", "kinematic:<map>"]
    {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
}
