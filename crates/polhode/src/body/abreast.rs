//! What acts on several bodies side by side, in lanes.

use super::derivative::FiniteDerivative;
use super::load::{Gravity, Kinematics, Load, TopGravity, Wrench};
use super::standard::{Loads, Shift, StandardLoad};
use crate::scalar::{F64x4, Lanes, Over, Real, lanes_of};
use core::any::Any;
use nalgebra::Vector3;

/// The loads of several bodies. What most bodies have is inlined into their steps; anything else is asked as it can be.
#[derive(Clone, Debug)]
pub(crate) enum Acting<S, O> {
    Nothing,
    Top(TopGravity<S>),
    Weight(Gravity<S>),
    Others(O),
}

/// Loads of four bodies, asked in lanes that need no wide registers, because nothing of them is inlined.
#[derive(Clone, Debug)]
pub(crate) struct Narrow(Box<Loads<F64x4>>);

/// True if two loads differ in their numbers alone; those that are more than numbers are like no other.
fn alike(a: &StandardLoad<f64>, b: &StandardLoad<f64>) -> bool {
    use StandardLoad as L;
    match (a, b) {
        (L::Gravity(a), L::Gravity(b)) => a.is_like(b),
        (L::TopGravity(a), L::TopGravity(b)) => a.is_like(b),
        (L::Moment(a), L::Moment(b)) => a.is_like(b),
        (L::Harmonic(a), L::Harmonic(b)) => a.is_like(b),
        (L::Force(a), L::Force(b)) => a.is_like(b),
        (L::HarmonicForce(a), L::HarmonicForce(b)) => a.is_like(b),
        (L::Drag(a), L::Drag(b)) => a.is_like(b),
        (L::SoftWall(a), L::SoftWall(b)) => a.is_like(b),
        (L::RotationalSpring(a), L::RotationalSpring(b)) => a.is_like(b),
        _ => false,
    }
}

/// Four loads that are alike.
fn load_of_four(four: [&StandardLoad<f64>; 4]) -> Option<StandardLoad<F64x4>> {
    if !four.iter().all(|one| alike(four[0], one)) {
        return None;
    }
    let mut each = four.map(Clone::clone);
    let mut numbers = each.each_mut().map(|one| one.numbers());
    let mut all = four[0].lift();
    for (i, (_, to)) in all.numbers().iter_mut().enumerate() {
        for (part, x) in to.parts().iter_mut().enumerate() {
            *x = F64x4::new(numbers.each_mut().map(|own| own[i].1.parts()[part]));
        }
    }
    Some(all)
}

/// Loads of four bodies, each of which is like those of the others in its place.
fn loads_of_four(four: [&Loads<f64>; 4]) -> Option<Loads<F64x4>> {
    let [first, others @ ..] = four;
    if others.iter().any(|one| one.list().len() != first.list().len()) {
        return None;
    }
    let lists = (0..first.list().len()).map(|i| load_of_four(four.map(|one| &one.list()[i])));
    let mut all = lists.collect::<Option<Vec<_>>>()?.into_iter().fold(Loads::none(), Loads::with);
    all.shift = match four.map(|one| one.shift.as_ref()) {
        [None, None, None, None] => None,
        [Some(a), Some(b), Some(c), Some(d)] => {
            let vector = |of: fn(&Shift<f64>) -> &Vector3<f64>| lanes_of([a, b, c, d].map(of));
            Some(Shift { offset: vector(|one| &one.offset), anchor: vector(|one| &one.anchor) })
        }
        _ => return None,
    };
    Some(all)
}

impl<S: Lanes> Acting<S, Narrow> {
    /// Of four bodies whose loads differ in their numbers alone.
    pub(crate) fn of_four(four: [&Loads<f64>; 4]) -> Option<Self> {
        use StandardLoad as L;
        let all = loads_of_four(four)?;
        let vector = |v: &Vector3<F64x4>| v.map(|x| S::of_four(x.four()));
        Some(match (all.list(), &all.shift) {
            ([], None) => Acting::Nothing,
            ([L::TopGravity(load)], None) => Acting::Top(TopGravity { mgl: S::of_four(load.mgl.four()) }),
            ([L::Gravity(load)], None) => Acting::Weight(Gravity {
                weight_space: vector(&load.weight_space),
                center_body: vector(&load.center_body),
            }),
            _ => Acting::Others(Narrow(Box::new(all))),
        })
    }
}

