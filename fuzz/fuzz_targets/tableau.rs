//! Tableaus written out.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(tableau) = polhode::method::Tableau::parse(text) {
        // What was accepted can be read.
        let _ = (tableau.kind(), tableau.order(), tableau.is_symmetric());
    }
});
