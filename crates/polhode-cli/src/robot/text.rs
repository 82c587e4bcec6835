//! The text of a model file.

use super::tree::{Drawing, Robot};
use super::xml::tame;
use crate::print;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};

/// The width of comments.
const WIDTH: usize = 110;

/// Rounding that is not worth writing, relative to numbers of the order of one.
const ROUNDING: f64 = 1e-15;

/// The step and the end of a run of a robot that says none, in s.
const STEP: f64 = 1e-3;
const UNTIL: f64 = 1.0;

/// The model file of a robot; `source` is the name of the file that it comes from.
pub fn written(robot: &Robot, drawing: &Drawing, source: &str) -> String {
    let mut text = format!("# Made by `polhode convert` from {} ({}).\n", tame(source), robot.words.format);
    if robot.notes.count() > 0 {
        text.push_str("# Not in this model, or not as it was there:\n");
        for note in robot.notes.sentences() {
            let lines = print::wrap(&tame(&note), WIDTH);
            let begin = |k: usize| if k == 0 { "# - " } else { "#   " };
            text.extend(lines.iter().enumerate().map(|(k, line)| format!("{}{line}\n", begin(k))));
        }
    }
    text.push('\n');
    if !robot.name.is_empty() {
        text.push_str(&format!("title = {}\n", quoted(&robot.name)));
    }
    text.push_str(&format!("gravity = {}\n", vector(&robot.gravity)));
    for body in &drawing.bodies {
        let (mass, moments) = (&body.mass, &body.mass.inertia);
        text.push_str(&format!("\n[bodies.{}]\nmass = {}\n", key(&body.name), print::plain(mass.mass)));
        if mass.center != Vector3::zeros() {
            text.push_str(&format!("center = {}\n", vector(&mass.center)));
        }
        let entries = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|entry| moments[entry]);
        let products = entries[3..].iter().any(|x| x.abs() > ROUNDING * moments.amax());
        let shown = if products { &entries[..] } else { &entries[..3] };
        text.push_str(&format!("inertia = {}\n", numbers(shown, ROUNDING * moments.amax())));
        text.push_str(&pose(&body.pose, "position"));
    }
    for frame in &drawing.frames {
        text.push_str(&format!("\n[frames.{}]\nbody = {}\n", key(&frame.name), quoted(&frame.body)));
        text.push_str(&pose(&frame.pose, "at"));
    }
    for joint in &drawing.joints {
        let [first, second] = &joint.between;
        text.push_str(&format!("\n[joints.{}]\ntype = \"{}\"\n", key(&joint.name), joint.kind));
        text.push_str(&format!("between = [{}, {}]\n", quoted(first), quoted(second)));
        text.push_str(&format!("at = {}\n", vector(&joint.whole.at)));
        for (name, axis) in [("axis", joint.whole.axis), ("axis2", joint.whole.axis2)] {
            if let Some(axis) = axis {
                text.push_str(&format!("{name} = {}\n", vector(&axis)));
            }
        }
        let spring = &joint.spring;
        let rest = if spring.stiffness == 0.0 { 0.0 } else { spring.rest };
        for (name, x) in [("stiffness", spring.stiffness), ("damping", spring.damping), ("rest", rest)] {
            if x != 0.0 {
                text.push_str(&format!("{name} = {}\n", print::plain(x)));
            }
        }
        if joint.friction != 0.0 {
            let effort = if joint.kind == "revolute" { "moment" } else { "force" };
            let friction = print::plain(-joint.friction);
            text.push_str(&format!("# {effort} = \"{friction} * tanh(rate / 1e-3)\"\n"));
        }
    }
    let step = robot.step.unwrap_or(STEP);
    // At least one step, and no more than can be counted.
    let [step, until] = [step, UNTIL.max(step).min(1e9 * step)].map(print::plain);
    text.push_str(&format!("\n[run]\nmethod = \"geometric-alpha\"\nstep = {step}\nuntil = {until}\n"));
    text
}

/// The lines of a place, of which those that say nothing are left out.
fn pose(pose: &Isometry3<f64>, place: &str) -> String {
    let mut text = String::new();
    let at = vector(&pose.translation.vector);
    if at != "[0, 0, 0]" {
        text.push_str(&format!("{place} = {at}\n"));
    }
    let q = UnitQuaternion::from_quaternion(pose.rotation.into_inner());
    // One of the two quaternions of a rotation.
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    let attitude = numbers(&[q.w, q.i, q.j, q.k].map(|x| sign * x), ROUNDING);
    if attitude != "[1, 0, 0, 0]" {
        text.push_str(&format!("attitude = {attitude}\n"));
    }
    text
}

fn vector(v: &Vector3<f64>) -> String {
    numbers(v.as_slice(), ROUNDING * v.amax().max(1.0))
}

/// Numbers as an array; what is smaller than the last argument is zero.
fn numbers(list: &[f64], small: f64) -> String {
    let number = |x: &f64| print::plain(if x.abs() <= small { 0.0 } else { *x });
    format!("[{}]", list.iter().map(number).collect::<Vec<_>>().join(", "))
}

/// A name as a key, in quotes where it needs them.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) { name.into() } else { quoted(name) }
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", tame(text).replace('\\', "\\\\").replace('"', "\\\""))
}
