//! Where bodies start when joints say it: along a tree of joints each body is put where its joint and the coordinates that
//! are given want it, with all that hangs on it. Open trees are exact; what closes loops is left to the projection.

use super::coordinate::{Coordinate, JointStart, StartsOf};
use super::joint::{Joint, JointKind};
use super::place::Place;
use super::system::{Rigid, System};
use crate::group::Rotation;
use crate::scalar::Real;
use crate::solve::Sets;
use nalgebra::Vector3;

/// Joints closed this well, relative to the size of the system, count as closed.
pub(super) const CLOSED: f64 = 1e-8;

/// One joint of the tree: from what stands already to what hangs on it.
#[derive(Clone, Copy, Debug)]
struct Branch {
    joint: usize,
    /// The body that hangs on it, and which end of the joint that is.
    child: usize,
    end: usize,
    /// What it hangs on; `None` is the ground.
    parent: Option<usize>,
}

impl<S: Real> Rigid<S> {
    /// Where it starts and how it moves there.
    pub(super) fn place(&self) -> Place<S> {
        Place { x: self.position, r: self.attitude.matrix(), v: self.velocity, omega: self.omega_body }
    }
}

impl<S: Real> System<S> {
    /// True if joints close a loop.
    pub(super) fn has_loops(&self) -> bool {
        let mut sets = Sets::new(self.bodies.len() + 1);
        self.joints.iter().any(|joint| {
            let [a, b] = joint.bodies().map(|body| body.map_or(0, |b| b + 1));
            !sets.join(a, b)
        })
    }

