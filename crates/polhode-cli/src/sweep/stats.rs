//! Numbers of many runs in few: moments, extremes and exact quantiles, in memory that does not grow with the runs.

use super::chunk::Row;
use super::join::Joined;
use crate::failure::Failure;
use std::collections::BTreeMap;

/// The parts of the runs below a quantile.
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// What is said of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Column {
    /// How many numbers there are; runs that failed have none.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their deviation from it, of a sample.
    pub deviation: f64,
    /// The least and the largest.
    pub min: f64,
    #[allow(missing_docs, reason = "see above")]
    pub max: f64,
    /// Linear between the numbers next to each.
    pub quantiles: [f64; 5],
}

/// What is said of all rows.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Of each column.
    pub columns: Vec<Column>,
    /// Runs that came to their end.
    pub ok: u64,
    /// The others by the first word of their reason, each with the first of them.
    pub failed: BTreeMap<String, (u64, u64, String)>,
}

impl Statistics {
    /// Of rows.
    pub fn of(rows: &Joined, columns: usize) -> Result<Statistics, Failure> {
        let mut all = Statistics { columns: vec![Column::default(); columns], ..Statistics::default() };
        let mut squares = vec![0.0; columns];
        rows.each(false, &mut |k, row| {
            all.take(k, row, &mut squares);
            Ok(())
        })?;
        for (column, squares) in all.columns.iter_mut().zip(squares) {
            column.deviation = match column.count {
                0 | 1 => f64::NAN,
                n => (squares / (n - 1) as f64).sqrt(),
            };
        }
        let counts: Vec<u64> = all.columns.iter().map(|column| column.count).collect();
        let found = ranked(rows, &counts)?;
        for (column, found) in all.columns.iter_mut().zip(found) {
            column.quantiles = found;
        }
        Ok(all)
    }
    fn take(&mut self, k: u64, row: &Row, squares: &mut [f64]) {
        match row.reason.is_empty() {
            true => self.ok += 1,
            false => {
                let word = row.reason.split(':').next().unwrap_or_default().to_string();
                self.failed.entry(word).or_insert_with(|| (0, k, row.reason.clone())).0 += 1;
            }
        }
        if !row.reason.is_empty() {
            return;
        }
        for ((column, squares), x) in self.columns.iter_mut().zip(squares).zip(&row.values) {
            if x.is_nan() {
                continue;
            }
            column.count += 1;
            if column.count == 1 {
                (column.min, column.max) = (*x, *x);
            }
            (column.min, column.max) = (column.min.min(*x), column.max.max(*x));
            let off = x - column.mean;
            column.mean += off / column.count as f64;
            *squares += off * (x - column.mean);
        }
    }
    /// All runs that there are.
    pub fn there(&self) -> u64 {
        self.ok + self.failures()
    }
    /// Runs that did not come to their end.
    pub fn failures(&self) -> u64 {
        self.failed.values().map(|(count, _, _)| count).sum()
    }
}

/// A number as digits that are in the same order.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// The digits of a key, from the first on: bits behind each of them, and its own.
const DIGITS: [(u32, u32); 6] = [(53, 11), (42, 11), (31, 11), (20, 11), (9, 11), (0, 9)];

/// A number by its place in the order.
#[derive(Clone, Copy, Debug)]
struct Rank {
    /// The digits so far.
    prefix: u64,
    /// Its place among the numbers that have these.
    left: u64,
}

/// The places in the order that a quantile lies between, and how far it is from the first.
fn place(part: f64, count: u64) -> (u64, f64) {
    let at = part * (count.max(1) - 1) as f64;
    (at as u64, at.fract())
}

/// Quantiles of each column: the digits of the numbers that are looked for, one after the other, by counting.
fn ranked(rows: &Joined, counts: &[u64]) -> Result<Vec<[f64; 5]>, Failure> {
    let mut ranks: Vec<Vec<Rank>> = counts
        .iter()
        .map(|count| {
            let both = |part: &f64| {
                let (low, _) = place(*part, *count);
                [low, (low + 1).min(count.max(&1) - 1)].map(|left| Rank { prefix: 0, left })
            };
            QUANTILES.iter().flat_map(both).collect()
        })
        .collect();
    for (shift, width) in DIGITS {
        let size = 1usize << width;
        // For each column the digits so far, each once, and how many numbers have each digit behind them.
        let mut heads: Vec<Vec<u64>> =
            ranks.iter().map(|ranks| ranks.iter().map(|r| r.prefix).collect()).collect();
        for heads in &mut heads {
            heads.sort_unstable();
            heads.dedup();
        }
        let mut found: Vec<Vec<u64>> = heads.iter().map(|heads| vec![0; heads.len() * size]).collect();
        rows.each(false, &mut |_, row| {
            if !row.reason.is_empty() {
                return Ok(());
            }
            for ((heads, found), x) in heads.iter().zip(&mut found).zip(&row.values) {
                if x.is_nan() {
                    continue;
                }
                let key = key(*x);
                let prefix = key.checked_shr(shift + width).unwrap_or(0);
                if let Some(at) = heads.iter().position(|head| *head == prefix) {
                    found[at * size + (key >> shift) as usize % size] += 1;
                }
            }
            Ok(())
        })?;
        for ((ranks, heads), found) in ranks.iter_mut().zip(&heads).zip(&found) {
            for rank in ranks {
                let Some(at) = heads.iter().position(|head| *head == rank.prefix) else { continue };
                let mut digit = 0;
                while digit + 1 < size && rank.left >= found[at * size + digit] {
                    rank.left -= found[at * size + digit];
                    digit += 1;
                }
                rank.prefix = rank.prefix << width | digit as u64;
            }
        }
    }
    let of = |(ranks, count): (&Vec<Rank>, &u64)| {
        core::array::from_fn(|q| {
            let (low, high) = (value(ranks[2 * q].prefix), value(ranks[2 * q + 1].prefix));
            let (_, part) = place(QUANTILES[q], *count);
            match *count {
                0 => f64::NAN,
                // Without rounding where both are the same.
                _ if low == high || part == 0.0 => low,
                _ => low + part * (high - low),
            }
        })
    };
    Ok(ranks.iter().zip(counts).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_order() {
        let all =
            [f64::NEG_INFINITY, -1e300, -2.0, -1e-310, -0.0, 0.0, 1e-310, 1.0, 1.5, 1e300, f64::INFINITY];
        assert!(all.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert!(all.iter().all(|x| value(key(*x)).to_bits() == x.to_bits()));
        assert_eq!(DIGITS.iter().map(|(_, width)| width).sum::<u32>(), 64);
    }
}
