//! Derivatives of what is carried from step to step with respect to one parameter.

use super::super::state::{Flat, Moving};
use crate::scalar::Dual;
use nalgebra::Vector3;

/// A number with one derivative.
pub type D = Dual<f64, 1>;

/// The derivatives of a body in motion. That of a rotation R is W with R' = R W̃.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyVariation {
    pub(super) position: Vector3<f64>,
    pub(super) velocity: Vector3<f64>,
    pub(super) acceleration: Vector3<f64>,
    /// W.
    pub(super) turn: Vector3<f64>,
    pub(super) omega: Vector3<f64>,
    pub(super) omega_rate: Vector3<f64>,
    pub(super) algorithmic: Vector3<f64>,
    pub(super) algorithmic_rate: Vector3<f64>,
    pub(super) carried: [Vector3<f64>; 2],
    /// φ', where the parameters go on.
    pub(super) parameters: Vector3<f64>,
    /// W_ref.
    pub(super) reference: Vector3<f64>,
}

/// The derivatives of all that is carried.
#[derive(Clone, Debug)]
pub(super) struct Variation {
    pub(super) bodies: Vec<BodyVariation>,
    pub(super) extra: Vec<Flat<f64>>,
    pub(super) lambda: Vec<f64>,
}

fn slopes(v: &Vector3<D>) -> Vector3<f64> {
    v.map(|x| x.eps[0])
}

pub(super) fn with(v: &Vector3<f64>, slope: &Vector3<f64>) -> Vector3<D> {
    v.zip_map(slope, |re, eps| Dual { re, eps: [eps] })
}

impl BodyVariation {
    /// The derivatives in a body.
    pub(super) fn of(body: &Moving<D>) -> Self {
        let turn = body.attitude.slope();
        BodyVariation {
            position: slopes(&body.position),
            velocity: slopes(&body.velocity),
            acceleration: slopes(&body.acceleration),
            turn,
            omega: slopes(&body.omega_body),
            omega_rate: slopes(&body.omega_rate),
            algorithmic: slopes(&body.algorithmic),
            algorithmic_rate: slopes(&body.algorithmic_rate),
            carried: [slopes(&body.carried[0]), slopes(&body.carried[1])],
            parameters: slopes(&body.parameters),
            reference: body.reference.slope(),
        }
    }
    /// The body with these derivatives.
    pub(super) fn attached(&self, body: &Moving<f64>) -> Moving<D> {
        Moving {
            position: with(&body.position, &self.position),
            velocity: with(&body.velocity, &self.velocity),
            acceleration: with(&body.acceleration, &self.acceleration),
            attitude: body.attitude.with_slope(&self.turn),
            omega_body: with(&body.omega_body, &self.omega),
            omega_rate: with(&body.omega_rate, &self.omega_rate),
            algorithmic: with(&body.algorithmic, &self.algorithmic),
            algorithmic_rate: with(&body.algorithmic_rate, &self.algorithmic_rate),
            carried: [with(&body.carried[0], &self.carried[0]), with(&body.carried[1], &self.carried[1])],
            parameters: with(&body.parameters, &self.parameters),
            reference: body.reference.with_slope(&self.reference),
        }
    }
}

/// The derivatives in extra coordinates.
pub(super) fn flat_slopes(flat: &Flat<D>) -> Flat<f64> {
    let part = |v: &[D]| v.iter().map(|x| x.eps[0]).collect();
    Flat {
        position: part(&flat.position),
        velocity: part(&flat.velocity),
        acceleration: part(&flat.acceleration),
        algorithmic: part(&flat.algorithmic),
        carried: part(&flat.carried),
    }
}

/// Numbers with their derivatives.
pub(super) fn attached(values: &[f64], slopes: &[f64]) -> impl Iterator<Item = D> {
    values.iter().zip(slopes).map(|(re, eps)| Dual { re: *re, eps: [*eps] })
}

/// Extra coordinates with their derivatives.
pub(super) fn flat_attached(flat: &Flat<f64>, slopes: &Flat<f64>) -> Flat<D> {
    Flat {
        position: attached(&flat.position, &slopes.position).collect(),
        velocity: attached(&flat.velocity, &slopes.velocity).collect(),
        acceleration: attached(&flat.acceleration, &slopes.acceleration).collect(),
        algorithmic: attached(&flat.algorithmic, &slopes.algorithmic).collect(),
        carried: attached(&flat.carried, &slopes.carried).collect(),
    }
}
