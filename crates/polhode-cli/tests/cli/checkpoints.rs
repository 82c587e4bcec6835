//! Runs that are killed, and gone on with.

use crate::common::{json, names, program, refused};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const EVENTS: &str = "\n[events.beat]\nwhen = \"sin(3 * t)\"\n";

/// The runs, each a model with its events and options.
fn runs(folder: &Path) -> Vec<(String, Vec<&'static str>)> {
    let model = |id: &str| {
        let text = crate::common::fine(&["problems", id, "--toml"]);
        let path = folder.join(format!("{id}.toml"));
        std::fs::write(&path, text + EVENTS).unwrap();
        path.to_str().unwrap().to_string()
    };
    vec![
        (
            model("slow-top"),
            vec!["--method", "akw", "--step", "1e-3", "--until", "100", "--estimate", "--frequencies"],
        ),
        (
            model("free-rotation"),
            vec!["--method", "mkrk:rk4", "--step", "1e-3", "--until", "100", "--frequencies"],
        ),
        (model("flying-brick"), vec!["--method", "galpha:exp", "--step", "1e-3", "--until", "60"]),
        (model("four-bar"), vec!["--method", "linear-alpha", "--step", "1e-3", "--until", "8"]),
        (
            model("double-pendulum"),
            vec!["--method", "residual-alpha,constraints=stabilized", "--step", "1e-3", "--until", "6"],
        ),
    ]
}

/// What a run reports, without what it took.
fn report(text: &[u8]) -> Value {
    let mut report: Value = serde_json::from_slice(text).unwrap();
    let object = report.as_object_mut().unwrap();
    ["seconds", "ns_per_step"].iter().for_each(|key| drop(object.remove(*key)));
    report
}

struct Case {
    folder: tempfile::TempDir,
    args: Vec<String>,
}