    /// The joints of the shortest way from one body of a joint to the other without it, of at most so many.
    pub(super) fn around(&self, joint: usize, most: usize) -> Option<Vec<usize>> {
        let node = |body: Option<usize>| body.map_or(0, |b| b + 1);
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); self.bodies.len() + 1];
        for (j, other) in self.joints.iter().enumerate().filter(|(j, _)| *j != joint) {
            other.bodies().into_iter().for_each(|body| near[node(body)].push(j));
        }
        let [from, to] = self.joints[joint].bodies().map(node);
        // The joint through which each node was reached, and how far it is.
        let mut reached: Vec<Option<usize>> = vec![None; near.len()];
        let mut far = vec![usize::MAX; near.len()];
        far[from] = 0;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(here) = queue.pop_front() {
            if here == to || far[here] >= most {
                break;
            }
            for &j in &near[here] {
                for next in self.joints[j].bodies().map(node) {
                    if far[next] == usize::MAX {
                        (far[next], reached[next]) = (far[here] + 1, Some(j));
                        queue.push_back(next);
                    }
                }
            }
        }
        let (mut path, mut here) = (Vec::new(), to);
        while here != from {
            let j = reached[here]?;
            path.push(j);
            let [a, b] = self.joints[j].bodies().map(node);
            here = if a == here { b } else { a };
        }
        Some(path)
    }

    /// A tree of joints from the ground on: joints with given coordinates first, formulas of one's own (a gear, say) last.
    fn tree(&self) -> Vec<Branch> {
        let n = self.bodies.len();
        let mut sets = Sets::new(n + 1);
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); n + 1];
        let mut first: Vec<usize> = self.starts.iter().map(|start| start.joint).collect();
        first.dedup();
        let own = |j: &usize| matches!(self.joints[*j].kind, JointKind::Own(_));
        let (formulas, known): (Vec<usize>, Vec<usize>) = (0..self.joints.len()).partition(own);
        for j in first.into_iter().chain(known).chain(formulas) {
            // A joint that stands on the list twice joins nothing the second time.
            let Some(joint) = self.joints.get(j) else { continue };
            let [a, b] = joint.bodies().map(|body| body.map_or(0, |b| b + 1));
            if sets.join(a, b) {
                near[a].push(j);
                near[b].push(j);
            }
        }
        let mut seen = vec![false; n + 1];
        let mut tree = Vec::new();
        for root in 0..=n {
            if core::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut queue = std::collections::VecDeque::from([root]);
            while let Some(node) = queue.pop_front() {
                for &j in &near[node] {
                    let nodes = self.joints[j].bodies().map(|body| body.map_or(0, |b| b + 1));
                    let end = usize::from(nodes[0] == node);
                    let next = nodes[end];
                    if !core::mem::replace(&mut seen[next], true) {
                        let parent = node.checked_sub(1);
                        tree.push(Branch { joint: j, child: next - 1, end, parent });
                        queue.push_back(next);
                    }
                }
            }
        }
        tree
    }

    /// Puts the bodies where their joints want them.
    pub(super) fn arrange(&mut self, time: S, size: f64) {
        let (tree, starts) = (self.tree(), self.starts.clone());
        let starts = StartsOf::new(&starts);
        let mut moved: Vec<Motion<S>> = vec![Motion::none(); self.bodies.len()];
        for branch in &tree {
            let before = branch.parent.map_or(Motion::none(), |parent| moved[parent]);
            let motion = self.joined(branch, starts.joint(branch.joint), before, (time, size));
            if !motion.is_none {
                let body = &mut self.bodies[branch.child];
                body.position = motion.of_point(&body.position);
                body.attitude = motion.turn.compose(&body.attitude).normalized();
                body.velocity = motion.turn.rotate(&body.velocity);
            }
            moved[branch.child] = motion;
        }
        // Rates: what each joint adds moves all that hangs on it, as angular velocity and velocity at the origin.
        let mut twists = vec![[Vector3::zeros(); 2]; self.bodies.len()];
        for branch in &tree {
            let mut twist = branch.parent.map_or([Vector3::zeros(); 2], |parent| twists[parent]);
            for (_, start) in starts.joint(branch.joint) {
                let Some(rate) = start.rate else { continue };
                let joint = &self.joints[branch.joint];
                let places = joint.bodies().map(|body| self.place_of(body));
                let frames = joint.frames(time, places.each_ref());
                let missing = rate - frames.rate(start.coordinate);
                let axis = frames.frames.axis(0, 2) * if branch.end == 1 { missing } else { -missing };
                match start.coordinate {
                    Coordinate::Angle => {
                        twist[0] += axis;
                        twist[1] += frames.frames.points[0].cross(&axis);
                    }
                    Coordinate::Distance => twist[1] += axis,
                }
            }
            twists[branch.child] = twist;
        }
        for (body, [omega, velocity]) in self.bodies.iter_mut().zip(&twists) {
            body.velocity += velocity + omega.cross(&body.position);
            body.omega_body += body.attitude.unrotate(omega);
        }
    }
    pub(super) fn place_of(&self, body: Option<usize>) -> Place<S> {
        body.map_or_else(Place::ground, |b| self.bodies[b].place())
    }

    /// How the body at the end of a branch moves from where it is drawn: with what it hangs on, into its joint, and as its
    /// coordinate says.
    fn joined(
        &self,
        branch: &Branch,
        starts: &[(usize, &JointStart<S>)],
        before: Motion<S>,
        (time, size): (S, f64),
    ) -> Motion<S> {
        let joint = &self.joints[branch.joint];
        let drawn = self.place_of(Some(branch.child));
        let mut motion = before;
        let places = |motion: &Motion<S>| {
            let moved = Place { x: motion.of_point(&drawn.x), r: motion.turn.matrix() * drawn.r, ..drawn };
            let mut places = [self.place_of(branch.parent), self.place_of(branch.parent)];
            places[branch.end] = moved;
            places
        };
        if S::DEPTH > 0 || joint.opening(time, places(&motion).each_ref(), size) > CLOSED {
            joint.close(branch.end, time, &mut motion, &places);
        }
        for (_, start) in starts {
            let Some(value) = start.value else { continue };
            let at = joint.frames(time, places(&motion).each_ref());
            let near = value.largest();
            let missing = value - at.coordinate(start.coordinate, near);
            let axis = at.frames.axis(0, 2) * if branch.end == 1 { missing } else { -missing };
            motion = match start.coordinate {
                Coordinate::Angle => motion.then_turn(&axis, &at.frames.points[0]),
                Coordinate::Distance => motion.then_shift(&axis),
            };
        }
        motion
    }
}

/// A rigid motion: x becomes R x + u.
#[derive(Clone, Copy, Debug)]
struct Motion<S: Real> {
    turn: Rotation<S>,
    shift: Vector3<S>,
    is_none: bool,
}

