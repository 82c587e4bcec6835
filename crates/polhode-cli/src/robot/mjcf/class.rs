//! Attributes with defaults by class, and the angles and poses that they say.

use crate::robot::xml::{self, Mistake, Read, children, exactly, numbers_of, wrong, wrong_value};
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, Unit, UnitQuaternion, Vector3};
use roxmltree::{Attribute, Node, NodeId};
use std::collections::HashMap;

/// The class of what names none.
const MAIN: &str = "main";

/// A class of defaults: the one around it, and its elements by name.
struct Class<'a, 'i> {
    parent: Option<usize>,
    elements: HashMap<&'a str, Node<'a, 'i>>,
}

/// What `<compiler>` and `<default>` say about all elements.
pub struct Defaults<'a, 'i> {
    classes: Vec<Class<'a, 'i>>,
    index: HashMap<&'a str, usize>,
    /// The class of what is in a body or frame and names none.
    inside: HashMap<NodeId, usize>,
    /// Radians in a unit of angles.
    pub angle: f64,
    sequence: String,
}

impl<'a, 'i: 'a> Defaults<'a, 'i> {
    /// Reads them.
    pub fn read(root: &Node<'a, 'i>) -> Read<Self> {
        let mut made = Defaults {
            classes: Vec::new(),
            index: HashMap::new(),
            inside: HashMap::new(),
            angle: 1f64.to_radians(),
            sequence: "xyz".into(),
        };
        for compiler in children(root).filter(|node| node.has_tag_name("compiler")) {
            made.compiler(&compiler)?;
        }
        made.classes.push(Class { parent: None, elements: HashMap::new() });
        made.index.insert(MAIN, 0);
        for top in children(root).filter(|node| node.has_tag_name("default")) {
            // The outermost class is the main one, whatever it is called.
            if let Some(name) = top.attribute("class") {
                made.index.insert(name, 0);
            }
            let mut waiting = vec![(top, 0)];
            while let Some((node, class)) = waiting.pop() {
                for child in children(&node) {
                    if child.has_tag_name("default") {
                        let name = xml::needed(&child, "class")?;
                        let place = made.classes.len();
                        if made.index.insert(name, place).is_some() {
                            return Err(wrong(&child, format!("there is a class '{name}' already")));
                        }
                        made.classes.push(Class { parent: Some(class), elements: HashMap::new() });
                        waiting.push((child, place));
                    } else {
                        made.classes[class].elements.insert(child.tag_name().name(), child);
                    }
                }
            }
        }
        for node in root.descendants().filter(|node| ["body", "frame"].contains(&node.tag_name().name())) {
            let class = match node.attribute_node("childclass") {
                Some(name) => made.named(&name)?,
                None => made.around_of(&node),
            };
            made.inside.insert(node.id(), class);
        }
        Ok(made)
    }
    fn named(&self, name: &Attribute<'_, '_>) -> Read<usize> {
        let missing = || wrong_value(name, format!("there is no default class '{}'", name.value()));
        self.index.get(name.value()).copied().ok_or_else(missing)
    }
    /// The class that the body or frame around an element gives it.
    fn around_of(&self, node: &Node<'a, 'i>) -> usize {
        node.parent().and_then(|above| self.inside.get(&above.id())).copied().unwrap_or(0)
    }
    fn compiler(&mut self, node: &Node<'a, 'i>) -> Read<()> {
        for attribute in node.attributes() {
            let value = attribute.value();
            match (attribute.name(), value) {
                ("angle", "degree") => self.angle = 1f64.to_radians(),
                ("angle", "radian") => self.angle = 1.0,
                ("angle", _) => return Err(wrong_value(&attribute, "angle is degree or radian")),
                ("coordinate", "local") => {}
                ("coordinate", _) => {
                    return Err(wrong_value(&attribute, "only coordinate=\"local\" is read"));
                }
                ("eulerseq", _) if value.len() == 3 && value.chars().all(|c| "xyzXYZ".contains(c)) => {
                    self.sequence = value.into();
                }
                ("eulerseq", _) => {
                    return Err(wrong_value(&attribute, "eulerseq has three letters out of xyz and XYZ"));
                }
                _ => {}
            }
        }
        Ok(())
    }
    /// The element itself and its defaults, the nearest first.
    pub fn sources(&self, node: &Node<'a, 'i>) -> Read<Vec<Node<'a, 'i>>> {
        let mut sources = vec![*node];
        let mut class = Some(match node.attribute_node("class") {
            Some(name) => self.named(&name)?,
            None => self.around_of(node),
        });
        while let Some(found) = class.and_then(|k| self.classes.get(k)) {
            sources.extend(found.elements.get(node.tag_name().name()));
            class = found.parent;
        }
        Ok(sources)
    }
    /// Where the frame of an element stands in what it is in, its `<frame>`s counted.
    pub fn pose(&self, sources: &[Node<'a, 'i>]) -> Read<Isometry3<f64>> {
        let at = attribute(sources, "pos").map(|value| exactly::<3>(&value)).transpose()?.unwrap_or_default();
        let turn =
            match sources.iter().find_map(|source| source.attributes().find(|a| TURNS.contains(&a.name()))) {
                Some(turn) => self.turn(&turn)?,
                None => UnitQuaternion::identity(),
            };
        Ok(self.around(sources)? * Isometry3::from_parts(Translation3::from(Vector3::from(at)), turn))
    }
    /// Where the innermost `<frame>` around an element stands in the body that they are in.
    pub fn around(&self, sources: &[Node<'a, 'i>]) -> Read<Isometry3<f64>> {
        let mut pose = Isometry3::identity();
        let Some(node) = sources.first() else { return Ok(pose) };
        for frame in node.ancestors().skip(1).take_while(|above| above.has_tag_name("frame")) {
            let at = xml::vector(&frame, "pos")?.unwrap_or_default();
            let turn = match frame.attributes().find(|a| TURNS.contains(&a.name())) {
                Some(turn) => self.turn(&turn)?,
                None => UnitQuaternion::identity(),
            };
            pose = Isometry3::from_parts(Translation3::from(at), turn) * pose;
        }
        Ok(pose)
    }
    /// A rotation in one of the ways to say it.
    fn turn(&self, value: &Attribute<'_, '_>) -> Read<UnitQuaternion<f64>> {
        match value.name() {
            "quat" => xml::rotation(value),
            "axisangle" => {
                let [x, y, z, angle] = exactly::<4>(value)?;
                let axis = Vector3::new(x, y, z);
                match Unit::try_new(axis, 0.0) {
                    Some(axis) => Ok(UnitQuaternion::from_axis_angle(&axis, angle * self.angle)),
                    None => Err(wrong_value(value, "the axis of axisangle is zero")),
                }
            }
            "euler" => {
                let angles = exactly::<3>(value)?;
                let mut turn = UnitQuaternion::identity();
                for (letter, angle) in self.sequence.chars().zip(angles) {
                    let axis = match letter.to_ascii_lowercase() {
                        'x' => Vector3::x_axis(),
                        'y' => Vector3::y_axis(),
                        _ => Vector3::z_axis(),
                    };
                    let next = UnitQuaternion::from_axis_angle(&axis, angle * self.angle);
                    // Capital letters are axes that stay.
                    turn = if letter.is_ascii_uppercase() { next * turn } else { turn * next };
                }
                Ok(turn)
            }
            "xyaxes" => {
                let [a, b, c, d, e, f] = exactly::<6>(value)?;
                let (x, y) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
                let bad = || wrong_value(value, "the axes of xyaxes are zero or parallel");
                let x = x.try_normalize(0.0).ok_or_else(bad)?;
                let y = (y - x * x.dot(&y)).try_normalize(1e-12).ok_or_else(bad)?;
                let matrix = Matrix3::from_columns(&[x, y, x.cross(&y)]);
                Ok(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix)))
            }
            _ => Ok(upright(&xml::direction(value)?)),
        }
    }
}

