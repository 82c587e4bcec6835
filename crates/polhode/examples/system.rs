//! A door on a hinge with a closer: a system of one's own.

use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{ForceKind, GROUND, JointKind, Rigid, Simulation, System};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let door = Rigid::new(20.0, Matrix3::from_diagonal(&Vector3::new(6.7, 8.0, 1.4)))?;
    let ajar = Rotation::from_rotation_vector(&Vector3::new(0.0, 0.0, 0.5));
    system.body("door", door.at(ajar.rotate(&Vector3::new(0.45, 0.0, 0.0)), ajar))?;
    system.frame("hinge", "door", Vector3::new(-0.45, 0.0, 0.0), Rotation::identity())?;
    system.joint("post", JointKind::Revolute, GROUND, "hinge")?;
    let closer = ForceKind::TorsionSpring { stiffness: 5.0, damping: 8.0, angle: 0.0 };
    system.force("closer", closer, GROUND, "hinge")?;

    let mut run = Simulation::new(&system, &Method::parse("linear-alpha")?)?;
    while run.time() < 10.0 {
        run.step(0.01)?;
    }
    let angle = run.moving("door").ok_or("no door")?.attitude.rotation_vector().z;
    let reaction = run.multipliers("post").ok_or("no post")?;
    println!("after 10 s the door is at {angle:.5} rad, and the post carries {:.3} N", reaction[2]);
    // It has come to rest: closed, but for what the damper takes long over, and its weight on the post.
    assert!(angle.abs() < 0.02 && (reaction[2] - 20.0 * 9.81).abs() < 1e-6);
    assert!(run.violation().position < 1e-14);
    Ok(())
}
