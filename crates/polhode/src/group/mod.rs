//! The rotation group SO(3) and the motion group SE(3), behind one trait.
//!
//! Symbols: R attitude (body to space), u position of the body's reference point, Ψ increments, V = Ω on SO(3)
//! and V = {v, Ω} on SE(3) (linear part first, body axes), P = Π on SO(3) and P = {p, Π} on SE(3).
//! Sources: Bauchau et al. 2013 (motion tensor, vectorial maps), Krysl 2006 (the increments on SO(3)).

mod map;
mod passage;
mod rotation;
mod se3;
mod so3;
mod tangent;
mod vectorial;

pub(crate) use map::NearZero;
pub use map::{Cayley, Coefficients, EulerRodrigues, Exponential, Map, WienerMilenkovic};
pub(crate) use passage::Hermite;
pub use passage::{Passage, Passing};
pub use rotation::{Rotation, Turn};
pub(crate) use se3::displacing;
pub use se3::{Motion, Screw, Se3};
pub use so3::So3;
pub(crate) use so3::total;
pub use tangent::{Tangent, spin};
pub use vectorial::{MapKind, Reading, Vectorial};

pub use crate::solve::{Coordinates, Jet, lift, seeded, unit};

use crate::scalar::{Over, Real};
use core::fmt::Debug;
use nalgebra::Vector3;

/// A function of three vectors that is made of scalars, sums, dot and cross products, so that SE(3) can take it over
/// from SO(3) at a dual number.
pub trait Transferable<S: Real> {
    /// Its two values.
    fn at<T: Over<S>>(&self, x: [Vector3<T>; 3]) -> [Vector3<T>; 2];
}

