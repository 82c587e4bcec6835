//! The one table of methods. Command line, documentation and tests are loops over it: a claim made here is
//! tested to hold, a claim not made is tested to fail.

use super::composition::SETS;
use super::galpha::Alpha;
use super::intrinsic::StepLoad;
use super::kinematic::StepVelocity;
use super::options::{self, Choice, LOAD, READING, RHO, VELOCITY};
use super::tableau::{Tableau, TableauError, TableauKind};
use crate::group::{MapKind, Reading, Vectorial};
use core::fmt;

/// What a step is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    ForwardRate,
    ForwardMomentum,
    BackwardRate,
    BackwardMomentum,
    Swc1,
    Akw,
    BbTrap,
    BbTrapWd,
    Preserving(Vectorial, StepLoad),
    Decaying(Vectorial),
    Galpha(Vectorial, Alpha),
    Kinematic(Vectorial, StepVelocity),
    Mkrk,
}

impl Part {
    /// The map of an intrinsic scheme.
    pub(super) fn map(&mut self) -> Option<&mut Vectorial> {
        match self {
            Part::Preserving(map, _)
            | Part::Decaying(map)
            | Part::Galpha(map, _)
            | Part::Kinematic(map, _) => Some(map),
            _ => None,
        }
    }
    /// True if a step backward undoes a step forward, where that depends on its options.
    fn is_symmetric(&self, of_row: bool) -> bool {
        match self {
            Part::Galpha(_, alpha) => alpha.is_symmetric(),
            _ => of_row,
        }
    }
    /// What it keeps, where that depends on its options. Uniform gravity has a potential that is linear in the
    /// attitude, and two pairs of map and load do exactly its work: R_f - R_i is h ω̃ times the mean of R_i and R_f for
    /// the Cayley map, and times the R of half the motion for Euler-Rodrigues. In free fall the displacement is h v
    /// times the same matrix if the parameters are read as hom4.
    fn claims(&self, of_row: Claims) -> Claims {
        match self {
            Part::Preserving(Vectorial { kind: MapKind::Cayley, reading }, StepLoad::Mean)
            | Part::Preserving(Vectorial { kind: MapKind::EulerRodrigues, reading }, StepLoad::Midpoint) => {
                Claims { gravity_energy: true, fall_energy: *reading == Reading::Hom4, ..of_row }
            }
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
}

impl Claims {
    const NONE: Claims = Claims {
        free_energy: false,
        free_momentum: false,
        free_norm: false,
        gravity_energy: false,
        gravity_vertical: false,
        gravity_axial: false,
        fall_energy: false,
    };
    const AXIAL: Claims = Claims { gravity_axial: true, ..Claims::NONE };
    const MOMENTUM: Claims =
        Claims { free_momentum: true, free_norm: true, gravity_vertical: true, ..Claims::NONE };
    const BOTH: Claims = Claims { free_energy: true, ..Claims::MOMENTUM };

    /// Each claim with a name and its truth, in a fixed order.
    pub fn list(&self) -> [(&'static str, bool); 7] {
        [
            ("free_energy", self.free_energy),
            ("free_momentum", self.free_momentum),
            ("free_norm", self.free_norm),
            ("gravity_energy", self.gravity_energy),
            ("gravity_vertical", self.gravity_vertical),
            ("gravity_axial", self.gravity_axial),
            ("fall_energy", self.fall_energy),
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
    parts: &'static [(Part, f64)],
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
            Part::Preserving(dual(MapKind::$kind), StepLoad::Midpoint)
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
            Part::Decaying(dual(MapKind::$kind))
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
            Part::Galpha(dual(MapKind::$kind), Alpha::from_rho(0.8))
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
            Part::Kinematic(dual(MapKind::$kind), StepVelocity::Mean)
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
        parts: &[(Part::ForwardRate, 1.0)],
    },
    Row {
        id: "backward-euler",
        title: "backward Euler, rate form",
        order: 1,
        symmetric: false,
        claims: Claims::AXIAL,
        citation: "Krysl 2006, eq. 12",
        options: &[],
        parts: &[(Part::BackwardRate, 1.0)],
    },
    Row {
        id: "forward-euler-m",
        title: "forward Euler, momentum form",
        order: 1,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, eq. 18",
        options: &[],
        parts: &[(Part::ForwardMomentum, 1.0)],
    },
    Row {
        id: "backward-euler-m",
        title: "backward Euler, momentum form",
        order: 1,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, eq. 19",
        options: &[],
        parts: &[(Part::BackwardMomentum, 1.0)],
    },
    Row {
        id: "trap",
        title: "trapezoidal rule, rate form: forward then backward Euler half steps",
        order: 2,
        symmetric: true,
        claims: Claims::AXIAL,
        citation: "Krysl 2006, section 3.2, TRAP",
        options: &[],
        parts: &[(Part::ForwardRate, 0.5), (Part::BackwardRate, 0.5)],
    },
    Row {
        id: "imid",
        title: "implicit midpoint rule, rate form: backward then forward Euler half steps",
        order: 2,
        symmetric: true,
        claims: Claims { free_energy: true, free_norm: true, ..Claims::AXIAL },
        citation: "Krysl 2006, section 3.2, IMID",
        options: &[],
        parts: &[(Part::BackwardRate, 0.5), (Part::ForwardRate, 0.5)],
    },
    Row {
        id: "trapm",
        title: "trapezoidal rule, momentum form",
        order: 2,
        symmetric: true,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, section 3.3, TRAPM",
        options: &[],
        parts: &[(Part::ForwardMomentum, 0.5), (Part::BackwardMomentum, 0.5)],
    },
    Row {
        id: "imidm",
        title: "implicit midpoint rule, momentum form",
        order: 2,
        symmetric: true,
        claims: Claims::MOMENTUM,
        citation: "Krysl 2006, section 3.3, IMIDM",
        options: &[],
        parts: &[(Part::BackwardMomentum, 0.5), (Part::ForwardMomentum, 0.5)],
    },
    Row {
        id: "swc1",
        title: "Simo & Wong's energy-momentum algorithm C1",
        order: 2,
        symmetric: true,
        claims: Claims::BOTH,
        citation: "Simo & Wong 1991; Krysl 2006, section 4, SWC1",
        options: &[],
        parts: &[(Part::Swc1, 1.0)],
    },
    Row {
        id: "akw",
        title: "Austin, Krishnaprasad & Wang's midpoint rule with Cayley update",
        order: 2,
        symmetric: true,
        claims: Claims { gravity_energy: true, gravity_axial: true, ..Claims::BOTH },
        citation: "Austin, Krishnaprasad & Wang 1993; Krysl 2006, section 4, AKW",
        options: &[],
        parts: &[(Part::Akw, 1.0)],
    },
    Row {
        id: "bbtrap",
        title: "Bottasso & Borri's trapezoidal rule, truncated",
        order: 2,
        symmetric: true,
        claims: Claims::BOTH,
        citation: "Bottasso & Borri 1998; Krysl 2006, section 4, BBTRAP",
        options: &[],
        parts: &[(Part::BbTrap, 1.0)],
    },
    Row {
        id: "bbtrapwd",
        title: "Bottasso & Borri's trapezoidal rule with the derivative of exp",
        order: 2,
        symmetric: false,
        claims: Claims::MOMENTUM,
        citation: "Bottasso & Borri 1998; Krysl 2006, section 4, BBTRAPWD",
        options: &[],
        parts: &[(Part::BbTrapWd, 1.0)],
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
        parts: &[(Part::Mkrk, 1.0)],
    }
}

/// A method, ready to be prepared for a group and scalar by [`super::Stepper::new`].
#[derive(Clone, Debug)]
pub struct Method {
    id: String,
    title: String,
    order: u32,
    symmetric: bool,
    claims: Claims,
    citation: String,
    options: &'static [Choice],
    parts: Vec<(Part, f64)>,
    tableau: Option<Tableau>,
}

/// Why an id is not a method.
#[derive(Clone, Debug, PartialEq)]
pub enum MethodError {
    /// No such id; the nearest ones are named.
    Unknown {
        /// The id asked for.
        id: String,
        /// Ids that look like it.
        near: Vec<String>,
    },
    /// The tableau after `mkrk:` is not one.
    Tableau(TableauError),
    /// A composition of a method that it cannot lift.
    NotSymmetric {
        /// The method inside the composition.
        id: String,
    },
    /// An option that the method does not have, or a value that it does not take.
    Option {
        /// The method.
        id: String,
        /// What is wrong.
        reason: String,
    },
    /// A composition of an order that is not offered.
    Order {
        /// What was asked for.
        order: String,
    },
}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { id, near } => {
                write!(f, "no method is called '{id}'")?;
                match near.as_slice() {
                    [] => write!(f, "; `polhode methods` lists them all"),
                    near => write!(f, "; did you mean {}?", near.join(" or ")),
                }
            }
            Self::Tableau(error) => error.fmt(f),
            Self::NotSymmetric { id } => write!(
                f,
                "'{id}' cannot be composed: it is not symmetric and of order 2, as the composition needs; use one of {}, or galpha:<map>,rho=1",
                REGISTRY.iter().filter(|r| r.symmetric).map(|r| r.id).collect::<Vec<_>>().join(", ")
            ),
            Self::Option { id, reason } => write!(f, "'{id}': {reason}"),
            Self::Order { order } if order.is_empty() => {
                write!(f, "a composition needs an order, 4, 6 or 8: write compose:<method>:4")
            }
            Self::Order { order } if order.contains(',') => write!(
                f,
                "the options of the method go before the order of the composition, as in compose:galpha:exp,rho=1:4; got \
                 '{order}' for the order"
            ),
            Self::Order { order } => {
                write!(f, "compositions reach order 4, 6 or 8, not '{order}': write compose:<method>:4")
            }
        }
    }
}

impl std::error::Error for MethodError {}

impl Method {
    /// The method with this id: one of [`REGISTRY`] with its options, `mkrk:` with a tableau written out, or
    /// `compose:<method>:<order>`.
    ///
    /// ```
    /// use polhode::method::Method;
    /// assert_eq!(Method::parse("compose:imidm:6")?.order(), 6);
    /// assert_eq!(Method::parse("galpha:exp,rho=0.5")?.order(), 2);
    /// assert!(Method::parse("imidn").unwrap_err().to_string().contains("did you mean imid or imidm"));
    /// # Ok::<(), polhode::method::MethodError>(())
    /// ```
    pub fn parse(id: &str) -> Result<Method, MethodError> {
        if let Some(rest) = id.strip_prefix("compose:") {
            let (inner, order) = match REGISTRY.iter().any(|row| row.id == rest) {
                true => (rest, ""),
                false => rest.rsplit_once(':').unwrap_or((rest, "")),
            };
            let asked = || MethodError::Order { order: order.into() };
            return Method::parse(inner)?.composed(order.parse().map_err(|_| asked())?);
        }
        let (base, given) = id.split_once(',').map_or((id, None), |(base, given)| (base, Some(given)));
        let plain = |row: &&Row| row.id == base && (given.is_none() || !base.starts_with("mkrk:"));
        if let Some(row) = REGISTRY.iter().chain(KINEMATIC).find(plain) {
            let tableau = match id.strip_prefix("mkrk:") {
                Some(name) => Some(Tableau::named(name).map_err(MethodError::Tableau)?),
                None => None,
            };
            let mut parts = row.parts.to_vec();
            if let Some(given) = given {
                options::set(base, row.options, &mut parts, given)?;
            }
            return Ok(Method {
                id: id.into(),
                title: row.title.into(),
                order: row.order,
                symmetric: parts
                    .iter()
                    .fold(row.symmetric, |symmetric, (part, _)| part.is_symmetric(symmetric)),
                claims: parts.iter().fold(row.claims, |claims, (part, _)| part.claims(claims)),
                citation: row.citation.into(),
                options: row.options,
                parts,
                tableau,
            });
        }
        if let Some(text) = id.strip_prefix("mkrk:") {
            let near = near_ids(id);
            if !text.contains('|') && !near.is_empty() {
                return Err(MethodError::Unknown { id: id.into(), near });
            }
            let found = if text.contains('|') { Tableau::parse(text) } else { Tableau::named(text) };
            return found.map(|t| Method::from_tableau(id, t)).map_err(MethodError::Tableau);
        }
        Err(MethodError::Unknown { id: id.into(), near: near_ids(id) })
    }

