//! Every function of every scalar: algebraic identities, values against mpmath, derivatives against num-dual, and
//! lanes against `f64`.

use crate::probe::{Random, digits, error};
use num_dual::{Dual64, DualNum, HyperDual64};
use num_traits::{One, Zero};
use polhode::scalar::{Dd, Dual, F64x4, Mask, Mask4, Real};

/// A scalar whose components can all be filled and measured.
trait Sample: Real {
    const UNIT: f64;
    fn fill(next: &mut impl FnMut() -> f64) -> Self;
    /// The largest magnitude among the components.
    fn size(self) -> f64;
}
impl Sample for f64 {
    const UNIT: f64 = f64::EPSILON;
    fn fill(next: &mut impl FnMut() -> f64) -> Self {
        next()
    }
    fn size(self) -> f64 {
        f64::abs(self)
    }
}
impl Sample for Dd {
    const UNIT: f64 = Dd::EPSILON;
    fn fill(next: &mut impl FnMut() -> f64) -> Self {
        Dd::new(next(), next() * 1e-17)
    }
    fn size(self) -> f64 {
        self.to_f64().abs()
    }
}
impl Sample for F64x4 {
    const UNIT: f64 = f64::EPSILON;
    fn fill(next: &mut impl FnMut() -> f64) -> Self {
        F64x4::new(core::array::from_fn(|_| next()))
    }
    fn size(self) -> f64 {
        self.abs().largest()
    }
}
impl<S: Sample, const N: usize> Sample for Dual<S, N> {
    const UNIT: f64 = S::UNIT;
    fn fill(next: &mut impl FnMut() -> f64) -> Self {
        Dual { re: S::fill(next), eps: core::array::from_fn(|_| S::fill(next)) }
    }
    fn size(self) -> f64 {
        self.eps.iter().fold(self.re.size(), |m, e| m.max(e.size()))
    }
}

#[track_caller]
fn same<S: Sample>(a: S, b: S, tolerance: f64) {
    let gap = (a - b).size() / b.size().max(1.0);
    assert!(gap <= tolerance * S::UNIT, "{a:?} against {b:?}: {:.1} units", gap / S::UNIT);
}

fn arithmetic_obeys_the_laws_of_a_field<S: Sample>() {
    let mut random = Random(1);
    for _ in 0..200 {
        let next = &mut || random.magnitude(-0.3, 0.3);
        let (x, y, z) = (S::fill(next), S::fill(next), S::fill(next));
        assert_eq!(x + (-x), S::zero());
        assert_eq!(x + y, y + x);
        assert_eq!(-(-x), x);
        assert_eq!(x * S::one() + S::zero(), x);
        same((x + y) - y, x, 4.0);
        same(x * y, y * x, 2.0);
        same(x * (y + z), x * y + x * z, 32.0);
        same((x * y) * z, x * (y * z), 32.0);
        same(x / y * y, x, 256.0);
        same(x.recip() * x, S::one(), 256.0);
        same(x.recip().recip(), x, 256.0);
        same(x / y, x * y.recip(), 256.0);
        let mut sum = x;
        sum += y;
        sum *= z;
        sum -= x;
        sum /= y;
        assert_eq!(sum, ((x + y) * z - x) / y);
        assert!(S::zero().is_zero() && !x.is_zero());
    }
}

fn roots_and_powers_invert_each_other<S: Sample>() {
    let mut random = Random(2);
    for _ in 0..200 {
        let x = S::fill(&mut || random.magnitude(-0.2, 0.2));
        same(x.abs().sqrt().powi(2), x.abs(), 32.0);
        same((x * x).sqrt(), x.abs(), 32.0);
        assert_eq!(x.powi(0), S::one());
        assert_eq!(x.powi(1), x);
        same(x.powi(5), x * x * x * x * x, 256.0);
        same(x.powi(-3) * x.powi(7), x.powi(4), 8192.0);
        same(x.powi(-1), x.recip(), 0.0);
    }
}

