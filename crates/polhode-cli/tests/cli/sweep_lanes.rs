//! Runs that go side by side in lanes: the bytes of each by itself, which is what chunks of one run have.

use crate::common::{fine, names, polhode};
use std::path::Path;

/// The table of a sweep.
fn table(folder: &Path, args: &[&str], how: &[&str]) -> Vec<u8> {
    let out = folder.join("runs.parquet");
    let args: Vec<&str> = ["sweep"].iter().chain(args).copied().collect();
    fine(&[&args[..], &["--out", &out.to_string_lossy()], how].concat());
    let bytes = std::fs::read(&out).unwrap();
    std::fs::remove_file(&out).unwrap();
    bytes
}

const ALONE: [&str; 4] = ["--chunk", "1", "--threads", "1"];

/// A body on a hinge ball away from the origin, with loads that are not those of a top.
const GIMBAL: &str = r#"
gravity = [0, 0, -9.81]
[parameters]
arm = 0.3
drag = 0.02
[bodies.bob]
mass = 2
inertia = [0.1, 0.12, 0.05]
omega_body = [0.5, 0.2, 6]
position = [1, 0, "-arm"]
[frames.top]
body = "bob"
at = [0, 0, "arm"]
[frames.hook]
body = "ground"
at = [1, 0, 0]
[joints.pivot]
type = "spherical"
between = ["hook", "top"]
[[loads]]
body = "bob"
type = "drag"
coefficient = "drag"
[outputs]
height = "position_z"
swing = "hypot(position_x - 1, position_y)"
[run]
method = "imidm"
step = 0.004
until = 1
"#;

#[test]
fn lanes_have_the_bytes_of_each_run_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let gimbal = folder.path().join("gimbal.toml").to_string_lossy().into_owned();
    std::fs::write(&gimbal, GIMBAL).unwrap();
    let top = ["slow-top", "--vary", "mgl=uniform:5,40", "--vary", "omega_body_z=uniform:1,20"];
    let short = ["--step", "0.01", "--until", "1"];
    // One in three of these is no body, and some have an inertia that is diagonal.
    let odd =
        ["fast-top", "--vary", "body.inertia_zz=uniform:1,14", "--vary", "body.inertia_xy=list:0,0,0.1"];
    let free = ["free-rotation", "--vary", "omega_body_x=normal:0.5,0.2", "--until", "20"];
    let swinging = [&gimbal, "--vary", "arm=uniform:0.2,0.4", "--vary", "drag=log-uniform:0.001,0.1"];
    let cases: [(Vec<&str>, &[&str]); 8] = [
        ([&top[..], &short].concat(), &[]),
        ([&top[..], &short].concat(), &["--method", "compose:akw:4", "--keep", "final,drift"]),
        ([&top[..], &short].concat(), &["--method", "trapm", "--keep", "extremes,means,drift"]),
        ([&top[..], &short].concat(), &["--method", "akw", "--keep", "q_w@0:1:23,energy@0.333,drift"]),
        // Steps that are not plain for all.
        ([&top[..], &["--step", "0.5", "--until", "20"]].concat(), &["--keep", "final,max(energy),drift"]),
        ([&odd[..], &["--until", "0.05"]].concat(), &["--method", "imidm", "--keep", "final,drift"]),
        (free.to_vec(), &["--method", "akw", "--keep", "final,drift,q_w@7.77", "--limit", "60"]),
        (swinging.to_vec(), &["--keep", "outputs,max(height),mean(swing),height@0:1:9,drift"]),
    ];
    for (model, kept) in cases {
        let args = [&model[..], &["--runs", "42", "--seed", "3"], kept].concat();
        let alone = table(folder.path(), &args, &ALONE);
        for how in [&["--threads", "1"][..], &["--threads", "2", "--chunk", "11"], &["--chunk", "100"]] {
            assert!(alone == table(folder.path(), &args, how), "{args:?} {how:?}");
        }
    }
    assert_eq!(names(folder.path()), ["gimbal.toml"]);
}

#[test]
fn whole_motions_of_runs_in_lanes_are_those_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let sweep = ["sweep", "slow-top", "--vary", "mgl=uniform:10,20", "--runs", "8", "--until", "0.3"];
    for (motions, chunk) in [("one", "1"), ("four", "4")] {
        let how = ["--trajectories", &at(motions), "--every", "4", "--chunk", chunk, "--threads", "1"];
        fine(&[&sweep[..], &how, &["--out", &at("runs.csv")]].concat());
    }
    for name in names(&folder.path().join("one")) {
        let read = |motions: &str| std::fs::read(folder.path().join(motions).join(&name)).unwrap();
        assert!(read("one") == read("four"), "{name}");
    }
    assert_eq!(names(&folder.path().join("four")).len(), 8);
}

#[test]
fn a_run_that_takes_too_long_is_the_only_one() {
    // Beside others it would take their time too.
    let sweep = ["sweep", "slow-top", "--vary", "mgl=uniform:10,20", "--runs", "8", "--threads", "1"];
    let long =
        ["--step", "1e-6", "--until", "10", "--limit", "0.02", "--chunk", "4", "--out", "-", "--quiet"];
    let said = polhode(&[&sweep[..], &long].concat());
    assert_eq!(said.out.matches("limit: it took longer than 0.02 s").count(), 8, "{}", said.out);
}
