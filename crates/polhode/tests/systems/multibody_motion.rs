//! Systems in motion against solutions of their own: pendulums, tops, free bodies and oscillators. Every form's order.

use crate::systems::run;
use core::f64::consts::{FRAC_PI_2, PI};
use nalgebra::{Matrix2, Matrix3, Matrix6, SMatrix, Vector2, Vector3, Vector6};
use polhode::group::{Rotation, spin};
use polhode::method::Method;
use polhode::multibody::{Coordinates, GROUND, JointKind, Rigid, Simulation, System};
use polhode::solve::StepError;

const G: f64 = 9.81;

fn none() -> Rotation<f64> {
    Rotation::identity()
}

/// The error at each number of steps, and the orders from one to the next.
fn orders(method: &str, steps: &[usize], error: impl Fn(usize) -> f64) -> Vec<f64> {
    let errors: Vec<f64> = steps.iter().map(|n| error(*n)).collect();
    let slopes = (1..steps.len())
        .map(|i| (errors[i - 1] / errors[i]).ln() / (steps[i] as f64 / steps[i - 1] as f64).ln());
    let slopes: Vec<f64> = slopes.collect();
    let errors: Vec<String> = errors.iter().map(|e| format!("{e:.2e}")).collect();
    println!("{method}: {} {slopes:.3?}", errors.join(" "));
    slopes
}

/// A rod of 1 m at the angle from hanging, on a hinge along space z at the origin. Gravity along -y.
fn pendulum(angle: f64) -> System<f64> {
    let mut system = System::new(Vector3::new(0.0, -G, 0.0));
    let attitude = Rotation::from_rotation_vector(&(Vector3::z() * angle));
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 0.01, 1.0 / 12.0));
    let body = Rigid::new(1.0, inertia).unwrap().at(attitude.rotate(&Vector3::new(0.0, -0.5, 0.0)), attitude);
    system.body("rod", body).unwrap();
    system.frame("top", "rod", Vector3::new(0.0, 0.5, 0.0), none()).unwrap();
    system.joint("hinge", JointKind::Revolute, GROUND, "top").unwrap();
    system
}

/// The complete elliptic integral of the first kind, by the arithmetic-geometric mean.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..10 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    FRAC_PI_2 / a
}

#[test]
fn a_pendulum_has_the_period_of_the_elliptic_integral() {
    let angle: f64 = 2.0;
    let system = pendulum(angle);
    // ω² = m g l / (J + m l²) with the centre at l = 1/2.
    let period = 4.0 * elliptic((angle / 2.0).sin()) / (G * 0.5 / (1.0 / 3.0)).sqrt();
    // After five quarters of a period it hangs down, at its largest speed.
    let lowest = Vector3::new(0.0, -0.5, 0.0);
    let speed = (2.0 * G * 0.5 * (1.0 - angle.cos()) * 3.0).sqrt();
    for (method, claimed) in
        [("geometric-alpha", 2.0), ("linear-alpha", 2.0), ("residual-alpha,map=exp", 2.0)]
    {
        let slopes = orders(method, &[200, 400, 800, 1600], |n| {
            let run = run(&system, method, 1.25 * period / n as f64, n);
            let rod = run.moving("rod").unwrap();
            let turning = (rod.omega_body.norm() - speed).abs() / speed;
            (rod.position - lowest).norm() + turning
        });
        assert!(slopes.iter().skip(1).all(|s| (s - claimed).abs() < 0.15), "{method}: {slopes:?}");
    }
    let slopes = orders("residual-alpha", &[400, 800, 1600, 3200], |n| {
        let run = run(&system, "residual-alpha", 1.25 * period / n as f64, n);
        (run.position("rod").unwrap() - lowest).norm()
    });
    assert!((slopes[2] - 1.0).abs() < 0.15, "{slopes:?}");
}

/// Two bodies on spherical joints, the second at the end of the first.
struct Double {
    origin: Vector3<f64>,
    mass: f64,
    length: f64,
}

