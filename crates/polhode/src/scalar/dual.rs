//! Forward-mode dual numbers with `N` directions.

use super::{Over, Real, Scalar, Task, called};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use num_traits::{One, Zero};

/// A value and its derivatives in `N` directions, over any [`Real`]: also over lanes, and nested for second
/// derivatives.
///
/// ```
/// use polhode::scalar::{Dual, Real};
/// let x = Dual::<f64, 1>::variable(0.5, 0);
/// let (s, c) = x.sin_cos();
/// assert_eq!(s.eps[0], c.re);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<S, const N: usize> {
    /// The value.
    pub re: S,
    /// The derivatives.
    pub eps: [S; N],
}

impl<S: Real, const N: usize> Dual<S, N> {
    /// A constant.
    #[inline(always)]
    pub fn constant(re: S) -> Self {
        Dual { re, eps: [S::zero(); N] }
    }
    /// An independent variable: derivative one in direction `i`, zero elsewhere.
    #[inline(always)]
    pub fn variable(re: S, i: usize) -> Self {
        Dual { re, eps: core::array::from_fn(|j| if i == j { S::one() } else { S::zero() }) }
    }
    /// Whether operations are functions of their own: those of nested duals with many directions, which fill all registers
    /// anyway and would be most of the code that formulas of one's own are compiled to.
    const LARGE: bool = Self::DEPTH > 1 && N > 1 && size_of::<Self>() >= 128;

    #[inline(never)]
    fn large_product(&self, o: &Self) -> Self {
        self.product(*o)
    }
    #[inline(never)]
    fn large_quotient(&self, o: &Self) -> Self {
        self.quotient(*o)
    }
    #[inline(never)]
    fn large_sum(&self, o: &Self) -> Self {
        self.sum(*o)
    }
    #[inline(never)]
    fn large_difference(&self, o: &Self) -> Self {
        self.difference(*o)
    }
    #[inline(never)]
    fn large_choice(mask: S::Mask, a: &Self, b: &Self) -> Self {
        Self::choice(mask, *a, *b)
    }
    #[inline(never)]
    fn large_chain(&self, re: &S, d: &S) -> Self {
        self.chained(*re, *d)
    }
    // Loops, because a closure is not always inlined.
    #[inline(always)]
    fn sum(mut self, o: Self) -> Self {
        self.re += o.re;
        for i in 0..N {
            self.eps[i] += o.eps[i];
        }
        self
    }
    #[inline(always)]
    fn difference(mut self, o: Self) -> Self {
        self.re -= o.re;
        for i in 0..N {
            self.eps[i] -= o.eps[i];
        }
        self
    }
    #[inline(always)]
    fn choice(mask: S::Mask, mut a: Self, b: Self) -> Self {
        a.re = S::select(mask, a.re, b.re);
        for i in 0..N {
            a.eps[i] = S::select(mask, a.eps[i], b.eps[i]);
        }
        a
    }
    #[inline(always)]
    fn product(mut self, o: Self) -> Self {
        for i in 0..N {
            self.eps[i] = self.eps[i] * o.re + self.re * o.eps[i];
        }
        self.re *= o.re;
        self
    }
    #[inline(always)]
    fn quotient(mut self, o: Self) -> Self {
        let inverse = o.re.recip();
        self.re /= o.re;
        for i in 0..N {
            self.eps[i] = (self.eps[i] - self.re * o.eps[i]) * inverse;
        }
        self
    }
    /// A function of `self` with value `re` and slope `d`.
    #[inline(always)]
    fn chain(self, re: S, d: S) -> Self {
        if Self::LARGE { self.large_chain(&re, &d) } else { self.chained(re, d) }
    }
    #[inline(always)]
    fn chained(mut self, re: S, d: S) -> Self {
        self.re = re;
        for i in 0..N {
            self.eps[i] *= d;
        }
        self
    }
}

impl<S: Real, const N: usize> Add for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        if Self::LARGE { self.large_sum(&o) } else { self.sum(o) }
    }
}
impl<S: Real, const N: usize> Sub for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        if Self::LARGE { self.large_difference(&o) } else { self.difference(o) }
    }
}
impl<S: Real, const N: usize> Mul for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        if Self::LARGE { self.large_product(&o) } else { self.product(o) }
    }
}
impl<S: Real, const N: usize> Div for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        if Self::LARGE { self.large_quotient(&o) } else { self.quotient(o) }
    }
}
impl<S: Real, const N: usize> Neg for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        self.re = -self.re;
        for i in 0..N {
            self.eps[i] = -self.eps[i];
        }
        self
    }
}
macro_rules! assign {
    ($Trait:ident $function:ident $op:tt) => {
        impl<S: Real, const N: usize> $Trait for Dual<S, N> {
            #[inline(always)]
            fn $function(&mut self, o: Self) {
                *self = *self $op o;
            }
        }
    };
}
assign!(AddAssign add_assign +);
assign!(SubAssign sub_assign -);
assign!(MulAssign mul_assign *);
assign!(DivAssign div_assign /);

impl<S: Real, const N: usize> Zero for Dual<S, N> {
    #[inline(always)]
    fn zero() -> Self {
        Self::constant(S::zero())
    }
    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}
impl<S: Real, const N: usize> One for Dual<S, N> {
    #[inline(always)]
    fn one() -> Self {
        Self::constant(S::one())
    }
}

impl<S: Real, const N: usize> Over<S> for Dual<S, N> {
    #[inline(always)]
    fn of(s: S) -> Self {
        Self::constant(s)
    }
}

impl<S: Real, const N: usize> Real for Dual<S, N> {
    type Mask = S::Mask;
    const DEPTH: u32 = S::DEPTH + 1;
    const IN_LANES: bool = S::IN_LANES;
    const IN_PLACE: bool = S::IN_PLACE;

    #[inline(always)]
    fn lift(x: f64) -> Self {
        Self::constant(S::lift(x))
    }
    fn largest(self) -> f64 {
        self.re.largest()
    }
    #[inline(always)]
    fn apart<T: Task>(task: T) -> T::Output {
        S::apart(task)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.re.sqrt();
        self.chain(root, S::lift(0.5) / root)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        called!(Self, 64, {
            let (s, c) = self.re.sin_cos();
            (self.chain(s, c), self.chain(c, -s))
        })
    }
    fn atan2(self, x: Self) -> Self {
        let inverse = (self.re * self.re + x.re * x.re).recip();
        Dual {
            re: self.re.atan2(x.re),
            eps: core::array::from_fn(|i| (self.eps[i] * x.re - self.re * x.eps[i]) * inverse),
        }
    }
    fn exp(self) -> Self {
        let e = self.re.exp();
        self.chain(e, e)
    }
    fn ln(self) -> Self {
        self.chain(self.re.ln(), self.re.recip())
    }
    #[inline(always)]
    fn below(self, other: Self) -> S::Mask {
        self.re.below(other.re)
    }
    #[inline(always)]
    fn select(mask: S::Mask, a: Self, b: Self) -> Self {
        if Self::LARGE { Self::large_choice(mask, &a, &b) } else { Self::choice(mask, a, b) }
    }
}

impl<S: Scalar, const N: usize> Scalar for Dual<S, N> {}
