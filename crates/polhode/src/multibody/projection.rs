//! [M Bᵀ; B -μ] of a pose, and what it is solved for: the nearest positions and velocities that the joints allow, and
//! accelerations with multipliers.
//!
//! Rows of B that depend on others are left out. μ is zero but where loops are open, whose rows will depend on each other once
//! they are closed.

use super::error::AssemblyError;
use super::joint::{Joint, JointKind, MOST_ROWS};
use super::layout::Layout;
use super::place::{Place, zero};
use super::system::{Rigid, System};
use super::tape::{Matrix, Places, Sink, Units};
use crate::scalar::Real;
use crate::solve::{Block, FactorError, Factors, Pattern, Role, elimination_order};
use nalgebra::Vector3;

/// What may be left of the rows of a linear system, relative to their terms.
const SOLVED: f64 = 1e-9;
/// μ where rows depend on each other, relative to the diagonal of B M⁻¹ Bᵀ: at the start, and in a step.
const SOFT_AT_START: f64 = 1e-6;
const SOFT_IN_A_STEP: f64 = 1e-8;

/// The row of the joints that is furthest from zero: its joint, its value, and that relative to the size of the system, or to
/// one if it is an angle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) joint: usize,
    pub(super) value: f64,
    pub(super) relative: f64,
}

/// A row that depends on others.
#[derive(Clone, Debug)]
pub(super) struct Dependent {
    /// Its number among all multipliers.
    pub(super) row: usize,
    /// The joint that it is of.
    pub(super) joint: usize,
    /// The rows of the combination that vanishes, each with its number, if it was asked for.
    pub(super) null: Vec<(usize, f64)>,
}

/// The matrix, and where the bodies are.
pub(super) struct Projection<'a, S: Real> {
    pub(super) system: &'a System<S>,
    pub(super) layout: Layout,
    matrix: Option<Matrix<S>>,
    /// True if its factors are those of where the bodies are.
    is_factored: bool,
    pub(super) places: Vec<Place<S>>,
    pub(super) time: S,
    /// A typical mass, which forces and multipliers are divided by.
    pub(super) mass: S,
    /// A typical length.
    pub(super) size: f64,
    /// The diagonal of B M⁻¹ Bᵀ for the rows of joints that may give way, zero for the rest; empty without such joints.
    softness: Vec<f64>,
    /// True for the rows that are left out because they depend on others; empty without such rows.
    left_out: Vec<bool>,
    /// What mass and inertia of each body count when velocities are made to fit; nothing if all count alike.
    weights: Vec<[f64; 2]>,
    /// The unit of each unknown and of each equation.
    units: Units,
    /// Right-hand side, then solution.
    pub(super) x: Vec<S>,
}

/// The units of unknowns and equations, in which all are of one size: with forces divided by a mass they are lengths, but for
/// turns and angles, which are lengths per length, and for moments, which are lengths times length.
fn units<S: Real>(system: &System<S>, layout: &Layout, size: f64) -> Units {
    let length = if size * size > 0.0 { size } else { 1.0 };
    let (turn, moment) = (length.recip(), length);
    const LENGTH: u8 = 0;
    const TURN: u8 = 1;
    const ANGLE: u8 = 2;
    let of_body = |i: usize| if i % 6 < 3 { LENGTH } else { TURN };
    let mut kinds: Vec<u8> = Vec::with_capacity(layout.n);
    kinds.extend((0..6 * system.bodies.len()).map(of_body));
    for joint in &system.joints {
        let of_row = |row: usize| if joint.is_angle(row) { ANGLE } else { LENGTH };
        kinds.extend((0..joint.kind.rows()).map(of_row));
    }
    kinds.resize(layout.n, LENGTH);
    Units { kinds, all: [[1.0, 1.0], [turn, moment], [moment, turn]] }
}

impl<'a, S: Real> Projection<'a, S> {
    /// Of bodies as they start.
    pub(super) fn new(system: &'a System<S>, time: S, size: f64) -> Self {
        let layout = Layout::new(system, false);
        Projection {
            system,
            matrix: None,
            is_factored: false,
            places: system.bodies.iter().map(Rigid::place).collect(),
            time,
            mass: system.typical_mass(),
            size,
            softness: Vec::new(),
            left_out: Vec::new(),
            weights: Vec::new(),
            units: units(system, &layout, size),
            x: vec![S::zero(); layout.n],
            layout,
        }
    }

    /// Where the bodies are; the rest goes.
    pub(super) fn into_places(self) -> Vec<Place<S>> {
        self.places
    }

