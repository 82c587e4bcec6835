//! Linear equations [A Pᵀ; Q -μ] of bodies, each with a block A of its own, and of the rows that tie them. Bodies are eliminated: of
//! the equations -(Q A⁻¹ Pᵀ + μ) x of the rows alone remain. Some bodies stay among the unknowns: those that have no inertia about
//! some axis, because their joints alone say how they turn, and those with so many joints that these would all be tied to each other.

use super::joint::Joint;
use super::layout::Layout;
use super::stored::{Six, StoredRow, add, dot, none, numbers, pulled, six, vectors};
use super::system::{Coordinates, Rigid, System};
use super::tape::{Matrix, Places, Sink, Values};
use super::workspace::Stepping;
use crate::archive::kept;
use crate::scalar::{Quads, Real, Wide};
use crate::solve::{Block, FactorError, Role};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// The most rows of joints at a body that is eliminated.
const MOST_ROWS_OF_A_BODY: usize = 24;
/// Moments of inertia that differ by more than this factor count as one without inertia about some axis.
const MOST_CONDITION: f64 = 1e8;

/// Where the unknowns are, and the equations, which are numbered alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknowns {
    pub(super) n: usize,
    /// Those of bodies that are among them.
    pub(super) bodies: Vec<Option<usize>>,
    /// Those of each joint.
    pub(super) joints: Vec<usize>,
    /// Those of extra coordinates.
    pub(super) extra: Vec<usize>,
    blocks: Vec<Block>,
    /// What makes a length of each equation.
    pub(super) scales: Arc<[f64]>,
    /// The joints at each body that is not among them, and which of their ends it is.
    around: Vec<Vec<(usize, usize)>>,
}

/// True if a body has a velocity for every momentum.
fn is_regular<S: Real>(body: &Rigid<S>) -> bool {
    let size = |m: &Matrix3<S>| m.map(|x| x.largest()).amax();
    let condition = size(body.inertia.matrix()) * size(body.inertia.inverse.matrix());
    body.mass.largest() > 0.0 && condition < MOST_CONDITION
}

impl Unknowns {
    pub(super) fn new<S: Real>(on: &Stepping<'_, S>) -> Self {
        let (system, layout) = (on.system, &on.work.layout);
        let mut around = vec![Vec::new(); system.bodies.len()];
        for (j, joint) in system.joints.iter().enumerate() {
            for (end, body) in joint.bodies().into_iter().enumerate() {
                if let Some(body) = body {
                    around[body].push((j, end));
                }
            }
        }
        let rows = |around: &[(usize, usize)]| -> usize {
            around.iter().map(|(j, _)| system.joints[*j].kind.rows()).sum()
        };
        // What nothing but μ holds would be lost in the rounding of Q A⁻¹ Pᵀ.
        let dependent = !on.work.softness.is_empty();
        let (mut n, mut blocks, mut from) = (0, Vec::new(), Vec::new());
        let mut take = |count: usize, role: Role, first: usize| {
            blocks.push(Block { unknowns: n..n + count, role });
            from.extend(first..first + count);
            n += count;
            n - count
        };
        let mut bodies = Vec::with_capacity(system.bodies.len());
        for (b, body) in system.bodies.iter().enumerate() {
            let stays = dependent || !is_regular(body) || rows(&around[b]) > MOST_ROWS_OF_A_BODY;
            bodies.push(stays.then(|| take(6, Role::Free, layout.motion(b))));
            if stays {
                around[b].clear();
            }
        }
        let mut joints = Vec::with_capacity(system.joints.len());
        for (j, (joint, first)) in system.joints.iter().zip(&layout.joints).enumerate() {
            let is_tied = joint.bodies().into_iter().flatten().all(|b| bodies[b].is_some());
            let role = if is_tied { layout.role(j) } else { Role::Free };
            joints.push(take(joint.kind.rows(), role, *first));
        }
        let flat = system.extra.iter().zip(&layout.extra);
        let extra = flat.map(|(extra, first)| take(extra.len(), Role::Free, *first)).collect();
        let scales = from.iter().filter_map(|i| layout.scales.get(*i).copied()).collect();
        Unknowns { n, bodies, joints, extra, blocks, scales, around }
    }
    /// The joints that take part in a combination of unknowns.
    pub(super) fn named<S: Real>(&self, system: &System<S>, null: &[f64]) -> Vec<String> {
        let takes_part = |(joint, start): &(&Joint<S>, &usize)| {
            null[**start..**start + joint.kind.rows()].iter().any(|x| x.abs() > 1e-6)
        };
        let joints = system.joints.iter().zip(&self.joints).filter(takes_part);
        joints.map(|(joint, _)| joint.name.clone()).collect()
    }
}

