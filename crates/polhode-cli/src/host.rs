//! The commands inside another program, as the Python package runs them: the model is at hand, the result is a value, notes
//! are collected, and the host is asked whether to stop.
//!
//! A command stays on the thread that it was called on, and so does all that it says.

use crate::args::Arguments;
use crate::failure::Failure;
use crate::{command, error_control, pick, robot, usage};
use clap::Parser;
use polhode::method::Method;
use polhode::problem::{Model, ModelError, Problem};
use polhode::run::Event;
use serde_json::Value;
use std::cell::RefCell;
use std::path::Path;

/// The word on the command line that stands for the model at hand.
pub const MODEL: &str = "-";

/// Who called, and what was said so far.
struct Host {
    problem: Option<Problem>,
    events: Vec<Event>,
    stop: Box<dyn FnMut() -> bool>,
    notes: Vec<String>,
}

thread_local! {
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
}

/// What a command has come to.
#[derive(Debug)]
pub struct Answer {
    /// Its result, as `--json` prints it.
    pub result: Result<Option<Value>, Refusal>,
    /// Notes and warnings.
    pub notes: Vec<String>,
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub struct Refusal {
    /// In one word, as `kind` of `--json` has it.
    pub kind: &'static str,
    /// In sentences.
    pub message: String,
    /// The mistake in the model, where there is one at a known place.
    pub mistake: Option<Box<ModelError>>,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let json = failure.json();
        let message = json["message"].as_str().unwrap_or_default().to_string();
        let kind = failure.kind();
        let mistake = if let Failure::Mistake(mistake) = failure { Some(mistake) } else { None };
        Refusal { kind, message, mistake }
    }
}

/// Does something inside the host program, with all the notes that came of it.
fn hosted<T>(
    problem: Option<Problem>,
    events: Vec<Event>,
    stop: Box<dyn FnMut() -> bool>,
    work: impl FnOnce() -> Result<T, Failure>,
) -> (Result<T, Refusal>, Vec<String>) {
    HOST.set(Some(Host { problem, events, stop, notes: Vec::new() }));
    let done = work().map_err(Refusal::from);
    (done, HOST.take().map(|host| host.notes).unwrap_or_default())
}

/// Nobody wants to stop what is quick.
fn never() -> Box<dyn FnMut() -> bool> {
    Box::new(|| false)
}

/// Runs a command: the words behind `polhode`, with `-` for the model. A run looks for these events too. The host is asked
/// often whether to stop.
pub fn answer(
    words: &[String],
    problem: Option<Problem>,
    events: Vec<Event>,
    stop: Box<dyn FnMut() -> bool>,
) -> Answer {
    let words = ["polhode"].into_iter().chain(words.iter().map(String::as_str));
    let (done, notes) = hosted(problem, events, stop, || match Arguments::try_parse_from(words) {
        Ok(arguments) => command(arguments.command),
        Err(error) => usage::answer(error),
    });
    let result = crate::print::kept_json();
    Answer { result: done.map(|()| result), notes }
}

/// A model by its id in the catalogue or by the name of its file, with notes.
pub fn model(word: &str) -> (Result<Problem, Refusal>, Vec<String>) {
    hosted(None, Vec::new(), never(), || match word {
        MODEL => Err(Failure::Usage("a model is an id, the name of a file, or a text".into())),
        _ => pick::model(word),
    })
}

/// A model from its text; tables that it asks for are looked for in a folder.
pub fn model_of_text(name: &str, text: &str, folder: &Path) -> (Result<Problem, Refusal>, Vec<String>) {
    hosted(None, Vec::new(), never(), || match robot::is_xml(text) {
        true => robot::problem(name, text),
        false => pick::read_text(name, text, folder).map(|(problem, _)| problem),
    })
}

/// A method by its id, if it suits the model and what loads know of goes on to the time.
pub fn method(model: &Model, id: &str, until: f64) -> Result<Method, Refusal> {
    let method = pick::method(id)?;
    pick::covers(model, until)?;
    pick::suits(model, &method)?;
    Ok(method)
}

/// The step with which the error along a run is at most this, searched for so many seconds.
pub fn step_for_error(
    model: &Model,
    method: &Method,
    until: f64,
    error: f64,
    budget: f64,
    stop: Box<dyn FnMut() -> bool>,
) -> Result<f64, Refusal> {
    let (found, _) =
        hosted(None, Vec::new(), stop, || error_control::step(model, method, until, error, budget));
    Ok(found?.found.step)
}

/// True inside another program.
pub(crate) fn is_there() -> bool {
    HOST.with_borrow(Option::is_some)
}

/// The model at hand, if there is one and the word stands for it.
pub(crate) fn given(word: &str) -> Option<Problem> {
    HOST.with_borrow(|host| host.as_ref().filter(|_| word == MODEL)?.problem.clone())
}

/// The host's own events, for the run that asks first.
pub(crate) fn events() -> Vec<Event> {
    HOST.with_borrow_mut(|host| {
        host.as_mut().map(|host| core::mem::take(&mut host.events)).unwrap_or_default()
    })
}

/// Passes a note to the host program; false if the program runs by itself.
pub(crate) fn note(text: &str) -> bool {
    HOST.with_borrow_mut(|host| host.as_mut().map(|host| host.notes.push(text.into())).is_some())
}

/// True if the host wants to stop.
pub(crate) fn wants_to_stop() -> bool {
    HOST.with_borrow_mut(|host| host.as_mut().is_some_and(|host| (host.stop)()))
}
