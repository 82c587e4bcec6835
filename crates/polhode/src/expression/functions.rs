//! What operations and functions of expressions give, in any scalar.

use super::{Function, Operation};
use crate::scalar::{Mask, Real};

/// An operation on the first of these numbers, as many as it takes.
pub(super) fn value<T: Real>(operation: Operation, a: T, b: T, c: T) -> T {
    match operation {
        Operation::Negate => -a,
        Operation::Not => T::one() - a,
        Operation::Power(n) => a.powi(n),
        Operation::If => T::select(T::lift(0.5).below(a), b, c),
        Operation::Function(function) if function.arguments() == 1 => one(function, a),
        other => two(other, a, b),
    }
}

/// A truth value as a number.
fn truth<T: Real>(mask: T::Mask) -> T {
    T::select(mask, T::one(), T::zero())
}

/// An operation on two numbers.
fn two<T: Real>(operation: Operation, a: T, b: T) -> T {
    match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide => a / b,
        Operation::AnyPower => power(a, b),
        Operation::Less => truth(a.below(b)),
        Operation::LessOrEqual => truth(a.below(b).or(equal(a, b))),
        Operation::Greater => truth(b.below(a)),
        Operation::GreaterOrEqual => truth(b.below(a).or(equal(a, b))),
        Operation::Equal => truth(equal(a, b)),
        Operation::NotEqual => truth(equal(a, b).not()),
        Operation::And => a * b,
        Operation::Or => a + b - a * b,
        Operation::Function(Function::Atan2) => a.atan2(b),
        Operation::Function(Function::Min) => T::select(b.below(a), b, a),
        Operation::Function(Function::Max) => T::select(a.below(b), b, a),
        Operation::Function(Function::Hypot) => hypot(a, b),
        // One of those that take another number of arguments.
        _ => T::lift(f64::NAN),
    }
}

fn equal<T: Real>(a: T, b: T) -> T::Mask {
    // Neither is below the other, and both are numbers.
    let apart = (a - b).abs();
    T::zero().below(apart).not().and(apart.is_finite())
}

/// Any power: of a base that is negative a whole one, of zero a positive one.
fn power<T: Real>(a: T, b: T) -> T {
    /// The sine of π b of a whole number.
    const WHOLE: f64 = 1e-9;
    let (zero, nothing) = (T::zero(), T::lift(f64::NAN));
    let is_positive = zero.below(a);
    let inside = T::select(equal(a, zero), T::one(), a.abs());
    let value = (b * inside.ln()).exp();
    if is_positive.all() {
        return value;
    }
    let (sin, cos) = (b * T::lift(core::f64::consts::PI)).sin_cos();
    let signed = T::select(cos.below(zero), -value, value);
    let of_negative = T::select(sin.abs().below(T::lift(WHOLE)), signed, nothing);
    let at_zero = T::select(equal(b, T::one()), a, T::select(zero.below(b), zero, nothing));
    let elsewhere = T::select(equal(a, zero), at_zero, of_negative);
    T::select(is_positive, value, elsewhere)
}

/// √(a² + b²), also of numbers whose squares are too large or too small.
fn hypot<T: Real>(a: T, b: T) -> T {
    let (a, b) = (a.abs(), b.abs());
    let (large, small) = (T::select(a.below(b), b, a), T::select(a.below(b), a, b));
    let safe = T::select(T::zero().below(large), large, T::one());
    let ratio = small / safe;
    large * (T::one() + ratio * ratio).sqrt()
}

/// The square root; at zero its slope, which is infinite, counts as none, so that v √(v²) has one at rest.
fn root<T: Real>(x: T) -> T {
    let zero = T::zero();
    let at_zero = equal(x, zero);
    T::select(at_zero, zero, T::select(at_zero, T::one(), x).sqrt())
}

/// A function of one number.
#[inline(never)]
fn one<T: Real>(function: Function, x: T) -> T {
    let (one, half) = (T::one(), T::lift(0.5));
    match function {
        Function::Sin => x.sin_cos().0,
        Function::Cos => x.sin_cos().1,
        Function::Tan => {
            let (sin, cos) = x.sin_cos();
            sin / cos
        }
        Function::Asin => x.atan2(root((one - x) * (one + x))),
        Function::Acos => root((one - x) * (one + x)).atan2(x),
        Function::Atan => x.atan2(one),
        Function::Sinh => {
            // The series where the difference would cancel.
            let (up, square) = (x.exp(), x * x);
            let wide = (up - up.recip()) * half;
            let factors = [156.0, 110.0, 72.0, 42.0, 20.0, 6.0];
            let series = factors.iter().fold(one, |sum, factor| one + sum * square / T::lift(*factor));
            T::select(square.below(T::lift(0.09)), x * series, wide)
        }
        Function::Cosh => {
            let up = x.exp();
            (up + up.recip()) * half
        }
        Function::Tanh => {
            // Of the magnitude, so that nothing overflows.
            let size = x.abs();
            let down = (-(size + size)).exp();
            let near = self::one(Function::Sinh, size) / self::one(Function::Cosh, size);
            let value = T::select(size.below(T::lift(0.3)), near, (one - down) / (one + down));
            T::select(x.below(T::zero()), -value, value)
        }
        Function::Exp => x.exp(),
        Function::Log => x.ln(),
        Function::Sqrt => root(x),
        Function::Abs => x.abs(),
        Function::Sign => truth::<T>(T::zero().below(x)) - truth::<T>(x.below(T::zero())),
        Function::Atan2 | Function::Min | Function::Max | Function::Hypot => T::lift(f64::NAN),
    }
}
