//! What a method keeps of the structure of the exact flow.

use super::convergence::Distance;
use crate::body::{Body, Load, State};
use crate::group::{Group, Rotation, So3};
use crate::method::{Derived, Method, Stepper, Steps};
use crate::run::{Drift, Invariants, Switches};
use crate::scalar::{Dual, Scalar};
use crate::solve::StepError;
use nalgebra::{Matrix3, SMatrix, Vector3};

/// The state after `n` steps of size `h` (which may be negative) from `state` at time `t`, landing on the times at which
/// the load switches.
pub fn advance<S: Scalar, G: Steps<S>, L: Load<S>>(
    method: &Method,
    body: &Body<S, G, L>,
    state: &State<S, G>,
    t: S,
    h: S,
    n: u64,
) -> Result<State<S, G>, StepError> {
    let (mut stepper, switches) = (Stepper::new(method), Switches::of(&body.load));
    let mut state = *state;
    for k in 0..n {
        state = switches.step(&mut stepper, body, &state, t + h * S::lift(k as f64), h)?;
    }
    Ok(state)
}

/// The largest drift of every invariant over `n` steps of size `h` from t = 0.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, NoLoad, RotaryInertia};
/// use polhode::check::drift;
/// use polhode::group::{Rotation, So3};
/// use polhode::method::Method;
///
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
/// let body = Body::<f64, So3, _> { inertia, load: NoLoad };
/// let start = body.state(Rotation::identity(), &Vector3::new(0.1, 1.0, 0.2));
/// assert!(drift(&Method::parse("imidm")?, &body, &start, 0.5, 1000)?.momentum_space.unwrap() < 1e-12);
/// assert!(drift(&Method::parse("imid")?, &body, &start, 0.5, 1000)?.momentum_space.unwrap() > 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn drift<G: Steps<f64>, L: Load<f64>>(
    method: &Method,
    body: &Body<f64, G, L>,
    start: &State<f64, G>,
    h: f64,
    n: u64,
) -> Result<Drift, StepError> {
    let (mut stepper, switches) = (Stepper::new(method), Switches::of(&body.load));
    let mut invariants = Invariants::new(body, start, 0.0);
    let mut state = *start;
    for k in 0..n {
        state = switches.step(&mut stepper, body, &state, k as f64 * h, h)?;
        invariants.update(body, &state, (k + 1) as f64 * h);
    }
    Ok(invariants.drift())
}

/// How far from the start `n` steps of size `h` and then `n` steps of size `-h` end. Round-off for a symmetric
/// method.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, NoLoad, RotaryInertia};
/// use polhode::check::reversal_defect;
/// use polhode::group::{Rotation, So3};
/// use polhode::method::Method;
///
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
/// let body = Body::<f64, So3, _> { inertia, load: NoLoad };
/// let start = body.state(Rotation::identity(), &Vector3::new(0.1, 1.0, 0.2));
/// assert!(reversal_defect(&Method::parse("bbtrap")?, &body, &start, 0.5, 10)?.largest() < 1e-13);
/// assert!(reversal_defect(&Method::parse("bbtrapwd")?, &body, &start, 0.5, 10)?.largest() > 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reversal_defect<S: Scalar, G: Steps<S>, L: Load<S>>(
    method: &Method,
    body: &Body<S, G, L>,
    start: &State<S, G>,
    h: S,
    n: u64,
) -> Result<Distance, StepError> {
    let there = advance(method, body, start, S::zero(), h, n)?;
    let back = advance(method, body, &there, h * S::lift(n as f64), -h, n)?;
    Ok(Distance::between(&back, start))
}

