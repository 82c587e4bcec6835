//! Symmetric compositions that lift a symmetric method of order two to order 4, 6 or 8.
//!
//! Φ = φ(γ₁ h) ∘ … ∘ φ(γ_s h) with γ_i = γ_(s+1-i). The sets are those with small error constants rather than few
//! stages (Hairer, Lubich & Wanner, Geometric Numerical Integration, section V.3.2).

/// Half of a symmetric set of fractions, the middle one last, with its source.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    /// The order reached with a symmetric method of order two.
    pub order: u32,
    /// γ₁ up to the middle one.
    pub half: &'static [f64],
    /// Where the set comes from.
    pub citation: &'static str,
}

/// One set for each order.
pub(super) const SETS: [Coefficients; 3] = [
    Coefficients {
        order: 4,
        half: &[0.414_490_771_794_375_73, 0.414_490_771_794_375_73, -0.657_963_087_177_502_9],
        citation: "Suzuki 1990, Phys. Lett. A 146, 5 stages",
    },
    Coefficients {
        order: 6,
        half: &[
            0.392_161_444_007_314_139_279_250_56,
            0.332_599_136_789_359_438_599_748_64,
            -0.706_246_172_557_639_359_809_964_82,
            0.082_213_596_293_550_800_231_490_45,
            0.798_543_990_934_829_963_398_950_35,
        ],
        citation: "Kahan & Li 1997, Math. Comp. 66, 9 stages",
    },
    Coefficients {
        order: 8,
        half: &[
            0.130_202_483_088_890_080_878_817_63,
            0.561_162_981_775_108_384_561_964_41,
            -0.389_474_962_644_847_286_408_078_60,
            0.158_841_906_555_155_600_896_210_75,
            -0.395_903_894_133_237_577_336_231_54,
            0.184_539_640_978_315_707_091_832_54,
            0.258_374_387_686_322_047_293_979_11,
            0.295_011_723_609_310_298_870_966_24,
            -0.605_508_533_830_034_511_698_921_08,
        ],
        citation: "Kahan & Li 1997, Math. Comp. 66, 17 stages",
    },
];

impl Coefficients {
    /// All fractions, in order.
    pub fn fractions(&self) -> impl Iterator<Item = f64> {
        self.half.iter().chain(self.half.iter().rev().skip(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fractions_meet_the_simplest_order_conditions() {
        for set in SETS {
            let power = |p: i32| set.fractions().map(|g| g.powi(p)).sum::<f64>();
            assert!((power(1) - 1.0).abs() < 1e-15, "order {}", set.order);
            for p in (3..set.order as i32).step_by(2) {
                assert!(power(p).abs() < 1e-15, "order {}, power {p}: {:e}", set.order, power(p));
            }
        }
    }
}
