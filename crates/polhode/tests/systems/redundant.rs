//! Joints that forbid the same motion more than once: counted, named, run, and with reactions of least norm.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use polhode::body::RotaryInertia;
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{
    AssemblyError, Differentiated, GROUND, JointKind, MOST_ROWS, Place, Rigid, Simulation, SimulationError,
    System,
};
use polhode::run::{Item, Value, begin};
use polhode::sensitivity::Dual1;
use std::sync::Arc;

const METHODS: [&str; 5] = [
    "geometric-alpha",
    "linear-alpha",
    "residual-alpha",
    "geometric-alpha,constraints=stabilized",
    "linear-alpha,constraints=stabilized",
];

fn method(id: &str) -> Method {
    Method::parse(id).unwrap()
}

fn none() -> Rotation<f64> {
    Rotation::identity()
}

/// A door of 20 kg on hinges at these heights, the second off its line by so much.
fn door(heights: &[f64], off: f64) -> System<f64> {
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let inertia = Matrix3::from_diagonal(&Vector3::new(6.7, 8.0, 1.4));
    let door = Rigid::new(20.0, inertia).unwrap().at(Vector3::new(0.45, 0.0, 1.0), none());
    system.body("door", door.moving(Vector3::y() * 0.45, Vector3::z())).unwrap();
    for (i, z) in heights.iter().enumerate() {
        let by = if i == 1 { off } else { 0.0 };
        system.frame(&format!("post {i}"), GROUND, Vector3::new(0.0, 0.0, *z), none()).unwrap();
        system.frame(&format!("edge {i}"), "door", Vector3::new(-0.45 + by, 0.0, z - 1.0), none()).unwrap();
        let (post, edge) = (format!("post {i}"), format!("edge {i}"));
        system.joint(&format!("hinge {i}"), JointKind::Revolute, &post, &edge).unwrap();
    }
    system
}

/// B of all joints at the pose of a run, by rows.
fn slopes(run: &Simulation<f64>) -> DMatrix<f64> {
    let (system, bodies) = (run.system(), run.bodies());
    let place = |body: Option<usize>| {
        body.map_or_else(Place::ground, |b| Place {
            x: bodies[b].position,
            r: bodies[b].attitude.matrix(),
            v: bodies[b].velocity,
            omega: bodies[b].omega_body,
        })
    };
    let rows: usize = system.joints().iter().map(|joint| joint.kind.rows()).sum();
    let mut all = DMatrix::zeros(rows, 6 * bodies.len());
    let mut first = 0;
    for joint in system.joints() {
        let ends = joint.bodies();
        let mut out = [[Vector3::zeros(); 4]; MOST_ROWS];
        joint.jacobian(run.time(), ends.map(place).each_ref(), &mut out);
        for (k, row) in out[..joint.kind.rows()].iter().enumerate() {
            for (block, slope) in row.iter().enumerate() {
                let Some(b) = ends[block / 2] else { continue };
                for i in 0..3 {
                    all[(first + k, 6 * b + 3 * (block % 2) + i)] += slope[i];
                }
            }
        }
        first += joint.kind.rows();
    }
    all
}

