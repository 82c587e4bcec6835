//! What can be written behind `polhode sweep` and `polhode merge`.

use crate::args::{number, positive};
use clap::Args;
use std::path::PathBuf;

/// `polhode sweep`.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// Model: id of a problem, or a file, - for standard input
    #[arg(value_name = "MODEL")]
    pub problem: String,
    /// What varies from run to run, as in mass=uniform:1,2: uniform:a,b, normal:mean,sigma, log-uniform:a,b, grid:a,b,n or
    /// list:x,y,...; may be repeated
    #[arg(long, value_name = "NAME=HOW", allow_hyphen_values = true)]
    pub vary: Vec<String>,
    /// A row for each run, with names that --set takes above its columns: .csv or .parquet
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// How many runs [default: the model's own, or all combinations of grids and lists]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub runs: Option<u64>,
    /// Whole number from which all draws follow [default: the model's own, or 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole)]
    pub seed: Option<u64>,
    /// How draws are spread over the runs: random, sobol or latin [default: the model's own, or random]
    #[arg(long, value_name = "HOW")]
    pub sampling: Option<String>,
    /// What to keep of each run: columns at the end, final, outputs, extremes, means, events, drift, min(NAME), max(NAME),
    /// mean(NAME), NAME@T or NAME@FROM:TO:COUNT; may be repeated
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// Id of the method [default: the model's own]
    #[arg(long, short, value_name = "ID")]
    pub method: Option<String>,
    /// Time step in s [default: the model's own]
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = number)]
    pub step: Option<f64>,
    /// End time in s [default: the model's own]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub until: Option<f64>,
    /// Override a parameter, as in inertia=1,2,2.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// A run that takes longer, in s, is a row with that as its status
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = positive)]
    pub limit: Option<f64>,
    /// Write a row for each run to this file: .csv or .parquet by its name, - for CSV on standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the whole motion of each run into this folder, as run-0.parquet and so on
    #[arg(long, value_name = "FOLDER")]
    pub trajectories: Option<PathBuf>,
    /// Write every N-th step of these (and always the last) [default: what the model says, or 1]
    #[arg(long, value_name = "N", requires = "trajectories", allow_hyphen_values = true, value_parser = count)]
    pub every: Option<u64>,
    /// Threads [default: as many as the machine runs at once]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub threads: Option<u64>,
    /// Runs that are put aside together, beside the result [default: by their number]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub chunk: Option<u64>,
    /// Go on with a sweep that was ended, whatever ended it
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Compute the I-th of N shares alone, into --out FILE.chunk, for `polhode merge`
    #[arg(long, value_name = "I/N", requires = "out", value_parser = part, conflicts_with_all = ["json", "plot", "report"])]
    pub part: Option<[u64; 2]>,
    /// Plot histograms, outputs over inputs, and bands over time to this file, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write one page for browsers: what was run, all numbers and pictures, and the settings
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print one JSON object: moments and quantiles of all that is kept
    #[arg(long)]
    pub json: bool,
}

/// `polhode merge`.
#[derive(Debug, Args)]
pub struct MergeOptions {
    /// The parts: files that `polhode sweep --part` has written, or folders of chunks
    #[arg(value_name = "PARTS", required = true)]
    pub parts: Vec<PathBuf>,
    /// Take what there is of a sweep that is not finished: runs that are missing have no row
    #[arg(long)]
    pub partial: bool,
    /// Write a row for each run to this file: .csv or .parquet by its name, - for CSV on standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Plot histograms, outputs over inputs, and bands over time to this file, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write one page for browsers: what was run, all numbers and pictures, and the settings
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print one JSON object: moments and quantiles of all that is kept
    #[arg(long)]
    pub json: bool,
}

/// A whole number, which may be written 1e6 too.
fn whole(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let rounded = || {
        let x: f64 = text.parse().ok()?;
        (x >= 0.0 && x.fract() == 0.0 && x <= 9e15).then_some(x as u64)
    };
    text.parse().ok().or_else(rounded).ok_or_else(|| "it must be a whole number of at least 0".into())
}

/// The same of at least one.
fn count(text: &str) -> Result<u64, String> {
    match whole(text) {
        Ok(0) | Err(_) => Err("it must be a whole number of at least 1".into()),
        Ok(n) => Ok(n),
    }
}

/// Which part of how many.
fn part(text: &str) -> Result<[u64; 2], String> {
    let form = "it must be which of how many, as in 3/100";
    let (i, n) = text.split_once('/').ok_or(form)?;
    match (whole(i), whole(n)) {
        (Ok(i), Ok(n)) if i >= 1 && i <= n => Ok([i, n]),
        (Ok(i), Ok(n)) => Err(format!("{form}; there is no part {i} of {n}, they are counted from 1")),
        _ => Err(form.into()),
    }
}
