//! Expressions of the motion of several bodies and joints: motors, drives, and loads that look at other bodies than their own.

use super::loads::StateExpression;
use super::names::{OwnNumber, component, entry, is_without_mass, likely};
use super::number::{Name, Scope, Values, unknown_name};
use super::place::{Fault, Span};
use crate::expression::{Expression, Program, REGISTERS};
use crate::multibody::{
    Coordinate, ForceFormula, Frames, JointFormula, MOST_NUMBERS, MOST_SIGNALS, MovingFrames, Push, Signal,
    Strains, System,
};
use crate::scalar::{Real, Scalar};
use nalgebra::Vector3;

/// A number that is taken along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    Named(Name),
    /// Of a body.
    Own(usize, OwnNumber),
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Number(usize),
    Time,
    Signal(usize),
}

/// An expression with what its names stand for.
pub(super) struct Named<'a> {
    pub(super) formula: &'a StateExpression,
    pub(super) slots: Vec<Slot>,
}

/// Expressions of numbers, time and signals, in one program. Its inputs are the time, the numbers and the signals.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    program: Program,
    /// How many numbers and signals they use.
    numbers: usize,
    signals: usize,
}

impl Seen {
    pub(super) fn new(all: &[Named<'_>]) -> Result<Seen, Fault> {
        let (mut numbers, mut signals) = (0, 0);
        for slot in all.iter().flat_map(|named| &named.slots) {
            match slot {
                Slot::Number(i) => numbers = numbers.max(i + 1),
                Slot::Signal(i) => signals = signals.max(i + 1),
                Slot::Time => {}
            }
        }
        let input = |slot: &Slot| match slot {
            Slot::Time => 0,
            Slot::Number(i) => 1 + i,
            Slot::Signal(i) => 1 + numbers + i,
        };
        let inputs = |named: &Named<'_>| named.slots.iter().map(input).collect();
        let inputs: Vec<Vec<usize>> = all.iter().map(inputs).collect();
        let program = together(all.iter().map(|named| named.formula), &inputs, 1 + numbers + signals)?;
        Ok(Seen { program, numbers, signals })
    }
    /// Each of them, in registers that are zero before. Compiled once for each scalar.
    #[inline(never)]
    fn run<T: Real>(&self, numbers: &[T], time: T, signals: &[T], file: &mut [T; REGISTERS]) {
        if self.program.is_small() {
            let values = numbers.iter().take(self.numbers).chain(signals.iter().take(self.signals));
            file.iter_mut().zip(core::iter::once(&time).chain(values)).for_each(|(to, from)| *to = *from);
            self.program.run(file);
        } else {
            self.program.run_large(file, &|k| match k.checked_sub(1) {
                None => time,
                Some(k) if k < self.numbers => numbers[k],
                Some(k) => signals[k - self.numbers],
            });
        }
    }
    /// The first of them.
    pub(super) fn evaluate<T: Real>(&self, numbers: &[T], time: T, signals: &[T]) -> T {
        let mut values = [T::zero(); REGISTERS];
        self.run(numbers, time, signals, &mut values);
        values[self.program.output(0)]
    }
}

/// The program of expressions with these inputs, or where they are too much for it.
pub(super) fn together<'a>(
    formulas: impl Iterator<Item = &'a StateExpression> + Clone,
    inputs: &[Vec<usize>],
    count: usize,
) -> Result<Program, Fault> {
    let named = formulas.clone().zip(inputs).map(|(formula, inputs)| (&formula.expression, &inputs[..]));
    let expressions: Vec<_> = named.collect();
    Expression::together(&expressions, count).map_err(|error| {
        let span = formulas.clone().next().map_or(0..0, |formula| formula.span.clone());
        Fault::new(&span, error.to_string())
    })
}

/// What the names of numbers begin with that are taken along of bodies: they are not to be set by themselves.
pub(crate) const TAKEN: &str = "of.";

/// What the expressions of one element use, while they are read.
pub(super) struct Watch<'a, S: Scalar> {
    pub(super) system: &'a System<S>,
    pub(super) scope: &'a Scope<'a>,
    /// Names that mean something here alone.
    pub(super) local: Vec<(&'static str, Signal<S>)>,
    /// The body whose quantities need no name before them.
    pub(super) own: Option<usize>,
    found: Vec<Carried>,
    pub(super) names: Vec<String>,
    pub(super) signals: Vec<Signal<S>>,
}

