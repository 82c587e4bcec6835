//! One panel: axes, grid, guides and lines.

use super::super::measure::{PLATEAU, Series};
use super::axis::{Axis, Tick};
use super::guide::{self, Guide};
use super::style::{Style, escape};
use core::fmt::Write;
use polhode::problem::Errors;

/// Places and errors of one line; a run without an error to show is a gap.
pub type Curve = Vec<(f64, Option<f64>)>;

/// Lines to be drawn.
#[derive(Debug)]
pub struct Chart {
    /// What is above.
    pub title: String,
    /// What is below.
    pub below: &'static str,
    /// The lines.
    pub curves: Vec<Curve>,
    /// The order of each, where guides show what it looks like.
    pub orders: Vec<u32>,
    /// Values beyond this need no place.
    pub most: f64,
}

/// What a panel shows.
#[derive(Debug)]
pub struct Panel {
    title: String,
    below: &'static str,
    x: Axis,
    y: Axis,
    curves: Vec<Curve>,
    guides: Vec<Guide>,
}

impl Panel {
    /// The errors over the step that `pick` picks, those up to `most`.
    pub fn over_steps(series: &[Series], title: &str, most: f64, pick: fn(&Errors) -> f64) -> Self {
        let curve = |s: &Series| -> Curve {
            let error = |e: &Errors| Some(pick(e)).filter(|e| *e > 0.0 && e.is_finite());
            s.points.iter().map(|p| (p.step, p.errors.as_ref().ok().and_then(error))).collect()
        };
        Panel::new(Chart {
            title: title.into(),
            below: "step h, s",
            curves: series.iter().map(curve).collect(),
            orders: series.iter().map(|s| s.method.order()).collect(),
            most,
        })
    }

    /// Any lines.
    pub fn new(Chart { title, below, curves, orders: of_curves, most }: Chart) -> Self {
        let points = || curves.iter().flatten();
        let x = Axis::around(points().map(|p| p.0));
        let y = Axis::decades(points().filter_map(|p| p.1), most);
        let mut orders = of_curves.clone();
        orders.sort_unstable();
        orders.dedup();
        let guides = orders.into_iter().filter_map(|order| {
            let of_order = of_curves.iter().zip(&curves).filter(|(known, _)| **known == order);
            // Half the error of the best method of this order, each by the last run of its finest telling pair.
            let factors = of_order.filter_map(|(_, c)| telling(c)).map(|(h, e)| e / h.powi(order as i32));
            let factor = 0.5 * factors.fold(f64::INFINITY, f64::min);
            factor.is_finite().then(|| Guide::new(order, factor, &x, &y)).flatten()
        });
        let guides = guides.collect();
        Panel { title, below, x, y, curves, guides }
    }

    /// Draws it with its upper left corner at a place.
    pub fn draw(&self, out: &mut String, index: usize, left: f64, top: f64, (width, height): (f64, f64)) {
        let bottom = top + height;
        let x = |at: f64| left + at * width;
        let y = |at: f64| bottom - at * height;
        let _ = writeln!(
            out,
            r#"<g><clipPath id="panel{index}"><rect x="{left}" y="{top}" width="{width}" height="{height}"/></clipPath>
<text x="{left}" y="{}" font-size="13" font-weight="bold">{}</text>"#,
            top - 10.0,
            escape(&self.title)
        );
        for tick in self.x.ticks() {
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
        for tick in self.y.ticks() {
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
        let _ = writeln!(
            out,
            r#"<text x="{}" y="{}" text-anchor="middle">{}</text>"#,
            left + 0.5 * width,
            bottom + 38.0,
            self.below
        );

        let places: Vec<Vec<Option<(f64, f64)>>> = self
            .curves
            .iter()
            .map(|curve| curve.iter().map(|(h, e)| e.map(|e| (x(self.x.at(*h)), y(self.y.at(e))))).collect())
            .collect();
        let _ = writeln!(out, r#"<g clip-path="url(#panel{index})">"#);
        guide::draw(out, &self.guides, &along(&places), (left, top), (width, height));
        for (i, places) in places.iter().enumerate() {
            for run in places.split(Option::is_none) {
                Style::of(i).line(out, &run.iter().flatten().copied().collect::<Vec<_>>());
            }
        }
        out.push_str("</g>\n");
        for (i, places) in places.iter().enumerate() {
            for place in places.iter().flatten().filter(|p| (top..=bottom).contains(&p.1)) {
                Style::of(i).marker(out, *place);
            }
        }
        let _ = writeln!(
            out,
            r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#444"/></g>"##
        );
    }
}

fn grid(out: &mut String, tick: &Tick, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let colour = if tick.major { "#d4d4d4" } else { "#efefef" };
    let _ = writeln!(
        out,
        r#"<line x1="{x1:.2}" y1="{y1:.2}" x2="{x2:.2}" y2="{y2:.2}" stroke="{colour}" shape-rendering="crispEdges"/>"#
    );
}

/// The finer of the finest two successive runs above the round-off; else the finest single one.
fn telling(curve: &Curve) -> Option<(f64, f64)> {
    let above = |p: &(f64, Option<f64>)| p.1.filter(|e| *e > PLATEAU).map(|e| (p.0, e));
    let pair = curve.windows(2).rev().find_map(|w| above(&w[0]).and(above(&w[1])));
    pair.or_else(|| curve.iter().rev().find_map(above))
}

/// Points along all lines, close together.
fn along(places: &[Vec<Option<(f64, f64)>>]) -> Vec<(f64, f64)> {
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