    fn write(&self, sink: &mut dyn Sink<S>) {
        let mut rows = [[zero(); 4]; MOST_ROWS];
        for (b, body) in self.system.bodies.iter().enumerate() {
            let (mass, inertia) = match self.weights.get(b) {
                None => (body.mass / self.mass, body.inertia.matrix() / self.mass),
                Some(weights) => {
                    let [linear, angular] = weights.map(|weight| S::lift(weight) / self.mass);
                    (body.mass * linear, body.inertia.matrix() * angular)
                }
            };
            sink.diagonal(6 * b, 6 * b, mass);
            sink.block(6 * b + 3, 6 * b + 3, &inertia);
        }
        for (j, (joint, start)) in self.system.joints.iter().zip(&self.layout.joints).enumerate() {
            let bodies = joint.bodies();
            joint.jacobian(self.time, self.ends(bodies).each_ref(), &mut rows);
            for (k, row) in rows[..joint.kind.rows()].iter().enumerate() {
                if self.is_left_out(self.layout.multipliers[j] + k) {
                    sink.add(start + k, start + k, S::one());
                    continue;
                }
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
                if let Some(soft) = self.soft(j, k) {
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
    /// μ of each row in a step, for joints that depend on each other; empty if all joints are independent.
    pub(super) fn softness_in_a_step(&mut self, joints: &[bool]) -> Vec<S> {
        if !joints.contains(&true) {
            return Vec::new();
        }
        self.soften(|j| joints.get(j) == Some(&true));
        self.softness.iter().map(|soft| S::lift(SOFT_IN_A_STEP * soft)).collect()
    }
    fn is_left_out(&self, row: usize) -> bool {
        self.left_out.get(row) == Some(&true)
    }
    /// True if some rows are left out.
    pub(super) fn leaves_out(&self) -> bool {
        !self.left_out.is_empty()
    }
    /// The squares of the lengths by which turns of the bodies are compared with displacements.
    pub(super) fn lengths(&self) -> Vec<f64> {
        let mut squares = vec![0.0f64; self.system.bodies.len()];
        for end in self.system.joints.iter().flat_map(|joint| &joint.ends) {
            if let Some(body) = end.body {
                squares[body] = squares[body].max(end.point.dot(&end.point).largest());
            }
        }
        // Where everything is in one point, any length will do.
        let whole = if self.size * self.size > 0.0 { self.size * self.size } else { 1.0 };
        let least = 1e-6 * whole;
        squares.into_iter().map(|square| if square > least { square } else { whole }).collect()
    }
    pub(super) fn ends(&self, bodies: [Option<usize>; 2]) -> [Place<S>; 2] {
        bodies.map(|body| body.map_or(Place::ground(), |b| self.places[b]))
    }

    /// Lets the rows of these joints give way by μ, or all of them.
    pub(super) fn soften(&mut self, softened: impl Fn(usize) -> bool) {
        self.softness = vec![0.0; self.layout.rows];
        self.forget_matrix();
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
        self.is_factored = false;
    }
    /// Lets all count alike.
    pub(super) fn weigh_alike(&mut self) {
        self.weights.clear();
        self.is_factored = false;
    }
    /// Takes that back, and leaves no row out.
    pub(super) fn harden(&mut self) {
        self.softness.clear();
        self.left_out.clear();
        self.forget_matrix();
    }
    /// The rows that depend on others at this pose, whose sine to them is less than this; with the combinations that vanish, if
    /// they are asked for.
    pub(super) fn dependencies(&self, sine: f64, with_null: bool) -> Result<Vec<Dependent>, AssemblyError> {
        // Bᵀ, lengths in place of masses: a column for each row of the joints.
        let (lengths, mut entries, mut owners) =
            (self.lengths(), Vec::new(), Vec::with_capacity(self.layout.rows));
        // Those that depend on nothing are columns without entries: what is eliminated around them would only fill up.
        let leaves = self.leaves(&lengths);
        if leaves.iter().all(|is_leaf| *is_leaf) {
            return Ok(Vec::new());
        }
        let mut rows = [[zero(); 4]; MOST_ROWS];
        for (j, joint) in self.system.joints.iter().enumerate() {
            let count = joint.kind.rows();
            if leaves[j] {
                owners.resize(owners.len() + count, j);
                continue;
            }
            let bodies = joint.bodies();
            joint.jacobian(self.time, self.ends(bodies).each_ref(), &mut rows);
            for row in &rows[..count] {
                for (block, slope) in row.iter().enumerate() {
                    let Some(b) = bodies[block / 2] else { continue };
                    let per = if block % 2 == 1 { lengths[b].sqrt() } else { 1.0 };
                    for i in (0..3).filter(|i| slope[*i].largest() != 0.0) {
                        entries.push((6 * b + 3 * (block % 2) + i, owners.len(), slope[i].largest() / per));
                    }
                }
                owners.push(j);
            }
        }
        let n = owners.len().max(6 * self.system.bodies.len());
        let pattern = Pattern::new(n, entries.iter().map(|(i, j, _)| (*i, *j)));
        let mut values = vec![0.0; pattern.nonzeros()];
        for (row, column, value) in &entries {
            if let Some(place) = pattern.position(*row, *column) {
                values[place] += *value;
            }
        }
        let found = Factors::<f64>::dependencies(&pattern, &self.joints_in_order(), &values, sine, with_null)
            .map_err(|_| AssemblyError::NotFinite)?;
        let of = |dependency: crate::solve::Dependency| {
            let row = dependency.unknown;
            Dependent { row, joint: owners[row], null: dependency.null }
        };
        Ok(found.into_iter().map(of).collect())
    }
    /// Leaves rows out that depend on others: their multipliers are zero.
    pub(super) fn leave_out(&mut self, rows: impl Iterator<Item = usize>) {
        self.left_out = vec![false; self.layout.rows];
        rows.for_each(|row| self.left_out[row] = true);
        self.softness.clear();
        self.forget_matrix();
    }

    /// An order of elimination of the rows of the joints.
    fn joints_in_order(&self) -> Vec<usize> {
        let joints = &self.system.joints;
        // Joints that share a body are neighbours.
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); self.system.bodies.len()];
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
            let start = self.layout.multipliers[j];
            Block { unknowns: start..start + joints[j].kind.rows(), role: Role::Free }
        };
        elimination_order(&(0..joints.len()).map(block).collect::<Vec<_>>(), &pairs)
    }

    /// Says that bodies were moved.
    pub(super) fn forget_factors(&mut self) {
        self.is_factored = false;
    }
    /// Says that nothing is left to be solved.
    pub(super) fn forget_matrix(&mut self) {
        self.matrix = None;
    }
    /// Factors the matrix at this pose.
    pub(super) fn factor(&mut self) -> Result<(), AssemblyError> {
        if self.is_factored && self.matrix.is_some() {
            return Ok(());
        }
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => {
                let mut places = Places::default();
                self.write(&mut places);
                let pattern = places.pattern(self.layout.n);
                drop(places);
                Matrix::unrecorded(pattern, &self.layout.blocks(), &self.layout.scales)
            }
        };
        self.write(&mut matrix.rewrite_anywhere());
        let done = matrix.factor();
        // Most are factored once, and what is solved then takes as much room.
        matrix.rest();
        self.matrix = Some(matrix);
        self.is_factored = done.is_ok();
        done.map_err(|error| match error {
            FactorError::Singular { null, .. } => self.singular(&null),
            FactorError::NotFinite { .. } | FactorError::Count { .. } => AssemblyError::NotFinite,
        })
    }
    /// What makes the matrix singular: joints that depend on each other, or bodies without inertia.
    fn singular(&self, null: &[f64]) -> AssemblyError {
        let joints = self.layout.named(self.system, null);
        let pointless = |joint: &&Joint<S>| {
            let coincide = joint.points_coincide(self.ends(joint.bodies()).each_ref());
            matches!(joint.kind, JointKind::Distance { .. }) && coincide && joints.contains(&joint.name)
        };
        if let Some(rod) = self.system.joints.iter().find(pointless) {
            return AssemblyError::NoDirection { joint: rod.name.clone() };
        }
        if !joints.is_empty() {
            return AssemblyError::Dependent { joints };
        }
        let moves = |b: &usize| null[6 * b..6 * b + 6].iter().any(|x| x.abs() > 1e-6);
        let bodies = (0..self.system.bodies.len()).filter(moves);
        AssemblyError::Massless { bodies: bodies.map(|b| self.system.bodies[b].name.clone()).collect() }
    }
    /// Solves for what stands on the right-hand side, and sees that it is solved.
    pub(super) fn solve(&mut self) -> Result<(), AssemblyError> {
        if self.leaves_out() {
            for (j, joint) in self.system.joints.iter().enumerate() {
                for k in 0..joint.kind.rows() {
                    if self.is_left_out(self.layout.multipliers[j] + k) {
                        self.x[self.layout.joints[j] + k] = S::zero();
                    }
                }
            }
        }
        match self.matrix.as_mut().map_or(f64::NAN, |matrix| matrix.refined(&mut self.x, &self.units)) {
            residual if residual < SOLVED => Ok(()),
            residual if residual.is_finite() => Err(AssemblyError::IllConditioned { residual }),
            _ => Err(AssemblyError::NotFinite),
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
