//! Ids of methods.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = polhode::method::Method::parse(text);
});
