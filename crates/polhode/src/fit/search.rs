//! Where an iteration is, and the linear model of the residuals there.

use super::linear::{Columns, dot, least_squares, norm, triangularize};
use super::{FitError, Model, Noise, Options, Parameter, Place, Side};

/// Numbers whose squares would not do to add up.
const HUGE: f64 = 1e150;

/// An evaluation of the model.
pub(super) struct Evaluation {
    pub(super) at: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    /// Row by row.
    pub(super) jacobian: Vec<f64>,
}

impl Evaluation {
    pub(super) fn new(at: Vec<f64>, residuals: usize) -> Evaluation {
        let jacobian = vec![0.0; residuals * at.len()];
        Evaluation { at, residuals: vec![0.0; residuals], jacobian }
    }

    pub(super) fn columns(&self) -> Columns {
        let n = self.at.len();
        (0..n).map(|j| self.jacobian.iter().skip(j).step_by(n).copied().collect()).collect()
    }

    /// The first number that is not finite, or as good as that: residual and, for a derivative, parameter.
    pub(super) fn not_finite(&self) -> Option<(usize, Option<usize>, f64)> {
        let beyond = |x: &f64| x.is_nan() || x.abs() >= HUGE;
        let residual = self.residuals.iter().position(beyond);
        let residual = residual.map(|i| (i, None, self.residuals[i]));
        residual.or_else(|| {
            let k = self.jacobian.iter().position(beyond)?;
            Some((k / self.at.len(), Some(k % self.at.len()), self.jacobian[k]))
        })
    }
}

/// Where the iteration is.
pub(super) struct Search<'a> {
    pub(super) parameters: &'a [Parameter],
    pub(super) at: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    pub(super) columns: Columns,
    /// D: the largest norm that each column has had.
    pub(super) scale: Vec<f64>,
    pub(super) iterations: usize,
    pub(super) evaluations: usize,
}

impl<'a> Search<'a> {
    pub(super) fn start(
        model: &mut impl Model,
        parameters: &'a [Parameter],
        options: &Options,
    ) -> Result<Search<'a>, FitError> {
        for Parameter { name, start, lower, upper } in parameters {
            if !(start.is_finite() && lower <= start && start <= upper) {
                let (name, start) = (name.clone(), *start);
                return Err(FitError::Parameter { name, start, lower: *lower, upper: *upper });
            }
        }
        let (m, n) = (model.residual_count(), parameters.len());
        let needed = if options.noise == Noise::Estimated { n + 1 } else { n };
        if m < needed {
            return Err(FitError::TooFewResiduals { residuals: m, needed, parameters: n });
        }
        let mut first = Evaluation::new(parameters.iter().map(|p| p.start).collect(), m);
        model
            .evaluate(&first.at, &mut first.residuals, &mut first.jacobian)
            .map_err(|r| FitError::Start { reason: r.reason })?;
        if let Some((residual, parameter, value)) = first.not_finite() {
            let parameter = parameter.map(|j| parameters[j].name.clone());
            return Err(FitError::NotFinite { residual, parameter, value });
        }
        let scale = vec![0.0; n];
        let mut search = Search {
            parameters,
            at: Vec::new(),
            residuals: Vec::new(),
            columns: Vec::new(),
            scale,
            iterations: 0,
            evaluations: 1,
        };
        search.take(first);
        let free: Vec<usize> = (0..n).filter(|&j| parameters[j].lower < parameters[j].upper).collect();
        search.determined(&free, options.singular, Place::Start)?;
        Ok(search)
    }

    pub(super) fn take(&mut self, evaluation: Evaluation) {
        self.columns = evaluation.columns();
        for (scale, column) in self.scale.iter_mut().zip(&self.columns) {
            *scale = scale.max(norm(column));
        }
        self.at = evaluation.at;
        self.residuals = evaluation.residuals;
    }

    pub(super) fn accept(&mut self, trial: Evaluation) {
        self.take(trial);
        self.iterations += 1;
    }

    /// The model at `to`, or why it does not run there.
    pub(super) fn evaluate(&mut self, model: &mut impl Model, to: Vec<f64>) -> Result<Evaluation, String> {
        if let Some(j) = to.iter().position(|x| !x.is_finite()) {
            return Err(format!("the parameter {} would be {}", self.parameters[j].name, to[j]));
        }
        self.evaluations += 1;
        let mut trial = Evaluation::new(to, self.residuals.len());
        model.evaluate(&trial.at, &mut trial.residuals, &mut trial.jacobian).map_err(|r| r.reason)?;
        match trial.not_finite() {
            None => Ok(trial),
            Some((i, None, value)) => Err(format!("residual {i} is {value}")),
            Some((i, Some(j), value)) => {
                Err(format!("the derivative of residual {i} by {} is {value}", self.parameters[j].name))
            }
        }
    }

    pub(super) fn sum_of_squares(&self) -> f64 {
        dot(&self.residuals, &self.residuals)
    }

    /// How much less the sum of squares is at the trial, without cancellation of the sums.
    pub(super) fn reduction(&self, trial: &Evaluation) -> f64 {
        self.residuals.iter().zip(&trial.residuals).map(|(a, b)| (a - b) * (a + b)).sum()
    }

    /// |D s| over |D p|, where p is never less than at the start.
    pub(super) fn size(&self, change: &[f64]) -> f64 {
        let scaled: Vec<f64> = change.iter().zip(&self.scale).map(|(s, d)| s * d).collect();
        let whole: Vec<f64> = (self.at.iter().zip(self.parameters).zip(&self.scale))
            .map(|((x, p), d)| x.abs().max(p.start.abs()) * d)
            .collect();
        let length = norm(&scaled);
        if length == 0.0 { 0.0 } else { length / norm(&whole) }
    }

    /// The bound that holds parameter `j`: it is reached, and the gradient presses against it.
    pub(super) fn side(&self, j: usize) -> Option<Side> {
        let (p, slope) = (&self.parameters[j], dot(&self.columns[j], &self.residuals));
        if self.at[j] <= p.lower && (slope > 0.0 || p.lower == p.upper) {
            Some(Side::Lower)
        } else if self.at[j] >= p.upper && slope < 0.0 {
            Some(Side::Upper)
        } else {
            None
        }
    }

    pub(super) fn linearize(&self) -> Linear {
        let (mut triangle, mut right) = (self.columns.clone(), self.residuals.clone());
        triangularize(&mut triangle, &mut right);
        let n = triangle.len();
        triangle.iter_mut().for_each(|c| c.truncate(n));
        right.truncate(n);
        Linear { triangle, right, held: (0..n).map(|j| self.side(j).is_some()).collect() }
    }
}

