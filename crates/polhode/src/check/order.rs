//! The order of convergence that errors show.

use core::fmt;

/// Where errors stop to say something about the method, because round-off takes over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plateau {
    /// Errors up to this are round-off.
    At(f64),
    /// Round-off begins where errors stop shrinking as they did: where the order between neighbours falls below
    /// four fifths of what it was at larger steps, or below a half. Errors up to ten times that level are left
    /// out.
    Detect,
}

/// The order that a list of errors shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The slope of the straight line through all usable points, in logarithms, by least squares.
    pub slope: f64,
    /// The order between neighbouring usable points, from large steps to small ones.
    pub pairs: Vec<f64>,
    /// The (step, error) points above the plateau, from large steps to small ones.
    pub points: Vec<(f64, f64)>,
}

/// Why errors show no order.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderError {
    /// A line needs three points above the plateau.
    TooFew {
        /// How many there are.
        usable: usize,
        /// How many were given.
        given: usize,
        /// The level below which an error counts as round-off.
        plateau: f64,
    },
    /// A step or error is not a positive finite number, or a step occurs twice.
    Point {
        /// The step.
        step: f64,
        /// Its error.
        error: f64,
    },
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { usable, given, plateau } => write!(
                f,
                "an order needs three errors above the round-off plateau of {plateau:.1e}, {usable} of {given} are; \
                 add larger steps"
            ),
            Self::Point { step, error } => write!(
                f,
                "steps must be positive and distinct and errors finite, got step {step} with error {error}"
            ),
        }
    }
}

impl std::error::Error for OrderError {}

/// A decrease slower than this power of the step shows no order.
const STALLED: f64 = 0.5;
/// A decrease slower than this part of what it was before is round-off already.
const FADING: f64 = 0.8;

/// The observed order from (step, error) points in any sequence.
///
/// ```
/// use polhode::check::{Plateau, order};
/// let points: Vec<(f64, f64)> = (0..8).map(|k| 0.1 / f64::from(1 << k)).map(|h| (h, 3.0 * h.powi(4) + 1e-12)).collect();
/// let found = order(&points, Plateau::Detect)?;
/// assert!((found.slope - 4.0).abs() < 0.01);
/// assert!(order(&points[5..], Plateau::At(1e-10)).is_err());
/// # Ok::<(), polhode::check::OrderError>(())
/// ```
pub fn order(points: &[(f64, f64)], plateau: Plateau) -> Result<Order, OrderError> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (i, &(step, error)) in sorted.iter().enumerate() {
        let twice = i > 0 && sorted[i - 1].0 == step;
        if !(step.is_finite() && step > 0.0 && error.is_finite() && error >= 0.0) || twice {
            return Err(OrderError::Point { step, error });
        }
    }
    let rate = |a: (f64, f64), b: (f64, f64)| (a.1 / b.1).ln() / (a.0 / b.0).ln();
    let level = match plateau {
        Plateau::At(level) => level,
        Plateau::Detect => {
            let mut best = 0.0f64;
            let stall = sorted.windows(2).position(|w| {
                let (now, before) = (rate(w[0], w[1]), best);
                best = best.max(now);
                w[0].1 == 0.0 || now < STALLED.max(FADING * before)
            });
            stall.map_or(0.0, |i| 10.0 * sorted[i..].iter().fold(0.0f64, |m, p| m.max(p.1)))
        }
    };
    let usable: Vec<(f64, f64)> = sorted.into_iter().take_while(|p| p.1 > level).collect();
    if usable.len() < 3 {
        return Err(OrderError::TooFew { usable: usable.len(), given: points.len(), plateau: level });
    }
    let n = usable.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| usable.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0.ln()), mean(|p| p.1.ln()));
    let (mut xx, mut xy) = (0.0, 0.0);
    for (step, error) in &usable {
        xx += (step.ln() - x).powi(2);
        xy += (step.ln() - x) * (error.ln() - y);
    }
    let pairs = usable.windows(2).map(|w| rate(w[0], w[1])).collect();
    Ok(Order { slope: xy / xx, pairs, points: usable })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(power: i32, floor: f64) -> Vec<(f64, f64)> {
        (0..10).map(|k| 0.1 / f64::from(1 << k)).map(|h| (h, 2.0 * h.powi(power) + floor)).collect()
    }

    #[test]
    fn powers_are_found_above_a_plateau_in_any_sequence() {
        for power in 1..=7 {
            let mut points = model(power, 1e-14);
            points.reverse();
            for plateau in [Plateau::Detect, Plateau::At(1e-12)] {
                let found = order(&points, plateau).unwrap();
                assert!((found.slope - f64::from(power)).abs() < 0.05, "{power} {found:?}");
                assert!(found.pairs.len() + 1 == found.points.len() && found.points[0].0 == 0.1);
            }
        }
    }

    #[test]
    fn a_plateau_alone_has_no_order() {
        let flat: Vec<(f64, f64)> = model(4, 0.0).iter().map(|p| (p.0, 1e-15)).collect();
        let error = order(&flat, Plateau::Detect).unwrap_err();
        assert!(matches!(error, OrderError::TooFew { usable: 0, given: 10, .. }));
        assert!(error.to_string().contains("three errors above"));
        assert!(matches!(order(&model(2, 0.0)[..2], Plateau::Detect), Err(OrderError::TooFew { .. })));
    }

    #[test]
    fn points_that_make_no_sense_are_refused() {
        for bad in [(0.0, 1.0), (-0.1, 1.0), (f64::NAN, 1.0), (0.2, f64::NAN), (0.2, -1.0), (0.1, 1.0)] {
            let mut points = model(2, 0.0);
            points.push(bad);
            assert!(matches!(order(&points, Plateau::Detect), Err(OrderError::Point { .. })), "{bad:?}");
        }
    }
}
