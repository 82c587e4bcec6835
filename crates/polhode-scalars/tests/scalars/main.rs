//! Scalars and groups (functions, laws, maps and their tangents), and the methods in lanes and in double-double numbers, which
//! are compiled here.

#[path = "../../../polhode/tests/shared/common.rs"]
mod common;
#[path = "../../../polhode/tests/shared/order.rs"]
mod order;
#[path = "../../../polhode/tests/shared/probe.rs"]
mod probe;

/// Laws that hold on both groups, as tests.
macro_rules! suite {
    ($($law:ident)*) => {$(
        mod $law {
            use super::*;
            #[test]
            fn on_so3() {
                super::$law::<So3>();
            }
            #[test]
            fn on_se3() {
                super::$law::<Se3>();
            }
        }
    )*};
}

mod ensemble;
mod group_algebra;
mod group_body;
mod group_maps;
mod group_motion;
mod group_motion_bits;
mod group_rotation;
mod group_tangent;
mod lanes;
mod outside;
mod registry_lanes;
mod registry_order;
mod scalar_exp_coefficients;
mod scalar_functions;
