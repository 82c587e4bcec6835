//! `polhode sensitivity`.

use crate::common::{csv, fine, json, polhode, refused};
use serde_json::Value;

fn vector(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()) / norm(b)
}

/// Derivatives of position and angular velocity of the heavy top at t = 0.1 with h = 2e-3: five-point differences with
/// extrapolation in 80-bit numbers, by a program of its own.
#[rustfmt::skip]
const TOP: [(&str, &str, [f64; 3], [f64; 3]); 34] = [
    ("geometric-alpha,rho=0.8", "mass", [0.0026370833926466415, -0.00015798953642580577, 0.0064140883945193305], [-0.041229816374389376, 0.0, 0.14022251293806845]),
    ("geometric-alpha,rho=0.8", "inertia_xx", [-0.012208840594684278, 0.00684618263243729, 0.006572896473423766], [-0.3391071994141602, 0.16147812538210632, 0.09241150184005222]),
    ("geometric-alpha,rho=0.8", "inertia_yy", [-0.08550397590642889, 0.004884600768694291, -0.20938007225603875], [1.3568992947013119, 0.0, -4.5678743715133825]),
    ("geometric-alpha,rho=0.8", "inertia_zz", [0.014443455278156504, -0.006504053838565825, 0.001685590789416008], [0.26401685797098035, -0.1614781253821156, 0.06909641314995003]),
    ("geometric-alpha,rho=0.8", "center_y", [0.508174840622783, 0.8936822325605952, 0.08772908947112291], [-1.7979692778804026, 0.0, 4.994736000779928]),
    ("geometric-alpha,rho=0.8", "omega_body_y", [-0.00027956058562039987, 1.6701037916932562e-05, -0.0006802482552236558], [-0.09513353155297673, 1.0, 0.4741681731898787]),
    ("geometric-alpha,rho=0.8", "omega_body_z", [-0.08582995972999213, 0.04394987481168346, 0.021416986892548978], [-0.9350990310588786, 0.0, -0.38783174502178364]),
    ("geometric-alpha,rho=0.8", "gravity_z", [0.000874349311825058, 0.0003821685766870813, 0.004704082053210899], [-0.057194167854114755, 0.0, 0.08033237641567316]),
    ("geometric-alpha,rho=0.5", "mass", [0.0026588004965653654, -0.00016251793072791115, 0.006428924326852098], [-0.041010181965220945, 0.0, 0.14108706575580243]),
    ("geometric-alpha,rho=0.5", "inertia_yy", [-0.08591053361562356, 0.004946229800725127, -0.20953505831451974], [1.349752307704495, 0.0, -4.586584351060006]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "mass", [0.0025616505820580905, -0.00014976490386225507, 0.006330888131072674], [-0.04414021900276733, 4.017594558797964e-06, 0.13516671641702344]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "inertia_xx", [-0.011603297469109071, 0.0067034371269711545, 0.007435404574348974], [-0.33965046822462003, 0.15635579412341286, 0.11128881356363232]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "inertia_yy", [-0.08363348346715413, 0.00473658409965032, -0.20760952093201507], [1.4560709575640276, -0.0001402586333600384, -4.4248388455599095]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "inertia_zz", [0.014924627151697671, -0.0065916514791069265, 0.0026067969010274967], [0.2524825692770694, -0.15633240290329306, 0.08771902686825278]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "center_y", [0.5064940191317023, 0.8938446104556295, 0.08688746167152116], [-1.8990565925626228, 0.0004013168045447783, 4.819886781585053]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "omega_body_y", [-0.00026289356954382133, 1.536164534611308e-05, -0.000649767002168332], [-0.10881076564885024, 1.004263262583169, 0.46836619102889127]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "omega_body_z", [-0.08595146625908676, 0.04398212655621796, 0.0210723487111325], [-0.9126290753847003, 0.0007219820704084606, -0.4092460211599167]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.8", "gravity_z", [0.0008622773259718123, 0.00038014169748917933, 0.004711617337797344], [-0.05859837130264335, 2.8622728727811643e-05, 0.07796995811153139]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.5", "mass", [0.0025688158198738397, -0.00015136422009435826, 0.006335407599593409], [-0.045816136314719993, 4.3611816054976665e-06, 0.1348648031130725]),
    ("linear-alpha,map=wiener-milenkovic,rho=0.5", "inertia_yy", [-0.08383102231463466, 0.004770601909805436, -0.20776281568569843], [1.5113700009544069, -0.00015597449381063135, -4.414441073276488]),
    ("linear-alpha,map=exp,rho=0.8", "mass", [0.0025661073042335435, -0.00015000832619410347, 0.006336833398138308], [-0.04122893483853903, 6.686065451918665e-06, 0.13636927865466553]),
    ("linear-alpha,map=exp,rho=0.8", "inertia_yy", [-0.08372163719445079, 0.004731735399451668, -0.2077179047116001], [1.3604950770764728, -0.00022866574059100654, -4.462362622256901]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "mass", [0.0026605437126188416, -0.00015971865177655842, 0.006447415963255451], [-0.10454966147684144, -1.9286640175583373e-05, 0.10345948691869954]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "inertia_xx", [-0.010893272612404362, 0.006522701123465454, 0.008300923113365468], [-0.3276007335355813, 0.1524399757612638, 0.10991616512403833]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "inertia_yy", [-0.08734639928430686, 0.005286024317533718, -0.21141969641214203], [3.434314567200048, -0.043460813118997466, -3.399599773448228]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "inertia_zz", [0.01531127357342279, -0.0068727560448392086, 0.0019038480625711346], [0.15014993365419765, -0.06428400455679409, 0.06787621897196014]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "center_y", [0.5089019085389358, 0.8935699184102515, 0.08828520465082391], [-3.999202092488499, 6.891118204056492e-05, 3.5182111284426445]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "omega_body_y", [-0.0002859219935460567, 1.759472240844933e-05, -0.0006903443921562656], [-0.3435740439170014, 1.2287009811245464, 0.405736880374136]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "omega_body_z", [-0.08582804587250685, 0.04396929225173644, 0.021514102184132543], [-0.6268068380108387, 0.005213347051290152, -0.7808747780955905]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.8", "gravity_z", [0.0008864175224140015, 0.0003795747557615852, 0.004706963725607123], [-0.0879421251970763, 6.600513640206109e-05, 0.04224531303572617]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.5", "mass", [0.002912499905819587, -0.0001893480266280485, 0.006716084585747451], [-0.14662519278186903, -9.665885354413248e-05, -0.06324166194362493]),
    ("residual-alpha,map=wiener-milenkovic,rho=0.5", "inertia_yy", [-0.0966575921177261, 0.006763699466596385, -0.22013904948509055], [4.861375729861197, -0.18434286310758785, 2.0644776866668533]),
    ("residual-alpha,map=exp,rho=0.8", "mass", [0.0025621190147322188, -0.00014946232923877356, 0.0063327846409402255], [-0.04113797364247725, 2.675241014017208e-06, 0.13627166448682884]),
    ("residual-alpha,map=exp,rho=0.8", "inertia_yy", [-0.08366700426280732, 0.004724761930649902, -0.20773431957589664], [1.3600873392675965, -0.03837732389575274, -4.47156906407924]),
];

