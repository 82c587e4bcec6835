//! The heavy top of Brüls & Eberhard 2008, section 6: discrete values, convergence, figures 5 to 8, and what becomes of the
//! paper's claims.

use core::ops::ControlFlow;
use nalgebra::Vector3;
use polhode::method::Method;
use polhode::multibody::Simulation;
use polhode::problem::{Model, Problem};
use polhode::run::{Plan, Snapshot};

const FORMS: [&str; 3] = ["residual-alpha", "linear-alpha", "geometric-alpha"];

fn top() -> Model {
    Problem::named("heavy-top").unwrap().model().unwrap()
}

/// Every step of a run that does not fail.
fn history(model: &Model, method: &str, h: f64, until: f64) -> Vec<Snapshot> {
    let mut seen = Vec::new();
    let (method, plan) = (Method::parse(method).unwrap(), Plan::new(h, until).unwrap());
    let end = model.run(&method, &plan, &mut |_, run| {
        seen.push(run.snapshot());
        ControlFlow::Continue(())
    });
    assert!(end.unwrap().finished);
    seen
}

fn position(snapshot: &Snapshot) -> Vector3<f64> {
    snapshot.bodies[0].moving.unwrap().position
}

fn end(method: &str, h: f64, until: f64) -> Snapshot {
    let (method, plan) = (Method::parse(method).unwrap(), Plan::new(h, until).unwrap());
    top().run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap().last
}

#[test]
fn discrete_values_to_round_off() {
    let expected = [
        [0.42038984126548895, 0.8946378496095326, -0.15131258839504472],
        [0.4211855611021758, 0.8946083675191272, -0.14926014834445148],
        [0.4204849720943798, 0.8946728449160665, -0.15084060730645682],
    ];
    for (form, expected) in FORMS.iter().zip(expected) {
        let last = end(&format!("{form},rho=0.8"), 2e-3, 0.1);
        let error = (position(&last) - Vector3::from(expected)).norm();
        assert!(error < 1e-14, "{form}: {error:e}");
    }
}

#[test]
fn the_exact_solution_to_thirteen_digits() {
    let model = top();
    let at = |t: f64| {
        let reference = model.reference(t).unwrap();
        let moments = Vector3::new(15.234375, 0.46875, 15.234375);
        (reference.bodies[0].position.unwrap(), reference.bodies[0].momentum_body.component_div(&moments))
    };
    let (x, omega) = at(0.1);
    let known = Vector3::new(0.421296658925402, 0.894571974345593, -0.14916470056189962);
    assert!((x - known).norm() < 1e-14, "{x}");
    assert!((omega - Vector3::new(4.808941331728092, 150.0, 1.0283007567183298)).norm() < 1e-12);
    let (x, _) = at(1.0);
    let known = Vector3::new(0.17334396409838604, 0.6400885920705688, -0.7484907911335813);
    assert!((x - known).norm() < 1e-13, "{x}");
}

/// The reaction of the exact motion, m(ẍ - g).
fn exact_reaction(model: &Model, t: f64) -> Vector3<f64> {
    let reference = model.reference(t).unwrap();
    let moments = Vector3::new(15.234375, 0.46875, 15.234375);
    let (r, omega) =
        (reference.bodies[0].attitude, reference.bodies[0].momentum_body.component_div(&moments));
    let (center, weight) = (Vector3::y(), Vector3::new(0.0, 0.0, -15.0 * 9.81));
    let moment = center.cross(&r.unrotate(&weight)) - omega.cross(&reference.bodies[0].momentum_body);
    let rate = moment.component_div(&moments);
    r.rotate(&(rate.cross(&center) + omega.cross(&omega.cross(&center)))) * 15.0 - weight
}

#[test]
fn initial_and_exact_reactions() {
    let model = top();
    let known = Vector3::new(-361.0560047871155, -295.3931730112259, -212.2671718551193);
    assert!((exact_reaction(&model, 0.1) - known).norm() < 1e-10);
    let system = model.system();
    let start = Simulation::new(system, &Method::parse("linear-alpha").unwrap()).unwrap();
    let lambda = Vector3::from_column_slice(start.multipliers("pivot").unwrap());
    let known = Vector3::new(0.0, -319.52598817, -317.26246154);
    assert!((lambda - known).norm() < 1e-8, "{lambda}");
    let rate = start.moving("top").unwrap().omega_rate;
    assert!((rate - Vector3::new(661.34616923, 0.0, 0.0)).norm() < 1e-8, "{rate}");
}

