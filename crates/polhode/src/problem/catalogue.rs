//! The problems: model files that come with the library, and those of one's own.
//!
//! Sources: Krysl 2006, section 5; Bauchau et al. 2013, section 5; Krenk & Nielsen 2013, section 5; Brüls & Eberhard 2008,
//! section 6; data in correct reading.

use super::elements::Assigned;
use super::model::ModelError;
use crate::body::{Loads, Own};
use crate::lookup::nearest;
use crate::model::{Built, DataError, Datum, Fault, Loader, ModelFile, Outputs, set, unknown};
use crate::multibody::{Dual1, Reduction, System, SystemParameter};
use crate::scalar::Scalar;
use core::fmt;
use std::sync::Arc;

/// A model with its parameters as they are set, and what a run of it takes if nothing else is said.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The id, or the name of the file.
    pub id: String,
    /// One line of what it is.
    pub title: String,
    /// Where it comes from.
    pub citation: String,
    /// The default method of a run.
    pub method: String,
    /// The default step of a run; not a number if the model has none.
    pub step: f64,
    /// The default end time of a run; not a number if the model has none.
    pub until: f64,
    /// Every how many steps a file has a row, if the model says so.
    pub every: Option<u64>,
    file: Arc<ModelFile>,
    /// True if it comes with the library.
    built_in: bool,
    data: Vec<Datum>,
    /// Numbers of elements that were set.
    assigned: Vec<Assigned>,
    /// Loads of one's own, with the names of their bodies.
    added: Vec<(String, Own<f64>)>,
}

/// No problem has this id.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemError {
    /// The id asked for.
    pub id: String,
    /// Ids that look like it.
    pub near: Vec<String>,
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no problem is called '{}'", self.id)?;
        match self.near.as_slice() {
            [] => write!(f, "; `polhode problems` lists them all"),
            near => write!(f, "; did you mean {}?", near.join(" or ")),
        }
    }
}

impl std::error::Error for ProblemError {}

macro_rules! catalogue {
    ($($id:literal),* $(,)?) => {
        /// The files of the catalogue, by id.
        const FILES: &[(&str, &str)] = &[$(($id, include_str!(concat!("../../models/", $id, ".toml")))),*];
    };
}
catalogue!(
    "free-rotation",
    "flying-brick",
    "slow-top",
    "fast-top",
    "spinning-top",
    "steady-precession",
    "soft-wall",
    "soft-wall-attractive",
    "stiff-spring",
    "driven-body",
    "free-body",
    "prescribed-motion",
    "prescribed-rotation",
    "heavy-top",
    "simple-pendulum",
    "double-pendulum",
    "chain",
    "four-bar",
    "slider-crank",
    "gyroscope",
);

