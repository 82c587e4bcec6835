//! Many runs: what changes from one to the next, and what is kept of each, as a model file has it.

use super::keys::{SPREAD, SWEEP};
use super::place::{Fault, Span};
use super::table::Table;
use super::tree::{Entry, Kind, Value};
use crate::draw::{Sampling, Spread};
use crate::lookup::{nearest, plain};

/// What a model file says of many runs, as far as it does. Where something stands is told by
/// [`super::ModelFile::sweep_error`].
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// What changes, in the order of the text.
    pub vary: Vec<Varied>,
    /// How draws are spread over the runs.
    pub sampling: Option<Sampling>,
    /// A file with a row for each run, relative to the model.
    pub file: Option<(String, core::ops::Range<usize>)>,
    /// How many runs.
    pub runs: Option<u64>,
    /// What all draws follow from.
    pub seed: Option<u64>,
    /// What is kept of each run.
    pub keep: Option<Vec<(String, core::ops::Range<usize>)>>,
    /// Where it stands.
    pub span: core::ops::Range<usize>,
}

/// A number that changes from run to run.
#[derive(Clone, Debug)]
pub struct Varied {
    /// Its name, as [`crate::problem::Problem::set`] takes it.
    pub name: String,
    /// What it is drawn from.
    pub spread: Spread,
    /// Where it stands.
    pub span: core::ops::Range<usize>,
}

/// The most names that change.
const MOST: usize = 10_000;

pub(super) fn sweep(entry: &Entry<'_>) -> Result<Sweep, Fault> {
    let table = entry.table("[sweep]")?;
    table.only(SWEEP)?;
    let mut vary = Vec::new();
    if let Some(entry) = table.entry("vary") {
        varied("", &entry.table("[sweep.vary]")?, &mut vary)?;
        if let Some(twice) = (1..vary.len()).find(|i| vary[..*i].iter().any(|v| v.name == vary[*i].name)) {
            return Err(Fault::new(&vary[twice].span, format!("{} is varied twice", vary[twice].name)));
        }
        if vary.len() > MOST {
            return Err(Fault::new(&entry.span(), format!("{} names vary; at most {MOST} do", vary.len())));
        }
    }
    let words = Sampling::ALL.map(Sampling::name);
    let sampling = table.word("sampling", &words)?.and_then(|(word, _)| Sampling::named(&word));
    let keep = match table.entry("keep") {
        Some(entry) => Some(texts(entry)?),
        None => None,
    };
    Ok(Sweep {
        vary,
        sampling,
        file: table.text("file")?,
        runs: whole(&table, "runs", 1)?,
        seed: whole(&table, "seed", 0)?,
        keep,
        span: entry.key_span(),
    })
}

/// Spreads by name. Names of elements have points, which stand for tables within tables in TOML too.
fn varied(before: &str, table: &Table<'_>, all: &mut Vec<Varied>) -> Result<(), Fault> {
    for entry in table.entries {
        let name = format!("{before}{}", entry.key);
        let Kind::Table(_) = entry.value.kind else {
            let message = format!(
                "{name} must be a table that says how it varies, as {{ uniform = [1, 2] }}, not {}",
                entry.value.what()
            );
            return Err(Fault::new(&entry.span(), message));
        };
        let inner = entry.table(name.clone())?;
        let is_spread = |entry: &Entry<'_>| SPREAD.iter().any(|key| key.name == entry.key);
        let nested = |entry: &Entry<'_>| matches!(entry.value.kind, Kind::Table(_)) && !is_spread(entry);
        match inner.entries {
            [one] if is_spread(one) && !matches!(one.value.kind, Kind::Table(_)) => {
                let numbers = one.array()?.iter().map(|value| number(&one.key, value));
                let spread = Spread::of(&one.key, &numbers.collect::<Result<Vec<_>, _>>()?);
                let spread = spread.map_err(|error| Fault::new(&one.span(), format!("{name}: {error}")))?;
                all.push(Varied { name, spread, span: entry.key_span() });
            }
            [_, ..] if inner.entries.iter().all(nested) => varied(&format!("{name}."), &inner, all)?,
            [] => {
                let message = format!("{name} must say how it varies: one of {}", Spread::NAMES.join(", "));
                return Err(Fault::new(&entry.span(), message));
            }
            several => {
                let odd = several.iter().find(|entry| !is_spread(entry));
                let Some(odd) = odd else {
                    let message = format!("{name} varies in one way alone; leave all but one out");
                    return Err(Fault::new(&several[several.len() - 1].key_span(), message));
                };
                let near = nearest(&odd.key, SPREAD.iter().map(|key| key.name));
                let hint = match near.is_empty() {
                    true => format!("; there are {}", Spread::NAMES.join(", ")),
                    false => format!("; did you mean {}?", near.join(" or ")),
                };
                let message = format!("{name} cannot vary by '{}'{hint}", odd.key);
                return Err(Fault::new(&odd.key_span(), message));
            }
        }
    }
    Ok(())
}

fn number(key: &str, value: &Value<'_>) -> Result<f64, Fault> {
    value
        .plain_number()?
        .ok_or_else(|| Fault::new(&value.span(), format!("{key} has plain numbers, not {}", value.what())))
}

/// A whole number of at least so much.
fn whole(table: &Table<'_>, key: &str, least: u64) -> Result<Option<u64>, Fault> {
    let Some(entry) = table.entry(key) else { return Ok(None) };
    let x = number(key, &entry.value)?;
    let span: Span = entry.span();
    // Beyond that they are not whole any more.
    match x.fract() == 0.0 && x >= least as f64 && x <= 9e15 {
        true => Ok(Some(x as u64)),
        false => {
            let message = format!(
                "{key} must be a whole number of at least {least} and at most 9e15, got {}",
                plain(x)
            );
            Err(Fault::new(&span, message))
        }
    }
}

fn texts(entry: &Entry<'_>) -> Result<Vec<(String, core::ops::Range<usize>)>, Fault> {
    let one = |value: &Value<'_>| match &value.kind {
        Kind::Text(text) => Ok((text.to_string(), value.span())),
        _ => {
            let message = format!("{} is a list of texts in quotes, not of {}", entry.key, value.what());
            Err(Fault::new(&value.span(), message))
        }
    };
    match &entry.value.kind {
        Kind::Text(text) => Ok(vec![(text.to_string(), entry.span())]),
        _ => entry.array()?.iter().map(one).collect(),
    }
}
