//! Which joints forbid the same motions: a combination of their rows that vanishes for each row too many, along short loops where
//! these have one.

use super::error::AssemblyError;
use super::joint::MOST_ROWS;
use super::leaves::Basis;
use super::place::zero;
use super::projection::{Dependent, Projection};
use crate::scalar::Real;
use std::collections::{BTreeMap, HashMap};

/// Longer loops are not looked at by themselves.
const LONGEST: usize = 24;
/// A part of a combination that is this small against the largest is rounding.
const ROUNDING: f64 = 1e-6;

/// Rows with numbers, whose sum vanishes.
type Combination = Vec<(usize, f64)>;

impl<S: Real> Projection<'_, S> {
    /// For each of these dependent rows the joints of a combination that vanishes, no two of them the same combination: those of
    /// short loops as far as these have enough, else those of any. What no joint here takes part in is determined by the model.
    pub(super) fn loops(&self, found: &[Dependent], sine: f64) -> Result<Vec<Vec<usize>>, AssemblyError> {
        let mut dependent: Vec<usize> = found.iter().map(|dependent| dependent.joint).collect();
        dependent.sort_unstable();
        dependent.dedup();
        let mut loops: Vec<Vec<usize>> = Vec::new();
        for joint in dependent {
            let Some(mut joints) = self.system.around(joint, LONGEST) else { continue };
            joints.push(joint);
            joints.sort_unstable();
            loops.push(joints);
        }
        loops.sort_by_key(Vec::len);
        loops.dedup();
        let (mut known, mut named) = (Independent::default(), Vec::with_capacity(found.len()));
        for joints in loops {
            let combinations = self.combinations(&joints, sine);
            let new = combinations.into_iter().filter(|combination| known.takes(combination)).count();
            named.extend(std::iter::repeat_n(joints, new));
        }
        if named.len() < found.len() {
            let mut all = self.dependencies(sine, true)?;
            all.sort_by_key(|dependent| dependent.null.len());
            let (new, old): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|dependent| known.takes(&dependent.null));
            // The second list counts only where rounding hides that a combination is a new one.
            let missing = found.len() - named.len();
            named.extend(
                new.iter().chain(&old).take(missing).map(|dependent| self.joints_of(&dependent.null)),
            );
        }
        named.truncate(found.len());
        named.sort();
        Ok(named)
    }

    /// The joints of the rows of a combination.
    fn joints_of(&self, rows: &[(usize, f64)]) -> Vec<usize> {
        let starts = &self.layout.multipliers;
        let owner = |row: usize| starts.partition_point(|start| *start <= row) - 1;
        let mut joints: Vec<usize> = rows.iter().map(|(row, _)| owner(*row)).collect();
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    /// All independent combinations of the rows of these joints that vanish.
    fn combinations(&self, joints: &[usize], sine: f64) -> Vec<Combination> {
        let lengths = self.lengths();
        let mut place = HashMap::new();
        for body in joints.iter().flat_map(|j| self.system.joints[*j].bodies()).flatten() {
            let next = place.len();
            place.entry(body).or_insert(next);
        }
        let starts = |j: &usize| {
            let first = self.layout.multipliers[*j];
            first..first + self.system.joints[*j].kind.rows()
        };
        let numbers: Vec<usize> = joints.iter().flat_map(starts).collect();
        let motions = 6 * place.len();
        let mut basis = Basis::with_combinations(motions, numbers.len());
        let (mut rows, mut vanishing, mut own) = ([[zero(); 4]; MOST_ROWS], Vec::new(), 0);
        for j in joints {
            let joint = &self.system.joints[*j];
            let bodies = joint.bodies();
            joint.jacobian(self.time, self.ends(bodies).each_ref(), &mut rows);
            for row in &rows[..joint.kind.rows()] {
                let mut vector = vec![0.0; motions + numbers.len()];
                for (block, slope) in row.iter().enumerate() {
                    let Some(b) = bodies[block / 2] else { continue };
                    let per = if block % 2 == 1 { lengths[b].sqrt() } else { 1.0 };
                    for i in 0..3 {
                        vector[6 * place[&b] + 3 * (block % 2) + i] += slope[i].largest() / per;
                    }
                }
                vector[motions + own] = 1.0;
                own += 1;
                if !basis.takes(&mut vector, sine) {
                    let combination = numbers.iter().copied().zip(vector.drain(motions..));
                    vanishing.push(without_rounding(combination.collect()));
                }
            }
        }
        vanishing
    }
}

/// Without the parts that are rounding.
fn without_rounding(mut combination: Combination) -> Combination {
    let largest = combination.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    combination.retain(|(_, y)| y.abs() > ROUNDING * largest);
    combination
}

/// Combinations of which none is made of the others.
#[derive(Default)]
struct Independent {
    /// Each is zero at the pivots of those before it, and one at its own.
    list: Vec<Combination>,
    /// The combination that has its pivot at a row.
    at: HashMap<usize, usize>,
}

impl Independent {
    /// Takes a combination in, if it is not made of the others.
    fn takes(&mut self, combination: &[(usize, f64)]) -> bool {
        let mut left: BTreeMap<usize, f64> = combination.iter().copied().collect();
        let largest = combination.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
        while let Some((known, row)) = left.keys().filter_map(|row| Some((*self.at.get(row)?, *row))).min() {
            let times = left[&row];
            for (row, y) in &self.list[known] {
                *left.entry(*row).or_insert(0.0) -= times * y;
            }
            left.remove(&row);
        }
        let pivot = left.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map(|(row, y)| (*row, *y));
        let Some((row, size)) = pivot.filter(|(_, y)| y.abs() > ROUNDING * largest) else { return false };
        self.at.insert(row, self.list.len());
        self.list.push(without_rounding(left.into_iter().map(|(row, y)| (row, y / size)).collect()));
        true
    }
}
