//! Fits with edges that are known: smooth conditions c(p) ≥ 0 with their gradients, where the best parameters may lie on
//! c = 0.
//!
//! A fit that meets an edge goes on along it, in coordinates z of the surface c = 0: p(z) = q + W τ with q = p₀ + Z (z - z₀).
//! Z spans what is orthogonal to the gradients at p₀, W has their directions, and τ follows from c(p) = 0 by Newton's
//! method. With G the gradients at p, dp/dz = Z - W (G W)⁻¹ G Z. At the minimum along the edge the sign of its multiplier
//! tells whether the fit should leave it again.

use super::{Fit, FitError, Iteration, Model, Noise, Options, Parameter, Rejected, Stop};
use super::{levenberg_marquardt, levenberg_marquardt_with};
use core::ops::ControlFlow;
use nalgebra::{DMatrix, DVector};

/// A condition c(p) ≥ 0: writes its gradient and returns its value, which is of the order of one inside. The parameters
/// that it depends on should have the same unit.
pub type Edge<'a> = dyn Fn(&[f64], &mut [f64]) -> f64 + 'a;

/// Round-off beyond an edge that is let pass.
const ROOM: f64 = 1e-11;
/// So near an edge with steps refused, a fit goes on along it.
const NEAR: f64 = 1e-2;
/// An edge is left if the minimum without it lies this far inside.
const INSIDE: f64 = 1e-10;
/// How often edges may be met and left.
const PASSES: usize = 12;

/// A fit, and the edges on which it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Confined {
    /// The fit; its errors are those without any edge.
    pub fit: Fit,
    /// The numbers of the edges that the residuals press against.
    pub on: Vec<usize>,
}

/// Minimizes the sum of squares where all conditions hold; the start must meet them.
///
/// ```
/// use polhode::fit::{Edge, Options, Parameter, Residuals, levenberg_marquardt_within};
/// // The point nearest to (2, 1) in the disc of radius one.
/// let mut distance = Residuals::new(3, |p, r, j| {
///     r.copy_from_slice(&[p[0] - 2.0, p[1] - 1.0, 0.0]);
///     j.copy_from_slice(&[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
///     Ok(())
/// });
/// let disc: Box<Edge> = Box::new(|p, gradient| {
///     gradient.copy_from_slice(&[-2.0 * p[0], -2.0 * p[1]]);
///     1.0 - p[0] * p[0] - p[1] * p[1]
/// });
/// let start = [Parameter::new("x", 0.1), Parameter::new("y", 0.0)];
/// let found = levenberg_marquardt_within(&mut distance, &start, &[disc], &Options::default())?;
/// assert!(found.on == [0] && found.fit.stopped.converged());
/// assert!((found.fit.parameters[0] - 2.0 / 5f64.sqrt()).abs() < 1e-7);
/// # Ok::<(), polhode::fit::FitError>(())
/// ```
pub fn levenberg_marquardt_within<M: Model>(
    model: &mut M,
    parameters: &[Parameter],
    edges: &[Box<Edge<'_>>],
    options: &Options,
) -> Result<Confined, FitError> {
    let mut place: Vec<Parameter> = parameters.to_vec();
    let (mut on, mut left): (Vec<usize>, _) = (Vec::new(), vec![false; edges.len()]);
    let (mut iterations, mut evaluations) = (0, 0);
    let mut gradient = vec![0.0; parameters.len()];
    for pass in 1.. {
        let mut halt = |p: &[f64]| {
            let mut gradient = vec![0.0; p.len()];
            (0..edges.len()).any(|i| !on.contains(&i) && !left[i] && edges[i](p, &mut gradient) < NEAR)
        };
        let fit = match on.is_empty() {
            true => inside(model, &place, edges, options, &mut halt)?,
            false => match along(model, &place, edges, &on, options, &mut halt)? {
                Some(fit) => fit,
                // The edge is not smooth there.
                None => return finish(model, &place, options, (iterations, evaluations), on, pinned()),
            },
        };
        iterations += fit.iterations;
        evaluations += fit.evaluations;
        for (p, value) in place.iter_mut().zip(&fit.parameters) {
            p.start = value.clamp(p.lower, p.upper);
        }
        let spent = (iterations, evaluations);
        if !fit.stopped.converged() {
            let near = |i: &usize| !on.contains(i) && edges[*i](&fit.parameters, &mut gradient) < NEAR;
            let more: Vec<usize> = (0..edges.len()).filter(near).collect();
            let met = matches!(fit.stopped, Stop::Pinned { .. } | Stop::Interrupted);
            // Coordinates of a surface end where it has turned across W: there new ones begin.
            let turned = !on.is_empty() && fit.iterations > 0;
            if !met || (more.is_empty() && !turned) || pass >= PASSES {
                let stopped = match fit.stopped {
                    Stop::Interrupted if pass >= PASSES => Stop::Iterations,
                    Stop::Interrupted => pinned(),
                    stopped => stopped,
                };
                return finish(model, &place, options, spent, on, stopped);
            }
            on.extend(more);
            continue;
        }
        let free = match on.is_empty() {
            true => None,
            false => leaves(model, &place, edges, &on, options)?,
        };
        match free {
            None => return finish(model, &place, options, spent, on, fit.stopped),
            Some(_) if pass >= PASSES => {
                return finish(model, &place, options, spent, on, Stop::Iterations);
            }
            Some(i) => {
                left[on[i]] = true;
                on.remove(i);
            }
        }
    }
    finish(model, &place, options, (iterations, evaluations), on, Stop::Iterations)
}

fn pinned() -> Stop {
    Stop::Pinned { reason: "an edge that is not smooth there".into() }
}

/// The result at a place, with all parameters free.
fn finish(
    model: &mut impl Model,
    place: &[Parameter],
    options: &Options,
    (iterations, evaluations): (usize, usize),
    on: Vec<usize>,
    stopped: Stop,
) -> Result<Confined, FitError> {
    let still = Options { max_iterations: 0, ..options.clone() };
    let fit = levenberg_marquardt(model, place, &still)?;
    Ok(Confined { fit: Fit { iterations, evaluations, stopped, ..fit }, on })
}

/// A model that refuses what lies beyond an edge, before it runs.
struct Inside<'a, 'e, M> {
    model: &'a mut M,
    edges: &'a [Box<Edge<'e>>],
}