const DOUBLE: Double = Double { origin: Vector3::new(0.0, 0.0, 0.0), mass: 1.0, length: 1.0 };
const TURN: f64 = 0.4;

impl Double {
    fn masses(&self) -> [f64; 2] {
        [2.0 * self.mass, 1.5 * self.mass]
    }
    fn inertias(&self) -> [Matrix3<f64>; 2] {
        let scale = self.mass * self.length * self.length;
        let second = Matrix3::new(0.12, 0.01, 0.0, 0.01, 0.1, -0.02, 0.0, -0.02, 0.07);
        [Matrix3::from_diagonal(&Vector3::new(0.2, 0.05, 0.18)) * scale, second * scale]
    }
    /// The hook of the first body, its elbow, and the hook of the second.
    fn points(&self) -> [Vector3<f64>; 3] {
        [Vector3::new(0.0, 0.5, 0.1), Vector3::new(0.1, -0.4, 0.0), Vector3::new(-0.3, 0.3, 0.2)]
            .map(|p| p * self.length)
    }
    fn attitudes(&self) -> [Rotation<f64>; 2] {
        [Vector3::new(0.3, 0.2, 1.1), Vector3::new(-0.5, 0.8, 0.2)]
            .map(|v| Rotation::from_rotation_vector(&v))
    }
    /// Angular velocities at the start, per √length.
    fn omegas(&self) -> [Vector3<f64>; 2] {
        let pace = self.length.sqrt().recip();
        [Vector3::new(1.0, 4.0, -0.5), Vector3::new(-2.0, 1.5, 3.0)].map(|v| v * pace)
    }
    fn system(&self) -> System<f64> {
        let [hook, elbow, second] = self.points();
        let ([r1, r2], [w1, w2], [j1, j2]) = (self.attitudes(), self.omegas(), self.inertias());
        let mut system = System::new(Vector3::new(0.0, 0.0, -G));
        system.frame("pivot", GROUND, self.origin, none()).unwrap();
        let x1 = self.origin - r1.rotate(&hook);
        let v1 = -r1.rotate(&w1.cross(&hook));
        let v = v1 + r1.rotate(&w1.cross(&elbow));
        let x2 = x1 + r1.rotate(&elbow) - r2.rotate(&second);
        let v2 = v - r2.rotate(&w2.cross(&second));
        let [m1, m2] = self.masses();
        system.body("upper", Rigid::new(m1, j1).unwrap().at(x1, r1).moving(v1, w1)).unwrap();
        system.body("lower", Rigid::new(m2, j2).unwrap().at(x2, r2).moving(v2, w2)).unwrap();
        system.frame("hook", "upper", hook, none()).unwrap();
        system.frame("elbow", "upper", elbow, none()).unwrap();
        system.frame("second", "lower", second, none()).unwrap();
        system.joint("shoulder", JointKind::Spherical, "pivot", "hook").unwrap();
        system.joint("elbow", JointKind::Spherical, "elbow", "second").unwrap();
        system
    }
    /// Ω̇ of both bodies, and the forces in the joints: the attitudes are all there is, everything else follows.
    fn accelerations(
        &self,
        r: &[Matrix3<f64>; 2],
        w: &[Vector3<f64>; 2],
    ) -> ([Vector3<f64>; 2], [Vector3<f64>; 2]) {
        let ([hook, elbow, second], [m1, m2], [j1, j2]) = (self.points(), self.masses(), self.inertias());
        let gravity = Vector3::new(0.0, 0.0, -G);
        let arm = elbow - hook;
        // ẍ = X {Ω̇₁, Ω̇₂} + c.
        let (mut a, mut b) = (SMatrix::<f64, 3, 6>::zeros(), SMatrix::<f64, 3, 6>::zeros());
        a.fixed_view_mut::<3, 3>(0, 0).copy_from(&(r[0] * spin(&hook)));
        b.fixed_view_mut::<3, 3>(0, 0).copy_from(&-(r[0] * spin(&arm)));
        b.fixed_view_mut::<3, 3>(0, 3).copy_from(&(r[1] * spin(&second)));
        let inward = |i: usize, y: &Vector3<f64>| r[i] * w[i].cross(&w[i].cross(y));
        let (ca, cb) = (-inward(0, &hook), inward(0, &arm) - inward(1, &second));
        let mut mass: Matrix6<f64> = a.transpose() * a * m1 + b.transpose() * b * m2;
        let mut force: Vector6<f64> =
            a.transpose() * (gravity - ca) * m1 + b.transpose() * (gravity - cb) * m2;
        for (i, j) in [j1, j2].iter().enumerate() {
            let mut block = mass.fixed_view_mut::<3, 3>(3 * i, 3 * i);
            block += j;
            let mut part = force.fixed_rows_mut::<3>(3 * i);
            part -= w[i].cross(&(j * w[i]));
        }
        let rates = mass.lu().solve(&force).unwrap();
        let (xa, xb) = (a * rates + ca, b * rates + cb);
        let lower = (xb - gravity) * m2;
        let parts = [rates.fixed_rows::<3>(0).into_owned(), rates.fixed_rows::<3>(3).into_owned()];
        (parts, [(xa - gravity) * m1 + lower, lower])
    }
    /// Positions of both bodies and forces in the joints at time t, by Runge and Kutta's method.
    fn solution(&self, t: f64, steps: usize) -> ([Vector3<f64>; 2], [Vector3<f64>; 2]) {
        type State = ([Matrix3<f64>; 2], [Vector3<f64>; 2]);
        let h = t / steps as f64;
        let slope =
            |(r, w): &State| -> State { ([0, 1].map(|i| r[i] * spin(&w[i])), self.accelerations(r, w).0) };
        let moved = |(r, w): &State, (dr, dw): &State, h: f64| -> State {
            ([0, 1].map(|i| r[i] + dr[i] * h), [0, 1].map(|i| w[i] + dw[i] * h))
        };
        let mut y: State = (self.attitudes().map(|r| r.matrix()), self.omegas());
        for _ in 0..steps {
            let k1 = slope(&y);
            let k2 = slope(&moved(&y, &k1, h / 2.0));
            let k3 = slope(&moved(&y, &k2, h / 2.0));
            let k4 = slope(&moved(&y, &k3, h));
            for (k, weight) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
                y = moved(&y, &k, weight * h / 6.0);
            }
        }
        let ([hook, elbow, second], (r, w)) = (self.points(), y);
        let x1 = self.origin - r[0] * hook;
        let x2 = x1 + r[0] * elbow - r[1] * second;
        ([x1, x2], self.accelerations(&r, &w).1)
    }
}

