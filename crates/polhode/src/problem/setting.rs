//! Parameters that are set again and again: each is looked up once.

use super::catalogue::Problem;
use super::elements::Assigned;
use crate::lookup::{Names, find};
use crate::model::{DataError, DatumKind, put, set};
use crate::multibody::SystemParameter;

/// A number of a problem, found by its name, see [`Problem::setter`].
#[derive(Clone, Debug)]
pub struct Setter(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// A parameter of one number, or a component of one of several, which is told too.
    Datum(String, bool),
    /// A number of an element, where it is the same whatever the other parameters are.
    Element(Box<SystemParameter>),
    /// A number of an element that is looked up each time.
    Path(String),
}

impl Problem {
    /// Looks up one number by a name that [`Problem::set`] takes.
    pub fn setter(&self, name: &str) -> Result<Setter, DataError> {
        // A value that it may have tells whether there is one number of that name.
        let mut tried = self.clone();
        if set(tried.data_mut(), name, "1")? {
            let component = self.data().iter().all(|datum| datum.name != name);
            return Ok(Setter(Kind::Datum(name.into(), component)));
        }
        tried.set(name, "1")?;
        let counts = self.data().iter().any(|datum| datum.kind == DatumKind::Choice);
        let path = || Setter(Kind::Path(name.into()));
        if counts {
            return Ok(path());
        }
        let Ok(all) = self.elements() else { return Ok(path()) };
        let known: Vec<Names<'_>> = all.iter().map(|p| Names { own: &p.name, whole: p.whole() }).collect();
        let found = find(&self.id, &known, &[name]).ok();
        Ok(match found.as_deref() {
            Some([one]) => Setter(Kind::Element(Box::new(all[*one].clone()))),
            _ => path(),
        })
    }
    /// The problem with these numbers, as [`Problem::set`] would set them one after the other.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let top = Problem::named("heavy-top")?;
    /// let setters = [top.setter("mass")?, top.setter("top.omega_body_x")?];
    /// let other = top.with(&setters, &[14.0, 0.5])?;
    /// assert_eq!(other.model()?.system().bodies()[0].mass, 14.0);
    /// assert!(top.setter("inertia").is_err(), "it has several numbers");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with(&self, setters: &[Setter], values: &[f64]) -> Result<Problem, DataError> {
        let mut made = self.clone();
        // Other components may follow from what was set before.
        let follow = setters.iter().any(|setter| matches!(setter.0, Kind::Datum(_, true)));
        for (Setter(kind), value) in setters.iter().zip(values) {
            match kind {
                Kind::Datum(name, _) => {
                    put(made.data_mut(), name, *value)?;
                    if follow {
                        made.refresh();
                    }
                }
                Kind::Element(parameter) => {
                    made.assigned_mut().retain(|known| known.parameter.name != parameter.name);
                    made.assigned_mut().push(Assigned { parameter: (**parameter).clone(), value: *value });
                }
                Kind::Path(name) => made.set(name, &format!("{value:?}"))?,
            }
        }
        Ok(made)
    }
}
