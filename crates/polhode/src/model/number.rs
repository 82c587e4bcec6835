//! Numbers of a model: given, or expressions of its parameters, evaluated in any scalar.

use super::data::{Datum, DatumKind, entry_of};
use super::place::{Fault, Span, Spot};
use super::tree::{Kind, Value};
use crate::expression::{Expression, Function};
use crate::lookup::{ENTRIES, nearest};
use crate::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};
use std::borrow::Cow;

/// A key as messages call it: one of the format, or the name of a parameter.
pub(super) type Called = Cow<'static, str>;

/// What a name in a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// A component of a parameter.
    Parameter(usize, usize),
    Definition(usize),
    /// Which one it is of several.
    Counter,
}

/// A parameter as far as names are concerned.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) kind: DatumKind,
    /// How many values it has in the file.
    pub(crate) count: usize,
}

/// The names that numbers may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    /// The parameters, and how many of them stand above.
    pub(super) parameters: &'a [Named],
    pub(super) above: usize,
    pub(super) definitions: &'a [String],
    pub(super) definitions_above: usize,
    /// True where elements are counted.
    pub(super) counter: bool,
    /// Element names with hyphens, sorted.
    pub(super) hyphened: &'a [&'a str],
}

impl Scope<'_> {
    pub(super) fn counted(self, counter: bool) -> Self {
        Scope { counter, ..self }
    }
    /// What a name stands for; nothing if it is unknown, and why where it cannot be used.
    pub(super) fn find(&self, name: &str) -> Result<Option<Name>, String> {
        if name == "i" && self.counter {
            return Ok(Some(Name::Counter));
        }
        for (p, parameter) in self.parameters.iter().enumerate() {
            let Some(ending) = name.strip_prefix(parameter.name.as_str()) else { continue };
            let endings = parameter.kind.endings(parameter.count);
            let component = endings.iter().position(|known| known == ending);
            if component.is_none() && !ending.is_empty() {
                continue;
            }
            if p == self.above {
                return Err(format!("{} depends on itself", parameter.name));
            }
            if p > self.above {
                return Err(format!("{} stands further down; move it up", parameter.name));
            }
            return match component {
                _ if parameter.kind == DatumKind::Rotation => {
                    Err(format!("{} is a rotation, which no expression can use", parameter.name))
                }
                Some(component) => Ok(Some(Name::Parameter(p, component))),
                None => {
                    let names: Vec<String> =
                        endings.iter().map(|e| format!("{}{e}", parameter.name)).collect();
                    Err(format!("{} is several numbers; use {}", parameter.name, names.join(", ")))
                }
            };
        }
        if let Some(d) = self.definitions.iter().position(|known| known == name) {
            return match d.cmp(&self.definitions_above) {
                core::cmp::Ordering::Less => Ok(Some(Name::Definition(d))),
                core::cmp::Ordering::Equal => Err(format!("{name} depends on itself")),
                core::cmp::Ordering::Greater => Err(format!("{name} stands further down; move it up")),
            };
        }
        Ok(None)
    }
    /// All names that could be meant.
    pub(super) fn known(&self) -> Vec<String> {
        let of = |parameter: &Named| {
            let endings = parameter.kind.endings(parameter.count);
            endings.iter().map(|ending| format!("{}{ending}", parameter.name)).collect::<Vec<_>>()
        };
        let parameters = self.parameters.iter().take(self.above).flat_map(of);
        parameters.chain(self.definitions.iter().take(self.definitions_above).cloned()).collect()
    }
}

/// What is said of a name that means nothing.
pub(super) fn unknown_name(name: &str, known: &[String]) -> String {
    let near = nearest(name, known.iter().map(String::as_str));
    match (near.is_empty(), known.is_empty()) {
        (false, _) => format!("nothing is called '{name}' here; did you mean {}?", near.join(" or ")),
        (true, true) => format!("nothing is called '{name}' here; there are no parameters that it could be"),
        (true, false) => {
            let shown: Vec<&str> = known.iter().take(20).map(String::as_str).collect();
            let more = if known.len() > shown.len() { ", ..." } else { "" };
            format!("nothing is called '{name}' here; there are {}{more}", shown.join(", "))
        }
    }
}

/// Where the text of a string begins within its value, if the file has it letter by letter.
pub(super) fn inside(span: &Span, text: &str, part: Span) -> Span {
    let quotes = match (span.end.saturating_sub(span.start)).checked_sub(text.len()) {
        Some(2) => 1,
        Some(6) => 3,
        _ => return span.clone(),
    };
    let start = span.start + quotes;
    start + part.start..start + part.end.max(part.start)
}