fn beyond(edges: &[Box<Edge<'_>>], p: &[f64]) -> Option<usize> {
    let mut gradient = vec![0.0; p.len()];
    // NaN counts as beyond.
    (0..edges.len()).find(|i| edges[*i](p, &mut gradient).partial_cmp(&-ROOM).is_none_or(|o| o.is_lt()))
}

impl<M: Model> Model for Inside<'_, '_, M> {
    fn residual_count(&self) -> usize {
        self.model.residual_count()
    }
    fn evaluate(&mut self, p: &[f64], residuals: &mut [f64], jacobian: &mut [f64]) -> Result<(), Rejected> {
        if let Some(i) = beyond(self.edges, p) {
            return Err(Rejected::new(format!("beyond edge {i}")));
        }
        self.model.evaluate(p, residuals, jacobian)
    }
}

fn inside(
    model: &mut impl Model,
    place: &[Parameter],
    edges: &[Box<Edge<'_>>],
    options: &Options,
    halt: &mut dyn FnMut(&[f64]) -> bool,
) -> Result<Fit, FitError> {
    let mut observer = |now: &Iteration| match now.rejected.is_some() && halt(now.parameters) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    levenberg_marquardt_with(&mut Inside { model, edges }, place, options, &mut observer)
}

/// The surface where some conditions are equations, with coordinates around a point of it.
struct Surface<'a, 'e> {
    edges: &'a [Box<Edge<'e>>],
    on: &'a [usize],
    bounds: &'a [Parameter],
    /// Parameters at a bound, which the edge does not move.
    fixed: Vec<bool>,
    origin: DVector<f64>,
    /// Coordinates of the origin.
    first: DVector<f64>,
    /// Z: orthonormal, across the gradients.
    across: DMatrix<f64>,
    /// W: the directions of the gradients.
    along: DMatrix<f64>,
    /// The parameter that each coordinate stands for, and whether it is that one alone.
    stands_for: Vec<(usize, bool)>,
}

impl<'a, 'e> Surface<'a, 'e> {
    /// Around the point of the surface next to some parameters.
    fn new(
        edges: &'a [Box<Edge<'e>>],
        on: &'a [usize],
        bounds: &'a [Parameter],
        mut fixed: Vec<bool>,
    ) -> Option<Self> {
        // What would leave its bounds on the way to the surface stays at them.
        loop {
            let surface = Self::around(edges, on, bounds, fixed.clone())?;
            let outside =
                |j: &usize| surface.origin[*j] < bounds[*j].lower || surface.origin[*j] > bounds[*j].upper;
            match (0..bounds.len()).find(outside) {
                Some(j) if fixed[j] => return None,
                Some(j) => fixed[j] = true,
                None => return Some(surface),
            }
        }
    }
    fn around(
        edges: &'a [Box<Edge<'e>>],
        on: &'a [usize],
        bounds: &'a [Parameter],
        fixed: Vec<bool>,
    ) -> Option<Self> {
        let n = bounds.len();
        let origin = DVector::from_iterator(n, bounds.iter().map(|p| p.start));
        let mut surface = Surface {
            edges,
            on,
            bounds,
            fixed,
            origin,
            first: DVector::zeros(0),
            across: DMatrix::zeros(n, 0),
            along: DMatrix::zeros(n, on.len()),
            stands_for: Vec::new(),
        };
        let (_, gradients) = surface.conditions(&surface.origin);
        let mut mirrors: Vec<DVector<f64>> = Vec::new();
        let mut pivots: Vec<usize> = Vec::new();
        for k in 0..on.len() {
            let mut g = gradients.row(k).transpose();
            (0..n).filter(|j| surface.fixed[*j]).for_each(|j| g[j] = 0.0);
            let length = g.norm();
            if !(length.is_finite() && length > 0.0) {
                return None;
            }
            surface.along.set_column(k, &(&g / length));
            mirrors.iter().for_each(|v| reflect(v, &mut g));
            pivots.iter().for_each(|j| g[*j] = 0.0);
            let (pivot, rest) = (g.icamax(), g.norm());
            if rest <= 1e-8 * length {
                return None;
            }
            g[pivot] += rest.copysign(g[pivot]);
            mirrors.push(g.normalize());
            pivots.push(pivot);
        }
        let kept: Vec<usize> = (0..n).filter(|j| !pivots.contains(j)).collect();
        let columns: Vec<DVector<f64>> = kept
            .iter()
            .map(|&j| {
                let mut z = DVector::zeros(n);
                z[j] = 1.0;
                mirrors.iter().rev().for_each(|v| reflect(v, &mut z));
                z
            })
            .collect();
        if columns.is_empty() {
            return None;
        }
        surface.across = DMatrix::from_columns(&columns);
        surface.stands_for = kept.iter().map(|&j| (j, mirrors.iter().all(|v| v[j] == 0.0))).collect();
        // Coordinates that mix parameters count from their size, so that relative changes make sense.
        let size = surface.origin.amax();
        let size = if size > 0.0 { size } else { 1.0 };
        let first = surface.stands_for.iter().map(|&(j, alone)| if alone { surface.origin[j] } else { size });
        surface.first = DVector::from_iterator(kept.len(), first);
        surface.origin = surface.project(surface.origin.clone())?.0;
        Some(surface)
    }

    /// Values and gradients of the conditions.
    fn conditions(&self, p: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let n = p.len();
        let (mut values, mut gradients) = (DVector::zeros(self.on.len()), DMatrix::zeros(self.on.len(), n));
        let mut gradient = vec![0.0; n];
        for (k, i) in self.on.iter().enumerate() {
            values[k] = self.edges[*i](p.as_slice(), &mut gradient);
            gradients.row_mut(k).copy_from_slice(&gradient);
        }
        (values, gradients)
    }

    /// The point of the surface that is reached along W, with the gradients there.
    fn project(&self, mut p: DVector<f64>) -> Option<(DVector<f64>, DMatrix<f64>)> {
        let mut before = f64::INFINITY;
        for _ in 0..100 {
            let (values, gradients) = self.conditions(&p);
            let size = values.amax();
            // Either it is round-off, or it does not shrink any more.
            if size <= ROOM && (size <= 1e-16 || size >= 0.5 * before) {
                return Some((p, gradients));
            }
            before = size;
            let step = (&gradients * &self.along).lu().solve(&-values)?;
            p += &self.along * step;
            if !p.iter().all(|x| x.is_finite()) {
                return None;
            }
        }
        None
    }

    /// The parameters at some coordinates, and how they change with them.
    fn place(&self, z: &[f64]) -> Option<(DVector<f64>, DMatrix<f64>)> {
        let change = DVector::from_column_slice(z) - &self.first;
        let (p, gradients) = self.project(&self.origin + &self.across * change)?;
        let inverse = (&gradients * &self.along).lu();
        let follow = inverse.solve(&(gradients * &self.across))?;
        Some((p, &self.across - &self.along * follow))
    }
}

