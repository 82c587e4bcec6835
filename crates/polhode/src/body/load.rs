//! Loads: what acts on a body, generic in the scalar, with a potential where one exists.
//!
//! A load sees the motion of the body ([`Kinematics`]) and answers with a [`Wrench`] about the body's reference
//! point. The same load works on SO(3), where the reference point is fixed and only the moment counts, and on
//! SE(3).

use super::derivative::FiniteDerivative;
use crate::group::{Exponential, Group, Rotation, So3};
use crate::scalar::{Mask, Over, Real, cross};
use nalgebra::Vector3;

/// What a load may know: time, pose and body velocities.
#[derive(Clone, Copy, Debug)]
pub struct Kinematics<T> {
    /// Time.
    pub time: T,
    /// Attitude, body to space.
    pub attitude: Rotation<T>,
    /// Position of the reference point, in space (zero for a body on a fixed point).
    pub position: Vector3<T>,
    /// Velocity of the reference point, in body axes.
    pub velocity_body: Vector3<T>,
    /// Angular velocity, in body axes.
    pub omega_body: Vector3<T>,
    /// Which side of this time is asked for: a short time into the step that asks, positive where the step starts and
    /// negative where it ends, the other way round in a step back in time, zero in its middle. A load that switches at
    /// this very time acts with its own side of the switch in the steps that start and end there: see
    /// [`Kinematics::is_past`].
    pub inward: f64,
}

/// A switch no further than this from one end of a step from `t` of size `h` is taken to lie there: a small part of the
/// step, and the rounding of times that are sums of steps.
#[inline(always)]
pub(crate) fn edge<S: Real>(t: S, h: S) -> S {
    h.abs() * S::lift(1e-9) + t.abs() * S::lift(4.0 * f64::EPSILON)
}

/// [`Kinematics::inward`] at the start of a step from `t` of size `h`. Twice the edge, so that a switch that counts as
/// lying at the start is passed there.
#[inline(always)]
pub(crate) fn inward<S: Real>(t: S, h: S) -> f64 {
    (2.0 * edge(t, h).largest()).copysign(h.largest())
}

/// True if what a load does is a number here, and its energy if it has one.
pub(crate) fn has_value<L: Load<f64>>(load: &L, at: &Kinematics<f64>) -> bool {
    let wrench = load.wrench(at);
    wrench.force_body.iter().chain(&wrench.moment_body).all(|x| x.is_finite())
        && load.potential(at).is_none_or(f64::is_finite)
}

/// True if this side of a time lies after `switch`, see [`Kinematics::inward`].
#[inline(always)]
pub(crate) fn is_past<T: Real>((time, inward): (T, f64), switch: T) -> T::Mask {
    let time = time + T::lift(inward);
    if inward > 0.0 { time.below(switch).not() } else { switch.below(time) }
}

impl<T: Real> Kinematics<T> {
    /// The same, for what acts from this time on.
    #[inline(always)]
    pub fn beginning(self) -> Self {
        // Times are sums of steps: a switch within their rounding is passed.
        Kinematics { inward: (1e-12 * self.time.largest().abs()).max(f64::MIN_POSITIVE), ..self }
    }
    /// The motion of another point of the body, in body axes from this one.
    #[inline(always)]
    pub fn of_point(&self, point: &Vector3<T>) -> Self {
        Kinematics {
            position: self.position + self.attitude.rotate(point),
            velocity_body: self.velocity_body + self.omega_body.cross(point),
            ..*self
        }
    }
    /// True if the side of this time that is asked for lies after `switch`.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use polhode::{body::Dynamics, group::{Rotation, So3}};
    /// let at = So3::kinematics(0.5, &Rotation::identity(), &Vector3::zeros());
    /// assert!(at.is_past(0.4) && !at.is_past(0.5) && at.beginning().is_past(0.5));
    /// ```
    #[inline(always)]
    pub fn is_past(&self, switch: T) -> T::Mask {
        is_past((self.time, self.inward), switch)
    }
}

