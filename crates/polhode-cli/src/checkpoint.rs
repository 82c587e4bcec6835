//! Checkpoints: a run put aside on the disk now and then, to be gone on with by another program, bit for bit.

use crate::args;
use crate::failure::Failure;
use crate::files::{self, EMPTY, Extent, Kept, Names};
use crate::phase::Phase;
use crate::print::plain;
use polhode::run::{Run, Saved};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a checkpoint begins with.
const MAGIC: &[u8] = b"polhode checkpoint 3\n";
/// The largest that is read, in bytes.
const LARGEST: u64 = 16 << 30;
/// How often they are written where nothing is said, in s.
const USUAL: f64 = 60.0;
/// How often the clock is looked at in the time from one to the next.
const LOOKS: u32 = 50;

/// What a run is of: words beside what they say, all of which must be the same for it to be gone on with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity(Vec<(String, String)>);

impl Identity {
    /// Of this version of the program.
    pub fn new() -> Self {
        Identity::default().with("version of polhode", env!("CARGO_PKG_VERSION").into())
    }
    /// And of this.
    pub fn with(mut self, what: &str, value: String) -> Self {
        self.0.push((what.into(), value));
        self
    }
    /// And of this text, of which a number is kept.
    pub fn with_text(self, what: &str, parts: &[&str]) -> Self {
        let hash = parts.iter().fold(EMPTY, |hash, part| files::sum(&[0], files::sum(part.as_bytes(), hash)));
        self.with(what, format!("{hash:016x}"))
    }
    /// What differs in another one, in words.
    fn difference(&self, other: &Identity) -> Option<String> {
        let value = |of: &Identity, what: &str| {
            of.0.iter().find(|(known, _)| known == what).map_or("nothing".into(), |(_, value)| value.clone())
        };
        let (what, _) = self.0.iter().find(|(what, mine)| *mine != value(other, what))?;
        Some(match what.as_str() {
            "model" => "its model, or a --set, is another one".into(),
            what if what.starts_with("numbers") => format!("the {what} are others"),
            what => format!("its {what} is {}, and here it is {}", value(other, what), value(self, what)),
        })
    }
}

/// What a checkpoint says before its numbers.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    run: Identity,
    /// The file with the rows so far, beside the first of those that are made of them.
    rows: Option<Names>,
}

/// A run as a checkpoint has it.
#[derive(Debug)]
pub struct Resumed {
    /// How many steps are behind it.
    pub steps: u64,
    /// The time that they have taken, in s.
    pub seconds: f64,
    rows: Option<(Names, Extent)>,
    run: Saved,
    phase: Vec<u64>,
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::Usage(format!("cannot go on from {}: {why}", path.display()))
}

impl Resumed {
    /// Reads the checkpoint of a run.
    pub fn read(path: &Path, identity: &Identity, method: &str) -> Result<Self, Failure> {
        if !path.exists() {
            return Err(refused(
                path,
                "it is not there; a run that has come to its end takes its checkpoint away",
            ));
        }
        let bytes = files::read(path, "checkpoint", LARGEST)?;
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(refused(path, "it is no checkpoint of this version of polhode"));
        };
        let damaged = || refused(path, "it is damaged");
        let (whole, known) = bytes.split_last_chunk().ok_or_else(damaged)?;
        if files::sum(whole, EMPTY) != u64::from_le_bytes(*known) {
            return Err(damaged());
        }
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let header: Header = serde_json::from_slice(&rest[..end]).map_err(|_| damaged())?;
        if let Some(difference) = identity.difference(&header.run) {
            return Err(refused(path, &format!("it is of another run: {difference}")));
        }
        let (chunks, left) = rest[end + 1..].as_chunks();
        let words: Vec<u64> = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
        let (Some((_, [steps, seconds, length, check, model, phase, numbers @ ..])), []) =
            (words.split_last(), left)
        else {
            return Err(damaged());
        };
        let check = &u32::try_from(*check).map_err(|_| damaged())?;
        let at = usize::try_from(*phase).ok().filter(|at| *at <= numbers.len()).ok_or_else(damaged)?;
        let (phase, run) = numbers.split_at(at);
        Ok(Resumed {
            steps: *steps,
            seconds: f64::from_bits(*seconds),
            rows: header.rows.map(|names| (names, Extent { length: *length, check: *check })),
            run: Saved { method: method.into(), model: *model, words: run.to_vec() },
            phase: phase.to_vec(),
        })
    }
    /// Puts a run where it was, and those who look at it.
    pub fn restore(&self, path: &Path, run: &mut dyn Run, phase: Option<&mut Phase>) -> Result<(), Failure> {
        let seen = phase.map_or(Ok(()), |phase| phase.restore(&self.phase));
        seen.and_then(|()| run.restore(&self.run)).map_err(|error| refused(path, &error.to_string()))
    }
}

