//! The work of a sweep on one machine: chunks beside the result, computed by several threads, found again and gone on with.

use super::chunk::{Chunk, is_unfinished};
use super::one::{Count, Halt};
use super::plan::Plan;
use crate::failure::Failure;
use crate::files::reason;
use crate::print;
use crate::progress::Progress;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A folder of chunks, which this program alone works in.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// True if nobody can go on with it.
    passing: bool,
    _lock: Option<File>,
}

const LOCK: &str = ".lock";

/// Why there is no such folder.
fn refused(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(format!("cannot use {} for chunks: {}", path.display(), reason(error)))
}

impl Folder {
    /// That of a result: `result.csv.chunks`.
    pub fn of(out: &Path, resume: bool) -> Result<Folder, Failure> {
        let mut name = out.file_name().unwrap_or_default().to_os_string();
        name.push(".chunks");
        let path = out.with_file_name(name);
        let there = fs::read_dir(&path).ok().is_some_and(|mut list| list.any(|entry| entry.is_ok()));
        if there && !resume {
            return Err(Failure::Usage(format!(
                "{} has chunks of a sweep that was not finished: go on with it by --resume, or remove it",
                path.display()
            )));
        }
        Folder::locked(path, false)
    }
    /// One that goes when it is not used any more.
    pub fn passing() -> Result<Folder, Failure> {
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let clock = clock.map_or(0, |since| since.as_nanos());
        let name = format!("polhode-sweep-{}-{clock}", std::process::id());
        Folder::locked(std::env::temp_dir().join(name), true)
    }
    fn locked(path: PathBuf, passing: bool) -> Result<Folder, Failure> {
        fs::create_dir_all(&path).map_err(|error| refused(&path, &error))?;
        let lock = File::create(path.join(LOCK)).map_err(|error| refused(&path, &error))?;
        // Some file systems have no locks.
        if matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Err(Failure::Usage(format!(
                "another sweep is at work in {}; wait for it",
                path.display()
            )));
        }
        Ok(Folder { path, passing, _lock: Some(lock) })
    }
    /// True if nobody can go on with it.
    pub fn is_passing(&self) -> bool {
        self.passing
    }
    /// Its path, for messages.
    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }
    /// The chunks of a plan that are whole, in order and without overlap; all else that is there goes.
    fn found(&self, plan: &Plan) -> Result<Vec<Chunk>, Failure> {
        let (mut found, mut others) = (Vec::new(), 0);
        let entries = fs::read_dir(&self.path).map_err(|error| refused(&self.path, &error))?;
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if name == LOCK {
                continue;
            }
            if is_unfinished(&name) {
                let _ = fs::remove_file(path);
                continue;
            }
            match Chunk::whole(&path) {
                Ok(chunk) if chunk.head.goes_with(&plan.head(&chunk.head.range(), None)) => found.push(chunk),
                _ => {
                    others += 1;
                    let _ = fs::remove_file(path);
                }
            }
        }
        if others > 0 {
            print::note(&format!(
                "{}: {} damaged or of another plan, to be computed again",
                self.shown(),
                if others == 1 { "1 chunk is".to_string() } else { format!("{others} chunks are") }
            ));
        }
        found.sort_by_key(|chunk| (chunk.head.first, u64::MAX - chunk.head.last));
        let mut end = 0;
        found.retain(|chunk| {
            let fits = chunk.head.first >= end;
            if fits {
                end = chunk.head.last;
            } else {
                let _ = fs::remove_file(&chunk.path);
            }
            fits
        });
        Ok(found)
    }
    fn place(&self, runs: &Range<u64>) -> PathBuf {
        self.path.join(format!("{:012}-{:012}.chunk", runs.start, runs.end))
    }
    /// Takes it away with all that is in it.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.passing {
            self.remove();
        }
    }
}

