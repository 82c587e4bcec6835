//! Many bodies at once, in lanes and on threads: free bodies and tops, each with its own inertia and start. How many steps of
//! bodies that makes in a second.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, RotaryInertia, State, TopGravity};
use polhode::ensemble::{Family, Members, run};
use polhode::group::{Rotation, So3};
use polhode::method::Method;
use polhode::run::Plan;
use polhode::scalar::Real;
use std::time::Instant;

/// Tops: two moments, the weight, and the spin. Without weight they are free bodies.
struct Tops;

impl Family<So3> for Tops {
    type Load<S: Real> = TopGravity<S>;
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> (Body<S, So3, TopGravity<S>>, State<S, So3>) {
        let moments = Matrix3::from_diagonal(&Vector3::new(number(0), number(0), number(1)));
        let top = Body { inertia: RotaryInertia::unchecked(moments), load: TopGravity { mgl: number(2) } };
        let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
        let start = top.state(tilt, &Vector3::new(S::lift(0.1), S::zero(), number(3)));
        (top, start)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: u32 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2000);
    let plan = Plan::new(1e-3, 1.0)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for (name, weight) in [("free bodies", 0.0), ("tops", 20.0)] {
        let member = |k: u32| [5.0 + 1e-4 * f64::from(k), 1.0, weight, 50.0 - 1e-3 * f64::from(k)];
        let numbers: Vec<f64> = (0..count).flat_map(member).collect();
        for id in ["akw", "imidm", "mkrk:rk4"] {
            let method = Method::parse(id)?;
            let mut rates = Vec::new();
            let mut first = None;
            for threads in [1, threads] {
                let (mut ends, started) = (Vec::new(), Instant::now());
                run(&Tops, &Members::new(&numbers, 4), &method, &plan, threads, &mut |_, end| ends.push(end));
                rates.push(f64::from(count) * plan.steps() as f64 / started.elapsed().as_secs_f64() / 1e6);
                assert!(ends.iter().all(Result::is_ok));
                // The same however it is shared out.
                assert!(first.get_or_insert_with(|| ends.clone()) == &ends);
            }
            println!(
                "{count} {name}, {id}: {:.1} million steps of bodies in a second on 1 thread, {:.1} on {threads}",
                rates[0], rates[1]
            );
        }
    }
    Ok(())
}
