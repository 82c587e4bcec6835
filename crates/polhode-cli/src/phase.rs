//! Frequencies of a run beside those of the exact motion.

use polhode::check::{Crossings, Nutation};
use polhode::problem::{ExactFrequencies, Model};
use polhode::run::{RestoreError, Snapshot};
use serde::Serialize;

/// Watches what repeats in a motion: how a body that turns over does so, and how the third axis of any other nutates
/// and precesses.
#[derive(Debug)]
pub struct Phase {
    exact: ExactFrequencies,
    nutation: Nutation,
    flips: Crossings,
}

/// What was seen, with relative errors; nothing where it has no meaning.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Frequencies {
    pub periods: Option<u64>,
    pub nutation: Option<f64>,
    pub nutation_exact: Option<f64>,
    pub nutation_error: Option<f64>,
    pub precession: Option<f64>,
    pub precession_exact: Option<f64>,
    pub precession_error: Option<f64>,
    pub precession_fit: Option<f64>,
    pub precession_fit_error: Option<f64>,
    pub tilt_min: Option<f64>,
    pub tilt_max: Option<f64>,
    pub flips: Option<u64>,
    pub flip_interval: Option<f64>,
    pub flip_interval_exact: Option<f64>,
    pub flip_interval_error: Option<f64>,
}

impl Phase {
    /// For a run of this model.
    pub fn new(model: &Model) -> Self {
        Phase {
            exact: model.frequencies().unwrap_or_default(),
            nutation: Nutation::new(),
            flips: Crossings::new(),
        }
    }
    /// One more state.
    pub fn observe(&mut self, snapshot: &Snapshot) {
        let Some(body) = snapshot.body() else { return };
        match &self.exact.flip {
            Some(flip) => self.flips.observe(snapshot.t, body.momentum_body.dot(&flip.axis)),
            None => self.nutation.observe(snapshot.t, &body.attitude),
        }
    }
    /// All that was seen, for a checkpoint.
    pub fn save(&mut self) -> Vec<u64> {
        let mut words = self.nutation.save();
        words.extend(self.flips.save());
        words.push(self.flips.save().len() as u64);
        words
    }
    /// Goes on from there.
    pub fn restore(&mut self, words: &[u64]) -> Result<(), RestoreError> {
        let (count, rest) = words.split_last().ok_or(RestoreError::Damaged)?;
        let at = usize::try_from(*count).ok().and_then(|count| rest.len().checked_sub(count));
        let (nutation, flips) = rest.split_at(at.ok_or(RestoreError::Damaged)?);
        self.nutation.restore(nutation)?;
        self.flips.restore(flips)
    }
    /// What was seen.
    pub fn frequencies(&self) -> Frequencies {
        let error = |seen: Option<f64>, exact: Option<f64>| {
            // Nothing is relative to a rate that is zero but for round-off.
            seen.zip(exact.filter(|x| x.abs() > 1e-12)).map(|(seen, exact)| seen / exact - 1.0)
        };
        if let Some(flip) = &self.exact.flip {
            let (interval, exact) = (self.flips.interval(), Some(flip.interval));
            return Frequencies {
                flips: Some(self.flips.count()),
                flip_interval: interval,
                flip_interval_exact: exact,
                flip_interval_error: error(interval, exact),
                ..Default::default()
            };
        }
        let (seen, exact) = (&self.nutation, &self.exact);
        Frequencies {
            periods: Some(seen.periods()),
            nutation: seen.frequency(),
            nutation_exact: exact.nutation,
            nutation_error: error(seen.frequency(), exact.nutation),
            precession: seen.precession(),
            precession_exact: exact.precession,
            precession_error: error(seen.precession(), exact.precession),
            precession_fit: seen.precession_fit(),
            // With nutations the line depends on where the run ends.
            precession_fit_error: error(
                seen.precession_fit(),
                exact.precession.filter(|_| exact.nutation.is_none()),
            ),
            tilt_min: seen.tilt().map(|[low, _]| low),
            tilt_max: seen.tilt().map(|[_, high]| high),
            ..Default::default()
        }
    }
}

impl Frequencies {
    /// The error of the precession: over whole nutations where the exact motion has any, else that of the fitted line.
    pub fn precession_best_error(&self) -> Option<f64> {
        if self.nutation_exact.is_some() { self.precession_error } else { self.precession_fit_error }
    }
}
