//! Results as files: rows of numbers on their way into the format that the name of the file asks for.
//!
//! Rows come one by one and may be many; what waits in memory is bounded. What is said of the whole, the metadata, is
//! known at the end.

mod block;
mod columns;
mod csv;
mod mcap;
mod npz;
mod parquet;
pub mod read;
mod thrift;

pub use columns::{Choice, Poses};
pub use mcap::Frame;

use crate::files::Output;
use serde_json::Value;
use std::io;
use std::path::Path;

/// One row: all numbers of a snapshot, and which of them are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// All numbers.
    pub all: &'a [f64],
    /// The columns that are written, by their number.
    pub chosen: &'a [usize],
}

impl Row<'_> {
    /// The numbers that are written.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.chosen.iter().map(|column| self.all[*column])
    }
}

/// Rows on their way into a file.
pub trait Rows {
    /// Takes one.
    fn row(&mut self, to: &mut Output, row: &Row<'_>) -> io::Result<()>;
    /// Writes what is left, with what is said of the whole.
    fn finish(&mut self, to: &mut Output, metadata: &Value) -> io::Result<()>;
    /// Writes what waits in memory, so that the file can be gone on with by [`Rows::go_on`]; how far it is.
    fn pause(&mut self, to: &mut Output) -> io::Result<Position>;
    /// Goes on with a file that holds what another had written up to a position.
    fn go_on(&mut self, to: &mut Output, from: Position) -> io::Result<()>;
}

/// How far a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Rows in it.
    pub rows: u64,
    /// Bytes of it that stay as they are.
    pub bytes: u64,
}

/// A kind of file for tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, for everything.
    Csv,
    /// Arrays of numpy.
    Npz,
    /// Columns, for pandas, polars and the like.
    Parquet,
    /// Messages, for Foxglove.
    Mcap,
}

impl Kind {
    /// What the name of a file asks for.
    pub fn of(name: &Path) -> Option<Kind> {
        if name.as_os_str() == "-" {
            return Some(Kind::Csv);
        }
        let all = [("csv", Kind::Csv), ("npz", Kind::Npz), ("parquet", Kind::Parquet), ("mcap", Kind::Mcap)];
        let end = name.extension()?;
        all.into_iter().find(|(own, _)| end.eq_ignore_ascii_case(own)).map(|(_, kind)| kind)
    }
    /// A writer of rows with these columns.
    pub fn rows(self, columns: &[String], frames: Vec<Frame>) -> Box<dyn Rows> {
        match self {
            Kind::Csv => Box::new(csv::Csv::new(columns)),
            Kind::Npz => Box::new(npz::Npz::new(columns)),
            Kind::Parquet => Box::new(parquet::Parquet::new(columns)),
            Kind::Mcap => Box::new(mcap::Mcap::new(columns, frames)),
        }
    }
}

/// What was left in a file does not fit what is to be gone on with.
fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}
