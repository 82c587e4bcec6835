//! SE(3): poses, body twists {v, Ω}, body momenta {p, Π}, all about the body's reference point.
//!
//! SE(3) is SO(3) at a dual number (transference): with the parameters p + ε q the rotation code yields R and
//! u = H(p) q, and the tangents of the map act on Ω + ε v (Bauchau et al. 2013, section 4, dual reading).

use super::{Coefficients, Coordinates, Group, Map, Rotation, Transferable, Turn, so3};
use crate::scalar::{Dual, Over, Real, called, cross};
use nalgebra::{SVector, Vector3};

/// The motion group: a body that is free to move and turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// a + ε b.
#[inline(always)]
fn along<S: Real>(a: &Vector3<S>, b: &Vector3<S>) -> Vector3<Dual<S, 1>> {
    Vector3::from_fn(|i, _| Dual { re: a[i], eps: [b[i]] })
}
/// The coefficients of N(p) in u = N(p) q at s = p·p: those of H unless the map reads its parameters otherwise.
#[inline(always)]
pub(crate) fn displacing<M: Map, S: Real>(map: M, s: S) -> Coefficients<S> {
    let tangent = map.coefficients(s);
    match map.displacement_c(s) {
        Some(c) => Coefficients { c, ..tangent },
        None => tangent,
    }
}
/// u = N(p) q.
#[inline(always)]
fn displacement<M: Map, S: Real>(map: M, p: &Vector3<S>, q: &Vector3<S>) -> Vector3<S> {
    let s = p.dot(p);
    // The spatial tangent H(p) is the body tangent at -p.
    so3::apply(&displacing(map, s), s, &-p, q)
}
/// q = N(p)⁻¹ u.
#[inline(always)]
fn displacement_inverse<M: Map, S: Real>(map: M, p: &Vector3<S>, u: &Vector3<S>) -> Vector3<S> {
    let s = p.dot(p);
    let inverse = match map.displacement_c(s) {
        Some(_) => displacing(map, s).inverse(s),
        None => map.inverse_coefficients(s),
    };
    so3::apply_inverse(inverse, &-p, u)
}

