//! Attitudes: quaternion, matrix and rotation vector against mpmath, at π, and after millions of compositions.

use crate::probe::{Random, digits};
use core::f64::consts::PI;
use nalgebra::{Matrix3, Vector3};
use polhode::group::{Coefficients, Map, Rotation};
use polhode::scalar::{Dual, Real};

/// Rotation vector, quaternion w x y z, matrix by rows: mpmath, 60 digits.
type Attitude = ([f64; 3], [&'static str; 4], [&'static str; 9]);
const ATTITUDES: [Attitude; 4] = [
    (
        [0.3, -0.2, 0.1],
        [
            "0.9825509821552589678542",
            "0.1491265299745784285306",
            "-0.09941768664971896155171",
            "0.04970884332485948077585",
        ],
        [
            "0.9752903089530457304057",
            "-0.1273345749176302638822",
            "-0.1805400766943977258397",
            "0.0680313164049400223425",
            "0.9505806179060914690414",
            "-0.3029327134026371100623",
            "0.2101917059507428466096",
            "0.2831649605650736943868",
            "0.9357548032779189072848",
        ],
    ),
    (
        [1.5, 1.0, -2.0],
        [
            "0.2226239336091729150451",
            "0.5431056053291841658994",
            "0.3620704035527894439329",
            "-0.7241408071055788878658",
        ],
        [
            "-0.3109497712887980278346",
            "0.7157070813161699776026",
            "-0.6253587878085135320746",
            "0.07086278145710883909814",
            "-0.6386872141109975347932",
            "-0.766196520962667138073",
            "-0.9477809377380441013268",
            "-0.2825632960683712841947",
            "0.1478826486622812819075",
        ],
    ),
    (
        [-0.02, 3.0, 0.5],
        [
            "0.05005189291693738796926",
            "-0.006567575306314293908961",
            "0.9851362959471440658369",
            "0.1641893826578573443061",
        ],
        [
            "-0.9949033499400546472819",
            "-0.02937589241901105200105",
            "0.09645922051646412445394",
            "0.003496065176545477659743",
            "0.9459974271540551693284",
            "0.3241552796827308031391",
            "-0.1007725250568750535108",
            "0.3228404013789085419253",
            "-0.9410733092757262537762",
        ],
    ),
    (
        [1e-5, 2e-5, -3e-5],
        [
            "0.9999999998250000000051",
            "0.000004999999999708333742354",
            "0.000009999999999416667484707",
            "-0.00001499999999912500038003",
        ],
        [
            "0.9999999993500000000758",
            "0.00003000009999299998909387",
            "0.00001999984999533335246971",
            "-0.00002999989999300001242717",
            "0.9999999995000000000583",
            "-0.00001000029999766663248489",
            "-0.00002000014999533331746974",
            "0.000009999699997666702484828",
            "0.9999999997500000000292",
        ],
    ),
];

fn quaternion(r: &Rotation<f64>) -> [f64; 4] {
    r.q_wxyz()
}
fn vector_part(r: &Rotation<f64>) -> Vector3<f64> {
    let [_, x, y, z] = quaternion(r);
    Vector3::new(x, y, z)
}
/// The largest difference between two quaternions, as they are.
fn gap(a: &Rotation<f64>, b: &Rotation<f64>) -> f64 {
    let (a, b) = (quaternion(a), quaternion(b));
    (0..4).fold(0.0, |m, i| m.max((a[i] - b[i]).abs()))
}
/// A rotation by any angle up to π, evenly often near both ends.
fn any(random: &mut Random) -> Rotation<f64> {
    let angle = match random.bits() % 3 {
        0 => random.within(0.0, PI),
        1 => random.magnitude(-16.0, 0.0).abs(),
        _ => PI - random.magnitude(-16.0, 0.0).abs(),
    };
    turn(angle, &random.axis())
}
fn turn(angle: f64, axis: &Vector3<f64>) -> Rotation<f64> {
    let (s, c) = (angle / 2.0).sin_cos();
    Rotation::from_q_wxyz([c, s * axis.x, s * axis.y, s * axis.z])
}
fn defect(m: &Matrix3<f64>) -> f64 {
    (m.transpose() * m - Matrix3::identity()).abs().max()
}

