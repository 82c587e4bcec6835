//! Expressions: parsed once into a program of a small machine, evaluated by it in any scalar.

mod functions;
mod graph;
mod machine;
mod parse;
mod program;

pub(crate) use program::{FEW_REGISTERS, MOST_INPUTS, Program, Quick, REGISTERS};

use crate::scalar::Real;
use core::fmt;
use core::ops::Range;
use graph::Formula;

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
    program: Program,
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

impl Operation {
    /// How many numbers it takes.
    fn takes(self) -> usize {
        match self {
            Operation::Number(_) | Operation::Name(_) => 0,
            Operation::Negate | Operation::Not | Operation::Power(_) => 1,
            Operation::Function(function) => function.arguments(),
            Operation::If => 3,
            _ => 2,
        }
    }
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
    /// The same where some names, which are sorted, have hyphens in them: `link-1` before a dot is one name and no difference.
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
    /// The same with the value of a name by its number.
    pub fn evaluate_with<T: Real>(&self, value: &dyn Fn(usize) -> T) -> T {
        self.program.value(value)
    }
    /// Several expressions as one program, whose names stand for these inputs of it, of which there are so many.
    pub(crate) fn together(
        expressions: &[(&Expression, &[usize])],
        inputs: usize,
    ) -> Result<Program, ExpressionError> {
        let formulas = expressions.iter().map(|(of, inputs)| Formula { operations: &of.operations, inputs });
        let formulas: Vec<Formula<'_>> = formulas.collect();
        Program::of(&formulas, inputs).ok_or(ExpressionError { mistake: Mistake::Deep, span: 0..0 })
    }
    /// The same in few registers, of which the inputs from `numbers` on lie before the values; nothing if they do not suffice.
    pub(crate) fn quickly(
        expressions: &[(&Expression, &[usize])],
        numbers: usize,
        seen: usize,
    ) -> Option<Quick> {
        // From the end, as the values are.
        let last = usize::MAX - expressions.len();
        let place = |input: &usize| match *input < numbers {
            true => *input,
            false => last + 1 - (numbers + seen - *input),
        };
        let placed: Vec<Vec<usize>> =
            expressions.iter().map(|(_, inputs)| inputs.iter().map(place).collect()).collect();
        let all = expressions.iter().zip(&placed);
        let formulas: Vec<Formula<'_>> =
            all.map(|((of, _), inputs)| Formula { operations: &of.operations, inputs }).collect();
        Quick::of(&formulas, numbers, seen)
    }
}

#[cfg(test)]
mod tests;
