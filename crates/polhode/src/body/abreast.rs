//! What acts on several bodies side by side, in lanes.

use super::derivative::FiniteDerivative;
use super::load::{Gravity, Kinematics, Load, TopGravity, Wrench};
use super::standard::{Loads, Shift, StandardLoad};
use crate::scalar::{F64x4, Lanes, Over, Real, Task, lanes_of};
use core::any::Any;
use nalgebra::Vector3;

/// The loads of several bodies. What most bodies have is inlined into their steps; anything else is asked as it can be.
#[derive(Clone, Debug)]
pub(crate) enum Acting<S: Real, O> {
    Nothing,
    Top(TopGravity<S>),
    Weight(Gravity<S>),
    /// Several short ones, and the same as what answers all other questions.
    Several(Vec<StandardLoad<S>>, O),
    Others(O),
}

/// Loads of four bodies, asked in lanes that need no wide registers, because nothing of them is inlined.
#[derive(Clone, Debug)]
pub(crate) struct Narrow(Box<Loads<F64x4>>);

/// True if two loads differ in their numbers alone; those that are more than numbers are like no other.
fn alike<S: Real>(a: &StandardLoad<S>, b: &StandardLoad<S>) -> bool {
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

/// Loads that are alike as one, with numbers that are made of theirs.
fn load_of_each<S: Real, T: Real>(
    each: &[&StandardLoad<S>],
    number: &dyn Fn(&[S]) -> T,
) -> Option<StandardLoad<T>> {
    use StandardLoad as L;
    let first = each.first()?;
    if !each.iter().all(|one| alike(first, one)) {
        return None;
    }
    let numbers_of = |one: &&StandardLoad<S>| {
        let mut one = (*one).clone();
        one.numbers().iter_mut().flat_map(|(_, number)| number.parts().to_vec()).collect::<Vec<S>>()
    };
    let numbers: Vec<Vec<S>> = each.iter().map(numbers_of).collect();
    let mut places = 0..;
    let next = &mut |_| {
        let place = places.next().unwrap_or_default();
        number(&numbers.iter().map(|own| own[place]).collect::<Vec<_>>())
    };
    Some(match first {
        L::Gravity(load) => load.rebuilt(next).into(),
        L::TopGravity(load) => load.rebuilt(next).into(),
        L::Moment(load) => load.rebuilt(next).into(),
        L::Harmonic(load) => load.rebuilt(next).into(),
        L::Force(load) => load.rebuilt(next).into(),
        L::HarmonicForce(load) => load.rebuilt(next).into(),
        L::Drag(load) => load.rebuilt(next).into(),
        L::SoftWall(load) => load.rebuilt(next).into(),
        L::RotationalSpring(load) => load.rebuilt(next).into(),
        _ => return None,
    })
}

/// Those whose wrench is short, so that it is inlined where they are asked.
fn is_short<S: Real>(load: &StandardLoad<S>) -> bool {
    use StandardLoad as L;
    matches!(
        load,
        L::Gravity(_)
            | L::TopGravity(_)
            | L::Moment(_)
            | L::Harmonic(_)
            | L::Force(_)
            | L::HarmonicForce(_)
            | L::Drag(_)
    )
}

/// What several short loads do together.
struct Sum<'a, S: Real, T>(&'a [StandardLoad<S>], &'a Kinematics<T>);

impl<S: Real, T: Over<S>> Task for Sum<'_, S, T> {
    type Output = Wrench<T>;
    #[inline(always)]
    fn run(self) -> Wrench<T> {
        use StandardLoad as L;
        let Sum(list, at) = self;
        let mut sum = Wrench::none();
        for load in list {
            let wrench = match load {
                L::Gravity(load) => load.wrench(at),
                L::TopGravity(load) => load.wrench(at),
                L::Moment(load) => load.wrench(at),
                L::Harmonic(load) => load.wrench(at),
                L::Force(load) => load.wrench(at),
                L::HarmonicForce(load) => load.wrench(at),
                L::Drag(load) => load.wrench(at),
                // None of these is short. What is not a number every step refuses.
                _ => Wrench::moment(Vector3::from([T::lift(f64::NAN); 3])),
            };
            sum.force_body += wrench.force_body;
            sum.moment_body += wrench.moment_body;
        }
        sum
    }
}

/// Loads of four bodies, each of which is like those of the others in its place.
fn loads_of_four(four: [&Loads<f64>; 4]) -> Option<Loads<F64x4>> {
    let [first, others @ ..] = four;
    if others.iter().any(|one| one.list().len() != first.list().len()) {
        return None;
    }
    let lanes = |numbers: &[f64]| F64x4::new([0, 1, 2, 3].map(|lane| numbers[lane]));
    let lists = (0..first.list().len()).map(|i| load_of_each(&four.map(|one| &one.list()[i]), &lanes));
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
    /// Of bodies that all have the same short loads, with numbers that are made of theirs; elsewhere `others`.
    pub(crate) fn of_each<R: Real>(
        each: Option<&[&Loads<R>]>,
        number: &dyn Fn(&[R]) -> S,
        others: impl FnOnce() -> O,
    ) -> Self {
        use StandardLoad as L;
        let Some(list) = each.and_then(|each| short_loads_of_each(each, number)) else {
            return Acting::Others(others());
        };
        match list.as_slice() {
            [] => Acting::Nothing,
            [L::TopGravity(load)] => Acting::Top(*load),
            [L::Gravity(load)] => Acting::Weight(*load),
            _ => Acting::Several(list, others()),
        }
    }
}

/// Short loads that all bodies have, with numbers that are made of theirs.
fn short_loads_of_each<R: Real, S: Real>(
    each: &[&Loads<R>],
    number: &dyn Fn(&[R]) -> S,
) -> Option<Vec<StandardLoad<S>>> {
    let count = each.first()?.list().len();
    if each.iter().any(|loads| loads.shift.is_some() || loads.list().len() != count) {
        return None;
    }
    let load = |i: usize| {
        load_of_each(&each.iter().map(|loads| &loads.list()[i]).collect::<Vec<_>>(), number).filter(is_short)
    };
    (0..count).map(load).collect()
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
            Acting::Several(list, _) => T::apart(Sum(list, at)),
            Acting::Others(loads) => loads.wrench(at),
        }
    }
    #[inline(always)]
    fn potential<T: Over<S>>(&self, at: &Kinematics<T>) -> Option<T> {
        match self {
            Acting::Nothing => Some(T::zero()),
            Acting::Top(load) => load.potential(at),
            Acting::Weight(load) => load.potential(at),
            Acting::Several(_, loads) | Acting::Others(loads) => loads.potential(at),
        }
    }
    #[inline(always)]
    fn finite_derivative<T: Over<S>>(&self, from: &Kinematics<T>, to: &Kinematics<T>) -> FiniteDerivative<T> {
        match self {
            Acting::Nothing => FiniteDerivative::none(),
            Acting::Top(load) => load.finite_derivative(from, to),
            Acting::Weight(load) => load.finite_derivative(from, to),
            Acting::Several(_, loads) | Acting::Others(loads) => loads.finite_derivative(from, to),
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
            Acting::Several(_, loads) | Acting::Others(loads) => loads.is_field(),
        }
    }
}
