//! A state as plain numbers, the same for every group, and columns of them.

use super::StepEstimate;
use crate::body::{Body, Load, State};
use crate::group::{Group, Rotation};
use crate::multibody::{Origin, Simulation};
use crate::scalar::{Mask, Real, Scalar};
use nalgebra::Vector3;

/// All that can be said of a state at a time; of a system of bodies, the energy of all and the rest of one of them. With
/// duals for the scalar every number has its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot<S: Real = f64> {
    /// Time.
    pub t: S,
    /// Attitude, body to space.
    pub attitude: Rotation<S>,
    /// Angular velocity, body axes.
    pub omega_body: Vector3<S>,
    /// Its rate, body axes.
    pub omega_rate: Vector3<S>,
    /// Angular momentum about the reference point, body axes.
    pub momentum_body: Vector3<S>,
    /// Angular momentum about the space origin, space axes.
    pub momentum_space: Vector3<S>,
    /// Kinetic energy.
    pub kinetic_energy: S,
    /// Total energy, where the loads have a potential.
    pub energy: Option<S>,
    /// What only a moving body has.
    pub moving: Option<Moving<S>>,
    /// What was estimated of the step that ended here, if that was asked for; zero at the start.
    pub estimate: Option<StepEstimate>,
    /// What only a system of bodies and joints has.
    pub system: Option<Box<SystemSnapshot<S>>>,
}

/// All bodies and joints of a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemSnapshot<S: Real = f64> {
    /// True if it is one body, which the snapshot is of.
    pub single: bool,
    /// The bodies by name.
    pub bodies: Vec<(String, BodySnapshot<S>)>,
    /// The multipliers by joint.
    pub multipliers: Vec<(String, Vec<S>)>,
    /// The extra coordinates by name, with their velocities.
    pub extra: Vec<(String, [Vec<S>; 2])>,
}

/// One body of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodySnapshot<S: Real = f64> {
    /// Position of the origin of the body in space.
    pub position: Vector3<S>,
    /// Attitude, body to space.
    pub attitude: Rotation<S>,
    /// Velocity of the origin in space.
    pub velocity: Vector3<S>,
    /// Angular velocity, body axes.
    pub omega_body: Vector3<S>,
    /// Acceleration of the origin in space.
    pub acceleration: Vector3<S>,
    /// Rate of the angular velocity, body axes.
    pub omega_rate: Vector3<S>,
    /// Angular momentum about the centre of mass, body axes.
    pub momentum_body: Vector3<S>,
}

/// The translational part of a moving body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving<S: Real = f64> {
    /// Position of the reference point in space.
    pub position: Vector3<S>,
    /// Velocity of the reference point, space axes.
    pub velocity: Vector3<S>,
    /// Its acceleration, space axes.
    pub acceleration: Vector3<S>,
    /// Linear momentum, space axes.
    pub linear_momentum_space: Vector3<S>,
}

impl<S: Scalar> SystemSnapshot<S> {
    /// All bodies, multipliers and extra coordinates; `single` if they are one body.
    pub fn of(simulation: &Simulation<S>, single: bool) -> Self {
        let system = simulation.system();
        let bodies = system.bodies().iter().zip(simulation.bodies()).enumerate().map(|(b, (body, now))| {
            let (position, velocity) = simulation.origin(b);
            let seen = BodySnapshot {
                position,
                attitude: now.attitude,
                velocity,
                omega_body: now.omega_body,
                acceleration: simulation.origin_acceleration(b),
                omega_rate: now.omega_rate,
                momentum_body: body.inertia.matrix() * now.omega_body,
            };
            (body.name.clone(), seen)
        });
        let mut rest = simulation.all_multipliers();
        let multipliers = system.joints().iter().map(|joint| {
            let (values, later) = rest.split_at(joint.kind.rows());
            rest = later;
            (joint.name.clone(), values.to_vec())
        });
        let extra = system.extra().iter().zip(simulation.extra());
        let extra =
            extra.map(|(extra, now)| (extra.name.clone(), [now.position.clone(), now.velocity.clone()]));
        SystemSnapshot {
            single,
            bodies: bodies.collect(),
            multipliers: multipliers.collect(),
            extra: extra.collect(),
        }
    }
}

