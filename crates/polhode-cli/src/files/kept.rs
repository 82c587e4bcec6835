//! Tables that outlive the program which writes them, for another one to go on with.

use super::{NewFile, Output, reason};
use crate::failure::Failure;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A number that other bytes are most unlikely to have (FNV-1a).
pub fn sum(bytes: &[u8], so_far: u64) -> u64 {
    bytes.iter().fold(so_far, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Of no bytes.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// How far a table has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its bytes.
    pub length: u64,
    /// The number that they have.
    pub sum: u64,
}

impl Extent {
    /// Of nothing.
    pub const NOTHING: Extent = Extent { length: 0, sum: EMPTY };

    /// With more bytes behind it.
    pub(super) fn grow(&mut self, bytes: &[u8]) {
        *self = Extent { length: self.length + bytes.len() as u64, sum: sum(bytes, self.sum) };
    }
    /// Copies as much from the start of a file, and tells whether that is what it was.
    fn copy(self, from: &mut impl Read, to: &mut impl Write) -> io::Result<bool> {
        let (mut seen, mut block) = (Extent::NOTHING, vec![0; 1 << 16]);
        while seen.length < self.length {
            let most = usize::try_from(self.length - seen.length).unwrap_or(usize::MAX).min(block.len());
            match from.read(&mut block[..most])? {
                0 => return Ok(false),
                count => {
                    to.write_all(&block[..count])?;
                    seen.grow(&block[..count]);
                }
            }
        }
        Ok(seen == self)
    }
}

impl Output {
    /// From now on the rows so far outlive the program, in a file beside the place, which checkpoints of this name speak of.
    /// Returns the name of that file.
    pub fn keep(&mut self, checkpoint: &Path) -> Result<String, Failure> {
        let Output::File(file) = self else {
            return Err(Failure::Usage(
                "--checkpoint: rows that went to standard output cannot be taken back; give --out the name of a file".into(),
            ));
        };
        let [table, checkpoint] = [&*file.place, checkpoint]
            .map(|path| path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned()));
        let part = format!(".{table}.{checkpoint}.part");
        let path = file.place.with_file_name(&part);
        // The lock stays with the file.
        fs::rename(&file.draft, &path).map_err(|error| file.trouble(&error))?;
        (file.draft, file.kept) = (path, Some(Extent::NOTHING));
        Ok(part)
    }

    /// Rows that no checkpoint speaks of are not kept.
    pub fn forget(&mut self) {
        if let Output::File(file) = self {
            file.kept = None;
        }
    }

    /// Goes on with rows that another program has left.
    pub fn go_on(&mut self, part: &str, extent: Extent) -> Result<(), Failure> {
        match self {
            Output::File(file) => file.go_on(part, extent),
            Output::Standard(_) => Err(Failure::Usage("--resume: give --out the same name of a file".into())),
        }
    }

    /// How far it has come, when that is safe on the disk; nothing for rows that are not kept.
    pub fn extent(&mut self) -> io::Result<Option<Extent>> {
        let Output::File(file) = self else { return Ok(None) };
        file.writer.flush()?;
        file.writer.get_ref().sync_data()?;
        Ok(file.kept)
    }
}

impl NewFile {
    fn go_on(&mut self, part: &str, extent: Extent) -> Result<(), Failure> {
        let path = self.place.with_file_name(part);
        let refused = |why: &str| Failure::Usage(format!("cannot go on with {}: {why}", path.display()));
        let failed = |error: io::Error| refused(&reason(&error));
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(mut file) => {
                if matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
                    return Err(refused("another program is writing it"));
                }
                if extent.copy(&mut BufReader::new(&mut file), &mut io::sink()).map_err(failed)? {
                    let cut = file.set_len(extent.length).and_then(|()| file.seek(SeekFrom::End(0)));
                    cut.map_err(failed)?;
                    let draft = self.put(path.clone(), file, extent);
                    let _ = fs::remove_file(draft);
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        // The program may have ended after the table was in its place, and before the checkpoint was gone.
        let whole =
            File::open(&self.place).map(|whole| extent.copy(&mut BufReader::new(whole), &mut self.writer));
        if let Ok(copied) = whole
            && copied.map_err(|error| self.trouble(&error))?
        {
            fs::rename(&self.draft, &path).map_err(failed)?;
            (self.draft, self.kept) = (path, Some(extent));
            return Ok(());
        }
        Err(refused(&format!(
            "the rows up to the checkpoint are neither there nor in {}; put that file back, or begin anew",
            self.name.display()
        )))
    }
    /// Writes to another draft from now on; returns the place of the one before.
    fn put(&mut self, draft: PathBuf, file: File, extent: Extent) -> PathBuf {
        self.writer = BufWriter::with_capacity(1 << 16, file);
        self.kept = Some(extent);
        std::mem::replace(&mut self.draft, draft)
    }
}
