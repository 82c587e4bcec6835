//! What a run leaves behind beside its summary: rows in a file, taken as they come.

use super::metadata;
use crate::args::RunOptions;
use crate::failure::Failure;
use crate::files::{Format, Output};
use crate::table::{Choice, Frame, Kind, Poses, Row, Rows};
use polhode::method::Method;
use polhode::problem::{Model, Problem, RunReport};
use polhode::run::{Column, Plan, Run};

/// What is run, for those who tell it.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its model.
    pub model: &'a Model,
    /// The method.
    pub method: &'a Method,
    /// The steps.
    pub plan: &'a Plan,
}

/// Takes every n-th snapshot, and the last.
pub struct Record<'a> {
    setting: Setting<'a>,
    options: &'a RunOptions,
    every: u64,
    /// The times between which rows are taken.
    between: (f64, f64),
    columns: Vec<Column>,
    units: Vec<&'static str>,
    row: Vec<f64>,
    /// A number that tells the model from others.
    hash: Option<u64>,
    table: Option<Table>,
}

/// The rows on their way to a file.
struct Table {
    file: Output,
    kind: Kind,
    rows: Option<Box<dyn Rows>>,
    chosen: Vec<usize>,
}

/// Opens the file for the rows, so that a name that does not do is known before any work is done.
pub fn file(options: &RunOptions) -> Result<Option<Output>, Failure> {
    options.out.as_deref().map(|path| Output::of(path, Format::Results, options.json)).transpose()
}

impl<'a> Record<'a> {
    /// Of a run.
    pub fn new(file: Option<Output>, options: &'a RunOptions, setting: Setting<'a>) -> Self {
        let kind = options.out.as_deref().and_then(Kind::of).unwrap_or(Kind::Csv);
        // Times of steps are rounded.
        let grain = 1e-9 * setting.plan.step();
        let between = options
            .between
            .as_ref()
            .map_or((f64::NEG_INFINITY, f64::INFINITY), |times| (times.0 - grain, times.1 + grain));
        Record {
            setting,
            options,
            every: options.every.or(setting.problem.every).unwrap_or(1),
            between,
            columns: Vec::new(),
            units: Vec::new(),
            row: Vec::new(),
            hash: None,
            table: file.map(|file| Table { file, kind, rows: None, chosen: Vec::new() }),
        }
    }
    /// True if anything is written.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.table.is_some()
    }
    /// True if step `n`, which ends at a time, has a row.
    #[inline]
    pub fn due(&self, n: u64, t: f64) -> bool {
        self.is_wanted()
            && (n.is_multiple_of(self.every) || n == self.setting.plan.steps())
            && t >= self.between.0
            && t <= self.between.1
    }
    /// Looks at the start: which columns there are.
    pub fn begin(&mut self, run: &mut dyn Run) -> Result<(), Failure> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let start = run.snapshot();
        self.columns = start.columns();
        self.units = self.columns.iter().map(|column| metadata::unit(column, &start)).collect();
        let choice = Choice { columns: &self.columns };
        table.chosen = match self.options.columns.is_empty() {
            true => (0..self.columns.len()).collect(),
            false => {
                // Rows without their time are of no use.
                let mut chosen = vec![0];
                chosen.extend(choice.of(&self.options.columns, "--columns")?.into_iter().filter(|c| *c > 0));
                chosen
            }
        };
        let names: Vec<String> = table.chosen.iter().map(|c| self.columns[*c].name.clone()).collect();
        if table.kind == Kind::Npz
            && let Some(name) = names.iter().find(|name| *name == "metadata")
        {
            return Err(Failure::Usage(format!(
                "NPZ files have what is said of the whole under the name {name}; give that output another name"
            )));
        }
        let bodies = self.setting.model.system().bodies();
        let poses = Poses::of(&self.columns, bodies.len());
        let frame =
            |(body, pose): (&polhode::multibody::Rigid<f64>, Poses)| Frame { name: body.name.clone(), pose };
        table.rows = Some(table.kind.rows(&names, bodies.iter().zip(poses).map(frame).collect()));
        self.hash = run.save().ok().map(|saved| saved.model);
        Ok(())
    }
    /// Takes a row.
    pub fn take(&mut self, run: &dyn Run) -> Result<(), Failure> {
        self.row.clear();
        run.snapshot().row(&mut self.row);
        if let Some(Table { file, rows: Some(rows), chosen, .. }) = &mut self.table {
            rows.row(file, &Row { all: &self.row, chosen }).map_err(|error| file.trouble(&error))?;
        }
        Ok(())
    }
    /// What to say of rows that are not wanted because the run failed.
    pub fn dropped(&self) -> String {
        self.table.as_ref().map_or(String::new(), |table| table.file.dropped())
    }
    /// True if a table takes the place of other results on standard output.
    pub fn is_standard(&self) -> bool {
        self.table.as_ref().is_some_and(|table| table.file.is_standard())
    }
    /// What to say of a run that was stopped.
    pub fn so_far(&self) -> String {
        let place = |table: &Table| format!("; the rows so far are in {}", table.file.name());
        self.table.as_ref().map_or(String::new(), place)
    }
    /// Puts everything in its place.
    pub fn finish(self, end: &RunReport) -> Result<(), Failure> {
        let Some(mut table) = self.table else { return Ok(()) };
        if let Some(rows) = &mut table.rows {
            let columns = table.chosen.iter().map(|c| (self.columns[*c].name.as_str(), self.units[*c]));
            let metadata = metadata::metadata(&self.setting, self.hash, self.every, columns, end);
            rows.finish(&mut table.file, &metadata).map_err(|error| table.file.trouble(&error))?;
        }
        table.file.finish()
    }
}
