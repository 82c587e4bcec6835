//! Runs as the rows of a file: each has its values under the names of parameters.

use crate::data::Table;
use crate::failure::Failure;
use crate::files::{self, EMPTY};
use crate::table::{Kind, read};
use std::path::Path;

/// The most that is read, in bytes.
const LARGEST: u64 = 2 << 30;

/// A table of cases.
#[derive(Clone, Debug)]
pub struct Cases {
    /// The names of its columns.
    pub names: Vec<String>,
    /// Its numbers, row by row.
    values: Vec<f64>,
    /// A number that tells it from others.
    pub sum: u64,
}

impl Cases {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Cases, Failure> {
        let shown = path.display();
        let wrong = |why: String| Failure::Usage(format!("{shown}: {why}"));
        let (names, values) = match Kind::of(path) {
            Some(Kind::Parquet) => {
                let bytes = files::read(path, "cases", LARGEST)?;
                let columns = read::columns(&bytes).map_err(wrong)?;
                let rows = columns.first().map_or(0, |(_, values)| values.len());
                let names = columns.iter().map(|(name, _)| name.clone()).collect();
                let row = |k: usize| columns.iter().map(move |(_, values)| values[k]);
                (names, (0..rows).flat_map(row).collect::<Vec<f64>>())
            }
            Some(Kind::Csv) if path.as_os_str() != "-" => {
                let table = Table::read(path)?;
                let mut values = Vec::with_capacity(table.rows.len() * table.header.len());
                for (line, cells) in &table.rows {
                    for (cell, name) in cells.iter().zip(&table.header) {
                        let x =
                            table.number(cell).map_err(|why| wrong(format!("line {line}, {name}: {why}")))?;
                        values.push(x);
                    }
                }
                (table.header, values)
            }
            _ => return Err(wrong("cases are read from a file that ends in .csv or .parquet".into())),
        };
        if let Some(name) = names.iter().find(|name| name.trim().is_empty()) {
            return Err(wrong(format!("a column has no name ('{name}'); each has that of a parameter")));
        }
        if values.is_empty() {
            return Err(wrong("there is no row in it; each is a run".into()));
        }
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            let (row, column) = (at / names.len(), at % names.len());
            return Err(wrong(format!("row {} has no number under {}", row + 1, names[column])));
        }
        let sum = names.iter().fold(EMPTY, |sum, name| files::sum(&[0], files::sum(name.as_bytes(), sum)));
        let sum = values.iter().fold(sum, |sum, x| files::sum(&x.to_le_bytes(), sum));
        Ok(Cases { names, values, sum })
    }
    /// How many runs it has.
    pub fn runs(&self) -> u64 {
        (self.values.len() / self.names.len()) as u64
    }
    /// The values of a run.
    pub fn row(&self, k: u64) -> &[f64] {
        &self.values[k as usize * self.names.len()..][..self.names.len()]
    }
}
