//! What a run, a list and a comparison say.

use crate::common::{csv, fine, json, names, number, polhode};
use serde_json::Value;

const PROBLEMS: [&str; 13] = [
    "free-rotation",
    "flying-brick",
    "slow-top",
    "fast-top",
    "spinning-top",
    "steady-precession",
    "soft-wall",
    "soft-wall-attractive",
    "stiff-spring",
    "driven-body",
    "free-body",
    "prescribed-motion",
    "prescribed-rotation",
];

/// The problems that are systems of bodies and joints, tested in their own file.
const SYSTEMS: [&str; 7] =
    ["heavy-top", "simple-pendulum", "double-pendulum", "chain", "four-bar", "slider-crank", "gyroscope"];

fn numbers(value: &Value, n: usize) -> Vec<f64> {
    let list: Vec<f64> = value.as_array().expect("an array").iter().map(number).collect();
    assert_eq!(list.len(), n);
    list
}

#[test]
fn a_run_is_summed_up() {
    let text = fine(&["run", "free-rotation", "--method", "imid"]);
    for part in [
        "free-rotation, torque-free asymmetric body",
        "imid, implicit midpoint rule, rate form",
        "1000 steps of 0.1 s, to t = 100 s",
        "per step",
        "iterations per step, at most",
        "reference: closed form (Jacobi elliptic functions)",
    ] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    let line = |start: &str| text.lines().find(|l| l.trim_start().starts_with(start)).unwrap_or_default();
    assert!(line("energy").ends_with("kept by the method"), "{text}");
    assert!(line("angular momentum in space").ends_with("invariant, no claim"), "{text}");
    assert!(line("momentum about body axis 3").ends_with("not invariant here"), "{text}");
    let explicit = fine(&["run", "free-rotation", "--method", "mkrk:rk4", "--no-reference"]);
    assert!(!explicit.contains("newton") && explicit.contains("no reference: not asked for"), "{explicit}");
    let short = fine(&["run", "free-rotation", "--step", "0.3", "--until", "1"]);
    assert!(short.contains("4 steps of 0.3 s, to t = 1 s, the last one shorter"), "{short}");
}

#[test]
fn json_tells_everything_of_every_problem() {
    for problem in PROBLEMS {
        let run = json(&["run", problem, "--until", "2", "--step", "0.01", "--method", "imidm", "--json"]);
        assert_eq!((run["problem"].as_str(), run["method"].as_str()), (Some(problem), Some("imidm")));
        assert_eq!((number(&run["step"]), number(&run["until"]), number(&run["t"])), (0.01, 2.0, 2.0));
        assert_eq!(run["steps"].as_u64(), Some(200));
        let rows = run["attitude"].as_array().expect("rows");
        let r: Vec<Vec<f64>> = rows.iter().map(|row| numbers(row, 3)).collect();
        let q = numbers(&run["q_wxyz"], 4);
        // Body to space, by rows: the entry (1, 0) is 2 (xy + wz).
        assert!((r[1][0] - 2.0 * (q[1] * q[2] + q[0] * q[3])).abs() < 1e-14, "{problem}");
        let body = numbers(&run["momentum_body"], 3);
        let space = numbers(&run["momentum_space"], 3);
        numbers(&run["omega_body"], 3);
        number(&run["kinetic_energy"]);
        let prescribed = problem.starts_with("prescribed-");
        let moving = ["free-body", "prescribed-motion"].contains(&problem);
        for key in ["position", "velocity", "linear_momentum_space"] {
            assert_eq!(run.get(key).is_some(), moving, "{problem}: {key}");
        }
        assert_eq!(run["drift"].get("linear_momentum_space").is_some(), moving);
        if !moving {
            let turned: f64 = (0..3).map(|j| r[0][j] * body[j]).sum();
            assert!((turned - space[0]).abs() < 1e-12, "{problem}");
        }
        let potential = problem != "driven-body" && !prescribed;
        for value in [&run["energy"], &run["drift"]["energy"]] {
            assert_eq!(value.is_number(), potential, "{problem}");
            assert_eq!(value.is_null(), !potential, "{problem}");
        }
        for key in ["momentum_space", "momentum_body", "momentum_vertical", "momentum_axial"] {
            number(&run["drift"][key]);
        }
        for key in ["min", "max", "mean", "rms"] {
            assert_eq!(run["energy_error"][key].is_number(), potential, "{problem}");
        }
        for key in ["iterations", "most", "solves", "jacobians", "retries"] {
            assert!(run["newton"][key].is_u64(), "{problem}: {key}");
        }
        assert!(number(&run["newton"]["per_step"]) >= 1.0);
        // The step is too long for the spins of two of them, and for the fast oscillation of the spring.
        let coarse = ["flying-brick", "steady-precession"].contains(&problem);
        assert!(
            (number(&run["error"]["attitude"]) < 0.1 || coarse)
                && (number(&run["error"]["momentum"]) < 0.3 || coarse || problem == "stiff-spring"),
            "{problem}"
        );
        for key in ["position", "position_relative"] {
            assert_eq!(run["error"].get(key).is_some(), moving);
        }
        let ratio = number(&run["error"]["attitude_frobenius"]) / number(&run["error"]["attitude"]);
        assert!((ratio - 2f64.sqrt()).abs() < 1e-12);
        assert!(run["error"]["source"].is_string() && run.get("no_reference").is_none());
        assert!(number(&run["seconds"]) > 0.0 && number(&run["ns_per_step"]) > 0.0);
    }
    let run = json(&["run", "free-rotation", "--no-reference", "--json"]);
    assert!(run["error"].is_null() && run["no_reference"].is_string());
}