/// A Lie group of rigid motions, left-trivialised: velocities and momenta live in the body frame.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::group::{Exponential, Group, So3};
/// let quarter = So3::increment(Exponential, &Vector3::new(0.0, 0.0, core::f64::consts::FRAC_PI_2));
/// let x = So3::push(&quarter, &Vector3::x());
/// assert!((x - Vector3::y()).norm() < 1e-15);
/// ```
pub trait Group: Copy + Debug + Default + 'static {
    /// `so3` or `se3`.
    const NAME: &'static str;
    /// Velocities, momenta and increments.
    type Vector<S: Real>: Coordinates<S>;
    /// Two of them in one.
    type Pair<S: Real>: Coordinates<S>;
    /// The convected base vectors and their momenta, and position and linear momentum of what moves.
    type Frame<S: Real>: Coordinates<S>;
    /// An element of the group.
    type Pose<S: Real>: Copy + Debug + PartialEq + Send + Sync;
    /// A motion over a step, in a form that acts with short dependency chains.
    type Increment<S: Real>: Copy + Debug + Send + Sync;

    /// The neutral element.
    fn identity<S: Real>() -> Self::Pose<S>;
    /// `a` followed, in the moving frame, by `b`.
    fn compose<S: Real>(a: &Self::Pose<S>, b: &Self::Pose<S>) -> Self::Pose<S>;
    /// The inverse element.
    fn inverse<S: Real>(a: &Self::Pose<S>) -> Self::Pose<S>;
    /// Removes the round-off that composition leaves in the unit quaternion, to second order.
    fn normalized<S: Real>(a: &Self::Pose<S>) -> Self::Pose<S>;
    /// The pose with every number as a constant of `T`.
    fn lift_pose<S: Real, T: Over<S>>(a: &Self::Pose<S>) -> Self::Pose<T>;
    /// Lane by lane, `a` where the mask is true and `b` elsewhere.
    fn choose_pose<S: Real>(mask: S::Mask, a: &Self::Pose<S>, b: &Self::Pose<S>) -> Self::Pose<S>;
    /// True in the lanes where every number is finite.
    fn is_finite<S: Real>(a: &Self::Pose<S>) -> S::Mask;
    /// How far apart two poses are: the 2-norm of the difference of the attitude matrices, and the distance
    /// of the positions.
    fn distance<S: Real>(a: &Self::Pose<S>, b: &Self::Pose<S>) -> (S, S);

    /// The motion with the parameters `psi` of the map.
    fn increment<M: Map, S: Real>(map: M, psi: &Self::Vector<S>) -> Self::Increment<S>;
    /// The pose after an increment, in the moving frame.
    fn advance<S: Real>(pose: &Self::Pose<S>, step: &Self::Increment<S>) -> Self::Pose<S>;
    /// The parameters of a motion, the inverse of [`Group::increment`].
    fn parameters<M: Map, S: Real>(map: M, a: &Self::Pose<S>) -> Self::Vector<S>;
    /// Velocity of the moving frame, in that frame, when the parameters move at `rate`: V = dexp₋Ψ(Ψ̇).
    fn tangent<M: Map, S: Real>(map: M, psi: &Self::Vector<S>, rate: &Self::Vector<S>) -> Self::Vector<S>;
    /// The inverse of [`Group::tangent`]: Ψ̇ = (dexp₋Ψ)⁻¹(V).
    fn tangent_inverse<M: Map, S: Real>(
        map: M,
        psi: &Self::Vector<S>,
        v: &Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// A function of velocities of a turning body, for this group.
    fn transfer<S: Real, F: Transferable<S>>(f: &F, x: [&Self::Vector<S>; 3]) -> [Self::Vector<S>; 2];

    /// A momentum or load seen from the frame that the increment leads to: Rᵀ P on SO(3).
    fn pull<S: Real>(step: &Self::Increment<S>, p: &Self::Vector<S>) -> Self::Vector<S>;
    /// The inverse of [`Group::pull`]: R P on SO(3).
    fn push<S: Real>(step: &Self::Increment<S>, p: &Self::Vector<S>) -> Self::Vector<S>;
    /// The motion that makes `whole`, the increment with these parameters, when it is done twice.
    fn half<M: Map, S: Real>(map: M, psi: &Self::Vector<S>, whole: &Self::Increment<S>)
    -> Self::Increment<S>;
    /// A velocity seen from the frame that the increment leads to: Rᵀ V on SO(3).
    fn pull_velocity<S: Real>(step: &Self::Increment<S>, v: &Self::Vector<S>) -> Self::Vector<S>;
    /// The inverse of [`Group::pull_velocity`]: R V on SO(3).
    fn push_velocity<S: Real>(step: &Self::Increment<S>, v: &Self::Vector<S>) -> Self::Vector<S>;
    /// A body momentum or load seen from space: R P on SO(3).
    fn to_space<S: Real>(pose: &Self::Pose<S>, p: &Self::Vector<S>) -> Self::Vector<S>;
    /// The rate of a momentum in the frame that moves with `v`, with no load: -Ω × Π on SO(3).
    fn transport<S: Real>(v: &Self::Vector<S>, p: &Self::Vector<S>) -> Self::Vector<S>;
    /// The derivative of `pull(increment(map, psi), P)` with respect to psi_j, where `y` is its value: G(y) H(-Q) e_j in
    /// Bauchau's terms. Exact for maps that read their parameters as `dual`, close for the others.
    #[inline(always)]
    fn pull_slope<M: Map, S: Real>(
        map: M,
        psi: &Self::Vector<S>,
        y: &Self::Vector<S>,
        j: usize,
    ) -> Self::Vector<S> {
        Self::transport(&Self::tangent(map, psi, &unit::<S, Self::Vector<S>>(j)), y)
    }
    /// The bracket of two velocities: a × b on SO(3).
    fn bracket<S: Real>(a: &Self::Vector<S>, b: &Self::Vector<S>) -> Self::Vector<S>;

    /// True if the reference point moves.
    const MOVES: bool;
    /// The angular part of a velocity or momentum.
    fn angular<S: Real>(v: &Self::Vector<S>) -> Vector3<S>;
    /// The linear part of a velocity or momentum, zero on SO(3).
    fn linear<S: Real>(v: &Self::Vector<S>) -> Vector3<S>;
    /// The vector with this linear (ignored on SO(3)) and angular part.
    fn vector<S: Real>(linear: &Vector3<S>, angular: &Vector3<S>) -> Self::Vector<S>;
    /// The pose with this attitude and position (ignored on SO(3)).
    fn pose<S: Real>(attitude: &Rotation<S>, position: &Vector3<S>) -> Self::Pose<S>;
    /// Two vectors as one.
    fn join<S: Real>(a: &Self::Vector<S>, b: &Self::Vector<S>) -> Self::Pair<S> {
        let n = Self::Vector::<S>::LEN;
        Self::Pair::<S>::generate(|i| if i < n { a.at(i) } else { b.at(i - n) })
    }
    /// The two halves of a pair.
    fn split<S: Real>(pair: &Self::Pair<S>) -> (Self::Vector<S>, Self::Vector<S>) {
        let n = Self::Vector::<S>::LEN;
        (Self::Vector::<S>::generate(|i| pair.at(i)), Self::Vector::<S>::generate(|i| pair.at(n + i)))
    }
}
