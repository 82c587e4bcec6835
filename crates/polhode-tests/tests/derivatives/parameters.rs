//! Parameters by name, and derivatives with respect to them by duals in the data of a problem.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Drag, Force, Frame, Gravity, Harmonic, HarmonicForce, Moment, SoftWall, TopGravity};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{
    Coordinates, ForceKind, GROUND, JointKind, Rigid, Simulation, System, SystemParameter, SystemScalar,
};
use polhode::problem::Problem;
use polhode::scalar::{Dual, Real};

type D = Dual<f64, 1>;

/// Brüls & Eberhard's top: dx/dm at t = 0.1 with h = 2e-3, computed to 45 digits elsewhere.
#[test]
fn the_heavy_top_with_its_mass_as_a_dual() {
    let known = [
        (
            "residual-alpha",
            [0.002_660_543_712_618_839_4, -0.000_159_718_651_776_676_45, 0.006_447_415_963_255_426],
        ),
        (
            "linear-alpha",
            [0.002_561_650_582_058_097, -0.000_149_764_903_862_197_37, 0.006_330_888_131_072_681],
        ),
        (
            "geometric-alpha",
            [0.002_637_083_392_646_668_4, -0.000_157_989_536_425_745_6, 0.006_414_088_394_519_343],
        ),
    ];
    let problem = Problem::named("heavy-top").unwrap();
    let mass = problem.find_parameters(&["mass"]).unwrap()[0];
    let model = problem.model().unwrap();
    let mut lifted = model.system().lift::<D>();
    lifted.bodies_mut()[0].mass.eps = [1.0];
    let built = problem.system_with_slopes(&|i| D { re: 0.0, eps: [f64::from(i == mass)] }).unwrap();
    for system in [&lifted, &built] {
        for (id, slopes) in known {
            let mut simulation = Simulation::new(system, &Method::parse(id).unwrap()).unwrap();
            for _ in 0..50 {
                simulation.step(Dual::constant(2e-3)).unwrap();
            }
            for (x, slope) in simulation.bodies()[0].position.iter().zip(slopes) {
                assert!((x.eps[0] - slope).abs() < 1e-12, "{id}: {} {slope}", x.eps[0]);
            }
        }
    }
}

fn names(problem: &Problem) -> Vec<String> {
    problem.parameters().into_iter().map(|p| p.name).collect()
}

#[test]
fn names_follow_the_data() {
    let named = |id: &str| Problem::named(id).unwrap();
    assert_eq!(
        names(&named("double-pendulum"))[..9],
        [
            "mass_1",
            "mass_2",
            "inertia_upper_xx",
            "inertia_upper_yy",
            "inertia_upper_zz",
            "inertia_upper_xy",
            "inertia_upper_xz",
            "inertia_upper_yz",
            "inertia_lower_xx"
        ]
    );
    assert_eq!(names(&named("four-bar"))[4..8], ["mass_1", "mass_2", "mass_3", "angle"]);
    let all = names(&named("chain"));
    assert!(all[0] == "mass" && !all.iter().any(|name| name == "bodies" || name == "joint"));
    assert!(!names(&named("prescribed-motion")).iter().any(|name| name.starts_with("moments")));
    // The momentum in place of the angular velocity.
    let mut top = named("fast-top");
    assert!(names(&top).contains(&"omega_body_z".into()));
    top.set("momentum_body", "0,0,50").unwrap();
    let all = names(&top);
    assert!(all.contains(&"momentum_body_z".into()) && !all.contains(&"omega_body_z".into()));
    // Values: of an inertia by entries however it is given, of a rotation none.
    top.set("inertia", "5,0.1,0,0.1,6,0,0,0,2").unwrap();
    let values: Vec<f64> = top.parameters().iter().map(|p| p.value).collect();
    assert_eq!(values[..9], [5.0, 6.0, 2.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0]);
    for problem in Problem::all() {
        let (all, mut once) = (names(&problem), names(&problem));
        once.sort();
        once.dedup();
        assert_eq!(all.len(), once.len(), "{}", problem.id);
        assert!(problem.parameters().iter().all(|p| !p.help.is_empty() && p.value.is_finite()));
    }
}

