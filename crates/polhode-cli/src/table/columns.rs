//! What is known of columns, in a form that files keep too; which are written, and where poses are among them.

use crate::failure::Failure;
use polhode::run::{Column, Owner, Quantity, Snapshot};
use serde::{Deserialize, Serialize};

/// Whose numbers a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The whole, or the one body that there is.
    Whole,
    /// A body, by its number.
    Body(usize),
    /// A joint.
    Joint(usize),
    /// Extra coordinates.
    Coordinates(usize),
    /// An output of the model.
    Output(usize),
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Its name: `upper.omega_body_x`.
    pub name: String,
    /// Whose it is.
    pub of: Of,
    /// The quantity, by its name without that of the owner: `omega_body`.
    pub quantity: String,
    /// The name of all of its components together, `upper.omega_body`, of one that has several.
    pub whole: Option<String>,
    /// Which component.
    pub component: usize,
    /// Its unit; empty of an output, which may be anything.
    pub unit: String,
}

impl Head {
    /// The columns of a run.
    pub fn all(start: &Snapshot) -> Vec<Head> {
        start.columns().into_iter().map(|column| Head::of(column, start)).collect()
    }
    fn of(column: Column, start: &Snapshot) -> Head {
        let quantity = column.item.quantity;
        let (of, unit) = match column.item.owner {
            Owner::Whole => (Of::Whole, None),
            Owner::Body(b) => (Of::Body(b), None),
            Owner::Joint(j) if quantity == Quantity::Rate => {
                let turns = start.joints.get(j).is_some_and(|joint| joint.angle.is_some());
                (Of::Joint(j), Some(if turns { "rad/s" } else { "m/s" }))
            }
            Owner::Joint(j) => (Of::Joint(j), None),
            Owner::Coordinates(i) => (Of::Coordinates(i), None),
            Owner::Output(i) => (Of::Output(i), None),
        };
        let facts = quantity.facts();
        let quantity = if facts.column.is_empty() { &column.name } else { facts.column }.to_string();
        let unit = unit.unwrap_or(facts.unit).into();
        Head { name: column.name, of, quantity, whole: column.whole, component: column.component, unit }
    }
    /// The name of the component alone.
    pub fn part(&self) -> &str {
        let behind = self.whole.as_deref().and_then(|whole| self.name.strip_prefix(whole));
        behind.map_or(&self.name, |part| part.trim_start_matches('_'))
    }
}

/// True if a name matches a pattern, in which `*` stands for anything and `?` for one character.
fn matches(pattern: &str, name: &str) -> bool {
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

/// The numbers of the columns that any of the patterns names: a column, a quantity with several, or a pattern. In the
/// order of the patterns.
pub fn chosen(heads: &[Head], patterns: &[String], option: &str) -> Result<Vec<usize>, Failure> {
    let mut chosen = Vec::new();
    for pattern in patterns.iter().map(|pattern| pattern.trim()).filter(|pattern| !pattern.is_empty()) {
        let named = |head: &Head| {
            matches(pattern, &head.name) || head.whole.as_deref().is_some_and(|whole| matches(pattern, whole))
        };
        let found: Vec<usize> = (0..heads.len()).filter(|i| named(&heads[*i])).collect();
        if found.is_empty() {
            return Err(Failure::Usage(unknown(heads, pattern, option)));
        }
        for column in found {
            if !chosen.contains(&column) {
                chosen.push(column);
            }
        }
    }
    Ok(chosen)
}

fn unknown(heads: &[Head], pattern: &str, option: &str) -> String {
    /// Names that a message shows.
    const SHOWN: usize = 12;
    let mut names: Vec<&str> = Vec::new();
    for head in heads {
        let name = head.whole.as_deref().unwrap_or(&head.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    names.truncate(SHOWN);
    format!("{option}: there is no column '{pattern}'; there are {}{more}", names.join(", "))
}

/// The first column of a quantity of a body, which the whole is where there is one alone.
pub fn of_body(heads: &[Head], body: usize, bodies: usize, quantity: &str) -> Option<usize> {
    heads.iter().position(|head| {
        let own = head.of == Of::Body(body) || (head.of == Of::Whole && bodies == 1);
        own && head.quantity == quantity && head.component == 0
    })
}

/// Where the pose of a body is in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pose {
    /// Its position, three numbers; nothing if its origin never moves.
    pub position: Option<usize>,
    /// Its quaternion, four numbers.
    pub q_wxyz: usize,
}

impl Pose {
    /// That of a body, one of so many, if all of its columns are there.
    pub fn of(heads: &[Head], body: usize, bodies: usize) -> Option<Pose> {
        let first = |quantity: &str, count: usize| {
            let first = of_body(heads, body, bodies, quantity)?;
            let last = heads.get(first + count - 1)?;
            (last.quantity == quantity && last.component + 1 == count).then_some(first)
        };
        Some(Pose { position: first("position", 3), q_wxyz: first("q", 4)? })
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, matches};
    use polhode::method::Method;
    use polhode::problem::Problem;
    use polhode::run::Run;

    /// Rows of one body are written by hand, because they may be wanted at every step.
    #[test]
    fn every_number_of_a_row_is_that_of_its_column() {
        for id in ["fast-top", "free-body", "driven-body", "heavy-top", "four-bar"] {
            let problem = Problem::named(id).unwrap();
            let text = format!("{}\n[outputs]\nbeat = \"sin(t)\"\n", problem.file().text());
            let model = Problem::from_text(id, &text).unwrap().model().unwrap();
            let mut run = model.watched(&Method::parse(&problem.method).unwrap()).unwrap();
            if model.group() != "system" {
                run.estimate_energy();
            }
            run.step(1e-3, 1e-3).unwrap();
            let (seen, mut row) = (run.snapshot(), Vec::new());
            seen.row(&mut row);
            let columns = seen.columns();
            assert_eq!((columns.len(), Head::all(&seen).len()), (row.len(), row.len()), "{id}");
            assert_eq!(columns[row.len() - 1].name, "beat", "{id}");
            for (column, x) in columns.iter().zip(&row) {
                let value = seen.value(&column.item).expect("it is there");
                assert_eq!(value.numbers()[column.component].to_bits(), x.to_bits(), "{id}: {}", column.name);
            }
        }
    }

    /// Nor does a row need a snapshot then.
    #[test]
    fn a_row_is_that_of_the_snapshot() {
        for id in ["fast-top", "free-body", "driven-body", "heavy-top", "four-bar"] {
            let problem = Problem::named(id).unwrap();
            let mut run = problem.model().unwrap().begin(&Method::parse(&problem.method).unwrap()).unwrap();
            for _ in 0..2 {
                run.step(1e-3, run.time() + 1e-3).unwrap();
                let (mut row, mut seen) = (vec![0.5], vec![0.5]);
                run.row(&mut row);
                run.snapshot().row(&mut seen);
                let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert!(row.len() > 10 && bits(&row) == bits(&seen), "{id}");
                run.estimate_energy();
            }
        }
    }

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