#[test]
fn json_numbers_are_those_of_the_csv_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let run = json(&["run", "free-body", "--until", "1", "--json", "--out", &path.to_string_lossy()]);
    let (header, rows) = csv(&path);
    let last = rows.last().unwrap();
    let column = |name: &str| last[header.iter().position(|h| h == name).unwrap()];
    assert_eq!(column("q_w"), run["q_wxyz"][0]);
    assert_eq!(column("position_z"), run["position"][2]);
    assert_eq!(column("energy"), run["energy"]);
}

#[test]
fn csv_has_every_nth_step_and_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, "old").unwrap();
    let text = path.to_string_lossy();
    fine(&["run", "free-rotation", "--until", "1", "--out", &text, "--every", "4"]);
    let (header, rows) = csv(&path);
    assert_eq!(header[..2], ["t", "q_w"]);
    assert_eq!(header.last().map(String::as_str), Some("energy"));
    let times: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(times, [0.0, 0.4, 0.8, 1.0]);
    fine(&["run", "free-rotation", "--until", "1", "--out", &text]);
    assert_eq!(csv(&path).1.len(), 11);
    fine(&["run", "free-rotation", "--until", "1", "--out", &text, "--every", "1000000"]);
    assert_eq!(csv(&path).1.len(), 2);
    assert_eq!(names(folder.path()), ["x.csv"]);
}

#[cfg(unix)]
#[test]
fn the_file_behind_a_link_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file.csv"), folder.path().join("link.csv"));
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    fine(&["run", "free-rotation", "--until", "1", "--out", &link.to_string_lossy()]);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(csv(&file).1.len(), 11);
}

#[test]
fn every_problem_can_be_changed() {
    for problem in PROBLEMS {
        let own = json(&["run", problem, "--step", "0.01", "--until", "0.1", "--no-reference", "--json"]);
        let set: &[&str] = match problem {
            "prescribed-motion" | "prescribed-rotation" => {
                &["--set", "inertia=1.5,2,2.5", "--set", "turn_rate=1.5"]
            }
            "steady-precession" => &["--set", "height=0.2", "--set", "tilt=1"],
            _ => &[
                "--set",
                "inertia=1.5,2,2.5",
                "--set",
                "attitude=-0.3,0.1,0",
                "--set",
                "omega_body=-1,0.5,2",
            ],
        };
        let mut args = vec!["run", problem, "--step", "0.01", "--until", "0.1", "--no-reference", "--json"];
        args.extend(set);
        assert_ne!(own["q_wxyz"], json(&args)["q_wxyz"], "{problem}");
        let listed = json(&["problems", problem, "--json"]);
        for datum in listed["data"].as_array().unwrap() {
            // Each datum accepts its own values back.
            let values: Vec<String> =
                datum["values"].as_array().unwrap().iter().map(Value::to_string).collect();
            if values.is_empty() {
                continue;
            }
            let text = format!("{}={}", datum["name"].as_str().unwrap(), values.join(","));
            let args = [
                "run",
                problem,
                "--step",
                "0.01",
                "--until",
                "0.1",
                "--no-reference",
                "--json",
                "--set",
                &text,
            ];
            assert_eq!(own["q_wxyz"], json(&args)["q_wxyz"], "{problem}: {text}");
        }
    }
    let momentum =
        json(&["run", "free-rotation", "--set", "momentum_body=1,2,3", "--until", "0.1", "--json"]);
    let norm = numbers(&momentum["momentum_body"], 3).iter().map(|x| x * x).sum::<f64>();
    assert!((norm - 14.0).abs() < 1e-12);
}

