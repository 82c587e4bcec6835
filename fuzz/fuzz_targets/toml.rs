//! Files of tableaus.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    polhode_cli::readers::toml(text);
});
