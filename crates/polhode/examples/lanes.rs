//! Four tops of different weight at once, in SIMD lanes: each gets the bits of its own run.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, RotaryInertia, TopGravity};
use polhode::group::{Rotation, So3};
use polhode::method::{Method, Stepper, Steps};
use polhode::scalar::{F64x4, Real};

fn spin<S: Real>(mgl: S) -> Result<[S; 4], Box<dyn std::error::Error>>
where
    So3: Steps<S>,
{
    let diagonal = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0));
    let top = Body::<S, So3, _> {
        inertia: RotaryInertia::unchecked(diagonal.map(S::lift)),
        load: TopGravity { mgl },
    };
    let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
    let mut state = top.state(tilt, &Vector3::new(0.0, 0.0, 50.0).map(S::lift));
    let mut stepper = Stepper::<S, So3>::new(&Method::parse("imidm")?);
    for n in 0..2000 {
        state = stepper.step(&top, &state, S::lift(1e-3 * n as f64), S::lift(1e-3))?;
    }
    Ok(state.pose.q_wxyz())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let weights = [5.0, 10.0, 20.0, 40.0];
    let together = spin(F64x4::new(weights))?;
    for (lane, mgl) in weights.into_iter().enumerate() {
        let alone = spin(mgl)?;
        println!("mgl = {mgl:4}: q_wxyz = {alone:?}");
        for (a, b) in alone.iter().zip(&together) {
            assert_eq!(a.to_bits(), b.lane(lane).to_bits());
        }
    }
    Ok(())
}