/// How far apart the two ways round of a conjugacy χ ∘ Φⁿ = Ψⁿ ∘ χ end, with Φ and Ψ the steps of the two methods
/// of `pair` and χ the step of `via` over the fraction of `h` that comes with it. Round-off if the methods are
/// conjugate by χ.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, RotaryInertia, TopGravity};
/// use polhode::check::conjugacy_defect;
/// use polhode::group::{Rotation, So3};
/// use polhode::method::Method;
///
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0)))?;
/// let body = Body::<f64, So3, _> { inertia, load: TopGravity { mgl: 20.0 } };
/// let start = body.state(Rotation::identity(), &Vector3::new(0.3, 0.1, 5.0));
/// let (trap, imid) = (Method::parse("trap")?, Method::parse("imid")?);
/// let half_euler = (&Method::parse("forward-euler")?, 0.5);
/// let gap = conjugacy_defect([&trap, &imid], half_euler, &body, &start, 0.1, 100)?;
/// assert!(gap.largest() < 1e-11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn conjugacy_defect<S: Scalar, G: Steps<S>, L: Load<S>>(
    pair: [&Method; 2],
    via: (&Method, f64),
    body: &Body<S, G, L>,
    start: &State<S, G>,
    h: S,
    n: u64,
) -> Result<Distance, StepError> {
    let (zero, span, part) = (S::zero(), h * S::lift(n as f64), h * S::lift(via.1));
    let first = advance(pair[0], body, start, zero, h, n)?;
    let first = advance(via.0, body, &first, span, part, 1)?;
    let second = advance(via.0, body, start, zero, part, 1)?;
    let second = advance(pair[1], body, &second, part, h, n)?;
    Ok(Distance::between(&first, &second))
}

/// The largest entry of JᵀW₁J - W₀ for one step on T*SO(3), left-trivialised: J the derivative of the step in
/// (turn of the body, change of the body momentum), W the canonical symplectic form. Round-off for a symplectic
/// method. The body comes twice, the second time with its numbers as constants of the dual scalar, which carries J.
pub fn symplecticity_defect<L: Load<f64>, D: Load<Dual<f64, 1>> + Clone + Send + Sync + 'static>(
    method: &Method,
    body: &Body<f64, So3, L>,
    lifted: &Body<Dual<f64, 1>, So3, D>,
    start: &State<f64, So3>,
    t: f64,
    h: f64,
) -> Result<f64, StepError> {
    let varied = (0..6).map(|column| {
        let seed = |row: usize, value: f64| Dual { re: value, eps: [f64::from(u8::from(row == column))] };
        let turn = Rotation::from_rotation_vector(&Vector3::from_fn(|i, _| seed(i, 0.0)));
        let state: State<Dual<f64, 1>, So3> = State {
            pose: So3::lift_pose::<f64, _>(&start.pose).compose(&turn),
            momentum: Vector3::from_fn(|i, _| seed(3 + i, start.momentum[i])),
        };
        (lifted.clone(), state)
    });
    let mut derived = Derived::new(method, *start, varied)?;
    derived.step(body, t, h)?;
    let (end, ends) = (derived.state(), (0..6).filter_map(|column| derived.varied(column)));
    let ends: Vec<_> = ends.collect();
    let back = So3::lift_pose::<f64, Dual<f64, 1>>(&end.pose).inverse();
    let j = SMatrix::<f64, 6, 6>::from_fn(|row, column| match row {
        // The turn of the body is twice the vector part of q⁻¹ dq.
        0..3 => 2.0 * back.compose(&ends[column].pose).v[row].eps[0],
        _ => ends[column].momentum[row - 3].eps[0],
    });
    let form = |momentum: &Vector3<f64>| {
        let mut w = SMatrix::<f64, 6, 6>::zeros();
        w.fixed_view_mut::<3, 3>(0, 0).copy_from(&-momentum.cross_matrix());
        w.fixed_view_mut::<3, 3>(0, 3).copy_from(&Matrix3::identity());
        w.fixed_view_mut::<3, 3>(3, 0).copy_from(&-Matrix3::identity());
        w
    };
    let defect = j.transpose() * form(&end.momentum) * j - form(&start.momentum);
    Ok(defect.amax())
}
