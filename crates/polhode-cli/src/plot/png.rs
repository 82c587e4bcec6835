//! Drawings as PNG: points of colour, two for each unit of the drawing.

use super::drawing::{Anchor, Colour, Drawing, Fill, HALO, Item, Place, Stroke, Text, WHITE};
use super::letters::Letters;
use crate::failure::Failure;
use miniz_oxide::deflate::compress_to_vec_zlib;
use tiny_skia::{
    Color, FillRule, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, StrokeDash, Transform,
};

/// Points for each unit.
const SCALE: f64 = 2.0;
/// Units of a drawing are those of SVG, 96 to an inch.
const POINTS_PER_METRE: u32 = (96.0 * SCALE / 0.0254 + 0.5) as u32;
/// What is further away than this is not seen anyway, and a rasteriser has few digits.
const FAR: f64 = 1e5;
/// How hard it is tried to be small, from 0 to 10.
const EFFORT: u8 = 6;

/// Writes a drawing.
pub fn bytes(drawing: &Drawing) -> Result<Vec<u8>, Failure> {
    let [width, height] = [drawing.size.0, drawing.size.1].map(|length| (SCALE * length).round() as u32);
    let Some(mut points) = Pixmap::new(width, height) else {
        let text = format!("a picture of {width} by {height} points cannot be drawn; write .svg");
        return Err(Failure::Usage(text));
    };
    points.fill(colour(WHITE, 1.0));
    Canvas { points: &mut points, seen: None }.draw(&drawing.items);
    Ok(encoded(&points))
}

/// Where things are drawn.
struct Canvas<'a> {
    points: &'a mut Pixmap,
    /// The part that is seen, if not all of it is.
    seen: Option<Mask>,
}

fn colour(Colour(code): Colour, density: f64) -> Color {
    let part = |shift: u32| (code >> shift & 0xff) as u8;
    Color::from_rgba8(part(16), part(8), part(0), (255.0 * density.clamp(0.0, 1.0)).round() as u8)
}

fn paint(of: Colour, density: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour(of, density));
    paint
}

fn scaled() -> Transform {
    Transform::from_scale(SCALE as f32, SCALE as f32)
}

fn near(x: f64) -> f32 {
    x.clamp(-FAR, FAR) as f32
}