fn sine_and_cosine_obey_the_addition_theorem<S: Sample>() {
    let mut random = Random(3);
    for _ in 0..200 {
        let (mut size, mut random) = (random.within(-1.0, 1.0), Random(random.bits()));
        let next = &mut || {
            size = -size;
            random.magnitude(-1.0, 0.5) * size
        };
        let (x, y) = (S::fill(next), S::fill(next));
        let ((sx, cx), (sy, cy), (s, c)) = (x.sin_cos(), y.sin_cos(), (x + y).sin_cos());
        same(sx * sx + cx * cx, S::one(), 64.0);
        same(sx * cy + cx * sy, s, 256.0);
        same(cx * cy - sx * sy, c, 256.0);
        let (sn, cn) = (-x).sin_cos();
        same(sn, -sx, 0.0);
        same(cn, cx, 0.0);
    }
}

fn the_arc_tangent_finds_the_angle_of_a_point<S: Sample>() {
    let mut random = Random(4);
    for _ in 0..200 {
        let (x, r) = (S::fill(&mut || random.within(-3.1, 3.1)), S::fill(&mut || random.within(0.5, 2.0)));
        let (s, c) = x.sin_cos();
        same((r * s).atan2(r * c), x, 256.0);
    }
}

fn exponential_and_logarithm_are_inverse_homomorphisms<S: Sample>() {
    let mut random = Random(5);
    for _ in 0..200 {
        let next = &mut || random.magnitude(-0.5, 0.2);
        let (x, y) = (S::fill(next), S::fill(next));
        same(x.exp() * y.exp(), (x + y).exp(), 256.0);
        same(x.exp().ln(), x, 1024.0);
        same(x.abs().ln().exp(), x.abs(), 256.0);
        same((x.abs() * y.abs()).ln(), x.abs().ln() + y.abs().ln(), 1024.0);
    }
    assert_eq!(S::zero().exp(), S::one());
    assert_eq!(S::one().ln(), S::zero());
}

fn comparisons_choose_by_value<S: Sample>() {
    let mut random = Random(6);
    for _ in 0..200 {
        let next = &mut || random.magnitude(-1.0, 1.0);
        let (x, y) = (S::fill(next), S::fill(next));
        let (smaller, larger) = (S::select(x.below(y), x, y), x.max(y));
        assert_eq!(smaller + larger, x + y);
        assert!(!larger.below(smaller).any());
        assert!(!x.abs().below(S::zero()).any());
        assert_eq!(x.abs() * x.abs(), x * x);
        assert!(x.is_finite().all() && !(x / S::zero()).is_finite().any());
        assert!(x.below(S::lift(f64::INFINITY)).all() && !x.below(x).any());
        assert_eq!(S::select(S::Mask::splat(true), x, y), x);
        assert_eq!(S::select(S::Mask::splat(false), x, y), y);
        let (a, b) = (x.below(y), y.below(S::one()));
        let truth = |m: S::Mask| S::select(m, S::one(), S::zero());
        assert_eq!(truth(a.and(b)), truth(a) * truth(b));
        assert_eq!(truth(a.or(b)), truth(a.not().and(b.not()).not()));
        assert_eq!(a.any(), !a.not().all());
    }
}

fn the_coefficients_of_the_exponential_map_obey_their_relations<S: Sample>() {
    let mut random = Random(7);
    for _ in 0..500 {
        let s = S::fill(&mut || random.within(0.0, 9.0));
        let e = S::exp_coefficients(s);
        let two = S::lift(2.0);
        same(e.w * e.w + e.k * e.k * s, S::one(), 512.0);
        same(two * e.w * e.k + e.c * s, S::one(), 512.0);
        same(two * e.k * (S::one() - s * e.g), e.w, 512.0);
    }
}

