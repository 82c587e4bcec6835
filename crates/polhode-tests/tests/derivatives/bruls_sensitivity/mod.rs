//! An independent implementation of Brüls & Eberhard's three algorithms with their direct differentiation, for the
//! heavy top and the derivative of its motion with respect to the mass. It shares nothing with the library: the
//! parameters of the rotation, their rates and all tangents are the paper's own. Values to more digits than doubles
//! have were computed elsewhere; against them stand the algorithms, and the size of the error of each mistake that is
//! easily made in the derivative.

mod alpha;
mod chart;
mod top;

use alpha::{Answer, Mistakes, run};
use chart::{M3, V3, spin};
use top::{Form, Operators, Point, Reduced, V6, heavy_top, pair};

const END: f64 = 0.1;
const MASS: f64 = 15.0;
/// Numbers of steps: h = 2e-3 and h = 2e-4.
const COARSE: usize = 50;
const FINE: usize = 500;

/// Position and derivative at the end with h = 2e-3, from a computation with 45 digits.
#[allow(clippy::excessive_precision)]
const GOLDEN: [(Form, [f64; 3], [f64; 3]); 3] = [
    (
        Form::Residual,
        [0.42038984126548895484, 0.89463784960953266154, -0.15131258839504471347],
        [0.00266054371261883937, -0.000159718651776676446, 0.00644741596325542576],
    ),
    (
        Form::Linear,
        [0.42118556110217578715, 0.89460836751912715922, -0.14926014834445146333],
        [0.00256165058205809708, -0.000149764903862197366, 0.00633088813107268075],
    ),
    (
        Form::Geometric,
        [0.42048497209437980471, 0.89467284491606646692, -0.15084060730645682987],
        [0.00263708339264666831, -0.000157989536425745607, 0.0064140883945193433],
    ),
];

fn relative(a: &V3, b: &V3) -> f64 {
    (a - b).norm() / b.norm()
}

fn top_run(form: Form, steps: usize, mistakes: &Mistakes) -> Answer {
    run(&heavy_top(MASS), form, END, steps, mistakes)
}

/// The relative error (118) of the derivative that a mistake makes.
fn size(form: Form, steps: usize, mistakes: &Mistakes) -> f64 {
    let exact = top_run(form, steps, &Mistakes::default()).slope;
    relative(&top_run(form, steps, mistakes).slope, &exact)
}

/// Asserts that `found` is `printed`, a decimal number, to half a unit of its last digit.
fn assert_digits(what: &str, found: f64, printed: &str) {
    let value: f64 = printed.parse().expect("a printed number");
    let mantissa = printed.split('e').next().unwrap_or_default();
    let decimals = mantissa.split('.').nth(1).map_or(0, str::len) as i32;
    let exponent: i32 = printed.split('e').nth(1).map_or(0, |e| e.parse().expect("an exponent"));
    let half_unit = 0.5 * 10f64.powi(exponent - decimals);
    assert!((found - value).abs() <= half_unit * 1.0001, "{what}: found {found:.4e}, expected {printed}");
    assert!(found > 1e-12, "{what}: this mistake must not pass for an exact derivative");
}

#[test]
fn motion_and_derivative_are_the_golden_values() {
    for (form, x, slope) in GOLDEN {
        let found = top_run(form, COARSE, &Mistakes::default());
        let (dx, ds) = (relative(&found.x, &V3::from(x)), relative(&found.slope, &V3::from(slope)));
        assert!(dx < 1e-13, "{form:?}: x is off by {dx:.1e}");
        assert!(ds < 1e-12, "{form:?}: x' is off by {ds:.1e}");
    }
}

/// Table 4. The row with a symmetric K_t stands in the paper with 1.0e-4: most likely a misprint of 1.0e-3.
#[test]
fn simplified_algorithms_err_as_in_table_4() {
    let exact = Mistakes::default();
    let reference_free = Mistakes { reference_free: true, ..exact };
    let tangent_only = Mistakes { tangent_without_k_g: true, ..exact };
    let everywhere = Mistakes { covector_without_slope: true, ..tangent_only };
    let in_matrix = Mistakes { symmetric_matrix: true, ..exact };
    let in_equations = Mistakes { symmetric_equations: true, ..exact };
    let symmetric = Mistakes { symmetric_matrix: true, ..in_equations };
    let covectors_dropped = Mistakes { covector_without_slope: true, ..reference_free };
    let rows = [
        ("reference-free", Form::Residual, reference_free, "5.96e-4", "6.58e-5"),
        ("reference-free without (T^-T)'", Form::Residual, covectors_dropped, "6.46e-4", "6.64e-5"),
        ("reference-free", Form::Linear, reference_free, "1.05e-4", "1.01e-6"),
        ("no k_G in k_t", Form::Residual, tangent_only, "7.7e-7", "6.7e-9"),
        ("no k_G in k_t and in (T^-T)'", Form::Residual, everywhere, "1.02e-4", "9.85e-7"),
        ("symmetric K_t", Form::Geometric, symmetric, "9.95e-4", "9.77e-4"),
        ("symmetric K_t in S only", Form::Geometric, in_matrix, "6.8e-6", "6.3e-8"),
        ("symmetric K_t in G' only", Form::Geometric, in_equations, "9.8e-4", "9.8e-4"),
    ];
    for (name, form, mistakes, coarse, fine) in rows {
        for (steps, printed) in [(COARSE, coarse), (FINE, fine)] {
            let what = format!("{form:?}, {name}, {steps} steps");
            assert_digits(&what, size(form, steps, &mistakes), printed);
        }
    }
    // In the linear form G is zero at the end of each step, and k_G with it.
    for steps in [COARSE, FINE] {
        assert!(size(Form::Linear, steps, &everywhere) < 1e-13);
    }
}

