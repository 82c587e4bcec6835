//! Measured samples.

use super::IdentifyError;
use crate::lookup::plain;
use crate::run::PlanError;

/// A time may be off its place in the grid of steps by this part of a step.
const OFF: f64 = 1e-6;
/// Steps on which all times lie are looked for down to this part of the longest that would do.
const PARTS: f64 = 16.0;
/// Rows that a number between two steps is read off.
pub(super) const ROWS: usize = 6;

/// Columns of numbers that were measured at the same times.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    times: Vec<f64>,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Samples {
    /// Samples at growing times, each column with its name and one number for each time, NaN where a sample is missing.
    pub fn new(times: Vec<f64>, columns: Vec<(String, Vec<f64>)>) -> Result<Samples, IdentifyError> {
        let wrong = |text: String| Err(IdentifyError::Samples(text));
        for (i, t) in times.iter().enumerate() {
            if !(t.is_finite() && *t >= 0.0) {
                return wrong(format!(
                    "the time of sample {} is {}; times are finite and not negative",
                    i + 1,
                    plain(*t)
                ));
            }
            if i > 0 && *t <= times[i - 1] {
                return wrong(format!(
                    "the time of sample {} is {}, not after {}; times must grow",
                    i + 1,
                    plain(*t),
                    plain(times[i - 1])
                ));
            }
        }
        for (k, (name, values)) in columns.iter().enumerate() {
            if columns[..k].iter().any(|(other, _)| other == name) {
                return wrong(format!("there are two columns {name}; rename or remove one"));
            }
            if values.len() != times.len() {
                let (found, needed) = (values.len(), times.len());
                return wrong(format!("the column {name} has {found} numbers for {needed} times"));
            }
            if let Some(i) = values.iter().position(|x| x.is_infinite()) {
                return wrong(format!("{name} of sample {} is {}; it must be finite", i + 1, values[i]));
            }
            if let Some(i) = values.iter().position(|x| (x * x).is_infinite()) {
                return wrong(format!(
                    "{name} of sample {} is {:e}, whose square is beyond all numbers; check its unit",
                    i + 1,
                    values[i]
                ));
            }
        }
        if times.last().is_none_or(|last| *last <= 0.0) {
            return wrong("there is no sample after t = 0; a motion needs at least one".into());
        }
        let (names, columns) = columns.into_iter().unzip();
        Ok(Samples { times, names, columns })
    }
    /// The times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }
    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let i = self.names.iter().position(|n| n == name)?;
        Some(&self.columns[i])
    }

    /// A step for these samples: the largest that is at most `most` and whose multiples all times are, where sampling was
    /// regular; for times with jitter `most`, or what lies between two samples if they are denser.
    ///
    /// ```
    /// use polhode::identify::Samples;
    /// let at = |times: &[f64]| Samples::new(times.to_vec(), Vec::new());
    /// assert!((at(&[0.0, 0.01, 0.02, 0.03])?.step(0.004)? - 0.01 / 3.0).abs() < 1e-15);
    /// assert_eq!(at(&[0.0, 0.01, 0.025])?.step(0.004)?, 0.0025);
    /// assert_eq!(at(&[0.0, 0.010002, 0.019999, 0.030003])?.step(0.004)?, 0.004);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step(&self, most: f64) -> Result<f64, IdentifyError> {
        if !(most.is_finite() && most > 0.0) {
            return Err(IdentifyError::Step { step: most });
        }
        if self.on_steps(most) {
            return Ok(most);
        }
        let last = self.times[self.times.len() - 1];
        let mut gaps: Vec<f64> = self.times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_by(f64::total_cmp);
        let shortest = gaps.first().map_or(last, |gap| gap.min(last));
        let uniform = gaps.iter().all(|gap| (gap - shortest).abs() <= OFF * shortest);
        // The mean of equal intervals has the least round-off.
        let mean = (last - self.times[0]) / (self.times.len() - 1).max(1) as f64;
        let shortest = if uniform && mean > 0.0 { mean } else { shortest };
        let first = (shortest / most * (1.0 - 1e-9)).ceil().max(1.0);
        if uniform && self.on_steps(shortest / first) {
            return Ok(shortest / first);
        }
        // Samples that are denser by no more than their jitter are not denser.
        let median = gaps.get(gaps.len() / 2).map_or(last, |gap| gap.min(last));
        let dense = if median < 0.9 * most { median } else { most };
        let mut candidates = (0..).map(|k| tidy(shortest / (first + f64::from(k))));
        let found = candidates.by_ref().take_while(|h| *h * PARTS >= dense).find(|h| self.on_steps(*h));
        Ok(found.unwrap_or(dense.min(last / (ROWS - 1) as f64)))
    }

    /// Whether all times are multiples of a step, up to rounding.
    pub fn on_steps(&self, step: f64) -> bool {
        self.steps(step).is_some()
    }

    /// The number of the step at each time, if all are multiples of it and no two the same.
    fn steps(&self, step: f64) -> Option<Vec<u64>> {
        let number = |t: &f64| {
            let n = (t / step).round();
            ((t / step - n).abs() <= OFF && n <= 9e15).then_some(n as u64)
        };
        let steps: Vec<u64> = self.times.iter().map(number).collect::<Option<_>>()?;
        steps.windows(2).all(|pair| pair[0] < pair[1]).then_some(steps)
    }

    /// Where each sample lies in a run with this step, and how many steps that takes.
    pub(super) fn places(&self, step: f64) -> Result<(Vec<Place>, u64), IdentifyError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(IdentifyError::Step { step });
        }
        if let Some(steps) = self.steps(step) {
            let last = steps.last().copied().unwrap_or(0);
            return Ok((steps.into_iter().map(Place::at).collect(), last));
        }
        let last = self.times[self.times.len() - 1];
        let most = last / (ROWS - 1) as f64;
        if step > most * (1.0 + 1e-9) {
            return Err(IdentifyError::LongStep { step, most, last });
        }
        let steps = (last / step * (1.0 - 1e-12)).ceil();
        if steps > 9e15 {
            return Err(IdentifyError::Plan(PlanError::TooMany { step, until: last }));
        }
        let steps = steps as u64;
        Ok((self.times.iter().map(|t| Place::between(t / step, steps)).collect(), steps))
    }
}

