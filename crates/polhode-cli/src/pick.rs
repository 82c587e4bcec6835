//! From the words of the command line to problems and methods of the library.

use crate::data::Table;
use crate::failure::Failure;
use crate::{files, host, list, robot};
use polhode::method::{Method, REGISTRY, SYSTEMS, Tableau, TableauError};
use polhode::model::TableFile;
use polhode::multibody::SimulationError;
use polhode::problem::{Model, Problem};
use polhode::run::Plan;
use polhode::solve::StepError;
use serde::Deserialize;
use std::cell::Cell;
use std::path::Path;

/// Data that replace each other: the later one would win without a word.
const EITHER: [[&str; 2]; 1] = [["omega_body", "momentum_body"]];

/// More than any model needs, in bytes.
const LARGEST_MODEL: u64 = 256 << 20;

/// True if a word on the command line is a model file: it ends in .toml or as robots do, is - for standard input, or is a
/// path.
fn is_file(word: &str) -> bool {
    word == "-"
        || word.to_lowercase().ends_with(".toml")
        || robot::is_named(word)
        || word.contains('/')
        || word.contains('\\')
}

/// A model of the catalogue, or of a file; `-` is standard input.
pub fn model(word: &str) -> Result<Problem, Failure> {
    if let Some(problem) = host::given(word) {
        return Ok(problem);
    }
    if !is_file(word) {
        return match (Problem::named(word), Path::new(word).is_file()) {
            (Ok(problem), _) => Ok(problem),
            (Err(_), true) => read_model(word),
            (Err(error), false) => Err(Failure::Usage(format!(
                "{error}; a model file is given as FILE.toml, FILE.urdf or FILE.xml"
            ))),
        };
    }
    read_model(word)
}

/// The text of a model file, with its name for messages.
pub fn text(word: &str) -> Result<(String, String), Failure> {
    let (name, bytes) = match word {
        "-" => ("standard input", files::read_standard("model", LARGEST_MODEL)?),
        _ => (word, files::read(Path::new(word), "model", LARGEST_MODEL)?),
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Usage(format!("cannot read the model {name}: it is not text in UTF-8")))?;
    Ok((name.into(), text))
}

fn read_model(word: &str) -> Result<Problem, Failure> {
    read_model_and_sum(word).map(|(problem, _)| problem)
}

fn read_model_and_sum(word: &str) -> Result<(Problem, u64), Failure> {
    let (name, text) = text(word)?;
    if robot::is_named(word) || robot::is_xml(&text) {
        return robot::problem(&name, &text).map(|problem| (problem, files::EMPTY));
    }
    let folder = match word {
        "-" => Path::new(""),
        _ => Path::new(word).parent().unwrap_or(Path::new("")),
    };
    read_text(&name, &text, folder)
}

/// The model of a text, with a number that tells the tables which it reads from others.
pub fn read_text(name: &str, text: &str, folder: &Path) -> Result<(Problem, u64), Failure> {
    let sum = Cell::new(files::EMPTY);
    let load = |path: &str| {
        let table = Table::read(&folder.join(path)).map_err(|error| error.to_string())?;
        let cells = table.rows.iter().flat_map(|(_, cells)| cells).chain(&table.header);
        sum.set(cells.fold(sum.get(), |sum, cell| files::sum(&[0], files::sum(cell.as_bytes(), sum))));
        let row = |(line, cells): &(usize, Vec<String>)| {
            (*line, cells.iter().map(|cell| table.number(cell).unwrap_or(f64::NAN)).collect())
        };
        Ok(TableFile { rows: table.rows.iter().map(row).collect(), header: table.header.clone() })
    };
    let mut problem = Problem::read(name, text, &load)?;
    problem.method = beside(&problem.method, folder);
    Ok((problem, sum.get()))
}

/// The method of a model, with a tableau in a file where that lies: beside the model.
fn beside(method: &str, folder: &Path) -> String {
    match method.split_once("mkrk:").filter(|(_, rest)| rest.to_lowercase().contains(".toml")) {
        Some((before, path)) => format!("{before}mkrk:{}", folder.join(path).display()),
        None => method.into(),
    }
}

/// The problem with its overrides.
pub fn problem(id: &str, overrides: &[String]) -> Result<Problem, Failure> {
    overridden(model(id)?, overrides)
}

