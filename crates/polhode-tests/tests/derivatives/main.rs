//! Derivatives with respect to parameters, of steps, runs and systems, and fits.

#[path = "../../../polhode/tests/shared/common.rs"]
mod common;
#[path = "../../../polhode/tests/shared/systems.rs"]
mod systems;

mod bruls_sensitivity;
mod derived_steps;
mod identify;
mod identify_between;
mod own_elements;
mod own_loads;
mod parameters;
mod registry_duals;
mod sensitivity_cost;
mod sensitivity_systems;
mod sensitivity_top;
