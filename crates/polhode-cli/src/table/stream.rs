//! A table written beside the run whose rows it has: a thread makes the file of them, and a step pays for a copy of its
//! numbers.

use super::{Batch, Rows};
use crate::failure::Failure;
use crate::files::Output;
use serde_json::Value;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Bytes of rows that are handed over at once.
const BATCH: usize = 1 << 16;
/// How many of these there are at most: enough for the rows of a run that goes on while a large block is written.
const BATCHES: usize = 64;

/// Rows on their way into a file.
pub struct Stream {
    table: Arc<Mutex<Table>>,
    /// Rows that are not handed over yet, behind each other.
    batch: Vec<f64>,
    /// The numbers of a full batch.
    full: usize,
    helper: Option<Helper>,
}

/// The file, and what makes it.
struct Table {
    file: Output,
    rows: Box<dyn Rows>,
    /// The numbers of a row, and which of them are written.
    width: usize,
    chosen: Vec<usize>,
}

impl Table {
    fn write(&mut self, all: &[f64]) -> io::Result<()> {
        self.rows.rows(&mut self.file, &Batch { all, width: self.width, chosen: &self.chosen })
    }
}

/// What a thread that has panicked leaves is dropped all the same.
fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stream {
    /// Of rows of so many numbers, of which some are written.
    pub fn new(file: Output, rows: Box<dyn Rows>, width: usize, chosen: Vec<usize>) -> Self {
        let full = (BATCH / 8 / width.max(1)).max(1) * width;
        let table = Arc::new(Mutex::new(Table { file, rows, width, chosen }));
        Stream { table, batch: Vec::with_capacity(full), full, helper: None }
    }
    /// The same, written by a thread of its own; where none can be had, by this one.
    pub fn beside(self) -> Self {
        let helper = Helper::new(self.table.clone(), self.full);
        Stream { helper, ..self }
    }
    /// Takes a row. What goes wrong with others is told here too.
    #[inline]
    pub fn row(&mut self, row: &[f64]) -> Result<(), Failure> {
        self.batch.extend_from_slice(row);
        match self.batch.len() < self.full && !self.helper.as_ref().is_some_and(Helper::has_ended) {
            true => Ok(()),
            false => self.hand_over().map_err(|error| self.ask(|file| file.trouble(&error))),
        }
    }
    fn hand_over(&mut self) -> io::Result<()> {
        if let Some(helper) = &mut self.helper {
            return if helper.exchange(&mut self.batch) { Ok(()) } else { self.wait() };
        }
        let written = lock(&self.table).write(&self.batch);
        self.batch.clear();
        written
    }
    /// Until all that was handed over is written.
    fn wait(&mut self) -> io::Result<()> {
        match self.helper.take().map(|mut helper| helper.end()) {
            None => Ok(()),
            Some(Ok(written)) => written,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
    /// What is to be known of the file.
    pub fn ask<T>(&self, what: impl FnOnce(&Output) -> T) -> T {
        what(&lock(&self.table).file)
    }
    /// Writes what is left, with what is said of the whole, and puts the file in its place.
    pub fn finish(mut self, metadata: &Value) -> Result<(), Failure> {
        let written = self.wait().and_then(|()| self.hand_over()).and_then(|()| {
            let Table { rows, file, .. } = &mut *lock(&self.table);
            rows.finish(file, metadata)
        });
        written.map_err(|error| self.ask(|file| file.trouble(&error)))?;
        match Arc::into_inner(self.table) {
            Some(table) => table.into_inner().unwrap_or_else(PoisonError::into_inner).file.finish(),
            None => Err(Failure::Solver("the rows are still being written".into())),
        }
    }
}

/// A thread that writes rows.
#[derive(Debug)]
struct Helper {
    /// Nothing where no more are to come.
    full: Option<Sender<Vec<f64>>>,
    empty: Receiver<Vec<f64>>,
    /// The room of a batch, and how many more may be made.
    room: usize,
    spare: usize,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Helper {
    fn new(table: Arc<Mutex<Table>>, room: usize) -> Option<Self> {
        let (full, batches) = channel::<Vec<f64>>();
        let (back, empty) = channel();
        let work = move || {
            for mut batch in batches {
                lock(&table).write(&batch)?;
                batch.clear();
                // Nobody needs it any more where the last was handed over.
                let _ = back.send(batch);
            }
            Ok(())
        };
        let thread = Builder::new().name("rows".into()).spawn(work).ok()?;
        Some(Helper { full: Some(full), empty, room, spare: BATCHES - 1, thread: Some(thread) })
    }
    /// True if it has stopped before it was told to.
    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
    /// Takes a full batch and puts an empty one in its place, as soon as there is one; false if it has ended.
    fn exchange(&mut self, batch: &mut Vec<f64>) -> bool {
        let next = match self.empty.try_recv() {
            Ok(next) => Some(next),
            Err(_) if self.spare > 0 => {
                self.spare -= 1;
                Some(Vec::with_capacity(self.room))
            }
            Err(_) => self.empty.recv().ok(),
        };
        let given = next.map(|next| core::mem::replace(batch, next)).zip(self.full.as_ref());
        given.is_some_and(|(full, to)| to.send(full).is_ok())
    }
    /// Lets it write what it has, and waits for that.
    fn end(&mut self) -> std::thread::Result<io::Result<()>> {
        self.full = None;
        self.thread.take().map_or(Ok(Ok(())), JoinHandle::join)
    }
}

/// The program must not end before the draft of a file that nobody wants any more is gone.
impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Format;
    use crate::table::Kind;
    use serde_json::json;
    use std::fs;
    use std::path::Path;

    fn stream(path: &Path, rows: Box<dyn Rows>, width: usize) -> Stream {
        let file = Output::of(path, Format::Results, false).unwrap();
        Stream::new(file, rows, width, (0..width).collect())
    }
    fn left(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_thread_writes_what_would_be_written_without_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (ending, width) in [("csv", 3), ("npz", 3), ("parquet", 3), ("mcap", 3), ("npz", 20_000)] {
            let names: Vec<String> = (0..width).map(|c| format!("c{c}")).collect();
            let written = |name: &str, beside: bool| {
                let path = at(&format!("{name}.{ending}"));
                let rows = Kind::of(&path).unwrap().rows(&names, Vec::new());
                let mut stream = stream(&path, rows, width);
                if beside {
                    stream = stream.beside();
                    assert!(stream.helper.is_some());
                }
                for n in 0..60_000 / width {
                    let row: Vec<f64> = (0..width).map(|c| (n + c) as f64 / 7.0).collect();
                    stream.row(&row).unwrap();
                }
                stream.finish(&json!({ "a": 1 })).unwrap();
                fs::read(path).unwrap()
            };
            assert!(written("a", true) == written("b", false), "{ending}");
        }
        assert_eq!(left(folder.path()), 8, "nothing else is left");
    }

    /// Takes so many batches, and then no more.
    struct Fails(usize);

    impl Rows for Fails {
        fn rows(&mut self, _: &mut Output, _: &Batch<'_>) -> io::Result<()> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(())
        }
        fn finish(&mut self, _: &mut Output, _: &Value) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_goes_wrong_is_told_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        for beside in [true, false] {
            let fails = |batches: usize| {
                let stream = stream(&path, Box::new(Fails(batches)), 2);
                if beside { stream.beside() } else { stream }
            };
            // At a row that comes later, and no more are taken.
            let mut early = fails(2);
            let failure = (0..10_000_000).find_map(|n| early.row(&[f64::from(n), 0.0]).err()).unwrap();
            assert!(failure.to_string().contains("the disk is full; nothing was left there"), "{failure}");
            drop(early);
            assert_eq!(left(folder.path()), 0);
            // At the end, where no row comes later.
            let mut late = fails(0);
            late.row(&[1.0, 2.0]).unwrap();
            let failure = late.finish(&json!({})).unwrap_err();
            assert!(failure.to_string().contains("the disk is full; nothing was left there"), "{failure}");
            assert_eq!(left(folder.path()), 0);
            // A run that nobody wants the rows of.
            let mut unwanted = fails(9);
            unwanted.row(&[1.0, 2.0]).unwrap();
            drop(unwanted);
            assert_eq!(left(folder.path()), 0);
        }
    }
}
