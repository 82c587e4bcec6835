//! The tables of Bauchau et al. 2013, section 5: errors of a body that is made to follow a given motion, at 2 s.
//! e_D is the relative error of the displacement, e_R the Frobenius norm of the error of the rotation tensor.

use crate::common::{method, rows};
use core::ops::ControlFlow;
use polhode::problem::{Errors, Problem};
use polhode::run::Plan;

/// Kinematic update, mean of the end velocities.
const KINEMATIC: &str = "
    | e_D EXP | 8.0849e-05 | 2.0213e-05 | 5.0535e-06 | 1.2634e-06 | 3.1584e-07 | 7.8961e-08 | 1.9740e-08 | 4.9350e-09 |
    | e_D ER  | 9.5872e-05 | 2.3969e-05 | 5.9922e-06 | 1.4980e-06 | 3.7451e-07 | 9.3628e-08 | 2.3407e-08 | 5.8517e-09 |
    | e_D CGR | 6.5526e-05 | 1.6384e-05 | 4.0961e-06 | 1.0240e-06 | 2.5601e-07 | 6.4002e-08 | 1.6000e-08 | 4.0001e-09 |
    | e_D WM  | 7.4784e-05 | 1.8697e-05 | 4.6744e-06 | 1.1686e-06 | 2.9215e-07 | 7.3038e-08 | 1.8260e-08 | 4.5649e-09 |
    | e_R EXP | 2.9239e-04 | 7.3100e-05 | 1.8275e-05 | 4.5688e-06 | 1.1422e-06 | 2.8555e-07 | 7.1388e-08 | 1.7847e-08 |
    | e_R ER  | 2.9951e-04 | 7.4879e-05 | 1.8720e-05 | 4.6799e-06 | 1.1700e-06 | 2.9250e-07 | 7.3124e-08 | 1.8281e-08 |
    | e_R CGR | 6.8560e-04 | 1.7142e-04 | 4.2855e-05 | 1.0714e-05 | 2.6785e-06 | 6.6962e-07 | 1.6740e-07 | 4.1851e-08 |
    | e_R WM  | 3.6403e-04 | 9.1011e-05 | 2.2753e-05 | 5.6883e-06 | 1.4221e-06 | 3.5552e-07 | 8.8879e-08 | 2.2220e-08 |";

/// Energy and momentum preserving, load at half time.
const PRESERVING: &str = "
    | e_D EXP | 2.3529e-04 | 5.8927e-05 | 1.4738e-05 | 3.6850e-06 | 9.2127e-07 | 2.3032e-07 | 5.7580e-08 | 1.4395e-08 |
    | e_D ER  | 2.0910e-04 | 5.2351e-05 | 1.3092e-05 | 3.2734e-06 | 8.1837e-07 | 2.0459e-07 | 5.1148e-08 | 1.2787e-08 |
    | e_D CGR | 3.3599e-04 | 8.4270e-05 | 2.1085e-05 | 5.2723e-06 | 1.3181e-06 | 3.2954e-07 | 8.2385e-08 | 2.0596e-08 |
    | e_D WM  | 2.5588e-04 | 6.4103e-05 | 1.6034e-05 | 4.0090e-06 | 1.0023e-06 | 2.5058e-07 | 6.2644e-08 | 1.5661e-08 |
    | e_R EXP | 3.9798e-03 | 1.0001e-03 | 2.5034e-04 | 6.2605e-05 | 1.5653e-05 | 3.9132e-06 | 9.7831e-07 | 2.4458e-07 |
    | e_R ER  | 3.4981e-03 | 8.7606e-04 | 2.1911e-04 | 5.4785e-05 | 1.3697e-05 | 3.4242e-06 | 8.5604e-07 | 2.1401e-07 |
    | e_R CGR | 6.4312e-03 | 1.6199e-03 | 4.0573e-04 | 1.0148e-04 | 2.5373e-05 | 6.3434e-06 | 1.5859e-06 | 3.9647e-07 |
    | e_R WM  | 4.4649e-03 | 1.1231e-03 | 2.8121e-04 | 7.0330e-05 | 1.7584e-05 | 4.3962e-06 | 1.0990e-06 | 2.7476e-07 |";

