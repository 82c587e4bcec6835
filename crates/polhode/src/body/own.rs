//! Loads of one's own, for single bodies and for bodies of systems alike: a formula with named numbers, written once in any
//! scalar, or values with their slopes.

use super::lift::Number;
use super::load::{Kinematics, Load, Wrench};
use crate::formula::{Behind, FEW_NUMBERS, MOST_NUMBERS, OwnError, behind_object};
use crate::group::{Jet, Rotation};
use crate::scalar::{Dd, Dual, F64x4, Over, Real};
use core::fmt::Debug;
use nalgebra::{Matrix3, Vector3};
use std::borrow::Cow;
use std::sync::Arc;

/// A load as a formula of its numbers and of the motion, written once: runs, Newton's method, sensitivities and fits take
/// it from there. Its numbers are parameters of the body, `body.load_1.stiffness`.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Formula, Kinematics, Own, Wrench};
/// use polhode::multibody::{Rigid, System};
/// use polhode::scalar::Real;
/// use polhode::{method::Method, run::Plan, sensitivity::Sensitivity};
///
/// /// V = k (1 - R₁₁): pulls the first axis of the body towards that of space.
/// #[derive(Debug)]
/// struct Aligning;
/// impl Formula for Aligning {
///     fn names(&self) -> Vec<String> {
///         vec!["k".into()]
///     }
///     fn wrench<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
///         let e1 = Vector3::new(T::one(), T::zero(), T::zero());
///         Wrench::moment(e1.cross(&at.attitude.unrotate(&e1)) * numbers[0])
///     }
///     fn potential<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Option<T> {
///         let e1 = Vector3::new(T::one(), T::zero(), T::zero());
///         Some((T::one() - at.attitude.rotate(&e1)[0]) * numbers[0])
///     }
/// }
/// let mut system = System::new(Vector3::zeros());
/// let body = Rigid::new(1.0, Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
/// let body = body.moving(Vector3::zeros(), Vector3::new(0.2, 1.0, 0.5)).with(Own::new(Aligning, vec![3.0])?);
/// system.body("body", body.on_fixed_point())?;
/// let by_k = Sensitivity::of_system(&system, &["body.load_1.k"], &Method::parse("akw")?)?;
/// let end = by_k.end(&Plan::new(0.01, 1.0)?, &mut |_| core::ops::ControlFlow::Continue(()))?;
/// assert!(end.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Formula: Debug + Send + Sync + 'static {
    /// The names of its numbers.
    fn names(&self) -> Vec<String>;
    /// The wrench about the origin of the body, in body axes.
    fn wrench<T: Real>(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T>;
    /// The potential energy, or `None` for a load that has none.
    fn potential<T: Real>(&self, _numbers: &[T], _at: &Kinematics<T>) -> Option<T> {
        None
    }
    /// The times at which it has a kink, as a table has at each of its rows. Reference solutions and methods of high order
    /// land on them.
    fn kinks(&self) -> Vec<f64> {
        Vec::new()
    }
    /// See [`Load::is_field`].
    fn is_field(&self) -> bool {
        false
    }
}

/// A load that is known by values and slopes in plain numbers, as a table or a callback is. It has no numbers to
/// differentiate with respect to.
pub trait Sampled: Debug + Send + Sync + 'static {
    /// The wrench about the origin of the body, in body axes.
    fn wrench(&self, at: &Kinematics<f64>) -> Wrench<f64>;
    /// Its derivatives.
    fn slopes(&self, at: &Kinematics<f64>) -> WrenchSlopes;
}

/// A load that is known by values alone: [`ByDifferences`] finds its slopes.
pub trait Valued: Debug + Send + Sync + 'static {
    /// The wrench about the origin of the body, in body axes, at each of these.
    fn wrenches(&self, at: &[Kinematics<f64>]) -> Vec<Wrench<f64>>;
}

/// A load whose slopes are central differences of its values, good to ten digits or so where it is smooth: steps converge
/// a little slower, and derivatives of runs are as good as these.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::body::{ByDifferences, Kinematics, Sampled, Valued, Wrench};
///
/// #[derive(Debug)]
/// struct Drag;
/// impl Valued for Drag {
///     fn wrenches(&self, at: &[Kinematics<f64>]) -> Vec<Wrench<f64>> {
///         at.iter().map(|at| Wrench::moment(-at.omega_body * at.omega_body.norm())).collect()
///     }
/// }
/// let at = Kinematics {
///     time: 0.0,
///     attitude: Default::default(),
///     position: Vector3::zeros(),
///     velocity_body: Vector3::zeros(),
///     omega_body: Vector3::new(3.0, 0.0, 4.0),
///     inward: 0.0,
/// };
/// let slopes = ByDifferences(Drag).slopes(&at);
/// assert!((slopes.moment[3][(0, 0)] + 5.0 + 9.0 / 5.0).abs() < 1e-9);
/// ```
#[derive(Debug)]
pub struct ByDifferences<V>(pub V);

