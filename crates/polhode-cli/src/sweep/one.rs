//! One run of a sweep, which becomes a row whatever happens to it.

use super::chunk::{Draft, Row, shortened};
use super::keep::Gather;
use super::plan::Plan;
use crate::failure::Failure;
use crate::files::{self, Format, Output};
use crate::interrupt;
use crate::print::plain;
use crate::table;
use core::cell::Cell;
use core::ops::ControlFlow;
use polhode::run::{ABREAST, Run, RunFailure, RunReport, Watched, drive, drive_abreast};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Why a run has no row yet.
#[derive(Debug)]
pub enum Halt {
    /// Somebody has asked to stop.
    Asked,
    /// Something is wrong beyond this run.
    Failed(Failure),
}

thread_local! {
    /// True while a run is computed, whose panics are rows.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// From now on a panic inside of a run says nothing: it is told in its row.
pub fn quiet_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| {
        if !INSIDE.get() {
            usual(what);
        }
    }));
}

/// Why there is nothing to be kept of a run.
#[derive(Debug)]
enum Trouble {
    /// Its row says so.
    Reason(String),
    /// Nobody has a row any more.
    Halt(Halt),
}

impl From<String> for Trouble {
    fn from(reason: String) -> Self {
        Trouble::Reason(reason)
    }
}

impl From<Halt> for Trouble {
    fn from(halt: Halt) -> Self {
        Trouble::Halt(halt)
    }
}

/// The result of some work, or what it panicked with.
fn isolated<T, E: From<String>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let before = INSIDE.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(before);
    done.unwrap_or_else(|what| {
        let text = what.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| what.downcast_ref::<&str>().copied());
        Err(E::from(format!("panic: {}", text.unwrap_or("no reason was given"))))
    })
}

/// How often a run is seen from one look at the clock to the next.
const STRIDE: u64 = 8;
/// The most steps that it goes without being seen.
const UNSEEN: u64 = 1000;

/// What is seen of one run.
struct Seen<'a> {
    plan: &'a Plan,
    gather: Gather<'a>,
    motion: Option<Motion>,
    limit: Option<(f64, Instant)>,
    /// How often it was.
    looks: u64,
    /// It has taken too long.
    late: bool,
    halt: Option<Halt>,
}

