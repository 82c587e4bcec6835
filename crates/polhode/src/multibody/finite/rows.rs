//! What a joint adds to the equations of a step: its rows at the end, its finite reactions, and those of its velocities.
//!
//! The velocity rows of a point are held in axes that turn with a body and are those of space at the start of the step: only
//! rows in axes of a body have no moment about any point where they are not zero.

use super::super::joint::{Feature, Joint, JointKind, MOST_ROWS, axis};
use super::super::place::{Place, zero};
use super::leap::Leap;
use super::piece::{Pull, Seen};
use super::relative::{OwnRows, Relative, View, corners, exact};
use crate::scalar::{Dual, Over, Real, called, cross};
use nalgebra::Vector3;

/// What a joint adds.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Share<T> {
    /// To the momenta: forces and moments on both bodies, in space.
    pub(in crate::multibody) momenta: Pull<T>,
    /// To the ties of pose and velocity: forces in space, moments in body axes.
    pub(in crate::multibody) ties: [[Vector3<T>; 2]; 2],
    /// Φ at the end.
    pub(in crate::multibody) rows: [T; MOST_ROWS],
    /// h B v / 2 there.
    pub(in crate::multibody) rates: [T; MOST_ROWS],
}

/// The multipliers of a step: h²λ/2 of each row, and ν where velocities are held too; and a typical length of the system, which
/// tells what is a motion and what is rounding.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Multipliers<'a, T> {
    pub(in crate::multibody) length: f64,
    pub(in crate::multibody) lambda: &'a [T],
    pub(in crate::multibody) nu: Option<&'a [T]>,
}

/// How much of what a joint adds is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::multibody) enum Part {
    /// All of it.
    All,
    /// All but second derivatives of formulas of one's own in the momenta: a Newton matrix can do without them.
    Slopes,
    /// What it adds to the momenta.
    Momenta,
}

/// A joint where its bodies are, seen from their centres of mass in space.
pub(super) struct Sight<'a, S: Real, T> {
    joint: &'a Joint<S>,
    pub(super) places: [&'a Place<T>; 2],
}

