//! The measured order of the methods of high order.

use crate::common::composed;
use crate::order::orders_hold;
use polhode::method::Method;
use polhode::scalar::Dd;

#[test]
fn orders_six_and_eight_are_as_claimed() {
    let all = Method::all().into_iter().filter(|m| m.order() > 4);
    let methods: Vec<Method> = all.chain(composed(6)).chain(composed(8)).collect();
    assert!(methods.len() > 10);
    orders_hold::<Dd>(&methods, 2.0, |m| if m.order() == 6 { 20 } else { 9 }, 3e-15);
}