impl Group for Se3 {
    const NAME: &'static str = "se3";
    type Vector<S: Real> = Six<S>;
    type Pair<S: Real> = SVector<S, 12>;
    type Frame<S: Real> = SVector<S, 24>;
    type Pose<S: Real> = Motion<S>;
    type Increment<S: Real> = Screw<S>;

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
    fn increment<M: Map, S: Real>(map: M, psi: &Six<S>) -> Screw<S> {
        called!(S, 32, {
            let (q, p) = parts(psi);
            Screw { turn: Turn::from_parameters(map, &p), displacement: displacement(map, &p, &q) }
        })
    }
    #[inline(always)]
    fn advance<S: Real>(pose: &Motion<S>, step: &Screw<S>) -> Motion<S> {
        called!(S, 32, {
            Motion {
                attitude: pose.attitude.advance(&step.turn),
                position: pose.position + pose.attitude.rotate(&step.displacement),
            }
        })
    }
    fn parameters<M: Map, S: Real>(map: M, a: &Motion<S>) -> Six<S> {
        let p = map.parameters(&a.attitude);
        stack(&displacement_inverse(map, &p, &a.position), &p)
    }
    #[inline(always)]
    fn tangent<M: Map, S: Real>(map: M, psi: &Six<S>, rate: &Six<S>) -> Six<S> {
        if map.is_linear() {
            return rate - Self::bracket(psi, rate) * S::lift(0.5);
        }
        if map.displacement_c(S::zero()).is_none() {
            return called!(S, 32, from_dual(&so3::tangent(map, &to_dual(psi), &to_dual(rate))));
        }
        let (q, p) = parts(psi);
        let (dq, dp) = parts(rate);
        let moving: Vector3<Dual<S, 1>> = displacement(map, &along(&p, &dp), &along(&q, &dq));
        let linear = Turn::from_parameters(map, &p).unrotate(&moving.map(|x| x.eps[0]));
        stack(&linear, &so3::tangent(map, &p, &dp))
    }
    #[inline(always)]
    fn tangent_inverse<M: Map, S: Real>(map: M, psi: &Six<S>, v: &Six<S>) -> Six<S> {
        if map.displacement_c(S::zero()).is_none() {
            return called!(S, 32, from_dual(&so3::tangent_inverse(map, &to_dual(psi), &to_dual(v))));
        }
        let (q, p) = parts(psi);
        let (linear, omega) = parts(v);
        let dp = so3::tangent_inverse(map, &p, &omega);
        // What is left of the rate of the displacement is N(p) dq.
        let turning: Vector3<Dual<S, 1>> = displacement(map, &along(&p, &dp), &q.map(Dual::constant));
        let left = Turn::from_parameters(map, &p).rotate(&linear) - turning.map(|x| x.eps[0]);
        stack(&displacement_inverse(map, &p, &left), &dp)
    }
    #[inline(always)]
    fn transfer<S: Real, F: Transferable<S>>(f: &F, x: [&Six<S>; 3]) -> [Six<S>; 2] {
        f.at(x.map(to_dual)).map(|y| from_dual(&y))
    }
    #[inline(always)]
    fn pull<S: Real>(step: &Screw<S>, p: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let (f, m) = parts(p);
            stack(&step.turn.unrotate(&f), &step.turn.unrotate(&(m - cross(&step.displacement, &f))))
        })
    }
    #[inline(always)]
    fn push<S: Real>(step: &Screw<S>, p: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let (f, m) = parts(p);
            let f = step.turn.rotate(&f);
            stack(&f, &(step.turn.rotate(&m) + cross(&step.displacement, &f)))
        })
    }
    #[inline(always)]
    fn half<M: Map, S: Real>(map: M, psi: &Six<S>, whole: &Screw<S>) -> Screw<S> {
        let turn = Turn::half(map, &parts(psi).1);
        // u = (I + R) u_half, and (I + R)⁻¹ = (I - g̃)/2 with g the tangent of half the angle of R along its axis.
        let u = &whole.displacement;
        Screw { turn, displacement: (u - cross(&turn.half_tangent(), u)).scaled(S::lift(0.5)) }
    }
    #[inline(always)]
    fn pull_velocity<S: Real>(step: &Screw<S>, v: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let (linear, omega) = parts(v);
            stack(
                &step.turn.unrotate(&(linear + cross(&omega, &step.displacement))),
                &step.turn.unrotate(&omega),
            )
        })
    }
    #[inline(always)]
    fn push_velocity<S: Real>(step: &Screw<S>, v: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let (linear, omega) = parts(v);
            let omega = step.turn.rotate(&omega);
            stack(&(step.turn.rotate(&linear) + cross(&step.displacement, &omega)), &omega)
        })
    }
    #[inline(always)]
    fn to_space<S: Real>(pose: &Motion<S>, p: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let (f, m) = parts(p);
            let f = pose.attitude.rotate(&f);
            stack(&f, &(pose.attitude.rotate(&m) + cross(&pose.position, &f)))
        })
    }
    #[inline(always)]
    fn transport<S: Real>(v: &Six<S>, p: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let ((linear, omega), (f, m)) = (parts(v), parts(p));
            stack(&cross(&f, &omega), &(cross(&f, &linear) + cross(&m, &omega)))
        })
    }
    #[inline(always)]
    fn bracket<S: Real>(a: &Six<S>, b: &Six<S>) -> Six<S> {
        called!(S, 32, {
            let ((va, wa), (vb, wb)) = (parts(a), parts(b));
            stack(&(cross(&wa, &vb) + cross(&va, &wb)), &cross(&wa, &wb))
        })
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
}
