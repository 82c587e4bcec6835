//! The motion as rows of a CSV file, written as it comes.

use crate::files::Output;
use polhode::run::{Plan, Snapshot};
use std::io::{self, Write};

/// Writes every n-th snapshot, and the last.
#[derive(Debug)]
pub struct Record {
    /// Where they go.
    pub file: Output,
    every: u64,
    last: u64,
    begun: bool,
    row: Vec<f64>,
}

impl Record {
    /// Rows for a plan.
    pub fn new(file: Output, every: u64, plan: &Plan) -> Self {
        Record { file, every, last: plan.steps(), begun: false, row: Vec::new() }
    }
    /// Goes on behind rows that are there.
    pub fn go_on(&mut self) {
        self.begun = true;
    }
    /// True if step `n` has a row.
    #[inline]
    pub fn due(&self, n: u64) -> bool {
        n.is_multiple_of(self.every) || n == self.last
    }
    /// Writes one row, the first time after the names of the columns.
    pub fn write(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        if !self.begun {
            let names: Vec<String> = snapshot.columns().into_iter().map(|column| column.name).collect();
            writeln!(self.file, "{}", names.join(","))?;
            self.begun = true;
        }
        self.row.clear();
        snapshot.row(&mut self.row);
        let mut separator = "";
        for x in &self.row {
            // Debug is the shortest text that reads back to the same bits.
            write!(self.file, "{separator}{x:?}")?;
            separator = ",";
        }
        writeln!(self.file)
    }
}
