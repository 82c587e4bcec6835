//! Models as text: a TOML file with bodies, joints, forces, loads, where they start and how to run them.
//!
//! A [`ModelFile`] is a function of its parameters: every number may be an expression of them, and the system is built in any
//! scalar, so that derivatives and fits need nothing else. [`crate::problem::Problem`] runs it.
//!
//! ```
//! use polhode::problem::Problem;
//! let door = r#"
//! gravity = [0, -9.81, 0]
//! [parameters]
//! width = 0.8
//! [bodies.door]
//! shape = { box = ["width", 2, 0.04] }
//! mass = 20
//! position = ["width / 2", 1, 0]
//! omega_body = [0, 1, 0]
//! velocity = [0, 0, "-width / 2"]
//! [joints.hinge]
//! type = "revolute"
//! between = ["ground", "door"]
//! at = [0, 1, 0]
//! axis = [0, 1, 0]
//! [run]
//! method = "geometric-alpha"
//! step = 0.01
//! until = 1
//! "#;
//! let problem = Problem::from_text("door", door)?;
//! assert_eq!(problem.model()?.group(), "system");
//! // Mistakes are told where they stand.
//! let error = Problem::from_text("door", &door.replace("mass", "mas")).unwrap_err();
//! assert!(error.to_string().starts_with("door:7:1: [bodies.door] has no key 'mas'; did you mean mass?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attitude;
mod blame;
mod bodies;
mod build;
mod control;
mod data;
mod elements;
mod follow;
mod forces;
mod formulas;
pub mod keys;
mod loads;
mod names;
mod number;
mod outputs;
mod place;
mod read;
mod series;
mod shapes;
mod signals;
mod sweep;
mod table;
mod tree;

pub(crate) use build::Built;
pub use control::{Control, ControlError};
pub use data::{DataError, Datum};
pub(crate) use data::{DatumKind, entry_of, numbers, put, set, unknown};
pub(crate) use number::Values;
pub use outputs::{Outputs, WithOutputs};
pub(crate) use place::Fault;
pub use place::Place;
pub use series::{Loader, TableFile};
pub use shapes::Solid;
pub(crate) use signals::TAKEN;
pub use sweep::{Sweep, Varied};

use crate::expression::Expression;
use crate::multibody::System;
use crate::run::Direction;
use crate::scalar::Scalar;
use bodies::BodyDraft;
use core::fmt;
use elements::{FrameDraft, JointDraft};
use forces::{CoordinatesDraft, ForceDraft};
use loads::LoadDraft;
use number::{Name, Named, Number, Numbers, Parameter, Scope};
use outputs::{EventDraft, OutputDraft};
use place::Span;
use std::sync::Arc;

/// A model as its file has it.
#[derive(Clone, Debug)]
pub struct ModelFile {
    name: String,
    text: Arc<str>,
    /// One line of what it is.
    pub(crate) title: String,
    /// Where it comes from.
    pub(crate) source: String,
    pub(crate) run: RunDefaults,
    gravity: Option<Numbers>,
    parameters: Vec<Parameter>,
    definitions: Vec<(String, Number)>,
    checks: Vec<Check>,
    bodies: Vec<BodyDraft>,
    frames: Vec<FrameDraft>,
    joints: Vec<JointDraft>,
    forces: Vec<ForceDraft>,
    loads: Vec<LoadDraft>,
    coordinates: Vec<CoordinatesDraft>,
    outputs: Vec<OutputDraft>,
    output_names: Arc<[String]>,
    events: Vec<EventDraft>,
    /// What is set, as text, with its place.
    pub(crate) set: Vec<(String, String, Span)>,
    sweep: Option<Sweep>,
}

/// What a model file says of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventData {
    /// Its name.
    pub name: String,
    /// The expression that crosses zero.
    pub when: String,
    /// Which crossings count.
    pub direction: Direction,
    /// True if the run ends there.
    pub stop: bool,
}

/// How to run it, as far as the file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunDefaults {
    pub(crate) method: Option<String>,
    /// Where that stands.
    pub(crate) method_place: Option<Span>,
    pub(crate) step: Option<f64>,
    pub(crate) until: Option<f64>,
    pub(crate) every: Option<u64>,
}

/// A condition that parameters must meet.
#[derive(Clone, Debug)]
struct Check {
    that: (Expression, Vec<Name>),
    otherwise: String,
    /// The names in the message, and what they stand for.
    shown: Vec<(String, Name)>,
    of: Option<String>,
    span: Span,
}

/// What is wrong with a model, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFileError {
    /// The file.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column, .. } = self.place;
        write!(f, "{}:{line}:{column}: {}\n{}", self.file, self.message, self.place)
    }
}

