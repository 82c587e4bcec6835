//! Loads by inverse dynamics: a motion given as a function of time in any scalar yields the loads that make a body
//! follow it, with velocity and acceleration from nested duals. So every motion is the exact solution of a problem.

use super::Dynamics;
use super::load::{Kinematics, Load, Wrench};
use crate::group::{Motion, Rotation, Se3, So3};
use crate::scalar::{Dual, Over, Real};
use nalgebra::Vector3;

/// A motion as a function of time, twice differentiable. On SO(3) only the attitude counts.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{About, Body, InverseDynamics, SpatialInertia, Trajectory};
/// use polhode::check::advance;
/// use polhode::group::{Group, Motion, Rotation, Se3};
/// use polhode::method::Method;
/// use polhode::scalar::Real;
///
/// /// Up and down, and round and round.
/// #[derive(Clone, Copy, Debug)]
/// struct Carousel;
/// impl Trajectory for Carousel {
///     fn at<T: Real>(&self, t: T) -> Motion<T> {
///         let (sin, cos) = t.sin_cos();
///         let attitude = Rotation::from_rotation_vector(&Vector3::new(sin, T::zero(), t));
///         Motion { attitude, position: Vector3::new(cos, sin, sin * cos) }
///     }
/// }
///
/// let inertia = SpatialInertia::new(2.0, Vector3::new(0.1, 0.0, 0.3), Matrix3::identity())?;
/// let load = InverseDynamics::<f64, Se3, _>::new(inertia, Carousel, About::Origin);
/// let body = Body::<f64, Se3, _> { inertia, load };
/// let there = advance(&Method::parse("preserving:exp")?, &body, &body.load.state(0.0), 0.0, 1e-3, 1000)?;
/// let (attitude, position) = Se3::distance(&there.pose, &body.load.state(1.0).pose);
/// assert!(attitude < 1e-5 && position < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Trajectory {
    /// Attitude and position at a time.
    fn at<T: Real>(&self, t: T) -> Motion<T>;
}

/// A motion with numbers of the scalar `S` in it, which may carry derivatives. Every [`Trajectory`] is one.
pub trait Path<S: Real> {
    /// Attitude and position at a time in the scalar `T`; `of` makes its numbers constants of `T`.
    fn along<T: Real>(&self, of: impl Fn(S) -> T, t: T) -> Motion<T>;
}

impl<S: Real, M: Trajectory> Path<S> for M {
    #[inline(always)]
    fn along<T: Real>(&self, _of: impl Fn(S) -> T, t: T) -> Motion<T> {
        self.at(t)
    }
}

/// The point about which a wrench keeps its moment, when the computed pose is not quite that of the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// The origin of space: force and moment about it are the exact functions of time.
    #[default]
    Origin,
    /// The reference point of the body, wherever it is.
    ReferencePoint,
}

/// The loads that make a body follow a motion.
#[derive(Clone, Copy, Debug)]
pub struct InverseDynamics<S: Real, G: Dynamics, M> {
    pub(super) inertia: G::Inertia<S>,
    pub(super) motion: M,
    pub(super) about: About,
}

/// Pose, body velocity and its rate at a time, exact.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::body::{Trajectory, rates};
/// use polhode::group::{Motion, Rotation, So3};
/// use polhode::scalar::Real;
/// struct Spin;
/// impl Trajectory for Spin {
///     fn at<T: Real>(&self, t: T) -> Motion<T> {
///         let zero = Vector3::new(T::zero(), T::zero(), T::zero());
///         let angle = Vector3::new(T::zero(), T::zero(), t * t);
///         Motion { attitude: Rotation::from_rotation_vector(&angle), position: zero }
///     }
/// }
/// let (_, omega, rate) = rates::<So3, f64>(&Spin, 0.5);
/// assert!((omega.z - 1.0).abs() < 1e-15 && (rate.z - 2.0).abs() < 1e-15);
/// ```
pub fn rates<G: Dynamics, T: Real>(motion: &impl Path<T>, t: T) -> (G::Pose<T>, G::Vector<T>, G::Vector<T>) {
    rates_over::<T, G, T>(motion, t)
}