/// A row at one body: its number, Q, and A⁻¹ Pᵀ.
#[derive(Clone, Copy, Debug)]
struct Row<S> {
    at: usize,
    slope: Six<S>,
    eased: Six<S>,
}

/// What the matrix is written from.
struct Written<'a, 'b, S: Real, K> {
    unknowns: &'a Unknowns,
    on: &'a Stepping<'b, S>,
    slopes: &'a [Slope<S>],
    /// P and Q, of all rows.
    pushes: &'a [StoredRow<S>],
    seen: &'a [StoredRow<S>],
    /// True if P is Q and A symmetric.
    symmetric: bool,
    /// Room for the rows at one body.
    rows: &'a mut [Row<S>],
    sink: K,
}

/// Room for the rows at one body.
fn room_for_rows<S: Real>() -> Vec<Row<S>> {
    vec![Row { at: 0, slope: none(), eased: none() }; MOST_ROWS_OF_A_BODY]
}

impl<S: Real, K: Sink<S>> Wide<S> for Written<'_, '_, S, K> {
    type Output = K;
    #[inline(always)]
    fn run<Q: Quads<S>>(mut self, quads: Q) -> K {
        let Stepping { system, work, .. } = self.on;
        for (b, at) in self.unknowns.bodies.iter().enumerate() {
            match at {
                Some(at) => {
                    let slope = &self.slopes[b];
                    self.sink.diagonal(*at, *at, slope.heavy);
                    self.sink.block(at + 3, at + 3, &slope.spun);
                }
                None => self.eased(quads, b),
            }
        }
        for (j, joint) in system.joints.iter().enumerate() {
            let (start, first) = (self.unknowns.joints[j], work.layout.multipliers[j]);
            for k in 0..joint.kind.rows() {
                let (push, seen) = (&self.pushes[first + k], &self.seen[first + k]);
                for (end, body) in joint.bodies().into_iter().enumerate() {
                    let Some(column) = body.and_then(|body| self.unknowns.bodies[body]) else { continue };
                    for i in joint.touched(k).chain(3..6) {
                        self.sink.add(start + k, column + i, seen[end].as_flattened()[i]);
                        self.sink.add(column + i, start + k, push[end].as_flattened()[i]);
                    }
                }
                if let Some(soft) = work.soft(first + k) {
                    self.sink.add(start + k, start + k, -soft);
                }
            }
        }
        for (extra, start) in system.extra.iter().zip(&self.unknowns.extra) {
            extra.write_mass(*start, work.mass, &mut self.sink);
        }
        self.sink
    }
}

impl<S: Real, K: Sink<S>> Written<'_, '_, S, K> {
    /// -Q A⁻¹ Pᵀ of the joints at one body.
    #[inline(always)]
    fn eased<Q: Quads<S>>(&mut self, quads: Q, b: usize) {
        let mut count = 0;
        for &(j, end) in &self.unknowns.around[b] {
            let (start, first) = (self.unknowns.joints[j], self.on.work.layout.multipliers[j]);
            let number = self.on.system.joints[j].kind.rows();
            let given = self.seen[first..first + number].iter().zip(&self.pushes[first..first + number]);
            for (row, (k, (seen, push))) in self.rows[count..].iter_mut().zip(given.enumerate()) {
                *row = Row { at: start + k, slope: seen[end], eased: self.slopes[b].ease(&push[end]) };
            }
            count += number;
        }
        let rows = &self.rows[..count];
        for (i, row) in rows.iter().enumerate() {
            for other in &rows[..i] {
                let entry = -dot(quads, &row.slope, &other.eased);
                let back = if self.symmetric { entry } else { -dot(quads, &other.slope, &row.eased) };
                self.sink.add(row.at, other.at, entry);
                self.sink.add(other.at, row.at, back);
            }
            self.sink.add(row.at, row.at, -dot(quads, &row.slope, &row.eased));
        }
    }
}

