//! Exact derivatives of the discrete solution of a problem with respect to its parameters, for every method.
//!
//! A [`Sensitivity`] is a problem, parameters by name and a method. Its run is the plain run, to the bit, with the
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
//! sensitivity.run(&Plan::new(2e-3, 0.1)?, &mut |_, seen| {
//!     by_mass = seen.derivative(0).moving.iter().flat_map(|m| m.position.map(|x| x.eps[0]).data.0[0]).collect();
//!     ControlFlow::Continue(())
//! })?;
//! assert!((by_mass[2] - 6.330_888_131_072_681e-3).abs() < 1e-14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod functional;
mod single;

pub use functional::Functional;

use crate::group::So3;
use crate::lookup::{Names, ParameterError, find};
use crate::method::Method;
use crate::multibody::{Differentiated, DifferentiationError, Simulation, System, SystemParameter};
use crate::problem::cases::{Case, Cases};
use crate::problem::jointed::snapshot;
use crate::problem::{ModelError, Problem};
use crate::run::{Plan, Snapshot};
use crate::scalar::{Dual, Scalar};
use crate::solve::StepError;
use core::fmt;
use core::ops::ControlFlow;

pub use crate::multibody::{D, Study};

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
    /// Parameters of bodies and joints of a problem that runs as a single body.
    Elements {
        /// The parameter.
        name: String,
        /// The method.
        method: String,
    },
}

impl fmt::Display for SensitivityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(error) => error.fmt(f),
            Self::Model(error) => error.fmt(f),
            Self::System(error) => error.fmt(f),
            Self::Method(error) => error.fmt(f),
            Self::Elements { name, method } => write!(
                f,
                "'{name}' is a parameter of a body or joint of a system, and {method} runs a single body; use geometric-alpha, \
                 linear-alpha or residual-alpha, or a parameter of the problem"
            ),
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

/// What an observer sees of a step.
pub trait Seen {
    /// The plain numbers.
    fn values(&self) -> Snapshot;
    /// All of them with the derivative with respect to one parameter, by its number.
    fn derivative(&mut self, parameter: usize) -> Snapshot<D>;
}

/// Sees each step by its number; may stop the run.
pub type Observer<'a> = dyn FnMut(u64, &mut dyn Seen) -> ControlFlow<()> + 'a;

/// A parameter: of the data of the problem, or of an element of its system.
#[derive(Clone, Debug)]
enum Item {
    Data(usize),
    Element(Box<SystemParameter>),
}

/// A problem with parameters and a method.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    problem: Problem,
    method: Method,
    study: Study,
    items: Vec<Item>,
    names: Vec<String>,
    values: Vec<f64>,
    scales: Vec<f64>,
    changes: Vec<f64>,
}

