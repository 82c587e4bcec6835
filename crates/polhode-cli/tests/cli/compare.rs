//! Methods side by side, and the frequencies and estimates of a run.

use crate::common::{fine, json, number, polhode, refused};
use serde_json::Value;

fn digits(value: &Value, text: &str) {
    let decimals = text.split_once('.').map_or(0, |(_, rest)| rest.find('e').unwrap_or(rest.len()));
    assert_eq!(format!("{:.decimals$e}", number(value)), text);
}

fn ids(found: &Value) -> Vec<&str> {
    found["rows"].as_array().unwrap().iter().map(|r| r["method"].as_str().unwrap()).collect()
}

#[test]
fn methods_that_keep_the_same_differ_in_phase() {
    let found = json(&["compare", "flying-brick", "--json"]);
    let all =
        ["convected-reduced", "akw", "preserving:cayley", "preserving:exp", "preserving:wiener-milenkovic"];
    assert_eq!(ids(&found), all);
    assert_eq!((found["problem"].as_str(), found["steps"].as_u64()), (Some("flying-brick"), Some(2000)));
    assert_eq!((number(&found["step"]), number(&found["until"])), (0.01, 20.0));
    assert_eq!(found["reference"], "closed form (Jacobi elliptic functions)");
    let errors = ["-1.041e-4", "-1.041e-4", "-1.041e-4", "-9.670e-4", "-7.512e-4"];
    for (row, error) in found["rows"].as_array().unwrap().iter().zip(errors) {
        assert!(number(&row["drift"]["energy"]) < 1e-13 && number(&row["drift"]["momentum_space"]) < 1e-11);
        assert!(number(&row["error"]["attitude"]) > 0.0 && number(&row["error"]["momentum"]) > 0.0);
        assert_eq!(row["frequencies"]["flips"], 7);
        digits(&row["frequencies"]["flip_interval_error"], error);
        assert!(row["frequencies"]["nutation"].is_null() && row["failure"].is_null());
        assert!(number(&row["newton"]["per_step"]) > 1.0 && number(&row["ns_per_step"]) > 0.0);
    }
    let text = fine(&["compare", "flying-brick"]);
    for part in ["2000 steps of 0.01 s, to t = 20 s", "flip interval 2.7231208 s", "-9.67e-4", "body mom."] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    assert!(!text.contains("vertical") && !text.contains("nutation"), "{text}");
}

#[test]
fn tops_are_compared_by_their_own_measures() {
    let found = json(&["compare", "spinning-top", "--methods", "bbtrapwd", "-m", "akw,bbtrapwd", "--json"]);
    assert_eq!(ids(&found), ["bbtrapwd", "akw"]);
    digits(&found["rows"][0]["frequencies"]["nutation_error"], "-5.617e-5");
    digits(&found["rows"][0]["frequencies"]["precession_error"], "4.311e-6");
    let text = fine(&["compare", "spinning-top", "--until", "2"]);
    let line = |start: &str| text.lines().find(|l| l.starts_with(start)).unwrap_or_default().to_string();
    let heads: Vec<&str> =
        text.lines().filter(|l| l.starts_with("method")).flat_map(str::split_whitespace).collect();
    let first = ["method", "energy", "vertical", "attitude", "angle", "body", "mom.", "nutation"];
    assert_eq!(heads, [&first[..], &["method", "precession", "newton", "per", "step"]].concat(), "{text}");
    assert!(!line("akw").is_empty() && !line("imidm").is_empty() && !line("swc1").is_empty(), "{text}");
    // A steady precession has no nutation; its rate is that of the fitted line.
    let text = fine(&["compare", "steady-precession", "--methods", "preserving:cayley,load=mean"]);
    assert!(text.contains("-4.47e-2") && !text.contains("nutation"), "{text}");
}

#[test]
fn what_does_not_exist_has_no_column() {
    let text = fine(&["compare", "driven-body", "--until", "1"]);
    assert!(!text.contains("energy") && !text.contains("phase") && text.contains("mkrk:gauss2"), "{text}");
    let found = json(&["compare", "driven-body", "--until", "1", "--json"]);
    assert_eq!(ids(&found), ["mkrk:gauss2", "imidm", "swc1", "akw", "convected-reduced"]);
    assert!(found["rows"][0]["frequencies"].is_null() && found["rows"][0]["drift"]["energy"].is_null());
    assert!(fine(&["compare", "free-body", "--until", "1"]).contains("position (m)"));
    let far = ["compare", "soft-wall", "--until", "20000", "--methods", "imidm"];
    assert!(fine(&far).contains("no reference: t = 20000 is too far away"));
    let found = json(&[&far[..], &["--json"]].concat());
    assert!(found["reference"].is_null() && found["no_reference"].is_string());
    assert!(found["rows"][0]["error"].is_null() && found["rows"][0]["drift"].is_object());
}

#[test]
fn every_method_can_be_compared() {
    let found = json(&["compare", "flying-brick", "--until", "0.1", "--methods", "all", "--json"]);
    let registered = json(&["methods", "--json"]);
    assert_eq!(ids(&found).len(), registered.as_array().unwrap().len());
}

