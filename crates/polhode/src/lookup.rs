//! Words and numbers that people write: parameters by name, what is found and why not, and numbers in messages.

use core::fmt;

/// A number in a message, in as few characters as tell it exactly.
pub(crate) fn plain(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

/// What is wrong with the text of a number that is not finite.
pub(crate) fn not_finite(text: &str) -> &'static str {
    let overflow =
        text.parse::<f64>().is_ok_and(f64::is_infinite) && text.contains(|c: char| c.is_ascii_digit());
    if overflow { "too large for a number: the largest is 1.79e308" } else { "not a finite number" }
}

/// Why parameters were not found.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// No parameter has this name.
    Unknown {
        /// Whose parameters they are.
        owner: String,
        /// The name asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
        /// All names.
        all: Vec<String>,
    },
    /// One parameter is asked for twice, perhaps by a name for several.
    Twice {
        /// The parameter.
        parameter: String,
        /// The two names by which it was asked for.
        names: [String; 2],
    },
    /// It counts or chooses.
    NoDerivative {
        /// The datum.
        name: String,
    },
    /// It is not set.
    Unset {
        /// The datum.
        name: String,
    },
}

/// Names that are listed in a message.
const LISTED: usize = 20;

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { owner, name, near, all } => {
                write!(f, "{owner} has no parameter called '{name}'")?;
                if !near.is_empty() {
                    write!(f, "; did you mean {}?", near.join(" or "))?;
                }
                let listed = &all[..all.len().min(LISTED)];
                write!(f, " (it has {}", listed.join(", "))?;
                match all.len() - listed.len() {
                    0 => write!(f, ")"),
                    more => write!(f, " and {more} more)"),
                }
            }
            Self::Twice { parameter, names: [first, second] } if first == second => {
                write!(f, "the parameter {parameter} is asked for twice; name it once")
            }
            Self::Twice { parameter, names: [first, second] } => write!(
                f,
                "the parameter {parameter} is asked for twice, by '{first}' and by '{second}'; leave one of them out"
            ),
            Self::NoDerivative { name } => {
                write!(f, "{name} is not a parameter: what counts or chooses has no derivative")
            }
            Self::Unset { name } => write!(f, "{name} is not set; set it first"),
        }
    }
}

impl std::error::Error for ParameterError {}

/// The names of a parameter: its own, and that of the vector, tensor or list that it is a component of.
pub(crate) struct Names<'a> {
    pub(crate) own: &'a str,
    pub(crate) whole: &'a str,
}

/// The numbers of the parameters with these names among all of them. A name is that of one parameter, or that of a whole
/// for all of its components; `center.y` and `center[1]` (from zero) are `center_y`.
pub(crate) fn find(owner: &str, all: &[Names<'_>], names: &[&str]) -> Result<Vec<usize>, ParameterError> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        let these = find_one(all, name);
        if these.is_empty() {
            let candidates = all.iter().flat_map(|p| [p.whole, p.own]);
            let near = nearest(&spelled(name), candidates);
            let all = all.iter().map(|p| p.own.into()).collect();
            return Err(ParameterError::Unknown { owner: owner.into(), name: name.into(), near, all });
        }
        for i in these {
            if let Some((_, first)) = found.iter().find(|(known, _)| *known == i) {
                let names = [(*first).into(), name.into()];
                return Err(ParameterError::Twice { parameter: all[i].own.into(), names });
            }
            found.push((i, name));
        }
    }
    Ok(found.into_iter().map(|(i, _)| i).collect())
}

/// With `_` in place of the last dot.
fn spelled(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((whole, part)) => format!("{whole}_{part}"),
        None => name.into(),
    }
}

fn find_one(all: &[Names<'_>], name: &str) -> Vec<usize> {
    let which = |wanted: &dyn Fn(&Names<'_>) -> bool| -> Vec<usize> {
        (0..all.len()).filter(|i| wanted(&all[*i])).collect()
    };
    let mut these = which(&|p| p.own == name);
    if these.is_empty() {
        these = which(&|p| p.whole == name);
    }
    if these.is_empty() {
        let other = spelled(name);
        these = which(&|p| p.own == other);
    }
    let indexed = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    if let (true, Some((whole, index))) = (these.is_empty(), indexed)
        && let Ok(index) = index.trim().parse::<usize>()
    {
        these = which(&|p| p.whole == whole.trim()).into_iter().skip(index).take(1).collect();
    }
    these
}

/// What a parameter is, where a fit has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A mass.
    Mass,
    /// An entry of an inertia, by row and column.
    Inertia(usize, usize),
    /// Anything else.
    Other,
}

/// The entries of an inertia in the order of its parameters, with the endings of their names.
pub(crate) const ENTRIES: [(usize, usize, &str); 6] =
    [(0, 0, "xx"), (1, 1, "yy"), (2, 2, "zz"), (0, 1, "xy"), (0, 2, "xz"), (1, 2, "yz")];

/// The candidates that look most like a misspelt word, at most three: within an edit distance of a third of its
/// length, or starting with it; of equally near ones the first. A candidate with a colon goes by what follows it too, so
/// that `rk4` finds `mkrk:rk4`.
pub(crate) fn nearest<'a>(word: &str, mut candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
    nearest_of(word, &mut candidates)
}

/// Through an object, so that it is compiled once and not for every list of candidates.
fn nearest_of(word: &str, candidates: &mut dyn Iterator<Item = &str>) -> Vec<String> {
    let near = 1 + word.chars().count() / 3;
    let score = |c: &str| {
        let whole = Some(distance(word, c)).filter(|d| *d <= near || (word.len() > 1 && c.starts_with(word)));
        // A tail must fit better than a whole: short tails are near to everything.
        let tail = c.split_once(':').map(|(_, tail)| distance(word, tail));
        let tail = tail.filter(|d| *d < near && *d < word.chars().count());
        whole.into_iter().chain(tail).min()
    };
    let mut scored: Vec<(usize, &str)> = candidates.filter_map(|c| Some((score(c)?, c))).collect();
    // A tail that is the very word leaves no doubt.
    if scored.iter().any(|(d, _)| *d == 0) {
        scored.retain(|(d, _)| *d == 0);
    }
    scored.sort_by_key(|(d, _)| *d);
    let mut found: Vec<String> = Vec::new();
    for (_, candidate) in scored {
        if found.len() < 3 && !found.iter().any(|known| known == candidate) {
            found.push(candidate.into());
        }
    }
    found
}

/// Levenshtein's edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
