//! The one table of methods. Command line, documentation and tests are loops over it: a claim made here is
//! tested to hold, a claim not made is tested to fail.

use super::convected::{Convected, Stopping};
use super::euler::{BackwardMomentum, BackwardRate};
use super::galpha::{Alpha, Galpha};
use super::intrinsic::{Decaying, Preserving, StepLoad};
use super::kinematic::StepVelocity;
use super::midpoint::{Akw, Swc1};
use super::newmark::{Balance, Newmark, Unknowns};
use super::options::{
    ALPHA, BALANCE, BETA, Choice, GAMMA, LOAD, MOMENT, READING, RHO, STOP, TOLERANCE, VELOCITY,
};
use super::outside::Outside;
use super::schemes::AnyScheme;
use super::structured::{ConservingScheme, SystemScheme};
use super::trapezoid::Trapezoid;
use crate::group::{MapKind, Reading, Vectorial};

/// What a step is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Substep {
    ForwardRate,
    ForwardMomentum,
    Implicit(AnyScheme),
    Outside(Outside),
    Kinematic(Vectorial, StepVelocity),
    Mkrk,
    System(SystemScheme),
}

impl Substep {
    /// The map of an intrinsic scheme.
    pub(super) fn map(&mut self) -> Option<&mut Vectorial> {
        match self {
            Substep::Implicit(AnyScheme::Preserving(Preserving { map, .. }))
            | Substep::Implicit(AnyScheme::Decaying(Decaying { map }))
            | Substep::Implicit(AnyScheme::Galpha(Galpha { map, .. }))
            | Substep::Kinematic(map, _) => Some(map),
            _ => None,
        }
    }
    /// True if a step backward undoes a step forward, where that depends on its options.
    pub(super) fn is_symmetric(&self, of_row: bool) -> bool {
        match self {
            Substep::Implicit(AnyScheme::Galpha(scheme)) => scheme.alpha.is_symmetric(),
            Substep::Implicit(AnyScheme::Convected(scheme)) => scheme.stopping.is_exact(),
            _ => of_row,
        }
    }
    /// Its order, where that depends on its options.
    pub(super) fn order(&self, of_row: u32) -> u32 {
        match self {
            Substep::Implicit(AnyScheme::Newmark(newmark)) => newmark.order(),
            Substep::System(SystemScheme::Alpha(scheme)) => scheme.order(),
            _ => of_row,
        }
    }
    /// Options that cannot go together, in words.
    pub(super) fn conflict(&self) -> Option<&'static str> {
        match self {
            Substep::System(SystemScheme::Alpha(scheme)) => scheme.conflict(),
            _ => None,
        }
    }
    /// What it keeps, where that depends on its options. Uniform gravity has a potential that is linear in the
    /// attitude, and two pairs of map and load do exactly its work: R_f - R_i is h ω̃ times the mean of R_i and R_f for
    /// the Cayley map, and times the R of half the motion for Euler-Rodrigues. In free fall the displacement is h v
    /// times the same matrix if the parameters are read as hom4.
    pub(super) fn claims(&self, of_row: Claims) -> Claims {
        let scheme = match self {
            Substep::Implicit(scheme) => scheme,
            // Across a joint the velocities of index 3 are not those of a body about a point.
            Substep::System(SystemScheme::Conserving(ConservingScheme {
                stabilized: false,
                decay: None,
            })) => {
                return Claims { free_momentum: false, free_norm: false, gravity_vertical: false, ..of_row };
            }
            _ => return of_row,
        };
        match scheme {
            AnyScheme::Preserving(Preserving { map, load }) => match (map.kind, load) {
                (MapKind::Cayley, StepLoad::Mean) | (MapKind::EulerRodrigues, StepLoad::Midpoint) => {
                    Claims { gravity_energy: true, fall_energy: map.reading == Reading::Hom4, ..of_row }
                }
                (_, StepLoad::FiniteDerivative) => of_row.under_any_potential(),
                _ => of_row,
            },
            AnyScheme::Convected(scheme) if !scheme.stopping.is_exact() => Claims::NONE,
            AnyScheme::Convected(_) => of_row.under_any_potential(),
            AnyScheme::Newmark(Newmark { balance: Balance::Collocated, .. }) => Claims::NONE,
            _ => of_row,
        }
    }
}

/// What a method keeps to round-off, for each kind of load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Without load: kinetic energy.
    pub free_energy: bool,
    /// Without load: momentum in space.
    pub free_momentum: bool,
    /// Without load: the length of the body angular momentum (SO(3)).
    pub free_norm: bool,
    /// Under gravity: total energy.
    pub gravity_energy: bool,
    /// Under gravity: the vertical angular momentum in space.
    pub gravity_vertical: bool,
    /// Symmetric top under gravity: the angular momentum about its axis.
    pub gravity_axial: bool,
    /// Free body under uniform gravity (SE(3)): total energy.
    pub fall_energy: bool,
    /// Under any potential: total energy.
    pub potential_energy: bool,
}

