//! What names in loads stand for: numbers that a formula takes along, and quantities of the body that it acts on.

use super::formulas::{Named, Slot};
use super::loads::StateExpression;
use super::number::{Name, Scope, Values, unknown_name};
use super::place::{Fault, Span};
use crate::body::{Formula, Own, StandardLoad};
use crate::lookup::{ENTRIES, nearest};
use crate::multibody::{Held, MOST_NUMBERS, Rigid};
use crate::scalar::Scalar;
use nalgebra::Vector3;

/// A number that a formula takes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    Named(Name),
    Own(OwnNumber),
    /// A component of where a force acts.
    At(usize),
    /// A number of a load that can be set between steps.
    Given(usize),
}

/// A number of the body that a load acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnNumber {
    Mass,
    Inertia(usize, usize),
    Center(usize),
}

pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// A component of a vector by its name.
pub(super) fn component(name: &str, vector: &str) -> Option<usize> {
    let ending = name.strip_prefix(vector)?.strip_prefix('_')?;
    AXES.iter().position(|axis| *axis == ending)
}

/// An entry of a matrix by its name.
pub(super) fn entry(name: &str, matrix: &str) -> Option<(usize, usize)> {
    let ending = name.strip_prefix(matrix)?.strip_prefix('_')?;
    let at = |i: usize| AXES.iter().position(|axis| ending.get(i..=i) == Some(axis));
    (ending.len() == 2).then_some((at(0)?, at(1)?))
}

impl OwnNumber {
    pub(super) fn named(name: &str) -> Option<Self> {
        if name == "mass" {
            return Some(OwnNumber::Mass);
        }
        if let Some((i, j)) = entry(name, "inertia") {
            return Some(OwnNumber::Inertia(i.min(j), i.max(j)));
        }
        component(name, "center").map(OwnNumber::Center)
    }
    /// The one of this name, if that is known of the body.
    pub(super) fn known(name: &str, body: &str, without_mass: bool) -> Result<Option<Self>, String> {
        match Self::named(name) {
            Some(OwnNumber::Mass | OwnNumber::Center(_)) if without_mass => Err(format!(
                "the mass and the centre of mass of '{body}' are not known, so that there is no '{name}'"
            )),
            number => Ok(number),
        }
    }
    pub(super) fn of<S: Scalar>(self, body: &Rigid<S>) -> S {
        match self {
            OwnNumber::Mass => body.mass,
            OwnNumber::Inertia(i, j) => body.inertia.matrix()[(i, j)],
            // Loads may be seen from another point than the origin.
            OwnNumber::Center(i) => body.center[i] - body.loads.offset()[i],
        }
    }
    pub(super) fn name(self) -> String {
        match self {
            OwnNumber::Mass => "mass".into(),
            OwnNumber::Inertia(i, j) => format!("inertia_{}{}", AXES[i], AXES[j]),
            OwnNumber::Center(i) => format!("center_{}", AXES[i]),
        }
    }
}

/// True of a body whose mass is not known.
pub(super) fn is_without_mass<S: Scalar>(body: &Rigid<S>) -> bool {
    matches!(body.held, Held::Pivot(_))
}

/// A quantity of the state of a body by its name.
fn state_slot(name: &str) -> Option<Slot> {
    if let Some(i) = ["q_w", "q_x", "q_y", "q_z"].iter().position(|q| *q == name) {
        return Some(Slot::Quaternion(i));
    }
    if let Some((i, j)) = entry(name, "attitude") {
        return Some(Slot::Attitude(i, j));
    }
    type Named = (&'static str, fn(usize) -> Slot);
    let vectors: [Named; 7] = [
        ("position", Slot::Position),
        ("velocity_body", Slot::VelocityBody),
        ("velocity", Slot::Velocity),
        ("omega_body", Slot::OmegaBody),
        ("omega_space", Slot::OmegaSpace),
        ("center_of_mass", Slot::CenterOfMass),
        ("center_velocity", Slot::CenterVelocity),
    ];
    vectors.iter().find_map(|(vector, slot)| component(name, vector).map(slot))
}

/// The elements whose quantities a misspelt name may be one of: the first ones, and those whose names look like what stands before
/// its last point.
pub(super) fn likely<'a, E>(name: &str, elements: &'a [E], called: impl Fn(&E) -> &str) -> Vec<&'a E> {
    const FEW: usize = 20;
    let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
    let near = nearest(owner, elements.iter().skip(FEW).map(&called));
    let others = elements.iter().skip(FEW);
    let like =
        others.filter(|element| called(element) == owner || near.iter().any(|one| one == called(element)));
    elements.iter().take(FEW).chain(like).collect()
}

