//! The four vectorial maps on SO(3) and SE(3): increments, tangents and logarithms at every angle, against dual
//! numbers and against matrix functions of the 6x6 generator.

use crate::probe::Random;
use core::f64::consts::{PI, TAU};
use nalgebra::{Matrix3, Matrix6, Vector3};
use polhode::body::Dynamics;
use polhode::group::{
    Cayley, Coordinates, EulerRodrigues, Exponential, Group, Map, Rotation, Se3, So3, WienerMilenkovic, lift,
};
use polhode::scalar::{Dual, F64x4, Real};

/// A map with its own formula for |p|, and its matrix function.
trait Chart: Map {
    /// Angles below this are in the domain of the map.
    const DOMAIN: f64;
    fn length(angle: f64) -> f64;
    /// The motion tensor of the generator, from the definition of the map as a function of matrices.
    fn function(q: &Matrix6<f64>) -> Matrix6<f64>;
}
fn cayley(q: &Matrix6<f64>) -> Matrix6<f64> {
    let i = Matrix6::identity();
    (i - q * 0.5).try_inverse().unwrap() * (i + q * 0.5)
}
impl Chart for Exponential {
    const DOMAIN: f64 = TAU;
    fn length(angle: f64) -> f64 {
        angle
    }
    fn function(q: &Matrix6<f64>) -> Matrix6<f64> {
        // Taylor series of a sixteenth, squared four times.
        let mut term = Matrix6::identity();
        let mut sum = term;
        for n in 1..25 {
            term = term * q / (16.0 * f64::from(n));
            sum += term;
        }
        (0..4).fold(sum, |m, _| m * m)
    }
}
impl Chart for EulerRodrigues {
    const DOMAIN: f64 = PI;
    fn length(angle: f64) -> f64 {
        2.0 * (angle / 2.0).sin()
    }
    fn function(q: &Matrix6<f64>) -> Matrix6<f64> {
        // e^{iφ} = (√(1 - p²/4) + i p/2)², with the root by the iteration of Denman and Beavers.
        let i = Matrix6::identity();
        let (mut y, mut z) = (i + q * q * 0.25, i);
        for _ in 0..60 {
            let (a, b) = (y.try_inverse().unwrap(), z.try_inverse().unwrap());
            (y, z) = ((y + b) * 0.5, (z + a) * 0.5);
        }
        let half = y + q * 0.5;
        half * half
    }
}
impl Chart for Cayley {
    const DOMAIN: f64 = PI;
    fn length(angle: f64) -> f64 {
        2.0 * (angle / 2.0).tan()
    }
    fn function(q: &Matrix6<f64>) -> Matrix6<f64> {
        cayley(q)
    }
}
impl Chart for WienerMilenkovic {
    const DOMAIN: f64 = TAU;
    fn length(angle: f64) -> f64 {
        4.0 * (angle / 4.0).tan()
    }
    fn function(q: &Matrix6<f64>) -> Matrix6<f64> {
        let half = cayley(&(q * 0.5));
        half * half
    }
}

/// The pose of an increment.
fn motion<G: Dynamics, M: Map, S: Real>(psi: &G::Vector<S>) -> G::Pose<S> {
    G::advance(&G::identity(), &G::increment(M::default(), psi))
}
/// The parts of a pose.
fn parts<G: Dynamics, S: Real>(pose: &G::Pose<S>) -> (Rotation<S>, Vector3<S>) {
    let at = G::kinematics(S::zero(), pose, &G::Vector::<S>::origin());
    (at.attitude, at.position)
}
/// The parameters with a rotation by `angle` about a random axis, and a random linear part.
fn parameters<G: Dynamics, M: Chart>(angle: f64, random: &mut Random) -> G::Vector<f64> {
    G::vector(&random.vector(), &(random.axis() * M::length(angle)))
}
fn vector<G: Dynamics>(random: &mut Random) -> G::Vector<f64> {
    G::vector(&random.vector(), &random.vector())
}
/// How much the map magnifies a rounding error at this angle: it or its inverse is steep at the edge.
fn condition<M: Chart>(angle: f64) -> f64 {
    if M::DOMAIN == PI { 1.0 / (angle / 2.0).cos() } else { 1.0 }
}

