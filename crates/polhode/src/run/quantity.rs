//! What can be read off a run: one table of quantities, from which columns, reports, sensitivities and fits are loops.

use super::{Bodies, BodySnapshot, Snapshot, StepEstimate};
use crate::group::Rotation;
use crate::scalar::Real;
use nalgebra::Vector3;

/// How many numbers a quantity has, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One.
    Number,
    /// x, y, z.
    Vector,
    /// w, x, y, z.
    Quaternion,
    /// A rotation from body to space: a matrix by rows, its derivative a turn in body axes.
    Rotation,
    /// Numbered from one.
    List,
}

impl Shape {
    /// The names of its components, if they have some.
    pub fn components(self) -> &'static [&'static str] {
        match self {
            Shape::Vector => &["x", "y", "z"],
            Shape::Quaternion => &["w", "x", "y", "z"],
            Shape::Number | Shape::Rotation | Shape::List => &[],
        }
    }
}

/// What is known of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its key in reports.
    pub key: &'static str,
    /// Its name in columns, before the component.
    pub column: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its components.
    pub shape: Shape,
    /// What it is.
    pub help: &'static str,
}

macro_rules! quantities {
    ($($name:ident: $key:literal $column:literal [$unit:literal] $shape:ident, $help:literal;)*) => {
        /// A quantity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Quantity {
            $(#[doc = $help] $name,)*
        }
        impl Quantity {
            /// All of them.
            pub const ALL: &'static [Quantity] = &[$(Quantity::$name),*];
            /// What is known of it.
            pub const fn facts(self) -> Facts {
                match self {
                    $(Quantity::$name => Facts {
                        key: $key, column: $column, unit: $unit, shape: Shape::$shape, help: $help,
                    },)*
                }
            }
        }
    };
}
quantities!(
    Time: "t" "t" ["s"] Number, "time";
    Position: "position" "position" ["m"] Vector, "position of the origin of the body, in space";
    Attitude: "attitude" "attitude" ["1"] Rotation, "attitude, body to space";
    Quaternion: "q_wxyz" "q" ["1"] Quaternion, "attitude as a unit quaternion, body to space";
    Velocity: "velocity" "velocity" ["m/s"] Vector, "velocity of the origin of the body, in space";
    OmegaBody: "omega_body" "omega_body" ["rad/s"] Vector, "angular velocity, in body axes";
    Acceleration: "acceleration" "acceleration" ["m/s^2"] Vector, "acceleration of the origin of the body, in space";
    OmegaRate: "omega_rate" "omega_rate" ["rad/s^2"] Vector, "rate of the angular velocity, in body axes";
    MomentumBody: "momentum_body" "momentum_body" ["kg m^2/s"] Vector,
        "angular momentum, in body axes: about the fixed point or the origin of one body, about the centre of mass of one of several";
    MomentumSpace: "momentum_space" "momentum_space" ["kg m^2/s"] Vector,
        "angular momentum about the origin of space, in space axes";
    LinearMomentumSpace: "linear_momentum_space" "linear_momentum_space" ["kg m/s"] Vector, "linear momentum, in space axes";
    KineticEnergy: "kinetic_energy" "kinetic_energy" ["J"] Number, "kinetic energy of all";
    Energy: "energy" "energy" ["J"] Number, "kinetic and potential energy of all";
    PotentialEstimate: "potential_estimate" "potential_estimate" ["J"] Number, "estimated error of the potential energy over the step";
    EnergyChange: "energy_change" "energy_change" ["J"] Number, "change of the energy over the step";
    Multipliers: "multipliers" "lambda" ["N or N m"] List, "multipliers of a joint, a row each";
    Angle: "angle" "angle" ["rad"] Number, "angle of a joint, over full turns";
    Distance: "distance" "distance" ["m"] Number, "distance of a joint";
    Rate: "rate" "rate" ["rad/s or m/s"] Number, "rate of the coordinate of a joint, of its angle if it has two";
    Speed: "speed" "speed" ["m/s"] Number, "rate of the distance of a joint that has an angle too";
    Force: "force" "force" ["N"] Vector, "force of a joint on its second body, in space";
    Moment: "moment" "moment" ["N m"] Vector, "moment of a joint on its second body about the point of its second frame, in space";
    ForceAxis: "force_axis" "force_axis" ["N"] Number, "force of a joint along its third axis";
    MomentAxis: "moment_axis" "moment_axis" ["N m"] Number, "moment of a joint about its third axis";
    ForceJoint: "force_joint" "force_joint" ["N"] Vector, "force of a joint on its second body, in the axes of its first frame";
    MomentJoint: "moment_joint" "moment_joint" ["N m"] Vector, "moment of a joint on its second body, in the axes of its first frame";
    Coordinates: "position" "y" ["m"] List, "extra coordinates";
    CoordinateRates: "velocity" "rate" ["m/s"] List, "rates of extra coordinates";
    Output: "outputs" "" [""] Number, "an output of the model";
);