impl<S: Real> Coordinates<S> {
    /// The mass matrix over a typical mass, where its equations start.
    #[inline(always)]
    pub(super) fn write_mass(&self, start: usize, mass: S, sink: &mut impl Sink<S>) {
        let n = self.len();
        for i in 0..n {
            for j in 0..n {
                sink.add(start + i, start + j, self.mass[i * n + j] / mass);
            }
        }
    }
}

/// A of a body, its part for displacements and that for turns, and what they are divided by.
#[derive(Clone, Debug)]
pub(super) struct Slope<S> {
    heavy: S,
    spun: Matrix3<S>,
    light: S,
    inverse: Matrix3<S>,
}

kept!(Slope<f64> { heavy, spun, light, inverse });

impl<S: Real> Slope<S> {
    pub(super) fn new(heavy: S, spun: Matrix3<S>) -> Self {
        let column = |i: usize| -> Vector3<S> { spun.column(i).into() };
        let [a, b, c] = [column(0), column(1), column(2)];
        let [x, y, z] = [b.cross(&c), c.cross(&a), a.cross(&b)];
        let inverse = Matrix3::from_columns(&[x, y, z]).transpose() / a.dot(&x);
        Slope { heavy, spun, light: heavy.recip(), inverse }
    }
    /// A⁻¹ times six numbers.
    #[inline(always)]
    fn ease(&self, numbers: &Six<S>) -> Six<S> {
        let [push, turn] = vectors(numbers);
        six(&(push * self.light), &(self.inverse * turn))
    }
}

/// Such equations with all that their factors are used with.
#[derive(Clone, Debug)]
pub(super) struct Eased<S: Real> {
    pub(super) unknowns: Arc<Unknowns>,
    matrix: Matrix<S>,
    /// A of all bodies, and that of their masses over the typical mass.
    pub(super) slopes: Vec<Slope<S>>,
    masses: Vec<Slope<S>>,
    /// P and Q, of all rows.
    pub(super) pushes: Vec<StoredRow<S>>,
    pub(super) seen: Vec<StoredRow<S>>,
    /// What bodies are moved by, and what acts on them.
    moved: Vec<Six<S>>,
    pushed: Vec<Six<S>>,
    rows: Vec<Row<S>>,
    x: Vec<S>,
}

kept!(Eased<f64> { matrix, slopes, pushes, seen });

/// The solution of such equations in place of their right-hand side.
struct Solved<'a, S: Real> {
    eased: &'a mut Eased<S>,
    joints: &'a [Joint<S>],
    layout: &'a Layout,
    x: &'a mut [S],
}