fn reflect(mirror: &DVector<f64>, v: &mut DVector<f64>) {
    let factor = 2.0 * mirror.dot(v);
    v.axpy(-factor, mirror, 1.0);
}

/// A model on a surface, as a function of its coordinates.
struct OnSurface<'a, 'e, M> {
    model: &'a mut M,
    surface: &'a Surface<'a, 'e>,
    jacobian: Vec<f64>,
}

impl<M: Model> Model for OnSurface<'_, '_, M> {
    fn residual_count(&self) -> usize {
        self.model.residual_count()
    }
    fn evaluate(&mut self, z: &[f64], residuals: &mut [f64], jacobian: &mut [f64]) -> Result<(), Rejected> {
        let refused = |why: &str| Rejected::new(why.to_string());
        let (p, slopes) = self.surface.place(z).ok_or_else(|| refused("the edge has a corner there"))?;
        let outside = |(x, b): (&f64, &Parameter)| *x < b.lower || *x > b.upper;
        if p.iter().zip(self.surface.bounds).any(outside) {
            return Err(refused("a parameter would leave its bounds"));
        }
        if let Some(i) = beyond(self.surface.edges, p.as_slice()) {
            return Err(Rejected::new(format!("beyond edge {i}")));
        }
        let n = p.len();
        self.model.evaluate(p.as_slice(), residuals, &mut self.jacobian)?;
        for (row, out) in self.jacobian.chunks(n).zip(jacobian.chunks_mut(z.len())) {
            for (k, x) in out.iter_mut().enumerate() {
                *x = row.iter().zip(slopes.column(k).iter()).map(|(a, b)| a * b).sum();
            }
        }
        Ok(())
    }
}