const TURNS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// The shortest turn of z to a direction.
pub fn upright(z: &Vector3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::rotation_between(&Vector3::z(), z)
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI))
}

/// An attribute of an element or of its defaults.
pub fn attribute<'a, 'i>(sources: &[Node<'a, 'i>], name: &str) -> Option<Attribute<'a, 'i>> {
    sources.iter().find_map(|source| source.attribute_node(name))
}

/// One number of an element, or what it is if nothing says it.
pub fn number(sources: &[Node<'_, '_>], name: &str, otherwise: f64) -> Read<f64> {
    let Some(value) = attribute(sources, name) else { return Ok(otherwise) };
    match numbers_of(&value)?.as_slice() {
        // Further numbers are coefficients of higher powers.
        [x, rest @ ..] if rest.iter().all(|x| *x == 0.0) => Ok(*x),
        found => Err(wrong_value(&value, format!("{name} has one number, not {}", found.len()))),
    }
}

/// True if an attribute is the word `true`.
pub fn flag(sources: &[Node<'_, '_>], name: &str) -> Result<bool, Mistake> {
    match attribute(sources, name) {
        None => Ok(false),
        Some(value) => match value.value() {
            "true" => Ok(true),
            "false" | "auto" => Ok(false),
            other => Err(wrong_value(&value, format!("{name} is true or false, not '{other}'"))),
        },
    }
}
