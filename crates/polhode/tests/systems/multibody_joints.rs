//! Every joint against dual numbers: slopes, reactions, stiffness and rates at any pose, and the motions it allows.

use crate::probe::Random;
use core::f64::consts::{FRAC_PI_2, PI};
use nalgebra::{Matrix3, SMatrix, SVector, Vector3};
use polhode::group::{Rotation, spin};
use polhode::multibody::{End, Frames, Joint, JointFormula, JointKind, MOST_ROWS, OwnJoint, Place};
use polhode::scalar::{Dual, Over, Real};

/// x_A, Θ_A, x_B, Θ_B.
const COORDINATES: usize = 12;
type Jet = Dual<f64, COORDINATES>;
type Pair<T> = [Place<T>; 2];

const LENGTH: f64 = 0.7;

const ANGLE: f64 = 1.1;

fn kinds() -> [(JointKind<f64>, usize); 12] {
    [
        (JointKind::Spherical, 3),
        (JointKind::Revolute, 5),
        (JointKind::Prismatic, 5),
        (JointKind::Cylindrical, 4),
        (JointKind::Universal, 4),
        (JointKind::Planar, 3),
        (JointKind::Fixed, 6),
        (JointKind::Distance { length: LENGTH }, 1),
        (JointKind::PointOnLine, 2),
        (JointKind::PointInPlane, 1),
        (JointKind::Parallel, 2),
        (JointKind::ConstantAngle { angle: ANGLE }, 1),
    ]
}

fn end(body: Option<usize>, point: Vector3<f64>, axes: Rotation<f64>) -> End<f64> {
    End { body, point, axes: axes.matrix() }
}

fn still(x: Vector3<f64>, attitude: Rotation<f64>) -> Place<f64> {
    Place { x, r: attitude.matrix(), v: Vector3::zeros(), omega: Vector3::zeros() }
}

/// Calls f with every joint at every kind of place: random ones, with the ground at either end, and special ones.
fn everywhere(mut f: impl FnMut(&Joint<f64>, &Pair<f64>, &str)) {
    let mut random = Random(3);
    for (kind, _) in kinds() {
        for case in 0..60 {
            let mut turn = |half: bool| match half {
                true => Rotation::from_rotation_vector(&(random.axis() * PI)),
                false => Rotation::from_rotation_vector(&(random.axis() * random.within(0.0, PI))),
            };
            // Frames that are aligned, half turns, points at the centres of mass, and places on top of each other.
            let special = if case < 40 { 0 } else { case % 5 };
            let aligned = special == 1;
            let [mut axes, mut attitudes] =
                [[turn(special == 2), turn(false)], [turn(false), turn(special == 2)]];
            let point = |random: &mut Random| if special == 3 { Vector3::zeros() } else { random.vector() };
            let points = [point(&mut random), point(&mut random)];
            if aligned {
                (axes, attitudes) = ([Rotation::identity(); 2], [Rotation::identity(); 2]);
            }
            let mut places = [0, 1].map(|i| Place {
                x: random.vector() * 2.0,
                r: attitudes[i].matrix(),
                v: random.vector(),
                omega: random.vector() * 3.0,
            });
            if special == 4 {
                places[1].x = places[0].x;
            }
            let mut bodies = [Some(0), Some(1)];
            if case % 3 > 0 {
                let grounded = case % 3 - 1;
                bodies[grounded] = None;
                places[grounded] = Place::ground();
            }
            let ends = [0, 1].map(|i| end(bodies[i], points[i], axes[i]));
            let joint = Joint::new("joint", kind.clone(), ends);
            f(&joint, &places, &format!("{}, case {case}", kind.name()));
        }
    }
}

/// The places with derivatives by x_A, Θ_A, x_B, Θ_B.
fn seeded(places: &Pair<f64>) -> Pair<Jet> {
    [0, 1].map(|i| {
        let place = &places[i];
        let theta = Vector3::from_fn(|k, _| Jet::variable(0.0, 6 * i + 3 + k));
        Place {
            x: Vector3::from_fn(|k, _| Jet::variable(place.x[k], 6 * i + k)),
            r: place.r.map(Jet::constant) * (Matrix3::identity() + spin(&theta)),
            v: place.v.map(Jet::constant),
            omega: place.omega.map(Jet::constant),
        }
    })
}

fn jacobian(joint: &Joint<f64>, places: &Pair<f64>) -> SMatrix<f64, MOST_ROWS, COORDINATES> {
    let mut rows = [[Vector3::zeros(); 4]; MOST_ROWS];
    joint.jacobian(0.0, places.each_ref(), &mut rows);
    SMatrix::from_fn(|i, j| rows[i][j / 3][j % 3])
}

