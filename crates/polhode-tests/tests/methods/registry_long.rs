//! Two hundred thousand steps of a free body, ten million with POLHODE_LONG set: nothing that a method keeps drifts, and the
//! quaternion stays a unit one.

use crate::common::{long, rotation};
use polhode::group::So3;
use polhode::method::{Method, REGISTRY, Stepper};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The largest relative drift of what the method claims, looked at every thousand steps, and of | |q| - 1 |.
fn drift(method: &Method) -> [f64; 2] {
    let (body, start) = rotation::<f64>("free-rotation");
    let h = 0.5 / body.velocity(&start).norm();
    let claims = method.claims();
    let (energy, momentum) = (body.kinetic_energy(&start), start.momentum.norm());
    let mut stepper = Stepper::<f64, So3>::new(method);
    // The eighteen unknowns of base vectors and momenta take a hundred times as long.
    let steps: u64 = if long() { 10_000_000 } else { 200_000 };
    let steps = if method.id() == "convected" { steps / 20 } else { steps };
    let mut state = start;
    let (mut worst, mut unit) = (0.0f64, 0.0f64);
    for n in 1..=steps {
        state = stepper.step(&body, &state, 0.0, h).unwrap();
        if !n.is_multiple_of(1000) {
            continue;
        }
        if claims.free_energy {
            worst = worst.max((body.kinetic_energy(&state) / energy - 1.0).abs());
        }
        if claims.free_momentum {
            worst = worst.max((state.momentum_space() - start.momentum_space()).norm() / momentum);
        }
        if claims.free_norm {
            worst = worst.max((state.momentum.norm() / momentum - 1.0).abs());
        }
        let squares: f64 = state.pose.q_wxyz().iter().map(|x| x * x).sum();
        unit = unit.max((squares.sqrt() - 1.0).abs());
    }
    [worst, unit]
}

#[test]
fn nothing_that_is_kept_drifts_in_many_steps() {
    let keeps =
        REGISTRY.iter().filter(|r| r.claims.free_energy || r.claims.free_momentum || r.claims.free_norm);
    let methods: Vec<Method> = keeps.map(|row| Method::parse(row.id).unwrap()).collect();
    assert!(methods.len() > 10);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut found = Vec::new();
        while let Some(method) = methods.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.push((method.id(), drift(method)));
        }
        found
    };
    let found: Vec<(&str, [f64; 2])> = thread::scope(|scope| {
        let threads = [scope.spawn(take), scope.spawn(take)];
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    for (id, [worst, unit]) in &found {
        println!("{id:20} {worst:.1e} {unit:.1e}");
    }
    let bound = if long() { 1e-10 } else { 2e-11 };
    for (id, [worst, unit]) in &found {
        assert!(*worst <= bound && *unit <= 1e-13, "{id}: {worst:e} {unit:e}");
    }
}
