//! The implicit function theorem for one implicit scheme: the solution with its Jacobian, then one evaluation of the
//! equations for several directions.

use super::directions::{Act, Directions, Numbers, fixed, numbers, state_of};
use super::fan::Fan;
use crate::body::Dynamics;
use crate::body::{AnyBody, BodyAt, State};
use crate::group::{Coordinates, Jet};
use crate::method::implicit::{self, Solved};
use crate::method::scheme::{Accelerations, Of, Outcome, Rates, Said, Scheme, Start, Unknown};
use crate::scalar::Task;
use crate::solve::{Factor, StepError, Work};

/// Unknowns of this kind.
type X<U, G, T> = <U as Unknown>::Of<G, T>;

/// What equations with such unknowns say.
type Answer<U, G, T> = Outcome<T, G, X<U, G, T>>;

/// Something for each pass over the derivatives with respect to them.
type Passes<U, P> = <U as Unknown>::Passes<P>;

/// The solution of a step, and how its equations and its end depend on the unknowns there.
pub(super) struct Solution<G: Dynamics, U: Unknown> {
    x: X<U, G, f64>,
    jacobian: <X<U, G, f64> as Coordinates<f64>>::Factor,
    /// Three derivatives at a time.
    slopes: Passes<U, Answer<U, G, Jet<f64>>>,
    /// Those of the state at the end, number by number.
    ends: Passes<U, Numbers<Jet<f64>, G>>,
}

/// The solution, and what it leads to.
type WithEnd<G, E> = (Solution<G, <E as Scheme>::Unknown>, Said<E, G, f64>);

/// Steps of a scheme with derivatives. A trait for the reason that [`Solved`] is one.
pub(super) trait Differentiated: Scheme + Sized {
    /// Solves the equations, with the exact Jacobian at the solution. A function of its own, whatever the number of directions.
    #[inline(never)]
    fn solve<G: Dynamics>(
        &self,
        body: &dyn AnyBody<f64, G>,
        state: &State<f64, G>,
        interval: (f64, f64),
        carried: impl FnOnce(&Start<'_, f64, G>) -> Rates<f64, G>,
        work: &mut Work,
    ) -> Result<WithEnd<G, Self>, StepError> {
        let mut start = implicit::begin(self, body, state, interval, None, carried);
        let x = self.solution(body, &mut start, work)?;
        let end = self.equations(&start, &x);
        let mut slopes = Self::Unknown::passes(self.slopes(body, &start, &x, 0));
        for (pass, slopes) in slopes.as_mut().iter_mut().enumerate().take(Of::<Self, G, f64>::PASSES).skip(1)
        {
            *slopes = self.slopes(body, &start, &x, pass);
        }
        let mut jacobian = <Of<Self, G, f64> as Coordinates<f64>>::Factor::empty();
        jacobian.refactor(true, |j: usize| {
            Coordinates::generate(|i| slopes.as_ref()[j / 3].residual.at(i).eps[j % 3])
        });
        let mut ends = Self::Unknown::passes(numbers(&slopes.as_ref()[0].state));
        for (ends, said) in ends.as_mut().iter_mut().zip(slopes.as_ref()).skip(1) {
            *ends = numbers(&said.state);
        }
        Ok((Solution { x, jacobian, slopes, ends }, end))
    }

    /// Takes directions to the end of a step with this solution, and with the accelerations that they have carried there, if
    /// they have.
    ///
    /// Residual and end are evaluated once, for the solution as it stands. What its own derivative x' = -J⁻¹ R' adds is
    /// known from the slopes, and needs no second evaluation.
    #[inline(always)]
    fn follow<G: Dynamics, D: Fan>(
        &self,
        directions: &mut Directions<G, D>,
        (t, h): (f64, f64),
        carried: bool,
        solution: &Solution<G, Self::Unknown>,
    ) {
        let accelerations = self.accelerations();
        let start = D::apart(Starting {
            directions,
            interval: (D::lift(t), D::lift(h)),
            loaded: self.is_loaded() || accelerations != Accelerations::Unused,
            fresh: accelerations == Accelerations::Fresh
                || accelerations == Accelerations::Carried && !carried,
            carried: accelerations == Accelerations::Carried && carried,
        });
        // Here, where it is seen which load is asked, and inlined.
        let start = Start { body: directions.body.mechanics(), ..start };
        let x = fixed(&solution.x);
        let end = if D::IN_PLACE { self.equations(&start, &x) } else { self.said(&start, &x) };
        let (state, carried) = D::apart(Ending { end: &end, solution });
        directions.next = state;
        if let Some(carried) = carried {
            directions.next_rates = carried;
        }
    }
}

impl<E: Scheme> Differentiated for E {}

/// What directions start a step with. A function of its own, whatever the scheme.
struct Starting<'a, G: Dynamics, D: Fan> {
    directions: &'a Directions<G, D>,
    interval: (D, D),
    /// True if the load counts, and where accelerations come from.
    loaded: bool,
    fresh: bool,
    carried: bool,
}

