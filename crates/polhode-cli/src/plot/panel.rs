//! One panel: axes, grid, guides, lines and their names.

use super::axis::{Axis, Tick};
use super::drawing::{Anchor, Colour, Fill, Item, Place, Text};
use super::guide::{self, Guide};
use super::style::Style;

/// How the points of a curve are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A line with a marker at each.
    Marked,
    /// A line.
    Line,
    /// Dots.
    Dots,
}

/// Points in the order in which they are joined; where there is none there is a gap.
pub type Points = Vec<Option<Place>>;

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its points.
    pub points: Points,
    /// How it looks, by its number.
    pub style: usize,
    /// Its name, if the panel has its own legend.
    pub name: Option<String>,
    /// How dense the area inside of it is, of one that goes around an area.
    pub fill: Option<f64>,
}

/// What a panel shows.
#[derive(Debug)]
pub struct Panel {
    /// What is above.
    pub title: String,
    /// What is below.
    pub below: String,
    /// What is at the left.
    pub beside: String,
    /// Its axes.
    pub axes: [Axis; 2],
    /// The curves.
    pub curves: Vec<Curve>,
    /// How they look.
    pub look: Look,
    /// Values between which the ground is shaded.
    pub band: Option<(f64, f64)>,
    /// What orders look like.
    pub guides: Vec<Guide>,
}

/// Width of a letter, roughly, and of one of a heading.
pub const LETTER: f64 = 6.7;
const BOLD: f64 = 7.6;
/// A line of a legend.
const LINE: f64 = 18.0;
/// A sample of a line in a legend, and the room behind a name.
const SAMPLE: f64 = 30.0;
const BEHIND: f64 = 16.0;
/// The edge of a panel, and the band in it.
const EDGE: Colour = Colour(0x44_4444);
const BAND: Colour = Colour(0xe9_eef5);

impl Panel {
    /// How the names of curves are put above the panel: for each its line and place; all after the title where there is
    /// room.
    fn legend(&self, width: f64) -> Vec<(usize, f64)> {
        let sample = if self.look == Look::Dots { 10.0 } else { SAMPLE };
        let wide = |name: &str| sample + 6.0 + LETTER * name.chars().count() as f64 + BEHIND;
        let names: Vec<f64> =
            self.curves.iter().filter_map(|curve| curve.name.as_deref()).map(wide).collect();
        let all: f64 = names.iter().sum();
        let title = BOLD * self.title.chars().count() as f64 + 20.0;
        let (mut line, mut at) = if title + all <= width { (0, width - all + BEHIND) } else { (1, 0.0) };
        let mut places = Vec::new();
        for wide in names {
            if at > 0.0 && at + wide - BEHIND > width + 1.0 {
                (line, at) = (line + 1, 0.0);
            }
            places.push((line, at));
            at += wide;
        }
        places
    }
    /// Lines that names of curves take beside that of the title.
    pub fn lines(&self, width: f64) -> f64 {
        LINE * self.legend(width).iter().map(|(line, _)| *line).max().unwrap_or(0) as f64
    }
    /// The longest label at its left, in the drawing.
    pub fn margin(&self, height: f64) -> f64 {
        let (ticks, _) = self.axes[1].grid(about(height, 36.0));
        let letters = ticks.iter().filter_map(|tick| tick.label.as_ref()).map(|label| label.chars().count());
        LETTER * letters.max().unwrap_or(0) as f64
    }

