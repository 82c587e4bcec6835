//! Minima inside, on edges and at bounds.

use super::*;
use crate::fit::Residuals;

/// Distances from a point, each coordinate with its weight.
fn distance<'a>(to: &'a [f64], weights: &'a [f64]) -> impl Model + 'a {
    let n = to.len();
    Residuals::new(n + 1, move |p: &[f64], r: &mut [f64], j: &mut [f64]| {
        r.fill(0.0);
        j.fill(0.0);
        for i in 0..n {
            r[i] = weights[i] * (p[i] - to[i]);
            j[i * n + i] = weights[i];
        }
        Ok(())
    })
}
fn start(values: &[f64]) -> Vec<Parameter> {
    values.iter().enumerate().map(|(i, x)| Parameter::new(format!("p{i}"), *x)).collect()
}
fn ball<'a>() -> Box<Edge<'a>> {
    Box::new(|p, g| {
        g.iter_mut().zip(p).for_each(|(g, p)| *g = -2.0 * p);
        1.0 - p.iter().map(|p| p * p).sum::<f64>()
    })
}

#[test]
fn a_minimum_inside_is_found_from_the_edge_and_from_inside() {
    let to = [0.3, -0.2, 0.1];
    for from in [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-0.6, 0.8, 0.0], [0.5, 0.5, 0.5]] {
        let found = levenberg_marquardt_within(
            &mut distance(&to, &[1.0, 10.0, 0.1]),
            &start(&from),
            &[ball()],
            &Options::default(),
        )
        .unwrap();
        assert!(found.on.is_empty() && found.fit.stopped.converged(), "{found:?}");
        assert!(found.fit.parameters.iter().zip(to).all(|(p, t)| (p - t).abs() < 1e-9));
    }
}

#[test]
fn a_minimum_outside_ends_at_the_best_place_of_the_edge() {
    let (to, weights) = ([2.0, 1.0, -1.0], [1.0, 5.0, 0.2]);
    for from in [[1.0, 0.0, 0.0], [0.1, 0.0, 0.0], [-0.6, 0.8, 0.0], [0.0, -0.7, 0.7]] {
        let found = levenberg_marquardt_within(
            &mut distance(&to, &weights),
            &start(&from),
            &[ball()],
            &Options::default(),
        )
        .unwrap();
        assert!(found.on == [0] && found.fit.stopped.converged(), "{from:?} {found:?}");
        // Lagrange: w² (p - t) = -λ p, with the same positive λ for each.
        let p = &found.fit.parameters;
        let lambda = |i: usize| -weights[i] * weights[i] * (p[i] - to[i]) / p[i];
        assert!((p.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-11);
        for i in 1..3 {
            assert!(lambda(0) > 0.0 && (lambda(i) / lambda(0) - 1.0).abs() < 1e-4, "{p:?}");
        }
        // Errors as without the edge.
        let sigma = found.fit.sigma.unwrap();
        assert!((found.fit.standard_errors[0].unwrap() / sigma - 1.0).abs() < 1e-9);
        assert!(found.fit.evaluations < 200, "{}", found.fit.evaluations);
    }
}

#[test]
fn two_edges_and_bounds_together() {
    // x + y <= 1 and x <= z, from inside; y is bounded too.
    let edges: [Box<Edge>; 2] = [
        Box::new(|p, g| {
            g.copy_from_slice(&[-1.0, -1.0, 0.0]);
            1.0 - p[0] - p[1]
        }),
        Box::new(|p, g| {
            g.copy_from_slice(&[-1.0, 0.0, 1.0]);
            p[2] - p[0]
        }),
    ];
    let mut from = start(&[0.0, 0.0, 0.5]);
    let mut model = distance(&[2.0, 0.5, 0.0], &[1.0; 3]);
    let found = levenberg_marquardt_within(&mut model, &from, &edges, &Options::default()).unwrap();
    // Minimum of (x-2)² + (1-x-0.5)² + x²: 3x = 2.5.
    assert!(found.on.len() == 2 && (found.fit.parameters[0] - 2.5 / 3.0).abs() < 1e-9, "{found:?}");
    (from[1].lower, from[1].start) = (0.3, 0.4);
    let found = levenberg_marquardt_within(&mut model, &from, &edges, &Options::default()).unwrap();
    assert!((found.fit.parameters[0] - 0.7).abs() < 1e-6, "{found:?}");
    // The bound alone keeps x from the first edge.
    from[0].upper = 0.2;
    let found = levenberg_marquardt_within(&mut model, &from, &edges, &Options::default()).unwrap();
    assert!((found.fit.parameters[1] - 0.5).abs() < 1e-7 && found.on == [1], "{found:?}");
    assert!((found.fit.parameters[2] - 0.2).abs() < 1e-9);
}

#[test]
fn a_start_beyond_the_edge_is_refused() {
    let error = levenberg_marquardt_within(
        &mut distance(&[0.0; 2], &[1.0; 2]),
        &start(&[1.0, 1.0]),
        &[ball()],
        &Options::default(),
    );
    assert!(matches!(error, Err(FitError::Start { .. })));
}
