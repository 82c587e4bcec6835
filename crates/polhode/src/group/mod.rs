//! The rotation group SO(3) and the motion group SE(3), behind one trait.
//!
//! Symbols: R attitude (body to space), u position of the body's reference point, Ψ increments, V = Ω on SO(3)
//! and V = {v, Ω} on SE(3) (linear part first, body axes), P = Π on SO(3) and P = {p, Π} on SE(3).
//! Sources: Bauchau et al. 2013 (motion tensor, vectorial maps), Krysl 2006 (the increments on SO(3)).

mod map;
mod rotation;
mod se3;
mod so3;
mod tangent;
mod vectorial;

pub(crate) use map::NearZero;
pub use map::{Cayley, Coefficients, EulerRodrigues, Exponential, Map, WienerMilenkovic};
pub use rotation::{Rotation, Turn};
pub use se3::{Motion, Screw, Se3};
pub use so3::So3;
pub use tangent::{Tangent, spin};
pub use vectorial::{MapKind, Reading, Vectorial};

use crate::body::{FiniteDerivative, Kinematics, Wrench};
use crate::scalar::{Dual, Mask, Over, Real};
use crate::solve::{Factor, Lu};
use core::fmt::Debug;
use core::ops::{Add, Mul, Neg, Sub};
use nalgebra::{SVector, Vector3};

/// A fixed number of coordinates with vector arithmetic: what generic code may do with an `SVector`.
pub trait Coordinates<S: Real>:
    Copy
    + Debug
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<S, Output = Self>
{
    /// How many coordinates.
    const LEN: usize;
    /// How many passes it takes to have the derivatives with respect to all coordinates, see [`Jet`].
    const PASSES: usize = Self::LEN.div_ceil(3);
    /// A factored square matrix of this size.
    type Factor: Factor<S, Self>;
    /// The vector with coordinates `f(0), f(1), …`.
    fn generate(f: impl FnMut(usize) -> S) -> Self;
    /// Coordinate `i`.
    fn at(&self, i: usize) -> S;
    /// The zero vector.
    #[inline(always)]
    fn origin() -> Self {
        Self::generate(|_| S::zero())
    }
    /// The inner product.
    #[inline(always)]
    fn inner(&self, other: &Self) -> S {
        let mut sum = self.at(0) * other.at(0);
        for i in 1..Self::LEN {
            sum += self.at(i) * other.at(i);
        }
        sum
    }
    /// The Euclidean norm.
    #[inline(always)]
    fn length(&self) -> S {
        self.inner(self).sqrt()
    }
    /// Lane by lane, `a` where the mask is true and `b` elsewhere.
    #[inline(always)]
    fn choose(mask: S::Mask, a: &Self, b: &Self) -> Self {
        if mask.all() { *a } else { Self::generate(|i| S::select(mask, a.at(i), b.at(i))) }
    }
}

impl<S: Real, const N: usize> Coordinates<S> for SVector<S, N> {
    const LEN: usize = N;
    type Factor = Lu<S, N>;
    #[inline(always)]
    fn generate(mut f: impl FnMut(usize) -> S) -> Self {
        SVector::from_fn(|i, _| f(i))
    }
    #[inline(always)]
    fn at(&self, i: usize) -> S {
        self[i]
    }
}

/// The scalar that carries the derivatives with respect to three coordinates. What depends on more takes several passes:
/// then the code of every formula is compiled for one number of derivatives only.
pub type Jet<S> = Dual<S, 3>;

/// `x` with the derivatives with respect to the coordinates 3 pass, 3 pass + 1 and 3 pass + 2.
#[inline(always)]
pub fn seeded<S: Real, A: Coordinates<S>, B: Coordinates<Jet<S>>>(x: &A, pass: usize) -> B {
    let one = |at: bool| S::lift(if at { 1.0 } else { 0.0 });
    B::generate(|i| Dual { re: x.at(i), eps: core::array::from_fn(|k| one(i == 3 * pass + k)) })
}

/// `v` with every coordinate as a constant of the richer scalar `T`.
#[inline(always)]
pub fn lift<S: Real, T: Over<S>, A: Coordinates<S>, B: Coordinates<T>>(v: &A) -> B {
    B::generate(|i| T::of(v.at(i)))
}

/// The unit vector along coordinate `j`.
#[inline(always)]
pub fn unit<S: Real, V: Coordinates<S>>(j: usize) -> V {
    V::generate(|i| if i == j { S::one() } else { S::zero() })
}

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
    /// The inertia of a body, about its reference point and in its axes.
    type Inertia<S: Real>: Copy + Debug + Send + Sync;

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
    /// The derivative of `transport(x, M x)` with respect to x_j.
    #[inline(always)]
    fn transport_slope<S: Real>(
        inertia: &Self::Inertia<S>,
        x: &Self::Vector<S>,
        j: usize,
    ) -> Self::Vector<S> {
        let unit = unit::<S, Self::Vector<S>>(j);
        Self::transport(&unit, &Self::momentum(inertia, x))
            + Self::transport(x, &Self::momentum(inertia, &unit))
    }
    /// The bracket of two velocities: a × b on SO(3).
    fn bracket<S: Real>(a: &Self::Vector<S>, b: &Self::Vector<S>) -> Self::Vector<S>;

    /// P = M V.
    fn momentum<S: Real>(inertia: &Self::Inertia<S>, v: &Self::Vector<S>) -> Self::Vector<S>;
    /// V = M⁻¹ P.
    fn velocity<S: Real>(inertia: &Self::Inertia<S>, p: &Self::Vector<S>) -> Self::Vector<S>;
    /// The inertia with every number as a constant of `T`.
    fn lift_inertia<S: Real, T: Over<S>>(inertia: &Self::Inertia<S>) -> Self::Inertia<T>;

    /// A length to compare linear with angular velocities: that of the body or, where larger, of its motion
    /// (up to a limit). One on SO(3).
    fn length<S: Real>(inertia: &Self::Inertia<S>, v: &Self::Vector<S>) -> S;
    /// The size of a velocity in rad/s: the sum of magnitudes, linear ones divided by `length`.
    fn size<S: Real>(length: S, v: &Self::Vector<S>) -> S;

    /// What a load may know of the motion.
    fn kinematics<S: Real>(t: S, pose: &Self::Pose<S>, v: &Self::Vector<S>) -> Kinematics<S>;
    /// The part of a wrench that works on this group.
    fn covector<S: Real>(wrench: &Wrench<S>) -> Self::Vector<S>;
    /// The load of a step with the parameters `psi` of the map between two poses, in the frame of the first, whose work
    /// ψ·A is that of the forces -g, the change of a potential with this finite derivative, taken out of the motion;
    /// and the loads without a potential, as they are.
    fn step_load<M: Map, S: Real>(
        map: M,
        psi: &Self::Vector<S>,
        poses: [&Self::Pose<S>; 2],
        g: &FiniteDerivative<S>,
    ) -> Self::Vector<S>;
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
    /// The inertia computed anew in the scalar `T`, for scalars with more digits than `S`.
    fn recompute_inertia<S: Real, T: Over<S>>(inertia: &Self::Inertia<S>) -> Self::Inertia<T>;
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
