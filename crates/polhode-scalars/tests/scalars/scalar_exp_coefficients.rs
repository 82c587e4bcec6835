//! The functions of s = θ² behind the exponential map: values and two derivatives, through every switch.

use crate::probe::{Random, digits, error};
use core::f64::consts::{PI, TAU};
use polhode::scalar::{Dd, Dual, ExpCoefficients, Mask, Real};

/// The value and its first two derivatives.
type Jet<S> = Dual<Dual<S, 1>, 1>;

fn jet<S: Real>(s: S) -> Jet<S> {
    Dual { re: Dual::variable(s, 0), eps: [Dual::constant(S::one())] }
}
fn orders<S: Real>(x: Jet<S>) -> [S; 3] {
    [x.re.re, x.eps[0].re, x.eps[0].eps[0]]
}
fn list<S: Copy>(e: ExpCoefficients<S>) -> [S; 4] {
    [e.w, e.k, e.c, e.g]
}

/// Σ (-y)^j / (first + 2j)!, which converges for every y; accurate to 1e-26 up to y = 45.
fn alternating<T: Real>(y: T, first: u32) -> T {
    let mut sum = T::zero();
    for j in (0..50).rev() {
        let n = first + 2 * j;
        sum = T::one() - y * sum / T::lift(f64::from((n + 1) * (n + 2)));
    }
    sum / T::lift(f64::from((1..=first).product::<u32>()))
}

/// The four functions from their Taylor series (θ < 6.7), or in closed form.
fn truth<T: Real>(s: T) -> [T; 4] {
    let (w, k, c) = if s.below(T::lift(45.0)).all() {
        let y = s * T::lift(0.25);
        (alternating(y, 0), alternating(y, 1) * T::lift(0.5), alternating(s, 3))
    } else {
        let angle = s.sqrt();
        let (sin, w) = (angle * T::lift(0.5)).sin_cos();
        let k = sin / angle;
        (w, k, (T::one() - T::lift(2.0) * w * k) / s)
    };
    [w, k, c, k * k - w * c / (k * T::lift(2.0))]
}

// Constants: mpmath, 60 digits, at the binary value of the argument.
const TABLE: [(f64, [&str; 4]); 12] = [
    (
        1e-20,
        [
            "0.99999999999999999999875",
            "0.49999999999999999999979166666667",
            "0.16666666666666666666658333333333",
            "0.083333333333333333333347222222222",
        ],
    ),
    (
        1e-4,
        [
            "0.99998750002604164496468844669075",
            "0.49999791666927083178313482851244",
            "0.16666583333531745756169096568111",
            "0.083333472222552910879638373138977",
        ],
    ),
    (
        0.04,
        [
            "0.99500416527802576599165196487733",
            "0.49916708323414076151674109833381",
            "0.16633365061734806756649592222936",
            "0.083388941851905350515876965272986",
        ],
    ),
    (
        1.0,
        [
            "0.87758256189037271611628158260383",
            "0.47942553860420300027328793521557",
            "0.1585290151921034933474976783697",
            "0.084756139143774040365990280515592",
        ],
    ),
    (
        2.4673,
        [
            "0.70711815898965369526626035949903",
            "0.45016013724214899061865596049513",
            "0.14727320755708813300001930070558",
            "0.086974689806509025915476462048207",
        ],
    ),
    (
        2.4675,
        [
            "0.70709565108067276995365169592369",
            "0.45015622199828449997384236598474",
            "0.14727172694476771279084623977714",
            "0.086975003513778164217459545065074",
        ],
    ),
    (
        9.0,
        [
            "0.070737201667702910088189851434269",
            "0.33249832886801814364724112371383",
            "0.10588444414593084362589834063674",
            "0.099291970394002369646280962288644",
        ],
    ),
    (
        9.869604401089358,
        [
            "4.9857637507368813690575767372614e-17",
            "0.31830988618379068164103721845948",
            "0.10132118364233777465985008886349",
            "0.10132118364233776994073125433563",
        ],
    ),
    (
        30.0,
        [
            "-0.91989649189290526394972000811651",
            "0.071598520516168507394722190028107",
            "0.037724215189836374305134091924003",
            "0.24746636412344409045032087346775",
        ],
    ),
    (
        36.0,
        [
            "-0.98999249660044545727157279473126",
            "0.023520001343311203683457467134685",
            "0.029071368047217249411164608549129",
            "0.61238215706398890023015705940498",
        ],
    ),
    (
        400.0,
        [
            "-0.83907152907645245225886394782406",
            "-0.027201055544468490670237383092569",
            "0.0023858818436590465432029875020193",
            "-0.036058776133923001206936733892061",
        ],
    ),
    (
        1e6,
        [
            "-0.88384927343147796216660540346864",
            "-0.00046777180532247612632070089672303",
            "9.9917312045946799743974411257089e-7",
            "-0.00094374406470710985826108164270514",
        ],
    ),
];