#[test]
fn the_three_forms_are_those_of_mpmath() {
    for (psi, q, m) in ATTITUDES {
        let psi = Vector3::from(psi);
        let q = q.map(|x| digits(x).to_f64());
        let m = Matrix3::from_row_slice(&m.map(|x| digits(x).to_f64()));
        let forms =
            [Rotation::from_rotation_vector(&psi), Rotation::from_q_wxyz(q), Rotation::from_matrix(&m)];
        for r in forms {
            for (a, b) in r.q_wxyz().iter().zip(&q) {
                assert!((a - b).abs() < 4e-16, "{a} against {b}");
            }
            assert!((r.matrix() - m).abs().max() < 8e-16);
            assert!((r.rotation_vector() - psi).norm() < 2e-15);
        }
    }
}

#[test]
fn the_forms_convert_into_each_other_at_every_angle() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let r = any(&mut random);
        assert!(gap(&Rotation::from_matrix(&r.matrix()), &r) < 2e-15, "{r:?}");
        assert!(gap(&Rotation::from_rotation_vector(&r.rotation_vector()), &r) < 1e-15, "{r:?}");
        let scale = random.magnitude(-100.0, 100.0);
        let long = r.q_wxyz().map(|x| x * scale);
        assert!(r.distance(&Rotation::from_q_wxyz(long)) < 2e-15);
    }
}

#[test]
fn a_small_rotation_vector_keeps_relative_accuracy() {
    let mut random = Random(2);
    for _ in 0..10_000 {
        let psi = random.axis() * random.magnitude(-150.0, 0.4);
        let found = Rotation::from_rotation_vector(&psi).rotation_vector();
        assert!((found - psi).norm() < 1e-15 * psi.norm(), "{psi}");
    }
}

#[test]
fn the_rotation_vector_is_accurate_next_to_pi() {
    let mut random = Random(3);
    for exponent in -160..=-60 {
        let (delta, axis) = (10f64.powf(f64::from(exponent) / 10.0), random.axis());
        let (s, c) = ((delta / 2.0).cos(), (delta / 2.0).sin());
        for (w, sign) in [(c, 1.0), (-c, -1.0), (0.0, 1.0), (f64::MIN_POSITIVE, 1.0)] {
            let psi = Rotation::from_q_wxyz([w, s * axis.x, s * axis.y, s * axis.z]).rotation_vector();
            let angle = PI - if w.abs() == c { delta } else { 0.0 };
            assert!((psi - axis * (sign * angle)).norm() < 2e-15, "{delta:e}: {psi}");
            assert!(psi.norm() <= PI + 1e-15);
        }
    }
}

#[test]
fn the_quaternion_of_a_half_turn_is_its_axis() {
    let mut random = Random(4);
    let mut axes: Vec<_> = (0..5_000).map(|_| random.axis()).collect();
    axes.extend([Vector3::x(), Vector3::y(), -Vector3::z()]);
    axes.extend((0..500).map(|_| {
        // Next to a coordinate axis or plane.
        let small = random.magnitude(-18.0, -1.0);
        let (a, b) = (random.axis(), random.bits() % 3);
        Vector3::from_fn(|i, _| if i as u64 == b { small } else { a[i] }).normalize()
    }));
    for n in axes {
        let half = n * n.transpose() * 2.0 - Matrix3::identity();
        let r = Rotation::from_matrix(&half);
        let v = vector_part(&r);
        let gap = (v - n).norm().min((v + n).norm());
        assert!(gap < 1e-15 && quaternion(&r)[0].abs() < 1e-15, "{n}: {gap:e}");
        assert!((r.rotation_vector().norm() - PI).abs() < 1e-15);
    }
}

#[test]
fn the_quaternion_of_a_matrix_is_accurate_next_to_a_half_turn() {
    let mut random = Random(5);
    for _ in 0..5_000 {
        let r = turn(PI - random.magnitude(-16.0, -1.0), &random.axis()).shorter();
        let found = Rotation::from_matrix(&r.matrix());
        assert!(r.distance(&found) < 4e-15 && quaternion(&found)[0] >= 0.0);
    }
}

#[test]
fn the_matrix_has_the_quaternion_as_a_smooth_function() {
    // d/dt of from_matrix(R(t)) is that of the quaternion itself, at every angle.
    let mut random = Random(6);
    for _ in 0..2_000 {
        let (r, rate) = (any(&mut random).shorter(), random.vector());
        let spin = Rotation::from_rotation_vector(&rate.map(|x| Dual { re: 0.0, eps: [x] }));
        let moving: Rotation<Dual<f64, 1>> = r.lift::<Dual<f64, 1>>().compose(&spin);
        let found = Rotation::from_matrix(&moving.matrix());
        let same = if found.q_wxyz().iter().zip(moving.q_wxyz()).map(|(a, b)| a.re * b.re).sum::<f64>() < 0.0
        {
            -1.0
        } else {
            1.0
        };
        for (a, b) in found.q_wxyz().iter().zip(moving.q_wxyz()) {
            assert!((a.eps[0] - same * b.eps[0]).abs() < 4e-15, "{a:?} {b:?}");
        }
    }
}

