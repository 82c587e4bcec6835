//! Mechanics on the groups of rigid motions: inertias, momenta, what loads see and what they do.

use super::{FiniteDerivative, Kinematics, RotaryInertia, SpatialInertia, Wrench};
use crate::group::{
    Coefficients, Coordinates, Group, Map, Motion, Rotation, Se3, So3, displacing, total, unit,
};
use crate::scalar::{Over, Real, called, cross};
use core::fmt::Debug;
use nalgebra::{Matrix3, SVector, Vector3};

/// A group of rigid motions with the mechanics of a body on it, left-trivialised: momenta live in the body frame.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::{body::{Dynamics, RotaryInertia}, group::So3};
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
/// let momentum = So3::momentum(&inertia, &Vector3::new(1.0, 1.0, 2.0));
/// assert_eq!(momentum, Vector3::new(1.0, 2.0, 5.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Dynamics: Group {
    /// The inertia of a body, about its reference point and in its axes.
    type Inertia<S: Real>: Copy + Debug + Send + Sync;

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
    /// P = M V.
    fn momentum<S: Real>(inertia: &Self::Inertia<S>, v: &Self::Vector<S>) -> Self::Vector<S>;
    /// V = M⁻¹ P.
    fn velocity<S: Real>(inertia: &Self::Inertia<S>, p: &Self::Vector<S>) -> Self::Vector<S>;
    /// The inertia with every number as a constant of `T`.
    fn lift_inertia<S: Real, T: Over<S>>(inertia: &Self::Inertia<S>) -> Self::Inertia<T>;

    /// Several inertias as one, whose numbers are made of theirs.
    fn inertia_of_each<S: Real, T: Real>(
        each: &[&Self::Inertia<S>],
        number: &dyn Fn(&[S]) -> T,
    ) -> Self::Inertia<T>;

    /// A length to compare linear with angular velocities: that of the body or, where larger, of its motion
    /// (up to a limit). One on SO(3).
    fn length<S: Real>(inertia: &Self::Inertia<S>, v: &Self::Vector<S>) -> S;
    /// The size of a velocity in rad/s: the sum of magnitudes, linear ones divided by `length`.
    fn size<S: Real>(length: S, v: &Self::Vector<S>) -> S;
    /// What each coordinate of a velocity counts in that.
    fn weights<S: Real>(length: S) -> Self::Vector<S>;

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
    /// The inertia computed anew in the scalar `T`, for scalars with more digits than `S`.
    fn recompute_inertia<S: Real, T: Over<S>>(inertia: &Self::Inertia<S>) -> Self::Inertia<T>;
}

/// The moment of forces at the base vectors over a step with the parameters p, see [`Dynamics::step_load`]: in space, for the
/// forces -g by columns.
///
/// With R - 1 = z₁ p̃ + z₂ p̃p̃ = (R + 1)/2 p̃ 2k/w for every map, the work -Σ g_j·Δq_j is p·m for m = -2k/w Σ q̄_j × g_j,
/// where q̄_j is the mean of the base vector. The mean of the attitudes as they are, rounded: their potential counts.
#[inline(always)]
fn step_moment<M: Map, S: Real>(
    map: M,
    p: &Vector3<S>,
    attitudes: [&Rotation<S>; 2],
    g: &Matrix3<S>,
) -> Vector3<S> {
    let Coefficients { w, k, .. } = map.coefficients(p.dot(p));
    let twice = attitudes[0].matrix() + attitudes[1].matrix();
    let mut sum = Vector3::new(S::zero(), S::zero(), S::zero());
    for j in 0..3 {
        let column = |m: &Matrix3<S>| Vector3::new(m[(0, j)], m[(1, j)], m[(2, j)]);
        sum += cross(&column(g), &column(&twice));
    }
    sum * (k / w)
}

impl Dynamics for So3 {
    type Inertia<S: Real> = RotaryInertia<S>;

