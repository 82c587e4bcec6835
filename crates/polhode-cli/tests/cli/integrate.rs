//! Attitudes from angular velocities.

use crate::common::{csv, fine, json, names, polhode, refused};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn write(folder: &Path, content: &str) -> PathBuf {
    let path = folder.join("gyro.csv");
    fs::write(&path, content).expect("written");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// Distance of two quaternions as attitudes, in rad.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |sign: f64| a.iter().zip(b).map(|(a, b)| (a - sign * b).powi(2)).sum::<f64>().sqrt();
    2.0 * norm(1.0).min(norm(-1.0))
}

/// Two turns one after the other, by sin t about x and by t²/2 about z, in degrees and under other names.
fn gyro(count: u32, jitter: bool) -> String {
    let mut content = String::from("time;gx;gy;gz\n");
    for n in 0..=count {
        let off = if jitter && n > 0 && n < count { 0.3 * (f64::from(n) * 7.3).sin() } else { 0.0 };
        let t = 4.0 * (f64::from(n) + off) / f64::from(count);
        let (turn, rate) = (0.5 * t * t, t.cos());
        let omega = [rate * turn.cos(), -rate * turn.sin(), t].map(f64::to_degrees);
        content += &format!("{t:?};{:?};{:?};{:?}\n", omega[0], omega[1], omega[2]).replace('.', ",");
    }
    content
}

const MAP: [&str; 4] =
    ["--map", "t=time,omega_body_x_deg=gx", "--map", "omega_body_y_deg=gy,omega_body_z_deg=gz"];

#[test]
fn errors_fall_with_the_square_of_the_interval() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (0.5 * 4f64.sin(), 4.0f64);
    let exact = [a.cos() * b.cos(), a.sin() * b.cos(), -a.sin() * b.sin(), a.cos() * b.sin()];
    for map in ["exp", "cayley", "euler-rodrigues", "wiener-milenkovic"] {
        for jitter in [false, true] {
            let mut errors = Vec::new();
            for count in [200, 400, 800] {
                let path = write(folder.path(), &gyro(count, jitter));
                let method = format!("kinematic:{map}");
                let args = [&["integrate", text(&path), "--json", "--method", &method], &MAP[..]].concat();
                let end = json(&args);
                assert_eq!(end["samples"].as_u64(), Some(u64::from(count) + 1));
                assert_eq!(end["t"].as_f64(), Some(4.0));
                let error = distance(&numbers(&end["q_wxyz"]), &exact);
                let estimate = end["error_estimate"].as_f64().expect("an estimate");
                assert!((0.5..2.0).contains(&(estimate / error)), "{map}: {error:e} {estimate:e}");
                errors.push(error);
            }
            for pair in errors.windows(2) {
                let ratio = pair[0] / pair[1];
                assert!((3.6..4.5).contains(&ratio), "{map}, {jitter}: {errors:?}");
            }
        }
    }
}

#[test]
fn a_constant_rate_about_an_axis_is_exact() {
    let folder = tempfile::tempdir().expect("a folder");
    // A quarter turn in a second about (0, 0.6, 0.8), at any times.
    let rate = core::f64::consts::FRAC_PI_2;
    let mut content = String::from("t,omega_body_x,omega_body_y,omega_body_z\n");
    for t in [10.0, 10.001, 10.3, 10.31, 10.9, 11.0] {
        content += &format!("{t:?},0,{:?},{:?}\n", 0.6 * rate, 0.8 * rate);
    }
    let (path, out) = (write(folder.path(), &content), folder.path().join("out.csv"));
    let said = fine(&["integrate", text(&path), "--out", text(&out)]);
    for part in ["6 samples from t = 10 to 11 s", "kinematic:exp", "1.570796 rad in all", "error"] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
    let (header, rows) = csv(&out);
    assert_eq!(header.join(","), "t,q_w,q_x,q_y,q_z,omega_body_x,omega_body_y,omega_body_z");
    let half = 0.25 * core::f64::consts::PI;
    let exact = [half.cos(), 0.0, 0.6 * half.sin(), 0.8 * half.sin()];
    assert!(rows.len() == 6 && rows[5][0] == 11.0 && distance(&rows[5][1..5], &exact) < 1e-15);
    assert_eq!(rows[0][1..5], [1.0, 0.0, 0.0, 0.0]);
    // The same on standard output, and from standard input as it comes back.
    assert_eq!(fine(&["integrate", text(&path)]), fs::read_to_string(&out).expect("the table"));
    assert_eq!(fine(&["integrate", text(&out), "--out", "-"]), fs::read_to_string(&out).expect("the table"));
    // From another attitude, in two ways of writing.
    let vector = json(&["integrate", text(&path), "--json", "--attitude", "1.5707963267948966,0,0"]);
    let quaternion = json(&["integrate", text(&path), "--json", "--attitude", "0.70710678,0.70710678,0,0"]);
    assert!(distance(&numbers(&vector["q_wxyz"]), &numbers(&quaternion["q_wxyz"])) < 1e-8);
    let matrix: Vec<Vec<f64>> = vector["attitude"].as_array().expect("rows").iter().map(numbers).collect();
    // The first turn takes y to z and z to -y.
    let q = exact;
    let column = [
        1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]),
        2.0 * (q[1] * q[2] + q[0] * q[3]),
        2.0 * (q[1] * q[3] - q[0] * q[2]),
    ];
    let turned = [column[0], -column[2], column[1]];
    assert!((0..3).all(|i| (matrix[i][0] - turned[i]).abs() < 1e-12), "{matrix:?}");
    assert!((vector["angle"].as_f64().expect("an angle") - rate).abs() < 1e-14);
    assert_eq!(names(folder.path()), ["gyro.csv", "out.csv"]);
}