#[test]
fn values_are_those_of_mpmath() {
    for (s, want) in TABLE {
        let (narrow, wide) = (list(Real::exp_coefficients(s)), list(Dd::exp_coefficients(Dd::from(s))));
        for i in 0..4 {
            let (want, slack) = (digits(want[i]), 1.0 + 0.5 * s.sqrt());
            let floor = if i == 0 { 1.0 } else { 0.0 };
            assert!(error(narrow[i], want, floor) < 8e-16 * slack, "{i} at {s}: {} {want:?}", narrow[i]);
            assert!(error(wide[i], want, floor) < 8e-31 * slack, "{i} at {s}: {:?} {want:?}", wide[i]);
            assert!(error(truth(Dd::from(s))[i], want, floor) < 1e-27 * slack, "series {i} at {s}");
        }
    }
}

/// Every size of s below 4π² (the pole of g) less a margin: subnormal and up, dense, and around the switches.
fn arguments() -> Vec<f64> {
    let mut random = Random(1);
    let mut all = vec![0.0, f64::from_bits(1), f64::MIN_POSITIVE, 1e-310];
    all.extend((0..1_000).map(|_| random.magnitude(-320.0, 0.0).abs()));
    all.extend((0..4_000).map(|i| f64::from(i) * 39.0 / 4_000.0));
    for switch in [0.01, 2.4674, PI * PI / 4.0, 1.0, PI * PI] {
        all.extend((-20..=20).map(|i| switch * (1.0 + f64::from(i) * f64::EPSILON)));
        all.extend((0..200).map(|_| switch * (1.0 + random.magnitude(-15.0, -2.0))));
    }
    all
}

/// The largest errors of w, k, c, g over their largest sizes: w, k and c on [0, 4π²], g relative to its pole,
/// 1/(4π² - s) and its derivatives.
fn worst(order: usize, of: impl Fn(f64) -> [Dd; 4], want: impl Fn(f64) -> [Dd; 4]) -> [(f64, f64); 4] {
    let sizes =
        [[1.0, 0.5, 1.0 / 6.0], [0.125, 1.0 / 24.0, 1.0 / 120.0], [1.0 / 192.0, 1.0 / 480.0, 1.0 / 2520.0]];
    let mut worst = [(0.0, 0.0); 4];
    for s in arguments() {
        let (got, want) = (of(s), want(s));
        for i in 0..4 {
            let to_pole = TAU * TAU - s;
            let pole = [3.3, 3.5 / to_pole, 7.0 / (to_pole * to_pole)][order] / to_pole;
            // The rounding of θ moves g by as much as the pole is steep.
            let size = if i < 3 { sizes[order][i] } else { pole * (TAU * TAU / to_pole) };
            let e = (got[i] - want[i]).to_f64().abs() / size;
            if e.is_nan() || e > worst[i].0 {
                worst[i] = (e, s);
            }
        }
    }
    println!("order {order}: (error, s) of w k c g: {worst:?}");
    worst
}

#[track_caller]
fn all_below(worst: [(f64, f64); 4], bounds: [f64; 4]) {
    for i in 0..4 {
        assert!(worst[i].0 < bounds[i], "function {i}: error {:e} at s = {}", worst[i].0, worst[i].1);
    }
}

#[test]
fn values_are_accurate_through_every_switch() {
    let of = |s: f64| list(Real::exp_coefficients(s)).map(Dd::from);
    all_below(worst(0, of, |s| truth(Dd::from(s))), [4e-16, 4e-16, 1e-15, 3e-15]);
}

#[test]
fn double_double_values_are_accurate_through_every_switch() {
    let of = |s: f64| list(Dd::exp_coefficients(Dd::from(s)));
    all_below(worst(0, of, |s| truth(Dd::from(s))), [4e-31; 4]);
}

#[test]
fn first_and_second_derivatives_are_accurate_through_every_switch() {
    for (order, bounds) in [(1, [8e-16, 2e-15, 2e-14, 5e-14]), (2, [4e-14, 3e-14, 5e-13, 5e-12])] {
        let of = |s: f64| list(Jet::exp_coefficients(jet(s))).map(|x| Dd::from(orders::<f64>(x)[order]));
        let want = |s: f64| truth(jet(Dd::from(s))).map(|x| orders(x)[order]);
        all_below(worst(order, of, want), bounds);
    }
}

#[test]
fn a_single_dual_has_the_slope_of_the_nested_one() {
    for s in arguments() {
        let (one, two) = (
            list(Dual::<f64, 1>::exp_coefficients(Dual::variable(s, 0))),
            list(Jet::exp_coefficients(jet(s))),
        );
        for i in 0..4 {
            assert_eq!((one[i].re, one[i].eps[0]), (two[i].re.re, two[i].eps[0].re), "function {i} at {s}");
        }
    }
}

#[test]
fn large_angles_lose_only_the_rounding_of_the_angle() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let s = random.magnitude(1.0, 12.0).abs();
        let (angle, got, want) = (s.sqrt(), list(Real::exp_coefficients(s)), truth(Dd::from(s)));
        let bound = 4e-16 * (1.0 + 0.5 * angle);
        assert!(error(got[0], want[0], 1.0) < bound, "w at {s}");
        assert!(error(got[1], want[1], 1.0 / angle) < bound, "k at {s}");
        assert!(error(got[2], want[2], 1.0 / s) < 8e-16, "c at {s}");
    }
}
