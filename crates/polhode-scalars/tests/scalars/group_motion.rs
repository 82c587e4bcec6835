//! Maps chosen at run time, the three readings of motion parameters, half motions, and velocities seen from another
//! frame: against the static maps, functions of the 4x4 homogeneous matrix, the exponential and the 6x6 adjoint.

use super::group_motion_bits::image;
use crate::probe::{Random, error};
use core::f64::consts::{PI, TAU};
use core::fmt::Debug;
use nalgebra::{DMatrix, Matrix3, Matrix6, SVector, Vector3};
use polhode::body::Dynamics;
use polhode::group::{
    Coordinates, Exponential, Group, Map, MapKind, Reading, Rotation, Se3, So3, Vectorial, lift,
};
use polhode::scalar::{Dd, Dual, Real};

/// Angles below this are in the domain of the map.
pub(super) fn domain(kind: MapKind) -> f64 {
    match kind {
        MapKind::Exponential | MapKind::WienerMilenkovic => TAU,
        MapKind::EulerRodrigues | MapKind::Cayley => PI,
    }
}
/// |p| of a rotation.
pub(super) fn length(kind: MapKind, angle: f64) -> f64 {
    match kind {
        MapKind::Exponential => angle,
        MapKind::EulerRodrigues => 2.0 * (angle / 2.0).sin(),
        MapKind::Cayley => 2.0 * (angle / 2.0).tan(),
        MapKind::WienerMilenkovic => 4.0 * (angle / 4.0).tan(),
    }
}
/// How much the map magnifies a rounding error: it or its inverse is steep at the edge.
pub(super) fn condition(kind: MapKind, angle: f64) -> f64 {
    match kind {
        MapKind::Exponential => 1.0,
        _ => 1.0 / (angle * PI / (2.0 * domain(kind))).cos(),
    }
}
/// φ/p, dφ/dp and z₁ = sin(φ)/p at s = p·p > 0, in closed form.
pub(super) fn screw<T: Real>(kind: MapKind, s: T) -> [T; 3] {
    let (one, x) = (T::one(), s * T::lift(0.25));
    let half = x.sqrt();
    match kind {
        MapKind::Exponential => [one, one, s.sqrt().sin_cos().0 / s.sqrt()],
        MapKind::EulerRodrigues => {
            let w = (one - x).sqrt();
            [half.atan2(w) / half, w.recip(), w]
        }
        MapKind::Cayley => {
            let b = (one + x).recip();
            [half.atan2(one) / half, b, b]
        }
        MapKind::WienerMilenkovic => {
            let quarter = half * T::lift(0.5);
            let (y, b) = (quarter * quarter, (one + quarter * quarter).recip());
            [quarter.atan2(one) / quarter, b, (one - y) * b * b]
        }
    }
}
/// Where the series of the twist reading ends, as an angle.
pub(super) fn switch(kind: MapKind) -> f64 {
    let root = 0.02f64.sqrt();
    match kind {
        MapKind::EulerRodrigues => 2.0 * root.asin(),
        MapKind::Exponential | MapKind::Cayley => 2.0 * root.atan(),
        MapKind::WienerMilenkovic => 4.0 * root.atan(),
    }
}
/// Every size up to three, and both sides of every switch of the code: that of 1/√(1 + x) is at 0.1, for halves at 0.2.
pub(super) fn angles(kind: MapKind) -> Vec<f64> {
    let mut all = vec![0.0, 1e-160, 1e-9, 1e-5, 1e-3, 0.0999, 0.1, 0.1999, 0.2001, 0.5, 1.0, 2.0, 3.0];
    all.extend([-1e-2, -1e-6, -1e-14, 0.0, 1e-14, 1e-6, 1e-2].map(|d| switch(kind) * (1.0 + d)));
    all
}
/// And beyond π, where the parameters of the shorter rotation are others.
pub(super) fn long_angles(kind: MapKind) -> Vec<f64> {
    let mut all = angles(kind);
    if domain(kind) > PI {
        all.extend([PI, 4.0, 5.0]);
    }
    all
}
pub(super) const READINGS: [Reading; 3] = Reading::ALL;
/// The readings for which SE(3) is not SO(3) at a dual number.
const OTHERS: [Reading; 2] = [Reading::Hom4, Reading::Twist];

