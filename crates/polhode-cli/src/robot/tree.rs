//! A robot as its file has it, a tree of links, and the bodies and joints that it comes to.

use super::chain::{self, Drawn, Motion, Whole};
use super::mass::Mass;
use super::xml::{Mistake, Read};
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What is fixed in space.
pub const GROUND: &str = "ground";

/// A robot as its file has it. Links come after those they hang on.
#[derive(Debug, Default)]
pub struct Robot {
    /// Its name, which may be empty.
    pub name: String,
    /// Acceleration of gravity.
    pub gravity: Vector3<f64>,
    /// The time step that the file says.
    pub step: Option<f64>,
    /// Its links.
    pub links: Vec<Link>,
    /// Joints that close loops.
    pub closures: Vec<Closure>,
    /// What to call the elements of the file in messages.
    pub words: Words,
    /// What of the file is not in the model.
    pub notes: Notes,
}

/// How a format calls things, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The format.
    pub format: &'static str,
    /// A link.
    pub link: &'static str,
    /// How a link gets mass.
    pub mass: &'static str,
    /// What is told of masses that do not move.
    pub grounded: &'static str,
}

impl Default for Words {
    fn default() -> Self {
        Words {
            format: "URDF",
            link: "link",
            mass: "an <inertial> with a mass",
            grounded: "masses of links that are fixed to the ground (--floating-base of `polhode convert` lets the root move)",
        }
    }
}

/// A link of the tree.
#[derive(Debug)]
pub struct Link {
    /// Its name in the file.
    pub name: String,
    /// The link that it hangs on; `None` is the ground.
    pub parent: Option<usize>,
    /// Where its frame stands in that of its parent, at zero coordinates.
    pub pose: Isometry3<f64>,
    /// The joints from the parent to it, one after another; without joints it is fixed to the parent.
    pub joints: Vec<Joint>,
    /// Its mass in its own frame.
    pub mass: Option<Mass>,
    /// Frames of its own, in its frame.
    pub frames: Vec<(String, Isometry3<f64>)>,
    /// Where it is in the file.
    pub at: Range<usize>,
}

/// A joint of the tree.
#[derive(Debug)]
pub struct Joint {
    /// Its name in the file.
    pub name: String,
    /// What it allows.
    pub motion: Motion,
    /// Its point in the frame of its link.
    pub point: Vector3<f64>,
    /// Its axis there, of length one.
    pub axis: Vector3<f64>,
    /// Its spring and damper.
    pub spring: Spring,
    /// Its dry friction, which the model has as a remark only.
    pub friction: f64,
    /// Where it is in the file.
    pub at: Range<usize>,
}

/// A spring and a damper in a joint; their numbers are zero in a joint without them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spring {
    /// N m/rad or N/m.
    pub stiffness: f64,
    /// N m s/rad or N s/m.
    pub damping: f64,
    /// Where it is at rest.
    pub rest: f64,
}

/// A joint that closes a loop.
#[derive(Debug)]
pub struct Closure {
    /// Its name in the file.
    pub name: String,
    /// Its type in the model.
    pub kind: &'static str,
    /// What it joins; `None` is the ground.
    pub links: [Option<usize>; 2],
    /// Its point in the frame of the first.
    pub point: Vector3<f64>,
    /// Where it is in the file.
    pub at: Range<usize>,
}

/// What of a file is not in the model, or not as it stands there: what, and of which elements.
#[derive(Debug, Default)]
pub struct Notes {
    list: Vec<(String, Vec<String>)>,
    index: HashMap<String, usize>,
}

impl Notes {
    /// Adds one; those that say the same of several elements are one.
    pub fn add(&mut self, what: impl Into<String>, of: &str) {
        let what = what.into();
        let place = *self.index.entry(what.clone()).or_insert_with(|| {
            self.list.push((what, Vec::new()));
            self.list.len() - 1
        });
        let Some((_, list)) = self.list.get_mut(place) else { return };
        if list.last().map(String::as_str) != Some(of) {
            list.push(of.into());
        }
    }
    /// How many things there are to tell.
    pub fn count(&self) -> usize {
        self.list.iter().map(|(_, of)| of.len()).sum()
    }
    /// Each as a sentence.
    pub fn sentences(&self) -> impl Iterator<Item = String> + '_ {
        self.list.iter().map(|(what, of)| {
            let of: Vec<&str> = of.iter().map(String::as_str).filter(|of| !of.is_empty()).collect();
            match of.is_empty() {
                true => what.clone(),
                false => format!("{what}: {}", of.join(", ")),
            }
        })
    }
}

