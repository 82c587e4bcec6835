//! Derivatives with respect to parameters, by duals in the data of a problem.

use polhode::method::Method;
use polhode::multibody::Simulation;
use polhode::problem::Problem;
use polhode::scalar::Dual;

/// Brüls & Eberhard's top: dx/dm at t = 0.1 with h = 2e-3, computed to 45 digits elsewhere.
#[test]
fn the_heavy_top_with_its_mass_as_a_dual() {
    let known = [
        (
            "residual-alpha",
            [0.002_660_543_712_618_839_4, -0.000_159_718_651_776_676_45, 0.006_447_415_963_255_426],
        ),
        (
            "linear-alpha",
            [0.002_561_650_582_058_097, -0.000_149_764_903_862_197_37, 0.006_330_888_131_072_681],
        ),
        (
            "geometric-alpha",
            [0.002_637_083_392_646_668_4, -0.000_157_989_536_425_745_6, 0.006_414_088_394_519_343],
        ),
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
