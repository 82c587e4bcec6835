//! Forces between bodies, and extra coordinates, of a model file.

use super::build::Builder;
use super::elements::between;
use super::formulas::LineForce;
use super::keys::{COORDINATES, FORCE};
use super::loads::StateExpression;
use super::number::{Name, Number, Numbers, Scope, Values, unknown_name};
use super::place::{Fault, Span};
use super::signals::{Named, Seen, Slot};
use super::table::Table;
use crate::multibody::{Bushing, Coordinates, ForceKind, MOST_NUMBERS, OwnForce};
use crate::scalar::Scalar;

/// A force as the file has it.
#[derive(Clone, Debug)]
pub(super) struct ForceDraft {
    name: String,
    span: Span,
    kind: String,
    between: [(String, Span); 2],
    stiffness: Option<Number>,
    damping: Option<Number>,
    /// Six stiffnesses and six dampings.
    bushing: [Option<Numbers>; 2],
    length: Option<Number>,
    angle: Option<Number>,
    line: Option<(StateExpression, bool)>,
}

impl ForceDraft {
    pub(super) fn read(name: &str, table: &Table<'_>, scope: &Scope<'_>) -> Result<ForceDraft, Fault> {
        table.only(FORCE)?;
        let missing = |what: &str| Fault::new(&table.span, format!("{} needs {what}", table.name));
        let (kind, _) = table
            .word("type", &["spring", "torsion-spring", "line", "bushing"])?
            .ok_or_else(|| missing("`type`"))?;
        let allowed: &[&str] = match kind.as_str() {
            "spring" => &["stiffness", "damping", "length"],
            "torsion-spring" => &["stiffness", "damping", "angle", "angle_deg"],
            "bushing" => &["stiffness", "damping"],
            _ => &["force", "potential"],
        };
        let stray = |key: &str| !matches!(key, "type" | "between") && !allowed.contains(&key);
        if let Some(entry) = table.entries.iter().find(|entry| stray(&entry.key)) {
            let message = format!(
                "`{}` does not belong to a force of type \"{kind}\", which has {}",
                entry.key,
                allowed.join(", ")
            );
            return Err(Fault::new(&entry.key_span(), message));
        }
        table.either("force", "potential")?;
        let line = match (table.entry("force"), table.entry("potential")) {
            (Some(entry), _) => Some((StateExpression::read("force", &entry.value, scope.hyphened)?, false)),
            (None, Some(entry)) => {
                Some((StateExpression::read("potential", &entry.value, scope.hyphened)?, true))
            }
            (None, None) => None,
        };
        let six = kind == "bushing";
        let sixes = |key: &'static str| if six { table.numbers(key, &[6], scope) } else { Ok(None) };
        let draft = ForceDraft {
            name: name.into(),
            span: table.span.clone(),
            between: between(table)?,
            stiffness: if six { None } else { table.number("stiffness", scope)? },
            damping: if six { None } else { table.number("damping", scope)? },
            bushing: [sixes("stiffness")?, sixes("damping")?],
            length: table.number("length", scope)?,
            angle: table.angle("angle", scope)?,
            line,
            kind,
        };
        match draft.kind.as_str() {
            "bushing" if draft.bushing.iter().all(Option::is_none) => {
                Err(missing("`stiffness` or `damping`"))
            }
            "line" if draft.line.is_none() => Err(missing("`force`, or `potential`")),
            "spring" | "torsion-spring" if draft.stiffness.is_none() && draft.damping.is_none() => {
                Err(missing("`stiffness` or `damping`"))
            }
            _ => Ok(draft),
        }
    }
    pub(super) fn name(&self) -> &str {
        &self.name
    }
    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }
    /// Where its expression stands, if it has one.
    pub(super) fn formula_span(&self) -> Span {
        self.line.as_ref().map_or_else(|| self.span(), |(formula, _)| formula.span.clone())
    }
    pub(super) fn build<S: Scalar>(
        &self,
        scope: &Scope<'_>,
        builder: &mut Builder<'_, S>,
    ) -> Result<(), Fault> {
        let element = format!("the force '{}'", self.name);
        let [a, b] = &self.between;
        let ends = [builder.end(&a.0, &a.1, &element)?, builder.end(&b.0, &b.1, &element)?];
        let values = &builder.values;
        let number =
            |given: &Option<Number>| given.as_ref().map_or(Ok(S::zero()), |number| number.at(values));
        let (stiffness, damping) = (number(&self.stiffness)?, number(&self.damping)?);
        let kind = match (self.kind.as_str(), &self.line) {
            ("spring", _) => {
                let length = match &self.length {
                    Some(length) => length.at(values)?,
                    None => builder.distance(&ends),
                };
                ForceKind::SpringDamper { stiffness, damping, length }
            }
            ("bushing", _) => {
                let mut numbers = Vec::new();
                for six in &self.bushing {
                    let six = six.as_ref().map_or(Ok(vec![S::zero(); 6]), |six| six.at(values))?;
                    numbers.extend(six);
                }
                let damped = numbers[6..].iter().any(|x| x.value() != 0.0);
                let own = OwnForce::new(Bushing { damped }, numbers);
                own.map_err(|error| Fault::new(&self.span, error.to_string()))?.into()
            }
            ("torsion-spring", _) => {
                ForceKind::TorsionSpring { stiffness, damping, angle: number(&self.angle)? }
            }
            (_, Some((formula, is_energy))) => {
                let (line, numbers) = line_force(formula, *is_energy, scope, values)?;
                let own = OwnForce::new(line, numbers)
                    .map_err(|error| Fault::new(&self.span, error.to_string()))?;
                own.into()
            }
            _ => return Err(Fault::new(&self.span, format!("{element} has no value"))),
        };
        let added = builder.system.force_with_ends(&self.name, kind, ends);
        added.map_err(|error| Fault::new(&self.span, error.to_string()))
    }
}

