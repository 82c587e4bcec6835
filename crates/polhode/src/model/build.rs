//! From a model file to a system, in any scalar.

use super::ModelFile;
use super::bodies::BodyDraft;
use super::control::Control;
use super::data::Datum;
use super::follow::follow_bodies;
use super::number::{Number, Scope, Values, evaluate};
use super::place::{Fault, Span};
use super::shapes::Solid;
use crate::lookup::{nearest, plain};
use crate::multibody::{GROUND, Rigid, System, SystemParameter};
use crate::scalar::Scalar;
use nalgebra::Vector3;
use std::borrow::Cow;

/// A system while it is put together.
pub(super) struct Builder<'a, S: Scalar> {
    file: &'a ModelFile,
    pub(super) values: Values<S>,
    pub(super) system: System<S>,
    psi: Option<Vector3<S>>,
    /// Its loads with names.
    pub(super) controls: Vec<Control>,
    /// Numbers of elements that are set, and changes of them.
    assigned: &'a [(&'a SystemParameter, f64)],
    changed: &'a [(&'a SystemParameter, S)],
}

/// Sets a number of an element.
fn assign<S: Scalar>(system: &mut System<S>, parameter: &SystemParameter, value: f64) {
    let change = S::lift(value) - system.value_of(parameter);
    system.vary(parameter, change);
    // What the change was rounded by; a turn has no value that it could be off from.
    let rest = S::lift(value) - system.value_of(parameter);
    if rest.value().abs() <= 1e-9 * change.value().abs() {
        system.vary(parameter, rest);
    }
}

/// A system, with what a reference solution wants unrounded.
#[derive(Clone, Debug)]
pub(crate) struct Built<S: Scalar> {
    pub(crate) system: System<S>,
    /// Rotation vector of the initial attitude of one body, where it was given so.
    pub(crate) psi: Option<Vector3<S>>,
    pub(crate) values: Values<S>,
    /// What controllers set.
    pub(crate) controls: Vec<Control>,
}

/// The most elements that a count may ask for.
const MOST: f64 = 1e5;

/// A name with the number of the element in place of {i}, {i-1} and {i+1}.
fn numbered(name: &str, i: usize) -> Cow<'_, str> {
    match name.contains('{') {
        false => name.into(),
        true => name
            .replace("{i}", &i.to_string())
            .replace("{i-1}", &i.saturating_sub(1).to_string())
            .replace("{i+1}", &(i + 1).to_string())
            .into(),
    }
}

/// The name of an element, with its number if it is counted.
fn named(name: &str, i: usize) -> Cow<'_, str> {
    if i == 0 { name.into() } else { format!("{name}-{i}").into() }
}

/// What a name that is not there may stand for: the first of what is counted under it, or one that looks like it.
pub(super) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let first = named(name, 1);
    let near = match known.clone().find(|known| *known == first) {
        Some(first) => vec![first.to_string()],
        None => nearest(name, known),
    };
    match near.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", near.join(" or ")),
    }
}

/// How many elements there will be of these counts; what is wrong with one is told where its element is made.
fn room<'a, S: Scalar>(counts: impl Iterator<Item = &'a Option<Number>>, values: &Values<S>) -> usize {
    let one =
        |count: &Option<Number>| count.as_ref().map_or(Ok(1), |number| number.whole(values, 1.0..=MOST));
    counts.map(|count| one(count).unwrap_or_default()).sum()
}

