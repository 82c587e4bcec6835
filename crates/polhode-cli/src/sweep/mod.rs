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
//! plan.compute(0..4, &parts[0], 1, &|_| ())?;
//! plan.compute(4..plan.runs(), &parts[1], 2, &|_| ())?;
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
mod plan;
mod plot;
mod report;
mod stats;
mod work;

pub use crate::failure::Failure;
pub use chunk::{Chunk, Head};
pub use plan::{Plan, Request};

use crate::files::{Format, Output};
use std::path::{Path, PathBuf};

/// Joins chunks into a table, `.csv` or `.parquet` by its name: every run of their plan once. The summary, as `polhode merge
/// --json` prints it.
pub fn merge(parts: &[PathBuf], out: &Path) -> Result<serde_json::Value, Failure> {
    let file = Output::of(out, Format::Table, false)?;
    let joined = join::Joined::parts(parts)?;
    let Some(head) = joined.head() else { return Err(Failure::Usage("there are no parts to merge".into())) };
    joined.write(out, file)?;
    let all = stats::Statistics::of(&joined, head.columns.len())?;
    Ok(report::json(head, &all, Some(&out.display().to_string()), None))
}