/// Every decade, both sides of every switch of the code (s = 0.036 and (π/2)², sin²(φ/2) = 0.01), and up to π.
fn angles<M: Chart>() -> Vec<f64> {
    let mut all =
        vec![0.0, 1e-300, 1e-160, 1e-12, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2, 0.5, 1.0, 2.0, 3.0, PI - 1e-6];
    for switch in [2.4674f64.sqrt(), PI / 2.0, 0.036f64.sqrt(), 2.0 * 0.1f64.asin()] {
        all.extend([-1e-3, -1e-9, -1e-15, 0.0, 1e-15, 1e-9, 1e-3].map(|d| switch * (1.0 + d)));
    }
    if M::DOMAIN > PI {
        all.extend([PI - 1e-12, PI]);
    }
    all
}
/// And beyond π, where the parameters of the shorter rotation are others.
fn long_angles<M: Chart>() -> Vec<f64> {
    let mut all = angles::<M>();
    if M::DOMAIN > PI {
        all.extend([PI + 1e-9, 4.0, 5.0]);
    }
    all
}
fn each<M: Chart>(seed: u64, angles: Vec<f64>, mut test: impl FnMut(f64, &mut Random)) {
    let mut random = Random(seed);
    assert!(angles.iter().all(|a| *a < M::DOMAIN));
    for angle in angles {
        for _ in 0..20 {
            test(angle, &mut random);
        }
    }
}

fn increments_are_orthonormal<G: Dynamics, M: Chart>() {
    each::<M>(1, long_angles::<M>(), |angle, random| {
        let (r, _) = parts::<G, f64>(&motion::<G, M, f64>(&parameters::<G, M>(angle, random)));
        let (q, m) = (r.q_wxyz(), r.matrix());
        assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 2e-15, "{angle}: {q:?}");
        assert!(
            (m.transpose() * m - Matrix3::identity()).norm() < 8e-15 && (m.determinant() - 1.0).abs() < 4e-15
        );
    });
}

fn increments_turn_by_their_angle<G: Dynamics, M: Chart>() {
    each::<M>(2, long_angles::<M>(), |angle, random| {
        let psi = parameters::<G, M>(angle, random);
        let (r, _) = parts::<G, f64>(&motion::<G, M, f64>(&psi));
        let p = G::angular(&psi);
        let axis = if angle == 0.0 { p } else { p / M::length(angle) };
        let ([w, x, y, z], (s, c)) = (r.q_wxyz(), (angle / 2.0).sin_cos());
        let gap = (Vector3::new(x, y, z) - axis * s).norm().hypot(w - c);
        assert!(gap < 1e-15 * condition::<M>(angle), "{angle}: {gap:e}");
    });
}

fn opposite_parameters_give_the_inverse<G: Dynamics, M: Chart>() {
    each::<M>(3, long_angles::<M>(), |angle, random| {
        let psi = parameters::<G, M>(angle, random);
        let (there, back) = (motion::<G, M, f64>(&psi), motion::<G, M, f64>(&-psi));
        let size = 1.0 + parts::<G, f64>(&there).1.norm();
        let (turn, shift) = G::distance(&G::inverse(&there), &back);
        assert!(turn < 2e-15 && shift < 4e-15 * size, "{angle}: {turn:e} {shift:e}");
        let (turn, shift) = G::distance(&G::compose(&there, &back), &G::identity());
        assert!(turn < 2e-15 && shift < 4e-15 * size, "{angle}: {turn:e} {shift:e}");
    });
}

fn the_tangent_is_the_derivative_of_the_increment<G: Dynamics, M: Chart>() {
    each::<M>(4, long_angles::<M>(), |angle, random| {
        let (psi, rate) = (parameters::<G, M>(angle, random), vector::<G>(random));
        let moving = G::Vector::<Dual<f64, 1>>::generate(|i| Dual { re: psi.at(i), eps: [rate.at(i)] });
        let (attitude, position) = parts::<G, Dual<f64, 1>>(&motion::<G, M, _>(&moving));
        let (r, dr) = (attitude.matrix().map(|x| x.re), attitude.matrix().map(|x| x.eps[0]));
        let spin = r.transpose() * dr;
        let omega = Vector3::new(spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]);
        let v = G::vector(&(r.transpose() * position.map(|x| x.eps[0])), &omega);
        let gap = (G::tangent(M::default(), &psi, &rate) - v).length() / v.length().max(1.0);
        assert!(gap < 1e-14 * condition::<M>(angle), "{angle}: {gap:e}");
    });
}

