//! Mistakes in the use of the library are errors, or numbers that are none: nothing panics, and nothing passes unseen.

use core::ops::ControlFlow;
use polhode::body::{Frame, Moment};
use polhode::method::{Method, Tableau};
use polhode::multibody::{Differentiated, DifferentiationError, Simulation};
use polhode::problem::Problem;
use polhode::run::{Plan, Recorder};
use polhode::scalar::{Dual, F64x4};
use polhode::solve::{FactorError, Factors, Pattern};

#[test]
fn places_that_are_not_there_are_no_numbers() {
    assert!(F64x4::new([1.0; 4]).lane(4).is_nan());
    let tableau = Tableau::parse("0 0; 1/2 1/2 | 1/2 1/2").unwrap();
    assert!(tableau.a(9, 9).is_nan() && tableau.a(0, 2).is_nan() && tableau.a(1, 1) == 0.5);
    let mut factors = Factors::<f64>::new(&Pattern::new(2, [(0, 0), (1, 1)]), &[0, 1]);
    assert_eq!(factors.factor(&[]), Err(FactorError::Count { given: 0, entries: 2 }));
}

#[test]
fn parts_of_a_system_that_do_not_fit_are_refused() {
    let model = Problem::named("double-pendulum").unwrap().model().unwrap();
    let mut system = model.system().as_ref().clone();
    system.joints_mut()[0].ends[1].body = Some(99);
    let error = Simulation::new(&system, &Method::parse("linear-alpha").unwrap()).unwrap_err().to_string();
    assert!(error.contains("99"), "{error}");
}

#[test]
fn a_derivative_changes_no_value() {
    let model = Problem::named("double-pendulum").unwrap().model().unwrap();
    let system = model.system();
    let mut varied = [system.lift::<Dual<f64, 1>>()];
    varied[0].bodies_mut()[1].mass.re *= 1.001;
    let found = Differentiated::new(system, &varied, &Method::parse("linear-alpha").unwrap());
    assert!(matches!(found, Err(DifferentiationError::Value { parameter: 0, .. })), "{:?}", found.err());
}

#[test]
fn energy_is_that_of_all_that_has_a_potential() {
    let model = Problem::named("double-pendulum").unwrap().model().unwrap();
    let plain = model.system();
    let method = Method::parse("linear-alpha").unwrap();
    let kept = Simulation::new(plain, &method).unwrap();
    let mut pushed = plain.as_ref().clone();
    let body = &mut pushed.bodies_mut()[0];
    *body = body.clone().with(Moment { frame: Frame::Body, value: [0.0, 0.0, 1.0].into() });
    let driven = Simulation::new(&pushed, &method).unwrap();
    assert!(kept.keeps_energy() && !driven.keeps_energy());
    assert_eq!(kept.energy(), driven.energy());
}

#[test]
fn a_recorder_keeps_the_last_row() {
    let model = Problem::named("fast-top").unwrap().model().unwrap();
    let mut recorder = Recorder::every(10);
    let plan = Plan::new(1e-3, 0.025).unwrap();
    let method = Method::parse("imidm").unwrap();
    let end = model.run(&method, &plan, &mut |n, run| {
        recorder.observe(n, &run.snapshot());
        ControlFlow::Continue(())
    });
    assert_eq!(recorder.column("t"), Some(&[0.0, 0.01, 0.02, end.unwrap().last.t][..]));
}
