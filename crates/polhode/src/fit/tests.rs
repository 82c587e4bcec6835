//! Fits with known answers, and what must not be answered.

use super::*;
use core::ops::ControlFlow;

/// Uniform bits (splitmix64) and normal deviates (Box and Muller).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (core::f64::consts::TAU * v).cos()
    }
}

/// Data y(t), and a model that gives a value and its derivatives.
struct Curve<F> {
    data: Vec<(f64, f64)>,
    model: F,
}

impl<F: Fn(f64, &[f64]) -> (f64, Vec<f64>)> Model for Curve<F> {
    fn residual_count(&self) -> usize {
        self.data.len()
    }
    fn evaluate(&mut self, p: &[f64], residuals: &mut [f64], jacobian: &mut [f64]) -> Result<(), Rejected> {
        for (i, (t, y)) in self.data.iter().enumerate() {
            let (value, slopes) = (self.model)(*t, p);
            residuals[i] = value - y;
            jacobian[i * p.len()..(i + 1) * p.len()].copy_from_slice(&slopes);
        }
        Ok(())
    }
}

fn decay(t: f64, p: &[f64]) -> (f64, Vec<f64>) {
    let e = (-p[1] * t).exp();
    (p[0] * e + p[2], vec![e, -p[0] * t * e, 1.0])
}

/// `count` samples of the model on [0, 3] with noise.
fn sampled(
    model: impl Fn(f64, &[f64]) -> (f64, Vec<f64>),
    truth: &[f64],
    count: usize,
    noise: f64,
    seed: u64,
) -> Vec<(f64, f64)> {
    let mut random = Random(seed);
    let times = (0..count).map(|i| 3.0 * i as f64 / (count - 1) as f64);
    times.map(|t| (t, model(t, truth).0 + noise * random.normal())).collect()
}

fn named(starts: &[(&str, f64)]) -> Vec<Parameter> {
    starts.iter().map(|(name, start)| Parameter::new(*name, *start)).collect()
}

fn known() -> Options {
    Options { noise: Noise::Known, ..Options::default() }
}

#[test]
fn rosenbrock_from_everywhere() {
    for start in [(-1.2, 1.0), (10.0, -30.0), (0.0, 0.0), (-100.0, 100.0)] {
        let mut valley = Residuals::new(2, |p, r, j| {
            r.copy_from_slice(&[10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]]);
            j.copy_from_slice(&[-20.0 * p[0], 10.0, -1.0, 0.0]);
            Ok(())
        });
        let fit =
            levenberg_marquardt(&mut valley, &named(&[("x", start.0), ("y", start.1)]), &known()).unwrap();
        assert!(fit.stopped.converged() && fit.evaluations < 200, "{fit:?}");
        assert!(
            (fit.parameters[0] - 1.0).abs() < 1e-11 && (fit.parameters[1] - 1.0).abs() < 1e-11,
            "{fit:?}"
        );
    }
}

#[test]
fn a_jacobian_that_is_singular_at_the_solution_only_is_found_there() {
    // Near the solution x = y = 1 nothing tells x from y any more.
    let mut square = Residuals::new(3, |p, r, j| {
        let d = p[0] - p[1];
        r.copy_from_slice(&[p[0] + p[1] - 2.0, d * d, 2.0 * d * d]);
        j.copy_from_slice(&[1.0, 1.0, 2.0 * d, -2.0 * d, 4.0 * d, -4.0 * d]);
        Ok(())
    });
    let start = named(&[("x", 3.0), ("y", 1.0)]);
    // The difference halves with each step: stop early, and call early what is not determined.
    let options = Options { step: 1e-7, singular: 1e-5, ..Options::default() };
    let error = levenberg_marquardt(&mut square, &start, &options).unwrap_err();
    let FitError::Singular(what) = &error else { panic!("{error:?}") };
    assert!(what.parameters.iter().all(|p| (p - 1.0).abs() < 1e-4) && what.place != Place::Start, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("x and y together")
            && text.contains("x by 1, y by -1")
            && text.contains("at the solution"),
        "{text}"
    );
}

