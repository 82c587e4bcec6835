//! Many runs of one model: what varies, how runs are shared out, and the table that they make.
//!
//! A [`Plan`] says all that there is to be said of a sweep; whoever has it computes any of its runs to the same bytes. Runs are
//! computed into chunks, files that say what they are of and are whole or not there, and [`merge`] makes a table of them:
//!
//! ```
//! use polhode_cli::sweep::{Plan, Request, merge};
//! let request = Request {
//!     vary: vec!["mgl=uniform:10,20".into()],
//!     runs: Some(10),
//!     until: Some(0.1),
//!     ..Request::default()
//! };
//! let plan = Plan::read("fast-top", &request)?;
//! let folder = std::env::temp_dir().join(format!("polhode-doc-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! let parts = [folder.join("a.chunk"), folder.join("b.chunk")];
//! plan.compute(0..4, &parts[0], 1, &|| true)?;
//! plan.compute(4..plan.runs(), &parts[1], 2, &|| true)?;
//! let summary = merge(&parts, &folder.join("table.csv"))?;
//! assert_eq!(summary["ok"], 10);
//! assert!(std::fs::read_to_string(folder.join("table.csv"))?.starts_with("run,mgl,"));
//! std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cases;
mod chunk;
pub(crate) mod command;
mod join;
mod keep;
mod one;
pub(crate) mod options;
mod page;
mod plan;
mod plot;
mod report;
mod stats;
mod work;

pub use crate::failure::Failure;
pub use chunk::{Chunk, Head};
pub use plan::{Plan, Request};

use crate::files::{Format, Output};
use polhode::problem::Problem;
use std::path::{Path, PathBuf};

/// What a model says of many runs, checked as far as it can be without options; null if it says nothing.
pub(crate) fn described(problem: &Problem, folder: &Path) -> Result<serde_json::Value, Failure> {
    let Some(said) = problem.file().sweep() else { return Ok(serde_json::Value::Null) };
    let counted = said.runs.is_some() || said.file.is_some();
    let counted = counted || said.vary.iter().any(|varied| varied.spread.count().is_some());
    let request = Request {
        runs: (!counted).then_some(1),
        step: Some(1.0).filter(|_| problem.step.is_nan()),
        until: Some(1.0).filter(|_| problem.until.is_nan()),
        ..Request::default()
    };
    if (said.vary.is_empty() && said.file.is_none()) || problem.until.is_nan() {
        return Ok(serde_json::json!({ "vary": {} }));
    }
    let mut about = Plan::new(problem.clone(), 0, folder, &request)?.about().clone();
    let wanted = ["runs", "vary", "sampling", "seed"];
    if let Some(about) = about.as_object_mut() {
        about.retain(|key, _| wanted.contains(&key.as_str()) && (counted || key != "runs"));
    }
    Ok(about)
}

/// Joins chunks into a table, `.csv` or `.parquet` by its name: every run of their plan once. The summary, as `polhode merge
/// --json` prints it.
pub fn merge(parts: &[PathBuf], out: &Path) -> Result<serde_json::Value, Failure> {
    let file = Output::of(out, Format::Table, false)?;
    let joined = join::Joined::parts(parts, false)?;
    let Some(head) = joined.head() else { return Err(Failure::Usage("there are no parts to merge".into())) };
    joined.write(out, file)?;
    let all = stats::Statistics::of(&joined, head.columns.len())?;
    Ok(report::json(head, &all, Some(&out.display().to_string()), None))
}