#[test]
fn axes_that_keep_an_angle_twice_bear_a_moment_together() {
    // A body that turns freely about a point, whose axis keeps an angle with the vertical by two joints of the same kind and by a
    // third that holds the same axis at the same angle to a line that leans: moments are equal where they have one direction.
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let turned = |by: f64| Rotation::from_rotation_vector(&(Vector3::x() * by));
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.2, 0.2, 0.1));
    system.body("arm", Rigid::new(2.0, inertia).unwrap().at(Vector3::zeros(), turned(-0.5))).unwrap();
    system.bodies_mut()[0].center = Vector3::z() * 0.4;
    for (name, leaning) in [("up", 0.0), ("down", core::f64::consts::PI), ("leaning", 0.7)] {
        system.frame(name, GROUND, Vector3::zeros(), turned(leaning)).unwrap();
    }
    system.joint("point", JointKind::Spherical, "up", "arm").unwrap();
    for (name, ground, angle) in
        [("first", "up", 0.5), ("second", "down", core::f64::consts::PI - 0.5), ("third", "leaning", 1.2)]
    {
        system.joint(name, JointKind::ConstantAngle { angle }, ground, "arm").unwrap();
    }
    let run = Simulation::new(&system, &method("geometric-alpha")).unwrap();
    assert_eq!((run.assembly().redundancies.len(), run.degrees_of_freedom()), (2, 2));
    let moments: Vec<f64> =
        run.reactions(&run.least_multipliers())[1..].iter().map(|reaction| reaction.moment.x).collect();
    assert!(
        moments.iter().all(|m| (m - moments[0]).abs() < 1e-9 * m.abs()) && moments[0].abs() > 0.1,
        "{moments:?}"
    );
}

/// Sees to it that the reactions of a run are those of least norm, B (BᵀB)⁺ Bᵀ λ by eigenvalues.
fn has_least_reactions(run: &Simulation<f64>, name: &str) {
    let b = slopes(run);
    let raw = DVector::from_column_slice(run.all_multipliers());
    let square = (b.transpose() * &b).symmetric_eigen();
    let least = 1e-12 * square.eigenvalues.max();
    let inverse = square.eigenvalues.map(|x| if x > least { 1.0 / x } else { 0.0 });
    let vectors = &square.eigenvectors;
    let y = vectors * (vectors.transpose() * (b.transpose() * raw)).component_mul(&inverse);
    let wanted = &b * y;
    let found = DVector::from_column_slice(&run.least_multipliers());
    let error = (&found - &wanted).norm() / wanted.norm();
    assert!(error < 1e-9, "{name}: {error:e}");
}

#[test]
fn a_door_on_two_and_three_hinges_moves_as_on_one() {
    for id in METHODS {
        let mut alone = Simulation::new(door(&[0.3], 0.0), &method(id)).unwrap();
        for heights in [&[0.3, 1.7][..], &[0.3, 1.0, 1.7]] {
            let mut run = Simulation::new(door(heights, 0.0), &method(id)).unwrap();
            assert_eq!(run.assembly().redundancies.len(), 5 * (heights.len() - 1));
            assert_eq!(run.degrees_of_freedom(), 1);
            has_least_reactions(&run, id);
            alone = Simulation::new(alone.system().clone(), &method(id)).unwrap();
            for _ in 0..200 {
                alone.step(5e-3).unwrap();
                run.step(5e-3).unwrap();
            }
            let (a, b) = (&alone.bodies()[0], &run.bodies()[0]);
            let apart = (a.position - b.position).norm() + (a.velocity - b.velocity).norm();
            println!("{id}, {} hinges: {apart:.1e}", heights.len());
            assert!(apart < 1e-9, "{id}: {apart:e}");
            assert!(run.violation().position < 1e-11, "{id}: {:?}", run.violation());
            has_least_reactions(&run, id);
            // Each hinge bears its part of the weight.
            let lifts: f64 = run.least_multipliers().chunks(5).map(|rows| rows[2]).sum();
            assert!((lifts - 20.0 * 9.81).abs() < 1e-6, "{id}: {lifts}");
        }
    }
}

#[test]
fn a_hinge_that_is_off_is_a_contradiction() {
    // Within what counts as closed, and beyond.
    Simulation::assembled(door(&[0.3, 1.7], 1e-10), &method("geometric-alpha")).unwrap();
    for off in [1e-6, 1e-3] {
        let error = Simulation::new(door(&[0.3, 1.7], off), &method("geometric-alpha")).unwrap_err();
        let SimulationError::Assembly(AssemblyError::Open { gap, .. }) = error else { panic!("{error}") };
        assert!((gap - off).abs() < 1e-9);
        let error = Simulation::assembled(door(&[0.3, 1.7], off), &method("geometric-alpha")).unwrap_err();
        let SimulationError::Assembly(AssemblyError::NotClosed { gap, joint }) = error else {
            panic!("{error}")
        };
        assert!(gap > 0.1 * off && gap < off && joint.starts_with("hinge"), "{gap:e} {joint}");
    }
}

