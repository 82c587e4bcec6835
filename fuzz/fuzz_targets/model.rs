//! Model files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polhode::problem::Problem;

fuzz_target!(|text: &str| {
    if let Ok(problem) = Problem::from_text("model", text) {
        let _ = problem.model();
    }
});