    /// A Munthe-Kaas method with a tableau of one's own; its order is computed from the entries.
    pub fn from_tableau(id: &str, tableau: Tableau) -> Method {
        let kind = match tableau.kind() {
            TableauKind::Explicit => "explicit",
            TableauKind::DiagonallyImplicit => "diagonally implicit",
            TableauKind::FullyImplicit => "fully implicit",
        };
        Method {
            id: id.into(),
            title: format!("Munthe-Kaas, {kind} tableau with {} stages", tableau.stages()),
            order: tableau.order(),
            // In the chart at the start of the step only the midpoint rule is its own mirror image.
            symmetric: tableau.stages() == 1 && tableau.is_symmetric(),
            claims: Claims::MOMENTUM,
            citation: "Munthe-Kaas 1998".into(),
            options: &[],
            parts: vec![(Part::Mkrk, 1.0)],
            tableau: Some(tableau),
        }
    }

    /// The symmetric composition of this method that reaches order 4, 6 or 8.
    pub fn composed(self, order: u32) -> Result<Method, MethodError> {
        let Some(set) = SETS.iter().find(|set| set.order == order) else {
            return Err(MethodError::Order { order: order.to_string() });
        };
        if !self.symmetric || self.order != 2 {
            return Err(MethodError::NotSymmetric { id: self.id });
        }
        let parts = set.fractions().flat_map(|g| self.parts.iter().map(move |(p, f)| (*p, g * f))).collect();
        Ok(Method {
            id: format!("compose:{}:{order}", self.id),
            title: format!("{}, composed to order {order}", self.title),
            order: set.order,
            citation: format!("{}; {}", self.citation, set.citation),
            parts,
            ..self
        })
    }

