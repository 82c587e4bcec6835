//! MJCF, the rigid part of it: bodies, their joints and masses, with defaults by class.

mod class;
mod geometry;

use super::chain::Motion;
use super::tree::{Closure, Joint, Link, Notes, Robot, Spring, Words};
use super::xml::{self, Mistake, Read, children, place, wrong, wrong_value};
use class::{Defaults, attribute, number};
use geometry::{Choice, parts};
use nalgebra::Vector3;
use roxmltree::{Node, NodeId};
use std::collections::{HashMap, HashSet};

/// Acceleration of gravity where the file says nothing.
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

/// Elements that make bodies of their own, or take them from elsewhere.
const MAKERS: [&str; 6] = ["include", "replicate", "composite", "flexcomp", "attach", "model"];

/// What `<compiler>` may say without a change of the motion, or is read.
const COMPILER: [&str; 18] = [
    "angle",
    "coordinate",
    "eulerseq",
    "autolimits",
    "inertiafromgeom",
    "inertiagrouprange",
    "meshdir",
    "texturedir",
    "assetdir",
    "strippath",
    "discardvisual",
    "fusestatic",
    "usethread",
    "convexhull",
    "exactmeshinertia",
    "fitaabb",
    "alignfree",
    "saveinertial",
];

/// Attributes of joints that are read, or say nothing about the motion.
const JOINT: [&str; 16] = [
    "name",
    "class",
    "type",
    "pos",
    "axis",
    "damping",
    "stiffness",
    "springref",
    "ref",
    "group",
    "user",
    "frictionloss",
    "range",
    "limited",
    "margin",
    "armature",
];

/// Reads a robot.
pub fn read(root: &Node<'_, '_>) -> Read<Robot> {
    if let Some(maker) = root.descendants().find(|node| MAKERS.contains(&node.tag_name().name())) {
        let name = maker.tag_name().name();
        return Err(wrong(&maker, format!("<{name}> is not read; put what it stands for in its place")));
    }
    let defaults = Defaults::read(root)?;
    let mut reader = Reader {
        choice: Choice::read(root)?,
        defaults,
        links: Vec::new(),
        moving: Vec::new(),
        place_of: HashMap::new(),
        names: HashMap::new(),
        joints: HashSet::new(),
        notes: Notes::default(),
    };
    let mut robot = Robot {
        name: root.attribute("model").unwrap_or_default().into(),
        gravity: GRAVITY.into(),
        words: Words {
            format: "MJCF",
            link: "body",
            mass: "an <inertial> or geoms with mass",
            grounded: "masses of bodies that are fixed to the ground",
        },
        ..Robot::default()
    };
    for section in children(root) {
        match section.tag_name().name() {
            "worldbody" => reader.world(&section)?,
            "option" => reader.option(&section, &mut robot)?,
            "compiler" => reader.compiler(&section)?,
            "default" | "asset" | "visual" | "statistic" | "size" | "custom" | "equality" => {}
            "contact" => reader.notes.add("<contact>: nothing touches", ""),
            other => {
                for child in children(&section) {
                    let what = format!("<{}> of <{other}>", child.tag_name().name());
                    reader.notes.add(what, child.attribute("name").unwrap_or(""));
                }
            }
        }
    }
    for equality in children(root).filter(|node| node.has_tag_name("equality")) {
        for node in children(&equality) {
            robot.closures.extend(reader.closure(&node)?);
        }
    }
    robot.links = reader.links;
    robot.notes = reader.notes;
    Ok(robot)
}

struct Reader<'a, 'i> {
    defaults: Defaults<'a, 'i>,
    choice: Choice,
    links: Vec<Link>,
    /// True of the links that move.
    moving: Vec<bool>,
    /// The number of the link of an element.
    place_of: HashMap<NodeId, usize>,
    names: HashMap<String, usize>,
    joints: HashSet<String>,
    notes: Notes,
}