/// A force at the reference point and a moment about it, in body axes.
#[derive(Clone, Copy, Debug)]
pub struct Wrench<T> {
    /// Force.
    pub force_body: Vector3<T>,
    /// Moment.
    pub moment_body: Vector3<T>,
}

#[inline(always)]
fn zero<T: Real>() -> Vector3<T> {
    Vector3::new(T::zero(), T::zero(), T::zero())
}

impl<T: Real> Wrench<T> {
    /// Nothing.
    #[inline(always)]
    pub fn none() -> Self {
        Wrench { force_body: zero(), moment_body: zero() }
    }
    /// A force at a point, both in body axes.
    #[inline(always)]
    pub fn force_at(point_body: &Vector3<T>, force_body: Vector3<T>) -> Self {
        Wrench { force_body, moment_body: cross(point_body, &force_body) }
    }
    /// A moment alone.
    #[inline(always)]
    pub fn moment(moment_body: Vector3<T>) -> Self {
        Wrench { force_body: zero(), moment_body }
    }
}

/// A load with parameters of type `S`, evaluated at any scalar over `S`.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::body::{Kinematics, Load, Wrench};
/// use polhode::scalar::{Over, Real};
///
/// /// A moment about the body's first axis that grows with time.
/// struct Ramp {
///     rate: f64,
/// }
/// impl Load<f64> for Ramp {
///     fn wrench<T: Over<f64>>(&self, at: &Kinematics<T>) -> Wrench<T> {
///         Wrench::moment(Vector3::new(T::lift(self.rate) * at.time, T::zero(), T::zero()))
///     }
/// }
/// ```
pub trait Load<S: Real> {
    /// The wrench about the reference point, in body axes.
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T>;
    /// The potential energy, or `None` for a load that has none.
    fn potential<T: Over<S>>(&self, _at: &Kinematics<T>) -> Option<T> {
        None
    }
    /// What stands for the gradient of the potential over a step from one pose to the other: its work is the change of
    /// the potential. Without a potential, the mean of the loads at both ends. A load of one's own need not write it;
    /// one that does can keep its symmetries (about the vertical, say) exactly.
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        let loads = [&self.wrench(from), &self.wrench(to)];
        match self.potential(from) {
            Some(_) => {
                let mean = FiniteDerivative::mean(from, to, loads);
                mean.exact(from, to, |at| self.potential(at).unwrap_or(T::zero()))
            }
            None => FiniteDerivative::direct(from, to, loads),
        }
    }
    /// The motion at time `t` that the load was made to produce, if it was: the exact solution.
    fn motion<T: Over<S>>(&self, _t: T) -> Option<Kinematics<T>> {
        None
    }
    /// Shows the times at which the load jumps. Runs land on them, and methods that carry accelerations start them anew
    /// there, so that no method loses its order; [`Kinematics::is_past`] says which side of a jump is asked for.
    #[inline(always)]
    fn switches(&self, _visit: &mut dyn FnMut(S)) {}
    /// True if time and pose alone say what acts, and it never jumps: what a part of a step found at its end acts at the start
    /// of the next part too, and is not asked for again. A load that says nothing of it is asked every time.
    #[inline(always)]
    fn is_field(&self) -> bool {
        false
    }
}

/// No load at all; its potential is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLoad;