/// Where checkpoints go, and when.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    interval: Duration,
    run: Identity,
    /// Steps until the clock is looked at, and how many that are each time.
    left: u64,
    stride: u64,
    looked: Instant,
    written: Option<(Instant, f64)>,
}

/// A file, and perhaps how many seconds lie between two checkpoints.
pub fn place(word: &str) -> Result<(PathBuf, Duration), Failure> {
    let (path, seconds) = match word.rsplit_once(',') {
        Some((path, seconds)) if args::number(seconds).is_ok() => {
            (path, args::number(seconds).unwrap_or(USUAL))
        }
        _ => (word, USUAL),
    };
    if path.is_empty() || path == "-" {
        return Err(Failure::Usage("--checkpoint needs the name of a file".into()));
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(interval) => Ok((path.into(), interval)),
        Err(_) => Err(Failure::Usage(format!(
            "--checkpoint FILE,SECONDS: the seconds from one checkpoint to the next are a number, at least 0, got {}",
            plain(seconds)
        ))),
    }
}

/// The rows of a run that is put aside, or gone on with, beside the first of the files that are made of them.
pub fn rows(
    checkpoint: Option<&Checkpoint>,
    resumed: Option<&Resumed>,
    first: Option<&Path>,
) -> Result<Option<Kept>, Failure> {
    let Some(first) = first else { return Ok(None) };
    match (resumed.and_then(|resumed| resumed.rows.as_ref()), checkpoint) {
        (Some((names, extent)), _) => Kept::go_on(first, names, *extent).map(Some),
        (None, Some(Checkpoint { path, .. })) => Kept::create(first, path).map(Some),
        (None, None) => Ok(None),
    }
}

impl Checkpoint {
    /// For a run, which goes on from another one or not.
    pub fn new(word: &str, identity: &Identity, resumed: Option<(&Path, &Resumed)>) -> Result<Self, Failure> {
        let (path, interval) = place(word)?;
        let same =
            |a: &Path, b: &Path| fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b));
        if path.exists() && !resumed.is_some_and(|(from, _)| same(&path, from)) {
            let path = path.display();
            return Err(Failure::Usage(format!(
                "{path} is there already; go on from it with --resume {path}, or take it away to begin anew"
            )));
        }
        Ok(Checkpoint {
            path,
            interval,
            run: identity.clone(),
            left: 1,
            stride: 1,
            looked: Instant::now(),
            written: None,
        })
    }
    /// True if it is time for one: at the first step that is seen, and whenever the interval is over. The clock is looked
    /// at so rarely that a step pays nothing for it.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.look()
    }
    fn look(&mut self) -> bool {
        let now = Instant::now();
        let often = now - self.looked < self.interval / LOOKS;
        self.stride = if often { (2 * self.stride).min(1 << 20) } else { (self.stride / 2).max(1) };
        (self.left, self.looked) = (self.stride, now);
        self.written.is_none_or(|(last, _)| now - last >= self.interval)
    }
    /// Puts a run aside after so many steps, which have taken so many seconds.
    pub fn write(
        &mut self,
        steps: u64,
        seconds: f64,
        run: &mut dyn Run,
        phase: Option<&mut Phase>,
        mut rows: Option<&mut Kept>,
    ) -> Result<(), Failure> {
        // The rows first: a checkpoint never speaks of some that are not on the disk.
        let extent = match &mut rows {
            Some(rows) => rows.extent().map_err(|error| rows.trouble(&error))?,
            None => Extent::default(),
        };
        let saved = run.save().map_err(|error| Failure::Usage(format!("--checkpoint: {error}")))?;
        let phase = phase.map_or(Vec::new(), Phase::save);
        let head =
            [steps, seconds.to_bits(), extent.length, extent.check.into(), saved.model, phase.len() as u64];
        let header = Header { run: self.run.clone(), rows: rows.as_ref().map(|rows| rows.names()) };
        let mut bytes = MAGIC.to_vec();
        serde_json::to_writer(&mut bytes, &header).map_err(|error| self.trouble(&error.into()))?;
        bytes.push(b'\n');
        for word in head.iter().chain(&phase).chain(&saved.words) {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&files::sum(&bytes, EMPTY).to_le_bytes());
        let outlive = || rows.map_or(Ok(()), |rows| rows.outlive());
        if let Err(failure) = files::replace(&self.path, &bytes, outlive) {
            return Err(match self.written {
                Some((_, t)) => {
                    Failure::Usage(format!("{failure}; the checkpoint at t = {} is still there", plain(t)))
                }
                None => failure,
            });
        }
        self.written = Some((Instant::now(), run.time()));
        Ok(())
    }
    fn trouble(&self, error: &io::Error) -> Failure {
        Failure::Usage(format!("cannot write {}: {error}", self.path.display()))
    }
    /// What to say of a run that was stopped.
    pub fn advice(&self) -> String {
        format!("; go on with --resume {}", self.path.display())
    }
    /// Takes the checkpoint away, which is of no use after the end of the run.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}
