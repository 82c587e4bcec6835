//! Exact derivatives of the discrete solution of a model with respect to its parameters, for every method.
//!
//! A [`Sensitivity`] is a problem or a system, parameters by name and a method. Its run is the plain run, to the bit, with the
//! derivatives of each step beside it: systems by direct differentiation ([`crate::multibody::Differentiated`]), single
//! bodies by the implicit function theorem on the equations of each method ([`crate::method::Derived`]). What is seen of a
//! step is a [`Snapshot`] with one derivative on each number, so that everything that can be read off a state has one;
//! that of a rotation R is given as W with R' = R W̃, in body axes ([`crate::group::Rotation::slope`]).
//!
//! ```
//! use core::ops::ControlFlow;
//! use polhode::{method::Method, problem::Problem, run::Plan, sensitivity::Sensitivity};
//! let top = Problem::named("heavy-top")?;
//! let sensitivity = Sensitivity::new(&top, &["mass"], &Method::parse("linear-alpha")?)?;
//! let mut by_mass = Vec::new();
//! sensitivity.run(&Plan::new(2e-3, 0.1)?, &mut |_, run| {
//!     let moving = run.derivative(0).and_then(|seen| seen.bodies[0].moving);
//!     by_mass = moving.iter().flat_map(|m| m.position.map(|x| x.eps[0]).data.0[0]).collect();
//!     ControlFlow::Continue(())
//! })?;
//! assert!((by_mass[2] - 6.330_888_131_072_681e-3).abs() < 1e-14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod functional;
mod runs;

pub use functional::Functional;

use crate::lookup::{Names, ParameterError, Role, find};
use crate::method::Method;
use crate::model::Outputs;
use crate::multibody::{DifferentiationError, IntoShared, System, SystemParameter};
use crate::problem::{ModelError, Problem};
use crate::run::{Column, Plan, Run, Snapshot, drive};
use crate::scalar::{Dual, Over, Scalar};
use crate::solve::StepError;
use core::fmt;
use core::ops::ControlFlow;
use std::sync::Arc;

pub use crate::multibody::{Dual1, Variant};

/// Why there are no derivatives.
#[derive(Clone, Debug, PartialEq)]
pub enum SensitivityError {
    /// Of parameters by name.
    Parameter(ParameterError),
    /// A changed problem is invalid.
    Model(ModelError),
    /// The system could not be differentiated.
    System(DifferentiationError),
    /// The method cannot take a step of this problem, or has no derivatives.
    Method(StepError),
}

impl fmt::Display for SensitivityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(error) => error.fmt(f),
            Self::Model(error) => error.fmt(f),
            Self::System(error) => error.fmt(f),
            Self::Method(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SensitivityError {}

macro_rules! from {
    ($($source:ident $kind:ident),*) => {
        $(impl From<$source> for SensitivityError {
            fn from(error: $source) -> Self {
                Self::$kind(error)
            }
        })*
    };
}
from!(ParameterError Parameter, ModelError Model, DifferentiationError System, StepError Method);

/// How a run with derivatives ended badly.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityFailure {
    /// Why.
    pub error: SensitivityError,
    /// The good steps before it.
    pub steps: u64,
}

impl fmt::Display for SensitivityFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (good steps before it: {})", self.error, self.steps)
    }
}

impl std::error::Error for SensitivityFailure {}

/// A run with the derivatives of all that it shows.
pub trait DerivedRun: Run {
    /// All of it with the derivative with respect to one parameter, by its number; nothing if there is no such parameter.
    fn derivative(&mut self, parameter: usize) -> Option<Snapshot<Dual1>>;
}

/// Sees each step by its number; may stop the run.
pub type Observer<'a> = crate::run::Observer<'a, dyn DerivedRun>;

/// A parameter: of the data of the problem, or of an element of its system.
#[derive(Clone, Debug)]
enum Item {
    Data(usize),
    Element(Box<SystemParameter>),
}

/// What is differentiated.
#[derive(Clone, Debug)]
enum Source {
    /// A problem, by its data and by the elements of its system.
    Problem(Box<Problem>),
    /// A system of one's own, by its elements.
    System(Arc<System<f64>>),
}

