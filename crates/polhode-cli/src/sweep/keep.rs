//! What is kept of a run: words that name it, the columns that it comes to, and how it is gathered step by step.

use crate::args;
use crate::failure::Failure;
use crate::print::plain;
use crate::table::{self, Of};
use polhode::problem::{EventData, RunReport};
use polhode::run::{Drift, Plan, Run, Watched};

/// One number of a run.
#[derive(Clone, Debug, PartialEq)]
enum What {
    /// Of a column at the end.
    Last(usize),
    /// Its extremes over the run, and its mean over time.
    Least(usize),
    Most(usize),
    Mean(usize),
    /// Of a column at a time, by the number of that.
    At(usize, usize),
    /// How often an event has happened, and when first.
    Count(usize),
    First(usize),
    /// How far something has drifted.
    Drift(&'static str),
}

/// A number of a run by name.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The name of its column.
    pub name: String,
    /// Its unit; empty if that is not known.
    pub unit: String,
    /// The column of the run and the time, of one at a time.
    pub at: Option<(String, f64)>,
    what: What,
}

/// All that is kept of a run.
#[derive(Clone, Debug)]
pub struct Keep {
    /// In the order of the columns.
    pub list: Vec<Kept>,
    /// The columns of the run by name, in the order of its rows.
    heads: Vec<String>,
    /// Times at which it is looked at, in order.
    times: Vec<f64>,
    /// True if every step is looked at.
    steps: bool,
}

/// The words for what is kept.
pub const WORDS: [&str; 7] = ["final", "outputs", "extremes", "means", "events", "drift", "status"];

/// What a word of a list asks for: `max(tilt)` and `max:tilt` are the same.
fn split(word: &str) -> (&str, Option<&str>) {
    let inside = word.strip_suffix(')').and_then(|word| word.split_once('('));
    match inside.or_else(|| word.split_once(':')) {
        // The times of `tilt@0:10:11` have such marks too.
        Some((what, name)) if !what.contains('@') => (what.trim(), Some(name.trim())),
        _ => (word, None),
    }
}

/// The times of `0:10:11` or `5`.
fn times(text: &str, until: f64) -> Result<Vec<f64>, String> {
    let form = "times are written NAME@T, or NAME@FROM:TO:COUNT";
    let number = |text: &str| args::number(text).map_err(|_| form.to_string());
    let parts: Vec<&str> = text.split(':').collect();
    let all = match parts[..] {
        [one] => vec![number(one)?],
        [from, to, count] => {
            let (from, to) = (number(from)?, number(to)?);
            let count: u32 = count.parse().map_err(|_| form.to_string())?;
            if !(2..=100_000).contains(&count) || from >= to || from.is_nan() || to.is_nan() {
                return Err(format!("{form}, from an earlier to a later time and at least 2 of them"));
            }
            (0..count)
                .map(|i| match i + 1 == count {
                    true => to,
                    false => from + f64::from(i) * ((to - from) / f64::from(count - 1)),
                })
                .collect()
        }
        _ => return Err(form.into()),
    };
    match all.iter().find(|t| !(**t >= 0.0 && **t <= until)) {
        Some(t) => {
            Err(format!("t = {} is not between 0 and {}, the end of the run", plain(*t), plain(until)))
        }
        None => Ok(all),
    }
}

/// What there is to be kept.
pub struct Known<'a> {
    /// The columns of a run.
    pub heads: &'a [table::Head],
    /// Its events.
    pub events: &'a [EventData],
    /// The names of its drifts.
    pub drifts: Vec<&'static str>,
    /// Its end.
    pub until: f64,
    /// Names that other columns have.
    pub taken: &'a [String],
}

/// Puts numbers on the list.
struct List<'a> {
    known: &'a Known<'a>,
    list: Vec<Kept>,
    times: Vec<f64>,
}

