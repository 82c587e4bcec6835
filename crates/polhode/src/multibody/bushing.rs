//! Bushings: elastic joints with a stiffness and a damping for each of six motions.

use super::force::Strains;
use super::own::{ForceFormula, MovingFrames, Push};
use crate::group::{Exponential, Group, Rotation, So3};
use crate::scalar::Real;
use nalgebra::{Matrix3, Vector3};

/// An elastic joint that wants its two frames to coincide. Its twelve numbers are stiffnesses along x, y and z of the first
/// frame, stiffnesses about them, and the dampings in the same order. Displacements are those of the second point in the
/// first frame, turns are the rotation vector of the second frame in the first, of less than half a turn.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::method::Method;
/// use polhode::multibody::{Bushing, GROUND, OwnForce, Rigid, Simulation, System};
/// let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
/// system.body("engine", Rigid::new(100.0, Matrix3::identity() * 4.0)?)?;
/// let stiffness = [1e6, 1e6, 2e6, 1e4, 1e4, 1e4];
/// let numbers = stiffness.into_iter().chain(stiffness.map(|k| 0.01 * k)).collect();
/// system.force("mount", OwnForce::new(Bushing { damped: true }, numbers)?, GROUND, "engine")?;
/// let mut run = Simulation::new(&system, &Method::parse("geometric-alpha")?)?;
/// (0..2000).try_for_each(|_| run.step(1e-3))?;
/// // It rests where the mount bears its weight.
/// assert!((run.bodies()[0].position.z + 100.0 * 9.81 / 2e6).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bushing {
    /// True if one of its dampings is not zero.
    pub damped: bool,
}

/// The turn of the second frame in the first, as a rotation vector.
fn turn<T: Real>(axes: &[Matrix3<T>; 2]) -> Vector3<T> {
    Rotation::from_matrix(&axes[0].tr_mul(&axes[1])).shorter().rotation_vector()
}

/// ½ Σ k x².
fn stored<T: Real>(stiffness: &[T], x: &Vector3<T>) -> T {
    let sum = stiffness.iter().zip(x).fold(T::zero(), |sum, (k, x)| sum + *k * *x * *x);
    sum * T::lift(0.5)
}

impl ForceFormula for Bushing {
    fn kind(&self) -> &'static str {
        "bushing"
    }
    fn names(&self) -> Vec<String> {
        let six = ["x", "y", "z", "turn_x", "turn_y", "turn_z"];
        ["stiffness", "damping"].iter().flat_map(|what| six.map(|i| format!("{what}_{i}"))).collect()
    }
    fn push<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Push<T> {
        let axes = &at.frames.axes;
        let span = at.frames.span();
        let relative = at.velocities[1] - at.velocities[0] - at.omegas[0].cross(&span);
        let [d, rate, omega] =
            [span, relative, at.omegas[1] - at.omegas[0]].map(|v: Vector3<T>| axes[0].tr_mul(&v));
        let of = |from: usize, x: &Vector3<T>| Vector3::from_fn(|i, _| numbers[from + i] * x[i]);
        let force = -(of(0, &d) + of(6, &rate));
        // The moment is the exact derivative of what is stored, by a small turn of the second frame in its own axes, which
        // changes the rotation vector by T⁻¹: T⁻ᵀ(ψ) = T⁻¹(-ψ).
        let psi = turn(axes);
        let slope = So3::tangent_inverse(Exponential, &-psi, &of(3, &psi));
        let moment = -(axes[1] * slope) - axes[0] * of(9, &omega);
        Push { force: axes[0] * force, moment }
    }
    fn potential<T: Real>(&self, numbers: &[T], at: &MovingFrames<T>) -> Option<T> {
        let d = at.frames.axes[0].tr_mul(&at.frames.span());
        Some(stored(&numbers[..3], &d) + stored(&numbers[3..6], &turn(&at.frames.axes)))
    }
    fn is_damped(&self) -> bool {
        self.damped
    }
    fn strains(&self) -> Strains {
        Strains::Motions(6)
    }
}
