//! Derivatives with respect to parameters, by duals in the data of a problem.

use polhode::method::Method;
use polhode::multibody::Simulation;
use polhode::problem::Problem;
use polhode::scalar::Dual;

/// Brüls & Eberhard's top: dx/dm at t = 0.1 with h = 2e-3, computed to 45 digits elsewhere.
#[test]
fn the_heavy_top_with_its_mass_as_a_dual() {
    let known = [
        ("residual-alpha", [0.00266054371261883937, -0.000159718651776676446, 0.00644741596325542576]),
        ("linear-alpha", [0.00256165058205809708, -0.000149764903862197366, 0.00633088813107268075]),
        ("geometric-alpha", [0.00263708339264666831, -0.000157989536425745607, 0.0064140883945193433]),
    ];
    let model = Problem::named("heavy-top").unwrap().model().unwrap();
    let mut system = model.system().unwrap().lift::<Dual<f64, 1>>();
    system.bodies_mut()[0].mass.eps = [1.0];
    for (id, slopes) in known {
        let mut simulation = Simulation::new(&system, &Method::parse(id).unwrap()).unwrap();
        for _ in 0..50 {
            simulation.step(Dual::constant(2e-3)).unwrap();
        }
        for (x, slope) in simulation.bodies()[0].position.iter().zip(slopes) {
            assert!((x.eps[0] - slope).abs() < 1e-12, "{id}: {} {slope}", x.eps[0]);
        }
    }
}