/// Reads an expression, with mistakes told at their place.
pub(super) fn expression(text: &str, span: &Span, hyphened: &[&str]) -> Result<Expression, Fault> {
    Expression::parse_with(text, hyphened)
        .map_err(|error| Fault::new(&inside(span, text, error.span.clone()), error.to_string()))
}

/// A number. Most keys of most elements are left out: what there is of one stands elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Number(Box<Of<Source>>);

/// What numbers are, and what is said of them.
#[derive(Clone, Debug)]
struct Of<T> {
    source: T,
    spot: Spot,
    key: Called,
    factor: f64,
}

#[derive(Clone, Debug)]
enum Source {
    Given(f64),
    Formula(Box<(Expression, Vec<Name>)>),
}

impl<T> Of<T> {
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(&self.spot.span(), message).of(&self.key)
    }
    /// In units of the system.
    fn scaled<S: Scalar>(&self, x: S) -> S {
        if self.factor == 1.0 { x } else { x * S::lift(self.factor) }
    }
}

impl Number {
    pub(super) fn read(
        key: Called,
        value: &Value<'_>,
        scope: &Scope<'_>,
        factor: f64,
    ) -> Result<Number, Fault> {
        let spot = value.spot;
        if let Some(x) = value.plain_number()? {
            return Ok(Number(Box::new(Of { source: Source::Given(x), spot, key, factor })));
        }
        let span = value.span();
        let Kind::Text(text) = &value.kind else {
            let message = format!("{key} must be a number or an expression in quotes, not {}", value.what());
            return Err(Fault::new(&span, message));
        };
        let expression = expression(text, &span, scope.hyphened)?;
        let mut names = Vec::new();
        for (k, name) in expression.names().iter().enumerate() {
            let at = expression.place(k).unwrap_or_default();
            let wrong = |message: String| Fault::new(&inside(&span, text, at.clone()), message);
            match scope.find(name).map_err(wrong)? {
                Some(found) => names.push(found),
                None => return Err(wrong(unknown_name(name, &scope.known()))),
            }
        }
        let source = Source::Formula(Box::new((expression, names)));
        Ok(Number(Box::new(Of { source, spot, key, factor })))
    }
    pub(super) fn given(x: f64) -> Number {
        let spot = Spot::default();
        Number(Box::new(Of { source: Source::Given(x), spot, key: "".into(), factor: 1.0 }))
    }
    pub(crate) fn span(&self) -> Span {
        self.0.spot.span()
    }
    /// Something wrong with it.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        self.0.fault(message)
    }
    /// The parameter that it is, if it is nothing else.
    pub(super) fn parameter(&self) -> Option<usize> {
        match &self.0.source {
            Source::Formula(both) => match both.1.as_slice() {
                [Name::Parameter(p, _)] => Some(*p),
                _ => None,
            },
            Source::Given(_) => None,
        }
    }
    /// True if it is an expression.
    pub(super) fn is_formula(&self) -> bool {
        matches!(self.0.source, Source::Formula(_))
    }
    /// Its value, which must be finite.
    pub(crate) fn at<S: Scalar>(&self, values: &Values<S>) -> Result<S, Fault> {
        let x = match &self.0.source {
            Source::Given(x) => S::lift(*x),
            Source::Formula(both) => both.0.evaluate_with(&|name| values.of(both.1[name])),
        };
        let x = self.0.scaled(x);
        if x.is_finite() {
            return Ok(x);
        }
        let value = if x.value().is_nan() { "not a number" } else { "infinite" };
        let message = format!(
            "{} is {value}: a division by zero, a root of a negative number or an overflow",
            self.0.key
        );
        Err(values.blamed(self.fault(message), self.parameter()))
    }
    /// A whole number from one to a limit.
    pub(super) fn whole<S: Scalar>(
        &self,
        values: &Values<S>,
        range: core::ops::RangeInclusive<f64>,
    ) -> Result<usize, Fault> {
        let x = self.at(values)?.value();
        if range.contains(&x) && x.fract() == 0.0 {
            return Ok(x as usize);
        }
        let message = format!(
            "it must be a whole number from {} to {}, got {}",
            range.start(),
            range.end(),
            crate::lookup::plain(x)
        );
        Err(values.blamed(self.fault(message), self.parameter()))
    }
}