    /// Every method of the registry, and the compositions of order 4 of all that can be composed.
    pub fn all() -> Vec<Method> {
        let mut methods: Vec<Method> = REGISTRY.iter().filter_map(|row| Method::parse(row.id).ok()).collect();
        let lifted = methods.iter().filter_map(|m| m.clone().composed(4).ok()).collect::<Vec<_>>();
        methods.extend(lifted);
        methods
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }
    /// One line of what it is.
    pub fn title(&self) -> &str {
        &self.title
    }
    /// Order of convergence.
    pub fn order(&self) -> u32 {
        self.order
    }
    /// True if a step backward undoes a step forward.
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }
    /// True if no equations are solved.
    pub fn is_explicit(&self) -> bool {
        self.parts.iter().all(|(part, _)| match part {
            Part::ForwardRate | Part::ForwardMomentum | Part::Kinematic(..) => true,
            Part::Mkrk => self.tableau.as_ref().is_some_and(|t| t.kind() == TableauKind::Explicit),
            _ => false,
        })
    }
    /// True if it integrates the velocities of a prescribed motion and knows no dynamics.
    pub fn is_kinematic(&self) -> bool {
        self.parts.iter().any(|(part, _)| matches!(part, Part::Kinematic(..)))
    }
    /// What it keeps.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }
    /// Paper and equations.
    pub fn citation(&self) -> &str {
        &self.citation
    }
    /// What may be chosen, as `,name=value` after the id.
    pub fn options(&self) -> &'static [Choice] {
        self.options
    }
    /// The tableau of a Munthe-Kaas method.
    pub fn tableau(&self) -> Option<&Tableau> {
        self.tableau.as_ref()
    }
    pub(super) fn parts(&self) -> &[(Part, f64)] {
        &self.parts
    }
}