impl<V: Valued> Sampled for ByDifferences<V> {
    fn wrench(&self, at: &Kinematics<f64>) -> Wrench<f64> {
        self.0.wrenches(core::slice::from_ref(at)).into_iter().next().unwrap_or_else(unknown)
    }
    fn slopes(&self, at: &Kinematics<f64>) -> WrenchSlopes {
        // The third root of the spacing of numbers: errors of rounding and of the difference are alike there.
        let small = f64::EPSILON.cbrt();
        let size = |v: &Vector3<f64>| small * v.amax().max(1.0);
        let steps = [size(&at.position), small, size(&at.velocity_body), size(&at.omega_body)];
        let moved = |part: usize, axis: usize, by: f64| {
            let mut moved = *at;
            let along = Vector3::from_fn(|i, _| if i == axis { by } else { 0.0 });
            match part {
                0 => moved.position += along,
                1 => moved.attitude = at.attitude.compose(&Rotation::from_rotation_vector(&along)),
                2 => moved.velocity_body += along,
                _ => moved.omega_body += along,
            }
            moved
        };
        let sides = |part: usize, axis: usize| [1.0, -1.0].map(|side| moved(part, axis, side * steps[part]));
        let points: Vec<_> = (0..12).flat_map(|k| sides(k / 3, k % 3)).collect();
        let values = self.0.wrenches(&points);
        let mut slopes = WrenchSlopes { force: [Matrix3::zeros(); 4], moment: [Matrix3::zeros(); 4] };
        for k in 0..12 {
            let (part, axis) = (k / 3, k % 3);
            let both = values.get(2 * k..2 * k + 2);
            let [force, moment] = match both {
                Some([up, down]) => [up.force_body - down.force_body, up.moment_body - down.moment_body]
                    .map(|v| v / (2.0 * steps[part])),
                _ => [Vector3::from_element(f64::NAN); 2],
            };
            slopes.force[part].set_column(axis, &force);
            slopes.moment[part].set_column(axis, &moment);
        }
        slopes
    }
}

/// The derivatives of a force and a moment, each with respect to three numbers: the position in space, a turn θ of the body
/// in its axes (R' = R θ̃), the velocity and the angular velocity in body axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrenchSlopes {
    /// Of the force, in this order.
    pub force: [Matrix3<f64>; 4],
    /// Of the moment.
    pub moment: [Matrix3<f64>; 4],
}

