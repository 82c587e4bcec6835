//! Loads of a model file: constant ones, expressions of time and state, potentials, tables, and those of the library by type.

use super::build::Builder;
use super::control::Control;
use super::formulas::{Components, ExpressionLoad, Part, PotentialLoad, Series, Sight, Slot};
use super::keys::{LOAD, LOAD_TYPES, TABLE};
use super::names::{AXES, Carried, Collected, OwnNumber};
use super::number::{Number, Numbers, Scope, Values, expression, inside};
use super::place::{Fault, Span};
use super::series::Tables;
use super::signals::{Seen, SeenLoad, SeenPush, Watch, fault, looks_elsewhere};
use super::table::Table;
use super::tree::{self, Entry, Kind};
use crate::body::{
    Drag, Force, Frame, Harmonic, Loads, Moment, RotationalSpring, SoftWall, StandardLoad, Switched,
    TopGravity,
};
use crate::expression::Expression;
use crate::lookup::plain;
use crate::multibody::{End, OwnForce, Rigid, Signal, System};
use crate::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// An expression of the state, with its place.
#[derive(Clone, Debug)]
pub(super) struct StateExpression {
    pub(super) expression: Expression,
    pub(super) text: String,
    pub(super) span: Span,
}

impl StateExpression {
    pub(super) fn read(key: &str, value: &tree::Value<'_>, hyphened: &[&str]) -> Result<Self, Fault> {
        let span = value.span();
        let text = match (value.plain_number()?, &value.kind) {
            (Some(x), _) => format!("{x:?}"),
            (None, Kind::Text(text)) => text.to_string(),
            (None, _) => {
                let message =
                    format!("{key} must be a number or an expression in quotes, not {}", value.what());
                return Err(Fault::new(&span, message).of(key));
            }
        };
        Ok(StateExpression { expression: expression(&text, &span, hyphened)?, text, span })
    }
    /// Something wrong with a name in it.
    pub(super) fn fault(&self, name: usize, message: impl Into<String>) -> Fault {
        let place = self.expression.place(name).unwrap_or(0..self.text.len());
        Fault::new(&inside(&self.span, &self.text, place), message)
    }
}

/// Three components of a load.
#[derive(Clone, Debug)]
enum Value {
    Each(Box<[StateExpression; 3]>),
    /// A vector parameter.
    Whole(Numbers),
    Table(Arc<Series>),
}

/// A force or a moment.
#[derive(Clone, Debug)]
struct Push {
    key: &'static str,
    is_force: bool,
    in_space: bool,
    value: Value,
}

/// A load as the file has it.
#[derive(Clone, Debug)]
pub(super) struct LoadDraft {
    span: Span,
    /// The name by which it is set between steps.
    name: Option<(String, Span)>,
    body: (String, Span),
    pushes: Vec<Push>,
    at: Option<Numbers>,
    potential: Option<StateExpression>,
    from: Option<Number>,
    until: Option<Number>,
    typed: Option<Typed>,
}

/// A load of the library with its numbers.
#[derive(Clone, Debug)]
enum Typed {
    TopGravity(Number),
    SoftWall([Number; 3]),
    RotationalSpring(Numbers),
    Drag(Number),
    Harmonic(Frame, Numbers, Number, Number),
}

const PUSHES: [(&str, bool, bool); 4] = [
    ("moment_body", false, false),
    ("moment_space", false, true),
    ("force_body", true, false),
    ("force_space", true, true),
];

impl LoadDraft {
    pub(super) fn read(
        table: &Table<'_>,
        scope: &Scope<'_>,
        tables: &mut Tables<'_>,
    ) -> Result<LoadDraft, Fault> {
        table.only(LOAD)?;
        let missing = |what: &str| Fault::new(&table.span, format!("{} needs `{what}`", table.name));
        let body = table.text("body")?.ok_or_else(|| missing("body"))?;
        let mut pushes = Vec::new();
        for (key, is_force, in_space) in PUSHES {
            if let Some(entry) = table.entry(key) {
                pushes.push(Push { key, is_force, in_space, value: Value::read(key, entry, scope, tables)? });
            }
        }
        let typed = Typed::read(table, scope)?;
        let potential = table.entry("potential");
        let potential = potential
            .map(|entry| StateExpression::read("potential", &entry.value, scope.hyphened))
            .transpose()?;
        let ways = [!pushes.is_empty(), potential.is_some(), typed.is_some()];
        match ways.iter().filter(|used| **used).count() {
            0 => {
                let message = format!(
                    "{} has no value: give moment_body, moment_space, force_body, force_space, potential or type",
                    table.name
                );
                return Err(Fault::new(&table.span, message));
            }
            1 => {}
            _ => {
                let message = format!(
                    "{} has forces or moments, a potential or a type: only one of them; make two loads",
                    table.name
                );
                return Err(Fault::new(&table.span, message));
            }
        }
        if let (Some(entry), false) = (table.entry("at"), pushes.iter().any(|push| push.is_force)) {
            return Err(Fault::new(&entry.key_span(), "`at` is where a force acts, and this load has none"));
        }
        let name = table.text("name")?;
        if let (Some((name, span)), true) = (&name, pushes.is_empty()) {
            let message = format!(
                "the load '{name}' has a name to be set between steps by: it needs moment_body, moment_space, force_body or \
                 force_space"
            );
            return Err(Fault::new(span, message));
        }
        Ok(LoadDraft {
            span: table.span.clone(),
            name,
            body,
            pushes,
            at: table.numbers("at", &[3], scope)?,
            potential,
            from: table.number("from", scope)?,
            until: table.number("until", scope)?,
            typed,
        })
    }
}

