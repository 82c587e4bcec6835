//! Extrapolation for y' = f(t, y) in double-double numbers (Gragg, Bulirsch, Stoer), with variable step and
//! order.
//!
//! Symbols: H the basic step; n_j = 2j the number of midpoint substeps of row j (harmonic sequence); T(j, i) the
//! extrapolation table, of order 2i in H. Source: Hairer, Nørsett, Wanner, Solving Ordinary Differential
//! Equations I, sections II.8 and II.9; no smoothing step, since n_j is even and nothing here is stiff.

use crate::lookup::plain;
use crate::scalar::{Dd, Real};
use core::fmt;

/// The highest row of the table; order 26.
const ROWS: usize = 13;
/// A step is never made smaller than this times the time it starts from.
const SMALLEST: f64 = 1e-28;

/// A finished integration.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The state at the end.
    pub y: Vec<Dd>,
    /// How many times the right-hand side was evaluated.
    pub evaluations: u64,
    /// How many steps were accepted.
    pub steps: u64,
}

/// Why an integration ended early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntegrationError {
    /// The allowed number of evaluations was used up.
    Budget {
        /// The time reached.
        reached: f64,
    },
    /// The state, or an argument, is not a finite number.
    NotFinite {
        /// The time reached.
        reached: f64,
    },
    /// No step is small enough for the tolerance.
    StepTooSmall {
        /// The time reached.
        reached: f64,
    },
}

impl fmt::Display for IntegrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntegrationError::Budget { reached } => {
                write!(f, "the budget of evaluations was used up at t = {}", plain(*reached))
            }
            IntegrationError::NotFinite { reached } => {
                write!(f, "the state is not a finite number after t = {}", plain(*reached))
            }
            IntegrationError::StepTooSmall { reached } => {
                write!(f, "no step is small enough for the tolerance at t = {}", plain(*reached))
            }
        }
    }
}

impl std::error::Error for IntegrationError {}

/// f of y' = f(t, y): takes t and y, fills y'.
pub type RightHandSide<'a> = dyn FnMut(Dd, &[Dd], &mut [Dd]) + 'a;

/// A tolerance that leaves some digits between the result and the arithmetic.
pub const TOLERANCE: f64 = 1e-24;

