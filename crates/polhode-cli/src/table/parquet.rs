//! Parquet: columns in groups of rows, plain numbers without compression, and a footer that says where they are.

use super::block::Block;
use super::thrift::Writer;
use super::{Batch, Rows};
use crate::files::Output;
use serde_json::Value;
use std::io::{self, Write};

/// What stands at both ends.
pub const MAGIC: &[u8; 4] = b"PAR1";
/// Numbers of eight bytes.
pub const DOUBLE: i32 = 5;
/// How values, and which of them are there, are written.
pub const PLAIN: i32 = 0;
pub const RLE: i32 = 3;
/// A column without gaps.
pub const REQUIRED: i32 = 0;

/// The key of what is said of the whole, as JSON.
pub const METADATA: &str = "polhode";

/// Writes one.
#[derive(Debug)]
pub struct Parquet {
    names: Vec<String>,
    block: Block,
    /// Full groups, all of the same size.
    groups: u64,
}

/// What stands before the values of a column in a group: so many rows, in so many bytes.
pub fn page(rows: usize, bytes: usize) -> Vec<u8> {
    let mut page = Writer::new();
    let bytes = bytes as i32;
    // A page of data, its size without and with compression.
    page.i32(1, 0);
    page.i32(2, bytes);
    page.i32(3, bytes);
    page.inner(5, |data| {
        data.i32(1, rows as i32);
        data.i32(2, PLAIN);
        data.i32(3, RLE);
        data.i32(4, RLE);
    });
    page.end()
}

impl Parquet {
    /// With these columns.
    pub fn new(columns: &[String]) -> Self {
        Parquet { names: columns.to_vec(), block: Block::large(columns.len()), groups: 0 }
    }
    /// Bytes of a group of so many rows.
    fn size(&self, rows: usize) -> u64 {
        ((page(rows, 8 * rows).len() + 8 * rows) * self.names.len()) as u64
    }
    fn footer(&self, metadata: &Value) -> Vec<u8> {
        let (capacity, rest) = (self.block.capacity(), self.block.rows());
        let groups = self.groups as usize + usize::from(rest > 0);
        let rows = self.groups * capacity as u64 + rest as u64;
        let mut footer = Writer::new();
        footer.i32(1, 1);
        footer.inners(2, self.names.len() + 1, |i, element| match i.checked_sub(1) {
            None => {
                element.text(4, "schema");
                element.i32(5, self.names.len() as i32);
            }
            Some(column) => {
                element.i32(1, DOUBLE);
                element.i32(3, REQUIRED);
                element.text(4, &self.names[column]);
            }
        });
        footer.i64(3, rows);
        footer.inners(4, groups, |g, group| {
            let rows = if (g as u64) < self.groups { capacity } else { rest };
            let one = (page(rows, 8 * rows).len() + 8 * rows) as u64;
            let start = MAGIC.len() as u64 + g as u64 * self.size(capacity);
            group.inners(1, self.names.len(), |c, chunk| {
                let at = start + c as u64 * one;
                chunk.i64(2, at);
                chunk.inner(3, |column| {
                    column.i32(1, DOUBLE);
                    column.i32s(2, &[PLAIN, RLE]);
                    column.texts(3, &[&self.names[c]]);
                    column.i32(4, 0);
                    column.i64(5, rows as u64);
                    column.i64(6, one);
                    column.i64(7, one);
                    column.i64(9, at);
                });
            });
            group.i64(2, one * self.names.len() as u64);
            group.i64(3, rows as u64);
        });
        footer.inners(5, 1, |_, pair| {
            pair.text(1, METADATA);
            pair.text(2, &metadata.to_string());
        });
        footer.text(6, concat!("polhode ", env!("CARGO_PKG_VERSION")));
        footer.end()
    }
}

/// Writes a group behind so many others.
fn write(block: &Block, groups: u64, to: &mut Output) -> io::Result<()> {
    if groups == 0 {
        to.write_all(MAGIC)?;
    }
    let page = page(block.rows(), 8 * block.rows());
    for c in (0..block.columns()).filter(|_| block.rows() > 0) {
        to.write_all(&page)?;
        to.write_all(block.column(c))?;
    }
    Ok(())
}

impl Rows for Parquet {
    fn rows(&mut self, to: &mut Output, batch: &Batch<'_>) -> io::Result<()> {
        self.block.take(batch, |block| {
            write(block, self.groups, to)?;
            self.groups += 1;
            Ok(())
        })
    }
    fn finish(&mut self, to: &mut Output, metadata: &Value) -> io::Result<()> {
        write(&self.block, self.groups, to)?;
        let footer = self.footer(metadata);
        to.write_all(&footer)?;
        to.write_all(&(footer.len() as u32).to_le_bytes())?;
        to.write_all(MAGIC)
    }
}