/// Runs the test for every map, reading and angle.
pub(super) fn each(
    seed: u64,
    readings: &[Reading],
    angles: fn(MapKind) -> Vec<f64>,
    mut test: impl FnMut(Vectorial, f64, &mut Random),
) {
    let mut random = Random(seed);
    for kind in MapKind::ALL {
        for reading in readings {
            for angle in angles(kind) {
                for _ in 0..20 {
                    test(Vectorial { kind, reading: *reading }, angle, &mut random);
                }
            }
        }
    }
}
/// The parameters with a rotation by `angle` about a random axis, and a random linear part.
pub(super) fn parameters<G: Dynamics>(kind: MapKind, angle: f64, random: &mut Random) -> G::Vector<f64> {
    G::vector(&random.vector(), &(random.axis() * length(kind, angle)))
}
pub(super) fn vector<G: Dynamics>(random: &mut Random) -> G::Vector<f64> {
    G::vector(&random.vector(), &random.vector())
}
/// The pose of an increment.
pub(super) fn pose<G: Dynamics, S: Real>(step: &G::Increment<S>) -> G::Pose<S> {
    G::advance(&G::identity(), step)
}
/// The parts of a pose.
pub(super) fn parts<G: Dynamics, S: Real>(pose: &G::Pose<S>) -> (Rotation<S>, Vector3<S>) {
    let at = G::kinematics(S::zero(), pose, &G::Vector::<S>::origin());
    (at.attitude, at.position)
}
/// The larger of the distances between two poses, that of the positions over their size.
pub(super) fn apart<G: Dynamics>(a: &G::Pose<f64>, b: &G::Pose<f64>) -> f64 {
    let (turn, shift) = G::distance(a, b);
    let shift = shift / (1.0 + parts::<G, f64>(b).1.norm());
    if turn > shift { turn } else { shift }
}

/// The largest error seen, and where.
#[derive(Default)]
struct Worst(f64, String);

impl Worst {
    fn see(&mut self, gap: f64, at: impl Debug) {
        // Not a number is worse than any, and stays.
        if gap.is_nan() || gap > self.0 {
            *self = Worst(gap, format!("{at:?}"));
        }
    }
    #[track_caller]
    fn below(self, bound: f64) {
        println!("{:e} of {bound:e} at {}", self.0, self.1);
        assert!(self.0 < bound, "{:e} at {}", self.0, self.1);
    }
}

#[test]
fn readings_are_one_on_so3_and_for_the_exponential() {
    each(3, &OTHERS, angles, |map, angle, random| {
        let dual = Vectorial { reading: Reading::Dual, ..map };
        let (psi, v) = (parameters::<So3>(map.kind, angle, random), vector::<So3>(random));
        assert_eq!(
            image::<So3, _, f64>(map, &psi, &v),
            image::<So3, _, f64>(dual, &psi, &v),
            "{map:?} {psi:?}"
        );
        if map.kind == MapKind::Exponential {
            let (psi, v) = (parameters::<Se3>(map.kind, angle, random), vector::<Se3>(random));
            assert_eq!(
                image::<Se3, _, f64>(map, &psi, &v),
                image::<Se3, _, f64>(dual, &psi, &v),
                "{map:?} {psi:?}"
            );
        }
    });
}