/// A few numbers: each by itself, or a parameter as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Numbers(Box<(Of<Several>, &'static [usize])>);

#[derive(Clone, Debug)]
enum Several {
    /// As many as most keys take, without room of their own.
    Three([f64; 3]),
    Given(Box<[f64]>),
    /// Some of them are expressions.
    Each(Vec<Number>),
    Whole(usize),
}

impl Several {
    fn of(given: Box<[f64]>) -> Several {
        match *given {
            [a, b, c] => Several::Three([a, b, c]),
            _ => Several::Given(given),
        }
    }
}

impl Numbers {
    /// So many numbers (any number of them if no size is given): an array, an array of rows, or the name of a parameter.
    pub(super) fn read(
        key: Called,
        value: &Value<'_>,
        sizes: &'static [usize],
        scope: &Scope<'_>,
        factor: f64,
    ) -> Result<Numbers, Fault> {
        let span = value.span();
        let several = |key, source| {
            let made = Numbers(Box::new((Of { source, spot: value.spot, key, factor }, sizes)));
            match made.0.0.source {
                Several::Whole(_) => Ok(made),
                _ => made.count(made.len()).map(|()| made),
            }
        };
        let one = |key: Called| Ok(Several::Each(vec![Number::read(key, value, scope, factor)?]));
        match &value.kind {
            Kind::Array(list) => {
                let plain = |entry: &Value<'_>| match entry.kind {
                    Kind::Number(x) => Some(x),
                    _ => None,
                };
                let source = match list.iter().map(plain).collect::<Option<Box<[f64]>>>() {
                    Some(given) => Several::of(given),
                    None => Several::Each(Self::read_each(&key, list, scope, factor)?),
                };
                several(key, source)
            }
            Kind::Text(text) => {
                let place = scope.parameters.iter().position(|parameter| parameter.name == text.trim());
                match place {
                    Some(p) if p < scope.above => several(key, Several::Whole(p)),
                    _ if sizes.is_empty() || sizes == [1] => several(key.clone(), one(key)?),
                    _ => {
                        let wide: Vec<&str> = scope
                            .parameters
                            .iter()
                            .filter(|p| p.kind != DatumKind::Number)
                            .map(|p| p.name.as_str())
                            .collect();
                        let near = nearest(text.trim(), wide.iter().copied());
                        let hint = match (near.is_empty(), wide.is_empty()) {
                            (false, _) => format!("; did you mean {}?", near.join(" or ")),
                            (true, false) => format!(" (there are {})", wide.join(", ")),
                            (true, true) => String::new(),
                        };
                        let message = format!(
                            "{key} is {}, or the name of a parameter that is that; '{text}' is none{hint}",
                            counted(sizes)
                        );
                        Err(Fault::new(&span, message).of(&key))
                    }
                }
            }
            _ if sizes.is_empty() || sizes.contains(&1) => several(key.clone(), one(key)?),
            _ => {
                let message = format!("{key} must be {}, not {}", counted(sizes), value.what());
                Err(Fault::new(&span, message).of(&key))
            }
        }
    }
    /// The numbers of an array, one by one, or row by row.
    fn read_each(
        key: &Called,
        list: &[Value<'_>],
        scope: &Scope<'_>,
        factor: f64,
    ) -> Result<Vec<Number>, Fault> {
        let rows = list.iter().any(|entry| matches!(entry.kind, Kind::Array(_)));
        let mut each = Vec::new();
        for entry in list {
            match &entry.kind {
                Kind::Array(row) if row.len() == list.len() && !row.is_empty() => {
                    for x in row {
                        each.push(Number::read(key.clone(), x, scope, factor)?);
                    }
                }
                _ if rows => {
                    let message = format!(
                        "{key} has rows and must have as many numbers in each: {0} of {0}",
                        list.len()
                    );
                    return Err(Fault::new(&entry.span(), message).of(key));
                }
                _ => each.push(Number::read(key.clone(), entry, scope, factor)?),
            }
        }
        Ok(each)
    }
    /// Something wrong with it.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        self.0.0.fault(message)
    }
    fn len(&self) -> usize {
        match &self.0.0.source {
            Several::Three(list) => list.len(),
            Several::Given(list) => list.len(),
            Several::Each(list) => list.len(),
            Several::Whole(_) => 0,
        }
    }
    /// Each of them, where they are given one by one.
    pub(super) fn each(self) -> Vec<Number> {
        let (Of { source, spot, key, factor }, _) = *self.0;
        let given = |x| Number(Box::new(Of { source: Source::Given(x), spot, key: key.clone(), factor }));
        match source {
            Several::Three(list) => list.into_iter().map(given).collect(),
            Several::Given(list) => list.into_iter().map(given).collect(),
            Several::Each(list) => list,
            Several::Whole(_) => Vec::new(),
        }
    }
    /// The parameter that it is.
    pub(super) fn parameter(&self) -> Option<usize> {
        match &self.0.0.source {
            Several::Whole(p) => Some(*p),
            Several::Each(list) => match list.as_slice() {
                [one] => one.parameter(),
                _ => None,
            },
            Several::Three(_) | Several::Given(_) => None,
        }
    }
    fn count(&self, given: usize) -> Result<(), Fault> {
        let (Of { key, .. }, sizes) = &*self.0;
        match sizes.is_empty() || sizes.contains(&given) {
            true => Ok(()),
            false => Err(self.fault(format!("{key} takes {}, got {given}", counted(sizes)))),
        }
    }
    /// True if it is a parameter that is not set.
    pub(crate) fn is_unset<S: Scalar>(&self, values: &Values<S>) -> bool {
        matches!(self.0.0.source, Several::Whole(p) if values.parameters.get(p).is_some_and(|given| given.raw.is_empty()))
    }
    /// Their values.
    pub(crate) fn at<S: Scalar>(&self, values: &Values<S>) -> Result<Vec<S>, Fault> {
        let scaled = |x: S| self.0.0.scaled(x);
        match &self.0.0.source {
            Several::Three(list) => Ok(list.iter().map(|x| scaled(S::lift(*x))).collect()),
            Several::Given(list) => Ok(list.iter().map(|x| scaled(S::lift(*x))).collect()),
            Several::Each(list) => list.iter().map(|number| number.at(values)).collect(),
            Several::Whole(p) => {
                let list = values.parameters.get(*p).map(|given| given.numbers()).unwrap_or_default();
                self.count(list.len()).map_err(|fault| values.blamed(fault, Some(*p)))?;
                Ok(list.into_iter().map(scaled).collect())
            }
        }
    }
    /// Three of them.
    pub(crate) fn vector<S: Scalar>(&self, values: &Values<S>) -> Result<Vector3<S>, Fault> {
        if let Several::Three(list) = &self.0.0.source {
            return Ok(Vector3::from(list.map(|x| self.0.0.scaled(S::lift(x)))));
        }
        let list = self.at(values)?;
        Ok(Vector3::from_fn(|i, _| list.get(i).copied().unwrap_or(S::zero())))
    }
    /// An inertia, or a matrix by rows.
    pub(crate) fn tensor<S: Scalar>(&self, values: &Values<S>) -> Result<Matrix3<S>, Fault> {
        if let Several::Whole(p) = &self.0.0.source
            && let Some(given) = values.parameters.get(*p).filter(|given| given.kind == DatumKind::Inertia)
        {
            return Ok(given.matrix());
        }
        let list = self.at(values)?;
        Ok(Matrix3::from_fn(|i, j| entry_of(&list, i, j).unwrap_or(S::lift(f64::NAN))))
    }
    /// The turn that follows a rotation which is a parameter.
    pub(crate) fn turn<S: Scalar>(&self, values: &Values<S>) -> Option<Vector3<S>> {
        let Several::Whole(p) = self.0.0.source else { return None };
        let given = values.parameters.get(p).filter(|given| given.kind == DatumKind::Rotation)?;
        Some(Vector3::from_fn(|i, _| given.changes.get(i).copied().unwrap_or(S::zero())))
    }
}

