//! Where something stands in the text of a model, and what is wrong there.

use core::fmt;
use core::ops::Range;

/// From one byte of the text to another.
pub(crate) type Span = Range<usize>;

/// The same in half the memory, of a text of less than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Spot {
    /// Of a piece of the text that begins at a byte of it.
    pub(crate) fn new(span: &Span, start: usize) -> Self {
        Spot { start: (start + span.start) as u32, end: (start + span.end) as u32 }
    }
    pub(crate) fn span(self) -> Span {
        self.start as usize..self.end as usize
    }
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    /// The parameter or key that it is about, where that is known.
    pub(crate) subject: Option<String>,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(span: &Span, message: impl Into<String>) -> Self {
        Fault { span: span.clone(), subject: None, message: tidy(&message.into()) }
    }
    /// The same about a parameter or key, unless it knows better.
    pub(crate) fn of(self, subject: &str) -> Self {
        Fault { subject: Some(self.subject.unwrap_or_else(|| subject.into())), ..self }
    }
}

/// The most characters of a message, which may quote anything.
const LONGEST: usize = 600;

/// True for a character that would move the cursor, or turn the direction of what follows.
fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text that a terminal shows as it is, and not at any length.
pub(crate) fn tidy(text: &str) -> String {
    let shown: String = text.chars().take(LONGEST).map(|c| if is_odd(c) { '?' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() { shown + "..." } else { shown }
}

/// A place in a text: its line with the part of it that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from one.
    pub line: usize,
    /// The column, from one, in characters.
    pub column: usize,
    /// The line itself.
    pub text: String,
    /// How many characters of it are meant.
    pub length: usize,
}

/// The most characters of a line that are shown.
const SHOWN: usize = 72;

impl Place {
    /// Of a part of a text.
    pub(crate) fn of(text: &str, span: &Span) -> Place {
        let floor = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (floor(span.start), floor(span.end.max(span.start)));
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let stop = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[begin..stop].trim_end_matches('\r');
        Place {
            line: text[..start].matches('\n').count() + 1,
            column: text[begin..start].chars().count() + 1,
            text: line.into(),
            length: text[start..end.min(begin + line.len()).max(start)].chars().count().max(1),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A long line is shown from a little before what is meant.
        let count = self.text.chars().count();
        let skip = match count > SHOWN {
            true => (self.column - 1).saturating_sub(SHOWN / 4).min(count - SHOWN),
            false => 0,
        };
        let (before, after) =
            (if skip > 0 { "..." } else { "" }, if count > skip + SHOWN { "..." } else { "" });
        let shown: String =
            self.text.chars().skip(skip).take(SHOWN).map(|c| if is_odd(c) { ' ' } else { c }).collect();
        let number = self.line.to_string();
        let blank = " ".repeat(number.len());
        let indent = " ".repeat(before.len() + self.column - 1 - skip.min(self.column - 1));
        let marks = "^".repeat(self.length.min((SHOWN + skip + 1).saturating_sub(self.column).max(1)));
        write!(f, " {number} | {before}{shown}{after}\n {blank} | {indent}{marks}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_shows_its_line() {
        let text = "first\r\nmäss = -5\nlast";
        let place = Place::of(text, &(15..17));
        assert_eq!((place.line, place.column, place.length), (2, 8, 2));
        assert_eq!(place.to_string(), " 2 | mäss = -5\n   |        ^^");
        // Beyond the text, inside a character, or over several lines: still a place.
        assert_eq!(Place::of(text, &(400..900)).line, 3);
        assert_eq!(Place::of(text, &(9..9)).column, 2);
        assert_eq!(Place::of(text, &(0..20)).length, 5);
        let long = format!("{}x{}", "a".repeat(500), "b".repeat(500));
        let shown = Place::of(&long, &(500..501)).to_string();
        let (line, marks) = shown.split_once('\n').unwrap();
        assert!(
            line.chars().count() < 90 && line.chars().nth(marks.find('^').unwrap()) == Some('x'),
            "{shown}"
        );
    }
}
