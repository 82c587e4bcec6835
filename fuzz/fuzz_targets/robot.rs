//! Robots in URDF and MJCF.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polhode::problem::Problem;

fuzz_target!(|text: &str| {
    if let Ok(model) = polhode_cli::readers::robot(text) {
        assert!(Problem::from_text("robot", &model).is_ok(), "{model}");
    }
});
