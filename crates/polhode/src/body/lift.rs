//! Loads at a richer scalar, and their numbers by name: the fields of every load, told once.

use super::Dynamics;
use super::inverse::{BauchauTrajectory, InverseDynamics};
use super::load::{
    Drag, Force, Gravity, Harmonic, HarmonicForce, Moment, RotationalSpring, SoftWall, TopGravity,
};
use super::standard::{Loads, Shift, StandardLoad};
use crate::scalar::{Over, Real};
use nalgebra::Vector3;
use std::borrow::Cow;

/// A number or a vector of a load, to be changed.
pub(crate) enum Number<'a, S> {
    /// One.
    One(&'a mut S),
    /// Three, in space or in body axes.
    Three(&'a mut Vector3<S>),
}

impl<S> Number<'_, S> {
    /// Each of its numbers.
    pub(crate) fn parts(&mut self) -> &mut [S] {
        match self {
            Number::One(x) => core::slice::from_mut(*x),
            Number::Three(v) => v.as_mut_slice(),
        }
    }
}

macro_rules! fields {
    ($($name:ident [$($kept:ident)*] [$($scalar:ident)*] [$($vector:ident)*])*) => {$(
        impl<S: Real> $name<S> {
            /// The load with every number as a constant of `T`.
            pub fn lift<T: Over<S>>(&self) -> $name<T> {
                self.rebuilt(&mut T::of)
            }
            /// The load with other numbers for its own, in the order in which they are listed.
            pub(super) fn rebuilt<T: Real>(&self, number: &mut dyn FnMut(S) -> T) -> $name<T> {
                $name {
                    $($kept: self.$kept,)*
                    $($scalar: number(self.$scalar),)*
                    $($vector: self.$vector.map(&mut *number),)*
                }
            }
            /// True if the other one differs in its numbers alone.
            pub(super) fn is_like(&self, other: &Self) -> bool {
                let $name { $($kept,)* .. } = other;
                true $(&& self.$kept == *$kept)*
            }
            pub(super) fn numbers_mut(&mut self) -> Vec<(Cow<'static, str>, Number<'_, S>)> {
                vec![
                    $((stringify!($scalar).into(), Number::One(&mut self.$scalar)),)*
                    $((stringify!($vector).into(), Number::Three(&mut self.$vector)),)*
                ]
            }
        }
    )*};
}
// What is not numeric, numbers, vectors.
fields!(
    Gravity [] [] [weight_space center_body]
    TopGravity [] [mgl] []
    Moment [frame] [] [value]
    Harmonic [frame] [frequency phase] [amplitude]
    Force [frame] [] [value point_body]
    HarmonicForce [frame] [frequency phase] [amplitude point_body]
    Drag [] [coefficient] []
    SoftWall [] [coulomb wall offset] []
    RotationalSpring [] [] [stiffness]
);

impl<S: Real, G: Dynamics> InverseDynamics<S, G, BauchauTrajectory<S>> {
    /// The load with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> InverseDynamics<T, G, BauchauTrajectory<T>> {
        let BauchauTrajectory { frequency, turn_rate } = self.motion;
        InverseDynamics {
            inertia: G::lift_inertia(&self.inertia),
            motion: BauchauTrajectory { frequency: T::of(frequency), turn_rate: T::of(turn_rate) },
            about: self.about,
        }
    }
    pub(super) fn numbers_mut(&mut self) -> Vec<(Cow<'static, str>, Number<'_, S>)> {
        let BauchauTrajectory { frequency, turn_rate } = &mut self.motion;
        vec![("frequency".into(), Number::One(frequency)), ("turn_rate".into(), Number::One(turn_rate))]
    }
}

impl<S: Real> Loads<S> {
    /// The loads with every number as a constant of `T`.
    ///
    /// ```
    /// use polhode::body::{Drag, Loads, StandardLoad};
    /// use polhode::scalar::Dual;
    /// // How a drag acts, with the derivative with respect to its coefficient.
    /// let mut loads = Loads::none().with(Drag { coefficient: 0.5 }).lift::<Dual<f64, 1>>();
    /// if let StandardLoad::Drag(drag) = &mut loads.list_mut()[0] {
    ///     drag.coefficient.eps = [1.0];
    /// }
    /// ```
    pub fn lift<T: Over<S>>(&self) -> Loads<T> {
        let mut none = Loads::none();
        none.shift = self
            .shift
            .map(|Shift { offset, anchor }| Shift { offset: offset.map(T::of), anchor: anchor.map(T::of) });
        self.list().iter().fold(none, |loads, load: &StandardLoad<S>| loads.with(load.lift()))
    }
}
