//! What acts, as expressions of a model file: loads, potentials, tables, forces along a line.

use super::control::Setting;
use super::loads::StateExpression;
use super::place::Fault;
use super::signals::{Seen, together};
use crate::body::{Formula, Kinematics, Wrench};
use crate::expression::{Expression, FEW_REGISTERS, MOST_INPUTS, Program, Quick, REGISTERS};
use crate::formula::{FEW_NUMBERS, MOST_NUMBERS, Numbers};
use crate::group::{Jet, Rotation};
use crate::multibody::{ForceFormula, MovingFrames, Push, Strains};
use crate::scalar::{Dual, Real};
use nalgebra::Vector3;
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

impl Slot {
    /// The group of numbers that it is one of, and its place there; nothing for a number of the load.
    fn of_motion(self) -> Option<(usize, usize)> {
        Some(match self {
            Slot::Number(_) => return None,
            Slot::Time => (TIME, 0),
            Slot::Quaternion(i) => (QUATERNION, i),
            Slot::Position(i) => (POSITION, i),
            Slot::VelocityBody(i) => (VELOCITY_BODY, i),
            Slot::OmegaBody(i) => (OMEGA_BODY, i),
            Slot::Attitude(i, j) => (MATRIX, i + 3 * j),
            Slot::Velocity(i) => (VELOCITY, i),
            Slot::OmegaSpace(i) => (OMEGA_SPACE, i),
            Slot::CenterOfMass(i) => (CENTER_OF_MASS, i),
            Slot::CenterVelocity(i) => (CENTER_VELOCITY, i),
        })
    }
}

/// Groups of numbers of the motion, in the order in which a program finds them; the last five take some computing.
const TIME: usize = 0;
const QUATERNION: usize = 1;
const POSITION: usize = 2;
const VELOCITY_BODY: usize = 3;
const OMEGA_BODY: usize = 4;
const MATRIX: usize = 5;
const VELOCITY: usize = 6;
const OMEGA_SPACE: usize = 7;
const CENTER_OF_MASS: usize = 8;
const CENTER_VELOCITY: usize = 9;
/// How many numbers each has.
const SIZES: [usize; 10] = [1, 4, 3, 3, 3, 9, 3, 3, 3, 3];

/// An expression with what its names stand for.
pub(super) struct Named<'a> {
    pub(super) formula: &'a StateExpression,
    pub(super) slots: Vec<Slot>,
}

/// Expressions of the motion of a body in one program. Its inputs are numbers of the load and, of the motion, the groups
/// that are needed.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    program: Program,
    /// How many numbers it takes.
    numbers: usize,
    needs: [bool; SIZES.len()],
    /// True if it needs nothing of the motion beside time.
    is_of_time: bool,
    /// True if it needs what takes some computing.
    is_derived: bool,
    /// The entries of the attitude that it reads, by columns.
    entries: [bool; 9],
    /// The places of the numbers of the centre of mass.
    center: Option<[usize; 3]>,
    /// The same where it is a vector of time and angular velocity, in few registers.
    quick: Option<Quick>,
}

/// What quick programs see: time and angular velocity.
const SEEN: usize = 4;

/// Three expressions as a quick program, if they see no more than that and are no more than it takes.
fn quick(all: &[Named<'_>], numbers: usize) -> Option<Quick> {
    let input = |slot: &Slot| match slot {
        Slot::Number(i) => Some(*i),
        Slot::Time => Some(numbers),
        Slot::OmegaBody(i) => Some(numbers + 1 + i),
        _ => None,
    };
    let inputs = |named: &Named<'_>| named.slots.iter().map(input).collect();
    let inputs: Vec<Vec<usize>> = all.iter().map(inputs).collect::<Option<_>>()?;
    let expressions = all.iter().zip(&inputs);
    let expressions: Vec<(&Expression, &[usize])> =
        expressions.map(|(named, inputs)| (&named.formula.expression, &inputs[..])).collect();
    if all.len() == 3 { Expression::quickly(&expressions, numbers, SEEN) } else { None }
}

/// Registers that are filled one after the other.
struct Filled<'a, T> {
    registers: &'a mut [T],
    next: usize,
}