/// (JᵀJ)⁻¹ by cofactors, and the standard errors from it.
fn errors_by_cofactors(jacobian: &[Vec<f64>], sigma: f64) -> [f64; 3] {
    let mut a = [[0.0; 3]; 3];
    for row in jacobian {
        for i in 0..3 {
            for k in 0..3 {
                a[i][k] += row[i] * row[k];
            }
        }
    }
    let minor = |i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j][j] * a[k][k] - a[j][k] * a[k][j]
    };
    let det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1])
        - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
        + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    [0, 1, 2].map(|i| sigma * (minor(i) / det).sqrt())
}

#[test]
fn exponential_has_the_errors_of_an_independent_formula() {
    let truth = [2.0, 1.3, 0.5];
    let data = sampled(decay, &truth, 40, 0.01, 7);
    let mut curve = Curve { data: data.clone(), model: decay };
    let start = named(&[("a", 1.0), ("k", 0.5), ("c", 0.0)]);
    let fit = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap();
    assert!(fit.stopped.converged() && fit.degrees_of_freedom == 37);
    let rows: Vec<Vec<f64>> = data.iter().map(|(t, _)| decay(*t, &fit.parameters).1).collect();
    let squares: f64 = data.iter().map(|(t, y)| (decay(*t, &fit.parameters).0 - y).powi(2)).sum();
    let sigma = (squares / 37.0).sqrt();
    assert!((fit.sigma.unwrap() / sigma - 1.0).abs() < 1e-12 && (sigma - 0.01).abs() < 0.004);
    for (i, expected) in errors_by_cofactors(&rows, sigma).iter().enumerate() {
        let found = fit.standard_errors[i].unwrap();
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
        assert!((fit.parameters[i] - truth[i]).abs() < 4.0 * found);
        assert!((fit.covariance[3 * i + i] - found * found).abs() < 1e-12 * found * found);
        assert!((fit.correlation(i, i).unwrap() - 1.0).abs() < 1e-12);
    }
    // A larger rate asks for a larger amplitude and a larger offset.
    assert!(fit.correlation(1, 2).unwrap() > 0.5 && fit.correlation(0, 3).is_none());
    // The gradient vanishes: the answer is the minimum and not only a place near it.
    for j in 0..3 {
        let slope: f64 = rows.iter().zip(&fit.residuals).map(|(row, r)| row[j] * r).sum();
        let size: f64 = rows.iter().map(|row| row[j] * row[j]).sum::<f64>().sqrt() * squares.sqrt();
        assert!(slope.abs() < 1e-8 * size);
    }
    // Divided by a known deviation, the same fit has the same errors up to the estimate of that deviation.
    let weigh = |y: f64| y / 0.01;
    let mut weighted = Curve {
        data: data.iter().map(|(t, y)| (*t, weigh(*y))).collect(),
        model: |t, p: &[f64]| {
            let (value, slopes) = decay(t, p);
            (weigh(value), slopes.into_iter().map(weigh).collect())
        },
    };
    let known = levenberg_marquardt(&mut weighted, &start, &known()).unwrap();
    for i in 0..3 {
        assert!((known.parameters[i] - fit.parameters[i]).abs() < 1e-7 * fit.parameters[i].abs());
        let ratio = fit.standard_errors[i].unwrap() / known.standard_errors[i].unwrap();
        assert!((ratio / (sigma / 0.01) - 1.0).abs() < 1e-6);
    }
    assert!((known.factor95() - 1.96).abs() < 1e-4 && (fit.factor95() - 2.0262).abs() < 1e-4);
}

