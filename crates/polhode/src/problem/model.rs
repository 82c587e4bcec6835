//! From data to a body with its start, on the group where it moves.

use super::catalogue::{Kind, Problem};
use super::jointed;
use crate::body::{
    About, Body, Drag, Frame, Gravity, Harmonic, InertiaError, InverseDynamics, Load, Loads, Moment,
    PrescribedMotion, PrescribedRotation, RotaryInertia, RotationalSpring, SoftWall, SpatialInertia,
    StandardLoad, State, TopGravity, Trajectory, Winding,
};
use crate::group::{Group, Rotation, Se3, So3};
use crate::method::Method;
use crate::multibody::{Assembly, Simulation, System, Violation};
use crate::reference::SteadyPrecession;
use crate::run::{Drift, EnergyEstimate, Moving, Outcome, Plan, Snapshot, StepEstimate, run};
use crate::solve::{StepError, Work};
use core::fmt;
use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};

/// Why the data of a problem make no body.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The problem.
    pub problem: &'static str,
    /// The datum that is wrong.
    pub datum: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.problem, self.datum, self.reason)
    }
}

impl std::error::Error for ModelError {}

/// The start of a body: its state and the numbers it was made from, which a reference solution wants unrounded.
#[derive(Clone, Debug)]
pub(super) struct Case<G: Group> {
    pub(super) body: Body<f64, G, Loads<f64>>,
    pub(super) start: State<f64, G>,
    /// Rotation vector, where the attitude was given so.
    pub(super) psi: Option<Vector3<f64>>,
    /// Angular velocity, where it was given and not the momentum.
    pub(super) omega: Option<Vector3<f64>>,
    /// Mass and centre of mass of a body on a fixed point, where they are known.
    pub(super) carried: Option<Carried>,
}

/// Mass and centre of mass, in body axes from the fixed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) mass: f64,
    pub(super) center: Vector3<f64>,
}

#[derive(Clone, Debug)]
pub(super) enum Cases {
    Rotation(Case<So3>),
    Motion(Case<Se3>),
    System(System<f64>),
}

/// A problem ready to run.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) kind: Kind,
    pub(super) cases: Cases,
    /// The motion, where the start was made for it.
    pub(super) steady: Option<SteadyPrecession>,
    /// A body on a fixed point as one on a joint, with the coordinates of its centre of mass.
    pub(super) jointed: Option<System<f64>>,
}

/// How a run ended, in plain numbers.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The last state.
    pub last: Snapshot,
    /// Steps taken.
    pub steps: u64,
    /// Largest drift of each invariant.
    pub drift: Drift,
    /// What was spent.
    pub work: Work,
    /// False if the observer stopped the run.
    pub finished: bool,
    /// What the joints of a system had to bear.
    pub joints: Option<Joints>,
}

/// How well the joints of a system were kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Joints {
    /// The largest violation over the run.
    pub violation: Violation,
    /// What it took to make the initial values consistent.
    pub assembly: Assembly,
}

/// A run whose next step failed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Why.
    pub error: StepError,
    /// The run up to the last good step.
    pub last_good: Box<Ended>,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (good steps before it: {})", self.error, self.last_good.steps)
    }
}

impl std::error::Error for Failed {}

/// Sees each step by its number, and its snapshot if it asks; may stop the run.
pub type Observer<'a> = dyn FnMut(u64, &dyn Fn() -> Snapshot) -> ControlFlow<()> + 'a;

pub(super) fn vector(values: &[f64]) -> Vector3<f64> {
    Vector3::from_fn(|i, _| values.get(i).copied().unwrap_or(0.0))
}

pub(super) fn tensor(values: &[f64]) -> Matrix3<f64> {
    match *values {
        [a, b, c] => Matrix3::from_diagonal(&Vector3::new(a, b, c)),
        [xx, yy, zz, xy, xz, yz] => Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        _ => Matrix3::from_fn(|i, j| values.get(3 * i + j).copied().unwrap_or(f64::NAN)),
    }
}