/// A model with parameters and a method.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    source: Source,
    method: Method,
    variant: Variant,
    /// All parameters that there are, and which of them were asked for.
    known: Arc<[Known]>,
    chosen: Vec<usize>,
    names: Vec<String>,
    values: Vec<f64>,
    scales: Vec<f64>,
    changes: Vec<f64>,
}

/// A parameter with its names, its value and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    item: Item,
    name: String,
    pub(crate) whole: String,
    pub(crate) value: f64,
    pub(crate) role: Role,
}

fn elements(list: Vec<SystemParameter>) -> impl Iterator<Item = Known> {
    list.into_iter().map(|element| Known {
        name: element.name.clone(),
        whole: element.whole().into(),
        value: element.value,
        role: element.role(),
        item: Item::Element(Box::new(element)),
    })
}

impl Sensitivity {
    /// Of a problem, with these parameters: names of data (all components of a vector by its name), as `polhode problems`
    /// lists them, or of elements of its system, as in `elbow.first_x`.
    pub fn new(problem: &Problem, names: &[&str], method: &Method) -> Result<Self, SensitivityError> {
        let model = problem.model()?;
        for name in names {
            let found = problem.find_parameters(&[name]);
            if let Err(error @ (ParameterError::NoDerivative { .. } | ParameterError::Unset { .. })) = found {
                return Err(error.into());
            }
        }
        let data = problem.parameters().into_iter().enumerate().map(|(i, parameter)| Known {
            item: Item::Data(i),
            name: parameter.name,
            whole: parameter.datum,
            value: parameter.value,
            role: parameter.role,
        });
        let known = data.chain(elements(problem.elements()?)).collect();
        Self::of(Source::Problem(Box::new(problem.clone())), model.system(), known, names, method)
    }
    /// Of a system of one's own, with these parameters of its elements, see [`System::parameters`].
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::multibody::{GROUND, JointKind, Rigid, System};
    /// use polhode::{method::Method, run::Plan, sensitivity::Sensitivity};
    ///
    /// let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    /// system.body("bob", Rigid::new(2.0, Matrix3::identity() * 0.1)?.at(Vector3::x(), Default::default()))?;
    /// system.frame("hook", "bob", -Vector3::x(), Default::default())?;
    /// system.joint("pivot", JointKind::Spherical, GROUND, "hook")?;
    /// // How far the bob has fallen, and how that depends on gravity: under a method for systems, and as a rotation.
    /// for method in ["geometric-alpha", "akw"] {
    ///     let sensitivity = Sensitivity::of_system(&system, &["gravity_z"], &Method::parse(method)?)?;
    ///     let mut slope = 0.0;
    ///     sensitivity.run(&Plan::new(1e-3, 0.1)?, &mut |_, run| {
    ///         slope = run.derivative(0).and_then(|seen| seen.bodies[0].moving).map_or(0.0, |moving| moving.position.z.eps[0]);
    ///         ControlFlow::Continue(())
    ///     })?;
    ///     // t²/2 of a point that falls freely, times m l²/(m l² + J).
    ///     assert!((slope - 0.005 * 2.0 / 2.1).abs() < 1e-5);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_system(
        system: impl IntoShared<f64>,
        names: &[&str],
        method: &Method,
    ) -> Result<Self, SensitivityError> {
        let system = system.into_shared();
        let known = elements(system.parameters()).collect();
        Self::of(Source::System(system.clone()), &system, known, names, method)
    }
    fn of(
        source: Source,
        system: &System<f64>,
        known: Vec<Known>,
        names: &[&str],
        method: &Method,
    ) -> Result<Self, SensitivityError> {
        if method.system().is_none() {
            if system.reduction().is_none() {
                return Err(StepError::NeedsSystem.into());
            }
            runs::check(method)?;
        }
        let owner = match &source {
            Source::Problem(problem) => problem.id.as_str(),
            Source::System(_) => "the system",
        };
        let all: Vec<Names<'_>> = known.iter().map(|p| Names { own: &p.name, whole: &p.whole }).collect();
        let found = find(owner, &all, names)?;
        let of = |f: &dyn Fn(&Known) -> f64| found.iter().map(|i| f(&known[*i])).collect::<Vec<f64>>();
        let beside = |own: &Known| {
            let alike = known.iter().filter(|other| other.whole == own.whole);
            alike.map(|other| other.value.abs()).collect::<Vec<f64>>()
        };
        Ok(Sensitivity {
            method: method.clone(),
            variant: Variant::Exact,
            names: found.iter().map(|i| known[*i].name.clone()).collect(),
            values: of(&|own| own.value),
            scales: of(&|own| scale(own.value, beside(own).into_iter())),
            changes: vec![0.0; found.len()],
            chosen: found,
            known: known.into(),
            source,
        })
    }
    /// The same, simplified for study.
    pub fn with_variant(self, variant: Variant) -> Self {
        Sensitivity { variant, ..self }
    }
    /// The same at changed parameters: each is its value plus the change; a rotation is followed by the turn.
    pub fn changed(&self, changes: &[f64]) -> Self {
        let change = |i: usize| changes.get(i).copied().unwrap_or(0.0);
        Sensitivity { changes: (0..self.chosen.len()).map(change).collect(), ..self.clone() }
    }
    /// The problem, if it is of one.
    pub fn problem(&self) -> Option<&Problem> {
        match &self.source {
            Source::Problem(problem) => Some(problem),
            Source::System(_) => None,
        }
    }
    /// The system, before any change.
    pub fn plain_system(&self) -> Result<System<f64>, ModelError> {
        match &self.source {
            Source::Problem(problem) => problem.system(&|_| 0.0),
            Source::System(system) => Ok(system.as_ref().clone()),
        }
    }
    /// The columns that its runs have.
    pub fn columns(&self) -> Result<Vec<Column>, SensitivityError> {
        Ok(self.begin(0)?.snapshot().columns())
    }
    /// The parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Known> {
        self.chosen.iter().filter_map(|i| self.known.get(*i))
    }
    /// All that there are.
    pub(crate) fn known(&self) -> &[Known] {
        &self.known
    }
    /// The names of the parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// Their values, before any change.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
    /// How large each is: its size, or, if it is next to nothing beside it, that of the largest component, or one.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The change of each datum of the problem, with the derivative with respect to one parameter.
    fn change<S: Scalar>(&self, datum: usize, number: &dyn Fn(usize, f64) -> S) -> S {
        let mine = self
            .parameters()
            .map(|p| &p.item)
            .enumerate()
            .filter(|(_, item)| matches!(item, Item::Data(i) if *i == datum));
        mine.fold(S::zero(), |sum, (k, _)| sum + number(k, self.changes[k]))
    }
    /// The system at the changed parameters, with the outputs that its model has.
    fn system<S: Scalar + Over<f64>>(
        &self,
        number: &dyn Fn(usize, f64) -> S,
    ) -> Result<(System<S>, Option<Outputs<S>>), SensitivityError> {
        let elements = self.parameters().map(|p| &p.item).enumerate().filter_map(|(k, item)| match item {
            Item::Element(parameter) => Some((&**parameter, number(k, self.changes[k]))),
            Item::Data(_) => None,
        });
        let elements: Vec<(&SystemParameter, S)> = elements.collect();
        match &self.source {
            Source::Problem(problem) => {
                let built = problem.built(&|datum| self.change(datum, number), &elements)?;
                let outputs = problem.outputs(&built)?;
                Ok((built.system, Some(outputs).filter(|outputs| !outputs.is_empty())))
            }
            Source::System(system) => {
                let mut system: System<S> = system.lift();
                elements.into_iter().for_each(|(parameter, change)| system.vary(parameter, change));
                Ok((system, None))
            }
        }
    }

    /// The end of the plain run at the changed parameters, with somebody who sees the number of every step; none if that
    /// one breaks off.
    pub fn end(
        &self,
        plan: &Plan,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Snapshot>, SensitivityFailure> {
        let mut last = None;
        self.observe(plan, 0, &mut |n, run| {
            let flow = watch(n);
            if n == plan.steps() && flow.is_continue() {
                last = Some(run.snapshot());
            }
            flow
        })?;
        Ok(last)
    }
    /// Runs it. The observer sees the start, every step and the end.
    pub fn run(&self, plan: &Plan, observer: &mut Observer<'_>) -> Result<(), SensitivityFailure> {
        self.observe(plan, self.chosen.len(), observer)
    }
    /// The same with the derivatives with respect to the first parameters alone; with none it is the plain run at the
    /// changed parameters.
    pub fn run_with(
        &self,
        parameters: usize,
        plan: &Plan,
        observer: &mut Observer<'_>,
    ) -> Result<(), SensitivityFailure> {
        self.observe(plan, parameters.min(self.chosen.len()), observer)
    }

    /// With the derivatives with respect to the first parameters. What is not finite at the end is an error.
    fn observe(
        &self,
        plan: &Plan,
        count: usize,
        observer: &mut Observer<'_>,
    ) -> Result<(), SensitivityFailure> {
        let mut run = self.begin(count).map_err(|error| SensitivityFailure { error, steps: 0 })?;
        let mut overflow = None;
        let ended = drive(&mut *run, plan, &mut |n, run| {
            if n == plan.steps() {
                overflow = self.overflow(run, count);
            }
            if overflow.is_some() { ControlFlow::Break(()) } else { observer(n, run) }
        });
        if let Some(quantity) = overflow {
            let error = StepError::Overflow { quantity, t: plan.until() };
            return Err(SensitivityFailure { error: error.into(), steps: plan.steps() });
        }
        match ended {
            Ok(_) => Ok(()),
            Err(failed) => {
                Err(SensitivityFailure { error: failed.error.into(), steps: failed.last_good.steps })
            }
        }
    }
    /// The first quantity whose derivative is not finite.
    fn overflow(&self, run: &mut dyn DerivedRun, count: usize) -> Option<String> {
        (0..count).find_map(|k| {
            let (at, mut row) = (run.derivative(k)?, Vec::new());
            at.row(&mut row);
            let i = row.iter().position(|x| !(x.re.is_finite() && x.eps[0].is_finite()))?;
            Some(format!("the derivative of {} with respect to {}", at.columns().get(i)?.name, self.names[k]))
        })
    }

    /// The run at its start, with the derivatives with respect to the first parameters. Of numbers with derivatives the
    /// values are those of the plain model.
    fn begin(&self, count: usize) -> Result<Box<dyn DerivedRun>, SensitivityError> {
        let (plain, outputs) = self.system(&|_, change| change)?;
        let (mut varied, mut slopes) = (Vec::new(), Vec::new());
        for k in 0..count {
            let (system, outputs) = self.system(&|i, change| seed(i == k, change))?;
            varied.push(system);
            slopes.extend(outputs);
        }
        for (system, name) in varied.iter().zip(&self.names) {
            if system.switches().iter().any(|time| time.eps != [0.0]) {
                let reason =
                    format!("{name} is the time at which a load switches, which has no derivative here");
                return Err(StepError::NoDerivative { reason }.into());
            }
        }
        let run = match self.method.system() {
            Some(_) => runs::of_system(plain, &varied, &self.method, self.variant)?,
            None => runs::of_body(&plain, &varied, &self.method)?,
        };
        Ok(match outputs {
            None => run,
            Some(outputs) => runs::with_outputs(run, outputs, slopes),
        })
    }
}

fn seed(mine: bool, change: f64) -> Dual1 {
    Dual { re: change, eps: [if mine { 1.0 } else { 0.0 }] }
}

/// A component this much smaller than the largest beside it counts as zero.
const MINUTE: f64 = 1e-6;

/// The size that a change of a parameter is compared with.
fn scale(value: f64, beside: impl Iterator<Item = f64>) -> f64 {
    let largest = beside.fold(value.abs(), f64::max);
    match value.abs() > MINUTE * largest {
        true => value.abs(),
        false if largest > 0.0 => largest,
        false => 1.0,
    }
}
