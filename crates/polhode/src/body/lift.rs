//! Loads at a richer scalar, and their numbers by name: the fields of every load, told once.

use super::inverse::{InverseDynamics, Winding};
use super::load::{
    Drag, Force, Gravity, Harmonic, HarmonicForce, Loads, Moment, RotationalSpring, SoftWall, StandardLoad,
    TopGravity,
};
use crate::group::Group;
use crate::scalar::{Over, Real};

macro_rules! fields {
    ($($name:ident [$($kept:ident)*] [$($scalar:ident)*] [$($vector:ident)*])*) => {$(
        impl<S: Real> $name<S> {
            /// The load with every number as a constant of `T`.
            pub fn lift<T: Over<S>>(&self) -> $name<T> {
                $name {
                    $($kept: self.$kept,)*
                    $($scalar: T::of(self.$scalar),)*
                    $($vector: self.$vector.map(T::of),)*
                }
            }
        }
    )*};
}
// What is no number, numbers, vectors.
fields!(
    Gravity [] [] [weight_space center_body]
    TopGravity [] [mgl] []
    Moment [frame] [] [value]
    Harmonic [frame] [frequency phase] [amplitude]
    Force [frame] [] [point_body value]
    HarmonicForce [frame] [frequency phase] [point_body amplitude]
    Drag [] [coefficient] []
    SoftWall [] [coulomb wall offset] []
    RotationalSpring [] [] [stiffness]
);

impl<S: Real, G: Group> InverseDynamics<S, G, Winding<S>> {
    /// The load with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> InverseDynamics<T, G, Winding<T>> {
        let Winding { frequency, turn_rate } = self.motion;
        InverseDynamics {
            inertia: G::lift_inertia(&self.inertia),
            motion: Winding { frequency: T::of(frequency), turn_rate: T::of(turn_rate) },
            about: self.about,
        }
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
        self.list().iter().fold(Loads::none(), |loads, load: &StandardLoad<S>| loads.with(load.lift()))
    }
}
