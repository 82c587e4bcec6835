//! SO(3): attitudes, body angular velocities, body angular momenta.

use super::{Coefficients, Coordinates, Group, Map, Rotation, Transferable, Turn};
use crate::scalar::{Over, Real, called, cross};
use nalgebra::{SVector, Vector3};

/// The rotation group: a body that turns about a fixed point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct So3;

/// H(-p) x, the body tangent of the map at p.
#[inline(always)]
pub(super) fn tangent<M: Map, S: Real>(map: M, p: &Vector3<S>, x: &Vector3<S>) -> Vector3<S> {
    let s = p.dot(p);
    apply(&map.coefficients(s), s, p, x)
}

/// The same with the coefficients at hand.
#[inline(always)]
pub(super) fn apply<S: Real>(
    coefficients: &Coefficients<S>,
    s: S,
    p: &Vector3<S>,
    x: &Vector3<S>,
) -> Vector3<S> {
    let Coefficients { w, k, c } = *coefficients;
    called!(S, 64, {
        let px = cross(p, x);
        let z2 = S::lift(2.0) * k * k;
        x.scaled(S::lift(2.0) * w * k + c * s) - px.scaled(z2) + cross(p, &px).scaled(c)
    })
}

/// H(-p)⁻¹ x.
#[inline(always)]
pub(super) fn tangent_inverse<M: Map, S: Real>(map: M, p: &Vector3<S>, x: &Vector3<S>) -> Vector3<S> {
    apply_inverse(map.inverse_coefficients(p.dot(p)), p, x)
}

/// The same with the coefficients at hand.
#[inline(always)]
pub(super) fn apply_inverse<S: Real>((along, across): (S, S), p: &Vector3<S>, x: &Vector3<S>) -> Vector3<S> {
    called!(S, 64, {
        let px = cross(p, x);
        x.scaled(along) + px.scaled(S::lift(0.5)) + cross(p, &px).scaled(across)
    })
}

/// |x| + |y| + |z|.
#[inline(always)]
pub(crate) fn total<S: Real>(x: &Vector3<S>) -> S {
    x[0].abs() + x[1].abs() + x[2].abs()
}

impl Group for So3 {
    const NAME: &'static str = "so3";
    type Vector<S: Real> = Vector3<S>;
    type Pair<S: Real> = SVector<S, 6>;
    type Frame<S: Real> = SVector<S, 18>;
    type Pose<S: Real> = Rotation<S>;
    type Increment<S: Real> = Turn<S>;