/// A body of the model.
#[derive(Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its mass in its own frame.
    pub mass: Mass,
    /// Where that frame stands in space.
    pub pose: Isometry3<f64>,
}

/// A frame of the model.
#[derive(Debug)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// What it sits on.
    pub body: String,
    /// Where it stands there.
    pub pose: Isometry3<f64>,
}

/// A joint of the model.
#[derive(Debug)]
pub struct JointOfModel {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: &'static str,
    /// The two bodies.
    pub between: [String; 2],
    /// Its point and axes in space.
    pub whole: Whole,
    /// Its spring and damper.
    pub spring: Spring,
    /// Its dry friction.
    pub friction: f64,
}

/// All that the model has.
#[derive(Debug, Default)]
pub struct Drawing {
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The frames.
    pub frames: Vec<Frame>,
    /// The joints.
    pub joints: Vec<JointOfModel>,
}

/// A link while bodies are made of links.
struct Place<'a> {
    /// The link whose body it is part of; `None` is the ground.
    owner: Option<usize>,
    /// Where it stands in the frame of that body, or in space.
    within: Isometry3<f64>,
    space: Isometry3<f64>,
    /// The joints before it, drawn.
    chain: Vec<(&'a Joint, Drawn)>,
    /// The link whose body it hangs on.
    hangs_on: Option<usize>,
}

/// Names that are taken, and the names that are used in their place.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A name that the model can have and nothing else has yet.
    fn give(&mut self, name: &str, dots: bool, kind: &str, notes: &mut Notes) -> String {
        let letters = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-') || (dots && c == '.');
        let mut plain: String = name.chars().map(|c| if letters(c) { c } else { '_' }).collect();
        if plain.is_empty() || plain == GROUND {
            plain = format!("{plain}_{kind}").trim_start_matches('_').into();
        }
        let mut given = plain.clone();
        let mut number = 2;
        while !self.taken.insert(given.clone()) {
            given = format!("{plain}-{number}");
            number += 1;
        }
        if given != name {
            notes
                .add(format!("names that the model cannot have, of a {kind}"), &format!("{name} is {given}"));
        }
        given
    }
}

/// The bodies, frames and joints of a robot.
pub fn drawing(robot: &mut Robot) -> Read<Drawing> {
    let mut notes = std::mem::take(&mut robot.notes);
    let made = draw(robot, &mut notes);
    robot.notes = notes;
    made
}

