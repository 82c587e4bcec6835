//! Forces between two bodies over a step, by finite derivatives of what they store.

use super::super::coordinate::{Coordinate, unwound};
use super::super::force::{Force, ForceKind, Strains, shorter_turn};
use super::super::joint::Joint;
use super::super::own::{MovingFrames, OwnForce};
use super::super::place::Place;
use super::super::signal::{MOST_SIGNALS, Scene, Signal};
use super::leap::Leap;
use super::piece::{Piece, Pull, Seen};
use super::relative::{Relative, STILL, View, corners, exact, slopes};
use crate::scalar::{Dual, Mask, Over, Real};
use nalgebra::Vector3;

/// What a force does over a step.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Effort<T> {
    /// Forces and moments on the bodies, in space.
    pub(in crate::multibody) pull: Pull<T>,
    /// The work of what it does not store.
    pub(in crate::multibody) work: T,
}

/// A strain with the stiffness against it.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Strain<T> {
    pub(in crate::multibody) stiffness: T,
    /// Its derivative with respect to positions and turns, in space.
    pub(in crate::multibody) slope: Pull<T>,
}

/// The bodies of a step, and its times.
pub(in crate::multibody) struct Step<'a, S: Real, T> {
    pub(in crate::multibody) joints: &'a [Joint<S>],
    pub(in crate::multibody) leap: &'a dyn Fn(usize) -> Leap<T>,
    /// The angles that those of the joints are near to.
    pub(in crate::multibody) angles: &'a [f64],
    pub(in crate::multibody) times: [T; 2],
    /// A typical length.
    pub(in crate::multibody) length: f64,
}

/// The change of an angle from its cosine and sine at both ends, and that over the sine of the change.
fn turned<T: Real>(cos: [T; 2], sin: [T; 2]) -> (T, T) {
    let (cross, dot) = (cos[0] * sin[1] - sin[0] * cos[1], cos[0] * cos[1] + sin[0] * sin[1]);
    let change = cross.atan2(dot);
    let small = cross.abs().below(T::lift(0.1)).and(T::zero().below(dot));
    let tan = T::select(small, cross, T::zero()) / T::select(small, dot, T::one());
    let square = tan * tan;
    // atan(t)/t.
    let series = (0..8).rev().fold(T::zero(), |sum, k| {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum * square + T::lift(sign / f64::from(2 * k + 1))
    });
    let near = series / T::select(small, dot, T::one());
    (change, T::select(small, near, change / T::select(small, T::one(), cross)))
}

/// What times the change of an angle is the change of half its square, also where the shorter turn goes over to the other side.
fn mean_turn<T: Real>(start: T, change: T) -> T {
    let goes_on = start + change;
    let end = shorter_turn(goes_on);
    let stays = (goes_on - end).abs().below(T::one());
    let part = (end - start) / T::select(stays, T::one(), change);
    (start + end) * T::lift(0.5) * T::select(stays, T::one(), part)
}

/// The change of the angle about the third axis over a step, and its finite derivative.
fn angle_change<T: Real>(ends: [&Seen<T>; 2], mean: &Seen<T>) -> (T, Pull<T>) {
    let part = |axis: usize| ends.map(|seen| seen.axis(0, axis).dot(&seen.axis(1, 0)));
    let (cos, sin) = (part(0), part(1));
    let (change, per_sine) = turned(cos, sin);
    let half = T::lift(0.5) * per_sine;
    let mut slope = Pull::none();
    mean.pull(Piece::Cosine(1, 0), (cos[0] + cos[1]) * half, &mut slope);
    mean.pull(Piece::Cosine(0, 0), -(sin[0] + sin[1]) * half, &mut slope);
    (change, slope)
}