/// The usual mistakes of a direct differentiation: none passes, and only the last one vanishes with the step.
#[test]
fn each_mistake_has_its_size() {
    let exact = Mistakes::default();
    let rows = [
        (
            "constraint without R_inc^T W_ref",
            Form::Linear,
            Mistakes { constraint_without_reference: true, ..exact },
            "1.5",
        ),
        (
            "W_ref carried on without R_inc^T",
            Form::Linear,
            Mistakes { reference_not_turned: true, ..exact },
            "0.55",
        ),
        ("no g_ref", Form::Linear, Mistakes { without_g_ref: true, ..exact }, "1.7e-2"),
        (
            "scrambled (96) for the acceleration",
            Form::Linear,
            Mistakes { scrambled_acceleration: true, ..exact },
            "1.7e-2",
        ),
        ("no Tdot' phidot", Form::Linear, Mistakes { without_tangent_rate_slope: true, ..exact }, "1.9e-2"),
        ("no (T^-T)' g_alpha", Form::Residual, Mistakes { covector_without_slope: true, ..exact }, "1.0e-4"),
    ];
    let last = rows.len() - 1;
    for (i, (name, form, mistakes, printed)) in rows.into_iter().enumerate() {
        let coarse = size(form, COARSE, &mistakes);
        assert_digits(name, coarse, printed);
        let fine = size(form, FINE, &mistakes);
        if i == last {
            assert!((80.0..120.0).contains(&(coarse / fine)), "{name}: {coarse:.2e} and {fine:.2e}");
        } else {
            assert!(fine > 0.9 * coarse, "{name}: {coarse:.2e} and {fine:.2e}");
        }
    }
}

/// Tables 2 and 3: differences of whole runs agree as far as they can. Their error is truncation plus noise, so that
/// only its magnitude can be asked for.
#[test]
fn differences_of_runs_agree_to_their_own_accuracy() {
    let sizes = [
        (Form::Residual, [4.2e-7, 1.9e-9, 1.7e-11]),
        (Form::Linear, [7.9e-7, 7.9e-10, 1.2e-11]),
        (Form::Geometric, [1.7e-7, 3.4e-10, 3.1e-12]),
    ];
    for (form, expected) in sizes {
        let exact = top_run(form, COARSE, &Mistakes::default()).slope;
        let x = |relative: f64| {
            run(&heavy_top(MASS * (1.0 + relative)), form, END, COARSE, &Mistakes::default()).x
        };
        let difference = |terms: &[(f64, f64)], epsilon: f64| {
            terms.iter().map(|(at, weight)| x(at * epsilon) * *weight).sum::<V3>() / (epsilon * MASS)
        };
        let backward = difference(&[(0.0, 1.0), (-1.0, -1.0)], 1e-7);
        let central = difference(&[(1.0, 0.5), (-1.0, -0.5)], 1e-5);
        let (near, far) = (8.0 / 12.0, 1.0 / 12.0);
        let five = difference(&[(2.0, -far), (1.0, near), (-1.0, -near), (-2.0, far)], 1e-3);
        for (found, expected) in [backward, central, five].iter().zip(expected) {
            let error = relative(&exact, found);
            let near = (0.1 * expected..10.0 * expected).contains(&error);
            assert!(near, "{form:?}: {error:.1e}, expected about {expected:.1e}");
        }
    }
}

/// Without motion the stiffness k_t of the parameters is symmetric, that of the group is not: K_t - K_tᵀ is
/// spin(X × Rᵀλ).
#[test]
fn stiffness_is_symmetric_in_parameters_only() {
    let top = heavy_top(MASS);
    let at = |form| {
        let q = pair(V3::new(0.1, 0.2, 0.3), V3::new(0.4, -0.7, 0.2));
        let (zero, lambda) = (V6::zeros(), V3::new(3.0, -2.0, 5.0));
        let p = Point { q, v: zero, vdot: zero, a: zero, lambda, g_alpha: zero };
        Operators::at(&top, form, &M3::identity(), &p, Reduced::default())
    };
    let o = at(Form::Linear);
    assert!((o.k - o.k.transpose()).norm() < 1e-14 * o.k.norm());
    let o = at(Form::Geometric);
    let force = o.increment.transpose() * V3::new(3.0, -2.0, 5.0);
    let stiffness = o.reference_force;
    let skew = stiffness - stiffness.transpose();
    assert!((skew - spin(&top.x.cross(&force))).norm() < 1e-14 * stiffness.norm());
    assert!(skew.norm() > 0.1 * stiffness.norm());
}
