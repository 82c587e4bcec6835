//! Lanes that part ways: one starts anew, one leaves the range of its map.

use crate::common::{advice, method, rotation};
use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, Loads, RotaryInertia, State};
use polhode::group::{Rotation, So3};
use polhode::method::Stepper;
use polhode::scalar::{F64x4, Real};
use polhode::solve::StepError;

/// Of the lanes, relative to the start.
const SPEEDS: [f64; 4] = [0.5, 0.8, 1.0, 1.3];

/// A start for each lane.
fn fanned(start: &State<f64, So3>) -> [State<f64, So3>; 4] {
    SPEEDS.map(|scale| State { pose: start.pose, momentum: start.momentum * scale })
}

/// Four states in lanes.
fn side_by_side(states: &[State<f64, So3>; 4]) -> State<F64x4, So3> {
    let lane = F64x4::new([0.0, 1.0, 2.0, 3.0]);
    (0..3).rev().fold(states[3].lift(), |all, k| {
        State::choose(lane.below(F64x4::lift(k as f64 + 0.5)), &states[k].lift(), &all)
    })
}

#[test]
fn a_lane_that_starts_anew_leaves_its_neighbours_their_accelerations() {
    let (body, start) = rotation::<f64>("driven-body");
    let (lanes, _) = rotation::<F64x4>("driven-body");
    for map in ["exp", "euler-rodrigues", "cayley", "wiener-milenkovic"] {
        let method = method(&format!("galpha:{map},rho=0.5"));
        let mut states = fanned(&start);
        let mut together = side_by_side(&states);
        let mut stepper = Stepper::<F64x4, So3>::new(&method);
        let mut steppers = [(); 4].map(|()| Stepper::<f64, So3>::new(&method));
        for n in 0..20 {
            let (t, h) = (0.1 * f64::from(n), 0.1);
            if n == 7 {
                states[2] = start;
                steppers[2] = Stepper::new(&method);
                together = side_by_side(&states);
            }
            together = stepper.step(&lanes, &together, F64x4::lift(t), F64x4::lift(h)).unwrap();
            for (state, stepper) in states.iter_mut().zip(&mut steppers) {
                *state = stepper.step(&body, state, t, h).unwrap();
            }
            assert_eq!(
                (together.pose, together.momentum),
                {
                    let alone = side_by_side(&states);
                    (alone.pose, alone.momentum)
                },
                "{map} step {n}"
            );
        }
    }
}

#[test]
fn one_lane_beyond_the_range_of_a_map_stops_the_step() {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)).map(F64x4::lift);
    let body = Body::<F64x4, So3, _> { inertia: RotaryInertia::unchecked(inertia), load: Loads::none() };
    let start = body.state(Rotation::identity(), &Vector3::z().map(F64x4::lift));
    let speeds = F64x4::new(SPEEDS);
    let lanes = State { pose: start.pose, momentum: start.momentum * speeds };
    let go = |scheme: &str, map: &str, h: f64| {
        let mut stepper = Stepper::new(&method(&format!("{scheme}:{map}")));
        stepper.step(&body, &lanes, F64x4::lift(0.0), F64x4::lift(h))
    };
    for scheme in ["preserving", "decaying", "galpha"] {
        for (map, end) in [("euler-rodrigues", 2.0), ("cayley", 11.342_563_639_235_42)] {
            // The fastest lane turns with 1.3 rad/s.
            go(scheme, map, 0.95 * end / 1.3).unwrap();
            let h = 1.05 * end / 1.3;
            let error = go(scheme, map, h).unwrap_err();
            let StepError::MapLimit { map: name, angle, limit, .. } = error else {
                panic!("{scheme}: {error}")
            };
            assert!(name == map && (limit - end).abs() < 1e-12, "{error}");
            assert!((angle - 1.3 * h).abs() < 1e-12, "{scheme} {error}");
            go(scheme, map, 0.999 * advice(&error).0).unwrap();
            go(scheme, "exp", h).unwrap();
        }
    }
}

#[test]
fn lanes_that_go_opposite_ways_in_time_are_refused() {
    let (body, start) = rotation::<F64x4>("driven-body");
    for id in ["imidm", "mkrk:rk4", "forward-euler"] {
        let mut stepper = Stepper::<F64x4, So3>::new(&method(id));
        let h = F64x4::new([0.1, 0.1, -0.1, 0.1]);
        let refused = stepper.step(&body, &start, F64x4::lift(0.0), h).unwrap_err();
        assert_eq!(refused, StepError::MixedLanes, "{id}");
        for h in [0.1, -0.1] {
            stepper.step(&body, &start, F64x4::lift(0.0), F64x4::lift(h)).unwrap();
        }
    }
}