/// Does something for each of what is counted, or for the one that there is: with its number, and the values with it.
fn each<S: Scalar>(
    values: &mut Values<S>,
    count: &Option<Number>,
    mut act: impl FnMut(usize, &Values<S>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Some(number) = count else { return act(0, values) };
    for i in 1..=number.whole(values, 1.0..=MOST)? {
        values.counter = i as f64;
        act(i, values)?;
    }
    values.counter = 0.0;
    Ok(())
}

impl<S: Scalar> Builder<'_, S> {
    pub(super) fn no_body(&self, name: &str, span: &Span, element: &str) -> Fault {
        let hint = did_you_mean(name, self.system.bodies().iter().map(|body| body.name.as_str()));
        Fault::new(span, format!("{element} asks for the body '{name}', which is not there{hint}"))
    }
    pub(super) fn add_body(
        &mut self,
        name: &str,
        body: Rigid<S>,
        psi: Option<Vector3<S>>,
        draft: &BodyDraft,
    ) -> Result<(), Fault> {
        let vectors =
            [("omega_body", &body.omega_body), ("position", &body.position), ("velocity", &body.velocity)];
        for (what, v) in vectors {
            let not_finite = v.iter().position(|x| !x.is_finite());
            if let Some(axis) = not_finite.and_then(|i| ["x", "y", "z"].get(i)) {
                let message = format!("{what}_{axis} is not finite at the start; use smaller numbers");
                return Err(Fault::new(&draft.spot.span(), message));
            }
        }
        self.psi = psi;
        self.system.body(name, body).map_err(|error| Fault::new(&draft.spot.span(), error.to_string()))?;
        // How it starts is what the drawing of joints goes by.
        let b = self.system.bodies().len() - 1;
        let starts = |parameter: &SystemParameter, system: &System<S>| {
            system.bodies().get(b).is_some_and(|body| parameter.is_start_of(b, body))
        };
        let mut set = false;
        for (parameter, value) in self.assigned {
            if starts(parameter, &self.system) {
                assign(&mut self.system, parameter, *value);
                set = true;
            }
        }
        for (parameter, change) in self.changed {
            if starts(parameter, &self.system) {
                self.system.vary(parameter, *change);
            }
        }
        if let (true, Some(body)) = (set, self.system.bodies().get(b)) {
            draft.check_again(body)?;
        }
        Ok(())
    }
    /// The body of a frame that stands in the file, and its point; nothing if there is none of that name.
    pub(super) fn frame_above(&self, name: &str) -> Result<Option<(String, Vector3<S>)>, Fault> {
        if name == GROUND
            || self.file.bodies.iter().any(|body| body.name == name)
            || self.system.index(name).is_some()
        {
            return Ok(Some((name.into(), Vector3::zeros())));
        }
        let frame = self.file.frames.iter().find(|frame| {
            frame.name == name
                || name.split_once('.').is_some_and(|(body, own)| frame.body.0 == body && frame.name == own)
        });
        match frame {
            Some(frame) => Ok(Some((frame.body.0.clone(), frame.point(&self.values)?))),
            None => Ok(None),
        }
    }
    fn elements(&mut self, scope: &Scope<'_>) -> Result<(), Fault> {
        let (file, values) = (self.file, &mut self.values.clone());
        self.system.make_room([
            room(file.bodies.iter().map(|body| &body.count), values),
            room(file.frames.iter().map(|frame| &frame.count), values),
            room(file.joints.iter().map(|joint| &joint.count), values),
        ]);
        for body in &file.bodies {
            each(values, &body.count, |i, values| body.build(&named(&body.name, i), values, self))?;
        }
        for frame in &file.frames {
            each(values, &frame.count, |i, values| {
                // Numbers stand in the name where it has a place for them.
                let name =
                    if frame.name.contains('{') { numbered(&frame.name, i) } else { named(&frame.name, i) };
                frame.build(&name, &numbered(&frame.body.0, i), values, self)
            })?;
        }
        for joint in &file.joints {
            each(values, &joint.count, |i, values| {
                let between = [0, 1].map(|k| numbered(&joint.between[k].0, i));
                joint.build(&named(&joint.name, i), [&between[0], &between[1]], values, self)
            })?;
        }
        for joint in &file.joints {
            each(values, &joint.count, |i, values| {
                joint.build_efforts(&named(&joint.name, i), values, scope, self)
            })?;
        }
        for force in &file.forces {
            force.build(scope, self)?;
        }
        for coordinates in &file.coordinates {
            coordinates.build(self)?;
        }
        for load in &file.loads {
            load.build(scope, self)?;
        }
        Ok(())
    }
}

