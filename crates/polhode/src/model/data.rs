//! Parameters of a model by name, and how they are overridden.

use crate::lookup::{ENTRIES, nearest, not_finite};
use core::fmt;

/// One parameter: a number or a few, with the sizes it may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    /// The name that overrides use.
    pub name: String,
    /// The values; none if it is not set.
    pub values: Vec<f64>,
    /// The numbers of values that make sense.
    pub sizes: Vec<usize>,
    /// What it is, with its unit.
    pub help: String,
    pub(crate) kind: DatumKind,
    /// Another parameter that is not set any more once this one is.
    pub(crate) replaces: Option<String>,
    /// True if its values were set and are not those of the file.
    pub(crate) overridden: bool,
}

/// What the values of a parameter stand for, and so which components it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatumKind {
    /// A number: one parameter of the name of the datum.
    Number,
    /// A vector of space or of the body: x, y, z.
    Vector,
    /// An inertia, however it is given: xx, yy, zz, xy, xz, yz.
    Inertia,
    /// A rotation: the x, y, z of a small turn in body axes that follows it.
    Rotation,
    /// Any numbers, counted from one.
    List,
    /// What counts or chooses, and has no derivative.
    Choice,
}

impl DatumKind {
    /// That of so many values.
    pub(crate) fn of(count: usize) -> Self {
        match count {
            1 => DatumKind::Number,
            3 => DatumKind::Vector,
            _ => DatumKind::List,
        }
    }
    /// That with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "number" => DatumKind::Number,
            "vector" => DatumKind::Vector,
            "inertia" => DatumKind::Inertia,
            "rotation" => DatumKind::Rotation,
            "list" => DatumKind::List,
            "choice" => DatumKind::Choice,
            _ => return None,
        })
    }
    /// How many values make sense, where there are so many now.
    pub(crate) fn sizes(self, count: usize) -> Vec<usize> {
        match self {
            DatumKind::Number | DatumKind::Choice => vec![1],
            DatumKind::Vector => vec![3],
            DatumKind::Inertia => vec![3, 6, 9],
            DatumKind::Rotation => vec![3, 4],
            DatumKind::List => vec![count],
        }
    }
    /// The endings of its components, of so many values.
    pub(crate) fn endings(self, count: usize) -> Vec<String> {
        let of = |names: &[&str]| names.iter().map(|name| format!("_{name}")).collect();
        match self {
            DatumKind::Number | DatumKind::Choice => vec![String::new()],
            DatumKind::Vector | DatumKind::Rotation => of(&["x", "y", "z"]),
            DatumKind::Inertia => of(&ENTRIES.map(|(_, _, ending)| ending)),
            DatumKind::List => (1..=count).map(|i| format!("_{i}")).collect(),
        }
    }
}

impl Datum {
    /// How many parameters it has that results can be differentiated with respect to.
    pub(crate) fn components(&self) -> usize {
        match self.kind {
            _ if self.values.is_empty() => 0,
            DatumKind::Choice => 0,
            kind => kind.endings(self.values.len()).len(),
        }
    }
    /// The value of one of them: a change of a rotation starts from none.
    pub(crate) fn component(&self, i: usize) -> f64 {
        match self.kind {
            DatumKind::Rotation => 0.0,
            DatumKind::Inertia => {
                let entry = ENTRIES.get(i).and_then(|(i, j, _)| entry_of(&self.values, *i, *j));
                entry.unwrap_or(f64::NAN)
            }
            _ => self.values.get(i).copied().unwrap_or(f64::NAN),
        }
    }
}

/// An entry of an inertia: principal moments, xx yy zz xy xz yz, or nine by rows.
pub(crate) fn entry_of<S: Copy + num_traits::Zero>(values: &[S], i: usize, j: usize) -> Option<S> {
    match values.len() {
        3 if i == j => values.get(i).copied(),
        3 => Some(S::zero()),
        6 if i == j => values.get(i).copied(),
        // xy, xz, yz: their indices add up to 1, 2, 3.
        6 => values.get(2 + i + j).copied(),
        9 => values.get(3 * i + j).copied(),
        _ => None,
    }
}

