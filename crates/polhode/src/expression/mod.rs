//! Expressions: parsed once into a list of operations, evaluated in any scalar on a stack of known size.

mod parse;

use crate::scalar::{Mask, Real};
use core::fmt;
use core::ops::Range;

/// A formula of named numbers.
///
/// ```
/// use polhode::expression::Expression;
/// use polhode::scalar::Dual;
///
/// let force = Expression::parse("-k * x + if(x > 1, (x - 1)^2, 0)")?;
/// assert_eq!(force.names(), ["k", "x"]);
/// assert_eq!(force.evaluate(&[3.0, 2.0]), -5.0);
/// // Its derivative with respect to x.
/// let at = [Dual::<f64, 1>::constant(3.0), Dual::variable(2.0, 0)];
/// assert_eq!(force.evaluate(&at).eps[0], -3.0 + 2.0);
/// // Mistakes say where they are.
/// let error = Expression::parse("2 * sni(x)").unwrap_err();
/// assert_eq!(error.to_string(), "no function is called 'sni'; did you mean sin or sinh?");
/// assert_eq!(error.span, 4..7);
/// # Ok::<(), polhode::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    operations: Vec<Operation>,
    names: Vec<String>,
    /// Where in the text each name first stands.
    places: Vec<Range<usize>>,
    /// The most numbers that are on the stack at a time.
    depth: usize,
    /// The same for registers, of an expression that is short enough.
    short: Option<Short>,
}

/// How many registers a short expression has, a power of two.
const REGISTERS: usize = 16;

/// An expression whose constants and names have registers, as have intermediate results: fewer steps than with a stack, and
/// no limit to be looked at.
#[derive(Clone, Debug, PartialEq)]
struct Short {
    /// What the first registers hold.
    inputs: Vec<Input>,
    /// What is done with two registers, and where the result goes.
    code: Vec<(Operation, [u8; 3])>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Constant(f64),
    Name(usize),
}

impl Short {
    /// The registers for operations on a stack; nothing if they are too many, or where three numbers go into one operation.
    fn of(operations: &[Operation]) -> Option<Short> {
        let input = |operation: &Operation| match operation {
            Operation::Number(x) => Some(Input::Constant(*x)),
            Operation::Name(name) => Some(Input::Name(*name)),
            _ => None,
        };
        let mut inputs: Vec<Input> = Vec::new();
        for found in operations.iter().filter_map(input) {
            if !inputs.contains(&found) {
                inputs.push(found);
            }
        }
        let (mut stack, mut code): (Vec<u8>, Vec<(Operation, [u8; 3])>) = Default::default();
        for operation in operations {
            if let Some(found) = input(operation) {
                let place = inputs.iter().position(|known| *known == found)?;
                stack.push(u8::try_from(place).ok()?);
                continue;
            }
            let takes = match operation {
                Operation::If => return None,
                Operation::Negate | Operation::Not | Operation::Power(_) => 1,
                Operation::Function(function) => function.arguments(),
                _ => 2,
            };
            let b = stack.pop()?;
            let a = if takes == 1 { b } else { stack.pop()? };
            // A result lies as high above the inputs as it lies on the stack.
            let to = inputs.len() + stack.len();
            if to >= REGISTERS {
                return None;
            }
            let to = u8::try_from(to).ok()?;
            code.push((*operation, [a, b, to]));
            stack.push(to);
        }
        Some(Short { inputs, code }).filter(|short| !short.code.is_empty() && short.inputs.len() < REGISTERS)
    }
    #[inline(always)]
    fn evaluate<T: Real>(&self, value: impl Fn(usize) -> T) -> T {
        let mut register = [T::zero(); REGISTERS];
        for (to, input) in register.iter_mut().zip(&self.inputs) {
            *to = match input {
                Input::Constant(x) => T::lift(*x),
                Input::Name(name) => value(*name),
            };
        }
        let mut last = T::zero();
        for (operation, places) in &self.code {
            let [a, b, to] = places.map(|place| usize::from(place) % REGISTERS);
            let (a, b) = (&register[a], &register[b]);
            last = match operation {
                Operation::Add => *a + *b,
                Operation::Subtract => *a - *b,
                Operation::Multiply => *a * *b,
                Operation::Divide => *a / *b,
                Operation::Negate => -*a,
                Operation::Power(2) => *a * *a,
                other => seldom(*other, *a, *b),
            };
            register[to] = last;
        }
        last
    }
}