/// The displacement along the axis is what a reading chooses; across it there is no choice.
#[test]
fn readings_differ_along_the_axis_only() {
    let (mut along, mut across) = (Worst::default(), Worst::default());
    each(4, &READINGS, long_angles, |map, angle, random| {
        let psi = parameters::<Se3>(map.kind, angle, random);
        let (q, p) = (Se3::linear(&psi), Se3::angular(&psi));
        if p.norm_squared() == 0.0 {
            return;
        }
        let [twist, dual, _] = screw(map.kind, Dd::from(p.norm_squared())).map(Dd::to_f64);
        let want = match map.reading {
            Reading::Dual => dual,
            Reading::Hom4 => 1.0,
            Reading::Twist => twist,
        };
        let n = p.normalize();
        let u = Se3::increment(map, &psi).displacement;
        let size = q.norm() * condition(map.kind, angle);
        along.see((u.dot(&n) - want * q.dot(&n)).abs() / size, (map, angle));
        let dual = Se3::increment(Vectorial { reading: Reading::Dual, ..map }, &psi).displacement;
        across.see((u - dual).cross(&n).norm() / size, (map, angle));
    });
    along.below(1e-15);
    across.below(8e-16);
}

/// The sizes of the differences in one case that is far from small.
#[test]
fn readings_differ_by_a_tenth_where_the_angle_is_of_order_one() {
    let (n, q) = (Vector3::new(2.0, -1.0, 2.0) / 3.0, Vector3::new(1.4, -0.8, 1.2));
    let psi = Se3::vector(&q, &(n * 0.8));
    let gap = |kind, a, b| {
        let u = |reading| Se3::increment(Vectorial { kind, reading }, &psi).displacement;
        (u(a) - u(b)).norm()
    };
    let axial = q.dot(&n);
    assert!((1.9..2.1).contains(&q.norm()) && (1.9..2.1).contains(&axial));
    let (atan, asin) = (0.4f64.atan() / 0.4, 0.4f64.asin() / 0.4);
    for (kind, dual, twist) in [
        (MapKind::Cayley, 1.0 / 1.16, atan),
        (MapKind::EulerRodrigues, 1.0 / 0.84f64.sqrt(), asin),
        (MapKind::WienerMilenkovic, 1.0 / 1.04, 0.2f64.atan() / 0.2),
    ] {
        for (a, b, want) in [
            (Reading::Dual, Reading::Hom4, dual - 1.0),
            (Reading::Dual, Reading::Twist, dual - twist),
            (Reading::Hom4, Reading::Twist, twist - 1.0),
        ] {
            let gap = gap(kind, a, b);
            assert!((gap - axial * want.abs()).abs() < 2e-15, "{kind:?} {a:?} {b:?}: {gap}");
            assert!((0.02..0.3).contains(&gap), "{kind:?} {a:?} {b:?}: {gap}");
        }
    }
}

type Square = DMatrix<f64>;

fn cayley(a: &Square) -> Square {
    let i = Square::identity(a.nrows(), a.ncols());
    (&i - a * 0.5).try_inverse().unwrap() * (i + a * 0.5)
}
/// The map as a function of matrices, from its definition.
pub(super) fn function(kind: MapKind, a: &Square) -> Square {
    let i = Square::identity(a.nrows(), a.ncols());
    match kind {
        MapKind::Exponential => {
            // Taylor series of a sixteenth, squared four times.
            let (mut term, mut sum) = (i.clone(), i);
            for n in 1..25 {
                term = term * a / (16.0 * f64::from(n));
                sum += &term;
            }
            (0..4).fold(sum, |m, _| &m * &m)
        }
        MapKind::EulerRodrigues => {
            // e^{iφ} = (√(1 - p²/4) + i p/2)², with the root by the iteration of Denman and Beavers.
            let (mut y, mut z) = (&i + a * a * 0.25, i);
            for _ in 0..30 {
                let (b, c) = (y.clone().try_inverse().unwrap(), z.clone().try_inverse().unwrap());
                (y, z) = ((y + c) * 0.5, (z + b) * 0.5);
            }
            let half = y + a * 0.5;
            &half * &half
        }
        MapKind::Cayley => cayley(a),
        MapKind::WienerMilenkovic => {
            let half = cayley(&(a * 0.5));
            &half * &half
        }
    }
}
/// [[p̃, q], [0, 0]].
fn homogeneous(psi: &SVector<f64, 6>) -> Square {
    let mut a = Square::zeros(4, 4);
    a.view_mut((0, 0), (3, 3)).copy_from(&Se3::angular(psi).cross_matrix());
    a.view_mut((0, 3), (3, 1)).copy_from(&Se3::linear(psi));
    a
}
/// R and u of the homogeneous matrix whose corner is in this column.
fn corner(m: &Square, column: usize) -> (Matrix3<f64>, Vector3<f64>) {
    (m.fixed_view::<3, 3>(0, column).into_owned(), m.fixed_view::<3, 1>(0, column + 3).into_owned())
}

