//! Forces between two bodies. What acts on one body alone is a [`Load`](crate::body::Load) of the one load library.

use super::kinds::kinds;
use super::own::OwnForce;
use super::place::{Place, zero};
use super::signal::{MOST_SIGNALS, Scene, Signal, Signals};
use super::system::End;
use crate::scalar::{Over, Real};
use nalgebra::Vector3;

kinds! {
    /// What acts between two frames.
    pub enum ForceKind or OwnForce {
        /// A spring with a damper between the points of the frames.
        SpringDamper = "spring" {
            stiffness: "force per unit of elongation, N/m",
            damping: "force per unit of its rate, N s/m",
            length: "length without force, m",
        },
        /// A spring with a damper that turns the frames about their common third axis: the angle from the first axis of the
        /// first frame to that of the second, from `angle` by less than half a turn.
        TorsionSpring = "torsion-spring" {
            stiffness: "moment per unit of angle, N m/rad",
            damping: "moment per unit of its rate, N m s/rad",
            angle: "angle without moment, rad",
        },
    }
}

impl<S: Real> ForceKind<S> {
    /// True if points and axes of its frames count.
    pub(super) fn uses(&self) -> (bool, bool) {
        match self {
            ForceKind::SpringDamper { .. } => (true, false),
            ForceKind::TorsionSpring { .. } => (false, true),
            ForceKind::Own(_) => (true, true),
        }
    }
}

/// Strains that a force of one's own stores energy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strains {
    /// None that is known.
    None,
    /// So many of the six motions of the second frame in the first, along and then about the axes of the first: its first
    /// numbers are the stiffnesses.
    Motions(usize),
    /// The coordinate of the joint that it acts in, of which it stores half the square of how far that is from somewhere, times its
    /// first number.
    Coordinate,
    /// The distance of its points, along which it acts.
    Length,
}

/// One force element between two frames.
#[derive(Clone, Debug)]
pub struct Force<S: Real> {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: ForceKind<S>,
    /// The frames between which it acts.
    pub ends: [End<S>; 2],
    /// What it depends on beside the motion of its frames.
    pub signals: Vec<Signal<S>>,
    /// The bodies of these signals, without those between which it acts.
    pub(super) watched: Vec<usize>,
    /// The number of the joint that it acts in, if it does: its effort is part of the reaction of that joint.
    pub of: Option<usize>,
}

/// The length of a spring whose ends meet: it has no direction there, and pushes nowhere.
const MEETING: f64 = 1e-30;

/// An angle as a turn of at most half a turn: springs know the pose, and not how often it has turned.
pub(super) fn shorter_turn<T: Real>(angle: T) -> T {
    let (half, whole) = (T::lift(core::f64::consts::PI), T::lift(2.0 * core::f64::consts::PI));
    let angle = T::select(half.below(angle), angle - whole, angle);
    T::select(angle.below(-half), angle + whole, angle)
}

