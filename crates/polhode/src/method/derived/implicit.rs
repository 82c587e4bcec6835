//! The implicit function theorem for one implicit scheme: the solution with its Jacobian, then one evaluation of the
//! equations per block of directions.

use super::{numbers, state_of};
use crate::body::{Body, Load, State};
use crate::group::{Coordinates, Group, Jet, lift};
use crate::method::scheme::{self, Outcome, Scheme, Start, Unknown};
use crate::scalar::Dual;
use crate::solve::{Factor, StepError, Work};
use nalgebra::Vector3;

/// The unknowns of kind `U` at the scalar `T`.
type Of<U, G, T> = <U as Unknown<G>>::Of<T>;
/// The scalar that carries the derivatives with respect to all of them.
type AllSlopes<U, G> = <Of<U, G, f64> as Coordinates<f64>>::Jet;

/// Residual and end with those derivatives.
type Slopes<G, U> = Outcome<AllSlopes<U, G>, G, Of<U, G, AllSlopes<U, G>>>;
/// The end of a step with derivatives, and the accelerations carried on.
type Followed<G, const N: usize> = (State<Dual<f64, N>, G>, Option<[<G as Group>::Vector<Dual<f64, N>>; 2]>);

/// The solution of a step, and how its equations and its end depend on the unknowns there.
pub(super) struct Solution<G: Group, U: Unknown<G>> {
    x: Of<U, G, f64>,
    jacobian: <Of<U, G, f64> as Coordinates<f64>>::Factor,
    slopes: Slopes<G, U>,
}

/// The solution, and what it leads to.
type Solved<G, U> = (Solution<G, U>, Outcome<f64, G, Of<U, G, f64>>);

/// Solves a scheme, with the exact Jacobian at the solution. A function of its own for each scheme and load, whatever the
/// number of directions.
#[inline(never)]
pub(super) fn solve<G: Group, L: Load<f64>, E: Scheme<f64, G, L>>(
    scheme: &E,
    mut start: Start<'_, f64, G, L>,
    work: &mut Work,
) -> Result<Solved<G, E::Unknown>, StepError> {
    let x = scheme::solve(scheme, &mut start, work)?;
    let end = scheme.outcome::<f64>(&start, &x);
    let seeds = Coordinates::generate(|i| <AllSlopes<E::Unknown, G>>::seed(x.at(i), i));
    let slopes = scheme.outcome(&start, &seeds);
    let mut jacobian = <Of<E::Unknown, G, f64> as Coordinates<f64>>::Factor::empty();
    jacobian.refactor(true, |j| Coordinates::generate(|i| slopes.residual.at(i).slope(j)));
    Ok((Solution { x, jacobian, slopes }, end))
}

/// Where a step of a block of directions starts.
#[inline(always)]
pub(super) fn departure<'a, G: Group, D: Load<Dual<f64, N>>, const N: usize>(
    loaded: bool,
    body: &'a Body<Dual<f64, N>, G, D>,
    state: &'a State<Dual<f64, N>, G>,
    t: f64,
    h: f64,
) -> Start<'a, Dual<f64, N>, G, D> {
    let (t, h) = (Dual::constant(t), Dual::constant(h));
    if loaded { Start::new(body, state, t, h) } else { Start::unloaded(body, state, t, h) }
}

/// The state at the end of a step with this solution, and what is carried on beside it.
///
/// Residual and end are evaluated once, for the solution as it stands. What its own derivative x' = -J⁻¹ R' adds is
/// known from the slopes, and needs no second evaluation.
#[inline(never)]
pub(super) fn follow<G: Group, D: Load<Dual<f64, N>>, V: Scheme<Dual<f64, N>, G, D>, const N: usize>(
    scheme: &V,
    start: &Start<'_, Dual<f64, N>, G, D>,
    solution: &Solution<G, V::Unknown>,
) -> Followed<G, N> {
    let fixed: Of<V::Unknown, G, Dual<f64, N>> = lift(&solution.x);
    let end = scheme.outcome(start, &fixed);
    let back: Of<V::Unknown, G, Dual<f64, N>> = solution.jacobian.solve_slopes(&end.residual);
    let moved = |value: Dual<f64, N>, slopes: AllSlopes<V::Unknown, G>| {
        let mut eps = value.eps;
        for j in 0..Of::<V::Unknown, G, f64>::LEN {
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
    let carried = end.carried.zip(solution.slopes.carried).map(|(values, slopes)| {
        [0, 1].map(|n| Coordinates::generate(|i| moved(values[n].at(i), slopes[n].at(i))))
    });
    (state, carried)
}