/// The same, with a number that tells the tables which it reads from others.
pub fn problem_and_sum(id: &str, overrides: &[String]) -> Result<(Problem, u64), Failure> {
    let (problem, sum) = match is_file(id) || (Problem::named(id).is_err() && Path::new(id).is_file()) {
        true => read_model_and_sum(id)?,
        false => (model(id)?, files::EMPTY),
    };
    Ok((overridden(problem, overrides)?, sum))
}

/// A problem with overrides.
pub fn overridden(mut problem: Problem, overrides: &[String]) -> Result<Problem, Failure> {
    for text in overrides {
        let Some((name, value)) = text.split_once('=') else {
            let names: Vec<&str> = problem.data().iter().map(|d| d.name.as_str()).collect();
            return Err(Failure::Usage(format!(
                "--set is written NAME=VALUE, as in --set inertia=1,2,2.5; got '{text}' ({} has {})",
                problem.id,
                names.join(", ")
            )));
        };
        problem.set(name.trim(), value)?;
    }
    let set = |name: &str| overrides.iter().any(|text| text.split('=').next().unwrap_or("").trim() == name);
    if let Some([one, other]) = EITHER.iter().find(|pair| pair.iter().all(|name| set(name))) {
        return Err(Failure::Usage(format!(
            "--set has both {one} and {other}, which say the same thing in two ways; leave one of them out"
        )));
    }
    Ok(problem)
}

/// The steps of a run: as asked for, or as the model says.
pub fn plan(problem: &Problem, step: Option<f64>, until: Option<f64>) -> Result<Plan, Failure> {
    let step = step.map_or_else(|| self::step(problem), Ok)?;
    let until = until.map_or_else(|| said(problem, problem.until, "until", "--until T"), Ok)?;
    Ok(Plan::new(step, until)?)
}

/// The step that a model says.
pub fn step(problem: &Problem) -> Result<f64, Failure> {
    said(problem, problem.step, "step", "--step H")
}

/// A number for runs of a model that need not say it.
fn said(problem: &Problem, number: f64, what: &str, option: &str) -> Result<f64, Failure> {
    match number.is_nan() {
        false => Ok(number),
        true => Err(Failure::Usage(format!(
            "{} says no {what} for a run: give {option}, or `{what}` under [run] in the file",
            problem.id
        ))),
    }
}

/// Refuses a model whose runs end at an event, for a command that needs them whole.
pub fn unstopped(model: &Model, command: &str) -> Result<(), Failure> {
    match model.events().into_iter().find(|event| event.stop) {
        None => Ok(()),
        Some(event) => Err(Failure::Usage(format!(
            "the event '{}' of the model stops its runs, and {command} needs runs up to a given time; take `stop` out, or see \
             where it stops with `polhode run`",
            event.name
        ))),
    }
}

/// Refuses a run beyond the tables of its loads.
pub fn covers(model: &Model, until: f64) -> Result<(), Failure> {
    model.beyond_tables(until).map_or(Ok(()), |error| Err(error.into()))
}

/// Ids from a list that was cut at every comma: what is an option goes back to the method before it.
pub fn ids(list: &[String]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let word =
        |text: &str| REGISTRY.iter().chain(SYSTEMS).flat_map(|r| r.options).any(|c| c.words.contains(&text));
    for text in list.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        match ids.last_mut() {
            // The order of a composition may follow: `mean:4`.
            Some(id) if text.contains('=') || word(text.split(':').next().unwrap_or(text)) => {
                id.push(',');
                id.push_str(text);
            }
            _ => ids.push(text.into()),
        }
    }
    ids
}

/// The methods of a list of ids, each once; those of the other list where it is empty. `all` are those that suit the model.
pub fn methods(
    problem: &Problem,
    model: &Model,
    list: &[String],
    otherwise: &[&str],
) -> Result<Vec<Method>, Failure> {
    let mut methods: Vec<Method> = Vec::new();
    for id in ids(list) {
        match id.as_str() {
            "all" => {
                methods.extend(list::registered()?.into_iter().filter(|method| suits(model, method).is_ok()))
            }
            id => methods.push(method(id)?),
        }
    }
    if methods.is_empty() {
        methods = otherwise.iter().map(|id| method(id)).collect::<Result<_, _>>()?;
    }
    let mut seen = Vec::new();
    methods.retain(|m| {
        let new = !seen.contains(&m.id().to_string());
        seen.push(m.id().to_string());
        new
    });
    let given = |method: &Method| !list.is_empty() || method.id() != problem.method;
    methods.iter().try_for_each(|method| suits_as_asked(problem, model, method, given(method)))?;
    Ok(methods)
}

