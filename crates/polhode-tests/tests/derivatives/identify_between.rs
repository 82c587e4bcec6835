//! Samples that do not lie on steps, and samples with gaps.

use core::ops::ControlFlow;
use polhode::identify::{Identification, IdentifyError, Samples};
use polhode::method::Method;
use polhode::problem::Problem;
use polhode::run::{Landing, Plan, Recorder, begin, drive};
use polhode::sensitivity::Sensitivity;

/// Something like noise, of deviation one (uniform).
fn noise(n: usize, i: usize) -> f64 {
    let mut z = (n as u64 * 1000 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    3f64.sqrt() * (2.0 * (((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64) - 1.0)
}

/// Times about an interval apart, each off its place by up to 0.3 of that.
fn jittered(interval: f64, until: f64) -> Vec<f64> {
    let count = (until / interval) as usize;
    (0..count).map(|n| interval * (n as f64 + 0.4 + 0.17 * noise(n, 7))).collect()
}

fn problem(id: &str, data: &[(&str, &str)]) -> Problem {
    let mut problem = Problem::named(id).unwrap();
    for (name, value) in data {
        problem.set(name, value).unwrap();
    }
    problem
}

/// The motion at these times, as exact as a method of order six with short steps is that lands on them, in the columns of
/// some quantities.
fn measured(problem: &Problem, times: &[f64], quantities: &[&str]) -> Vec<(String, Vec<f64>)> {
    let clock = Landing::new(Plan::new(2e-3, times[times.len() - 1]).unwrap(), times).unwrap();
    let mut run = begin(problem.model().unwrap().system(), &Method::parse("mkrk:gauss3").unwrap()).unwrap();
    let (mut record, mut next) = (Recorder::every(1), 0);
    let ended = drive(&mut *run, &clock, &mut |_, run| {
        if times.get(next).is_some_and(|t| (run.time() - t).abs() < 1e-12) {
            record.observe(next as u64, &run.snapshot());
            next += 1;
        }
        ControlFlow::Continue(())
    });
    ended.unwrap();
    assert_eq!(next, times.len());
    let wanted = |name: &&String| name.rsplit_once('_').is_some_and(|(whole, _)| quantities.contains(&whole));
    let names = record.names().iter().filter(wanted);
    names.map(|name| (name.clone(), record.column(name).unwrap().to_vec())).collect()
}

const TOP: [&str; 4] = ["mgl", "omega_body_x", "omega_body_y", "omega_body_z"];

/// A fit of the slow top, whose weight is 20 and which turns with 5 about its axis, from a start that is off.
fn slow_top(method: &str, samples: Samples, step: f64) -> Identification {
    let start = problem("slow-top", &[("mgl", "19"), ("omega_body", "0.1,-0.1,5.2")]);
    let sensitivity = Sensitivity::new(&start, &TOP, &Method::parse(method).unwrap()).unwrap();
    Identification::new(sensitivity, samples, step).unwrap()
}

fn truth() -> Vec<f64> {
    let method = Method::parse("akw").unwrap();
    Sensitivity::new(&problem("slow-top", &[]), &TOP, &method).unwrap().values().to_vec()
}

fn worst(values: &[f64], truth: &[f64]) -> f64 {
    values.iter().zip(truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn exact_samples_with_jitter_give_exact_parameters() {
    let top = problem("slow-top", &[]);
    // Sparse, about as dense as the steps, and several in each step.
    for interval in [0.05, 0.011, 0.0017] {
        let times = jittered(interval, 2.0);
        let samples = Samples::new(times.clone(), measured(&top, &times, &["q", "omega_body"])).unwrap();
        assert!(!samples.on_steps(0.01));
        let fit = slow_top("mkrk:gauss3", samples, 0.01);
        assert!(fit.interpolates());
        let found = fit.run().unwrap();
        let off = worst(&found.values, &truth());
        println!("interval {interval}: off by {off:.2e}, {} runs", found.evaluations);
        assert!(found.stopped.converged() && off < 1e-8, "{:?}", found.values);
    }
}

/// A method of order two is as wrong between its steps as on them.
#[test]
fn jitter_costs_no_order() {
    let top = problem("slow-top", &[]);
    for method in ["imidm", "linear-alpha", "geometric-alpha"] {
        let off = |times: &[f64], step: f64| {
            let samples = Samples::new(times.to_vec(), measured(&top, times, &["q", "omega_body"])).unwrap();
            // Weights that do not depend on the step.
            let fit = slow_top(method, samples, step).with_sigma("q", 0.01).unwrap();
            worst(&fit.with_sigma("omega_body", 0.1).unwrap().run().unwrap().values, &truth())
        };
        let (times, regular) =
            (jittered(0.02, 1.0), (0..50).map(|n| 0.02 * f64::from(n)).collect::<Vec<_>>());
        let (coarse, fine, on_steps) = (off(&times, 0.01), off(&times, 0.005), off(&regular, 0.01));
        println!("{method}: {coarse:.2e}, {fine:.2e}, on steps {on_steps:.2e}");
        assert!((3.6..4.4).contains(&(coarse / fine)), "{method}: {coarse:e} {fine:e}");
        assert!((0.5..2.0).contains(&(coarse / on_steps)), "{method}: {coarse:e} {on_steps:e}");
    }
}

#[test]
fn noisy_samples_with_jitter_give_parameters_within_their_errors() {
    let top = problem("slow-top", &[]);
    let times = jittered(0.011, 2.0);
    let exact = measured(&top, &times, &["q", "omega_body"]);
    let truth = truth();
    let mut covered = [0; 4];
    const SEEDS: usize = 40;
    for seed in 0..SEEDS {
        let mut columns = exact.clone();
        for (i, (name, values)) in columns.iter_mut().enumerate() {
            let sigma = if name.starts_with('q') { 0.003 } else { 0.02 };
            values.iter_mut().enumerate().for_each(|(n, x)| *x += sigma * noise(n + 1000 * seed, i));
        }
        let found =
            slow_top("mkrk:gauss2", Samples::new(times.clone(), columns).unwrap(), 0.01).run().unwrap();
        assert!(found.stopped.converged());
        for (k, covered) in covered.iter_mut().enumerate() {
            *covered +=
                usize::from(found.interval95(k).is_some_and(|(low, high)| low < truth[k] && truth[k] < high));
        }
        let sigma = |name: &str| found.columns.iter().find(|c| c.name == name).unwrap().sigma;
        assert!(
            (sigma("q_w") / 0.003 - 1.0).abs() < 0.25 && (sigma("omega_body_z") / 0.02 - 1.0).abs() < 0.25
        );
    }
    println!("covered {covered:?} of {SEEDS}");
    assert!(covered.iter().all(|c| *c * 100 >= 87 * SEEDS), "{covered:?}");
}

/// Derivatives of all residuals against differences, under methods of both kinds, with gaps.
#[test]
fn gradients_between_steps_are_exact() {
    let cases = [
        ("slow-top", "imidm", &["mgl", "omega_body"][..], 0.01, 1.0),
        ("free-body", "preserving:cayley", &["omega_body", "velocity", "attitude"], 0.02, 1.0),
        ("heavy-top", "linear-alpha", &["mass", "center", "inertia_xx", "attitude"], 0.002, 0.2),
        ("double-pendulum", "geometric-alpha", &["mass_2", "gravity_z", "center_2"], 0.01, 0.5),
    ];
    for (id, method, names, step, until) in cases {
        // Not a disc, whose inertia has an edge on one side.
        let own = problem(id, if id == "heavy-top" { &[("inertia", "0.25,0.4,0.3")] } else { &[] });
        let sensitivity = Sensitivity::new(&own, names, &Method::parse(method).unwrap()).unwrap();
        let times = jittered(0.7 * step, until);
        // Any numbers do; attitudes look at signs, so that they are those of nothing but the first component.
        let columns = sensitivity.columns().unwrap().into_iter().skip(1).enumerate().map(|(i, column)| {
            let quaternion = column.item.quantity == polhode::run::Quantity::Quaternion;
            let value = |n: usize| match (quaternion, (n + i) % 5) {
                (false, 0) => f64::NAN,
                (true, _) => {
                    if column.component == 0 {
                        1.0
                    } else {
                        0.0
                    }
                }
                _ => noise(n, i),
            };
            (column.name, (0..times.len()).map(value).collect::<Vec<f64>>())
        });
        let samples = Samples::new(times.clone(), columns.collect()).unwrap();
        let fit = Identification::new(sensitivity, samples, step).unwrap();
        assert!(fit.interpolates());
        let at = fit.sensitivity().values().to_vec();
        let (residuals, jacobian) = fit.residuals(&at).unwrap();
        let (n, mut largest) = (at.len(), 0.0f64);
        for k in 0..n {
            let h = 1e-4 * fit.sensitivity().scales()[k];
            let moved = |by: f64| {
                let mut p = at.clone();
                p[k] += by * h;
                fit.residuals(&p).unwrap().0
            };
            let around = [moved(-2.0), moved(-1.0), moved(1.0), moved(2.0)];
            let size = (0..residuals.len()).map(|i| jacobian[i * n + k].abs()).fold(0.0, f64::max);
            for i in 0..residuals.len() {
                let [a, b, c, d] = [0, 1, 2, 3].map(|m| around[m][i]);
                let difference = (a - 8.0 * b + 8.0 * c - d) / (12.0 * h);
                let off = (difference - jacobian[i * n + k]).abs() / (1.0 + size);
                largest = largest.max(off);
                assert!(off < 1e-7, "{id}, {k}: {difference:e}, {:e}", jacobian[i * n + k]);
            }
            assert!(size > 0.0, "{id}: {k}");
        }
        println!("{id}, {method}: {n} parameters, {largest:.1e}");
        let few = fit.residuals(&at[1..]);
        assert_eq!(few.unwrap_err(), IdentifyError::Values { found: n - 1, needed: n });
    }
}

/// Columns that were measured at different times, with NaN between them.
#[test]
fn gaps_are_left_out() {
    let top = problem("slow-top", &[]);
    let times = jittered(0.011, 2.0);
    let exact = measured(&top, &times, &["q", "omega_body"]);
    let mut columns = exact.clone();
    for (name, values) in &mut columns {
        // Attitudes are rare, rates have gaps.
        let gone = |n: usize| if name.starts_with('q') { n % 10 != 3 } else { n % 7 == 2 };
        values.iter_mut().enumerate().filter(|(n, _)| gone(*n)).for_each(|(_, x)| *x = f64::NAN);
    }
    columns.push(("momentum_body_x".into(), vec![f64::NAN; times.len()]));
    let numbers: usize = columns.iter().map(|(_, v)| v.iter().filter(|x| x.is_finite()).count()).sum();
    let fit = slow_top("mkrk:gauss3", Samples::new(times, columns.clone()).unwrap(), 0.01);
    assert_eq!(fit.unused(), ["momentum_body_x"]);
    let found = fit.run().unwrap();
    assert!(worst(&found.values, &truth()) < 1e-8, "{:?}", found.values);
    assert_eq!(found.degrees_of_freedom, numbers - 4);
    for (column, (_, values)) in found.columns.iter().zip(&columns) {
        assert!(column.residuals.iter().zip(values).all(|(r, x)| r.is_nan() == x.is_nan()));
        assert!(column.sigma.is_finite() && !column.patterned);
    }
    // A column without a single sample is refused.
    assert!(
        fit.with_columns(&["momentum_body_x"])
            .unwrap_err()
            .to_string()
            .contains("no column 'momentum_body_x'")
    );
}

#[test]
fn steps_that_are_too_long_are_refused() {
    let top = problem("slow-top", &[]);
    let times = jittered(0.011, 0.1);
    let samples = Samples::new(times.clone(), measured(&top, &times, &["q"])).unwrap();
    let sensitivity = Sensitivity::new(&top, &["mgl"], &Method::parse("akw").unwrap()).unwrap();
    let of = |step: f64| Identification::new(sensitivity.clone(), samples.clone(), step);
    assert!(matches!(of(0.05), Err(IdentifyError::LongStep { .. })));
    assert!(of(0.05).unwrap_err().to_string().contains("at most"));
    assert!(
        matches!(of(0.0), Err(IdentifyError::Step { .. }))
            && matches!(of(1e-300), Err(IdentifyError::Plan(_)))
    );
    assert!(of(0.01).is_ok());
}
