//! The factor between a standard error and half a 95 % interval.

use core::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The two-sided 95 % point of the normal distribution.
pub(crate) const NORMAL: f64 = 1.959_963_984_540_054;

/// From here on the expansion for many degrees of freedom is as good as the sum.
const MANY: usize = 300;

/// The two-sided 95 % point of Student's t with `freedom` degrees of freedom (Abramowitz & Stegun 26.7.3-5).
pub(crate) fn student(freedom: usize) -> f64 {
    let nu = freedom as f64;
    if freedom == 0 {
        return f64::INFINITY;
    }
    if freedom >= MANY {
        let x = NORMAL;
        let p = |k: i32| x.powi(k);
        let terms = [
            (p(3) + x) / 4.0,
            (5.0 * p(5) + 16.0 * p(3) + 3.0 * x) / 96.0,
            (3.0 * p(7) + 19.0 * p(5) + 17.0 * p(3) - 15.0 * x) / 384.0,
            (79.0 * p(9) + 776.0 * p(7) + 1482.0 * p(5) - 1920.0 * p(3) - 945.0 * x) / 92160.0,
        ];
        return terms.iter().rev().fold(0.0, |sum, t| (sum + t) / nu) + x;
    }
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    nu.sqrt() * low.tan()
}

/// The probability that |t| is below √ν tan θ, a finite sum for whole ν.
fn within(theta: f64, freedom: usize) -> f64 {
    let (sine, cosine) = theta.sin_cos();
    let odd = freedom % 2 == 1;
    // First term of the sum in powers of the cosine, and the power it has.
    let (mut term, mut power) = if odd { (cosine, 1) } else { (1.0, 0) };
    let mut sum = 0.0;
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
    }
    if odd { FRAC_2_PI * (theta + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (1, 12.706_204_736_175),
            (2, 4.302_652_729_749),
            (3, 3.182_446_305_284),
            (4, 2.776_445_105_198),
            (5, 2.570_581_835_636),
            (10, 2.228_138_851_986),
            (30, 2.042_272_456_301),
            (100, 1.983_971_518_524),
        ];
        for (freedom, expected) in table {
            assert!(
                (student(freedom) - expected).abs() < 2e-12 * expected,
                "{freedom}: {}",
                student(freedom)
            );
        }
    }

    #[test]
    fn the_expansion_continues_the_sum() {
        for freedom in [MANY, MANY + 1, 1000] {
            let nu = freedom as f64;
            let theta = (student(freedom) / nu.sqrt()).atan();
            assert!((within(theta, freedom) - 0.95).abs() < 1e-13);
        }
        assert!((student(1_000_000_000) - NORMAL).abs() < 1e-8);
    }
}