macro_rules! suite {
    ($($module:ident: $S:ty),*; $law:ident $($more:ident)*) => {
        mod $law {
            use super::*;
            $(#[test]
            fn $module() {
                super::$law::<$S>();
            })*
        }
        suite!($($module: $S),*; $($more)*);
    };
    ($($module:ident: $S:ty),*;) => {};
}
suite! {
    double: f64,
    lanes: F64x4,
    dual: Dual<f64, 3>,
    dual_of_lanes: Dual<F64x4, 2>,
    dual_of_dual: Dual<Dual<f64, 1>, 1>,
    double_double: Dd,
    dual_of_double_double: Dual<Dd, 1>;
    arithmetic_obeys_the_laws_of_a_field
    roots_and_powers_invert_each_other
    sine_and_cosine_obey_the_addition_theorem
    the_arc_tangent_finds_the_angle_of_a_point
    exponential_and_logarithm_are_inverse_homomorphisms
    comparisons_choose_by_value
}
// A dual over double-doubles has these to the digits of f64 only; for second derivatives see their own tests.
suite! {
    double: f64,
    lanes: F64x4,
    dual: Dual<f64, 3>,
    dual_of_lanes: Dual<F64x4, 2>,
    double_double: Dd;
    the_coefficients_of_the_exponential_map_obey_their_relations
}

// Constants: mpmath, 60 digits, at the binary value of the argument.
const SIN_COS: [(f64, &str, &str); 10] = [
    (0.5, "0.47942553860420300027328793521557", "0.87758256189037271611628158260383"),
    (core::f64::consts::FRAC_PI_2, "1.0", "6.123233995736765886130329661375e-17"),
    (core::f64::consts::PI, "1.224646799147353177226065932275e-16", "-0.99999999999999999999999999999999"),
    (-2.25, "-0.77807319688792124141096667558776", "-0.6281736227227390889133890573964"),
    (11.0, "-0.99999020655070345705156489902552", "0.0044256979880507857483550247239416"),
    (39.75, "0.88695251379882482571246279539915", "-0.46186062645125472649982538892637"),
    (-100.5, "0.030959966783271344742975312533739", "0.99952062532835145841769784962153"),
    (12345.678, "-0.70408131375338158541456649062672", "0.71011935871606277364871599716355"),
    (999999.5, "-0.75625108756167799302977671200302", "0.65428150865035093481204375571012"),
    (1e-9, "1.0000000000000000621149247911132e-9", "0.9999999999999999995"),
];
const SQRT_EXP_LN: [(f64, &str, &str, &str); 8] = [
    (
        0.5,
        "0.70710678118654752440084436210485",
        "1.6487212707001281468486507878142",
        "-0.69314718055994530941723212145818",
    ),
    (
        2.0,
        "1.4142135623730950488016887242097",
        "7.389056098930650227230427460575",
        "0.69314718055994530941723212145818",
    ),
    (
        1e-9,
        "0.000031622776601683794304747361977682",
        "1.0000000010000000005000000624483",
        "-20.723265836946411093880331634379",
    ),
    (
        1.0000000001,
        "1.0000000000500000041357685497477",
        "2.7182818287308734407109481029593",
        "1.0000000826903709908196694080358e-10",
    ),
    (
        core::f64::consts::PI,
        "1.7724538509055159927515191031392",
        "23.140692632779266171811570089362",
        "1.1447298858494001351617090261593",
    ),
    (
        123.456,
        "11.111075555498666622751443889492",
        "4.1329443527781061358339509746105e+53",
        "4.8158848172832639079727026410954",
    ),
    (
        650.0,
        "25.495097567963924150141120545114",
        "1.9561999213702718868215668498271e+282",
        "6.4769723628896827946722382294759",
    ),
    (1e-150, "1.0000000000000000031476791160865e-75", "1.0", "-345.38776394910685259640335997048"),
];
const ATAN2: [(f64, f64, &str); 6] = [
    (0.5, 2.0, "0.24497866312686415417208248121128"),
    (1.0, -1.0, "2.3561944901923449288469825374596"),
    (-3.0, 0.25, "-1.487655094906455389320653376989"),
    (1e-9, -1.0, "3.1415926525897932384626433213312"),
    (-7.0, -1e-5, "-1.5707977553663251896881926833701"),
    (0.1, 0.1, "0.78539816339744830961566084581988"),
];

