//! Errors over the step, or over what they cost.

use super::Comparison;
use super::measure::{PLATEAU, Series};
use crate::plot::{Axis, Curve, Drawing, Guide, Look, Panel, Points, Sheet, page};
use crate::print::plain;
use polhode::problem::Errors;

/// Two panels side by side.
pub const SHEET: Sheet = Sheet { wide: 2, size: (395.0, 360.0) };

/// Lines to be drawn on logarithmic axes.
#[derive(Debug)]
pub struct Chart {
    /// What is above.
    pub title: String,
    /// What is below.
    pub below: &'static str,
    /// The lines: places and errors; a run without an error to show is a gap.
    pub curves: Vec<Vec<(f64, Option<f64>)>>,
    /// The order of each, where guides show what it looks like.
    pub orders: Vec<u32>,
    /// Values beyond this need no place.
    pub most: f64,
}

/// Draws a comparison.
pub fn drawing(comparison: &Comparison) -> Drawing {
    // An unstable run may end anywhere; a momentum far above the initial one needs no place in the picture.
    let start = comparison.model.start();
    let momentum = start.bodies.iter().map(|body| body.momentum_body.norm()).fold(0.0, f64::max);
    let most = if momentum > 0.0 { 100.0 * momentum } else { f64::INFINITY };
    let (series, all) = (&comparison.series, f64::INFINITY);
    let left = over_steps(series, "attitude error, 2-norm", all, |e| e.attitude);
    let right = match start.moves() {
        true => over_steps(series, "position error, m", all, |e| e.position.unwrap_or(f64::NAN)),
        false => over_steps(series, "body momentum error, kg m²/s", most, |e| e.momentum),
    };
    let title =
        format!("{}: error at t = {} s over the step", comparison.problem.id, plain(comparison.until));
    let below = format!("{}; reference: {}", comparison.problem.title, comparison.source);
    let ids: Vec<&str> = series.iter().map(|s| s.method.id()).collect();
    page(&title, &below, &ids, SHEET, &[left, right])
}

/// The errors over the step that `pick` picks, those up to `most`.
fn over_steps(series: &[Series], title: &str, most: f64, pick: fn(&Errors) -> f64) -> Panel {
    let curve = |s: &Series| {
        let error = |e: &Errors| Some(pick(e)).filter(|e| *e > 0.0 && e.is_finite());
        s.points.iter().map(|p| (p.step, p.errors.as_ref().ok().and_then(error))).collect()
    };
    panel(Chart {
        title: title.into(),
        below: "step h, s",
        curves: series.iter().map(curve).collect(),
        orders: series.iter().map(|s| s.method.order()).collect(),
        most,
    })
}

/// Any lines, with guides for their orders.
pub fn panel(Chart { title, below, curves, orders: of_curves, most }: Chart) -> Panel {
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
    let curve = |(style, curve): (usize, &Vec<(f64, Option<f64>)>)| {
        let points: Points = curve.iter().map(|(h, e)| Some((*h, (*e)?))).collect();
        Curve { points, style, name: None, fill: None }
    };
    let curves = curves.iter().enumerate().map(curve).collect();
    Panel {
        title,
        below: below.into(),
        beside: String::new(),
        axes: [x, y],
        curves,
        look: Look::Marked,
        band: None,
        guides,
    }
}

/// The finer of the finest two successive runs above the round-off; else the finest single one.
fn telling(curve: &[(f64, Option<f64>)]) -> Option<(f64, f64)> {
    let above = |p: &(f64, Option<f64>)| p.1.filter(|e| *e > PLATEAU).map(|e| (p.0, e));
    let pair = curve.windows(2).rev().find_map(|w| above(&w[0]).and(above(&w[1])));
    pair.or_else(|| curve.iter().rev().find_map(above))
}
