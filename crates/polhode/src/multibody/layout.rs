//! Where the unknowns of a system are.

use super::joint::{Feature, Joint};
use super::system::System;
use crate::scalar::Real;
use crate::solve::{Block, Role};
use std::sync::Arc;

/// So many bodies and joints are many.
const LARGE: usize = 512;

/// Unknowns and equations, numbered alike. A body has the change of its position and attitude and, in the stabilized form,
/// apart from it the change that the velocities see; a joint has its multipliers and, in the stabilized form, as many for
/// the rows of velocity.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) n: usize,
    /// How many unknowns a body has: 6 or 12.
    per_body: usize,
    /// Where each joint starts.
    pub(super) joints: Vec<usize>,
    /// Where the multipliers of each joint start among all multipliers.
    pub(super) multipliers: Vec<usize>,
    /// Where the extra coordinates start.
    pub(super) extra: Vec<usize>,
    /// True for the joints with rows that give way; empty without such joints, and where that does not count.
    redundant: Vec<bool>,
    pub(super) rows: usize,
    /// A typical length, a power of two.
    pub(super) length: f64,
    /// What makes a length of each equation: moments over a mass are divided by that length, and angles multiplied. Nothing if
    /// it is one.
    pub(super) scales: Arc<[f64]>,
}

impl Layout {
    pub(super) fn new<S: Real>(system: &System<S>, stabilized: bool) -> Self {
        let twice = if stabilized { 2 } else { 1 };
        let per_body = 6 * twice;
        let mut n = per_body * system.bodies.len();
        let mut take = |count: usize| {
            n += count;
            n - count
        };
        let mut rows = 0;
        let room = || Vec::with_capacity(system.joints.len());
        let (mut joints, mut multipliers) = (room(), room());
        for joint in &system.joints {
            joints.push(take(joint.kind.rows() * twice));
            multipliers.push(rows);
            rows += joint.kind.rows();
        }
        let extra = system.extra.iter().map(|extra| take(extra.len())).collect();
        let length = system.typical_length();
        let mut scales = Vec::new();
        if length != 1.0 {
            scales.resize(n, 1.0);
            let bodies = scales.iter_mut().take(per_body * system.bodies.len()).enumerate();
            bodies.filter(|(i, _)| i % 6 >= 3).for_each(|(_, scale)| *scale = length.recip());
            for (joint, start) in system.joints.iter().zip(&joints) {
                let count = joint.kind.rows();
                for k in (0..count * twice).filter(|k| joint.is_angle(k % count)) {
                    scales[start + k] = length;
                }
            }
        }
        let (redundant, scales) = (Vec::new(), scales.into());
        Layout { n, per_body, joints, multipliers, extra, redundant, rows, length, scales }
    }
    /// The unknowns that are eliminated together: of bodies, joints and extra coordinates.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let bodies = (0..self.bodies()).map(|b| (self.motion(b), Role::Free));
        let joints = self.joints.iter().enumerate().map(|(j, start)| (*start, self.role(j)));
        let extra = self.extra.iter().map(|start| (*start, Role::Free));
        let starts = bodies.chain(joints).chain(extra);
        let ends = starts.clone().skip(1).map(|(start, _)| start).chain([self.n]);
        starts.zip(ends).map(|((start, role), end)| Block { unknowns: start..end, role }).collect()
    }
    /// How many bodies there are.
    fn bodies(&self) -> usize {
        self.joints.first().or(self.extra.first()).unwrap_or(&self.n) / self.per_body
    }
    /// What the diagonal block of a joint is like.
    pub(super) fn role(&self, joint: usize) -> Role {
        if self.redundant.get(joint) == Some(&true) { Role::Redundant } else { Role::Tied }
    }
    /// Marks the joints with rows that give way by this much, for the order of elimination. In a small system they are left
    /// where they are: it has no fill to speak of, and gets past singular positions more often with the pivots of that order.
    pub(super) fn mark_redundant<S: Real>(&mut self, softness: &[S]) {
        if self.bodies() + self.joints.len() + self.extra.len() < LARGE {
            return;
        }
        let gives_way = |start: &usize| softness.get(*start).is_some_and(|soft| soft.largest() > 0.0);
        if self.multipliers.iter().any(gives_way) {
            self.redundant = self.multipliers.iter().map(gives_way).collect();
        }
    }
    /// The equations of motion of a body, and the columns of what its velocities see.
    #[inline(always)]
    pub(super) fn motion(&self, body: usize) -> usize {
        body * self.per_body
    }
    /// The columns of its position and attitude.
    #[inline(always)]
    pub(super) fn pose(&self, body: usize) -> usize {
        body * self.per_body + self.per_body - 6
    }
    /// The sum of these numbers of equations, each as a length.
    pub(super) fn misfit<S: Real>(&self, residual: &[S]) -> S {
        if self.scales.is_empty() {
            return residual.iter().fold(S::zero(), |sum, r| sum + r.abs());
        }
        residual
            .iter()
            .zip(&self.scales[..])
            .fold(S::zero(), |sum, (r, scale)| sum + r.abs() * S::lift(*scale))
    }
    /// The joints that take part in a combination of columns.
    pub(super) fn named<S: Real>(&self, system: &System<S>, null: &[f64]) -> Vec<String> {
        let part = |start: usize, count: usize| null[start..start + count].iter().any(|x| x.abs() > 1e-6);
        let joints = system.joints.iter().zip(&self.joints);
        joints
            .filter(|(joint, start)| part(**start, joint.kind.rows()))
            .map(|(joint, _)| joint.name.clone())
            .collect()
    }
}

impl<S: Real> Joint<S> {
    /// True if a row is a cosine between two axes, which has no unit of length.
    pub(super) fn is_angle(&self, row: usize) -> bool {
        if let Some(own) = self.kind.own() {
            return own.is_angle(row);
        }
        let mut first = 0;
        for feature in self.kind.features() {
            first += feature.rows();
            if row < first {
                return matches!(feature, Feature::Perpendicular(..));
            }
        }
        false
    }

    /// False where B has a zero for every pose: row, block (x_A, Θ_A, x_B, Θ_B) and coordinate.
    pub(super) fn touches(&self, row: usize, block: usize, coordinate: usize) -> bool {
        block % 2 == 1 || self.touched(row).contains(&coordinate)
    }
    /// The coordinates of position that a row of B has for some pose.
    #[inline(always)]
    pub(super) fn touched(&self, row: usize) -> core::ops::Range<usize> {
        if self.kind.own().is_some() {
            return 0..3;
        }
        let mut first = 0;
        for feature in self.kind.features() {
            let end = first + feature.rows();
            if row < end {
                return match *feature {
                    Feature::Point => row - first..row - first + 1,
                    Feature::Perpendicular(..) => 0..0,
                    _ => 0..3,
                };
            }
            first = end;
        }
        0..0
    }
}