impl Value {
    fn read(
        key: &'static str,
        entry: &Entry<'_>,
        scope: &Scope<'_>,
        tables: &mut Tables<'_>,
    ) -> Result<Value, Fault> {
        match &entry.value.kind {
            Kind::Array(list) => {
                if list.len() != 3 {
                    let message = format!("{} takes 3 numbers or expressions, got {}", entry.key, list.len());
                    return Err(Fault::new(&entry.span(), message));
                }
                let read = |i: usize| StateExpression::read(&entry.key, &list[i], scope.hyphened);
                Ok(Value::Each(Box::new([read(0)?, read(1)?, read(2)?])))
            }
            Kind::Table(_) => {
                let table = entry.table(&*entry.key)?;
                table.only(TABLE)?;
                tables.read(&table, &entry.span()).map(Value::Table)
            }
            _ => Numbers::read(entry.called(key), &entry.value, &[3], scope, 1.0).map(Value::Whole),
        }
    }
}

impl Typed {
    fn read(table: &Table<'_>, scope: &Scope<'_>) -> Result<Option<Typed>, Fault> {
        // The keys of each type.
        let keys: [(&str, &[&str]); 5] = [
            ("top-gravity", &["mgl"]),
            ("soft-wall", &["coulomb", "wall", "offset"]),
            ("rotational-spring", &["stiffness"]),
            ("drag", &["coefficient"]),
            ("harmonic", &["frame", "amplitude", "frequency", "phase"]),
        ];
        let word = table.word("type", LOAD_TYPES)?;
        let chosen = word.as_ref().map(|(word, _)| word.as_str());
        for (name, keys) in keys.iter().filter(|(name, _)| Some(*name) != chosen) {
            let stray = table.entries.iter().find(|entry| keys.contains(&entry.key.trim_end_matches("_deg")));
            if let Some(entry) = stray {
                return Err(Fault::new(
                    &entry.key_span(),
                    format!("`{}` belongs to a load with type = \"{name}\"", entry.key),
                ));
            }
        }
        let need = |key: &str| Fault::new(&table.span, format!("{} needs `{key}`", table.name));
        let number = |key: &'static str| table.number(key, scope)?.ok_or_else(|| need(key));
        let vector = |key: &'static str| table.numbers(key, &[3], scope)?.ok_or_else(|| need(key));
        Ok(Some(match chosen {
            None => return Ok(None),
            Some("top-gravity") => Typed::TopGravity(number("mgl")?),
            Some("soft-wall") => Typed::SoftWall([number("coulomb")?, number("wall")?, number("offset")?]),
            Some("rotational-spring") => Typed::RotationalSpring(vector("stiffness")?),
            Some("drag") => Typed::Drag(number("coefficient")?),
            Some(_) => {
                let frame = match table.word("frame", &["body", "space"])? {
                    Some((word, _)) if word == "space" => Frame::Space,
                    _ => Frame::Body,
                };
                let phase = table.angle("phase", scope)?.unwrap_or_else(|| Number::given(0.0));
                Typed::Harmonic(frame, vector("amplitude")?, number("frequency")?, phase)
            }
        }))
    }
    fn at<S: Scalar>(&self, values: &Values<S>) -> Result<StandardLoad<S>, Fault> {
        Ok(match self {
            Typed::TopGravity(mgl) => TopGravity { mgl: mgl.at(values)? }.into(),
            Typed::SoftWall([coulomb, wall, offset]) => {
                SoftWall { coulomb: coulomb.at(values)?, wall: wall.at(values)?, offset: offset.at(values)? }
                    .into()
            }
            Typed::RotationalSpring(stiffness) => {
                RotationalSpring { stiffness: stiffness.vector(values)? }.into()
            }
            Typed::Drag(coefficient) => Drag { coefficient: coefficient.at(values)? }.into(),
            Typed::Harmonic(frame, amplitude, frequency, phase) => Harmonic {
                frame: *frame,
                amplitude: amplitude.vector(values)?,
                frequency: frequency.at(values)?,
                phase: phase.at(values)?,
            }
            .into(),
        })
    }
}

