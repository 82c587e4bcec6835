//! The physics of one body: validated inertia, loads with their potentials, and the state.

mod abreast;
mod derivative;
mod dynamics;
mod inertia;
mod inverse;
mod lift;
mod load;
mod mechanics;
mod own;
mod standard;

pub use crate::formula::{MOST_NUMBERS, OwnError};
pub(crate) use abreast::{Acting, Narrow};
pub use derivative::FiniteDerivative;
pub use dynamics::Dynamics;
pub(crate) use inertia::steiner;
pub use inertia::{InertiaError, RotaryInertia, SpatialInertia};
pub use inverse::{
    About, BauchauTrajectory, InverseDynamics, Path, PrescribedMotion, PrescribedRotation, Trajectory, rates,
};
pub use load::{
    Drag, Force, Frame, Gravity, Harmonic, HarmonicForce, Kinematics, Load, Moment, NoLoad, RotationalSpring,
    SoftWall, Switched, TopGravity, Wrench,
};
pub(crate) use load::{edge, has_value, inward, is_past};
pub use mechanics::{AnyBody, BodyAt, LoadAt, Mechanics};
pub use own::{ByDifferences, Formula, Own, Sampled, Valued, WrenchSlopes};
pub use standard::{Loads, StandardLoad, SwitchedLoad};

use crate::archive::{Archive, Kept};
use crate::group::{Coordinates, So3, lift};
use crate::scalar::{Mask, Over, Real};
use crate::solve::keep_coordinates;

/// A rigid body on the group `G`: its inertia and what acts on it.
#[derive(Clone, Debug)]
pub struct Body<S: Real, G: Dynamics, L> {
    /// Inertia about the reference point (the fixed point on SO(3)), in body axes.
    pub inertia: G::Inertia<S>,
    /// What acts on the body.
    pub load: L,
}

/// Pose and body momentum: all that the one-step methods carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State<S: Real, G: Dynamics> {
    /// Attitude, and position on SE(3).
    pub pose: G::Pose<S>,
    /// Momentum in body axes: Π on SO(3), {p, Π} on SE(3).
    pub momentum: G::Vector<S>,
}

impl<S: Real, G: Dynamics> State<S, G> {
    /// The state with every number as a constant of `T`.
    pub fn lift<T: Over<S>>(&self) -> State<T, G> {
        State { pose: G::lift_pose(&self.pose), momentum: lift(&self.momentum) }
    }
    /// Lane by lane, `a` where the mask is true and `b` elsewhere.
    pub fn choose(mask: S::Mask, a: &Self, b: &Self) -> Self {
        State {
            pose: G::choose_pose::<S>(mask, &a.pose, &b.pose),
            momentum: G::Vector::<S>::choose(mask, &a.momentum, &b.momentum),
        }
    }
    /// True in the lanes where every number is the same.
    pub fn same(&self, other: &Self) -> S::Mask {
        let numbers = |state: &Self| {
            let k = G::kinematics(S::zero(), &state.pose, &state.momentum);
            let [w, x, y, z] = k.attitude.q_wxyz();
            [w, x, y, z, k.position.x, k.position.y, k.position.z]
        };
        // No number is the same as what is not a number.
        let equal = |a: S, b: S| (a - b).abs().below(S::lift(f64::from_bits(1)));
        let mut same = S::Mask::splat(true);
        for (a, b) in numbers(self).into_iter().zip(numbers(other)) {
            same = same.and(equal(a, b));
        }
        for i in 0..G::Vector::<S>::LEN {
            same = same.and(equal(self.momentum.at(i), other.momentum.at(i)));
        }
        same
    }
    /// Momentum in space: π on SO(3), linear momentum and angular momentum about the space origin on SE(3).
    #[inline(always)]
    pub fn momentum_space(&self) -> G::Vector<S> {
        G::to_space(&self.pose, &self.momentum)
    }
}

impl<S: Real, G: Dynamics, L: Load<S>> Body<S, G, L> {
    /// The state with this pose and body velocity.
    pub fn state(&self, pose: G::Pose<S>, velocity: &G::Vector<S>) -> State<S, G> {
        State { pose, momentum: G::momentum(&self.inertia, velocity) }
    }
    /// The body velocity: Ω on SO(3), {v, Ω} on SE(3).
    #[inline(always)]
    pub fn velocity(&self, state: &State<S, G>) -> G::Vector<S> {
        G::velocity(&self.inertia, &state.momentum)
    }
    /// The load in body axes, at any richer scalar.
    #[inline(always)]
    pub fn load<T: Over<S>>(&self, t: T, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> G::Vector<T> {
        G::covector(&self.load.wrench(&G::kinematics(t, pose, velocity)))
    }
    /// The same from `t` on, where the load may jump.
    #[inline(always)]
    pub fn load_from<T: Over<S>>(&self, t: T, pose: &G::Pose<T>, velocity: &G::Vector<T>) -> G::Vector<T> {
        G::covector(&self.load.wrench(&G::kinematics(t, pose, velocity).beginning()))
    }
    /// The same on one side of `t`, see [`Kinematics::inward`].
    #[inline(always)]
    pub fn load_inward<T: Over<S>>(
        &self,
        (t, inward): (T, f64),
        pose: &G::Pose<T>,
        velocity: &G::Vector<T>,
    ) -> G::Vector<T> {
        G::covector(&self.load.wrench(&Kinematics { inward, ..G::kinematics(t, pose, velocity) }))
    }
    /// True in the lanes where the load jumps at the start of a step from `t` of size `h`.
    #[inline(always)]
    pub(crate) fn jumps_at(&self, t: S, h: S) -> S::Mask {
        let mut jumps = S::Mask::splat(false);
        self.load.switches(&mut |switch| jumps = jumps.or(edge(t, h).below((switch - t).abs()).not()));
        jumps
    }
    /// ½ V·P.
    #[inline(always)]
    pub fn kinetic_energy(&self, state: &State<S, G>) -> S {
        self.velocity(state).inner(&state.momentum) * S::lift(0.5)
    }
    /// The potential of the loads, if all of them have one.
    #[inline(always)]
    pub fn potential_energy(&self, state: &State<S, G>, t: S) -> Option<S> {
        self.load.potential(&G::kinematics(t, &state.pose, &self.velocity(state)))
    }
    /// Kinetic plus potential energy, where a potential exists.
    pub fn energy(&self, state: &State<S, G>, t: S) -> Option<S> {
        Some(self.kinetic_energy(state) + self.potential_energy(state, t)?)
    }
    /// The rate of change of the body momentum from `t` on, transport and load together.
    pub fn momentum_rate(&self, state: &State<S, G>, t: S) -> G::Vector<S> {
        let v = self.velocity(state);
        G::transport(&v, &state.momentum) + self.load_from(t, &state.pose, &v)
    }
    /// The rate of change of the body velocity from `t` on: Ω̇ on SO(3), {v̇, Ω̇} on SE(3), in body axes.
    pub fn acceleration(&self, state: &State<S, G>, t: S) -> G::Vector<S> {
        G::velocity(&self.inertia, &self.momentum_rate(state, t))
    }
}

/// A body that turns about a fixed point.
pub type RotatingBody<L> = Body<f64, So3, L>;

impl<G: Dynamics> Kept for State<f64, G> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        let mut k = G::kinematics(0.0, &self.pose, &self.momentum);
        k.attitude.keep(archive);
        k.position.keep(archive);
        self.pose = G::pose(&k.attitude, &k.position);
        keep_coordinates(&mut self.momentum, archive);
    }
}
