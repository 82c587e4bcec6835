//! What the property tests share: reproducible arguments, and constants with more digits than a literal has.
#![allow(dead_code)]

use nalgebra::Vector3;
use polhode::scalar::{Dd, Real};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in [low, high).
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }
    /// Either sign, the decimal exponent uniform in [low, high).
    pub fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        let size = 10f64.powf(self.within(low, high));
        if self.bits() & 1 == 0 { size } else { -size }
    }
    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.within(-1.0, 1.0))
    }
    pub fn axis(&mut self) -> Vector3<f64> {
        loop {
            let v = self.vector();
            if (0.1..1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }
}

/// A decimal number with up to 32 digits.
pub fn digits(text: &str) -> Dd {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (mut value, mut scale, mut fraction) = (Dd::ZERO, exponent.parse::<i32>().unwrap(), false);
    for c in mantissa.chars() {
        match c.to_digit(10) {
            Some(d) => {
                value = value * 10.0 + f64::from(d);
                scale -= i32::from(fraction);
            }
            None => fraction |= c == '.',
        }
    }
    let value = if mantissa.starts_with('-') { -value } else { value };
    let power = Dd::from(10.0).powi(scale.abs());
    if scale < 0 { value / power } else { value * power }
}

/// |a - b| over the larger of |b| and `floor`.
pub fn error(a: impl Into<Dd>, b: Dd, floor: f64) -> f64 {
    (a.into() - b).to_f64().abs() / b.to_f64().abs().max(floor)
}