/// A kinematic method runs where a motion is prescribed, and nowhere else; one for systems runs everything, and it alone
/// runs systems of several bodies or joints.
pub fn suits(model: &Model, method: &Method) -> Result<(), Failure> {
    if method.is_kinematic() && !model.follows_motion() {
        return Err(Failure::Usage(format!("{}: {}", method.id(), StepError::NoMotion)));
    }
    match (model.group(), method.system()) {
        ("system", None) => {
            Err(Failure::Usage(SimulationError::Method { id: method.id().into() }.to_string()))
        }
        _ => Ok(()),
    }
}

/// The same of a method that was given, or that the file asks for: then it is told there.
pub fn suits_as_asked(problem: &Problem, model: &Model, method: &Method, given: bool) -> Result<(), Failure> {
    suits(model, method).map_err(|failure| match problem.unsuited(failure.to_string()) {
        Some(error) if !given => error.into(),
        _ => failure,
    })
}

/// The method with this id, where `mkrk:FILE.toml` reads its tableau from a file.
pub fn method(id: &str) -> Result<Method, Failure> {
    if let Some((inner, order)) = id.strip_prefix("compose:").and_then(|rest| rest.rsplit_once(':'))
        && inner.to_lowercase().ends_with(".toml")
        && let Ok(order) = order.parse()
    {
        return Ok(method(inner)?.composed(order)?);
    }
    let file = id.strip_prefix("mkrk:").filter(|rest| rest.to_lowercase().ends_with(".toml"));
    match file {
        Some(path) => tableau(path).map(|tableau| Method::from_tableau(id, tableau)),
        None => Ok(Method::parse(id)?),
    }
}

/// A tableau file: the rows of A, the weights b and, if wanted as a check, the nodes c.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableauFile {
    a: Vec<Vec<Entry>>,
    b: Vec<Entry>,
    c: Option<Vec<Entry>>,
}

/// A number, or a fraction written as text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "an entry must be a number, or a fraction in quotes")]
enum Entry {
    Integer(i64),
    Number(f64),
    Text(String),
}

impl Entry {
    fn value(&self) -> Result<f64, TableauError> {
        match self {
            Self::Integer(n) => Ok(*n as f64),
            Self::Number(x) => Ok(*x),
            Self::Text(text) => Tableau::entry(text),
        }
    }
}

fn row(entries: &[Entry]) -> Result<Vec<f64>, TableauError> {
    entries.iter().map(Entry::value).collect()
}

/// More than any tableau needs, in bytes.
const LARGEST_TABLEAU: u64 = 1 << 20;

fn tableau(path: &str) -> Result<Tableau, Failure> {
    let bytes = files::read(Path::new(path), "tableau", LARGEST_TABLEAU)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::Usage(format!("{path}: not a tableau: it is not text; a TOML file is needed"))
    })?;
    tableau_of(path, &text)
}

/// The tableau of a text in TOML; `path` is its name in messages.
pub fn tableau_of(path: &str, text: &str) -> Result<Tableau, Failure> {
    let file: TableauFile = toml::from_str(text).map_err(|error| {
        // The message alone: its quotation of the file spans lines.
        let line =
            error.span().and_then(|s| text.get(..s.start)).map(|before| before.matches('\n').count() + 1);
        let place = line.map_or(String::new(), |n| format!(", line {n}"));
        let how = "it needs a = [[...], ...] and b = [...], and may have c = [...]";
        Failure::Usage(format!("{path}{place}: not a tableau: {}; {how}", error.message().replace('\n', " ")))
    })?;
    let read = || {
        let a = file.a.iter().map(|r| row(r)).collect::<Result<Vec<_>, _>>()?;
        let tableau = Tableau::new(path, &a, &row(&file.b)?)?;
        match &file.c {
            Some(c) => tableau.with_nodes(&row(c)?),
            None => Ok(tableau),
        }
    };
    read().map_err(|error| Failure::Usage(format!("{path}: {error}")))
}