fn near_ids(id: &str) -> Vec<String> {
    nearest(id.split(',').next().unwrap_or(id), REGISTRY.iter().chain(KINEMATIC).map(|r| r.id))
}

/// The candidates that look most like a misspelt word, at most three: within an edit distance of a third of its
/// length, or starting with it.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut scored: Vec<(usize, &str)> = candidates
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= 1 + word.chars().count() / 3 || (word.len() > 1 && c.starts_with(word)))
        .collect();
    scored.sort_by_key(|(d, _)| *d);
    scored.into_iter().take(3).map(|(_, c)| c.to_string()).collect()
}

/// Levenshtein's edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::tableau::NAMES;

    #[test]
    fn every_row_parses_and_agrees_with_its_tableau() {
        for row in REGISTRY {
            let method = Method::parse(row.id).unwrap();
            assert_eq!(method.id(), row.id);
            if let Some(tableau) = method.tableau() {
                assert_eq!(tableau.order(), row.order, "{}", row.id);
                assert_eq!(Method::from_tableau("x", tableau.clone()).symmetric, row.symmetric, "{}", row.id);
            }
        }
        let named: Vec<String> = NAMES.iter().map(|n| format!("mkrk:{n}")).collect();
        let rows: Vec<&str> = REGISTRY.iter().map(|r| r.id).filter(|id| id.starts_with("mkrk:")).collect();
        assert_eq!(named, rows);
    }

    #[test]
    fn wrong_ids_are_answered_with_near_ones() {
        let text = |id: &str| Method::parse(id).unwrap_err().to_string();
        assert!(text("imidn").contains("did you mean imid or imidm"), "{}", text("imidn"));
        assert!(text("mkrk:gaus3").contains("mkrk:gauss3"));
        assert!(text("mkrk:nothing-like-it").contains("no tableau is called"));
        assert!(text("compose:akw:5").contains("4, 6 or 8"));
        assert!(text("compose:akw").contains("4, 6 or 8"));
        assert!(text("compose:bbtrapwd:4").contains("not symmetric"));
        assert!(text("compose:compose:akw:4:4").contains("order 2"));
        assert!(text("").contains("polhode methods"));
    }
}
