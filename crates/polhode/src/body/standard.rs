//! The loads of the library and those of one's own, chosen at run time, one or any number of them.

use super::derivative::FiniteDerivative;
use super::inverse::{PrescribedMotion, PrescribedRotation};
use super::lift::Number;
use super::load::{
    Drag, Force, Gravity, Harmonic, HarmonicForce, Kinematics, Load, Moment, RotationalSpring, SoftWall,
    Switched, TopGravity, Wrench, has_value,
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
            // Four have one of their own; the others share the code of the general one.
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
                    StandardLoad::Force(load) => load.finite_derivative(from, to),
                    other => Outlined(other).finite_derivative(from, to),
                }
            }
            #[inline(always)]
            fn motion<T: Over<S>>(&self, t: T) -> Option<Kinematics<T>> {
                match self {
                    $(StandardLoad::$name(load) => load.motion(t),)*
                }
            }
            #[inline(always)]
            fn is_field(&self) -> bool {
                match self {
                    $(StandardLoad::$name(load) => load.is_field(),)*
                }
            }
            #[inline(always)]
            fn switches(&self, visit: &mut dyn FnMut(S)) {
                if let StandardLoad::SwitchedLoad(load) = self {
                    load.switches(visit);
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
    Own,
    /// One that is on between two times.
    SwitchedLoad
);

/// A load, chosen at run time, that is on between two times.
pub type SwitchedLoad<S> = Switched<S, Box<StandardLoad<S>>>;

impl<S: Real> Load<S> for Box<StandardLoad<S>> {
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        Outlined(self).wrench(at)
    }
}

impl<S: Real> SwitchedLoad<S> {
    /// The load with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> SwitchedLoad<T> {
        Switched { load: Box::new(StandardLoad::lift(&self.load)), on: T::of(self.on), off: T::of(self.off) }
    }
    /// Those of the load: when it switches is not among them.
    fn numbers_mut(&mut self) -> Vec<(Cow<'static, str>, Number<'_, S>)> {
        self.load.numbers()
    }
}

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
    /// Where they are, if not at the point that they are asked about.
    pub(super) shift: Option<Shift<S>>,
}

/// Where loads are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift<S> {
    /// Their reference point, in body axes from the one that they are asked about.
    pub(super) offset: Vector3<S>,
    /// Where the point that they are asked about stands in space, if the body turns about it.
    pub(super) anchor: Vector3<S>,
}

impl<S: Real> Shift<S> {
    fn none() -> Self {
        let zero = Vector3::from_element(S::zero());
        Shift { offset: zero, anchor: zero }
    }
    /// The motion that the loads see.
    fn seen<T: Over<S>>(&self, at: &Kinematics<T>) -> Kinematics<T> {
        let anchored = Kinematics { position: at.position + self.anchor.map(T::of), ..*at };
        anchored.of_point(&self.offset.map(T::of))
    }
}

impl<S: Real> Loads<S> {
    /// No load.
    pub fn none() -> Self {
        Loads { list: Vec::new(), shift: None }
    }
    /// The same loads asked about another reference point, in body axes from the one that they have now.
    pub fn seen_from(mut self, point: &Vector3<S>) -> Self {
        let shift = self.shift.unwrap_or(Shift::none());
        self.shift = Some(Shift { offset: shift.offset - point, ..shift });
        self
    }
    /// The same loads on a body that turns about this point of space, where positions count from.
    pub fn anchored_at(mut self, point: &Vector3<S>) -> Self {
        let shift = self.shift.unwrap_or(Shift::none());
        self.shift = Some(Shift { anchor: shift.anchor + point, ..shift });
        self
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
    /// The power of those that have no potential.
    pub(crate) fn power_without_potential(&self, at: &Kinematics<S>) -> S {
        let seen = self.shift.as_ref().map_or(*at, |shift| shift.seen(at));
        let mut sum = S::zero();
        for load in self.list.iter().filter(|load| load.potential(&seen).is_none()) {
            let wrench = load.wrench(&seen);
            sum += wrench.force_body.dot(&seen.velocity_body) + wrench.moment_body.dot(&seen.omega_body);
        }
        sum
    }
    /// The potential of those that have one.
    pub fn known_potential(&self, at: &Kinematics<S>) -> S {
        let seen = self.shift.as_ref().map(|shift| shift.seen(at));
        let at = seen.as_ref().unwrap_or(at);
        self.list
            .iter()
            .filter_map(|load| load.potential(at))
            .fold(S::zero(), |sum, potential| sum + potential)
    }
    /// All of them where they are.
    #[inline(never)]
    fn sum<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let Some((one, others)) = self.list.split_first() else { return Wrench::none() };
        let mut sum = Outlined(one).wrench(at);
        for load in others {
            let wrench = Outlined(load).wrench(at);
            sum.force_body += wrench.force_body;
            sum.moment_body += wrench.moment_body;
        }
        sum
    }
    fn sum_of_potentials<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        let Some((first, others)) = self.list.split_first() else { return Some(T::zero()) };
        let mut sum = Outlined(first).potential(at)?;
        for load in others {
            sum += Outlined(load).potential(at)?;
        }
        Some(sum)
    }
    #[inline(always)]
    fn sum_of_derivatives<T: Over<S>>(
        &self,
        from: &Kinematics<T>,
        to: &Kinematics<T>,
    ) -> FiniteDerivative<T> {
        let Some((first, others)) = self.list.split_first() else { return FiniteDerivative::none() };
        let mut sum = first.finite_derivative(from, to);
        for load in others {
            sum = sum + load.finite_derivative(from, to);
        }
        sum
    }
    /// One more load, before all others.
    pub(crate) fn after(mut self, load: impl Into<StandardLoad<S>>) -> Self {
        self.list.insert(0, load.into());
        self
    }
    /// The times at which they are not smooth: where they jump, and where they have a kink.
    pub(crate) fn breaks(&self) -> Vec<f64> {
        fn kinks<S: Real>(load: &StandardLoad<S>) -> Vec<f64> {
            match load {
                StandardLoad::Own(own) => own.kinks(),
                StandardLoad::SwitchedLoad(switched) => kinks(&switched.load),
                _ => Vec::new(),
            }
        }
        let mut times: Vec<f64> = self.list.iter().flat_map(kinks).collect();
        self.switches(&mut |time: S| times.push(time.largest()));
        times
    }
    /// Those of them on which steps of a method of this order land: a kink costs a method of second order nothing.
    pub(crate) fn landings(&self, order: u32) -> Vec<f64> {
        if order > 2 {
            return self.breaks();
        }
        let mut times = Vec::new();
        self.switches(&mut |time: S| times.push(time.largest()));
        times
    }
    /// The reference point of the loads, in body axes from the one that they are asked about.
    pub(crate) fn offset(&self) -> Vector3<S> {
        self.shift.unwrap_or(Shift::none()).offset
    }
    /// One more load.
    pub fn with(mut self, load: impl Into<StandardLoad<S>>) -> Self {
        self.list.push(load.into());
        self
    }
}

