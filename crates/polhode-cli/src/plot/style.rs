//! How a line looks: colours for every eye, and marks and dashes that tell lines apart when colours repeat.

use core::fmt::Write;

/// Okabe and Ito's palette without its yellow, which is lost on white.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Shapes as offsets from their centre; none is a circle. Five, so that colour and shape repeat together only
/// after 35 lines.
const SHAPES: [&[(f64, f64)]; 5] = [
    &[],
    &[(-3.7, -3.7), (3.7, -3.7), (3.7, 3.7), (-3.7, 3.7)],
    &[(0.0, -5.0), (4.6, 3.4), (-4.6, 3.4)],
    &[(0.0, -5.2), (5.2, 0.0), (0.0, 5.2), (-5.2, 0.0)],
    &[(0.0, 5.0), (4.6, -3.4), (-4.6, -3.4)],
];

/// The look of one line.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: &'static str,
    dash: &'static str,
    shape: &'static [(f64, f64)],
}

impl Style {
    /// The look of the n-th line.
    pub fn of(n: usize) -> Self {
        Style {
            colour: COLOURS[n % COLOURS.len()],
            dash: DASHES[n / COLOURS.len() % DASHES.len()],
            shape: SHAPES[n % SHAPES.len()],
        }
    }
    /// The same for lines without markers, whose dashes tell them apart in grey.
    pub fn plain(n: usize) -> Self {
        Style { dash: DASHES[n % DASHES.len()], ..Style::of(n) }
    }
    /// Dots at points.
    pub fn dots(&self, out: &mut String, points: impl Iterator<Item = (f64, f64)>) {
        let _ = writeln!(out, r#"<g fill="{}" fill-opacity="0.75">"#, self.colour);
        for (x, y) in points {
            let _ = writeln!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="1.8"/>"#);
        }
        out.push_str("</g>\n");
    }
    /// A dot in a legend.
    pub fn dot(&self, out: &mut String, (x, y): (f64, f64)) {
        let _ = writeln!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="4" fill="{}"/>"#, self.colour);
    }
    /// A line through points.
    pub fn line(&self, out: &mut String, points: &[(f64, f64)]) {
        if points.len() < 2 {
            return;
        }
        let dash = if self.dash.is_empty() {
            String::new()
        } else {
            format!(r#" stroke-dasharray="{}""#, self.dash)
        };
        let _ = writeln!(
            out,
            r#"<polyline points="{}" fill="none" stroke="{}" stroke-width="1.6" stroke-linejoin="round"{dash}/>"#,
            coordinates(points.iter().copied()),
            self.colour
        );
    }
    /// An area inside of points.
    pub fn area(&self, out: &mut String, points: &[(f64, f64)], density: f64) {
        let _ = writeln!(
            out,
            r#"<polygon points="{}" fill="{colour}" fill-opacity="{density}" stroke="{colour}" stroke-opacity="0.6" stroke-width="0.8"/>"#,
            coordinates(points.iter().copied()),
            colour = self.colour
        );
    }
    /// A marker at a point, white inside so that one behind another still shows.
    pub fn marker(&self, out: &mut String, (x, y): (f64, f64)) {
        let look = format!(r#"fill="white" fill-opacity="0.55" stroke="{}" stroke-width="1.6""#, self.colour);
        let _ = if self.shape.is_empty() {
            writeln!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="4.2" {look}/>"#)
        } else {
            let corners = coordinates(self.shape.iter().map(|(dx, dy)| (x + dx, y + dy)));
            writeln!(out, r#"<polygon points="{corners}" {look}/>"#)
        };
    }
}

fn coordinates(points: impl Iterator<Item = (f64, f64)>) -> String {
    points.map(|(x, y)| format!("{x:.2},{y:.2}")).collect::<Vec<_>>().join(" ")
}

/// Text that is safe inside an SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
