//! The group laws, and the pairing of momenta with velocities, on SO(3) and SE(3).

use crate::probe::Random;
use nalgebra::{Vector3, Vector6};
use polhode::body::Dynamics;
use polhode::group::{Cayley, Coordinates, Exponential, Group, Motion, Rotation, Se3, So3, lift};
use polhode::scalar::{Dual, Real};

fn vector<G: Dynamics>(random: &mut Random) -> G::Vector<f64> {
    G::vector(&random.vector(), &random.vector())
}
/// Parameters with a turn of up to 3 rad.
fn parameters<G: Dynamics>(random: &mut Random) -> G::Vector<f64> {
    let angle = random.within(0.0, 3.0);
    G::vector(&random.vector(), &(random.axis() * angle))
}
fn step<G: Dynamics>(psi: &G::Vector<f64>) -> G::Increment<f64> {
    G::increment(Exponential, psi)
}
fn pose<G: Dynamics, S: Real>(psi: &G::Vector<S>) -> G::Pose<S> {
    G::advance(&G::identity(), &G::increment(Exponential, psi))
}
fn far<G: Dynamics>(a: &G::Pose<f64>, b: &G::Pose<f64>) -> f64 {
    let (turn, shift) = G::distance(a, b);
    turn.max(shift)
}
fn parts<G: Dynamics>(pose: &G::Pose<f64>) -> (Rotation<f64>, Vector3<f64>) {
    let at = G::kinematics(0.0, pose, &G::Vector::<f64>::origin());
    (at.attitude, at.position)
}
/// The velocity V of a body frame seen from the frame that `a` leads to it from: (R v + u × R Ω, R Ω).
fn adjoint<G: Dynamics>(a: &G::Pose<f64>, v: &G::Vector<f64>) -> G::Vector<f64> {
    let ((r, u), omega) = (parts::<G>(a), G::angular(v));
    let omega = r.matrix() * omega;
    G::vector(&(r.matrix() * G::linear(v) + u.cross(&omega)), &omega)
}

fn poses_form_a_group<G: Dynamics>() {
    let mut random = Random(1);
    for _ in 0..2_000 {
        let [a, b, c] = core::array::from_fn(|_| pose::<G, f64>(&parameters::<G>(&mut random)));
        let ab = G::compose(&a, &b);
        assert!(far::<G>(&G::compose(&ab, &c), &G::compose(&a, &G::compose(&b, &c))) < 8e-15);
        assert_eq!(G::compose(&a, &G::identity()), a);
        assert_eq!(G::compose(&G::identity(), &a), a);
        assert!(far::<G>(&G::compose(&a, &G::inverse(&a)), &G::identity()) < 4e-15);
        assert!(far::<G>(&G::compose(&G::inverse(&a), &a), &G::identity()) < 4e-15);
        assert!(far::<G>(&G::inverse(&ab), &G::compose(&G::inverse(&b), &G::inverse(&a))) < 8e-15);
        assert!(far::<G>(&G::normalized(&a), &a) < 1e-15);
        let ((ra, ua), (rb, ub), (r, u)) = (parts::<G>(&a), parts::<G>(&b), parts::<G>(&ab));
        assert!((r.matrix() - ra.matrix() * rb.matrix()).norm() < 4e-15);
        assert!((u - ua - ra.matrix() * ub).norm() < 4e-15);
    }
}

fn an_increment_advances_like_the_pose_it_leads_to<G: Dynamics>() {
    let mut random = Random(2);
    for _ in 0..2_000 {
        let (a, psi) = (pose::<G, f64>(&parameters::<G>(&mut random)), parameters::<G>(&mut random));
        let want = G::compose(&a, &pose::<G, f64>(&psi));
        assert!(far::<G>(&G::advance(&a, &step::<G>(&psi)), &want) < 4e-15);
    }
}

fn momenta_are_pulled_and_pushed_by_the_adjoint<G: Dynamics>() {
    let mut random = Random(3);
    for _ in 0..2_000 {
        let (psi, p, v) = (parameters::<G>(&mut random), vector::<G>(&mut random), vector::<G>(&mut random));
        let (step, pose) = (step::<G>(&psi), pose::<G, f64>(&psi));
        assert!((G::pull(&step, &G::push(&step, &p)) - p).length() < 2e-14);
        assert!((G::push(&step, &G::pull(&step, &p)) - p).length() < 2e-14);
        assert!((G::to_space(&pose, &p) - G::push(&step, &p)).length() < 2e-14);
        // Power does not depend on the frame.
        let moved = adjoint::<G>(&pose, &v);
        assert!((G::pull(&step, &p).inner(&v) - p.inner(&moved)).abs() < 2e-14);
        assert!((G::push(&step, &p).inner(&moved) - p.inner(&v)).abs() < 2e-14);
    }
}

