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
        for (b, body) in system.bodies.iter_mut().enumerate() {
            let (center, origin) = (body.center, body.position);
            if center != zero {
                body.center = zero;
                body.position += body.attitude.rotate(&center);
                body.velocity += body.attitude.rotate(&body.omega_body.cross(&center));
                body.loads = body.loads.clone().seen_from(&center);
                let joints = system.joints.iter_mut().flat_map(|joint| &mut joint.ends);
                let forces = system.forces.iter_mut().flat_map(|force| &mut force.ends);
                for end in joints.chain(forces).filter(|end| end.body == Some(b)) {
                    end.point -= center;
                }
            }
            if on_point(&body.held) {
                let axes = Matrix3::identity();
                let ends = [
                    End { body: None, point: origin, axes },
                    End { body: Some(b), point: if center == zero { zero } else { -center }, axes },
                ];
                let name = format!("{}.fixed_point", body.name);
                system.joints.push(Joint { name, kind: JointKind::Spherical, ends });
            }
        }
        Some(system)
    }
}