/// Distance of both bodies from where they should be.
fn astray(run: &Simulation<f64>, x: &[Vector3<f64>; 2]) -> f64 {
    (0..2).map(|i| (run.bodies()[i].position - x[i]).norm()).sum()
}

#[test]
fn a_double_pendulum_follows_its_equations_in_minimal_coordinates() {
    let (system, [x, lambda]) = (DOUBLE.system(), <[_; 2]>::from(DOUBLE.solution(TURN, 4000)));
    let (coarser, _) = DOUBLE.solution(TURN, 2000);
    assert!((x[0] - coarser[0]).norm() + (x[1] - coarser[1]).norm() < 1e-12);
    // At the start the multipliers are the forces of the equations of motion, to round-off.
    let start = run(&system, "geometric-alpha", 1.0, 0);
    let (_, forces) = DOUBLE.accelerations(&DOUBLE.attitudes().map(|r| r.matrix()), &DOUBLE.omegas());
    for (joint, force) in ["shoulder", "elbow"].iter().zip(forces) {
        let found = Vector3::from_column_slice(start.multipliers(joint).unwrap());
        assert!((found - force).norm() < 1e-13 * force.norm(), "{joint}: {found} {force}");
    }
    for (form, claimed) in [("geometric-alpha", 2.0), ("linear-alpha", 2.0), ("residual-alpha", 1.0)] {
        for constraints in ["index3", "stabilized"] {
            let method = format!("{form},constraints={constraints}");
            let steps: &[usize] =
                if claimed == 2.0 { &[100, 200, 400, 800] } else { &[400, 800, 1600, 3200] };
            let slopes = orders(&method, steps, |n| astray(&run(&system, &method, TURN / n as f64, n), &x));
            let close = slopes.iter().skip(1).all(|s| (s - claimed).abs() < 0.15);
            assert!(close, "positions of {method}: {slopes:?}");
            let slopes = orders(&method, steps, |n| {
                let run = run(&system, &method, TURN / n as f64, n);
                let found = |joint| Vector3::from_column_slice(run.multipliers(joint).unwrap());
                (found("shoulder") - lambda[0]).norm() + (found("elbow") - lambda[1]).norm()
            });
            // At these steps those of the residual form still feel its errors of second order, and rounding over β h².
            let close = (slopes[2] - claimed).abs() < if claimed == 2.0 { 0.15 } else { 0.3 };
            assert!(close, "multipliers of {method}: {slopes:?}");
        }
    }
}

