//! A system about the centres of mass of its bodies, in which its equations are written.

use super::joint::{Joint, JointKind};
use super::system::{End, Held, System};
use crate::scalar::Real;
use nalgebra::{Matrix3, Vector3};

impl<S: Real> System<S> {
    /// The same motion with the centre of mass as the origin of each body, and a joint for each fixed point; nothing where
    /// that changes nothing. Joints and forces keep their numbers, those of fixed points come after them.
    pub(super) fn centered(&self) -> Option<System<S>> {
        let zero = Vector3::zeros();
        let on_point = |held: &Held<S>| matches!(held, Held::Point | Held::Pivot(_));
        if self.bodies.iter().all(|body| body.center == zero && !on_point(&body.held)) {
            return None;
        }
        let mut system = self.clone();
        for b in 0..system.bodies.len() {
            let (center, origin) = (system.bodies[b].center, system.bodies[b].position);
            system.center_body(b);
            if on_point(&system.bodies[b].held) {
                let axes = Matrix3::identity();
                let ends = [
                    End { body: None, point: origin, axes },
                    End { body: Some(b), point: if center == zero { zero } else { -center }, axes },
                ];
                let name = format!("{}.fixed_point", system.bodies[b].name);
                system.joints.push(Joint::new(&name, JointKind::Spherical, ends));
            }
        }
        Some(system)
    }

    /// Makes the centre of mass of a body its origin. What is fixed to the body stays where it is.
    pub(super) fn center_body(&mut self, b: usize) {
        let body = &mut self.bodies[b];
        let (center, zero) = (body.center, Vector3::zeros());
        if center == zero {
            return;
        }
        body.center = zero;
        body.position += body.attitude.rotate(&center);
        body.velocity += body.attitude.rotate(&body.omega_body.cross(&center));
        if !body.loads.is_empty() {
            body.loads = body.loads.clone().seen_from(&center);
        }
        let joints = self.joints.iter_mut().flat_map(|joint| &mut joint.ends);
        let forces = self.forces.iter_mut().flat_map(|force| &mut force.ends);
        // The frame of the body's own name sits at its origin wherever that is.
        let frames = self.frames.iter_mut().filter(|(name, _)| **name != body.name).map(|(_, end)| end);
        for end in joints.chain(forces).chain(frames).filter(|end| end.body == Some(b)) {
            end.point -= center;
        }
        let signals = self.forces.iter_mut().flat_map(|force| &mut force.signals);
        for point in signals.filter_map(|signal| signal.point_mut(b)) {
            *point -= center;
        }
    }
}
