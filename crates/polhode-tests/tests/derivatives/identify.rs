//! Identification: intervals cover the truth as often as they say, edges hold, exact data give exact parameters.

use crate::common::long;
use core::ops::ControlFlow;
use polhode::identify::{Identification, Identified, IdentifyError, Samples};
use polhode::method::Method;
use polhode::problem::Problem;
use polhode::run::{Plan, Recorder};
use polhode::sensitivity::Sensitivity;

/// Uniform bits (splitmix64) and normal deviates (Box and Muller).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (core::f64::consts::TAU * v).cos()
    }
}

/// How large the noise is.
#[derive(Clone, Copy)]
enum Noise {
    None,
    /// A part of the amplitude of each column.
    OfColumn(f64),
    /// A part of each number.
    OfValue(f64),
    /// A part of the amplitude of the whole quantity: a component that hardly changes has nothing but noise.
    OfQuantity(f64),
}

/// A motion as it was measured: every n-th step.
struct Motion {
    times: Vec<f64>,
    columns: Vec<(String, Vec<f64>)>,
}

fn problem(id: &str, data: &[(&str, &str)]) -> Problem {
    let mut problem = Problem::named(id).unwrap();
    for (name, value) in data {
        problem.set(name, value).unwrap();
    }
    problem
}

impl Motion {
    fn of(problem: &Problem, method: &str, step: f64, until: f64, every: u64, quantities: &[&str]) -> Motion {
        let mut record = Recorder::every(every);
        let plan = Plan::new(step, until).unwrap();
        let method = Method::parse(method).unwrap();
        let ended = problem.model().unwrap().run(&method, &plan, &mut |n, run| {
            record.observe(n, &run.snapshot());
            ControlFlow::Continue(())
        });
        ended.unwrap();
        let wanted = |name: &&String| {
            let whole = name.rsplit_once('_').map_or(name.as_str(), |(whole, _)| whole);
            quantities.contains(&whole.rsplit('.').next().unwrap())
        };
        let columns = record.names().iter().filter(wanted);
        let columns = columns.map(|name| (name.clone(), record.column(name).unwrap().to_vec())).collect();
        Motion { times: record.column("t").unwrap().to_vec(), columns }
    }
    fn noisy(&self, noise: Noise, seed: u64) -> Samples {
        let mut random = Random(seed);
        let mut columns = self.columns.clone();
        let mean = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64;
        for (name, values) in &mut columns {
            let amplitude = mean(values).sqrt();
            let same = |other: &&(String, Vec<f64>)| other.0[..other.0.len() - 2] == name[..name.len() - 2];
            let whole = self.columns.iter().filter(same).map(|(_, values)| mean(values)).sum::<f64>().sqrt();
            for x in values {
                *x += match noise {
                    Noise::None => 0.0,
                    Noise::OfColumn(part) => part * amplitude * random.normal(),
                    Noise::OfValue(part) => part * *x * random.normal(),
                    Noise::OfQuantity(part) => part * whole * random.normal(),
                };
            }
        }
        Samples::new(self.times.clone(), columns).unwrap()
    }
}

const STEP: f64 = 5e-3;

/// So many repetitions of a long campaign; a part of them otherwise.
fn many(repetitions: u64) -> u64 {
    if long() { repetitions } else { repetitions / 4 }
}

/// Fits of the heavy top to 200 samples over a second, for some seeds.
fn tops(
    truth: &[(&str, &str)],
    start: &[(&str, &str)],
    names: &[&str],
    noise: Noise,
    seeds: u64,
) -> Vec<Identified> {
    let motion = Motion::of(
        &problem("heavy-top", truth),
        "linear-alpha",
        STEP,
        1.0,
        1,
        &["position", "q", "omega_body"],
    );
    let method = Method::parse("linear-alpha").unwrap();
    let sensitivity = Sensitivity::new(&problem("heavy-top", start), names, &method).unwrap();
    (0..seeds)
        .map(|seed| {
            let samples = motion.noisy(noise, 1000 + 7 * seed);
            Identification::new(sensitivity.clone(), samples, STEP).unwrap().run().unwrap()
        })
        .collect()
}

