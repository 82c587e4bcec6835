//! What is kept of a run: quantities, a row for each time.

use numpy::{PyArray1, PyArrayMethods};
use polhode::run::{Item, Owner, Quantity, Run, Shape, Snapshot, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A quantity that can be kept.
#[derive(Clone, Copy)]
pub struct Kept {
    /// Which.
    pub item: Item,
    /// How many numbers it has.
    pub width: usize,
    /// True if a record has it unless something else is asked for.
    pub usual: bool,
}

/// All quantities that a state has numbers of.
pub fn quantities(state: &Snapshot) -> Vec<Kept> {
    let mut all: Vec<Kept> = Vec::new();
    let mut see = |item: Item, value: Value<'_, f64>, usual: bool| {
        let known = all.iter().any(|kept| kept.item == item);
        if !known && item.quantity != Quantity::Time && item.quantity.facts().shape != Shape::Rotation {
            all.push(Kept { item, width: value.numbers().len(), usual });
        }
    };
    state.record(&mut |item, value| see(item, value, true));
    state.report(&mut |item, value| see(item, value, false));
    all
}

/// The kind of what a quantity belongs to, as Python spells it.
fn owner(item: &Item) -> &'static str {
    match item.owner {
        Owner::Whole => "",
        Owner::Body(_) => "bodies",
        Owner::Joint(_) => "joints",
        Owner::Coordinates(_) => "coordinates",
        Owner::Output(_) => "outputs",
    }
}

/// The same as a list for Python: kind and name of the owner, key, column, unit, components, usual.
pub fn listed<'py>(py: Python<'py>, state: &Snapshot) -> PyResult<Bound<'py, PyList>> {
    let rows = quantities(state).into_iter().map(|kept| {
        let facts = kept.item.quantity.facts();
        let name = state.name(kept.item.owner).unwrap_or_default();
        let number = facts.shape == Shape::Number;
        let parts: Vec<String> = match (number, facts.shape.components()) {
            (true, _) => Vec::new(),
            (false, []) => (1..=kept.width).map(|i| i.to_string()).collect(),
            (false, parts) => parts.iter().map(|part| part.to_string()).collect(),
        };
        (owner(&kept.item), name.to_string(), facts.key, facts.column, facts.unit, parts, kept.usual)
    });
    PyList::new(py, rows.collect::<Vec<_>>())
}

/// Rows of some quantities.
pub struct Rows {
    items: Vec<Kept>,
    times: Vec<f64>,
    data: Vec<Vec<f64>>,
}

impl Rows {
    /// What they need to see of a run.
    pub fn seen(&self, run: &dyn Run) -> Snapshot {
        match self.items.iter().any(|kept| run.needs_forces(&kept.item)) {
            true => run.snapshot(),
            false => run.motion(),
        }
    }
    /// For these of all quantities, by their numbers, with room for some rows.
    pub fn new(all: &[Kept], chosen: &[usize], room: usize) -> Option<Self> {
        let items = chosen.iter().map(|i| all.get(*i).copied()).collect::<Option<Vec<_>>>()?;
        let data = items.iter().map(|kept| Vec::with_capacity(kept.width * room)).collect();
        Some(Rows { items, times: Vec::with_capacity(room), data })
    }
    /// True if only times are kept.
    pub fn is_bare(&self) -> bool {
        self.items.is_empty()
    }
    /// A row with a time alone.
    pub fn take_time(&mut self, t: f64) {
        self.times.push(t);
    }
    /// One more.
    pub fn take(&mut self, state: &Snapshot) {
        self.times.push(state.t);
        for (kept, to) in self.items.iter().zip(&mut self.data) {
            match state.value(&kept.item) {
                Some(value) => to.extend_from_slice(value.numbers()),
                None => to.extend(core::iter::repeat_n(f64::NAN, kept.width)),
            }
        }
    }
    /// Gives them to Python: `t`, and `data` with an array for each quantity, of which a row is a row.
    pub fn give<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.times.len();
        let given = PyDict::new(py);
        given.set_item("t", PyArray1::from_vec(py, self.times))?;
        let data = PyList::empty(py);
        for (kept, values) in self.items.iter().zip(self.data) {
            let flat = PyArray1::from_vec(py, values);
            match kept.item.quantity.facts().shape {
                Shape::Number => data.append(flat)?,
                _ => data.append(flat.reshape([rows, kept.width])?)?,
            }
        }
        given.set_item("data", data)?;
        Ok(given)
    }
}
