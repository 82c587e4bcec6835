//! Where in the file an element stands that has no value, or a joint, load or body that something is wrong with.

use super::ModelFile;
use super::elements::JointDraft;
use super::loads::{LoadDraft, StateExpression};
use super::number::{Scope, Values};
use super::place::{Fault, Span};
use super::signals::{Seen, Watch};
use crate::multibody::{System, Valueless};

impl ModelFile {
    /// Something wrong with a body, or with one of several that are counted.
    pub(crate) fn body_fault(&self, name: &str, message: String) -> Fault {
        let counted = name.rsplit_once('-').map_or(name, |(before, _)| before);
        let body = self.bodies.iter().find(|body| body.name == name);
        let body = body.or_else(|| self.bodies.iter().find(|body| body.name == counted));
        Fault::new(&body.map_or(0..0, |body| body.spot.span()), message)
    }
    /// Something wrong with a joint, or with one of several that are counted.
    pub(crate) fn joint_fault(&self, name: &str, message: String) -> Option<Fault> {
        self.joint(name).map(|joint| Fault::new(&joint.spot.span(), message))
    }
    fn joint(&self, name: &str) -> Option<&JointDraft> {
        let called = |name: &str| self.joints.iter().find(|joint| joint.name == name);
        let counted = |name: &str| called(name).or_else(|| called(name.rsplit_once('-')?.0));
        // What acts in a joint has its name and a word of its own.
        counted(name).or_else(|| counted(name.rsplit_once('.')?.0))
    }
    /// Something wrong with a force.
    pub(crate) fn force_fault(&self, name: &str, message: String) -> Fault {
        let force = self.forces.iter().find(|force| force.name() == name);
        Fault::new(&force.map_or(0..0, |force| force.span()), message)
    }
    /// The load that is one of those of a body, by its number among them.
    fn load_of(&self, system: &System<f64>, body: usize, load: usize) -> Option<&LoadDraft> {
        let name = &system.bodies()[body].name;
        let list = system.bodies()[body].loads.list();
        let mut at = self.loads_before(name);
        self.loads.iter().filter(|draft| draft.body() == name).find(|draft| {
            at += draft.made(list.get(at..).unwrap_or(&[]));
            load < at
        })
    }
    /// An element of the system has no value at the start: told at its expression.
    pub(crate) fn without_value(
        &self,
        system: &System<f64>,
        values: &Values<f64>,
        element: Valueless,
        message: String,
    ) -> Fault {
        let named = self.named();
        let definitions: Vec<String> = self.definitions.iter().map(|(name, _)| name.clone()).collect();
        let scope = self.scope(&named, &definitions);
        let of_load = |draft: &LoadDraft| draft.without_value(system, &scope, values);
        let place: Option<Span> = match element {
            Valueless::Load(b, load) => self.load_of(system, b, load).map(of_load),
            Valueless::Drive(j) => {
                let drive = self.joint(&system.joints()[j].name);
                drive.map(|joint| {
                    joint.drive.as_ref().map_or_else(|| joint.spot.span(), |drive| drive.span.clone())
                })
            }
            Valueless::Force(f) => {
                let force = &system.forces()[f];
                match force.of {
                    Some(j) => self.joint(&system.joints()[j].name).map(|joint| {
                        joint.motor.as_ref().map_or_else(|| joint.spot.span(), |motor| motor.span.clone())
                    }),
                    None if force.is_load() => {
                        let before = system.forces()[..f].iter().filter(|force| force.is_load()).count();
                        let mut seeing =
                            self.loads.iter().filter(|draft| draft.looks_elsewhere(system, &scope));
                        seeing.nth(before).map(of_load)
                    }
                    None => {
                        let draft = self.forces.iter().find(|draft| draft.name() == force.name);
                        draft.map(|draft| draft.formula_span())
                    }
                }
            }
        };
        Fault::new(&place.unwrap_or(0..0), message)
    }
}

impl LoadDraft {
    /// Where the expression stands that has no value at the start; the load itself where no single one can be told.
    fn without_value(&self, system: &System<f64>, scope: &Scope<'_>, values: &Values<f64>) -> Span {
        let has_none = |formula: &&StateExpression| {
            let mut watch = Watch::new(system, scope);
            watch.own = system.index(self.body());
            let seen = watch.read(formula).and_then(|named| Seen::new(&[named]));
            let value = seen.map(|seen| {
                seen.evaluate(&watch.numbers(values), 0.0, &system.signals_at_start(&watch.signals))
            });
            value.is_ok_and(|value| !value.is_finite())
        };
        let mut all = self.formulas();
        let only = match (all.next(), all.next()) {
            (Some(formula), None) => Some(formula),
            _ => self.formulas().find(has_none),
        };
        only.map_or_else(|| self.span().clone(), |formula| formula.span.clone())
    }
}
