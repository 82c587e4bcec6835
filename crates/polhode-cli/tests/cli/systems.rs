//! Systems of bodies and joints on the command line.

use crate::common::{csv, fine, json, polhode, refused};
use serde_json::Value;

fn vector(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn near(value: &Value, expected: &[f64], tolerance: f64) {
    let seen = vector(value);
    assert_eq!(seen.len(), expected.len());
    assert!(seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance), "{seen:?} {expected:?}");
}

/// The digits of an independent computation.
const FORMS: [(&str, [f64; 3]); 3] = [
    ("residual-alpha", [0.42038984126548895, 0.8946378496095326, -0.15131258839504472]),
    ("linear-alpha", [0.4211855611021758, 0.8946083675191272, -0.14926014834445148]),
    ("geometric-alpha", [0.4204849720943798, 0.8946728449160665, -0.15084060730645682]),
];

fn top(method: &str) -> Value {
    json(&["run", "heavy-top", "--method", method, "--step", "2e-3", "--until", "0.1", "--json"])
}

#[test]
fn the_heavy_top_has_the_keys_of_a_body_and_of_a_system() {
    for (form, expected) in FORMS {
        let run = top(&format!("{form},rho=0.8"));
        near(&run["position"], &expected, 1e-13);
        let body = &run["bodies"]["top"];
        for key in ["position", "velocity", "omega_body", "attitude", "q_wxyz"] {
            assert_eq!(run[key], body[key], "{form}: {key}");
        }
        assert_eq!(vector(&run["multipliers"]).len(), 3);
        let violation = &run["constraint_violation"];
        assert!(violation["position"].as_f64().unwrap() < 1e-14, "{violation}");
        assert!(violation["velocity"].as_f64().unwrap() > 1e-6, "{violation}");
        let error = run["error"]["position_relative"].as_f64().unwrap();
        assert!((1e-4..3e-3).contains(&error), "{form}: {error}");
        let stable = top(&format!("{form},constraints=stabilized"));
        let violation = &stable["constraint_violation"];
        for level in ["position", "velocity"] {
            assert!(violation[level].as_f64().unwrap() < 1e-12, "{form}: {violation}");
        }
    }
    // Methods for single bodies know the position of the centre of mass, but no reaction.
    let single = top("imidm");
    assert!(single["position"].is_array() && single.get("multipliers").is_none());
}

#[test]
fn the_printed_sign_is_a_datum() {
    let args = ["run", "heavy-top", "--until", "0.5", "--set", "omega_body=0,150,4.61538", "--json"];
    assert!(vector(&json(&args)["position"])[2] > 0.0);
}

#[test]
fn weights_maps_and_charts_are_options() {
    let defaults = top("linear-alpha");
    for same in [
        "linear-alpha,rho=0.8",
        "linear-alpha,alpha_m=1/3,alpha_f=4/9",
        "linear-alpha,map=wiener-milenkovic,chart=incremental,constraints=index3",
    ] {
        near(&top(same)["position"], &vector(&defaults["position"]), 1e-13);
    }
    for other in [
        "linear-alpha,rho=0.5",
        "linear-alpha,alpha_m=0,alpha_f=0.1",
        "linear-alpha,alpha_f=0,alpha_m=0,beta=0.3,gamma=0.6",
        "linear-alpha,map=exp",
        "linear-alpha,cayley",
        "linear-alpha,chart=rescaled",
        "linear-alpha,stabilized",
    ] {
        let gap = vector(&top(other)["position"])[0] - vector(&defaults["position"])[0];
        assert!(gap.abs() > 1e-9 && gap.abs() < 2e-2, "{other}: {gap:e}");
    }
    refused(
        2,
        &["run", "heavy-top", "--method", "linear-alpha,rho=1.5"],
        &["rho must be a number from 0 to 1"],
    );
    refused(2, &["run", "heavy-top", "--method", "linear-alpha,rho=1,beta=0.3"], &["rho determines alpha_m"]);
    refused(2, &["run", "heavy-top", "--method", "geometric-alpha,map=exp"], &["it has no option 'map'"]);
    refused(2, &["run", "heavy-top", "--method", "linear-alpha,cayley,rescaled"], &["passes half a turn"]);
}

