//! Overrides of data, and the models that they make.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polhode::problem::Problem;

fuzz_target!(|input: (u8, &str)| {
    let problems = Problem::all();
    let (which, text) = input;
    let mut problem = problems[usize::from(which) % problems.len()].clone();
    if let Some((name, value)) = text.split_once('=')
        && problem.set(name, value).is_ok()
    {
        let _ = problem.model();
    }
});
