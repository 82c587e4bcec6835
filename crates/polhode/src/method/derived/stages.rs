//! Munthe-Kaas methods with derivatives. The stages Y_k = Y₀ + h Σ a_kj F(Y_j) of the plain step are known; with F' the
//! derivative of F for stages that stand still, and DF its slope, the derivatives of the stages solve
//! Y'_k - h Σ a_kj DF_j Y'_j = Y'₀ + h Σ a_kj F'_j, a linear system that all directions share.

use super::Varied;
use crate::body::Dynamics;
use crate::body::{AnyBody, BodyAt, State};
use crate::group::{Coordinates, Group, lift};
use crate::method::mkrk::{self, SlopeJets, slope_jets, slope_pair, stage};
use crate::method::tableau::Tableau;
use crate::scalar::Dual;
use crate::solve::{StepError, Work, factorize, substitute_rows};
use core::ops::Range;

/// (Ψ, p), with derivatives.
type Pair<G> = <G as Group>::Pair<Dual<f64, 1>>;

/// The plain body, and those with derivatives.
type Bodies<'a, 'b, G> = (&'a dyn AnyBody<f64, G>, &'a Varied<'b, G>);
/// A state with derivatives.
type VariedState<G> = State<Dual<f64, 1>, G>;

/// A tableau at work, with the memory for all directions.
#[derive(Clone, Debug)]
pub(super) struct Stages<G: Dynamics> {
    plain: mkrk::Stages<f64, G>,
    /// F with its slope DF, of each stage.
    slopes: Vec<SlopeJets<f64, G>>,
    matrix: Vec<f64>,
    swaps: Vec<bool>,
    /// F with all derivatives, of each stage of each block of directions.
    f: Vec<Pair<G>>,
    right: Vec<[f64; 1]>,
}

impl<G: Dynamics> Stages<G> {
    pub(super) fn new(tableau: &Tableau, directions: usize) -> Self {
        let plain = mkrk::Stages::new(tableau);
        let coupled = plain.blocks.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        let n = coupled * G::Pair::<f64>::LEN;
        Stages {
            slopes: vec![[Coordinates::origin(); 4]; tableau.stages()],
            matrix: vec![0.0; n * n],
            swaps: vec![false; n * n],
            f: vec![Coordinates::origin(); tableau.stages() * directions],
            right: vec![[0.0; 1]; n],
            plain,
        }
    }

    #[inline(never)]
    pub(super) fn step(
        &mut self,
        (body, varied): Bodies<'_, '_, G>,
        (state, states): (&State<f64, G>, &mut [VariedState<G>]),
        (t, h): (f64, f64),
        work: &mut Work,
    ) -> Result<State<f64, G>, StepError> {
        let end = self.plain.step(body, state, t, h, work)?;
        if self.plain.classical {
            for (k, state) in states.iter_mut().enumerate() {
                *state = mkrk::classical(&varied(k).mechanics(), state, Dual::constant(t), Dual::constant(h));
            }
            return Ok(end);
        }
        let count = self.plain.tableau.stages();
        for b in 0..self.plain.blocks.len() {
            let block = self.plain.blocks[b].clone();
            let implicit = block.len() > 1 || self.plain.tableau.a(block.start, block.start) != 0.0;
            if implicit {
                self.linearize(body, state, t, h, &block);
            }
            for (n, state) in states.iter().enumerate() {
                let body = varied(n);
                match implicit {
                    true => self.coupled(n * count, body, state, t, h, &block),
                    false => {
                        let first = block.start;
                        let y = self.sum(n * count, state, h, first, |j| self.plain.tableau.a(first, j));
                        self.f[n * count + first] = self.slope(body, state, t, h, first, &y);
                    }
                }
            }
        }
        for (n, state) in states.iter_mut().enumerate() {
            let y = self.sum(n * count, state, h, count, |j| self.plain.tableau.b()[j]);
            let (psi, p) = G::split(&y);
            *state = mkrk::leave::<_, G>(&state.pose, &psi, &p);
        }
        Ok(end)
    }

    /// F at (Ψ, p) of stage k.
    fn slope(
        &self,
        body: &dyn BodyAt<Dual<f64, 1>, G>,
        state: &State<Dual<f64, 1>, G>,
        t: f64,
        h: f64,
        k: usize,
        y: &Pair<G>,
    ) -> Pair<G> {
        let (time, inward) = stage(t, h, self.plain.tableau.c()[k]);
        slope_pair(&body.mechanics(), &state.pose, (Dual::constant(time), inward), y)
    }

    /// Y₀ + h Σ w_j F_j over the first stages of the block of directions that begins at `offset`.
    #[inline(always)]
    fn sum(
        &self,
        offset: usize,
        state: &State<Dual<f64, 1>, G>,
        h: f64,
        stages: usize,
        weight: impl Fn(usize) -> f64,
    ) -> Pair<G> {
        let mut y = G::join(&G::Vector::<Dual<f64, 1>>::origin(), &state.momentum);
        for j in 0..stages {
            let w = h * weight(j);
            if w != 0.0 {
                let f = &self.f[offset + j];
                y = Coordinates::generate(|i| {
                    let (y, f): (Dual<f64, 1>, Dual<f64, 1>) = (y.at(i), f.at(i));
                    Dual { re: y.re + w * f.re, eps: core::array::from_fn(|k| y.eps[k] + w * f.eps[k]) }
                });
            }
        }
        y
    }

    /// The slopes of F at the stages of a block, and the factors of the matrix of its equations.
    fn linearize(
        &mut self,
        body: &dyn AnyBody<f64, G>,
        state: &State<f64, G>,
        t: f64,
        h: f64,
        block: &Range<usize>,
    ) {
        let width = G::Pair::<f64>::LEN;
        let n = block.len() * width;
        for (column, j) in block.clone().enumerate() {
            let time = stage(t, h, self.plain.tableau.c()[j]);
            let jets = slope_jets(body, &state.pose, time, &self.plain.y[j]);
            self.slopes[j] = jets;
            for (row, k) in block.clone().enumerate() {
                let weight = h * self.plain.tableau.a(k, j);
                for i in 0..width {
                    for d in 0..width {
                        let slope = jets[d / 3].at(i).eps[d % 3];
                        let unit = f64::from(u8::from(row == column && i == d));
                        self.matrix[row * width + i + n * (column * width + d)] = unit - weight * slope;
                    }
                }
            }
        }
        let mechanics = body.mechanics();
        let length = G::length(mechanics.inertia, &mechanics.velocity(&state.momentum));
        self.plain.weigh(&mechanics, length, h);
        factorize(n, &mut self.matrix[..n * n], &mut self.plain.weights, &mut self.swaps[..n * n]);
    }

    /// F with all derivatives for the stages of a block that are coupled.
    fn coupled(
        &mut self,
        offset: usize,
        body: &dyn BodyAt<Dual<f64, 1>, G>,
        state: &State<Dual<f64, 1>, G>,
        t: f64,
        h: f64,
        block: &Range<usize>,
    ) {
        let width = G::Pair::<f64>::LEN;
        let n = block.len() * width;
        for j in block.clone() {
            self.f[offset + j] = self.slope(body, state, t, h, j, &lift(&self.plain.y[j]));
        }
        for (row, k) in block.clone().enumerate() {
            let right = self.sum(offset, state, h, block.end, |j| self.plain.tableau.a(k, j));
            for i in 0..width {
                self.right[row * width + i] = right.at(i).eps;
            }
        }
        substitute_rows(n, &self.matrix[..n * n], &self.swaps[..n * n], &mut self.right[..n]);
        for (row, j) in block.clone().enumerate() {
            let (f, jets) = (self.f[offset + j], &self.slopes[j]);
            let change = &self.right[row * width..][..width];
            self.f[offset + j] = Coordinates::generate(|i| {
                let mut f: Dual<f64, 1> = f.at(i);
                for (d, change) in change.iter().enumerate() {
                    let slope = jets[d / 3].at(i).eps[d % 3];
                    for (eps, change) in f.eps.iter_mut().zip(change) {
                        *eps += slope * change;
                    }
                }
                f
            });
        }
    }
}