#[test]
fn scales_of_parameters_do_not_matter() {
    let truth = [2.0, 1.3, 0.5];
    let run = |scales: [f64; 3]| {
        let mut curve = Curve {
            data: sampled(decay, &truth, 40, 0.01, 3),
            model: move |t, p: &[f64]| {
                let plain: Vec<f64> = p.iter().zip(scales).map(|(p, s)| p / s).collect();
                let (value, slopes) = decay(t, &plain);
                (value, slopes.iter().zip(scales).map(|(d, s)| d / s).collect())
            },
        };
        let start = named(&[("a", scales[0]), ("k", 0.5 * scales[1]), ("c", 0.1 * scales[2])]);
        levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap()
    };
    let plain = run([1.0; 3]);
    for scales in [[1e9, 1e-9, 1.0], [1e-12, 1e3, 1e12]] {
        let fit = run(scales);
        assert_eq!(fit.iterations, plain.iterations);
        for (i, scale) in scales.iter().enumerate() {
            let errors = fit.standard_errors[i].unwrap() / scale / plain.standard_errors[i].unwrap();
            assert!((errors - 1.0).abs() < 1e-9);
            let apart = (fit.parameters[i] / scale - plain.parameters[i]).abs();
            assert!(apart < 1e-9 * plain.parameters[i].abs());
        }
    }
}

#[test]
fn a_bound_holds_and_the_rest_is_the_best_under_it() {
    // The data have c = 0.5; a bound keeps it at 0.7 at least.
    let data = sampled(decay, &[2.0, 1.3, 0.5], 40, 0.01, 11);
    let start = [Parameter::new("a", 1.0), Parameter::new("k", 0.5), Parameter::new("c", 2.0).at_least(0.7)];
    let mut seen = Vec::new();
    let mut curve = Residuals::new(40, |p, r, j| {
        seen.push(p[2]);
        Curve { data: data.clone(), model: decay }.evaluate(p, r, j)
    });
    let fit = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap();
    assert!(seen.iter().all(|c| *c >= 0.7) && fit.parameters[2] == 0.7);
    assert_eq!(fit.held, [None, None, Some(Side::Lower)]);
    assert!(fit.standard_errors[2].is_none() && fit.interval95(2).is_none() && fit.degrees_of_freedom == 38);
    // The same as a fit of the other two with c = 0.7.
    let fixed = |t: f64, p: &[f64]| {
        let (value, slopes) = decay(t, &[p[0], p[1], 0.7]);
        (value, slopes[..2].to_vec())
    };
    let mut two = Curve { data: data.clone(), model: fixed };
    let other =
        levenberg_marquardt(&mut two, &named(&[("a", 1.0), ("k", 0.5)]), &Options::default()).unwrap();
    for i in 0..2 {
        assert!((fit.parameters[i] - other.parameters[i]).abs() < 1e-7 * other.parameters[i].abs());
        let ratio = fit.standard_errors[i].unwrap() / other.standard_errors[i].unwrap();
        assert!((ratio - 1.0).abs() < 1e-6);
    }
    // A bound on the way that the solution does not touch is left again.
    let start = [Parameter::new("a", 1.0), Parameter::new("k", 3.0), Parameter::new("c", 0.0).at_least(0.0)];
    let mut curve = Curve { data, model: decay };
    let fit = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap();
    assert!(fit.held == [None; 3] && (fit.parameters[2] - 0.5).abs() < 0.05, "{fit:?}");
}

#[test]
fn equal_bounds_fix_a_parameter() {
    let data = sampled(decay, &[2.0, 1.3, 0.5], 20, 0.0, 1);
    let start = [
        Parameter::new("a", 1.0),
        Parameter::new("k", 0.5),
        Parameter::new("c", 0.5).at_least(0.5).at_most(0.5),
    ];
    let fit = levenberg_marquardt(&mut Curve { data, model: decay }, &start, &Options::default()).unwrap();
    assert!(fit.stopped.converged() && (fit.parameters[1] - 1.3).abs() < 1e-10 && fit.held[2].is_some());
}

