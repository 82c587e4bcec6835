//! What a step costs: no allocation, and a known number of Newton iterations and Jacobians.

use crate::common::{Case, method, motion, rotation};
use polhode::method::{Method, Stepper, Steps};
use polhode::solve::Work;

/// Allocations in a hundred steps.
fn allocations<G: Steps<f64>>(method: &Method, (body, start): &Case<f64, G>, h: f64) -> u64 {
    let mut stepper = Stepper::<f64, G>::new(method);
    let mut state = *start;
    let info = allocation_counter::measure(|| {
        for n in 0..100 {
            match stepper.step(body, &state, f64::from(n) * h, h) {
                Ok(next) => state = next,
                Err(_) => break,
            }
        }
    });
    info.count_total
}

#[test]
fn no_step_allocates() {
    let boxed = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1.0f64))));
    assert_eq!(boxed.count_total, 1, "the counter does not count");
    let (driven, flying) = (rotation("driven-body"), motion());
    for method in Method::all() {
        // The large step goes through the retry ladder.
        for h in [0.01, 0.8] {
            assert_eq!(allocations(&method, &driven, h), 0, "{} on SO(3), h = {h}", method.id());
            assert_eq!(allocations(&method, &flying, h), 0, "{} on SE(3), h = {h}", method.id());
        }
    }
}

/// Counters of a thousand steps of the fast top.
fn work(id: &str) -> Work {
    let (body, mut state) = rotation::<f64>("fast-top");
    let mut stepper = Stepper::new(&method(id));
    for n in 0..1000 {
        state = stepper.step(&body, &state, f64::from(n) * 1e-3, 1e-3).unwrap();
    }
    stepper.work
}

#[test]
fn newton_takes_two_or_three_iterations_and_one_jacobian_per_solve() {
    for method in Method::all() {
        let work = work(method.id());
        // Solves per step: one for each implicit half step, one for each block of stages.
        let composed = method.id().starts_with("compose:");
        let solves = if method.is_explicit() { 0 } else { 1000 * if composed { 5 } else { 1 } };
        let three =
            ["backward-euler", "backward-euler-m", "swc1", "bbtrap", "euler-parameters", "rotation-vector"]
                .contains(&method.id())
                || method.id().starts_with("decaying:")
                || method.id().ends_with("convected")
                || method.id().starts_with("compose:convected:");
        let golden = if three { 3 } else { 2 };
        let most = if method.is_explicit() { 0 } else { golden };
        let seen = (work.solves, work.jacobians, work.retries, work.most_iterations);
        assert_eq!(seen, (solves, solves, 0, most), "{}", method.id());
        // Most solves take the most.
        assert!(work.iterations * 100 >= 85 * most * solves, "{}: {work:?}", method.id());
    }
}
