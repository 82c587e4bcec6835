//! What the exact motion keeps, and how far a run drifts from it.

use crate::archive::kept;
use crate::body::Dynamics;
use crate::body::{Body, Load, State};
use crate::lookup::nearest;
use crate::multibody::{Simulation, Symmetry};
use crate::scalar::{Lanes, Real, lanes_of, larger};
use crate::solve::Coordinates;
use core::fmt;
use nalgebra::Vector3;

/// The largest deviation of each quantity from its start, over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    /// E/E₀ - 1 (E - E₀ where E₀ is nothing beside the kinetic energy), if the loads have a potential.
    pub energy: Option<EnergyError>,
    /// |π - π₀|, angular momentum in space (about the space origin for a moving body). Of a system of bodies momenta are
    /// followed where the exact motion keeps them.
    pub momentum_space: Option<f64>,
    /// |p - p₀|, linear momentum in space, of what is not held at a point.
    pub linear_momentum_space: Option<f64>,
    /// ||Π|/|Π₀| - 1|, the length of the body angular momentum, of one body.
    pub momentum_body: Option<f64>,
    /// |π₃ - π₃₀|, the vertical component in space.
    pub momentum_vertical: Option<f64>,
    /// |Π₃ - Π₃₀|, the component along the body's third axis, of one body.
    pub momentum_axial: Option<f64>,
}

impl Drift {
    /// Each drift with its name, in a fixed order, where it exists.
    pub fn list(&self) -> Vec<(&'static str, f64)> {
        [
            ("energy", self.energy.map(|e| e.max_abs())),
            ("momentum_space", self.momentum_space),
            ("linear_momentum_space", self.linear_momentum_space),
            ("momentum_body", self.momentum_body),
            ("momentum_vertical", self.momentum_vertical),
            ("momentum_axial", self.momentum_axial),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

/// There is no drift of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftError {
    /// The name that was asked for.
    pub name: String,
    /// Names that look like it.
    pub near: Vec<String>,
}

impl fmt::Display for DriftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no drift is called '{}'", self.name)?;
        match self.near.as_slice() {
            [] => write!(f, "; there are {}", Drift::NAMES.join(", ")),
            near => write!(f, "; did you mean {}?", near.join(" or ")),
        }
    }
}

impl std::error::Error for DriftError {}

impl Drift {
    /// The names that drifts have in [`Drift::list`].
    pub const NAMES: [&str; 6] = [
        "energy",
        "momentum_space",
        "linear_momentum_space",
        "momentum_body",
        "momentum_vertical",
        "momentum_axial",
    ];
    /// The name as it is written in [`Drift::NAMES`], or those that look like it.
    pub fn name(text: &str) -> Result<&'static str, DriftError> {
        Self::NAMES
            .into_iter()
            .find(|name| *name == text)
            .ok_or_else(|| DriftError { name: text.into(), near: nearest(text, Self::NAMES.into_iter()) })
    }
    /// The first quantity whose drift is not finite, if one is.
    pub fn overflow(&self) -> Option<&'static str> {
        let energy = self.energy.unwrap_or_default();
        if !energy.is_finite() {
            return Some("the energy error");
        }
        self.list().into_iter().find(|(_, drift)| !drift.is_finite()).map(|(name, _)| match name {
            "momentum_space" => "the drift of the angular momentum in space",
            "linear_momentum_space" => "the drift of the linear momentum in space",
            "momentum_body" => "the drift of the length of the body momentum",
            "momentum_vertical" => "the drift of the vertical momentum in space",
            _ => "the drift of the momentum about body axis 3",
        })
    }
}

/// The relative energy error E/E₀ - 1 over a run (absolute where E₀ is below 1e-9 of the kinetic energy).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyError {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Mean over the steps.
    pub mean: f64,
    /// Root mean square over the steps.
    pub rms: f64,
    /// True if all of these are in joules, because there was no energy that they could be relative to.
    pub absolute: bool,
    /// The largest growth of the energy, relative to the larger of the energy at the start and the largest kinetic energy.
    pub gain: f64,
    /// The largest loss of it, relative to all that there was of either: the same, and what went into potentials and out of
    /// them. Steps that let vibrations decay lose no more than that.
    pub loss: f64,
}

