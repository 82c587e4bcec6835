//! The implicit function theorem for one implicit scheme: the solution with its Jacobian, then one evaluation of the
//! equations per block of directions.

use super::{numbers, state_of};
use crate::body::{AnyBody, BodyAt, JetOf, State};
use crate::group::{Coordinates, Group, Jet, lift};
use crate::method::implicit;
use crate::method::scheme::{Accelerations, Of, Rates, Said, Scheme, Slopes, Start};
use crate::scalar::Dual;
use crate::solve::{Factor, StepError, Work};
use nalgebra::Vector3;

/// The end of a step with derivatives, and the accelerations carried on.
type Followed<G, const N: usize> = (State<Dual<f64, N>, G>, Option<Rates<Dual<f64, N>, G>>);

/// The solution of a step, and how its equations and its end depend on the unknowns there.
pub(super) struct Solution<G: Group, E: Scheme> {
    x: Of<E, G, f64>,
    jacobian: <Of<E, G, f64> as Coordinates<f64>>::Factor,
    slopes: Said<E, G, Slopes<E, G, f64>>,
}

/// The solution, and what it leads to.
type Solved<G, E> = (Solution<G, E>, Said<E, G, f64>);

/// Solves a scheme, with the exact Jacobian at the solution. A function of its own for each scheme, whatever the number
/// of directions.
#[inline(never)]
pub(super) fn solve<G: Group, E: Scheme>(
    scheme: &E,
    body: &dyn AnyBody<f64, G>,
    state: &State<f64, G>,
    interval: (f64, f64),
    carried: impl FnOnce(&Start<'_, f64, G>) -> Rates<f64, G>,
    work: &mut Work,
) -> Result<Solved<G, E>, StepError> {
    let mut start = implicit::begin(scheme, body, state, interval, carried);
    let x = implicit::solve(scheme, body, &mut start, work)?;
    let end = scheme.equations(&start, &x);
    let slopes = implicit::slopes(scheme, body, &start, &x);
    let mut jacobian = <Of<E, G, f64> as Coordinates<f64>>::Factor::empty();
    jacobian.refactor(true, |j| Coordinates::generate(|i| slopes.residual.at(i).slope(j)));
    Ok((Solution { x, jacobian, slopes }, end))
}

/// The state at the end of a step with this solution, and what is carried on beside it.
///
/// Residual and end are evaluated once, for the solution as it stands. What its own derivative x' = -J⁻¹ R' adds is
/// known from the slopes, and needs no second evaluation.
#[inline(never)]
pub(super) fn follow<G: Group, E: Scheme, const N: usize>(
    scheme: &E,
    body: &dyn BodyAt<Dual<f64, N>, G>,
    state: &State<Dual<f64, N>, G>,
    (t, h): (Dual<f64, N>, Dual<f64, N>),
    carried: Option<Rates<Dual<f64, N>, G>>,
    solution: &Solution<G, E>,
) -> Followed<G, N> {
    let accelerations = scheme.accelerations();
    let start = match scheme.is_loaded() || accelerations != Accelerations::Unused {
        true => Start::new(body, state, t, h),
        false => Start::unloaded(body, state, t, h),
    };
    let start = match (accelerations, carried) {
        (Accelerations::Unused, _) => start,
        (Accelerations::Carried, Some(rates)) => Start { rates, ..start },
        _ => Start { rates: start.fresh_rates(), ..start },
    };
    let fixed: Of<E, G, Dual<f64, N>> = lift(&solution.x);
    let end = scheme.equations(&start, &fixed);
    let back: Of<E, G, Dual<f64, N>> = solution.jacobian.solve_slopes(&end.residual);
    let moved = |value: Dual<f64, N>, slopes: JetOf<f64, Of<E, G, f64>>| {
        let mut eps = value.eps;
        for j in 0..Of::<E, G, f64>::LEN {
            let (slope, back) = (slopes.slope(j), back.at(j).eps);
            for (eps, back) in eps.iter_mut().zip(back) {
                *eps -= slope * back;
            }
        }
        Dual { re: value.re, eps }
    };
    let (values, slopes) = (numbers(&end.state), numbers(&solution.slopes.state));
    let state = state_of(
        core::array::from_fn(|i| moved(values.0[i], slopes.0[i])),
        match G::MOVES {
            true => Vector3::from_fn(|i, _| moved(values.1[i], slopes.1[i])),
            false => values.1,
        },
        Coordinates::generate(|i| moved(values.2.at(i), slopes.2.at(i))),
    );
    let carried = end.carried.zip(solution.slopes.carried).map(|(values, slopes)| Rates {
        velocity: Coordinates::generate(|i| moved(values.velocity.at(i), slopes.velocity.at(i))),
        algorithmic: Coordinates::generate(|i| moved(values.algorithmic.at(i), slopes.algorithmic.at(i))),
    });
    (state, carried)
}