/// Where a sample lies among the steps of a run: the rows that it is read off, and the part of each. Off the steps that is the
/// polynomial through the nearest rows: it is linear in them, so that derivatives follow with the same parts, and its error of
/// order six is beyond that of nearly all methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// The step of the first row.
    pub(super) first: u64,
    /// How many rows.
    pub(super) rows: usize,
    parts: [f64; ROWS],
}

impl Place {
    /// On a step.
    fn at(step: u64) -> Self {
        let mut parts = [0.0; ROWS];
        parts[0] = 1.0;
        Place { first: step, rows: 1, parts }
    }
    /// At a time in steps, of a run with so many of them.
    fn between(time: f64, steps: u64) -> Self {
        let rows = ROWS.min(steps as usize + 1);
        let begun = (time.floor() as u64).min(steps.saturating_sub(1));
        let first = (begun + 1).saturating_sub(rows as u64 / 2).min(steps + 1 - rows as u64);
        let (s, mut parts) = (time - first as f64, [0.0; ROWS]);
        for (i, part) in parts[..rows].iter_mut().enumerate() {
            let others = (0..rows).filter(|j| *j != i);
            *part = others.map(|j| (s - j as f64) / (i as f64 - j as f64)).product();
        }
        Place { first, rows, parts }
    }
    /// The step of the last row.
    pub(super) fn last(&self) -> u64 {
        self.first + self.rows as u64 - 1
    }
    /// The part that each row has.
    pub(super) fn parts(&self) -> &[f64] {
        &self.parts[..self.rows]
    }
}

/// Without the digits of round-off.
fn tidy(x: f64) -> f64 {
    let rounded: f64 = format!("{x:.9e}").parse().unwrap_or(x);
    if (rounded - x).abs() <= 1e-10 * x { rounded } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a polynomial of degree five at a place.
    fn read(place: &Place, f: &dyn Fn(f64) -> f64) -> f64 {
        place.parts().iter().enumerate().map(|(i, part)| part * f((place.first + i as u64) as f64)).sum()
    }

    #[test]
    fn places_read_polynomials_exactly() {
        let f = |x: f64| 1.0 + x * (0.5 - x * (0.25 - x * (0.02 - x * (1e-3 - 1e-4 * x))));
        for time in [0.0, 0.3, 1.7, 2.0, 5.5, 9.2, 9.999, 10.0] {
            let place = Place::between(time, 10);
            assert!(place.rows == ROWS && place.last() <= 10, "{place:?}");
            assert!((read(&place, &f) - f(time)).abs() < 1e-12, "{time}");
        }
        // On a row it is that row.
        assert_eq!(Place::between(4.0, 10).parts(), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let place = Place::between(5.4, 10);
        assert_eq!((place.first, place.last()), (3, 8));
    }
}
