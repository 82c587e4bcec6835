//! Systems that cannot be, and what is said about them.

use crate::systems::FORMS;
use nalgebra::{Matrix3, Vector3};
use polhode::body::InertiaError;
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{
    AssemblyError, Coordinates, ForceKind, GROUND, JointKind, Rigid, Simulation, SimulationError, System,
    SystemError,
};
use polhode::solve::StepError;

fn method(id: &str) -> Method {
    Method::parse(id).unwrap()
}

fn block() -> Rigid<f64> {
    Rigid::new(1.0, Matrix3::identity()).unwrap()
}

fn none() -> Rotation<f64> {
    Rotation::identity()
}

fn empty() -> System<f64> {
    System::new(Vector3::new(0.0, 0.0, -9.81))
}

fn begin(system: &System<f64>) -> Result<(), SimulationError> {
    Simulation::new(system, &method("geometric-alpha")).map(|_| ())
}

/// A body on a pivot half a metre above its centre.
fn pendulum() -> System<f64> {
    let mut system = empty();
    system.body("bob", block().at(Vector3::z() * -0.5, none())).unwrap();
    system.frame("hook", "bob", Vector3::z() * 0.5, none()).unwrap();
    system.joint("pivot", JointKind::Spherical, GROUND, "hook").unwrap();
    system
}

#[test]
fn bodies_that_nothing_holds_are_named() {
    let mut system = pendulum();
    system.body("stone", block()).unwrap();
    system.body("moon", block()).unwrap();
    system.joint("tether", JointKind::Distance { length: 1.0 }, "stone", "moon").unwrap();
    let error = begin(&system).unwrap_err();
    let bodies = vec!["stone".to_string(), "moon".to_string()];
    assert_eq!(error, SimulationError::System(SystemError::Unconnected { bodies }));
    let text = error.to_string();
    assert!(text.contains("'stone', 'moon' are held by no joint"), "{text}");
    assert_eq!(begin(&pendulum()), Ok(()));
}

#[test]
fn what_a_free_body_holds_is_held() {
    let mut system = empty();
    system.body("stone", block().free()).unwrap();
    system.body("moon", block().at(Vector3::x(), none())).unwrap();
    system.joint("tether", JointKind::Distance { length: 1.0 }, "stone", "moon").unwrap();
    assert_eq!(begin(&system), Ok(()));
}

#[test]
fn missing_bodies_and_frames_bring_near_names() {
    let mut system = pendulum();
    let error = system.joint("brace", JointKind::Spherical, GROUND, "hok").unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(&error, SystemError::Missing { near, .. } if near.contains(&"hook".to_string())),
        "{text}"
    );
    assert!(text.contains("the joint 'brace'") && text.contains("'hok'") && text.contains("hook"), "{text}");

    let error = system.frame("eye", "bop", Vector3::zeros(), none()).unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(&error, SystemError::Missing { near, .. } if near.contains(&"bob".to_string())),
        "{text}"
    );
    assert!(text.contains("the frame 'eye'") && text.contains("'bop'"), "{text}");

    let spring = ForceKind::SpringDamper { stiffness: 1.0, damping: 0.0, length: 1.0 };
    let error = system.force("spring", spring, "grond", "bob").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the force 'spring'") && text.contains("ground"), "{text}");
}

/// After a refusal the same name can be used for what was meant.
#[test]
fn a_refusal_leaves_the_system_as_it_was() {
    let mut system = pendulum();
    assert!(system.joint("brace", JointKind::Distance { length: 1.0 }, GROUND, "bop").is_err());
    assert!(system.joint("brace", JointKind::Distance { length: 0.0 }, GROUND, "bob").is_err());
    assert_eq!(system.joint("brace", JointKind::Distance { length: 0.5 }, GROUND, "bob"), Ok(()));
    let spring = |stiffness| ForceKind::SpringDamper { stiffness, damping: 0.0, length: 1.0 };
    assert!(system.force("spring", spring(f64::NAN), GROUND, "bob").is_err());
    assert_eq!(system.force("spring", spring(1.0), GROUND, "bob"), Ok(()));
    assert!(system.coordinates("heat", Coordinates::new(vec![-1.0], vec![0.0])).is_err());
    assert_eq!(system.coordinates("heat", Coordinates::new(vec![1.0], vec![0.0])), Ok(()));

    // The frame that was there stays where it was.
    let before = system.joints()[0].ends[1].point;
    assert!(system.frame("hook", "bob", Vector3::x(), none()).is_err());
    assert!(system.body("hook", block()).is_err());
    system.joint("second", JointKind::Spherical, GROUND, "hook").unwrap();
    assert_eq!(system.joints().last().unwrap().ends[1].point, before);
    assert!(system.body("bob", block()).is_err());
    assert_eq!(system.joint("third", JointKind::Spherical, GROUND, "bob"), Ok(()));
    assert_eq!(system.joints().last().unwrap().ends[1].body, Some(0));
}