fn constraint<T: Over<f64>>(joint: &Joint<f64>, places: &Pair<T>) -> [T; MOST_ROWS] {
    let mut out = [T::zero(); MOST_ROWS];
    joint.constraint(T::of(0.0), places.each_ref(), &mut out);
    out
}

fn rates<T: Over<f64>>(joint: &Joint<f64>, places: &Pair<T>) -> [[T; MOST_ROWS]; 2] {
    let (mut rate, mut quadratic) = ([T::zero(); MOST_ROWS], [T::zero(); MOST_ROWS]);
    joint.rates(T::of(0.0), places.each_ref(), &mut rate, Some(&mut quadratic));
    [rate, quadratic]
}

/// {ẋ_A, Ω_A, ẋ_B, Ω_B}.
fn velocity(places: &Pair<f64>) -> SVector<f64, COORDINATES> {
    SVector::from_fn(|i, _| {
        let place = &places[i / 6];
        if i % 6 < 3 { place.v[i % 3] } else { place.omega[i % 3] }
    })
}

fn multipliers(random: &mut Random) -> [f64; MOST_ROWS] {
    core::array::from_fn(|_| random.within(-2.0, 2.0))
}

/// Sums of a dozen products of numbers of some units.
const ROUND_OFF: f64 = 1e-14;

#[test]
fn every_joint_has_as_many_rows_as_it_says() {
    for (kind, rows) in kinds() {
        assert_eq!(kind.rows(), rows, "{}", kind.name());
    }
    // What a joint writes is no more and no less.
    everywhere(|joint, places, name| {
        let mut out = [f64::NAN; MOST_ROWS + 1];
        joint.constraint(0.0, places.each_ref(), &mut out);
        let written = out.iter().filter(|x| !x.is_nan()).count();
        assert_eq!(written, joint.kind.rows(), "{name}");
    });
}

#[test]
fn slopes_are_those_of_the_constraint() {
    everywhere(|joint, places, name| {
        let (b, by_duals) = (jacobian(joint, places), constraint(joint, &seeded(places)));
        for (i, row) in by_duals.iter().enumerate() {
            for (j, slope) in row.eps.iter().enumerate() {
                let error = (b[(i, j)] - slope).abs();
                assert!(error < ROUND_OFF, "{name}: row {i} by coordinate {j}: {error:e}");
            }
        }
    });
}

#[test]
fn reactions_are_the_slopes_times_the_multipliers() {
    let mut random = Random(5);
    everywhere(|joint, places, name| {
        let lambda = multipliers(&mut random);
        let expected = jacobian(joint, places).transpose() * SVector::from(lambda);
        let reaction = joint.reaction(0.0, places.each_ref(), &lambda);
        for i in 0..COORDINATES {
            let error = (reaction[i / 3][i % 3] - expected[i]).abs();
            assert!(error < ROUND_OFF, "{name}: coordinate {i}: {error:e}");
        }
        // Forces on both ends are opposite.
        assert!((reaction[0] + reaction[2]).norm() < ROUND_OFF, "{name}");
    });
}

#[test]
fn stiffness_is_the_slope_of_the_reaction() {
    let mut random = Random(6);
    everywhere(|joint, places, name| {
        let lambda = multipliers(&mut random);
        let mut stiffness = SMatrix::<f64, COORDINATES, COORDINATES>::zeros();
        joint.stiffness(0.0, places.each_ref(), &lambda, |row, column, block| {
            let mut part = stiffness.fixed_view_mut::<3, 3>(3 * row, 3 * column);
            part += block;
        });
        let by_duals =
            joint.reaction(Jet::constant(0.0), seeded(places).each_ref(), &lambda.map(Jet::constant));
        for i in 0..COORDINATES {
            for j in 0..COORDINATES {
                let error = (stiffness[(i, j)] - by_duals[i / 3][i % 3].eps[j]).abs();
                assert!(error < ROUND_OFF, "{name}: ({i}, {j}): {error:e}");
            }
        }
    });
}

/// The places a moment later for constant ẋ and Ω, with derivatives in time.
fn moving(places: &Pair<f64>) -> Pair<Dual<f64, 1>> {
    let after = |now: &Vector3<f64>, rate: &Vector3<f64>| {
        Vector3::from_fn(|i, _| Dual::<f64, 1> { re: now[i], eps: [rate[i]] })
    };
    [0, 1].map(|i| {
        let place = &places[i];
        let turned = Matrix3::identity() + spin(&after(&Vector3::zeros(), &place.omega));
        Place {
            x: after(&place.x, &place.v),
            r: place.r.map(Dual::constant) * turned,
            v: place.v.map(Dual::constant),
            omega: place.omega.map(Dual::constant),
        }
    })
}

