//! Direct differentiation of the steps of a system with respect to parameters (Brüls & Eberhard 2008, sections 5 and 6).
//!
//! A parameter changes the data of a system: masses, inertias, points and axes of joints, forces, gravity, initial values.
//! A system with one derivative on each number ([`System::lift`]) says by how much. The step is taken in plain numbers;
//! then the Newton matrix, exact and not symmetric, is made once at its solution, and each parameter takes one solve with
//! its factors, four of them at a time in lanes. The solution of the plain run does not change by a bit.

mod block;
mod error;
mod followed;
mod maps;
mod partial;
mod variation;

pub use error::DifferentiationError;
pub use variation::Dual1;

use super::joint::MOST_ROWS;
use super::parameters::SystemParameter;
use super::place::Place;
use super::shared::IntoShared;
use super::simulation::{Simulation, SimulationError};
use super::system::System;
use super::tape::{Matrix, Places, Sink};
use super::workspace::{Stepping, Weights, ends};
use crate::group::Tangent;
use crate::method::{Chart, Form, Method};
use crate::scalar::{Dual, F64x4, Lane, Mask, Real};
use crate::solve::{FactorError, StepError};
use block::{Block, Room};
use core::ops::Range;
use followed::Factored;
use maps::{Maps, Rule};
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;
use std::sync::Arc;
use variation::{Variation, attached, flat_attached};

/// How the equations are differentiated: exactly, or simplified as in Table 4 of the paper, to study what that costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
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

impl Variant {
    /// Every one with its name.
    pub const ALL: [(&'static str, Variant); 4] = [
        ("exact", Variant::Exact),
        ("reference-free", Variant::ReferenceFree),
        ("without-k-g", Variant::WithoutKg),
        ("symmetric", Variant::Symmetric),
    ];
}

/// A system in motion with the derivatives of all that moves with respect to any number of parameters. Memory grows with
/// the number of parameters; a step allocates none, after the first.
///
/// ```
/// use polhode::{method::Method, multibody::Differentiated, problem::Problem, scalar::Dual};
/// let model = Problem::named("double-pendulum")?.model()?;
/// let system = model.system();
/// // With respect to the mass of the lower body, and to gravity.
/// let mut varied = [system.lift::<Dual<f64, 1>>(), system.lift()];
/// varied[0].bodies_mut()[1].mass.eps = [1.0];
/// varied[1].gravity_mut().z.eps = [1.0];
/// let mut run = Differentiated::new(system, &varied, &Method::parse("geometric-alpha")?)?;
/// for _ in 0..100 {
///     run.step(0.005)?;
/// }
/// let by_mass = run.derivative(0).and_then(|run| run.position("lower")).ok_or("a body")?.z.eps[0];
/// // As differences of runs have it.
/// assert!((by_mass + 0.139_024_931).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Differentiated {
    plain: Simulation<f64>,
    variant: Variant,
    /// Four parameters at a time, and one that is left alone.
    fours: Vec<Block<F64x4>>,
    last: Option<Block<f64>>,
    room_for_four: Room<F64x4>,
    room_for_one: Room<f64>,
    /// A simulation to show the derivatives by each parameter in.
    shown: Vec<Simulation<Dual1>>,
    work: Linear,
    /// Under a method that is not a generalized-alpha one.
    factored: Option<Factored>,
}

/// What is shared by all parameters in a step.
#[derive(Clone, Debug)]
struct Linear {
    /// None until the first step.
    matrix: Option<Matrix<f64>>,
    maps: Vec<Maps>,
    /// The bodies that have loads.
    loaded: Vec<usize>,
    /// B of each joint, which coordinates of position its rows see, and the stiffness of all but that of a body's moments
    /// by its own attitude, which is in its maps.
    joints: Vec<[[Vector3<f64>; 4]; MOST_ROWS]>,
    touched: Vec<Vec<Range<usize>>>,
    stiffness: Vec<Stiffness>,
}

/// What a joint adds to the equations from this row on for a change of position or attitude of a body.
#[derive(Clone, Copy, Debug)]
struct Stiffness {
    row: usize,
    body: usize,
    turned: bool,
    block: Matrix3<f64>,
}

