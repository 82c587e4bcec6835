//! Takes the outlines of the letters that plots may use out of their font, so that the program carries these alone.

use std::path::Path;
use std::{env, fs};
use ttf_parser::{Face, OutlineBuilder};

/// European scripts, Greek, raised and lowered digits, and signs of mathematics.
const LETTERS: [core::ops::RangeInclusive<u32>; 14] = [
    0x20..=0x7e,
    0xa0..=0x17f,
    0x218..=0x21b,
    0x2c6..=0x2dd,
    0x386..=0x3ce,
    0x3d1..=0x3f5,
    0x401..=0x45f,
    0x1e9e..=0x1e9e,
    0x2010..=0x203a,
    0x2070..=0x209c,
    0x20ac..=0x20ac,
    0x2190..=0x2195,
    0x2200..=0x22c5,
    0xfffd..=0xfffd,
];

/// An outline as it is stored: a letter for what comes, and coordinates of two bytes each.
struct Outline<'a>(&'a mut Vec<u8>);

impl Outline<'_> {
    fn put(&mut self, what: u8, lengths: &[f32]) {
        self.0.push(what);
        self.0.extend(lengths.iter().flat_map(|x| (*x as i16).to_le_bytes()));
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.put(b'M', &[x, y]);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.put(b'L', &[x, y]);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.put(b'Q', &[x1, y1, x, y]);
    }
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {
        panic!("TrueType outlines have no cubic curves");
    }
    fn close(&mut self) {
        self.put(b'Z', &[]);
    }
}

/// Units of a letter's height, how many letters there are, the list of them by their codes, their outlines.
fn letters(font: &[u8]) -> Vec<u8> {
    let face = Face::parse(font, 0).expect("the font can be read");
    let (mut list, mut outlines, mut count) = (Vec::new(), Vec::new(), 0u32);
    for code in LETTERS.into_iter().flatten() {
        let Some(glyph) = char::from_u32(code).and_then(|letter| face.glyph_index(letter)) else { continue };
        list.extend(code.to_le_bytes());
        list.extend(face.glyph_hor_advance(glyph).unwrap_or(0).to_le_bytes());
        list.extend((outlines.len() as u32).to_le_bytes());
        face.outline_glyph(glyph, &mut Outline(&mut outlines));
        outlines.push(b'.');
        count += 1;
    }
    [&face.units_per_em().to_le_bytes()[..], &count.to_le_bytes(), &list, &outlines].concat()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR").expect("cargo says where");
    for (name, font) in
        [("regular", dejavu::sans_condensed::regular()), ("bold", dejavu::sans_condensed::bold())]
    {
        let path = Path::new(&folder).join(format!("{name}.letters"));
        fs::write(path, letters(font)).expect("the folder can be written");
    }
}
