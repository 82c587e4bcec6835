//! Quantities of a state as reports have them, in values and in derivatives alike.

use polhode::run::{Item, Owner, Quantity, Snapshot, Value};
use polhode::scalar::Real;
use polhode::sensitivity::Dual1;
use serde_json::{Map, Value as Json};

/// Where a quantity stands: its key, or those of a body or joint before it.
pub type Path = Vec<String>;

/// Everything that is reported of a state.
pub fn items<S: Real>(at: &Snapshot<S>) -> Vec<Item> {
    let mut all = Vec::new();
    at.report(&mut |item, _| all.push(item));
    all
}

/// Where a quantity stands. The multipliers of one joint on one body need no name.
pub fn path<S: Real>(at: &Snapshot<S>, item: &Item) -> Path {
    let (key, name) = (item.quantity.facts().key, at.name(item.owner).unwrap_or_default());
    let path = match item.owner {
        Owner::Whole => vec![key],
        Owner::Joint(_) if item.quantity != Quantity::Multipliers => vec!["joints", name, key],
        Owner::Joint(_) if at.is_single() => vec![key],
        Owner::Joint(_) => vec![key, name],
        Owner::Body(_) => vec!["bodies", name, key],
        Owner::Coordinates(_) => vec!["coordinates", name, key],
        Owner::Output(_) => vec![key, name],
    };
    path.into_iter().map(String::from).collect()
}

/// What rounding leaves of a number, relative to it; of numbers that are nothing but rounding themselves, at all.
pub const ROUNDING: f64 = 1e-13;
const NOTHING: f64 = 1e-19;

/// True if a change by so much is only rounding.
pub fn hides<S: Real>(value: &Value<'_, S>, change: f64) -> bool {
    change <= (ROUNDING * size(value)).max(NOTHING)
}

/// The largest number of a quantity, by magnitude; a rotation counts as one.
pub fn size<S: Real>(value: &Value<'_, S>) -> f64 {
    match value {
        Value::Rotation(_) => 1.0,
        _ => value.numbers().iter().map(|x| x.abs().largest()).fold(0.0, f64::max),
    }
}

/// The largest of some numbers, and NaN if one is.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().map(|x| x.abs()).fold(0.0, |most: f64, x| if most.is_nan() || most > x { most } else { x })
}

/// The derivatives; of a rotation the turn in body axes.
pub fn slopes(value: &Value<'_, Dual1>) -> Vec<f64> {
    match value {
        Value::Rotation(attitude) => attitude.slope().iter().copied().collect(),
        _ => value.numbers().iter().map(|x| x.eps[0]).collect(),
    }
}

/// The difference from another value of the same; of a rotation the turn in body axes from the other to this one.
pub fn difference(value: &Value<'_, f64>, other: &Value<'_, f64>) -> Vec<f64> {
    match (value, other) {
        (Value::Rotation(a), Value::Rotation(b)) => {
            b.inverse().compose(a).rotation_vector().iter().copied().collect()
        }
        _ => value.numbers().iter().zip(other.numbers()).map(|(a, b)| a - b).collect(),
    }
}

/// A value as it stands in JSON.
pub fn json(value: &Value<'_, f64>) -> Json {
    match value {
        Value::Number(x) => Json::from(*x),
        Value::Rotation(attitude) => {
            let rows: [[f64; 3]; 3] = attitude.matrix().transpose().into();
            Json::from(rows.map(|row| Json::from(row.to_vec())).to_vec())
        }
        _ => Json::from(value.numbers().to_vec()),
    }
}

/// The derivatives of a value as they stand in JSON: one number, or several.
pub fn json_slopes(value: &Value<'_, Dual1>) -> Json {
    match value {
        Value::Number(x) => Json::from(x.eps[0]),
        _ => Json::from(slopes(value)),
    }
}

/// Quantities where they stand.
pub fn tree(all: impl IntoIterator<Item = (Path, Json)>) -> Map<String, Json> {
    let mut root = Map::new();
    for (path, leaf) in all {
        insert(&mut root, &path, leaf);
    }
    root
}

fn insert(group: &mut Map<String, Json>, path: &[String], leaf: Json) {
    match path {
        [] => {}
        [key] => {
            group.insert(key.clone(), leaf);
        }
        [name, rest @ ..] => {
            let inner = group.entry(name.clone()).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(inner) = inner {
                insert(inner, rest, leaf);
            }
        }
    }
}
