//! Text for people and for programs: stdout for results, stderr for notes, and numbers in few characters.

use crate::failure::Failure;
use crate::host;
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

/// How much is said beside the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talk {
    /// Errors alone.
    Quiet,
    /// Notes, warnings and progress too.
    Usual,
    /// And where the time goes.
    Verbose,
}

static TALK: AtomicU8 = AtomicU8::new(Talk::Usual as u8);

/// Says so much from now on.
pub fn talk(how: Talk) {
    TALK.store(how as u8, Ordering::Relaxed);
}

/// True if so much is to be said.
pub fn says(how: Talk) -> bool {
    TALK.load(Ordering::Relaxed) >= how as u8 && !(how > Talk::Usual && host::is_there())
}

// The object that `--json` prints, until it is known how the command ends.
thread_local! {
    static RESULT: RefCell<Option<Value>> = const { RefCell::new(None) };
}

/// True if a path is one of the names that systems have for standard output.
pub fn is_stdout(path: &Path) -> bool {
    ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// True if standard output goes to this very file, which would be replaced under its feet.
#[cfg(unix)]
pub fn is_behind_stdout(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |out: rustix::fs::Stat| (out.st_dev, out.st_ino) == (file.dev(), file.ino());
    file.is_file() && rustix::fs::fstat(io::stdout()).is_ok_and(same)
}

/// Elsewhere that cannot be seen.
#[cfg(not(unix))]
pub fn is_behind_stdout(_: &fs::Metadata) -> bool {
    false
}

/// What to say where standard output takes nothing; a reader that has gone is no trouble.
pub fn unwritable(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Usage(format!("cannot write to standard output: {error}")),
    }
}

/// Writes results to stdout, in one go.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| unwritable(&error))
}

/// Writes a summary: to stdout, or to stderr where a table takes its place there.
pub fn summary(text: &str, beside_table: bool) -> Result<(), Failure> {
    if beside_table {
        note(text.trim_end());
        return Ok(());
    }
    result(text)
}

/// Keeps a result that is to be written to stdout as JSON when the command has ended: there is one object there, which
/// also says what went wrong after the results were known.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    match serde_json::to_value(value) {
        Ok(value) => {
            RESULT.set(Some(value));
            Ok(())
        }
        Err(error) => Err(Failure::Usage(format!("the result cannot be written as JSON: {error}"))),
    }
}

/// The result that was kept, once.
pub fn kept_json() -> Option<Value> {
    RESULT.take()
}

/// Writes the JSON of a command that has ended: its result, with the failure in it if there is one, or the failure alone
/// where it was `wanted`. Numbers read back to the same bits.
pub fn end_of_json(failure: Option<&Failure>, wanted: bool) -> Result<(), Failure> {
    let kept = kept_json();
    let value = match (kept, failure) {
        (Some(Value::Object(mut object)), Some(failure)) => {
            object.insert("failure".into(), failure.json());
            Value::Object(object)
        }
        (Some(value), _) => value,
        (None, Some(failure)) if wanted => serde_json::json!({ "error": failure.json() }),
        (None, _) => return Ok(()),
    };
    match serde_json::to_string_pretty(&value) {
        Ok(text) => result(&(text + "\n")),
        Err(error) => Err(Failure::Usage(format!("the result cannot be written as JSON: {error}"))),
    }
}

/// A line to stderr. If nobody can read it, there is nobody left to say so to.
pub fn error(text: &str) {
    if host::note(text) {
        return;
    }
    let _ = writeln!(io::stderr(), "{text}");
}

/// The same for what is no error, and not said to those who want quiet.
pub fn note(text: &str) {
    if says(Talk::Usual) {
        error(text);
    }
}

/// The same for those who want to know more.
pub fn detail(text: impl FnOnce() -> String) {
    if says(Talk::Verbose) {
        error(&text());
    }
}

/// The columns that there are: those of the terminal, and never fewer than fit on any.
pub fn width() -> usize {
    const USUAL: usize = 80;
    let terminal = terminal_size::terminal_size_of(io::stdout());
    terminal.map_or(USUAL, |(terminal_size::Width(columns), _)| usize::from(columns).max(USUAL))
}