impl List<'_> {
    fn push(&mut self, name: String, unit: &str, what: What, at: Option<(String, f64)>) {
        if !self.list.iter().any(|kept| kept.what == what) {
            self.list.push(Kept { name, unit: unit.into(), what, at });
        }
    }
    /// Something of a column.
    fn column(&mut self, c: usize, ending: &str, what: What) {
        let head = &self.known.heads[c];
        let name = &head.name;
        let is_taken = ending.is_empty() && self.known.taken.contains(name);
        let ending = if is_taken { "_final" } else { ending };
        self.push(format!("{name}{ending}"), &head.unit, what, None);
    }
    fn columns(&mut self, what: &str, columns: &[usize]) {
        for c in columns {
            match what {
                "min" => self.column(*c, "_min", What::Least(*c)),
                "max" => self.column(*c, "_max", What::Most(*c)),
                "extremes" => {
                    self.column(*c, "_min", What::Least(*c));
                    self.column(*c, "_max", What::Most(*c));
                }
                "mean" | "means" => self.column(*c, "_mean", What::Mean(*c)),
                _ => self.column(*c, "", What::Last(*c)),
            }
        }
    }
    fn event(&mut self, e: usize) {
        let name = &self.known.events[e].name;
        self.push(format!("{name}_count"), "", What::Count(e), None);
        self.push(format!("{name}_first"), "s", What::First(e), None);
    }
    fn drift(&mut self, name: &'static str) {
        self.push(format!("drift_{name}"), "", What::Drift(name), None);
    }
    /// The outputs of the model, or all columns but the time of a model without outputs.
    fn spoken(&self) -> Vec<usize> {
        let heads = self.known.heads;
        let outputs: Vec<usize> =
            (0..heads.len()).filter(|c| matches!(heads[*c].of, Of::Output(_))).collect();
        if outputs.is_empty() { (1..heads.len()).collect() } else { outputs }
    }
    fn word(&mut self, word: &str) -> Result<(), String> {
        let known = self.known;
        let all: Vec<usize> = (0..known.heads.len()).collect();
        let named = |name: &str| {
            let found = table::chosen(known.heads, &[name.to_string()], "keep");
            found.map_err(|failure| failure.to_string().trim_start_matches("keep: ").to_string())
        };
        match split(word) {
            ("status", None) => {}
            ("final", None) => self.columns("final", &all),
            ("outputs", None) => {
                let outputs = self.spoken();
                if !outputs.iter().all(|c| matches!(known.heads[*c].of, Of::Output(_))) {
                    return Err("the model has no outputs; name columns, or take `final`".into());
                }
                self.columns("final", &outputs);
            }
            (what @ ("extremes" | "means" | "min" | "max" | "mean"), None) => {
                let spoken = self.spoken();
                self.columns(what, &spoken);
            }
            (what @ ("extremes" | "means" | "min" | "max" | "mean" | "final"), Some(name)) => {
                let columns = named(name)?;
                self.columns(what, &columns);
            }
            ("events", None) => (0..known.events.len()).for_each(|e| self.event(e)),
            ("events" | "event", Some(name)) => {
                let found = known.events.iter().position(|event| event.name == name);
                let names: Vec<&str> = known.events.iter().map(|event| event.name.as_str()).collect();
                let none = || match names.is_empty() {
                    true => "the model has no events".to_string(),
                    false => format!("there is no event '{name}'; there are {}", names.join(", ")),
                };
                self.event(found.ok_or_else(none)?);
            }
            ("drift", None) => known.drifts.iter().for_each(|name| self.drift(name)),
            ("drift", Some(name)) => {
                let name = Drift::name(name).map_err(|error| error.to_string())?;
                if !known.drifts.contains(&name) {
                    return Err(format!(
                        "there is no drift of {name} here; there are {}",
                        known.drifts.join(", ")
                    ));
                }
                self.drift(name);
            }
            (_, None) if word.contains('@') => {
                let (name, at) = word.split_once('@').unwrap_or((word, ""));
                for c in named(name.trim())? {
                    for t in times(at.trim(), known.until)? {
                        let place = self.times.iter().position(|known| *known == t).unwrap_or_else(|| {
                            self.times.push(t);
                            self.times.len() - 1
                        });
                        let head = &known.heads[c];
                        let at = Some((head.name.clone(), t));
                        self.push(format!("{}@{}", head.name, plain(t)), &head.unit, What::At(c, place), at);
                    }
                }
            }
            (_, None) => {
                let columns = named(word).map_err(|why| {
                    format!("{why}; or one of {}, min(NAME), max(NAME), mean(NAME), NAME@T", WORDS.join(", "))
                })?;
                self.columns("final", &columns);
            }
            (what, Some(_)) => {
                return Err(format!(
                    "'{what}' is not known: there are final, min, max, extremes, mean, events and drift of something"
                ));
            }
        }
        Ok(())
    }
}

impl Keep {
    /// Nothing.
    pub fn none() -> Keep {
        Keep { list: Vec::new(), heads: Vec::new(), times: Vec::new(), steps: false }
    }
    /// What the words of `keep` ask for, or the default without them. An unknown word is reported by its position.
    pub fn new(words: Option<&[String]>, known: &Known<'_>) -> Result<Keep, (usize, String)> {
        let mut list = List { known, list: Vec::new(), times: Vec::new() };
        match words {
            Some(words) => {
                for (i, word) in words.iter().map(|word| word.trim()).enumerate() {
                    if !word.is_empty() {
                        list.word(word).map_err(|why| (i, why))?;
                    }
                }
            }
            None => {
                let spoken = list.spoken();
                list.columns("final", &spoken);
                (0..known.events.len()).for_each(|e| list.event(e));
                known.drifts.iter().filter(|name| **name == "energy").for_each(|name| list.drift(name));
            }
        }
        // Names of one's own may be those of others.
        for i in 0..list.list.len() {
            let is_there = |name: &String| {
                known.taken.contains(name) || list.list[..i].iter().any(|other| other.name == *name)
            };
            let mut name = list.list[i].name.clone();
            while is_there(&name) {
                name.push('_');
            }
            list.list[i].name = name;
        }
        // Times in order, each where it was.
        let mut order: Vec<usize> = (0..list.times.len()).collect();
        order.sort_by(|a, b| list.times[*a].total_cmp(&list.times[*b]));
        for kept in &mut list.list {
            if let What::At(_, place) = &mut kept.what {
                *place = order.iter().position(|old| *old == *place).unwrap_or(0);
            }
        }
        let over = |kept: &Kept| matches!(kept.what, What::Least(_) | What::Most(_) | What::Mean(_));
        Ok(Keep {
            steps: list.list.iter().any(over),
            times: order.iter().map(|at| list.times[*at]).collect(),
            list: list.list,
            heads: known.heads.iter().map(|head| head.name.clone()).collect(),
        })
    }
    /// The next step behind the `n`-th at which a run has to be looked at, or one before that.
    pub fn next(&self, n: u64, plan: &Plan) -> u64 {
        if self.steps {
            return n + 1;
        }
        let t = plan.time(n);
        let behind = t + grain(plan.time(n.saturating_sub(1)), t);
        let due = self.times.get(self.times.partition_point(|time| *time <= behind));
        due.map_or(plan.steps(), |time| (time / plan.step()) as u64).max(n + 1)
    }
}

