//! Sweeps that are refused: what is wrong, where, and what to do.

use crate::common::{polhode, refused};

fn sweep(args: &str, texts: &[&str]) {
    let words: Vec<&str> = args.split(' ').collect();
    refused(2, &[&["sweep"], &words[..]].concat(), texts);
}

#[test]
fn commands_that_make_no_sense_are_refused() {
    sweep("slow-top", &["nothing varies from run to run", "--vary NAME=uniform:1,2"]);
    sweep("slow-top --vary mgl", &["--vary is written NAME=uniform:a,b", "got 'mgl'"]);
    sweep("slow-top --vary mgl=uniform:1,2", &["it is not said how many runs", "--runs N"]);
    sweep(
        "slow-top --vary mgl=uniform:2,1 --runs 3",
        &["--vary mgl: uniform goes from a lower to a higher", "2 and 1"],
    );
    sweep("slow-top --vary mgl=gauss:2,1 --runs 3", &["'gauss' is not known", "normal"]);
    sweep("slow-top --vary mgl=normal:2,-1 --runs 3", &["positive standard deviation", "2 and -1"]);
    sweep("slow-top --vary mgl=log-uniform:0,1 --runs 3", &["positive", "0 and 1"]);
    sweep("slow-top --vary mgl=grid:0,1,1.5", &["whole number", "1.5"]);
    sweep("slow-top --vary mgl=uniform:0,x --runs 3", &["'x' is not a number"]);
    sweep("slow-top --vary mgl=list:", &["--vary mgl"]);
    sweep("slow-top --vary mlg=uniform:0,1 --runs 3", &["no datum called 'mlg'", "did you mean mgl?"]);
    sweep("slow-top --vary inertia=uniform:0,1 --runs 3", &["inertia takes 3 or 6 or 9 numbers, got 1"]);
    sweep("slow-top --vary mgl=uniform:0,1 --vary mgl=uniform:0,2 --runs 3", &["mgl twice"]);
    sweep("slow-top --vary mgl=grid:0,1,3 --runs 4", &["3 combinations", "leave the runs out"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 0", &["at least 1"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --sampling halton", &["random, sobol, latin", "halton"]);
    sweep(
        "slow-top --vary mgl=uniform:0,1 --runs 3 --keep enrgy",
        &["--keep enrgy", "no column 'enrgy'", "outputs"],
    );
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --keep top(energy)", &["'top' is not known"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --keep energy@99", &["t = 99 is not between 0 and"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --keep energy@1:2", &["NAME@FROM:TO:COUNT"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --keep events:x", &["the model has no events"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --keep drift:x", &["no drift is called 'x'"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --keep outputs", &["the model has no outputs"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --method akv", &["akv", "akw"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --step -1", &["the step must be a positive"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --out x.npz", &["CSV or Parquet"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --out nowhere/x.csv", &["nowhere/x.csv", "folder"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --part 1/2 --out x.csv", &[".chunk"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --part 3/2 --out x.chunk", &["no part 3 of 2"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --part 0/2 --out x.chunk", &["counted from 1"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --part 1/2", &["--out"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --resume", &["--out"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --resume --out -", &["the same name of a file"]);
    sweep("slow-top --vary mgl=uniform:0,1 --runs 3 --limit 0", &["positive"]);
    sweep("slow-top --cases none.csv", &["none.csv"]);
    sweep("slow-top --cases none.txt", &[".csv or .parquet"]);
    sweep("four-bar --vary mass_1=uniform:1,2 --runs 3 --method akw", &["akw"]);
    refused(2, &["merge", "none.chunk"], &["none.chunk", "it is not there"]);
    refused(2, &["merge", env!("CARGO_BIN_EXE_polhode")], &["it is no chunk"]);
}

/// A model with this table is refused at this place, with these words.
fn model(table: &str, texts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.toml");
    let body = "[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\n[run]\nstep = 0.1\nuntil = 1\n";
    std::fs::write(&path, format!("{body}{table}")).unwrap();
    let said = polhode(&["sweep", &path.display().to_string()]);
    assert_eq!(said.code, Some(3), "{table}: {}", said.err);
    for text in texts {
        assert!(said.err.contains(text), "'{text}' is not in: {}", said.err);
    }
}

#[test]
fn tables_that_make_no_sense_are_told_with_their_place() {
    model("[sweep]\nvari.a = 1", &["m.toml:8:1", "[sweep] has no key 'vari'", "did you mean vary?"]);
    model("[sweep]\nvary.x = 3", &["m.toml:8:10", "x must be a table", "not a number"]);
    model("[sweep]\nvary.x = { unifrom = [1, 2] }", &["m.toml:8:12", "did you mean uniform?"]);
    model("[sweep]\nvary.x = { uniform = [1, 2], normal = [1, 2] }", &["x varies in one way alone"]);
    model("[sweep]\nvary.x = { uniform = [1] }", &["m.toml:8:22", "uniform takes two numbers", "got 1"]);
    model("[sweep]\nvary.x = { uniform = [1, \"a\"] }", &["m.toml:8:26", "plain numbers, not text"]);
    model("[sweep]\nvary.x = {}", &["must say how it varies"]);
    model("[sweep]\nruns = 2.5", &["m.toml:8:8", "runs must be a whole number", "2.5"]);
    model("[sweep]\nseed = -1", &["seed must be a whole number"]);
    model("[sweep]\nsampling = \"sobel\"", &["m.toml:8:12", "did you mean sobol?"]);
    model("[sweep]\nkeep = [1]", &["list of texts"]);
    model("[sweep]\nruns = 2\nvary.a.mas = { uniform = [1, 2] }", &["m.toml:9:8", "no datum called 'a.mas'"]);
    model(
        "[sweep]\nruns = 2\nvary.a.mass = { uniform = [1, 2] }\nkeep = [\"x\"]",
        &["m.toml:10:9", "no column 'x'"],
    );
}

#[test]
fn cases_that_make_no_sense_are_told_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases = |text: &str, texts: &[&str]| {
        let path = folder.path().join("cases.csv");
        std::fs::write(&path, text).unwrap();
        refused(2, &["sweep", "slow-top", "--cases", &path.display().to_string()], texts);
    };
    cases("mgl\n", &["cases.csv", "no row"]);
    cases("mgl\n1\nx\n", &["line 3", "'x' is not a number"]);
    cases("mgl\n1\n\"\"\n", &["row 2 has no number under mgl"]);
    cases("mlg\n1\n", &["a column of the cases", "no datum called 'mlg'"]);
    cases("mgl,omega_body_z\n1\n", &["line 2 has too few cells"]);
    let path = folder.path().join("cases.csv").display().to_string();
    std::fs::write(&path, "mgl\n1\n2\n").unwrap();
    let base = ["sweep", "slow-top", "--cases", &path];
    refused(2, &[&base[..], &["--runs", "3"]].concat(), &["2 rows", "the runs are 3"]);
    refused(2, &[&base[..], &["--vary", "mgl=uniform:1,2"]].concat(), &["mgl is varied twice"]);
    refused(2, &[&base[..], &["--vary", "omega_body_z=grid:1,2,3"]].concat(), &["combinations"]);
    let path = folder.path().join("cases.parquet").display().to_string();
    std::fs::write(&path, "PAR1xxxxPAR1").unwrap();
    refused(2, &["sweep", "slow-top", "--cases", &path], &["damaged, or no Parquet file"]);
}