#[test]
fn what_the_data_do_not_determine_is_named() {
    // Only m + 32 i matters, and g not at all.
    let shared = |t: f64, p: &[f64]| ((p[0] + 32.0 * p[1]) * t + p[2], vec![t, 32.0 * t, 1.0]);
    let data = sampled(shared, &[1.0, 0.1, 0.3], 10, 0.01, 5);
    let start = named(&[("mass", 1.0), ("inertia_xx", 0.5), ("offset", 0.0)]);
    let mut curve = Curve { data: data.clone(), model: shared };
    let error = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap_err();
    let FitError::Singular(what) = &error else { panic!("{error:?}") };
    let Undetermined { direction, change, sensitivity, count, place, .. } = &**what;
    let half = 0.5f64.sqrt();
    assert!((direction[0].abs() - half).abs() < 1e-9 && (direction[0] + direction[1]).abs() < 1e-9);
    assert!(direction[2] == 0.0 && (change[0] / change[1] + 32.0).abs() < 1e-9);
    assert!(*sensitivity < 1e-14 && *count == 1 && *place == Place::Start);
    let text = error.to_string();
    assert!(text.contains("mass and inertia_xx together") && text.contains("0.03125"), "{text}");

    let idle = |t: f64, p: &[f64]| (p[0] * t + p[1], vec![t, 1.0, 0.0]);
    let mut curve = Curve { data: data.clone(), model: idle };
    let start = named(&[("slope", 1.0), ("offset", 0.5), ("gravity_x", 0.0)]);
    let error = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap_err();
    assert!(error.to_string().starts_with("the data do not depend on gravity_x"), "{error}");

    // Two combinations at once: each message stays with few names.
    let twice =
        |t: f64, p: &[f64]| ((p[0] + p[1]) * t + p[2] - p[3] + p[4] * t * t, vec![t, t, 1.0, -1.0, t * t]);
    let mut curve = Curve { data, model: twice };
    let start = named(&[("a", 1.0), ("b", 0.5), ("c", 0.0), ("d", 2.0), ("e", 1.0)]);
    let error = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap_err();
    let FitError::Singular(what) = &error else { panic!("{error:?}") };
    let Undetermined { direction, count, .. } = &**what;
    assert!(*count == 2 && direction.iter().filter(|d| **d != 0.0).count() == 2, "{error}");
}

#[test]
fn a_hardly_determined_combination_has_large_errors_instead() {
    // Two columns that differ by a part in a million are still told apart.
    let close = |t: f64, p: &[f64]| {
        let other = t + 1e-6 * (3.0 * t).sin();
        (p[0] * t + p[1] * other, vec![t, other])
    };
    let data = sampled(close, &[1.0, 2.0], 30, 1e-3, 9);
    let start = named(&[("a", 0.0), ("b", 1.0)]);
    let fit = levenberg_marquardt(&mut Curve { data, model: close }, &start, &Options::default()).unwrap();
    assert!(fit.stopped.converged() && fit.conditioning < 1e-5);
    assert!(fit.standard_errors[0].unwrap() > 100.0 && fit.correlation(0, 1).unwrap() < -0.999);
}

#[test]
fn refused_parameters_shorten_the_step() {
    // Full steps from here jump to negative rates, which the model refuses; its minimum lies inside.
    let data = sampled(decay, &[2.0, 1.3, 0.5], 40, 0.01, 2);
    let mut refusals = 0;
    let mut curve = Residuals::new(40, |p, r, j| {
        if p[1] <= 0.0 {
            refusals += 1;
            return Err(Rejected::new("a rate must be positive"));
        }
        Curve { data: data.clone(), model: decay }.evaluate(p, r, j)
    });
    let start = named(&[("a", -4.0), ("k", 0.02), ("c", 3.0)]);
    let fit = levenberg_marquardt(&mut curve, &start, &Options::default());
    let fit = fit.unwrap();
    assert!(refusals > 0 && fit.stopped.converged() && (fit.parameters[1] - 1.3).abs() < 0.1, "{fit:?}");
}