#[test]
fn rates_are_those_of_the_constraint_in_time() {
    everywhere(|joint, places, name| {
        let [rate, quadratic] = rates(joint, places);
        let product = jacobian(joint, places) * velocity(places);
        let (gap, [later, _]) = (constraint(joint, &moving(places)), rates(joint, &moving(places)));
        for k in 0..MOST_ROWS {
            let errors = [rate[k] - product[k], rate[k] - gap[k].eps[0], quadratic[k] - later[k].eps[0]];
            assert!(errors.iter().all(|e| e.abs() < 2.0 * ROUND_OFF), "{name}: row {k}: {errors:?}");
        }
    });
}

#[test]
fn rate_slopes_are_those_of_the_rates() {
    everywhere(|joint, places, name| {
        let mut rows = [[Vector3::zeros(); 4]; MOST_ROWS];
        joint.rate_slopes(0.0, places.each_ref(), &mut rows);
        let [by_duals, _] = rates(joint, &seeded(places));
        for k in 0..joint.kind.rows() {
            for j in 0..COORDINATES {
                let error = (rows[k][j / 3][j % 3] - by_duals[k].eps[j]).abs();
                assert!(error < 2.0 * ROUND_OFF, "{name}: row {k} by coordinate {j}: {error:e}");
            }
        }
    });
}

/// A motion of the second frame in the first that a joint allows, and velocities in the first frame: a place at angles
/// and distances q, and its rates.
struct Allowed {
    point: Vector3<f64>,
    axes: Rotation<f64>,
    /// Velocity of the point and angular velocity, both in the axes of the first frame.
    motions: Vec<[Vector3<f64>; 2]>,
}

fn turn(axis: Vector3<f64>, angle: f64) -> Rotation<f64> {
    Rotation::from_rotation_vector(&(axis * angle))
}

/// Where a joint may be, and all independent motions from there.
fn allowed(kind: &JointKind<f64>, q: [f64; 6]) -> Allowed {
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let (rotation, sliding) =
        (|a: Vector3<f64>| [Vector3::zeros(), a], |v: Vector3<f64>| [v, Vector3::zeros()]);
    let any = Rotation::from_rotation_vector(&Vector3::new(q[0], q[1], q[2]));
    let none = (Vector3::zeros(), Rotation::identity());
    let (place, motions) = match kind {
        JointKind::Spherical => ((none.0, any), vec![rotation(x), rotation(y), rotation(z)]),
        JointKind::Revolute => ((none.0, turn(z, q[0])), vec![rotation(z)]),
        JointKind::Prismatic => ((z * q[0], none.1), vec![sliding(z)]),
        JointKind::Cylindrical => ((z * q[0], turn(z, q[1])), vec![sliding(z), rotation(z)]),
        JointKind::Universal => {
            // A turn about the third axis of the first frame, then one about the first axis of the second. The frames
            // are those of the two arms of a cross, at right angles with each other.
            let axes = turn(z, q[0]).compose(&turn(x, q[1]));
            let arm = axes.rotate(&x);
            ((none.0, axes), vec![rotation(z), rotation(arm)])
        }
        JointKind::Planar => {
            let point = x * q[0] + y * q[1];
            ((point, turn(z, q[2])), vec![sliding(x), sliding(y), rotation(z)])
        }
        JointKind::Fixed => (none, vec![]),
        JointKind::Distance { length } => {
            let point = any.rotate(&x) * *length;
            let across = [any.rotate(&y), any.rotate(&z)].map(sliding);
            let axes = Rotation::from_rotation_vector(&Vector3::new(q[3], q[4], q[5]));
            ((point, axes), [across.to_vec(), vec![rotation(x), rotation(y), rotation(z)]].concat())
        }
        JointKind::PointOnLine => ((z * q[3], any), vec![sliding(z), rotation(x), rotation(y), rotation(z)]),
        JointKind::PointInPlane => {
            let point = x * q[3] + y * q[4];
            ((point, any), vec![sliding(x), sliding(y), rotation(x), rotation(y), rotation(z)])
        }
        JointKind::Parallel => {
            let point = Vector3::new(q[0], q[1], q[2]);
            ((point, turn(z, q[3])), vec![sliding(x), sliding(y), sliding(z), rotation(z)])
        }
        JointKind::ConstantAngle { angle } => {
            // About the first axis, tilted from it, and about the second.
            let axes = turn(z, q[3]).compose(&turn(x, *angle)).compose(&turn(z, q[4]));
            let point = Vector3::new(q[0], q[1], q[2]);
            let all = vec![sliding(x), sliding(y), sliding(z), rotation(z), rotation(axes.rotate(&z))];
            ((point, axes), all)
        }
        JointKind::Own(_) => unreachable!("not among the kinds"),
    };
    Allowed { point: place.0, axes: place.1, motions }
}