impl Problem {
    /// Checks the data and makes the body and its start.
    pub fn model(&self) -> Result<Model, ModelError> {
        let wrong = |datum, reason| ModelError { problem: self.id, datum, reason };
        let number = |name| vector(self.values(name)).x;
        let three = |name| vector(self.values(name));
        let inertia = tensor(self.values("inertia"));
        let spatial = |error: InertiaError| {
            let datum = if matches!(error, InertiaError::Mass { .. }) { "mass" } else { "inertia" };
            wrong(datum, error.to_string())
        };
        let rotary = |error: InertiaError| wrong("inertia", error.to_string());
        let motion = Winding { frequency: number("frequency"), turn_rate: number("turn_rate") };
        if self.kind == Kind::PrescribedRotation {
            let inertia = RotaryInertia::positive(inertia).map_err(rotary)?;
            let load = PrescribedRotation::new(inertia, motion, About::Origin);
            return Ok(self.ready(Cases::Rotation(Case::following(inertia, load))));
        }
        if self.kind == Kind::PrescribedMotion {
            let inertia =
                SpatialInertia::mass_matrix(number("mass"), three("center"), inertia).map_err(spatial)?;
            let about = match number("moments_about") {
                0.0 => About::Origin,
                1.0 => About::ReferencePoint,
                x => return Err(wrong("moments_about", format!("it is 0 or 1, not {x}"))),
            };
            let load = PrescribedMotion::new(inertia, motion, about);
            return Ok(self.ready(Cases::Motion(Case::following(inertia, load))));
        }
        if self.kind == Kind::Cone {
            return self.cone();
        }
        if let Some(system) = self.system()? {
            return self.jointed(system);
        }
        let (psi, attitude) = self.attitude()?;
        let omega = three("omega_body");
        if self.kind == Kind::FreeBody {
            let (center, mass) = (three("center"), number("mass"));
            let inertia = SpatialInertia::new(mass, center, inertia).map_err(spatial)?;
            let gravity = Gravity { weight_space: three("gravity") * mass, center_body: center };
            let body = Body::<f64, Se3, _> { inertia, load: Loads::none().with(gravity) };
            let velocity = Se3::vector(&attitude.unrotate(&three("velocity")), &omega);
            let start = body.state(Se3::pose(&attitude, &three("position")), &velocity);
            return Ok(self.ready(Cases::Motion(Case {
                body,
                start,
                psi,
                omega: Some(omega),
                carried: None,
            })));
        }
        let inertia = RotaryInertia::about_fixed_point(inertia).map_err(rotary)?;
        let load = match self.kind {
            Kind::FreeRotation
            | Kind::FreeBody
            | Kind::Cone
            | Kind::PrescribedMotion
            | Kind::PrescribedRotation
            | Kind::HeavyTop
            | Kind::Pendulum
            | Kind::DoublePendulum
            | Kind::Chain
            | Kind::FourBar
            | Kind::SliderCrank
            | Kind::Gimbals => Loads::none(),
            Kind::Top => Loads::none().with(TopGravity { mgl: number("mgl") }),
            Kind::SoftWall => Loads::none().with(SoftWall {
                coulomb: number("coulomb"),
                wall: number("wall"),
                offset: number("offset"),
            }),
            Kind::Spring => Loads::none().with(RotationalSpring { stiffness: three("stiffness") }),
            Kind::Driven => {
                let (frequency, phase) = (number("drive_frequency"), number("drive_phase"));
                let drive = |frame, amplitude| Harmonic { frame, amplitude, frequency, phase };
                let steady = |frame, value| Moment { frame, value };
                Loads::none()
                    .with(Gravity { weight_space: three("weight"), center_body: three("center") })
                    .with(steady(Frame::Space, three("moment_space")))
                    .with(steady(Frame::Body, three("moment_body")))
                    .with(drive(Frame::Space, three("drive_space")))
                    .with(drive(Frame::Body, three("drive_body")))
                    .with(Drag { coefficient: number("drag") })
            }
        };
        let body = Body::<f64, So3, _> { inertia, load };
        let (start, omega) = match self.values("momentum_body") {
            [] => (body.state(attitude, &omega), Some(omega)),
            momentum => (State { pose: attitude, momentum: vector(momentum) }, None),
        };
        if self.kind == Kind::SoftWall && body.energy(&start, 0.0).is_none_or(|e| !e.is_finite()) {
            return Err(wrong("offset", "the start lies on the singularity s = offset + R33 = 0".into()));
        }
        Ok(self.ready(Cases::Rotation(Case { body, start, psi, omega, carried: None })))
    }

    fn ready(&self, cases: Cases) -> Model {
        Model { kind: self.kind, cases, steady: None, jointed: None }
    }

    /// The initial attitude, with the rotation vector where it was given so.
    pub(super) fn attitude(&self) -> Result<(Option<Vector3<f64>>, Rotation<f64>), ModelError> {
        self.turned("attitude")
    }
    /// A rotation among the data.
    pub(super) fn rotation(&self, name: &'static str) -> Result<Rotation<f64>, ModelError> {
        Ok(self.turned(name)?.1)
    }
    fn turned(&self, datum: &'static str) -> Result<(Option<Vector3<f64>>, Rotation<f64>), ModelError> {
        let wrong = |reason| ModelError { problem: self.id, datum, reason };
        if let [w, x, y, z] = *self.values(datum) {
            let length = (w * w + x * x + y * y + z * z).sqrt();
            if (length - 1.0).abs() > 1e-6 {
                let reason = format!("a quaternion w x y z must have unit length, this one has {length}");
                return Err(wrong(reason));
            }
            return Ok((None, Rotation::from_q_wxyz([w, x, y, z])));
        }
        let psi = vector(self.values(datum));
        if psi.norm() > 1e6 || !psi.norm().is_finite() {
            return Err(wrong(format!(
                "a rotation vector of length {:e} has lost its digits modulo a turn; use one of at most 1e6",
                psi.norm()
            )));
        }
        Ok((Some(psi), Rotation::from_rotation_vector(&psi)))
    }