impl LoadDraft {
    /// Adds the load to its body.
    pub(super) fn build<S: Scalar>(
        &self,
        scope: &Scope<'_>,
        builder: &mut Builder<'_, S>,
    ) -> Result<(), Fault> {
        let (name, at) = &self.body;
        let Some(b) = builder.system.index(name) else {
            return Err(builder.no_body(name, at, "the load"));
        };
        if let Some(seeing) = self.seeing(b, scope, builder)? {
            return seeing.add(builder);
        }
        let body = &builder.system.bodies()[b];
        let mut made = match (&self.typed, &self.potential, &self.name) {
            (Some(typed), ..) => vec![typed.at(&builder.values)?],
            (None, Some(potential), _) => vec![self.of_potential(potential, body, scope, &builder.values)?],
            (None, None, None) => self.of_pushes(body, scope, &builder.values)?,
            (None, None, Some((name, span))) => {
                if builder.controls.iter().any(|known| known.name() == name) {
                    return Err(Fault::new(span, format!("there are two loads with the name '{name}'")));
                }
                let (load, control) = self.to_be_set(name, body, scope, &builder.values)?;
                builder.controls.push(control);
                vec![load]
            }
        };
        if let Some([on, off]) = self.times(&builder.values)? {
            made = made.into_iter().map(|load| Switched { load: Box::new(load), on, off }.into()).collect();
        }
        let rigid = &mut builder.system.bodies_mut()[b];
        for load in made {
            rigid.loads = core::mem::replace(&mut rigid.loads, Loads::none()).with(load);
        }
        Ok(())
    }
    /// The times between which it acts, if it does not always.
    fn times<S: Scalar>(&self, values: &Values<S>) -> Result<Option<[S; 2]>, Fault> {
        if self.from.is_none() && self.until.is_none() {
            return Ok(None);
        }
        let time = |number: &Option<Number>, otherwise: f64| match number {
            Some(number) => number.at(values),
            None => Ok(S::lift(otherwise)),
        };
        let (on, off) = (time(&self.from, f64::NEG_INFINITY)?, time(&self.until, f64::INFINITY)?);
        if let (Some(until), false) = (&self.until, on.value() < off.value()) {
            let message = format!(
                "`until` must come after `from`: {} is not after {}",
                plain(off.value()),
                plain(on.value())
            );
            return Err(until.fault(message));
        }
        Ok(Some([on, off]))
    }
    /// Its expressions.
    pub(super) fn formulas(&self) -> impl Iterator<Item = &StateExpression> {
        let components = self.pushes.iter().flat_map(|push| match &push.value {
            Value::Each(each) => &each[..],
            _ => &[],
        });
        components.chain(&self.potential)
    }
    /// True if it looks at other bodies than its own.
    pub(super) fn looks_elsewhere<S: Scalar>(&self, system: &System<S>, scope: &Scope<'_>) -> bool {
        self.formulas().any(|formula| looks_elsewhere(formula, &self.body.0, system, scope))
    }
    /// The load as a force from the ground, if it looks at other bodies than its own.
    fn seeing<S: Scalar>(
        &self,
        b: usize,
        scope: &Scope<'_>,
        builder: &Builder<'_, S>,
    ) -> Result<Option<Seeing<S>>, Fault> {
        let system = &builder.system;
        let elsewhere = |formula: &&StateExpression| looks_elsewhere(formula, &self.body.0, system, scope);
        let Some(first) = self.formulas().find(elsewhere) else { return Ok(None) };
        let refuse = |message: &str| Err(Fault::new(&first.span, message));
        if self.potential.is_some() {
            return refuse(
                "a potential depends on the pose of its own body alone; a force between bodies may have one too",
            );
        }
        let mut watch = Watch::new(system, scope);
        watch.own = Some(b);
        let (mut pushes, mut components) = (Vec::new(), Vec::new());
        for push in &self.pushes {
            let Value::Each(each) = &push.value else {
                return refuse("a load that looks at other bodies has expressions alone; make two loads");
            };
            for formula in each.iter() {
                components.push(watch.read(formula)?);
            }
            pushes.push(SeenPush { is_force: push.is_force, in_space: push.in_space });
        }
        let point = match &self.at {
            Some(at) => at.vector(&builder.values)?,
            None => system.bodies()[b].center,
        };
        let components = Seen::new(&components)?;
        let times = self.times(&builder.values)?;
        let during = times.map(|times| watch.during(times, &self.span)).transpose()?;
        let load = SeenLoad { pushes, components, names: watch.names.clone(), during };
        let force =
            OwnForce::new(load, watch.numbers(&builder.values)).map_err(|error| fault(&self.span, error))?;
        Ok(Some(Seeing { body: b, point, force, signals: watch.signals, span: self.span.clone() }))
    }
    fn of_potential<S: Scalar>(
        &self,
        potential: &StateExpression,
        body: &Rigid<S>,
        scope: &Scope<'_>,
        values: &Values<S>,
    ) -> Result<StandardLoad<S>, Fault> {
        let mut numbers = Collected::on(body);
        let energy = numbers.named(potential, &self.body.0, scope)?;
        for (k, slot) in energy.slots.iter().enumerate() {
            use Slot::{CenterVelocity, OmegaBody, OmegaSpace, Time, Velocity, VelocityBody};
            if matches!(
                slot,
                Time | Velocity(_) | VelocityBody(_) | OmegaBody(_) | OmegaSpace(_) | CenterVelocity(_)
            ) {
                let name = &potential.expression.names()[k];
                let message = format!(
                    "a potential is an energy of the pose and cannot depend on {name}; give a moment or force instead"
                );
                return Err(potential.fault(k, message));
            }
        }
        let formula = PotentialLoad::new(&energy, numbers.names.clone(), numbers.center())?;
        numbers.load((formula, |_: &_, _: &_| Vec::new()), None, &[], body, values, &self.span)
    }
    fn of_pushes<S: Scalar>(
        &self,
        body: &Rigid<S>,
        scope: &Scope<'_>,
        values: &Values<S>,
    ) -> Result<Vec<StandardLoad<S>>, Fault> {
        let at = self.at.as_ref().map(|at| at.vector(values)).transpose()?;
        let point = at.unwrap_or(body.center);
        let (mut constant, mut numbers, mut parts) = (Vec::new(), Collected::on(body), Vec::new());
        let mut expressions = Vec::new();
        for push in &self.pushes {
            let frame = if push.in_space { Frame::Space } else { Frame::Body };
            if let Some(value) = push.value.constant(scope, values)? {
                constant.push(match push.is_force {
                    true => Force { frame, point_body: point, value }.into(),
                    false => Moment { frame, value }.into(),
                });
                continue;
            }
            let components = match &push.value {
                Value::Table(series) => Components::Table(series.clone()),
                Value::Each(each) => {
                    for formula in each.iter() {
                        expressions.push(numbers.named(formula, &self.body.0, scope)?);
                    }
                    Components::Each(expressions.len() - 3)
                }
                Value::Whole(_) => continue,
            };
            let point = push.is_force.then(|| self.point(&mut numbers));
            parts.push(Part { values: components, in_space: push.in_space, point });
        }
        if !parts.is_empty() {
            let seen = Sight::new(&expressions, numbers.center())?;
            let formula = ExpressionLoad::new(parts, seen, numbers.names.clone());
            let formula = (formula, ExpressionLoad::image);
            constant.push(numbers.load(formula, at.as_ref(), &[], body, values, &self.span)?);
        }
        Ok(constant)
    }
    /// The places of the numbers of the point where a force acts.
    fn point(&self, numbers: &mut Collected) -> [usize; 3] {
        match self.at {
            Some(_) => [0, 1, 2].map(|i| numbers.place(Carried::At(i), format!("at_{}", AXES[i]))),
            None => [0, 1, 2].map(|i| numbers.own(OwnNumber::Center(i))),
        }
    }
    /// A load that a controller sets between steps.
    fn to_be_set<S: Scalar>(
        &self,
        name: &str,
        body: &Rigid<S>,
        scope: &Scope<'_>,
        values: &Values<S>,
    ) -> Result<(StandardLoad<S>, Control), Fault> {
        let at = self.at.as_ref().map(|at| at.vector(values)).transpose()?;
        let mut control = Control::new(name, &self.body.0);
        let (mut numbers, mut parts, mut given) = (Collected::on(body), Vec::new(), Vec::new());
        for push in &self.pushes {
            let Some(value) = push.value.constant(scope, values)? else {
                let message = format!(
                    "the load '{name}' is set between steps: its {} takes numbers, not functions of time or motion; make two \
                     loads",
                    push.key
                );
                return Err(Fault::new(&self.span, message));
            };
            let places = [0, 1, 2]
                .map(|i| numbers.place(Carried::Given(given.len() + i), format!("{}_{}", push.key, AXES[i])));
            given.extend(value.iter().copied());
            let setting = control.part(push.key, [0, 1, 2].map(|i| value[i].value()));
            let point = push.is_force.then(|| self.point(&mut numbers));
            parts.push(Part { values: Components::Set(setting, places), in_space: push.in_space, point });
        }
        let formula = ExpressionLoad::new(parts, Sight::new(&[], None)?, numbers.names.clone());
        let formula = (formula, ExpressionLoad::image);
        Ok((numbers.load(formula, at.as_ref(), &given, body, values, &self.span)?, control))
    }
    /// The name of the body that it acts on.
    pub(super) fn body(&self) -> &str {
        &self.body.0
    }
    pub(super) fn span(&self) -> &Span {
        &self.span
    }
    /// How many loads of its body come from it, and which of them act at its centre of mass because nothing else is said.
    pub(super) fn at_center(&self) -> bool {
        self.at.is_none() && self.pushes.iter().any(|push| push.is_force)
    }
    /// The latest time at which it is known.
    pub(super) fn known_until(&self) -> Option<(f64, f64, &Span)> {
        let ends = self.pushes.iter().filter_map(|push| match &push.value {
            Value::Table(series) => Some((*series.times.first()?, *series.times.last()?)),
            _ => None,
        });
        let (from, until) = ends.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)))?;
        // After its end the load is off, and needs no table.
        let off = self.until.as_ref().filter(|until| !until.is_formula());
        let off = off.and_then(|until| until.at(&super::number::none()).ok());
        let until = if off.is_some_and(|off| off <= until) { f64::INFINITY } else { until };
        Some((from, until, &self.span))
    }
}

