//! Results read back: the files that this program writes, no others of their formats.

pub use super::foreign::columns;
use super::{Kind, mcap, npz, parquet, thrift};
use crate::failure::Failure;
use crate::files;
use serde_json::Value;
use std::path::Path;

/// The most that is read, in bytes.
const LARGEST: u64 = 2 << 30;

/// A result.
#[derive(Debug)]
pub struct Stored {
    /// Its columns by name.
    pub columns: Vec<(String, Vec<f64>)>,
    /// What is said of the whole.
    pub metadata: Value,
}

impl Stored {
    /// The numbers of a column.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(own, _)| own == name).map(|(_, values)| values.as_slice())
    }
}

/// Reads a result of a run.
pub fn stored(path: &Path) -> Result<Stored, Failure> {
    let shown = path.display();
    let read = match Kind::of(path) {
        Some(Kind::Npz) => npz,
        Some(Kind::Parquet) => parquet,
        Some(Kind::Mcap) => mcap,
        Some(Kind::Csv) => {
            return Err(Failure::Usage(format!(
                "{shown}: a CSV file has rows alone, and a report needs the bodies too; write .npz, .parquet or .mcap with \
                 `polhode run --out`"
            )));
        }
        None => {
            return Err(Failure::Usage(format!(
                "{shown}: a result that can be viewed ends in .npz, .parquet or .mcap"
            )));
        }
    };
    let bytes = files::read(path, "result", LARGEST)?;
    let stored = read(&bytes).filter(|stored| {
        let rows = stored.columns.first().map_or(0, |(_, values)| values.len());
        stored.columns.iter().all(|(_, values)| values.len() == rows)
    });
    stored.ok_or_else(|| {
        Failure::Usage(format!("{shown}: it is damaged, or not a result that this program has written"))
    })
}