impl<'a, S: Real, T: Over<S>> Sight<'a, S, T> {
    #[inline(always)]
    pub(super) fn new(joint: &'a Joint<S>, places: [&'a Place<T>; 2]) -> Self {
        Sight { joint, places }
    }
    #[inline(always)]
    fn point(&self, end: usize) -> Vector3<T> {
        self.joint.ends[end].point.map(T::of)
    }
    /// From the centre of mass of each body to the point of its frame.
    #[inline(always)]
    pub(super) fn arms(&self) -> [Vector3<T>; 2] {
        [self.places[0].to_space(&self.point(0)), self.places[1].to_space(&self.point(1))]
    }
    /// d, from the point of the first to that of the second.
    #[inline(always)]
    pub(super) fn span(&self) -> Vector3<T> {
        let [first, second] = self.arms();
        self.places[1].x + second - self.places[0].x - first
    }
    /// An axis of a frame.
    #[inline(always)]
    pub(super) fn axis(&self, end: usize, i: usize) -> Vector3<T> {
        self.places[end].to_space(&axis(&self.joint.ends[end], i))
    }
    /// How a vector of a body changes.
    #[inline(always)]
    fn turning(&self, end: usize, y: &Vector3<T>) -> Vector3<T> {
        let place = self.places[end];
        place.to_space(&cross(&place.omega, y))
    }
    #[inline(always)]
    fn axis_rate(&self, end: usize, i: usize) -> Vector3<T> {
        self.turning(end, &axis(&self.joint.ends[end], i))
    }
    /// How the arms change.
    #[inline(always)]
    fn arm_rates(&self) -> [Vector3<T>; 2] {
        [self.turning(0, &self.point(0)), self.turning(1, &self.point(1))]
    }
    /// How the span changes, with them.
    #[inline(always)]
    fn span_rate(&self, [first, second]: &[Vector3<T>; 2]) -> Vector3<T> {
        self.places[1].v + second - self.places[0].v - first
    }
    /// Rows times multipliers, all but the moments of forces at the points of the frames. The force that holds points together is
    /// given by itself.
    #[inline(always)]
    fn reaction(&self, point: Vector3<T>, multipliers: &[T]) -> Pull<T> {
        called!(T, 32, self.reaction_of(&point, multipliers))
    }
    #[inline(always)]
    fn reaction_of(&self, point: &Vector3<T>, multipliers: &[T]) -> Pull<T> {
        let (mut pull, mut row) = (Pull { force: *point, moments: [zero(); 2] }, 0);
        let [first, second] = self.places;
        self.joint.crossed(multipliers, |u, w| {
            let moment = cross(&first.to_space(u), &second.to_space(w));
            pull.moments[0] += moment;
            pull.moments[1] -= moment;
        });
        for feature in self.joint.kind.features() {
            let l = multipliers[row];
            match *feature {
                Feature::Point => {}
                Feature::Perpendicular(..) => {}
                Feature::InPlane(i) => {
                    let f = self.axis(0, i) * l;
                    pull.force += f;
                    pull.moments[0] -= cross(&f, &self.span());
                }
                Feature::Length => pull.force += self.span() * (l / T::of(self.joint.kind.length())),
            }
            row += feature.rows();
        }
        pull
    }
    /// Φ_qᵀ λ in space.
    #[inline(always)]
    pub(super) fn pull(&self, lambda: &[T]) -> Pull<T> {
        let mut pull = self.reaction(self.joint.force_of(lambda), lambda);
        let (force, [first, second]) = (pull.force, self.arms());
        pull.moments[0] += cross(&first, &force);
        pull.moments[1] -= cross(&second, &force);
        pull
    }
    /// h B v/2 of the velocity rows.
    #[inline(always)]
    fn velocities(&self, out: &mut [T; MOST_ROWS]) {
        let (half, mut row, late) = (T::lift(0.5), 0, self.span_rate(&self.arm_rates()));
        // How the last axis of the second frame turns, in axes of the first body.
        let (first, mut turning) = (self.places[0], (MOST_ROWS, zero()));
        for feature in self.joint.kind.features() {
            match *feature {
                // In axes of a body too ḋ vanishes where d does.
                Feature::Point => (0..3).for_each(|i| out[row + i] = late[i] * -half),
                Feature::Perpendicular(i, j) => {
                    if turning.0 != j {
                        let seen = first.to_body(&self.axis(1, j));
                        let turned = first.to_body(&self.axis_rate(1, j)) + cross(&seen, &first.omega);
                        turning = (j, turned * half);
                    }
                    out[row] = axis(&self.joint.ends[0], i).dot(&turning.1);
                }
                Feature::InPlane(i) => {
                    let turned = self.axis_rate(0, i).dot(&self.span());
                    out[row] = (turned + self.axis(0, i).dot(&late)) * -half;
                }
                Feature::Length => {
                    out[row] = self.span().dot(&late) * -half / T::of(self.joint.kind.length());
                }
            }
            row += feature.rows();
        }
    }
    /// How the velocity rows times ν change while all moves as it does; the force that holds points together is given with its
    /// rate.
    #[inline(always)]
    fn pull_rate(&self, point: [Vector3<T>; 2], nu: &[T]) -> Pull<T> {
        let (turning, mut row) = (self.arm_rates(), 0);
        let span_rate = self.span_rate(&turning);
        // The force at the points, and its rate.
        let [mut force, mut late] = point;
        let mut moments = [zero(); 2];
        // d itself is zero where points are held together.
        moments[self.joint.turned_with()] = -cross(&force, &span_rate);
        let [first, second] = self.places;
        self.joint.crossed(nu, |u, w| {
            let turned = cross(&self.turning(0, u), &second.to_space(w));
            let moment = turned + cross(&first.to_space(u), &self.turning(1, w));
            moments[0] += moment;
            moments[1] -= moment;
        });
        for feature in self.joint.kind.features() {
            let l = nu[row];
            match *feature {
                Feature::Point => {}
                Feature::Perpendicular(..) => {}
                Feature::InPlane(i) => {
                    let (f, turned) = (self.axis(0, i) * l, self.axis_rate(0, i) * l);
                    force += f;
                    late += turned;
                    moments[0] -= cross(&turned, &self.span()) + cross(&f, &span_rate);
                }
                Feature::Length => {
                    let per = l / T::of(self.joint.kind.length());
                    force += self.span() * per;
                    late += span_rate * per;
                }
            }
            row += feature.rows();
        }
        let [first, second] = self.arms();
        moments[0] += cross(&first, &late) + cross(&turning[0], &force);
        moments[1] -= cross(&second, &late) + cross(&turning[1], &force);
        Pull { force: late, moments }
    }
}

