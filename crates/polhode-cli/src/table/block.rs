//! Rows by columns, as many as fit into some megabytes.

use super::Row;

/// Bytes of a block; few in tests, so that they have several.
const BYTES: usize = if cfg!(test) { 1 << 16 } else { 16 << 20 };
/// The most rows of one.
const ROWS: usize = 1 << 17;

/// Numbers of several rows, each column in one piece, as little-endian bytes.
#[derive(Debug)]
pub struct Block {
    columns: usize,
    capacity: usize,
    rows: usize,
    numbers: Vec<[u8; 8]>,
}

impl Block {
    /// For rows of so many numbers.
    pub fn new(columns: usize) -> Self {
        // An odd number of cache lines between columns keeps them from pushing each other out.
        let capacity = (BYTES / (8 * columns.max(1))).clamp(8, ROWS) / 16 * 16 + 8;
        Block { columns, capacity, rows: 0, numbers: vec![[0; 8]; columns * capacity] }
    }
    /// Takes a row; true if no other fits.
    pub fn push(&mut self, row: &Row<'_>) -> bool {
        let mut at = self.rows;
        for column in row.chosen {
            self.numbers[at] = row.all[*column].to_le_bytes();
            at += self.capacity;
        }
        self.rows += 1;
        self.rows == self.capacity
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
    /// Room for the numbers of a column of so many rows, which it has from now on.
    pub fn column_mut(&mut self, column: usize, rows: usize) -> &mut [u8] {
        self.rows = rows;
        self.numbers[column * self.capacity..][..rows].as_flattened_mut()
    }
    /// Forgets its rows.
    pub fn clear(&mut self) {
        self.rows = 0;
    }
}
