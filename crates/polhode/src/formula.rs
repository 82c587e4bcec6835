//! Formulas of one's own: written once in any scalar, kept behind an object, and asked in the scalar that is at hand.

use crate::scalar::{Over, Real};
use core::fmt;
use std::sync::Arc;

/// The most numbers that a formula may have.
pub const MOST_NUMBERS: usize = 24;

/// Why numbers do not fit a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnError {
    /// Names and numbers do not match.
    Count {
        /// The names.
        names: Vec<String>,
        /// How many numbers were given.
        given: usize,
    },
    /// There are more numbers than a formula may have.
    TooMany {
        /// How many.
        given: usize,
    },
    /// A joint has no row, or more than a joint may have.
    Rows {
        /// How many.
        rows: usize,
    },
}

impl fmt::Display for OwnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { names, given } => write!(
                f,
                "the formula has {} numbers ({}), and {given} were given",
                names.len(),
                names.join(", ")
            ),
            Self::TooMany { given } => write!(f, "a formula has at most {MOST_NUMBERS} numbers, got {given}"),
            Self::Rows { rows } => write!(f, "a joint has 1 to 6 rows, got {rows}"),
        }
    }
}

impl std::error::Error for OwnError {}

/// Formulas with no more numbers than this need little room for them.
pub(crate) const FEW_NUMBERS: usize = 4;

/// The numbers of a formula at some scalar, on the stack, with room for some.
pub(crate) struct Numbers<T, const ROOM: usize> {
    all: [T; ROOM],
    count: usize,
}

impl<T: Real, const ROOM: usize> Numbers<T, ROOM> {
    /// These, each as `of` has it.
    #[inline(always)]
    pub(crate) fn new<S: Copy>(numbers: &[S], of: impl Fn(S) -> T) -> Self {
        let all = core::array::from_fn(|i| numbers.get(i).map_or(T::zero(), |x| of(*x)));
        Numbers { all, count: numbers.len().min(ROOM) }
    }
    /// Each of them.
    #[inline(always)]
    pub(crate) fn list(&self) -> &[T] {
        &self.all[..self.count]
    }
}

/// A formula behind an object with its numbers.
#[derive(Debug)]
pub(crate) struct Behind<S, F: ?Sized> {
    pub(crate) formula: Arc<F>,
    pub(crate) names: Arc<[String]>,
    /// In the order of the names. What may stand behind those that have one is for the formula alone, at this scalar.
    pub(crate) numbers: Vec<S>,
}

impl<S: Clone, F: ?Sized> Clone for Behind<S, F> {
    fn clone(&self) -> Self {
        Behind { formula: self.formula.clone(), names: self.names.clone(), numbers: self.numbers.clone() }
    }
}

impl<S: PartialEq, F: ?Sized> PartialEq for Behind<S, F> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.formula, &other.formula) && self.numbers == other.numbers
    }
}

impl<S: Real, F: ?Sized> Behind<S, F> {
    /// A formula with its numbers, in the order of their names.
    pub(crate) fn new(formula: Arc<F>, names: Vec<String>, numbers: Vec<S>) -> Result<Self, OwnError> {
        if names.len() != numbers.len() {
            return Err(OwnError::Count { names, given: numbers.len() });
        }
        if numbers.len() > MOST_NUMBERS {
            return Err(OwnError::TooMany { given: numbers.len() });
        }
        Ok(Behind { formula, names: names.into(), numbers })
    }
    /// The same with other numbers, each made of its place and of the one that is there.
    pub(crate) fn rebuilt<T>(&self, number: &mut dyn FnMut(usize, S) -> T) -> Behind<T, F> {
        Behind {
            formula: self.formula.clone(),
            names: self.names.clone(),
            numbers: self.numbers.iter().enumerate().map(|(k, x)| number(k, *x)).collect(),
        }
    }
    /// The numbers as they are, if they are of this scalar.
    #[inline(always)]
    pub(crate) fn same<T: Real>(&self) -> Option<&Vec<T>> {
        let numbers: &dyn core::any::Any = &self.numbers;
        numbers.downcast_ref()
    }
    /// Those that have names.
    #[inline(always)]
    pub(crate) fn named(&self) -> &[S] {
        self.numbers.get(..self.names.len()).unwrap_or(&self.numbers)
    }
    /// True if there are only a few numbers.
    #[inline(always)]
    pub(crate) fn is_small(&self) -> bool {
        self.names.len() <= FEW_NUMBERS
    }
    /// The numbers at a richer scalar.
    #[inline(always)]
    pub(crate) fn at<T: Over<S>, const ROOM: usize>(&self) -> Numbers<T, ROOM> {
        Numbers::new(self.named(), T::of)
    }
}

/// Makes functions of an object out of functions that are generic in the scalar: a trait `$object` of all that have
/// `$face` at these scalars, and for each `function(at) -> out` of `$face` one that finds it for a scalar, which the compiler
/// does. There is none at any other scalar.
macro_rules! behind_object {
    ($object:ident: $face:ident at $scalars:tt; $(fn $ask:ident = $function:ident($at:ident) -> $out:ident;)+) => {
        $crate::formula::behind_object!(@object $object $face $scalars);
        $($crate::formula::behind_object!(@ask $object $face $scalars $ask $function $at $out);)+
    };
    (@object $object:ident $face:ident [$($scalar:ty),+]) => {
        /// A formula behind an object, for the scalars in which it is asked.
        pub(crate) trait $object: $($face<$scalar> +)+ core::fmt::Debug + Send + Sync {}
        impl<F: $($face<$scalar> +)+ core::fmt::Debug + Send + Sync> $object for F {}
    };
    (@ask $object:ident $face:ident [$($scalar:ty),+] $ask:ident $function:ident $at:ident $out:ident) => {
        #[inline(always)]
        fn $ask<T: $crate::scalar::Real>() -> Option<fn(&dyn $object, &[T], &$at<T>) -> $out<T>> {
            $(
                let ask: fn(&dyn $object, &[$scalar], &$at<$scalar>) -> $out<$scalar> =
                    |formula, numbers, at| <dyn $object as $face<$scalar>>::$function(formula, numbers, at);
                let ask: &dyn core::any::Any = &ask;
                if let Some(ask) = ask.downcast_ref() {
                    return Some(*ask);
                }
            )+
            None
        }
    };
}
pub(crate) use behind_object;