fn pulls_follow_each_other_like_the_motions<G: Dynamics>() {
    let mut random = Random(4);
    for _ in 0..2_000 {
        let (a, b, p) =
            (parameters::<G>(&mut random), parameters::<G>(&mut random), vector::<G>(&mut random));
        let both = G::parameters(Cayley, &G::compose(&pose::<G, f64>(&a), &pose::<G, f64>(&b)));
        if G::angular(&both).norm() > 20.0 {
            continue;
        }
        let once = G::pull(&G::increment(Cayley, &both), &p);
        assert!((G::pull(&step::<G>(&b), &G::pull(&step::<G>(&a), &p)) - once).length() < 1e-12);
    }
}

fn transport_is_dual_to_the_bracket<G: Dynamics>() {
    let mut random = Random(5);
    for _ in 0..2_000 {
        let [u, v, w, p] = core::array::from_fn(|_| vector::<G>(&mut random));
        assert!((G::transport(&v, &p).inner(&w) - p.inner(&G::bracket(&v, &w))).abs() < 2e-15);
        assert!(G::transport(&v, &p).inner(&v).abs() < 2e-15, "transport does no work");
        assert_eq!(G::bracket(&v, &w), -G::bracket(&w, &v));
        let cycle = |a, b, c| G::bracket(a, &G::bracket(b, c));
        assert!((cycle(&u, &v, &w) + cycle(&v, &w, &u) + cycle(&w, &u, &v)).length() < 4e-15);
    }
}

fn the_bracket_is_the_rate_of_the_adjoint_and_transport_that_of_the_pull<G: Dynamics>() {
    let mut random = Random(6);
    for _ in 0..2_000 {
        let [v, w, p] = core::array::from_fn(|_| vector::<G>(&mut random));
        let moving = G::Vector::<Dual<f64, 1>>::generate(|i| Dual { re: 0.0, eps: [v.at(i)] });
        let pulled = G::pull(&G::increment(Exponential, &moving), &lift::<f64, _, _, _>(&p));
        let rate = G::Vector::<f64>::generate(|i| pulled.at(i).eps[0]);
        assert!((rate - G::transport(&v, &p)).length() < 2e-15);
        // exp(v) exp(w) exp(-v) for small w: by the mixed second derivative of the parameters.
        type Two = Dual<Dual<f64, 1>, 1>;
        let at = |f: &dyn Fn(usize) -> Two| pose::<G, Two>(&G::Vector::<Two>::generate(f));
        let outer = |i: usize, sign: f64| Dual {
            re: Dual { re: 0.0, eps: [sign * v.at(i)] },
            eps: [Dual::constant(0.0)],
        };
        let inner = |i: usize| Dual { re: Dual::constant(0.0), eps: [Dual::constant(w.at(i))] };
        let turned = G::compose(&G::compose(&at(&|i| outer(i, 1.0)), &at(&inner)), &at(&|i| outer(i, -1.0)));
        let found = G::parameters(Exponential, &turned);
        let rate = G::Vector::<f64>::generate(|i| found.at(i).eps[0].eps[0]);
        assert!((rate - G::bracket(&v, &w)).length() < 4e-15);
    }
}

fn vectors_split_and_join<G: Dynamics>() {
    let mut random = Random(7);
    let (a, b) = (vector::<G>(&mut random), vector::<G>(&mut random));
    assert_eq!(G::split(&G::join::<f64>(&a, &b)), (a, b));
    assert_eq!(G::vector(&G::linear(&a), &G::angular(&a)), a);
    assert_eq!(G::linear(&a).norm() > 0.0, G::MOVES);
}

suite! {
    poses_form_a_group
    an_increment_advances_like_the_pose_it_leads_to
    momenta_are_pulled_and_pushed_by_the_adjoint
    pulls_follow_each_other_like_the_motions
    transport_is_dual_to_the_bracket
    the_bracket_is_the_rate_of_the_adjoint_and_transport_that_of_the_pull
    vectors_split_and_join
}

#[test]
fn a_force_at_a_distance_makes_a_moment() {
    // A unit force along y through the point one unit along x of the reference point.
    let there = Motion { attitude: Rotation::identity(), position: Vector3::x() };
    let seen = Se3::to_space(&there, &Vector6::new(0.0, 1.0, 0.0, 0.0, 0.0, 0.0));
    assert_eq!(seen, Vector6::new(0.0, 1.0, 0.0, 0.0, 0.0, 1.0));
}
