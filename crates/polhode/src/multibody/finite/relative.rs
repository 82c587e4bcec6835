//! Formulas of one's own as functions of where one frame is in the other: twelve pieces of second degree. Their finite
//! derivatives do the work of the formula and have no moment about any point, whatever the formula is.

use super::super::joint::MOST_ROWS;
use super::super::own::{Frames, OwnJoint};
use super::super::system::End;
use super::piece::{Piece, Pull, Seen};
use crate::scalar::{Dual, Over, Real};
use nalgebra::{Matrix3, Vector3};

/// Where one frame is in the other: its point, and its axes as columns; or slopes with respect to these numbers.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct Relative<T> {
    pub(in crate::multibody) point: Vector3<T>,
    pub(in crate::multibody) axes: Matrix3<T>,
}

/// Three of its numbers with derivatives.
const GROUPS: usize = 4;

impl<T: Real> Relative<T> {
    #[inline(always)]
    pub(in crate::multibody) fn none() -> Self {
        Relative { point: Vector3::zeros(), axes: Matrix3::zeros() }
    }
    pub(in crate::multibody) fn map<U: Real>(&self, f: impl Fn(T) -> U) -> Relative<U> {
        Relative { point: self.point.map(&f), axes: self.axes.map(&f) }
    }
    pub(in crate::multibody) fn zip<U: Real>(&self, other: &Self, f: impl Fn(T, T) -> U) -> Relative<U> {
        Relative { point: self.point.zip_map(&other.point, &f), axes: self.axes.zip_map(&other.axes, &f) }
    }
    pub(in crate::multibody) fn mean(&self, other: &Self) -> Self {
        self.zip(other, |a, b| (a + b) * T::lift(0.5))
    }
    /// With derivatives with respect to one group of three numbers.
    fn seeded(&self, group: usize) -> Relative<Dual<T, 3>> {
        let mut seeded = self.map(Dual::constant);
        let list: &mut [Dual<T, 3>] = match group {
            0 => seeded.point.as_mut_slice(),
            _ => &mut seeded.axes.as_mut_slice()[3 * (group - 1)..3 * group],
        };
        for (i, x) in list.iter_mut().enumerate() {
            *x += Dual::variable(T::zero(), i);
        }
        seeded
    }
    /// Takes up the derivatives with respect to one group.
    fn take(&mut self, group: usize, slopes: [T; 3]) {
        match group {
            0 => self.point = slopes.into(),
            _ => self.axes.set_column(group - 1, &slopes.into()),
        }
    }
}

fn inner<T: Real>(a: &Matrix3<T>, b: &Matrix3<T>) -> T {
    a.iter().zip(b.iter()).fold(T::zero(), |sum, (a, b)| sum + *a * *b)
}

/// Which end the numbers are seen from: the ground if one is there, so that a formula may depend on where it is in space.
#[derive(Clone, Copy, Debug)]
pub(in crate::multibody) struct View<S: Real> {
    from: usize,
    point: Vector3<S>,
    axes: Matrix3<S>,
}