/// Bars of a planar linkage in the plane of x and y, hinged at corners of these numbers; those without a body are ground.
fn bars(corners: &[[f64; 2]], list: &[(usize, usize)], pinned: &[usize]) -> System<f64> {
    let at = |i: usize| Vector3::new(corners[i][0], corners[i][1], 0.0);
    let mut system = System::new(Vector3::new(0.0, -9.81, 0.0));
    // The bars that meet in each corner.
    let mut meet: Vec<Vec<String>> = vec![Vec::new(); corners.len()];
    for (k, &(a, b)) in list.iter().enumerate() {
        let along = at(b) - at(a);
        let attitude = Rotation::from_rotation_vector(&(Vector3::z() * along.y.atan2(along.x)));
        let length = along.norm();
        let inertia =
            Matrix3::from_diagonal(&Vector3::new(1e-3, length * length / 12.0, length * length / 12.0));
        let name = format!("bar{k}");
        system.body(&name, Rigid::new(1.0, inertia).unwrap().at((at(a) + at(b)) / 2.0, attitude)).unwrap();
        for (end, corner, sign) in [("a", a, -0.5), ("b", b, 0.5)] {
            let frame = format!("{name}{end}");
            system.frame(&frame, &name, Vector3::x() * (sign * length), none()).unwrap();
            meet[corner].push(frame);
        }
    }
    for (corner, frames) in meet.iter().enumerate() {
        let mut frames = frames.clone();
        if pinned.contains(&corner) {
            let post = format!("post{corner}");
            system.frame(&post, GROUND, at(corner), none()).unwrap();
            frames.insert(0, post);
        }
        for (k, frame) in frames.iter().enumerate().skip(1) {
            system.joint(&format!("pin{corner}.{k}"), JointKind::Revolute, &frames[0], frame).unwrap();
        }
    }
    system
}

fn rank(system: &System<f64>) -> (usize, usize) {
    let run = Simulation::new(system, &method("geometric-alpha")).unwrap();
    let b = slopes(&run);
    (b.nrows() - b.rank(1e-9), b.ncols() - b.rank(1e-9))
}

#[test]
fn ranks_are_those_of_singular_values() {
    // A parallelogram, three of them side by side, a scissor lift of four stages, and a net.
    let parallelogram =
        bars(&[[0.0, 0.0], [0.3, 1.0], [2.3, 1.0], [2.0, 0.0]], &[(0, 1), (1, 2), (2, 3)], &[0, 3]);
    let corners: Vec<[f64; 2]> =
        (0..4).flat_map(|i| [[f64::from(i), 0.0], [f64::from(i) + 0.2, 1.0]]).collect();
    let row = bars(&corners, &[(0, 1), (2, 3), (4, 5), (6, 7), (1, 3), (3, 5), (5, 7)], &[0, 2, 4, 6]);
    // Stages of a lift: two half bars each, crossed; corners left, right and in the middle.
    let mut lift: Vec<[f64; 2]> = vec![[0.0, 0.0], [1.0, 0.0]];
    let mut list = Vec::new();
    for stage in 0..4 {
        let (y, below) = (f64::from(stage), lift.len() - 2);
        lift.push([0.5, y + 0.5]);
        let middle = lift.len() - 1;
        lift.push([0.0, y + 1.0]);
        lift.push([1.0, y + 1.0]);
        // Two rigid bars would be four half bars welded; the half bars are a linkage with more freedom.
        list.extend([(below, middle), (middle, middle + 2), (below + 1, middle), (middle, middle + 1)]);
    }
    let lift = bars(&lift, &list, &[0, 1]);
    let at = |i: usize, j: usize| 4 * i + j;
    let nodes: Vec<[f64; 2]> = (0..4)
        .flat_map(|i| {
            (0..4).map(move |j| [f64::from(i) + 0.1 * f64::from(j * j), f64::from(j) + 0.07 * f64::from(i)])
        })
        .collect();
    let across = (0..4).flat_map(|i| (0..3).map(move |j| (at(i, j), at(i, j + 1))));
    let down = (0..3).flat_map(|i| (0..4).map(move |j| (at(i, j), at(i + 1, j))));
    let net = bars(&nodes, &across.chain(down).collect::<Vec<_>>(), &[0, 3]);
    for (name, system) in [("parallelogram", parallelogram), ("row", row), ("lift", lift), ("net", net)] {
        let run = Simulation::new(&system, &method("geometric-alpha")).unwrap();
        let (redundant, freedom) = rank(&system);
        println!("{name}: {redundant} redundant rows, {freedom} degrees of freedom");
        assert_eq!(run.assembly().redundancies.len(), redundant, "{name}");
        assert_eq!(run.degrees_of_freedom(), freedom, "{name}");
        // The joints of each dependency forbid something twice, all by themselves.
        for joints in &run.assembly().redundancies {
            let b = slopes(&run);
            let mut first = 0;
            let mut rows = Vec::new();
            for joint in system.joints() {
                if joints.contains(&joint.name) {
                    rows.extend(first..first + joint.kind.rows());
                }
                first += joint.kind.rows();
            }
            let part = DMatrix::from_fn(rows.len(), b.ncols(), |i, j| b[(rows[i], j)]);
            assert!(part.rank(1e-9) < rows.len(), "{name}: {joints:?}");
        }
        has_least_reactions(&run, name);
    }
}