impl<S: Real> Snapshot<S> {
    /// The same; of a body about a fixed point whose mass is known, with the motion of its origin.
    pub(crate) fn of_body<G: Group, L: Load<S>>(
        body: &Body<S, G, L>,
        origin: Option<&Origin<S>>,
        state: &State<S, G>,
        t: S,
    ) -> Snapshot<S> {
        let mut snapshot = Snapshot::of(body, state, t);
        if let Some(Origin { mass, center, point, fixed }) = origin {
            let (attitude, omega) = (snapshot.attitude, snapshot.omega_body);
            let turning = snapshot.omega_rate.cross(point) + omega.cross(&omega.cross(point));
            snapshot.moving = Some(Moving {
                position: attitude.rotate(point) + fixed,
                velocity: attitude.rotate(&omega.cross(point)),
                acceleration: attitude.rotate(&turning),
                linear_momentum_space: attitude.rotate(&omega.cross(center)) * *mass,
            });
        }
        snapshot
    }
    /// Reads everything off a state.
    pub fn of<G: Group, L: Load<S>>(body: &Body<S, G, L>, state: &State<S, G>, t: S) -> Snapshot<S> {
        let velocity = body.velocity(state);
        let k = G::kinematics(t, &state.pose, &velocity);
        let space = state.momentum_space();
        let rate = body.acceleration(state, t);
        Snapshot {
            t,
            attitude: k.attitude,
            omega_body: k.omega_body,
            omega_rate: G::angular(&rate),
            momentum_body: G::angular(&state.momentum),
            momentum_space: G::angular(&space),
            kinetic_energy: body.kinetic_energy(state),
            energy: body.energy(state, t),
            moving: G::MOVES.then(|| Moving {
                position: k.position,
                velocity: k.attitude.rotate(&k.velocity_body),
                acceleration: k.attitude.rotate(&(G::linear(&rate) + k.omega_body.cross(&k.velocity_body))),
                linear_momentum_space: G::linear(&space),
            }),
            estimate: None,
            system: None,
        }
    }

    /// The system, if it has more than the one body that the snapshot is of.
    pub fn mechanism(&self) -> Option<&SystemSnapshot<S>> {
        self.system.as_deref().filter(|system| !system.single)
    }

    /// The name of the first column with a number that is not finite, if there is one.
    pub fn overflow(&self) -> Option<String> {
        let mut row = Vec::new();
        self.row(&mut row);
        let at = row.iter().position(|x| !x.is_finite().all())?;
        self.columns().into_iter().nth(at)
    }

    /// Names of the columns that [`Snapshot::row`] fills.
    pub fn columns(&self) -> Vec<String> {
        let mut columns: Vec<String> = match self.mechanism() {
            Some(_) => {
                let mut names = vec!["t", "kinetic_energy"];
                names.extend(self.energy.map(|_| "energy"));
                names.into_iter().map(String::from).collect()
            }
            None => self.body_columns().into_iter().map(String::from).collect(),
        };
        if let Some(system) = &self.system {
            for (name, _) in system.bodies.iter().filter(|_| !system.single) {
                for quantity in ["position", "q", "velocity", "omega_body"] {
                    let axes = if quantity == "q" { "wxyz" } else { "xyz" };
                    columns.extend(axes.chars().map(|axis| format!("{name}.{quantity}_{axis}")));
                }
            }
            for (name, values) in &system.multipliers {
                columns.extend((1..=values.len()).map(|k| format!("{name}.lambda_{k}")));
            }
            for (name, [y, _]) in &system.extra {
                columns.extend((1..=y.len()).map(|k| format!("{name}.y_{k}")));
                columns.extend((1..=y.len()).map(|k| format!("{name}.rate_{k}")));
            }
        }
        columns
    }
    fn body_columns(&self) -> Vec<&'static str> {
        let mut names = vec!["t", "q_w", "q_x", "q_y", "q_z", "omega_body_x", "omega_body_y", "omega_body_z"];
        names.extend(["momentum_body_x", "momentum_body_y", "momentum_body_z"]);
        names.extend(["momentum_space_x", "momentum_space_y", "momentum_space_z", "kinetic_energy"]);
        if self.energy.is_some() {
            names.push("energy");
        }
        if self.moving.is_some() {
            names.extend([
                "position_x",
                "position_y",
                "position_z",
                "velocity_x",
                "velocity_y",
                "velocity_z",
            ]);
        }
        if self.estimate.is_some() {
            names.extend(["potential_estimate", "energy_change"]);
        }
        names
    }

    /// The numbers of the columns, appended to `row`.
    pub fn row(&self, row: &mut Vec<S>) {
        match self.mechanism() {
            Some(system) => {
                row.extend([self.t, self.kinetic_energy]);
                row.extend(self.energy);
                for (_, body) in &system.bodies {
                    row.extend(body.position.iter());
                    row.extend(body.attitude.q_wxyz());
                    row.extend(body.velocity.iter().chain(body.omega_body.iter()));
                }
            }
            None => self.body_row(row),
        }
        if let Some(system) = &self.system {
            row.extend(system.multipliers.iter().flat_map(|(_, values)| values));
            row.extend(system.extra.iter().flat_map(|(_, both)| both.iter().flatten()));
        }
    }
    fn body_row(&self, row: &mut Vec<S>) {
        row.push(self.t);
        row.extend(self.attitude.q_wxyz());
        for v in [&self.omega_body, &self.momentum_body, &self.momentum_space] {
            row.extend(v.iter());
        }
        row.push(self.kinetic_energy);
        row.extend(self.energy);
        if let Some(m) = &self.moving {
            row.extend(m.position.iter().chain(m.velocity.iter()));
        }
        if let Some(step) = &self.estimate {
            row.extend([step.potential, step.energy].map(S::lift));
        }
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
            self.names = snapshot.columns();
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
