//! The mass of a body: its inertial, or the solids that it is made of.

use super::class::{Defaults, attribute, flag, number, upright};
use crate::robot::mass::{Mass, Solid};
use crate::robot::xml::{Mistake, Read, children, exactly, numbers_of, wrong, wrong_value};
use nalgebra::{Isometry3, Matrix3, Translation3, Vector3};
use roxmltree::Node;

/// Of what is not said to be of another density, in kg/m³.
const DENSITY: f64 = 1000.0;

/// Which inertias count, as `<compiler>` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Solids count: always, never, or where there is no inertial.
    pub from_geoms: Option<bool>,
    /// The groups of solids that count.
    pub groups: [f64; 2],
}

impl Choice {
    /// Reads it.
    pub fn read(root: &Node<'_, '_>) -> Read<Choice> {
        let mut choice = Choice { from_geoms: None, groups: [0.0, 5.0] };
        for compiler in children(root).filter(|node| node.has_tag_name("compiler")) {
            if let Some(value) = compiler.attribute_node("inertiafromgeom") {
                choice.from_geoms = match value.value() {
                    "true" => Some(true),
                    "false" => Some(false),
                    "auto" => None,
                    _ => return Err(wrong_value(&value, "inertiafromgeom is true, false or auto")),
                };
            }
            if let Some(value) = compiler.attribute_node("inertiagrouprange") {
                choice.groups = exactly::<2>(&value)?;
            }
        }
        Ok(choice)
    }
}

/// The elements of a name in a body, those in its `<frame>`s too.
pub fn parts<'a, 'i: 'a>(body: &Node<'a, 'i>, name: &'static str) -> Vec<Node<'a, 'i>> {
    let mut found = Vec::new();
    let mut waiting = vec![*body];
    while let Some(node) = waiting.pop() {
        found.extend(children(&node).filter(|child| child.has_tag_name(name)));
        let frames: Vec<_> = children(&node).filter(|child| child.has_tag_name("frame")).collect();
        waiting.extend(frames.into_iter().rev());
    }
    found
}

/// The mass of a body in its frame; none if it has none.
pub fn mass<'a, 'i: 'a>(
    body: &Node<'a, 'i>,
    name: &str,
    defaults: &Defaults<'a, 'i>,
    choice: &Choice,
) -> Read<Option<Mass>> {
    let inertials: Vec<_> = children(body).filter(|child| child.has_tag_name("inertial")).collect();
    if let Some(second) = inertials.get(1) {
        return Err(wrong(second, format!("the body '{name}' has a second <inertial>")));
    }
    match inertials.first() {
        Some(inertial) if choice.from_geoms != Some(true) => inertia(inertial, name, defaults).map(Some),
        _ if choice.from_geoms == Some(false) => Ok(None),
        _ => {
            let mut whole: Option<Mass> = None;
            for geom in parts(body, "geom") {
                if let Some(part) = solid_mass(&geom, name, defaults, choice)? {
                    whole = Some(whole.map_or(part, |whole| whole.with(&part)));
                }
            }
            Ok(whole)
        }
    }
}

/// A number that must be positive.
fn positive(node: &Node<'_, '_>, what: &str, key: &str, x: f64) -> Read<f64> {
    match x > 0.0 {
        true => Ok(x),
        false => {
            let at =
                node.attribute_node(key).map_or(crate::robot::xml::place(node), |value| value.range_value());
            let message = format!("the {key} of {what} must be positive, not {}", crate::print::plain(x));
            Err(Mistake::new(&at, message))
        }
    }
}

fn inertia<'a, 'i: 'a>(node: &Node<'a, 'i>, name: &str, defaults: &Defaults<'a, 'i>) -> Read<Mass> {
    let pose = defaults.pose(&[*node])?;
    crate::robot::xml::needed(node, "mass")?;
    let mass = positive(node, &format!("the body '{name}'"), "mass", number(&[*node], "mass", 0.0)?)?;
    let inertia = match (node.attribute_node("diaginertia"), node.attribute_node("fullinertia")) {
        (Some(_), Some(full)) => {
            return Err(wrong_value(&full, "an inertial has diaginertia or fullinertia, not both"));
        }
        (Some(moments), None) => Matrix3::from_diagonal(&Vector3::from(exactly::<3>(&moments)?)),
        (None, Some(full)) => {
            let [xx, yy, zz, xy, xz, yz] = exactly::<6>(&full)?;
            Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
        }
        (None, None) => {
            return Err(wrong(node, format!("the inertial of '{name}' needs diaginertia or fullinertia")));
        }
    };
    Ok(Mass { mass, center: Vector3::zeros(), inertia }.seen_from(&pose))
}

