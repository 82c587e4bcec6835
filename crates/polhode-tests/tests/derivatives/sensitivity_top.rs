//! The derivatives of Brüls & Eberhard's top with respect to its mass: the paper's tables in their correct reading.
//! The reference numbers were computed elsewhere, to 45 digits.

use nalgebra::Vector3;
use polhode::method::Method;
use polhode::multibody::{Differentiated, Simulation, System, Variant};
use polhode::problem::Problem;
use polhode::scalar::Dual;

type D = Dual<f64, 1>;

/// dx/dm at t = 0.1 with h = 2e-3.
const KNOWN: [(&str, [f64; 3]); 3] = [
    (
        "residual-alpha",
        [0.002_660_543_712_618_839_4, -0.000_159_718_651_776_676_45, 0.006_447_415_963_255_426],
    ),
    ("linear-alpha", [0.002_561_650_582_058_097_3, -0.000_149_764_903_862_197_37, 0.006_330_888_131_072_681]),
    (
        "geometric-alpha",
        [0.002_637_083_392_646_668_3, -0.000_157_989_536_425_745_6, 0.006_414_088_394_519_343],
    ),
];

/// dx/dm at t = 0.1 of the exact motion.
const EXACT: [f64; 3] = [2.553_609_404_462_547e-3, -1.472_450_821_070_975_2e-4, 6.329_284_226_971_321e-3];

fn top() -> System<f64> {
    Problem::named("heavy-top").unwrap().model().unwrap().system().as_ref().clone()
}

fn by_mass(system: &System<f64>) -> System<D> {
    let mut varied = system.lift::<D>();
    varied.bodies_mut()[0].mass.eps = [1.0];
    varied
}

/// dx/dm at t = 0.1.
fn derivative(method: &str, h: f64, study: Variant) -> Vector3<f64> {
    let system = top();
    let varied = [by_mass(&system)];
    let method = Method::parse(method).unwrap();
    let mut run = Differentiated::with_variant(&system, &varied, &method, study).unwrap();
    for _ in 0..(0.1 / h).round() as usize {
        run.step(h).unwrap();
    }
    run.derivative(0).unwrap().bodies()[0].position.map(|x| x.eps[0])
}

/// Eq. (118).
fn relative(x: &Vector3<f64>, known: &Vector3<f64>) -> f64 {
    (x - known).norm() / known.norm()
}

#[test]
fn the_digits_of_each_form() {
    for (method, known) in KNOWN {
        let error = relative(&derivative(method, 2e-3, Variant::Exact), &Vector3::from(known));
        println!("{method}: {error:.1e}");
        assert!(error < 1e-12, "{method}: {error:e}");
    }
}

/// Half a unit of the last digit, as printed.
fn agrees(x: f64, text: &str) -> bool {
    let known: f64 = text.parse().unwrap();
    let (mantissa, exponent) = text.split_once('e').unwrap();
    let digits = mantissa.split_once('.').map_or(0, |(_, d)| d.len()) as i32;
    (x - known).abs() <= 0.5000001 * 10f64.powi(exponent.parse::<i32>().unwrap() - digits)
}

/// Table 4: what the simplifications cost, at h = 2e-3 and 2e-4.
#[test]
fn the_simplified_derivatives() {
    for (method, study, sizes) in [
        ("residual-alpha", Variant::ReferenceFree, ["5.96e-4", "6.58e-5"]),
        ("linear-alpha", Variant::ReferenceFree, ["1.05e-4", "1.01e-6"]),
        ("residual-alpha", Variant::WithoutKg, ["1.02e-4", "9.85e-7"]),
        ("geometric-alpha", Variant::Symmetric, ["9.95e-4", "9.77e-4"]),
    ] {
        for (h, size) in [2e-3, 2e-4].into_iter().zip(sizes) {
            let error = relative(&derivative(method, h, study), &derivative(method, h, Variant::Exact));
            println!("{method} {study:?} {h}: {error:.4e}, known {size}");
            assert!(agrees(error, size), "{method} {study:?} {h}: {error:e}, known {size}");
        }
    }
    // At the equilibrium that the linear form finds there is nothing to leave out.
    let (linear, without) = (Variant::Exact, Variant::WithoutKg);
    let error =
        relative(&derivative("linear-alpha", 2e-3, without), &derivative("linear-alpha", 2e-3, linear));
    assert!(error < 1e-13, "{error:e}");
}

/// The derivatives converge as the motion does: order one for the residual form, two for the others.
#[test]
fn orders_of_the_derivatives() {
    for (method, first, last, order) in [
        ("residual-alpha", 2.34e-2, 1.41e-3, 1.0),
        ("linear-alpha", 1.26e-3, 3.31e-6, 2.0),
        ("geometric-alpha", 1.75e-2, 6.77e-5, 2.0),
    ] {
        let error = |h: f64| relative(&derivative(method, h, Variant::Exact), &Vector3::from(EXACT));
        let steps = [2e-3, 2.5e-4, 1.25e-4];
        let errors = steps.map(error);
        println!("{method}: {errors:?}");
        assert!((errors[0] / first - 1.0).abs() < 5e-3, "{method}: {errors:?}");
        assert!((errors[2] / last - 1.0).abs() < 5e-3, "{method}: {errors:?}");
        assert!(((errors[1] / errors[2]).log2() - order).abs() < 0.1, "{method}: {errors:?}");
    }
}

/// If the inertia grows with the mass, the motion does not depend on it.
#[test]
fn a_top_of_another_density_moves_alike() {
    let system = top();
    let mut varied = by_mass(&system);
    let body = &mut varied.bodies_mut()[0];
    let per_mass = system.bodies()[0].inertia.matrix() / system.bodies()[0].mass;
    let inertia = body.inertia.matrix().zip_map(&per_mass, |j, slope| Dual { re: j.re, eps: [slope] });
    body.inertia = polhode::body::RotaryInertia::unchecked(inertia);
    let varied = [varied];
    for (method, _) in KNOWN {
        let mut run = Differentiated::new(&system, &varied, &Method::parse(method).unwrap()).unwrap();
        for _ in 0..50 {
            run.step(2e-3).unwrap();
        }
        let shown = run.derivative(0).unwrap();
        let slope = shown.bodies()[0].position.map(|x| x.eps[0]).norm();
        println!("{method}: {slope:e}");
        assert!(slope < 1e-15, "{method}: {slope:e}");
        // The forces grow with the mass.
        for lambda in shown.multipliers("pivot").unwrap() {
            assert!((lambda.eps[0] - lambda.re / 15.0).abs() < 1e-9, "{method}: {lambda:?}");
        }
    }
}

/// The values are those of a run without derivatives, to the bit.
#[test]
fn the_plain_run_does_not_change() {
    let system = top();
    let varied = [by_mass(&system)];
    for (method, _) in KNOWN {
        let method = Method::parse(method).unwrap();
        let mut run = Differentiated::new(&system, &varied, &method).unwrap();
        let mut plain = Simulation::new(&system, &method).unwrap();
        for _ in 0..100 {
            run.step(2e-3).unwrap();
            plain.step(2e-3).unwrap();
        }
        assert_eq!(run.simulation().bodies()[0].position, plain.bodies()[0].position);
        assert_eq!(run.simulation().all_multipliers(), plain.all_multipliers());
    }
}