#[test]
fn a_method_that_fails_says_so_in_its_row() {
    let args = ["compare", "fast-top", "--step", "1", "--until", "2", "--methods"];
    let found = json(&[&args[..], &["mkrk:gauss2,mkrk:rk4", "--json"]].concat());
    let (failed, ran) = (&found["rows"][0], &found["rows"][1]);
    assert!(failed["failure"].as_str().unwrap().contains("did not converge") && ran["failure"].is_null());
    for key in ["drift", "error", "frequencies", "newton", "ns_per_step"] {
        assert!(failed[key].is_null() && !ran[key].is_null(), "{key}");
    }
    assert!(fine(&[&args[..], &["mkrk:gauss2,mkrk:rk4"]].concat()).contains("did not converge"));
    let said = polhode(&[&args[..], &["mkrk:gauss2", "--json"]].concat());
    assert_eq!(said.code, Some(4));
    assert!(said.err.starts_with("error: every run failed; the first: Newton's method"), "{}", said.err);
    assert!(serde_json::from_str::<Value>(&said.out).is_ok());
}

#[test]
fn mistakes_are_refused() {
    refused(2, &["compare", "flying-bric"], &["did you mean flying-brick?"]);
    refused(2, &["compare", "flying-brick", "--methods", "akv"], &["'akv'", "akw"]);
    refused(2, &["compare", "flying-brick", "--methods", "kinematic:exp"], &["prescribed-motion"]);
    refused(2, &["compare", "flying-brick", "--step", "-1"], &["the step must be a positive finite number"]);
    refused(3, &["compare", "steady-precession", "--set", "density=0"], &["steady-precession: density"]);
}

#[test]
fn a_run_tells_its_frequencies() {
    let run = |args: &[&str]| {
        let found = json(&[&["run"], args, &["--frequencies", "--no-reference", "--json"]].concat());
        found["frequencies"].clone()
    };
    let top = run(&["spinning-top", "--method", "bbtrapwd"]);
    assert_eq!(top["periods"], 13);
    digits(&top["nutation_error"], "-5.617e-5");
    digits(&top["precession_error"], "4.311e-6");
    digits(&top["nutation_exact"], "9.20942455820617e0");
    assert!((number(&top["tilt_min"]) - 0.3).abs() < 1e-5 && top["flips"].is_null());
    let cone = run(&["steady-precession", "--method", "preserving:cayley,load=mean"]);
    digits(&cone["precession_fit"], "9.552664816e0");
    assert_eq!(number(&cone["precession_exact"]), 10.0);
    assert!(cone["nutation_exact"].is_null());
    let brick = run(&["flying-brick"]);
    digits(&brick["flip_interval_error"], "-1.0413e-4");
    digits(&brick["flip_interval_exact"], "2.723120768695552e0");
    assert!(brick["periods"].is_null());
    assert!(run(&["driven-body"])["nutation_error"].is_null());
    let text = fine(&["run", "flying-brick", "--frequencies"]);
    assert!(text.contains("frequencies, 7 flips") && text.contains("relative error -1.04e-4"), "{text}");
    let plain = json(&["run", "flying-brick", "--json"]);
    assert!(plain.get("frequencies").is_none() && plain.get("energy_estimate").is_none());
}

#[test]
fn a_run_tells_its_energy_estimate() {
    let run = |args: &[&str]| json(&[&["run"], args, &["--estimate", "--no-reference", "--json"]].concat());
    let seen = run(&["spinning-top", "--method", "bbtrapwd"])["energy_estimate"].clone();
    assert_eq!((seen["steps"].as_u64(), seen["bounded"].as_u64()), (Some(10000), Some(10000)));
    digits(&seen["max_potential"], "7.611e-4");
    assert!((4850..4950).contains(&seen["bounded_signed"].as_u64().unwrap()));
    for key in ["max_energy", "ratio", "kinetic"] {
        assert!(number(&seen[key]) > 0.0, "{key}");
    }
    let found = run(&["driven-body"]);
    assert!(found.get("energy_estimate").is_some_and(Value::is_null));
    assert!(fine(&["run", "driven-body", "--estimate"]).contains("no estimate of the energy"));
    // A body in free fall: the estimate is near the change of the potential, m g Δz.
    let fall = run(&["free-body", "--set", "gravity=0,0,-9.81", "--until", "1", "--step", "0.001"]);
    let most = number(&fall["energy_estimate"]["max_potential"]);
    assert!((0.18..0.21).contains(&most), "{most}");
    let place = std::env::temp_dir().join(format!("polhode-estimate-{}.csv", std::process::id()));
    let path = place.to_str().unwrap();
    fine(&["run", "spinning-top", "--estimate", "--until", "0.1", "--out", path]);
    let rows = std::fs::read_to_string(&place).unwrap();
    std::fs::remove_file(&place).unwrap();
    assert!(rows.lines().next().unwrap().ends_with(",energy,potential_estimate,energy_change"), "{rows}");
    assert!(rows.lines().nth(1).unwrap().ends_with(",0.0,0.0") && rows.lines().count() == 102);
    let text = fine(&["run", "spinning-top", "--method", "bbtrapwd", "--estimate"]);
    assert!(text.contains("change within the estimate  10000"), "{text}");
}