#[test]
fn parameters_are_found_by_every_spelling() {
    let top = Problem::named("heavy-top").unwrap();
    let at = |names: &[&str]| top.find_parameters(names).unwrap();
    let center = at(&["center"]);
    assert_eq!(center.len(), 3);
    for spelled in ["center_y", "center.y", "center[1]", " center_y "] {
        assert_eq!(at(&[spelled]), center[1..2], "{spelled}");
    }
    assert_eq!(at(&["inertia.xy", "mass"]), [3, 12]);
    assert_eq!(at(&["inertia[3]"]), [3]);
    let pendulum = Problem::named("double-pendulum").unwrap();
    let found = |names: &[&str]| pendulum.find_parameters(names).unwrap();
    assert_eq!(found(&["mass[0]", "mass_2"]), found(&["mass"]));
}

#[test]
fn what_is_no_parameter_is_refused() {
    let refused = |id: &str, names: &[&str]| {
        Problem::named(id).unwrap().find_parameters(names).unwrap_err().to_string()
    };
    let unknown = refused("fast-top", &["omega_bdy_z"]);
    assert!(unknown.starts_with("fast-top has no parameter called 'omega_bdy_z'; did you mean omega_body_z"));
    assert!(unknown.contains("(it has inertia_xx, ") && unknown.ends_with("mgl)"));
    assert_eq!(
        refused("heavy-top", &["center", "center_y"]),
        "the parameter center_y is asked for twice, by 'center' and by 'center_y'; leave one of them out"
    );
    assert!(refused("heavy-top", &["mass", "mass"]).ends_with("twice; name it once"));
    assert_eq!(
        refused("chain", &["bodies"]),
        "bodies is not a parameter: what counts or chooses has no derivative"
    );
    assert!(refused("chain", &["joint"]).contains("chooses"));
    assert!(refused("prescribed-motion", &["moments_about"]).contains("chooses"));
    assert!(refused("fast-top", &["momentum_body"]).contains("set it first"));
    assert!(refused("heavy-top", &["center[3]"]).contains("no parameter called 'center[3]'"));
}

#[test]
fn a_changed_problem_is_checked() {
    let top = Problem::named("fast-top").unwrap();
    let [third] = top.find_parameters(&["inertia_zz"]).unwrap()[..] else { panic!("one") };
    let refused = |changes: &[(usize, f64)]| top.changed(changes).unwrap_err().to_string();
    assert!(refused(&[(third, 10.0)]).contains("A + B >= C"));
    // Two changes of one parameter add up.
    assert!(top.changed(&[(third, 10.0), (third, -9.5)]).is_ok());
    assert!(refused(&[(third, f64::NAN)]).contains("inertia_zz must be finite"));
    assert!(refused(&[(99, 1.0)]).contains("there is no number 99"));
    let linkage = Problem::named("four-bar").unwrap();
    let [coupler] = linkage.find_parameters(&["coupler"]).unwrap()[..] else { panic!("one") };
    assert!(linkage.changed(&[(coupler, -0.9)]).unwrap_err().to_string().contains("do not reach"));
    // A rotation is followed by the turn, in body axes.
    let [x] = top.find_parameters(&["attitude_x"]).unwrap()[..] else { panic!("one") };
    let turned = top.changed(&[(x, 0.2)]).unwrap().start().bodies[0].attitude;
    assert!((turned.rotation_vector() - Vector3::new(0.5, 0.0, 0.0)).norm() < 1e-15);
}

/// Positions, quaternions and velocities of all bodies, and the multipliers.
fn numbers<S: SystemScalar>(system: &System<S>, method: &str, h: f64, steps: usize) -> Vec<S> {
    let mut simulation = Simulation::new(system, &Method::parse(method).unwrap()).unwrap();
    for _ in 0..steps {
        simulation.step(S::lift(h)).unwrap();
    }
    let mut row: Vec<S> = vec![simulation.kinetic_energy()];
    row.push(simulation.energy());
    for body in simulation.bodies() {
        row.extend(body.position.iter().chain(body.velocity.iter()).chain(body.omega_body.iter()));
        row.extend(body.attitude.q_wxyz());
    }
    row.extend(simulation.all_multipliers());
    row
}

