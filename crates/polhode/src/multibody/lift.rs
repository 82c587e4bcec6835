//! Systems and their elements at a richer scalar.

use super::coordinate::JointStart;
use super::force::Force;
use super::joint::Joint;
use super::system::{Coordinates, End, Held, Rigid, System};
use crate::scalar::{Over, Real};
use std::sync::Arc;

impl<S: Real> End<S> {
    /// The end with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> End<T> {
        End { body: self.body, point: self.point.map(T::of), axes: self.axes.map(T::of) }
    }
}

impl<S: Real> Rigid<S> {
    /// The body with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> Rigid<T> {
        Rigid {
            name: self.name.clone(),
            mass: T::of(self.mass),
            center: self.center.map(T::of),
            inertia: self.inertia.lift(),
            centered: self.centered,
            given: self.given,
            solid: self.solid,
            position: self.position.map(T::of),
            attitude: self.attitude.lift(),
            velocity: self.velocity.map(T::of),
            omega_body: self.omega_body.map(T::of),
            loads: self.loads.lift(),
            held: match self.held {
                Held::Elsewhere => Held::Elsewhere,
                Held::Free => Held::Free,
                Held::Point => Held::Point,
                Held::Pivot(momentum) => Held::Pivot(momentum.map(|v| v.map(T::of))),
            },
        }
    }
}

impl<S: Real> Joint<S> {
    /// The joint with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> Joint<T> {
        Joint {
            name: self.name.clone(),
            kind: self.kind.lift(),
            ends: self.ends.each_ref().map(End::lift),
            of: self.of,
        }
    }
}

impl<S: Real> Force<S> {
    /// The force with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> Force<T> {
        Force {
            name: self.name.clone(),
            kind: self.kind.lift(),
            ends: self.ends.each_ref().map(End::lift),
            signals: self.signals.iter().map(|signal| signal.rebuilt(&mut T::of)).collect(),
            watched: self.watched.clone(),
            of: self.of,
        }
    }
}

impl<S: Real> Coordinates<S> {
    /// The coordinates with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> Coordinates<T> {
        let all = |list: &[S]| list.iter().map(|x| T::of(*x)).collect();
        Coordinates {
            name: self.name.clone(),
            mass: all(&self.mass),
            damping: all(&self.damping),
            stiffness: all(&self.stiffness),
            force: all(&self.force),
            amplitude: all(&self.amplitude),
            frequency: T::of(self.frequency),
            phase: T::of(self.phase),
            position: all(&self.position),
            velocity: all(&self.velocity),
        }
    }
}

impl<S: Real> System<S> {
    /// The system with every number as a constant of `T`.
    ///
    /// ```
    /// use polhode::{method::Method, multibody::Simulation, problem::Problem, scalar::Dual};
    /// // How the position of the top after a tenth of a second depends on its mass.
    /// let model = Problem::named("heavy-top")?.model()?;
    /// let mut system = model.system().lift::<Dual<f64, 1>>();
    /// system.bodies_mut()[0].mass.eps = [1.0];
    /// let mut simulation = Simulation::new(&system, &Method::parse("geometric-alpha")?)?;
    /// for _ in 0..50 {
    ///     simulation.step(Dual::constant(2e-3))?;
    /// }
    /// let position = simulation.bodies()[0].position;
    /// assert!((position.x.eps[0] - 0.00263708339264666831).abs() < 1e-13);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lift<T: Over<S>>(&self) -> System<T> {
        System {
            gravity: self.gravity.map(T::of),
            bodies: self.bodies.iter().map(Rigid::lift).collect(),
            joints: self.joints.iter().map(Joint::lift).collect(),
            forces: self.forces.iter().map(Force::lift).collect(),
            extra: self.extra.iter().map(Coordinates::lift).collect(),
            frames: Arc::new(self.frames.iter().map(|(name, frame)| (name.clone(), frame.lift())).collect()),
            starts: self.starts.iter().map(JointStart::lift).collect(),
            placed_by_joints: self.placed_by_joints,
            taken: self.taken.clone(),
        }
    }
}