impl<T: Real> Filled<'_, T> {
    #[inline(always)]
    fn one(&mut self, value: T) {
        if let Some(to) = self.registers.get_mut(self.next) {
            *to = value;
        }
        self.next += 1;
    }
    #[inline(always)]
    fn all(&mut self, values: &[T]) {
        if let Some(to) = self.registers.get_mut(self.next..self.next + values.len()) {
            to.copy_from_slice(values);
        }
        self.next += values.len();
    }
}

impl Sight {
    pub(super) fn new(all: &[Named<'_>], center: Option<[usize; 3]>) -> Result<Self, Fault> {
        let (mut numbers, mut needs) = (0, [false; SIZES.len()]);
        for slot in all.iter().flat_map(|named| &named.slots) {
            match (slot, slot.of_motion()) {
                (_, Some((group, _))) => needs[group] = true,
                (Slot::Number(i), _) => numbers = numbers.max(i + 1),
                _ => {}
            }
        }
        let before = |end: usize| -> usize {
            let sizes = SIZES.iter().zip(&needs).take(end);
            numbers + sizes.map(|(size, needed)| if *needed { *size } else { 0 }).sum::<usize>()
        };
        let input = |slot: &Slot| match (slot, slot.of_motion()) {
            (_, Some((group, place))) => before(group) + place,
            (Slot::Number(i), _) => *i,
            _ => 0,
        };
        let inputs = |named: &Named<'_>| named.slots.iter().map(input).collect();
        let inputs: Vec<Vec<usize>> = all.iter().map(inputs).collect();
        let program = together(all.iter().map(|named| named.formula), &inputs, before(SIZES.len()))?;
        let is_derived = needs[MATRIX..].contains(&true);
        let is_of_time = !needs[TIME + 1..].contains(&true);
        let mut entries = [false; 9];
        for slot in all.iter().flat_map(|named| &named.slots) {
            if let Some((MATRIX, place)) = slot.of_motion() {
                entries[place] = true;
            }
        }
        let quick = quick(all, numbers);
        Ok(Sight { program, numbers, needs, is_of_time, is_derived, entries, center, quick })
    }
    /// Where its expressions look at.
    fn needs(&self, groups: &[usize]) -> bool {
        groups.iter().any(|group| self.needs[*group])
    }
    /// All of them, in registers that are zero before.
    #[inline(always)]
    fn run<T: Real>(&self, numbers: &[T], at: &Kinematics<T>, file: &mut [T; REGISTERS]) {
        if self.program.is_small() {
            self.show(numbers, at, file);
            self.program.run(file);
        } else {
            self.run_large(numbers, at, file);
        }
    }
    #[cold]
    #[inline(never)]
    fn run_large<T: Real>(&self, numbers: &[T], at: &Kinematics<T>, file: &mut [T; REGISTERS]) {
        let mut inputs = [T::zero(); MOST_INPUTS];
        self.show(numbers, at, &mut inputs);
        self.program.run_large(file, &|k| inputs[k % MOST_INPUTS]);
    }
    #[inline(always)]
    fn show<T: Real>(&self, numbers: &[T], at: &Kinematics<T>, registers: &mut [T]) {
        let mut to = Filled { registers, next: 0 };
        // Most have few of them, which are put there quickest one by one.
        match numbers.get(..self.numbers).unwrap_or(numbers) {
            [] => {}
            [a] => to.all(&[*a]),
            [a, b] => to.all(&[*a, *b]),
            [a, b, c] => to.all(&[*a, *b, *c]),
            more => to.all(more),
        }
        if self.needs[TIME] {
            to.one(at.time);
        }
        if self.is_of_time {
            return;
        }
        if self.needs[QUATERNION] {
            to.one(at.attitude.w);
            to.all(at.attitude.v.as_slice());
        }
        if self.needs[POSITION] {
            to.all(at.position.as_slice());
        }
        if self.needs[VELOCITY_BODY] {
            to.all(at.velocity_body.as_slice());
        }
        if self.needs[OMEGA_BODY] {
            to.all(at.omega_body.as_slice());
        }
        if self.is_derived {
            let Filled { registers, next } = to;
            self.derive(numbers, at, registers, next);
        }
    }
    #[inline(never)]
    fn derive<T: Real>(&self, numbers: &[T], at: &Kinematics<T>, registers: &mut [T], next: usize) {
        let mut to = Filled { registers, next };
        if self.needs[MATRIX] {
            match T::DEPTH {
                0 => to.all(at.attitude.matrix().as_slice()),
                // With derivatives each of them takes long.
                _ => (0..9).for_each(|k| match self.entries[k] {
                    true => to.one(at.attitude.entry(k % 3, k / 3)),
                    false => to.next += 1,
                }),
            }
        }
        if self.needs[VELOCITY] {
            to.all(at.attitude.rotate(&at.velocity_body).as_slice());
        }
        if self.needs[OMEGA_SPACE] {
            to.all(at.attitude.rotate(&at.omega_body).as_slice());
        }
        if let (true, Some(places)) = (self.needs(&[CENTER_OF_MASS, CENTER_VELOCITY]), self.center) {
            let moving = at.of_point(&Vector3::from(places.map(|place| numbers[place])));
            if self.needs[CENTER_OF_MASS] {
                to.all(moving.position.as_slice());
            }
            if self.needs[CENTER_VELOCITY] {
                to.all(at.attitude.rotate(&moving.velocity_body).as_slice());
            }
        }
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
    /// Three expressions, by the number of the first.
    Each(usize),
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
    sight: Sight,
    names: Vec<String>,
    /// True if it is one moment of expressions, which needs nothing beyond its components.
    is_plain: bool,
    /// True if that is given in space axes.
    in_space: bool,
    is_field: bool,
}

impl ExpressionLoad {
    pub(super) fn new(parts: Vec<Part>, mut sight: Sight, names: Vec<String>) -> Self {
        let (is_plain, in_space) = match parts.as_slice() {
            [Part { values: Components::Each(_), in_space, point: None }] => (true, *in_space),
            _ => (false, false),
        };
        // What a controller sets may change at any time, and a table has sides.
        let is_field = !sight.needs(&[VELOCITY_BODY, OMEGA_BODY, VELOCITY, OMEGA_SPACE, CENTER_VELOCITY])
            && parts.iter().all(|part| matches!(part.values, Components::Each(_)));
        let is_quick = is_plain && names.len() == sight.numbers;
        sight.quick = sight.quick.filter(|_| is_quick);
        ExpressionLoad { parts, sight, names, is_plain, in_space, is_field }
    }
    /// The image of its registers for these numbers, if it is one.
    pub(super) fn image<T: Real>(&self, numbers: &[T]) -> Vec<T> {
        self.sight.quick.as_ref().map_or(Vec::new(), |quick| quick.image(numbers))
    }
    /// The moment by the quick program. Nothing is called on the way unless the expressions call functions.
    #[inline(always)]
    fn quickly<T: Real, const SELDOM: bool>(
        &self,
        quick: &Quick,
        image: &[T; FEW_REGISTERS],
        at: &Kinematics<T>,
    ) -> Wrench<T> {
        let mut file = *image;
        let seen = FEW_REGISTERS - 3 - SEEN;
        file[seen] = at.time;
        file[seen + 1..seen + SEEN].copy_from_slice(at.omega_body.as_slice());
        quick.run::<T, SELDOM>(&mut file);
        self.moment(Vector3::from_fn(|i, _| file[FEW_REGISTERS - 3 + i]), at)
    }
    #[inline(never)]
    fn quickly_with_functions<T: Real>(
        &self,
        quick: &Quick,
        image: &[T; FEW_REGISTERS],
        at: &Kinematics<T>,
    ) -> Wrench<T> {
        self.quickly::<T, true>(quick, image, at)
    }
    /// In the axes that it is given in. Added to zero, as sums are: the sign of a zero is the same then.
    #[inline(always)]
    fn moment<T: Real>(&self, given: Vector3<T>, at: &Kinematics<T>) -> Wrench<T> {
        let value = if self.in_space { at.attitude.unrotate(&given) } else { given };
        Wrench::moment(value.map(|x| T::zero() + x))
    }
    #[inline(never)]
    fn slowly<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
        let mut values = [T::zero(); REGISTERS];
        self.sight.run(numbers, at, &mut values);
        match self.is_plain {
            true => self.moment(Vector3::from_fn(|i, _| values[REGISTERS - 3 + i]), at),
            false => self.sum(numbers, at, &values),
        }
    }
    /// The sum of its parts, with the values of the expressions.
    #[inline(never)]
    fn sum<T: Real>(&self, numbers: &[T], at: &Kinematics<T>, values: &[T; REGISTERS]) -> Wrench<T> {
        let mut sum = Wrench::none();
        for part in &self.parts {
            let given = match &part.values {
                Components::Each(first) => {
                    Vector3::from_fn(|i, _| values[self.sight.program.output(first + i)])
                }
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
    fn is_field(&self) -> bool {
        self.is_field
    }
    fn wrench<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
        match T::DEPTH {
            // The numbers that have names are fewer: with more behind them they are the image.
            0 => match (&self.sight.quick, numbers.first_chunk()) {
                (Some(quick), Some(image)) if quick.has_seldom() => {
                    self.quickly_with_functions(quick, image, at)
                }
                (Some(quick), Some(image)) => self.quickly::<T, false>(quick, image, at),
                _ => self.slowly(numbers, at),
            },
            // With derivatives the steps of the program are long, and all the rest is little beside them.
            _ => self.slowly(numbers, at),
        }
    }
}

/// A load that is the negative derivative of an energy.
#[derive(Clone, Debug)]
pub(super) struct PotentialLoad {
    energy: Sight,
    names: Vec<String>,
}

impl PotentialLoad {
    pub(super) fn new(
        energy: &Named<'_>,
        names: Vec<String>,
        center: Option<[usize; 3]>,
    ) -> Result<Self, Fault> {
        Ok(PotentialLoad { energy: Sight::new(core::slice::from_ref(energy), center)?, names })
    }
    /// The derivatives with respect to three coordinates, where the pose has been given these.
    #[inline(never)]
    fn slopes<T: Real>(&self, numbers: &[T], at: &Kinematics<Jet<T>>) -> Vector3<T> {
        let energy = match numbers.len() <= FEW_NUMBERS {
            true => self.energy(Numbers::<_, FEW_NUMBERS>::new(numbers, Dual::constant).list(), at),
            false => self.energy(Numbers::<_, MOST_NUMBERS>::new(numbers, Dual::constant).list(), at),
        };
        energy.eps.into()
    }
    #[inline(never)]
    fn energy<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> T {
        let mut values = [T::zero(); REGISTERS];
        self.energy.run(numbers, at, &mut values);
        values[self.energy.program.output(0)]
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
        if self.energy.needs(&[POSITION, CENTER_OF_MASS]) {
            let position = Vector3::from_fn(|i, _| Dual::variable(at.position[i], i));
            let slopes = self.slopes(numbers, &Kinematics { position, ..still });
            wrench.force_body = -at.attitude.unrotate(&slopes);
        }
        if self.energy.needs(&[QUATERNION, MATRIX, CENTER_OF_MASS]) {
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
        Some(self.energy(numbers, at))
    }
    fn is_field(&self) -> bool {
        true
    }
}

/// A force along the line between two points, which pulls them together where it is positive.
#[derive(Clone, Debug)]
pub(super) struct LineForce {
    /// The expression; its signals are the length and the rate.
    pub(super) pull: Seen,
    pub(super) names: Vec<String>,
    /// True if the expression is the energy, as a function of the length.
    pub(super) is_energy: bool,
}

impl LineForce {
    fn evaluate<T: Real>(&self, numbers: &[T], time: T, length: T, rate: T) -> T {
        self.pull.evaluate(numbers, time, &[length, rate])
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
                let mut lifted = [Dual::<T, 1>::constant(T::zero()); MOST_NUMBERS];
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
    fn strains(&self) -> Strains {
        Strains::Length
    }
}