impl<'a, S: Scalar> Watch<'a, S> {
    pub(super) fn new(system: &'a System<S>, scope: &'a Scope<'a>) -> Self {
        let (found, names, signals) = Default::default();
        Watch { system, scope, local: Vec::new(), own: None, found, names, signals }
    }
    /// Reads an expression.
    pub(super) fn read<'f>(&mut self, formula: &'f StateExpression) -> Result<Named<'f>, Fault> {
        let mut slots = Vec::new();
        for (k, name) in formula.expression.names().iter().enumerate() {
            slots.push(self.slot(name).map_err(|message| formula.fault(k, message))?);
        }
        self.is_not_too_much(&formula.span)?;
        Ok(Named { formula, slots })
    }
    fn is_not_too_much(&self, span: &Span) -> Result<(), Fault> {
        let many =
            |what: &str, most: usize| Err(Fault::new(span, format!("it uses more than {most} {what}")));
        if self.found.len() > MOST_NUMBERS {
            return many("parameters and numbers of bodies", MOST_NUMBERS);
        }
        if self.signals.len() > MOST_SIGNALS {
            return many("quantities of the motion, times between which it acts among them", MOST_SIGNALS);
        }
        Ok(())
    }
    /// Lets it act between two times only; the number of the signal that says so.
    pub(super) fn during(&mut self, [on, off]: [S; 2], span: &Span) -> Result<usize, Fault> {
        self.signals.push(Signal::During(on, off));
        self.is_not_too_much(span)?;
        Ok(self.signals.len() - 1)
    }
    /// The numbers that it uses, in the order of their names.
    pub(super) fn numbers(&self, values: &Values<S>) -> Vec<S> {
        let number = |carried: &Carried| match carried {
            Carried::Named(name) => values.named(*name),
            Carried::Own(b, number) => number.of(&self.system.bodies()[*b]),
        };
        self.found.iter().map(number).collect()
    }
    /// Takes a number along.
    fn carried(&mut self, number: Carried, name: String) -> Slot {
        let known = self.found.iter().position(|known| *known == number);
        Slot::Number(known.unwrap_or_else(|| {
            self.found.push(number);
            self.names.push(name);
            self.found.len() - 1
        }))
    }
    fn signal(&mut self, signal: Signal<S>) -> Slot {
        let known = self.signals.iter().position(|known| *known == signal);
        Slot::Signal(known.unwrap_or_else(|| {
            self.signals.push(signal);
            self.signals.len() - 1
        }))
    }
    fn slot(&mut self, name: &str) -> Result<Slot, String> {
        if name == "t" {
            return Ok(Slot::Time);
        }
        if let Some((_, signal)) = self.local.iter().find(|(local, _)| *local == name) {
            let signal = *signal;
            return Ok(self.signal(signal));
        }
        if let Some(found) = self.scope.find(name)? {
            return Ok(self.carried(Carried::Named(found), name.into()));
        }
        if let Some((b, number)) = self.of_a_body(name)? {
            let body = &self.system.bodies()[b].name;
            return Ok(self.carried(Carried::Own(b, number), format!("{TAKEN}{body}.{}", number.name())));
        }
        let signal = self.find(name)?;
        Ok(self.signal(signal))
    }
    /// A number of a body, its own or another one.
    fn of_a_body(&self, name: &str) -> Result<Option<(usize, OwnNumber)>, String> {
        let (b, own) = match name.rsplit_once('.') {
            Some((owner, own)) => (self.system.index(owner), own),
            None => (self.own, name),
        };
        let Some((b, body)) = b.and_then(|b| Some((b, self.system.bodies().get(b)?))) else {
            return Ok(None);
        };
        let number = OwnNumber::known(own, &body.name, is_without_mass(body))?;
        Ok(number.map(|number| (b, number)))
    }
    fn find(&self, name: &str) -> Result<Signal<S>, String> {
        let unknown = || {
            let local = self.local.iter().map(|(name, _)| (*name).to_string());
            let joints = likely(name, self.system.joints(), |joint| &joint.name);
            let joints = joints.into_iter().flat_map(|joint| {
                let name = |c: &Coordinate| format!("{}.{}", joint.name, c.name());
                joint.kind.coordinates().iter().map(name).chain([format!("{}.rate", joint.name)])
            });
            let bodies = likely(name, self.system.bodies(), |body| &body.name);
            let bodies = bodies.into_iter().flat_map(|body| {
                ["position_x", "velocity_x", "omega_body_x", "attitude_xx"]
                    .map(|own| format!("{}.{own}", body.name))
            });
            let known: Vec<String> = ["t".to_string()]
                .into_iter()
                .chain(local)
                .chain(self.scope.known())
                .chain(joints)
                .chain(bodies)
                .collect();
            unknown_name(name, &known)
        };
        let Some((owner, own)) = name.rsplit_once('.') else {
            return match self.own {
                Some(body) => self.of_body(body, name)?.ok_or_else(unknown),
                None => Err(unknown()),
            };
        };
        if let Some(body) = self.system.index(owner) {
            return self.of_body(body, own)?.ok_or_else(unknown);
        }
        if let Some(end) = self.system.frame_called(owner)
            && let Some(b) = end.body
        {
            if let Some(i) = component(own, "position") {
                return Ok(Signal::Position(b, end.point, i));
            }
            if let Some(i) = component(own, "velocity") {
                return Ok(Signal::Velocity(b, end.point, i));
            }
        }
        let Some(joint) = self.system.joint_index(owner) else {
            return Err(unknown());
        };
        let has =
            |coordinate: Coordinate| self.system.joints()[joint].kind.coordinates().contains(&coordinate);
        let first = if has(Coordinate::Angle) { Coordinate::Angle } else { Coordinate::Distance };
        match own {
            "angle" if has(Coordinate::Angle) => Ok(Signal::Coordinate(joint, Coordinate::Angle)),
            "distance" if has(Coordinate::Distance) => Ok(Signal::Coordinate(joint, Coordinate::Distance)),
            "rate" if has(first) => Ok(Signal::Rate(joint, first)),
            "speed" if has(Coordinate::Angle) && has(Coordinate::Distance) => {
                Ok(Signal::Rate(joint, Coordinate::Distance))
            }
            _ if ["force_", "moment_", "lambda_"].iter().any(|start| own.starts_with(start)) => Err(format!(
                "'{name}' is a reaction, which is known only once the motion is; nothing that acts can depend on it"
            )),
            _ => Err(unknown()),
        }
    }
    fn of_body(&self, b: usize, name: &str) -> Result<Option<Signal<S>>, String> {
        let Some(body) = self.system.bodies().get(b) else { return Ok(None) };
        let (origin, center) = (Vector3::zeros(), body.center);
        if let Some((i, j)) = entry(name, "attitude") {
            return Ok(Some(Signal::Attitude(b, i, j)));
        }
        type Named<S> = (&'static str, fn(usize, Vector3<S>, usize) -> Signal<S>, bool);
        let vectors: [Named<S>; 7] = [
            ("position", Signal::Position, false),
            ("velocity_body", Signal::VelocityBody, false),
            ("velocity", Signal::Velocity, false),
            ("center_of_mass", Signal::Position, true),
            ("center_velocity", Signal::Velocity, true),
            ("omega_body", |b, _, i| Signal::OmegaBody(b, i), false),
            ("omega_space", |b, _, i| Signal::OmegaSpace(b, i), false),
        ];
        for (vector, signal, at_center) in vectors {
            if let Some(i) = component(name, vector) {
                return Ok(Some(signal(b, if at_center { center } else { origin }, i)));
            }
        }
        if ["q_w", "q_x", "q_y", "q_z"].contains(&name) {
            return Err(format!(
                "'{name}' is not available where several bodies are looked at; use entries of the matrix, attitude_xx to attitude_zz"
            ));
        }
        Ok(None)
    }
}