/// A load that looks at other bodies than its own.
struct Seeing<S: Scalar> {
    body: usize,
    point: Vector3<S>,
    force: OwnForce<S>,
    signals: Vec<Signal<S>>,
    span: Span,
}

impl<S: Scalar> Seeing<S> {
    fn add(self, builder: &mut Builder<'_, S>) -> Result<(), Fault> {
        let axes = Matrix3::identity();
        let ground = End { body: None, point: Vector3::zeros(), axes };
        let ends = [ground, End { body: Some(self.body), point: self.point, axes }];
        let name = format!("load-{}", builder.system.forces().len() + 1);
        builder.system.force_with_ends(&name, self.force, ends).map_err(|error| fault(&self.span, error))?;
        builder.system.let_last_force_see(self.signals, None);
        Ok(())
    }
}

impl Value {
    /// Three numbers, where neither time nor state is in it.
    fn constant<S: Scalar>(
        &self,
        scope: &Scope<'_>,
        values: &Values<S>,
    ) -> Result<Option<Vector3<S>>, Fault> {
        match self {
            Value::Whole(numbers) => numbers.vector(values).map(Some),
            Value::Table(_) => Ok(None),
            Value::Each(each) => {
                let mut vector = Vector3::zeros();
                for (i, formula) in each.iter().enumerate() {
                    let mut names = Vec::new();
                    for (k, name) in formula.expression.names().iter().enumerate() {
                        let found = match name.as_str() {
                            "t" => None,
                            name => scope.find(name).map_err(|message| formula.fault(k, message))?,
                        };
                        let Some(found) = found else { return Ok(None) };
                        names.push(found);
                    }
                    let x: S = formula.expression.evaluate_with(&|name| values.named(names[name]));
                    if !x.is_finite() {
                        return Err(Fault::new(
                            &formula.span,
                            "this number is not finite: a division by zero, or an overflow",
                        ));
                    }
                    vector[i] = x;
                }
                Ok(Some(vector))
            }
        }
    }
}

impl LoadDraft {
    /// How many of these loads come from it: constant forces and moments one each, all expressions together one.
    pub(super) fn made<S: Scalar>(&self, list: &[StandardLoad<S>]) -> usize {
        fn is_own<S: Scalar>(load: &StandardLoad<S>) -> bool {
            match load {
                StandardLoad::Own(_) => true,
                StandardLoad::SwitchedLoad(switched) => is_own(&switched.load),
                _ => false,
            }
        }
        if self.pushes.is_empty() {
            return 1;
        }
        // The expressions, if there are some, come last.
        let constants = list.iter().take(self.pushes.len()).take_while(|load| !is_own(load)).count();
        constants + usize::from(constants < self.pushes.len())
    }
}