impl Problem {
    /// Every problem of the catalogue, with its own data.
    pub fn all() -> Vec<Problem> {
        FILES.iter().filter_map(|(id, _)| Problem::named(id).ok()).collect()
    }
    /// The ids of the catalogue.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(id, _)| *id)
    }

    /// The problem of the catalogue with this id.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let mut problem = Problem::named("fast-top")?;
    /// problem.set("mgl", "10")?;
    /// assert_eq!(problem.data().last().map(|d| d.values[0]), Some(10.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named(id: &str) -> Result<Problem, ProblemError> {
        let found = FILES.iter().find(|(known, _)| *known == id);
        let made = found.and_then(|(_, text)| {
            let file = ModelFile::read(id, text, &|_| Err("the catalogue has no tables".into())).ok()?;
            Problem::of(file, true).ok()
        });
        made.ok_or_else(|| ProblemError { id: id.into(), near: nearest(id, Problem::ids()) })
    }

    /// A model of one's own. It asks for no files.
    pub fn from_text(name: &str, text: &str) -> Result<Problem, ModelError> {
        Problem::read(name, text, &|path| Err(format!("{path}: files cannot be read from here")))
    }
    /// The same, with what reads the tables that it asks for.
    pub fn read(name: &str, text: &str, load: &Loader<'_>) -> Result<Problem, ModelError> {
        let file = ModelFile::read(name, text, load).map_err(|error| ModelError {
            problem: error.file,
            datum: "data".into(),
            reason: error.message,
            place: Some(Box::new(error.place)),
        })?;
        Problem::of(file, false)
    }
    fn of(file: ModelFile, built_in: bool) -> Result<Problem, ModelError> {
        let mut data = file.data();
        let refreshed = file.refresh(&mut data);
        let defaults = file.run.clone();
        let mut problem = Problem {
            id: file.name().into(),
            title: file.title.clone(),
            citation: file.source.clone(),
            method: defaults.method.clone().unwrap_or_default(),
            step: defaults.step.unwrap_or(f64::NAN),
            until: defaults.until.unwrap_or(f64::NAN),
            every: defaults.every,
            file: Arc::new(file),
            built_in,
            data,
            assigned: Vec::new(),
            added: Vec::new(),
        };
        refreshed.map_err(|fault| problem.refused(fault))?;
        let file = problem.file.clone();
        for (name, text, span) in &file.set {
            let done = problem.set(name, text);
            done.map_err(|error| problem.refused(Fault::new(span, error.to_string()).of(name)))?;
        }
        if defaults.method.is_none() {
            // A method that keeps what one body keeps, or one for systems.
            let reduction = problem.system(&|_| 0.0)?.reduction();
            problem.method = match reduction {
                Some(Reduction::Rotation(_) | Reduction::Motion(_)) => "akw".into(),
                None => "geometric-alpha".into(),
            };
        }
        Ok(problem)
    }
    /// Its id, and what it is.
    pub fn heading(&self) -> String {
        match self.title.is_empty() {
            true => self.id.clone(),
            false => format!("{}, {}", self.id, self.title),
        }
    }
    /// The file that it is made of.
    pub fn file(&self) -> &ModelFile {
        &self.file
    }
    pub(super) fn shared_file(&self) -> &Arc<ModelFile> {
        &self.file
    }
    /// A fault told of the problem: of the catalogue by its parameter, of a file by its place.
    pub(super) fn refused(&self, fault: Fault) -> ModelError {
        ModelError {
            problem: self.id.clone(),
            place: (!self.built_in).then(|| Box::new(self.file.place(&fault))),
            datum: fault.subject.unwrap_or_else(|| "data".into()),
            reason: fault.message,
        }
    }
    /// The method that the file asks for does not suit the model: told at its key, if the file has it.
    pub fn unsuited(&self, reason: String) -> Option<ModelError> {
        let place = self.file.run.method_place.as_ref()?;
        Some(self.refused(Fault::new(place, reason).of("method")))
    }
    /// Why the model is wrong as a whole.
    pub(super) fn wrong(&self, reason: String) -> ModelError {
        ModelError { problem: self.id.clone(), datum: "data".into(), reason, place: None }
    }

    /// The parameters, as they are set.
    pub fn data(&self) -> &[Datum] {
        &self.data
    }

    /// Overrides one parameter from text, or a number of an element by its path, as in `top.mass`. An initial momentum
    /// replaces the initial angular velocity and the other way round.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), DataError> {
        if set(&mut self.data, name, text)? {
            self.refresh();
            return Ok(());
        }
        if self.assign(name, text)? {
            return Ok(());
        }
        let elements = self.element_names();
        let data = self.data.iter().map(|datum| datum.name.as_str());
        Err(unknown(&self.id, name, data, elements.iter().map(String::as_str)))
    }
    pub(super) fn assigned_mut(&mut self) -> &mut Vec<Assigned> {
        &mut self.assigned
    }
    pub(super) fn data_mut(&mut self) -> &mut [Datum] {
        &mut self.data
    }
    /// Values of parameters that follow from others; where there are none, making the model says why.
    pub(super) fn refresh(&mut self) {
        let _ = self.file.refresh(&mut self.data);
    }

    /// The system with a change of each parameter (by its number in [`Problem::parameters`]) added to its value. Initial
    /// values follow the changes.
    pub fn system(&self, change: &dyn Fn(usize) -> f64) -> Result<System<f64>, ModelError> {
        Ok(self.built(change, &[])?.system)
    }
    /// The same with changes that carry a derivative; the values are checked.
    ///
    /// ```
    /// use polhode::{problem::Problem, scalar::Dual};
    /// let linkage = Problem::named("four-bar")?;
    /// let crank = linkage.find_parameters(&["crank"])?[0];
    /// // Where the bodies are at the start, and how that depends on the length of the crank.
    /// let change = |i| Dual::<f64, 1> { re: 0.0, eps: [if i == crank { 1.0 } else { 0.0 }] };
    /// let position = linkage.system_with_slopes(&change)?.bodies()[0].position;
    /// assert!((position.y.re - 0.15).abs() < 1e-15 && (position.y.eps[0] - 0.5).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn system_with_slopes(&self, change: &dyn Fn(usize) -> Dual1) -> Result<System<Dual1>, ModelError> {
        Ok(self.built(change, &[])?.system)
    }
    /// The same with changes of numbers of elements too, and with all that belongs to it.
    pub(crate) fn built<S: Scalar>(
        &self,
        change: &dyn Fn(usize) -> S,
        elements: &[(&SystemParameter, S)],
    ) -> Result<Built<S>, ModelError> {
        let assigned: Vec<(&SystemParameter, f64)> =
            self.assigned.iter().map(|assigned| (&assigned.parameter, assigned.value)).collect();
        let built = self.file.build(&self.data, change, &assigned, elements);
        let mut built = built.map_err(|fault| self.refused(fault))?;
        for (name, load) in &self.added {
            let b = built.system.index(name);
            let body = b.and_then(|b| built.system.bodies_mut().get_mut(b));
            let body = body.ok_or_else(|| {
                self.wrong(format!("a load asks for the body '{name}', which is not there"))
            })?;
            body.loads = core::mem::replace(&mut body.loads, Loads::none()).with(load.constant());
        }
        Ok(built)
    }
    /// Adds a load of one's own to a body, beside those of the file.
    ///
    /// ```
    /// use nalgebra::Matrix3;
    /// use polhode::body::{Kinematics, Own, Sampled, Wrench, WrenchSlopes};
    /// use polhode::{method::Method, problem::Problem, run::Plan};
    ///
    /// /// A moment against the motion, as somebody measured it.
    /// #[derive(Debug)]
    /// struct Brake;
    /// impl Sampled for Brake {
    ///     fn wrench(&self, at: &Kinematics<f64>) -> Wrench<f64> {
    ///         Wrench::moment(-at.omega_body)
    ///     }
    ///     fn slopes(&self, _: &Kinematics<f64>) -> WrenchSlopes {
    ///         let (zero, brake) = (Matrix3::zeros(), -Matrix3::identity());
    ///         WrenchSlopes { force: [zero; 4], moment: [zero, zero, zero, brake] }
    ///     }
    /// }
    /// let text = "[bodies.rotor]\nmass = 1\ninertia = [1, 1, 1]\nomega_body = [0, 0, 1]";
    /// let mut rotor = Problem::from_text("rotor", text)?;
    /// rotor.add_load("rotor", Own::sampled(Brake));
    /// let end = rotor.model()?.run(&Method::parse("akw")?, &Plan::new(1e-3, 1.0)?, &mut |_, _| {
    ///     core::ops::ControlFlow::Continue(())
    /// })?;
    /// assert!((end.last.bodies[0].omega_body.z - (-1.0f64).exp()).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_load(&mut self, body: &str, load: Own<f64>) {
        self.added.push((body.into(), load));
    }
    /// The outputs of what was built.
    pub(crate) fn outputs<S: Scalar>(&self, built: &Built<S>) -> Result<Outputs<S>, ModelError> {
        self.file.outputs(&built.system, &built.values).map_err(|fault| self.refused(fault))
    }
}
