//! Direct differentiation of the steps of a system with respect to parameters (Brüls & Eberhard 2008, sections 5 and 6).
//!
//! A parameter changes the data of a system: masses, inertias, points and axes of joints, forces, gravity, initial values.
//! A system with one derivative on each number ([`System::lift`]) says by how much. The step is taken in plain numbers;
//! then the Newton matrix, exact and not symmetric, is made once at its solution, and each parameter takes one solve with
//! its factors. The solution of the plain run does not change by a bit.

mod maps;
mod partial;
mod variation;

pub use variation::D;

use super::joint::{JointKind, MOST_ROWS, Place};
use super::layout::Layout;
use super::simulation::{Simulation, SimulationError};
use super::system::{Coordinates, End, System};
use super::tape::{Matrix, Places, Sink};
use super::workspace::{Stepping, Weights, ends};
use crate::group::Tangent;
use crate::method::{Chart, Form, Method};
use crate::scalar::{Dual, Real};
use crate::solve::{FactorError, StepError};
use core::fmt;
use maps::{Maps, Predicted};
use nalgebra::{Matrix3, Vector3};
use partial::by_numbers;
use variation::{BodyVariation, Variation, attached, flat_attached, flat_slopes};

/// How the equations are differentiated: exactly, or simplified as in Table 4 of the paper, to study what that costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Study {
    /// Exactly.
    #[default]
    Exact,
    /// At the end of a step the parameters of the rotation take over the derivative of the reference (eq. 97): wrong by
    /// the error of the integration.
    ReferenceFree,
    /// Without k_G in the tangent stiffness and in the derivative of g_α.
    WithoutKg,
    /// With the symmetric part of the tangent stiffness: wrong for any step.
    Symmetric,
}

impl Study {
    /// Every one with its name.
    pub const ALL: [(&'static str, Study); 4] = [
        ("exact", Study::Exact),
        ("reference-free", Study::ReferenceFree),
        ("without-k-g", Study::WithoutKg),
        ("symmetric", Study::Symmetric),
    ];
}

/// Why a system could not be differentiated.
#[derive(Clone, Debug, PartialEq)]
pub enum DifferentiationError {
    /// It could not begin.
    Simulation(SimulationError),
    /// A system with derivatives is not the same as the one without.
    Different {
        /// Its number.
        parameter: usize,
    },
    /// A simplification that this form does not have.
    Study {
        /// The method.
        id: String,
        /// Why not.
        reason: &'static str,
    },
}

impl fmt::Display for DifferentiationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulation(error) => error.fmt(f),
            Self::Different { parameter } => write!(
                f,
                "the system with derivatives number {parameter} has other bodies, joints, forces or coordinates than the \
                 plain one; make it by System::lift"
            ),
            Self::Study { id, reason } => write!(f, "{id}: {reason}"),
        }
    }
}

impl std::error::Error for DifferentiationError {}

impl<E: Into<SimulationError>> From<E> for DifferentiationError {
    fn from(error: E) -> Self {
        Self::Simulation(error.into())
    }
}

/// Which parts of a system a parameter changes.
#[derive(Clone, Debug)]
struct Touched {
    bodies: Vec<usize>,
    joints: Vec<usize>,
    /// True for each that is.
    extra: Vec<bool>,
}

impl Touched {
    fn new(system: &System<D>) -> Self {
        let number = |x: &D| x.eps[0] != 0.0;
        let vector = |v: &Vector3<D>| v.iter().any(number);
        let matrix = |m: &Matrix3<D>| m.iter().any(number);
        let end = |e: &End<D>| vector(&e.point) || matrix(&e.axes);
        let coordinates = |e: &Coordinates<D>| {
            let lists = [&e.mass, &e.damping, &e.stiffness, &e.force, &e.amplitude];
            lists.into_iter().flatten().chain([&e.frequency, &e.phase]).any(number)
        };
        let gravity = vector(&system.gravity);
        let bodies = system.bodies.iter().enumerate();
        let bodies = bodies.filter(|(_, b)| gravity || number(&b.mass) || matrix(b.inertia.matrix()));
        let joints = system.joints.iter().enumerate().filter(|(_, j)| {
            j.ends.iter().any(end) || matches!(&j.kind, JointKind::Distance(l) if number(l))
        });
        Touched {
            bodies: bodies.map(|(b, _)| b).collect(),
            joints: joints.map(|(j, _)| j).collect(),
            extra: system.extra.iter().map(coordinates).collect(),
        }
    }
}

