//! SE(3): poses, body twists {v, Ω}, body momenta {p, Π}, all about the body's reference point.
//!
//! SE(3) is SO(3) at a dual number (transference): with the parameters p + ε q the rotation code yields R and
//! u = H(p) q, and the tangents of the map act on Ω + ε v (Bauchau et al. 2013, section 4, dual reading).

use super::{Group, Map, Rotation, Turn, so3};
use crate::body::{Kinematics, SpatialInertia, Wrench};
use crate::scalar::{Dual, Over, Real};
use nalgebra::{SVector, Vector3};

/// The motion group: a body that is free to move and turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Se3;

/// A pose: attitude R (body to space) and position u of the reference point in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<S> {
    /// Attitude, body to space.
    pub attitude: Rotation<S>,
    /// Position of the reference point, in space.
    pub position: Vector3<S>,
}

/// A motion over a step: a turn and the displacement of the reference point, in the frame it starts from.
#[derive(Clone, Copy, Debug)]
pub struct Screw<S> {
    /// The turn.
    pub turn: Turn<S>,
    /// The displacement.
    pub displacement: Vector3<S>,
}

type Six<S> = SVector<S, 6>;

/// The linear and the angular part.
#[inline(always)]
fn parts<S: Real>(x: &Six<S>) -> (Vector3<S>, Vector3<S>) {
    (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]))
}
#[inline(always)]
fn stack<S: Real>(linear: &Vector3<S>, angular: &Vector3<S>) -> Six<S> {
    Six::from_fn(|i, _| if i < 3 { linear[i] } else { angular[i - 3] })
}
/// Angular + ε linear.
#[inline(always)]
fn to_dual<S: Real>(x: &Six<S>) -> Vector3<Dual<S, 1>> {
    Vector3::from_fn(|i, _| Dual { re: x[3 + i], eps: [x[i]] })
}
#[inline(always)]
fn from_dual<S: Real>(x: &Vector3<Dual<S, 1>>) -> Six<S> {
    Six::from_fn(|i, _| if i < 3 { x[i].eps[0] } else { x[i - 3].re })
}

impl Group for Se3 {
    const NAME: &'static str = "se3";
    type Vector<S: Real> = Six<S>;
    type Pair<S: Real> = SVector<S, 12>;
    type Pose<S: Real> = Motion<S>;
    type Increment<S: Real> = Screw<S>;
    type Inertia<S: Real> = SpatialInertia<S>;

