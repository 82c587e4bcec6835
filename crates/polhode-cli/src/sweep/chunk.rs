//! Chunks: the rows of some runs in a file, with what they are of in its head and a sum over all of it at its end.

use crate::failure::Failure;
use crate::files::{self, EMPTY};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a chunk begins with.
const MAGIC: &[u8] = b"polhode chunk 1\n";
/// The largest head that is read, and the longest reason of a row, in bytes.
const LARGEST_HEAD: u64 = 64 << 20;
const LONGEST: usize = 1 << 16;

/// What a chunk is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The number of its plan.
    pub plan: String,
    /// The version of the program.
    pub version: String,
    /// Its first run, and that behind its last.
    pub first: u64,
    #[allow(missing_docs, reason = "see above")]
    pub last: u64,
    /// The runs of the whole.
    pub runs: u64,
    /// Which part of how many it is, if it was asked for so.
    pub part: Option<[u64; 2]>,
    /// How many of the columns are what was varied.
    pub inputs: usize,
    /// The columns, without the number of the run and its status.
    pub columns: Vec<String>,
    /// What is said of the whole, as JSON in a text: numbers that are read and written again may change.
    pub about: String,
}

impl Head {
    /// True if its rows can stand beside those of another.
    pub fn goes_with(&self, other: &Head) -> bool {
        let of = |head: &Head| (head.plan.clone(), head.version.clone(), head.runs, head.columns.clone());
        of(self) == of(other)
    }
    /// What is said of the whole, to be read.
    pub(super) fn facts(&self) -> Value {
        serde_json::from_str(&self.about).unwrap_or(Value::Null)
    }
    /// The line that it is written as.
    fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
    /// Its runs.
    pub fn range(&self) -> Range<u64> {
        self.first..self.last
    }
}

/// One run of a sweep: the numbers of its columns, and why it failed if it did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The numbers of its columns; NaN in columns that the run did not reach.
    pub values: Vec<f64>,
    /// Empty if all went well.
    pub reason: String,
}

/// A writer that sums up what passes.
struct Summed<W> {
    inner: W,
    sum: u64,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum = files::sum(&bytes[..count], self.sum);
        Ok(count)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A chunk that is being written, under another name.
pub struct Draft {
    path: PathBuf,
    draft: PathBuf,
    to: Summed<BufWriter<File>>,
    line: Vec<u8>,
    finished: bool,
}

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The beginning of names of chunks that are not finished.
const UNFINISHED: &str = ".unfinished-";

/// True for the name of a chunk that was not finished.
pub fn is_unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED)
}

/// Removes what killed programs have left of a chunk at this place, where nobody else is at work on it.
pub fn remove_unfinished(path: &Path) {
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let beginning = format!("{UNFINISHED}{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&beginning) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Draft {
    /// Begins one.
    pub fn new(path: &Path, head: &Head) -> io::Result<Draft> {
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let draft = path.with_file_name(format!("{UNFINISHED}{name}.{}-{number}", std::process::id()));
        let file = File::create(&draft)?;
        let mut to = Draft {
            path: path.to_path_buf(),
            draft,
            to: Summed { inner: BufWriter::with_capacity(1 << 16, file), sum: EMPTY },
            line: Vec::new(),
            finished: false,
        };
        to.to.write_all(MAGIC)?;
        to.to.write_all(&head.line())?;
        Ok(to)
    }
    /// Takes the next row.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        self.line.clear();
        self.line.extend_from_slice(&(row.reason.len() as u32).to_le_bytes());
        self.line.extend_from_slice(row.reason.as_bytes());
        for x in &row.values {
            self.line.extend_from_slice(&x.to_le_bytes());
        }
        self.to.write_all(&self.line)
    }
    /// Puts it in its place.
    pub fn finish(mut self) -> io::Result<()> {
        let sum = self.to.sum;
        self.to.write_all(&sum.to_le_bytes())?;
        self.to.flush()?;
        fs::rename(&self.draft, &self.path)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// A chunk that is there.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Where.
    pub path: PathBuf,
    /// What it says of itself.
    pub head: Head,
    /// A number of the line that says it: it is read once, and seen to be the same from then on.
    line: u64,
}

/// A reader that sums up what passes.
struct Seen<R> {
    inner: R,
    sum: Option<u64>,
}

impl<R: Read> Seen<R> {
    fn exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        if let Some(sum) = &mut self.sum {
            *sum = files::sum(bytes, *sum);
        }
        Ok(())
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// What is wrong with a chunk, in plain words.
fn told(path: &Path, error: &io::Error) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut short".into(),
        io::ErrorKind::NotFound => "it is not there".into(),
        _ => error.to_string(),
    };
    Failure::Usage(format!("{}: {why}", path.display()))
}

/// Passes over the beginning of a chunk; the line of its head.
fn head_line(path: &Path, sums: bool) -> io::Result<(Vec<u8>, Seen<BufReader<File>>)> {
    let mut seen =
        Seen { inner: BufReader::with_capacity(1 << 16, File::open(path)?), sum: sums.then_some(EMPTY) };
    let mut magic = [0; MAGIC.len()];
    let known = seen.exact(&mut magic);
    if known.is_err() || magic != *MAGIC {
        return Err(damaged("it is no chunk of this version of polhode"));
    }
    let mut line = Vec::new();
    io::BufRead::read_until(&mut Read::take(&mut seen.inner, LARGEST_HEAD), b'\n', &mut line)?;
    if let Some(sum) = &mut seen.sum {
        *sum = files::sum(&line, *sum);
    }
    Ok((line, seen))
}

