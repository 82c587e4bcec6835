//! Methods with options, the kinematic update and prescribed motions from the command line.

use crate::common::{fine, json, number, polhode, refused};

#[test]
fn prescribed_motion_has_the_published_errors() {
    let methods = "preserving:cayley,decaying:euler-rodrigues,galpha:wiener-milenkovic,rho=1,kinematic:exp";
    let args = ["converge", "prescribed-motion", "--methods", methods, "--steps", "0.004,0.002", "--json"];
    let found = json(&args);
    let rows = found["rows"].as_array().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(ids.join(","), methods);
    for (row, [displacement, rotation]) in rows.iter().zip([
        [3.3599e-4, 6.4312e-3],
        [6.2134e-5, 2.5213e-3],
        [3.4286e-4, 7.1482e-3],
        [8.0849e-5, 2.9239e-4],
    ]) {
        let point = &row["points"][0];
        assert!((number(&point["position_relative"]) / displacement - 1.0).abs() < 1e-4, "{row}");
        assert!((number(&point["attitude_frobenius"]) / rotation - 1.0).abs() < 1e-4, "{row}");
        assert!((number(&row["order_attitude"]) - 2.0).abs() < 0.02, "{row}");
        assert!((number(&row["order_position"]) - 2.0).abs() < 0.02, "{row}");
    }
    let text = fine(&args[..args.len() - 1]);
    assert!(text.contains("position  order") && text.contains("reference: the prescribed motion"), "{text}");
}

#[test]
fn options_may_be_given_by_name_or_by_word_and_are_told() {
    let end =
        |id: &str| json(&["run", "free-body", "--until", "1", "--method", id, "--json"])["q_wxyz"].clone();
    assert_eq!(end("preserving:cayley,reading=hom4"), end("preserving:cayley,hom4"));
    assert_ne!(end("preserving:cayley,reading=hom4"), end("preserving:cayley"));
    assert_eq!(end("galpha:exp"), end("galpha:exp,rho=0.8"));
    assert_ne!(end("galpha:exp"), end("galpha:exp,rho=0.5"));
    let shown = json(&["methods", "galpha:exp,rho=0.5", "--json"]);
    assert_eq!(
        (shown["id"].as_str(), shown["symmetric"].as_bool()),
        (Some("galpha:exp,rho=0.5"), Some(false))
    );
    assert_eq!(shown["options"][0]["range"], serde_json::json!([0.0, 1.0]));
    assert_eq!(json(&["methods", "galpha:exp,rho=1", "--json"])["symmetric"].as_bool(), Some(true));
    let energy = |id: &str| json(&["methods", id, "--json"])["claims"]["gravity_energy"].as_bool();
    assert_eq!((energy("preserving:cayley"), energy("preserving:cayley,mean")), (Some(false), Some(true)));
    let text = fine(&["methods", "preserving:cayley"]);
    assert!(
        text.contains("midpoint, mean, finite-derivative [default: midpoint]")
            && text.contains("dual, hom4, twist"),
        "{text}"
    );
    let both = "compose:preserving:cayley,mean:4,compose:galpha:exp,rho=1:4";
    let list = json(&["converge", "fast-top", "--until", "0.1", "--methods", both, "--json"]);
    assert_eq!(list["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(list["rows"][0]["order_claimed"], 4);
}

#[test]
fn options_that_do_not_exist_are_refused_with_those_that_do() {
    let method = |id: &str, texts: &[&str]| refused(2, &["run", "fast-top", "--method", id], texts);
    method("galpha:exp,rho=1.5", &["'galpha:exp': rho must be a number from 0 to 1, got '1.5'"]);
    method("galpha:exp,rho=-0.1", &["rho must be a number from 0 to 1"]);
    method("galpha:exp,rho=nan", &["rho must be a number from 0 to 1"]);
    method("galpha:exp,rho", &["rho needs a value: rho=a number from 0 to 1"]);
    method("preserving:exp,load", &["load needs a value: load=midpoint|mean"]);
    method("preserving:exp,", &["an option is missing after the comma"]);
    method("compose:galpha:exp:4", &["not symmetric", "galpha:<map>,rho=1"]);
    method("compose:galpha:exp:4,rho=1", &["the options of the method go before the order"]);
    method("compose:preserving:cayley", &["needs an order"]);
    method("galpha:exp,roh=1", &["no option 'roh'; did you mean rho?"]);
    method("galpha:exp,rho=1,rho=1", &["given twice"]);
    method("preserving:exp,load=end", &["load must be midpoint or mean or finite-derivative, got 'end'"]);
    method("preserving:exp,rho=1", &["it has no option 'rho' (it has load, reading)"]);
    method("imidm,rho=1", &["'imidm': it has no options"]);
    method("preserving:quaternion", &["no method is called 'preserving:quaternion'"]);
    refused(2, &["converge", "fast-top", "--methods", "imidm,galpha:exp,rho=2"], &["rho must be"]);
}

#[test]
fn kinematic_methods_need_a_motion() {
    refused(2, &["run", "fast-top", "--method", "kinematic:exp"], &["kinematic:exp", "prescribed-motion"]);
    refused(2, &["converge", "fast-top", "--methods", "imidm,kinematic:exp"], &["prescribed-motion"]);
    let run =
        json(&["run", "prescribed-rotation", "--method", "kinematic:cayley,velocity=midpoint", "--json"]);
    assert!(number(&run["error"]["attitude"]) < 1e-4);
}

#[test]
fn steps_beyond_a_map_are_refused_with_what_works() {
    let run = |method: &str, step: &str| {
        ["run", "fast-top", "--until", "1", "--method", method, "--step", step].map(String::from)
    };
    for family in ["preserving", "decaying", "galpha"] {
        let args = run(&format!("{family}:euler-rodrigues"), "0.05");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(
            4,
            &args,
            &[
                "|h ω| = 2.5",
                "euler-rodrigues map goes up to 2",
                "try a step below 0.0",
                "a method with the map",
            ],
        );
    }
    for map in ["cayley", "wiener-milenkovic"] {
        let args = run(&format!("preserving:{map}"), "0.9");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(4, &args, &[&format!("the {map} map goes up to"), "a method with the map exp"]);
    }
    let far = ["run", "fast-top", "--method", "preserving:exp", "--set", "omega_body=1e160,0,0"];
    refused(3, &far, &["kinetic_energy is not finite"]);
    let args = run("preserving:exp", "0.9");
    let said = polhode(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(!said.err.contains("map goes up to"), "{}", said.err);
}

#[test]
fn a_mass_matrix_must_be_positive_and_a_point_one_of_two() {
    let set = |text: &str, texts: &[&str]| refused(3, &["run", "prescribed-motion", "--set", text], texts);
    set("mass=-1", &["prescribed-motion: mass: mass must be positive"]);
    set("mass=60", &["prescribed-motion: inertia", "positive definite"]);
    set("inertia=1,-1,1", &["inertia", "positive definite"]);
    set("moments_about=2", &["moments_about: it is 0 or 1, not 2"]);
}
