//! Measured motions as people have them: jitter, gaps, degrees, other names, separators and decimal signs.

use crate::common::{Said, csv, fine, names, polhode, refused};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Something like noise, of deviation one.
fn noise(n: usize, i: usize) -> f64 {
    let mut z = (n as u64 * 1000 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    3f64.sqrt() * (2.0 * (((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64) - 1.0)
}

const NAMES: [&str; 8] = ["t", "q_w", "q_x", "q_y", "q_z", "omega_body_x", "omega_body_y", "omega_body_z"];

/// Rows of the slow top with a weight of 21: of every tenth of fine steps, or of one beside that.
fn rows(folder: &Path, jitter: bool) -> Vec<[f64; 8]> {
    let path = folder.join("fine.csv");
    let run = ["run", "slow-top", "--set", "mgl=21", "--no-reference", "--method", "mkrk:gauss3"];
    let path_text = path.to_str().expect("a path");
    fine(&[&run[..], &["--step", "0.001", "--until", "2", "--out", path_text]].concat());
    let (header, all) = csv(&path);
    let at = NAMES.map(|name| header.iter().position(|own| own == name).expect("a column"));
    let beside = |n: usize| if jitter { (3.0 + 1.7 * noise(n, 3)) as usize } else { 0 };
    (0..190).map(|n| at.map(|i| all[10 * n + beside(n)][i])).collect()
}

fn object(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{}", said.err);
    serde_json::from_str(&said.out).expect("stdout is JSON")
}

/// The weight that a fit of this text finds.
fn weight(folder: &Path, content: &str, more: &[&str]) -> (f64, Said) {
    let path = folder.join("data.csv");
    fs::write(&path, content).expect("written");
    let base = ["fit", "slow-top", "--data", path.to_str().expect("a path"), "-p", "mgl", "--json"];
    let said = polhode(&[&base[..], &["--method", "mkrk:gauss3"], more].concat());
    let fit = object(&said);
    (fit["values"]["mgl"].as_f64().expect("a number"), said)
}

/// A table with a header, and the text of each cell.
fn table(
    header: &str,
    rows: &[[f64; 8]],
    row: &dyn Fn(usize, &[f64; 8]) -> Vec<String>,
    mark: &str,
) -> String {
    let lines = rows.iter().enumerate().map(|(n, numbers)| row(n, numbers).join(mark));
    header.to_string() + "\n" + &lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn plain(_: usize, row: &[f64; 8]) -> Vec<String> {
    row.iter().map(|x| format!("{x:?}")).collect()
}

#[test]
fn jitter_is_interpolated_and_said() {
    let folder = tempfile::tempdir().expect("a folder");
    // Times that are no multiples of the step of the problem, 0.01.
    let rows = rows(folder.path(), true);
    let (found, said) =
        weight(folder.path(), &table(&NAMES.join(","), &rows, &plain, ","), &["--step", "0.0099"]);
    assert!((found - 21.0).abs() < 1e-7, "{found}");
    assert_eq!(
        said.err,
        "note: the samples do not lie on steps of 0.0099 s; runs are interpolated to them\n"
    );
    // By itself it finds the step of a millisecond, as all times are multiples of that.
    let jittered: Vec<[f64; 8]> =
        rows.iter().enumerate().filter(|(n, _)| n % 3 > 0).map(|(_, r)| *r).collect();
    let (found, said) = weight(folder.path(), &table(&NAMES.join(","), &jittered, &plain, ","), &[]);
    assert!((found - 21.0).abs() < 1e-7 && said.err.is_empty(), "{found} {}", said.err);
    // Noise on top, and both signs of the attitude.
    let noisy = |n: usize, row: &[f64; 8]| -> Vec<String> {
        let sign = if noise(n, 20) > 0.0 { 1.0 } else { -1.0 };
        let cell = |i: usize| match i {
            0 => row[0],
            1..5 => sign * (row[i] + 0.002 * noise(n, i)),
            _ => row[i] + 0.02 * noise(n, i),
        };
        (0..8).map(|i| format!("{:?}", cell(i))).collect()
    };
    let text = table(&NAMES.join(","), &rows, &noisy, ",");
    let (found, said) = weight(folder.path(), &text, &["--step", "0.0099"]);
    let error = object(&said)["standard_errors"]["mgl"].as_f64().expect("a number");
    assert!((found - 21.0).abs() < 3.0 * error && error < 0.05, "{found} {error}");
}

#[test]
fn other_names_units_separators_and_decimal_signs_are_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows(folder.path(), false);
    let exact = |header: &str, row: &dyn Fn(usize, &[f64; 8]) -> Vec<String>, mark: &str, more: &[&str]| {
        let (found, said) = weight(folder.path(), &table(header, &rows, row, mark), more);
        assert!((found - 21.0).abs() < 1e-7, "{header}: {found}");
        said.err
    };
    // Scalar last, in degrees, with decimal commas, quotes and comments.
    let german = |n: usize, row: &[f64; 8]| -> Vec<String> {
        let degrees = [5, 6, 7].map(|i| row[i].to_degrees());
        let numbers = [row[0], row[2], row[3], row[4], row[1], degrees[0], degrees[1], degrees[2]];
        let mut cells: Vec<String> = numbers.iter().map(|x| format!("{x:?}").replace('.', ",")).collect();
        cells.push(format!("\"a;\"\"{n}\""));
        cells
    };
    let map = ["--map", "t=Zeit,q_w=qw,q_x=qx,q_y=qy,q_z=qz", "--map", "omega_body_x_deg=g x", "--map"];
    let map = [&map[..], &["omega_body_y_deg=gy, omega_body_z_deg=gz"]].concat();
    let header = "# measured\n\nZeit;qx;qy;qz;qw;\"g x\";gy;gz;Notiz\n# here";
    assert_eq!(exact(header, &german, ";", &map), "note: columns of the data that are not used: Notiz\n");
    // By their names, with tabs.
    let deg = |_: usize, row: &[f64; 8]| -> Vec<String> {
        (0..8).map(|i| format!("{:?}", if i < 5 { row[i] } else { row[i].to_degrees() })).collect()
    };
    let header =
        NAMES.map(|name| if name.starts_with("omega") { format!("{name}_deg") } else { name.into() });
    assert_eq!(exact(&header.join("\t"), &deg, "\t", &[]), "");
    // The time of day.
    let clock = |n: usize, row: &[f64; 8]| -> Vec<String> {
        let mut cells = plain(n, row);
        cells[0] = format!("{:.2}", 43200.0 + row[0]);
        cells
    };
    assert_eq!(exact(&NAMES.join(","), &clock, ",", &["--t0", "43200"]), "");
    let path = folder.path().join("data.csv");
    let base = ["fit", "slow-top", "--data", path.to_str().expect("a path"), "-p", "mgl"];
    refused(2, &[&base[..], &["--t0", "-1700000000"]].concat(), &["too many for a fit", "--t0"]);
    refused(2, &[&base[..], &["--t0", "43201"]].concat(), &["line 2, time", "before the start", "--t0"]);
    refused(2, &[&base[..], &["--t0", "nan"]].concat(), &["--t0 must be a finite number"]);
    // A header in a comment, milliseconds, a column without a name.
    let index = |n: usize, row: &[f64; 8]| -> Vec<String> {
        let mut cells = plain(n, row);
        cells[0] = format!("{:?}", 1e3 * row[0]);
        cells.insert(0, n.to_string());
        cells
    };
    let header = format!("# ,t_ms,{}", NAMES[1..].join(","));
    assert_eq!(exact(&header, &index, ",", &[]), "");
}

#[test]
fn gaps_are_told_and_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows(folder.path(), false);
    let gaps = |n: usize, row: &[f64; 8]| -> Vec<String> {
        let mut cells = plain(n, row);
        if !n.is_multiple_of(10) {
            cells[1..5].fill(String::new());
        }
        match n {
            7 => cells[0] = "NaN".into(),
            8 => cells[5..].fill("n/a".into()),
            9 => cells[6] = "nan".into(),
            _ => {}
        }
        cells
    };
    let out = folder.path().join("r.csv");
    let out_text = out.to_str().expect("a path");
    let text = table(&NAMES.join(","), &rows, &gaps, ",");
    let (found, said) = weight(folder.path(), &text, &["--out", out_text]);
    assert!((found - 21.0).abs() < 1e-7, "{found}");
    for part in [
        "1 row without a time (line 9)",
        "1 row without a number (line 10)",
        "169 cells of q_w (lines 3, 4, 5, 6, 7, ...)",
        "1 cell of omega_body_y (line 11)",
    ] {
        assert!(said.err.contains(part), "'{part}' is not in: {}", said.err);
    }
    let fit = object(&said);
    assert_eq!(fit["samples"].as_u64(), Some(188));
    assert_eq!(fit["degrees_of_freedom"].as_u64(), Some(19 * 4 + 188 * 3 - 1 - 1));
    let written = fs::read_to_string(&out).expect("residuals");
    assert!(written.lines().nth(2).expect("a row").starts_with("0.01,,,,,"), "{written}");
    assert_eq!(names(folder.path()), ["data.csv", "fine.csv", "r.csv"]);
}

#[test]
fn standard_input_has_data_too() {
    use std::io::Write;
    let folder = tempfile::tempdir().expect("a folder");
    let text = table(&NAMES.join(","), &rows(folder.path(), false), &plain, ",");
    let mut command = crate::common::program();
    command.args(["fit", "slow-top", "--data", "-", "-p", "mgl", "--json"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("started");
    child.stdin.take().expect("open").write_all(text.as_bytes()).expect("written");
    let done = child.wait_with_output().expect("ended");
    let fit: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(fit["data"].as_str(), Some("standard input"));
    refused(2, &["fit", "slow-top", "--data", "-", "-p", "mgl"], &["standard input: the file is empty"]);
}
