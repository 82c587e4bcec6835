//! What is wrong with robots: told with file, line and column, and never a panic.

use crate::common::refused;
use crate::models::Folder;
use crate::robot_numbers::ROBOTS;
use crate::robots::robot;
use polhode::problem::Problem;
use polhode_cli::readers;

const INERTIAL: &str =
    r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"#;

/// Lines of a robot: two links, and what is given.
fn urdf(more: &str) -> String {
    format!(
        "<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"b\">{INERTIAL}</link>\n\
         <joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/></joint>\n{more}\n</robot>\n"
    )
}

fn mjcf(more: &str) -> String {
    format!("<mujoco>\n<worldbody>\n{more}\n</worldbody>\n</mujoco>\n")
}

#[test]
fn mistakes_of_urdf_are_told_at_their_place() {
    let folder = Folder::new();
    let heavy = |mass: &str| INERTIAL.replace("<mass value=\"1\"", &format!("<mass value=\"{mass}\""));
    let hung = |name: &str, inside: &str| {
        format!(
            "<link name=\"{name}\">{inside}</link>\n<joint name=\"to_{name}\" type=\"revolute\"><parent link=\"b\"/><child link=\"{name}\"/></joint>"
        )
    };
    let cases: Vec<(String, &[&str])> = vec![
        (urdf("").replace("</link>\n<joint", "\n<joint"), &["x.urdf:6:1", "this is not XML"]),
        (
            urdf("<joint name=\"k\" type=\"fixed\"><parent link=\"q\"/><child link=\"b\"/></joint>"),
            &["x.urdf:5:44", "asks for the link 'q', which is not there"],
        ),
        (
            urdf("<joint name=\"k\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>"),
            &["x.urdf:5:1", "'b' hangs on two joints, 'j' and 'k'"],
        ),
        (
            urdf("<joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"a\"/></joint>"),
            &["x.urdf:4:1", "round in a loop"],
        ),
        (
            urdf(
                "<link name=\"c\"/><link name=\"d\"/><joint name=\"k\" type=\"fixed\"><parent link=\"c\"/><child link=\"d\"/></joint><joint name=\"l\" type=\"fixed\"><parent link=\"d\"/><child link=\"c\"/></joint>",
            ),
            &["x.urdf:5:1", "'c' does not hang on the root 'a'"],
        ),
        (urdf("<link name=\"c\"/>"), &["x.urdf:5:1", "'a' and 'c' both hang on no joint"]),
        (urdf("<link name=\"b\"/>"), &["x.urdf:5:1", "there is a link 'b' already"]),
        (urdf(&hung("c", &heavy("-2"))), &["x.urdf:5:39", "the mass of 'c' must be positive, not -2"]),
        (urdf(&hung("c", &heavy("0"))), &["the mass of 'c' must be positive, not 0"]),
        (urdf(&hung("c", &heavy("two"))), &["x.urdf:5:39", "'two' in value is no number"]),
        (urdf(&hung("c", &heavy("inf"))), &["'inf' in value is not a finite number"]),
        (urdf(&hung("c", &heavy("1 2"))), &["value has one number, not 2"]),
        (
            urdf(&hung("c", &INERTIAL.replace("ixx=\"1\"", "ixx=\"9\""))),
            &["x.urdf:5:1", "no body has the inertia of the link 'c'", "A + B >= C"],
        ),
        (urdf(&hung("c", &INERTIAL.replace("ixx=\"1\" ", ""))), &["<inertia> needs the attribute ixx"]),
        (
            urdf(&hung("c", "")),
            &[
                "x.urdf:5:1",
                "the link 'c' moves and has no mass",
                "give it an <inertial> with a mass, or fix it",
            ],
        ),
        (
            urdf(&format!("{}\n{}", hung("c", ""), hung("d", INERTIAL).replace("link=\"b\"", "link=\"c\""))),
            &["the joints to_c, to_d on both sides of it are not one joint"],
        ),
        (
            urdf("").replace("revolute", "ball"),
            &["x.urdf:4:23", "the type 'ball' of the joint 'j' is not known", "planar"],
        ),
        (urdf("").replace("<child link=\"b\"/>", ""), &["the joint 'j' needs <child>"]),
        (urdf("").replace("<parent", "<axis xyz=\"0 0 0\"/><parent"), &["xyz is zero and has no direction"]),
        (urdf("").replace("<parent", "<origin xyz=\"0 0\"/><parent"), &["xyz has 3 numbers, not 2"]),
        (
            urdf("").replace("<parent", "<origin quat_xyzw=\"0 0 0 1\"/><parent"),
            &["an origin has xyz and rpy, not quat_xyzw"],
        ),
        (
            urdf("").replace("<parent", "<dynamics damping=\"-1\"/><parent"),
            &["the damping of 'j' must not be negative"],
        ),
        (
            urdf("").replace("type=\"revolute\"", "type=\"fixed\""),
            &["nothing moves: every link is fixed to the ground"],
        ),
        ("<robot name=\"r\"/>".into(), &["x.urdf:1:1", "the robot has no links"]),
        (
            urdf("<x:property xmlns:x=\"http://www.ros.org/wiki/xacro\" name=\"p\"/>"),
            &["x.urdf:5:1", "this is a xacro file"],
        ),
        (urdf("").replace("<robot", "<sdf").replace("</robot", "</sdf"), &["<sdf> is no robot"]),
        (String::new(), &["x.urdf:1:1", "this is not XML"]),
        ("gravity = [0, 0, 1]".into(), &["x.urdf:1:1", "this is not XML"]),
        ("<!DOCTYPE r [<!ENTITY a 'b'>]><robot/>".into(), &["this is not XML"]),
    ];
    for (text, parts) in &cases {
        let file = folder.write("x.urdf", text);
        for command in ["run", "convert"] {
            refused(3, &[command, &file], parts);
        }
    }
}

