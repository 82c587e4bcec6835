//! The machine that runs programs: registers, and steps that combine some of them into another one.

use super::Operation;
use super::functions;
use super::program::{FEW_REGISTERS, REGISTERS};
use crate::scalar::Real;

/// What a step does with up to three registers. Those that most expressions consist of stand here, and pairs of them, which
/// are one step with the two roundings that they have one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// a + b
    Add,
    /// a - b
    Subtract,
    /// a b
    Multiply,
    /// a / b
    Divide,
    /// -a
    Negate,
    /// |a|
    Absolute,
    /// a
    Copy,
    /// (a + b) + c
    AddTwice,
    /// (a + b) c
    MultiplySum,
    /// (a - b) c
    MultiplyDifference,
    /// (a b) c
    MultiplyTwice,
    /// (a b) + c
    AddProduct,
    /// (a b) - c
    ProductLess,
    /// c - (a b)
    LessProduct,
    /// -(a b)
    NegateProduct,
    /// -((a b) c)
    NegateTwice,
    /// Any other operation: the one that the step says.
    Seldom,
}

/// One step, with registers by what names them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step<R> {
    pub(super) what: What,
    /// The registers that it reads; those that it does not need are the first.
    pub(super) a: R,
    pub(super) b: R,
    pub(super) c: R,
    /// The one that it writes.
    pub(super) to: R,
    /// What it does where that is said seldom. A number or a name stands for itself.
    pub(super) operation: Operation,
}

/// The name of a register of a file of some size.
pub(super) trait Named: Copy {
    fn place(self) -> usize;
}

/// One of as many registers as there are.
impl Named for u8 {
    #[inline(always)]
    fn place(self) -> usize {
        usize::from(self)
    }
}

macro_rules! registers {
    ($(#[$doc:meta])* $set:ident[$count:expr]: $($name:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum $set {
            $($name),*
        }
        impl $set {
            pub(super) const ALL: [$set; $count] = [$($set::$name),*];
        }
        impl Named for $set {
            #[inline(always)]
            fn place(self) -> usize {
                self as usize
            }
        }
    };
}
registers!(
    /// One of the registers that most programs get by with. Names, not numbers: the compiler knows that there is no other
    /// one, and looks for none.
    Register[REGISTERS]:
    A0 A1 A2 A3 A4 A5 A6 A7 B0 B1 B2 B3 B4 B5 B6 B7 C0 C1 C2 C3 C4 C5 C6 C7 D0 D1 D2 D3 D4 D5 D6 D7
);
registers!(
    /// One of those of a quick program.
    Near[FEW_REGISTERS]: A0 A1 A2 A3 A4 A5 A6 A7 B0 B1 B2 B3 B4 B5 B6 B7
);

/// Runs the steps. Compiled once for each scalar and size of the file of registers: what the names stand for is asked of an
/// object, where it does not lie in registers from the beginning.
#[inline(never)]
pub(super) fn run<T: Real, R: Named, const N: usize>(
    code: &[Step<R>],
    file: &mut [T; N],
    name: &dyn Fn(usize) -> T,
) {
    advance::<T, R, N, true>(code, file, name);
}

/// The same where it is used. Without steps that are seldom nothing is called, and nothing has to be saved for that.
#[inline(always)]
pub(super) fn advance<T: Real, R: Named, const N: usize, const SELDOM: bool>(
    code: &[Step<R>],
    file: &mut [T; N],
    name: &dyn Fn(usize) -> T,
) {
    for step in code {
        // Read where they are needed: not every step reads three.
        let a = || file[step.a.place()];
        let b = || file[step.b.place()];
        let c = || file[step.c.place()];
        let value = match step.what {
            What::Add => a() + b(),
            What::Subtract => a() - b(),
            What::Multiply => a() * b(),
            What::Divide => a() / b(),
            What::Negate => -a(),
            What::Absolute => a().abs(),
            What::Copy => a(),
            What::AddTwice => a() + b() + c(),
            What::MultiplySum => (a() + b()) * c(),
            What::MultiplyDifference => (a() - b()) * c(),
            What::MultiplyTwice => a() * b() * c(),
            What::AddProduct => a() * b() + c(),
            What::ProductLess => a() * b() - c(),
            What::LessProduct => c() - a() * b(),
            What::NegateProduct => -(a() * b()),
            What::NegateTwice => -(a() * b() * c()),
            What::Seldom if SELDOM => seldom(step, file, name),
            What::Seldom => a(),
        };
        file[step.to.place()] = value;
    }
}

/// Off the hot path of the steps.
#[inline(never)]
fn seldom<T: Real, R: Named>(step: &Step<R>, file: &[T], name: &dyn Fn(usize) -> T) -> T {
    let [a, b, c] = [step.a, step.b, step.c].map(|register| file[register.place()]);
    match step.operation {
        Operation::Number(x) => T::lift(x),
        Operation::Name(k) => name(k),
        other => functions::value(other, a, b, c),
    }
}
