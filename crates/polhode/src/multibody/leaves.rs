//! Joints that cannot depend on others: those which alone tie a body to one other, from the ends of a system inwards.

use super::joint::MOST_ROWS;
use super::place::zero;
use super::projection::Projection;
use crate::scalar::Real;

/// What is left of a row after others, relative to it, if it is clearly independent of them.
const CLEARLY: f64 = 1e-3;
/// The motions of a body, and the most rows that can be independent at it.
const MOTIONS: usize = 6;

/// Vectors of one length, each of them at right angles to the others, with the combination that made each of them behind it.
pub(super) struct Basis {
    length: usize,
    /// With the combinations.
    width: usize,
    vectors: Vec<f64>,
}

impl Basis {
    /// Without combinations.
    pub(super) fn new(length: usize) -> Basis {
        Basis::with_combinations(length, 0)
    }
    /// With combinations of so many.
    pub(super) fn with_combinations(length: usize, count: usize) -> Basis {
        Basis { length, width: length + count, vectors: Vec::new() }
    }
    pub(super) fn clear(&mut self) {
        self.vectors.clear();
    }
    /// Takes a vector in if its sine to the others is more than this. Else the combination that vanishes stands behind it.
    pub(super) fn takes(&mut self, vector: &mut [f64], sine: f64) -> bool {
        let length = self.length;
        let norm = |v: &[f64]| v[..length].iter().map(|x| x * x).sum::<f64>().sqrt();
        let size = norm(vector);
        // Twice, because what is left of one that depends on others is rounding.
        for _ in 0..2 {
            for known in self.vectors.chunks(self.width) {
                let part: f64 = known[..length].iter().zip(&*vector).map(|(a, b)| a * b).sum();
                vector.iter_mut().zip(known).for_each(|(x, known)| *x -= part * known);
            }
        }
        let left = norm(vector);
        let is_more = left > sine * size;
        if is_more {
            self.vectors.extend(vector.iter().map(|x| x / left));
        }
        is_more
    }
}

