//! An inertia stays that of a body: its second moments S = tr(J)/2 I - J are those of a mass distribution, so that none is
//! negative (A + B ≥ C). Where the least of them is zero, all mass lies in a plane.

use crate::fit::Edge;
use crate::lookup::Role;
use crate::problem::ModelError;
use crate::sensitivity::Sensitivity;
use nalgebra::Matrix3;

/// An inertia, some of whose entries are parameters.
#[derive(Clone, Debug)]
pub(super) struct InertiaEntries {
    /// Its name.
    pub(super) name: String,
    /// Before any change.
    base: Matrix3<f64>,
    /// Parameter, entry and value before any change.
    entries: Vec<(usize, (usize, usize), f64)>,
}

/// The inertias among the parameters that must be those of bodies.
pub(super) fn inertias(sensitivity: &Sensitivity) -> Result<Vec<InertiaEntries>, ModelError> {
    // A body that follows a given motion may have any mass matrix.
    if sensitivity.plain_system()?.follows_motion() {
        return Ok(Vec::new());
    }
    let mut found: Vec<InertiaEntries> = Vec::new();
    for (k, parameter) in sensitivity.parameters().enumerate() {
        let Role::Inertia(row, column) = parameter.role else { continue };
        let i = found.iter().position(|flat| flat.name == parameter.whole).unwrap_or_else(|| {
            let mut base = Matrix3::zeros();
            for other in sensitivity.known().iter().filter(|other| other.whole == parameter.whole) {
                if let Role::Inertia(i, j) = other.role {
                    (base[(i, j)], base[(j, i)]) = (other.value, other.value);
                }
            }
            found.push(InertiaEntries { name: parameter.whole.clone(), base, entries: Vec::new() });
            found.len() - 1
        });
        found[i].entries.push((k, (row, column), parameter.value));
    }
    Ok(found)
}

impl InertiaEntries {
    /// The least second moment, over the mean of the three at the start, as a condition on the parameters.
    pub(super) fn edge(&self) -> Box<Edge<'_>> {
        let scale = self.base.trace() / 6.0;
        Box::new(move |p, gradient| {
            let mut tensor = self.base;
            for (k, (i, j), start) in &self.entries {
                let value = self.base[(*i, *j)] + (p[*k] - start);
                (tensor[(*i, *j)], tensor[(*j, *i)]) = (value, value);
            }
            gradient.fill(0.0);
            if !tensor.iter().all(|x| x.is_finite()) {
                return f64::NAN;
            }
            let second = Matrix3::identity() * (0.5 * tensor.trace()) - tensor;
            let eigen = second.symmetric_eigen();
            let least = eigen.eigenvalues.imin();
            let n = eigen.eigenvectors.column(least);
            for (k, (i, j), _) in &self.entries {
                let slope = if i == j { 0.5 - n[*i] * n[*i] } else { -2.0 * n[*i] * n[*j] };
                gradient[*k] = slope / scale;
            }
            eigen.eigenvalues[least] / scale
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;
    use crate::problem::Problem;

    #[test]
    fn gradients_are_those_of_differences() {
        let top = Problem::named("heavy-top").unwrap();
        let method = Method::parse("linear-alpha").unwrap();
        let sensitivity = Sensitivity::new(&top, &["center", "inertia"], &method).unwrap();
        let [flat] = &inertias(&sensitivity).unwrap()[..] else { panic!() };
        let edge = flat.edge();
        let mut p = sensitivity.values().to_vec();
        let mut g = vec![0.0; p.len()];
        // The disc is on its edge.
        assert!(flat.name == "inertia" && edge(&p, &mut g).abs() < 1e-15);
        for (k, change) in [(3, 0.05), (4, -0.02), (6, 0.03), (7, -0.01), (8, 0.02)] {
            p[k] += change;
        }
        edge(&p, &mut g);
        for k in 0..p.len() {
            let at = |change: f64| {
                let mut p = p.clone();
                p[k] += change;
                edge(&p, &mut vec![0.0; p.len()])
            };
            assert!(((at(1e-6) - at(-1e-6)) / 2e-6 - g[k]).abs() < 1e-7, "{k}");
        }
        let arm = Problem::named("double-pendulum").unwrap();
        let sensitivity =
            Sensitivity::new(&arm, &["inertia_lower_yy", "upper.inertia", "mass"], &method).unwrap();
        let names: Vec<String> = inertias(&sensitivity).unwrap().into_iter().map(|flat| flat.name).collect();
        assert_eq!(names, ["inertia_lower", "upper.inertia"]);
    }
}
