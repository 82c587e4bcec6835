//! A state as plain numbers, the same for one body and for systems, and columns of them.

use super::StepEstimate;
use super::quantity::row_of_one;
use crate::archive::{Archive, Kept, kept};
use crate::body::Dynamics;
use crate::body::{Body, Load, State};
use crate::group::Rotation;
use crate::multibody::{Coordinate, Origin, Reaction, Simulation, System};
use crate::scalar::{Real, Scalar};
use core::ops::Deref;
use nalgebra::Vector3;
use std::borrow::Cow;
use std::sync::Arc;

/// All that can be said of a state at a time. With duals for the scalar every number has its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot<S: Real = f64> {
    /// Time.
    pub t: S,
    /// Kinetic energy of all.
    pub kinetic_energy: S,
    /// Total energy, where the loads have a potential.
    pub energy: Option<S>,
    /// What was estimated of the step that ended here, if that was asked for; zero at the start.
    pub estimate: Option<StepEstimate>,
    /// The bodies, in the order of the system.
    pub bodies: Bodies<S>,
    /// The multipliers of each joint.
    pub multipliers: Vec<Vec<S>>,
    /// The joints, in the same order.
    pub joints: Vec<JointSnapshot<S>>,
    /// The extra coordinates, with their rates.
    pub coordinates: Vec<[Vec<S>; 2]>,
    /// The names of all of these, of a system that is more than one body by itself.
    pub names: Option<Arc<Names>>,
    /// The outputs of its model.
    pub outputs: Vec<S>,
    /// Their names, if there are some.
    pub output_names: Option<Arc<[String]>>,
}

/// The names of the parts of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// True if it is one body on a joint, and what is said of the whole is said of that body.
    pub single: bool,
    /// Of its bodies.
    pub bodies: Vec<String>,
    /// Of its joints.
    pub joints: Vec<String>,
    /// Of its extra coordinates.
    pub coordinates: Vec<String>,
}

/// One body or several: a list, for which one needs no room on the heap.
#[derive(Clone, Debug, PartialEq)]
pub enum Bodies<S: Real = f64> {
    /// One.
    One([BodySnapshot<S>; 1]),
    /// Any number.
    Many(Vec<BodySnapshot<S>>),
}

impl<S: Real> Deref for Bodies<S> {
    type Target = [BodySnapshot<S>];
    fn deref(&self) -> &[BodySnapshot<S>] {
        match self {
            Bodies::One(one) => one,
            Bodies::Many(list) => list,
        }
    }
}

/// One body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodySnapshot<S: Real = f64> {
    /// Attitude, body to space.
    pub attitude: Rotation<S>,
    /// Angular velocity, body axes.
    pub omega_body: Vector3<S>,
    /// Its rate, body axes.
    pub omega_rate: Vector3<S>,
    /// Angular momentum, body axes: of one body about its fixed point or origin, of one of several about its centre of mass.
    pub momentum_body: Vector3<S>,
    /// Angular momentum about the space origin, space axes.
    pub momentum_space: Vector3<S>,
    /// How its origin moves; nothing for a body about a fixed point that is its origin.
    pub moving: Option<Translation<S>>,
}

/// One joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointSnapshot<S: Real = f64> {
    /// Its angle, over full turns, and the rate of that, of a joint that has one.
    pub angle: Option<(S, S)>,
    /// Its distance and the rate of that, of a joint that has one.
    pub distance: Option<(S, S)>,
    /// What it does to its second body.
    pub reaction: Reaction<S>,
    /// True of a row that drives another joint, of whose reaction it is a part.
    pub is_drive: bool,
}

impl<S: Real> BodySnapshot<S> {
    /// Position of the origin in space; zero for one that does not move.
    pub fn position(&self) -> Vector3<S> {
        self.moving.map_or(Vector3::zeros(), |moving| moving.position)
    }
    /// Velocity of the origin, space axes.
    pub fn velocity(&self) -> Vector3<S> {
        self.moving.map_or(Vector3::zeros(), |moving| moving.velocity)
    }
}

/// How the origin of a body moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Translation<S: Real = f64> {
    /// Position of the origin in space.
    pub position: Vector3<S>,
    /// Velocity of the origin, space axes.
    pub velocity: Vector3<S>,
    /// Its acceleration, space axes.
    pub acceleration: Vector3<S>,
    /// Linear momentum of the body, space axes.
    pub linear_momentum_space: Vector3<S>,
}

impl Names {
    /// Of a system.
    pub(crate) fn of<S: Real>(system: &System<S>, single: bool) -> Self {
        Names {
            single,
            bodies: system.bodies().iter().map(|body| body.name.clone()).collect(),
            joints: system.joints().iter().map(|joint| joint.name.clone()).collect(),
            coordinates: system.extra().iter().map(|extra| extra.name.clone()).collect(),
        }
    }
}