impl<S: Real> Projection<'_, S> {
    /// True for each joint whose rows take part in no dependency. A body that is tied to one other alone moves as it likes: no
    /// combination of rows vanishes in which those of its joints take part, if they are independent for the body by itself.
    pub(super) fn leaves(&self, lengths: &[f64]) -> Vec<bool> {
        let joints = &self.system.joints;
        // The joints at each body, one body after the other.
        let mut starts = vec![0u32; self.system.bodies.len() + 1];
        let at = |j: usize| joints[j].bodies().into_iter().flatten();
        (0..joints.len()).flat_map(at).for_each(|b| starts[b + 1] += 1);
        let mut left: Vec<u32> = starts[1..].to_vec();
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let (mut list, mut next) = (vec![0u32; starts[starts.len() - 1] as usize], starts.clone());
        for j in 0..joints.len() {
            for b in at(j) {
                list[next[b] as usize] = j as u32;
                next[b] += 1;
            }
        }
        drop(next);
        let mut leaves = vec![false; joints.len()];
        let (mut basis, mut own) = (Basis::new(MOTIONS), Vec::new());
        let mut waiting: Vec<usize> = (0..left.len()).rev().collect();
        while let Some(body) = waiting.pop() {
            // A body with many joints is looked at when few of them are left.
            if left[body] == 0 || left[body] as usize > MOTIONS {
                continue;
            }
            let here = &list[starts[body] as usize..starts[body + 1] as usize];
            own.clear();
            own.extend(here.iter().map(|j| *j as usize).filter(|j| !leaves[*j]));
            let other = |j: usize| joints[j].bodies().into_iter().find(|end| *end != Some(body)).flatten();
            let beyond = own.first().and_then(|j| other(*j));
            basis.clear();
            if own
                .iter()
                .any(|j| other(*j) != beyond || !self.is_free_of_others(*j, body, lengths, &mut basis))
            {
                continue;
            }
            own.iter().for_each(|j| leaves[*j] = true);
            left[body] = 0;
            if let Some(beyond) = beyond {
                left[beyond] -= own.len() as u32;
                waiting.push(beyond);
            }
        }
        leaves
    }
    /// Takes the rows of a joint at one of its bodies in, if they are clearly independent.
    fn is_free_of_others(&self, joint: usize, body: usize, lengths: &[f64], basis: &mut Basis) -> bool {
        let joint = &self.system.joints[joint];
        let bodies = joint.bodies();
        let mut rows = [[zero(); 4]; MOST_ROWS];
        joint.jacobian(self.time, self.ends(bodies).each_ref(), &mut rows);
        let first = if bodies[0] == Some(body) { 0 } else { 2 };
        rows[..joint.kind.rows()].iter().all(|row| {
            let [linear, angular] = [&row[first], &row[first + 1]];
            let per = lengths[body].sqrt();
            let mut vector: [f64; MOTIONS] = core::array::from_fn(|i| match i {
                0..3 => linear[i].largest(),
                _ => angular[i - 3].largest() / per,
            });
            basis.takes(&mut vector, CLEARLY)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Rotation;
    use crate::multibody::{GROUND, JointKind, Rigid, System};
    use nalgebra::{Matrix3, Vector3};

    /// Joints of these kinds between pairs of bodies, each at a point of its own.
    fn leaves(bodies: &[&str], joints: &[(JointKind<f64>, [&str; 2])]) -> Vec<bool> {
        let mut system = System::new(Vector3::zeros());
        for body in bodies {
            system.body(body, Rigid::new(1.0, Matrix3::identity()).unwrap()).unwrap();
        }
        for (k, (kind, between)) in joints.iter().enumerate() {
            let point = Vector3::new(1.0, 0.3 * k as f64, 0.1 * (k * k) as f64);
            let frames = [0, 1].map(|end| {
                let name = format!("{k}-{end}");
                system.frame(&name, between[end], point, Rotation::identity()).unwrap();
                name
            });
            system.joint(&format!("j{k}"), kind.clone(), &frames[0], &frames[1]).unwrap();
        }
        Projection::new(&system, 0.0, 1.0).leaves(&vec![1.0; bodies.len()])
    }

    #[test]
    fn trees_are_leaves_to_their_root() {
        let joints = [
            (JointKind::Revolute, [GROUND, "a"]),
            (JointKind::Spherical, ["a", "b"]),
            (JointKind::Fixed, ["c", "a"]),
            (JointKind::Distance { length: 1.0 }, ["b", "d"]),
        ];
        // A rod whose ends are in one point has no direction, and keeps what is between it and the root.
        assert_eq!(leaves(&["a", "b", "c", "d"], &joints), [false, false, true, false]);
        assert_eq!(leaves(&["a", "b", "c"], &joints[..3]), [true; 3]);
    }
    #[test]
    fn loops_are_not() {
        let joints = [
            (JointKind::Spherical, ["a", "b"]),
            (JointKind::Spherical, ["b", "c"]),
            (JointKind::Spherical, ["c", "a"]),
            (JointKind::Revolute, ["c", "d"]),
        ];
        assert_eq!(leaves(&["a", "b", "c", "d"], &joints), [false, false, false, true]);
    }
    #[test]
    fn joints_between_the_same_bodies_are_looked_at_together() {
        let pair = |first, second| leaves(&["a"], &[(first, [GROUND, "a"]), (second, [GROUND, "a"])]);
        assert_eq!(pair(JointKind::Parallel, JointKind::PointInPlane), [true; 2]);
        // Two points of a body cannot move apart anyway, and seven rows are more than it has motions.
        assert_eq!(pair(JointKind::Spherical, JointKind::Spherical), [false; 2]);
        assert_eq!(pair(JointKind::Fixed, JointKind::PointInPlane), [false; 2]);
    }
}
