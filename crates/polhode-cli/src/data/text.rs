//! Tables from text: a header, and rows with as many cells.

use crate::failure::Failure;
use crate::{args, files};
use std::path::Path;

/// The most that is read, in bytes: some million rows, far more than a fit can use.
const LARGEST: u64 = 256 << 20;

/// What cells may be separated by. Of as many of each in a header, the first.
const SEPARATORS: [char; 3] = [';', '\t', ','];

/// Words for a number that is not there.
const GAPS: [&str; 5] = ["", "nan", "na", "n/a", "null"];

/// A file as cells, each row with its line.
#[derive(Debug)]
pub struct Table {
    /// Its name, for messages.
    pub name: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The cells of each row.
    pub rows: Vec<(usize, Vec<String>)>,
    /// Whether numbers may be written with a comma.
    decimal_comma: bool,
}

/// How often a character stands outside of quotes.
fn count(line: &str, mark: char) -> usize {
    line.split('"').step_by(2).map(|outside| outside.matches(mark).count()).sum()
}

/// The separator of a header.
fn separator(header: &str) -> char {
    let counts = SEPARATORS.map(|mark| count(header, mark));
    let most = counts.iter().max().copied().unwrap_or(0);
    let found = SEPARATORS.iter().zip(counts).find(|(_, count)| *count == most);
    found.filter(|_| most > 0).map_or(',', |(mark, _)| *mark)
}

/// The cells of a line, without the blanks and quotes around them; nothing if a quote does not end.
fn cells(line: &str, separator: char) -> Option<Vec<String>> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let start = rest.trim_start_matches(|c: char| c.is_whitespace() && c != separator);
        let (cell, after) = match start.strip_prefix('"') {
            Some(inside) => quoted(inside)?,
            None => {
                let end = start.find(separator).unwrap_or(start.len());
                (start[..end].trim().to_string(), &start[end..])
            }
        };
        // What follows a quote up to the separator belongs to the cell, as other programs have it.
        let end = after.find(separator).unwrap_or(after.len());
        cells.push(cell + after[..end].trim_end());
        match after[end..].strip_prefix(separator) {
            Some(next) => rest = next,
            None => return Some(cells),
        }
    }
}

/// The text up to a quote that is not doubled, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut cell, mut rest) = (String::new(), text);
    loop {
        let end = rest.find('"')?;
        cell.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                cell.push('"');
                rest = more;
            }
            None => return Some((cell.trim().to_string(), rest)),
        }
    }
}

impl Table {
    /// Reads a file, or standard input if its name is `-`.
    pub fn read(path: &Path) -> Result<Table, Failure> {
        let bytes = match path.to_str() {
            Some("-") => files::read_standard("data", LARGEST)?,
            _ => files::read(path, "data", LARGEST)?,
        };
        Table::parse(&super::name(path), bytes)
    }

    /// Reads the bytes of a file: a header, and rows with as many cells. Empty lines and comments do not count.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Table, Failure> {
        let wrong = |text: String| Failure::Usage(format!("{name}: {text}"));
        let text =
            String::from_utf8(bytes).map_err(|_| wrong("it is not text; the data are a CSV file".into()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty()).peekable();
        let mut comment = None;
        while let Some((line, text)) = lines.next_if(|(_, line)| line.trim_start().starts_with('#')) {
            comment = Some((line, text.trim_start().trim_start_matches('#')));
        }
        let mut lines = lines.filter(|(_, line)| !line.trim_start().starts_with('#')).peekable();
        let Some(&(at, first)) = lines.peek() else {
            return Err(wrong("the file is empty; it needs a header and rows".into()));
        };
        if first.contains('\r') {
            let text = "has carriage returns in it; lines end in a line feed";
            return Err(wrong(format!("line {at} {text}")));
        }
        let unclosed = |line: usize| wrong(format!("line {line}: a quote is opened and does not end there"));
        // Some programs write the header as a comment.
        let (at, head) = match comment {
            Some((line, text)) if is_row_under(text, first) => (line, text),
            _ => {
                lines.next();
                (at, first)
            }
        };
        let separator = separator(head);
        let header = cells(head, separator).ok_or_else(|| unclosed(at))?;
        let table = Table { name: name.into(), header, rows: Vec::new(), decimal_comma: separator != ',' };
        if table.header.iter().all(|cell| table.number(cell).is_ok()) {
            let text = "has numbers where the names of the columns should stand; the first line is a header";
            return Err(wrong(format!("line {at} {text}")));
        }
        for (i, column) in table.header.iter().enumerate() {
            if !column.is_empty() && table.header[..i].contains(column) {
                return Err(wrong(format!(
                    "line {at}: there are two columns {column}; rename or remove one"
                )));
            }
        }
        let columns = table.header.len();
        let row = |(line, text): (usize, &str)| {
            let cells = cells(text, separator).ok_or_else(|| unclosed(line))?;
            if cells.len() != columns {
                let few = if cells.len() < columns { "too few" } else { "too many" };
                let text = format!("line {line} has {few} cells: {} for {columns} columns", cells.len());
                return Err(wrong(text));
            }
            Ok((line, cells))
        };
        let rows = lines.map(row).collect::<Result<_, _>>()?;
        Ok(Table { rows, ..table })
    }

    /// The number in a cell, NaN for a gap; or what is wrong with it.
    pub fn number(&self, cell: &str) -> Result<f64, String> {
        if GAPS.iter().any(|gap| cell.eq_ignore_ascii_case(gap)) {
            return Ok(f64::NAN);
        }
        let comma = self.decimal_comma && !cell.contains('.') && cell.matches(',').count() == 1;
        let number = if comma { args::number(&cell.replace(',', ".")) } else { args::number(cell) };
        match number {
            Ok(x) if x.is_finite() => Ok(x),
            Ok(_) => Err(format!("{cell} is not a finite number")),
            Err(why) => Err(format!("'{cell}' is {why}")),
        }
    }
}

/// Whether a comment has names for the cells of a line, all of which are numbers.
fn is_row_under(comment: &str, line: &str) -> bool {
    let separator = separator(comment);
    let number = |cell: &String| args::number(&cell.replace(',', ".")).is_ok();
    match (cells(comment, separator), cells(line, separator)) {
        (Some(names), Some(row)) => names.len() == row.len() && row.iter().all(number),
        _ => false,
    }
}
