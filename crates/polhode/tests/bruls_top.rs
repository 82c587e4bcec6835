//! The heavy top of Brüls & Eberhard 2008, section 6: discrete values, convergence, figures.

use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{GROUND, JointKind, Rigid, Simulation, System};

fn top() -> System<f64> {
    let center = Vector3::new(0.0, 1.0, 0.0);
    let omega = Vector3::new(0.0, 150.0, -4.61538);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.234375, 0.46875, 0.234375));
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let body = Rigid::new(15.0, inertia).unwrap().at(center, Rotation::identity());
    system.body("top", body.moving(omega.cross(&center), omega)).unwrap();
    system.frame("tip", "top", -center, Rotation::identity()).unwrap();
    system.joint("pivot", JointKind::Spherical, GROUND, "tip").unwrap();
    system
}

fn position(method: &str, h: f64, steps: usize) -> Vector3<f64> {
    let system = top();
    let mut run = Simulation::new(&system, &Method::parse(method).unwrap()).unwrap();
    for _ in 0..steps {
        run.step(h).unwrap();
    }
    run.position("top").unwrap()
}

/// Notes, section 4: h = 2e-3, t = 0.1.
const DISCRETE: [(&str, [f64; 3]); 3] = [
    ("residual-alpha", [0.42038984126548895484, 0.89463784960953266154, -0.15131258839504471347]),
    ("linear-alpha", [0.42118556110217578715, 0.89460836751912715922, -0.14926014834445146333]),
    ("geometric-alpha", [0.42048497209437980471, 0.89467284491606646692, -0.15084060730645682987]),
];

#[test]
fn discrete_values() {
    for (method, expected) in DISCRETE {
        let x = position(method, 2e-3, 50);
        let error = (x - Vector3::from(expected)).norm();
        println!("{method}: {x:?} {error:e}");
        assert!(error < 1e-12, "{method}: {error:e}");
    }
}
