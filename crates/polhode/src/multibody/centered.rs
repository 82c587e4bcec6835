//! A system about the centres of mass of its bodies, in which its equations are written.

use super::frame::Frame;
use super::joint::{Joint, JointKind};
use super::system::{End, Held, System};
use crate::scalar::Real;
use core::ops::Range;
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

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
        system.center_bodies(0..self.bodies.len());
        for (b, body) in self.bodies.iter().enumerate().filter(|(_, body)| on_point(&body.held)) {
            let axes = Matrix3::identity();
            let ends = [
                End { body: None, point: body.position, axes },
                End { body: Some(b), point: if body.center == zero { zero } else { -body.center }, axes },
            ];
            let name = format!("{}.fixed_point", body.name);
            system.joints.push(Joint::new(&name, JointKind::Spherical, ends));
        }
        Some(system)
    }

    /// Makes the centres of mass of these bodies their origins. What is fixed to a body stays where it is.
    pub(super) fn center_bodies(&mut self, bodies: Range<usize>) {
        let zero = Vector3::zeros();
        let first = bodies.start;
        let centers: Vec<Vector3<S>> = self.bodies[bodies.clone()].iter().map(|body| body.center).collect();
        for (body, center) in self.bodies[bodies].iter_mut().zip(&centers).filter(|(_, c)| **c != zero) {
            body.center = zero;
            body.position += body.attitude.rotate(center);
            body.velocity += body.attitude.rotate(&body.omega_body.cross(center));
            if !body.loads.is_empty() {
                body.loads = body.loads.clone().seen_from(center);
            }
        }
        let shift = |body: usize, point: &mut Vector3<S>| {
            let center = body.checked_sub(first).and_then(|b| centers.get(b));
            if let Some(center) = center.filter(|center| **center != zero) {
                *point -= center;
            }
        };
        let joints = self.joints.iter_mut().flat_map(|joint| &mut joint.ends);
        let ends = joints.chain(self.forces.iter_mut().flat_map(|force| &mut force.ends));
        ends.for_each(|end| end.body.iter().for_each(|b| shift(*b, &mut end.point)));
        // The frame of the body's own name sits at its origin wherever that is.
        for frame in Arc::make_mut(&mut self.frames).values_mut() {
            if let Frame::Fixed(end) = frame {
                end.body.iter().for_each(|b| shift(*b, &mut end.point));
            }
        }
        let signals = self.forces.iter_mut().flat_map(|force| &mut force.signals);
        for (b, point) in signals.filter_map(|signal| signal.point_mut()) {
            shift(b, point);
        }
    }
}
