//! Gear trains against their equations of one degree of freedom.

use polhode::method::Method;
use polhode::multibody::{Coordinate, Simulation};
use polhode::problem::Problem;
use polhode::run::Plan;
use polhode::sensitivity::Sensitivity;
use std::ops::ControlFlow;

const METHODS: [&str; 6] = [
    "geometric-alpha",
    "geometric-alpha,constraints=stabilized",
    "linear-alpha",
    "residual-alpha",
    "conserving",
    "conserving,constraints=index3",
];

fn run(text: &str, method: &str, h: f64, steps: usize) -> Simulation<f64> {
    let model = Problem::from_text("gears", text).unwrap().model().unwrap();
    let mut run = Simulation::new(model.system(), &Method::parse(method).unwrap()).unwrap();
    for _ in 0..steps {
        run.step(h).unwrap();
    }
    run
}

/// The error of what is read at a time falls as the order of the method says, or there is none.
fn falls(text: &str, method: &str, until: f64, error: impl Fn(&Simulation<f64>) -> f64) {
    let errors = [100, 200].map(|n| error(&run(text, method, until / n as f64, n)).abs());
    let order = f64::from(Method::parse(method).unwrap().order());
    let falls = errors[0] < 0.1f64.powf(order) && errors[1] < 1.2 * 0.5f64.powf(order) * errors[0];
    assert!(falls || errors[1] < 1e-9, "{method}: {errors:?}");
}

/// The rate of a joint.
fn rate(run: &Simulation<f64>, joint: &str) -> f64 {
    let number = run.system().joints().iter().position(|known| known.name == joint).unwrap();
    run.coordinate(number, Coordinate::Angle).unwrap().1
}

/// A pinion with a moment, and a wheel on an axle along `axis`.
fn pair(teeth: &str, axis: &str) -> String {
    format!(
        r#"
        [bodies.pinion]
        mass = 1
        inertia = [0.02, 0.03, 0.04]
        attitude = [0, 0, 0.4]
        [bodies.wheel]
        mass = 4
        inertia = [0.2, 0.3, 0.4]
        position = [0.3, 0.1, 0]
        [joints.mesh]
        type = "gear"
        between = ["pinion", "wheel"]
        teeth = {teeth}
        axis = [0, 0, 1]
        axis2 = {axis}
        [joints.first]
        type = "revolute"
        between = ["ground", "pinion"]
        at = [0, 0, 0]
        axis = [0, 0, 1]
        moment = 0.5
        [joints.second]
        type = "revolute"
        between = ["ground", "wheel"]
        at = [0.3, 0.1, 0]
        axis = [0, 0, 1]
        "#
    )
}

#[test]
fn a_pinion_feels_the_wheel_by_the_square_of_the_ratio() {
    for (teeth, axis, ratio) in [
        ("[20, 40]", "[0, 0, 1]", -0.5),
        ("[17, 53]", "[0, 0, 1]", -17.0 / 53.0),
        // Which way an axis points changes nothing of what is built.
        ("[20, 40]", "[0, 0, -1]", -0.5),
        ("[20, -60]", "[0, 0, 1]", 1.0 / 3.0),
    ] {
        let expected = 0.5 / (0.04 + 0.4 * ratio * ratio);
        let text = pair(teeth, axis);
        for method in METHODS {
            // Several turns of the pinion.
            falls(&text, method, 2.0, |run| rate(run, "first") / (2.0 * expected) - 1.0);
            falls(&text, method, 2.0, |run| rate(run, "second") / (2.0 * expected * ratio) - 1.0);
        }
    }
}

/// A sun, a planet that a carrier takes along, and a ring that stands still.
const PLANETARY: &str = r#"
    [bodies.sun]
    mass = 1
    inertia = [0.02, 0.02, 0.03]
    [bodies.carrier]
    mass = 2
    inertia = [0.3, 0.3, 0.5]
    [bodies.planet]
    mass = 1.5
    inertia = [0.01, 0.01, 0.02]
    position = [0.4, 0, 0]
    [joints.sun-axle]
    type = "revolute"
    between = ["ground", "sun"]
    moment = 0.7
    [joints.carrier-axle]
    type = "revolute"
    between = ["ground", "carrier"]
    [joints.planet-axle]
    type = "revolute"
    between = ["carrier", "planet"]
    at = [0.4, 0, 0]
    axis = [0, 0, 1]
    [joints.inner]
    type = "gear"
    between = ["sun", "planet"]
    teeth = [24, 18]
    [joints.outer]
    type = "gear"
    between = ["ground", "planet"]
    teeth = [-60, 18]
"#;

#[test]
fn a_planetary_train_obeys_willis() {
    // (ω_sun - ω_carrier)/(0 - ω_carrier) = -60/24.
    let carrier = 24.0 / 84.0;
    let planet = carrier - 24.0 / 18.0 * (1.0 - carrier);
    let inertia = 0.03 + (0.5 + 1.5 * 0.16) * carrier * carrier + 0.02 * planet * planet;
    let expected = 0.7 / inertia * 1.5;
    for method in METHODS {
        falls(PLANETARY, method, 1.5, |run| rate(run, "sun-axle") / expected - 1.0);
        falls(PLANETARY, method, 1.5, |run| rate(run, "carrier-axle") / (carrier * expected) - 1.0);
        falls(PLANETARY, method, 1.5, |run| {
            run.moving("planet").unwrap().omega_body.z / (planet * expected) - 1.0
        });
    }
}