impl Case {
    fn new(model: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut args = vec!["run".to_string(), model.into()];
        args.extend(options.iter().map(|option| option.to_string()));
        args.extend(["--no-reference", "--json", "--every", "10", "--out"].map(String::from));
        args.push(folder.path().join("rows.csv").to_str().unwrap().into());
        Case { folder, args }
    }
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    fn command(&self, more: &[&str]) -> Command {
        let mut command = program();
        command.args(&self.args).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
    /// To its end: the report and the rows.
    fn finish(&self, more: &[&str]) -> (Value, Vec<u8>) {
        let done = self.command(more).output().unwrap();
        assert!(done.status.success(), "{more:?}: {}", String::from_utf8_lossy(&done.stderr));
        (report(&done.stdout), std::fs::read(self.at("rows.csv")).unwrap())
    }
}

#[test]
fn a_killed_run_is_gone_on_with_to_the_same_bits() {
    // More of them, and at other moments, by POLHODE_KILLS.
    let kills: u64 = std::env::var("POLHODE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    let models = tempfile::tempdir().unwrap();
    let runs = runs(models.path());
    let mut moment =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos() as u64;
    if kills == 10 {
        moment = 7;
    }
    let mut killed = 0;
    for (model, options) in &runs {
        let case = Case::new(model, options);
        let began = Instant::now();
        let whole = case.finish(&[]);
        let lasted = began.elapsed();
        assert!(!whole.0["events"]["beat"]["times"].as_array().unwrap().is_empty(), "{model}");
        for _ in 0..kills.div_ceil(2 * runs.len() as u64) {
            std::fs::remove_file(case.at("rows.csv")).unwrap();
            let checkpoint = case.at("run.ck");
            let place = format!("{},0.02", checkpoint.display());
            let resume = checkpoint.to_str().unwrap();
            // Twice in a row, the second time out of a run that goes on itself.
            for _ in 0..2 {
                moment = moment.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let part = (moment >> 33) as f64 / (1u64 << 31) as f64;
                let mut more = vec!["--checkpoint", &place];
                if checkpoint.exists() {
                    more.extend(["--resume", resume]);
                }
                let mut child = case.command(&more).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(15) + lasted.mul_f64(0.6 * part));
                child.kill().unwrap();
                killed += u64::from(!child.wait().unwrap().success());
            }
            let found = match checkpoint.exists() {
                true => case.finish(&["--resume", resume]),
                false => case.finish(&[]),
            };
            assert_eq!(found.0, whole.0, "{model}");
            assert!(found.1 == whole.1, "{model}: the rows differ");
            assert_eq!(names(case.folder.path()), ["rows.csv"], "{model}: something was left");
        }
    }
    // Some come to their end before.
    assert!(2 * killed > kills, "{killed} of {kills} were killed");
}

/// A request to stop leaves a checkpoint at the very step.
#[cfg(unix)]
#[test]
fn a_run_that_is_asked_to_stop_leaves_a_checkpoint() {
    let models = tempfile::tempdir().unwrap();
    let (model, options) = runs(models.path()).swap_remove(3);
    let case = Case::new(&model, &options);
    let whole = case.finish(&[]);
    std::fs::remove_file(case.at("rows.csv")).unwrap();
    let checkpoint = case.at("run.ck").to_str().unwrap().to_string();
    let child = case.command(&["--checkpoint", &checkpoint]).spawn().unwrap();
    while !Path::new(&checkpoint).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let said = child.wait_with_output().unwrap();
    assert_eq!(said.status.code(), Some(143));
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(text.contains("stopped at t = ") && text.contains("go on with --resume "), "{text}");
    assert!(!case.at("rows.csv").exists());
    // Another one in its place is refused, and nothing is lost by that.
    let again = case.command(&["--checkpoint", &checkpoint]).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already; go on from it with --resume"));
    assert!(case.finish(&["--resume", &checkpoint]) == whole);
    assert_eq!(names(case.folder.path()), ["rows.csv"]);
}

#[test]
fn checkpoints_of_other_runs_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (checkpoint, model) = (at("a.ck"), at("m.toml"));
    let text = crate::common::fine(&["problems", "slow-top", "--toml"]);
    std::fs::write(&model, &text).unwrap();
    let mut child = program()
        .args(["run", &model, "--step", "1e-3", "--until", "1e5", "--checkpoint", &checkpoint])
        .spawn()
        .unwrap();
    while !Path::new(&checkpoint).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let base = ["run", &model, "--step", "1e-3", "--until", "1e5", "--resume", &checkpoint];
    let with = |more: &[&str], text: &str| {
        let args: Vec<&str> = base.iter().copied().chain(more.iter().copied()).collect();
        refused(2, &args, &["cannot go on from", text]);
    };
    with(&["--method", "akw"], "its method is imidm, and here it is akw");
    with(&["--set", "mgl=21"], "its model, or a --set, is another one");
    with(&["--estimate"], "its --estimate is not given, and here it is given");
    with(&["--frequencies"], "its --frequencies is not given");
    with(&["--out", &at("x.csv")], "its --out is nothing, and here it is");
    let step = ["run", &model, "--step", "2e-3", "--until", "1e5", "--resume", &checkpoint];
    refused(2, &step, &["its step is 0.001, and here it is 0.002"]);
    let until = ["run", &model, "--step", "1e-3", "--until", "2e5", "--resume", &checkpoint];
    refused(2, &until, &["its end is 100000.0, and here it is 200000.0"]);
    refused(2, &["run", &model, "--resume", &at("none.ck")], &["it is not there"]);
    refused(2, &["run", &model, "--resume", &model], &["it is no checkpoint"]);
    refused(2, &["run", &model, "--checkpoint", &checkpoint], &["is there already"]);
    refused(2, &["run", &model, "--checkpoint", &format!("{},-1", at("b.ck"))], &["at least 0"]);
    refused(2, &["run", &model, "--out", "-", "--checkpoint", &at("b.ck")], &["cannot be taken back"]);
    refused(2, &["run", &model, "--error", "1e-3", "--checkpoint", &at("b.ck")], &["cannot be used with"]);
    // Every byte counts.
    let bytes = std::fs::read(&checkpoint).unwrap();
    for at in (0..bytes.len()).step_by(37) {
        let mut other = bytes.clone();
        other[at] ^= 1;
        std::fs::write(&checkpoint, &other).unwrap();
        with(&[], "it is ");
        std::fs::write(&checkpoint, &bytes[..at]).unwrap();
        with(&[], "it is ");
    }
    std::fs::write(&checkpoint, &bytes).unwrap();
    std::fs::write(&model, text.replace("[5, 5, 1]", "[5, 5, 2]")).unwrap();
    with(&[], "its model, or a --set, is another one");
}