/// A system in motion with the derivatives of all that moves with respect to any number of parameters. Memory grows with
/// the number of parameters; a step allocates none, after the first.
///
/// ```
/// use polhode::{method::Method, multibody::Differentiated, problem::Problem, scalar::Dual};
/// let model = Problem::named("double-pendulum")?.model()?;
/// let system = model.system().ok_or("a system")?;
/// // With respect to the mass of the lower body, and to gravity.
/// let mut varied = [system.lift::<Dual<f64, 1>>(), system.lift()];
/// varied[0].bodies_mut()[1].mass.eps = [1.0];
/// varied[1].gravity_mut().z.eps = [1.0];
/// let mut run = Differentiated::new(system, &varied, &Method::parse("geometric-alpha")?)?;
/// for _ in 0..100 {
///     run.step(0.005)?;
/// }
/// let by_mass = run.derivative(0).position("lower").ok_or("a body")?.z.eps[0];
/// assert!((by_mass - 0.0108).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Differentiated<'a> {
    plain: Simulation<'a, f64>,
    study: Study,
    /// Each parameter: what it touches, its derivatives, and a simulation to show them in.
    parameters: Vec<Parameter<'a>>,
    work: Linear,
}

#[derive(Clone, Debug)]
struct Parameter<'a> {
    touched: Touched,
    now: Variation,
    next: Variation,
    shown: Simulation<'a, D>,
}

/// What is shared by all parameters in a step.
#[derive(Clone, Debug)]
struct Linear {
    /// None until the first step.
    matrix: Option<Matrix<f64>>,
    maps: Vec<Maps>,
    predicted: Vec<Predicted>,
    /// The derivatives of the inertial forces by the parameter alone.
    partial: Vec<[Vector3<f64>; 2]>,
    /// Those of y*, ẏ* of the extra coordinates.
    flat: Vec<[Vec<f64>; 2]>,
    /// B of each joint, and the stiffness of all.
    joints: Vec<[[Vector3<f64>; 4]; MOST_ROWS]>,
    stiffness: Vec<Stiffness>,
    x: Vec<f64>,
}

/// What a joint adds to the equations from this row on for a change of position or attitude of a body.
#[derive(Clone, Copy, Debug)]
struct Stiffness {
    row: usize,
    body: usize,
    turned: bool,
    block: Matrix3<f64>,
}

