//! Sensitivities in the vector space Rⁿ, where they are easiest to see: implicit Euler with S = ∂x/∂p carried along,
//! Algorithm 1 of Brüls & Eberhard. A derivative of the discrete solution costs one linear solve per step.
//!
//! Figure 1 of the paper says that differentiation and time integration commute. Three ways to S show it:
//! Algorithm 1 itself; the differential equation differentiated first and integrated as one larger system; and the
//! whole program run with dual numbers. They agree to round-off, at any step size: what they give is the exact
//! derivative of an approximate solution.

use nalgebra::{SMatrix, SVector};
use polhode::scalar::{Dual, Mask, Over, Real};
use polhode::solve::{Factor, Lu};
use std::array::from_fn;

/// ẋ = f(t, x), where f holds parameters of type `S` and sees any richer scalar.
trait Equation<S: Real, const N: usize> {
    fn rate<T: Over<S>>(&self, t: T, x: &SVector<T, N>) -> SVector<T, N>;
}

/// A pendulum with friction and a shaken pivot; x is angle and rate.
#[derive(Clone, Copy)]
struct Pendulum<S> {
    /// Gravity over length.
    stiffness: S,
    friction: S,
}

impl<S: Real> Equation<S, 2> for Pendulum<S> {
    fn rate<T: Over<S>>(&self, t: T, x: &SVector<T, 2>) -> SVector<T, 2> {
        let (sine, _) = x[0].sin_cos();
        let (shaking, _) = (t * T::lift(2.0)).sin_cos();
        let friction = T::of(self.friction) * x[1];
        SVector::from([x[1], T::lift(0.3) * shaking - T::of(self.stiffness) * sine - friction])
    }
}

/// The parameters: stiffness, friction, and the angle at the start.
const P: [f64; 3] = [9.0, 0.4, 2.5];

fn pendulum<S: Real>(p: &[S; 3]) -> (Pendulum<S>, SVector<S, 2>) {
    (Pendulum { stiffness: p[0], friction: p[1] }, SVector::from([p[2], S::zero()]))
}

/// Parameters with their derivatives: direction j belongs to parameter j.
fn seeded<T: Real>() -> [Dual<T, 3>; 3] {
    from_fn(|j| Dual::variable(T::lift(P[j]), j))
}

type Sensitivity = SMatrix<f64, 2, 3>;

/// I - h f_x, factored; the columns of f_x come from duals.
fn jacobian<S: Real, const N: usize>(f: &impl Equation<S, N>, t: S, h: S, x: &SVector<S, N>) -> Lu<S, N> {
    let at: SVector<Dual<S, N>, N> = SVector::from_fn(|i, _| Dual::variable(x[i], i));
    let rate = f.rate(Dual::constant(t), &at);
    let mut lu = Lu::<S, N>::empty();
    lu.refactor(S::Mask::splat(true), |j| {
        SVector::from_fn(|i, _| (if i == j { S::one() } else { S::zero() }) - h * rate[i].eps[j])
    });
    lu
}

/// x of the next time level, by Newton's method.
fn step<S: Real, const N: usize>(
    f: &impl Equation<S, N>,
    t: S,
    h: S,
    before: &SVector<S, N>,
) -> SVector<S, N> {
    let mut x = *before;
    let mut last = false;
    for _ in 0..50 {
        let r = x - before - f.rate(t, &x) * h;
        let correction = jacobian(f, t, h, &x).solve(&r);
        x -= correction;
        // Derivatives inside S are one iteration behind the values: one more pass for them.
        if last {
            break;
        }
        last = correction.iter().all(|c| c.largest().abs() < 1e-12);
    }
    x
}

/// Algorithm 1. With `stale` the solve for S uses the Jacobian at the start of the step: good enough for Newton's
/// method, and wrong here.
fn algorithm_1(h: f64, steps: usize, stale: bool) -> (SVector<f64, 2>, Sensitivity) {
    let (f, mut x) = pendulum(&P);
    let (_, start) = pendulum(&seeded::<f64>());
    let mut s = Sensitivity::from_fn(|i, j| start[i].eps[j]);
    for n in 0..steps {
        let t = (n + 1) as f64 * h;
        let next = step(&f, t, h, &x);
        // f_x S + f_p in one evaluation: x moves by S while p moves by one.
        let (dual, _) = pendulum(&seeded::<f64>());
        let moved =
            SVector::<Dual<f64, 3>, 2>::from_fn(|i, _| Dual { re: next[i], eps: from_fn(|j| s[(i, j)]) });
        let rate = dual.rate(Dual::constant(t), &moved);
        let lu = jacobian(&f, t, h, if stale { &x } else { &next });
        for j in 0..3 {
            let r = SVector::<f64, 2>::from_fn(|i, _| -h * rate[i].eps[j]);
            s.set_column(j, &(s.column(j) - lu.solve(&r)));
        }
        x = next;
    }
    (x, s)
}