impl<S: Real> Snapshot<S> {
    /// True if it is of one body by itself, or of one on a joint.
    pub fn is_single(&self) -> bool {
        self.names.as_ref().is_none_or(|names| names.single)
    }
    /// True if it has bodies that change their place.
    pub fn moves(&self) -> bool {
        self.bodies.iter().any(|body| body.moving.is_some())
    }
    /// The body, of one by itself or on a joint.
    pub fn body(&self) -> Option<&BodySnapshot<S>> {
        self.bodies.first().filter(|_| self.is_single())
    }
    /// Everything of a body; of one about a fixed point whose mass is known, with the motion of its origin.
    pub(crate) fn of_body<G: Dynamics, L: Load<S>>(
        body: &Body<S, G, L>,
        origin: Option<&Origin<S>>,
        state: &State<S, G>,
        t: S,
    ) -> Snapshot<S> {
        let (mut one, energies) = Snapshot::moving_body(body, origin, state, t);
        let rate = body.acceleration(state, t);
        one.omega_rate = G::angular(&rate);
        if let Some(moving) = &mut one.moving {
            let omega = &one.omega_body;
            let in_body = match origin {
                Some(Origin { point, .. }) => one.omega_rate.cross(point) + omega.cross(&omega.cross(point)),
                None => {
                    let k = G::kinematics(t, &state.pose, &body.velocity(state));
                    G::linear(&rate) + omega.cross(&k.velocity_body)
                }
            };
            moving.acceleration = one.attitude.rotate(&in_body);
        }
        Snapshot::of_one(one, energies, t)
    }
    /// The row of [`Snapshot::of_body`], in which there are no accelerations, for those who want it at every step.
    pub(super) fn row_of_body<G: Dynamics, L: Load<S>>(
        body: &Body<S, G, L>,
        origin: Option<&Origin<S>>,
        state: &State<S, G>,
        (t, estimate): (S, Option<StepEstimate>),
        row: &mut Vec<S>,
    ) {
        let (one, energies) = Snapshot::moving_body(body, origin, state, t);
        row_of_one(&one, energies, (t, estimate), row);
    }
    /// A body with its kinetic and its total energy, as it moves: without accelerations.
    #[inline(always)]
    fn moving_body<G: Dynamics, L: Load<S>>(
        body: &Body<S, G, L>,
        origin: Option<&Origin<S>>,
        state: &State<S, G>,
        t: S,
    ) -> (BodySnapshot<S>, (S, Option<S>)) {
        let k = G::kinematics(t, &state.pose, &body.velocity(state));
        let space = state.momentum_space();
        let kinetic_energy = body.kinetic_energy(state);
        let (attitude, omega) = (k.attitude, k.omega_body);
        let moving = match origin {
            Some(Origin { mass, center, point, fixed }) => Some(Translation {
                position: attitude.rotate(point) + fixed,
                velocity: attitude.rotate(&omega.cross(point)),
                acceleration: Vector3::zeros(),
                linear_momentum_space: attitude.rotate(&omega.cross(center)) * *mass,
            }),
            None => G::MOVES.then(|| Translation {
                position: k.position,
                velocity: attitude.rotate(&k.velocity_body),
                acceleration: Vector3::zeros(),
                linear_momentum_space: G::linear(&space),
            }),
        };
        let one = BodySnapshot {
            attitude,
            omega_body: omega,
            omega_rate: Vector3::zeros(),
            momentum_body: G::angular(&state.momentum),
            momentum_space: G::angular(&space),
            moving,
        };
        (one, (kinetic_energy, body.load.potential(&k).map(|potential| kinetic_energy + potential)))
    }
    fn of_one(one: BodySnapshot<S>, (kinetic_energy, energy): (S, Option<S>), t: S) -> Snapshot<S> {
        Snapshot {
            t,
            kinetic_energy,
            energy,
            estimate: None,
            bodies: Bodies::One([one]),
            multipliers: Vec::new(),
            joints: Vec::new(),
            coordinates: Vec::new(),
            names: None,
            outputs: Vec::new(),
            output_names: None,
        }
    }
    /// Reads everything off a state.
    pub fn of<G: Dynamics, L: Load<S>>(body: &Body<S, G, L>, state: &State<S, G>, t: S) -> Snapshot<S> {
        Snapshot::of_body(body, None, state, t)
    }
}

