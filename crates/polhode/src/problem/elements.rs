//! Numbers of elements of a model by their paths: `top.mass`, `elbow.first_x`.

use super::catalogue::Problem;
use super::model::{Model, ModelError};
use crate::body::StandardLoad;
use crate::lookup::{ENTRIES, Names, find};
use crate::model::{DataError, TAKEN, entry_of, numbers};
use crate::multibody::{System, SystemParameter};
use std::collections::HashSet;

/// A number of an element that was set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assigned {
    pub(super) parameter: SystemParameter,
    pub(super) value: f64,
}

/// True for a number that the load or force of a model took along from elsewhere.
fn is_carried(system: &System<f64>, name: &str) -> bool {
    let of = |element: &str| {
        let own = name.strip_prefix(element).and_then(|own| own.strip_prefix('.'));
        own.is_some_and(|own| own.starts_with(TAKEN))
    };
    if name.contains(TAKEN) {
        let mut forces = system.forces().iter().map(|force| &force.name);
        let mut joints = system.joints().iter().map(|joint| &joint.name);
        return forces.any(|force| of(force)) || joints.any(|joint| of(joint));
    }
    fn is_own(load: &StandardLoad<f64>) -> bool {
        match load {
            StandardLoad::Own(_) => true,
            StandardLoad::SwitchedLoad(switched) => is_own(&switched.load),
            _ => false,
        }
    }
    let load = || {
        let mut parts = name.split('.');
        let body = parts.next()?;
        let number: usize = parts.next()?.strip_prefix("load_")?.parse().ok()?;
        system.bodies()[system.index(body)?].loads.list().get(number.checked_sub(1)?)
    };
    load().is_some_and(is_own)
}

impl Problem {
    /// The parameters of the bodies, joints and forces, and gravity where it is not a parameter of the model.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let names = |id| Ok::<Vec<String>, Box<dyn std::error::Error>>(
    ///     Problem::named(id)?.elements()?.into_iter().map(|p| p.name).collect()
    /// );
    /// assert!(names("double-pendulum")?.contains(&"elbow.first_x".into()));
    /// assert!(names("slow-top")?.contains(&"body.inertia_xy".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn elements(&self) -> Result<Vec<SystemParameter>, ModelError> {
        let mut all = Vec::new();
        self.each_element(&self.system(&|_| 0.0)?, &mut |element| all.push(element));
        Ok(all)
    }
    /// The same of its system, one by one.
    fn each_element(&self, system: &System<f64>, take: &mut dyn FnMut(SystemParameter)) {
        let own: HashSet<String> = self.parameters().into_iter().map(|p| p.name).collect();
        system.each_parameter(&mut |element| {
            let known_mass = element.mass_of().is_none_or(|body| system.has_known_mass(body));
            if known_mass && !own.contains(&element.name) && !is_carried(system, &element.name) {
                take(element);
            }
        });
    }
    /// The first so many names of [`Problem::elements`] of the model that it makes, and how many there are.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let pendulum = Problem::named("double-pendulum")?;
    /// let (first, count) = pendulum.first_elements(&pendulum.model()?, 4);
    /// assert_eq!(first, ["upper.mass", "upper.inertia_xx", "upper.inertia_yy", "upper.inertia_zz"]);
    /// assert_eq!(count, pendulum.elements()?.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_elements(&self, model: &Model, most: usize) -> (Vec<String>, usize) {
        let (mut names, mut count) = (Vec::new(), 0);
        self.each_element(model.system(), &mut |element| {
            count += 1;
            if count <= most {
                names.push(element.name);
            }
        });
        (names, count)
    }
    /// Their names, as far as there are some.
    pub(super) fn element_names(&self) -> Vec<String> {
        self.elements().map(|all| all.into_iter().map(|p| p.name).collect()).unwrap_or_default()
    }
    /// Sets a number of an element, or all components of a vector. False if there is none of that name.
    pub(super) fn assign(&mut self, name: &str, text: &str) -> Result<bool, DataError> {
        let Ok(all) = self.elements() else { return Ok(false) };
        let known: Vec<Names<'_>> = all.iter().map(|p| Names { own: &p.name, whole: p.whole() }).collect();
        let Ok(found) = find(&self.id, &known, &[name]) else { return Ok(false) };
        let mut values = numbers(name, text)?;
        if found.len() == ENTRIES.len() && matches!(values.len(), 3 | 9) {
            // An inertia, however it is given.
            values = ENTRIES.iter().filter_map(|(i, j, _)| entry_of(&values, *i, *j)).collect();
        }
        if values.len() != found.len() {
            let help = found.first().map_or(String::new(), |i| all[*i].help.into());
            return Err(DataError::Size {
                name: name.into(),
                given: values.len(),
                sizes: vec![found.len()],
                help,
            });
        }
        for (i, value) in found.into_iter().zip(values) {
            let parameter = all[i].clone();
            self.assigned_mut().retain(|known| known.parameter.name != parameter.name);
            self.assigned_mut().push(Assigned { parameter, value });
        }
        Ok(true)
    }
}
