//! Measured motions from CSV files.

use crate::failure::Failure;
use crate::{args, files, print};
use polhode::identify::Samples;
use std::path::Path;

/// The most that is read, in bytes: some million rows, far more than a fit can use.
const LARGEST: u64 = 256 << 20;

/// A file as cells, each row with its line.
pub struct Table {
    name: String,
    header: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

/// Without blanks and quotes around it.
fn cell(text: &str) -> String {
    let text = text.trim();
    text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text).trim().into()
}

impl Table {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Table, Failure> {
        Table::parse(&path.display().to_string(), files::read(path, "data", LARGEST)?)
    }

    /// Reads the bytes of a file: a header, and rows with as many cells.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Table, Failure> {
        let wrong = |text: String| Failure::Usage(format!("{name}: {text}"));
        let text =
            String::from_utf8(bytes).map_err(|_| wrong("it is not text; the data are a CSV file".into()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).trim_end();
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        let header: Vec<String> = match lines.next() {
            Some((_, line)) if !line.trim().is_empty() => line.split(',').map(cell).collect(),
            _ if text.is_empty() => {
                return Err(wrong("the file is empty; it needs a header and rows".into()));
            }
            _ => return Err(wrong("line 1 is empty; the names of the columns stand there".into())),
        };
        let first = text.lines().next().unwrap_or("");
        if first.trim_start().starts_with('#') {
            return Err(wrong("line 1 is a comment; remove it, the names of the columns stand there".into()));
        }
        let separated = |mark: char| !first.contains(',') && first.contains(mark);
        let other = match first {
            _ if separated(';') => Some("semicolons and no comma"),
            _ if separated('\t') => Some("tabs and no comma"),
            _ if first.contains('\r') => Some("carriage returns in it"),
            _ => None,
        };
        if let Some(found) = other {
            let text =
                format!("line 1 has {found}; cells are separated by commas, and lines end in a line feed");
            return Err(wrong(text));
        }
        for (i, column) in header.iter().enumerate() {
            if column.is_empty() {
                return Err(wrong(format!("line 1: column {} has no name", i + 1)));
            }
            if header[..i].contains(column) {
                return Err(wrong(format!("line 1: there are two columns {column}; rename or remove one")));
            }
        }
        let mut rows = Vec::new();
        for (line, text) in lines {
            if text.trim().is_empty() {
                return Err(wrong(format!("line {line} is empty; remove it")));
            }
            let cells: Vec<String> = text.split(',').map(cell).collect();
            if cells.len() != header.len() {
                let few = if cells.len() < header.len() { "too few" } else { "too many" };
                return Err(wrong(format!(
                    "line {line} has {few} cells: {} for {} columns",
                    cells.len(),
                    header.len()
                )));
            }
            rows.push((line, cells));
        }
        Ok(Table { name: name.into(), header, rows })
    }

    /// The columns that are wanted as numbers, at the times in column `t`, and the names of the others.
    pub fn samples(&self, wanted: &dyn Fn(&str) -> bool) -> Result<(Samples, Vec<String>), Failure> {
        let wrong = |text: String| Failure::Usage(format!("{}: {text}", self.name));
        let Some(time) = self.header.iter().position(|name| name == "t") else {
            let names = self.header.join(", ");
            let alike = self.header.iter().find(|name| matches!(name.to_lowercase().as_str(), "t" | "time"));
            let hint = alike.map_or(String::new(), |name| format!("; rename '{name}' to t if it is that"));
            return Err(wrong(format!("there is no column t for the time in s{hint} (it has {names})")));
        };
        if self.rows.len() < 2 {
            let found = self.rows.len();
            return Err(wrong(format!("there are too few samples: {found}, at least 2 are needed")));
        }
        let times = self.numbers(time)?;
        for (i, pair) in times.windows(2).enumerate() {
            if pair[1] <= pair[0] {
                let line = self.rows[i + 1].0;
                let [before, t] = [pair[0], pair[1]].map(print::plain);
                return Err(wrong(format!(
                    "line {line}, column t: {t} is not after {before}; times must grow"
                )));
            }
        }
        if times[0] < 0.0 {
            let text = format!(
                "line {}, column t: {} is before the start of the motion at t = 0",
                self.rows[0].0,
                print::plain(times[0])
            );
            return Err(wrong(text));
        }
        let (mut columns, mut others) = (Vec::new(), Vec::new());
        for (i, name) in self.header.iter().enumerate().filter(|(i, _)| *i != time) {
            match wanted(name) {
                true => columns.push((name.clone(), self.numbers(i)?)),
                false => others.push(name.clone()),
            }
        }
        let samples = Samples::new(times, columns).map_err(|error| wrong(error.to_string()))?;
        Ok((samples, others))
    }

    fn numbers(&self, column: usize) -> Result<Vec<f64>, Failure> {
        let name = &self.header[column];
        let number = |(line, cells): &(usize, Vec<String>)| {
            let text = &cells[column];
            let wrong =
                |what: String| Failure::Usage(format!("{}: line {line}, column {name}: {what}", self.name));
            match args::number(text) {
                _ if text.is_empty() => {
                    Err(wrong("the cell is empty; fill the gap, or remove the row or the column".into()))
                }
                Ok(x) if x.is_finite() => Ok(x),
                Ok(_) => Err(wrong(format!("{text} is not a finite number; remove the row or the column"))),
                Err(why) => Err(wrong(format!("'{text}' is {why}; remove the row or the column"))),
            }
        };
        self.rows.iter().map(number).collect()
    }
}