/// α_m = 0: Hilber, Hughes & Taylor for α_f > 0, Newmark for α_f = 0.
#[test]
fn earlier_members_of_the_family_have_second_order() {
    let (system, (x, _)) = (DOUBLE.system(), DOUBLE.solution(TURN, 4000));
    for form in ["geometric-alpha", "linear-alpha"] {
        for (weights, claimed) in [
            ("alpha_m=0,alpha_f=0.1", 2.0),
            ("alpha_m=0,alpha_f=0", 2.0),
            ("alpha_f=0.3", 2.0),
            ("rho=1", 2.0),
            ("rho=0.5", 2.0),
            ("rho=0", 2.0),
            ("alpha_m=0,alpha_f=0,gamma=0.6,beta=0.4", 1.0),
            ("alpha_m=1/3,alpha_f=4/9,gamma=0.7,beta=0.4", 1.0),
        ] {
            let method = format!("{form},{weights}");
            assert_eq!(f64::from(Method::parse(&method).unwrap().order()), claimed, "{method}");
            let steps: &[usize] =
                if claimed == 2.0 { &[100, 200, 400, 800] } else { &[400, 800, 1600, 3200] };
            let slopes = orders(&method, steps, |n| astray(&run(&system, &method, TURN / n as f64, n), &x));
            let close = slopes.iter().skip(1).all(|s| (s - claimed).abs() < 0.15);
            assert!(close, "{method}: {slopes:?}");
        }
    }
}

/// The heavy top of Brüls & Eberhard 2008, section 6, with Ω₃ = -4.61538 rad/s.
fn top() -> System<f64> {
    let center = Vector3::new(0.0, 1.0, 0.0);
    let omega = Vector3::new(0.0, 150.0, -4.61538);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.234375, 0.46875, 0.234375));
    let mut system = System::new(Vector3::new(0.0, 0.0, -G));
    let body = Rigid::new(15.0, inertia).unwrap().at(center, none());
    system.body("top", body.moving(omega.cross(&center), omega)).unwrap();
    system.frame("tip", "top", -center, none()).unwrap();
    system.joint("pivot", JointKind::Spherical, GROUND, "tip").unwrap();
    system
}

/// Where its centre of mass is at t = 0.1 s, from a Taylor series with 60 digits.
const AT_0_1: [f64; 3] = [0.421_296_658_925_402, 0.894_571_974_345_593, -0.149_164_700_561_899_6];