/// "3 or 4 numbers".
fn counted(sizes: &[usize]) -> String {
    let list: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    match list.as_slice() {
        [] => "numbers".into(),
        [one] if one == "1" => "a number".into(),
        _ => format!("{} numbers", list.join(" or ")),
    }
}

/// The values of all parameters and definitions.
#[derive(Clone, Debug)]
pub(crate) struct Values<S> {
    pub(super) parameters: Vec<Given<S>>,
    pub(super) definitions: Vec<S>,
    /// Which one it is of several.
    pub(super) counter: f64,
    pub(super) names: Vec<String>,
}

/// The values of a parameter.
#[derive(Clone, Debug)]
pub(super) struct Given<S> {
    pub(super) kind: DatumKind,
    /// As they are given.
    pub(super) raw: Vec<S>,
    /// What is added to each component.
    pub(super) changes: Vec<S>,
}

impl<S: Scalar> Given<S> {
    /// With their changes, except for a rotation, which has a turn of its own.
    fn numbers(&self) -> Vec<S> {
        match self.kind {
            DatumKind::Rotation | DatumKind::Choice => self.raw.clone(),
            DatumKind::Inertia if self.changes.iter().all(|x| x.is_zero()) => self.raw.clone(),
            DatumKind::Inertia => {
                let matrix = self.matrix();
                ENTRIES.iter().map(|(i, j, _)| matrix[(*i, *j)]).collect()
            }
            _ => self.raw.iter().zip(&self.changes).map(|(x, change)| *x + *change).collect(),
        }
    }
    fn matrix(&self) -> Matrix3<S> {
        let mut matrix = Matrix3::from_fn(|i, j| entry_of(&self.raw, i, j).unwrap_or(S::lift(f64::NAN)));
        for ((i, j, _), change) in ENTRIES.iter().zip(&self.changes) {
            matrix[(*i, *j)] += *change;
            if i != j {
                matrix[(*j, *i)] += *change;
            }
        }
        matrix
    }
    fn component(&self, i: usize) -> S {
        let unknown = S::lift(f64::NAN);
        match self.kind {
            DatumKind::Inertia => ENTRIES.get(i).map_or(unknown, |(i, j, _)| self.matrix()[(*i, *j)]),
            _ => self.numbers().get(i).copied().unwrap_or(unknown),
        }
    }
}