#[test]
fn an_edge_on_the_way_does_not_hold_a_fit() {
    // The first steps from here go to rates below one and are refused; shortened alone they would end at that edge.
    let data = sampled(decay, &[2.0, 1.3, 0.5], 40, 0.01, 2);
    let mut curve = Residuals::new(40, |p, r, j| {
        if p[1] <= 1.0 {
            return Err(Rejected::new("the rate must be above 1"));
        }
        Curve { data: data.clone(), model: decay }.evaluate(p, r, j)
    });
    let start = named(&[("a", 1.0), ("k", 3.0), ("c", 0.0)]);
    let fit = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap();
    assert!(fit.stopped.converged() && (fit.parameters[1] - 1.3).abs() < 0.1, "{fit:?}");
}

#[test]
fn a_minimum_beyond_the_edge_is_reported_as_pinned() {
    let data = sampled(decay, &[2.0, 1.3, 0.5], 40, 0.01, 2);
    let mut curve = Residuals::new(40, |p, r, j| {
        if p[1] > 1.0 {
            return Err(Rejected::new(format!("the rate {} is beyond 1", p[1])));
        }
        Curve { data: data.clone(), model: decay }.evaluate(p, r, j)
    });
    let start = named(&[("a", 1.0), ("k", 0.5), ("c", 0.0)]);
    let fit = levenberg_marquardt(&mut curve, &start, &Options::default()).unwrap();
    let Stop::Pinned { reason } = &fit.stopped else { panic!("{fit:?}") };
    assert!(reason.contains("beyond 1") && !fit.stopped.converged());
    assert!(fit.parameters[1] <= 1.0 && fit.parameters[1] > 0.999, "{fit:?}");
}

#[test]
fn numbers_that_are_none_are_refused_at_the_start_and_avoided_later() {
    let mut broken = Residuals::new(3, |p, r, j| {
        r.copy_from_slice(&[p[0], f64::NAN, 0.0]);
        j.fill(1.0);
        Ok(())
    });
    let start = named(&[("x", 1.0)]);
    let error = levenberg_marquardt(&mut broken, &start, &Options::default()).unwrap_err();
    assert!(matches!(error, FitError::NotFinite { residual: 1, parameter: None, .. }));
    let mut broken = Residuals::new(3, |p, r, j| {
        r.fill(p[0]);
        j.copy_from_slice(&[1.0, 1.0, f64::INFINITY]);
        Ok(())
    });
    let error = levenberg_marquardt(&mut broken, &start, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("derivative of residual 2 by x is inf"), "{error}");
    // ln x with a first step to negative x.
    let mut log = Residuals::new(3, |p, r, j| {
        r.fill(p[0].ln() + 2.0);
        j.fill(1.0 / p[0]);
        Ok(())
    });
    let fit = levenberg_marquardt(&mut log, &start, &Options::default()).unwrap();
    assert!((fit.parameters[0] - (-2f64).exp()).abs() < 1e-12 && fit.stopped.converged());
}

#[test]
fn a_wrong_jacobian_is_found_out() {
    let mut wrong = Residuals::new(3, |p, r, j| {
        r.copy_from_slice(&[p[0] - 1.0, p[0] - 2.0, p[0] - 6.0]);
        j.fill(-1.0);
        Ok(())
    });
    let error = levenberg_marquardt(&mut wrong, &named(&[("x", 1.0)]), &Options::default()).unwrap_err();
    assert!(matches!(error, FitError::Stuck { .. }) && error.to_string().contains("Jacobian"), "{error}");
}

#[test]
fn impossible_questions_are_refused() {
    let mut line = Residuals::new(2, |p, r, j| {
        r.copy_from_slice(&[p[0], p[0] + p[1]]);
        j.copy_from_slice(&[1.0, 0.0, 1.0, 1.0]);
        Ok(())
    });
    let two = named(&[("a", 1.0), ("b", 1.0)]);
    let error = levenberg_marquardt(&mut line, &two, &Options::default()).unwrap_err();
    assert!(matches!(error, FitError::TooFewResiduals { residuals: 2, needed: 3, parameters: 2 }));
    let fit = levenberg_marquardt(&mut line, &two, &known()).unwrap();
    assert!(fit.sigma.is_none() && fit.parameters.iter().all(|p| p.abs() < 1e-10));
    for bad in [
        Parameter::new("a", f64::NAN),
        Parameter::new("a", 1.0).at_least(2.0),
        Parameter::new("a", 1.0).at_most(f64::NAN),
    ] {
        let error = levenberg_marquardt(&mut line, &[bad, two[1].clone()], &known()).unwrap_err();
        assert!(matches!(error, FitError::Parameter { .. }));
    }
    let mut never = Residuals::new(2, |_, _, _| Err(Rejected::new("no body has this inertia")));
    let error = levenberg_marquardt(&mut never, &two, &known()).unwrap_err();
    assert!(error.to_string().contains("no body has this inertia"));
}

