//! What a file says of the run whose rows it has.

use super::record::Setting;
use polhode::problem::RunReport;
use polhode::run::{Column, Owner, Quantity, Snapshot};
use serde_json::{Map, Value, json};

/// The unit of a column; nothing of an output, which may be anything.
pub fn unit(column: &Column, start: &Snapshot) -> &'static str {
    match (column.item.quantity, column.item.owner) {
        (Quantity::Rate, Owner::Joint(j)) => {
            match start.joints.get(j).is_some_and(|joint| joint.angle.is_some()) {
                true => "rad/s",
                false => "m/s",
            }
        }
        (quantity, _) => quantity.facts().unit,
    }
}

/// All that is said: of the same run the same, whenever and wherever it ran.
pub fn metadata<'a>(
    setting: &Setting<'_>,
    hash: Option<u64>,
    every: u64,
    columns: impl Iterator<Item = (&'a str, &'static str)>,
    end: &RunReport,
) -> Value {
    let Setting { problem, method, plan, .. } = setting;
    let units: Map<String, Value> = columns
        .filter(|(_, unit)| !unit.is_empty())
        .map(|(name, unit)| (name.to_string(), Value::from(unit)))
        .collect();
    let parameters: Map<String, Value> =
        problem.data().iter().map(|datum| (datum.name.clone(), json!(datum.values))).collect();
    json!({
        "polhode": env!("CARGO_PKG_VERSION"),
        "model": problem.id,
        "title": problem.title,
        "model_hash": hash.map(|hash| format!("{hash:016x}")),
        "method": method.id(),
        "step": plan.step(),
        "until": plan.until(),
        "every": every,
        "steps": end.steps,
        "finished": end.finished,
        "quaternion_order": "wxyz, scalar first, body to space",
        "units": units,
        "parameters": parameters,
        "drift": end.drift.list().into_iter().map(|(name, x)| (name.to_string(), json!(x))).collect::<Map<_, _>>(),
        "newton": {
            "solves": end.work.solves,
            "iterations": end.work.iterations,
            "most_iterations": end.work.most_iterations,
            "jacobians": end.work.jacobians,
            "retries": end.work.retries,
        },
    })
}