#[test]
fn a_joint_in_a_short_loop_and_in_a_longer_one_is_counted_in_both() {
    // Each body is in the plane, and a rail holds the first there once more: three rows of the loop of two joints, three of that of
    // three.
    let mut system = System::new(Vector3::new(0.0, -9.81, 0.0));
    let tilted = Rotation::from_rotation_vector(&(Vector3::y() * core::f64::consts::FRAC_PI_2));
    for (name, mass, at) in [("a", 1.0, [0.0, 0.0]), ("b", 2.0, [1.0, 0.5])] {
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.1, 0.2, 0.3));
        let at = Vector3::new(at[0], at[1], 0.0);
        system.body(name, Rigid::new(mass, inertia).unwrap().at(at, none())).unwrap();
        system.frame(&format!("under {name}"), GROUND, at, none()).unwrap();
        system.joint(&format!("plane {name}"), JointKind::Planar, &format!("under {name}"), name).unwrap();
    }
    system.frame("rail", GROUND, Vector3::zeros(), tilted).unwrap();
    system.frame("slide", "a", Vector3::zeros(), tilted).unwrap();
    system.joint("rail", JointKind::Prismatic, "rail", "slide").unwrap();
    for (name, body, at) in [("here", "a", [0.5, 0.2, 0.0]), ("there", "b", [-0.5, -0.3, 0.0])] {
        system.frame(name, body, Vector3::from(at), none()).unwrap();
    }
    system.joint("hinge", JointKind::Revolute, "here", "there").unwrap();
    let bodies = system.bodies_mut();
    bodies[0].velocity = Vector3::x() * 0.7;
    bodies[1].velocity = Vector3::new(0.7, 0.5, 0.0);
    bodies[1].omega_body = Vector3::z();
    let run = Simulation::assembled(&system, &method("geometric-alpha")).unwrap();
    assert_eq!(run.degrees_of_freedom(), 2);
    let (two, three): (Vec<_>, Vec<_>) =
        run.assembly().redundancies.iter().partition(|joints| joints.len() == 2);
    assert_eq!(two, [&["plane a", "rail"]; 3]);
    assert_eq!(three.len(), 3);
    for joints in three {
        assert!(
            joints.contains(&"plane b".to_string()) && joints.contains(&"hinge".to_string()),
            "{joints:?}"
        );
    }
    has_least_reactions(&run, "overlapping loops");
}

