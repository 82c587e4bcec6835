//! Errors as an SVG drawing: two panels side by side, one line per method.

mod axis;
mod guide;
mod panel;
mod style;

use super::Comparison;
use crate::print::plain;
use core::fmt::Write;
pub use panel::{Chart, Curve, Panel};
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
    // An unstable run may end anywhere; a momentum far above the initial one needs no place in the picture.
    let start = comparison.model.start();
    let momentum = start.bodies.iter().map(|body| body.momentum_body.norm()).fold(0.0, f64::max);
    let most = if momentum > 0.0 { 100.0 * momentum } else { f64::INFINITY };
    let (series, all) = (&comparison.series, f64::INFINITY);
    let left = Panel::over_steps(series, "attitude error, 2-norm", all, |e| e.attitude);
    let right = match start.moves() {
        true => Panel::over_steps(series, "position error, m", all, |e| e.position.unwrap_or(f64::NAN)),
        false => Panel::over_steps(series, "body momentum error, kg m²/s", most, |e| e.momentum),
    };
    let title =
        format!("{}: error at t = {} s over the step", comparison.problem.id, plain(comparison.until));
    let below = format!("{}; reference: {}", comparison.problem.title, comparison.source);
    let ids: Vec<&str> = series.iter().map(|s| s.method.id()).collect();
    page(&title, &below, &ids, &[left, right])
}

/// Two panels under a title, above the names of their lines.
pub fn page(title: &str, below: &str, names: &[&str], panels: &[Panel; 2]) -> String {
    let names: Vec<String> = names.iter().map(|name| shortened(name)).collect();
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
<text x="{x}" y="34" font-size="18" font-weight="bold">{title}</text>
<text x="{x}" y="56" fill="#666">{below}</text>
"##,
        x = LEFTS[0],
        title = escape(title),
        below = escape(below),
    );
    for (i, (panel, left)) in panels.iter().zip(LEFTS).enumerate() {
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