/// How many intervals have the truth, for each parameter.
fn coverage(what: &str, found: &[Identified], truth: &[f64]) {
    let covered = |k: usize| {
        let has =
            |f: &&Identified| f.interval95(k).is_some_and(|(low, high)| low < truth[k] && truth[k] < high);
        found.iter().filter(has).count()
    };
    let covered: Vec<usize> = (0..truth.len()).map(covered).collect();
    let classical = |k: usize| {
        let near =
            |f: &&Identified| (f.values[k] - truth[k]).abs() < f.factor95 * f.classical_error(k).unwrap();
        found.iter().filter(near).count()
    };
    let classical: Vec<usize> = (0..truth.len()).map(classical).collect();
    let flat = found.iter().filter(|f| !f.flat.is_empty()).count();
    let runs = found.iter().map(|f| f.evaluations).sum::<usize>() as f64 / found.len() as f64;
    let most = found.iter().map(|f| f.evaluations).max();
    let errors: Vec<f64> = (0..truth.len()).map(|k| found[0].standard_errors[k].unwrap()).collect();
    println!("{what}: covered {covered:?} of {}, flat {flat}, runs {runs:.1}, most {most:?}", found.len());
    println!("  errors {errors:.5?}, with classical errors {classical:?}");
    for f in found {
        assert!(f.stopped.converged(), "{what}: {:?}", f.stopped);
    }
    // Of intervals that hold 95 times in 100 at least 21 of 25 hold about as surely as 90 of 100.
    let share = if found.len() < 50 { 84 } else { 90 };
    let least = share * found.len() / 100;
    assert!(covered.iter().all(|c| *c >= least), "{what}: {covered:?}");
}

const DIAGONAL: [&str; 6] = ["inertia_xx", "inertia_yy", "inertia_zz", "center_x", "center_y", "center_z"];
const DISC: [f64; 3] = [0.234375, 0.46875, 0.234375];
const START: [(&str, &str); 2] = [("inertia", "0.27,0.42,0.2"), ("center", "0.1,0.88,-0.1")];

#[test]
fn intervals_of_a_disc_cover_its_principal_moments() {
    let found = tops(&[], &START, &DIAGONAL, Noise::OfColumn(0.01), many(100));
    coverage("disc, principal moments", &found, &[DISC[0], DISC[1], DISC[2], 0.0, 1.0, 0.0]);
    // The disc is on the edge: the noise pushes beyond it about every other time.
    let flat = found.iter().filter(|f| f.flat == ["inertia"]).count();
    let quarter = found.len() / 4;
    assert!((quarter..=3 * quarter).contains(&flat), "{flat} of {}", found.len());
}

