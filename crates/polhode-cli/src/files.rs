//! Files: read with a limit, and written so that they appear whole or not at all.

mod kept;

use crate::failure::Failure;
use crate::{interrupt, print};
pub use kept::{EMPTY, Extent, Kept, Names, sum};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The whole of a file of at most so many bytes; `what` is its role, for messages. A request to stop is heard even if
/// nobody ever writes into the pipe that it may be.
pub fn read(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    taken(&path.display().to_string(), what, limit, || File::open(path))
}

/// The same of standard input.
pub fn read_standard(what: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    taken("from standard input", what, limit, || Ok(io::stdin().lock()))
}

fn taken<R: Read>(
    name: &str,
    what: &str,
    limit: u64,
    open: impl FnOnce() -> io::Result<R>,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match interrupt::abruptly(|| open()?.take(limit + 1).read_to_end(&mut bytes)) {
        Err(error) => Err(Failure::Usage(format!("cannot read the {what} {name}: {error}"))),
        Ok(_) if bytes.len() as u64 > limit => Err(Failure::Usage(format!(
            "cannot read the {what} {name}: it has more than {} MB, the most that is read",
            limit >> 20
        ))),
        Ok(_) => {
            print::detail(|| {
                format!("read: the {what} {name}, {}", print::count(bytes.len() as u64, "byte"))
            });
            Ok(bytes)
        }
    }
}

/// Writes a text to a file that is not there yet; `instead` says what to do if it is.
pub fn write_new(path: &Path, text: &str, instead: &str) -> Result<(), Failure> {
    let shown = path.display();
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        Failure::Usage(match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("{shown} is there already and was left as it is; {instead}")
            }
            _ => format!("cannot write {shown}: {error}"),
        })
    })?;
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        drop(file);
        let _ = fs::remove_file(path);
        return Err(Failure::Usage(format!("cannot write {shown}: {error}; nothing was left there")));
    }
    Ok(())
}

/// Puts a file in its place, whole, or leaves what was there: the bytes are on the disk before its name is. `then` does what
/// must be done when the file is there, and not much later.
pub fn replace(name: &Path, bytes: &[u8], then: impl FnOnce() -> io::Result<()>) -> Result<(), Failure> {
    let place = fs::canonicalize(name).unwrap_or_else(|_| name.to_path_buf());
    let put = draft(&place).and_then(|(draft, mut file)| {
        let put = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&draft, &place))
            .and_then(|()| then())
            .and_then(|()| settle(&place));
        if put.is_err() {
            let _ = fs::remove_file(&draft);
        }
        put
    });
    put.map_err(|error| Failure::Usage(format!("cannot write {}: {}", name.display(), reason(&error))))
}

/// Makes sure that the name of a file outlives a loss of power, where folders can be told so.
pub fn settle(place: &Path) -> io::Result<()> {
    match (cfg!(unix), place.parent()) {
        (true, Some(folder)) => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            File::open(folder).and_then(|folder| folder.sync_all())
        }
        _ => Ok(()),
    }
}

/// What a file holds, which its name must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table; it may go to standard output too.
    Csv,
    /// Rows of a run, in any of the formats that there are for them.
    Results,
    /// A row for each of many runs.
    Table,
    /// Rows of a part of them, to be merged.
    Chunk,
    /// A drawing.
    Plot,
    /// A page for browsers.
    Html,
}

impl Format {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Csv => &["csv"],
            Self::Results => &["csv", "npz", "parquet", "mcap"],
            Self::Table => &["csv", "parquet"],
            Self::Chunk => &["chunk"],
            Self::Plot => &["svg", "png"],
            Self::Html => &["html", "htm"],
        }
    }
    /// Why a name does not suit, if it does not.
    fn objection(self, name: &Path) -> Option<&'static str> {
        let suits = |ending: &&str| ends_in(name, ending);
        match self {
            _ if self.endings().iter().any(suits) => None,
            Self::Csv => {
                Some("tables are written as CSV: the name must end in .csv, or be - for standard output")
            }
            Self::Results => Some(
                "results are written as CSV, NPZ, Parquet or MCAP: the name must end in .csv, .npz, .parquet or .mcap, or \
                 be - for CSV on standard output",
            ),
            Self::Table => Some(
                "rows of runs are written as CSV or Parquet: the name must end in .csv or .parquet, or be - for CSV on \
                 standard output",
            ),
            Self::Chunk => Some(
                "a part is a chunk, which `polhode merge` joins with others: the name must end in .chunk",
            ),
            Self::Plot => Some("plots are drawn as SVG or PNG: the name must end in .svg or .png"),
            Self::Html => Some("reports are pages: the name must end in .html"),
        }
    }
}