impl Differentiated {
    /// At t = 0, from positions that fit the joints. Each system of `varied` is the same with derivatives with respect to one
    /// parameter.
    pub fn new(
        system: impl IntoShared<f64>,
        varied: &[System<Dual1>],
        method: &Method,
    ) -> Result<Self, DifferentiationError> {
        Self::with_variant(system, varied, method, Variant::Exact)
    }
    /// The same, simplified for study.
    pub fn with_variant(
        system: impl IntoShared<f64>,
        varied: &[System<Dual1>],
        method: &Method,
        variant: Variant,
    ) -> Result<Self, DifferentiationError> {
        Self::begin(system.into_shared(), varied, method, variant, false)
    }
    /// The same from any positions: those nearby that fit the joints, see [`Simulation::assembled`].
    pub fn assembled(
        system: impl IntoShared<f64>,
        varied: &[System<Dual1>],
        method: &Method,
        variant: Variant,
    ) -> Result<Self, DifferentiationError> {
        Self::begin(system.into_shared(), varied, method, variant, true)
    }
    fn begin(
        system: Arc<System<f64>>,
        varied: &[System<Dual1>],
        method: &Method,
        variant: Variant,
        may_move: bool,
    ) -> Result<Self, DifferentiationError> {
        system.check().map_err(SimulationError::from)?;
        let plain = Simulation::begin(system.clone(), method, may_move)?;
        let scheme = plain.alpha_scheme();
        let no = |reason| Err(DifferentiationError::Variant { id: method.id().into(), reason });
        match variant {
            Variant::Exact => {}
            _ if !plain.is_alpha() => {
                return no("the simplified derivatives are for generalized-alpha methods");
            }
            _ if scheme.stabilized => return no("the simplified derivatives are for constraints=index3"),
            Variant::Symmetric if scheme.form != Form::Geometric => {
                return no("the symmetric tangent stiffness is a simplification of geometric-alpha");
            }
            Variant::Symmetric => {}
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
        let mut shown = Vec::with_capacity(varied.len());
        for (parameter, varied) in varied.iter().enumerate() {
            if counts(varied) != counts(&system) {
                return Err(DifferentiationError::Different { parameter });
            }
            compare(&system, varied, parameter)?;
            let mut begun = Simulation::begin(varied.into_shared(), method, may_move)?;
            if !plain.is_alpha() {
                begun.take_values(&plain);
            }
            shown.push(begun);
        }
        let alone = usize::from(shown.len() % F64x4::COUNT == 1);
        let (together, last) = shown.split_at(shown.len() - alone);
        let fours: Vec<_> = together.chunks(F64x4::COUNT).map(Block::new).collect();
        let last = (alone == 1).then(|| Block::new(last));
        let system = plain.centered().clone();
        let bodies = system.bodies.iter().enumerate();
        let work = Linear {
            matrix: None,
            maps: vec![Maps::none(); system.bodies.len()],
            loaded: bodies.filter(|(_, body)| !body.loads.is_empty()).map(|(b, _)| b).collect(),
            joints: vec![[[Vector3::zeros(); 4]; MOST_ROWS]; system.joints.len()],
            touched: system
                .joints
                .iter()
                .map(|j| (0..j.kind.rows()).map(|k| j.touched(k)).collect())
                .collect(),
            stiffness: Vec::new(),
        };
        Ok(Differentiated {
            variant,
            room_for_four: Room::new(&system, scheme.stabilized, !fours.is_empty()),
            room_for_one: Room::new(&system, scheme.stabilized, last.is_some()),
            factored: (!plain.is_alpha()).then(|| Factored::new(&plain)),
            plain,
            fours,
            last,
            shown,
            work,
        })
    }
    /// The plain run.
    pub fn simulation(&self) -> &Simulation<f64> {
        &self.plain
    }
    /// How many parameters there are.
    pub fn parameters(&self) -> usize {
        self.shown.len()
    }
    /// The run as it is now with the derivatives with respect to one parameter on each number; nothing if there is no such
    /// parameter.
    pub fn derivative(&mut self, parameter: usize) -> Option<&Simulation<Dual1>> {
        let (plain, shown) = (&self.plain, self.shown.get_mut(parameter)?);
        if !plain.is_alpha() {
            return Some(shown);
        }
        let (block, lane) = (parameter / F64x4::COUNT, parameter % F64x4::COUNT);
        match (self.fours.get(block), &self.last) {
            (Some(block), _) => show(plain, &block.now, lane, shown),
            (None, Some(block)) => show(plain, &block.now, 0, shown),
            (None, None) => {}
        }
        Some(shown)
    }
    /// One step of size `h`. After an error all is as it was.
    pub fn step(&mut self, h: f64) -> Result<(), StepError> {
        if !self.plain.is_alpha() {
            return self.step_in_parts(h);
        }
        let Differentiated { plain, variant, fours, last, room_for_four, room_for_one, shown, work, .. } =
            self;
        plain.step_with(h, |stepping| {
            if shown.is_empty() {
                return Ok(());
            }
            let (weights, rule) = work.prepare(stepping, *variant)?;
            for block in &mut *fours {
                work.vary(stepping, &weights, &rule, block, room_for_four)?;
            }
            match &mut *last {
                Some(block) => work.vary(stepping, &weights, &rule, block, room_for_one),
                None => Ok(()),
            }
        })?;
        for block in fours {
            core::mem::swap(&mut block.now, &mut block.next);
        }
        if let Some(block) = last {
            core::mem::swap(&mut block.now, &mut block.next);
        }
        Ok(())
    }
    /// One step that keeps structure, part by part.
    fn step_in_parts(&mut self, h: f64) -> Result<(), StepError> {
        let Differentiated { plain, shown, factored: Some(factored), .. } = self else { return Ok(()) };
        let from = plain.time();
        plain.mark();
        shown.iter_mut().for_each(Simulation::mark);
        for part in 0..plain.fractions.len() {
            let size = h * plain.fractions[part];
            if let Err(error) = followed::follow(plain, factored, shown, size) {
                plain.go_back();
                shown.iter_mut().for_each(Simulation::go_back);
                return Err(error.of_step(from, h));
            }
        }
        self.set_time(from + h);
        Ok(())
    }
    /// Starts anew where it is, see [`Simulation::restart`].
    pub fn restart(&mut self) -> Result<(), StepError> {
        if !self.plain.is_alpha() {
            self.shown.iter_mut().try_for_each(Simulation::restart)?;
            return self.plain.restart();
        }
        for parameter in 0..self.shown.len() {
            self.derivative(parameter);
        }
        self.plain.restart()?;
        self.shown.iter_mut().try_for_each(Simulation::restart)?;
        let alone = usize::from(self.last.is_some());
        let (together, last) = self.shown.split_at(self.shown.len() - alone);
        self.fours = together.chunks(F64x4::COUNT).map(Block::new).collect();
        self.last = (alone == 1).then(|| Block::new(last));
        Ok(())
    }
    /// Sets the clock, which the sum of steps loses by rounding.
    pub fn set_time(&mut self, t: f64) {
        self.plain.set_time(t);
        if !self.plain.is_alpha() {
            self.shown.iter_mut().for_each(|shown| shown.set_time(Dual::constant(t)));
        }
    }
}

/// Values computed with derivatives may round otherwise, by no more than this part of the largest of their kind.
const ROUNDED: f64 = 1e-9;

/// Sees to it that a system with derivatives has the values of the plain one.
fn compare(
    plain: &System<f64>,
    varied: &System<Dual1>,
    parameter: usize,
) -> Result<(), DifferentiationError> {
    let (known, found) = (plain.parameters(), varied.parameters());
    if known.len() != found.len() || known.iter().zip(&found).any(|(a, b)| a.name != b.name) {
        return Err(DifferentiationError::Different { parameter });
    }
    // The name without the element and the component: what is of the same kind is of the same size.
    fn kind(parameter: &SystemParameter) -> &str {
        parameter.whole().rsplit('.').next().unwrap_or_default()
    }
    let mut sizes: HashMap<&str, f64> = HashMap::new();
    for one in &known {
        let size = sizes.entry(kind(one)).or_insert(f64::MIN_POSITIVE);
        *size = size.max(one.value.abs());
    }
    let differ = |name: &str, values: [f64; 2]| {
        Err(DifferentiationError::Value { parameter, name: name.into(), values })
    };
    for (plain, varied) in known.iter().zip(&found) {
        let size = sizes.get(kind(plain)).copied().unwrap_or(1.0);
        // Where all of a kind is zero, so is what rounding makes of it, beside one.
        let size = if size > f64::MIN_POSITIVE { size } else { 1e-3 };
        let gap = (varied.value - plain.value).abs();
        if gap.is_nan() || gap > ROUNDED * size {
            return differ(&varied.name, [varied.value, plain.value]);
        }
    }
    for (plain, varied) in plain.bodies.iter().zip(&varied.bodies) {
        let turned = varied.attitude.q_wxyz().map(|x| x.re);
        for (a, b) in turned.into_iter().zip(plain.attitude.q_wxyz()) {
            if (a - b).is_nan() || (a - b).abs() > ROUNDED {
                return differ(&format!("{}.attitude", plain.name), [a, b]);
            }
        }
    }
    Ok(())
}

/// Shows the derivatives of one lane.
fn show<L: Lane>(plain: &Simulation<f64>, by: &Variation<L>, lane: usize, shown: &mut Simulation<Dual1>) {
    let charted = plain.alpha_scheme().chart == Chart::Rescaled;
    let bodies = plain.bodies().iter().zip(&by.bodies);
    let extra = plain.extra().iter().zip(&by.extra);
    shown.show(
        bodies.map(|(body, by)| by.attached(body, lane, charted)),
        extra.map(|(e, by)| flat_attached(e, by, lane)),
        attached(plain.all_multipliers(), &by.lambda, lane),
        (Dual::lift(plain.time()), plain.angles()),
    );
}

/// The Newton matrix with the symmetric part of its stiffness.
struct Symmetrized<'a, K: ?Sized>(&'a mut K);

