//! Named quantities of a model: expressions of what a run shows.

use super::loads::StateExpression;
use super::names::{component, entry, likely};
use super::number::{Scope, Values, unknown_name};
use super::place::Fault;
use crate::expression::Expression;
use crate::lookup::ENTRIES;
use crate::multibody::{Coordinate, System};
use crate::run::{
    Direction, Drift, EnergyEstimate, Item, Joints, Owner, Quantity, RestoreError, Run, Saved, Shape,
    Snapshot, Turning,
};
use crate::scalar::Scalar;
use crate::solve::{StepError, Work};
use nalgebra::Vector3;
use std::sync::Arc;

/// An output as the file has it.
#[derive(Clone, Debug)]
pub(super) struct OutputDraft {
    pub(super) name: String,
    pub(super) formula: StateExpression,
}

/// An event as the file has it.
#[derive(Clone, Debug)]
pub(super) struct EventDraft {
    pub(super) when: OutputDraft,
    pub(super) direction: Direction,
    pub(super) stop: bool,
}

/// The outputs of a model at some scalar.
#[derive(Clone, Debug)]
pub struct Outputs<S> {
    names: Arc<[String]>,
    list: Vec<(Expression, Vec<Reading<S>>)>,
}

/// What a name in an output stands for.
#[derive(Clone, Copy, Debug)]
enum Reading<S> {
    Number(S),
    /// A component of a quantity.
    Item(Item, usize),
    Attitude(usize, usize, usize),
    OmegaSpace(usize, usize),
    /// Position and velocity of a point of a body, such as its centre of mass, whose place in its frame is known.
    Point(usize, usize, Vector3<S>),
    PointVelocity(usize, usize, Vector3<S>),
}

impl<S: Scalar> Reading<S> {
    fn value(&self, seen: &Snapshot<S>) -> S {
        let unknown = S::lift(f64::NAN);
        let body = |b: usize| seen.bodies.get(b);
        match self {
            Reading::Number(x) => *x,
            Reading::Item(item, component) => {
                let still = || match (item.owner, item.quantity) {
                    // A fixed point stays where it is.
                    (Owner::Body(_), Quantity::Position | Quantity::Velocity | Quantity::Acceleration) => {
                        S::zero()
                    }
                    _ => unknown,
                };
                let value = seen.value(item);
                value.map_or_else(still, |value| value.numbers().get(*component).copied().unwrap_or(unknown))
            }
            Reading::Attitude(b, i, j) => body(*b).map_or(unknown, |body| body.attitude.matrix()[(*i, *j)]),
            Reading::OmegaSpace(b, i) => {
                body(*b).map_or(unknown, |body| body.attitude.rotate(&body.omega_body)[*i])
            }
            Reading::Point(b, i, center) => {
                body(*b).map_or(unknown, |body| (body.position() + body.attitude.rotate(center))[*i])
            }
            Reading::PointVelocity(b, i, center) => body(*b).map_or(unknown, |body| {
                (body.velocity() + body.attitude.rotate(&body.omega_body.cross(center)))[*i]
            }),
        }
    }
}

impl<S: Scalar> Outputs<S> {
    pub(super) fn new<'a>(
        drafts: impl Iterator<Item = &'a OutputDraft>,
        names: &Arc<[String]>,
        system: &System<S>,
        values: &Values<S>,
        scope: &Scope<'_>,
    ) -> Result<Self, Fault> {
        let mut list = Vec::new();
        for draft in drafts {
            let mut readings = Vec::new();
            for (k, name) in draft.formula.expression.names().iter().enumerate() {
                let reading = find(name, system, values, scope);
                readings.push(reading.map_err(|message| draft.formula.fault(k, message))?);
            }
            list.push((draft.formula.expression.clone(), readings));
        }
        Ok(Outputs { names: names.clone(), list })
    }
    /// True if the model has no outputs.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// The value of one of them.
    pub(crate) fn value(&self, output: usize, seen: &Snapshot<S>) -> S {
        let Some((expression, readings)) = self.list.get(output) else { return S::lift(f64::NAN) };
        expression.evaluate_with(&|name| readings[name].value(seen))
    }
    /// True if one of them reads what follows from forces.
    fn needs_forces(&self, output: usize) -> bool {
        let readings = self.list.get(output).map_or(&[][..], |(_, readings)| readings);
        readings
            .iter()
            .any(|reading| matches!(reading, Reading::Item(item, _) if item.quantity.needs_forces()))
    }
    /// The snapshot with the outputs in it.
    pub fn added(&self, seen: Snapshot<S>) -> Snapshot<S> {
        if self.list.is_empty() {
            return seen;
        }
        let outputs = (0..self.list.len()).map(|i| self.value(i, &seen)).collect();
        Snapshot { outputs, output_names: Some(self.names.clone()), ..seen }
    }
}

