//! Loops over the registry: what it says of a method is tested to hold, and what it does not say is tested to fail.
//! One program, so that each method is compiled once.

#[path = "../common/mod.rs"]
mod common;

mod claims;
mod duals;
mod lanes;
mod long;
mod order;
mod work;
