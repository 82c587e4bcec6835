//! Pictures of many runs: for each value its histogram and how it depends on what varies, and bands over time.

use super::chunk::Head;
use super::join::Joined;
use super::stats::{Column, Statistics};
use crate::failure::Failure;
use crate::plot::{Axis, Curve, Drawing, Look, Panel, Points, Sheet, page, with_unit};
use crate::print::{count, plain};
use serde_json::Value;

/// The most values and inputs that are shown.
const MOST_VALUES: usize = 8;
const MOST_INPUTS: usize = 4;
/// About how many dots a panel has at most.
const DOTS: u64 = 1500;
/// The fewest and the most bars of a histogram.
const BARS: (usize, usize) = (8, 60);

/// A value over time, from the columns of its times.
struct Band {
    name: String,
    /// Times, and the column of each.
    points: Vec<(f64, usize)>,
}

/// The values that are kept at three times or more.
fn bands(head: &Head, about: &Value) -> Vec<Band> {
    let mut found: Vec<Band> = Vec::new();
    for (c, name) in head.columns.iter().enumerate() {
        let at = &about["times"][name];
        let (Some(column), Some(t)) = (at[0].as_str(), at[1].as_f64()) else { continue };
        match found.iter_mut().find(|band| band.name == column) {
            Some(band) => band.points.push((t, c)),
            None => found.push(Band { name: column.into(), points: vec![(t, c)] }),
        }
    }
    found.retain(|band| band.points.len() > 2);
    found.iter_mut().for_each(|band| band.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    found
}

/// The bars of a column, counted.
struct Bars {
    low: f64,
    high: f64,
    counts: Vec<u64>,
}

impl Bars {
    fn new(column: &Column) -> Bars {
        let number = (2.0 * (column.count as f64).cbrt()).ceil() as usize;
        let (low, high) = match column.max > column.min {
            true => (column.min, column.max),
            // A value that does not change has one bar.
            false => (column.min - 0.5 * spread(column.min), column.min + 0.5 * spread(column.min)),
        };
        let number = if column.max > column.min { number.clamp(BARS.0, BARS.1) } else { 1 };
        Bars { low, high, counts: vec![0; number] }
    }
    fn take(&mut self, x: f64) {
        let place = (x - self.low) / (self.high - self.low) * self.counts.len() as f64;
        let last = self.counts.len() - 1;
        self.counts[(place.max(0.0) as usize).min(last)] += 1;
    }
    fn edge(&self, i: usize) -> f64 {
        self.low + (self.high - self.low) * i as f64 / self.counts.len() as f64
    }
    fn outline(&self) -> Points {
        let mut points = vec![(self.low, 0.0)];
        for (i, count) in self.counts.iter().enumerate() {
            points.extend([(self.edge(i), *count as f64), (self.edge(i + 1), *count as f64)]);
        }
        points.push((self.high, 0.0));
        points.into_iter().map(Some).collect()
    }
}

fn spread(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { 0.1 * x.abs() }
}

fn curve(points: Points, style: usize, fill: Option<f64>) -> Curve {
    Curve { points, style, name: None, fill }
}

fn panel(
    title: String,
    below: String,
    beside: String,
    axes: [Axis; 2],
    curves: Vec<Curve>,
    look: Look,
) -> Panel {
    Panel { title, below, beside, axes, curves, look, band: None, guides: Vec::new() }
}

/// The pictures of a sweep.
#[derive(Debug)]
pub struct Pictures {
    /// What they are of, in a line.
    pub caption: String,
    /// For each value its name, its histogram, and its dots over each of what varies.
    pub values: Vec<(String, Vec<Panel>)>,
    /// Where values lie over time.
    pub bands: Vec<Panel>,
}

/// All of them on one sheet.
pub fn drawing(rows: &Joined, head: &Head, all: &Statistics) -> Result<Drawing, Failure> {
    let about = head.facts();
    let pictures = pictures(rows, head, all)?;
    let wide = pictures.values.first().map_or(2, |(_, panels)| panels.len());
    let line = |(name, mut panels): (String, Vec<Panel>)| {
        // The first has the name for all of its line.
        panels[0].title = name;
        panels[1..].iter_mut().for_each(|panel| panel.beside.clear());
        panels
    };
    let panels: Vec<Panel> = pictures.values.into_iter().flat_map(line).chain(pictures.bands).collect();
    let title = about["title"].as_str().filter(|title| !title.is_empty());
    let title = title.or(about["problem"].as_str()).unwrap_or_default();
    Ok(page(title, &pictures.caption, &[], Sheet { wide, size: (300.0, 170.0) }, &panels))
}

/// Makes them, with a pass over the rows.
pub fn pictures(rows: &Joined, head: &Head, all: &Statistics) -> Result<Pictures, Failure> {
    let about = head.facts();
    let unit = |name: &str| about["units"][name].as_str().unwrap_or_default().to_string();
    let bands = bands(head, &about);
    let in_band = |c: usize| bands.iter().any(|band| band.points.iter().any(|(_, at)| *at == c));
    let known = |c: &usize| all.columns[*c].count > 0;
    let inputs: Vec<usize> = (0..head.inputs).collect();
    let values: Vec<usize> = (head.inputs..head.columns.len()).filter(|c| !in_band(*c)).collect();
    let told: Vec<usize> = values.iter().copied().filter(known).take(MOST_VALUES).collect();
    let over: Vec<usize> = inputs.iter().copied().filter(known).take(MOST_INPUTS).collect();

    let mut bars: Vec<Bars> = told.iter().map(|c| Bars::new(&all.columns[*c])).collect();
    let every = all.ok.div_ceil(DOTS).max(1);
    let mut dots: Vec<Vec<f64>> = Vec::new();
    let mut seen = 0u64;
    rows.each(false, &mut |_, row| {
        if !row.reason.is_empty() {
            return Ok(());
        }
        for (bars, c) in bars.iter_mut().zip(&told) {
            if !row.values[*c].is_nan() {
                bars.take(row.values[*c]);
            }
        }
        if seen.is_multiple_of(every) {
            dots.push(over.iter().chain(&told).map(|c| row.values[*c]).collect());
        }
        seen += 1;
        Ok(())
    })?;

    let mut lines: Vec<(String, Vec<Panel>)> = Vec::new();
    for (i, (c, bars)) in told.iter().zip(&bars).enumerate() {
        let name = &head.columns[*c];
        let most = bars.counts.iter().max().copied().unwrap_or(1) as f64;
        let axes = [
            Axis::even([bars.low, bars.high].into_iter(), 0.03),
            Axis::even([0.0, 1.06 * most].into_iter(), 0.0),
        ];
        let named = with_unit(name, &unit(name));
        let outline = vec![curve(bars.outline(), 0, Some(0.3))];
        let mut panels = vec![panel(String::new(), named.clone(), "runs".into(), axes, outline, Look::Line)];
        for (j, input) in over.iter().enumerate() {
            let pairs: Points = dots.iter().map(|row| (row[j], row[over.len() + i])).map(Some).collect();
            let pairs: Points = pairs.into_iter().filter(|p| p.is_some_and(|(_, y)| !y.is_nan())).collect();
            let (x, y) = (&all.columns[*input], &all.columns[*c]);
            let axes =
                [Axis::even([x.min, x.max].into_iter(), 0.04), Axis::even([y.min, y.max].into_iter(), 0.06)];
            let below = head.columns[*input].clone();
            let dots = vec![curve(pairs, 0, None)];
            panels.push(panel(String::new(), below, named.clone(), axes, dots, Look::Dots));
        }
        lines.push((name.clone(), panels));
    }
    let over_time = |band: &Band| over_time(band, &all.columns, &unit(&head.columns[band.points[0].1]));
    let mut caption = format!(
        "{}, {}, step {} s, to t = {} s; {}",
        about["problem"].as_str().unwrap_or_default(),
        about["method"].as_str().unwrap_or_default(),
        plain(about["step"].as_f64().unwrap_or(f64::NAN)),
        plain(about["until"].as_f64().unwrap_or(f64::NAN)),
        match all.there() == head.runs {
            true => count(all.ok, "run"),
            false => format!("{} of {} runs", all.ok, head.runs),
        },
    );
    if all.failures() > 0 {
        caption.push_str(&format!(", {} failed", all.failures()));
    }
    let left_out = |all: usize, shown: usize, what: &str| match all > shown {
        true => format!("; the first {shown} of {all} {what}"),
        false => String::new(),
    };
    caption.push_str(&left_out(values.len(), told.len(), "values"));
    caption.push_str(&left_out(inputs.len(), over.len(), "that vary"));
    Ok(Pictures { caption, values: lines, bands: bands.iter().map(over_time).collect() })
}

/// Between which values most runs lie, over time.
fn over_time(band: &Band, columns: &[Column], unit: &str) -> Panel {
    let at = |q: usize| band.points.iter().map(move |(t, c)| (*t, columns[*c].quantiles[q]));
    let known = |(_, x): &(f64, f64)| !x.is_nan();
    let area = |low: usize, high: usize| -> Points {
        let upper: Vec<(f64, f64)> = at(high).filter(known).collect();
        let mut all: Vec<(f64, f64)> = at(low).filter(known).collect();
        all.extend(upper.into_iter().rev());
        all.into_iter().map(Some).collect()
    };
    let times = Axis::even(band.points.iter().map(|(t, _)| *t), 0.0);
    let range = Axis::even(at(0).chain(at(4)).map(|(_, x)| x).filter(|x| !x.is_nan()), 0.05);
    let named = |mut curve: Curve, name: &str| {
        curve.name = Some(name.into());
        curve
    };
    let curves = vec![
        named(curve(area(0, 4), 0, Some(0.15)), "5–95 %"),
        named(curve(area(1, 3), 0, Some(0.3)), "25–75 %"),
        named(curve(at(2).filter(known).map(Some).collect(), 0, None), "50 %"),
    ];
    panel(with_unit(&band.name, unit), "t, s".into(), String::new(), [times, range], curves, Look::Line)
}