#[test]
fn names_differ() {
    let mut system = pendulum();
    let twice = |result: Result<(), SystemError>, what: &str, name: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(&format!("two {what} called '{name}'")), "{text}");
    };
    twice(system.body("bob", block()), "bodies or frames", "bob");
    twice(system.body(GROUND, block()), "bodies or frames", GROUND);
    let mut system = pendulum();
    twice(system.frame("hook", "bob", Vector3::zeros(), none()), "bodies or frames", "hook");
    twice(system.joint("pivot", JointKind::Spherical, GROUND, "bob"), "joints", "pivot");
    let spring = ForceKind::SpringDamper { stiffness: 1.0, damping: 0.0, length: 1.0 };
    system.force("spring", spring.clone(), GROUND, "bob").unwrap();
    twice(system.force("spring", spring.clone(), GROUND, "bob"), "forces", "spring");
    system.coordinates("heat", Coordinates::new(vec![1.0], vec![0.0])).unwrap();
    twice(system.coordinates("heat", Coordinates::new(vec![1.0], vec![0.0])), "coordinates", "heat");
    // A joint and a force may share a name.
    assert_eq!(system.force("pivot", spring, GROUND, "bob"), Ok(()));
}

#[test]
fn a_joint_needs_two_bodies() {
    let mut system = pendulum();
    let error = system.joint("loop", JointKind::Revolute, "bob", "hook").unwrap_err();
    assert!(error.to_string().contains("joins the body 'bob' with itself"), "{error}");
    system.frame("post", GROUND, Vector3::x(), none()).unwrap();
    let error = system.joint("fence", JointKind::Distance { length: 1.0 }, "post", GROUND).unwrap_err();
    assert!(error.to_string().contains("'ground' with itself"), "{error}");
}

#[test]
fn masses_are_positive() {
    for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Rigid::new(mass, Matrix3::identity()).unwrap_err();
        assert!(matches!(error, InertiaError::Mass { .. }), "{mass}: {error}");
        let mut body = block();
        body.mass = mass;
        let error = empty().body("bob", body).unwrap_err();
        assert!(error.to_string().contains("body 'bob'"), "{mass}: {error}");
    }
}

#[test]
fn inertias_are_those_of_bodies() {
    let bad = [
        Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0)),
        Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 0.0)),
        Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 3.0)),
        Matrix3::from_diagonal(&Vector3::new(1.0, f64::NAN, 1.0)),
        Matrix3::new(1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
    ];
    for inertia in bad {
        assert!(Rigid::new(1.0, inertia).is_err(), "{inertia:?}");
    }
}

#[test]
fn numbers_are_finite() {
    let nan = Vector3::new(0.0, f64::NAN, 0.0);
    for body in [block().at(nan, none()), block().moving(nan, -nan), block().moving(Vector3::x(), nan)] {
        let error = empty().body("bob", body).unwrap_err();
        assert!(error.to_string().contains("body 'bob'") && error.to_string().contains("finite"), "{error}");
    }
    let error = pendulum().frame("eye", "bob", nan, none()).unwrap_err();
    assert!(error.to_string().contains("finite"), "{error}");
    for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = pendulum().joint("rod", JointKind::Distance { length }, GROUND, "bob").unwrap_err();
        assert!(error.to_string().contains("its length must be positive"), "{error}");
    }
    let mut extra = Coordinates::new(vec![1.0], vec![0.0]);
    extra.stiffness = vec![f64::INFINITY];
    assert!(pendulum().coordinates("heat", extra).is_err());
    let mut extra = Coordinates::new(vec![1.0], vec![0.0]);
    extra.stiffness = vec![1.0, 2.0];
    assert!(pendulum().coordinates("heat", extra).is_err());
    // An attitude that is none.
    let astray = Rotation::from_rotation_vector(&nan);
    let mut system = empty();
    let refused = system.body("bob", block().at(Vector3::zeros(), astray).free());
    assert!(refused.is_err() || begin(&system).is_err());
}

