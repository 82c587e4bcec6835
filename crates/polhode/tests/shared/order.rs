//! Measures the order of methods in any scalar.

use crate::common::{Case, method, rotation};
use polhode::check::{Plateau, advance, converge};
use polhode::group::So3;
use polhode::method::{Method, Steps};
use polhode::scalar::Scalar;

/// Slopes within 0.15 of the claim, in attitude and momentum, on at least three points (or it is an error).
pub fn orders_hold<S: Scalar>(methods: &[Method], until: f64, coarsest: impl Fn(&Method) -> u64, plateau: f64)
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
