//! What is read and written: limits, standard output, drafts that nobody finishes.

use crate::common::{csv, fine, names, polhode, program, refused};
use std::process::Stdio;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A short run.
const SHORT: [&str; 6] = ["run", "free-rotation", "--step", "0.1", "--until", "1"];

#[test]
fn the_ending_of_a_name_says_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for name in ["x.json", "x.svg", "x", "x.csv.gz"] {
        refused(2, &[&SHORT[..], &["--out", &at(name)]].concat(), &["must end in .csv", "or be -"]);
    }
    refused(2, &["converge", "free-rotation", "--plot", &at("x.csv")], &["must end in .svg"]);
    refused(2, &["converge", "free-rotation", "--plot", "-"], &["must end in .svg"]);
    assert_eq!(names(folder.path()), [""; 0]);
    fine(&[&SHORT[..], &["--out", &at("x.CSV")]].concat());
    assert_eq!(names(folder.path()), ["x.CSV"]);
}

#[test]
fn a_dash_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.csv");
    fine(&[&SHORT[..], &["--out", &file.to_string_lossy()]].concat());
    let said = polhode(&[&SHORT[..], &["--out", "-"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.out, std::fs::read_to_string(&file).unwrap());
    assert!(said.err.contains("largest drift over the run"), "the summary makes room: {}", said.err);
    refused(2, &[&SHORT[..], &["--out", "-", "--json"]].concat(), &["--json and --out -"]);
    let slopes = polhode(&["sensitivity", "fast-top", "-p", "mgl", "--until", "0.01", "--out", "-"]);
    assert!(slopes.out.starts_with("t,mgl:"), "{}", slopes.out);
    let data = file.to_string_lossy();
    let fit = polhode(&["fit", "free-rotation", "--data", &data, "-p", "omega_body", "--out", "-"]);
    assert!(fit.out.starts_with("t,") && fit.err.contains("omega_body"), "{} {}", fit.out, fit.err);
    assert_eq!(names(folder.path()), ["x.csv"]);
}

#[test]
fn a_file_that_is_written_by_others_is_bounded() {
    if cfg!(unix) {
        refused(
            2,
            &["fit", "fast-top", "--data", "/dev/zero", "-p", "mgl"],
            &["/dev/zero: it has more than 256 MB"],
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.toml");
    std::fs::write(&path, " ".repeat((1 << 20) + 1)).unwrap();
    refused(2, &["methods", &format!("mkrk:{}", path.display())], &["more than 1 MB"]);
    std::fs::write(&path, b"a = [[0]]\xff").unwrap();
    refused(2, &["methods", &format!("mkrk:{}", path.display())], &["it is not text"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use crate::common::hears;
    use std::process::{Child, Command, Output};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    /// Runs the program by a shell, which arranges its surroundings.
    fn shell(script: &str, args: &[&str]) -> Output {
        Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_polhode")])
            .args(args)
            .stdin(Stdio::null())
            .output()
            .expect("the shell runs")
    }

    fn send(child: &Child, signal: &str) {
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
    }

    /// A long run that has begun to write.
    fn writing(path: &std::path::Path) -> Child {
        let child = program()
            .args(["run", "free-rotation", "--step", "1e-7", "--until", "10000", "--every", "1000", "--out"])
            .arg(path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let size = || -> u64 {
            let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
            entries.filter_map(|e| e.ok()?.metadata().ok()).map(|m| m.len()).sum()
        };
        let (since, before) = (Instant::now(), size());
        while size() < before + (1 << 16) && since.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(10));
        }
        child
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn results_that_cannot_be_written_are_an_error() {
        let all: [&[&str]; 7] = [
            &["--help"],
            &["--version"],
            &["help", "run"],
            &["completions", "bash"],
            &["methods"],
            &["problems", "--json"],
            &SHORT,
        ];
        for args in all {
            let full = shell(r#"exec "$0" "$@" > /dev/full"#, args);
            assert_eq!(full.status.code(), Some(2), "{args:?}");
            assert!(text(&full.stderr).contains("cannot write to standard output: "), "{args:?}");
            // To throw them away is fine, however that is asked for.
            assert_eq!(shell(r#"exec "$0" "$@" > /dev/null"#, args).status.code(), Some(0), "{args:?}");
            let null = std::fs::File::options().read(true).write(true).open("/dev/null").unwrap();
            assert_eq!(program().args(args).stdout(null).status().unwrap().code(), Some(0), "{args:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_table_does_not_replace_the_file_behind_standard_output() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.csv");
        let path = file.to_string_lossy();
        for out in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", &path] {
            let script = format!(r#"exec "$0" "$@" > '{path}'"#);
            let said = shell(&script, &[&SHORT[..], &["--out", out]].concat());
            assert_eq!(said.status.code(), Some(2), "{out}");
            assert!(text(&said.stderr).contains("where standard output goes; write -"), "{out}");
        }
        assert_eq!(names(folder.path()), ["x.csv"]);
    }

    #[test]
    fn a_limit_for_the_size_of_files_is_an_ordinary_error() {
        // On the way, in the midst of a long run, and at its end, where all that is left is written.
        for (name, until) in [
            ("x.csv", "1e9"),
            ("x.npz", "1e9"),
            ("x.parquet", "1e9"),
            ("x.mcap", "1e9"),
            ("x.csv", "0.5"),
            ("x.npz", "2"),
            ("x.parquet", "2"),
            ("x.mcap", "0.5"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(name);
            let args = [
                "run",
                "free-rotation",
                "--step",
                "1e-3",
                "--until",
                until,
                "--out",
                &file.to_string_lossy(),
            ];
            let said = shell(r#"ulimit -f 100; exec "$0" "$@""#, &args);
            assert_eq!(said.status.code(), Some(2), "{name}, {until}: {}", text(&said.stderr));
            let err = text(&said.stderr);
            assert!(err.contains("limit for the size of files; nothing was left there"), "{name}: {err}");
            assert!(names(folder.path()).is_empty(), "{name}");
            std::fs::write(&file, "mine").unwrap();
            let err = text(&shell(r#"ulimit -f 100; exec "$0" "$@""#, &args).stderr);
            assert!(err.contains("the file that was there is untouched"), "{name}: {err}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine", "{name}");
            assert_eq!(names(folder.path()), [name]);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_table_that_standard_output_does_not_take_ends_the_run() {
        let args = ["run", "free-rotation", "--step", "1e-3", "--until", "1e9", "--out", "-"];
        let full = shell(r#"exec "$0" "$@" > /dev/full"#, &args);
        assert_eq!(full.status.code(), Some(2));
        assert!(text(&full.stderr).contains("cannot write to standard output: "), "{}", text(&full.stderr));
        // A reader who has seen enough is no trouble.
        let read = shell(r#""$0" "$@" | head -n 3"#, &args);
        assert_eq!(text(&read.stdout).lines().count(), 3);
        assert_eq!(text(&read.stderr), "");
    }

    #[test]
    fn drafts_of_killed_programs_are_swept_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut killed = writing(&at("killed.csv"));
        send(&killed, "-KILL");
        killed.wait().unwrap();
        assert_eq!(names(folder.path()).len(), 1, "nobody was there to remove it");
        let alive = writing(&at("alive.csv"));
        assert_eq!(names(folder.path()).len(), 1, "the second has swept the first");
        fine(&[&SHORT[..], &["--out", &at("short.csv").to_string_lossy()]].concat());
        assert_eq!(names(folder.path()).len(), 2, "a draft in work is left alone");
        send(&alive, "-INT");
        let output = alive.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert_eq!(names(folder.path()), ["alive.csv", "short.csv"]);
        assert!(csv(&at("alive.csv")).1.len() > 10);
        // Only what bears our name is ours.
        for name in [".polhode-notes.tmp", ".polhode-1-x.tmp", "polhode-1-2.tmp"] {
            std::fs::write(at(name), "mine").unwrap();
        }
        fine(&[&SHORT[..], &["--out", &at("short.csv").to_string_lossy()]].concat());
        assert_eq!(names(folder.path()).len(), 5);
    }

    #[test]
    fn every_request_to_stop_keeps_the_rows_so_far() {
        let all = [("-INT", 130), ("-TERM", 143), ("-HUP", 129)];
        for (signal, code) in all.into_iter().filter(|(signal, _)| hears(signal)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.csv");
            let child = writing(&path);
            send(&child, signal);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{signal}: {}", text(&output.stderr));
            assert!(text(&output.stderr).contains("the rows so far are in "), "{signal}");
            assert!(csv(&path).1.len() > 10, "{signal}");
            assert_eq!(names(folder.path()), ["x.csv"], "{signal}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_run_that_is_to_outlive_its_terminal_does() {
        let mut child = Command::new("sh")
            .args(["-c", r#"trap '' HUP; exec "$0" run free-rotation --step 1e-7 --until 10000"#])
            .arg(env!("CARGO_BIN_EXE_polhode"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(300));
        send(&child, "-HUP");
        sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none());
        send(&child, "-TERM");
        assert_eq!(child.wait().unwrap().code(), Some(143));
    }

    #[test]
    fn waiting_for_data_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.toml");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
        let path = path.to_string_lossy();
        let (data, tableau) = (["fit", "fast-top", "--data", &path, "-p", "mgl"], format!("mkrk:{path}"));
        let tableau = ["run", "fast-top", "--method", &tableau];
        let all =
            [(&data[..], "-INT", 130), (&tableau, "-INT", 130), (&data, "-TERM", 143), (&data, "-HUP", 129)];
        for (args, signal, code) in all.into_iter().filter(|(_, signal, _)| hears(signal)) {
            let child = program().args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            sleep(Duration::from_millis(200));
            send(&child, signal);
            let since = Instant::now();
            let mut child = child;
            while child.try_wait().unwrap().is_none() && since.elapsed() < Duration::from_secs(5) {
                sleep(Duration::from_millis(10));
            }
            let ended = child.try_wait().unwrap();
            if ended.is_none() {
                child.kill().unwrap();
            }
            assert_eq!(ended.and_then(|status| status.code()), Some(code), "{args:?} {signal}");
        }
    }

    #[test]
    fn without_room_for_a_thread_the_report_comes_all_the_same() {
        // No stack of such a size fits into the address space, so that no thread begins.
        for args in [&SHORT[..], &["compare", "free-rotation", "--until", "1"]] {
            let mut command = program();
            let said = command.args(args).env("RUST_MIN_STACK", (1u64 << 47).to_string()).output().unwrap();
            assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
            assert!(text(&said.stdout).contains("reference: closed form"), "{}", text(&said.stdout));
        }
        // Nor one that writes rows.
        let folder = tempfile::tempdir().unwrap();
        for name in ["x.csv", "x.npz", "x.parquet", "x.mcap"] {
            let path = folder.path().join(name);
            let written = |stack: &str| {
                let mut command = program();
                let run =
                    ["run", "free-rotation", "--step", "1e-3", "--until", "3", "--no-reference", "--out"];
                let said = command.args(run).arg(&path).env("RUST_MIN_STACK", stack).output().unwrap();
                assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
                std::fs::read(&path).unwrap()
            };
            assert!(written(&(1u64 << 47).to_string()) == written("2097152"), "{name}");
        }
    }
}