/// The names of the state and of the numbers of a body, for messages.
pub(super) fn body_names() -> Vec<String> {
    let vectors =
        ["position", "velocity", "omega_body", "omega_space", "center_of_mass", "center_velocity", "center"];
    let mut all: Vec<String> = vec!["t".into(), "mass".into()];
    all.extend(["q_w", "q_x", "q_y", "q_z"].map(String::from));
    all.extend(vectors.iter().flat_map(|v| AXES.map(|axis| format!("{v}_{axis}"))));
    all.extend(AXES.iter().flat_map(|i| AXES.map(|j| format!("attitude_{i}{j}"))));
    all.extend(ENTRIES.map(|(_, _, ending)| format!("inertia_{ending}")));
    all
}

/// The numbers of a formula while it is made.
#[derive(Default)]
pub(super) struct Collected {
    list: Vec<Carried>,
    pub(super) names: Vec<String>,
    /// True of a body whose mass is not known.
    without_mass: bool,
}

impl Collected {
    /// Of a load on this body.
    pub(super) fn on<S: Scalar>(body: &Rigid<S>) -> Self {
        Collected { without_mass: is_without_mass(body), ..Collected::default() }
    }
    pub(super) fn place(&mut self, carried: Carried, name: String) -> usize {
        match self.list.iter().position(|known| *known == carried) {
            Some(place) => place,
            None => {
                self.list.push(carried);
                self.names.push(name);
                self.list.len() - 1
            }
        }
    }
    pub(super) fn own(&mut self, number: OwnNumber) -> usize {
        self.place(Carried::Own(number), format!("own.{}", number.name()))
    }
    /// What the names of an expression stand for.
    pub(super) fn named<'f>(
        &mut self,
        formula: &'f StateExpression,
        body: &str,
        scope: &Scope<'_>,
    ) -> Result<Named<'f>, Fault> {
        let mut slots = Vec::new();
        for (k, name) in formula.expression.names().iter().enumerate() {
            slots.push(self.slot(name, body, scope).map_err(|message| formula.fault(k, message))?);
        }
        if self.list.len() > MOST_NUMBERS {
            let message = format!(
                "a load uses at most {MOST_NUMBERS} parameters and numbers of its body, this one {}",
                self.list.len()
            );
            return Err(Fault::new(&formula.span, message));
        }
        Ok(Named { formula, slots })
    }
    fn slot(&mut self, name: &str, body: &str, scope: &Scope<'_>) -> Result<Slot, String> {
        if name == "t" {
            return Ok(Slot::Time);
        }
        if let Some(found) = scope.find(name)? {
            return Ok(Slot::Number(self.place(Carried::Named(found), name.into())));
        }
        let own = match name.rsplit_once('.') {
            Some((owner, own)) if owner == body => own,
            Some((owner, _)) => {
                return Err(format!(
                    "this load on '{body}' depends on the motion of '{body}' alone, not on that of '{owner}'"
                ));
            }
            None => name,
        };
        if let Some(number) = OwnNumber::known(own, body, self.without_mass)? {
            return Ok(Slot::Number(self.own(number)));
        }
        let Some(slot) = state_slot(own) else {
            let known: Vec<String> = scope.known().into_iter().chain(body_names()).collect();
            return Err(unknown_name(name, &known));
        };
        if matches!(slot, Slot::CenterOfMass(_) | Slot::CenterVelocity(_)) {
            (0..3).for_each(|i| {
                self.own(OwnNumber::Center(i));
            });
        }
        Ok(slot)
    }
    /// The places of the centre of mass, if they are there.
    pub(super) fn center(&self) -> Option<[usize; 3]> {
        let place = |i| self.list.iter().position(|known| *known == Carried::Own(OwnNumber::Center(i)));
        Some([place(0)?, place(1)?, place(2)?])
    }
    /// The load of a formula, with what that wants behind the numbers.
    pub(super) fn load<S: Scalar, F: Formula>(
        self,
        (formula, image): (F, impl FnOnce(&F, &[S]) -> Vec<S>),
        at: Option<&Vector3<S>>,
        given: &[S],
        body: &Rigid<S>,
        values: &Values<S>,
        span: &Span,
    ) -> Result<StandardLoad<S>, Fault> {
        let number = |carried: &Carried| match carried {
            Carried::Named(name) => values.named(*name),
            Carried::Own(number) => number.of(body),
            Carried::At(i) => at.map_or(S::zero(), |at| at[*i]),
            Carried::Given(i) => given.get(*i).copied().unwrap_or(S::zero()),
        };
        let numbers = self.list.iter().map(number).collect();
        let own =
            Own::with_image(formula, numbers, image).map_err(|error| Fault::new(span, error.to_string()))?;
        Ok(own.into())
    }
}
