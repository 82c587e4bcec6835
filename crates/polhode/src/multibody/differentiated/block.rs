//! The parameters that are worked on together, and what they change.

use super::super::force::Force;
use super::super::joint::Joint;
use super::super::layout::Layout;
use super::super::simulation::Simulation;
use super::super::system::{Coordinates, End, System};
use super::maps::Predicted;
use super::variation::{BodyVariation, Dual1, Variation, flat_slopes};
use crate::scalar::{Dual, Lane, gather, packed};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// Several parameters: what they change, and the derivatives with respect to them.
#[derive(Clone, Debug)]
pub(super) struct Block<L: Lane> {
    /// The system with derivatives for each.
    pub(super) systems: Vec<Arc<System<Dual1>>>,
    pub(super) gravity: Option<Vector3<L>>,
    /// Bodies whose mass or inertia changes.
    pub(super) heavier: Vec<MassVariation<L>>,
    /// Joints of which only points change that coincide, and others whose points or axes change.
    pub(super) shifted: Vec<PointVariation<L>>,
    pub(super) touched: Vec<usize>,
    /// All joints and forces.
    pub(super) joints: Vec<Joint<Dual<L, 1>>>,
    pub(super) forces: Vec<Force<Dual<L, 1>>>,
    /// True for extra coordinates whose numbers change.
    pub(super) extra: Vec<bool>,
    pub(super) now: Variation<L>,
    pub(super) next: Variation<L>,
}

/// How mass and inertia of a body change.
#[derive(Clone, Copy, Debug)]
pub(super) struct MassVariation<L> {
    pub(super) body: usize,
    pub(super) mass: L,
    pub(super) inertia: Matrix3<L>,
}

/// How the points of a joint change.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointVariation<L> {
    pub(super) joint: usize,
    pub(super) points: [Vector3<L>; 2],
}

/// What a block works on; the next one starts anew.
#[derive(Clone, Debug)]
pub(super) struct Room<L> {
    pub(super) predicted: Vec<Predicted<L>>,
    /// Those of y*, ẏ* of the extra coordinates.
    pub(super) flat: Vec<[Vec<L>; 2]>,
    pub(super) x: Vec<L>,
    /// For the solution with the factors.
    pub(super) pivots: Vec<L>,
}

impl<L: Lane> Room<L> {
    /// Room for a block, or none.
    pub(super) fn new(system: &System<f64>, stabilized: bool, used: bool) -> Self {
        if !used {
            return Room { predicted: Vec::new(), flat: Vec::new(), x: Vec::new(), pivots: Vec::new() };
        }
        let zeros = |n: usize| vec![L::zero(); n];
        let n = Layout::new(system, stabilized).n;
        Room {
            predicted: vec![Predicted::none(); system.bodies.len()],
            flat: system.extra.iter().map(|e| [zeros(e.len()), zeros(e.len())]).collect(),
            x: zeros(n),
            pivots: zeros(n),
        }
    }
    #[inline(always)]
    pub(super) fn add(&mut self, at: usize, v: &Vector3<L>) {
        for i in 0..3 {
            self.x[at + i] += v[i];
        }
    }
    #[inline(always)]
    pub(super) fn part(&self, at: usize) -> Vector3<L> {
        Vector3::new(self.x[at], self.x[at + 1], self.x[at + 2])
    }
}

fn packed_end<L: Lane>(ends: &[&End<Dual1>]) -> End<Dual<L, 1>> {
    End {
        body: ends.first().and_then(|end| end.body),
        point: Vector3::from_fn(|i, _| packed(ends.iter().map(|end| end.point[i]))),
        axes: Matrix3::from_fn(|i, j| packed(ends.iter().map(|end| end.axes[(i, j)]))),
    }
}

fn packed_ends<L: Lane>(ends: &[&[End<Dual1>; 2]]) -> [End<Dual<L, 1>>; 2] {
    core::array::from_fn(|e| packed_end(&ends.iter().map(|ends| &ends[e]).collect::<Vec<_>>()))
}

