//! Frequencies of runs against numbers computed outside of this project: the top of Kasti, section 6, and the two
//! problems of Krenk & Nielsen 2013, section 5.

use core::ops::ControlFlow;
use polhode::check::{Crossings, Nutation};
use polhode::method::Method;
use polhode::problem::{Model, Problem};
use polhode::run::Plan;

fn model(id: &str) -> Model {
    Problem::named(id).unwrap().model().unwrap()
}

fn nutation(id: &str, method: &str, step: f64, until: f64) -> Nutation {
    let mut seen = Nutation::new();
    let (method, plan) = (Method::parse(method).unwrap(), Plan::new(step, until).unwrap());
    model(id)
        .run(&method, &plan, &mut |_, run| {
            let s = run.snapshot();
            seen.observe(s.t, &s.bodies[0].attitude);
            ControlFlow::Continue(())
        })
        .unwrap();
    seen
}

/// Relative error of the interval between two changes of sign of the third component of the angular velocity.
fn flip_error(method: &str, step: f64) -> f64 {
    let mut seen = Crossings::new();
    let (model, plan) = (model("flying-brick"), Plan::new(step, 20.0).unwrap());
    model
        .run(&Method::parse(method).unwrap(), &plan, &mut |_, run| {
            let s = run.snapshot();
            seen.observe(s.t, s.bodies[0].omega_body.z);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen.count(), 7);
    seen.interval().unwrap() / model.frequencies().unwrap().flip.unwrap().interval - 1.0
}

/// The same to the digits that the text has.
#[track_caller]
fn digits(value: f64, text: &str) {
    let decimals = text.split_once('.').map_or(0, |(_, rest)| rest.find('e').unwrap_or(rest.len()));
    let seen =
        if text.contains('e') { format!("{value:.decimals$e}") } else { format!("{value:.decimals$}") };
    assert_eq!(seen, text, "{value:e}");
}

#[test]
fn nutation_and_precession_of_the_spinning_top() {
    let exact = model("spinning-top").frequencies().unwrap();
    digits(exact.nutation.unwrap(), "9.209424558206173");
    digits(exact.precession.unwrap(), "0.416425036235478");
    for (step, nutates, precesses) in [(1e-3, "-5.617e-5", "4.311e-6"), (1e-4, "-5.616e-7", "4.309e-8")] {
        let seen = nutation("spinning-top", "bbtrapwd", step, 10.0);
        assert_eq!(seen.periods(), 13);
        digits(seen.frequency().unwrap() / exact.nutation.unwrap() - 1.0, nutates);
        digits(seen.precession().unwrap() / exact.precession.unwrap() - 1.0, precesses);
    }
}

#[test]
fn flips_of_the_brick() {
    for (step, error) in
        [(0.02, "-4.169e-4"), (0.01, "-1.0413e-4"), (0.005, "-2.603e-5"), (0.0025, "-6.507e-6")]
    {
        digits(flip_error("preserving:cayley,load=mean", step), error);
        digits(flip_error("akw", step), error);
    }
    digits(flip_error("preserving:exp", 0.01), "-9.670e-4");
    digits(flip_error("preserving:wiener-milenkovic", 0.01), "-7.512e-4");
}

#[test]
fn precession_and_tilt_of_the_cone() {
    let exact = model("steady-precession").frequencies().unwrap();
    assert_eq!((exact.nutation, exact.precession, exact.flip), (None, Some(10.0), None));
    for (step, rate, tilt) in [
        (0.01, "8.344978760", "89.33"),
        (0.005, "9.552664816", "70.03"),
        (0.0025, "9.890555181", "62.79"),
        (0.00125, "9.973000576", ""),
        (0.000625, "9.993277527", ""),
    ] {
        let seen = nutation("steady-precession", "preserving:cayley,load=mean", step, 10.0);
        digits(seen.precession_fit().unwrap(), rate);
        let [low, high] = seen.tilt().unwrap().map(f64::to_degrees);
        assert!((low - 60.0).abs() < 1e-9);
        if !tilt.is_empty() {
            digits(high, tilt);
        }
    }
    for (step, rate) in [(0.01, "6.7696"), (0.005, "8.9338")] {
        let seen = nutation("steady-precession", "akw", step, 10.0);
        digits(seen.precession_fit().unwrap(), rate);
        let [low, high] = seen.tilt().unwrap().map(f64::to_degrees);
        assert!((low - 60.0).abs() < 1e-9 && (high - 60.0).abs() < 1e-9);
        assert_eq!((seen.periods(), seen.frequency()), (0, None));
    }
}

#[test]
fn only_closed_forms_have_exact_frequencies() {
    for id in ["soft-wall", "stiff-spring", "driven-body", "free-body", "prescribed-motion"] {
        assert_eq!(model(id).frequencies(), None, "{id}");
    }
    let with = |id: &str, name: &str, value: &str| {
        let mut problem = Problem::named(id).unwrap();
        problem.set(name, value).unwrap();
        problem.model().unwrap().frequencies()
    };
    assert_eq!(with("spinning-top", "inertia", "5,4,1"), None);
    assert_eq!(with("spinning-top", "attitude", "0,0,0"), None);
    assert_eq!(with("flying-brick", "omega_body", "0,0,10"), None);
    // The axis follows the moments.
    let axis = |inertia: &str| with("flying-brick", "inertia", inertia).unwrap().flip.unwrap().axis;
    assert_eq!(axis("13,10,5,0,0,0"), nalgebra::Vector3::y());
    assert!((axis("13,7.5,7.5,0,0,2.5").y.abs() - 0.5f64.sqrt()).abs() < 1e-15);
}

#[test]
fn observers_do_not_allocate() {
    let (mut nutation, mut crossings) = (Nutation::new(), Crossings::new());
    let start = model("spinning-top").start();
    let info = allocation_counter::measure(|| {
        for n in 0..100 {
            nutation.observe(n as f64, &start.bodies[0].attitude);
            crossings.observe(n as f64, (n as f64).sin());
        }
    });
    assert_eq!(info.count_total, 0);
}
