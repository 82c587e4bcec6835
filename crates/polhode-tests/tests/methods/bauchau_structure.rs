//! Bauchau et al. 2013: what the intrinsic schemes keep, their symmetry and order, the memory of the generalized-alpha
//! scheme, identities with the methods of Krysl 2006, and where the parameters of a map end.

use crate::common::{Case, advice, method, rotation};
use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::body::Dynamics;
use polhode::body::{
    About, BauchauTrajectory, Body, Frame, Gravity, Harmonic, Loads, Moment, PrescribedMotion, RotaryInertia,
    RotationalSpring, SpatialInertia, State, rates,
};
use polhode::check::{Distance, Plateau, advance, converge, drift, order, reversal_defect};
use polhode::group::{Group, MapKind, Motion, Reading, Rotation, Se3, So3, Vectorial};
use polhode::method::kinematic::update;
use polhode::method::{KINEMATIC, StepVelocity, Stepper, Steps};
use polhode::problem::Problem;
use polhode::run::Plan;
use polhode::run::kinematic::{self, SampleError};
use polhode::scalar::Real;
use polhode::solve::StepError;

const MAPS: [&str; 4] = ["exp", "euler-rodrigues", "cayley", "wiener-milenkovic"];
const RADII: [&str; 4] = ["1", "0.8", "0.5", "0"];
const LOADS: [&str; 2] = ["midpoint", "mean"];
const READINGS: [&str; 3] = ["dual", "hom4", "twist"];
/// |h ω| at the start.
const ANGLES: [f64; 3] = [0.5, 1.0, 1.4];
const OMEGA: [f64; 3] = [0.6, 1.6, -1.0];

fn tensor() -> Matrix3<f64> {
    Matrix3::new(1.0, 0.1, -0.2, 0.1, 2.0, 0.05, -0.2, 0.05, 2.5)
}

fn attitude() -> Rotation<f64> {
    Rotation::from_rotation_vector(&Vector3::new(0.3, -0.2, 0.5))
}

/// A body on a fixed point, turning with [`OMEGA`].
fn turning(load: Loads<f64>) -> Case<f64, So3> {
    let inertia = RotaryInertia::about_fixed_point(tensor()).unwrap();
    let body = Body { inertia, load };
    let start = body.state(attitude(), &OMEGA.into());
    (body, start)
}

const CENTER: [f64; 3] = [0.25, -0.03, 0.12];
const MASS: f64 = 2.0;

/// A body that flies, turning with [`OMEGA`] about a centre of mass that has this velocity, in body axes.
fn flying(load: Loads<f64>, velocity: Vector3<f64>) -> Case<f64, Se3> {
    let (center, omega) = (Vector3::from(CENTER), Vector3::from(OMEGA));
    let inertia = SpatialInertia::mass_matrix(MASS, center, tensor()).unwrap();
    let body = Body { inertia, load };
    let start = body.state(
        Se3::pose(&attitude(), &Vector3::new(0.2, -0.1, 0.3)),
        &Se3::vector(&(velocity - omega.cross(&center)), &omega),
    );
    (body, start)
}

fn gravity(weight: [f64; 3]) -> Gravity<f64> {
    Gravity { weight_space: weight.into(), center_body: CENTER.into() }
}

/// All there is of a state, to compare.
fn parts<S: Real, G: Dynamics>(state: &State<S, G>) -> (G::Pose<S>, G::Vector<S>) {
    (state.pose, state.momentum)
}

/// The step that turns by this angle at the start.
fn step(angle: f64) -> f64 {
    angle / Vector3::from(OMEGA).norm()
}

/// The largest relative drift of energy and of momentum, without load.
fn free_drift<G: Steps<f64>>(id: &str, (body, start): &Case<f64, G>, h: f64, n: u64) -> (f64, f64) {
    let found = drift(&method(id), body, start, h, n).unwrap();
    let momentum = found.momentum_space.unwrap().max(found.linear_momentum_space.unwrap_or(0.0));
    (found.energy.unwrap().max_abs(), momentum / G::angular(&start.momentum).norm())
}