/// What is not covered by chunks that are there, in pieces of at most so many runs.
fn gaps(all: &Range<u64>, there: &[Chunk], size: u64) -> Vec<Range<u64>> {
    let (mut from, mut gaps) = (all.start, Vec::new());
    let ends = there.iter().map(|chunk| chunk.head.range()).chain(core::iter::once(all.end..all.end));
    for chunk in ends {
        while from < chunk.start {
            // Cut at multiples, so that chunks of another try come again.
            let to = chunk.start.min((from / size + 1) * size);
            gaps.push(from..to);
            from = to;
        }
        from = from.max(chunk.end);
    }
    gaps
}

/// What was done.
#[derive(Debug)]
pub struct Done {
    /// The chunks of all runs, in order.
    pub chunks: Vec<Chunk>,
    /// Runs that were computed now.
    pub computed: u64,
    /// How long that took, in s.
    pub seconds: f64,
}

/// How work is to be done.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Runs of a chunk.
    pub chunk: u64,
    /// Threads.
    pub threads: usize,
}

/// Computes some runs of a plan into chunks in a folder; those that are there already are taken.
pub fn work(plan: &Plan, runs: &Range<u64>, folder: &Folder, how: How) -> Result<Done, Failure> {
    let mut chunks = folder.found(plan)?;
    chunks.retain(|chunk| chunk.head.first >= runs.start && chunk.head.last <= runs.end);
    let there: u64 = chunks.iter().map(|chunk| chunk.head.last - chunk.head.first).sum();
    let all = runs.end - runs.start;
    if there > 0 {
        print::note(&format!("{there} of {all} runs are there already"));
    }
    let left = gaps(runs, &chunks, how.chunk);
    let started = Instant::now();
    let (next, count) = (AtomicUsize::new(0), Count::default());
    let mut progress = Progress::new(all - there);
    let mut trouble: Option<Halt> = None;
    // Few chunks are shared out run by run.
    let (workers, inside) = match left.len() < 2 * how.threads {
        true => (1, how.threads),
        false => (how.threads, 1),
    };
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let tell = tell.clone();
            let (next, count, left) = (&next, &count, &left);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(runs) = left.get(at) else { break };
                    let place = folder.place(runs);
                    let made = plan.computed(runs.clone(), None, &place, inside, &|| count.add());
                    let failed = made.is_err();
                    if failed {
                        // The others end with their chunks.
                        next.fetch_add(left.len(), Ordering::Relaxed);
                    }
                    if tell.send(made.map(|()| (place, runs.clone()))).is_err() || failed {
                        break;
                    }
                }
            });
        }
        drop(tell);
        loop {
            match told.recv_timeout(Duration::from_millis(100)) {
                Ok(Ok((path, runs))) => chunks.push(Chunk::of(path, plan.head(&runs, None))),
                Ok(Err(halt)) => {
                    // What is wrong counts more than that somebody has asked.
                    if !matches!((&trouble, &halt), (Some(_), Halt::Asked)) {
                        trouble = Some(halt);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let rate = count.get() as f64 / started.elapsed().as_secs_f64().max(1e-9);
            progress
                .show(count.get(), || format!("{} of {all} runs, {}/s", there + count.get(), rough(rate)));
        }
    });
    progress.clear();
    let kept: u64 = chunks.iter().map(|chunk| chunk.head.last - chunk.head.first).sum();
    let go_on = match folder.passing {
        true => "; nothing is kept without --out FILE".to_string(),
        false => format!(
            "; {kept} of {all} runs are done and kept in {}: go on with the same command and --resume, or look at them by \
             `polhode merge --partial`",
            folder.shown()
        ),
    };
    match trouble {
        Some(Halt::Asked) => return Err(Failure::Interrupted(format!("stopped{go_on}"))),
        Some(Halt::Failed(failure)) => return Err(Failure::Usage(format!("{failure}{go_on}"))),
        None => {}
    }
    chunks.sort_by_key(|chunk| chunk.head.first);
    Ok(Done { chunks, computed: all - there, seconds: started.elapsed().as_secs_f64() })
}

/// A rate in few digits.
fn rough(x: f64) -> String {
    match x {
        x if x >= 1e6 => format!("{:.1}M", x / 1e6),
        x if x >= 1e4 => format!("{:.0}k", x / 1e3),
        x if x >= 100.0 => format!("{x:.0}"),
        x => format!("{x:.2}"),
    }
}
