//! `polhode check`: what a model says, without running it.

use crate::args::CheckOptions;
use crate::failure::Failure;
use crate::print::{self, Align, plain, table};
use crate::run::degrees;
use crate::{list, pick, sweep};
use polhode::multibody::{GROUND, System};
use polhode::problem::{EventData, Model, Problem};
use polhode::run::Direction;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What was understood, for programs.
#[derive(Serialize)]
struct Report<'a> {
    problem: &'a str,
    title: &'a str,
    group: &'static str,
    bodies: Map<String, Value>,
    joints: Map<String, Value>,
    forces: Map<String, Value>,
    degrees_of_freedom: usize,
    redundant_rows: usize,
    redundancies: Vec<Vec<String>>,
    methods: Vec<String>,
    reference: &'static str,
    parameters: Vec<&'a str>,
    elements: &'a [String],
    outputs: Vec<String>,
    events: Map<String, Value>,
    method: &'a str,
    step: Option<f64>,
    until: Option<f64>,
    sweep: Value,
}

/// The principal moments of a body, ascending.
fn moments(system: &System<f64>, b: usize) -> [f64; 3] {
    let mut moments: [f64; 3] = system.bodies()[b].inertia.matrix().symmetric_eigenvalues().into();
    moments.sort_by(f64::total_cmp);
    moments
}

/// Checks a model and says what it is.
pub fn command(options: &CheckOptions) -> Result<(), Failure> {
    let problem = pick::problem(&options.problem, &options.set)?;
    let model = problem.model()?;
    let folder = std::path::Path::new(&options.problem).parent().unwrap_or(std::path::Path::new(""));
    // Programs get the names of all elements, of which there may be millions.
    let (elements, count) = problem.first_elements(&model, if options.json { usize::MAX } else { SHOWN });
    let names = [own_parameters(&problem), elements];
    let sweep = sweep::described(&problem, folder)?;
    let report = Report { sweep, ..report(&problem, &model, &names, options.json)? };
    match options.json {
        true => print::json(&report),
        false => print::result(&text(&problem, &model, &report, &names, count)),
    }
}

/// The names of its own parameters.
fn own_parameters(problem: &Problem) -> Vec<String> {
    problem.parameters().into_iter().map(|p| p.name).collect()
}

/// What there is to say, with the names of the parameters of the model and of its elements. What is said of each element is for
/// programs only.
fn report<'a>(
    problem: &'a Problem,
    model: &Model,
    names: &'a [Vec<String>; 2],
    for_programs: bool,
) -> Result<Report<'a>, Failure> {
    let system = model.system();
    let known_mass = |b: usize| system.has_known_mass(b);
    let body = |b: usize| {
        let body = &system.bodies()[b];
        let rows: [[f64; 3]; 3] = body.inertia.matrix().transpose().into();
        let value = json!({
            "mass": known_mass(b).then_some(body.mass),
            "center": body.center.as_slice(),
            "inertia": rows,
            "principal_moments": moments(system, b),
            "position": body.position.as_slice(),
            "q_wxyz": body.attitude.q_wxyz(),
        });
        (body.name.clone(), value)
    };
    let between = |ends: [Option<usize>; 2]| ends.map(|end| end.map_or(GROUND, |b| &system.bodies()[b].name));
    let joint = |(j, joint): (usize, &polhode::multibody::Joint<f64>)| {
        let (kind, rows) = system.joint_type(j)?;
        let value = json!({ "type": kind, "between": between(joint.bodies()), "rows": rows });
        joint.of.is_none().then(|| (joint.name.clone(), value))
    };
    let force = |force: &polhode::multibody::Force<f64>| {
        (force.name.clone(), json!({ "type": force.kind.name(), "between": between(force.bodies()) }))
    };
    let event = |event: EventData| {
        let value = json!({ "when": event.when, "direction": event.direction.name(), "stop": event.stop });
        (event.name, value)
    };
    let most = if for_programs { usize::MAX } else { 0 };
    let methods = list::registered()?
        .into_iter()
        .filter(|method| pick::suits(model, method).is_ok() && model.is_fit_for(method));
    Ok(Report {
        problem: &problem.id,
        title: &problem.title,
        group: model.group(),
        bodies: (0..system.bodies().len()).take(most).map(body).collect(),
        joints: system.joints().iter().enumerate().filter_map(joint).take(most).collect(),
        forces: system.forces().iter().take(most).map(force).collect(),
        degrees_of_freedom: model.degrees_of_freedom(),
        redundant_rows: model.redundancies().len(),
        redundancies: model.redundancies().to_vec(),
        methods: methods.map(|method| method.id().to_string()).collect(),
        reference: model.reference_kind(),
        parameters: names.iter().flatten().take(most).map(String::as_str).collect(),
        elements: &names[1],
        outputs: model.outputs().to_vec(),
        events: model.events().into_iter().map(event).collect(),
        method: &problem.method,
        step: Some(problem.step).filter(|x| !x.is_nan()),
        until: Some(problem.until).filter(|x| !x.is_nan()),
        sweep: Value::Null,
    })
}

/// The most bodies and joints that are shown.
const MANY: usize = 12;
/// The most names of a list that are shown.
const SHOWN: usize = 40;