impl std::error::Error for ModelFileError {}

impl ModelFile {
    /// Reads a model. Files beside it, tables of numbers, are asked of `load` by the path that the text has.
    pub fn read(name: &str, text: &str, load: &Loader<'_>) -> Result<ModelFile, ModelFileError> {
        read::read(name, text, load).map_err(|fault| ModelFileError {
            file: name.into(),
            place: Place::of(text, &fault.span),
            message: fault.message,
        })
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// What it says of many runs.
    pub fn sweep(&self) -> Option<&Sweep> {
        self.sweep.as_ref()
    }
    /// Something wrong with what it says of many runs, where that stands.
    pub fn sweep_error(&self, span: &core::ops::Range<usize>, message: &str) -> ModelFileError {
        let fault = Fault::new(span, message);
        ModelFileError { file: self.name.clone(), place: self.place(&fault), message: fault.message }
    }
    /// Where a fault lies.
    pub(crate) fn place(&self, fault: &Fault) -> Place {
        Place::of(&self.text, &fault.span)
    }
    /// Its parameters as they are in the file.
    pub(crate) fn data(&self) -> Vec<Datum> {
        self.parameters.iter().map(|parameter| parameter.datum.clone()).collect()
    }
    /// The values of its parameters now that some may be overridden.
    pub(crate) fn refresh(&self, data: &mut [Datum]) -> Result<(), Fault> {
        let (values, _) = number::evaluate::<f64>(&self.parameters, data, &[], &|_| 0.0)?;
        for (datum, given) in data.iter_mut().zip(values.parameters) {
            if !datum.overridden {
                datum.values = given.raw;
            }
        }
        Ok(())
    }
    fn named(&self) -> Vec<Named> {
        let of = |parameter: &Parameter| Named {
            name: parameter.datum.name.clone(),
            kind: parameter.datum.kind,
            count: parameter.numbers.len(),
        };
        self.parameters.iter().map(of).collect()
    }
    fn scope<'a>(&self, named: &'a [Named], definitions: &'a [String]) -> Scope<'a> {
        Scope {
            parameters: named,
            above: named.len(),
            definitions,
            definitions_above: definitions.len(),
            counter: false,
            hyphened: &[],
        }
    }
    /// The outputs of a system that was built of it.
    pub(crate) fn outputs<S: Scalar>(
        &self,
        system: &System<S>,
        values: &Values<S>,
    ) -> Result<Outputs<S>, Fault> {
        let named = self.named();
        let definitions: Vec<String> = self.definitions.iter().map(|(name, _)| name.clone()).collect();
        let scope = self.scope(&named, &definitions);
        Outputs::new(self.outputs.iter(), &self.output_names, system, values, &scope)
    }
    /// What its events look at.
    pub(crate) fn watched(&self, system: &System<f64>, values: &Values<f64>) -> Result<Outputs<f64>, Fault> {
        let named = self.named();
        let definitions: Vec<String> = self.definitions.iter().map(|(name, _)| name.clone()).collect();
        let scope = self.scope(&named, &definitions);
        let names = self.events.iter().map(|event| event.when.name.clone()).collect();
        Outputs::new(self.events.iter().map(|event| &event.when), &names, system, values, &scope)
    }
    /// Its events.
    pub(crate) fn events(&self) -> impl Iterator<Item = EventData> {
        self.events.iter().map(|event| EventData {
            name: event.when.name.clone(),
            when: event.when.formula.text.clone(),
            direction: event.direction,
            stop: event.stop,
        })
    }
    /// Something wrong with an event, by its number.
    pub(crate) fn event_fault(&self, event: usize, message: String) -> Fault {
        let span = self.events.get(event).map_or(0..0, |event| event.when.formula.span.clone());
        Fault::new(&span, message)
    }
    /// Something wrong with an output.
    pub(crate) fn output_fault(&self, name: &str, message: String) -> Fault {
        let span = self
            .outputs
            .iter()
            .find(|output| output.name == name)
            .map_or(0..0, |output| output.formula.span.clone());
        Fault::new(&span, message)
    }
    /// Why a run to this time asks for more than the tables have.
    pub(crate) fn beyond_tables(&self, until: f64) -> Option<Fault> {
        self.loads.iter().filter_map(LoadDraft::known_until).find_map(|(from, to, span)| {
            let slack = if to.is_finite() { 1e-9 * (to - from) } else { 0.0 };
            let outside = until > to + slack || until < from - slack;
            outside.then(|| {
                let [until, from, to] = [until, from, to].map(crate::lookup::plain);
                Fault::new(
                    span,
                    format!(
                        "the run goes to t = {until}, and the table of this load is from t = {from} to {to}"
                    ),
                )
            })
        })
    }
}