/// Where a table goes that a command was asked to write.
#[derive(Debug)]
pub enum Output {
    /// To a file.
    File(NewFile),
    /// To standard output.
    Standard(BufWriter<io::Stdout>),
}

impl Output {
    /// The place for a table: `-` is standard output, where one JSON object has no room beside it.
    pub fn create(name: &Path, json: bool) -> Result<Output, Failure> {
        Output::of(name, Format::Csv, json)
    }
    /// The same for rows of a run, in the format that the name asks for.
    pub fn of(name: &Path, format: Format, json: bool) -> Result<Output, Failure> {
        match name.to_str() {
            Some("-") if json => Err(Failure::Usage(
                "--json and --out - both write to standard output; give --out the name of a file".into(),
            )),
            Some("-") => Ok(Output::Standard(BufWriter::with_capacity(1 << 16, io::stdout()))),
            _ => Ok(Output::File(NewFile::create(name, format)?)),
        }
    }
    /// True if the table takes the place of other results.
    pub fn is_standard(&self) -> bool {
        matches!(self, Self::Standard(_))
    }
    /// The place, for messages.
    pub fn name(&self) -> String {
        match self {
            Self::File(file) => file.name.display().to_string(),
            Self::Standard(_) => "standard output".into(),
        }
    }
    /// What to say of rows that are not wanted because the run failed.
    pub fn dropped(&self) -> String {
        match self {
            Self::File(file) => format!("; nothing was written to {}", file.name.display()),
            Self::Standard(_) => String::new(),
        }
    }
    /// What to say where writing went wrong.
    pub fn trouble(&self, error: &io::Error) -> Failure {
        match self {
            Self::File(file) => file.trouble(error),
            Self::Standard(_) => print::unwritable(error),
        }
    }
    /// A file beside it that nobody else sees.
    pub fn scratch(&self) -> io::Result<Scratch> {
        let (path, file) = draft(&self.file()?.place)?;
        Ok(Scratch { path, file })
    }
    /// Goes on with what a scratch file holds, in place of what was written.
    pub fn swap(&mut self, mut scratch: Scratch) -> io::Result<()> {
        let Self::File(file) = self else { return self.file().map(|_| ()) };
        scratch.file.set_permissions(file.writer.get_ref().metadata()?.permissions())?;
        fs::remove_file(&file.draft)?;
        file.draft = core::mem::take(&mut scratch.path);
        file.writer = BufWriter::with_capacity(1 << 16, scratch.file.try_clone()?);
        Ok(())
    }
    /// The file, which standard output is not.
    fn file(&self) -> io::Result<&NewFile> {
        match self {
            Self::File(file) => Ok(file),
            Self::Standard(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "it is standard output")),
        }
    }
    /// Goes on writing at a place.
    pub fn go_to(&mut self, at: u64) -> io::Result<()> {
        self.flush()?;
        self.file()?.writer.get_ref().seek(SeekFrom::Start(at)).map(|_| ())
    }
    /// Reads what was written, from where it would go on writing.
    pub fn read_back(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.flush()?;
        self.file()?.writer.get_ref().read_exact(bytes)
    }
    /// Where the file will be; standard output is nowhere.
    pub fn place(&self) -> Option<&Path> {
        self.file().ok().map(NewFile::place)
    }
    /// Puts the table in its place.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.finish(),
            Self::Standard(mut writer) => writer.flush().map_err(|error| print::unwritable(&error)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.writer.write(bytes),
            Self::Standard(writer) => writer.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.writer.flush(),
            Self::Standard(writer) => writer.flush(),
        }
    }
}

/// A file for what is on its way; gone when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// For reading and writing.
    pub file: File,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A file being written beside the place where it will appear. Dropped unfinished, it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    /// As the user wrote it, for messages.
    name: PathBuf,
    place: PathBuf,
    draft: PathBuf,
    writer: BufWriter<File>,
    replaces: bool,
    finished: bool,
}