    /// A system, with its initial values tried out; the heavy top as a body about its fixed point too.
    fn jointed(&self, system: System<f64>) -> Result<Model, ModelError> {
        let wrong = |reason| ModelError { problem: self.id, datum: "data", reason };
        Simulation::check(&system).map_err(|error| wrong(error.to_string()))?;
        if self.kind != Kind::HeavyTop {
            return Ok(self.ready(Cases::System(system)));
        }
        let (psi, attitude) = self.attitude()?;
        let (mass, center) = (vector(self.values("mass")).x, vector(self.values("center")));
        let omega = vector(self.values("omega_body"));
        let offset = Matrix3::identity() * center.norm_squared() - center * center.transpose();
        let inertia = tensor(self.values("inertia")) + offset * mass;
        let inertia = RotaryInertia::about_fixed_point(inertia).map_err(|error| wrong(error.to_string()))?;
        let weight = Gravity { weight_space: vector(self.values("gravity")) * mass, center_body: center };
        let body = Body::<f64, So3, _> { inertia, load: Loads::none().with(weight) };
        let start = body.state(attitude, &omega);
        let carried = Some(Carried { mass, center });
        let case = Case { body, start, psi, omega: Some(omega), carried };
        Ok(Model { jointed: Some(system), ..self.ready(Cases::Rotation(case)) })
    }

    /// A solid cone that stands on its tip, with the spin that keeps its tilt.
    fn cone(&self) -> Result<Model, ModelError> {
        let wrong = |datum, reason: &str| ModelError { problem: self.id, datum, reason: reason.into() };
        let number = |name| vector(self.values(name)).x;
        let [height, density, gravity] = ["height", "density", "gravity"].map(number);
        let [tilt, precession] = ["tilt", "precession"].map(number);
        for (name, value) in [("height", height), ("density", density)] {
            if value <= 0.0 {
                return Err(wrong(name, &format!("it must be positive, got {value}")));
            }
        }
        if tilt.abs() > core::f64::consts::PI {
            return Err(wrong("tilt", &format!("it must be an angle from -pi to pi, got {tilt}")));
        }
        if precession == 0.0 {
            return Err(wrong("precession", "it must not be zero: no spin keeps the axis of a top still"));
        }
        let radius = height / 2.0;
        let mass = density * core::f64::consts::PI * radius * radius * height / 3.0;
        let center = 0.75 * height;
        let across = 3.0 / 80.0 * mass * (4.0 * radius * radius + height * height) + mass * center * center;
        let along = 0.3 * mass * radius * radius;
        let moments = Matrix3::from_diagonal(&Vector3::new(across, across, along));
        let inertia = RotaryInertia::about_fixed_point(moments).map_err(|_| {
            wrong("height", "with this density its moments of inertia are beyond the range of f64")
        })?;
        let mgl = mass * gravity * center;
        let steady = SteadyPrecession::new(across, along, mgl, tilt, precession)
            .map_err(|reason| wrong("precession", &reason))?;
        let body = Body::<f64, So3, _> { inertia, load: Loads::none().with(TopGravity { mgl }) };
        let (psi, omega) = (Vector3::new(tilt, 0.0, 0.0), steady.omega_body());
        let start = body.state(Rotation::from_rotation_vector(&psi), &omega);
        let case = Case { body, start, psi: Some(psi), omega: Some(omega), carried: None };
        Ok(Model { steady: Some(steady), ..self.ready(Cases::Rotation(case)) })
    }
}

