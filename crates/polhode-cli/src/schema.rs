//! `polhode schema`: the keys of model files as a JSON Schema, so that editors complete and check them.

use crate::failure::Failure;
use crate::print;
use polhode::model::keys::{self, Key, Kind};
use serde_json::{Map, Value, json};

/// Prints it.
pub fn command() -> Result<(), Failure> {
    print::json(&schema())
}

/// The schema.
pub fn schema() -> Value {
    let mut root = table(keys::MODEL);
    root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".into(), json!("polhode model"));
    root.insert("$defs".into(), definitions());
    Value::Object(root)
}

/// What occurs many times.
fn definitions() -> Value {
    let number = json!({ "anyOf": [{ "type": "number" }, { "type": "string" }] });
    let numbers = |least: usize, most: usize| json!({ "type": "array", "items": { "$ref": "#/$defs/number" }, "minItems": least, "maxItems": most });
    let rows = json!({ "type": "array", "items": numbers(3, 3), "minItems": 3, "maxItems": 3 });
    json!({
        "number": number,
        "vector": { "anyOf": [numbers(3, 3), { "type": "string" }] },
        "inertia": { "anyOf": [numbers(3, 3), numbers(6, 6), numbers(9, 9), rows, { "type": "string" }] },
        "attitude": { "anyOf": [numbers(3, 4), { "type": "string" }, Value::Object(table(keys::ATTITUDE))] },
        "numbers": { "anyOf": [
            { "type": "array", "items": { "anyOf": [
                { "$ref": "#/$defs/number" },
                { "type": "array", "items": { "$ref": "#/$defs/number" } },
            ] } },
            { "type": "number" },
            { "type": "string" },
        ] },
        "load": { "anyOf": [numbers(3, 3), { "type": "string" }, Value::Object(table(keys::TABLE))] },
        // Names with points may be written as tables in tables.
        "spread": { "anyOf": [
            Value::Object(table(keys::SPREAD)),
            { "type": "object", "additionalProperties": { "$ref": "#/$defs/spread" } },
        ] },
        "parameter": { "anyOf": [{ "$ref": "#/$defs/numbers" }, Value::Object(table(keys::PARAMETER))] },
    })
}

/// A table with these keys and no others.
fn table(keys: &[Key]) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in keys {
        let mut entry = kind(&key.kind);
        entry.insert("description".into(), json!(key.help));
        if matches!(key.kind, Kind::Angle | Kind::AngularVector | Kind::Attitude) {
            let mut degrees = entry.clone();
            degrees.insert("description".into(), json!(format!("{} (in degrees)", key.help)));
            properties.insert(format!("{}_deg", key.name), Value::Object(degrees));
        }
        properties.insert(key.name.into(), Value::Object(entry));
    }
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut made = Map::new();
    made.insert("type".into(), json!("object"));
    made.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        made.insert("required".into(), json!(required));
    }
    made.insert("additionalProperties".into(), json!(false));
    made
}

/// What a key holds.
fn kind(kind_of: &Kind) -> Map<String, Value> {
    let made = match kind_of {
        Kind::Text | Kind::Name => json!({ "type": "string" }),
        // The type of a joint may be a list from which another key chooses.
        Kind::Word(words) => {
            json!({ "anyOf": [{ "enum": words }, { "type": "array", "items": { "enum": words } }] })
        }
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number | Kind::Angle | Kind::Expression => json!({ "$ref": "#/$defs/number" }),
        Kind::Vector | Kind::AngularVector | Kind::Point => json!({ "$ref": "#/$defs/vector" }),
        Kind::Numbers => json!({ "$ref": "#/$defs/numbers" }),
        Kind::Inertia => json!({ "$ref": "#/$defs/inertia" }),
        Kind::Attitude => json!({ "$ref": "#/$defs/attitude" }),
        Kind::Load => json!({ "$ref": "#/$defs/load" }),
        Kind::Pair => json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 }),
        Kind::Parameter => json!({ "$ref": "#/$defs/parameter" }),
        Kind::Spread => json!({ "$ref": "#/$defs/spread" }),
        Kind::Texts => {
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
        }
        Kind::Table(keys) => Value::Object(table(keys)),
        Kind::Named(keys) => json!({ "type": "object", "additionalProperties": table(keys) }),
        Kind::Each(inner) => json!({ "type": "object", "additionalProperties": kind(inner) }),
        Kind::List(keys) => json!({ "type": "array", "items": table(keys) }),
        Kind::Anything => json!({}),
    };
    match made {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
