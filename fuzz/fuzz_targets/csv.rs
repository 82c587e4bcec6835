//! Measured motions.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    polhode_cli::readers::csv(bytes);
});
