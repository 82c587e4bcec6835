//! The text of a model as a tree of values with their places.
//!
//! There may be millions of values: each takes little memory, and a long text is parsed piece by piece, because what the
//! parser keeps of a text on its way is forty times as large as the text.

use super::place::{Fault, Spot};
use crate::lookup::not_finite;
use std::borrow::Cow;
use std::collections::HashSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Debug, PartialEq)]
pub(super) struct Value<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) spot: Spot,
}

#[derive(Debug, PartialEq)]
pub(super) enum Kind<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    /// A number that cannot be used, and why.
    NoNumber(Box<str>),
    Flag(bool),
    Date,
    Array(Vec<Value<'a>>),
    /// In the order of the text.
    Table(Vec<Entry<'a>>),
}

/// One value of a table with its key.
#[derive(Debug, PartialEq)]
pub(super) struct Entry<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_spot: Spot,
    pub(super) value: Value<'a>,
}

/// About how many bytes are parsed at a time.
const PIECE: usize = 1 << 16;
/// A model has fewer keys of its own than this; keys of anything else are not looked for among so many.
const MOST_KEYS: usize = 64;

/// The tables of a text, in their order.
pub(super) fn parse(text: &str) -> Result<Vec<Entry<'_>>, Fault> {
    if u32::try_from(text.len()).is_err() {
        return Err(Fault::new(&(0..0), "a model file has at most 4 GiB"));
    }
    parse_by(text, PIECE)
}

fn parse_by(text: &str, piece: usize) -> Result<Vec<Entry<'_>>, Fault> {
    if let Some(tree) = in_pieces(text, piece) {
        return Ok(tree);
    }
    // What is wrong is told of the whole.
    let document = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Fault::new(&span, format!("this is not TOML: {}", error.message().replace('\n', " ")))
    })?;
    Ok(entries(document.into_inner(), 0))
}

/// The same by pieces that begin with the header of a table; nothing where something is wrong, or where tables of several pieces
/// belong together in an unusual way. A piece that is TOML by itself means the same before any other: a statement ends with
/// its line, and what goes on beyond it, a text or an array, is wrong where it ends.
fn in_pieces(text: &str, piece: usize) -> Option<Vec<Entry<'_>>> {
    let mut tree: Vec<Entry<'_>> = Vec::new();
    let (mut start, mut length) = (0, piece);
    while start < text.len() {
        let end = text.as_bytes().get(start + length..).and_then(|rest| {
            let header = rest.windows(2).position(|two| two == b"\n[")?;
            Some(start + length + header + 1)
        });
        let end = end.unwrap_or(text.len());
        match DeTable::parse(&text[start..end]) {
            Ok(document) => {
                join(&mut tree, entries(document.into_inner(), start))?;
                (start, length) = (end, piece);
            }
            // It may end within an array, whose rows look like headers.
            Err(_) if end < text.len() => length *= 2,
            Err(_) => return None,
        }
    }
    let whole = tree.iter().all(|entry| match &entry.value.kind {
        Kind::Table(inner) => are_distinct(inner),
        _ => true,
    });
    whole.then_some(tree)
}

/// Adds the tables of a later piece to those of the pieces before it.
fn join<'a>(tree: &mut Vec<Entry<'a>>, more: Vec<Entry<'a>>) -> Option<()> {
    for entry in more {
        match tree.iter().position(|known| known.key == entry.key) {
            None if tree.len() == MOST_KEYS => return None,
            None => tree.push(entry),
            Some(known) => extend(&mut tree[known], entry)?,
        }
    }
    Some(())
}

/// Adds what a later piece says of the same key.
fn extend<'a>(known: &mut Entry<'a>, later: Entry<'a>) -> Option<()> {
    // What a header makes stands before the key, or where it stands.
    let is_headed = |entry: &Entry<'_>| entry.value.spot.start <= entry.key_spot.start;
    // Only the tables in it have headers.
    let is_implied = later.value.spot == later.key_spot;
    if !(is_headed(known) && is_headed(&later)) {
        return None;
    }
    match (&mut known.value.kind, later.value.kind) {
        (Kind::Array(list), Kind::Array(more)) => list.extend(more),
        (Kind::Table(inner), Kind::Table(more)) if is_implied => {
            let mut more = more.into_iter();
            match (inner.last_mut(), more.next()) {
                // A table whose own tables are in the next piece.
                (Some(last), Some(first)) if last.key == first.key => {
                    extend(last, first)?;
                    let Kind::Table(grown) = &last.value.kind else { return None };
                    are_distinct(grown).then_some(())?;
                }
                (_, first) => inner.extend(first),
            }
            inner.extend(more);
        }
        _ => return None,
    }
    Some(())
}

