//! The derivatives of a step by the implicit function theorem are those that dual numbers carry through the whole
//! iteration, for every method; and the plain run beside them is the plain run.

use crate::common::{composed, method, variants};
use nalgebra::{Matrix3, Vector3};
use polhode::body::Dynamics;
use polhode::body::{
    Body, Drag, Force, Frame, Gravity, Harmonic, Loads, Moment, RotaryInertia, RotationalSpring,
    SpatialInertia, State,
};
use polhode::group::{Coordinates, Group, Rotation, Se3, So3};
use polhode::method::{Derived, DerivedSteps, Method, Stepper, Steps};
use polhode::scalar::{Dual, Real};
use polhode::solve::StepError;

type Slope = Dual<f64, 1>;
type Case<S, G> = (Body<S, G, Loads<S>>, State<S, G>);

/// What is done to the body.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Loads of all kinds, moving.
    Driven,
    /// No load, moving.
    Free,
    /// No load, at the identity, without velocity.
    Rest,
    /// On a spring, in its equilibrium.
    Spring,
}
const KINDS: [Kind; 4] = [Kind::Driven, Kind::Free, Kind::Rest, Kind::Spring];

/// What depends on the parameter.
#[derive(Clone, Copy, Debug)]
enum Varied {
    /// Inertia and loads.
    Data,
    /// The initial state.
    Start,
    /// Everything.
    All,
}
/// Directions of one run: four that are worked on side by side, and one that is left alone.
const LANES: [Varied; 5] = [Varied::Data, Varied::Start, Varied::All, Varied::Start, Varied::Data];

/// Numbers that depend on a parameter `e`, data and start apart.
struct Numbers<S> {
    data: S,
    start: S,
}

impl<S: Real> Numbers<S> {
    fn new(varied: Varied, e: S) -> Self {
        let (data, start) = match varied {
            Varied::Data => (e, S::zero()),
            Varied::Start => (S::zero(), e),
            Varied::All => (e, e),
        };
        Numbers { data, start }
    }
    fn datum(&self, value: f64, slope: f64) -> S {
        S::lift(value) + S::lift(slope) * self.data
    }
    fn data(&self, values: [f64; 3], slopes: [f64; 3]) -> Vector3<S> {
        Vector3::from_fn(|i, _| self.datum(values[i], slopes[i]))
    }
    fn start(&self, values: [f64; 3], slopes: [f64; 3]) -> Vector3<S> {
        Vector3::from_fn(|i, _| S::lift(values[i]) + S::lift(slopes[i]) * self.start)
    }
    fn tensor(&self) -> Matrix3<S> {
        let [a, b, c] = self.data([1.25, 1.56, 2.2], [0.3, -0.1, 0.2]).into();
        let [d, e, f] = self.data([0.2, -0.1, 0.15], [0.05, 0.02, -0.03]).into();
        Matrix3::new(a, d, e, d, b, f, e, f, c)
    }
    fn loads(&self, kind: Kind, moves: bool) -> Loads<S> {
        let frequency = self.datum(1.7, 0.4);
        let phase = self.datum(0.3, -0.2);
        let amplitude = self.data([0.2, -0.1, 0.3], [0.5, 0.2, -0.4]);
        let loads = match kind {
            Kind::Driven => Loads::none()
                .with(Gravity {
                    weight_space: self.data([0.3, -0.4, -3.0], [0.1, 0.2, -0.5]),
                    center_body: self.data([0.1, 0.05, 0.4], [0.02, -0.01, 0.1]),
                })
                .with(Moment { frame: Frame::Space, value: self.data([0.1, 0.2, -0.1], [0.3, -0.1, 0.2]) })
                .with(Harmonic { frame: Frame::Body, amplitude, frequency, phase })
                .with(Drag { coefficient: self.datum(0.05, 0.02) }),
            Kind::Spring => Loads::none()
                .with(RotationalSpring { stiffness: self.data([3.0, 4.0, 5.0], [1.0, -0.5, 2.0]) }),
            Kind::Free | Kind::Rest => Loads::none(),
        };
        match kind == Kind::Driven && moves {
            true => loads.with(Force {
                frame: Frame::Body,
                value: self.data([0.5, -0.2, 0.1], [0.1, 0.3, -0.2]),
                point_body: self.data([0.1, 0.0, -0.2], [0.0, 0.1, 0.05]),
            }),
            false => loads,
        }
    }
    fn omega(&self, kind: Kind) -> Vector3<S> {
        let value = if matches!(kind, Kind::Driven | Kind::Free) { [0.7, -1.1, 2.3] } else { [0.0; 3] };
        self.start(value, [0.3, 0.6, -0.2])
    }
    fn attitude(&self, kind: Kind) -> Rotation<S> {
        let value = if kind == Kind::Driven { [0.3, -0.5, 0.2] } else { [0.0; 3] };
        Rotation::from_rotation_vector(&self.start(value, [-0.4, 0.2, 0.5]))
    }
}

