//! Events: zero crossings of what can be said of a run.

use super::Snapshot;
use crate::archive::{Archive, Kept};
use core::fmt;

/// Which crossings count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From below zero.
    Up,
    /// From above.
    Down,
    /// All.
    #[default]
    Both,
}

impl Direction {
    /// All of them.
    pub const ALL: [Direction; 3] = [Direction::Up, Direction::Down, Direction::Both];

    /// Its name in model files.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Both => "both",
        }
    }
    /// True if a crossing counts that comes from this side of zero.
    pub(super) fn counts(self, side: f64) -> bool {
        match self {
            Direction::Up => side < 0.0,
            Direction::Down => side > 0.0,
            Direction::Both => true,
        }
    }
}

/// A function of the state.
type When = dyn Fn(&Snapshot) -> f64 + Send;

/// Something that happens when a function of the state crosses zero, see [`super::Watched`].
pub struct Event {
    name: String,
    when: Box<When>,
    direction: Direction,
    stops: bool,
}

impl Event {
    /// Every zero crossing of a function.
    pub fn new(name: &str, when: impl Fn(&Snapshot) -> f64 + Send + 'static) -> Self {
        Event { name: name.into(), when: Box::new(when), direction: Direction::Both, stops: false }
    }
    /// The same, where crossings in one direction count.
    pub fn going(self, direction: Direction) -> Self {
        Event { direction, ..self }
    }
    /// The same, which ends a run or not.
    pub fn stopping(self, stops: bool) -> Self {
        Event { stops, ..self }
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Which crossings count.
    pub fn direction(&self) -> Direction {
        self.direction
    }
    /// True if the run ends there.
    pub fn stops(&self) -> bool {
        self.stops
    }
    /// Its function at a state.
    pub fn value(&self, state: &Snapshot) -> f64 {
        (self.when)(state)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event { name, direction, stops, .. } = self;
        f.debug_struct("Event")
            .field("name", name)
            .field("direction", direction)
            .field("stops", stops)
            .finish()
    }
}

/// An event that has happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// Which, by its number.
    pub event: usize,
    /// True if its function was rising.
    pub rising: bool,
    /// The state then, with its time.
    pub state: Snapshot,
}

impl Kept for Occurrence {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.event.keep(archive);
        self.rising.keep(archive);
        self.state.keep(archive);
    }
}