fn draw(robot: &Robot, notes: &mut Notes) -> Read<Drawing> {
    let mut places = places(&robot.links);
    let masses = masses(&robot.links, &places);
    let gone = join_massless(robot, &mut places, &masses, notes)?;
    let mut names = Names::default();
    let mut of_body: HashMap<usize, String> = HashMap::new();
    for (i, link) in robot.links.iter().enumerate().filter(|(i, _)| places[*i].owner == Some(*i)) {
        if !gone.contains(&i) {
            of_body.insert(i, names.give(&link.name, false, "body", notes));
        }
    }
    let name_of = |owner: Option<usize>| match owner {
        None => Some(GROUND.to_string()),
        Some(i) => of_body.get(&i).cloned(),
    };
    let mut drawing = Drawing::default();
    for (i, link) in robot.links.iter().enumerate() {
        let place = &places[i];
        let Some(body) = name_of(place.owner) else { continue };
        if place.owner.is_none() && link.mass.is_some() {
            notes.add(robot.words.grounded, &link.name);
        }
        if place.owner == Some(i) {
            let Some(mass) = masses.get(&i) else { continue };
            let finite =
                mass.mass.is_finite() && mass.center.iter().all(|x| x.is_finite()) && is_finite(&place.space);
            if !finite {
                return Err(too_large(robot, link));
            }
            if let Some(why) = mass.objection() {
                let message =
                    format!("no body has the inertia of the {} '{}': {why}", robot.words.link, link.name);
                return Err(Mistake::new(&link.at, message));
            }
            drawing.bodies.push(Body { name: body.clone(), mass: *mass, pose: place.space });
        } else {
            let name = names.give(&link.name, true, "frame", notes);
            drawing.frames.push(Frame { name, body: body.clone(), pose: place.within });
        }
        if !is_finite(&place.within) || link.frames.iter().any(|(_, pose)| !is_finite(&(place.within * pose)))
        {
            return Err(too_large(robot, link));
        }
        for (name, pose) in &link.frames {
            let name = names.give(name, true, "frame", notes);
            drawing.frames.push(Frame { name, body: body.clone(), pose: place.within * pose });
        }
    }
    if drawing.bodies.is_empty() {
        let message = format!("nothing moves: every {} is fixed to the ground", robot.words.link);
        return Err(Mistake::new(&(0..0), message));
    }
    let mut names = Names::default();
    for (i, link) in robot.links.iter().enumerate() {
        if let Some(body) = of_body.get(&i) {
            let between = [name_of(places[i].hangs_on).unwrap_or_default(), body.clone()];
            joint(robot, link, &places[i], between, &mut names, &mut drawing, notes)?;
        }
    }
    for closure in &robot.closures {
        let ends = closure.links.map(|link| link.and_then(|i| places[i].owner));
        let Some([first, second]) = name_of(ends[0]).zip(name_of(ends[1])).map(<[String; 2]>::from) else {
            let message = format!("'{}' holds a {} without mass", closure.name, robot.words.link);
            return Err(Mistake::new(&closure.at, message));
        };
        if first == second {
            notes.add("constraints between what is fixed together anyway", &closure.name);
            continue;
        }
        let pose = closure.links[0].map_or(Isometry3::identity(), |i| places[i].space);
        let at = (pose * Point3::from(closure.point)).coords;
        drawing.joints.push(JointOfModel {
            name: names.give(&closure.name, false, "joint", notes),
            kind: closure.kind,
            between: [first, second],
            whole: Whole { kind: Some(closure.kind), at, axis: None, axis2: None },
            spring: Spring::default(),
            friction: 0.0,
        });
    }
    Ok(drawing)
}

fn is_finite(pose: &Isometry3<f64>) -> bool {
    pose.translation.vector.iter().all(|x| x.is_finite())
}

fn too_large(robot: &Robot, link: &Link) -> Mistake {
    let message = format!(
        "the {} '{}' is too large or too far away: its numbers overflow",
        robot.words.link, link.name
    );
    Mistake::new(&link.at, message)
}

/// Where all links stand at zero coordinates, and which of them are fixed together.
fn places(links: &[Link]) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        let above = link.parent.and_then(|parent| places.get(parent));
        let space = above.map_or(Isometry3::identity(), |above| above.space) * link.pose;
        let owner = above.and_then(|above| above.owner);
        let within = above.map_or(Isometry3::identity(), |above| above.within) * link.pose;
        let drawn = |joint: &Joint| Drawn {
            motion: joint.motion,
            point: (space * Point3::from(joint.point)).coords,
            axis: space.rotation * joint.axis,
        };
        places.push(match link.joints.is_empty() {
            true => Place { owner, within, space, chain: Vec::new(), hangs_on: None },
            false => Place {
                owner: Some(i),
                within: Isometry3::identity(),
                space,
                chain: link.joints.iter().map(|joint| (joint, drawn(joint))).collect(),
                hangs_on: owner,
            },
        });
    }
    places
}

