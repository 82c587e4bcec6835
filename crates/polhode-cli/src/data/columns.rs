//! Which column of a file is which quantity, in which unit, and the numbers in it.

use super::{Table, left_out};
use crate::failure::Failure;
use crate::print;
use core::f64::consts::PI;

/// The unit that a quantity has, for which files may have others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Time in s.
    Time,
    /// An angle in rad, or a rate of one.
    Angle,
    /// Any other.
    Other,
}

impl Unit {
    /// What may follow the name of a quantity that is given in another unit, and how much that unit is.
    fn others(self) -> &'static [(&'static str, f64)] {
        match self {
            Unit::Time => &[("_ms", 1e-3), ("_us", 1e-6), ("_ns", 1e-9)],
            Unit::Angle => &[("_deg", PI / 180.0)],
            Unit::Other => &[],
        }
    }
}

/// Numbers from a file: a quantity in each column, in SI units, NaN where there is a gap.
#[derive(Debug)]
pub struct Measured {
    /// The times, which grow.
    pub times: Vec<f64>,
    /// The columns by name, each with a number for every time.
    pub columns: Vec<(String, Vec<f64>)>,
    /// The line of each row.
    pub lines: Vec<usize>,
    /// The columns of the file that are nothing of this.
    pub others: Vec<String>,
    /// What was left out because something is missing.
    pub gaps: Vec<String>,
}

/// A column of a file as a quantity.
struct Source {
    column: usize,
    /// The size of its unit.
    unit: f64,
}

/// The quantity that a name means, and the size of the unit.
fn meaning(name: &str, known: &dyn Fn(&str) -> Option<Unit>) -> Option<(String, f64)> {
    let known = |name: &str| if name == "t" { Some(Unit::Time) } else { known(name) };
    if known(name).is_some() {
        return Some((name.into(), 1.0));
    }
    ["_deg", "_ms", "_us", "_ns"].iter().find_map(|suffix| {
        let own = name.strip_suffix(suffix)?;
        let (_, size) = known(own)?.others().iter().find(|(other, _)| other == suffix)?;
        Some((own.into(), *size))
    })
}

impl Table {
    fn wrong(&self, text: &str) -> Failure {
        Failure::Usage(format!("{}: {text}", self.name))
    }
    fn names(&self) -> String {
        let named: Vec<&str> = self.header.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
        named.join(", ")
    }