/// Times of steps are rounded: one that is nearer than this to the end of a step is there.
fn grain(before: f64, t: f64) -> f64 {
    1e-9 * (t - before).abs()
}

/// Gathers what is kept of one run.
#[derive(Debug)]
pub struct Gather<'a> {
    keep: &'a Keep,
    values: Vec<f64>,
    row: Vec<f64>,
    /// Where the columns of the plan are in this run, if they are not where they were.
    places: Option<Vec<Option<usize>>>,
    /// The row before.
    before: Vec<f64>,
    /// How many times lie behind.
    seen: usize,
    begun: bool,
}

impl<'a> Gather<'a> {
    /// Of a run that is at its start.
    pub fn new(keep: &'a Keep) -> Self {
        Gather {
            keep,
            values: vec![f64::NAN; keep.list.len()],
            row: Vec::new(),
            places: None,
            before: Vec::new(),
            seen: 0,
            begun: false,
        }
    }
    /// The numbers of a state in the columns of the plan.
    fn look(&mut self, state: &polhode::run::Snapshot) {
        self.row.clear();
        state.row(&mut self.row);
        if self.row.len() == self.keep.heads.len() && self.places.is_none() {
            return;
        }
        // Counts that vary change which columns there are.
        let places = self.places.get_or_insert_with(|| {
            let columns = state.columns();
            let place = |name: &String| columns.iter().position(|column| column.name == *name);
            self.keep.heads.iter().map(place).collect()
        });
        let all = core::mem::take(&mut self.row);
        self.row = places.iter().map(|place| place.map_or(f64::NAN, |at| all[at])).collect();
    }
    /// Sees a run after a step that began at the time `before`, or at its start. Steps that [`Keep::next`] leaves out need not be
    /// shown.
    pub fn step(&mut self, run: &mut dyn Run, before: f64) {
        let keep = self.keep;
        let t = run.time();
        let grain = grain(before, t);
        while let Some(time) = keep.times.get(self.seen).copied().filter(|time| *time <= t + grain) {
            let between = if (time - t).abs() <= grain { None } else { run.between(time) };
            match between {
                Some(state) => self.look(&state),
                None => self.look(&run.snapshot()),
            }
            for (value, kept) in self.values.iter_mut().zip(&keep.list) {
                if let What::At(c, place) = kept.what
                    && place == self.seen
                {
                    *value = self.row[c];
                }
            }
            self.seen += 1;
        }
        if !keep.steps {
            return;
        }
        self.look(&run.snapshot());
        for (value, kept) in self.values.iter_mut().zip(&keep.list) {
            match kept.what {
                What::Least(c) if !self.begun || self.row[c] < *value => *value = self.row[c],
                What::Most(c) if !self.begun || self.row[c] > *value => *value = self.row[c],
                What::Mean(_) if !self.begun => *value = 0.0,
                What::Mean(c) => *value += 0.5 * (t - before) * (self.before[c] + self.row[c]),
                _ => {}
            }
        }
        core::mem::swap(&mut self.before, &mut self.row);
        self.begun = true;
    }
    /// The numbers of a run that has come to its end.
    pub fn finish(mut self, run: &Watched, end: &RunReport) -> Vec<f64> {
        self.look(&end.last);
        let drifts = end.drift.list();
        for (value, kept) in self.values.iter_mut().zip(&self.keep.list) {
            match &kept.what {
                What::Last(c) => *value = self.row[*c],
                What::Mean(_) if end.last.t > 0.0 => *value /= end.last.t,
                What::Count(e) => {
                    *value = run.found().iter().filter(|found| found.event == *e).count() as f64;
                }
                What::First(e) => {
                    let first = run.found().iter().find(|found| found.event == *e);
                    *value = first.map_or(f64::NAN, |found| found.state.t);
                }
                What::Drift(name) => {
                    *value = drifts.iter().find(|(own, _)| own == name).map_or(f64::NAN, |(_, drift)| *drift);
                }
                _ => {}
            }
        }
        self.values
    }
}

/// What is wrong with a word of `--keep`.
pub fn refused(word: &str, why: &str) -> Failure {
    Failure::Usage(format!("--keep {word}: {why}"))
}
