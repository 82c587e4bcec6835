//! A system between the ends of a step.

use super::simulation::Simulation;
use super::state::{BodyMotion, CoordinateState};
use crate::archive::kept;
use crate::group::{Hermite, Passage, Passing, So3};
use nalgebra::{Vector1, Vector3};

/// What is remembered of the start of a step.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    time: f64,
    bodies: Vec<BodyMotion<f64>>,
    extra: Vec<CoordinateState<f64>>,
    lambda: Vec<f64>,
    angles: Vec<f64>,
    /// The work of what stores no energy, and its power.
    work: [f64; 2],
}

kept!(Moment { time, bodies, extra, lambda, angles, work });

/// The work of a simulation, and its power.
fn work(now: &Simulation<f64>) -> [f64; 2] {
    now.meter().map_or([0.0; 2], |meter| [meter.work, meter.power()])
}

impl Moment {
    /// Its time.
    pub(crate) fn time(&self) -> f64 {
        self.time
    }
    /// Takes what a simulation is at now in place of what it was, in the same room.
    pub(crate) fn retake(&mut self, now: &Simulation<f64>) {
        self.time = now.time();
        self.bodies.copy_from_slice(now.bodies());
        for (mine, now) in self.extra.iter_mut().zip(now.extra()) {
            mine.position.copy_from_slice(&now.position);
            mine.velocity.copy_from_slice(&now.velocity);
            mine.acceleration.copy_from_slice(&now.acceleration);
        }
        self.lambda.copy_from_slice(now.all_multipliers());
        self.angles.copy_from_slice(now.angles());
        self.work = work(now);
    }
}

/// What is a part of the way from one vector to the other.
fn on_the_way(part: f64, from: &Vector3<f64>, to: &Vector3<f64>) -> Vector3<f64> {
    from + (to - from) * part
}

/// A body a part of the way over a step of size `h`. Accelerations are those between the ends: the schemes are of second
/// order, for which polynomials of third degree do.
fn body(from: &BodyMotion<f64>, to: &BodyMotion<f64>, h: f64, part: f64) -> BodyMotion<f64> {
    let end = |at: &BodyMotion<f64>| (at.position, at.velocity * h, None);
    let (position, slope) = Hermite::new(end(from), end(to)).at(part);
    let turning = |at: &BodyMotion<f64>| Passing { pose: at.attitude, velocity: at.omega_body, rate: None };
    let (attitude, omega_body) = Passage::<So3>::new(&turning(from), &turning(to), h).at(part);
    BodyMotion {
        position,
        velocity: slope / h,
        acceleration: on_the_way(part, &from.acceleration, &to.acceleration),
        attitude,
        omega_body,
        omega_rate: on_the_way(part, &from.omega_rate, &to.omega_rate),
        ..*to
    }
}

fn coordinates(
    from: &CoordinateState<f64>,
    to: &CoordinateState<f64>,
    h: f64,
    part: f64,
) -> CoordinateState<f64> {
    let mut between = to.clone();
    for i in 0..to.position.len() {
        let end = |at: &CoordinateState<f64>| {
            (Vector1::new(at.position[i]), Vector1::new(at.velocity[i] * h), None)
        };
        let (position, slope) = Hermite::new(end(from), end(to)).at(part);
        (between.position[i], between.velocity[i]) = (position[0], slope[0] / h);
        between.acceleration[i] = from.acceleration[i] + part * (to.acceleration[i] - from.acceleration[i]);
    }
    between
}

impl Simulation<f64> {
    /// What it is at now, to be remembered.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            time: self.time(),
            bodies: self.bodies().to_vec(),
            extra: self.extra().to_vec(),
            lambda: self.all_multipliers().to_vec(),
            angles: self.angles().to_vec(),
            work: work(self),
        }
    }
    /// Becomes, for what is read off it, what another simulation of the same system was at a time since a moment.
    pub(crate) fn show_between(&mut self, from: &Moment, to: &Simulation<f64>, t: f64) {
        let h = to.time() - from.time;
        let part = (t - from.time) / h;
        let line =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + part * (b - a)).collect() };
        let bodies = from.bodies.iter().zip(to.bodies()).map(|(a, b)| body(a, b, h, part));
        let extra = from.extra.iter().zip(to.extra()).map(|(a, b)| coordinates(a, b, h, part));
        let lambda = line(&from.lambda, to.all_multipliers());
        let angles = line(&from.angles, to.angles());
        self.show(bodies, extra, lambda.into_iter(), (t, &angles));
        let end = |[work, power]: [f64; 2]| (Vector1::new(work), Vector1::new(power * h), None);
        let (done, _) = Hermite::new(end(from.work), end(work(to))).at(part);
        self.set_work(done[0]);
    }
    /// Becomes, for what is read off it, what another simulation of the same system is.
    pub(crate) fn show_same(&mut self, shown: &Simulation<f64>) {
        let (bodies, extra) = (shown.bodies().iter().copied(), shown.extra().iter().cloned());
        self.show(bodies, extra, shown.all_multipliers().iter().copied(), (shown.time(), shown.angles()));
        self.set_work(work(shown)[0]);
    }
}
