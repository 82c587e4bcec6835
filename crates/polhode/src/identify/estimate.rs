//! The fit in rounds: parameters with given weights, then weights from what the fit leaves, until they settle.

use super::columns::{measured, rms};
use super::inertia::InertiaEntries;
use super::runs::{ROUNDING, Runs, Weighted};
use super::{ColumnFit, Identified, IdentifyError};
use crate::fit::{
    Confined, Edge, Fit, FitError, NORMAL, Noise, Options, Parameter, Place, Stop, levenberg_marquardt,
    levenberg_marquardt_within, student,
};

/// Weights that change by less than this part have settled.
const SETTLED_WEIGHTS: f64 = 1e-3;
/// Rounds at most.
const MAX_ROUNDS: usize = 10;
/// With fewer samples the components of a quantity share one deviation.
const POOL_BELOW_SAMPLES: f64 = 30.0;
/// The first samples are not fitted by themselves if they are fewer.
const MIN_FIRST_SAMPLES: usize = 8;
/// With fewer numbers than this left to tell that deviation from, all columns share one factor of theirs.
const MIN_DEGREES_OF_FREEDOM: f64 = 3.0;

/// The parts of the samples that are fitted before all of them.
const FIRST_FRACTIONS: [usize; 4] = [16, 8, 4, 2];
/// How far parameters may be off, in their sizes, as far as the first few samples are concerned.
const PRIOR_DEVIATION: f64 = 0.5;

/// A fit that finds no end is put down to a combination of parameters with a smaller singular value than this.
const WEAK_SINGULAR_VALUE: f64 = 1e-4;

/// Patterns are looked for in as many residuals.
const PATTERN_LENGTH: usize = 20;
/// And if they are this part of the quantity. What changes by less does not change.
const MIN_VISIBLE_CHANGE: f64 = 1e-9;

/// What is fitted, beside the runs.
pub(super) struct Task<'a> {
    pub(super) parameters: Vec<Parameter>,
    pub(super) flats: &'a [InertiaEntries],
    /// Deviations that are known.
    pub(super) known: &'a [Option<f64>],
    pub(super) times: &'a [f64],
}

/// Errors of all parameters at a place, including those that are held there.
struct Errors {
    free: Fit,
    /// The part of each residual that the parameters took up.
    leverage: Vec<f64>,
    /// Variances that hold also if the noise is not the same along a column (sandwich, HC2).
    robust: Vec<f64>,
}

impl Errors {
    fn at(runs: &mut Runs<'_>, sigma: &[f64], parameters: &[Parameter]) -> Result<Self, FitError> {
        let still = Options { noise: Noise::Known, max_iterations: 0, ..Options::default() };
        let unbound = |p: &Parameter| match p.lower < p.upper {
            true => Parameter::new(p.name.clone(), p.start),
            false => p.clone(),
        };
        let free: Vec<Parameter> = parameters.iter().map(unbound).collect();
        let free = levenberg_marquardt(&mut Weighted::all(runs, sigma), &free, &still)?;
        let run = runs.at(&free.parameters).map_err(|error| FitError::Start { reason: error.to_string() })?;
        let n = parameters.len();
        let (mut leverage, mut robust) = (Vec::new(), vec![0.0; n]);
        for (i, row) in run.jacobian.chunks(n).enumerate() {
            let weight = 1.0 / sigma[i % sigma.len()];
            let influence: Vec<f64> = (0..n)
                .map(|k| (0..n).map(|l| free.covariance[k * n + l] * row[l] * weight).sum::<f64>())
                .collect();
            let own: f64 = influence.iter().zip(row).map(|(a, j)| a * j * weight).sum();
            let own = own.clamp(0.0, 0.999);
            leverage.push(own);
            for (sum, a) in robust.iter_mut().zip(&influence) {
                *sum += a * a * free.residuals[i] * free.residuals[i] / (1.0 - own);
            }
        }
        Ok(Errors { free, leverage, robust })
    }
}