impl<S: Real> Motion<S> {
    fn none() -> Self {
        Motion { turn: Rotation::identity(), shift: Vector3::zeros(), is_none: true }
    }
    fn of_point(&self, x: &Vector3<S>) -> Vector3<S> {
        if self.is_none { *x } else { self.turn.rotate(x) + self.shift }
    }
    fn then(&self, turn: Rotation<S>, about: &Vector3<S>) -> Self {
        let shift = turn.rotate(&(self.shift - about)) + about;
        Motion { turn: turn.compose(&self.turn).normalized(), shift, is_none: false }
    }
    /// Then a turn by a rotation vector about a point.
    fn then_turn(&self, psi: &Vector3<S>, about: &Vector3<S>) -> Self {
        self.then(Rotation::from_rotation_vector(psi), about)
    }
    fn then_shift(&self, by: &Vector3<S>) -> Self {
        Motion { shift: self.shift + by, is_none: false, ..*self }
    }
}

/// The shortest turn that takes one direction to another.
fn shortest<S: Real>(from: &Vector3<S>, to: &Vector3<S>) -> Rotation<S> {
    let w = from.dot(to) + S::one();
    if w.largest() < 1e-12 {
        // Half a turn about any axis across.
        let smallest =
            (0..3).fold(0, |s, i| if from[i].abs().largest() < from[s].abs().largest() { i } else { s });
        let mut e = Vector3::zeros();
        e[smallest] = S::one();
        let across = from.cross(&e);
        let across = across / across.dot(&across).sqrt();
        return Rotation { w: S::zero(), v: across };
    }
    let v = from.cross(to);
    let length = (w * w + v.dot(&v)).sqrt();
    Rotation { w: w / length, v: v / length }
}

impl<S: Real> Joint<S> {
    /// How far it is from closed, relative to a length, or to one if a row is an angle.
    pub(super) fn opening(&self, time: S, places: [&Place<S>; 2], size: f64) -> f64 {
        let mut rows = [S::zero(); super::joint::MOST_ROWS];
        self.constraint(time, places, &mut rows);
        let row = |k: usize| rows[k].abs().largest() / if self.is_angle(k) { 1.0 } else { size };
        (0..self.kind.rows()).map(row).fold(0.0, crate::scalar::larger)
    }

    /// Moves the body at one end so that the joint closes: first it turns as little as it must, about its point, then it
    /// shifts. A formula of one's own is left to the projection.
    fn close(
        &self,
        end: usize,
        time: S,
        motion: &mut Motion<S>,
        places: &dyn Fn(&Motion<S>) -> [Place<S>; 2],
    ) {
        use JointKind::{
            Cylindrical, Distance, Fixed, Parallel, Planar, PointInPlane, PointOnLine, Prismatic, Revolute,
            Spherical, Universal,
        };
        let at = |motion: &Motion<S>| self.frames(time, places(motion).each_ref()).frames;
        let other = 1 - end;
        let turn = |motion: &mut Motion<S>, turn: Rotation<S>| {
            let point = at(motion).points[end];
            *motion = motion.then(turn, &point);
        };
        if matches!(self.kind, Revolute | Prismatic | Cylindrical | Planar | Fixed | Parallel) {
            let frames = at(motion);
            turn(motion, shortest(&frames.axis(end, 2), &frames.axis(other, 2)));
        }
        if matches!(self.kind, Prismatic | Fixed) {
            let frames = at(motion);
            turn(motion, shortest(&frames.axis(end, 0), &frames.axis(other, 0)));
        }
        if matches!(self.kind, Universal) {
            // The third axis of the first frame and the first of the second become perpendicular.
            let frames = at(motion);
            let (mine, fixed) = match end {
                1 => (frames.axis(1, 0), frames.axis(0, 2)),
                _ => (frames.axis(0, 2), frames.axis(1, 0)),
            };
            let across = mine - fixed * mine.dot(&fixed);
            let length = across.dot(&across).sqrt();
            if length.largest() > 1e-12 {
                turn(motion, shortest(&mine, &(across / length)));
            }
        }
        let frames = at(motion);
        // From the point of this end to where it has to be.
        let gap = frames.points[other] - frames.points[end];
        let axis = frames.axis(0, 2);
        let along = axis * axis.dot(&gap);
        match self.kind {
            Spherical | Revolute | Universal | Fixed => *motion = motion.then_shift(&gap),
            Prismatic | Cylindrical | PointOnLine => *motion = motion.then_shift(&(gap - along)),
            Planar | PointInPlane => *motion = motion.then_shift(&along),
            Distance { length } => {
                let now = gap.dot(&gap).sqrt();
                if now.largest() > 0.0 {
                    *motion = motion.then_shift(&(gap * (S::one() - length / now)));
                }
            }
            _ => {}
        }
    }
}
