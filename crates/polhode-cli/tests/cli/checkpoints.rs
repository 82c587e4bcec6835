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

/// What runs leave behind: every format, alone and with others.
const FILES: [&[&str]; 5] = [
    &["rows.csv"],
    &["rows.npz"],
    &["rows.parquet", "motion.svg"],
    &["rows.mcap", "motion.png", "page.html"],
    &["motion.svg", "page.html"],
];

struct Case {
    folder: tempfile::TempDir,
    args: Vec<String>,
    files: &'static [&'static str],
}

impl Case {
    fn new(model: &str, options: &[&str]) -> Self {
        Case::of(model, options, FILES[0])
    }
    fn of(model: &str, options: &[&str], files: &'static [&'static str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut args = vec!["run".to_string(), model.into()];
        args.extend(options.iter().map(|option| option.to_string()));
        args.extend(["--no-reference", "--json", "--every", "10"].map(String::from));
        for name in files {
            let option = match name.rsplit_once('.') {
                Some((_, "svg" | "png")) => "--plot",
                Some((_, "html")) => "--report",
                _ => "--out",
            };
            args.extend([option.to_string(), folder.path().join(name).to_str().unwrap().into()]);
        }
        Case { folder, args, files }
    }
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    fn command(&self, more: &[&str]) -> Command {
        let mut command = program();
        command.args(&self.args).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
    /// To its end: the report and the files, of which nothing else is left.
    fn finish(&self, more: &[&str]) -> (Value, Vec<Vec<u8>>) {
        let done = self.command(more).output().unwrap();
        assert!(done.status.success(), "{more:?}: {}", String::from_utf8_lossy(&done.stderr));
        let files = self.names();
        assert_eq!(names(self.folder.path()), files, "{more:?}: something was left");
        (report(&done.stdout), files.iter().map(|name| std::fs::read(self.at(name)).unwrap()).collect())
    }
    /// The files, in the order of their names.
    fn names(&self) -> Vec<&'static str> {
        let mut files = self.files.to_vec();
        files.sort_unstable();
        files
    }
    fn remove_files(&self) {
        self.files.iter().for_each(|name| std::fs::remove_file(self.at(name)).unwrap());
    }
}

#[test]
fn a_killed_run_is_gone_on_with_to_the_same_bits() {
    // All files of all runs, and at other moments each time, with POLHODE_LONG=1.
    let long = std::env::var_os("POLHODE_LONG").is_some();
    let models = tempfile::tempdir().unwrap();
    let runs = runs(models.path());
    let mut moment = 7;
    if long {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        moment = u64::from(now.subsec_nanos());
    }
    let (mut killed, mut tried) = (0, 0);
    let all = runs
        .iter()
        .enumerate()
        .flat_map(|(i, run)| FILES.iter().enumerate().map(move |(j, f)| (i, j, run, f)));
    for (_, _, (model, options), files) in all.filter(|(i, j, ..)| long || i == j) {
        let case = Case::of(model, options, files);
        let began = Instant::now();
        let whole = case.finish(&[]);
        let lasted = began.elapsed();
        assert!(!whole.0["events"]["beat"]["times"].as_array().unwrap().is_empty(), "{model}");
        for _ in 0..if long { 2 } else { 1 } {
            case.remove_files();
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
                tried += 1;
                killed += u64::from(!child.wait().unwrap().success());
                // Nothing is there under its name that is not whole.
                for (name, bytes) in case.names().iter().zip(&whole.1) {
                    let there = std::fs::read(case.at(name));
                    assert!(there.is_err() || there.is_ok_and(|there| there == *bytes), "{model}: {name}");
                }
            }
            let found = match checkpoint.exists() {
                true => case.finish(&["--resume", resume]),
                false => case.finish(&[]),
            };
            assert_eq!(found.0, whole.0, "{model}");
            for (name, (a, b)) in case.names().iter().zip(found.1.iter().zip(&whole.1)) {
                assert!(a == b, "{model}: {name} differs");
            }
        }
    }
    // Some come to their end before.
    assert!(2 * killed > tried, "{killed} of {tried} were killed");
}

/// A request to stop leaves a checkpoint at the very step.
#[cfg(unix)]
#[test]
fn a_run_that_is_asked_to_stop_leaves_a_checkpoint() {
    let models = tempfile::tempdir().unwrap();
    let (model, options) = runs(models.path()).swap_remove(3);
    let case = Case::new(&model, &options);
    let whole = case.finish(&[]);
    case.remove_files();
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
    with(&["--plot", &at("x.svg")], "its --plot is nothing, and here it is");
    with(&["--report", &at("x.html")], "its --report is nothing, and here it is");
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
    let part = at(".rows.csv.run.ck.part");
    let mut child = program().args(long).args(["--checkpoint", &checkpoint]).spawn().unwrap();
    while !Path::new(&part).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left: Vec<String> =
        names(folder.path()).into_iter().filter(|name| !name.starts_with(".polhode-")).collect();
    assert_eq!(left, [".rows.csv.run.ck.part", "rows.csv", "run.ck"]);
    let args: Vec<&str> = long.iter().copied().chain(["--resume", &checkpoint]).collect();
    let bytes = std::fs::read(&part).unwrap();
    for damaged in [&bytes[..bytes.len().min(40)], &[&[bytes[0] ^ 1], &bytes[1..]].concat()] {
        std::fs::write(&part, damaged).unwrap();
        refused(2, &args, &["the rows up to the checkpoint are not there"]);
    }
    std::fs::remove_file(&part).unwrap();
    refused(2, &args, &["the rows up to the checkpoint are not there"]);
    assert_eq!(names(folder.path()), ["rows.csv", "run.ck"]);
    assert_eq!(std::fs::read_to_string(&rows).unwrap(), "what was there\n");
}

