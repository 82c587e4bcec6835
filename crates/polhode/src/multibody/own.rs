//! Joints and forces of one's own: a formula of two frames, written once in any scalar. What the integrators need beside its
//! value, slopes, rates and reactions, comes from dual numbers.

use super::force::Strains;
use super::joint::MOST_ROWS;
use super::kinds::{Number, own_numbers};
use super::place::{By, Place};
use super::signal::{MOST_SIGNALS, Signals};
use super::system::End;
use crate::formula::{Behind, MOST_NUMBERS, Numbers, OwnError, behind_object};
use crate::group::{Jet, spin};
use crate::scalar::{Dual, Over, Real};
use core::fmt::Debug;
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// Where the two frames of an element are.
#[derive(Clone, Copy, Debug)]
pub struct Frames<T> {
    /// Time.
    pub time: T,
    /// Their points, in space.
    pub points: [Vector3<T>; 2],
    /// Their axes: columns in space.
    pub axes: [Matrix3<T>; 2],
}

impl<T: Real> Frames<T> {
    /// From the first point to the second.
    pub fn span(&self) -> Vector3<T> {
        self.points[1] - self.points[0]
    }
    /// An axis of a frame, in space.
    pub fn axis(&self, frame: usize, axis: usize) -> Vector3<T> {
        self.axes[frame].column(axis).into_owned()
    }
}

/// Where they are, and how they move.
#[derive(Clone, Copy, Debug)]
pub struct MovingFrames<T> {
    /// Where they are.
    pub frames: Frames<T>,
    /// The velocities of their points, in space.
    pub velocities: [Vector3<T>; 2],
    /// Their angular velocities, in space.
    pub omegas: [Vector3<T>; 2],
    /// What else the force depends on, in the order of its signals.
    pub signals: Signals<T>,
}

/// What a force does: on the second body at the point of its frame, in space; the opposite acts on the first body, at the
/// same point of space.
#[derive(Clone, Copy, Debug)]
pub struct Push<T> {
    /// Force.
    pub force: Vector3<T>,
    /// Moment beside it.
    pub moment: Vector3<T>,
}

/// A joint as a formula of its numbers, of time and of where its frames are, written once. It holds the rows at zero, and
/// their multipliers are the reactions that do it. Its numbers are parameters of the system, `joint.pitch`.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::multibody::{Frames, GROUND, JointFormula, OwnJoint, Rigid, Simulation, System};
/// use polhode::{group::Rotation, method::Method, scalar::Real};
///
/// /// The second point stays on a ball about the first whose radius grows: |d|² = (r + s t)².
/// #[derive(Debug)]
/// struct Winch;
/// impl JointFormula for Winch {
///     fn names(&self) -> Vec<String> {
///         vec!["radius".into(), "speed".into()]
///     }
///     fn rows(&self) -> usize {
///         1
///     }
///     fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
///         let (d, length) = (at.span(), numbers[0] + numbers[1] * at.time);
///         rows[0] = (d.dot(&d) - length * length) / (length + length);
///     }
///     fn is_driven(&self) -> bool {
///         true
///     }
/// }
/// let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
/// let load = Rigid::new(2.0, Matrix3::identity() * 0.1)?.at(-Vector3::z(), Rotation::identity());
/// system.body("load", load.moving(-Vector3::z() * 0.5, Vector3::zeros()))?;
/// system.joint("rope", OwnJoint::new(Winch, vec![1.0, 0.5])?, GROUND, "load")?;
/// let mut run = Simulation::new(&system, &Method::parse("geometric-alpha")?)?;
/// for _ in 0..100 {
///     run.step(0.01)?;
/// }
/// assert!((run.position("load").unwrap().z + 1.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait JointFormula: Debug + Send + Sync + 'static {
    /// What it is called where elements are listed.
    fn kind(&self) -> &'static str {
        "own"
    }
    /// The names of its numbers.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
    /// How many rows it has, at most [`MOST_ROWS`](super::MOST_ROWS).
    fn rows(&self) -> usize;
    /// Φ: what it holds at zero. Rows that are lengths are best scaled to lengths.
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]);
    /// True if a row is the sine or cosine of an angle and not a length: gaps are judged by the size of the system or by
    /// one.
    fn is_angle(&self, _row: usize) -> bool {
        false
    }
    /// True if the rows depend on time, so that what holds them does work.
    fn is_driven(&self) -> bool {
        false
    }
    /// True if its rows say where one frame is in the other, whatever both are in space: then they keep the momenta of both bodies
    /// together.
    fn is_relative(&self) -> bool {
        false
    }
    /// What its row holds a coordinate of the joint beside it at, if it does that. A row of an angle vanishes half a turn away
    /// too, where a step may end that is too long.
    fn enforced<T: Real>(&self, _numbers: &[T], _at: &Frames<T>) -> Option<T> {
        None
    }
}

