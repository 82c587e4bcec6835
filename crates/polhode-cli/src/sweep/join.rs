//! Chunks joined in order: every run once, and what is missing told by name.

use super::chunk::{Chunk, Draft, Row, is_unfinished};
use super::plan::{RUN, STATUS};
use crate::failure::Failure;
use crate::files::{Output, reason};
use crate::interrupt;
use crate::table::{Cell, Holds, Kind};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Chunks of one plan that follow each other.
#[derive(Debug)]
pub struct Joined {
    chunks: Vec<Chunk>,
}

/// Stretches of runs, for messages; not all of very many.
fn stretches(all: &[Range<u64>]) -> String {
    const SHOWN: usize = 8;
    let one = |runs: &Range<u64>| match runs.end - runs.start {
        1 => format!("{}", runs.start),
        _ => format!("{} to {}", runs.start, runs.end - 1),
    };
    let more =
        if all.len() > SHOWN { format!(" and {} more stretches", all.len() - SHOWN) } else { String::new() };
    all.iter().take(SHOWN).map(one).collect::<Vec<_>>().join(", ") + &more
}

/// These files, and the chunks in these folders that are finished.
fn listed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path)
            .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))?;
        let is_chunk = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".chunk") && !is_unfinished(&name)
        };
        all.extend(entries.flatten().map(|entry| entry.path()).filter(is_chunk));
    }
    Ok(all)
}

impl Joined {
    /// Of chunks that a sweep has made of these runs.
    pub fn of(chunks: Vec<Chunk>) -> Joined {
        Joined { chunks }
    }
    /// Of parts, each of which is read whole; all runs of their plan must be there, once, or some of them if that will do.
    pub fn parts(paths: &[PathBuf], some: bool) -> Result<Joined, Failure> {
        let mut chunks = Vec::new();
        for path in &listed(paths)? {
            if interrupt::asked() {
                return Err(Failure::Interrupted("stopped; nothing was written".into()));
            }
            chunks.push(Chunk::whole(path)?);
        }
        let Some(first) = chunks.first().cloned() else {
            return Err(Failure::Usage("there are no parts to merge".into()));
        };
        let shown = |chunk: &Chunk| chunk.path.display().to_string();
        if let Some(other) = chunks.iter().find(|chunk| !chunk.head.goes_with(&first.head)) {
            let (a, b) = (&first.head, &other.head);
            let why = match (a.version != b.version, a.plan != b.plan) {
                (true, _) => format!("of polhode {} and {}", a.version, b.version),
                (_, true) => format!("of the plans {} and {}", a.plan, b.plan),
                _ => "with other columns".into(),
            };
            return Err(Failure::Usage(format!(
                "{} and {} do not belong together: they are {why}; compute both with the same model, options and version",
                shown(&first),
                shown(other)
            )));
        }
        chunks.sort_by_key(|chunk| (chunk.head.first, chunk.head.last));
        let (mut end, mut missing, mut before): (u64, Vec<Range<u64>>, Option<&Chunk>) =
            (0, Vec::new(), None);
        for chunk in chunks.iter().filter(|chunk| chunk.head.first < chunk.head.last) {
            let runs = chunk.head.range();
            if let Some(before) = before.filter(|_| runs.start < end) {
                let twice = runs.start..end.min(runs.end);
                return Err(Failure::Usage(format!(
                    "runs are there twice, {} in {} and in {}; leave one of them out",
                    stretches(&[twice]),
                    shown(before),
                    shown(chunk)
                )));
            }
            if runs.start > end {
                missing.push(end..runs.start);
            }
            (end, before) = (runs.end, Some(chunk));
        }
        if end < first.head.runs {
            missing.push(end..first.head.runs);
        }
        if !missing.is_empty() && !some {
            let count: u64 = missing.iter().map(|runs| runs.end - runs.start).sum();
            return Err(Failure::Usage(format!(
                "{count} of {} runs are missing: {}{}",
                first.head.runs,
                stretches(&missing),
                parts_of(&missing, &chunks)
            )));
        }
        Ok(Joined { chunks })
    }
    /// What all of them are of.
    pub fn head(&self) -> Option<&super::chunk::Head> {
        self.chunks.first().map(|chunk| &chunk.head)
    }
    /// Shows every row, in order.
    pub fn each(
        &self,
        checks: bool,
        see: &mut dyn FnMut(u64, &Row) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.chunks.iter().try_for_each(|chunk| {
            if interrupt::asked() {
                return Err(Failure::Interrupted("stopped".into()));
            }
            chunk.each(checks, see)
        })
    }
    /// Writes them as a table, in the format that its name asks for.
    pub fn write(&self, path: &Path, mut to: Output) -> Result<(), Failure> {
        let Some(head) = self.head() else { return Err(Failure::Usage("there are no rows".into())) };
        let mut columns = vec![(RUN.to_string(), Holds::Whole)];
        columns.extend(head.columns.iter().map(|name| (name.clone(), Holds::Numbers)));
        columns.push((STATUS.into(), Holds::Texts));
        let writer = Kind::of(path).and_then(|kind| kind.cells(&columns));
        let Some(mut writer) = writer else {
            return Err(Failure::Usage(format!("{}: rows of runs are CSV or Parquet", path.display())));
        };
        self.each(true, &mut |k, row| {
            let mut cells = Vec::with_capacity(columns.len());
            cells.push(Cell::Whole(k));
            cells.extend(row.values.iter().map(|x| Cell::Number(*x)));
            cells.push(Cell::Text(if row.reason.is_empty() { "ok" } else { &row.reason }));
            writer.row(&mut to, &cells).map_err(|error| to.trouble(&error))
        })?;
        writer.finish(&mut to, &head.about).map_err(|error| to.trouble(&error))?;
        to.finish()
    }
    /// Writes them as one chunk.
    pub fn write_chunk(&self, path: &Path, head: &super::chunk::Head) -> Result<(), Failure> {
        let trouble =
            |error: io::Error| Failure::Usage(format!("cannot write {}: {}", path.display(), reason(&error)));
        let mut draft = Draft::new(path, head).map_err(trouble)?;
        self.each(true, &mut |_, row| draft.row(row).map_err(trouble))?;
        draft.finish().map_err(trouble)
    }
}

/// Which parts the missing runs are, where parts were asked for.
fn parts_of(missing: &[Range<u64>], chunks: &[Chunk]) -> String {
    let Some([_, n]) = chunks.iter().find_map(|chunk| chunk.head.part) else { return String::new() };
    let there: Vec<u64> = chunks
        .iter()
        .filter_map(|chunk| chunk.head.part.filter(|part| part[1] == n).map(|part| part[0]))
        .collect();
    const SHOWN: usize = 12;
    let parts: Vec<u64> = (1..=n).filter(|i| !there.contains(i)).collect();
    let names: Vec<String> = parts.iter().take(SHOWN).map(|i| format!("{i}/{n}")).collect();
    match (names.is_empty() || missing.is_empty(), parts.len() > SHOWN) {
        (true, _) => String::new(),
        (_, more) => {
            format!("; compute --part {}{}", names.join(", "), if more { " and others" } else { "" })
        }
    }
}