impl Loads<f64> {
    /// The first that has no value here.
    pub(crate) fn without_value(&self, at: &Kinematics<f64>) -> Option<usize> {
        let seen = self.shift.as_ref().map_or(*at, |shift| shift.seen(at));
        self.list.iter().position(|load| !has_value(load, &seen))
    }
}

impl<S: Real> Load<S> for Loads<S> {
    // Not inlined: every method would carry every load, in every scalar.
    #[inline(never)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        match (self.list.as_slice(), &self.shift) {
            // Most bodies have one load, which is asked for nothing but itself. Those that call functions are not here: the
            // others would save registers for them.
            ([StandardLoad::Own(own)], None) => own.wrench(at),
            ([load], None) => match load {
                StandardLoad::Gravity(load) => load.wrench(at),
                StandardLoad::TopGravity(load) => load.wrench(at),
                StandardLoad::Moment(load) => load.wrench(at),
                StandardLoad::Force(load) => load.wrench(at),
                StandardLoad::Drag(load) => load.wrench(at),
                other => Outlined(other).wrench(at),
            },
            ([], None) => Wrench::none(),
            (_, None) => self.sum(at),
            (_, Some(shift)) => Shifted(self, shift).wrench(at),
        }
    }
    #[inline(never)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        match &self.shift {
            None => self.sum_of_potentials(at),
            Some(shift) => Shifted(self, shift).potential(at),
        }
    }
    #[inline(never)]
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        match &self.shift {
            None => self.sum_of_derivatives(from, to),
            Some(shift) => Shifted(self, shift).finite_derivative(from, to),
        }
    }
    #[inline(always)]
    fn switches(&self, visit: &mut dyn FnMut(S)) {
        self.list.iter().for_each(|load| load.switches(visit));
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        match self.list.as_slice() {
            [StandardLoad::Own(own)] => own.is_field(),
            list => list.iter().all(|load| load.is_field()),
        }
    }
    /// Of a load that acts alone.
    fn motion<T: Over<S>>(&self, t: T) -> Option<Kinematics<T>> {
        match (self.list.as_slice(), &self.shift) {
            ([load], None) => load.motion(t),
            ([load], Some(shift)) => Some(load.motion(t)?.of_point(&-shift.offset.map(T::of))),
            _ => None,
        }
    }
}

/// Loads with where they are, off the hottest path.
struct Shifted<'a, S: Real>(&'a Loads<S>, &'a Shift<S>);

impl<S: Real> Load<S> for Shifted<'_, S> {
    #[inline(never)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let sum = self.0.sum(&self.1.seen(at));
        let moment = self.1.offset.map(T::of).cross(&sum.force_body);
        Wrench { moment_body: sum.moment_body + moment, ..sum }
    }
    #[inline(never)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        self.0.sum_of_potentials(&self.1.seen(at))
    }
    #[inline(never)]
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        let sum = self.0.sum_of_derivatives(&self.1.seen(from), &self.1.seen(to));
        // V(R, u + R r): the point r is Σ r_j q_j from u.
        let offset = self.1.offset.map(T::of);
        FiniteDerivative {
            base: sum.base + sum.position * offset.transpose(),
            moment: sum.moment + from.attitude.rotate(&offset).cross(&sum.force),
            ..sum
        }
    }
}
