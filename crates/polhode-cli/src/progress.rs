//! A progress bar for runs that last.

use crate::host;
use crate::print::{Talk, says};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How long work lasts before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it moves.
const PERIOD: Duration = Duration::from_millis(100);

/// Looks at the clock once in this many steps, so that a step pays next to nothing.
const STRIDE: u64 = 256;

/// Shows how far work has come, on a terminal only and not before a second has passed.
#[derive(Debug)]
pub struct Progress {
    wanted: bool,
    total: u64,
    passed: u64,
    started: Instant,
    next: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Work of so many steps begins.
    pub fn new(total: u64) -> Self {
        let started = Instant::now();
        Progress {
            wanted: std::io::stderr().is_terminal() && says(Talk::Usual) && !host::is_there(),
            total,
            passed: 0,
            started,
            next: started + PATIENCE,
            bar: None,
        }
    }
    /// Step `n` of the run at hand is done; `message` says what that means.
    #[inline]
    pub fn at(&mut self, n: u64, message: impl Fn() -> String) {
        if self.wanted && n.is_multiple_of(STRIDE) {
            self.look(n, &message);
        }
    }
    /// So much is done, by others who are waited for.
    pub fn show(&mut self, n: u64, message: impl Fn() -> String) {
        if self.wanted {
            self.look(n, &message);
        }
    }
    /// A run of so many steps is over, another begins.
    pub fn pass(&mut self, steps: u64) {
        self.passed += steps;
    }
    fn look(&mut self, n: u64, message: &dyn Fn() -> String) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + PERIOD;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
            let template = "{bar:32} {percent:>3} %  {msg}  {eta} to go";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar.with_elapsed(self.started.elapsed())
        });
        bar.set_message(message());
        bar.set_position(self.passed + n);
    }
    /// Takes the bar away, so that results stand alone.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
