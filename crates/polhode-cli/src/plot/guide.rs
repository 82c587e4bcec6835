//! Dashed lines that show what an order looks like.

use super::axis::Axis;
use super::drawing::{Colour, Item, Place, Stroke, Text};

/// Error = factor · step^order, in the unit square of a panel.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    /// The order.
    pub order: u32,
    /// From the lower left end to the upper right one; y upward.
    pub ends: [(f64, f64); 2],
}

impl Guide {
    /// The line, cut to the panel, if any of it is inside.
    pub fn new(order: u32, factor: f64, x: &Axis, y: &Axis) -> Option<Self> {
        let height = |place: f64| y.at_log10(factor.log10() + f64::from(order) * x.log10_at(place));
        let (left, right) = (height(0.0), height(1.0));
        let place = |h: f64| (h - left) / (right - left);
        let from = if left < 0.0 { place(0.0) } else { 0.0 };
        let to = if right > 1.0 { place(1.0) } else { 1.0 };
        let visible = from < to && from < 0.97 && to > 0.03;
        visible.then(|| Guide { order, ends: [(from, height(from)), (to, height(to))] })
    }
    fn at(&self, f: f64) -> (f64, f64) {
        let [(x0, y0), (x1, y1)] = self.ends;
        (x0 + f * (x1 - x0), y0 + f * (y1 - y0))
    }
}

/// A rectangle in the drawing.
#[derive(Clone, Copy, Debug)]
struct Box {
    x: f64,
    y: f64,
}

const LABEL: (f64, f64) = (44.0, 13.0);

impl Box {
    fn holds(&self, (x, y): (f64, f64)) -> bool {
        (self.x - 3.0..self.x + LABEL.0 + 3.0).contains(&x)
            && (self.y - 3.0..self.y + LABEL.1 + 3.0).contains(&y)
    }
    fn meets(&self, other: &Box) -> bool {
        (self.x - other.x).abs() < LABEL.0 + 4.0 && (self.y - other.y).abs() < LABEL.1 + 2.0
    }
}

/// Draws the guides with their labels, each where it hides least of the data, given as points of the drawing.
pub fn draw(out: &mut Vec<Item>, guides: &[Guide], data: &[Place], corner: Place, size: Place) {
    let place = |(x, y): Place| (corner.0 + x * size.0, corner.1 + (1.0 - y) * size.1);
    let mut labels: Vec<Box> = Vec::new();
    let mut texts = Vec::new();
    for guide in guides {
        let dashed = Stroke { dash: &[5.0, 4.0], ..Stroke::new(Colour(0x99_9999), 1.2) };
        out.push(Item::Segment(guide.ends.map(place), dashed));
        let candidates = (1..=19).map(|i| {
            let (x, y) = place(guide.at(f64::from(i) / 20.0));
            Box { x: x + 5.0, y: y + 3.0 }
        });
        let inside = |l: &Box| {
            l.x + LABEL.0 < corner.0 + size.0 && l.y > corner.1 && l.y + LABEL.1 < corner.1 + size.1
        };
        let cost = |l: &Box| {
            1000 * labels.iter().filter(|other| l.meets(other)).count()
                + data.iter().filter(|p| l.holds(**p)).count()
        };
        let Some(best) = candidates.filter(inside).min_by_key(cost) else { continue };
        texts.push(Item::Text(Text {
            size: 11.0,
            colour: Colour(0x77_7777),
            halo: true,
            ..Text::new((best.x, best.y + 10.0), format!("order {}", guide.order))
        }));
        labels.push(best);
    }
    out.extend(texts);
}
