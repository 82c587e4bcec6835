//! Frequencies of a computed motion: nutation and precession of a top, and how often a body turns over.
//!
//! The observers take one sample per step, equidistant or not, and keep only the last few: maxima and zeros are found
//! by the polynomial through six neighbouring samples, so that their times are far more exact than the steps.

use crate::archive::{Archive, Kept, kept, numbers_of, put_numbers};
use crate::group::Rotation;
use crate::run::RestoreError;
use core::f64::consts::TAU;
use nalgebra::Vector3;

/// Samples of one polynomial.
const POINTS: usize = 6;

/// A rise or fall of the cosine of the tilt below this is round-off and no nutation.
const ROUND_OFF: f64 = 1e-9;

/// The polynomial through six samples, in x = (t - centre)/scale.
struct Fit {
    centre: f64,
    scale: f64,
    coefficients: [f64; POINTS],
}

impl Fit {
    fn new(times: [f64; POINTS], values: [f64; POINTS]) -> Fit {
        let centre = times[POINTS / 2];
        let scale = (times[POINTS - 1] - times[0]) / (POINTS - 1) as f64;
        let x = times.map(|t| (t - centre) / scale);
        // Divided differences, then Newton's form multiplied out from the inside.
        let mut d = values;
        for k in 1..POINTS {
            for i in (k..POINTS).rev() {
                d[i] = (d[i] - d[i - 1]) / (x[i] - x[i - k]);
            }
        }
        let mut coefficients = [0.0; POINTS];
        for k in (0..POINTS).rev() {
            for i in (1..POINTS).rev() {
                coefficients[i] = coefficients[i - 1] - x[k] * coefficients[i];
            }
            coefficients[0] = d[k] - x[k] * coefficients[0];
        }
        Fit { centre, scale, coefficients }
    }
    fn x(&self, t: f64) -> f64 {
        (t - self.centre) / self.scale
    }
    fn value(&self, t: f64) -> f64 {
        let x = self.x(t);
        self.coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
    }
    /// The derivative in x.
    fn slope(&self, t: f64) -> f64 {
        let x = self.x(t);
        (1..POINTS).rev().fold(0.0, |sum, k| sum * x + k as f64 * self.coefficients[k])
    }
}

/// Where a function changes its sign between two times, by halving; `None` if it has the same sign at both.
fn sign_change(f: impl Fn(f64) -> f64, mut from: f64, mut to: f64) -> Option<f64> {
    let negative = f(from) < 0.0;
    if (f(to) < 0.0) == negative {
        return None;
    }
    loop {
        let middle = 0.5 * (from + to);
        // The two are neighbours among the numbers.
        if !(middle > from && middle < to) {
            return Some(middle);
        }
        if (f(middle) < 0.0) == negative { from = middle } else { to = middle }
    }
}

/// The last `N` samples of something, the oldest first.
#[derive(Clone, Copy, Debug)]
struct Ring<T, const N: usize> {
    samples: [T; N],
    seen: usize,
}

impl<T: Copy + Default, const N: usize> Ring<T, N> {
    fn new() -> Self {
        Ring { samples: [T::default(); N], seen: 0 }
    }
    fn push(&mut self, sample: T) {
        self.samples.rotate_left(1);
        self.samples[N - 1] = sample;
        self.seen = (self.seen + 1).min(N);
    }
    fn last(&self) -> Option<&T> {
        (self.seen > 0).then(|| &self.samples[N - 1])
    }
    fn full(&self) -> bool {
        self.seen == N
    }
}

impl<T: Kept, const N: usize> Kept for Ring<T, N> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.samples.keep(archive);
        self.seen.keep(archive);
    }
}
kept!(Axis { t, height, azimuth });
kept!(Line { n, mean, square, product });
kept!(Nutation { axes, low, candidate, first, last, periods, line, tilt, lost });
kept!(Crossings { samples, largest, negative, candidate, first, last, count });

/// Observers are put aside with their runs.
macro_rules! saved {
    ($($observer:ty)*) => {$(
        impl $observer {
            /// All that it has seen, to be gone on with by `restore`.
            pub fn save(&mut self) -> Vec<u64> {
                numbers_of(self)
            }
            /// Goes on from what was saved. After an error all is as it was.
            pub fn restore(&mut self, saved: &[u64]) -> Result<(), RestoreError> {
                put_numbers(self, saved).then_some(()).ok_or(RestoreError::Damaged)
            }
        }
    )*};
}
saved!(Nutation Crossings);