impl<S: Real> Load<S> for NoLoad {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, _at: &Kinematics<T>) -> Wrench<T> {
        Wrench::none()
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, _at: &Kinematics<T>) -> Option<T> {
        Some(T::zero())
    }
    #[inline(always)]
    fn finite_derivative<T: Over<S>>(&self, _: &Kinematics<T>, _: &Kinematics<T>) -> FiniteDerivative<T> {
        FiniteDerivative::none()
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// Uniform gravity on a body whose centre of mass is off the reference point.
#[derive(Clone, Copy, Debug)]
pub struct Gravity<S> {
    /// Weight: mass times the acceleration of gravity, in space.
    pub weight_space: Vector3<S>,
    /// Centre of mass, in body axes from the reference point.
    pub center_body: Vector3<S>,
}

impl<S: Real> Load<S> for Gravity<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        Wrench::force_at(&self.center_body.map(T::of), at.attitude.unrotate(&self.weight_space.map(T::of)))
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        let center = at.position + at.attitude.rotate(&self.center_body.map(T::of));
        Some(-center.dot(&self.weight_space.map(T::of)))
    }
    /// The gradient itself: the potential is linear.
    #[inline(always)]
    fn finite_derivative<T: Over<S>>(&self, _: &Kinematics<T>, _: &Kinematics<T>) -> FiniteDerivative<T> {
        let base = (self.weight_space * self.center_body.transpose()).map(|x| -T::of(x));
        FiniteDerivative { base, position: self.weight_space.map(|x| -T::of(x)), ..FiniteDerivative::none() }
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// Uniform gravity on a top: weight along -e₃ in space, centre of mass on the third body axis, V = mgl R₃₃. What
/// [`Gravity`] gives for these directions, with less arithmetic, for a body on a fixed point.
#[derive(Clone, Copy, Debug)]
pub struct TopGravity<S> {
    /// Weight times distance of the centre of mass from the fixed point.
    pub mgl: S,
}

impl<S: Real> Load<S> for TopGravity<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let (up, mgl) = (at.attitude.vertical(), T::of(self.mgl));
        Wrench::moment(Vector3::new(up[1] * mgl, -(up[0] * mgl), T::zero()))
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        Some(at.attitude.vertical()[2] * T::of(self.mgl))
    }
    #[inline(always)]
    fn finite_derivative<T: Over<S>>(&self, _: &Kinematics<T>, _: &Kinematics<T>) -> FiniteDerivative<T> {
        FiniteDerivative::of_height(T::of(self.mgl))
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// The axes in which a moment keeps its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Fixed in space.
    Space,
    /// Turning with the body.
    Body,
}

/// A constant moment. It has no potential unless it is zero.
#[derive(Clone, Copy, Debug)]
pub struct Moment<S> {
    /// Where it keeps its direction.
    pub frame: Frame,
    /// The moment.
    pub value: Vector3<S>,
}

impl<S: Real> Load<S> for Moment<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        Wrench::moment(to_body(self.frame, self.value.map(T::of), at))
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

#[inline(always)]
fn to_body<T: Real>(frame: Frame, value: Vector3<T>, at: &Kinematics<T>) -> Vector3<T> {
    match frame {
        Frame::Space => at.attitude.unrotate(&value),
        Frame::Body => value,
    }
}

/// A moment that oscillates in time: amplitude · cos(frequency · t + phase).
#[derive(Clone, Copy, Debug)]
pub struct Harmonic<S> {
    /// Where it keeps its direction.
    pub frame: Frame,
    /// Amplitude.
    pub amplitude: Vector3<S>,
    /// Circular frequency, rad/s.
    pub frequency: S,
    /// Phase at t = 0, rad.
    pub phase: S,
}

impl<S: Real> Load<S> for Harmonic<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let (_, cos) = (T::of(self.frequency) * at.time + T::of(self.phase)).sin_cos();
        Wrench::moment(to_body(self.frame, self.amplitude.map(T::of) * cos, at))
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// A constant force at a point of the body: in space, or following the body.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::body::{Dynamics, Force, Frame, Load};
/// use polhode::group::{Rotation, So3};
/// let thrust = Force { frame: Frame::Body, point_body: Vector3::new(0.0, -0.1, 0.0), value: Vector3::new(5.0, 0.0, 0.0) };
/// let at = So3::kinematics(0.0, &Rotation::identity(), &Vector3::zeros());
/// assert_eq!(thrust.wrench::<f64>(&at).moment_body, Vector3::new(0.0, 0.0, 0.5));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Force<S> {
    /// Where it keeps its direction.
    pub frame: Frame,
    /// The point, in body axes from the reference point.
    pub point_body: Vector3<S>,
    /// The force.
    pub value: Vector3<S>,
}