/// The differential equation with its derivative, ẋ = f and Ṡ = f_x S + f_p, as one equation for (x, S).
struct Augmented;

impl Equation<f64, 8> for Augmented {
    fn rate<T: Over<f64>>(&self, t: T, y: &SVector<T, 8>) -> SVector<T, 8> {
        let (f, _) = pendulum(&seeded::<T>());
        let x: SVector<Dual<T, 3>, 2> =
            SVector::from_fn(|i, _| Dual { re: y[i], eps: from_fn(|j| y[2 + 2 * j + i]) });
        let rate = f.rate(Dual::constant(t), &x);
        SVector::from_fn(|k, _| if k < 2 { rate[k].re } else { rate[k % 2].eps[k / 2 - 1] })
    }
}

fn unpack(y: &SVector<f64, 8>) -> (SVector<f64, 2>, Sensitivity) {
    (SVector::from([y[0], y[1]]), Sensitivity::from_fn(|i, j| y[2 + 2 * j + i]))
}

fn augmented_start() -> SVector<f64, 8> {
    let (_, start) = pendulum(&seeded::<f64>());
    SVector::from_fn(|k, _| if k < 2 { start[k].re } else { start[k % 2].eps[k / 2 - 1] })
}

/// Differentiate, then integrate.
fn differentiate_first(h: f64, steps: usize) -> (SVector<f64, 2>, Sensitivity) {
    let mut y = augmented_start();
    for n in 0..steps {
        y = step(&Augmented, (n + 1) as f64 * h, h, &y);
    }
    unpack(&y)
}

/// Integrate, then differentiate: every number of the program, Newton's iterates too, has its derivatives with it.
fn integrate_first(h: f64, steps: usize) -> (SVector<f64, 2>, Sensitivity) {
    let (f, mut x) = pendulum(&seeded::<f64>());
    for n in 0..steps {
        x = step(&f, Dual::constant((n + 1) as f64 * h), Dual::constant(h), &x);
    }
    (SVector::from([x[0].re, x[1].re]), Sensitivity::from_fn(|i, j| x[i].eps[j]))
}

/// The exact sensitivity, as far as doubles go: the augmented equation by the classical Runge-Kutta method.
fn exact(end: f64) -> Sensitivity {
    let (mut y, steps) = (augmented_start(), 20_000);
    let h = end / f64::from(steps);
    for n in 0..steps {
        let t = f64::from(n) * h;
        let a = Augmented.rate(t, &y);
        let b = Augmented.rate(t + h / 2.0, &(y + a * (h / 2.0)));
        let c = Augmented.rate(t + h / 2.0, &(y + b * (h / 2.0)));
        let d = Augmented.rate(t + h, &(y + c * h));
        y += (a + (b + c) * 2.0 + d) * (h / 6.0);
    }
    unpack(&y).1
}

fn main() {
    let end = 2.0;
    let exact = exact(end);
    println!("     h   to the exact S   order   differentiate first   integrate first   stale Jacobian");
    let mut before: Option<f64> = None;
    for k in 0..6 {
        let steps = 200 << k;
        let h = end / steps as f64;
        let (x, s) = algorithm_1(h, steps, false);
        let distance = |other: &Sensitivity| (s - other).norm() / s.norm();
        let (y, first) = differentiate_first(h, steps);
        let (z, last) = integrate_first(h, steps);
        let (_, stale) = algorithm_1(h, steps, true);
        let error = (s - exact).norm() / exact.norm();
        let order = before.map(|b| (b / error).log2());
        println!(
            "{h:.6} {error:12.2e} {:>10} {:18.1e} {:19.1e} {:16.1e}",
            order.map_or(String::new(), |o| format!("{o:.2}")),
            distance(&first),
            distance(&last),
            distance(&stale)
        );
        assert!((x - y).norm() < 1e-12 && (x - z).norm() < 1e-12);
        assert!(distance(&first) < 1e-11 && distance(&last) < 1e-11);
        assert!(distance(&stale) > 1e-7);
        if let (4.., Some(order)) = (k, order) {
            assert!((order - 1.0).abs() < 0.1, "order {order}");
        }
        before = Some(error);
    }
    // And once against differences of whole runs.
    let (h, steps, e) = (end / 400.0, 400, 1e-5);
    let (_, s) = algorithm_1(h, steps, false);
    for j in 0..3 {
        let run = |by: f64| {
            let mut p = P;
            p[j] += by;
            let (f, mut x) = pendulum(&p);
            for n in 0..steps {
                x = step(&f, (n + 1) as f64 * h, h, &x);
            }
            x
        };
        let difference = (run(e) - run(-e)) / (2.0 * e);
        assert!((difference - s.column(j)).norm() < 1e-7 * s.norm());
    }
}