/// The axis of a top at one time.
#[derive(Clone, Copy, Debug, Default)]
struct Axis {
    t: f64,
    /// R33, the cosine of the tilt.
    height: f64,
    /// Without jumps.
    azimuth: f64,
}

/// A straight line through points that come one by one, by least squares.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    n: f64,
    mean: [f64; 2],
    square: f64,
    product: f64,
}

impl Line {
    fn add(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        let dx = x - self.mean[0];
        self.mean[0] += dx / self.n;
        self.mean[1] += (y - self.mean[1]) / self.n;
        self.square += dx * (x - self.mean[0]);
        self.product += dx * (y - self.mean[1]);
    }
    fn slope(&self) -> Option<f64> {
        (self.square > 0.0).then(|| self.product / self.square)
    }
}

/// Nutation and precession of the third body axis, from a sample of the attitude at each step.
///
/// A nutation lasts from one time of greatest height R33 of the axis to the next. Frequency of nutation and rate of
/// precession are means over whole nutations: 2π, and the advance of the azimuth of the axis, per time. A greatest
/// height counts where at least three samples lie on both sides of it. So the start does not count, even of a top that
/// is let go there: a method that is not symmetric has its greatest height only near it. Heights that differ by less
/// than 1e-9 count as equal, which leaves a steady precession without nutations.
///
/// The azimuth is lost where the axis comes to the vertical or turns by more than a quarter turn in a step; there is no
/// rate of precession then.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::check::Nutation;
/// use polhode::group::Rotation;
/// use polhode::reference::LagrangeTop;
/// let (tilt, spin) = (Vector3::new(0.3, 0.0, 0.0), Vector3::new(0.0, 0.0, 50.0));
/// let top = LagrangeTop::from_rotation_vector(5.0, 1.0, 20.0, &tilt, &spin)?;
/// let mut seen = Nutation::new();
/// for n in 0..=300 {
///     let t = 0.01 * n as f64;
///     seen.observe(t, &Rotation::from_matrix(&top.at(t).0));
/// }
/// // Greatest heights at 0.68, 1.36, 2.05 and 2.73 s.
/// assert_eq!(seen.periods(), 3);
/// assert!((seen.frequency().unwrap() - top.nutation_frequency()).abs() < 1e-6);
/// assert!((seen.precession().unwrap() - top.precession_rate()).abs() < 1e-6);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Nutation {
    /// One more than a polynomial needs: it is laid about the side of the middle on which the maximum is.
    axes: Ring<Axis, { POINTS + 1 }>,
    /// The least height since the last maximum that counted.
    low: f64,
    /// A maximum that does not count before the axis has sunk below it.
    candidate: Option<Axis>,
    first: Option<Axis>,
    last: Option<Axis>,
    periods: u64,
    line: Line,
    tilt: Option<[f64; 2]>,
    lost: bool,
}

impl Default for Nutation {
    fn default() -> Self {
        Nutation::new()
    }
}

