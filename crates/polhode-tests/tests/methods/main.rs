//! One-step methods: loops over the registry, in which what it says of a method is tested to hold and what it does not say is
//! tested to fail; the tables of the papers; loads. All in plain numbers, whose steps the library has compiled.

#[path = "../../../polhode/tests/shared/common.rs"]
mod common;
#[path = "../../../polhode/tests/shared/order.rs"]
mod order;

mod bauchau_stiff;
mod bauchau_structure;
mod bauchau_tables;
mod conservative_loads;
mod frequencies;
mod kasti_estimate;
mod kasti_tables;
mod krenk_problems;
mod krenk_tables;
mod krysl_soft_wall;
mod krysl_structure;
mod krysl_tables;
mod load_jumps;
mod odd_bodies;
mod registry_claims;
mod registry_long;
mod registry_order;
mod registry_work;
mod robustness;
mod saved;
mod units;