#[test]
fn mechanisms_have_bodies_and_joints_by_name() {
    for (problem, bodies, joints) in [
        ("simple-pendulum", vec!["bob"], vec![("pivot", 5)]),
        ("double-pendulum", vec!["upper", "lower"], vec![("shoulder", 3), ("elbow", 3)]),
        ("chain", vec!["link-1", "link-2"], vec![("joint-1", 3), ("joint-2", 3)]),
        (
            "four-bar",
            vec!["crank", "coupler", "rocker"],
            vec![("crank-pivot", 5), ("crank-pin", 5), ("coupler-pin", 3), ("rocker-pivot", 4)],
        ),
        (
            "slider-crank",
            vec!["crank", "rod", "slider"],
            vec![("crank-pivot", 5), ("crank-pin", 3), ("slider-pin", 4), ("slider-rail", 5)],
        ),
        (
            "gyroscope",
            vec!["outer", "inner", "rotor"],
            vec![("outer-bearing", 5), ("inner-bearing", 5), ("rotor-bearing", 5)],
        ),
    ] {
        for form in ["geometric-alpha", "linear-alpha", "residual-alpha"] {
            let mut args = vec![
                "run",
                problem,
                "--method",
                form,
                "--step",
                "1e-3",
                "--until",
                "0.05",
                "--no-reference",
                "--json",
            ];
            if problem == "chain" {
                args.extend(["--set", "bodies=2"]);
            }
            let run = json(&args);
            let names: Vec<&String> = run["bodies"].as_object().unwrap().keys().collect();
            assert_eq!(names.len(), bodies.len(), "{problem}");
            for body in &bodies {
                let body = &run["bodies"][body];
                for (key, n) in
                    [("position", 3), ("velocity", 3), ("omega_body", 3), ("q_wxyz", 4), ("attitude", 3)]
                {
                    assert_eq!(body[key].as_array().map(Vec::len), Some(n), "{problem}: {key}");
                }
            }
            assert_eq!(run["multipliers"].as_object().unwrap().len(), joints.len());
            for (joint, rows) in &joints {
                assert_eq!(vector(&run["multipliers"][joint]).len(), *rows, "{problem}: {joint}");
            }
            assert!(run["constraint_violation"]["position"].as_f64().unwrap() < 1e-13, "{problem}");
            for key in ["attitude", "position", "momentum_body"] {
                assert!(run.get(key).is_none(), "{problem}: {key}");
            }
            assert!(run["drift"]["energy"].is_number() && run["drift"].get("momentum_space").is_none());
        }
    }
}