/// Whose a quantity is, by its number in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The whole: all bodies, or the one that there is.
    Whole,
    /// A body.
    Body(usize),
    /// A joint.
    Joint(usize),
    /// Extra coordinates.
    Coordinates(usize),
    /// An output of the model.
    Output(usize),
}

/// A quantity of something in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// Whose.
    pub owner: Owner,
    /// What.
    pub quantity: Quantity,
}

/// The value of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a, S: Real> {
    /// One number.
    Number(S),
    /// Three.
    Vector(Vector3<S>),
    /// w, x, y, z.
    Quaternion([S; 4]),
    /// Several.
    List(&'a [S]),
    /// A rotation.
    Rotation(Rotation<S>),
}

impl<S: Real> Value<'_, S> {
    /// Its numbers; a rotation is not numbers but a [`Quantity::Quaternion`] is.
    pub fn numbers(&self) -> &[S] {
        match self {
            Value::Number(x) => core::slice::from_ref(x),
            Value::Vector(v) => v.as_slice(),
            Value::Quaternion(q) => q,
            Value::List(list) => list,
            Value::Rotation(_) => &[],
        }
    }
}

/// One number of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name: `upper.omega_body_x`.
    pub name: String,
    /// The quantity that it is a component of.
    pub item: Item,
    /// The name of all of its components together, `upper.omega_body`, of one that has several.
    pub whole: Option<String>,
    /// Which component.
    pub component: usize,
}

use Quantity as Q;

/// What is said of a body.
const OF_BODY: [Q; 10] = [
    Q::Position,
    Q::Attitude,
    Q::Quaternion,
    Q::Velocity,
    Q::OmegaBody,
    Q::Acceleration,
    Q::OmegaRate,
    Q::MomentumBody,
    Q::MomentumSpace,
    Q::LinearMomentumSpace,
];
/// What is recorded of one body by itself, and of each of several.
const RECORDED: [Q; 11] = [
    Q::Time,
    Q::Quaternion,
    Q::OmegaBody,
    Q::MomentumBody,
    Q::MomentumSpace,
    Q::KineticEnergy,
    Q::Energy,
    Q::Position,
    Q::Velocity,
    Q::PotentialEstimate,
    Q::EnergyChange,
];
/// What is said of a joint.
const OF_JOINT: [Q; 9] = [
    Q::Multipliers,
    Q::Angle,
    Q::Distance,
    Q::Rate,
    Q::Speed,
    Q::Force,
    Q::Moment,
    Q::ForceAxis,
    Q::MomentAxis,
];
const RECORDED_OF_ALL: [Q; 3] = [Q::Time, Q::KineticEnergy, Q::Energy];
const RECORDED_OF_EACH: [Q; 4] = [Q::Position, Q::Quaternion, Q::Velocity, Q::OmegaBody];

impl Quantity {
    /// True if it follows from forces: an acceleration, or what a joint does.
    pub fn needs_forces(self) -> bool {
        matches!(
            self,
            Q::OmegaRate
                | Q::Acceleration
                | Q::Multipliers
                | Q::Force
                | Q::Moment
                | Q::ForceAxis
                | Q::MomentAxis
                | Q::ForceJoint
                | Q::MomentJoint
        )
    }
}