fn the_inverse_tangent_inverts_the_tangent<G: Dynamics, M: Chart>() {
    each::<M>(5, long_angles::<M>(), |angle, random| {
        let (psi, rate) = (parameters::<G, M>(angle, random), vector::<G>(random));
        let there = G::tangent(M::default(), &psi, &rate);
        let gap = (G::tangent_inverse(M::default(), &psi, &there) - rate).length() / there.length().max(1.0);
        assert!(gap < 2e-14 * condition::<M>(angle), "{angle}: {gap:e}");
        let back = G::tangent_inverse(M::default(), &psi, &rate);
        let gap =
            (G::tangent(M::default(), &psi, &back) - rate).length() / (1.0 + there.length() * back.length());
        assert!(gap < 2e-14 * condition::<M>(angle), "{angle}: {gap:e}");
    });
}

fn the_parameters_invert_the_increment<G: Dynamics, M: Chart>() {
    each::<M>(6, angles::<M>(), |angle, random| {
        let psi = parameters::<G, M>(angle, random);
        let found = G::parameters(M::default(), &motion::<G, M, f64>(&psi));
        let gap = (found - psi).length() / psi.length().max(1.0);
        // At π exactly, the opposite parameters describe the same rotation.
        assert!(gap < 1e-14 * condition::<M>(angle) || angle == PI, "{angle}: {gap:e}");
        let pose = motion::<G, M, f64>(&psi);
        let (turn, shift) = G::distance(&motion::<G, M, f64>(&found), &pose);
        let shift = shift / (1.0 + parts::<G, f64>(&pose).1.norm());
        let bound = 1e-14 * condition::<M>(angle);
        assert!(turn < bound && shift < bound, "{angle}: {turn:e} {shift:e}");
        // Small rotations keep their relative accuracy.
        let (p, known) = (G::angular(&found), G::angular(&psi));
        assert!(angle > 1e-2 || (p - known).norm() <= 1e-15 * known.norm(), "{angle}: {p} {known}");
    });
}

fn the_parameters_have_the_inverse_tangent_as_their_derivative<G: Dynamics, M: Chart>() {
    each::<M>(7, angles::<M>(), |angle, random| {
        if angle == PI {
            return;
        }
        let (psi, v) = (parameters::<G, M>(angle, random), vector::<G>(random));
        let still: G::Vector<Dual<f64, 1>> = lift(&psi);
        let small = G::Vector::<Dual<f64, 1>>::generate(|i| Dual { re: 0.0, eps: [v.at(i)] });
        let moved = G::compose(&motion::<G, M, _>(&still), &motion::<G, M, _>(&small));
        let found = G::parameters(M::default(), &moved);
        let slope = G::Vector::<f64>::generate(|i| found.at(i).eps[0]);
        let want = G::tangent_inverse(M::default(), &psi, &v);
        let gap = (slope - want).length() / want.length();
        assert!(gap < 2e-14 * condition::<M>(angle), "{angle}: {gap:e}");
    });
}

fn lanes_give_the_bits_of_their_own_runs<G: Dynamics, M: Chart>() {
    let mut random = Random(8);
    let angles = angles::<M>();
    for _ in 0..500 {
        let mut pick = || {
            let angle = angles[random.bits() as usize % angles.len()];
            parameters::<G, M>(angle, &mut random)
        };
        let psi = [pick(), pick(), pick(), pick()];
        let wide = G::Vector::<F64x4>::generate(|i| F64x4::new(psi.map(|p| p.at(i))));
        let rate = G::vector(&Vector3::x(), &Vector3::y());
        let (a, u) = parts::<G, F64x4>(&motion::<G, M, _>(&wide));
        let log = G::parameters(M::default(), &motion::<G, M, _>(&wide));
        let tangent = G::tangent(M::default(), &wide, &lift(&rate));
        let inverse = G::tangent_inverse(M::default(), &wide, &lift(&rate));
        for (lane, psi) in psi.iter().enumerate() {
            let pose = motion::<G, M, f64>(psi);
            let (b, v) = parts::<G, f64>(&pose);
            assert_eq!(a.q_wxyz().map(|x| x.lane(lane)), b.q_wxyz());
            assert_eq!(u.map(|x| x.lane(lane)), v);
            let narrow = |x: &G::Vector<F64x4>| G::Vector::<f64>::generate(|i| x.at(i).lane(lane));
            assert_eq!(narrow(&log), G::parameters(M::default(), &pose));
            assert_eq!(narrow(&tangent), G::tangent(M::default(), psi, &rate));
            assert_eq!(narrow(&inverse), G::tangent_inverse(M::default(), psi, &rate));
        }
    }
}