/// The linear model of the residuals, reduced to a triangle: |R s + q|² and |r + J s|² differ by a constant.
pub(super) struct Linear {
    pub(super) triangle: Columns,
    pub(super) right: Vec<f64>,
    pub(super) held: Vec<bool>,
}

pub(super) struct Step {
    /// The new parameters, within the bounds.
    pub(super) to: Vec<f64>,
    pub(super) change: Vec<f64>,
    /// How much the linear model lowers the sum of squares.
    pub(super) promised: f64,
}

impl Linear {
    /// The step with damping μ. A parameter that would leave its bounds stops there, and the others are solved for anew.
    pub(super) fn step(&self, search: &Search, damping: f64) -> Step {
        let n = self.held.len();
        let (mut to, mut stopped) = (search.at.clone(), self.held.clone());
        loop {
            let free: Vec<usize> = (0..n).filter(|&j| !stopped[j]).collect();
            let known: Vec<f64> = (0..n).map(|j| to[j] - search.at[j]).collect();
            let residual = self.residual(&known);
            let mut columns: Columns = free.iter().map(|&j| self.triangle[j].clone()).collect();
            for (i, &j) in free.iter().enumerate() {
                columns[i].resize(n + free.len(), 0.0);
                columns[i][n + i] = damping.sqrt() * search.scale[j];
            }
            let mut right: Vec<f64> = residual.iter().map(|r| -r).collect();
            right.resize(n + free.len(), 0.0);
            let solution = least_squares(columns, right);
            let mut leaving = false;
            for (&j, s) in free.iter().zip(&solution) {
                let (p, goal) = (&search.parameters[j], search.at[j] + s);
                if !(p.lower <= goal && goal <= p.upper) {
                    to[j] = if goal < p.lower { p.lower } else { p.upper };
                    stopped[j] = true;
                    leaving = true;
                }
            }
            if !leaving {
                for (&j, s) in free.iter().zip(&solution) {
                    to[j] += s;
                }
                break;
            }
        }
        let change: Vec<f64> = to.iter().zip(&search.at).map(|(a, b)| a - b).collect();
        let after = self.residual(&change);
        let promised = self.right.iter().zip(&after).map(|(a, b)| (a - b) * (a + b)).sum();
        Step { to, change, promised }
    }

    /// R s + q.
    pub(super) fn residual(&self, change: &[f64]) -> Vec<f64> {
        let mut out = self.right.clone();
        for (column, s) in self.triangle.iter().zip(change) {
            for (x, c) in out.iter_mut().zip(column) {
                *x += c * s;
            }
        }
        out
    }
}