/// Figure 8, against the form's own solution with h = 5e-6, eq. (115); the digits of an independent computation.
#[test]
fn convergence_as_in_figure_8() {
    const STEPS: [f64; 7] = [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4, 1e-4];
    const ERRORS: [[f64; 7]; 3] = [
        [5.260e-3, 2.327e-3, 1.123e-3, 5.526e-4, 2.724e-4, 1.332e-4, 1.054e-4],
        [7.881e-4, 1.509e-4, 3.261e-5, 7.550e-6, 1.814e-6, 4.442e-7, 2.829e-7],
        [7.734e-3, 1.865e-3, 4.621e-4, 1.153e-4, 2.879e-5, 7.188e-6, 4.596e-6],
    ];
    // And how far that solution is from the exact one.
    const OWN: [f64; 3] = [5.5e-6, 7.0e-10, 1.15e-8];
    let exact = top().reference(0.1).unwrap().bodies[0].position.unwrap();
    for (i, form) in FORMS.iter().enumerate() {
        let own = position(&end(form, 5e-6, 0.1));
        let gap = (own - exact).norm() / exact.norm();
        assert!((gap / OWN[i] - 1.0).abs() < 0.02, "{form}: {gap:e}");
        for (h, error) in STEPS.iter().zip(ERRORS[i]) {
            let seen = (position(&end(form, *h, 0.1)) - own).norm() / own.norm();
            // Half a unit of the last digit.
            let digit = 10f64.powi(error.log10().floor() as i32 - 3);
            assert!((seen - error).abs() < 0.51 * digit, "{form}, h = {h}: {seen:e} {error:e}");
        }
    }
}

/// dΩ₂/dt = h (γ - 1/2) Ω₂³/8: the residual form spins the top up until Newton's method fails.
#[test]
fn the_residual_form_spins_the_top_up_and_breaks_down() {
    let law = |t: f64, h: f64| (150f64.powi(-2) - h * (11.0 / 18.0 - 0.5) * t / 4.0).powf(-0.5);
    for (t, predicted, computed) in
        [(0.1, 160.357, 160.445), (0.2, 173.205, 173.789), (0.3, 189.737, 191.255)]
    {
        assert!((law(t, 2e-3) - predicted).abs() < 5e-4);
        let spin = end("residual-alpha", 2e-3, t).bodies[0].omega_body.y;
        assert!((spin - computed).abs() < 5e-4, "{t}: {spin}");
    }
    let model = top();
    let reached = |h: f64| {
        let (method, plan) = (Method::parse("residual-alpha").unwrap(), Plan::new(h, 2.0).unwrap());
        match model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())) {
            Ok(end) => end.last.t,
            Err(failed) => failed.last_good.last.t,
        }
    };
    // The very step depends on how hard Newton's method tries.
    for (h, t) in [(4e-3, 0.292), (2e-3, 0.72), (1e-3, 1.544)] {
        let reached = reached(h);
        assert!((reached - t).abs() < 0.03 * t, "h = {h}: {reached}");
    }
    assert_eq!(reached(5e-4), 2.0);
    assert!((end("geometric-alpha", 2e-3, 1.0).bodies[0].omega_body.y - 150.0).abs() < 1e-11);
}

