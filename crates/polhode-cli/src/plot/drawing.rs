//! A drawing: a list of simple things, which every format writes in its own way.

use super::{png, svg};
use crate::failure::Failure;
use crate::files::NewFile;

/// A point of the drawing, from its upper left corner.
pub type Place = (f64, f64);

/// Red, green and blue, as in `0xD55E00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u32);

/// What text has if nothing else is said.
pub const INK: Colour = Colour(0x22_2222);
/// The ground.
pub const WHITE: Colour = Colour(0xFF_FFFF);

/// What fills an area: a colour, and how dense it is, up to 1.
#[derive(Clone, Copy, Debug)]
pub struct Fill(pub Colour, pub f64);

/// What draws a line.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// How wide it is.
    pub width: f64,
    /// How dense it is, up to 1.
    pub density: f64,
    /// Lengths of dashes and gaps in turn; none of a line without.
    pub dash: &'static [f64],
}

impl Stroke {
    /// Without dashes.
    pub fn new(colour: Colour, width: f64) -> Self {
        Stroke { colour, width, density: 1.0, dash: &[] }
    }
}

/// Which end of a text is where it is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The first letter.
    Start,
    /// The middle.
    Middle,
    /// The last letter.
    End,
}

/// A line of text.
#[derive(Clone, Debug)]
pub struct Text {
    /// A point of its base line.
    pub at: Place,
    /// What it says.
    pub text: String,
    /// Its size.
    pub size: f64,
    /// True if it is bold.
    pub bold: bool,
    /// Its colour.
    pub colour: Colour,
    /// What is at the place.
    pub anchor: Anchor,
    /// True if it goes upward.
    pub upward: bool,
    /// True if it stands on white.
    pub halo: bool,
}

/// The size of text if nothing else is said.
pub const SIZE: f64 = 12.0;
/// How wide the white around text is that stands on some.
pub const HALO: f64 = 3.0;

impl Text {
    /// Ordinary text from a place to the right.
    pub fn new(at: Place, text: impl Into<String>) -> Self {
        Text {
            at,
            text: text.into(),
            size: SIZE,
            bold: false,
            colour: INK,
            anchor: Anchor::Start,
            upward: false,
            halo: false,
        }
    }
}

/// Anything that is drawn.
#[derive(Clone, Debug)]
pub enum Item {
    /// A line through points.
    Line(Vec<Place>, Stroke),
    /// A straight line between two points.
    Segment([Place; 2], Stroke),
    /// A line along an axis, one unit wide and sharp.
    Rule([Place; 2], Colour),
    /// A closed area.
    Area(Vec<Place>, Fill, Stroke),
    /// Circles of one radius about points.
    Circles(Vec<Place>, f64, Fill, Option<Stroke>),
    /// A rectangle from its upper left corner, with its width and height.
    Ground(Place, Place, Fill),
    /// The sharp outline of one.
    Frame(Place, Place, Colour),
    /// Text.
    Text(Text),
    /// Things of which only what is inside of a rectangle is seen.
    Inside(Place, Place, Vec<Item>),
}

/// A drawing on white.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Its width and height.
    pub size: Place,
    /// What is on it, from the back to the front.
    pub items: Vec<Item>,
}

impl Drawing {
    /// As a text for browsers.
    pub fn svg(&self) -> String {
        self.svg_named("")
    }
    /// The same for a page with others: what is referred to has names that begin so.
    pub fn svg_named(&self, name: &str) -> String {
        svg::text(self, name)
    }
    /// As a picture of points, two for each unit.
    pub fn png(&self) -> Result<Vec<u8>, Failure> {
        png::bytes(self)
    }
    /// Writes it in the format that the name of the file asks for.
    pub fn write(&self, file: NewFile) -> Result<(), Failure> {
        match file.ends_in("png") {
            true => file.write(&self.png()?),
            false => file.write(self.svg().as_bytes()),
        }
    }
}
