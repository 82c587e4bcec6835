//! How much is said, errors for programs, the manual and completions.

use crate::common::{fine, json, polhode, program};
use serde_json::Value;

/// What an error looks like for programs: one object, beside the text for people.
fn error(args: &[&str]) -> Value {
    let said = polhode(args);
    let found: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{args:?}: {}", said.out));
    let error = &found["error"];
    assert_eq!(error["code"].as_i64(), said.code.map(i64::from), "{args:?}");
    let message = error["message"].as_str().unwrap();
    assert!(said.err.contains(message) && !message.is_empty(), "{args:?}: {message}");
    error.clone()
}

#[test]
fn programs_read_errors_too() {
    for (args, code, kind) in [
        (&["run", "fast-to", "--json"][..], 2, "usage"),
        (&["run", "--json"], 2, "usage"),
        (&["run", "fast-top", "--json", "--frobnicate"], 2, "usage"),
        (&["frobnicate", "--json"], 2, "usage"),
        (&["methods", "akv", "--json"], 2, "usage"),
        (&["problems", "x", "--json"], 2, "usage"),
        (&["run", "free-rotation", "--json", "--set", "inertia=1,1,5"], 3, "model"),
        (&["run", "fast-top", "--json", "--set", "mgl=1e6", "--step", "2"], 4, "solver"),
        (&["converge", "fast-top", "--json", "--steps", "-1"], 2, "usage"),
        (&["sensitivity", "fast-top", "-p", "x", "--json"], 2, "usage"),
        (&["fit", "fast-top", "-p", "mgl", "--data", "none.csv", "--json"], 2, "usage"),
    ] {
        let error = error(args);
        assert_eq!((error["code"].as_i64(), error["kind"].as_str()), (Some(code), Some(kind)), "{args:?}");
    }
    // The message of the parser is its first paragraph, without the usage.
    let error = error(&["run", "fast-top", "--json", "--stepp", "1"]);
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("unexpected argument '--stepp'") && !message.contains("Usage"), "{message}");
    // Help is no error.
    assert!(fine(&["run", "--help", "--json"]).contains("Usage"));
}

#[test]
fn what_fails_after_results_are_known_is_in_them() {
    let args =
        ["compare", "fast-top", "--step", "5", "--until", "2000", "--methods", "forward-euler", "--json"];
    let said = polhode(&args);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, found["failure"]["code"].as_i64()), (Some(4), Some(4)));
    assert!(found["rows"].is_array() && found["failure"]["kind"] == "solver");
}

#[test]
fn quiet_is_quiet_and_verbose_says_where_time_goes() {
    let runaway = ["run", "slow-top", "--method", "forward-euler", "--step", "0.05", "--until", "10"];
    assert!(polhode(&runaway).err.starts_with("warning: "));
    let said = polhode(&[&runaway[..], &["--quiet"]].concat());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(!polhode(&[&["-q"], &runaway[..]].concat()).out.is_empty());
    assert!(polhode(&["run", "fast-to", "-q"]).err.starts_with("error: no problem"));
    let said = polhode(&["run", "fast-top", "--until", "0.1", "-v", "--json"]);
    assert!(serde_json::from_str::<Value>(&said.out).is_ok());
    for part in [
        "model: fast-top",
        "method: imidm, the model's own",
        "run: 100 steps",
        "reference: closed form",
        "done in",
    ] {
        assert!(said.err.contains(part), "'{part}' is not in: {}", said.err);
    }
    let said = polhode(&["-v", "run", "slow-top", "--method", "akw", "--error", "1e-2"]);
    assert!(
        said.err.contains("method: akw, as asked for") && said.err.contains("search: step"),
        "{}",
        said.err
    );
    assert!(polhode(&["run", "fast-top", "-q", "-v"]).err.contains("cannot be used with"));
    for command in [
        "run",
        "converge",
        "compare",
        "sensitivity",
        "fit",
        "sweep",
        "merge",
        "convert",
        "methods",
        "problems",
        "man",
        "completions",
    ] {
        let help = fine(&[command, "--help"]);
        assert!(help.contains("--quiet") && help.contains("--verbose"), "{command}");
    }
}

#[test]
fn nothing_is_coloured() {
    for args in [&["--help"][..], &["run", "--help"], &["run", "fast-to"], &["run", "fast-top", "--stepp"]] {
        let said = program().args(args).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap();
        assert!(!said.stdout.contains(&0x1b) && !said.stderr.contains(&0x1b), "{args:?}");
    }
}

#[test]
fn the_manual_is_whole() {
    let page = fine(&["man"]);
    for part in
        [".TH polhode 1", ".SH NAME", ".SH RUN", ".SH COMPARE", ".SH FIT", "max\\-drift", "Exit codes"]
    {
        assert!(page.contains(part), "'{part}' is not in: {page}");
    }
    assert_eq!(page.matches(".SH NAME").count(), 1);
}

#[test]
fn ids_and_files_are_completed() {
    let bash = fine(&["completions", "bash"]);
    for part in ["fast-top", "four-bar", "mkrk:gauss3", "linear-alpha", "-o default"] {
        assert!(bash.contains(part), "'{part}' is not in the script");
    }
    for shell in ["zsh", "fish"] {
        let script = fine(&["completions", shell]);
        assert!(script.contains("fast-top") && script.contains("geometric-alpha"), "{shell}");
    }
    // They are offered, and nothing else is refused for them.
    assert_eq!(json(&["methods", "compose:akw:4", "--json"])["order"], 4);
}
