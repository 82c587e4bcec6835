//! The loads of the library and those of one's own, chosen at run time, one or any number of them.

use super::derivative::FiniteDerivative;
use super::inverse::{PrescribedMotion, PrescribedRotation};
use super::lift::Number;
use super::load::{
    Drag, Force, Gravity, Harmonic, HarmonicForce, Kinematics, Load, Moment, RotationalSpring, SoftWall,
    TopGravity, Wrench,
};
use super::own::Own;
use crate::scalar::{Over, Real};
use nalgebra::Vector3;
use std::borrow::Cow;

macro_rules! standard_loads {
    ($($(#[$doc:meta])* $name:ident),*) => {
        /// Any one load, chosen at run time.
        #[derive(Clone, Debug)]
        pub enum StandardLoad<S: Real> {
            $($(#[$doc])* $name($name<S>),)*
        }
        impl<S: Real> Load<S> for StandardLoad<S> {
            #[inline(always)]
            fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
                match self {
                    $(StandardLoad::$name(load) => load.wrench(at),)*
                }
            }
            #[inline(always)]
            fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
                match self {
                    $(StandardLoad::$name(load) => load.potential(at),)*
                }
            }
            // Three have one of their own; the others share the code of the general one.
            #[inline(always)]
            fn finite_derivative<T: Over<S>>(
                &self,
                from: &Kinematics<T>,
                to: &Kinematics<T>,
            ) -> FiniteDerivative<T> {
                match self {
                    StandardLoad::Gravity(load) => load.finite_derivative(from, to),
                    StandardLoad::TopGravity(load) => load.finite_derivative(from, to),
                    StandardLoad::SoftWall(load) => load.finite_derivative(from, to),
                    other => Outlined(other).finite_derivative(from, to),
                }
            }
            #[inline(always)]
            fn motion<T: Over<S>>(&self, t: T) -> Option<Kinematics<T>> {
                match self {
                    $(StandardLoad::$name(load) => load.motion(t),)*
                }
            }
        }
        impl<S: Real> StandardLoad<S> {
            /// The load with every number as a constant of `T`.
            pub fn lift<T: Over<S>>(&self) -> StandardLoad<T> {
                match self {
                    $(StandardLoad::$name(load) => StandardLoad::$name(load.lift()),)*
                }
            }
            /// Its numbers and vectors by the names of their fields, to be changed.
            pub(crate) fn numbers(&mut self) -> Vec<(Cow<'static, str>, Number<'_, S>)> {
                match self {
                    $(StandardLoad::$name(load) => load.numbers_mut(),)*
                }
            }
        }
        $(impl<S: Real> From<$name<S>> for StandardLoad<S> {
            fn from(load: $name<S>) -> Self {
                StandardLoad::$name(load)
            }
        })*
    };
}
standard_loads!(
    /// Uniform gravity.
    Gravity,
    /// Gravity on a top.
    TopGravity,
    /// A constant moment.
    Moment,
    /// A moment that oscillates in time.
    Harmonic,
    /// A constant force at a point.
    Force,
    /// A force at a point that oscillates in time.
    HarmonicForce,
    /// A moment against the angular velocity.
    Drag,
    /// Krysl's potential with a wall.
    SoftWall,
    /// A spring that turns the body back.
    RotationalSpring,
    /// What makes a free body follow a motion.
    PrescribedMotion,
    /// What makes a body on a fixed point follow a motion.
    PrescribedRotation,
    /// One of one's own.
    Own
);

/// A load whose functions are not inlined, off the hottest path.
struct Outlined<'a, S: Real>(&'a StandardLoad<S>);

impl<S: Real> Load<S> for Outlined<'_, S> {
    #[inline(never)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        self.0.wrench(at)
    }
    #[inline(never)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        self.0.potential(at)
    }
}