/// A force between two bodies as a formula of its numbers and of how its frames move, written once. Its numbers are
/// parameters of the system, `force.stiffness`.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::multibody::{ForceFormula, GROUND, MovingFrames, OwnForce, Push, Rigid, Simulation, System};
/// use polhode::{group::Rotation, method::Method, scalar::Real};
///
/// /// A spring whose force grows with the cube of its length.
/// #[derive(Debug)]
/// struct Cubic;
/// impl ForceFormula for Cubic {
///     fn names(&self) -> Vec<String> {
///         vec!["k".into()]
///     }
///     fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
///         let d = at.frames.span();
///         Push::force(-d * (d.dot(&d) * numbers[0]))
///     }
///     fn potential<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
///         let square = at.frames.span().dot(&at.frames.span());
///         Some(square * square * numbers[0] * T::lift(0.25))
///     }
/// }
/// let mut system = System::new(Vector3::zeros());
/// system.body("ball", Rigid::new(2.0, Matrix3::identity())?.at(Vector3::x(), Rotation::identity()))?;
/// system.force("spring", OwnForce::new(Cubic, vec![3.0])?, GROUND, "ball")?;
/// let mut run = Simulation::new(&system, &Method::parse("geometric-alpha")?)?;
/// let energy = run.energy();
/// for _ in 0..100 {
///     run.step(0.01)?;
/// }
/// assert!(run.keeps_energy() && (run.energy() - energy).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ForceFormula: Debug + Send + Sync + 'static {
    /// What it is called where elements are listed.
    fn kind(&self) -> &'static str {
        "own"
    }
    /// The names of its numbers.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
    /// What it does.
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T>;
    /// The energy that it stores, or `None` for a force that stores none.
    fn potential<T: Real>(&self, _numbers: &[T], _at: &MovingFrames<T>) -> Option<T> {
        None
    }
    /// True if it takes energy out of the motion or feeds it, beside what it stores.
    fn is_damped(&self) -> bool {
        false
    }
    /// The strains that it stores energy of: methods that let stiff vibrations decay act on these.
    fn strains(&self) -> Strains {
        Strains::None
    }
}

impl<T: Real> Push<T> {
    /// A force alone.
    pub fn force(force: Vector3<T>) -> Self {
        Push { force, moment: Vector3::zeros() }
    }
    /// A moment alone.
    pub fn moment(moment: Vector3<T>) -> Self {
        Push { force: Vector3::zeros(), moment }
    }
}

/// The rows of a joint.
type Rows<T> = [T; MOST_ROWS];

/// A joint at one scalar.
pub(crate) trait JointAt<T: Real> {
    fn constraint(&self, numbers: &[T], at: &Frames<T>) -> Rows<T>;
    fn enforced(&self, numbers: &[T], at: &Frames<T>) -> Option<T>;
}

impl<F: JointFormula, T: Real> JointAt<T> for F {
    fn constraint(&self, numbers: &[T], at: &Frames<T>) -> Rows<T> {
        let mut rows = [T::zero(); MOST_ROWS];
        let count = self.rows().min(MOST_ROWS);
        JointFormula::constraint(self, numbers, at, &mut rows[..count]);
        rows
    }
    fn enforced(&self, numbers: &[T], at: &Frames<T>) -> Option<T> {
        self.enforced(numbers, at)
    }
}