impl Nutation {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Nutation {
            axes: Ring::new(),
            low: f64::INFINITY,
            candidate: None,
            first: None,
            last: None,
            periods: 0,
            line: Line::default(),
            tilt: None,
            lost: false,
        }
    }

    /// The attitude at the next time.
    pub fn observe(&mut self, t: f64, attitude: &Rotation<f64>) {
        let axis = attitude.rotate(&Vector3::z());
        let across = axis.x.hypot(axis.y);
        let angle = axis.y.atan2(axis.x);
        let before = self.axes.last().map_or(angle, |a| a.azimuth);
        let azimuth = angle + TAU * ((before - angle) / TAU).round();
        self.lost |= across < ROUND_OFF || (azimuth - before).abs() > TAU / 4.0;
        let tilt = across.atan2(axis.z);
        let [low, high] = self.tilt.unwrap_or([tilt; 2]);
        self.tilt = Some([low.min(tilt), high.max(tilt)]);
        self.line.add(t, azimuth);
        self.axes.push(Axis { t, height: axis.z, azimuth });
        if self.candidate.is_none() {
            self.low = self.low.min(axis.z);
        }
        if self.axes.full() {
            self.look();
        }
    }

    /// Is the sample in the middle higher than its neighbours, and has the axis sunk below the last such one?
    fn look(&mut self) {
        const MIDDLE: usize = POINTS / 2;
        let axes = &self.axes.samples;
        let [before, middle, after] = [axes[MIDDLE - 1], axes[MIDDLE], axes[MIDDLE + 1]];
        let highest = self.candidate.map_or(self.low + ROUND_OFF, |c| c.height);
        if before.height < middle.height && middle.height >= after.height && middle.height > highest {
            let from = usize::from(after.height > before.height);
            let part = |value: fn(&Axis) -> f64| core::array::from_fn(|i| value(&axes[from + i]));
            let times = part(|a| a.t);
            let height = Fit::new(times, part(|a| a.height));
            // Without a change of sign there is nothing but round-off, and the sample is as good.
            let t = sign_change(|t| height.slope(t), before.t, after.t).unwrap_or(middle.t);
            let azimuth = Fit::new(times, part(|a| a.azimuth)).value(t);
            self.candidate = Some(Axis { t, height: middle.height, azimuth });
        }
        if let Some(top) = self.candidate
            && after.height < top.height - ROUND_OFF
        {
            self.periods += u64::from(self.first.is_some());
            self.first.get_or_insert(top);
            self.last = Some(top);
            self.candidate = None;
            self.low = axes[MIDDLE + 1..].iter().fold(f64::INFINITY, |low, a| low.min(a.height));
        }
    }

    /// Whole nutations.
    pub fn periods(&self) -> u64 {
        self.periods
    }
    fn span(&self) -> Option<(Axis, Axis)> {
        (self.periods > 0).then_some(self.first.zip(self.last)).flatten()
    }
    /// Mean circular frequency of nutation, if there was a whole one.
    pub fn frequency(&self) -> Option<f64> {
        self.span().map(|(first, last)| TAU * self.periods as f64 / (last.t - first.t))
    }
    /// Mean rate of precession over the whole nutations, if there was one.
    pub fn precession(&self) -> Option<f64> {
        let rate = |(first, last): (Axis, Axis)| (last.azimuth - first.azimuth) / (last.t - first.t);
        self.span().filter(|_| !self.lost).map(rate)
    }
    /// Mean rate of precession as the slope of the line that fits the azimuth of all samples best; it needs two.
    pub fn precession_fit(&self) -> Option<f64> {
        self.line.slope().filter(|_| !self.lost)
    }
    /// The least and the greatest angle between the axis and the vertical, of all samples.
    pub fn tilt(&self) -> Option<[f64; 2]> {
        self.tilt
    }
}

/// The times at which a number changes its sign, from a sample at each step.
///
/// A change of sign counts where at least three samples lie on both sides of it, and when the number has since grown to
/// 1e-9 of its largest size: what dances about zero in round-off does not cross it.
///
/// ```
/// use polhode::check::Crossings;
/// let mut seen = Crossings::new();
/// for n in 0..=200 {
///     let t = 0.05 * n as f64;
///     seen.observe(t, t.cos());
/// }
/// // At π/2, 3π/2 and 5π/2.
/// assert_eq!(seen.count(), 3);
/// assert!((seen.interval().unwrap() - core::f64::consts::PI).abs() < 1e-10);
/// ```
#[derive(Clone, Debug)]
pub struct Crossings {
    samples: Ring<[f64; 2], POINTS>,
    largest: f64,
    /// The sign that the number has for certain.
    negative: Option<bool>,
    candidate: Option<f64>,
    first: Option<f64>,
    last: Option<f64>,
    count: u64,
}

impl Default for Crossings {
    fn default() -> Self {
        Crossings::new()
    }
}

