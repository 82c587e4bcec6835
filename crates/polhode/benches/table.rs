//! Cost of a step of the fast top, every method beside a hand-written quaternion RK4, in one run:
//! `cargo bench -p polhode`. With `-- --instructions` the instruction counts too (needs valgrind), which do not
//! depend on what else the machine does. A second table has chains of bodies in joints.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, RotaryInertia, State, TopGravity};
use polhode::group::{Rotation, So3};
use polhode::method::{Method, REGISTRY, Stepper, Steps};
use polhode::multibody::Simulation;
use polhode::problem::Problem;
use polhode::scalar::{F64x4, Real};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

const H: f64 = 1e-3;

type Top<S> = Body<S, So3, TopGravity<S>>;

fn top<S: Real>() -> (Top<S>, State<S, So3>) {
    let diagonal = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0));
    let inertia = RotaryInertia::unchecked(diagonal.map(S::lift));
    let load = TopGravity { mgl: S::lift(20.0) };
    let body = Body { inertia, load };
    let attitude = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
    let start = body.state(attitude, &Vector3::new(0.0, 0.0, 50.0).map(S::lift));
    (body, start)
}

/// The yardstick: q' = q Ω/2, Π' = Π × Ω + T in the principal frame, classical RK4, renormalised.
fn by_hand<S: Real>(n: u64) {
    let lift = S::lift;
    let (inverse, mgl) = (Vector3::new(0.2, 0.2, 1.0).map(lift), lift(20.0));
    let (_, start) = top::<S>();
    let [w, x, y, z] = start.pose.q_wxyz();
    let rate = |q: &[S; 4], p: &Vector3<S>| {
        let o = p.component_mul(&inverse);
        let half = lift(0.5);
        let [w, x, y, z] = *q;
        let dq = [
            -(x * o.x + y * o.y + z * o.z) * half,
            (w * o.x + y * o.z - z * o.y) * half,
            (w * o.y + z * o.x - x * o.z) * half,
            (w * o.z + x * o.y - y * o.x) * half,
        ];
        let (ux, uy) = (lift(2.0) * (x * z - w * y), lift(2.0) * (y * z + w * x));
        (dq, p.cross(&o) + Vector3::new(uy * mgl, -(ux * mgl), S::zero()))
    };
    let (mut q, mut p) = ([w, x, y, z], start.momentum);
    let h = lift(H);
    let (half, sixth, third) = (h * lift(0.5), h * lift(1.0 / 6.0), h * lift(1.0 / 3.0));
    let along = |q: &[S; 4], d: &[S; 4], h: S| -> [S; 4] { core::array::from_fn(|i| q[i] + d[i] * h) };
    for _ in 0..n {
        let (a, pa) = rate(&q, &p);
        let (b, pb) = rate(&along(&q, &a, half), &(p + pa * half));
        let (c, pc) = rate(&along(&q, &b, half), &(p + pb * half));
        let (d, pd) = rate(&along(&q, &c, h), &(p + pc * h));
        q = core::array::from_fn(|i| q[i] + (a[i] + d[i]) * sixth + (b[i] + c[i]) * third);
        p += (pa + pd) * sixth + (pb + pc) * third;
        let norm = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt().recip();
        q = q.map(|x| x * norm);
    }
    black_box((q, p));
}

fn by_method<S: Real>(id: &str, n: u64)
where
    So3: Steps<S>,
{
    let Ok(method) = Method::parse(id) else { return };
    let (body, mut state) = top::<S>();
    let mut stepper = Stepper::<S, So3>::new(&method);
    let h = S::lift(H);
    let mut t = S::zero();
    for _ in 0..n {
        match stepper.step(&body, &state, t, h) {
            Ok(next) => state = next,
            Err(error) => return eprintln!("{id}: {error}"),
        }
        t += h;
    }
    black_box(state);
}

/// A chain that falls, `chain 64 spherical`; the time of its steps alone, which are few where it is long.
fn by_chain(bodies: &str, joint: &str, n: u64) -> Option<Duration> {
    let mut problem = Problem::named("chain").ok()?;
    let (joint, spin) = if joint == "spherical" { ("0", "1") } else { ("1", "0") };
    for (name, value) in [("bodies", bodies), ("joint", joint), ("spin", spin)] {
        problem.set(name, value).ok()?;
    }
    let model = problem.model().ok()?;
    let method = Method::parse("geometric-alpha,rho=0.8").ok()?;
    let mut simulation = Simulation::new(model.system(), &method).ok()?;
    simulation.step(H).ok()?;
    let clock = Instant::now();
    for _ in 0..n {
        simulation.step(H).ok()?;
    }
    Some(clock.elapsed())
}

