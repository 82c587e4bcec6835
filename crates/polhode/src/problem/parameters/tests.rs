//! What is built with duals against differences of what is built with numbers.

use crate::body::Dynamics;
use crate::body::Loads;
use crate::group::Coordinates;
use crate::multibody::{Reduced, Reduction};
use crate::problem::Problem;
use crate::run::Snapshot;
use crate::scalar::{Dual, Real, Scalar};

/// All problems, with data that allow changes to both sides: the heavy top's own inertia is that of a plate, on the edge of
/// what a body can have.
fn problems() -> Vec<Problem> {
    let mut all = Problem::all();
    for problem in &mut all {
        // About no axis of symmetry, so that every entry of an inertia counts.
        if problem.data().iter().any(|d| d.name == "omega_body" && !d.values.is_empty()) {
            problem.set("omega_body", "0.3,-0.7,5").unwrap();
        }
        match problem.id.as_str() {
            "heavy-top" => problem.set("inertia", "0.3,0.4,0.25").unwrap(),
            "chain" => problem.set("bodies", "3").unwrap(),
            // Nine entries, a quaternion, and moments that depend on the pose.
            "driven-body" => {
                problem.set("inertia", "1,0.05,-0.1,0.05,1.3,0.08,-0.1,0.08,0.7").unwrap();
                problem.set("attitude", "0.2,0.4,0.4,0.8").unwrap();
            }
            "stiff-spring" => problem.set("attitude", "0.001,0.002,0.5").unwrap(),
            "prescribed-motion" => problem.set("moments_about", "1").unwrap(),
            _ => {}
        }
    }
    all
}

/// Snapshot at the start, load and rate of the momentum at another time.
fn numbers<S: Real, G: Dynamics>(one: &Reduced<S, G>) -> Vec<S> {
    let mut row = Vec::new();
    Snapshot::of_body(&one.body, one.origin.as_ref(), &one.start, S::zero()).row(&mut row);
    // The start of a motion that is prescribed is the same for every rate of its turns.
    let rate = one.body.momentum_rate(&one.start, S::lift(0.3));
    row.extend((0..G::Vector::<S>::LEN).map(|i| rate.at(i)));
    row
}

fn row<S: Scalar>(problem: &Problem, change: &dyn Fn(usize) -> S) -> Option<Vec<S>> {
    Some(match problem.built(change, &[]).unwrap().system.reduction()? {
        Reduction::Rotation(one) => numbers(&one),
        Reduction::Motion(one) => numbers(&one),
    })
}

#[test]
fn every_parameter_of_a_body_has_its_derivative() {
    let mut idle = Vec::new();
    for problem in problems() {
        for (p, parameter) in problem.parameters().iter().enumerate() {
            let seeded = |i| Dual::<f64, 1> { re: 0.0, eps: [if i == p { 1.0 } else { 0.0 }] };
            let Some(duals) = row(&problem, &seeded) else { break };
            let d = 1e-3 * parameter.value.abs().max(0.01);
            let at = |k: f64| row(&problem, &|i| if i == p { k * d } else { 0.0 }).unwrap();
            let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(at);
            let largest = duals.iter().fold(1e-3, |most: f64, x| most.max(x.eps[0].abs()));
            let plain = row(&problem, &|_| 0.0).unwrap();
            for (k, dual) in duals.iter().enumerate() {
                assert!((dual.re - plain[k]).abs() <= 1e-14 * plain[k].abs().max(1.0), "{}", problem.id);
                let slope = (8.0 * (c[k] - b[k]) - (e[k] - a[k])) / (12.0 * d);
                let rounding = 1e-14 * plain[k].abs() / d;
                assert!(
                    (dual.eps[0] - slope).abs() < 1e-8 * largest + rounding,
                    "{} {} number {k}: {} and {slope}",
                    problem.id,
                    parameter.name,
                    dual.eps[0]
                );
            }
            if duals.iter().all(|x| x.eps[0] == 0.0) {
                idle.push(format!("{} {}", problem.id, parameter.name));
            }
        }
    }
    assert!(idle.is_empty(), "without effect: {idle:?}");
}

#[test]
fn a_model_without_changes_is_the_same_to_the_bit() {
    for problem in problems() {
        let (plain, zero) = (problem.model().unwrap(), problem.changed(&[(0, 0.0)]).unwrap());
        assert_eq!(plain.start(), zero.start(), "{}", problem.id);
    }
}

#[test]
fn loads_are_built_alike() {
    let problem = Problem::named("driven-body").unwrap();
    let reduction = problem.system(&|_| 0.0).unwrap().reduction();
    let Some(Reduction::Rotation(one)) = reduction else { panic!("a rotation") };
    let load: &Loads<f64> = &one.body.load;
    assert_eq!(load.list().len(), 6);
    assert_eq!(load.lift::<Dual<f64, 2>>().list().len(), 6);
}

#[test]
fn a_file_sets_numbers_as_set_does() {
    let text = Problem::named("heavy-top").unwrap().file().text().to_owned();
    let with = |more: &str| Problem::from_text("top", &format!("{text}\n[set]\n{more}\n"));
    let mut by_hand = Problem::from_text("top", &text).unwrap();
    by_hand.set("mass", "3").unwrap();
    by_hand.set("top.center_y", "0.5").unwrap();
    by_hand.set("inertia", "1,2,2.5").unwrap();
    let of_file = with("mass = 3\n\"top.center_y\" = 0.5\ninertia = [1, 2, 2.5]").unwrap();
    assert_eq!(of_file.model().unwrap().start(), by_hand.model().unwrap().start());
    assert_ne!(
        of_file.model().unwrap().start(),
        Problem::from_text("top", &text).unwrap().model().unwrap().start()
    );
    for (more, why) in [
        ("mas = 3", "did you mean mass"),
        ("mass = [1, 2]", "mass"),
        ("mass = \"x\"", "x"),
        ("top.mass = 3", "in quotes, as in \"top.mass\" = 2"),
    ] {
        let error = with(more).unwrap_err();
        assert!(error.to_string().contains(why) && error.place.is_some(), "{error}");
    }
}