impl<S: Scalar> Snapshot<S> {
    /// All bodies of a simulation. One that is single has its momentum about the point where its joint holds it. Accelerations
    /// and what joints do are numbers only where forces are asked for.
    pub(crate) fn of_system(simulation: &Simulation<S>, names: &Arc<Names>, forces: bool) -> Self {
        let unknown = Vector3::from_element(S::lift(f64::NAN));
        let system = simulation.system();
        // The fixed point, from the origin in space and from the centre of mass in body axes.
        let pivot = system.joints().first().filter(|_| names.single).map(|pivot| {
            let [a, b] = &pivot.ends;
            let (on_body, ground) = if a.body.is_none() { (b, a) } else { (a, b) };
            (ground.point, on_body.point)
        });
        let body = |b: usize| {
            let (body, now) = (&system.bodies()[b], &simulation.bodies()[b]);
            let turning = body.inertia.matrix() * now.omega_body;
            let linear = now.velocity * body.mass;
            let (position, velocity) = simulation.origin(b);
            let (momentum_body, arm) = match &pivot {
                Some((ground, point)) => {
                    let point = point - body.center;
                    (turning + point.cross(&now.omega_body.cross(&point)) * body.mass, *ground)
                }
                None => (turning, now.position),
            };
            BodySnapshot {
                attitude: now.attitude,
                omega_body: now.omega_body,
                omega_rate: if forces { now.omega_rate } else { unknown },
                momentum_body,
                momentum_space: now.attitude.rotate(&momentum_body) + arm.cross(&linear),
                moving: Some(Translation {
                    position,
                    velocity,
                    acceleration: if forces { simulation.origin_acceleration(b) } else { unknown },
                    linear_momentum_space: linear,
                }),
            }
        };
        let bodies = match system.bodies().len() {
            1 => Bodies::One([body(0)]),
            count => Bodies::Many((0..count).map(body).collect()),
        };
        let all = match forces {
            true => simulation.least_multipliers(),
            false => Cow::Owned(vec![S::lift(f64::NAN); simulation.all_multipliers().len()]),
        };
        let mut rest = &all[..];
        let multipliers = system.joints().iter().map(|joint| {
            let (values, later) = rest.split_at(joint.kind.rows());
            rest = later;
            values.to_vec()
        });
        let joint = |(j, reaction): (usize, Reaction<S>)| {
            let of = |coordinate: Coordinate| simulation.coordinate(j, coordinate);
            let (angle, distance) = (of(Coordinate::Angle), of(Coordinate::Distance));
            let is_drive = system.joints()[j].of.is_some();
            JointSnapshot { angle, distance, reaction, is_drive }
        };
        // A fixed point is a joint too, behind those that have a name.
        let reactions = match forces {
            true => simulation.reactions(&all),
            false => vec![Reaction::unknown(); system.joints().len()],
        };
        let joints = reactions.into_iter().take(system.joints().len()).enumerate().map(joint).collect();
        Snapshot {
            t: simulation.time(),
            kinetic_energy: simulation.kinetic_energy(),
            energy: Some(simulation.energy()),
            estimate: None,
            bodies,
            multipliers: multipliers.collect(),
            joints,
            coordinates: simulation
                .extra()
                .iter()
                .map(|now| [now.position.clone(), now.velocity.clone()])
                .collect(),
            names: Some(names.clone()),
            outputs: Vec::new(),
            output_names: None,
        }
    }
}

kept!(Translation<f64> { position, velocity, acceleration, linear_momentum_space });
kept!(JointSnapshot<f64> { angle, distance, reaction, is_drive });
kept!(Reaction<f64> { force, moment, force_axis, moment_axis, force_joint, moment_joint });

impl Kept for BodySnapshot {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.attitude.keep(archive);
        self.omega_body.keep(archive);
        self.omega_rate.keep(archive);
        self.momentum_body.keep(archive);
        self.momentum_space.keep(archive);
        // Whether it moves is known.
        self.moving.iter_mut().for_each(|moving| moving.keep(archive));
    }
}

/// Its numbers, of one with the same parts; its names are those that it has.
impl Kept for Snapshot {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.t.keep(archive);
        self.kinetic_energy.keep(archive);
        self.energy.keep(archive);
        self.estimate.keep(archive);
        match &mut self.bodies {
            Bodies::One(one) => one.keep(archive),
            Bodies::Many(list) => list.keep(archive),
        }
        self.multipliers.keep(archive);
        self.joints.keep(archive);
        self.coordinates.keep(archive);
        self.outputs.keep(archive);
    }
}

/// Keeps every n-th snapshot, and the last one, as columns in memory.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    every: u64,
    /// The last row is that of a step that was not due, and makes way for the next one.
    passing: bool,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    scratch: Vec<f64>,
}

impl Recorder {
    /// Records steps 0, `every`, 2·`every`, … and the last one that is observed.
    pub fn every(every: u64) -> Self {
        Recorder { every: every.max(1), ..Default::default() }
    }
    /// Takes the snapshot of step `n`, which stays if it is due or the last.
    pub fn observe(&mut self, n: u64, snapshot: &Snapshot) {
        if self.passing {
            for column in &mut self.columns {
                column.pop();
            }
        }
        self.passing = !n.is_multiple_of(self.every);
        if self.columns.is_empty() {
            self.names = snapshot.columns().into_iter().map(|column| column.name).collect();
            self.columns = vec![Vec::new(); self.names.len()];
        }
        self.scratch.clear();
        snapshot.row(&mut self.scratch);
        for (column, value) in self.columns.iter_mut().zip(&self.scratch) {
            column.push(*value);
        }
    }
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let i = self.names.iter().position(|n| *n == name)?;
        Some(&self.columns[i])
    }
    /// The names of all columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}