/// The same in words; of the elements there are so many names.
fn text(
    problem: &Problem,
    model: &Model,
    report: &Report<'_>,
    [own, elements]: &[Vec<String>; 2],
    count: usize,
) -> String {
    let system = model.system();
    let group = match report.group {
        "so3" => "a body about a fixed point: every one-step method runs it, and those for systems",
        "se3" => "a free body: every one-step method runs it, and those for systems",
        _ => "a system of bodies: the methods for systems run it",
    };
    let say = |x: Option<f64>| x.map_or("not said".to_string(), |x| format!("{} s", plain(x)));
    let mut head = vec![vec!["model".into(), problem.id.clone()]];
    if !problem.title.is_empty() {
        head.push(vec![String::new(), problem.title.clone()]);
    }
    head.push(vec!["kind".into(), group.into()]);
    head.push(vec!["freedom".into(), degrees(report.degrees_of_freedom)]);
    head.push(vec!["reference".into(), report.reference.into()]);
    head.push(vec![
        "run".into(),
        format!("{}, step {}, until {}", problem.method, say(report.step), say(report.until)),
    ]);
    if let Some(vary) = report.sweep["vary"].as_object() {
        let runs = report.sweep["runs"].as_u64();
        let runs = runs.map_or("runs, how many is not said".to_string(), |n| print::count(n, "run"));
        let names: Vec<&str> = vary.keys().map(String::as_str).collect();
        head.push(vec!["sweep".into(), format!("{runs} with different {}", names.join(", "))]);
    }
    let mut text = table(0, &[Align::Left, Align::Left], &head);
    let short = |x: f64| {
        if x == 0.0 {
            "0".to_string()
        } else {
            format!("{x:.6}").parse::<f64>().map_or(plain(x), |y| {
                if y == 0.0 || (y - x).abs() > 1e-6 * x.abs() { format!("{x:.4e}") } else { plain(y) }
            })
        }
    };
    let numbers = |list: &[f64]| list.iter().map(|x| short(*x)).collect::<Vec<_>>().join(" ");
    let mut rows = vec![
        ["body", "mass, kg", "principal moments, kg m²", "centre of mass, m"].map(String::from).to_vec(),
    ];
    for (b, body) in system.bodies().iter().enumerate().take(MANY) {
        let mass = if system.has_known_mass(b) { short(body.mass) } else { "-".into() };
        rows.push(vec![
            body.name.clone(),
            mass,
            numbers(&moments(system, b)),
            numbers(body.center.as_slice()),
        ]);
    }
    text.push_str(&format!("\n{}", table(0, &[Align::Left; 4], &rows)));
    more(&mut text, system.bodies().len(), "bodies");
    if !system.joints().is_empty() {
        let mut rows = vec![["joint", "type", "between", "rows"].map(String::from).to_vec()];
        let joints = system.joints().iter().enumerate().filter(|(_, joint)| joint.of.is_none());
        for (j, joint) in joints.take(MANY) {
            let ends = joint.bodies().map(|end| end.map_or(GROUND, |b| &system.bodies()[b].name)).join(", ");
            let (kind, count) = system.joint_type(j).unwrap_or_default();
            rows.push(vec![joint.name.clone(), kind.into(), ends, count.to_string()]);
        }
        text.push_str(&format!("\n{}", table(0, &[Align::Left; 4], &rows)));
        more(&mut text, system.joints().len(), "joints");
        match model.redundancies() {
            [] => text.push_str("no motion is forbidden twice\n"),
            all => {
                let rows =
                    if all.len() == 1 { "1 row forbids" } else { &format!("{} rows forbid", all.len()) };
                text.push_str(&print::paragraph(
                    0,
                    &format!(
                        "{rows} what is forbidden already; single reactions of these joints are not determined by the \
                         model, and those of least norm are shown:"
                    ),
                ));
                for joints in all.iter().take(MANY) {
                    text.push_str(&print::paragraph(2, &joints.join(", ")));
                }
                more(&mut text, all.len(), "dependencies");
            }
        }
    }
    let events: Vec<Vec<String>> = model.events().into_iter().map(row).collect();
    if !events.is_empty() {
        text.push_str(&format!("\n{}", table(0, &[Align::Left; 4], &events)));
    }
    let mut names = |title: &str, list: &[String], count: usize| {
        if !list.is_empty() {
            let shown: Vec<&str> = list.iter().take(SHOWN).map(String::as_str).collect();
            let more = if count > shown.len() {
                format!(" and {} more (--json)", count - shown.len())
            } else {
                String::new()
            };
            text.push_str(&format!(
                "\n{title}\n{}",
                print::paragraph(2, &format!("{}{more}", shown.join(", ")))
            ));
        }
    };
    names("parameters, for --set, sensitivity and fit", own, own.len());
    names("numbers of elements, for --set, sensitivity and fit", elements, count);
    names("outputs", &report.outputs, report.outputs.len());
    names("methods that apply", &report.methods, report.methods.len());
    text
}

/// An event as a row of a table.
fn row(event: EventData) -> Vec<String> {
    let way = match event.direction {
        Direction::Both => String::new(),
        way => format!("going {}", way.name()),
    };
    let ends = if event.stop { "ends the run" } else { "" };
    vec![format!("event {}", event.name), format!("zero of {}", event.when), way, ends.into()]
}

fn more(text: &mut String, count: usize, what: &str) {
    if count > MANY {
        text.push_str(&format!("and {} more {what}\n", count - MANY));
    }
}
