//! The measured order of every method is the one it claims, on a problem whose load depends on attitude, velocity
//! and time. Above order four double-double numbers are needed: `polhode-scalars`.

use crate::common::{method, variants};
use crate::order::orders_hold;
use polhode::method::Method;

#[test]
fn orders_up_to_four_are_as_claimed() {
    let mut methods: Vec<Method> = Method::all().into_iter().filter(|m| m.order() <= 4).collect();
    methods.extend(variants());
    methods.push(method("compose:galpha:exp,rho=1:4"));
    assert!(methods.len() > 20);
    orders_hold::<f64>(&methods, 2.0, |m| if m.order() == 1 { 2000 } else { 60 }, 1e-12);
}
