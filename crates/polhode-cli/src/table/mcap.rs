//! MCAP, the format of Foxglove: messages with the poses of all bodies, and messages with the columns.
//!
//! Messages are JSON, in chunks without compression, with indices behind them as readers want them.

use super::csv::number;
use super::{Batch, Pose, Row, Rows};
use crate::files::Output;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What stands at both ends.
pub const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";
/// Bytes of messages in a chunk.
const CHUNK: usize = 1 << 20;

/// What records are, by their first byte.
pub mod op {
    #![allow(missing_docs)]
    pub const HEADER: u8 = 1;
    pub const FOOTER: u8 = 2;
    pub const SCHEMA: u8 = 3;
    pub const CHANNEL: u8 = 4;
    pub const MESSAGE: u8 = 5;
    pub const CHUNK: u8 = 6;
    pub const MESSAGE_INDEX: u8 = 7;
    pub const CHUNK_INDEX: u8 = 8;
    pub const STATISTICS: u8 = 11;
    pub const METADATA: u8 = 12;
    pub const METADATA_INDEX: u8 = 13;
    pub const SUMMARY_OFFSET: u8 = 14;
    pub const DATA_END: u8 = 15;
}

/// The channel of the poses, and that of the columns.
const POSES: u16 = 1;
/// See [`POSES`].
pub const COLUMNS: u16 = 2;
/// The key of all that is said of the whole.
pub const JSON: &str = "json";
/// The topic of the columns.
const TOPIC: &str = "/polhode";

/// A body as Foxglove shows it: a frame in space.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// Where its pose is in a row.
    pub pose: Pose,
}

/// A name of a column in the tree of a message: Foxglove reaches into objects by dots.
#[derive(Debug)]
enum Node {
    Number(usize),
    Group(Vec<(String, Node)>),
}

/// Writes one.
#[derive(Debug)]
pub struct Mcap {
    names: Vec<String>,
    frames: Vec<Frame>,
    /// What stands before each number of a message, and behind the last; with the place of the number in a row.
    template: Vec<(Vec<u8>, usize)>,
    close: Vec<u8>,
    begun: bool,
    at: u64,
    chunk: Vec<u8>,
    /// For each channel the time and place of its messages in the chunk.
    index: [Vec<(u64, u64)>; 2],
    /// The chunks that are written: first and last time, place, length, places of their indices, bytes.
    chunks: Vec<Written>,
    rows: u64,
    times: Option<(u64, u64)>,
    message: Vec<u8>,
}