/// The mass of a geom in the frame of its body; none if it has none.
fn solid_mass<'a, 'i: 'a>(
    geom: &Node<'a, 'i>,
    body: &str,
    defaults: &Defaults<'a, 'i>,
    choice: &Choice,
) -> Read<Option<Mass>> {
    let sources = defaults.sources(geom)?;
    let group = number(&sources, "group", 0.0)?;
    let given = attribute(&sources, "mass").is_some();
    let mass = number(&sources, "mass", 0.0)?;
    let density = number(&sources, "density", DENSITY)?;
    if group < choice.groups[0]
        || group > choice.groups[1]
        || (given && mass == 0.0)
        || (!given && density == 0.0)
    {
        return Ok(None);
    }
    let kind = attribute(&sources, "type").map_or("sphere", |value| value.value());
    let meshed = attribute(&sources, "mesh").is_some();
    if kind == "plane" && !meshed {
        return Ok(None);
    }
    let called = geom.attribute("name").map_or(String::new(), |name| format!(" '{name}'"));
    if meshed || !["sphere", "ellipsoid", "capsule", "cylinder", "box"].contains(&kind) {
        let what = if meshed { "mesh" } else { kind };
        let message = format!(
            "the mass of the body '{body}' would be that of the {what}{called}, which is not read; give the body an <inertial>"
        );
        return Err(wrong(geom, message));
    }
    if flag(&sources, "shellinertia")? {
        return Err(wrong(
            geom,
            format!(
                "the geom{called} of '{body}' is a shell, which is not read; give the body an <inertial>"
            ),
        ));
    }
    let (solid, pose) = solid(geom, kind, &sources, defaults)?;
    let what = format!("a geom of '{body}'");
    let mass = match given {
        true => positive(geom, &what, "mass", mass)?,
        false => positive(geom, &what, "density", density)? * solid.volume(),
    };
    let inertia = Matrix3::from_diagonal(&solid.moments(mass));
    Ok(Some(Mass { mass, center: Vector3::zeros(), inertia }.seen_from(&pose)))
}

/// The solid of a geom, and where it is in the frame of the body.
fn solid<'a, 'i: 'a>(
    geom: &Node<'a, 'i>,
    kind: &str,
    sources: &[Node<'a, 'i>],
    defaults: &Defaults<'a, 'i>,
) -> Read<(Solid, Isometry3<f64>)> {
    let size = attribute(sources, "size").map(|value| numbers_of(&value)).transpose()?.unwrap_or_default();
    let mut lengths = [0.0; 3];
    lengths.iter_mut().zip(&size).for_each(|(length, given)| *length = *given);
    let mut pose = defaults.pose(sources)?;
    let mut needs = match kind {
        "sphere" => 1,
        "capsule" | "cylinder" => 2,
        _ => 3,
    };
    if let Some(value) = attribute(sources, "fromto").filter(|_| kind != "sphere") {
        let [a, b, c, d, e, f] = exactly::<6>(&value)?;
        let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
        let apart = from - to;
        let Some(along) = apart.try_normalize(0.0) else {
            return Err(wrong_value(&value, "the two points of fromto are the same"));
        };
        // The first size is across, in both directions; the length is between the points.
        needs = 1;
        lengths[1] = lengths[0];
        lengths[if matches!(kind, "capsule" | "cylinder") { 1 } else { 2 }] = apart.norm() / 2.0;
        let own = Isometry3::from_parts(Translation3::from((from + to) / 2.0), upright(&along));
        pose = defaults.around(sources)? * own;
    }
    let enough = size.len() >= needs && size.iter().take(needs).all(|x| *x > 0.0);
    if !enough {
        let at =
            attribute(sources, "size").map_or(crate::robot::xml::place(geom), |value| value.range_value());
        let message = format!("a {kind} needs {needs} positive numbers in size");
        return Err(Mistake::new(&at, message.replace("1 positive numbers", "one positive number")));
    }
    let [a, b, c] = lengths;
    let solid = match kind {
        "sphere" => Solid::Ellipsoid(Vector3::repeat(a)),
        "ellipsoid" => Solid::Ellipsoid(Vector3::new(a, b, c)),
        "capsule" => Solid::Capsule(a, b),
        "cylinder" => Solid::Cylinder(a, b),
        _ => Solid::Box(Vector3::new(a, b, c)),
    };
    Ok((solid, pose))
}
