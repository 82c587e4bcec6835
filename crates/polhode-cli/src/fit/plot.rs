//! The residuals in units of their noise over time, as an SVG drawing: one panel for each quantity.

use super::Finished;
use crate::print::{count, plain};
use core::fmt::Write;
use polhode::identify::ColumnFit;

/// Okabe and Ito's palette, for every eye.
const COLOURS: [&str; 4] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"];
/// A panel's inner size, and the room around it.
const PANEL: (f64, f64) = (420.0, 150.0);
const LEFT: f64 = 64.0;
const GAP: (f64, f64) = (70.0, 84.0);
const TOP: f64 = 104.0;
/// More points than these of a column say no more.
const POINTS: usize = 1500;

/// The columns of one quantity.
fn panels(columns: &[ColumnFit]) -> Vec<(&str, Vec<&ColumnFit>)> {
    let mut panels: Vec<(&str, Vec<&ColumnFit>)> = Vec::new();
    for column in columns {
        match panels.iter_mut().find(|(quantity, _)| *quantity == column.quantity) {
            Some((_, list)) => list.push(column),
            None => panels.push((&column.quantity, vec![column])),
        }
    }
    panels
}

/// Round numbers over a range, about so many.
fn ticks(low: f64, high: f64, about: f64) -> Vec<f64> {
    let raw = (high - low) / about;
    if !(raw.is_finite() && raw > 0.0) {
        return Vec::new();
    }
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw).unwrap_or(raw);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    // Twelve digits keep 0.3 from being 0.30000000000000004.
    let tidy = |x: f64| format!("{x:.12e}").parse().unwrap_or(x);
    (first..=last).map(|k| tidy(k as f64 * step)).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Draws the residuals of a fit.
pub fn svg(run: &Finished<'_>) -> String {
    let found = &run.found;
    let panels = panels(&found.columns);
    let wide = if panels.len() > 1 { 2 } else { 1 };
    let lines = panels.len().div_ceil(wide);
    // The title needs its room, even above a single panel.
    let width = (LEFT + wide as f64 * (PANEL.0 + GAP.0)).max(720.0);
    let height = TOP + lines as f64 * (PANEL.1 + GAP.1);
    let problem = run.problem;
    let mut out = String::new();
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="12" fill="#222">
<rect width="100%" height="100%" fill="white"/>
<text x="{LEFT}" y="34" font-size="18" font-weight="bold">{id}: residuals of the fit, model minus data</text>
<text x="{LEFT}" y="56" fill="#666">{about}; in units of the noise of each column, with a band at ±2</text>
"##,
        id = escape(&problem.id),
        about = escape(&format!(
            "{} from {}",
            count(found.names.len() as u64, "parameter"),
            count(found.times.len() as u64, "sample")
        )),
    );
    for (i, (quantity, columns)) in panels.iter().enumerate() {
        let left = LEFT + (i % wide) as f64 * (PANEL.0 + GAP.0);
        let top = TOP + (i / wide) as f64 * (PANEL.1 + GAP.1);
        panel(&mut out, quantity, columns, &found.times, left, top);
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, quantity: &str, columns: &[&ColumnFit], times: &[f64], left: f64, top: f64) {
    let (width, height) = PANEL;
    let bottom = top + height;
    let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(1.0));
    let largest =
        columns.iter().flat_map(|c| c.residuals.iter().map(|r| (r / c.sigma).abs())).fold(0.0, f64::max);
    let most = if largest.is_finite() { (1.08 * largest).max(3.0) } else { 3.0 };
    let x = |t: f64| left + (0.02 + 0.96 * (t - first) / (last - first)) * width;
    let y = |r: f64| bottom - 0.5 * (r / most + 1.0) * height;
    let _ = writeln!(
        out,
        r##"<text x="{left}" y="{:.2}" font-size="13" font-weight="bold">{}</text>
<rect x="{left}" y="{:.2}" width="{width}" height="{:.2}" fill="#e9eef5"/>"##,
        top - 10.0,
        escape(quantity),
        y(2.0),
        y(-2.0) - y(2.0)
    );
    for t in ticks(first, last, 5.0) {
        let _ = writeln!(
            out,
            r##"<line x1="{0:.2}" y1="{top}" x2="{0:.2}" y2="{bottom}" stroke="#d4d4d4" shape-rendering="crispEdges"/>
<text x="{0:.2}" y="{1}" text-anchor="middle">{2}</text>"##,
            x(t),
            bottom + 17.0,
            plain(t)
        );
    }
    for r in ticks(-most, most, 5.0) {
        let _ = writeln!(
            out,
            r##"<line x1="{left}" y1="{0:.2}" x2="{1}" y2="{0:.2}" stroke="#d4d4d4" shape-rendering="crispEdges"/>
<text x="{2}" y="{3:.2}" text-anchor="end">{4}</text>"##,
            y(r),
            left + width,
            left - 8.0,
            y(r) + 4.0,
            plain(r)
        );
    }
    let _ = writeln!(
        out,
        r##"<text x="{:.2}" y="{}" text-anchor="middle" fill="#666">t, s</text>
<text transform="translate({:.2} {:.2}) rotate(-90)" text-anchor="middle" fill="#666">residual / σ</text>"##,
        left + 0.5 * width,
        bottom + 34.0,
        left - 42.0,
        top + 0.5 * height
    );
    let every = times.len().div_ceil(POINTS).max(1);
    for (k, column) in columns.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let _ = writeln!(out, r#"<g fill="{colour}" fill-opacity="0.75">"#);
        for (t, r) in times.iter().zip(&column.residuals).filter(|(_, r)| !r.is_nan()).step_by(every) {
            let _ = writeln!(out, r#"<circle cx="{:.2}" cy="{:.2}" r="1.8"/>"#, x(*t), y(r / column.sigma));
        }
        out.push_str("</g>\n");
        // The legend stands right of the title, from its end.
        let from = left + width - 46.0 * (columns.len() - k) as f64 + 10.0;
        let own = column.name.strip_prefix(quantity).unwrap_or(&column.name).trim_start_matches('_');
        let own = if own.is_empty() { "value" } else { own };
        let _ = writeln!(
            out,
            r##"<circle cx="{:.2}" cy="{:.2}" r="4" fill="{colour}"/><text x="{:.2}" y="{:.2}">{}</text>"##,
            from,
            top - 14.0,
            from + 8.0,
            top - 10.0,
            escape(own)
        );
    }
    let _ = writeln!(
        out,
        r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#444"/>"##
    );
}
