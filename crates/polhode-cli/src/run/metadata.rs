//! What a file says of the run whose rows it has.

use super::record::Setting;
use crate::table::Head;
use polhode::problem::{Invariance, RunReport};
use serde_json::{Map, Value, json};

/// All that is said: of the same run the same, whenever and wherever it ran.
pub fn metadata(
    setting: &Setting<'_>,
    hash: Option<u64>,
    every: u64,
    columns: &[&Head],
    scene: &Value,
    end: &RunReport,
) -> Value {
    let Setting { problem, model, method, plan } = setting;
    let units: Map<String, Value> = columns
        .iter()
        .filter(|head| !head.unit.is_empty())
        .map(|head| (head.name.clone(), Value::from(head.unit.as_str())))
        .collect();
    let parameters: Map<String, Value> =
        problem.data().iter().map(|datum| (datum.name.clone(), json!(datum.values))).collect();
    let drift: Map<String, Value> = end
        .drift
        .list()
        .into_iter()
        .map(|(name, x)| {
            let kept = model.invariance_of(method, name);
            let unit =
                if name == "energy" { end.drift.energy.map_or("J", |energy| energy.unit()) } else { "" };
            let says = match kept {
                Invariance::Promised => "kept by the method",
                Invariance::NotPromised => "invariant, no claim",
                Invariance::NotInvariant => "not invariant here",
            };
            (name.to_string(), json!({ "largest": x, "unit": unit, "says": says }))
        })
        .collect();
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
        "degrees_of_freedom": model.degrees_of_freedom(),
        "violation": end.joints.as_ref().map(|joints| {
            json!({ "position": joints.violation.position, "velocity": joints.violation.velocity })
        }),
        "drift": drift,
        "newton": {
            "solves": end.work.solves,
            "iterations": end.work.iterations,
            "most_iterations": end.work.most_iterations,
            "jacobians": end.work.jacobians,
            "retries": end.work.retries,
        },
        "columns": columns,
        "scene": scene,
    })
}
