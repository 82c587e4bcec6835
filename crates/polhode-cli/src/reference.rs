//! The reference solution, which may take its time and must not keep Ctrl-C waiting.

use crate::{interrupt, print};
use polhode::problem::{Model, Reference, ReferenceError};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What to say of a reference that was computed.
fn told(found: &Result<Reference, ReferenceError>, since: Instant) {
    let took = || print::duration(since.elapsed().as_secs_f64());
    print::detail(|| match found {
        Ok(reference) => format!("reference: {}, computed in {}", reference.source, took()),
        Err(error) => format!("{error}, known after {}", took()),
    });
}

/// Computes the state at time `t`; `None` if the user did not want to wait for it. The hint
/// goes into the note that a user at a terminal sees if it takes a while.
pub fn reference(model: &Model, t: f64, hint: &str) -> Option<Result<Reference, ReferenceError>> {
    let started = Instant::now();
    let (send, receive) = channel();
    let apart = model.clone();
    // The thread ends with the program if nobody waits for it any more.
    let work = move || send.send(Box::new(apart.reference(t)));
    if thread::Builder::new().spawn(work).is_err() {
        // Where there is no room for a thread, a request to stop has to wait.
        let found = model.reference(t);
        told(&found, started);
        return if interrupt::asked() { None } else { Some(found) };
    }
    let mut noted = !std::io::stderr().is_terminal();
    loop {
        match receive.recv_timeout(Duration::from_millis(20)) {
            Ok(found) => {
                told(&found, started);
                return Some(*found);
            }
            Err(RecvTimeoutError::Disconnected) => {
                let reason = "its computation ended without a result".into();
                return Some(Err(ReferenceError { reason }));
            }
            Err(RecvTimeoutError::Timeout) if interrupt::asked() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !noted && started.elapsed() > Duration::from_millis(500) {
            print::note(&format!("computing the reference{hint} ..."));
            noted = true;
        }
    }
}
