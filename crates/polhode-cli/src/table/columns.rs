//! Which columns are written, and where attitudes and positions are among them.

use crate::failure::Failure;
use polhode::run::{Column, Owner, Quantity};

/// True if a name matches a pattern, in which `*` stands for anything and `?` for one character.
pub fn matches(pattern: &str, name: &str) -> bool {
    fn inner(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), _) => (0..=name.len()).any(|skip| inner(rest, &name[skip..])),
            (Some(('?', rest)), Some((_, left))) => inner(rest, left),
            (Some((own, rest)), Some((other, left))) if own == other => inner(rest, left),
            _ => false,
        }
    }
    // Stars side by side are one, which keeps the search short.
    let mut letters: Vec<char> = pattern.chars().collect();
    letters.dedup_by(|a, b| *a == '*' && *b == '*');
    inner(&letters, &name.chars().collect::<Vec<_>>())
}

/// Columns of a run, picked by their names.
#[derive(Debug)]
pub struct Choice<'a> {
    /// All that there are.
    pub columns: &'a [Column],
}

impl Choice<'_> {
    /// The numbers of the columns that any of the patterns names: a column, a quantity with several, or a pattern. In
    /// the order of the patterns.
    pub fn of(&self, patterns: &[String], option: &str) -> Result<Vec<usize>, Failure> {
        let mut chosen = Vec::new();
        for pattern in patterns.iter().map(|pattern| pattern.trim()).filter(|pattern| !pattern.is_empty()) {
            let named = |column: &Column| {
                matches(pattern, &column.name)
                    || column.whole.as_deref().is_some_and(|whole| matches(pattern, whole))
            };
            let found: Vec<usize> = (0..self.columns.len()).filter(|i| named(&self.columns[*i])).collect();
            if found.is_empty() {
                return Err(Failure::Usage(self.unknown(pattern, option)));
            }
            for column in found {
                if !chosen.contains(&column) {
                    chosen.push(column);
                }
            }
        }
        Ok(chosen)
    }
    fn unknown(&self, pattern: &str, option: &str) -> String {
        /// Names that a message shows.
        const SHOWN: usize = 12;
        let mut names: Vec<&str> = Vec::new();
        for column in self.columns {
            let name = column.whole.as_deref().unwrap_or(&column.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let more =
            if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
        names.truncate(SHOWN);
        format!("{option}: there is no column '{pattern}'; there are {}{more}", names.join(", "))
    }
}

/// Where the pose of a body is in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poses {
    /// Its position; nothing if its origin never moves.
    pub position: Option<usize>,
    /// Its quaternion.
    pub q_wxyz: usize,
}

impl Poses {
    /// Of each of so many bodies; each has four columns for its attitude in a row, and three for its position.
    pub fn of(columns: &[Column], bodies: usize) -> Vec<Poses> {
        let first = |body: usize, quantity: Quantity| {
            columns.iter().position(|column| {
                let owner = column.item.owner;
                let own = owner == Owner::Body(body) || (owner == Owner::Whole && bodies == 1);
                own && column.item.quantity == quantity && column.component == 0
            })
        };
        let pose = |body| {
            Some(Poses {
                position: first(body, Quantity::Position),
                q_wxyz: first(body, Quantity::Quaternion)?,
            })
        };
        (0..bodies).filter_map(pose).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_name_columns() {
        for (pattern, name) in
            [("upper.*", "upper.q_w"), ("*", ""), ("q_?", "q_w"), ("*.q_*", "a.b.q_w"), ("t", "t")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("upper.*", "lower.q_w"), ("q_?", "q_"), ("t", "tt"), ("", "t")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(12), &"a".repeat(11)), "and soon");
    }
}