impl<S: Real> Force<S> {
    /// What it does over a step; `damping` acts on its strain beside its own.
    pub(in crate::multibody) fn effort<T: Over<S>>(&self, step: &Step<'_, S, T>, damping: &[T]) -> Effort<T> {
        let leaps = self.bodies().map(|body| body.map_or_else(Leap::ground, step.leap));
        let [seen_from, seen_to] = [0, 1].map(|i| Seen::of(&self.ends, leaps.each_ref().map(|l| &l.ends[i])));
        let seen = Seen::of(&self.ends, leaps.each_ref().map(|leap| &leap.mean));
        let (half, h) = (T::lift(0.5), step.times[1] - step.times[0]);
        let more = damping.first().copied().unwrap_or(T::zero());
        match &self.kind {
            ForceKind::SpringDamper { stiffness, damping, length } => {
                let far = |seen: &Seen<T>| (seen.span.dot(&seen.span) + T::lift(1e-60)).sqrt();
                let [start, end] = [far(&seen_from), far(&seen_to)];
                let (mean, change) = ((start + end) * half, seen_change(&seen_from, &seen_to, start + end));
                let lost = (T::of(*damping) + more) * change / h;
                let tension = T::of(*stiffness) * (mean - T::of(*length)) + lost;
                let mut pull = Pull::none();
                pull.push(&seen.arms, &(seen.span * (tension / mean)));
                Effort { pull, work: -(lost * change) }
            }
            ForceKind::TorsionSpring { stiffness, damping, angle } => {
                let (change, slope) = angle_change([&seen_from, &seen_to], &seen);
                let first = seen_from.axis(1, 0);
                let now = first.dot(&seen_from.axis(0, 1)).atan2(first.dot(&seen_from.axis(0, 0)));
                let strain = mean_turn(shorter_turn(now - T::of(*angle)), change);
                let lost = (T::of(*damping) + more) * change / h;
                let mut pull = Pull::none();
                pull.add(&slope, -(T::of(*stiffness) * strain + lost));
                Effort { pull, work: -(lost * change) }
            }
            ForceKind::Own(own) => {
                self.own_effort(own, step, leaps.each_ref(), [&seen_from, &seen_to, &seen], damping)
            }
        }
    }