/// Two turns and a half of the top in 0.1 s: every chart passes its half turns.
#[test]
fn every_chart_and_map_finds_the_same_motion() {
    let system = top();
    let exact = Vector3::from(AT_0_1);
    for (method, claimed) in [
        ("linear-alpha", 2.0),
        ("linear-alpha,map=exp", 2.0),
        ("linear-alpha,map=cayley", 2.0),
        ("linear-alpha,map=euler-rodrigues", 2.0),
        ("linear-alpha,chart=rescaled", 2.0),
        ("linear-alpha,chart=rescaled,map=exp", 2.0),
        ("linear-alpha,chart=rescaled,constraints=stabilized", 2.0),
        ("residual-alpha", 1.0),
        ("residual-alpha,map=cayley", 1.0),
        ("residual-alpha,map=euler-rodrigues", 1.0),
        ("residual-alpha,chart=rescaled", 1.0),
        ("geometric-alpha", 2.0),
    ] {
        let slopes = orders(method, &[200, 400, 800, 1600], |n| {
            let run = run(&system, method, 0.1 / n as f64, n);
            (run.position("top").unwrap() - exact).norm()
        });
        let last = slopes[slopes.len() - 1];
        assert!((last - claimed).abs() < 0.15, "{method}: {slopes:?}");
    }
}

/// The same body turning steadily for a hundred turns: a chart that goes on must come back to where it was.
#[test]
fn a_rescaled_chart_goes_round_many_times() {
    let omega = Vector3::new(0.0, 0.0, 2.0 * PI);
    for (map, period) in [("wiener-milenkovic", 200), ("exp", 200), ("wiener-milenkovic", 37)] {
        let mut system = System::new(Vector3::zeros());
        let inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5));
        system
            .body("disc", Rigid::new(1.0, inertia).unwrap().moving(Vector3::zeros(), omega).free())
            .unwrap();
        let method = format!("linear-alpha,chart=rescaled,map={map}");
        let mut run = Simulation::new(&system, &Method::parse(&method).unwrap()).unwrap();
        let mut furthest: f64 = 0.0;
        for turn in 1..=100 {
            for _ in 0..period {
                run.step(1.0 / period as f64).unwrap();
            }
            let disc = run.moving("disc").unwrap();
            let axis = disc.attitude.rotation_vector();
            // About its axis it keeps its speed to second order, and it stays on the axis.
            assert!(axis.xy().norm() < 1e-12, "{method}, turn {turn}: {axis:?}");
            furthest = furthest.max((disc.omega_body - omega).norm() / omega.norm());
        }
        println!("{method}, {period} steps a turn: speed within {furthest:.3e}");
        let h = 2.0 * PI / f64::from(period);
        assert!(furthest < h * h, "{method}: {furthest:e}");
    }
}

#[test]
fn the_top_takes_steps_of_every_size() {
    let system = top();
    for form in ["geometric-alpha", "linear-alpha", "residual-alpha"] {
        for constraints in ["index3", "stabilized"] {
            let method = format!("{form},constraints={constraints}");
            for h in [1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 4e-3] {
                let run = run(&system, &method, h, 50);
                let (violation, mean) = (run.violation(), run.spent.iterations as f64 / 50.0);
                println!("{method}, h = {h}: {violation:?}, {mean} iterations a step");
                assert!(violation.position < 1e-15, "{method}, h = {h}: {violation:?}");
                assert!(
                    // The rounding of an angle, over the step; the top turns at 150 rad/s.
                    constraints == "index3" || violation.velocity < 1e-11,
                    "{method}, {h}: {violation:?}"
                );
                assert!(mean < 6.5, "{method}, h = {h}: {mean}");
            }
        }
    }
}