/// Integrates from `t0` to `t1` (on either side of `t0`). `tolerance` bounds the error of each step relative to
/// the largest component of the state; [`TOLERANCE`] is a good choice, and values below 1e-29 are raised to it.
///
/// ```
/// use polhode::reference::integrate;
/// use polhode::scalar::Dd;
/// let mut rhs = |_: Dd, y: &[Dd], dy: &mut [Dd]| dy[0] = -y[0];
/// let end = integrate(&mut rhs, 0.0, 1.0, &[Dd::E], 1e-24, 10_000)?;
/// assert!((end.y[0] - Dd::ONE).to_f64().abs() < 1e-23);
/// # Ok::<(), polhode::reference::IntegrationError>(())
/// ```
pub fn integrate(
    rhs: &mut RightHandSide<'_>,
    t0: f64,
    t1: f64,
    y0: &[Dd],
    tolerance: f64,
    max_evaluations: u64,
) -> Result<Solution, IntegrationError> {
    let tolerance = tolerance.max(1e-29);
    let mut solution = Solution { y: y0.to_vec(), evaluations: 0, steps: 0 };
    if !(t0.is_finite() && t1.is_finite() && tolerance.is_finite() && all_finite(y0)) {
        return Err(IntegrationError::NotFinite { reached: t0 });
    }
    if t0 == t1 || y0.is_empty() {
        return Ok(solution);
    }
    let (mut t, end) = (Dd::from(t0), Dd::from(t1));
    let mut table = Table::new(y0.len());
    let mut target = ((-tolerance.log10() / 2.0) as usize).clamp(4, ROWS - 1);
    rhs(t, &solution.y, &mut table.slope);
    solution.evaluations = 1;
    // A first guess; wrong by a factor of a thousand costs a few rejected steps.
    let speed = largest(&table.slope) / largest(&solution.y).max(f64::MIN_POSITIVE);
    let whole = (end - t).to_f64();
    let mut h = if speed > 0.0 { (0.5 / speed).min(whole.abs()).copysign(whole) } else { whole };
    let mut shrunk = false;
    loop {
        let remaining = end - t;
        let last = h.abs() >= remaining.to_f64().abs();
        let step = if last { remaining } else { Dd::from(h) };
        h = step.to_f64();
        let stop = |error: fn(f64) -> IntegrationError| Err(error(t.to_f64()));
        if solution.evaluations >= max_evaluations {
            return stop(|reached| IntegrationError::Budget { reached });
        }
        if h.abs() <= SMALLEST * t.to_f64().abs().max(f64::MIN_POSITIVE) {
            return stop(|reached| IntegrationError::StepTooSmall { reached });
        }
        let size = largest(&solution.y).max(f64::MIN_POSITIVE) * tolerance;
        // Per row: the step that would just meet the tolerance there, and the work per time.
        let (mut fitting, mut work) = ([0.0; ROWS + 1], [f64::INFINITY; ROWS + 1]);
        let (mut reached, mut accepted, mut finite) = (0, false, true);
        for row in 1..=(target + 1).min(ROWS) {
            solution.evaluations += table.add_row(row, rhs, t, &solution.y, step);
            reached = row;
            finite = all_finite(&table.rows[row - 1][row - 1]);
            if !finite {
                break;
            }
            if row < 2 {
                continue;
            }
            let error = table.difference(row) / size;
            fitting[row] = h.abs() * 0.9 * (0.3 / error.max(1e-30)).powf(1.0 / (2 * row - 1) as f64).min(8.0);
            work[row] = cost(row) / fitting[row];
            if error <= 1.0 && row + 1 >= target {
                accepted = true;
                break;
            }
        }
        if !finite {
            // A step too long may leave the domain; a state that is bad for any step is the end.
            h *= 0.1;
            shrunk = true;
            if h.abs() < 1e-12 * whole.abs() {
                return stop(|reached| IntegrationError::NotFinite { reached });
            }
            continue;
        }
        let best = (2..=reached).fold(reached, |best, row| if work[row] < work[best] { row } else { best });
        let mut next = fitting[best].min(whole.abs());
        if accepted {
            solution.y.copy_from_slice(&table.rows[reached - 1][reached - 1]);
            solution.steps += 1;
            if last {
                return Ok(solution);
            }
            t += step;
            rhs(t, &solution.y, &mut table.slope);
            solution.evaluations += 1;
            target = best.clamp(3, ROWS - 1);
            if best == reached && best < ROWS - 1 {
                // One more row might pay: its step is guessed from the work done so far.
                target = best + 1;
                next *= cost(target) / cost(best);
            }
            if shrunk {
                next = next.min(h.abs());
            }
        } else {
            target = best.clamp(3, ROWS - 1);
            next = next.min(0.7 * h.abs());
        }
        shrunk = !accepted;
        h = next.copysign(h);
    }
}

/// Evaluations up to a row.
fn cost(row: usize) -> f64 {
    (row * row + 1) as f64
}

fn largest(v: &[Dd]) -> f64 {
    v.iter().fold(0.0, |m: f64, x| m.max(x.to_f64().abs()))
}

fn all_finite(v: &[Dd]) -> bool {
    v.iter().all(|x| x.is_finite())
}

/// The extrapolation table and the work space of the midpoint rule.
struct Table {
    /// `rows[j][i]` is T(j + 1, i + 1).
    rows: Vec<Vec<Vec<Dd>>>,
    /// f at the start of the step.
    slope: Vec<Dd>,
    before: Vec<Dd>,
    now: Vec<Dd>,
    rate: Vec<Dd>,
}

impl Table {
    fn new(n: usize) -> Table {
        let zeros = vec![Dd::ZERO; n];
        Table {
            rows: (1..=ROWS).map(|j| vec![zeros.clone(); j]).collect(),
            slope: zeros.clone(),
            before: zeros.clone(),
            now: zeros.clone(),
            rate: zeros,
        }
    }

