use super::*;
use crate::body::{RotaryInertia, TopGravity};
use crate::ensemble::Member;
use crate::group::Rotation;
use nalgebra::{Matrix3, Vector3};

/// Tops of some weight and spin.
struct Tops;
impl Family<So3> for Tops {
    type Load<S: Real> = TopGravity<S>;
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> Member<S, So3, TopGravity<S>> {
        let moments = Matrix3::from_diagonal(&Vector3::new(5.0, 4.0, 1.0)).map(S::lift);
        let body = Body { inertia: RotaryInertia::unchecked(moments), load: TopGravity { mgl: number(0) } };
        let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
        let start = body.state(tilt, &Vector3::new(S::lift(0.4), S::zero(), number(1)));
        (body, start)
    }
}

#[test]
fn registers_that_this_processor_would_not_choose_have_the_same_bits() {
    let spins = [50.0, 45.0, 300.0, 40.0, 10.0, 20.0, f64::INFINITY, 30.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let numbers: Vec<f64> = spins.iter().flat_map(|spin| [20.0 + 0.1 * spins[0], *spin]).collect();
    let members = Members::new(&numbers, 2);
    // With long steps some of the lanes end on their way.
    for (step, until) in [(1e-3, 0.03), (0.02, 2.0), (0.5, 5.0)] {
        let plan = &Plan::new(step, until).unwrap();
        for id in ["akw", "imidm", "trapm", "compose:akw:4"] {
            let method = &Method::parse(id).unwrap();
            assert!(Straight::<f64>::can(method));
            let all = Group { family: &Tops, members: &members, range: 0..13, method, plan };
            let alone: Ends = (0..13).map(|k| all.alone::<So3>(k, None)).collect();
            for (end, spin) in alone.iter().zip(spins) {
                assert!(end.is_ok() || spin.is_infinite() || step > 1e-3, "{id}, {spin}");
            }
            assert!(alone.iter().any(Result::is_err) && alone.iter().any(Result::is_ok), "{id}, h = {step}");
            // As text: what is no number is not equal to itself.
            assert_eq!(format!("{:?}", all.straightly::<F64x4>()), format!("{alone:?}"), "{id}, h = {step}");
        }
    }
}

#[test]
fn most_steps_are_plain_and_some_are_not() {
    let straight = Straight::<f64>::new(&Method::parse("akw").unwrap());
    for (spin, h, plain) in [(50.0, 1e-3, true), (300.0, 0.5, false)] {
        let (body, start) = Tops.member::<f64>(&|i| [20.0, spin][i]);
        assert_eq!(straight.step(&body, &start, 0.0, h).is_some(), plain, "{spin}");
    }
}
