//! Parameters of a problem from a measured motion: least squares with the exact derivatives of the discrete solution.
//!
//! An [`Identification`] is a [`Sensitivity`], which knows problem, parameters and method, and [`Samples`]. It finds the
//! parameters and the noise:
//!
//! - Samples that lie on steps are compared with those, others with the polynomial through the six nearest steps, and so are
//!   derivatives: they are exact for what is compared. A cell of the samples may be missing.
//! - Each column has its own deviation. Unless they are given, they are estimated from what a fit leaves, and the fit is
//!   repeated with them until they settle.
//! - q and -q are the same attitude: each sample counts with the sign that is nearer to the model.
//! - An inertia stays that of a body, A + B ≥ C. If the data ask for less, the best flat body is found, which is that of
//!   A + B = C ([`Identified::flat`]); errors are given as if there were no such edge.
//!
//! ```
//! use polhode::identify::{Identification, Samples};
//! use polhode::{method::Method, problem::Problem, run::{Plan, Recorder}, sensitivity::Sensitivity};
//! let method = Method::parse("imidm")?;
//! // "Measured": a run with another weight.
//! let mut top = Problem::named("slow-top")?;
//! top.set("mgl", "21")?;
//! let mut record = Recorder::every(5);
//! top.model()?.run(&method, &Plan::new(0.01, 2.0)?, &mut |n, run| {
//!     record.observe(n, &run.snapshot());
//!     core::ops::ControlFlow::Continue(())
//! })?;
//! let column = |name: &str| record.column(name).map(<[f64]>::to_vec).ok_or("a column");
//! let mut columns = Vec::new();
//! for name in ["q_w", "q_x", "q_y", "q_z", "omega_body_x", "omega_body_y", "omega_body_z"] {
//!     columns.push((name.to_string(), column(name)?));
//! }
//! let samples = Samples::new(column("t")?, columns)?;
//! // Found from the data of the problem as they are.
//! let sensitivity = Sensitivity::new(&Problem::named("slow-top")?, &["mgl", "omega_body"], &method)?;
//! let found = Identification::new(sensitivity, samples, 0.01)?.run()?;
//! assert!(found.stopped.converged() && (found.values[0] - 21.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod between;
mod columns;
mod error;
mod estimate;
mod inertia;
mod result;
mod runs;
mod samples;

pub use error::IdentifyError;
pub use result::{ColumnFit, Identified};
pub use runs::Watch;
pub use samples::Samples;

use crate::fit::Parameter;
use crate::lookup::plain;
use crate::run::{self, Plan};
use crate::sensitivity::{Sensitivity, SensitivityFailure};
use columns::{Column, columns, means, near};
use core::ops::ControlFlow;
use runs::Runs;
use samples::Place;

/// What is to be identified, and from what.
#[derive(Clone, Debug)]
pub struct Identification {
    sensitivity: Sensitivity,
    samples: Samples,
    plan: Plan,
    places: Vec<Place>,
    /// The columns of the model.
    model: Vec<run::Column>,
    columns: Vec<Column>,
    unused: Vec<String>,
    sigma: Vec<Option<f64>>,
    bounds: Vec<(f64, f64)>,
}

