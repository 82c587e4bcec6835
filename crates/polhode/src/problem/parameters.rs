//! The parameters of a problem by name: every number of its data that a result can be differentiated with respect to.

use super::catalogue::Problem;
use super::model::{Model, ModelError};
use crate::lookup::{ENTRIES, Names, ParameterError, Role, find, plain};
use crate::model::{Datum, DatumKind};

/// One number of the data of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: that of a datum, or with the component after it, `center_y`, `inertia_xy`, `mass_2`.
    pub name: String,
    /// Its value. A rotation has a small turn in body axes that follows it, so that its three are zero.
    pub value: f64,
    /// What it is, with its unit.
    pub help: String,
    /// The name of the datum.
    pub(crate) datum: String,
    /// What it is.
    pub(crate) role: Role,
}

impl Problem {
    /// Every parameter, in the order of the data: one of a number, three of a vector, six of an inertia however it is
    /// given, three of a rotation. What counts or chooses has none, nor what is not set.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let top = Problem::named("heavy-top")?;
    /// let names: Vec<String> = top.parameters().into_iter().map(|p| p.name).collect();
    /// assert_eq!(names[..7], ["inertia_xx", "inertia_yy", "inertia_zz", "inertia_xy", "inertia_xz", "inertia_yz", "attitude_x"]);
    /// assert_eq!(top.find_parameters(&["mass", "center"])?, [12, 13, 14, 15]);
    /// assert_eq!(top.parameters()[14].value, 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parameters(&self) -> Vec<Parameter> {
        let of = |datum: &Datum| {
            let help = match datum.kind {
                DatumKind::Rotation => "turn in body axes that follows the rotation, rad",
                _ => datum.help.as_str(),
            };
            let endings = datum.kind.endings(datum.values.len());
            let one = |(i, ending): (usize, &String)| Parameter {
                name: format!("{}{ending}", datum.name),
                value: datum.component(i),
                help: help.into(),
                datum: datum.name.clone(),
                role: match (datum.kind, ENTRIES.get(i)) {
                    (DatumKind::Inertia, Some((i, j, _))) => Role::Inertia(*i, *j),
                    _ => Role::Other,
                },
            };
            endings.iter().enumerate().take(datum.components()).map(one).collect::<Vec<_>>()
        };
        self.data().iter().flat_map(of).collect()
    }

    /// The numbers of these parameters in [`Problem::parameters`]. A name is that of one parameter, or that of a datum for
    /// all of its components; `center.y` and `center[1]` (from zero) are `center_y`.
    pub fn find_parameters(&self, names: &[&str]) -> Result<Vec<usize>, ParameterError> {
        for datum in self.data().iter().filter(|datum| names.iter().any(|name| name.trim() == datum.name)) {
            if datum.kind == DatumKind::Choice {
                return Err(ParameterError::NoDerivative { name: datum.name.clone() });
            }
            if datum.components() == 0 {
                return Err(ParameterError::Unset { name: datum.name.clone() });
            }
        }
        let all = self.parameters();
        let known: Vec<Names<'_>> = all.iter().map(|p| Names { own: &p.name, whole: &p.datum }).collect();
        find(&self.id, &known, names)
    }

    /// The model with a change of some parameters, each by its number in [`Problem::parameters`], added to their values; a
    /// rotation is followed by the turn. The data are checked as those of any model.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let top = Problem::named("heavy-top")?;
    /// let mass = top.find_parameters(&["mass"])?[0];
    /// let heavier = top.changed(&[(mass, 0.5)])?;
    /// assert_eq!(heavier.system().bodies()[0].mass, 15.5);
    /// let refused = top.changed(&[(mass, -20.0)]).unwrap_err();
    /// assert_eq!(refused.to_string(), "heavy-top: mass: mass must be positive, got -5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn changed(&self, changes: &[(usize, f64)]) -> Result<Model, ModelError> {
        let all = self.parameters();
        for (i, change) in changes {
            let wrong = |datum: &str, reason| Err(ModelError { datum: datum.into(), ..self.wrong(reason) });
            match all.get(*i) {
                None => {
                    let reason =
                        format!("there is no number {i}, the last is {}", all.len().saturating_sub(1));
                    return wrong("parameters", reason);
                }
                Some(parameter) if !(parameter.value + change).is_finite() => {
                    let reason =
                        format!("{} must be finite, got a change of {}", parameter.name, plain(*change));
                    return wrong(&parameter.datum, reason);
                }
                Some(_) => {}
            }
        }
        self.model_with(&|i| changes.iter().filter(|(k, _)| *k == i).map(|(_, change)| change).sum())
    }
}

#[cfg(test)]
mod tests;