#[test]
fn the_heavy_top_by_every_parameter() {
    for (method, parameter, position, omega) in TOP {
        let said = json(&[
            "sensitivity",
            "heavy-top",
            "--parameters",
            parameter,
            "--method",
            method,
            "--step",
            "2e-3",
            "--until",
            "0.1",
            "--json",
        ]);
        assert_eq!(said["parameters"], serde_json::json!([parameter]));
        let derivatives = &said["derivatives"][parameter];
        let off = apart(&vector(&derivatives["position"]), &position);
        assert!(off < 3e-12, "{method} {parameter}: {off:e}");
        let off = apart(&vector(&derivatives["omega_body"]), &omega);
        assert!(off < 5e-11, "{method} {parameter}: {off:e}");
        assert_eq!(derivatives["bodies"]["top"]["position"], derivatives["position"]);
    }
}

#[test]
fn values_and_derivatives_have_the_same_keys() {
    fn keys(value: &Value) -> Vec<String> {
        let Value::Object(map) = value else { return vec![String::new()] };
        let mut all = Vec::new();
        for (key, inner) in map {
            all.extend(keys(inner).into_iter().map(|k| format!("{key}/{k}")));
        }
        all
    }
    for (problem, method, parameter) in [
        ("heavy-top", "linear-alpha", "mass"),
        ("heavy-top", "akw", "inertia_xx"),
        ("double-pendulum", "geometric-alpha,constraints=stabilized", "mass_2"),
        ("free-body", "imidm", "gravity_x"),
        ("fast-top", "residual-alpha", "mgl"),
    ] {
        let said =
            json(&["sensitivity", problem, "-p", parameter, "-m", method, "--until", "0.05", "--json"]);
        let (values, derivatives) = (&said["values"], &said["derivatives"][parameter]);
        assert_eq!(keys(values), keys(derivatives), "{problem} {method}");
        let run = json(&["run", problem, "-m", method, "--until", "0.05", "--json", "--no-reference"]);
        for key in ["position", "attitude", "omega_body", "multipliers", "energy"] {
            if !run[key].is_null() {
                assert_eq!(run[key], values[key], "{problem} {method} {key}: a plain run has the same bits");
            }
        }
    }
}