impl NewFile {
    /// Starts the file, so that a path that cannot be written is known before any work is done.
    pub fn create(name: &Path, format: Format) -> Result<NewFile, Failure> {
        let refused = |why: &str| Failure::Usage(format!("cannot write {}: {why}", name.display()));
        // The file behind a link is replaced, not the link.
        let place = fs::canonicalize(name).unwrap_or_else(|_| name.to_path_buf());
        let present = fs::metadata(&place).ok();
        if print::is_stdout(name) || present.as_ref().is_some_and(print::is_behind_stdout) {
            let instead = if matches!(format, Format::Csv | Format::Results | Format::Table) {
                "; write - to put the table there"
            } else {
                ""
            };
            return Err(refused(&format!("it is where standard output goes{instead}")));
        }
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
        let (draft, file) = draft(&place).map_err(|error| refused(&reason(&error)))?;
        let replaces = present.is_some();
        if let Some(present) = present {
            // A file that replaces another keeps its permissions; where that fails, the usual ones do.
            let _ = file.set_permissions(present.permissions());
        }
        let writer = BufWriter::with_capacity(1 << 16, file);
        let file = NewFile { name: name.to_path_buf(), place, draft, writer, replaces, finished: false };
        // Last, so that of several faults the one of the path is named.
        match format.objection(name) {
            Some(why) => Err(refused(why)),
            None => Ok(file),
        }
    }

    /// What to say where writing went wrong.
    pub fn trouble(&self, error: &io::Error) -> Failure {
        let left =
            if self.replaces { "the file that was there is untouched" } else { "nothing was left there" };
        Failure::Usage(format!("cannot write {}: {}; {left}", self.name.display(), reason(error)))
    }

    /// Where it will be.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// True if its name ends so.
    pub fn ends_in(&self, ending: &str) -> bool {
        ends_in(&self.name, ending)
    }

    /// Writes the whole content and puts the file in its place.
    pub fn write(mut self, content: &[u8]) -> Result<(), Failure> {
        self.writer.write_all(content).map_err(|error| self.trouble(&error))?;
        self.finish()
    }

    /// Puts the file in its place.
    fn finish(mut self) -> Result<(), Failure> {
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

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// A new file beside the place, locked for as long as it is written. The lock ends with the program, however that ends,
/// and so tells a draft in work from one that nobody will finish.
fn draft(place: &Path) -> io::Result<(PathBuf, File)> {
    sweep(place);
    loop {
        // Process ids come again, in containers soon; with the clock the name is new.
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let draft = place.with_file_name(format!("{PREFIX}{}-{clock}{SUFFIX}", std::process::id()));
        let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        // Another program may sweep between the two calls; then this draft is lost, and the next one is not. Some file
        // systems have no locks: nobody sweeps there.
        let swept = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) || !draft.exists();
        if !swept {
            return Ok((draft, file));
        }
    }
}

const PREFIX: &str = ".polhode-";
const SUFFIX: &str = ".tmp";

/// Removes the drafts beside the place that killed programs have left.
fn sweep(place: &Path) {
    let folder = match place.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return,
    };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let middle = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let numbers = middle.and_then(|middle| middle.split_once('-'));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !numbers.is_some_and(|(id, clock)| digits(id) && digits(clock))
            || !entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            continue;
        }
        let path = entry.path();
        // Held until the draft is gone, so that its owner cannot take the lock in between.
        if let Ok(file) = OpenOptions::new().read(true).write(true).open(&path)
            && file.try_lock().is_ok()
            && !kept::is_spoken_of(&file)
        {
            let _ = fs::remove_file(&path);
        }
    }
}

fn ends_in(name: &Path, ending: &str) -> bool {
    name.extension().is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

/// The common reasons why nothing can be written, in plain words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist or takes no files".into(),
        io::ErrorKind::NotADirectory => "its folder is not a directory".into(),
        io::ErrorKind::PermissionDenied => "no permission to write there".into(),
        io::ErrorKind::FileTooLarge => "it would pass the limit for the size of files".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        io::ErrorKind::QuotaExceeded => "there is no room left for you on the disk".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".into(),
        _ => error.to_string(),
    }
}