/// The derivative by duals against a difference quotient of fourth order, in units of the largest one.
fn agree(what: &str, duals: &[D], d: f64, at: impl Fn(f64) -> Vec<f64>) {
    let [a, b, c, e] = [-2.0 * d, -d, d, 2.0 * d].map(at);
    let largest = duals.iter().fold(1e-3, |most: f64, x| most.max(x.eps[0].abs()));
    for (k, dual) in duals.iter().enumerate() {
        let slope = (8.0 * (c[k] - b[k]) - (e[k] - a[k])) / (12.0 * d);
        // Multipliers of short steps have lost some digits.
        let rounding = 1e-10 * dual.re.abs().max(1.0) / d;
        let gap = (dual.eps[0] - slope).abs();
        assert!(gap < 1e-6 * largest + rounding, "{what} number {k}: {} and {slope}", dual.eps[0]);
    }
}

/// Every parameter of every problem that the methods for systems run, after a few steps.
#[test]
fn systems_of_problems_have_the_derivatives_of_changed_ones() {
    for mut problem in Problem::all() {
        match problem.id.as_str() {
            // Inside the edge of what an inertia can be.
            "heavy-top" => problem.set("inertia", "0.3,0.4,0.25").unwrap(),
            "chain" => problem.set("bodies", "3").unwrap(),
            _ => {}
        }
        // Short steps cost digits of the multipliers, which differences do not have.
        let h = 5e-3;
        for (p, parameter) in problem.parameters().iter().enumerate() {
            let seeded = |i| D { re: 0.0, eps: [f64::from(i == p)] };
            let system = problem.system_with_slopes(&seeded).unwrap();
            let method = if p % 2 == 0 { "linear-alpha" } else { "geometric-alpha" };
            let what = format!("{} {} {method}", problem.id, parameter.name);
            let least = if parameter.name.starts_with("inertia") { 4e-3 } else { 0.2 };
            let d = 5e-3 * parameter.value.abs().max(least);
            agree(&what, &numbers(&system, method, h, 3), d, |change| {
                let changed = |i| if i == p { change } else { 0.0 };
                numbers(&problem.system(&changed).unwrap(), method, h, 3)
            });
        }
    }
}