/// Killed between the moment when there is a checkpoint and the one when rows have the name that lasts, or at the end, between
/// the moment when they lose it and the one when the checkpoint is gone: rows bear the name of a draft, and are swept if
/// nobody can go on with them.
#[test]
fn a_kill_between_two_renames_loses_no_rows_and_leaves_none() {
    let case = Case::new("slow-top", &["--step", "1e-3", "--until", "60"]);
    let whole = case.finish(&[]);
    let (checkpoint, part) = (case.at("run.ck"), case.at(".rows.csv.run.ck.part"));
    let other = case.at("other.csv");
    for spoken_of in [true, false] {
        case.remove_files();
        let mut child = case.command(&["--checkpoint", checkpoint.to_str().unwrap()]).spawn().unwrap();
        while !part.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = std::fs::read(&checkpoint).unwrap();
        let header: Value =
            serde_json::from_slice(bytes.split(|byte| *byte == b'\n').nth(1).unwrap()).unwrap();
        let draft = case.at(header["rows"]["draft"].as_str().unwrap());
        std::fs::rename(&part, &draft).unwrap();
        if !spoken_of {
            std::fs::remove_file(&checkpoint).unwrap();
        }
        let short = ["run", "slow-top", "--until", "0.1", "--out", other.to_str().unwrap()];
        crate::common::fine(&short);
        std::fs::remove_file(&other).unwrap();
        assert_eq!(draft.exists(), spoken_of);
        if spoken_of {
            assert!(case.finish(&["--resume", checkpoint.to_str().unwrap()]) == whole);
        } else {
            assert!(names(case.folder.path()).is_empty());
            assert!(case.finish(&[]) == whole);
        }
    }
}

/// Killed after the files were in their place, and before the checkpoint was gone.
#[test]
fn files_in_their_place_are_made_again() {
    let models = tempfile::tempdir().unwrap();
    let (model, options) = runs(models.path()).swap_remove(1);
    for files in FILES {
        let case = Case::of(&model, &options, files);
        let checkpoint = case.at("run.ck");
        let mut child =
            case.command(&["--checkpoint", &format!("{},0.02", checkpoint.display())]).spawn().unwrap();
        let began = Instant::now();
        let part = case.at(&format!(".{}.run.ck.part", files[0]));
        while !part.exists() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = [&checkpoint, &part].map(|path| (path, std::fs::read(path).expect("it is there")));
        let resume = checkpoint.to_str().unwrap();
        let whole = case.finish(&["--resume", resume]);
        for (path, bytes) in &kept {
            std::fs::write(path, bytes).unwrap();
        }
        assert!(case.finish(&["--resume", resume]) == whole);
        let fresh = json(&case.args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(report(fresh.to_string().as_bytes()), whole.0);
        assert!(case.finish(&[]) == whole);
    }
}

/// Writing that fails on the way or at the end, here at a limit for the size of files, ends the run and leaves the last
/// checkpoint.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_leaves_the_last_checkpoint() {
    let options = ["--method", "akw", "--step", "1e-3", "--until", "100"];
    // In units of 512 bytes. The rows that wait have 1.4 MB; CSV and MCAP have more.
    for (files, limit, says) in [
        (FILES[0], "1200", "the rows up to the last checkpoint are kept"),
        (FILES[1], "1200", "the rows up to the last checkpoint are kept"),
        (FILES[0], "4000", "rows.csv: it would pass the limit for the size of files; nothing was left there"),
        (
            FILES[3],
            "4000",
            "rows.mcap: it would pass the limit for the size of files; nothing was left there",
        ),
    ] {
        let case = Case::of("slow-top", &options, files);
        let whole = case.finish(&[]);
        case.remove_files();
        let checkpoint = case.at("run.ck").to_str().unwrap().to_string();
        let place = format!("{checkpoint},0.02");
        let said = Command::new("sh")
            .args(["-c", &format!("ulimit -f {limit}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_polhode")])
            .args(&case.args)
            .args(["--checkpoint", &place])
            .output()
            .unwrap();
        assert_eq!(said.status.code(), Some(2), "{files:?} {limit}");
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(text.contains("the limit for the size of files") && text.contains(says), "{text}");
        assert!(case.files.iter().all(|name| !case.at(name).exists()));
        assert!(case.finish(&["--resume", &checkpoint]) == whole);
    }
}

/// A folder that goes away while a run is under way is told, and nothing else is touched.
#[cfg(unix)]
#[test]
fn a_folder_that_is_gone_at_the_end_is_told() {
    for files in FILES {
        let mut case = Case::of("slow-top", &["--step", "1e-3", "--until", "60"], files);
        let inner = case.at("inner");
        std::fs::create_dir(&inner).unwrap();
        let (outer, moved) = (case.folder.path().to_str().unwrap().to_string(), case.at("moved"));
        for word in &mut case.args {
            *word = word.replace(&format!("{outer}/"), &format!("{}/", inner.display()));
        }
        let checkpoint = case.at("run.ck");
        let child = case.command(&["--checkpoint", checkpoint.to_str().unwrap()]).spawn().unwrap();
        while !checkpoint.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::fs::rename(&inner, &moved).unwrap();
        let said = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.status.code(), Some(2), "{files:?}: {text}");
        assert!(text.contains("its folder does not exist"), "{files:?}: {text}");
        // With the folder back it is gone on with.
        std::fs::rename(&moved, &inner).unwrap();
        let done = case.command(&["--resume", checkpoint.to_str().unwrap()]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(names(&inner), case.names());
        assert_eq!(names(case.folder.path()), ["inner"]);
    }
}