#[test]
fn values_are_those_of_mpmath() {
    let check = |got: f64, wide: Dd, truth: &str, floor: f64| {
        let truth = digits(truth);
        assert!(error(got, truth, floor) < 3e-16, "{got} against {truth:?}");
        assert!(error(wide, truth, floor) < 3e-31, "{wide:?} against {truth:?}");
    };
    for (x, sine, cosine) in SIN_COS {
        let ((s, c), wide) = (Real::sin_cos(x), Dd::from(x).sin_cos());
        check(s, wide.0, sine, if x.abs() < 1e-3 { 0.0 } else { 1.0 });
        check(c, wide.1, cosine, 1.0);
    }
    for (x, root, exponential, logarithm) in SQRT_EXP_LN {
        let wide = Dd::from(x);
        check(Real::sqrt(x), wide.sqrt(), root, 0.0);
        // The double-double exponential of 650 carries the error of 650 itself.
        let got = (Real::exp(x), wide.exp());
        assert!(error(got.0, digits(exponential), 0.0) < 3e-16);
        assert!(error(got.1, digits(exponential), 0.0) < 1e-31 * (1.0 + x.abs()), "{x}: {:?}", got.1);
        check(Real::ln(x), wide.ln(), logarithm, 0.0);
    }
    for (y, x, angle) in ATAN2 {
        check(Real::atan2(y, x), Dd::from(y).atan2(Dd::from(x)), angle, 0.0);
    }
}

#[test]
fn sine_and_cosine_keep_their_stated_accuracy() {
    let mut random = Random(8);
    let worst = |arguments: &mut dyn Iterator<Item = f64>| {
        arguments.fold(0.0f64, |worst, x| {
            let ((s, c), (ws, wc)) = (Real::sin_cos(x), Dd::from(x).sin_cos());
            worst.max(error(s, ws, 1.0)).max(error(c, wc, 1.0))
        })
    };
    let near = worst(&mut (0..200_000).map(|_| random.within(-40.0, 40.0)));
    // Next to the multiples of π/4: the quadrants' edges and the zeros.
    let edges =
        worst(&mut (-60_000..60_000).map(|n| {
            f64::from(n / 2) * core::f64::consts::FRAC_PI_4 * (1.0 + f64::EPSILON * f64::from(n % 2))
        }));
    let far = worst(&mut (0..200_000).map(|_| random.within(-1e6, 1e6)));
    println!("sin_cos: {near:.2e} to 40, {edges:.2e} at edges, {far:.2e} to 1e6");
    assert!(near < 5e-16 && edges < 5e-16 && far < 5e-16);
    for size in [1e7, 1e8, 1e9] {
        let spacing = size * f64::EPSILON;
        let wide = worst(&mut (0..10_000).map(|_| random.within(-size, size)));
        assert!(wide < 5e-16 + spacing, "{wide:e} at {size:e}");
    }
}

#[test]
fn small_sines_keep_relative_accuracy() {
    let mut random = Random(9);
    for _ in 0..50_000 {
        let x = random.magnitude(-300.0, 0.0);
        let (s, _) = Real::sin_cos(x);
        assert!(error(s, Dd::from(x).sin_cos().0, 0.0) < 3e-16, "{x:e}");
    }
}

/// Every function of the trait at one or two arguments, by name.
fn everything<S: Real>(x: S, y: S) -> Vec<(&'static str, S)> {
    let ((sin, cos), e) = (x.sin_cos(), S::exp_coefficients(x.abs()));
    vec![
        ("add", x + y),
        ("sub", x - y),
        ("mul", x * y),
        ("div", x / y),
        ("neg", -x),
        ("abs", x.abs()),
        ("max", x.max(y)),
        ("recip", x.recip()),
        ("sqrt", x.abs().sqrt()),
        ("sin", sin),
        ("cos", cos),
        ("atan2", x.atan2(y)),
        ("exp", x.exp()),
        ("ln", x.abs().ln()),
        ("cube", x.powi(3)),
        ("power", x.powi(-7)),
        ("select", S::select(x.below(y), x * y, x + y)),
        ("finite", S::select(x.is_finite(), x, y)),
        ("w", e.w),
        ("k", e.k),
        ("c", e.c),
        ("g", e.g),
    ]
}