#[test]
fn intervals_of_a_disc_cover_its_tensor() {
    let found = tops(&[], &START, &["inertia", "center"], Noise::OfColumn(0.01), many(100));
    coverage("disc, tensor", &found, &[DISC[0], DISC[1], DISC[2], 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn intervals_of_a_thick_body_cover_its_tensor() {
    let truth = [("inertia", "0.25,0.4,0.3")];
    let start = [("inertia", "0.29,0.35,0.26"), ("center", "0.1,0.88,-0.1")];
    let found = tops(&truth, &start, &["inertia", "center"], Noise::OfColumn(0.01), many(100));
    coverage("thick body", &found, &[0.25, 0.4, 0.3, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn intervals_cover_with_noise_of_each_value_too() {
    let found = tops(&[], &START, &DIAGONAL, Noise::OfValue(0.01), many(100));
    coverage("disc, noise of each value", &found, &[DISC[0], DISC[1], DISC[2], 0.0, 1.0, 0.0]);
    let truth = [("inertia", "0.25,0.4,0.3")];
    let found = tops(&truth, &START, &["inertia", "center"], Noise::OfValue(0.01), many(100));
    coverage("thick, noise of each value", &found, &[0.25, 0.4, 0.3, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn exact_samples_give_exact_parameters() {
    let found = tops(&[], &START, &["inertia", "center"], Noise::None, 1).remove(0);
    let truth = [DISC[0], DISC[1], DISC[2], 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    println!(
        "exact: {:?}, {} runs, {} rounds, {:?}",
        found.values, found.evaluations, found.rounds, found.stopped
    );
    for (value, truth) in found.values.iter().zip(truth) {
        assert!((value - truth).abs() < 1e-9, "{:?}", found.values);
    }
    assert!(found.stopped.converged());
}

/// The best body is flat: along that edge the fit goes round a corner for some steps.
#[test]
fn exact_samples_along_the_edge_give_exact_parameters() {
    let method = Method::parse("linear-alpha").unwrap();
    let steps = [2e-3, 1e-3, 5e-4];
    for &step in if long() { &steps[..] } else { &steps[..1] } {
        let motion = Motion::of(
            &problem("heavy-top", &[]),
            "linear-alpha",
            step,
            1.0,
            1,
            &["position", "q", "velocity", "omega_body"],
        );
        let sensitivity =
            Sensitivity::new(&problem("heavy-top", &START), &["inertia", "center"], &method).unwrap();
        let found =
            Identification::new(sensitivity, motion.noisy(Noise::None, 1), step).unwrap().run().unwrap();
        assert!(found.stopped.converged(), "{step}: {:?}", found.stopped);
        for (value, truth) in
            found.values.iter().zip([DISC[0], DISC[1], DISC[2], 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
        {
            assert!((value - truth).abs() < 1e-9, "{step}: {:?}", found.values);
        }
    }
}

/// Somebody who breaks off at any moment gets that for an answer, and no result.
#[test]
fn a_fit_can_be_broken_off_anywhere() {
    let method = Method::parse("linear-alpha").unwrap();
    let motion = Motion::of(&problem("heavy-top", &[]), "linear-alpha", STEP, 0.4, 1, &["position", "q"]);
    let sensitivity =
        Sensitivity::new(&problem("heavy-top", &START), &["inertia", "center"], &method).unwrap();
    let fit = Identification::new(sensitivity, motion.noisy(Noise::OfColumn(0.01), 3), STEP).unwrap();
    let mut all = 0u64;
    fit.run_with(&mut |_, _| {
        all += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    let times = many(200);
    for k in 0..times {
        let (mut seen, last) = (0, all * k / times);
        let broken = fit.run_with(&mut |_, _| {
            seen += 1;
            if seen > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(broken.unwrap_err(), IdentifyError::Interrupted, "after {last} of {all}");
    }
}

/// The rate of the spin hardly changes: what its column shows is noise, which must not lead to a needle.
#[test]
fn intervals_hold_with_columns_of_noise() {
    let method = Method::parse("linear-alpha").unwrap();
    let quantities = ["position", "q", "velocity", "omega_body"];
    let motion = Motion::of(&problem("heavy-top", &[]), "linear-alpha", 2e-3, 2.0, 5, &quantities);
    let start = problem("heavy-top", &[("inertia", "0.28,0.4,0.19"), ("center", "0.1,0.9,-0.1")]);
    let sensitivity = Sensitivity::new(&start, &DIAGONAL, &method).unwrap();
    let found: Vec<Identified> = (0..many(60))
        .map(|seed| {
            let samples = motion.noisy(Noise::OfQuantity(0.01), 77 + 13 * seed);
            Identification::new(sensitivity.clone(), samples, 2e-3).unwrap().run().unwrap()
        })
        .collect();
    coverage("noise of quantities", &found, &[DISC[0], DISC[1], DISC[2], 0.0, 1.0, 0.0]);
}

/// From few samples deviations are shared, and intervals still hold.
#[test]
fn intervals_of_few_samples_hold() {
    let method = Method::parse("linear-alpha").unwrap();
    let top = problem("heavy-top", &[]);
    for every in [10, 20] {
        let motion =
            Motion::of(&top, "linear-alpha", STEP, 1.0, every, &["position", "q", "velocity", "omega_body"]);
        let sensitivity = Sensitivity::new(&top, &["mass", "center_y"], &method).unwrap();
        let found: Vec<Identified> = (0..many(60))
            .map(|seed| {
                let samples = motion.noisy(Noise::OfColumn(0.01), 500 + 11 * seed);
                Identification::new(sensitivity.clone(), samples, STEP).unwrap().run().unwrap()
            })
            .collect();
        coverage(&format!("{} samples", motion.times.len()), &found, &[15.0, 1.0]);
    }
}

#[test]
fn known_deviations_are_taken_at_their_word() {
    let motion = Motion::of(&problem("slow-top", &[]), "imidm", 0.01, 2.0, 4, &["omega_body"]);
    let method = Method::parse("imidm").unwrap();
    let sensitivity =
        Sensitivity::new(&problem("slow-top", &[("mgl", "19")]), &["mgl", "omega_body_z"], &method);
    let samples = motion.noisy(Noise::OfColumn(0.01), 5);
    let fit = Identification::new(sensitivity.unwrap(), samples, 0.01).unwrap();
    let free = fit.clone().run().unwrap();
    let sigma = |f: &Identified| f.columns.iter().map(|c| c.sigma).collect::<Vec<_>>();
    let tenfold = fit.clone().with_sigma("omega_body", 10.0 * sigma(&free)[0]).unwrap();
    let tenfold = tenfold.with_sigma("omega_body_z", 10.0 * sigma(&free)[2]).unwrap().run().unwrap();
    assert_eq!(sigma(&tenfold)[1], sigma(&tenfold)[0]);
    assert!(tenfold.rounds == 1 && tenfold.columns.iter().all(|c| c.known));
    assert!(tenfold.standard_errors[0].unwrap() > 5.0 * free.standard_errors[0].unwrap());
    assert!((tenfold.factor95 - 1.96).abs() < 1e-3);
    // A bound holds, and its parameter has the errors of a free one.
    let bound = fit.clone().with_bounds("mgl", 18.0, 19.5).unwrap().run().unwrap();
    assert!(
        bound.values[0] <= 19.5 && bound.held[0].is_some() && bound.standard_errors[0].is_some(),
        "{bound:?}"
    );
    let error = |e: Result<Identification, IdentifyError>| e.unwrap_err().to_string();
    assert!(error(fit.clone().with_sigma("omega", 1.0)).contains("no column 'omega' is compared"));
    assert!(error(fit.clone().with_sigma("omega_body", -1.0)).contains("got -1"));
    assert!(error(fit.clone().with_bounds("mgl", 0.0, 1.0)).contains("starts at 19"));
    assert!(error(fit.clone().with_bounds("mass", 0.0, 1.0)).contains("not among the fitted"));
    assert!(error(fit.clone().with_columns(&["omega_bod"])).contains("did you mean omega_body"));
    assert!(error(fit.with_columns(&["q"])).contains("the data have no column 'q'"));
}

#[test]
fn a_common_factor_is_not_determined_by_attitudes() {
    let found = {
        let motion =
            Motion::of(&problem("heavy-top", &[]), "linear-alpha", STEP, 0.5, 1, &["q", "omega_body"]);
        let method = Method::parse("linear-alpha").unwrap();
        let start = problem("heavy-top", &START);
        let sensitivity = Sensitivity::new(&start, &["inertia", "mass", "center_y"], &method).unwrap();
        Identification::new(sensitivity, motion.noisy(Noise::None, 1), STEP).unwrap().run()
    };
    let error = found.unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("the data do not determine"), "{error}");
}

#[test]
fn signs_of_quaternions_do_not_matter() {
    let top = problem("slow-top", &[]);
    let motion = Motion::of(&top, "imidm", 0.01, 2.0, 4, &["q", "omega_body"]);
    let method = Method::parse("imidm").unwrap();
    let sensitivity = Sensitivity::new(&problem("slow-top", &[("mgl", "19")]), &["mgl"], &method).unwrap();
    let run = |motion: &Motion| {
        let samples = motion.noisy(Noise::None, 1);
        Identification::new(sensitivity.clone(), samples, 0.01).unwrap().run().unwrap()
    };
    let plain = run(&motion);
    let mut flipped = Motion { times: motion.times.clone(), columns: motion.columns.clone() };
    for (name, values) in &mut flipped.columns {
        if name.starts_with("q_") {
            values.iter_mut().step_by(3).for_each(|x| *x = -*x);
        }
    }
    let flipped = run(&flipped);
    assert!((plain.values[0] - 20.0).abs() < 1e-9 && (flipped.values[0] - 20.0).abs() < 1e-9, "{plain:?}");
}

#[test]
fn samples_are_checked_and_have_a_step() {
    let of = |times: &[f64]| Samples::new(times.to_vec(), vec![("q_w".into(), vec![1.0; times.len()])]);
    let text = |times: &[f64]| of(times).unwrap_err().to_string();
    assert!(text(&[0.0, 1.0, 1.0]).contains("times must grow"));
    assert!(text(&[-1.0, 1.0]).contains("not negative"));
    assert!(text(&[0.0]).contains("no sample after t = 0"));
    let infinite = Samples::new(vec![1.0], vec![("a".into(), vec![f64::INFINITY])]);
    assert!(infinite.unwrap_err().to_string().contains("must be finite"));
    let step = |times: &[f64], most: f64| of(times).unwrap().step(most).unwrap();
    assert_eq!(step(&[0.3, 0.4, 0.5], 0.1), 0.1);
    assert_eq!(step(&[0.0, 0.01, 0.02, 0.025], 5e-3), 5e-3);
    assert!((step(&[0.3, 0.4, 0.5], 0.03) - 0.025).abs() < 1e-12);
    // A gap in a regular row, a late start.
    assert_eq!(step(&[0.0, 0.01, 0.02, 0.04], 7e-3), 5e-3);
    assert_eq!(step(&[0.05, 0.15, 0.25], 1.0), 0.05);
    // Jitter: the step asked for, or that of denser samples.
    let jittered: Vec<f64> =
        (0..50).map(|k| 0.01 * (f64::from(k) + 0.1 * (7.0 * f64::from(k)).sin())).collect();
    assert_eq!(step(&jittered, 3e-3), 3e-3);
    assert!((step(&jittered, 0.1) - 0.01).abs() < 1e-3 && !of(&jittered).unwrap().on_steps(3e-3));
    assert!(of(&jittered).unwrap().step(0.0).is_err());
}
