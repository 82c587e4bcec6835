//! Numbers by counters: Philox4x64-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011).

const MULTIPLIERS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];
const WEYL: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];
const ROUNDS: usize = 10;

fn product(a: u64, b: u64) -> (u64, u64) {
    let whole = u128::from(a) * u128::from(b);
    ((whole >> 64) as u64, whole as u64)
}

/// The four words of a counter under a key.
pub fn philox(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for _ in 0..ROUNDS {
        let (high0, low0) = product(MULTIPLIERS[0], counter[0]);
        let (high1, low1) = product(MULTIPLIERS[1], counter[2]);
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// A number between zero and one, neither of which it ever is.
pub fn open_unit(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // Of the authors' Random123, kat_vectors.
        assert_eq!(
            philox([0; 4], [0; 2]),
            [0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b]
        );
        assert_eq!(
            philox([u64::MAX; 4], [u64::MAX; 2]),
            [0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0]
        );
        assert!(open_unit(0) > 0.0 && open_unit(u64::MAX) < 1.0);
    }
}