impl Chunk {
    /// One that has been written.
    pub fn of(path: PathBuf, head: Head) -> Chunk {
        let line = files::sum(&head.line(), EMPTY);
        Chunk { path, head, line }
    }
    /// Reads the head of one.
    pub fn open(path: &Path) -> Result<Chunk, Failure> {
        Chunk::read(path).map_err(|error| told(path, &error))
    }
    /// The same, and makes sure that every byte of it is as it was written.
    pub fn whole(path: &Path) -> Result<Chunk, Failure> {
        let chunk = Chunk::open(path)?;
        chunk.each(true, &mut |_, _| Ok(()))?;
        Ok(chunk)
    }
    fn read(path: &Path) -> io::Result<Chunk> {
        let (line, _) = head_line(path, false)?;
        let head: Head = serde_json::from_slice(&line).map_err(|_| damaged("its head is damaged"))?;
        if head.first > head.last || head.last > head.runs || head.inputs > head.columns.len() {
            return Err(damaged("its head is damaged"));
        }
        Ok(Chunk { path: path.to_path_buf(), head, line: files::sum(&line, EMPTY) })
    }
    /// Shows each row with the number of its run; checks the sum at the end if that is asked for.
    pub fn each(
        &self,
        checks: bool,
        see: &mut dyn FnMut(u64, &Row) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| told(&self.path, &error);
        let (line, mut seen) = head_line(&self.path, checks).map_err(failed)?;
        if files::sum(&line, EMPTY) != self.line {
            return Err(failed(damaged("it has changed while it was read")));
        }
        let mut row = Row { values: vec![0.0; self.head.columns.len()], reason: String::new() };
        let mut numbers = vec![[0u8; 8]; self.head.columns.len()];
        let mut text = Vec::new();
        for k in self.head.range() {
            let mut length = [0; 4];
            seen.exact(&mut length).map_err(failed)?;
            let length = u32::from_le_bytes(length) as usize;
            if length > LONGEST {
                return Err(failed(damaged("it is damaged")));
            }
            text.resize(length, 0);
            seen.exact(&mut text).map_err(failed)?;
            row.reason.clear();
            row.reason.push_str(core::str::from_utf8(&text).map_err(|_| failed(damaged("it is damaged")))?);
            seen.exact(numbers.as_flattened_mut()).map_err(failed)?;
            for (x, bytes) in row.values.iter_mut().zip(&numbers) {
                *x = f64::from_le_bytes(*bytes);
            }
            see(k, &row)?;
        }
        let sum = seen.sum;
        let mut known = [0; 8];
        seen.exact(&mut known).map_err(failed)?;
        let behind = seen.inner.read(&mut [0]).map_err(failed)?;
        if sum.is_some_and(|sum| sum != u64::from_le_bytes(known)) || behind > 0 {
            return Err(failed(damaged("it is damaged: its sum is not that of its bytes")));
        }
        Ok(())
    }
}

/// A reason short enough for a row.
pub fn shortened(reason: &str) -> String {
    const SHOWN: usize = 400;
    let line: String = reason.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
    line.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_chunk_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.chunk");
        let head = Head {
            plan: "00".into(),
            version: "0".into(),
            first: 3,
            last: 6,
            runs: 9,
            part: None,
            inputs: 1,
            columns: vec!["x".into(), "y".into()],
            about: "{}".into(),
        };
        let rows = [("", 1.0), ("model: wrong, \"so\"", f64::NAN), ("", -0.0)]
            .map(|(reason, x)| Row { values: vec![x, 2.0], reason: reason.into() });
        let mut draft = Draft::new(&path, &head).unwrap();
        rows.iter().for_each(|row| draft.row(row).unwrap());
        assert!(!path.exists());
        draft.finish().unwrap();
        let mut seen = Vec::new();
        let chunk = Chunk::whole(&path).unwrap();
        let mut see = |k: u64, row: &Row| {
            seen.push((k, row.clone()));
            Ok(())
        };
        chunk.each(false, &mut see).unwrap();
        assert_eq!(chunk.head, head);
        assert_eq!(seen.len(), 3);
        for ((k, seen), (n, row)) in seen.iter().zip((3..).zip(&rows)) {
            assert_eq!((*k, &seen.reason, seen.values[1]), (n, &row.reason, 2.0));
            assert_eq!(seen.values[0].to_bits(), row.values[0].to_bits());
        }
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            fs::write(&path, &bytes[..at]).unwrap();
            assert!(Chunk::whole(&path).is_err(), "cut at {at}");
            let mut other = bytes.clone();
            other[at] ^= 1;
            fs::write(&path, &other).unwrap();
            assert!(Chunk::whole(&path).is_err(), "changed at {at}");
        }
        fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
        assert!(Chunk::whole(&path).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // One that is not finished leaves nothing.
        drop(Draft::new(&path, &head).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
