//! Tables of numbers over time in files beside the model.

use super::formulas::Series;
use super::place::{Fault, Span};
use super::table::Table;
use crate::lookup::{nearest, not_finite, plain};
use std::sync::Arc;

/// Reads a file beside the model by the path in it, or says why not.
pub type Loader<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// The files that a model asks for.
pub(super) struct Tables<'a> {
    pub(super) load: &'a Loader<'a>,
}

impl Tables<'_> {
    /// The three columns that a table names.
    pub(super) fn read(&mut self, table: &Table<'_>, span: &Span) -> Result<Arc<Series>, Fault> {
        let need = |key: &str| Fault::new(span, format!("the table needs `{key}`"));
        let (path, at) = table.text("table")?.ok_or_else(|| need("table"))?;
        let (time, time_at) = table.text("time")?.unwrap_or(("t".into(), span.clone()));
        let columns = table.entry("columns").ok_or_else(|| need("columns"))?.names(3)?;
        let text = (self.load)(&path).map_err(|why| Fault::new(&at, why))?;
        let (header, rows) = cells(&text).map_err(|why| Fault::new(&at, format!("{path}: {why}")))?;
        let find = |name: &str, span: &Span| {
            header.iter().position(|column| column == name).ok_or_else(|| {
                let near = nearest(name, header.iter().map(String::as_str));
                let hint = match near.is_empty() {
                    true => format!(" (it has {})", header.join(", ")),
                    false => format!("; did you mean {}?", near.join(" or ")),
                };
                Fault::new(span, format!("{path} has no column '{name}'{hint}"))
            })
        };
        let time = find(&time, &time_at)?;
        let mut places = [0; 3];
        for (place, (name, span)) in places.iter_mut().zip(&columns) {
            *place = find(name, span)?;
        }
        let mut series = Series { times: Vec::new(), rows: Vec::new() };
        for (line, row) in rows {
            let number = |column: usize| {
                let text = &row[column];
                match text.parse::<f64>() {
                    Ok(x) if x.is_finite() => Ok(x),
                    _ => {
                        let what = not_finite(text);
                        let message = format!("{path}: line {line}, column {}: '{text}' is {what}", header[column]);
                        Err(Fault::new(&at, message))
                    }
                }
            };
            let t = number(time)?;
            if let Some(last) = series.times.last().filter(|last| **last >= t) {
                let [t, last] = [t, *last].map(plain);
                return Err(Fault::new(&at, format!("{path}: line {line}: the time {t} does not come after {last}")));
            }
            series.times.push(t);
            series.rows.push([number(places[0])?, number(places[1])?, number(places[2])?]);
        }
        if series.times.len() < 2 {
            return Err(Fault::new(&at, format!("{path}: a table needs at least two rows")));
        }
        if series.times[0] > 0.0 {
            let first = plain(series.times[0]);
            return Err(Fault::new(&at, format!("{path}: the first row is at t = {first}, after the start at t = 0")));
        }
        Ok(Arc::new(series))
    }
}

/// A header and rows of cells, each with its line.
type Cells = (Vec<String>, Vec<(usize, Vec<String>)>);

/// The header and the rows of a CSV file, separated by commas, semicolons or tabs; lines that begin with # are skipped.
fn cells(text: &str) -> Result<Cells, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line))
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let (_, first) = lines.next().ok_or("the file is empty; it needs a header and rows")?;
    let separator = [',', ';', '\t'].into_iter().find(|mark| first.contains(*mark)).unwrap_or(',');
    let split = |line: &str| -> Vec<String> {
        line.split(separator).map(|cell| cell.trim().trim_matches('"').trim().to_string()).collect()
    };
    let header = split(first);
    let mut rows = Vec::new();
    for (number, line) in lines {
        let row = split(line);
        if row.len() != header.len() {
            return Err(format!("line {number} has {} cells for {} columns", row.len(), header.len()));
        }
        rows.push((number, row));
    }
    Ok((header, rows))
}