    /// Draws it with its upper left corner at a place; its names stand above that.
    pub fn draw(&self, out: &mut Vec<Item>, (left, top): Place, size: Place) {
        let (width, height) = size;
        let bottom = top + height;
        let x = |at: f64| left + at * width;
        let y = |at: f64| bottom - at * height;
        let place = |(a, b): Place| (x(self.axes[0].at(a)), y(self.axes[1].at(b)));
        let (under, factor_under) = self.axes[0].grid(about(width, 80.0));
        let (beside, factor) = self.axes[1].grid(about(height, 36.0));
        // What labels are multiplied by stands over them, under the names.
        let above = top - 10.0 - if factor.is_some() { 15.0 } else { 0.0 };
        let title = above - self.lines(width);
        out.push(Item::Text(Text { size: 13.0, bold: true, ..Text::new((left, title), &*self.title) }));
        if let Some(factor) = factor {
            let look = Text::new((left, top - 6.0), factor);
            out.push(Item::Text(Text { size: 11.0, colour: EDGE, ..look }));
        }
        if let Some((low, high)) = self.band {
            let (low, high) = (y(self.axes[1].at(low)), y(self.axes[1].at(high)));
            out.push(Item::Ground((left, high), (width, low - high), Fill(BAND, 1.0)));
        }
        for tick in under {
            let at = x(tick.at);
            out.push(grid(&tick, [(at, top), (at, bottom)]));
            let label = |label| Text { anchor: Anchor::Middle, ..Text::new((at, bottom + 18.0), label) };
            out.extend(tick.label.map(label).map(Item::Text));
        }
        for tick in beside {
            let at = y(tick.at);
            out.push(grid(&tick, [(left, at), (left + width, at)]));
            let label = |label| Text { anchor: Anchor::End, ..Text::new((left - 8.0, at + 4.0), label) };
            out.extend(tick.label.map(label).map(Item::Text));
        }
        let factor = factor_under.map_or(String::new(), |factor| format!(" ({factor})"));
        let below = Text::new((left + 0.5 * width, bottom + 38.0), format!("{}{factor}", self.below));
        out.push(Item::Text(Text { anchor: Anchor::Middle, ..below }));
        if !self.beside.is_empty() {
            let at = (left - 22.0 - self.margin(height), top + 0.5 * height);
            let beside = Text::new(at, &*self.beside);
            out.push(Item::Text(Text { anchor: Anchor::Middle, upward: true, ..beside }));
        }

        let places: Vec<Points> =
            self.curves.iter().map(|curve| curve.points.iter().map(|p| p.map(place)).collect()).collect();
        let mut inside = Vec::new();
        guide::draw(&mut inside, &self.guides, &along(&places), (left, top), size);
        for (curve, places) in self.curves.iter().zip(&places) {
            let joined = |places: &[Option<Place>]| places.iter().flatten().copied().collect();
            match curve.fill {
                Some(density) => Style::of(curve.style).area(&mut inside, joined(places), density),
                None if self.look == Look::Dots => Style::of(curve.style).dots(&mut inside, joined(places)),
                None => {
                    let lines = places.split(Option::is_none);
                    lines.for_each(|line| self.style(curve).line(&mut inside, joined(line)));
                }
            }
        }
        out.push(Item::Inside((left, top), size, inside));
        if self.look == Look::Marked {
            for (curve, places) in self.curves.iter().zip(&places) {
                for place in places.iter().flatten().filter(|p| (top..=bottom).contains(&p.1)) {
                    self.style(curve).marker(out, *place);
                }
            }
        }
        let named = self.curves.iter().filter_map(|curve| Some((curve, curve.name.as_deref()?)));
        for ((curve, name), (line, at)) in named.zip(self.legend(width)) {
            let (from, base) = (left + at, title + LINE * line as f64);
            let sample = match self.look {
                Look::Dots => {
                    Style::of(curve.style).dot(out, (from + 4.0, base - 4.0));
                    10.0
                }
                _ if curve.fill.is_some() => {
                    let (low, high) = (base - 9.0, base + 1.0);
                    let around = vec![(from, low), (from + SAMPLE, low), (from + SAMPLE, high), (from, high)];
                    Style::of(curve.style).area(out, around, curve.fill.unwrap_or_default());
                    SAMPLE
                }
                _ => {
                    self.style(curve).line(out, vec![(from, base - 4.0), (from + SAMPLE, base - 4.0)]);
                    SAMPLE
                }
            };
            out.push(Item::Text(Text::new((from + sample + 6.0, base), name)));
        }
        out.push(Item::Frame((left, top), size, EDGE));
    }
    fn style(&self, curve: &Curve) -> Style {
        if self.look == Look::Line { Style::plain(curve.style) } else { Style::of(curve.style) }
    }
}

/// How many lines a grid has over a length.
fn about(length: f64, apart: f64) -> f64 {
    (length / apart).clamp(3.0, 9.0)
}

fn grid(tick: &Tick, ends: [Place; 2]) -> Item {
    Item::Rule(ends, Colour(if tick.major { 0xd4_d4d4 } else { 0xef_efef }))
}

/// Points along all lines, close together.
fn along(places: &[Points]) -> Vec<Place> {
    let mut points = Vec::new();
    for places in places {
        for pair in places.windows(2) {
            if let [Some(a), Some(b)] = pair {
                points.extend((0..=24).map(|i| {
                    let f = f64::from(i) / 24.0;
                    (a.0 + f * (b.0 - a.0), a.1 + f * (b.1 - a.1))
                }));
            }
        }
    }
    points
}