/// Both from one matrix of twice the size: f([[A, Ȧ], [0, A]]) = [[f, ḟ], [0, f]].
#[test]
fn hom4_is_the_function_of_the_homogeneous_matrix_and_its_tangent_the_derivative() {
    let (mut turn, mut shift, mut tangent) = (Worst::default(), Worst::default(), Worst::default());
    each(5, &[Reading::Hom4], long_angles, |map, angle, random| {
        let (psi, rate) = (parameters::<Se3>(map.kind, angle, random), vector::<Se3>(random));
        let mut a = Square::zeros(8, 8);
        for (at, block) in [((0, 0), &psi), ((4, 4), &psi), ((0, 4), &rate)] {
            a.view_mut(at, (4, 4)).copy_from(&homogeneous(block));
        }
        let c = function(map.kind, &a);
        let ((r, u), (dr, du)) = (corner(&c, 0), corner(&c, 4));
        let steep = condition(map.kind, angle);
        let (attitude, position) = parts::<Se3, f64>(&pose::<Se3, f64>(&Se3::increment(map, &psi)));
        turn.see((attitude.matrix() - r).norm() / steep, (map, angle));
        shift.see((position - u).norm() / (1.0 + u.norm()) / steep, (map, angle));
        let spin = r.transpose() * dr;
        let v = Se3::vector(&(r.transpose() * du), &Vector3::new(spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]));
        let gap = (Se3::tangent(map, &psi, &rate) - v).norm() / (1.0 + v.norm());
        tangent.see(gap / steep.powi(2), (map, angle));
    });
    turn.below(8e-15);
    shift.below(2e-15);
    tangent.below(4e-15);
}

#[test]
fn twist_is_the_exponential_of_a_multiple_of_its_parameters() {
    let (mut motion, mut logarithm, mut tangent) = (Worst::default(), Worst::default(), Worst::default());
    each(6, &[Reading::Twist], long_angles, |map, angle, random| {
        let (psi, rate) = (parameters::<Se3>(map.kind, angle, random), vector::<Se3>(random));
        let p = Se3::angular(&psi);
        let s = Dd::from(p.norm_squared());
        // λ = φ/p and 2 dλ/ds = (dφ/dp - λ)/s.
        let (scale, slope) = if s.hi() == 0.0 {
            (1.0, 0.0)
        } else {
            let [scale, along, _] = screw(map.kind, s);
            (scale.to_f64(), ((along - scale) / s).to_f64())
        };
        let steep = condition(map.kind, angle);
        let step = pose::<Se3, f64>(&Se3::increment(map, &psi));
        let want = pose::<Se3, f64>(&Se3::increment(Exponential, &(psi * scale)));
        motion.see(apart::<Se3>(&step, &want) / steep, (map, angle));
        if angle < PI {
            let gap = Se3::parameters(map, &step) * scale - Se3::parameters(Exponential, &step);
            logarithm.see(gap.norm() / (1.0 + psi.norm()) / steep, (map, angle));
        }
        let moving = rate * scale + psi * (slope * p.dot(&Se3::angular(&rate)));
        let v = Se3::tangent(Exponential, &(psi * scale), &moving);
        let gap = (Se3::tangent(map, &psi, &rate) - v).norm() / (1.0 + v.norm());
        tangent.see(gap / steep, (map, angle));
    });
    motion.below(1e-15);
    logarithm.below(6e-16);
    tangent.below(8e-15);
}