impl<G: Group> Case<G> {
    /// A body that follows a motion, from where the motion is at t = 0.
    fn following<M: Trajectory>(inertia: G::Inertia<f64>, load: InverseDynamics<f64, G, M>) -> Self
    where
        InverseDynamics<f64, G, M>: Into<StandardLoad<f64>>,
    {
        let start = load.state(0.0);
        let body = Body { inertia, load: Loads::none().with(load) };
        Case { body, start, psi: None, omega: None, carried: None }
    }
    /// The state in plain numbers; a body on a fixed point whose centre of mass is known has the position of that.
    pub(super) fn snapshot(&self, state: &State<f64, G>, t: f64) -> Snapshot {
        let mut snapshot = Snapshot::of(&self.body, state, t);
        if let Some(Carried { mass, center }) = self.carried {
            let velocity = snapshot.attitude.rotate(&snapshot.omega_body.cross(&center));
            snapshot.moving = Some(Moving {
                position: snapshot.attitude.rotate(&center),
                velocity,
                linear_momentum_space: velocity * mass,
            });
        }
        snapshot
    }
    fn run(
        &self,
        method: &Method,
        plan: &Plan,
        mut estimate: Option<&mut EnergyEstimate>,
        observer: &mut Observer<'_>,
    ) -> Result<Ended, Failed> {
        let ended = |o: Outcome<G>| Ended {
            last: self.snapshot(&o.state, o.t),
            steps: o.steps,
            drift: o.drift,
            work: o.work,
            finished: o.finished,
            joints: None,
        };
        let mut before = self.start;
        let potential = self.body.potential_energy(&self.start, plan.time(0));
        let mut seen = estimate.as_ref().and(potential).map(|_| StepEstimate::default());
        let mut watch = |n: u64, t: f64, state: &State<f64, G>| {
            if let (Some(estimate), Some(k)) = (&mut estimate, n.checked_sub(1)) {
                seen = estimate.observe(&self.body, &before, plan.time(k), plan.size(k), state);
                before = *state;
            }
            observer(n, &|| Snapshot { estimate: seen, ..self.snapshot(state, t) })
        };
        match run(&self.body, &self.start, method, plan, &mut watch) {
            Ok(outcome) => Ok(ended(outcome)),
            Err(e) => Err(Failed { error: e.error, last_good: Box::new(ended(*e.last_good)) }),
        }
    }
}

impl Model {
    /// `so3` or `se3`.
    pub fn group(&self) -> &'static str {
        match &self.cases {
            Cases::Rotation(_) => So3::NAME,
            Cases::Motion(_) => Se3::NAME,
            Cases::System(_) => "system",
        }
    }
    /// True if the loads were made to produce a motion that is known.
    pub fn follows_motion(&self) -> bool {
        match &self.cases {
            Cases::System(_) => false,
            Cases::Rotation(c) => c.body.load.motion(0.0).is_some(),
            Cases::Motion(c) => c.body.load.motion(0.0).is_some(),
        }
    }
    /// The start.
    pub fn start(&self) -> Snapshot {
        match &self.cases {
            Cases::Rotation(c) => c.snapshot(&c.start, 0.0),
            Cases::Motion(c) => c.snapshot(&c.start, 0.0),
            Cases::System(system) => {
                Simulation::check(system).map_or_else(|_| jointed::nothing(), |s| jointed::snapshot(&s, None))
            }
        }
    }
    /// Runs it. The observer sees step numbers from 0 on and may ask for the snapshot of each.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use polhode::{method::Method, problem::Problem, run::{Plan, Recorder}};
    /// let model = Problem::named("fast-top")?.model()?;
    /// let mut recorder = Recorder::every(10);
    /// let end = model.run(&Method::parse("imidm")?, &Plan::new(1e-3, 0.1)?, &mut |n, snapshot| {
    ///     recorder.observe(n, &snapshot());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(end.steps, 100);
    /// assert_eq!(recorder.column("t").map(|t| t.len()), Some(11));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, method: &Method, plan: &Plan, observer: &mut Observer<'_>) -> Result<Ended, Failed> {
        if method.alpha().is_some() || matches!(self.cases, Cases::System(_)) {
            return self.run_jointed(method, plan, observer);
        }
        match &self.cases {
            Cases::Rotation(c) => c.run(method, plan, None, observer),
            Cases::Motion(c) => c.run(method, plan, None, observer),
            Cases::System(_) => self.run_jointed(method, plan, observer),
        }
    }
    /// Runs it and shows each step to an estimate of the energy error, whose steps are in the snapshots.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use polhode::{method::Method, problem::Problem, run::{EnergyEstimate, Plan}};
    /// let model = Problem::named("spinning-top")?.model()?;
    /// let mut estimate = EnergyEstimate::new();
    /// let (method, plan) = (Method::parse("bbtrapwd")?, Plan::new(1e-3, 0.5)?);
    /// model.run_estimated(&method, &plan, &mut estimate, &mut |_, _| ControlFlow::Continue(()))?;
    /// assert_eq!(estimate.report().map(|seen| (seen.steps, seen.bounded)), Some((500, 500)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_estimated(
        &self,
        method: &Method,
        plan: &Plan,
        estimate: &mut EnergyEstimate,
        observer: &mut Observer<'_>,
    ) -> Result<Ended, Failed> {
        match &self.cases {
            Cases::Rotation(c) => c.run(method, plan, Some(estimate), observer),
            Cases::Motion(c) => c.run(method, plan, Some(estimate), observer),
            Cases::System(_) => self.run_jointed(method, plan, observer),
        }
    }
}