trait Bodies: Steps<f64> + DerivedSteps {
    /// How far derivatives may be from the expected ones, relative to the largest of them.
    const BOUND: f64;
    fn case<S: Real>(kind: Kind, varied: Varied, e: S) -> Case<S, Self>;
    /// The derivatives of all numbers after some steps, by another route.
    fn expected(method: &Method, kind: Kind, varied: Varied) -> Vec<f64>;
}
impl Bodies for So3 {
    const BOUND: f64 = BY_DUALS;
    fn expected(method: &Method, kind: Kind, varied: Varied) -> Vec<f64> {
        by_duals::<So3>(method, kind, varied)
    }
    fn case<S: Real>(kind: Kind, varied: Varied, e: S) -> Case<S, So3> {
        let n = Numbers::new(varied, e);
        let body = Body { inertia: RotaryInertia::unchecked(n.tensor()), load: n.loads(kind, false) };
        let start = body.state(n.attitude(kind), &n.omega(kind));
        (body, start)
    }
}
// All methods in duals of duals on SE(3) take minutes to compile: `--features campaign`. Without it differences of plain
// runs, which lose digits, stand for them.
impl Bodies for Se3 {
    const BOUND: f64 = if cfg!(feature = "campaign") { BY_DUALS } else { BY_DIFFERENCES };
    #[cfg(feature = "campaign")]
    fn expected(method: &Method, kind: Kind, varied: Varied) -> Vec<f64> {
        by_duals::<Se3>(method, kind, varied)
    }
    #[cfg(not(feature = "campaign"))]
    fn expected(method: &Method, kind: Kind, varied: Varied) -> Vec<f64> {
        by_differences::<Se3>(method, kind, varied)
    }
    fn case<S: Real>(kind: Kind, varied: Varied, e: S) -> Case<S, Se3> {
        let n = Numbers::new(varied, e);
        let center = n.data([0.1, -0.05, 0.2], [0.04, 0.03, -0.1]);
        let inertia = SpatialInertia::unchecked(n.datum(6.0, 0.7), center, n.tensor());
        let body = Body { inertia, load: n.loads(kind, true) };
        let moving = if kind == Kind::Driven { [0.5, 0.1, -0.3] } else { [0.0; 3] };
        let velocity = Se3::vector(&n.start(moving, [0.2, -0.3, 0.1]), &n.omega(kind));
        let position = n.start(moving.map(|x| 2.0 * x), [0.5, 0.4, 0.3]);
        let start = body.state(Se3::pose(&n.attitude(kind), &position), &velocity);
        (body, start)
    }
}

/// All numbers of a state: quaternion, position, momentum.
fn numbers<S: Real, G: Dynamics>(state: &State<S, G>) -> Vec<S> {
    let k = G::kinematics(S::zero(), &state.pose, &state.momentum);
    let momentum = (0..G::Vector::<S>::LEN).map(|i| state.momentum.at(i));
    k.attitude.q_wxyz().into_iter().chain(k.position.iter().copied()).chain(momentum).collect()
}