/// Some bytes of a file.
fn piece(bytes: &[u8], at: u64, length: u64) -> Option<&[u8]> {
    let (from, length) = (usize::try_from(at).ok()?, usize::try_from(length).ok()?);
    bytes.get(from..from.checked_add(length)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let number = |eight: &[u8]| f64::from_le_bytes(core::array::from_fn(|i| eight[i]));
    bytes.chunks_exact(8).map(number).collect()
}

/// Arrays of numpy, entry by entry from the start.
pub fn npz(bytes: &[u8]) -> Option<Stored> {
    let (mut at, mut columns, mut metadata) = (0, Vec::new(), None);
    while bytes.get(at..at + 4)? == b"PK\x03\x04" {
        let (name_length, extra) =
            (usize::from(u16_at(bytes, at + 26)?), usize::from(u16_at(bytes, at + 28)?));
        let name = std::str::from_utf8(bytes.get(at + 30..at + 30 + name_length)?).ok()?;
        let field = at + 30 + name_length;
        // The sizes are in the extra field.
        let (stored, size) = (u16_at(bytes, at + 8)? == 0, u64_at(bytes, field + 4)?);
        let array = piece(bytes, (field + extra) as u64, size)?;
        let head = 10 + usize::from(u16_at(array, 8)?);
        let (says, data) = (std::str::from_utf8(array.get(10..head)?).ok()?, array.get(head..)?);
        if !stored || crc32fast::hash(array) != u32_at(bytes, at + 14)? {
            return None;
        }
        let name = name.strip_suffix(".npy")?;
        if name == npz::METADATA {
            let letter = |four: &[u8]| char::from_u32(u32_at(four, 0)?);
            let text: String = data.chunks_exact(4).map(letter).collect::<Option<_>>()?;
            metadata = Some(serde_json::from_str(&text).ok()?);
        } else if says.contains("'<f8'") {
            columns.push((name.to_string(), numbers(data)));
        }
        at = field + extra + array.len();
    }
    Some(Stored { columns, metadata: metadata? })
}

/// Parquet, as its footer says.
pub fn parquet(bytes: &[u8]) -> Option<Stored> {
    let tail = bytes.len().checked_sub(8)?;
    if bytes.get(..4)? != parquet::MAGIC || bytes.get(tail + 4..)? != parquet::MAGIC {
        return None;
    }
    let length = u32_at(bytes, tail)? as usize;
    let footer = thrift::read(&mut bytes.get(tail.checked_sub(length)?..tail)?)?;
    let names: Vec<&str> =
        footer.get(2)?.list().iter().skip(1).map(|element| element.get(4)?.text()).collect::<Option<_>>()?;
    let mut columns: Vec<(String, Vec<f64>)> =
        names.iter().map(|name| (name.to_string(), Vec::new())).collect();
    for group in footer.get(4)?.list() {
        let chunks = group.get(1)?.list();
        if chunks.len() != columns.len() {
            return None;
        }
        for (chunk, (_, values)) in chunks.iter().zip(&mut columns) {
            let column = chunk.get(3)?;
            let plain =
                column.get(1)?.number()? == i64::from(parquet::DOUBLE) && column.get(4)?.number()? == 0;
            let (count, at) = (column.get(5)?.number()?, column.get(9)?.number()?);
            let mut rest = bytes.get(usize::try_from(at).ok()?..)?;
            thrift::read(&mut rest)?;
            let size = u64::try_from(count).ok()?.checked_mul(8)?;
            values.extend(numbers(piece(rest, 0, size).filter(|_| plain)?));
        }
    }
    let pairs = footer.get(5)?.list();
    let own = pairs.iter().find(|pair| pair.get(1).and_then(|key| key.text()) == Some(parquet::METADATA))?;
    Some(Stored { columns, metadata: serde_json::from_str(own.get(2)?.text()?).ok()? })
}

/// The records of a stretch of an MCAP file.
fn records(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    core::iter::from_fn(move || {
        let (op, length) = (*bytes.first()?, u64_at(bytes, 1)?);
        let content = piece(bytes, 9, length)?;
        bytes = bytes.get(9 + content.len()..)?;
        Some((op, content))
    })
}

/// A text with its length before it, and what is behind it.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let length = u64::from(u32_at(bytes, 0)?);
    let text = std::str::from_utf8(piece(bytes, 4, length)?).ok()?;
    Some((text, bytes.get(4 + text.len()..)?))
}

/// Messages of the columns, and the metadata.
pub fn mcap(bytes: &[u8]) -> Option<Stored> {
    let inside = bytes.strip_prefix(mcap::MAGIC)?.strip_suffix(mcap::MAGIC)?;
    let (mut columns, mut metadata): (Vec<(String, Vec<f64>)>, _) = (Vec::new(), None);
    for (op, content) in records(inside) {
        if op == mcap::op::METADATA {
            let mut rest = text(content)?.1.get(4..)?;
            while !rest.is_empty() {
                let (key, behind) = text(rest)?;
                let (value, behind) = text(behind)?;
                if key == mcap::JSON {
                    metadata = serde_json::from_str(value).ok();
                }
                rest = behind;
            }
        }
        if op != mcap::op::CHUNK {
            continue;
        }
        let messages = content.get(40..)?;
        if crc32fast::hash(messages) != u32_at(content, 24)? {
            return None;
        }
        for (op, message) in records(messages) {
            if op != mcap::op::MESSAGE || u16_at(message, 0)? != mcap::COLUMNS {
                continue;
            }
            let value: Value = serde_json::from_slice(message.get(22..)?).ok()?;
            let mut leaves = Vec::new();
            flatten("", &value, &mut leaves);
            if columns.is_empty() {
                columns = leaves.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
            }
            if columns.len() != leaves.len() {
                return None;
            }
            for ((_, values), (_, x)) in columns.iter_mut().zip(leaves) {
                values.push(x);
            }
        }
    }
    Some(Stored { columns, metadata: metadata? })
}

fn flatten(name: &str, value: &Value, out: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                flatten(&if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, inner, out);
            }
        }
        _ => out.extend(value.as_f64().map(|x| (name.to_string(), x))),
    }
}