/// A step of more than a turn is no step of a chart.
#[test]
fn a_step_beyond_the_chart_is_an_error_not_another_motion() {
    let system = top();
    for form in
        ["linear-alpha", "residual-alpha", "linear-alpha,map=cayley", "linear-alpha,map=euler-rodrigues"]
    {
        let mut run = Simulation::new(&system, &Method::parse(form).unwrap()).unwrap();
        let error = run.step(0.1).unwrap_err();
        let known = matches!(
            error,
            StepError::MapLimit { .. } | StepError::NotConverged { .. } | StepError::NotFinite { .. }
        );
        assert!(known, "{form}: {error}");
        assert_eq!(run.time(), 0.0);
    }
}

#[test]
fn a_free_body_falls_and_turns() {
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.3, 0.5, 0.6));
    let (x, v) = (Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.5, -1.0, 4.0));
    let attitude = Rotation::from_rotation_vector(&Vector3::new(0.4, -0.2, 0.9));
    let omega = Vector3::new(3.0, 0.4, -1.0);
    let mut system = System::new(Vector3::new(0.0, 0.0, -G));
    system.body("stone", Rigid::new(2.0, inertia).unwrap().at(x, attitude).moving(v, omega).free()).unwrap();

    // Euler's equations.
    let (mut r, mut w) = (attitude.matrix(), omega);
    let steps = 4000;
    let h = 1.0 / f64::from(steps);
    let inverse = inertia.try_inverse().unwrap();
    let slope = |r: &Matrix3<f64>, w: &Vector3<f64>| (r * spin(w), inverse * (inertia * w).cross(w));
    for _ in 0..steps {
        let (r1, w1) = slope(&r, &w);
        let (r2, w2) = slope(&(r + r1 * (h / 2.0)), &(w + w1 * (h / 2.0)));
        let (r3, w3) = slope(&(r + r2 * (h / 2.0)), &(w + w2 * (h / 2.0)));
        let (r4, w4) = slope(&(r + r3 * h), &(w + w3 * h));
        r += (r1 + r2 * 2.0 + r3 * 2.0 + r4) * (h / 6.0);
        w += (w1 + w2 * 2.0 + w3 * 2.0 + w4) * (h / 6.0);
    }
    for (method, claimed) in [("geometric-alpha", 2.0), ("linear-alpha", 2.0), ("residual-alpha", 1.0)] {
        let steps: &[usize] = if claimed == 2.0 { &[50, 100, 200, 400] } else { &[800, 1600, 3200, 6400] };
        let slopes = orders(method, steps, |n| {
            let run = run(&system, method, 1.0 / n as f64, n);
            let stone = run.moving("stone").unwrap();
            // A constant acceleration is integrated exactly, with rounding at each step.
            let fallen = x + v + Vector3::new(0.0, 0.0, -G / 2.0);
            assert!((stone.position - fallen).norm() < 1e-12, "{method}: {:?}", stone.position - fallen);
            (stone.attitude.matrix() - r).norm() + (stone.omega_body - w).norm()
        });
        assert!(slopes.iter().skip(1).all(|s| (s - claimed).abs() < 0.15), "{method}: {slopes:?}");
    }
}

/// One mode with unit mass: q̈ + 2 ζ ω q̇ + ω² q = f + g cos(ν t + φ).
struct Mode {
    omega: f64,
    damping: f64,
    force: f64,
    amplitude: f64,
    start: [f64; 2],
}

const FREQUENCY: f64 = 2.3;
const PHASE: f64 = 0.7;

impl Mode {
    fn at(&self, t: f64) -> f64 {
        let Mode { omega, damping, force, amplitude, start } = self;
        // The steady state: Re G e^{i(νt + φ)}.
        let (re, im) = (omega * omega - FREQUENCY * FREQUENCY, 2.0 * damping * omega * FREQUENCY);
        let (size, lag) = (amplitude / re.hypot(im), im.atan2(re));
        let steady = |t: f64| force / (omega * omega) + size * (FREQUENCY * t + PHASE - lag).cos();
        let rate = -size * FREQUENCY * (PHASE - lag).sin();
        let damped = omega * (1.0 - damping * damping).sqrt();
        let (a, v) = (start[0] - steady(0.0), start[1] - rate);
        let b = (v + damping * omega * a) / damped;
        let (sin, cos) = (damped * t).sin_cos();
        steady(t) + (-damping * omega * t).exp() * (a * cos + b * sin)
    }
}

