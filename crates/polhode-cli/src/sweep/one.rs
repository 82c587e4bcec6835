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
use polhode::run::{Run, Watched, drive};
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

/// The result of some work, or what it panicked with.
fn isolated<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let before = INSIDE.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(before);
    done.unwrap_or_else(|what| {
        let text = what.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| what.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("no reason was given")))
    })
}

/// How many steps there are from one look at the clock to the next.
const STRIDE: u64 = 8;

impl Plan {
    /// The row of run `k`.
    fn row(&self, k: u64) -> Result<Row, Halt> {
        let mut values = self.values(k);
        let mut halt = None;
        let done = isolated(|| self.kept(k, &values, &mut halt));
        if let Some(halt) = halt {
            return Err(halt);
        }
        let reason = match done {
            Ok(kept) => {
                values.extend(kept);
                String::new()
            }
            Err(reason) => shortened(&reason),
        };
        values.resize(self.width(), f64::NAN);
        Ok(Row { values, reason })
    }

    /// What is kept of run `k`, or why there is nothing.
    fn kept(&self, k: u64, values: &[f64], halt: &mut Option<Halt>) -> Result<Vec<f64>, String> {
        let problem = self.problem.with(&self.setters, values).map_err(|error| format!("model: {error}"))?;
        let model = problem.model().map_err(|error| format!("model: {}", error.reason))?;
        let mut run = model.watched(&self.method).map_err(|failure| format!("solver: {failure}"))?;
        let mut gather = Gather::new(&self.keep);
        let mut motion = match &self.trajectories {
            Some((folder, every)) => {
                let file = folder.join(format!("run-{k}.parquet"));
                match Motion::new(&file, *every, &run) {
                    Ok(motion) => Some(motion),
                    Err(failure) => {
                        *halt = Some(Halt::Failed(failure));
                        return Err(String::new());
                    }
                }
            }
            None => None,
        };
        let limit = self.limit.map(|seconds| (seconds, Instant::now() + Duration::from_secs_f64(seconds)));
        let (mut late, steps) = (false, self.steps.steps());
        let mut observer = |n: u64, run: &mut Watched| {
            if interrupt::asked() {
                *halt = Some(Halt::Asked);
                return ControlFlow::Break(());
            }
            late = limit.is_some_and(|(_, end)| n.is_multiple_of(STRIDE) && Instant::now() > end);
            if late {
                return ControlFlow::Break(());
            }
            gather.step(run);
            if let Some(motion) = &mut motion
                && let Err(failure) = motion.take(n, n == steps || run.ended(), run)
            {
                *halt = Some(Halt::Failed(failure));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let ended = drive(&mut run, &self.steps, &mut observer);
        if halt.is_some() {
            return Err(String::new());
        }
        let end = ended.map_err(|failure| format!("solver: {failure}"))?;
        if let (true, Some((seconds, _))) = (late, limit) {
            // How far it came would not be the same twice.
            return Err(format!("limit: it took longer than {} s", plain(seconds)));
        }
        if let Some(motion) = motion
            && let Err(failure) = motion.table.finish(self.about())
        {
            *halt = Some(Halt::Failed(failure));
            return Err(String::new());
        }
        Ok(gather.finish(&run, &end))
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
            for k in runs {
                draft.row(&self.row(k)?).map_err(trouble)?;
                if !done() {
                    return Err(Halt::Asked);
                }
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
                let k = next.fetch_add(1, Ordering::Relaxed);
                if k >= runs.end {
                    break;
                }
                let row = self.row(k).and_then(|row| if done() { Ok(row) } else { Err(Halt::Asked) });
                match row {
                    Ok(row) => own.push((k, row)),
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
    fn take(&mut self, n: u64, last: bool, run: &Watched) -> Result<(), Failure> {
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
        let row = isolated(|| Ok(thing[std::hint::black_box(3)]));
        assert_eq!(row, Err("panic: index out of bounds: the len is 0 but the index is 3".into()));
        assert_eq!(isolated(|| Ok(5)), Ok(5));
        assert_eq!(isolated::<()>(|| panic!("so")), Err("panic: so".into()));
    }
}