#[test]
fn a_row_of_windows_passes_its_flat_position_on_its_branch() {
    // N windows as in the benchmark of N four-bars: at the horizontal position the mobility jumps from 1 to N + 1.
    let n = 3usize;
    let corners: Vec<[f64; 2]> = (0..=n).flat_map(|i| [[i as f64, 0.0], [i as f64, 1.0]]).collect();
    let mut list: Vec<(usize, usize)> = (0..=n).map(|i| (2 * i, 2 * i + 1)).collect();
    list.extend((0..n).map(|i| (2 * i + 1, 2 * i + 3)));
    let mut system = bars(&corners, &list, &(0..=n).map(|i| 2 * i).collect::<Vec<_>>());
    for (k, body) in system.bodies_mut().iter_mut().enumerate() {
        let upright = k <= n;
        body.velocity = Vector3::x() * if upright { 0.5 } else { 1.0 };
        body.omega_body = Vector3::z() * if upright { -1.0 } else { 0.0 };
        body.given = [true; 2];
    }
    let mut run = Simulation::new(&system, &method("geometric-alpha,rho=0.9")).unwrap();
    assert_eq!(run.degrees_of_freedom(), 1);
    let energy = run.energy();
    for _ in 0..4000 {
        run.step(1e-3).unwrap();
        // All uprights stay parallel.
        let first = run.bodies()[0].position;
        for i in 1..=n {
            let apart = run.bodies()[i].position - first - Vector3::x() * i as f64;
            assert!(apart.norm() < 1e-6, "t = {}: {apart:?}", run.time());
        }
    }
    assert!((run.energy() - energy).abs() < 2e-3 * energy.abs(), "{}", run.energy() - energy);
    assert!(run.violation().position < 1e-9);
}

#[test]
fn a_scissor_lift_of_80_stages_goes_on_where_velocities_are_held_too() {
    // Crossed bars; the left foot on a hinge, the right one on a plane. Its motion is hardly more than what depends gives way.
    let (stages, angle) = (80, 0.6f64);
    let mut system = System::new(Vector3::new(0.0, -9.81, 0.0));
    let inertia = Matrix3::from_diagonal(&Vector3::new(1e-3, 1.0 / 12.0, 1.0 / 12.0));
    for stage in 0..stages {
        let middle = Vector3::new(angle.cos() / 2.0, angle.sin() * (f64::from(stage) + 0.5), 0.0);
        for (side, turn) in [("l", angle), ("r", core::f64::consts::PI - angle)] {
            let (name, attitude) =
                (format!("{side}{stage}"), Rotation::from_rotation_vector(&(Vector3::z() * turn)));
            system.body(&name, Rigid::new(1.0, inertia).unwrap().at(middle, attitude)).unwrap();
            for (end, x) in [("a", -0.5), ("m", 0.0), ("b", 0.5)] {
                system.frame(&format!("{name}{end}"), &name, Vector3::x() * x, none()).unwrap();
            }
        }
        let mut pin = |name: &str, a: String, b: String| {
            system.joint(&format!("{name}{stage}"), JointKind::Revolute, &a, &b).unwrap();
        };
        pin("middle", format!("l{stage}m"), format!("r{stage}m"));
        if stage > 0 {
            let below = stage - 1;
            pin("right", format!("l{below}b"), format!("r{stage}a"));
            pin("left", format!("r{below}b"), format!("l{stage}a"));
        }
    }
    let upright = Rotation::from_rotation_vector(&(Vector3::x() * -core::f64::consts::FRAC_PI_2));
    system.frame("foot", GROUND, Vector3::zeros(), none()).unwrap();
    system.frame("plane", GROUND, Vector3::x() * angle.cos(), upright).unwrap();
    system.joint("foot", JointKind::Revolute, "foot", "l0a").unwrap();
    system.joint("plane", JointKind::PointInPlane, "plane", "r0a").unwrap();
    let run = |method_id: &str| {
        let mut run = Simulation::new(&system, &method(method_id)).unwrap();
        assert_eq!((run.assembly().redundancies.len(), run.degrees_of_freedom()), (237, 1));
        for _ in 0..100 {
            run.step(1e-3).unwrap();
        }
        run
    };
    let (plain, held) = (run("geometric-alpha"), run("geometric-alpha,constraints=stabilized"));
    let apart = (plain.bodies()[159].position - held.bodies()[159].position).norm();
    println!("apart {apart:.1e}, {:?}, {:?}", plain.violation(), held.violation());
    assert!(apart < 1e-6, "{apart:e}");
    assert!(held.violation().velocity < 1e-6, "{:?}", held.violation());
}

