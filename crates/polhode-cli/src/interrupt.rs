//! Requests to stop (Ctrl-C, SIGTERM, SIGHUP) as a flag that long work looks at.

use crate::host;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The number of the signal that asked to stop, zero before.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// True while there is nothing to clean up, so that a request may end the program on the spot.
static ABRUPT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The signal of Ctrl-C.
const INTERRUPT: usize = 2;

/// The exit code after a signal, as shells count.
const fn code(signal: usize) -> u8 {
    128 + signal as u8
}

/// Makes requests to stop raise the flag. Where no handler can be set they end the program at once, as they would
/// anyway. Beyond a limit for the size of files, writing fails like any other write.
#[cfg(unix)]
pub fn listen() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && !hears_hangups() {
            continue;
        }
        // The flag first: a request between the two must not be lost.
        let status = code(signal as usize);
        let _ = flag::register_usize(signal, Arc::clone(&SIGNAL), signal as usize);
        let _ = flag::register_conditional_shutdown(signal, status.into(), Arc::clone(&ABRUPT));
    }
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// The same where Ctrl-C is the only request.
#[cfg(not(unix))]
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ABRUPT.load(Ordering::Relaxed) {
            std::process::exit(code(INTERRUPT).into());
        }
        SIGNAL.store(INTERRUPT, Ordering::Relaxed);
    });
}

/// False if the program was started to outlive its terminal, as `nohup` does, or if that cannot be known: a handler would
/// undo it.
#[cfg(unix)]
fn hears_hangups() -> bool {
    const SIGHUP_BIT: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & SIGHUP_BIT == 0)
}

/// True once somebody has asked to stop.
#[inline]
pub fn asked() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0 || host::wants_to_stop()
}

/// The exit code of a program that was asked to stop.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => code(INTERRUPT),
        signal => code(signal),
    }
}

/// Does what may block for ever and has nothing to clean up; a request to stop ends the program there and then.
pub fn abruptly<T>(work: impl FnOnce() -> T) -> T {
    if host::is_there() {
        return work();
    }
    ABRUPT.store(true, Ordering::SeqCst);
    // A request that came before the flag was up would be overlooked by work that never looks.
    if asked() {
        std::process::exit(exit_code().into());
    }
    let done = work();
    ABRUPT.store(false, Ordering::SeqCst);
    done
}
