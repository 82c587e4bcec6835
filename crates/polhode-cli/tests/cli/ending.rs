//! How the program ends when somebody stops it or stops listening.

use crate::common::program;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn a_closed_pipe_is_no_error() {
    for args in [vec!["methods"], vec!["problems", "--json"], vec!["run", "free-rotation", "--json"]] {
        let mut child = program()
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // The reader is gone before anything is written.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("x.svg");
    let mut child = program()
        .args(["converge", "free-rotation", "--until", "1", "--steps", "0.1", "--plot"])
        .arg(&plot)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(plot.exists(), "the plot does not depend on the table's reader");

    let mut child = program().args(["methods"]).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("id"));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[cfg(unix)]
mod interrupt {
    use crate::common::{csv, names, program};
    use serde_json::Value;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    fn start(args: &[&str]) -> Child {
        program()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Sends the signal of Ctrl-C; code, stdout and stderr.
    fn stop(child: Child) -> (Option<i32>, String, String) {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let since = Instant::now();
        let output = child.wait_with_output().expect("it ends");
        assert!(since.elapsed() < Duration::from_secs(5));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// The size of what is in a folder.
    fn draft_size(folder: &Path) -> u64 {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        entries.filter_map(|e| e.ok()?.metadata().ok()).map(|m| m.len()).sum()
    }

    #[test]
    fn rows_so_far_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.csv");
        let text = path.to_string_lossy();
        let child = start(&[
            "run",
            "free-rotation",
            "--step",
            "1e-7",
            "--until",
            "10000",
            "--out",
            &text,
            "--every",
            "1000",
        ]);
        let since = Instant::now();
        while draft_size(folder.path()) < 1 << 17 && since.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(20));
        }
        assert!(!path.exists(), "the file is not there before the end");
        let (code, out, err) = stop(child);
        assert_eq!((code, out.as_str()), (Some(130), ""));
        assert!(err.starts_with("stopped at t = ") && err.contains("the rows so far are in "), "{err}");
        let (_, rows) = csv(&path);
        assert!(rows.len() > 10);
        let said = err.split_whitespace().nth(4).and_then(|t| t.parse::<f64>().ok());
        assert_eq!(said, rows.last().map(|row| row[0]), "{err}");
        assert_eq!(names(folder.path()), ["long.csv"]);
    }

    /// True for JSON that says so, and nothing else.
    fn interrupted(out: &str) -> bool {
        let found: Value = serde_json::from_str(out).unwrap_or_default();
        found["error"]["code"] == 130 && found["error"]["kind"] == "interrupted"
    }

    #[test]
    fn without_a_file_nothing_is_left() {
        let child = start(&["run", "free-rotation", "--step", "1e-7", "--until", "10000", "--json"]);
        sleep(Duration::from_millis(500));
        let (code, out, err) = stop(child);
        assert_eq!((code, interrupted(&out)), (Some(130), true), "{out}");
        assert!(err.starts_with("stopped at t = "), "{err}");
    }

    #[test]
    fn a_comparison_stops_without_a_plot() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.svg").to_string_lossy().into_owned();
        let child = start(&["converge", "free-rotation", "--steps", "1e-7", "--plot", &path]);
        sleep(Duration::from_millis(500));
        let (code, out, _) = stop(child);
        assert_eq!((code, out.as_str()), (Some(130), ""));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_long_reference_can_be_stopped() {
        // The run takes a moment, its reference some seconds.
        let child =
            start(&["run", "soft-wall", "--method", "forward-euler-m", "--step", "1", "--until", "4000"]);
        sleep(Duration::from_millis(500));
        let (code, out, err) = stop(child);
        assert_eq!((code, out.as_str()), (Some(130), ""), "{err}");
        assert!(err.contains("the run itself was done"), "{err}");
    }

    #[test]
    fn derivatives_keep_their_rows_and_differences_stop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("slopes.csv");
        let text = path.to_string_lossy();
        let run =
            ["sensitivity", "fast-top", "-p", "mgl", "--step", "1e-6", "--until", "100", "--out", &text];
        let child = start(&run);
        let since = Instant::now();
        while draft_size(folder.path()) < 1 << 17 && since.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(20));
        }
        let (code, out, err) = stop(child);
        assert_eq!((code, out.as_str()), (Some(130), ""));
        assert!(err.contains("the rows so far are in "), "{err}");
        assert!(csv(&path).1.len() > 10);
        // The run takes a moment, its differences far longer.
        let all = "inertia,attitude,omega_body,mgl";
        let child = start(&[
            "sensitivity",
            "fast-top",
            "-p",
            all,
            "--step",
            "1e-5",
            "--until",
            "1",
            "--check",
            "--json",
        ]);
        sleep(Duration::from_millis(1500));
        let (code, out, err) = stop(child);
        assert_eq!((code, interrupted(&out)), (Some(130), true), "{err}");
        assert!(err.contains("stopped"), "{err}");
    }
}
