//! What a joint adds to the equations of a step: its rows at the end, its finite reactions, and those of its velocities.

use super::super::joint::{Feature, Joint, JointKind, MOST_ROWS, Place};
use super::leap::Leap;
use super::piece::{Piece, Pull, Seen};
use super::relative::{OwnRows, Relative, View, corners, exact};
use crate::scalar::{Dual, Over, Real};
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

/// The multipliers of a step: h²λ/2 of each row, and ν where velocities are held too.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Multipliers<'a, T> {
    pub(in crate::multibody) lambda: &'a [T],
    pub(in crate::multibody) nu: Option<&'a [T]>,
}

impl<S: Real> Joint<S> {
    /// The pieces of its rows, in their order, and those of its velocities: points are held in axes that turn with a body,
    /// because only such rows have no moment about any point where they are not zero.
    #[inline(always)]
    fn each_piece(&self, of_velocity: bool, mut each: impl FnMut(usize, Piece)) {
        let on = usize::from(self.ends[0].body.is_none());
        let mut row = 0;
        for feature in self.kind.features() {
            match *feature {
                Feature::Point => {
                    for i in 0..3 {
                        let piece = if of_velocity { Piece::Plane(on, i) } else { Piece::Point(i) };
                        each(row + i, piece);
                    }
                }
                Feature::Perpendicular(i, j) => each(row, Piece::Cosine(i, j)),
                Feature::InPlane(i) => each(row, Piece::Plane(0, i)),
                Feature::Length => each(row, Piece::Length),
            }
            row += feature.rows();
        }
    }
    fn own_rows(&self) -> Option<OwnRows<'_, S>> {
        match &self.kind {
            JointKind::Own(own) => Some(OwnRows { own, view: View::new(&self.ends) }),
            _ => None,
        }
    }
    /// B of the velocity rows, transposed, times ν: the force on the first body in space, moments in space.
    #[inline(always)]
    fn velocity_pull<T: Over<S>>(&self, seen: &Seen<T>, nu: &[T]) -> Pull<T> {
        let (mut pull, length) = (Pull::none(), T::of(self.kind.length()));
        self.each_piece(true, |row, piece| seen.pull(piece, length, nu[row], &mut pull));
        pull
    }

    /// All that it adds to a step of size h between two times. Where not all is asked for, second derivatives of formulas of
    /// one's own are left out of the momenta: a Newton matrix can do without them.
    #[inline(always)]
    pub(in crate::multibody) fn share<T: Over<S>>(
        &self,
        leaps: [&Leap<T>; 2],
        times: [T; 2],
        multipliers: Multipliers<'_, T>,
        all: bool,
    ) -> Share<T> {
        let mut share = Share {
            momenta: Pull::none(),
            ties: [[Vector3::zeros(); 2]; 2],
            rows: [T::zero(); MOST_ROWS],
            rates: [T::zero(); MOST_ROWS],
        };
        let ends = leaps.map(|leap| &leap.ends[1]);
        self.constraint(times[1], ends, &mut share.rows);
        if let Some(own) = self.own_rows() {
            self.share_of_own(&own, leaps, times, multipliers, all, &mut share);
            return share;
        }
        let length = T::of(self.kind.length());
        let mean = leaps.map(|leap| &leap.mean);
        let seen = Seen::of(&self.ends, mean);
        self.each_piece(false, |row, piece| {
            seen.pull(piece, length, multipliers.lambda[row], &mut share.momenta);
        });
        let Some(nu) = multipliers.nu else { return share };
        let half = T::lift(0.5);
        // The finite derivative of ν·B v, the velocities held, is the rate of the reactions at the mean.
        let seen = Seen::moving(&self.ends, mean);
        let mut by_rate = Pull::<Dual<T, 1>>::none();
        let seen_end = Seen::moving(&self.ends, ends);
        let long = Dual::constant(length);
        self.each_piece(true, |row, piece| {
            seen.pull(piece, long, Dual::constant(nu[row]), &mut by_rate);
            share.rates[row] = seen_end.value(piece, long).eps[0] * half;
        });
        share.momenta.add(&rate_of(&by_rate), half);
        for at in 0..2 {
            let places = leaps.map(|leap| &leap.ends[at]);
            let pull = self.velocity_pull(&Seen::of(&self.ends, places), nu);
            tie(&mut share.ties, &pull, places);
        }
        share
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
        let finite = own.finite([from, to], times);
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
                let slopes = exact(slopes[k], [from, to], [0, 1, 2, 3].map(|i| values[i][k]));
                view.pull(&seen, &slopes.map(|x| x * *nu * half), &mut share.momenta);
            }
        }
        for (i, gradients) in gradients.iter().enumerate() {
            let mut pull = Pull::none();
            for (slopes, nu) in gradients.iter().zip(nu) {
                view.pull(&Seen::of(&self.ends, at(i)), &slopes.map(|x| x * *nu), &mut pull);
            }
            tie(&mut share.ties, &pull, at(i));
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

/// Half of what the velocity rows at one end of the step add to the ties.
#[inline(always)]
fn tie<T: Real>(ties: &mut [[Vector3<T>; 2]; 2], pull: &Pull<T>, places: [&Place<T>; 2]) {
    let half = T::lift(0.5);
    for (end, tie) in ties.iter_mut().enumerate() {
        let [force, moment] = pull.on(end);
        tie[0] += force * half;
        tie[1] += places[end].to_body(&moment) * half;
    }
}