#[test]
fn extra_coordinates_follow_the_closed_form() {
    let modes = [
        Mode { omega: 3.0, damping: 0.05, force: 2.0, amplitude: 1.5, start: [0.3, -0.4] },
        Mode { omega: 1.2, damping: 0.3, force: -0.5, amplitude: -2.0, start: [-0.2, 0.9] },
    ];
    // y = P q: matrices of y are those of the modes between P⁻ᵀ and P⁻¹.
    let p = Matrix2::new(1.0, 0.4, -0.3, 0.8);
    let inverse = p.try_inverse().unwrap();
    let full = |f: &dyn Fn(&Mode) -> f64| {
        let m =
            inverse.transpose() * Matrix2::from_diagonal(&Vector2::new(f(&modes[0]), f(&modes[1]))) * inverse;
        vec![m[(0, 0)], m[(0, 1)], m[(0, 1)], m[(1, 1)]]
    };
    let force = |f: &dyn Fn(&Mode) -> f64| {
        let v = inverse.transpose() * Vector2::new(f(&modes[0]), f(&modes[1]));
        vec![v.x, v.y]
    };
    let state = |i: usize| p * Vector2::new(modes[0].start[i], modes[1].start[i]);
    let mut extra = Coordinates::new(full(&|_| 1.0), state(0).as_slice().to_vec());
    extra.velocity = state(1).as_slice().to_vec();
    extra.damping = full(&|m| 2.0 * m.damping * m.omega);
    extra.stiffness = full(&|m| m.omega * m.omega);
    extra.force = force(&|m| m.force);
    extra.amplitude = force(&|m| m.amplitude);
    (extra.frequency, extra.phase) = (FREQUENCY, PHASE);
    let mut system = System::new(Vector3::zeros());
    system.coordinates("y", extra).unwrap();

    let t = 4.0;
    let exact = p * Vector2::new(modes[0].at(t), modes[1].at(t));
    let end = |method: &str, n: usize| {
        let run = run(&system, method, t / n as f64, n);
        let flat = &run.extra()[0];
        (Vector2::from_column_slice(&flat.position), Vector2::from_column_slice(&flat.velocity))
    };
    for form in ["geometric-alpha", "linear-alpha", "residual-alpha"] {
        for weights in ["rho=0.8", "rho=0.3", "alpha_f=0.1"] {
            let method = format!("{form},{weights}");
            let slopes = orders(&method, &[100, 200, 400, 800], |n| (end(&method, n).0 - exact).norm());
            assert!((slopes[2] - 2.0).abs() < 0.1, "{method}: {slopes:?}");
        }
    }
    // In a vector space the three forms are one method.
    let (position, velocity) = end("linear-alpha", 400);
    for method in ["geometric-alpha", "residual-alpha", "linear-alpha,constraints=stabilized"] {
        let (other, rate) = end(method, 400);
        // Rounding of 400 steps, each of some 1e-16, and of accelerations by 1/h in velocities.
        assert!((other - position).norm() < 1e-13, "{method}: {:e}", (other - position).norm());
        assert!((rate - velocity).norm() < 1e-13, "{method}: {:e}", (rate - velocity).norm());
    }
}