macro_rules! suite {
    ($($law:ident)*) => {$(
        mod $law {
            use super::*;
            suite!($law exponential Exponential, euler_rodrigues EulerRodrigues, cayley_map Cayley,
                wiener_milenkovic WienerMilenkovic);
        }
    )*};
    ($law:ident $($name:ident $M:ident),*) => {$(
        #[test]
        fn $name() {
            super::$law::<So3, $M>();
            super::$law::<Se3, $M>();
        }
    )*};
}
suite! {
    increments_are_orthonormal
    increments_turn_by_their_angle
    opposite_parameters_give_the_inverse
    the_tangent_is_the_derivative_of_the_increment
    the_inverse_tangent_inverts_the_tangent
    the_parameters_invert_the_increment
    the_parameters_have_the_inverse_tangent_as_their_derivative
    lanes_give_the_bits_of_their_own_runs
}

fn tilde(v: &Vector3<f64>) -> Matrix3<f64> {
    v.cross_matrix()
}
/// [[a, b], [0, a]].
fn upper(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix6<f64> {
    let mut m = Matrix6::zeros();
    m.fixed_view_mut::<3, 3>(0, 0).copy_from(a);
    m.fixed_view_mut::<3, 3>(0, 3).copy_from(b);
    m.fixed_view_mut::<3, 3>(3, 3).copy_from(a);
    m
}

fn a_motion_is_the_matrix_function_of_its_generator<M: Chart>() {
    let moderate = angles::<M>().into_iter().filter(|a| *a <= 3.0).collect();
    each::<M>(9, moderate, |angle, random| {
        let psi = parameters::<Se3, M>(angle, random);
        let generator = upper(&tilde(&Se3::angular(&psi)), &tilde(&Se3::linear(&psi)));
        let (attitude, position) = parts::<Se3, f64>(&motion::<Se3, M, f64>(&psi));
        let r = attitude.matrix();
        let want = M::function(&generator);
        let gap = (upper(&r, &(tilde(&position) * r)) - want).norm() / want.norm();
        assert!(gap < 2e-14 * condition::<M>(angle), "{angle}: {gap:e}");
    });
}

fn the_position_is_the_spatial_tangent_of_the_linear_part<M: Chart>() {
    each::<M>(10, long_angles::<M>(), |angle, random| {
        let psi = parameters::<Se3, M>(angle, random);
        let (p, q) = (Se3::angular(&psi), Se3::linear(&psi));
        let (attitude, position) = parts::<Se3, f64>(&motion::<Se3, M, f64>(&psi));
        // H(p) = R times the body tangent.
        let want = attitude.rotate(&So3::tangent(M::default(), &p, &q));
        assert!((position - want).norm() < 4e-15 * (1.0 + want.norm()), "{angle}");
        assert_eq!(attitude, Rotation::from_parameters(M::default(), &p));
    });
}

#[test]
fn motions_are_functions_of_the_generator() {
    a_motion_is_the_matrix_function_of_its_generator::<Exponential>();
    a_motion_is_the_matrix_function_of_its_generator::<EulerRodrigues>();
    a_motion_is_the_matrix_function_of_its_generator::<Cayley>();
    a_motion_is_the_matrix_function_of_its_generator::<WienerMilenkovic>();
}

#[test]
fn positions_follow_by_transference() {
    the_position_is_the_spatial_tangent_of_the_linear_part::<Exponential>();
    the_position_is_the_spatial_tangent_of_the_linear_part::<EulerRodrigues>();
    the_position_is_the_spatial_tangent_of_the_linear_part::<Cayley>();
    the_position_is_the_spatial_tangent_of_the_linear_part::<WienerMilenkovic>();
}

#[test]
fn the_exponential_of_parallel_parameters_is_a_homomorphism() {
    let mut random = Random(11);
    for _ in 0..1_000 {
        let (psi, a, b) = (vector::<Se3>(&mut random), random.within(-3.0, 3.0), random.within(-3.0, 3.0));
        let step = |t: f64| motion::<Se3, Exponential, f64>(&(psi * t));
        let (turn, shift) = Se3::distance(&Se3::compose(&step(a), &step(b)), &step(a + b));
        assert!(turn < 4e-15 && shift < 2e-14, "{turn:e} {shift:e}");
    }
}
