//! What a step costs: no allocation, and a known number of Newton iterations and Jacobians.

use crate::common::{Case, method, motion, rotation};
use nalgebra::{Matrix3, Vector3};
use polhode::body::{
    Body, Drag, Frame, Kinematics, Load, Loads, Moment, RotaryInertia, State, Switched, TopGravity, Wrench,
};
use polhode::group::{Rotation, So3};
use polhode::method::{Method, Stepper, Steps};
use polhode::scalar::Over;
use polhode::solve::Work;
use std::cell::Cell;

/// Allocations in a hundred steps.
fn allocations<G: Steps<f64>>(method: &Method, (body, start): &Case<f64, G>, h: f64) -> u64 {
    let mut stepper = Stepper::<f64, G>::new(method);
    let mut state = *start;
    let info = allocation_counter::measure(|| {
        for n in 0..100 {
            match stepper.step(body, &state, f64::from(n) * h, h) {
                Ok(next) => state = next,
                Err(_) => break,
            }
        }
    });
    info.count_total
}

#[test]
fn no_step_allocates() {
    let boxed = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1.0f64))));
    assert_eq!(boxed.count_total, 1, "the counter does not count");
    let (driven, flying) = (rotation("driven-body"), motion());
    for method in Method::all() {
        // The large step goes through the retry ladder.
        for h in [0.01, 0.8] {
            assert_eq!(allocations(&method, &driven, h), 0, "{} on SO(3), h = {h}", method.id());
            assert_eq!(allocations(&method, &flying, h), 0, "{} on SE(3), h = {h}", method.id());
        }
    }
}

/// Counters of a thousand steps of the fast top.
fn work(id: &str) -> Work {
    let (body, mut state) = rotation::<f64>("fast-top");
    let mut stepper = Stepper::new(&method(id));
    for n in 0..1000 {
        state = stepper.step(&body, &state, f64::from(n) * 1e-3, 1e-3).unwrap();
    }
    stepper.work
}

#[test]
fn newton_takes_two_or_three_iterations_and_one_jacobian_per_solve() {
    for method in Method::all() {
        let work = work(method.id());
        // Solves per step: one for each implicit half step, one for each block of stages.
        let composed = method.id().starts_with("compose:");
        let solves = if method.is_explicit() { 0 } else { 1000 * if composed { 5 } else { 1 } };
        let three =
            ["backward-euler", "backward-euler-m", "swc1", "bbtrap", "euler-parameters", "rotation-vector"]
                .contains(&method.id())
                || method.id().starts_with("decaying:")
                || method.id().ends_with("convected")
                || method.id().starts_with("compose:convected:");
        let golden = if three { 3 } else { 2 };
        let most = if method.is_explicit() { 0 } else { golden };
        let seen = (work.solves, work.jacobians, work.retries, work.most_iterations);
        assert_eq!(seen, (solves, solves, 0, most), "{}", method.id());
        // Most solves take the most.
        assert!(work.iterations * 100 >= 85 * most * solves, "{}: {work:?}", method.id());
    }
}

/// A moment that depends on time and attitude, with how often it was asked for.
struct Counted {
    is_field: bool,
    asked: Cell<u64>,
}

impl Load<f64> for Counted {
    fn wrench<T: Over<f64>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        self.asked.set(self.asked.get() + 1);
        let up = at.attitude.vertical();
        Wrench::moment(Vector3::new(
            up[1] * T::lift(3.0),
            up[0] * T::lift(-3.0),
            (at.time * T::lift(2.0)).sin_cos().1,
        ))
    }
    fn is_field(&self) -> bool {
        self.is_field
    }
}

/// The end of twenty steps, and how often the load was asked for in them.
fn under_counted(method: &Method, is_field: bool) -> (State<f64, So3>, u64) {
    let inertia =
        RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 1.7, 2.2))).unwrap();
    let body = Body { inertia, load: Counted { is_field, asked: Cell::new(0) } };
    let mut state = body
        .state(Rotation::from_rotation_vector(&Vector3::new(0.3, -0.2, 0.5)), &Vector3::new(1.0, 2.0, -3.0));
    let mut stepper = Stepper::<f64, So3>::new(method);
    for n in 0..20 {
        state = stepper.step(&body, &state, 0.02 * f64::from(n), 0.02).unwrap();
    }
    (state, body.load.asked.get())
}

#[test]
fn a_load_of_time_and_pose_is_asked_once_between_two_parts_and_changes_no_bit() {
    let composed = ["compose:imidm:6", "compose:akw:4", "compose:trapm:4", "compose:galpha:exp,rho=1:4"];
    let mut spared = Vec::new();
    for method in Method::all().into_iter().chain(composed.map(method)) {
        if method.id().starts_with("kinematic:") {
            continue;
        }
        let [(known, fewer), (fresh, all)] = [true, false].map(|is_field| under_counted(&method, is_field));
        let bits = |state: &State<f64, So3>| {
            let q = state.pose.q_wxyz().map(f64::to_bits);
            (q, [0, 1, 2].map(|i| state.momentum[i].to_bits()))
        };
        assert_eq!(bits(&known), bits(&fresh), "{}", method.id());
        if fewer < all {
            spared.push((method.id().to_string(), (all - fewer) / 20));
        }
    }
    let of = |id: &str| spared.iter().find(|(method, _)| method == id).map(|(_, count)| *count);
    // Backward then forward Euler; and the parts of compositions that meet at the same time to the last bit.
    assert_eq!(
        (of("imidm"), of("imid"), of("akw"), of("trapm")),
        (Some(1), Some(1), None, None),
        "{spared:?}"
    );
    assert!(of("compose:akw:4").is_some() && of("compose:imidm:6").is_some(), "{spared:?}");
}

#[test]
fn only_loads_that_are_fields_say_so() {
    let moment = Moment { frame: Frame::Space, value: Vector3::new(1.0, 0.0, 0.0) };
    assert!(Load::<f64>::is_field(&moment) && Load::<f64>::is_field(&TopGravity { mgl: 2.0 }));
    assert!(!Load::<f64>::is_field(&Drag { coefficient: 1.0 }));
    assert!(!Load::<f64>::is_field(&Switched { load: moment, on: 0.0, off: 1.0 }));
    assert!(!Load::<f64>::is_field(&(moment, Drag { coefficient: 1.0 })));
    assert!(
        Loads::<f64>::none().with(moment).is_field()
            && !Loads::none().with(moment).with(Drag { coefficient: 1.0 }).is_field()
    );
}