/// A force at one scalar.
pub(crate) trait ForceAt<T: Real> {
    fn push(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T>;
    fn potential(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T>;
}

impl<F: ForceFormula, T: Real> ForceAt<T> for F {
    fn push(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        self.push(numbers, at)
    }
    fn potential(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
        self.potential(numbers, at)
    }
}

type Energy<T> = Option<T>;
type Enforced<T> = Option<T>;
/// A derivative with respect to one parameter. There are no lanes: where parameters are worked on in lanes, formulas are asked
/// for each of them, and anything else gets what is not a number.
type One = Dual<f64, 1>;

behind_object!(AnyJoint: JointAt at [f64, Jet<f64>, Jet<Jet<f64>>, One, Jet<One>, Jet<Jet<One>>];
    fn rows_at = constraint(Frames) -> Rows;
    fn enforced_at = enforced(Frames) -> Enforced;
);
behind_object!(AnyForce: ForceAt at [f64, Jet<f64>, Jet<Jet<f64>>, One, Jet<One>, Jet<Jet<One>>];
    fn push_at = push(MovingFrames) -> Push;
    fn potential_at = potential(MovingFrames) -> Energy;
);

/// A joint of one's own, with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnJoint<S: Real> {
    pub(super) behind: Behind<S, dyn AnyJoint>,
    kind: &'static str,
    rows: usize,
    angles: [bool; MOST_ROWS],
    driven: bool,
    relative: bool,
}

/// A force of one's own, with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnForce<S: Real> {
    behind: Behind<S, dyn AnyForce>,
    kind: &'static str,
    damped: bool,
    strains: Strains,
}

/// The two ends of an element, with what lifts their numbers and those of the element.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a, S: Real, U> {
    pub(super) ends: &'a [End<S>; 2],
    pub(super) of: fn(S) -> U,
}

impl<S: Real, U: Real> Ends<'_, S, U> {
    fn frames(&self, time: U, places: [&Place<U>; 2]) -> Frames<U> {
        let point = |i: usize| places[i].x + places[i].r * self.ends[i].point.map(self.of);
        let axes = |i: usize| places[i].r * self.ends[i].axes.map(self.of);
        Frames { time, points: [point(0), point(1)], axes: [axes(0), axes(1)] }
    }
}

impl<T: Real> MovingFrames<T> {
    /// Frames at rest, without signals.
    pub(super) fn still(frames: Frames<T>) -> Self {
        let zeros = [Vector3::zeros(); 2];
        MovingFrames { frames, velocities: zeros, omegas: zeros, signals: [T::zero(); MOST_SIGNALS] }
    }
    /// Of two ends of an element.
    pub(super) fn of<S: Real>(ends: &[End<S>; 2], time: T, places: [&Place<T>; 2]) -> Self
    where
        T: Over<S>,
    {
        let frames = Ends { ends, of: T::of }.frames(time, places);
        let omegas = places.map(|place| place.to_space(&place.omega));
        let velocity = |i: usize| places[i].v + omegas[i].cross(&(frames.points[i] - places[i].x));
        let velocities = [velocity(0), velocity(1)];
        MovingFrames { frames, velocities, omegas, signals: [T::zero(); MOST_SIGNALS] }
    }
}

/// Where a body is a moment later, its velocities held: the derivative in the first direction is that with respect to time.
pub(super) fn advanced<T: Real>(place: &Place<T>) -> Place<Jet<T>> {
    let late = |v: &Vector3<T>| v.map(|x| Dual { re: T::zero(), eps: [x, T::zero(), T::zero()] });
    let constant = |v: &Vector3<T>| v.map(Dual::constant);
    Place {
        x: constant(&place.x) + late(&place.v),
        r: place.r.map(Dual::constant) * (Matrix3::identity() + spin(&late(&place.omega))),
        v: constant(&place.v),
        omega: constant(&place.omega),
    }
}