impl EnergyError {
    /// True if all of it is finite.
    pub fn is_finite(&self) -> bool {
        [self.min, self.max, self.mean, self.rms].iter().all(|x| x.is_finite())
    }
    /// `relative` or `J`.
    pub fn unit(&self) -> &'static str {
        if self.absolute { "J" } else { "relative" }
    }
    /// The larger magnitude of the two extremes.
    pub fn max_abs(&self) -> f64 {
        larger(self.min.abs(), self.max.abs())
    }
}

/// Follows the energy of a run, or of several in lanes.
#[derive(Clone, Copy, Debug)]
pub struct EnergyRecord<S = f64> {
    start: Option<S>,
    /// The least and the largest change.
    least: S,
    most: S,
    /// Largest kinetic energy seen.
    kinetic: S,
    /// The largest change of the potential energy, where that is followed.
    swing: S,
    samples: u64,
    sum: S,
    squares: S,
}

impl<S: Real> EnergyRecord<S> {
    /// The total energy at the start, where there is a potential, and the kinetic energy, or what counts as one where nothing
    /// moves.
    pub fn new(energy: Option<S>, kinetic: S) -> Self {
        let zero = S::zero();
        let [least, most, swing, sum, squares] = [zero; 5];
        EnergyRecord { start: energy, least, most, kinetic, swing, samples: 0, sum, squares }
    }
    /// The potential energy has changed so far since the start.
    pub fn swings(&mut self, change: S) {
        self.swing = self.swing.larger(change.abs());
    }
    /// One more step.
    #[inline(always)]
    pub fn update(&mut self, energy: Option<S>, kinetic: S) {
        if let (Some(e0), Some(e)) = (self.start, energy) {
            let error = e - e0;
            self.least = -(-self.least).larger(-error);
            self.most = self.most.larger(error);
            self.kinetic = self.kinetic.larger(kinetic);
            self.sum += error;
            self.squares += error * error;
        }
        self.samples += 1;
    }
}

impl EnergyRecord {
    /// The error so far, where rounding alone may have so much energy: relative to that, an error says nothing.
    pub fn error(&self, rounding: f64) -> Option<EnergyError> {
        // Relative to an energy that is nothing beside the motion's, it says as little: then it stays absolute.
        let e0 = self.start?;
        Some(self.scaled(if e0.abs() > 1e-9 * self.kinetic { e0 } else { 0.0 }, rounding))
    }
    /// The same relative to the larger of the energy at the start and the largest kinetic energy.
    pub fn error_of_motion(&self, rounding: f64) -> Option<EnergyError> {
        Some(self.scaled(larger(self.start?.abs(), self.kinetic), rounding))
    }
    /// True if it is.
    pub fn is_finite(&self) -> bool {
        self.squares.is_finite()
    }
    /// Relative to an energy, absolute if that is zero or rounding.
    fn scaled(&self, energy: f64, rounding: f64) -> EnergyError {
        let beyond = |energy: f64| if energy.abs() > rounding { energy } else { 0.0 };
        let energy = beyond(energy);
        let scale = per(energy);
        let n = self.samples.max(1) as f64;
        let (low, high) = (self.least * scale, self.most * scale);
        let (min, max) = if scale < 0.0 { (high, low) } else { (low, high) };
        let (mean, rms) = (self.sum / n * scale, (self.squares / n).sqrt() * scale.abs());
        let motion = beyond(larger(self.start.unwrap_or(0.0).abs(), self.kinetic));
        let gain = if motion == 0.0 { 0.0 } else { self.most / motion };
        let loss = if motion == 0.0 { 0.0 } else { -self.least / (motion + self.swing) };
        EnergyError { min, max, mean, rms, absolute: energy == 0.0, gain, loss }
    }
}

