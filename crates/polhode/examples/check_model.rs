//! Testing a model of one's own: the order that a method shows on it, and what it keeps.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, Drag, Frame, Harmonic, Loads, RotaryInertia, TopGravity};
use polhode::check::{Plateau, advance, converge, reversal_defect};
use polhode::group::{Rotation, So3};
use polhode::method::Method;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let inertia =
        RotaryInertia::about_fixed_point(Matrix3::new(1.0, 0.1, 0.0, 0.1, 1.4, 0.2, 0.0, 0.2, 0.9))?;
    let drive =
        Harmonic { frame: Frame::Body, amplitude: Vector3::new(0.2, 0.0, 0.1), frequency: 3.0, phase: 0.0 };
    let load = Loads::none().with(TopGravity { mgl: 2.0 }).with(drive).with(Drag { coefficient: 0.05 });
    let body = Body::<f64, So3, _> { inertia, load };
    let start = body.state(Rotation::identity(), &Vector3::new(0.5, 1.0, -0.4));

    // A fine run with a method of high order is the reference.
    let reference = advance(&Method::parse("mkrk:gauss4")?, &body, &start, 0.0, 0.005, 400)?;
    for (id, expected) in [("imidm", 2.0), ("compose:imidm:4", 4.0), ("mkrk:kutta3", 3.0)] {
        let method = Method::parse(id)?;
        let errors = converge(&method, &body, &start, 2.0, &[20, 40, 80, 160], &reference)?;
        let order = errors.attitude(Plateau::At(1e-12))?.slope;
        let defect = reversal_defect(&method, &body, &start, 0.05, 20)?.largest();
        println!("{id:<16} order {order:.2}, reversal defect {defect:.1e}");
        assert!((order - expected).abs() < 0.15);
    }
    Ok(())
}