#[derive(Debug)]
struct Written {
    times: (u64, u64),
    at: u64,
    length: u64,
    indices: [u64; 2],
    index_length: u64,
    bytes: u64,
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// A record.
fn record(out: &mut Vec<u8>, op: u8, content: &[u8]) {
    out.push(op);
    out.extend_from_slice(&(content.len() as u64).to_le_bytes());
    out.extend_from_slice(content);
}

fn schema(id: u16, name: &str, schema: &Value) -> Vec<u8> {
    let mut out = id.to_le_bytes().to_vec();
    text(&mut out, name);
    text(&mut out, "jsonschema");
    text(&mut out, &schema.to_string());
    out
}

fn channel(id: u16, topic: &str) -> Vec<u8> {
    let mut out = id.to_le_bytes().to_vec();
    out.extend_from_slice(&id.to_le_bytes());
    text(&mut out, topic);
    text(&mut out, "json");
    out.extend_from_slice(&0u32.to_le_bytes());
    out
}

/// The schema of Foxglove for poses, as far as it is used.
fn transforms() -> Value {
    let numbers = |names: &[&str]| -> Value {
        let all = names.iter().map(|name| (name.to_string(), json!({ "type": "number" })));
        json!({ "type": "object", "properties": all.collect::<serde_json::Map<_, _>>() })
    };
    json!({
        "title": "foxglove.FrameTransforms",
        "type": "object",
        "properties": { "transforms": { "type": "array", "items": {
            "title": "foxglove.FrameTransform",
            "type": "object",
            "properties": {
                "timestamp": { "type": "object", "title": "time", "properties": {
                    "sec": { "type": "integer", "minimum": 0 },
                    "nsec": { "type": "integer", "minimum": 0, "maximum": 999_999_999 },
                } },
                "parent_frame_id": { "type": "string" },
                "child_frame_id": { "type": "string" },
                "translation": numbers(&["x", "y", "z"]),
                "rotation": numbers(&["x", "y", "z", "w"]),
            },
        } } },
    })
}

impl Node {
    /// Puts a column into the tree; false if one of its names is a number already.
    fn insert(&mut self, path: &[&str], column: usize) -> bool {
        let (Node::Group(list), Some((first, rest))) = (self, path.split_first()) else { return false };
        match (list.iter_mut().find(|(name, _)| name == first), rest.is_empty()) {
            (Some((_, inner)), false) => inner.insert(rest, column),
            (Some(_), true) => false,
            (None, true) => {
                list.push((first.to_string(), Node::Number(column)));
                true
            }
            (None, false) => {
                let mut inner = Node::Group(Vec::new());
                inner.insert(rest, column);
                list.push((first.to_string(), inner));
                true
            }
        }
    }
    fn template(&self, text: &mut Vec<u8>, out: &mut Vec<(Vec<u8>, usize)>) {
        match self {
            Node::Number(column) => out.push((core::mem::take(text), *column)),
            Node::Group(list) => {
                for (i, (name, node)) in list.iter().enumerate() {
                    text.push(if i == 0 { b'{' } else { b',' });
                    text.extend_from_slice(Value::from(name.as_str()).to_string().as_bytes());
                    text.push(b':');
                    node.template(text, out);
                }
                text.push(b'}');
            }
        }
    }
    fn schema(&self) -> Value {
        match self {
            Node::Number(_) => json!({ "type": "number" }),
            Node::Group(list) => {
                let all: serde_json::Map<_, _> =
                    list.iter().map(|(name, node)| (name.clone(), node.schema())).collect();
                json!({ "type": "object", "properties": all })
            }
        }
    }
}

/// The columns as a tree. A name that would be a number and a group at once stands as it is.
fn tree(names: &[String]) -> Node {
    let mut root = Node::Group(Vec::new());
    for (column, name) in names.iter().enumerate() {
        if !root.insert(&name.split('.').collect::<Vec<_>>(), column) {
            root.insert(&[name.as_str()], column);
        }
    }
    root
}

impl Mcap {
    /// With these columns, and these bodies.
    pub fn new(columns: &[String], frames: Vec<Frame>) -> Self {
        let (mut close, mut template) = (Vec::new(), Vec::new());
        tree(columns).template(&mut close, &mut template);
        Mcap {
            names: columns.to_vec(),
            frames,
            template,
            close,
            begun: false,
            at: 0,
            chunk: Vec::new(),
            index: Default::default(),
            chunks: Vec::new(),
            rows: 0,
            times: None,
            message: Vec::new(),
        }
    }
    fn put(&mut self, to: &mut Output, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        to.write_all(bytes)
    }
    fn begin(&mut self, to: &mut Output) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let mut head = Vec::new();
        text(&mut head, "");
        text(&mut head, concat!("polhode ", env!("CARGO_PKG_VERSION")));
        let mut out = MAGIC.to_vec();
        record(&mut out, op::HEADER, &head);
        out.extend(self.declarations());
        self.put(to, &out)
    }
    fn declarations(&self) -> Vec<u8> {
        let mut out = Vec::new();
        record(&mut out, op::SCHEMA, &schema(POSES, "foxglove.FrameTransforms", &transforms()));
        record(&mut out, op::SCHEMA, &schema(COLUMNS, "polhode.Columns", &tree(&self.names).schema()));
        record(&mut out, op::CHANNEL, &channel(POSES, "/tf"));
        record(&mut out, op::CHANNEL, &channel(COLUMNS, TOPIC));
        out
    }
    /// Puts the message that is made into the chunk.
    fn send(&mut self, channel: u16, time: u64) {
        self.index[usize::from(channel - 1)].push((time, self.chunk.len() as u64));
        self.chunk.push(op::MESSAGE);
        self.chunk.extend_from_slice(&(22 + self.message.len() as u64).to_le_bytes());
        self.chunk.extend_from_slice(&channel.to_le_bytes());
        self.chunk.extend_from_slice(&(self.rows as u32).to_le_bytes());
        self.chunk.extend_from_slice(&time.to_le_bytes());
        self.chunk.extend_from_slice(&time.to_le_bytes());
        self.chunk.extend_from_slice(&self.message);
        self.message.clear();
    }
    fn poses(&mut self, row: &Row<'_>, time: u64) {
        let (message, frames) = (&mut self.message, &self.frames);
        message.extend_from_slice(br#"{"transforms":["#);
        for (i, frame) in frames.iter().enumerate() {
            let stamp = format!(
                r#"{}{{"timestamp":{{"sec":{},"nsec":{}}},"parent_frame_id":"space","child_frame_id":{},"translation":"#,
                if i == 0 { "" } else { "," },
                time / 1_000_000_000,
                time % 1_000_000_000,
                Value::from(frame.name.as_str())
            );
            message.extend_from_slice(stamp.as_bytes());
            let position = |k: usize| frame.pose.position.map_or(0.0, |first| row.all[first + k]);
            // The scalar part comes last there.
            let turn = |k: usize| row.all[frame.pose.q_wxyz + (k + 1) % 4];
            for (names, value) in [(&b"xyz"[..], &position as &dyn Fn(usize) -> f64), (b"xyzw", &turn)] {
                for (k, name) in names.iter().enumerate() {
                    message.extend_from_slice(if k == 0 { b"{\"" } else { b",\"" });
                    message.extend_from_slice(&[*name, b'"', b':']);
                    number(message, value(k));
                }
                message.push(b'}');
                if names.len() == 3 {
                    message.extend_from_slice(br#","rotation":"#);
                }
            }
            message.push(b'}');
        }
        message.extend_from_slice(b"]}");
    }
    /// Puts a row into the chunk.
    fn row(&mut self, row: &Row<'_>) {
        // Time is the first column of all.
        let time = (row.all.first().copied().unwrap_or(0.0) * 1e9).round().max(0.0) as u64;
        self.times = Some(self.times.map_or((time, time), |(first, last)| (first.min(time), last.max(time))));
        self.poses(row, time);
        self.send(POSES, time);
        for (before, column) in &self.template {
            self.message.extend_from_slice(before);
            number(&mut self.message, row.all[row.chosen[*column]]);
        }
        self.message.extend_from_slice(&self.close);
        self.send(COLUMNS, time);
        self.rows += 1;
    }
    fn flush_chunk(&mut self, to: &mut Output) -> io::Result<()> {
        let all = self.index.iter().flatten().map(|(time, _)| *time);
        let (Some(first), Some(last)) = (all.clone().min(), all.max()) else { return Ok(()) };
        let chunk = core::mem::take(&mut self.chunk);
        let mut head = Vec::new();
        head.push(op::CHUNK);
        head.extend_from_slice(&(40 + chunk.len() as u64).to_le_bytes());
        for x in [first, last, chunk.len() as u64] {
            head.extend_from_slice(&x.to_le_bytes());
        }
        head.extend_from_slice(&crc32fast::hash(&chunk).to_le_bytes());
        text(&mut head, "");
        head.extend_from_slice(&(chunk.len() as u64).to_le_bytes());
        let at = self.at;
        self.put(to, &head)?;
        self.put(to, &chunk)?;
        let (length, behind) = (self.at - at, self.at);
        let mut indices = [0; 2];
        for (i, place) in indices.iter_mut().enumerate() {
            *place = self.at;
            let list = core::mem::take(&mut self.index[i]);
            let mut content = (i as u16 + 1).to_le_bytes().to_vec();
            content.extend_from_slice(&(16 * list.len() as u32).to_le_bytes());
            for (time, offset) in &list {
                content.extend_from_slice(&time.to_le_bytes());
                content.extend_from_slice(&offset.to_le_bytes());
            }
            let mut out = Vec::new();
            record(&mut out, op::MESSAGE_INDEX, &content);
            self.put(to, &out)?;
        }
        let index_length = self.at - behind;
        let bytes = chunk.len() as u64;
        self.chunks.push(Written { times: (first, last), at, length, indices, index_length, bytes });
        self.chunk = chunk;
        self.chunk.clear();
        Ok(())
    }
}

impl Written {
    fn record(&self, out: &mut Vec<u8>) {
        let mut content = Vec::new();
        for x in [self.times.0, self.times.1, self.at, self.length] {
            content.extend_from_slice(&x.to_le_bytes());
        }
        content.extend_from_slice(&20u32.to_le_bytes());
        for (i, place) in self.indices.iter().enumerate() {
            content.extend_from_slice(&(i as u16 + 1).to_le_bytes());
            content.extend_from_slice(&place.to_le_bytes());
        }
        content.extend_from_slice(&self.index_length.to_le_bytes());
        text(&mut content, "");
        content.extend_from_slice(&self.bytes.to_le_bytes());
        content.extend_from_slice(&self.bytes.to_le_bytes());
        record(out, op::CHUNK_INDEX, &content);
    }
}

/// Pairs of texts.
fn pairs(map: &BTreeMap<String, String>) -> Vec<u8> {
    let mut inner = Vec::new();
    for (key, value) in map {
        text(&mut inner, key);
        text(&mut inner, value);
    }
    let mut out = (inner.len() as u32).to_le_bytes().to_vec();
    out.extend(inner);
    out
}

impl Rows for Mcap {
    fn rows(&mut self, to: &mut Output, batch: &Batch<'_>) -> io::Result<()> {
        self.begin(to)?;
        batch.rows().try_for_each(|row| {
            self.row(&row);
            if self.chunk.len() >= CHUNK { self.flush_chunk(to) } else { Ok(()) }
        })
    }

    fn finish(&mut self, to: &mut Output, metadata: &Value) -> io::Result<()> {
        self.begin(to)?;
        self.flush_chunk(to)?;
        // What is short stands by itself, for people; programs take all of it from one text.
        let short = metadata.as_object().into_iter().flatten();
        let short = short.filter(|(_, value)| !value.is_object() && !value.is_array());
        let mut map: BTreeMap<String, String> = short
            .map(|(key, value)| (key.clone(), value.as_str().map_or(value.to_string(), String::from)))
            .collect();
        map.insert(JSON.into(), metadata.to_string());
        let (mut out, mut content) = (Vec::new(), Vec::new());
        text(&mut content, "polhode");
        content.extend(pairs(&map));
        record(&mut out, op::METADATA, &content);
        let (metadata_at, metadata_length) = (self.at, out.len() as u64);
        record(&mut out, op::DATA_END, &0u32.to_le_bytes());
        self.put(to, &out)?;

        // The summary, and where its parts are.
        let start = self.at;
        let (mut summary, mut groups) = (self.declarations(), Vec::new());
        groups.push((op::SCHEMA, 0, summary.len()));
        let mut begin = summary.len();
        let mut statistics = (2 * self.rows).to_le_bytes().to_vec();
        statistics.extend_from_slice(&2u16.to_le_bytes());
        for x in [2, 0, 1, self.chunks.len() as u32] {
            statistics.extend_from_slice(&u32::to_le_bytes(x));
        }
        let times = self.times.unwrap_or((0, 0));
        statistics.extend_from_slice(&times.0.to_le_bytes());
        statistics.extend_from_slice(&times.1.to_le_bytes());
        statistics.extend_from_slice(&20u32.to_le_bytes());
        for id in [POSES, COLUMNS] {
            statistics.extend_from_slice(&id.to_le_bytes());
            statistics.extend_from_slice(&self.rows.to_le_bytes());
        }
        record(&mut summary, op::STATISTICS, &statistics);
        groups.push((op::STATISTICS, begin, summary.len()));
        begin = summary.len();
        let mut content = metadata_at.to_le_bytes().to_vec();
        content.extend_from_slice(&metadata_length.to_le_bytes());
        text(&mut content, "polhode");
        record(&mut summary, op::METADATA_INDEX, &content);
        groups.push((op::METADATA_INDEX, begin, summary.len()));
        begin = summary.len();
        self.chunks.iter().for_each(|chunk| chunk.record(&mut summary));
        groups.push((op::CHUNK_INDEX, begin, summary.len()));
        let offsets_at = start + summary.len() as u64;
        // Schemas and channels stand together; only readers that look for one of them alone would care.
        for (op, from, to) in groups.into_iter().skip(1).filter(|(_, from, to)| to > from) {
            let mut content = vec![op];
            content.extend_from_slice(&(start + from as u64).to_le_bytes());
            content.extend_from_slice(&((to - from) as u64).to_le_bytes());
            record(&mut summary, op::SUMMARY_OFFSET, &content);
        }
        let mut footer = Vec::new();
        footer.push(op::FOOTER);
        footer.extend_from_slice(&20u64.to_le_bytes());
        footer.extend_from_slice(&start.to_le_bytes());
        footer.extend_from_slice(&offsets_at.to_le_bytes());
        summary.extend(footer);
        let check = crc32fast::hash(&summary);
        summary.extend_from_slice(&check.to_le_bytes());
        summary.extend_from_slice(MAGIC);
        self.put(to, &summary)
    }
}
