//! How a line looks: colours for every eye, and marks and dashes that tell lines apart when colours repeat.

use super::drawing::{Colour, Fill, Item, Place, Stroke, WHITE};

/// Okabe and Ito's palette without its yellow, which is lost on white.
const COLOURS: [u32; 7] = [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x000000];

const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0]];

/// Shapes as offsets from their centre; none is a circle. Five, so that colour and shape repeat together only
/// after 35 lines.
const SHAPES: [&[Place]; 5] = [
    &[],
    &[(-3.7, -3.7), (3.7, -3.7), (3.7, 3.7), (-3.7, 3.7)],
    &[(0.0, -5.0), (4.6, 3.4), (-4.6, 3.4)],
    &[(0.0, -5.2), (5.2, 0.0), (0.0, 5.2), (-5.2, 0.0)],
    &[(0.0, 5.0), (4.6, -3.4), (-4.6, -3.4)],
];

/// The look of one line.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: Colour,
    dash: &'static [f64],
    shape: &'static [Place],
}

/// How wide lines are.
const WIDTH: f64 = 1.6;

impl Style {
    /// The look of the n-th line.
    pub fn of(n: usize) -> Self {
        Style {
            colour: Colour(COLOURS[n % COLOURS.len()]),
            dash: DASHES[n / COLOURS.len() % DASHES.len()],
            shape: SHAPES[n % SHAPES.len()],
        }
    }
    /// The same for lines without markers, whose dashes tell them apart in grey.
    pub fn plain(n: usize) -> Self {
        Style { dash: DASHES[n % DASHES.len()], ..Style::of(n) }
    }
    /// Dots at points.
    pub fn dots(&self, out: &mut Vec<Item>, points: Vec<Place>) {
        out.push(Item::Circles(points, 1.8, Fill(self.colour, 0.75), None));
    }
    /// A dot in a legend.
    pub fn dot(&self, out: &mut Vec<Item>, place: Place) {
        out.push(Item::Circles(vec![place], 4.0, Fill(self.colour, 1.0), None));
    }
    /// A line through points.
    pub fn line(&self, out: &mut Vec<Item>, points: Vec<Place>) {
        if points.len() > 1 {
            out.push(Item::Line(points, Stroke { dash: self.dash, ..Stroke::new(self.colour, WIDTH) }));
        }
    }
    /// An area inside of points.
    pub fn area(&self, out: &mut Vec<Item>, points: Vec<Place>, density: f64) {
        let edge = Stroke { density: 0.6, ..Stroke::new(self.colour, 0.8) };
        out.push(Item::Area(points, Fill(self.colour, density), edge));
    }
    /// A marker at a point, white inside so that one behind another still shows.
    pub fn marker(&self, out: &mut Vec<Item>, (x, y): Place) {
        let (fill, edge) = (Fill(WHITE, 0.55), Stroke::new(self.colour, WIDTH));
        out.push(match self.shape {
            [] => Item::Circles(vec![(x, y)], 4.2, fill, Some(edge)),
            shape => Item::Area(shape.iter().map(|(dx, dy)| (x + dx, y + dy)).collect(), fill, edge),
        });
    }
}