    /// Which column is which quantity: as it was said (NAME=COLUMN), or by its name.
    fn sources(
        &self,
        map: &[String],
        known: &dyn Fn(&str) -> Option<Unit>,
    ) -> Result<Vec<(String, Source)>, Failure> {
        let mut found: Vec<(String, Source)> = Vec::new();
        for text in map.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            let pair = text.split_once('=').map(|(name, column)| (name.trim(), column.trim()));
            let Some((name, own)) = pair.filter(|(name, own)| !name.is_empty() && !own.is_empty()) else {
                let form = "NAME=COLUMN, the quantity first, as in --map t=time,omega_body_x_deg=gx";
                return Err(Failure::Usage(format!("--map is written {form}; got '{text}'")));
            };
            let Some((quantity, unit)) = meaning(name, known) else {
                let hint = match meaning(own, known) {
                    Some(_) => format!("; the quantity comes first: --map {own}={name}"),
                    None => {
                        "; names are those of `polhode run --out`, with _deg after them for angles".into()
                    }
                };
                return Err(Failure::Usage(format!("--map: there is no quantity '{name}'{hint}")));
            };
            let Some(column) = self.header.iter().position(|column| column == own) else {
                let names = self.names();
                return Err(self.wrong(&format!("--map: there is no column '{own}' (it has {names})")));
            };
            if found.iter().any(|(other, source)| *other == quantity || source.column == column) {
                return Err(Failure::Usage(format!("--map names {quantity} or {own} twice")));
            }
            found.push((quantity, Source { column, unit }));
        }
        let mapped = found.len();
        for (column, name) in self.header.iter().enumerate() {
            let Some((quantity, unit)) = meaning(name, known) else { continue };
            match found.iter().position(|(other, source)| *other == quantity || source.column == column) {
                None => found.push((quantity, Source { column, unit })),
                // What was said comes first.
                Some(said) if said < mapped => {}
                Some(other) => {
                    let other = &self.header[found[other].1.column];
                    let text =
                        format!("the columns {other} and {name} both are {quantity}; choose with --map");
                    return Err(self.wrong(&text));
                }
            }
        }
        Ok(found)
    }

    /// The columns that are known, at the times in column `t`. A row without a time, or without any number, is left out.
    pub fn measured(
        &self,
        map: &[String],
        known: &dyn Fn(&str) -> Option<Unit>,
    ) -> Result<Measured, Failure> {
        let mut sources = self.sources(map, known)?;
        let Some(time) = sources.iter().position(|(name, _)| name == "t") else {
            let alike = |name: &&String| {
                matches!(name.to_lowercase().as_str(), "t" | "time" | "timestamp" | "time_s" | "seconds")
            };
            let alike = self.header.iter().find(alike);
            let hint = alike.map_or(String::new(), |name| format!("; --map t={name} if it is that"));
            let names = self.names();
            return Err(self.wrong(&format!("there is no column t for the time in s{hint} (it has {names})")));
        };
        let used: Vec<usize> = sources.iter().map(|(_, source)| source.column).collect();
        let unused = self.header.iter().enumerate().filter(|(i, name)| !used.contains(i) && !name.is_empty());
        let others = unused.map(|(_, name)| name.clone()).collect();
        let (_, time) = sources.remove(time);
        // In the order of the file, whatever was said first.
        sources.sort_by_key(|(_, source)| source.column);

        let mut times = self.numbers(&time)?;
        let mut lines: Vec<usize> = self.rows.iter().map(|(line, _)| *line).collect();
        let mut columns = Vec::new();
        for (name, source) in &sources {
            columns.push((name.clone(), self.numbers(source)?));
        }
        let mut gaps = Vec::new();
        let timeless: Vec<bool> = times.iter().map(|t| t.is_nan()).collect();
        let filled = |i: usize| columns.is_empty() || columns.iter().any(|(_, x)| !x[i].is_nan());
        let empty: Vec<bool> = (0..times.len()).map(|i| !timeless[i] && !filled(i)).collect();
        for (what, gone) in [("without a time", &timeless), ("without a number", &empty)] {
            let at: Vec<usize> = lines.iter().zip(gone).filter(|(_, gone)| **gone).map(|(l, _)| *l).collect();
            if !at.is_empty() {
                gaps.push(left_out(&format!("row {what}"), &format!("rows {what}"), &at));
            }
        }
        let stays: Vec<bool> = timeless.iter().zip(&empty).map(|(a, b)| !a && !b).collect();
        for list in core::iter::once(&mut times).chain(columns.iter_mut().map(|(_, x)| x)) {
            let mut stays = stays.iter();
            list.retain(|_| stays.next() == Some(&true));
        }
        let mut stay = stays.iter();
        lines.retain(|_| stay.next() == Some(&true));
        if let Some(i) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
            let ([before, t], line) = ([times[i], times[i + 1]].map(print::plain), lines[i + 1]);
            let name = &self.header[time.column];
            let text = format!("line {line}, column {name}: {t} s is not after {before} s; times must grow");
            return Err(self.wrong(&text));
        }
        for (name, values) in &columns {
            let at: Vec<usize> =
                values.iter().zip(&lines).filter(|(x, _)| x.is_nan()).map(|(_, l)| *l).collect();
            if !at.is_empty() && at.len() < values.len() {
                gaps.push(left_out(&format!("cell of {name}"), &format!("cells of {name}"), &at));
            }
        }
        Ok(Measured { times, columns, lines, others, gaps })
    }

    fn numbers(&self, source: &Source) -> Result<Vec<f64>, Failure> {
        let name = &self.header[source.column];
        let number = |(line, cells): &(usize, Vec<String>)| match self.number(&cells[source.column]) {
            // Not by one, which would be another number for the last digit of none.
            Ok(x) => Ok(if source.unit == 1.0 { x } else { x * source.unit }),
            Err(what) => Err(self
                .wrong(&format!("line {line}, column {name}: {what}; correct it, or leave the cell empty"))),
        };
        self.rows.iter().map(number).collect()
    }
}