impl<S: Real> Eased<S> {
    /// Room for those of a step.
    pub(super) fn new(on: &Stepping<'_, S>) -> Self {
        let (unknowns, bodies, mass) = (Unknowns::new(on), on.bodies.len(), on.work.mass);
        let of = |body: &Rigid<S>| Slope::new(body.mass / mass, body.inertia.matrix() / mass);
        let masses: Vec<_> = on.system.bodies.iter().map(of).collect();
        let (all, mut rows) = (vec![[none(); 2]; on.work.layout.rows], room_for_rows());
        let places = S::widely(Written {
            unknowns: &unknowns,
            on,
            slopes: &masses,
            pushes: &all,
            seen: &all,
            symmetric: true,
            rows: &mut rows,
            sink: Places::default(),
        });
        Eased {
            matrix: Matrix::new(unknowns.n, places, &unknowns.blocks, &unknowns.scales),
            slopes: masses.clone(),
            masses,
            pushes: all.clone(),
            seen: all,
            moved: vec![none(); bodies],
            pushed: vec![none(); bodies],
            rows,
            x: vec![S::zero(); unknowns.n],
            unknowns: Arc::new(unknowns),
        }
    }
    /// Writes the matrix, of what was put into its parts, and factors it.
    pub(super) fn factor(&mut self, on: &Stepping<'_, S>) -> Result<(), FactorError> {
        self.write(on, false)
    }
    /// The same of masses and of the rows where they were taken.
    pub(super) fn factor_masses(&mut self, on: &Stepping<'_, S>) -> Result<(), FactorError> {
        self.slopes.clone_from_slice(&self.masses);
        self.pushes.copy_from_slice(&on.work.jacobians);
        self.seen.copy_from_slice(&on.work.jacobians);
        self.write(on, true)
    }
    fn write(&mut self, on: &Stepping<'_, S>, symmetric: bool) -> Result<(), FactorError> {
        let Eased { unknowns, matrix, slopes, pushes, seen, rows, .. } = self;
        let sink: Values<'_, S> = matrix.rewrite();
        S::widely(Written { unknowns, on, slopes, pushes, seen, symmetric, rows, sink });
        if unknowns.n == 0 { Ok(()) } else { matrix.factor() }
    }
    /// Solves in place, the unknowns of a layout.
    #[inline]
    pub(super) fn solve(&mut self, joints: &[Joint<S>], layout: &Layout, x: &mut [S]) {
        S::widely(Solved { eased: self, joints, layout, x });
    }
    /// Solves in place without bodies that are eliminated.
    #[inline]
    pub(super) fn solve_rows(&mut self, x: &mut [S]) {
        self.matrix.solve(x);
    }
}