/// Generalized-alpha, spectral radius 1.
const GALPHA: &str = "
    | e_D EXP | 3.4251e-04 | 8.5625e-05 | 2.1406e-05 | 5.3516e-06 | 1.3379e-06 | 3.3448e-07 | 8.3619e-08 | 2.0905e-08 |
    | e_D ER  | 5.3972e-04 | 1.3505e-04 | 3.3771e-05 | 8.4432e-06 | 2.1108e-06 | 5.2771e-07 | 1.3193e-07 | 3.2982e-08 |
    | e_D CGR | 6.8594e-04 | 1.6990e-04 | 4.2375e-05 | 1.0588e-05 | 2.6465e-06 | 6.6160e-07 | 1.6540e-07 | 4.1349e-08 |
    | e_D WM  | 3.4286e-04 | 8.5382e-05 | 2.1325e-05 | 5.3300e-06 | 1.3324e-06 | 3.3310e-07 | 8.3274e-08 | 2.0819e-08 |
    | e_R EXP | 4.8227e-03 | 1.2081e-03 | 3.0219e-04 | 7.5556e-05 | 1.8890e-05 | 4.7224e-06 | 1.1806e-06 | 2.9515e-07 |
    | e_R ER  | 1.7706e-03 | 4.4265e-04 | 1.1067e-04 | 2.7667e-05 | 6.9167e-06 | 1.7292e-06 | 4.3229e-07 | 1.0807e-07 |
    | e_R CGR | 1.4342e-02 | 3.5890e-03 | 8.9749e-04 | 2.2439e-04 | 5.6097e-05 | 1.4024e-05 | 3.5061e-06 | 8.7652e-07 |
    | e_R WM  | 7.1482e-03 | 1.7898e-03 | 4.4761e-04 | 1.1191e-04 | 2.7979e-05 | 6.9948e-06 | 1.7487e-06 | 4.3717e-07 |";

/// Energy decaying.
const DECAYING: &str = "
    | e_D EXP | 7.6067e-05 | 1.8882e-05 | 4.6993e-06 | 1.1719e-06 | 2.9261e-07 | 7.3104e-08 | 1.8270e-08 | 4.5667e-09 |
    | e_D ER  | 6.2134e-05 | 1.5624e-05 | 3.9193e-06 | 9.8160e-07 | 2.4563e-07 | 6.1436e-08 | 1.5363e-08 | 3.8411e-09 |
    | e_D CGR | 2.1001e-04 | 5.2443e-05 | 1.3089e-05 | 3.2686e-06 | 8.1664e-07 | 2.0409e-07 | 5.1015e-08 | 1.2753e-08 |
    | e_D WM  | 1.0520e-04 | 2.6153e-05 | 6.5132e-06 | 1.6247e-06 | 4.0571e-07 | 1.0137e-07 | 2.5334e-08 | 6.3326e-09 |
    | e_R EXP | 4.0697e-03 | 1.0165e-03 | 2.5371e-04 | 6.3360e-05 | 1.5830e-05 | 3.9563e-06 | 9.8892e-07 | 2.4721e-07 |
    | e_R ER  | 2.5213e-03 | 6.2846e-04 | 1.5669e-04 | 3.9109e-05 | 9.7687e-06 | 2.4410e-06 | 6.1011e-07 | 1.5251e-07 |
    | e_R CGR | 7.4354e-03 | 1.8623e-03 | 4.6544e-04 | 1.1631e-04 | 2.9067e-05 | 7.2656e-06 | 1.8162e-06 | 4.5404e-07 |
    | e_R WM  | 4.8949e-03 | 1.2236e-03 | 3.0555e-04 | 7.6320e-05 | 1.9070e-05 | 4.7663e-06 | 1.1914e-06 | 2.9783e-07 |";

/// Steps in ms.
const STEPS: [f64; 8] = [4.0, 2.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125];

