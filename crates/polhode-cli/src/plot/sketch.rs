//! Plots of a run: which curves there are, drawn point by point as rows come.

use super::{Axis, Curve, Drawing, Look, Panel, Sheet, Thin, apart, page};
use crate::failure::Failure;
use crate::table::{Head, Of, chosen, of_body};

/// The sets of curves that have a name.
pub const SETS: [&str; 6] = ["attitude", "rates", "energy", "momentum", "polhode", "reactions"];
/// Those that are drawn if nothing is said.
const USUAL: [&str; 3] = ["attitude", "rates", "energy"];
/// Bodies or joints of many that a set shows.
const SHOWN: usize = 6;
/// The most that can be told apart in a panel, and on a page.
const CURVES: usize = 16;
const PANELS: usize = 24;

/// A number read off a row.
#[derive(Clone, Copy, Debug)]
pub enum Read {
    /// A column.
    Column(usize),
    /// What has become of a column since the start.
    Change(usize, f64),
    /// The angular velocity of a body in space along a direction, by its quaternion and that in body axes.
    Along { q_wxyz: usize, omega: usize, direction: [f64; 3] },
}

impl Read {
    fn value(&self, row: &[f64]) -> f64 {
        match *self {
            Read::Column(column) => row[column],
            Read::Change(column, from) => row[column] - from,
            Read::Along { q_wxyz, omega, direction } => {
                let turned = rotate(&row[q_wxyz..q_wxyz + 4], &row[omega..omega + 3]);
                (0..3).map(|i| turned[i] * direction[i]).sum()
            }
        }
    }
}

/// A vector turned by a unit quaternion w, x, y, z.
fn rotate(q: &[f64], v: &[f64]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let (u, v) = ([q[1], q[2], q[3]], [v[0], v[1], v[2]]);
    let t = cross(u, v).map(|x| 2.0 * x);
    let second = cross(u, t);
    core::array::from_fn(|i| v[i] + q[0] * t[i] + second[i])
}

/// A curve while it is drawn.
#[derive(Debug)]
struct Traced {
    name: Option<String>,
    x: Read,
    y: Read,
    thin: Thin,
}

/// A panel while it is drawn.
#[derive(Debug)]
struct Frame {
    title: String,
    below: String,
    beside: String,
    /// True if a length is the same along both axes.
    equal: bool,
    curves: Vec<Traced>,
}

/// A plot while it is drawn.
#[derive(Debug)]
pub struct Sketch {
    frames: Vec<Frame>,
    /// What is not shown.
    note: String,
    stretches: usize,
    /// The first and the last time, which all panels over time have in common.
    times: Option<(f64, f64)>,
}

/// What is to be drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish<'a> {
    /// Sets by name.
    pub sets: &'a [String],
    /// Columns by name.
    pub columns: &'a [String],
    /// The column on the horizontal axis, or `None` for time.
    pub against: Option<&'a str>,
}

/// A unit as it is printed.
fn printed(unit: &str) -> String {
    if unit == "1" { String::new() } else { unit.replace("^2", "²").replace("^3", "³") }
}

/// A name with a unit, if it has one.
pub fn with_unit(name: &str, unit: &str) -> String {
    let unit = printed(unit);
    if unit.is_empty() { name.into() } else { format!("{name}, {unit}") }
}

impl Sketch {
    /// What is wished for, of a run with these columns and this start.
    pub fn new(wish: &Wish<'_>, heads: &[Head], start: &[f64]) -> Result<Sketch, Failure> {
        let mut sketch = Sketch { frames: Vec::new(), note: String::new(), stretches: 800, times: None };
        let against = match wish.against {
            None => 0,
            Some(name) => match chosen(heads, &[name.to_string()], "--plot-against")?[..] {
                [one] => one,
                _ => {
                    let text = format!("--plot-against: '{name}' is several columns; name one of them");
                    return Err(Failure::Usage(text));
                }
            },
        };
        let usual: Vec<String> = USUAL.iter().map(ToString::to_string).collect();
        let sets = if wish.sets.is_empty() && wish.columns.is_empty() { &usual } else { wish.sets };
        for set in sets {
            let before = sketch.frames.len();
            sketch.add_set(set, heads, start, against);
            if sketch.frames.len() == before && !wish.sets.is_empty() {
                return Err(Failure::Usage(format!(
                    "--plot-set {set}: there is nothing of that in this run{}",
                    match set.as_str() {
                        "momentum" | "polhode" => "; it is for single bodies",
                        "reactions" => "; it has no joints",
                        _ => "",
                    }
                )));
            }
        }
        sketch.add(heads, &chosen(heads, wish.columns, "--plot-columns")?, against);
        let most = sketch.frames.iter().map(|frame| frame.curves.len()).max().unwrap_or(0);
        if sketch.frames.len() > PANELS || most > CURVES {
            return Err(Failure::Usage(format!(
                "the plot would have {} panels and up to {most} curves in one, more than can be read ({PANELS} and {CURVES}); \
                 name fewer columns with --plot-columns",
                sketch.frames.len()
            )));
        }
        Ok(sketch)
    }
    /// Sets as far as there is something of them, in few points, for pages.
    pub fn small(sets: &[&str], heads: &[Head], start: &[f64]) -> Sketch {
        let mut sketch = Sketch { frames: Vec::new(), note: String::new(), stretches: 150, times: None };
        sets.iter().for_each(|set| sketch.add_set(set, heads, start, 0));
        sketch
    }
    fn curve(&self, name: Option<String>, x: Read, y: Read) -> Traced {
        Traced { name, x, y, thin: Thin::new(self.stretches) }
    }
    /// One number over time.
    pub fn add_one(&mut self, title: &str, beside: &str, column: usize) {
        let curves = vec![self.curve(None, Read::Column(0), Read::Column(column))];
        let (title, beside) = (title.into(), beside.into());
        self.frames.push(Frame { title, below: "t, s".into(), beside, equal: false, curves });
    }