impl<'a> Seen<'a> {
    /// Of run `k` of a plan, which is at its start.
    fn new(plan: &'a Plan, k: u64, run: &Watched) -> Result<Self, Halt> {
        let motion = plan.trajectories.as_ref().map(|(folder, every)| {
            Motion::new(&folder.join(format!("run-{k}.parquet")), *every, run).map_err(Halt::Failed)
        });
        let limit = plan.limit.map(|seconds| (seconds, Instant::now() + Duration::from_secs_f64(seconds)));
        let gather = Gather::new(&plan.keep);
        Ok(Seen { plan, gather, motion: motion.transpose()?, limit, looks: 0, late: false, halt: None })
    }
    /// After step `n`.
    fn step(&mut self, n: u64, run: &mut dyn Run) -> ControlFlow<()> {
        if interrupt::asked() {
            self.halt = Some(Halt::Asked);
            return ControlFlow::Break(());
        }
        let is_due = self.looks.is_multiple_of(STRIDE);
        self.looks += 1;
        self.late = self.limit.is_some_and(|(_, end)| is_due && Instant::now() > end);
        if self.late {
            return ControlFlow::Break(());
        }
        let steps = &self.plan.steps;
        self.gather.step(run, steps.time(n.saturating_sub(1)));
        if let Some(motion) = &mut self.motion
            && let Err(failure) = motion.take(n, n == steps.steps() || run.ended(), run)
        {
            self.halt = Some(Halt::Failed(failure));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
    /// What is kept of it when it has ended.
    fn finish(self, run: &Watched, ended: Result<RunReport, RunFailure>) -> Result<Vec<f64>, Trouble> {
        if let Some(halt) = self.halt {
            return Err(halt.into());
        }
        let end = ended.map_err(|failure| format!("solver: {failure}"))?;
        if let (true, Some((seconds, _))) = (self.late, self.limit) {
            // How far it came would not be the same twice.
            return Err(format!("limit: it took longer than {} s", plain(seconds)).into());
        }
        if let Some(motion) = self.motion {
            motion.table.finish(self.plan.about()).map_err(Halt::Failed)?;
        }
        Ok(self.gather.finish(run, &end))
    }
}

impl Plan {
    /// A run with these values, at its start.
    fn begun(&self, values: &[f64]) -> Result<Watched, String> {
        let problem = self.problem.with(&self.setters, values).map_err(|error| format!("model: {error}"))?;
        let model = problem.model().map_err(|error| format!("model: {}", error.reason))?;
        model.watched(&self.method).map_err(|failure| format!("solver: {failure}"))
    }

    /// The row of a run with these values, of which that is kept.
    fn row_of(&self, mut values: Vec<f64>, kept: Result<Vec<f64>, Trouble>) -> Result<Row, Halt> {
        let reason = match kept {
            Ok(kept) => {
                values.extend(kept);
                String::new()
            }
            Err(Trouble::Reason(reason)) => shortened(&reason),
            Err(Trouble::Halt(halt)) => return Err(halt),
        };
        values.resize(self.width(), f64::NAN);
        Ok(Row { values, reason })
    }

    /// The row of run `k`.
    fn row(&self, k: u64) -> Result<Row, Halt> {
        let values = self.values(k);
        let kept = isolated(|| {
            let mut run = self.begun(&values)?;
            let mut seen = Seen::new(self, k, &run)?;
            let ended = drive(&mut run, &self.steps, &mut |n, run| seen.step(n, run));
            seen.finish(&run, ended)
        });
        self.row_of(values, kept)
    }

    /// The rows of four runs side by side; none if one of them is to be looked at by itself.
    fn four(&self, first: u64) -> Result<Option<Vec<Row>>, Halt> {
        let values: [Vec<f64>; ABREAST] = core::array::from_fn(|lane| self.values(first + lane as u64));
        let kept = isolated(|| {
            let [a, b, c, d] = values.each_ref().map(|values| self.begun(values));
            let mut runs = [a?, b?, c?, d?];
            let seen = (first..).zip(&runs).map(|(k, run)| Seen::new(self, k, run));
            let mut seen = seen.collect::<Result<Vec<Seen<'_>>, Halt>>()?;
            let next = |n: u64| match self.trajectories {
                Some(_) => n + 1,
                None => self.keep.next(n, &self.steps).min(n + UNSEEN),
            };
            let each = runs.each_mut().map(|run| run as &mut dyn Run);
            let ended = drive_abreast(each, &self.steps, &next, &mut |lane, n, run| seen[lane].step(n, run));
            if seen.iter().any(|seen| seen.late) {
                return Err("the four of them took longer than one may".to_string().into());
            }
            let each = seen.into_iter().zip(&runs).zip(ended);
            Ok(each.map(|((seen, run), ended)| seen.finish(run, ended)).collect::<Vec<_>>())
        });
        match kept {
            Ok(kept) => {
                let rows = values.into_iter().zip(kept).map(|(values, kept)| self.row_of(values, kept));
                rows.collect::<Result<_, _>>().map(Some)
            }
            Err(Trouble::Reason(_)) => Ok(None),
            Err(Trouble::Halt(halt)) => Err(halt),
        }
    }

    /// How many runs are computed at once.
    pub(super) fn together(&self) -> u64 {
        if self.abreast { ABREAST as u64 } else { 1 }
    }

    /// The rows of at most so many runs.
    fn few(&self, runs: Range<u64>) -> Result<Vec<Row>, Halt> {
        if runs.end - runs.start == ABREAST as u64
            && let Some(rows) = self.four(runs.start)?
        {
            return Ok(rows);
        }
        runs.map(|k| self.row(k)).collect()
    }

    /// Computes some runs into a chunk, which is written under another name and put in its place when it is whole. `done` is
    /// told of each run, and says whether to go on.
    pub fn compute(
        &self,
        runs: Range<u64>,
        path: &Path,
        threads: usize,
        done: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Failure> {
        match self.computed(runs, None, path, threads, done) {
            Ok(()) => Ok(()),
            Err(Halt::Failed(failure)) => Err(failure),
            Err(Halt::Asked) => Err(Failure::Interrupted("stopped".into())),
        }
    }

    /// A chunk of one run that nobody could compute, as one that ends the program has none: its status is the reason.
    pub fn give_up(&self, run: u64, reason: &str, path: &Path) -> Result<(), Failure> {
        if run >= self.runs() {
            let message = format!("there is no run {run}: the plan has {}", self.runs());
            return Err(Failure::Usage(message));
        }
        let mut values = self.values(run);
        values.resize(self.width(), f64::NAN);
        let row = Row { values, reason: shortened(reason) };
        let written = Draft::new(path, &self.head(&(run..run + 1), None)).and_then(|mut draft| {
            draft.row(&row)?;
            draft.finish()
        });
        written.map_err(|error| {
            Failure::Usage(format!("cannot write {}: {}", path.display(), files::reason(&error)))
        })
    }

    /// The same for a part.
    pub(super) fn computed(
        &self,
        runs: Range<u64>,
        part: Option<[u64; 2]>,
        path: &Path,
        threads: usize,
        done: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Halt> {
        if runs.start > runs.end || runs.end > self.runs() {
            return Err(Halt::Failed(Failure::Usage(format!(
                "there are no runs {} to {}: the plan has {}",
                runs.start,
                runs.end,
                self.runs()
            ))));
        }
        let trouble = |error: io::Error| {
            Halt::Failed(Failure::Usage(format!(
                "cannot write {}: {}",
                path.display(),
                files::reason(&error)
            )))
        };
        let mut draft = Draft::new(path, &self.head(&runs, part)).map_err(trouble)?;
        if threads < 2 {
            let mut from = runs.start;
            while from < runs.end {
                let to = runs.end.min(from + self.together());
                for row in self.few(from..to)? {
                    draft.row(&row).map_err(trouble)?;
                    if !done() {
                        return Err(Halt::Asked);
                    }
                }
                from = to;
            }
        } else {
            // In pieces, so that memory stays small and the order is that of the runs.
            let piece = 64 * threads as u64;
            let mut from = runs.start;
            while from < runs.end {
                let to = runs.end.min(from + piece);
                for row in self.rows(from..to, threads, done)? {
                    draft.row(&row).map_err(trouble)?;
                }
                from = to;
            }
        }
        draft.finish().map_err(trouble)
    }

    /// The rows of some runs, by several threads.
    fn rows(
        &self,
        runs: Range<u64>,
        threads: usize,
        done: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Row>, Halt> {
        let (next, stop) = (AtomicU64::new(runs.start), AtomicBool::new(false));
        let mut found: Vec<(u64, Row)> = Vec::new();
        let halted = Mutex::new(None);
        let work = || {
            let mut own = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let k = next.fetch_add(self.together(), Ordering::Relaxed);
                if k >= runs.end {
                    break;
                }
                let few = k..runs.end.min(k + self.together());
                let rows = self.few(few).and_then(|rows| match rows.iter().all(|_| done()) {
                    true => Ok(rows),
                    false => Err(Halt::Asked),
                });
                match rows {
                    Ok(rows) => own.extend((k..).zip(rows)),
                    Err(halt) => {
                        stop.store(true, Ordering::Relaxed);
                        halted.lock().map(|mut place| *place = Some(halt)).unwrap_or(());
                    }
                }
            }
            own
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            found.extend(work());
            workers.into_iter().for_each(|worker| found.extend(worker.join().unwrap_or_default()));
        });
        if let Ok(Some(halt)) = halted.into_inner() {
            return Err(halt);
        }
        found.sort_by_key(|(k, _)| *k);
        if found.len() as u64 != runs.end - runs.start {
            return Err(Halt::Failed(Failure::Solver("a thread has ended before its runs".into())));
        }
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }
}

/// The whole motion of a run on its way into a file, by the thread that computes it: all others have runs of their own.
struct Motion {
    table: table::Stream,
    row: Vec<f64>,
    every: u64,
}

impl Motion {
    fn new(path: &Path, every: u64, run: &Watched) -> Result<Motion, Failure> {
        let columns: Vec<String> = run.snapshot().columns().into_iter().map(|column| column.name).collect();
        let kind = table::Kind::of(path).unwrap_or(table::Kind::Parquet);
        let (rows, all) = (kind.rows(&columns, Vec::new()), (0..columns.len()).collect());
        let file = Output::of(path, Format::Results, false)?;
        Ok(Motion { table: table::Stream::new(file, rows, columns.len(), all), row: Vec::new(), every })
    }
    fn take(&mut self, n: u64, last: bool, run: &dyn Run) -> Result<(), Failure> {
        if !(last || n.is_multiple_of(self.every)) {
            return Ok(());
        }
        self.row.clear();
        run.row(&mut self.row);
        self.table.row(&self.row)
    }
}

/// Counts what several threads have done.
#[derive(Debug, Default)]
pub struct Count(AtomicUsize);

impl Count {
    /// One more; true, to go on.
    pub fn add(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
    /// All of them.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_reason() {
        quiet_panics();
        let thing: Vec<u8> = Vec::new();
        let row = isolated::<_, String>(|| Ok(thing[std::hint::black_box(3)]));
        assert_eq!(row, Err("panic: index out of bounds: the len is 0 but the index is 3".into()));
        assert_eq!(isolated::<_, String>(|| Ok(5)), Ok(5));
        assert_eq!(isolated::<(), String>(|| panic!("so")), Err("panic: so".into()));
    }
}