impl<L: Lane> Block<L> {
    /// Of at most as many parameters as there are lanes.
    pub(super) fn new(shown: &[Simulation<Dual1>]) -> Self {
        let systems: Vec<Arc<System<Dual1>>> = shown.iter().map(|run| run.centered().clone()).collect();
        let number = |x: &Dual1| x.eps[0] != 0.0;
        let vector = |v: &Vector3<Dual1>| v.iter().any(number);
        let matrix = |m: &Matrix3<Dual1>| m.iter().any(number);
        let end = |e: &End<Dual1>| vector(&e.point) || matrix(&e.axes);
        let moved = |j: &Joint<Dual1>| j.ends.iter().any(end) || j.kind.numbers().iter().any(number);
        let shifted = |j: &Joint<Dual1>| j.kind.pins_points() && !j.ends.iter().any(|e| matrix(&e.axes));
        let coordinates = |e: &Coordinates<Dual1>| {
            let lists = [&e.mass, &e.damping, &e.stiffness, &e.force, &e.amplitude];
            lists.into_iter().flatten().chain([&e.frequency, &e.phase]).any(number)
        };
        let all = |touched: &dyn Fn(&System<Dual1>) -> bool| systems.iter().any(|system| touched(system));
        let slope =
            |x: &dyn Fn(&System<Dual1>) -> Dual1| gather::<L>(systems.iter().map(|system| x(system).eps[0]));
        let counts = systems
            .first()
            .map_or([0; 4], |s| [s.bodies.len(), s.joints.len(), s.forces.len(), s.extra.len()]);
        let touched = |b: &usize| {
            all(&|s: &System<Dual1>| number(&s.bodies[*b].mass) || matrix(s.bodies[*b].inertia.matrix()))
        };
        let heavier = |b: usize| MassVariation {
            body: b,
            mass: slope(&|s| s.bodies[b].mass),
            inertia: Matrix3::from_fn(|i, j| slope(&|s| s.bodies[b].inertia.matrix()[(i, j)])),
        };
        let (shifts, touched_joints): (Vec<usize>, Vec<usize>) = (0..counts[1])
            .filter(|j| all(&|s| moved(&s.joints[*j])))
            .partition(|j| systems.iter().all(|s| shifted(&s.joints[*j])));
        let point = |j: usize, e: usize| Vector3::from_fn(|i, _| slope(&|s| s.joints[j].ends[e].point[i]));
        let shift = |j: usize| PointVariation { joint: j, points: [point(j, 0), point(j, 1)] };
        let joint = |j: usize| {
            let all: Vec<&Joint<Dual1>> = systems.iter().map(|s| &s.joints[j]).collect();
            let numbers: Vec<Vec<Dual1>> = all.iter().map(|joint| joint.kind.numbers()).collect();
            let kind = all[0].kind.rebuilt(&mut |k, _| packed(numbers.iter().map(|list| list[k])));
            let ends = packed_ends(&all.iter().map(|joint| &joint.ends).collect::<Vec<_>>());
            Joint { name: String::new(), kind, ends, of: None }
        };
        let force = |f: usize| {
            let all: Vec<&Force<Dual1>> = systems.iter().map(|s| &s.forces[f]).collect();
            let numbers: Vec<Vec<Dual1>> = all.iter().map(|force| force.kind.numbers()).collect();
            let kind = all[0].kind.rebuilt(&mut |k, _| packed(numbers.iter().map(|list| list[k])));
            let ends = packed_ends(&all.iter().map(|force| &force.ends).collect::<Vec<_>>());
            let points: Vec<Vec<Dual1>> = all.iter().map(|force| force.signal_numbers()).collect();
            let mut next = 0..;
            let mut number = |_| {
                let k = next.next().unwrap_or_default();
                packed(points.iter().map(|list| list[k]))
            };
            let signals = all[0].signals.iter().map(|signal| signal.rebuilt(&mut number)).collect();
            let Force { watched, of, .. } = all[0];
            Force { name: String::new(), kind, ends, signals, watched: watched.clone(), of: *of }
        };
        let body =
            |b: usize| BodyVariation::of(&shown.iter().map(|run| &run.bodies()[b]).collect::<Vec<_>>());
        let flat = |i: usize| flat_slopes(&shown.iter().map(|run| &run.extra()[i]).collect::<Vec<_>>());
        let rows = shown.first().map_or(0, |run| run.all_multipliers().len());
        let now = Variation {
            bodies: (0..counts[0]).map(body).collect(),
            extra: (0..counts[3]).map(flat).collect(),
            lambda: (0..rows)
                .map(|k| gather(shown.iter().map(|run| run.all_multipliers()[k].eps[0])))
                .collect(),
        };
        Block {
            gravity: all(&|s| vector(&s.gravity)).then(|| Vector3::from_fn(|i, _| slope(&|s| s.gravity[i]))),
            heavier: (0..counts[0]).filter(touched).map(heavier).collect(),
            shifted: shifts.into_iter().map(shift).collect(),
            touched: touched_joints,
            joints: (0..counts[1]).map(joint).collect(),
            forces: (0..counts[2]).map(force).collect(),
            extra: (0..counts[3]).map(|i| all(&|s| coordinates(&s.extra[i]))).collect(),
            next: now.clone(),
            now,
            systems,
        }
    }
}
