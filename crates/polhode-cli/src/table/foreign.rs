//! Parquet as other programs write it: flat columns of numbers, plain or by a dictionary, with gaps or none, uncompressed or
//! packed with Snappy.

use super::parquet::MAGIC;
use super::thrift::{self, Field};

/// Columns by name.
pub type Columns = Vec<(String, Vec<f64>)>;

/// Types of columns.
const BOOLEAN: i64 = 0;
const INT32: i64 = 1;
const INT64: i64 = 2;
const FLOAT: i64 = 4;
const DOUBLE: i64 = 5;

/// The most rows that are read.
const MOST: usize = 1 << 27;

/// Reads the columns of a file, which must all be numbers.
pub fn columns(bytes: &[u8]) -> Result<Columns, String> {
    let damaged = || "it is damaged, or no Parquet file".to_string();
    let tail = bytes.len().checked_sub(8).ok_or_else(damaged)?;
    if bytes.get(..4) != Some(MAGIC) || bytes.get(tail + 4..) != Some(MAGIC) {
        return Err(damaged());
    }
    let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().map_err(|_| damaged())?) as usize;
    let from = tail.checked_sub(length).ok_or_else(damaged)?;
    let footer = thrift::read(&mut &bytes[from..tail]).ok_or_else(damaged)?;
    let schema = footer.get(2).map(Field::list).ok_or_else(damaged)?;
    let mut found: Vec<(String, bool, Vec<f64>)> = Vec::new();
    for element in schema.iter().skip(1) {
        let name = element.get(4).and_then(Field::text).ok_or_else(damaged)?;
        let kind = element.get(1).and_then(Field::number);
        let repetition = element.get(3).and_then(Field::number).unwrap_or(0);
        let numbers = matches!(kind, Some(BOOLEAN | INT32 | INT64 | FLOAT | DOUBLE));
        if !numbers || repetition > 1 {
            return Err(format!("the column {name} has no plain numbers; leave it out"));
        }
        found.push((name.to_string(), repetition == 1, Vec::new()));
    }
    for group in footer.get(4).map(Field::list).ok_or_else(damaged)? {
        let chunks = group.get(1).map(Field::list).ok_or_else(damaged)?;
        if chunks.len() != found.len() {
            return Err(damaged());
        }
        for (chunk, (name, gaps, values)) in chunks.iter().zip(&mut found) {
            let column = chunk.get(3).ok_or_else(damaged)?;
            read_column(bytes, column, *gaps, values).map_err(|why| format!("the column {name}: {why}"))?;
        }
    }
    let rows = found.first().map_or(0, |(_, _, values)| values.len());
    if found.iter().any(|(_, _, values)| values.len() != rows) {
        return Err(damaged());
    }
    Ok(found.into_iter().map(|(name, _, values)| (name, values)).collect())
}

/// How pages are packed.
fn unpacked(codec: i64, bytes: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let name = match codec {
        0 => return Ok(bytes.to_vec()),
        1 => return snappy(bytes, size).ok_or_else(|| "it is damaged".into()),
        2 => "gzip",
        4 => "brotli",
        5 | 7 => "lz4",
        6 => "zstd",
        _ => "something else",
    };
    Err(format!("it is packed with {name}; write the file with snappy or without compression"))
}

fn read_column(bytes: &[u8], column: &Field, gaps: bool, values: &mut Vec<f64>) -> Result<(), String> {
    let damaged = || "it is damaged".to_string();
    let number = |field| column.get(field).and_then(Field::number);
    let (kind, codec) = (number(1).ok_or_else(damaged)?, number(4).unwrap_or(0));
    let count = number(5).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MOST).ok_or_else(damaged)?;
    // The dictionary, if there is one, comes before the data.
    let start = [number(9), number(11)].into_iter().flatten().filter(|at| *at > 0).min();
    let mut rest =
        start.and_then(|at| usize::try_from(at).ok()).and_then(|at| bytes.get(at..)).ok_or_else(damaged)?;
    let (end, mut dictionary) = (values.len() + count, Vec::new());
    while values.len() < end {
        let head = thrift::read(&mut rest).ok_or_else(damaged)?;
        let size = |field| {
            let size = head.get(field).and_then(Field::number);
            size.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 1 << 31).ok_or_else(damaged)
        };
        let (size, packed) = (size(2)?, size(3)?);
        let (page, behind) = rest.split_at_checked(packed).ok_or_else(damaged)?;
        rest = behind;
        let of =
            |part: u8, field: u8| head.get(part).and_then(|part| part.get(field)).and_then(Field::number);
        let whole = |part, field| {
            of(part, field).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MOST).ok_or_else(damaged)
        };
        match head.get(1).and_then(Field::number) {
            Some(2) => {
                let data = unpacked(codec, page, size)?;
                dictionary = plain(kind, &data, whole(7, 1)?).ok_or_else(damaged)?;
            }
            Some(0) => {
                let data = unpacked(codec, page, size)?;
                let (mut data, count) = (&data[..], whole(5, 1)?);
                let there = match gaps {
                    true => {
                        let length =
                            data.get(..4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
                        let length = length.ok_or_else(damaged)? as usize;
                        let levels = data.get(4..4 + length).ok_or_else(damaged)?;
                        data = &data[4 + length..];
                        Some(hybrid(levels, 1, count).ok_or_else(damaged)?)
                    }
                    false => None,
                };
                page_values(kind, of(5, 2), data, count, there, &dictionary, values)?;
            }
            Some(3) => {
                let (count, levels) = (whole(8, 1)?, whole(8, 5)?);
                let repeats = whole(8, 6)?;
                let there = page.get(repeats..repeats + levels).ok_or_else(damaged)?;
                let there = match gaps {
                    true => Some(hybrid(there, 1, count).ok_or_else(damaged)?),
                    false => None,
                };
                let data = page.get(repeats + levels..).ok_or_else(damaged)?;
                let size = size.checked_sub(repeats + levels).ok_or_else(damaged)?;
                let is_packed = of(8, 7).unwrap_or(1) == 1;
                let data = unpacked(if is_packed { codec } else { 0 }, data, size)?;
                page_values(kind, of(8, 4), &data, count, there, &dictionary, values)?;
            }
            Some(1) => {}
            _ => return Err(damaged()),
        }
    }
    if values.len() == end { Ok(()) } else { Err(damaged()) }
}