fn errors(problem: &Problem, id: &str, milliseconds: f64) -> Errors {
    let plan = Plan::new(1e-3 * milliseconds, 2.0).unwrap();
    let model = problem.model().unwrap();
    let end = model.run(&method(id), &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    model.reference(2.0).unwrap().errors(&end.last)
}

/// The name of the map in a table, as its id.
fn map(name: &str) -> &str {
    match name {
        "EXP" => "exp",
        "ER" => "euler-rodrigues",
        "CGR" => "cayley",
        _ => "wiener-milenkovic",
    }
}

/// Every cell to a relative 1e-5 (1e-4 below 0.125 ms), beyond which it may be off by the rounding of its five digits,
/// and the order 2.000 from one step to the next at the fine end.
fn reproduced(family: &str, options: &str, table: &str) {
    let problem = Problem::named("prescribed-motion").unwrap();
    for (name, cells) in rows(table) {
        let (measure, map_name) = name.trim().split_once(' ').unwrap();
        if measure == "e_R" {
            continue;
        }
        let id = format!("{family}:{}{options}", map(map_name.trim()));
        let turned = rows(table).find(|(other, _)| {
            other.starts_with("e_R") && other.trim().ends_with(&format!(" {}", map_name.trim()))
        });
        let (_, turned) = turned.unwrap();
        let found: Vec<Errors> = STEPS.iter().map(|h| errors(&problem, &id, *h)).collect();
        let values = |f: fn(&Errors) -> f64| found.iter().map(f).collect::<Vec<f64>>();
        for (what, found, printed) in [
            ("e_D", values(|e| e.position_relative.unwrap()), &cells),
            ("e_R", values(Errors::attitude_frobenius), &turned),
        ] {
            assert_eq!(printed.len(), STEPS.len());
            for ((h, value), text) in STEPS.iter().zip(&found).zip(printed) {
                let want: f64 = text.parse().unwrap();
                let half_digit = 0.5 * 10f64.powf(want.log10().floor() - 4.0);
                let tolerance = if *h < 0.125 { 1e-4 } else { 1e-5 };
                let gap = ((value - want).abs() - half_digit).max(0.0) / want;
                assert!(gap < tolerance, "{what} of {id} at {h} ms: {value:.6e}, printed {text}");
            }
            let order = (found[4] / found[7]).log2() / 3.0;
            assert!((order - 2.0).abs() < 2e-3, "{what} of {id}: order {order}");
        }
    }
}

#[test]
fn kinematic_updates_have_the_published_errors() {
    reproduced("kinematic", "", KINEMATIC);
}

#[test]
fn preserving_schemes_have_the_published_errors() {
    reproduced("preserving", "", PRESERVING);
}

#[test]
fn generalized_alpha_has_the_published_errors() {
    reproduced("galpha", ",rho=1", GALPHA);
}

#[test]
fn decaying_schemes_have_the_published_errors() {
    reproduced("decaying", "", DECAYING);
}

const MAPS: [&str; 4] = ["exp", "euler-rodrigues", "cayley", "wiener-milenkovic"];

#[test]
fn the_reading_of_the_parameters_changes_the_error_constants() {
    let problem = Problem::named("prescribed-motion").unwrap();
    // e/h² at 1 ms, in the order of the maps; for hom4 and twist Cayley is the best map, for dual it is the worst.
    for (reading, displacement, rotation) in [
        ("dual", [14.74, 13.09, 21.09, 16.03], [250.3, 219.1, 405.7, 281.2]),
        ("hom4", [14.74, 19.37, 8.82, 12.66], [250.3, 317.6, 151.8, 219.5]),
        ("twist", [14.74, 16.90, 10.68, 13.68], [250.3, 275.2, 200.7, 237.9]),
    ] {
        for (i, map) in MAPS.iter().enumerate() {
            let found = errors(&problem, &format!("preserving:{map},reading={reading}"), 1.0);
            let constants = [found.position_relative.unwrap() * 1e6, found.attitude_frobenius() * 1e6];
            for (value, want) in constants.iter().zip([displacement[i], rotation[i]]) {
                assert!((value / want - 1.0).abs() < 1e-3, "{map}, {reading}: {value}, {want}");
            }
        }
    }
}

#[test]
fn on_the_rotation_alone_no_family_is_the_better_one() {
    let problem = Problem::named("prescribed-rotation").unwrap();
    let preserving = [1.388e-4, 1.397e-4, 1.443e-4, 1.393e-4];
    let alpha = [1.364e-4, 1.149e-4, 1.820e-4, 1.475e-4];
    for (i, map) in MAPS.iter().enumerate() {
        for (id, want) in
            [(format!("preserving:{map}"), preserving[i]), (format!("galpha:{map},rho=1"), alpha[i])]
        {
            let found = errors(&problem, &id, 1.0).attitude_frobenius();
            assert!((found - want).abs() < 0.5001e-7, "{id}: {found:e}, {want:e}");
        }
    }
}

#[test]
fn the_point_of_the_moments_changes_the_error_and_not_the_order() {
    let mut problem = Problem::named("prescribed-motion").unwrap();
    let about_origin = errors(&problem, "preserving:exp", 1.0).attitude;
    problem.set("moments_about", "1").unwrap();
    let (coarse, fine) =
        (errors(&problem, "preserving:exp", 2.0).attitude, errors(&problem, "preserving:exp", 1.0).attitude);
    assert!((fine / about_origin - 1.0).abs() > 0.1, "{fine:e} {about_origin:e}");
    assert!(((coarse / fine).log2() - 2.0).abs() < 0.01);
}
