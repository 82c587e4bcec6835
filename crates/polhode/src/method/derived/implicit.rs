//! The implicit function theorem for one implicit scheme: the solution with its Jacobian, then one evaluation of the
//! equations per block of directions.

use super::{numbers, state_of};
use crate::body::Dynamics;
use crate::body::{AnyBody, BodyAt, State};
use crate::group::{Coordinates, Jet, lift};
use crate::method::implicit::{self, Solved};
use crate::method::scheme::{Accelerations, Of, Rates, Said, Scheme, Start, Unknown};
use crate::scalar::Dual;
use crate::solve::{Factor, StepError, Work};
use nalgebra::Vector3;

/// The end of a step with derivatives, and the accelerations carried on.
type Followed<G> = (State<Dual<f64, 1>, G>, Option<Rates<Dual<f64, 1>, G>>);

/// Something for each pass over the derivatives with respect to the unknowns of a scheme.
type Passes<E, P> = <<E as Scheme>::Unknown as Unknown>::Passes<P>;

/// The solution of a step, and how its equations and its end depend on the unknowns there.
pub(super) struct Solution<G: Dynamics, E: Scheme> {
    x: Of<E, G, f64>,
    jacobian: <Of<E, G, f64> as Coordinates<f64>>::Factor,
    /// Three derivatives at a time.
    slopes: Passes<E, Said<E, G, Jet<f64>>>,
}

/// The solution, and what it leads to.
type WithEnd<G, E> = (Solution<G, E>, Said<E, G, f64>);

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
        Ok((Solution { x, jacobian, slopes }, end))
    }

    /// The state at the end of a step with this solution, and what is carried on beside it.
    ///
    /// Residual and end are evaluated once, for the solution as it stands. What its own derivative x' = -J⁻¹ R' adds is
    /// known from the slopes, and needs no second evaluation.
    #[inline(never)]
    fn follow<G: Dynamics>(
        &self,
        body: &dyn BodyAt<Dual<f64, 1>, G>,
        state: &State<Dual<f64, 1>, G>,
        (t, h): (Dual<f64, 1>, Dual<f64, 1>),
        carried: Option<Rates<Dual<f64, 1>, G>>,
        solution: &Solution<G, Self>,
    ) -> Followed<G> {
        let accelerations = self.accelerations();
        let start = match self.is_loaded() || accelerations != Accelerations::Unused {
            true => Start::new(body, state, t, h),
            false => Start::unloaded(body, state, t, h),
        };
        let start = match (accelerations, carried) {
            (Accelerations::Unused, _) => start,
            (Accelerations::Carried, Some(rates)) => Start { rates, ..start },
            _ => Start { rates: start.fresh_rates(), ..start },
        };
        let fixed: Of<Self, G, Dual<f64, 1>> = lift(&solution.x);
        let end = self.equations(&start, &fixed);
        let back: Of<Self, G, Dual<f64, 1>> = solution.jacobian.solve_slopes(&end.residual);
        let moved = |value: Dual<f64, 1>, slope: &dyn Fn(usize) -> Jet<f64>| {
            let mut eps = value.eps;
            for pass in 0..Of::<Self, G, f64>::PASSES {
                let slopes = slope(pass).eps;
                for (j, slope) in slopes.into_iter().enumerate() {
                    for (eps, back) in eps.iter_mut().zip(back.at(3 * pass + j).eps) {
                        *eps -= slope * back;
                    }
                }
            }
            Dual { re: value.re, eps }
        };
        let values = numbers(&end.state);
        let passes = solution.slopes.as_ref();
        let mut slopes = Self::Unknown::passes(numbers(&passes[0].state));
        for (slopes, said) in slopes.as_mut().iter_mut().zip(passes).skip(1) {
            *slopes = numbers(&said.state);
        }
        let slopes = slopes.as_ref();
        let state = state_of(
            core::array::from_fn(|i| moved(values.0[i], &|pass| slopes[pass].0[i])),
            match G::MOVES {
                true => Vector3::from_fn(|i, _| moved(values.1[i], &|pass| slopes[pass].1[i])),
                false => values.1,
            },
            Coordinates::generate(|i| moved(values.2.at(i), &|pass| slopes[pass].2.at(i))),
        );
        let carried = end.carried.zip(passes[0].carried).map(|(values, first)| {
            let slopes = |pass: usize| passes[pass].carried.unwrap_or(first);
            Rates {
                velocity: Coordinates::generate(|i| {
                    moved(values.velocity.at(i), &|pass| slopes(pass).velocity.at(i))
                }),
                algorithmic: Coordinates::generate(|i| {
                    moved(values.algorithmic.at(i), &|pass| slopes(pass).algorithmic.at(i))
                }),
            }
        });
        (state, carried)
    }
}

impl<E: Scheme> Differentiated for E {}