impl<'a, 'i: 'a> Reader<'a, 'i> {
    fn compiler(&mut self, node: &Node<'a, 'i>) -> Read<()> {
        for attribute in node.attributes() {
            let idle = match attribute.name() {
                "settotalmass" => xml::exactly::<1>(&attribute)? <= [0.0],
                "balanceinertia" => attribute.value() == "false",
                // They raise masses and inertias; zero raises none.
                "boundmass" | "boundinertia" => xml::exactly::<1>(&attribute)? == [0.0],
                name => COMPILER.contains(&name),
            };
            if !idle {
                self.notes.add("attributes of <compiler>", attribute.name());
            }
        }
        Ok(())
    }
    fn option(&mut self, node: &Node<'a, 'i>, robot: &mut Robot) -> Read<()> {
        for attribute in node.attributes() {
            match attribute.name() {
                "gravity" => robot.gravity = Vector3::from(xml::exactly::<3>(&attribute)?),
                "timestep" => {
                    let [step] = xml::exactly::<1>(&attribute)?;
                    if step <= 0.0 {
                        return Err(wrong_value(&attribute, "timestep must be positive"));
                    }
                    robot.step = Some(step);
                }
                name => self.notes.add("attributes of <option>", name),
            }
        }
        for flag in children(node) {
            for attribute in flag.attributes() {
                match (attribute.name(), attribute.value()) {
                    ("gravity", "disable") => robot.gravity = Vector3::zeros(),
                    ("gravity", _) | ("contact", "disable") => {}
                    (name, _) => self.notes.add(format!("attributes of <{}>", flag.tag_name().name()), name),
                }
            }
        }
        Ok(())
    }
    /// All bodies of a world, in the order of the file.
    fn world(&mut self, world: &Node<'a, 'i>) -> Read<()> {
        for node in world.descendants().filter(Node::is_element) {
            match node.tag_name().name() {
                "body" => self.body(&node)?,
                "site" => self.site(&node, world)?,
                "geom" => self.notes.add("contacts: geoms have mass, and nothing touches", ""),
                "worldbody" | "frame" | "inertial" | "joint" | "freejoint" => {}
                other => {
                    self.notes.add(format!("<{other}>"), node.attribute("name").unwrap_or(""));
                }
            }
        }
        Ok(())
    }
    /// The link that an element is in; none for the world.
    fn around(&self, node: &Node<'a, 'i>) -> Option<usize> {
        node.ancestors()
            .skip(1)
            .find(|above| above.has_tag_name("body"))
            .and_then(|body| self.place_of.get(&body.id()).copied())
    }
    /// A name, or one made for what has none.
    fn called(&self, node: &Node<'a, 'i>, otherwise: String) -> String {
        node.attribute("name").map_or(otherwise, String::from)
    }
    fn body(&mut self, node: &Node<'a, 'i>) -> Read<()> {
        let number = self.links.len();
        let name = self.called(node, format!("body{}", self.names.len() + 1));
        if self.names.insert(name.clone(), number).is_some() {
            return Err(wrong(node, format!("there is a body '{name}' already")));
        }
        for attribute in node.attributes() {
            match attribute.name() {
                "name" | "pos" | "quat" | "euler" | "axisangle" | "xyaxes" | "zaxis" | "childclass"
                | "user" | "sleep" => {}
                other => self.notes.add(format!("the attribute {other} of bodies"), &name),
            }
        }
        let moves: Vec<Node<'a, 'i>> =
            parts(node, "joint").into_iter().chain(parts(node, "freejoint")).collect();
        let mut joints = Vec::new();
        for joint in &moves {
            joints.push(self.joint(joint, &name, moves.len())?);
        }
        let parent = self.around(node);
        let moving = !joints.is_empty() || parent.is_some_and(|parent| self.moving[parent]);
        // What stands still may be of any shape.
        let mass = match moving {
            true => geometry::mass(node, &name, &self.defaults, &self.choice)?,
            false => None,
        };
        let link = Link {
            parent,
            pose: self.defaults.pose(&[*node])?,
            joints,
            mass,
            frames: Vec::new(),
            at: place(node),
            name,
        };
        self.place_of.insert(node.id(), number);
        self.links.push(link);
        self.moving.push(moving);
        Ok(())
    }
    fn joint(&mut self, node: &Node<'a, 'i>, body: &str, of: usize) -> Read<Joint> {
        let otherwise = match of {
            1 => format!("{body}-joint"),
            _ => format!("{body}-joint{}", self.joints.len() + 1),
        };
        let name = self.called(node, otherwise);
        if !self.joints.insert(name.clone()) {
            return Err(wrong(node, format!("there is a joint '{name}' already")));
        }
        let sources = if node.has_tag_name("joint") { self.defaults.sources(node)? } else { vec![*node] };
        let kind = match node.has_tag_name("freejoint") {
            true => "free",
            false => attribute(&sources, "type").map_or("hinge", |value| value.value()),
        };
        let motion = match kind {
            "hinge" => Motion::Turn,
            "slide" => Motion::Slide,
            "ball" => Motion::Ball,
            "free" => Motion::Free,
            _ => {
                let at = attribute(&sources, "type").map_or(place(node), |value| value.range_value());
                let message = format!(
                    "the type '{kind}' of the joint '{name}' is not known: it is one of hinge, slide, ball, free"
                );
                return Err(Mistake::new(&at, message));
            }
        };
        // The file draws its bodies where the coordinates are `ref`; the model counts from the drawing.
        let unit = if motion == Motion::Turn { self.defaults.angle } else { 1.0 };
        let spring = Spring {
            stiffness: number(&sources, "stiffness", 0.0)?,
            damping: number(&sources, "damping", 0.0)?,
            rest: unit * (number(&sources, "springref", 0.0)? - number(&sources, "ref", 0.0)?),
        };
        let pose = self.defaults.around(&sources)?;
        let point = attribute(&sources, "pos").map(|value| xml::exactly::<3>(&value)).transpose()?;
        let axis = attribute(&sources, "axis").map(|value| xml::direction(&value)).transpose()?;
        self.tell_joint(&sources, &name)?;
        Ok(Joint {
            name,
            motion,
            point: (pose * nalgebra::Point3::from(Vector3::from(point.unwrap_or_default()))).coords,
            axis: pose.rotation * axis.unwrap_or(Vector3::z()),
            spring: Spring { rest: if spring.stiffness == 0.0 { 0.0 } else { spring.rest }, ..spring },
            friction: number(&sources, "frictionloss", 0.0)?,
            at: place(node),
        })
    }
    /// What of a joint is not in the model.
    fn tell_joint(&mut self, sources: &[Node<'a, 'i>], name: &str) -> Read<()> {
        if number(sources, "armature", 0.0)? != 0.0 {
            self.notes.add("armature of joints, the inertia of their motors", name);
        }
        if attribute(sources, "range").is_some()
            && attribute(sources, "limited").map(|a| a.value()) != Some("false")
        {
            self.notes.add("limits of joints", name);
        }
        for attribute in sources.iter().flat_map(|source| source.attributes()) {
            if !JOINT.contains(&attribute.name()) {
                self.notes.add(format!("the attribute {} of joints", attribute.name()), name);
            }
        }
        Ok(())
    }
    /// A site is a frame of its body, or of the ground.
    fn site(&mut self, node: &Node<'a, 'i>, world: &Node<'a, 'i>) -> Read<()> {
        let pose = self.defaults.pose(&self.defaults.sources(node)?)?;
        let Some(name) = node.attribute("name") else { return Ok(()) };
        match self.around(node).and_then(|link| self.links.get_mut(link)) {
            Some(link) => link.frames.push((name.into(), pose)),
            // On the ground it is a link that is fixed there.
            None => {
                self.moving.push(false);
                self.links.push(Link {
                    name: name.into(),
                    parent: None,
                    pose,
                    joints: Vec::new(),
                    mass: None,
                    frames: Vec::new(),
                    at: place(world),
                });
            }
        }
        Ok(())
    }
    /// A constraint that closes a loop, if it is one of those that are joints.
    fn closure(&mut self, node: &Node<'a, 'i>) -> Read<Option<Closure>> {
        let what = node.tag_name().name();
        let sources = [*node];
        let name = self.called(node, format!("{what}{}", self.joints.len() + 1));
        let off = attribute(&sources, "active").is_some_and(|value| value.value() == "false");
        let kind = match what {
            "connect" => "spherical",
            "weld" => "fixed",
            _ => "",
        };
        // A weld may ask for another pose than the drawn one.
        let moved = attribute(&sources, "relpose").is_some();
        if off || kind.is_empty() || moved || !node.has_attribute("body1") {
            self.notes.add(format!("<{what}> of <equality>"), &name);
            return Ok(None);
        }
        let link = |key: &str| match node.attribute_node(key) {
            None => Ok(None),
            Some(value) if value.value() == "world" => Ok(None),
            Some(value) => match self.names.get(value.value()) {
                Some(link) => Ok(Some(*link)),
                None => Err(wrong_value(&value, format!("there is no body '{}'", value.value()))),
            },
        };
        let links = [link("body1")?, link("body2")?];
        if kind == "spherical" {
            xml::needed(node, "anchor")?;
        }
        // That of a weld is in the frame of the second body, and the same for bodies that stand as they are drawn.
        let point = match kind {
            "spherical" => xml::vector(node, "anchor")?.unwrap_or_default(),
            _ => Vector3::zeros(),
        };
        self.joints.insert(name.clone());
        self.notes.add("<equality> constraints, which are soft there and exact here", &name);
        Ok(Some(Closure { name, kind, links, point, at: place(node) }))
    }
}
