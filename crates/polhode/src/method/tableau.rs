//! Runge-Kutta tableaus as data. What can be read off the entries (kind, order, symmetry) is not claimed but
//! computed.
//!
//! Sources: Butcher's order conditions over rooted trees (Hairer, Nørsett & Wanner, Solving Ordinary Differential
//! Equations I, II.2); Gauss collocation from the zeros of the Legendre polynomials.

use crate::scalar::{Dd, Real};
use crate::solve::{factorize, substitute};
use core::fmt;

/// A Runge-Kutta tableau: A by rows, weights b, nodes c.
#[derive(Clone, Debug, PartialEq)]
pub struct Tableau {
    name: String,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

/// How the stages depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableauKind {
    /// Each stage follows from those before it.
    Explicit,
    /// Each stage may depend on itself too.
    DiagonallyImplicit,
    /// Stages depend on later ones.
    FullyImplicit,
}

/// Why a tableau was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum TableauError {
    /// No such name.
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// The text is not a tableau.
    Text {
        /// What is wrong.
        reason: String,
    },
    /// The sizes of A, b, c do not fit.
    Shape {
        /// What is wrong.
        reason: String,
    },
    /// The weights do not add up to one, so the method is not consistent.
    Weights {
        /// Their sum.
        sum: f64,
    },
    /// A node is not the sum of its row.
    RowSum {
        /// Row, counted from one.
        row: usize,
        /// The sum of the row.
        sum: f64,
        /// The node given.
        node: f64,
    },
}

impl fmt::Display for TableauError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => {
                write!(
                    f,
                    "no tableau is called '{name}'; known are {}, or write one out: ",
                    NAMES.join(", ")
                )?;
                write!(f, "mkrk:'0 0; 1/2 1/2 | 1/2 1/2' (rows of A, then b)")
            }
            Self::Text { reason } => write!(f, "not a tableau: {reason}"),
            Self::Shape { reason } => write!(f, "tableau of the wrong shape: {reason}"),
            Self::Weights { sum } => write!(f, "the weights b must add up to 1, they add up to {sum}"),
            Self::RowSum { row, sum, node } => {
                write!(f, "row {row} of A adds up to {sum}, but its node c is {node}; they must be equal")
            }
        }
    }
}

impl std::error::Error for TableauError {}

/// The names that [`Tableau::named`] knows.
pub(super) const NAMES: [&str; 10] = [
    "euler",
    "backward-euler",
    "midpoint",
    "trapezoid",
    "kutta3",
    "rk4",
    "gauss1",
    "gauss2",
    "gauss3",
    "gauss4",
];

/// Most stages of a tableau.
const MOST_STAGES: usize = 32;

impl Tableau {
    /// A tableau of one's own: the rows of A and the weights b; the nodes c are the row sums.
    ///
    /// ```
    /// use polhode::method::{Tableau, TableauKind};
    /// let heun = Tableau::new("heun", &[vec![0.0, 0.0], vec![1.0, 0.0]], &[0.5, 0.5])?;
    /// assert_eq!((heun.kind(), heun.order()), (TableauKind::Explicit, 2));
    /// # Ok::<(), polhode::method::TableauError>(())
    /// ```
    pub fn new(name: &str, a: &[Vec<f64>], b: &[f64]) -> Result<Self, TableauError> {
        let shape = |reason: String| Err(TableauError::Shape { reason });
        let s = b.len();
        if s == 0 || s > MOST_STAGES {
            return shape(format!("b has {s} entries; 1 to {MOST_STAGES} stages are possible"));
        }
        if a.len() != s {
            return shape(format!("A has {} rows, but b has {s} entries", a.len()));
        }
        if let Some(i) = a.iter().position(|row| row.len() != s) {
            return shape(format!("row {} of A has {} entries, but b has {s}", i + 1, a[i].len()));
        }
        if !a.iter().flatten().chain(b).all(|x| x.is_finite()) {
            return shape("an entry is NaN or infinite".into());
        }
        let sum: f64 = b.iter().sum();
        if (sum - 1.0).abs() > 1e-12 {
            return Err(TableauError::Weights { sum });
        }
        let c = a.iter().map(|row| row.iter().sum()).collect();
        Ok(Tableau { name: name.into(), a: a.concat(), b: b.to_vec(), c })
    }

