//! Robots from URDF and MJCF files: read as trees of links, written as model files.

mod chain;
mod mass;
mod mjcf;
mod text;
mod tree;
mod urdf;
mod xml;

use crate::args::ConvertOptions;
use crate::failure::Failure;
use crate::{files, pick, print};
use polhode::problem::Problem;
use std::path::Path;
use xml::Mistake;

/// Endings of names of robot files.
const ENDINGS: [&str; 3] = [".urdf", ".xml", ".mjcf"];

/// True if a word on the command line is the name of a robot file.
pub fn is_named(word: &str) -> bool {
    let word = word.to_lowercase();
    ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// True if a text is XML, which no model file begins like.
pub fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// A robot as the text of a model file, and what of it is not there.
pub struct Converted {
    /// The model file.
    pub text: String,
    /// What is not in it, or not as it was, in sentences.
    pub notes: Vec<String>,
    /// How many things these are about.
    pub count: usize,
    bodies: usize,
    joints: usize,
}

/// The model file of a robot; `name` is that of its file.
pub fn converted(name: &str, text: &str, floating_base: bool) -> Result<Converted, Failure> {
    // The parser takes no mark of the byte order; places are those in the text after it.
    let text = text.trim_start_matches('\u{feff}');
    convert(name, text, floating_base).map_err(|mistake| Failure::Model(mistake.told(name, text)))
}

fn convert(name: &str, text: &str, floating_base: bool) -> Result<Converted, Mistake> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    let mut robot = match root.tag_name().name() {
        "robot" => urdf::read(&root, floating_base)?,
        "mujoco" if floating_base => {
            let message = "--floating-base is for URDF; in MJCF give the body a <freejoint/>";
            return Err(xml::wrong(&root, message));
        }
        "mujoco" => mjcf::read(&root)?,
        other => {
            let message = format!("<{other}> is no robot: URDF begins with <robot>, MJCF with <mujoco>");
            return Err(xml::wrong(&root, message));
        }
    };
    let drawing = tree::drawing(&mut robot)?;
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    Ok(Converted {
        text: text::written(&robot, &drawing, &file),
        notes: robot.notes.sentences().map(|note| xml::tame(&note)).collect(),
        count: robot.notes.count(),
        bodies: drawing.bodies.len(),
        joints: drawing.joints.len(),
    })
}

/// The problem of a robot, ready to run.
pub fn problem(name: &str, text: &str) -> Result<Problem, Failure> {
    let made = converted(name, text, false)?;
    let problem = checked(name, &made)?;
    if made.count > 0 {
        let things = print::count(made.count as u64, "thing");
        print::note(&format!(
            "note: left out or changed: {things} in {name}; `polhode convert {name}` lists them"
        ));
    }
    Ok(problem)
}

/// The problem of a model that was made here. Its mistakes are not in lines of the file of the robot.
fn checked(name: &str, made: &Converted) -> Result<Problem, Failure> {
    let tables = |_: &str| Err("a robot has no tables".to_string());
    let read = Problem::read(name, &made.text, &tables).and_then(|problem| problem.model().map(|_| problem));
    read.map_err(|error| {
        let place = error.place.map_or(String::new(), |place| format!("\n{place}"));
        Failure::Model(format!("{name}, made into a model: {}{place}", error.reason))
    })
}

/// `polhode convert`.
pub fn command(options: &ConvertOptions) -> Result<(), Failure> {
    let (name, text) = pick::text(&options.robot)?;
    if !is_named(&options.robot) && !is_xml(&text) {
        let what = "it is no robot: URDF and MJCF are XML; model files need no conversion";
        return Err(Failure::Usage(format!("cannot convert {name}: {what}")));
    }
    let made = converted(&name, &text, options.floating_base)?;
    checked(&name, &made)?;
    match &options.file {
        Some(path) if path.as_os_str() != "-" => {
            files::write_new(path, &made.text, "give another name")?;
            let [bodies, joints] = [(made.bodies, "body"), (made.joints, "joint")]
                .map(|(n, noun)| print::count(n as u64, noun).replace("bodys", "bodies"));
            let shown = path.display();
            print::result(&format!("{shown} is written: {bodies}, {joints}; run it: polhode run {shown}\n"))?;
        }
        _ => print::result(&made.text)?,
    }
    for note in &made.notes {
        print::note(&format!("note: {note}"));
    }
    Ok(())
}