#[test]
fn every_method_differentiates_the_heavy_top() {
    // All second-order methods come near the derivative of the exact motion by the mass.
    let exact = [2.553_609_404_462_547e-3, -1.472_450_821_070_975_2e-4, 6.329_284_226_971_321e-3];
    for method in [
        "imidm",
        "swc1",
        "akw",
        "preserving:exp",
        "mkrk:gauss2",
        "mkrk:rk4",
        "galpha:exp",
        "euler-parameters",
        "convected-reduced",
        "compose:akw:4",
        "decaying:cayley",
        "trap",
        "linear-alpha,constraints=stabilized",
    ] {
        let said = json(&[
            "sensitivity",
            "heavy-top",
            "-p",
            "mass",
            "-m",
            method,
            "--step",
            "5e-4",
            "--until",
            "0.1",
            "--json",
        ]);
        let off = apart(&vector(&said["derivatives"]["mass"]["position"]), &exact);
        assert!(off < 2e-2, "{method}: {off:e}");
    }
}

#[test]
fn differences_stand_beside_the_derivatives() {
    for (problem, method, parameter, key) in [
        ("heavy-top", "geometric-alpha", "mass", "position"),
        ("fast-top", "imidm", "mgl", "attitude"),
        ("free-body", "akw", "inertia_xy", "omega_body"),
    ] {
        let said = json(&[
            "sensitivity",
            problem,
            "-p",
            parameter,
            "-m",
            method,
            "--until",
            "0.1",
            "--check",
            "--json",
        ]);
        let check = said["check"].as_array().expect("a list");
        let formulas: Vec<&str> = check.iter().map(|c| c["formula"].as_str().expect("text")).collect();
        assert_eq!(formulas, ["backward", "central", "five-point"]);
        for (row, most) in check.iter().zip([1e-4, 1e-6, 1e-8]) {
            let error = row["relative_error"][key].as_f64().expect("a number");
            assert!(error > 0.0 && error < most, "{problem} {method} {parameter}: {row}");
        }
    }
    // Points of joints: the bodies are assembled anew.
    let said = json(&[
        "sensitivity",
        "double-pendulum",
        "-p",
        "elbow.first_x,upper.center_x,lower.attitude_y,elbow.second_y",
        "--until",
        "0.2",
        "--check",
        "--json",
    ]);
    for row in said["check"].as_array().expect("a list").iter().filter(|row| row["formula"] == "central") {
        let error = row["relative_error"]["bodies"]["lower"]["position"].as_f64().expect("a number");
        assert!(error < 1e-7, "{row}");
    }
    let text = fine(&["sensitivity", "heavy-top", "-p", "inertia_yy", "--until", "0.1", "--check"]);
    assert!(text.contains("no central 1e-5: heavy-top: inertia"), "{text}");
}

