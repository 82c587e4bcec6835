//! Numbers with slopes in several directions.

use crate::scalar::{Dual, Lane, Mask, Real};
use crate::solve::Sides;

/// A number with one derivative.
pub(super) type Dual1 = Dual<f64, 1>;

/// A number with its slopes in several directions. They are three in the numbers that Newton's method takes its derivatives in, so
/// that the equations of a scheme need not be compiled again.
pub(super) trait Fan: Real + Sides {
    /// How many directions.
    const COUNT: usize;
    /// The number with its slope in one direction.
    fn one(self, direction: usize) -> Dual1;
    /// The same with this slope in one direction.
    fn with(self, direction: usize, slope: f64) -> Self;
    /// The same with another value.
    fn valued(self, re: f64) -> Self;
    /// self + a x, value and slopes.
    fn plus(self, a: f64, x: Self) -> Self;
    /// The sum of the magnitudes of slopes, in each direction.
    fn and_slopes_of(self, x: Self) -> Self;
    /// True if every slope is a finite number.
    fn has_finite_slopes(self) -> bool;
}

impl<L: Lane> Sides for Dual<L, 1> {
    #[inline(always)]
    fn less(mut self, a: f64, x: Self) -> Self {
        self.eps[0] -= L::of(a) * x.eps[0];
        self
    }
    #[inline(always)]
    fn times(mut self, a: f64) -> Self {
        self.eps[0] *= L::of(a);
        self
    }
}

impl<L: Lane> Fan for Dual<L, 1> {
    const COUNT: usize = L::COUNT;
    #[inline(always)]
    fn one(self, direction: usize) -> Dual1 {
        Dual { re: self.re.get(direction), eps: [self.eps[0].get(direction)] }
    }
    #[inline(always)]
    fn with(mut self, direction: usize, slope: f64) -> Self {
        self.eps[0] = self.eps[0].with(direction, slope);
        self
    }
    #[inline(always)]
    fn valued(mut self, re: f64) -> Self {
        self.re = L::of(re);
        self
    }
    #[inline(always)]
    fn plus(mut self, a: f64, x: Self) -> Self {
        let a = L::of(a);
        self.re += a * x.re;
        self.eps[0] += a * x.eps[0];
        self
    }
    #[inline(always)]
    fn and_slopes_of(mut self, x: Self) -> Self {
        self.eps[0] += x.eps[0].abs();
        self
    }
    #[inline(always)]
    fn has_finite_slopes(self) -> bool {
        self.eps[0].is_finite().all()
    }
}

impl Sides for Dual<f64, 3> {
    #[inline(always)]
    fn less(mut self, a: f64, x: Self) -> Self {
        for (eps, x) in self.eps.iter_mut().zip(x.eps) {
            *eps -= a * x;
        }
        self
    }
    #[inline(always)]
    fn times(mut self, a: f64) -> Self {
        for eps in &mut self.eps {
            *eps *= a;
        }
        self
    }
}

impl Fan for Dual<f64, 3> {
    const COUNT: usize = 3;
    #[inline(always)]
    fn one(self, direction: usize) -> Dual1 {
        Dual { re: self.re, eps: [self.eps[direction]] }
    }
    #[inline(always)]
    fn with(mut self, direction: usize, slope: f64) -> Self {
        self.eps[direction] = slope;
        self
    }
    #[inline(always)]
    fn valued(self, re: f64) -> Self {
        Dual { re, ..self }
    }
    #[inline(always)]
    fn plus(mut self, a: f64, x: Self) -> Self {
        self.re += a * x.re;
        for (eps, x) in self.eps.iter_mut().zip(x.eps) {
            *eps += a * x;
        }
        self
    }
    #[inline(always)]
    fn and_slopes_of(mut self, x: Self) -> Self {
        for (eps, x) in self.eps.iter_mut().zip(x.eps) {
            *eps += x.abs();
        }
        self
    }
    #[inline(always)]
    fn has_finite_slopes(self) -> bool {
        self.eps.iter().all(|x| x.is_finite())
    }
}
