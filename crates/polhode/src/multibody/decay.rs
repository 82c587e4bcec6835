//! What a step that lets energy decay adds to a conserving one: dampers of third order on strains, and a jump of the
//! velocities at its end. Momenta are kept, the energy never rises, and what is slow enough for the step is hardly touched.

use super::finite::{Pull, Strain};
use super::joint::MOST_ROWS;
use super::layout::Layout;
use super::place::{Place, zero};
use super::state::BodyMotion;
use super::structured::Solve;
use super::system::{Coordinates, System};
use super::tape::{Matrix, Places, Product, Sink, keep_matrix};
use crate::archive::Archive;
use crate::scalar::{Dual, Real, Scalar};
use crate::solve::{Block, Role, StepError};
use nalgebra::Vector3;

/// Dampers and the jump of one system.
#[derive(Clone, Debug)]
pub(super) struct Decay<S: Real> {
    chi: f64,
    /// The size of the step under way.
    h: S,
    /// The dampers on the strains of each force.
    damping: Vec<Vec<S>>,
    matrix: Option<Matrix<S>>,
    unknowns: Vec<S>,
    /// Room for both sides of the equations, and for derivatives of the unknowns.
    room: [Vec<S>; 2],
    slopes: Vec<f64>,
    /// The rows of all strains, each with its ζ.
    rows: Vec<(Row<S>, S)>,
}

/// A strain in the velocities of the bodies: the derivative by velocity in space and by Ω in body axes.
#[derive(Clone, Copy, Debug)]
struct Row<S> {
    parts: [(Option<usize>, [Vector3<S>; 2]); 2],
}

impl<S: Real> Row<S> {
    fn new(slope: &Pull<S>, bodies: [Option<usize>; 2], places: &[Place<S>; 2]) -> Self {
        let part = |end: usize| {
            let [force, moment] = slope.on(end);
            (bodies[end], [force, places[end].to_body(&moment)])
        };
        Row { parts: [part(0), part(1)] }
    }
    /// B M⁻¹ Bᵀ.
    fn ease(&self, system: &System<S>) -> S {
        self.parts.iter().fold(S::zero(), |sum, (body, [force, moment])| match body {
            None => sum,
            Some(b) => {
                let body = &system.bodies[*b];
                let turned = moment.dot(&body.inertia.inverse.times(moment));
                // A body without a moment about some axis turns by what it has about others: exact about a principal axis. What
                // has none is as heavy as what holds it; its mass will do.
                let (square, resists) = (moment.dot(moment), moment.dot(&body.inertia.matrix.times(moment)));
                let held = S::select(S::zero().below(resists), square * square / resists, S::zero());
                sum + force.dot(force) / body.mass + S::select(turned.is_finite(), turned, held)
            }
        })
    }
}