impl Claims {
    pub(super) const NONE: Claims = Claims {
        free_energy: false,
        free_momentum: false,
        free_norm: false,
        gravity_energy: false,
        gravity_vertical: false,
        gravity_axial: false,
        fall_energy: false,
        potential_energy: false,
    };
    const AXIAL: Claims = Claims { gravity_axial: true, ..Claims::NONE };
    pub(super) const MOMENTUM: Claims =
        Claims { free_momentum: true, free_norm: true, gravity_vertical: true, ..Claims::NONE };
    pub(super) const BOTH: Claims = Claims { free_energy: true, ..Claims::MOMENTUM };

    /// The same and total energy under any potential, gravity too.
    pub(super) const fn under_any_potential(self) -> Claims {
        Claims { gravity_energy: true, fall_energy: true, potential_energy: true, ..self }
    }

    /// Each claim with a name and its truth, in a fixed order.
    pub fn list(&self) -> [(&'static str, bool); 8] {
        [
            ("free_energy", self.free_energy),
            ("free_momentum", self.free_momentum),
            ("free_norm", self.free_norm),
            ("gravity_energy", self.gravity_energy),
            ("gravity_vertical", self.gravity_vertical),
            ("gravity_axial", self.gravity_axial),
            ("fall_energy", self.fall_energy),
            ("potential_energy", self.potential_energy),
        ]
    }
}

/// A row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The id, kebab-case.
    pub id: &'static str,
    /// One line of what it is.
    pub title: &'static str,
    /// Order of convergence.
    pub order: u32,
    /// True if a step backward undoes a step forward.
    pub symmetric: bool,
    /// What it keeps.
    pub claims: Claims,
    /// Paper and equations.
    pub citation: &'static str,
    /// What may be chosen.
    pub options: &'static [Choice],
    pub(super) parts: &'static [(Substep, f64)],
}

/// A row of an intrinsic scheme for each map.
macro_rules! intrinsic {
    ($family:literal, $title:literal, $citation:literal, $symmetric:literal, $claims:expr, $options:expr,
     $name:literal, $words:literal, $part:expr) => {
        Row {
            id: concat!($family, ":", $name),
            title: concat!("Bauchau's ", $title, ", ", $words),
            order: 2,
            symmetric: $symmetric,
            claims: $claims,
            citation: concat!("Bauchau et al. 2013, eqs ", $citation),
            options: $options,
            parts: &[($part, 1.0)],
        }
    };
}
const fn dual(kind: MapKind) -> Vectorial {
    Vectorial { kind, reading: Reading::Dual }
}
macro_rules! preserving {
    ($name:literal, $kind:ident, $words:literal) => {
        intrinsic!(
            "preserving",
            "energy and momentum preserving scheme",
            "9, 22",
            true,
            Claims::BOTH,
            &[LOAD, READING],
            $name,
            $words,
            Substep::Implicit(AnyScheme::Preserving(Preserving {
                map: dual(MapKind::$kind),
                load: StepLoad::Midpoint
            }))
        )
    };
}
macro_rules! decaying {
    ($name:literal, $kind:ident, $words:literal) => {
        intrinsic!(
            "decaying",
            "energy decaying scheme",
            "10, 23",
            false,
            Claims::MOMENTUM,
            &[READING],
            $name,
            $words,
            Substep::Implicit(AnyScheme::Decaying(Decaying { map: dual(MapKind::$kind) }))
        )
    };
}
macro_rules! galpha {
    ($name:literal, $kind:ident, $words:literal) => {
        intrinsic!(
            "galpha",
            "generalized-alpha scheme",
            "11 to 13, 24 to 26",
            false,
            Claims::NONE,
            &[RHO, READING],
            $name,
            $words,
            Substep::Implicit(AnyScheme::Galpha(Galpha {
                map: dual(MapKind::$kind),
                alpha: Alpha::from_rho(0.8)
            }))
        )
    };
}

macro_rules! kinematic {
    ($name:literal, $kind:ident, $words:literal) => {
        intrinsic!(
            "kinematic",
            "kinematic update from given velocities",
            "5, 20",
            true,
            Claims::NONE,
            &[VELOCITY, READING],
            $name,
            $words,
            Substep::Kinematic(dual(MapKind::$kind), StepVelocity::Mean)
        )
    };
}