#[test]
fn without_load_the_preserving_scheme_keeps_energy_and_momentum_on_both_groups() {
    let (fixed, free) = (turning(Loads::none()), flying(Loads::none(), Vector3::zeros()));
    for map in MAPS {
        for load in LOADS {
            for h in ANGLES.map(step) {
                let id = format!("preserving:{map},load={load}");
                let (energy, momentum) = free_drift(&id, &fixed, h, 1000);
                assert!(energy < 2e-14 && momentum < 2e-14, "{id} h = {h}: {energy:e} {momentum:e}");
                for reading in READINGS {
                    let id = format!("{id},reading={reading}");
                    let (energy, momentum) = free_drift(&id, &free, h, 1000);
                    assert!(energy < 2e-14 && momentum < 2e-14, "{id} h = {h}: {energy:e} {momentum:e}");
                }
            }
        }
    }
}

/// Energy never rises from step to step and is lost in the end, while momentum is kept.
fn decays<G: Steps<f64>>(id: &str, case: &Case<f64, G>, h: f64) {
    let (body, start) = case;
    let mut stepper = Stepper::new(&method(id));
    let (mut state, whole, mut rise) = (*start, body.kinetic_energy(start), f64::NEG_INFINITY);
    for n in 0..1000 {
        let next = stepper.step(body, &state, f64::from(n) * h, h).unwrap();
        rise = rise.max((body.kinetic_energy(&next) - body.kinetic_energy(&state)) / whole);
        state = next;
    }
    let lost = 1.0 - body.kinetic_energy(&state) / whole;
    let (_, momentum) = free_drift(id, case, h, 1000);
    let right = rise < 1e-15 && lost > 1e-3 && momentum < 2e-14;
    assert!(right, "{id} on {}, h = {h}: rise {rise:e}, lost {lost:e}, momentum {momentum:e}", G::NAME);
}

#[test]
fn without_load_the_decaying_scheme_loses_energy_in_every_step_and_keeps_momentum() {
    let (fixed, free) = (turning(Loads::none()), flying(Loads::none(), Vector3::zeros()));
    for map in MAPS {
        for h in ANGLES.map(step) {
            decays(&format!("decaying:{map}"), &fixed, h);
            for reading in READINGS {
                decays(&format!("decaying:{map},reading={reading}"), &free, h);
            }
        }
    }
}

/// The slopes of attitude, momentum and, for a moving body, position.
fn slopes<G: Steps<f64>>(id: &str, (body, start): &Case<f64, G>, counts: &[u64]) -> Vec<f64> {
    let reference = advance(&method("mkrk:gauss4"), body, start, 0.0, 0.005, 400).unwrap();
    let found = converge(&method(id), body, start, 2.0, counts, &reference).unwrap();
    let parts = [found.attitude(Plateau::At(0.0)), found.momentum(Plateau::At(0.0))];
    let position = G::MOVES.then(|| found.position(Plateau::At(0.0)));
    parts.into_iter().chain(position).map(|order| order.unwrap().slope).collect()
}

fn is_second_order<G: Steps<f64>>(id: &str, case: &Case<f64, G>) {
    let slopes = slopes(id, case, &[160, 320, 640, 1280]);
    assert!(slopes.iter().all(|slope| (slope - 2.0).abs() < 0.03), "{id} on {}: {slopes:?}", G::NAME);
}

#[test]
fn without_load_the_decaying_scheme_is_of_order_two() {
    let (fixed, free) = (turning(Loads::none()), flying(Loads::none(), Vector3::new(0.3, -0.2, 0.4)));
    for map in MAPS {
        is_second_order(&format!("decaying:{map}"), &fixed);
        is_second_order(&format!("decaying:{map}"), &free);
    }
}