impl<S: Scalar> Decay<S> {
    pub(super) fn new(chi: f64) -> Self {
        Decay {
            chi,
            h: S::zero(),
            damping: Vec::new(),
            matrix: None,
            unknowns: Vec::new(),
            room: [Vec::new(), Vec::new()],
            slopes: Vec::new(),
            rows: Vec::new(),
        }
    }
    /// The dampers on the strains of each force.
    pub(super) fn damping(&self) -> &[Vec<S>] {
        &self.damping
    }
    /// Every strain with its row, where the bodies are.
    fn each(system: &System<S>, bodies: &[BodyMotion<S>], mut see: impl FnMut(usize, &Strain<S>, &Row<S>)) {
        for (f, force) in system.forces.iter().enumerate() {
            let places = force.bodies().map(|body| body.map_or_else(Place::ground, |b| bodies[b].place()));
            force.each_strain(places.each_ref(), |strain| {
                see(f, &strain, &Row::new(&strain.slope, force.bodies(), &places));
            });
        }
    }
    /// k h²/4 of a strain.
    fn stiffness(&self, strain: &Strain<S>) -> S {
        strain.stiffness * self.h * self.h * S::lift(0.25)
    }
    /// The dampers of a step: c = χ (k h/2) θ/(1 + θ) with θ = k h² B M⁻¹ Bᵀ / 4.
    pub(super) fn prepare(&mut self, system: &System<S>, bodies: &[BodyMotion<S>], h: S) {
        self.h = h;
        let mut damping = core::mem::take(&mut self.damping);
        damping.resize(system.forces.len(), Vec::new());
        damping.iter_mut().for_each(Vec::clear);
        Self::each(system, bodies, |f, strain, row| {
            let theta = self.stiffness(strain) * row.ease(system);
            let half = strain.stiffness * h * S::lift(0.5 * self.chi);
            damping[f].push(half * theta / (S::one() + theta));
        });
        self.damping = damping;
    }
    fn unwritten(
        system: &System<S>,
        bodies: &[BodyMotion<S>],
        at: (S, &[S]),
        rows: &[(Row<S>, S)],
    ) -> Matrix<S> {
        let (blocks, mut places) = (blocks(system, rows.len()), Places::default());
        let n = blocks.last().map_or(0, |block| block.unknowns.end);
        write(system, bodies, at, rows, (&mut places, &mut vec![S::zero(); n]));
        Matrix::new(n, places, &blocks, &scales(system, rows).into())
    }
    /// v' = argmin |v' - v|²_M/2 + Σ ζ (B_e v')²/2 with B v' = 0, where ζ = χ θ²/(B_e M⁻¹ B_eᵀ) = χ (k h²/4)² B_e M⁻¹ B_eᵀ. The
    /// work of drives in it.
    pub(super) fn jump(
        &mut self,
        system: &System<S>,
        next: &mut [BodyMotion<S>],
        at: (S, &[S]),
        solver: &mut impl Solve<S>,
    ) -> Result<S, StepError> {
        let mut rows = core::mem::take(&mut self.rows);
        rows.clear();
        Self::each(system, next, |_, strain, row| {
            let stiffness = self.stiffness(strain);
            rows.push((*row, stiffness * stiffness * row.ease(system) * S::lift(self.chi)));
        });
        self.rows = rows;
        solver.jump(self, system, next, at)?;
        let work = self.drive_work(system, next, at.0);
        let x = &self.unknowns;
        for (b, body) in next.iter_mut().enumerate() {
            let part = |at: usize| Vector3::new(x[6 * b + at], x[6 * b + at + 1], x[6 * b + at + 2]);
            body.velocity += part(0);
            let inertia = &system.bodies[b].inertia;
            body.carried[1] += body.attitude.rotate(&inertia.matrix.times(&part(3)));
            body.omega_body = system.bodies[b].spin_of(body, body.omega_body + part(3));
        }
        Ok(work)
    }
    /// The impulses of drives in the jump times the rates that they enforce: what their rows change with time alone.
    fn drive_work(&self, system: &System<S>, next: &[BodyMotion<S>], time: S) -> S {
        let (mut work, mut at, mass) = (S::zero(), 6 * next.len(), system.typical_mass());
        for joint in &system.joints {
            let count = joint.kind.rows();
            if joint.is_driven() {
                let still = |b: usize| Place { v: zero(), omega: zero(), ..next[b].place() };
                let places = joint.bodies().map(|body| body.map_or_else(Place::ground, still));
                let mut rates = [S::zero(); MOST_ROWS];
                joint.rates(time, places.each_ref(), &mut rates, None);
                let impulses = &self.unknowns[at..at + count];
                work += impulses.iter().zip(rates).fold(S::zero(), |sum, (x, rate)| sum + *x * mass * rate);
            }
            at += count;
        }
        work
    }
    /// Finds by how much velocities jump.
    pub(super) fn find(
        &mut self,
        system: &System<S>,
        next: &[BodyMotion<S>],
        at: (S, &[S]),
    ) -> Result<(), StepError> {
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => Self::unwritten(system, next, at, &self.rows),
        };
        let rows = system.joints.iter().map(|joint| joint.kind.rows()).sum::<usize>();
        let n = 6 * next.len() + rows + self.rows.len();
        self.unknowns.clear();
        self.unknowns.resize(n, S::zero());
        write(system, next, at, &self.rows, (&mut matrix.rewrite(), &mut self.unknowns));
        let factored = matrix.factor();
        matrix.solve(&mut self.unknowns);
        self.matrix = Some(matrix);
        let (t, h) = ((at.0 - self.h).largest(), self.h.largest());
        match factored.is_ok() && self.unknowns.iter().all(|x| x.largest().is_finite()) {
            true => Ok(()),
            false => Err(StepError::Singular { t, h, joints: Vec::new() }),
        }
    }
}

impl Decay<Dual<f64, 1>> {
    /// Finds the derivatives of what a plain step has found, with its factors: of the right side, less the product of what was
    /// found with those of the matrix.
    pub(super) fn follow(
        &mut self,
        plain: &mut Decay<f64>,
        system: &System<Dual<f64, 1>>,
        next: &[BodyMotion<Dual<f64, 1>>],
        at: (Dual<f64, 1>, &[Dual<f64, 1>]),
    ) {
        let Decay { unknowns, room: [left, right], slopes, .. } = self;
        unknowns.clear();
        unknowns.extend(plain.unknowns.iter().map(|x| Dual::constant(*x)));
        for side in [&mut *left, &mut *right] {
            side.clear();
            side.resize(unknowns.len(), Dual::constant(0.0));
        }
        write(system, next, at, &self.rows, (&mut Product { x: unknowns, out: left }, right));
        slopes.clear();
        slopes.extend(right.iter().zip(&*left).map(|(right, left)| right.eps[0] - left.eps[0]));
        match &mut plain.matrix {
            Some(matrix) => matrix.solve(slopes),
            None => slopes.fill(f64::NAN),
        }
        unknowns.iter_mut().zip(slopes).for_each(|(x, slope)| x.eps = [*slope]);
    }
}