/// Every kind of joint, force and load.
fn zoo() -> System<f64> {
    let mut system = System::new(Vector3::new(0.1, 0.2, -9.81));
    let inertia = Matrix3::new(1.0, 0.1, 0.05, 0.1, 1.2, -0.02, 0.05, -0.02, 0.9);
    let kinds = [
        JointKind::Spherical,
        JointKind::Revolute,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Universal,
        JointKind::Planar,
        JointKind::Fixed,
        JointKind::Distance { length: 0.3 },
    ];
    let v = |x: f64, y: f64, z: f64| Vector3::new(x, y, z);
    for (k, kind) in kinds.into_iter().enumerate() {
        let name = kind.name();
        let place = v(k as f64, 0.2, -0.1);
        let mut body = Rigid::new(1.0 + k as f64, inertia)
            .unwrap()
            .at(place, Rotation::from_rotation_vector(&v(0.1, 0.2, 0.3)))
            .moving(v(0.3, 0.1, -0.2), v(0.5, -0.4, 0.3));
        if name == "spherical" {
            body = body
                .with(Gravity { weight_space: v(0.0, 0.1, -1.0), center_body: v(0.1, 0.2, 0.3) })
                .with(TopGravity { mgl: 2.0 })
                .with(Moment { frame: Frame::Space, value: v(1.0, 2.0, 3.0) })
                .with(Harmonic {
                    frame: Frame::Body,
                    amplitude: v(1.0, 0.5, 0.2),
                    frequency: 2.0,
                    phase: 0.1,
                })
                .with(Force { frame: Frame::Body, point_body: v(0.3, 0.1, 0.0), value: v(0.0, 1.0, 2.0) });
        }
        if name == "planar" {
            let (frequency, phase) = (3.0, 0.2);
            body = body
                .with(Drag { coefficient: 0.3 })
                .with(SoftWall { coulomb: 1.0, wall: 0.1, offset: 2.0 })
                .with(polhode::body::RotationalSpring { stiffness: v(1.0, 2.0, 3.0) })
                .with(HarmonicForce {
                    frame: Frame::Space,
                    point_body: v(0.1, 0.0, 0.2),
                    amplitude: v(1.0, 0.0, 0.0),
                    frequency,
                    phase,
                });
        }
        system.body(name, body).unwrap();
        let (eye, hook) = (format!("{name}.eye"), format!("{name}.hook"));
        system
            .frame(&eye, name, v(0.1, 0.2, 0.3), Rotation::from_rotation_vector(&v(0.3, 0.0, 0.1)))
            .unwrap();
        system.frame(&hook, GROUND, place, Rotation::from_rotation_vector(&v(0.1, -0.4, 0.2))).unwrap();
        system.joint(&format!("{name}-joint"), kind, &hook, &eye).unwrap();
    }
    let spring = ForceKind::SpringDamper { stiffness: 100.0, damping: 2.0, length: 0.5 };
    system.force("spring", spring.clone(), "spherical.eye", "fixed.eye").unwrap();
    let torsion = ForceKind::TorsionSpring { stiffness: 10.0, damping: 0.2, angle: 0.1 };
    system.force("torsion", torsion, "revolute.eye", "planar.eye").unwrap();
    // A name that a joint has too.
    system.force("fixed-joint", spring, "spherical", "fixed").unwrap();
    let flat = Coordinates {
        stiffness: vec![3.0, 1.0, 1.0, 4.0],
        ..Coordinates::new(vec![2.0, 0.1, 0.1, 1.0], vec![0.1, 0.2])
    };
    system.coordinates("flat", flat).unwrap();
    system
}

/// Every number of a system, with where it is.
fn all_numbers<S: Real>(system: &System<S>) -> Vec<(String, S)> {
    let mut all: Vec<(String, S)> = Vec::new();
    let mut put = |name: String, values: &[S]| {
        all.extend(values.iter().enumerate().map(|(i, x)| (format!("{name} {i}"), *x)));
    };
    put("gravity".into(), system.gravity().as_slice());
    for body in system.bodies() {
        let of = |what: &str| format!("{} {what}", body.name);
        put(of("mass"), &[body.mass]);
        put(of("inertia"), body.inertia.matrix().as_slice());
        put(of("position"), body.position.as_slice());
        put(of("attitude"), &body.attitude.q_wxyz());
        put(of("velocity"), body.velocity.as_slice());
        put(of("omega_body"), body.omega_body.as_slice());
        for (l, load) in body.loads.list().iter().enumerate() {
            use polhode::body::StandardLoad::*;
            let mut load_numbers = |values: &[&[S]]| put(of(&format!("load_{}", l + 1)), &values.concat());
            match load {
                Gravity(g) => load_numbers(&[g.weight_space.as_slice(), g.center_body.as_slice()]),
                TopGravity(g) => load_numbers(&[&[g.mgl]]),
                Moment(m) => load_numbers(&[m.value.as_slice()]),
                Harmonic(m) => load_numbers(&[m.amplitude.as_slice(), &[m.frequency, m.phase]]),
                Force(f) => load_numbers(&[f.point_body.as_slice(), f.value.as_slice()]),
                HarmonicForce(f) => {
                    load_numbers(&[f.point_body.as_slice(), f.amplitude.as_slice(), &[f.frequency, f.phase]])
                }
                Drag(d) => load_numbers(&[&[d.coefficient]]),
                SoftWall(w) => load_numbers(&[&[w.coulomb, w.wall, w.offset]]),
                RotationalSpring(s) => load_numbers(&[s.stiffness.as_slice()]),
                PrescribedMotion(_) | PrescribedRotation(_) => {}
                Own(own) => load_numbers(&[own.numbers()]),
                SwitchedLoad(switched) => load_numbers(&[&[switched.on, switched.off]]),
            }
        }
    }
    for joint in system.joints() {
        for (end, which) in joint.ends.iter().zip(["first", "second"]) {
            put(format!("{} {which} point", joint.name), end.point.as_slice());
            put(format!("{} {which} axes", joint.name), end.axes.as_slice());
        }
        put(format!("{} length", joint.name), &joint.kind.numbers());
    }
    for force in system.forces() {
        for (end, which) in force.ends.iter().zip(["first", "second"]) {
            put(format!("force {} {which} point", force.name), end.point.as_slice());
            put(format!("force {} {which} axes", force.name), end.axes.as_slice());
        }
        put(format!("force {}", force.name), &force.kind.numbers());
    }
    for extra in system.extra() {
        let of = |what: &str| format!("{} {what}", extra.name);
        put(of("mass"), &extra.mass);
        put(of("damping"), &extra.damping);
        put(of("stiffness"), &extra.stiffness);
        put(of("force"), &extra.force);
        put(of("amplitude"), &extra.amplitude);
        put(of("position"), &extra.position);
        put(of("velocity"), &extra.velocity);
        put(of("drive"), &[extra.frequency, extra.phase]);
    }
    all
}

