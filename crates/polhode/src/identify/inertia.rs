//! An inertia stays that of a body: its second moments S = tr(J)/2 I - J are those of a mass distribution, so that none is
//! negative (A + B ≥ C). Where the least of them is zero, all mass lies in a plane.

use crate::fit::Edge;
use crate::problem::{ModelError, Problem};
use crate::sensitivity::Sensitivity;
use nalgebra::Matrix3;

/// The endings of names of entries, and where they are.
const ENTRIES: [(&str, (usize, usize)); 6] =
    [("_xx", (0, 0)), ("_yy", (1, 1)), ("_zz", (2, 2)), ("_xy", (0, 1)), ("_xz", (0, 2)), ("_yz", (1, 2))];

/// An inertia, some of whose entries are parameters.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    /// Its name.
    pub(super) name: String,
    /// Before any change.
    base: Matrix3<f64>,
    /// Parameter, entry and value before any change.
    entries: Vec<(usize, (usize, usize), f64)>,
}

/// The inertia and entry that a parameter is.
fn entry(name: &str) -> Option<(&str, (usize, usize))> {
    let (end, at) = ENTRIES.iter().find(|(end, _)| name.ends_with(end))?;
    let whole = name.strip_suffix(end)?;
    let own = whole.rsplit('.').next().unwrap_or(whole);
    own.starts_with("inertia").then_some((whole, *at))
}

/// The inertias among the parameters that must be those of bodies.
pub(super) fn inertias(sensitivity: &Sensitivity) -> Result<Vec<Flat>, ModelError> {
    let system = sensitivity.plain_system()?;
    // A body that follows a given motion may have any mass matrix.
    if system.follows_motion() {
        return Ok(Vec::new());
    }
    let data = sensitivity.problem().map(Problem::parameters).unwrap_or_default();
    let mut known: Vec<(String, f64)> =
        data.into_iter().map(|parameter| (parameter.name, parameter.value)).collect();
    known.extend(system.parameters().into_iter().map(|parameter| (parameter.name, parameter.value)));
    let mut found: Vec<Flat> = Vec::new();
    for (k, (name, value)) in sensitivity.names().iter().zip(sensitivity.values()).enumerate() {
        let Some((whole, at)) = entry(name) else { continue };
        let i = found.iter().position(|flat| flat.name == whole).unwrap_or_else(|| {
            let mut base = Matrix3::zeros();
            for (end, (i, j)) in ENTRIES {
                let value =
                    known.iter().find(|(name, _)| *name == format!("{whole}{end}")).map_or(0.0, |k| k.1);
                (base[(i, j)], base[(j, i)]) = (value, value);
            }
            found.push(Flat { name: whole.into(), base, entries: Vec::new() });
            found.len() - 1
        });
        found[i].entries.push((k, at, *value));
    }
    Ok(found)
}

impl Flat {
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