#[test]
fn tangents_of_the_readings_are_derivatives_of_the_increment() {
    let mut worst = Worst::default();
    each(7, &OTHERS, long_angles, |map, angle, random| {
        let (psi, rate) = (parameters::<Se3>(map.kind, angle, random), vector::<Se3>(random));
        let moving = SVector::<_, 6>::from_fn(|i, _| Dual { re: psi[i], eps: [rate[i]] });
        let step = Se3::increment(map, &moving);
        let (attitude, position) = parts::<Se3, Dual<f64, 1>>(&pose::<Se3, _>(&step));
        let (r, dr) = (attitude.matrix().map(|x| x.re), attitude.matrix().map(|x| x.eps[0]));
        let spin = r.transpose() * dr;
        let omega = Vector3::new(spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]);
        let v = Se3::vector(&(r.transpose() * position.map(|x| x.eps[0])), &omega);
        let gap = (Se3::tangent(map, &psi, &rate) - v).norm() / (1.0 + v.norm());
        worst.see(gap / condition(map.kind, angle), (map, angle));
    });
    worst.below(2e-15);
}

#[test]
fn inverse_tangents_of_the_readings_invert_the_tangents() {
    let (mut there, mut back) = (Worst::default(), Worst::default());
    each(8, &OTHERS, long_angles, |map, angle, random| {
        let (psi, rate) = (parameters::<Se3>(map.kind, angle, random), vector::<Se3>(random));
        let steep = condition(map.kind, angle);
        let v = Se3::tangent(map, &psi, &rate);
        let gap = (Se3::tangent_inverse(map, &psi, &v) - rate).norm() / (1.0 + v.norm());
        there.see(gap / steep, (map, angle));
        let flat = Se3::tangent_inverse(map, &psi, &rate);
        let gap = (Se3::tangent(map, &psi, &flat) - rate).norm() / (1.0 + v.norm() * flat.norm());
        back.see(gap / steep, (map, angle));
    });
    there.below(3e-15);
    back.below(1e-15);
}

#[test]
fn parameters_of_the_readings_invert_the_increments() {
    let (mut worst, mut slopes) = (Worst::default(), Worst::default());
    each(9, &OTHERS, angles, |map, angle, random| {
        let (psi, v) = (parameters::<Se3>(map.kind, angle, random), vector::<Se3>(random));
        let steep = condition(map.kind, angle);
        let found = Se3::parameters(map, &pose::<Se3, f64>(&Se3::increment(map, &psi)));
        worst.see((found - psi).norm() / (1.0 + psi.norm()) / steep, (map, angle));
        // Their derivative is the inverse tangent.
        let still: SVector<Dual<f64, 1>, 6> = lift(&psi);
        let small = v.map(|v| Dual { re: 0.0, eps: [v] });
        let start = pose::<Se3, _>(&Se3::increment(map, &still));
        let moved = Se3::parameters(map, &Se3::advance(&start, &Se3::increment(Exponential, &small)));
        let want = Se3::tangent_inverse(map, &psi, &v);
        slopes.see((moved.map(|x| x.eps[0]) - want).norm() / (1.0 + want.norm()) / steep, (map, angle));
    });
    worst.below(6e-16);
    slopes.below(8e-15);
}

fn a_motion_leaves_its_own_parameters<G: Dynamics>(bound: f64) {
    let mut worst = Worst::default();
    each(10, &READINGS, long_angles, |map, angle, random| {
        let psi = parameters::<G>(map.kind, angle, random);
        let step = G::increment(map, &psi);
        for moved in [G::push_velocity(&step, &psi), G::pull_velocity(&step, &psi)] {
            worst.see((moved - psi).length() / (1.0 + psi.length()), (map, angle));
        }
    });
    worst.below(bound);
}

#[test]
fn motions_leave_their_own_parameters_unchanged() {
    a_motion_leaves_its_own_parameters::<So3>(f64::MIN_POSITIVE);
    a_motion_leaves_its_own_parameters::<Se3>(4e-15);
}