kept!(EnergyRecord { start, least, most, kinetic, swing, samples, sum, squares });
kept!(Invariants { energy, space0, linear0, body0, norm0, largest });
kept!(Momenta { start, largest });
kept!(Largest { space, linear, body, vertical, axial });

/// Follows the invariants of a run, or of several in lanes.
#[derive(Clone, Copy, Debug)]
pub struct Invariants<S: Real = f64> {
    energy: EnergyRecord<S>,
    space0: Vector3<S>,
    linear0: Vector3<S>,
    body0: Vector3<S>,
    /// Its length, and what a change of that is multiplied with.
    norm0: [S; 2],
    largest: Largest<S>,
}

/// The largest changes so far, by their names in [`Drift`].
#[derive(Clone, Copy, Debug)]
struct Largest<S = f64> {
    space: S,
    linear: Option<S>,
    body: S,
    vertical: S,
    axial: S,
}

/// Follows those momenta of a system of bodies that its motion keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Momenta {
    symmetry: Symmetry,
    /// Momentum and angular momentum at the start.
    start: [Vector3<f64>; 2],
    /// The largest changes so far: of the momentum, of the angular momentum and of its vertical component.
    largest: [f64; 3],
}

impl Momenta {
    /// Nothing of a system that keeps none.
    pub(super) fn new(simulation: &Simulation<f64>) -> Option<Self> {
        let symmetry = simulation.system().symmetry();
        let largest = [0.0; 3];
        (symmetry != Symmetry::None).then(|| Momenta { symmetry, start: simulation.momenta(), largest })
    }
    /// One more step.
    pub(super) fn update(&mut self, simulation: &Simulation<f64>) {
        let [linear, angular] = simulation.momenta();
        let change = angular - self.start[1];
        let now = [(linear - self.start[0]).norm(), change.norm(), change.z.abs()];
        self.largest = core::array::from_fn(|k| larger(self.largest[k], now[k]));
    }
    pub(super) fn is_finite(&self) -> bool {
        self.largest.iter().sum::<f64>().is_finite()
    }
    /// The drift so far, beside that of the energy.
    pub(super) fn drift(&self) -> Drift {
        let [linear, angular, vertical] = self.largest;
        let full = self.symmetry == Symmetry::Full;
        Drift {
            momentum_space: full.then_some(angular),
            linear_momentum_space: full.then_some(linear),
            momentum_vertical: Some(vertical),
            ..Drift::default()
        }
    }
}

fn per(value: f64) -> f64 {
    if value == 0.0 { 1.0 } else { 1.0 / value }
}

impl Invariants {
    /// The values at the start.
    pub fn new<G: Dynamics, L: Load<f64>>(body: &Body<f64, G, L>, state: &State<f64, G>, t: f64) -> Self {
        let space = state.momentum_space();
        let body0 = G::angular(&state.momentum);
        Invariants {
            energy: EnergyRecord::new(body.energy(state, t), body.kinetic_energy(state)),
            space0: G::angular(&space),
            linear0: G::linear(&space),
            body0,
            norm0: [body0.norm(), per(body0.norm())],
            largest: Largest {
                space: 0.0,
                linear: G::MOVES.then_some(0.0),
                body: 0.0,
                vertical: 0.0,
                axial: 0.0,
            },
        }
    }
    /// The first quantity that is not finite, if one is.
    #[inline]
    pub fn overflow(&self) -> Option<&'static str> {
        if self.is_finite() { None } else { self.drift().overflow() }
    }
    /// The drift so far.
    pub fn drift(&self) -> Drift {
        let Largest { space, linear, body, vertical, axial } = self.largest;
        Drift {
            energy: self.energy.error(0.0),
            momentum_space: Some(space),
            linear_momentum_space: linear,
            momentum_body: Some(body),
            momentum_vertical: Some(vertical),
            momentum_axial: Some(axial),
        }
    }
}

