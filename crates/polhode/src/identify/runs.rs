//! Runs at trial parameters, and their distance from the samples.

use super::IdentifyError;
use super::between::{Rows, SeenRow, attitudes};
use super::columns::{Column, sizes};
use super::samples::Place;
use crate::fit::{Model, Rejected};
use crate::lookup::{Role, plain};
use crate::run::{self, Plan};
use crate::sensitivity::{Sensitivity, SensitivityError, SensitivityFailure};
use core::ops::ControlFlow;
use std::rc::Rc;

/// Sees the number of runs so far and the step of the present one; may break off.
pub type Watch<'a> = dyn FnMut(usize, u64) -> ControlFlow<()> + 'a;

/// What runs have of round-off, relative to the numbers of a column.
pub(super) const ROUNDING: f64 = 1e-12;
/// Runs that are kept: a fit comes back to the last few.
const KEPT: usize = 6;

/// One run: for each sample the model minus the data of each column, and its derivatives.
#[derive(Debug)]
pub(super) struct Run {
    at: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    /// Row by row.
    pub(super) jacobian: Vec<f64>,
}

/// All runs of an identification.
pub(super) struct Runs<'a> {
    pub(super) sensitivity: &'a Sensitivity,
    pub(super) plan: &'a Plan,
    /// Where each sample lies.
    pub(super) places: &'a [Place],
    /// Where attitudes stand in a row of the model.
    attitudes: Vec<usize>,
    pub(super) columns: &'a [Column],
    /// How large each of them is.
    pub(super) sizes: Vec<f64>,
    pub(super) watch: &'a mut Watch<'a>,
    pub(super) count: usize,
    pub(super) interrupted: bool,
    kept: Vec<Rc<Run>>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(
        sensitivity: &'a Sensitivity,
        plan: &'a Plan,
        places: &'a [Place],
        model: &[run::Column],
        columns: &'a [Column],
        watch: &'a mut Watch<'a>,
    ) -> Self {
        let sizes = sizes(columns);
        Runs {
            sensitivity,
            plan,
            places,
            attitudes: attitudes(model),
            columns,
            sizes,
            watch,
            count: 0,
            interrupted: false,
            kept: Vec::new(),
        }
    }

    /// The run at these values of the parameters.
    pub(super) fn at(&mut self, p: &[f64]) -> Result<Rc<Run>, IdentifyError> {
        self.begun(p, self.places.len())
    }

    /// The same up to some of the samples at least.
    fn begun(&mut self, p: &[f64], samples: usize) -> Result<Rc<Run>, IdentifyError> {
        let enough = samples * self.columns.len();
        if let Some(run) = self.kept.iter().find(|run| run.at == p && run.residuals.len() >= enough) {
            return Ok(run.clone());
        }
        let run = Rc::new(self.run(p, samples)?);
        if self.kept.len() >= KEPT {
            self.kept.remove(0);
        }
        self.kept.push(run.clone());
        Ok(run)
    }

    /// A parameter that changes no number by more than rounding has no derivatives.
    fn without_rounding(&self, jacobian: &mut [f64]) {
        let (n, c) = (self.sensitivity.names().len(), self.sizes.len());
        for (k, scale) in self.sensitivity.scales().iter().enumerate() {
            let hidden =
                |(i, slope): (usize, &f64)| slope.abs() * scale.max(1.0) <= ROUNDING * self.sizes[i % c];
            if jacobian.iter().skip(k).step_by(n).enumerate().all(hidden) {
                jacobian.iter_mut().skip(k).step_by(n).for_each(|slope| *slope = 0.0);
            }
        }
    }

    fn run(&mut self, p: &[f64], samples: usize) -> Result<Run, IdentifyError> {
        if self.interrupted {
            return Err(IdentifyError::Interrupted);
        }
        let changes: Vec<f64> = p.iter().zip(self.sensitivity.values()).map(|(p, start)| p - start).collect();
        let (n, m) = (p.len(), samples * self.columns.len());
        let mut run = Run { at: p.to_vec(), residuals: Vec::with_capacity(m), jacobian: vec![0.0; m * n] };
        self.count += 1;
        let (columns, places, count) = (self.columns, &self.places[..samples], self.count);
        let (mut next, mut interrupted) = (0, false);
        let (watch, attitudes) = (&mut self.watch, &self.attitudes);
        let (mut rows, mut seen) = (Rows::default(), SeenRow::default());
        let ended = self.sensitivity.changed(&changes).run(self.plan, &mut |step, at| {
            interrupted = watch(count, step).is_break();
            if interrupted {
                return ControlFlow::Break(());
            }
            // Times grow: if the next sample does not begin here, no later one does.
            if places.get(next).is_none_or(|place| step < place.first) {
                return ControlFlow::Continue(());
            }
            rows.push(step, n, at);
            while let Some(place) = places.get(next).filter(|place| place.last() <= step) {
                rows.read(place, attitudes, &mut seen);
                let first = run.residuals.len();
                for (i, column) in columns.iter().enumerate() {
                    let datum = column.data[next];
                    // What was not measured has no residual.
                    if datum.is_nan() {
                        run.residuals.push(0.0);
                        continue;
                    }
                    let sign = column.sign(columns, &seen.values, next);
                    run.residuals.push(seen.values[column.at] - sign * datum);
                    for k in 0..n {
                        run.jacobian[(first + i) * n + k] = seen.slopes[k][column.at];
                    }
                }
                next += 1;
            }
            if next < places.len() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.interrupted = interrupted;
        match (interrupted, ended) {
            (true, _) => Err(IdentifyError::Interrupted),
            (false, Err(failure)) => Err(IdentifyError::Run(failure)),
            (false, Ok(())) => {
                self.without_rounding(&mut run.jacobian);
                Ok(run)
            }
        }
    }
}

/// Residuals over the deviations of their columns.
pub(super) struct Weighted<'a, 'b> {
    pub(super) runs: &'a mut Runs<'b>,
    pub(super) sigma: &'a [f64],
    /// Of so many samples, from the first.
    pub(super) samples: usize,
    /// What is expected of the parameters beside the samples: a value and a deviation of each.
    pub(super) prior: Option<(&'a [f64], &'a [f64])>,
}

impl<'a, 'b> Weighted<'a, 'b> {
    /// Of all samples.
    pub(super) fn all(runs: &'a mut Runs<'b>, sigma: &'a [f64]) -> Self {
        let samples = runs.places.len();
        Weighted { runs, sigma, samples, prior: None }
    }
    /// The sum of squares; infinite if there is no run.
    pub(super) fn cost(&mut self, p: &[f64]) -> f64 {
        let count = self.samples * self.sigma.len();
        let squares = |run: Rc<Run>| {
            let weighted = run.residuals[..count].iter().zip(self.sigma.iter().cycle()).map(|(r, s)| r / s);
            weighted.map(|r| r * r).sum()
        };
        self.runs.begun(p, self.samples).map_or(f64::INFINITY, squares)
    }
}

impl Model for Weighted<'_, '_> {
    fn residual_count(&self) -> usize {
        self.samples * self.sigma.len() + self.prior.map_or(0, |(start, _)| start.len())
    }
    fn evaluate(&mut self, p: &[f64], residuals: &mut [f64], jacobian: &mut [f64]) -> Result<(), Rejected> {
        // Parameters of elements are not checked by the system.
        let sensitivity = self.runs.sensitivity;
        for ((known, name), value) in sensitivity.parameters().zip(sensitivity.names()).zip(p) {
            if known.role == Role::Mass && *value <= 0.0 {
                return Err(Rejected::new(format!("{name} must be positive, got {}", plain(*value))));
            }
        }
        let run = self.runs.begun(p, self.samples).map_err(|error| match error {
            // An invalid model fails before the first step.
            IdentifyError::Run(SensitivityFailure { error: SensitivityError::Model(error), .. }) => {
                Rejected::new(error.to_string())
            }
            error => Rejected::new(error.to_string()),
        })?;
        let (n, c, count) = (p.len(), self.sigma.len(), self.samples * self.sigma.len());
        for (i, r) in residuals[..count].iter_mut().enumerate() {
            *r = run.residuals[i] / self.sigma[i % c];
            let row = i * n..(i + 1) * n;
            for (out, slope) in jacobian[row.clone()].iter_mut().zip(&run.jacobian[row]) {
                *out = slope / self.sigma[i % c];
            }
        }
        if let Some((start, deviation)) = self.prior {
            jacobian[count * n..].fill(0.0);
            for k in 0..n {
                residuals[count + k] = (p[k] - start[k]) / deviation[k];
                jacobian[(count + k) * n + k] = 1.0 / deviation[k];
            }
        }
        Ok(())
    }
}