impl<S: Real> Wide<S> for Solved<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run<Q: Quads<S>>(self, quads: Q) {
        let Solved { eased, joints, layout, x: all } = self;
        let Eased { unknowns, matrix, slopes, pushes, seen, moved, pushed, x, .. } = eased;
        for (b, at) in unknowns.bodies.iter().enumerate() {
            let given = &all[layout.motion(b)..][..6];
            moved[b] = none();
            match at {
                Some(at) => x[*at..at + 6].copy_from_slice(given),
                None => {
                    let part = |i: usize| Vector3::new(given[i], given[i + 1], given[i + 2]);
                    moved[b] = slopes[b].ease(&six(&part(0), &part(3)));
                }
            }
        }
        for (j, joint) in joints.iter().enumerate() {
            let (count, first) = (joint.kind.rows(), layout.multipliers[j]);
            let motion = joint.bodies().map(|body| body.map_or_else(none, |b| moved[b]));
            let given = &all[layout.joints[j]..][..count];
            let out = &mut x[unknowns.joints[j]..][..count];
            for ((out, given), row) in out.iter_mut().zip(given).zip(&seen[first..first + count]) {
                *out = *given - (dot(quads, &row[0], &motion[0]) + dot(quads, &row[1], &motion[1]));
            }
        }
        let ends = layout.extra.iter().skip(1).copied().chain([layout.n]);
        let flat = || layout.extra.iter().zip(ends.clone()).zip(&unknowns.extra);
        for ((from, end), to) in flat() {
            x[*to..to + end - from].copy_from_slice(&all[*from..end]);
        }
        if !x.is_empty() {
            matrix.solve(x);
        }
        pushed.fill(none());
        for (j, joint) in joints.iter().enumerate() {
            let (count, first) = (joint.kind.rows(), layout.multipliers[j]);
            let found = &x[unknowns.joints[j]..][..count];
            all[layout.joints[j]..][..count].copy_from_slice(found);
            let pulls = pulled(quads, &pushes[first..first + count], found);
            for (pull, body) in pulls.iter().zip(joint.bodies()) {
                if let Some(body) = body {
                    add(quads, &mut pushed[body], pull);
                }
            }
        }
        for (b, at) in unknowns.bodies.iter().enumerate() {
            let out = &mut all[layout.motion(b)..][..6];
            match at {
                Some(at) => out.copy_from_slice(&x[*at..at + 6]),
                None => {
                    let (given, back) = (numbers(&moved[b]), numbers(&slopes[b].ease(&pushed[b])));
                    out.iter_mut().zip(given.iter().zip(&back)).for_each(|(out, (y, z))| *out = *y - *z);
                }
            }
        }
        for ((from, end), to) in flat() {
            all[*from..end].copy_from_slice(&x[*to..to + end - from]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::joint::JointKind;
    use super::super::simulation::Simulation;
    use super::super::structured::Structured;
    use super::super::variational::Varying;
    use super::*;
    use crate::group::{MapKind, Rotation};
    use crate::method::Method;
    use crate::solve::{Equations, Rung};

    /// Three bodies with joints between them, the last one with next to no inertia about its axis if it is thin.
    fn system(kind: JointKind<f64>, thin: bool) -> System<f64> {
        let mut system = System::new(Vector3::new(0.3, -1.0, 9.0));
        let inertia = Matrix3::new(0.3, 0.02, -0.01, 0.02, 0.4, 0.03, -0.01, 0.03, 0.25);
        let last = if thin { Matrix3::from_diagonal(&Vector3::new(1e-10, 0.2, 0.2)) } else { inertia * 0.3 };
        for (name, mass, inertia) in [("a", 1.5, inertia), ("b", 0.8, inertia * 0.7), ("c", 0.3, last)] {
            let mut body = Rigid::new(mass, inertia).unwrap();
            body.omega_body = Vector3::new(1.0, -2.0, 0.5);
            system.body(name, body).unwrap();
        }
        let place = Vector3::new(0.3, 0.1, -0.2);
        for (name, body) in [("on-a", "a"), ("on-b", "b"), ("on-c", "c")] {
            system.frame(name, body, place, Rotation::identity()).unwrap();
        }
        system.joint("hold", JointKind::Spherical, "ground", "a").unwrap();
        system.joint("own", kind, "on-a", "on-b").unwrap();
        system.joint("last", JointKind::Fixed, "on-b", "on-c").unwrap();
        system
    }

    #[test]
    fn solutions_are_corrections_of_the_equations() {
        let kinds = [JointKind::Spherical, JointKind::Revolute, JointKind::Cylindrical, JointKind::Planar];
        let cases = kinds.into_iter().flat_map(|kind| [(kind.clone(), false), (kind, true)]);
        for (kind, thin) in cases {
            let mut run =
                Simulation::new(system(kind.clone(), thin), &Method::parse("variational").unwrap()).unwrap();
            run.step(0.01).unwrap();
            let now = (&run.bodies[..], &run.extra[..], &run.lambda[..]);
            let on = Stepping::new(&run.centered, now, &run.near, &mut run.work, 0.01, 0.01);
            let mut step = Varying { on, map: MapKind::Exponential, acting: &mut run.acting };
            step.begin();
            let mut number = 0.3_f64;
            let mut next = || {
                number = (number * 997.0 + 0.123).fract();
                number - 0.5
            };
            let work = &mut *step.on.work;
            for step in &mut work.steps {
                step.moved = [(); 2].map(|()| Vector3::from_fn(|_, _| next()));
                step.change = step.moved;
            }
            work.lambda.iter_mut().for_each(|l| *l = next());
            let start = (work.steps.clone(), work.lambda.clone());
            step.residual();
            step.linearize(Rung::Careful, true);
            let stays = step.on.work.eased.as_ref().unwrap().unknowns.bodies.iter().flatten().count();
            assert_eq!(stays, usize::from(thin));
            let (n, multiplier) = (step.on.work.layout.n, step.multiplier());
            let given: Vec<f64> = (0..n).map(|_| next()).collect();
            step.on.work.residual.copy_from_slice(&given);
            step.on.work.solve(&run.centered.joints);
            let solution = step.on.work.residual.clone();
            let mut at = |eps: f64| {
                let work = &mut *step.on.work;
                (work.steps, work.lambda) = start.clone();
                work.residual.iter_mut().zip(&solution).for_each(|(x, a)| *x = -eps * a);
                step.on.make_corrections(multiplier, |_, theta| *theta);
                step.residual();
                step.on.work.residual.clone()
            };
            let eps = 1e-6;
            let (ahead, behind) = (at(eps), at(-eps));
            let most = solution.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            for (i, given) in given.iter().enumerate() {
                let slope = (ahead[i] - behind[i]) / (2.0 * eps);
                assert!((given - slope).abs() < 1e-7 * most, "{kind:?} {thin}: {i} {given} {slope}");
            }
        }
    }
}
