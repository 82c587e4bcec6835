//! Results of a run of bodies and joints, for programs and for people.

use crate::print::{plain, small};
use polhode::multibody::Violation;
use polhode::problem::Ended;
use polhode::run::SystemSnapshot;
use serde::ser::{Serialize, SerializeMap, Serializer};

type Vector = [f64; 3];

/// The keys of a system.
#[derive(Debug, serde::Serialize)]
pub struct System<'a> {
    bodies: ByName<'a, Body>,
    multipliers: Multipliers<'a>,
    #[serde(skip_serializing_if = "ByName::is_empty")]
    coordinates: ByName<'a, Coordinates<'a>>,
    constraint_violation: Constraints,
    assembly: Assembly<'a>,
}

/// Values under names, in their order.
#[derive(Debug)]
struct ByName<'a, T>(Vec<(&'a str, T)>);

impl<T> ByName<'_, T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for ByName<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// By joint, or the numbers alone where there is one joint on one body.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum Multipliers<'a> {
    Single(&'a [f64]),
    Named(ByName<'a, &'a [f64]>),
}

#[derive(Debug, serde::Serialize)]
struct Body {
    position: Vector,
    attitude: [Vector; 3],
    q_wxyz: [f64; 4],
    velocity: Vector,
    omega_body: Vector,
}

#[derive(Debug, serde::Serialize)]
struct Coordinates<'a> {
    position: &'a [f64],
    velocity: &'a [f64],
}

#[derive(Debug, serde::Serialize)]
struct Constraints {
    position: f64,
    velocity: f64,
}

/// How far the initial values were from consistent.
#[derive(Debug, serde::Serialize)]
struct Assembly<'a> {
    moved: f64,
    turned: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    velocity: f64,
    omega: f64,
}

impl<'a> System<'a> {
    /// Of a run of a system.
    pub fn new(end: &'a Ended) -> Option<Self> {
        let (seen, joints) = (end.last.system.as_deref()?, end.joints.as_ref()?);
        let SystemSnapshot { single, bodies, multipliers, extra } = seen;
        let body = |body: &polhode::run::BodySnapshot| Body {
            position: body.position.into(),
            attitude: body.attitude.matrix().transpose().into(),
            q_wxyz: body.attitude.q_wxyz(),
            velocity: body.velocity.into(),
            omega_body: body.omega_body.into(),
        };
        let coordinates = |both: &'a [Vec<f64>; 2]| Coordinates { position: &both[0], velocity: &both[1] };
        let (moved, turned) = (joints.assembly.moved.as_ref(), joints.assembly.turned.as_ref());
        Some(System {
            bodies: ByName(bodies.iter().map(|(name, seen)| (name.as_str(), body(seen))).collect()),
            multipliers: match multipliers.as_slice() {
                [(_, values)] if *single => Multipliers::Single(values),
                all => Multipliers::Named(ByName(
                    all.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect(),
                )),
            },
            coordinates: ByName(
                extra.iter().map(|(name, both)| (name.as_str(), coordinates(both))).collect(),
            ),
            constraint_violation: Constraints {
                position: joints.violation.position,
                velocity: joints.violation.velocity,
            },
            assembly: Assembly {
                moved: moved.map_or(0.0, |m| m.1),
                turned: turned.map_or(0.0, |t| t.1),
                body: moved.or(turned).map(|m| m.0.as_str()),
                velocity: joints.assembly.velocity,
                omega: joints.assembly.omega,
            },
        })
    }
}

/// The largest violations, as rows of a table.
pub fn violations(violation: &Violation) -> Vec<Vec<String>> {
    let row =
        |name: &str, value: f64, unit: &str| vec![name.into(), small(value), unit.into(), String::new()];
    vec![
        row("joints, positions", violation.position, "m or rad"),
        row("joints, velocities", violation.velocity, "m/s or rad/s"),
    ]
}

/// Where the bodies ended, as rows of a table; the first and the last of many.
pub fn places(system: &SystemSnapshot) -> Vec<Vec<String>> {
    const MANY: usize = 8;
    let row = |(name, body): &(String, polhode::run::BodySnapshot)| {
        let numbers = body.position.iter().map(|x| plain((x * 1e6).round() / 1e6 + 0.0));
        std::iter::once(name.clone()).chain(numbers).collect::<Vec<String>>()
    };
    let n = system.bodies.len();
    if n <= MANY {
        return system.bodies.iter().map(row).collect();
    }
    let mut rows: Vec<Vec<String>> = system.bodies[..MANY / 2].iter().map(row).collect();
    rows.push(vec!["...".into(), String::new(), String::new(), String::new()]);
    rows.extend(system.bodies[n - MANY / 2..].iter().map(row));
    rows
}

/// What to say of a run whose joints were torn: positions are kept in every step, and an instability shows in velocities.
pub fn broken(end: &Ended) -> Option<String> {
    let (system, joints) = (end.last.system.as_ref()?, end.joints.as_ref()?);
    let speeds = system.bodies.iter().map(|(_, body)| body.velocity.norm().max(body.omega_body.norm()));
    let fastest = speeds.fold(0.0, f64::max);
    let torn = joints.violation.velocity;
    (torn > 0.1 * fastest && torn > 1e-6).then(|| {
        format!(
            "warning: the velocities of joints were off by up to {}, a large part of the motion: the result may be \
             meaningless; use constraints=stabilized, rho below 1, or a smaller step",
            small(torn)
        )
    })
}

/// How much the initial velocities were changed, if they were.
pub fn changed(end: &Ended) -> Option<String> {
    let assembly = &end.joints.as_ref()?.assembly;
    (assembly.velocity > 1e-9 || assembly.omega > 1e-9).then(|| {
        format!(
            "initial velocities changed by up to {} m/s and {} rad/s to fit the joints",
            small(assembly.velocity),
            small(assembly.omega)
        )
    })
}
