//! A lane of a SIMD run is its scalar run, bit for bit: every method, both groups, small and large steps.

use nalgebra::{Matrix3, Vector3};
use polhode::body::Dynamics;
use polhode::body::{Body, Drag, Frame, Gravity, Harmonic, Loads, RotaryInertia, SpatialInertia, State};
use polhode::group::{Coordinates, Group, Rotation, Se3, So3};
use polhode::method::{Method, Stepper, Steps};
use polhode::scalar::{F64x4, Real};

/// A body and its start; `number(a, b)` is a for the first lane, a + b for the second, a + 2 b for the third, …
fn parts<S: Real>(number: &dyn Fn(f64, f64) -> S) -> (Matrix3<S>, Loads<S>, [Vector3<S>; 5]) {
    let vector = |a: [f64; 3], b: f64| Vector3::from_fn(|i, _| number(a[i], b * (i as f64 - 1.3)));
    let (x, y, z) = (number(0.1, 0.03), number(-0.2, 0.07), number(0.05, -0.05));
    let tensor = Matrix3::new(number(1.5, 0.1), x, y, x, number(2.0, 0.2), z, y, z, number(2.5, -0.1));
    let center = vector([0.1, 0.2, 0.6], 0.1);
    let load = Loads::none()
        .with(Gravity { weight_space: vector([0.0, 0.3, -3.0], 0.4), center_body: center })
        .with(Drag { coefficient: number(0.02, 0.03) })
        .with(Harmonic {
            frame: Frame::Space,
            amplitude: vector([0.5, -0.3, 0.8], 0.2),
            frequency: number(2.0, 0.7),
            phase: number(0.0, 1.0),
        });
    // Rotation vector, angular velocity (slow in the first lane, fast in the last), position, velocity, centre of mass.
    let start = [
        vector([0.3, -0.2, 0.5], 0.4),
        vector([0.2, -0.3, 0.5], 0.9),
        vector([1.0, 2.0, -1.0], 0.5),
        vector([0.3, 0.1, -0.4], 0.6),
        center,
    ];
    (tensor, load, start)
}

trait Build: Steps<f64> + Steps<F64x4> {
    fn build<S: Real>(number: &dyn Fn(f64, f64) -> S) -> (Body<S, Self, Loads<S>>, State<S, Self>);
}

impl Build for So3 {
    fn build<S: Real>(number: &dyn Fn(f64, f64) -> S) -> (Body<S, So3, Loads<S>>, State<S, So3>) {
        let (tensor, load, [psi, omega, ..]) = parts(number);
        let body = Body { inertia: RotaryInertia::unchecked(tensor), load };
        let start = body.state(Rotation::from_rotation_vector(&psi), &omega);
        (body, start)
    }
}

impl Build for Se3 {
    fn build<S: Real>(number: &dyn Fn(f64, f64) -> S) -> (Body<S, Se3, Loads<S>>, State<S, Se3>) {
        let (tensor, load, [psi, omega, position, velocity, center]) = parts(number);
        let inertia = SpatialInertia::unchecked(number(0.8, 0.1), center, tensor);
        let body = Body { inertia, load };
        let pose = Se3::pose(&Rotation::from_rotation_vector(&psi), &position);
        let start = body.state(pose, &Se3::vector(&velocity, &omega));
        (body, start)
    }
}

/// Every number of a state.
fn numbers<S: Real, G: Dynamics>(state: &State<S, G>) -> Vec<S> {
    let k = G::kinematics(S::zero(), &state.pose, &state.momentum);
    let momentum = (0..G::Vector::<S>::LEN).map(|i| state.momentum.at(i));
    k.attitude.q_wxyz().into_iter().chain(k.position.iter().copied()).chain(momentum).collect()
}

/// Steps four lanes and four scalars side by side; how many steps they went together, and the retries of the lanes.
fn race<G: Build>(method: &Method, h: f64, steps: u64) -> (u64, u64) {
    let (lanes, mut state) = G::build::<F64x4>(&|a, b| F64x4::new([0.0, 1.0, 2.0, 3.0].map(|k| a + k * b)));
    let mut single: Vec<_> = (0..4).map(|k| G::build::<f64>(&|a, b| a + f64::from(k) * b)).collect();
    let mut stepper = Stepper::<F64x4, G>::new(method);
    let mut steppers: Vec<_> = (0..4).map(|_| Stepper::<f64, G>::new(method)).collect();
    for n in 0..steps {
        let t = n as f64 * h;
        let together = stepper.step(&lanes, &state, F64x4::lift(t), F64x4::lift(h));
        let mut failed = false;
        for ((body, state), stepper) in single.iter_mut().zip(&mut steppers) {
            match stepper.step(body, state, t, h) {
                Ok(next) => *state = next,
                Err(_) => failed = true,
            }
        }
        assert_eq!(together.is_err(), failed, "{} on {}, h = {h}, step {n}", method.id(), G::NAME);
        let Ok(next) = together else { return (n, stepper.work.retries) };
        state = next;
        let ours = numbers(&state);
        for (k, (_, alone)) in single.iter().enumerate() {
            for (i, (a, b)) in ours.iter().zip(numbers(alone)).enumerate() {
                let same = a.lane(k).to_bits() == b.to_bits();
                assert!(same, "{} on {}, h = {h}, step {n}, lane {k}, number {i}", method.id(), G::NAME);
            }
        }
    }
    (steps, stepper.work.retries)
}

fn lanes_equal_scalars<G: Build>() {
    let mut climbed = 0;
    // Without optimisation a step on SE(3) takes long; ten to fifteen of each size have their climbs too.
    let sample = if G::Vector::<f64>::LEN == 3 { 5 } else { 20 };
    let share = if crate::common::long() { 1 } else { sample };
    for method in Method::all() {
        for (h, steps) in [(0.01, 200 / share), (0.1, 300 / share), (0.5, 300 / share)] {
            let (went, retries) = race::<G>(&method, h, steps);
            // The fastest lane turns by more than two radians in the largest step.
            let limited = method.id().contains("euler-rodrigues") && h == 0.5;
            assert!(went > 3 || limited, "{} h = {h}", method.id());
            climbed += u64::from(retries > 0);
        }
    }
    // The large step must have sent some lanes up the ladder while others stayed below.
    assert!(climbed > 10, "{climbed}");
}

#[test]
fn lanes_equal_scalars_on_so3() {
    lanes_equal_scalars::<So3>();
}

#[test]
fn lanes_equal_scalars_on_se3() {
    lanes_equal_scalars::<Se3>();
}
