//! Measurements from CSV files, as other programs write them.

mod columns;
mod text;

pub use columns::{Measured, Unit};
pub use text::Table;

use std::path::Path;

/// What a file is called; `-` is standard input.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// What is not among the samples, for messages.
pub fn without(gaps: &[String]) -> String {
    if gaps.is_empty() { String::new() } else { format!(" without {}", gaps.join("; ")) }
}

/// Lines that are named of many.
const NAMED: usize = 5;

/// Where gaps are: how many, and the first lines.
fn lines(lines: &[usize]) -> String {
    let first: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if lines.len() > NAMED { ", ..." } else { "" };
    format!("line{} {}{more}", if lines.len() == 1 { "" } else { "s" }, first.join(", "))
}

/// How many rows or cells are left out, with their lines: one of them, several of them.
fn left_out(one: &str, several: &str, at: &[usize]) -> String {
    format!("{} {} ({})", at.len(), if at.len() == 1 { one } else { several }, lines(at))
}
