//! A scalar that counts its operations, and matrices of it.

use num_traits::{One, Zero};
use polhode::scalar::{Over, Real};
use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// What to count.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Nothing,
    /// Every operation.
    All,
    /// Every operation in products of matrices; elsewhere those without an operand 0, 1 or -1.
    Dense,
    /// The same, but products of 6x6 matrices go by 3x3 blocks, and blocks that are zero are left out.
    Blocks,
    /// Nowhere with an operand 0, 1 or -1, so that skew matrices cost cross products; symmetry is used.
    Lean,
}
#[derive(Clone, Copy)]
pub enum Kind {
    Multiply,
    Add,
    Divide,
    Root,
    SineCosine,
}
thread_local! {
    pub static WAY: Cell<Way> = const { Cell::new(Way::Nothing) };
    static TALLY: Cell<[u32; 5]> = const { Cell::new([0; 5]) };
}

pub fn tick(kind: Kind, trivial: bool) {
    let way = WAY.get();
    if way == Way::All || way != Way::Nothing && !trivial {
        let mut tally = TALLY.get();
        tally[kind as usize] += 1;
        TALLY.set(tally);
    }
}
/// The value of `f`, with the counting switched for its time.
pub fn during<T>(way: Way, f: impl FnOnce() -> T) -> T {
    let before = WAY.replace(way);
    let value = f();
    WAY.set(before);
    value
}
/// The value of a product of matrices.
pub fn multiplying<T>(f: impl FnOnce() -> T) -> T {
    during(if matches!(WAY.get(), Way::Dense | Way::Blocks) { Way::All } else { WAY.get() }, f)
}
/// What `f` costs, and its value.
pub fn count<T>(way: Way, f: impl FnOnce() -> T) -> ([u32; 5], T) {
    TALLY.set([0; 5]);
    let value = during(way, f);
    (TALLY.get(), value)
}

/// A number that is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted(pub f64);

impl Counted {
    pub fn is_sign(self) -> bool {
        self.0.abs() == 1.0
    }
}
macro_rules! operator {
    ($Trait:ident $function:ident $Assign:ident $assign:ident $op:tt $kind:ident $trivial:expr) => {
        impl $Trait for Counted {
            type Output = Self;
            fn $function(self, o: Self) -> Self {
                let trivial: fn(Counted, Counted) -> bool = $trivial;
                tick(Kind::$kind, trivial(self, o));
                Counted(self.0 $op o.0)
            }
        }
        impl $Assign for Counted {
            fn $assign(&mut self, o: Self) {
                *self = *self $op o;
            }
        }
    };
}
operator!(Add add AddAssign add_assign + Add |a, b| a.is_zero() || b.is_zero());
operator!(Sub sub SubAssign sub_assign - Add |a, b| a.is_zero() || b.is_zero());
operator!(Mul mul MulAssign mul_assign * Multiply |a, b| a.is_zero() || b.is_zero() || a.is_sign() || b.is_sign());
operator!(Div div DivAssign div_assign / Divide |a, b| a.is_zero() || b.is_sign());

impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        Counted(-self.0)
    }
}
impl Zero for Counted {
    fn zero() -> Self {
        Counted(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}
impl One for Counted {
    fn one() -> Self {
        Counted(1.0)
    }
}
impl Real for Counted {
    type Mask = bool;
    fn lift(x: f64) -> Self {
        Counted(x)
    }
    fn largest(self) -> f64 {
        self.0
    }
    fn sqrt(self) -> Self {
        tick(Kind::Root, false);
        Counted(self.0.sqrt())
    }
    fn sin_cos(self) -> (Self, Self) {
        tick(Kind::SineCosine, false);
        (Counted(self.0.sin()), Counted(self.0.cos()))
    }
    // The rest of the trait is not met here, and goes uncounted.
    fn atan2(self, x: Self) -> Self {
        Counted(self.0.atan2(x.0))
    }
    fn exp(self) -> Self {
        Counted(self.0.exp())
    }
    fn ln(self) -> Self {
        Counted(self.0.ln())
    }
    fn below(self, other: Self) -> bool {
        self.0 < other.0
    }
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
}
impl Over<f64> for Counted {
    fn of(x: f64) -> Self {
        Counted(x)
    }
}

/// A sum that does not begin by adding to zero.
pub fn sum<T: Real>(terms: impl Iterator<Item = T>) -> T {
    terms.reduce(|a, b| a + b).unwrap_or(T::zero())
}

/// A square matrix of 3 or 6 rows.
#[derive(Clone)]
pub struct Matrix {
    pub n: usize,
    pub a: Vec<Counted>,
}

impl Matrix {
    pub fn from_fn(n: usize, mut f: impl FnMut(usize, usize) -> Counted) -> Self {
        Matrix { n, a: (0..n * n).map(|k| f(k / n, k % n)).collect() }
    }
    pub fn at(&self, i: usize, j: usize) -> Counted {
        self.a[i * self.n + j]
    }
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.n, |i, j| self.at(j, i))
    }
    pub fn times(&self, x: Counted) -> Self {
        Self::from_fn(self.n, |i, j| self.at(i, j) * x)
    }
    /// True for entries that a product need not look at: in blocks that are zero, and off the diagonal of diagonal
    /// blocks.
    pub fn idle(&self, i: usize, j: usize) -> bool {
        let block = |k: usize| (i / 3 * 3 + k / 3, j / 3 * 3 + k % 3);
        let diagonal = (0..9).map(block).all(|(r, c)| r % 3 == c % 3 || self.at(r, c).is_zero());
        diagonal && self.at(i, j).is_zero()
    }
}
impl Mul for &Matrix {
    type Output = Matrix;
    fn mul(self, o: &Matrix) -> Matrix {
        let blocks = WAY.get() == Way::Blocks;
        let entry = |i: usize, j: usize| {
            let terms = (0..self.n).filter(|&k| !(blocks && (self.idle(i, k) || o.idle(k, j))));
            sum(terms.map(|k| self.at(i, k) * o.at(k, j)))
        };
        multiplying(|| Matrix::from_fn(self.n, entry))
    }
}
impl Add for &Matrix {
    type Output = Matrix;
    fn add(self, o: &Matrix) -> Matrix {
        Matrix::from_fn(self.n, |i, j| self.at(i, j) + o.at(i, j))
    }
}
impl Sub for &Matrix {
    type Output = Matrix;
    fn sub(self, o: &Matrix) -> Matrix {
        Matrix::from_fn(self.n, |i, j| self.at(i, j) - o.at(i, j))
    }
}
