//! Files that appear whole or not at all.

use crate::failure::Failure;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A file being written beside the place where it will appear. Dropped unfinished, it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    /// As the user wrote it, for messages.
    name: PathBuf,
    place: PathBuf,
    draft: PathBuf,
    writer: BufWriter<File>,
    finished: bool,
}

impl NewFile {
    /// Starts the file, so that a path that cannot be written is known before any work is done.
    pub fn create(name: &Path) -> Result<NewFile, Failure> {
        let refused = |why: &str| Failure::Usage(format!("cannot write {}: {why}", name.display()));
        // The file behind a link is replaced, not the link.
        let place = fs::canonicalize(name).unwrap_or_else(|_| name.to_path_buf());
        let present = fs::metadata(&place).ok();
        if let Some(present) = &present {
            if present.is_dir() {
                return Err(refused("it is a directory; give the name of a file in it"));
            }
            if !present.is_file() {
                return Err(refused("it is not a regular file"));
            }
            if present.permissions().readonly() {
                return Err(refused("it is there and read-only"));
            }
        }
        if place.file_name().is_none() {
            return Err(refused("it is not the name of a file"));
        }
        if name.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            return Err(refused("it is the name of a directory; give the name of a file in it"));
        }
        // Process ids come again, in containers soon; with the clock the name is new.
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let draft = place.with_file_name(format!(".polhode-{}-{clock}.tmp", std::process::id()));
        let open = OpenOptions::new().write(true).create_new(true).open(&draft);
        let file = open.map_err(|error| refused(&reason(&error)))?;
        if let Some(present) = present {
            // A file that replaces another keeps its permissions; where that fails, the usual ones do.
            let _ = file.set_permissions(present.permissions());
        }
        let writer = BufWriter::with_capacity(1 << 16, file);
        Ok(NewFile { name: name.to_path_buf(), place, draft, writer, finished: false })
    }

    /// The file, for messages.
    pub fn name(&self) -> std::path::Display<'_> {
        self.name.display()
    }

    /// What to say where writing went wrong.
    pub fn trouble(&self, error: &io::Error) -> Failure {
        Failure::Usage(format!("cannot write {}: {}; nothing was left there", self.name(), reason(error)))
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<(), Failure> {
        let placed = self
            .writer
            .flush()
            .and_then(|()| self.writer.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.draft, &self.place));
        placed.map_err(|error| self.trouble(&error))?;
        self.finished = true;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// The common reasons in plain words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist or takes no files".into(),
        io::ErrorKind::NotADirectory => "its folder is not a directory".into(),
        io::ErrorKind::PermissionDenied => "no permission to write there".into(),
        _ => error.to_string(),
    }
}
