//! What the derivatives of a system cost: instructions per step without them, with one parameter, and for each further one.
//!
//! `cargo bench -p polhode --bench sensitivity` counts under callgrind (needs valgrind). With a problem, a method, a number
//! of parameters and a number of steps, it only runs. `chain-everywhere` is the worst case: every parameter changes all bodies
//! and all joints.

use nalgebra::Vector3;
use polhode::body::RotaryInertia;
use polhode::method::Method;
use polhode::multibody::{Differentiated, Simulation, System};
use polhode::problem::Problem;
use polhode::scalar::Dual;
use std::error::Error;
use std::process::Command;

type D = Dual<f64, 1>;
/// Gives a system a derivative by parameter number k.
type Vary = fn(&System<f64>, usize) -> System<D>;

const METHODS: [&str; 3] = ["geometric-alpha", "linear-alpha", "residual-alpha"];
/// Name, bodies, step size, steps to count.
const PROBLEMS: [(&str, usize, f64, usize); 3] =
    [("heavy-top", 1, 2e-3, 100), ("chain", 64, 1e-3, 20), (EVERYWHERE, 64, 1e-3, 20)];
const EVERYWHERE: &str = "chain-everywhere";
/// Numbers of parameters.
const COUNTS: [usize; 5] = [1, 2, 4, 8, 16];

/// The system with a derivative by parameter number k: masses, inertias and points of joints of bodies along the chain,
/// initial velocities, and gravity.
fn varied(system: &System<f64>, k: usize) -> System<D> {
    let mut varied = system.lift::<D>();
    let axis = k / 5 % 3;
    let one = Vector3::from_fn(|i, _| f64::from(i == axis));
    let with = |v: Vector3<D>| v.zip_map(&one, |x, eps| Dual { re: x.re, eps: [eps] });
    let b = system.bodies().len() * k / 16;
    match k % 5 {
        0 => varied.bodies_mut()[b].mass.eps = [1.0],
        1 => *varied.gravity_mut() = with(*system.lift::<D>().gravity_mut()),
        2 => varied.bodies_mut()[b].omega_body = with(varied.bodies_mut()[b].omega_body),
        3 => varied.joints_mut()[b].ends[1].point = with(varied.joints_mut()[b].ends[1].point),
        _ => {
            let body = &mut varied.bodies_mut()[b];
            let mut inertia = *body.inertia.matrix();
            inertia[(axis, axis)].eps = [1.0];
            body.inertia = RotaryInertia::unchecked(inertia);
        }
    }
    varied
}

/// The system with a derivative by a parameter that changes all masses, inertias, points of joints and gravity.
fn everywhere(system: &System<f64>, k: usize) -> System<D> {
    let mut varied = system.lift::<D>();
    let slope = [1.0 + k as f64];
    varied.gravity_mut().z.eps = slope;
    for body in varied.bodies_mut() {
        body.mass.eps = slope;
        body.inertia =
            RotaryInertia::unchecked(body.inertia.matrix().map(|x| Dual { re: x.re, eps: [x.re] }));
    }
    for joint in varied.joints_mut() {
        joint.ends.iter_mut().for_each(|end| end.point.x.eps = slope);
    }
    varied
}

/// Steps a problem with derivatives by so many parameters.
fn run(problem: &str, method: &str, parameters: usize, steps: usize) -> Result<(), Box<dyn Error>> {
    let &(_, bodies, h, _) = PROBLEMS.iter().find(|(name, ..)| *name == problem).ok_or("no such problem")?;
    let (name, varied): (_, Vary) = match problem {
        EVERYWHERE => ("chain", everywhere),
        name => (name, varied),
    };
    let mut problem = Problem::named(name)?;
    if bodies > 1 {
        problem.set("bodies", &bodies.to_string())?;
    }
    let (model, method) = (problem.model()?, Method::parse(method)?);
    let system = model.system();
    if parameters == 0 {
        let mut run = Simulation::new(system, &method)?;
        for _ in 0..steps {
            run.step(h)?;
        }
        return Ok(());
    }
    let varied: Vec<_> = (0..parameters).map(|k| varied(system, k)).collect();
    let mut run = Differentiated::new(system, &varied, &method)?;
    for _ in 0..steps {
        run.step(h)?;
    }
    Ok(())
}

/// Instructions per step: the difference of two runs, so that the start cancels.
fn instructions(problem: &str, method: &str, parameters: usize, steps: usize) -> Result<f64, Box<dyn Error>> {
    let count = |n: usize| -> Result<f64, Box<dyn Error>> {
        let out = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe()?)
            .args([problem, method, &parameters.to_string(), &n.to_string()])
            .output()?;
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        if !out.status.success() {
            return Err(text.into());
        }
        let line = text.lines().find(|line| line.contains("Collected :")).ok_or(text.clone())?;
        Ok(line.rsplit(' ').next().ok_or("no count")?.trim().parse()?)
    };
    Ok((count(2 * steps)? - count(steps)?) / steps as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [problem, method, parameters, steps] = &arguments[..] {
        return run(problem, method, parameters.parse()?, steps.parse()?);
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("instructions are counted by valgrind, which is not there");
        return Ok(());
    }
    println!("instructions per step; each further parameter as part of a plain step");
    println!("{:<17} {:<16} {:>8}  with 1, 2, 4, 8, 16 parameters, and each further", "", "", "plain");
    for (problem, _, _, steps) in PROBLEMS {
        for method in METHODS {
            let plain = instructions(problem, method, 0, steps)?;
            let mut counts = [0.0; COUNTS.len()];
            for (count, parameters) in counts.iter_mut().zip(COUNTS) {
                *count = instructions(problem, method, parameters, steps)?;
            }
            let slope = (counts[4] - counts[0]) / (COUNTS[4] - COUNTS[0]) as f64;
            let shown = counts.map(|count| format!("{count:>9.0}")).join(" ");
            println!("{problem:<17} {method:<16} {plain:>8.0}  {shown} {:>6.1} %", 100.0 * slope / plain);
            assert!(slope < 0.15 * plain, "{problem} {method}: a further parameter is too dear");
        }
    }
    Ok(())
}
