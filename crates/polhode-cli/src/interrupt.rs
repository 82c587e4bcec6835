//! Ctrl-C as a flag that long work looks at.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C raise the flag. Where no handler can be set, Ctrl-C ends the program at once, as it would anyway.
pub fn listen() {
    let _ = ctrlc::set_handler(|| ASKED.store(true, Ordering::Relaxed));
}

/// True once the user has asked to stop.
#[inline]
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