impl<S: Real> Invariants<S> {
    /// One more state.
    #[inline(always)]
    pub fn update<G: Dynamics, L: Load<S>>(&mut self, body: &Body<S, G, L>, state: &State<S, G>, t: S) {
        let kinetic = body.kinetic_energy(state);
        self.energy.update(body.potential_energy(state, t).map(|potential| kinetic + potential), kinetic);
        let largest = &mut self.largest;
        let space = state.momentum_space();
        let change = G::angular(&space) - self.space0;
        largest.space = largest.space.larger(change.length());
        largest.vertical = largest.vertical.larger(change[2].abs());
        if let Some(linear) = &mut largest.linear {
            *linear = linear.larger((G::linear(&space) - self.linear0).length());
        }
        let angular = G::angular(&state.momentum);
        let [norm0, per_norm0] = self.norm0;
        largest.body = largest.body.larger(((angular.length() - norm0) * per_norm0).abs());
        largest.axial = largest.axial.larger((angular[2] - self.body0[2]).abs());
    }
    /// True in the lanes where all of it is finite.
    #[inline(always)]
    pub(crate) fn is_finite(&self) -> S::Mask {
        // Not more: where these are finite, all others are.
        let all = self.energy.squares + self.largest.space + self.largest.body;
        self.largest.linear.map_or(all, |linear| all + linear).is_finite()
    }
}

/// Four side by side.
impl<S: Real> Invariants<S> {
    /// Of bodies that all have an energy or none, and all move or none.
    pub(super) fn of_four(four: [&Invariants; 4]) -> Option<Self>
    where
        S: Lanes,
    {
        let number = |of: fn(&Invariants) -> f64| S::of_four(four.map(of));
        let vector = |of: fn(&Invariants) -> &Vector3<f64>| lanes_of(four.map(of));
        let first = four[0];
        let alike = |one: &&Invariants| {
            one.energy.samples == first.energy.samples
                && one.energy.start.is_some() == first.energy.start.is_some()
                && one.largest.linear.is_some() == first.largest.linear.is_some()
        };
        let some = |of: fn(&Invariants) -> Option<f64>| {
            of(first).map(|_| S::of_four(four.map(|one| of(one).unwrap_or(f64::NAN))))
        };
        four.iter().all(alike).then(|| Invariants {
            energy: EnergyRecord {
                start: some(|one| one.energy.start),
                least: number(|one| one.energy.least),
                most: number(|one| one.energy.most),
                kinetic: number(|one| one.energy.kinetic),
                swing: number(|one| one.energy.swing),
                samples: first.energy.samples,
                sum: number(|one| one.energy.sum),
                squares: number(|one| one.energy.squares),
            },
            space0: vector(|one| &one.space0),
            linear0: vector(|one| &one.linear0),
            body0: vector(|one| &one.body0),
            norm0: [number(|one| one.norm0[0]), number(|one| one.norm0[1])],
            largest: Largest {
                space: number(|one| one.largest.space),
                linear: some(|one| one.largest.linear),
                body: number(|one| one.largest.body),
                vertical: number(|one| one.largest.vertical),
                axial: number(|one| one.largest.axial),
            },
        })
    }
    /// Those of one of them.
    pub(super) fn lane(&self, lane: usize) -> Invariants
    where
        S: Lanes,
    {
        let one = |x: S| x.four()[lane];
        let (energy, largest) = (&self.energy, &self.largest);
        Invariants {
            energy: EnergyRecord {
                start: energy.start.map(one),
                least: one(energy.least),
                most: one(energy.most),
                kinetic: one(energy.kinetic),
                swing: one(energy.swing),
                samples: energy.samples,
                sum: one(energy.sum),
                squares: one(energy.squares),
            },
            space0: self.space0.map(one),
            linear0: self.linear0.map(one),
            body0: self.body0.map(one),
            norm0: self.norm0.map(one),
            largest: Largest {
                space: one(largest.space),
                linear: largest.linear.map(one),
                body: one(largest.body),
                vertical: one(largest.vertical),
                axial: one(largest.axial),
            },
        }
    }
}