/// The force of an expression of length, rate and time, with its numbers.
fn line_force<S: Scalar>(
    formula: &StateExpression,
    is_energy: bool,
    scope: &Scope<'_>,
    values: &Values<S>,
) -> Result<(LineForce, Vec<S>), Fault> {
    let (mut slots, mut found, mut names): (Vec<Slot>, Vec<Name>, Vec<String>) = Default::default();
    for (k, name) in formula.expression.names().iter().enumerate() {
        // The signals of a line are its length and its rate.
        let local = match name.as_str() {
            "t" => Some(Slot::Time),
            "length" => Some(Slot::Signal(0)),
            "rate" => Some(Slot::Signal(1)),
            _ => None,
        };
        if is_energy && matches!(local, Some(Slot::Time | Slot::Signal(1))) {
            return Err(
                formula.fault(k, format!("the energy of a line depends on its length alone, not on {name}"))
            );
        }
        if let Some(slot) = local {
            slots.push(slot);
            continue;
        }
        match scope.find(name).map_err(|message| formula.fault(k, message))? {
            Some(known) => {
                let place = found.iter().position(|other| *other == known).unwrap_or_else(|| {
                    found.push(known);
                    names.push(name.clone());
                    found.len() - 1
                });
                slots.push(Slot::Number(place));
            }
            None => {
                let known: Vec<String> =
                    ["t", "length", "rate"].map(String::from).into_iter().chain(scope.known()).collect();
                return Err(formula.fault(k, unknown_name(name, &known)));
            }
        }
    }
    if found.len() > MOST_NUMBERS {
        return Err(Fault::new(&formula.span, format!("a force uses at most {MOST_NUMBERS} parameters")));
    }
    let numbers = found.into_iter().map(|name| values.named(name)).collect();
    Ok((LineForce { pull: Seen::new(&[Named { formula, slots }])?, names, is_energy }, numbers))
}

/// Extra coordinates as the file has them.
#[derive(Clone, Debug)]
pub(super) struct CoordinatesDraft {
    name: String,
    span: Span,
    mass: Numbers,
    position: Numbers,
    matrices: [Option<Numbers>; 2],
    lists: [Option<Numbers>; 3],
    frequency: Option<Number>,
    phase: Option<Number>,
}

impl CoordinatesDraft {
    pub(super) fn read(name: &str, table: &Table<'_>, scope: &Scope<'_>) -> Result<CoordinatesDraft, Fault> {
        table.only(COORDINATES)?;
        let missing = |what: &str| Fault::new(&table.span, format!("{} needs `{what}`", table.name));
        let list = |key: &'static str| table.numbers(key, &[], scope);
        Ok(CoordinatesDraft {
            name: name.into(),
            span: table.span.clone(),
            mass: list("mass")?.ok_or_else(|| missing("mass"))?,
            position: list("position")?.ok_or_else(|| missing("position"))?,
            matrices: [list("damping")?, list("stiffness")?],
            lists: [list("velocity")?, list("force")?, list("amplitude")?],
            frequency: table.number("frequency", scope)?,
            phase: table.angle("phase", scope)?,
        })
    }
    pub(super) fn build<S: Scalar>(&self, builder: &mut Builder<'_, S>) -> Result<(), Fault> {
        let values = &builder.values;
        let position = self.position.at(values)?;
        let n = position.len();
        let matrix = |numbers: &Numbers| {
            let list = numbers.at(values)?;
            match list.len() {
                count if count == n && n != 1 => {
                    Ok((0..n * n).map(|k| if k / n == k % n { list[k / n] } else { S::zero() }).collect())
                }
                count if count == n * n => Ok(list),
                count => Err(numbers.fault(format!(
                    "{n} coordinates have a matrix of {n} or {} numbers, got {count}",
                    n * n
                ))),
            }
        };
        let vector = |numbers: &Numbers| {
            let list = numbers.at(values)?;
            match list.len() == n {
                true => Ok(list),
                false => Err(numbers.fault(format!("{n} coordinates have {n} numbers, got {}", list.len()))),
            }
        };
        let mut extra = Coordinates::new(matrix(&self.mass)?, position);
        if let Some(damping) = &self.matrices[0] {
            extra.damping = matrix(damping)?;
        }
        if let Some(stiffness) = &self.matrices[1] {
            extra.stiffness = matrix(stiffness)?;
        }
        let [velocity, force, amplitude] = &self.lists;
        for (to, from) in
            [(&mut extra.velocity, velocity), (&mut extra.force, force), (&mut extra.amplitude, amplitude)]
        {
            if let Some(numbers) = from {
                *to = vector(numbers)?;
            }
        }
        if let Some(frequency) = &self.frequency {
            extra.frequency = frequency.at(values)?;
        }
        if let Some(phase) = &self.phase {
            extra.phase = phase.at(values)?;
        }
        let added = builder.system.coordinates(&self.name, extra);
        added.map_err(|error| Fault::new(&self.span, error.to_string()))
    }
}
