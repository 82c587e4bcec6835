//! Rows by columns, as many as fit into some megabytes.

use super::Batch;
use std::io;

/// Bytes of a large block; few in tests, so that they have several.
const LARGE: usize = if cfg!(test) { 1 << 16 } else { 16 << 20 };
/// Bytes of a small one, which stays in a cache while it is filled.
const SMALL: usize = if cfg!(test) { 1 << 12 } else { 1 << 20 };
/// The most rows of one, and those of a small one that are worth a read of their own.
const ROWS: usize = 1 << 17;
const FEW: usize = if cfg!(test) { 8 } else { 4096 };

/// Numbers of several rows, each column in one piece, as little-endian bytes.
#[derive(Debug)]
pub struct Block {
    columns: usize,
    capacity: usize,
    rows: usize,
    numbers: Vec<[u8; 8]>,
}

impl Block {
    /// For rows of so many numbers, as many as are good to read at once.
    pub fn large(columns: usize) -> Self {
        Block::new(columns, (LARGE / (8 * columns.max(1))).clamp(8, ROWS))
    }
    /// The same with fewer rows, where nobody sees how many there are.
    pub fn small(columns: usize) -> Self {
        let most = (LARGE / (8 * columns.max(1))).clamp(8, ROWS);
        Block::new(columns, (SMALL / (8 * columns.max(1))).max(FEW).min(most))
    }
    fn new(columns: usize, about: usize) -> Self {
        // An odd number of cache lines between columns keeps them from pushing each other out.
        let capacity = about / 16 * 16 + 8;
        Block { columns, capacity, rows: 0, numbers: vec![[0; 8]; columns * capacity] }
    }
    /// Takes rows; whenever no other fits, `spill` sees them all before they make way.
    pub fn take(
        &mut self,
        batch: &Batch<'_>,
        mut spill: impl FnMut(&Block) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut rest = batch.all;
        while !rest.is_empty() {
            let fits = (self.capacity - self.rows) * batch.width;
            let (rows, later) = rest.split_at(fits.min(rest.len()));
            rest = later;
            for (c, column) in batch.chosen.iter().enumerate() {
                let numbers = &mut self.numbers[c * self.capacity + self.rows..];
                for (number, row) in numbers.iter_mut().zip(rows.chunks_exact(batch.width)) {
                    *number = row[*column].to_le_bytes();
                }
            }
            self.rows += rows.len() / batch.width;
            if self.rows == self.capacity {
                spill(self)?;
                self.rows = 0;
            }
        }
        Ok(())
    }
    /// Its rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// The most rows that it takes.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
    /// Its columns.
    pub fn columns(&self) -> usize {
        self.columns
    }
    /// The numbers of a column.
    pub fn column(&self, column: usize) -> &[u8] {
        self.numbers[column * self.capacity..][..self.rows].as_flattened()
    }
}