/// A cage about x with a wheel on y, between two wheels on x; all float in space.
const DIFFERENTIAL: &str = r#"
    [bodies.cage]
    mass = 2
    inertia = [0.5, 0.4, 0.6]
    omega_body = [1.5, 0, 0]
    [bodies.left]
    mass = 1
    inertia = [0.05, 0.03, 0.03]
    position = [-0.2, 0, 0]
    [bodies.right]
    mass = 1
    inertia = [0.08, 0.05, 0.05]
    position = [0.2, 0, 0]
    [bodies.spider]
    mass = 0.3
    inertia = [0.01, 0.02, 0.01]
    position = [0, 0.2, 0]
    [joints.left-axle]
    type = "revolute"
    between = ["cage", "left"]
    at = [-0.2, 0, 0]
    axis = [1, 0, 0]
    rate = 3.0
    [joints.right-axle]
    type = "revolute"
    between = ["cage", "right"]
    at = [0.2, 0, 0]
    axis = [1, 0, 0]
    [joints.spider-axle]
    type = "revolute"
    between = ["cage", "spider"]
    at = [0, 0.2, 0]
    axis = [0, 1, 0]
    [joints.left-mesh]
    type = "gear"
    between = ["left", "spider"]
    teeth = [30, 20]
    axis = [1, 0, 0]
    axis2 = [0, 1, 0]
    [joints.right-mesh]
    type = "gear"
    between = ["right", "spider"]
    teeth = [30, 20]
    axis = [1, 0, 0]
    axis2 = [0, 1, 0]
"#;

#[test]
fn a_differential_shares_speeds_and_keeps_what_a_free_system_keeps() {
    for method in METHODS {
        falls(DIFFERENTIAL, method, 3.0, |run| 1.0 + rate(run, "right-axle") / rate(run, "left-axle"));
        // On the left the axis points to where the axles meet.
        falls(DIFFERENTIAL, method, 3.0, |run| 1.5 - rate(run, "spider-axle") / rate(run, "left-axle"));
    }
    let model = Problem::from_text("gears", DIFFERENTIAL).unwrap().model().unwrap();
    let method = Method::parse("conserving").unwrap();
    let plan = Plan::new(0.02, 20.0).unwrap();
    let end = model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    let energy = end.drift.energy.unwrap().max_abs();
    assert!(energy < 1e-12, "{energy:e}");
}

#[test]
fn derivatives_pass_through_a_mesh() {
    let problem = Problem::from_text("gears", &pair("[20, 40]", "[0, 0, 1]")).unwrap();
    for method in ["geometric-alpha", "conserving"] {
        let sensitivity =
            Sensitivity::new(&problem, &["wheel.inertia_zz"], &Method::parse(method).unwrap()).unwrap();
        // ω = M t/(J₁ + J₂/4).
        let expected = -0.5 * 0.25 / (0.04 + 0.1f64).powi(2);
        let errors = [0.01, 0.005].map(|h| {
            let mut slope = 0.0;
            let plan = Plan::new(h, 1.0).unwrap();
            sensitivity
                .run(&plan, &mut |_, run| {
                    slope = run.derivative(0).unwrap().bodies[0].omega_body.z.eps[0];
                    ControlFlow::Continue(())
                })
                .unwrap();
            (slope / expected - 1.0).abs()
        });
        let falls = errors[0] < 1e-3 && errors[1] < 0.3 * errors[0];
        assert!(falls || errors[1] < 1e-9, "{method}: {errors:?}");
    }
}

#[test]
fn what_cannot_mesh_is_told() {
    let refused = |text: &str| match Problem::from_text("gears", text).and_then(|problem| problem.model()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was taken"),
    };
    for (teeth, why) in [
        ("[20, 0]", "need teeth"),
        ("[20, 40.5]", "a number of teeth is an integer, not 40.5"),
        ("[20]", "teeth"),
    ] {
        let text = refused(&pair(teeth, "[0, 0, 1]"));
        assert!(text.contains(why), "{text}");
    }
    let coaxial = pair("[20, 40]", "[0, 0, 1]").replace("[0.3, 0.1, 0]", "[0, 0, 0.2]");
    let text = refused(&coaxial);
    assert!(text.contains("on the axle of the other"), "{text}");
    let drawn = pair("[20, 40]", "[0, 0, 1]").replace("teeth", "at = [0, 0, 0]\n        teeth");
    assert!(refused(&drawn).contains("does not belong to a gear"));
    let without = pair("[20, 40]", "[0, 0, 1]").replace("teeth = [20, 40]", "");
    assert!(refused(&without).contains("needs `teeth`"));
    let stray = pair("[20, 40]", "[0, 0, 1]").replace("moment = 0.5", "teeth = [1, 2]");
    assert!(refused(&stray).contains("belongs to a joint of type \"gear\""));
}