#[test]
fn joints_allow_what_they_are_named_for() {
    let mut random = Random(9);
    for (kind, rows) in kinds() {
        for case in 0..40 {
            let points = [random.vector(), random.vector()];
            let axes = [random.vector(), random.vector()].map(|v| Rotation::from_rotation_vector(&(v * 2.0)));
            let first = Rotation::from_rotation_vector(&(random.vector() * 2.0));
            let ends = [end(Some(0), points[0], axes[0]), end(Some(1), points[1], axes[1])];
            let joint = Joint::new("joint", kind.clone(), ends);
            let mut q = core::array::from_fn(|_| random.within(-3.0, 3.0));
            // Quarter and half turns among them.
            if case % 4 == 1 {
                q = [PI, FRAC_PI_2, 0.0, PI, 0.0, 0.0];
            }
            if case % 4 == 2 {
                q = [0.0; 6];
            }
            let may = allowed(&kind, q);
            // The first body anywhere and moving, the second where the joint lets it be.
            let frame = first.compose(&axes[0]);
            let second = frame.compose(&may.axes).compose(&axes[1].inverse());
            let (x, v, omega) = (random.vector(), random.vector(), random.vector());
            let point = x + first.rotate(&points[0]) + frame.rotate(&may.point);
            let place_a = Place { x, r: first.matrix(), v, omega };
            let base = still(point - second.rotate(&points[1]), second);
            let gap = constraint(&joint, &[place_a, base]);
            assert!(gap.iter().all(|g| g.abs() < 1e-14), "{} is open: {gap:?}", kind.name());

            assert_eq!(may.motions.len() + rows, 6, "{}", kind.name());
            let lambda = multipliers(&mut random);
            let weights: Vec<f64> = may.motions.iter().map(|_| random.within(-2.0, 2.0)).collect();
            // B moves as if it were one with A, and by what the joint allows.
            let [mut relative, mut turning] = [Vector3::zeros(); 2];
            for ([v, omega], weight) in may.motions.iter().zip(&weights) {
                relative += frame.rotate(v) * *weight;
                turning += frame.rotate(omega) * *weight;
            }
            let spin_a = first.rotate(&omega);
            let spin_b = spin_a + turning;
            let carried = v + spin_a.cross(&(point - x)) + relative;
            let place_b = Place {
                v: carried - spin_b.cross(&(point - base.x)),
                omega: second.unrotate(&spin_b),
                ..base
            };
            let places = [place_a, place_b];
            let [rate, _] = rates(&joint, &places);
            assert!(rate.iter().all(|r| r.abs() < 3e-14), "{} forbids: {rate:?}", kind.name());
            let reaction = joint.reaction(0.0, places.each_ref(), &lambda);
            let power: f64 = (0..2)
                .map(|i| reaction[2 * i].dot(&places[i].v) + reaction[2 * i + 1].dot(&places[i].omega))
                .sum();
            assert!(power.abs() < 1e-13, "{} works: {power:e}", kind.name());
            // Where a joint is closed, the moments on both bodies are opposite too.
            let about = |i: usize| places[i].x.cross(&reaction[2 * i]) + places[i].r * reaction[2 * i + 1];
            let sum = (about(0) + about(1)).norm();
            assert!(sum < 3e-14, "{}: {sum:e}", kind.name());

            // And nothing else: B has full rank, so that the motions above are all there are.
            let b = jacobian(&joint, &places);
            let smallest = b.rows(0, rows).into_owned().svd(false, false).singular_values.min();
            assert!(smallest > 0.1, "{}: {smallest}", kind.name());
        }
    }
}

#[test]
fn a_rod_pulls_with_its_multiplier() {
    let joint = Joint::new(
        "rod",
        JointKind::Distance { length: 2.0 },
        [Some(0), Some(1)].map(|body| end(body, Vector3::zeros(), Rotation::identity())),
    );
    let along = Vector3::new(2.0, 1.0, 2.0) / 3.0;
    let places = [
        still(Vector3::new(0.3, 0.4, 0.5), Rotation::identity()),
        still(Vector3::new(0.3, 0.4, 0.5) + along * 2.0, turn(Vector3::x(), 0.4)),
    ];
    let [a, ma, b, mb] = joint.reaction(0.0, places.each_ref(), &[5.0]);
    // The reactions are -Bᵀ λ: a positive multiplier is the force of A on B away from A, a strut in compression.
    assert!((-b - along * 5.0).norm() < 1e-14 && (-a + along * 5.0).norm() < 1e-14);
    assert!(ma.norm() < 1e-15 && mb.norm() < 1e-15);
}

