//! Many runs: draws, tables that are the same however they were computed, and sweeps that are killed and gone on with.

use crate::common::{fine, json, names, polhode, program};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A table of a sweep: its columns, the numbers of each row, and the status of each.
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<f64>>,
    pub status: Vec<String>,
}

impl Table {
    pub fn of(text: &str) -> Table {
        let mut lines = text.lines();
        let columns: Vec<String> = lines.next().expect("a head").split(',').map(String::from).collect();
        let (mut rows, mut status) = (Vec::new(), Vec::new());
        for line in lines {
            let cells: Vec<&str> = line.splitn(columns.len(), ',').collect();
            assert_eq!(cells.len(), columns.len(), "{line}");
            let (last, numbers) = cells.split_last().unwrap();
            rows.push(numbers.iter().map(|x| x.parse().expect(x)).collect());
            status.push(last.trim_matches('"').replace("\"\"", "\""));
        }
        Table { columns, rows, status }
    }
    pub fn column(&self, name: &str) -> Vec<f64> {
        let at = self.columns.iter().position(|column| column == name);
        let at = at.unwrap_or_else(|| panic!("no column {name} in {:?}", self.columns));
        self.rows.iter().map(|row| row[at]).collect()
    }
}

/// A sweep to standard output.
pub fn table(args: &str) -> Table {
    let words: Vec<&str> = args.split(' ').filter(|word| !word.is_empty()).collect();
    let said = polhode(&[&words[..], &["--out", "-", "--quiet"]].concat());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{args}");
    Table::of(&said.out)
}