#[test]
fn derivatives_of_a_door_that_moves_as_before_are_those_of_its_reactions() {
    // A door that turns evenly moves alike whatever it weighs and whatever its moment about the hinges: all that depends on its
    // mass is what the hinges bear, each in proportion, and on the moment nothing at all.
    let system = door(&[0.2, 1.8], 0.0);
    for id in ["conserving", "conserving,index3", "decaying", "variational", "compose:conserving:4"] {
        let mut heavier = system.lift::<Dual1>();
        heavier.bodies_mut()[0].mass.eps = [1.0];
        let mut wider = system.lift::<Dual1>();
        let mut inertia = *wider.bodies()[0].inertia.matrix();
        inertia[(2, 2)].eps = [1.0];
        wider.bodies_mut()[0].inertia = RotaryInertia::unchecked(inertia);
        let mut run = Differentiated::new(&system, &[heavier, wider], &method(id)).unwrap();
        (0..100).for_each(|_| run.step(0.01).unwrap());
        let plain = run.simulation().reactions(&run.simulation().least_multipliers());
        for (parameter, share) in [1.0 / 20.0, 0.0].into_iter().enumerate() {
            let slopes = run.derivative(parameter).unwrap();
            let body = &slopes.bodies()[0];
            let moves = body.position.map(|x| x.eps[0]).amax().max(body.omega_body.map(|x| x.eps[0]).amax());
            // A discrete Lagrangian weighs the chord of a step and its turn differently, to the second order in the step.
            let (motion, reactions) = if id == "variational" { (1e-6, 5e-3) } else { (1e-12, 1e-10) };
            assert!(moves < motion, "{id} {parameter}: {moves:e}");
            for (plain, on) in plain.iter().zip(slopes.reactions(&slopes.least_multipliers())) {
                for (plain, found) in [(plain.force, on.force), (plain.moment, on.moment)] {
                    let off = (found.map(|x| x.eps[0]) - plain * share).amax();
                    assert!(off < reactions, "{id} {parameter}: {found:?} of {plain:?}");
                }
            }
        }
    }
}

#[test]
fn what_does_not_follow_from_forces_is_seen_without_them() {
    for id in ["geometric-alpha", "conserving", "variational", "compose:conserving:4"] {
        let mut run = begin(&Arc::new(door(&[0.4, 1.6], 0.0)), &method(id)).unwrap();
        for n in 0..5 {
            run.step(1e-3, 1e-3 * f64::from(n + 1)).unwrap();
        }
        let (all, motion) = (run.snapshot(), run.motion());
        let mut counts = [0, 0];
        let mut compare = |item: Item, value: Value<'_, f64>| {
            let seen = motion.value(&item).unwrap();
            let needs = run.needs_forces(&item);
            counts[usize::from(needs)] += 1;
            assert!(value.numbers().iter().all(|x| x.is_finite()), "{id}, {item:?}");
            match needs {
                true => assert!(seen.numbers().iter().all(|x| x.is_nan()), "{id}, {item:?}"),
                false => assert_eq!(value.numbers(), seen.numbers(), "{id}, {item:?}"),
            }
        };
        all.record(&mut compare);
        all.report(&mut compare);
        assert!(counts[0] > 10 && counts[1] > 4, "{id}: {counts:?}");
    }
}