    /// (M x) × e_j + (M e_j) × x, without what the zeros of e_j would be multiplied with.
    #[inline(always)]
    fn transport_slope<S: Real>(inertia: &RotaryInertia<S>, x: &Vector3<S>, j: usize) -> Vector3<S> {
        let (a, b) = ((j + 1) % 3, (j + 2) % 3);
        let p = inertia.matrix.times(x);
        let mut slope = inertia.matrix.column_cross(j, x);
        slope[a] += p[b];
        slope[b] -= p[a];
        slope
    }
    #[inline(always)]
    fn momentum<S: Real>(inertia: &RotaryInertia<S>, v: &Vector3<S>) -> Vector3<S> {
        inertia.matrix.times(v)
    }
    #[inline(always)]
    fn velocity<S: Real>(inertia: &RotaryInertia<S>, p: &Vector3<S>) -> Vector3<S> {
        inertia.inverse.times(p)
    }
    #[inline(always)]
    fn lift_inertia<S: Real, T: Over<S>>(inertia: &RotaryInertia<S>) -> RotaryInertia<T> {
        inertia.lift()
    }
    fn inertia_of_each<S: Real, T: Real>(
        each: &[&RotaryInertia<S>],
        number: &dyn Fn(&[S]) -> T,
    ) -> RotaryInertia<T> {
        RotaryInertia::of_each(each, number)
    }
    #[inline(always)]
    fn length<S: Real>(_inertia: &RotaryInertia<S>, _v: &Vector3<S>) -> S {
        S::one()
    }
    #[inline(always)]
    fn size<S: Real>(_length: S, v: &Vector3<S>) -> S {
        total(v)
    }
    #[inline(always)]
    fn weights<S: Real>(_length: S) -> Vector3<S> {
        Vector3::new(S::one(), S::one(), S::one())
    }
    #[inline(always)]
    fn kinematics<S: Real>(t: S, pose: &Rotation<S>, v: &Vector3<S>) -> Kinematics<S> {
        let zero = Vector3::new(S::zero(), S::zero(), S::zero());
        Kinematics {
            time: t,
            attitude: *pose,
            position: zero,
            velocity_body: zero,
            omega_body: *v,
            inward: 0.0,
        }
    }
    #[inline(always)]
    fn covector<S: Real>(wrench: &Wrench<S>) -> Vector3<S> {
        wrench.moment_body
    }
    #[inline(always)]
    fn step_load<M: Map, S: Real>(
        map: M,
        psi: &Vector3<S>,
        poses: [&Rotation<S>; 2],
        g: &FiniteDerivative<S>,
    ) -> Vector3<S> {
        poses[0].unrotate(&(step_moment(map, psi, poses, &g.base) + g.moment))
    }
    fn recompute_inertia<S: Real, T: Over<S>>(inertia: &RotaryInertia<S>) -> RotaryInertia<T> {
        RotaryInertia::unchecked(inertia.matrix.matrix().map(T::of))
    }
}

type Six<S> = SVector<S, 6>;

impl Dynamics for Se3 {
    type Inertia<S: Real> = SpatialInertia<S>;

