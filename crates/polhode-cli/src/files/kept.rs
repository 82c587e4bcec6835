//! Rows that outlive the program which writes them, for another one to go on with.

use super::{draft, reason, settle};
use crate::failure::Failure;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf, absolute};

/// A number that other bytes are most unlikely to have (FNV-1a).
pub fn sum(bytes: &[u8], so_far: u64) -> u64 {
    bytes.iter().fold(so_far, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Of no bytes.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// How far rows have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Their bytes.
    pub length: u64,
    /// The check sum of these.
    pub check: u32,
}

/// What rows are called while a checkpoint speaks of them, and before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    kept: String,
    draft: String,
}

/// Rows on the disk, in a file of their own. It goes with the program unless a checkpoint speaks of it.
///
/// Before its first checkpoint, and again after the run, it is a draft like any other, which is removed by whoever comes next. A
/// checkpoint speaks of both names, and rows say where it is: a program that is killed between two renames leaves neither
/// rows that nobody goes on with nor a checkpoint without its rows.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    /// See [`Names`].
    name: PathBuf,
    draft: PathBuf,
    writer: BufWriter<File>,
    length: u64,
    check: Hasher,
    /// Where the rows begin.
    start: u64,
    /// True if a checkpoint speaks of it.
    lasts: bool,
}

/// Bytes that are handed on at once.
const BUFFER: usize = 1 << 16;
/// What stands before the rows: this, and the place of their checkpoint in the rest of the line.
const MARK: &[u8] = b"polhode rows of ";
/// The longest line.
const LONGEST: u64 = 1 << 16;

impl Kept {
    /// Begins anew beside a file that is to be made of the rows, for a checkpoint at a place.
    pub fn create(beside: &Path, checkpoint: &Path) -> Result<Self, Failure> {
        let name = beside.with_file_name(format!(".{}.{}.part", last(beside), last(checkpoint)));
        // One that nobody goes on with any more makes way.
        let free = OpenOptions::new().write(true).open(&name).map_or(Ok(()), |file| lock(&file));
        let (draft, file) = free.and_then(|()| draft(&name)).map_err(|error| {
            Failure::Usage(format!("cannot write {}: {}", name.display(), reason(&error)))
        })?;
        let place = absolute(checkpoint).unwrap_or_default();
        let place = place.to_str().filter(|place| !place.contains('\n')).unwrap_or_default();
        let head = [MARK, place.as_bytes(), b"\n"].concat();
        let mut kept = Kept {
            path: draft.clone(),
            name,
            draft,
            writer: BufWriter::with_capacity(BUFFER, file),
            length: 0,
            check: Hasher::new(),
            start: head.len() as u64,
            lasts: false,
        };
        kept.write(&head).map_err(|error| kept.trouble(&error))?;
        Ok(kept)
    }
    /// Goes on with what another program has left, as far as a checkpoint speaks of it.
    pub fn go_on(beside: &Path, names: &Names, extent: Extent) -> Result<Self, Failure> {
        let (name, draft) = (beside.with_file_name(&names.kept), beside.with_file_name(&names.draft));
        let path = if name.exists() || !draft.exists() { name.clone() } else { draft.clone() };
        match Kept::opened(&path, extent) {
            Ok((file, check, start)) => {
                let writer = BufWriter::with_capacity(BUFFER, file);
                Ok(Kept { path, name, draft, writer, length: extent.length, check, start, lasts: true })
            }
            Err(error) => {
                let why = match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                        "the rows up to the checkpoint are not there; put that file back, or begin anew"
                            .into()
                    }
                    _ => reason(&error),
                };
                Err(Failure::Usage(format!("cannot go on with {}: {why}", name.display())))
            }
        }
    }
    fn opened(path: &Path, extent: Extent) -> io::Result<(File, Hasher, u64)> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        lock(&file)?;
        let start = first_line(&file)?.len() as u64;
        file.seek(SeekFrom::Start(0))?;
        let (mut check, mut left, mut block) = (Hasher::new(), extent.length, vec![0; BUFFER]);
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(usize::MAX).min(BUFFER);
            file.read_exact(&mut block[..piece])?;
            check.update(&block[..piece]);
            left -= piece as u64;
        }
        if check.clone().finalize() != extent.check {
            return Err(io::ErrorKind::InvalidData.into());
        }
        file.set_len(extent.length)?;
        file.seek(SeekFrom::End(0))?;
        Ok((file, check, start))
    }
    /// Adds rows.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.check.update(bytes);
        self.length += bytes.len() as u64;
        self.writer.write_all(bytes)
    }
    /// How far it has come, when that is safe on the disk.
    pub fn extent(&mut self) -> io::Result<Extent> {
        self.writer.flush()?;
        self.writer.get_ref().sync_data()?;
        if !self.lasts {
            settle(&self.path)?;
        }
        Ok(Extent { length: self.length, check: self.check.clone().finalize() })
    }
    /// What it is called.
    pub fn names(&self) -> Names {
        Names { kept: last(&self.name), draft: last(&self.draft) }
    }
    fn rename(&mut self, to: PathBuf) -> io::Result<()> {
        if self.path != to {
            fs::rename(&self.path, &to)?;
            self.path = to;
        }
        Ok(())
    }
    /// A checkpoint speaks of it: from now on it outlives the program.
    pub fn outlive(&mut self) -> io::Result<()> {
        self.lasts = true;
        self.rename(self.name.clone())
    }
    /// The checkpoint is about to go, and with it the use of the rows: from now on whoever comes next may remove them.
    pub fn retire(&mut self) {
        // Where that fails, only a kill before they are removed here would leave them.
        let _ = self.rename(self.draft.clone());
        self.lasts = false;
    }
    /// All rows from the first on; nothing is to be written before they are read.
    pub fn read(&mut self) -> io::Result<impl Read + '_> {
        self.writer.flush()?;
        let mut file = self.writer.get_ref();
        file.seek(SeekFrom::Start(self.start))?;
        Ok(BufReader::with_capacity(BUFFER, file.take(self.length - self.start)))
    }
    /// Goes on writing behind the last row.
    pub fn write_on(&mut self) -> io::Result<()> {
        self.writer.get_ref().seek(SeekFrom::Start(self.length)).map(|_| ())
    }
    /// What to say where it fails.
    pub fn trouble(&self, error: &io::Error) -> Failure {
        let kept = if self.lasts { "; the rows up to the last checkpoint are kept" } else { "" };
        Failure::Usage(format!("cannot write {}: {}{kept}", self.name.display(), reason(error)))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.lasts {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The name of a file without its folder.
fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The line that a file begins with.
fn first_line(file: &File) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// True if a draft has rows, and the checkpoint is there that may speak of them; also if they do not say where it is.
pub(super) fn is_spoken_of(file: &File) -> bool {
    let line = first_line(file).unwrap_or_default();
    let place = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(b"\n"));
    place.is_some_and(|place| match str::from_utf8(place) {
        Ok("") | Err(_) => true,
        Ok(place) => Path::new(place).exists(),
    })
}

/// Locks a file for as long as it is open; some file systems have no locks.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another program is writing it"))
        }
        _ => Ok(()),
    }
}