impl Sensitivity {
    /// With these parameters: names of data (all components of a vector by its name), as `polhode problems` lists them, or of
    /// elements of a system, as in `elbow.first_x`.
    pub fn new(problem: &Problem, names: &[&str], method: &Method) -> Result<Self, SensitivityError> {
        let model = problem.model()?;
        let runs_system = method.alpha().is_some();
        match (model.group(), runs_system) {
            ("system", false) | ("se3", true) => return Err(StepError::NeedsSystem.into()),
            (_, false) => single::check(method)?,
            _ => {}
        }
        let data = problem.parameters();
        let elements = problem.elements()?;
        for name in names {
            let found = problem.find_parameters(&[name]);
            if let Err(error @ (ParameterError::NoDerivative { .. } | ParameterError::Unset { .. })) = found {
                return Err(error.into());
            }
        }
        let of_data = data.iter().map(|p| (Names { own: &p.name, whole: p.datum }, p.value));
        let of_elements = elements.iter().map(|e| (Names { own: &e.name, whole: e.whole() }, e.value));
        let (all, numbers): (Vec<Names<'_>>, Vec<f64>) = of_data.chain(of_elements).unzip();
        let mut made = Sensitivity {
            problem: problem.clone(),
            method: method.clone(),
            study: Study::Exact,
            items: Vec::new(),
            names: Vec::new(),
            values: Vec::new(),
            scales: Vec::new(),
            changes: Vec::new(),
        };
        for i in find(problem.id, &all, names)? {
            let name: String = all[i].own.into();
            made.items.push(match i.checked_sub(data.len()) {
                None => Item::Data(i),
                Some(_) if !runs_system => {
                    return Err(SensitivityError::Elements { name, method: method.id().into() });
                }
                Some(i) => Item::Element(Box::new(elements[i].clone())),
            });
            let beside = (0..all.len()).filter(|k| all[*k].whole == all[i].whole).map(|k| numbers[k].abs());
            made.scales.push(scale(numbers[i], beside));
            made.values.push(numbers[i]);
            made.names.push(name);
        }
        made.changes = vec![0.0; made.items.len()];
        Ok(made)
    }
    /// The same, simplified for study.
    pub fn studied(self, study: Study) -> Self {
        Sensitivity { study, ..self }
    }
    /// The same at changed parameters: each is its value plus the change; a rotation is followed by the turn.
    pub fn changed(&self, changes: &[f64]) -> Self {
        let change = |i: usize| changes.get(i).copied().unwrap_or(0.0);
        Sensitivity { changes: (0..self.items.len()).map(change).collect(), ..self.clone() }
    }
    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
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
        let mine =
            self.items.iter().enumerate().filter(|(_, item)| matches!(item, Item::Data(i) if *i == datum));
        mine.fold(S::zero(), |sum, (k, _)| sum + number(k, self.changes[k]))
    }
    fn cases<S: Scalar>(&self, number: &dyn Fn(usize, f64) -> S) -> Result<Cases<S>, ModelError> {
        self.problem.cases(&|datum| self.change(datum, number))
    }
    fn system<S: Scalar>(&self, number: &dyn Fn(usize, f64) -> S) -> Result<System<S>, SensitivityError> {
        let system = self.problem.jointed_system(&|datum| self.change(datum, number))?;
        let mut system = system.ok_or(StepError::NeedsSystem)?;
        for (k, item) in self.items.iter().enumerate() {
            if let Item::Element(parameter) = item {
                system.vary(parameter, number(k, self.changes[k]));
            }
        }
        Ok(system)
    }