#[test]
fn mistakes_of_mjcf_are_told_at_their_place() {
    let folder = Folder::new();
    let body = |inside: &str| mjcf(&format!("<body name=\"b\">\n{inside}\n</body>"));
    let ball = "<geom size=\"0.1\"/>";
    let cases: Vec<(String, &[&str])> = vec![
        (
            body("<joint/><geom type=\"mesh\" name=\"skin\" mesh=\"m\"/>"),
            &["x.xml:4:9", "the mesh 'skin', which is not read; give the body an <inertial>"],
        ),
        (
            body("<joint/>"),
            &["x.xml:3:1", "the body 'b' moves and has no mass", "an <inertial> or geoms with mass"],
        ),
        (
            body(&format!(
                "<joint name=\"p\"/>\n<joint name=\"q\" axis=\"1 1 0\" pos=\"0 0 1\"/>\n<joint name=\"s\" type=\"slide\"/>{ball}"
            )),
            &["x.xml:5:1", "the joints p, q, s of the body 'b'", "not one joint of the model"],
        ),
        (body(&format!("<joint name=\"p\"/><joint name=\"p\"/>{ball}")), &["there is a joint 'p' already"]),
        (
            body(&format!("<joint type=\"screw\"/>{ball}")),
            &["x.xml:4:14", "it is one of hinge, slide, ball, free"],
        ),
        (
            body(&format!("<joint class=\"soft\"/>{ball}")),
            &["x.xml:4:15", "there is no default class 'soft'"],
        ),
        (body(&format!("<joint axis=\"a b c\"/>{ball}")), &["'a' in axis is no number"]),
        (
            body("<joint/><inertial pos=\"0 0 0\" mass=\"-1\" diaginertia=\"1 1 1\"/>"),
            &["the mass of the body 'b' must be positive, not -1"],
        ),
        (
            body("<joint/><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 9\"/>"),
            &["x.xml:3:1", "no body has the inertia of the body 'b'"],
        ),
        (body("<joint/><inertial pos=\"0 0 0\" mass=\"1\"/>"), &["needs diaginertia or fullinertia"]),
        (body("<joint/><geom type=\"box\" size=\"1 1\"/>"), &["a box needs 3 positive numbers in size"]),
        (body("<joint/><geom size=\"-1\"/>"), &["a sphere needs one positive number in size"]),
        (
            body("<joint/><geom type=\"capsule\" fromto=\"1 2 3 1 2 3\" size=\"1\"/>"),
            &["the two points of fromto are the same"],
        ),
        (
            body(&format!("<joint/>{ball}")).replace("name=\"b\"", "name=\"b\" quat=\"0 0 0 0\""),
            &["x.xml:3:22", "quat is zero"],
        ),
        (body(&format!("<joint/>{ball}<body name=\"b\"/>")), &["there is a body 'b' already"]),
        (
            body(&format!("<joint/>{ball}"))
                .replace("<worldbody>", "<compiler coordinate=\"global\"/><worldbody>"),
            &["only coordinate=\"local\" is read"],
        ),
        (
            body(&format!("<joint/>{ball}"))
                .replace("<worldbody>", "<include file=\"other.xml\"/><worldbody>"),
            &["x.xml:2:1", "<include> is not read"],
        ),
        (
            body(&format!("<joint/>{ball}")).replace(
                "</worldbody>",
                "</worldbody><equality><connect body1=\"q\" anchor=\"0 0 0\"/></equality>",
            ),
            &["there is no body 'q'"],
        ),
        (body(ball), &["nothing moves: every body is fixed"]),
        (mjcf(""), &["nothing moves"]),
    ];
    for (text, parts) in &cases {
        let file = folder.write("x.xml", text);
        for command in ["run", "convert"] {
            refused(3, &[command, &file], parts);
        }
    }
}