impl<S: Real> Snapshot<S> {
    /// Shows each of these quantities that there is.
    fn show(&self, owner: Owner, list: &[Quantity], see: &mut dyn FnMut(Item, Value<'_, S>)) {
        for quantity in list {
            let item = Item { owner, quantity: *quantity };
            if let Some(value) = self.value(&item) {
                see(item, value);
            }
        }
    }
    fn show_joints(&self, see: &mut dyn FnMut(Item, Value<'_, S>)) {
        for j in
            (0..self.multipliers.len()).filter(|j| self.joints.get(*j).is_none_or(|joint| !joint.is_drive))
        {
            self.show(Owner::Joint(j), &OF_JOINT, see);
        }
        for i in 0..self.coordinates.len() {
            self.show(Owner::Coordinates(i), &[Q::Coordinates, Q::CoordinateRates], see);
        }
        for i in 0..self.outputs.len() {
            self.show(Owner::Output(i), &[Q::Output], see);
        }
    }
    /// Shows everything that a report says: of one body by itself, of the whole, then of bodies, joints and coordinates by
    /// name.
    pub fn report(&self, see: &mut dyn FnMut(Item, Value<'_, S>)) {
        if self.is_single() {
            self.show(Owner::Whole, &OF_BODY, see);
        }
        self.show(Owner::Whole, &[Q::KineticEnergy, Q::Energy], see);
        if self.names.is_some() {
            for b in 0..self.bodies.len() {
                self.show(Owner::Body(b), &OF_BODY[..7], see);
            }
        }
        self.show_joints(see);
    }
    /// Shows what a row of a record has.
    pub fn record(&self, see: &mut dyn FnMut(Item, Value<'_, S>)) {
        if self.is_single() {
            self.show(Owner::Whole, &RECORDED, see);
        } else {
            self.show(Owner::Whole, &RECORDED_OF_ALL, see);
            for b in 0..self.bodies.len() {
                self.show(Owner::Body(b), &RECORDED_OF_EACH, see);
            }
        }
        self.show_joints(see);
    }

    /// A quantity, if there is one of that kind.
    pub fn value(&self, item: &Item) -> Option<Value<'_, S>> {
        let body = || match item.owner {
            Owner::Whole => self.bodies.last().filter(|_| self.is_single()),
            Owner::Body(b) => self.bodies.get(b),
            Owner::Joint(_) | Owner::Coordinates(_) | Owner::Output(_) => None,
        };
        let coordinates = |part: usize| match item.owner {
            Owner::Coordinates(i) => self.coordinates.get(i).map(|both| Value::List(&both[part])),
            _ => None,
        };
        let joint = || match item.owner {
            Owner::Joint(j) => self.joints.get(j),
            _ => None,
        };
        let whole = |number: Option<S>| number.filter(|_| item.owner == Owner::Whole).map(Value::Number);
        match item.quantity {
            Q::Time => whole(Some(self.t)),
            Q::KineticEnergy => whole(Some(self.kinetic_energy)),
            Q::Energy => whole(self.energy),
            Q::PotentialEstimate => whole(self.estimate.map(|step| S::lift(step.potential))),
            Q::EnergyChange => whole(self.estimate.map(|step| S::lift(step.energy))),
            Q::Attitude => Some(Value::Rotation(body()?.attitude)),
            Q::Quaternion => Some(Value::Quaternion(body()?.attitude.q_wxyz())),
            Q::OmegaBody => Some(Value::Vector(body()?.omega_body)),
            Q::OmegaRate => Some(Value::Vector(body()?.omega_rate)),
            Q::MomentumBody => Some(Value::Vector(body()?.momentum_body)),
            Q::MomentumSpace => Some(Value::Vector(body()?.momentum_space)),
            Q::Position => Some(Value::Vector(body()?.moving?.position)),
            Q::Velocity => Some(Value::Vector(body()?.moving?.velocity)),
            Q::Acceleration => Some(Value::Vector(body()?.moving?.acceleration)),
            Q::LinearMomentumSpace => Some(Value::Vector(body()?.moving?.linear_momentum_space)),
            Q::Multipliers => match item.owner {
                Owner::Joint(j) => self.multipliers.get(j).map(|values| Value::List(values)),
                _ => None,
            },
            Q::Angle => Some(Value::Number(joint()?.angle?.0)),
            Q::Distance => Some(Value::Number(joint()?.distance?.0)),
            Q::Rate => {
                joint().and_then(|joint| joint.angle.or(joint.distance)).map(|(_, rate)| Value::Number(rate))
            }
            Q::Speed => {
                joint().filter(|joint| joint.angle.is_some())?.distance.map(|(_, rate)| Value::Number(rate))
            }
            Q::Force => Some(Value::Vector(joint()?.reaction.force)),
            Q::Moment => Some(Value::Vector(joint()?.reaction.moment)),
            Q::ForceAxis => Some(Value::Number(joint()?.reaction.force_axis)),
            Q::MomentAxis => Some(Value::Number(joint()?.reaction.moment_axis)),
            Q::ForceJoint => Some(Value::Vector(joint()?.reaction.force_joint)),
            Q::MomentJoint => Some(Value::Vector(joint()?.reaction.moment_joint)),
            Q::Coordinates => coordinates(0),
            Q::CoordinateRates => coordinates(1),
            Q::Output => match item.owner {
                Owner::Output(i) => self.outputs.get(i).copied().map(Value::Number),
                _ => None,
            },
        }
    }

    /// The name of a body, of a joint, of coordinates or of an output.
    pub fn name(&self, owner: Owner) -> Option<&str> {
        if let Owner::Output(i) = owner {
            return self.output_names.as_ref()?.get(i).map(String::as_str);
        }
        let names = self.names.as_ref()?;
        let (list, at) = match owner {
            Owner::Whole | Owner::Output(_) => return None,
            Owner::Body(b) => (&names.bodies, b),
            Owner::Joint(j) => (&names.joints, j),
            Owner::Coordinates(i) => (&names.coordinates, i),
        };
        list.get(at).map(String::as_str)
    }

    /// The columns that [`Snapshot::row`] fills.
    pub fn columns(&self) -> Vec<Column> {
        let mut all = Vec::new();
        self.record(&mut |item, value| {
            let facts = item.quantity.facts();
            let name = match (item.owner, self.name(item.owner)) {
                (Owner::Output(_), Some(name)) => name.into(),
                (_, Some(name)) => format!("{name}.{}", facts.column),
                (_, None) => facts.column.into(),
            };
            if facts.shape == Shape::Number {
                all.push(Column { name, item, whole: None, component: 0 });
                return;
            }
            for component in 0..value.numbers().len() {
                let part = match facts.shape.components().get(component) {
                    Some(part) => format!("{name}_{part}"),
                    None => format!("{name}_{}", component + 1),
                };
                all.push(Column { name: part, item, whole: Some(name.clone()), component });
            }
        });
        all
    }

    /// The numbers of the columns, appended to `row`.
    pub fn row(&self, row: &mut Vec<S>) {
        match &self.bodies {
            Bodies::One([body]) if self.names.is_none() => {
                row_of_one(body, (self.kinetic_energy, self.energy), (self.t, self.estimate), row);
                // It has neither joints nor extra coordinates.
                row.extend_from_slice(&self.outputs);
            }
            _ => self.record(&mut |_, value| row.extend_from_slice(value.numbers())),
        }
    }

    /// The name of the first column with a number that is not finite, if there is one.
    pub fn overflow(&self) -> Option<String> {
        use crate::scalar::Mask;
        let mut row = Vec::new();
        self.row(&mut row);
        let at = row.iter().position(|x| !x.is_finite().all())?;
        self.columns().into_iter().nth(at).map(|column| column.name)
    }
}

/// What a row has of one body by itself, in the order of [`RECORDED`]: it may be wanted at every step, which costs little more.
#[inline]
pub(super) fn row_of_one<S: Real>(
    body: &BodySnapshot<S>,
    (kinetic_energy, energy): (S, Option<S>),
    (t, estimate): (S, Option<StepEstimate>),
    row: &mut Vec<S>,
) {
    let [w, x, y, z] = body.attitude.q_wxyz();
    let (omega, own, space) = (&body.omega_body, &body.momentum_body, &body.momentum_space);
    row.extend_from_slice(&[
        t,
        w,
        x,
        y,
        z,
        omega[0],
        omega[1],
        omega[2],
        own[0],
        own[1],
        own[2],
        space[0],
        space[1],
        space[2],
        kinetic_energy,
    ]);
    row.extend(energy);
    if let Some(moving) = &body.moving {
        row.extend_from_slice(moving.position.as_slice());
        row.extend_from_slice(moving.velocity.as_slice());
    }
    if let Some(step) = estimate {
        row.extend([step.potential, step.energy].map(S::lift));
    }
}
