//! Results as files: rows of numbers on their way into the format that the name of the file asks for.
//!
//! Rows come one by one and may be many; what waits in memory is bounded. What is said of the whole, the metadata, is
//! known at the end.

mod block;
mod cells;
mod columns;
mod csv;
mod foreign;
mod mcap;
mod npz;
mod parquet;
pub mod read;
mod stream;
mod thrift;

pub use cells::{Cell, Holds};
pub use columns::{Head, Of, Pose, chosen, of_body};
pub use mcap::Frame;
pub use stream::Stream;

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
    #[inline]
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.chosen.iter().map(|column| self.all[*column])
    }
}

/// Rows behind each other.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// All numbers of all rows.
    pub all: &'a [f64],
    /// How many of them are a row.
    pub width: usize,
    /// The columns that are written, by their number.
    pub chosen: &'a [usize],
}

impl<'a> Batch<'a> {
    /// One by one.
    pub fn rows(&self) -> impl Iterator<Item = Row<'a>> + use<'a> {
        let chosen = self.chosen;
        self.all.chunks_exact(self.width).map(move |all| Row { all, chosen })
    }
}

/// Rows on their way into a file.
pub trait Rows: Send {
    /// Takes some.
    fn rows(&mut self, to: &mut Output, batch: &Batch<'_>) -> io::Result<()>;
    /// Writes what is left, with what is said of the whole.
    fn finish(&mut self, to: &mut Output, metadata: &Value) -> io::Result<()>;
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
pub(crate) fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|i| format!("c{i}")).collect()
    }

    /// Writes rows of so many columns.
    fn written(path: &Path, count: usize, rows: u64) -> Vec<u8> {
        let kind = Kind::of(path).unwrap();
        let mut file = Output::of(path, crate::files::Format::Results, false).unwrap();
        let mut writer = kind.rows(&names(count), Vec::new());
        let chosen: Vec<usize> = (0..count).collect();
        let all: Vec<f64> =
            (0..rows).flat_map(|n| (0..count).map(move |c| n as f64 + 0.1 * c as f64)).collect();
        // Batches of other lengths than blocks have.
        for all in all.chunks(7 * count) {
            writer.rows(&mut file, &Batch { all, width: count, chosen: &chosen }).unwrap();
        }
        writer.finish(&mut file, &json!({ "a": "µ" })).unwrap();
        file.finish().unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn files_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        // More than one block of columns, and less.
        for (count, rows) in [(2, 30), (100, 200)] {
            for ending in ["npz", "parquet"] {
                let whole = written(&folder.path().join(format!("x.{ending}")), count, rows);
                let stored = if ending == "npz" { read::npz(&whole) } else { read::parquet(&whole) };
                let stored = stored.expect("it can be read");
                assert_eq!((stored.columns.len(), stored.metadata["a"].as_str()), (count, Some("µ")));
                let last = &stored.columns[count - 1];
                assert_eq!((last.0.as_str(), last.1.len() as u64), (&*format!("c{}", count - 1), rows));
                let value = |n: usize| n as f64 + 0.1 * (count - 1) as f64;
                assert!(last.1.iter().enumerate().all(|(n, x)| *x == value(n)));
            }
        }
        let messages = written(&folder.path().join("x.mcap"), 3, 20_000);
        let stored = read::mcap(&messages).expect("it can be read");
        assert_eq!((stored.columns.len(), stored.column("c2").unwrap()[19_999]), (3, 19_999.0 + 0.1 * 2.0));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing else is left");
        // What is cut short is refused, wherever that is.
        assert!(read::mcap(&messages[..messages.len() - 1]).is_none() && read::mcap(&[]).is_none());
    }
}