#[test]
fn redundant_joints_are_named() {
    let mut system = pendulum();
    system.joint("second", JointKind::Spherical, GROUND, "hook").unwrap();
    // A joint that has nothing to do with it.
    system.body("other", block().at(Vector3::x() * 3.0, none())).unwrap();
    system.frame("there", GROUND, Vector3::x() * 3.0, none()).unwrap();
    system.joint("apart", JointKind::Revolute, "there", "other").unwrap();
    let run = Simulation::new(&system, &method("geometric-alpha")).unwrap();
    assert_eq!(run.assembly().redundancies, [["pivot", "second"], ["pivot", "second"], ["pivot", "second"]]);
    assert_eq!(run.assembly().undetermined(), ["pivot", "second"]);
    assert_eq!(run.degrees_of_freedom(), 4);
}

/// Four bars in the plane of x and y: the ground, and three bodies from one corner to the next. The third and fourth
/// joint leave out what the others forbid already, unless all are hinges.
fn four_bar(corners: [[f64; 2]; 4], hinges: bool) -> System<f64> {
    let at = corners.map(|[x, y]| Vector3::new(x, y, 0.0));
    let mut system = System::new(Vector3::new(0.0, -9.81, 0.0));
    for i in 0..3 {
        let (from, to) = (at[i], at[i + 1]);
        let along = to - from;
        let attitude = Rotation::from_rotation_vector(&(Vector3::z() * along.y.atan2(along.x)));
        let half = Vector3::x() * (along.norm() / 2.0);
        let name = ["crank", "coupler", "rocker"][i];
        system.body(name, block().at((from + to) / 2.0, attitude)).unwrap();
        system.frame(&format!("{name} 0"), name, -half, none()).unwrap();
        // The first axis of a universal joint is across the bar.
        let quarter = Rotation::from_rotation_vector(&(Vector3::z() * std::f64::consts::FRAC_PI_2));
        system.frame(&format!("{name} 1"), name, half, quarter).unwrap();
    }
    system.frame("post", GROUND, at[3], none()).unwrap();
    let kind = |other| if hinges { JointKind::Revolute } else { other };
    system.frame("foot", GROUND, at[0], none()).unwrap();
    system.joint("A", JointKind::Revolute, "foot", "crank 0").unwrap();
    system.joint("B", JointKind::Revolute, "crank 1", "coupler 0").unwrap();
    system.joint("C", kind(JointKind::Spherical), "coupler 1", "rocker 0").unwrap();
    system.joint("D", kind(JointKind::Universal), "post", "rocker 1").unwrap();
    system
}

const OPEN: [[f64; 2]; 4] = [[0.0, 0.0], [0.2, 0.7], [1.3, 1.1], [1.5, 0.0]];

#[test]
fn a_planar_loop_of_hinges_is_redundant() {
    assert_eq!(begin(&four_bar(OPEN, false)), Ok(()));
    let run = Simulation::new(four_bar(OPEN, true), &method("geometric-alpha")).unwrap();
    assert_eq!(run.assembly().redundancies, [["A", "B", "C", "D"]; 3]);
    assert_eq!(run.degrees_of_freedom(), 1);
}