impl ModelFile {
    /// For each body of the system, in its order, the solids that it consists of.
    pub(crate) fn solids(&self, values: &Values<f64>) -> Result<Vec<Vec<Solid>>, Fault> {
        let (mut all, values) = (Vec::new(), &mut values.clone());
        for body in &self.bodies {
            each(values, &body.count, |_, values| {
                all.push(body.solids(values)?);
                Ok(())
            })?;
        }
        Ok(all)
    }
    /// The values of all parameters, with a change of each of their components by its number.
    pub(crate) fn values<S: Scalar>(
        &self,
        data: &[Datum],
        change: &dyn Fn(usize) -> S,
    ) -> Result<Values<S>, Fault> {
        let (values, fault) = evaluate(&self.parameters, data, &self.definitions, change)?;
        for check in &self.checks {
            let holds: S = check.that.0.evaluate_with(&|name| values.named(check.that.1[name]));
            if holds.value() > 0.5 || !holds.is_finite() {
                continue;
            }
            let mut message = check.otherwise.clone();
            for (name, found) in &check.shown {
                message = message.replace(&format!("{{{name}}}"), &plain(values.named(*found).value()));
            }
            let fault = Fault::new(&check.span, message);
            return Err(match &check.of {
                Some(name) => fault.of(name),
                None => fault,
            });
        }
        fault.map_or(Ok(values), Err)
    }
    /// The system in any scalar, with a change of each component of its parameters; some numbers of its elements are set,
    /// some changed.
    pub(crate) fn build<S: Scalar>(
        &self,
        data: &[Datum],
        change: &dyn Fn(usize) -> S,
        assigned: &[(&SystemParameter, f64)],
        elements: &[(&SystemParameter, S)],
    ) -> Result<Built<S>, Fault> {
        let values = self.values(data, change)?;
        let gravity =
            self.gravity.as_ref().map_or(Ok(Vector3::zeros()), |gravity| gravity.vector(&values))?;
        let mut builder = Builder {
            file: self,
            values,
            system: System::under(gravity),
            psi: None,
            controls: Vec::new(),
            assigned,
            changed: elements,
        };
        let named = self.named();
        let definitions: Vec<String> = self.definitions.iter().map(|(name, _)| name.clone()).collect();
        let scope = self.scope(&named, &definitions);
        builder.elements(&scope)?;
        builder.system.place_by_joints();
        let Builder { mut system, mut psi, values, controls, .. } = builder;
        if system.bodies().is_empty() && system.extra().is_empty() {
            return Err(Fault::new(&(0..0), "the model has no body; add one with [bodies.NAME]"));
        }
        if system.bodies().len() != 1 {
            psi = None;
        }
        if !(elements.is_empty() && assigned.is_empty()) {
            for (parameter, value) in assigned {
                if !parameter.starts_one_of(system.bodies()) {
                    assign(&mut system, parameter, *value);
                }
            }
            for (parameter, change) in elements {
                if !parameter.starts_one_of(system.bodies()) {
                    system.vary(parameter, *change);
                }
            }
            system.screws_follow();
            // A turn of the attitude may be among them.
            psi = None;
            let before: Vec<usize> =
                system.bodies().iter().map(|body| self.loads_before(&body.name)).collect();
            follow_bodies(&self.loads, &mut system, &before);
        }
        Ok(Built { system, psi, values, controls })
    }
    /// How many loads a body has before those of the list: what makes it follow a motion.
    pub(super) fn loads_before(&self, name: &str) -> usize {
        let follows = |body: &&BodyDraft| body.name == name && body.follows();
        usize::from(self.bodies.iter().any(|body| follows(&body)))
    }
}