fn steps(name: &str, n: u64) -> Duration {
    let clock = Instant::now();
    match name.split(' ').collect::<Vec<_>>()[..] {
        ["chain", bodies, joint] => return by_chain(bodies, joint, n).unwrap_or(Duration::MAX),
        ["rk4", .., "x4"] => by_hand::<F64x4>(n),
        [id, "x4"] => by_method::<F64x4>(id, n),
        ["rk4", ..] => by_hand::<f64>(n),
        _ => by_method::<f64>(name, n),
    }
    clock.elapsed()
}

/// How many bodies a step moves.
fn bodies(name: &str) -> u64 {
    let chain = name.strip_prefix("chain ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    chain.unwrap_or(if name.ends_with(" x4") { 4 } else { 1 })
}

/// Best of several rounds, so that a busy machine counts less.
fn nanoseconds(names: &[String]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; names.len()];
    for _ in 0..9 {
        for (name, best) in names.iter().zip(&mut best) {
            let n = if name.starts_with("chain") { 20_000 / bodies(name) } else { 40_000 };
            *best = best.min(steps(name, n).as_nanos() as f64 / (n * bodies(name)) as f64);
        }
    }
    best
}

/// Instructions per body-step under callgrind: the difference of two runs, so that start-up cancels.
fn instructions(name: &str) -> Option<f64> {
    let count = |n: u64| -> Option<f64> {
        let this = std::env::current_exe().ok()?;
        let out = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(this)
            .args(["--only", name, &n.to_string()])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        let line = text.lines().find(|l| l.contains("Collected :"))?;
        line.rsplit(' ').next()?.trim().parse().ok()
    };
    let n = if name.starts_with("chain") { 1000 / bodies(name) + 5 } else { 1000 };
    Some((count(3 * n)? - count(n)?) / (2 * n * bodies(name)) as f64)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(i) = arguments.iter().position(|a| a == "--only") {
        let n = arguments.get(i + 2).and_then(|n| n.parse().ok()).unwrap_or(1000);
        steps(arguments.get(i + 1).map_or("", |s| s), n);
        return;
    }
    let counted = arguments.iter().any(|a| a == "--instructions");
    let mut names: Vec<String> = vec!["rk4 by hand".into()];
    names.extend(REGISTRY.iter().map(|row| row.id.to_string()));
    names.extend(["preserving:cayley,load=mean", "compose:imidm:4"].map(String::from));
    names.extend(
        ["rk4 by hand x4", "imidm x4", "mkrk:rk4 x4", "swc1 x4", "akw x4", "preserving:cayley x4"]
            .map(String::from),
    );
    let count = |name: &str| {
        let count = if counted { instructions(name) } else { None };
        count.map_or("-".into(), |c| format!("{c:.0}"))
    };
    let times = nanoseconds(&names);
    println!("fast top, h = {H}, best of 9 rounds; x4: four lanes, per body");
    println!("{:<30} {:>9} {:>8} {:>14}", "method", "ns/step", "ratio", "instructions");
    for (name, time) in names.iter().zip(&times) {
        println!("{name:<30} {time:>9.1} {:>8.2} {:>14}", time / times[0], count(name));
    }
    let find = |name: &str| names.iter().position(|n| n == name).map_or(f64::NAN, |i| times[i]);
    println!("\nimidm / rk4 by hand        {:>6.2}   (at most 3)", find("imidm") / times[0]);
    println!("mkrk:rk4 / rk4 by hand     {:>6.2}   (at most 1.5)", find("mkrk:rk4") / times[0]);
    println!("preserving:cayley / imidm  {:>6.2}   (at most 1)", find("preserving:cayley") / find("imidm"));
    println!("imidm, lanes / one         {:>6.2}   (at least 2.5)", find("imidm") / find("imidm x4"));
    let chains: Vec<String> = ["spherical", "revolute"]
        .iter()
        .flat_map(|joint| [1, 2, 8, 64, 256, 1024].map(|n| format!("chain {n} {joint}")))
        .collect();
    println!("\nchains let go while straight, geometric-alpha,rho=0.8, per body and step");
    println!("{:<30} {:>9} {:>14}", "bodies and joints", "ns", "instructions");
    for (name, time) in chains.iter().zip(nanoseconds(&chains)) {
        println!("{name:<30} {time:>9.1} {:>14}", count(name));
    }
}
