//! What a method keeps of free motion it keeps to round-off, whatever the body: needles, discs and bodies that are nearly
//! symmetric, where corrections of Newton's method can be small and say little.

use core::ops::ControlFlow;
use polhode::method::{Method, REGISTRY};
use polhode::problem::{Problem, RunFailure, RunReport};
use polhode::run::Plan;

/// Numbers in [0, 1), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }
}

/// Principal moments, angular velocity, step.
type Odd = ([f64; 3], [f64; 3], f64);

fn bodies(count: usize) -> Vec<Odd> {
    let mut random = Random(20);
    let mut body = |k: usize| {
        let small = 10f64.powf(random.between(-5.0, -0.5));
        let mut moments = match k % 4 {
            0 => [1.0, 1.0, small],
            1 => [1.0, 1.0, 2.0 * (1.0 - if k % 8 < 4 { small } else { 0.0 })],
            2 => [1.0, 1.0 + 0.3 * small, random.between(0.3, 1.5)],
            _ => [1.0, 1.0 + 0.5 * small, small],
        };
        moments.rotate_right(k % 3);
        let omega: [f64; 3] =
            core::array::from_fn(|_| random.between(-1.0, 1.0) * 10f64.powf(random.between(-2.0, 0.0)));
        let speed = omega.iter().map(|x| x * x).sum::<f64>().sqrt();
        (moments, omega, 10f64.powf(random.between(-1.5, -0.1)) / speed)
    };
    (0..count).map(&mut body).collect()
}

fn run(method: &Method, (moments, omega, h): &Odd, steps: u64) -> Result<RunReport, RunFailure> {
    let text = |x: &[f64; 3]| x.map(|x| format!("{x:?}")).join(",");
    let mut problem = Problem::named("free-rotation").unwrap();
    problem.set("inertia", &text(moments)).unwrap();
    problem.set("omega_body", &text(omega)).unwrap();
    let plan = Plan::new(*h, *h * steps as f64).unwrap();
    problem.model().unwrap().run(method, &plan, &mut |_, _| ControlFlow::Continue(()))
}

/// Largest drift of what the method claims, relative; none if a step failed, which is no drift.
fn drift(method: &Method, odd: &Odd, steps: u64) -> Option<f64> {
    let ended = run(method, odd, steps).ok()?;
    let size = odd.0.iter().zip(&odd.1).map(|(a, b)| (a * b).powi(2)).sum::<f64>().sqrt();
    let (claims, seen) = (method.claims(), ended.drift);
    let energy = if claims.free_energy { seen.energy.unwrap().max_abs() } else { 0.0 };
    let momentum = if claims.free_momentum { seen.momentum_space.unwrap() / size } else { 0.0 };
    Some(energy.max(momentum))
}

fn methods() -> Vec<Method> {
    let keep = REGISTRY.iter().filter(|row| row.claims.free_energy || row.claims.free_momentum);
    let ids = keep.map(|row| row.id).chain(["compose:swc1:4", "compose:akw:6"]);
    ids.map(|id| Method::parse(id).unwrap()).collect()
}

/// A few units in the last place in each step, and some more of the start.
fn round_off(steps: u64) -> f64 {
    1e-14 + 2e-15 * steps as f64
}

fn kept_to_round_off(bodies: &[Odd], steps: impl Fn(&Method) -> u64) {
    let (mut wrong, mut failed, mut runs) = (Vec::new(), 0, 0);
    for method in methods() {
        let steps = steps(&method);
        for odd in bodies {
            runs += 1;
            match drift(&method, odd, steps) {
                // A drift that is not a number is no less wrong.
                Some(drift) if drift <= round_off(steps) => {}
                Some(drift) => wrong.push(format!("{} {odd:?}: {drift:e}", method.id())),
                None => failed += 1,
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Long steps of thin needles may be refused, and nothing else.
    assert!(failed * 10 < runs, "{failed} of {runs} runs failed");
}

#[test]
fn odd_bodies_keep_what_a_method_keeps() {
    kept_to_round_off(&bodies(12), |method| if method.id() == "convected" { 20 } else { 200 });
}

/// A million steps of sixty bodies: hours, for a release. `POLHODE_LONG=1 cargo test --release --test methods`.
#[test]
fn sixty_odd_bodies_keep_it_for_a_million_steps() {
    if !crate::common::long() {
        println!("not run: set POLHODE_LONG");
        return;
    }
    kept_to_round_off(&bodies(60), |method| if method.id() == "convected" { 20_000 } else { 1_000_000 });
}

#[test]
fn a_disc_is_solved_to_the_last_digit() {
    // The first correction lies along the axis, where the equations are straight, and shows a contraction far too good.
    let disc = ([1.0, 1.0, 2.0], [0.3, 0.2, 3.0], 0.1);
    for id in ["preserving:exp", "preserving:euler-rodrigues", "preserving:wiener-milenkovic", "akw"] {
        let drift = drift(&Method::parse(id).unwrap(), &disc, 8_000).unwrap();
        assert!(drift < 5e-13, "{id}: {drift:e}");
    }
}

#[test]
fn the_spin_of_a_needle_is_kept() {
    let omega = [-0.4490905966242642, -0.44388277629831496, 0.03565379814790231];
    let needle = ([1.0, 1.0, 6.31124934967875e-06], omega, 0.9487005213987623);
    for id in ["convected", "convected-reduced"] {
        let ended = run(&Method::parse(id).unwrap(), &needle, 10).unwrap();
        let spin = ended.last.bodies[0].omega_body.z;
        // The condition of the needle times the round-off of its momentum.
        assert!((spin - omega[2]).abs() < 1e-9 * omega[2], "{id}: {spin}");
        assert!(ended.drift.energy.unwrap().max_abs() < 1e-14, "{id}: {:?}", ended.drift.energy);
    }
}

#[test]
fn a_stiffness_beyond_all_steps_is_right_or_an_error() {
    for (id, stiffness) in [
        ("preserving:exp,load=finite-derivative", "1e18,1e18,3.2"),
        ("convected-reduced", "1e15,1e15,3.2"),
        ("convected-reduced", "1e13,1e13,3.2"),
    ] {
        let mut problem = Problem::named("stiff-spring").unwrap();
        problem.set("stiffness", stiffness).unwrap();
        let plan = Plan::new(problem.step, 2.0).unwrap();
        let method = Method::parse(id).unwrap();
        let ended = problem.model().unwrap().run(&method, &plan, &mut |_, _| ControlFlow::Continue(()));
        if let Ok(ended) = ended {
            let drift = ended.drift.energy.unwrap().max_abs();
            assert!(drift < 1e-9, "{id} {stiffness}: {drift:e}");
        }
    }
}