    fn identity<S: Real>() -> Motion<S> {
        Motion { attitude: Rotation::identity(), position: Vector3::new(S::zero(), S::zero(), S::zero()) }
    }
    #[inline(always)]
    fn compose<S: Real>(a: &Motion<S>, b: &Motion<S>) -> Motion<S> {
        Motion {
            attitude: a.attitude.compose(&b.attitude),
            position: a.position + a.attitude.rotate(&b.position),
        }
    }
    #[inline(always)]
    fn inverse<S: Real>(a: &Motion<S>) -> Motion<S> {
        Motion { attitude: a.attitude.inverse(), position: -a.attitude.unrotate(&a.position) }
    }
    #[inline(always)]
    fn normalized<S: Real>(a: &Motion<S>) -> Motion<S> {
        Motion { attitude: a.attitude.normalized(), position: a.position }
    }
    #[inline(always)]
    fn lift_pose<S: Real, T: Over<S>>(a: &Motion<S>) -> Motion<T> {
        Motion { attitude: a.attitude.lift(), position: a.position.map(T::of) }
    }
    #[inline(always)]
    fn choose_pose<S: Real>(mask: S::Mask, a: &Motion<S>, b: &Motion<S>) -> Motion<S> {
        Motion {
            attitude: Rotation::choose(mask, &a.attitude, &b.attitude),
            position: Vector3::from_fn(|i, _| S::select(mask, a.position[i], b.position[i])),
        }
    }
    #[inline(always)]
    fn is_finite<S: Real>(a: &Motion<S>) -> S::Mask {
        (a.attitude.w.abs() + so3::total(&a.attitude.v) + so3::total(&a.position)).is_finite()
    }
    fn distance<S: Real>(a: &Motion<S>, b: &Motion<S>) -> (S, S) {
        let d = a.position - b.position;
        (a.attitude.distance(&b.attitude), d.dot(&d).sqrt())
    }
    #[inline(always)]
    fn increment<M: Map, S: Real>(psi: &Six<S>) -> Screw<S> {
        let (q, p) = parts(psi);
        // The spatial tangent H(p) is the body tangent at -p.
        Screw { turn: Turn::from_parameters::<M>(&p), displacement: so3::tangent::<M, S>(&-p, &q) }
    }
    #[inline(always)]
    fn advance<S: Real>(pose: &Motion<S>, step: &Screw<S>) -> Motion<S> {
        Motion {
            attitude: pose.attitude.advance(&step.turn),
            position: pose.position + pose.attitude.rotate(&step.displacement),
        }
    }
    fn parameters<M: Map, S: Real>(a: &Motion<S>) -> Six<S> {
        let p = M::parameters(&a.attitude);
        stack(&so3::tangent_inverse::<M, S>(&-p, &a.position), &p)
    }
    #[inline(always)]
    fn tangent<M: Map, S: Real>(psi: &Six<S>, rate: &Six<S>) -> Six<S> {
        from_dual(&so3::tangent::<M, Dual<S, 1>>(&to_dual(psi), &to_dual(rate)))
    }
    #[inline(always)]
    fn tangent_inverse<M: Map, S: Real>(psi: &Six<S>, v: &Six<S>) -> Six<S> {
        from_dual(&so3::tangent_inverse::<M, Dual<S, 1>>(&to_dual(psi), &to_dual(v)))
    }
    #[inline(always)]
    fn pull<S: Real>(step: &Screw<S>, p: &Six<S>) -> Six<S> {
        let (f, m) = parts(p);
        stack(&step.turn.unrotate(&f), &step.turn.unrotate(&(m - step.displacement.cross(&f))))
    }
    #[inline(always)]
    fn push<S: Real>(step: &Screw<S>, p: &Six<S>) -> Six<S> {
        let (f, m) = parts(p);
        let f = step.turn.rotate(&f);
        stack(&f, &(step.turn.rotate(&m) + step.displacement.cross(&f)))
    }
    #[inline(always)]
    fn to_space<S: Real>(pose: &Motion<S>, p: &Six<S>) -> Six<S> {
        let (f, m) = parts(p);
        let f = pose.attitude.rotate(&f);
        stack(&f, &(pose.attitude.rotate(&m) + pose.position.cross(&f)))
    }
    #[inline(always)]
    fn transport<S: Real>(v: &Six<S>, p: &Six<S>) -> Six<S> {
        let ((linear, omega), (f, m)) = (parts(v), parts(p));
        stack(&f.cross(&omega), &(f.cross(&linear) + m.cross(&omega)))
    }
    #[inline(always)]
    fn bracket<S: Real>(a: &Six<S>, b: &Six<S>) -> Six<S> {
        let ((va, wa), (vb, wb)) = (parts(a), parts(b));
        stack(&(wa.cross(&vb) + va.cross(&wb)), &wa.cross(&wb))
    }
    #[inline(always)]
    fn momentum<S: Real>(inertia: &SpatialInertia<S>, v: &Six<S>) -> Six<S> {
        let (linear, omega) = parts(v);
        let p = (linear + omega.cross(&inertia.center)) * inertia.mass;
        stack(&p, &(inertia.matrix.times(&omega) + inertia.center.cross(&p)))
    }
    #[inline(always)]
    fn velocity<S: Real>(inertia: &SpatialInertia<S>, momentum: &Six<S>) -> Six<S> {
        let (p, h) = parts(momentum);
        let omega = inertia.inverse.times(&(h - inertia.center.cross(&p)));
        stack(&(p * inertia.mass.recip() - omega.cross(&inertia.center)), &omega)
    }
    #[inline(always)]
    fn lift_inertia<S: Real, T: Over<S>>(inertia: &SpatialInertia<S>) -> SpatialInertia<T> {
        SpatialInertia {
            mass: T::of(inertia.mass),
            center: inertia.center.map(T::of),
            matrix: inertia.matrix.lift(),
            inverse: inertia.inverse.lift(),
        }
    }
    fn length<S: Real>(inertia: &SpatialInertia<S>, v: &Six<S>) -> S {
        let (linear, omega) = parts(v);
        let gyration = (inertia.matrix.matrix().trace() / inertia.mass).sqrt() + so3::total(&inertia.center);
        let (fast, turn) = (so3::total(&linear), so3::total(&omega));
        // A body that flies much faster than it turns must still turn accurately; but not beyond all bounds, or
        // the round-off of an angular velocity that should be zero would count.
        let limit = gyration * S::lift(1e4);
        let ratio = fast / (turn + fast * limit.recip() + S::lift(f64::MIN_POSITIVE));
        gyration + ratio
    }
    #[inline(always)]
    fn size<S: Real>(length: S, v: &Six<S>) -> S {
        let (linear, omega) = parts(v);
        so3::total(&omega) + so3::total(&linear) / length
    }
    #[inline(always)]
    fn kinematics<S: Real>(t: S, pose: &Motion<S>, v: &Six<S>) -> Kinematics<S> {
        let (linear, omega) = parts(v);
        Kinematics {
            time: t,
            attitude: pose.attitude,
            position: pose.position,
            velocity_body: linear,
            omega_body: omega,
        }
    }
    #[inline(always)]
    fn covector<S: Real>(wrench: &Wrench<S>) -> Six<S> {
        stack(&wrench.force_body, &wrench.moment_body)
    }
    const MOVES: bool = true;
    #[inline(always)]
    fn angular<S: Real>(v: &Six<S>) -> Vector3<S> {
        parts(v).1
    }
    #[inline(always)]
    fn linear<S: Real>(v: &Six<S>) -> Vector3<S> {
        parts(v).0
    }
    #[inline(always)]
    fn vector<S: Real>(linear: &Vector3<S>, angular: &Vector3<S>) -> Six<S> {
        stack(linear, angular)
    }
    #[inline(always)]
    fn pose<S: Real>(attitude: &Rotation<S>, position: &Vector3<S>) -> Motion<S> {
        Motion { attitude: *attitude, position: *position }
    }
    fn recompute_inertia<S: Real, T: Over<S>>(inertia: &SpatialInertia<S>) -> SpatialInertia<T> {
        let (mass, center) = (T::of(inertia.mass), inertia.center.map(T::of));
        SpatialInertia::unchecked(mass, center, inertia.matrix.matrix().map(T::of))
    }
}