/// The largest difference of derivatives, relative to the largest derivative.
fn gap(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    found.iter().zip(expected).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs() / size))
}

const STEPS: u32 = 50;
const H: f64 = 0.03;
/// How far the derivatives may be from those of dual numbers all the way, relative to the largest of them.
const BY_DUALS: f64 = 1e-12;
/// The same from differences.
const BY_DIFFERENCES: f64 = 1e-9;

fn variable() -> Slope {
    Dual::variable(0.0, 0)
}

/// The numbers after some steps, by the plain stepper at any scalar.
fn run<S: Real, G: Bodies + Steps<S>>(method: &Method, kind: Kind, varied: Varied, e: S) -> Vec<S> {
    let (body, mut state) = G::case(kind, varied, e);
    let mut stepper = Stepper::<S, G>::new(method);
    for n in 0..STEPS {
        state = stepper.step(&body, &state, S::lift(f64::from(n) * H), S::lift(H)).unwrap();
    }
    numbers(&state)
}

/// The derivatives by dual numbers all the way.
fn by_duals<G: Bodies + Steps<Slope>>(method: &Method, kind: Kind, varied: Varied) -> Vec<f64> {
    run::<Slope, G>(method, kind, varied, variable()).iter().map(|x| x.eps[0]).collect()
}

/// The derivatives by differences of plain runs, of eighth order.
#[cfg(not(feature = "campaign"))]
fn by_differences<G: Bodies>(method: &Method, kind: Kind, varied: Varied) -> Vec<f64> {
    let small = 2e-3;
    let at = |k: f64| run::<f64, G>(method, kind, varied, k * small);
    let mut sum = vec![0.0; at(0.0).len()];
    for (k, weight) in [(1.0, 4.0 / 5.0), (2.0, -1.0 / 5.0), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0)] {
        for (sum, (a, b)) in sum.iter_mut().zip(at(k).into_iter().zip(at(-k))) {
            *sum += weight * (a - b) / small;
        }
    }
    sum
}

/// The bodies and states of all directions.
fn directions<G: Bodies>(kind: Kind) -> Vec<Case<Slope, G>> {
    LANES.map(|varied| G::case(kind, varied, variable())).into()
}

/// The worst gap of a method over all cases.
fn worst<G: Bodies>(method: &Method, kinds: &[Kind]) -> f64 {
    let mut worst = 0.0f64;
    for &kind in kinds {
        let (body, mut state) = G::case(kind, Varied::All, 0.0);
        let mut derived = Derived::<G>::new(method, state, directions(kind)).unwrap();
        let (mut stepper, mut plain) = (Stepper::<f64, G>::new(method), state);
        for n in 0..STEPS {
            let t = f64::from(n) * H;
            plain = stepper.step(&body, &plain, t, H).unwrap();
            let info = allocation_counter::measure(|| {
                derived.step(&body, t, H).unwrap();
            });
            state = *derived.state();
            assert_eq!(info.count_total, 0, "{} {kind:?} on {}", method.id(), G::NAME);
            let bits = |x: &f64| x.to_bits();
            let values: Vec<u64> = numbers(&plain).iter().map(bits).collect();
            assert_eq!(numbers(&state).iter().map(bits).collect::<Vec<_>>(), values, "{}", method.id());
            for direction in 0..LANES.len() {
                let state = derived.varied(direction).unwrap();
                let found: Vec<u64> = numbers(&state).iter().map(|x| x.re.to_bits()).collect();
                assert_eq!(found, values, "{} {kind:?} on {}", method.id(), G::NAME);
            }
        }
        assert_eq!(derived.work, stepper.work, "{}", method.id());
        for (direction, varied) in LANES.into_iter().enumerate() {
            let state = derived.varied(direction).unwrap();
            let found: Vec<f64> = numbers(&state).iter().map(|x| x.eps[0]).collect();
            let gap = gap(&found, &G::expected(method, kind, varied));
            if gap > 0.1 * G::BOUND {
                println!("{} {kind:?} {varied:?} on {}: {gap:e}", method.id(), G::NAME);
            }
            worst = worst.max(gap);
        }
    }
    worst
}