impl<S: Real> View<S> {
    pub(in crate::multibody) fn new(ends: &[End<S>; 2]) -> Self {
        let from = usize::from(ends[0].body.is_some() && ends[1].body.is_none());
        match ends[from].body {
            None => View { from, point: ends[from].point, axes: ends[from].axes },
            Some(_) => View { from, point: Vector3::zeros(), axes: Matrix3::identity() },
        }
    }
    /// The numbers.
    pub(in crate::multibody) fn relative<T: Real>(&self, seen: &Seen<T>) -> Relative<T> {
        let (axes, other) = (&seen.axes[self.from], &seen.axes[1 - self.from]);
        let span = if self.from == 0 { seen.span } else { -seen.span };
        Relative { point: axes.tr_mul(&span), axes: axes.tr_mul(other) }
    }
    /// The forces of a function with these slopes.
    pub(in crate::multibody) fn pull<T: Real>(
        &self,
        seen: &Seen<T>,
        slopes: &Relative<T>,
        out: &mut Pull<T>,
    ) {
        // The numbers are the pieces up to a sign.
        let sign = if self.from == 0 { -T::one() } else { T::one() };
        for i in 0..3 {
            seen.pull(Piece::Plane(self.from, i), slopes.point[i] * sign, out);
            for j in 0..3 {
                let cosine = if self.from == 0 { Piece::Cosine(i, j) } else { Piece::Cosine(j, i) };
                seen.pull(cosine, slopes.axes[(i, j)], out);
            }
        }
    }
    /// Both frames.
    pub(in crate::multibody) fn frames<U: Real>(
        &self,
        at: &Relative<U>,
        time: U,
        of: impl Fn(S) -> U,
    ) -> Frames<U> {
        let (point, axes) = (self.point.map(&of), self.axes.map(&of));
        let other = (point + axes * at.point, axes * at.axes);
        let (points, axes) = match self.from {
            0 => ([point, other.0], [axes, other.1]),
            _ => ([other.0, point], [other.1, axes]),
        };
        Frames { time, points, axes }
    }
}

/// Squares of changes below this are too small for the difference of two values to mean anything.
pub(super) const STILL: f64 = 1e-16;

/// The nearest slopes to those given whose work between two places is the change of a function: of its turn and of its
/// displacement, each as the mean over the two ways from one to the other. `values` are those at the start, at the end, after
/// the turn alone and after the displacement alone. A displacement is none below a small part of a typical length, or of the places:
/// what the function changes by is rounding then, and the slopes at the mean are as good.
pub(in crate::multibody) fn exact<T: Real>(
    slopes: Relative<T>,
    [from, to]: [&Relative<T>; 2],
    [a, b, turned, shifted]: [T; 4],
    length: f64,
) -> Relative<T> {
    let half = T::lift(0.5);
    let change = to.zip(from, |to, from| to - from);
    let by_turn = ((turned - a) + (b - shifted)) * half - inner(&slopes.axes, &change.axes);
    let by_shift = ((shifted - a) + (b - turned)) * half - slopes.point.dot(&change.point);
    let size = from.point.dot(&from.point) + to.point.dot(&to.point) + T::lift(length * length);
    let room = size * T::lift(STILL) + T::lift(f64::MIN_POSITIVE);
    Relative {
        point: slopes.point + change.point * (by_shift / (change.point.dot(&change.point) + room)),
        axes: slopes.axes + change.axes * (by_turn / (inner(&change.axes, &change.axes) + T::lift(STILL))),
    }
}

/// The places between which a finite derivative is taken, in the order of the values of [`exact`].
pub(in crate::multibody) fn corners<T: Real>([from, to]: [&Relative<T>; 2]) -> [Relative<T>; 4] {
    let turned = Relative { point: from.point, axes: to.axes };
    let shifted = Relative { point: to.point, axes: from.axes };
    [*from, *to, turned, shifted]
}

/// Slopes of a function given at duals.
pub(in crate::multibody) fn slopes<T: Real>(
    at: &Relative<T>,
    function: impl Fn(&Relative<Dual<T, 3>>) -> Dual<T, 3>,
) -> Relative<T> {
    let mut slopes = Relative::none();
    for group in 0..GROUPS {
        slopes.take(group, function(&at.seeded(group)).eps);
    }
    slopes
}

/// Rows of a formula of one's own, as functions of where the frames are.
pub(in crate::multibody) struct OwnRows<'a, S: Real> {
    pub(in crate::multibody) own: &'a OwnJoint<S>,
    pub(in crate::multibody) view: View<S>,
}

