//! What derivatives of systems cost: no memory in a step, and nothing of the plain run.

use polhode::method::Method;
use polhode::multibody::{Differentiated, Simulation, System};
use polhode::problem::Problem;
use polhode::scalar::Dual;

type D = Dual<f64, 1>;

const METHODS: [&str; 10] = [
    "geometric-alpha",
    "linear-alpha",
    "residual-alpha",
    "linear-alpha,chart=rescaled",
    "residual-alpha,constraints=stabilized",
    "conserving",
    "conserving,constraints=index3",
    "decaying",
    "variational",
    "compose:conserving:4",
];

fn system(problem: &str) -> System<f64> {
    let mut problem = Problem::named(problem).unwrap();
    if problem.id == "chain" {
        problem.set("bodies", "5").unwrap();
    }
    problem.model().unwrap().system().as_ref().clone()
}

/// Parameters of every kind that the systems below have.
fn varied(system: &System<f64>, count: usize) -> Vec<System<D>> {
    let bodies = system.bodies().len();
    let one = |k: usize| {
        let mut varied = system.lift::<D>();
        match k % 4 {
            0 => varied.bodies_mut()[k % bodies].mass.eps = [1.0],
            1 => varied.gravity_mut()[k % 3].eps = [1.0],
            2 => varied.bodies_mut()[k % bodies].omega_body[k % 3].eps = [1.0],
            _ => varied.joints_mut()[k % bodies].ends[1].point[k % 3].eps = [1.0],
        }
        varied
    };
    (0..count).map(one).collect()
}

/// Any number of parameters gives the same derivatives as each alone, and the bits of the plain run.
#[test]
fn parameters_side_by_side() {
    for problem in ["heavy-top", "chain", "double-pendulum"] {
        let system = system(problem);
        let varied = varied(&system, 7);
        for id in METHODS {
            let method = Method::parse(id).unwrap();
            let mut plain = Simulation::new(&system, &method).unwrap();
            let mut all = Differentiated::new(&system, &varied, &method).unwrap();
            let mut alone: Vec<_> =
                varied.chunks(1).map(|one| Differentiated::new(&system, one, &method).unwrap()).collect();
            let mut five = Differentiated::new(&system, &varied[..5], &method).unwrap();
            assert_eq!((all.parameters(), five.parameters()), (7, 5));
            for _ in 0..20 {
                plain.step(2e-3).unwrap();
                all.step(2e-3).unwrap();
                five.step(2e-3).unwrap();
                alone.iter_mut().for_each(|one| one.step(2e-3).unwrap());
            }
            for (a, b) in plain.bodies().iter().zip(all.simulation().bodies()) {
                assert_eq!(a.position, b.position, "{problem} {id}");
                assert_eq!(a.attitude.q_wxyz(), b.attitude.q_wxyz(), "{problem} {id}");
                assert_eq!(a.omega_body, b.omega_body, "{problem} {id}");
            }
            for (k, one) in alone.iter_mut().enumerate() {
                let numbers = |run: &Simulation<D>| -> Vec<f64> {
                    let bodies = run.bodies().iter().flat_map(|b| {
                        let vectors = [b.position, b.velocity, b.acceleration, b.omega_body, b.omega_rate];
                        vectors
                            .into_iter()
                            .flat_map(|v| [v.x, v.y, v.z])
                            .chain(b.attitude.matrix().iter().copied())
                            .collect::<Vec<_>>()
                    });
                    bodies.chain(run.all_multipliers().iter().copied()).map(|x| x.eps[0]).collect()
                };
                let known = numbers(one.derivative(0).unwrap());
                assert!(known.iter().any(|x| *x != 0.0), "{problem} {id} {k}");
                assert_eq!(numbers(all.derivative(k).unwrap()), known, "{problem} {id} {k}");
                if k < 5 {
                    assert_eq!(numbers(five.derivative(k).unwrap()), known, "{problem} {id} {k}");
                }
            }
        }
    }
}

#[test]
fn a_step_with_derivatives_allocates_nothing() {
    let boxed = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1.0f64))));
    assert_eq!(boxed.count_total, 1, "the counter works");
    for problem in ["heavy-top", "chain", "double-pendulum"] {
        let system = system(problem);
        let varied = varied(&system, 6);
        for id in METHODS {
            for count in [1, 4, 6] {
                let method = Method::parse(id).unwrap();
                let mut run = Differentiated::new(&system, &varied[..count], &method).unwrap();
                // A few first steps: pivots are searched, and searched again where the motion begins.
                (0..5).for_each(|_| run.step(1e-3).unwrap());
                let info = allocation_counter::measure(|| (0..30).for_each(|_| run.step(1e-3).unwrap()));
                assert_eq!(info.count_total, 0, "{problem} {id} with {count} parameters");
            }
        }
    }
}
