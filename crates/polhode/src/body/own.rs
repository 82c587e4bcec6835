//! Loads of one's own, for single bodies and for bodies of systems alike: a formula with named numbers, written once in any
//! scalar, or values with their slopes.

use super::load::{Kinematics, Load, Wrench};
use crate::group::{Jet, Rotation};
use crate::scalar::{Dd, Dual, F64x4, Over, Real};
use core::any::Any;
use core::fmt::{self, Debug};
use nalgebra::{Matrix3, Vector3};
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
}

/// A load that is known by values and slopes in plain numbers, as a table or a callback is. It has no numbers to
/// differentiate with respect to.
pub trait Sampled: Debug + Send + Sync + 'static {
    /// The wrench about the origin of the body, in body axes.
    fn wrench(&self, at: &Kinematics<f64>) -> Wrench<f64>;
    /// Its derivatives.
    fn slopes(&self, at: &Kinematics<f64>) -> WrenchSlopes;
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

/// The most numbers that a formula may have.
pub const MOST_NUMBERS: usize = 24;

/// Why there is no such load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnError {
    /// Names and numbers do not match.
    Count {
        /// The names.
        names: Vec<String>,
        /// How many numbers were given.
        given: usize,
    },
    /// There are more numbers than a formula may have.
    TooMany {
        /// How many.
        given: usize,
    },
}

impl fmt::Display for OwnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { names, given } => {
                write!(
                    f,
                    "the load has {} numbers ({}), and {given} were given",
                    names.len(),
                    names.join(", ")
                )
            }
            Self::TooMany { given } => write!(f, "a load has at most {MOST_NUMBERS} numbers, got {given}"),
        }
    }
}

impl std::error::Error for OwnError {}

/// The numbers of a load at some scalar, and how many of them count.
struct Numbers<T> {
    all: [T; MOST_NUMBERS],
    count: usize,
}

macro_rules! any_formula {
    ($($wrench:ident $potential:ident $scalar:ty),* $(,)?) => {
        /// A load behind an object, for the scalars in which loads of one's own run.
        trait AnyFormula: Debug + Send + Sync {
            $(
                fn $wrench(&self, numbers: &[$scalar], at: &Kinematics<$scalar>) -> Option<Wrench<$scalar>>;
                fn $potential(&self, numbers: &[$scalar], at: &Kinematics<$scalar>) -> Option<$scalar>;
            )*
        }

        impl<F: Formula> AnyFormula for F {
            $(
                fn $wrench(&self, numbers: &[$scalar], at: &Kinematics<$scalar>) -> Option<Wrench<$scalar>> {
                    Some(self.wrench(numbers, at))
                }
                fn $potential(&self, numbers: &[$scalar], at: &Kinematics<$scalar>) -> Option<$scalar> {
                    self.potential(numbers, at)
                }
            )*
        }

        /// The wrench at whichever scalar this is; nothing at one that is not among those above.
        fn wrench_at<T: Real>(load: &dyn AnyFormula, numbers: &Numbers<T>, at: &Kinematics<T>) -> Option<Wrench<T>> {
            let (numbers, at): (&dyn Any, &dyn Any) = (numbers, at);
            $(
                if let (Some(numbers), Some(at)) = (numbers.downcast_ref::<Numbers<$scalar>>(), at.downcast_ref()) {
                    let wrench = load.$wrench(&numbers.all[..numbers.count], at)?;
                    return (&wrench as &dyn Any).downcast_ref().copied();
                }
            )*
            None
        }

        /// The same of the potential.
        fn potential_at<T: Real>(load: &dyn AnyFormula, numbers: &Numbers<T>, at: &Kinematics<T>) -> Option<T> {
            let (numbers, at): (&dyn Any, &dyn Any) = (numbers, at);
            $(
                if let (Some(numbers), Some(at)) = (numbers.downcast_ref::<Numbers<$scalar>>(), at.downcast_ref()) {
                    let potential = load.$potential(&numbers.all[..numbers.count], at)?;
                    return (&potential as &dyn Any).downcast_ref().copied();
                }
            )*
            None
        }
    };
}
any_formula!(
    wrench_plain potential_plain f64,
    wrench_jet potential_jet Jet<f64>,
    wrench_dual potential_dual Dual<f64, 1>,
    wrench_dual_jet potential_dual_jet Jet<Dual<f64, 1>>,
    wrench_dd potential_dd Dd,
    wrench_dd_jet potential_dd_jet Jet<Dd>,
    wrench_lanes potential_lanes F64x4,
    wrench_lane_jet potential_lane_jet Jet<F64x4>,
);

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