/// The same in num-dual; the last four in closed form.
fn elsewhere<D: DualNum<Primitive = f64> + Copy>(x: D, y: D) -> Vec<D> {
    let negative = x.re() < 0.0;
    let abs = if negative { -x } else { x };
    let (max, select) = if x.re() < y.re() { (y, x * y) } else { (x, x + y) };
    let angle = abs.sqrt();
    let (s, c) = (angle * 0.5).sin_cos();
    let k = s / angle;
    vec![
        x + y,
        x - y,
        x * y,
        x / y,
        -x,
        abs,
        max,
        x.recip(),
        abs.sqrt(),
        x.sin(),
        x.cos(),
        x.atan2(y),
        x.exp(),
        abs.ln(),
        x.powi(3),
        x.powi(-7),
        select,
        x,
        c,
        k,
        (angle - angle.sin()) / angle.powi(3),
        (-(angle * 0.5 / (angle * 0.5).tan()) + 1.0) / abs,
    ]
}

/// Arguments at which the closed forms above lose at most two digits: 0.3 < |x| < 30, away from 4π².
fn moderate(random: &mut Random) -> (f64, f64) {
    (random.magnitude(-0.5, 1.4), random.magnitude(-0.5, 1.4))
}

#[test]
fn first_derivatives_are_those_of_num_dual() {
    let mut random = Random(10);
    for _ in 0..2_000 {
        let (x, y) = moderate(&mut random);
        let (along, across) = ([1.0, 0.0, random.within(-1.0, 1.0)], [0.0, 1.0, random.within(-1.0, 1.0)]);
        let ours = everything(Dual { re: x, eps: along }, Dual { re: y, eps: across });
        for (i, (u, v)) in along.into_iter().zip(across).enumerate() {
            let theirs = elsewhere(Dual64::new(x, u), Dual64::new(y, v));
            for ((name, a), b) in ours.iter().zip(&theirs) {
                let gap = |a: f64, b: f64| (a - b).abs() / b.abs().max(1.0);
                assert!(gap(a.re, b.re) < 4e-14, "{name}({x}, {y}): {} against {}", a.re, b.re);
                assert!(gap(a.eps[i], b.eps) < 4e-13, "{name}'({x}, {y}): {} against {}", a.eps[i], b.eps);
            }
        }
    }
}

#[test]
fn second_derivatives_are_those_of_num_dual() {
    let mut random = Random(11);
    for _ in 0..2_000 {
        let (x, y) = moderate(&mut random);
        let [a, b, c, d]: [f64; 4] = core::array::from_fn(|_| random.within(-1.0, 1.0));
        let nested = |re, first, second| Dual {
            re: Dual { re, eps: [first] },
            eps: [Dual { re: second, eps: [0.0f64] }],
        };
        let ours = everything::<Dual<Dual<f64, 1>, 1>>(nested(x, a, b), nested(y, c, d));
        let theirs = elsewhere(HyperDual64::new(x, a, b, 0.0), HyperDual64::new(y, c, d, 0.0));
        for ((name, u), v) in ours.iter().zip(&theirs) {
            let pairs = [(u.re.eps[0], v.eps1), (u.eps[0].re, v.eps2), (u.eps[0].eps[0], v.eps1eps2)];
            for (got, want) in pairs {
                let gap = (got - want).abs() / want.abs().max(1.0);
                assert!(gap < 1e-12, "{name}''({x}, {y}): {got} against {want}");
            }
        }
    }
}

#[test]
fn derivatives_are_the_closed_forms() {
    let mut random = Random(12);
    for _ in 0..1_000 {
        let x = Dd::from(random.within(0.3, 6.0));
        let v: Dual<Dual<Dd, 1>, 1> =
            Dual { re: Dual { re: x, eps: [Dd::ONE] }, eps: [Dual { re: Dd::ONE, eps: [Dd::ZERO] }] };
        let ((s, c), e, one) = (x.sin_cos(), x.exp(), Dd::ONE);
        let table = [
            (v.sqrt(), one / (x.sqrt() * 2.0), -one / (x.sqrt() * x * 4.0)),
            (v.sin_cos().0, c, -s),
            (v.sin_cos().1, -s, -c),
            (v.exp(), e, e),
            (v.ln(), one / x, -one / (x * x)),
            (v.recip(), -one / (x * x), Dd::from(2.0) / (x * x * x)),
            (v.powi(6), x.powi(5) * 6.0, x.powi(4) * 30.0),
            (v.atan2(Real::lift(2.0)), Dd::from(2.0) / (x * x + 4.0), -x * 4.0 / (x * x + 4.0).powi(2)),
        ];
        for (got, first, second) in table {
            assert!(error(got.eps[0].re, first, 1.0) < 1e-29);
            assert!(error(got.re.eps[0], first, 1.0) < 1e-29);
            assert!(error(got.eps[0].eps[0], second, 1.0) < 1e-29);
        }
    }
}

