//! Tables of numbers over time in files beside the model.

use super::formulas::Series;
use super::place::{Fault, Span};
use super::table::Table;
use crate::lookup::{nearest, plain};
use std::sync::Arc;

/// A table of numbers, as a file beside a model has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableFile {
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its rows, each with its line in the file and a number for each column, NaN where a cell is empty or not a number.
    pub rows: Vec<(usize, Vec<f64>)>,
}

/// Reads a table beside the model by the path in it, or says why not.
pub type Loader<'a> = dyn Fn(&str) -> Result<TableFile, String> + 'a;

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
        let TableFile { header, rows } = (self.load)(&path).map_err(|why| Fault::new(&at, why))?;
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
            let number = |column: usize| match row.get(column) {
                Some(x) if x.is_finite() => Ok(*x),
                _ => {
                    let message =
                        format!("{path}: line {line}, column {}: there is no finite number", header[column]);
                    Err(Fault::new(&at, message))
                }
            };
            let t = number(time)?;
            if let Some(last) = series.times.last().filter(|last| **last >= t) {
                let [t, last] = [t, *last].map(plain);
                return Err(Fault::new(
                    &at,
                    format!("{path}: line {line}: the time {t} does not come after {last}"),
                ));
            }
            series.times.push(t);
            series.rows.push([number(places[0])?, number(places[1])?, number(places[2])?]);
        }
        if series.times.len() < 2 {
            return Err(Fault::new(&at, format!("{path}: a table needs at least two rows")));
        }
        if series.times[0] > 0.0 {
            let first = plain(series.times[0]);
            return Err(Fault::new(
                &at,
                format!("{path}: the first row is at t = {first}, after the start at t = 0"),
            ));
        }
        Ok(Arc::new(series))
    }
}
