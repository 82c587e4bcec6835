//! scratch
use nalgebra::{Matrix3, Vector3};
use polhode::body::*;
use polhode::group::*;
use polhode::method::*;
use std::time::Instant;
fn main() {
    let inertia =
        RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(0.9144, 1.098, 1.66))).unwrap();
    let body = Body::<f64, So3, _> { inertia, load: NoLoad };
    let s0 = body.state(Rotation::identity(), &Vector3::new(0.45549, 0.82623, 0.03476));
    let pref = Vector3::new(0.661568603852765280, 0.634130709038784006, 0.400024770879412809);
    for m in Method::all() {
        let mut e = vec![];
        let mut w = Default::default();
        for h in [0.5, 0.2, 0.1, 0.05] {
            let mut st = Stepper::<f64, So3>::new(&m);
            let n = (100.0f64 / h).round() as usize;
            let mut s = s0;
            for i in 0..n {
                match st.step(&body, &s, i as f64 * h, h) {
                    Ok(x) => s = x,
                    Err(er) => {
                        println!("{er}");
                        break;
                    }
                }
            }
            e.push(format!("{:.2e}", (s.momentum - pref).norm()));
            w = st.work;
        }
        println!("{:20} {:?} {:?}", m.id(), e, w);
    }
    let inertia =
        RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0))).unwrap();
    let body = Body::<f64, So3, _> {
        inertia,
        load: Gravity {
            weight_space: Vector3::new(0.0, 0.0, -20.0),
            center_body: Vector3::new(0.0, 0.0, 1.0),
        },
    };
    let s0 = body
        .state(Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0)), &Vector3::new(0.0, 0.0, 50.0));
    for m in ["imidm", "mkrk:rk4", "swc1", "akw", "mkrk:gauss2", "imidm", "mkrk:rk4"] {
        let mut st = Stepper::<f64, So3>::new(&Method::parse(m).unwrap());
        let mut s = s0;
        let n = 1_000_000;
        let t0 = Instant::now();
        for i in 0..n {
            s = st.step(&body, &s, i as f64 * 1e-3, 1e-3).unwrap();
        }
        println!(
            "{m:10} {:.1} ns {:?} {:?}",
            t0.elapsed().as_nanos() as f64 / n as f64,
            st.work,
            s.momentum.x
        );
    }
}
