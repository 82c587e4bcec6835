//! The outlines of letters, as the build has taken them from their font.

use tiny_skia::{Path, PathBuilder};

static REGULAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/regular.letters"));
static BOLD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bold.letters"));

/// What stands for a letter that the font does not have.
const UNKNOWN: char = '\u{fffd}';
/// Bytes of a letter in the list of them: its code, how wide it is, where its outline begins.
const ENTRY: usize = 10;

/// Letters of one weight.
#[derive(Clone, Copy, Debug)]
pub struct Letters(&'static [u8]);

/// A reader of numbers one after the other.
struct Numbers(&'static [u8]);

impl Numbers {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
    fn two(&mut self) -> Option<[u8; 2]> {
        Some([self.byte()?, self.byte()?])
    }
    fn four(&mut self) -> Option<u32> {
        let [[a, b], [c, d]] = [self.two()?, self.two()?];
        Some(u32::from_le_bytes([a, b, c, d]))
    }
    fn length(&mut self) -> Option<f32> {
        Some(f32::from(i16::from_le_bytes(self.two()?)))
    }
}

impl Letters {
    /// The ordinary ones, or bold ones.
    pub fn new(bold: bool) -> Letters {
        Letters(if bold { BOLD } else { REGULAR })
    }
    /// How many lengths of an outline a letter is high.
    pub fn height(self) -> f32 {
        Numbers(self.0).length().unwrap_or(1.0)
    }
    /// How wide a letter is, and its outline.
    fn letter(self, letter: char) -> Option<(f32, Numbers)> {
        let count = Numbers(self.0.get(2..)?).four()? as usize;
        let (list, outlines) = self.0.get(6..)?.split_at_checked(count * ENTRY)?;
        let code = |i: usize| Numbers(&list[i * ENTRY..]).four().unwrap_or(0);
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if code(middle) < u32::from(letter) { low = middle + 1 } else { high = middle }
        }
        let mut entry = Numbers(list.get(low * ENTRY..)?);
        if entry.four()? != u32::from(letter) {
            return None;
        }
        Some((entry.length()?, Numbers(outlines.get(entry.four()? as usize..)?)))
    }
    /// The outline of a text along its base line, in units of the font with y upward; and how long it is.
    pub fn outline(self, text: &str) -> (Option<Path>, f32) {
        let (mut path, mut at) = (PathBuilder::new(), 0.0);
        for letter in text.chars() {
            let Some((wide, mut outline)) = self.letter(letter).or_else(|| self.letter(UNKNOWN)) else {
                continue;
            };
            while outline.draw(&mut path, at).is_some() {}
            at += wide;
        }
        (path.finish(), at)
    }
}

impl Numbers {
    /// Draws the next piece of an outline, if there is one.
    fn draw(&mut self, path: &mut PathBuilder, from: f32) -> Option<()> {
        match self.byte()? {
            b'M' => path.move_to(from + self.length()?, self.length()?),
            b'L' => path.line_to(from + self.length()?, self.length()?),
            b'Q' => {
                let [a, b, c, d] = [self.length()?, self.length()?, self.length()?, self.length()?];
                path.quad_to(from + a, b, from + c, d);
            }
            b'Z' => path.close(),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_figures_use_are_there() {
        for bold in [false, true] {
            let letters = Letters::new(bold);
            assert_eq!(letters.height(), 2048.0);
            for letter in "Aqω₁₂²³⁰¹⁴⁵⁶⁷⁸⁹⁻−×·±σµ–…°äéőЯ→≤".chars()
            {
                let (wide, _) = letters.letter(letter).unwrap_or_else(|| panic!("{letter}"));
                assert!(wide > 200.0 && wide < 2200.0, "{letter}: {wide}");
                assert!(letters.outline(&letter.to_string()).0.is_some(), "{letter}");
            }
            assert!(letters.letter('龍').is_none());
            assert_eq!(letters.outline("龍").1, letters.outline("\u{fffd}").1);
            let (path, length) = letters.outline("HH");
            let bounds = path.unwrap().bounds();
            assert!(bounds.right() < length && bounds.left() > 0.0 && bounds.top() == 0.0);
            assert!((bounds.bottom() / 2048.0 - 0.73).abs() < 0.02, "{bounds:?}");
            // A space is wide, and nothing is seen of it.
            assert!(letters.outline(" ").0.is_none() && letters.outline(" ").1 > 300.0);
        }
        assert!(Letters::new(true).outline("energy").1 > Letters::new(false).outline("energy").1);
    }
}
