//! A scheme written outside the library: the Lie-Newmark method of Simo & Vu-Quoc (1988), with the material algorithm as in
//! Simo & Wong (1991). It is run, measured and shown beside the library's own methods.
//!
//! Ψ = h V₀ + h²((1/2 - β) A₀ + β A₁),  C₁ = C₀ exp[Ψ],  V₁ = V₀ + h((1 - γ) A₀ + γ A₁),
//! M A₁ + V₁ × M V₁ = T₁,  with Ψ, V and A in the body; the unknown is W = Ψ/h.

use core::ops::ControlFlow;
use nalgebra::{Matrix3, Vector3};
use polhode::body::Dynamics;
use polhode::body::{Body, Gravity, NoLoad, RotaryInertia, SpatialInertia, State, TopGravity};
use polhode::check::{Convergence, Plateau, advance, converge, drift, reversal_defect};
use polhode::group::{Exponential, Group, Rotation, Se3, So3};
use polhode::method::{
    Accelerations, Claims, Method, One, Outcome, Rates, Scheme, SchemeFacts, Start, Stepper,
};
use polhode::problem::Problem;
use polhode::run::Plan;
use polhode::scalar::{Dd, F64x4, Real};
use polhode::sensitivity::Sensitivity;

#[derive(Clone, Copy, Debug)]
struct LieNewmark {
    beta: f64,
    gamma: f64,
}

impl Scheme for LieNewmark {
    type Unknown = One;
    fn accelerations(&self) -> Accelerations {
        Accelerations::Carried
    }
    fn guess<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Vector<S> {
        s.mean(end_velocity)
    }
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        w: &G::Vector<T>,
    ) -> Outcome<T, G, G::Vector<T>> {
        let (beta, gamma, a0) = (self.beta, self.gamma, s.rates.velocity);
        let a1 = ((*w - s.velocity) * s.h.recip() - a0 * T::lift(0.5 - beta)) * T::lift(1.0 / beta);
        let v1 = s.velocity + a0 * (s.h * T::lift(1.0 - gamma)) + a1 * (s.h * T::lift(gamma));
        let pose = s.advance(&G::increment(Exponential, &(*w * s.h)));
        let momentum = s.body.momentum(&v1);
        let load = s.end_load(&pose, &v1);
        let exact = s.body.velocity(&(G::transport(&v1, &momentum) + load));
        Outcome {
            residual: (a1 - exact) * (s.h * T::lift(beta)),
            state: State { pose, momentum },
            carried: Some(Rates { velocity: a1, algorithmic: a1 }),
            load: Some(load),
        }
    }
}

/// With γ = 1/2 and β = 1/4 both ends weigh alike, in V and in Ψ = h (V₀ + V₁)/2: the step is its own mirror image.
fn lie_newmark(beta: f64, gamma: f64) -> Method {
    let facts = SchemeFacts {
        id: "lie-newmark",
        title: "Simo & Vu-Quoc's Lie-Newmark method",
        order: if gamma == 0.5 { 2 } else { 1 },
        symmetric: beta == 0.25 && gamma == 0.5,
        claims: Claims::default(),
        citation: "Simo & Vu-Quoc 1988; Simo & Wong 1991",
    };
    Method::from_scheme(facts, LieNewmark { beta, gamma })
}

fn attitude() -> Rotation<f64> {
    Rotation::from_rotation_vector(&Vector3::new(0.3, -0.2, 0.4))
}
fn tensor() -> Matrix3<f64> {
    Matrix3::new(1.25, 0.2, -0.1, 0.2, 1.56, 0.15, -0.1, 0.15, 2.2)
}
fn top() -> (Body<f64, So3, TopGravity<f64>>, State<f64, So3>) {
    let body =
        Body { inertia: RotaryInertia::about_fixed_point(tensor()).unwrap(), load: TopGravity { mgl: 4.0 } };
    let start = body.state(attitude(), &Vector3::new(0.5, -1.0, 3.0));
    (body, start)
}
fn flying() -> (Body<f64, Se3, Gravity<f64>>, State<f64, Se3>) {
    let center = Vector3::new(0.1, -0.2, 0.3);
    let load = Gravity { weight_space: Vector3::new(0.0, 0.0, -19.62), center_body: center };
    let body = Body { inertia: SpatialInertia::new(2.0, center, tensor()).unwrap(), load };
    let velocity = Se3::vector(&Vector3::new(0.5, 0.1, -0.2), &Vector3::new(0.3, 2.0, 0.4));
    let start = body.state(Se3::pose(&attitude(), &Vector3::zeros()), &velocity);
    (body, start)
}

fn slopes(found: &Convergence) -> [f64; 2] {
    [found.attitude(Plateau::Detect).unwrap().slope, found.momentum(Plateau::Detect).unwrap().slope]
}