/// A text as lines of at most this many characters, cut between words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.into());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// A paragraph as wide as the screen, each line indented.
pub fn paragraph(indent: usize, text: &str) -> String {
    let margin = " ".repeat(indent);
    wrap(text, width() - indent).iter().map(|line| format!("{margin}{line}\n")).collect()
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// How wide the columns are.
fn widths(columns: &[Align], rows: &[Vec<String>]) -> Vec<usize> {
    let longest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    // Formats have widths of sixteen bits; nothing that long lines up with anything.
    (0..columns.len()).map(|column| longest(column).min(MOST_WIDE)).collect()
}

/// The widest column that others are lined up with.
const MOST_WIDE: usize = 1000;

/// One row of a table.
fn line(indent: usize, columns: &[Align], widths: &[usize], row: &[String]) -> String {
    let mut line = " ".repeat(indent);
    for ((cell, align), width) in row.iter().zip(columns).zip(widths) {
        match align {
            Align::Left => line.push_str(&format!("{cell:<width$}  ")),
            Align::Right => line.push_str(&format!("{cell:>width$}  ")),
        }
    }
    line.trim_end().to_string() + "\n"
}

/// The rows of a table of numbers, each as its line.
pub fn lines(indent: usize, rows: &[Vec<String>]) -> Vec<String> {
    let columns = vec![Align::Right; rows.first().map_or(0, Vec::len)];
    let widths = widths(&columns, rows);
    rows.iter().map(|row| line(indent, &columns, &widths, row)).collect()
}

/// The least room in which text can be read.
const NARROW: usize = 24;

/// Lines with aligned columns, two blanks apart, each line indented. Where the screen is too narrow, text in the last
/// column is wrapped, or stands below its row; where that does not help, the first column has lines of its own.
pub fn table(indent: usize, columns: &[Align], rows: &[Vec<String>]) -> String {
    let widths = widths(columns, rows);
    // Columns at the end in which nothing stands take no room.
    let used = widths.iter().rposition(|width| *width > 0).map_or(0, |last| last + 1);
    let (columns, widths) = (&columns[..used], &widths[..used]);
    let line = |indent, from: usize, row: &[String]| line(indent, &columns[from..], &widths[from..], row);
    let last = used.saturating_sub(1);
    // With the gap after each of them.
    let before: usize = indent + widths[..last].iter().map(|width| width + 2).sum::<usize>();
    let (screen, text) = (width(), columns.last() == Some(&Align::Left));
    let mut lines = String::new();
    for row in rows {
        let remark = row.get(last).filter(|_| text && before + widths.get(last).unwrap_or(&0) > screen);
        match remark {
            None if before + widths.get(last).unwrap_or(&0) <= screen => {
                lines.push_str(&line(indent, 0, row))
            }
            Some(remark) if before + NARROW <= screen => {
                for (i, part) in wrap(remark, screen - before).into_iter().enumerate() {
                    let mut cells = if i == 0 { row[..last].to_vec() } else { vec![String::new(); last] };
                    cells.push(part);
                    lines.push_str(&line(indent, 0, &cells));
                }
            }
            Some(remark) if before <= screen => {
                lines.push_str(&line(indent, 0, &row[..last]));
                if !remark.is_empty() {
                    lines.push_str(&paragraph(indent + 4, remark));
                }
            }
            _ => {
                if let Some(name) = row.first().filter(|name| !name.is_empty()) {
                    lines.push_str(&format!("{:indent$}{name}\n", ""));
                }
                let rest = row.get(1..).unwrap_or_default();
                if rest.iter().any(|cell| !cell.is_empty()) {
                    lines.push_str(&line(indent + 4, 1, rest));
                }
            }
        }
    }
    lines
}

/// A table of numbers under a head, with names in the first column. Where the screen is too narrow, further columns
/// follow in tables of their own, each with the names again.
pub fn stacked(rows: &[Vec<String>]) -> String {
    let longest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let columns = rows.first().map_or(0, Vec::len);
    let (mut from, mut parts) = (1, Vec::new());
    while from < columns {
        let mut room = width().saturating_sub(longest(0));
        let mut to = from;
        while to < columns && (to == from || longest(to) + 2 <= room) {
            room = room.saturating_sub(longest(to) + 2);
            to += 1;
        }
        let mut align = vec![Align::Right; 1 + to - from];
        align[0] = Align::Left;
        let part: Vec<Vec<String>> = rows.iter().map(|row| [&row[..1], &row[from..to]].concat()).collect();
        parts.push(table(0, &align, &part));
        from = to;
    }
    parts.join("\n")
}

/// An error or a drift: three digits are plenty.
pub fn small(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:.2e}") }
}

/// A number as its owner would write it, without losing a digit.
pub fn plain(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (1e-4..1e7).contains(&size) { format!("{x}") } else { format!("{x:e}") }
}

/// Numbers as a datum is written on the command line.
pub fn list(values: &[f64]) -> String {
    values.iter().map(|x| plain(*x)).collect::<Vec<_>>().join(",")
}

/// A duration with a unit that fits.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// A count with its noun.
pub fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