#[test]
fn an_observer_sees_each_step_and_may_break_off() {
    let data = sampled(decay, &[2.0, 1.3, 0.5], 40, 0.01, 2);
    let start = named(&[("a", 1.0), ("k", 0.5), ("c", 0.0)]);
    let mut curve = Curve { data, model: decay };
    let mut squares = Vec::new();
    let fit = levenberg_marquardt_with(&mut curve, &start, &Options::default(), &mut |now| {
        squares.push(now.sum_of_squares);
        if now.iteration == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert!(squares.len() == 3 && squares.windows(2).all(|w| w[1] < w[0]));
    assert!(fit.stopped == Stop::Interrupted && fit.iterations == 3);
    let few = Options { max_iterations: 2, ..Options::default() };
    let fit = levenberg_marquardt(&mut curve, &start, &few).unwrap();
    assert!(fit.stopped == Stop::Iterations && fit.iterations == 2);
}

#[test]
fn exact_data_give_exact_parameters() {
    let truth = [2.0, 1.3, 0.5];
    let start = named(&[("a", 1.0), ("k", 0.5), ("c", 0.0)]);
    let data = sampled(decay, &truth, 40, 0.0, 2);
    let fit = levenberg_marquardt(&mut Curve { data, model: decay }, &start, &Options::default()).unwrap();
    assert!(fit.stopped.converged() && fit.evaluations < 30, "{fit:?}");
    for (found, expected) in fit.parameters.iter().zip(truth) {
        assert!((found - expected).abs() < 1e-12);
    }
    // From the solution itself nothing moves.
    let start = named(&[("a", 2.0), ("k", 1.3), ("c", 0.5)]);
    let data = sampled(decay, &truth, 40, 0.0, 2);
    let fit = levenberg_marquardt(&mut Curve { data, model: decay }, &start, &Options::default()).unwrap();
    assert!(fit.stopped.converged() && fit.parameters == truth);
}

/// How many of 100 noisy fits have the truth in their 95 % interval, for each parameter.
fn coverage(
    model: impl Fn(f64, &[f64]) -> (f64, Vec<f64>) + Copy,
    truth: &[f64],
    count: usize,
    noise: f64,
) -> Vec<usize> {
    let mut covered = vec![0; truth.len()];
    let start: Vec<Parameter> = truth.iter().map(|p| Parameter::new("p", 0.8 * p)).collect();
    for seed in 0..100 {
        let data = sampled(model, truth, count, noise, 1000 + seed);
        let fit = levenberg_marquardt(&mut Curve { data, model }, &start, &Options::default()).unwrap();
        assert!(fit.stopped.converged());
        for (i, truth) in truth.iter().enumerate() {
            let (low, high) = fit.interval95(i).unwrap();
            covered[i] += usize::from(low < *truth && *truth < high);
        }
    }
    covered
}

#[test]
fn intervals_cover_the_truth() {
    let line = |t: f64, p: &[f64]| (p[0] + p[1] * t, vec![1.0, t]);
    // Three degrees of freedom: without Student's factor every seventh interval would miss.
    for covered in [coverage(line, &[1.0, -2.0], 5, 0.3), coverage(decay, &[2.0, 1.3, 0.5], 20, 0.02)] {
        assert!(covered.iter().all(|c| (90..=100).contains(c)), "{covered:?}");
    }
}