fn a_half_is_a_half<G: Dynamics>(twice_bound: f64, angle_bound: f64, exponential_bound: f64) {
    let (mut twice, mut rotation, mut exponential) = (Worst::default(), Worst::default(), Worst::default());
    each(11, &READINGS, long_angles, |map, angle, random| {
        let psi = parameters::<G>(map.kind, angle, random);
        let step = G::increment(map, &psi);
        let half = G::half(map, &psi, &step);
        let (steep, once) = (condition(map.kind, angle), pose::<G, f64>(&half));
        twice.see(apart::<G>(&G::advance(&once, &half), &pose::<G, f64>(&step)), (map, angle));
        // The other root turns the other way round.
        let p = G::angular(&psi);
        let axis = if angle == 0.0 { p } else { p / length(map.kind, angle) };
        let turn = G::angular(&G::parameters(Exponential, &once));
        rotation.see((turn - axis * (angle / 2.0)).norm() / steep, (map, angle));
        if map.kind == MapKind::Exponential {
            let want = pose::<G, f64>(&G::increment(map, &(psi * 0.5)));
            exponential.see(apart::<G>(&once, &want), (map, angle));
        }
    });
    twice.below(twice_bound);
    rotation.below(angle_bound);
    exponential.below(exponential_bound);
}

#[test]
fn half_a_motion_done_twice_is_the_motion() {
    a_half_is_a_half::<So3>(2e-15, 2e-15, 1e-15);
    a_half_is_a_half::<Se3>(2e-15, 2e-15, 1e-15);
}

fn velocities_are_dual_to_momenta<G: Dynamics>(inverse_bound: f64, power_bound: f64) {
    let (mut inverse, mut power) = (Worst::default(), Worst::default());
    each(12, &READINGS, long_angles, |map, angle, random| {
        let step = G::increment(map, &parameters::<G>(map.kind, angle, random));
        let (p, v) = (vector::<G>(random), vector::<G>(random));
        // There and back, each with the lever of the displacement.
        let lever = 1.0 + parts::<G, f64>(&pose::<G, f64>(&step)).1.norm_squared();
        let (pulled, pushed) = (G::pull_velocity(&step, &v), G::push_velocity(&step, &v));
        for back in [G::push_velocity(&step, &pulled), G::pull_velocity(&step, &pushed)] {
            inverse.see((back - v).length() / (v.length() * lever), (map, angle));
        }
        for (load, velocity) in [(G::pull(&step, &p), pulled), (G::push(&step, &p), pushed)] {
            let gap = (load.inner(&velocity) - p.inner(&v)).abs();
            power.see(gap / (p.length() * v.length() * lever), (map, angle));
        }
    });
    inverse.below(inverse_bound);
    power.below(power_bound);
}

#[test]
fn the_power_is_the_same_in_every_frame() {
    velocities_are_dual_to_momenta::<So3>(4e-15, 4e-15);
    velocities_are_dual_to_momenta::<Se3>(4e-15, 4e-15);
}

#[test]
fn velocities_transform_by_the_adjoint_matrix() {
    let mut worst = Worst::default();
    each(13, &READINGS, long_angles, |map, angle, random| {
        let step = Se3::increment(map, &parameters::<Se3>(map.kind, angle, random));
        let (r, u) = (step.turn.rotation().matrix(), step.displacement);
        let mut c = Matrix6::zeros();
        c.fixed_view_mut::<3, 3>(0, 0).copy_from(&r);
        c.fixed_view_mut::<3, 3>(0, 3).copy_from(&(u.cross_matrix() * r));
        c.fixed_view_mut::<3, 3>(3, 3).copy_from(&r);
        let inverse = c.try_inverse().unwrap();
        let x = vector::<Se3>(random);
        for (got, want) in [
            (Se3::push_velocity(&step, &x), c * x),
            (Se3::pull_velocity(&step, &x), inverse * x),
            (Se3::pull(&step, &x), c.transpose() * x),
            (Se3::push(&step, &x), inverse.transpose() * x),
        ] {
            worst.see((got - want).norm() / (1.0 + u.norm()), (map, angle));
        }
    });
    worst.below(4e-15);
}