/// The masses of what moves together, by the link that it is the body of.
fn masses(links: &[Link], places: &[Place<'_>]) -> HashMap<usize, Mass> {
    let mut masses: HashMap<usize, Mass> = HashMap::new();
    for (link, place) in links.iter().zip(places) {
        if let (Some(mass), Some(owner)) = (&link.mass, place.owner) {
            let part = mass.seen_from(&place.within);
            masses.entry(owner).and_modify(|whole| *whole = whole.with(&part)).or_insert(part);
        }
    }
    masses
}

/// Links that move and have no mass are taken out where the joints on both sides of them are one joint. Returns them.
fn join_massless(
    robot: &Robot,
    places: &mut [Place<'_>],
    masses: &HashMap<usize, Mass>,
    notes: &mut Notes,
) -> Read<HashSet<usize>> {
    let mut gone = HashSet::new();
    let kind = robot.words.link;
    let mut hanging: HashMap<usize, Vec<usize>> = HashMap::new();
    for (k, place) in places.iter().enumerate() {
        if let Some(body) = place.hangs_on {
            hanging.entry(body).or_default().push(k);
        }
    }
    for (i, link) in robot.links.iter().enumerate() {
        if places[i].owner != Some(i) || masses.contains_key(&i) {
            continue;
        }
        let how = format!("give it {}, or fix it to what it hangs on", robot.words.mass);
        let Some(&[next]) = hanging.get(&i).map(Vec::as_slice) else {
            let message =
                format!("the {kind} '{}' moves and has no mass, which a body must have; {how}", link.name);
            return Err(Mistake::new(&link.at, message));
        };
        let mut chain = std::mem::take(&mut places[i].chain);
        chain.append(&mut places[next].chain);
        let drawn: Vec<Drawn> = chain.iter().map(|(_, drawn)| *drawn).collect();
        // Three may be one joint where two of them are not.
        if chain::whole(&drawn).is_none() && masses.contains_key(&next) {
            let names: Vec<&str> = chain.iter().map(|(joint, _)| joint.name.as_str()).collect();
            let message = format!(
                "the {kind} '{}' moves and has no mass, and the joints {} on both sides of it are not one joint of the model; {how}",
                link.name,
                names.join(", ")
            );
            return Err(Mistake::new(&link.at, message));
        }
        places[next].chain = chain;
        places[next].hangs_on = places[i].hangs_on;
        notes.add(format!("{kind}s without mass between two joints that are one joint now"), &link.name);
        gone.insert(i);
    }
    Ok(gone)
}

/// The joint that a body hangs on, if it is not free.
fn joint(
    robot: &Robot,
    link: &Link,
    place: &Place<'_>,
    between: [String; 2],
    names: &mut Names,
    drawing: &mut Drawing,
    notes: &mut Notes,
) -> Read<()> {
    let drawn: Vec<Drawn> = place.chain.iter().map(|(_, drawn)| *drawn).collect();
    let all: Vec<&str> = place.chain.iter().map(|(joint, _)| joint.name.as_str()).collect();
    let Some(whole) = chain::whole(&drawn) else {
        let message = format!(
            "the joints {} of the {} '{}' one after another are not one joint of the model; put a {} with mass between them",
            all.join(", "),
            robot.words.link,
            link.name,
            robot.words.link
        );
        let at = place.chain.get(1).map_or(&link.at, |(joint, _)| &joint.at);
        return Err(Mistake::new(at, message));
    };
    if all.len() > 1 {
        let one = whole.kind.unwrap_or("free");
        notes.add(
            "joints one after another that are one joint now",
            &format!("{} ({one})", all.join(" and ")),
        );
    }
    let (mut spring, mut friction) = (Spring::default(), 0.0);
    for (joint, _) in &place.chain {
        if matches!(whole.kind, Some("revolute" | "prismatic")) {
            (spring, friction) = (joint.spring, joint.friction);
            if friction != 0.0 {
                notes.add("dry friction, a remark in the model", &joint.name);
            }
        } else if joint.spring != Spring::default() || joint.friction != 0.0 {
            let what = "springs, damping and friction of joints that do not have one coordinate";
            notes.add(what, &joint.name);
        }
    }
    if let Some(kind) = whole.kind {
        let name = names.give(&all.join("-"), false, "joint", notes);
        drawing.joints.push(JointOfModel { name, kind, between, whole, spring, friction });
    }
    Ok(())
}