    /// The same with given nodes, which must be the row sums.
    pub fn with_nodes(self, c: &[f64]) -> Result<Self, TableauError> {
        if c.len() != self.stages() {
            let reason = format!("c has {} entries, but b has {}", c.len(), self.stages());
            return Err(TableauError::Shape { reason });
        }
        for (i, (node, sum)) in c.iter().zip(&self.c).enumerate() {
            if (node - sum).abs() > 1e-12 || node.is_nan() {
                return Err(TableauError::RowSum { row: i + 1, sum: *sum, node: *node });
            }
        }
        Ok(self)
    }

    /// Reads `0 0; 1/2 1/2 | 1/2 1/2`: rows of A separated by semicolons, a bar, then b; entries are numbers or
    /// fractions.
    pub fn parse(text: &str) -> Result<Self, TableauError> {
        let wrong = |reason: String| TableauError::Text { reason };
        let Some((a, b)) = text.split_once('|') else {
            return Err(wrong("a bar '|' must separate the rows of A from b".into()));
        };
        let row = |x: &str| x.split_whitespace().map(Tableau::entry).collect::<Result<Vec<f64>, _>>();
        Tableau::new("custom", &a.split(';').map(row).collect::<Result<Vec<_>, _>>()?, &row(b)?)
    }

    /// Reads one entry: a number or a fraction.
    pub fn entry(text: &str) -> Result<f64, TableauError> {
        let value = |x: &str| {
            x.trim()
                .parse::<f64>()
                .map_err(|_| TableauError::Text { reason: format!("'{x}' is not a number") })
        };
        let entry = match text.split_once('/') {
            Some((p, q)) => value(p)? / value(q)?,
            None => value(text)?,
        };
        match entry.is_finite() {
            true => Ok(entry),
            false => Err(TableauError::Text { reason: format!("the entry '{text}' is not a finite number") }),
        }
    }