/// The coefficient of p̃p̃ in the displacement, in closed form.
fn axial<T: Real>(map: Vectorial, s: T) -> T {
    let [twist, dual, z1] = screw(map.kind, s);
    let along = match map.reading {
        Reading::Dual => dual,
        Reading::Hom4 => T::one(),
        Reading::Twist => twist,
    };
    (along - z1) / s
}
/// From where the closed form has the digits of a derivative in double-double, to the end of the map, and
/// densely about the switch.
fn arguments(kind: MapKind, random: &mut Random) -> Vec<f64> {
    let end = Vectorial::from(kind).limit().powi(2);
    let switch = length(kind, switch(kind)).powi(2);
    let mut all: Vec<f64> = (0..4_000).map(|i| end * f64::from(i) / 4_000.0).skip(1).collect();
    all.extend((0..2_000).map(|_| random.magnitude(-7.0, 0.0).abs()));
    all.extend((0..2_000).map(|_| switch * (1.0 + random.magnitude(-16.0, -0.5))));
    all.extend((-20..=20).map(|i| switch * (1.0 + f64::from(i) * f64::EPSILON)));
    all
}

#[test]
fn the_coefficients_of_the_readings_are_accurate_through_the_switch() {
    let mut random = Random(14);
    let mut worst = [(); 4].map(|()| Worst::default());
    for kind in MapKind::ALL {
        for (i, reading) in OTHERS.into_iter().enumerate() {
            let map = Vectorial { kind, reading };
            if kind == MapKind::Exponential {
                assert!(map.displacement_c(0.5f64).is_none());
                continue;
            }
            for s in arguments(kind, &mut random) {
                let want = axial(map, Dual::<Dd, 1>::variable(Dd::from(s), 0));
                let got = map.displacement_c(Dual::<f64, 1>::variable(s, 0)).unwrap();
                assert_eq!(Some(got.re), map.displacement_c(s));
                worst[2 * i].see(error(got.re, want.re, 0.0), (map, s));
                worst[2 * i + 1].see(error(got.eps[0], want.eps[0], 0.0), (map, s));
            }
        }
    }
    for (worst, bound) in worst.into_iter().zip([1e-15, 2e-15, 6e-14, 1e-11]) {
        worst.below(bound);
    }
}

/// All maps are the exponential near the identity, with (φ - sin φ)/φ³ = 1/6; the slopes are their own.
#[test]
fn the_coefficients_of_the_readings_reach_their_limits() {
    use MapKind::{Cayley, EulerRodrigues, WienerMilenkovic};
    for (kind, reading, value, slope) in [
        (EulerRodrigues, Reading::Hom4, 1.0 / 8.0, 1.0 / 128.0),
        (Cayley, Reading::Hom4, 1.0 / 4.0, -1.0 / 16.0),
        (WienerMilenkovic, Reading::Hom4, 3.0 / 16.0, -5.0 / 256.0),
        (EulerRodrigues, Reading::Twist, 1.0 / 6.0, 1.0 / 80.0),
        (Cayley, Reading::Twist, 1.0 / 6.0, -1.0 / 20.0),
        (WienerMilenkovic, Reading::Twist, 1.0 / 6.0, -3.0 / 160.0),
    ] {
        for s in [0.0, f64::from_bits(1), 1e-310, 1e-100, 1e-30, 1e-18] {
            let got = Vectorial { kind, reading }.displacement_c(Dual::<f64, 1>::variable(s, 0)).unwrap();
            assert!((got.re - value).abs() < 4e-16 * value, "{kind:?} {reading:?} at {s}: {got:?}");
            assert!((got.eps[0] - slope).abs() < 8e-16 * slope.abs(), "{kind:?} {reading:?} at {s}: {got:?}");
        }
    }
}