#[test]
fn its_order_is_that_of_newmark() {
    let exact = Method::parse("mkrk:gauss4").unwrap();
    let counts = [100, 200, 400, 800];
    for (beta, gamma, order) in [(0.25, 0.5, 2.0), (1.0 / 6.0, 0.5, 2.0), (0.3025, 0.6, 1.0)] {
        let method = lie_newmark(beta, gamma);
        assert_eq!(f64::from(method.order()), order);
        let (body, start) = top();
        let reference = advance(&exact, &body, &start, 0.0, 0.005, 400).unwrap();
        let turning = slopes(&converge(&method, &body, &start, 2.0, &counts, &reference).unwrap());
        let (body, start) = flying();
        let reference = advance(&exact, &body, &start, 0.0, 0.005, 400).unwrap();
        let moving = slopes(&converge(&method, &body, &start, 2.0, &counts, &reference).unwrap());
        for slope in turning.into_iter().chain(moving) {
            assert!((slope - order).abs() < 0.15, "beta = {beta}, gamma = {gamma}: {turning:?} {moving:?}");
        }
    }
}

#[test]
fn it_keeps_what_it_claims_and_nothing_else() {
    // The equation of motion is collocated at the end of the step, so that no momentum is kept.
    let body =
        Body::<f64, So3, _> { inertia: RotaryInertia::about_fixed_point(tensor()).unwrap(), load: NoLoad };
    let start = body.state(attitude(), &Vector3::new(0.5, -1.0, 3.0));
    let found = drift(&lie_newmark(0.25, 0.5), &body, &start, 0.1, 1000).unwrap();
    let swc1 = drift(&Method::parse("swc1").unwrap(), &body, &start, 0.1, 1000).unwrap();
    assert!(swc1.momentum_space.unwrap() < 1e-12 && found.momentum_space.unwrap() > 1e-3, "{found:?}");
    assert!(found.momentum_body.unwrap() > 1e-6, "{found:?}");
}

#[test]
fn it_is_composed_to_higher_orders() {
    let (body, start) = top();
    let method = lie_newmark(0.25, 0.5);
    let symmetric = reversal_defect(&method, &body, &start, 0.1, 20).unwrap().largest();
    assert!(symmetric < 1e-12, "{symmetric:e}");
    let composed = method.composed(4).unwrap();
    assert_eq!((composed.id(), composed.order()), ("compose:lie-newmark:4", 4));
    let reference = advance(&Method::parse("mkrk:gauss4").unwrap(), &body, &start, 0.0, 0.005, 400).unwrap();
    let found = slopes(&converge(&composed, &body, &start, 2.0, &[20, 40, 80, 160], &reference).unwrap());
    assert!(found.iter().all(|slope| (slope - 4.0).abs() < 0.15), "{found:?}");
    assert!(lie_newmark(0.3025, 0.6).composed(4).is_err());
}

#[test]
fn lanes_and_double_double_numbers_run_it() {
    let (body, start) = top();
    let method = lie_newmark(0.25, 0.5);
    let plain = advance(&method, &body, &start, 0.0, 0.02, 50).unwrap();
    let mut lanes = Stepper::<F64x4, So3>::new(&method);
    let four = Body::<F64x4, So3, _> {
        inertia: RotaryInertia::unchecked(tensor().map(F64x4::lift)),
        load: TopGravity { mgl: F64x4::lift(4.0) },
    };
    let mut state = four.state(
        Rotation::from_q_wxyz(attitude().q_wxyz().map(F64x4::lift)),
        &Vector3::new(0.5, -1.0, 3.0).map(F64x4::lift),
    );
    for n in 0..50 {
        state = lanes.step(&four, &state, F64x4::lift(0.02 * f64::from(n)), F64x4::lift(0.02)).unwrap();
    }
    assert_eq!(state.momentum.map(|x| x.lane(2)), plain.momentum);
    let exact = Body::<Dd, So3, _> {
        inertia: So3::recompute_inertia::<f64, Dd>(&body.inertia),
        load: TopGravity { mgl: Dd::lift(4.0) },
    };
    let found = advance(&method, &exact, &start.lift(), Dd::lift(0.0), Dd::lift(0.02), 50).unwrap();
    let gap = (found.momentum.map(|x| x.largest()) - plain.momentum).norm();
    assert!(gap < 1e-12, "{gap:e}");
}

#[test]
fn it_stands_beside_the_methods_of_the_library_in_a_table() {
    let model = Problem::named("fast-top").unwrap().model().unwrap();
    let mut table = String::new();
    for method in [lie_newmark(0.25, 0.5), Method::parse("rotation-vector,residual=collocated").unwrap()] {
        let mut errors = Vec::new();
        for step in [0.004, 0.002, 0.001] {
            let plan = Plan::new(step, 0.4).unwrap();
            let end = model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
            errors.push(model.reference(0.4).unwrap().errors(&end.last).attitude);
        }
        table += &format!("{:<36} {:.2e} {:.2e} {:.2e}\n", method.id(), errors[0], errors[1], errors[2]);
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1]).log2() > 1.85, "{table}");
        }
    }
    assert_eq!(table.lines().count(), 2);
}

#[test]
fn derivatives_of_it_are_refused_by_name() {
    let problem = Problem::named("fast-top").unwrap();
    let refused = Sensitivity::new(&problem, &["mgl"], &lie_newmark(0.25, 0.5)).map(|_| ());
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("lie-newmark") && text.contains("has no derivatives"), "{text}");
}