#[test]
fn a_stretched_linkage_is_refused_at_the_start() {
    // All four corners on a line.
    let flat = [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0]];
    let error = begin(&four_bar(flat, false)).unwrap_err();
    let SimulationError::Assembly(AssemblyError::SingularPosition { joints }) = &error else {
        panic!("{error}")
    };
    assert_eq!(*joints, ["A", "B", "C", "D"]);
    // Hinges alone are redundant everywhere, and here once more.
    let error = begin(&four_bar(flat, true)).unwrap_err();
    assert!(matches!(error, SimulationError::Assembly(AssemblyError::SingularPosition { .. })), "{error}");
}

#[test]
fn a_parallelogram_passes_its_flat_position_or_says_so() {
    // Bars of 1 m and 2 m: on its way down the crank lies flat, and all others with it.
    let corners = [[0.0, 0.0], [0.3f64.cos(), 0.3f64.sin()], [2.0 + 0.3f64.cos(), 0.3f64.sin()], [2.0, 0.0]];
    for form in FORMS {
        for h in [1e-3, 3e-3, 0.01] {
            let system = four_bar(corners, false);
            let mut run = Simulation::new(&system, &method(form)).unwrap();
            for n in 0..600 {
                match run.step(h) {
                    Ok(()) => {}
                    Err(StepError::Singular { joints, .. }) => {
                        assert!(!joints.is_empty());
                        break;
                    }
                    Err(StepError::NotConverged { .. }) => break,
                    Err(error) => panic!("{form}: {error}"),
                }
                let violation = run.violation().position;
                assert!(violation < 1e-12, "{form}, h = {h}, step {n}: {violation:e}");
                assert!(run.bodies().iter().all(|b| b.position.norm() < 10.0 && b.velocity.norm() < 100.0));
            }
            assert!(run.all_multipliers().iter().all(|l| l.is_finite()), "{form}");
        }
    }
}

#[test]
fn open_joints_are_refused_or_assembled() {
    let mut system = empty();
    system.body("bob", block().at(Vector3::new(0.1, 0.0, -0.7), none())).unwrap();
    system.frame("hook", "bob", Vector3::z() * 0.5, none()).unwrap();
    system.joint("pivot", JointKind::Spherical, GROUND, "hook").unwrap();
    let error = begin(&system).unwrap_err();
    let SimulationError::Assembly(AssemblyError::Open { joint, gap }) = &error else { panic!("{error}") };
    assert_eq!(joint, "pivot");
    assert!((gap - 0.2).abs() < 1e-15, "{gap}");
    assert!(error.to_string().contains("let them be assembled"), "{error}");

    for form in FORMS {
        let run = Simulation::assembled(&system, &method(form)).unwrap();
        assert!(run.violation().position < 1e-15, "{form}: {:?}", run.violation());
        let bob = run.moving("bob").unwrap();
        let moved = (bob.position - Vector3::new(0.1, 0.0, -0.7)).norm();
        let turned = bob.attitude.rotation_vector().norm();
        assert_eq!(run.assembly().moved, Some(("bob".into(), moved)));
        assert_eq!(run.assembly().turned, Some(("bob".into(), turned)));
        // No further than the gap, and not without a turn.
        assert!(moved < 0.2236 && turned > 1e-3, "{moved} {turned}");
    }
}

#[test]
fn what_fits_is_not_moved() {
    let run_system = pendulum();
    let run = Simulation::assembled(&run_system, &method("linear-alpha")).unwrap();
    assert_eq!(run.assembly().moved, None);
    assert_eq!(run.assembly().turned, None);
    assert_eq!(run.position("bob").unwrap(), Vector3::z() * -0.5);
}

#[test]
fn velocities_are_made_to_fit() {
    let mut system = empty();
    let body = block().at(Vector3::z() * -0.5, none()).moving(Vector3::new(1.0, 0.0, 2.0), Vector3::zeros());
    system.body("bob", body).unwrap();
    system.frame("hook", "bob", Vector3::z() * 0.5, none()).unwrap();
    system.joint("pivot", JointKind::Spherical, GROUND, "hook").unwrap();
    let run = Simulation::new(&system, &method("geometric-alpha")).unwrap();
    assert!(run.violation().velocity < 1e-15);
    // The impulse of the pivot: (m l²/(m l² + J)) of the velocity across is left, none along.
    let bob = run.moving("bob").unwrap();
    let left = 0.25 / 1.25;
    assert!((bob.velocity - Vector3::new(left, 0.0, 0.0)).norm() < 1e-15, "{:?}", bob.velocity);
    assert!((bob.omega_body - Vector3::new(0.0, -left / 0.5, 0.0)).norm() < 1e-15, "{:?}", bob.omega_body);
    assert!((run.assembly().velocity - (0.8f64 * 0.8 + 4.0).sqrt()).abs() < 1e-15);
    assert!((run.assembly().omega - left / 0.5).abs() < 1e-15);
}