    /// One of the tableaus of the registry.
    pub fn named(name: &str) -> Result<Self, TableauError> {
        let half = 0.5;
        let (a, b): (Vec<Vec<f64>>, Vec<f64>) = match name {
            "euler" => (vec![vec![0.0]], vec![1.0]),
            "backward-euler" => (vec![vec![1.0]], vec![1.0]),
            "midpoint" => (vec![vec![half]], vec![1.0]),
            "trapezoid" => (vec![vec![0.0, 0.0], vec![half, half]], vec![half, half]),
            "kutta3" => (
                vec![vec![0.0, 0.0, 0.0], vec![half, 0.0, 0.0], vec![-1.0, 2.0, 0.0]],
                vec![1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
            ),
            "rk4" => (
                vec![
                    vec![0.0, 0.0, 0.0, 0.0],
                    vec![half, 0.0, 0.0, 0.0],
                    vec![0.0, half, 0.0, 0.0],
                    vec![0.0, 0.0, 1.0, 0.0],
                ],
                vec![1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
            ),
            "gauss1" => gauss(1),
            "gauss2" => gauss(2),
            "gauss3" => gauss(3),
            "gauss4" => gauss(4),
            _ => return Err(TableauError::Unknown { name: name.into() }),
        };
        Tableau::new(name, &a, &b)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The number of stages.
    pub fn stages(&self) -> usize {
        self.b.len()
    }
    /// Entry (i, j) of A; not a number beyond its rows and columns.
    pub fn a(&self, i: usize, j: usize) -> f64 {
        let n = self.stages();
        if j < n { self.a.get(i * n + j).copied().unwrap_or(f64::NAN) } else { f64::NAN }
    }
    /// The weights.
    pub fn b(&self) -> &[f64] {
        &self.b
    }
    /// The nodes.
    pub fn c(&self) -> &[f64] {
        &self.c
    }
    /// True if the numbers are the same, whatever the names.
    pub(super) fn same_entries(&self, other: &Tableau) -> bool {
        self.a == other.a && self.b == other.b
    }
    /// The kind, read off the entries.
    pub fn kind(&self) -> TableauKind {
        let s = self.stages();
        let above = |strict: usize| (0..s).any(|i| (i + strict..s).any(|j| self.a(i, j) != 0.0));
        if !above(0) {
            TableauKind::Explicit
        } else if !above(1) {
            TableauKind::DiagonallyImplicit
        } else {
            TableauKind::FullyImplicit
        }
    }
    /// The stages in groups that can be solved one after the other, as ranges.
    pub(super) fn blocks(&self) -> Vec<core::ops::Range<usize>> {
        let s = self.stages();
        let (mut blocks, mut from) = (Vec::new(), 0);
        while from < s {
            let (mut to, mut row) = (from + 1, from);
            while row < to {
                to = (to..s).rev().find(|j| self.a(row, *j) != 0.0).map_or(to, |j| j + 1);
                row += 1;
            }
            blocks.push(from..to);
            from = to;
        }
        blocks
    }
    /// True if the reversed method is the method itself: a(s+1-i, s+1-j) + a(i, j) = b(j).
    pub fn is_symmetric(&self) -> bool {
        let s = self.stages();
        (0..s)
            .all(|i| (0..s).all(|j| (self.a(s - 1 - i, s - 1 - j) + self.a(i, j) - self.b[j]).abs() < 1e-13))
    }
    /// The order, from the conditions over rooted trees; up to 8.
    pub fn order(&self) -> u32 {
        /// A rooted tree: stage weights and density.
        struct Tree {
            weights: Vec<f64>,
            density: f64,
        }
        let s = self.stages();
        // All trees by order, for those below the order at hand; a tree is a list of smaller ones under a root.
        let mut trees: Vec<Vec<Tree>> = vec![Vec::new()];
        for order in 1..=9u32 {
            let mut found = Vec::new();
            let mut open =
                vec![(order as usize - 1, (order as usize, usize::MAX), vec![1.0; s], order as f64)];
            while let Some((left, last, weights, density)) = open.pop() {
                if left == 0 {
                    found.push(Tree { weights, density });
                    continue;
                }
                // Children in descending order, so that each set of them appears once.
                for size in 1..=left.min(last.0) {
                    for (index, child) in trees.get(size).map_or(&[][..], |t| t).iter().enumerate() {
                        if size == last.0 && index > last.1 {
                            break;
                        }
                        let grown = (0..s)
                            .map(|i| {
                                let inner: f64 = (0..s).map(|j| self.a(i, j) * child.weights[j]).sum();
                                weights[i] * inner
                            })
                            .collect();
                        open.push((left - size, (size, index), grown, density * child.density));
                    }
                }
            }
            let holds = |t: &Tree| {
                let weight: f64 = self.b.iter().zip(&t.weights).map(|(b, w)| b * w).sum();
                (weight - 1.0 / t.density).abs() < 1e-11
            };
            if !found.iter().all(holds) || order == 9 {
                return order - 1;
            }
            trees.push(found);
        }
        0
    }
}

/// Gauss collocation with s stages, computed in double-double and rounded once.
fn gauss(s: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let lift = Dd::lift;
    let nodes: Vec<Dd> = (0..s)
        .map(|i| {
            let mut x = lift(-(core::f64::consts::PI * (i as f64 + 0.75) / (s as f64 + 0.5)).cos());
            for _ in 0..8 {
                // Legendre polynomial and derivative by the three-term recurrence.
                let (mut low, mut high) = (lift(1.0), x);
                for k in 2..=s {
                    let k = k as f64;
                    (low, high) = (high, (lift(2.0 * k - 1.0) * x * high - lift(k - 1.0) * low) / lift(k));
                }
                let slope = (x * high - low) * lift(s as f64) / (x * x - lift(1.0));
                x -= high / slope;
            }
            (x + lift(1.0)) / lift(2.0)
        })
        .collect();
    // Σ_j w_j c_j^(k-1) = u^k / k for k = 1..s: the weights that integrate polynomials from 0 to u.
    let weights = |u: Dd| {
        let mut m: Vec<Dd> = (0..s * s).map(|n| nodes[n / s].powi((n % s) as i32)).collect();
        let mut x: Vec<Dd> = (1..=s).map(|k| u.powi(k as i32) / lift(k as f64)).collect();
        let mut swaps = vec![false; s * s];
        factorize(s, &mut m, &mut vec![lift(1.0); s], &mut swaps);
        substitute(s, &m, &swaps, &mut x);
        x.into_iter().map(Real::largest).collect::<Vec<f64>>()
    };
    (nodes.iter().map(|c| weights(*c)).collect(), weights(lift(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_tableaus_have_the_kind_order_and_symmetry_of_their_names() {
        use TableauKind::*;
        let expected = [
            ("euler", Explicit, 1, false),
            ("backward-euler", DiagonallyImplicit, 1, false),
            ("midpoint", DiagonallyImplicit, 2, true),
            ("trapezoid", DiagonallyImplicit, 2, true),
            ("kutta3", Explicit, 3, false),
            ("rk4", Explicit, 4, false),
            ("gauss1", DiagonallyImplicit, 2, true),
            ("gauss2", FullyImplicit, 4, true),
            ("gauss3", FullyImplicit, 6, true),
            ("gauss4", FullyImplicit, 8, true),
        ];
        assert_eq!(expected.map(|e| e.0), NAMES);
        for (name, kind, order, symmetric) in expected {
            let t = Tableau::named(name).unwrap();
            assert_eq!((t.kind(), t.order(), t.is_symmetric()), (kind, order, symmetric), "{name}");
            for i in 0..t.stages() {
                let sum: f64 = (0..t.stages()).map(|j| t.a(i, j)).sum();
                assert!((sum - t.c()[i]).abs() < 1e-15, "{name}: row {i}");
            }
        }
    }

    #[test]
    fn gauss_nodes_are_those_of_the_textbook() {
        let t = Tableau::named("gauss2").unwrap();
        assert!((t.c()[0] - (0.5 - 3f64.sqrt() / 6.0)).abs() < 1e-16);
        assert!((t.a(0, 1) - (0.25 - 3f64.sqrt() / 6.0)).abs() < 1e-16);
        let t = Tableau::named("gauss3").unwrap();
        assert!((t.c()[2] - (0.5 + 15f64.sqrt() / 10.0)).abs() < 2e-16);
        assert!((t.b()[1] - 4.0 / 9.0).abs() < 1e-16);
    }

    #[test]
    fn a_tableau_can_be_written_out() {
        let t = Tableau::parse("0 0; 1/2 1/2 | 1/2 0.5").unwrap();
        assert_eq!(t.a, Tableau::named("trapezoid").unwrap().a);
        // Fehlberg's order-4 member, to see the trees at work on a larger tableau.
        let t = Tableau::parse(
            "0 0 0 0 0; 1/4 0 0 0 0; 3/32 9/32 0 0 0; 1932/2197 -7200/2197 7296/2197 0 0; \
             439/216 -8 3680/513 -845/4104 0 | 25/216 0 1408/2565 2197/4104 -1/5",
        );
        assert_eq!(t.unwrap().order(), 4);
    }

    #[test]
    fn bad_tableaus_are_refused() {
        let text = |x: &str| Tableau::parse(x).unwrap_err().to_string();
        assert!(text("0 0").contains("bar"));
        assert!(text("0 x; 0 0 | 1/2 1/2").contains("'x' is not a number"));
        assert!(text("0; 0 0 | 1/2 1/2").contains("row 1 of A has 1 entries"));
        assert!(text("0 | 0.9").contains("add up to 0.9"));
        assert!(text("1/0 | 1").contains("'1/0' is not a finite number"));
        assert!(Tableau::named("gaus2").unwrap_err().to_string().contains("gauss2"));
        let euler = Tableau::named("euler").unwrap();
        assert!(euler.with_nodes(&[0.5]).unwrap_err().to_string().contains("row 1"));
    }

    #[test]
    fn stages_fall_into_blocks() {
        let blocks = |x: &str| Tableau::parse(x).unwrap().blocks();
        assert_eq!(blocks("0 0; 1 0 | 1/2 1/2"), [0..1, 1..2]);
        // Lobatto IIIA: an explicit first stage, then a coupled pair.
        assert_eq!(blocks("0 0 0; 5/24 1/3 -1/24; 1/6 2/3 1/6 | 1/6 2/3 1/6"), [0..1, 1..3]);
    }
}