#[test]
fn places_where_nothing_can_be_written_are_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let rows = at("rows.csv");
    std::fs::write(&rows, "what was there\n").unwrap();
    let run = ["run", "slow-top", "--step", "0.01", "--until", "1", "--out", &rows, "--checkpoint"];
    let with = |checkpoint: &str, texts: &[&str]| {
        let args: Vec<&str> = run.iter().copied().chain([checkpoint]).collect();
        refused(2, &args, texts);
        assert_eq!(std::fs::read_to_string(&rows).unwrap(), "what was there\n");
        assert_eq!(names(folder.path()), ["rows.csv"]);
    };
    with(&at("nowhere/run.ck"), &["cannot write", "nowhere/run.ck", "its folder does not exist"]);
    with(&at("rows.csv/run.ck"), &["cannot write"]);
    with("", &["--checkpoint needs the name of a file"]);
    // Rows that are gone.
    let checkpoint = at("run.ck");
    let long = ["run", "slow-top", "--step", "1e-3", "--until", "1e4", "--out", &rows];
    let mut child = program().args(long).args(["--checkpoint", &checkpoint]).spawn().unwrap();
    while !Path::new(&checkpoint).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(folder.path()), [".rows.csv.run.ck.part", "rows.csv", "run.ck"]);
    std::fs::remove_file(at(".rows.csv.run.ck.part")).unwrap();
    let args: Vec<&str> = long.iter().copied().chain(["--resume", &checkpoint]).collect();
    refused(2, &args, &["the rows up to the checkpoint are neither there nor in"]);
    assert_eq!(names(folder.path()), ["rows.csv", "run.ck"]);
    assert_eq!(std::fs::read_to_string(&rows).unwrap(), "what was there\n");
}

/// Killed after the rows were in their place, and before the checkpoint was gone.
#[test]
fn rows_in_their_place_are_gone_on_with_too() {
    let models = tempfile::tempdir().unwrap();
    let (model, options) = runs(models.path()).swap_remove(1);
    let case = Case::new(&model, &options);
    let checkpoint = case.at("run.ck");
    let mut child =
        case.command(&["--checkpoint", &format!("{},0.02", checkpoint.display())]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(150));
    child.kill().unwrap();
    child.wait().unwrap();
    let resume = checkpoint.to_str().unwrap();
    let kept = std::fs::read(&checkpoint).expect("a checkpoint after 150 ms");
    let whole = case.finish(&["--resume", resume]);
    std::fs::write(&checkpoint, kept).unwrap();
    assert!(case.finish(&["--resume", resume]) == whole);
    let fresh = json(&case.args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(report(fresh.to_string().as_bytes()), whole.0);
    assert_eq!(names(case.folder.path()), ["rows.csv"]);
}

/// Writing that fails on the way, here at a limit for the size of files, ends the run and leaves the last checkpoint.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_leaves_the_last_checkpoint() {
    let case = Case::new("slow-top", &["--method", "akw", "--step", "1e-3", "--until", "100"]);
    let whole = case.finish(&[]);
    std::fs::remove_file(case.at("rows.csv")).unwrap();
    let checkpoint = case.at("run.ck").to_str().unwrap().to_string();
    let place = format!("{checkpoint},0.02");
    let said = Command::new("sh")
        .args(["-c", "ulimit -f 600; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_polhode")])
        .args(&case.args)
        .args(["--checkpoint", &place])
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(2));
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(
        text.contains("the limit for the size of files") && text.contains("last checkpoint are kept"),
        "{text}"
    );
    assert!(case.finish(&["--resume", &checkpoint]) == whole);
    assert_eq!(names(case.folder.path()), ["rows.csv"]);
}

/// What cannot be gone on with is refused before anything is computed.
#[test]
fn only_text_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let [checkpoint, table, plot] = ["run.ck", "motion.npz", "motion.svg"].map(place);
    let run = ["run", "slow-top", "--until", "0.1", "--checkpoint", &checkpoint];
    refused(2, &[&run[..], &["--out", &table]].concat(), &["--checkpoint", "FILE.csv"]);
    refused(2, &[&run[..], &["--plot", &plot]].concat(), &["--checkpoint", "--plot"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