impl<'a, G: Dynamics, D: Fan> Task for Starting<'a, G, D> {
    type Output = Start<'a, D, G>;
    #[inline(always)]
    fn run(self) -> Start<'a, D, G> {
        let (Directions { body, next: state, rates, .. }, (t, h)) = (self.directions, self.interval);
        let start = match self.loaded {
            true => Start::new(&**body, state, t, h),
            false => Start::unloaded(&**body, state, t, h),
        };
        match (self.fresh, self.carried) {
            (true, _) => Start { rates: start.fresh_rates(), ..start },
            (_, true) => Start { rates: *rates, ..start },
            _ => start,
        }
    }
}

/// Where directions end that have been told this at a solution, and what they carry on: what its own derivative x' = -J⁻¹ R' adds
/// is added. A function of its own too.
struct Ending<'a, G: Dynamics, D: Fan, U: Unknown> {
    end: &'a Answer<U, G, D>,
    solution: &'a Solution<G, U>,
}

impl<G: Dynamics, D: Fan, U: Unknown> Task for Ending<'_, G, D, U> {
    type Output = (State<D, G>, Option<Rates<D, G>>);
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Ending { end, solution } = self;
        let mut back = end.residual;
        solution.jacobian.solve_beside(back.numbers_mut());
        let (passes, ends) = (solution.slopes.as_ref(), solution.ends.as_ref());
        // Loops, because a closure is not always inlined.
        let (mut attitude, mut position, mut momentum) = numbers(&end.state);
        for (i, x) in attitude.iter_mut().enumerate() {
            *x = moved::<U, G, D>(*x, &back, |pass| ends[pass].0[i]);
        }
        if G::MOVES {
            for (i, x) in position.iter_mut().enumerate() {
                *x = moved::<U, G, D>(*x, &back, |pass| ends[pass].1[i]);
            }
        }
        for (i, x) in momentum.numbers_mut().iter_mut().enumerate() {
            *x = moved::<U, G, D>(*x, &back, |pass| ends[pass].2.at(i));
        }
        let carried = match (end.carried, passes[0].carried) {
            (Some(mut values), Some(first)) => {
                let slopes = |pass: usize| passes[pass].carried.unwrap_or(first);
                for (i, x) in values.velocity.numbers_mut().iter_mut().enumerate() {
                    *x = moved::<U, G, D>(*x, &back, |pass| slopes(pass).velocity.at(i));
                }
                for (i, x) in values.algorithmic.numbers_mut().iter_mut().enumerate() {
                    *x = moved::<U, G, D>(*x, &back, |pass| slopes(pass).algorithmic.at(i));
                }
                Some(values)
            }
            _ => None,
        };
        (state_of(attitude, position, momentum), carried)
    }
}

/// A number with what the derivative of the unknowns, -`back`, adds to its own.
#[inline(always)]
fn moved<U: Unknown, G: Dynamics, D: Fan>(
    mut value: D,
    back: &X<U, G, D>,
    slope: impl Fn(usize) -> Jet<f64>,
) -> D {
    for pass in 0..X::<U, G, f64>::PASSES {
        for (j, slope) in slope(pass).eps.into_iter().enumerate() {
            value = value.less(slope, back.at(3 * pass + j));
        }
    }
    value
}

/// Directions go to the end of a step from `t` of size `h` with this solution.
pub(super) struct Following<'a, G: Dynamics, E: Scheme> {
    pub(super) scheme: &'a E,
    pub(super) solution: &'a Solution<G, E::Unknown>,
    pub(super) interval: (f64, f64),
    /// True if accelerations have been carried here.
    pub(super) carried: bool,
}

impl<G: Dynamics, E: Scheme> Act<G> for Following<'_, G, E> {
    const IN_PLACE: bool = E::IN_PLACE;
    #[inline(always)]
    fn on<D: Fan>(&self, directions: &mut Directions<G, D>) -> Result<(), StepError> {
        self.scheme.follow(directions, self.interval, self.carried, self.solution);
        Ok(())
    }
}