/// An operation that is not one of the few that most expressions consist of.
#[inline(never)]
fn seldom<T: Real>(operation: Operation, a: T, b: T) -> T {
    match operation {
        Operation::Not => T::one() - a,
        Operation::Power(n) => a.powi(n),
        Operation::Function(function) if function.arguments() == 1 => one(function, a),
        other => two(other, a, b),
    }
}

/// One operation; what it works on is on the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Number(f64),
    /// One of the names.
    Name(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    /// An integer power.
    Power(i32),
    /// Any other power.
    AnyPower,
    Function(Function),
    /// 1 where it holds for two numbers, else 0. Nothing holds for what is not a number, but that it is not equal.
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    /// Of truth values.
    And,
    Or,
    Not,
    /// The second of three where the first is true, else the third.
    If,
}

macro_rules! functions {
    ($($name:ident $text:literal $arguments:literal),* $(,)?) => {
        /// The functions that an expression may call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function {
            $(#[doc = concat!("`", $text, "`.")] $name,)*
        }
        impl Function {
            /// All of them.
            pub const ALL: &'static [Function] = &[$(Function::$name),*];
            /// The name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Function::$name => $text,)*
                }
            }
            /// How many numbers it takes.
            pub fn arguments(self) -> usize {
                match self {
                    $(Function::$name => $arguments,)*
                }
            }
        }
    };
}
functions!(
    Sin "sin" 1,
    Cos "cos" 1,
    Tan "tan" 1,
    Asin "asin" 1,
    Acos "acos" 1,
    Atan "atan" 1,
    Atan2 "atan2" 2,
    Sinh "sinh" 1,
    Cosh "cosh" 1,
    Tanh "tanh" 1,
    Exp "exp" 1,
    Log "log" 1,
    Sqrt "sqrt" 1,
    Abs "abs" 1,
    Sign "sign" 1,
    Min "min" 2,
    Max "max" 2,
    Hypot "hypot" 2,
);

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Mistake {
    /// The text is empty.
    Empty,
    /// The text is too long.
    Long,
    /// It is nested too deeply.
    Deep,
    /// A character that means nothing.
    Character(char),
    /// Digits that do not spell a finite number.
    Number(String),
    /// Something else should stand here.
    Expected {
        /// What should.
        wanted: &'static str,
        /// What does; nothing at the end of the text.
        found: Option<String>,
    },
    /// A call of a function that does not exist.
    Function {
        /// The name.
        name: String,
        /// Functions that look like it.
        near: Vec<String>,
    },
    /// The name of a function without its numbers.
    Uncalled(&'static str),
    /// A function with too few or too many numbers.
    Arguments {
        /// Its name.
        name: &'static str,
        /// How many it takes.
        takes: usize,
        /// How many it was given.
        given: usize,
    },
    /// A comparison where a number should be.
    Truth,
    /// A number where a comparison should be.
    NoTruth,
}

/// A mistake, and where it stands in the text: from one byte to another.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionError {
    /// What is wrong.
    pub mistake: Mistake,
    /// Where.
    pub span: Range<usize>,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mistake {
            Mistake::Empty => f.write_str("the expression is empty"),
            Mistake::Long => write!(f, "the expression is longer than {} characters", parse::LONGEST),
            Mistake::Deep => {
                write!(f, "the expression is nested more than {} levels deep", parse::DEEPEST)
            }
            Mistake::Character(c) => write!(f, "'{}' means nothing in an expression", c.escape_debug()),
            Mistake::Number(text) => write!(f, "'{text}' is not a finite number"),
            Mistake::Expected { wanted, found: Some(found) } => {
                write!(f, "expected {wanted}, found '{found}'")
            }
            Mistake::Expected { wanted, found: None } => {
                write!(f, "expected {wanted}, but the expression ends here")
            }
            Mistake::Function { name, near } => {
                write!(f, "no function is called '{name}'")?;
                match near.is_empty() {
                    true => {
                        let all: Vec<&str> = Function::ALL.iter().map(|known| known.name()).collect();
                        write!(f, "; there are {}, if", all.join(", "))
                    }
                    false => write!(f, "; did you mean {}?", near.join(" or ")),
                }
            }
            Mistake::Uncalled(name) => write!(f, "{name} is a function: write {name}(...)"),
            Mistake::Arguments { name, takes, given } => {
                let numbers = if *takes == 1 { "number" } else { "numbers" };
                write!(f, "{name} takes {takes} {numbers}, got {given}")
            }
            Mistake::Truth => {
                f.write_str("a comparison is not a number; it belongs inside if(condition, a, b)")
            }
            Mistake::NoTruth => f.write_str("expected a comparison, as in if(x > 0, a, b)"),
        }
    }
}