fn moments(all: &[f64]) -> (f64, f64) {
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    (mean, (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
}

const SHORT: &str = "sweep slow-top --step 0.01 --until 0.02 --keep energy";

#[test]
fn draws_have_the_moments_of_their_spreads() {
    for sampling in ["random", "sobol", "latin"] {
        let args = format!(
            "{SHORT} --runs 2048 --seed 11 --sampling {sampling} --vary mgl=uniform:10,20 --vary body.inertia_xx=normal:5,0.05 \
             --vary omega_body_z=log-uniform:1,100"
        );
        let found = table(&args);
        assert_eq!(found.columns, ["run", "mgl", "body.inertia_xx", "omega_body_z", "energy", "status"]);
        assert!(found.status.iter().all(|status| status == "ok"));
        assert!(found.column("run").iter().enumerate().all(|(k, run)| *run == k as f64));
        // Within four deviations of the mean of so many; the even ones are far better.
        let off = if sampling == "random" { 4.0 / 2048f64.sqrt() } else { 0.01 };
        let near = |values: Vec<f64>, mean: f64, sigma: f64| {
            let (m, s) = moments(&values);
            assert!((m - mean).abs() < off * sigma, "{sampling}: {m} for {mean}");
            assert!((s / sigma - 1.0).abs() < off.max(0.01), "{sampling}: {s} for {sigma}");
        };
        near(found.column("mgl"), 15.0, 10.0 / 12f64.sqrt());
        near(found.column("body.inertia_xx"), 5.0, 0.05);
        let logarithms = found.column("omega_body_z").iter().map(|x| x.ln()).collect();
        near(logarithms, 0.5 * 100f64.ln(), 100f64.ln() / 12f64.sqrt());
    }
}

/// Sobol's points of the first four coordinates, in the order of Gray's code, from their recurrence in bits.
fn sobol(k: u32) -> [u32; 4] {
    // Polynomials x + 1, x^2 + x + 1, x^3 + x + 1 with the first numbers of Joe and Kuo.
    let mut v = [[0u32; 32]; 4];
    for i in 0..32 {
        v[0][i] = 1 << (31 - i);
        v[1][i] = if i == 0 { 1 << 31 } else { v[1][i - 1] ^ (v[1][i - 1] >> 1) };
        v[2][i] = match i {
            0 => 1 << 31,
            1 => 3 << 30,
            _ => v[2][i - 2] ^ (v[2][i - 2] >> 2) ^ v[2][i - 1],
        };
        v[3][i] = match i {
            0 => 1 << 31,
            1 => 3 << 30,
            2 => 1 << 29,
            _ => v[3][i - 3] ^ (v[3][i - 3] >> 3) ^ v[3][i - 2],
        };
    }
    let mut point = [0; 4];
    // One more direction from each point to the next: that of the lowest zero of its number.
    for n in 0..k {
        let bit = n.trailing_ones() as usize;
        point.iter_mut().zip(&v).for_each(|(x, v)| *x ^= v[bit]);
    }
    point
}

#[test]
fn sobol_is_sobols_sequence_shifted() {
    let names = ["mgl", "body.mass", "omega_body_x", "omega_body_y"];
    let mut args =
        "sweep slow-top --step 0.01 --until 0.02 --keep energy --runs 200 --sampling sobol".to_string();
    let names: Vec<&str> =
        names.into_iter().filter(|name| *name != "body.mass").chain(["omega_body_z"]).collect();
    names.iter().for_each(|name| args.push_str(&format!(" --vary {name}=uniform:0,1")));
    let points = |seed: u32| {
        let found = table(&format!("{args} --seed {seed}"));
        let columns: Vec<Vec<f64>> = names.iter().map(|name| found.column(name)).collect();
        let digits = |x: f64| (x * 2f64.powi(32)) as u32;
        (0..200).map(|k| core::array::from_fn(|j| digits(columns[j][k]))).collect::<Vec<[u32; 4]>>()
    };
    let (one, other) = (points(1), points(2));
    assert_ne!(one[0], other[0]);
    for k in 0..200 {
        let shifted = core::array::from_fn(|j| one[k][j] ^ one[0][j]);
        assert_eq!(sobol(k as u32), shifted, "{k}");
        assert_eq!(shifted, core::array::from_fn(|j| other[k][j] ^ other[0][j]));
    }
}

#[test]
fn a_draw_depends_on_its_run_and_nothing_else() {
    let args = |runs: u32, seed: u32| format!("{SHORT} --vary mgl=normal:20,1 --runs {runs} --seed {seed}");
    let (few, many, other) = (table(&args(10, 4)), table(&args(50, 4)), table(&args(10, 5)));
    assert_eq!(few.rows[..10], many.rows[..10]);
    assert!(few.column("mgl").iter().zip(other.column("mgl")).all(|(a, b)| *a != b));
    // Each part of a Latin hypercube is met once.
    let latin = table(&format!("{SHORT} --vary mgl=uniform:0,40 --runs 40 --sampling latin"));
    let mut parts: Vec<u32> = latin.column("mgl").iter().map(|x| *x as u32).collect();
    assert!(!parts.is_sorted());
    parts.sort_unstable();
    assert!(parts.into_iter().eq(0..40));
}

#[test]
fn grids_lists_and_files_are_met() {
    let grid = table(&format!("{SHORT} --vary mgl=grid:10,20,3 --vary omega_body_z=list:1,7"));
    assert_eq!(grid.column("mgl"), [10.0, 10.0, 15.0, 15.0, 20.0, 20.0]);
    assert_eq!(grid.column("omega_body_z"), [1.0, 7.0, 1.0, 7.0, 1.0, 7.0]);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("cases.csv"), "mgl, omega_body_z\n12,3\n13,4\n").unwrap();
    let cases = table(&format!("{SHORT} --cases {} --vary body.inertia_zz=uniform:1,2", at("cases.csv")));
    assert_eq!((cases.column("mgl"), cases.column("omega_body_z")), (vec![12.0, 13.0], vec![3.0, 4.0]));
    assert_eq!(cases.columns[..4], ["run", "mgl", "omega_body_z", "body.inertia_zz"]);
    // Files of pyarrow: with a dictionary, and in groups of pages of the second kind; both packed.
    for file in ["cases.parquet", "cases-v2.parquet"] {
        let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
        let found = table(&format!("{SHORT} --cases {path}"));
        let exact = |k: usize| if k < 20 { 12.0 } else { 13.5 };
        assert!(found.column("mgl").iter().enumerate().all(|(k, x)| *x == exact(k)), "{file}");
        assert!(found.column("omega_body_z").into_iter().eq((0..40).map(f64::from)), "{file}");
    }
    // A table of this program is a file of cases too.
    fine(&[
        "run",
        "slow-top",
        "--until",
        "0.5",
        "--out",
        &at("m.parquet"),
        "--columns",
        "t",
        "--no-reference",
    ]);
    let said = polhode(&["sweep", "slow-top", "--cases", &at("m.parquet"), "--until", "0.1"]);
    assert!(said.code == Some(2) && said.err.contains("no datum called 't'"), "{}", said.err);
    // Each row is the run that `--set` makes.
    let row = &cases.rows[1];
    let set = [
        "--set".to_string(),
        "mgl=13".into(),
        "--set".into(),
        "omega_body_z=4".into(),
        "--set".into(),
        format!("body.inertia_zz={:?}", row[3]),
    ];
    let mut args = vec!["run", "slow-top", "--step", "0.01", "--until", "0.02", "--no-reference", "--json"];
    args.extend(set.iter().map(String::as_str));
    assert_eq!(json(&args)["energy"].as_f64(), Some(row[4]));
}

/// A model with a sweep of its own.
const MODEL: &str = r#"
title = "A ball that is thrown"
gravity = [0, 0, -10]
[parameters]
speed = 10
[bodies.ball]
mass = 1
inertia = [1, 1, 1]
velocity = [1, 0, "speed"]
omega_body = [0.1, 0.2, 0.3]
[outputs]
height = "position_z"
[events.landing]
when = "position_z"
direction = "down"
[events.apex]
when = "velocity_z"
[run]
method = "akw"
step = 0.01
until = 3
[sweep]
vary.speed = { uniform = [5, 12] }
vary.ball.mass = { normal = [1, 0.1] }
runs = 40
seed = 3
keep = ["height", "max(height)", "min:height", "mean(height)", "events", "drift", "height@0.5", "final:velocity"]
"#;

fn model(folder: &Path) -> String {
    let path = folder.join("ball.toml");
    std::fs::write(&path, MODEL).unwrap();
    path.display().to_string()
}

#[test]
fn what_is_kept_is_what_happens() {
    let folder = tempfile::tempdir().unwrap();
    let found = table(&format!("sweep {}", model(folder.path())));
    assert_eq!(found.rows.len(), 40);
    let columns: Vec<Vec<f64>> = [
        "speed",
        "ball.mass",
        "height",
        "height_max",
        "height_min",
        "height_mean",
        "landing_count",
        "landing_first",
        "apex_count",
        "apex_first",
        "height@0.5",
        "velocity_z",
    ]
    .iter()
    .map(|name| found.column(name))
    .collect();
    assert!(found.columns.contains(&"drift_energy".to_string()));
    let near = |a: f64, b: f64, off: f64| assert!((a - b).abs() < off, "{a} {b}");
    for (k, _) in columns[0].iter().enumerate() {
        let at = |c: usize| columns[c][k];
        let v = at(0);
        assert!((5.0..12.0).contains(&v) && (0.5..1.5).contains(&at(1)));
        near(at(2), 3.0 * v - 45.0, 1e-3);
        near(at(3), v * v / 20.0, 1e-3);
        near(at(4), (3.0 * v - 45.0).min(0.0), 1e-3);
        near(at(5), 1.5 * v - 15.0, 1e-3);
        assert_eq!((at(6), at(8)), (1.0, 1.0));
        near(at(7), v / 5.0, 1e-4);
        near(at(9), v / 10.0, 1e-4);
        near(at(10), 0.5 * v - 1.25, 1e-3);
        near(at(11), v - 30.0, 1e-3);
    }
    let check = json(&["check", &model(folder.path()), "--json"]);
    assert_eq!((check["sweep"]["runs"].as_u64(), check["sweep"]["seed"].as_u64()), (Some(40), Some(3)));
    assert!(fine(&["check", &model(folder.path())]).contains("40 runs with different speed, ball.mass"));
    // Options come before what the file says.
    let few = table(&format!(
        "sweep {} --runs 3 --keep max(height) --vary speed=list:8,9,10 --vary ball.mass=uniform:1,2",
        model(folder.path())
    ));
    assert_eq!(few.columns, ["run", "speed", "ball.mass", "height_max", "status"]);
    assert_eq!(few.column("speed"), [8.0, 9.0, 10.0]);
}

#[test]
fn a_run_that_fails_is_a_row_and_nothing_else() {
    let args = "sweep slow-top --step 0.01 --until 0.1 --keep energy --vary body.inertia_xx=list:5,-1,4,100";
    let found = table(args);
    assert_eq!(found.status[0], "ok");
    assert!(
        found.status[1].starts_with("model: ") && found.status[3].starts_with("model: "),
        "{:?}",
        found.status
    );
    assert!(found.rows[1][2].is_nan() && found.rows[1][1] == -1.0);
    assert!(found.rows[2][2].is_finite());
    let alone = table(&args.replace("5,-1,4,100", "5,4"));
    assert_eq!((alone.rows[0][2], alone.rows[1][2]), (found.rows[0][2], found.rows[2][2]));
    let words: Vec<&str> = args.split(' ').chain(["--json"]).collect();
    let summary = json(&words);
    assert_eq!((summary["ok"].as_u64(), summary["failed"].as_u64()), (Some(2), Some(2)));
    assert_eq!(summary["reasons"]["model"], 2);
    assert_eq!(summary["examples"]["model"]["run"], 1);
    // A step that has no solution, and a run that takes too long.
    let steep = table("sweep fast-top --step 2 --until 100 --keep energy --vary mgl=list:1,1e6");
    assert!(steep.status[1].starts_with("solver: "), "{:?}", steep.status);
    let said = polhode(&[
        "sweep",
        "fast-top",
        "--vary",
        "mgl=list:1,2",
        "--until",
        "1e6",
        "--limit",
        "0.05",
        "--json",
    ]);
    assert_eq!(said.code, Some(4), "{}", said.err);
    assert!(
        said.out.contains("\"limit\": 2") && said.err.contains("limit: it took longer than 0.05 s"),
        "{}",
        said.err
    );
}

#[test]
fn the_summary_is_that_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = model(folder.path());
    let found = table(&format!("sweep {file} --runs 333"));
    let summary = json(&["sweep", &file, "--runs", "333", "--json"]);
    assert_eq!((summary["runs"].as_u64(), summary["seed"].as_u64()), (Some(333), Some(3)));
    for (group, name) in [("values", "height_max"), ("inputs", "speed"), ("values", "landing_first")] {
        let block = &summary[group][name];
        let mut all = found.column(name);
        all.sort_by(f64::total_cmp);
        for part in [0.05, 0.25, 0.5, 0.75, 0.95] {
            let place: f64 = part * 332.0;
            let (low, rest) = (place as usize, place.fract());
            let exact = all[low] + rest * (all[(low + 1).min(332)] - all[low]);
            let found = block["quantiles"][part.to_string()].as_f64().unwrap();
            assert!((found - exact).abs() < 1e-12 * exact.abs(), "{name} {part}: {found} {exact}");
        }
        let (mean, deviation) = moments(&all);
        let near = |key: &str, exact: f64| {
            let found = block[key].as_f64().unwrap();
            assert!((found - exact).abs() < 1e-12 * exact.abs(), "{name} {key}: {found} {exact}");
        };
        near("mean", mean);
        near("standard_deviation", deviation * (333f64 / 332.0).sqrt());
        near("min", all[0]);
        near("max", all[332]);
    }
}

