//! URDF: links and joints, the rigid part of them.

use super::chain::Motion;
use super::mass::Mass;
use super::tree::{Joint, Link, Notes, Robot, Spring, Words};
use super::xml::{self, Mistake, Read, children, needed, only, place, wrong, wrong_value};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use roxmltree::Node;
use std::collections::HashMap;

/// Acceleration of gravity, which URDF leaves to the simulator.
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

/// A joint as the file has it.
struct Edge<'a, 'i> {
    node: Node<'a, 'i>,
    name: String,
    parent: usize,
    child: usize,
    origin: Isometry3<f64>,
    /// None if it is fixed.
    motion: Option<Motion>,
    axis: Vector3<f64>,
    spring: Spring,
    friction: f64,
}

/// A link as the file has it.
struct Draft<'a, 'i> {
    node: Node<'a, 'i>,
    name: String,
    mass: Option<Mass>,
}

/// Reads a robot, whose root is fixed unless it is to float.
pub fn read(root: &Node<'_, '_>, floating_base: bool) -> Read<Robot> {
    let mut notes = Notes::default();
    let mut links: Vec<Draft<'_, '_>> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    for node in children(root) {
        let name = node.tag_name().name();
        if node.tag_name().namespace().is_some_and(|space| space.contains("xacro")) {
            return Err(wrong(
                &node,
                "this is a xacro file: turn it into URDF first, with `xacro FILE > robot.urdf`",
            ));
        }
        match name {
            "link" => {
                let name = needed(&node, "name")?;
                if index.insert(name, links.len()).is_some() {
                    return Err(wrong(&node, format!("there is a link '{name}' already")));
                }
                links.push(Draft { node, name: name.into(), mass: link(&node, name, &mut notes)? });
            }
            "joint" => {}
            other => notes.add(
                format!("<{other}>"),
                node.attribute("name").or(node.attribute("reference")).unwrap_or(""),
            ),
        }
    }
    let mut edges: Vec<Edge<'_, '_>> = Vec::new();
    let mut named: HashMap<&str, ()> = HashMap::new();
    for node in children(root).filter(|node| node.has_tag_name("joint")) {
        if named.insert(needed(&node, "name")?, ()).is_some() {
            return Err(wrong(&node, format!("there is a joint '{}' already", needed(&node, "name")?)));
        }
        edges.push(joint(&node, &index, &mut notes)?);
    }
    let links = in_order(root, links, edges, floating_base)?;
    let name = root.attribute("name").unwrap_or_default().to_string();
    Ok(Robot {
        name,
        gravity: GRAVITY.into(),
        step: None,
        links,
        closures: Vec::new(),
        words: Words::default(),
        notes,
    })
}