/// A generator of numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

const PIECES: [&str; 16] = [
    "",
    "0",
    "-1",
    "1e308",
    "nan",
    "\"",
    "<",
    "/>",
    "1e-320",
    "<body>",
    "ground",
    "world",
    "\u{202e}",
    "&#10;",
    "é",
    "99999999999",
];

#[test]
fn mutated_robots_are_refused_at_a_line_or_make_a_model() {
    let cases: u64 = std::env::var("POLHODE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let seeds = ROBOTS.map(|(file, _)| std::fs::read_to_string(robot(file)).expect("the robot"));
    let mut made = 0;
    for case in 0..cases {
        let mut dice = Dice(case.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let mut text: Vec<char> = seeds[dice.below(seeds.len())].chars().collect();
        for _ in 0..1 + dice.below(3) {
            let at = dice.below(text.len());
            // A number or name between quotes, or any few characters.
            let quotes: Vec<usize> = (0..text.len()).filter(|k| text[*k] == '"').collect();
            let pair = 2 * dice.below(quotes.len() / 2);
            let range = match (dice.below(3), quotes.get(pair..pair + 2)) {
                (0, _) | (_, None) => at..(at + dice.below(4)).min(text.len()),
                (_, Some(pair)) => pair[0] + 1..pair[1],
            };
            let piece = PIECES[dice.below(PIECES.len())];
            let piece = if dice.below(4) == 0 {
                text[range.clone()].iter().rev().collect()
            } else {
                piece.to_string()
            };
            text.splice(range, piece.chars());
        }
        let text: String = text.into_iter().collect();
        let read = std::panic::catch_unwind(|| readers::robot(&text))
            .unwrap_or_else(|_| panic!("case {case}:\n{text}"));
        match read {
            Err(message) => assert!(message.starts_with("robot:"), "case {case}: {message}"),
            Ok(model) => {
                made += 1;
                // The text is always a model file, though its numbers may make no model.
                let problem = Problem::from_text("robot", &model);
                let problem = problem.unwrap_or_else(|error| panic!("case {case}: {error}\n{text}\n{model}"));
                let _ = problem.model();
            }
        }
    }
    assert!(made > cases / 10 && made < cases * 9 / 10, "{made} of {cases}");
}