struct Case {
    folder: tempfile::TempDir,
    model: String,
}

impl Case {
    fn new() -> Case {
        let folder = tempfile::tempdir().unwrap();
        let model = model(folder.path());
        Case { folder, model }
    }
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    fn command(&self, args: &str) -> Command {
        let mut command = program();
        command.arg("sweep").arg(&self.model).args(args.split(' ').filter(|word| !word.is_empty()));
        command.current_dir(self.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
    fn bytes(&self, args: &str, name: &str) -> Vec<u8> {
        let said = self.command(&format!("{args} --out {name}")).output().unwrap();
        assert!(said.status.success(), "{args}: {}", String::from_utf8_lossy(&said.stderr));
        let bytes = std::fs::read(self.at(name)).unwrap();
        std::fs::remove_file(self.at(name)).unwrap();
        assert_eq!(names(self.folder.path()), ["ball.toml"], "something was left");
        bytes
    }
}

#[test]
fn the_same_bytes_for_any_threads_and_chunks() {
    let case = Case::new();
    for ending in ["csv", "parquet"] {
        let name = format!("runs.{ending}");
        let whole = case.bytes("--runs 40 --threads 1", &name);
        for args in
            ["--threads 2", "--threads 2 --chunk 1", "--threads 1 --chunk 7", "--threads 3 --chunk 1000"]
        {
            assert!(whole == case.bytes(&format!("--runs 40 {args}"), &name), "{ending} {args}");
        }
    }
}

#[test]
fn parts_are_merged_to_the_same_bytes() {
    let case = Case::new();
    for name in ["runs.csv", "runs.parquet"] {
        let whole = case.bytes("--runs 40", name);
        let mut parts: Vec<String> = Vec::new();
        // More parts than it takes: some have no run.
        for (i, n) in [(1, 3), (2, 3), (3, 3)] {
            let part = format!("part-{i}.chunk");
            let said = case.command(&format!("--runs 40 --part {i}/{n} --out {part}")).output().unwrap();
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
            parts.insert(0, part);
        }
        let merge = |parts: &[String]| {
            let mut command = program();
            command.arg("merge").args(parts).args(["--out", name]).current_dir(case.folder.path());
            command.output().unwrap()
        };
        let said = merge(&parts[1..]);
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(2));
        assert!(text.contains("14 of 40 runs are missing: 26 to 39; compute --part 3/3"), "{text}");
        assert!(!case.at(name).exists());
        let twice = merge(&[parts[0].clone(), parts[1].clone(), parts[2].clone(), parts[0].clone()]);
        assert!(String::from_utf8_lossy(&twice.stderr).contains("runs are there twice, 26 to 39"));
        assert!(merge(&parts).status.success());
        assert!(std::fs::read(case.at(name)).unwrap() == whole);
        // A part of another plan, and a damaged one.
        let said = case.command("--runs 41 --part 1/3 --out other.chunk").output().unwrap();
        assert!(said.status.success());
        let said = merge(&[parts[0].clone(), parts[1].clone(), "other.chunk".into()]);
        assert!(
            String::from_utf8_lossy(&said.stderr).contains("do not belong together: they are of the plans")
        );
        let mut bytes = std::fs::read(case.at(&parts[0])).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        std::fs::write(case.at(&parts[0]), bytes).unwrap();
        let said = merge(&parts);
        assert!(String::from_utf8_lossy(&said.stderr).contains("part-3.chunk: it is damaged"));
        for file in ["part-1.chunk", "part-2.chunk", "part-3.chunk", "other.chunk", name] {
            std::fs::remove_file(case.at(file)).unwrap();
        }
    }
    // A part that is there is not computed again; what a killed program has left of one goes.
    let part = "--runs 40 --part 1/3 --out part.chunk";
    assert!(case.command(part).output().unwrap().status.success());
    std::fs::write(case.at(".unfinished-part.chunk.1-0"), "").unwrap();
    let before = std::fs::metadata(case.at("part.chunk")).unwrap().modified().unwrap();
    assert!(case.command(&format!("{part} --resume")).output().unwrap().status.success());
    assert_eq!(std::fs::metadata(case.at("part.chunk")).unwrap().modified().unwrap(), before);
    assert!(case.command(part).output().unwrap().status.success());
    assert_eq!(names(case.folder.path()), ["ball.toml", "part.chunk"]);
    // More parts than runs: some have none.
    for i in 1..=5 {
        let said = case.command(&format!("--runs 3 --part {i}/5 --out p{i}.chunk")).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
    let mut command = program();
    let parts: Vec<String> = (1..=5).map(|i| format!("p{i}.chunk")).collect();
    let said =
        command.arg("merge").args(&parts).arg("--json").current_dir(case.folder.path()).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(String::from_utf8_lossy(&said.stdout).contains("\"ok\": 3"));
}

/// Enough work to be killed in.
const LONG: &str = "--runs 200 --step 1e-3 --chunk 5 --threads 2";

#[test]
fn a_killed_sweep_is_gone_on_with_to_the_same_bytes() {
    let case = Case::new();
    let whole = case.bytes(LONG, "runs.csv");
    let chunks = case.at("runs.csv.chunks");
    let finished = || match chunks.exists() {
        true => names(&chunks).iter().filter(|name| name.ends_with(".chunk")).count(),
        false => 0,
    };
    let mut killed = 0;
    for kill in 0..3 {
        let mut resume = "";
        // Twice in a row, the second time out of one that goes on itself.
        for _ in 0..2 {
            let already = finished();
            let mut child = case.command(&format!("{LONG} --out runs.csv{resume}")).spawn().unwrap();
            while finished() < already + 1 + 5 * kill && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(2));
            }
            child.kill().unwrap();
            killed += u64::from(!child.wait().unwrap().success());
            if case.at("runs.csv").exists() {
                break;
            }
            resume = " --resume";
        }
        if case.at("runs.csv").exists() {
            std::fs::remove_file(case.at("runs.csv")).unwrap();
            continue;
        }
        if let Some(one) = names(&chunks).into_iter().find(|name| name.ends_with(".chunk")) {
            // One that is cut short, one of another sweep, and one that is nothing.
            let bytes = std::fs::read(chunks.join(&one)).unwrap();
            std::fs::write(chunks.join(&one), &bytes[..bytes.len() - 3]).unwrap();
            let text = String::from_utf8_lossy(&bytes).replace("\"plan\":\"", "\"plan\":\"0");
            std::fs::write(chunks.join("000000000195-000000000200.chunk"), text.as_bytes()).unwrap();
            std::fs::write(chunks.join("nothing.chunk"), "").unwrap();
        }
        let said = case.command(&format!("{LONG} --out runs.csv")).output().unwrap();
        assert_eq!(said.status.code(), Some(2), "what was begun is not lost by chance");
        assert!(String::from_utf8_lossy(&said.stderr).contains("go on with it by --resume"));
        // With other threads and chunks.
        let other = LONG.replace("--chunk 5 --threads 2", "--chunk 9 --threads 1");
        assert!(case.bytes(&format!("{other} --resume"), "runs.csv") == whole, "{kill}");
    }
    assert!(killed > 3, "{killed} of 6 were killed");
}