/// The mass of a link.
fn link(node: &Node<'_, '_>, name: &str, notes: &mut Notes) -> Read<Option<Mass>> {
    for child in children(node) {
        match child.tag_name().name() {
            "inertial" => {}
            "visual" | "collision" => {
                notes.add("shapes to see or to touch with (<visual>, <collision>), of links", name)
            }
            other => notes.add(format!("<{other}> of links"), name),
        }
    }
    stray(node, &["name"], "links", name, notes);
    let Some(inertial) = only(node, "inertial")? else { return Ok(None) };
    for child in children(&inertial) {
        if !["origin", "mass", "inertia"].contains(&child.tag_name().name()) {
            notes.add(format!("<{}> of inertials", child.tag_name().name()), name);
        }
    }
    let pose = origin(&inertial)?;
    let missing = |what: &str| wrong(&inertial, format!("the inertial of '{name}' needs <{what}>"));
    let weight = only(&inertial, "mass")?.ok_or_else(|| missing("mass"))?;
    let tensor = only(&inertial, "inertia")?.ok_or_else(|| missing("inertia"))?;
    needed(&weight, "value")?;
    let mass = xml::number(&weight, "value")?.unwrap_or(0.0);
    let mut moments = [0.0; 6];
    for (entry, key) in moments.iter_mut().zip(["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]) {
        *entry = match xml::number(&tensor, key)? {
            Some(x) => x,
            // Products may be left out, moments may not.
            None if ["ixy", "ixz", "iyz"].contains(&key) => 0.0,
            None => return Err(wrong(&tensor, format!("<inertia> needs the attribute {key}"))),
        };
    }
    if mass == 0.0 && moments.iter().all(|x| *x == 0.0) {
        return Ok(None);
    }
    if mass <= 0.0 {
        let at = weight.attribute_node("value").map_or(place(&weight), |value| value.range_value());
        let message = format!("the mass of '{name}' must be positive, not {}", crate::print::plain(mass));
        return Err(Mistake::new(&at, message));
    }
    let [xx, yy, zz, xy, xz, yz] = moments;
    let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    Ok(Some(Mass { mass, center: Vector3::zeros(), inertia }.seen_from(&pose)))
}

/// The pose of an `<origin>`; the identity if the element has no origin.
fn origin(node: &Node<'_, '_>) -> Read<Isometry3<f64>> {
    let Some(origin) = only(node, "origin")? else { return Ok(Isometry3::identity()) };
    if let Some(other) = origin.attributes().find(|a| !["xyz", "rpy"].contains(&a.name())) {
        return Err(Mistake::new(&other.range(), format!("an origin has xyz and rpy, not {}", other.name())));
    }
    let xyz = xml::vector(&origin, "xyz")?.unwrap_or_default();
    let rpy = xml::vector(&origin, "rpy")?.unwrap_or_default();
    // About the fixed axes x, y, z in this order.
    let turn = UnitQuaternion::from_euler_angles(rpy.x, rpy.y, rpy.z);
    Ok(Isometry3::from_parts(Translation3::from(xyz), turn))
}

/// Attributes that mean nothing here.
fn stray(node: &Node<'_, '_>, known: &[&str], of: &str, name: &str, notes: &mut Notes) {
    for attribute in node.attributes().filter(|a| !known.contains(&a.name())) {
        notes.add(format!("the attribute {} of {of}", attribute.name()), name);
    }
}

const TYPES: [&str; 6] = ["fixed", "revolute", "continuous", "prismatic", "floating", "planar"];

fn joint<'a, 'i>(node: &Node<'a, 'i>, index: &HashMap<&str, usize>, notes: &mut Notes) -> Read<Edge<'a, 'i>> {
    let name = needed(node, "name")?;
    let kind = needed(node, "type")?;
    let motion = match kind {
        "fixed" => None,
        "revolute" | "continuous" => Some(Motion::Turn),
        "prismatic" => Some(Motion::Slide),
        "floating" => Some(Motion::Free),
        "planar" => Some(Motion::Plane),
        _ => {
            let at = node.attribute_node("type").map_or(place(node), |value| value.range_value());
            let message = format!(
                "the type '{kind}' of the joint '{name}' is not known: it is one of {}",
                TYPES.join(", ")
            );
            return Err(Mistake::new(&at, message));
        }
    };
    let end = |what: &str| {
        let missing = || wrong(node, format!("the joint '{name}' needs <{what}>"));
        let end = only(node, what)?.ok_or_else(missing)?;
        let link = needed(&end, "link")?;
        index.get(link).copied().ok_or_else(|| {
            let at = end.attribute_node("link").map_or(place(&end), |value| value.range_value());
            Mistake::new(&at, format!("the joint '{name}' asks for the link '{link}', which is not there"))
        })
    };
    let (parent, child) = (end("parent")?, end("child")?);
    let axis = match only(node, "axis")? {
        Some(axis) if matches!(motion, Some(Motion::Turn | Motion::Slide | Motion::Plane)) => {
            needed(&axis, "xyz")?;
            axis.attribute_node("xyz").map_or(Ok(Vector3::x()), |xyz| xml::direction(&xyz))?
        }
        _ => Vector3::x(),
    };
    let (mut spring, mut friction) = (Spring::default(), 0.0);
    for child in children(node) {
        match child.tag_name().name() {
            "origin" | "parent" | "child" | "axis" => {}
            "dynamics" => {
                let amount = |key: &str| match (xml::number(&child, key)?, child.attribute_node(key)) {
                    (Some(x), Some(value)) if x < 0.0 => {
                        Err(wrong_value(&value, format!("the {key} of '{name}' must not be negative")))
                    }
                    (x, _) => Ok(x.unwrap_or(0.0)),
                };
                (spring.damping, friction) = (amount("damping")?, amount("friction")?);
                stray(&child, &["damping", "friction"], "dynamics", name, notes);
            }
            "limit" => notes.add("limits of joints", name),
            "mimic" => notes.add("joints that follow another (<mimic>), which move by themselves here", name),
            other => notes.add(format!("<{other}> of joints"), name),
        }
    }
    if motion.is_none() && (spring != Spring::default() || friction != 0.0) {
        notes.add("<dynamics> of fixed joints", name);
    }
    stray(node, &["name", "type"], "joints", name, notes);
    let origin = origin(node)?;
    Ok(Edge { node: *node, name: name.into(), parent, child, origin, motion, axis, spring, friction })
}

/// The links from the root on, each after the one that it hangs on.
fn in_order(
    root: &Node<'_, '_>,
    drafts: Vec<Draft<'_, '_>>,
    edges: Vec<Edge<'_, '_>>,
    floating_base: bool,
) -> Read<Vec<Link>> {
    let mut above: Vec<Option<usize>> = vec![None; drafts.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    for (e, edge) in edges.iter().enumerate() {
        if let Some(first) = above[edge.child].replace(e) {
            let message = format!(
                "the link '{}' hangs on two joints, '{}' and '{}'; a URDF robot is a tree",
                drafts[edge.child].name, edges[first].name, edge.name
            );
            return Err(wrong(&edge.node, message));
        }
        below[edge.parent].push(e);
    }
    let mut roots = (0..drafts.len()).filter(|i| above[*i].is_none());
    let Some(base) = roots.next() else {
        let at = edges.first().map_or(place(root), |edge| place(&edge.node));
        let message = match drafts.is_empty() {
            true => "the robot has no links",
            false => {
                "every link hangs on another one: the joints go round in a loop, and a URDF robot is a tree"
            }
        };
        return Err(Mistake::new(&at, message));
    };
    if let Some(other) = roots.next() {
        let message = format!(
            "'{}' and '{}' both hang on no joint; a robot has one root link: join them, with a fixed joint or a floating one",
            drafts[base].name, drafts[other].name
        );
        return Err(wrong(&drafts[other].node, message));
    }
    // From the root by depth, in the order of the file.
    let mut links: Vec<Link> = Vec::with_capacity(drafts.len());
    let mut place_of: Vec<Option<usize>> = vec![None; drafts.len()];
    let mut waiting = vec![base];
    while let Some(i) = waiting.pop() {
        let edge = above[i].and_then(|e| edges.get(e));
        let draft = &drafts[i];
        place_of[i] = Some(links.len());
        links.push(Link {
            name: draft.name.clone(),
            parent: edge.and_then(|edge| place_of[edge.parent]),
            pose: edge.map_or(Isometry3::identity(), |edge| edge.origin),
            joints: match edge {
                Some(edge) => edge.joint().into_iter().collect(),
                None if floating_base => vec![free_base(draft)],
                None => Vec::new(),
            },
            mass: draft.mass,
            frames: Vec::new(),
            at: place(&draft.node),
        });
        waiting.extend(below[i].iter().rev().map(|e| edges[*e].child));
    }
    if let Some(i) = place_of.iter().position(Option::is_none) {
        let message = format!(
            "the link '{}' does not hang on the root '{}': its joints go round in a loop",
            drafts[i].name, drafts[base].name
        );
        return Err(wrong(&drafts[i].node, message));
    }
    Ok(links)
}

/// What holds a root that floats.
fn free_base(draft: &Draft<'_, '_>) -> Joint {
    Joint {
        name: format!("{}-floating", draft.name),
        motion: Motion::Free,
        point: Vector3::zeros(),
        axis: Vector3::z(),
        spring: Spring::default(),
        friction: 0.0,
        at: place(&draft.node),
    }
}

impl Edge<'_, '_> {
    /// The joint between its links, if it moves.
    fn joint(&self) -> Option<Joint> {
        self.motion.map(|motion| Joint {
            name: self.name.clone(),
            motion,
            point: Vector3::zeros(),
            axis: self.axis,
            spring: self.spring,
            friction: self.friction,
            at: place(&self.node),
        })
    }
}
