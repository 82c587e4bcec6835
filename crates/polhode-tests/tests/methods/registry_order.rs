//! The measured order of every method is the one it claims, on a problem whose load depends on attitude, velocity
//! and time.

use crate::common::{Case, composed, method, rotation, variants};
use polhode::check::{Plateau, advance, converge};
use polhode::group::So3;
use polhode::method::{Method, Steps};
use polhode::scalar::{Dd, Scalar};

/// Slopes within 0.15 of the claim, in attitude and momentum, on at least three points (or it is an error).
fn orders_hold<S: Scalar>(methods: &[Method], until: f64, coarsest: impl Fn(&Method) -> u64, plateau: f64)
where
    So3: Steps<S>,
{
    let (body, start): Case<S, So3> = rotation("driven-body");
    let (n, end) = (2000, S::lift(until));
    let reference =
        advance(&method("compose:imidm:8"), &body, &start, S::zero(), end / S::lift(2000.0), n).unwrap();
    let mut wrong = Vec::new();
    for method in methods {
        let first = coarsest(method);
        let counts: Vec<u64> = (0..5).map(|k| (first as f64 * 1.3f64.powi(k)).round() as u64).collect();
        let found = converge(method, &body, &start, until, &counts, &reference).unwrap();
        let claimed = f64::from(method.order());
        for (what, order) in [
            ("attitude", found.attitude(Plateau::At(plateau))),
            ("momentum", found.momentum(Plateau::At(plateau))),
        ] {
            match order {
                Ok(order) if (order.slope - claimed).abs() < 0.15 => {}
                other => wrong.push(format!("{} {what}, claimed {claimed}: {other:?}", method.id())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn orders_up_to_four_are_as_claimed() {
    let mut methods: Vec<Method> = Method::all().into_iter().filter(|m| m.order() <= 4).collect();
    methods.extend(variants());
    methods.push(method("compose:galpha:exp,rho=1:4"));
    assert!(methods.len() > 20);
    orders_hold::<f64>(&methods, 2.0, |m| if m.order() == 1 { 2000 } else { 60 }, 1e-12);
}

#[test]
fn orders_six_and_eight_are_as_claimed() {
    let all = Method::all().into_iter().filter(|m| m.order() > 4);
    let methods: Vec<Method> = all.chain(composed(6)).chain(composed(8)).collect();
    assert!(methods.len() > 10);
    orders_hold::<Dd>(&methods, 2.0, |m| if m.order() == 6 { 20 } else { 9 }, 3e-15);
}
