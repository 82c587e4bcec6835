//! What a run leaves behind beside its summary: rows in a file, a plot, a page. All are taken as steps come.

use super::metadata;
use super::spool::{Spool, Waited};
use crate::args::RunOptions;
use crate::failure::Failure;
use crate::files::{self, Format, Kept, NewFile, Output};
use crate::plot::{Sketch, Wish};
use crate::progress::Progress;
use crate::report::{Page, scene};
use crate::table::{Frame, Head, Kind, Pose, Stream, chosen};
use crate::{interrupt, print};
use polhode::method::Method;
use polhode::problem::{Model, Problem, RunReport};
use polhode::run::{Plan, Run};
use serde_json::Value;
use std::path::{Path, PathBuf};

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

/// The files that are to be written, opened so that a name that does not do is known before any work is done.
#[derive(Debug)]
pub struct Files {
    out: Option<Output>,
    plot: Option<NewFile>,
    report: Option<NewFile>,
}

impl Files {
    /// As it was asked for.
    pub fn open(options: &RunOptions, until: f64) -> Result<Files, Failure> {
        let given = [
            ("--every", options.every.is_some()),
            ("--between", options.between.is_some()),
            ("--columns", !options.columns.is_empty()),
        ];
        let any = options.out.is_some() || options.plot.is_some() || options.report.is_some();
        for (option, _) in given.iter().filter(|(_, given)| *given) {
            if !any || (*option == "--columns" && options.out.is_none()) {
                return Err(Failure::Usage(format!("{option} is for what is written; give --out FILE too")));
            }
        }
        if (options.checkpoint.is_some() || options.resume.is_some())
            && options.out.as_deref().is_some_and(|path| path.as_os_str() == "-")
        {
            return Err(Failure::Usage(
                "--checkpoint and --resume: rows that went to standard output cannot be taken back; give --out the name of \
                 a file"
                    .into(),
            ));
        }
        if options.between.is_some_and(|(from, to)| from > until || to < 0.0) {
            let until = print::plain(until);
            let text =
                format!("--between: the run goes from 0 to {until} s, and has no rows between these times");
            return Err(Failure::Usage(text));
        }
        let file = |name: &Option<PathBuf>, format| {
            name.as_deref().map(|path| NewFile::create(path, format)).transpose()
        };
        Ok(Files {
            out: options
                .out
                .as_deref()
                .map(|path| Output::of(path, Format::Results, options.json))
                .transpose()?,
            plot: file(&options.plot, Format::Plot)?,
            report: file(&options.report, Format::Html)?,
        })
    }
}

impl Files {
    /// Where they will be.
    fn places(&self) -> impl Iterator<Item = &Path> {
        let drawn = self.plot.iter().chain(&self.report).map(NewFile::place);
        self.out.iter().filter_map(Output::place).chain(drawn)
    }
    /// Where the first of them will be.
    pub fn first(&self) -> Option<&Path> {
        self.places().next()
    }
}

/// Takes every n-th snapshot, and the last.
pub struct Record<'a> {
    setting: Setting<'a>,
    options: &'a RunOptions,
    files: Files,
    /// True if anything is written, and where.
    wanted: bool,
    places: Vec<PathBuf>,
    every: u64,
    /// The times between which rows are taken.
    between: (f64, f64),
    heads: Vec<Head>,
    row: Vec<f64>,
    /// True if something is to be seen in them that follows from forces.
    needs_forces: bool,
    /// A number that tells the model from others.
    hash: Option<u64>,
    scene: Value,
    /// The table, from the first state on; its file is one of those above until then.
    table: Option<Stream>,
    chosen: Vec<usize>,
    sketch: Option<Sketch>,
    page: Option<Page>,
    /// Rows that wait for the end of the run, of one that may be put aside.
    spool: Option<Spool>,
    kept: Option<Kept>,
    /// The step of the last row, and the Newton iterations up to it.
    before: (u64, u64),
}