fn methods() -> Vec<Method> {
    Method::all().into_iter().filter(|m| !m.id().starts_with("compose:")).collect()
}

#[test]
fn derivatives_of_turning_bodies_are_exact() {
    for method in methods() {
        let worst = worst::<So3>(&method, &KINDS);
        assert!(worst < So3::BOUND, "{}: {worst:e}", method.id());
    }
}

#[test]
fn derivatives_of_moving_bodies_are_exact() {
    for method in methods() {
        let worst = worst::<Se3>(&method, &KINDS);
        assert!(worst < Se3::BOUND, "{}: {worst:e}", method.id());
    }
}

#[test]
fn derivatives_are_exact_with_every_option_and_in_compositions() {
    let tableaus = ["mkrk:0 0 0; 5/24 1/3 -1/24; 1/6 2/3 1/6 | 1/6 2/3 1/6", "mkrk:1/4 0; 1/2 1/4 | 1/2 1/2"];
    let lifted = composed(4).into_iter().chain(tableaus.map(method));
    for method in variants().into_iter().chain(lifted) {
        let turning = worst::<So3>(&method, &[Kind::Driven, Kind::Rest]);
        assert!(turning < So3::BOUND, "{}: {turning:e}", method.id());
        let moving = worst::<Se3>(&method, &[Kind::Driven, Kind::Rest]);
        assert!(moving < Se3::BOUND, "{}: {moving:e}", method.id());
    }
}

#[test]
fn what_has_no_derivative_is_refused() {
    let start = So3::case(Kind::Rest, Varied::All, 0.0).1;
    let refused = |id: &str| Derived::new(&method(id), start, directions::<So3>(Kind::Rest)).unwrap_err();
    assert_eq!(refused("geometric-alpha"), StepError::NeedsSystem);
    let message = refused("convected,stop=after").to_string();
    assert!(message.contains("convected,stop=after") && message.contains("stop=converged"), "{message}");
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let (body, start) = So3::case(Kind::Driven, Varied::All, 0.0);
    let directions = || directions::<So3>(Kind::Driven);
    let mut derived = Derived::new(&method("galpha:cayley"), start, directions()).unwrap();
    derived.step(&body, 0.0, H).unwrap();
    let all =
        |derived: &Derived<So3>| (0..6).map(|k| derived.varied(k).map(|s| numbers(&s))).collect::<Vec<_>>();
    let before = all(&derived);
    assert!(derived.step(&body, H, 1e9).is_err());
    assert_eq!(all(&derived), before);
    assert!(before[4].is_some() && before[5].is_none());
    // And the accelerations are still there to go on with.
    let mut other = Derived::new(&method("galpha:cayley"), start, directions()).unwrap();
    other.step(&body, 0.0, H).unwrap();
    derived.step(&body, H, H).unwrap();
    other.step(&body, H, H).unwrap();
    assert_eq!(all(&derived), all(&other));
}

#[test]
fn accelerations_are_the_rates_of_velocities() {
    let (body, start) = Se3::case(Kind::Driven, Varied::All, 0.0);
    let rate = body.acceleration(&start, 0.0);
    let mut stepper = Stepper::<f64, Se3>::new(&method("mkrk:rk4"));
    let h = 1e-4;
    let ends = [h, -h].map(|h| body.velocity(&stepper.step(&body, &start, 0.0, h).unwrap()));
    let difference = (ends[0] - ends[1]) * (0.5 / h);
    assert!((difference - rate).norm() < 1e-6 * rate.norm());
}