impl std::error::Error for ExpressionError {}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        parse::parse(text, &[])
    }
    /// The same where some names have hyphens in them: `link-1` before a dot is one name and no difference.
    pub fn parse_with(text: &str, hyphened: &[&str]) -> Result<Expression, ExpressionError> {
        parse::parse(text, hyphened)
    }
    /// The names in it, each once, in the order in which they first stand there.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// Where a name first stands in the text, by its number.
    pub fn place(&self, name: usize) -> Option<Range<usize>> {
        self.places.get(name).cloned()
    }
    /// Its value if it has no names.
    pub fn constant(&self) -> Option<f64> {
        self.names.is_empty().then(|| self.evaluate::<f64>(&[]))
    }
    /// Its value, where the names have these values, in their order. A name without one is not a number.
    pub fn evaluate<T: Real>(&self, values: &[T]) -> T {
        self.evaluate_with(&|name| values.get(name).copied().unwrap_or(T::lift(f64::NAN)))
    }
    /// The same where speed counts: compiled for what gives the values of names.
    #[inline(always)]
    pub(crate) fn evaluate_fast<T: Real>(&self, value: impl Fn(usize) -> T) -> T {
        match &self.short {
            Some(short) => short.evaluate(value),
            None => self.evaluate_with(&value),
        }
    }
    /// The same with the value of a name by its number.
    pub fn evaluate_with<T: Real>(&self, value: &dyn Fn(usize) -> T) -> T {
        // Most need little room.
        match self.depth {
            0..=8 => self.on_stack(&mut [T::zero(); 8], value),
            _ => self.on_stack(&mut [T::zero(); parse::TALLEST], value),
        }
    }

    /// Compiled once for each scalar: what the names are is asked of an object, and the room is anybody's.
    #[inline(never)]
    fn on_stack<T: Real>(&self, stack: &mut [T], value: &dyn Fn(usize) -> T) -> T {
        let mut top = 0;
        for operation in &self.operations {
            match operation {
                Operation::Number(x) => {
                    stack[top] = T::lift(*x);
                    top += 1;
                }
                Operation::Name(name) => {
                    stack[top] = value(*name);
                    top += 1;
                }
                Operation::Negate => stack[top - 1] = -stack[top - 1],
                Operation::Not => stack[top - 1] = T::one() - stack[top - 1],
                Operation::Power(n) => stack[top - 1] = stack[top - 1].powi(*n),
                Operation::Function(function) if function.arguments() == 1 => {
                    stack[top - 1] = one(*function, stack[top - 1]);
                }
                Operation::If => {
                    top -= 2;
                    let holds = T::lift(0.5).below(stack[top - 1]);
                    stack[top - 1] = T::select(holds, stack[top], stack[top + 1]);
                }
                other => {
                    top -= 1;
                    stack[top - 1] = two(*other, stack[top - 1], stack[top]);
                }
            }
        }
        stack[0]
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

/// Any power, of a base that is not negative: 0 to a positive one is 0.
fn power<T: Real>(a: T, b: T) -> T {
    let zero = T::zero();
    let inside = T::select(zero.below(a), a, T::one());
    let value = (b * inside.ln()).exp();
    let at_zero = T::select(zero.below(b), zero, T::lift(f64::NAN));
    let elsewhere = T::select(equal(a, zero), at_zero, T::lift(f64::NAN));
    T::select(zero.below(a), value, elsewhere)
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

#[cfg(test)]
mod tests;