impl Crossings {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Crossings {
            samples: Ring::new(),
            largest: 0.0,
            negative: None,
            candidate: None,
            first: None,
            last: None,
            count: 0,
        }
    }

    /// The number at the next time.
    pub fn observe(&mut self, t: f64, value: f64) {
        self.samples.push([t, value]);
        self.largest = self.largest.max(value.abs());
        if !self.samples.full() {
            return;
        }
        const LEFT: usize = POINTS / 2 - 1;
        let samples = self.samples.samples;
        let (left, right) = (samples[LEFT], samples[LEFT + 1]);
        if self.negative.is_none() {
            self.settle(left[1]);
        }
        if (left[1] < 0.0) != (right[1] < 0.0) {
            let fit = Fit::new(samples.map(|s| s[0]), samples.map(|s| s[1]));
            self.candidate = Some(sign_change(|t| fit.value(t), left[0], right[0]).unwrap_or(right[0]));
        }
        self.settle(right[1]);
    }

    /// Takes the sign of a value above round-off, and counts the change if it is one.
    fn settle(&mut self, value: f64) {
        if value.abs() <= ROUND_OFF * self.largest {
            return;
        }
        let negative = value < 0.0;
        if let (Some(before), Some(t)) = (self.negative, self.candidate)
            && before != negative
        {
            self.count += 1;
            self.first.get_or_insert(t);
            self.last = Some(t);
        }
        self.negative = Some(negative);
        self.candidate = None;
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// The mean time between two neighbours, if there are two.
    pub fn interval(&self) -> Option<f64> {
        let (first, last) = self.first.zip(self.last)?;
        (self.count > 1).then(|| (last - first) / (self.count - 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_of_degree_five_are_met_exactly() {
        let times = [0.1, 0.25, 0.3, 0.5, 0.55, 0.7];
        let value = |t: f64| 1.0 - 2.0 * t + 0.5 * t * t * t - t.powi(5);
        let fit = Fit::new(times, times.map(value));
        for t in [0.1, 0.33, 0.7] {
            assert!((fit.value(t) - value(t)).abs() < 1e-14);
            let slope = -2.0 + 1.5 * t * t - 5.0 * t.powi(4);
            assert!((fit.slope(t) / fit.scale - slope).abs() < 1e-12);
        }
    }

    #[test]
    fn unequal_steps_and_round_off() {
        let mut seen = Crossings::new();
        let mut t = 0.0f64;
        let mut n = 0;
        while t < 40.0 {
            seen.observe(t, (1.3 * t + 0.2).sin());
            n += 1;
            t += [0.03, 0.05, 0.02][n % 3];
        }
        assert_eq!(seen.count(), 16);
        assert!((seen.interval().unwrap() - core::f64::consts::PI / 1.3).abs() < 1e-10);
        // Zero up to round-off after a large value, and nothing but zeros.
        let mut noise = Crossings::new();
        let mut zero = Crossings::new();
        for n in 0..100 {
            noise.observe(n as f64, if n < 10 { 1.0 } else { 1e-16 * (n as f64 * 2.0).sin() });
            zero.observe(n as f64, 0.0);
        }
        assert_eq!((noise.count(), noise.interval()), (0, None));
        assert_eq!((zero.count(), zero.interval()), (0, None));
    }

    fn axis(tilt: f64, azimuth: f64) -> Rotation<f64> {
        let turn = Rotation::from_rotation_vector(&Vector3::new(0.0, 0.0, azimuth));
        turn.compose(&Rotation::from_rotation_vector(&Vector3::new(0.0, tilt, 0.0)))
    }

    #[test]
    fn an_axis_that_nods_and_turns() {
        let mut seen = Nutation::new();
        assert_eq!((seen.frequency(), seen.precession_fit(), seen.tilt()), (None, None, None));
        for n in 0..=2000 {
            let t = 0.01 * n as f64;
            seen.observe(t, &axis(0.7 - 0.2 * (3.0 * t).cos(), -2.0 * t + 0.1 * (3.0 * t).sin()));
        }
        // Highest at multiples of 2π/3, the last at 9 times 2π/3; that at the start is not counted.
        assert_eq!(seen.periods(), 8);
        assert!((seen.frequency().unwrap() - 3.0).abs() < 1e-8);
        assert!((seen.precession().unwrap() + 2.0).abs() < 1e-9);
        assert!((seen.precession_fit().unwrap() + 2.0).abs() < 1e-3);
        let [low, high] = seen.tilt().unwrap();
        assert!((low - 0.5).abs() < 1e-6 && (high - 0.9).abs() < 1e-4);
    }

    #[test]
    fn a_steady_axis_has_no_nutations() {
        let mut seen = Nutation::new();
        for n in 0..=1000 {
            let t = 0.01 * n as f64;
            seen.observe(t, &axis(1.0, 25.0 * t));
        }
        assert_eq!((seen.periods(), seen.frequency(), seen.precession()), (0, None, None));
        assert!((seen.precession_fit().unwrap() - 25.0).abs() < 1e-11);
        let mut upright = Nutation::new();
        (0..20).for_each(|n| upright.observe(n as f64, &Rotation::identity()));
        assert_eq!((upright.precession_fit(), upright.tilt()), (None, Some([0.0; 2])));
    }
}
