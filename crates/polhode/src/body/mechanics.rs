//! A body without the type of its load: what the equations of a step ask of it, at one scalar at a time. Methods are
//! compiled for scalars and groups, never again for a load.

use super::Dynamics;
use super::derivative::FiniteDerivative;
use super::load::{Kinematics, Load, Wrench};
use super::{Body, State};
use crate::group::Jet;
use crate::scalar::{Over, Real};

/// What acts on a body, at the scalar `T`.
pub trait LoadAt<T: Real> {
    /// See [`Load::wrench`].
    fn wrench_at(&self, at: &Kinematics<T>) -> Wrench<T>;
    /// See [`Load::finite_derivative`].
    fn finite_derivative_at(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T>;
    /// See [`Load::is_field`].
    fn is_field(&self) -> bool;
}

impl<S: Real, G: Dynamics, L: Load<S>, T: Over<S>> LoadAt<T> for Body<S, G, L> {
    #[inline(always)]
    fn wrench_at(&self, at: &Kinematics<T>) -> Wrench<T> {
        self.load.wrench(at)
    }
    fn finite_derivative_at(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        self.load.finite_derivative(from, to)
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        self.load.is_field()
    }
}

/// A body at its own scalar.
pub trait BodyAt<S: Real, G: Dynamics> {
    /// Its inertia and what acts on it.
    fn mechanics(&self) -> Mechanics<'_, S, G>;
    /// See [`Load::motion`].
    fn motion_at(&self, t: S) -> Option<Kinematics<S>>;
}

impl<S: Real, G: Dynamics, L: Load<S>> BodyAt<S, G> for Body<S, G, L> {
    #[inline(always)]
    fn mechanics(&self) -> Mechanics<'_, S, G> {
        Mechanics { inertia: &self.inertia, loads: self }
    }
    fn motion_at(&self, t: S) -> Option<Kinematics<S>> {
        self.load.motion(t)
    }
}

/// A body at its own scalar and at the one that carries the derivatives for Newton's method.
pub trait AnyBody<S: Real, G: Dynamics>: BodyAt<S, G> {
    /// Its loads with derivatives.
    fn with_slopes(&self) -> &dyn LoadAt<Jet<S>>;
}

impl<S: Real, G: Dynamics, L: Load<S>> AnyBody<S, G> for Body<S, G, L> {
    fn with_slopes(&self) -> &dyn LoadAt<Jet<S>> {
        self
    }
}

/// The inertia of a body and what acts on it, at the scalar `T`.
pub struct Mechanics<'a, T: Real, G: Dynamics> {
    /// The inertia.
    pub inertia: &'a G::Inertia<T>,
    /// The loads.
    pub loads: &'a dyn LoadAt<T>,
}

impl<T: Real, G: Dynamics> Clone for Mechanics<'_, T, G> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Real, G: Dynamics> Copy for Mechanics<'_, T, G> {}

impl<T: Real, G: Dynamics> Mechanics<'_, T, G> {
    /// V = M⁻¹ P.
    #[inline(always)]
    pub fn velocity(&self, momentum: &G::Vector<T>) -> G::Vector<T> {
        G::velocity(self.inertia, momentum)
    }
    /// P = M V.
    #[inline(always)]
    pub fn momentum(&self, velocity: &G::Vector<T>) -> G::Vector<T> {
        G::momentum(self.inertia, velocity)
    }
    /// The load in body axes on one side of `t`, see [`Kinematics::inward`].
    #[inline(always)]
    pub fn load(&self, (t, inward): (T, f64), pose: &G::Pose<T>, velocity: &G::Vector<T>) -> G::Vector<T> {
        let at = Kinematics { inward, ..G::kinematics(t, pose, velocity) };
        G::covector(&self.loads.wrench_at(&at))
    }
    /// The state with this pose and body velocity.
    #[inline(always)]
    pub fn state(&self, pose: G::Pose<T>, velocity: &G::Vector<T>) -> State<T, G> {
        State { pose, momentum: self.momentum(velocity) }
    }
}
