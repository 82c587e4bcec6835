//! What steps of the methods for systems cost: instructions under callgrind (needs valgrind), the 100th to the 300th step, beside
//! those of `geometric-alpha`.

use polhode::method::Method;
use polhode::multibody::Simulation;
use polhode::problem::Problem;
use std::hint::black_box;
use std::process::Command;

const METHODS: [&str; 6] = [
    "geometric-alpha",
    "conserving,constraints=index3",
    "geometric-alpha,constraints=stabilized",
    "conserving",
    "variational",
    "decaying",
];

/// Name, problem, what is set in it, step.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], f64);

const SYSTEMS: [Case; 5] = [
    ("heavy top, 1e-4 s", "heavy-top", &[], 1e-4),
    ("heavy top, 1e-3 s", "heavy-top", &[], 1e-3),
    ("64 balls, 1e-3 s", "chain", &[("bodies", "64"), ("joint", "0"), ("spin", "0")], 1e-3),
    ("64 hinges, 1e-3 s", "chain", &[("bodies", "64"), ("joint", "1"), ("spin", "0")], 1e-3),
    ("four-bar, 1e-3 s", "four-bar", &[], 1e-3),
];

fn run(system: usize, method: &str, steps: u64) -> Result<(), Box<dyn std::error::Error>> {
    let (_, name, set, h) = SYSTEMS[system];
    let mut problem = Problem::named(name)?;
    for (name, value) in set {
        problem.set(name, value)?;
    }
    let mut simulation = Simulation::new(problem.model()?.system(), &Method::parse(method)?)?;
    for _ in 0..steps {
        simulation.step(h)?;
    }
    black_box(simulation.time());
    Ok(())
}

fn instructions(system: usize, method: &str) -> Option<f64> {
    let count = |steps: u64| -> Option<f64> {
        let out = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args(["--only", &system.to_string(), method, &steps.to_string()])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        let line = text.lines().find(|line| line.contains("Collected :"))?;
        line.rsplit(' ').next()?.trim().parse().ok()
    };
    Some((count(300)? - count(100)?) / 200.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some([system, method, steps]) =
        arguments.iter().position(|a| a == "--only").and_then(|i| arguments.get(i + 1..i + 4))
    {
        return run(system.parse()?, method, steps.parse()?);
    }
    let heads = SYSTEMS.map(|(name, ..)| format!("{name:>19}"));
    println!("{:<40}{}", "instructions of a step", heads.concat());
    let mut first = [f64::NAN; SYSTEMS.len()];
    for method in METHODS {
        let row = (0..SYSTEMS.len()).map(|system| {
            let count = instructions(system, method).unwrap_or(f64::NAN);
            if method == METHODS[0] {
                first[system] = count;
            }
            format!("{count:>12.0} {:>6.2}", count / first[system])
        });
        println!("{method:<40}{}", row.collect::<String>());
    }
    Ok(())
}