/// Any number of loads, chosen at run time: what acts on the bodies of systems.
#[derive(Clone, Debug, Default)]
pub struct Loads<S: Real> {
    list: Vec<StandardLoad<S>>,
    /// The reference point of the loads, in body axes from the one that they are asked about, where that is another one.
    pub(super) offset: Option<Vector3<S>>,
    /// Where the point that they are asked about stands in space, where the body turns about it and it is not the origin.
    pub(super) anchor: Option<Vector3<S>>,
}

impl<S: Real> Loads<S> {
    /// No load.
    pub fn none() -> Self {
        Loads { list: Vec::new(), offset: None, anchor: None }
    }
    /// The same loads asked about another reference point, in body axes from the one that they have now.
    pub fn seen_from(mut self, point: &Vector3<S>) -> Self {
        self.offset = Some(self.offset.map_or(-point, |offset| offset - point));
        self
    }
    /// The same loads on a body that turns about this point of space, where positions count from.
    pub fn anchored_at(mut self, point: &Vector3<S>) -> Self {
        self.anchor = Some(self.anchor.map_or(*point, |anchor| anchor + point));
        self
    }
    /// The motion that the loads see, where it is not the one they are shown.
    fn seen<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<Kinematics<T>> {
        let anchored =
            self.anchor.map(|anchor| Kinematics { position: at.position + anchor.map(T::of), ..*at });
        match self.offset {
            Some(offset) => Some(anchored.as_ref().unwrap_or(at).of_point(&offset.map(T::of))),
            None => anchored,
        }
    }
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Each of them.
    pub fn list(&self) -> &[StandardLoad<S>] {
        &self.list
    }
    /// Each of them, to be changed.
    pub fn list_mut(&mut self) -> &mut [StandardLoad<S>] {
        &mut self.list
    }
    /// The potential of those that have one.
    pub fn known_potential(&self, at: &Kinematics<S>) -> S {
        let seen = self.seen(at);
        let at = seen.as_ref().unwrap_or(at);
        self.list
            .iter()
            .filter_map(|load| load.potential(at))
            .fold(S::zero(), |sum, potential| sum + potential)
    }
    /// One more load.
    pub fn with(mut self, load: impl Into<StandardLoad<S>>) -> Self {
        self.list.push(load.into());
        self
    }
}

impl<S: Real> Load<S> for Loads<S> {
    // Not inlined: every method would carry every load, in every scalar.
    #[inline(never)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let seen = self.seen(at);
        let mut sum = Wrench::none();
        for load in &self.list {
            let w = load.wrench(seen.as_ref().unwrap_or(at));
            sum.force_body += w.force_body;
            sum.moment_body += w.moment_body;
        }
        if let Some(offset) = self.offset {
            sum.moment_body += offset.map(T::of).cross(&sum.force_body);
        }
        sum
    }
    #[inline(never)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        let seen = self.seen(at);
        let mut sum = T::zero();
        for load in &self.list {
            sum += load.potential(seen.as_ref().unwrap_or(at))?;
        }
        Some(sum)
    }
    #[inline(never)]
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        let seen = self.seen(from).zip(self.seen(to));
        let (start, end) = seen.as_ref().map_or((from, to), |(start, end)| (start, end));
        let mut sum = FiniteDerivative::none();
        for load in &self.list {
            sum = sum + load.finite_derivative(start, end);
        }
        match self.offset {
            None => sum,
            Some(offset) => {
                // V(R, u + R r): the point r is Σ r_j q_j from u.
                let offset = offset.map(T::of);
                let moment = from.attitude.rotate(&offset).cross(&sum.force);
                FiniteDerivative {
                    base: sum.base + sum.position * offset.transpose(),
                    moment: sum.moment + moment,
                    ..sum
                }
            }
        }
    }
    /// Of a load that acts alone.
    fn motion<T: Over<S>>(&self, t: T) -> Option<Kinematics<T>> {
        match self.list.as_slice() {
            [load] => {
                let motion = load.motion(t)?;
                Some(self.offset.map_or(motion, |offset| motion.of_point(&-offset.map(T::of))))
            }
            _ => None,
        }
    }
}
