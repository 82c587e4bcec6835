//! The bodies and joints of a model as a page draws them.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use polhode::multibody::{Held, Reduction, Rigid};
use polhode::problem::Model;
use serde_json::{Value, json};

fn list(v: &Vector3<f64>) -> Value {
    json!([v.x, v.y, v.z])
}

/// The scene: solids of each body, where its joints are, and the inertia of a single body that the polhode is about.
pub fn scene(model: &Model) -> Value {
    let system = model.system();
    let solids = model.solids();
    let body = |(b, body): (usize, &Rigid<f64>)| {
        let given = solids.get(b).map_or(&[][..], Vec::as_slice);
        let mut solids: Vec<Value> = given
            .iter()
            .map(|solid| {
                let q = solid.attitude.q_wxyz();
                json!({ "kind": solid.kind, "sizes": solid.sizes, "at": list(&solid.at), "q": q })
            })
            .collect();
        if solids.is_empty() {
            solids.push(ellipsoid(body));
        }
        json!({
            "name": body.name,
            "center": list(&body.center),
            "position": list(&body.position),
            "solids": solids,
        })
    };
    let joint = |joint: &polhode::multibody::Joint<f64>| {
        let end = |k: usize| {
            let end = &joint.ends[k];
            let axis: Vector3<f64> = end.axes.column(2).into();
            json!({ "body": end.body, "point": list(&end.point), "axis": list(&axis) })
        };
        json!({ "name": joint.name, "kind": joint.kind.name(), "ends": [end(0), end(1)] })
    };
    // Rows that drive a joint are no joints to be seen.
    let joints: Vec<Value> = system.joints().iter().filter(|joint| joint.of.is_none()).map(joint).collect();
    let inertia = match system.reduction() {
        Some(Reduction::Rotation(one)) => Some(*one.body.inertia.matrix()),
        Some(Reduction::Motion(one)) => Some(*one.body.inertia.about_center()),
        None => None,
    };
    let rows = |m: Matrix3<f64>| -> Vec<f64> { m.transpose().iter().copied().collect() };
    json!({
        "gravity": list(system.gravity()),
        "bodies": system.bodies().iter().enumerate().map(body).collect::<Vec<_>>(),
        "joints": joints,
        "inertia": inertia.map(rows),
    })
}

/// The homogeneous ellipsoid with the inertia of a body; a body whose mass is not known is about a metre long.
fn ellipsoid(body: &Rigid<f64>) -> Value {
    let eigen = body.inertia.matrix().symmetric_eigen();
    let moments = eigen.eigenvalues;
    let sum = 0.5 * (moments.x + moments.y + moments.z);
    let squares = moments.map(|moment| (5.0 * (sum - moment)).max(0.0));
    let axes = match body.held {
        Held::Pivot(_) => squares.map(f64::sqrt) / squares.max().sqrt().max(f64::MIN_POSITIVE) * 0.5,
        _ => (squares / body.mass).map(f64::sqrt),
    };
    // A thin body is still seen, and a point is a small ball.
    let least = if axes.max() > 0.0 { 0.04 * axes.max() } else { 0.02 };
    let mut turn = eigen.eigenvectors;
    if turn.determinant() < 0.0 {
        turn.set_column(2, &-turn.column(2));
    }
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
    json!({
        "kind": "ellipsoid",
        "sizes": axes.map(|x| x.max(least)).as_slice(),
        "at": list(&body.center),
        "q": [q.w, q.i, q.j, q.k],
        "inertia": true,
    })
}