    #[inline(always)]
    fn momentum<S: Real>(inertia: &SpatialInertia<S>, v: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let (linear, omega) = (Self::linear(v), Self::angular(v));
            let p = (linear + cross(&omega, &inertia.center)).scaled(inertia.mass);
            Self::vector(&p, &(inertia.matrix.times(&omega) + cross(&inertia.center, &p)))
        })
    }
    #[inline(always)]
    fn velocity<S: Real>(inertia: &SpatialInertia<S>, momentum: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let (p, h) = (Self::linear(momentum), Self::angular(momentum));
            let omega = inertia.inverse.times(&(h - cross(&inertia.center, &p)));
            Self::vector(&(p.scaled(inertia.mass.recip()) - cross(&omega, &inertia.center)), &omega)
        })
    }
    #[inline(always)]
    fn lift_inertia<S: Real, T: Over<S>>(inertia: &SpatialInertia<S>) -> SpatialInertia<T> {
        inertia.lift()
    }
    fn inertia_of_each<S: Real, T: Real>(
        each: &[&SpatialInertia<S>],
        number: &dyn Fn(&[S]) -> T,
    ) -> SpatialInertia<T> {
        SpatialInertia::of_each(each, number)
    }
    fn length<S: Real>(inertia: &SpatialInertia<S>, v: &Six<S>) -> S {
        let (linear, omega) = (Self::linear(v), Self::angular(v));
        let gyration = (inertia.matrix.matrix().trace() / inertia.mass).sqrt() + total(&inertia.center);
        let (fast, turn) = (total(&linear), total(&omega));
        // A body that flies much faster than it turns must still turn accurately; but not beyond all bounds, or
        // the round-off of an angular velocity that should be zero would count.
        let limit = gyration * S::lift(1e4);
        let ratio = fast / (turn + fast * limit.recip() + S::lift(f64::MIN_POSITIVE));
        gyration + ratio
    }
    #[inline(always)]
    fn size<S: Real>(length: S, v: &Six<S>) -> S {
        let (linear, omega) = (Self::linear(v), Self::angular(v));
        total(&omega) + total(&linear) / length
    }
    #[inline(always)]
    fn weights<S: Real>(length: S) -> Six<S> {
        let (one, per) = (S::one(), length.recip());
        Self::vector(&Vector3::new(per, per, per), &Vector3::new(one, one, one))
    }
    #[inline(always)]
    fn kinematics<S: Real>(t: S, pose: &Motion<S>, v: &Six<S>) -> Kinematics<S> {
        let (linear, omega) = (Self::linear(v), Self::angular(v));
        Kinematics {
            time: t,
            attitude: pose.attitude,
            position: pose.position,
            velocity_body: linear,
            omega_body: omega,
            inward: 0.0,
        }
    }
    #[inline(always)]
    fn covector<S: Real>(wrench: &Wrench<S>) -> Six<S> {
        Self::vector(&wrench.force_body, &wrench.moment_body)
    }
    #[inline(always)]
    fn step_load<M: Map, S: Real>(
        map: M,
        psi: &Six<S>,
        poses: [&Motion<S>; 2],
        d: &FiniteDerivative<S>,
    ) -> Six<S> {
        let attitudes = poses.map(|pose| &pose.attitude);
        let unrotate = |x: &Vector3<S>| attitudes[0].unrotate(x);
        let (q, p) = (Self::linear(psi), Self::angular(psi));
        let s = p.dot(&p);
        let f = -unrotate(&d.position);
        let moment = unrotate(&(step_moment(map, &p, attitudes, &d.base) + d.moment));
        // u = N q with N = 1 + z₂ p̃ + c₄ p̃p̃ + (c - c₄) p pᵀ: the force works on q, what it does beyond that on p.
        let (Coefficients { w, k, .. }, c, flat) = (map.coefficients(s), displacing(map, s).c, map.hom4_c(s));
        // Along p the lever does no work. It is half of u there, and the step is its own mirror image: (1/2 - z₂)/s +
        // (c - c₄)/2, with z₂ = 2k², w² + s k² = 1 and c₄ = (1 - 2wk)/s.
        let (axial, square, half) = (p.dot(&q), k * k, S::lift(0.5));
        let g = (square - flat) * half / (k * w);
        let along = square * (half - S::lift(4.0) * g + S::lift(2.0) * g * g * s) + (c - flat) * half;
        let lever = q * (S::lift(2.0) * square) + cross(&p, &q) * flat + p * (along * axial);
        Self::vector(&(f + unrotate(&d.force)), &(moment + cross(&lever, &f) + f * ((c - flat) * axial)))
    }
    fn recompute_inertia<S: Real, T: Over<S>>(inertia: &SpatialInertia<S>) -> SpatialInertia<T> {
        let (mass, center) = (T::of(inertia.mass), inertia.center.map(T::of));
        SpatialInertia::unchecked(mass, center, inertia.matrix.matrix().map(T::of))
    }
}
