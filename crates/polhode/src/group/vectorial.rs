//! A vectorial map chosen at run time, with the reading of its motion parameters.
//!
//! Symbols: motion parameters {q, p}, screw displacement d along the axis n, s = p·p. The condition that {q, p} is
//! an eigenvector of the motion tensor leaves the axial part of q open (Bauchau et al. 2013, section 4). All readings
//! are u = (μ I + z₂ p̃ + c p̃p̃) q with c = (μ - z₁)/s; they differ in μ:
//! dual μ = dφ/dp (q = p'(φ) d n along the axis), hom4 μ = 1 (q = d n), twist μ = φ/p (q = (p/φ) d n).

use super::map::ARCSINE;
use super::{Cayley, Coefficients, EulerRodrigues, Exponential, Map, Rotation, WienerMilenkovic};
use crate::scalar::{Real, called};
use nalgebra::Vector3;

/// The names of the maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapKind {
    /// [`Exponential`].
    #[default]
    Exponential,
    /// [`EulerRodrigues`].
    EulerRodrigues,
    /// [`Cayley`].
    Cayley,
    /// [`WienerMilenkovic`].
    WienerMilenkovic,
}

impl MapKind {
    /// All of them.
    pub const ALL: [MapKind; 4] =
        [MapKind::Exponential, MapKind::EulerRodrigues, MapKind::Cayley, MapKind::WienerMilenkovic];
}

/// What the axial part of the motion parameters means; the same for the exponential map, and nothing on SO(3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// SE(3) is SO(3) at a dual number: u = H(p) q, a function of the 6x6 matrix of the parameters.
    #[default]
    Dual,
    /// The same function of the 4x4 homogeneous matrix.
    Hom4,
    /// The parameters are a multiple of the logarithm of the motion.
    Twist,
}

impl Reading {
    /// All of them.
    pub const ALL: [Reading; 3] = [Reading::Dual, Reading::Hom4, Reading::Twist];
    /// The name in method ids.
    pub fn name(self) -> &'static str {
        match self {
            Reading::Dual => "dual",
            Reading::Hom4 => "hom4",
            Reading::Twist => "twist",
        }
    }
}

/// Any of the maps, under any reading.
///
/// ```
/// use nalgebra::SVector;
/// use polhode::group::{Group, MapKind, Reading, Se3, Vectorial};
/// let psi = SVector::<f64, 6>::from([1.0, -0.5, 0.8, 0.4, 0.5, -0.3]);
/// let displacement = |reading| Se3::increment(Vectorial { kind: MapKind::Cayley, reading }, &psi).displacement;
/// // The Cayley maps of the 6x6 and of the 4x4 matrix are not the same.
/// assert!((displacement(Reading::Dual) - displacement(Reading::Hom4)).norm() > 1e-3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vectorial {
    /// Which map.
    pub kind: MapKind,
    /// How it reads motion parameters.
    pub reading: Reading,
}

impl From<MapKind> for Vectorial {
    fn from(kind: MapKind) -> Self {
        Vectorial { kind, reading: Reading::Dual }
    }
}

/// The expression for the map of that name.
macro_rules! each {
    ($kind:expr, $map:ident => $value:expr) => {
        match $kind {
            MapKind::Exponential => {
                let $map = Exponential;
                $value
            }
            MapKind::EulerRodrigues => {
                let $map = EulerRodrigues;
                $value
            }
            MapKind::Cayley => {
                let $map = Cayley;
                $value
            }
            MapKind::WienerMilenkovic => {
                let $map = WienerMilenkovic;
                $value
            }
        }
    };
}

impl Map for Vectorial {
    fn name(self) -> &'static str {
        each!(self.kind, map => map.name())
    }
    fn limit(self) -> f64 {
        each!(self.kind, map => map.limit())
    }
    #[inline(always)]
    fn coefficients<S: Real>(self, s: S) -> Coefficients<S> {
        called!(S, 64, each!(self.kind, map => map.coefficients(s)))
    }
    #[inline(always)]
    fn c_is_zero(self) -> bool {
        each!(self.kind, map => map.c_is_zero())
    }
    #[inline(always)]
    fn inverse_coefficients<S: Real>(self, s: S) -> (S, S) {
        called!(S, 64, each!(self.kind, map => map.inverse_coefficients(s)))
    }
    #[inline(always)]
    fn half<S: Real>(self, s: S) -> (S, S) {
        called!(S, 64, each!(self.kind, map => map.half(s)))
    }
    #[inline(always)]
    fn hom4_c<S: Real>(self, s: S) -> S {
        called!(S, 64, each!(self.kind, map => map.hom4_c(s)))
    }
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S> {
        each!(self.kind, map => map.parameters(q))
    }
    #[inline(always)]
    fn displacement_c<S: Real>(self, s: S) -> Option<S> {
        match (self.reading, self.kind) {
            (Reading::Dual, _) | (_, MapKind::Exponential) => None,
            (Reading::Hom4, _) => Some(self.hom4_c(s)),
            (Reading::Twist, kind) => Some(twist(kind, s)),
        }
    }
}

/// (φ/p - z₁)/s: below x = 0.02 by its series in x = s/4 (Wiener-Milenković: s/16), since it is a small difference.
fn twist<S: Real>(kind: MapKind, s: S) -> S {
    let scale = S::lift(if kind == MapKind::WienerMilenkovic { 1.0 / 16.0 } else { 0.25 });
    let x = s * scale;
    let small = x.below(S::lift(0.02));
    let y = S::select(small, x, S::zero());
    // Its n-th coefficient in x, from those of φ/p and of z₁.
    let term = |n: usize| {
        let odd = (2 * n + 1) as f64;
        let sign = if n.is_multiple_of(2) { -1.0 } else { 1.0 };
        match kind {
            MapKind::Cayley | MapKind::Exponential => sign * (1.0 - 1.0 / odd),
            MapKind::WienerMilenkovic => sign * (odd - 1.0 / odd),
            // asin(√x)/√x = Σ aₙ xⁿ, and √(1 - x) = 1 - Σ aₙ (2n + 1)/(2n - 1) xⁿ.
            MapKind::EulerRodrigues => ARCSINE[n] * (1.0 + odd / (odd - 2.0)),
        }
    };
    let mut series = S::lift(term(ARCSINE.len() - 1));
    for n in (1..ARCSINE.len() - 1).rev() {
        series = series * y + S::lift(term(n));
    }
    // Away from zero, so that the branch that is not taken has finite derivatives.
    let far = S::select(small, S::lift(0.02), x);
    let root = far.sqrt();
    let one = S::one();
    let difference = match kind {
        MapKind::Cayley | MapKind::Exponential => root.atan2(one) / root - (one + far).recip(),
        MapKind::WienerMilenkovic => {
            let b = (one + far).recip();
            root.atan2(one) / root - (one - far) * b * b
        }
        MapKind::EulerRodrigues => {
            let w = (one - far).sqrt();
            root.atan2(w) / root - w
        }
    };
    S::select(small, series, difference / far) * scale
}
