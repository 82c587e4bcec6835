//! What is reported of a state: named numbers, in values and in derivatives alike.

use polhode::group::Rotation;
use polhode::run::Snapshot;
use polhode::scalar::Real;
use polhode::sensitivity::D;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// One quantity.
#[derive(Clone, Debug)]
pub enum Numbers<S: Real> {
    /// One number.
    Scalar(S),
    /// Several.
    List(Vec<S>),
    /// A rotation.
    Attitude(Rotation<S>),
}

/// Where a quantity stands: its key, or those of a body or joint before it.
pub type Path = Vec<String>;

/// Everything that is reported of a state.
pub fn quantities<S: Real>(at: &Snapshot<S>) -> Vec<(Path, Numbers<S>)> {
    let list = |v: &nalgebra::Vector3<S>| Numbers::List(v.iter().copied().collect());
    let mut all: Vec<(Path, Numbers<S>)> = Vec::new();
    let mut add = |path: &[&str], numbers| all.push((path.iter().map(|p| (*p).into()).collect(), numbers));
    if at.mechanism().is_none() {
        if let Some(moving) = &at.moving {
            add(&["position"], list(&moving.position));
        }
        add(&["attitude"], Numbers::Attitude(at.attitude));
        add(&["q_wxyz"], Numbers::List(at.attitude.q_wxyz().to_vec()));
        if let Some(moving) = &at.moving {
            add(&["velocity"], list(&moving.velocity));
        }
        add(&["omega_body"], list(&at.omega_body));
        if let Some(moving) = &at.moving {
            add(&["acceleration"], list(&moving.acceleration));
        }
        add(&["omega_rate"], list(&at.omega_rate));
        add(&["momentum_body"], list(&at.momentum_body));
        add(&["momentum_space"], list(&at.momentum_space));
        if let Some(moving) = &at.moving {
            add(&["linear_momentum_space"], list(&moving.linear_momentum_space));
        }
    }
    add(&["kinetic_energy"], Numbers::Scalar(at.kinetic_energy));
    if let Some(energy) = at.energy {
        add(&["energy"], Numbers::Scalar(energy));
    }
    if let Some(system) = &at.system {
        for (name, body) in &system.bodies {
            let mut add = |key: &str, numbers| add(&["bodies", name, key], numbers);
            add("position", list(&body.position));
            add("attitude", Numbers::Attitude(body.attitude));
            add("q_wxyz", Numbers::List(body.attitude.q_wxyz().to_vec()));
            add("velocity", list(&body.velocity));
            add("omega_body", list(&body.omega_body));
            add("acceleration", list(&body.acceleration));
            add("omega_rate", list(&body.omega_rate));
        }
        match system.multipliers.as_slice() {
            [(_, values)] if system.single => add(&["multipliers"], Numbers::List(values.clone())),
            joints => {
                for (name, values) in joints {
                    add(&["multipliers", name], Numbers::List(values.clone()));
                }
            }
        }
        for (name, [position, velocity]) in &system.extra {
            add(&["coordinates", name, "position"], Numbers::List(position.clone()));
            add(&["coordinates", name, "velocity"], Numbers::List(velocity.clone()));
        }
    }
    all
}

/// What rounding leaves of a number, relative to it; of numbers that are nothing but rounding themselves, at all.
pub const ROUNDING: f64 = 1e-13;
const NOTHING: f64 = 1e-25;

impl<S: Real> Numbers<S> {
    /// True if a change by so much is only rounding.
    pub fn hides(&self, change: f64) -> bool {
        change <= (ROUNDING * self.size()).max(NOTHING)
    }
    /// The largest of them, by magnitude; a rotation counts as one.
    pub fn size(&self) -> f64 {
        match self {
            Numbers::Scalar(x) => x.abs().largest(),
            Numbers::List(list) => list.iter().map(|x| x.abs().largest()).fold(0.0, f64::max),
            Numbers::Attitude(_) => 1.0,
        }
    }
}

/// The largest of some numbers, and NaN if one is.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().map(|x| x.abs()).fold(0.0, |most: f64, x| if most.is_nan() || most > x { most } else { x })
}

impl Numbers<D> {
    /// The derivatives; of a rotation the turn in body axes.
    pub fn slopes(&self) -> Vec<f64> {
        match self {
            Numbers::Scalar(x) => vec![x.eps[0]],
            Numbers::List(list) => list.iter().map(|x| x.eps[0]).collect(),
            Numbers::Attitude(attitude) => attitude.slope().iter().copied().collect(),
        }
    }
    /// As they stand in JSON: one number, or several.
    pub fn node(&self) -> Node {
        match self {
            Numbers::Scalar(x) => Node::Number(x.eps[0]),
            _ => Node::List(self.slopes()),
        }
    }
}

impl Numbers<f64> {
    /// The difference from another value of the same; of a rotation the turn in body axes from the other to this one.
    pub fn minus(&self, other: &Numbers<f64>) -> Vec<f64> {
        match (self, other) {
            (Numbers::Scalar(a), Numbers::Scalar(b)) => vec![a - b],
            (Numbers::List(a), Numbers::List(b)) => a.iter().zip(b).map(|(a, b)| a - b).collect(),
            (Numbers::Attitude(a), Numbers::Attitude(b)) => {
                b.inverse().compose(a).rotation_vector().iter().copied().collect()
            }
            _ => Vec::new(),
        }
    }
    /// All of them; a rotation is always finite.
    pub fn list(&self) -> Vec<f64> {
        match self {
            Numbers::Scalar(x) => vec![*x],
            Numbers::List(list) => list.clone(),
            Numbers::Attitude(_) => Vec::new(),
        }
    }
    /// As they stand in JSON.
    pub fn node(&self) -> Node {
        match self {
            Numbers::Scalar(x) => Node::Number(*x),
            Numbers::List(list) => Node::List(list.clone()),
            Numbers::Attitude(attitude) => Node::Matrix(attitude.matrix().transpose().into()),
        }
    }
}

/// JSON whose keys keep their order.
#[derive(Clone, Debug)]
pub enum Node {
    /// One number.
    Number(f64),
    /// Several.
    List(Vec<f64>),
    /// By rows.
    Matrix([[f64; 3]; 3]),
    /// By key.
    Group(Vec<(String, Node)>),
}

impl Node {
    /// A tree of quantities.
    pub fn tree(all: impl Iterator<Item = (Path, Node)>) -> Node {
        let mut root = Vec::new();
        for (path, leaf) in all {
            insert(&mut root, &path, leaf);
        }
        Node::Group(root)
    }
}

fn insert(group: &mut Vec<(String, Node)>, path: &[String], leaf: Node) {
    let Some((key, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        group.push((key.clone(), leaf));
        return;
    }
    if !group.iter().any(|(known, _)| known == key) {
        group.push((key.clone(), Node::Group(Vec::new())));
    }
    if let Some((_, Node::Group(inner))) = group.iter_mut().find(|(known, _)| known == key) {
        insert(inner, rest, leaf);
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Number(x) => x.serialize(serializer),
            Node::List(list) => list.serialize(serializer),
            Node::Matrix(rows) => rows.serialize(serializer),
            Node::Group(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