#[test]
fn simplified_variants() {
    let by_mass = |variant: &[&str], method: &str| {
        let mut args =
            vec!["sensitivity", "heavy-top", "-p", "mass", "-m", method, "--until", "0.1", "--json"];
        args.extend(variant);
        vector(&json(&args)["derivatives"]["mass"]["position"])
    };
    for (variant, method, size) in [
        ("reference-free", "residual-alpha", 5.96e-4),
        ("reference-free", "linear-alpha", 1.05e-4),
        ("without-k-g", "residual-alpha", 1.02e-4),
        ("symmetric", "geometric-alpha", 9.95e-4),
    ] {
        let off = apart(&by_mass(&["--variant", variant], method), &by_mass(&[], method));
        assert!((off / size - 1.0).abs() < 6e-3, "{variant} {method}: {off:e}");
    }
    let top = ["sensitivity", "heavy-top", "-p", "mass", "--until", "0.1"];
    let with = |rest: &[&str], texts: &[&str]| {
        let args: Vec<&str> = top.iter().chain(rest).copied().collect();
        refused(2, &args, texts);
    };
    with(&["--variant", "symmetric", "-m", "linear-alpha"], &["geometric-alpha"]);
    with(&["--variant", "reference-free", "-m", "geometric-alpha"], &["linear-alpha"]);
    with(&["--variant", "reference-free", "-m", "imidm"], &["residual-alpha"]);
    with(&["--variant", "nothing"], &["reference-free"]);
}

#[test]
fn parameters_are_found_or_refused() {
    let all = json(&["sensitivity", "heavy-top", "-p", "center,mass", "--until", "0.02", "--json"]);
    assert_eq!(all["parameters"], serde_json::json!(["center_x", "center_y", "center_z", "mass"]));
    assert_eq!(all["parameter_values"]["center_y"], 1.0);
    let spelled =
        json(&["sensitivity", "heavy-top", "-p", "center.y,inertia[3]", "--until", "0.02", "--json"]);
    assert_eq!(spelled["parameters"], serde_json::json!(["center_y", "inertia_xy"]));
    refused(2, &["sensitivity", "heavy-top", "-p", "mas"], &["'mas'", "did you mean mass?"]);
    refused(2, &["sensitivity", "heavy-top", "-p", "mass,mass"], &["mass", "twice"]);
    refused(2, &["sensitivity", "heavy-top", "-p", "center,center_y"], &["center_y", "twice", "'center'"]);
    refused(2, &["sensitivity", "chain", "-p", "bodies"], &["bodies", "not a parameter"]);
    refused(2, &["sensitivity", "double-pendulum", "-p", "elbow.frist_x"], &["elbow.first_x"]);
    // A one-step method sees the joint in its reduction: the top moves with its pivot.
    let moved = json(&["sensitivity", "heavy-top", "-p", "pivot.first_x", "-m", "imidm", "--json"]);
    assert_eq!(moved["derivatives"]["pivot.first_x"]["position"], serde_json::json!([1.0, 0.0, 0.0]));
    refused(2, &["sensitivity", "double-pendulum", "-p", "mass_1", "-m", "imidm"], &["imidm"]);
    refused(2, &["sensitivity", "heavy-top", "-p", ","], &["--parameters"]);
    refused(4, &["sensitivity", "fast-top", "-p", "mgl", "-m", "convected,stop=after"], &["stop=converged"]);
}

