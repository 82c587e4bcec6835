//! Derivatives of what is carried from step to step, with respect to one parameter or to several in lanes.

use super::super::state::{BodyMotion, CoordinateState};
use crate::scalar::{Dual, Lane, gather};
use nalgebra::{Matrix3, Vector3};

/// A number with one derivative.
pub type Dual1 = Dual<f64, 1>;

/// m v.
#[inline(always)]
pub(super) fn times<L: Lane>(m: &Matrix3<f64>, v: &Vector3<L>) -> Vector3<L> {
    let row = |i: usize| L::of(m[(i, 0)]) * v[0] + L::of(m[(i, 1)]) * v[1] + L::of(m[(i, 2)]) * v[2];
    Vector3::new(row(0), row(1), row(2))
}

/// A vector of constants.
#[inline(always)]
pub(super) fn constant<L: Lane>(v: &Vector3<f64>) -> Vector3<L> {
    Vector3::new(L::of(v[0]), L::of(v[1]), L::of(v[2]))
}

/// The vector of one lane.
#[inline(always)]
pub(super) fn one<L: Lane>(v: &Vector3<L>, lane: usize) -> Vector3<f64> {
    v.map(|x| x.get(lane))
}

/// The derivatives of a body in motion. That of a rotation R is W with R' = R W̃.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyVariation<L> {
    pub(super) position: Vector3<L>,
    pub(super) velocity: Vector3<L>,
    pub(super) acceleration: Vector3<L>,
    /// W.
    pub(super) turn: Vector3<L>,
    pub(super) omega: Vector3<L>,
    pub(super) omega_rate: Vector3<L>,
    pub(super) algorithmic: Vector3<L>,
    pub(super) algorithmic_rate: Vector3<L>,
    pub(super) carried: [Vector3<L>; 2],
    /// φ' and W_ref, where the parameters go on.
    pub(super) parameters: Vector3<L>,
    pub(super) reference: Vector3<L>,
}

/// The derivatives of all that is carried.
#[derive(Clone, Debug)]
pub(super) struct Variation<L> {
    pub(super) bodies: Vec<BodyVariation<L>>,
    pub(super) extra: Vec<CoordinateState<L>>,
    pub(super) lambda: Vec<L>,
}

pub(super) fn with<L: Lane>(v: &Vector3<f64>, slope: &Vector3<L>) -> Vector3<Dual<L, 1>> {
    v.zip_map(slope, |re, eps| Dual { re: L::of(re), eps: [eps] })
}

impl<L: Lane> BodyVariation<L> {
    /// The derivatives in a body that each parameter has of its own.
    pub(super) fn of(bodies: &[&BodyMotion<Dual1>]) -> Self {
        let number = |x: &dyn Fn(&BodyMotion<Dual1>) -> f64| gather(bodies.iter().map(|body| x(body)));
        let slopes = |v: &dyn Fn(&BodyMotion<Dual1>) -> Vector3<Dual1>| {
            Vector3::from_fn(|i, _| number(&|body: &BodyMotion<Dual1>| v(body)[i].eps[0]))
        };
        BodyVariation {
            position: slopes(&|body| body.position),
            velocity: slopes(&|body| body.velocity),
            acceleration: slopes(&|body| body.acceleration),
            turn: Vector3::from_fn(|i, _| number(&|body| body.attitude.slope()[i])),
            omega: slopes(&|body| body.omega_body),
            omega_rate: slopes(&|body| body.omega_rate),
            algorithmic: slopes(&|body| body.algorithmic),
            algorithmic_rate: slopes(&|body| body.algorithmic_rate),
            carried: [slopes(&|body| body.carried[0]), slopes(&|body| body.carried[1])],
            parameters: slopes(&|body| body.parameters),
            reference: Vector3::from_fn(|i, _| number(&|body| body.reference.slope()[i])),
        }
    }
    /// The body with the derivatives of one lane. Where parameters start anew in every step, `charted` is false.
    pub(super) fn attached(&self, body: &BodyMotion<f64>, lane: usize, charted: bool) -> BodyMotion<Dual1> {
        let with = |v: &Vector3<f64>, slope: &Vector3<L>| with(v, &one(slope, lane));
        let turn = one(&self.turn, lane);
        let attitude = body.attitude.with_slope(&turn);
        let (parameters, reference) = match charted {
            true => {
                let reference = body.reference.with_slope(&one(&self.reference, lane));
                (with(&body.parameters, &self.parameters), reference)
            }
            false => (body.parameters.map(Dual::constant), body.reference.with_slope(&turn)),
        };
        BodyMotion {
            position: with(&body.position, &self.position),
            velocity: with(&body.velocity, &self.velocity),
            acceleration: with(&body.acceleration, &self.acceleration),
            attitude,
            omega_body: with(&body.omega_body, &self.omega),
            omega_rate: with(&body.omega_rate, &self.omega_rate),
            algorithmic: with(&body.algorithmic, &self.algorithmic),
            algorithmic_rate: with(&body.algorithmic_rate, &self.algorithmic_rate),
            carried: [with(&body.carried[0], &self.carried[0]), with(&body.carried[1], &self.carried[1])],
            parameters,
            reference,
        }
    }
}

/// The derivatives in extra coordinates.
pub(super) fn flat_slopes<L: Lane>(flats: &[&CoordinateState<Dual1>]) -> CoordinateState<L> {
    let part = |list: &dyn Fn(&CoordinateState<Dual1>) -> &[Dual1]| {
        let count = flats.first().map_or(0, |flat| list(flat).len());
        (0..count).map(|k| gather(flats.iter().map(|flat| list(flat)[k].eps[0]))).collect()
    };
    CoordinateState {
        position: part(&|flat| &flat.position),
        velocity: part(&|flat| &flat.velocity),
        acceleration: part(&|flat| &flat.acceleration),
        algorithmic: part(&|flat| &flat.algorithmic),
        carried: part(&|flat| &flat.carried),
    }
}

/// Numbers with the derivatives of one lane.
pub(super) fn attached<L: Lane>(values: &[f64], slopes: &[L], lane: usize) -> impl Iterator<Item = Dual1> {
    values.iter().zip(slopes).map(move |(re, eps)| Dual { re: *re, eps: [eps.get(lane)] })
}

/// Extra coordinates with the derivatives of one lane.
pub(super) fn flat_attached<L: Lane>(
    flat: &CoordinateState<f64>,
    slopes: &CoordinateState<L>,
    lane: usize,
) -> CoordinateState<Dual1> {
    CoordinateState {
        position: attached(&flat.position, &slopes.position, lane).collect(),
        velocity: attached(&flat.velocity, &slopes.velocity, lane).collect(),
        acceleration: attached(&flat.acceleration, &slopes.acceleration, lane).collect(),
        algorithmic: attached(&flat.algorithmic, &slopes.algorithmic, lane).collect(),
        carried: attached(&flat.carried, &slopes.carried, lane).collect(),
    }
}
