//! A problem ready to run, and how a run of it ends.

use super::catalogue::Problem;
use super::known::{Known, known};
use crate::body::RotaryInertia;
use crate::group::{Group, Se3, So3};
use crate::method::{Method, SystemScheme};
use crate::model::{Control, EventData, ModelFile, Outputs, Place, Solid, Values, WithOutputs};
use crate::multibody::{AssemblyError, Reduction, Rigid, Simulation, SimulationError, System, Valueless};
use crate::reference::SteadyPrecession;
use crate::run::{
    Drift, Event, Face, Observer, Plan, Run, RunFailure, RunReport, Snapshot, SystemRun, Watched, begin,
    drive,
};
use crate::solve::{StepError, Work};
use core::fmt;
use nalgebra::Vector3;
use std::sync::Arc;

/// Why the data of a problem are invalid.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The problem.
    pub problem: String,
    /// The parameter that is wrong.
    pub datum: String,
    /// What is wrong with it.
    pub reason: String,
    /// Where that stands, in a file of one's own.
    pub place: Option<Box<Place>>,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => {
                let Place { line, column, .. } = &**place;
                write!(f, "{}:{line}:{column}: {}\n{place}", self.problem, self.reason)
            }
            None => write!(f, "{}: {}: {}", self.problem, self.datum, self.reason),
        }
    }
}

impl std::error::Error for ModelError {}

/// Where the start is seen. What there is to say of many bodies is made when it is asked for.
#[derive(Clone, Debug)]
enum Start {
    One(Box<Snapshot>),
    Many(Arc<Simulation<f64>>),
}

/// A problem ready to run: a system, and how its exact motion is known.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) known: Known,
    system: Arc<System<f64>>,
    pub(super) reduction: Option<Reduction<f64>>,
    /// Rotation vector of the initial attitude of one body, where it was given so.
    pub(super) psi: Option<Vector3<f64>>,
    /// The motion, where the start was made for it.
    pub(super) steady: Option<SteadyPrecession>,
    start: Start,
    /// The system at its start, where joints ask something of that.
    tried: Option<Arc<Simulation<f64>>>,
    /// How many motions are left, and what joints forbid more than once.
    freedom: (usize, Vec<Vec<String>>),
    outputs: Arc<Outputs<f64>>,
    controls: Vec<Control>,
    /// What its events look at.
    watched: Arc<Outputs<f64>>,
    values: Values<f64>,
    file: Arc<ModelFile>,
}