impl<S: Real> Load<S> for Force<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        Wrench::force_at(&self.point_body.map(T::of), to_body(self.frame, self.value.map(T::of), at))
    }
    /// In space it is that of a weight.
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        match self.frame {
            Frame::Space => Gravity { weight_space: self.value, center_body: self.point_body }.potential(at),
            Frame::Body => None,
        }
    }
    #[inline(always)]
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        match self.frame {
            Frame::Space => {
                Gravity { weight_space: self.value, center_body: self.point_body }.finite_derivative(from, to)
            }
            Frame::Body => FiniteDerivative::direct(from, to, [&self.wrench(from), &self.wrench(to)]),
        }
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// A force at a point of the body that oscillates in time: amplitude · cos(frequency · t + phase).
#[derive(Clone, Copy, Debug)]
pub struct HarmonicForce<S> {
    /// Where it keeps its direction.
    pub frame: Frame,
    /// The point, in body axes from the reference point.
    pub point_body: Vector3<S>,
    /// Amplitude.
    pub amplitude: Vector3<S>,
    /// Circular frequency, rad/s.
    pub frequency: S,
    /// Phase at t = 0, rad.
    pub phase: S,
}

impl<S: Real> Load<S> for HarmonicForce<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let (_, cos) = (T::of(self.frequency) * at.time + T::of(self.phase)).sin_cos();
        let force = to_body(self.frame, self.amplitude.map(T::of) * cos, at);
        Wrench::force_at(&self.point_body.map(T::of), force)
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// A moment against the angular velocity, -c Ω: a load that depends on velocity and takes energy out.
#[derive(Clone, Copy, Debug)]
pub struct Drag<S> {
    /// The coefficient c.
    pub coefficient: S,
}

impl<S: Real> Load<S> for Drag<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        Wrench::moment(at.omega_body * -T::of(self.coefficient))
    }
}

/// The Coulomb potential with a soft wall of Krysl 2006, section 5.4, in the height R₃₃ of the body's third axis.
///
/// With s = offset + R₃₃ the potential is V = coulomb/s - wall/s¹⁰ and the moment V'(s) e₃ × R e₃ in space. The
/// printed torque has coulomb = 1, wall = 0.001 (a repulsive barrier); the text describes the opposite signs (a
/// well with a wall).
#[derive(Clone, Copy, Debug)]
pub struct SoftWall<S> {
    /// Strength of the 1/s term.
    pub coulomb: S,
    /// Strength of the 1/s¹⁰ term.
    pub wall: S,
    /// Added to R₃₃.
    pub offset: S,
}

impl<S: Real> Load<S> for SoftWall<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let up = at.attitude.vertical();
        let r = (T::of(self.offset) + up[2]).recip();
        let slope = T::lift(10.0) * T::of(self.wall) * r.powi(11) - T::of(self.coulomb) * r * r;
        // Rᵀ (e₃ × R e₃) = (Rᵀ e₃) × e₃
        Wrench::moment(Vector3::new(up[1] * slope, -(up[0] * slope), T::zero()))
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        let up = at.attitude.vertical();
        let r = (T::of(self.offset) + up[2]).recip();
        Some(T::of(self.coulomb) * r - T::of(self.wall) * r.powi(10))
    }
    /// Of a function of the height: its difference quotient, with a common factor taken out so that nothing cancels.
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        let part = |at: &Kinematics<T>| (T::of(self.offset) + at.attitude.vertical()[2]).recip();
        let (a, b) = (part(from), part(to));
        // b¹⁰ - a¹⁰ = (b - a) Σ aᵏ b⁹⁻ᵏ, and b - a = -a b (s_b - s_a).
        let (mut total, mut power) = (T::zero(), T::one());
        for _ in 0..10 {
            total = total * b + power;
            power *= a;
        }
        FiniteDerivative::of_height((T::of(self.wall) * total - T::of(self.coulomb)) * a * b)
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// A spring that turns the body back to the attitude of the space axes: V = ½ ψ·K ψ with the rotation vector ψ, |ψ| < π.
#[derive(Clone, Copy, Debug)]
pub struct RotationalSpring<S> {
    /// The diagonal of K, N m/rad.
    pub stiffness: Vector3<S>,
}