/// A load at one scalar. What cannot be had there is not a number, which every step refuses.
pub(crate) trait At<T: Real> {
    fn wrench(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T>;
    fn potential(&self, numbers: &[T], at: &Kinematics<T>) -> Option<T>;
    fn kinks(&self) -> Vec<f64>;
    fn is_field(&self) -> bool;
}

impl<F: Formula, T: Real> At<T> for F {
    fn wrench(&self, numbers: &[T], at: &Kinematics<T>) -> Wrench<T> {
        self.wrench(numbers, at)
    }
    fn potential(&self, numbers: &[T], at: &Kinematics<T>) -> Option<T> {
        self.potential(numbers, at)
    }
    fn kinks(&self) -> Vec<f64> {
        Formula::kinks(self)
    }
    fn is_field(&self) -> bool {
        Formula::is_field(self)
    }
}

type Energy<T> = Option<T>;

behind_object!(AnyLoad: At at [
    f64, Jet<f64>, Dual<f64, 1>, Jet<Dual<f64, 1>>, Dd, Jet<Dd>, F64x4, Jet<F64x4>
];
    fn wrench_at = wrench(Kinematics) -> Wrench;
    fn potential_at = potential(Kinematics) -> Energy;
);

/// What is not known.
fn unknown<T: Real>() -> Wrench<T> {
    let unknown = Vector3::from_element(T::lift(f64::NAN));
    Wrench { force_body: unknown, moment_body: unknown }
}

/// Values and slopes as a load.
#[derive(Debug)]
struct BySlopes<L>(L);

impl<L: Sampled> BySlopes<L> {
    /// The chain rule, for any number of derivatives.
    fn chained<const N: usize>(&self, at: &Kinematics<Dual<f64, N>>) -> Wrench<Dual<f64, N>> {
        let plain = |v: &Vector3<Dual<f64, N>>| v.map(|x| x.re);
        let attitude = Rotation { w: at.attitude.w.re, v: plain(&at.attitude.v) };
        let here = Kinematics {
            time: at.time.re,
            attitude,
            position: plain(&at.position),
            velocity_body: plain(&at.velocity_body),
            omega_body: plain(&at.omega_body),
            inward: at.inward,
        };
        let (value, slopes) = (self.0.wrench(&here), self.0.slopes(&here));
        let along = |k: usize| {
            let of = |v: &Vector3<Dual<f64, N>>| v.map(|x| x.eps[k]);
            // θ = 2 vec(q⁻¹ q').
            let change = Rotation { w: at.attitude.w.eps[k], v: of(&at.attitude.v) };
            let turn = (change.v * attitude.w - attitude.v * change.w - attitude.v.cross(&change.v)) * 2.0;
            [of(&at.position), turn, of(&at.velocity_body), of(&at.omega_body)]
        };
        let directions: [[Vector3<f64>; 4]; N] = core::array::from_fn(along);
        let with = |value: Vector3<f64>, slopes: &[Matrix3<f64>; 4]| {
            let eps = directions.map(|parts| {
                parts.iter().zip(slopes).fold(Vector3::zeros(), |sum, (part, slope)| sum + slope * part)
            });
            Vector3::from_fn(|i, _| Dual { re: value[i], eps: eps.map(|v| v[i]) })
        };
        Wrench {
            force_body: with(value.force_body, &slopes.force),
            moment_body: with(value.moment_body, &slopes.moment),
        }
    }
}

macro_rules! sampled_at {
    ($($scalar:ty, $wrench:expr);*) => {$(
        impl<L: Sampled> At<$scalar> for BySlopes<L> {
            fn wrench(&self, _: &[$scalar], at: &Kinematics<$scalar>) -> Wrench<$scalar> {
                let wrench: fn(&Self, &Kinematics<$scalar>) -> Wrench<$scalar> = $wrench;
                wrench(self, at)
            }
            fn potential(&self, _: &[$scalar], _: &Kinematics<$scalar>) -> Option<$scalar> {
                None
            }
            fn kinks(&self) -> Vec<f64> {
                Vec::new()
            }
            fn is_field(&self) -> bool {
                false
            }
        }
    )*};
}
sampled_at!(
    f64, |load, at| load.0.wrench(at);
    Jet<f64>, |load, at| load.chained(at);
    Dual<f64, 1>, |load, at| load.chained(at);
    Jet<Dual<f64, 1>>, |_, _| unknown();
    Dd, |_, _| unknown();
    Jet<Dd>, |_, _| unknown();
    F64x4, |_, _| unknown();
    Jet<F64x4>, |_, _| unknown()
);

/// A load of one's own, with its numbers.
#[derive(Clone, Debug)]
pub struct Own<S: Real>(Behind<S, dyn AnyLoad>);

impl<S: Real> Own<S> {
    /// A formula with its numbers, in the order of their names.
    pub fn new(formula: impl Formula, numbers: Vec<S>) -> Result<Self, OwnError> {
        let names = formula.names();
        let formula: Arc<dyn AnyLoad> = Arc::new(formula);
        Ok(Own(Behind::new(formula, names, numbers)?))
    }
    /// The same with more for the formula behind the numbers, made of these.
    pub(crate) fn with_image<F: Formula>(
        formula: F,
        numbers: Vec<S>,
        image: impl FnOnce(&F, &[S]) -> Vec<S>,
    ) -> Result<Self, OwnError> {
        let image = image(&formula, &numbers);
        let mut own = Own::new(formula, numbers)?;
        own.0.numbers.extend(image.into_iter().skip(own.0.names.len()));
        Ok(own)
    }
    /// Values with their slopes.
    pub fn sampled(load: impl Sampled) -> Self {
        Own(Behind { formula: Arc::new(BySlopes(load)), names: Arc::new([]), numbers: Vec::new() })
    }
    /// The names of its numbers.
    pub fn names(&self) -> &[String] {
        &self.0.names
    }
    /// Its numbers.
    pub fn numbers(&self) -> &[S] {
        self.0.named()
    }
    /// The times at which it has a kink.
    pub fn kinks(&self) -> Vec<f64> {
        <dyn AnyLoad as At<f64>>::kinks(&*self.0.formula)
    }
    /// The load with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> Own<T> {
        Own(self.0.rebuilt(&mut |_, x| T::of(x)))
    }
    pub(super) fn numbers_mut(&mut self) -> Vec<(Cow<'static, str>, Number<'_, S>)> {
        let names = self.0.names.iter().cloned().map(Cow::from);
        names.zip(self.0.numbers.iter_mut().map(Number::One)).collect()
    }
}

impl Own<f64> {
    /// The load in another scalar, with its numbers as constants.
    pub(crate) fn constant<T: Real>(&self) -> Own<T> {
        Own(self.0.rebuilt(&mut |_, x| T::lift(x)))
    }
}

impl<S: Real> Own<S> {
    #[inline(always)]
    fn found<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let (Some(ask), formula) = (wrench_at(), &*self.0.formula) else { return unknown() };
        match self.0.same() {
            Some(numbers) => ask(formula, numbers, at),
            None if self.0.is_small() => ask(formula, self.0.at::<T, FEW_NUMBERS>().list(), at),
            None => ask(formula, self.0.at::<T, MOST_NUMBERS>().list(), at),
        }
    }
    #[inline(never)]
    fn found_by_call<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        self.found(at)
    }
}

impl<S: Real> Load<S> for Own<S> {
    // With derivatives a formula takes so long that a call is little beside it.
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        if T::DEPTH == 0 { self.found(at) } else { self.found_by_call(at) }
    }
    #[inline(never)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        let (ask, formula) = (potential_at()?, &*self.0.formula);
        match self.0.same() {
            Some(numbers) => ask(formula, numbers, at),
            None if self.0.is_small() => ask(formula, self.0.at::<T, FEW_NUMBERS>().list(), at),
            None => ask(formula, self.0.at::<T, MOST_NUMBERS>().list(), at),
        }
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        <dyn AnyLoad as At<f64>>::is_field(&*self.0.formula)
    }
}
