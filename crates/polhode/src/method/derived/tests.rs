//! Directions side by side have the bits of those that are worked on one by one.

use super::*;
use crate::body::{
    Drag, Force, Frame, Gravity, Harmonic, Loads, Moment, RotaryInertia, RotationalSpring, SpatialInertia,
};
use crate::group::{Group, Rotation};
use crate::scalar::{Dual, Over};
use nalgebra::{Matrix3, Vector3};

type Case<S, G> = (Body<S, G, Loads<S>>, State<S, G>);

/// What depends on a direction: nothing, the inertia, the loads, the start.
fn numbers<S: Over<f64>>(of: usize, e: S) -> [S; 3] {
    [1, 2, 3].map(|which| if which == of { e } else { S::zero() })
}

fn vector<S: Over<f64>>(x: [f64; 3], by: S) -> Vector3<S> {
    Vector3::from(x.map(|x| S::of(x) + by * S::of(0.7 - x)))
}

fn tensor<S: Over<f64>>(by: S) -> Matrix3<S> {
    Matrix3::from([[1.2, 0.1, -0.05], [0.1, 1.5, 0.08], [-0.05, 0.08, 2.1]]).map(S::of)
        + Matrix3::identity() * by
}

/// A weight alone, short loads together, and with a spring, which makes each direction ask by itself.
fn loads<S: Over<f64>>(count: usize, by: S) -> Loads<S> {
    let weight_space = vector([0.3, -0.2, -4.0], by);
    let mut loads = Loads::none().with(Gravity { weight_space, center_body: vector([0.1, 0.05, 0.3], by) });
    if count > 1 {
        let (amplitude, phase) = (vector([0.2, -0.1, 0.3], by), S::of(0.3) - by);
        loads = loads
            .with(Drag { coefficient: S::of(0.3) + by })
            .with(Moment { frame: Frame::Space, value: vector([0.1, 0.2, -0.1], by) })
            .with(Harmonic { frame: Frame::Body, amplitude, frequency: S::of(1.7) + by, phase })
            .with(Force {
                frame: Frame::Body,
                value: vector([0.5, -0.2, 0.1], by),
                point_body: vector([0.1, 0.0, -0.2], by),
            });
    }
    if count > 2 { loads.with(RotationalSpring { stiffness: vector([3.0, 4.0, 5.0], by) }) } else { loads }
}

fn turning<S: Over<f64>>(count: usize, of: usize, e: S) -> Case<S, So3> {
    let [inertia, load, start] = numbers(of, e);
    let body = Body { inertia: RotaryInertia::unchecked(tensor(inertia)), load: loads(count, load) };
    let attitude = Rotation::from_rotation_vector(&vector([0.3, -0.5, 0.2], start));
    let state = body.state(attitude, &vector([0.7, -1.1, 2.3], start));
    (body, state)
}

fn moving<S: Over<f64>>(count: usize, of: usize, e: S) -> Case<S, Se3> {
    let [inertia, load, start] = numbers(of, e);
    let inertia =
        SpatialInertia::unchecked(S::of(3.0) + inertia, vector([0.1, -0.05, 0.2], inertia), tensor(inertia));
    let body = Body { inertia, load: loads(count, load) };
    let attitude = Rotation::from_rotation_vector(&vector([0.3, -0.5, 0.2], start));
    let pose = Se3::pose(&attitude, &vector([1.0, 0.4, -0.3], start));
    let velocity = Se3::vector(&vector([0.5, 0.1, -0.3], start), &vector([0.7, -1.1, 2.3], start));
    let state = body.state(pose, &velocity);
    (body, state)
}

/// All numbers of all directions after some steps.
fn bits<G: DerivedSteps>(
    fours: bool,
    method: &Method,
    plain: &Case<f64, G>,
    varied: Vec<Case<Dual1, G>>,
) -> Vec<u64> {
    let count = varied.len();
    let (body, start) = plain;
    let mut derived = Derived::in_fours(fours, method, *start, varied).unwrap();
    for (n, h) in [0.02, 0.02, 0.3].into_iter().enumerate() {
        derived.step(body, 0.02 * n as f64, h).unwrap();
    }
    let mut bits = Vec::new();
    for state in (0..count).filter_map(|k| derived.varied(k)) {
        let (attitude, position, momentum) = directions::numbers(&state);
        let momentum = (0..G::Vector::<f64>::LEN).map(|i| momentum.at(i));
        for x in attitude.into_iter().chain(position.iter().copied()).chain(momentum) {
            // Zeros of either sign are the same slope.
            bits.extend([x.re.to_bits(), (x.eps[0] + 0.0).to_bits()]);
        }
    }
    assert_eq!(bits.len(), count * 2 * (7 + G::Vector::<f64>::LEN));
    assert!(derived.varied(count).is_none());
    bits
}

#[test]
fn directions_side_by_side_have_the_bits_of_each() {
    let given = |method: &&Method| !method.id().starts_with("kinematic");
    let all: Vec<Method> = Method::all().into_iter().filter(|m| differentiable(m).is_ok()).collect();
    assert!(all.len() > 20);
    for method in all.iter().filter(given) {
        for count in 1..=3 {
            let e = Dual::<f64, 1>::variable(0.0, 0);
            // Four side by side, and one more.
            let turned = |fours| {
                let varied = [1, 2, 3, 0, 2].map(|of| turning(count, of, e)).into();
                bits(fours, method, &turning(count, 0, 0.0), varied)
            };
            assert_eq!(turned(true), turned(false), "{} on SO(3)", method.id());
            let moved = |fours| {
                let varied = [1, 2, 3, 0, 2].map(|of| moving(count, of, e)).into();
                bits(fours, method, &moving(count, 0, 0.0), varied)
            };
            assert_eq!(moved(true), moved(false), "{} on SE(3)", method.id());
        }
    }
}