fn path(points: &[Place], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        match i {
            0 => path.move_to(near(*x), near(*y)),
            _ => path.line_to(near(*x), near(*y)),
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn rectangle((x, y): Place, (width, height): Place) -> Option<Path> {
    let rectangle = Rect::from_ltrb(near(x), near(y), near(x + width), near(y + height))?;
    Some(PathBuilder::from_rect(rectangle))
}

/// The place nearest to one at which a line of a unit's width covers whole points.
fn sharp((x, y): Place) -> Place {
    ((SCALE * x).round() / SCALE, (SCALE * y).round() / SCALE)
}

impl Canvas<'_> {
    fn draw(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }
    fn item(&mut self, item: &Item) {
        match item {
            Item::Line(points, stroke) => self.line(path(points, false), stroke),
            Item::Segment(ends, stroke) => self.line(path(ends, false), stroke),
            Item::Rule(ends, colour) => {
                self.line(path(&ends.map(sharp), false), &Stroke::new(*colour, 1.0));
            }
            Item::Area(points, fill, stroke) => {
                let around = path(points, true);
                self.fill(around.as_ref(), fill);
                self.line(around, stroke);
            }
            Item::Circles(places, radius, fill, stroke) => {
                for (x, y) in places {
                    let circle = PathBuilder::from_circle(near(*x), near(*y), *radius as f32);
                    self.fill(circle.as_ref(), fill);
                    if let Some(stroke) = stroke {
                        self.line(circle, stroke);
                    }
                }
            }
            Item::Ground(corner, size, fill) => self.fill(rectangle(*corner, *size).as_ref(), fill),
            Item::Frame(corner, size, colour) => {
                let (from, to) = (sharp(*corner), sharp((corner.0 + size.0, corner.1 + size.1)));
                let size = (to.0 - from.0, to.1 - from.1);
                self.line(rectangle(from, size), &Stroke::new(*colour, 1.0));
            }
            Item::Text(text) => self.text(text),
            Item::Inside(corner, size, items) => {
                let mut seen = Mask::new(self.points.width(), self.points.height());
                if let (Some(seen), Some(inside)) = (&mut seen, rectangle(*corner, *size)) {
                    seen.fill_path(&inside, FillRule::Winding, true, scaled());
                }
                Canvas { points: self.points, seen }.draw(items);
            }
        }
    }
    fn fill(&mut self, path: Option<&Path>, Fill(colour, density): &Fill) {
        let Some(path) = path else { return };
        let paint = paint(*colour, *density);
        self.points.fill_path(path, &paint, FillRule::Winding, scaled(), self.seen.as_ref());
    }
    fn line(&mut self, path: Option<Path>, stroke: &Stroke) {
        let Some(path) = path else { return };
        let paint = paint(stroke.colour, stroke.density);
        let lengths: Vec<f32> = stroke.dash.iter().map(|length| *length as f32).collect();
        let look = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(lengths, 0.0),
            ..tiny_skia::Stroke::default()
        };
        self.points.stroke_path(&path, &paint, &look, scaled(), self.seen.as_ref());
    }
    fn text(&mut self, text: &Text) {
        let letters = Letters::new(text.bold);
        let (Some(path), length) = letters.outline(&text.text) else { return };
        let size = text.size as f32 / letters.height();
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * length,
            Anchor::End => length,
        };
        // Outlines have their second axis upward.
        let turned = if text.upward { Transform::from_rotate(-90.0) } else { Transform::identity() };
        let place = turned
            .pre_scale(size, -size)
            .pre_translate(-back, 0.0)
            .post_translate(near(text.at.0), near(text.at.1))
            .post_concat(scaled());
        if text.halo {
            let look = tiny_skia::Stroke {
                width: HALO as f32 / size,
                line_join: LineJoin::Round,
                ..tiny_skia::Stroke::default()
            };
            self.points.stroke_path(&path, &paint(WHITE, 1.0), &look, place, self.seen.as_ref());
        }
        let paint = paint(text.colour, 1.0);
        self.points.fill_path(&path, &paint, FillRule::Winding, place, self.seen.as_ref());
    }
}

/// A piece of the file: its length, its name, what is in it and the check sum of that.
fn chunk(out: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    out.extend_from_slice(&(content.len() as u32).to_be_bytes());
    let from = out.len();
    out.extend_from_slice(name);
    out.extend_from_slice(content);
    let check = crc32fast::hash(&out[from..]);
    out.extend_from_slice(&check.to_be_bytes());
}

fn encoded(points: &Pixmap) -> Vec<u8> {
    let (width, height) = (points.width(), points.height());
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Eight bits each of red, green and blue; the only ways of compression and of filters; all rows in order.
    head.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut unit = [POINTS_PER_METRE.to_be_bytes(); 2].concat();
    unit.push(1);
    let mut rows = Vec::with_capacity((3 * width as usize + 1) * height as usize);
    for row in points.data().chunks_exact(4 * width as usize) {
        // No filter: most of a plot is white, row for row.
        rows.push(0);
        // The ground is white, so that nothing is transparent.
        rows.extend(row.chunks_exact(4).flat_map(|point| &point[..3]));
    }
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut out, b"IHDR", &head);
    chunk(&mut out, b"pHYs", &unit);
    chunk(&mut out, b"IDAT", &compress_to_vec_zlib(&rows, EFFORT));
    chunk(&mut out, b"IEND", &[]);
    out
}

#[cfg(test)]
mod tests {
    use super::super::drawing::INK;
    use super::*;

    fn drawn(items: Vec<Item>) -> Vec<u8> {
        let mut points = Pixmap::new(80, 60).unwrap();
        points.fill(colour(WHITE, 1.0));
        Canvas { points: &mut points, seen: None }.draw(&items);
        points.data().chunks(4).map(|point| point[0]).collect()
    }
    /// How much is drawn, in full points.
    fn ink(items: Vec<Item>) -> f64 {
        drawn(items).iter().map(|red| f64::from(255 - red) / f64::from(255 - 0x22)).sum()
    }