/// The updates of a pose from the velocities of a prescribed motion: no dynamics, so not in [`REGISTRY`].
pub static KINEMATIC: &[Row] = &[
    kinematic!("exp", Exponential, "exponential map"),
    kinematic!("euler-rodrigues", EulerRodrigues, "Euler-Rodrigues parameters"),
    kinematic!("cayley", Cayley, "Cayley-Gibbs-Rodrigues parameters"),
    kinematic!("wiener-milenkovic", WienerMilenkovic, "Wiener-Milenković parameters"),
];

/// Every method with a scheme of its own, and every named tableau.
pub static REGISTRY: &[Row] = &[
    Row {
        id: "forward-euler",
        title: "forward Euler, rate form",
        order: 1,
        symmetric: false,
        claims: Claims::AXIAL,
        citation: "Krysl 2006, eq. 11",
        options: &[],
        parts: &[(Substep::ForwardRate, 1.0)],
    },
    Row {
        id: "backward-euler",
        title: "backward Euler, rate form",
        order: 1,
        symmetric: false,
        claims: Claims::AXIAL,
        citation: "Krysl 2006, eq. 12",
        options: &[],
        parts: &[(Substep::Implicit(AnyScheme::BackwardRate(BackwardRate)), 1.0)],
    },
    Row {
        id: "forward-euler-m",
        title: "forward Euler, momentum form",
        order: 1,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, eq. 18",
        options: &[],
        parts: &[(Substep::ForwardMomentum, 1.0)],
    },
    Row {
        id: "backward-euler-m",
        title: "backward Euler, momentum form",
        order: 1,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, eq. 19",
        options: &[],
        parts: &[(Substep::Implicit(AnyScheme::BackwardMomentum(BackwardMomentum)), 1.0)],
    },
    Row {
        id: "trap",
        title: "trapezoidal rule, rate form: forward then backward Euler half steps",
        order: 2,
        symmetric: true,
        claims: Claims::AXIAL,
        citation: "Krysl 2006, section 3.2, TRAP",
        options: &[],
        parts: &[
            (Substep::ForwardRate, 0.5),
            (Substep::Implicit(AnyScheme::BackwardRate(BackwardRate)), 0.5),
        ],
    },
    Row {
        id: "imid",
        title: "implicit midpoint rule, rate form: backward then forward Euler half steps",
        order: 2,
        symmetric: true,
        claims: Claims { free_energy: true, free_norm: true, ..Claims::AXIAL },
        citation: "Krysl 2006, section 3.2, IMID",
        options: &[],
        parts: &[
            (Substep::Implicit(AnyScheme::BackwardRate(BackwardRate)), 0.5),
            (Substep::ForwardRate, 0.5),
        ],
    },
    Row {
        id: "trapm",
        title: "trapezoidal rule, momentum form",
        order: 2,
        symmetric: true,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, section 3.3, TRAPM",
        options: &[],
        parts: &[
            (Substep::ForwardMomentum, 0.5),
            (Substep::Implicit(AnyScheme::BackwardMomentum(BackwardMomentum)), 0.5),
        ],
    },
    Row {
        id: "imidm",
        title: "implicit midpoint rule, momentum form",
        order: 2,
        symmetric: true,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, section 3.3, IMIDM",
        options: &[],
        parts: &[
            (Substep::Implicit(AnyScheme::BackwardMomentum(BackwardMomentum)), 0.5),
            (Substep::ForwardMomentum, 0.5),
        ],
    },
    Row {
        id: "swc1",
        title: "Simo & Wong's energy-momentum algorithm C1",
        order: 2,
        symmetric: true,
        claims: Claims::BOTH,
        citation: "Simo & Wong 1991; Krysl 2006, section 4, SWC1",
        options: &[],
        parts: &[(Substep::Implicit(AnyScheme::Swc1(Swc1)), 1.0)],
    },
    Row {
        id: "akw",
        title: "Austin, Krishnaprasad & Wang's midpoint rule with Cayley update",
        order: 2,
        symmetric: true,
        claims: Claims { gravity_energy: true, gravity_axial: true, ..Claims::BOTH },
        citation: "Austin, Krishnaprasad & Wang 1993; Krysl 2006, section 4, AKW",
        options: &[],
        parts: &[(Substep::Implicit(AnyScheme::Akw(Akw)), 1.0)],
    },
    Row {
        id: "bbtrap",
        title: "Bottasso & Borri's trapezoidal rule, truncated",
        order: 2,
        symmetric: true,
        claims: Claims::BOTH,
        citation: "Bottasso & Borri 1998; Krysl 2006, section 4, BBTRAP",
        options: &[],
        parts: &[(Substep::Implicit(AnyScheme::BbTrap(Trapezoid)), 1.0)],
    },
    Row {
        id: "bbtrapwd",
        title: "Bottasso & Borri's trapezoidal rule with the derivative of exp",
        order: 2,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Bottasso & Borri 1998; Krysl 2006, section 4, BBTRAPWD",
        options: &[],
        parts: &[(Substep::Implicit(AnyScheme::BbTrapWd(Trapezoid)), 1.0)],
    },
    Row {
        id: "euler-parameters",
        title: "Newmark's scheme in Euler parameters (E1)",
        order: 2,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Kasti, sections 5 and 6, E1",
        options: &[ALPHA, BETA, GAMMA, MOMENT],
        parts: &[(Substep::Implicit(AnyScheme::Newmark(Newmark::new(Unknowns::EulerParameters))), 1.0)],
    },
    Row {
        id: "rotation-vector",
        title: "Newmark's scheme in the rotation vector of the step (C1)",
        order: 2,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Cardona & Géradin 1988; Mäkinen 2001; Kasti, section 6, C1",
        options: &[ALPHA, BETA, GAMMA, BALANCE, MOMENT],
        parts: &[(Substep::Implicit(AnyScheme::Newmark(Newmark::new(Unknowns::RotationVector))), 1.0)],
    },
    preserving!("exp", Exponential, "exponential map"),
    preserving!("euler-rodrigues", EulerRodrigues, "Euler-Rodrigues parameters"),
    preserving!("cayley", Cayley, "Cayley-Gibbs-Rodrigues parameters"),
    preserving!("wiener-milenkovic", WienerMilenkovic, "Wiener-Milenković parameters"),
    decaying!("exp", Exponential, "exponential map"),
    decaying!("euler-rodrigues", EulerRodrigues, "Euler-Rodrigues parameters"),
    decaying!("cayley", Cayley, "Cayley-Gibbs-Rodrigues parameters"),
    decaying!("wiener-milenkovic", WienerMilenkovic, "Wiener-Milenković parameters"),
    galpha!("exp", Exponential, "exponential map"),
    galpha!("euler-rodrigues", EulerRodrigues, "Euler-Rodrigues parameters"),
    galpha!("cayley", Cayley, "Cayley-Gibbs-Rodrigues parameters"),
    galpha!("wiener-milenkovic", WienerMilenkovic, "Wiener-Milenković parameters"),
    Row {
        id: "convected",
        title: "Krenk & Nielsen's convected base vectors with implicit constraints, in the paper's variables",
        order: 2,
        symmetric: true,
        claims: Claims::BOTH,
        citation: "Krenk & Nielsen 2013, eqs 22, 25, 26",
        options: &[STOP, TOLERANCE],
        parts: &[(Substep::Implicit(AnyScheme::Convected(Convected { stopping: Stopping::CONVERGED })), 1.0)],
    },
    Row {
        id: "convected-reduced",
        title: "Krenk & Nielsen's convected base vectors, reduced to the mean velocity",
        order: 2,
        symmetric: true,
        claims: Claims::BOTH,
        citation: "Krenk & Nielsen 2013, eqs 22, 25, 26 (= preserving:cayley,load=finite-derivative,reading=hom4)",
        options: &[],
        parts: &[(
            Substep::Implicit(AnyScheme::Preserving(Preserving {
                map: Vectorial { kind: MapKind::Cayley, reading: Reading::Hom4 },
                load: StepLoad::FiniteDerivative,
            })),
            1.0,
        )],
    },
    mkrk_row("mkrk:euler", "Munthe-Kaas, forward Euler (= forward-euler-m)", 1, false),
    mkrk_row("mkrk:backward-euler", "Munthe-Kaas, backward Euler (= backward-euler-m)", 1, false),
    mkrk_row("mkrk:midpoint", "Munthe-Kaas, implicit midpoint (= imidm)", 2, true),
    mkrk_row("mkrk:trapezoid", "Munthe-Kaas, trapezoidal rule (= bbtrapwd)", 2, false),
    mkrk_row("mkrk:kutta3", "Munthe-Kaas, Kutta's third-order method", 3, false),
    mkrk_row("mkrk:rk4", "Munthe-Kaas, the classical fourth-order method", 4, false),
    mkrk_row("mkrk:gauss1", "Munthe-Kaas, Gauss with 1 stage (= imidm)", 2, true),
    mkrk_row("mkrk:gauss2", "Munthe-Kaas, Gauss with 2 stages", 4, false),
    mkrk_row("mkrk:gauss3", "Munthe-Kaas, Gauss with 3 stages", 6, false),
    mkrk_row("mkrk:gauss4", "Munthe-Kaas, Gauss with 4 stages", 8, false),
];

const fn mkrk_row(id: &'static str, title: &'static str, order: u32, symmetric: bool) -> Row {
    Row {
        id,
        title,
        order,
        symmetric,
        claims: Claims::MOMENTUM,
        citation: "Munthe-Kaas 1998; Krysl 2006, section 4",
        options: &[],
        parts: &[(Substep::Mkrk, 1.0)],
    }
}
