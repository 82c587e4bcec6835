//! Measured samples.

use super::IdentifyError;
use crate::lookup::plain;

/// A time may be off its place in the grid of steps by this part of a step.
const OFF: f64 = 1e-6;
/// The most parts of the shortest interval that a step is looked for among.
const PARTS: u32 = 2000;

/// Columns of numbers that were measured at the same times.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    times: Vec<f64>,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Samples {
    /// Samples at growing times, each column with its name and one finite number for each time.
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
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                return wrong(format!("{name} of sample {} is {}; it must be finite", i + 1, values[i]));
            }
            if let Some(i) = values.iter().position(|x| !(x * x).is_finite()) {
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

    /// A step whose multiples all times are: the largest that is at most `most` and goes into the interval of uniform
    /// samples, or `most` itself. For others the error proposes one.
    ///
    /// ```
    /// use polhode::identify::Samples;
    /// let at = |times: &[f64]| Samples::new(times.to_vec(), Vec::new());
    /// assert!((at(&[0.0, 0.01, 0.02, 0.03])?.step(0.004)? - 0.01 / 3.0).abs() < 1e-15);
    /// let error = at(&[0.0, 0.01, 0.025])?.step(0.004).unwrap_err();
    /// assert!(error.to_string().contains("a step of 0.0025"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step(&self, most: f64) -> Result<f64, IdentifyError> {
        if !(most.is_finite() && most > 0.0) {
            return Err(IdentifyError::Step { step: most });
        }
        if self.steps(most).is_ok() {
            return Ok(most);
        }
        let gaps = || self.times.windows(2).map(|pair| pair[1] - pair[0]);
        let shortest = gaps().fold(self.times[self.times.len() - 1], f64::min);
        let uniform = gaps().all(|gap| (gap - shortest).abs() <= OFF * shortest);
        // The mean of equal intervals has the least round-off.
        let mean = (self.times[self.times.len() - 1] - self.times[0]) / (self.times.len() - 1).max(1) as f64;
        let shortest = if uniform && mean > 0.0 { mean } else { shortest };
        let first = (shortest / most * (1.0 - 1e-9)).ceil().max(1.0);
        if uniform && self.steps(shortest / first).is_ok() {
            return Ok(shortest / first);
        }
        let found = (0..PARTS).map(|k| shortest / (first + f64::from(k))).find(|h| self.steps(*h).is_ok());
        Err(IdentifyError::NoStep { uniform, proposed: found.map(tidy) })
    }

    /// The number of the step at each time.
    pub(super) fn steps(&self, step: f64) -> Result<Vec<u64>, IdentifyError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(IdentifyError::Step { step });
        }
        let mut steps = Vec::with_capacity(self.times.len());
        for (i, t) in self.times.iter().enumerate() {
            let n = (t / step).round();
            let off = t / step - n;
            if off.abs() > OFF || n > 9e15 {
                return Err(IdentifyError::OffGrid { sample: i + 1, time: *t, step, off });
            }
            steps.push(n as u64);
        }
        match steps.windows(2).position(|pair| pair[1] <= pair[0]) {
            Some(i) => Err(IdentifyError::Samples(format!(
                "samples {} and {} are less than a step of {} s apart; choose a smaller step",
                i + 1,
                i + 2,
                plain(step)
            ))),
            None => Ok(steps),
        }
    }
}

/// Without the digits of round-off.
fn tidy(x: f64) -> f64 {
    let rounded: f64 = format!("{x:.9e}").parse().unwrap_or(x);
    if (rounded - x).abs() <= 1e-10 * x { rounded } else { x }
}
