//! Named data of a problem and how they are overridden.

use crate::lookup::nearest;
use crate::lookup::not_finite;
use core::fmt;

/// One datum: a number or a few, with the sizes it may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    /// The name that overrides use.
    pub name: &'static str,
    /// The values.
    pub values: Vec<f64>,
    /// The numbers of values that make sense.
    pub sizes: &'static [usize],
    /// What it is, with its unit.
    pub help: &'static str,
    pub(super) shape: Shape,
}

/// What the values of a datum stand for, and so which parameters it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A number: one parameter of the name of the datum.
    Number,
    /// A vector of space or of the body: x, y, z.
    Vector,
    /// An inertia, however it is given: xx, yy, zz, xy, xz, yz.
    Tensor,
    /// A rotation: the x, y, z of a small turn in body axes that follows it.
    Rotation,
    /// Any numbers, counted from one.
    List,
    /// What counts or chooses, with why it has no derivative.
    Switch(&'static str),
}

impl Shape {
    /// That of a datum which may have so many values.
    pub(super) fn of(sizes: &[usize]) -> Shape {
        match sizes {
            [1] => Shape::Number,
            [3] => Shape::Vector,
            [3, 4] => Shape::Rotation,
            [3, 6, 9] => Shape::Tensor,
            _ => Shape::List,
        }
    }
}

/// Why an override was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum DataError {
    /// No datum has this name.
    Unknown {
        /// The problem.
        problem: &'static str,
        /// The name asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
        /// All names.
        all: Vec<&'static str>,
    },
    /// The text is not a list of finite numbers.
    NotNumbers {
        /// The datum.
        name: &'static str,
        /// The entry that is wrong.
        entry: String,
    },
    /// The number of values is wrong.
    Size {
        /// The datum.
        name: &'static str,
        /// How many were given.
        given: usize,
        /// How many make sense.
        sizes: &'static [usize],
        /// What it is.
        help: &'static str,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { problem, name, near, all } => {
                write!(f, "{problem} has no datum called '{name}'")?;
                if !near.is_empty() {
                    write!(f, "; did you mean {}?", near.join(" or "))?;
                }
                write!(f, " (it has {})", all.join(", "))
            }
            Self::NotNumbers { name, entry } => write!(f, "{name}: '{entry}' is {}", not_finite(entry)),
            Self::Size { name, given, sizes, help } => {
                let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
                let numbers = if sizes == ["1"] { "number" } else { "numbers" };
                write!(f, "{name} takes {} {numbers}, got {given}: {help}", sizes.join(" or "))
            }
        }
    }
}

impl std::error::Error for DataError {}

/// Sets one datum from text: numbers separated by commas or blanks.
pub(super) fn set(
    problem: &'static str,
    data: &mut [Datum],
    name: &str,
    text: &str,
) -> Result<(), DataError> {
    let all: Vec<&'static str> = data.iter().map(|d| d.name).collect();
    let Some(datum) = data.iter_mut().find(|d| d.name == name) else {
        let near = nearest(name, all.iter().copied());
        return Err(DataError::Unknown { problem, name: name.into(), near, all });
    };
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let mut values = Vec::new();
    for entry in text.split([',', ' ']).map(str::trim).filter(|x| !x.is_empty()) {
        match entry.parse::<f64>() {
            Ok(x) if x.is_finite() => values.push(x),
            _ => return Err(DataError::NotNumbers { name: datum.name, entry: entry.into() }),
        }
    }
    if !datum.sizes.contains(&values.len()) {
        let (given, sizes, help) = (values.len(), datum.sizes, datum.help);
        return Err(DataError::Size { name: datum.name, given, sizes, help });
    }
    datum.values = values;
    Ok(())
}
