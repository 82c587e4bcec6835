//! [M Bᵀ; B -μ] of a pose, and what it is solved for: the nearest positions and velocities that the joints allow, and
//! accelerations with multipliers.
//!
//! μ is zero unless rows of B depend on each other. There the multipliers of least norm are found by solving again for what
//! is left of the rows, which changes them within the range of B alone.

use super::error::AssemblyError;
use super::joint::{Joint, MOST_ROWS, Place, zero};
use super::layout::Layout;
use super::system::System;
use super::tape::{Entries, Matrix, Places, Sink};
use crate::scalar::Real;
use crate::solve::{Block, FactorError, Factors, Pattern, Role, elimination_order};
use nalgebra::{Matrix3, Vector3};

/// What may be left of the right-hand side of a linear system, relative to it.
const SOLVED: f64 = 1e-9;
/// μ where rows depend on each other, relative to the diagonal of B M⁻¹ Bᵀ: at the start, and in a step.
const SOFT_AT_START: f64 = 1e-6;
const SOFT_IN_A_STEP: f64 = 1e-8;

/// What the motion of a body is measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    Masses,
    /// Without masses: whether rows depend on each other is a matter of geometry.
    Lengths,
}

/// The row of the joints that is furthest from zero: its joint, its value, and that relative to the size of the system, or to
/// one if it is an angle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) joint: usize,
    pub(super) value: f64,
    pub(super) relative: f64,
}

/// The matrix, and where the bodies are.
pub(super) struct Projection<'a, S: Real> {
    pub(super) system: &'a System<S>,
    pub(super) layout: Layout,
    matrix: Option<Matrix<S>>,
    pub(super) places: Vec<Place<S>>,
    pub(super) time: S,
    /// A typical mass, which forces and multipliers are divided by.
    pub(super) mass: S,
    /// A typical length.
    pub(super) size: f64,
    /// The diagonal of B M⁻¹ Bᵀ for the rows of joints that depend on others, zero for the rest; empty without such joints.
    softness: Vec<f64>,
    /// What mass and inertia of each body count when velocities are made to fit; nothing if all count alike.
    weights: Vec<[f64; 2]>,
    /// Right-hand side, then solution.
    pub(super) x: Vec<S>,
}

impl<'a, S: Real> Projection<'a, S> {
    /// Of bodies as they start.
    pub(super) fn new(system: &'a System<S>, time: S, size: f64) -> Self {
        let layout = Layout::new(system, false);
        let places = system.bodies.iter().map(|body| Place {
            x: body.position,
            r: body.attitude.matrix(),
            v: body.velocity,
            omega: body.omega_body,
        });
        Projection {
            system,
            matrix: None,
            places: places.collect(),
            time,
            mass: system.typical_mass(),
            size,
            softness: Vec::new(),
            weights: Vec::new(),
            x: vec![S::zero(); layout.n],
            layout,
        }
    }

    fn write(&self, metric: Metric, sink: &mut impl Sink<S>) {
        let mut rows = [[zero(); 4]; MOST_ROWS];
        let lengths = if metric == Metric::Lengths { self.lengths() } else { Vec::new() };
        for (b, body) in self.system.bodies.iter().enumerate() {
            let (mass, inertia) = match metric {
                Metric::Masses => match self.weights.get(b) {
                    None => (body.mass / self.mass, body.inertia.matrix() / self.mass),
                    Some(weights) => {
                        let [linear, angular] = weights.map(|weight| S::lift(weight) / self.mass);
                        (body.mass * linear, body.inertia.matrix() * angular)
                    }
                },
                Metric::Lengths => (S::one(), Matrix3::from_diagonal_element(S::lift(lengths[b]))),
            };
            sink.diagonal(6 * b, 6 * b, mass);
            sink.block(6 * b + 3, 6 * b + 3, &inertia);
        }
        for (j, (joint, start)) in self.system.joints.iter().zip(&self.layout.joints).enumerate() {
            let bodies = joint.bodies();
            joint.jacobian(self.time, self.ends(bodies).each_ref(), &mut rows);
            for (k, row) in rows[..joint.kind.rows()].iter().enumerate() {
                for (block, slope) in row.iter().enumerate() {
                    let Some(body) = bodies[block / 2] else { continue };
                    for i in 0..3 {
                        if joint.touches(k, block, i) {
                            let column = 6 * body + 3 * (block % 2) + i;
                            sink.add(start + k, column, slope[i]);
                            sink.add(column, start + k, slope[i]);
                        }
                    }
                }
                if let (Metric::Masses, Some(soft)) = (metric, self.soft(j, k)) {
                    sink.add(start + k, start + k, -soft);
                }
            }
        }
        for (extra, start) in self.system.extra.iter().zip(&self.layout.extra) {
            for i in 0..extra.len() {
                for j in 0..extra.len() {
                    sink.add(start + i, start + j, extra.mass[i * extra.len() + j] / self.mass);
                }
            }
        }
    }
    /// μ of a row at the start.
    fn soft(&self, joint: usize, row: usize) -> Option<S> {
        let softness = *self.softness.get(self.layout.multipliers[joint] + row)?;
        (softness > 0.0).then(|| S::lift(SOFT_AT_START * softness))
    }
    /// μ of each row in a step; nothing if no rows depend on each other.
    pub(super) fn softness_in_a_step(&self) -> Vec<S> {
        self.softness.iter().map(|soft| S::lift(SOFT_IN_A_STEP * soft)).collect()
    }
    pub(super) fn is_soft(&self) -> bool {
        !self.softness.is_empty()
    }
    /// The squares of the lengths by which turns of the bodies are compared with displacements.
    fn lengths(&self) -> Vec<f64> {
        let mut squares = vec![0.0f64; self.system.bodies.len()];
        for end in self.system.joints.iter().flat_map(|joint| &joint.ends) {
            if let Some(body) = end.body {
                squares[body] = squares[body].max(end.point.dot(&end.point).largest());
            }
        }
        let least = 1e-6 * self.size * self.size;
        squares
            .into_iter()
            .map(|square| if square > least { square } else { self.size * self.size })
            .collect()
    }
    pub(super) fn ends(&self, bodies: [Option<usize>; 2]) -> [Place<S>; 2] {
        bodies.map(|body| body.map_or(Place::ground(), |b| self.places[b]))
    }