    /// Fills row `row` (from 1) and returns the number of evaluations.
    fn add_row(&mut self, row: usize, rhs: &mut RightHandSide<'_>, t: Dd, y: &[Dd], step: Dd) -> u64 {
        let substeps = 2 * row;
        let h = step / substeps as f64;
        let twice = h * 2.0;
        self.before.copy_from_slice(y);
        for (now, (y, slope)) in self.now.iter_mut().zip(y.iter().zip(&self.slope)) {
            *now = *y + h * *slope;
        }
        for k in 1..substeps {
            rhs(t + h * k as f64, &self.now, &mut self.rate);
            for (before, rate) in self.before.iter_mut().zip(&self.rate) {
                *before += twice * *rate;
            }
            core::mem::swap(&mut self.before, &mut self.now);
        }
        let j = row - 1;
        self.rows[j][0].copy_from_slice(&self.now);
        for i in 1..row {
            // 1/((n_j/n_{j-i})² - 1), an exact ratio of integers.
            let (nj, ni) = (row * row, (row - i) * (row - i));
            let factor = Dd::from(ni as f64) / (nj - ni) as f64;
            let (above, current) = self.rows.split_at_mut(j);
            let (done, open) = current[0].split_at_mut(i);
            let terms = done[i - 1].iter().zip(&above[j - 1][i - 1]);
            for (out, (new, old)) in open[0].iter_mut().zip(terms) {
                *out = *new + factor * (*new - *old);
            }
        }
        substeps as u64 - 1
    }

    /// The size of T(j, j) - T(j, j - 1), the estimate of the error of the latter.
    fn difference(&self, row: usize) -> f64 {
        let (best, second) = (&self.rows[row - 1][row - 1], &self.rows[row - 1][row - 2]);
        best.iter().zip(second).fold(0.0, |m: f64, (a, b)| m.max((*a - *b).to_f64().abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oscillator(_: Dd, y: &[Dd], dy: &mut [Dd]) {
        dy[0] = y[1];
        dy[1] = -y[0];
    }

    #[test]
    fn oscillator_forward_and_backward() {
        for (t, tolerance) in [(30.0, 1e-24), (-30.0, 1e-24), (30.0, 1e-10), (1e-3, 1e-28)] {
            let y0 = [Dd::ZERO, Dd::ONE];
            let end = integrate(&mut oscillator, 0.0, t, &y0, tolerance, 100_000).unwrap();
            let (s, c) = Dd::from(t).sin_cos();
            let error = largest(&[end.y[0] - s, end.y[1] - c]);
            assert!(
                error < 100.0 * tolerance,
                "{t} {tolerance}: {error:e} after {} evaluations",
                end.evaluations
            );
            assert!(end.evaluations < 10_000);
        }
    }

    #[test]
    fn time_dependence_and_a_steep_place() {
        // y = 1/(1 + 400 (t - 1)²): the step has to shrink and to grow again.
        let mut rhs = |t: Dd, y: &[Dd], dy: &mut [Dd]| dy[0] = -(t - 1.0) * 800.0 * y[0] * y[0];
        let end = integrate(&mut rhs, 0.0, 3.0, &[Dd::ONE / 401.0], 1e-26, 1_000_000).unwrap();
        let error = (end.y[0] * 1601.0 - 1.0).abs().to_f64();
        assert!(error < 1e-18, "{error:e} after {} evaluations", end.evaluations);
        assert!(end.steps > 5);
    }

    #[test]
    fn ends_early_with_a_reason() {
        let budget = integrate(&mut oscillator, 0.0, 1e6, &[Dd::ONE, Dd::ZERO], 1e-24, 5_000).unwrap_err();
        assert!(matches!(budget, IntegrationError::Budget { reached } if reached > 1.0));
        assert!(budget.to_string().contains("budget"));
        let mut blow_up = |_: Dd, y: &[Dd], dy: &mut [Dd]| dy[0] = y[0] * y[0];
        let end = integrate(&mut blow_up, 0.0, 2.0, &[Dd::ONE], 1e-20, 1_000_000).unwrap_err();
        assert!(matches!(end, IntegrationError::StepTooSmall { reached } if reached > 0.99), "{end}");
        let mut bad = |_: Dd, _: &[Dd], dy: &mut [Dd]| dy[0] = Dd::from(f64::NAN);
        let end = integrate(&mut bad, 0.0, 2.0, &[Dd::ONE], 1e-20, 1_000_000).unwrap_err();
        assert!(matches!(end, IntegrationError::NotFinite { .. }), "{end}");
        let still = integrate(&mut oscillator, 1.0, 1.0, &[Dd::ONE, Dd::ZERO], 1e-20, 1).unwrap();
        assert_eq!(still.evaluations, 0);
    }
}