/// The numbers that a parameter moves, with how fast.
fn moved(system: &System<f64>, parameter: &SystemParameter) -> Vec<(String, f64)> {
    let mut lifted = system.lift::<D>();
    lifted.vary(parameter, D { re: 0.0, eps: [1.0] });
    let mut plain = system.clone();
    plain.vary(parameter, 0.0);
    let (before, after) = (all_numbers(system), all_numbers(&plain));
    for ((name, x), (_, y)) in before.iter().zip(&after) {
        assert!((x - y).abs() < 1e-15 * x.abs().max(1.0), "{name} by {}", parameter.name);
    }
    all_numbers(&lifted).into_iter().filter(|(_, x)| x.eps[0] != 0.0).map(|(n, x)| (n, x.eps[0])).collect()
}

#[test]
fn every_parameter_of_a_system_changes_what_it_says() {
    let system = zoo();
    let all = system.parameters();
    let mut names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    let mut untouched: Vec<String> = all_numbers(&system).into_iter().map(|(name, _)| name).collect();
    for parameter in &all {
        assert!(!parameter.help.is_empty());
        let moved = moved(&system, parameter);
        assert!(!moved.is_empty(), "{}", parameter.name);
        untouched.retain(|name| !moved.iter().any(|(other, _)| other == name));
        let turns = ["attitude", "center", "axes"].iter().any(|part| parameter.name.contains(part));
        let off_diagonal =
            ["_xy", "_xz", "_yz", "flat.mass_12"].iter().any(|end| parameter.name.ends_with(end));
        if turns && !parameter.name.contains("center_body") {
            // Of this element, or of what is fixed to it.
            let element = parameter.name.split('.').next().unwrap();
            let element = element.trim_end_matches("-joint");
            for (name, _) in &moved {
                let tied = ["spring", "torsion", "fixed-joint"].iter().any(|force| name.contains(force));
                assert!(name.contains(element) || tied, "{} moves {name}", parameter.name);
            }
        } else {
            let expected = if off_diagonal { 2 } else { 1 };
            assert_eq!(moved.len(), expected, "{} moves {moved:?}", parameter.name);
            assert!(moved.iter().all(|(_, slope)| *slope == 1.0), "{} moves {moved:?}", parameter.name);
            // Its value is the one that moves.
            let value = all_numbers(&system).into_iter().find(|(name, _)| *name == moved[0].0).unwrap().1;
            assert_eq!(parameter.value, value, "{}", parameter.name);
        }
    }
    // Axes at points, and points of torsion springs, have no effect.
    let idle = |name: &str| {
        (name.contains("axes")
            && ["spherical", "distance", "spring", "fixed-joint"].iter().any(|e| name.contains(e)))
            || (name.contains("torsion") && name.contains("point"))
    };
    let rest: Vec<&String> = untouched.iter().filter(|name| !idle(name)).collect();
    assert!(rest.is_empty(), "no parameter changes {rest:?}");
}