#[test]
fn joints_that_contradict_each_other_are_refused() {
    // A bob within reach of 0.5 m, and a rod of 1 m to a post 5 m away.
    let mut system = pendulum();
    system.frame("post", GROUND, Vector3::x() * 5.0, none()).unwrap();
    system.joint("rod", JointKind::Distance { length: 1.0 }, "post", "bob").unwrap();
    for form in FORMS {
        let error = Simulation::assembled(&system, &method(form)).map(|_| ()).unwrap_err();
        let SimulationError::Assembly(error) = &error else { panic!("{error}") };
        println!("{form}: {error}");
        match error {
            AssemblyError::NotClosed { joint, gap } => {
                assert!(["rod", "pivot"].contains(&joint.as_str()) && *gap > 0.1, "{error}");
            }
            // On the way the bob may come to lie where the rod pulls along the arm.
            AssemblyError::Dependent { joints } => assert!(joints.contains(&"rod".to_string()), "{error}"),
            other => panic!("{other}"),
        }
    }
    // A loop of bars too short to close.
    let mut short = four_bar(OPEN, false);
    short.frame("far", GROUND, Vector3::x() * 9.0, none()).unwrap();
    short.joint("E", JointKind::Distance { length: 1.0 }, "far", "coupler").unwrap();
    let refused = Simulation::assembled(&short, &method("linear-alpha")).map(|_| ());
    assert!(matches!(refused, Err(SimulationError::Assembly(_))), "{refused:?}");
}

#[test]
fn methods_have_their_ranges() {
    for id in [
        "geometric-alpha,rho=1.1",
        "geometric-alpha,rho=-0.1",
        "linear-alpha,rho=nan",
        "geometric-alpha,rho=0.8,alpha_m=0.1",
        "residual-alpha,rho=0.8,gamma=0.6",
        "geometric-alpha,map=exp",
        "geometric-alpha,chart=rescaled",
        "linear-alpha,chart=rescaled,map=cayley",
        "linear-alpha,chart=rescaled,map=euler-rodrigues",
        "linear-alpha,constraints=none",
    ] {
        assert!(Method::parse(id).is_err(), "{id}");
    }
    for id in ["geometric-alpha,rho=0", "linear-alpha,rho=1", "residual-alpha,alpha_m=0,alpha_f=0.1"] {
        assert!(Method::parse(id).is_ok(), "{id}");
    }
    let text = Method::parse("geometric-alpha,rho=0.8,alpha_m=0.1").unwrap_err().to_string();
    assert!(text.contains("give it or them, not both"), "{text}");
}

#[test]
fn methods_of_single_bodies_are_refused() {
    let system = pendulum();
    for id in ["mkrk:rk4", "forward-euler", "rotation-vector"] {
        let error = Simulation::new(&system, &method(id)).map(|_| ()).unwrap_err();
        assert_eq!(error, SimulationError::Method { id: id.into() });
        assert!(error.to_string().contains("geometric-alpha, linear-alpha or residual-alpha"), "{error}");
    }
}

#[test]
fn after_an_error_all_is_as_it_was() {
    let system = pendulum();
    for form in FORMS {
        let mut run = Simulation::new(&system, &method(form)).unwrap();
        run.step(0.01).unwrap();
        let (before, time) = (run.bodies()[0].position, run.time());
        let lambda = run.all_multipliers().to_vec();
        assert!(run.step(f64::NAN).is_err(), "{form}");
        assert_eq!((run.bodies()[0].position, run.time()), (before, time), "{form}");
        assert_eq!(run.all_multipliers(), lambda, "{form}");
        run.step(0.01).unwrap();
        assert!(run.violation().position < 1e-15, "{form}");
    }
}

