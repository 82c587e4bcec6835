//! Many bodies at once: each has the bits of its own run, however they are shared out, and one that fails fails alone.

use nalgebra::{Matrix3, SVector, Vector3};
use polhode::body::{Body, NoLoad, RotaryInertia, SpatialInertia, TopGravity};
use polhode::ensemble::{End, Family, Member, Members, Together, run};
use polhode::group::{Group, Rotation, Se3, So3};
use polhode::method::{Method, Stepper, Steps};
use polhode::run::Plan;
use polhode::scalar::Real;
use polhode::solve::StepError;

/// Tops of some weight and spin.
struct Tops;
impl Family<So3> for Tops {
    type Load<S: Real> = TopGravity<S>;
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> Member<S, So3, TopGravity<S>> {
        let moments = Matrix3::new(5.0, 0.1, 0.2, 0.1, 4.0, -0.1, 0.2, -0.1, 2.0).map(S::lift);
        let body = Body { inertia: RotaryInertia::unchecked(moments), load: TopGravity { mgl: number(0) } };
        let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
        let start = body.state(tilt, &Vector3::new(S::lift(0.4), S::zero(), number(1)));
        (body, start)
    }
}

/// Bodies of some mass and velocity that fly.
struct Flying;
impl Family<Se3> for Flying {
    type Load<S: Real> = NoLoad;
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> Member<S, Se3, NoLoad> {
        let moments = Matrix3::new(1.25, 0.2, -0.1, 0.2, 1.56, 0.15, -0.1, 0.15, 2.2).map(S::lift);
        let center = Vector3::new(0.1, -0.03, 0.12).map(S::lift);
        let body = Body { inertia: SpatialInertia::unchecked(number(0), center, moments), load: NoLoad };
        let velocity = SVector::from([0.1, 0.2, 0.3, 1.0, -0.5, 0.0]).map(S::lift) * number(1);
        let start = body.state(Se3::identity(), &velocity);
        (body, start)
    }
}

const COUNT: usize = 45;
const INFINITE: usize = 18;

fn numbers() -> Vec<f64> {
    let speed = |k: usize| match k {
        INFINITE => f64::INFINITY,
        // Too fast for plain steps.
        5 | 23 => 300.0,
        _ => 50.0 - 0.7 * k as f64,
    };
    (0..COUNT).flat_map(|k| [10.0 + 0.3 * k as f64, speed(k)]).collect()
}

fn plan() -> Plan {
    Plan::new(1e-3, 0.03).unwrap()
}

/// The end of each, as many as there are numbers for.
fn found<G: Together, F: Family<G>>(
    family: &F,
    numbers: &[f64],
    method: &Method,
    threads: usize,
) -> Vec<Result<End, StepError>> {
    let mut ends = Vec::new();
    run(family, &Members::new(numbers, 2), method, &plan(), threads, &mut |k, end| {
        assert_eq!(k, ends.len());
        ends.push(end);
    });
    ends
}

/// Momenta and quaternion by the stepper of one body.
fn by_stepper<G: Steps<f64>, F: Family<G>>(family: &F, numbers: &[f64], method: &Method) -> Option<[f64; 7]> {
    let (body, mut state) = family.member::<f64>(&|i| numbers[i]);
    let mut stepper = Stepper::<f64, G>::new(method);
    for n in 0..plan().steps() {
        state = stepper.step(&body, &state, plan().time(n), plan().size(n)).ok()?;
    }
    let seen = G::kinematics(0.0, &state.pose, &state.momentum);
    let [w, x, y, z] = seen.attitude.q_wxyz();
    let p = G::angular(&state.momentum);
    Some([w, x, y, z, p.x, p.y, p.z])
}

fn shared_out<G: Together, F: Family<G>>(family: &F) {
    let numbers = numbers();
    for id in ["akw", "imidm", "trapm", "compose:akw:4", "mkrk:rk4"] {
        let method = Method::parse(id).unwrap();
        let all = found(family, &numbers, &method, 1);
        for (k, end) in all.iter().enumerate() {
            let alone = by_stepper(family, &numbers[2 * k..], &method);
            assert_eq!(alone.is_none(), k == INFINITE, "{id} {k}");
            let seen = end.as_ref().ok().map(|end| {
                let ([w, x, y, z], p) = (end.q_wxyz, end.momentum_body);
                [w, x, y, z, p.x, p.y, p.z]
            });
            assert_eq!(seen.map(|x| x.map(f64::to_bits)), alone.map(|x| x.map(f64::to_bits)), "{id} {k}");
        }
        for threads in [1, 2] {
            for chunk in [1, 7, 1000] {
                let parts = numbers.chunks(2 * chunk);
                let ends: Vec<_> = parts.flat_map(|part| found(family, part, &method, threads)).collect();
                // As text: what fails may have failed with what is no number, which is not equal to itself.
                assert_eq!(
                    format!("{ends:?}"),
                    format!("{all:?}"),
                    "{id}, {threads} threads, chunks of {chunk}"
                );
            }
        }
    }
}

#[test]
fn tops_are_the_same_however_they_are_shared_out() {
    shared_out(&Tops);
}

#[test]
fn bodies_that_fly_are_the_same_however_they_are_shared_out() {
    shared_out(&Flying);
}