/// A motor in a joint: a moment about its third axis, or a force along it.
#[derive(Clone, Debug)]
pub(super) struct Motor {
    pub(super) coordinate: Coordinate,
    pub(super) effort: Seen,
    pub(super) names: Vec<String>,
}

/// A spring with a damper in the free direction of a joint. Its signals are the coordinate and its rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointSpring {
    pub(super) coordinate: Coordinate,
    pub(super) damped: bool,
}

/// An effort in a joint, on its second body.
fn along<T: Real>(coordinate: Coordinate, at: &MovingFrames<T>, effort: T) -> Push<T> {
    let axis = at.frames.axis(0, 2);
    match coordinate {
        Coordinate::Angle => Push::moment(axis * effort),
        Coordinate::Distance => Push::force(axis * effort),
    }
}

impl ForceFormula for Motor {
    fn kind(&self) -> &'static str {
        "motor"
    }
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        along(self.coordinate, at, self.effort.evaluate(numbers, at.frames.time, &at.signals))
    }
}

impl ForceFormula for JointSpring {
    fn kind(&self) -> &'static str {
        "joint-spring"
    }
    fn names(&self) -> Vec<String> {
        ["stiffness", "damping", "rest"].map(String::from).to_vec()
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        let effort = -(numbers[0] * (at.signals[0] - numbers[2]) + numbers[1] * at.signals[1]);
        along(self.coordinate, at, effort)
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
        let stretch = at.signals[0] - numbers[2];
        Some(numbers[0] * stretch * stretch * T::lift(0.5))
    }
    fn is_damped(&self) -> bool {
        self.damped
    }
    fn strains(&self) -> Strains {
        Strains::Coordinate
    }
}

