//! The whole Newton matrix of a step that holds velocities too: for steps in which bodies turn so far that the factors of the
//! smaller one do not serve for both levels of the joints.

use super::super::joint::MOST_ROWS;
use super::super::place::zero;
use super::super::tape::{Matrix, Places, Sink};
use super::leap::Leap;
use super::rows::{Multipliers, Part};
use super::stepping::Leaping;
use crate::scalar::Real;

impl<S: Real> Leaping<'_, S> {
    /// Room for it, once it is known where its entries are.
    pub(in crate::multibody) fn unwritten_whole(&self) -> Matrix<S> {
        let mut places = Places::default();
        self.write_whole(&mut places as &mut dyn Sink<S>);
        let layout = &self.on.work.layout;
        Matrix::new(layout.n, places, &layout.blocks(), &layout.scales)
    }
    /// Writes it; the order of entries does not depend on the iterate.
    #[inline(always)]
    pub(super) fn write_whole(&self, sink: &mut (impl Sink<S> + ?Sized)) {
        let (work, layout) = (&*self.on.work, &self.on.work.layout);
        for (b, body) in self.on.system.bodies.iter().enumerate() {
            let (row, pose, [by_turn, by_rate]) = (layout.motion(b), layout.pose(b), self.moment_slopes(b));
            let (mass, inertia) = (body.mass / work.mass, body.inertia.matrix() / work.mass);
            sink.diagonal(row, row, mass);
            sink.block(row + 3, row + 3, &by_rate);
            sink.block(row + 3, pose + 3, &by_turn);
            sink.diagonal(pose, pose, mass);
            sink.diagonal(pose, row, -mass);
            sink.block(pose + 3, pose + 3, &inertia);
            sink.block(pose + 3, row + 3, &-inertia);
        }
        self.write_joints(sink);
        self.write_forces(true, sink.object());
        self.write_extra(&layout.extra, sink);
    }

    /// Of the multipliers ν, which are of third order in the step, only their own columns are written.
    #[inline(always)]
    fn write_joints(&self, sink: &mut (impl Sink<S> + ?Sized)) {
        let (work, layout) = (&*self.on.work, &self.on.work.layout);
        for (j, joint) in self.on.system.joints.iter().enumerate() {
            match joint.kind.own() {
                Some(_) => self.write_own(j, true, sink.object()),
                None => {
                    self.write_joint(j, true, sink);
                    self.write_rates(j, sink);
                }
            }
            self.write_late_multipliers(j, sink);
            let rates = layout.joints[j] + joint.kind.rows();
            for k in 0..joint.kind.rows() {
                if let Some(soft) = work.soft(layout.multipliers[j] + k) {
                    sink.add(rates + k, rates + k, -soft);
                }
            }
        }
    }
    /// The rows of velocity of a joint of the library: h B v₁/2 by the velocities in the mean, of which v₁ is twice, and by the poses.
    #[inline(always)]
    fn write_rates(&self, j: usize, sink: &mut (impl Sink<S> + ?Sized)) {
        let (layout, joint, half) = (&self.on.work.layout, &self.on.system.joints[j], S::lift(0.5));
        let (bodies, count, time) = (joint.bodies(), joint.kind.rows(), self.times()[1]);
        let ground = Leap::ground();
        let leaps = self.leaps(bodies, &ground);
        let ends = [&leaps[0].ends[1], &leaps[1].ends[1]];
        let (mut rows, mut slopes) = ([[zero(); 4]; MOST_ROWS], [[zero(); 4]; MOST_ROWS]);
        joint.jacobian(time, ends, &mut rows);
        joint.rate_slopes(time, ends, &mut slopes);
        // Points that are held together do so wherever they are.
        let pinned = joint.kind.pins_points();
        for (k, (row, slopes)) in rows[..count].iter().zip(&slopes).enumerate() {
            let at = layout.joints[j] + count + k;
            for (end, body) in bodies.into_iter().enumerate() {
                let Some(body) = body else { continue };
                let (motion, pose) = (layout.motion(body), layout.pose(body));
                let turned = leaps[end].tangent_of_end(&(slopes[2 * end + 1] * half));
                for i in joint.touched(k) {
                    sink.add(at, motion + i, row[2 * end][i]);
                    if !pinned {
                        sink.add(at, pose + i, slopes[2 * end][i] * half);
                    }
                }
                for i in 0..3 {
                    sink.add(at, motion + 3 + i, row[2 * end + 1][i]);
                    sink.add(at, pose + 3 + i, turned[i]);
                }
            }
        }
    }
    /// The columns of the multipliers of the rows of velocity of a joint.
    #[inline(always)]
    fn write_late_multipliers(&self, j: usize, sink: &mut (impl Sink<S> + ?Sized)) {
        let (layout, joint) = (&self.on.work.layout, &self.on.system.joints[j]);
        let (bodies, count) = (joint.bodies(), joint.kind.rows());
        let ground = Leap::ground();
        let leaps = self.leaps(bodies, &ground);
        let none = [S::zero(); MOST_ROWS];
        for k in 0..count {
            let mut unit = none;
            unit[k] = S::one();
            let multipliers =
                Multipliers { length: layout.length, lambda: &none[..count], nu: Some(&unit[..count]) };
            let share = joint.share(leaps, self.times(), multipliers, Part::Slopes);
            let column = layout.joints[j] + count + k;
            for (end, body) in bodies.into_iter().enumerate() {
                let Some(body) = body else { continue };
                let ([force, moment], [shift, turn]) = (share.momenta.on(end), share.ties[end]);
                let moment = leaps[end].ends[0].to_body(&moment);
                let (row, tie) = (layout.motion(body), layout.pose(body));
                for i in 0..3 {
                    sink.add(row + i, column, force[i]);
                    sink.add(row + 3 + i, column, moment[i]);
                    sink.add(tie + i, column, -shift[i]);
                    sink.add(tie + 3 + i, column, -turn[i]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::joint::JointKind;
    use super::super::super::simulation::Simulation;
    use super::super::super::structured::Structured;
    use super::super::super::system::{Rigid, System};
    use super::super::super::tape::Product;
    use super::super::super::workspace::Stepping;
    use super::*;
    use crate::group::Rotation;
    use crate::method::Method;
    use crate::solve::Equations;
    use nalgebra::{Matrix3, Vector3};

    /// Two bodies with a joint between them and one to the ground.
    fn pair(kind: JointKind<f64>) -> System<f64> {
        let mut system = System::new(Vector3::new(0.3, -1.0, 9.0));
        let inertia = Matrix3::new(0.3, 0.02, -0.01, 0.02, 0.4, 0.03, -0.01, 0.03, 0.25);
        let mut first = Rigid::new(1.5, inertia).unwrap();
        let mut second = Rigid::new(0.8, inertia * 0.7).unwrap();
        first.omega_body = Vector3::new(1.0, -2.0, 0.5);
        second.position = Vector3::new(0.5, 0.4, 0.1);
        system.body("first", first).unwrap();
        system.body("second", second).unwrap();
        // At a right angle for a universal joint, at a length of one for a rod.
        let turned = matches!(kind, JointKind::Universal | JointKind::ConstantAngle { .. });
        let tilt = if turned { std::f64::consts::FRAC_PI_2 } else { 0.0 };
        let axes = Rotation::from_rotation_vector(&Vector3::new(tilt, 0.0, 0.0));
        let away = if matches!(kind, JointKind::Distance { .. }) { Vector3::x() } else { Vector3::zeros() };
        system.frame("a", "first", Vector3::new(0.3, 0.1, -0.2), Rotation::identity()).unwrap();
        system.frame("b", "second", Vector3::new(-0.2, -0.3, -0.3) + away, axes).unwrap();
        system.joint("own", kind, "a", "b").unwrap();
        system.joint("hold", JointKind::Spherical, "ground", "first").unwrap();
        system
    }

    #[test]
    fn matrices_are_the_derivatives_of_the_equations() {
        let kinds = [
            JointKind::Spherical,
            JointKind::Revolute,
            JointKind::Prismatic,
            JointKind::Cylindrical,
            JointKind::Universal,
            JointKind::Planar,
            JointKind::Fixed,
            JointKind::PointOnLine,
            JointKind::PointInPlane,
            JointKind::Parallel,
            JointKind::ConstantAngle { angle: std::f64::consts::FRAC_PI_2 },
            JointKind::Distance { length: 1.0 },
        ];
        for (kind, name) in
            kinds.iter().flat_map(|kind| [(kind, "conserving"), (kind, "conserving,constraints=index3")])
        {
            let mut run = Simulation::new(pair(kind.clone()), &Method::parse(name).unwrap()).unwrap();
            run.step(0.01).unwrap();
            let now = (&run.bodies[..], &run.extra[..], &run.lambda[..]);
            let on = Stepping::new(&run.centered, now, &run.near, &mut run.work, 0.01, 0.01);
            let whole = run.scheme.is_stabilized();
            let mut leaping = Leaping::new(on, whole, &[]);
            // Anywhere, but with multipliers ν of zero, whose derivatives are left out. Turns are large.
            let mut number = 0.3_f64;
            let mut next = || {
                number = (number * 997.0 + 0.123).fract();
                number - 0.5
            };
            leaping.start();
            let work = &mut *leaping.on.work;
            for step in &mut work.steps {
                step.change = [(); 2].map(|()| Vector3::from_fn(|_, _| next()));
                step.moved = [(); 2].map(|()| Vector3::from_fn(|_, _| next()));
            }
            work.lambda.iter_mut().for_each(|l| *l = next() * 2e4);
            let start = (work.steps.clone(), work.lambda.clone());
            let (n, multiplier) = (leaping.on.work.layout_of(whole).n, leaping.multiplier());
            for _ in 0..5 {
                let along: Vec<f64> = (0..n).map(|_| next()).collect();
                let mut at = |eps: f64| {
                    let work = &mut *leaping.on.work;
                    (work.steps, work.lambda) = start.clone();
                    work.eta.fill(0.0);
                    work.residual.iter_mut().zip(&along).for_each(|(x, a)| *x = -eps * a);
                    leaping.on.make_corrections(multiplier, |_, theta| *theta);
                    leaping.residual();
                    leaping.on.work.residual.clone()
                };
                let eps = 1e-5;
                let (ahead, behind) = (at(eps), at(-eps));
                at(0.0);
                let mut found = vec![0.0; n];
                let mut product = Product { x: &along, out: &mut found };
                match whole {
                    true => leaping.write_whole(&mut product),
                    false => leaping.write(&mut product),
                }
                for (i, found) in found.iter().enumerate() {
                    let slope = (ahead[i] - behind[i]) / (2.0 * eps);
                    assert!((found - slope).abs() < 1e-8, "{kind:?} {name}: {i} of {n} {found} {slope}");
                }
            }
        }
    }
}
