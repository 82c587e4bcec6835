//! What acts, as expressions of a model file: loads, potentials, tables, forces along a line.

use super::control::Setting;
use crate::body::{Formula, Kinematics, Wrench};
use crate::expression::Expression;
use crate::group::{Jet, Rotation};
use crate::multibody::{ForceFormula, MovingFrames, Push};
use crate::scalar::{Dual, Real};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// What a name in a load stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// One of its numbers.
    Number(usize),
    Time,
    Quaternion(usize),
    /// Row (space) and column (body).
    Attitude(usize, usize),
    Position(usize),
    Velocity(usize),
    VelocityBody(usize),
    OmegaBody(usize),
    OmegaSpace(usize),
    CenterOfMass(usize),
    CenterVelocity(usize),
}

/// An expression with what its names stand for.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) expression: Expression,
    pub(super) slots: Vec<Slot>,
}

/// What has to be computed before names have values.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    matrix: bool,
    velocity: bool,
    omega_space: bool,
    center: bool,
}

impl Needs {
    fn any(self) -> bool {
        self.matrix || self.velocity || self.omega_space || self.center
    }
    fn of<'a>(all: impl Iterator<Item = &'a Compiled>) -> Self {
        let mut needs = Needs::default();
        for slot in all.flat_map(|compiled| &compiled.slots) {
            match slot {
                Slot::Attitude(..) => needs.matrix = true,
                Slot::Velocity(_) => needs.velocity = true,
                Slot::OmegaSpace(_) => needs.omega_space = true,
                Slot::CenterOfMass(_) | Slot::CenterVelocity(_) => needs.center = true,
                _ => {}
            }
        }
        needs
    }
}

/// The motion as names see it.
struct Seen<'a, T> {
    numbers: &'a [T],
    at: &'a Kinematics<T>,
    /// What takes some computing, if it is needed.
    derived: Option<Derived<T>>,
}

struct Derived<T> {
    matrix: Matrix3<T>,
    velocity: Vector3<T>,
    omega_space: Vector3<T>,
    /// Position and velocity of the centre of mass.
    center: [Vector3<T>; 2],
}

impl<T: Real> Derived<T> {
    #[inline(never)]
    fn new(numbers: &[T], at: &Kinematics<T>, needs: Needs, center: Option<[usize; 3]>) -> Self {
        let zero = Vector3::zeros();
        let center = match (needs.center, center) {
            (true, Some(places)) => {
                let point = Vector3::from(places.map(|place| numbers[place]));
                let moving = at.of_point(&point);
                [moving.position, at.attitude.rotate(&moving.velocity_body)]
            }
            _ => [zero; 2],
        };
        Derived {
            matrix: if needs.matrix { at.attitude.matrix() } else { Matrix3::zeros() },
            velocity: if needs.velocity { at.attitude.rotate(&at.velocity_body) } else { zero },
            omega_space: if needs.omega_space { at.attitude.rotate(&at.omega_body) } else { zero },
            center,
        }
    }
    fn value(&self, slot: Slot) -> T {
        match slot {
            Slot::Attitude(i, j) => self.matrix[(i, j)],
            Slot::Velocity(i) => self.velocity[i],
            Slot::OmegaSpace(i) => self.omega_space[i],
            Slot::CenterOfMass(i) => self.center[0][i],
            Slot::CenterVelocity(i) => self.center[1][i],
            _ => T::lift(f64::NAN),
        }
    }
}

impl<'a, T: Real> Seen<'a, T> {
    #[inline(always)]
    fn new(numbers: &'a [T], at: &'a Kinematics<T>, needs: Needs, center: Option<[usize; 3]>) -> Self {
        let derived = needs.any().then(|| Derived::new(numbers, at, needs, center));
        Seen { numbers, at, derived }
    }
    #[inline(always)]
    fn value(&self, slot: Slot) -> T {
        match slot {
            Slot::Number(i) => self.numbers[i],
            Slot::Time => self.at.time,
            Slot::Quaternion(0) => self.at.attitude.w,
            Slot::Quaternion(i) => self.at.attitude.v[i - 1],
            Slot::Position(i) => self.at.position[i],
            Slot::VelocityBody(i) => self.at.velocity_body[i],
            Slot::OmegaBody(i) => self.at.omega_body[i],
            other => self.derived.as_ref().map_or(T::lift(f64::NAN), |derived| derived.value(other)),
        }
    }
    #[inline(never)]
    fn evaluate(&self, compiled: &Compiled) -> T {
        compiled.expression.evaluate_fast(|name| self.value(compiled.slots[name]))
    }
}

