//! What the exact motion keeps, and how far a run drifts from it.

use crate::archive::kept;
use crate::body::Dynamics;
use crate::body::{Body, Load, State};
use crate::lookup::nearest;
use crate::scalar::larger;
use core::fmt;
use nalgebra::Vector3;

/// The largest deviation of each quantity from its start, over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    /// E/E₀ - 1 (E - E₀ where E₀ is nothing beside the kinetic energy), if the loads have a potential.
    pub energy: Option<EnergyError>,
    /// |π - π₀|, angular momentum in space (about the space origin for a moving body).
    pub momentum_space: f64,
    /// |p - p₀|, linear momentum in space, of a moving body.
    pub linear_momentum_space: Option<f64>,
    /// ||Π|/|Π₀| - 1|, the length of the body angular momentum.
    pub momentum_body: f64,
    /// |π₃ - π₃₀|, the vertical component in space.
    pub momentum_vertical: f64,
    /// |Π₃ - Π₃₀|, the component along the body's third axis.
    pub momentum_axial: f64,
}

impl Drift {
    /// Each drift with its name, in a fixed order, where it exists.
    pub fn list(&self) -> Vec<(&'static str, f64)> {
        [
            ("energy", self.energy.map(|e| e.max_abs())),
            ("momentum_space", Some(self.momentum_space)),
            ("linear_momentum_space", self.linear_momentum_space),
            ("momentum_body", Some(self.momentum_body)),
            ("momentum_vertical", Some(self.momentum_vertical)),
            ("momentum_axial", Some(self.momentum_axial)),
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

/// Follows the energy of a run.
#[derive(Clone, Copy, Debug)]
pub struct EnergyRecord {
    start: Option<f64>,
    seen: EnergyError,
    /// Largest kinetic energy seen.
    kinetic: f64,
    samples: u64,
    sum: f64,
    squares: f64,
}

impl EnergyRecord {
    /// The total energy at the start, where there is a potential, and the kinetic energy.
    pub fn new(energy: Option<f64>, kinetic: f64) -> Self {
        EnergyRecord {
            start: energy,
            seen: EnergyError::default(),
            kinetic,
            samples: 0,
            sum: 0.0,
            squares: 0.0,
        }
    }
    /// One more step.
    #[inline]
    pub fn update(&mut self, energy: Option<f64>, kinetic: f64) {
        if let (Some(e0), Some(e)) = (self.start, energy) {
            let error = e - e0;
            self.seen.min = -larger(-self.seen.min, -error);
            self.seen.max = larger(self.seen.max, error);
            self.kinetic = larger(self.kinetic, kinetic);
            self.sum += error;
            self.squares += error * error;
        }
        self.samples += 1;
    }
    /// The error so far.
    pub fn error(&self) -> Option<EnergyError> {
        // Relative to an energy that is nothing beside the motion's, an error says nothing: then it stays absolute.
        let e0 = self.start?;
        Some(self.scaled(if e0.abs() > 1e-9 * self.kinetic { e0 } else { 0.0 }))
    }
    /// The same relative to the larger of the energy at the start and the largest kinetic energy.
    pub fn error_of_motion(&self) -> Option<EnergyError> {
        Some(self.scaled(larger(self.start?.abs(), self.kinetic)))
    }
    /// Relative to an energy, absolute if that is zero.
    fn scaled(&self, energy: f64) -> EnergyError {
        let scale = per(energy);
        let n = self.samples.max(1) as f64;
        let (low, high) = (self.seen.min * scale, self.seen.max * scale);
        let (min, max) = if scale < 0.0 { (high, low) } else { (low, high) };
        let (mean, rms) = (self.sum / n * scale, (self.squares / n).sqrt() * scale.abs());
        let motion = larger(self.start.unwrap_or(0.0).abs(), self.kinetic);
        EnergyError { min, max, mean, rms, absolute: energy == 0.0, gain: self.seen.max * per(motion) }
    }
}

kept!(EnergyError { min, max, mean, rms, absolute, gain });
kept!(EnergyRecord { start, seen, kinetic, samples, sum, squares });
kept!(Drift {
    energy,
    momentum_space,
    linear_momentum_space,
    momentum_body,
    momentum_vertical,
    momentum_axial
});
kept!(Invariants { energy, space0, linear0, body0, norm0, drift });

/// Follows the invariants of a run.
#[derive(Clone, Debug)]
pub struct Invariants {
    energy: EnergyRecord,
    space0: Vector3<f64>,
    linear0: Vector3<f64>,
    body0: Vector3<f64>,
    /// Its length, and what a change of that is multiplied with.
    norm0: [f64; 2],
    drift: Drift,
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
            drift: Drift::default(),
        }
    }
    /// One more state.
    #[inline]
    pub fn update<G: Dynamics, L: Load<f64>>(
        &mut self,
        body: &Body<f64, G, L>,
        state: &State<f64, G>,
        t: f64,
    ) {
        let kinetic = body.kinetic_energy(state);
        self.energy.update(body.potential_energy(state, t).map(|potential| kinetic + potential), kinetic);
        let d = &mut self.drift;
        let space = state.momentum_space();
        let change = G::angular(&space) - self.space0;
        d.momentum_space = larger(d.momentum_space, change.norm());
        d.momentum_vertical = larger(d.momentum_vertical, change.z.abs());
        if G::MOVES {
            let linear = (G::linear(&space) - self.linear0).norm();
            d.linear_momentum_space = Some(larger(d.linear_momentum_space.unwrap_or(0.0), linear));
        }
        let angular = G::angular(&state.momentum);
        let [norm0, per_norm0] = self.norm0;
        d.momentum_body = larger(d.momentum_body, ((angular.norm() - norm0) * per_norm0).abs());
        d.momentum_axial = larger(d.momentum_axial, (angular.z - self.body0.z).abs());
    }
    /// The first quantity that is not finite, if one is.
    #[inline]
    pub fn overflow(&self) -> Option<&'static str> {
        let d = &self.drift;
        // Not more: where these are finite, all others are.
        let all = self.energy.squares + d.momentum_space + d.momentum_body;
        let all = d.linear_momentum_space.map_or(all, |linear| all + linear);
        if all.is_finite() { None } else { self.drift().overflow() }
    }
    /// The drift so far.
    pub fn drift(&self) -> Drift {
        Drift { energy: self.energy.error(), ..self.drift }
    }
}