/// Loads that depend on pose and time.
fn busy() -> Loads<f64> {
    Loads::none()
        .with(gravity([0.0, 0.4, -3.0]))
        .with(RotationalSpring { stiffness: Vector3::new(1.0, 2.0, 3.0) })
        .with(Moment { frame: Frame::Body, value: Vector3::new(0.1, -0.3, 0.2) })
        .with(Harmonic {
            frame: Frame::Space,
            amplitude: Vector3::new(0.5, -0.3, 0.8),
            frequency: 2.0,
            phase: 0.4,
        })
}

#[test]
fn a_step_back_undoes_a_step_of_the_schemes_without_damping_only() {
    let fixed = turning(busy());
    // Its moment depends on the position.
    let inertia = SpatialInertia::mass_matrix(MASS, CENTER.into(), tensor()).unwrap();
    let motion = BauchauTrajectory { frequency: 2.0, turn_rate: 0.5 };
    let pulled = busy().with(PrescribedMotion::new(inertia, motion, About::Origin));
    let free = flying(pulled, Vector3::new(0.3, -0.2, 0.4));
    let defects = |id: &str| {
        let method = method(id);
        (
            reversal_defect(&method, &fixed.0, &fixed.1, 0.1, 10).unwrap().largest(),
            reversal_defect(&method, &free.0, &free.1, 0.1, 10).unwrap().largest(),
        )
    };
    for map in MAPS {
        for load in LOADS {
            for reading in READINGS {
                let id = format!("preserving:{map},load={load},reading={reading}");
                let (fixed, free) = defects(&id);
                assert!(fixed < 1e-13 && free < 1e-13, "{id}: {fixed:e} {free:e}");
            }
        }
        // Without damping the accelerations cancel out.
        let id = format!("galpha:{map},rho=1");
        let (fixed, free) = defects(&id);
        assert!(fixed < 1e-13 && free < 1e-13, "{id}: {fixed:e} {free:e}");
        let damped = ["0.8", "0.5", "0"].map(|rho| format!("galpha:{map},rho={rho}"));
        for id in damped.into_iter().chain([format!("decaying:{map}")]) {
            let (fixed, free) = defects(&id);
            assert!(fixed > 1e-4 && free > 1e-2, "{id}: {fixed:e} {free:e}");
        }
    }
}

#[test]
fn generalized_alpha_is_of_order_two_for_every_damping() {
    let driven = rotation::<f64>("driven-body");
    let falling = flying(Loads::none().with(gravity([0.0, 0.4, -3.0])), Vector3::new(0.3, -0.2, 0.4));
    for map in MAPS {
        for rho in RADII {
            is_second_order(&format!("galpha:{map},rho={rho}"), &driven);
            for reading in READINGS {
                is_second_order(&format!("galpha:{map},rho={rho},reading={reading}"), &falling);
            }
        }
    }
}

#[test]
fn generalized_alpha_does_not_know_where_the_origin_is() {
    let (body, start) = flying(Loads::none().with(gravity([0.0, 0.4, -3.0])), Vector3::new(0.3, -0.2, 0.4));
    let shift = Vector3::new(100.0, -50.0, 30.0);
    let mut moved = start;
    moved.pose.position += shift;
    for map in MAPS {
        for rho in RADII {
            let id = format!("galpha:{map},rho={rho}");
            let [here, there] =
                [start, moved].map(|s| advance(&method(&id), &body, &s, 0.0, 0.05, 200).unwrap());
            assert_eq!((here.pose.attitude, here.momentum), (there.pose.attitude, there.momentum), "{id}");
            let gap = (there.pose.position - here.pose.position - shift).norm() / shift.norm();
            assert!(gap < 1e-14, "{id}: {gap:e}");
        }
    }
}