impl Problem {
    /// Checks the data and makes the system.
    pub fn model(&self) -> Result<Model, ModelError> {
        self.model_with(&|_| 0.0)
    }
    /// An element has no value at the start.
    fn valueless(&self, system: &System<f64>, values: &Values<f64>, element: Valueless) -> ModelError {
        let message = format!(
            "{} is not finite at the start: a division by zero, or a singularity there",
            system.words_of(element)
        );
        self.refused(self.file().without_value(system, values, element, message))
    }
    /// Why there are no consistent initial values, told at the element that it is about.
    fn unassembled(&self, error: &SimulationError, system: &System<f64>, values: &Values<f64>) -> ModelError {
        if let (SimulationError::Assembly(AssemblyError::NotFinite), Some(element)) =
            (error, system.without_value_at_start())
        {
            return self.valueless(system, values, element);
        }
        let joint = match error {
            SimulationError::Assembly(
                AssemblyError::Dependent { joints } | AssemblyError::SingularPosition { joints },
            ) => joints.first(),
            SimulationError::Assembly(
                AssemblyError::NoDirection { joint }
                | AssemblyError::Reversed { joint }
                | AssemblyError::Open { joint, .. }
                | AssemblyError::NotClosed { joint, .. }
                | AssemblyError::Velocities { joint, .. },
            ) => Some(joint),
            SimulationError::Assembly(AssemblyError::Massless { bodies }) => {
                let body = bodies.first().map_or("", String::as_str);
                return self.refused(self.file().body_fault(body, error.to_string()));
            }
            _ => None,
        };
        let fault = joint.and_then(|joint| self.file().joint_fault(joint, error.to_string()));
        fault.map_or_else(|| self.wrong(error.to_string()), |fault| self.refused(fault))
    }
    /// The same with a change of each parameter, by its number.
    pub(super) fn model_with(&self, change: &dyn Fn(usize) -> f64) -> Result<Model, ModelError> {
        let built = self.built(change, &[])?;
        let outputs = self.outputs(&built)?;
        let watched = self.file().watched(&built.system, &built.values);
        let watched = watched.map_err(|fault| self.refused(fault))?;
        self.file().solids(&built.values).map_err(|fault| self.refused(fault))?;
        let system = Arc::new(built.system);
        let reduction = system.reduction();
        // Thin bodies are for joints that leave them no motion about their axis.
        let moments = match &reduction {
            Some(Reduction::Rotation(one)) => Some(*one.body.inertia.matrix()),
            Some(Reduction::Motion(one)) => Some(*one.body.inertia.about_center()),
            None => None,
        };
        if let (Some(matrix), Some(body)) = (moments, system.bodies().first())
            && RotaryInertia::positive(*body.inertia.matrix()).is_err()
            && let Err(error) = RotaryInertia::positive(matrix)
        {
            let message = format!("body '{}' is free to turn about every axis: {error}", body.name);
            return Err(self.refused(self.file().body_fault(&body.name, message)));
        }
        if let Some(element) = system.load_without_value_at_start() {
            return Err(self.valueless(&system, &built.values, element));
        }
        // Initial values are tried out where joints ask something of them.
        let tried = match (&reduction, system.joints()) {
            (Some(_), []) => None,
            _ => {
                let tried = Simulation::check(system.clone());
                Some(Arc::new(tried.map_err(|error| self.unassembled(&error, &system, &built.values))?))
            }
        };
        if let Some(force) = tried.as_ref().and_then(|tried| tried.spring_without_direction()) {
            let message = format!(
                "the two ends of the spring '{force}' coincide at the start, where it has no direction to push in; let them \
                 start apart, or give it `length = 0`"
            );
            return Err(self.refused(self.file().force_fault(force, message)));
        }
        let freedom = match &tried {
            Some(simulation) => (simulation.degrees_of_freedom(), simulation.assembly().redundancies.clone()),
            None => (system.degrees_of_freedom(), Vec::new()),
        };
        let start = match (&reduction, &tried) {
            (Some(Reduction::Rotation(one)), _) => {
                Snapshot::of_body(&one.body, one.origin.as_ref(), &one.start, 0.0)
            }
            (Some(Reduction::Motion(one)), _) => Snapshot::of_body(&one.body, None, &one.start, 0.0),
            (None, Some(simulation)) => Face::of(&system).snapshot(simulation),
            (None, None) => return Err(self.wrong("the system has no start".into())),
        };
        if let Some(quantity) = start.overflow() {
            let why = match quantity.as_str() {
                "energy" => "a load has a singularity there, or numbers are too large",
                _ => "use smaller numbers",
            };
            // The numbers of one body, where they alone are too large.
            let overflows = |body: &&Rigid<f64>| {
                let turning = body.omega_body.dot(&(body.inertia.matrix() * body.omega_body));
                let moving = body.velocity.norm_squared() * body.mass + body.position.norm_squared();
                !(turning + moving).is_finite()
            };
            return Err(match system.bodies().iter().find(overflows) {
                Some(body) => {
                    let message = format!(
                        "{quantity} is not finite at the start: position or velocities of '{}' are too large",
                        body.name
                    );
                    self.refused(self.file().body_fault(&body.name, message))
                }
                None => self.wrong(format!("{quantity} is not finite at the start: {why}")),
            });
        }
        let lost = (0..watched.names().len()).find(|event| !watched.value(*event, &start).is_finite());
        if let Some(event) = lost {
            let name = &watched.names()[event];
            let message = format!("`when` of the event '{name}' is not finite at the start");
            return Err(self.refused(self.file().event_fault(event, message)));
        }
        let start = outputs.added(start);
        if let Some(name) = start.overflow() {
            let message = format!("the output {name} is not finite at the start");
            return Err(self.refused(self.file().output_fault(&name, message)));
        }
        let columns = if outputs.is_empty() { Vec::new() } else { start.columns() };
        let twice = |name: &&String| columns.iter().filter(|column| column.name == **name).count() > 1;
        if let Some(name) = outputs.names().iter().find(twice) {
            let message = format!("there is a column {name} already; give the output another name");
            return Err(self.refused(self.file().output_fault(name, message)));
        }
        let mut model = Model {
            known: known(reduction.as_ref()),
            psi: built.psi,
            steady: None,
            start: match (&reduction, &tried) {
                (None, Some(tried)) => Start::Many(tried.clone()),
                _ => Start::One(Box::new(start)),
            },
            tried,
            freedom,
            outputs: Arc::new(outputs),
            controls: built.controls,
            watched: Arc::new(watched),
            values: built.values,
            file: self.shared_file().clone(),
            reduction,
            system,
        };
        model.steady = model.steady_precession();
        Ok(model)
    }
}