macro_rules! no_values {
    ($($wrench:ident $potential:ident $scalar:ty),*) => {
        $(
            fn $wrench(&self, _: &[$scalar], _: &Kinematics<$scalar>) -> Option<Wrench<$scalar>> {
                None
            }
            fn $potential(&self, _: &[$scalar], _: &Kinematics<$scalar>) -> Option<$scalar> {
                None
            }
        )*
    };
}

impl<L: Sampled> AnyFormula for BySlopes<L> {
    fn wrench_plain(&self, _: &[f64], at: &Kinematics<f64>) -> Option<Wrench<f64>> {
        Some(self.0.wrench(at))
    }
    fn wrench_jet(&self, _: &[Jet<f64>], at: &Kinematics<Jet<f64>>) -> Option<Wrench<Jet<f64>>> {
        Some(self.chained(at))
    }
    fn wrench_dual(&self, _: &[Dual<f64, 1>], at: &Kinematics<Dual<f64, 1>>) -> Option<Wrench<Dual<f64, 1>>> {
        Some(self.chained(at))
    }
    fn potential_plain(&self, _: &[f64], _: &Kinematics<f64>) -> Option<f64> {
        None
    }
    fn potential_jet(&self, _: &[Jet<f64>], _: &Kinematics<Jet<f64>>) -> Option<Jet<f64>> {
        None
    }
    fn potential_dual(&self, _: &[Dual<f64, 1>], _: &Kinematics<Dual<f64, 1>>) -> Option<Dual<f64, 1>> {
        None
    }
    no_values!(
        wrench_dual_jet potential_dual_jet Jet<Dual<f64, 1>>,
        wrench_dd potential_dd Dd,
        wrench_dd_jet potential_dd_jet Jet<Dd>,
        wrench_lanes potential_lanes F64x4,
        wrench_lane_jet potential_lane_jet Jet<F64x4>
    );
}

/// A load of one's own, with its numbers.
#[derive(Clone, Debug)]
pub struct Own<S: Real> {
    formula: Arc<dyn AnyFormula>,
    names: Arc<[String]>,
    pub(super) numbers: Vec<S>,
}

impl<S: Real> Own<S> {
    /// A formula with its numbers, in the order of their names.
    pub fn new(formula: impl Formula, numbers: Vec<S>) -> Result<Self, OwnError> {
        let names = formula.names();
        if names.len() != numbers.len() {
            return Err(OwnError::Count { names, given: numbers.len() });
        }
        if numbers.len() > MOST_NUMBERS {
            return Err(OwnError::TooMany { given: numbers.len() });
        }
        Ok(Own { formula: Arc::new(formula), names: names.into(), numbers })
    }
    /// Values with their slopes.
    pub fn sampled(load: impl Sampled) -> Self {
        Own { formula: Arc::new(BySlopes(load)), names: Arc::new([]), numbers: Vec::new() }
    }
    /// The names of its numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// Its numbers.
    pub fn numbers(&self) -> &[S] {
        &self.numbers
    }
    /// The load with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> Own<T> {
        Own {
            formula: self.formula.clone(),
            names: self.names.clone(),
            numbers: self.numbers.iter().map(|x| T::of(*x)).collect(),
        }
    }
    fn at<T: Over<S>>(&self) -> Numbers<T> {
        let mut all = [T::zero(); MOST_NUMBERS];
        for (to, from) in all.iter_mut().zip(&self.numbers) {
            *to = T::of(*from);
        }
        Numbers { all, count: self.numbers.len() }
    }
}

impl<S: Real> Load<S> for Own<S> {
    #[inline(never)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        // What cannot be had at a scalar is not a number, which every step refuses.
        wrench_at(&*self.formula, &self.at(), at).unwrap_or_else(|| {
            let unknown = Vector3::from_element(T::lift(f64::NAN));
            Wrench { force_body: unknown, moment_body: unknown }
        })
    }
    #[inline(never)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        potential_at(&*self.formula, &self.at(), at)
    }
}
