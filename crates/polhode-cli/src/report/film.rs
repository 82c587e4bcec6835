//! The frames of a page: a bounded number of rows, evenly apart.

use crate::table::{Head, Pose, of_body};
use serde_json::{Value, json};

/// The most frames that are kept before every other one goes, and the most numbers.
const FRAMES: usize = 3000;
const NUMBERS: usize = 600_000;

/// Frames while they are taken.
#[derive(Debug)]
pub struct Film {
    /// The columns of a frame: time, and for each body its position (where it moves) and quaternion; of a single body
    /// its angular velocity and momentum.
    columns: Vec<usize>,
    layout: Value,
    frames: Vec<Vec<f32>>,
    most: usize,
    every: u64,
    seen: u64,
    last: Vec<f32>,
}

impl Film {
    /// Of the bodies of a scene; or the name of one whose pose is not among the columns.
    pub fn new(heads: &[Head], scene: &Value) -> Result<Film, String> {
        let bodies = scene["bodies"].as_array().map_or(&[][..], Vec::as_slice);
        let (mut columns, mut poses) = (vec![0], Vec::new());
        let mut place = |first: usize, count: usize| {
            columns.extend(first..first + count);
            columns.len() - count
        };
        for (b, body) in bodies.iter().enumerate() {
            let name = || body["name"].as_str().unwrap_or_default().to_string();
            let pose = Pose::of(heads, b, bodies.len()).ok_or_else(name)?;
            let position = pose.position.map(|first| place(first, 3));
            poses.push(json!({ "position": position, "q": place(pose.q_wxyz, 4) }));
        }
        let vector = |quantity: &str| {
            let first = of_body(heads, 0, bodies.len(), quantity).filter(|_| bodies.len() == 1)?;
            (heads.get(first + 2)?.quantity == quantity).then_some(first)
        };
        let omega = vector("omega_body").map(|first| place(first, 3));
        let momentum = vector("momentum_space").map(|first| place(first, 3));
        let layout = json!({ "poses": poses, "omega": omega, "momentum": momentum, "size": columns.len() });
        let most = (NUMBERS / columns.len().max(1)).clamp(20, FRAMES) / 2 * 2;
        Ok(Film { columns, layout, frames: Vec::new(), most, every: 1, seen: 0, last: Vec::new() })
    }
    /// Takes the next row.
    pub fn take(&mut self, row: &[f64]) {
        self.last.clear();
        self.last.extend(self.columns.iter().map(|column| row[*column] as f32));
        if self.seen.is_multiple_of(self.every) {
            if self.frames.len() == self.most {
                let mut stays = false;
                self.frames.retain(|_| {
                    stays = !stays;
                    stays
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.frames.push(self.last.clone());
            }
        }
        self.seen += 1;
    }
    /// The frames, as base64 of their numbers in four bytes each, and where things are among them.
    pub fn json(&self) -> Value {
        let ends = self.frames.last().is_none_or(|last| *last != self.last);
        let extra = (ends && !self.last.is_empty()).then_some(&self.last);
        let bytes: Vec<u8> =
            self.frames.iter().chain(extra).flatten().flat_map(|x| x.to_le_bytes()).collect();
        let count = self.frames.len() + usize::from(extra.is_some());
        json!({ "layout": self.layout, "count": count, "rows": self.seen, "data": base64(&bytes) })
    }
}

/// Bytes as text.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let all = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let letter = char::from(LETTERS[(all >> (18 - 6 * i)) as usize & 63]);
            out.push(if i <= three.len() { letter } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Of;

    #[test]
    fn bytes_become_text() {
        assert_eq!([&b""[..], b"M", b"Ma", b"Man"].map(base64), ["", "TQ==", "TWE=", "TWFu"]);
    }

    #[test]
    fn frames_stay_few_and_evenly_apart() {
        let head = |name: &str, quantity: &str, component| Head {
            name: name.into(),
            of: Of::Whole,
            quantity: quantity.into(),
            whole: None,
            component,
            unit: String::new(),
        };
        let mut heads = vec![head("t", "t", 0)];
        heads.extend((0..4).map(|i| head("q", "q", i)));
        let scene = json!({ "bodies": [{ "name": "top" }] });
        let mut film = Film::new(&heads, &scene).unwrap();
        (0..100_001).for_each(|i| film.take(&[f64::from(i), 1.0, 0.0, 0.0, 0.0]));
        let times: Vec<f32> = film.frames.iter().map(|frame| frame[0]).collect();
        assert!((FRAMES / 2 - 1..=FRAMES).contains(&times.len()), "{}", times.len());
        assert!(times.windows(3).all(|t| t[1] - t[0] == t[2] - t[1]));
        assert_eq!((times[0], film.last[0]), (0.0, 100_000.0));
        assert_eq!(Film::new(&heads[..3], &scene).unwrap_err(), "top");
    }
}