/// The fit along edges, with its parameters; none if they are not smooth.
fn along<M: Model>(
    model: &mut M,
    place: &[Parameter],
    edges: &[Box<Edge<'_>>],
    on: &[usize],
    options: &Options,
    halt: &mut dyn FnMut(&[f64]) -> bool,
) -> Result<Option<Fit>, FitError> {
    let mut fixed: Vec<bool> = place.iter().map(|p| p.lower >= p.upper).collect();
    loop {
        let Some(surface) = Surface::new(edges, on, place, fixed.clone()) else { return Ok(None) };
        let coordinate = |(i, (j, alone)): (usize, &(usize, bool))| {
            let (p, z) = (&place[*j], Parameter::new(place[*j].name.clone(), surface.first[i]));
            if *alone { z.at_least(p.lower).at_most(p.upper) } else { z }
        };
        let start: Vec<Parameter> = surface.stands_for.iter().enumerate().map(coordinate).collect();
        let jacobian = vec![0.0; model.residual_count() * place.len()];
        let mut on_surface = OnSurface { model: &mut *model, surface: &surface, jacobian };
        let mut observer = |now: &Iteration| {
            let mut met = || surface.place(now.parameters).is_some_and(|p| halt(p.0.as_slice()));
            if now.rejected.is_some() && met() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let fit = levenberg_marquardt_with(&mut on_surface, &start, options, &mut observer)?;
        let Some((p, _)) = surface.place(&fit.parameters) else { return Ok(None) };
        let fit = Fit { parameters: p.as_slice().to_vec(), ..fit };
        // Bounds are known by refusals only: a parameter that is stopped by one is fixed there.
        let at = |bound: f64, x: f64| bound.is_finite() && (x - bound).abs() <= 1e-6 * (1.0 + bound.abs());
        let stopped = |j: &usize| !fixed[*j] && (at(place[*j].lower, p[*j]) || at(place[*j].upper, p[*j]));
        match (0..place.len()).find(stopped) {
            Some(j) if matches!(fit.stopped, Stop::Pinned { .. }) => fixed[j] = true,
            _ => return Ok(Some(fit)),
        }
    }
}

/// Which of the edges to leave: the one from which the minimum without it lies farthest inside.
fn leaves(
    model: &mut impl Model,
    place: &[Parameter],
    edges: &[Box<Edge<'_>>],
    on: &[usize],
    options: &Options,
) -> Result<Option<usize>, FitError> {
    let still = Options { max_iterations: 0, noise: Noise::Known, ..options.clone() };
    let n = place.len();
    let covariance = DMatrix::from_row_slice(n, n, &levenberg_marquardt(model, place, &still)?.covariance);
    let p: Vec<f64> = place.iter().map(|p| p.start).collect();
    let m = model.residual_count();
    let (mut residuals, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
    model
        .evaluate(&p, &mut residuals, &mut jacobian)
        .map_err(|refused| FitError::Start { reason: refused.reason })?;
    let slope = DMatrix::from_row_slice(m, n, &jacobian).transpose() * DVector::from_vec(residuals);
    let mut gradients = DMatrix::zeros(on.len(), n);
    let mut gradient = vec![0.0; n];
    for (k, i) in on.iter().enumerate() {
        edges[*i](&p, &mut gradient);
        gradients.row_mut(k).copy_from_slice(&gradient);
    }
    // Half the gradient of the sum of squares is a combination of those of the edges.
    let yielding = &gradients * &covariance * gradients.transpose();
    let Some(stiff) = yielding.try_inverse() else { return Ok(None) };
    let multipliers = &stiff * (gradients * covariance * slope);
    let shift = |k: usize| -multipliers[k] / stiff[(k, k)];
    let farthest = (0..on.len()).max_by(|a, b| shift(*a).total_cmp(&shift(*b)));
    Ok(farthest.filter(|k| shift(*k) > INSIDE))
}

#[cfg(test)]
mod tests;