impl<S: Real> OwnRows<'_, S> {
    pub(in crate::multibody) fn values<T: Over<S>>(&self, at: &Relative<T>, time: T) -> [T; MOST_ROWS] {
        self.own.rows_at(&self.view.frames(at, time, T::of), T::of)
    }
    fn dual_values<T: Over<S>>(
        &self,
        at: &Relative<Dual<T, 3>>,
        time: Dual<T, 3>,
    ) -> [Dual<T, 3>; MOST_ROWS] {
        let of = |x: S| Dual::constant(T::of(x));
        self.own.rows_at(&self.view.frames(at, time, of), of)
    }
    /// The slopes of all rows.
    pub(in crate::multibody) fn slopes<T: Over<S>>(
        &self,
        at: &Relative<T>,
        time: T,
    ) -> [Relative<T>; MOST_ROWS] {
        let mut slopes = [Relative::none(); MOST_ROWS];
        for group in 0..GROUPS {
            let rows = self.dual_values(&at.seeded(group), Dual::constant(time));
            slopes.iter_mut().zip(rows).for_each(|(slopes, row)| slopes.take(group, row.eps));
        }
        slopes
    }
    /// The derivatives of all rows along a motion, of time too.
    pub(in crate::multibody) fn along<T: Over<S>>(
        &self,
        at: &Relative<T>,
        rate: &Relative<T>,
        (time, passing): (T, T),
    ) -> [T; MOST_ROWS] {
        let late = |re: T, eps: T| Dual { re, eps: [eps, T::zero(), T::zero()] };
        self.dual_values(&at.zip(rate, late), late(time, passing)).map(|row| row.eps[0])
    }
    /// The slopes of the derivative along a motion that is held.
    pub(in crate::multibody) fn slopes_along<T: Over<S>>(
        &self,
        at: &Relative<T>,
        rate: &Relative<T>,
        time: T,
    ) -> [Relative<T>; MOST_ROWS] {
        let of = |x: S| Dual::constant(Dual::constant(T::of(x)));
        let mut slopes = [Relative::none(); MOST_ROWS];
        for group in 0..GROUPS {
            let seeded = at.seeded(group);
            let rate = rate.map(Dual::constant);
            let late =
                |re, eps| Dual { re, eps: [eps, Dual::constant(T::zero()), Dual::constant(T::zero())] };
            let moving: Relative<Dual<Dual<T, 3>, 3>> = seeded.zip(&rate, late);
            let rows =
                self.own.rows_at(&self.view.frames(&moving, Dual::constant(Dual::constant(time)), of), of);
            slopes.iter_mut().zip(rows).for_each(|(slopes, row)| slopes.take(group, row.eps[0].eps));
        }
        slopes
    }
    /// The finite derivatives of all rows over a step, the rows' own change with time left out.
    pub(in crate::multibody) fn finite<T: Over<S>>(
        &self,
        [from, to]: [&Relative<T>; 2],
        times: [T; 2],
        length: f64,
    ) -> [Relative<T>; MOST_ROWS] {
        let mean = from.mean(to);
        let at = |time: T| {
            let (slopes, values) =
                (self.slopes(&mean, time), corners([from, to]).map(|corner| self.values(&corner, time)));
            let row = |k: usize| exact(slopes[k], [from, to], [0, 1, 2, 3].map(|i| values[i][k]), length);
            core::array::from_fn::<_, MOST_ROWS, _>(row)
        };
        let end = at(times[1]);
        if !self.own.is_driven() {
            return end;
        }
        let start = at(times[0]);
        core::array::from_fn(|k| start[k].mean(&end[k]))
    }
    /// By how much the rows change with time alone, of both ends the mean.
    pub(in crate::multibody) fn by_time<T: Over<S>>(
        &self,
        ends: [&Relative<T>; 2],
        times: [T; 2],
    ) -> [T; MOST_ROWS] {
        let [a, b] = ends.map(|at| times.map(|time| self.values(at, time)));
        core::array::from_fn(|k| ((a[1][k] - a[0][k]) + (b[1][k] - b[0][k])) * T::lift(0.5))
    }
}