/// The same at any scalar over that of the motion.
fn rates_over<S: Real, G: Dynamics, T: Over<S>>(
    motion: &impl Path<S>,
    t: T,
) -> (G::Pose<T>, G::Vector<T>, G::Vector<T>) {
    type Once<T> = Dual<T, 1>;
    let once = |re: T, eps: T| Once { re, eps: [eps] };
    let twice = Dual { re: once(t, T::one()), eps: [once(T::one(), T::zero())] };
    let of = |s: S| Dual::constant(Once::constant(T::of(s)));
    let Motion { attitude, position } = motion.along::<Dual<Once<T>, 1>>(of, twice);
    // The value is a function of time with its slope, the slope one too.
    let value = |v: &Vector3<Dual<Once<T>, 1>>| v.map(|x| x.re);
    let slope = |v: &Vector3<Dual<Once<T>, 1>>| v.map(|x| x.eps[0]);
    let [w, x, y, z] = attitude.q_wxyz();
    let axis = Vector3::new(x, y, z);
    let turn = Rotation { w: w.re, v: value(&axis) };
    // Ω = 2 vec(q⁻¹ q̇), v = Rᵀ u̇.
    let omega =
        (slope(&axis) * turn.w - turn.v * w.eps[0] - turn.v.cross(&slope(&axis))) * Once::<T>::lift(2.0);
    let linear = turn.unrotate(&slope(&position));
    let pose = G::pose(&Rotation { w: turn.w.re, v: turn.v.map(|x| x.re) }, &position.map(|x| x.re.re));
    let part = |f: fn(Once<T>) -> T| G::vector(&linear.map(f), &omega.map(f));
    (pose, part(|x| x.re), part(|x| x.eps[0]))
}

impl<S: Real, G: Dynamics, M: Path<S>> InverseDynamics<S, G, M> {
    /// For a body with this inertia.
    pub fn new(inertia: G::Inertia<S>, motion: M, about: About) -> Self {
        InverseDynamics { inertia, motion, about }
    }
    /// The exact state at a time.
    pub fn state(&self, t: S) -> super::State<S, G> {
        let (pose, velocity, _) = rates::<G, S>(&self.motion, t);
        super::State { pose, momentum: G::momentum(&self.inertia, &velocity) }
    }
}

impl<S: Real, G: Dynamics, M: Path<S>> Load<S> for InverseDynamics<S, G, M> {
    // Not inlined: second derivatives are long.
    #[inline(never)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let inertia = G::lift_inertia::<S, T>(&self.inertia);
        let (pose, v, rate) = rates_over::<S, G, T>(&self.motion, at.time);
        let load = G::momentum(&inertia, &rate) - G::transport(&v, &G::momentum(&inertia, &v));
        match self.about {
            About::Origin => {
                let load = G::to_space(&pose, &load);
                let force = G::linear(&load);
                let moment = G::angular(&load) - at.position.cross(&force);
                Wrench {
                    force_body: at.attitude.unrotate(&force),
                    moment_body: at.attitude.unrotate(&moment),
                }
            }
            About::ReferencePoint => {
                let exact = G::kinematics(at.time, &pose, &v).attitude;
                let turned = |v: Vector3<T>| at.attitude.unrotate(&exact.rotate(&v));
                Wrench { force_body: turned(G::linear(&load)), moment_body: turned(G::angular(&load)) }
            }
        }
    }
    #[inline(never)]
    fn motion<T: Over<S>>(&self, t: T) -> Option<Kinematics<T>> {
        let (pose, velocity, _) = rates_over::<S, G, T>(&self.motion, t);
        Some(G::kinematics(t, &pose, &velocity))
    }
}

/// The motion of Bauchau et al. 2013, section 5: a helix that swings along its axis, and a turn about an axis that
/// wanders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BauchauTrajectory<S> {
    /// ω of the displacement, rad/s; the paper has 2.
    pub frequency: S,
    /// Half the rotation angle is this times t, rad/s; 2 as printed, 1 if the paper's angle were the whole one.
    pub turn_rate: S,
}

impl<S: Real> BauchauTrajectory<S> {
    /// Attitude and position at a time.
    pub fn at(&self, t: S) -> Motion<S> {
        self.along(|x| x, t)
    }
}

impl<S: Real> Path<S> for BauchauTrajectory<S> {
    fn along<T: Real>(&self, of: impl Fn(S) -> T, t: T) -> Motion<T> {
        let lift = T::lift;
        let (sin, cos) = t.sin_cos();
        let (sin_phi, cos_phi) = (of(self.turn_rate) * t).sin_cos();
        let (sin_theta, cos_theta) = (t + lift(2.0) * sin).sin_cos();
        let (sin_psi, cos_psi) = (lift(3.0) * cos - lift(3.0)).sin_cos();
        let across = sin_phi * sin_theta;
        let (x, y) = (of(self.frequency) * t).sin_cos();
        Motion {
            attitude: Rotation {
                w: cos_phi,
                v: Vector3::new(across * cos_psi, across * sin_psi, sin_phi * cos_theta),
            },
            position: Vector3::new(x, y - T::one(), lift(0.5) * t + lift(2.0) * x * y),
        }
    }
}

/// A free body made to follow [`BauchauTrajectory`].
pub type PrescribedMotion<S> = InverseDynamics<S, Se3, BauchauTrajectory<S>>;
/// A body on a fixed point made to turn as in [`BauchauTrajectory`].
pub type PrescribedRotation<S> = InverseDynamics<S, So3, BauchauTrajectory<S>>;