impl<S: Scalar> Values<S> {
    fn of(&self, name: Name) -> S {
        match name {
            Name::Parameter(p, component) => {
                self.parameters.get(p).map_or(S::lift(f64::NAN), |given| given.component(component))
            }
            Name::Definition(d) => self.definitions.get(d).copied().unwrap_or(S::lift(f64::NAN)),
            Name::Counter => S::lift(self.counter),
        }
    }
    /// The value of what a name was found to be.
    pub(super) fn named(&self, name: Name) -> S {
        self.of(name)
    }
    /// A fault of a number that is a parameter is that of the parameter.
    pub(super) fn blamed(&self, fault: Fault, parameter: Option<usize>) -> Fault {
        match parameter.and_then(|p| self.names.get(p)) {
            Some(name) => Fault { subject: Some(name.clone()), ..fault },
            None => fault,
        }
    }
}

/// The values of a model without parameters.
pub(super) fn none() -> Values<f64> {
    Values { parameters: Vec::new(), definitions: Vec::new(), counter: 0.0, names: Vec::new() }
}

/// A parameter of the file.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(super) datum: Datum,
    /// Where its values come from, as the file has them.
    pub(super) numbers: Vec<Number>,
}

/// Names that no parameter may have.
pub(super) fn reserved(name: &str) -> bool {
    matches!(name, "t" | "pi" | "if" | "and" | "or" | "not" | "i")
        || Function::ALL.iter().any(|function| function.name() == name)
}

/// Evaluates all parameters in their order, each with its changes, and then the definitions, of which the first that is
/// not finite is told: what is wrong with a parameter may be known better.
pub(super) fn evaluate<S: Scalar>(
    parameters: &[Parameter],
    data: &[Datum],
    definitions: &[(String, Number)],
    change: &dyn Fn(usize) -> S,
) -> Result<(Values<S>, Option<Fault>), Fault> {
    let names = parameters.iter().map(|parameter| parameter.datum.name.clone()).collect();
    let mut values = Values { parameters: Vec::new(), definitions: Vec::new(), counter: 0.0, names };
    let mut first = 0;
    for (parameter, datum) in parameters.iter().zip(data) {
        let raw = match datum.overridden {
            true => datum.values.iter().map(|x| S::lift(*x)).collect(),
            false => {
                parameter.numbers.iter().map(|number| number.at(&values)).collect::<Result<Vec<S>, _>>()?
            }
        };
        // As many as the datum has, which is not known before its values are.
        let count = match datum.kind {
            DatumKind::Choice => 0,
            _ if raw.is_empty() => 0,
            kind => kind.endings(raw.len()).len(),
        };
        let changes = (0..count).map(|i| change(first + i)).collect();
        first += count;
        values.parameters.push(Given { kind: datum.kind, raw, changes });
    }
    let mut fault = None;
    for (_, number) in definitions {
        let value = number.at(&values).unwrap_or_else(|wrong| {
            fault.get_or_insert(wrong);
            S::lift(f64::NAN)
        });
        values.definitions.push(value);
    }
    Ok((values, fault))
}