    /// Lets the rows of these joints give way by μ, or all of them.
    pub(super) fn soften(&mut self, softened: impl Fn(usize) -> bool) {
        self.softness = vec![0.0; self.layout.rows];
        self.matrix = None;
        let mut rows = [[zero(); 4]; MOST_ROWS];
        for (j, joint) in self.system.joints.iter().enumerate().filter(|(j, _)| softened(*j)) {
            let bodies = joint.bodies();
            joint.jacobian(self.time, self.ends(bodies).each_ref(), &mut rows);
            for (k, row) in rows[..joint.kind.rows()].iter().enumerate() {
                let mut sum = 0.0;
                for (block, slope) in row.iter().enumerate() {
                    let Some(b) = bodies[block / 2] else { continue };
                    let body = &self.system.bodies[b];
                    // A third of the trace stands for the moments, of which thin bodies have one that is zero.
                    let inertia = match block % 2 {
                        0 => body.mass,
                        _ => body.inertia.matrix().trace() / S::lift(3.0),
                    };
                    let part = (slope.dot(slope) * self.mass / inertia).largest();
                    sum += if part.is_finite() { part } else { 0.0 };
                }
                self.softness[self.layout.multipliers[j] + k] = sum.max(f64::MIN_POSITIVE);
            }
        }
    }
    /// Lets bodies count for more or less when velocities are made to fit.
    pub(super) fn weigh(&mut self, weights: impl Fn(usize) -> [f64; 2]) {
        self.weights = (0..self.system.bodies.len()).map(weights).collect();
    }
    /// Lets all count alike.
    pub(super) fn weigh_alike(&mut self) {
        self.weights.clear();
    }
    /// Takes that back.
    pub(super) fn harden(&mut self) {
        self.softness.clear();
        self.matrix = None;
    }
    /// The dependencies among the rows of the joints at this pose: for each the joints that take part.
    pub(super) fn dependencies(&self) -> Result<Vec<Vec<usize>>, AssemblyError> {
        let mut entries = Entries { list: Vec::new() };
        self.write(Metric::Lengths, &mut entries);
        let pattern = Pattern::new(self.layout.n, entries.list.iter().map(|(i, j, _)| (*i, *j)));
        let mut values = vec![S::zero(); pattern.nonzeros()];
        for (row, column, value) in &entries.list {
            if let Some(place) = pattern.position(*row, *column) {
                values[place] += *value;
            }
        }
        let found = Factors::dependencies(&pattern, &self.bodies_first(), &values);
        let found = found.map_err(|_| AssemblyError::NotFinite)?;
        // The joint of each unknown, behind those of the bodies.
        let first = 6 * self.system.bodies.len();
        let mut owners = Vec::with_capacity(self.layout.rows);
        for (j, joint) in self.system.joints.iter().enumerate() {
            owners.extend(core::iter::repeat_n(j, joint.kind.rows()));
        }
        let joints = |null: &[(usize, f64)]| {
            let owner = |(unknown, _): &(usize, f64)| owners.get(unknown.checked_sub(first)?).copied();
            let mut list: Vec<usize> = null.iter().filter_map(owner).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        Ok(found.iter().map(|dependency| joints(&dependency.null)).collect())
    }

    /// An order of elimination with the bodies before the joints.
    fn bodies_first(&self) -> Vec<usize> {
        let (bodies, joints) = (self.system.bodies.len(), &self.system.joints);
        // Joints that share a body are neighbours once that is gone.
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); bodies];
        for (j, joint) in joints.iter().enumerate() {
            joint.bodies().into_iter().flatten().for_each(|b| at[b].push(j));
        }
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for list in &at {
            for (k, &a) in list.iter().enumerate() {
                pairs.extend(list[k + 1..].iter().map(|&b| (a.min(b), a.max(b))));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let block = |j: usize| {
            let start = self.layout.joints[j];
            Block { unknowns: start..start + joints[j].kind.rows(), role: Role::Free }
        };
        let blocks: Vec<Block> = (0..joints.len()).map(block).collect();
        let first =
            (0..6 * bodies).chain(self.layout.extra.first().copied().unwrap_or(self.layout.n)..self.layout.n);
        first.chain(elimination_order(&blocks, &pairs)).collect()
    }

    /// Factors the matrix at this pose.
    pub(super) fn factor(&mut self) -> Result<(), AssemblyError> {
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => {
                let mut places = Places::default();
                self.write(Metric::Masses, &mut places);
                Matrix::new(self.layout.n, places, &self.layout.blocks)
            }
        };
        self.write(Metric::Masses, &mut matrix.rewrite());
        let done = matrix.factor();
        self.matrix = Some(matrix);
        done.map_err(|error| match error {
            FactorError::Singular { null, .. } => self.singular(&null),
            FactorError::NotFinite { .. } | FactorError::Count { .. } => AssemblyError::NotFinite,
        })
    }
    /// What makes the matrix singular: joints that depend on each other, or bodies without inertia.
    fn singular(&self, null: &[f64]) -> AssemblyError {
        let joints = self.layout.named(self.system, null);
        if !joints.is_empty() {
            return AssemblyError::Dependent { joints };
        }
        let moves = |b: &usize| null[6 * b..6 * b + 6].iter().any(|x| x.abs() > 1e-6);
        let bodies = (0..self.system.bodies.len()).filter(moves);
        AssemblyError::Massless { bodies: bodies.map(|b| self.system.bodies[b].name.clone()).collect() }
    }
    /// Solves for what stands on the right-hand side, and sees that it is solved.
    pub(super) fn solve(&mut self) -> Result<(), AssemblyError> {
        match self.matrix.as_mut().map_or(f64::NAN, |matrix| matrix.refined(&mut self.x)) {
            residual if residual < SOLVED => Ok(()),
            residual if residual.is_finite() => Err(AssemblyError::IllConditioned { residual }),
            _ => Err(AssemblyError::NotFinite),
        }
    }
    /// Adds μ times multipliers that are there already to the right-hand side of the rows, so that what is solved for are rows
    /// that do not give way.
    pub(super) fn lean_on(&mut self, multipliers: &[S]) {
        for j in 0..self.system.joints.len() {
            for k in 0..self.system.joints[j].kind.rows() {
                if let Some(soft) = self.soft(j, k) {
                    let held = multipliers[self.layout.multipliers[j] + k] * soft;
                    self.x[self.layout.joints[j] + k] -= held;
                }
            }
        }
    }
    pub(super) fn part(&self, at: usize) -> Vector3<S> {
        Vector3::new(self.x[at], self.x[at + 1], self.x[at + 2])
    }
    /// Writes -f of each joint into the right-hand side.
    pub(super) fn rows(&mut self, f: impl Fn(&Joint<S>, [&Place<S>; 2], &mut [S])) -> Gap {
        self.x.fill(S::zero());
        let mut worst = Gap { joint: 0, value: 0.0, relative: 0.0 };
        for (j, joint) in self.system.joints.iter().enumerate() {
            let mut out = [S::zero(); MOST_ROWS];
            f(joint, self.ends(joint.bodies()).each_ref(), &mut out);
            for (k, value) in out[..joint.kind.rows()].iter().enumerate() {
                self.x[self.layout.joints[j] + k] = -*value;
                let gap = value.abs().largest();
                let relative = if joint.is_angle(k) { gap } else { gap / self.size };
                // What is not a number counts as the largest of all: nothing is larger.
                if relative > worst.relative || relative.is_nan() {
                    worst = Gap { joint: j, value: gap, relative };
                }
            }
        }
        worst
    }
}