#[test]
fn generalized_alpha_goes_on_with_its_accelerations_from_the_state_it_returned() {
    let (body, start) = rotation::<f64>("driven-body");
    for map in MAPS {
        let id = format!("galpha:{map},rho=0.5");
        let method = method(&id);
        let run = |h: f64, n: u64| advance(&method, &body, &start, 0.0, h, n).unwrap();
        let broken = |h: f64, n: u64| {
            let middle = run(h, n / 2);
            advance(&method, &body, &middle, h * (n / 2) as f64, h, n - n / 2).unwrap()
        };
        // A copy of the returned state is the returned state.
        let mut stepper = Stepper::new(&method);
        let (mut pose, mut momentum) = parts(&start);
        for n in 0..20 {
            (pose, momentum) =
                parts(&stepper.step(&body, &State { pose, momentum }, f64::from(n) * 0.1, 0.1).unwrap());
        }
        assert_eq!((pose, momentum), parts(&run(0.1, 20)), "{id}");
        // A new start in between is not the same, and as good.
        let gap = Distance::between(&broken(0.1, 20), &run(0.1, 20)).largest();
        let reference =
            advance(&crate::common::method("mkrk:gauss4"), &body, &start, 0.0, 0.005, 400).unwrap();
        let errors = [160, 320, 640, 1280].map(|n| {
            let h = 2.0 / n as f64;
            (h, Distance::between(&broken(h, n), &reference).largest())
        });
        let slope = order(&errors, Plateau::At(0.0)).unwrap().slope;
        assert!(gap > 1e-5 && (slope - 2.0).abs() < 0.1, "{id}: {gap:e} {slope}");
    }
}

#[test]
fn generalized_alpha_starts_anew_from_any_other_state() {
    let (body, start) = rotation::<f64>("driven-body");
    for map in MAPS {
        let method = method(&format!("galpha:{map},rho=0.5"));
        let mut used = Stepper::new(&method);
        let first = used.step(&body, &start, 0.0, 0.1).unwrap();
        let second = used.step(&body, &first, 0.1, 0.1).unwrap();
        let mut next = first;
        next.momentum.z = next.momentum.z.next_up();
        // One that it had before, the start, and one that differs in the last bit from where it was.
        for other in [first, start, next] {
            let mut fresh = Stepper::new(&method);
            let [mut a, mut b] = [other; 2];
            for n in 0..5 {
                let t = 0.3 + 0.1 * f64::from(n);
                a = used.step(&body, &a, t, 0.1).unwrap();
                b = fresh.step(&body, &b, t, 0.1).unwrap();
                assert_eq!(parts(&a), parts(&b), "{map} step {n}");
            }
        }
        let forgot = Stepper::new(&method).step(&body, &first, 0.1, 0.1).unwrap();
        assert_ne!(parts(&second), parts(&forgot), "{map}: no memory");
    }
}

#[test]
fn a_step_that_fails_leaves_the_accelerations_as_they_were() {
    let (body, start) = turning(busy());
    let method = method("galpha:euler-rodrigues,rho=0.5");
    let mut stepper = Stepper::new(&method);
    let first = stepper.step(&body, &start, 0.0, 0.1).unwrap();
    let error = stepper.step(&body, &first, 0.1, 5.0).unwrap_err();
    assert!(matches!(error, StepError::MapLimit { .. }), "{error}");
    let second = stepper.step(&body, &first, 0.1, 0.1).unwrap();
    assert_eq!(parts(&second), parts(&advance(&method, &body, &start, 0.0, 0.1, 2).unwrap()));
}

#[test]
fn with_the_exponential_map_the_preserving_scheme_is_swc1_or_bbtrap() {
    for (id, h) in [("slow-top", 0.02), ("driven-body", 0.1)] {
        let (body, start) = rotation::<f64>(id);
        let end = |id: &str| advance(&method(id), &body, &start, 0.0, h, 100).unwrap();
        let gap = |a: &str, b: &str| Distance::between(&end(a), &end(b)).largest();
        for (ours, other, not) in
            [("preserving:exp", "swc1", "bbtrap"), ("preserving:exp,load=mean", "bbtrap", "swc1")]
        {
            assert!(gap(ours, other) < 1e-12, "{id}: {ours} and {other}: {:e}", gap(ours, other));
            assert!(gap(ours, not) > 1e-5, "{id}: {ours} and {not}: {:e}", gap(ours, not));
        }
    }
}

