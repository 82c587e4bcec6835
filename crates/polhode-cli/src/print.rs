//! Text for people and for programs: stdout for results, stderr for notes, and numbers in few characters.

use crate::failure::Failure;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};

/// Writes results to stdout, in one go.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Usage(format!("stdout cannot be written: {error}")),
    })
}

/// Writes a result to stdout as JSON; numbers read back to the same bits.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    match serde_json::to_string_pretty(value) {
        Ok(text) => result(&(text + "\n")),
        Err(error) => Err(Failure::Usage(format!("the result is no JSON: {error}"))),
    }
}

/// A line to stderr. If nobody can read it, nobody can be told.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Lines with aligned columns, two blanks apart, each line indented.
pub fn table(indent: usize, columns: &[Align], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for ((cell, align), width) in row.iter().zip(columns).zip(&widths) {
            match align {
                Align::Left => line.push_str(&format!("{cell:<width$}  ")),
                Align::Right => line.push_str(&format!("{cell:>width$}  ")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// An error or a drift: three digits are plenty.
pub fn small(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:.2e}") }
}

/// A number as its owner would write it, without losing a digit.
pub fn plain(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (1e-4..1e7).contains(&size) { format!("{x}") } else { format!("{x:e}") }
}

/// Numbers as a datum is written on the command line.
pub fn list(values: &[f64]) -> String {
    values.iter().map(|x| plain(*x)).collect::<Vec<_>>().join(",")
}

/// A duration with a unit that fits.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// A count with its noun.
pub fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