#[test]
fn steps_that_are_none_are_errors() {
    let system = pendulum();
    for form in FORMS {
        for h in [0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let mut run = Simulation::new(&system, &method(form)).unwrap();
            let outcome = run.step(h);
            // A step of no length may also be taken, if nothing moves.
            assert!(outcome.is_err() || h == 0.0, "{form}, h = {h}");
            assert_eq!(run.time(), 0.0, "{form}, h = {h}");
            assert!((run.position("bob").unwrap() - Vector3::z() * -0.5).norm() < 1e-15, "{form}, h = {h}");
        }
    }
}

#[test]
fn a_system_of_nothing_does_nothing() {
    let system = empty();
    for form in FORMS {
        let mut run = Simulation::new(&system, &method(form)).unwrap();
        run.step(0.1).unwrap();
        assert_eq!((run.energy(), run.violation().position), (0.0, 0.0), "{form}");
    }
}

/// Cosines between axes have no size of their own: a small mechanism is as closed as a large one.
#[test]
fn small_mechanisms_close_as_well_as_large_ones() {
    for size in [0.0, 1e-9, 1e-6, 1e-3, 1e3] {
        let axes = Rotation::from_rotation_vector(&Vector3::new(0.6, 0.9, -0.2));
        let attitude = Rotation::from_rotation_vector(&Vector3::new(-0.3, 0.1, 1.0));
        let point = Vector3::new(0.3, 0.5, -0.4) * size;
        let mut system = empty();
        system.body("bob", block().at(-attitude.rotate(&point), attitude)).unwrap();
        system.frame("hook", "bob", point, attitude.inverse().compose(&axes)).unwrap();
        system.frame("wall", GROUND, Vector3::zeros(), axes).unwrap();
        system.joint("hinge", JointKind::Revolute, "wall", "hook").unwrap();
        assert_eq!(begin(&system), Ok(()), "{size}");
        // Turned a little too far, and by too much.
        let astray = attitude.compose(&Rotation::from_rotation_vector(&Vector3::new(1e-3, 0.0, 0.0)));
        let mut open = empty();
        open.body("bob", block().at(-astray.rotate(&point), astray)).unwrap();
        open.frame("hook", "bob", point, attitude.inverse().compose(&axes)).unwrap();
        open.frame("wall", GROUND, Vector3::zeros(), axes).unwrap();
        open.joint("hinge", JointKind::Revolute, "wall", "hook").unwrap();
        let refused = begin(&open);
        let known = matches!(refused, Err(SimulationError::Assembly(AssemblyError::Open { .. })));
        assert!(known, "{size}: {refused:?}");
        let run = Simulation::assembled(&open, &method("linear-alpha")).unwrap();
        assert!(run.violation().position < 1e-15 * (1.0 + size), "{size}: {:?}", run.violation());
    }
}

/// The heavier body gives way less, so that their common centre of mass stays.
#[test]
fn bodies_are_assembled_where_their_masses_want() {
    let mut system = empty();
    for (name, mass, x) in [("light", 1.0, 0.0), ("heavy", 3.0, 0.4)] {
        let body = Rigid::new(mass, Matrix3::identity()).unwrap().at(Vector3::x() * x, none());
        system.body(name, body.moving(Vector3::y() * x, Vector3::zeros()).free()).unwrap();
    }
    system.joint("ball", JointKind::Spherical, "light", "heavy").unwrap();
    let run = Simulation::assembled(&system, &method("geometric-alpha")).unwrap();
    for name in ["light", "heavy"] {
        let body = run.moving(name).unwrap();
        assert!((body.position - Vector3::x() * 0.3).norm() < 1e-15, "{:?}", body.position);
        assert!((body.velocity - Vector3::y() * 0.3).norm() < 1e-15, "{:?}", body.velocity);
    }
    let Some((body, moved)) = &run.assembly().moved else { panic!("nothing moved") };
    assert_eq!(body, "light");
    assert!((moved - 0.3).abs() < 1e-15 && run.assembly().turned.is_none());
}
