//! The estimate of the energy error of Kasti, section 6b, in numbers computed outside of this project.

use core::ops::ControlFlow;
use polhode::method::Method;
use polhode::problem::Problem;
use polhode::run::{Estimate, Plan, drive};

fn estimate(id: &str, set: &[(&str, &str)], step: f64, until: f64) -> Option<Estimate> {
    let mut problem = Problem::named(id).unwrap();
    set.iter().for_each(|(name, value)| problem.set(name, value).unwrap());
    let (method, plan) = (Method::parse("bbtrapwd").unwrap(), Plan::new(step, until).unwrap());
    let model = problem.model().unwrap();
    let mut run = model.begin(&method).unwrap();
    assert!(run.estimate_energy());
    drive(&mut *run, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    run.energy_estimate().unwrap().report()
}

#[test]
fn what_the_estimate_is() {
    for (step, potential) in [(1e-3, "7.611e-4"), (1e-4, "7.589e-5")] {
        let seen = estimate("spinning-top", &[], step, 10.0).unwrap();
        assert_eq!(format!("{:.3e}", seen.max_potential), potential);
        // The change of energy is nearly (h Ω)²/12 of the estimate.
        let ratio = seen.ratio.unwrap() / (step * 50.0).powi(2);
        assert!((ratio * 12.0 - 1.0).abs() < 1e-2, "{ratio}");
        assert!((seen.kinetic / (1250.0 * (step * 50.0).powi(2) / 4.0) - 1.0).abs() < 2e-2);
    }
}

#[test]
fn where_it_bounds_the_change_of_energy() {
    // One exception in a long run, a few at longer steps, and then most steps are exceptions.
    for (step, until, steps, exceptions) in
        [(1e-3, 100.0, 100_000, 1), (5e-3, 10.0, 2000, 5), (0.04, 10.0, 250, 143)]
    {
        let seen = estimate("spinning-top", &[], step, until).unwrap();
        assert_eq!((seen.steps, seen.steps - seen.bounded), (steps, exceptions), "step {step}");
    }
    // With signs it holds in about half of the steps: never where the potential falls.
    let seen = estimate("spinning-top", &[], 1e-3, 10.0).unwrap();
    assert!((4850..4950).contains(&seen.bounded_signed), "{}", seen.bounded_signed);
}

#[test]
fn where_it_says_nothing() {
    // Without a weight the estimate is zero and the change of energy is not.
    let seen = estimate("flying-brick", &[("omega_body", "0.5,1,10")], 1e-3, 1.0).unwrap();
    assert_eq!((seen.max_potential, seen.ratio), (0.0, None));
    assert!(seen.max_energy > 0.0 && seen.bounded < seen.steps / 10);
    // A load without a potential.
    assert_eq!(estimate("driven-body", &[], 0.01, 0.1), None);
}

#[test]
fn other_bodies_and_potentials_have_an_estimate_too() {
    // It is the change of the potential to second order: of a fall, and on a spring.
    let fall = estimate("free-body", &[("gravity", "0,0,-9.81")], 1e-3, 1.0).unwrap();
    assert!((fall.max_potential / 0.198 - 1.0).abs() < 0.05, "{fall:?}");
    let soft = [("stiffness", "3,2,1"), ("omega_body", "0.3,0.2,0.5")];
    for (step, bound) in [(1e-2, 1e-3), (1e-3, 1e-4)] {
        let spring = estimate("stiff-spring", &soft, step, 5.0).unwrap();
        assert!(
            spring.bounded == spring.steps && spring.max_energy < bound * spring.max_potential,
            "{spring:?}"
        );
    }
}