#[test]
fn parameters_of_a_system_say_what_they_move() {
    let system = zoo();
    let one = |name: &str| {
        let [i] = system.find_parameters(&[name]).unwrap()[..] else { panic!("{name}") };
        let parameter = system.parameters().swap_remove(i);
        assert_eq!(parameter.name, name);
        moved(&system, &parameter)
    };
    let is = |name: &str, what: &str| assert_eq!(one(name), [(what.to_string(), 1.0)]);
    is("gravity_y", "gravity 1");
    is("prismatic.mass", "prismatic mass 0");
    is("fixed.velocity_z", "fixed velocity 2");
    is("fixed.omega_body_x", "fixed omega_body 0");
    is("distance-joint.length", "distance-joint length 0");
    is("universal-joint.second_y", "universal-joint second point 1");
    is("spring.damping", "force spring 1");
    is("torsion.angle", "force torsion 2");
    is("spherical.load_3.value_x", "spherical load_3 0");
    is("spherical.load_5.point_body_y", "spherical load_5 1");
    is("planar.load_1.coefficient", "planar load_1 0");
    is("flat.stiffness_12", "flat stiffness 1");
    is("flat.position_2", "flat position 1");
    // A force and a joint of one name.
    is("fixed-joint.first_x", "fixed-joint first point 0");
    is("forces.fixed-joint.first_x", "force fixed-joint first point 0");
    assert_eq!(one("flat.mass_12"), [("flat mass 1".to_string(), 1.0), ("flat mass 2".to_string(), 1.0)]);
    assert_eq!(system.find_parameters(&["spherical.inertia"]).unwrap().len(), 6);
    assert_eq!(
        system.find_parameters(&["fixed.center.y"]).unwrap(),
        system.find_parameters(&["fixed.center[1]"]).unwrap()
    );
    let error = system.find_parameters(&["fixed.mas"]).unwrap_err().to_string();
    assert!(error.starts_with("the system has no parameter called 'fixed.mas'; did you mean fixed.mass"));
    assert!(error.ends_with("more)"), "{error}");
}

/// A shift of the centre of mass, with all that is fixed to the body staying where it is, leaves a system that runs; against
/// differences.
#[test]
fn a_pendulum_with_a_shifted_centre_of_mass() {
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let attitude = Rotation::from_rotation_vector(&Vector3::new(0.2, -0.1, 0.4));
    let (arm, omega) = (Vector3::new(1.0, 0.1, 0.2), Vector3::new(0.3, 1.0, -0.5));
    let body = Rigid::new(2.0, Matrix3::from_diagonal(&Vector3::new(0.1, 0.15, 0.2)))
        .unwrap()
        .at(attitude.rotate(&arm), attitude)
        .moving(attitude.rotate(&omega.cross(&arm)), omega)
        .with(Force { frame: Frame::Body, point_body: Vector3::y(), value: Vector3::new(0.5, 0.0, 1.0) });
    system.body("bob", body).unwrap();
    system.frame("hook", "bob", -arm, Rotation::identity()).unwrap();
    system.joint("pivot", JointKind::Spherical, GROUND, "hook").unwrap();
    let parameters = system.parameters();
    for i in
        system.find_parameters(&["bob.center", "bob.mass", "bob.inertia", "bob.load_1.point_body"]).unwrap()
    {
        let parameter = &parameters[i];
        let mut lifted = system.lift::<D>();
        lifted.vary(parameter, D { re: 0.0, eps: [1.0] });
        agree(&parameter.name, &numbers(&lifted, "linear-alpha", 1e-2, 20), 1e-3, |change| {
            let mut changed = system.clone();
            changed.vary(parameter, change);
            numbers(&changed, "linear-alpha", 1e-2, 20)
        });
    }
}