/// Runs the rounds. Their first weights are guesses: by what is seen to change in each column, and where that leads to no end,
/// as if all quantities had the same relative noise. A column that has nothing but noise in it leads the first one astray,
/// and one that changes little but tells much the second.
pub(super) fn identify(runs: &mut Runs<'_>, task: &Task<'_>) -> Result<Identified, IdentifyError> {
    let spreads = runs.columns.iter().zip(&runs.sizes).map(|(column, size)| {
        let mean = column.measured().sum::<f64>() / column.measured().count() as f64;
        let spread = rms(column.measured().map(|x| x - mean));
        if spread > MIN_VISIBLE_CHANGE * size { spread } else { *size }
    });
    let guesses = [spreads.collect(), runs.sizes.clone()];
    let ended = |found: &Result<Identified, IdentifyError>| {
        found.as_ref().is_ok_and(|found| found.stopped.converged())
    };
    let mut found = rounds(runs, task, &guesses[0]);
    if !ended(&found) && task.known.contains(&None) {
        found = Some(rounds(runs, task, &guesses[1])).filter(ended).unwrap_or(found);
    }
    if runs.interrupted {
        return Err(IdentifyError::Interrupted);
    }
    found
}

fn rounds(runs: &mut Runs<'_>, task: &Task<'_>, guess: &[f64]) -> Result<Identified, IdentifyError> {
    let edges: Vec<Box<Edge<'_>>> = task.flats.iter().map(InertiaEntries::edge).collect();
    let estimated = task.known.contains(&None);
    let mut sigma: Vec<f64> =
        task.known.iter().zip(guess).map(|(known, guess)| known.unwrap_or(*guess)).collect();
    let tight = Options { noise: Noise::Known, ..Options::default() };
    // What the samples cannot determine is best said before anything has moved.
    let still = Options { max_iterations: 0, ..tight.clone() };
    levenberg_marquardt(&mut Weighted::all(runs, &sigma), &task.parameters, &still)?;
    let mut parameters = approach(runs, task, &edges, &sigma);
    // The first weights are guesses and not worth the last digit.
    let rough = Options { gradient: 1e-3, step: 1e-6, ..tight.clone() };
    let mut iterations = 0;
    let mut round = 0;
    loop {
        round += 1;
        let options = if estimated && round == 1 { &rough } else { &tight };
        let mut model = Weighted::all(runs, &sigma);
        let found = levenberg_marquardt_within(&mut model, &parameters, &edges, options);
        let Confined { fit, on } = found.map_err(|error| match &error {
            FitError::Stuck { parameters: at, .. } => {
                hardly(runs, &sigma, &parameters, at, Stop::Reduction).unwrap_or(error)
            }
            _ => located(error, round),
        })?;
        if !(fit.stopped.converged() || runs.interrupted)
            && let Some(error) = hardly(runs, &sigma, &parameters, &fit.parameters, fit.stopped.clone())
        {
            return Err(error.into());
        }
        iterations += fit.iterations;
        for (p, value) in parameters.iter_mut().zip(&fit.parameters) {
            p.start = *value;
        }
        let errors =
            Errors::at(runs, &sigma, &parameters).map_err(|error| ended(error, fit.stopped.clone()))?;
        let next = weights(runs, task, &sigma, &errors);
        let change = sigma.iter().zip(&next).map(|(a, b)| (a / b).ln().abs()).fold(0.0, f64::max);
        let rough = estimated && round == 1;
        if !estimated || (!rough && change < SETTLED_WEIGHTS) || round >= MAX_ROUNDS || runs.interrupted {
            let result = Outcome { sigma, fit, on, errors, iterations, rounds: round };
            return Ok(result.report(runs, task));
        }
        sigma = next;
    }
}

