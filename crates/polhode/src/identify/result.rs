//! What was identified.

use crate::fit::{Fit, Side, Stop};

/// A column as it was compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFit {
    /// Its name.
    pub name: String,
    /// The vector or attitude that it is a component of, with the body: `upper.q`.
    pub quantity: String,
    /// How many components that has, by name.
    pub components: usize,
    /// The deviation of its noise.
    pub sigma: f64,
    /// Whether that was given and not estimated.
    pub known: bool,
    /// Whether its residuals follow one another, as noise does not: the model does not fit, or the noise has a memory.
    pub patterned: bool,
    /// Model minus data for each sample, NaN where nothing was measured.
    pub residuals: Vec<f64>,
}

/// Parameters found from samples, and how well they are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Identified {
    /// The names of the parameters.
    pub names: Vec<String>,
    /// Their values in the problem. A rotation has a turn that follows it, from zero.
    pub start: Vec<f64>,
    /// The values found.
    pub values: Vec<f64>,
    /// Their standard errors with all parameters free, also those that an edge or a bound holds; none for a parameter whose
    /// bounds leave it no choice. If the noise was estimated, the larger of two: for noise that is the same along a
    /// column, and for noise that is not (sandwich).
    pub standard_errors: Vec<Option<f64>>,
    /// Half a 95 % interval in standard errors.
    pub factor95: f64,
    /// The times of the samples.
    pub times: Vec<f64>,
    /// The columns that were compared.
    pub columns: Vec<ColumnFit>,
    /// The inertias that ended on their edge: those of a flat body, with A + B = C.
    pub flat: Vec<String>,
    /// The bounds that hold parameters.
    pub held: Vec<Option<Side>>,
    /// The sum of squares of the residuals over their deviations.
    pub sum_of_squares: f64,
    /// Numbers minus parameters.
    pub degrees_of_freedom: usize,
    /// Accepted steps of the fit, over all rounds.
    pub iterations: usize,
    /// Rounds of fits, each with weights from the one before.
    pub rounds: usize,
    /// Runs of the problem.
    pub evaluations: usize,
    /// Why the last round stopped.
    pub stopped: Stop,
    pub(super) free: Fit,
}

impl Identified {
    /// The interval that covers the true parameter with probability 0.95 if the model is linear in that range. It may reach
    /// beyond bounds and edges.
    pub fn interval95(&self, i: usize) -> Option<(f64, f64)> {
        let half = (*self.standard_errors.get(i)?)? * self.factor95;
        Some((self.values[i] - half, self.values[i] + half))
    }
    /// The standard error for noise that is the same along each column: at most [`Identified::standard_errors`].
    pub fn classical_error(&self, i: usize) -> Option<f64> {
        *self.free.standard_errors.get(i)?
    }
    /// The columns whose residuals follow one another ([`ColumnFit::patterned`]).
    pub fn patterned(&self) -> Vec<&str> {
        self.columns.iter().filter(|column| column.patterned).map(|column| column.name.as_str()).collect()
    }
    /// The correlation of two parameters, with all of them free.
    pub fn correlation(&self, i: usize, j: usize) -> Option<f64> {
        self.free.correlation(i, j)
    }
}
