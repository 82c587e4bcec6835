//! The errors over the step as an SVG drawing: two panels side by side, one line per method.

mod axis;
mod guide;
mod panel;
mod style;

use super::Comparison;
use crate::print::plain;
use core::fmt::Write;
use panel::Panel;
use style::{Style, escape};

const WIDTH: f64 = 1000.0;
/// The panels' inner size and place.
const PANEL: (f64, f64) = (395.0, 360.0);
const LEFTS: [f64; 2] = [75.0, 575.0];
const TOP: f64 = 104.0;
/// From the panels' lower edge to the legend.
const FOOT: f64 = 66.0;
const LINE: f64 = 21.0;
/// Width of a letter of the legend, roughly.
const LETTER: f64 = 6.7;
/// The longest name that a legend shows in full.
const LONGEST: usize = 44;

/// Draws a comparison.
pub fn svg(comparison: &Comparison) -> String {
    let names: Vec<String> = comparison.series.iter().map(|s| shortened(s.method.id())).collect();
    let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0) as f64;
    let cell = 44.0 + longest * LETTER + 22.0;
    let columns = (((WIDTH - 100.0) / cell) as usize).clamp(1, 5).min(names.len().max(1));
    let lines = names.len().div_ceil(columns);
    let legend_top = TOP + PANEL.1 + FOOT;
    let height = legend_top + lines as f64 * LINE + 12.0;

    let mut out = String::new();
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="12" fill="#222">
<rect width="100%" height="100%" fill="white"/>
<text x="{x}" y="34" font-size="18" font-weight="bold">{id}: error at t = {t} s over the step</text>
<text x="{x}" y="56" fill="#666">{title}; reference: {source}</text>
"##,
        x = LEFTS[0],
        id = escape(&comparison.problem.id),
        t = plain(comparison.until),
        title = escape(&comparison.problem.title),
        source = escape(&comparison.source),
    );
    // An unstable run may end anywhere; a momentum far above the initial one needs no place in the picture.
    let start = comparison.model.start();
    let momentum = start.bodies.iter().map(|body| body.momentum_body.norm()).fold(0.0, f64::max);
    let most = if momentum > 0.0 { 100.0 * momentum } else { f64::INFINITY };
    let left = Panel::new(&comparison.series, "attitude error, 2-norm", f64::INFINITY, |e| e.attitude);
    let right = match start.moves() {
        true => Panel::new(&comparison.series, "position error, m", f64::INFINITY, |e| {
            e.position.unwrap_or(f64::NAN)
        }),
        false => Panel::new(&comparison.series, "body momentum error, kg m²/s", most, |e| e.momentum),
    };
    for (i, (panel, left)) in [left, right].iter().zip(LEFTS).enumerate() {
        panel.draw(&mut out, i, left, TOP, PANEL);
    }
    let used = columns as f64 * cell - 22.0;
    let from = ((WIDTH - used) / 2.0).max(LEFTS[0] - 40.0);
    for (i, name) in names.iter().enumerate() {
        let x = from + (i / lines) as f64 * cell;
        let y = legend_top + (i % lines) as f64 * LINE;
        let style = Style::of(i);
        style.line(&mut out, &[(x, y), (x + 34.0, y)]);
        style.marker(&mut out, (x + 17.0, y));
        let _ = writeln!(out, r#"<text x="{}" y="{}">{}</text>"#, x + 42.0, y + 4.0, escape(name));
    }
    out.push_str("</svg>\n");
    out
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.into();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}