impl<'a> Differentiated<'a> {
    /// At t = 0, from positions that fit the joints. Each system of `varied` is the same with derivatives with respect to one
    /// parameter.
    pub fn new(
        system: &'a System<f64>,
        varied: &'a [System<D>],
        method: &Method,
    ) -> Result<Self, DifferentiationError> {
        Self::studied(system, varied, method, Study::Exact)
    }
    /// The same, simplified for study.
    pub fn studied(
        system: &'a System<f64>,
        varied: &'a [System<D>],
        method: &Method,
        study: Study,
    ) -> Result<Self, DifferentiationError> {
        Self::begin(system, varied, method, study, false)
    }
    /// The same from any positions: those nearby that fit the joints, see [`Simulation::assembled`].
    pub fn assembled(
        system: &'a System<f64>,
        varied: &'a [System<D>],
        method: &Method,
        study: Study,
    ) -> Result<Self, DifferentiationError> {
        Self::begin(system, varied, method, study, true)
    }
    fn begin(
        system: &'a System<f64>,
        varied: &'a [System<D>],
        method: &Method,
        study: Study,
        may_move: bool,
    ) -> Result<Self, DifferentiationError> {
        system.check().map_err(SimulationError::from)?;
        let plain = Simulation::begin(system, method, may_move)?;
        let scheme = plain.scheme();
        let no = |reason| Err(DifferentiationError::Study { id: method.id().into(), reason });
        match study {
            Study::Exact => {}
            _ if scheme.stabilized => return no("the simplified derivatives are for constraints=index3"),
            Study::Symmetric if scheme.form != Form::Geometric => {
                return no("the symmetric tangent stiffness is a simplification of geometric-alpha");
            }
            Study::Symmetric => {}
            _ if scheme.form == Form::Geometric => {
                return no(
                    "reference-free and without-k-g simplify forms in parameters: linear-alpha, residual-alpha",
                );
            }
            _ if scheme.chart == Chart::Rescaled => {
                return no("the simplified derivatives are for chart=incremental");
            }
            _ => {}
        }
        fn counts<S: Real>(s: &System<S>) -> [usize; 4] {
            [s.bodies.len(), s.joints.len(), s.forces.len(), s.extra.len()]
        }
        let mut parameters = Vec::with_capacity(varied.len());
        for (parameter, varied) in varied.iter().enumerate() {
            if counts(varied) != counts(system) {
                return Err(DifferentiationError::Different { parameter });
            }
            let shown = Simulation::begin(varied, method, may_move)?;
            let now = Variation {
                bodies: shown.bodies().iter().map(BodyVariation::of).collect(),
                extra: shown.extra().iter().map(flat_slopes).collect(),
                lambda: shown.all_multipliers().iter().map(|l| l.eps[0]).collect(),
            };
            parameters.push(Parameter { touched: Touched::new(varied), next: now.clone(), now, shown });
        }
        let bodies = system.bodies.len();
        let work = Linear {
            matrix: None,
            maps: vec![Maps::none(); bodies],
            predicted: vec![Predicted::none(); bodies],
            partial: vec![[Vector3::zeros(); 2]; bodies],
            flat: system.extra.iter().map(|e| [vec![0.0; e.len()], vec![0.0; e.len()]]).collect(),
            joints: vec![[[Vector3::zeros(); 4]; MOST_ROWS]; system.joints.len()],
            stiffness: Vec::new(),
            x: vec![0.0; Layout::new(system, scheme.stabilized).n],
        };
        Ok(Differentiated { plain, study, parameters, work })
    }
    /// The plain run.
    pub fn simulation(&self) -> &Simulation<'a, f64> {
        &self.plain
    }
    /// How many parameters there are.
    pub fn parameters(&self) -> usize {
        self.parameters.len()
    }
    /// The run as it is now with the derivatives with respect to one parameter on each number.
    pub fn derivative(&mut self, parameter: usize) -> &Simulation<'a, D> {
        let Parameter { now, shown, .. } = &mut self.parameters[parameter];
        let bodies = self.plain.bodies().iter().zip(&now.bodies).map(|(body, by)| by.attached(body));
        let extra = self.plain.extra().iter().zip(&now.extra).map(|(e, by)| flat_attached(e, by));
        let lambda = attached(self.plain.all_multipliers(), &now.lambda);
        shown.show(bodies, extra, lambda, Dual::lift(self.plain.time()));
        shown
    }
    /// One step of size `h`. After an error all is as it was.
    pub fn step(&mut self, h: f64) -> Result<(), StepError> {
        let Differentiated { plain, study, parameters, work } = self;
        plain.step_with(h, |stepping| work.step(stepping, *study, parameters))?;
        for parameter in parameters {
            core::mem::swap(&mut parameter.now, &mut parameter.next);
        }
        Ok(())
    }
    /// Sets the clock, which the sum of steps loses by rounding.
    pub(crate) fn set_time(&mut self, t: f64) {
        self.plain.set_time(t);
    }
}

/// The Newton matrix with the symmetric part of its stiffness.
struct Symmetrized<'a, K>(&'a mut K);

