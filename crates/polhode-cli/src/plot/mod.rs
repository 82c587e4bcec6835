//! Plots as drawings in SVG or PNG: panels under a title, with one legend for all of them or one for each.

mod axis;
mod drawing;
mod guide;
mod letters;
mod panel;
mod png;
mod sketch;
mod style;
mod svg;
mod thin;

pub use axis::Axis;
pub use drawing::Drawing;
pub use guide::Guide;
pub use panel::{Curve, Look, Panel, Points};
pub use sketch::{SETS, Sketch, Wish, with_unit};
pub use thin::Thin;

use drawing::{Colour, Item, Text};
use panel::LETTER;
use style::Style;

/// How panels are put on a page.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// Panels side by side.
    pub wide: usize,
    /// The inner size of each.
    pub size: (f64, f64),
}

/// The room left of a panel beside that of its labels, and right of the last.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 30.0;
/// The room above the first panels, and from a panel to what is below it: its labels.
const TOP: f64 = 76.0;
const BELOW: f64 = 52.0;
/// The room of a panel's title.
const TITLE: f64 = 30.0;
const LINE: f64 = 21.0;
/// The longest name that a legend shows in full.
const LONGEST: usize = 44;

/// Draws panels under a title, above the names of the curves that they share.
pub fn page(title: &str, below: &str, names: &[&str], sheet: Sheet, panels: &[Panel]) -> Drawing {
    let Sheet { wide, size } = sheet;
    let wide = wide.clamp(1, panels.len().max(1));
    let margin = panels.iter().map(|panel| panel.margin(size.1)).fold(0.0, f64::max);
    let (left, cell) = (LEFT + margin, LEFT + margin + size.0);
    let width = (wide as f64 * cell + RIGHT).max(720.0).max(left + RIGHT + 8.0 * title_width(title, below));
    let mut items = Vec::new();
    let mut top = TOP;
    items.push(Item::Text(Text { size: 18.0, bold: true, ..Text::new((left, 34.0), title) }));
    items.push(Item::Text(Text { colour: Colour(0x55_5555), ..Text::new((left, 56.0), below) }));
    for line in panels.chunks(wide) {
        // Room for the names of the panel that has most of them, and for a factor of its labels.
        top += TITLE + 16.0 + line.iter().map(|panel| panel.lines(size.0)).fold(0.0, f64::max);
        for (i, panel) in line.iter().enumerate() {
            panel.draw(&mut items, (left + i as f64 * cell, top), size);
        }
        top += size.1 + BELOW;
    }
    let lines = legend(&mut items, names, width, top + 4.0);
    let height = top + if names.is_empty() { 4.0 } else { 10.0 + lines };
    Drawing { size: (width, height), items }
}

/// Draws panels each by itself, all of the same size.
pub fn apart(panels: &[Panel], size: (f64, f64)) -> Vec<Drawing> {
    let most = |of: &dyn Fn(&Panel) -> f64| panels.iter().map(of).fold(0.0, f64::max);
    let left = LEFT + most(&|panel| panel.margin(size.1));
    let title = most(&|panel| if panel.title.is_empty() { 0.0 } else { TITLE });
    let top = 24.0 + title + most(&|panel| panel.lines(size.0));
    let one = |panel: &Panel| {
        let mut items = Vec::new();
        panel.draw(&mut items, (left, top), size);
        Drawing { size: (left + size.0 + RIGHT, top + size.1 + BELOW), items }
    };
    panels.iter().map(one).collect()
}

/// Letters of ordinary size in the longer of two lines.
fn title_width(title: &str, below: &str) -> f64 {
    (1.25 * title.chars().count() as f64).max(0.78 * below.chars().count() as f64)
}

/// Draws the names of curves in columns, from a height on; returns the height that they take.
fn legend(out: &mut Vec<Item>, names: &[&str], width: f64, top: f64) -> f64 {
    let names: Vec<String> = names.iter().map(|name| shortened(name)).collect();
    let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0) as f64;
    let cell = 44.0 + longest * LETTER + 22.0;
    let columns = (((width - 60.0) / cell) as usize).clamp(1, 5).min(names.len().max(1));
    let lines = names.len().div_ceil(columns);
    let from = ((width - columns as f64 * cell + 22.0) / 2.0).max(30.0);
    for (i, name) in names.into_iter().enumerate() {
        let x = from + (i / lines) as f64 * cell;
        let y = top + (i % lines) as f64 * LINE;
        let style = Style::of(i);
        style.line(out, vec![(x, y), (x + 34.0, y)]);
        style.marker(out, (x + 17.0, y));
        out.push(Item::Text(Text::new((x + 42.0, y + 4.0), name)));
    }
    lines as f64 * LINE
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.into();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}