#[test]
fn methods_are_listed() {
    let text = fine(&["methods"]);
    for part in
        ["imidm", "mkrk:gauss4", "compose:<method>:4|6|8", "mkrk:'0 0; 1/2 1/2 | 1/2 1/2'", "mkrk:FILE.toml"]
    {
        assert!(text.contains(part), "{part}");
    }
    let list = json(&["methods", "--json"]);
    assert_eq!(list.as_array().map(Vec::len), Some(44));
    for method in list.as_array().unwrap() {
        assert!(method["id"].is_string() && method["title"].is_string() && method["citation"].is_string());
        assert!(
            method["order"].is_u64() && method["symmetric"].is_boolean() && method["explicit"].is_boolean()
        );
        let for_systems = method["keeps"].is_object();
        let group = if for_systems { ["so3", "system"] } else { ["so3", "se3"] };
        assert_eq!(method["group"], serde_json::json!(group));
        let claims = method["claims"].as_object().unwrap();
        assert!(claims.len() == 8 && claims.values().all(Value::is_boolean));
    }
    let one = json(&["methods", "compose:akw:6", "--json"]);
    assert_eq!((one["order"].as_u64(), one["claims"]["free_momentum"].as_bool()), (Some(6), Some(true)));
    assert!(fine(&["methods", "mkrk:gauss2"]).contains("0.21132487"));
}

#[test]
fn problems_are_listed() {
    let text = fine(&["problems"]);
    let list = json(&["problems", "--json"]);
    let ids: Vec<&str> = list.as_array().unwrap().iter().map(|p| p["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [PROBLEMS.as_slice(), &SYSTEMS].concat());
    for problem in list.as_array().unwrap() {
        // Long titles are wrapped.
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        let title = words(problem["title"].as_str().unwrap());
        assert!(words(&text).windows(title.len()).any(|seen| seen == title), "{title:?}");
        let moving = ["free-body", "prescribed-motion"].contains(&problem["id"].as_str().unwrap());
        let system = SYSTEMS[1..].contains(&problem["id"].as_str().unwrap());
        let group = if system {
            "system"
        } else if moving {
            "se3"
        } else {
            "so3"
        };
        assert_eq!(problem["group"], group);
        assert!(problem["citation"].is_string() && problem["method"].is_string());
        assert!(number(&problem["step"]) < number(&problem["until"]));
        let data = problem["data"].as_array().unwrap();
        assert!(
            data.iter().all(|d| d["name"].is_string() && d["values"].is_array() && d["help"].is_string())
        );
    }
    let one = fine(&["problems", "fast-top"]);
    assert!(one.contains("mgl") && one.contains("0,0,50") && one.contains("Simo & Wong 1991"), "{one}");
}

#[test]
fn a_tableau_of_ones_own_is_the_method_it_spells() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trapezoid.toml");
    std::fs::write(&path, "a = [[0, 0], ['1/2', 0.5]]\nb = ['1/2', \"1/2\"]\nc = [0, 1]\n").unwrap();
    let run = |method: &str| json(&["run", "slow-top", "--until", "1", "--method", method, "--json"]);
    let named = run("mkrk:trapezoid");
    assert_eq!(run("mkrk:0 0; 1/2 1/2 | 1/2 1/2")["q_wxyz"], named["q_wxyz"]);
    assert_eq!(run(&format!("mkrk:{}", path.display()))["q_wxyz"], named["q_wxyz"]);
}

#[test]
fn help_and_version_are_there() {
    assert_eq!(fine(&["--version"]), format!("polhode {}\n", env!("CARGO_PKG_VERSION")));
    for command in ["run", "converge", "compare", "methods", "problems", "completions"] {
        let text = fine(&[command, "--help"]);
        assert!(text.contains(&format!("Example:\n  polhode {command} ")), "{text}");
    }
    assert!(fine(&["completions", "bash"]).contains("_polhode"));
    assert_eq!(polhode(&["completions", "klingon"]).code, Some(2));
}