impl<S: Real, K: Sink<S>> Sink<S> for Symmetrized<'_, K> {
    fn add(&mut self, row: usize, column: usize, value: S) {
        self.0.add(row, column, value);
    }
    fn stiffness(&mut self, row: usize, column: usize, m: &Matrix3<S>) {
        let half = m * S::lift(0.5);
        self.0.block(row, column, &half);
        self.0.block(column, row, &half.transpose());
    }
}

impl Linear {
    /// Differentiates a step that is solved.
    fn step(
        &mut self,
        stepping: &mut Stepping<'_, f64>,
        study: Study,
        parameters: &mut [Parameter<'_>],
    ) -> Result<(), StepError> {
        if parameters.is_empty() {
            return Ok(());
        }
        let weights = stepping.weights;
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => {
                let mut places = Places::default();
                self.write(stepping, &weights, study, &mut places);
                Matrix::new(stepping.work.layout.n, places, &stepping.work.layout.blocks)
            }
        };
        self.write(stepping, &weights, study, &mut matrix.rewrite());
        let factored = matrix.factor();
        self.matrix = Some(matrix);
        if let Err(error) = factored {
            let (t, h) = (stepping.t, stepping.h);
            return Err(match error {
                FactorError::Singular { null, .. } => {
                    let joints = stepping.work.layout.named(stepping.system, &null);
                    StepError::Singular { t, h, joints }
                }
                FactorError::NotFinite { .. } => StepError::NotFinite { t, h },
            });
        }
        self.differentiate_joints(stepping, &weights, study);
        for parameter in parameters {
            self.vary(stepping, &weights, parameter)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        stepping: &mut Stepping<'_, f64>,
        weights: &Weights<f64>,
        study: Study,
        sink: &mut impl Sink<f64>,
    ) {
        match study {
            Study::Symmetric => stepping.write(weights, &mut Symmetrized(sink)),
            _ => stepping.write(weights, sink),
        }
        for (b, maps) in self.maps.iter_mut().enumerate() {
            *maps = Maps::new(stepping, b, weights, study);
            if let Some(added) = &maps.studied {
                let row = stepping.work.layout.motion(b) + 3;
                sink.block(row, row, &(added * weights.scale));
            }
        }
    }

    /// B and the stiffness of the joints.
    fn differentiate_joints(&mut self, stepping: &Stepping<'_, f64>, weights: &Weights<f64>, study: Study) {
        let (work, layout, ground) = (&*stepping.work, &stepping.work.layout, Place::ground());
        let geometric = weights.complementary * weights.scale;
        self.stiffness.clear();
        for (j, joint) in stepping.system.joints.iter().enumerate() {
            let bodies = joint.ends.map(|end| end.body);
            let places = ends(&work.now, &ground, bodies);
            joint.jacobian(places, &mut self.joints[j]);
            let lambda = &work.lambda[layout.multipliers[j]..][..joint.kind.rows()];
            joint.stiffness(places, lambda, |row, column, block| {
                let (Some(to), Some(from)) = (bodies[row / 2], bodies[column / 2]) else { return };
                let mut add = |to: usize, row: usize, from: usize, column: usize, block: Matrix3<f64>| {
                    let row = layout.motion(to) + row % 2 * 3;
                    self.stiffness.push(Stiffness { row, body: from, turned: column % 2 == 1, block });
                };
                let block = block * geometric;
                if study == Study::Symmetric {
                    add(to, row, from, column, block * 0.5);
                    add(from, column, to, row, block.transpose() * 0.5);
                } else {
                    add(to, row, from, column, block);
                }
            });
        }
    }

    fn add(&mut self, at: usize, v: &Vector3<f64>) {
        for i in 0..3 {
            self.x[at + i] += v[i];
        }
    }

    /// The derivatives of one step with respect to one parameter.
    fn vary(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        parameter: &mut Parameter<'_>,
    ) -> Result<(), StepError> {
        let system = parameter.shown.system();
        let (touched, now, next) = (&parameter.touched, &parameter.now, &mut parameter.next);
        let (work, layout) = (&*stepping.work, &stepping.work.layout);
        self.x.fill(0.0);
        self.partial.fill([Vector3::zeros(); 2]);
        for (b, body) in now.bodies.iter().enumerate() {
            let predicted = self.maps[b].predict(stepping, body);
            let row = layout.motion(b);
            for i in 0..3 {
                self.x[row + i] = predicted.force[i] * weights.scale;
                self.x[row + 3 + i] = predicted.moment[i] * weights.scale;
            }
            self.predicted[b] = predicted;
        }
        self.by_bodies(stepping, weights, system, touched);
        self.by_forces(stepping, weights, system);
        self.by_poses(stepping);
        self.by_joints(stepping, weights, system, touched);
        if work.scheme.stabilized {
            self.by_ties(stepping, weights, system, now);
        }
        self.by_extra(stepping, weights, system, (touched, now));
        if let Some(matrix) = &mut self.matrix {
            matrix.factors.solve(&mut self.x);
        }
        let x = &self.x;
        let mut sum = 0.0;
        let part = |at: usize| -Vector3::new(x[at], x[at + 1], x[at + 2]);
        for (b, before) in now.bodies.iter().enumerate() {
            let pair = |at: usize| [part(at), part(at + 3)];
            let (maps, predicted) = (&self.maps[b], &self.predicted[b]);
            let changes = [pair(layout.pose(b)), pair(layout.motion(b))];
            let (mut after, rotation) = maps.finish(stepping, weights, predicted, before, changes);
            if work.scheme.form == Form::Residual {
                let parts = (predicted, before, &mut after);
                maps.carry(stepping, b, weights, &self.partial[b], &rotation, parts);
            }
            if work.scheme.chart == Chart::Rescaled {
                let parameters = stepping.rescaled(&work.now[b].parameters);
                if parameters != work.now[b].parameters {
                    after.parameters =
                        maps.rescaled(&Tangent::new(work.map(), &parameters), &after.parameters);
                }
            }
            sum += after.turn.norm_squared() + after.omega.norm_squared() + after.position.norm_squared();
            next.bodies[b] = after;
        }
        for (j, joint) in stepping.system.joints.iter().enumerate() {
            let (start, first) = (layout.joints[j], layout.multipliers[j]);
            for k in 0..joint.kind.rows() {
                next.lambda[first + k] = -x[start + k] * weights.multiplier;
                sum += next.lambda[first + k].abs();
            }
        }
        self.finish_extra(stepping, weights, system, now, next);
        match sum.is_finite() {
            true => Ok(()),
            false => Err(StepError::NotFinite { t: stepping.t, h: stepping.h }),
        }
    }

    fn finish_extra(
        &self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        system: &System<D>,
        before: &Variation,
        next: &mut Variation,
    ) {
        let (work, alpha) = (&*stepping.work, stepping.work.scheme.weights);
        for (i, (flat, after)) in before.extra.iter().zip(&mut next.extra).enumerate() {
            let (extra, start, n) = (&system.extra[i], work.layout.extra[i], flat.position.len());
            let [positions, velocities] = &self.flat[i];
            for k in 0..n {
                let change = -self.x[start + k];
                let w = change * weights.acceleration;
                after.position[k] = positions[k] + change;
                after.velocity[k] = velocities[k] + change * weights.velocity;
                after.algorithmic[k] = stepping.algorithmic(flat.algorithmic[k], flat.acceleration[k], w);
                after.acceleration[k] = w;
            }
            // As for the bodies: f_c from the derivative of the equations.
            if work.scheme.form == Form::Residual {
                for k in 0..n {
                    let mass = |j: usize| extra.mass[k * n + j].re * after.acceleration[j];
                    let fa = (0..n).map(mass).sum::<f64>() + by_numbers(stepping, weights, system, i, k)[0];
                    let fc = -(fa * weights.inertial + flat.carried[k]) / weights.complementary;
                    after.carried[k] = fa * alpha.m + fc * alpha.f;
                }
            }
        }
    }
}
