//! A system of one body as a body on a group, which the one-step methods run.

use super::joint::JointKind;
use super::simulation::Simulation;
use super::system::{Held, Rigid, System};
use crate::body::Dynamics;
use crate::body::{Body, Gravity, Load, Loads, RotaryInertia, SpatialInertia, State};
use crate::group::{Group, Se3, So3};
use crate::scalar::{Real, Scalar};
use nalgebra::Vector3;

/// A body by itself: about a point that does not move, or in flight.
#[derive(Clone, Debug)]
pub enum Reduction<S: Real> {
    /// About a fixed point.
    Rotation(Reduced<S, So3>),
    /// Free to move.
    Motion(Reduced<S, Se3>),
}

/// The body of a system of one, with its start, on the group where it moves.
#[derive(Clone, Debug)]
pub struct Reduced<S: Real, G: Dynamics> {
    /// Its inertia and what acts on it: about the fixed point, or about its origin.
    pub body: Body<S, G, Loads<S>>,
    /// Where it starts.
    pub start: State<S, G>,
    /// How its origin moves, of a body about a fixed point whose mass is known.
    pub origin: Option<Origin<S>>,
    /// True if a joint of the system holds the fixed point.
    pub on_joint: bool,
}

/// Where the origin of a body about a fixed point is.
#[derive(Clone, Copy, Debug)]
pub struct Origin<S> {
    /// The mass of the body.
    pub mass: S,
    /// Its centre of mass, in body axes from the fixed point.
    pub center: Vector3<S>,
    /// Its origin, in body axes from the fixed point.
    pub point: Vector3<S>,
    /// The fixed point, in space.
    pub fixed: Vector3<S>,
}

impl<S: Scalar> System<S> {
    /// The body of a system that is one body about a fixed point, or one in flight: what the one-step methods run.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::multibody::{GROUND, JointKind, Reduction, Rigid, System};
    ///
    /// let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    /// let bob = Rigid::new(2.0, Matrix3::identity() * 0.1)?;
    /// system.body("bob", bob)?;
    /// system.frame("hook", "bob", -Vector3::x(), Default::default())?;
    /// system.joint("pivot", JointKind::Spherical, GROUND, "hook")?;
    /// let Some(Reduction::Rotation(reduced)) = system.reduction() else { return Err("a rotation".into()) };
    /// // About the hook.
    /// assert!((reduced.body.inertia.matrix()[(2, 2)] - 2.1).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reduction(&self) -> Option<Reduction<S>> {
        let [body] = &self.bodies[..] else { return None };
        if !(self.forces.is_empty() && self.extra.is_empty()) {
            return None;
        }
        let (point, fixed) = match (&body.held, &self.joints[..]) {
            (Held::Free, []) => return Some(Reduction::Motion(self.in_flight(body))),
            (Held::Point | Held::Pivot(_), []) => (Vector3::zeros(), body.position),
            (Held::Elsewhere | Held::Free, [joint]) if joint.kind == JointKind::Spherical => {
                let [a, b] = &joint.ends;
                let (on_body, ground) = if a.body.is_none() { (b, a) } else { (a, b) };
                if ground.body.is_some() {
                    return None;
                }
                (on_body.point, ground.point)
            }
            _ => return None,
        };
        Some(Reduction::Rotation(self.about(body, point, fixed)))
    }

    /// True if it is one body whose load was made to produce a motion that is known.
    pub fn follows_motion(&self) -> bool {
        match self.reduction() {
            Some(Reduction::Rotation(one)) => one.body.load.motion(S::zero()).is_some(),
            Some(Reduction::Motion(one)) => one.body.load.motion(S::zero()).is_some(),
            None => false,
        }
    }

    /// What acts on the body, about one of its points.
    fn loads_about(&self, body: &Rigid<S>, point: &Vector3<S>) -> Loads<S> {
        let zero = Vector3::zeros();
        let weight = |center_body| Gravity { weight_space: self.gravity * body.mass, center_body };
        if self.gravity == zero || matches!(body.held, Held::Pivot(_)) {
            return if *point == zero { body.loads.clone() } else { body.loads.clone().seen_from(point) };
        }
        if body.loads.is_empty() {
            return Loads::none().with(weight(body.center - point));
        }
        // Where the loads are seen from another point already, so is the weight among them.
        let all = body.loads.clone().after(weight(body.center - body.loads.offset()));
        if *point == zero { all } else { all.seen_from(point) }
    }

    fn about(&self, rigid: &Rigid<S>, point: Vector3<S>, fixed: Vector3<S>) -> Reduced<S, So3> {
        let load = match self.loads_about(rigid, &point) {
            loads if fixed == Vector3::zeros() => loads,
            loads => loads.anchored_at(&fixed),
        };
        let on_joint = !self.joints.is_empty();
        if let Held::Pivot(momentum) = rigid.held {
            let body = Body { inertia: rigid.inertia, load };
            let start = match momentum {
                Some(momentum) => State { pose: rigid.attitude, momentum },
                None => body.state(rigid.attitude, &rigid.omega_body),
            };
            return Reduced { body, start, origin: None, on_joint };
        }
        let center = rigid.center - point;
        let body = Body { inertia: rigid.inertia.with_mass_at(rigid.mass, &center), load };
        let start = body.state(rigid.attitude, &rigid.omega_body);
        let origin = Some(Origin { mass: rigid.mass, center, point: -point, fixed });
        Reduced { body, start, origin, on_joint }
    }

    fn in_flight(&self, rigid: &Rigid<S>) -> Reduced<S, Se3> {
        let inertia = SpatialInertia::unchecked(rigid.mass, rigid.center, *rigid.inertia.matrix());
        let body = Body { inertia, load: self.loads_about(rigid, &Vector3::zeros()) };
        let velocity = Se3::vector(&rigid.attitude.unrotate(&rigid.velocity), &rigid.omega_body);
        let start = body.state(Se3::pose(&rigid.attitude, &rigid.position), &velocity);
        Reduced { body, start, origin: None, on_joint: false }
    }
}

impl<S: Scalar, G: Dynamics> Reduced<S, G> {
    /// The state that a simulation of the system is in.
    pub fn state_of(&self, simulation: &Simulation<S>) -> State<S, G> {
        let Some(now) = simulation.bodies().first() else { return self.start };
        let (position, velocity) = simulation.origin(0);
        let pose = G::pose(&now.attitude, &position);
        self.body.state(pose, &G::vector(&now.attitude.unrotate(&velocity), &now.omega_body))
    }
}

impl<S: Real> RotaryInertia<S> {
    /// About a point from which the centre of mass, which this one is about, lies at `center`.
    fn with_mass_at(&self, mass: S, center: &Vector3<S>) -> Self {
        RotaryInertia::unchecked(self.matrix() + crate::body::steiner(mass, center))
    }
}
