//! Models of polhode as text. So far: expressions, the numbers and formulas of a model file, parsed once and evaluated in any
//! scalar of [`polhode::scalar`].

mod expression;

pub use expression::{Expression, ExpressionError, Function, Mistake};
