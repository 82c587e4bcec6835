//! As much of Thrift's compact protocol as Parquet's structures need.

/// Types of fields.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Writes a structure.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    /// The number of the last field, of each structure that is open.
    last: Vec<u8>,
}

impl Writer {
    /// A structure that is begun.
    pub fn new() -> Self {
        Writer { out: Vec::new(), last: vec![0] }
    }
    fn varint(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.out.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.out.push(x as u8);
    }
    fn integer(&mut self, x: i64) {
        self.varint(((x << 1) ^ (x >> 63)) as u64);
    }
    fn bytes(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }
    fn field(&mut self, number: u8, kind: u8) {
        if let Some(last) = self.last.last_mut() {
            self.out.push((number - *last) << 4 | kind);
            *last = number;
        }
    }
    /// A number.
    pub fn i32(&mut self, field: u8, x: i32) {
        self.field(field, I32);
        self.integer(x.into());
    }
    /// A large number.
    pub fn i64(&mut self, field: u8, x: u64) {
        self.field(field, I64);
        self.integer(x as i64);
    }
    /// A text.
    pub fn text(&mut self, field: u8, text: &str) {
        self.field(field, BINARY);
        self.bytes(text);
    }
    fn list(&mut self, field: u8, kind: u8, count: usize) {
        self.field(field, LIST);
        if count < 15 {
            self.out.push((count as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            self.varint(count as u64);
        }
    }
    /// Numbers.
    pub fn i32s(&mut self, field: u8, list: &[i32]) {
        self.list(field, I32, list.len());
        list.iter().for_each(|x| self.integer((*x).into()));
    }
    /// Texts.
    pub fn texts(&mut self, field: u8, list: &[&str]) {
        self.list(field, BINARY, list.len());
        list.iter().for_each(|text| self.bytes(text));
    }
    /// A structure.
    pub fn inner(&mut self, field: u8, fill: impl FnOnce(&mut Writer)) {
        self.field(field, STRUCT);
        self.open(fill);
    }
    /// Structures.
    pub fn inners(&mut self, field: u8, count: usize, mut fill: impl FnMut(usize, &mut Writer)) {
        self.list(field, STRUCT, count);
        for i in 0..count {
            self.open(|inner| fill(i, inner));
        }
    }
    fn open(&mut self, fill: impl FnOnce(&mut Writer)) {
        self.last.push(0);
        fill(self);
        self.last.pop();
        self.out.push(0);
    }
    /// The structure, ended.
    pub fn end(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }
}

/// A value of a structure.
#[derive(Debug)]
pub enum Field {
    /// A number.
    Number(i64),
    /// A text.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Field>),
    /// A structure, by the numbers of its fields.
    Struct(Vec<(u8, Field)>),
}

impl Field {
    /// A field of a structure.
    pub fn get(&self, number: u8) -> Option<&Field> {
        match self {
            Field::Struct(fields) => fields.iter().find(|(own, _)| *own == number).map(|(_, field)| field),
            _ => None,
        }
    }
    /// A number.
    pub fn number(&self) -> Option<i64> {
        if let Field::Number(x) = self { Some(*x) } else { None }
    }
    /// A text.
    pub fn text(&self) -> Option<&str> {
        if let Field::Bytes(bytes) = self { std::str::from_utf8(bytes).ok() } else { None }
    }
    /// The elements of a list, or an empty slice for any other value.
    pub fn list(&self) -> &[Field] {
        if let Field::List(list) = self { list } else { &[] }
    }
}

/// Reads a structure and moves `bytes` past it. Returns `None` if the bytes are not a structure or it is nested too deeply.
pub fn read(bytes: &mut &[u8]) -> Option<Field> {
    structure(bytes, 16)
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut x = 0u64;
    for shift in (0..64).step_by(7) {
        let next = byte(bytes)?;
        x |= u64::from(next & 0x7f) << shift;
        if next < 0x80 {
            return Some(x);
        }
    }
    None
}

fn integer(bytes: &mut &[u8]) -> Option<i64> {
    let x = varint(bytes)?;
    Some((x >> 1) as i64 ^ -((x & 1) as i64))
}

fn structure(bytes: &mut &[u8], depth: u8) -> Option<Field> {
    let (mut fields, mut last) = (Vec::new(), 0u8);
    loop {
        let head = byte(bytes)?;
        if head == 0 {
            return Some(Field::Struct(fields));
        }
        last = match head >> 4 {
            0 => u8::try_from(integer(bytes)?).ok()?,
            step => last.checked_add(step)?,
        };
        let field = match head & 15 {
            truth @ (1 | 2) => Field::Number(i64::from(truth == 1)),
            kind => value(bytes, kind, depth)?,
        };
        fields.push((last, field));
    }
}

fn value(bytes: &mut &[u8], kind: u8, depth: u8) -> Option<Field> {
    let depth = depth.checked_sub(1)?;
    Some(match kind {
        1..=3 => Field::Number(i64::from(byte(bytes)?)),
        4..=6 => Field::Number(integer(bytes)?),
        BINARY => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            let (text, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            Field::Bytes(text.to_vec())
        }
        LIST => {
            let head = byte(bytes)?;
            let count = if head >> 4 == 15 { varint(bytes)? } else { u64::from(head >> 4) };
            // Every entry has a byte at least.
            let count = usize::try_from(count).ok().filter(|count| *count <= bytes.len())?;
            Field::List((0..count).map(|_| value(bytes, head & 15, depth)).collect::<Option<_>>()?)
        }
        STRUCT => structure(bytes, depth)?,
        _ => return None,
    })
}
