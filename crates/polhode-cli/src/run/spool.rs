//! The rows of a run that may be put aside: they wait as bare numbers until it ends, and every file is made of them then.
//! So each has the bytes that it would have without a checkpoint.

use crate::failure::Failure;
use crate::files::Kept;
use std::io::{self, Read};

/// Rows that wait: of each its step, the Newton iterations up to it, and the numbers of the columns that are stored.
#[derive(Debug)]
pub struct Spool {
    kept: Kept,
    /// The columns that are stored.
    columns: Vec<usize>,
    bytes: Vec<u8>,
}

/// A row that has waited.
#[derive(Clone, Copy, Debug)]
pub struct Waited<'a> {
    /// Its step.
    pub step: u64,
    /// The Newton iterations up to it.
    pub iterations: u64,
    /// Its numbers, of which only those that were stored count.
    pub row: &'a [f64],
}

/// The two numbers before the columns.
const HEAD: usize = 2;

impl Spool {
    /// Of these columns.
    pub fn new(kept: Kept, columns: Vec<usize>) -> Self {
        Spool { kept, columns, bytes: Vec::new() }
    }
    /// Adds a row.
    pub fn put(&mut self, step: u64, iterations: u64, row: &[f64]) -> Result<(), Failure> {
        self.bytes.clear();
        let values = self.columns.iter().map(|column| row[*column].to_bits());
        self.bytes.extend([step, iterations].into_iter().chain(values).flat_map(u64::to_le_bytes));
        self.kept.write(&self.bytes).map_err(|error| self.kept.trouble(&error))
    }
    /// Calls `take` with all rows in their order, until it wants no more.
    pub fn each(
        &mut self,
        width: usize,
        take: &mut dyn FnMut(Waited<'_>) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let mut row = vec![f64::NAN; width];
        let mut bytes = vec![[0; 8]; HEAD + self.columns.len()];
        let failed = |error: io::Error| Failure::Usage(format!("cannot read the rows so far: {error}"));
        let mut from = self.kept.read().map_err(failed)?;
        loop {
            match from.read_exact(bytes.as_flattened_mut()) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                read => read.map_err(failed)?,
            }
            for (column, number) in self.columns.iter().zip(&bytes[HEAD..]) {
                row[*column] = f64::from_le_bytes(*number);
            }
            let [step, iterations] = [bytes[0], bytes[1]].map(u64::from_le_bytes);
            if !take(Waited { step, iterations, row: &row })? {
                break;
            }
        }
        drop(from);
        self.kept.write_on().map_err(failed)
    }
    /// The file.
    pub fn kept(&mut self) -> &mut Kept {
        &mut self.kept
    }
    /// The file, which nobody goes on with here.
    pub fn into_kept(self) -> Kept {
        self.kept
    }
}