#[test]
fn gaps_are_bridged_and_large_errors_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let gap = "t,omega_body_x,omega_body_y,omega_body_z\n0,0,0,1\n0.5,0,,1\n,0,0,1\n1,0,0,1\n1.5,0,0,1\n";
    let said = polhode(&["integrate", text(&write(folder.path(), gap)), "--json"]);
    let end: Value = serde_json::from_str(&said.out).expect("JSON");
    assert!((numbers(&end["q_wxyz"])[3] - 0.75f64.sin()).abs() < 1e-15 && end["samples"].as_u64() == Some(3));
    for part in
        ["1 row without a time (line 4)", "1 cell of omega_body_y (line 3)", "2 rows left out and bridged"]
    {
        assert!(said.err.contains(part), "'{part}' is not in: {}", said.err);
    }
    let said = polhode(&[&["integrate", text(&write(folder.path(), &gyro(20, false)))], &MAP[..]].concat());
    assert!(said.code == Some(0) && said.err.contains("denser samples are needed"), "{}", said.err);
}

#[test]
fn what_is_no_gyroscope_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gyro.csv");
    let out = folder.path().join("out.csv");
    let with = |content: &str, more: &[&str], texts: &[&str]| {
        fs::write(&path, content).expect("written");
        refused(2, &[&["integrate", text(&path), "--out", text(&out)], more].concat(), texts);
        assert_eq!(names(folder.path()), ["gyro.csv"]);
    };
    let good = "t,omega_body_x,omega_body_y,omega_body_z\n0,0,0,1\n1,0,0,1\n";
    with("t,gx,gy,gz\n0,0,0,1\n1,0,0,1\n", &[], &["no column omega_body_x", "--map", "gx, gy, gz"]);
    with(&good.replace("\n1", "\n0"), &[], &["line 3, column t", "times must grow"]);
    with(&good.replace("\n1,0", "\n1,x"), &[], &["line 3, column omega_body_x", "'x' is not a number"]);
    with("t,omega_body_x,omega_body_y,omega_body_z\n0,0,0,1\n", &[], &["too few samples: 1"]);
    with(&good.replace("0,0,1\n1", "0,1e200,1\n1"), &[], &["line 2", "too large", "check its unit"]);
    let fast = good.replace(",1\n", ",4\n");
    with(&fast, &["--method", "kinematic:euler-rodrigues"], &["after line 2", "euler-rodrigues"]);
    with(good, &["--method", "akw"], &["akw is no method for given velocities", "kinematic:cayley"]);
    with(good, &["--method", "kinematic:foo"], &["kinematic:foo"]);
    with(good, &["--method", "kinematic:exp,velocity=midpoint"], &["velocity=mean"]);
    with(good, &["--attitude", "1,2"], &["3 numbers", "got 2"]);
    with(good, &["--attitude", "1,2,3,4"], &["unit length"]);
    with(good, &["--attitude", "1,x,0"], &["'x' is not a number"]);
    with(good, &["--attitude", "inf,0,0"], &["not a finite number"]);
    with(good, &["--attitude", "1e7,0,0"], &["at most 1e6"]);
    refused(2, &["integrate", text(&path), "--json", "--out", "-"], &["both write to standard output"]);
    refused(2, &["integrate", text(&path), "--out", text(&path)], &["are the data"]);
    refused(2, &["integrate", "none.csv"], &["cannot read the data", "none.csv"]);
}