impl<S: Real, O> Acting<S, O> {
    /// Of bodies that all have nothing or one weight, with numbers that are made of theirs.
    pub(crate) fn of_each<R: Real>(each: &[&Loads<R>], number: impl Fn(&[R]) -> S) -> Option<Self> {
        use StandardLoad as L;
        if each.iter().any(|loads| loads.shift.is_some()) {
            return None;
        }
        let lists = || each.iter().map(|loads| loads.list());
        if lists().all(<[_]>::is_empty) {
            return Some(Acting::Nothing);
        }
        let tops = lists().map(|list| if let [L::TopGravity(load)] = list { Some(load.mgl) } else { None });
        if let Some(mgl) = tops.collect::<Option<Vec<_>>>() {
            return Some(Acting::Top(TopGravity { mgl: number(&mgl) }));
        }
        let weights = lists().map(|list| if let [L::Gravity(load)] = list { Some(load) } else { None });
        let weights: Vec<&Gravity<R>> = weights.collect::<Option<_>>()?;
        let vector = |of: fn(&Gravity<R>) -> &Vector3<R>| {
            Vector3::from_fn(|i, _| number(&weights.iter().map(|one| of(one)[i]).collect::<Vec<_>>()))
        };
        Some(Acting::Weight(Gravity {
            weight_space: vector(|one| &one.weight_space),
            center_body: vector(|one| &one.center_body),
        }))
    }
}

/// A motion in other lanes.
#[inline(always)]
fn in_lanes<S: Lanes>(at: &Kinematics<S>) -> Kinematics<F64x4> {
    let vector = |v: &Vector3<S>| v.map(|x| F64x4::new(x.four()));
    Kinematics {
        time: F64x4::new(at.time.four()),
        attitude: at.attitude.map(|x| F64x4::new(x.four())),
        position: vector(&at.position),
        velocity_body: vector(&at.velocity_body),
        omega_body: vector(&at.omega_body),
        inward: at.inward,
    }
}

/// What loads answer in other lanes; nothing at a scalar that is not that of the bodies.
#[inline(always)]
fn asked<S: Lanes, T: Over<S>, A>(at: &Kinematics<T>, ask: impl Fn(&Kinematics<F64x4>) -> A) -> Option<A> {
    let at: &dyn Any = at;
    at.downcast_ref().map(|at: &Kinematics<S>| ask(&in_lanes(at)))
}

/// Numbers of other lanes.
#[inline(always)]
fn back<S: Lanes, T: Over<S>>(x: F64x4) -> T {
    T::of(S::of_four(x.four()))
}

impl<S: Lanes> Load<S> for Narrow {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let found = asked::<S, T, _>(at, |at| self.0.wrench(at));
        // What cannot be had at a scalar is not a number, which every step refuses.
        let unknown = Vector3::from([F64x4::lift(f64::NAN); 3]);
        let found = found.unwrap_or(Wrench { force_body: unknown, moment_body: unknown });
        Wrench {
            force_body: found.force_body.map(back::<S, T>),
            moment_body: found.moment_body.map(back::<S, T>),
        }
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        asked::<S, T, _>(at, |at| self.0.potential(at))?.map(back::<S, T>)
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        self.0.is_field()
    }
}

impl<S: Real, O: Load<S>> Load<S> for Acting<S, O> {
    #[inline(always)]
    fn wrench<T: Over<S>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        match self {
            Acting::Nothing => Wrench::none(),
            Acting::Top(load) => load.wrench(at),
            Acting::Weight(load) => load.wrench(at),
            Acting::Others(loads) => loads.wrench(at),
        }
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        match self {
            Acting::Nothing => Some(T::zero()),
            Acting::Top(load) => load.potential(at),
            Acting::Weight(load) => load.potential(at),
            Acting::Others(loads) => loads.potential(at),
        }
    }
    #[inline(always)]
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        match self {
            Acting::Nothing => FiniteDerivative::none(),
            Acting::Top(load) => load.finite_derivative(from, to),
            Acting::Weight(load) => load.finite_derivative(from, to),
            Acting::Others(loads) => loads.finite_derivative(from, to),
        }
    }
    #[inline(always)]
    fn motion<T: Over<S>>(&self, t: T) -> Option<Kinematics<T>> {
        if let Acting::Others(loads) = self { loads.motion(t) } else { None }
    }
    #[inline(always)]
    fn is_field(&self) -> bool {
        match self {
            Acting::Nothing | Acting::Top(_) | Acting::Weight(_) => true,
            Acting::Others(loads) => loads.is_field(),
        }
    }
}
