//! The implicit function theorem for one implicit scheme: the solution with its Jacobian, then one evaluation of the
//! equations per block of directions.

use super::{numbers, state_of};
use crate::body::{Body, Load, State};
use crate::group::{Coordinates, Group, Jet, lift};
use crate::method::scheme::{Outcome, Scheme, Start, Unknown, solve};
use crate::scalar::Dual;
use crate::solve::{Factor, StepError, Work};
use nalgebra::Vector3;

/// The unknowns of kind `U` at the scalar `T`.
type Of<U, G, T> = <U as Unknown<G>>::Of<T>;
/// The scalar that carries the derivatives with respect to all of them.
type AllSlopes<U, G> = <Of<U, G, f64> as Coordinates<f64>>::Jet;

/// The solution of a step, and how its equations and its end depend on the unknowns there.
pub(super) struct Solution<G: Group, U: Unknown<G>> {
    x: Of<U, G, f64>,
    jacobian: <Of<U, G, f64> as Coordinates<f64>>::Factor,
    slopes: Outcome<AllSlopes<U, G>, G, Of<U, G, AllSlopes<U, G>>>,
}

/// A plain step to be taken.
pub(super) struct Step<'a, G: Group, L> {
    pub(super) body: &'a Body<f64, G, L>,
    pub(super) state: &'a State<f64, G>,
    pub(super) t: f64,
    pub(super) h: f64,
    pub(super) work: &'a mut Work,
}

/// The solution, and what it leads to.
type Solved<G, U> = (Solution<G, U>, Outcome<f64, G, Of<U, G, f64>>);

impl<G: Group, L: Load<f64>> Step<'_, G, L> {
    /// Solves a scheme, with the exact Jacobian at the solution.
    #[inline(never)]
    pub(super) fn solve<E: Scheme<f64, G, L>>(
        &mut self,
        scheme: impl FnOnce(&Start<'_, f64, G, L>) -> E,
    ) -> Result<Solved<G, E::Unknown>, StepError> {
        let mut start = Start::new(self.body, self.state, self.t, self.h);
        let scheme = scheme(&start);
        let x = solve(&scheme, &mut start, self.work)?;
        let end = scheme.outcome::<f64>(&start, &x);
        let seeds = Coordinates::generate(|i| <AllSlopes<E::Unknown, G>>::seed(x.at(i), i));
        let slopes = scheme.outcome(&start, &seeds);
        let mut jacobian = <Of<E::Unknown, G, f64> as Coordinates<f64>>::Factor::empty();
        jacobian.refactor(true, |j| Coordinates::generate(|i| slopes.residual.at(i).slope(j)));
        Ok((Solution { x, jacobian, slopes }, end))
    }
}

/// A block of directions: the body and its state with derivatives.
pub(super) struct Block<'a, G: Group, D, const N: usize> {
    pub(super) body: &'a Body<Dual<f64, N>, G, D>,
    pub(super) state: &'a mut State<Dual<f64, N>, G>,
    pub(super) t: Dual<f64, N>,
    pub(super) h: Dual<f64, N>,
}

impl<G: Group, D: Load<Dual<f64, N>>, const N: usize> Block<'_, G, D, N> {
    /// Moves the state to the end of the step with this solution; what is carried on beside it.
    ///
    /// Residual and end are evaluated once, for the solution as it stands. What its own derivative x' = -J⁻¹ R' adds is
    /// known from the slopes, and needs no second evaluation.
    #[inline(never)]
    pub(super) fn follow<V: Scheme<Dual<f64, N>, G, D>>(
        self,
        scheme: impl FnOnce(&Start<'_, Dual<f64, N>, G, D>) -> V,
        solution: &Solution<G, V::Unknown>,
    ) -> Option<[G::Vector<Dual<f64, N>>; 2]> {
        let Block { body, state, t, h } = self;
        let start =
            if V::LOADED { Start::new(body, state, t, h) } else { Start::unloaded(body, state, t, h) };
        let scheme = scheme(&start);
        let fixed: Of<V::Unknown, G, Dual<f64, N>> = lift(&solution.x);
        let end = scheme.outcome(&start, &fixed);
        let back: Of<V::Unknown, G, Dual<f64, N>> = solution.jacobian.solve_slopes(&end.residual);
        let moved = |value: Dual<f64, N>, slopes: AllSlopes<V::Unknown, G>| {
            let mut eps = value.eps;
            for j in 0..Of::<V::Unknown, G, f64>::LEN {
                let (slope, back) = (slopes.slope(j), back.at(j).eps);
                for k in 0..N {
                    eps[k] -= slope * back[k];
                }
            }
            Dual { re: value.re, eps }
        };
        let (values, slopes) = (numbers(&end.state), numbers(&solution.slopes.state));
        *state = state_of(
            core::array::from_fn(|i| moved(values.0[i], slopes.0[i])),
            match G::MOVES {
                true => Vector3::from_fn(|i, _| moved(values.1[i], slopes.1[i])),
                false => values.1,
            },
            Coordinates::generate(|i| moved(values.2.at(i), slopes.2.at(i))),
        );
        let (values, slopes) = (end.carried?, solution.slopes.carried?);
        Some([0, 1].map(|n| Coordinates::generate(|i| moved(values[n].at(i), slopes[n].at(i)))))
    }
}