/// Why an override was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum DataError {
    /// No datum has this name.
    Unknown {
        /// The problem.
        problem: String,
        /// The name asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
        /// All names.
        all: Vec<String>,
    },
    /// The text is not a list of finite numbers.
    NotNumbers {
        /// The datum.
        name: String,
        /// The entry that is wrong.
        entry: String,
    },
    /// The number of values is wrong.
    Size {
        /// The datum.
        name: String,
        /// How many were given.
        given: usize,
        /// How many make sense.
        sizes: Vec<usize>,
        /// What it is.
        help: String,
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
                if all.is_empty() { Ok(()) } else { write!(f, " (it has {})", all.join(", ")) }
            }
            Self::NotNumbers { name, entry } => write!(f, "{name}: '{entry}' is {}", not_finite(entry)),
            Self::Size { name, given, sizes, help } => {
                let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
                let numbers = if sizes == ["1"] { "number" } else { "numbers" };
                write!(f, "{name} takes {} {numbers}, got {given}", sizes.join(" or "))?;
                if help.is_empty() { Ok(()) } else { write!(f, ": {help}") }
            }
        }
    }
}

impl std::error::Error for DataError {}

/// Numbers from text, separated by commas or blanks.
pub(crate) fn numbers(name: &str, text: &str) -> Result<Vec<f64>, DataError> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let entries = text.split([',', ' ']).map(str::trim).filter(|x| !x.is_empty());
    let read = |entry: &str| match entry.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(DataError::NotNumbers { name: name.into(), entry: entry.into() }),
    };
    entries.map(read).collect()
}

/// Sets one component of a datum, if the name is that of one.
fn set_component(data: &mut [Datum], name: &str, values: &[f64]) -> Result<bool, DataError> {
    let found = data.iter_mut().find_map(|datum| {
        let ending = name.strip_prefix(datum.name.as_str())?;
        // A rotation has a turn in place of components.
        let several = matches!(datum.kind, DatumKind::Vector | DatumKind::List | DatumKind::Inertia);
        let place = datum.kind.endings(datum.values.len()).iter().position(|known| known == ending)?;
        (several && place < datum.components()).then_some((datum, place))
    });
    let Some((datum, place)) = found else { return Ok(false) };
    let [value] = values[..] else {
        let (given, help) = (values.len(), datum.help.clone());
        return Err(DataError::Size { name: name.into(), given, sizes: vec![1], help });
    };
    if datum.kind == DatumKind::Inertia {
        let entries = ENTRIES.iter().map(|(i, j, _)| entry_of(&datum.values, *i, *j).unwrap_or(f64::NAN));
        datum.values = entries.collect();
    }
    if let Some(x) = datum.values.get_mut(place) {
        *x = value;
    }
    datum.overridden = true;
    Ok(true)
}

/// Sets one datum from text, or a component of one: numbers separated by commas or blanks. False if there is none of that
/// name.
pub(crate) fn set(data: &mut [Datum], name: &str, text: &str) -> Result<bool, DataError> {
    match is_named(data, name) {
        true => numbers(name, text).and_then(|values| put_all(data, name, values)),
        false => Ok(false),
    }
}

/// Sets one number of that name.
pub(crate) fn put(data: &mut [Datum], name: &str, value: f64) -> Result<bool, DataError> {
    put_all(data, name, vec![value])
}

/// True if there is a datum of that name, or one with such a component.
fn is_named(data: &[Datum], name: &str) -> bool {
    data.iter().any(|datum| {
        let ending = name.strip_prefix(datum.name.as_str());
        ending.is_some_and(|ending| {
            ending.is_empty() || datum.kind.endings(datum.values.len()).iter().any(|known| known == ending)
        })
    })
}

fn put_all(data: &mut [Datum], name: &str, values: Vec<f64>) -> Result<bool, DataError> {
    let Some(datum) = data.iter_mut().find(|d| d.name == name) else {
        return set_component(data, name, &values);
    };
    if !datum.sizes.contains(&values.len()) {
        let (given, sizes, help) = (values.len(), datum.sizes.clone(), datum.help.clone());
        return Err(DataError::Size { name: name.into(), given, sizes, help });
    }
    (datum.values, datum.overridden) = (values, true);
    let replaced = datum.replaces.clone();
    for other in data
        .iter_mut()
        .filter(|other| Some(&other.name) == replaced.as_ref() || other.replaces.as_deref() == Some(name))
    {
        (other.values, other.overridden) = (Vec::new(), true);
    }
    Ok(true)
}

/// Why there is no such datum.
pub(crate) fn unknown<'a>(
    problem: &str,
    name: &str,
    data: impl Iterator<Item = &'a str>,
    others: impl Iterator<Item = &'a str>,
) -> DataError {
    let all: Vec<&str> = data.collect();
    let near = nearest(name, all.iter().copied().chain(others));
    let all = all.into_iter().map(String::from).collect();
    DataError::Unknown { problem: problem.into(), name: name.into(), near, all }
}
