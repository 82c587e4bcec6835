//! The events of a run, for programs and for people.

use super::report;
use crate::print::{Align, count, plain, table};
use polhode::run::{Occurrence, Watched};
use serde_json::{Map, Value, json};

/// What has happened.
#[derive(Debug)]
pub struct Events {
    /// The names of those that were looked for.
    all: Vec<String>,
    found: Vec<Occurrence>,
    /// The event that has ended the run, if one has.
    pub stopped: Option<String>,
}

impl Events {
    /// In a run.
    pub fn new(run: &Watched) -> Self {
        let stopped = run.stopped().map(|event| event.name().to_string());
        let all = run.events().iter().map(|event| event.name().to_string()).collect();
        Events { all, found: run.found().to_vec(), stopped }
    }
    fn of(&self, event: usize) -> impl DoubleEndedIterator<Item = &Occurrence> {
        self.found.iter().filter(move |found| found.event == event)
    }
    /// For programs, of a run that looks for some: their times and states by name.
    pub fn block(&self) -> Option<Map<String, Value>> {
        let block = |(i, event): (usize, &String)| {
            let times: Vec<f64> = self.of(i).map(|found| found.state.t).collect();
            let states: Vec<Map<String, Value>> =
                self.of(i).map(|found| report::state(&found.state)).collect();
            (event.clone(), json!({ "times": times, "states": states }))
        };
        (!self.all.is_empty()).then(|| self.all.iter().enumerate().map(block).collect())
    }
    /// For people, of a run that looks for some.
    pub fn text(&self) -> Option<String> {
        let row = |(i, event): (usize, &String)| {
            let mut times = self.of(i).map(|found| format!("t = {} s", plain(found.state.t)));
            let (number, first, last) = (self.of(i).count() as u64, times.next(), times.next_back());
            let ends = if self.stopped.as_ref() == Some(event) { ", the end of the run" } else { "" };
            let when = match (first, last) {
                (Some(first), Some(last)) => format!("first {first}, last {last}{ends}"),
                (Some(only), None) => format!("{only}{ends}"),
                (None, _) => String::new(),
            };
            vec![event.clone(), if number == 0 { "never".into() } else { count(number, "time") }, when]
        };
        let rows: Vec<Vec<String>> = self.all.iter().enumerate().map(row).collect();
        (!rows.is_empty()).then(|| format!("\nevents\n{}", table(2, &[Align::Left; 3], &rows)))
    }
}
