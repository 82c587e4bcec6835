//! Results of a run of bodies and joints, for programs and for people.

use crate::blocks::Constraints;
use crate::print::{plain, small};
use polhode::method::{Method, SystemScheme};
use polhode::multibody::Violation;
use polhode::problem::RunReport;
use polhode::run::{Owner, Snapshot};

/// What the joints of a system had to bear.
#[derive(Debug, serde::Serialize)]
pub struct System<'a> {
    degrees_of_freedom: usize,
    redundant_rows: usize,
    /// For each redundant row the joints that take part in it.
    redundancies: &'a [Vec<String>],
    /// Of what stores no energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<f64>,
    constraint_violation: Constraints,
    assembly: Assembly<'a>,
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
    pub fn new(end: &'a RunReport) -> Option<Self> {
        let joints = end.joints.as_ref()?;
        let (moved, turned) = (joints.assembly.moved.as_ref(), joints.assembly.turned.as_ref());
        Some(System {
            degrees_of_freedom: joints.degrees_of_freedom,
            redundant_rows: joints.assembly.redundancies.len(),
            redundancies: &joints.assembly.redundancies,
            work: joints.work,
            constraint_violation: Constraints::from(joints.violation),
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
pub fn places(last: &Snapshot) -> Vec<Vec<String>> {
    const MANY: usize = 8;
    let row = |b: usize| {
        let position = last.bodies[b].position();
        let numbers = position.iter().map(|x| plain((x * 1e6).round() / 1e6 + 0.0));
        let name = last.name(Owner::Body(b)).unwrap_or_default().to_string();
        std::iter::once(name).chain(numbers).collect::<Vec<String>>()
    };
    let n = last.bodies.len();
    if n <= MANY {
        return (0..n).map(row).collect();
    }
    let mut rows: Vec<Vec<String>> = (0..MANY / 2).map(row).collect();
    rows.push(vec!["...".into(), String::new(), String::new(), String::new()]);
    rows.extend((n - MANY / 2..n).map(row));
    rows
}

/// What to say of a run whose joints were torn: positions are kept in every step, and an instability shows in velocities.
pub fn broken(end: &RunReport, method: &Method) -> Option<String> {
    let joints = end.joints.as_ref()?;
    let speeds = end.last.bodies.iter().map(|body| body.velocity().norm().max(body.omega_body.norm()));
    let fastest = speeds.fold(0.0, f64::max);
    let torn = joints.violation.velocity;
    let other = match method.system() {
        Some(SystemScheme::Alpha(scheme)) if !scheme.stabilized => "constraints=stabilized, rho below 1, or ",
        Some(SystemScheme::Alpha(_)) => "rho below 1, or ",
        Some(SystemScheme::Conserving(scheme)) if !scheme.stabilized => "constraints=stabilized, or ",
        _ => "",
    };
    (torn > 0.1 * fastest && torn > 1e-6).then(|| {
        format!(
            "warning: the velocities of joints were off by up to {}, a large part of the motion: the result may be \
             meaningless; use {other}a smaller step",
            small(torn)
        )
    })
}

/// What to say of reactions that are rounding to a good part.
pub fn rounded(end: &RunReport) -> Option<String> {
    let off = end.joints.as_ref()?.reaction_rounding;
    let forces = end.last.joints.iter().map(|joint| joint.reaction.force.norm());
    let largest = forces.fold(0.0, f64::max);
    (off > 0.01 * largest && largest > 1e-9).then(|| {
        format!(
            "warning: reactions may be off by some {} N, because steps are so short that the rounding of positions shows in \
             them; use constraints=stabilized, or longer steps",
            small(off)
        )
    })
}

/// How the initial values were changed to fit the joints, if they were.
pub fn changed(end: &RunReport) -> Vec<String> {
    let Some(joints) = &end.joints else { return Vec::new() };
    let assembly = &joints.assembly;
    let mut lines = Vec::new();
    if let Some((body, by)) = &assembly.moved {
        lines.push(format!("assembled: '{body}' moved furthest, by {} m", small(*by)));
    }
    if let Some((body, by)) = &assembly.turned {
        lines.push(format!("assembled: '{body}' turned furthest, by {} rad", small(*by)));
    }
    if assembly.velocity > 1e-9 || assembly.omega > 1e-9 {
        lines.push(format!(
            "velocities changed by up to {} m/s and {} rad/s to fit the joints",
            small(assembly.velocity),
            small(assembly.omega)
        ));
    }
    lines
}

/// What a system is free to do, and what its joints forbid more than once.
pub fn freedom(end: &RunReport) -> Option<String> {
    let joints = end.joints.as_ref()?;
    let freedom = degrees(joints.degrees_of_freedom);
    Some(match redundant(&joints.assembly) {
        Some(words) => format!("{freedom}; {words}"),
        None => freedom,
    })
}

/// How many degrees of freedom there are, in words.
pub fn degrees(count: usize) -> String {
    if count == 1 { "1 degree of freedom".into() } else { format!("{count} degrees of freedom") }
}

/// How many rows are redundant, and what that means.
pub fn redundant(assembly: &polhode::multibody::Assembly) -> Option<String> {
    /// How many joints are named.
    const NAMED: usize = 6;
    let rows = assembly.redundancies.len();
    if rows == 0 {
        return None;
    }
    let joints = assembly.undetermined();
    let names: Vec<&str> = joints.iter().take(NAMED).copied().collect();
    let more = joints.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = if rows == 1 { "1 redundant row".to_string() } else { format!("{rows} redundant rows") };
    Some(format!(
        "{what}: single reactions of {}{more} are not determined by the model, those of least norm are shown",
        names.join(", ")
    ))
}