#[test]
fn a_system_is_summed_up_and_written() {
    let text = fine(&["run", "double-pendulum", "--until", "0.1"]);
    for part in
        ["joints, positions", "joints, velocities", "positions at the end, m", "lower", "extrapolated"]
    {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    // It turns about the vertical through its foot, and no further.
    assert!(text.contains("vertical momentum in space") && !text.contains("angular momentum"), "{text}");
    let long = fine(&["run", "chain", "--set", "bodies=100", "--until", "0.01", "--no-reference"]);
    assert!(long.contains("...") && long.contains("link-100") && !long.contains("link-50"), "{long}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let out = path.to_string_lossy();
    fine(&["run", "double-pendulum", "--until", "0.1", "--no-reference", "--out", &out]);
    let (header, rows) = csv(&path);
    let expected = ["t", "kinetic_energy", "energy", "upper.position_x"];
    assert_eq!(header[..4], expected);
    assert!(header.contains(&"lower.q_w".into()) && header.contains(&"elbow.lambda_3".into()), "{header:?}");
    assert_eq!(rows.len(), 21);
    fine(&["run", "heavy-top", "--until", "0.1", "--no-reference", "--out", &out]);
    let (header, rows) = csv(&path);
    for column in ["q_w", "position_z", "pivot.lambda_1"] {
        assert!(header.contains(&column.into()), "{column}: {header:?}");
    }
    assert_eq!(rows.len(), 51);
}

#[test]
fn bodies_on_a_fixed_point_run_under_the_three_forms() {
    for problem in ["free-rotation", "slow-top", "driven-body", "stiff-spring", "prescribed-rotation"] {
        for form in ["geometric-alpha", "linear-alpha", "residual-alpha"] {
            let args = [
                "run",
                problem,
                "--method",
                form,
                "--step",
                "2e-3",
                "--until",
                "0.5",
                "--no-reference",
                "--json",
            ];
            let run = json(&args);
            assert!(run["attitude"].is_array() && run.get("bodies").is_none(), "{problem}");
        }
    }
    let found = json(&[
        "converge",
        "heavy-top",
        "--methods",
        "geometric-alpha,linear-alpha,rho=0.5,residual-alpha,imidm",
        "--steps",
        "1e-3,5e-4",
        "--until",
        "0.1",
        "--json",
    ]);
    let orders: Vec<f64> =
        found["rows"].as_array().unwrap().iter().map(|r| r["order_position"].as_f64().unwrap()).collect();
    for (order, claimed) in orders.iter().zip([2.0, 2.0, 1.0, 2.0]) {
        assert!((order - claimed).abs() < 0.3, "{orders:?}");
    }
    let all = json(&["converge", "double-pendulum", "--methods", "all", "--until", "0.1", "--json"]);
    assert_eq!(all["rows"].as_array().map(Vec::len), Some(6));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    refused(
        2,
        &["run", "double-pendulum", "--method", "imidm"],
        &["imidm integrates a single body", "linear-alpha"],
    );
    refused(2, &["run", "four-bar", "--frequencies"], &["--frequencies is for problems of single bodies"]);
    refused(2, &["run", "four-bar", "--estimate"], &["--estimate is for problems of single bodies"]);
    refused(3, &["run", "heavy-top", "--set", "mass=0"], &["heavy-top: mass: mass must be positive, got 0"]);
    refused(3, &["run", "heavy-top", "--set", "inertia=1,1,3"], &["A + B >= C"]);
    refused(3, &["run", "four-bar", "--set", "coupler=0.1"], &["coupler", "do not reach"]);
    refused(3, &["run", "slider-crank", "--set", "rod=0.2"], &["the rod (0.2 m) does not reach"]);
    for bodies in ["0", "1.5", "-3"] {
        refused(
            3,
            &["run", "chain", "--set", &format!("bodies={bodies}")],
            &["chain: bodies: it must be a whole number"],
        );
    }
    refused(3, &["run", "chain", "--set", "joint=2"], &["it is 0 or 1, not 2"]);
    refused(3, &["run", "chain", "--set", "mass=-1"], &["mass must be positive"]);
    let said = polhode(&["run", "heavy-top", "--method", "residual-alpha", "--until", "2", "--no-reference"]);
    assert_eq!(said.code, Some(4));
    assert!(said.err.contains("good steps before it"), "{}", said.err);
}

#[test]
fn free_bodies_run_under_the_forms_for_systems_and_mechanisms_are_compared() {
    let methods = "geometric-alpha,linear-alpha,residual-alpha";
    let args = ["converge", "free-body", "--methods", methods, "--steps", "2e-3,1e-3", "--json"];
    let found = json(&args);
    for (row, claimed) in found["rows"].as_array().unwrap().iter().zip([2.0, 2.0, 1.0]) {
        for key in ["order_attitude", "order_momentum", "order_position"] {
            let order = row[key].as_f64().unwrap();
            assert!((order - claimed).abs() < 0.1, "{}: {key} {order}", row["method"]);
        }
    }
    let run = json(&["run", "free-body", "--method", "geometric-alpha", "--json"]);
    assert!(run["position"].is_array() && run.get("bodies").is_none() && run.get("multipliers").is_none());
    assert!(run["drift"]["linear_momentum_space"].as_f64().unwrap() < 1e-12);
    let compared = json(&["compare", "double-pendulum", "--until", "0.1", "--json"]);
    assert_eq!(compared["rows"].as_array().map(Vec::len), Some(3));
    let estimated =
        json(&["run", "fast-top", "--method", "linear-alpha", "--until", "0.1", "--estimate", "--json"]);
    assert_eq!(estimated["energy_estimate"]["steps"], 100);
}

#[test]
fn reactions_that_are_rounding_are_told_with_what_helps() {
    let run = |method: &str| {
        let said = polhode(&[
            "run",
            "four-bar",
            "--method",
            method,
            "--step",
            "1e-8",
            "--until",
            "2e-6",
            "--no-reference",
            "--json",
        ]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        let seen: Value = serde_json::from_str(&said.out).expect("an object");
        let force = vector(&seen["joints"]["crank-pivot"]["force"]);
        (force.iter().map(|x| x * x).sum::<f64>().sqrt(), said.err)
    };
    let (force, said) = run("linear-alpha");
    assert!((force - 14.674).abs() > 1.0, "{force}");
    assert!(said.contains("warning: reactions may be off by some"), "{said}");
    assert!(said.contains("use constraints=stabilized, or longer steps"), "{said}");
    let (force, said) = run("linear-alpha,constraints=stabilized");
    assert!((force - 14.674).abs() < 1e-3, "{force}");
    assert!(!said.contains("warning"), "{said}");
}