/// Lengths by a factor and times by its root: the same motion, larger. Also for other masses, and elsewhere in space.
#[test]
fn small_large_and_distant_systems_move_alike() {
    let steps = 200;
    for form in ["geometric-alpha", "linear-alpha", "residual-alpha"] {
        for constraints in ["index3", "stabilized"] {
            let method = format!("{form},constraints={constraints}");
            let usual = DOUBLE.system();
            let expected = run(&usual, &method, TURN / steps as f64, steps);
            for (mass, length, far) in [
                (1e-6, 1.0, 0.0),
                (1e6, 1.0, 0.0),
                (1.0, 1e-3, 0.0),
                (1.0, 1e3, 0.0),
                (1e-6, 1e-3, 0.0),
                (1.0, 1.0, 1e3),
            ] {
                let double = Double { origin: Vector3::new(far, -far, far), mass, length };
                let system = double.system();
                let found = run(&system, &method, TURN / steps as f64 * length.sqrt(), steps);
                let name = format!("{method}, mass {mass}, length {length}, {far} m away");
                let size = length + far;
                let (position, velocity) = (found.violation().position / size, found.violation().velocity);
                let mut apart: f64 = 0.0;
                for i in 0..2 {
                    let here = (found.bodies()[i].position - double.origin) / length;
                    apart = apart.max((here - expected.bodies()[i].position).norm());
                }
                println!("{name}: {apart:.1e} apart, gap {position:.1e}, {velocity:.1e}");
                assert!(position < 1e-15, "{name}: {position:e}");
                let pace = length.sqrt();
                assert!(
                    constraints == "index3" || velocity < 4e-14 * pace * (1.0 + far),
                    "{name}: {velocity:e}"
                );
                // Far from the origin Newton's method stops at the rounding of positions there.
                assert!(apart < 4e-14 + 5e-13 * far, "{name}: {apart:e}");
            }
        }
    }
}

/// A gram on a thousand tons, and the other way round: the heavy body moves as if the light one were not there.
#[test]
fn masses_may_differ_by_twelve_decades() {
    let omega = Vector3::new(0.3, 2.0, 1.0);
    let at = |x: f64| Vector3::x() * x;
    let build = |masses: [f64; 2]| {
        let mut system = System::new(Vector3::new(0.0, 0.0, -G));
        for (name, mass, x) in [("inner", masses[0], 0.5), ("outer", masses[1], 1.5)] {
            let body = Rigid::new(mass, Matrix3::identity() * (0.1 * mass)).unwrap().at(at(x), none());
            system.body(name, body.moving(omega.cross(&at(x)), omega)).unwrap();
            system.frame(&format!("{name} in"), name, at(-0.5), none()).unwrap();
            system.frame(&format!("{name} out"), name, at(0.5), none()).unwrap();
        }
        system.joint("pivot", JointKind::Spherical, GROUND, "inner in").unwrap();
        system.joint("hinge", JointKind::Revolute, "inner out", "outer in").unwrap();
        system
    };
    for form in ["geometric-alpha", "linear-alpha", "residual-alpha"] {
        for constraints in ["index3", "stabilized"] {
            let method = format!("{form},constraints={constraints}");
            for masses in [[1e-6, 1e6], [1e6, 1e-6]] {
                let system = build(masses);
                let run = run(&system, &method, 2e-3, 500);
                let violation = run.violation();
                assert!(violation.position < 2e-15, "{method}, {masses:?}: {violation:?}");
                assert!(constraints == "index3" || violation.velocity < 1e-14, "{method}: {violation:?}");
                assert!(run.spent.retries == 0 && run.spent.most_iterations <= 6, "{method}, {masses:?}");
            }
            // Alone on the pivot.
            let heavy = build([1e6, 1e-6]);
            let mut alone = System::new(Vector3::new(0.0, 0.0, -G));
            let body = Rigid::new(1e6, Matrix3::identity() * 1e5).unwrap().at(at(0.5), none());
            alone.body("inner", body.moving(omega.cross(&at(0.5)), omega)).unwrap();
            alone.frame("in", "inner", at(-0.5), none()).unwrap();
            alone.joint("pivot", JointKind::Spherical, GROUND, "in").unwrap();
            let [a, b] = [&heavy, &alone].map(|system| run(system, &method, 2e-3, 500).bodies()[0].position);
            assert!((a - b).norm() < 1e-10, "{method}: {:e}", (a - b).norm());
        }
    }
}