/// A double of any kind: moderate, of any magnitude, or any bit pattern at all.
fn wild(random: &mut Random) -> f64 {
    match random.bits() % 4 {
        0 => random.within(-10.0, 10.0),
        1 => random.magnitude(-300.0, 300.0),
        2 => random.magnitude(-10.0, 7.0),
        _ => f64::from_bits(random.bits()),
    }
}
fn identical(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn a_lane_gives_the_bits_of_its_own_run() {
    let mut random = Random(13);
    for _ in 0..50_000 {
        let [x, y]: [[f64; 4]; 2] = core::array::from_fn(|_| core::array::from_fn(|_| wild(&mut random)));
        let together = everything(F64x4::new(x), F64x4::new(y));
        for i in 0..4 {
            for ((name, a), (_, b)) in together.iter().zip(everything(x[i], y[i])) {
                assert!(identical(a.lane(i), b), "{name}({:e}, {:e}): {:e} or {b:e}", x[i], y[i], a.lane(i));
            }
        }
    }
}

#[test]
fn a_lane_of_a_dual_gives_the_bits_of_its_own_run() {
    let mut random = Random(14);
    for _ in 0..20_000 {
        let [x, y]: [[[f64; 4]; 3]; 2] =
            core::array::from_fn(|_| core::array::from_fn(|_| core::array::from_fn(|_| wild(&mut random))));
        let wide =
            |v: [[f64; 4]; 3]| Dual { re: F64x4::new(v[0]), eps: [F64x4::new(v[1]), F64x4::new(v[2])] };
        let together = everything(wide(x), wide(y));
        for i in 0..4 {
            let narrow = |v: [[f64; 4]; 3]| Dual { re: v[0][i], eps: [v[1][i], v[2][i]] };
            for ((name, a), (_, b)) in together.iter().zip(everything(narrow(x), narrow(y))) {
                assert!(identical(a.re.lane(i), b.re), "{name} of {:?}", narrow(x));
                for j in 0..2 {
                    assert!(identical(a.eps[j].lane(i), b.eps[j]), "{name}' of {:?}", narrow(x));
                }
            }
        }
    }
}

#[test]
fn masks_hold_one_truth_value_per_lane() {
    let half = F64x4::new([0.0, 1.0, 2.0, f64::NAN]).below(F64x4::lift(1.5));
    let show = |m: Mask4| F64x4::select(m, F64x4::one(), F64x4::zero()).to_array();
    assert_eq!(show(half), [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(show(half.not()), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(show(half.and(Mask4::splat(false))), [0.0; 4]);
    assert_eq!(show(half.or(Mask4::splat(true))), [1.0; 4]);
    assert!(half.any() && !half.all() && Mask4::splat(true).all() && !Mask4::splat(false).any());
    let finite = F64x4::new([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX]).is_finite();
    assert_eq!(show(finite), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn the_largest_lane_is_reported_and_a_nan_is_not_hidden() {
    assert_eq!(F64x4::new([-3.0, -1.0, -2.0, -7.0]).largest(), -1.0);
    for i in 0..4 {
        let mut lanes = [1.0, 5.0, -2.0, 3.0];
        lanes[i] = f64::NAN;
        assert!(F64x4::new(lanes).largest().is_nan(), "lane {i}");
        assert!(Dual::<F64x4, 2>::constant(F64x4::new(lanes)).largest().is_nan());
    }
    assert!(Real::largest(f64::NAN).is_nan() && Dd::from(f64::NAN).largest().is_nan());
}