/// The largest change of the total energy in 1e4 steps, relative to the largest kinetic energy.
fn energy_drift<G: Steps<f64>>(id: &str, (body, start): &Case<f64, G>, h: f64) -> f64 {
    let mut stepper = Stepper::new(&method(id));
    let (mut state, mut change, mut kinetic) = (*start, 0.0f64, body.kinetic_energy(start));
    for n in 0..10_000 {
        state = stepper.step(body, &state, f64::from(n) * h, h).unwrap();
        change = change.max((body.energy(&state, 0.0).unwrap() - body.energy(start, 0.0).unwrap()).abs());
        kinetic = kinetic.max(body.kinetic_energy(&state));
    }
    change / kinetic
}

#[test]
fn under_gravity_two_pairs_of_map_and_load_keep_the_total_energy() {
    let load = Loads::none().with(gravity([0.0, 0.02, -0.2]));
    let (hanging, falling) = (turning(load.clone()), flying(load, Vector3::new(0.3, -0.2, 0.4)));
    let top = rotation::<f64>("slow-top");
    let found = |id: &str| {
        [energy_drift(id, &top, 0.1), energy_drift(id, &hanging, 0.3), energy_drift(id, &falling, 0.3)]
    };
    for id in ["preserving:cayley,load=mean", "preserving:euler-rodrigues,load=midpoint"] {
        for reading in READINGS {
            let [top, hanging, falling] = found(&format!("{id},reading={reading}"));
            // In free fall the displacement counts too, and only one reading has the right one.
            let right = if reading == "hom4" { falling < 3e-14 } else { falling > 1e-4 };
            assert!(
                top < 3e-14 && hanging < 3e-14 && right,
                "{id} {reading}: {top:e} {hanging:e} {falling:e}"
            );
        }
    }
    let others = ["cayley", "euler-rodrigues,load=mean", "exp", "exp,load=mean", "wiener-milenkovic"];
    for id in others.map(|other| format!("preserving:{other},reading=hom4")) {
        let lost = found(&id);
        assert!(lost.iter().all(|e| *e > 1e-6), "{id}: {lost:?}");
    }
}

/// A body that spins about a principal axis with 1 rad/s, so that |h ω| is h.
fn spinning() -> Case<f64, So3> {
    let inertia =
        RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5))).unwrap();
    let body = Body { inertia, load: Loads::none() };
    let start = body.state(attitude(), &Vector3::z());
    (body, start)
}

#[test]
fn a_step_beyond_the_range_of_a_map_is_a_typed_error_with_advice_that_helps() {
    let steep = 80f64.to_radians().tan();
    let (body, start) = spinning();
    let go = |id: &str, h: f64| Stepper::new(&method(id)).step(&body, &start, 3.0, h);
    let cases = [
        ("euler-rodrigues", 2.0, vec![2.001, 2.3, 12.0, 30.0]),
        ("cayley", 2.0 * steep, vec![11.4, 15.0, 30.0]),
        ("wiener-milenkovic", 4.0 * steep, vec![22.7, 30.0]),
    ];
    for scheme in ["preserving", "decaying", "galpha"] {
        for (map, end, angles) in &cases {
            let id = format!("{scheme}:{map}");
            go(&id, 0.99 * end).unwrap_or_else(|e| panic!("{id} below the end: {e}"));
            for h in angles.iter().flat_map(|h| [*h, -h]) {
                let error = go(&id, h).map(|_| ()).expect_err(&id);
                let StepError::MapLimit { t, h: told, map: name, angle, limit } = error else {
                    panic!("{id} h = {h}: {error}");
                };
                assert_eq!((t, told, name), (3.0, h, *map), "{id}");
                assert!(
                    (angle - h.abs()).abs() < 1e-12 && (limit - end).abs() < 1e-12,
                    "{id}: {angle} {limit}"
                );
                let (step, maps) = advice(&error);
                assert!(step <= *end && step > 0.9 * end && maps.contains(&"exp".into()), "{error}");
                go(&id, 0.999 * step.copysign(h)).unwrap_or_else(|e| panic!("{id}, advised {step}: {e}"));
                for map in maps {
                    go(&format!("{scheme}:{map}"), h)
                        .unwrap_or_else(|e| panic!("advised {map} for {h}: {e}"));
                }
            }
        }
        for h in [2.0, 12.0, 30.0, 300.0] {
            go(&format!("{scheme}:exp"), h).unwrap_or_else(|e| panic!("{scheme} h = {h}: {e}"));
        }
    }
}

