//! Derivatives of a system with respect to something that no datum is: the density of one of its bodies. And how far from
//! them a difference of two runs is.

use polhode::multibody::{Differentiated, Simulation, System};
use polhode::scalar::{Dual, Real};
use polhode::{method::Method, problem::Problem};

/// Changes the density of the lower body: its mass and its inertia grow together.
fn denser<S: Real>(system: &mut System<S>, names: &System<f64>, change: S) {
    for parameter in names.parameters() {
        if parameter.name == "lower.mass" || parameter.name.starts_with("lower.inertia_") {
            system.vary(&parameter, S::lift(parameter.value) * change);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Problem::named("double-pendulum")?.model()?;
    let system = model.system();
    let method = Method::parse("geometric-alpha")?;

    let mut varied = [system.lift::<Dual<f64, 1>>()];
    denser(&mut varied[0], system, Dual { re: 0.0, eps: [1.0] });
    let mut run = Differentiated::new(system, &varied, &method)?;
    for _ in 0..100 {
        run.step(0.005)?;
    }
    let exact = run.derivative(0).and_then(|run| run.position("upper")).ok_or("a body")?.map(|x| x.eps[0]);

    let at = |change: f64| {
        let mut changed = system.as_ref().clone();
        denser(&mut changed, system, change);
        let mut run = Simulation::new(&changed, &method)?;
        for _ in 0..100 {
            run.step(0.005)?;
        }
        Ok::<_, Box<dyn std::error::Error>>(run.position("upper").ok_or("a body")?)
    };
    let central = (at(1e-5)? - at(-1e-5)?) / 2e-5;
    println!("the upper body moves by {exact:?} m per unit of relative density");
    println!("a central difference is {:.1e} off", (central - exact).norm() / exact.norm());
    assert!((central - exact).norm() < 1e-8 * exact.norm());
    Ok(())
}