impl<S: Real, K: Sink<S> + ?Sized> Sink<S> for Symmetrized<'_, K> {
    fn add(&mut self, row: usize, column: usize, value: S) {
        self.0.add(row, column, value);
    }
    fn object(&mut self) -> &mut dyn Sink<S> {
        self
    }
    fn stiffness(&mut self, row: usize, column: usize, m: &Matrix3<S>) {
        let half = m * S::lift(0.5);
        self.0.block(row, column, &half);
        self.0.block(column, row, &half.transpose());
    }
}

impl Linear {
    /// What all parameters share in a step that is solved.
    fn prepare(
        &mut self,
        stepping: &mut Stepping<'_, f64>,
        variant: Variant,
    ) -> Result<(Weights<f64>, Rule), StepError> {
        let weights = stepping.weights;
        let moving = !self.loaded.is_empty() || !stepping.system.forces.is_empty();
        let rule = Rule::new(stepping, moving);
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => {
                let mut places = Places::default();
                self.write(stepping, &weights, &rule, variant, &mut places as &mut dyn Sink<f64>);
                let layout = &stepping.work.layout;
                Matrix::new(layout.n, places, &layout.blocks(), &layout.scales)
            }
        };
        self.write(stepping, &weights, &rule, variant, &mut matrix.rewrite());
        let factored = matrix.factor();
        self.matrix = Some(matrix);
        if let Err(error) = factored {
            let (t, h) = (stepping.t, stepping.h);
            return Err(match error {
                FactorError::Singular { null, .. } => {
                    let joints = stepping.work.layout.named(stepping.system, &null);
                    StepError::Singular { t, h, joints }
                }
                FactorError::NotFinite { .. } | FactorError::Count { .. } => StepError::NotFinite { t, h },
            });
        }
        self.differentiate_joints(stepping, &weights, variant);
        Ok((weights, rule))
    }

    fn write(
        &mut self,
        stepping: &mut Stepping<'_, f64>,
        weights: &Weights<f64>,
        rule: &Rule,
        variant: Variant,
        sink: &mut (impl Sink<f64> + ?Sized),
    ) {
        let whole = rule.stabilized;
        match variant {
            Variant::Symmetric => {
                stepping.write(weights, whole, &mut Symmetrized(sink) as &mut dyn Sink<f64>);
            }
            _ => stepping.write(weights, whole, sink),
        }
        for (b, maps) in self.maps.iter_mut().enumerate() {
            *maps = Maps::new(stepping, b, weights, rule, variant);
            if let Some(added) = &maps.added {
                let row = stepping.work.layout.motion(b) + 3;
                sink.block(row, row, &(added * weights.scale));
            }
        }
    }

    /// B and the stiffness of the joints.
    fn differentiate_joints(
        &mut self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        variant: Variant,
    ) {
        let (work, layout, ground) = (&*stepping.work, &stepping.work.layout, Place::ground());
        let (geometric, time) = (weights.complementary * weights.scale, stepping.t + stepping.h);
        self.stiffness.clear();
        for (j, joint) in stepping.system.joints.iter().enumerate() {
            let bodies = joint.bodies();
            let places = ends(&work.now, &ground, bodies);
            joint.jacobian(time, places, &mut self.joints[j]);
            let lambda = &work.lambda[layout.multipliers[j]..][..joint.kind.rows()];
            joint.stiffness(time, places, lambda, |row, column, block| {
                let (Some(to), Some(from)) = (bodies[row / 2], bodies[column / 2]) else { return };
                let mut add = |to: usize, row: usize, from: usize, column: usize, block: Matrix3<f64>| {
                    if to == from && row % 2 == 1 && column % 2 == 1 {
                        self.maps[to].by_turn += block;
                        return;
                    }
                    let row = layout.motion(to) + row % 2 * 3;
                    self.stiffness.push(Stiffness { row, body: from, turned: column % 2 == 1, block });
                };
                let block = block * geometric;
                if variant == Variant::Symmetric {
                    add(to, row, from, column, block * 0.5);
                    add(from, column, to, row, block.transpose() * 0.5);
                } else {
                    add(to, row, from, column, block);
                }
            });
        }
    }

    /// The derivatives of one step with respect to the parameters of a block.
    fn vary<L: Lane>(
        &self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        rule: &Rule,
        block: &mut Block<L>,
        room: &mut Room<L>,
    ) -> Result<(), StepError> {
        let (work, layout) = (&*stepping.work, &stepping.work.layout);
        let bodies = &stepping.system.bodies;
        room.x.fill(L::zero());
        for (b, body) in block.now.bodies.iter().enumerate() {
            let moment = self.maps[b].predict(rule, body, weights.scale, &mut room.predicted[b]);
            let row = layout.motion(b);
            room.add(row + 3, &moment);
            if rule.form == Form::Residual {
                room.add(row, &(body.carried[0] * L::of(weights.scale)));
            }
        }
        room.by_bodies(stepping, weights, block);
        room.by_forces(stepping, weights, block, &self.loaded);
        room.by_poses(stepping, self);
        room.by_joints(stepping, weights, block);
        if rule.stabilized {
            room.by_ties(stepping, weights, block);
        }
        room.by_extra(stepping, weights, rule, block);
        if let Some(matrix) = &self.matrix {
            matrix.solve_over(&mut room.x, &mut room.pivots);
        }
        // Finite if all that it is the sum of is.
        let mut sum = L::zero();
        let next = &mut block.next;
        for (b, (before, after)) in block.now.bodies.iter().zip(&mut next.bodies).enumerate() {
            let pair = |at: usize| [room.part(at), room.part(at + 3)];
            let changes = [pair(layout.pose(b)), pair(layout.motion(b))];
            let inertia = (bodies[b].mass, bodies[b].inertia.matrix());
            let maps = &self.maps[b];
            maps.finish(rule, weights, inertia, (&room.predicted[b], before), changes, after);
            if rule.chart == Chart::Rescaled {
                let parameters = stepping.rescaled(&work.now[b].parameters);
                if parameters != work.now[b].parameters {
                    after.parameters =
                        maps.rescaled(&Tangent::new(work.map(), &parameters), &after.parameters);
                }
            }
            for v in [&after.turn, &after.omega, &after.position, &after.velocity] {
                sum += v[0] + v[1] + v[2];
            }
        }
        if rule.form == Form::Residual {
            for heavier in &block.heavier {
                let after = &mut next.bodies[heavier.body];
                for (carried, by) in after.carried.iter_mut().zip(heavier.inertial(stepping)) {
                    *carried += by.map(|by| rule.carry(by, L::zero()));
                }
            }
        }
        for (j, joint) in stepping.system.joints.iter().enumerate() {
            let (start, first) = (layout.joints[j], layout.multipliers[j]);
            for k in 0..joint.kind.rows() {
                let lambda = room.x[start + k] * L::of(-weights.multiplier);
                next.lambda[first + k] = lambda;
                sum += lambda;
            }
        }
        room.finish_extra(stepping, weights, rule, block);
        for velocity in block.next.extra.iter().flat_map(|flat| &flat.velocity) {
            sum += *velocity;
        }
        match sum.is_finite().all() {
            true => Ok(()),
            false => Err(StepError::NotFinite { t: stepping.t, h: stepping.h }),
        }
    }
}
