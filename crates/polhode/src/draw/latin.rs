//! Permutations by counters: place k of a permutation without the others, for Latin hypercubes of any size.

use super::philox::philox;

const ROUNDS: u64 = 8;

/// Where `k` of `0..count` goes under the permutation that a key and a number name: a Feistel network over the next power of
/// four, repeated until it comes to a place that there is.
pub fn permuted(k: u64, count: u64, key: [u64; 2], number: u64, stream: u64) -> u64 {
    let bits = (u64::BITS - count.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << bits) - 1;
    let mut at = k;
    loop {
        let (mut left, mut right) = (at >> bits, at & mask);
        for round in 0..ROUNDS {
            let word = philox([right, number, stream, round], key)[0];
            (left, right) = (right, left ^ (word & mask));
        }
        at = left << bits | right;
        if at < count {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::permuted;

    #[test]
    fn every_place_is_met_once() {
        for count in [1, 2, 3, 4, 5, 16, 17, 1000] {
            for number in 0..3 {
                let mut all: Vec<u64> = (0..count).map(|k| permuted(k, count, [7, 0], number, 2)).collect();
                let moved = all.iter().enumerate().any(|(k, at)| k as u64 != *at);
                assert!(moved || count < 17);
                all.sort_unstable();
                assert!(all.into_iter().eq(0..count), "{count}");
            }
        }
    }
}
