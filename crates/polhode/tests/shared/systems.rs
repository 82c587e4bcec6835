//! What the tests of systems share.
#![allow(dead_code, reason = "each test file uses its part")]

use polhode::method::Method;
use polhode::multibody::{Simulation, System};

/// The three forms.
pub const FORMS: [&str; 3] = ["geometric-alpha", "linear-alpha", "residual-alpha"];

/// The three forms, in index 3 and stabilized.
pub const METHODS: [&str; 6] = [
    "geometric-alpha",
    "linear-alpha",
    "residual-alpha",
    "geometric-alpha,constraints=stabilized",
    "linear-alpha,constraints=stabilized",
    "residual-alpha,constraints=stabilized",
];

/// The system after so many steps.
pub fn run(system: &System<f64>, method: &str, h: f64, steps: usize) -> Simulation<f64> {
    let mut run = Simulation::new(system, &Method::parse(method).unwrap()).unwrap();
    for _ in 0..steps {
        run.step(h).unwrap();
    }
    run
}