    /// The end of the plain run at the changed parameters, with somebody who sees the number of every step; none if that
    /// one breaks off.
    pub fn end(
        &self,
        plan: &Plan,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Snapshot>, SensitivityFailure> {
        let mut last = None;
        self.observe(plan, 0, &mut |n, seen| {
            let flow = watch(n);
            if n == plan.steps() && flow.is_continue() {
                last = Some(seen.values());
            }
            flow
        })?;
        Ok(last)
    }
    /// Runs it. The observer sees the start, every step and the end.
    pub fn run(&self, plan: &Plan, observer: &mut Observer<'_>) -> Result<(), SensitivityFailure> {
        self.observe(plan, self.items.len(), observer)
    }

    /// With the derivatives with respect to the first parameters. What is not finite at the end is an error.
    fn observe(
        &self,
        plan: &Plan,
        count: usize,
        observer: &mut Observer<'_>,
    ) -> Result<(), SensitivityFailure> {
        let mut overflow = None;
        self.steps(plan, count, &mut |n, seen| {
            if n == plan.steps() {
                overflow = self.overflow(seen, count);
            }
            if overflow.is_some() { ControlFlow::Break(()) } else { observer(n, seen) }
        })?;
        match overflow {
            None => Ok(()),
            Some(quantity) => {
                let error = StepError::Overflow { quantity, t: plan.until() };
                Err(SensitivityFailure { error: error.into(), steps: plan.steps() })
            }
        }
    }
    /// The first quantity that is not finite, or whose derivative is not.
    fn overflow(&self, seen: &mut dyn Seen, count: usize) -> Option<String> {
        if let Some(column) = seen.values().overflow() {
            return Some(column);
        }
        (0..count).find_map(|k| {
            let (at, mut row) = (seen.derivative(k), Vec::new());
            at.row(&mut row);
            let i = row.iter().position(|x| !(x.re.is_finite() && x.eps[0].is_finite()))?;
            Some(format!("the derivative of {} with respect to {}", at.columns().get(i)?, self.names[k]))
        })
    }

    fn steps(
        &self,
        plan: &Plan,
        count: usize,
        observer: &mut Observer<'_>,
    ) -> Result<(), SensitivityFailure> {
        let unbegun = |error: SensitivityError| SensitivityFailure { error, steps: 0 };
        if self.method.alpha().is_some() {
            return self.run_system(plan, count, observer);
        }
        // Of numbers with derivatives the values are those of the plain model.
        let plain = self.cases(&|_, change| change).map_err(|error| unbegun(error.into()))?;
        let varied: Result<Vec<Cases<D>>, ModelError> =
            (0..count).map(|k| self.cases(&|i, change| seed(i == k, change))).collect();
        let varied = varied.map_err(|error| unbegun(error.into()))?;
        single::run(&self.method, plain, varied, plan, observer)
    }

    fn run_system(
        &self,
        plan: &Plan,
        count: usize,
        observer: &mut Observer<'_>,
    ) -> Result<(), SensitivityFailure> {
        let unbegun = |error: SensitivityError| SensitivityFailure { error, steps: 0 };
        let system = self.system(&|_, change| change).map_err(unbegun)?;
        let varied: Result<Vec<_>, SensitivityError> =
            (0..count).map(|k| self.system(&|i, change| seed(i == k, change))).collect();
        let varied = varied.map_err(unbegun)?;
        let face = self.face(count).map_err(unbegun)?;
        let mut run = Differentiated::assembled(&system, &varied, &self.method, self.study)
            .map_err(|error| unbegun(error.into()))?;
        let mut n = 0;
        let mut flow = observer(n, &mut SystemSeen { run: &mut run, face: &face });
        while n < plan.steps() && flow.is_continue() {
            run.step(plan.size(n)).map_err(|error| SensitivityFailure { error: error.into(), steps: n })?;
            n += 1;
            run.set_time(plan.time(n));
            flow = observer(n, &mut SystemSeen { run: &mut run, face: &face });
        }
        Ok(())
    }
    /// How the system is seen.
    fn face(&self, count: usize) -> Result<Face, SensitivityError> {
        let plain = match self.cases(&|_, change| change)? {
            Cases::Rotation(case) => case,
            _ => return Ok(Face::Mechanism),
        };
        // The heavy top is a system with coordinates of its own.
        if self.problem.model()?.system().is_some() {
            return Ok(Face::Single);
        }
        let mut varied = Vec::with_capacity(count);
        for k in 0..count {
            if let Cases::Rotation(case) = self.cases(&|i, change| seed(i == k, change))? {
                varied.push(case);
            }
        }
        Ok(Face::Posed { plain: Box::new(plain), varied })
    }
}

/// What a system is seen as.
enum Face {
    /// All of its bodies.
    Mechanism,
    /// One body on a joint.
    Single,
    /// A body about a fixed point, which runs on a joint. Only data of the problem change it.
    Posed { plain: Box<Case<f64, So3>>, varied: Vec<Case<D, So3>> },
}

fn seed(mine: bool, change: f64) -> D {
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

/// A system as it is seen.
struct SystemSeen<'a, 'b> {
    run: &'a mut Differentiated<'b>,
    face: &'a Face,
}

impl Face {
    fn see<S: Scalar>(&self, simulation: &Simulation<'_, S>, posed: Option<&Case<S, So3>>) -> Snapshot<S> {
        match posed {
            Some(case) => case.snapshot(&case.state(simulation), simulation.time()),
            None => snapshot(simulation, matches!(self, Face::Single)),
        }
    }
}

impl Seen for SystemSeen<'_, '_> {
    fn values(&self) -> Snapshot {
        let posed = if let Face::Posed { plain, .. } = self.face { Some(&**plain) } else { None };
        self.face.see(self.run.simulation(), posed)
    }
    fn derivative(&mut self, parameter: usize) -> Snapshot<D> {
        let posed = if let Face::Posed { varied, .. } = self.face { Some(&varied[parameter]) } else { None };
        self.face.see(self.run.derivative(parameter), posed)
    }
}
