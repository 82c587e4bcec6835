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
    bytes: Vec<u8>,
}

impl Block {
    /// For rows of so many numbers.
    pub fn new(columns: usize) -> Self {
        // An odd number of cache lines between columns keeps them from pushing each other out.
        let capacity = (BYTES / (8 * columns.max(1))).clamp(8, ROWS) / 16 * 16 + 8;
        Block { columns, capacity, rows: 0, bytes: vec![0; 8 * columns * capacity] }
    }
    /// Takes a row; true if no other fits.
    pub fn push(&mut self, row: &Row<'_>) -> bool {
        let at = 8 * self.rows;
        let columns = self.bytes.chunks_exact_mut(8 * self.capacity);
        for (numbers, column) in columns.zip(row.chosen) {
            numbers[at..at + 8].copy_from_slice(&row.all[*column].to_le_bytes());
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
        &self.bytes[8 * column * self.capacity..][..8 * self.rows]
    }
    /// Room for the numbers of a column of so many rows, which it has from now on.
    #[allow(dead_code, reason = "for runs that go on from a checkpoint")]
    pub fn column_mut(&mut self, column: usize, rows: usize) -> &mut [u8] {
        self.rows = rows;
        &mut self.bytes[8 * column * self.capacity..][..8 * rows]
    }
    /// Forgets its rows.
    pub fn clear(&mut self) {
        self.rows = 0;
    }
}