impl Model {
    /// The system.
    pub fn system(&self) -> &Arc<System<f64>> {
        &self.system
    }
    /// `so3` for a body about a fixed point, `se3` for one in flight, `system` for everything else.
    pub fn group(&self) -> &'static str {
        match &self.reduction {
            Some(Reduction::Rotation(_)) => So3::NAME,
            Some(Reduction::Motion(_)) => Se3::NAME,
            None => "system",
        }
    }
    /// True if the loads were made to produce a motion that is known.
    pub fn follows_motion(&self) -> bool {
        self.system.follows_motion()
    }
    /// The start.
    pub fn start(&self) -> Snapshot {
        match &self.start {
            Start::One(start) => (**start).clone(),
            Start::Many(tried) => self.outputs.added(Face::of(&self.system).snapshot(tried)),
        }
    }
    /// True unless the method refuses what acts on the system: `variational` takes forces from potentials alone.
    pub fn is_fit_for(&self, method: &Method) -> bool {
        match (&self.tried, method.system()) {
            (_, None) => true,
            (Some(tried), Some(scheme)) => {
                !matches!(scheme, SystemScheme::Variational(_)) || tried.without_potential().is_none()
            }
            (None, Some(_)) => self.begin(method).is_ok(),
        }
    }
    /// How many motions joints and drives leave.
    pub fn degrees_of_freedom(&self) -> usize {
        self.freedom.0
    }
    /// For each row of the joints that forbids what is forbidden already, the joints that take part in it.
    pub fn redundancies(&self) -> &[Vec<String>] {
        &self.freedom.1
    }
    /// The names of its outputs.
    pub fn outputs(&self) -> &[String] {
        self.outputs.names()
    }
    /// Its loads with names, to be set between steps.
    pub fn controls(&self) -> &[Control] {
        &self.controls
    }
    /// The one of this name.
    pub fn control(&self, name: &str) -> Option<&Control> {
        self.controls.iter().find(|control| control.name() == name)
    }
    /// Its events, as its file has them.
    pub fn events(&self) -> Vec<EventData> {
        self.file.events().collect()
    }
    /// A run of it, at its start, that looks for its events.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use polhode::{method::Method, problem::Problem, run::{Plan, drive}};
    /// let text = r#"
    /// gravity = [0, 0, -9.81]
    /// [bodies.ball]
    /// mass = 1
    /// inertia = [1, 1, 1]
    /// position = [0, 0, 20]
    /// [events.landing]
    /// when = "position_z"
    /// direction = "down"
    /// stop = true
    /// "#;
    /// let model = Problem::from_text("ball", text)?.model()?;
    /// let mut run = model.watched(&Method::parse("akw")?)?;
    /// let end = drive(&mut run, &Plan::new(0.1, 10.0)?, &mut |_, _| ControlFlow::Continue(()))?;
    /// assert!(end.finished && (end.last.t - (40.0f64 / 9.81).sqrt()).abs() < 1e-14);
    /// assert_eq!(run.stopped().map(|event| event.name()), Some("landing"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watched(&self, method: &Method) -> Result<Watched, RunFailure> {
        self.watched_for(method, Vec::new())
    }
    /// The same with more events, of one's own.
    pub fn watched_for(&self, method: &Method, more: Vec<Event>) -> Result<Watched, RunFailure> {
        let events = self.file.events().enumerate().map(|(i, event)| {
            let watched = self.watched.clone();
            let made = Event::new(&event.name, move |state| watched.value(i, state));
            made.going(event.direction).stopping(event.stop)
        });
        Ok(Watched::new(self.begin(method)?, events.chain(more).collect()))
    }
    /// For each body the solids that it consists of, where its file has shapes, for drawings.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let text = "[bodies.brick]\nshape = { box = [1, 2, 3] }\nmass = 1\n[run]\nstep = 0.1\nuntil = 1";
    /// let brick = Problem::from_text("brick", text)?.model()?;
    /// assert_eq!((brick.solids()[0][0].kind, &brick.solids()[0][0].sizes[..]), ("box", &[1.0, 2.0, 3.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solids(&self) -> Vec<Vec<Solid>> {
        // They could all be made when the model was.
        self.file.solids(&self.values).unwrap_or_default()
    }
    /// How its exact motion is known.
    pub fn reference_kind(&self) -> &'static str {
        match (&self.steady, &self.known, &self.reduction) {
            (Some(_), _, _) => "closed form (steady precession)",
            (None, Known::FreeRotation, _) => "closed form (Jacobi elliptic functions)",
            (None, Known::Top(_), _) => "closed form (Lagrange top, elliptic functions)",
            (None, Known::Flight, _) => "closed form (Jacobi elliptic functions and a parabola)",
            (None, Known::Prescribed, _) => "the motion that the load was made for",
            (None, Known::Nothing, Some(_)) => "extrapolation in double-double",
            (None, Known::Nothing, None) => "extrapolation of runs with shorter steps",
        }
    }
    /// Why it cannot run to this time: a table of a load does not go that far.
    pub fn beyond_tables(&self, until: f64) -> Option<ModelError> {
        let fault = self.file.beyond_tables(until)?;
        Some(ModelError {
            problem: self.file.name().into(),
            place: Some(Box::new(self.file.place(&fault))),
            datum: "loads".into(),
            reason: fault.message,
        })
    }
    /// A run of it, at its start.
    pub fn begin(&self, method: &Method) -> Result<Box<dyn Run>, RunFailure> {
        let begun: Result<Box<dyn Run>, SimulationError> = match (&self.tried, method.system()) {
            (Some(tried), Some(_)) => {
                tried.with_method(method).map(|start| Box::new(SystemRun::of(start, method)) as _)
            }
            _ => begin(&self.system, method),
        };
        let begun = begun.map(|run| match self.outputs.is_empty() {
            true => run,
            false => Box::new(WithOutputs::new(run, self.outputs.clone())) as Box<dyn Run>,
        });
        begun.map_err(|error| {
            let error = match error {
                SimulationError::Method { .. } => StepError::NeedsSystem,
                error => StepError::NoStart { reason: error.to_string() },
            };
            let unbegun = RunReport {
                last: self.start(),
                steps: 0,
                drift: Drift::default(),
                work: Work::default(),
                finished: false,
                joints: None,
            };
            RunFailure { error, last_good: Box::new(unbegun) }
        })
    }
    /// Runs it. The observer sees step numbers from 0 on and the run, of which it may ask everything.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use polhode::{method::Method, problem::Problem, run::{Plan, Recorder}};
    /// let model = Problem::named("fast-top")?.model()?;
    /// let mut recorder = Recorder::every(10);
    /// let end = model.run(&Method::parse("imidm")?, &Plan::new(1e-3, 0.1)?, &mut |n, run| {
    ///     recorder.observe(n, &run.snapshot());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(end.steps, 100);
    /// assert_eq!(recorder.column("t").map(|t| t.len()), Some(11));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        method: &Method,
        plan: &Plan,
        observer: &mut Observer<'_, dyn Run>,
    ) -> Result<RunReport, RunFailure> {
        drive(&mut *self.begin(method)?, plan, observer)
    }
}
