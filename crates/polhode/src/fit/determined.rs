//! How well the residuals determine the parameters, and the result that says so.

use super::linear::{Columns, lead, norm, simplest, singular, triangularize};
use super::search::Search;
use super::{Fit, FitError, Noise, Options, Place, Side, Stop, Undetermined};

/// What the Jacobian tells of the free parameters.
pub(super) struct Determined {
    /// (JᵀJ)⁻¹, in the sequence of the free parameters.
    inverse: Vec<Vec<f64>>,
    conditioning: f64,
}

impl Search<'_> {
    /// The inverse of JᵀJ for the free parameters, or the combination that has none.
    pub(super) fn determined(
        &self,
        free: &[usize],
        threshold: f64,
        place: Place,
    ) -> Result<Determined, FitError> {
        let (n, m) = (free.len(), self.residuals.len());
        let names: Vec<String> = self.parameters.iter().map(|p| p.name.clone()).collect();
        let norms: Vec<f64> = free.iter().map(|&j| norm(&self.columns[j])).collect();
        let fail = |v: Vec<f64>, sensitivity, count, without_effect| {
            let (mut direction, mut change) = (vec![0.0; names.len()], vec![0.0; names.len()]);
            let first = lead(&v);
            for (i, &j) in free.iter().enumerate() {
                direction[j] = v[i];
                change[j] = if norms[i] == 0.0 { v[i] } else { v[i] / norms[i] * (norms[first] / v[first]) };
            }
            let (names, parameters) = (names.clone(), self.at.clone());
            FitError::Singular(Box::new(Undetermined {
                place: place.clone(),
                names,
                direction,
                change,
                sensitivity,
                count,
                without_effect,
                parameters,
            }))
        };
        // The exact derivative by a parameter that plays no part is zero and not small.
        let idle: Vec<usize> = (0..n).filter(|&i| norms[i] == 0.0).collect();
        if let Some(&first) = idle.first() {
            let alone = (0..n).map(|i| f64::from(i == first)).collect();
            let without = idle.iter().map(|&i| names[free[i]].clone()).collect();
            return Err(fail(alone, 0.0, idle.len(), without));
        }
        let mut scaled: Columns = free
            .iter()
            .zip(&norms)
            .map(|(&j, norm)| self.columns[j].iter().map(|x| x / norm).collect())
            .collect();
        triangularize(&mut scaled, &mut vec![0.0; m]);
        scaled.iter_mut().for_each(|c| c.truncate(n));
        let found = singular(scaled);
        let largest = found.values.first().copied().unwrap_or(1.0);
        let conditioning = found.values.last().map_or(1.0, |least| least / largest);
        let weak = found.values.iter().filter(|v| **v <= threshold * largest).count();
        if weak > 0 {
            return Err(fail(simplest(found.vectors[n - weak..].to_vec()), conditioning, weak, Vec::new()));
        }
        let entry = |i: usize, k: usize| -> f64 {
            let terms =
                found.values.iter().zip(&found.vectors).map(|(value, v)| v[i] / value * (v[k] / value));
            terms.sum::<f64>() / norms[i] / norms[k]
        };
        let inverse = (0..n).map(|i| (0..n).map(|k| entry(i, k)).collect()).collect();
        Ok(Determined { inverse, conditioning })
    }

    pub(super) fn result(self, options: &Options, stopped: Stop) -> Result<Fit, FitError> {
        let n = self.at.len();
        let held: Vec<Option<Side>> = (0..n).map(|j| self.side(j)).collect();
        let free: Vec<usize> = (0..n).filter(|&j| held[j].is_none()).collect();
        let Determined { inverse, conditioning } =
            self.determined(&free, options.singular, Place::End { stopped: stopped.clone() })?;
        let sum_of_squares = self.sum_of_squares();
        let degrees_of_freedom = self.residuals.len() - free.len();
        let sigma = (degrees_of_freedom > 0).then(|| (sum_of_squares / degrees_of_freedom as f64).sqrt());
        let variance = match options.noise {
            Noise::Estimated => sigma.map_or(f64::NAN, |s| s * s),
            Noise::Known => 1.0,
        };
        let (mut covariance, mut standard_errors) = (vec![0.0; n * n], vec![None; n]);
        for (i, &j) in free.iter().enumerate() {
            for (k, &l) in free.iter().enumerate() {
                covariance[j * n + l] = inverse[i][k] * variance;
            }
            standard_errors[j] = Some((inverse[i][i] * variance).sqrt());
        }
        Ok(Fit {
            names: self.parameters.iter().map(|p| p.name.clone()).collect(),
            parameters: self.at,
            residuals: self.residuals,
            sum_of_squares,
            standard_errors,
            covariance,
            held,
            sigma,
            degrees_of_freedom,
            conditioning,
            noise: options.noise,
            iterations: self.iterations,
            evaluations: self.evaluations,
            stopped,
        })
    }
}