#[test]
fn a_tumbling_body_meets_the_end_of_a_map_too() {
    let (fixed, free) = (turning(Loads::none()), flying(Loads::none(), Vector3::zeros()));
    fn meets<G: Steps<f64>>(id: &str, (body, start): &Case<f64, G>, h: f64) {
        let go = |id: &str, h: f64| Stepper::new(&method(id)).step(body, start, 0.0, h);
        let error = go(id, h).map(|_| ()).unwrap_err();
        let right = matches!(error, StepError::MapLimit { map: "euler-rodrigues", limit: 2.0, .. });
        assert!(right, "{id} on {}, h = {h}: {error}", G::NAME);
        let (step, maps) = advice(&error);
        go(id, 0.999 * step).unwrap_or_else(|e| panic!("{id} on {}, advised {step}: {e}", G::NAME));
        for map in maps {
            let id = id.replace("euler-rodrigues", &map);
            go(&id, h).unwrap_or_else(|e| panic!("{id} on {}, h = {h}: {e}", G::NAME));
        }
    }
    for scheme in ["preserving", "decaying", "galpha"] {
        for angle in [2.5, 3.0, 4.0] {
            let id = format!("{scheme}:euler-rodrigues");
            meets(&id, &fixed, step(angle));
            meets(&id, &free, step(angle));
        }
    }
}

#[test]
fn a_kinematic_step_beyond_the_range_of_a_map_is_the_same_error() {
    let steep = 80f64.to_radians().tan();
    for (kind, name, end) in [
        (MapKind::EulerRodrigues, "euler-rodrigues", 2.0),
        (MapKind::Cayley, "cayley", 2.0 * steep),
        (MapKind::WienerMilenkovic, "wiener-milenkovic", 4.0 * steep),
    ] {
        let go = |kind: MapKind, h: f64| update::<f64, So3>(kind.into(), &attitude(), &Vector3::z(), h);
        go(kind, 0.999 * end).unwrap();
        for h in [1.001 * end, 2.5 * end] {
            let error = go(kind, h).unwrap_err();
            let StepError::MapLimit { map, angle, limit, .. } = error else { panic!("{name}: {error}") };
            assert!(map == name && angle == h && (limit - end).abs() < 1e-12, "{error}");
            let (step, _) = advice(&error);
            go(kind, 0.999 * step).unwrap();
            go(MapKind::Exponential, h).unwrap();
        }
    }
    // As a method, on the problem that prescribes a motion.
    let model = Problem::named("prescribed-motion").unwrap().model().unwrap();
    let run = |id: &str, step: f64| {
        model.run(&method(id), &Plan::new(step, 2.0).unwrap(), &mut |_, _| ControlFlow::Continue(()))
    };
    for row in KINEMATIC {
        run(row.id, 0.1).unwrap();
        match run(row.id, 1.0) {
            Ok(_) => assert!(row.id != "kinematic:euler-rodrigues"),
            Err(failed) => {
                assert!(matches!(
                    failed.error,
                    StepError::MapLimit { map: "euler-rodrigues", limit: 2.0, .. }
                ));
                assert!(row.id == "kinematic:euler-rodrigues", "{}: {}", row.id, failed.error);
            }
        }
    }
}

