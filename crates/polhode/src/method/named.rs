//! Methods by their ids: rows of the registry with options, tableaus written out, compositions.

use super::alpha::SYSTEMS;
use super::composition::SETS;
use super::options::{self, Choice};
use super::outside::Outside;
use super::registry::{Claims, KINEMATIC, REGISTRY, Row, Substep};
use super::scheme::Scheme;
use super::structured::{SystemClaims, SystemScheme};
use super::tableau::{Tableau, TableauError, TableauKind};
use crate::lookup::nearest;
use core::fmt;
use std::sync::Arc;

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
    parts: Vec<(Substep, f64)>,
    tableau: Option<Tableau>,
}

/// What a scheme of one's own says of itself, as a row of [`REGISTRY`] does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SchemeFacts<'a> {
    /// The id.
    pub id: &'a str,
    /// One line of what it is.
    pub title: &'a str,
    /// Order of convergence.
    pub order: u32,
    /// True if a step backward undoes a step forward.
    pub symmetric: bool,
    /// What it keeps.
    pub claims: Claims,
    /// Paper and equations.
    pub citation: &'a str,
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
        if let Some(row) = REGISTRY.iter().chain(KINEMATIC).chain(SYSTEMS).find(plain) {
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
                order: parts.iter().fold(row.order, |order, (part, _)| part.order(order)),
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
            parts: vec![(Substep::Mkrk, 1.0)],
            tableau: Some(tableau),
        }
    }

    /// A method with one scheme of one's own; see [`Scheme`] for an example.
    ///
    /// It runs on both groups, in plain numbers, lanes and double-double numbers, can be composed if it says that it is
    /// symmetric, and has no derivatives with respect to parameters.
    pub fn from_scheme(
        facts: SchemeFacts<'_>,
        scheme: impl Scheme + Send + Sync + fmt::Debug + 'static,
    ) -> Method {
        Method {
            id: facts.id.into(),
            title: facts.title.into(),
            order: facts.order,
            symmetric: facts.symmetric,
            claims: facts.claims,
            citation: facts.citation.into(),
            options: &[],
            parts: vec![(Substep::Outside(Outside(Arc::new(scheme))), 1.0)],
            tableau: None,
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
        if let Some(reason) = self.system().and_then(SystemScheme::cannot_compose) {
            return Err(MethodError::Option { id: self.id, reason: reason.into() });
        }
        let parts =
            set.fractions().flat_map(|g| self.parts.iter().map(move |(p, f)| (p.clone(), g * f))).collect();
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
            Substep::ForwardRate | Substep::ForwardMomentum | Substep::Kinematic(..) => true,
            Substep::Mkrk => self.tableau.as_ref().is_some_and(|t| t.kind() == TableauKind::Explicit),
            _ => false,
        })
    }
    /// True if it integrates the velocities of a prescribed motion and knows no dynamics.
    pub fn is_kinematic(&self) -> bool {
        self.parts.iter().any(|(part, _)| matches!(part, Substep::Kinematic(..)))
    }
    /// The scheme of a method for systems of bodies and joints.
    pub fn system(&self) -> Option<&SystemScheme> {
        match self.parts.as_slice() {
            [(Substep::System(scheme), _), ..] => Some(scheme),
            _ => None,
        }
    }
    /// What a method for systems keeps of their motion.
    pub fn keeps(&self) -> Option<SystemClaims> {
        self.system().map(SystemScheme::keeps)
    }
    /// The fractions of a step in which it is taken; more than one for compositions.
    pub(crate) fn fractions(&self) -> Vec<f64> {
        self.parts.iter().map(|(_, fraction)| *fraction).collect()
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
    pub(super) fn parts(&self) -> &[(Substep, f64)] {
        &self.parts
    }
}

fn near_ids(id: &str) -> Vec<String> {
    nearest(id.split(',').next().unwrap_or(id), REGISTRY.iter().chain(KINEMATIC).chain(SYSTEMS).map(|r| r.id))
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
        assert!(text("rk4").contains("did you mean mkrk:rk4?"), "{}", text("rk4"));
        assert!(text("gauss2").contains("did you mean mkrk:gauss2?"), "{}", text("gauss2"));
        assert!(text("midpoint").contains("did you mean mkrk:midpoint?"), "{}", text("midpoint"));
        assert!(text("cayley").contains("did you mean preserving:cayley or"), "{}", text("cayley"));
        assert!(text("gaus3").contains("mkrk:gauss3"), "{}", text("gaus3"));
        assert!(text("mkrk:1/0 | 1").contains("'1/0'"), "{}", text("mkrk:1/0 | 1"));
    }
}
