//! Loads that take numbers of their body along, after these were changed.

use super::loads::LoadDraft;
use super::names::OwnNumber;
use crate::body::StandardLoad;
use crate::multibody::System;
use crate::scalar::Scalar;
use nalgebra::Vector3;

/// Gives the loads of a system the numbers that its bodies have now, after these were changed.
pub(super) fn follow_bodies<S: Scalar>(loads: &[LoadDraft], system: &mut System<S>, first: &[usize]) {
    let mut next: Vec<usize> = first.to_vec();
    for draft in loads {
        let Some(b) = system.index(draft.body()) else { continue };
        let body = system.bodies()[b].clone();
        let center = body.center - body.loads.offset();
        let Some(list) = system.bodies_mut().get_mut(b).map(|body| body.loads.list_mut()) else { continue };
        let Some(at) = next.get_mut(b) else { continue };
        let count = draft.made(list.get(*at..).unwrap_or(&[]));
        for load in list.iter_mut().skip(*at).take(count) {
            if draft.at_center() {
                move_force(load, &center);
            }
            for (name, mut number) in load.numbers() {
                let own = name.split('.').next_back().and_then(OwnNumber::named);
                if let (true, Some(own), [x]) = (name.contains("own."), own, number.parts()) {
                    *x = own.of(&body);
                }
            }
        }
        *at += count;
    }
}

fn move_force<S: Scalar>(load: &mut StandardLoad<S>, center: &Vector3<S>) {
    match load {
        StandardLoad::Force(force) => force.point_body = *center,
        StandardLoad::SwitchedLoad(switched) => move_force(&mut switched.load, center),
        _ => {}
    }
}