/// The coordinate of a joint as a function of time.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    pub(super) coordinate: Coordinate,
    pub(super) value: Seen,
    pub(super) names: Vec<String>,
}

impl Drive {
    /// Its value at a time.
    pub(super) fn at<T: Real>(&self, numbers: &[T], time: T) -> T {
        self.value.evaluate(numbers, time, &[])
    }
}

impl JointFormula for Drive {
    fn kind(&self) -> &'static str {
        "drive"
    }
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
    fn rows(&self) -> usize {
        1
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        rows[0] = self.coordinate.gap(at, self.at(numbers, at.time));
    }
    fn enforced<T: Real>(&self, numbers: &[T], at: &Frames<T>) -> Option<T> {
        Some(self.at(numbers, at.time))
    }
    fn is_angle(&self, _row: usize) -> bool {
        self.coordinate == Coordinate::Angle
    }
    fn is_relative(&self) -> bool {
        true
    }
    fn is_driven(&self) -> bool {
        true
    }
}

/// A force or moment on a body, of which each component looks at any body.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenPush {
    pub(super) is_force: bool,
    pub(super) in_space: bool,
}

/// A load that looks at other bodies than its own: a force from the ground, at the point of the second frame.
#[derive(Clone, Debug)]
pub(super) struct SeenLoad {
    pub(super) pushes: Vec<SeenPush>,
    /// Their components, three for each.
    pub(super) components: Seen,
    pub(super) names: Vec<String>,
    /// The signal that says when it acts, if it does not always.
    pub(super) during: Option<usize>,
}

impl ForceFormula for SeenLoad {
    fn kind(&self) -> &'static str {
        "load"
    }
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        let mut sum = Push { force: Vector3::zeros(), moment: Vector3::zeros() };
        let mut values = [T::zero(); REGISTERS];
        let acts = self.during.map(|k| T::lift(0.5).below(at.signals[k]));
        self.components.run(numbers, at.frames.time, &at.signals, &mut values);
        for (n, push) in self.pushes.iter().enumerate() {
            let value = Vector3::from_fn(|i, _| values[self.components.program.output(3 * n + i)]);
            let value = acts.map_or(value, |acts| value.map(|x| T::select(acts, x, T::zero())));
            let value = if push.in_space { value } else { at.frames.axes[1] * value };
            match push.is_force {
                true => sum.force += value,
                false => sum.moment += value,
            }
        }
        sum
    }
}

/// True if an expression names a body other than this one, or a joint.
pub(super) fn looks_elsewhere<S: Scalar>(
    formula: &StateExpression,
    body: &str,
    system: &System<S>,
    scope: &Scope<'_>,
) -> bool {
    formula.expression.names().iter().any(|name| {
        let Some((owner, _)) = name.rsplit_once('.') else { return false };
        owner != body
            && !matches!(scope.find(name), Ok(Some(_)))
            && (system.frame_called(owner).is_some() || system.joint_index(owner).is_some())
    })
}

/// Where an expression with no other names than time and parameters goes wrong.
pub(super) fn of_time_alone<S: Scalar>(
    formula: &StateExpression,
    system: &System<S>,
    scope: &Scope<'_>,
    values: &Values<S>,
) -> Result<(Seen, Vec<String>, Vec<S>), Fault> {
    let mut watch = Watch::new(system, scope);
    let named = watch.read(formula)?;
    let moving = named.slots.iter().position(|slot| matches!(slot, Slot::Signal(_)));
    match moving {
        Some(k) => {
            let name = &formula.expression.names()[k];
            let message = format!("a drive is a function of t and of parameters, not of '{name}'");
            Err(formula.fault(k, message))
        }
        None => {
            let numbers = watch.numbers(values);
            Ok((Seen::new(&[named])?, watch.names, numbers))
        }
    }
}

/// A fault of an element as a whole.
pub(super) fn fault(span: &Span, error: impl ToString) -> Fault {
    Fault::new(span, error.to_string())
}