impl<S: Real> Joint<S> {
    /// The end with whose body the velocity rows of points turn.
    #[inline(always)]
    fn turned_with(&self) -> usize {
        usize::from(self.ends[0].body.is_none())
    }
    fn own_rows(&self) -> Option<OwnRows<'_, S>> {
        match &self.kind {
            JointKind::Own(own) => Some(OwnRows { own, view: View::new(&self.ends) }),
            _ => None,
        }
    }

    /// What it adds to a step of size h between two times.
    #[inline(always)]
    pub(in crate::multibody) fn share<T: Over<S>>(
        &self,
        leaps: [&Leap<T>; 2],
        times: [T; 2],
        multipliers: Multipliers<'_, T>,
        part: Part,
    ) -> Share<T> {
        let mut share = Share {
            momenta: Pull::none(),
            ties: [[zero(); 2]; 2],
            rows: [T::zero(); MOST_ROWS],
            rates: [T::zero(); MOST_ROWS],
        };
        let ends = [&leaps[0].ends[1], &leaps[1].ends[1]];
        if part != Part::Momenta {
            self.constraint(times[1], ends, &mut share.rows);
        }
        if let Some(own) = self.own_rows() {
            self.share_of_own(&own, leaps, times, multipliers, part != Part::Slopes, &mut share);
            return share;
        }
        let [first, second] = leaps;
        let seen = Sight::new(self, [&first.mean, &second.mean]);
        share.momenta = seen.pull(multipliers.lambda);
        let Some(nu) = multipliers.nu else { return share };
        let half = T::lift(0.5);
        // The leap of the body with which the velocity rows of points turn, their force at the start of the step, and that in
        // axes that turn.
        let (on, point) = (leaps[self.turned_with()], self.force_of(nu));
        let turning = on.ends[0].to_body(&point);
        let late = on.mean.to_space(&cross(&on.mean.omega, &turning));
        // The finite derivative of ν·B v, the velocities held, is the rate of the reactions at the mean.
        share.momenta.add(&seen.pull_rate([on.mean.to_space(&turning), late], nu), half);
        if part == Part::Momenta {
            return share;
        }
        let starts = [&first.ends[0], &second.ends[0]];
        self.tie(&mut share.ties, &Sight::new(self, starts).reaction(point, nu), starts);
        let seen = Sight::new(self, ends);
        seen.velocities(&mut share.rates);
        self.tie(&mut share.ties, &seen.reaction(on.ends[1].to_space(&turning), nu), ends);
        share
    }
    /// The force that holds points together, if it does so: they are its first rows.
    #[inline(always)]
    fn force_of<T: Real>(&self, multipliers: &[T]) -> Vector3<T> {
        match (self.kind.features(), multipliers) {
            ([Feature::Point, ..], [x, y, z, ..]) => Vector3::new(*x, *y, *z),
            _ => zero(),
        }
    }
    /// Half of what the velocity rows at one end of the step add to the ties, the force acting at the points.
    #[inline(always)]
    fn tie<T: Over<S>>(&self, ties: &mut [[Vector3<T>; 2]; 2], pull: &Pull<T>, places: [&Place<T>; 2]) {
        let half = T::lift(0.5);
        for (end, tie) in ties.iter_mut().enumerate() {
            if self.ends[end].body.is_none() {
                continue;
            }
            let [force, moment] = pull.on(end);
            let arm: Vector3<T> = self.ends[end].point.map(T::of);
            tie[0] += force * half;
            tie[1] += cross(&arm, &places[end].to_body(&force)) * half;
            if !self.kind.turns_alone() {
                tie[1] += places[end].to_body(&moment) * half;
            }
        }
    }

    #[inline(never)]
    fn share_of_own<T: Over<S>>(
        &self,
        own: &OwnRows<'_, S>,
        leaps: [&Leap<T>; 2],
        times: [T; 2],
        multipliers: Multipliers<'_, T>,
        all: bool,
        share: &mut Share<T>,
    ) {
        let (view, count, half) = (&own.view, self.kind.rows(), T::lift(0.5));
        let at = |i: usize| leaps.map(|leap| &leap.ends[i]);
        let relative = [0, 1].map(|i| view.relative(&Seen::of(&self.ends, at(i))));
        let [from, to] = relative.each_ref();
        let mean = leaps.map(|leap| &leap.mean);
        let seen = Seen::of(&self.ends, mean);
        let finite = own.finite([from, to], times, multipliers.length);
        for (slopes, l) in finite.iter().zip(multipliers.lambda) {
            view.pull(&seen, &slopes.map(|x| x * *l), &mut share.momenta);
        }
        let Some(nu) = multipliers.nu else { return };
        let h = times[1] - times[0];
        let rate = |places: [&Place<T>; 2]| {
            let Relative { point, axes } = view.relative(&Seen::moving(&self.ends, places));
            Relative { point: point.map(|x| x.eps[0]), axes: axes.map(|x| x.eps[0]) }
        };
        let rates = own.along(to, &rate(at(1)), (times[1], h));
        share.rates[..count].iter_mut().zip(rates).for_each(|(out, rate)| *out = rate * half);
        // ν·(g·ẏ) changes by ν·(ḡ·Δẏ + Δg·ẏ̄), with velocities held.
        let gradients = [0, 1].map(|i| own.slopes(&relative[i], times[i]));
        let seen_late = Seen::moving(&self.ends, mean);
        let with = |place: &Place<T>, held: &Place<T>| Place { v: held.v, omega: held.omega, ..*place };
        let held = |i: usize| {
            let places: [Place<T>; 2] = core::array::from_fn(|end| with(at(i)[end], mean[end]));
            rate(places.each_ref())
        };
        let passing = held(0).mean(&held(1));
        let mut by_rate = Pull::<Dual<T, 1>>::none();
        for (k, nu) in nu[..count].iter().enumerate() {
            let slopes = gradients[0][k].mean(&gradients[1][k]).map(|x| Dual::constant(x * *nu));
            view.pull(&seen_late, &slopes, &mut by_rate);
        }
        share.momenta.add(&rate_of(&by_rate), half);
        if all {
            let time = (times[0] + times[1]) * half;
            let slopes = own.slopes_along(&from.mean(to), &passing, time);
            let still = T::zero();
            let values = corners([from, to]).map(|corner| own.along(&corner, &passing, (time, still)));
            for (k, nu) in nu[..count].iter().enumerate() {
                let slopes =
                    exact(slopes[k], [from, to], [0, 1, 2, 3].map(|i| values[i][k]), multipliers.length);
                view.pull(&seen, &slopes.map(|x| x * *nu * half), &mut share.momenta);
            }
        }
        for (i, gradients) in gradients.iter().enumerate() {
            let mut pull = Pull::none();
            for (slopes, nu) in gradients.iter().zip(nu) {
                view.pull(&Seen::of(&self.ends, at(i)), &slopes.map(|x| x * *nu), &mut pull);
            }
            tie_moments(&mut share.ties, &pull, at(i));
        }
    }
    /// h²/2 times the work of what drives it over a step: λ times what its rows change by themselves, and ν times what their
    /// rates do.
    pub(in crate::multibody) fn drive_work<T: Over<S>>(
        &self,
        leaps: [&Leap<T>; 2],
        times: [T; 2],
        multipliers: Multipliers<'_, T>,
    ) -> T {
        let Some(own) = self.own_rows().filter(|own| own.own.is_driven()) else { return T::zero() };
        let seen = |i: usize| Seen::of(&self.ends, leaps.map(|leap| &leap.ends[i]));
        let [from, to] = [0, 1].map(|i| own.view.relative(&seen(i)));
        let changes = own.by_time([&from, &to], times);
        let mut work = multipliers.lambda.iter().zip(changes).fold(T::zero(), |sum, (l, c)| sum + *l * c);
        if let Some(nu) = multipliers.nu {
            let h = times[1] - times[0];
            let Relative { point, axes } =
                own.view.relative(&Seen::moving(&self.ends, leaps.map(|leap| &leap.mean)));
            let passing = Relative { point: point.map(|x| x.eps[0]), axes: axes.map(|x| x.eps[0]) };
            let mean = from.mean(&to);
            let [a, b] = [(&from, times[0]), (&to, times[1])].map(|(at, time)| {
                let alone = own.along(at, &Relative::none(), (time, h));
                let along = own.along(&mean, &passing, (time, T::zero()));
                core::array::from_fn::<T, MOST_ROWS, _>(|k| alone[k] + along[k])
            });
            for (k, nu) in nu.iter().enumerate() {
                work += *nu * (b[k] - a[k]) * T::lift(0.5);
            }
        }
        work
    }
}

fn rate_of<T: Real>(pull: &Pull<Dual<T, 1>>) -> Pull<T> {
    let rate = |v: &Vector3<Dual<T, 1>>| v.map(|x| x.eps[0]);
    Pull { force: rate(&pull.force), moments: [rate(&pull.moments[0]), rate(&pull.moments[1])] }
}

/// Half of what the velocity rows of a formula of one's own at one end of the step add to the ties.
fn tie_moments<T: Real>(ties: &mut [[Vector3<T>; 2]; 2], pull: &Pull<T>, places: [&Place<T>; 2]) {
    let half = T::lift(0.5);
    for (end, tie) in ties.iter_mut().enumerate() {
        let [force, moment] = pull.on(end);
        tie[0] += force * half;
        tie[1] += places[end].to_body(&moment) * half;
    }
}
