//! Rows that outlive the program which writes them, for another one to go on with.

use super::{draft, reason};
use crate::failure::Failure;
use crc32fast::Hasher;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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

/// Rows on the disk, in a file of their own. It goes with the program unless a checkpoint speaks of it; until then it is a
/// draft like any other, which is removed by whoever comes next.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    /// What it is called as soon as a checkpoint speaks of it.
    name: PathBuf,
    writer: BufWriter<File>,
    length: u64,
    check: Hasher,
}

/// Bytes that are handed on at once.
const BUFFER: usize = 1 << 16;

impl Kept {
    /// Begins anew.
    pub fn create(name: PathBuf) -> Result<Self, Failure> {
        // One that nobody goes on with any more makes way.
        let free = OpenOptions::new().write(true).open(&name).map_or(Ok(()), |file| lock(&file));
        let (path, file) = free.and_then(|()| draft(&name)).map_err(|error| {
            Failure::Usage(format!("cannot write {}: {}", name.display(), reason(&error)))
        })?;
        let writer = BufWriter::with_capacity(BUFFER, file);
        Ok(Kept { path, name, writer, length: 0, check: Hasher::new() })
    }
    /// Goes on with what another program has left, as far as a checkpoint speaks of it.
    pub fn go_on(name: PathBuf, extent: Extent) -> Result<Self, Failure> {
        match Kept::opened(&name, extent) {
            Ok((file, check)) => {
                let writer = BufWriter::with_capacity(BUFFER, file);
                Ok(Kept { path: name.clone(), name, writer, length: extent.length, check })
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
    fn opened(path: &Path, extent: Extent) -> io::Result<(File, Hasher)> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        lock(&file)?;
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
        Ok((file, check))
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
        Ok(Extent { length: self.length, check: self.check.clone().finalize() })
    }
    /// True if it outlives the program.
    pub fn lasts(&self) -> bool {
        self.path == self.name
    }
    /// A checkpoint is about to speak of it: from now on it outlives the program.
    pub fn outlive(&mut self) -> io::Result<()> {
        if !self.lasts() {
            fs::rename(&self.path, &self.name)?;
            self.path.clone_from(&self.name);
        }
        Ok(())
    }
    /// All rows from the first on; nothing is to be written before they are read.
    pub fn read(&mut self) -> io::Result<impl Read + '_> {
        self.writer.flush()?;
        let mut file = self.writer.get_ref();
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(BUFFER, file.take(self.length)))
    }
    /// Goes on writing behind the last row.
    pub fn write_on(&mut self) -> io::Result<()> {
        self.writer.get_ref().seek(SeekFrom::Start(self.length)).map(|_| ())
    }
    /// Takes it away, which is of no use when all is written and the checkpoint is gone.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
    /// What to say where it fails.
    pub fn trouble(&self, error: &io::Error) -> Failure {
        let kept = if self.lasts() { "; the rows up to the last checkpoint are kept" } else { "" };
        Failure::Usage(format!("cannot write {}: {}{kept}", self.name.display(), reason(error)))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.lasts() {
            self.remove();
        }
    }
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
