//! Parameters from measured motions.

use crate::common::{csv, fine, names, number, polhode, refused};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

/// A motion in a file.
fn motion(folder: &Path, problem: &str, until: &str, every: &str) -> PathBuf {
    let path = folder.join("data.csv");
    let method = ["run", problem, "--step", "0.005", "--until", until, "--no-reference"];
    let out = ["--out", text(&path), "--every", every, "--method", "linear-alpha"];
    fine(&[&method[..], &out].concat());
    path
}

/// Some columns of a motion, each number changed.
fn rewrite(path: &Path, keep: &dyn Fn(&str) -> bool, change: &dyn Fn(usize, usize, f64) -> f64) {
    let (header, rows) = csv(path);
    let kept: Vec<usize> = (0..header.len()).filter(|i| keep(&header[*i])).collect();
    let mut text = kept.iter().map(|i| header[*i].clone()).collect::<Vec<_>>().join(",") + "\n";
    for (n, row) in rows.iter().enumerate() {
        let cells = kept.iter().map(|&i| format!("{:?}", if i == 0 { row[i] } else { change(n, i, row[i]) }));
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    fs::write(path, text).expect("written");
}

/// Something like noise, of deviation one.
fn noise(n: usize, i: usize) -> f64 {
    let mut z = (n as u64 * 1000 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    3f64.sqrt() * (2.0 * (((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64) - 1.0)
}

fn object(out: &str) -> Value {
    serde_json::from_str(out).expect("stdout is JSON")
}

const TOP: [&str; 8] = [
    "--method",
    "linear-alpha",
    "--step",
    "0.005",
    "--set",
    "inertia=0.27,0.42,0.2",
    "--set",
    "center=0.1,0.9,-0.1",
];

#[test]
fn a_top_comes_back_from_its_motion() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = motion(folder.path(), "heavy-top", "0.4", "1");
    let args = ["fit", "heavy-top", "--data", text(&data), "--parameters", "inertia,center", "--json"];
    let said = polhode(&[&args[..], &TOP].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.err.starts_with("note: columns of the data that are not used: ")
            && said.err.lines().count() == 1
    );
    assert!(said.err.contains("momentum_body_x") && said.err.contains("energy"), "{}", said.err);
    let fit = object(&said.out);
    let keys = [
        "problem",
        "method",
        "step",
        "data",
        "samples",
        "columns",
        "parameters",
        "start",
        "values",
        "standard_errors",
        "intervals",
        "correlations",
        "sigma",
        "edge",
        "iterations",
        "evaluations",
        "converged",
        "stopped",
    ];
    for key in keys {
        assert!(fit.get(key).is_some(), "{key}");
    }
    let truth = [
        ("inertia_xx", 0.234375),
        ("inertia_yy", 0.46875),
        ("inertia_zz", 0.234375),
        ("inertia_xy", 0.0),
        ("inertia_xz", 0.0),
        ("inertia_yz", 0.0),
        ("center_x", 0.0),
        ("center_y", 1.0),
        ("center_z", 0.0),
    ];
    for (name, value) in truth {
        assert!((number(&fit["values"][name]) - value).abs() < 1e-9, "{name}: {}", fit["values"][name]);
        let interval: Vec<f64> = fit["intervals"][name].as_array().expect("two").iter().map(number).collect();
        assert!(interval.len() == 2 && interval[0] < interval[1]);
    }
    assert_eq!(fit["parameters"].as_array().map(Vec::len), Some(9));
    assert_eq!((number(&fit["start"]["center_y"]), number(&fit["step"])), (0.9, 0.005));
    assert_eq!((fit["converged"].as_bool(), fit["samples"].as_u64()), (Some(true), Some(81)));
    assert!((number(&fit["correlations"][2][2]) - 1.0).abs() < 1e-12);
    assert!(
        number(&fit["sigma"]["omega_body_x"]) > 0.0 && fit["columns"].as_array().map(Vec::len) == Some(13)
    );
}

#[test]
fn a_noisy_top_is_reported_with_plot_and_residuals() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = motion(folder.path(), "heavy-top", "0.4", "1");
    let used = |name: &str| {
        name == "t" || ["position_", "q_", "omega_body_"].iter().any(|start| name.starts_with(start))
    };
    // Beyond the edge of a flat body: the data are those of a disc, and the noise decides.
    rewrite(&data, &used, &|n, i, x| x + 0.01 * (x.abs() + 0.1) * noise(n, i));
    let (plot, out) = (folder.path().join("r.svg"), folder.path().join("r.csv"));
    let args = ["fit", "heavy-top", "--data", text(&data), "--parameters", "inertia,center"];
    let files = ["--plot", text(&plot), "--out", text(&out)];
    let said = fine(&[&args[..], &TOP, &files].concat());
    for part in [
        "81 samples from t = 0 to 0.4 s",
        "position",
        "95 % interval",
        "inertia_yy",
        "noise",
        "converged",
        "round",
    ] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
    let drawing = fs::read_to_string(&plot).expect("the plot");
    assert!(drawing.starts_with("<svg") && drawing.ends_with("</svg>\n"));
    assert!(
        drawing.matches("font-weight=\"bold\"").count() == 4
            && drawing.matches("<circle").count() == 81 * 10 + 10
    );
    let (header, rows) = csv(&out);
    assert_eq!((header.len(), rows.len(), header[0].as_str()), (11, 81, "t"));
    let sum: f64 = rows.iter().map(|row| row[1]).sum();
    assert!(sum.abs() < 1.0 && rows.iter().any(|row| row[1] != 0.0));
    assert_eq!(names(folder.path()), ["data.csv", "r.csv", "r.svg"]);

    // Fewer columns, known noise and bounds.
    let more = [
        "--columns",
        "omega_body,position_z",
        "--sigma",
        "omega_body=0.5",
        "--bounds",
        "center_y=0.5:0.95",
        "--json",
    ];
    let center = [
        "fit",
        "heavy-top",
        "--data",
        text(&data),
        "--parameters",
        "center_y",
        "--method",
        "linear-alpha",
        "--set",
        "center=0,0.9,0",
    ];
    let said = polhode(&[&center[..], &more].concat());
    let fit = object(&said.out);
    assert_eq!(fit["columns"].as_array().map(Vec::len), Some(4), "{}", said.err);
    assert!((number(&fit["values"]["center_y"]), number(&fit["sigma"]["omega_body_x"])) == (0.95, 0.5));
    assert_eq!(fit["held"]["center_y"].as_str(), Some("upper"));
}

#[test]
fn a_mechanism_comes_back_from_its_motion() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = motion(folder.path(), "double-pendulum", "0.6", "2");
    let args = ["fit", "double-pendulum", "--data", text(&data), "--parameters", "mass_2,center_2,gravity_z"];
    let start = ["--set", "mass=1,2.3", "--set", "center=0.5,0.35", "--set", "gravity=0,0,-9", "--json"];
    let said = polhode(&[&args[..], &start, &["--method", "linear-alpha", "--step", "0.005"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let fit = object(&said.out);
    for (name, value) in [("mass_2", 2.0), ("center_2", 0.4), ("gravity_z", -9.81)] {
        assert!((number(&fit["values"][name]) - value).abs() < 1e-9, "{name}: {}", fit["values"][name]);
    }
    assert!(fit["columns"].as_array().is_some_and(|list| list.iter().any(|name| name == "lower.position_x")));
}

#[test]
fn what_the_data_do_not_determine_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = motion(folder.path(), "heavy-top", "0.3", "1");
    // About the tip only the ratio of inertia and weight acts.
    rewrite(&data, &|name| name == "t" || name.starts_with("q_") || name.starts_with("omega"), &|_, _, x| x);
    let args =
        ["fit", "heavy-top", "--data", text(&data), "--method", "imidm", "--parameters", "inertia,center"];
    refused(4, &args, &["the data do not determine", "inertia_yy"]);
    // Nor does any attitude depend on what is not there.
    let args = ["fit", "heavy-top", "--data", text(&data), "--method", "imidm", "--set", "gravity=0,0,0"];
    refused(
        4,
        &[&args[..], &["--parameters", "mass,gravity_z", "--set", "center=0,0,0"]].concat(),
        &["do not depend on"],
    );
}

#[test]
fn files_that_are_no_data_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.csv");
    let fit = |content: &[u8], texts: &[&str]| {
        fs::write(&path, content).expect("written");
        let args = ["fit", "slow-top", "--data", text(&path), "--parameters", "mgl"];
        refused(2, &args, texts);
    };
    let missing = folder.path().join("none.csv");
    refused(
        2,
        &["fit", "slow-top", "--data", text(&missing), "--parameters", "mgl"],
        &["cannot read the data", "none.csv"],
    );
    fit(b"", &["the file is empty"]);
    fit(b"\n\n", &["the file is empty"]);
    fit(b"\xff\xfe\x00", &["not text"]);
    fit(b"time,q_w\n0,1\n", &["no column t", "--map t=time", "time, q_w"]);
    fit(b"t,q_w,q_w\n0,1,1\n", &["two columns q_w"]);
    fit(b"Zeit,q_w\n0,1\n", &["no column t", "Zeit, q_w"]);
    fit(b"0,1\n0.1,1\n", &["line 1 has numbers", "a header"]);
    fit(b"# nothing\n\n", &["the file is empty"]);
    fit(b"t,q_w\r0,1\r0.1,1\r", &["carriage returns", "lines end in a line feed"]);
    fit(b"t,q_w\n0,1\n0.01,2,3\n", &["line 3 has too many cells", "3 for 2"]);
    fit(b"t,q_w\n0,1\n\n# cut\n0.01\n", &["line 5 has too few cells"]);
    fit(b"t,q_w\n0,\n0.01,nan\n,1\n", &["too few samples: 0 without 1 row without a time (line 4)"]);
    fit(b"t,q_w\n0,1\n0.01,inf\n", &["line 3, column q_w", "not a finite number"]);
    fit(b"t,q_w\n0,1\n0.01,1e400\n", &["line 3, column q_w", "too large"]);
    fit(b"t,q_w\n0,1\n0.01,1.2.3\n", &["line 3, column q_w", "'1.2.3' is not a number"]);
    fit(b"t,q_w\n0,1\n0.01,\"0,5\"\n", &["line 3, column q_w", "'0,5' is not a number"]);
    fit(b"t;q_w\n0;1\n0,01;1.000,5\n", &["line 3, column q_w", "'1.000,5' is not a number"]);
    fit(b"t,q_w\n0,\"1\n0.01,1\n", &["line 2: a quote is opened"]);
    fit(b"t,q_w\n0,1\nx,1\n", &["line 3, column t", "'x' is not a number"]);
    fit(b"t,q_w\n0,1\n0.02,1\n0.01,1\n", &["line 4, column t", "not after 0.02"]);
    fit(b"t,q_w\n-0.01,1\n0.02,1\n", &["line 2, time", "before the start"]);
    fit(b"t,q_w\n0,1\n", &["too few samples: 1"]);
    fit(b"t,w\n0,1\n0.01,1\n0.02,1\n", &["no column of the data", "q_w", "--map"]);
    fit(b"t,t_ms,q_w\n0,0,1\n0.01,10,1\n", &["t and t_ms both are t", "choose with --map"]);
    let few = b"t,omega_body_x,omega_body_y\n0,0,0\n0.01,0,0\n";
    fs::write(&path, few).expect("written");
    let args = ["fit", "slow-top", "--data", text(&path), "--parameters", "mgl,omega_body"];
    refused(2, &args, &["2 samples of 2 columns", "too few for 4 parameters"]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.csv");
    // A mark, line ends, blanks and quotes of other programs are fine.
    fs::write(&path, "\u{feff}t, \"q_w\" ,note\r\n0, 1,a\r\n0.01 ,1,b\r\n 0.02,1.0,c\r\n\r\n")
        .expect("written");
    let base = ["fit", "slow-top", "--data", text(&path), "--parameters", "mgl"];
    let with = |more: &[&str], texts: &[&str]| refused(2, &[&base[..], more].concat(), texts);
    with(&["--columns", "q_v"], &["a column 'q_v'", "did you mean q_w"]);
    with(&["--columns", "omega_body"], &["the data have no column 'omega_body'"]);
    with(&["--sigma", "q"], &["--sigma is written NAME=VALUE"]);
    with(&["--sigma", "q=x"], &["'x' is not a number"]);
    with(&["--sigma", "q=-1"], &["positive", "-1"]);
    with(&["--sigma", "energy=1"], &["no column 'energy' is compared", "compared are q_w"]);
    with(&["--sigma", "q=1", "--sigma", "q=2"], &["--sigma names q twice"]);
    with(&["--bounds", "mgl=1:30", "--bounds", "mgl=2:30"], &["--bounds names mgl twice"]);
    with(&["--columns", ""], &["names no column"]);
    with(&["--columns", "foo"], &["'foo'", "there are q_w"]);
    with(&["--out", text(&path)], &["are the data"]);
    with(&["--bounds", "mgl=1"], &["--bounds is written NAME=LO:HI"]);
    with(&["--bounds", "mgl=30:40"], &["mgl starts at 20"]);
    with(&["--bounds", "mgl=3:1"], &["not below"]);
    with(&["--bounds", "mass=0:1"], &["not among the fitted"]);
    with(&["--step", "0.007"], &["a step of 0.007 s is too long", "at most 4.000e-3 s", "--step"]);
    with(&["--map", "q_w"], &["--map is written NAME=COLUMN"]);
    with(&["--map", "q_w="], &["--map is written NAME=COLUMN"]);
    with(&["--map", "q_w=qw"], &["no column 'qw'", "t, q_w, note"]);
    with(&["--map", "qw=q_w"], &["no quantity 'qw'", "--map q_w=qw"]);
    with(&["--map", "foo=note"], &["no quantity 'foo'"]);
    with(&["--map", "q_x=note,q_x=q_w"], &["--map names q_x or q_w twice"]);
    with(&["--map", "q_w_deg=note"], &["no quantity 'q_w_deg'"]);
    with(&["--map", "q_w=note"], &["line 2, column note", "'a' is not a number"]);
    with(&["--step", "-1"], &["positive finite number"]);
    with(&["--plot", "x.gif"], &["must end in .svg"]);
    with(&["--out", text(folder.path())], &["it is a directory"]);
    let args = ["fit", "slow-top", "--data", text(&path), "--parameters", "mgm"];
    refused(2, &args, &["no parameter called 'mgm'", "did you mean mgl"]);
    assert_eq!(names(folder.path()), ["data.csv"]);
}

/// What a fit leaves is noise, or it is not: then that is said.
#[test]
fn data_of_another_motion_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = motion(folder.path(), "heavy-top", "0.5", "1");
    let noisy = |shift: f64| {
        let (header, rows) = csv(&path);
        let mut out = header.join(",") + "\n";
        for (n, row) in rows.iter().enumerate() {
            let cell = |i: usize| if i == 0 { row[0] + shift } else { row[i] + 0.01 * noise(n, i) };
            out += &((0..row.len()).map(|i| format!("{:?}", cell(i))).collect::<Vec<_>>().join(",") + "\n");
        }
        let other = folder.path().join("noisy.csv");
        fs::write(&other, out).expect("written");
        let columns = ["--columns", "position,attitude", "--method", "linear-alpha", "--step", "0.005"];
        polhode(
            &[&["fit", "heavy-top", "--data", text(&other), "-p", "mass", "--json"], &columns[..]].concat(),
        )
    };
    let right = noisy(0.0);
    assert!(right.code == Some(0) && !right.err.contains("no noise"), "{}", right.err);
    assert_eq!(object(&right.out)["patterned"], serde_json::json!([]));
    let late = noisy(0.1);
    assert!(
        late.err.contains("position_x") && late.err.contains("correlated from sample to sample"),
        "{}",
        late.err
    );
    assert!(object(&late.out)["patterned"].as_array().is_some_and(|list| list.len() > 3));
}

/// The centres of mass of the gimbals never move: their columns have rounding and nothing else.
#[test]
fn columns_of_rounding_do_not_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.csv");
    fine(&["run", "gyroscope", "--until", "0.3", "--no-reference", "--out", text(&path)]);
    let said =
        polhode(&["fit", "gyroscope", "--data", text(&path), "-p", "weight", "--set", "weight=7", "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!((number(&object(&said.out)["values"]["weight"]) - 5.0).abs() < 1e-6, "{}", said.out);
    // And a parameter that moves nothing is told by its name.
    let said = polhode(&["fit", "gyroscope", "--data", text(&path), "-p", "mass"]);
    assert!(said.code == Some(4) && said.err.contains("the data do not depend on mass"), "{}", said.err);
}