/// Numbers over time, linear between the rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) times: Vec<f64>,
    pub(super) rows: Vec<[f64; 3]>,
}

impl Series {
    /// The values at a time, those of the side that is asked for; no numbers beyond the first and last row.
    fn at<T: Real>(&self, time: T, inward: f64) -> Vector3<T> {
        let now = time.largest();
        let [first, last] = [self.times.first(), self.times.last()].map(|t| t.copied().unwrap_or(f64::NAN));
        let slack = 1e-9 * (last - first).abs();
        if !(now >= first - slack && now <= last + slack) || self.times.len() < 2 {
            return Vector3::from_element(T::lift(f64::NAN));
        }
        let after = self.times.partition_point(|t| *t <= now + inward).clamp(1, self.times.len() - 1);
        let (t0, t1) = (self.times[after - 1], self.times[after]);
        let part = (time - T::lift(t0)) / T::lift(t1 - t0);
        let (a, b) = (&self.rows[after - 1], &self.rows[after]);
        Vector3::from_fn(|i, _| T::lift(a[i]) + T::lift(b[i] - a[i]) * part)
    }
}

/// Three components of a force or moment.
#[derive(Clone, Debug)]
pub(super) enum Components {
    /// Each an expression; nothing where it is zero.
    Each(Box<[Option<Compiled>; 3]>),
    Table(Arc<Series>),
    /// What a controller sets, and before that the numbers at these places.
    Set(Arc<Setting>, [usize; 3]),
}

/// One force or moment.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) values: Components,
    /// True if it is given in space axes.
    pub(super) in_space: bool,
    /// Where a force acts, by the places of the numbers; nothing for a moment.
    pub(super) point: Option<[usize; 3]>,
}

/// A load of expressions or tables.
#[derive(Clone, Debug)]
pub(super) struct ExpressionLoad {
    parts: Vec<Part>,
    names: Vec<String>,
    needs: Needs,
    /// The places of the numbers of the centre of mass.
    center: Option<[usize; 3]>,
}

impl ExpressionLoad {
    pub(super) fn new(parts: Vec<Part>, names: Vec<String>, center: Option<[usize; 3]>) -> Self {
        let compiled = parts.iter().flat_map(|part| match &part.values {
            Components::Each(each) => each.iter().flatten().collect::<Vec<_>>(),
            Components::Table(_) | Components::Set(..) => Vec::new(),
        });
        let needs = Needs::of(compiled);
        ExpressionLoad { parts, names, needs, center }
    }
}

impl Formula for ExpressionLoad {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
    fn kinks(&self) -> Vec<f64> {
        let of = |part: &Part| match &part.values {
            Components::Table(series) => series.times.clone(),
            Components::Each(_) | Components::Set(..) => Vec::new(),
        };
        self.parts.iter().flat_map(of).collect()
    }
    fn wrench<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
        let seen = Seen::new(numbers, at, self.needs, self.center);
        let mut sum = Wrench::none();
        for part in &self.parts {
            let given = match &part.values {
                Components::Each(each) => Vector3::from_fn(|i, _| {
                    each[i].as_ref().map_or(T::zero(), |compiled| seen.evaluate(compiled))
                }),
                Components::Table(series) => series.at(at.time, at.inward),
                Components::Set(setting, places) => match setting.get() {
                    Some(value) => Vector3::from(value.map(T::lift)),
                    None => Vector3::from(places.map(|place| numbers[place])),
                },
            };
            let value = if part.in_space { at.attitude.unrotate(&given) } else { given };
            match part.point {
                Some(places) => {
                    let point = Vector3::from(places.map(|place| numbers[place]));
                    sum.force_body += value;
                    sum.moment_body += point.cross(&value);
                }
                None => sum.moment_body += value,
            }
        }
        sum
    }
}

/// A load that is the negative derivative of an energy.
#[derive(Clone, Debug)]
pub(super) struct PotentialLoad {
    energy: Compiled,
    names: Vec<String>,
    needs: Needs,
    center: Option<[usize; 3]>,
    /// Whether it depends on where the body is, and on its attitude.
    by_position: bool,
    by_attitude: bool,
}

