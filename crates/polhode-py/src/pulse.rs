//! Signals and progress while a run goes on without the interpreter.

use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How often Python is asked whether to go on.
const PERIOD: Duration = Duration::from_millis(20);

/// How often the clock is looked at where steps are slow: a look takes a tenth of the time of a short step.
const LOOK: Duration = Duration::from_millis(2);

/// The most steps between two looks: all at once they may become slow.
const MOST: u64 = 1024;

/// Asks Python now and then whether to go on, and tells it how far the run is.
pub struct Pulse {
    progress: Option<Py<PyAny>>,
    asked: Instant,
    looked: Instant,
    /// The step after which the clock is looked at again, so many after the last time.
    next: u64,
    stride: u64,
    /// What Python raised.
    pub raised: Option<PyErr>,
}

impl Pulse {
    /// Of a run that begins; `progress` is called with the share of it that is over.
    pub fn new(progress: Option<Py<PyAny>>) -> Self {
        let now = Instant::now();
        Pulse { progress, asked: now, looked: now, next: 0, stride: 1, raised: None }
    }
    /// True if the run may go on after its step `n`.
    #[inline]
    pub fn beats(&mut self, n: u64, share: impl Fn() -> f64) -> bool {
        if n < self.next {
            return true;
        }
        self.look(n, share())
    }
    fn look(&mut self, n: u64, share: f64) -> bool {
        let now = Instant::now();
        let since = now - self.looked;
        self.looked = now;
        self.stride = if since < LOOK { (2 * self.stride).min(MOST) } else { (self.stride / 2).max(1) };
        self.next = n + self.stride;
        if now - self.asked < PERIOD {
            return true;
        }
        self.asked = now;
        let asked = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, (share,)).map(|_| ()),
                None => Ok(()),
            }
        });
        self.raised = asked.err();
        self.raised.is_none()
    }
}
