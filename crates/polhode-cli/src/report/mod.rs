//! A run as one page for browsers: what moves, in three dimensions, beside its curves, numbers and settings.
//!
//! The page needs nothing beside itself: script, style and data are in it.

mod film;
mod scene;

pub use film::Film;
pub use scene::scene;

use crate::plot::Sketch;
use crate::table::Head;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../assets/report.html");
/// The look of all pages.
pub const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str =
    concat!(include_str!("../../assets/geometry.js"), include_str!("../../assets/report.js"));

/// A page while its run is under way.
#[derive(Debug)]
pub struct Page {
    film: Film,
    sketch: Sketch,
}

impl Page {
    /// Of a run with these columns and this start; behind its columns a row has the Newton iterations of a step, if they
    /// are known. Where poses are missing, the name of the body.
    pub fn new(heads: &[Head], start: &[f64], scene: &Value, iterations: bool) -> Result<Page, String> {
        let mut sketch = Sketch::small(&["energy", "momentum", "reactions"], heads, start);
        if iterations {
            sketch.add_one("Newton iterations, per step", "", heads.len());
        }
        Ok(Page { film: Film::new(heads, scene)?, sketch })
    }
    /// Takes the next row.
    pub fn take(&mut self, row: &[f64]) {
        self.film.take(row);
        self.sketch.take(row);
    }
    /// The page, with what is said of the run.
    pub fn html(&self, metadata: &Value) -> String {
        let text = |key: &str| metadata[key].as_str().unwrap_or_default();
        let title = if text("title").is_empty() { text("model") } else { text("title") };
        // Each by itself, so that a narrow page has them below each other.
        let charts = self.sketch.drawings().into_iter().enumerate();
        let charts = charts.map(|(i, drawing)| drawing.svg_named(&format!("chart{i}-"))).collect();
        let data = json!({
            "metadata": metadata,
            "film": self.film.json(),
        });
        // No text of a model may end the script.
        let data = data.to_string().replace("</", "<\\/").replace("<!--", "<\\!--");
        let parts = [
            ("{{title}}", escape(title)),
            ("{{style}}", STYLE.into()),
            ("{{charts}}", charts),
            ("{{data}}", data),
            ("{{script}}", SCRIPT.into()),
        ];
        fill(PAGE, parts)
    }
}

/// A page with its marks, in their order, replaced: no text that is put in is looked at again.
pub fn fill<const N: usize>(page: &str, parts: [(&str, String); N]) -> String {
    let mut rest = page;
    let mut filled = String::new();
    for (mark, part) in parts {
        let (before, behind) = rest.split_once(mark).unwrap_or((rest, ""));
        filled.push_str(before);
        filled.push_str(&part);
        rest = behind;
    }
    filled + rest
}

/// Text that is safe inside a page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
