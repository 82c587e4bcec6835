//! Where an iteration is, and the linear model of the residuals there.

use super::linear::{Columns, dot, least_squares, norm, triangularize};
use super::{FitError, Model, Noise, Options, Parameter, Place, Side};

/// Damping that stands for none.
pub(super) const NONE: f64 = 1e-16;
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

    /// The first number that is not finite, or too large to square: residual and, for a derivative, parameter.
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

    /// |D s| over |D p|: the effect of a change compared with that of the parameters themselves.
    fn size(&self, change: &[f64], scale: &[f64]) -> f64 {
        let scaled = |v: &[f64]| norm(&v.iter().zip(scale).map(|(x, d)| x * d).collect::<Vec<f64>>());
        let length = scaled(change);
        if length == 0.0 { 0.0 } else { length / scaled(&self.at) }
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
    /// Its size relative to the parameters, in the scaling that it was made with.
    pub(super) size: f64,
    /// How much the linear model lowers the sum of squares.
    pub(super) promised: f64,
}

impl Linear {
    /// The step without damping, or so little that it only keeps the step finite where the Jacobian is singular. That is
    /// measured by the columns as they are: a column that was much larger once must not hide what it can still do.
    pub(super) fn full_step(&self, search: &Search) -> Step {
        let now: Vec<f64> = self.triangle.iter().map(|c| norm(c)).collect();
        self.scaled_step(search, NONE, &now)
    }

    /// The step with damping μ.
    pub(super) fn step(&self, search: &Search, damping: f64) -> Step {
        self.scaled_step(search, damping, &search.scale)
    }

    /// Minimizes |R s + q|² + μ|D s|². A parameter that would leave its bounds stops there, and the others are solved for
    /// anew.
    fn scaled_step(&self, search: &Search, damping: f64, scale: &[f64]) -> Step {
        let n = self.held.len();
        let (mut change, mut stopped) = (vec![0.0; n], self.held.clone());
        let mut to = search.at.clone();
        loop {
            let free: Vec<usize> = (0..n).filter(|&j| !stopped[j]).collect();
            let mut columns: Columns = free.iter().map(|&j| self.triangle[j].clone()).collect();
            for (i, &j) in free.iter().enumerate() {
                columns[i].resize(n + free.len(), 0.0);
                columns[i][n + i] = damping.sqrt() * scale[j];
            }
            let mut right: Vec<f64> = self.residual(&change).iter().map(|r| -r).collect();
            right.resize(n + free.len(), 0.0);
            let solution = least_squares(columns, right);
            let mut leaving = false;
            for (&j, s) in free.iter().zip(&solution) {
                let (p, goal) = (&search.parameters[j], search.at[j] + s);
                if !(p.lower <= goal && goal <= p.upper) {
                    to[j] = if goal < p.lower { p.lower } else { p.upper };
                    change[j] = to[j] - search.at[j];
                    stopped[j] = true;
                    leaving = true;
                }
            }
            if !leaving {
                for (&j, s) in free.iter().zip(&solution) {
                    to[j] += s;
                    change[j] = *s;
                }
                break;
            }
        }
        let after = self.residual(&change);
        let promised = self.right.iter().zip(&after).map(|(a, b)| (a - b) * (a + b)).sum();
        Step { to, size: search.size(&change, scale), promised }
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