/// Three coordinates of the pose of both ends, in the order of the blocks of a joint.
const BLOCKS: [(usize, By); 4] = [(0, By::Position), (0, By::Turn), (1, By::Position), (1, By::Turn)];

/// Both places with derivatives with respect to the coordinates of one block.
fn seeded_at<T: Real>(places: [&Place<T>; 2], block: usize) -> [Place<Jet<T>>; 2] {
    let (end, by) = BLOCKS[block];
    core::array::from_fn(|i| places[i].seeded((i == end).then_some(by)))
}

fn twice<T: Real>(x: T) -> Jet<Jet<T>> {
    Dual::constant(Dual::constant(x))
}

impl<S: Real> OwnJoint<S> {
    /// A formula with its numbers, in the order of their names.
    pub fn new(formula: impl JointFormula, numbers: Vec<S>) -> Result<Self, OwnError> {
        let (names, rows) = (formula.names(), formula.rows());
        if !(1..=MOST_ROWS).contains(&rows) {
            return Err(OwnError::Rows { rows });
        }
        let angles = core::array::from_fn(|row| formula.is_angle(row));
        let (kind, driven, relative) = (formula.kind(), formula.is_driven(), formula.is_relative());
        let formula: Arc<dyn AnyJoint> = Arc::new(formula);
        Ok(OwnJoint { behind: Behind::new(formula, names, numbers)?, kind, rows, angles, driven, relative })
    }
    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }
    pub(super) fn numbers_mut(&mut self) -> Vec<Number<'_, S>> {
        own_numbers(&self.behind.names, &mut self.behind.numbers)
    }
    pub(super) fn rebuilt<T: Real>(&self, number: &mut dyn FnMut(usize, S) -> T) -> OwnJoint<T> {
        let OwnJoint { kind, rows, angles, driven, relative, .. } = *self;
        OwnJoint { behind: self.behind.rebuilt(number), kind, rows, angles, driven, relative }
    }
    pub(super) fn rows(&self) -> usize {
        self.rows
    }
    pub(super) fn is_angle(&self, row: usize) -> bool {
        self.angles[row]
    }
    pub(super) fn is_driven(&self) -> bool {
        self.driven
    }
    pub(super) fn is_relative(&self) -> bool {
        self.relative
    }
    /// Φ at any scalar. What cannot be had is not a number, which every step refuses.
    fn ask<U: Real>(&self, at: Ends<'_, S, U>, time: U, places: [&Place<U>; 2]) -> Rows<U> {
        self.rows_at(&at.frames(time, places), at.of)
    }
    /// Φ of frames that are given.
    pub(super) fn rows_at<U: Real>(&self, at: &Frames<U>, of: impl Fn(S) -> U) -> Rows<U> {
        let Some(ask) = rows_at() else { return [U::lift(f64::NAN); MOST_ROWS] };
        let numbers = Numbers::<U, MOST_NUMBERS>::new(&self.behind.numbers, of);
        ask(&*self.behind.formula, numbers.list(), at)
    }
    /// What it holds a coordinate of the joint beside it at.
    pub(super) fn enforced(&self, ends: &[End<S>; 2], time: S, places: [&Place<S>; 2]) -> Option<S> {
        let at = Ends { ends, of: |x| x }.frames(time, places);
        let numbers = Numbers::<S, MOST_NUMBERS>::new(&self.behind.numbers, |x| x);
        enforced_at()?(&*self.behind.formula, numbers.list(), &at)
    }
    /// Φ.
    #[inline(never)]
    pub(super) fn constraint<T: Over<S>>(
        &self,
        ends: &[End<S>; 2],
        time: T,
        places: [&Place<T>; 2],
        out: &mut [T],
    ) {
        if T::IN_LANES {
            return out.fill(T::lift(f64::NAN));
        }
        let rows = self.ask(Ends { ends, of: T::of }, time, places);
        out[..self.rows].copy_from_slice(&rows[..self.rows]);
    }
    /// B.
    #[inline(never)]
    pub(super) fn jacobian<T: Over<S>>(
        &self,
        ends: &[End<S>; 2],
        time: T,
        places: [&Place<T>; 2],
        out: &mut [[Vector3<T>; 4]],
    ) {
        let at = Ends { ends, of: |x| Dual::constant(T::of(x)) };
        for block in 0..4 {
            let rows = self.ask(at, Dual::constant(time), seeded_at(places, block).each_ref());
            for (out, row) in out[..self.rows].iter_mut().zip(&rows) {
                out[block] = row.eps.into();
            }
        }
    }
    /// Bᵀ λ.
    #[inline(never)]
    pub(super) fn reaction<T: Over<S>>(
        &self,
        ends: &[End<S>; 2],
        time: T,
        places: [&Place<T>; 2],
        lambda: &[T],
    ) -> [Vector3<T>; 4] {
        if T::IN_LANES {
            return [Vector3::from_element(T::lift(f64::NAN)); 4];
        }
        let mut rows = [[Vector3::zeros(); 4]; MOST_ROWS];
        self.jacobian(ends, time, places, &mut rows);
        let sum = |block: usize| {
            let parts = rows.iter().zip(lambda);
            parts.fold(Vector3::zeros(), |sum, (row, l)| sum + row[block] * *l)
        };
        core::array::from_fn(sum)
    }
    /// The derivative of Bᵀ λ, λ held: first the pose changes, then the derivative is taken there.
    #[inline(never)]
    pub(super) fn stiffness(
        &self,
        ends: &[End<S>; 2],
        time: S,
        places: [&Place<S>; 2],
        lambda: &[S],
        add: &mut dyn FnMut(usize, usize, Matrix3<S>),
    ) {
        let at = Ends { ends, of: twice };
        let moves = |block: &usize| ends[BLOCKS[*block].0].body.is_some();
        for column in (0..4).filter(moves) {
            let changed = seeded_at(places, column);
            for row in (0..4).filter(moves) {
                let rows = self.ask(at, twice(time), seeded_at(changed.each_ref(), row).each_ref());
                let entry = |i: usize, j: usize| {
                    let parts = rows.iter().zip(lambda);
                    parts.fold(S::zero(), |sum, (row, l)| sum + row.eps[i].eps[j] * *l)
                };
                add(row, column, Matrix3::from_fn(entry));
            }
        }
    }
    /// Φ̇, and Φ̈ without accelerations.
    #[inline(never)]
    pub(super) fn rates<T: Over<S>>(
        &self,
        ends: &[End<S>; 2],
        time: T,
        places: [&Place<T>; 2],
        rate: &mut [T],
        quadratic: &mut [T],
    ) {
        if T::IN_LANES {
            return rate.fill(T::lift(f64::NAN));
        }
        let at = Ends { ends, of: |x| twice(T::of(x)) };
        let places = places.map(|place| advanced(&advanced(place)));
        let time = Dual::variable(Dual::variable(time, 0), 0);
        let rows = self.ask(at, time, places.each_ref());
        for (k, row) in rows[..self.rows].iter().enumerate() {
            (rate[k], quadratic[k]) = (row.eps[0].re, row.eps[0].eps[0]);
        }
    }
    /// The derivatives of Φ̇ with respect to the pose, the velocities held.
    #[inline(never)]
    pub(super) fn rate_slopes(
        &self,
        ends: &[End<S>; 2],
        time: S,
        places: [&Place<S>; 2],
        out: &mut [[Vector3<S>; 4]],
    ) {
        let at = Ends { ends, of: twice };
        for block in 0..4 {
            let places = seeded_at(places, block).map(|place| advanced(&place));
            let rows = self.ask(at, Dual::variable(Dual::constant(time), 0), places.each_ref());
            for (out, row) in out[..self.rows].iter_mut().zip(&rows) {
                out[block] = row.eps[0].eps.into();
            }
        }
    }
}