    #[test]
    fn everything_covers_what_it_should() {
        let (fill, stroke) = (Fill(INK, 1.0), Stroke::new(INK, 1.5));
        let square = vec![(5.0, 5.0), (15.0, 5.0), (15.0, 15.0), (5.0, 15.0)];
        // A unit is four points.
        let close = |items: Vec<Item>, area: f64| {
            let found = ink(items);
            assert!((found - 4.0 * area).abs() < 0.02 * 4.0 * area + 1.0, "{found} is not {}", 4.0 * area);
        };
        close(vec![Item::Line(vec![(5.0, 5.0), (25.0, 5.0), (25.0, 25.0)], stroke)], 1.5 * 40.0);
        let dashed = Stroke { dash: &[2.0, 3.0], ..stroke };
        close(vec![Item::Segment([(5.0, 5.0), (30.0, 5.0)], dashed)], 1.5 * 10.0);
        close(vec![Item::Rule([(5.1, 7.3), (25.1, 7.3)], INK)], 20.0);
        close(vec![Item::Area(square.clone(), fill, Stroke::new(INK, 0.01))], 100.0);
        close(vec![Item::Area(square, Fill(INK, 0.3), Stroke { density: 0.0, ..stroke })], 30.0);
        let places = vec![(10.0, 10.0), (30.0, 20.0)];
        close(vec![Item::Circles(places, 4.0, fill, None)], 2.0 * 16.0 * core::f64::consts::PI);
        close(vec![Item::Ground((3.0, 4.0), (10.0, 7.0), fill)], 70.0);
        close(vec![Item::Frame((3.1, 4.1), (20.0, 10.0), INK)], 60.0);
        let inside = vec![Item::Ground((0.0, 0.0), (40.0, 30.0), fill)];
        close(vec![Item::Inside((10.0, 5.0), (6.0, 5.0), inside)], 30.0);
        // What is nowhere near does not take the rest with it.
        let far = vec![(5.0, 5.0), (25.0, 5.0), (25.0, 1e300)];
        close(vec![Item::Line(far, stroke)], 1.5 * 20.0 + 1.5 * 25.0);
    }

    #[test]
    fn text_stands_where_it_is_put() {
        let text = |anchor, upward| Text { anchor, upward, ..Text::new((20.0, 15.0), "HHH") };
        let sides = |text: Text| {
            let points = drawn(vec![Item::Text(text)]);
            let inked = |x: usize, y: usize| points[80 * y + x] < 128;
            let across: Vec<usize> = (0..80).filter(|x| (0..60).any(|y| inked(*x, y))).collect();
            let down: Vec<usize> = (0..60).filter(|y| (0..80).any(|x| inked(x, *y))).collect();
            [across[0], across[across.len() - 1], down[0], down[down.len() - 1]]
        };
        let [left, right, top, bottom] = sides(text(Anchor::Start, false));
        assert!(
            left >= 40 && right > 60 && (10..15).contains(&top) && bottom == 29,
            "{left} {right} {top} {bottom}"
        );
        let [left, right, ..] = sides(text(Anchor::End, false));
        assert!(right < 40 && left < 20);
        let [left, right, ..] = sides(text(Anchor::Middle, false));
        assert!((39..=41).contains(&((left + right) / 2)));
        let [left, right, top, bottom] = sides(text(Anchor::Start, true));
        assert!(right == 39 && left > 20 && bottom < 30 && top < 10, "{left} {right} {top} {bottom}");
        // On white, a line behind it is interrupted.
        let line = || Item::Segment([(0.0, 12.0), (40.0, 12.0)], Stroke::new(INK, 1.0));
        let halo = Text { halo: true, ..text(Anchor::Start, false) };
        let plain = ink(vec![line(), Item::Text(text(Anchor::Start, false))]);
        assert!(ink(vec![line(), Item::Text(halo)]) < plain - 5.0);
    }
}
