//! The work of what stores no energy, from its power at the ends of the steps.

use crate::archive::kept;
use crate::scalar::Real;

/// How many powers are kept.
const KEPT: usize = 5;

/// Work as the integral of the power: over each step that of the polynomial through the powers at its ends and at those of
/// up to four steps before it (the formulas of Adams and Moulton).
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkMeter<S> {
    /// The work so far.
    pub(crate) work: S,
    /// The powers at the ends of the last steps, the last one first, of which `count` are known.
    powers: [S; KEPT],
    count: usize,
    /// The size of the last step.
    h: f64,
}

/// What the powers count, the one at the end of the step first.
const WEIGHTS: [&[f64]; KEPT] = [
    &[1.0 / 2.0, 1.0 / 2.0],
    &[5.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0],
    &[9.0 / 24.0, 19.0 / 24.0, -5.0 / 24.0, 1.0 / 24.0],
    &[251.0 / 720.0, 646.0 / 720.0, -264.0 / 720.0, 106.0 / 720.0, -19.0 / 720.0],
    &[475.0 / 1440.0, 1427.0 / 1440.0, -798.0 / 1440.0, 482.0 / 1440.0, -173.0 / 1440.0, 27.0 / 1440.0],
];

impl<S: Real> WorkMeter<S> {
    /// At the start, with the power there.
    pub(crate) fn new(power: S) -> Self {
        let mut powers = [S::zero(); KEPT];
        powers[0] = power;
        WorkMeter { work: S::zero(), powers, count: 1, h: f64::NAN }
    }
    /// The power at the end of the last step.
    pub(crate) fn power(&self) -> S {
        self.powers[0]
    }
    /// Goes on with another power, where that jumps.
    pub(crate) fn restart(&mut self, power: S) {
        self.powers[0] = power;
        self.count = 1;
    }
    /// One step, with the work of it.
    pub(crate) fn add(&mut self, h: S, work: S) {
        self.work += work;
        self.powers[0] = work / h;
    }
    /// One part of a composition, with the power at its end: symmetric, so that its order is that of the composition.
    pub(crate) fn part(&mut self, h: S, power: S) {
        self.count = 1;
        self.h = h.largest();
        self.step(h, power);
    }
    /// One step, with the power at its end.
    pub(crate) fn step(&mut self, h: S, power: S) {
        let size = h.largest();
        if (size - self.h).abs() > 1e-9 * size.abs() || self.h.is_nan() {
            self.count = self.count.min(1);
        }
        self.h = size;
        let weights = WEIGHTS[self.count.clamp(1, KEPT) - 1];
        let mut sum = power * S::lift(weights[0]);
        for (known, weight) in self.powers.iter().zip(&weights[1..]) {
            sum += *known * S::lift(*weight);
        }
        self.work += sum * h;
        self.powers.rotate_right(1);
        self.powers[0] = power;
        self.count = (self.count + 1).min(KEPT);
    }
}

kept!(WorkMeter<f64> { work, powers, count, h });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_that_are_polynomials_are_integrated_exactly_once_enough_are_known() {
        let power = |t: f64| 1.0 + t - 3.0 * t * t + 0.5 * t * t * t - 0.2 * t.powi(4) + 0.01 * t.powi(5);
        let h = 0.1;
        let mut meter = WorkMeter::new(power(0.0));
        for n in 1..=5 {
            meter.step(h, power(h * f64::from(n)));
        }
        let start = meter.work;
        for n in 6..=20 {
            meter.step(h, power(h * f64::from(n)));
        }
        let whole = |t: f64| {
            t + t * t / 2.0 - t.powi(3) + 0.125 * t.powi(4) - 0.04 * t.powi(5) + 0.01 / 6.0 * t.powi(6)
        };
        assert!((meter.work - start - (whole(2.0) - whole(0.5))).abs() < 1e-13);
        // Steps of another size start anew, with two powers.
        let before = meter.work;
        meter.step(0.2, power(2.2));
        assert!((meter.work - before - 0.1 * (power(2.0) + power(2.2))).abs() < 1e-13);
    }
}