impl<S: Real> OwnForce<S> {
    /// A formula with its numbers, in the order of their names.
    pub fn new(formula: impl ForceFormula, numbers: Vec<S>) -> Result<Self, OwnError> {
        let (names, damped, strains) = (formula.names(), formula.is_damped(), formula.strains());
        let kind = formula.kind();
        let formula: Arc<dyn AnyForce> = Arc::new(formula);
        Ok(OwnForce { behind: Behind::new(formula, names, numbers)?, kind, damped, strains })
    }
    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }
    pub(super) fn numbers_mut(&mut self) -> Vec<Number<'_, S>> {
        own_numbers(&self.behind.names, &mut self.behind.numbers)
    }
    pub(super) fn rebuilt<T: Real>(&self, number: &mut dyn FnMut(usize, S) -> T) -> OwnForce<T> {
        let OwnForce { kind, damped, strains, .. } = *self;
        OwnForce { behind: self.behind.rebuilt(number), kind, damped, strains }
    }
    pub(super) fn is_damped(&self) -> bool {
        self.damped
    }
    /// Its strains.
    pub(super) fn strains(&self) -> Strains {
        self.strains
    }
    /// One of its numbers.
    pub(super) fn number(&self, k: usize) -> S {
        self.behind.numbers.get(k).copied().unwrap_or(S::zero())
    }
    /// How much more it pulls along the line between its points where these are further apart, at rest.
    pub(super) fn stiffness_of_length<T: Over<S>>(
        &self,
        frames: &Frames<T>,
        along: &Vector3<T>,
    ) -> Option<T> {
        let lifted = |v: &Vector3<T>| v.map(<Jet<T>>::constant);
        let apart = along.map(|x| Dual { re: T::zero(), eps: [x, T::zero(), T::zero()] });
        let at = MovingFrames::still(Frames {
            time: Dual::constant(frames.time),
            points: [lifted(&frames.points[0]), lifted(&frames.points[1]) + apart],
            axes: frames.axes.map(|axes| axes.map(Dual::constant)),
        });
        let numbers =
            Numbers::<Jet<T>, MOST_NUMBERS>::new(&self.behind.numbers, |x| Dual::constant(T::of(x)));
        let Push { force, .. } = push_at()?(&*self.behind.formula, numbers.list(), &at);
        Some(-force.map(|x| x.eps[0]).dot(along))
    }
    /// Force in space and moment in body axes on each end.
    #[inline(never)]
    pub(super) fn wrenches<T: Over<S>>(
        &self,
        ends: &[End<S>; 2],
        time: T,
        places: [&Place<T>; 2],
        signals: &Signals<T>,
    ) -> [Vector3<T>; 4] {
        if T::IN_LANES {
            return [Vector3::from_element(T::lift(f64::NAN)); 4];
        }
        let at = MovingFrames { signals: *signals, ..MovingFrames::of(ends, time, places) };
        let unknown = Vector3::from_element(T::lift(f64::NAN));
        let Push { force, moment } = match push_at() {
            Some(ask) => ask(&*self.behind.formula, self.behind.at::<T, MOST_NUMBERS>().list(), &at),
            None => Push { force: unknown, moment: unknown },
        };
        // Both act at the second point.
        let about = |i: usize| {
            let arm = at.frames.points[1] - places[i].x;
            places[i].to_body(&(moment + arm.cross(&force)))
        };
        [-force, -about(0), force, about(1)]
    }
    /// The energy that it stores, of frames that are given.
    pub(super) fn potential_at<U: Real>(&self, at: &MovingFrames<U>, of: impl Fn(S) -> U) -> Option<U> {
        let numbers = Numbers::<U, MOST_NUMBERS>::new(&self.behind.numbers, of);
        potential_at()?(&*self.behind.formula, numbers.list(), at)
    }
    /// The energy that it stores.
    #[inline(never)]
    pub(super) fn potential<T: Over<S>>(
        &self,
        ends: &[End<S>; 2],
        time: T,
        places: [&Place<T>; 2],
        signals: &Signals<T>,
    ) -> Option<T> {
        let at = MovingFrames { signals: *signals, ..MovingFrames::of(ends, time, places) };
        potential_at()?(&*self.behind.formula, self.behind.at::<T, MOST_NUMBERS>().list(), &at)
    }
}