/// What a name of the state means.
fn find<S: Scalar>(
    name: &str,
    system: &System<S>,
    values: &Values<S>,
    scope: &Scope<'_>,
) -> Result<Reading<S>, String> {
    let whole = |quantity| Reading::Item(Item { owner: Owner::Whole, quantity }, 0);
    match name {
        "t" => return Ok(whole(Quantity::Time)),
        "energy" => return Ok(whole(Quantity::Energy)),
        "kinetic_energy" => return Ok(whole(Quantity::KineticEnergy)),
        _ => {}
    }
    if let Some(found) = scope.find(name)? {
        return Ok(Reading::Number(values.named(found)));
    }
    let Some((owner, own)) = name.rsplit_once('.') else {
        return match system.bodies().len() {
            1 => of_body(0, name, system).ok_or_else(|| unknown_name(name, &known(name, system, scope))),
            _ if system.bodies().iter().enumerate().any(|(b, _)| of_body(b, name, system).is_some()) => {
                let first = system.bodies().first().map_or("body", |body| body.name.as_str());
                Err(format!("there are several bodies; say of which '{name}' is, as in {first}.{name}"))
            }
            _ => Err(unknown_name(name, &known(name, system, scope))),
        };
    };
    if let Some(b) = system.index(owner) {
        return of_body(b, own, system).ok_or_else(|| unknown_name(name, &known(name, system, scope)));
    }
    if let Some(end) = system.frame_called(owner) {
        for (vector, moves) in [("position", false), ("velocity", true)] {
            let Some(i) = component(own, vector) else { continue };
            return Ok(match end.body {
                Some(b) if moves => Reading::PointVelocity(b, i, end.point),
                Some(b) => Reading::Point(b, i, end.point),
                None => Reading::Number(if moves { S::zero() } else { end.point[i] }),
            });
        }
    }
    if let Some(j) = system.joint_index(owner) {
        let rows = system.joints()[j].kind.rows();
        if let Some(row) = numbered(own, "lambda").filter(|row| *row < rows) {
            return Ok(Reading::Item(Item { owner: Owner::Joint(j), quantity: Quantity::Multipliers }, row));
        }
        let coordinates = system.joints()[j].kind.coordinates();
        let item = |quantity| Item { owner: Owner::Joint(j), quantity };
        let number = |quantity| Ok(Reading::Item(item(quantity), 0));
        match own {
            "angle" if coordinates.contains(&Coordinate::Angle) => return number(Quantity::Angle),
            "distance" if coordinates.contains(&Coordinate::Distance) => return number(Quantity::Distance),
            "rate" if !coordinates.is_empty() => return number(Quantity::Rate),
            "speed" if coordinates.len() == 2 => return number(Quantity::Speed),
            "force_axis" => return number(Quantity::ForceAxis),
            "moment_axis" => return number(Quantity::MomentAxis),
            _ => {}
        }
        for (vector, quantity) in [
            ("force", Quantity::Force),
            ("moment", Quantity::Moment),
            ("force_joint", Quantity::ForceJoint),
            ("moment_joint", Quantity::MomentJoint),
        ] {
            if let Some(i) = component(own, vector) {
                return Ok(Reading::Item(item(quantity), i));
            }
        }
        let mut known: Vec<String> = coordinates.iter().map(|c| c.name().to_string()).collect();
        if !coordinates.is_empty() {
            known.push("rate".into());
        }
        let reactions =
            ["force_x", "moment_x", "force_axis", "moment_axis", "force_joint_x", "moment_joint_x"];
        let known = known.into_iter().chain(reactions.map(String::from));
        let known: Vec<String> = known.map(|own| format!("{owner}.{own}")).collect();
        return Err(format!(
            "the joint '{owner}' has no '{own}'; it has {} and {owner}.lambda_1 to {owner}.lambda_{rows}",
            known.join(", ")
        ));
    }
    if let Some(i) = system.extra().iter().position(|extra| extra.name == owner) {
        let count = system.extra()[i].len();
        let lists = [("y", Quantity::Coordinates), ("rate", Quantity::CoordinateRates)];
        let found = lists.iter().find_map(|(list, quantity)| {
            let at = numbered(own, list).filter(|at| *at < count)?;
            Some(Reading::Item(Item { owner: Owner::Coordinates(i), quantity: *quantity }, at))
        });
        return found.ok_or_else(|| {
            format!("the coordinates '{owner}' have {owner}.y_1 and {owner}.rate_1 up to {count}, no '{own}'")
        });
    }
    Err(unknown_name(name, &known(name, system, scope)))
}

/// The place of a name like `lambda_2` in its list.
fn numbered(name: &str, list: &str) -> Option<usize> {
    name.strip_prefix(list)?.strip_prefix('_')?.parse::<usize>().ok()?.checked_sub(1)
}

