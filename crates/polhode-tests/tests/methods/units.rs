//! What units a model is in changes nothing: with masses, lengths and times multiplied by powers of two, and all numbers as
//! their dimensions say, every method gives the same attitudes to the bit, over the whole catalogue.

use core::ops::ControlFlow;
use polhode::method::{Method, REGISTRY, SYSTEMS};
use polhode::problem::Problem;
use polhode::run::Plan;

/// Exponents of two by which masses, lengths and times are multiplied.
type Scale = [i32; 3];

const SCALES: [Scale; 4] = [[3, 0, 0], [0, -20, 0], [0, 0, 5], [-7, 10, -3]];

/// The exponents of kg, m and s in a unit; nothing if it is not one.
fn dimension(unit: &str) -> Option<Scale> {
    let product = |factors: &str| {
        factors.split_whitespace().try_fold([0; 3], |sum: Scale, factor| {
            let (name, power) = factor.split_once('^').unwrap_or((factor, "1"));
            let one = match name {
                "kg" => [1, 0, 0],
                "m" => [0, 1, 0],
                "s" => [0, 0, 1],
                "rad" => [0, 0, 0],
                "N" => [1, 1, -2],
                _ => return None,
            };
            let power: i32 = power.parse().ok()?;
            Some([0, 1, 2].map(|i| sum[i] + power * one[i]))
        })
    };
    let (over, under) = unit.split_once('/').unwrap_or((unit, ""));
    let (over, under) = (product(over)?, product(under)?);
    (!unit.is_empty()).then(|| [0, 1, 2].map(|i| over[i] - under[i]))
}

/// The dimension of a parameter, from what is said of it.
fn dimension_of(name: &str, help: &str) -> Option<Scale> {
    if name.starts_with("inertia") {
        return Some([1, 2, 0]);
    }
    help.split([',', ';']).find_map(|part| dimension(part.trim()))
}

/// 2 to the power by which a number of this dimension grows.
fn factor(dimension: Scale, scale: Scale) -> f64 {
    2f64.powi((0..3).map(|i| dimension[i] * scale[i]).sum())
}

/// The problem in other units.
fn scaled(id: &str, set: &[(&str, &str)], scale: Scale) -> Problem {
    let mut problem = Problem::named(id).expect("a problem");
    for (name, value) in set {
        problem.set(name, value).expect("a parameter");
    }
    for datum in problem.data().to_vec() {
        let Some(dimension) = dimension_of(&datum.name, &datum.help) else { continue };
        let grown: Vec<String> =
            datum.values.iter().map(|x| format!("{:e}", x * factor(dimension, scale))).collect();
        if dimension != [0; 3] && !grown.is_empty() {
            problem.set(&datum.name, &grown.join(",")).expect("a parameter");
        }
    }
    problem
}

/// The attitudes at the end of a run; nothing if the method does not run the problem.
fn attitudes(
    problem: &Problem,
    method: &str,
    (step, until): (f64, f64),
    scale: Scale,
) -> Option<Vec<[u64; 4]>> {
    let time = factor([0, 0, 1], scale);
    let plan = Plan::new(step * time, until * time).expect("a plan");
    let model = problem.model().expect("a model");
    let method = Method::parse(method).expect("a method");
    let end = model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).ok()?.last;
    Some(end.bodies.iter().map(|body| body.attitude.q_wxyz().map(f64::to_bits)).collect())
}

fn methods() -> Vec<String> {
    let composed = ["compose:imidm:6", "compose:akw:4", "compose:conserving:4"].map(String::from);
    let index3 = "conserving,constraints=index3".to_string();
    let stabilized = SYSTEMS.iter().filter(|row| row.id.ends_with("-alpha"));
    let stabilized = stabilized.map(|row| format!("{},constraints=stabilized", row.id));
    let plain = REGISTRY.iter().chain(SYSTEMS.iter()).map(|row| row.id.to_string());
    plain.chain(stabilized).chain(composed).chain([index3]).collect()
}

/// All methods on a problem; how many of them run it.
fn holds(id: &str, set: &[(&str, &str)], plan: (f64, f64), scales: &[Scale]) -> usize {
    let mut ran = 0;
    let here = scaled(id, set, [0; 3]);
    for method in methods() {
        let Some(expected) = attitudes(&here, &method, plan, [0; 3]) else { continue };
        ran += 1;
        for &scale in scales {
            let found = attitudes(&scaled(id, set, scale), &method, plan, scale);
            assert_eq!(found.as_ref(), Some(&expected), "{id}, {method}, {scale:?}");
        }
    }
    ran
}

#[test]
fn powers_of_two_of_all_units_change_no_bit_of_an_attitude() {
    for id in Problem::ids() {
        // What bodies are made to follow is in m and s, whatever else is scaled.
        let scales: Vec<Scale> = match id {
            "prescribed-motion" => vec![[3, 0, 0]],
            "prescribed-rotation" => vec![[3, 0, 0], [0, -20, 0]],
            _ => SCALES.to_vec(),
        };
        let ran = holds(id, &[], (0.005, 0.1), &scales);
        assert!(ran >= 6, "{id}: {ran}");
    }
}

/// One of each joint and force, and a loop with redundant joints that is assembled first, both in units M, L and T.
const MODELS: [(&str, &str); 2] =
    [("shop", include_str!("units/shop.toml")), ("loop", include_str!("units/loop.toml"))];

#[test]
fn nor_do_they_with_joints_and_forces_of_all_kinds() {
    let run = |(id, text): (&str, &str), method: &str, plan: (f64, f64), scale: Scale| {
        let mut problem = Problem::from_text(id, text).expect("a model");
        for (name, power) in ["M", "L", "T"].into_iter().zip(scale) {
            problem.set(name, &format!("{:e}", 2f64.powi(power))).expect("a unit");
        }
        attitudes(&problem, method, plan, scale)
    };
    for model in MODELS {
        let mut ran = 0;
        for (method, plan) in
            methods().iter().flat_map(|method| [(0.005, 0.1), (0.03, 0.3)].map(|plan| (method, plan)))
        {
            let Some(expected) = run(model, method, plan, [0; 3]) else { continue };
            ran += 1;
            for scale in SCALES {
                let found = run(model, method, plan, scale);
                assert_eq!(found.as_ref(), Some(&expected), "{}, {method}, {plan:?}, {scale:?}", model.0);
            }
        }
        assert!(ran >= 18, "{}: {ran}", model.0);
    }
}

#[test]
fn a_pendulum_in_micrometres_swings_as_one_in_metres() {
    let small = [("length", "5e-7"), ("inertia", "8.5e-14,8.5e-14,5e-15")];
    for row in SYSTEMS {
        let angle = |set: &[(&str, &str)], plan: (f64, f64)| {
            let [w, _, y, _] = attitudes(&scaled("simple-pendulum", set, [0; 3]), row.id, plan, [0; 3])
                .unwrap_or_else(|| panic!("{}", row.id))[0]
                .map(f64::from_bits);
            2.0 * y.atan2(w)
        };
        let (large, small) = (angle(&[], (0.01, 2.0)), angle(&small, (1e-5, 2e-3)));
        assert!((large - small).abs() < 1e-10, "{}: {large} {small}", row.id);
    }
}

#[test]
fn a_chain_of_thousands_that_spins_is_not_ill_conditioned() {
    let set = [("bodies", "5000"), ("spin", "10")];
    for scale in [[0; 3], [0, -20, 0]] {
        let problem = scaled("chain", &set, scale);
        assert!(attitudes(&problem, "geometric-alpha", (1e-3, 2e-3), scale).is_some(), "{scale:?}");
    }
}
