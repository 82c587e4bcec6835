//! Munthe-Kaas methods with derivatives. The stages Y_k = Y₀ + h Σ a_kj F(Y_j) of the plain step are known; with F' the
//! derivative of F for stages that stand still, and DF its slope, the derivatives of the stages solve
//! Y'_k - h Σ a_kj DF_j Y'_j = Y'₀ + h Σ a_kj F'_j, a linear system that all directions share.

use super::directions::{Act, All, Directions, fixed};
use super::fan::Fan;
use crate::body::Dynamics;
use crate::body::{AnyBody, BodyAt, State};
use crate::group::Coordinates;
use crate::method::mkrk::{self, SlopeJets, slope_in_place, slope_jets, slope_pair, stage};
use crate::method::tableau::Tableau;
use crate::solve::{StepError, Work, factorize, substitute_beside};
use core::ops::Range;

/// A tableau at work, for all directions.
#[derive(Clone, Debug)]
pub(super) struct Stages<G: Dynamics> {
    plain: mkrk::Stages<f64, G>,
    /// F with its slope DF, of each stage.
    slopes: Vec<SlopeJets<f64, G>>,
    matrix: Vec<f64>,
    swaps: Vec<bool>,
}

impl<G: Dynamics> Stages<G> {
    pub(super) fn new(tableau: &Tableau) -> Self {
        let plain = mkrk::Stages::new(tableau);
        let n = coupled(&plain);
        Stages {
            slopes: vec![[Coordinates::origin(); 4]; tableau.stages()],
            matrix: vec![0.0; n * n],
            swaps: vec![false; n * n],
            plain,
        }
    }
    /// How many stages and equations directions need room for.
    pub(super) fn room(&self) -> [usize; 2] {
        [self.plain.tableau.stages(), coupled(&self.plain)]
    }

    /// Takes a step, and all directions with it.
    #[inline(never)]
    pub(super) fn step(
        &mut self,
        body: &dyn AnyBody<f64, G>,
        state: &State<f64, G>,
        all: &mut All<G>,
        (t, h): (f64, f64),
        work: &mut Work,
    ) -> Result<State<f64, G>, StepError> {
        let end = self.plain.step(body, state, t, h, work)?;
        for b in 0..self.plain.blocks.len() {
            let block = self.plain.blocks[b].clone();
            let implicit = block.len() > 1 || self.plain.tableau.a(block.start, block.start) != 0.0;
            if implicit {
                self.linearize(body, state, t, h, &block);
            }
            all.each(&Part { stages: self, interval: (t, h), part: Some((&block, implicit)) })?;
        }
        all.each(&Part { stages: self, interval: (t, h), part: None })?;
        Ok(end)
    }

    /// F with all derivatives for the stages of a block.
    #[inline(always)]
    fn follow<D: Fan>(
        &self,
        directions: &mut Directions<G, D>,
        t: f64,
        h: f64,
        block: &Range<usize>,
        implicit: bool,
    ) {
        if implicit {
            return self.coupled(directions, t, h, block);
        }
        let first = block.start;
        let y = sum(directions, h, first, |j| self.plain.tableau.a(first, j));
        directions.f[first] = self.slope(directions, t, h, first, &y);
    }

    /// The end of the step, from all stages.
    #[inline(always)]
    fn leave<D: Fan>(&self, directions: &mut Directions<G, D>, h: f64) {
        let y = sum(directions, h, self.plain.tableau.stages(), |j| self.plain.tableau.b()[j]);
        let (psi, p) = G::split(&y);
        directions.next = mkrk::leave::<_, G>(&directions.next.pose, &psi, &p);
    }

    /// F at (Ψ, p) of stage k.
    #[inline(always)]
    fn slope<D: Fan>(
        &self,
        directions: &Directions<G, D>,
        t: f64,
        h: f64,
        k: usize,
        y: &G::Pair<D>,
    ) -> G::Pair<D> {
        let (time, inward) = stage(t, h, self.plain.tableau.c()[k]);
        let (body, pose, time) =
            (directions.body.mechanics(), &directions.next.pose, (D::lift(time), inward));
        if D::IN_PLACE { slope_in_place(&body, pose, time, y) } else { slope_pair(&body, pose, time, y) }
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
    #[inline(always)]
    fn coupled<D: Fan>(&self, directions: &mut Directions<G, D>, t: f64, h: f64, block: &Range<usize>) {
        let width = G::Pair::<f64>::LEN;
        let n = block.len() * width;
        for j in block.clone() {
            let y = &self.plain.y[j];
            directions.f[j] = self.slope(directions, t, h, j, &fixed(y));
        }
        for (row, k) in block.clone().enumerate() {
            let right = sum(directions, h, block.end, |j| self.plain.tableau.a(k, j));
            for i in 0..width {
                directions.right[row * width + i] = right.at(i);
            }
        }
        substitute_beside(n, &self.matrix[..n * n], &self.swaps[..n * n], &mut directions.right[..n]);
        for (row, j) in block.clone().enumerate() {
            let (mut f, jets) = (directions.f[j], &self.slopes[j]);
            let change = &directions.right[row * width..][..width];
            for (i, f) in f.numbers_mut().iter_mut().enumerate() {
                for (d, change) in change.iter().enumerate() {
                    *f = f.less(-jets[d / 3].at(i).eps[d % 3], *change);
                }
            }
            directions.f[j] = f;
        }
    }
}

/// A block of stages, and whether it is implicit; or, without one, the end of the step.
struct Part<'a, G: Dynamics> {
    stages: &'a Stages<G>,
    interval: (f64, f64),
    part: Option<(&'a Range<usize>, bool)>,
}

impl<G: Dynamics> Act<G> for Part<'_, G> {
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError> {
        let (t, h) = self.interval;
        match self.part {
            Some((block, implicit)) => self.stages.follow(directions, t, h, block, implicit),
            None => self.stages.leave(directions, h),
        }
        Ok(())
    }
}

/// The most equations that are coupled.
fn coupled<G: Dynamics>(plain: &mkrk::Stages<f64, G>) -> usize {
    plain.blocks.iter().map(ExactSizeIterator::len).max().unwrap_or(0) * G::Pair::<f64>::LEN
}

/// Y₀ + h Σ w_j F_j over the first stages.
#[inline(always)]
fn sum<G: Dynamics, D: Fan>(
    directions: &Directions<G, D>,
    h: f64,
    stages: usize,
    weight: impl Fn(usize) -> f64,
) -> G::Pair<D> {
    let mut y = G::join(&G::Vector::<D>::origin(), &directions.next.momentum);
    for (j, f) in directions.f[..stages].iter().enumerate() {
        let w = h * weight(j);
        if w != 0.0 {
            for (i, y) in y.numbers_mut().iter_mut().enumerate() {
                *y = y.plus(w, f.at(i));
            }
        }
    }
    y
}