#[test]
fn what_nothing_depends_on_is_said() {
    // The gimbals hold the centres of mass still.
    let said = polhode(&["sensitivity", "gyroscope", "-p", "mass,spin", "--until", "0.05", "--json"]);
    let value: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(said.code, Some(0));
    assert_eq!(value["independent"], serde_json::json!(["mass"]), "{}", value["derivatives"]["mass"]);
    assert!(said.err.contains("does not depend on mass"), "{}", said.err);
    // A small number is no small influence.
    for (problem, name, set) in [
        ("driven-body", "drag", "drag=1e-15"),
        ("heavy-top", "center_x", "center=1e-17,1,0"),
        ("heavy-top", "gravity_x", "gravity=6e-16,0,-9.81"),
    ] {
        let set = ["--set", set, "--until", "0.1", "--json", "--check"];
        let value = json(&[&["sensitivity", problem, "-p", name], &set[..]].concat());
        assert_eq!(value["independent"], serde_json::json!([]), "{problem} {name}");
    }
}

/// A parameter of a body or joint and the datum that it is made from are the same, in everything that is told.
#[test]
fn elements_and_data_have_the_same_derivatives() {
    fn flat(value: &Value, out: &mut Vec<f64>) {
        match value {
            Value::Number(x) => out.extend(x.as_f64()),
            Value::Array(list) => list.iter().for_each(|x| flat(x, out)),
            Value::Object(map) => map.values().for_each(|x| flat(x, out)),
            _ => {}
        }
    }
    for (problem, pairs) in [
        (
            "heavy-top",
            vec![
                ("mass", "top.mass"),
                ("inertia_yy", "top.inertia_yy"),
                ("inertia_xz", "top.inertia_xz"),
                ("center_y", "top.center_y"),
            ],
        ),
        ("double-pendulum", vec![("mass_2", "lower.mass"), ("inertia_upper_yz", "upper.inertia_yz")]),
        ("simple-pendulum", vec![("mass", "bob.mass"), ("inertia_yy", "bob.inertia_yy")]),
        ("slow-top", vec![("mgl", "body.load_1.mgl"), ("inertia_xy", "body.inertia_xy")]),
    ] {
        for (datum, element) in pairs {
            let names = format!("{datum},{element}");
            for method in ["linear-alpha", "residual-alpha", "geometric-alpha,constraints=stabilized"] {
                let args = ["-m", method, "--until", "0.1", "--json"];
                let said = json(&[&["sensitivity", problem, "-p", &names], &args[..]].concat());
                let [mut a, mut b] = [Vec::new(), Vec::new()];
                flat(&said["derivatives"][datum], &mut a);
                flat(&said["derivatives"][element], &mut b);
                assert!(a.len() > 20 && a.iter().any(|x| *x != 0.0), "{datum}");
                let size = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                let off = a.iter().zip(&b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(
                    a.len() == b.len() && off <= 1e-12 * size,
                    "{problem} {names} {method}: {off:e} of {size:e}"
                );
            }
        }
    }
}

#[test]
fn the_derivatives_over_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("slopes.csv");
    let name = path.to_str().expect("a path");
    fine(&["sensitivity", "heavy-top", "-p", "mass,gravity_z", "--until", "0.02", "--out", name]);
    let (header, rows) = csv(&path);
    assert_eq!(header[0], "t");
    let column = |wanted: &str| header.iter().position(|name| name == wanted).expect(wanted);
    assert_eq!(rows.len(), 11);
    let said = json(&["sensitivity", "heavy-top", "-p", "gravity_z", "--until", "0.02", "--json"]);
    let z = vector(&said["derivatives"]["gravity_z"]["position"])[2];
    assert_eq!(rows[10][column("gravity_z:position_z")], z);
    assert_eq!(rows[0][column("mass:position_z")], 0.0);
}

#[test]
fn numbers_whose_squares_are_too_large_do_not_become_infinite() {
    let top = ["sensitivity", "soft-wall", "--set", "coulomb=-5e19", "--step", "2.2", "--until", "28.6"];
    let options = ["--method", "mkrk:euler", "-p", "inertia_xy", "--check", "--json"];
    let text = fine(&[&top[..], &options].concat());
    let checks = serde_json::from_str::<serde_json::Value>(&text).unwrap();
    for check in checks["check"].as_array().unwrap() {
        let errors = check["relative_error"].as_object();
        let known = errors.is_some_and(|errors| errors.values().all(|x| x.is_number()));
        assert!(known || check["failed"].is_string(), "{check}");
    }
}