/// A quantity of a body.
fn of_body<S: Scalar>(b: usize, name: &str, system: &System<S>) -> Option<Reading<S>> {
    let body = system.bodies().get(b)?;
    if let Some((i, j)) = entry(name, "attitude") {
        return Some(Reading::Attitude(b, i, j));
    }
    if let Some(i) = component(name, "omega_space") {
        return Some(Reading::OmegaSpace(b, i));
    }
    if let Some(i) = component(name, "center_of_mass") {
        return Some(Reading::Point(b, i, body.center));
    }
    if let Some(i) = component(name, "center_velocity") {
        return Some(Reading::PointVelocity(b, i, body.center));
    }
    if name == "mass" {
        return Some(Reading::Number(body.mass));
    }
    if let Some((i, j)) = entry(name, "inertia") {
        return Some(Reading::Number(body.inertia.matrix()[(i, j)]));
    }
    if let Some(i) = component(name, "center") {
        return Some(Reading::Number(body.center[i]));
    }
    let of = |quantity: &Quantity| {
        let facts = quantity.facts();
        if !matches!(facts.shape, Shape::Vector | Shape::Quaternion) {
            return None;
        }
        let ending = name.strip_prefix(facts.column)?.strip_prefix('_')?;
        let at = facts.shape.components().iter().position(|part| *part == ending)?;
        Some(Reading::Item(Item { owner: Owner::Body(b), quantity: *quantity }, at))
    };
    Quantity::ALL.iter().find_map(of)
}

/// All names that could be meant by this one.
fn known<S: Scalar>(name: &str, system: &System<S>, scope: &Scope<'_>) -> Vec<String> {
    let mut own: Vec<String> = Vec::new();
    for facts in Quantity::ALL.iter().map(|quantity| quantity.facts()) {
        if matches!(facts.shape, Shape::Vector | Shape::Quaternion) {
            own.extend(facts.shape.components().iter().map(|part| format!("{}_{part}", facts.column)));
        }
    }
    own.extend(["x", "y", "z"].iter().flat_map(|i| ["x", "y", "z"].map(|j| format!("attitude_{i}{j}"))));
    own.extend(
        ["center_of_mass", "center_velocity", "omega_space"]
            .iter()
            .flat_map(|v| ["x", "y", "z"].map(|i| format!("{v}_{i}"))),
    );
    own.extend(ENTRIES.map(|(_, _, ending)| format!("inertia_{ending}")));
    own.push("mass".into());
    let mut all = scope.known();
    all.extend(["t", "energy", "kinetic_energy"].map(String::from));
    match system.bodies() {
        [_] => all.extend(own),
        several => {
            let few = likely(name, several, |body| &body.name).into_iter();
            all.extend(few.flat_map(|body| own.iter().map(move |own| format!("{}.{own}", body.name))));
        }
    }
    all
}

/// A run whose snapshots have the outputs of its model.
pub struct WithOutputs {
    run: Box<dyn Run>,
    outputs: Arc<Outputs<f64>>,
}

impl WithOutputs {
    /// Of a run.
    pub fn new(run: Box<dyn Run>, outputs: Arc<Outputs<f64>>) -> Self {
        WithOutputs { run, outputs }
    }
}

impl Run for WithOutputs {
    fn time(&self) -> f64 {
        self.run.time()
    }
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError> {
        self.run.step(h, to)
    }
    fn loads_changed(&mut self) -> Result<(), StepError> {
        self.run.loads_changed()
    }
    fn turning(&mut self) -> Option<&mut Turning> {
        self.run.turning()
    }
    fn snapshot(&self) -> Snapshot {
        self.outputs.added(self.run.snapshot())
    }
    fn motion(&self) -> Snapshot {
        self.outputs.added(self.run.motion())
    }
    fn needs_forces(&self, item: &Item) -> bool {
        match item.owner {
            Owner::Output(output) => self.outputs.needs_forces(output),
            _ => self.run.needs_forces(item),
        }
    }
    fn between(&mut self, t: f64) -> Option<Snapshot> {
        self.run.between(t).map(|seen| self.outputs.added(seen))
    }
    fn lands_between(&self) -> bool {
        self.run.lands_between()
    }
    fn land(&mut self, before: &Saved, t: f64) -> Result<(), RestoreError> {
        self.run.land(before, t)
    }
    fn ended(&self) -> bool {
        self.run.ended()
    }
    fn save_in(&mut self, saved: &mut Saved) -> Result<(), RestoreError> {
        self.run.save_in(saved)
    }
    fn restore(&mut self, saved: &Saved) -> Result<(), RestoreError> {
        self.run.restore(saved)
    }
    fn work(&self) -> Work {
        self.run.work()
    }
    fn drift(&self) -> Drift {
        self.run.drift()
    }
    fn overflow(&self) -> Option<&'static str> {
        self.run.overflow()
    }
    fn joints(&self) -> Option<Joints> {
        self.run.joints()
    }
    fn estimate_energy(&mut self) -> bool {
        self.run.estimate_energy()
    }
    fn energy_estimate(&self) -> Option<&EnergyEstimate> {
        self.run.energy_estimate()
    }
}