impl<S: Real> Load<S> for RotationalSpring<S> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let psi = at.attitude.rotation_vector();
        // V' = ψ'·Kψ and ψ' = H(-ψ)⁻¹ Ω, whose transpose is H(ψ)⁻¹.
        let moment = self.stiffness.map(T::of).component_mul(&psi);
        Wrench::moment(-So3::tangent_inverse(Exponential, &-psi, &moment))
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        let psi = at.attitude.rotation_vector();
        Some(self.stiffness.map(T::of).component_mul(&psi).dot(&psi) * T::lift(0.5))
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        true
    }
}

/// Two loads together; the potential exists where both have one.
impl<S: Real, A: Load<S>, B: Load<S>> Load<S> for (A, B) {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let (a, b) = (self.0.wrench(at), self.1.wrench(at));
        Wrench { force_body: a.force_body + b.force_body, moment_body: a.moment_body + b.moment_body }
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        Some(self.0.potential(at)? + self.1.potential(at)?)
    }
    #[inline(always)]
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        self.0.finite_derivative(from, to) + self.1.finite_derivative(from, to)
    }
    #[inline(always)]
    fn switches(&self, visit: &mut dyn FnMut(S)) {
        self.0.switches(visit);
        self.1.switches(visit);
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        self.0.is_field() && self.1.is_field()
    }
}

/// A load that acts between two times only, its impulse exact: a step that starts or ends at a switch sees its own side
/// of it, and runs ([`crate::run::BodyRun`], [`crate::run::Switches`]) land on a switch inside a step.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::body::{Body, Frame, Moment, RotaryInertia, Switched};
/// use polhode::group::{Rotation, So3};
/// use polhode::method::{Method, Stepper};
///
/// let thrust = Moment { frame: Frame::Body, value: Vector3::new(0.0, 0.0, 2.0) };
/// let inertia = RotaryInertia::about_fixed_point(nalgebra::Matrix3::identity())?;
/// let body = Body::<f64, So3, _> { inertia, load: Switched { load: thrust, on: 0.5, off: 0.7 } };
/// let mut state = body.state(Rotation::identity(), &Vector3::zeros());
/// let mut stepper = Stepper::<f64, So3>::new(&Method::parse("rotation-vector")?);
/// for n in 0..10 {
///     state = stepper.step(&body, &state, 0.1 * f64::from(n), 0.1)?;
/// }
/// // 2 N m for 0.2 s.
/// assert!((state.momentum.z - 0.4).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Switched<S, L> {
    /// What acts.
    pub load: L,
    /// From when on.
    pub on: S,
    /// Until when.
    pub off: S,
}

impl<S: Real, L: Load<S>> Load<S> for Switched<S, L> {
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let acts = at.is_past(T::of(self.on)).and(at.is_past(T::of(self.off)).not());
        let Wrench { force_body, moment_body } = self.load.wrench(at);
        let switched = |x: T| T::select(acts, x, T::zero());
        Wrench { force_body: force_body.map(switched), moment_body: moment_body.map(switched) }
    }
    fn switches(&self, visit: &mut dyn FnMut(S)) {
        visit(self.on);
        visit(self.off);
        self.load.switches(visit);
    }
}