#[cfg(unix)]
#[test]
fn a_sweep_that_is_asked_to_stop_says_how_to_go_on() {
    let case = Case::new();
    let whole = case.bytes(LONG, "runs.parquet");
    let child = case.command(&format!("{LONG} --out runs.parquet")).spawn().unwrap();
    let chunks = case.at("runs.parquet.chunks");
    while !chunks.exists() || names(&chunks).iter().filter(|name| name.ends_with(".chunk")).count() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let said = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(130), "{text}");
    assert!(text.contains("of 200 runs are done and kept in") && text.contains("--resume"), "{text}");
    assert!(!case.at("runs.parquet").exists());
    assert!(!names(&chunks).iter().any(|name| name.contains("unfinished")));
    assert!(case.bytes(&format!("{LONG} --resume"), "runs.parquet") == whole);
}

/// Writing that fails on the way, here at a limit for the size of files.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_leaves_what_there_is() {
    let case = Case::new();
    let args = "--runs 300 --step 0.1 --keep height@0:3:400 --chunk 1 --threads 1";
    let whole = case.bytes(args, "runs.csv");
    let said = Command::new("sh")
        .args([
            "-c",
            "ulimit -f 500; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_polhode"),
            "sweep",
            &case.model,
        ])
        .args(args.split(' '))
        .args(["--out", "runs.csv"])
        .current_dir(case.folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{text}");
    assert!(text.contains("the limit for the size of files"), "{text}");
    assert!(text.contains("--resume"), "{text}");
    assert_eq!(names(case.folder.path()), ["ball.toml", "runs.csv.chunks"]);
    assert!(case.bytes(&format!("{args} --resume"), "runs.csv") == whole);
}

#[test]
fn whole_motions_and_pictures_are_written() {
    let case = Case::new();
    let args = "--runs 4 --keep height,height@0:3:9 --trajectories motions --every 100 --plot runs.svg --out runs.csv";
    let said = case.command(args).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let motions: Vec<String> = (0..4).map(|k| format!("run-{k}.parquet")).collect();
    assert_eq!(names(&case.at("motions")), motions);
    assert_eq!(names(case.folder.path()), ["ball.toml", "motions", "runs.csv", "runs.svg"]);
    let picture = std::fs::read_to_string(case.at("runs.svg")).unwrap();
    for part in ["<svg", "height", "speed", "ball.mass", "25–75 %", "4 runs"] {
        assert!(picture.contains(part), "{part}");
    }
    assert!(!picture.contains("NaN"));
}
