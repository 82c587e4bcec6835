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
        half: &[0.4144907717943757, 0.4144907717943757, -0.6579630871775028],
        citation: "Suzuki 1990, Phys. Lett. A 146, 5 stages",
    },
    Coefficients {
        order: 6,
        half: &[
            0.3921614440073141,
            0.33259913678935943,
            -0.7062461725576393,
            0.0822135962935508,
            0.79854399093483,
        ],
        citation: "Kahan & Li 1997, Math. Comp. 66, 9 stages",
    },
    Coefficients {
        order: 8,
        half: &[
            0.13020248308889007,
            0.5611629817751084,
            -0.38947496264484727,
            0.1588419065551556,
            -0.39590389413323757,
            0.1845396409783157,
            0.25837438768632204,
            0.2950117236093103,
            -0.6055085338300346,
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