    /// Columns, those of one quantity in one panel.
    fn add(&mut self, heads: &[Head], columns: &[usize], against: usize) {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for column in columns.iter().filter(|column| **column != against) {
            let head = &heads[*column];
            let key = match (&head.whole, head.quantity.as_str()) {
                (Some(whole), _) => whole.clone(),
                (None, "kinetic_energy") => "energy".into(),
                (None, quantity) => format!("{quantity}{}", if head.unit == "m/s" { " " } else { "" }),
            };
            match groups.iter_mut().find(|(own, _)| *own == key) {
                Some((_, list)) => list.push(*column),
                None => groups.push((key, vec![*column])),
            }
        }
        for (key, list) in groups {
            let first = &heads[list[0]];
            let alone = list.len() == 1;
            let title = if alone { first.name.clone() } else { key.trim().to_string() };
            let unit = &first.unit;
            let name = |column: usize| (!alone).then(|| heads[column].part().to_string());
            let axis = &heads[against];
            let curves = list.iter().map(|c| self.curve(name(*c), Read::Column(against), Read::Column(*c)));
            self.frames.push(Frame {
                curves: curves.collect(),
                title,
                below: with_unit(&axis.name, &axis.unit),
                beside: printed(unit),
                equal: against > 0 && axis.unit == *unit && axis.whole.is_some(),
            });
        }
    }

    /// What has become of columns since the start.
    fn add_change(&mut self, title: &str, heads: &[Head], columns: &[usize], start: &[f64]) {
        let Some(first) = columns.first() else { return };
        let name = |c: usize| (columns.len() > 1).then(|| heads[c].part().to_string());
        let curve = |c: &usize| self.curve(name(*c), Read::Column(0), Read::Change(*c, start[*c]));
        let curves = columns.iter().map(curve).collect();
        let beside = printed(&heads[*first].unit);
        self.frames.push(Frame { title: title.into(), below: "t, s".into(), beside, equal: false, curves });
    }

    fn add_set(&mut self, set: &str, heads: &[Head], start: &[f64], against: usize) {
        let all = |quantity: &str, of: &dyn Fn(Of) -> bool| -> Vec<usize> {
            (0..heads.len()).filter(|i| heads[*i].quantity == quantity && of(heads[*i].of)).collect()
        };
        let first = |of: Of| match of {
            Of::Body(i) | Of::Joint(i) => i < SHOWN,
            Of::Whole => true,
            _ => false,
        };
        let count = |joint: bool| {
            let number = |head: &Head| match head.of {
                Of::Joint(i) if joint => Some(i + 1),
                Of::Body(i) if !joint => Some(i + 1),
                _ => None,
            };
            heads.iter().filter_map(number).max().unwrap_or(0)
        };
        let body = |of: Of| matches!(of, Of::Whole | Of::Body(_)) && first(of);
        let mut shown = |count: usize, what: &str| {
            if count > SHOWN && !self.note.contains(what) {
                self.note.push_str(&format!("; the first {SHOWN} of {count} {what}"));
            }
        };
        match set {
            "attitude" => {
                shown(count(false), "bodies");
                self.add(heads, &all("q", &body), against);
            }
            "rates" => {
                shown(count(false), "bodies");
                self.add(heads, &all("omega_body", &body), against);
                let joints = |of: Of| matches!(of, Of::Joint(_)) && first(of);
                self.add(heads, &all("rate", &joints), against);
            }
            "energy" => {
                let whole = |of: Of| of == Of::Whole;
                let energy = all("energy", &whole);
                self.add(heads, &[all("kinetic_energy", &whole), energy.clone()].concat(), against);
                self.add_change("energy, change since the start", heads, &energy, start);
            }
            "momentum" => {
                let space = all("momentum_space", &body);
                self.add(heads, &[space.clone(), all("momentum_body", &body)].concat(), against);
                self.add_change("momentum_space, change since the start", heads, &space, start);
            }
            "reactions" => {
                shown(count(true), "joints");
                for j in 0..count(true).min(SHOWN) {
                    let own = |of: Of| of == Of::Joint(j);
                    self.add(heads, &[all("force", &own), all("moment", &own)].concat(), against);
                }
            }
            _ => self.add_polhode(heads, start),
        }
    }