impl Identification {
    /// With steps of this size. Compared are the positions, attitudes and velocities that were measured. If not all samples
    /// lie on steps ([`Samples::on_steps`]), runs are interpolated to them.
    pub fn new(sensitivity: Sensitivity, samples: Samples, step: f64) -> Result<Self, IdentifyError> {
        let (places, steps) = samples.places(step)?;
        let plan = Plan::new(step, steps as f64 * step).map_err(IdentifyError::Plan)?;
        let unbegun = |error| IdentifyError::Run(SensitivityFailure { error, steps: 0 });
        let model = sensitivity.columns().map_err(unbegun)?;
        let (columns, unused) = columns(&model, &samples, None).or_else(|error| match error {
            // Others may still be asked for.
            IdentifyError::NoColumn { .. } => Ok((Vec::new(), samples.names().to_vec())),
            other => Err(other),
        })?;
        let bounds = vec![(f64::NEG_INFINITY, f64::INFINITY); sensitivity.names().len()];
        let sigma = vec![None; columns.len()];
        Ok(Identification { sensitivity, samples, plan, places, model, columns, unused, sigma, bounds })
    }
    /// Compared in these columns: names as in the samples, or of quantities, `omega_body`, `upper.position`.
    pub fn with_columns(mut self, names: &[&str]) -> Result<Self, IdentifyError> {
        (self.columns, self.unused) = columns(&self.model, &self.samples, Some(names))?;
        self.sigma = vec![None; self.columns.len()];
        Ok(self)
    }
    /// With a known deviation of the noise of a column, or of all columns of a quantity.
    pub fn with_sigma(mut self, name: &str, sigma: f64) -> Result<Self, IdentifyError> {
        if !(sigma.is_finite() && sigma > 0.0) {
            return Err(IdentifyError::Sigma { name: name.into(), value: sigma });
        }
        let mut found = false;
        for (column, known) in self.columns.iter().zip(&mut self.sigma) {
            // One column by its own name comes before its quantity.
            if column.name() == name || (means(name, &column.of) && known.is_none()) {
                *known = Some(sigma);
            }
            found |= means(name, &column.of);
        }
        if !found {
            let near = near(name, self.columns.iter().map(|column| &column.of));
            let compared = self.columns.iter().map(|c| c.of.name.clone()).collect();
            return Err(IdentifyError::NotCompared { name: name.into(), near, compared });
        }
        Ok(self)
    }
    /// With bounds of a parameter, or of all components of one.
    pub fn with_bounds(mut self, name: &str, lower: f64, upper: f64) -> Result<Self, IdentifyError> {
        let wrong = |reason: String| IdentifyError::Bounds { name: name.into(), reason };
        if lower.is_nan() || upper.is_nan() || lower > upper {
            let [lower, upper] = [lower, upper].map(plain);
            return Err(wrong(format!("the lower one, {lower}, is not below the upper one, {upper}")));
        }
        let mut found = false;
        let named = self.sensitivity.names().iter().zip(self.sensitivity.parameters());
        for (k, (own, parameter)) in named.enumerate() {
            if own == name || parameter.whole == name {
                let start = self.sensitivity.values()[k];
                if !(lower <= start && start <= upper) {
                    let [start, lower, upper] = [start, lower, upper].map(plain);
                    let text =
                        format!("{own} starts at {start}, outside of {lower} to {upper}; set another start");
                    return Err(wrong(text));
                }
                self.bounds[k] = (lower, upper);
                found = true;
            }
        }
        match found {
            true => Ok(self),
            false => {
                let names = self.sensitivity.names().join(", ");
                Err(wrong(format!("it is not among the fitted parameters ({names})")))
            }
        }
    }
    /// The steps of a run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// Whether runs are interpolated to the samples, because not all of these lie on steps.
    pub fn interpolates(&self) -> bool {
        self.places.iter().any(|place| place.rows > 1)
    }
    /// The problem, the parameters and the method.
    pub fn sensitivity(&self) -> &Sensitivity {
        &self.sensitivity
    }
    /// The columns that are compared.
    pub fn columns(&self) -> Vec<&str> {
        self.columns.iter().map(Column::name).collect()
    }
    /// The columns of the samples that are not.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// Model minus data at these values of the parameters, for each sample that of each column, zero where nothing was
    /// measured; and their derivatives, row by row.
    pub fn residuals(&self, values: &[f64]) -> Result<(Vec<f64>, Vec<f64>), IdentifyError> {
        let names = self.sensitivity.names();
        if values.len() != names.len() {
            let (found, needed) = (values.len(), names.len());
            return Err(IdentifyError::Values { found, needed });
        }
        let mut watch = |_: usize, _: u64| ControlFlow::Continue(());
        let run = self.runs(&mut watch).at(values)?;
        Ok((run.residuals.clone(), run.jacobian.clone()))
    }
    /// Finds the parameters.
    pub fn run(&self) -> Result<Identified, IdentifyError> {
        self.run_with(&mut |_, _| ControlFlow::Continue(()))
    }
    /// Finds the parameters, with somebody who sees every step of every run and may break off.
    pub fn run_with(&self, watch: &mut Watch<'_>) -> Result<Identified, IdentifyError> {
        if self.columns.is_empty() {
            // Says what there is.
            columns(&self.model, &self.samples, None)?;
        }
        let (samples, parameters) = (self.places.len(), self.sensitivity.names().len());
        let numbers = self.columns.iter().map(|column| column.measured().count()).sum();
        if samples < 2 || numbers < parameters + 1 {
            let columns = self.columns.len();
            return Err(IdentifyError::TooFew { samples, columns, numbers, parameters });
        }
        if self.columns.iter().all(|column| column.measured().all(|x| x == 0.0)) {
            let text = "all numbers are zero: nothing was measured of a motion";
            return Err(IdentifyError::Samples(text.into()));
        }
        let mut watch = |count: usize, step: u64| watch(count, step);
        let mut runs = self.runs(&mut watch);
        let start = self.sensitivity.values();
        runs.at(start)?;
        let named = self.sensitivity.names().iter().zip(start).zip(&self.bounds);
        let parameters = named.map(|((name, start), (lower, upper))| {
            Parameter::new(name.clone(), *start).at_least(*lower).at_most(*upper)
        });
        let flats = inertia::inertias(&self.sensitivity)
            .map_err(|error| IdentifyError::Run(SensitivityFailure { error: error.into(), steps: 0 }))?;
        let task = estimate::Task {
            parameters: parameters.collect(),
            flats: &flats,
            known: &self.sigma,
            times: self.samples.times(),
        };
        estimate::identify(&mut runs, &task)
    }
    fn runs<'a>(&'a self, watch: &'a mut Watch<'a>) -> Runs<'a> {
        Runs::new(&self.sensitivity, &self.plan, &self.places, &self.model, &self.columns, watch)
    }
}
