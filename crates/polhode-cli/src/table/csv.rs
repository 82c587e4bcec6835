//! Text, as everything reads it.

use super::{Batch, Rows};
use crate::files::Output;
use serde_json::Value;
use std::io::{self, Write};

/// Rows of text, without metadata: not every reader skips comment lines.
#[derive(Debug)]
pub struct Csv {
    line: Vec<u8>,
}

impl Csv {
    /// The names of the columns come before the first row.
    pub fn new(columns: &[String]) -> Self {
        Csv { line: (columns.join(",") + "\n").into_bytes() }
    }
    fn flushed(&mut self, to: &mut Output) -> io::Result<()> {
        to.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

/// Appends a number: the shortest text that reads back to the same bits, as `{:?}` writes it.
pub fn number(line: &mut Vec<u8>, x: f64) {
    match x.abs() {
        // Where both write it with the same number of zeros, or with none.
        0.0 | 1e-4..1e15 | 0.0..1e-6 if !is_tie(x) => {
            line.extend_from_slice(zmij::Buffer::new().format(x).as_bytes());
        }
        _ => line.extend_from_slice(format!("{x:?}").as_bytes()),
    }
}

/// True if a number may lie halfway between two shortest texts, of which each writer has its own choice: its digits end,
/// and are hardly more than a number can hold.
fn is_tie(x: f64) -> bool {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let whole = bits & FRACTION | (FRACTION + 1);
    let odd = whole >> whole.trailing_zeros();
    // x is `odd` over two to this power, and so `odd` times five to this power over ten to it.
    let power = 1075 - (bits >> 52 & 0x7ff) as i32 - whole.trailing_zeros() as i32;
    (1..=25).contains(&power) && odd as f64 * 5f64.powi(power) >= 1e15
}

impl Rows for Csv {
    fn rows(&mut self, to: &mut Output, batch: &Batch<'_>) -> io::Result<()> {
        for row in batch.rows() {
            for x in row.values() {
                number(&mut self.line, x);
                self.line.push(b',');
            }
            if let Some(last) = self.line.last_mut() {
                *last = b'\n';
            }
            self.flushed(to)?;
        }
        Ok(())
    }
    fn finish(&mut self, to: &mut Output, _: &Value) -> io::Result<()> {
        self.flushed(to)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_written_as_debug_writes_them() {
        let mut bits = 1u64;
        let edges =
            [0.0, -0.0, 1e-5, 1.5e-5, 1e-4, 0.1, 1e15, 1e16, 1.25e16, 1e17, 5e-324, f64::MAX, 123456789.0];
        let random = (0..200_000).map(|i| {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Half of them of everyday size.
            match i % 2 {
                0 => f64::from_bits(bits),
                _ => (bits >> 11) as f64 * 1e-12 * if bits & 1 == 0 { 1.0 } else { -1e-6 },
            }
        });
        let fractions = (0..60_000u32).map(|i| f64::from(i % 3000) / 2f64.powi((i / 1500) as i32));
        for x in edges.into_iter().chain(random).chain(fractions).filter(|x| x.is_finite()) {
            let mut line = Vec::new();
            super::number(&mut line, x);
            assert_eq!(String::from_utf8(line).unwrap(), format!("{x:?}"));
        }
    }
}