    #[inline(never)]
    fn own_effort<T: Over<S>>(
        &self,
        own: &OwnForce<S>,
        step: &Step<'_, S, T>,
        leaps: [&Leap<T>; 2],
        [from, to, mean]: [&Seen<T>; 3],
        damping: &[T],
    ) -> Effort<T> {
        let mut effort = Effort { pull: Pull::none(), work: T::zero() };
        let time = (step.times[0] + step.times[1]) * T::lift(0.5);
        let coordinate = self.only_coordinate();
        let stores = match (self.signals.is_empty(), coordinate) {
            (true, _) => self.store(own, [from, to, mean], (time, step.length), &mut effort.pull),
            (false, Some((at, joint, coordinate))) => {
                let near = step.angles.get(joint).copied().unwrap_or_default();
                let when = (time, step.length);
                self.store_in_joint(own, (at, coordinate, near), [from, to, mean], when, &mut effort.pull)
            }
            (false, None) => false,
        };
        if !stores || self.is_damped() {
            // What is not stored acts as in the middle of the step; of a damper that stores, what velocities make.
            let h = step.times[1] - step.times[0];
            let middle = |b: usize, moves: bool| {
                let place = (step.leap)(b).middle();
                let speed = if moves { h.recip() } else { T::zero() };
                Place { v: place.v * speed, omega: place.omega * speed, ..place }
            };
            let wrenches = |moves: bool| {
                let place = |b: usize| middle(b, moves);
                let scene =
                    Scene { time, inward: 0.0, joints: step.joints, angles: step.angles, place: &place };
                self.wrenches_in(&scene)
            };
            let mut all = wrenches(true);
            if stores {
                all.iter_mut().zip(wrenches(false)).for_each(|(all, still)| *all -= still);
            }
            let moment = |end: usize| leaps[end].middle().to_space(&all[2 * end + 1]);
            let acting = Pull { force: all[0], moments: [moment(0), moment(1)] };
            effort.pull.add(&acting, T::one());
            effort.work += work(&acting, leaps);
        }
        if !damping.is_empty() {
            let change = leaps.map(|leap| [leap.ends[1].x - leap.ends[0].x, leap.theta()]);
            let h = step.times[1] - step.times[0];
            self.each_own_slope(own, mean, |i, slope| {
                let Some(c) = damping.get(i) else { return };
                let mut acting = Pull::none();
                acting.add(slope, -(*c * slope.along(&change) / h));
                effort.work += work(&acting, leaps);
                effort.pull.add(&acting, T::one());
            });
        }
        effort
    }
    /// The forces of a potential of where its frames are; false if it has none.
    fn store<T: Over<S>>(
        &self,
        own: &OwnForce<S>,
        [from, to, mean]: [&Seen<T>; 3],
        (time, length): (T, f64),
        out: &mut Pull<T>,
    ) -> bool {
        let view = View::new(&self.ends);
        let [a, b] = [from, to].map(|seen| view.relative(seen));
        let stored = |at: &Relative<T>| {
            let frames = view.frames(at, time, T::of);
            own.potential_at(&MovingFrames::still(frames), T::of)
        };
        let Some(_) = stored(&a) else { return false };
        let values = corners([&a, &b]).map(|corner| stored(&corner).unwrap_or(T::lift(f64::NAN)));
        let of = |x: S| Dual::constant(T::of(x));
        let gradient = slopes(&a.mean(&b), |at: &Relative<Dual<T, 3>>| {
            let frames = view.frames(at, Dual::constant(time), of);
            own.potential_at(&MovingFrames::still(frames), of).unwrap_or(Dual::lift(f64::NAN))
        });
        view.pull(mean, &exact(gradient, [&a, &b], values, length).map(|x| -x), out);
        true
    }
    /// The forces of a potential of one coordinate of a joint between its frames; false if it has none.
    fn store_in_joint<T: Over<S>>(
        &self,
        own: &OwnForce<S>,
        (signal, coordinate, near): (usize, Coordinate, f64),
        [from, to, mean]: [&Seen<T>; 3],
        (time, length): (T, f64),
        out: &mut Pull<T>,
    ) -> bool {
        let view = View::new(&self.ends);
        let (start, change, slope) = match coordinate {
            Coordinate::Angle => {
                let (change, slope) = angle_change([from, to], mean);
                let first = from.axis(1, 0);
                let angle = first.dot(&from.axis(0, 1)).atan2(first.dot(&from.axis(0, 0)));
                (unwound(angle, near - change.largest()), change, slope)
            }
            Coordinate::Distance => {
                let along = |seen: &Seen<T>| seen.axis(0, 2).dot(&seen.span);
                let mut slope = Pull::none();
                mean.pull(Piece::Plane(0, 2), -T::one(), &mut slope);
                (along(from), along(to) - along(from), slope)
            }
        };
        let frames = view.frames(&view.relative(from), time, T::of);
        let stored = |x: T| {
            let mut at = MovingFrames::still(frames);
            at.signals[signal] = x;
            own.potential_at(&at, T::of)
        };
        let (Some(before), Some(after)) = (stored(start), stored(start + change)) else { return false };
        let middle: Dual<T, 3> = Dual::variable(start + change * T::lift(0.5), 0);
        let mut at = MovingFrames::still(view.frames(
            &view.relative(from).map(Dual::constant),
            Dual::constant(time),
            |x: S| Dual::constant(T::of(x)),
        ));
        at.signals[signal] = middle;
        let Some(slope_there) = own.potential_at(&at, |x: S| Dual::constant(T::of(x))) else { return false };
        let slope_there = slope_there.eps[0];
        // Half the square of a coordinate changes by its slope in the middle.
        let missing = match own.strains() {
            Strains::Coordinate => T::zero(),
            _ => (after - before) - slope_there * change,
        };
        let unit = if coordinate == Coordinate::Angle { 1.0 } else { length };
        let room = T::lift(unit * unit * STILL) + T::lift(f64::MIN_POSITIVE);
        let effort = slope_there + missing * change / (change * change + room);
        out.add(&slope, -effort);
        true
    }
    /// The one signal that is the coordinate of a joint between its frames, if the others are rates: its number, the joint
    /// and the coordinate.
    fn only_coordinate(&self) -> Option<(usize, usize, Coordinate)> {
        let mut found = None;
        for (at, signal) in self.signals.iter().enumerate().take(MOST_SIGNALS) {
            match signal {
                Signal::Coordinate(joint, coordinate) if Some(*joint) == self.of && found.is_none() => {
                    found = Some((at, *joint, *coordinate));
                }
                Signal::Rate(..) => {}
                _ => return None,
            }
        }
        found
    }
    /// Its strains where its frames are.
    pub(in crate::multibody) fn each_strain<T: Over<S>>(
        &self,
        places: [&Place<T>; 2],
        mut see: impl FnMut(Strain<T>),
    ) {
        let seen = Seen::of(&self.ends, places);
        match &self.kind {
            ForceKind::SpringDamper { stiffness, .. } => {
                see(Strain { stiffness: T::of(*stiffness), slope: length_slope(&seen) });
            }
            ForceKind::TorsionSpring { stiffness, .. } => {
                let (_, slope) = angle_change([&seen, &seen], &seen);
                see(Strain { stiffness: T::of(*stiffness), slope });
            }
            ForceKind::Own(own) => self.each_own_slope(own, &seen, |i, slope| {
                let stiffness = match own.strains() {
                    Strains::Length => {
                        let along = seen.span / (seen.span.dot(&seen.span) + T::lift(1e-60)).sqrt();
                        let frames = MovingFrames::of(&self.ends, T::zero(), places).frames;
                        let stiffness = own.stiffness_of_length(&frames, &along).unwrap_or(T::zero());
                        T::select(stiffness.below(T::zero()), T::zero(), stiffness)
                    }
                    _ => T::of(own.number(i)),
                };
                see(Strain { stiffness, slope: *slope });
            }),
        }
    }
    /// The derivatives of the strains of a force of one's own, in their order.
    fn each_own_slope<T: Over<S>>(
        &self,
        own: &OwnForce<S>,
        seen: &Seen<T>,
        mut see: impl FnMut(usize, &Pull<T>),
    ) {
        let along = |axis: usize| {
            let mut slope = Pull::none();
            seen.pull(Piece::Plane(0, axis), -T::one(), &mut slope);
            slope
        };
        match (own.strains(), self.only_coordinate()) {
            (Strains::Motions(count), _) => {
                (0..count.min(3)).for_each(|i| see(i, &along(i)));
                for i in 3..count.min(6) {
                    let axis = seen.axis(0, i - 3);
                    see(i, &Pull { force: Vector3::zeros(), moments: [-axis, axis] });
                }
            }
            (Strains::Coordinate, Some((_, _, Coordinate::Distance))) => see(0, &along(2)),
            (Strains::Coordinate, Some((_, _, Coordinate::Angle))) => {
                see(0, &angle_change([seen, seen], seen).1)
            }
            (Strains::Length, _) => see(0, &length_slope(seen)),
            (Strains::Coordinate, None) | (Strains::None, _) => {}
        }
    }
}