/// Figure 6, the height of the centre of mass: the residual form misses the lowest point.
#[test]
fn minima_of_figure_6() {
    let minima = [(-0.99419, 0.362, 5e-6), (-0.9999926, 0.372, 5e-8), (-0.999901, 0.370, 5e-7)];
    for (form, (height, time, digit)) in FORMS.iter().zip(minima) {
        let seen = history(&top(), form, 2e-3, 0.5);
        let lowest = seen.iter().min_by(|a, b| position(a).z.total_cmp(&position(b).z)).unwrap();
        assert!((position(lowest).z - height).abs() < digit, "{form}: {}", position(lowest).z);
        assert!((lowest.t - time).abs() < 1e-9, "{form}: {}", lowest.t);
    }
    // With the sign of the initial velocity that the paper prints the top rises.
    let mut printed = Problem::named("heavy-top").unwrap();
    printed.set("omega_body", "0,150,4.61538").unwrap();
    let seen = history(&printed.model().unwrap(), "linear-alpha", 5e-4, 1.0);
    let heights: Vec<f64> = seen.iter().map(|s| position(s).z).collect();
    assert!(heights.iter().all(|z| *z > -1e-3));
    let highest = seen.iter().max_by(|a, b| position(a).z.total_cmp(&position(b).z)).unwrap();
    assert!((highest.t - 0.965871970399).abs() < 1e-3 && position(highest).z > 0.9999);
}

/// Figure 5, the second component of the rotation vector: where it jumps.
#[test]
fn jumps_of_figure_5() {
    let late = [0.022, 0.064, 0.106, 0.148, 0.188];
    let jumps = [[0.022, 0.062, 0.102, 0.14, 0.178], late, late];
    for (form, expected) in FORMS.iter().zip(jumps) {
        let seen = history(&top(), form, 2e-3, 0.2);
        let angles: Vec<f64> = seen.iter().map(|s| s.bodies[0].attitude.rotation_vector().y).collect();
        let times: Vec<f64> = (1..angles.len())
            .filter(|n| (angles[*n] - angles[n - 1]).abs() > 3.0)
            .map(|n| seen[n].t)
            .collect();
        assert_eq!(times.len(), expected.len(), "{form}: {times:?}");
        assert!(times.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{form}: {times:?}");
    }
}

/// Figure 7, the multiplier: the alternating part of its error. The paper finds it highest for the residual form; it is that
/// of the linear form, and the geometric form's is nine times as high.
#[test]
fn oscillations_of_figure_7() {
    let model = top();
    for (h, expected) in [(2e-3, [11.6, 11.2, 103.9]), (1e-3, [8.1, 7.9, 38.8])] {
        let steps = (0.1f64 / h).round() as usize;
        let exact: Vec<f64> = (0..=steps).map(|n| exact_reaction(&model, n as f64 * h).x).collect();
        for (form, expected) in FORMS.iter().zip(expected) {
            let errors: Vec<f64> = history(&model, form, h, 0.1)
                .iter()
                .zip(&exact)
                .map(|(s, exact)| s.multipliers[0][0] - exact)
                .collect();
            let alternating =
                errors.windows(3).map(|e| (e[0] - 2.0 * e[1] + e[2]).abs() / 4.0).fold(0.0, f64::max);
            assert!((alternating / expected - 1.0).abs() < 0.02, "{form}, h = {h}: {alternating}");
        }
    }
}

/// With ρ = 1, and with α_m = α_f = 0, nothing is averaged at two times and the two parameterized forms are one.
#[test]
fn residual_and_linear_form_coincide_without_averages() {
    for options in ["rho=1", "alpha_m=0,alpha_f=0", "alpha_m=0,alpha_f=0,beta=0.3025,gamma=0.6"] {
        let [residual, linear] = ["residual", "linear"].map(|form| {
            let last = end(&format!("{form}-alpha,{options}"), 1e-3, 0.05);
            (position(&last), last.bodies[0].omega_body)
        });
        assert!((residual.0 - linear.0).norm() < 1e-13, "{options}");
        assert!((residual.1 - linear.1).norm() < 1e-9, "{options}");
    }
}

#[test]
fn one_step_methods_and_the_three_forms_meet() {
    let reference = top().reference(0.05).unwrap();
    for id in ["geometric-alpha", "linear-alpha", "imidm", "akw", "galpha:exp", "mkrk:rk4"] {
        let error = |h: f64| reference.errors(&end(id, h, 0.05)).position_relative.unwrap();
        assert!(error(5e-4) < 2e-3 && error(2.5e-4) < 0.3 * error(5e-4), "{id}: {:e}", error(5e-4));
    }
}