#[test]
fn composition_is_the_product_of_matrices() {
    let mut random = Random(7);
    for _ in 0..5_000 {
        let (a, b, c, x) = (any(&mut random), any(&mut random), any(&mut random), random.vector());
        let ab = a.compose(&b);
        assert!((ab.matrix() - a.matrix() * b.matrix()).norm() < 4e-15);
        assert!(gap(&ab.compose(&c), &a.compose(&b.compose(&c))) < 2e-15);
        assert!(gap(&a.compose(&a.inverse()), &Rotation::identity()) < 1e-15);
        assert!((a.inverse().matrix() - a.matrix().transpose()).norm() == 0.0);
        assert!((a.rotate(&x) - a.matrix() * x).norm() < 2e-15);
        assert!((a.unrotate(&x) - a.matrix().transpose() * x).norm() < 2e-15);
        assert!((a.unrotate(&a.rotate(&x)) - x).norm() < 4e-15);
        assert!((a.vertical() - a.matrix().transpose() * Vector3::z()).norm() < 1e-15);
        let norm = (a.matrix() - b.matrix()).singular_values().max();
        assert!((a.distance(&b) - norm).abs() < 4e-15);
        assert!((quaternion(&a.shorter())[0] >= 0.0) && a.distance(&a.shorter()) < 1e-15);
    }
}

/// A map whose quaternions are too long by a part in 1e8.
#[derive(Clone, Copy, Debug, Default)]
struct Stretched;
impl Map for Stretched {
    fn name(self) -> &'static str {
        "stretched"
    }
    fn limit(self) -> f64 {
        f64::INFINITY
    }
    fn coefficients<S: Real>(self, s: S) -> Coefficients<S> {
        let e = S::exp_coefficients(s);
        let by = S::lift(1.0 + 1e-8);
        Coefficients { w: e.w * by, k: e.k * by, c: e.c }
    }
    fn hom4_c<S: Real>(self, s: S) -> S {
        S::exp_coefficients(s).c
    }
    fn parameters<S: Real>(self, q: &Rotation<S>) -> Vector3<S> {
        q.rotation_vector()
    }
}

#[test]
fn normalization_repairs_small_deviations() {
    let mut random = Random(8);
    for _ in 0..1_000 {
        let psi = random.axis() * random.within(0.0, PI);
        let bent = Rotation::from_parameters(Stretched, &psi);
        assert!(defect(&bent.matrix()) > 1e-10 || psi.norm() < 0.1);
        assert!((length(&bent) - 1.0).abs() > 9e-9);
        let repaired = bent.normalized();
        assert!((length(&repaired) - 1.0).abs() < 1e-15);
        assert!(gap(&repaired, &Rotation::from_rotation_vector(&psi)) < 1e-15);
        assert!(defect(&repaired.matrix()) < 4e-15);
    }
}
fn length(r: &Rotation<f64>) -> f64 {
    quaternion(r).iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A million, ten of them in long campaigns.
fn many() -> u32 {
    if crate::common::long() { 10_000_000 } else { 1_000_000 }
}

#[test]
fn a_million_compositions_stay_orthonormal() {
    let mut random = Random(9);
    let steps: [Rotation<f64>; 16] =
        core::array::from_fn(|_| Rotation::from_rotation_vector(&(random.vector() * 0.3)));
    let (mut r, mut worst) = (Rotation::identity(), 0.0f64);
    for i in 0..many() as usize {
        r = r.compose(&steps[i % 16]).normalized();
        worst = worst.max((length(&r) - 1.0).abs());
    }
    println!("|q| - 1 = {worst:e}, matrix {:e}", defect(&r.matrix()));
    assert!(worst < 1e-15 && defect(&r.matrix()) < 2e-15);
}

#[test]
fn a_million_turns_about_an_axis_add_up() {
    // The angle of the sum, in multiples of the step: round-off walks, it does not drift.
    let (n, step) = (many(), Vector3::new(0.0, 0.6, 0.8) * (PI / 1024.0));
    let one = Rotation::from_rotation_vector(&step);
    let r = (0..n).fold(Rotation::identity(), |r, _| r.compose(&one).normalized());
    let left = Rotation::from_rotation_vector(&(step * f64::from(n % 2048)));
    println!("after {n} turns: {:e}", r.distance(&left));
    assert!(r.distance(&left) < 1e-16 * f64::from(n));
}