    #[inline(always)]
    fn identity<S: Real>() -> Rotation<S> {
        Rotation::identity()
    }
    #[inline(always)]
    fn compose<S: Real>(a: &Rotation<S>, b: &Rotation<S>) -> Rotation<S> {
        a.compose(b)
    }
    #[inline(always)]
    fn inverse<S: Real>(a: &Rotation<S>) -> Rotation<S> {
        a.inverse()
    }
    #[inline(always)]
    fn normalized<S: Real>(a: &Rotation<S>) -> Rotation<S> {
        a.normalized()
    }
    #[inline(always)]
    fn lift_pose<S: Real, T: Over<S>>(a: &Rotation<S>) -> Rotation<T> {
        a.lift()
    }
    #[inline(always)]
    fn choose_pose<S: Real>(mask: S::Mask, a: &Rotation<S>, b: &Rotation<S>) -> Rotation<S> {
        Rotation::choose(mask, a, b)
    }
    #[inline(always)]
    fn is_finite<S: Real>(a: &Rotation<S>) -> S::Mask {
        (a.w.abs() + total(&a.v)).is_finite()
    }
    fn distance<S: Real>(a: &Rotation<S>, b: &Rotation<S>) -> (S, S) {
        (a.distance(b), S::zero())
    }
    #[inline(always)]
    fn increment<M: Map, S: Real>(map: M, psi: &Vector3<S>) -> Turn<S> {
        Turn::from_parameters(map, psi)
    }
    #[inline(always)]
    fn advance<S: Real>(pose: &Rotation<S>, step: &Turn<S>) -> Rotation<S> {
        pose.advance(step)
    }
    fn parameters<M: Map, S: Real>(map: M, a: &Rotation<S>) -> Vector3<S> {
        map.parameters(a)
    }
    #[inline(always)]
    fn tangent<M: Map, S: Real>(map: M, psi: &Vector3<S>, rate: &Vector3<S>) -> Vector3<S> {
        tangent(map, psi, rate)
    }
    #[inline(always)]
    fn tangent_inverse<M: Map, S: Real>(map: M, psi: &Vector3<S>, v: &Vector3<S>) -> Vector3<S> {
        tangent_inverse(map, psi, v)
    }
    #[inline(always)]
    fn transfer<S: Real, F: Transferable<S>>(f: &F, x: [&Vector3<S>; 3]) -> [Vector3<S>; 2] {
        f.at(x.map(|x| *x))
    }
    #[inline(always)]
    fn pull<S: Real>(step: &Turn<S>, p: &Vector3<S>) -> Vector3<S> {
        step.unrotate(p)
    }
    #[inline(always)]
    fn push<S: Real>(step: &Turn<S>, p: &Vector3<S>) -> Vector3<S> {
        step.rotate(p)
    }
    #[inline(always)]
    fn half<M: Map, S: Real>(map: M, psi: &Vector3<S>, _whole: &Turn<S>) -> Turn<S> {
        Turn::half(map, psi)
    }
    #[inline(always)]
    fn pull_velocity<S: Real>(step: &Turn<S>, v: &Vector3<S>) -> Vector3<S> {
        step.unrotate(v)
    }
    #[inline(always)]
    fn push_velocity<S: Real>(step: &Turn<S>, v: &Vector3<S>) -> Vector3<S> {
        step.rotate(v)
    }
    #[inline(always)]
    fn to_space<S: Real>(pose: &Rotation<S>, p: &Vector3<S>) -> Vector3<S> {
        pose.rotate(p)
    }
    #[inline(always)]
    fn transport<S: Real>(v: &Vector3<S>, p: &Vector3<S>) -> Vector3<S> {
        cross(p, v)
    }
    /// Column j of ỹ H(-p) = z₁ ỹ - z₂ (p yᵀ - (p·y) 1) + c (y × p) pᵀ.
    #[inline(always)]
    fn pull_slope<M: Map, S: Real>(map: M, p: &Vector3<S>, y: &Vector3<S>, j: usize) -> Vector3<S> {
        let Coefficients { w, k, c } = map.coefficients(p.dot(p));
        let (k2, (a, b)) = (k + k, ((j + 1) % 3, (j + 2) % 3));
        let (z1, z2) = (w * k2, k * k2);
        let mut slope = p * -(z2 * y[j]);
        if !map.c_is_zero() {
            slope += cross(y, p) * (c * p[j]);
        }
        slope[j] += z2 * p.dot(y);
        slope[a] += z1 * y[b];
        slope[b] -= z1 * y[a];
        slope
    }
    #[inline(always)]
    fn bracket<S: Real>(a: &Vector3<S>, b: &Vector3<S>) -> Vector3<S> {
        cross(a, b)
    }
    const MOVES: bool = false;
    #[inline(always)]
    fn angular<S: Real>(v: &Vector3<S>) -> Vector3<S> {
        *v
    }
    #[inline(always)]
    fn linear<S: Real>(_v: &Vector3<S>) -> Vector3<S> {
        Vector3::new(S::zero(), S::zero(), S::zero())
    }
    #[inline(always)]
    fn vector<S: Real>(_linear: &Vector3<S>, angular: &Vector3<S>) -> Vector3<S> {
        *angular
    }
    #[inline(always)]
    fn pose<S: Real>(attitude: &Rotation<S>, _position: &Vector3<S>) -> Rotation<S> {
        *attitude
    }
}