#[test]
fn samples_that_make_no_motion_are_refused() {
    let go = |times: &[f64], speeds: &[f64]| {
        let omega: Vec<_> = speeds.iter().map(|s| Vector3::new(0.0, 0.0, *s)).collect();
        kinematic::from_samples::<So3>(MapKind::EulerRodrigues.into(), &Rotation::identity(), times, &omega)
    };
    assert_eq!(go(&[0.0, 0.1, 0.2], &[1.0; 3]).unwrap().len(), 3);
    assert!(go(&[], &[]).unwrap().is_empty());
    assert_eq!(go(&[0.0, 0.1], &[1.0; 3]).unwrap_err(), SampleError::Length { times: 2, velocities: 3 });
    for bad in [0.1, 0.05, -1.0, f64::INFINITY] {
        let error = go(&[0.0, 0.1, bad], &[1.0; 3]).unwrap_err();
        assert_eq!(error, SampleError::Time { sample: 2, time: bad });
    }
    for sample in 0..3 {
        let mut times = [0.0, 0.1, 0.2];
        times[sample] = f64::NAN;
        let error = go(&times, &[1.0; 3]).unwrap_err();
        assert!(
            matches!(error, SampleError::Time { sample: at, time } if at == sample && time.is_nan()),
            "{error}"
        );
        for bad in [f64::NAN, f64::INFINITY] {
            let mut speeds = [1.0; 3];
            speeds[sample] = bad;
            assert_eq!(go(&[0.0, 0.1, 0.2], &speeds).unwrap_err(), SampleError::Velocity { sample });
        }
    }
    let error = go(&[1.0, 1.1, 1.6], &[1.0, 5.0, 5.0]).unwrap_err();
    let SampleError::Step { sample: 1, error: StepError::MapLimit { t, h, map, angle, limit } } = error
    else {
        panic!("{error}");
    };
    assert_eq!((t, map, limit), (1.1, "euler-rodrigues", 2.0));
    assert!((h - 0.5).abs() < 1e-15 && (angle - 2.5).abs() < 1e-14);
}

#[test]
fn a_motion_from_samples_is_that_from_a_function_and_converges_with_order_two() {
    let motion = BauchauTrajectory { frequency: 2.0, turn_rate: 2.0 };
    let exact = |t: f64| motion.at(t);
    let velocity = |t: f64| rates::<Se3, f64>(&motion, t).1;
    for kind in MapKind::ALL {
        for reading in Reading::ALL {
            let map = Vectorial { kind, reading };
            let from_function = |choice: StepVelocity, n: u32| {
                let plan = Plan::new(1.0 / f64::from(n), 1.0).unwrap();
                kinematic::from_function::<Se3>(map, &exact(0.0), &plan, choice, velocity).unwrap()
            };
            let from_samples = |n: u32| {
                let times: Vec<f64> = (0..=n).map(|k| f64::from(k) / f64::from(n)).collect();
                let velocities: Vec<_> = times.iter().map(|t| velocity(*t)).collect();
                *kinematic::from_samples::<Se3>(map, &exact(0.0), &times, &velocities)
                    .unwrap()
                    .last()
                    .unwrap()
            };
            let (attitude, position) =
                Se3::distance(&from_function(StepVelocity::Mean, 100), &from_samples(100));
            assert!(attitude < 1e-14 && position < 1e-14, "{map:?}: {attitude:e} {position:e}");
            let distance = |pose: Motion<f64>| Se3::distance(&pose, &exact(1.0));
            let runs: [&dyn Fn(u32) -> Motion<f64>; 3] =
                [&from_samples, &|n| from_function(StepVelocity::Mean, n), &|n| {
                    from_function(StepVelocity::Midpoint, n)
                }];
            for run in runs {
                let errors = [80, 160, 320, 640].map(|n| (1.0 / f64::from(n), distance(run(n))));
                let slope = |part: fn(&(f64, f64)) -> f64| {
                    order(&errors.map(|(h, e)| (h, part(&e))), Plateau::At(0.0)).unwrap().slope
                };
                let slopes = [slope(|e| e.0), slope(|e| e.1)];
                assert!(slopes.iter().all(|s| (s - 2.0).abs() < 0.05), "{map:?}: {slopes:?} {errors:?}");
            }
        }
    }
}