impl PotentialLoad {
    pub(super) fn new(energy: Compiled, names: Vec<String>, center: Option<[usize; 3]>) -> Self {
        let has = |wanted: fn(&Slot) -> bool| energy.slots.iter().any(wanted);
        let by_position = has(|slot| matches!(slot, Slot::Position(_) | Slot::CenterOfMass(_)));
        let by_attitude =
            has(|slot| matches!(slot, Slot::Attitude(..) | Slot::Quaternion(_) | Slot::CenterOfMass(_)));
        let needs = Needs::of(core::iter::once(&energy));
        PotentialLoad { energy, names, needs, center, by_position, by_attitude }
    }
    /// The derivatives with respect to three coordinates, where the pose has been given these.
    #[inline(never)]
    fn slopes<T: Real>(&self, numbers: &[T], at: &Kinematics<Jet<T>>) -> Vector3<T> {
        let mut lifted = [Dual::constant(T::zero()); crate::multibody::MOST_NUMBERS];
        for (to, from) in lifted.iter_mut().zip(numbers) {
            *to = Dual::constant(*from);
        }
        let seen = Seen::new(&lifted[..numbers.len()], at, self.needs, self.center);
        seen.evaluate(&self.energy).eps.into()
    }
}

impl Formula for PotentialLoad {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
    fn wrench<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
        let constant = |v: &Vector3<T>| v.map(Dual::constant);
        let still = Kinematics {
            time: Dual::constant(at.time),
            attitude: Rotation { w: Dual::constant(at.attitude.w), v: constant(&at.attitude.v) },
            position: constant(&at.position),
            velocity_body: constant(&at.velocity_body),
            omega_body: constant(&at.omega_body),
            inward: at.inward,
        };
        let mut wrench = Wrench::none();
        if self.by_position {
            let position = Vector3::from_fn(|i, _| Dual::variable(at.position[i], i));
            let slopes = self.slopes(numbers, &Kinematics { position, ..still });
            wrench.force_body = -at.attitude.unrotate(&slopes);
        }
        if self.by_attitude {
            // q' = q (0, θ)/2 for a small turn θ in body axes.
            let half = T::lift(0.5);
            let (w, v) = (at.attitude.w * half, at.attitude.v * half);
            let turned = Rotation {
                w: Dual { re: at.attitude.w, eps: [-v[0], -v[1], -v[2]] },
                v: Vector3::new(
                    Dual { re: at.attitude.v[0], eps: [w, -v[2], v[1]] },
                    Dual { re: at.attitude.v[1], eps: [v[2], w, -v[0]] },
                    Dual { re: at.attitude.v[2], eps: [-v[1], v[0], w] },
                ),
            };
            wrench.moment_body = -self.slopes(numbers, &Kinematics { attitude: turned, ..still });
        }
        wrench
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Option<T> {
        Some(Seen::new(numbers, at, self.needs, self.center).evaluate(&self.energy))
    }
}

/// What a name in a force along a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineSlot {
    Number(usize),
    Time,
    Length,
    Rate,
}

/// A force along the line between two points, which pulls them together where it is positive.
#[derive(Clone, Debug)]
pub(super) struct LineForce {
    pub(super) expression: Expression,
    pub(super) slots: Vec<LineSlot>,
    pub(super) names: Vec<String>,
    /// True if the expression is the energy, as a function of the length.
    pub(super) is_energy: bool,
}

impl LineForce {
    fn evaluate<T: Real>(&self, numbers: &[T], time: T, length: T, rate: T) -> T {
        self.expression.evaluate_with(&|name| match self.slots[name] {
            LineSlot::Number(i) => numbers[i],
            LineSlot::Time => time,
            LineSlot::Length => length,
            LineSlot::Rate => rate,
        })
    }
    /// The line from point to point: its direction, length and rate.
    fn line<T: Real>(at: &MovingFrames<T>) -> (Vector3<T>, T, T) {
        let d = at.frames.span();
        let length = d.dot(&d).sqrt();
        let along = d / length;
        (along, length, along.dot(&(at.velocities[1] - at.velocities[0])))
    }
}

impl ForceFormula for LineForce {
    fn kind(&self) -> &'static str {
        "line"
    }
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        let (along, length, rate) = LineForce::line(at);
        let pull = match self.is_energy {
            false => self.evaluate(numbers, at.frames.time, length, rate),
            true => {
                let mut lifted = [Dual::<T, 1>::constant(T::zero()); crate::multibody::MOST_NUMBERS];
                for (to, from) in lifted.iter_mut().zip(numbers) {
                    *to = Dual::constant(*from);
                }
                let [time, rate] = [at.frames.time, rate].map(Dual::constant);
                self.evaluate(&lifted, time, Dual::variable(length, 0), rate).eps[0]
            }
        };
        Push::force(-along * pull)
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
        let (_, length, rate) = LineForce::line(at);
        self.is_energy.then(|| self.evaluate(numbers, at.frames.time, length, rate))
    }
}