/// Better starts, from fits to the first samples and then to more of them. A run that is slightly off has lost the phase of
/// the motion after a while, and a fit to all of it may end in a minimum that means nothing. What few samples do not
/// determine stays near its start.
fn approach(runs: &mut Runs<'_>, task: &Task<'_>, edges: &[Box<Edge<'_>>], sigma: &[f64]) -> Vec<Parameter> {
    let options = Options { noise: Noise::Known, gradient: 1e-3, step: 1e-6, ..Options::default() };
    let (total, n) = (runs.places.len(), task.parameters.len());
    let start: Vec<f64> = task.parameters.iter().map(|p| p.start).collect();
    let scales: Vec<f64> = runs.sensitivity.scales().iter().map(|scale| PRIOR_DEVIATION * scale).collect();
    let mut parameters = task.parameters.clone();
    for part in FIRST_FRACTIONS {
        let samples = total / part;
        if samples < MIN_FIRST_SAMPLES || samples * sigma.len() < 2 * n || runs.interrupted {
            continue;
        }
        let prior = Some((&start[..], &scales[..]));
        let mut model = Weighted { runs: &mut *runs, sigma, samples, prior };
        let Ok(found) = levenberg_marquardt_within(&mut model, &parameters, edges, &options) else {
            continue;
        };
        // The next samples decide whether it is better.
        let mut next = Weighted { runs: &mut *runs, sigma, samples: (2 * samples).min(total), prior: None };
        let before: Vec<f64> = parameters.iter().map(|p| p.start).collect();
        if next.cost(&found.fit.parameters) < next.cost(&before) {
            for (p, value) in parameters.iter_mut().zip(&found.fit.parameters) {
                p.start = value.clamp(p.lower, p.upper);
            }
        }
    }
    parameters
}

/// The deviation of what is left in each column.
fn weights(runs: &Runs<'_>, task: &Task<'_>, sigma: &[f64], errors: &Errors) -> Vec<f64> {
    let c = sigma.len();
    let squares = |k: usize| errors.free.residuals.iter().skip(k).step_by(c).map(|r| r * r).sum::<f64>();
    let taken = |k: usize| errors.leverage.iter().skip(k).step_by(c).sum::<f64>();
    let samples: Vec<f64> = runs.columns.iter().map(|column| column.measured().count() as f64).collect();
    let unknown: Vec<usize> = (0..c).filter(|k| task.known[*k].is_none()).collect();
    // One factor for all, if there are too few numbers to tell the columns apart.
    let left: f64 = unknown.iter().map(|k| samples[*k] - taken(*k)).sum();
    let total: f64 = unknown.iter().map(|k| squares(*k) * (sigma[*k] / runs.sizes[*k]).powi(2)).sum();
    let common = (total / left.max(0.5)).sqrt();
    let pooled = |k: usize| {
        let same = |j: &&usize| runs.columns[**j].of.item == runs.columns[k].of.item;
        let (mut sum, mut left) = (0.0, 0.0);
        for j in unknown.iter().filter(same) {
            sum += squares(*j) * sigma[*j] * sigma[*j];
            left += samples[*j] - taken(*j);
        }
        if left < MIN_DEGREES_OF_FREEDOM { common * runs.sizes[k] } else { (sum / left).sqrt() }
    };
    let one = |k: usize| match task.known[k] {
        Some(known) => known,
        None if samples[k] < POOL_BELOW_SAMPLES => pooled(k).max(ROUNDING * runs.sizes[k]),
        None => {
            (sigma[k] * (squares(k) / (samples[k] - taken(k)).max(0.5)).sqrt()).max(ROUNDING * runs.sizes[k])
        }
    };
    (0..c).map(one).collect()
}

/// The combination of parameters that the samples hardly determine at a place, if there is one.
fn hardly(
    runs: &mut Runs<'_>,
    sigma: &[f64],
    parameters: &[Parameter],
    at: &[f64],
    stopped: Stop,
) -> Option<FitError> {
    let there =
        |(p, value): (&Parameter, &f64)| Parameter { start: value.clamp(p.lower, p.upper), ..p.clone() };
    let there: Vec<Parameter> = parameters.iter().zip(at).map(there).collect();
    let still = Options {
        noise: Noise::Known,
        max_iterations: 0,
        singular: WEAK_SINGULAR_VALUE,
        ..Options::default()
    };
    match levenberg_marquardt(&mut Weighted::all(runs, sigma), &there, &still) {
        Err(error @ FitError::Singular(_)) => Some(ended(error, stopped)),
        _ => None,
    }
}

/// A later round starts where the one before ended.
fn located(error: FitError, round: usize) -> FitError {
    if round == 1 { error } else { ended(error, Stop::Gradient) }
}

fn ended(error: FitError, stopped: Stop) -> FitError {
    match error {
        FitError::Singular(mut what) => {
            what.place = Place::End { stopped };
            FitError::Singular(what)
        }
        other => other,
    }
}

/// True if residuals follow one another, as noise does not: their correlation from one to the next is beyond four of its
/// standard deviations.
fn is_patterned(residuals: &[f64]) -> bool {
    let n = residuals.len();
    let next: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let all: f64 = residuals.iter().map(|r| r * r).sum();
    n >= PATTERN_LENGTH && next > 4.0 / (n as f64).sqrt() * all
}

/// What the last round left.
struct Outcome {
    sigma: Vec<f64>,
    fit: Fit,
    on: Vec<usize>,
    errors: Errors,
    iterations: usize,
    rounds: usize,
}

impl Outcome {
    fn report(self, runs: &Runs<'_>, task: &Task<'_>) -> Identified {
        let Outcome { sigma, fit, on, errors, iterations, rounds } = self;
        let estimated = task.known.contains(&None);
        let plain = &errors.free.standard_errors;
        // Given deviations are taken at their word.
        let robust: Vec<bool> = plain
            .iter()
            .zip(&errors.robust)
            .map(|(plain, robust)| estimated && plain.is_some_and(|plain| *robust > plain * plain))
            .collect();
        let standard_errors: Vec<Option<f64>> = plain
            .iter()
            .zip(errors.robust.iter().zip(&robust))
            .map(|(plain, (variance, robust))| if *robust { Some(variance.sqrt()) } else { *plain })
            .zip(runs.sensitivity.scales())
            // Round-off does not average out as noise does, and a fit ends a last small step away.
            .map(|(error, scale)| error.map(|error| error.max(Options::default().step * scale)))
            .collect();
        let c = sigma.len();
        let columns = runs.columns.iter().zip(&sigma).enumerate().map(|(k, (column, sigma))| {
            let own = errors.free.residuals.iter().skip(k).step_by(c).zip(&column.data);
            let residuals: Vec<f64> =
                own.map(|(r, datum)| if datum.is_nan() { f64::NAN } else { r * sigma }).collect();
            let there: Vec<f64> = measured(&residuals).collect();
            let visible = rms(there.iter().copied()) > MIN_VISIBLE_CHANGE * runs.sizes[k];
            ColumnFit {
                name: column.of.name.clone(),
                quantity: column.of.whole.clone().unwrap_or_else(|| column.of.name.clone()),
                components: column.of.item.quantity.facts().shape.components().len(),
                sigma: *sigma,
                known: task.known[k].is_some(),
                patterned: visible && is_patterned(&there),
                residuals,
            }
        });
        let missing = runs.columns.iter().map(|column| column.data.len() - column.measured().count()).sum();
        let degrees_of_freedom = errors.free.degrees_of_freedom.saturating_sub(missing);
        Identified {
            names: fit.names.clone(),
            start: runs.sensitivity.values().to_vec(),
            values: fit.parameters.clone(),
            standard_errors,
            factor95: if estimated { student(degrees_of_freedom) } else { NORMAL },
            times: task.times.to_vec(),
            columns: columns.collect(),
            flat: on.iter().map(|i| task.flats[*i].name.clone()).collect(),
            held: fit.held.clone(),
            sum_of_squares: fit.sum_of_squares,
            degrees_of_freedom,
            iterations,
            rounds,
            evaluations: runs.count,
            stopped: fit.stopped,
            free: errors.free,
        }
    }
}
