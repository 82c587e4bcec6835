//! Nonlinear regressions of the statistical reference datasets of NIST, with their certified parameters and standard
//! deviations, from both starts that come with each: the first is meant to be hard.

use super::*;

struct Dataset {
    name: &'static str,
    data: &'static [(f64, f64)],
    model: fn(f64, &[f64]) -> (f64, Vec<f64>),
    starts: [&'static [f64]; 2],
    /// Each parameter with its standard deviation.
    certified: &'static [(f64, f64)],
    sum_of_squares: f64,
    sigma: f64,
}

fn saturation(x: f64, b: &[f64]) -> (f64, Vec<f64>) {
    let e = (-b[1] * x).exp();
    (b[0] * (1.0 - e), vec![1.0 - e, b[0] * x * e])
}

fn thermistor(x: f64, b: &[f64]) -> (f64, Vec<f64>) {
    let e = (b[1] / (x + b[2])).exp();
    (b[0] * e, vec![e, b[0] * e / (x + b[2]), -b[0] * e * b[1] / (x + b[2]).powi(2)])
}

const DATASETS: [Dataset; 3] = [
    Dataset {
        name: "Misra1a",
        data: &[
            (77.6, 10.07),
            (114.9, 14.73),
            (141.1, 17.94),
            (190.8, 23.93),
            (239.9, 29.61),
            (289.0, 35.18),
            (332.8, 40.02),
            (378.4, 44.82),
            (434.8, 50.76),
            (477.3, 55.05),
            (536.8, 61.01),
            (593.1, 66.40),
            (689.1, 75.47),
            (760.0, 81.78),
        ],
        model: saturation,
        starts: [&[500.0, 1e-4], &[250.0, 5e-4]],
        certified: &[(2.3894212918E+02, 2.7070075241E+00), (5.5015643181E-04, 7.2668688436E-06)],
        sum_of_squares: 1.2455138894E-01,
        sigma: 1.0187876330E-01,
    },
    Dataset {
        name: "BoxBOD",
        data: &[(1.0, 109.0), (2.0, 149.0), (3.0, 149.0), (5.0, 191.0), (7.0, 213.0), (10.0, 224.0)],
        model: saturation,
        starts: [&[1.0, 1.0], &[100.0, 0.75]],
        certified: &[(2.1380940889E+02, 1.2354515176E+01), (5.4723748542E-01, 1.0455993237E-01)],
        sum_of_squares: 1.1680088766E+03,
        sigma: 1.7088072423E+01,
    },
    Dataset {
        name: "MGH10",
        data: &[
            (50.0, 34780.0),
            (55.0, 28610.0),
            (60.0, 23650.0),
            (65.0, 19630.0),
            (70.0, 16370.0),
            (75.0, 13720.0),
            (80.0, 11540.0),
            (85.0, 9744.0),
            (90.0, 8261.0),
            (95.0, 7030.0),
            (100.0, 6005.0),
            (105.0, 5147.0),
            (110.0, 4427.0),
            (115.0, 3820.0),
            (120.0, 3307.0),
            (125.0, 2872.0),
        ],
        model: thermistor,
        starts: [&[2.0, 400_000.0, 25_000.0], &[0.02, 4000.0, 250.0]],
        certified: &[
            (5.6096364710E-03, 1.5687892471E-04),
            (6.1813463463E+03, 2.3309021107E+01),
            (3.4522363462E+02, 7.8486103508E-01),
        ],
        sum_of_squares: 8.7945855171E+01,
        sigma: 2.6009740065E+00,
    },
];

#[test]
fn certified_values_are_found_from_both_starts() {
    for set in &DATASETS {
        for (i, start) in set.starts.into_iter().enumerate() {
            let what = format!("{} from {start:?}", set.name);
            let parameters: Vec<Parameter> = start.iter().map(|b| Parameter::new("b", *b)).collect();
            let mut model = Residuals::new(set.data.len(), |b, residuals, jacobian| {
                for (i, (x, y)) in set.data.iter().enumerate() {
                    let (value, slopes) = (set.model)(*x, b);
                    residuals[i] = value - y;
                    jacobian[i * b.len()..(i + 1) * b.len()].copy_from_slice(&slopes);
                }
                Ok(())
            });
            let fit = levenberg_marquardt(&mut model, &parameters, &Options::default()).unwrap();
            if set.name == "MGH10" && i == 0 {
                // A long curved valley: this start is too far off, and the fit must say so.
                assert!(fit.stopped == Stop::Iterations, "{what}: {fit:?}");
                continue;
            }
            assert!(fit.stopped.converged() && fit.evaluations < 200, "{what}: {fit:?}");
            let near = |found: f64, expected: f64, limit: f64| {
                assert!((found / expected - 1.0).abs() < limit, "{what}: {found} for {expected}");
            };
            for (i, (value, deviation)) in set.certified.iter().enumerate() {
                near(fit.parameters[i], *value, 1e-8);
                near(fit.standard_errors[i].unwrap(), *deviation, 1e-7);
            }
            near(fit.sum_of_squares, set.sum_of_squares, 1e-9);
            near(fit.sigma.unwrap(), set.sigma, 1e-9);
        }
    }
}
