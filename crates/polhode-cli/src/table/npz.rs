//! Arrays of numpy: a zip archive with one array for each column.
//!
//! A column must be in one piece there, and rows come one by one. So the file first takes blocks of columns, from which the
//! archive is put together at the end, in another file that takes its place.

use super::block::Block;
use super::{Batch, Rows};
use crate::files::Output;
use crc32fast::Hasher;
use serde_json::Value;
use std::io::{self, BufWriter, Write};

/// The name of the array with what is said of the whole, as JSON.
pub const METADATA: &str = "metadata";

/// Writes one.
#[derive(Debug)]
pub struct Npz {
    names: Vec<String>,
    block: Block,
    /// Full blocks in the file, behind each other.
    blocks: u64,
    /// Of the numbers of each column so far.
    checks: Vec<Hasher>,
}

impl Npz {
    /// With these columns.
    pub fn new(columns: &[String]) -> Self {
        Npz {
            names: columns.to_vec(),
            block: Block::small(columns.len()),
            blocks: 0,
            checks: vec![Hasher::new(); columns.len()],
        }
    }
    /// Writes the archive, with blocks from the file behind `from`.
    fn archive(&self, to: &mut dyn Write, from: &mut Output, metadata: &Value) -> io::Result<()> {
        let rows = self.blocks * self.block.capacity() as u64 + self.block.rows() as u64;
        let mut zip = Zip { at: 0, directory: Vec::new(), entries: 0 };
        let text: Vec<u8> =
            metadata.to_string().chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
        let head = npy(&format!("<U{}", text.len() / 4), "()");
        zip.entry(to, METADATA, &head, text.len() as u64, crc32fast::hash(&text))?;
        to.write_all(&text)?;
        let mut piece = vec![0; if self.blocks > 0 { 8 * self.block.capacity() } else { 0 }];
        for (c, name) in self.names.iter().enumerate() {
            let mut check = self.checks[c].clone();
            check.update(self.block.column(c));
            zip.entry(to, name, &npy("<f8", &format!("({rows},)")), 8 * rows, check.finalize())?;
            for b in 0..self.blocks {
                from.go_to(b * self.size() + (c * piece.len()) as u64)?;
                from.read_back(&mut piece)?;
                to.write_all(&piece)?;
            }
            to.write_all(self.block.column(c))?;
        }
        zip.end(to)
    }
    /// Bytes of a full block.
    fn size(&self) -> u64 {
        8 * (self.block.capacity() * self.block.columns()) as u64
    }
}

impl Rows for Npz {
    fn rows(&mut self, to: &mut Output, batch: &Batch<'_>) -> io::Result<()> {
        self.block.take(batch, |block| {
            for (c, check) in self.checks.iter_mut().enumerate() {
                check.update(block.column(c));
                to.write_all(block.column(c))?;
            }
            self.blocks += 1;
            Ok(())
        })
    }

    fn finish(&mut self, to: &mut Output, metadata: &Value) -> io::Result<()> {
        if self.blocks == 0 {
            let mut archive = Vec::new();
            self.archive(&mut archive, to, metadata)?;
            return to.write_all(&archive);
        }
        let scratch = to.scratch()?;
        let mut writer = BufWriter::with_capacity(1 << 16, &scratch.file);
        self.archive(&mut writer, to, metadata)?;
        writer.into_inner().map_err(|error| error.into_error())?;
        to.swap(scratch)
    }
}

/// The head of an array of this type and shape.
fn npy(descr: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // With the ten bytes before it a multiple of 64, and the same for any number of rows.
    while (10 + text.len() + 1) % 64 != 0 || text.len() < 117 {
        text.push(' ');
    }
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend_from_slice(&(text.len() as u16).to_le_bytes());
    head.extend_from_slice(text.as_bytes());
    head
}

/// A zip archive of stored entries, each with its sizes in eight bytes.
struct Zip {
    at: u64,
    directory: Vec<u8>,
    entries: u64,
}

/// 1 January 1980, the first day of zip archives: the same run gives the same file.
const DATE: u16 = 0x21;
/// Sizes and places that stand in an extra field.
const ELSEWHERE: u32 = u32::MAX;

impl Zip {
    /// Begins an array: its head, and so many bytes that the caller writes behind it.
    fn entry(
        &mut self,
        to: &mut dyn Write,
        name: &str,
        head: &[u8],
        size: u64,
        check: u32,
    ) -> io::Result<()> {
        let mut both = Hasher::new();
        both.update(head);
        both.combine(&Hasher::new_with_initial_len(check, size));
        let (check, size) = (both.finalize(), size + head.len() as u64);
        let name = format!("{name}.npy");
        let common = |out: &mut Vec<u8>| {
            // Version 4.5 for eight bytes, names in UTF-8, stored.
            for x in [45u16, 0x800, 0, 0, DATE] {
                out.extend_from_slice(&x.to_le_bytes());
            }
            for x in [check, ELSEWHERE, ELSEWHERE] {
                out.extend_from_slice(&x.to_le_bytes());
            }
            out.extend_from_slice(&(name.len() as u16).to_le_bytes());
        };
        let mut local = b"PK\x03\x04".to_vec();
        common(&mut local);
        local.extend_from_slice(&20u16.to_le_bytes());
        local.extend_from_slice(name.as_bytes());
        local.extend_from_slice(&extra(&[size, size]));
        local.extend_from_slice(head);
        to.write_all(&local)?;

        self.directory.extend_from_slice(b"PK\x01\x02\x2d\x00");
        common(&mut self.directory);
        // The extra field, no comment, the first disk, no attributes.
        for x in [28u16, 0, 0, 0, 0, 0] {
            self.directory.extend_from_slice(&x.to_le_bytes());
        }
        self.directory.extend_from_slice(&ELSEWHERE.to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.directory.extend_from_slice(&extra(&[size, size, self.at]));
        self.entries += 1;
        self.at += (local.len() - head.len()) as u64 + size;
        Ok(())
    }
    fn end(self, to: &mut dyn Write) -> io::Result<()> {
        let (start, size) = (self.at, self.directory.len() as u64);
        let mut tail = self.directory;
        tail.extend_from_slice(b"PK\x06\x06");
        tail.extend_from_slice(&44u64.to_le_bytes());
        tail.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for x in [self.entries, self.entries, size, start] {
            tail.extend_from_slice(&x.to_le_bytes());
        }
        tail.extend_from_slice(b"PK\x06\x07\0\0\0\0");
        tail.extend_from_slice(&(start + size).to_le_bytes());
        tail.extend_from_slice(&1u32.to_le_bytes());
        // The old end, which only says that the new one is there.
        tail.extend_from_slice(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
        to.write_all(&tail)
    }
}

/// The extra field of large archives.
fn extra(numbers: &[u64]) -> Vec<u8> {
    let mut field = vec![1, 0];
    field.extend_from_slice(&(8 * numbers.len() as u16).to_le_bytes());
    for x in numbers {
        field.extend_from_slice(&x.to_le_bytes());
    }
    field
}