/// The derivative of the distance of both points, which grows where the second goes along the line.
fn length_slope<T: Real>(seen: &Seen<T>) -> Pull<T> {
    let mut slope = Pull::none();
    let length = (seen.span.dot(&seen.span) + T::lift(1e-60)).sqrt();
    slope.push(&seen.arms, &-(seen.span / length));
    slope
}

impl<T: Real> Pull<T> {
    /// What it is the derivative of, for changes of both bodies: displacements and turns in space.
    fn along(&self, change: &[[Vector3<T>; 2]; 2]) -> T {
        let part = |end: usize| {
            let [force, moment] = self.on(end);
            force.dot(&change[end][0]) + moment.dot(&change[end][1])
        };
        part(0) + part(1)
    }
}

/// The work of forces over a step.
fn work<T: Real>(pull: &Pull<T>, leaps: [&Leap<T>; 2]) -> T {
    let part = |end: usize| {
        let ([force, moment], leap) = (pull.on(end), leaps[end]);
        force.dot(&(leap.ends[1].x - leap.ends[0].x)) + moment.dot(&leap.theta())
    };
    part(0) + part(1)
}

/// l₁ - l₀ = (d₁ + d₀)·(d₁ - d₀)/(l₁ + l₀), without the difference of two lengths.
fn seen_change<T: Real>(from: &Seen<T>, to: &Seen<T>, sum: T) -> T {
    (to.span + from.span).dot(&(to.span - from.span)) / sum
}
