//! Tables whose columns are not all numbers: whole numbers and texts too, as CSV and as Parquet.

use super::csv::number;
use super::parquet::{DOUBLE, MAGIC, METADATA, PLAIN, REQUIRED, RLE, page};
use super::thrift::Writer;
use super::{Kind, damaged};
use crate::files::Output;
use std::io::{self, Write};

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Numbers.
    Numbers,
    /// Whole numbers.
    Whole,
    /// Texts.
    Texts,
}

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
    /// A text.
    Text(&'a str),
}

/// Rows of cells on their way into a file.
pub trait Cells {
    /// Takes one, with a cell of its kind for each column.
    fn row(&mut self, to: &mut Output, row: &[Cell<'_>]) -> io::Result<()>;
    /// Writes what is left, with what is said of the whole.
    fn finish(&mut self, to: &mut Output, metadata: &str) -> io::Result<()>;
}

impl Kind {
    /// A writer of rows with these columns; only CSV and Parquet have some.
    pub fn cells(self, columns: &[(String, Holds)]) -> Option<Box<dyn Cells>> {
        match self {
            Kind::Csv => Some(Box::new(Text::new(columns))),
            Kind::Parquet => Some(Box::new(Groups::new(columns))),
            Kind::Npz | Kind::Mcap => None,
        }
    }
}

/// A text as a cell of CSV: in quotes where it has something that would end it.
fn quoted(line: &mut Vec<u8>, text: &str) {
    if !text.contains([',', '"', '\n', '\r', ';', '\t', '#']) && text.trim() == text {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    line.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    line.push(b'"');
}

/// CSV.
#[derive(Debug)]
struct Text {
    line: Vec<u8>,
}

impl Text {
    fn new(columns: &[(String, Holds)]) -> Self {
        let mut line = Vec::new();
        for (name, _) in columns {
            quoted(&mut line, name);
            line.push(b',');
        }
        if let Some(last) = line.last_mut() {
            *last = b'\n';
        }
        Text { line }
    }
}

impl Cells for Text {
    fn row(&mut self, to: &mut Output, row: &[Cell<'_>]) -> io::Result<()> {
        for cell in row {
            match cell {
                Cell::Number(x) => number(&mut self.line, *x),
                Cell::Whole(n) => write!(self.line, "{n}")?,
                Cell::Text(text) => quoted(&mut self.line, text),
            }
            self.line.push(b',');
        }
        if let Some(last) = self.line.last_mut() {
            *last = b'\n';
        }
        to.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
    fn finish(&mut self, to: &mut Output, _: &str) -> io::Result<()> {
        to.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

/// Types of columns in Parquet.
const INT64: i32 = 2;
const BYTES: i32 = 6;
/// Texts are in UTF-8.
const UTF8: i32 = 0;
/// The bytes of a group, about, and the most rows of one.
const GROUP: usize = if cfg!(test) { 1 << 12 } else { 16 << 20 };
const ROWS: usize = 1 << 17;

/// Parquet.
#[derive(Debug)]
struct Groups {
    columns: Vec<(String, Holds)>,
    /// The values of each column in the group at hand, as they are written.
    values: Vec<Vec<u8>>,
    rows: usize,
    /// Where the file ends so far.
    end: u64,
    /// Of each group its rows, and of each of its columns where it is and how long.
    groups: Vec<(usize, Vec<(u64, u64)>)>,
}

impl Groups {
    fn new(columns: &[(String, Holds)]) -> Self {
        Groups {
            columns: columns.to_vec(),
            values: vec![Vec::new(); columns.len()],
            rows: 0,
            end: 0,
            groups: Vec::new(),
        }
    }
    fn write(&mut self, to: &mut Output) -> io::Result<()> {
        if self.end == 0 {
            to.write_all(MAGIC)?;
            self.end = MAGIC.len() as u64;
        }
        if self.rows == 0 {
            return Ok(());
        }
        let mut places = Vec::new();
        for values in &mut self.values {
            let head = page(self.rows, values.len());
            to.write_all(&head)?;
            to.write_all(values)?;
            let length = (head.len() + values.len()) as u64;
            places.push((self.end, length));
            self.end += length;
            values.clear();
        }
        self.groups.push((self.rows, places));
        self.rows = 0;
        Ok(())
    }
    fn footer(&self, metadata: &str) -> Vec<u8> {
        let kind = |holds: Holds| match holds {
            Holds::Numbers => DOUBLE,
            Holds::Whole => INT64,
            Holds::Texts => BYTES,
        };
        let mut footer = Writer::new();
        footer.i32(1, 1);
        footer.inners(2, self.columns.len() + 1, |i, element| match i.checked_sub(1) {
            None => {
                element.text(4, "schema");
                element.i32(5, self.columns.len() as i32);
            }
            Some(column) => {
                let (name, holds) = &self.columns[column];
                element.i32(1, kind(*holds));
                element.i32(3, REQUIRED);
                element.text(4, name);
                if *holds == Holds::Texts {
                    element.i32(6, UTF8);
                }
            }
        });
        footer.i64(3, self.groups.iter().map(|(rows, _)| *rows as u64).sum());
        footer.inners(4, self.groups.len(), |g, group| {
            let (rows, places) = &self.groups[g];
            group.inners(1, self.columns.len(), |c, chunk| {
                let (name, holds) = &self.columns[c];
                let (at, length) = places[c];
                chunk.i64(2, at);
                chunk.inner(3, |column| {
                    column.i32(1, kind(*holds));
                    column.i32s(2, &[PLAIN, RLE]);
                    column.texts(3, &[name]);
                    column.i32(4, 0);
                    column.i64(5, *rows as u64);
                    column.i64(6, length);
                    column.i64(7, length);
                    column.i64(9, at);
                });
            });
            group.i64(2, places.iter().map(|(_, length)| length).sum());
            group.i64(3, *rows as u64);
        });
        footer.inners(5, 1, |_, pair| {
            pair.text(1, METADATA);
            pair.text(2, metadata);
        });
        footer.text(6, concat!("polhode ", env!("CARGO_PKG_VERSION")));
        footer.end()
    }
}

impl Cells for Groups {
    fn row(&mut self, to: &mut Output, row: &[Cell<'_>]) -> io::Result<()> {
        for (values, cell) in self.values.iter_mut().zip(row) {
            match cell {
                Cell::Number(x) => values.extend_from_slice(&x.to_le_bytes()),
                Cell::Whole(n) => values.extend_from_slice(&n.to_le_bytes()),
                Cell::Text(text) => {
                    let length = u32::try_from(text.len()).map_err(|_| damaged("a text is too long"))?;
                    values.extend_from_slice(&length.to_le_bytes());
                    values.extend_from_slice(text.as_bytes());
                }
            }
        }
        self.rows += 1;
        let bytes: usize = self.values.iter().map(Vec::len).sum();
        if self.rows == ROWS || bytes >= GROUP { self.write(to) } else { Ok(()) }
    }
    fn finish(&mut self, to: &mut Output, metadata: &str) -> io::Result<()> {
        self.write(to)?;
        let footer = self.footer(metadata);
        to.write_all(&footer)?;
        to.write_all(&(footer.len() as u32).to_le_bytes())?;
        to.write_all(MAGIC)
    }
}