    /// The curve of the angular velocity in the body from three sides, and that in space.
    fn add_polhode(&mut self, heads: &[Head], start: &[f64]) {
        let single = |quantity: &str| of_body(heads, 0, 1, quantity).filter(|i| heads[*i].of == Of::Whole);
        let (Some(omega), Some(q_wxyz)) = (single("omega_body"), single("q")) else { return };
        let mut add = |title: &str, names: [&str; 2], x: Read, y: Read| {
            let curves = vec![Traced { name: None, x, y, thin: Thin::new(self.stretches) }];
            let [below, beside] = names.map(|name| format!("{name}, rad/s"));
            self.frames.push(Frame { title: title.into(), below, beside, equal: true, curves });
        };
        let names = ["omega_body_x", "omega_body_y", "omega_body_z"];
        for [i, j] in [[0, 1], [1, 2], [2, 0]] {
            let column = |k: usize| Read::Column(omega + k);
            add("polhode", [names[i], names[j]], column(i), column(j));
        }
        // The plane that the ellipsoid of a free body rolls on is across its momentum.
        let across = match single("momentum_space") {
            Some(momentum) => [start[momentum], start[momentum + 1], start[momentum + 2]],
            None => [0.0, 0.0, 1.0],
        };
        let [first, second] = plane(across);
        let along = |direction: [f64; 3]| Read::Along { q_wxyz, omega, direction };
        add("herpolhode, across the momentum at the start", ["ω₁", "ω₂"], along(first), along(second));
    }

    /// Takes the next row.
    pub fn take(&mut self, row: &[f64]) {
        let t = Read::Column(0).value(row);
        self.times = Some(self.times.map_or((t, t), |(first, _)| (first, t)));
        for curve in self.frames.iter_mut().flat_map(|frame| &mut frame.curves) {
            curve.thin.take(curve.x.value(row), curve.y.value(row));
        }
    }

    /// Draws it.
    pub fn drawing(&self, title: &str, below: &str) -> Drawing {
        let equal = self.frames.iter().any(|frame| frame.equal);
        let sheet = match self.frames.len() {
            1 if equal => Sheet { wide: 1, size: (560.0, 560.0) },
            _ if equal => Sheet { wide: 2, size: (340.0, 340.0) },
            1 => Sheet { wide: 1, size: (640.0, 320.0) },
            2..=3 => Sheet { wide: 1, size: (640.0, 170.0) },
            _ => Sheet { wide: 2, size: (430.0, 170.0) },
        };
        page(title, &format!("{below}{}", self.note), &[], sheet, &self.panels(sheet.size))
    }
    /// Draws each panel by itself.
    pub fn drawings(&self) -> Vec<Drawing> {
        const SIZE: (f64, f64) = (380.0, 170.0);
        apart(&self.panels(SIZE), SIZE)
    }
    fn panels(&self, size: (f64, f64)) -> Vec<Panel> {
        self.frames.iter().map(|frame| frame.panel(size, self.times)).collect()
    }
}

impl Frame {
    fn panel(&self, size: (f64, f64), times: Option<(f64, f64)>) -> Panel {
        let points: Vec<Vec<(f64, f64)>> = self.curves.iter().map(|curve| curve.thin.points()).collect();
        let all = || points.iter().flatten();
        let room = if self.equal { 0.06 } else { 0.0 };
        let (mut x, mut y) = (Axis::even(all().map(|p| p.0), room), Axis::even(all().map(|p| p.1), 0.06));
        let over_time = self.curves.iter().all(|curve| matches!(curve.x, Read::Column(0)));
        if let (true, Some((first, last))) = (over_time, times) {
            x = Axis::even([first, last].into_iter(), 0.0);
        }
        if self.equal {
            let scale = (x.length() / size.0).max(y.length() / size.1);
            (x, y) = (x.widened(scale * size.0), y.widened(scale * size.1));
        }
        let curves = self.curves.iter().zip(&points).enumerate().map(|(style, (curve, points))| Curve {
            points: points.iter().copied().map(Some).collect(),
            style,
            name: curve.name.clone(),
            fill: None,
        });
        Panel {
            title: self.title.clone(),
            below: self.below.clone(),
            beside: self.beside.clone(),
            axes: [x, y],
            curves: curves.collect(),
            look: Look::Line,
            band: None,
            guides: Vec::new(),
        }
    }
}

/// Two directions across a vector.
fn plane(v: [f64; 3]) -> [[f64; 3]; 2] {
    let v = nalgebra::Vector3::from(v).try_normalize(0.0).unwrap_or(nalgebra::Vector3::z());
    let least = v.iamin();
    let mut other = nalgebra::Vector3::zeros();
    other[least] = 1.0;
    let first = v.cross(&other).normalize();
    [first.into(), v.cross(&first).into()]
}