impl<S: Real> Force<S> {
    /// A force between two ends.
    pub fn new(name: &str, kind: impl Into<ForceKind<S>>, ends: [End<S>; 2]) -> Self {
        Force {
            name: name.into(),
            kind: kind.into(),
            ends,
            signals: Vec::new(),
            watched: Vec::new(),
            of: None,
        }
    }
    /// The bodies between which it acts; `None` is the ground.
    #[inline(always)]
    pub fn bodies(&self) -> [Option<usize>; 2] {
        [self.ends[0].body, self.ends[1].body]
    }
    /// d from point to point, and its velocity.
    fn span<T: Over<S>>(&self, places: [&Place<T>; 2]) -> [Vector3<T>; 2] {
        let at = |i: usize| {
            let (place, point) = (places[i], self.ends[i].point.map(T::of));
            [place.x + place.to_space(&point), place.v + place.to_space(&place.omega.cross(&point))]
        };
        let ([pa, va], [pb, vb]) = (at(0), at(1));
        [pb - pa, vb - va]
    }
    /// The angle about the third axis of the first frame, its rate, and its derivative by a turn of the second frame, in space:
    /// that axis where the frames have it in common, so that the moment is the derivative of the energy wherever they are.
    fn twist<T: Over<S>>(&self, [a, b]: [&Place<T>; 2]) -> (Vector3<T>, T, T) {
        let axis = |end: usize, place: &Place<T>, i: usize| {
            let y = Vector3::from_fn(|k, _| T::of(self.ends[end].axes[(k, i)]));
            place.to_space(&y)
        };
        let first = axis(1, b, 0);
        let (x, y) = (axis(0, a, 0), axis(0, a, 1));
        let (cos, sin) = (first.dot(&x), first.dot(&y));
        let slope = (first.cross(&y) * cos - first.cross(&x) * sin) / (cos * cos + sin * sin);
        let relative = b.to_space(&b.omega) - a.to_space(&a.omega);
        (slope, sin.atan2(cos), relative.dot(&slope))
    }
    /// True of a spring whose ends are in one place, but for rounding, though it should not be as short as that.
    pub(super) fn pushes_nowhere(&self, places: [&Place<S>; 2]) -> bool {
        let ForceKind::SpringDamper { stiffness, length, .. } = &self.kind else { return false };
        let far = places.map(|place| place.x.map(Real::largest).norm());
        let arms = self.ends.each_ref().map(|end| end.point.map(Real::largest).norm());
        let rounding = 4.0 * f64::EPSILON * far.iter().chain(&arms).sum::<f64>();
        let span = self.span(places)[0].map(Real::largest).norm();
        span <= rounding && (*stiffness * *length).largest() != 0.0
    }
    /// The numbers of its signals, in their order.
    pub(super) fn signal_numbers(&self) -> Vec<S> {
        let mut all = Vec::new();
        for signal in &self.signals {
            signal.rebuilt(&mut |x| {
                all.push(x);
                x
            });
        }
        all
    }
    /// The bodies that it depends on, each once: those between which it acts come first.
    pub(super) fn seen(&self) -> impl Iterator<Item = usize> {
        self.bodies().into_iter().flatten().chain(self.watched.iter().copied())
    }
    /// Force in space and moment in body axes on each end, of a force without signals.
    pub fn wrenches<T: Over<S>>(&self, time: T, places: [&Place<T>; 2]) -> [Vector3<T>; 4] {
        self.wrenches_with(time, places, &[T::zero(); MOST_SIGNALS])
    }
    /// The energy that it stores, of a force without signals, or `None` for one that stores none.
    pub fn potential<T: Over<S>>(&self, time: T, places: [&Place<T>; 2]) -> Option<T> {
        self.potential_with(time, places, &[T::zero(); MOST_SIGNALS])
    }
    /// The same where everything is seen.
    pub(super) fn wrenches_in<T: Over<S>>(&self, scene: &Scene<'_, S, T>) -> [Vector3<T>; 4] {
        let places = self.bodies().map(|body| body.map_or_else(Place::ground, scene.place));
        match self.signals.is_empty() {
            true => self.wrenches(scene.time, places.each_ref()),
            false => self.wrenches_with(scene.time, places.each_ref(), &scene.values(&self.signals)),
        }
    }
    /// The energy that it stores, or `None` for a force that stores none.
    pub(super) fn potential_in<T: Over<S>>(&self, scene: &Scene<'_, S, T>) -> Option<T> {
        let places = self.bodies().map(|body| body.map_or_else(Place::ground, scene.place));
        self.potential_with(scene.time, places.each_ref(), &scene.values(&self.signals))
    }
    fn wrenches_with<T: Over<S>>(
        &self,
        time: T,
        places: [&Place<T>; 2],
        signals: &Signals<T>,
    ) -> [Vector3<T>; 4] {
        let [a, b] = places;
        match &self.kind {
            ForceKind::SpringDamper { stiffness, damping, length } => {
                let [d, rate] = self.span(places);
                let now = (d.dot(&d) + T::lift(MEETING * MEETING)).sqrt();
                let n = d / now;
                let tension = T::of(*stiffness) * (now - T::of(*length)) + T::of(*damping) * n.dot(&rate);
                let pull = n * tension;
                let moment =
                    |i: usize, f: &Vector3<T>| self.ends[i].point.map(T::of).cross(&places[i].to_body(f));
                [pull, moment(0, &pull), -pull, moment(1, &-pull)]
            }
            ForceKind::TorsionSpring { stiffness, damping, angle } => {
                let (axis, now, rate) = self.twist(places);
                let twist = shorter_turn(now - T::of(*angle));
                let moment = axis * (T::of(*stiffness) * twist + T::of(*damping) * rate);
                [zero(), a.to_body(&moment), zero(), b.to_body(&-moment)]
            }
            ForceKind::Own(own) => own.wrenches(&self.ends, time, places, signals),
        }
    }
    fn potential_with<T: Over<S>>(&self, time: T, places: [&Place<T>; 2], signals: &Signals<T>) -> Option<T> {
        let (stiffness, stretch) = match &self.kind {
            ForceKind::SpringDamper { stiffness, length, .. } => {
                let [d, _] = self.span(places);
                (*stiffness, (d.dot(&d) + T::lift(MEETING * MEETING)).sqrt() - T::of(*length))
            }
            ForceKind::TorsionSpring { stiffness, angle, .. } => {
                (*stiffness, shorter_turn(self.twist(places).1 - T::of(*angle)))
            }
            ForceKind::Own(own) => return own.potential(&self.ends, time, places, signals),
        };
        Some(T::of(stiffness) * stretch * stretch * T::lift(0.5))
    }
    /// True if it is a load of one body that looks at others: such a one acts from the ground.
    pub(crate) fn is_load(&self) -> bool {
        self.kind.name() == "load"
    }
    /// True if it takes energy out of the motion, or feeds it, beside what it stores.
    pub fn is_damped(&self) -> bool {
        match &self.kind {
            ForceKind::SpringDamper { damping, .. } | ForceKind::TorsionSpring { damping, .. } => {
                damping.largest() != 0.0
            }
            ForceKind::Own(own) => own.is_damped(),
        }
    }
}