/// The joints of the library, written as formulas.
#[derive(Debug)]
struct Written(JointKind<f64>);

impl JointFormula for Written {
    fn names(&self) -> Vec<String> {
        match self.0 {
            JointKind::Distance { .. } => vec!["length".into()],
            JointKind::ConstantAngle { .. } => vec!["angle".into()],
            _ => vec![],
        }
    }
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn constraint<T: Real>(&self, numbers: &[T], at: &Frames<T>, rows: &mut [T]) {
        let d = at.span();
        let across = |i: usize, j: usize| at.axis(0, i).dot(&at.axis(1, j));
        let out = |i: usize| -at.axis(0, i).dot(&d);
        let point = [-d[0], -d[1], -d[2]];
        let all: Vec<T> = match self.0 {
            JointKind::Spherical => point.to_vec(),
            JointKind::Revolute => [&point[..], &[across(0, 2), across(1, 2)]].concat(),
            JointKind::Prismatic => vec![across(0, 2), across(1, 2), across(0, 1), out(0), out(1)],
            JointKind::Cylindrical => vec![across(0, 2), across(1, 2), out(0), out(1)],
            JointKind::Universal => [&point[..], &[across(2, 0)]].concat(),
            JointKind::Planar => vec![across(0, 2), across(1, 2), out(2)],
            JointKind::Fixed => [&point[..], &[across(0, 2), across(1, 2), across(0, 1)]].concat(),
            JointKind::Distance { .. } => {
                vec![(numbers[0] * numbers[0] - d.dot(&d)) / (numbers[0] + numbers[0])]
            }
            JointKind::PointOnLine => vec![out(0), out(1)],
            JointKind::PointInPlane => vec![out(2)],
            JointKind::Parallel => vec![across(0, 2), across(1, 2)],
            JointKind::ConstantAngle { .. } => vec![across(2, 2) - numbers[0].sin_cos().1],
            JointKind::Own(_) => unreachable!(),
        };
        rows.copy_from_slice(&all);
    }
}

#[test]
fn joints_of_ones_own_have_by_duals_what_those_of_the_library_have_in_closed_form() {
    let mut random = Random(12);
    everywhere(|joint, places, name| {
        let own = OwnJoint::new(Written(joint.kind.clone()), joint.kind.numbers()).unwrap();
        let own = Joint::new("own", own, joint.ends);
        let same = |a: &[f64], b: &[f64], what: &str| {
            let error = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 4.0 * ROUND_OFF, "{name}: {what}: {error:e}");
        };
        same(&constraint(joint, places), &constraint(&own, places), "rows");
        same(jacobian(joint, places).as_slice(), jacobian(&own, places).as_slice(), "slopes");
        let [rates, own_rates] = [joint, &own].map(|joint| rates(joint, places).concat());
        same(&rates, &own_rates, "rates");
        let lambda = multipliers(&mut random);
        let [reactions, own_reactions] = [joint, &own]
            .map(|joint| joint.reaction(0.0, places.each_ref(), &lambda[..joint.kind.rows()]))
            .map(|parts| parts.map(|v| [v.x, v.y, v.z]).concat());
        same(&reactions, &own_reactions, "reactions");
        let [slopes, own_slopes] = [joint, &own].map(|joint| {
            let mut rows = [[Vector3::zeros(); 4]; MOST_ROWS];
            joint.rate_slopes(0.0, places.each_ref(), &mut rows);
            rows.concat().iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<f64>>()
        });
        same(&slopes, &own_slopes, "slopes of the rates");
        let [stiffness, own_stiffness] = [joint, &own].map(|joint| {
            let mut all = SMatrix::<f64, COORDINATES, COORDINATES>::zeros();
            let moves = |block: usize| joint.ends[block / 2].body.is_some();
            joint.stiffness(0.0, places.each_ref(), &lambda[..joint.kind.rows()], |row, column, block| {
                if moves(row) && moves(column) {
                    let mut part = all.fixed_view_mut::<3, 3>(3 * row, 3 * column);
                    part += block;
                }
            });
            all
        });
        same(stiffness.as_slice(), own_stiffness.as_slice(), "stiffness");
    });
}
