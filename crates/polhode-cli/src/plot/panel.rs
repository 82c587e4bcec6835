//! One panel: axes, grid, guides, lines and their names.

use super::axis::{Axis, Tick};
use super::guide::{self, Guide};
use super::style::{Style, escape};
use core::fmt::Write;

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
pub type Points = Vec<Option<(f64, f64)>>;

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
    pub fn draw(&self, out: &mut String, index: usize, left: f64, top: f64, (width, height): (f64, f64)) {
        let bottom = top + height;
        let x = |at: f64| left + at * width;
        let y = |at: f64| bottom - at * height;
        let place = |(a, b): (f64, f64)| (x(self.axes[0].at(a)), y(self.axes[1].at(b)));
        let (under, factor_under) = self.axes[0].grid(about(width, 80.0));
        let (beside, factor) = self.axes[1].grid(about(height, 36.0));
        // What labels are multiplied by stands over them, under the names.
        let above = top - 10.0 - if factor.is_some() { 15.0 } else { 0.0 };
        let title = above - self.lines(width);
        let _ = writeln!(
            out,
            r#"<g><clipPath id="panel{index}"><rect x="{left}" y="{top}" width="{width}" height="{height}"/></clipPath>
<text x="{left}" y="{title:.2}" font-size="13" font-weight="bold">{}</text>"#,
            escape(&self.title)
        );
        if let Some(factor) = &factor {
            let _ = writeln!(
                out,
                r##"<text x="{left}" y="{:.2}" font-size="11" fill="#444">{factor}</text>"##,
                top - 6.0
            );
        }
        if let Some((low, high)) = self.band {
            let (low, high) = (y(self.axes[1].at(low)), y(self.axes[1].at(high)));
            let _ = writeln!(
                out,
                r##"<rect x="{left}" y="{high:.2}" width="{width}" height="{:.2}" fill="#e9eef5"/>"##,
                low - high
            );
        }
        for tick in under {
            let at = x(tick.at);
            grid(out, &tick, (at, top), (at, bottom));
            if let Some(label) = &tick.label {
                let _ = writeln!(
                    out,
                    r#"<text x="{at:.2}" y="{}" text-anchor="middle">{label}</text>"#,
                    bottom + 18.0
                );
            }
        }
        for tick in beside {
            let at = y(tick.at);
            grid(out, &tick, (left, at), (left + width, at));
            if let Some(label) = &tick.label {
                let _ = writeln!(
                    out,
                    r#"<text x="{}" y="{:.2}" text-anchor="end">{label}</text>"#,
                    left - 8.0,
                    at + 4.0
                );
            }
        }
        let factor = factor_under.map_or(String::new(), |factor| format!(" ({factor})"));
        let _ = writeln!(
            out,
            r#"<text x="{}" y="{}" text-anchor="middle">{}</text>"#,
            left + 0.5 * width,
            bottom + 38.0,
            escape(&format!("{}{factor}", self.below))
        );
        if !self.beside.is_empty() {
            let _ = writeln!(
                out,
                r#"<text transform="translate({:.2} {:.2}) rotate(-90)" text-anchor="middle">{}</text>"#,
                left - 22.0 - self.margin(height),
                top + 0.5 * height,
                escape(&self.beside)
            );
        }

        let places: Vec<Points> =
            self.curves.iter().map(|curve| curve.points.iter().map(|p| p.map(place)).collect()).collect();
        let _ = writeln!(out, r#"<g clip-path="url(#panel{index})">"#);
        guide::draw(out, &self.guides, &along(&places), (left, top), (width, height));
        for (curve, places) in self.curves.iter().zip(&places) {
            if let Some(density) = curve.fill {
                let around: Vec<(f64, f64)> = places.iter().flatten().copied().collect();
                Style::of(curve.style).area(out, &around, density);
                continue;
            }
            if self.look == Look::Dots {
                Style::of(curve.style).dots(out, places.iter().flatten().copied());
                continue;
            }
            for run in places.split(Option::is_none) {
                self.style(curve).line(out, &run.iter().flatten().copied().collect::<Vec<_>>());
            }
        }
        out.push_str("</g>\n");
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
                    let around = [(from, low), (from + SAMPLE, low), (from + SAMPLE, high), (from, high)];
                    Style::of(curve.style).area(out, &around, curve.fill.unwrap_or_default());
                    SAMPLE
                }
                _ => {
                    self.style(curve).line(out, &[(from, base - 4.0), (from + SAMPLE, base - 4.0)]);
                    SAMPLE
                }
            };
            let _ = writeln!(
                out,
                r#"<text x="{:.2}" y="{base:.2}">{}</text>"#,
                from + sample + 6.0,
                escape(name)
            );
        }
        let _ = writeln!(
            out,
            r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#444"/></g>"##
        );
    }
    fn style(&self, curve: &Curve) -> Style {
        if self.look == Look::Line { Style::plain(curve.style) } else { Style::of(curve.style) }
    }
}

/// How many lines a grid has over a length.
fn about(length: f64, apart: f64) -> f64 {
    (length / apart).clamp(3.0, 9.0)
}

fn grid(out: &mut String, tick: &Tick, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let colour = if tick.major { "#d4d4d4" } else { "#efefef" };
    let _ = writeln!(
        out,
        r#"<line x1="{x1:.2}" y1="{y1:.2}" x2="{x2:.2}" y2="{y2:.2}" stroke="{colour}" shape-rendering="crispEdges"/>"#
    );
}

/// Points along all lines, close together.
fn along(places: &[Points]) -> Vec<(f64, f64)> {
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