/// The values of a page, NaN where there is none.
fn page_values(
    kind: i64,
    encoding: Option<i64>,
    data: &[u8],
    count: usize,
    there: Option<Vec<u32>>,
    dictionary: &[f64],
    values: &mut Vec<f64>,
) -> Result<(), String> {
    let damaged = || "it is damaged".to_string();
    let present = there.as_ref().map_or(count, |there| there.iter().filter(|level| **level > 0).count());
    let numbers = match encoding {
        Some(0) => plain(kind, data, present).ok_or_else(damaged)?,
        Some(2 | 8) => {
            let (width, data) = data.split_first().ok_or_else(damaged)?;
            let places = hybrid(data, u32::from(*width), present).ok_or_else(damaged)?;
            let value = |at: &u32| dictionary.get(*at as usize).copied().ok_or_else(damaged);
            places.iter().map(value).collect::<Result<_, _>>()?
        }
        _ => return Err("its encoding is not read here; write it plainly or with a dictionary".into()),
    };
    match there {
        None => values.extend(numbers),
        Some(there) => {
            let mut numbers = numbers.into_iter();
            values.extend(there.iter().map(|level| match level {
                0 => f64::NAN,
                _ => numbers.next().unwrap_or(f64::NAN),
            }));
        }
    }
    Ok(())
}

/// So many numbers one after the other.
fn plain(kind: i64, data: &[u8], count: usize) -> Option<Vec<f64>> {
    Some(match kind {
        BOOLEAN => {
            let bits = data.get(..count.div_ceil(8))?;
            (0..count).map(|i| f64::from(bits[i / 8] >> (i % 8) & 1)).collect()
        }
        INT32 => data.as_chunks().0.get(..count)?.iter().map(|b| f64::from(i32::from_le_bytes(*b))).collect(),
        INT64 => data.as_chunks().0.get(..count)?.iter().map(|b| i64::from_le_bytes(*b) as f64).collect(),
        FLOAT => data.as_chunks().0.get(..count)?.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
        DOUBLE => data.as_chunks().0.get(..count)?.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        _ => return None,
    })
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut x = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        x |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(x);
        }
    }
    None
}

/// Small numbers of some bits: stretches of one value, and packed ones.
fn hybrid(mut bytes: &[u8], width: u32, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let mut all = Vec::new();
    if width == 0 {
        all.resize(count, 0);
    }
    while all.len() < count {
        let head = varint(&mut bytes)?;
        let left = count - all.len();
        if head & 1 == 0 {
            let wide = width.div_ceil(8) as usize;
            let (value, rest) = bytes.split_at_checked(wide)?;
            bytes = rest;
            let value = value.iter().rev().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
            let length = usize::try_from(head >> 1).ok()?.min(left);
            all.extend(core::iter::repeat_n(value, length));
            if length == 0 {
                return None;
            }
        } else {
            let groups = usize::try_from(head >> 1).ok()?;
            let (packed, rest) = bytes.split_at_checked(groups.checked_mul(width as usize)?)?;
            bytes = rest;
            let bit = |at: usize| u32::from(packed[at / 8] >> (at % 8) & 1);
            let wide = width as usize;
            let value = |i: usize| (0..wide).fold(0, |sum, b| sum | bit(i * wide + b) << b);
            all.extend((0..groups.checked_mul(8)?.min(left)).map(value));
            if groups == 0 {
                return None;
            }
        }
    }
    Some(all)
}

/// What Snappy has packed, of which the size is known.
fn snappy(mut bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    if varint(&mut bytes)? != size as u64 {
        return None;
    }
    // Nothing is packed tighter than that.
    let mut out: Vec<u8> = Vec::with_capacity(size.min(bytes.len().saturating_mul(64)));
    while let Some((tag, rest)) = bytes.split_first() {
        bytes = rest;
        let little =
            |bytes: &[u8]| bytes.iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
        let mut take = |count: usize| -> Option<&[u8]> {
            let (taken, rest) = bytes.split_at_checked(count)?;
            bytes = rest;
            Some(taken)
        };
        let upper = usize::from(tag >> 2);
        let (length, offset) = match tag & 3 {
            0 => {
                let length = if upper < 60 { upper } else { little(take(upper - 59)?) } + 1;
                let literal = take(length)?;
                if out.len() + length > size {
                    return None;
                }
                out.extend_from_slice(literal);
                continue;
            }
            1 => ((upper & 7) + 4, (upper >> 3) << 8 | little(take(1)?)),
            2 => (upper + 1, little(take(2)?)),
            _ => (upper + 1, little(take(4)?)),
        };
        let from = out.len().checked_sub(offset).filter(|_| offset > 0)?;
        if out.len() + length > size {
            return None;
        }
        // It may reach into what it makes.
        for i in 0..length {
            out.push(out[from + i]);
        }
    }
    (out.len() == size).then_some(out)
}
