//! Scalars and groups: functions, laws, maps and their tangents.

#[path = "../../../polhode/tests/shared/probe.rs"]
mod probe;

mod group_algebra;
mod group_body;
mod group_maps;
mod group_motion;
mod group_rotation;
mod group_tangent;
mod scalar_exp_coefficients;
mod scalar_functions;