fn are_distinct(entries: &[Entry<'_>]) -> bool {
    let mut keys = HashSet::with_capacity(entries.len());
    entries.iter().all(|entry| keys.insert(&*entry.key))
}

/// A table of a piece that begins at a place of the text.
fn entries<'a>(table: DeTable<'a>, start: usize) -> Vec<Entry<'a>> {
    let entry = |(key, value): (Spanned<Cow<'a, str>>, _)| Entry {
        key_spot: Spot::new(&key.span(), start),
        key: key.into_inner(),
        value: value_of(value, start),
    };
    let mut entries: Vec<Entry<'a>> = table.into_iter().map(entry).collect();
    entries.sort_unstable_by_key(|entry| entry.key_spot.start);
    entries
}

fn value_of(value: Spanned<DeValue<'_>>, start: usize) -> Value<'_> {
    let spot = Spot::new(&value.span(), start);
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::Text(text),
        DeValue::Integer(whole) if whole.radix() != 10 => {
            match i64::from_str_radix(whole.as_str(), whole.radix()) {
                Ok(x) => Kind::Number(x as f64),
                Err(_) => Kind::NoNumber(format!("{whole} is too large for a number").into()),
            }
        }
        DeValue::Integer(whole) => number(whole.as_str()),
        DeValue::Float(float) => number(float.as_str()),
        DeValue::Boolean(flag) => Kind::Flag(flag),
        DeValue::Datetime(_) => Kind::Date,
        DeValue::Array(list) => {
            // Collected, they would keep the room of the parser's values, which are larger.
            let mut values = Vec::with_capacity(list.len());
            values.extend(list.into_iter().map(|value| value_of(value, start)));
            Kind::Array(values)
        }
        DeValue::Table(table) => Kind::Table(entries(table, start)),
    };
    Value { kind, spot }
}

fn number<'a>(text: &str) -> Kind<'a> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Kind::Number(x),
        _ => Kind::NoNumber(format!("{text} is {}", not_finite(text)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read in pieces of every length is what is read as a whole.
    fn assert_same(text: &str) {
        let whole = DeTable::parse(text).map(|document| entries(document.into_inner(), 0));
        for piece in 1..=text.len() {
            match (&whole, parse_by(text, piece)) {
                (Ok(whole), Ok(tree)) => assert_eq!(whole, &tree, "pieces of {piece} bytes of:\n{text}"),
                (Err(error), Err(fault)) => assert!(fault.message.contains(error.message()), "{fault:?}"),
                (_, tree) => panic!("pieces of {piece} bytes of:\n{text}\n{tree:?}"),
            }
        }
    }

    #[test]
    fn pieces_make_the_tree_of_the_whole() {
        let texts = [
            "a = 1\n[b.c]\nd = [\n[1, 2],\n[3, 4],\n]\n[b.e]\nf = '''\n[b.g]\n'''\n[h]\n",
            "[[loads]]\nx = 1\n[bodies.a]\n[[loads]]\nx = 2\n[loads.y]\nz = 3\n[bodies.b]\n[loads.w]\n",
            "[bodies.a]\nm = 1\n[bodies.a.shape]\nbox = 0x1f\n[bodies.a.other]\n[bodies.b]\n[bodies]\nm = 1e999\n",
            "a.b = 1\n[a.c]\nd = inf\n[e]\nf.g = 1_0\n[e.f.h]\n[e.i]\nj = 2020-01-01\n",
            "\u{feff}[ä.'ö']\nu = \"\\u00fc\"\n[ä.p]\r\n[ä.q]\r\nv = { w = [{}] }\r\n[ä.p.r]\n",
        ];
        texts.into_iter().for_each(assert_same);
    }
    #[test]
    fn what_is_wrong_is_told_as_of_the_whole() {
        let texts = [
            "[bodies.a]\n[bodies.b]\n[bodies.a]\n",
            "[bodies.a]\nx = 1\n[bodies.b]\n[bodies.a.x]\n",
            "bodies = { a = 1 }\n[bodies.b]\n",
            "loads = []\n[[loads]]\n",
            "[loads]\n[a]\n[[loads]]\n",
            "[a]\nb.c = 1\n[d]\n[a.b]\n",
            "[a]\n[b]\nx = [\n[1],\n[c]\n",
            "[a]\n[b]\nx = ]\n[c]\n",
        ];
        for text in texts {
            assert!(parse_by(text, PIECE).is_err(), "{text}");
            assert_same(text);
        }
    }
    #[test]
    fn values_take_little_memory() {
        assert!(size_of::<Value<'_>>() <= 40 && size_of::<Entry<'_>>() <= 72);
    }
}