impl Decay<f64> {
    /// What influences the steps to come.
    pub(super) fn keep(
        &mut self,
        archive: &mut Archive<'_>,
        system: &System<f64>,
        (bodies, time, softness): (&[BodyMotion<f64>], f64, &[f64]),
    ) {
        let mut rows = Vec::new();
        Self::each(system, bodies, |_, _, row| rows.push((*row, 0.0)));
        keep_matrix(&mut self.matrix, archive, || Self::unwritten(system, bodies, (time, softness), &rows));
    }
}

/// Writes [M Bᵀ B_eᵀ; B 0 0; B_e 0 -1/ζ] over a typical mass, and the right side [0; -B v; -B_e v].
fn write<S: Real>(
    system: &System<S>,
    bodies: &[BodyMotion<S>],
    (time, softness): (S, &[S]),
    strains: &[(Row<S>, S)],
    (sink, right): (&mut dyn Sink<S>, &mut [S]),
) {
    let mass = system.typical_mass();
    for (b, body) in system.bodies.iter().enumerate() {
        sink.diagonal(6 * b, 6 * b, body.mass / mass);
        sink.block(6 * b + 3, 6 * b + 3, &(body.inertia.matrix() / mass));
    }
    let mut at = 6 * bodies.len();
    let mut multiplier = 0;
    let mut rows = [[zero(); 4]; MOST_ROWS];
    for joint in &system.joints {
        let places = joint.bodies().map(|body| body.map_or_else(Place::ground, |b| bodies[b].place()));
        joint.jacobian(time, places.each_ref(), &mut rows);
        let mut rates = [S::zero(); MOST_ROWS];
        joint.rates(time, places.each_ref(), &mut rates, None);
        let count = joint.kind.rows();
        for k in 0..count {
            for (block, slope) in rows[k].iter().enumerate() {
                let Some(body) = joint.bodies()[block / 2] else { continue };
                let column = 6 * body + 3 * (block % 2);
                for i in 0..3 {
                    sink.add(at + k, column + i, slope[i]);
                    sink.add(column + i, at + k, slope[i]);
                }
            }
            if let Some(soft) = softness.get(multiplier + k).filter(|soft| soft.largest() > 0.0) {
                sink.add(at + k, at + k, -*soft);
            }
            right[at + k] = -rates[k];
        }
        at += count;
        multiplier += count;
    }
    for (row, zeta) in strains {
        let mut rate = S::zero();
        for (body, [force, moment]) in &row.parts {
            let Some(body) = body else { continue };
            let now = &bodies[*body];
            rate += force.dot(&now.velocity) + moment.dot(&now.omega_body);
            for (part, slope) in [force, moment].into_iter().enumerate() {
                for i in 0..3 {
                    // ζ times the row: it holds where ζ is zero too.
                    sink.add(at, 6 * body + 3 * part + i, slope[i] * *zeta / mass);
                    sink.add(6 * body + 3 * part + i, at, slope[i]);
                }
            }
        }
        sink.add(at, at, -S::one());
        right[at] = -rate * *zeta / mass;
        at += 1;
    }
}

/// What makes a length of each equation, see [`Layout::scales`].
fn scales<S: Real>(system: &System<S>, strains: &[(Row<S>, S)]) -> Vec<f64> {
    let layout = Layout::new(system, false);
    let mut scales = layout.scales.to_vec();
    if !scales.is_empty() {
        scales.truncate(layout.n - system.extra.iter().map(Coordinates::len).sum::<usize>());
        // A strain that no displacement changes is an angle, and its equation one of moments.
        let turns = |row: &Row<S>| row.parts.iter().all(|(_, [force, _])| force.iter().all(S::is_zero));
        scales.extend(strains.iter().map(|(row, _)| if turns(row) { layout.length.recip() } else { 1.0 }));
    }
    scales
}

/// The unknowns of these equations: velocities of bodies, multipliers of joints and of strains.
fn blocks<S: Real>(system: &System<S>, strains: usize) -> Vec<Block> {
    let bodies = system.bodies.iter().map(|_| (6, Role::Free));
    let joints = system.joints.iter().map(|joint| (joint.kind.rows(), Role::Tied));
    let strains = (0..strains).map(|_| (1, Role::Free));
    let mut at = 0;
    let block = |(count, role): (usize, Role)| {
        at += count;
        Block { unknowns: at - count..at, role }
    };
    bodies.chain(joints).chain(strains).map(block).collect()
}
