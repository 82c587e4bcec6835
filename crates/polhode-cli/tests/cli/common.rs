//! Runs the program and looks at what it says.
#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the program left behind.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polhode"));
    command.stdin(Stdio::null());
    command
}

pub fn polhode(args: &[&str]) -> Said {
    let output = program().args(args).output().expect("the program starts");
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("stdout is text"),
        err: String::from_utf8(output.stderr).expect("stderr is text"),
    }
}

/// A command that works, quietly.
pub fn fine(args: &[&str]) -> String {
    let said = polhode(args);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{args:?}");
    said.out
}

pub fn json(args: &[&str]) -> Value {
    serde_json::from_str(&fine(args)).expect("stdout is JSON")
}

/// A command that is refused: the code, nothing on stdout but the error as JSON where that was asked for, and every piece
/// of text in the message.
pub fn refused(code: i32, args: &[&str], texts: &[&str]) {
    let said = polhode(args);
    assert_eq!(said.code, Some(code), "{args:?}: {}", said.err);
    if args.contains(&"--json") {
        let found: Value = serde_json::from_str(&said.out).expect("stdout is JSON");
        assert_eq!(found["error"]["code"].as_i64(), Some(code.into()), "{args:?}: {}", said.out);
    } else {
        assert_eq!(said.out, "", "{args:?}: {}", said.err);
    }
    assert!(said.err.starts_with("error: "), "{args:?}: {}", said.err);
    for text in texts {
        assert!(said.err.contains(text), "{args:?}: '{text}' is not in: {}", said.err);
    }
}

/// A number of JSON.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The names in a folder, hidden ones too.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Header and rows of a CSV file, which must end with a whole line.
pub fn csv(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(path).expect("the file is there");
    assert!(text.ends_with('\n'));
    let mut lines = text.lines();
    let header: Vec<String> = lines.next().expect("a header").split(',').map(String::from).collect();
    let number = |x: &str| x.parse::<f64>().expect("a number");
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(number).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == header.len()), "a row is not whole");
    (header, rows)
}

/// True unless these tests run under `nohup`: then the program, as it should, does not hear SIGHUP.
#[cfg(unix)]
pub fn hears(signal: &str) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    signal != "-HUP" || ignored & 1 == 0
}