impl<'a> Record<'a> {
    /// Of a run.
    pub fn new(files: Files, kept: Option<Kept>, options: &'a RunOptions, setting: Setting<'a>) -> Self {
        // Times of steps are rounded.
        let grain = 1e-9 * setting.plan.step();
        let between = options.between.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        Record {
            setting,
            options,
            wanted: files.out.is_some() || files.plot.is_some() || files.report.is_some(),
            places: files.places().map(Path::to_path_buf).collect(),
            files,
            every: options.every.or(setting.problem.every).unwrap_or(1),
            between: (between.0 - grain, between.1 + grain),
            heads: Vec::new(),
            row: Vec::new(),
            needs_forces: true,
            hash: None,
            scene: Value::Null,
            table: None,
            chosen: Vec::new(),
            sketch: None,
            page: None,
            spool: None,
            kept,
            before: (0, 0),
        }
    }
    /// True if step `n`, which ends at a time, has a row: it is its turn, or it is the last.
    #[inline]
    pub fn due(&self, n: u64, t: f64, last: bool) -> bool {
        self.wanted
            && (self.every == 1 || last || n.is_multiple_of(self.every) || n == self.setting.plan.steps())
            && t >= self.between.0
            && t <= self.between.1
    }
    /// The file in which rows wait.
    pub fn kept(&mut self) -> Option<&mut Kept> {
        self.spool.as_mut().map(Spool::kept)
    }
    /// Looks at the first state that is seen: which columns there are. Of a run that goes on that is not its start, which
    /// is the first row of those that wait.
    pub fn begin(&mut self, run: &mut dyn Run, goes_on: bool) -> Result<(), Failure> {
        if !self.wanted {
            return Ok(());
        }
        let start = run.snapshot();
        self.heads = Head::all(&start);
        start.row(&mut self.row);
        self.hash = run.save().ok().map(|saved| saved.model);
        self.scene = scene(self.setting.model);
        let (options, heads) = (self.options, &self.heads);
        // Poses are messages of their own, whatever columns are chosen.
        let mut all = false;
        if let Some(file) = self.files.out.take() {
            self.chosen = match options.columns.is_empty() {
                true => (0..heads.len()).collect(),
                // Rows without their time are of no use.
                false => {
                    let named = chosen(heads, &options.columns, "--columns")?;
                    core::iter::once(0).chain(named.into_iter().filter(|c| *c > 0)).collect()
                }
            };
            let names: Vec<String> = self.chosen.iter().map(|c| heads[*c].name.clone()).collect();
            let kind = options.out.as_deref().and_then(Kind::of).unwrap_or(Kind::Csv);
            if kind == Kind::Npz && names.iter().any(|name| name == "metadata") {
                return Err(Failure::Usage(
                    "NPZ files have what is said of the whole under the name metadata; give that output another name"
                        .into(),
                ));
            }
            let bodies = self.setting.model.system().bodies();
            let frames = bodies.iter().enumerate().filter_map(|(b, body)| {
                Some(Frame { name: body.name.clone(), pose: Pose::of(heads, b, bodies.len())? })
            });
            let rows = kind.rows(&names, frames.collect());
            self.table = Some(Stream::new(file, rows, heads.len(), self.chosen.clone()).beside());
            all = kind == Kind::Mcap;
        }
        let drawn = self.files.plot.is_some() || self.files.report.is_some();
        // Rows of one body by itself are without them.
        if start.names.is_some() && !drawn && !all {
            let columns = start.columns();
            self.needs_forces = self.chosen.iter().any(|c| run.needs_forces(&columns[*c].item));
        }
        if let Some(kept) = self.kept.take() {
            let stored = if all || drawn { (0..heads.len()).collect() } else { self.chosen.clone() };
            let mut spool = Spool::new(kept, stored);
            if goes_on {
                let row = &mut self.row;
                spool.each(heads.len(), &mut |first| {
                    row.copy_from_slice(first.row);
                    Ok(false)
                })?;
            } else {
                spool.put(0, 0, &self.row)?;
            }
            self.spool = Some(spool);
        }
        if self.files.plot.is_some() {
            let (sets, columns) = (&options.plot_set[..], &options.plot_columns[..]);
            let wish = Wish { sets, columns, against: options.plot_against.as_deref() };
            self.sketch = Some(Sketch::new(&wish, heads, &self.row)?);
        }
        if self.files.report.is_some() {
            let page = Page::new(heads, &self.row, &self.scene, true);
            let missing = |body| Failure::Usage(format!("--report: the attitude of '{body}' is not known"));
            self.page = Some(page.map_err(missing)?);
        }
        Ok(())
    }
    /// Takes a row after step `n`.
    pub fn take(&mut self, n: u64, run: &dyn Run) -> Result<(), Failure> {
        self.row.clear();
        match self.needs_forces {
            true => run.row(&mut self.row),
            false => run.motion().row(&mut self.row),
        }
        let iterations = if self.page.is_some() { run.work().iterations } else { 0 };
        match &mut self.spool {
            Some(spool) => spool.put(n, iterations, &self.row),
            None => self.show(n, iterations),
        }
    }
    /// Hands the row to all who want it.
    fn show(&mut self, n: u64, iterations: u64) -> Result<(), Failure> {
        if let Some(table) = &mut self.table {
            table.row(&self.row)?;
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.take(&self.row);
        }
        if let Some(page) = &mut self.page {
            let steps = (n - self.before.0) as f64;
            // Nothing is solved before the first step.
            self.row.push(if n > 0 { (iterations - self.before.1) as f64 / steps } else { f64::NAN });
            self.before = (n, iterations);
            page.take(&self.row);
        }
        Ok(())
    }
    /// Hands on the rows that wait.
    fn show_all(&mut self, finished: bool) -> Result<Option<Kept>, Failure> {
        let Some(mut spool) = self.spool.take() else { return Ok(None) };
        let mut progress = Progress::new(self.setting.plan.steps());
        // The first is the start, which has a row of its own where one was due.
        let mut start = true;
        let shown = spool.each(self.heads.len(), &mut |Waited { step: n, iterations, row }| {
            if !core::mem::take(&mut start) {
                self.row.clear();
                self.row.extend_from_slice(row);
                self.show(n, iterations)?;
            }
            progress.at(n, || "writing".into());
            // A run that was stopped has its rows so far.
            match finished && interrupt::asked() {
                true => Err(Failure::Interrupted(
                    "stopped while the rows were written; the checkpoint is kept".into(),
                )),
                false => Ok(true),
            }
        });
        progress.clear();
        shown.map(|()| Some(spool.into_kept()))
    }
    /// What is to be known of the file with the table, if there is one.
    fn out<T>(&self, what: impl FnOnce(&Output) -> T) -> Option<T> {
        match &self.table {
            Some(table) => Some(table.ask(what)),
            None => self.files.out.as_ref().map(what),
        }
    }
    /// What to say of rows that are not wanted because the run failed.
    pub fn dropped(&self) -> String {
        self.out(Output::dropped).unwrap_or_default()
    }
    /// True if a table takes the place of other results on standard output.
    pub fn is_standard(&self) -> bool {
        self.out(Output::is_standard).unwrap_or_default()
    }
    /// What to say of a run that was stopped.
    pub fn so_far(&self) -> String {
        self.out(|file| format!("; the rows so far are in {}", file.name())).unwrap_or_default()
    }
    /// Puts everything in its place. Rows that waited are of no use when the checkpoint is gone.
    pub fn finish(mut self, end: &RunReport) -> Result<Option<Kept>, Failure> {
        if !self.wanted {
            return Ok(None);
        }
        let kept = self.show_all(end.finished)?;
        let Setting { problem, method, plan, .. } = self.setting;
        let heads: Vec<&Head> = match self.table {
            Some(_) => self.chosen.iter().map(|c| &self.heads[*c]).collect(),
            None => self.heads.iter().collect(),
        };
        let metadata = metadata::metadata(&self.setting, self.hash, self.every, &heads, &self.scene, end);
        if let Some(table) = self.table {
            table.finish(&metadata)?;
        }
        if let (Some(file), Some(sketch)) = (self.files.plot, &self.sketch) {
            let title = if problem.title.is_empty() { &problem.id } else { &problem.title };
            let below = format!("{}, {}, step {} s", problem.id, method.id(), print::plain(plan.step()));
            sketch.drawing(title, &below).write(file)?;
        }
        if let (Some(file), Some(page)) = (self.files.report, &self.page) {
            file.write(page.html(&metadata).as_bytes())?;
        }
        // Their names are safe before the checkpoint goes.
        for place in self.places.iter().filter(|_| kept.is_some()) {
            let settled = files::settle(place);
            settled.map_err(|error| Failure::Usage(format!("cannot write {}: {error}", place.display())))?;
        }
        Ok(kept)
    }
}
